/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Which CUDA driver a process uses, and its calls.
 *
 *  Nothing here needs NVIDIA's toolkit or conflicts with it: this header may be included
 *  before or after <cuda.h>. Programs that use it need no libcuda at link time.
 *  Tier: stable. */
#ifndef GPH_CUDA_H
#define GPH_CUDA_H

#include <gph/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Handles
 *  CUDA's own, declared as <cuda.h> does. */
/** @{ */
typedef struct CUctx_st *CUcontext;              /**< a context */
typedef struct CUmod_st *CUmodule;               /**< a module */
typedef struct CUfunc_st *CUfunction;            /**< a function of a module */
typedef struct CUlib_st *CUlibrary;              /**< a library */
typedef struct CUkern_st *CUkernel;              /**< a kernel of a library */
typedef struct CUstream_st *CUstream;            /**< a stream */
typedef struct CUevent_st *CUevent;              /**< an event */
typedef struct CUgraph_st *CUgraph;              /**< a graph */
typedef struct CUgraphNode_st *CUgraphNode;      /**< a node of a graph */
typedef struct CUgraphExec_st *CUgraphExec;      /**< an executable graph */
typedef struct CUmemPoolHandle_st *CUmemoryPool; /**< a memory pool */
typedef unsigned long long CUdeviceptr;          /**< an address on a device */
typedef int CUdevice;                            /**< a device */
/** @} */

/** A driver to choose. */
typedef enum gph_driver {
    GPH_DRIVER_DEFAULT = 0, /**< as the variable GPH_DRIVER says (auto, cuda, soft), else
                                 GPH_DRIVER_CUDA */
    GPH_DRIVER_AUTO = 1,    /**< NVIDIA's where it has a GPU, else softcuda */
    GPH_DRIVER_CUDA = 2,    /**< NVIDIA's, or fail */
    GPH_DRIVER_SOFT = 3     /**< softcuda, or fail */
} gph_driver;

/** An open driver. Any thread may use it. */
typedef struct gph_runtime gph_runtime;

/** What gph_open() is asked for. Start from GPH_OPTIONS_INIT; zero means the default. */
typedef struct gph_options {
    uint32_t size;   /**< sizeof(gph_options) */
    uint32_t driver; /**< a gph_driver; an option beats the variable */
    /** Copied. NULL means the C library's heap. */
    const gph_allocator *allocator;
    /** Copied. The path of softcuda's libcuda.so.1. NULL means the variable
     *  GPH_SOFTCUDA_PATH, else gph/soft/libcuda.so.1 next to libgph, else the one of the
     *  wheel graphophone-softcuda in the same site-packages; the last two must have
     *  libgph's version. */
    const char *softcuda_path;
} gph_options;
/** All defaults. */
#define GPH_OPTIONS_INIT GPH_SIZED(gph_options)

/** What a driver can do beyond CUDA 12.4. */
enum {
    GPH_FEATURE_LOGS = 1 << 0,        /**< a reason for each refused call (12.9) */
    GPH_FEATURE_NODE_PARAMS = 1 << 1, /**< cuGraphNodeGetParams (13.1) */
    GPH_FEATURE_SOFTCUDA = 1 << 2     /**< it is softcuda */
};

/** The driver in use. All text is lent until gph_close(). */
typedef struct gph_driver_info {
    uint32_t size;     /**< sizeof(gph_driver_info) */
    gph_driver driver; /**< GPH_DRIVER_CUDA or GPH_DRIVER_SOFT */
    int version;       /**< as cuDriverGetVersion: 12040 is CUDA 12.4 */
    uint32_t features; /**< GPH_FEATURE_ bits */
    const char *path;  /**< the file that was loaded */
    const char *why;   /**< why this one: "option", "GPH_DRIVER", "default", ... */
} gph_driver_info;

/** The calls of the driver that ordinary programs need: CUDA's name without `cu`, and
 *  CUDA's arguments. Enumerations are ints, results are gph_status: 0, or the CUresult.
 */
/* clang-format off */
#define GPH_CUDA_CALLS(X)                                                                \
    X(Init, (unsigned int flags))                                                        \
    X(DriverGetVersion, (int *version))                                                  \
    X(GetErrorName, (int result, const char **out))                                      \
    X(GetErrorString, (int result, const char **out))                                    \
    X(DeviceGetCount, (int *count))                                                      \
    X(DeviceGet, (CUdevice *device, int ordinal))                                        \
    X(DeviceGetName, (char *name, int bytes, CUdevice device))                           \
    X(DeviceGetAttribute, (int *value, int attribute, CUdevice device))                  \
    X(DeviceTotalMem, (size_t *bytes, CUdevice device))                                  \
    X(DevicePrimaryCtxRetain, (CUcontext *context, CUdevice device))                     \
    X(DevicePrimaryCtxRelease, (CUdevice device))                                        \
    X(CtxSetCurrent, (CUcontext context))                                                \
    X(CtxGetCurrent, (CUcontext *context))                                               \
    X(CtxGetDevice, (CUdevice *device))                                                  \
    X(CtxSynchronize, (void))                                                            \
    X(ModuleLoad, (CUmodule *module, const char *path))                                  \
    X(ModuleLoadData, (CUmodule *module, const void *image))                             \
    X(ModuleLoadDataEx, (CUmodule *module, const void *image, unsigned int count,        \
                         int *options, void **values))                                   \
    X(ModuleUnload, (CUmodule module))                                                   \
    X(ModuleGetFunction, (CUfunction *function, CUmodule module, const char *name))      \
    X(ModuleGetGlobal,                                                                   \
      (CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name))          \
    X(FuncGetAttribute, (int *value, int attribute, CUfunction function))                \
    X(FuncSetAttribute, (CUfunction function, int attribute, int value))                 \
    X(MemGetInfo, (size_t *free_bytes, size_t *total_bytes))                             \
    X(MemAlloc, (CUdeviceptr *address, size_t bytes))                                    \
    X(MemAllocManaged, (CUdeviceptr *address, size_t bytes, unsigned int flags))         \
    X(MemFree, (CUdeviceptr address))                                                    \
    X(MemAllocAsync, (CUdeviceptr *address, size_t bytes, CUstream stream))              \
    X(MemFreeAsync, (CUdeviceptr address, CUstream stream))                              \
    X(MemHostAlloc, (void **address, size_t bytes, unsigned int flags))                  \
    X(MemFreeHost, (void *address))                                                      \
    X(Memcpy, (CUdeviceptr dst, CUdeviceptr src, size_t bytes))                          \
    X(MemcpyHtoD, (CUdeviceptr dst, const void *src, size_t bytes))                      \
    X(MemcpyDtoH, (void *dst, CUdeviceptr src, size_t bytes))                            \
    X(MemcpyDtoD, (CUdeviceptr dst, CUdeviceptr src, size_t bytes))                      \
    X(MemcpyAsync, (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream))    \
    X(MemcpyHtoDAsync,                                                                   \
      (CUdeviceptr dst, const void *src, size_t bytes, CUstream stream))                 \
    X(MemcpyDtoHAsync, (void *dst, CUdeviceptr src, size_t bytes, CUstream stream))      \
    X(MemcpyDtoDAsync,                                                                   \
      (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream))                 \
    X(MemsetD8, (CUdeviceptr dst, unsigned char value, size_t count))                    \
    X(MemsetD32, (CUdeviceptr dst, unsigned int value, size_t count))                    \
    X(MemsetD8Async,                                                                     \
      (CUdeviceptr dst, unsigned char value, size_t count, CUstream stream))             \
    X(MemsetD32Async,                                                                    \
      (CUdeviceptr dst, unsigned int value, size_t count, CUstream stream))              \
    X(StreamCreate, (CUstream *stream, unsigned int flags))                              \
    X(StreamCreateWithPriority, (CUstream *stream, unsigned int flags, int priority))    \
    X(StreamDestroy, (CUstream stream))                                                  \
    X(StreamSynchronize, (CUstream stream))                                              \
    X(StreamQuery, (CUstream stream))                                                    \
    X(StreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags))             \
    X(StreamIsCapturing, (CUstream stream, int *status))                                 \
    X(EventCreate, (CUevent *event, unsigned int flags))                                 \
    X(EventDestroy, (CUevent event))                                                     \
    X(EventRecord, (CUevent event, CUstream stream))                                     \
    X(EventSynchronize, (CUevent event))                                                 \
    X(EventQuery, (CUevent event))                                                       \
    X(EventElapsedTime, (float *milliseconds, CUevent start, CUevent end))               \
    X(LaunchKernel, (CUfunction function, unsigned int grid_x, unsigned int grid_y,      \
                     unsigned int grid_z, unsigned int block_x, unsigned int block_y,    \
                     unsigned int block_z, unsigned int shared_bytes, CUstream stream,   \
                     void **params, void **extra))                                       \
    X(LaunchCooperativeKernel,                                                           \
      (CUfunction function, unsigned int grid_x, unsigned int grid_y,                    \
       unsigned int grid_z, unsigned int block_x, unsigned int block_y,                  \
       unsigned int block_z, unsigned int shared_bytes, CUstream stream, void **params)) \
    X(LaunchHostFunc, (CUstream stream, void (*function)(void *), void *user))           \
    X(GraphCreate, (CUgraph *graph, unsigned int flags))                                 \
    X(GraphDestroy, (CUgraph graph))                                                     \
    X(GraphGetNodes, (CUgraph graph, CUgraphNode *nodes, size_t *count))                 \
    X(GraphInstantiateWithFlags,                                                         \
      (CUgraphExec *exec, CUgraph graph, unsigned long long flags))                      \
    X(GraphLaunch, (CUgraphExec exec, CUstream stream))                                  \
    X(GraphExecDestroy, (CUgraphExec exec))
/* clang-format on */

/** The driver's calls, ready to use: `const gph_cuda_calls *cu = gph_cuda(runtime);
 *  cu->MemAlloc(&address, bytes);`. No entry is NULL: a call that the driver lacks
 *  returns CUDA_ERROR_NOT_SUPPORTED. New ones are appended. Lent: grows at the end. */
typedef struct gph_cuda_calls {
#define X(name, arguments) gph_status(*name) arguments; /**< CUDA's cu<name> */
    GPH_CUDA_CALLS(X)
#undef X
} gph_cuda_calls;

/** Any entry point of the driver; cast it to its own type before the call. */
typedef void (*gph_cuda_fn)(void);

/** Opens the driver and initializes it (cuInit). No context is made: the library works in
 *  the caller's, which may be the primary context that the runtime API uses.
 *
 *  options  borrowed for the call; NULL means all defaults.
 *  out      owned by the caller on success: gph_close(). Untouched on failure.
 *  error    may be NULL.
 *
 *  A process uses one driver: while any runtime is open, others must be opened for the
 *  same driver. Fails with GPH_E_INVALID (unknown driver), GPH_E_UNSUPPORTED (no such
 *  driver here, or one older than CUDA 12.0), GPH_E_STATE (the process uses another
 *  driver), GPH_E_NO_MEMORY, and what cuInit returns. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_open(const gph_options *options, gph_runtime **out,
                                        gph_error *error);

/** Closes it. What was made with it must be destroyed, and its captures ended, before. NULL is allowed.
 *  The driver itself stays loaded, since it may run threads of its own. While a capture
 *  of another runtime is open, closing is deferred until that capture ends, and comes
 *  after what was deferred before. Thread: one at a time. */
GPH_API void gph_close(gph_runtime *runtime);

/** Says which driver is in use.
 *
 *  runtime  borrowed; NULL gives all zeros.
 *  out      the caller's, filled in; its text is lent until gph_close().
 *
 *  Thread: any. */
GPH_API void gph_driver_info_get(const gph_runtime *runtime, gph_driver_info *out);

/** The driver's calls. Lent until gph_close(); NULL for NULL. Thread: any. */
GPH_API const gph_cuda_calls *gph_cuda(const gph_runtime *runtime);

/** Finds an entry point of the driver that gph_cuda_calls lacks, in the version that CUDA
 *  13.0's <cuda.h> declares.
 *
 *  name  borrowed for the call: CUDA's name, such as "cuGraphAddKernelNode".
 *  out   a pointer lent for the life of the process. Untouched on failure.
 *
 *  Fails with GPH_E_UNSUPPORTED if the driver has no such call. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_cuda_find(const gph_runtime *runtime, const char *name,
                                             gph_cuda_fn *out, gph_error *error);

/** A function that gph_defer() runs later. */
typedef void gph_defer_fn(void *user);

/** Runs a function that must not run while a stream is captured (one that destroys an
 *  executable, a module, memory): immediately if no capture that libgph began in this process
 *  is open, else when the last one ends, on the thread that ends it.
 *
 *  runtime  borrowed until `run` has been called.
 *  run      called once, with no lock held, after everything that was deferred before. It
 *           may defer more; it must neither begin a capture nor wait for a thread that
 *           does, since captures begin only when no such function runs.
 *  user     borrowed until then.
 *  error    may be NULL.
 *
 *  What libgph destroys itself is deferred in the same way. Fails with
 *  GPH_E_INVALID (NULL) and GPH_E_NO_MEMORY; `run` is then not called. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_defer(gph_runtime *runtime, gph_defer_fn *run,
                                         void *user, gph_error *error);

/** Turns the result of a driver call into a filled-in error, so that a program reports
 *  all failures in one way: `if ((status = gph_cuda_check(cu->MemAlloc(&p, n),
 *  "cuMemAlloc", &error)))`.
 *
 *  call  borrowed until `error` is last read: a string literal with the call's name.
 *
 *  Returns `status`. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_cuda_check(gph_status status, const char *call,
                                              gph_error *error);

#ifdef __cplusplus
}
#endif
#endif
