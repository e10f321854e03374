// SPDX-License-Identifier: Apache-2.0
/* Which clusters a kernel can be launched in, as an H100 says it. */
#include <string.h>

#include "softcuda/device/limits.h"
#include "softcuda/device/module.h"

uint32_t soft_cluster_most(const soft_function *function)
{
    const ptx_kernel *kernel = function->code->kernel;
    const soft_kernel *of = function->kernel;
    const bool more =
        atomic_load(&function->cluster_more) ||
        (of &&
         atomic_load(&of->cluster_more[function->module->context->device->ordinal]));
    const uint32_t most = more ? SOFT_CLUSTER_MOST : SOFT_CLUSTER_PORTABLE;
    return kernel->max_cluster != 0 && kernel->max_cluster < most ? kernel->max_cluster
                                                                  : most;
}

static uint16_t narrow(unsigned value)
{
    return value < UINT16_MAX ? (uint16_t)value : UINT16_MAX;
}

void soft_cluster_read(const CUlaunchAttributeValue *value, uint16_t out[3])
{
    out[0] = narrow(value->clusterDim.x);
    out[1] = narrow(value->clusterDim.y);
    out[2] = narrow(value->clusterDim.z);
}

/* What the kernel's text or cuFuncSetAttribute() asks for; false: nothing. */
static bool required(const soft_function *function, uint32_t out[3])
{
    memcpy(out, function->code->kernel->required_cluster, 3 * sizeof(*out));
    if (out[0] != 0)
        return true;
    for (int i = 0; i < 3; i++)
        out[i] = (uint32_t)atomic_load(&function->cluster[i]);
    return (out[0] | out[1] | out[2]) != 0;
}

CUresult soft_cluster_of(const soft_function *function, const uint32_t grid[3],
                         const uint16_t given[3], uint32_t out[3])
{
    const ptx_kernel *kernel = function->code->kernel;
    const bool is_given = (given[0] | given[1] | given[2]) != 0;
    uint32_t shape[3];
    const bool must = required(function, shape);
    if (!must && !is_given) {
        if (kernel->explicit_cluster)
            return soft_fail(
                CUDA_ERROR_INVALID_CLUSTER_SIZE,
                "%s: .explicitcluster needs a launch that names its clusters",
                kernel->name);
        memset(out, 0, 3 * sizeof(*out));
        return CUDA_SUCCESS;
    }
    const bool same =
        given[0] == shape[0] && given[1] == shape[1] && given[2] == shape[2];
    if (must && is_given && !same)
        return soft_fail(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                         "%s: cluster (%u, %u, %u), it requires (%u, %u, %u)",
                         kernel->name, given[0], given[1], given[2], shape[0], shape[1],
                         shape[2]);
    for (int i = 0; i < 3 && !must; i++)
        shape[i] = given[i];
    const uint32_t most = soft_cluster_most(function);
    const bool some = shape[0] != 0 && shape[1] != 0 && shape[2] != 0;
    if (!some || grid[0] % shape[0] != 0 || grid[1] % shape[1] != 0 ||
        grid[2] % shape[2] != 0 || (uint64_t)shape[0] * shape[1] * shape[2] > most)
        return soft_fail(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                         "%s: cluster (%u, %u, %u), of at most %u blocks that divide the "
                         "grid (%u, %u, %u)",
                         kernel->name, shape[0], shape[1], shape[2], most, grid[0],
                         grid[1], grid[2]);
    memcpy(out, shape, sizeof(shape));
    return CUDA_SUCCESS;
}
