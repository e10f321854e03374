// SPDX-License-Identifier: Apache-2.0
/* What the rules of replay.* share: what the program launched, copied and filled outside
 * of graphs, in order, and where the kernels of a graph stand in it.
 *
 *   eager:  K1 K2 fill | K1 K2 fill | K1 K2 fill     capture: K1 K2     replay, replay ..
 *           round 2  round 1  round 0
 *
 * A round is found from its last kernel backwards, with little between its kernels. */
#ifndef GPHI_DOCTOR_RULES_REPLAY_H
#define GPHI_DOCTOR_RULES_REPLAY_H
#include "doctor/history/history.h"

enum { GPHI_ROUNDS_MAX = 4, GPHI_EAGER_MAX = 8192 };

/* A kernel, or (kernel 0) a copy or fill. */
typedef struct gphi_eager {
    gphi_call call;
    uint64_t kernel, shape; /* shape: hash of grid, block and shared bytes */
    uint64_t steps;         /* waits, reads and uploads of the host before it */
    uint64_t at;            /* arguments: their place in gphi_eager_log.bytes */
    uint64_t address, bytes, contents; /* written; contents: hash of the host's, or 0; of
                                          a copy to the host: read */
    uint64_t host;                     /* its side of a copy, or 0 */
    uint32_t arg_bytes;
    bool is_fill, is_from_host, is_to_host;
} gphi_eager;

typedef struct gphi_eager_log {
    gphi_vec items; /* of gphi_eager: item n stands at n % GPHI_EAGER_MAX */
    gphi_vec bytes;
    uint64_t count, byte_count, steps;
} gphi_eager_log;

/* A kernel of an executable. */
typedef struct gphi_step_kernel {
    uint32_t node; /* of the snapshot; in a child: the child */
    const gph_kernel_params *params;
} gphi_step_kernel;

/* Where a graph's kernels stand among what ran before: numbers of items. */
typedef struct gphi_rounds {
    gphi_vec kernels; /* of gphi_step_kernel */
    uint32_t count;
    gphi_vec places[GPHI_ROUNDS_MAX]; /* of uint64_t, one a kernel; 0: the last */
} gphi_rounds;

void gphi_eager_init(gphi_eager_log *log, gph_allocator heap);
void gphi_eager_fini(gphi_eager_log *log);
/* Takes in a call that ran outside graphs. False: short of memory. */
bool gphi_eager_note(gphi_eager_log *log, const gphi_model *model, const gphi_seen *seen);
/* NULL: too old. */
const gphi_eager *gphi_eager_at(const gphi_eager_log *log, uint64_t number);
const unsigned char *gphi_eager_args(const gphi_eager_log *log, const gphi_eager *item);

/* Finds what was run before call `before` as the executable's graph has it. */
bool gphi_rounds_find(gphi_rounds *rounds, const gphi_eager_log *log,
                      const gphi_exec_history *exec, uint64_t before);
void gphi_rounds_fini(gphi_rounds *rounds);
/* Whether it is that kernel, with the same grid; whether two have the same grid. */
bool gphi_is_step_kernel(const gphi_eager *item, const gphi_step_kernel *kernel);
bool gphi_is_step_shape(const gphi_step_kernel *a, const gphi_step_kernel *b);
static inline const gphi_eager *gphi_round_of(const gphi_eager_log *log,
                                              const gphi_rounds *rounds, uint32_t round,
                                              size_t kernel)
{
    return gphi_eager_at(log,
                         *(const uint64_t *)gphi_vec_at(&rounds->places[round], kernel));
}

/* What a replay may do otherwise than the steps before it: found at the executable's first
 * launch, reported at the end if nothing has put it right. */
typedef enum gphi_stray_kind {
    GPHI_FROZEN_VALUE,
    GPHI_TURNING_POINTER,
    GPHI_MISSING_WORK
} gphi_stray_kind;

/* What the host side of a graph's copies had at its launches (replay_host.c). */
typedef struct gphi_host_source {
    uint64_t created, address; /* created: of the executable */
    uint64_t hash;             /* at the first launch */
    uint32_t seen, changes;
} gphi_host_source;

typedef struct gphi_stray {
    gphi_stray_kind kind;
    gphi_exec_history *exec;
    uint64_t updated;                     /* exec->updated at the first launch */
    uint32_t node, kernel, arg;           /* kernel: index among the graph's */
    uint32_t offset, bytes;               /* of the word in the arguments */
    uint64_t values[GPHI_ROUNDS_MAX + 1]; /* oldest first, the graph's last */
    uint32_t count;                       /* of values */
    uint64_t address, length;             /* of missing work: what it wrote; of a host
                                             buffer: where it is, and its bytes */
    gphi_call eager, before;              /* last two times */
    uint64_t sent;         /* of a value without such steps: where the host sends it */
    uint64_t sent_changes; /* of that place, at the first launch */
    const char *how;       /* of missing work */
    bool is_told;
    bool is_update;      /* missing work on what the graph reads: an optimizer's */
    bool is_host;        /* a copy of host memory that the steps filled again each time */
    bool is_advance;     /* a place that went on from step to step */
    bool is_placed_copy; /* and it is a copy's */
    bool is_copy; /* values are of a copy's host side; address: the graph's, length: hash
                         of what was there at the last launch */
    bool is_refilled; /* and that was another than before */
    bool is_branch;   /* how often a line ran its kernel: values, the graph's last */
    bool needs_reads; /* reported only if results are read: it may be a benchmark */
} gphi_stray;

/* A number that the host sends to one address, again and again. */
typedef struct gphi_sent {
    uint64_t address;
    uint64_t bytes, contents; /* of the last; contents: its hash */
    uint64_t changes;         /* times that it was another than the one before */
    gphi_call last;
} gphi_sent;

/* A variable that gave a kernel of an executable an argument. */
enum { GPHI_SOURCE_VALUES = 3 };
typedef struct gphi_source {
    uint64_t created, node, arg; /* created: of the executable */
    const gphi_exec_state *exec;
    uint64_t updated; /* exec->updated.number at the first launch */
    uint64_t values[GPHI_SOURCE_VALUES], last; /* the first ones, at launches */
    uint64_t changes;
    uint32_t bytes;
} gphi_source;

/* A number of Python's that a capture has read. */
typedef struct gphi_number {
    uint64_t created, which; /* created: of the executable */
    const gphi_exec_state *exec;
    uint64_t updated;              /* exec->updated.number at the first one */
    double before, now, values[2]; /* at the capture; at launches: last, and two others */
    uint32_t seen;
    bool is_mode, is_told;
    bool is_excused; /* a mode that may be meant for something else */
    char name[208], place[208];
} gphi_number;

typedef struct gphi_replay_state {
    gphi_map
        blocks; /* PyTorch's, by address: the call after it was given out or taken back */
    gphi_eager_log log;
    gphi_vec sent;     /* of gphi_sent */
    gphi_vec sources;  /* of gphi_source */
    gphi_vec numbers;  /* of gphi_number */
    gphi_vec hosts;    /* of gphi_host_source */
    gphi_vec suspects; /* of gphi_stray */
    uint32_t execs;
} gphi_replay_state;

typedef struct gphi_look {
    gphi_rule_run *run;
    gphi_replay_state *state;
    gphi_exec_history *exec;
    const gphi_rounds *rounds;
    size_t kernel; /* at hand */
} gphi_look;

/* A word of an argument, up to 8 bytes. */
typedef struct gphi_word {
    uint32_t arg, offset, bytes;
    bool is_number; /* the argument is it, and 4 bytes: no struct with holes */
} gphi_word;

/* replay_missing.c, which has words of arguments as well */
uint64_t gphi_word_in(const unsigned char *args, const gphi_word *at);
/* Lives or lived: of eager steps the memory may be gone by now. */
bool gphi_is_address(const gphi_model *model, uint64_t value);
/* Some of a kind for an executable, since the program may put one of them right. NULL:
 * there are enough. */
gphi_stray *gphi_stray_add(const gphi_look *at, gphi_stray_kind kind);
void gphi_missing_look(gphi_look *at);

/* Calls for each word of the arguments, up to 8 bytes each. */
typedef void gphi_each_word_fn(void *user, const gphi_word *at);
void gphi_each_word(const gph_kernel_params *params, gphi_each_word_fn *call, void *user);

/* replay_sent.c */
void gphi_sent_note(gphi_rule_run *run, const gphi_seen *seen);
void gphi_sent_look(gphi_look *at);
/* Whether it goes on to be sent, and nobody reads it. */
bool gphi_sent_is_lost(const gphi_rule_run *run, const gphi_stray *of);
void gphi_sent_report(const gphi_rule_run *run, const gphi_stray *of, gphi_draft *draft);

/* Another one in each step, three different ones in a row at least. */
bool gphi_is_changing(const uint64_t *values, uint32_t count);

/* replay_turn.c; before: the number of the call that began the capture */
void gphi_turn_look(const gphi_look *at, uint64_t before);
void gphi_turn_event(gphi_rule_run *run, const gphi_event *event,
                     const gphi_exec_state *exec);
bool gphi_turn_is_wrong(const gphi_history *history, const gphi_stray *of);
void gphi_turn_report(const gphi_rule_run *run, const gphi_stray *of, gphi_draft *draft);

/* replay_source.c */
void gphi_source_event(gphi_rule_run *run, const gphi_event *event,
                       const gphi_exec_state *exec);
void gphi_source_end(gphi_rule_run *run);

/* replay_number.c */
void gphi_number_event(gphi_rule_run *run, const gphi_event *event);
void gphi_number_end(gphi_rule_run *run);

/* replay_advance.c */
/* Of a kernel's addresses, the graph's last. */
bool gphi_advance_look(const gphi_look *at, const uint64_t *values, uint32_t count);
void gphi_advance_copies(gphi_look *at, uint64_t before);
void gphi_advance_report(const gphi_rule_run *run, const gphi_stray *of,
                         gphi_draft *draft);

/* replay_branch.c */
void gphi_branch_look(const gphi_look *at, uint64_t before);
bool gphi_branch_is_wrong(const gphi_rule_run *run, const gphi_stray *of);
void gphi_branch_report(const gphi_rule_run *run, const gphi_stray *of,
                        gphi_draft *draft);

/* replay_host.c */
/* Whether two calls were made at one line of the program, by way of Python or not. */
bool gphi_is_same_line(const gphi_model *model, const gphi_call *a, const gphi_call *b);
void gphi_host_event(gphi_rule_run *run, const gphi_event *event,
                     const gphi_exec_state *exec);
void gphi_host_look(gphi_look *at, uint64_t before);
/* Whether the host has left it as it was at all launches that were looked at. */
bool gphi_host_is_kept(const gphi_rule_run *run, const gphi_stray *of);
void gphi_host_report(const gphi_rule_run *run, const gphi_stray *of, gphi_draft *draft);

/* A number of 4 or 8 bytes; of 4 a float where it looks like one. */
const char *gphi_say_number(uint64_t value, uint32_t bytes);

/* replay_early.c: a read of what no launch has computed yet */
typedef struct gphi_early {
    uint64_t created; /* of the executable */
    uint64_t address, bytes;
    gphi_call read, made, instantiated, launch; /* made: the node; launch: the first */
    const gphi_exec_history *exec;
    uint32_t node;
    bool is_exact;   /* a copy or fill writes there, not perhaps a kernel */
    bool is_awaited; /* the host had waited since the instantiation */
    bool is_again;   /* the same line has read it after a launch */
} gphi_early;
void gphi_rule_early(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_early_end(gphi_rule_run *run);

/* replay_size.c: an executable and what was sent before its launches */
typedef struct gphi_size_item {
    uint64_t created; /* of the executable */
    const gphi_exec_history *exec;
    uint64_t updated, address, first;
    uint64_t sent;                /* before the launch at hand; 0: it says nothing */
    uint64_t read, read_bytes;    /* by the host after the first launch */
    uint64_t other, number;       /* another size; the kernel's number */
    uint32_t node;                /* that has the address */
    uint32_t more, less, as_many; /* launches; as_many: reads after one with less */
    uint64_t kernel;              /* of eager work that has the number, too; else 0 */
    uint32_t offset;              /* of the number in that one's arguments */
    uint64_t threads;             /* of a kernel of its own, one for each of n; else 0 */
    bool is_copy, is_grown, is_shrunk_read;
    gphi_call upload, launch, first_upload;
} gphi_size_item;
/* replay_partial.c: an executable, and how much of its inputs is sent before its launches */
enum { GPHI_PARTIAL_INPUTS = 8 };
typedef struct gphi_partial_input {
    uint64_t address, bytes; /* bytes: of the first time */
} gphi_partial_input;
typedef struct gphi_partial_sent {
    gphi_call call;
    uint64_t bytes, whole; /* whole: of the first time */
} gphi_partial_sent;
typedef struct gphi_partial {
    uint64_t created; /* of the executable */
    const gphi_exec_history *exec;
    gphi_partial_input inputs[GPHI_PARTIAL_INPUTS];
    uint32_t count;
    uint64_t whole, less; /* launches with all of each input, with less of each */
    uint64_t read, reads,
        less_reads; /* a small result: where, and after which launches */
    gphi_partial_sent sent,
        first_less;   /* the first input sent; of the first launch with less */
    gphi_call launch; /* that one */
    bool is_off, is_less_now;
} gphi_partial;
typedef struct gphi_size_state {
    gphi_vec items;    /* of gphi_size_item; at the head, as replay_size.c has no other */
    gphi_vec partials; /* of gphi_partial */
} gphi_size_state;
void gphi_partial_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_partial_end(gphi_rule_run *run);
void gphi_rule_size_init(gphi_rule_run *run);
void gphi_rule_size_fini(gphi_rule_run *run);
void gphi_rule_size(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_size_end(gphi_rule_run *run);

/* replay_result.c: what is read again and again between launches */
typedef struct gphi_polled {
    const gphi_allocation *memory; /* of copies to the host: the key */
    uint64_t number;               /* memory->allocated.number */
    uint64_t launches, times;
    gphi_call first;
    uint64_t exec; /* number of the executable launched before */
} gphi_polled;

/* An address that a kernel outside graphs is given. */
typedef struct gphi_worked {
    uint64_t address, function; /* the key */
    gphi_polled as;
    uint64_t begun; /* launches before the first time */
    bool is_new;    /* PyTorch gave it out, or took it back, meanwhile */
} gphi_worked;

typedef struct gphi_unread_state {
    gphi_vec copies;  /* of gphi_polled */
    gphi_vec kernels; /* of gphi_worked */
} gphi_unread_state;
void gphi_rule_unread_init(gphi_rule_run *run);
void gphi_rule_unread_fini(gphi_rule_run *run);
void gphi_rule_unread_event(gphi_rule_run *run, const gphi_event *event);
void gphi_rule_unread_result(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_unread_result_end(gphi_rule_run *run);
#endif
