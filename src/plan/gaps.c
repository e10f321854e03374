// SPDX-License-Identifier: Apache-2.0
/* Gaps in a tree by their begin that keeps the largest gap below each node; balanced by
 * random weights (a treap: Seidel and Aragon, 1996), so that it splits and joins simply.
 *
 *            [40, 48)  most 16
 *           /        \
 *      [0, 8)        [64, 80)
 */
#include "plan/gaps.h"

#include <stdlib.h>

#include "base/vec.h"

#define TRIES 64u /* at gaps that are large enough, but not where they are aligned */

struct gap {
    uint64_t begin, end, most; /* first: the order */
    uint64_t weight;           /* no less than those below */
    uint32_t left, right;      /* 0: none */
};

struct gphi_gaps {
    struct gap *items; /* [0] is none, and empty */
    uint32_t root, unused, used;
    uint64_t random;
};

static void measure(gphi_gaps *g, uint32_t at)
{
    struct gap *gap = &g->items[at];
    const uint64_t left = g->items[gap->left].most, right = g->items[gap->right].most;
    gap->most = gap->end - gap->begin;
    gap->most = left > gap->most ? left : gap->most;
    gap->most = right > gap->most ? right : gap->most;
}

/* Those that begin below `key`, and the others. */
static void split(gphi_gaps *g, uint32_t at, uint64_t key, uint32_t *low, uint32_t *high)
{
    if (at == 0) {
        *low = *high = 0;
        return;
    }
    struct gap *gap = &g->items[at];
    if (gap->begin < key) {
        split(g, gap->right, key, &gap->right, high);
        *low = at;
    } else {
        split(g, gap->left, key, low, &gap->left);
        *high = at;
    }
    measure(g, at);
}

static uint32_t join(gphi_gaps *g, uint32_t low, uint32_t high)
{
    if (low == 0 || high == 0)
        return low + high;
    const bool is_low = g->items[low].weight > g->items[high].weight;
    const uint32_t top = is_low ? low : high;
    if (is_low)
        g->items[low].right = join(g, g->items[low].right, high);
    else
        g->items[high].left = join(g, low, g->items[high].left);
    measure(g, top);
    return top;
}

/* A tree of one; none where it would be empty. There is room: a gap is made only beside a
 * buffer. */
static uint32_t make(gphi_gaps *g, uint64_t begin, uint64_t end)
{
    if (begin == end)
        return 0;
    const uint32_t at = g->unused != 0 ? g->unused : ++g->used;
    g->unused = g->unused != 0 ? g->items[at].left : 0;
    g->items[at] = (struct gap){.begin = begin, .end = end, .most = end - begin};
    g->items[at].weight = (uint64_t)(gphi_plan_random(&g->random) * 0x1p53);
    return at;
}

static void drop(gphi_gaps *g, uint32_t at)
{
    g->items[at].left = g->unused;
    g->unused = at;
}

/* Takes the last gap, or the first, off a tree that is not empty. */
static uint32_t pop(gphi_gaps *g, uint32_t *tree, bool is_last)
{
    uint32_t at = *tree, next;
    while ((next = is_last ? g->items[at].right : g->items[at].left) != 0)
        at = next;
    if (is_last)
        split(g, *tree, g->items[at].begin, tree, &at);
    else
        split(g, *tree, g->items[at].begin + 1, &at, tree);
    return at;
}

bool gphi_gaps_take(gphi_gaps *g, uint64_t offset, uint64_t bytes)
{
    uint32_t low, high;
    split(g, g->root, offset + 1, &low, &high);
    const uint32_t at = low != 0 ? pop(g, &low, true) : 0;
    const struct gap gap = g->items[at];
    const bool fits = at != 0 && gap.end > offset && gap.end - offset >= bytes;
    uint32_t before = at, after = 0;
    if (fits) {
        drop(g, at);
        before = make(g, gap.begin, offset);
        after = make(g, offset + bytes, gap.end);
    }
    g->root = join(g, join(g, low, before), join(g, after, high));
    return fits;
}

static void give(gphi_gaps *g, uint64_t begin, uint64_t end)
{
    uint32_t low, high, beside;
    split(g, g->root, begin, &low, &high);
    beside = low != 0 ? pop(g, &low, true) : 0;
    if (beside != 0 && g->items[beside].end == begin) {
        begin = g->items[beside].begin;
        drop(g, beside);
        beside = 0;
    }
    low = join(g, low, beside);
    beside = high != 0 ? pop(g, &high, false) : 0;
    if (beside != 0 && g->items[beside].begin == end) {
        end = g->items[beside].end;
        drop(g, beside);
        beside = 0;
    }
    high = join(g, beside, high);
    g->root = join(g, join(g, low, make(g, begin, end)), high);
}

/* The lowest gap below `at` of at least so many bytes in which the buffer fits; 0: none, or
 * no more tries. */
static uint32_t find(const gphi_gaps *g, uint32_t at, uint64_t bytes,
                     const gph_plan_buffer *b, uint32_t *tries)
{
    const struct gap *gap = &g->items[at];
    if (at == 0 || gap->most < bytes || *tries == 0)
        return 0;
    const uint32_t left = find(g, gap->left, bytes, b, tries);
    if (left != 0 || *tries == 0)
        return left;
    if (gap->end - gap->begin >= bytes) {
        const uint64_t offset = gphi_plan_align(b, gap->begin);
        if (offset < gap->end && gap->end - offset >= b->size)
            return at;
        --*tries;
    }
    return find(g, gap->right, bytes, b, tries);
}

uint64_t gphi_gaps_place(gphi_gaps *g, const gph_plan_buffer *b)
{
    uint32_t tries = TRIES;
    uint32_t at = find(g, g->root, b->size, b, &tries);
    tries = 1;
    if (at == 0) /* it fits wherever such a gap begins */
        at = find(g, g->root, b->size + b->alignment, b, &tries);
    const uint64_t offset = gphi_plan_align(b, g->items[at].begin);
    (void)gphi_gaps_take(g, offset, b->size);
    return offset;
}

/* ---- through time ---- */

/* Buffers in order of a section of theirs: the section above, the buffer below. */
static void sort_by(const uint32_t *section, uint64_t *keys, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        keys[i] = (uint64_t)section[i] << 32 | i;
    qsort(keys, count, sizeof(*keys), gphi_by_first);
}

static bool walk(gphi_gaps *g, const gphi_problem *p, const uint64_t *offsets,
                 bool with_pinned, const uint64_t *begins, const uint64_t *ends,
                 gphi_gaps_begin *begin, void *user)
{
    uint32_t ended = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        for (; ends[ended] >> 32 < begins[i] >> 32; ended++) {
            const uint32_t old = (uint32_t)ends[ended];
            if (with_pinned || !p->buffers[old].pinned)
                give(g, offsets[old], offsets[old] + p->buffers[old].size);
        }
        const uint32_t buffer = (uint32_t)begins[i];
        if ((with_pinned || !p->buffers[buffer].pinned) && !begin(user, g, buffer))
            return false;
    }
    return true;
}

gph_status gphi_gaps_walk(const gphi_problem *p, const uint64_t *offsets, uint64_t floor,
                          bool with_pinned, gphi_gaps_begin *begin, void *user)
{
    const size_t room = (size_t)p->count + 3; /* none, one more, and one that is split */
    gphi_gaps g = {.random = GPHI_PLAN_SEED};
    g.items = gphi_heap_array(p->heap, room, sizeof(*g.items));
    uint64_t *begins = gphi_heap_array(p->heap, p->count, sizeof(*begins));
    uint64_t *ends = gphi_heap_array(p->heap, p->count, sizeof(*ends));
    gph_status status = g.items && begins && ends ? GPH_OK : GPH_E_NO_MEMORY;
    if (status == GPH_OK) {
        g.root = make(&g, floor, UINT64_MAX);
        sort_by(p->first, begins, p->count);
        sort_by(p->last, ends, p->count);
        if (!walk(&g, p, offsets, with_pinned, begins, ends, begin, user))
            status = GPH_E_INVALID;
    }
    gphi_heap_free(p->heap, g.items, room * sizeof(*g.items));
    gphi_heap_free(p->heap, begins, p->count * sizeof(*begins));
    gphi_heap_free(p->heap, ends, p->count * sizeof(*ends));
    return status;
}
