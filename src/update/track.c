// SPDX-License-Identifier: Apache-2.0
/* What an executable remembers, and asking it without changing it. */
#include "update/track.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "cuda/status.h"
#include "event/note.h"

#include <string.h>

/* What an H100 takes (driver 580): the first guess, until they are measured. */
enum { NODE_NS = 990, WHOLE_NS = 2000, WHOLE_NS_A_NODE = 59 };

void gphi_track_map_set(gphi_track *track, uint32_t *to_base)
{
    if (track->to_base)
        gphi_heap_free(track->runtime->heap, track->to_base,
                       track->contents->count * sizeof(*track->to_base));
    track->to_base = to_base;
}

/* Runs when the executable is gone, with no capture open. */
static void track_free(void *extra)
{
    gphi_track *track = extra;
    const gph_allocator heap = track->runtime->heap;
    if (track->off)
        gphi_heap_free(heap, track->off, track->base->count);
    gphi_track_map_set(track, NULL);
    gph_snapshot_release(track->contents);
    gph_snapshot_release(track->base);
    gphi_vec_fini(&track->undo);
    gphi_vec_fini(&track->scratch);
    if (track->owned) {
        const CUresult result = track->runtime->cu.cuGraphDestroy(track->owned);
        if (result != CUDA_SUCCESS)
            gphi_log("update", GPH_LOG_ERROR, "cuGraphDestroy of %p returned %s",
                     (void *)track->owned, gph_status_name((gph_status)result));
    }
    gphi_heap_free(heap, track, sizeof(*track));
}

gphi_track *gphi_track_of(const gph_exec *exec)
{
    return exec->extra;
}

/* Statistics alone need no graph, so that any executable can be updated. */
gph_status gphi_track_need(gph_exec *exec, gphi_track **out, gph_error *error)
{
    if (exec->extra) {
        *out = exec->extra;
        return GPH_OK;
    }
    gphi_track *track = gphi_heap_alloc(exec->runtime->heap, sizeof(*track));
    GPHI_TRY(gphi_made(error, track, "remembering updates of executable %p",
                       (void *)exec->handle));
    track->runtime = exec->runtime;
    track->stats.node_ns = NODE_NS;
    gphi_vec_init(&track->undo, exec->runtime->heap, 1);
    gphi_vec_init(&track->scratch, exec->runtime->heap, sizeof(void *));
    exec->extra = track;
    exec->extra_free = track_free;
    *out = track;
    return GPH_OK;
}

static gph_status check_exec(const gph_exec *exec, gph_error *error)
{
    if (!exec || exec->self != exec)
        return gphi_fail(error, GPH_E_INVALID, "exec %p is not an executable",
                         (const void *)exec);
    return GPH_OK;
}

gph_status gphi_track_check(const gph_exec *exec, gphi_track **out, gph_error *error)
{
    GPHI_TRY(check_exec(exec, error));
    gphi_track *track = gphi_track_of(exec);
    if (!track || !track->base)
        return gphi_fail(error, GPH_E_STATE,
                         "executable %p remembers no graph: gph_exec_track() comes first",
                         (void *)exec->handle);
    *out = track;
    return GPH_OK;
}

/* Rare: only edits after a pairing that is not the identity come here. */
uint32_t gphi_base_find(const gphi_track *track, uint32_t flat)
{
    for (uint32_t i = 0; i < track->contents->count; i++)
        if (track->to_base[i] == flat)
            return i;
    return GPH_NODE_NONE;
}

/* ---- gph_exec_track() ---- */

static gph_status find_context(const gph_runtime *runtime, CUcontext wanted,
                               CUcontext *out, gph_error *error)
{
    *out = wanted;
    if (wanted)
        return GPH_OK;
    return gphi_cuda_check(error, runtime->cu.cuCtxGetCurrent(out), "cuCtxGetCurrent",
                           "tracking an executable");
}

gph_status gph_exec_track(gph_exec *exec, CUgraph graph, const gph_track_options *options,
                          gph_error *error)
{
    gph_track_options opt;
    gphi_track *track = NULL;
    CUcontext context = NULL;
    gph_snapshot *snapshot = NULL;
    GPHI_TRY(gphi_options_read(&opt, sizeof(opt), "gph_track_options", options, error));
    GPHI_TRY(check_exec(exec, error));
    GPHI_TRY(gphi_need(error, graph));
    if (exec->extra && gphi_track_of(exec)->base)
        return gphi_fail(error, GPH_E_STATE, "executable %p is tracked already",
                         (void *)exec->handle);
    GPHI_TRY(find_context(exec->runtime, opt.context, &context, error));
    GPHI_TRY(opt.snapshot ? gphi_snapshot_given(opt.snapshot, exec->runtime, graph,
                                                &snapshot, error)
                          : gph_snapshot_take(exec->runtime, graph, &snapshot, error));
    const size_t count = snapshot->count;
    uint8_t *off = count > 0 ? gphi_heap_alloc(exec->runtime->heap, count) : NULL;
    gph_status status = GPH_OK;
    if (count > 0 && !off)
        status = gphi_fail(error, GPH_E_NO_MEMORY, "tracking %zu nodes", count);
    else
        status = gphi_track_need(exec, &track, error);
    if (status != GPH_OK) {
        gphi_heap_free(exec->runtime->heap, off, count);
        gph_snapshot_release(snapshot);
        return status;
    }
    track->base = snapshot;
    track->contents = gph_snapshot_retain(snapshot);
    track->off = off;
    track->context = context;
    track->owned = opt.takes_graph ? graph : NULL;
    track->stats.whole_ns = WHOLE_NS + (uint64_t)WHOLE_NS_A_NODE * count;
    gphi_note(GPHI_NOTE_TRACKED, NULL, &(uint64_t){(uint64_t)(uintptr_t)exec->handle}, 1);
    return GPH_OK;
}

/* ---- gph_exec_compatible() ---- */

/* The report is begun last: a failure leaves the caller's as it was. */
gph_status gph_exec_compatible_with(gph_exec *exec, const gph_snapshot *snapshot,
                                    gph_update_report *report, gph_error *error)
{
    gphi_track *track = NULL;
    gph_diff *diff = NULL;
    GPHI_TRY(gphi_need(error, snapshot, report));
    GPHI_TRY(gphi_track_check(exec, &track, error));
    gphi_comparison found = {.a = track->contents,
                             .b = snapshot,
                             .flags = exec->flags,
                             .is_stale = track->is_stale};
    gph_status status = gphi_compare(&found);
    if (status != GPH_OK)
        gphi_fail(error, status, "comparing %u nodes", snapshot->count);
    else
        status = gph_graph_diff(track->contents->graph, snapshot->graph, &diff, error);
    GPHI_THEN(status, gphi_report_begin(report, error));
    if (status == GPH_OK) {
        gphi_report_fill(report, &found);
        report->diff = diff;
    } else {
        gph_diff_destroy(diff);
    }
    gphi_comparison_fini(&found);
    return status;
}

gph_status gph_exec_compatible(gph_exec *exec, CUgraph graph, gph_update_report *report,
                               gph_error *error)
{
    gphi_track *track = NULL;
    gph_snapshot *snapshot = NULL;
    GPHI_TRY(gphi_need(error, graph, report));
    GPHI_TRY(gphi_track_check(exec, &track, error));
    GPHI_TRY(gph_snapshot_take(exec->runtime, graph, &snapshot, error));
    const gph_status status = gph_exec_compatible_with(exec, snapshot, report, error);
    gph_snapshot_release(snapshot);
    return status;
}

/* ---- names ---- */

/* By the node's own name first; most nodes have only their kernel's. */
static bool is_named(const gph_node *node, const char *name)
{
    if (node->name && strcmp(node->name, name) == 0)
        return true;
    return node->kind == GPH_NODE_KERNEL && node->u.kernel.function &&
           strcmp(node->u.kernel.function, name) == 0;
}

gph_status gph_exec_node_find(const gph_exec *exec, const char *name, uint32_t nth,
                              uint32_t *out, gph_error *error)
{
    gphi_track *track = NULL;
    uint32_t seen = 0;
    GPHI_TRY(gphi_need(error, name, out));
    GPHI_TRY(gphi_track_check(exec, &track, error));
    for (uint32_t i = 0; i < track->base->count; i++)
        if (is_named(track->base->places[i].node, name) && seen++ == nth) {
            *out = i;
            const uint64_t words[] = {(uint64_t)(uintptr_t)exec->handle,
                                      (uint64_t)(uintptr_t)track->base->places[i].handle};
            gphi_note(GPHI_NOTE_NODE_FOUND, NULL, words, 2);
            return GPH_OK;
        }
    return gphi_fail(error, GPH_E_INVALID, "%u nodes are called %.100s: there is no %u",
                     seen, name, nth);
}

gph_status gph_exec_node_index(const gph_exec *exec, CUgraphNode node, uint32_t *out,
                               gph_error *error)
{
    gphi_track *track = NULL;
    GPHI_TRY(gphi_need(error, node, out));
    GPHI_TRY(gphi_track_check(exec, &track, error));
    for (uint32_t i = 0; i < track->base->count; i++)
        if (track->base->places[i].handle == node) {
            *out = i;
            return GPH_OK;
        }
    return gphi_fail(error, GPH_E_INVALID, "node %p is not of graph %p", (void *)node,
                     (void *)track->base->source);
}

void gph_exec_update_stats_get(const gph_exec *exec, gph_update_stats *out)
{
    const gphi_track *track = exec ? gphi_track_of(exec) : NULL;
    gph_update_stats stats = {0};
    if (track)
        stats = track->stats;
    if (stats.node_ns > 0)
        stats.crossover = (uint32_t)(stats.whole_ns / stats.node_ns);
    gphi_struct_write(out, &stats, sizeof(stats));
}
