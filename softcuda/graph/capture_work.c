// SPDX-License-Identifier: Apache-2.0
/* Streams that capture: their work becomes nodes, records of events copy the stream's
 * frontier, and waits for such events bring streams into the capture or join them. A call
 * that finds no memory leaves the capture as it was: it can be made again. */
#include <string.h>

#include "softcuda/graph/capturing.h"

/* ---- work -------------------------------------------------------------------------- */

static CUresult ended(const soft_stream *stream)
{
    return soft_fail(CUDA_ERROR_ILLEGAL_STATE,
                     "another thread ended the capture of stream %p meanwhile",
                     (const void *)stream);
}

CUresult soft_capture_check_open(const soft_stream *stream)
{
    const struct soft_capture *capture = soft_capture_of(stream);
    if (!capture)
        return soft_fail(CUDA_ERROR_ILLEGAL_STATE, "stream %p does not capture",
                         (const void *)stream);
    return capture->invalidated ? soft_capture_refuse_invalidated(capture) : CUDA_SUCCESS;
}

/* The capture that a node or an event can be added to now. */
static CUresult open_capture(const soft_stream *stream, struct soft_capture **out)
{
    struct soft_capture *capture = soft_capture_of(stream);
    if (!capture)
        return ended(stream);
    if (capture->invalidated && (soft_rule(R97) || !capture->graph))
        return soft_capture_refuse_invalidated(capture);
    *out = capture;
    return CUDA_SUCCESS;
}

/* Adds a node after `after`, or the stream's frontier, and makes it the frontier. */
static CUresult add_behind(soft_stream *stream, const soft_node_params *params,
                           const soft_edge_list *after, soft_node **out)
{
    struct soft_capture *capture = NULL;
    SOFT_TRY(open_capture(stream, &capture));
    soft_edge_list *list = soft_frontier_of(stream);
    /* Room first, so that the frontier can always take the new node. */
    SOFT_TRY(soft_edge_list_push(list, NULL, NULL));
    list->count--;
    if (!after)
        after = list;
    soft_node *node;
    soft_node_params captured = *params;
    captured.captured = true;
    SOFT_TRY(soft_node_add(capture->graph, &captured, after->ends, after->count, &node));
    list->ends[0] = (soft_edge_end){.node = node};
    list->count = 1;
    stream->captured_work = true;
    *out = node;
    return CUDA_SUCCESS;
}

static CUresult add_node(soft_stream *stream, const soft_node_params *params,
                         const soft_edge_list *after)
{
    soft_node *node;
    return add_behind(stream, params, after, &node);
}

CUresult soft_capture_add(soft_stream *stream, const soft_node_params *params,
                          soft_node **out)
{
    return add_behind(stream, params, NULL, out);
}

/* ---- kernels ----------------------------------------------------------------------- */

#define PROGRAMMATIC CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC

/* What a launch with programmatic serialization depends on: the kernels before it only up
 * to their trigger (R102). */
static CUresult weaken(const soft_edge_list *list, soft_edge_list **out)
{
    SOFT_TRY(soft_frontier_copy(list->ends, list->count, out));
    for (uint32_t i = 0; i < (*out)->count; i++) {
        soft_edge_end *end = &(*out)->ends[i];
        if (end->node->type == CU_GRAPH_NODE_TYPE_KERNEL && soft_rule(R102))
            end->data =
                (CUgraphEdgeData){.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                  .type = PROGRAMMATIC};
    }
    return CUDA_SUCCESS;
}

/* The event is part of a capture from now on; the frontier is the event's. */
static void set_captured(soft_event *event, const struct soft_capture *capture,
                         soft_edge_list *frontier)
{
    pthread_mutex_lock(&event->mutex);
    soft_frontier_free(event->frontier);
    event->frontier = frontier;
    event->drop_frontier = soft_frontier_free;
    event->state = SOFT_EVENT_CAPTURED;
    event->capture_id = capture->id;
    pthread_mutex_unlock(&event->mutex);
}

/* A kernel has the attributes of its stream, and those of its launch over them. */
static void gather_attributes(const soft_stream *stream, soft_node_attributes *out)
{
    CUlaunchAttributeValue value;
    out->set = 0;
    if (!soft_rule(M_captured_attributes))
        return;
    memset(&value, 0, sizeof(value));
    if (stream->window.num_bytes != 0) {
        value.accessPolicyWindow = stream->window;
        soft_node_attributes_add(out, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value);
    }
    if (stream->domain != CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT) {
        value.memSyncDomain = stream->domain;
        soft_node_attributes_add(out, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &value);
    }
    if (stream->domains.default_ != 0 || stream->domains.remote != 1) {
        value.memSyncDomainMap = stream->domains;
        soft_node_attributes_add(out, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value);
    }
    const CUlaunchConfig *config = soft_thread_self()->launch;
    for (unsigned i = 0; config && i < config->numAttrs; i++)
        soft_node_attributes_add(out, config->attrs[i].id, &config->attrs[i].value);
}

/* Of a node that kernels change, in the attribute that asked for it. */
static void tell_handle(const soft_node *node)
{
    const CUlaunchConfig *config = soft_thread_self()->launch;
    for (unsigned i = 0; config && node->updatable && i < config->numAttrs; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
            config->attrs[i].value = node->attributes->values[config->attrs[i].id];
}

/* What the kernel itself records is the node's port (R102). */
static CUresult add_kernel(soft_stream *stream, const soft_task *task)
{
    const soft_launch *launch = &task->u.launch;
    soft_task own = *task;
    if (!own.u.launch.has_priority || !soft_rule(M_captured_priority))
        own.u.launch.priority = soft_rule(R38) ? stream->priority : 0;
    own.u.launch.has_priority = false;
    own.u.launch.programmatic = false;
    own.u.launch.trigger = NULL;
    soft_node_attributes attributes;
    gather_attributes(stream, &attributes);
    const soft_node_params params = {.type = CU_GRAPH_NODE_TYPE_KERNEL,
                                     .context = stream->context,
                                     .task = &own,
                                     .attributes = attributes.set ? &attributes : NULL};
    struct soft_capture *capture = NULL;
    soft_edge_list *weak = NULL, *recorded = NULL;
    SOFT_TRY(open_capture(stream, &capture));
    CUresult result = CUDA_SUCCESS;
    if (launch->trigger)
        result = soft_frontier_copy(&(soft_edge_end){0}, 1, &recorded);
    if (result == CUDA_SUCCESS && launch->programmatic)
        result = weaken(soft_frontier_of(stream), &weak);
    SOFT_THEN(result, add_node(stream, &params, weak));
    soft_frontier_free(weak);
    if (result != CUDA_SUCCESS) {
        soft_frontier_free(recorded);
        return result;
    }
    tell_handle(soft_frontier_of(stream)->ends[0].node);
    if (launch->trigger) {
        recorded->ends[0] = soft_frontier_of(stream)->ends[0];
        if (soft_rule(R102))
            recorded->ends[0].data = (CUgraphEdgeData){.from_port = launch->trigger_port,
                                                       .type = launch->trigger_type};
        set_captured(launch->trigger, capture, recorded);
    }
    return CUDA_SUCCESS;
}

CUresult soft_capture_task(soft_stream *stream, const soft_task *task)
{
    soft_node_params params = {.context = stream->context, .task = task};
    switch (task->kind) {
    case SOFT_TASK_KERNEL: return add_kernel(stream, task);
    case SOFT_TASK_COPY: params.type = CU_GRAPH_NODE_TYPE_MEMCPY; break;
    case SOFT_TASK_FILL: params.type = CU_GRAPH_NODE_TYPE_MEMSET; break;
    case SOFT_TASK_BATCH: params.type = task->u.batch.type; break;
    case SOFT_TASK_HOST: params.type = CU_GRAPH_NODE_TYPE_HOST; break;
    case SOFT_TASK_BRANCH:
    case SOFT_TASK_CALL:
        return ended(stream); /* ours, of a stream that did not capture */
    }
    return add_node(stream, &params, NULL);
}

/* ---- records ----------------------------------------------------------------------- */

/* Another process cannot join a capture: an H100 takes such events as nodes alone. */
static CUresult refuse_shared(void)
{
    return soft_fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                     "an interprocess event is recorded and waited for in a capture "
                     "with the external flag only");
}

CUresult soft_capture_record(soft_stream *stream, soft_event *event, uint32_t flags)
{
    struct soft_capture *capture = NULL;
    SOFT_TRY(open_capture(stream, &capture));
    if ((flags & CU_EVENT_RECORD_EXTERNAL) && soft_rule(R92)) {
        const soft_node_params params = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                                         .context = stream->context,
                                         .event = event};
        return add_node(stream, &params, NULL);
    }
    if (event->share)
        return refuse_shared(); /* and the capture goes on, unlike with a wait */
    const soft_edge_list *frontier = soft_frontier_of(stream);
    soft_edge_list *copy;
    SOFT_TRY(soft_frontier_copy(frontier->ends, frontier->count, &copy));
    set_captured(event, capture, copy);
    return CUDA_SUCCESS;
}

/* ---- waits ------------------------------------------------------------------------- */

/* An event that was recorded in a capture, as it is now. */
struct captured {
    uint64_t capture_id;
    soft_edge_list *frontier; /* ours to free */
};

/* Another thread may record the event while this one waits: its frontier is copied. Nodes
 * that the program destroyed since are left out. */
static CUresult look_at(soft_event *event, soft_event_state *state, struct captured *out)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&event->mutex);
    *state = event->state;
    if (event->state == SOFT_EVENT_CAPTURED) {
        const soft_edge_list *list = event->frontier;
        out->capture_id = event->capture_id;
        result = soft_frontier_copy(list->ends, list->count, &out->frontier);
    }
    pthread_mutex_unlock(&event->mutex);
    if (result != CUDA_SUCCESS || *state != SOFT_EVENT_CAPTURED)
        return result;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < out->frontier->count; i++)
        if (soft_handle_is(out->frontier->ends[i].node, SOFT_KIND_GRAPH_NODE))
            out->frontier->ends[kept++] = out->frontier->ends[i];
    out->frontier->count = kept;
    return CUDA_SUCCESS;
}

static CUresult merge_captures(struct soft_capture *mine, struct soft_capture *theirs)
{
    char one[SOFT_CAPTURE_NAME_BYTES], other[SOFT_CAPTURE_NAME_BYTES];
    const CUresult code = CUDA_ERROR_STREAM_CAPTURE_MERGE;
    soft_capture_invalidate(mine, code);
    soft_capture_invalidate(theirs, code);
    return soft_fail(
        code,
        "the event belongs to %s, the stream to %s: both are now invalid; end "
        "one before the other uses its events",
        soft_capture_name(theirs, other), soft_capture_name(mine, one));
}

static CUresult event_is_over(struct soft_capture *mine)
{
    if (mine)
        soft_capture_invalidate(mine, CUDA_ERROR_INVALID_VALUE);
    return soft_fail(CUDA_ERROR_INVALID_VALUE,
                     "the event was recorded in a capture that is over or invalid, so it "
                     "is an edge of that graph; record it again");
}

static CUresult refuse_legacy(struct soft_capture *theirs)
{
    char name[SOFT_CAPTURE_NAME_BYTES];
    const CUresult code = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    soft_capture_invalidate(theirs, code);
    return soft_fail(code, "the legacy stream cannot join %s: use a created stream",
                     soft_capture_name(theirs, name));
}

/* The event belongs to a capture: the stream joins it, or waits inside it. Takes the
 * frontier of `event`. */
static CUresult wait_captured(soft_stream *stream, struct captured event)
{
    struct soft_capture *theirs = soft_capture_by_id(event.capture_id);
    struct soft_capture *mine = soft_capture_of(stream);
    CUresult result = CUDA_SUCCESS;
    if (mine && mine->invalidated && soft_rule(R97)) {
        result = soft_capture_refuse_invalidated(mine);
    } else if (!theirs || theirs->invalidated) {
        result = soft_rule(M_C09_over) ? event_is_over(mine) : CUDA_SUCCESS;
    } else if (mine && mine != theirs && soft_rule(R91)) {
        result = merge_captures(mine, theirs);
    } else if (mine) {
        result = soft_frontier_merge(soft_frontier_of(stream), event.frontier->ends,
                                     event.frontier->count);
    } else if (stream->kind == SOFT_STREAM_LEGACY) {
        result = refuse_legacy(theirs);
    } else {
        soft_capture_join(theirs, stream, event.frontier);
        return CUDA_SUCCESS;
    }
    soft_frontier_free(event.frontier);
    return result;
}

/* No event of a capture: nothing of what the graph's launches would wait for. */
static CUresult refuse_foreign(struct soft_capture *mine)
{
    char name[SOFT_CAPTURE_NAME_BYTES];
    soft_capture_invalidate(mine, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    return soft_fail(
        CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
        "the event was not recorded in %s, which is now invalid: let the other "
        "stream join first (record here, wait there), or wait with "
        "CU_EVENT_WAIT_EXTERNAL",
        soft_capture_name(mine, name));
}

/* Whether a capture recorded the event that is no more, or invalid. */
static bool is_over(soft_event *event)
{
    pthread_mutex_lock(&event->mutex);
    const bool captured = event->state == SOFT_EVENT_CAPTURED;
    const uint64_t id = event->capture_id;
    pthread_mutex_unlock(&event->mutex);
    const struct soft_capture *theirs = captured ? soft_capture_by_id(id) : NULL;
    return captured && (!theirs || theirs->invalidated);
}

/* The node waits for what the event is at each launch. */
static CUresult wait_external(soft_stream *stream, soft_event *event)
{
    const soft_node_params params = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                                     .context = stream->context,
                                     .event = event};
    struct soft_capture *mine = NULL;
    SOFT_TRY(open_capture(stream, &mine));
    if (soft_rule(M_C09_over) && is_over(event))
        return event_is_over(mine);
    return add_node(stream, &params, NULL);
}

CUresult soft_capture_wait(soft_stream *stream, soft_event *event, uint32_t flags)
{
    struct soft_capture *mine = soft_capture_of(stream);
    if ((flags & CU_EVENT_WAIT_EXTERNAL) && soft_rule(R92)) {
        if (!mine && soft_rule(M_C09_over) && is_over(event))
            return event_is_over(NULL);
        if (!mine)
            return soft_fail(CUDA_ERROR_ILLEGAL_STATE,
                             "CU_EVENT_WAIT_EXTERNAL is for streams that capture");
        return wait_external(stream, event);
    }
    if (event->share) {
        if (mine)
            soft_capture_invalidate(mine, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        return refuse_shared();
    }
    soft_event_state state;
    struct captured captured = {0};
    SOFT_TRY(look_at(event, &state, &captured));
    if (state == SOFT_EVENT_CAPTURED)
        return wait_captured(stream, captured);
    SOFT_TRY(open_capture(stream, &mine));
    if (state == SOFT_EVENT_NEVER || !soft_rule(R91))
        return CUDA_SUCCESS; /* nothing to wait for, as outside a capture */
    return refuse_foreign(mine);
}

/* ---- hooks ------------------------------------------------------------------------- */

static CUresult hook_task(soft_stream *stream, const soft_task *task)
{
    soft_graph_lock();
    const CUresult result = soft_capture_task(stream, task);
    soft_graph_unlock();
    return result;
}

static CUresult hook_record(soft_stream *stream, soft_event *event, uint32_t flags)
{
    soft_graph_lock();
    const CUresult result = soft_capture_record(stream, event, flags);
    soft_graph_unlock();
    return result;
}

static CUresult hook_wait(soft_stream *stream, soft_event *event, uint32_t flags)
{
    soft_graph_lock();
    const CUresult result = soft_capture_wait(stream, event, flags);
    soft_graph_unlock();
    return result;
}

void soft_capture_install(void)
{
    static const soft_capture_hooks hooks = {.task = hook_task,
                                             .record_event = hook_record,
                                             .wait_event = hook_wait,
                                             .invalidate = soft_capture_invalidate_stream,
                                             .entered = soft_capture_entered,
                                             .stream = soft_capture_asks_stream,
                                             .event = soft_capture_asks_event,
                                             .context = soft_capture_asks_context,
                                             .green_gone = soft_capture_green_gone,
                                             .stream_gone = soft_capture_stream_gone,
                                             .graph_gone = soft_capture_graph_gone};
    soft_capture_calls_install();
    soft_capture_set_hooks(&hooks);
}
