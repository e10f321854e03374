// SPDX-License-Identifier: Apache-2.0
/* Comparing what the nodes of a launch have touched. All pages and spans are sorted by
 * address; one sweep keeps those that reach to the current one, and compares each new one
 * with them. */
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/vec.h"
#include "softcuda/check/item.h"

struct sweep {
    struct soft_race *race;
    uint32_t loop; /* + 1: of a round of it; 0: of the launch */
    struct item *items;
    /* Those that reach to the current one, readers and writers apart: readers are many
     * where nodes share an input, and need not be compared with each other. */
    struct active {
        struct item **list;
        uint32_t count;
    } active[2];
    uint32_t count;
    gphi_map pairs; /* of this launch: place in findings */
    struct findings *out;
    bool failed; /* no memory */
};

/* What a comparison of this loop looks at of a node; NULL: nothing. A node that is ordered with all
 * others can only be outside a life. */
static const soft_trace *trace_of(const struct soft_race *race, uint32_t node,
                                  uint32_t loop)
{
    const soft_trace *trace = soft_race_trace_in(race, node, loop);
    return trace && trace->is_ordered && race->window_count == 0 ? NULL : trace;
}

static uint32_t count_items(const struct soft_race *race, uint32_t loop)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < race->order.node_count; i++) {
        const soft_trace *trace = trace_of(race, i, loop);
        if (trace)
            count += soft_item_count(trace);
    }
    return count;
}

static void gather(struct sweep *s)
{
    for (uint32_t n = 0; n < s->race->order.node_count; n++) {
        const soft_trace *trace = trace_of(s->race, n, s->loop);
        if (!trace)
            continue;
        soft_items_of(trace, n, &s->items[s->count]);
        s->count += soft_item_count(trace);
    }
}

static uint64_t pair_key(uint32_t a, uint32_t b)
{
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

/* Where the finding of a pair is or goes; NULL if it was reported before, or there is no
 * memory. A fresh one has its address at the end of all. */
static soft_finding *finding_of(struct sweep *s, uint32_t a, uint32_t b)
{
    const uint64_t key = pair_key(a, b);
    if (gphi_map_get(&s->race->known, key))
        return NULL;
    const uint64_t *at = gphi_map_get(&s->pairs, key);
    if (at)
        return &s->out->list[*at];
    soft_finding *list = gphi_array_room(s->race->heap, s->out->list, &s->out->capacity,
                                         s->out->count + 1ull, sizeof(*list));
    if (!list) {
        s->failed = true;
        return NULL;
    }
    s->out->list = list;
    if (gphi_map_set(&s->pairs, key, s->out->count) != GPH_OK) {
        s->failed = true;
        return NULL;
    }
    soft_finding *fresh = &s->out->list[s->out->count++];
    *fresh = (soft_finding){.address = UINT64_MAX};
    return fresh;
}

static bool may_race(const struct sweep *s, const struct item *a, const struct item *b)
{
    return a->node != b->node && soft_items_conflict(a, b) &&
           soft_race_common_loop(s->race, a->node, b->node) == s->loop &&
           !soft_order_has(&s->race->order, a->node, b->node);
}

static void compare(struct sweep *s, const struct item *a, const struct item *b)
{
    if (!may_race(s, a, b) || soft_item_common(a, b, UINT64_MAX) == UINT64_MAX)
        return;
    soft_finding *finding = finding_of(s, a->node, b->node);
    if (!finding)
        return;
    const uint64_t at = soft_item_common(a, b, finding->address);
    if (at >= finding->address)
        return;
    const bool turned = a->node > b->node;
    finding->kind = SOFT_FINDING_RACE;
    finding->address = at;
    finding->first = soft_item_side(turned ? b : a, at);
    finding->second = soft_item_side(turned ? a : b, at);
}

/* ---- memory of the graph's own ----------------------------------------------------- */

static bool covers(const struct sweep *s, const soft_race_window *w, uint32_t node)
{
    const struct order *order = &s->race->order;
    return (w->alloc == SOFT_RACE_NO_NODE || soft_order_above(order, node, w->alloc)) &&
           (w->free == SOFT_RACE_NO_NODE || soft_order_above(order, w->free, node));
}

/* Where the life of the byte that has the node in it ends; 0: there is none. */
static uint64_t alive_to(const struct sweep *s, uint32_t node, uint64_t address)
{
    uint64_t end = 0;
    uint32_t i, last;
    soft_race_find_windows(s->race, address, address + 1, &i, &last);
    for (; i < last; i++) {
        const soft_race_window *w = &s->race->windows[i];
        if (address - w->base < w->bytes && w->base + w->bytes > end &&
            covers(s, w, node))
            end = w->base + w->bytes;
    }
    return end;
}

/* The lowest byte of the item within the window that is not alive for its node. */
static uint64_t dead_byte(const struct sweep *s, const struct item *item,
                          const soft_race_window *w)
{
    const struct item whole = {.start = w->base, .end = w->base + w->bytes};
    struct item rest = *item;
    while (rest.start < rest.end) {
        const uint64_t byte = soft_item_common(&rest, &whole, UINT64_MAX);
        if (byte == UINT64_MAX)
            break;
        rest.start = alive_to(s, item->node, byte);
        if (rest.start == 0)
            return byte;
    }
    return UINT64_MAX;
}

/* What is wrong with a node outside a life, and which end of it says so. */
static soft_finding_kind wrong_of(const struct sweep *s, const soft_race_window *w,
                                  uint32_t node, uint32_t *other)
{
    const struct order *order = &s->race->order;
    const bool frees =
        w->free != SOFT_RACE_NO_NODE && !soft_order_above(order, w->free, node);
    *other = frees ? w->free : w->alloc;
    if (frees)
        return soft_order_above(order, node, w->free) ? SOFT_FINDING_AFTER_FREE
                                                      : SOFT_FINDING_FREE_UNORDERED;
    return soft_order_above(order, w->alloc, node) ? SOFT_FINDING_BEFORE_ALLOC
                                                   : SOFT_FINDING_ALLOC_UNORDERED;
}

/* Of several lives that miss the node the one that is not ordered with it, then the first
 * one given, is what is reported. */
static void compare_windows(struct sweep *s, const struct item *item)
{
    uint64_t best_at = UINT64_MAX;
    soft_finding_kind best = SOFT_FINDING_RACE;
    uint32_t best_other = SOFT_RACE_NO_NODE, i, last;
    soft_race_find_windows(s->race, item->start, item->end, &i, &last);
    for (; i < last; i++) {
        const soft_race_window *w = &s->race->windows[i];
        if (item->end <= w->base || item->start >= w->base + w->bytes ||
            item->node == w->alloc || item->node == w->free || covers(s, w, item->node))
            continue;
        const uint64_t at = dead_byte(s, item, w);
        uint32_t other;
        const soft_finding_kind kind = wrong_of(s, w, item->node, &other);
        if (at == UINT64_MAX || (best_at != UINT64_MAX && kind >= best))
            continue;
        best = kind;
        best_at = at;
        best_other = other;
    }
    if (best_at == UINT64_MAX)
        return;
    soft_finding *finding = finding_of(s, item->node, best_other);
    if (!finding || best_at >= finding->address)
        return;
    finding->kind = best;
    finding->address = best_at;
    finding->first = soft_item_side(item, best_at);
    finding->second = (soft_race_side){.node = best_other, .write = true};
}

/* ---- all of it --------------------------------------------------------------------- */

/* Drops what ends before the item, compares it with the rest. */
static void compare_active(struct sweep *s, struct active *active,
                           const struct item *item)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < active->count; k++) {
        struct item *other = active->list[k];
        if (other->end <= item->start)
            continue;
        compare(s, other, item);
        active->list[kept++] = other;
    }
    active->count = kept;
}

static void run(struct sweep *s)
{
    qsort(s->items, s->count, sizeof(*s->items), soft_item_by_address);
    for (uint32_t i = 0; i < s->count; i++) {
        struct item *item = &s->items[i];
        const bool writes = (item->kind & KIND_WRITE) != 0;
        compare_active(s, &s->active[1], item);
        if (writes)
            compare_active(s, &s->active[0], item);
        struct active *own = &s->active[writes];
        own->list[own->count++] = item;
        if (s->loop == 0) /* of a life all rounds are one */
            compare_windows(s, item);
    }
}

static int by_place(const void *left, const void *right)
{
    const soft_finding *a = left, *b = right;
    int order = soft_three_way(a->address, b->address);
    if (order == 0)
        order = soft_three_way(a->first.node, b->first.node);
    return order ? order : soft_three_way(a->second.node, b->second.node);
}

bool soft_race_compare(struct soft_race *race, uint32_t loop, struct findings *out)
{
    const uint32_t room = count_items(race, loop);
    struct sweep s = {.race = race, .loop = loop, .out = out};
    if (room == 0)
        return true;
    gphi_map_init(&s.pairs, race->heap);
    s.items = gphi_heap_array(race->heap, room, sizeof(*s.items));
    struct item **lists = gphi_heap_array(race->heap, 2ull * room, sizeof(struct item *));
    s.failed = !s.items || !lists;
    if (!s.failed) {
        s.active[0].list = lists;
        s.active[1].list = lists + room;
        gather(&s);
        run(&s);
    }
    gphi_heap_free(race->heap, s.items, room * sizeof(*s.items));
    gphi_heap_free(race->heap, lists, 2ull * room * sizeof(struct item *));
    gphi_map_fini(&s.pairs);
    if (out->count > 0)
        qsort(out->list, out->count, sizeof(*out->list), by_place);
    return !s.failed;
}
