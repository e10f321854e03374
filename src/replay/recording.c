// SPDX-License-Identifier: Apache-2.0
/* What a capture recorded, and that made executable: graphs with host calls between.
 *
 *   gph_replay ── exec 0, exec 1, exec 2 ── one owner of ── gph_recording
 *
 * The graphs go when the caller destroys the recording; names, held objects and the
 * number in the pool when the last of its replays is gone, too. */
#include "base/fail.h"
#include "base/heap.h"
#include "event/note.h"
#include "replay/capture.h"
#include "replay/exec.h"
#include "replay/flow.h"

#include <string.h>

struct gph_replay {
    const gph_replay *self; /* NULL once destroyed */
    gph_recording *recording;
    uint32_t count;
    gphi_deferred end;
    gph_exec *execs[]; /* `count` of them, a segment each */
};

/* ---- life ---- */

gph_recording *gphi_recording_create(gph_runtime *runtime)
{
    const gph_allocator heap = runtime->heap;
    gph_recording *recording = gphi_heap_alloc(heap, sizeof(*recording));
    if (!recording)
        return NULL;
    recording->runtime = runtime;
    atomic_init(&recording->owners, 1);
    gphi_vec_init(&recording->segments, heap, sizeof(gphi_segment));
    gphi_vec_init(&recording->regions, heap, sizeof(gphi_region));
    gphi_vec_init(&recording->holds, heap, sizeof(gphi_hold));
    gphi_vec_init(&recording->outputs, heap, sizeof(CUdeviceptr));
    gphi_vec_init(&recording->flows, heap, sizeof(gphi_flow));
    return recording;
}

static void drop_graphs(gph_recording *recording)
{
    gphi_flow_list_remove(recording);
    for (size_t i = 0; i < recording->segments.count; i++) {
        gphi_segment *segment = gphi_segment_at(recording, i);
        if (segment->graph)
            segment->known = (uint64_t)(uintptr_t)segment->graph;
        if (segment->graph)
            gphi_ignore((gph_status)recording->runtime->cu.cuGraphDestroy(segment->graph),
                        "it is ours");
        segment->graph = NULL;
    }
}

static void note_left(gph_recording *recording)
{
    for (size_t i = 0; recording->pool && i < recording->segments.count; i++)
        gphi_note(GPHI_NOTE_LEFT, NULL, &gphi_segment_at(recording, i)->known, 1);
}

void gphi_recording_release(gph_recording *recording)
{
    /* Release: what this owner did comes before the end, which acquires it. */
    if (atomic_fetch_sub_explicit(&recording->owners, 1, memory_order_acq_rel) > 1)
        return;
    const gph_allocator heap = recording->runtime->heap;
    drop_graphs(recording);
    note_left(recording);
    for (size_t i = recording->holds.count; i-- > 0;) {
        const gphi_hold *hold = gphi_vec_at(&recording->holds, i);
        hold->release(hold->user);
    }
    gphi_bind_forget(recording);
    for (size_t i = 0; i < recording->segments.count; i++)
        gphi_vec_fini(&gphi_segment_at(recording, i)->regions);
    GPHI_EACH (const gphi_region, region, &recording->regions) {
        gphi_heap_text_free(heap, region->path);
        gphi_heap_text_free(heap, region->place);
    }
    gphi_heap_text_free(heap, recording->place);
    gphi_vec_fini(&recording->segments);
    gphi_vec_fini(&recording->regions);
    gphi_vec_fini(&recording->holds);
    gphi_vec_fini(&recording->outputs);
    GPHI_EACH (gphi_flow, flow, &recording->flows)
        gphi_flow_fini(flow, heap);
    gphi_vec_fini(&recording->flows);
    gphi_kernels_release(recording->setters);
    gphi_heap_free(heap, recording, sizeof(*recording));
}

void gphi_conditional_release(gph_recording *known)
{
    if (!known)
        return;
    gphi_flow_list_remove(known); /* its nodes are gone with the graph */
    gphi_recording_release(known);
}

static void destroy_now(void *user)
{
    gph_recording *recording = user;
    drop_graphs(recording);
    gphi_recording_release(recording);
}

void gph_recording_destroy(gph_recording *recording)
{
    if (recording)
        gphi_defer(&recording->end, destroy_now, recording);
}

/* ---- what is in it ---- */

uint32_t gph_recording_segment_count(const gph_recording *recording)
{
    return recording ? (uint32_t)recording->segments.count : 0;
}

CUgraph gph_recording_graph(const gph_recording *recording, uint32_t segment)
{
    return segment < gph_recording_segment_count(recording)
               ? gphi_segment_at(recording, segment)->graph
               : NULL;
}

const char *gph_recording_region(const gph_recording *recording, uint32_t segment,
                                 uint32_t node)
{
    if (segment >= gph_recording_segment_count(recording))
        return NULL;
    return gphi_segment_region(recording, gphi_segment_at(recording, segment), node);
}

const char *gph_recording_place(const gph_recording *recording, uint32_t segment,
                                uint32_t node)
{
    if (segment >= gph_recording_segment_count(recording))
        return NULL;
    return gphi_segment_place(recording, gphi_segment_at(recording, segment), node);
}

gph_recording_id gph_recording_pool_id(const gph_recording *recording)
{
    return recording ? recording->id : 0;
}

struct namer {
    const gph_recording *recording;
    const gphi_segment *segment;
};

static const char *name_of(const void *user, size_t index)
{
    const struct namer *namer = user;
    return gphi_segment_region(namer->recording, namer->segment, index);
}

static const char *place_of(const void *user, size_t index)
{
    const struct namer *namer = user;
    return gphi_segment_place(namer->recording, namer->segment, index);
}

static gphi_graph_source source_of(const struct namer *namer)
{
    return (gphi_graph_source){.runtime = namer->recording->runtime,
                               .graph = namer->segment->graph,
                               .name = name_of,
                               .place = place_of,
                               .user = namer};
}

static gph_status check_segment(const gph_recording *recording, uint32_t segment,
                                gph_error *error)
{
    GPHI_TRY(
        gphi_need_named(error, "gph_recording_graph", recording != NULL, "recording"));
    if (segment >= recording->segments.count)
        return gphi_fail(error, GPH_E_INVALID,
                         "segment %u: the recording has %zu, from 0", (unsigned)segment,
                         recording->segments.count);
    return GPH_OK;
}

gph_status gph_recording_describe(const gph_recording *recording, uint32_t segment,
                                  gph_graph **out, gph_error *error)
{
    GPHI_TRY(check_segment(recording, segment, error));
    GPHI_TRY(gphi_need(error, out));
    const struct namer namer = {recording, gphi_segment_at(recording, segment)};
    const gphi_graph_source source = source_of(&namer);
    return gphi_graph_describe(&source, out, error);
}

/* ---- instantiation ---- */

/* Puts where it was before what gph_exec_create() said. */
static void add_place(const gph_recording *recording, size_t index, gph_error *error)
{
    if (!error)
        return;
    const gphi_segment *segment = gphi_segment_at(recording, index);
    const char *region =
        error->has_node ? gphi_segment_region(recording, segment, (size_t)error->node)
                        : NULL;
    if (region)
        gphi_fail_in(error, "region %.120s: ", region);
    if (recording->segments.count > 1)
        gphi_fail_in(error, "segment %zu of %zu: ", index, recording->segments.count);
}

static size_t replay_bytes(uint32_t count)
{
    return sizeof(gph_replay) + count * sizeof(gph_exec *);
}

static void end_replay(void *user)
{
    gph_replay *replay = user;
    gph_recording *recording = replay->recording;
    gphi_heap_free(recording->runtime->heap, replay, replay_bytes(replay->count));
    gphi_recording_release(recording);
}

void gph_replay_destroy(gph_replay *replay)
{
    if (!replay)
        return;
    replay->self = NULL;
    for (uint32_t i = 0; i < replay->count; i++)
        gph_exec_destroy(replay->execs[i]);
    gphi_defer(&replay->end, end_replay, replay); /* after them */
}

gph_status gph_replay_create(gph_recording *recording, const gph_exec_options *options,
                             gph_replay **out, gph_error *error)
{
    GPHI_TRY(gphi_need(error, recording, out));
    const uint32_t count = (uint32_t)recording->segments.count;
    gph_replay *replay = gphi_heap_alloc(recording->runtime->heap, replay_bytes(count));
    GPHI_TRY(gphi_made(error, replay, "making %u segments executable", count));
    replay->self = replay;
    replay->recording = recording;
    replay->count = count;
    /* Relaxed: the caller is an owner, so it cannot reach 0 meanwhile. */
    atomic_fetch_add_explicit(&recording->owners, 1, memory_order_relaxed);
    for (uint32_t i = 0; i < count; i++) {
        const struct namer namer = {recording, gphi_segment_at(recording, i)};
        const gphi_graph_source source = source_of(&namer);
        const gph_status status =
            gphi_exec_create(&source, options, &replay->execs[i], error);
        if (status != GPH_OK) {
            add_place(recording, i, error);
            gph_replay_destroy(replay);
            return status;
        }
    }
    *out = replay;
    return GPH_OK;
}

/* ---- launch ---- */

gph_status gphi_break_call(const gphi_segment *segment, const gph_break *call,
                           gph_error *error)
{
    gph_error own = {0};
    const gph_status status =
        segment->function(segment->user, call, error ? error : &own);
    if (status != GPH_OK && error && error->code != status)
        gphi_fail(error, status, "break %u: its function returned %s",
                  (unsigned)call->index, gph_status_name(status));
    return status;
}

gph_status gph_replay_launch(gph_replay *replay, CUstream stream, gph_error *error)
{
    if (!replay || replay->self != replay)
        return gphi_fail(error, GPH_E_INVALID, "replay %p is not a replay",
                         (void *)replay);
    const gph_recording *recording = replay->recording;
    GPHI_TRY(gphi_bind_check(recording, error));
    for (uint32_t i = 0; i < replay->count;) {
        const gph_status status = gph_exec_launch(replay->execs[i], stream, error);
        if (status != GPH_OK) {
            add_place(recording, i, error);
            return status;
        }
        const gphi_segment *segment = gphi_segment_at(recording, i);
        if (segment->function) {
            const gph_break call = {
                .stream = stream, .index = i, .is_replay = 1, .has_values = 1};
            GPHI_TRY(gphi_break_call(segment, &call, error));
        }
        GPHI_TRY(gphi_host_next(recording, i, stream, &i, error));
    }
    return GPH_OK;
}

gph_exec *gph_replay_exec(const gph_replay *replay, uint32_t segment)
{
    return replay && segment < replay->count ? replay->execs[segment] : NULL;
}
