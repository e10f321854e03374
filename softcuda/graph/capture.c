// SPDX-License-Identifier: Apache-2.0
/* Stream capture: work that goes to a capturing stream becomes nodes of a graph.
 *
 *   capture ── graph, origin stream, mode, thread
 *          └─ streams that take part, each with its frontier: the nodes that its next
 * work depends on. A recorded event carries a copy of the frontier to other streams. */
#include "softcuda/graph/capturing.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "softcuda/device/heap.h"

struct soft_capture *soft_captures;
static uint64_t last_capture_id;

/* ---- frontiers
 * -------------------------------------------------------------------------- */

void soft_frontier_free(void *frontier)
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
CUresult soft_frontier_merge(soft_edge_list *list, const soft_edge_end *ends,
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

CUresult soft_frontier_copy(const soft_edge_end *ends, uint32_t count,
                            soft_edge_list **out)
{
    soft_edge_list *list = soft_new(sizeof(*list));
    if (list == NULL)
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a capture");
    const CUresult result = soft_frontier_merge(list, ends, count);
    if (result != CUDA_SUCCESS) {
        soft_frontier_free(list);
        return result;
    }
    *out = list;
    return CUDA_SUCCESS;
}

/* ---- streams come and go
 * ------------------------------------------------------------------ */

void soft_capture_join(struct soft_capture *capture, soft_stream *stream,
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
    soft_frontier_free(stream->frontier);
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
    struct soft_capture **at = &soft_captures;
    while (*at != capture)
        at = &(*at)->next;
    *at = capture->next;
    atomic_fetch_sub_explicit(&soft_captures_open, 1, memory_order_relaxed);
    capture->graph->capture = NULL;
    soft_delete(capture);
}

struct soft_capture *soft_capture_of(const soft_stream *stream)
{
    return atomic_load_explicit(&((soft_stream *)(uintptr_t)stream)->capture,
                                memory_order_relaxed);
}

struct soft_capture *soft_capture_by_id(uint64_t id)
{
    struct soft_capture *capture = soft_captures;
    while (capture && capture->id != id)
        capture = capture->next;
    return capture;
}

bool soft_capture_is_mine(const struct soft_capture *capture)
{
    return pthread_equal(capture->thread, pthread_self()) != 0;
}

/* ---- words
 * ---------------------------------------------------------------------------------- */

int soft_thread_number(void)
{
    return (int)syscall(SYS_gettid);
}

const char *soft_capture_name(const struct soft_capture *capture,
                              char out[SOFT_CAPTURE_NAME_BYTES])
{
    static const char *const modes[] = {"global", "thread-local", "relaxed"};
    snprintf(out, SOFT_CAPTURE_NAME_BYTES,
             "the capture of %sstream %p (%s, of thread %d)",
             soft_stream_is_blocking(capture->origin) ? "blocking " : "",
             (void *)capture->origin, modes[capture->mode], capture->thread_id);
    return out;
}

void soft_capture_invalidate(struct soft_capture *capture, CUresult code)
{
    if (capture->invalidated)
        return;
    const char *call = soft_thread_self()->call;
    capture->invalidated = true;
    snprintf(capture->cause, sizeof(capture->cause), "%s, which returned %d in thread %d",
             call ? call : "a call", (int)code, soft_thread_number());
}

CUresult soft_capture_refuse_invalidated(const struct soft_capture *capture)
{
    char name[SOFT_CAPTURE_NAME_BYTES];
    return soft_fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                     "%s was made invalid by %s: nothing can be added, and "
                     "cuStreamEndCapture takes its streams out of it",
                     soft_capture_name(capture, name), capture->cause);
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
    if (soft_capture_of(stream))
        return soft_fail(CUDA_ERROR_ILLEGAL_STATE, "the stream captures already");
    if (graph && graph->capture)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "a stream captures into the graph");
    soft_edge_list *list;
    SOFT_TRY(soft_frontier_copy(frontier, count, &list));
    struct soft_capture *capture = soft_new(sizeof(*capture));
    CUresult result = CUDA_SUCCESS;
    if (capture == NULL)
        result = soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a capture");
    else if (graph == NULL)
        result = soft_graph_create(&capture->graph);
    if (result != CUDA_SUCCESS) {
        soft_delete(capture);
        soft_frontier_free(list);
        return result;
    }
    if (graph)
        capture->graph = graph;
    capture->owns_graph = graph == NULL;
    capture->id = ++last_capture_id;
    capture->mode = mode;
    capture->thread = pthread_self();
    capture->thread_id = soft_thread_number();
    capture->origin = stream;
    capture->context = stream->context;
    capture->graph->capture = capture;
    capture->next = soft_captures;
    soft_captures = capture;
    atomic_fetch_add_explicit(&soft_captures_open, 1, memory_order_relaxed);
    soft_capture_join(capture, stream, list);
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
    const soft_edge_list *roots = soft_frontier_of(capture->origin);
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
        for (uint32_t i = 0; i < soft_frontier_of(s)->count; i++)
            *out |= soft_frontier_of(s)->ends[i].node->mark == 0;
    return CUDA_SUCCESS;
}

static CUresult judge_end(struct soft_capture *capture)
{
    if (!soft_capture_is_mine(capture) && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED)
        return soft_fail(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
                         "only a relaxed capture is ended by another thread");
    if (capture->invalidated)
        return soft_capture_refuse_invalidated(capture);
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
    char name[SOFT_CAPTURE_NAME_BYTES];
    struct soft_capture *capture = soft_capture_of(stream);
    if (capture == NULL)
        return soft_fail(CUDA_ERROR_ILLEGAL_STATE,
                         "stream %p does not capture: it was never begun, or is over",
                         (void *)stream);
    if (capture->origin != stream) {
        soft_capture_invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
        return soft_fail(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
                         "stream %p joined %s and cannot end it: end it there",
                         (void *)stream, soft_capture_name(capture, name));
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
    const struct soft_capture *capture = soft_capture_of(stream);
    *out = (soft_capture_info){.status = CU_STREAM_CAPTURE_STATUS_NONE};
    if (capture == NULL)
        return;
    out->status = capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                       : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    out->id = capture->id;
    if (capture->invalidated)
        return;
    out->graph = capture->graph;
    out->frontier = soft_frontier_of(stream);
}

CUresult soft_capture_set_frontier(soft_stream *stream, bool replace,
                                   const soft_edge_end *ends, uint32_t count)
{
    struct soft_capture *capture = soft_capture_of(stream);
    if (capture == NULL)
        return soft_fail(CUDA_ERROR_ILLEGAL_STATE, "the stream does not capture");
    if (capture->invalidated)
        return soft_capture_refuse_invalidated(capture);
    for (uint32_t i = 0; i < count; i++)
        if (ends[i].node->graph != capture->graph)
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "dependency %u is no node of the captured graph", i);
    if (!replace)
        return soft_frontier_merge(soft_frontier_of(stream), ends, count);
    soft_edge_list *fresh;
    SOFT_TRY(soft_frontier_copy(ends, count, &fresh));
    soft_frontier_free(stream->frontier);
    stream->frontier = fresh;
    return CUDA_SUCCESS;
}

/* ---- hooks
 * -------------------------------------------------------------------------------- */

/* A capture without its origin can never be ended: it is dropped. */
static void hook_stream_gone(soft_stream *stream)
{
    soft_graph_lock();
    struct soft_capture *capture = soft_capture_of(stream);
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
        soft_capture_invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        leave(stream);
    }
    soft_graph_unlock();
}

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

static void hook_spoil(soft_stream *stream, CUresult code)
{
    soft_graph_lock();
    struct soft_capture *capture = soft_capture_of(stream);
    if (capture && soft_rule(M_C13_spoilt))
        soft_capture_invalidate(capture, code);
    soft_graph_unlock();
}

void soft_capture_install(void)
{
    static const soft_capture_hooks hooks = {.task = hook_task,
                                             .record_event = hook_record,
                                             .wait_event = hook_wait,
                                             .spoil = hook_spoil,
                                             .entered = soft_capture_entered,
                                             .stream = soft_capture_asks_stream,
                                             .event = soft_capture_asks_event,
                                             .context = soft_capture_asks_context,
                                             .stream_gone = hook_stream_gone};
    soft_capture_calls_install();
    soft_capture_set_hooks(&hooks);
}
