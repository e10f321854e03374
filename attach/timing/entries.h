// SPDX-License-Identifier: Apache-2.0
/* The driver's own entries that timing uses, and what its files share. */
#ifndef GPHI_ATTACH_TIMING_CALLS_H
#define GPHI_ATTACH_TIMING_CALLS_H
#include "attach/timing/timing.h"
#include "cuda/prototypes.h"

#define GPHI_TIMING_CALLS(X)                                                             \
    X(ctx_current, cuCtxGetCurrent)                                                      \
    X(module_load, cuModuleLoadData)                                                     \
    X(module_unload, cuModuleUnload)                                                     \
    X(function, cuModuleGetFunction)                                                     \
    X(alloc, cuMemAlloc_v2)                                                              \
    X(free, cuMemFree_v2)                                                                \
    X(host_alloc, cuMemHostAlloc)                                                        \
    X(host_free, cuMemFreeHost)                                                          \
    X(device_pointer, cuMemHostGetDevicePointer_v2)                                      \
    X(attribute, cuPointerGetAttribute)                                                  \
    X(stream_create, cuStreamCreate)                                                     \
    X(stream_destroy, cuStreamDestroy_v2)                                                \
    X(stream_wait, cuStreamSynchronize)                                                  \
    X(wait_value, cuStreamWaitValue32_v2)                                                \
    X(event_create, cuEventCreate)                                                       \
    X(event_destroy, cuEventDestroy_v2)                                                  \
    X(event_record, cuEventRecord)                                                       \
    X(event_elapsed, cuEventElapsedTime)                                                 \
    X(stream_wait_event, cuStreamWaitEvent)                                              \
    X(event_query, cuEventQuery)                                                         \
    X(stream_query, cuStreamQuery)                                                       \
    X(ctx_push, cuCtxPushCurrent_v2)                                                     \
    X(ctx_pop, cuCtxPopCurrent_v2)                                                       \
    X(fill, cuMemsetD8Async)                                                             \
    X(fill_16, cuMemsetD16Async)                                                         \
    X(fill_32, cuMemsetD32Async)                                                         \
    X(copy_3d, cuMemcpy3DAsync_v2)                                                       \
    X(launch_ex, cuLaunchKernelEx)                                                       \
    X(launch, cuLaunchKernel)                                                            \
    X(capture_begin, cuStreamBeginCapture_v2)                                            \
    X(capture_end, cuStreamEndCapture)                                                   \
    X(graph_create, cuGraphCreate)                                                       \
    X(add_kernel, cuGraphAddKernelNode_v2)                                               \
    X(add_fill, cuGraphAddMemsetNode)                                                    \
    X(add_copy, cuGraphAddMemcpyNode)                                                    \
    X(node_attribute, cuGraphKernelNodeSetAttribute)                                     \
    X(kernel_params, cuGraphKernelNodeGetParams_v2)                                      \
    X(fill_params, cuGraphMemsetNodeGetParams)                                           \
    X(copy_params, cuGraphMemcpyNodeGetParams)                                           \
    X(node_destroy, cuGraphDestroyNode)                                                  \
    X(graph_destroy, cuGraphDestroy)                                                     \
    X(instantiate, cuGraphInstantiateWithFlags)                                          \
    X(exec_update, cuGraphExecUpdate_v2)                                                 \
    X(upload, cuGraphUpload)                                                             \
    X(graph_launch, cuGraphLaunch)                                                       \
    X(exec_set_kernel, cuGraphExecKernelNodeSetParams_v2)                                \
    X(exec_destroy, cuGraphExecDestroy)

typedef struct gphi_timing_calls {
#define X(name, symbol) __typeof__(symbol) *name;
    GPHI_TIMING_CALLS(X)
#undef X
} gphi_timing_calls;

/* A word of host memory that streams wait for, and where they see it. It only grows. */
typedef struct gphi_timing_gate {
    _Atomic uint32_t *word;
    CUdeviceptr at;
    uint32_t next;
} gphi_timing_gate;

/* The first call that failed. */
typedef struct gphi_timing_failure {
    CUresult result;
    const char *call; /* its name in GPHI_TIMING_CALLS; NULL: none failed */
} gphi_timing_failure;

/* Measures this machine, in the current context, with streams, a module and memory of its
 * own, all given back: picoseconds, as gphi_anchor says. */
gphi_timing_failure gphi_timing_anchors(const gphi_timing_calls *cu,
                                        gphi_timing_gate *gate,
                                        uint64_t out[GPHI_ANCHOR_COUNT]);
#endif
