// SPDX-License-Identifier: Apache-2.0
/* One piece of device work, checked and ready: what a launch, copy, fill or host function
 * comes to, whether it then goes to a stream, into a capture or into a graph by hand.
 *
 *   api/cu_launch.c, memory.c --+                          +--> engine queue of the
 * stream
 *                            +--> soft_task --> stream -+
 *   api/graph.c (node params) --> soft_task --> node    +--> node of the capturing graph
 *
 * device/task.c makes them from CUDA's structs and checks every argument; who keeps one
 * copies `params` and retains the function's module. */
#ifndef SOFT_DEVICE_TASK_H
#define SOFT_DEVICE_TASK_H
#include "softcuda/device/context.h"
#include "softcuda/device/module.h"
#include "softcuda/engine/engine.h"

#define SOFT_PARAM_BYTES_MAX 32764 /* kernel parameters, sm_70 and later */

typedef enum soft_task_kind {
    SOFT_TASK_KERNEL,
    SOFT_TASK_COPY,
    SOFT_TASK_FILL,
    SOFT_TASK_HOST,  /* the program's function, on the callback thread */
    SOFT_TASK_BATCH, /* memory operations: device/memop.h */
    SOFT_TASK_CALL,  /* ours, on a worker, in stream order: frees, notifications */
    SOFT_TASK_BRANCH /* a conditional node of a graph: which of its bodies run */
} soft_task_kind;

typedef struct soft_launch {
    soft_function *function;
    uint32_t grid[3], block[3];
    uint32_t shared_bytes; /* dynamic */
    uint32_t param_bytes;
    const void *params; /* packed in the kernel's layout; borrowed */
    bool cooperative;
    int priority;
    /* Programmatic dependent launch: orders a capture's edges (R102). A launch itself
     * waits for all that is before it, as it always may. */
    bool programmatic; /* may begin before what precedes it in the stream is done */
    uint16_t first_processor, processors; /* of a green context; 0 of them: all */
    struct soft_event *trigger;           /* recorded by the kernel, or NULL; borrowed */
    int trigger_flags;
    bool has_priority;    /* given with the launch, not its stream's */
    bool updatable;       /* by kernels: of a capture alone (R78) */
    bool misconfigured;   /* refused for its grid, block or shared memory */
    uint8_t trigger_port; /* CU_GRAPH_KERNEL_NODE_PORT_*: when it counts as reached */
    uint8_t trigger_type; /* CU_GRAPH_DEPENDENCY_TYPE_* of edges from there */
    uint16_t cluster[3];  /* as the launch or its node names it; zeros: it does not */
} soft_launch;

/* width bytes x height rows x depth planes. Addresses are of the first byte. */
typedef struct soft_copy {
    uint64_t dst, src;
    size_t dst_pitch, src_pitch; /* bytes from row to row */
    size_t dst_slice, src_slice; /* bytes from plane to plane */
    size_t width, height, depth;
    CUmemorytype dst_type, src_type; /* as declared by the caller */
    bool dst_pageable, src_pageable; /* ordinary host memory, not known to the driver */
} soft_copy;

/* width elements x height rows of `value`, `element` = 1, 2 or 4 bytes each. */
typedef struct soft_fill {
    uint64_t dst;
    size_t pitch;
    size_t width, height;
    uint32_t value;
    uint32_t element;
} soft_fill;

typedef struct soft_batch {
    const CUstreamBatchMemOpParams *ops; /* borrowed */
    uint32_t count;
    CUgraphNodeType type; /* of the node that a capture makes of it */
} soft_batch;

/* A conditional node (R81, R84, R85). */
typedef struct soft_conditional {
    uint32_t handle; /* 1 for the first of the graph */
    uint32_t type;   /* CUgraphConditionalNodeType */
    uint32_t size;   /* bodies */
    uint32_t initial;
    bool assigns; /* `initial`, when a launch begins */
} soft_conditional;

typedef struct soft_task {
    soft_task_kind kind;
    bool names_idle; /* COPY, FILL: memory of a graph that is not allocated now */
    union {
        soft_launch launch;
        soft_copy copy;
        soft_fill fill;
        soft_batch batch;
        soft_conditional conditional;
        struct {
            CUhostFn function;
            void *user;
            bool always; /* also if the context is in error: cuStreamAddCallback() */
        } host;
        struct {
            void (*function)(void *user);
            void *user;
        } call;
    } u;
} soft_task;

/* One end of a copy, as CUDA_MEMCPY3D has it; `x` in bytes, `height` rows of a plane. */
typedef struct soft_copy_end {
    CUmemorytype type;
    CUarray array;
    const void *host;
    CUdeviceptr device;
    size_t x, y, z, pitch, height, lod;
} soft_copy_end;
static inline soft_copy_end soft_copy_source(const CUDA_MEMCPY3D *c)
{
    return (soft_copy_end){c->srcMemoryType, c->srcArray, c->srcHost, c->srcDevice,
                           c->srcXInBytes,   c->srcY,     c->srcZ,    c->srcPitch,
                           c->srcHeight,     c->srcLOD};
}

static inline soft_copy_end soft_copy_target(const CUDA_MEMCPY3D *c)
{
    return (soft_copy_end){c->dstMemoryType, c->dstArray, c->dstHost, c->dstDevice,
                           c->dstXInBytes,   c->dstY,     c->dstZ,    c->dstPitch,
                           c->dstHeight,     c->dstLOD};
}

/* From CUDA's structs, every argument checked. `scratch` holds the packed parameters and
 * has SOFT_PARAM_BYTES_MAX bytes; it stays borrowed by `out`. Either `params` or `extra`
 * as in cuLaunchKernel(). `handle` may be a CUfunction or a CUkernel. */
CUresult soft_task_launch(soft_context *context, const CUlaunchConfig *config,
                          CUfunction handle, void *const *params, void *const *extra,
                          void *scratch, soft_task *out);
CUresult soft_task_copy(soft_context *context, const CUDA_MEMCPY3D *copy, soft_task *out);
CUresult soft_task_fill(soft_context *context, const CUDA_MEMSET_NODE_PARAMS *fill,
                        soft_task *out);
/* The same for a capture, which takes any destination and warns of a wrong one. */
CUresult soft_task_fill_captured(const CUDA_MEMSET_NODE_PARAMS *fill, soft_task *out);
/* Whether there is memory where it goes, now. */
CUresult soft_fill_check(const soft_fill *fill);

/* Does a copy or a fill, on the calling thread: the body of the node. False if there is
 * no memory (any more) at some address of it, *lost. */
bool soft_copy_run(const soft_copy *copy, uint64_t *lost);
bool soft_fill_run(const soft_fill *fill, uint64_t *lost);

/* device/record.c, in check mode: what one touches. */
struct soft_trace;
void soft_copy_note(struct soft_trace *trace, const soft_copy *copy);
void soft_fill_note(struct soft_trace *trace, const soft_fill *fill);

/* SOFTCUDA_CHECK=memory: a copy to pinned memory is queued; and runs, or never will. */
void soft_copy_closes(const soft_copy *copy);
void soft_copy_opens(const soft_copy *copy);

/* device/stream.c: puts a piece of work into the order of a stream (the handles 0, 1 and
 * 2 are the default streams; 0 is the per-thread one where per_thread is set), or into
 * its capture; copies what `task` borrows. Never waits for the work, except under
 * CUDA_LAUNCH_BLOCKING. `*captured` may be NULL. */
CUresult soft_stream_submit(soft_context *context, CUstream stream, bool per_thread,
                            const soft_task *task, bool *captured);

/* device/stream.c: waits until all that was submitted to a stream is done, and gives the
 * context's sticky error. */
CUresult soft_stream_wait(soft_context *context, CUstream stream, bool per_thread);

/* device/stream.c: waits for every stream of a context, or of a green one. */
CUresult soft_streams_wait(soft_context *context);
CUresult soft_streams_wait_seen(soft_current context);

/* device/stream.c: the streams of a fresh context; and their end, work done first. */
CUresult soft_streams_create(soft_context *context);
void soft_streams_destroy(soft_context *context);

/* device/stream.c: whether an open capture forbids the call for this stream; for calls
 * that check their other arguments before they look for the stream, since an H100 looks
 * at captures first. Costs nothing while nothing captures. */
CUresult soft_capture_check_stream(soft_context *context, CUstream stream,
                                   bool per_thread);

/* device/stream.c: a call that waits for a context asks whether a capture forbids it. */
CUresult soft_capture_check_context(soft_current context);

/* device/stream.c: a launch was refused with `code` that would have been captured by this
 * stream: its capture, if it has one, is invalid (C13). */
void soft_capture_refuse_launch(soft_context *context, CUstream stream, bool per_thread,
                                CUresult code);

/* device/stream.c: the engine's queue of a stream, for what belongs to its order by
 * more than a task: stream-ordered memory. `*capturing`: the stream captures. */
CUresult soft_stream_queue(soft_context *context, CUstream stream, bool per_thread,
                           soft_queue **out, bool *capturing);
#endif
