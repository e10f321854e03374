// SPDX-License-Identifier: Apache-2.0
/* Inside softcuda/memory: the address range cut into slots, the memfd cut into chunks,
 * and the heaps that give out blocks of them. Everything here is called with
 * memory->mutex held.
 *
 *   heap ── segment (a run of slots, chunks mapped) ── blocks, in address order
 *              slot.starts: a bit a granule where a block begins
 *              slot.cover:  the block that holds the slot's first granule
 *              memory->blocks: address -> block                                        */
#ifndef SOFT_MEMORY_ARENA_H
#define SOFT_MEMORY_ARENA_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/map.h"
#include "cuda/abi.h"
#include "softcuda/memory/memory.h"

#define SOFT_SLOT_GRANULES (SOFT_CHUNK_BYTES / SOFT_GRANULE_BYTES)
#define SOFT_SLOT_WORDS (SOFT_SLOT_GRANULES / 64)
#define SOFT_BINS 96u
#define SOFT_FREED_KEPT 256u
#define SOFT_NO_CHUNK UINT32_MAX

struct soft_heap;
struct soft_segment;

/* A piece of a segment: in use, free, or (pools) freed at a point not reached yet. */
struct soft_block {
    soft_allocation info; /* valid while in use */
    struct soft_segment *segment;
    uint64_t start, granules;          /* from the segment's first granule */
    struct soft_block *before, *after; /* in address order */
    struct soft_block *bin_before, *bin_behind;
    bool used, pending;
    soft_point freed;      /* pending, or in use again before it was reached */
    uint64_t former_bytes; /* what work before `freed` may still touch */
    uint32_t exported;     /* its entry in the ledger + 1; 0: it has none */
};

struct soft_segment {
    struct soft_heap *heap;
    uint32_t slot, slot_count;
    struct soft_block *first;
    struct soft_segment *before, *after; /* of the heap */
    uint64_t used_granules;              /* in use or pending */
};

struct soft_heap {
    soft_memory *memory;
    soft_pool *pool;        /* NULL: the heap of cuMemAlloc */
    uint32_t segment_slots; /* at least so many a segment */
    bool keeps_segments;    /* empty ones stay until trimmed */
    bool is_shown;          /* check mode: the program may touch it, too */
    int file;               /* slot n lies at its nth place; -1: chunks of the device */
    struct soft_segment *segments;
    uint64_t slot_count; /* held */
    struct soft_block *bins[SOFT_BINS];
    uint64_t bin_bits[(SOFT_BINS + 63) / 64];
};

struct soft_mapping; /* vmm.c */
struct soft_import;  /* import.c */
struct soft_ledger;  /* ipc.c */

struct soft_slot {
    enum {
        SOFT_SLOT_FREE,
        SOFT_SLOT_HEAP,
        SOFT_SLOT_RANGE,
        SOFT_SLOT_GRAPH,
        SOFT_SLOT_IMPORT
    } state;
    uint32_t chunk;                   /* mapped here, or SOFT_NO_CHUNK */
    uint64_t *starts;                 /* HEAP */
    struct soft_block *cover;         /* HEAP */
    uint32_t range_head, range_count; /* RANGE: the reservation */
    struct soft_mapping *mapping;     /* RANGE, if mapped */
    struct soft_graph_arena *arena;   /* GRAPH: see grapharena.h */
    struct soft_import *import;       /* IMPORT: see import.h */
};

struct soft_memory {
    gph_allocator heap;
    pthread_mutex_t mutex;
    uint32_t device, physical;
    int file;             /* the chunks, or -1 */
    unsigned char *store; /* the chunks where there is no file, or NULL */
    unsigned char *base;
    uint64_t range_bytes;
    /* Check mode: the same range once more, `shift` bytes further on. There the chunks
     * are mapped; at `base` the program finds managed memory only. NULL and 0 else. */
    unsigned char *alias;
    uint64_t shift;
    struct soft_slot *slots;
    uint32_t slot_count, slot_hint; /* the hint: where the next search begins */
    uint32_t *free_chunks;          /* a stack */
    uint32_t chunk_count, free_chunk_count;
    uint64_t map_calls, used_bytes, peak_bytes;
    gphi_map blocks; /* address -> struct soft_block *, in use or not */
    struct soft_heap device_heap;
    struct soft_heap managed_heap; /* apart, as the host reads and writes its pages */
    soft_pool *pools;
    struct graph_pool *graphs; /* NULL until a graph has memory */
    struct soft_import *imports;
    /* A synchronization may find something to give back: pools changed since the last one, or
     * something was left for later then. */
    atomic_bool unsettled;
    struct soft_ledger *ledger; /* NULL until memory is exported */
    struct {
        uint64_t base, bytes;
    } freed[SOFT_FREED_KEPT]; /* a ring of what was freed last */
    uint64_t freed_count;
    atomic_bool has_peers;        /* see soft_range_has_peers() */
    atomic_uint_fast64_t changes; /* frees, unmaps, changes of access: for check.c */
};

/* arena.c. Exported, for tests: the nth mapping of physical memory from now is refused;
 * nth < 0: none is. Returns the value as it is, as gph_softcuda_fail_allocation(). */
GPH_API long gph_softcuda_fail_mapping(long nth);
gph_status soft_arena_init(soft_memory *memory, const soft_memory_options *options,
                           gph_error *error);
void soft_arena_fini(soft_memory *memory);
/* A run of `count` free slots, marked as `state`; SOFT_NO_CHUNK if there is none. */
uint32_t soft_slots_take(soft_memory *memory, uint32_t count, int state);
/* The same, looked for from slot `from` on first. */
uint32_t soft_slots_take_behind(soft_memory *memory, uint32_t from, uint32_t count,
                                int state);
bool soft_slots_take_at(soft_memory *memory, uint32_t slot, uint32_t count, int state);
void soft_slots_give(soft_memory *memory, uint32_t slot, uint32_t count);
/* Takes `count` free chunks; false if there are fewer. */
bool soft_chunks_take(soft_memory *memory, uint32_t count, uint32_t *chunks);
/* Gives chunks back; the system gets their pages if `punch`. */
void soft_chunks_give(soft_memory *memory, uint32_t count, const uint32_t *chunks,
                      bool punch);
/* Maps chunks at slots; prot as mmap's. False if the system refuses (nothing changed but
 * for slots mapped without access). */
bool soft_slots_map(soft_memory *memory, uint32_t slot, uint32_t count,
                    const uint32_t *chunks, int prot);
/* Pieces of 2 MiB of a file: those of a list, or as many from the first on. */
struct soft_places {
    int file; /* -1: the device's chunks */
    uint32_t first;
    const uint32_t *list; /* NULL: from `first` on */
};
/* The same for memory that is not of the device's chunks; slots do not note it. */
bool soft_slots_map_places(soft_memory *memory, uint32_t slot, uint32_t count,
                           const struct soft_places *places, int prot);
void soft_slots_unmap(soft_memory *memory, uint32_t slot, uint32_t count);
bool soft_slots_protect(soft_memory *memory, uint32_t slot, uint32_t count, int prot);
/* Check mode: maps what soft_slots_map() mapped where the program sees it, too. On false
 * the slots are unmapped. `places`: as above; NULL: the chunks of the slots. */
bool soft_slots_show(soft_memory *memory, uint32_t slot, uint32_t count,
                     const struct soft_places *places);
static inline uint64_t soft_slot_address(const soft_memory *memory, uint32_t slot)
{
    return (uint64_t)(uintptr_t)memory->base + slot * SOFT_CHUNK_BYTES;
}
/* Where the chunks of a slot are mapped. */
static inline void *soft_slot_mapped(const soft_memory *memory, uint32_t slot)
{
    return (void *)(uintptr_t)((uint64_t)(uintptr_t)memory->base + memory->shift +
                               slot * SOFT_CHUNK_BYTES);
}
static inline bool soft_slot_of(const soft_memory *memory, uint64_t address,
                                uint32_t *slot)
{
    const uint64_t offset = address - (uint64_t)(uintptr_t)memory->base;
    if (offset >= memory->range_bytes)
        return false;
    *slot = (uint32_t)(offset / SOFT_CHUNK_BYTES);
    return true;
}

/* heap.c */
void soft_heap_init(struct soft_heap *heap, soft_memory *memory, soft_pool *pool,
                    uint32_t segment_slots, bool keeps_segments);
/* Frees every segment; its blocks are gone. */
void soft_heap_fini(struct soft_heap *heap);
/* A block of at least `bytes`; NULL if neither slots, chunks nor host memory are left.
 * Adds a segment only if may_grow. The caller fills info and `used`. */
struct soft_block *soft_heap_take(struct soft_heap *heap, uint64_t bytes, bool may_grow);
/* Marks a block free and merges it; gives empty segments back if the heap keeps none. */
void soft_heap_give(struct soft_heap *heap, struct soft_block *block);
/* Gives empty segments back while more than keep_slots are held. */
void soft_heap_trim(struct soft_heap *heap, uint64_t keep_slots);
/* The block, used or not, that holds an address of a HEAP slot; else NULL. */
struct soft_block *soft_block_at(const soft_memory *memory, uint64_t address);
uint64_t soft_block_address(const struct soft_block *block);

/* arena.c: counters, and what is said of addresses that were freed. */
void soft_memory_count(soft_memory *memory, int64_t bytes); /* used and peak */
void soft_memory_note_freed(soft_memory *memory, uint64_t base, uint64_t bytes);
uint64_t soft_next_buffer_id(void);

/* pool.c: the live allocation in a pool's block has been counted; called at destroy. */
void soft_pools_drop(soft_memory *memory);
/* vmm.c */
bool soft_range_find(soft_memory *memory, uint64_t address, soft_allocation *out);
void soft_ranges_drop(soft_memory *memory);

#endif
