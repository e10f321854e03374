// SPDX-License-Identifier: Apache-2.0
/* Between the attached library and its driver: one call fails. (The heap: faulty_heap.c)
 *
 *   program ── libgph-attach ── cuInit, cuGetProcAddress here ── the driver
 *
 * The library binds to who has cuInit, finds the driver's other entries through it, and
 * asks cuGetProcAddress for what sentinels need: that gets wrappers. What the program
 * itself calls goes past. */
#define _GNU_SOURCE
#include "faulty.h"
#include "cuda/prototypes.h"
#include "cuda/table.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define OURS __attribute__((visibility("default")))

static atomic_long added;

OURS long faulty_added(void);

long faulty_added(void)
{
    return atomic_load(&added);
}

/* Nobody can help the failure of what gives back. */
static bool fails_call(const char *name)
{
    if (strcmp(name, "cuGraphAddMemsetNode") == 0)
        atomic_fetch_add(&added, 1);
    return strstr(name, "Destroy") == NULL && faulty_now();
}

#define DECLARED(type)                                                                   \
    type a, type b, type c, type d, type e, type f, type g, type h, type i, type j,      \
        type k, type l
#define PASSED a, b, c, d, e, f, g, h, i, j, k, l
typedef CUresult any_fn(DECLARED(uint64_t));

#define X(call, version, arguments)                                                      \
    static any_fn *below_##call;                                                         \
    static CUresult wrap_##call(DECLARED(uint64_t))                                      \
    {                                                                                    \
        return fails_call(#call) ? CUDA_ERROR_OUT_OF_MEMORY : below_##call(PASSED);      \
    }
GPHI_CUDA_CALLS(X)
#undef X

#define NEXT(call)                                                                       \
    __typeof__(call) *real = NULL;                                                       \
    *(void **)&real = dlsym(RTLD_NEXT, #call);                                           \
    if (real == NULL)                                                                    \
    return CUDA_ERROR_NOT_INITIALIZED

OURS CUresult CUDAAPI cuInit(unsigned flags)
{
    NEXT(cuInit);
    return real(flags);
}

OURS CUresult CUDAAPI cuGetProcAddress_v2(const char *name, void **out, int version,
                                          cuuint64_t flags,
                                          CUdriverProcAddressQueryResult *found)
{
    NEXT(cuGetProcAddress_v2);
    const CUresult result = real(name, out, version, flags, found);
    if (result != CUDA_SUCCESS || *out == NULL)
        return result;
#define X(call, since, arguments)                                                        \
    if (strcmp(name, #call) == 0) {                                                      \
        any_fn *mine = wrap_##call;                                                      \
        memcpy(&below_##call, out, sizeof(*out));                                        \
        memcpy(out, &mine, sizeof(*out));                                                \
    }
    GPHI_CUDA_CALLS(X)
#undef X
    return result;
}
