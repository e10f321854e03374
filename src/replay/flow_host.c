// SPDX-License-Identifier: Apache-2.0
/* Control flow on drivers without conditional nodes (before CUDA 12.3): each body is a
 * segment, or several, and after the segment before it the host reads the value.
 *
 *   capture    a   if ( b )  else ( c )   d   while ( e )   f
 *   segments   0        1         2       3         4       5
 *   after it   value   to 3     to 3    value     value    end
 */
#include "base/fail.h"
#include "cuda/status.h"
#include "replay/flow.h"

gph_status gphi_host_check(const gph_capture *capture, const gph_condition *condition,
                           gph_error *error)
{
    const char *why = NULL;
    if (condition->kind == GPH_CONDITION_KERNEL)
        why = "and a kernel that decides sets the handle of one: give a word";
    else if ((capture->flags & GPH_CAPTURE_RUN) != 0)
        why = "and with GPH_CAPTURE_RUN each branch would run as it is recorded";
    if (!why)
        return GPH_OK;
    return gphi_fail(error, GPH_E_UNSUPPORTED,
                     "the driver (CUDA %d.%d) has no conditional nodes, %s",
                     capture->runtime->info.version / 1000,
                     capture->runtime->info.version % 1000 / 10, why);
}

gph_status gphi_host_begin(gph_capture *capture, const gphi_flow_open *open,
                           gph_error *error)
{
    return gphi_segment_cut(capture, open->flow + 1, 0, error);
}

static gph_status count_nodes(const gph_capture *capture, gphi_flow_body *body,
                              gph_error *error)
{
    const gph_recording *recording = capture->recording;
    for (size_t i = body->first; i < recording->segments.count; i++) {
        size_t count = 0;
        GPHI_TRY(gphi_cuda_check(error,
                                 capture->runtime->cu.cuGraphGetNodes(
                                     gphi_segment_at(recording, i)->graph, NULL, &count),
                                 "cuGraphGetNodes", "counting what a branch has"));
        body->count += (uint32_t)count;
    }
    return GPH_OK;
}

/* What fails has left the stream, as elsewhere. */
gph_status gphi_host_close(gph_capture *capture, const gphi_flow_open *open,
                           gph_error *error)
{
    gphi_flow *flow = gphi_flow_at(capture->recording, open->flow);
    const bool is_loop = flow->kind == GPH_FLOW_WHILE;
    gph_status status = gphi_segment_cut(capture, is_loop ? open->flow + 1 : 0,
                                         is_loop ? 0 : open->flow + 1, error);
    if (status == GPH_OK) {
        status = count_nodes(capture, &flow->bodies[open->at], error);
        if (status != GPH_OK) {
            gphi_segment_drop(capture);
            capture->state = GPHI_CAPTURE_BROKEN;
        }
    }
    return status;
}

void gphi_host_open_body(gph_capture *capture, const gphi_flow_open *open)
{
    const gph_recording *recording = capture->recording;
    gphi_flow_at(recording, open->flow)->bodies[open->at].first =
        (uint32_t)recording->segments.count;
}

void gphi_host_end(gph_capture *capture, const gphi_flow_open *open)
{
    gphi_flow_at(capture->recording, open->flow)->end =
        (uint32_t)capture->recording->segments.count;
}

/* ---- a replay ---- */

static gph_status read_side(const gph_recording *recording, CUdeviceptr at, size_t bytes,
                            CUstream stream, uint64_t *out, gph_error *error)
{
    const gphi_cuda_table *cu = &recording->runtime->cu;
    CUresult result = cu->cuMemcpyDtoHAsync(out, at, bytes, stream);
    if (result == CUDA_SUCCESS)
        result = cu->cuStreamSynchronize(stream);
    return gphi_cuda_check(error, result, "cuMemcpyDtoHAsync",
                           "reading the value at 0x%llx, by which the host chooses", at);
}

static gph_status read_value(const gph_recording *recording, const gphi_flow *flow,
                             CUstream stream, uint32_t *out, gph_error *error)
{
    const gph_condition *condition = &flow->condition;
    const bool compares = condition->kind == GPH_CONDITION_COMPARE;
    const size_t bytes = compares ? gphi_compare_bytes(condition->type) : 4;
    uint64_t left = 0, right = gphi_condition_constant(condition);
    GPHI_TRY(read_side(recording, condition->left, bytes, stream, &left, error));
    *out = (uint32_t)left;
    if (!compares)
        return GPH_OK;
    if (condition->right != 0) {
        right = 0;
        GPHI_TRY(read_side(recording, condition->right, bytes, stream, &right, error));
    }
    const gphi_compare_params compare = {.type = condition->type,
                                         .accepts = condition->relation};
    *out = gphi_compare_values(&compare, left, right);
    return GPH_OK;
}

/* The body that a value chooses; `count`: none. */
static uint32_t body_of(const gphi_flow *flow, uint32_t value)
{
    if (flow->kind == GPH_FLOW_SWITCH)
        return value < flow->count ? value : flow->count;
    return value != 0 ? 0 : 1; /* of one body: its end */
}

gph_status gphi_host_next(const gph_recording *recording, uint32_t segment,
                          CUstream stream, uint32_t *out, gph_error *error)
{
    const gphi_segment *at = gphi_segment_at(recording, segment);
    *out = segment + 1;
    if (at->jump > 0)
        *out = gphi_flow_at(recording, at->jump - 1)->end;
    if (at->choice == 0)
        return GPH_OK;
    const gphi_flow *flow = gphi_flow_at(recording, at->choice - 1);
    uint32_t value = 0;
    GPHI_TRY(read_value(recording, flow, stream, &value, error));
    const uint32_t body = body_of(flow, value);
    const uint32_t first = body < flow->count ? flow->bodies[body].first : 0;
    *out = first > 0 ? first : flow->end; /* a case that was left out has no segment */
    return GPH_OK;
}
