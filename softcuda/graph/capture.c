// SPDX-License-Identifier: Apache-2.0
/* Stream capture: work that goes to a capturing stream becomes nodes of a graph.
 *
 *   capture ── graph, origin stream, mode, thread
 *          └─ streams that take part, each with its frontier: the nodes that its next
 * work depends on. A recorded event carries a copy of the frontier to other streams. */
#include "softcuda/graph/capture.h"

#include <string.h>

#include "softcuda/device/heap.h"

struct soft_capture {
    uint64_t id;
    soft_graph *graph;
    bool owns_graph; /* false: cuStreamBeginCaptureToGraph */
    bool invalidated;
    soft_stream *origin;
    soft_stream *streams; /* by next_in_capture */
    CUstreamCaptureMode mode;
    pthread_t thread;
    soft_context *context;
    struct soft_capture *next;
};

/* Under the graph mutex, but for the count. */
static struct soft_capture *captures;
static atomic_uint capture_count;
static uint64_t last_capture_id;

/* ---- frontiers
 * -------------------------------------------------------------------------- */

static void frontier_free(void *frontier)
{
    soft_edge_list *list = frontier;
    if (list == NULL)
        return;
    soft_delete(list->ends);
    soft_delete(list);
}

static bool frontier_has(const soft_edge_list *list, const soft_node *node)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->ends[i].node == node)
            return true;
    return false;
}

/* Adds the ends that are not there yet; on failure `list` is as before. */
static CUresult frontier_merge(soft_edge_list *list, const soft_edge_end *ends,
                               uint32_t count)
{
    const uint32_t before = list->count;
    for (uint32_t i = 0; i < count; i++) {
        if (frontier_has(list, ends[i].node))
            continue;
        const CUresult result = soft_edge_list_push(list, ends[i].node, &ends[i].data);
        if (result != CUDA_SUCCESS) {
            list->count = before;
            return result;
        }
    }
    return CUDA_SUCCESS;
}

static CUresult frontier_copy(const soft_edge_end *ends, uint32_t count,
                              soft_edge_list **out)
{
    soft_edge_list *list = soft_new(sizeof(*list));
    if (list == NULL)
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a capture");
    const CUresult result = frontier_merge(list, ends, count);
    if (result != CUDA_SUCCESS) {
        frontier_free(list);
        return result;
    }
    *out = list;
    return CUDA_SUCCESS;
}

static soft_edge_list *frontier_of(const soft_stream *stream)
{
    return stream->frontier;
}

/* ---- streams come and go
 * ------------------------------------------------------------------ */

static void join(struct soft_capture *capture, soft_stream *stream,
                 soft_edge_list *frontier)
{
    stream->frontier = frontier;
    stream->next_in_capture = capture->streams;
    capture->streams = stream;
    if (soft_stream_is_blocking(stream))
        atomic_fetch_add_explicit(&stream->context->streams->blocking_captures, 1,
                                  memory_order_relaxed);
    atomic_store_explicit(&stream->capture, capture, memory_order_relaxed);
}

static void leave(soft_stream *stream)
{
    atomic_store_explicit(&stream->capture, NULL, memory_order_relaxed);
    frontier_free(stream->frontier);
    stream->frontier = NULL;
    stream->next_in_capture = NULL;
    if (soft_stream_is_blocking(stream))
        atomic_fetch_sub_explicit(&stream->context->streams->blocking_captures, 1,
                                  memory_order_relaxed);
}

/* Takes all streams out; the graph stays. */
static void finish(struct soft_capture *capture)
{
    while (capture->streams) {
        soft_stream *stream = capture->streams;
        capture->streams = stream->next_in_capture;
        leave(stream);
    }
    struct soft_capture **at = &captures;
    while (*at != capture)
        at = &(*at)->next;
    *at = capture->next;
    atomic_fetch_sub_explicit(&capture_count, 1, memory_order_relaxed);
    capture->graph->capture = NULL;
    soft_delete(capture);
}

static struct soft_capture *capture_of(const soft_stream *stream)
{
    return atomic_load_explicit(&((soft_stream *)(uintptr_t)stream)->capture,
                                memory_order_relaxed);
}

static struct soft_capture *find_capture(uint64_t id)
{
    struct soft_capture *capture = captures;
    while (capture && capture->id != id)
        capture = capture->next;
    return capture;
}

static CUresult refuse_invalidated(void)
{
    return soft_fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                     "the capture was invalidated by an earlier call");
}

/* ---- begin, end
 * ----------------------------------------------------------------------------- */

CUresult soft_capture_begin(soft_stream *stream, CUstreamCaptureMode mode,
                            soft_graph *graph, const soft_edge_end *frontier,
                            uint32_t count)
{
    if (stream->kind == SOFT_STREAM_LEGACY)
        return soft_fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                         "the legacy default stream cannot capture");
    if (capture_of(stream))
        return soft_fail(CUDA_ERROR_ILLEGAL_STATE, "the stream captures already");
    if (graph && graph->capture)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "a stream captures into the graph");
    soft_edge_list *list;
    SOFT_TRY(frontier_copy(frontier, count, &list));
    struct soft_capture *capture = soft_new(sizeof(*capture));
    CUresult result = CUDA_SUCCESS;
    if (capture == NULL)
        result = soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a capture");
    else if (graph == NULL)
        result = soft_graph_create(&capture->graph);
    if (result != CUDA_SUCCESS) {
        soft_delete(capture);
        frontier_free(list);
        return result;
    }
    if (graph)
        capture->graph = graph;
    capture->owns_graph = graph == NULL;
    capture->id = ++last_capture_id;
    capture->mode = mode;
    capture->thread = pthread_self();
    capture->origin = stream;
    capture->context = stream->context;
    capture->graph->capture = capture;
    capture->next = captures;
    captures = capture;
    atomic_fetch_add_explicit(&capture_count, 1, memory_order_relaxed);
    join(capture, stream, list);
    return CUDA_SUCCESS;
}

/* Marks all ancestors of the origin's frontier, then looks for a frontier that is none.
 */
static CUresult has_unjoined(const struct soft_capture *capture, bool *out)
{
    const soft_graph *graph = capture->graph;
    soft_node **stack = soft_new((graph->node_count + 1ull) * sizeof(*stack));
    if (stack == NULL)
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory to end a capture");
    for (uint32_t i = 0; i < graph->node_count; i++)
        graph->nodes[i]->mark = 0;
    uint32_t depth = 0;
    const soft_edge_list *roots = frontier_of(capture->origin);
    for (uint32_t i = 0; i < roots->count; i++) {
        roots->ends[i].node->mark = 1;
        stack[depth++] = roots->ends[i].node;
    }
    while (depth > 0) {
        const soft_node *node = stack[--depth];
        for (uint32_t i = 0; i < node->dependencies.count; i++) {
            soft_node *before = node->dependencies.ends[i].node;
            if (before->mark)
                continue;
            before->mark = 1;
            stack[depth++] = before;
        }
    }
    soft_delete(stack);
    *out = false;
    for (const soft_stream *s = capture->streams; s; s = s->next_in_capture)
        for (uint32_t i = 0; i < frontier_of(s)->count; i++)
            *out |= frontier_of(s)->ends[i].node->mark == 0;
    return CUDA_SUCCESS;
}

static CUresult judge_end(struct soft_capture *capture)
{
    if (!pthread_equal(capture->thread, pthread_self()) &&
        capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED)
        return soft_fail(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
                         "only a relaxed capture is ended by another thread");
    if (capture->invalidated)
        return refuse_invalidated();
    bool unjoined;
    SOFT_TRY(has_unjoined(capture, &unjoined));
    if (unjoined)
        return soft_fail(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
                         "a stream that joined the capture has work that the origin "
                         "stream does not wait for");
    return CUDA_SUCCESS;
}

CUresult soft_capture_end(soft_stream *stream, soft_graph **out)
{
    *out = NULL;
    struct soft_capture *capture = capture_of(stream);
    if (capture == NULL)
        return soft_fail(CUDA_ERROR_ILLEGAL_STATE, "the stream does not capture");
    if (capture->origin != stream) {
        capture->invalidated = true;
        return soft_fail(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
                         "the capture began in another stream");
    }
    const CUresult result = judge_end(capture);
    soft_graph *graph = capture->graph;
    const bool owned = capture->owns_graph;
    finish(capture);
    if (result == CUDA_SUCCESS)
        *out = graph;
    else if (owned)
        soft_graph_destroy(graph);
    return result;
}

void soft_capture_get_info(const soft_stream *stream, soft_capture_info *out)
{
    const struct soft_capture *capture = capture_of(stream);
    *out = (soft_capture_info){.status = CU_STREAM_CAPTURE_STATUS_NONE};
    if (capture == NULL)
        return;
    out->status = capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                       : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    out->id = capture->id;
    if (capture->invalidated)
        return;
    out->graph = capture->graph;
    out->frontier = frontier_of(stream);
}

CUresult soft_capture_set_frontier(soft_stream *stream, bool replace,
                                   const soft_edge_end *ends, uint32_t count)
{
    struct soft_capture *capture = capture_of(stream);
    if (capture == NULL)
        return soft_fail(CUDA_ERROR_ILLEGAL_STATE, "the stream does not capture");
    if (capture->invalidated)
        return refuse_invalidated();
    for (uint32_t i = 0; i < count; i++)
        if (ends[i].node->graph != capture->graph)
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "dependency %u is no node of the captured graph", i);
    if (!replace)
        return frontier_merge(frontier_of(stream), ends, count);
    soft_edge_list *fresh;
    SOFT_TRY(frontier_copy(ends, count, &fresh));
    frontier_free(stream->frontier);
    stream->frontier = fresh;
    return CUDA_SUCCESS;
}

/* ---- hooks: work
 * ----------------------------------------------------------------------------- */

/* Adds a node behind the stream's frontier and makes it the frontier. */
static CUresult capture_node(soft_stream *stream, const soft_node_params *params)
{
    struct soft_capture *capture = capture_of(stream);
    if (capture == NULL)
        return soft_fail(CUDA_ERROR_ILLEGAL_STATE, "the capture ended meanwhile");
    if (capture->invalidated)
        return refuse_invalidated();
    soft_edge_list *list = frontier_of(stream);
    /* Room first, so that the frontier can always take the new node. */
    SOFT_TRY(soft_edge_list_push(list, NULL, NULL));
    list->count--;
    soft_node *node;
    SOFT_TRY(soft_node_add(capture->graph, params, list->ends, list->count, &node));
    list->ends[0] = (soft_edge_end){.node = node};
    list->count = 1;
    return CUDA_SUCCESS;
}

static CUresult invalidate(struct soft_capture *capture, CUresult code, const char *why)
{
    if (capture->invalidated)
        return refuse_invalidated();
    capture->invalidated = true;
    return soft_fail(code, "%s; the capture is now invalid", why);
}

static CUresult hook_task_locked(soft_stream *stream, const soft_task *task)
{
    soft_node_params params = {.context = stream->context, .task = task};
    soft_task own = *task;
    switch (task->kind) {
    case SOFT_TASK_KERNEL:
        params.type = CU_GRAPH_NODE_TYPE_KERNEL;
        own.u.launch.priority = stream->priority; /* R38 */
        params.task = &own;
        break;
    case SOFT_TASK_COPY: params.type = CU_GRAPH_NODE_TYPE_MEMCPY; break;
    case SOFT_TASK_FILL: params.type = CU_GRAPH_NODE_TYPE_MEMSET; break;
    case SOFT_TASK_BATCH: params.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP; break;
    case SOFT_TASK_HOST: params.type = CU_GRAPH_NODE_TYPE_HOST; break;
    case SOFT_TASK_CALL:
        return invalidate(capture_of(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                          "this call cannot be captured");
    }
    return capture_node(stream, &params);
}

static CUresult hook_task(soft_stream *stream, const soft_task *task)
{
    soft_graph_lock();
    const CUresult result = hook_task_locked(stream, task);
    soft_graph_unlock();
    return result;
}

static CUresult record_locked(soft_stream *stream, soft_event *event, uint32_t flags)
{
    struct soft_capture *capture = capture_of(stream);
    if (capture == NULL)
        return soft_fail(CUDA_ERROR_ILLEGAL_STATE, "the capture ended meanwhile");
    if (capture->invalidated)
        return refuse_invalidated();
    if (flags & CU_EVENT_RECORD_EXTERNAL) {
        const soft_node_params params = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                                         .context = stream->context,
                                         .event = event};
        return capture_node(stream, &params);
    }
    const soft_edge_list *frontier = frontier_of(stream);
    soft_edge_list *copy;
    SOFT_TRY(frontier_copy(frontier->ends, frontier->count, &copy));
    pthread_mutex_lock(&event->mutex);
    frontier_free(event->frontier);
    event->frontier = copy;
    event->drop_frontier = frontier_free;
    event->state = SOFT_EVENT_CAPTURED;
    event->capture_id = capture->id;
    pthread_mutex_unlock(&event->mutex);
    return CUDA_SUCCESS;
}

static CUresult hook_record_event(soft_stream *stream, soft_event *event, uint32_t flags)
{
    soft_graph_lock();
    const CUresult result = record_locked(stream, event, flags);
    soft_graph_unlock();
    return result;
}

static CUresult over(void)
{
    return soft_fail(CUDA_ERROR_INVALID_VALUE,
                     "the event was recorded in a capture that is over; record it again");
}

/* The event belongs to a capture: the stream joins it, or waits inside it. */
static CUresult wait_captured(soft_stream *stream, soft_event *event)
{
    struct soft_capture *theirs = find_capture(event->capture_id);
    struct soft_capture *mine = capture_of(stream);
    if (theirs == NULL)
        return over();
    if (theirs->invalidated || (mine && mine->invalidated))
        return refuse_invalidated();
    if (mine && mine != theirs) {
        theirs->invalidated = true;
        return invalidate(mine, CUDA_ERROR_STREAM_CAPTURE_MERGE,
                          "the event belongs to another capture than the stream");
    }
    const soft_edge_list *ends = event->frontier;
    if (mine)
        return frontier_merge(frontier_of(stream), ends->ends, ends->count);
    if (stream->kind == SOFT_STREAM_LEGACY)
        return invalidate(theirs, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                          "the legacy stream cannot join a capture");
    soft_edge_list *copy;
    SOFT_TRY(frontier_copy(ends->ends, ends->count, &copy));
    join(theirs, stream, copy);
    return CUDA_SUCCESS;
}

static CUresult wait_locked(soft_stream *stream, soft_event *event, uint32_t flags)
{
    struct soft_capture *mine = capture_of(stream);
    if (flags & CU_EVENT_WAIT_EXTERNAL) {
        if (mine == NULL)
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "the external flag is for streams that capture");
        const soft_node_params params = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                                         .context = stream->context,
                                         .event = event};
        return capture_node(stream, &params);
    }
    pthread_mutex_lock(&event->mutex);
    const soft_event_state state = event->state;
    pthread_mutex_unlock(&event->mutex);
    if (state == SOFT_EVENT_CAPTURED)
        return wait_captured(stream, event);
    if (state == SOFT_EVENT_NEVER)
        return CUDA_SUCCESS; /* nothing to wait for, as outside of a capture */
    if (mine == NULL)
        return soft_fail(CUDA_ERROR_ILLEGAL_STATE, "the capture ended meanwhile");
    return invalidate(mine, CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                      "the event was not recorded in this capture");
}

static CUresult hook_wait_event(soft_stream *stream, soft_event *event, uint32_t flags)
{
    soft_graph_lock();
    const CUresult result = wait_locked(stream, event, flags);
    soft_graph_unlock();
    return result;
}

/* ---- hooks: calls that a capture forbids
 * ------------------------------------------------------ */

static bool captures_blocking(const struct soft_capture *capture)
{
    for (const soft_stream *s = capture->streams; s; s = s->next_in_capture)
        if (soft_stream_is_blocking(s))
            return true;
    return false;
}

static CUresult hook_implicit(soft_context *context)
{
    soft_graph_lock();
    for (struct soft_capture *c = captures; c; c = c->next)
        if (c->context == context && captures_blocking(c))
            c->invalidated = true;
    soft_graph_unlock();
    return soft_fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                     "the legacy stream is used while a blocking stream of the context "
                     "captures; create that stream with CU_STREAM_NON_BLOCKING");
}

/* The capture that forbids the call to this thread (the matrix of graph-errors, section
 * 1). */
static struct soft_capture *forbidding(soft_context *context, bool unsafe, bool *own)
{
    const CUstreamCaptureMode mode = soft_thread_self()->capture_mode;
    if (unsafe && mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return NULL;
    struct soft_capture *found = NULL;
    for (struct soft_capture *c = captures; c; c = c->next) {
        const bool mine = pthread_equal(c->thread, pthread_self());
        if (!unsafe ? c->context == context
            : mine  ? c->mode != CU_STREAM_CAPTURE_MODE_RELAXED
                    : mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                         c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL) {
            found = c;
            *own = mine;
            if (mine)
                break;
        }
    }
    return found;
}

static CUresult hook_check(soft_context *context, bool unsafe)
{
    if (atomic_load_explicit(&capture_count, memory_order_relaxed) == 0)
        return CUDA_SUCCESS;
    CUresult result = CUDA_SUCCESS;
    bool own = false;
    soft_graph_lock();
    struct soft_capture *capture = forbidding(context, unsafe, &own);
    if (capture) {
        capture->invalidated = true;
        result = soft_fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                           "the call conflicts with a capture that %s began",
                           own ? "this thread" : "another thread");
    }
    soft_graph_unlock();
    return result;
}

static void hook_spoil(soft_stream *stream)
{
    soft_graph_lock();
    struct soft_capture *capture = capture_of(stream);
    if (capture)
        capture->invalidated = true;
    soft_graph_unlock();
}

static CUresult hook_refuse(soft_stream *stream, const char *what)
{
    soft_graph_lock();
    struct soft_capture *capture = capture_of(stream);
    CUresult result = CUDA_SUCCESS;
    if (capture && capture->invalidated) {
        result = refuse_invalidated();
    } else if (capture) {
        capture->invalidated = true;
        result =
            soft_fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                      "a stream that captures is %s; the capture is now invalid", what);
    }
    soft_graph_unlock();
    return result;
}

static CUresult hook_captured_event(soft_event *event)
{
    soft_graph_lock();
    struct soft_capture *capture = find_capture(event->capture_id);
    CUresult result;
    if (capture == NULL)
        result = over();
    else
        result = invalidate(capture, CUDA_ERROR_CAPTURED_EVENT,
                            "the event was last recorded in a capture that is open");
    soft_graph_unlock();
    return result;
}

/* A capture without its origin can never be ended: it is dropped. */
static void hook_stream_gone(soft_stream *stream)
{
    soft_graph_lock();
    struct soft_capture *capture = capture_of(stream);
    if (capture && capture->origin == stream) {
        soft_graph *graph = capture->graph;
        const bool owned = capture->owns_graph;
        finish(capture);
        if (owned)
            soft_graph_destroy(graph);
    } else if (capture) {
        soft_stream **at = &capture->streams;
        while (*at != stream)
            at = &(*at)->next_in_capture;
        *at = stream->next_in_capture;
        capture->invalidated = true;
        leave(stream);
    }
    soft_graph_unlock();
}

void soft_capture_install(void)
{
    static const soft_capture_hooks hooks = {.task = hook_task,
                                             .record_event = hook_record_event,
                                             .wait_event = hook_wait_event,
                                             .implicit = hook_implicit,
                                             .check = hook_check,
                                             .refuse = hook_refuse,
                                             .spoil = hook_spoil,
                                             .captured_event = hook_captured_event,
                                             .stream_gone = hook_stream_gone};
    soft_capture_set_hooks(&hooks);
}
