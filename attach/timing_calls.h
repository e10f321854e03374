// SPDX-License-Identifier: Apache-2.0
/* The driver's own entries that timing uses, and what its two files share. */
#ifndef GPHI_ATTACH_TIMING_CALLS_H
#define GPHI_ATTACH_TIMING_CALLS_H
#include "attach/timing.h"

#define GPHI_TIMING_CALLS(X)                                                             \
    X(ctx_current, "cuCtxGetCurrent", (CUcontext *))                                     \
    X(module_load, "cuModuleLoadData", (CUmodule *, const void *))                       \
    X(module_unload, "cuModuleUnload", (CUmodule))                                       \
    X(function, "cuModuleGetFunction", (CUfunction *, CUmodule, const char *))           \
    X(alloc, "cuMemAlloc_v2", (CUdeviceptr *, size_t))                                   \
    X(free, "cuMemFree_v2", (CUdeviceptr))                                               \
    X(host_alloc, "cuMemHostAlloc", (void **, size_t, unsigned))                         \
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
    X(fill, "cuMemsetD8Async", (CUdeviceptr, unsigned char, size_t, CUstream))           \
    X(launch, "cuLaunchKernel",                                                          \
      (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
       CUstream, void **, void **))                                                      \
    X(capture_begin, "cuStreamBeginCapture_v2", (CUstream, CUstreamCaptureMode))         \
    X(capture_end, "cuStreamEndCapture", (CUstream, CUgraph *))                          \
    X(graph_destroy, "cuGraphDestroy", (CUgraph))                                        \
    X(instantiate, "cuGraphInstantiateWithFlags",                                        \
      (CUgraphExec *, CUgraph, unsigned long long))                                      \
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

/* Measures this machine, in the current context, with streams, a module and memory of its
 * own, all given back: picoseconds, as gphi_anchor says. Returns whether all went well.
 */
bool gphi_timing_anchors(const gphi_timing_calls *cu, gphi_timing_gate *gate,
                         uint64_t out[GPHI_ANCHOR_COUNT]);
#endif
