// SPDX-License-Identifier: Apache-2.0
/* Whether the links, lanes, sums and order of a pool's blocks are as they must be. */
#ifndef MEMORY_BLOCKS_CHECK_H
#define MEMORY_BLOCKS_CHECK_H
#include "memory/blocks.h"

#include <stdbool.h>

/* The order of a lane's tree. */
static bool comes_before(const struct gphi_block *x, const struct gphi_block *y)
{
    return x->bytes != y->bytes ? x->bytes < y->bytes : x->address < y->address;
}

static uint64_t least_below(const struct gphi_blocks *b, uint32_t root)
{
    return root == GPHI_NIL ? GPHI_ANY : gphi_block_at(b, root)->least;
}

static bool check_tree(const struct gphi_blocks *b, uint32_t root, uint32_t lane,
                       size_t *count)
{
    if (root == GPHI_NIL)
        return true;
    const struct gphi_block *r = gphi_block_at(b, root);
    const uint64_t left = least_below(b, r->left), right = least_below(b, r->right);
    const uint64_t below = left < right ? left : right;
    (*count)++;
    return r->state == GPHI_BLOCK_FREE && r->lane == lane &&
           r->least == (r->position < below ? r->position : below) &&
           (r->left == GPHI_NIL || comes_before(gphi_block_at(b, r->left), r)) &&
           (r->right == GPHI_NIL || comes_before(r, gphi_block_at(b, r->right))) &&
           check_tree(b, r->left, lane, count) && check_tree(b, r->right, lane, count);
}

/* Its blocks, end to end. */
static bool check_segment(const struct gphi_blocks *b, const struct gphi_segment *s,
                          size_t *live, size_t *dead)
{
    uint64_t at = s->address;
    uint32_t previous = GPHI_NIL;
    for (uint32_t i = s->first; i != GPHI_NIL; i = gphi_block_at(b, i)->next) {
        const struct gphi_block *block = gphi_block_at(b, i);
        if (block->address != at || block->bytes == 0 || block->previous != previous ||
            block->bytes % GPHI_GRAIN != 0 || block->state == GPHI_BLOCK_UNUSED)
            return false;
        const bool is_live = block->state == GPHI_BLOCK_LIVE;
        if (is_live && gphi_blocks_live(b, at) != i)
            return false;
        *(is_live ? live : dead) += 1;
        at += block->bytes;
        previous = i;
    }
    return at == s->address + s->bytes && previous == s->last;
}

/* All of the books. */
static bool blocks_are_right(const struct gphi_blocks *b)
{
    size_t live = 0, dead = 0, in_lanes = 0;
    for (uint32_t i = 0; i < b->segments.count; i++) {
        const struct gphi_segment *s = gphi_segment_at(b, i);
        if (i > 0 && s[-1].address + s[-1].bytes >= s->address)
            return false;
        if (!check_segment(b, s, &live, &dead))
            return false;
    }
    for (uint32_t i = 0; i < b->lanes.count; i++)
        if (!check_tree(b, gphi_lane_at(b, i)->root, i, &in_lanes))
            return false;
    return dead == in_lanes && live == b->live.count &&
           live + dead + b->unused_count == b->items.count;
}
#endif
