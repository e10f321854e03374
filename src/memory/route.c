// SPDX-License-Identifier: Apache-2.0
/* What a call in a stream means to a pool: eager work, the open recording's, or that of a
 * capture the pool knows nothing of. Streams that joined the capture follow by its
 * number. */
#include "base/fail.h"
#include "cuda/status.h"
#include "memory/pool.h"

struct capture_info {
    CUstreamCaptureStatus status;
    cuuint64_t id;
    const CUgraphNode *nodes;
    size_t count;
};

/* An invalid capture is an answer, not a failure: frees in it must still work. */
static gph_status ask(const gph_pool *pool, CUstream stream, struct capture_info *out,
                      gph_error *error)
{
    CUgraph graph = NULL;
    const CUgraphEdgeData *edges = NULL;
    *out = (struct capture_info){.status = CU_STREAM_CAPTURE_STATUS_NONE};
    const CUresult result = pool->arena->runtime->cu.cuStreamGetCaptureInfo(
        stream, &out->status, &out->id, &graph, &out->nodes, &edges, &out->count);
    if (result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
        out->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    else if (result != CUDA_SUCCESS)
        return gphi_cuda_fail(error, (gph_status)result, "cuStreamGetCaptureInfo",
                              "stream %p", (void *)stream);
    if (out->status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        out->count = 0;
    return GPH_OK;
}

/* Of an invalid capture the driver gives no number, so the stream is looked for. */
static bool is_known(const struct gphi_recording *r, CUstream stream)
{
    for (uint32_t i = 0; i < r->captured.count; i++)
        if (((struct gphi_captured *)gphi_vec_at(&r->captured, i))->stream == stream)
            return true;
    return r->stream == stream;
}

/* Another capture of the recording's stream: whatever was freed in the one before is free
 * for all of it, since their graphs run one after the other. */
static gph_status begin_segment(gph_pool *pool, struct gphi_recording *r, cuuint64_t id,
                                gph_error *error)
{
    uint32_t any = 0;
    GPHI_TRY(gphi_made(
        error,
        gphi_blocks_lane(&pool->blocks, GPHI_LANE_CAPTURED, GPHI_NIL, &any) == GPH_OK,
        "recording %s", r->name));
    for (uint32_t i = 0; i < pool->blocks.lanes.count; i++)
        if (i != any && gphi_lane_at(&pool->blocks, i)->kind == GPHI_LANE_CAPTURED)
            gphi_blocks_move(&pool->blocks, i, GPHI_ANY, any, 0);
    gphi_walk_fini(r);
    r->has_capture = true;
    r->capture = id;
    return GPH_OK;
}

/* The open recording, if this capture is its. */
static gph_status find_recording(gph_pool *pool, CUstream stream,
                                 const struct capture_info *info,
                                 struct gphi_recording **out, gph_error *error)
{
    struct gphi_recording *r = pool->open;
    struct capture_info origin = *info;
    if (r && r->has_capture && r->capture == info->id) {
        *out = r;
        return GPH_OK;
    }
    if (r && stream != r->stream)
        GPHI_TRY(ask(pool, r->stream, &origin, error));
    if (!r || origin.status != CU_STREAM_CAPTURE_STATUS_ACTIVE || origin.id != info->id)
        return gphi_fail(error, GPH_E_STATE,
                         "stream %p is captured, but not into pool %s", (void *)stream,
                         pool->name);
    GPHI_TRY(begin_segment(pool, r, info->id, error));
    *out = r;
    return GPH_OK;
}

gph_status gphi_route_eager(gph_pool *pool, CUstream stream, gph_error *error)
{
    struct capture_info info;
    GPHI_TRY(ask(pool, stream, &info, error));
    if (info.status != CU_STREAM_CAPTURE_STATUS_NONE)
        return gphi_fail(error, GPH_E_STATE, "stream %p is captured already",
                         (void *)stream);
    return gphi_home_check(pool->arena, pool->name, stream,
                           gphi_stream_home(pool->arena, stream), error);
}

/* A captured stream is asked once: what it was found to be it stays. */
gph_status gphi_route_check(const gph_pool *pool, const struct gphi_route *route,
                            gph_error *error)
{
    const gph_arena *arena = pool->arena;
    if (arena->is_alone || route->is_invalid)
        return GPH_OK;
    if (!route->recording) {
        const struct gphi_stream *s = gphi_vec_at(&arena->streams, route->stream);
        return gphi_home_check(arena, pool->name, route->handle, s->home, error);
    }
    struct gphi_captured *c = gphi_vec_at(&route->recording->captured, route->stream);
    if (!c->is_checked)
        GPHI_TRY(gphi_home_check(arena, pool->name, route->handle,
                                 gphi_stream_home(arena, route->handle), error));
    c->is_checked = true;
    return GPH_OK;
}

gph_status gphi_route_find(gph_pool *pool, CUstream stream, struct gphi_route *out,
                           gph_error *error)
{
    struct capture_info info;
    *out = (struct gphi_route){.handle = stream};
    GPHI_TRY(ask(pool, stream, &info, error));
    if (info.status == CU_STREAM_CAPTURE_STATUS_NONE) {
        GPHI_TRY(gphi_stream_find(pool->arena, stream, &out->stream, error));
        GPHI_TRY(gphi_made(error,
                           gphi_blocks_lane(&pool->blocks, GPHI_LANE_EAGER, out->stream,
                                            &out->lane) == GPH_OK,
                           "pool %s in stream %p", pool->name, (void *)stream));
        return GPH_OK;
    }
    if (info.status == CU_STREAM_CAPTURE_STATUS_INVALIDATED) {
        if (!pool->open || !is_known(pool->open, stream))
            return gphi_fail(error, GPH_E_STATE,
                             "stream %p is captured, but not into pool %s",
                             (void *)stream, pool->name);
        out->recording = pool->open;
        out->is_invalid = true;
        return GPH_OK;
    }
    GPHI_TRY(find_recording(pool, stream, &info, &out->recording, error));
    out->nodes = info.nodes;
    out->node_count = info.count;
    GPHI_TRY(gphi_made(error,
                       gphi_walk_stream(out->recording, stream, &out->stream) == GPH_OK &&
                           gphi_blocks_lane(&pool->blocks, GPHI_LANE_CAPTURED,
                                            out->stream, &out->lane) == GPH_OK,
                       "recording %s in stream %p", out->recording->name,
                       (void *)stream));
    return GPH_OK;
}

/* By halves. NULL: it was forgotten. */
struct gphi_recording *gphi_recording_find(const gph_pool *pool, gph_recording_id id)
{
    size_t low; /* ids rise */
    GPHI_HALVE(low, pool->recordings.count, at, gphi_recording_at(pool, at)->id < id);
    if (low == pool->recordings.count || gphi_recording_at(pool, low)->id != id)
        return NULL;
    return gphi_recording_at(pool, low);
}
