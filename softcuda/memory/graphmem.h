// SPDX-License-Identifier: Apache-2.0
/* Memory of graphs: addresses that alloc nodes own forever, and the physical memory that
 * backs them while their graph runs.
 *
 *   arena     the addresses of one graph on one device |A1..|A2.|freed|A3......|virgin
 *             slots of 2 MiB, mapped at the first launch or upload
 *                  |          |          |          |
 *   segments  32 MiB each, of the device's graph pool       [seg 0][seg 1][seg 2]
 *             arenas of graphs that do not run at once use the same segments
 *
 * An address is given when a node is added, and never moves. A launch binds its arenas to
 * segments: those it had, as long as nobody else needs them now; else others, which is a
 * remap. What is live after a launch holds its segments until it is freed.
 *
 * Everything here takes the memory's mutex for a short time, but for
 * soft_graph_bind() to soft_graph_launched(), between which the caller keeps other
 * launches, uploads and trims out with a lock of its own. */
#ifndef SOFT_MEMORY_GRAPHMEM_H
#define SOFT_MEMORY_GRAPHMEM_H

#include "softcuda/memory/memory.h"

#define SOFT_SEGMENT_CHUNKS 16u
#define SOFT_SEGMENT_BYTES (SOFT_SEGMENT_CHUNKS * SOFT_CHUNK_BYTES)

typedef struct soft_graph_arena soft_graph_arena; /* counted */
typedef struct soft_graph_alloc soft_graph_alloc; /* lives as long as its arena */

/* Which frees of a graph come before a node: of each chain of frees that follow each
 * other, how many. */
typedef struct soft_reach {
    uint32_t references;
    uint32_t chains;
    uint32_t frees[];
} soft_reach;

GPH_CHECKED gph_status soft_graph_arena_create(soft_memory *memory,
                                               soft_graph_arena **out, gph_error *error);
void soft_graph_arena_retain(soft_graph_arena *arena);
/* The last one gives addresses and mappings back. Takes NULL. */
void soft_graph_arena_release(soft_graph_arena *arena);

/* Addresses for an alloc node: of memory whose free comes before it (`before`, may be
 * NULL), else fresh ones. `access`: a bit for each further device that may use it. Fails
 * with 2. */
GPH_CHECKED gph_status soft_graph_alloc_add(soft_graph_arena *arena, uint64_t bytes,
                                            uint32_t access, const soft_reach *before,
                                            soft_graph_alloc **out, gph_error *error);
/* A free node of the same graph frees it: free `number` of `chain`. Later nodes may get
 * its addresses. chain UINT32_MAX: none may. */
void soft_graph_alloc_end(soft_graph_alloc *alloc, uint32_t chain, uint32_t number);
/* An executable is made: launches need what the arena has given out by now, and not what
 * it gives to nodes that are added later. */
void soft_graph_arena_settle(soft_graph_arena *arena);
uint64_t soft_graph_alloc_base(const soft_graph_alloc *alloc);
uint64_t soft_graph_alloc_bytes(const soft_graph_alloc *alloc);
soft_graph_arena *soft_graph_alloc_arena(const soft_graph_alloc *alloc);
bool soft_graph_alloc_is_live(soft_graph_alloc *alloc);
/* The youngest allocation of alloc nodes that begins at `address`, and the live one; its
 * arena is retained. */
bool soft_graph_alloc_find(soft_memory *memory, uint64_t address, soft_graph_alloc **out);
bool soft_graph_alloc_find_live(soft_memory *memory, uint64_t address,
                                soft_graph_alloc **out);
/* Check mode: an alloc node has run, or what frees it. */
void soft_graph_alloc_open(soft_graph_alloc *alloc, bool open);
/* What softcuda/graph notes of an allocation, under its own mutex. */
typedef struct soft_graph_marks {
    void *owner;        /* the alloc node, NULL when it is gone */
    bool freed_inside;  /* by a free node of its graph */
    bool freed_outside; /* by one of another */
    bool left_unfreed;  /* an executable was made while no node freed it */
    uint64_t stamp;
} soft_graph_marks;
soft_graph_marks *soft_graph_alloc_marks(soft_graph_alloc *alloc);
/* Any allocation of alloc nodes that holds [address, address + bytes), live or not. */
bool soft_graph_known(soft_memory *memory, uint64_t address, uint64_t bytes,
                      soft_allocation *out);
/* The same, for a copy or fill node that is to name it: one that no free node of its
 * graph frees. */
bool soft_graph_nameable(soft_memory *memory, uint64_t address, uint64_t bytes,
                         soft_allocation *out);

/* What frees or allocates outside alloc and free nodes' own launches: not live any
 * more, so that nobody else frees it; false if it is not live. Then either it stays
 * (soft_graph_keep) or the memory goes, once `freed` is reached. */
bool soft_graph_alloc_claim(soft_graph_alloc *alloc);
void soft_graph_alloc_keep(soft_graph_alloc *alloc);
void soft_graph_alloc_freed(soft_graph_alloc *alloc, soft_point freed);

/* What one launch needs. */
typedef struct soft_graph_user {
    uint64_t id; /* not 0, unique in the process: its launches follow each other */
    soft_graph_arena **arenas;
    uint32_t arena_count;
    soft_graph_alloc **unfreed; /* live after the launch */
    uint32_t unfreed_count;
    bool alone; /* shares no memory with others, even if they do not overlap */
    bool whole; /* what one allocation asked for is reserved together */
} soft_graph_user;

typedef enum soft_graph_bound {
    SOFT_GRAPH_BOUND,
    SOFT_GRAPH_BUSY,    /* *wait must be reached on the host, then bind again */
    SOFT_GRAPH_NO_ROOM, /* neither chunks nor mappings; nothing is bound again */
} soft_graph_bound;

/* Points that a launch must wait for in its stream. */
typedef struct soft_graph_waits {
    soft_point *points;
    uint32_t count, capacity;
    gph_allocator heap;
} soft_graph_waits;
void soft_graph_waits_fini(soft_graph_waits *waits);

/* Backs the arenas with memory for work that is about to go to `queue`. */
soft_graph_bound soft_graph_bind(const soft_graph_user *user, soft_queue *queue,
                                 soft_graph_waits *waits, soft_point *wait);
/* The launch was submitted and will be done at `done`: what it leaves is live. */
void soft_graph_launched(const soft_graph_user *user, soft_point done);

/* Gives segments back that nothing uses. */
void soft_graph_trim(soft_memory *memory);

typedef struct soft_graph_stats {
    uint64_t live_bytes; /* allocations that outlived their launch */
    uint64_t reserved_bytes, reserved_high_bytes, used_bytes, used_high_bytes;
    uint64_t physical_bytes, physical_high_bytes; /* chunks of the segments */
    uint64_t maps;                                /* mapping calls of binds */
} soft_graph_stats;
void soft_graph_get_stats(soft_memory *memory, soft_graph_stats *out);
void soft_graph_reset_high(soft_memory *memory, bool used, bool reserved);

#endif
