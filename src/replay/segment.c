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
 * does leave it (R97). A body's graph is its node's. */
static void give_stream_back(const gphi_cuda_table *cu, CUstream stream, bool is_body)
{
    for (int i = 0; i < 3; i++) {
        if (!is_captured(cu, stream))
            return;
        CUgraph graph = NULL;
        const CUresult result = cu->cuStreamEndCapture(stream, &graph);
        if (result == CUDA_SUCCESS && graph && !is_body)
            gphi_ignore((gph_status)cu->cuGraphDestroy(graph), "it is thrown away");
        if (result == CUDA_SUCCESS || result == CUDA_ERROR_ILLEGAL_STATE)
            return;
    }
    gphi_log("capture", GPH_LOG_ERROR, "stream %p stays captured", (void *)stream);
}

void gphi_segment_drop(gph_capture *capture)
{
    const bool is_body = gphi_flow_in_body(capture);
    give_stream_back(&capture->runtime->cu, capture->stream, is_body);
    if (!is_body) /* the driver destroys a graph whose capture fails, ours as well */
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
