// SPDX-License-Identifier: Apache-2.0
/* Pages and spans of traces, as comparisons want them. */
#include "softcuda/check/item.h"

static uint64_t bits_at(const struct touched *t, uint32_t word)
{
    return atomic_load_explicit(&t->bits[word], memory_order_relaxed);
}

/* Tight around the bits that are set. */
static struct item page_item(const struct touched *t, const struct ran *ran,
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
        .ran = ran,
        .node = node,
        .line = t->line,
        .kind = t->kind};
}

uint32_t soft_item_count(const soft_trace *trace)
{
    return trace->count + trace->span_count;
}

void soft_items_of(const soft_trace *trace, uint32_t node, struct item *out)
{
    for (uint32_t i = 0; i < trace->capacity; i++)
        for (const struct touched *t = trace->table[i]; t; t = t->next)
            *out++ = page_item(t, &trace->ran, node);
    for (uint32_t i = 0; i < trace->span_count; i++)
        *out++ = (struct item){.start = trace->spans[i].start,
                               .end = trace->spans[i].end,
                               .ran = &trace->ran,
                               .node = node,
                               .kind = trace->spans[i].kind};
}

int soft_item_by_address(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    int order = soft_three_way(a->start, b->start);
    if (order == 0)
        order = soft_three_way(a->node, b->node);
    if (order == 0)
        order = soft_three_way(a->line, b->line);
    return order ? order : soft_three_way(a->kind, b->kind);
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

uint64_t soft_item_common(const struct item *a, const struct item *b, uint64_t limit)
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

soft_race_side soft_item_side(const struct item *item, uint64_t address)
{
    const struct ran *ran = item->ran;
    soft_race_side side = {.node = item->node,
                           .line = item->line,
                           .kernel = item->touched ? ran->kernel : NULL,
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
    unfold(first >> 16 & 0xffffffffffull, ran->grid, side.block);
    unfold(first & 0xffff, ran->block, side.thread);
    return side;
}
