// SPDX-License-Identifier: Apache-2.0
/* Comparing what the nodes of a launch have touched. All pages and spans are sorted by
 * address; one sweep keeps those that reach to the current one, and compares each new one
 * with them. */
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/vec.h"
#include "softcuda/check/touched.h"

/* A page or a span of one node: [start, end). */
struct item {
    uint64_t start, end;
    const struct touched *touched; /* NULL: a span, all of whose bytes are touched */
    const soft_trace *trace;
    uint32_t node, line;
    uint8_t kind;
};

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

static uint64_t bits_at(const struct touched *t, uint32_t word)
{
    return atomic_load_explicit(&t->bits[word], memory_order_relaxed);
}

/* Tight around the bits that are set. */
static struct item page_item(const struct touched *t, const soft_trace *trace,
                             uint32_t node)
{
    uint32_t low = 0, high = TOUCHED_WORDS - 1;
    while (bits_at(t, low) == 0)
        low++;
    while (bits_at(t, high) == 0)
        high--;
    const uint64_t base = t->page * TOUCHED_BYTES;
    return (struct item){
        .start = base + low * 64 + (uint64_t)__builtin_ctzll(bits_at(t, low)),
        .end = base + high * 64 + 64 - (uint64_t)__builtin_clzll(bits_at(t, high)),
        .touched = t,
        .trace = trace,
        .node = node,
        .line = t->line,
        .kind = t->kind};
}

static uint32_t count_items(const struct soft_race *race, uint32_t loop)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < race->order.node_count; i++) {
        const soft_trace *trace = soft_race_trace_in(race, i, loop);
        if (trace)
            count += trace->count + trace->span_count;
    }
    return count;
}

static void gather(struct sweep *s)
{
    for (uint32_t n = 0; n < s->race->order.node_count; n++) {
        const soft_trace *trace = soft_race_trace_in(s->race, n, s->loop);
        for (uint32_t i = 0; trace && i < trace->capacity; i++)
            for (const struct touched *t = trace->table[i]; t; t = t->next)
                s->items[s->count++] = page_item(t, trace, n);
        for (uint32_t i = 0; trace && i < trace->span_count; i++)
            s->items[s->count++] = (struct item){.start = trace->spans[i].start,
                                                 .end = trace->spans[i].end,
                                                 .trace = trace,
                                                 .node = n,
                                                 .kind = trace->spans[i].kind};
    }
}

static int three_way(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_address(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    int order = three_way(a->start, b->start);
    if (order == 0)
        order = three_way(a->node, b->node);
    if (order == 0)
        order = three_way(a->line, b->line);
    return order ? order : three_way(a->kind, b->kind);
}

/* The bits that an item has in the 64 bytes at `base`. */
static uint64_t word_of(const struct item *item, uint64_t base)
{
    if (item->touched)
        return bits_at(item->touched, (uint32_t)(base % TOUCHED_BYTES / 64));
    const uint64_t from = item->start > base ? item->start - base : 0;
    const uint64_t to = item->end < base + 64 ? item->end - base : 64;
    return (to == 64 ? ~0ull : (1ull << to) - 1) & ~((1ull << from) - 1);
}

/* The lowest byte that both touch, below `limit`; `limit` if there is none. */
static uint64_t common_byte(const struct item *a, const struct item *b, uint64_t limit)
{
    const uint64_t start = a->start > b->start ? a->start : b->start;
    uint64_t end = a->end < b->end ? a->end : b->end;
    end = end < limit ? end : limit;
    if (!a->touched && !b->touched)
        return start < end ? start : limit;
    for (uint64_t base = start & ~63ull; base < end; base += 64) {
        uint64_t both = word_of(a, base) & word_of(b, base);
        if (base < start)
            both &= ~0ull << (start - base);
        if (both != 0) {
            const uint64_t at = base + (uint64_t)__builtin_ctzll(both);
            return at < end ? at : limit;
        }
    }
    return limit;
}

static void unfold(uint64_t linear, const uint32_t dims[3], uint32_t out[3])
{
    const uint64_t x = dims[0] ? dims[0] : 1, y = dims[1] ? dims[1] : 1;
    out[0] = (uint32_t)(linear % x);
    out[1] = (uint32_t)(linear / x % y);
    out[2] = (uint32_t)(linear / x / y);
}

/* One end of a finding at `address`; the thread only if it is sure. */
static soft_race_side side_of(const struct item *item, uint64_t address)
{
    const soft_trace *trace = item->trace;
    soft_race_side side = {.node = item->node,
                           .line = item->line,
                           .kernel = item->touched ? trace->kernel : NULL,
                           .write = (item->kind & KIND_WRITE) != 0,
                           .strong = (item->kind & KIND_STRONG) != 0};
    if (!item->touched)
        return side;
    side.bytes = item->touched->bytes;
    const uint32_t offset = (uint32_t)(address % TOUCHED_BYTES);
    const uint64_t first = atomic_load_explicit(
        &item->touched->first[offset / FIRST_BYTES], memory_order_relaxed);
    const uint64_t begins = offset / FIRST_BYTES * FIRST_BYTES + (first >> 56);
    if (first == UINT64_MAX || offset < begins || offset >= begins + side.bytes)
        return side;
    side.has_thread = true;
    unfold(first >> 16 & 0xffffffffffull, trace->grid, side.block);
    unfold(first & 0xffff, trace->block, side.thread);
    return side;
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
    return a->node != b->node && ((a->kind | b->kind) & KIND_WRITE) != 0 &&
           (a->kind & b->kind & KIND_STRONG) == 0 &&
           soft_race_common_loop(s->race, a->node, b->node) == s->loop &&
           !soft_order_has(&s->race->order, a->node, b->node);
}

static void compare(struct sweep *s, const struct item *a, const struct item *b)
{
    if (!may_race(s, a, b) || common_byte(a, b, UINT64_MAX) == UINT64_MAX)
        return;
    soft_finding *finding = finding_of(s, a->node, b->node);
    if (!finding)
        return;
    const uint64_t at = common_byte(a, b, finding->address);
    if (at >= finding->address)
        return;
    const bool turned = a->node > b->node;
    finding->kind = SOFT_FINDING_RACE;
    finding->address = at;
    finding->first = side_of(turned ? b : a, at);
    finding->second = side_of(turned ? a : b, at);
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
        const uint64_t byte = common_byte(&rest, &whole, UINT64_MAX);
        if (byte == UINT64_MAX)
            break;
        rest.start = alive_to(s, item->node, byte);
        if (rest.start == 0)
            return byte;
    }
    return UINT64_MAX;
}

/* What is wrong with a node outside of a life, and which end of it says so. */
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
 * one given, is what is told. */
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
    finding->first = side_of(item, best_at);
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
    qsort(s->items, s->count, sizeof(*s->items), by_address);
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
    int order = three_way(a->address, b->address);
    if (order == 0)
        order = three_way(a->first.node, b->first.node);
    return order ? order : three_way(a->second.node, b->second.node);
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
