// SPDX-License-Identifier: Apache-2.0
/* A pool: its blocks, its recordings, and what their replays overwrite. Everything here
 * is called with the arena's mutex held, but what says else. */
#ifndef GPHI_MEMORY_POOL_H
#define GPHI_MEMORY_POOL_H
#include "base/fail.h"
#include "memory/arena.h"
#include "memory/blocks.h"
#include <stdatomic.h>

/* ---- walk.c: what comes after what in a capture ---- */

/* A captured stream, or a set of them that used one block. Each free gives the stream a
 * position, the set of terminal nodes at that moment; later positions come after earlier
 * ones. */
struct gphi_captured {
    CUstream stream;  /* NULL: a set */
    gphi_vec members; /* uint32_t, ascending: of a set */
    gphi_vec ends;    /* uint32_t: where each position's nodes end */
    gphi_vec nodes;   /* CUgraphNode */
    gphi_map visited; /* nodes before what the stream has been given, as far as walked */
    gphi_vec joined;  /* uint32_t, by captured stream: positions that are visited */
    bool is_checked;  /* it is of the pool's device */
};

/* ---- recordings ---- */

struct gphi_span {
    uint64_t first, end;
};

/* A part of what a recording leaves was overwritten by what is known no more: eager
 * memory, or a recording that is forgotten. */
struct gphi_overwrite {
    struct gphi_span span;
    uint64_t when;
};

struct gphi_recording {
    gph_recording_id id;
    char *name;
    CUstream stream;
    gphi_vec ranges; /* gph_pool_range */
    uint32_t event_count;
    bool is_open;
    uint32_t
        loop; /* what is allocated from this event on is of the innermost loop; 0: none
                      is open */

    /* open */
    bool has_capture;
    cuuint64_t capture;
    gphi_vec captured; /* struct gphi_captured */
    gphi_vec saved;    /* struct gphi_block: those of before the capture that were freed
                          in it, with their uses: what an abort needs */
    gphi_vec scratch;  /* CUgraphNode: to walk, and terminal nodes */

    /* ended */
    gphi_vec writes; /* struct gphi_span: what it allocated, merged, by address */
    uint64_t *bits;  /* proof.c: 4 rows of proof.words */
    uint32_t blocked;
    uint64_t last_replay, replay_before; /* that, and the one before it */
    gphi_vec overwrites;                 /* struct gphi_overwrite */
    uint64_t overwritten_all; /* the same for all it leaves, where there was no memory */
};

/* ---- proof.c ---- */

/* An input of a recording: while its bit in `bad` is set, the recording is refused. */
struct gphi_input {
    struct gphi_span span;
    gph_recording_id reader, maker; /* reader 0: the place is unused */
};

/* The bits are guarded by `busy`, a lock for some comparisons only; what they are made
 * from, by the arena's mutex. */
struct gphi_proof {
    atomic_flag busy;
    uint64_t *bad; /* a bit an input */
    uint32_t words;
    uint32_t id_count; /* of by_id */
    struct gphi_recording **by_id;
    uint64_t replay_count; /* rises with eager allocations, too */
    gphi_vec inputs;       /* struct gphi_input */
};

struct gph_pool {
    gph_arena *arena;
    gph_pool *next;
    char *name;
    uint32_t number;
    uint32_t users;
    uint64_t growth_pages, max_pages, mapped_pages;
    struct gphi_blocks blocks;
    gphi_vec recordings; /* struct gphi_recording * */
    struct gphi_recording *open;
    gph_recording_id next_id;
    uint64_t checkpoint_count;
    struct gphi_proof proof;
};

/* ---- pool.c, without the mutex held ---- */

/* First byte and bytes of the live allocation that holds an address; 0: none does. */
uint64_t gphi_pool_find(const gph_pool *pool, uint64_t address, uint64_t *bytes);

/* ---- route.c: what a stream's call means to a pool ---- */

struct gphi_route {
    struct gphi_recording *recording; /* NULL: eager */
    uint32_t stream;                  /* place in the recording, or in the arena */
    uint32_t lane;                    /* where it frees to */
    bool is_invalid;                  /* of a capture that can only be thrown away */
    CUstream handle;
    const CUgraphNode *nodes; /* terminal, valid until the next call on the stream */
    size_t node_count;
};

gph_status gphi_route_find(gph_pool *pool, CUstream stream, struct gphi_route *out,
                           gph_error *error);
/* Whether what the stream runs reaches the pool's memory: GPH_E_INVALID if it is another
 * device's. */
gph_status gphi_route_check(const gph_pool *pool, const struct gphi_route *route,
                            gph_error *error);
/* Fails with GPH_E_STATE if the stream is captured, GPH_E_INVALID if it is another device's. */
gph_status gphi_route_eager(gph_pool *pool, CUstream stream, gph_error *error);

/* ---- walk.c ---- */

gph_status gphi_walk_stream(struct gphi_recording *r, CUstream stream, uint32_t *out);
gph_status gphi_walk_set(struct gphi_recording *r, const uint32_t *members,
                         uint32_t count, uint32_t *out);
/* The position of these terminal nodes, a new one if they are not the last. */
gph_status gphi_walk_position(struct gphi_recording *r, uint32_t stream,
                              const CUgraphNode *nodes, size_t count, uint64_t *out);
/* Finds what is before the terminal nodes, and so which positions of others the stream
 * has come after. If it fails, it finds less. */
void gphi_walk_look(const gphi_cuda_table *cu, struct gphi_recording *r, uint32_t stream,
                    const CUgraphNode *nodes, size_t count);
/* Positions of `other` that are known to come before `stream`. */
uint64_t gphi_walk_joined(const struct gphi_recording *r, uint32_t stream,
                          uint32_t other);
void gphi_walk_fini(struct gphi_recording *r);

static inline struct gphi_recording *gphi_recording_at(const gph_pool *pool, size_t i)
{
    return *(struct gphi_recording **)gphi_vec_at(&pool->recordings, i);
}
struct gphi_recording *gphi_recording_find(const gph_pool *pool, gph_recording_id id);

/* ---- the lock ---- */

/* Around what a caller asks of a pool: locked if it is one. */
static inline gph_status gphi_pool_lock(gph_pool *pool, gph_error *error)
    GPHI_LOCK_ATTRIBUTE(no_thread_safety_analysis)
{
    if (!pool)
        return gphi_fail(error, GPH_E_INVALID, "pool is NULL");
    gphi_mutex_lock(&pool->arena->mutex);
    return GPH_OK;
}

/* Passes the status on, which was made under the lock. */
static inline gph_status gphi_pool_unlock(gph_pool *pool, gph_status status)
    GPHI_LOCK_ATTRIBUTE(no_thread_safety_analysis)
{
    gphi_mutex_unlock(&pool->arena->mutex);
    return status;
}

/* ---- grow.c ---- */

/* Room for so many blocks, beside what throwing the open recording away needs. */
gph_status gphi_pool_reserve(gph_pool *pool, uint32_t blocks);
/* Makes exactly these bytes live, outside captures. */
gph_status gphi_pool_place(gph_pool *pool, CUdeviceptr address, uint64_t bytes,
                           uint32_t *out, gph_error *error);
/* Frees of eager memory that have ended: free for all. */
void gphi_pool_drain(gph_pool *pool);
/* Pages for `bytes` in one piece, usable by the route, along the chain of what may be
 * given up. */
gph_status gphi_pool_grow(gph_pool *pool, const struct gphi_route *route, uint64_t bytes,
                          gph_error *error);
/* Whether the route may use a free block now. */
bool gphi_pool_may_use(const gph_pool *pool, const struct gphi_route *route,
                       const struct gphi_block *block);
/* Takes pages at an address, where the pool has none yet. */
gph_status gphi_pool_claim(gph_pool *pool, uint64_t address, uint64_t bytes,
                           gph_error *error);
/* Gives up free pages at the ends of segments. Returns how many. */
uint64_t gphi_pool_shed(gph_pool *pool);
/* "out of memory", with who holds what. */
gph_status gphi_pool_exhausted(gph_pool *pool, uint64_t bytes, gph_error *error);

/* ---- pool_record.c ---- */

/* Room for what an allocation or a free in the open recording, and its abort, need. */
gph_status gphi_recording_reserve(gph_pool *pool, struct gphi_recording *r);
void gphi_recording_allocated(gph_pool *pool, struct gphi_recording *r, uint32_t block,
                              CUstream stream);
/* Frees a block in the capture. */
gph_status gphi_recording_free(gph_pool *pool, const struct gphi_route *route,
                               uint32_t block, gph_error *error);
void gphi_recording_abort(gph_pool *pool, struct gphi_recording *r);
void gphi_recording_forget(gph_pool *pool, struct gphi_recording *r);
/* The recording reads a block that was there before it. Needs room in `ranges`. */
void gphi_recording_reads(struct gphi_recording *r, struct gphi_block *block);

/* ---- proof.c ---- */

gph_status gphi_proof_add(gph_pool *pool, struct gphi_recording *r, gph_error *error);
void gphi_proof_remove(gph_pool *pool, struct gphi_recording *r);
gph_status gphi_proof_input(gph_pool *pool, struct gphi_recording *r,
                            const gph_pool_range *range, gph_error *error);
/* Eager memory comes to life (by = 1; `is_new`: and will be written) or dies (-1). */
void gphi_proof_eager(gph_pool *pool, uint64_t address, uint64_t bytes, int by,
                      bool is_new);
void gphi_proof_fini(gph_pool *pool);

/* Takes back what gph_pool_replay() noted last of a recording whose launch was refused:
 * it made nothing. `has_written`: something was queued that writes into its ranges, so
 * that what it overwrites counts as overwritten all the same. */
void gphi_pool_replay_undo(gph_pool *pool, gph_recording_id id, bool has_written);

/* The ranges of a recording, or, with 0, all live allocations, into a vector of
 * gph_pool_range, which has room for `more` others. What was in it is gone. */
gph_status gphi_pool_list(const gph_pool *pool, gph_recording_id id, uint32_t more,
                          gphi_vec *out, gph_error *error);
#endif
