// SPDX-License-Identifier: Apache-2.0
/* What gph doctor draws of the device side: branches that were taken, rounds of loops,
 * launches by kernels. Written as notes (event/note.h), which cost nothing where no doctor is
 * attached. The first times of a launch are noted one by one, with their times; the others are
 * counted, and noted as a sum at its end. */
#ifndef SOFT_DEVICE_NOTED_H
#define SOFT_DEVICE_NOTED_H
#include <gph/base.h>
#include <stdbool.h>

enum {
    SOFT_NOTED_ONE_BY_ONE = 64,  /* of a launch */
    SOFT_NOTED_ROUNDS = 16,      /* whose beginnings are noted */
    SOFT_NOTED_HOST_NS = 200000, /* host functions that take as long are noted */
    SOFT_NOTED_BODIES = 8        /* that sums count apart; last: none, or a further one */
};

/* A conditional node of an executable graph: of its running launch. Whoever asks for a body sets
 * `value` before soft_noted_choice(). */
typedef struct soft_decision {
    uint64_t exec, node; /* handles */
    uint32_t type, size; /* CUgraphConditionalNodeType, bodies */
    uint32_t flat;       /* its number in the executable */
    uint32_t count;      /* times in this launch */
    uint64_t from_ns, rounds;
    uint32_t body;  /* what it chose last; SOFT_NO_BODY */
    uint32_t value; /* of its handle, of a SWITCH node, when it chose last */
    bool is_open;   /* it has begun and is not done */
    uint64_t starts_ns[SOFT_NOTED_ROUNDS];
    uint64_t rest, rest_rounds, rest_of[SOFT_NOTED_BODIES + 1]; /* not noted yet */
} soft_decision;

/* Whether a doctor is attached. */
bool soft_noted_wanted(void);

/* The node was asked, and chose: round and body as of soft_choose_fn. One thread at a time. */
void soft_noted_choice(soft_decision *decision, uint64_t round, uint32_t body);
/* The launch is over. */
void soft_noted_end(soft_decision *decision);

/* A graph that kernels launch: of its runs. */
typedef struct soft_noted_run {
    uint64_t exec, parent;        /* handles: who was launched, and from which */
    uint64_t next_parent;         /* of the run that is ordered */
    uint32_t stream, next_stream; /* 1 tail, 2 to forget, 3 sibling */
    uint64_t from_ns;             /* 0: none is under way */
    uint64_t noted;               /* one by one, so far */
    uint64_t rest, rest_from_ns;
} soft_noted_run;

void soft_noted_begin_run(soft_noted_run *run, uint64_t now_ns);
void soft_noted_end_run(soft_noted_run *run, uint64_t now_ns);
/* What was counted and not noted. */
void soft_noted_rest_of_runs(soft_noted_run *run, uint64_t now_ns);
/* A host function has returned: what it was given, when it began, the processor time of its
 * thread that it took. Quick ones are not noted. */
void soft_noted_host(uint64_t function, uint64_t user, uint64_t from_ns, uint64_t cpu_ns);
/* A kernel got 1, for a reason: a sentence of static storage. */
void soft_noted_refused(uint64_t exec, uint64_t parent, const char *why);

#endif
