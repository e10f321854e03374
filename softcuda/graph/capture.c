// SPDX-License-Identifier: Apache-2.0
/* Stream capture: work that goes to a capturing stream becomes nodes of a graph.
 *
 *   capture ── graph, origin stream, mode, thread
 *          └─ streams that take part, each with its frontier: the nodes that its next
 * work depends on. A recorded event carries a copy of the frontier to other streams. */
#include "softcuda/graph/capturing.h"
#include "softcuda/graph/node.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "softcuda/device/alloc.h"

struct soft_capture *soft_captures;
static uint64_t last_capture_id;

/* ---- frontiers --------------------------------------------------------------------- */

void soft_frontier_free(void *frontier)
{
    soft_edge_list *list = frontier;
    if (!list)
        return;
    soft_edge_list_fini(list);
    soft_delete(list);
}

static soft_edge_end *find_end(const soft_edge_list *list, const soft_node *node)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->ends[i].node == node)
            return &list->ends[i];
    return NULL;
}

/* Adds the ends that are not there yet; on failure `list` is as before. */
CUresult soft_frontier_merge(soft_edge_list *list, const soft_edge_end *ends,
                             uint32_t count)
{
    SOFT_TRY(soft_edge_list_reserve(list, count));
    for (uint32_t i = 0; i < count; i++) {
        soft_edge_end *there = find_end(list, ends[i].node);
        if (!there)
            list->ends[list->count++] = ends[i];
        else if (ends[i].data.from_port < there->data.from_port)
            there->data = ends[i].data;
    }
    return CUDA_SUCCESS;
}

CUresult soft_frontier_copy(const soft_edge_end *ends, uint32_t count,
                            soft_edge_list **out)
{
    soft_edge_list *list = soft_new(sizeof(*list));
    SOFT_TRY(soft_made(list, "no memory for a capture"));
    const CUresult result = soft_frontier_merge(list, ends, count);
    if (result != CUDA_SUCCESS) {
        soft_frontier_free(list);
        return result;
    }
    *out = list;
    return CUDA_SUCCESS;
}

/* ---- streams come and go ----------------------------------------------------------- */

void soft_capture_join(struct soft_capture *capture, soft_stream *stream,
                       soft_edge_list *frontier)
{
    stream->frontier = frontier;
    stream->captured_work = false;
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
    if (capture->graph)
        capture->graph->capture = NULL;
    soft_edge_list_fini(&capture->orphans);
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

/* ---- words ------------------------------------------------------------------------- */

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

/* ---- begin, end -------------------------------------------------------------------- */

CUresult soft_capture_check_begin(const soft_stream *stream, const soft_graph *graph)
{
    char name[SOFT_CAPTURE_NAME_BYTES];
    if (stream->kind == SOFT_STREAM_LEGACY)
        return soft_fail(
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
            "the legacy default stream cannot capture: use a created stream, "
            "or CU_STREAM_PER_THREAD");
    if (soft_capture_of(stream))
        return soft_fail(
            CUDA_ERROR_ILLEGAL_STATE, "stream %p takes part in %s: end that first",
            (const void *)stream, soft_capture_name(soft_capture_of(stream), name));
    if (graph && graph->capture)
        return soft_fail(CUDA_ERROR_ILLEGAL_STATE, "%s goes into the graph already",
                         soft_capture_name(graph->capture, name));
    return CUDA_SUCCESS;
}

CUresult soft_capture_begin(soft_stream *stream, CUstreamCaptureMode mode,
                            soft_graph *graph, const soft_edge_end *frontier,
                            uint32_t count)
{
    if (soft_rule(R88))
        SOFT_TRY(soft_capture_check_begin(stream, graph));
    /* Without its rule a capture has to wait for what the stream did before. */
    if (!soft_rule(R101) && !soft_point_reached(soft_queue_tail(stream->queue)))
        return soft_fail(CUDA_ERROR_ILLEGAL_STATE, "stream %p is at work",
                         (void *)stream);
    soft_edge_list *list;
    SOFT_TRY(soft_frontier_copy(frontier, count, &list));
    struct soft_capture *capture = soft_new(sizeof(*capture));
    CUresult result = CUDA_SUCCESS;
    if (!capture)
        result = soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a capture");
    else if (!graph)
        result = soft_graph_create(&capture->graph);
    if (result != CUDA_SUCCESS) {
        soft_delete(capture);
        soft_frontier_free(list);
        return result;
    }
    if (graph)
        capture->graph = graph;
    capture->owns_graph = !graph;
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

/* A stream that joined and captured nothing leaves nothing to wait for. */
static bool has_to_be_joined(const soft_stream *stream)
{
    return stream->captured_work || !soft_rule(M_fork_alone);
}

/* Whether a node of the frontier is not an ancestor of what the origin waits for. */
static bool has_unmarked(const soft_edge_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->ends[i].node->mark == 0)
            return true;
    return false;
}

/* Marks a node and puts it onto the stack: mark_out is the place + 1 of the next one. */
static uint32_t mark(soft_node *node, uint32_t top)
{
    node->mark = 1;
    node->mark_out = top;
    return node->place + 1;
}

/* A stream whose work the origin does not wait for, or NULL; *lost: it is destroyed.
 * Marks all ancestors of the origin's frontier, with no memory of its own: an end cannot
 * fail for the lack of it. */
static const soft_stream *find_unjoined(const struct soft_capture *capture, bool *lost)
{
    const soft_graph *graph = capture->graph;
    for (uint32_t i = 0; i < graph->node_count; i++)
        graph->nodes[i]->mark = 0;
    uint32_t top = 0;
    const soft_edge_list *roots = soft_frontier_of(capture->origin);
    for (uint32_t i = 0; i < roots->count; i++)
        if (roots->ends[i].node->mark == 0)
            top = mark(roots->ends[i].node, top);
    while (top > 0) {
        const soft_node *node = graph->nodes[top - 1];
        top = node->mark_out;
        for (uint32_t i = 0; i < node->dependencies.count; i++)
            if (node->dependencies.ends[i].node->mark == 0)
                top = mark(node->dependencies.ends[i].node, top);
    }
    for (const soft_stream *s = capture->streams; s; s = s->next_in_capture)
        if (has_to_be_joined(s) && has_unmarked(soft_frontier_of(s)))
            return s;
    *lost = has_unmarked(&capture->orphans);
    return NULL;
}

/* In the order that an H100 judges by. */
static CUresult judge_end(struct soft_capture *capture)
{
    char name[SOFT_CAPTURE_NAME_BYTES];
    soft_capture_name(capture, name);
    if (capture->invalidated && (soft_rule(R97) || !capture->graph))
        return soft_capture_refuse_invalidated(capture);
    bool lost = false;
    const soft_stream *unjoined = find_unjoined(capture, &lost);
    if ((unjoined || lost) && soft_rule(R90))
        return soft_fail(
            CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
            "%s has work of %sstream %p that it does not wait for: record an "
            "event after that work and let the origin wait for it",
            name, lost ? "a destroyed " : "", (const void *)unjoined);
    if (!soft_capture_is_mine(capture) &&
        capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && soft_rule(R89))
        return soft_fail(
            CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
            "%s cannot be ended by thread %d, and is over now: only a relaxed "
            "capture is ended by another thread",
            name, soft_thread_number());
    return CUDA_SUCCESS;
}

/* The graph of a capture that failed goes, the caller's too, as on an H100. A child graph
 * stays: its node owns it. */
static void drop_graph(soft_graph *graph)
{
    if (graph && !graph->parent)
        soft_graph_destroy(graph);
}

CUresult soft_capture_end(soft_stream *stream, soft_graph **out)
{
    char name[SOFT_CAPTURE_NAME_BYTES];
    struct soft_capture *capture = soft_capture_of(stream);
    if (!capture)
        return soft_fail(CUDA_ERROR_ILLEGAL_STATE,
                         "stream %p does not capture: it was never begun, or is over",
                         (void *)stream);
    if (capture->origin != stream && soft_rule(R89)) {
        soft_capture_invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
        return soft_fail(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
                         "stream %p joined %s and cannot end it: end it there",
                         (void *)stream, soft_capture_name(capture, name));
    }
    const CUresult result = judge_end(capture);
    soft_graph *graph = capture->graph;
    const bool owned = capture->owns_graph;
    if (result == CUDA_SUCCESS && soft_rule(M_sinks_again))
        for (uint32_t i = 0; i < soft_frontier_of(stream)->count; i++)
            soft_node_note_sink(soft_frontier_of(stream)->ends[i].node);
    finish(capture);
    if (result != CUDA_SUCCESS && (owned || soft_rule(M_R89_graph)))
        drop_graph(graph);
    else if (result != CUDA_SUCCESS)
        return result;
    else if (out)
        *out = graph;
    else if (owned)
        soft_graph_destroy(graph); /* nobody takes it */
    return result;
}

void soft_capture_graph_gone(soft_graph *graph)
{
    struct soft_capture *capture = graph->capture;
    soft_capture_invalidate(capture, CUDA_SUCCESS);
    graph->capture = NULL;
    capture->graph = NULL;
    capture->orphans.count = 0;
    for (soft_stream *s = capture->streams; s; s = s->next_in_capture)
        soft_frontier_of(s)->count = 0;
}

void soft_capture_get_info(const soft_stream *stream, soft_capture_info *out)
{
    const struct soft_capture *capture = soft_capture_of(stream);
    *out = (soft_capture_info){.status = CU_STREAM_CAPTURE_STATUS_NONE};
    if (!capture)
        return;
    out->status = capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                       : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (capture->invalidated || !soft_rule(R99))
        return;
    out->id = capture->id;
    out->graph = capture->graph;
    out->frontier = soft_frontier_of(stream);
}

/* What the next node may depend on: nodes of the graph, by edges that a node could have
 * (R103). `to` is not there yet: a kernel is what allows most. */
CUresult soft_capture_check_frontier(const soft_graph *graph, const soft_edge_end *ends,
                                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (ends[i].node->graph != graph && soft_rule(R100))
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "dependency %zu is not a node of the captured graph", i);
        if (soft_rule(R103))
            SOFT_TRY(
                soft_edge_check(ends[i].node, CU_GRAPH_NODE_TYPE_KERNEL, &ends[i].data));
    }
    return CUDA_SUCCESS;
}

CUresult soft_capture_set_frontier(soft_stream *stream, bool replace,
                                   const soft_edge_end *ends, uint32_t count)
{
    const struct soft_capture *capture = soft_capture_of(stream);
    SOFT_TRY(soft_capture_check_frontier(capture->graph, ends, count));
    if (!replace)
        return soft_frontier_merge(soft_frontier_of(stream), ends, count);
    soft_edge_list *fresh;
    SOFT_TRY(soft_frontier_copy(ends, count, &fresh));
    soft_frontier_free(stream->frontier);
    stream->frontier = fresh;
    return CUDA_SUCCESS;
}

/* ---- what befalls streams ---------------------------------------------------------- */

/* A capture without its origin can never be ended: it is dropped. */
void soft_capture_stream_gone(soft_stream *stream)
{
    soft_graph_lock();
    struct soft_capture *capture = soft_capture_of(stream);
    if (capture && capture->origin == stream && soft_rule(M_R89_origin)) {
        soft_graph *graph = capture->graph;
        finish(capture);
        drop_graph(graph);
    } else if (capture) {
        soft_stream **at = &capture->streams;
        while (*at != stream)
            at = &(*at)->next_in_capture;
        *at = stream->next_in_capture;
        /* Its work stays, and still has to be joined. */
        const soft_edge_list *left = soft_frontier_of(stream);
        if (has_to_be_joined(stream) &&
            soft_frontier_merge(&capture->orphans, left->ends, left->count))
            soft_capture_invalidate(capture, CUDA_ERROR_OUT_OF_MEMORY);
        leave(stream);
    }
    soft_graph_unlock();
}

void soft_capture_invalidate_stream(soft_stream *stream, CUresult code)
{
    soft_graph_lock();
    struct soft_capture *capture = soft_capture_of(stream);
    if (capture && soft_rule(M_C13_spoilt))
        soft_capture_invalidate(capture, code);
    soft_graph_unlock();
}
