// SPDX-License-Identifier: Apache-2.0
/* What comparisons look at: a page or a span of one node, [start, end). */
#ifndef SOFT_CHECK_ITEM_H
#define SOFT_CHECK_ITEM_H

#include "softcuda/check/touched.h"

struct item {
    uint64_t start, end;
    const struct touched *touched; /* NULL: a span, all of whose bytes are touched */
    const struct ran *ran;
    uint32_t node, line;
    uint8_t kind;
};

static inline int soft_three_way(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* How many items a trace has, and all of them. */
uint32_t soft_item_count(const soft_trace *trace);
void soft_items_of(const soft_trace *trace, uint32_t node, struct item *out);
int soft_item_by_address(const void *left, const void *right); /* for qsort() */
/* One of the two writes, and not both are strong. */
static inline bool soft_items_conflict(const struct item *a, const struct item *b)
{
    return ((a->kind | b->kind) & KIND_WRITE) != 0 &&
           (a->kind & b->kind & KIND_STRONG) == 0;
}
/* The lowest byte that both touch, below `limit`; `limit` if there is none. */
uint64_t soft_item_common(const struct item *a, const struct item *b, uint64_t limit);
/* One end of a finding at `address`; the thread only if it is sure. */
soft_race_side soft_item_side(const struct item *item, uint64_t address);

#endif
