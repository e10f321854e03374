// SPDX-License-Identifier: Apache-2.0
/* One capture of the driver's: of a segment, or into a body. Whatever goes wrong, the
 * stream is out of it. */
#include "base/fail.h"
#include "base/log.h"
#include "cuda/status.h"
#include "replay/capture.h"
#include "replay/flow.h"

CUresult gphi_segment_begin(gph_capture *capture, CUgraph graph, CUgraphNode after)
{
    const gphi_cuda_table *cu = &capture->runtime->cu;
    const CUstreamCaptureMode mode = (CUstreamCaptureMode)(capture->mode - 1);
    gphi_capture_open();
    const CUresult result =
        graph ? cu->cuStreamBeginCaptureToGraph(capture->stream, graph, &after, NULL,
                                                after != NULL, mode)
              : cu->cuStreamBeginCapture(capture->stream, mode);
    if (result != CUDA_SUCCESS)
        gphi_capture_close();
    return result;
}

static bool is_captured(const gphi_cuda_table *cu, CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return cu->cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS ||
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* A driver may refuse to end a capture without leaving it; ending what is by then invalid
 * does leave it (R97). A body's graph is its node's. Returns whether the end failed: the
 * driver then destroys the graph, a body, too (M_R89). */
static bool give_stream_back(const gphi_cuda_table *cu, CUstream stream, bool is_body)
{
    bool has_failed = true; /* where it is out already, the end before this one did */
    for (int i = 0; i < 3 && is_captured(cu, stream); i++) {
        CUgraph graph = NULL;
        const CUresult result = cu->cuStreamEndCapture(stream, &graph);
        has_failed = result != CUDA_SUCCESS;
        if (!has_failed && graph && !is_body)
            gphi_ignore((gph_status)cu->cuGraphDestroy(graph), "it is thrown away");
        if (!has_failed || result == CUDA_ERROR_ILLEGAL_STATE)
            return has_failed;
    }
    if (is_captured(cu, stream))
        gphi_log("capture", GPH_LOG_ERROR, "stream %p stays captured", (void *)stream);
    return has_failed;
}

/* NVIDIA's driver crashes where a graph is destroyed that has lost a body already (580):
 * there such a graph is left where it is. softcuda keeps the body. */
void gphi_segment_drop(gph_capture *capture)
{
    const bool is_body = gphi_flow_in_body(capture);
    const bool has_failed =
        give_stream_back(&capture->runtime->cu, capture->stream, is_body);
    const bool is_lost =
        is_body && has_failed && capture->runtime->info.driver != GPH_DRIVER_SOFT;
    if (is_lost && capture->root)
        gphi_log("capture", GPH_LOG_WARN,
                 "stream %p: graph %p stays: the capture of a body of it failed, and the "
                 "driver destroys that",
                 (void *)capture->stream, (void *)capture->root);
    if (!is_body || is_lost)
        capture->root = NULL;
    gphi_capture_close();
}

gph_status gphi_segment_end(gph_capture *capture, gph_error *error)
{
    const gphi_cuda_table *cu = &capture->runtime->cu;
    gph_status status = gphi_region_sync(capture, error);
    GPHI_THEN(status, gphi_join_streams(capture, error));
    if (status != GPH_OK) {
        gphi_cause_add(capture, error);
        gphi_segment_drop(capture);
        return status;
    }

    CUgraph graph = NULL;
    const CUresult result = cu->cuStreamEndCapture(capture->stream, &graph);
    if (result != CUDA_SUCCESS) {
        gphi_segment_drop(capture);
        return gphi_capture_fail(capture, result, "cuStreamEndCapture", error);
    }
    gphi_capture_close();
    capture->current.graph = graph;
    if (!gphi_flow_in_body(capture))
        capture->root = graph;
    gphi_log("capture", GPH_LOG_DEBUG, "stream %p: graph %p", (void *)capture->stream,
             (void *)graph);
    return GPH_OK;
}

void gphi_segment_keep(gph_capture *capture, gph_break_fn *function, void *user)
{
    gphi_segment *place = gphi_vec_add(&capture->recording->segments, 1);
    *place = capture->current;
    capture->root = NULL;
    place->function = function;
    place->user = user;
    capture->current = (gphi_segment){.graph = NULL};
    gphi_vec_init(&capture->current.regions, capture->runtime->heap, sizeof(uint32_t));
    capture->nodes.count = 0;
}

gph_status gphi_segment_cut(gph_capture *capture, uint32_t choice, uint32_t jump,
                            gph_error *error)
{
    gph_recording *recording = capture->recording;
    const bool has_room = gphi_vec_reserve(&recording->segments, 1) == GPH_OK;
    gph_status status = gphi_made(error, has_room, "capturing a branch");
    if (status != GPH_OK) {
        gphi_segment_drop(capture);
        capture->state = GPHI_CAPTURE_BROKEN;
        return status;
    }
    status = gphi_segment_end(capture, error);
    if (status == GPH_OK) {
        gphi_segment_keep(capture, NULL, NULL);
        gphi_segment *kept = gphi_segment_at(recording, recording->segments.count - 1);
        kept->choice = choice;
        kept->jump = jump;
        const CUresult result = gphi_segment_begin(capture, NULL, NULL);
        if (result != CUDA_SUCCESS)
            status = gphi_capture_fail(capture, result, "cuStreamBeginCapture", error);
    }
    if (status != GPH_OK)
        capture->state = GPHI_CAPTURE_BROKEN;
    return status;
}
