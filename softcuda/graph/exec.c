// SPDX-License-Identifier: Apache-2.0
/* Executable graphs: made from a graph, launched, destroyed. */
#include <assert.h>
#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "softcuda/device/alloc.h"
#include "softcuda/device/device.h"
#include "softcuda/device/racing.h"
#include "softcuda/device/summary.h"
#include "softcuda/engine/wordlock.h"
#include "softcuda/graph/conditional.h"
#include "softcuda/graph/deviceside.h"
#include "softcuda/graph/exec.h"
#include "softcuda/graph/memnode.h"
#include "softcuda/graph/trail.h"
#include "softcuda/graph/updatable.h"
#include "softcuda/graph/watch.h"
#include "softcuda/rules/rules.h"

_Atomic uint32_t soft_exec_handles;

/* Places of executables that are gone, under that lock. They are never anything else, so that
 * who has found a handle may lock its mutex without a look at whether somebody ends the
 * executable just then: `plain` says it, under the mutex. */
static soft_exec *free_places;

/* ---- what user objects are held ---------------------------------------------------- */

CUresult soft_object_set_create(const soft_graph *graph, soft_object_set **out)
{
    soft_object_list list = {0};
    *out = NULL;
    SOFT_TRY(soft_objects_hold(&list, graph, true));
    if (list.count == 0) {
        soft_objects_drop(&list);
        return CUDA_SUCCESS;
    }
    soft_object_set *set = soft_new(sizeof(*set));
    if (!set) {
        soft_objects_drop(&list);
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for user objects");
    }
    atomic_init(&set->references, 1);
    set->list = list;
    *out = set;
    return CUDA_SUCCESS;
}

void soft_object_set_release(soft_object_set *set)
{
    /* acq_rel: the last one sees what others did with the objects. */
    if (!set || atomic_fetch_sub_explicit(&set->references, 1, memory_order_acq_rel) != 1)
        return;
    soft_objects_drop(&set->list);
    soft_delete(set);
}

/* ---- life -------------------------------------------------------------------------- */

static soft_exec *exec_new(void)
{
    soft_word_lock(&soft_exec_handles);
    soft_exec *exec = free_places;
    if (exec)
        free_places = exec->next_free;
    soft_word_unlock(&soft_exec_handles);
    const size_t kept = offsetof(soft_exec, references);
    if (!exec)
        return soft_new(sizeof(*exec));
    memset((char *)exec + kept, 0, sizeof(*exec) - kept);
    return exec;
}

static void exec_free(soft_exec *exec)
{
    soft_word_lock(&soft_exec_handles);
    exec->next_free = free_places;
    free_places = exec;
    soft_word_unlock(&soft_exec_handles);
}

static void set_plain(soft_exec *exec, bool plain)
{
    soft_light_lock(&exec->mutex);
    exec->plain = plain;
    soft_light_unlock(&exec->mutex);
}

void soft_exec_release(soft_exec *exec)
{
    /* acq_rel: what launches and calls read is read before the last one frees it. */
    const unsigned before =
        atomic_fetch_sub_explicit(&exec->references, 1, memory_order_acq_rel);
    assert(before > 0 && "an executable graph was let go of twice");
    if (before != 1)
        return;
    soft_exec_memory_release(exec->memory);
    soft_side_destroy(exec->side);
    soft_updatables_destroy(exec);
    soft_program_destroy(exec->program);
    soft_late_destroy(exec->late);
    soft_versions_free(exec);
    soft_object_set_release(exec->objects);
    soft_watch_destroy(exec->watch);
    soft_trail_release(exec->trail);
    soft_single_release(exec->single, true);
    soft_delete(exec->conditions);
    soft_delete(exec->decisions);
    soft_shape_fini(&exec->shape);
    soft_delete(exec->costs);
    for (uint32_t i = 0; i < exec->event_count; i++)
        soft_fence_release(exec->fences[i]);
    soft_delete(exec->fences);
    soft_delete(exec->event_nodes);
    exec_free(exec);
}

soft_exec *soft_exec_hold(CUgraphExec handle)
{
    soft_word_lock(&soft_exec_handles);
    soft_exec *exec =
        soft_handle_is_near(handle, SOFT_KIND_GRAPH_EXEC) ? (soft_exec *)handle : NULL;
    if (exec)
        atomic_fetch_add_explicit(&exec->references, 1, memory_order_relaxed);
    soft_word_unlock(&soft_exec_handles);
    return exec;
}

CUresult soft_exec_acquire(CUgraphExec handle, soft_exec **out)
{
    *out = soft_exec_hold(handle);
    if (*out)
        return CUDA_SUCCESS;
    return soft_fail(CUDA_ERROR_INVALID_VALUE,
                     "%p is not an executable graph, or it was destroyed",
                     (void *)handle);
}

static bool is_launched(soft_exec *exec)
{
    soft_light_lock(&exec->mutex);
    const bool plain = soft_plain_is_launched(exec);
    soft_light_unlock(&exec->mutex);
    return plain || atomic_load(&exec->references) > 1;
}

CUresult soft_exec_destroy(CUgraphExec handle)
{
    if (!soft_rule(R37) && is_launched((soft_exec *)handle))
        return soft_fail(CUDA_ERROR_NOT_READY, "launches of %p are under way",
                         (void *)handle);
    soft_word_lock(&soft_exec_handles);
    const bool lived = soft_handle_remove(handle, SOFT_KIND_GRAPH_EXEC);
    soft_word_unlock(&soft_exec_handles);
    if (!lived)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%p is not an executable graph, or it was destroyed",
                         (void *)handle);
    soft_exec *exec = (soft_exec *)handle;
    soft_light_lock(&exec->mutex);
    exec->plain = false;
    soft_exec_memory_disown(exec->memory);
    const bool plain = soft_plain_is_launched(exec);
    const soft_point last = exec->last;
    soft_light_unlock(&exec->mutex);
    if (plain)
        soft_plain_release_after(exec, last);
    else
        soft_exec_release(exec);
    return CUDA_SUCCESS;
}

uint64_t soft_exec_flags(const soft_exec *exec)
{
    if (!soft_rule(R31))
        return exec->flags;
    /* The others are used up by the instantiation; a driver does not report them. */
    return exec->flags & (CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                          CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
}

/* ---- instantiation ----------------------------------------------------------------- */

static soft_device *device_of(const soft_flat *flat)
{
    for (uint32_t i = 0; i < flat->shape.node_count; i++)
        if (flat->nodes[i] && flat->nodes[i]->context)
            return flat->nodes[i]->context->device;
    const soft_context *current = soft_context_current();
    return current ? current->device : soft_device_at(0);
}

/* A fill of words that nothing waits for says to somebody else how far the graph came, as
 * does the one before it that clears them: on one worker, too, they run before what could
 * hold them up. A GPU runs them at the side. */
static bool is_mark(const soft_node *node)
{
    return node && node->type == CU_GRAPH_NODE_TYPE_MEMSET &&
           node->task.u.fill.height <= 1 && node->task.u.fill.element == 4 &&
           !node->graph->parent;
}

static bool says(const soft_node *node)
{
    return is_mark(node) && node->dependents.count == 0 && node->task.u.fill.width == 1;
}

static bool clears(const soft_node *node)
{
    if (!is_mark(node) || node->dependencies.count > 0 || node->dependents.count == 0)
        return false;
    for (uint32_t i = 0; i < node->dependents.count; i++)
        if (!says(node->dependents.ends[i].node))
            return false;
    return true;
}

/* NULL: none. */
static const int *priorities_of(const soft_exec *exec, soft_flat *flat)
{
    const bool by_node = exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    bool has_marks = false;
    if (!(flat->has & SOFT_HAS(MEMSET)))
        return by_node ? flat->priorities : NULL;
    for (uint32_t i = 0; i < flat->shape.node_count; i++) {
        const bool is_first = says(flat->nodes[i]) || clears(flat->nodes[i]);
        flat->priorities[i] = is_first ? INT_MIN : by_node ? flat->priorities[i] : 0;
        has_marks |= is_first;
    }
    return by_node || has_marks ? flat->priorities : NULL;
}

/* Compiles; `out->result_out` and `hErrNode_out` say what went wrong (R30). */
static CUresult build(soft_exec *exec, const soft_graph *graph, soft_flat *flat,
                      CUDA_GRAPH_INSTANTIATE_PARAMS *out)
{
    const int *priorities = priorities_of(exec, flat);
    soft_bodies bodies;
    const gph_status status = soft_program_create_nested(
        exec->device->engine, flat->shape.node_count, flat->edges, flat->edge_count,
        flat->kinds, priorities, soft_flat_bodies(flat, &bodies), &exec->program,
        soft_error());
    if (status == GPH_E_INVALID && soft_rule(R7)) {
        out->result_out = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "the graph has a cycle");
    }
    SOFT_TRY(soft_pass(status));
    const soft_watch_graph watched = {.nodes = flat->nodes,
                                      .node_count = flat->shape.node_count,
                                      .exec = (uint64_t)(uintptr_t)exec,
                                      .edges = flat->edges,
                                      .edge_count = flat->edge_count,
                                      .body_of = flat->body_of,
                                      .body_owner = flat->body_owner};
    SOFT_TRY(soft_watch_create(&watched, &exec->watch));
    SOFT_TRY(soft_side_create(exec, flat, out, &exec->side));
    SOFT_TRY(soft_updatables_create(graph, flat, &exec->updatables));
    SOFT_TRY(soft_decisions_create(exec, flat));
    exec->shape = flat->shape;
    flat->shape = (soft_shape){0};
    soft_node *offender = NULL;
    const CUresult result = soft_version_first(exec, flat, &offender);
    out->hErrNode_out = (CUgraphNode)offender;
    SOFT_TRY(result);
    return soft_late_create(exec, flat, priorities);
}

/* Kernels set them, conditional nodes read them. */
static CUresult make_conditions(const soft_graph *graph, soft_conditions **out)
{
    const uint32_t count = graph->condition_count;
    if (count == 0)
        return CUDA_SUCCESS;
    *out = soft_new(sizeof(**out) + 2ull * count * sizeof((*out)->values[0]));
    SOFT_TRY(soft_made(*out, "no memory for %u conditions", count));
    (*out)->count = count;
    return CUDA_SUCCESS;
}

static CUresult create(soft_graph *graph, soft_flat *flat, uint64_t flags,
                       soft_exec **out, CUDA_GRAPH_INSTANTIATE_PARAMS *result)
{
    soft_exec *exec = exec_new();
    SOFT_TRY(soft_made(exec, "no memory for an executable graph"));
    atomic_init(&exec->references, 1);
    exec->flags = flags;
    exec->device = device_of(flat);
    CUresult status = soft_single_take(graph, &exec->single);
    SOFT_THEN(status, make_conditions(graph, &exec->conditions));
    SOFT_THEN(status, build(exec, graph, flat, result));
    SOFT_THEN(status, soft_object_set_create(graph, &exec->objects));
    if (status == CUDA_SUCCESS)
        exec->current->objects = exec->objects;
    if (status == CUDA_SUCCESS && !soft_rule(R72))
        soft_side_upload(exec->side, exec->current);
    SOFT_THEN(status, soft_exec_memory_create(graph, flat->nodes, exec->shape.node_count,
                                              NULL, &exec->memory));
    if (status == CUDA_SUCCESS)
        exec->current->memory = exec->memory;
    set_plain(exec, soft_exec_is_plain(exec));
    SOFT_THEN(status, soft_handle_add(exec, SOFT_KIND_GRAPH_EXEC));
    if (status != CUDA_SUCCESS) {
        set_plain(exec, false);
        soft_exec_release(exec);
        return status;
    }
    *out = exec;
    return CUDA_SUCCESS;
}

/* What a device graph may hold (R70). */
static bool may_stand_in_device_graph(const soft_node *node)
{
    switch (node->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return !soft_node_launches_kernels(node);
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_GRAPH: return true;
    case CU_GRAPH_NODE_TYPE_MEMCPY: return soft_copy_is_reached(&node->task.u.copy);
    default: return false;
    }
}

static CUresult check_device_nodes(const soft_graph *graph, soft_context **context,
                                   CUDA_GRAPH_INSTANTIATE_PARAMS *out)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        soft_node *node = graph->nodes[i];
        if (node->child)
            SOFT_TRY(check_device_nodes(node->child, context, out));
        if (!*context)
            *context = node->context;
        const bool fits = may_stand_in_device_graph(node);
        if (fits && (!node->context || node->context == *context))
            continue;
        out->hErrNode_out = (CUgraphNode)node;
        out->result_out = fits ? CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED
                               : CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
        return soft_fail(
            CUDA_ERROR_INVALID_VALUE,
            fits ? "node %llu of a device graph is of a second context"
            : soft_node_launches_kernels(node)
                ? "a device graph holds no kernel that launches kernels: not "
                  "node %llu"
                : "a device graph holds kernels, fills, and copies between "
                  "memory of devices or pinned memory: not node %llu",
            (unsigned long long)node->id);
    }
    return CUDA_SUCCESS;
}

static CUresult check_device_graph(const soft_graph *graph,
                                   CUDA_GRAPH_INSTANTIATE_PARAMS *out)
{
    soft_context *context = NULL;
    if (!soft_rule(M_device_graph))
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED, "device graphs are not supported");
    if (graph->node_count == 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "a device graph needs a node");
    return check_device_nodes(graph, &context, out);
}

CUresult soft_exec_create(soft_graph *graph, uint64_t flags, soft_exec **out,
                          CUDA_GRAPH_INSTANTIATE_PARAMS *result)
{
    result->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    result->hErrNode_out = NULL;
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        SOFT_TRY(check_device_graph(graph, result));
    SOFT_TRY(soft_conditional_check(graph, result));
    soft_flat flat;
    SOFT_TRY(soft_flat_init(graph, &flat));
    const CUresult status = create(graph, &flat, flags, out, result);
    soft_flat_fini(&flat);
    if (result->result_out == CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE)
        result->hErrNode_out =
            soft_rule(R30) ? (CUgraphNode)soft_graph_find_cycle(graph) : NULL;
    SOFT_TRY(status);
    result->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    atomic_fetch_add_explicit(&soft_counted.graphs, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&soft_counted.graph_nodes, (*out)->shape.node_count,
                              memory_order_relaxed);
    return CUDA_SUCCESS;
}

/* ---- launch ------------------------------------------------------------------------ */

/* The reference of the launch goes last: the version belongs to the graph. */
static void launch_done(void *argument, soft_worker *worker)
{
    soft_version *version = argument;
    soft_exec *exec = version->exec;
    soft_object_set *objects = version->objects; /* an edit may exchange them below */
    soft_exec_memory *memory = version->memory;
    if (worker) { /* it ran */
        soft_side_keep(exec->side, soft_watch_unit(exec->watch));
        soft_watch_finish(exec->watch);
        soft_decisions_end(exec);
    }
    /* Release: pairs with the acquire of an edit that finds the version idle. */
    atomic_fetch_sub_explicit(&version->launches, 1, memory_order_release);
    soft_object_set_release(objects);
    soft_exec_memory_release(memory);
    if (exec->side && worker)
        soft_side_leave(exec->side, worker);
    else if (exec->side)
        soft_side_cancel(exec->side);
    soft_exec_release(exec);
}

static void late_launch_done(void *argument, soft_worker *worker)
{
    launch_done(soft_late_end(argument), worker);
}

/* The words of memory operations. */
static CUresult check_batches(const soft_exec *exec)
{
    for (uint32_t i = 0; i < exec->event_count; i++) {
        const uint32_t at = exec->event_nodes[i];
        const soft_task *task = &exec->current->records[at]->task;
        if (soft_is_batch(exec->shape.nodes[at].type))
            SOFT_TRY(soft_batch_check_words(task->u.batch.ops, task->u.batch.count));
    }
    return CUDA_SUCCESS;
}

static soft_point point_of_record(const soft_exec *exec, uint32_t i)
{
    const soft_point at_node = soft_fence_arm(exec->fences[i]);
    return soft_rule(M_record_at_node) ? at_node : exec->current->last;
}

/* Reports to the events of record nodes that a launch begins, or, when it was submitted, the
 * points that their nodes will reach. */
static void tell_events(const soft_exec *exec, bool submitted)
{
    for (uint32_t i = 0; i < exec->event_count; i++) {
        const uint32_t at = exec->event_nodes[i];
        if (exec->shape.nodes[at].type != CU_GRAPH_NODE_TYPE_EVENT_RECORD)
            continue;
        soft_event *event = exec->current->records[at]->event;
        if (!submitted) {
            soft_event_begin_record(event);
            continue;
        }
        const soft_point point = point_of_record(exec, i);
        if (soft_racing()) /* as if it were reached at the end */
            soft_beside_alias(soft_racing(), point, exec->current->last);
        soft_event_set_point(event, point);
    }
}

/* What is checked only where a rule of launches is switched off. */
static CUresult check_switches(const soft_exec *exec, const soft_stream *stream)
{
    if (!soft_rule(R33) && soft_version_is_used(exec->current))
        return soft_fail(CUDA_ERROR_NOT_READY, "a launch is under way");
    if (soft_rule(R40) && soft_rule(R41))
        return CUDA_SUCCESS;
    for (uint32_t i = 0; i < exec->shape.node_count; i++) {
        const soft_exec_record *record = exec->current->records[i];
        if (!record || record->context == stream->context)
            continue;
        if (!soft_rule(R40) || record->context->device != stream->context->device)
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "node %u is of another context or device", i);
    }
    return CUDA_SUCCESS;
}

/* What a launch holds until it is done. */
static void hold(soft_exec *exec, soft_version *version)
{
    if (version->objects)
        atomic_fetch_add_explicit(&version->objects->references, 1, memory_order_relaxed);
    (void)soft_exec_memory_retain(version->memory);
    atomic_fetch_add_explicit(&version->launches, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&exec->references, 1, memory_order_relaxed);
}

static void run_activate(void *argument, soft_worker *worker)
{
    (void)worker;
    if (soft_rule(R79))
        soft_updatables_activate(argument, false);
}

/* Check mode: it comes after the launch before it, and after what its wait nodes wait for, though
 * not all of it does. */
static void watch_waits(const soft_exec *exec, const soft_stream *stream)
{
    if (exec->watch)
        soft_racing_after(stream, exec->last); /* R33 */
    for (uint32_t i = 0; exec->watch && i < exec->event_count; i++) {
        const uint32_t at = exec->event_nodes[i];
        if (exec->shape.nodes[at].type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
            soft_racing_after(stream,
                              soft_event_point(exec->current->records[at]->event));
    }
}

/* Between what the launch waits for and the launch. */
struct begun {
    soft_watch *watch;
    soft_unit *unit;
};

static void begin_watching(void *user, const soft_queue *queue)
{
    struct begun *begun = user;
    begun->unit = soft_watch_begin(begun->watch, queue);
}

/* Submits a launch of what is current; `late` NULL: no event is waited for inside. */
static CUresult submit(soft_exec *exec, soft_stream *stream, soft_point first,
                       soft_late_launch *late)
{
    soft_point waits[3], done;
    uint32_t count = 0;
    soft_version *version = exec->current;
    const soft_work activate = {
        .kind = SOFT_WORK_CALL, .run = run_activate, .argument = version};
    struct begun begun = {.watch = exec->watch};
    const soft_launch_frame frame = {.before = exec->updatables ? &activate : NULL,
                                     .fence = soft_side_fence(exec->side),
                                     .begin = begin_watching,
                                     .user = &begun};
    if (first.queue)
        waits[count++] = first;
    waits[count++] = exec->last; /* R33 */
    if (exec->side)
        waits[count++] = soft_side_begin(exec->side);
    watch_waits(exec, stream);
    hold(exec, version);
    const soft_trail_run own =
        !late ? (soft_trail_run){version->works, launch_done, version}
              : (soft_trail_run){soft_late_works(late), late_launch_done, late};
    const soft_trail_run run =
        exec->trail ? soft_trail_begin(exec->trail, version, own) : own;
    soft_side_begin_upload(exec->side, version);
    const soft_launched launch = {!late ? exec->program : soft_late_program(exec->late),
                                  run.works, run.done, run.argument};
    const CUresult result =
        soft_stream_launch(stream, &launch, waits, count, &frame, &done);
    soft_watch_submitted(exec->watch, begun.unit,
                         result == CUDA_SUCCESS ? done : (soft_point){0});
    soft_side_settle(exec->side, result == CUDA_SUCCESS);
    soft_exec_memory_end(exec->memory, result == CUDA_SUCCESS ? &done : NULL);
    if (result != CUDA_SUCCESS) {
        if (run.works != own.works)
            soft_trail_end(run);
        launch_done(version, NULL);
        return result;
    }
    exec->last = version->last = done;
    return CUDA_SUCCESS;
}

/* Of the copies of a launch: SOFTCUDA_CHECK=memory keeps the host from where they go. With
 * conditional nodes some may never run, and nobody would open what they close. */
static void each_copy(const soft_exec *exec, void (*call)(const soft_copy *copy))
{
    soft_exec_record *const *records = exec->current->records;
    const bool runs_all = !exec->conditions;
    const uint32_t count =
        soft_check_memory_wanted() && runs_all ? exec->shape.node_count : 0;
    for (uint32_t i = 0; i < count; i++)
        if (records[i] && exec->shape.nodes[i].enabled &&
            records[i]->task.kind == SOFT_TASK_COPY)
            call(&records[i]->task.u.copy);
}

static CUresult launch_locked(soft_exec *exec, soft_stream *stream)
{
    const bool auto_free = exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    soft_late_launch *late;
    soft_point first;
    SOFT_TRY(check_switches(exec, stream));
    SOFT_TRY(check_batches(exec));
    SOFT_TRY(soft_late_prepare(exec, &first, &late));
    CUresult result = soft_exec_memory_begin(exec->memory, auto_free, stream);
    if (result == CUDA_SUCCESS) {
        tell_events(exec, false);
        each_copy(exec, soft_copy_closes);
        result = submit(exec, stream, first, late);
        if (result != CUDA_SUCCESS)
            each_copy(exec, soft_copy_opens);
    }
    if (result != CUDA_SUCCESS) {
        if (late)
            (void)soft_late_end(late);
        return result;
    }
    tell_events(exec, true);
    return CUDA_SUCCESS;
}

CUresult soft_exec_launch(soft_exec *exec, soft_stream *stream)
{
    const bool timed = soft_summary_wanted();
    const uint64_t begun = timed ? gphi_clock_ns() : 0;
    soft_light_lock(&exec->mutex);
    const CUresult result = launch_locked(exec, stream);
    soft_light_unlock(&exec->mutex);
    SOFT_TRY(result);
    atomic_fetch_add_explicit(&soft_counted.graph_launches, 1, memory_order_relaxed);
    if (timed)
        atomic_fetch_add_explicit(&soft_counted.launch_host_ns, gphi_clock_ns() - begun,
                                  memory_order_relaxed);
    return soft_launch_blocking() ? soft_stream_synchronize(stream) : CUDA_SUCCESS;
}

CUresult soft_exec_trail(soft_exec *exec, uint32_t *words, uint32_t count)
{
    soft_trail *trail = NULL;
    if (words && count != exec->shape.levels[0].member_count)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%u words for %u nodes", count,
                         exec->shape.levels[0].member_count);
    if (words)
        SOFT_TRY(soft_trail_create(&exec->shape, (_Atomic uint32_t *)words, &trail));
    soft_light_lock(&exec->mutex);
    soft_trail *before = exec->trail;
    exec->trail = trail;
    soft_light_unlock(&exec->mutex);
    soft_trail_release(before);
    return CUDA_SUCCESS;
}

static void run_upload(void *argument, soft_worker *worker)
{
    (void)worker;
    soft_version *version = argument;
    soft_exec *exec = version->exec;
    soft_updatables_activate(version, true);
    atomic_fetch_sub_explicit(&version->launches, 1, memory_order_release);
    soft_exec_release(exec);
}

/* What kernels change is the host's again, in the order of the stream. */
static CUresult upload_updatables(soft_exec *exec, soft_stream *stream)
{
    soft_version *version = exec->current;
    const soft_work work = {
        .kind = SOFT_WORK_CALL, .run = run_upload, .argument = version};
    atomic_fetch_add_explicit(&version->launches, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&exec->references, 1, memory_order_relaxed);
    const CUresult result = soft_stream_call(stream, &work, &exec->last, 1);
    if (result != CUDA_SUCCESS) {
        atomic_fetch_sub_explicit(&version->launches, 1, memory_order_release);
        soft_exec_release(exec);
    }
    return result;
}

/* All but memory, and what kernels may change, is prepared at instantiation (R36). */
CUresult soft_exec_upload(soft_exec *exec, soft_stream *stream)
{
    if (!soft_rule(R36))
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED, "nothing is uploaded");
    soft_light_lock(&exec->mutex);
    CUresult result = soft_exec_memory_upload(exec->memory, stream);
    if (exec->updatables)
        SOFT_THEN(result, upload_updatables(exec, stream));
    if (result == CUDA_SUCCESS)
        soft_side_upload(exec->side, exec->current);
    soft_light_unlock(&exec->mutex);
    return result;
}
