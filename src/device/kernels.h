// SPDX-License-Identifier: Apache-2.0
/* Small kernels of libgph's own, as PTX in the source: each text is loaded once into a
 * context and shared by all who use it there. */
#ifndef GPHI_DEVICE_KERNELS_H
#define GPHI_DEVICE_KERNELS_H
#include "cuda/runtime.h"

enum { GPHI_KERNELS_MAX = 8 };

/* A module of PTX. Static: known by its address. */
typedef struct gphi_kernel_text {
    const char *what; /* in messages, as in "loading the kernel that copies" */
    const char *ptx;
    const char *names[GPHI_KERNELS_MAX]; /* of its entries; NULL after the last */
} gphi_kernel_text;

/* texts.S: those of kernels/ that libgph needs, whoever uses them. */
extern const char gphi_loop_ptx[], gphi_loop_device_ptx[], gphi_dispatch_ptx[],
    gphi_ranks_ptx[];

/* Loaded into one context. Constant while somebody has it, so any thread reads it. */
typedef struct gphi_kernels {
    const gphi_kernel_text *text;
    gph_runtime *runtime;
    CUcontext context;
    unsigned long long context_id; /* a handle may be another context's later */
    CUdevice device;
    CUmodule module;
    CUfunction functions[GPHI_KERNELS_MAX]; /* in the order of the names */
    unsigned users;
    struct gphi_kernels *next;
    gphi_deferred destroying; /* of gphi_kernels_release() */
} gphi_kernels;

/* Those of the current context. Captures are not disturbed, this thread's neither (it is
 * relaxed meanwhile, R96), and the kernels are loaded when it returns, not when they are
 * launched first. Fails with GPH_E_NO_MEMORY and what loading returns. Thread: any. */
gph_status gphi_kernels_retain(gph_runtime *runtime, const gphi_kernel_text *text,
                               gphi_kernels **out, gph_error *error);

/* The text that a module was loaded from; NULL: it is another's. Thread: any. */
const gphi_kernel_text *gphi_kernels_text(const gph_runtime *runtime, CUmodule module);

/* Work that uses them must have ended, graphs with them be gone. While captures are open
 * the module stays. NULL is allowed. */
void gphi_kernels_release(gphi_kernels *kernels);
/* Writes device memory before any work that is launched afterwards, in whatever stream:
 * cuMemcpyHtoD() alone returns when it has read the host's memory. */
CUresult gphi_put_words(const gphi_cuda_table *cu, CUdeviceptr to, const void *from,
                        size_t bytes);
#endif
