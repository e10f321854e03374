// SPDX-License-Identifier: Apache-2.0
/* A table of slots inside.
 *
 * INDIRECT: the ring. A row a replay, written by the host before the launch and read by
 * the replay's first kernel, which counts itself; so queued replays keep their rows, and
 * no call of the driver is needed for any of it.
 *
 *     host      launched = 6     pinned   row 0  1  2  3  4  5  6  7     (depth 8)
 *     device    counter  = 3                      ^ done = 3    ^ the next launch's
 *                                words    [slot 0's address][slot 1's address]...
 *
 * PULL: the same ring. Without INDIRECT slots a row begins with the number of its launch, so
 * that a graph which somebody launches without the table reads no row of another launch:
 *
 *                                words    [1 + launch][source of slot 0][of slot 1]...
 *     device    [counter, not used] [to, bytes of slot 0][of slot 1]...
 *
 * REMAP: windows. A window has an address range for each such slot; its graph was
 * captured with them. What is mapped stays until something else is wanted there. */
#ifndef GPHI_SLOT_SLOTS_H
#define GPHI_SLOT_SLOTS_H
#include "cuda/defer.h"
#include "cuda/runtime.h"
#include "replay/copy.h"
#include "replay/exec.h"
#include <gph/slot.h>
#include <stdbool.h>

enum { GPHI_WINDOWS_MAX = 8, GPHI_SLOTS_MAX = 1024, GPHI_DEPTH_MAX = 1 << 20 };

struct gph_slot_buffer {
    gph_runtime *runtime;
    uint64_t id; /* never given twice */
    CUdeviceptr address;
    uint64_t bytes;
    CUmemGenericAllocationHandle handle;
    bool owns_address;
};

struct gphi_slot {
    char *name;
    gph_slot_kind kind;
    uint64_t bytes;      /* REMAP: rounded up to pages */
    CUdeviceptr address; /* COPY, PULL: of the fixed buffer */
    bool owns_address;
    bool is_bound;
    bool is_dirty;     /* COPY: bound since the last launch */
    uint32_t place;    /* INDIRECT, PULL: its word; REMAP: its range in each window */
    CUdeviceptr bound; /* COPY */
    gph_slot_buffer *buffer; /* REMAP */
};

/* One range of a window. */
struct gphi_range {
    CUdeviceptr address;
    uint64_t bytes;
    uint64_t mapped; /* id of a buffer; 0: nothing */
};

struct gphi_window {
    struct gphi_range *ranges; /* one a REMAP slot */
    CUevent event;             /* after the last replay of it */
    bool is_used;              /* a replay was launched; the event follows it */
    bool is_unsure;            /* ... but could not be recorded */
    uint64_t last_use;         /* launches by then */
};

struct gph_slots {
    gph_runtime *runtime;
    uint32_t count, unbound; /* slots; those never bound */
    uint32_t copy_count, range_count;
    uint32_t word_count, pull_count; /* PULL slots have the last words */
    struct gphi_slot *slots;
    uint64_t wait_ns;
    bool is_for_one; /* GPH_SLOTS_ONE_EXEC */
    CUstream stream; /* of the last launch */
    bool has_stream;
    CUevent order; /* orders a launch in another stream */
    gph_slots_stats stats;

    /* COPY: what one batch takes. */
    uint32_t dirty;
    CUdeviceptr *to, *from; /* copy_count each */
    size_t *sizes;
    gphi_copier *copier; /* or NULL */

    /* INDIRECT, PULL */
    uint32_t depth;
    uint32_t row_words;     /* word_count, and one for the launch's number: see above */
    uint64_t *bound;        /* word_count: what the next row holds */
    uint64_t *ring;         /* pinned: `depth` rows, then the count of replays done */
    CUdeviceptr ring_there; /* the same for the device */
    CUdeviceptr words; /* word_count, then the device's counter, then PULL's: above */
    uint64_t launched;
    uint64_t done_seen;        /* as read last: the word is in the device's hands */
    gphi_kernels *feed, *pull; /* NULL: not needed */
    uint64_t pull_largest;     /* bytes of a slot */
    CUgraphNode nodes[2];      /* gph_slots_enter(): feed and pull, those needed */
    uint32_t node_count;

    /* REMAP */
    uint32_t window_count, chosen;
    CUdevice device;
    struct gphi_window windows[GPHI_WINDOWS_MAX];
    gphi_deferred end;
};

/* What the driver said to a call of a table. */
gph_status gphi_slots_check(CUresult result, const char *call, gph_error *error);

/* feed.c: the ring. */
gph_status gphi_ring_create(gph_slots *slots, gph_error *error);
void gphi_ring_destroy(gph_slots *slots);
/* Waits until a row is free, and writes it; gphi_ring_push() makes it a replay's. */
gph_status gphi_ring_write(gph_slots *slots, gph_error *error);
static inline void gphi_ring_push(gph_slots *slots)
{
    slots->launched++;
}
/* gph_slots_bind() of a PULL slot that is known to be one; 0: its own address. */
static inline void gphi_slots_pull(gph_slots *slots, uint32_t index, CUdeviceptr from)
{
    const struct gphi_slot *slot = &slots->slots[index];
    slots->bound[slot->place] = from != 0 ? from : slot->address;
}
/* The kernels that read a row, in their order: as nodes' parameters. The arguments are
 * lent by `room`. */
struct gphi_feed_room {
    uint32_t depth, count, stride;
    CUdeviceptr counter, words;
    CUdeviceptr
        rowless; /* words of PULL slots that the feed has put there; 0: in the row */
    void *feed[4], *pull[5];
    CUDA_KERNEL_NODE_PARAMS params[2];
};
uint32_t gphi_ring_kernels(gph_slots *slots, struct gphi_feed_room *room);
/* The same into a stream or its capture. */
gph_status gphi_ring_feed(gph_slots *slots, CUstream stream, gph_error *error);

/* pull.c: the kernel of PULL slots. */
extern const gphi_kernel_text gphi_pull_text;
/* Blocks a slot, and their threads, where the largest slot has so many bytes. */
void gphi_pull_shape(uint64_t largest, unsigned *blocks, unsigned *threads);

/* window.c */
gph_status gphi_windows_create(gph_slots *slots, gph_error *error);
void gphi_windows_destroy(gph_slots *slots);
/* The window to take: what is bound is mapped there. */
gph_status gphi_window_choose(gph_slots *slots, uint32_t *out, gph_error *error);
/* Maps what is bound in a window, once its replays are done. */
gph_status gphi_window_map(gph_slots *slots, uint32_t window, gph_error *error);
/* After a launch that used it. */
void gphi_window_used(gph_slots *slots, uint32_t window, CUstream stream);

/* Spins a little, then naps; false once `wait_ns` are over. *round begins as 0. */
bool gphi_slots_pause(const gph_slots *slots, uint64_t from_ns, uint32_t *round);
#endif
