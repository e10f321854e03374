// SPDX-License-Identifier: Apache-2.0
/* Between the attached library and its driver, and between it and the heap: one call or
 * one allocation fails.
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
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define OURS __attribute__((visibility("default")))

static atomic_long left = -1, live, added;

OURS long faulty_fail(long nth);
OURS long faulty_live(void);
OURS long faulty_added(void);

long faulty_fail(long nth)
{
    return atomic_exchange(&left, nth);
}

long faulty_live(void)
{
    return atomic_load(&live);
}

long faulty_added(void)
{
    return atomic_load(&added);
}

static bool fails_now(void)
{
    return atomic_load(&left) >= 0 && atomic_fetch_sub(&left, 1) == 0;
}

/* ---- the driver ---- */

/* Nobody can help the failure of what gives back. */
static bool fails_call(const char *name)
{
    if (strcmp(name, "cuGraphAddMemsetNode") == 0)
        atomic_fetch_add(&added, 1);
    return strstr(name, "Destroy") == NULL && fails_now();
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

/* ---- the heap ---- */

#ifndef FAULTY_HAS_HEAP /* a sanitizer has its own */
#else
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
static uintptr_t from, to; /* the library's code */

static int note_range(struct dl_phdr_info *info, size_t bytes, void *user)
{
    (void)bytes, (void)user;
    if (strstr(info->dlpi_name, "libgph-attach") == NULL)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_LOAD && (header->p_flags & PF_X) != 0) {
            from = info->dlpi_addr + header->p_vaddr;
            to = from + header->p_memsz;
        }
    }
    return 1;
}

__attribute__((constructor)) static void find_library(void)
{
    dl_iterate_phdr(note_range, NULL);
}

static bool is_library(const void *caller)
{
    return (uintptr_t)caller >= from && (uintptr_t)caller < to;
}

OURS void *realloc(void *old, size_t bytes)
{
    const bool is_counted = is_library(__builtin_return_address(0));
    if (is_counted && fails_now())
        return NULL;
    void *fresh = __libc_realloc(old, bytes);
    if (is_counted && old == NULL && fresh != NULL)
        atomic_fetch_add(&live, 1);
    return fresh;
}

OURS void free(void *old)
{
    if (old != NULL && is_library(__builtin_return_address(0)))
        atomic_fetch_sub(&live, 1);
    __libc_free(old);
}
#endif
