// SPDX-License-Identifier: Apache-2.0
/* Streams that take part in a capture: forks, joins, and what was forgotten.
 *
 * The driver refuses a capture whose work in another stream the captured one does not
 * wait for. It does not report which streams take part, but every node that was recorded
 * is in the graph. A node that no other waits for, and that the captured stream does not
 * wait for either, is where a forgotten stream ended: it is added to what the captured
 * stream waits for, or named. */
#include "base/fail.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/text.h"
#include "cuda/status.h"
#include "replay/capture.h"

#include <stdio.h>
#include <string.h>

/* ---- forks and joins of the library ---- */

static gph_status check_call(CUresult result, const char *call, CUstream stream,
                             gph_error *error)
{
    return gphi_cuda_check(error, result, call, "stream %p", (void *)stream);
}

/* An event of the stream's context. One serves all: who waits keeps what was recorded, so
 * it can be recorded again at once. */
static gph_status find_event(gph_capture *capture, CUstream stream, CUevent *out,
                             gph_error *error)
{
    const gphi_cuda_table *cu = &capture->runtime->cu;
    CUcontext context = NULL;
    if (cu->cuStreamGetCtx(stream, &context) != CUDA_SUCCESS)
        context = NULL;
    GPHI_EACH (const gphi_capture_event, at, &capture->events) {
        if (at->context == context) {
            *out = at->event;
            return GPH_OK;
        }
    }
    GPHI_TRY(gphi_made(error, gphi_vec_reserve(&capture->events, 1) == GPH_OK,
                       "an event for stream %p", (void *)stream));
    CUevent event = NULL;
    GPHI_TRY(check_call(gphi_event_create(cu, context, &event), "cuEventCreate", stream,
                        error));
    *(gphi_capture_event *)gphi_vec_add(&capture->events, 1) =
        (gphi_capture_event){context, event};
    *out = event;
    return GPH_OK;
}

void gphi_fork_fini(gph_capture *capture)
{
    GPHI_EACH (const gphi_capture_event, at, &capture->events)
        gphi_ignore((gph_status)capture->runtime->cu.cuEventDestroy(at->event),
                    "it is ours and no work waits for it");
    gphi_vec_fini(&capture->events);
    gphi_vec_fini(&capture->streams);
}

static gph_status connect(gph_capture *capture, CUstream from, CUstream to,
                          gph_error *error)
{
    const gphi_cuda_table *cu = &capture->runtime->cu;
    CUevent event = NULL;
    GPHI_TRY(find_event(capture, from, &event, error));
    GPHI_TRY(check_call(cu->cuEventRecord(event, from), "cuEventRecord", from, error));
    return check_call(cu->cuStreamWaitEvent(to, event, 0), "cuStreamWaitEvent", to,
                      error);
}

static gph_status check_other(const gph_capture *capture, CUstream stream,
                              gph_error *error)
{
    GPHI_TRY(gphi_capture_check(capture, error));
    if (!stream || stream == CU_STREAM_LEGACY || stream == capture->stream)
        return gphi_fail(error, GPH_E_INVALID,
                         "stream %p is %s: another stream is needed", (void *)stream,
                         stream == capture->stream ? "the captured one"
                                                   : "the legacy default one");
    return GPH_OK;
}

static bool knows_stream(const gph_capture *capture, CUstream stream)
{
    for (size_t i = 0; i < capture->streams.count; i++)
        if (*(CUstream *)gphi_vec_at(&capture->streams, i) == stream)
            return true;
    return false;
}

gph_status gph_capture_fork(gph_capture *capture, CUstream stream, gph_error *error)
{
    GPHI_TRY(check_other(capture, stream, error));
    GPHI_TRY(gphi_made(error, gphi_vec_reserve(&capture->streams, 1) == GPH_OK,
                       "forking to stream %p", (void *)stream));
    GPHI_TRY(connect(capture, capture->stream, stream, error));
    if (!knows_stream(capture, stream))
        *(CUstream *)gphi_vec_add(&capture->streams, 1) = stream;
    return GPH_OK;
}

gph_status gph_capture_join(gph_capture *capture, CUstream stream, gph_error *error)
{
    GPHI_TRY(check_other(capture, stream, error));
    return connect(capture, stream, capture->stream, error);
}

/* ---- what was forgotten ---- */

/* An edge, or half of one, that waits until the node has ended. */
static bool is_full(const CUgraphEdgeData *edge)
{
    return edge->from_port == 0 && edge->type == 0;
}

/* The graph of a capture, and which of its nodes nobody waits for. */
struct leaves {
    const gph_capture *capture;
    gphi_vec nodes;  /* of CUgraphNode: all, in the driver's order */
    gphi_map index;  /* from handle to index */
    gphi_vec waited; /* of char, a node: somebody waits for its end */
    gphi_vec loose;  /* of CUgraphNode: leaves that the stream does not wait for */
    gph_error *error;
};

static void leaves_init(struct leaves *leaves, const gph_capture *capture,
                        gph_error *error)
{
    const gph_allocator heap = capture->runtime->heap;
    *leaves = (struct leaves){.capture = capture, .error = error};
    gphi_vec_init(&leaves->nodes, heap, sizeof(CUgraphNode));
    gphi_map_init(&leaves->index, heap);
    gphi_vec_init(&leaves->waited, heap, sizeof(char));
    gphi_vec_init(&leaves->loose, heap, sizeof(CUgraphNode));
}

static void leaves_fini(struct leaves *leaves)
{
    gphi_vec_fini(&leaves->loose);
    gphi_vec_fini(&leaves->waited);
    gphi_map_fini(&leaves->index);
    gphi_vec_fini(&leaves->nodes);
}

static gph_status fail_memory(const struct leaves *leaves)
{
    return gphi_fail(leaves->error, GPH_E_NO_MEMORY, "joining %zu nodes",
                     leaves->nodes.count);
}

static void set_waited(struct leaves *leaves, CUgraphNode node)
{
    const uint64_t *at = gphi_map_get(&leaves->index, (uintptr_t)node);
    if (at)
        *(char *)gphi_vec_at(&leaves->waited, *at) = 1;
}

/* Marks the nodes that edges leave, `count` of them as the driver counted. */
static gph_status mark_edges(struct leaves *leaves, CUgraph graph, size_t count)
{
    const gph_runtime *runtime = leaves->capture->runtime;
    const gph_allocator heap = runtime->heap;
    CUgraphNode *ends = gphi_heap_array(heap, count, 2 * sizeof(*ends));
    CUgraphEdgeData *data = gphi_heap_array(heap, count, sizeof(*data));
    gph_status status = GPH_OK;
    if (!ends || !data) {
        status = fail_memory(leaves);
    } else {
        size_t filled = count;
        const CUresult result =
            runtime->cu.cuGraphGetEdges(graph, ends, ends + count, data, &filled);
        for (size_t i = 0; result == CUDA_SUCCESS && i < filled && i < count; i++)
            if (is_full(&data[i]))
                set_waited(leaves, ends[i]);
        if (result != CUDA_SUCCESS)
            status = gphi_cuda_fail(leaves->error, (gph_status)result, "cuGraphGetEdges",
                                    "graph %p", (void *)graph);
    }
    gphi_heap_free(heap, data, count * sizeof(*data));
    gphi_heap_free(heap, ends, count * 2 * sizeof(*ends));
    return status;
}

static gph_status index_nodes(struct leaves *leaves, CUgraph graph)
{
    GPHI_TRY(
        gphi_nodes_read(leaves->capture->runtime, graph, &leaves->nodes, leaves->error));
    const size_t count = leaves->nodes.count;
    if (count == 0)
        return GPH_OK;
    if (!gphi_vec_add(&leaves->waited, count) ||
        gphi_map_reserve(&leaves->index, count) != GPH_OK)
        return fail_memory(leaves);
    for (size_t i = 0; i < count; i++) {
        CUgraphNode *node = gphi_vec_at(&leaves->nodes, i);
        if (gphi_map_set(&leaves->index, (uintptr_t)*node, i) != GPH_OK)
            return fail_memory(leaves);
    }
    return GPH_OK;
}

static gph_status find_loose(struct leaves *leaves, const gphi_capture_info *info)
{
    const gph_runtime *runtime = leaves->capture->runtime;
    GPHI_TRY(index_nodes(leaves, info->graph));
    for (size_t i = 0; i < info->count; i++)
        if (!info->edges || is_full(&info->edges[i]))
            set_waited(leaves, info->dependencies[i]);

    size_t edges = 0;
    const CUresult result =
        runtime->cu.cuGraphGetEdges(info->graph, NULL, NULL, NULL, &edges);
    if (result != CUDA_SUCCESS)
        return gphi_cuda_fail(leaves->error, (gph_status)result, "cuGraphGetEdges",
                              "graph %p", (void *)info->graph);
    if (edges > 0)
        GPHI_TRY(mark_edges(leaves, info->graph, edges));
    for (size_t i = 0; i < leaves->nodes.count; i++) {
        if (*(char *)gphi_vec_at(&leaves->waited, i))
            continue;
        CUgraphNode *loose = gphi_vec_add(&leaves->loose, 1);
        if (!loose)
            return fail_memory(leaves);
        *loose = *(CUgraphNode *)gphi_vec_at(&leaves->nodes, i);
    }
    return GPH_OK;
}

/* ---- naming it ---- */

/* "stream 0x55d0 ends with ", for a node that a known stream would go on from. */
static void name_stream(const gph_capture *capture, CUgraphNode node, char *out,
                        size_t bytes)
{
    snprintf(out, bytes, "%s ends with ",
             capture->streams.count > 0 ? "another stream" : "a stream");
    GPHI_EACH (CUstream, stream, &capture->streams) {
        gphi_capture_info info;
        if (gphi_capture_info_read(&capture->runtime->cu, *stream, &info) != CUDA_SUCCESS)
            continue;
        for (size_t k = 0; k < info.count; k++)
            if (info.dependencies[k] == node) {
                snprintf(out, bytes, "stream %p ends with ", (void *)*stream);
                return;
            }
    }
}

/* As many as there is room for, with 24 bytes left for how many more there are. */
static void name_loose(gph_capture *capture, const struct leaves *leaves)
{
    gphi_text text;
    gphi_text_fix(&text, capture->forgotten, sizeof(capture->forgotten));
    for (size_t i = 0; i < leaves->loose.count; i++) {
        const CUgraphNode node = *(CUgraphNode *)gphi_vec_at(&leaves->loose, i);
        const uint64_t *known = gphi_map_get(&leaves->index, (uintptr_t)node);
        const size_t index = known ? (size_t)*known : 0;
        const char *region =
            known ? gphi_segment_region(capture->recording, &capture->current, index)
                  : NULL;
        char stream[64], words[160];
        name_stream(capture, node, stream, sizeof(stream));
        gphi_node_describe(capture->runtime, node, index, region, words, sizeof(words));
        if (text.length + strlen(stream) + strlen(words) + 26 >= text.room) {
            gphi_text_add(&text, "; and %zu more", leaves->loose.count - i);
            return;
        }
        gphi_text_add(&text, "%s%s%s", i > 0 ? "; " : "", stream, words);
    }
}

/* ---- at the end ---- */

static gph_status join_loose(const struct leaves *leaves)
{
    const gph_capture *capture = leaves->capture;
    const CUresult result = capture->runtime->cu.cuStreamUpdateCaptureDependencies(
        capture->stream, leaves->loose.items, NULL, leaves->loose.count,
        CU_STREAM_ADD_CAPTURE_DEPENDENCIES);
    return check_call(result, "cuStreamUpdateCaptureDependencies", capture->stream,
                      leaves->error);
}

gph_status gphi_join_streams(gph_capture *capture, gph_error *error)
{
    capture->forgotten[0] = '\0';
    if (capture->join == GPH_JOIN_ERROR)
        return GPH_OK;
    gphi_capture_info info;
    GPHI_TRY(
        check_call(gphi_capture_info_read(&capture->runtime->cu, capture->stream, &info),
                   "cuStreamGetCaptureInfo", capture->stream, error));
    if (!info.graph)
        return GPH_OK; /* invalid: the end says why */

    struct leaves leaves;
    leaves_init(&leaves, capture, error);
    gph_status status = find_loose(&leaves, &info);
    if (status == GPH_OK && leaves.loose.count > 0) {
        if (capture->join == GPH_JOIN_AUTO)
            status = join_loose(&leaves);
        else
            name_loose(capture, &leaves);
    }
    leaves_fini(&leaves);
    return status;
}
