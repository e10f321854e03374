// SPDX-License-Identifier: Apache-2.0
/* softcuda with a shim over it, which counts what lives and fails the n-th call.
 *
 *   libgph ── shim ── softcuda */
#ifndef RECIPE_SHIM_H
#define RECIPE_SHIM_H
#include "cuda/runtime.h"
#include "test.h"

static struct {
    long fail_at;       /* calls left before the failing one; negative: none fails */
    const char *failed; /* the last that did */
    int live_graphs, live_execs, live_modules;
    int live_others; /* memory, addresses, events, streams */
} shim = {.fail_at = -1};

static gphi_cuda_table soft; /* the driver below */

/* Every call as one of integers, which all arguments of the calls here are; those that a
 * call does not have are never looked at. */
typedef CUresult any_fn(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                        uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

static const struct {
    const char *name;
    int *count;
    int change;
} counted[] = {
    {"cuGraphCreate", &shim.live_graphs, 1},
    {"cuStreamEndCapture", &shim.live_graphs, 1},
    {"cuGraphClone", &shim.live_graphs, 1},
    {"cuGraphDestroy", &shim.live_graphs, -1},
    {"cuGraphInstantiateWithParams", &shim.live_execs, 1},
    {"cuGraphExecDestroy", &shim.live_execs, -1},
    {"cuModuleLoadData", &shim.live_modules, 1},
    {"cuModuleUnload", &shim.live_modules, -1},
    {"cuMemAlloc", &shim.live_others, 1},
    {"cuMemFree", &shim.live_others, -1},
    {"cuMemCreate", &shim.live_others, 1},
    {"cuMemRelease", &shim.live_others, -1},
    {"cuMemAddressReserve", &shim.live_others, 1},
    {"cuMemAddressFree", &shim.live_others, -1},
    {"cuEventCreate", &shim.live_others, 1},
    {"cuEventDestroy", &shim.live_others, -1},
    {"cuStreamCreate", &shim.live_others, 1},
    {"cuStreamDestroy", &shim.live_others, -1},
};

static bool is_destroyer(const char *name)
{
    static const char *const words[] = {"Destroy", "Unload", "Unmap", "Release",
                                        "AddressFree"};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strstr(name, words[i]) != NULL)
            return true;
    return false;
}

static bool fails(const char *name)
{
    const bool is_it = !is_destroyer(name) && shim.fail_at >= 0 && shim.fail_at-- == 0;
    shim.failed = is_it ? name : shim.failed;
    return is_it;
}

static void count_call(const char *name)
{
    for (size_t i = 0; i < sizeof(counted) / sizeof(*counted); i++)
        if (strcmp(counted[i].name, name) == 0)
            *counted[i].count += counted[i].change;
}

#define X(call, version, arguments)                                                      \
    static CUresult shim_##call(uint64_t a, uint64_t b, uint64_t c, uint64_t d,          \
                                uint64_t e, uint64_t f, uint64_t g, uint64_t h,          \
                                uint64_t i, uint64_t j, uint64_t k, uint64_t l)          \
    {                                                                                    \
        if (fails(#call))                                                                \
            return CUDA_ERROR_UNKNOWN;                                                   \
        const CUresult result =                                                          \
            ((any_fn *)(gph_cuda_fn)soft.call)(a, b, c, d, e, f, g, h, i, j, k, l);      \
        if (result == CUDA_SUCCESS)                                                      \
            count_call(#call);                                                           \
        return result;                                                                   \
    }
GPHI_CUDA_CALLS(X)
#undef X

static const gphi_cuda_source *soft_source;

static gph_cuda_fn find(void *user, const char *name, int version)
{
    (void)user;
    if (soft_source->find(soft_source->user, name, version) == NULL)
        return NULL;
#define X(call, since, arguments)                                                        \
    if (strcmp(name, #call) == 0 && strncmp(name, "cuLogs", 6) != 0)                     \
        return (gph_cuda_fn)shim_##call;
    GPHI_CUDA_CALLS(X)
#undef X
    return soft_source->find(soft_source->user, name, version);
}

static gphi_cuda_source source; /* the shim as one */

/* Calls that some floor below asks for what it can do without: names for drawings, the
 * memory of executables. All others end what called them. */
static bool is_mere_information(const char *name)
{
    static const char *const names[] = {
        "cuThreadExchangeStreamCaptureMode", "cuFuncGetName",      "cuMemGetInfo",
        "cuGraphKernelNodeGetAttribute",     "cuFuncGetParamInfo", "cuCtxGetDevice"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static inline void put_shim_over(const gphi_driver *driver)
{
    soft_source = gphi_driver_source(driver);
    gphi_cuda_table_fill(&soft, soft_source);
    source = *soft_source;
    source.find = find;
}
#endif
