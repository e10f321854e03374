// SPDX-License-Identifier: Apache-2.0
/* The object, and what is done at its end. */
#include "advice/advice.h"
#include "base/fail.h"
#include "base/heap.h"
#include "doctor/listen.h"

enum { REPEATS_MAX = 4 };

static gph_status listen(void *user, const gphi_event *event, const gphi_seen *seen,
                         gph_error *error)
{
    gph_advice *advice = user;
    advice->model = gphi_doctor_model(advice->doctor);
    return gphi_advice_feed(advice, event, seen, error);
}

static const gph_place *doctor_frames(void *user, uint32_t stack, uint32_t *count)
{
    return gphi_doctor_frames(user, stack, count);
}

gph_status gphi_advice_make(const gph_allocator *allocator, gph_advice **out)
{
    const gph_allocator heap = gphi_heap(allocator);
    gph_advice *advice = gphi_heap_alloc(heap, sizeof(*advice));
    if (!advice)
        return GPH_E_NO_MEMORY;
    advice->heap = heap;
    gphi_vec_init(&advice->sites, heap, sizeof(gphi_site));
    gphi_map_init(&advice->by_site, heap);
    gphi_vec_init(&advice->tracks, heap, sizeof(gphi_track));
    gphi_vec_init(&advice->values, heap, sizeof(uint64_t));
    gphi_vec_init(&advice->windows, heap, sizeof(gphi_window));
    gphi_vec_init(&advice->runs, heap, sizeof(gphi_run));
    gphi_vec_init(&advice->repeats, heap, sizeof(gphi_repeat *));
    *out = advice;
    return GPH_OK;
}

/* Refused once events were read: a loop whose head is missing would be measured
 * wrongly. */
gph_status gph_advice_create(gph_doctor *doctor, const gph_advice_options *options,
                             gph_advice **out, gph_error *error)
{
    gph_advice_options o;
    uint64_t lost;
    GPHI_TRY(gphi_options_read(&o, sizeof(o), "gph_advice_options", options, error));
    GPHI_TRY(gphi_need(error, doctor, out));
    if (gph_doctor_event_count(doctor, &lost) != 0)
        return gphi_fail(error, GPH_E_STATE, "the doctor has read %llu events already",
                         (unsigned long long)gph_doctor_event_count(doctor, &lost));
    GPHI_TRY(gphi_made(error, gphi_advice_make(o.allocator, out) == GPH_OK, "an advice"));
    (*out)->doctor = doctor;
    (*out)->language = gphi_doctor_language(doctor);
    (*out)->frames = doctor_frames;
    (*out)->frames_user = doctor;
    gphi_doctor_listen(doctor, listen, *out);
    return GPH_OK;
}

/* Takes a repeat whose making failed half-way: vectors are empty then. */
static void repeat_destroy(gph_advice *advice, gphi_repeat *repeat)
{
    gphi_vec_fini(&repeat->begins);
    gphi_vec_fini(&repeat->pieces);
    gphi_vec_fini(&repeat->changes);
    gphi_vec_fini(&repeat->obstacles);
    gphi_vec_fini(&repeat->fusions);
    gphi_heap_free(advice->heap, repeat, sizeof(*repeat));
}

void gph_advice_destroy(gph_advice *advice)
{
    if (!advice)
        return;
    if (advice->doctor)
        gphi_doctor_listen(advice->doctor, NULL, NULL);
    for (size_t i = 0; i < advice->repeats.count; i++)
        repeat_destroy(advice, gphi_advice_repeat(advice, i));
    for (size_t i = 0; i < advice->tracks.count; i++)
        gphi_vec_fini(&gphi_advice_track(advice, (uint32_t)i)->beats);
    gphi_vec_fini(&advice->repeats);
    gphi_vec_fini(&advice->runs);
    gphi_vec_fini(&advice->windows);
    gphi_vec_fini(&advice->values);
    gphi_vec_fini(&advice->tracks);
    gphi_map_fini(&advice->by_site);
    gphi_vec_fini(&advice->sites);
    gphi_heap_free(advice->heap, advice, sizeof(*advice));
}

/* Whether a loop has kernels or graphs in it: set-up that copies one thing after the
 * other has not. */
static bool is_worth(const gph_advice *advice, const gphi_loop *loop)
{
    const gphi_track *track = gphi_advice_track(advice, loop->track);
    for (uint64_t i = 0; i < loop->period; i++) {
        const gphi_site *site =
            gphi_advice_site(advice, gphi_track_beat(track, loop->first + i)->site);
        if (site->function != 0 || site->call == GPHI_CALL_cuGraphLaunch)
            return true;
    }
    return false;
}

/* Whether the calls of its longest run are in a period of `by`, one after the other: it
 * is what one repetition does, in a first one that is not quite like the others. */
static bool is_part(const gph_advice *advice, const gphi_loop *loop, const gphi_loop *by)
{
    const gphi_track *track = gphi_advice_track(advice, loop->track);
    if (loop->track != by->track || loop->count > by->period)
        return false;
    for (uint64_t at = 0; at + loop->count <= by->period; at++) {
        uint64_t same = 0;
        while (same < loop->count &&
               gphi_track_beat(track, by->first + at + same)->weak ==
                   gphi_track_beat(track, loop->first + same)->weak)
            same++;
        if (same == loop->count)
            return true;
    }
    return false;
}

/* Whether most of it lies in a loop that is listed: what repeated until the outer loop
 * was seen to. */
static bool is_within(const gph_advice *advice, const gphi_loop *loop)
{
    for (size_t i = 0; i < advice->repeats.count; i++) {
        const gphi_loop *by = &gphi_advice_repeat(advice, i)->loop;
        if (gphi_loop_overlap(advice, loop, by) * 2 >= loop->count ||
            is_part(advice, loop, by))
            return true;
    }
    return false;
}

static bool has_waits(const gph_advice *advice, const gphi_loop *loop, uint32_t least)
{
    const gphi_track *track = gphi_advice_track(advice, loop->track);
    uint32_t waits = 0;
    for (uint64_t i = 0; i < loop->period && waits < least; i++)
        waits += gphi_effect_waits(
            gphi_advice_site(advice, gphi_track_beat(track, loop->first + i)->site)
                ->call);
    return waits == least;
}

/* Whether a loop is repetitions of a step, for three quarters of its calls or more: then
 * the step is what a graph would hold, and knows what it lies in. With one wait it is a
 * step itself, which may be several graphs. */
static bool is_outer(const gph_advice *advice, const gphi_vec *loops,
                     const gphi_loop *loop)
{
    bool found = false;
    GPHI_EACH (gphi_loop, step, loops) {
        if (!step->is_step || step->period * 2 > loop->period ||
            !is_worth(advice, step) || !has_waits(advice, loop, 2) ||
            gphi_loop_overlap(advice, loop, step) * 4 < loop->count * 3)
            continue;
        /* one that not most of the step lies in is a chance likeness */
        if (step->outer_count == 0 &&
            loop->repetitions * loop->period * 2 >= step->repetitions * step->period) {
            step->outer_calls = loop->period;
            step->outer_count = loop->repetitions;
        }
        found = true;
    }
    return found;
}

/* Of one repetition of the inner sequence, as the text speaks of it. */
static void count_kernels(const gph_advice *advice, gphi_repeat *repeat)
{
    uint32_t kernels = 0;
    for (uint32_t i = 0; i < repeat->loop.period; i++)
        kernels += gphi_advice_site(advice, gphi_repeat_beat(advice, repeat, 0, i)->site)
                       ->function != 0;
    const gphi_beat *first = gphi_repeat_beat(advice, repeat, 0, 0);
    repeat->prediction.kernels = kernels / repeat->inner;
    repeat->prediction.place =
        gphi_advice_place(advice, gphi_advice_site(advice, first->site)->stack);
}

/* Each step needs the one before: pieces, their times, the prediction, the questions. */
static gph_status add_repeat(gph_advice *advice, const gphi_loop *loop)
{
    gphi_repeat *repeat = gphi_heap_alloc(advice->heap, sizeof(*repeat));
    gphi_repeat **slot = !repeat ? NULL : gphi_vec_add(&advice->repeats, 1);
    if (!slot) {
        gphi_heap_free(advice->heap, repeat, sizeof(*repeat));
        return GPH_E_NO_MEMORY;
    }
    *slot = repeat;
    repeat->loop = *loop;
    advice->model = gphi_advice_track(advice, loop->track)->model;
    repeat->inner = 1;
    gphi_vec_init(&repeat->begins, advice->heap, sizeof(uint64_t));
    gphi_vec_init(&repeat->pieces, advice->heap, sizeof(gphi_piece));
    gphi_vec_init(&repeat->changes, advice->heap, sizeof(gphi_change));
    gphi_vec_init(&repeat->obstacles, advice->heap, sizeof(gphi_obstacle));
    gphi_vec_init(&repeat->fusions, advice->heap, sizeof(gphi_fusion));
    gph_status status = gphi_repeat_read(advice, repeat);
    GPHI_THEN(status, gphi_repeat_measure(advice, repeat));
    if (status != GPH_OK)
        return status;
    gphi_repeat_predict(advice, repeat);
    count_kernels(advice, repeat);
    gphi_repeat_ask(advice, repeat);
    return gphi_repeat_fuse(advice, repeat);
}

/* `loops` by what they take, the most expensive first. */
static gph_status add_repeats(gph_advice *advice, const gphi_vec *loops)
{
    uint64_t costliest = 0; /* of those that are worth it */
    gph_status status = GPH_OK;
    for (size_t i = 0; i < loops->count; i++) { /* also of those that come first */
        gphi_loop *loop = gphi_vec_at(loops, i);
        loop->is_outer = is_worth(advice, loop) && loop->total_ns * 10 >= costliest &&
                         is_outer(advice, loops, loop);
        costliest = costliest == 0 && is_worth(advice, loop) ? loop->total_ns : costliest;
    }
    for (size_t i = 0; i < loops->count && status == GPH_OK; i++) {
        const gphi_loop *loop = gphi_vec_at(loops, i);
        /* what takes less than a tenth of the most expensive is not worth a line */
        if (loop->total_ns * 10 >= costliest && !loop->is_outer &&
            advice->repeats.count < REPEATS_MAX && is_worth(advice, loop) &&
            !is_within(advice, loop))
            status = add_repeat(advice, loop);
    }
    return status;
}

gph_status gph_advice_finish(gph_advice *advice, gph_error *error)
{
    gphi_vec loops;
    GPHI_TRY(gphi_need(error, advice));
    if (advice->is_done)
        return gphi_fail(error, GPH_E_STATE, "the advice is finished already");
    gphi_language_use(advice->language);
    gphi_vec_init(&loops, advice->heap, sizeof(gphi_loop));
    gph_status status = gphi_advice_join(advice);
    GPHI_THEN(status, gphi_advice_loops(advice, &loops));
    GPHI_THEN(status, add_repeats(advice, &loops));
    gphi_vec_fini(&loops);
    advice->is_done = status == GPH_OK;
    return status == GPH_OK ? GPH_OK
                            : gphi_fail(error, status, "advice on %llu calls",
                                        (unsigned long long)advice->beat_count);
}

gph_status gphi_advice_check(const gph_advice *advice, gph_error *error)
{
    GPHI_TRY(gphi_need_named(error, "gph_advice_write", advice != NULL, "advice"));
    return advice->is_done
               ? GPH_OK
               : gphi_fail(error, GPH_E_STATE,
                           "the advice is not finished: gph_advice_finish() ends it");
}

uint32_t gph_advice_count(const gph_advice *advice)
{
    return !advice || !advice->is_done ? 0 : (uint32_t)advice->repeats.count;
}

const gph_prediction *gph_advice_prediction(const gph_advice *advice, uint32_t index)
{
    if (index >= gph_advice_count(advice))
        return NULL;
    return &(*(gphi_repeat **)gphi_vec_at(&advice->repeats, index))->prediction;
}
