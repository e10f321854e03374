// SPDX-License-Identifier: Apache-2.0
/* Run-time calls by which kernels launch graphs and change nodes of them. */
#include <string.h>

#include "softcuda/kernel/run/nodeupdate.h"
#include "softcuda/kernel/run/place.h"
#include "softcuda/kernel/run/rtcalls.h"
#include "softcuda/kernel/run/runner.h"

enum { INVALID = 1, PIECE = 256 };

/* struct cudaGraphKernelNodeUpdate of driver_types.h. */
enum { FIELD_GRID = 1, FIELD_PARAM, FIELD_ENABLED };
typedef struct node_update {
    uint64_t node;
    uint32_t field, unused;
    union {
        uint32_t grid[3];
        struct {
            uint64_t value, offset, bytes;
        } param;
        uint32_t enabled;
    } u;
} node_update;
_Static_assert(sizeof(node_update) == 40, "as kernels lay it out");

static _Noreturn void end_context(ptx_block *view, uint32_t thread, gph_status code,
                                  uint64_t address, const char *why)
{
    soft_runner *runner = soft_block_from(view)->runner;
    runner->raised.has_thread = true;
    runner->raised.thread = thread;
    soft_runner_raise(runner, code, address, why);
}

uint32_t ptx_rt_graph_launch(ptx_block *view, uint32_t thread, uint64_t exec,
                             uint64_t stream)
{
    const soft_runner *runner = soft_block_from(view)->runner;
    const soft_kernel_launch *launch = runner->launch;
    const struct soft_kernel_caller by = {launch->trace,
                                          (soft_worker *)(uintptr_t)runner->worker};
    soft_kernel_graph *graph = launch->graph;
    uint32_t error = INVALID;
    const char *why = NULL;
    if (!graph || launch->in_body)
        end_context(view, thread, SOFT_ERROR_NOT_SUPPORTED, 0,
                    graph ? "cudaGraphLaunch() in the body of a conditional node"
                          : "cudaGraphLaunch() in a kernel that runs in no graph");
    const gph_status status = graph->launch(graph, exec, stream, &by, &error, &why);
    if (status != GPH_OK)
        end_context(view, thread, status, exec, why);
    return error;
}

static const soft_kernel_env *env_of(ptx_block *view)
{
    return soft_block_from(view)->runner->launch->env;
}

/* A refused call; as on a GPU, a handle that is neither a node's nor 0 ends the context. */
static uint32_t refuse(ptx_block *view, uint32_t thread, uint64_t node)
{
    if (node != 0 && !soft_updatable_known(node))
        end_context(view, thread, SOFT_ERROR_ILLEGAL_ADDRESS, node,
                    "the handle is not one of a node that kernels change");
    return INVALID;
}

/* The value is read before anything is locked: reading it may end the launch. */
uint32_t ptx_rt_node_param(ptx_block *view, uint32_t thread, uint64_t node,
                           uint64_t offset, uint64_t value, uint64_t bytes)
{
    unsigned char piece[PIECE];
    if (offset + bytes < offset)
        return INVALID;
    /* Whether all of it fits, first. */
    uint32_t error = soft_node_set_param(env_of(view), node, offset + bytes, NULL, 0);
    for (uint64_t at = 0; error == 0 && at < bytes; at += PIECE) {
        const uint64_t count = bytes - at < PIECE ? bytes - at : PIECE;
        soft_text_copy(piece, soft_rtcall_reach(view, value + at), count);
        error = soft_node_set_param(env_of(view), node, offset + at, piece, count);
    }
    return error == 0 ? 0 : refuse(view, thread, node);
}

uint32_t ptx_rt_node_enabled(ptx_block *view, uint32_t thread, uint64_t node,
                             uint32_t enabled)
{
    const uint32_t error = soft_node_set_enabled(env_of(view), node, enabled != 0);
    return error == 0 ? 0 : refuse(view, thread, node);
}

uint32_t ptx_rt_node_grid(ptx_block *view, uint32_t thread, uint64_t node, uint32_t x,
                          uint32_t y, uint32_t z)
{
    const uint32_t grid[3] = {x, y, z};
    const uint32_t error = soft_node_set_grid(env_of(view), node, grid);
    return error == 0 ? 0 : refuse(view, thread, node);
}

static uint32_t apply(ptx_block *view, uint32_t thread, const node_update *update)
{
    switch (update->field) {
    case FIELD_GRID:
        return soft_node_set_grid(env_of(view), update->node, update->u.grid);
    case FIELD_ENABLED:
        return ptx_rt_node_enabled(view, thread, update->node, update->u.enabled);
    case FIELD_PARAM:
        return ptx_rt_node_param(view, thread, update->node, update->u.param.offset,
                                 update->u.param.value, update->u.param.bytes);
    default: return INVALID;
    }
}

/* What apply() would say. */
static uint32_t check(ptx_block *view, const node_update *update)
{
    const soft_kernel_env *env = env_of(view);
    const uint64_t offset = update->u.param.offset, bytes = update->u.param.bytes;
    switch (update->field) {
    case FIELD_GRID:
        if (!soft_kernel_grid_fits(update->u.grid))
            return INVALID;
        return soft_node_set_param(env, update->node, 0, NULL, 0);
    case FIELD_ENABLED: return soft_node_set_param(env, update->node, 0, NULL, 0);
    case FIELD_PARAM:
        if (offset + bytes < offset)
            return INVALID;
        return soft_node_set_param(env, update->node, offset + bytes, NULL, 0);
    default: return INVALID;
    }
}

/* All of them, or none: a first round looks whether one is refused. */
uint32_t ptx_rt_node_updates(ptx_block *view, uint32_t thread, uint64_t updates,
                             uint64_t count)
{
    uint32_t error = 0;
    for (int round = 0; round < 2; round++)
        for (uint64_t i = 0; error == 0 && i < count; i++) {
            node_update update;
            const uint64_t at = updates + i * sizeof(update);
            soft_text_copy(&update, soft_rtcall_reach(view, at), sizeof(update));
            error = round == 0 ? check(view, &update) : apply(view, thread, &update);
            if (error != 0)
                return refuse(view, thread, update.node);
        }
    return error;
}
