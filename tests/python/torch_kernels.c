// SPDX-License-Identifier: Apache-2.0
/* PyTorch's wheel has machine code alone, which softcuda cannot run. Preloaded ahead of softcuda's
 * runtime, this lets kernels that are not there do nothing, so that PyTorch's streams, allocators, copies and
 * captures can be tested where there is no GPU. Values that kernels would have made are not there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

enum { INVALID_FUNCTION = 98, NO_IMAGE = 209 };

typedef struct dim {
    unsigned x, y, z;
} dim;

static char absent; /* the handle of a kernel that is not there */

/* The runtime's own function, which comes after this library. */
static uintptr_t next(const char *name)
{
    return (uintptr_t)dlsym(RTLD_NEXT, name);
}

static int forgive(int result)
{
    if (result != INVALID_FUNCTION && result != NO_IMAGE)
        return result;
    int (*forget)(void) = (int (*)(void))next("cudaGetLastError");
    (void)forget();
    return 0;
}

int __cudaGetKernel(void **kernel, const void *function);
int __cudaGetKernel(void **kernel, const void *function)
{
    int (*get)(void **, const void *) =
        (int (*)(void **, const void *))next("__cudaGetKernel");
    const int result = get(kernel, function);
    if (result == INVALID_FUNCTION || result == NO_IMAGE)
        *kernel = &absent;
    return forgive(result);
}

int __cudaLaunchKernel(void *kernel, dim grid, dim block, void **arguments,
                       size_t shared_bytes, void *stream);
int __cudaLaunchKernel(void *kernel, dim grid, dim block, void **arguments,
                       size_t shared_bytes, void *stream)
{
    int (*launch)(void *, dim, dim, void **, size_t, void *) =
        (int (*)(void *, dim, dim, void **, size_t, void *))next("__cudaLaunchKernel");
    if (kernel == &absent)
        return 0;
    return forgive(launch(kernel, grid, block, arguments, shared_bytes, stream));
}

int cudaLaunchKernelExC(const void *config, const void *function, void **arguments);
int cudaLaunchKernelExC(const void *config, const void *function, void **arguments)
{
    int (*launch)(const void *, const void *, void **) =
        (int (*)(const void *, const void *, void **))next("cudaLaunchKernelExC");
    return forgive(launch(config, function, arguments));
}
