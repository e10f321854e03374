// SPDX-License-Identifier: Apache-2.0
/* The address range of a device (slots) and its physical memory (chunks of a memfd). In
 * check mode there are two ranges: the one whose addresses are given out, without access,
 * and the alias where the chunks are mapped. */
#include "softcuda/memory/arena.h"
#include "softcuda/memory/share.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/heap.h"
#include "base/limit.h"
#include "base/log.h"

#define RANGE_DEFAULT (64ull << 30)
#define RANGE_LEAST (64ull << 20)
/* Up to here a new mapping is populated at once: first touches by kernels would cost
 * more. */
#define POPULATE_CHUNKS 64u

/* Where ranges are wanted: the same addresses in every process, so that graphs that were
 * recorded in one can be loaded in another without change. Far from where Linux and the
 * sanitizers put things; whoever minds gets a range elsewhere. */
#define WANTED_FIRST ((uintptr_t)32 << 40)
#define WANTED_STEP ((uintptr_t)1 << 40)
#define WANTED_TRIES 64

static void *map_nothing(uintptr_t wanted, uint64_t bytes)
{
    return mmap((void *)wanted, bytes, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static void *map_wanted(uint64_t bytes)
{
    for (uintptr_t i = 0; i < WANTED_TRIES; i++) {
        const uintptr_t wanted = WANTED_FIRST + i * WANTED_STEP;
        void *at = map_nothing(wanted, bytes);
        if (at == (void *)wanted || at == MAP_FAILED)
            return at;
        munmap(at, bytes);
    }
    return map_nothing(0, bytes);
}

/* An aligned range without access, or NULL. */
static unsigned char *reserve_range(uint64_t bytes)
{
    unsigned char *raw = map_wanted(bytes + SOFT_CHUNK_BYTES);
    if (raw == MAP_FAILED)
        return NULL;
    const uintptr_t aligned =
        ((uintptr_t)raw + SOFT_CHUNK_BYTES - 1) & ~(uintptr_t)(SOFT_CHUNK_BYTES - 1);
    if (aligned > (uintptr_t)raw)
        munmap(raw, aligned - (uintptr_t)raw);
    const uintptr_t end = (uintptr_t)raw + bytes + SOFT_CHUNK_BYTES;
    if (end > aligned + bytes)
        munmap((void *)(aligned + bytes), end - (aligned + bytes));
    madvise((void *)aligned, bytes, MADV_DONTFORK);
    madvise((void *)aligned, bytes, MADV_DONTDUMP);
    return (unsigned char *)aligned;
}

/* The program's range, and the alias if there is to be one; both or none. */
static bool reserve_both(soft_memory *memory, uint64_t bytes, bool with_alias)
{
    memory->base = reserve_range(bytes);
    if (!memory->base)
        return false;
    memory->range_bytes = bytes;
    if (!with_alias)
        return true;
    memory->alias = reserve_range(bytes);
    if (!memory->alias) {
        munmap(memory->base, bytes);
        memory->base = NULL;
        return false;
    }
    memory->shift =
        (uint64_t)(uintptr_t)memory->alias - (uint64_t)(uintptr_t)memory->base;
    return true;
}

/* RLIMIT_AS and overcommit limits show only when asking: halve until it fits. */
static gph_status reserve(soft_memory *memory, uint64_t bytes, bool with_alias,
                          gph_error *error)
{
    const uint64_t asked = bytes;
    for (; bytes >= RANGE_LEAST; bytes /= 2) {
        if (!reserve_both(memory, bytes, with_alias))
            continue;
        if (bytes < asked)
            gphi_log("memory", GPH_LOG_WARN,
                     "device %u reserves %llu MiB of addresses, not %llu: the system "
                     "refuses more (RLIMIT_AS?)",
                     memory->device, (unsigned long long)(bytes >> 20),
                     (unsigned long long)(asked >> 20));
        return GPH_OK;
    }
    return gphi_fail(error, CUDA_ERROR_OUT_OF_MEMORY,
                     "the system refuses to reserve even %llu MiB of addresses",
                     (unsigned long long)(RANGE_LEAST >> 20));
}

static gph_status make_tables(soft_memory *memory, gph_error *error)
{
    memory->slot_count = (uint32_t)(memory->range_bytes / SOFT_CHUNK_BYTES);
    memory->slots =
        gphi_heap_array(memory->heap, memory->slot_count, sizeof(*memory->slots));
    memory->free_chunks =
        gphi_heap_array(memory->heap, memory->chunk_count, sizeof(uint32_t));
    GPHI_TRY(gphi_made(error, memory->slots && memory->free_chunks,
                       "tables of %u slots and %u chunks", memory->slot_count,
                       memory->chunk_count));
    for (uint32_t i = 0; i < memory->slot_count; i++)
        memory->slots[i].chunk = SOFT_NO_CHUNK;
    /* Low chunks on top, so that neighbors come out together and map in one call. */
    for (uint32_t i = 0; i < memory->chunk_count; i++)
        memory->free_chunks[i] = memory->chunk_count - 1 - i;
    memory->free_chunk_count = memory->chunk_count;
    return GPH_OK;
}

/* The chunks: a file without a name, or, where the process may not make one as large
 * (ulimit -f), shared memory whose pieces mremap() maps a second time. */
static bool make_store(soft_memory *memory, uint64_t bytes)
{
    if (gphi_limit_allows(bytes + SOFT_LABEL_BYTES)) {
        return soft_share_create(SOFT_SHARE_DEVICE, memory->physical, bytes,
                                 &memory->file, NULL) == GPH_OK;
    }
    void *store = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (store == MAP_FAILED)
        return false;
    madvise(store, bytes, MADV_DONTFORK);
    madvise(store, bytes, MADV_DONTDUMP);
    memory->store = store;
    return true;
}

gph_status soft_arena_init(soft_memory *memory, const soft_memory_options *options,
                           gph_error *error)
{
    memory->file = -1;
    memory->chunk_count = (uint32_t)(options->limit_bytes / SOFT_CHUNK_BYTES);
    if (memory->chunk_count == 0)
        return gphi_fail(error, GPH_E_INVALID,
                         "device memory of %llu bytes is below 2 MiB",
                         (unsigned long long)options->limit_bytes);
    GPHI_TRY(reserve(memory, options->range_bytes ? options->range_bytes : RANGE_DEFAULT,
                     options->keeps_host_out, error));

    if (!make_store(memory, memory->chunk_count * SOFT_CHUNK_BYTES))
        return gphi_fail(
            error, CUDA_ERROR_OUT_OF_MEMORY,
            "the system refuses a memory file of %llu MiB",
            (unsigned long long)(memory->chunk_count * SOFT_CHUNK_BYTES >> 20));
    return make_tables(memory, error);
}

void soft_arena_fini(soft_memory *memory)
{
    if (memory->base)
        munmap(memory->base, memory->range_bytes);
    if (memory->alias)
        munmap(memory->alias, memory->range_bytes);
    if (memory->file >= 0)
        close(memory->file);
    if (memory->store)
        munmap(memory->store, memory->chunk_count * SOFT_CHUNK_BYTES);
    for (uint32_t i = 0; memory->slots && i < memory->slot_count; i++)
        gphi_heap_free(memory->heap, memory->slots[i].starts,
                       SOFT_SLOT_WORDS * sizeof(uint64_t));
    gphi_heap_free(memory->heap, memory->slots,
                   memory->slot_count * sizeof(*memory->slots));
    gphi_heap_free(memory->heap, memory->free_chunks,
                   memory->chunk_count * sizeof(uint32_t));
}

static bool slots_are_free(const soft_memory *memory, uint32_t slot, uint32_t count)
{
    if (count == 0 || slot >= memory->slot_count || count > memory->slot_count - slot)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (memory->slots[slot + i].state != SOFT_SLOT_FREE)
            return false;
    return true;
}

bool soft_slots_take_at(soft_memory *memory, uint32_t slot, uint32_t count, int state)
{
    if (!slots_are_free(memory, slot, count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        memory->slots[slot + i].state = (unsigned)state;
    return true;
}

/* Next fit: a freed address is not reused at once, so that a stale pointer faults longer.
 */
static uint32_t find_run(const soft_memory *memory, uint32_t from, uint32_t to,
                         uint32_t count)
{
    uint32_t run = 0;
    for (uint32_t i = from; i < to; i++) {
        run = memory->slots[i].state == SOFT_SLOT_FREE ? run + 1 : 0;
        if (run == count)
            return i + 1 - count;
    }
    return SOFT_NO_CHUNK;
}

uint32_t soft_slots_take_behind(soft_memory *memory, uint32_t from, uint32_t count,
                                int state)
{
    if (count == 0 || count > memory->slot_count)
        return SOFT_NO_CHUNK;
    uint32_t slot = find_run(memory, from, memory->slot_count, count);
    if (slot == SOFT_NO_CHUNK)
        slot = find_run(memory, 0, memory->slot_count, count);
    for (uint32_t i = 0; slot != SOFT_NO_CHUNK && i < count; i++)
        memory->slots[slot + i].state = (unsigned)state;
    return slot;
}

uint32_t soft_slots_take(soft_memory *memory, uint32_t count, int state)
{
    const uint32_t slot = soft_slots_take_behind(memory, memory->slot_hint, count, state);
    if (slot != SOFT_NO_CHUNK)
        memory->slot_hint = slot + count < memory->slot_count ? slot + count : 0;
    return slot;
}

void soft_slots_give(soft_memory *memory, uint32_t slot, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct soft_slot *s = &memory->slots[slot + i];
        gphi_heap_free(memory->heap, s->starts, SOFT_SLOT_WORDS * sizeof(uint64_t));
        *s = (struct soft_slot){.state = SOFT_SLOT_FREE, .chunk = SOFT_NO_CHUNK};
    }
}

bool soft_chunks_take(soft_memory *memory, uint32_t count, uint32_t *chunks)
{
    if (count > memory->free_chunk_count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        chunks[i] = memory->free_chunks[--memory->free_chunk_count];
    return true;
}

void soft_chunks_give(soft_memory *memory, uint32_t count, const uint32_t *chunks,
                      bool punch)
{
    for (uint32_t i = count; i-- > 0;) {
        const uint64_t at = chunks[i] * SOFT_CHUNK_BYTES;
        if (punch && memory->store)
            madvise(memory->store + at, SOFT_CHUNK_BYTES, MADV_REMOVE);
        else if (punch)
            (void)fallocate(memory->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                            (off_t)at, (off_t)SOFT_CHUNK_BYTES);
        memory->free_chunks[memory->free_chunk_count++] = chunks[i];
    }
}

static atomic_long fail_at = -1; /* mappings left before the one that is refused */

long gph_softcuda_fail_mapping(long nth)
{
    return atomic_exchange(&fail_at, nth);
}

static bool fails_now(void)
{
    return atomic_load_explicit(&fail_at, memory_order_relaxed) >= 0 &&
           atomic_fetch_sub(&fail_at, 1) == 0;
}

/* Maps chunks of the store once more. An old size of 0 makes mremap() do so. */
static bool map_again(const soft_memory *memory, void *at, uint64_t offset,
                      uint64_t bytes, int prot)
{
    void *mapped =
        mremap(memory->store + offset, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at);
    return mapped != MAP_FAILED && mprotect(at, bytes, prot) == 0;
}

/* Maps neighboring pieces of a file, or of the device's chunks, from `chunk` on at
 * `at`. */
static bool map_run(soft_memory *memory, void *at, int file, uint32_t chunk,
                    uint64_t bytes, int prot)
{
    const bool populate =
        prot != PROT_NONE && bytes <= POPULATE_CHUNKS * SOFT_CHUNK_BYTES;
    const uint64_t offset = chunk * SOFT_CHUNK_BYTES;
    memory->map_calls++;
    if (fails_now())
        return false;
    if (memory->store && file < 0) {
        if (!map_again(memory, at, offset, bytes, prot))
            return false;
    } else if (mmap(at, bytes, prot,
                    MAP_SHARED | MAP_FIXED | (populate ? MAP_POPULATE : 0),
                    file < 0 ? memory->file : file, (off_t)offset) == MAP_FAILED) {
        return false;
    }
    madvise(at, bytes, MADV_DONTFORK);
    madvise(at, bytes, MADV_DONTDUMP);
    return true;
}

static uint32_t place_at(const struct soft_places *places, uint32_t at)
{
    return places->list ? places->list[at] : places->first + at;
}

bool soft_slots_map_places(soft_memory *memory, uint32_t slot, uint32_t count,
                           const struct soft_places *places, int prot)
{
    for (uint32_t i = 0; i < count;) {
        const uint32_t first = place_at(places, i);
        uint32_t run = 1;
        while (i + run < count && place_at(places, i + run) == first + run)
            run++;
        if (!map_run(memory, soft_slot_mapped(memory, slot + i), places->file, first,
                     run * SOFT_CHUNK_BYTES, prot)) {
            soft_slots_unmap(memory, slot, count);
            return false;
        }
        i += run;
    }
    return true;
}

bool soft_slots_map(soft_memory *memory, uint32_t slot, uint32_t count,
                    const uint32_t *chunks, int prot)
{
    const struct soft_places places = {.file = -1, .list = chunks};
    if (!soft_slots_map_places(memory, slot, count, &places, prot))
        return false;
    for (uint32_t i = 0; i < count; i++)
        memory->slots[slot + i].chunk = chunks[i];
    return true;
}

bool soft_slots_show(soft_memory *memory, uint32_t slot, uint32_t count,
                     const struct soft_places *places)
{
    for (uint32_t i = 0; memory->alias && i < count; i++) {
        void *at = (void *)(uintptr_t)soft_slot_address(memory, slot + i);
        const uint32_t first =
            places ? place_at(places, i) : memory->slots[slot + i].chunk;
        if (map_run(memory, at, places ? places->file : -1, first, SOFT_CHUNK_BYTES,
                    PROT_READ | PROT_WRITE))
            continue;
        soft_slots_unmap(memory, slot, count);
        return false;
    }
    return true;
}

static void unmap_run(soft_memory *memory, void *at, uint64_t bytes)
{
    memory->map_calls++;
    /* A failure would leave the old pages readable: nothing is freed twice, so go on. */
    if (mmap(at, bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0) == MAP_FAILED)
        gphi_log("memory", GPH_LOG_WARN, "unmapping %llu bytes at %p failed",
                 (unsigned long long)bytes, at);
    madvise(at, bytes, MADV_DONTFORK);
}

void soft_slots_unmap(soft_memory *memory, uint32_t slot, uint32_t count)
{
    unmap_run(memory, soft_slot_mapped(memory, slot), count * SOFT_CHUNK_BYTES);
    if (memory->alias) /* shown slots, too */
        unmap_run(memory, (void *)(uintptr_t)soft_slot_address(memory, slot),
                  count * SOFT_CHUNK_BYTES);
    for (uint32_t i = 0; i < count; i++)
        memory->slots[slot + i].chunk = SOFT_NO_CHUNK;
}

bool soft_slots_protect(soft_memory *memory, uint32_t slot, uint32_t count, int prot)
{
    memory->map_calls++;
    return mprotect(soft_slot_mapped(memory, slot), count * SOFT_CHUNK_BYTES, prot) == 0;
}

/* ---- the book of allocations ------------------------------------------------------- */

uint64_t soft_next_buffer_id(void)
{
    static atomic_uint_fast64_t last;
    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

void soft_memory_count(soft_memory *memory, int64_t bytes)
{
    memory->used_bytes += (uint64_t)bytes;
    if (memory->used_bytes > memory->peak_bytes)
        memory->peak_bytes = memory->used_bytes;
}

void soft_memory_note_freed(soft_memory *memory, uint64_t base, uint64_t bytes)
{
    /* Partner: the acquire loads in check.c. */
    atomic_fetch_add_explicit(&memory->changes, 1, memory_order_release);
    const uint64_t at = memory->freed_count++ % SOFT_FREED_KEPT;
    memory->freed[at].base = base;
    memory->freed[at].bytes = bytes;
}
