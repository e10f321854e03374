// SPDX-License-Identifier: Apache-2.0
/* Addresses and pages of a device, and what is known of the work of its streams.
 *
 *   addresses  |0 .... owned by pool 1 .... |idle| ....... |owned by pool 2| ... |
 *   pages       one slot a page: its handle, who owns it, how many recordings lie on it
 *   stock       handles that are mapped nowhere
 *
 * A page is *owned* (a pool's segment), *in limbo* (its pool is gone, work may still use
 * it), *idle* (mapped, nobody's: the next pool takes it where it lies, without a driver
 * call) or not there. One mutex guards the arena and all of its pools: memory moves
 * between them, and so it can, without an order of locks. */
#ifndef GPHI_MEMORY_ARENA_H
#define GPHI_MEMORY_ARENA_H
#include "base/thread.h"
#include "base/vec.h"
#include "cuda/runtime.h"
#include <gph/memory.h>

#define GPHI_LIMBO UINT32_MAX

struct gphi_page {
    CUmemGenericAllocationHandle handle;
    uint32_t owner; /* number of a pool, 0, or GPHI_LIMBO */
    uint32_t pins;  /* ranges of recordings: while there are any it stays mapped */
    bool is_mapped;
};

/* Pages of a pool that is gone, until every free before `ticket` is known to have ended.
 */
struct gphi_limbo {
    uint64_t first, count, ticket;
};

/* An event recorded after a free: all tickets of its stream up to `last` have ended when
 * it has.
 */
struct gphi_mark {
    CUevent event;
    uint64_t first, last;
};

enum { GPHI_MARKS_MAX = 64 };

/* Where a stream is. Asked for only where there are several devices: nobody's else. */
struct gphi_home {
    CUcontext context; /* NULL: the current one */
    int device;        /* -1: not known */
};

/* An event that nobody uses, and where it may be recorded. */
struct gphi_spare_event {
    CUcontext context;
    CUevent event;
};

/* A stream that freed something. Known by the driver's number, since handles come again.
 */
struct gphi_stream {
    uint64_t id;
    struct gphi_home home;
    uint64_t ended; /* tickets of this stream up to here have ended */
    uint32_t head, count;
    struct gphi_mark marks[GPHI_MARKS_MAX]; /* a ring, oldest at head */
};

struct gph_arena {
    gph_runtime *runtime;
    gph_allocator heap;
    int device;
    CUcontext
        context;   /* of `device`, current when the arena was made; NULL: another was */
    bool is_alone; /* there is one device */
    CUdeviceptr base;
    uint64_t page_bytes, page_count;
    uint64_t budget_pages; /* UINT64_MAX: none */
    gph_oom_fn *oom;
    void *oom_user;

    gphi_mutex mutex; /* guards what follows, and the pools */
    struct gphi_page *pages;
    gphi_vec stock;       /* CUmemGenericAllocationHandle */
    gphi_vec limbo;       /* struct gphi_limbo */
    gphi_vec streams;     /* struct gphi_stream */
    gphi_vec events;      /* struct gphi_spare_event */
    uint64_t ticket;      /* of the last free */
    uint64_t total_pages; /* handles there are */
    uint64_t owned_pages; /* of pools and of limbo */
    uint32_t next_pool;   /* numbers them */
    uint32_t open_recordings;
    gph_pool *pools; /* a list */
};

/* All below: with the mutex held. */

/* Pages from `first` on that nobody owns, `most` at most. */
uint64_t gphi_arena_room(const gph_arena *arena, uint64_t first, uint64_t most);

/* Where `count` pages would lie best: over idle ones, else with room to grow. */
bool gphi_arena_place(const gph_arena *arena, uint64_t count, uint64_t *first);

/* Makes a pool own pages that nobody owns, and maps what is not. All or nothing.
 * CUDA_ERROR_OUT_OF_MEMORY if neither device nor budget has more. */
gph_status gphi_arena_take(gph_arena *arena, uint32_t owner, uint64_t first,
                           uint64_t count, gph_error *error);

/* The pages are idle from now on, or in limbo until the tickets given out so far have
 * ended. Cannot fail: without memory for the note they are in limbo for good. */
void gphi_arena_give(gph_arena *arena, uint64_t first, uint64_t count, bool is_pending);

/* Makes idle what was in limbo and has ended. */
void gphi_arena_settle(gph_arena *arena);

/* Gives cached pages back to the device until `keep` are left, as far as it may. */
gph_status gphi_arena_release(gph_arena *arena, uint64_t keep, uint64_t *released,
                              gph_error *error);

/* Takes handles off idle pages into the stock, `most` at most; nothing while a capture is
 * open. Returns how many. */
uint64_t gphi_arena_unmap(gph_arena *arena, uint64_t most);

/* Handles of the stock and of idle pages. */
uint64_t gphi_arena_cached(const gph_arena *arena);

void gphi_arena_pin(gph_arena *arena, CUdeviceptr address, uint64_t bytes, int by);

/* ---- fence.c: what is known of the work of streams ---- */

/* Where a stream is, captured or not. */
struct gphi_home gphi_stream_home(const gph_arena *arena, CUstream stream);

/* Refuses a stream of another device: what it runs cannot reach the arena's memory, and who
 * only copies from there says so by gph_pool_use(). `pool`: its name. */
gph_status gphi_home_check(const gph_arena *arena, const char *pool, CUstream stream,
                           struct gphi_home home, gph_error *error);

/* The stream's place in `streams`; not for a stream that is captured. */
gph_status gphi_stream_find(gph_arena *arena, CUstream stream, uint32_t *out,
                            gph_error *error);

/* A ticket for what the stream has been given so far: an event is recorded. */
gph_status gphi_stream_mark(gph_arena *arena, uint32_t index, CUstream stream,
                            uint64_t *ticket, gph_error *error);

/* Asks the events. Waits for nothing. */
void gphi_streams_poll(gph_arena *arena);

/* Every ticket up to this one, of whichever stream, has ended. */
uint64_t gphi_streams_all_ended(const gph_arena *arena);

void gphi_streams_fini(gph_arena *arena);
#endif
