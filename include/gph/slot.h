/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Slots: named buffers of a graph that can be different at each replay, without an
 *  update.
 *
 *      COPY      a fixed address; what is bound is copied there before the launch
 *      INDIRECT  kernels read the address from one word; each replay has its own
 *      REMAP     a fixed address; what is bound is mapped there
 *      PULL      a fixed address; the graph's first kernel copies what is bound there
 *
 *  A table holds the slots of one graph:
 *
 *      gph_slots_create(...)                        once
 *      capture: gph_slots_feed(), then work that uses gph_slots_address()
 *      gph_slots_bind(slots, i, ptr);               as often as a buffer changes
 *      gph_slots_launch(slots, &exec, 1, stream);   instead of gph_exec_launch()
 *  Tier: experimental. */
#ifndef GPH_SLOT_H
#define GPH_SLOT_H

#include <gph/base.h>
#include <gph/cuda.h>
#include <gph/replay.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A table of slots. One thread at a time, except where a call says otherwise. */
typedef struct gph_slots gph_slots;

/** Device memory that can be mapped at several addresses. Any thread. */
typedef struct gph_slot_buffer gph_slot_buffer;

/** How a slot gets its buffer. */
typedef enum gph_slot_kind {
    GPH_SLOT_COPY = 1,     /**< copied */
    GPH_SLOT_INDIRECT = 2, /**< its address is read by the kernels */
    GPH_SLOT_REMAP = 3,    /**< mapped */
    GPH_SLOT_PULL = 4 /**< copied by the graph itself: no call besides the launch. Only
                                from memory that a kernel of the context may read */
} gph_slot_kind;

/** One slot of a table. Stride: gph_slots_options.slot_bytes. */
typedef struct gph_slot {
    const char *name; /**< copied; NULL: none */
    uint32_t kind;    /**< a gph_slot_kind */
    uint32_t flags;   /**< 0 */
    uint64_t bytes;   /**< size of the buffer; INDIRECT: not used */
    /** COPY, PULL: address of the buffer, borrowed until gph_slots_destroy(); 0: the table
     *  allocates it. */
    CUdeviceptr address;
} gph_slot;

/** Start from GPH_SLOTS_OPTIONS_INIT. */
typedef struct gph_slots_options {
    uint32_t size;    /**< sizeof(gph_slots_options) */
    uint32_t depth;   /**< INDIRECT, PULL: how many replays may be queued; 0 means 64 */
    uint32_t windows; /**< REMAP: address windows, 1 to 8; 0 means 2 */
    uint32_t slot_bytes; /**< sizeof(gph_slot); 0: as 0.1 has it */
    /** INDIRECT, PULL, REMAP: how long a launch waits for an earlier replay if the ring is full
     *  or no window is free; 0 means 10 s. */
    uint64_t wait_ns;
    uint32_t flags; /**< GPH_SLOTS_ flags */
} gph_slots_options;

/** Flags of a table. */
enum {
    /** One executable is launched, which the driver orders: streams need not be, and may be
     *  destroyed between launches. For INDIRECT and PULL slots. */
    GPH_SLOTS_ONE_EXEC = 1
};
/** All defaults. */
#define GPH_SLOTS_OPTIONS_INIT GPH_SIZED(gph_slots_options)

/** Makes a table in the current context.
 *
 *  runtime  borrowed until gph_slots_destroy().
 *  slots    copied; `count` of them, 1 to 1,024.
 *  options  borrowed for the call; NULL means all defaults.
 *  out      owned by the caller on success: gph_slots_destroy(). Untouched on failure.
 *
 *  Fails with GPH_E_INVALID (kinds, counts, bytes of 0), GPH_E_NO_MEMORY,
 *  GPH_E_UNSUPPORTED (REMAP on a device that cannot map) and what the driver returns.
 *  Thread: any; no capture of this thread may be open. */
GPH_API GPH_CHECKED gph_status gph_slots_create(gph_runtime *runtime,
                                                const gph_slot *slots, uint32_t count,
                                                const gph_slots_options *options,
                                                gph_slots **out, gph_error *error);

/** Destroys a table and its fixed buffers. Replays must have ended, and its graphs may
 *  not be launched again. NULL is allowed. */
GPH_API void gph_slots_destroy(gph_slots *slots);

/** The address to pass to kernels for slot `index`: for COPY, REMAP and PULL the address of the
 *  buffer, for INDIRECT the address of the word that holds the buffer's address. With
 *  several windows, it is for the window chosen by gph_slots_window_set(). 0 if there is
 *  no such slot. */
GPH_API CUdeviceptr gph_slots_address(const gph_slots *slots, uint32_t index);

/** The slot of that name; -1 if there is none. */
GPH_API int64_t gph_slots_find(const gph_slots *slots, const char *name);

/** How many windows the table has; the graph has to be captured once for each of them. 1
 *  unless a slot is REMAP. */
GPH_API uint32_t gph_slots_window_count(const gph_slots *slots);

/** Chooses the window of gph_slots_address(), before a capture begins. What is bound now
 *  is mapped in that window, since copies and fills can be captured only with mapped
 *  addresses. Fails with GPH_E_INVALID (no such window), GPH_E_STATE (a replay of that
 *  window did not end within options.wait_ns) and what the driver returns. */
GPH_API GPH_CHECKED gph_status gph_slots_window_set(gph_slots *slots, uint32_t window,
                                                    gph_error *error);

/** Call it before the work that uses the slots. In a captured stream it adds one
 *  tiny kernel to the graph if the table has INDIRECT slots, and one that copies if it has
 *  PULL slots. In another
 *  stream, what is bound takes effect for the work after it, as with gph_slots_launch()
 *  (REMAP: in the chosen window).
 *
 *  stream  borrowed for the call.
 *
 *  Fails as gph_slots_launch(). */
GPH_API GPH_CHECKED gph_status gph_slots_feed(gph_slots *slots, CUstream stream,
                                              gph_error *error);

/** The same for a graph that is there already, as captured by somebody else: the kernels
 *  come before all of its nodes.
 *
 *  graph  borrowed for the call; the nodes stay until gph_slots_leave().
 *
 *  A launch costs the device about 2 us more, and the host nothing beside the launch.
 *  Fails with GPH_E_STATE (they are in a graph already), GPH_E_NO_MEMORY and what the
 *  driver returns; the graph is then as before, if the driver lets nodes be removed. */
GPH_API GPH_CHECKED gph_status gph_slots_enter(gph_slots *slots, CUgraph graph,
                                               gph_error *error);

/** Takes the kernels out of that graph, which must be there still; executables that were
 *  made of it keep them. Where there are none it does nothing. Fails with what
 *  cuGraphDestroyNode returns: a graph with memory nodes keeps its nodes. */
GPH_API gph_status gph_slots_leave(gph_slots *slots, gph_error *error);

/** Binds a buffer for later launches: a store, no driver call. Queued replays keep what
 *  they were launched with.
 *
 *  buffer  borrowed until the replays that use it have ended. COPY: `bytes` of it are
 *          read at the first launch after a bind; bind it again when its contents change.
 *          PULL: each replay reads them; what was never bound, or the slot's own address,
 *          is not copied.
 *          REMAP slots need gph_slots_bind_buffer().
 *
 *  Fails with GPH_E_INVALID (no such slot, a REMAP slot, address 0). */
GPH_API GPH_CHECKED gph_status gph_slots_bind(gph_slots *slots, uint32_t index,
                                              CUdeviceptr buffer, gph_error *error);

/** Binds device memory that can be mapped; works for every kind of slot.
 *
 *  buffer  borrowed until it is no longer bound and the replays that use it have ended.
 *
 *  Fails with GPH_E_INVALID (no such slot, fewer bytes than the slot has). */
GPH_API GPH_CHECKED gph_status gph_slots_bind_buffer(gph_slots *slots, uint32_t index,
                                                     gph_slot_buffer *buffer,
                                                     gph_error *error);

/** Launches a graph with what is bound now.
 *
 *  execs   borrowed for the call: one for each window, captured with gph_slots_feed() in
 *          it if the table has INDIRECT or PULL slots.
 *  count   of `execs`: gph_slots_window_count().
 *  stream  borrowed for the call; not the legacy default stream if COPY slots are bound.
 *
 *  COPY slots bound since the last launch are copied, in one call. REMAP: uses the window
 *  in which most of what is bound is mapped already; the rest is mapped there once the
 *  last replay of that window has ended. INDIRECT, PULL: the addresses go into a ring in
 *  pinned memory, which the graph reads; if the ring is full, the call waits for the oldest
 *  replay.
 *
 *  Launches of one table run one after the other: a launch in a different stream than the
 *  last one is ordered after all work in the last one's stream so far; do not destroy
 *  that stream before. Fails with GPH_E_INVALID (NULL, a slot that was never bound, a
 *  wrong count), GPH_E_STATE (the graph was launched without the table, or was captured
 *  without gph_slots_feed(); no replay ended within options.wait_ns), and what the driver
 *  returns; then no replay is queued, and what is bound stays bound. */
GPH_API GPH_CHECKED gph_status gph_slots_launch(gph_slots *slots, gph_exec *const *execs,
                                                uint32_t count, CUstream stream,
                                                gph_error *error);

/** What a table did so far. */
typedef struct gph_slots_stats {
    uint32_t size;         /**< sizeof(gph_slots_stats) */
    uint64_t launch_count; /**< replays launched */
    uint64_t copy_count;   /**< buffers copied */
    uint64_t copy_bytes;   /**< bytes copied */
    uint64_t map_count;    /**< buffers mapped */
    uint64_t revive_count; /**< launches for which all buffers were mapped already */
    uint64_t wait_count;   /**< launches that waited for a replay */
} gph_slots_stats;

/** Fills in the figures; zeros for NULL. */
GPH_API void gph_slots_stats_get(const gph_slots *slots, gph_slots_stats *out);

/** Allocates device memory that REMAP slots can be bound to, in the current context's
 *  device.
 *
 *  runtime  borrowed until gph_slot_buffer_destroy().
 *  bytes    rounded up to the device's mapping granularity (2 MiB).
 *  out      owned by the caller on success: gph_slot_buffer_destroy(). Untouched on
 *           failure.
 *
 *  Fails with GPH_E_INVALID (0 bytes), GPH_E_NO_MEMORY and what the driver returns. */
GPH_API GPH_CHECKED gph_status gph_slot_buffer_create(gph_runtime *runtime,
                                                      uint64_t bytes,
                                                      gph_slot_buffer **out,
                                                      gph_error *error);

/** Wraps device memory that the caller mapped with cuMemMap from one allocation.
 *
 *  address  borrowed until gph_slot_buffer_destroy(): where its first byte is mapped.
 *  bytes    size of the allocation, a multiple of the device's mapping granularity.
 *
 *  Fails with GPH_E_INVALID (0, not a multiple, memory of another kind), GPH_E_NO_MEMORY
 *  and what the driver returns. */
GPH_API GPH_CHECKED gph_status gph_slot_buffer_adopt(gph_runtime *runtime,
                                                     CUdeviceptr address, uint64_t bytes,
                                                     gph_slot_buffer **out,
                                                     gph_error *error);

/** Frees it, or gives it up if it was wrapped; a slot that still maps it keeps its pages
 *  until it maps something else. NULL is allowed. */
GPH_API void gph_slot_buffer_destroy(gph_slot_buffer *buffer);

/** The address at which the program reads and writes it; 0 for NULL. */
GPH_API CUdeviceptr gph_slot_buffer_address(const gph_slot_buffer *buffer);

#ifdef __cplusplus
}
#endif
#endif
