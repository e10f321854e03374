// SPDX-License-Identifier: Apache-2.0
/* Segregated-fit heaps over segments of mapped slots; block records live outside the
 * device memory, so that a kernel that writes wild cannot break them. */
#include "softcuda/memory/arena.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <string.h>
#include <sys/mman.h>

#include "base/heap.h"

/* Four bins a power of two: sizes of a bin differ by at most a quarter. */
static uint32_t bin_of(uint64_t granules)
{
    if (granules < 4)
        return (uint32_t)granules;
    const uint32_t log = 63u - (uint32_t)__builtin_clzll(granules);
    const uint32_t bin = 4 * (log - 1) + (uint32_t)((granules >> (log - 2)) & 3);
    return bin < SOFT_BINS ? bin : SOFT_BINS - 1;
}

static void bin_add(struct soft_heap *heap, struct soft_block *block)
{
    const uint32_t bin = bin_of(block->granules);
    block->bin_before = NULL;
    block->bin_behind = heap->bins[bin];
    if (heap->bins[bin])
        heap->bins[bin]->bin_before = block;
    heap->bins[bin] = block;
    heap->bin_bits[bin / 64] |= 1ull << (bin % 64);
}

static void bin_remove(struct soft_heap *heap, struct soft_block *block)
{
    const uint32_t bin = bin_of(block->granules);
    if (block->bin_before)
        block->bin_before->bin_behind = block->bin_behind;
    else
        heap->bins[bin] = block->bin_behind;
    if (block->bin_behind)
        block->bin_behind->bin_before = block->bin_before;
    if (!heap->bins[bin])
        heap->bin_bits[bin / 64] &= ~(1ull << (bin % 64));
}

static struct soft_block *bin_find(const struct soft_heap *heap, uint64_t granules)
{
    for (uint32_t bin = bin_of(granules); bin < SOFT_BINS; bin++) {
        if ((heap->bin_bits[bin / 64] >> (bin % 64) & 1) == 0)
            continue;
        struct soft_block *best = NULL;
        for (struct soft_block *b = heap->bins[bin]; b; b = b->bin_behind)
            if (b->granules >= granules && (!best || b->granules < best->granules))
                best = b;
        if (best)
            return best;
    }
    return NULL;
}

uint64_t soft_block_address(const struct soft_block *block)
{
    return soft_slot_address(block->segment->heap->memory, block->segment->slot) +
           block->start * SOFT_GRANULE_BYTES;
}

/* Marks where a block begins, and in which slots it holds the first granule. */
static void place(struct soft_block *block, bool begins)
{
    const struct soft_segment *segment = block->segment;
    struct soft_slot *slots = segment->heap->memory->slots + segment->slot;
    uint64_t *word = &slots[block->start / SOFT_SLOT_GRANULES]
                          .starts[block->start % SOFT_SLOT_GRANULES / 64];
    const uint64_t bit = 1ull << (block->start % 64);
    *word = begins ? *word | bit : *word & ~bit;
    if (!begins)
        return;
    uint64_t slot = (block->start + SOFT_SLOT_GRANULES - 1) / SOFT_SLOT_GRANULES;
    const uint64_t end = block->start + block->granules;
    for (; slot * SOFT_SLOT_GRANULES < end; slot++)
        slots[slot].cover = block;
}

static struct soft_block *new_block(struct soft_segment *segment, uint64_t start,
                                    uint64_t granules)
{
    soft_memory *memory = segment->heap->memory;
    struct soft_block *block = gphi_heap_alloc(memory->heap, sizeof(*block));
    if (!block)
        return NULL;
    *block =
        (struct soft_block){.segment = segment, .start = start, .granules = granules};
    if (gphi_map_set(&memory->blocks, soft_block_address(block),
                     (uint64_t)(uintptr_t)block) != GPH_OK) {
        gphi_heap_free(memory->heap, block, sizeof(*block));
        return NULL;
    }
    return block;
}

static void free_block(struct soft_block *block)
{
    soft_memory *memory = block->segment->heap->memory;
    gphi_map_remove(&memory->blocks, soft_block_address(block));
    gphi_heap_free(memory->heap, block, sizeof(*block));
}

/* Cuts a free block that is in no bin. Without host memory for the rest it stays whole.
 */
static void split(struct soft_heap *heap, struct soft_block *block, uint64_t granules)
{
    if (block->granules == granules)
        return;
    struct soft_block *rest =
        new_block(block->segment, block->start + granules, block->granules - granules);
    if (!rest)
        return;
    block->granules = granules;
    rest->before = block;
    rest->after = block->after;
    if (rest->after)
        rest->after->before = rest;
    block->after = rest;
    place(rest, true);
    bin_add(heap, rest);
}

/* `block` takes over the free block after it. */
static void absorb(struct soft_block *block)
{
    struct soft_block *gone = block->after;
    place(gone, false);
    block->granules += gone->granules;
    block->after = gone->after;
    if (block->after)
        block->after->before = block;
    place(block, true);
    free_block(gone);
}

static void unlink_segment(struct soft_segment *segment)
{
    struct soft_heap *heap = segment->heap;
    if (segment->before)
        segment->before->after = segment->after;
    else
        heap->segments = segment->after;
    if (segment->after)
        segment->after->before = segment->before;
    heap->slot_count -= segment->slot_count;
}

/* Gives slots and chunks back to the arena. The blocks of the segment die. */
static void drop_segment(struct soft_segment *segment, bool punch)
{
    struct soft_heap *heap = segment->heap;
    soft_memory *memory = heap->memory;
    for (struct soft_block *b = segment->first; b;) {
        struct soft_block *next = b->after;
        if (!b->used && !b->pending)
            bin_remove(heap, b);
        free_block(b);
        b = next;
    }
    unlink_segment(segment);
    for (uint32_t i = segment->slot_count; i-- > 0;)
        soft_chunks_give(memory, 1, &memory->slots[segment->slot + i].chunk,
                         punch && heap->file < 0);
    if (heap->file >= 0) /* always: the next owner of the slots may be exported, too */
        (void)fallocate(heap->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        (off_t)(segment->slot * SOFT_CHUNK_BYTES),
                        (off_t)(segment->slot_count * SOFT_CHUNK_BYTES));
    soft_slots_unmap(memory, segment->slot, segment->slot_count);
    soft_slots_give(memory, segment->slot, segment->slot_count);
    gphi_heap_free(memory->heap, segment, sizeof(*segment));
}

/* A heap with a file of its own takes chunks as well, for the device's account alone. */
static bool map_chunks(const struct soft_segment *segment, const uint32_t *chunks)
{
    const struct soft_heap *heap = segment->heap;
    soft_memory *memory = heap->memory;
    const int prot = PROT_READ | PROT_WRITE;
    if (heap->file < 0)
        return soft_slots_map(memory, segment->slot, segment->slot_count, chunks, prot) &&
               (!heap->is_shown ||
                soft_slots_show(memory, segment->slot, segment->slot_count, NULL));
    const struct soft_places places = {.file = heap->file, .first = segment->slot};
    if (!soft_slots_map_places(memory, segment->slot, segment->slot_count, &places,
                               prot) ||
        (heap->is_shown &&
         !soft_slots_show(memory, segment->slot, segment->slot_count, &places)))
        return false;
    for (uint32_t i = 0; i < segment->slot_count; i++)
        memory->slots[segment->slot + i].chunk = chunks[i];
    return true;
}

/* Slots with their start bitmaps and chunks; false leaves nothing behind. */
static bool map_segment(soft_memory *memory, struct soft_segment *segment)
{
    const uint32_t count = segment->slot_count;
    uint32_t *chunks = gphi_heap_array(memory->heap, count, sizeof(*chunks));
    if (!chunks)
        return false;
    bool mapped = false;
    segment->slot = SOFT_NO_CHUNK;
    if (!soft_chunks_take(memory, count, chunks))
        goto free_list;
    segment->slot = soft_slots_take(memory, count, SOFT_SLOT_HEAP);
    if (segment->slot == SOFT_NO_CHUNK)
        goto give_chunks;
    for (uint32_t i = 0; i < count; i++) {
        struct soft_slot *slot = &memory->slots[segment->slot + i];
        slot->starts = gphi_heap_array(memory->heap, SOFT_SLOT_WORDS, sizeof(uint64_t));
        if (!slot->starts)
            goto give_slots;
    }
    mapped = map_chunks(segment, chunks);
    if (mapped)
        goto free_list;

give_slots:
    soft_slots_give(memory, segment->slot, count);
give_chunks:
    soft_chunks_give(memory, count, chunks, false);
free_list:
    gphi_heap_free(memory->heap, chunks, count * sizeof(*chunks));
    return mapped;
}

static struct soft_segment *new_segment(struct soft_heap *heap, uint32_t slot_count)
{
    soft_memory *memory = heap->memory;
    struct soft_segment *segment = gphi_heap_alloc(memory->heap, sizeof(*segment));
    if (!segment)
        return NULL;
    *segment = (struct soft_segment){.heap = heap, .slot_count = slot_count};
    if (!map_segment(memory, segment)) {
        gphi_heap_free(memory->heap, segment, sizeof(*segment));
        return NULL;
    }
    segment->after = heap->segments;
    if (heap->segments)
        heap->segments->before = segment;
    heap->segments = segment;
    heap->slot_count += slot_count;
    segment->first = new_block(segment, 0, slot_count * SOFT_SLOT_GRANULES);
    if (!segment->first) {
        drop_segment(segment, false);
        return NULL;
    }
    place(segment->first, true);
    bin_add(heap, segment->first);
    return segment;
}

void soft_heap_init(struct soft_heap *heap, soft_memory *memory, soft_pool *pool,
                    uint32_t segment_slots, bool keeps_segments)
{
    *heap = (struct soft_heap){.memory = memory,
                               .pool = pool,
                               .segment_slots = segment_slots,
                               .file = -1,
                               .keeps_segments = keeps_segments};
}

void soft_heap_fini(struct soft_heap *heap)
{
    while (heap->segments)
        drop_segment(heap->segments, true);
}

struct soft_block *soft_heap_take(struct soft_heap *heap, uint64_t bytes, bool may_grow)
{
    if (bytes > heap->memory->range_bytes)
        return NULL;
    const uint64_t granules = (bytes + SOFT_GRANULE_BYTES - 1) / SOFT_GRANULE_BYTES;
    /* Large blocks of cuMemAlloc get slots of their own: freed, they fault. */
    const bool alone = !heap->keeps_segments && granules > SOFT_SLOT_GRANULES / 2;
    struct soft_block *block = alone ? NULL : bin_find(heap, granules);
    if (!block) {
        const uint32_t exact =
            (uint32_t)((granules + SOFT_SLOT_GRANULES - 1) / SOFT_SLOT_GRANULES);
        const uint32_t rounded =
            (exact + heap->segment_slots - 1) / heap->segment_slots * heap->segment_slots;
        struct soft_segment *segment = may_grow ? new_segment(heap, rounded) : NULL;
        if (!segment && may_grow && rounded != exact)
            segment = new_segment(heap, exact);
        if (!segment)
            return NULL;
        block = segment->first;
    }
    bin_remove(heap, block);
    if (!alone)
        split(heap, block, granules);
    block->used = true;
    block->segment->used_granules += block->granules;
    return block;
}

void soft_heap_give(struct soft_heap *heap, struct soft_block *block)
{
    struct soft_segment *segment = block->segment;
    segment->used_granules -= block->granules;
    block->used = false;
    block->pending = false;
    block->freed = (soft_point){0};
    struct soft_block *near = block->after;
    if (near && !near->used && !near->pending) {
        bin_remove(heap, near);
        absorb(block);
    }
    near = block->before;
    if (near && !near->used && !near->pending) {
        bin_remove(heap, near);
        absorb(near);
        block = near;
    }
    bin_add(heap, block);
    /* One empty small segment stays, so that alloc and free in turn do not map each time.
     */
    if (!heap->keeps_segments && segment->used_granules == 0 &&
        (segment->slot_count > 1 || heap->slot_count > 1))
        drop_segment(segment, false);
}

void soft_heap_trim(struct soft_heap *heap, uint64_t keep_slots)
{
    for (struct soft_segment *s = heap->segments; s && heap->slot_count > keep_slots;) {
        struct soft_segment *next = s->after;
        if (s->used_granules == 0 && heap->slot_count - s->slot_count >= keep_slots)
            drop_segment(s, true);
        s = next;
    }
}

struct soft_block *soft_block_at(const soft_memory *memory, uint64_t address)
{
    uint32_t index;
    if (!soft_slot_of(memory, address, &index))
        return NULL;
    const struct soft_slot *slot = &memory->slots[index];
    if (slot->state != SOFT_SLOT_HEAP)
        return NULL;
    const uint64_t base = soft_slot_address(memory, index);
    const uint64_t granule = (address - base) / SOFT_GRANULE_BYTES;
    uint64_t word = slot->starts[granule / 64] & (~0ull >> (63 - granule % 64));
    for (uint64_t i = granule / 64;; word = slot->starts[--i]) {
        if (word) {
            const uint64_t start = i * 64 + 63 - (uint64_t)__builtin_clzll(word);
            const uint64_t *found =
                gphi_map_get(&memory->blocks, base + start * SOFT_GRANULE_BYTES);
            return found ? (struct soft_block *)(uintptr_t)*found : NULL;
        }
        if (i == 0)
            return slot->cover;
    }
}
