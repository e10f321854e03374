// SPDX-License-Identifier: Apache-2.0
/* Races between launches: of graphs by the program, of graphs by kernels, and of single kernels,
 * copies and fills in streams. What each has touched is kept until nothing can come any more
 * that it is not ordered with.
 *
 *   soft_unit (a launch) ─┬─ root    the program's launch that it came of: clock.h
 *                         ├─ place   where it runs in that, with its tails
 *                         └─ items   what its nodes have touched, by address
 *
 * Two units of one root are ordered by who launched whom and how; of two roots, by streams,
 * events and what the program has waited for. Each pair is compared when the later one of the
 * two ends. */
#ifndef SOFT_CHECK_BESIDE_H
#define SOFT_CHECK_BESIDE_H

#include "softcuda/check/race.h"

typedef struct soft_beside soft_beside; /* any thread */
typedef struct soft_unit soft_unit;     /* any thread; counted */

/* Who has touched something, for messages. */
typedef struct soft_who {
    uint64_t node;  /* of the executable; 0: work of a stream */
    uint64_t place; /* the executable or the stream */
    void *context;  /* the caller's */
    uint32_t type;  /* the caller's */
} soft_who;

typedef struct soft_beside_finding {
    uint64_t address; /* the lowest byte that both touch */
    soft_race_side sides[2];
    soft_who who[2];
} soft_beside_finding;

typedef struct soft_beside_options {
    const gph_allocator *allocator;
    void *user;
    /* Once for each pair of who. On the thread that ends the later one; no lock is taken. */
    void (*found)(void *user, const soft_beside_finding *finding);
    void (*incomplete)(void *user, const char *why); /* once */
    /* A number of the memory there that no other memory ever has, 0: there is none. */
    uint64_t (*memory_at)(void *user, uint64_t address, bool *is_host);
} soft_beside_options;

GPH_CHECKED gph_status soft_beside_create(const soft_beside_options *options,
                                          soft_beside **out, gph_error *error);
void soft_beside_destroy(soft_beside *beside); /* nothing runs; takes NULL */

/* What comes next in the queue waits for the point, reached or not. */
void soft_beside_after(soft_beside *beside, const soft_queue *queue, soft_point point);
/* Who waits for a point of a fence waits for `of`. */
void soft_beside_alias(soft_beside *beside, soft_point point, soft_point of);
/* The program has waited for the point: what it submits from now on comes after it. */
void soft_beside_waited(soft_beside *beside, soft_point point);
/* A stream goes, whose last point it is; what comes next in the queue, or what the program submits
 * from now on, comes after all such. */
void soft_beside_leave(soft_beside *beside, soft_point last);
void soft_beside_after_gone(soft_beside *beside, const soft_queue *queue);
void soft_beside_waited_gone(soft_beside *beside);
/* Nothing of this context is kept any more. */
void soft_beside_forget(soft_beside *beside, const void *context);

/* The program is about to submit a launch to a queue. `node_count`, `who`: of its nodes, copied;
 * it waits for words of memory where it `acquires`. NULL: no memory, it is not compared. */
soft_unit *soft_unit_begin(soft_beside *beside, const soft_queue *queue, bool acquires);
/* ... and has: what waits for it waits for this point. {NULL}: it was not. */
void soft_unit_submitted(soft_unit *unit, soft_point point);
/* A node of `by` (of `race`) launches a graph, which runs beside it: to forget it, or as a sibling.
 * All of these take and give NULL. */
soft_unit *soft_unit_launch(soft_unit *by, soft_race *race, uint32_t node,
                            bool is_sibling);
/* A tail: it takes the place of `before` once that is over with all that it fired. */
soft_unit *soft_unit_follow(soft_unit *before);
/* It has run: what `race` has noted is taken; `who` by node, borrowed. Before the race's next
 * launch, and before soft_race_finish(). */
void soft_unit_end(soft_unit *unit, soft_race *race, const soft_who *who);
/* It never runs. */
void soft_unit_cancel(soft_unit *unit);
void soft_unit_retain(soft_unit *unit);
void soft_unit_release(soft_unit *unit);

#endif
