// SPDX-License-Identifier: Apache-2.0
/* Kernel launches as tasks: every argument checked, parameters packed. */
#include "softcuda/device/task.h"

#include <string.h>

#include "softcuda/device/limits.h"
#include "softcuda/device/occupancy.h"
#include "softcuda/device/stream.h"
#include "softcuda/rules/rules.h"

/* In the order of an H100: zeros, the grid, the block, then its threads. */
static CUresult check_grid(const CUlaunchConfig *c)
{
    if (c->gridDimX == 0 || c->gridDimY == 0 || c->gridDimZ == 0 || c->blockDimX == 0 ||
        c->blockDimY == 0 || c->blockDimZ == 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "grid (%u, %u, %u) of blocks (%u, %u, %u): no dimension may be "
                         "0",
                         c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX,
                         c->blockDimY, c->blockDimZ);
    if (c->gridDimX > SOFT_GRID_X_MAX || c->gridDimY > SOFT_GRID_YZ_MAX ||
        c->gridDimZ > SOFT_GRID_YZ_MAX)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "grid (%u, %u, %u) exceeds the maximum (%d, %d, %d)",
                         c->gridDimX, c->gridDimY, c->gridDimZ, SOFT_GRID_X_MAX,
                         SOFT_GRID_YZ_MAX, SOFT_GRID_YZ_MAX);
    if (c->blockDimX > SOFT_BLOCK_X_MAX || c->blockDimY > SOFT_BLOCK_Y_MAX ||
        c->blockDimZ > SOFT_BLOCK_Z_MAX)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "block (%u, %u, %u) exceeds the maximum (%d, %d, %d)",
                         c->blockDimX, c->blockDimY, c->blockDimZ, SOFT_BLOCK_X_MAX,
                         SOFT_BLOCK_Y_MAX, SOFT_BLOCK_Z_MAX);
    const uint64_t threads = (uint64_t)c->blockDimX * c->blockDimY * c->blockDimZ;
    if (threads > SOFT_BLOCK_THREADS_MAX)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "block (%u, %u, %u) has %llu threads, the maximum is %d",
                         c->blockDimX, c->blockDimY, c->blockDimZ,
                         (unsigned long long)threads, SOFT_BLOCK_THREADS_MAX);
    return CUDA_SUCCESS;
}

static CUresult check_function(const soft_function *function, const CUlaunchConfig *c)
{
    const ptx_kernel *kernel = function->code->kernel;
    const int most =
        atomic_load_explicit(&function->dynamic_shared_max, memory_order_relaxed);
    if (c->sharedMemBytes > (unsigned)most)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%s: %u bytes of dynamic shared memory requested, its maximum "
                         "is %d (cuFuncSetAttribute raises it to %d)",
                         kernel->name, c->sharedMemBytes, most,
                         SOFT_SHARED_OPTIN_BYTES - (int)kernel->static_shared_bytes);
    const uint32_t threads = c->blockDimX * c->blockDimY * c->blockDimZ;
    if (threads > kernel->max_threads)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%s: %u threads a block, it was compiled for at most %u",
                         kernel->name, threads, kernel->max_threads);
    const uint32_t *need = kernel->required_threads;
    if (need[0] != 0 &&
        (c->blockDimX != need[0] || c->blockDimY != need[1] || c->blockDimZ != need[2]))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%s: block (%u, %u, %u), it requires (%u, %u, %u)", kernel->name,
                         c->blockDimX, c->blockDimY, c->blockDimZ, need[0], need[1],
                         need[2]);
    if (kernel->path == PTX_PATH_UNSUPPORTED)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED, "%s: %s", kernel->name,
                         kernel->reason ? kernel->reason : "it cannot be run here");
    return CUDA_SUCCESS;
}

/* ---- parameters -------------------------------------------------------------------- */

static CUresult pack_array(const ptx_kernel *kernel, void *const *params, void *scratch)
{
    unsigned char *buffer = scratch;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const ptx_param *param = &kernel->params[i];
        if (!params[i])
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "%s: parameter %u of %u is a NULL pointer", kernel->name, i,
                             kernel->param_count);
        memcpy(buffer + param->offset, params[i], param->bytes);
    }
    return CUDA_SUCCESS;
}

/* Pairs of a name and a value, in any order. */
static CUresult pack_extra(const ptx_kernel *kernel, void *const *extra, void *scratch)
{
    const void *buffer = NULL;
    const size_t *size = NULL;
    for (int i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[i + 1];
        else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            size = extra[i + 1];
        else
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "%s: extra[%d] is %p, no launch parameter", kernel->name, i,
                             extra[i]);
    }
    if (kernel->param_bytes == 0)
        return CUDA_SUCCESS;
    if (!buffer || !size)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%s: extra has no parameter %s",
                         kernel->name, !buffer ? "buffer" : "buffer size");
    if (*size < kernel->param_bytes)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%s: the parameter buffer has %zu bytes, it takes %u",
                         kernel->name, *size, kernel->param_bytes);
    memcpy(scratch, buffer, kernel->param_bytes);
    return CUDA_SUCCESS;
}

static CUresult pack(const ptx_kernel *kernel, void *const *params, void *const *extra,
                     void *scratch)
{
    if (params && extra)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%s: both kernelParams and extra are given", kernel->name);
    if (kernel->param_bytes > SOFT_PARAM_BYTES_MAX)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "%s takes %u bytes of parameters, at most %d are supported",
                         kernel->name, kernel->param_bytes, SOFT_PARAM_BYTES_MAX);
    if (extra)
        return pack_extra(kernel, extra, scratch);
    if (kernel->param_count == 0)
        return CUDA_SUCCESS;
    if (!params)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%s takes %u parameters, kernelParams is NULL", kernel->name,
                         kernel->param_count);
    memset(scratch, 0, kernel->param_bytes); /* the gaps */
    return pack_array(kernel, params, scratch);
}

/* ---- launch attributes ------------------------------------------------------------- */

/* A shape that no launch can have; one with a zero in it does not invalidate a capture. */
static CUresult check_cluster(soft_launch *launch)
{
    uint16_t *c = launch->cluster;
    uint32_t shape[3];
    launch->misconfigured = (c[0] | c[1] | c[2]) == 0 || (c[0] && c[1] && c[2]);
    const CUresult status = soft_cluster_of(launch->function, launch->grid, c, shape);
    if (status != CUDA_SUCCESS && soft_rule(M_cluster_shape))
        return status;
    if (status != CUDA_SUCCESS)
        memset(c, 0, sizeof(launch->cluster));
    launch->misconfigured = false;
    return CUDA_SUCCESS;
}

/* An event that the kernel itself records (R102); api/launch.c judges it. */
static CUresult read_trigger(CUevent handle, int flags, uint8_t port, soft_launch *launch)
{
    launch->trigger_flags = flags;
    launch->trigger_port = port;
    return soft_event_find(handle, &launch->trigger);
}

static CUresult read_attribute(const CUlaunchAttribute *a, soft_launch *launch)
{
    switch (a->id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        launch->cooperative = a->value.cooperative != 0;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        launch->priority = a->value.priority;
        launch->has_priority = true;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        soft_cluster_read(&a->value, launch->cluster);
        return CUDA_SUCCESS;
    /* Hints, and permissions to overlap that need not be used. */
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING: return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        launch->programmatic = a->value.programmaticStreamSerializationAllowed != 0;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        launch->trigger_type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
        return read_trigger(a->value.programmaticEvent.event,
                            a->value.programmaticEvent.flags,
                            a->value.programmaticEvent.triggerAtBlockStart
                                ? CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER
                                : CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                            launch);
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        return read_trigger(a->value.launchCompletionEvent.event,
                            a->value.launchCompletionEvent.flags,
                            CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER, launch);
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        if ((unsigned)a->value.deviceUpdatableKernelNode.deviceUpdatable > 1)
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "deviceUpdatable is %d, not 0 or 1",
                             a->value.deviceUpdatableKernelNode.deviceUpdatable);
        launch->updatable = a->value.deviceUpdatableKernelNode.deviceUpdatable;
        return CUDA_SUCCESS;
    default:
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a launch attribute",
                         (int)a->id);
    }
}

/* All blocks of a cooperative kernel must be there at once, or its grid barrier never
 * ends. */
static CUresult check_residency(const soft_launch *launch)
{
    const uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    if (launch->function->code->kernel->launches_kernels)
        return soft_fail(CUDA_ERROR_NOT_PERMITTED,
                         "%s launches kernels: no cooperative launch of it is possible",
                         launch->function->code->kernel->name);
    const uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    const uint64_t room =
        (uint64_t)(launch->processors ? launch->processors : soft_multiprocessors()) *
        soft_occupancy(launch->function->code->kernel, threads, launch->shared_bytes);
    if (blocks > room)
        return soft_fail(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                         "%s: %llu blocks of %u threads, %llu fit at once",
                         launch->function->code->kernel->name, (unsigned long long)blocks,
                         threads, (unsigned long long)room);
    return CUDA_SUCCESS;
}

CUresult soft_task_launch(soft_context *context, const CUlaunchConfig *config,
                          CUfunction handle, void *const *params, void *const *extra,
                          void *scratch, soft_task *out)
{
    soft_function *function;
    SOFT_TRY(soft_function_find(context, handle, &function));
    if (function->module->context != context)
        return soft_fail(CUDA_ERROR_INVALID_HANDLE,
                         "function %s belongs to another context",
                         function->code->kernel->name);
    out->u.launch.misconfigured = true;
    SOFT_TRY(check_grid(config));
    SOFT_TRY(check_function(function, config));
    out->u.launch.misconfigured = false;
    SOFT_TRY(pack(function->code->kernel, params, extra, scratch));
    soft_launch launch = {
        .function = function,
        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .shared_bytes = config->sharedMemBytes,
        .param_bytes = function->code->kernel->param_bytes,
        .params = scratch};
    const soft_green *green = soft_stream_green(context, config->hStream);
    if (green) {
        launch.first_processor = (uint16_t)green->first;
        launch.processors = (uint16_t)green->count;
    }
    if (config->numAttrs != 0 && !config->attrs)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%u launch attributes at NULL",
                         config->numAttrs);
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUresult read = read_attribute(&config->attrs[i], &launch);
        out->u.launch.misconfigured = launch.misconfigured;
        SOFT_TRY(read);
    }
    const CUresult shaped = check_cluster(&launch);
    out->u.launch.misconfigured = launch.misconfigured;
    SOFT_TRY(shaped);
    out->u.launch.misconfigured = launch.cooperative;
    if (launch.cooperative)
        SOFT_TRY(check_residency(&launch));
    out->kind = SOFT_TASK_KERNEL;
    out->u.launch = launch;
    return CUDA_SUCCESS;
}
