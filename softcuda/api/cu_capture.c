// SPDX-License-Identifier: Apache-2.0
/* cuStream*Capture*, cuThreadExchangeStreamCaptureMode.
 *
 * Every call holds the graph mutex while it looks at a capture: other threads may end
 * it, or make it invalid, at any time. What a capture forbids of other calls is not
 * decided here but in graph/capture_calls.c. Dependencies are given as nodes of the
 * graph with their edge data, as half edges are (R103). */
#include "base/vec.h"
#include "softcuda/api/cu_graph.h"
#include "softcuda/api/exports.h"
#include "softcuda/graph/capture.h"
#include "softcuda/rules/rules.h"

static CUresult check_mode(CUstreamCaptureMode mode)
{
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED && soft_rule(R88))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "capture mode %d is not one of 0, 1, 2", (int)mode);
    return CUDA_SUCCESS;
}

/* The mode is judged before the stream is looked up (R88). */
static CUresult begin(CUstream handle, bool per_thread, CUstreamCaptureMode mode)
{
    soft_context *context;
    SOFT_TRY(soft_enter_stream_context("cuStreamBeginCapture", handle, &context));
    soft_stream *stream;
    SOFT_TRY(check_mode(mode));
    SOFT_TRY(soft_stream_find(context, handle, per_thread, &stream));
    soft_graph_lock();
    const CUresult result = soft_capture_begin(stream, mode, NULL, NULL, 0);
    soft_graph_unlock();
    return result;
}

SOFT_TWINS(cuStreamBeginCapture, _ptsz, (CUstream stream),
           begin(stream, per_thread, CU_STREAM_CAPTURE_MODE_GLOBAL))

SOFT_TWINS(cuStreamBeginCapture_v2, _ptsz, (CUstream stream, CUstreamCaptureMode mode),
           begin(stream, per_thread, mode))

struct begin_in {
    CUstream handle;
    bool per_thread;
    CUgraph graph;
    const CUgraphNode *dependencies;
    const CUgraphEdgeData *data;
    size_t count;
    CUstreamCaptureMode mode;
};

/* The stream first, then the dependencies: with several mistakes an H100 names the
 * stream. */
static CUresult begin_to_graph_locked(soft_stream *stream, const struct begin_in *in)
{
    soft_graph *graph;
    soft_edge_end *ends;
    SOFT_TRY(soft_graph_find(in->graph, &graph));
    if (soft_rule(R88))
        SOFT_TRY(soft_capture_check_begin(stream, graph));
    SOFT_TRY(soft_api_edge_ends(in->dependencies, in->count ? in->data : NULL, in->count,
                                &ends));
    CUresult result = soft_capture_check_frontier(graph, ends, in->count);
    SOFT_THEN(result,
              soft_capture_begin(stream, in->mode, graph, ends, (uint32_t)in->count));
    soft_delete(ends);
    return result;
}

static CUresult begin_to_graph(const struct begin_in *in)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context("cuStreamBeginCaptureToGraph", &context));
    soft_stream *stream;
    SOFT_TRY(check_mode(in->mode));
    SOFT_TRY(soft_stream_find(context, in->handle, in->per_thread, &stream));
    soft_graph_lock();
    const CUresult result = begin_to_graph_locked(stream, in);
    soft_graph_unlock();
    return result;
}

SOFT_TWINS(cuStreamBeginCaptureToGraph, _ptsz,
           (CUstream stream, CUgraph graph, const CUgraphNode *dependencies,
            const CUgraphEdgeData *data, size_t count, CUstreamCaptureMode mode),
           begin_to_graph(&(struct begin_in){stream, per_thread, graph, dependencies,
                                             data, count, mode}))

/* What comes back is the graph or NULL: on failure, too, *out is written (R89, R97). */
static CUresult end(CUstream handle, bool per_thread, CUgraph *out)
{
    soft_stream *stream;
    SOFT_TRY(soft_enter_stream("cuStreamEndCapture", handle, per_thread, &stream));
    soft_graph *graph = NULL;
    soft_graph_lock();
    const CUresult result = soft_capture_end(stream, out ? &graph : NULL);
    soft_graph_unlock();
    if (out) /* NULL: the graph is dropped, as an H100 does it */
        *out = (CUgraph)graph;
    return result;
}

SOFT_TWINS(cuStreamEndCapture, _ptsz, (CUstream stream, CUgraph *out),
           end(stream, per_thread, out))

/* The look-up of the legacy stream may refuse: a blocking stream of the context captures
 * (R94). */
static CUresult is_capturing(CUstream handle, bool per_thread, CUstreamCaptureStatus *out)
{
    soft_context *context;
    SOFT_TRY(soft_enter_stream_context("cuStreamIsCapturing", handle, &context));
    SOFT_TRY(soft_need(out, "captureStatus"));
    soft_stream *stream;
    SOFT_TRY(soft_stream_find(context, handle, per_thread, &stream));
    soft_capture_info info;
    soft_graph_lock();
    soft_capture_get_info(stream, &info);
    soft_graph_unlock();
    *out = info.status;
    return CUDA_SUCCESS;
}

SOFT_TWINS(cuStreamIsCapturing, _ptsz, (CUstream stream, CUstreamCaptureStatus *out),
           is_capturing(stream, per_thread, out))

/* ---- information ------------------------------------------------------------------- */

struct info_out {
    CUstreamCaptureStatus *status;
    cuuint64_t *id;
    CUgraph *graph;
    const CUgraphNode **nodes;
    const CUgraphEdgeData **data;
    size_t *count;
    bool can_tell_data; /* v3: not asking for it is lossy if there is some (R11) */
};

/* Copies the frontier to arrays of the stream, lent until its next call. */
static CUresult lend(soft_stream *stream, const soft_edge_list *list)
{
    const gph_allocator heap = *soft_allocator();
    uint32_t nodes_room = stream->lent_capacity, data_room = stream->lent_capacity;
    void *nodes = gphi_array_room(heap, stream->lent_nodes, &nodes_room, list->count,
                                  sizeof(CUgraphNode));
    if (nodes)
        stream->lent_nodes = nodes;
    void *data = gphi_array_room(heap, stream->lent_data, &data_room, list->count,
                                 sizeof(CUgraphEdgeData));
    if (data)
        stream->lent_data = data;
    if (list->count > 0 && (!nodes || !data))
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for %u dependencies",
                         list->count);
    stream->lent_capacity = data_room;
    for (uint32_t i = 0; i < list->count; i++) {
        ((CUgraphNode *)stream->lent_nodes)[i] = (CUgraphNode)list->ends[i].node;
        ((CUgraphEdgeData *)stream->lent_data)[i] = list->ends[i].data;
    }
    return CUDA_SUCCESS;
}

static CUresult refuse_lossy(void)
{
    return soft_fail(CUDA_ERROR_LOSSY_QUERY,
                     "a dependency has edge data, and edgeData_out is NULL");
}

/* Edge data that is not asked for is lost without a word by v2, which has no argument
 * for it; v3 refuses (R11). */
static bool is_lossy(const soft_edge_list *list, const struct info_out *out)
{
    if (out->data || !out->can_tell_data || !out->nodes)
        return false;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->ends[i].data.type || list->ends[i].data.from_port)
            return true;
    return false;
}

/* In the order in which an H100 writes: id and graph are there although the call fails
 * for lossy edges. */
static CUresult fill_info(soft_stream *stream, const soft_capture_info *info,
                          const struct info_out *out)
{
    static const soft_edge_list none;
    const soft_edge_list *list = info->frontier ? info->frontier : &none;
    if (out->data && !out->nodes && soft_rule(M_info_lossy))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "edgeData_out is given without dependencies_out");
    SOFT_TRY(lend(stream, list));
    const bool lossy = is_lossy(list, out);
    if (lossy && !soft_rule(M_info_lossy))
        return refuse_lossy();
    *out->status = info->status;
    if (info->status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_SUCCESS; /* the rest stays as it is */
    if (out->id)
        *out->id = info->id;
    if (out->graph)
        *out->graph = (CUgraph)info->graph;
    if (out->nodes)
        *out->nodes = list->count ? stream->lent_nodes : NULL;
    if (lossy)
        return refuse_lossy();
    if (out->data)
        *out->data = list->count ? stream->lent_data : NULL;
    if (out->count)
        *out->count = list->count;
    return CUDA_SUCCESS;
}

/* The frontier lies in arrays of the stream: they are good until its next call, as CUDA
 * says of them (R99). */
static CUresult get_info(CUstream handle, bool per_thread, const struct info_out *out)
{
    soft_context *context;
    SOFT_TRY(soft_enter_stream_context("cuStreamGetCaptureInfo", handle, &context));
    SOFT_TRY(soft_need(out->status, "captureStatus_out"));
    soft_stream *stream;
    SOFT_TRY(soft_stream_find(context, handle, per_thread, &stream));
    soft_capture_info info;
    soft_graph_lock();
    soft_capture_get_info(stream, &info);
    const CUresult result = fill_info(stream, &info, out);
    soft_graph_unlock();
    return result;
}

SOFT_TWINS(cuStreamGetCaptureInfo, _ptsz,
           (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id),
           get_info(stream, per_thread, &(struct info_out){.status = status, .id = id}))

SOFT_TWINS(cuStreamGetCaptureInfo_v2, _ptsz,
           (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
            CUgraph *graph, const CUgraphNode **nodes, size_t *count),
           get_info(stream, per_thread,
                    &(struct info_out){.status = status,
                                       .id = id,
                                       .graph = graph,
                                       .nodes = nodes,
                                       .count = count}))

SOFT_TWINS(cuStreamGetCaptureInfo_v3, _ptsz,
           (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
            CUgraph *graph, const CUgraphNode **nodes, const CUgraphEdgeData **data,
            size_t *count),
           get_info(stream, per_thread,
                    &(struct info_out){status, id, graph, nodes, data, count, true}))

/* ---- dependencies ------------------------------------------------------------------ */

struct update_in {
    CUstream handle;
    bool per_thread;
    CUgraphNode *nodes;
    const CUgraphEdgeData *data;
    size_t count;
    unsigned int flags;
};

/* Whether the stream captures is judged before the flags (R100). */
static CUresult update(const struct update_in *in)
{
    soft_stream *stream;
    SOFT_TRY(soft_enter_stream("cuStreamUpdateCaptureDependencies", in->handle,
                               in->per_thread, &stream));
    soft_edge_end *ends = NULL;
    soft_graph_lock();
    CUresult result = soft_capture_check_open(stream);
    if (result == CUDA_SUCCESS && in->flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES &&
        soft_rule(R100))
        result = soft_fail(CUDA_ERROR_INVALID_VALUE,
                           "flags are %u: 0 (add) and 1 (set) are known", in->flags);
    SOFT_THEN(result, soft_api_edge_ends(in->nodes, in->count ? in->data : NULL,
                                         in->count, &ends));
    SOFT_THEN(result, soft_capture_set_frontier(
                          stream, in->flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES, ends,
                          (uint32_t)in->count));
    soft_graph_unlock();
    soft_delete(ends);
    return result;
}

SOFT_TWINS(cuStreamUpdateCaptureDependencies, _ptsz,
           (CUstream stream, CUgraphNode *nodes, size_t count, unsigned int flags),
           update(&(struct update_in){stream, per_thread, nodes, NULL, count, flags}))

SOFT_TWINS(cuStreamUpdateCaptureDependencies_v2, _ptsz,
           (CUstream stream, CUgraphNode *nodes, const CUgraphEdgeData *data,
            size_t count, unsigned int flags),
           update(&(struct update_in){stream, per_thread, nodes, data, count, flags}))

/* Per thread, and swapped: libraries put back what they found (R96). */
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    SOFT_TRY(soft_enter_with(__func__, mode, "mode"));
    soft_thread *self = soft_thread_self();
    const CUstreamCaptureMode before = self->capture_mode;
    if (soft_rule(R96))
        self->capture_mode = *mode; /* any value: others than 1 and 2 act as global */
    *mode = before;
    return CUDA_SUCCESS;
}
