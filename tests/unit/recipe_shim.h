// SPDX-License-Identifier: Apache-2.0
/* What recipes make and give back, and which calls they can do without. Every call of the
 * driver goes through the shim. */
#ifndef RECIPE_SHIM_H
#define RECIPE_SHIM_H
#include "shim.h"
#include "test.h"

static struct {
    atomic_int graphs, execs, modules;
    atomic_int others; /* memory, addresses, events, streams */
} live;

static const struct shim_rule rules[] = {
    SHIM_GIVE(cuGraphCreate, live.graphs, 1),
    SHIM_GIVE(cuStreamEndCapture, live.graphs, 1),
    SHIM_GIVE(cuGraphClone, live.graphs, 1),
    SHIM_GIVE(cuGraphDestroy, live.graphs, -1),
    SHIM_GIVE(cuGraphInstantiateWithParams, live.execs, 1),
    SHIM_GIVE(cuGraphExecDestroy, live.execs, -1),
    SHIM_GIVE(cuModuleLoadData, live.modules, 1),
    SHIM_GIVE(cuModuleUnload, live.modules, -1),
    SHIM_GIVE(cuMemAlloc, live.others, 1),
    SHIM_GIVE(cuMemFree, live.others, -1),
    SHIM_GIVE(cuMemCreate, live.others, 1),
    SHIM_GIVE(cuMemRelease, live.others, -1),
    SHIM_GIVE(cuMemAddressReserve, live.others, 1),
    SHIM_GIVE(cuMemAddressFree, live.others, -1),
    SHIM_GIVE(cuEventCreate, live.others, 1),
    SHIM_GIVE(cuEventDestroy, live.others, -1),
    SHIM_GIVE(cuStreamCreate, live.others, 1),
    SHIM_GIVE(cuStreamDestroy, live.others, -1),
    SHIM_END,
};

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

#endif
