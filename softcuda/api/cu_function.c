// SPDX-License-Identifier: Apache-2.0
/* Functions: attributes, parameters, occupancy.
 *
 * A CUfunction may be a CUkernel that was cast, as CUDA allows it: it is then loaded
 * into the current context. */
#include "softcuda/api/cu_function.h"
#include "softcuda/api/exports.h"
#include "softcuda/device/limits.h"
#include "softcuda/device/module.h"
#include "softcuda/device/occupancy.h"
#include "softcuda/device/stream.h"

/* 48 KiB together with the static part; more has to be asked for. */
static int dynamic_default(const ptx_kernel *kernel)
{
    const int fixed = (int)kernel->static_shared_bytes;
    return fixed < SOFT_SHARED_BYTES ? SOFT_SHARED_BYTES - fixed : 0;
}

/* Registers and local bytes are what the PTX compiler of softcuda counted: they
 * distinguish kernels, and are not what a GPU would use. */
CUresult soft_attribute_get(const soft_attributes *from, CUfunction_attribute attribute,
                            int *out)
{
    const ptx_kernel *kernel = from->kernel;
    switch ((int)attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *out = (int)kernel->max_threads; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *out = (int)kernel->static_shared_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *out = (int)kernel->const_bytes; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *out = (int)kernel->local_bytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *out = (int)kernel->registers; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *out = from->ptx_target; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *out = 90; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *out = from->dynamic_shared_max >= 0 ? from->dynamic_shared_max
                                             : dynamic_default(kernel);
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *out = from->carveout; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        *out = (int)kernel->explicit_cluster;
        break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: {
        const int axis = (int)attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH;
        *out = kernel->required_cluster[0] ? (int)kernel->required_cluster[axis]
                                           : from->cluster[axis];
        break;
    }
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *out = from->cluster_more;
        break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: *out = 0; break;
    default:
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a function attribute",
                         (int)attribute);
    }
    return CUDA_SUCCESS;
}

/* What a GPU would take: a program that asks for too much here asks for too much
 * there. */
CUresult soft_attribute_check(const ptx_kernel *kernel, CUfunction_attribute attribute,
                              int value)
{
    const int most = SOFT_SHARED_OPTIN_BYTES - (int)kernel->static_shared_bytes;
    switch ((int)attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value >= 0 && value <= most)
            return CUDA_SUCCESS;
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%s: %d bytes of dynamic shared memory, 0 to %d are possible",
                         kernel->name, value, most);
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value >= -1 && value <= 100)
            return CUDA_SUCCESS;
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "a carveout of %d percent", value);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        if (value >= 0 && kernel->required_cluster[0] == 0)
            return CUDA_SUCCESS;
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%s: a required cluster of %d blocks, its own is %u",
                         kernel->name, value, kernel->required_cluster[0]);
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: return CUDA_SUCCESS;
    default:
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "function attribute %d cannot be set (to %d)", (int)attribute,
                         value);
    }
}

CUresult soft_param_info(const ptx_kernel *kernel, size_t index, size_t *offset,
                         size_t *bytes)
{
    SOFT_TRY(soft_need(offset, "paramOffset"));
    if (index >= kernel->param_count)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%s has no parameter %zu of %u",
                         kernel->name, index, kernel->param_count);
    *offset = kernel->params[index].offset;
    if (bytes)
        *bytes = kernel->params[index].bytes;
    return CUDA_SUCCESS;
}

/* How a call on a function begins: `pointer`, if it has a name, may not be NULL. */
static CUresult enter(const char *call, const void *pointer, const char *name,
                      CUfunction handle, soft_function **out)
{
    const bool knows_context = soft_handle_is(handle, SOFT_KIND_FUNCTION);
    SOFT_TRY(knows_context ? soft_enter_any(call) : soft_enter_context(call, NULL));
    if (name)
        SOFT_TRY(soft_need(pointer, name));
    return soft_function_find(soft_context_current(), handle, out);
}

/* Questions for names take NULL for a bad value, as an H100 does, not for a bad handle. */
static CUresult enter_named(const char *call, const void *pointer, const char *name,
                            CUfunction handle, soft_function **out)
{
    SOFT_TRY(soft_enter_any(call));
    SOFT_TRY(soft_need(handle, "hfunc"));
    return enter(call, pointer, name, handle, out);
}

CUresult cuFuncGetAttribute(int *out, CUfunction_attribute attribute, CUfunction handle)
{
    soft_function *function;
    SOFT_TRY(enter(__func__, out, "pi", handle, &function));
    const soft_attributes from = {
        .kernel = function->code->kernel,
        .ptx_target = (int)soft_code_ptx_target(function->module->code),
        .dynamic_shared_max = atomic_load(&function->dynamic_shared_max),
        .carveout = atomic_load(&function->carveout),
        .cluster = {atomic_load(&function->cluster[0]),
                    atomic_load(&function->cluster[1]),
                    atomic_load(&function->cluster[2])},
        .cluster_more = atomic_load(&function->cluster_more)};
    return soft_attribute_get(&from, attribute, out);
}

/* How clusters are scheduled is taken and dropped: each runs on one worker. */
CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value)
{
    soft_function *function;
    SOFT_TRY(enter(__func__, NULL, NULL, handle, &function));
    SOFT_TRY(soft_attribute_check(function->code->kernel, attribute, value));
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        atomic_store(&function->dynamic_shared_max, value);
    else if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
        atomic_store(&function->carveout, value);
    else if (attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
        atomic_store(&function->cluster_more, value);
    else if (attribute >= CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH &&
             attribute <= CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)
        atomic_store(
            &function->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH],
            value);
    return CUDA_SUCCESS;
}

/* Kept and given back, as of a GPU whose caches are not split. */
CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config)
{
    soft_function *function;
    SOFT_TRY(enter(__func__, NULL, NULL, handle, &function));
    if (config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a cache configuration",
                         (int)config);
    atomic_store(&function->cache_config, (int)config);
    return CUDA_SUCCESS;
}

/* Banks have one size since compute capability 5.0: checked, and forgotten. */
CUresult cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig config)
{
    soft_function *function;
    SOFT_TRY(enter(__func__, NULL, NULL, handle, &function));
    if (config < CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE ||
        config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%d is not a shared memory configuration", (int)config);
    return CUDA_SUCCESS;
}

/* Also of a CUkernel that was cast: its library's module in this context. */
CUresult cuFuncGetModule(CUmodule *out, CUfunction handle)
{
    soft_function *function;
    SOFT_TRY(enter_named(__func__, out, "hmod", handle, &function));
    *out = (CUmodule)function->module;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **out, CUfunction handle)
{
    soft_function *function;
    SOFT_TRY(enter_named(__func__, out, "name", handle, &function));
    *out = function->code->kernel->name;
    return CUDA_SUCCESS;
}

/* Offsets are those of the parameter block, as a GPU aligns them. */
CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *size)
{
    soft_function *function;
    SOFT_TRY(enter(__func__, NULL, NULL, handle, &function));
    return soft_param_info(function->code->kernel, index, offset, size);
}

/* A kernel that cannot run has nothing to be loaded. */
CUresult cuFuncIsLoaded(CUfunctionLoadingState *out, CUfunction handle)
{
    soft_function *function;
    SOFT_TRY(enter(__func__, out, "state", handle, &function));
    const bool loaded = soft_function_is_ready(function) ||
                        function->code->kernel->path == PTX_PATH_UNSUPPORTED;
    *out = loaded ? CU_FUNCTION_LOADING_STATE_LOADED : CU_FUNCTION_LOADING_STATE_UNLOADED;
    return CUDA_SUCCESS;
}

/* Its machine code is made, as at a first launch. */
CUresult cuFuncLoad(CUfunction handle)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    soft_function *function;
    SOFT_TRY(soft_function_find(context, handle, &function));
    return soft_function_ready(function);
}

/* ---- occupancy --------------------------------------------------------------------- */

/* What a launch in a stream may use: its green context's, or all. */
static uint32_t processors(CUstream stream)
{
    const soft_green *green = soft_stream_green(soft_context_current(), stream);
    return green ? green->count : soft_multiprocessors();
}

/* By limits.h, which are an H100's. */
static CUresult active_blocks(int *out, CUfunction handle, int threads, size_t dynamic)
{
    soft_context *context = soft_context_current();
    SOFT_TRY(soft_need(out, "numBlocks"));
    soft_function *function;
    SOFT_TRY(soft_function_find(context, handle, &function));
    if (threads <= 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "a block of %d threads", threads);
    *out = (int)soft_occupancy(function->code->kernel, (uint32_t)threads, dynamic);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, CUfunction handle,
                                                     int threads, size_t dynamic)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    return active_blocks(out, handle, threads, dynamic);
}

static CUresult check_flags(unsigned flags)
{
    if ((flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "0x%x are not occupancy flags", flags);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, CUfunction handle,
                                                              int threads, size_t dynamic,
                                                              unsigned int flags)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    SOFT_TRY(check_flags(flags));
    return active_blocks(out, handle, threads, dynamic);
}

/* The largest of the block sizes that keep most threads on a multiprocessor. */
static CUresult potential(int *grid, int *block, CUfunction handle,
                          CUoccupancyB2DSize size_of, size_t dynamic, int limit)
{
    SOFT_TRY(soft_need(grid, "minGridSize"));
    SOFT_TRY(soft_need(block, "blockSize"));
    soft_function *function;
    SOFT_TRY(soft_function_find(soft_context_current(), handle, &function));
    const ptx_kernel *kernel = function->code->kernel;
    int most = (int)kernel->max_threads;
    if (limit > 0 && limit < most)
        most = limit;
    uint32_t best_threads = 0, best_blocks = 0;
    int best = 0;
    /* From the limit down in steps of a warp, as in cuda_occupancy.h. */
    for (int threads = most; threads > 0; threads = (threads - 1) / 32 * 32) {
        const size_t bytes = size_of ? size_of(threads) : dynamic;
        const uint32_t blocks = soft_occupancy(kernel, (uint32_t)threads, bytes);
        if (blocks * (uint32_t)threads > best_threads) {
            best_threads = blocks * (uint32_t)threads;
            best_blocks = blocks;
            best = threads;
        }
        if (best_threads == SOFT_THREADS_PER_MP)
            break;
    }
    *block = best;
    *grid = (int)(best_blocks * processors(NULL));
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction handle,
                                          CUoccupancyB2DSize size_of, size_t dynamic,
                                          int limit)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    return potential(grid, block, handle, size_of, dynamic, limit);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block,
                                                   CUfunction handle,
                                                   CUoccupancyB2DSize size_of,
                                                   size_t dynamic, int limit,
                                                   unsigned int flags)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    SOFT_TRY(check_flags(flags));
    return potential(grid, block, handle, size_of, dynamic, limit);
}

/* What is left of a multiprocessor when it is cut for so many blocks, in units of
 * allocation, less what the driver reserves for each, and no more than a launch may ask for:
 * 48 KiB with the static part, unless the function was allowed more. */
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *out, CUfunction handle,
                                                 int blocks, int threads)
{
    soft_function *function;
    SOFT_TRY(enter(__func__, out, "dynamicSmemSize", handle, &function));
    const ptx_kernel *kernel = function->code->kernel;
    if (blocks <= 0 || threads <= 0 ||
        soft_occupancy(kernel, (uint32_t)threads, 0) < (uint32_t)blocks)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%d blocks of %d threads do not fit one multiprocessor", blocks,
                         threads);
    size_t room =
        SOFT_SHARED_PER_MP / (unsigned)blocks / SOFT_SHARED_UNIT * SOFT_SHARED_UNIT -
        SOFT_SHARED_RESERVED_BYTES;
    room = room > kernel->static_shared_bytes ? room - kernel->static_shared_bytes : 0;
    const int allowed = atomic_load(&function->dynamic_shared_max);
    const size_t most = (size_t)(allowed >= 0 ? allowed : dynamic_default(kernel));
    *out = room < most ? room : most;
    return CUDA_SUCCESS;
}

/* ---- clusters ---------------------------------------------------------------------- */

/* Attributes of a launch are judged without launching it. Blocks of its clusters; 1 where it
 * names none. */
static CUresult cluster_of(const CUlaunchConfig *config, uint64_t *out)
{
    SOFT_TRY(soft_need(config, "config"));
    *out = 1;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *a = &config->attrs[i];
        if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            *out = (uint64_t)a->value.clusterDim.x * a->value.clusterDim.y *
                   a->value.clusterDim.z;
    }
    *out = *out != 0 ? *out : 1;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialClusterSize(int *out, CUfunction handle,
                                            const CUlaunchConfig *config)
{
    soft_function *function;
    uint64_t size;
    SOFT_TRY(enter(__func__, out, "clusterSize", handle, &function));
    SOFT_TRY(cluster_of(config, &size));
    *out = (int)soft_cluster_most(function);
    return CUDA_SUCCESS;
}

/* As many as the blocks that the device holds at once make up; of what no launch may have, 0. */
CUresult cuOccupancyMaxActiveClusters(int *out, CUfunction handle,
                                      const CUlaunchConfig *config)
{
    soft_function *function;
    uint64_t size;
    SOFT_TRY(enter(__func__, out, "numClusters", handle, &function));
    SOFT_TRY(cluster_of(config, &size));
    const uint32_t threads = config->blockDimX * config->blockDimY * config->blockDimZ;
    const uint64_t blocks =
        (uint64_t)processors(config->hStream) *
        soft_occupancy(function->code->kernel, threads, config->sharedMemBytes);
    *out = size <= soft_cluster_most(function) ? (int)(blocks / size) : 0;
    return CUDA_SUCCESS;
}
