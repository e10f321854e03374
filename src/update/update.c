// SPDX-License-Identifier: Apache-2.0
/* gph_exec_update(): the cheapest way that is right.
 *
 * On an H100 (driver 580) a whole update of 1,000 nodes takes 59 us and the setter of one
 * node 1 us; asking the driver what 1,000 nodes hold takes longer than either. So a graph
 * that nobody described goes to the driver as a whole, and is looked at only if that
 * refuses. With a snapshot the two are compared without the driver, and few nodes that
 * differ are set one by one: up to as many as a whole update costs, by what both cost
 * here last time.
 *
 *   snapshot given, contents known?  -> nothing differs: nothing
 *                                    -> few differ, each has a setter: those
 *   cuGraphExecUpdate                -> taken
 *   refused                          -> a new executable if that is allowed, else say why
 */
#include "base/clock.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "cuda/status.h"
#include "event/note.h"
#include "update/track.h"

#include <stdio.h>
#include <string.h>

/* One update under way. */
struct job {
    gph_exec *exec;
    gphi_track *track;
    CUgraph graph;
    gph_update_options opt;
    gph_update_report *report;
    gph_error *error;
    gph_snapshot *snapshot; /* of `graph`: given or taken, one reference; NULL */
    gphi_comparison found;  /* valid if `is_compared` */
    bool is_compared;
};

/* Without a base there are statistics, and nothing to compare with. */
static bool is_tracked(const struct job *job)
{
    return job->track->base;
}

static gph_status compare(struct job *job)
{
    job->found = (gphi_comparison){.a = job->track->contents,
                                   .b = job->snapshot,
                                   .flags = job->exec->flags,
                                   .is_stale = job->track->is_stale};
    job->is_compared = true;
    const gph_status status = gphi_compare(&job->found);
    if (status != GPH_OK)
        return gphi_fail(job->error, status, "comparing %u nodes", job->snapshot->count);
    return GPH_OK;
}

/* ---- what the executable holds then ---- */

/* base's numbers by the new contents': made before anything changes. */
static gph_status map_to_base(const struct job *job, uint32_t **out)
{
    const gphi_comparison *found = &job->found;
    *out = NULL;
    if (found->is_identity || found->b->count == 0)
        return GPH_OK;
    uint32_t *map =
        gphi_heap_array(job->track->runtime->heap, found->b->count, sizeof(*map));
    GPHI_TRY(gphi_made(job->error, map, "updating %u nodes", found->b->count));
    for (uint32_t a = 0; a < found->a->count; a++)
        map[found->partner[a]] = gphi_to_base(job->track, a);
    *out = map;
    return GPH_OK;
}

/* From now on it holds the snapshot's contents. `map` is taken. */
static void hold_snapshot(const struct job *job, uint32_t *map)
{
    gphi_track *track = job->track;
    if (!job->found.is_identity) /* else the numbers are those of before */
        gphi_track_map_set(track, map);
    gph_snapshot_release(track->contents);
    track->contents = gph_snapshot_retain(job->snapshot);
    track->is_own = false;
    track->is_stale = false;
}

/* Nodes without dependents are paired by when they became that, which is not reported:
 * with several, the driver may have paired others than we did. */
static bool is_pairing_sure(const gph_snapshot *snapshot)
{
    for (uint32_t i = 0; i < snapshot->level_count; i++)
        if (snapshot->levels[i].topology.sink_count > 1)
            return false;
    return true;
}

/* ---- the ways ---- */

static void measure(uint64_t *cost, uint64_t ns, bool is_first)
{
    *cost = is_first ? ns : (3 * *cost + ns) / 4;
}

/* Setters take handles of the graph that the executable was made from (R69i). */
static CUgraphNode handle_of(const gphi_track *track, uint32_t flat)
{
    return track->base->places[gphi_to_base(track, flat)].handle;
}

/* Those before the one that failed get back what they had. */
static void undo_nodes(const struct job *job, size_t done)
{
    const gphi_changed *changed = job->found.changed.items;
    const char *call;
    for (size_t i = 0; i < done; i++) {
        const CUresult result = gphi_node_set(job->track, job->exec->handle,
                                              handle_of(job->track, changed[i].a),
                                              &job->found.a->places[changed[i].a], &call);
        if (result == CUDA_SUCCESS)
            continue;
        job->track->is_stale = true;
        gphi_log("update", GPH_LOG_ERROR,
                 "executable %p: node %u keeps what a failed update gave it: %s returned "
                 "%s",
                 (void *)job->exec->handle, changed[i].a, call,
                 gph_status_name((gph_status)result));
    }
}

static gph_status set_nodes(struct job *job)
{
    gphi_track *track = job->track;
    const gphi_changed *changed = job->found.changed.items;
    const size_t count = job->found.changed.count;
    uint32_t *map = NULL;
    GPHI_TRY(map_to_base(job, &map));
    const uint64_t from = gphi_clock_ns();
    for (size_t i = 0; i < count; i++) {
        const char *call;
        const CUresult result =
            gphi_node_set(track, job->exec->handle, handle_of(track, changed[i].a),
                          &job->found.b->places[changed[i].b], &call);
        if (result == CUDA_SUCCESS)
            continue;
        undo_nodes(job, i);
        gphi_heap_free(track->runtime->heap, map, job->found.b->count * sizeof(*map));
        return gphi_cuda_fail(job->error, (gph_status)result, call,
                              "setting node %u of graph %p", changed[i].b,
                              (void *)job->graph);
    }
    measure(&track->stats.node_ns, (gphi_clock_ns() - from) / count,
            track->stats.node_set_count == 0);
    track->stats.node_set_count += count;
    if (job->exec->marks)
        job->exec->marks->ops->refresh(job->exec->marks, job->graph);
    hold_snapshot(job, map);
    return GPH_OK;
}

static gph_status update_whole(struct job *job, CUgraphExecUpdateResultInfo *info,
                               CUresult *result)
{
    gphi_track *track = job->track;
    const uint64_t from = gphi_clock_ns();
    GPHI_TRY(gphi_exec_update(job->exec, job->graph, info, result, job->error));
    if (*result == CUDA_SUCCESS)
        measure(&track->stats.whole_ns, gphi_clock_ns() - from,
                track->stats.whole_count == 0);
    return GPH_OK;
}

/* ---- refusals ---- */

/* Says why, by our own comparison where the executable remembers what it holds and the
 * two agree, else by what the driver reports. Never fails. */
static void explain(struct job *job, const CUgraphExecUpdateResultInfo *info,
                    gph_update_report *out)
{
    gph_error ignored = {0};
    if (is_tracked(job) && !job->snapshot)
        gphi_ignore(
            gph_snapshot_take(job->track->runtime, job->graph, &job->snapshot, &ignored),
            "the driver's own words are left");
    if (is_tracked(job) && job->snapshot && !job->is_compared) {
        gph_error *error = job->error;
        job->error = &ignored;
        gphi_ignore(compare(job), "the driver's own words are left");
        job->error = error;
    }
    if (job->is_compared && job->found.is_refused && job->found.result == info->result) {
        gphi_report_fill(out, &job->found);
        return;
    }
    gphi_report_driver(out, job->track->runtime, job->graph, info);
}

static gph_status fail_refused(const struct job *job, CUresult result,
                               const gph_update_report *why)
{
    job->track->stats.refused_count++;
    gphi_cuda_fail(job->error, (gph_status)result, "cuGraphExecUpdate",
                   "updating executable %p by graph %p: %s", (void *)job->exec->handle,
                   (void *)job->graph, why->text);
    if (job->error && why->node >= 0) {
        job->error->has_node = 1;
        job->error->node = why->node;
    }
    if (result == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
        gphi_hint(job->error, "options.may_reinstantiate makes a new executable instead");
    return (gph_status)result;
}

/* ---- a new executable ---- */

static void follow(struct job *job, uint8_t *off)
{
    gphi_track *track = job->track;
    const gph_allocator heap = track->runtime->heap;
    gphi_heap_free(heap, track->off, track->base->count);
    gphi_track_map_set(track, NULL);
    gph_snapshot_release(track->contents);
    gph_snapshot_release(track->base);
    track->off = off;
    track->base = gph_snapshot_retain(job->snapshot);
    track->contents = gph_snapshot_retain(job->snapshot);
    track->is_own = track->is_stale = false;
    if (track->owned && track->owned != job->graph)
        gphi_ignore((gph_status)track->runtime->cu.cuGraphDestroy(track->owned),
                    "nothing is made of it again");
    track->owned = job->opt.takes_graph         ? job->graph
                   : track->owned == job->graph ? track->owned
                                                : NULL;
}

/* The old executable stays until the new one is there. */
static gph_status reinstantiate(struct job *job)
{
    const gph_allocator heap = job->track->runtime->heap;
    gph_exec_options options = GPH_EXEC_OPTIONS_INIT;
    gph_exec *fresh = NULL;
    uint8_t *off = NULL;
    if (is_tracked(job) && !job->snapshot)
        GPHI_TRY(gph_snapshot_take(job->track->runtime, job->graph, &job->snapshot,
                                   job->error));
    const size_t count = is_tracked(job) ? job->snapshot->count : 0;
    GPHI_TRY(gphi_made(job->error, count == 0 || (off = gphi_heap_alloc(heap, count)),
                       "updating %zu nodes", count));
    options.flags = job->exec->flags;
    options.sentinel = job->exec->sentinel;
    options.upload_stream = job->opt.upload_stream;
    const gph_status status =
        gph_exec_create(job->track->runtime, job->graph, &options, &fresh, job->error);
    if (status != GPH_OK) {
        gphi_heap_free(heap, off, count);
        return status;
    }
    gphi_exec_swap(job->exec, fresh);
    gph_exec_destroy(fresh);
    if (is_tracked(job)) {
        if (job->is_compared) /* it looks at the contents that go */
            gphi_comparison_fini(&job->found);
        job->is_compared = false;
        follow(job, off);
    }
    job->track->stats.whole_count = 0; /* what it costs is to be measured again */
    return GPH_OK;
}

/* ---- the choice ---- */

/* By what both cost here, or on an H100 where neither was measured yet. */
static bool nodes_are_cheaper(const struct job *job)
{
    const gph_update_stats *stats = &job->track->stats;
    if (job->found.is_refused || job->found.needs_whole)
        return false;
    return job->found.changed.count * stats->node_ns <= stats->whole_ns;
}

static gph_status go_whole(struct job *job, gph_update_report *report)
{
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    uint32_t *map = NULL;
    const bool remembers =
        job->is_compared && !job->found.is_refused && is_pairing_sure(job->found.b);
    if (remembers)
        GPHI_TRY(map_to_base(job, &map));
    CUresult result = CUDA_ERROR_UNKNOWN;
    const gph_status status = update_whole(job, &info, &result);
    if (status == GPH_OK && result == CUDA_SUCCESS) {
        report->way = GPH_UPDATE_WHOLE;
        job->track->stats.whole_count++;
        if (remembers)
            hold_snapshot(job, map);
        else
            job->track->is_stale = true;
        return GPH_OK;
    }
    if (map)
        gphi_heap_free(job->track->runtime->heap, map,
                       job->found.b->count * sizeof(*map));
    GPHI_TRY(status);
    explain(job, &info, report);
    gphi_log("update", GPH_LOG_INFO, "executable %p, graph %p: %s",
             (void *)job->exec->handle, (void *)job->graph, report->text);
    if (result != CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE || !job->opt.may_reinstantiate)
        return fail_refused(job, result, report);
    GPHI_TRY(reinstantiate(job));
    job->track->stats.reinstantiate_count++;
    return GPH_OK;
}

static gph_status choose(struct job *job, gph_update_report *report)
{
    gph_update_stats *stats = &job->track->stats;
    if (!job->snapshot || !is_tracked(job)) {
        snprintf(report->text, sizeof(report->text),
                 "no snapshot to compare: the driver looks at all nodes");
        return go_whole(job, report);
    }
    GPHI_TRY(compare(job));
    gphi_report_fill(report, &job->found);
    if (job->track->is_stale || !nodes_are_cheaper(job))
        return go_whole(job, report);
    if (job->found.changed.count == 0) {
        uint32_t *map = NULL;
        GPHI_TRY(map_to_base(job, &map));
        hold_snapshot(job, map);
        stats->nothing_count++;
        return GPH_OK;
    }
    GPHI_TRY(set_nodes(job));
    stats->nodes_count++;
    return GPH_OK;
}

static gph_status make_diff(struct job *job, gph_diff **out)
{
    if (!job->opt.wants_diff)
        return GPH_OK;
    if (!job->report)
        return gphi_fail(
            job->error, GPH_E_INVALID,
            "gph_exec_update: options.wants_diff is set, and report is NULL");
    if (!is_tracked(job) || job->track->is_stale)
        return gphi_fail(job->error, GPH_E_STATE,
                         "executable %p does not know its contents: gph_exec_track(), "
                         "and snapshots at updates, make it",
                         (void *)job->exec->handle);
    if (!job->snapshot)
        GPHI_TRY(gph_snapshot_take(job->track->runtime, job->graph, &job->snapshot,
                                   job->error));
    return gph_graph_diff(job->track->contents->graph, job->snapshot->graph, out,
                          job->error);
}

static gph_status begin(struct job *job)
{
    GPHI_TRY(gphi_track_need(job->exec, &job->track, job->error));
    if (!job->opt.snapshot)
        return GPH_OK;
    return gphi_snapshot_given(job->opt.snapshot, job->track->runtime, job->graph,
                               &job->snapshot, job->error);
}

gph_status gph_exec_update(gph_exec *exec, CUgraph graph,
                           const gph_update_options *options, gph_update_report *report,
                           gph_error *error)
{
    struct job job = {.exec = exec, .graph = graph, .report = report, .error = error};
    gph_update_report own = GPH_UPDATE_REPORT_INIT;
    gph_diff *diff = NULL;
    GPHI_TRY(gphi_options_read(&job.opt, sizeof(job.opt), "gph_update_options", options,
                               error));
    GPHI_TRY(gphi_need(error, exec, graph));
    if (exec->self != exec)
        return gphi_fail(error, GPH_E_INVALID, "exec %p is not an executable",
                         (void *)exec);
    if (report)
        GPHI_TRY(gphi_report_begin(report, error));
    const uint64_t from = gphi_clock_ns();
    gph_update_report *to = report ? report : &own;
    gph_status status = begin(&job);
    GPHI_THEN(status, make_diff(&job, &diff));
    GPHI_THEN(status, choose(&job, to));
    to->ns = gphi_clock_ns() - from;
    to->diff = diff;
    if (job.track) {
        gph_update_stats *stats = &job.track->stats;
        stats->ns += to->ns;
        stats->last_way = status == GPH_OK ? to->way : stats->last_way;
        memcpy(stats->last_reason, to->text, sizeof(stats->last_reason));
    }
    if (status == GPH_OK) {
        const uint64_t words[] = {(uint64_t)(uintptr_t)exec->handle, to->way};
        gphi_note(GPHI_NOTE_UPDATED, NULL, words, 2);
    }
    if (job.is_compared)
        gphi_comparison_fini(&job.found);
    gph_snapshot_release(job.snapshot);
    if (!report)
        gph_update_report_fini(&own);
    return status;
}
