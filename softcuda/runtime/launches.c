// SPDX-License-Identifier: Apache-2.0
/* Kernels: the launch syntax, launches, what a kernel is and how much of it fits.
 *
 *   f<<<grid, block, shared, stream>>>(a, b)   is compiled into
 *   __cudaPushCallConfiguration(...); f(a, b);  where the stub f pops it and calls
 *   cudaLaunchKernel(f, ..., {&a, &b})
 *
 * Between the two, arguments are evaluated, which may launch kernels: a stack a thread. */
#include "softcuda/runtime/registry.h"

#include <string.h>

/* ---- <<<grid, block, shared, stream>>> ------------------------------------------------- */

enum { PUSHED_MAX = 16 }; /* arguments may launch kernels themselves */

typedef struct configuration {
    dim3 grid, block;
    size_t shared;
    CUstream stream;
} configuration;

static _Thread_local configuration pushed[PUSHED_MAX];
static _Thread_local int pushed_count;

GPH_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                             CUstream stream);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                     CUstream stream)
{
    if (pushed_count == PUSHED_MAX)
        return (unsigned)rt_leave(cudaErrorMissingConfiguration);
    pushed[pushed_count++] = (configuration){grid, block, shared, stream};
    return 0;
}

GPH_API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                               void *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                       void *stream)
{
    if (pushed_count == 0)
        return rt_leave(cudaErrorMissingConfiguration);
    const configuration *top = &pushed[--pushed_count];
    *grid = top->grid;
    *block = top->block;
    *shared = top->shared;
    memcpy(stream, &top->stream, sizeof(top->stream));
    return cudaSuccess;
}

/* ---- launches ------------------------------------------------------------------------- */

/* CUDA 12's runtime has a name of its own for a shape that the driver calls an invalid
 * value: the limits are those of every device since compute capability 3.0. CUDA 13's says
 * what the driver says (an H100). */
static cudaError_t launched(CUresult result, dim3 grid, dim3 block)
{
    const bool is_empty = grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 ||
                          block.y == 0 || block.z == 0;
    const bool is_large = block.x > 1024 || block.y > 1024 || block.z > 64 ||
                          (uint64_t)block.x * block.y * block.z > 1024 ||
                          grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535;
    return RT_MAJOR == 12 && result == CUDA_ERROR_INVALID_VALUE && (is_empty || is_large)
               ? cudaErrorInvalidConfiguration
               : (cudaError_t)result;
}

static cudaError_t launch(const rt_driver *cu, const void *host, dim3 grid, dim3 block,
                          void **arguments, size_t shared, CUstream stream,
                          bool is_cooperative)
{
    CUfunction function;
    const cudaError_t result = rt_function(cu, host, &function);
    if (result != cudaSuccess)
        return result;
    if (shared > UINT32_MAX)
        return cudaErrorInvalidValue;
    return launched(
        is_cooperative
            ? cu->cuLaunchCooperativeKernel(function, grid.x, grid.y, grid.z, block.x,
                                            block.y, block.z, (unsigned)shared, stream,
                                            arguments)
            : cu->cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y,
                                 block.z, (unsigned)shared, stream, arguments, NULL),
        grid, block);
}

/* Attributes of a launch are laid out as the driver's: clusters, priorities, programmatic
 * launches, device-updatable nodes. */
static cudaError_t config_to_driver(const rt_driver *cu, const cudaLaunchConfig_t *config,
                                    const void *host, CUlaunchConfig *out,
                                    CUfunction *function)
{
    if (!config)
        return cudaErrorInvalidValue;
    *out = (CUlaunchConfig){.gridDimX = config->gridDim.x,
                            .gridDimY = config->gridDim.y,
                            .gridDimZ = config->gridDim.z,
                            .blockDimX = config->blockDim.x,
                            .blockDimY = config->blockDim.y,
                            .blockDimZ = config->blockDim.z,
                            .sharedMemBytes = (unsigned)config->dynamicSmemBytes,
                            .hStream = config->stream,
                            .attrs = config->attrs,
                            .numAttrs = config->numAttrs};
    return config->dynamicSmemBytes > UINT32_MAX ? cudaErrorInvalidValue
                                                 : rt_function(cu, host, function);
}

static cudaError_t launch_config(const rt_driver *cu, const cudaLaunchConfig_t *config,
                                 const void *host, void **arguments)
{
    CUfunction function;
    CUlaunchConfig driver;
    const cudaError_t result = config_to_driver(cu, config, host, &driver, &function);
    if (result != cudaSuccess)
        return result;
    return launched(cu->cuLaunchKernelEx(&driver, function, arguments, NULL),
                    config->gridDim, config->blockDim);
}

RT_TWINS(cudaLaunchKernel, _ptsz,
         (const void *, func, dim3, grid, dim3, block, void **, args, size_t, shared,
          CUstream, stream),
         launch(cu, func, grid, block, args, shared, stream, false))
RT_TWINS(__cudaLaunchKernel, _ptsz,
         (CUkernel, kernel, dim3, grid, dim3, block, void **, args, size_t, shared,
          CUstream, stream),
         launch(cu, kernel, grid, block, args, shared, stream, false))
RT_TWINS(cudaLaunchCooperativeKernel, _ptsz,
         (const void *, func, dim3, grid, dim3, block, void **, args, size_t, shared,
          CUstream, stream),
         launch(cu, func, grid, block, args, shared, stream, true))
RT_TWINS(cudaLaunchKernelExC, _ptsz,
         (const cudaLaunchConfig_t *, config, const void *, func, void **, args),
         launch_config(cu, config, func, args))
RT_TWINS(cudaLaunchHostFunc, _ptsz, (CUstream, stream, CUhostFn, fn, void *, user),
         cu->cuLaunchHostFunc(stream, fn, user))

/* ---- what a kernel is ------------------------------------------------------------------ */

/* What was never registered is not a function where that is asked for by its symbol; elsewhere
 * it is a wrong handle (an H200). */
static cudaError_t by_symbol(cudaError_t result)
{
    return result == cudaErrorInvalidResourceHandle ? cudaErrorInvalidDeviceFunction
                                                    : result;
}

static cudaError_t get_kernel(const rt_driver *cu, CUkernel *out, const void *host)
{
    return out ? by_symbol(rt_kernel(cu, host, out)) : cudaErrorInvalidValue;
}

static cudaError_t get_function(const rt_driver *cu, CUfunction *out, const void *host)
{
    return out ? by_symbol(rt_function(cu, host, out)) : cudaErrorInvalidValue;
}

/* Attributes 0 to 15 of the driver are all that the runtime's structure has. */
static cudaError_t get_attributes(const rt_driver *cu, struct cudaFuncAttributes *out,
                                  const void *host)
{
    CUfunction function;
    if (!out)
        return cudaErrorInvalidValue;
    cudaError_t result = rt_function(cu, host, &function);
    if (result != cudaSuccess)
        return result;
    int values[16] = {0}; /* by CUfunction_attribute */
    for (int which = 0; which < 16 && result == cudaSuccess; which++)
        result = (cudaError_t)cu->cuFuncGetAttribute(
            &values[which], (CUfunction_attribute)which, function);
    if (result != cudaSuccess)
        return result;
    *out = (struct cudaFuncAttributes){.maxThreadsPerBlock = values[0],
                                       .sharedSizeBytes = (size_t)values[1],
                                       .constSizeBytes = (size_t)values[2],
                                       .localSizeBytes = (size_t)values[3],
                                       .numRegs = values[4],
                                       .ptxVersion = values[5],
                                       .binaryVersion = values[6],
                                       .cacheModeCA = values[7],
                                       .maxDynamicSharedSizeBytes = values[8],
                                       .preferredShmemCarveout = values[9],
                                       .clusterDimMustBeSet = values[10],
                                       .requiredClusterWidth = values[11],
                                       .requiredClusterHeight = values[12],
                                       .requiredClusterDepth = values[13],
                                       .nonPortableClusterSizeAllowed = values[14],
                                       .clusterSchedulingPolicyPreference = values[15]};
    return cudaSuccess;
}

/* What is asked of the function of a stub. */
#define WITH_FUNCTION(expression)                                                        \
    CUfunction function;                                                                 \
    const cudaError_t result = rt_function(cu, host, &function);                         \
    return result != cudaSuccess ? result : (cudaError_t)(expression)

static cudaError_t set_attribute(const rt_driver *cu, const void *host, int which,
                                 int value)
{
    WITH_FUNCTION(cu->cuFuncSetAttribute(function, (CUfunction_attribute)which, value));
}

static cudaError_t set_cache(const rt_driver *cu, const void *host, CUfunc_cache config)
{
    WITH_FUNCTION(cu->cuFuncSetCacheConfig(function, config));
}

static cudaError_t get_name(const rt_driver *cu, const char **out, const void *host)
{
    WITH_FUNCTION(cu->cuFuncGetName(out, function));
}

static cudaError_t get_parameter(const rt_driver *cu, const void *host, size_t index,
                                 size_t *offset, size_t *bytes)
{
    WITH_FUNCTION(cu->cuFuncGetParamInfo(function, index, offset, bytes));
}

RT_ENTRY(__cudaGetKernel, (CUkernel *, kernel, const void *, func),
         get_kernel(cu, kernel, func))
RT_ENTRY(cudaGetKernel, (CUkernel *, kernel, const void *, func),
         get_kernel(cu, kernel, func))
RT_ENTRY(cudaGetFuncBySymbol, (CUfunction *, function, const void *, func),
         get_function(cu, function, func))
RT_ENTRY(cudaFuncGetAttributes, (struct cudaFuncAttributes *, out, const void *, func),
         get_attributes(cu, out, func))
RT_ENTRY(cudaFuncSetAttribute, (const void *, func, int, which, int, value),
         set_attribute(cu, func, which, value))
RT_ENTRY(cudaFuncSetCacheConfig, (const void *, func, CUfunc_cache, config),
         set_cache(cu, func, config))
RT_ENTRY(cudaFuncGetName, (const char **, name, const void *, func),
         get_name(cu, name, func))
RT_ENTRY(cudaFuncGetParamInfo,
         (const void *, func, size_t, index, size_t *, offset, size_t *, bytes),
         get_parameter(cu, func, index, offset, bytes))

/* Shared memory has banks of one width since Volta: taken, and without effect. */
RT_ENTRY(cudaFuncSetSharedMemConfig, (const void *, func, int, config),
         ((void)func, (void)config, cudaSuccess))

/* ---- how much of it fits --------------------------------------------------------------- */

static cudaError_t max_blocks(const rt_driver *cu, int *out, const void *host,
                              int block_threads, size_t shared, unsigned flags)
{
    WITH_FUNCTION(cu->cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        out, function, block_threads, shared, flags));
}

static cudaError_t available_shared(const rt_driver *cu, size_t *out, const void *host,
                                    int blocks, int block_threads)
{
    WITH_FUNCTION(cu->cuOccupancyAvailableDynamicSMemPerBlock(out, function, blocks,
                                                              block_threads));
}

RT_ENTRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor,
         (int *, blocks, const void *, func, int, threads, size_t, shared),
         max_blocks(cu, blocks, func, threads, shared, 0))
RT_ENTRY(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
         (int *, blocks, const void *, func, int, threads, size_t, shared, unsigned,
          flags),
         max_blocks(cu, blocks, func, threads, shared, flags))
RT_ENTRY(cudaOccupancyAvailableDynamicSMemPerBlock,
         (size_t *, bytes, const void *, func, int, blocks, int, threads),
         available_shared(cu, bytes, func, blocks, threads))

static cudaError_t clusters(const rt_driver *cu, int *out, const void *host,
                            const cudaLaunchConfig_t *config, bool sizes)
{
    CUfunction function;
    CUlaunchConfig driver;
    const cudaError_t result = config_to_driver(cu, config, host, &driver, &function);
    if (result != cudaSuccess)
        return result;
    return (
        cudaError_t)(sizes
                         ? cu->cuOccupancyMaxPotentialClusterSize(out, function, &driver)
                         : cu->cuOccupancyMaxActiveClusters(out, function, &driver));
}

RT_ENTRY(cudaOccupancyMaxPotentialClusterSize,
         (int *, size, const void *, func, const cudaLaunchConfig_t *, config),
         clusters(cu, size, func, config, true))
RT_ENTRY(cudaOccupancyMaxActiveClusters,
         (int *, count, const void *, func, const cudaLaunchConfig_t *, config),
         clusters(cu, count, func, config, false))
