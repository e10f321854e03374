// SPDX-License-Identifier: Apache-2.0
/* Which nodes of one launch of a graph touch the same byte, at least one of them writing,
 * though no path of dependencies orders them; and which touch memory of the graph's own
 * outside its life.
 *
 * Decided by the dependencies, never by the order in which the nodes happened to run: a
 * launch on one worker finds what one on eight finds. Launches of one graph follow each
 * other, so one record of each node is enough. */
#ifndef SOFT_CHECK_RACE_H
#define SOFT_CHECK_RACE_H

#include "softcuda/check/trace.h"
#include "softcuda/engine/engine.h"

#define SOFT_RACE_NO_NODE UINT32_MAX

typedef struct soft_race soft_race; /* traces: any thread; else one at a time */

/* The life of an allocation in the graph: bytes from after `alloc` to before `free`,
 * nodes or SOFT_RACE_NO_NODE for an end that lies outside the graph. */
typedef struct soft_race_window {
    uint64_t base, bytes;
    uint32_t alloc, free;
} soft_race_window;

typedef struct soft_race_options {
    uint32_t node_count, window_count;
    const soft_edge *edges;
    uint64_t edge_count;
    const uint8_t *touches; /* one a node: not 0 if it touches memory */
    const soft_race_window *windows;
    /* One a node: the loop (WHILE node) that it is in the body of, the innermost one, + 1; 0:
     * none. NULL: a graph without loops. */
    const uint32_t *loop_of;
    /* Also what is ordered with all others is noted, and each byte of it: for comparisons
     * with other launches (beside.h). */
    bool keeps_all;
    const gph_allocator *allocator;
} soft_race_options;

/* One end of a finding. */
typedef struct soft_race_side {
    uint32_t node;
    uint32_t line;      /* of the PTX; 0: no kernel's */
    const char *kernel; /* NULL: none */
    bool write, strong;
    bool has_thread; /* block and thread are known */
    uint32_t bytes;  /* of the access; 0: no kernel's */
    uint32_t block[3], thread[3];
} soft_race_side;

typedef enum soft_finding_kind {
    SOFT_FINDING_RACE,
    SOFT_FINDING_FREE_UNORDERED, /* `second` is the free node */
    SOFT_FINDING_ALLOC_UNORDERED,
    SOFT_FINDING_AFTER_FREE,
    SOFT_FINDING_BEFORE_ALLOC
} soft_finding_kind;

typedef struct soft_finding {
    soft_finding_kind kind;
    uint64_t address;             /* the lowest byte that both touch */
    soft_race_side first, second; /* of a race: by node number */
} soft_finding;

typedef struct soft_race_report {
    void *user;
    /* Once for each pair of nodes in the life of the soft_race, by address. */
    void (*found)(void *user, const soft_finding *finding);
    /* Something was left out: a sentence. May be called before `found`. */
    void (*incomplete)(void *user, const char *why);
} soft_race_report;

/* Edges must make no cycle. Fails with GPH_E_NO_MEMORY, and with GPH_E_UNSUPPORTED for a
 * graph whose order would take more than 256 MiB to keep. */
GPH_CHECKED gph_status soft_race_create(const soft_race_options *options, soft_race **out,
                                        gph_error *error);
void soft_race_destroy(soft_race *race); /* takes NULL */
/* Where to note what a node touches; NULL if nothing can come of it. Lent. */
soft_trace *soft_race_trace(soft_race *race, uint32_t node);
/* A round of a loop is over, and the next one has not begun: compares what nodes of its body
 * touched in it. Rounds follow each other, so a node of one and a node of the next never race.
 * One loop at a time; several loops from several threads. */
void soft_race_round(soft_race *race, uint32_t loop, const soft_race_report *report);
/* The node that it is of. */
uint32_t soft_trace_node(const soft_trace *trace);
/* Drops what was touched. */
void soft_race_forget(soft_race *race);
/* After a launch, before the next one: compares, reports, forgets what was touched. */
void soft_race_finish(soft_race *race, const soft_race_report *report);

#endif
