// SPDX-License-Identifier: Apache-2.0
/* Threads that hand over: a training step of PyTorch launches forward on one thread,
 * backward on autograd's and the optimizer on the first again. What a graph would hold is
 * all of it, so their calls are put into one track, by time.
 *
 *   main      ██ ██        ██      main and autograd    ██ ██ ██ ██ ██
 *   autograd        ██ ██      ->
 *
 * Threads are joined where they work on one stream, none calls while another is in a call,
 * and most of what they do is in loops of both. */
#include "advice/advice.h"

enum { ONE_OF = 64 /* calls that may lie beside one of the other thread */ };

static uint32_t thread_of(const gph_advice *advice, const gphi_beat *beat)
{
    return gphi_advice_site(advice, beat->site)->thread;
}

static bool has_stream(const gph_advice *advice, const gphi_track *track,
                       const gphi_stream *stream)
{
    GPHI_EACH (const gphi_site, site, &advice->sites)
        if (site->stream == stream && site->effect == GPHI_EFFECT_CAPTURED &&
            gphi_track_has(track, site->thread))
            return true;
    return false;
}

static bool share_stream(const gph_advice *advice, const gphi_track *a,
                         const gphi_track *b)
{
    GPHI_EACH (const gphi_site, site, &advice->sites)
        if (site->stream && site->effect == GPHI_EFFECT_CAPTURED &&
            gphi_track_has(a, site->thread) && has_stream(advice, b, site->stream))
            return true;
    return false;
}

/* `out`: the beats of both, by time. How many of them begin while the other thread is in
 * a call. */
static gph_status merge(const gphi_track *a, const gphi_track *b, gphi_vec *out,
                        uint64_t *beside)
{
    const gphi_track *const tracks[2] = {a, b};
    uint64_t at[2] = {0}, ends[2] = {0};
    const gph_status status = gphi_vec_reserve(out, a->beats.count + b->beats.count);
    *beside = 0;
    while (status == GPH_OK && at[0] + at[1] < a->beats.count + b->beats.count) {
        const gphi_beat *x = gphi_track_beat(a, at[0]), *y = gphi_track_beat(b, at[1]);
        const int which = at[0] == a->beats.count ||
                          (at[1] < b->beats.count && y->time_ns < x->time_ns);
        const gphi_beat *now = gphi_track_beat(tracks[which], at[which]++);
        *beside += now->time_ns < ends[!which];
        ends[which] = gphi_beat_end(now);
        (void)gphi_vec_push(out, now); /* there is room */
    }
    return status;
}

/* How many beats of the stretch are of threads of `track`. */
static uint64_t count_of(const gph_advice *advice, const gphi_vec *beats, uint64_t first,
                         uint64_t count, const gphi_track *track)
{
    uint64_t all = 0;
    for (uint64_t i = first; i < first + count; i++)
        all += gphi_track_has(track, thread_of(advice, gphi_vec_at(beats, i)));
    return all;
}

/* Whether most of what the thread with fewer calls does is in one loop of both. `loops`:
 * of the beats of both. */
static bool is_most(const gph_advice *advice, const gphi_vec *loops,
                    const gphi_vec *beats, const gphi_track *few)
{
    GPHI_EACH (const gphi_loop, loop, loops) {
        const uint64_t inside = count_of(advice, beats, loop->first, loop->period, few);
        uint64_t all = 0;
        if (inside == 0 || inside == loop->period)
            continue;
        GPHI_EACH (const gphi_run, run, &advice->runs)
            if (run->loop == loop->number)
                all += count_of(advice, beats, run->first, run->count, few);
        if (all * 2 >= few->beats.count)
            return true;
    }
    return false;
}

/* Looks for loops in the beats of both, as if they were those of `a`, the track of that
 * index. */
static gph_status is_one(gph_advice *advice, uint32_t a, const gphi_track *b,
                         const gphi_vec *beats, bool *out)
{
    gphi_track *track = gphi_advice_track(advice, a);
    const gphi_vec apart = track->beats;
    const gphi_track few = b->beats.count < apart.count ? *b : *track;
    gphi_vec loops;
    gphi_vec_init(&loops, advice->heap, sizeof(gphi_loop));
    track->beats = *beats;
    const gph_status status = gphi_track_loops(advice, a, &loops);
    *out = status == GPH_OK && is_most(advice, &loops, beats, &few);
    track->beats = apart;
    advice->runs.count = 0;
    gphi_vec_fini(&loops);
    return status;
}

static gph_status try_join(gph_advice *advice, uint32_t a, uint32_t b)
{
    gphi_track *to = gphi_advice_track(advice, a), *from = gphi_advice_track(advice, b);
    const size_t fewer =
        to->beats.count < from->beats.count ? to->beats.count : from->beats.count;
    bool joins = false;
    uint64_t beside;
    gphi_vec beats;
    if (to->model != from->model || fewer == 0 ||
        to->thread_count + from->thread_count > GPHI_TRACK_THREADS ||
        !share_stream(advice, to, from))
        return GPH_OK;
    gphi_vec_init(&beats, advice->heap, sizeof(gphi_beat));
    gph_status status = merge(to, from, &beats, &beside);
    if (status == GPH_OK && beside * ONE_OF <= fewer)
        status = is_one(advice, a, from, &beats, &joins);
    if (!joins) {
        gphi_vec_fini(&beats);
        return status;
    }
    gphi_vec_fini(&to->beats);
    gphi_vec_fini(&from->beats);
    to->beats = beats;
    to->back += from->back;
    for (uint32_t i = 0; i < from->thread_count; i++)
        to->threads[to->thread_count++] = from->threads[i];
    from->thread_count = 0;
    return GPH_OK;
}

gph_status gphi_advice_join(gph_advice *advice)
{
    gph_status status = GPH_OK;
    for (uint32_t a = 0; a < advice->tracks.count; a++)
        for (uint32_t b = a + 1; b < advice->tracks.count && status == GPH_OK; b++)
            status = try_join(advice, a, b);
    return status;
}
