// SPDX-License-Identifier: Apache-2.0
/* What comes before what among launches and work of streams, by the calls of the program: never
 * by when something ran. A clock says of each queue up to where all of it comes before.
 *
 *   lane (a queue) ─┬─ changes   from this submission on its work comes after that
 *                   └─ column    its place in clocks: queues with launches have one
 *
 *   host           what the program has waited for: all that it submits later comes after it
 *
 * Where order is not known for sure, it is taken to be there: a pair too few is reported, never
 * one too many. One thread at a time: beside.c has a mutex. */
#ifndef SOFT_CHECK_CLOCK_H
#define SOFT_CHECK_CLOCK_H

#include "base/map.h"
#include "softcuda/engine/engine.h"

enum { CLOCK_COLUMNS = 64, LANE_CHANGES = 32 };

/* By column: the sequence up to which it comes before. */
struct clock {
    uint64_t number; /* of what is submitted, all queues counted; 0: of no submission */
    uint64_t at[CLOCK_COLUMNS];
};

struct change {
    uint64_t from; /* sequence */
    struct clock clock;
};

struct lane {
    struct lane *next;
    const soft_queue *queue;
    int column;         /* -1: none */
    uint64_t host_seen; /* `waits` when the host's clock was last added */
    uint32_t count;     /* of changes, the oldest first */
    struct change changes[LANE_CHANGES];
    /* Waits for words of memory: from this submission on, all that was submitted when they were
     * over comes before. */
    uint32_t acquired_count;
    struct change acquired[LANE_CHANGES];
};

struct clocks {
    gph_allocator heap;
    gphi_map lanes; /* by queue */
    struct lane *list;
    const soft_queue *queues[CLOCK_COLUMNS]; /* by column */
    int columns;
    struct clock host;
    struct clock
        gone;         /* streams that were destroyed: who waits for all waits for these */
    uint64_t waits;   /* times that the host's clock grew */
    uint64_t numbers; /* given out */
    /* Flags that the program may look at: what is submitted later may come after these. */
    uint32_t flagged_count;
    struct change flagged[LANE_CHANGES];
    bool is_lost; /* no memory, or too many queues: nothing is known any more */
};

void soft_clocks_init(struct clocks *clocks, gph_allocator heap);
void soft_clocks_fini(struct clocks *clocks);

/* The lane of a queue with launches; NULL: is_lost. */
struct lane *soft_clocks_lane(struct clocks *clocks, const soft_queue *queue);
/* What comes next in the queue comes after the point. */
void soft_clocks_after(struct clocks *clocks, const soft_queue *queue, soft_point point);
/* Who waits for `point`, of a fence, waits for `of`. */
void soft_clocks_alias(struct clocks *clocks, soft_point point, soft_point of);
/* The host has waited for the point. */
void soft_clocks_waited(struct clocks *clocks, soft_point point);
/* The same for all that a queue has which goes, and for all such queues. */
void soft_clocks_leave(struct clocks *clocks, soft_point last);
void soft_clocks_after_gone(struct clocks *clocks, const soft_queue *queue);
void soft_clocks_waited_gone(struct clocks *clocks);
/* What comes before the next submission of a lane. */
struct clock soft_clocks_next(struct clocks *clocks, struct lane *lane);
/* From this submission of the lane on, all that is submitted by now comes before. */
void soft_clocks_acquire(struct clocks *clocks, struct lane *lane, uint64_t from);
/* What has the clock `by`, the `sequence`-th of its column, sets a flag for the program. */
void soft_clocks_flag(struct clocks *clocks, const struct clock *by, int column,
                      uint64_t sequence);
/* Whether what has the clock `after` comes after that submission of a column. */
bool soft_clocks_before(const struct clocks *clocks, int column, uint64_t sequence,
                        const struct clock *after);

#endif
