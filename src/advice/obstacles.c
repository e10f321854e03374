// SPDX-License-Identifier: Apache-2.0
/* What is in the way of a capture of one period, call by call. */
#include "advice/advice.h"
#include <string.h>
#include <strings.h>

enum {
    COMPARED = 32,  /* repetitions that are looked at */
    STREAMED = 2048 /* calls that say which stream it is */
};

static gph_status add_obstacle(gphi_repeat *repeat, gphi_obstacle_kind kind,
                               uint32_t site, uint64_t count, const char *text)
{
    GPHI_EACH (gphi_obstacle, known, &repeat->obstacles) {
        if (known->site == site && known->kind == kind) {
            known->count += count;
            return GPH_OK;
        }
    }
    gphi_obstacle *added = gphi_vec_add(&repeat->obstacles, 1);
    if (!added)
        return GPH_E_NO_MEMORY;
    *added = (gphi_obstacle){kind, site, count, text};
    return GPH_OK;
}

/* Whether a stream's first call of the period is a wait for an event: a fork. */
static bool is_forked(const gph_advice *advice, const gphi_repeat *repeat,
                      const gphi_stream *stream)
{
    for (uint32_t i = 0; i < repeat->loop.period; i++) {
        const gphi_site *site = gphi_repeat_site(advice, repeat, i);
        if (site->stream == stream)
            return site->call == GPHI_CALL_cuStreamWaitEvent;
    }
    return false;
}

/* Where a capture would begin, or, if it is the legacy stream, what a created one would be
 * put in place of: the stream of most work that is not forked itself. */
static void choose_stream(const gph_advice *advice, gphi_repeat *repeat)
{
    const uint32_t all =
        repeat->loop.period < STREAMED ? (uint32_t)repeat->loop.period : STREAMED;
    uint32_t best = 0;
    for (uint32_t i = 0; i < all; i++) {
        const gphi_site *site = gphi_repeat_site(advice, repeat, i);
        uint32_t count = 0;
        if (site->stream == repeat->stream || !site->stream ||
            gphi_repeat_beat(advice, repeat, 0, i)->nodes == 0)
            continue;
        for (uint32_t j = i; j < all; j++)
            count += gphi_repeat_site(advice, repeat, j)->stream == site->stream;
        /* no fork beats the one that forks it */
        count += is_forked(advice, repeat, site->stream) ? 0 : STREAMED;
        if (count > best) {
            best = count;
            repeat->stream = site->stream;
        }
    }
}

static gphi_obstacle_kind kind_of_work(const gph_advice *advice,
                                       const gphi_repeat *repeat, const gphi_site *site,
                                       const char **text)
{
    if (site->stream && site->stream->is_legacy) {
        *text = "906 in any mode while a blocking stream captures, else it escapes: the "
                "legacy stream cannot be captured, a created one can";
        return site->stream == repeat->stream ? GPHI_MOVES : GPHI_BREAKS;
    }
    if (site->stream != repeat->stream && !is_forked(advice, repeat, site->stream)) {
        *text = "on another stream that no event ties to the captured one: it runs when "
                "captured, and is not in the graph";
        return GPHI_ESCAPES;
    }
    *text = NULL;
    return GPHI_FINE;
}

/* The words come from the table of effects, but where the stream decides. */
static gphi_obstacle_kind kind_inside(const gph_advice *advice, const gphi_repeat *repeat,
                                      const gphi_site *site, const char **text)
{
    *text = gphi_effect_text(site->effect);
    switch (site->effect) {
    case GPHI_EFFECT_CAPTURED:
    case GPHI_EFFECT_ORDER: return kind_of_work(advice, repeat, site, text);
    case GPHI_EFFECT_STREAM_ONLY:
        if (site->call == GPHI_CALL_cuGraphLaunch) {
            *text = "is a graph already: 900 on a stream of a capture, but it can become "
                    "a child graph";
            return GPHI_STAYS;
        }
        return GPHI_BREAKS;
    case GPHI_EFFECT_LEGACY:
    case GPHI_EFFECT_DROPPED: return GPHI_ESCAPES;
    case GPHI_EFFECT_HOST: return GPHI_STAYS;
    default: return GPHI_BREAKS;
    }
}

/* A copy of device memory to host memory that is not pinned, and a wait: the host reads a
 * result, which no graph would hold. It reads after the replay. */
bool gphi_repeat_is_read(const gph_advice *advice, const gphi_repeat *repeat,
                         uint32_t place)
{
    const gphi_site *site = gphi_repeat_site(advice, repeat, place);
    return site->is_fetch && site->pageable == site->count &&
           place + 1 < repeat->loop.period &&
           gphi_effect_waits(gphi_repeat_site(advice, repeat, place + 1)->call);
}

/* The last beat of the period that a graph would hold: what comes after it is outside. */
static uint32_t last_work(const gph_advice *advice, const gphi_repeat *repeat)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < repeat->loop.period; i++)
        if (gphi_repeat_beat(advice, repeat, 0, i)->nodes != 0 &&
            !gphi_repeat_is_read(advice, repeat, i))
            last = i;
    return last;
}

/* Whether calls before that beat are unsafe: those after it then belong to them, as the
 * allocation does whose memory is freed there. */
static bool has_unsafe(const gph_advice *advice, const gphi_repeat *repeat, uint32_t last)
{
    for (uint32_t i = 0; i <= last; i++)
        if (gphi_repeat_site(advice, repeat, i)->effect == GPHI_EFFECT_UNSAFE)
            return true;
    return false;
}

/* Names of kernels that make random numbers. */
static bool is_random(const char *name)
{
    static const char *const words[] = {"philox", "curand", "dropout", "random",
                                        "xorwow"};
    for (size_t i = 0; name && i < sizeof(words) / sizeof(words[0]); i++)
        for (const char *at = name; *at != 0; at++)
            if (strncasecmp(at, words[i], strlen(words[i])) == 0)
                return true;
    return false;
}

/* What a node keeps that may not be what the next repetition means; NULL: nothing. The
 * host's side of a copy, seeds and offsets of a generator. */
static const char *frozen_text(const gphi_site *site)
{
    if (site->pageable > 0)
        return "the graph keeps the host pointer, which is not known to be pinned: it "
               "uses "
               "that memory at each replay";
    if (site->host_side > 0)
        return site->is_fetch ? "the graph keeps the host pointer (pinned): keep the "
                                "buffer, read it "
                                "after each replay"
                              : "the graph keeps the host pointer (pinned): keep the "
                                "buffer, fill it "
                                "before each replay";
    if (site->call == GPHI_CALL_cuLaunchHostFunc)
        return "the graph keeps function and argument: it calls it with the same pointer "
               "at each replay";
    if (is_random(site->name))
        return "seed and offset among its arguments are frozen: the same numbers at each "
               "replay, unless they lie in device memory and advance there";
    return NULL;
}

static gph_status look_at_calls(const gph_advice *advice, gphi_repeat *repeat)
{
    const uint32_t last = last_work(advice, repeat);
    const bool is_unsafe = has_unsafe(advice, repeat, last);
    for (uint32_t i = 0; i < repeat->loop.period; i++) {
        const uint32_t index = gphi_repeat_beat(advice, repeat, 0, i)->site;
        const gphi_site *site = gphi_advice_site(advice, index);
        const char *text = NULL;
        gphi_obstacle_kind kind;
        if (gphi_repeat_is_read(advice, repeat, i))
            kind = GPHI_STAYS;
        else if (i > last && site->effect != GPHI_EFFECT_ORDER &&
                 !(is_unsafe && site->effect == GPHI_EFFECT_UNSAFE))
            kind = GPHI_STAYS;
        else
            kind = kind_inside(advice, repeat, site, &text);
        if (i <= last && gphi_effect_waits(site->call) &&
            site->effect != GPHI_EFFECT_LEGACY)
            kind = GPHI_CUTS;
        const bool is_node = kind == GPHI_FINE || kind == GPHI_MOVES;
        const char *frozen = is_node ? frozen_text(site) : NULL;
        const gph_status status = add_obstacle(repeat, frozen ? GPHI_FREEZES : kind,
                                               index, 1, frozen ? frozen : text);
        if (status != GPH_OK)
            return status;
    }
    return GPH_OK;
}

/* Whether calls that are not beats lie among the work of a repetition. */
static bool has_others_inside(const gph_advice *advice, const gphi_repeat *repeat)
{
    const uint32_t last = last_work(advice, repeat);
    for (uint64_t r = 0; r < gphi_repeat_count(repeat) && r < COMPARED; r++)
        for (uint32_t i = 1; i <= last; i++)
            if (gphi_repeat_beat(advice, repeat, r, i)->extra > 0)
                return true;
    return false;
}

/* Sites that are not beats of this period: polls, other threads. */
static gph_status look_around(const gph_advice *advice, gphi_repeat *repeat)
{
    const gphi_track *track = gphi_advice_track(advice, repeat->loop.track);
    const uint64_t second = gphi_repeat_count(repeat) > 1;
    const uint64_t begin_ns = gphi_repeat_beat(advice, repeat, second, 0)->time_ns;
    const bool has_others = has_others_inside(advice, repeat);
    gph_status status = GPH_OK;
    for (uint32_t i = 0; i < advice->sites.count && status == GPH_OK; i++) {
        const gphi_site *site = gphi_advice_site(advice, i);
        const bool is_polled = !site->is_beat && site->effect != GPHI_EFFECT_NONE;
        const bool is_unsafe =
            site->effect == GPHI_EFFECT_UNSAFE || site->effect == GPHI_EFFECT_EVENT ||
            site->effect == GPHI_EFFECT_STREAM || site->effect == GPHI_EFFECT_ALWAYS;
        if (site->last_ns < begin_ns)
            continue;
        if (gphi_track_has(track, site->thread) && is_polled && has_others &&
            site->count >= gphi_repeat_count(repeat))
            status = add_obstacle(repeat, GPHI_CUTS, i,
                                  site->count / gphi_repeat_count(repeat),
                                  gphi_effect_text(site->effect));
        if (!gphi_track_has(track, site->thread) && is_unsafe)
            status = add_obstacle(repeat, GPHI_ELSEWHERE, i, site->count,
                                  site->effect == GPHI_EFFECT_ALWAYS
                                      ? "900 in any mode, from any thread"
                                      : "900 while this thread captures in global mode; "
                                        "allowed in thread-local mode");
    }
    return status;
}

gph_status gphi_repeat_look(const gph_advice *advice, gphi_repeat *repeat)
{
    choose_stream(advice, repeat);
    const gph_status status = look_at_calls(advice, repeat);
    return status == GPH_OK ? look_around(advice, repeat) : status;
}
