/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Device memory that graphs share, and proof that sharing is safe.
 *
 *  An arena is one reserved range of a device's addresses, made with the driver's virtual
 *  memory calls. A pool allocates from it. What is allocated from a pool while a capture
 *  is open keeps its address for as long as the recorded graph lives; what is freed
 *  during the capture is used again by later work of the same capture. Graphs recorded in
 *  one pool use the same memory wherever the order of their replays allows it, and the
 *  pool checks that order. Tier: stable. */
#ifndef GPH_MEMORY_H
#define GPH_MEMORY_H

#include <gph/base.h>
#include <gph/cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Addresses and pages of one device. Any thread. */
typedef struct gph_arena gph_arena;

/** A pool of an arena. Any thread; calls for a capture come from the thread that
 *  captures. */
typedef struct gph_pool gph_pool;

/** The state of a pool at one moment. Constant. */
typedef struct gph_checkpoint gph_checkpoint;

/** Called when memory is short, before an allocation fails: frees what it can.
 *
 *  bytes  how many are missing.
 *
 *  Returns nonzero if it freed something, so that the allocation is tried again. Called
 *  without a lock, on the thread that allocates; may free into pools, may not allocate
 *  from them. */
typedef int gph_oom_fn(void *user, uint64_t bytes);

/** Start from GPH_ARENA_OPTIONS_INIT. */
typedef struct gph_arena_options {
    uint32_t size;          /**< sizeof(gph_arena_options) */
    int32_t device;         /**< ordinal; -1: the current context's device */
    uint64_t reserve_bytes; /**< size of the address range; 0: twice the device's
                                 memory */
    uint64_t budget_bytes;  /**< limit of mapped pages; 0: as many as the device has */
    uint64_t base;          /**< where the range must begin; 0: anywhere */
    gph_oom_fn *oom;        /**< or NULL */
    void *oom_user;         /**< passed to `oom`; borrowed until the arena is destroyed */
} gph_arena_options;
/** All defaults, the current device. */
#define GPH_ARENA_OPTIONS_INIT                                                           \
    GPH_INIT(sizeof(gph_arena_options), -1, 0, 0, 0, NULL, NULL)

/** Reserves the addresses; maps no pages yet.
 *
 *  runtime  borrowed until gph_arena_destroy(). A context of the device must be current.
 *  options  borrowed for the call; NULL means all defaults.
 *  out      owned by the caller on success: gph_arena_destroy(). Untouched on failure.
 *
 *  Fails with GPH_E_INVALID (no such device), GPH_E_UNSUPPORTED (no virtual memory
 *  calls), GPH_E_STATE (`base` is taken), GPH_E_NO_MEMORY, and what the driver returns.
 *  Thread: any. */
GPH_API GPH_CHECKED gph_status gph_arena_create(gph_runtime *runtime,
                                                const gph_arena_options *options,
                                                gph_arena **out, gph_error *error);

/** Releases addresses and pages. Its pools must have been released; work that uses it
 *  must have ended. NULL is allowed. Thread: one at a time. */
GPH_API void gph_arena_destroy(gph_arena *arena);

/** First address and bytes of the reserved range. Either may be NULL. Thread: any. */
GPH_API void gph_arena_range(const gph_arena *arena, CUdeviceptr *base, uint64_t *bytes);
/** The runtime that it was made with; NULL for NULL. Thread: any. */
GPH_API gph_runtime *gph_arena_runtime(const gph_arena *arena);

/** Returns unused pages, including those of free segments of pools, to the device until
 *  at most `keep_bytes` remain cached. `freed_bytes`: the caller's, may be NULL. Waits
 *  for nothing: pages whose last use may not have ended stay, and all stay while a
 *  recording is open in any pool of the arena. Fails with what the driver returns.
 *  Thread: any. */
GPH_API gph_status gph_arena_trim(gph_arena *arena, uint64_t keep_bytes,
                                  uint64_t *freed_bytes, gph_error *error);

/** Start from GPH_POOL_OPTIONS_INIT. */
typedef struct gph_pool_options {
    uint32_t size;         /**< sizeof(gph_pool_options) */
    uint32_t reserved;     /**< zero */
    const char *name;      /**< copied; NULL: "pool" and a number */
    uint64_t growth_bytes; /**< least size of pages taken at a time; 0: 2 MiB */
    uint64_t max_bytes;    /**< limit of mapped pages; 0: the arena's limit */
} gph_pool_options;
/** All defaults. */
#define GPH_POOL_OPTIONS_INIT GPH_SIZED(gph_pool_options)

/** Makes a pool with one user.
 *
 *  arena  borrowed until the last gph_pool_release().
 *  out    owned by the caller on success: gph_pool_release(). Untouched on failure.
 *
 *  Fails with GPH_E_INVALID and GPH_E_NO_MEMORY. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_pool_create(gph_arena *arena,
                                               const gph_pool_options *options,
                                               gph_pool **out, gph_error *error);
/** One more user. Returns `pool`. Thread: any. */
GPH_API gph_pool *gph_pool_retain(gph_pool *pool);
/** One user less; after the last one its recordings are forgotten and its pages go back
 *  to the arena. Whatever is still allocated is logged. NULL is allowed. Thread: any.
 */
GPH_API void gph_pool_release(gph_pool *pool);
/** The arena of a pool; NULL for NULL. Thread: any. */
GPH_API gph_arena *gph_pool_arena(const gph_pool *pool);

/** Allocates.
 *
 *  bytes   > 0; the address is a multiple of 512.
 *  stream  borrowed for the call: the stream of the first use. If it is being captured
 *          (by a capture that was bound to this pool), the address belongs to that
 *          recording. Else it is eager memory, which may overlap temporaries of
 *          recordings: gph_pool_replay() refuses a recording that would overwrite it.
 *  out     the caller's; gph_pool_free(). Untouched on failure.
 *
 *  Memory freed in another stream is used again only when its work is known to have
 *  ended; in a capture: when every last use is an ancestor of what `stream` depends on.
 *  Fails with GPH_E_INVALID (0 bytes; a stream of another device, whose kernels do not
 *  reach the memory: allocate in a stream of the arena's device, and report the other's use
 *  by gph_pool_use()), GPH_E_STATE (the stream is captured, but not into this pool),
 *  CUDA_ERROR_OUT_OF_MEMORY (the message says what uses how much) and what
 *  the driver returns. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_pool_alloc(gph_pool *pool, uint64_t bytes,
                                              CUstream stream, CUdeviceptr *out,
                                              gph_error *error);

/** Allocates at an address of the arena, outside captures: this restores the memory
 *  layout of another process. Maps pages there if no pool has any. Fails as
 *  gph_pool_alloc(), and with GPH_E_STATE if another allocation or another pool is
 *  there. */
GPH_API GPH_CHECKED gph_status gph_pool_alloc_at(gph_pool *pool, CUdeviceptr address,
                                                 uint64_t bytes, CUstream stream,
                                                 gph_error *error);

/** Frees. In a capture, the memory becomes available to later work of this capture and,
 *  once the capture has ended, to other graphs. A failed call has freed nothing.
 *
 *  address  as gph_pool_alloc() gave it.
 *  stream   the stream of the last use.
 *
 *  Fails with GPH_E_INVALID (no such allocation, freed already), GPH_E_STATE (the stream
 *  is captured, but not into this pool; an open recording owns the memory, and the stream
 *  is not part of it), GPH_E_NO_MEMORY and what the driver returns. Thread: any. */
GPH_API gph_status gph_pool_free(gph_pool *pool, CUdeviceptr address, CUstream stream,
                                 gph_error *error);

/** Declares that a stream other than the one that will free the memory uses it, so that
 *  the free waits for that stream too. In a capture it makes an older allocation an input
 *  of the recording.
 *
 *  stream  borrowed until the free.
 *
 *  Fails with GPH_E_INVALID, GPH_E_STATE (as gph_pool_free()), GPH_E_NO_MEMORY and what
 *  the driver returns. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_pool_use(gph_pool *pool, CUdeviceptr address,
                                            CUstream stream, gph_error *error);

/** Figures of a pool. Sizes are in bytes. */
typedef struct gph_pool_stats {
    uint32_t size;             /**< sizeof(gph_pool_stats) */
    uint64_t mapped_bytes;     /**< pages */
    uint64_t allocated_bytes;  /**< in live allocations, as rounded */
    uint64_t peak_bytes;       /**< the most ever allocated at one time */
    uint64_t requested_bytes;  /**< in live allocations, as requested */
    uint32_t allocation_count; /**< live */
    uint32_t segment_count;    /**< runs of pages */
    uint32_t recording_count;  /**< recordings that exist */
    uint32_t users;            /**< of the pool */
} gph_pool_stats;
/** Reads them. `out`: the caller's, filled in. Thread: any. */
GPH_API void gph_pool_stats_get(const gph_pool *pool, gph_pool_stats *out);

/** @name Recordings
 *  What a capture did to a pool: which ranges it used, and when. A pool records one
 *  capture at a time; meanwhile other threads may allocate and free outside captures.
 *
 *  Memory of a recording overlaps that of others, and eager memory that was allocated
 *  later. Replays of one pool, and eager work in it, must therefore run one after the
 *  other (one stream, or events), unless gph_pool_may_replay() allows more. */
/** @{ */

/** Names a recording of a pool; 0 is none. Never used twice in a pool. */
typedef uint32_t gph_recording_id;

/** Binds a capture to the pool: what `stream`, and streams that join its capture,
 *  allocate while it captures belongs to the recording from now on. Call it before
 *  cuStreamBeginCapture; gph_capture_begin() does so if its options name a pool. Several
 *  captures of the stream, one after the other, may belong to one recording (segments).
 *
 *  stream  borrowed until the end.
 *  name    copied; NULL: "recording" and its number.
 *  out     the caller's; end with gph_pool_record_end() or gph_pool_record_abort().
 *
 *  The recording uses free memory of other graphs, and freed eager memory whose work is
 *  known to have ended: synchronize first. Fails with GPH_E_INVALID (a stream of another
 *  device), GPH_E_STATE (the pool has an open recording, the stream is bound or captured
 *  already), GPH_E_NO_MEMORY and what the driver returns. Thread: the one that captures. */
GPH_API GPH_CHECKED gph_status gph_pool_record_begin(gph_pool *pool, CUstream stream,
                                                     const char *name,
                                                     gph_recording_id *out,
                                                     gph_error *error);

/** Ends it, after cuStreamEndCapture. Whatever it allocated and did not free stays
 *  allocated: outputs (`outputs`, addresses, borrowed for the call), and the rest, which
 *  is kept: for example a workspace that a library caches. Other graphs of the pool
 *  cannot use that memory. `kept_count`: the caller's, may be NULL: how many ranges are
 *  kept; gph_pool_ranges() lists them (GPH_RANGE_KEPT), and the log warns of each with
 *  the size and the number of its allocation.
 *
 *  On failure it is still open. Fails with GPH_E_INVALID (no open recording of that id,
 *  an output that it did not allocate or has freed) and GPH_E_NO_MEMORY. */
GPH_API GPH_CHECKED gph_status gph_pool_record_end(gph_pool *pool, gph_recording_id id,
                                                   const CUdeviceptr *outputs,
                                                   uint32_t output_count,
                                                   uint32_t *kept_count,
                                                   gph_error *error);

/** Ends it after a failure, when the stream is no longer captured: everything it
 *  allocated is free again, everything it freed is allocated again, as before the begin.
 *  Cannot fail. An id that is not open is ignored. */
GPH_API void gph_pool_record_abort(gph_pool *pool, gph_recording_id id);

/** Forgets a recording whose graph is gone and whose work has ended; what it still owns
 *  is freed. An open one is aborted; an unknown id is ignored. */
GPH_API void gph_pool_record_forget(gph_pool *pool, gph_recording_id id);

/** What a range was to a recording. */
typedef enum gph_range_kind {
    GPH_RANGE_TEMPORARY = 1, /**< allocated and freed inside */
    GPH_RANGE_OUTPUT = 2,    /**< allocated inside, alive at the end, declared */
    GPH_RANGE_KEPT = 3,      /**< allocated inside, alive at the end, not declared */
    GPH_RANGE_INPUT = 4,     /**< allocated before, and read (gph_pool_record_input()), or
                                  used (gph_pool_use()) or freed in the capture */
    GPH_RANGE_EAGER = 5      /**< allocated outside captures */
} gph_range_kind;

/** A range of a recording and its life. Layout frozen: arrays of it are read, kept in
 *  files and given back. */
typedef struct gph_pool_range {
    CUdeviceptr address;        /**< first byte */
    uint64_t bytes;             /**< as rounded */
    gph_recording_id recording; /**< the recording it belongs to; 0: none (eager) */
    gph_recording_id maker;     /**< the recording that fills it; for an input also 0
                                     (eager) */
    gph_range_kind kind;        /**< what it was */
    uint32_t first;             /**< event number of the allocation, from 1; 0: before */
    uint32_t last;              /**< event number of the free; UINT32_MAX: never */
    CUstream stream;            /**< of the allocation */
} gph_pool_range;

/** Copies a recording's ranges. `ranges`: the caller's, room for `capacity`, may be NULL
 *  with 0; `count`: the caller's: how many there are. Fails with GPH_E_INVALID. */
GPH_API GPH_CHECKED gph_status gph_pool_ranges(const gph_pool *pool, gph_recording_id id,
                                               gph_pool_range *ranges, uint32_t capacity,
                                               uint32_t *count, gph_error *error);

/** The same for all live allocations of the pool, by address. */
GPH_API void gph_pool_live(const gph_pool *pool, gph_pool_range *ranges,
                           uint32_t capacity, uint32_t *count);

/** Makes a recording from ranges that gph_pool_ranges() returned, in this process or
 *  another: maps pages there, allocates outputs and kept ranges, and notes which replays
 *  are allowed when. `maker` of an input is an id of this pool, or 0 (eager), or, for
 *  eager memory that is filled before each replay, the same number as its `recording`,
 *  which has no other meaning here (UINT32_MAX, for example). Inputs must be allocated
 *  already.
 *
 *  name    copied; NULL: a number.
 *  ranges  borrowed for the call.
 *
 *  All or nothing. Fails with GPH_E_INVALID (ranges[i] is empty, outside the arena, or of
 *  an unknown kind), GPH_E_STATE (a range is in use, a recording is open) and as
 *  gph_pool_alloc().
 */
GPH_API GPH_CHECKED gph_status gph_pool_record_restore(gph_pool *pool, const char *name,
                                                       const gph_pool_range *ranges,
                                                       uint32_t count,
                                                       gph_recording_id *out,
                                                       gph_error *error);

/** Declares that a recording reads a range that an earlier one left (an output, for
 *  example), so that it may be replayed only while that range is unchanged. What a
 *  capture frees or passes to gph_pool_use() becomes an input without this call if
 *  another recording made it; eager memory used in that way counts as filled again before
 *  each replay (its `maker` is the reader). Fails with GPH_E_INVALID (no such recording;
 *  the range is not part of a live allocation, or is part of the recording's own) and
 *  GPH_E_NO_MEMORY. */
GPH_API GPH_CHECKED gph_status gph_pool_record_input(gph_pool *pool, gph_recording_id id,
                                                     CUdeviceptr address, uint64_t bytes,
                                                     gph_error *error);

/** The order in which two recordings are to be replayed. */
typedef enum gph_replay_order {
    GPH_REPLAY_AT_ONCE = 1, /**< both may run at the same time */
    GPH_REPLAY_AFTER = 2 /**< `second` after `first`, whose outputs (and kept ranges) are
                            read afterwards */
} gph_replay_order;

/** Two ranges that collide. */
typedef struct gph_pool_conflict {
    uint32_t size;         /**< sizeof(gph_pool_conflict) */
    gph_pool_range first;  /**< of the first recording */
    gph_pool_range second; /**< of the second */
    char text[256];        /**< in a sentence */
} gph_pool_conflict;

/** Whether two recordings may be replayed in this order. GPH_OK: yes, proven by their
 *  ranges. GPH_E_STATE: no, `conflict` (the caller's, may be NULL) and the message say
 *  which ranges collide. GPH_E_INVALID: no such recording. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_pool_may_replay(
    const gph_pool *pool, gph_recording_id first, gph_recording_id second,
    gph_replay_order order, gph_pool_conflict *conflict, gph_error *error);

/** Call it before each replay, in the order of the replays. It refuses a recording
 *  whose inputs a replay or eager work has overwritten since they were made, or that
 *  would overwrite live eager memory; else notes what this replay overwrites and makes.
 *  It makes a few comparisons, allocates nothing, calls no driver function, and takes
 *  only a lock that is never held for longer than such comparisons.
 *
 *  Fails with GPH_E_STATE (the message names both, and the ranges; nothing is noted) and
 *  GPH_E_INVALID (no recording of that id, or an open one). Thread: any; the order of
 *  calls is the order of replays. */
GPH_API GPH_CHECKED gph_status gph_pool_replay(gph_pool *pool, gph_recording_id id,
                                               gph_error *error);
/** @} */

/** @name Checkpoints */
/** @{ */

/** Takes a checkpoint: a flat array, in time proportional to the number of blocks in the
 *  pool.
 *
 *  out  owned by the caller on success: gph_checkpoint_destroy(). Untouched on failure.
 *
 *  Fails with GPH_E_STATE (a capture is open in the pool) and GPH_E_NO_MEMORY. */
GPH_API GPH_CHECKED gph_status gph_checkpoint_take(gph_pool *pool, gph_checkpoint **out,
                                                   gph_error *error);

/** Restores the pool's bookkeeping: blocks allocated since are free, blocks freed since
 *  are allocated again. Segments added since stay, and are free. Contents of memory do
 *  not change. Recordings made since are still known. Work that uses a block that becomes
 *  free must have ended, or be ordered before all later work in it.
 *
 *  live        borrowed: addresses, allocated at the checkpoint, that still have an
 *              owner; all other blocks of the checkpoint are freed in the same step. NULL
 *              with 0 and `all` nonzero: every one.
 *
 *  All or nothing: on failure the pool is as before. Fails with GPH_E_INVALID (a
 *  checkpoint of another pool, an address that it does not contain), GPH_E_STATE (a
 *  capture is open, one of its segments no longer exists) and GPH_E_NO_MEMORY. Thread:
 *  any. */
GPH_API GPH_CHECKED gph_status gph_checkpoint_restore(gph_pool *pool,
                                                      const gph_checkpoint *checkpoint,
                                                      const CUdeviceptr *live,
                                                      uint32_t live_count, int all,
                                                      gph_error *error);
/** Destroys it. NULL is allowed. Thread: any. */
GPH_API void gph_checkpoint_destroy(gph_checkpoint *checkpoint);
/** @} */

#ifdef __cplusplus
}
#endif
#endif
