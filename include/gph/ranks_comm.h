/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Communicators of a group of ranks: collectives that may be captured. NCCL, opened at run
 *  time, moves what is large; small sums use one kernel of libgph's own, over memory that
 *  the processes share, where that was measured to be faster. Graphs that recorded a
 *  communicator keep it: it goes when the last of them has gone. Tier: experimental. */
#ifndef GPH_RANKS_COMM_H
#define GPH_RANKS_COMM_H

#include <gph/callable.h>
#include <gph/ranks.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A communicator: the GPUs of all ranks of a group, one each. Its collectives must run in
 *  one order, the same on every rank: one stream, or streams that wait for each other. */
typedef struct gph_comm gph_comm;

/** Who moves the data. */
typedef enum gph_comm_way {
    GPH_COMM_BEST = 0, /**< the faster one, as measured when the communicator was made */
    GPH_COMM_NCCL = 1, /**< NCCL */
    GPH_COMM_OWN = 2   /**< a kernel of libgph's own; sums of small tensors on one host */
} gph_comm_way;

/** How numbers are put together. */
typedef enum gph_comm_reduction {
    GPH_COMM_SUM =
        1, /**< f16 and bf16 are added as f32, in the order of ranks, by the own
                           kernel: the same bits on every rank and in every run */
    GPH_COMM_MAX = 2, /**< the largest */
    GPH_COMM_MIN = 3  /**< the smallest */
} gph_comm_reduction;

/** Start from GPH_COMM_OPTIONS_INIT. */
typedef struct gph_comm_options {
    uint32_t size; /**< sizeof(gph_comm_options) */
    uint32_t way;  /**< a gph_comm_way: the only one that is used, or the best of both */
    /** The own kernel's largest tensor, in bytes, to 64 MiB: the memory it needs is 4 times
     *  as much for each rank, 512 KiB at least. 0 means 256 KiB. */
    uint64_t own_bytes;
    /** Copied: NCCL's library. NULL: the variable `GPH_NCCL_PATH`, else one that the process
     *  has, else libnccl.so.2. */
    const char *nccl_path;
    const char *name; /**< copied, for messages; NULL: "comm" */
} gph_comm_options;
/** All defaults. */
#define GPH_COMM_OPTIONS_INIT GPH_SIZED(gph_comm_options)

/** Makes one, in the current context. All ranks call it. With GPH_COMM_BEST both ways are
 *  measured by some two thousand sums, and all ranks take the same border between them: with
 *  the start of NCCL that took 0.2 s on two H200.
 *
 *  ranks    borrowed until the communicator has gone.
 *  runtime  borrowed as long.
 *  options  borrowed for the call; NULL means all defaults.
 *  out      owned by the caller on success: gph_comm_destroy(). Untouched on failure.
 *
 *  Fails on every rank or on none. GPH_E_INVALID (another name, way or size on another rank;
 *  two ranks of one GPU, with NCCL), GPH_E_UNSUPPORTED (GPH_COMM_NCCL without NCCL;
 *  GPH_COMM_OWN over several hosts or without peer access; GPH_COMM_BEST with neither),
 *  GPH_E_STATE (the group has failed; a capture is open), GPH_E_NO_MEMORY and what the driver
 *  returns. What NCCL returns when it starts fails the group, since the other ranks may wait
 *  inside it. Thread: one at a time. */
GPH_API GPH_CHECKED gph_status gph_comm_create(gph_ranks *ranks, gph_runtime *runtime,
                                               const gph_comm_options *options,
                                               gph_comm **out, gph_error *error);

/** Gives it up. It goes at once, or with the last graph and executable in which it was
 *  recorded, whose destruction it waits for without blocking anybody. Its eager work must
 *  have ended. NULL is allowed. Thread: one at a time. */
GPH_API void gph_comm_destroy(gph_comm *comm);

/** Puts the sum of every rank's tensor into every rank's.
 *
 *  place      copied: where it is in the program; NULL: not known.
 *  in         device memory of `count` elements; alive until the work has ended.
 *  out        likewise; the same as `in`, or memory that does not overlap it.
 *  count      elements, the same on every rank. 0: nothing is done.
 *  dtype      a gph_dtype: f32, f16, bf16, f64, i32, i64, u8, i8, u32, u64. The own kernel has
 *             f32, f16, bf16, i32.
 *  stream     borrowed for the call: eager, or captured.
 *
 *  Fails with GPH_E_INVALID (names the argument), GPH_E_UNSUPPORTED (no way has it),
 *  GPH_E_STATE (the group has failed: its cause) and what the driver or NCCL returns. Thread:
 *  one at a time. */
GPH_API GPH_CHECKED gph_status gph_comm_all_reduce_at(const char *place, gph_comm *comm,
                                                      CUdeviceptr in, CUdeviceptr out,
                                                      uint64_t count, gph_dtype dtype,
                                                      gph_comm_reduction reduction,
                                                      CUstream stream, gph_error *error);
/** Puts every rank's `count` elements into `out`, in the order of ranks, on every rank. NCCL;
 *  the own kernel to gph_comm_info.own_up_to in all. Otherwise as above. */
GPH_API GPH_CHECKED gph_status gph_comm_all_gather_at(const char *place, gph_comm *comm,
                                                      CUdeviceptr in, CUdeviceptr out,
                                                      uint64_t count, gph_dtype dtype,
                                                      CUstream stream, gph_error *error);
/** Puts rank `root`'s `count` elements into every rank's `data`. NCCL, and the own kernel to
 *  gph_comm_info.own_up_to. Otherwise as above. */
GPH_API GPH_CHECKED gph_status gph_comm_broadcast_at(const char *place, gph_comm *comm,
                                                     CUdeviceptr data, uint64_t count,
                                                     gph_dtype dtype, uint32_t root,
                                                     CUstream stream, gph_error *error);
/** The functions, with their place. */
#define gph_comm_all_reduce(...) gph_comm_all_reduce_at(GPH_PLACE, __VA_ARGS__)
#define gph_comm_all_gather(...)                                                         \
    gph_comm_all_gather_at(GPH_PLACE, __VA_ARGS__) /**< likewise */
#define gph_comm_broadcast(...)                                                          \
    gph_comm_broadcast_at(GPH_PLACE, __VA_ARGS__) /**< likewise */

/** Did every rank record the same collectives? To be asked by all of them when a capture has
 *  ended and before its graph is launched: GPH_E_INVALID names the first collective that
 *  differs, or that one rank alone has, with both places.
 *
 *  graph  borrowed for the call: what the capture gave, or gph_callable_graph() and its like.
 *
 *  Fails besides as gph_ranks_agree(). Thread: one at a time. */
GPH_API GPH_CHECKED gph_status gph_comm_graph_agree(gph_comm *comm, CUgraph graph,
                                                    gph_error *error);

/** What it is. */
typedef struct gph_comm_info {
    uint32_t size;         /**< sizeof(gph_comm_info) */
    uint32_t has_nccl;     /**< 1: NCCL was opened */
    uint32_t has_own;      /**< 1: the own kernel can be used */
    uint32_t nccl_version; /**< as NCCL says it: 22809; or 0 */
    uint64_t own_up_to; /**< a sum of so many bytes or less is made by the own kernel */
    uint64_t calls;     /**< collectives that were put into streams, captured or not */
    uint64_t captured;  /**< and of these, captured */
    uint64_t graphs;    /**< graphs that recorded it and are not gone, nor their
                                  executables */
    double own_us[8];   /**< measured: a captured sum of 1, 4, 16, 32, 64, 128, 256,
                                  512 KiB, in microseconds; 0: not measured */
    double nccl_us[8];  /**< and NCCL's */
    char text[384];     /**< all of it in a sentence, with what is missing and why */
} gph_comm_info;

/** Fills it in; zeros for NULL. Thread: any. */
GPH_API void gph_comm_info_get(const gph_comm *comm, gph_comm_info *out);

/** NCCL's own handle, an ncclComm_t, for calls that are not here; NULL without NCCL. A graph
 *  that records such a call is made known by gph_comm_keep(). Lent until the communicator
 *  goes. */
GPH_API void *gph_comm_nccl(const gph_comm *comm);
/** The communicator stays until the graph that is being captured in `stream` has gone, and
 *  all executables of it. Fails with GPH_E_STATE (it is not captured) and what the driver
 *  returns. Thread: one at a time. */
GPH_API GPH_CHECKED gph_status gph_comm_keep(gph_comm *comm, CUstream stream,
                                             gph_error *error);

#ifdef __cplusplus
}
#endif
#endif
