// SPDX-License-Identifier: Apache-2.0
/* The driver's own entries that timing uses, and what its files share. */
#ifndef GPHI_ATTACH_TIMING_CALLS_H
#define GPHI_ATTACH_TIMING_CALLS_H
#include "attach/timing/timing.h"

#define GPHI_TIMING_CALLS(X)                                                             \
    X(ctx_current, "cuCtxGetCurrent", (CUcontext *))                                     \
    X(module_load, "cuModuleLoadData", (CUmodule *, const void *))                       \
    X(module_unload, "cuModuleUnload", (CUmodule))                                       \
    X(function, "cuModuleGetFunction", (CUfunction *, CUmodule, const char *))           \
    X(alloc, "cuMemAlloc_v2", (CUdeviceptr *, size_t))                                   \
    X(free, "cuMemFree_v2", (CUdeviceptr))                                               \
    X(host_alloc, "cuMemHostAlloc", (void **, size_t, unsigned))                         \
    X(host_free, "cuMemFreeHost", (void *))                                              \
    X(device_pointer, "cuMemHostGetDevicePointer_v2", (CUdeviceptr *, void *, unsigned)) \
    X(attribute, "cuPointerGetAttribute", (void *, CUpointer_attribute, CUdeviceptr))    \
    X(stream_create, "cuStreamCreate", (CUstream *, unsigned))                           \
    X(stream_destroy, "cuStreamDestroy_v2", (CUstream))                                  \
    X(stream_wait, "cuStreamSynchronize", (CUstream))                                    \
    X(wait_value, "cuStreamWaitValue32_v2",                                              \
      (CUstream, CUdeviceptr, cuuint32_t, unsigned))                                     \
    X(event_create, "cuEventCreate", (CUevent *, unsigned))                              \
    X(event_destroy, "cuEventDestroy_v2", (CUevent))                                     \
    X(event_record, "cuEventRecord", (CUevent, CUstream))                                \
    X(event_elapsed, "cuEventElapsedTime", (float *, CUevent, CUevent))                  \
    X(stream_wait_event, "cuStreamWaitEvent", (CUstream, CUevent, unsigned))             \
    X(event_query, "cuEventQuery", (CUevent))                                            \
    X(stream_query, "cuStreamQuery", (CUstream))                                         \
    X(ctx_push, "cuCtxPushCurrent_v2", (CUcontext))                                      \
    X(ctx_pop, "cuCtxPopCurrent_v2", (CUcontext *))                                      \
    X(fill, "cuMemsetD8Async", (CUdeviceptr, unsigned char, size_t, CUstream))           \
    X(fill_16, "cuMemsetD16Async", (CUdeviceptr, unsigned short, size_t, CUstream))      \
    X(fill_32, "cuMemsetD32Async", (CUdeviceptr, unsigned, size_t, CUstream))            \
    X(copy_3d, "cuMemcpy3DAsync_v2", (const CUDA_MEMCPY3D *, CUstream))                  \
    X(launch_ex, "cuLaunchKernelEx",                                                     \
      (const CUlaunchConfig *, CUfunction, void **, void **))                            \
    X(launch, "cuLaunchKernel",                                                          \
      (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
       CUstream, void **, void **))                                                      \
    X(capture_begin, "cuStreamBeginCapture_v2", (CUstream, CUstreamCaptureMode))         \
    X(capture_end, "cuStreamEndCapture", (CUstream, CUgraph *))                          \
    X(graph_create, "cuGraphCreate", (CUgraph *, unsigned))                              \
    X(add_kernel, "cuGraphAddKernelNode_v2",                                             \
      (CUgraphNode *, CUgraph, const CUgraphNode *, size_t,                              \
       const CUDA_KERNEL_NODE_PARAMS *))                                                 \
    X(add_fill, "cuGraphAddMemsetNode",                                                  \
      (CUgraphNode *, CUgraph, const CUgraphNode *, size_t,                              \
       const CUDA_MEMSET_NODE_PARAMS *, CUcontext))                                      \
    X(add_copy, "cuGraphAddMemcpyNode",                                                  \
      (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMCPY3D *,       \
       CUcontext))                                                                       \
    X(node_attribute, "cuGraphKernelNodeSetAttribute",                                   \
      (CUgraphNode, CUkernelNodeAttrID, const CUkernelNodeAttrValue *))                  \
    X(kernel_params, "cuGraphKernelNodeGetParams_v2",                                    \
      (CUgraphNode, CUDA_KERNEL_NODE_PARAMS *))                                          \
    X(fill_params, "cuGraphMemsetNodeGetParams",                                         \
      (CUgraphNode, CUDA_MEMSET_NODE_PARAMS *))                                          \
    X(copy_params, "cuGraphMemcpyNodeGetParams", (CUgraphNode, CUDA_MEMCPY3D *))         \
    X(node_destroy, "cuGraphDestroyNode", (CUgraphNode))                                 \
    X(graph_destroy, "cuGraphDestroy", (CUgraph))                                        \
    X(instantiate, "cuGraphInstantiateWithFlags",                                        \
      (CUgraphExec *, CUgraph, unsigned long long))                                      \
    X(exec_update, "cuGraphExecUpdate_v2",                                               \
      (CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo *))                             \
    X(upload, "cuGraphUpload", (CUgraphExec, CUstream))                                  \
    X(graph_launch, "cuGraphLaunch", (CUgraphExec, CUstream))                            \
    X(exec_destroy, "cuGraphExecDestroy", (CUgraphExec))

typedef struct gphi_timing_calls {
#define X(name, symbol, arguments) CUresult(CUDAAPI *name) arguments;
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
