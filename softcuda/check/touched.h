// SPDX-License-Identifier: Apache-2.0
/* Inside softcuda/check. */
#ifndef SOFT_CHECK_TOUCHED_H
#define SOFT_CHECK_TOUCHED_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/map.h"
#include "softcuda/check/race.h"

#define TOUCHED_BYTES 4096u /* of memory, a struct touched */
#define TOUCHED_WORDS (TOUCHED_BYTES / 64)
#define FIRST_BYTES 256u
#define FIRST_COUNT (TOUCHED_BYTES / FIRST_BYTES)
#define SLAB_COUNT 64u
/* What the records of a launch may take; more is left out and said. */
#define TOUCHED_MOST ((2ull << 30) / sizeof(struct touched))

enum { KIND_WRITE = 1, KIND_STRONG = 2 };

struct touched {
    struct touched *next; /* of the trace's table */
    uint64_t page;
    uint32_t line;
    uint8_t kind, bytes;
    _Atomic uint64_t bits[TOUCHED_WORDS];
    _Atomic uint64_t first[FIRST_COUNT]; /* offset << 56 | block << 16 | thread */
};

struct slab {
    struct slab *next;
    struct touched entries[SLAB_COUNT];
};

struct span {
    uint64_t start, end;
    uint8_t kind;
};

/* The kernel that ran as a node, for messages. */
struct ran {
    const char *kernel; /* NULL: none */
    uint32_t grid[3], block[3];
};

struct soft_trace {
    struct soft_race *race;
    struct soft_trace *outer; /* of a node in a loop: of the rounds that are over */
    _Atomic uint64_t serial;  /* another one each launch: what threads remember */
    pthread_mutex_t mutex;    /* of all below */
    struct touched **table;   /* by page and line */
    uint32_t capacity, count;
    struct span *spans;
    uint32_t span_count, span_capacity;
    struct ran ran;
    uint32_t node;   /* of the race */
    bool is_ordered; /* with all other nodes that touch anything */
};

/* Who comes before whom. A row a node: a bit for each node with a column. */
struct order {
    uint64_t *rows;
    uint32_t *columns; /* by node; SOFT_RACE_NO_NODE: none */
    uint32_t node_count, words, column_count;
};

struct soft_race {
    gph_allocator heap;
    struct order order;
    soft_trace **traces; /* by node; NULL: not watched */
    uint32_t *loop_of,
        *depth; /* by node: as in the options; how many loops are around it */
    pthread_mutex_t reporting; /* rounds of loops side by side */
    soft_race_window *windows; /* by base */
    uint32_t window_count;
    uint64_t window_bytes; /* the most that one has */
    gphi_map known;        /* pairs reported */
    pthread_mutex_t mutex; /* of all below */
    struct slab *slabs, *filling;
    struct touched *spare; /* that rounds gave back */
    uint32_t filled;       /* entries of `filling` */
    uint64_t touched_count;
    atomic_bool incomplete;
};

/* order.c */
gph_status soft_order_init(struct order *order, const soft_race_options *options,
                           const gph_allocator heap, gph_error *error);
void soft_order_fini(struct order *order, gph_allocator heap);
/* A path leads from one to the other. Both must have a column. */
static inline bool soft_order_above(const struct order *order, uint32_t node,
                                    uint32_t other)
{
    const uint32_t column = order->columns[other];
    return order->rows[(uint64_t)node * order->words + column / 64] >> (column % 64) & 1;
}
static inline bool soft_order_has(const struct order *order, uint32_t a, uint32_t b)
{
    return a == b || soft_order_above(order, a, b) || soft_order_above(order, b, a);
}
/* One a node: not 0 where all others with a column come before or after it. */
bool soft_order_find_total(const struct order *order, gph_allocator heap, uint8_t *out);

/* window.c: the options' windows, once. */
gph_status soft_race_set_windows(struct soft_race *race, const soft_race_options *options,
                                 gph_error *error) GPH_CHECKED;
/* The windows [*first, *end) are all that may have a byte of [start, end). */
void soft_race_find_windows(const struct soft_race *race, uint64_t start, uint64_t end,
                            uint32_t *first, uint32_t *last);

/* trace.c */
soft_trace *soft_trace_create(struct soft_race *race);
void soft_trace_destroy(soft_trace *trace);
void soft_trace_forget(soft_trace *trace);
/* What it has goes to the outer one; it begins again. */
void soft_trace_merge(soft_trace *trace);

/* loop.c */
gph_status soft_race_set_loops(struct soft_race *race, const soft_race_options *options,
                               gph_error *error) GPH_CHECKED;
/* The innermost loop that both are in, + 1; 0: none. */
uint32_t soft_race_common_loop(const struct soft_race *race, uint32_t a, uint32_t b);
/* What a node touched in the round that is over of a loop (+ 1) around it; loop 0: in the
 * launch. NULL: it is not watched, or not in the loop. */
soft_trace *soft_race_trace_in(const struct soft_race *race, uint32_t node,
                               uint32_t loop);

/* compare.c: findings among nodes that have this loop (+ 1; 0: none) as their innermost common
 * one, by address; false: no memory. */
struct findings {
    soft_finding *list;
    uint32_t count, capacity;
};
bool soft_race_compare(struct soft_race *race, uint32_t loop, struct findings *out);
/* race.c: says the findings, once for each pair, and drops them. */
void soft_race_tell(struct soft_race *race, uint32_t loop,
                    const soft_race_report *report);

#endif
