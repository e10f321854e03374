// SPDX-License-Identifier: Apache-2.0
/* The questions that one asks before recording, answered from what was measured. */
#include "advice/advice.h"
#include <stdarg.h>

static void answer(gphi_question *question, const char *text, gphi_answer value,
                   const char *because, ...) GPH_PRINTF(4, 5);
/* `because` holds values of this run; what does not fit is cut, since it is for
 * reading. */
static void answer(gphi_question *question, const char *text, gphi_answer value,
                   const char *because, ...)
{
    va_list values;
    va_start(values, because);
    question->text = text;
    question->answer = value;
    gphi_language_intov(question->because, sizeof(question->because), because, values);
    va_end(values);
}

/* Calls a repetition that are obstacles of a kind. */
static uint64_t count_of(const gphi_repeat *repeat, gphi_obstacle_kind kind)
{
    uint64_t count = 0;
    GPHI_EACH (const gphi_obstacle, o, &repeat->obstacles)
        count += o->kind == kind ? o->count : 0;
    return count;
}

/* The site of the first obstacle that `is` says yes to; NULL: none. */
static const gphi_site *find_site(const gph_advice *advice, const gphi_repeat *repeat,
                                  bool (*is)(const gphi_obstacle *o, const gphi_site *s))
{
    GPHI_EACH (const gphi_obstacle, o, &repeat->obstacles) {
        const gphi_site *site = gphi_advice_site(advice, o->site);
        if (is(o, site))
            return site;
    }
    return NULL;
}

static const gphi_site *kind_site(const gph_advice *advice, const gphi_repeat *repeat,
                                  gphi_obstacle_kind kind)
{
    const gphi_obstacle *o = gphi_repeat_obstacle(repeat, kind);
    return !o ? NULL : gphi_advice_site(advice, o->site);
}

static bool is_unsafe(const gphi_obstacle *o, const gphi_site *site)
{
    return site->effect == GPHI_EFFECT_UNSAFE && o->kind != GPHI_FINE &&
           o->kind != GPHI_ELSEWHERE;
}

/* Of the unsafe calls those that make or end memory. */
static bool is_allocation(const gphi_obstacle *o, const gphi_site *site)
{
    switch (site->call) {
    case GPHI_CALL_cuMemAlloc:
    case GPHI_CALL_cuMemAllocPitch:
    case GPHI_CALL_cuMemAllocManaged:
    case GPHI_CALL_cuMemFree:
    case GPHI_CALL_cuMemAllocHost:
    case GPHI_CALL_cuMemHostAlloc:
    case GPHI_CALL_cuMemFreeHost:
    case GPHI_CALL_cuMemHostRegister:
    case GPHI_CALL_cuMemHostUnregister:
    case GPHI_CALL_cuArrayCreate:
    case GPHI_CALL_cuArray3DCreate:
    case GPHI_CALL_cuArrayDestroy: return is_unsafe(o, site);
    default: return false;
    }
}

static bool is_unsafe_inside(const gphi_obstacle *o, const gphi_site *site)
{
    return is_unsafe(o, site) && o->kind != GPHI_STAYS;
}

static bool is_legacy(const gphi_obstacle *o, const gphi_site *site)
{
    return o->kind != GPHI_STAYS && o->kind != GPHI_ELSEWHERE &&
           (site->effect == GPHI_EFFECT_LEGACY ||
            (site->stream && site->stream->is_legacy));
}

static bool is_pageable(const gphi_obstacle *o, const gphi_site *site)
{
    return o->kind == GPHI_FREEZES && site->pageable > 0;
}

/* Of kernels only a generator's state is called frozen. */
static bool is_random(const gphi_obstacle *o, const gphi_site *site)
{
    return o->kind == GPHI_FREEZES && site->name;
}

/* Addresses and other values are counted apart: a slot or a fixed buffer mends the
 * first, an update the second. */
static uint32_t changes(const gphi_repeat *repeat, bool addresses)
{
    uint32_t count = 0;
    GPHI_EACH (const gphi_change, change, &repeat->changes)
        count += change->is_address == addresses;
    return count;
}

/* ---- the decision flow ---- */

static void ask_shapes(const gphi_repeat *repeat, gphi_question *q)
{
    if (repeat->other_shapes == 0 && repeat->odd > 0)
        answer(q, "same shapes?", GPHI_YES,
               "each call has the same size in all but %u of the %u that were compared",
               repeat->odd, repeat->compared);
    else if (repeat->other_shapes == 0)
        answer(q, "same shapes?", GPHI_YES, "each call has the same size in all of them");
    else
        answer(q, "same shapes?", GPHI_NO,
               "sizes differ in %u of the repetitions that were compared, of %u kinds: a "
               "graph a size",
               repeat->other_shapes, repeat->shapes);
}

/* What a graph saves is a few us a call, so it shows where calls are short (rule of
 * thumb of the CUDA graphs guides, beside the measured value). */
static void ask_kernels(const gphi_repeat *repeat, gphi_question *q)
{
    const double calls = repeat->prediction.launches;
    const double each = repeat->prediction.busy_us / (calls > 0 ? calls : 1);
    q->rule = "calls below 100 us gain, above 10 ms nothing";
    if (repeat->prediction.busy_us < 0)
        answer(q, "small kernels?", GPHI_NOT_KNOWN, "the GPU's time was not measured");
    else
        answer(q, "small kernels?", each < 100 ? GPHI_YES : GPHI_NO,
               "%.1f us each on the GPU, which is busy for %.0f %% of the time", each,
               100 * repeat->prediction.busy_us /
                   (repeat->prediction.eager_us > repeat->prediction.busy_us
                        ? repeat->prediction.eager_us
                        : repeat->prediction.busy_us));
}

static void ask_memory(const gph_advice *advice, const gphi_repeat *repeat,
                       gphi_question *q)
{
    const gphi_site *site = find_site(advice, repeat, is_allocation);
    const uint32_t moved = changes(repeat, true);
    if (site)
        answer(q, "memory preallocatable?", GPHI_NOT_KNOWN,
               "%s is called in each: allocate before the loop if the sizes allow it",
               gphi_call_name(site->call));
    else if (moved > 0 && repeat->variants > 1)
        answer(q, "memory preallocatable?", GPHI_YES,
               "nothing is allocated in it; %u sets of buffers take turns",
               repeat->variants);
    else if (moved > 0)
        answer(q, "memory preallocatable?", GPHI_NOT_KNOWN,
               "nothing is allocated in it, but %u addresses change from one repetition "
               "to the next",
               moved);
    else
        answer(q, "memory preallocatable?", GPHI_YES,
               "nothing is allocated in it, and addresses stay");
}

/* A result fetched in the middle may decide what follows. */
static void ask_branches(const gph_advice *advice, const gphi_repeat *repeat,
                         gphi_question *q)
{
    static const char text[] = "no data-dependent branch?";
    const gphi_loop *loop = &repeat->loop;
    const gphi_track *track = gphi_advice_track(advice, loop->track);
    const uint64_t share =
        track->beats.count == 0
            ? 0
            : 100 * loop->repetitions * loop->period / track->beats.count;
    bool fetched = false;
    for (uint32_t i = 0; i < loop->period; i++) {
        const uint32_t call = gphi_repeat_site(advice, repeat, i)->call;
        fetched |= call == GPHI_CALL_cuMemcpyDtoH || call == GPHI_CALL_cuMemcpyDtoHAsync;
    }
    if (count_of(repeat, GPHI_CUTS) > 0 && fetched)
        answer(
            q, text, GPHI_NOT_KNOWN,
            "the host fetches results and waits in the middle; the same calls followed "
            "each time");
    else if (share < 50)
        answer(q, text, GPHI_NOT_KNOWN,
               "the same calls in the same order, %llu times, but most of the thread's "
               "calls are others",
               (unsigned long long)repeat->prediction.repetitions);
    else
        answer(q, text, GPHI_YES, "the same calls in the same order, %llu times",
               (unsigned long long)repeat->prediction.repetitions);
}

static void ask_flow(const gph_advice *advice, gphi_repeat *repeat)
{
    ask_shapes(repeat, &repeat->flow[0]);
    ask_kernels(repeat, &repeat->flow[1]);
    ask_memory(advice, repeat, &repeat->flow[2]);
    ask_branches(advice, repeat, &repeat->flow[3]);
    const gph_prediction *p = &repeat->prediction;
    const double even = p->break_even;
    const bool is_open = p->graph_us < 0 || (p->saves_low <= 0 && p->saves_high > 0);
    gphi_question *q = &repeat->flow[4];
    q->rule = "a graph is worth it from 100 replays on";
    if (is_open)
        answer(q, "> 100 replays?",
               repeat->prediction.repetitions > 100 ? GPHI_YES : GPHI_NO,
               "%llu seen; after how many a graph is paid for is not known",
               (unsigned long long)repeat->prediction.repetitions);
    else if (even < 0)
        answer(q, "> 100 replays?",
               repeat->prediction.repetitions > 100 ? GPHI_YES : GPHI_NO,
               "%llu seen; a graph would never be paid for",
               (unsigned long long)repeat->prediction.repetitions);
    else
        answer(q, "> 100 replays?",
               repeat->prediction.repetitions > 100 ? GPHI_YES : GPHI_NO,
               "%llu seen; here a graph is paid for after %.0f",
               (unsigned long long)repeat->prediction.repetitions,
               even < 1 ? 1 : even + 0.5);
}

/* ---- the checklist ---- */

static void check_site(const gphi_site *site, gphi_question *q, const char *text,
                       const char *none)
{
    if (!site)
        answer(q, text, GPHI_YES, "%s", none);
    else
        answer(q, text, GPHI_NO, "%.199s", gphi_site_text(site));
}

static void ask_checks(const gph_advice *advice, gphi_repeat *repeat)
{
    gphi_question *q = repeat->checks;
    answer(&q[0], "warmed up before capture", GPHI_YES,
           "it ran %llu times: libraries and modules are loaded",
           (unsigned long long)repeat->prediction.repetitions);
    check_site(kind_site(advice, repeat, GPHI_CUTS), &q[1], "no wait or query inside",
               "the host waits only between repetitions, or never");
    check_site(find_site(advice, repeat, is_unsafe_inside), &q[2],
               "no allocation or other unsafe call inside",
               find_site(advice, repeat, is_unsafe) ? "between repetitions only"
                                                    : "none seen");
    check_site(find_site(advice, repeat, is_legacy), &q[3], "not on the legacy stream",
               "all of it is on created streams");
    check_site(kind_site(advice, repeat, GPHI_ESCAPES), &q[4],
               "all streams forked from one by events", "none is left out");
    const uint32_t moved = changes(repeat, true), other = changes(repeat, false);
    if (moved == 0)
        answer(&q[5], "addresses stay", GPHI_YES, "the same in all that were compared");
    else if (repeat->variants > 1)
        answer(&q[5], "addresses stay", GPHI_NO,
               "%u change, in %u sets that take turns: a graph for each", moved,
               repeat->variants);
    else
        answer(&q[5], "addresses stay", GPHI_NO,
               "%u change: copy into fixed buffers, or update the graph", moved);
    if (other == 0)
        answer(&q[6], "arguments stay", GPHI_YES, "the same in all that were compared");
    else if (repeat->variants > 1)
        answer(&q[6], "arguments stay", GPHI_NO,
               "%u values change, in %u sets that take turns: a graph for each", other,
               repeat->variants);
    else
        answer(&q[6], "arguments stay", GPHI_NO,
               "%u values change: put them into device memory, or update the graph",
               other);
    check_site(find_site(advice, repeat, is_pageable), &q[7],
               "host buffers pinned and kept",
               "no copy from or to memory that is not known to be pinned");
    const gphi_site *random = find_site(advice, repeat, is_random);
    if (!random)
        answer(&q[8], "random state on the device", GPHI_YES, "no generator was seen");
    else
        answer(&q[8], "random state on the device", GPHI_NOT_KNOWN, "%.199s",
               gphi_site_text(random));
    const gphi_site *elsewhere = kind_site(advice, repeat, GPHI_ELSEWHERE);
    if (!elsewhere)
        answer(&q[9], "no unsafe call of another thread", GPHI_YES, "none seen");
    else
        answer(&q[9], "no unsafe call of another thread", GPHI_NO,
               "%.199s by thread %u: capture in thread-local mode",
               gphi_site_text(elsewhere), elsewhere->thread);
}

void gphi_repeat_ask(const gph_advice *advice, gphi_repeat *repeat)
{
    ask_flow(advice, repeat);
    ask_checks(advice, repeat);
}
