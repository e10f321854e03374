/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Communicators of a group of ranks: collectives that may be captured. NCCL, loaded at run
 *  time, moves large tensors. Small sums use a kernel of libgph's own, over memory that the
 *  processes share, where it was measured to be faster. A graph that recorded collectives
 *  keeps their communicator alive: it is freed after the last such graph.
 *  Tier: experimental. */
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

/** How numbers are combined. */
typedef enum gph_comm_reduction {
    GPH_COMM_SUM =
        1, /**< libgph's kernel adds f16 and bf16 as f32, in the order of ranks: the
                           same bits on every rank and in every run */
    GPH_COMM_MAX = 2, /**< the largest */
    GPH_COMM_MIN = 3  /**< the smallest */
} gph_comm_reduction;

/** Start from GPH_COMM_OPTIONS_INIT. */
typedef struct gph_comm_options {
    uint32_t size; /**< sizeof(gph_comm_options) */
    uint32_t way;  /**< a gph_comm_way: the only one that is used, or the best of both */
    /** The largest tensor of libgph's own kernel, in bytes, at most 64 MiB. For each rank it
     *  needs 4 times that much memory, at least 512 KiB. 0 means 256 KiB. */
    uint64_t own_bytes;
    /** Copied: the path of NCCL's library. NULL: the variable `GPH_NCCL_PATH`, else one that
     *  the process has loaded, else libnccl.so.2. */
    const char *nccl_path;
    const char *name; /**< copied, for messages; NULL: "comm" */
} gph_comm_options;
/** All defaults. */
#define GPH_COMM_OPTIONS_INIT GPH_SIZED(gph_comm_options)

/** Makes one, in the current context. All ranks call it. With GPH_COMM_BEST both ways are
 *  measured with about two thousand sums, and all ranks use the same limit between them;
 *  with the start of NCCL that took 0.2 s on two H200.
 *
 *  ranks    borrowed until the communicator is freed, see gph_comm_destroy().
 *  runtime  borrowed as long.
 *  options  borrowed for the call; NULL means all defaults.
 *  out      owned by the caller on success: gph_comm_destroy(). Untouched on failure.
 *
 *  Fails on every rank or on none. GPH_E_INVALID (another rank passed another name, way or
 *  size; two ranks use one GPU, with NCCL), GPH_E_UNSUPPORTED (GPH_COMM_NCCL without NCCL;
 *  GPH_COMM_OWN over several hosts or without peer access; GPH_COMM_BEST with neither),
 *  GPH_E_STATE (the group has failed; a capture is open), GPH_E_NO_MEMORY and what the driver
 *  returns. If NCCL fails to start, the whole group fails, since the other ranks may be
 *  waiting inside NCCL. Thread: one at a time. */
GPH_API GPH_CHECKED gph_status gph_comm_create(gph_ranks *ranks, gph_runtime *runtime,
                                               const gph_comm_options *options,
                                               gph_comm **out, gph_error *error);

/** Destroys it. It is freed immediately, or, if graphs or executables recorded it, after the last
 *  of them is destroyed; this call does not wait for that. Its eager work must have ended.
 *  NULL is allowed. Thread: one at a time. */
GPH_API void gph_comm_destroy(gph_comm *comm);

/** Reduces the tensors of all ranks element by element, and gives every rank the result.
 *
 *  place      copied: where the call is in the program; NULL: not known.
 *  in         device memory of `count` elements; alive until the work has ended.
 *  out        likewise; the same as `in`, or memory that does not overlap it.
 *  count      elements, the same on every rank. 0: nothing is done.
 *  dtype      a gph_dtype: f32, f16, bf16, f64, i32, i64, u8, i8, u32, u64. libgph's kernel
 *             supports f32, f16, bf16 and i32.
 *  stream     borrowed for the call: eager, or captured.
 *
 *  Fails with GPH_E_INVALID (names the argument), GPH_E_UNSUPPORTED (neither way
 *  supports it),
 *  GPH_E_STATE (the group has failed: its cause) and what the driver or NCCL returns. Thread:
 *  one at a time. */
GPH_API GPH_CHECKED gph_status gph_comm_all_reduce_at(const char *place, gph_comm *comm,
                                                      CUdeviceptr in, CUdeviceptr out,
                                                      uint64_t count, gph_dtype dtype,
                                                      gph_comm_reduction reduction,
                                                      CUstream stream, gph_error *error);
/** Collects the `count` elements of each rank in `out`, in the order of ranks, on every rank.
 *  By NCCL, or by libgph's kernel if `out` has at most gph_comm_info.own_up_to bytes.
 *  Otherwise as above. */
GPH_API GPH_CHECKED gph_status gph_comm_all_gather_at(const char *place, gph_comm *comm,
                                                      CUdeviceptr in, CUdeviceptr out,
                                                      uint64_t count, gph_dtype dtype,
                                                      CUstream stream, gph_error *error);
/** Copies the `count` elements of rank `root` to `data` of every rank. By NCCL, or by
 *  libgph's kernel up to gph_comm_info.own_up_to bytes. Otherwise as above. */
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

/** Checks that every rank recorded the same collectives. All ranks call it after a capture has
 *  ended and before its graph is launched. GPH_E_INVALID names the first collective that
 *  differs, or that only one rank has, with both places.
 *
 *  graph  borrowed for the call: the graph of a capture, of gph_callable_graph(), and so on.
 *
 *  It also fails as gph_ranks_agree() does. Thread: one at a time. */
GPH_API GPH_CHECKED gph_status gph_comm_graph_agree(gph_comm *comm, CUgraph graph,
                                                    gph_error *error);

/** What a communicator uses and did. */
typedef struct gph_comm_info {
    uint32_t size;         /**< sizeof(gph_comm_info) */
    uint32_t has_nccl;     /**< 1: NCCL was opened */
    uint32_t has_own;      /**< 1: libgph's kernel can be used */
    uint32_t nccl_version; /**< as NCCL reports it: 22809; or 0 */
    uint64_t own_up_to;    /**< sums of up to this many bytes use libgph's kernel */
    uint64_t calls;        /**< collectives called, captured or not */
    uint64_t captured;     /**< of these, captured */
    uint64_t graphs;       /**< graphs that recorded it and exist, or whose
                                  executables exist */
    double own_us[8];      /**< measured: a captured sum of 1, 4, 16, 32, 64, 128, 256,
                                  512 KiB, in microseconds; 0: not measured */
    double nccl_us[8];     /**< and NCCL's */
    char text[384];        /**< the same as a sentence, with what is missing and why */
} gph_comm_info;

/** Fills it in; zeros for NULL. Thread: any. */
GPH_API void gph_comm_info_get(const gph_comm *comm, gph_comm_info *out);

/** NCCL's own handle, an ncclComm_t, for calls that libgph lacks; NULL without NCCL. For a
 *  graph that records such a call, call gph_comm_keep(). Lent until the communicator is
 *  freed. */
GPH_API void *gph_comm_nccl(const gph_comm *comm);
/** Keeps the communicator until the graph that is being captured in `stream` and all
 *  executables of it are destroyed. Fails with GPH_E_STATE (the stream is not captured) and
 *  what the driver returns. Thread: one at a time. */
GPH_API GPH_CHECKED gph_status gph_comm_keep(gph_comm *comm, CUstream stream,
                                             gph_error *error);

#ifdef __cplusplus
}
#endif
#endif
