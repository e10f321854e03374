// SPDX-License-Identifier: Apache-2.0
/* What a launch has touched, copied out of its traces when it ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/heap.h"
#include "softcuda/check/sideunit.h"

struct counts {
    uint32_t items, pages, names;
};

static struct counts count(const soft_race *race)
{
    struct counts out = {0, 0, 0};
    for (uint32_t i = 0; i < race->order.node_count; i++) {
        const soft_trace *trace = soft_race_trace_in(race, i, 0);
        if (!trace || soft_item_count(trace) == 0)
            continue;
        out.items += soft_item_count(trace);
        out.pages += trace->count;
        out.names++;
    }
    return out;
}

static bool allocate(struct footprint *f, gph_allocator heap)
{
    f->touches = gphi_heap_array(heap, f->room, sizeof(*f->touches));
    f->names = gphi_heap_array(heap, f->name_count, sizeof(*f->names));
    if (f->page_count > 0)
        f->pages = gphi_heap_array(heap, f->page_count, sizeof(*f->pages));
    return f->touches && f->names && (f->page_count == 0 || f->pages);
}

void soft_footprint_fini(struct footprint *f, gph_allocator heap)
{
    gphi_heap_free(heap, f->touches, f->room * sizeof(*f->touches));
    gphi_heap_free(heap, f->names, f->name_count * sizeof(*f->names));
    gphi_heap_free(heap, f->pages, f->page_count * sizeof(*f->pages));
    *f = (struct footprint){.room = 0};
}

/* Kernels may be unloaded before a message names them. */
static void take_name(struct names *names, const struct ran *ran, const soft_who *who)
{
    *names = (struct names){.ran = *ran, .who = *who};
    if (!ran->kernel)
        return;
    snprintf(names->kernel, sizeof(names->kernel), "%s", ran->kernel);
    names->ran.kernel = names->kernel;
}

static int by_address(const void *left, const void *right)
{
    return soft_item_by_address(&((const struct touch *)left)->item,
                                &((const struct touch *)right)->item);
}

static uint64_t hash_of(const struct footprint *f)
{
    uint64_t hash = GPHI_HASH_START;
    for (uint32_t i = 0; i < f->count; i++) {
        const struct item *item = &f->touches[i].item;
        hash = gphi_hash_word(gphi_hash_word(hash, item->start), item->end);
        hash = gphi_hash_word(hash, (uint64_t)item->line << 8 | item->kind);
        hash = gphi_hash_word(hash, soft_touch_who(&f->touches[i])->node);
        hash = gphi_hash_word(hash, soft_touch_who(&f->touches[i])->place);
        for (uint32_t w = 0; item->touched && w < TOUCHED_WORDS; w++)
            hash = gphi_hash_word(hash, item->touched->bits[w]);
    }
    return hash;
}

/* The memory of a span, or of what a page has of 256 bytes; as it is now. */
static uint64_t find_memory(struct footprint *f, const struct item *item,
                            uint64_t address, const soft_beside_options *options)
{
    bool is_host = false;
    const uint64_t memory = options->memory_at(options->user, address, &is_host);
    f->flags_host |= is_host && item->kind == (KIND_WRITE | KIND_STRONG);
    return memory;
}

static bool find_page(struct footprint *f, const struct item *item,
                      struct print_page *page, const soft_beside_options *options)
{
    bool any = false;
    for (uint32_t i = 0; i < FIRST_COUNT; i++) {
        uint64_t bits = 0;
        for (uint32_t w = 0; w < FIRST_BYTES / 64; w++)
            bits |= page->touched.bits[i * FIRST_BYTES / 64 + w];
        if (bits != 0)
            page->memory[i] = find_memory(
                f, item, page->touched.page * TOUCHED_BYTES + i * FIRST_BYTES, options);
        any |= page->memory[i] != 0;
    }
    return any;
}

/* Takes an item over. What is in no memory any more was freed, and may be another's soon: it is
 * left out. */
static void take(struct footprint *f, const struct item *item, const struct names *names,
                 const soft_beside_options *options)
{
    struct touch *touch = &f->touches[f->count];
    bool is_there;
    if (item->start >= SOFT_TRACE_HANDLES)
        return;
    *touch = (struct touch){.item = *item};
    touch->item.ran = &names->ran;
    if (item->touched) {
        struct print_page *page = &f->pages[f->used_pages];
        memcpy(&page->touched, item->touched, sizeof(page->touched));
        is_there = find_page(f, item, page, options);
        f->used_pages += is_there;
        touch->item.touched = &page->touched;
        touch->page = page;
    } else {
        touch->memory = find_memory(f, item, item->start, options);
        is_there = touch->memory != 0;
    }
    f->count += is_there;
}

bool soft_footprint_init(struct footprint *out, const soft_race *race,
                         const soft_who *who, const soft_beside_options *options,
                         gph_allocator heap)
{
    const struct counts counts = count(race);
    struct footprint f = {
        .room = counts.items, .page_count = counts.pages, .name_count = counts.names};
    uint32_t names = 0;
    *out = (struct footprint){.room = 0};
    if (counts.items == 0)
        return true;
    struct item *all = gphi_heap_array(heap, counts.items, sizeof(*all));
    if (!all || !allocate(&f, heap)) {
        gphi_heap_free(heap, all, counts.items * sizeof(*all));
        soft_footprint_fini(&f, heap);
        return false;
    }
    for (uint32_t n = 0; n < race->order.node_count; n++) {
        const soft_trace *trace = soft_race_trace_in(race, n, 0);
        if (!trace || soft_item_count(trace) == 0)
            continue;
        take_name(&f.names[names], &trace->ran, &who[n]);
        soft_items_of(trace, n, all);
        for (uint32_t i = 0; i < soft_item_count(trace); i++)
            take(&f, &all[i], &f.names[names], options);
        names++;
    }
    gphi_heap_free(heap, all, counts.items * sizeof(*all));
    if (f.count > 0)
        qsort(f.touches, f.count, sizeof(*f.touches), by_address);
    f.hash = hash_of(&f);
    *out = f;
    return true;
}
