// SPDX-License-Identifier: Apache-2.0
/* Launches that begin before an event that a node of theirs waits for.
 *
 * Nearly always the events of wait nodes are reached when the graph is launched, and the
 * nodes are order only. When one is not, the launch goes through a second program, in
 * which wait nodes are asked again and again, so that an event holds up what comes after
 * its node and nothing else:
 *
 *   exec ── program          wait nodes are empty
 *        └─ late ── program  wait nodes are polled; works and points of one launch
 *
 * The engine orders launches of one program (R33); those of different ones wait for each
 * other's points. A graph that begins with its only wait waits as a whole. */
#include <string.h>

#include "softcuda/device/alloc.h"
#include "softcuda/graph/exec.h"
#include "softcuda/rules/rules.h"

struct soft_late {
    soft_program *program;
    uint32_t sole_root; /* the only node without dependencies, SOFT_NO_NODE: several */
};

void soft_late_destroy(soft_late *late)
{
    if (!late)
        return;
    soft_program_destroy(late->program);
    soft_delete(late);
}

/* Wait nodes become polled ones, or what they were. */
static uint32_t set_kinds(soft_flat *flat, uint32_t node_count, uint8_t kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < node_count; i++) {
        if (!flat->nodes[i] || flat->nodes[i]->type != CU_GRAPH_NODE_TYPE_WAIT_EVENT)
            continue;
        flat->kinds[i] = kind;
        count++;
    }
    return count;
}

static uint32_t sole_root_of(const soft_shape *shape)
{
    uint32_t found = SOFT_NO_NODE;
    const soft_exec_level *top = &shape->levels[0];
    for (uint32_t i = 0; i < top->member_count; i++) {
        const uint32_t at = shape->members[top->member_first + i];
        if (shape->nodes[at].dep_count > 0)
            continue;
        if (found != SOFT_NO_NODE)
            return SOFT_NO_NODE;
        found = at;
    }
    return found;
}

CUresult soft_late_create(soft_exec *exec, soft_flat *flat, const int *priorities)
{
    const uint32_t nodes = exec->shape.node_count;
    if (!(flat->has & SOFT_HAS(WAIT_EVENT)) ||
        set_kinds(flat, nodes, SOFT_WORK_POLL) == 0)
        return CUDA_SUCCESS;
    gph_status status = GPH_OK;
    soft_bodies bodies;
    soft_late *late = soft_new(sizeof(*late));
    if (late)
        status = soft_program_create_nested(
            exec->device->engine, nodes, flat->edges, flat->edge_count, flat->kinds,
            priorities, soft_flat_bodies(flat, &bodies), &late->program, soft_error());
    set_kinds(flat, nodes, SOFT_WORK_EMPTY);
    SOFT_TRY(soft_made(late, "no memory for an executable graph"));
    late->sole_root = sole_root_of(&exec->shape);
    exec->late = late;
    return soft_pass(status);
}

/* ---- launches ---------------------------------------------------------------------- */

struct soft_late_launch {
    soft_version *version;
    soft_point *points; /* by event node */
    soft_work works[];  /* by flat node; the points follow */
};

static bool is_reached(void *argument)
{
    return soft_point_reached(*(const soft_point *)argument);
}

/* Points that are always reached, until they are set. */
static soft_late_launch *launch_new(const soft_exec *exec)
{
    const uint32_t nodes = exec->shape.node_count;
    soft_late_launch *launch = soft_new(sizeof(*launch) + nodes * sizeof(soft_work) +
                                        exec->event_count * sizeof(soft_point));
    if (!launch)
        return NULL;
    launch->version = exec->current;
    launch->points = (soft_point *)(void *)&launch->works[nodes];
    memcpy(launch->works, exec->current->works, nodes * sizeof(soft_work));
    for (uint32_t i = 0; i < exec->event_count; i++) {
        const uint32_t at = exec->event_nodes[i];
        if (exec->shape.nodes[at].type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
            launch->works[at] = (soft_work){.kind = SOFT_WORK_POLL,
                                            .poll = is_reached,
                                            .argument = &launch->points[i]};
    }
    return launch;
}

CUresult soft_late_prepare(const soft_exec *exec, soft_point *first,
                           soft_late_launch **out)
{
    soft_late_launch *launch = NULL;
    *first = (soft_point){0};
    for (uint32_t i = 0; exec->late && i < exec->event_count; i++) {
        const uint32_t at = exec->event_nodes[i];
        if (exec->shape.nodes[at].type != CU_GRAPH_NODE_TYPE_WAIT_EVENT)
            continue;
        const soft_point point = soft_event_point(exec->current->records[at]->event);
        if (soft_point_reached(point))
            continue;
        if (at == exec->late->sole_root || !soft_rule(M_wait_at_node)) {
            *first = point;
            continue;
        }
        if (!launch)
            launch = launch_new(exec);
        SOFT_TRY(soft_made(launch, "no memory for a launch of %u nodes",
                           exec->shape.node_count));
        launch->points[i] = point;
    }
    *out = launch;
    return CUDA_SUCCESS;
}

soft_program *soft_late_program(const soft_late *late)
{
    return late->program;
}

const soft_work *soft_late_works(const soft_late_launch *launch)
{
    return launch->works;
}

soft_version *soft_late_end(soft_late_launch *launch)
{
    soft_version *version = launch->version;
    soft_delete(launch);
    return version;
}
