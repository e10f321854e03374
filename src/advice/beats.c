// SPDX-License-Identifier: Apache-2.0
/* Records become sites and beats. */
#include "advice/advice.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/hash.h"
#include <stdio.h>
#include <string.h>

enum {
    BEATS_MAX = 1 << 21,  /* kept in all; 80 MiB */
    VALUES_MAX = 1 << 22, /* words of arguments kept in all */
    VALUE_WORDS_MAX = 32  /* of one call */
};

/* Threads of different processes may have one number, so the model is part of the key. */
static gphi_track *track_of(gph_advice *advice, uint32_t thread)
{
    for (size_t i = 0; i < advice->tracks.count; i++)
        if (gphi_advice_track(advice, (uint32_t)i)->threads[0] == thread &&
            gphi_advice_track(advice, (uint32_t)i)->model == advice->model)
            return gphi_advice_track(advice, (uint32_t)i);
    gphi_track *track = gphi_vec_add(&advice->tracks, 1);
    if (!track)
        return NULL;
    track->threads[0] = thread;
    track->thread_count = 1;
    track->model = advice->model;
    gphi_vec_init(&track->beats, advice->heap, sizeof(gphi_beat));
    return track;
}

static bool is_kernel(uint32_t call)
{
    return call == GPHI_CALL_cuLaunchKernel || call == GPHI_CALL_cuLaunchKernelEx ||
           call == GPHI_CALL_cuLaunchCooperativeKernel;
}

/* Polls: as many as it takes, so they are not part of what repeats. */
static bool is_poll(uint32_t call)
{
    return call == GPHI_CALL_cuEventQuery || call == GPHI_CALL_cuStreamQuery;
}

static uint64_t function_of(const gphi_event *event)
{
    const uint32_t call = event->u.call.call;
    if (!is_kernel(call))
        return 0;
    return gphi_event_word(event, call == GPHI_CALL_cuLaunchKernelEx ? 1 : 0);
}

static bool is_host_memory(const gphi_allocation *memory)
{
    return memory &&
           (memory->kind == GPHI_MEM_PINNED || memory->kind == GPHI_MEM_REGISTERED);
}

/* Which word is the host's side of a copy; < 0: it has none, or none that is known. */
static int host_word(const gph_advice *advice, const gphi_event *event)
{
    const uint32_t call = event->u.call.call;
    if (call == GPHI_CALL_cuMemcpyHtoDAsync || call == GPHI_CALL_cuMemcpyHtoD)
        return 1;
    if (call == GPHI_CALL_cuMemcpyDtoHAsync || call == GPHI_CALL_cuMemcpyDtoH)
        return 0;
    for (int word = 0; word < 2 && call == GPHI_CALL_cuMemcpyAsync; word++)
        if (is_host_memory(gphi_model_memory(
                advice->model, gphi_event_word(event, (uint32_t)word), false)))
            return word;
    return -1;
}

static void look_at_host_side(gph_advice *advice, gphi_site *site,
                              const gphi_event *event)
{
    const int word = host_word(advice, event);
    if (word < 0)
        return;
    site->host_side++;
    site->is_fetch = word == 0;
    if (!gphi_model_memory(advice->model, gphi_event_word(event, (uint32_t)word), false))
        site->pageable++;
}

/* A site is call, stack, thread, kernel and stream: two streams used by one line are two,
 * since a capture takes them differently. */
static gph_status site_of(gph_advice *advice, const gphi_event *event,
                          const gphi_seen *seen, uint32_t *out)
{
    const uint64_t function = function_of(event);
    uint64_t hash = gphi_hash_word(
        gphi_hash_word(gphi_hash_word(GPHI_HASH_START, event->u.call.call), event->stack),
        event->thread);
    hash = gphi_hash_word(hash, function);
    hash = gphi_hash_word(hash, (uint64_t)(uintptr_t)seen->stream);
    const uint64_t *known = gphi_map_get(&advice->by_site, hash);
    if (known) {
        *out = (uint32_t)*known;
        return GPH_OK;
    }
    gphi_site *site = gphi_vec_add(&advice->sites, 1);
    if (!site)
        return GPH_E_NO_MEMORY;
    const gphi_function *f =
        function == 0 ? NULL : gphi_model_function(advice->model, function);
    *site = (gphi_site){.call = event->u.call.call,
                        .stack = event->stack,
                        .thread = event->thread,
                        .function = function,
                        .name = !f ? NULL : f->name,
                        .stream = seen->stream,
                        .effect = gphi_effect_of(event->u.call.call)};
    site->is_beat = site->effect != GPHI_EFFECT_NONE && !is_poll(site->call);
    *out = (uint32_t)advice->sites.count - 1;
    return gphi_map_set(&advice->by_site, hash, *out);
}

/* The words that make a call's size: grid and block, or bytes. */
static uint32_t strong_of(const gphi_event *event, uint32_t weak)
{
    const uint32_t call = event->u.call.call;
    uint64_t hash = weak;
    uint32_t from = 0, count = 0;
    if (call == GPHI_CALL_cuLaunchKernel || call == GPHI_CALL_cuLaunchCooperativeKernel)
        from = 1, count = 8;
    else if (event->word_count == 4 && gphi_effect_of(call) == GPHI_EFFECT_CAPTURED)
        from = 2, count = 3; /* bytes of a copy, elements of a fill */
    for (uint32_t i = from; i < count; i++)
        hash = gphi_hash_word(hash, gphi_event_word(event, i));
    const gphi_part *config = gphi_event_part(event, GPHI_PART_STRUCT, 0);
    if (call == GPHI_CALL_cuLaunchKernelEx && config && config->bytes >= 28) {
        uint64_t words[3] = {0};
        memcpy(words, config + 1, 24); /* grid and block */
        for (int i = 0; i < 3; i++)
            hash = gphi_hash_word(hash, words[i]);
    }
    return (uint32_t)(hash ^ hash >> 32);
}

/* Grid and blocks of a kernel. */
static void take_grid(const gphi_event *event, gphi_beat *beat)
{
    uint32_t size[6] = {0};
    const gphi_part *config = gphi_event_part(event, GPHI_PART_STRUCT, 0);
    uint64_t hash = GPHI_HASH_START, threads = 1;
    if (!is_kernel(event->u.call.call))
        return;
    if (event->u.call.call != GPHI_CALL_cuLaunchKernelEx)
        for (uint32_t i = 0; i < 6; i++)
            size[i] = (uint32_t)gphi_event_word(event, 1 + i);
    else if (config && config->bytes >= sizeof(size))
        memcpy(size, config + 1, sizeof(size));
    for (int i = 0; i < 6; i++) {
        hash = gphi_hash_word(hash, size[i]);
        threads *= size[i] == 1 || i % 3 == 0 ? size[i] : 0; /* one dimension */
    }
    beat->grid = (uint32_t)(hash ^ hash >> 32);
    beat->threads = threads < UINT32_MAX ? (uint32_t)threads : UINT32_MAX;
}

/* Arguments, to see what changes from one repetition to the next. Long parameter lists
 * are cut: one change is enough to say that there are some. */
static gph_status keep_values(gph_advice *advice, const gphi_event *event,
                              gphi_beat *beat)
{
    const gphi_part *params = gphi_event_part(event, GPHI_PART_PARAMS, 0);
    uint32_t words = 0;
    const void *from = NULL;
    if (params) {
        words = (params->bytes + 7) / 8; /* the part is padded to that */
        from = params + 1;
    } else if (gphi_effect_of(event->u.call.call) == GPHI_EFFECT_CAPTURED &&
               event->word_count == 4 && !is_kernel(event->u.call.call)) {
        words = 2; /* destination, source or value */
        from = gphi_event_words(event);
    }
    words = words < VALUE_WORDS_MAX ? words : VALUE_WORDS_MAX;
    if (words == 0 || advice->values.count + words > VALUES_MAX)
        return GPH_OK;
    uint64_t *to = gphi_vec_add(&advice->values, words);
    if (!to)
        return GPH_E_NO_MEMORY;
    memcpy(to, from, words * sizeof(*to));
    beat->value_at = (uint32_t)(advice->values.count - words);
    beat->value_words = (uint16_t)words;
    return GPH_OK;
}

/* A launch of a graph is as many nodes as that has: its time is compared with theirs. */
static uint32_t nodes_of(const gphi_site *site, const gphi_seen *seen)
{
    if (site->call == GPHI_CALL_cuGraphLaunch && seen->exec && seen->exec->source &&
        seen->exec->source->node_count > 0)
        return seen->exec->source->node_count < UINT16_MAX
                   ? seen->exec->source->node_count
                   : UINT16_MAX;
    return site->effect == GPHI_EFFECT_CAPTURED || site->call == GPHI_CALL_cuGraphLaunch;
}

/* Beyond the limit calls are only counted; the loops of the first two million are
 * known. */
static gph_status add_beat(gph_advice *advice, const gphi_event *event,
                           const gphi_seen *seen, uint32_t index)
{
    const gphi_site *site = gphi_advice_site(advice, index);
    gphi_track *track = track_of(advice, event->thread);
    if (!track)
        return GPH_E_NO_MEMORY;
    if (!site->is_beat) {
        track->extra++;
        return GPH_OK;
    }
    if (advice->beat_count == BEATS_MAX) {
        advice->beats_left_out++;
        return GPH_OK;
    }
    const gphi_beat *before =
        track->beats.count ? gphi_track_beat(track, track->beats.count - 1) : NULL;
    const uint64_t least_ns = before ? before->time_ns : 0;
    gphi_beat *beat = gphi_vec_add(&track->beats, 1);
    if (!beat)
        return GPH_E_NO_MEMORY;
    advice->beat_count++;
    track->back += event->time_ns < least_ns;
    uint64_t weak =
        gphi_hash_word(gphi_hash_word(GPHI_HASH_START, site->call), site->function);
    weak = gphi_hash_word(weak, (uint64_t)(uintptr_t)site->stream);
    *beat = (gphi_beat){.time_ns = event->time_ns > least_ns ? event->time_ns : least_ns,
                        .duration_ns = event->u.call.duration_ns,
                        .site = index,
                        .weak = (uint32_t)(weak ^ weak >> 32),
                        .nodes = (uint16_t)nodes_of(site, seen),
                        .extra = track->extra};
    track->extra = 0;
    beat->strong = strong_of(event, beat->weak);
    take_grid(event, beat);
    return keep_values(advice, event, beat);
}

/* Windows and anchors as attach/timing writes them; words by place, as GPHI_EVENT_GPU
 * says. */
static gph_status take_gpu(gph_advice *advice, const gphi_event *event)
{
    if (gphi_event_word(event, 0) == GPHI_GPU_ANCHORS) {
        advice->anchor_failure = (int32_t)gphi_event_word(event, 1);
        for (uint32_t i = 0; i < GPHI_ANCHOR_COUNT; i++)
            advice->anchors[i] = gphi_event_word(event, 3 + i);
        advice->has_anchors = advice->anchor_failure == 0;
        if (!advice->has_anchors && event->word_count >= 3 + 4)
            snprintf(advice->anchor_call, sizeof(advice->anchor_call), "%.31s",
                     (const char *)(gphi_event_words(event) + 3));
    }
    if (gphi_event_word(event, 0) != GPHI_GPU_WINDOW)
        return GPH_OK;
    gphi_window *window = gphi_vec_add(&advice->windows, 1);
    if (!window)
        return GPH_E_NO_MEMORY;
    *window = (gphi_window){
        .thread = event->thread,
        .gpu_ns = gphi_span_ns(gphi_event_word(event, 1), gphi_event_word(event, 2)),
        .first_ns = gphi_event_word(event, 4),
        .last_ns = gphi_event_word(event, 5),
        .calls = (uint32_t)gphi_event_word(event, 6),
        .own_ns = {gphi_event_word(event, 11), gphi_event_word(event, 7),
                   gphi_event_word(event, 12)},
        .is_graph = gphi_event_word(event, 8) != 0,
        .instantiate_ns = gphi_event_word(event, 9),
        .is_interrupted = gphi_event_word(event, 10) != 0};
    return GPH_OK;
}

gph_status gphi_advice_feed(gph_advice *advice, const gphi_event *event,
                            const gphi_seen *seen, gph_error *error)
{
    gph_status status = GPH_OK;
    uint32_t index = 0;
    if (event->kind == GPHI_EVENT_GPU)
        status = take_gpu(advice, event);
    /* what was captured did not run; what failed neither; what is inside another call or
     * a host function is not the program's own */
    if (event->kind == GPHI_EVENT_CALL && seen && event->u.call.result == 0 &&
        !(event->u.call.flags & (GPHI_CALL_NESTED | GPHI_CALL_HOST_NODE))) {
        const uint32_t call = event->u.call.call;
        advice->last_ns = event->time_ns + event->u.call.duration_ns;
        if (advice->first_ns == 0)
            advice->first_ns = event->time_ns;
        if (call == GPHI_CALL_cuStreamEndCapture)
            advice->captures++;
        if (seen->capture && gphi_effect_of(call) != GPHI_EFFECT_CAPTURE)
            return GPH_OK;
        if (call == GPHI_CALL_cuGraphLaunch)
            advice->graph_launches++;
        status = site_of(advice, event, seen, &index);
        if (status == GPH_OK) {
            gphi_site *site = gphi_advice_site(advice, index);
            site->count++;
            site->last_ns = event->time_ns;
            site->duration_ns += event->u.call.duration_ns;
            look_at_host_side(advice, site, event);
            status = add_beat(advice, event, seen, index);
        }
    }
    return status == GPH_OK ? GPH_OK
                            : gphi_fail(error, status, "advice on %llu calls",
                                        (unsigned long long)advice->beat_count);
}
