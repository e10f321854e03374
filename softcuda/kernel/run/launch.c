// SPDX-License-Identifier: Apache-2.0
/* Filling a launch: what the kernel allows, what its blocks need.
 *
 * All that can be refused is refused here, before anything is queued; what a block costs
 * in memory is worked out once, so that starting one is a comparison (runner.h). */
#include "softcuda/kernel/run/launch.h"

#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "softcuda/kernel/run/env.h"

#define SHARED_BYTES_MAX (227u << 10) /* a block of compute capability 9.0, by opt-in */
#define BLOCK_THREADS_MAX 1024u
#define BLOCK_Z_MAX 64u
#define GRID_YZ_MAX 65535u
#define GRID_X_MAX 0x7fffffffu
/* Back edges between two looks at the clock and at other blocks that wait. A cooperative
 * grid spins on purpose, so its blocks give way sooner. */
#define BUDGET 1024u
#define BUDGET_COOPERATIVE 128u

bool soft_kernel_grid_fits(const uint32_t g[3])
{
    return g[0] != 0 && g[1] != 0 && g[2] != 0 && g[0] <= GRID_X_MAX &&
           g[1] <= GRID_YZ_MAX && g[2] <= GRID_YZ_MAX;
}

/* The rest is what the driver's own check refuses (device/task.c). */
static gph_status check_cluster(const ptx_kernel *kernel, const soft_kernel_dims *dims,
                                gph_error *error)
{
    const uint32_t *c = dims->cluster, *g = dims->grid;
    if (c[0] == 0 && c[1] == 0 && c[2] == 0)
        return GPH_OK;
    if (c[0] == 0 || c[1] == 0 || c[2] == 0 || g[0] % c[0] != 0 || g[1] % c[1] != 0 ||
        g[2] % c[2] != 0 || (uint64_t)c[0] * c[1] * c[2] > PTX_CLUSTER_MAX)
        return gphi_fail(
            error, SOFT_ERROR_INVALID_VALUE,
            "kernel %s: clusters of %u x %u x %u blocks in a grid of %u x %u "
            "x %u",
            kernel->name, c[0], c[1], c[2], g[0], g[1], g[2]);
    return GPH_OK;
}

static gph_status check_dims(const ptx_kernel *kernel, const soft_kernel_dims *dims,
                             gph_error *error)
{
    const uint32_t *g = dims->grid, *b = dims->block;
    if (!soft_kernel_grid_fits(g))
        return gphi_fail(error, SOFT_ERROR_INVALID_VALUE,
                         "kernel %s: a grid of %u x %u x %u blocks", kernel->name, g[0],
                         g[1], g[2]);
    if (b[0] == 0 || b[1] == 0 || b[2] == 0 || b[0] > BLOCK_THREADS_MAX ||
        b[1] > BLOCK_THREADS_MAX || b[2] > BLOCK_Z_MAX ||
        b[0] * b[1] * b[2] > BLOCK_THREADS_MAX)
        return gphi_fail(error, SOFT_ERROR_INVALID_VALUE,
                         "kernel %s: a block of %u x %u x %u threads, at most %u fit",
                         kernel->name, b[0], b[1], b[2], BLOCK_THREADS_MAX);
    const uint32_t threads = b[0] * b[1] * b[2];
    if (kernel->max_threads != 0 && threads > kernel->max_threads)
        return gphi_fail(error, SOFT_ERROR_OUT_OF_RESOURCES,
                         "kernel %s: %u threads a block, it was compiled for at most %u",
                         kernel->name, threads, kernel->max_threads);
    const uint32_t *r = kernel->required_threads;
    if (r[0] != 0 &&
        (b[0] != r[0] || b[1] != (r[1] ? r[1] : 1) || b[2] != (r[2] ? r[2] : 1)))
        return gphi_fail(error, SOFT_ERROR_INVALID_VALUE,
                         "kernel %s: a block of %u x %u x %u threads, it requires "
                         "%u x %u x %u",
                         kernel->name, b[0], b[1], b[2], r[0], r[1], r[2]);
    const uint64_t shared =
        (uint64_t)kernel->static_shared_bytes + dims->dynamic_shared_bytes;
    if (shared > SHARED_BYTES_MAX)
        return gphi_fail(error, SOFT_ERROR_INVALID_VALUE,
                         "kernel %s: %llu bytes of shared memory a block, at most %u fit",
                         kernel->name, (unsigned long long)shared, SHARED_BYTES_MAX);
    return GPH_OK;
}

/* grid.sync() finds its workspace in envreg 1 and 2; the first word is its size
 * (cooperative_groups, grid_workspace). */
static void point_at_own(soft_kernel_launch *launch, soft_kernel_sync *sync)
{
    static const soft_kernel_sync none;
    launch->grid.launch = launch;
    launch->grid.envreg = none.envreg;
    launch->sync = launch->grid.cooperative ? sync : NULL;
    if (!launch->sync)
        return;
    const uint64_t address = (uint64_t)(uintptr_t)sync->workspace;
    sync->workspace[0] = sizeof(sync->workspace);
    sync->envreg[1] = (uint32_t)(address >> 32);
    sync->envreg[2] = (uint32_t)address;
    launch->grid.envreg = sync->envreg;
}

static void fill_grid(soft_kernel_launch *launch, const ptx_kernel *kernel,
                      const soft_kernel_dims *dims)
{
    ptx_grid *grid = &launch->grid;
    memcpy(grid->nctaid, dims->grid, sizeof(grid->nctaid));
    memcpy(grid->ntid, dims->block, sizeof(grid->ntid));
    grid->thread_count = dims->block[0] * dims->block[1] * dims->block[2];
    grid->warp_count = (grid->thread_count + PTX_WARP_SIZE - 1) / PTX_WARP_SIZE;
    grid->dynamic_bytes = dims->dynamic_shared_bytes;
    grid->shared_bytes = kernel->static_shared_bytes + dims->dynamic_shared_bytes;
    grid->cooperative = dims->cooperative != 0;
    grid->multiprocessors = launch->env->options.multiprocessors;
    grid->param_bytes = kernel->param_bytes;
    grid->cluster_is_explicit = dims->cluster[0] != 0;
    for (int i = 0; i < 3; i++)
        grid->cluster[i] = dims->cluster[i] != 0 ? dims->cluster[i] : 1;
    grid->cluster_size = grid->cluster[0] * grid->cluster[1] * grid->cluster[2];
    point_at_own(launch, dims->sync);
}

static uint64_t local_of(const ptx_kernel *kernel, uint64_t threads)
{
    return threads * kernel->local_bytes;
}

/* Context arrays are filled by vectors of whole warps. */
static uint64_t scratch_of(const ptx_kernel *kernel, uint64_t threads)
{
    const uint64_t lanes = (threads + PTX_WARP_SIZE - 1) / PTX_WARP_SIZE * PTX_WARP_SIZE;
    return kernel->scratch_fixed_bytes + lanes * kernel->scratch_thread_bytes;
}

static gph_status check_memory(const ptx_kernel *kernel, const soft_kernel_dims *dims,
                               gph_error *error)
{
    const uint64_t threads = (uint64_t)dims->block[0] * dims->block[1] * dims->block[2];
    const uint64_t local = local_of(kernel, threads),
                   scratch = scratch_of(kernel, threads);
    const uint64_t blocks = (uint64_t)dims->grid[0] * dims->grid[1] * dims->grid[2];
    if (kernel->launches_kernels && blocks > UINT32_MAX)
        return gphi_fail(error, SOFT_ERROR_OUT_OF_RESOURCES,
                         "%llu blocks: a kernel that launches kernels has at most %u",
                         (unsigned long long)blocks, UINT32_MAX);
    if (local <= UINT32_MAX && scratch <= UINT32_MAX)
        return GPH_OK;
    return gphi_fail(
        error, SOFT_ERROR_OUT_OF_RESOURCES,
        "a block of %llu threads needs %llu bytes of local memory and %llu of "
        "context: less than 4 GiB of each can be had",
        (unsigned long long)threads, (unsigned long long)local,
        (unsigned long long)scratch);
}

static void count_blocks(soft_kernel_launch *launch)
{
    const uint32_t *n = launch->grid.nctaid;
    const ptx_kernel *kernel = launch->code->kernel;
    launch->block_count = (uint64_t)n[0] * n[1] * n[2];
    launch->part_count = launch->block_count / launch->grid.cluster_size;
    launch->is_single = launch->block_count == 1 && kernel->path == PTX_PATH_FAST &&
                        !kernel->uses_safepoints && !kernel->launches_kernels &&
                        launch->env->options.timeout_ns == 0;
}

gph_status soft_kernel_launch_init(soft_kernel_launch *launch, soft_kernel_env *env,
                                   const soft_kernel_code *code,
                                   const soft_kernel_dims *dims, const void *params,
                                   gph_error *error)
{
    const ptx_kernel *kernel = code->kernel;
    if (kernel->path == PTX_PATH_UNSUPPORTED)
        return gphi_fail(error, SOFT_ERROR_NOT_SUPPORTED, "kernel %s cannot run: %s",
                         kernel->name, kernel->reason ? kernel->reason : "unsupported");
    GPHI_TRY(check_dims(kernel, dims, error));
    GPHI_TRY(check_cluster(kernel, dims, error));
    if (code->by_threads && (uint64_t)dims->block[1] * dims->block[2] != 1) {
        code = code->by_threads;
        kernel = code->kernel;
    }
    GPHI_TRY(check_memory(kernel, dims, error));
    memset(launch, 0, sizeof(*launch));
    launch->env = env;
    launch->code = code;
    launch->node = -1;
    fill_grid(launch, kernel, dims);
    launch->grid.params = params;
    count_blocks(launch);
    launch->local_bytes = (uint32_t)local_of(kernel, launch->grid.thread_count);
    launch->scratch_bytes = (uint32_t)scratch_of(kernel, launch->grid.thread_count);
    launch->shared_room = (launch->grid.shared_bytes + PTX_SHARED_ALIGN - 1) &
                          ~(uint32_t)(PTX_SHARED_ALIGN - 1);
    if (kernel->uses_reserved_shared)
        launch->shared_room += PTX_SHARED_RESERVED;
    launch->memory_align =
        kernel->memory_align > PTX_SHARED_ALIGN ? kernel->memory_align : PTX_SHARED_ALIGN;
    launch->shared_room =
        (launch->shared_room + launch->memory_align - 1) & ~(launch->memory_align - 1);
    launch->needs_memory =
        (launch->local_bytes | launch->scratch_bytes | launch->shared_room) != 0;
    launch->entry = kernel->path == PTX_PATH_FAST ? code->entry.block : NULL;
    launch->processors = launch->grid.multiprocessors;
    launch->page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
    launch->on_fibers = kernel->uses_safepoints || launch->grid.cluster_size > 1;
    launch->safepoint_budget = dims->cooperative ? BUDGET_COOPERATIVE : BUDGET;
    return GPH_OK;
}

void soft_kernel_launch_confine(soft_kernel_launch *launch, uint32_t first,
                                uint32_t count)
{
    launch->processors = first << 16 | count;
}

void soft_kernel_launch_copy(soft_kernel_launch *to, const soft_kernel_launch *from,
                             const void *params, soft_kernel_sync *sync)
{
    memcpy(to, from, sizeof(*to));
    to->grid.params = params;
    point_at_own(to, sync);
}

void soft_kernel_launch_resize(soft_kernel_launch *launch, const uint32_t grid[3])
{
    memcpy(launch->grid.nctaid, grid, sizeof(launch->grid.nctaid));
    count_blocks(launch);
}

void soft_kernel_launch_join(soft_kernel_launch *launch, soft_kernel_graph *graph,
                             bool in_body)
{
    launch->graph = graph;
    launch->in_body = in_body;
    launch->grid.graph_exec = graph ? graph->handle : 0;
}

void soft_kernel_launch_watch(soft_kernel_launch *launch, struct soft_trace *trace)
{
    launch->trace = trace;
}

void soft_kernel_launch_work(soft_kernel_launch *launch, soft_work *work)
{
    work->kind = SOFT_WORK_PARTS;
    work->all_at_once = launch->grid.cooperative != 0;
    work->in_order = launch->on_fibers != 0;
    work->run_parts =
        launch->is_single ? soft_kernel_launch_run_single : soft_kernel_launch_run;
    work->argument = launch;
    work->parts = launch->part_count;
}
