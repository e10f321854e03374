// SPDX-License-Identifier: Apache-2.0
/* Executable graphs: a graph made flat, compiled for the engine, and launched.
 *
 * A child graph becomes an entry node, its own nodes and an exit node; the engine elides
 * the empty ones. */
#include <string.h>

#include "base/clock.h"
#include "softcuda/device/heap.h"
#include "softcuda/device/summary.h"
#include "softcuda/graph/graph.h"

/* One set of parameters. Launches read it without a lock. */
struct version {
    atomic_uint references; /* the exec's, each launch's */
    uint32_t count;         /* of flat nodes */
    uint32_t record_count;
    soft_work *works;
    uint32_t *costs; /* measured by the engine, by flat node */
    soft_record *records;
    soft_function **functions; /* retained; one a record, NULL for other work */
};

struct soft_exec {
    atomic_uint references; /* the handle's, each launch's */
    uint64_t flags;
    soft_device *device;
    soft_program *program;
    struct version *version;
    uint32_t node_count;           /* as the program counts: without entries and exits */
    soft_event **records, **waits; /* of event nodes, retained */
    uint32_t record_count, wait_count;
};

/* The graph, flat. nodes[i] is NULL for entries and exits. */
struct flat {
    soft_node **nodes;
    soft_edge *edges;
    uint8_t *kinds;
    int *priorities;
    uint64_t node_count, edge_count;
};

static uint8_t kind_of(const soft_node *node)
{
    if (node == NULL)
        return SOFT_WORK_EMPTY;
    switch (node->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return SOFT_WORK_PARTS;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return SOFT_WORK_CALL;
    case CU_GRAPH_NODE_TYPE_HOST: return SOFT_WORK_HOST;
    default: return SOFT_WORK_EMPTY;
    }
}

static void count_flat(const soft_graph *graph, uint64_t *nodes, uint64_t *edges)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const soft_node *node = graph->nodes[i];
        *nodes += 1;
        *edges += node->dependencies.count;
        if (node->child == NULL)
            continue;
        *nodes += 1;
        *edges += 2ull * node->child->node_count + 1;
        count_flat(node->child, nodes, edges);
    }
}

static void add_edge(struct flat *flat, uint32_t from, uint32_t to)
{
    flat->edges[flat->edge_count++] = (soft_edge){from, to};
}

static void add_node(struct flat *flat, soft_node *node)
{
    flat->kinds[flat->node_count] = kind_of(node);
    flat->priorities[flat->node_count] = node && node->type == CU_GRAPH_NODE_TYPE_KERNEL
                                             ? node->task.u.launch.priority
                                             : 0;
    flat->nodes[flat->node_count++] = node;
}

/* Gives each node its place first (edges may point forwards), then the edges. */
static void flatten(const soft_graph *graph, struct flat *flat)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        soft_node *node = graph->nodes[i];
        node->mark = (uint32_t)flat->node_count;
        add_node(flat, node->child ? NULL : node);
        if (node->child) {
            flatten(node->child, flat);
            add_node(flat, NULL);
        }
        node->mark_out = (uint32_t)flat->node_count - 1;
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const soft_node *node = graph->nodes[i];
        for (uint32_t k = 0; k < node->dependencies.count; k++)
            add_edge(flat, node->dependencies.ends[k].node->mark_out, node->mark);
        if (node->child == NULL)
            continue;
        add_edge(flat, node->mark, node->mark_out);
        for (uint32_t k = 0; k < node->child->node_count; k++) {
            const soft_node *inner = node->child->nodes[k];
            if (inner->dependencies.count == 0)
                add_edge(flat, node->mark, inner->mark);
            if (inner->dependents.count == 0)
                add_edge(flat, inner->mark_out, node->mark_out);
        }
    }
}

static void flat_fini(struct flat *flat)
{
    soft_delete(flat->nodes);
    soft_delete(flat->edges);
    soft_delete(flat->kinds);
    soft_delete(flat->priorities);
}

static CUresult flat_init(const soft_graph *graph, struct flat *flat)
{
    uint64_t nodes = 0, edges = 0;
    count_flat(graph, &nodes, &edges);
    if (nodes >= UINT32_MAX / 2)
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "%llu nodes are too many",
                         (unsigned long long)nodes);
    /* An empty graph is fine (R8); it becomes one empty node. */
    const size_t room = nodes ? nodes : 1;
    *flat = (struct flat){.nodes = soft_new(room * sizeof(soft_node *)),
                          .edges = soft_new((edges + 1) * sizeof(soft_edge)),
                          .kinds = soft_new(room),
                          .priorities = soft_new(room * sizeof(int))};
    if (!flat->nodes || !flat->edges || !flat->kinds || !flat->priorities) {
        flat_fini(flat);
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory to compile %llu nodes",
                         (unsigned long long)nodes);
    }
    flatten(graph, flat);
    if (flat->node_count == 0)
        add_node(flat, NULL);
    return CUDA_SUCCESS;
}

/* ---- versions
 * ----------------------------------------------------------------------------- */

static void version_release(struct version *version)
{
    /* acq_rel: what launches read is read before the last one frees it. */
    if (version == NULL ||
        atomic_fetch_sub_explicit(&version->references, 1, memory_order_acq_rel) != 1)
        return;
    for (uint32_t i = 0; i < version->record_count; i++) {
        soft_record_drop(&version->records[i]);
        if (version->functions[i])
            soft_function_release(version->functions[i]);
    }
    soft_delete(version->works);
    soft_delete(version->costs);
    soft_delete(version->records);
    soft_delete(version->functions);
    soft_delete(version);
}

static void run_stamp(void *event)
{
    soft_event_stamp(event);
}

static CUresult fill_record(struct version *version, uint32_t at, soft_node *node)
{
    soft_record *record = &version->records[version->record_count];
    soft_task task = node->task;
    if (node->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
        task.kind = SOFT_TASK_CALL;
        task.u.call.function = run_stamp;
        task.u.call.user = node->event;
    }
    /* Counted even if it fails: the record may hold memory. */
    version->record_count++;
    SOFT_TRY(soft_record_fill(record, node->context, &task, (int64_t)node->id,
                              &version->works[at]));
    version->works[at].cost_ns = &version->costs[at];
    if (task.kind == SOFT_TASK_KERNEL) {
        soft_function_retain(task.u.launch.function);
        version->functions[version->record_count - 1] = task.u.launch.function;
    }
    return CUDA_SUCCESS;
}

static CUresult version_create(const struct flat *flat, struct version **out,
                               soft_node **offender)
{
    uint32_t records = 0;
    for (uint64_t i = 0; i < flat->node_count; i++)
        records += flat->kinds[i] != SOFT_WORK_EMPTY;
    struct version *version = soft_new(sizeof(*version));
    if (version == NULL)
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for an executable graph");
    atomic_init(&version->references, 1);
    version->count = (uint32_t)flat->node_count;
    version->works = soft_new(flat->node_count * sizeof(*version->works));
    version->costs = soft_new(flat->node_count * sizeof(*version->costs));
    version->records = soft_new((records + 1) * sizeof(*version->records));
    version->functions = soft_new((records + 1) * sizeof(soft_function *));
    CUresult result = CUDA_SUCCESS;
    if (!version->works || !version->costs || !version->records || !version->functions)
        result =
            soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for %u nodes", version->count);
    for (uint32_t i = 0; result == CUDA_SUCCESS && i < version->count; i++) {
        version->works[i].kind = SOFT_WORK_EMPTY;
        if (flat->kinds[i] == SOFT_WORK_EMPTY)
            continue;
        result = fill_record(version, i, flat->nodes[i]);
        if (result != CUDA_SUCCESS)
            *offender = flat->nodes[i];
    }
    if (result != CUDA_SUCCESS) {
        version_release(version);
        return result;
    }
    *out = version;
    return CUDA_SUCCESS;
}

/* ---- instantiation
 * ------------------------------------------------------------------------ */

static void exec_release(soft_exec *exec)
{
    if (atomic_fetch_sub_explicit(&exec->references, 1, memory_order_acq_rel) != 1)
        return;
    soft_program_destroy(exec->program);
    version_release(exec->version);
    for (uint32_t i = 0; i < exec->record_count; i++)
        soft_event_release(exec->records[i]);
    for (uint32_t i = 0; i < exec->wait_count; i++)
        soft_event_release(exec->waits[i]);
    soft_delete(exec->records);
    soft_delete(exec->waits);
    soft_delete(exec);
}

static CUresult keep_events(soft_exec *exec, const struct flat *flat)
{
    uint32_t records = 0, waits = 0;
    for (uint64_t i = 0; i < flat->node_count; i++) {
        const soft_node *node = flat->nodes[i];
        records += node && node->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
        waits += node && node->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    }
    exec->records = records ? soft_new(records * sizeof(soft_event *)) : NULL;
    exec->waits = waits ? soft_new(waits * sizeof(soft_event *)) : NULL;
    if ((records && !exec->records) || (waits && !exec->waits))
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for %u event nodes",
                         records + waits);
    for (uint64_t i = 0; i < flat->node_count; i++) {
        const soft_node *node = flat->nodes[i];
        if (node == NULL || node->event == NULL)
            continue;
        soft_event_retain(node->event);
        if (node->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
            exec->records[exec->record_count++] = node->event;
        else
            exec->waits[exec->wait_count++] = node->event;
    }
    return CUDA_SUCCESS;
}

static soft_device *device_of(const struct flat *flat)
{
    for (uint64_t i = 0; i < flat->node_count; i++)
        if (flat->nodes[i] && flat->nodes[i]->context)
            return flat->nodes[i]->context->device;
    const soft_context *current = soft_context_current();
    return current ? current->device : soft_device_at(0);
}

/* Compiles; `out->result_out` and `hErrNode_out` say what went wrong (R30). */
static CUresult build(soft_exec *exec, const struct flat *flat,
                      CUDA_GRAPH_INSTANTIATE_PARAMS *out)
{
    soft_node *offender = NULL;
    const CUresult result = version_create(flat, &exec->version, &offender);
    if (result != CUDA_SUCCESS) {
        out->hErrNode_out = (CUgraphNode)offender;
        return result;
    }
    SOFT_TRY(keep_events(exec, flat));
    gph_error error = {0};
    const bool by_node = exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    const gph_status status = soft_program_create(
        exec->device->engine, (uint32_t)flat->node_count, flat->edges, flat->edge_count,
        flat->kinds, by_node ? flat->priorities : NULL, &exec->program, &error);
    if (status == GPH_E_INVALID) {
        out->result_out = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
        out->hErrNode_out =
            (CUgraphNode)(error.has_node ? flat->nodes[error.node] : NULL);
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "the graph has a cycle");
    }
    return soft_pass(status, &error);
}

CUresult soft_exec_create(soft_graph *graph, uint64_t flags, soft_exec **out,
                          CUDA_GRAPH_INSTANTIATE_PARAMS *result)
{
    result->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    result->hErrNode_out = NULL;
    struct flat flat;
    SOFT_TRY(flat_init(graph, &flat));
    soft_exec *exec = soft_new(sizeof(*exec));
    CUresult status = CUDA_SUCCESS;
    if (exec == NULL) {
        status = soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for an executable graph");
    } else {
        atomic_init(&exec->references, 1);
        exec->flags = flags;
        exec->device = device_of(&flat);
        exec->node_count = (uint32_t)flat.node_count;
        status = build(exec, &flat, result);
        if (status == CUDA_SUCCESS)
            status = soft_handle_add(exec, SOFT_KIND_GRAPH_EXEC);
        if (status != CUDA_SUCCESS)
            exec_release(exec);
    }
    flat_fini(&flat);
    if (status != CUDA_SUCCESS)
        return status;
    result->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    atomic_fetch_add_explicit(&soft_counted.graphs, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&soft_counted.graph_nodes, exec->node_count,
                              memory_order_relaxed);
    *out = exec;
    return CUDA_SUCCESS;
}

CUresult soft_exec_find(CUgraphExec handle, soft_exec **out)
{
    if (!soft_handle_is(handle, SOFT_KIND_GRAPH_EXEC))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%p is no executable graph, or it was destroyed",
                         (void *)handle);
    *out = (soft_exec *)handle;
    return CUDA_SUCCESS;
}

uint64_t soft_exec_flags(const soft_exec *exec)
{
    /* The others are used up by the instantiation; a driver does not tell them. */
    return exec->flags & (CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                          CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
}

CUresult soft_exec_destroy(soft_exec *exec)
{
    if (!soft_handle_remove(exec, SOFT_KIND_GRAPH_EXEC))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "the executable graph was destroyed");
    exec_release(exec);
    return CUDA_SUCCESS;
}

/* ---- launch
 * --------------------------------------------------------------------------------- */

static void launch_done(void *argument, soft_worker *worker)
{
    (void)worker;
    exec_release(argument);
}

#define EVENT_WAITS 16

CUresult soft_exec_launch(soft_exec *exec, soft_stream *stream)
{
    if (soft_stream_captures(stream))
        return soft_capture_get_hooks()->refuse(stream, "given a graph launch");
    const bool timed = soft_summary_wanted();
    const uint64_t begun = timed ? gphi_clock_ns() : 0;
    soft_point waits[EVENT_WAITS], done;
    uint32_t count = 0;
    for (uint32_t i = 0; i < exec->wait_count; i++) {
        const soft_point point = soft_event_point(exec->waits[i]);
        if (count == EVENT_WAITS)
            SOFT_TRY(soft_stream_wait_point(stream, point));
        else if (!soft_point_reached(point))
            waits[count++] = point;
    }
    for (uint32_t i = 0; i < exec->record_count; i++)
        soft_event_begin_record(exec->records[i]);
    atomic_fetch_add_explicit(&exec->references, 1, memory_order_relaxed);
    const CUresult result =
        soft_stream_launch(stream, exec->program, exec->version->works, launch_done, exec,
                           waits, count, &done);
    if (result != CUDA_SUCCESS) {
        exec_release(exec);
        return result;
    }
    for (uint32_t i = 0; i < exec->record_count; i++)
        soft_event_set_point(exec->records[i], done);
    atomic_fetch_add_explicit(&soft_counted.graph_launches, 1, memory_order_relaxed);
    if (timed)
        atomic_fetch_add_explicit(&soft_counted.launch_host_ns, gphi_clock_ns() - begun,
                                  memory_order_relaxed);
    return soft_launch_blocking() ? soft_stream_synchronize(stream) : CUDA_SUCCESS;
}

/* Everything is prepared at instantiation; what is left is the order (R36). */
CUresult soft_exec_upload(soft_exec *exec, soft_stream *stream)
{
    (void)exec;
    if (soft_stream_captures(stream))
        return soft_capture_get_hooks()->refuse(stream, "given a graph upload");
    return CUDA_SUCCESS;
}
