// SPDX-License-Identifier: Apache-2.0
/* What the files of capture share. All with the graph mutex held.
 *
 *   capture.c        captures: begin, end, the streams that take part, what is asked
 *   capture_work.c   work, events and waits of streams that capture
 *   capture_calls.c  what each call of the driver means to an open capture */
#ifndef SOFT_GRAPH_CAPTURING_H
#define SOFT_GRAPH_CAPTURING_H

#include "softcuda/graph/capture.h"
#include "softcuda/rules/rules.h"

struct soft_capture {
    uint64_t id;
    soft_graph *graph; /* NULL: it was the caller's, and is destroyed */
    bool owns_graph;   /* false: cuStreamBeginCaptureToGraph */
    bool invalidated;
    soft_stream *origin;
    soft_stream *streams;   /* by next_in_capture */
    soft_edge_list orphans; /* frontiers of streams that were destroyed */
    CUstreamCaptureMode mode;
    pthread_t thread; /* that began it */
    int thread_id;    /* as the system and the log count */
    soft_context *context;
    char cause[160]; /* of invalidation: the call, its code and its thread */
    struct soft_capture *next;
};

/* All that are open, the latest first. */
extern struct soft_capture *soft_captures;

struct soft_capture *soft_capture_of(const soft_stream *stream);
struct soft_capture *soft_capture_by_id(uint64_t id);
bool soft_capture_is_mine(const struct soft_capture *capture);

/* "the capture of stream 0x1 (global mode, begun by thread 12)", in `out`. */
#define SOFT_CAPTURE_NAME_BYTES 128
const char *soft_capture_name(const struct soft_capture *capture,
                              char out[SOFT_CAPTURE_NAME_BYTES]);
/* The system's number of this thread. */
int soft_thread_number(void);
/* Marks the capture: the call that this thread is in, with `code`, is the cause. */
void soft_capture_invalidate(struct soft_capture *capture, CUresult code);
/* STREAM_CAPTURE_INVALIDATED, with the cause. */
CUresult soft_capture_refuse_invalidated(const struct soft_capture *capture);

/* Frontiers: what the next node of a stream, or who waits for an event, depends on. */
void soft_frontier_free(void *frontier);
CUresult soft_frontier_copy(const soft_edge_end *ends, uint32_t count,
                            soft_edge_list **out);
/* Adds the ends that are not there yet; of two edges from one node the one from the lower
 * port stays, which waits for more. On failure `list` is as before. */
CUresult soft_frontier_merge(soft_edge_list *list, const soft_edge_end *ends,
                             uint32_t count);
static inline soft_edge_list *soft_frontier_of(const soft_stream *stream)
{
    return stream->frontier;
}
/* The stream takes part from now on; the frontier is the capture's. */
void soft_capture_join(struct soft_capture *capture, soft_stream *stream,
                       soft_edge_list *frontier);

/* Hooks of capture.c, which take the mutex. */
void soft_capture_stream_gone(soft_stream *stream);
void soft_capture_invalidate_stream(soft_stream *stream, CUresult code);
/* The graph, which has a capture, is destroyed: that capture is invalid. Mutex held. */
void soft_capture_graph_gone(soft_graph *graph);

/* capture_work.c */
CUresult soft_capture_task(soft_stream *stream, const soft_task *task);
CUresult soft_capture_record(soft_stream *stream, soft_event *event, uint32_t flags);
CUresult soft_capture_wait(soft_stream *stream, soft_event *event, uint32_t flags);

/* capture_calls.c */
void soft_capture_calls_install(void);
CUresult soft_capture_entered(const char *call);
CUresult soft_capture_asks_stream(soft_stream *stream);
CUresult soft_capture_asks_event(soft_event *event);
CUresult soft_capture_asks_context(soft_current context);
void soft_capture_green_gone(const soft_green *green);

#endif
