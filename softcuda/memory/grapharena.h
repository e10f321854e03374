// SPDX-License-Identifier: Apache-2.0
/* Inside softcuda/memory: what graphmem.c (addresses) and graphpool.c (what backs
 * them) share. All with memory->mutex held. */
#ifndef SOFT_MEMORY_GRAPHARENA_H
#define SOFT_MEMORY_GRAPHARENA_H

#include "softcuda/memory/arena.h"
#include "softcuda/memory/graphmem.h"

/* Points that must be reached before something may be touched. `owner`: whose launches
 * follow each other anyway; 0 for frees. */
struct graph_use {
    struct {
        soft_point point;
        uint64_t owner;
    } * points;
    uint32_t count, capacity;
};

/* 32 MiB of the pool. Chunks are taken when a slot needs them. */
struct graph_segment {
    uint32_t chunks[SOFT_SEGMENT_CHUNKS]; /* or SOFT_NO_CHUNK */
    uint32_t live;                        /* allocations that outlived their launch */
    const soft_graph_arena *holder;       /* of those */
    uint32_t binders;                     /* arenas that have it */
    uint64_t stamp, made, used; /* the bind that took it, made it, and from which on it
                                   counts as used; 0: it is reserved alone */
    struct graph_use use;
    struct graph_segment *next;
};

/* A run of addresses. Slot i of the arena is slot - first + i of the memory. */
struct graph_region {
    uint32_t slot, count;
    uint32_t first;   /* of the arena's slots */
    uint32_t touched; /* so many from the start were ever given to an allocation */
    uint32_t needed;  /* of them, so many at the last instantiation: launches use these */
};

/* A piece of a region, in address order. */
struct graph_block {
    uint64_t start, bytes;
    uint32_t region;
    enum { GRAPH_VIRGIN, GRAPH_USED, GRAPH_FREED } state;
    uint32_t chain, number;  /* FREED: by which free */
    soft_graph_alloc *alloc; /* the last one here, or NULL */
};

struct soft_graph_alloc {
    soft_allocation info;
    soft_graph_arena *arena;
    uint32_t region;
    uint32_t access;
    bool live;    /* by the order of launches and frees on the host */
    bool claimed; /* being freed */
    bool ended;   /* a free node of its graph frees it */
    bool open;    /* check mode: by the order in which nodes run */
    soft_graph_marks marks;
    soft_graph_alloc *next; /* older */
};

struct soft_graph_arena {
    soft_memory *memory;
    uint32_t references;
    struct graph_region *regions;
    uint32_t region_count, region_capacity;
    uint32_t slot_count; /* of all regions */
    struct graph_block *blocks;
    uint32_t block_count, block_capacity;
    soft_graph_alloc *allocs; /* youngest first */
    uint32_t live_count;
    struct graph_segment **segments; /* backing 16 slots each, or NULL */
    uint8_t *holds;                  /* scratch of a bind: GRAPH_HOLDS, GRAPH_PART */
    uint32_t
        *growths; /* which growth each belongs to: they are reserved together; 0: none */
    uint32_t segment_capacity, growth_count;
    bool ready;           /* all that is needed is bound and mapped */
    bool grown;           /* allocations touched more since the last bind */
    struct graph_use use; /* launches that run in it, frees of what it has */
    soft_graph_arena *before, *after;
};

#define GRAPH_HOLES_MAX 64u
#define GRAPH_HOLDS 1u /* live afterwards */
#define GRAPH_PART 2u  /* needs a segment */

/* Of a device. */
struct graph_pool {
    struct graph_segment *segments;
    soft_graph_arena *arenas;
    uint64_t stamp;
    uint64_t segment_count, segment_high, used_count, used_high; /* with own resets */
    uint64_t chunk_count, chunk_high;
    uint64_t live_bytes;
    uint64_t maps;
    uint32_t arena_count;
    uint32_t
        holes[GRAPH_HOLES_MAX]; /* slots where arenas began that went, youngest last */
    uint32_t hole_count;
    uint32_t top; /* where fresh addresses begin */
    /* Of the bind that runs. */
    uint64_t promised; /* chunks that its new segments will take */
    uint64_t segment_high_before, used_high_before;
};

/* grapharena.c */
void soft_graph_use_drop_reached(struct graph_use *use);
bool soft_graph_use_reached(struct graph_use *use);
void soft_graph_use_fini(soft_memory *memory, struct graph_use *use);
gph_status soft_graph_pool_create(soft_memory *memory); /* once, at the first arena */
void soft_arena_unbind(soft_graph_arena *arena);        /* from all segments; unmaps */
/* Takes the slots [16 index, 16 index + 16) out of their segment. */
void soft_arena_unbind_segment(soft_graph_arena *arena, uint32_t index);
void soft_arena_drop_reference(soft_graph_arena *arena);
static inline uint32_t soft_arena_segments(const soft_graph_arena *arena)
{
    return (arena->slot_count + SOFT_SEGMENT_CHUNKS - 1) / SOFT_SEGMENT_CHUNKS;
}
/* The memory's slot of a slot of the arena. */
uint32_t soft_arena_slot(const soft_graph_arena *arena, uint32_t at, bool *needed);
/* The segments [*first, *end) that an allocation lies in. */
void soft_alloc_segments(const soft_graph_alloc *alloc, uint32_t *first, uint32_t *end);

/* graphmem.c */
/* The youngest live allocation that holds an address. */
bool soft_graph_find_live(const soft_memory *memory, uint64_t address,
                          soft_allocation *out);
/* Check mode: the allocation that a kernel may use at an address now. *is_graph: the
 * address is a graph's at all. */
bool soft_graph_find_open(soft_memory *memory, uint64_t address, bool *is_graph,
                          soft_allocation *out);
/* One phrase about an address of an arena; false if it is none. */
bool soft_graph_describe(const soft_memory *memory, uint64_t address, char *text,
                         size_t bytes);

/* graphpool.c: arenas too; at the end. */
void soft_graph_pool_drop(soft_memory *memory);

#endif
