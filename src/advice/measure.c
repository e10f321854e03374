// SPDX-License-Identifier: Apache-2.0
/* What the pieces of a period take: the host's time from the calls, in repetitions that
 * no window has disturbed, and the GPU's from the windows. */
#include "advice/advice.h"
#include "base/clock.h"
#include "base/hash.h"

#include <math.h>
#include <string.h>

enum {
    SAMPLES = 64,
    POSITIONS = 64,
    STRETCHES = 6,
    /* between two calls: less is what a framework takes to get from one to the next
     * (PyTorch's Python under the doctor up to 400 us), which a replay does not do; from
     * one thread to the next, as from autograd's to the optimizer, up to 1,300 us */
    OWN_WORK_NS = 1000000,
    HANDED_OVER_NS = 5000000
};

/* What others on the machine do only adds: the lower quartile is what it takes. */
static double lower(double *values, size_t count)
{
    (void)gphi_median(values, count);
    return values[(count - 1) / 4];
}

/* ---- windows and the repetitions they disturb ---- */

/* A window as it lies in a repeat. */
typedef struct placed {
    uint64_t repetition;
    uint32_t place, calls;
    uint32_t content; /* a hash of its calls and their sizes */
    bool is_graph, is_interrupted;
    double gpu_ns, instantiate_ns;
} placed;

typedef struct timing {
    const gph_advice *advice;
    gphi_repeat *repeat;
    gphi_vec windows;               /* of placed */
    double own_ns;                  /* that the doctor adds to a call, in the mean */
    bool is_own_measured;           /* with its part of questions between two calls */
    uint64_t count;                 /* whole repetitions */
    double events_ns;               /* that a window shows beside its calls */
    double fresh_ns, fresh_node_ns; /* and a graph that is not warm yet: whole, by node */
} timing;

/* The first beat of a track that began at that time or later. */
static uint64_t beat_at(const gphi_track *track, uint64_t time_ns)
{
    size_t low;
    GPHI_HALVE(low, track->beats.count, at,
               gphi_track_beat(track, at)->time_ns < time_ns);
    return low;
}

/* Windows compare only with windows of the same work: the calls in order, with their
 * sizes. */
static uint32_t content_of(const gphi_track *track, uint64_t at, uint32_t calls)
{
    uint64_t hash = calls;
    for (; at < track->beats.count && calls > 0; at++) {
        const gphi_beat *beat = gphi_track_beat(track, at);
        hash = gphi_hash_word(hash, beat->strong);
        calls -= beat->nodes != 0;
    }
    return (uint32_t)hash;
}

/* What the wrappers cost at most: what is between two calls at least. */
static double least_gap(const timing *t)
{
    const gphi_loop *loop = &t->repeat->loop;
    const gphi_track *track = gphi_advice_track(t->advice, loop->track);
    double least = 3000;
    for (uint64_t i = 1; i < loop->count && i < 4096; i++) {
        const gphi_beat *now = gphi_track_beat(track, loop->first + i), *before = now - 1;
        const double gap = (double)now->time_ns - (double)gphi_beat_end(before);
        if (now->extra == 0 && gap >= 0 && gap < least)
            least = gap;
    }
    return least;
}

/* Whether all calls of a window are of this track: threads that the program ran one after
 * the other for a while may be two. */
static bool is_whole(const gphi_track *track, uint64_t at, const gphi_window *window)
{
    uint32_t calls = 0;
    for (; at < track->beats.count && calls < window->calls; at++) {
        const gphi_beat *beat = gphi_track_beat(track, at);
        if (beat->time_ns > window->last_ns)
            break;
        calls += beat->nodes != 0;
    }
    return calls == window->calls;
}

/* Windows know threads and times; a loop knows beats: the first work at or after a
 * window's begin is where it starts. */
static gph_status place_windows(timing *t)
{
    const gphi_loop *loop = &t->repeat->loop;
    const gphi_track *track = gphi_advice_track(t->advice, loop->track);
    /* What the doctor's work costs the program outside its calls (caches), no clock shows: half
     * as much again, by a training step of PyTorch's on an H200. */
    static const double beside_calls = 1.5;
    double own[GPHI_BOUNDS][SAMPLES];
    size_t owns = 0;
    for (size_t i = 0; i < t->advice->windows.count; i++) {
        const gphi_window *window = gphi_vec_at(&t->advice->windows, i);
        uint64_t at = beat_at(track, window->first_ns);
        while (at < track->beats.count && gphi_track_beat(track, at)->nodes == 0)
            at++;
        const size_t upto = gphi_vec_upto(&t->repeat->begins, at);
        const uint64_t *begin = upto ? gphi_vec_at(&t->repeat->begins, upto - 1) : NULL;
        if (!gphi_track_has(track, window->thread) || window->calls == 0 || !begin ||
            at - *begin >= loop->period || !is_whole(track, at, window))
            continue;
        placed *p = gphi_vec_add(&t->windows, 1);
        if (!p)
            return GPH_E_NO_MEMORY;
        const double fresh = t->fresh_ns + t->fresh_node_ns * window->calls;
        const double beside = t->events_ns + (window->is_graph ? fresh : 0);
        *p = (placed){.repetition = upto - 1,
                      .place = (uint32_t)(at - *begin),
                      .calls = window->calls,
                      .content = content_of(track, at, window->calls),
                      .is_graph = window->is_graph,
                      .is_interrupted = window->is_interrupted,
                      .gpu_ns = fmax((double)window->gpu_ns - beside, 0),
                      .instantiate_ns = (double)window->instantiate_ns};
        t->repeat->interrupted += window->is_interrupted;
        for (int b = 0; b < GPHI_BOUNDS && owns < SAMPLES; b++)
            own[b][owns] = (double)window->own_ns[b];
        owns += owns < SAMPLES && window->own_ns[GPHI_USUAL] != 0;
    }
    t->is_own_measured = owns > 0;
    t->own_ns = owns > 0 ? gphi_median(own[GPHI_USUAL], owns) : least_gap(t);
    for (int b = 0; b < GPHI_BOUNDS; b++) {
        const double here = owns > 0 ? gphi_median(own[b], owns) : 0;
        t->repeat->own[b] = here > 0 && t->own_ns > 0 ? here / t->own_ns : 1;
        if (b == GPHI_HIGH)
            t->repeat->own[b] *= beside_calls;
    }
    t->repeat->windows = (uint32_t)t->windows.count;
    return GPH_OK;
}

/* A window holds the stream, and what follows meets what it held back. */
static bool is_clean(const timing *t, uint64_t repetition)
{
    GPHI_EACH (const placed, p, &t->windows) {
        const uint64_t held =
            (p->place + p->calls + t->repeat->loop.period - 1) / t->repeat->loop.period;
        if (repetition >= p->repetition && repetition <= p->repetition + held)
            return false;
    }
    return true;
}

/* A value of one repetition, or < 0 where it has none. */
typedef double sample_fn(const timing *t, uint64_t repetition, uint32_t place);

/* Of repetitions spread over all, clean ones if there are any, in order. The first
 * repetition warms up. */
static size_t take_samples(const timing *t, uint32_t place, sample_fn *sample,
                           double values[SAMPLES])
{
    size_t count = 0;
    for (int strict = 1; strict >= 0 && count == 0; strict--) {
        const uint64_t step = t->count / SAMPLES + 1;
        for (uint64_t r = t->count > 2; r < t->count && count < SAMPLES; r += step) {
            const double value = strict && !is_clean(t, r) ? -1 : sample(t, r, place);
            if (value >= 0)
                values[count++] = value;
        }
    }
    return count;
}

/* The lower quartile. */
static double usual_of(const timing *t, uint32_t place, sample_fn *sample)
{
    double values[SAMPLES];
    const size_t count = take_samples(t, place, sample, values);
    return count > 0 ? lower(values, count) : 0;
}

/* By how much it differs: the lower quartiles of up to six stretches of the run, one after
 * the other, since what disturbs comes for a while and goes. */
static void spread_of(const timing *t, sample_fn *sample, double out[GPHI_BOUNDS])
{
    double values[SAMPLES];
    const size_t count = take_samples(t, 0, sample, values);
    const size_t parts = count < STRETCHES       ? count
                         : count < 2 * STRETCHES ? count / 2
                                                 : STRETCHES;
    memset(out, 0, GPHI_BOUNDS * sizeof(*out));
    for (size_t i = 0; i < parts; i++) {
        const size_t from = count * i / parts, end = count * (i + 1) / parts;
        const double here = lower(values + from, end - from);
        out[GPHI_LOW] = i == 0 ? here : fmin(out[GPHI_LOW], here);
        out[GPHI_HIGH] = fmax(out[GPHI_HIGH], here);
    }
    if (count >
        0) /* sorted within the stretches by now, which the quartile of all is not */
        out[GPHI_USUAL] = fmin(fmax(lower(values, count), out[GPHI_LOW]), out[GPHI_HIGH]);
}

/* ---- the host ---- */

static const gphi_beat *beat(const timing *t, uint64_t repetition, uint32_t place)
{
    return gphi_repeat_beat(t->advice, t->repeat, repetition, place);
}

static double whole(const timing *t, uint64_t repetition, uint32_t place)
{
    (void)place;
    if (!gphi_repeat_goes_on(t->repeat, repetition + 1))
        return -1;
    return (double)(beat(t, repetition + 1, 0)->time_ns -
                    beat(t, repetition, 0)->time_ns);
}

/* Of one that none follows at once: without what the host does after it. */
static double alone(const timing *t, uint64_t repetition, uint32_t place)
{
    (void)place;
    const gphi_beat *first = beat(t, repetition, 0);
    return (double)gphi_span_ns(first->time_ns,
                                gphi_beat_end(first + t->repeat->loop.period - 1));
}

static double gap_before(const timing *t, uint64_t repetition, uint32_t place)
{
    if (place == 0 && !gphi_repeat_goes_on(t->repeat, repetition))
        return -1;
    const gphi_beat *now = beat(t, repetition, place);
    const gphi_beat *before = now - 1; /* beats of a track lie side by side */
    return now->time_ns > gphi_beat_end(before)
               ? (double)gphi_span_ns(gphi_beat_end(before), now->time_ns)
               : 0;
}

static double duration(const timing *t, uint64_t repetition, uint32_t place)
{
    return (double)beat(t, repetition, place)->duration_ns;
}

/* The least that a call takes: what is left of a copy when nothing is waited for. */
static double least(const timing *t, uint32_t place)
{
    double best = -1;
    for (uint64_t r = 0; r < t->count && r < SAMPLES; r++) {
        const double now = duration(t, r, place);
        best = best < 0 || now < best ? now : best;
    }
    return best;
}

/* What the host takes to read a result that is there already: the call itself also waits
 * for what makes it. */
static double read_ns(const timing *t, uint32_t place)
{
    const double copy = gphi_advice_anchor(t->advice, GPHI_ANCHOR_LAUNCH) +
                        gphi_advice_anchor(t->advice, GPHI_ANCHOR_STREAM_COPY);
    return fmin(least(t, place), copy);
}

static double own_of(const timing *t, uint32_t from, uint32_t count)
{
    double calls = 0;
    for (uint32_t i = from; i < from + count; i++)
        calls += 1.0 + (t->is_own_measured ? 0 : beat(t, 0, i)->extra);
    return calls * t->own_ns;
}

/* A sample of the gaps in a segment: what is usual between two calls. */
static double usual_gap(const timing *t, const gphi_piece *piece)
{
    double gaps[POSITIONS];
    size_t count = 0;
    const uint32_t step = piece->count / POSITIONS + 1;
    for (uint32_t i = 1; i < piece->count && count < POSITIONS; i += step)
        gaps[count++] = usual_of(t, piece->from + i, gap_before);
    return gphi_median(gaps, count);
}

/* Whether another thread goes on with the call at a place. */
static bool is_handed_over(const timing *t, uint32_t place)
{
    const gphi_beat *now = beat(t, 0, place);
    return gphi_advice_site(t->advice, now->site)->thread !=
           gphi_advice_site(t->advice, (now - 1)->site)->thread;
}

static void time_segment(timing *t, gphi_piece *piece)
{
    const double usual = usual_gap(t, piece);
    const double large = fmax(usual * 10, (double)OWN_WORK_NS);
    double gaps = 0;
    for (uint32_t i = 0; i < piece->count; i++) {
        const double gap = usual_of(t, piece->from + i, gap_before);
        piece->host_ns += usual_of(t, piece->from + i, duration);
        gaps += i > 0 ? gap : 0;
        if (i == 0) /* between two repetitions: the program's own work, and the usual */
            piece->gap_ns += gap > usual ? gap - usual : 0;
        else if (gap > large &&
                 (gap > (double)HANDED_OVER_NS || !is_handed_over(t, piece->from + i)))
            piece->gap_ns += gap;
        else
            piece->host_ns += gap;
    }
    /* what a wrapper takes lies between two calls, so that is the most it is */
    if (piece->count > 1)
        t->own_ns = fmin(t->own_ns, gaps / (piece->count - 1));
    piece->own_ns = own_of(t, piece->from, piece->count);
}

static void time_pieces(timing *t)
{
    for (size_t i = 0; i < t->repeat->pieces.count; i++) {
        gphi_piece *piece = gphi_vec_at(&t->repeat->pieces, i);
        if (piece->kind == GPHI_SEGMENT) {
            time_segment(t, piece);
            continue;
        }
        const gphi_site *site =
            gphi_advice_site(t->advice, beat(t, 0, piece->from)->site);
        for (uint32_t b = 0; b < piece->count; b++) {
            if (gphi_repeat_is_read(t->advice, t->repeat, piece->from + b))
                piece->host_ns += read_ns(t, piece->from + b);
            else if (piece->kind == GPHI_OTHER)
                piece->host_ns += usual_of(t, piece->from + b, duration);
            else if (site->effect == GPHI_EFFECT_LEGACY)
                piece->host_ns += least(t, piece->from + b);
        }
        piece->gap_ns = i == 0 ? 0 : usual_of(t, piece->from, gap_before);
        piece->own_ns = own_of(t, piece->from, piece->count);
    }
}

/* Without a wait in the period the host runs ahead of the GPU: only a long stretch, up to
 * the wait after it, shows what it takes. The longest that is clean; without any, all. */
static double stretch(const timing *t)
{
    const gphi_track *track = gphi_advice_track(t->advice, t->repeat->loop.track);
    const uint64_t period = t->repeat->loop.period;
    uint64_t from = 0, end = 0;
    for (int strict = 1; strict >= 0 && end < from + 2; strict--)
        for (uint64_t r = 0, first = 0; r < t->count; r++) {
            if (!gphi_repeat_goes_on(t->repeat, r))
                first = r;
            if (strict && !is_clean(t, r))
                first = r + 1;
            if (r + 1 > first && r + 1 - first >= end - from)
                from = first, end = r + 1;
        }
    const gphi_beat *begin = beat(t, from, 0), *last = beat(t, end - 1, 0) + period - 1;
    const gphi_beat *none = gphi_track_beat(track, track->beats.count);
    uint64_t away = 0; /* the program's own time before it waits, if that is most of it */
    for (uint64_t i = 0; i < period && last + 1 < none; i++) {
        const uint64_t all = gphi_span_ns(begin->time_ns, gphi_beat_end(last));
        last++;
        if (!gphi_effect_waits(gphi_advice_site(t->advice, last->site)->call))
            continue;
        if (last->time_ns > gphi_beat_end(last - 1) + all)
            away = last->time_ns - gphi_beat_end(last - 1);
        break;
    }
    const double periods = (double)(last - begin + 1) / (double)period;
    return (double)gphi_span_ns(begin->time_ns + away, gphi_beat_end(last)) / periods;
}

/* ---- the GPU ---- */

/* How far a window can be trusted: a graph's first time is cold, and a thread that lost
 * its processor was not there for a while. */
static int trust_in(const placed *p)
{
    const bool is_warm = !p->is_graph || p->instantiate_ns <= 0;
    return is_warm + (is_warm && !p->is_interrupted);
}

/* What windows of the same calls and kind took, for a call, of those that can be trusted
 * most if there are two. What disturbs a window (another program, a processor that sleeps)
 * only adds to it: the usual is the lower quartile. */
static double window_bound(const timing *t, const placed *like, gphi_bound bound)
{
    double values[SAMPLES];
    size_t count = 0;
    for (int least = 2; least >= 0 && count < 2; least--) {
        count = 0;
        for (size_t i = 0; i < t->windows.count && count < SAMPLES; i++) {
            const placed *p = gphi_vec_at(&t->windows, i);
            if (p->content == like->content && p->is_graph == like->is_graph &&
                trust_in(p) >= least)
                values[count++] = p->gpu_ns;
        }
    }
    const double usual = lower(values, count); /* sorts */
    return (bound == GPHI_USUAL ? usual
            : bound == GPHI_LOW ? values[0]
                                : values[(3 * (count - 1) + 3) / 4]) /
           like->calls;
}

/* Of the windows that begin at a place, for a call; < 0: there are none. */
static double window_from(const timing *t, bool is_graph, gphi_bound bound,
                          uint32_t place, uint32_t *calls)
{
    double least = -1;
    *calls = 0;
    GPHI_EACH (const placed, p, &t->windows) {
        if (p->is_graph != is_graph || p->place != place || p->calls < *calls)
            continue;
        const double here = window_bound(t, p, bound);
        least = p->calls > *calls || here < least ? here : least;
        *calls = p->calls;
    }
    return least;
}

static double window_mean(const timing *t, bool is_graph, gphi_bound bound)
{
    double per_call[SAMPLES];
    size_t count = 0;
    for (size_t i = 0; i < t->windows.count && count < SAMPLES; i++) {
        const placed *p = gphi_vec_at(&t->windows, i);
        if (p->is_graph == is_graph)
            per_call[count++] = window_bound(t, p, bound);
    }
    return count == 0 ? -1 : lower(per_call, count);
}

static bool is_graph_launch(const timing *t, uint32_t place)
{
    return gphi_advice_site(t->advice, beat(t, 0, place)->site)->call ==
           GPHI_CALL_cuGraphLaunch;
}

/* The GPU's time of a segment, from one window to the next, each with what its calls
 * take; what no window has begun is taken as the calls on the whole. < 0: there are none.
 */
static double segment_ns(const timing *t, const gphi_piece *piece, bool is_graph,
                         gphi_bound bound)
{
    const double mean = window_mean(t, is_graph, bound);
    double sum = 0, now = -1;
    uint32_t left = 0; /* calls that the last window still covers */
    if (mean < 0)
        return -1;
    for (uint32_t i = piece->from; i < piece->from + piece->count; i++) {
        uint32_t calls;
        const double here = window_from(t, is_graph, bound, i, &calls);
        if (here >= 0 && calls > left) {
            now = here;
            left = calls;
        }
        if (beat(t, 0, i)->nodes == 0)
            continue;
        if (is_graph && is_graph_launch(t, i))
            return -1; /* no window had it in its graph */
        sum += left > 0 ? now : mean;
        left -= left > 0;
    }
    return sum;
}

/* Windows that a segment's time as a graph rests on; their number says what it is worth. */
static uint32_t graph_windows(const timing *t, const gphi_piece *piece)
{
    uint32_t count = 0;
    GPHI_EACH (const placed, p, &t->windows)
        count += p->is_graph == (piece->graph_ns[GPHI_USUAL] >= 0) &&
                 p->place >= piece->from && p->place < piece->from + piece->count;
    return count;
}

/* What instantiating a graph of the segment took, by the graphs of the windows. */
static double instantiate_ns(const timing *t, const gphi_piece *piece)
{
    double least = -1;
    GPHI_EACH (const placed, p, &t->windows) {
        const bool is_here = p->place >= piece->from &&
                             p->place < piece->from + piece->count &&
                             p->instantiate_ns > 0;
        const double here = p->instantiate_ns * piece->nodes / p->calls;
        if (is_here && (least < 0 || here < least))
            least = here;
    }
    return least;
}

/* The host's part first: how long a wait is depends on it. */
static void use(timing *t)
{
    gphi_repeat *repeat = t->repeat;
    uint32_t segments = 0;
    repeat->busy_ns = 0;
    time_pieces(t);
    GPHI_EACH (gphi_piece, piece, &repeat->pieces) {
        if (piece->kind != GPHI_SEGMENT)
            continue;
        for (int b = 0; b < GPHI_BOUNDS; b++) {
            piece->graph_ns[b] = segment_ns(t, piece, true, (gphi_bound)b);
            piece->held_ns[b] = segment_ns(t, piece, false, (gphi_bound)b);
            if (piece->held_ns[b] < 0)
                piece->held_ns[b] = piece->graph_ns[b];
        }
        piece->instantiate_ns = instantiate_ns(t, piece);
        repeat->busy_ns += piece->held_ns[GPHI_USUAL];
        const uint32_t windows = graph_windows(t, piece);
        if (segments++ == 0 || windows < repeat->graph_windows)
            repeat->graph_windows = windows;
    }
    if (t->windows.count == 0)
        repeat->busy_ns = -1;
    spread_of(t, whole, repeat->spread);
    if (repeat->spread[GPHI_USUAL] <= 0)
        spread_of(t, alone, repeat->spread);
    repeat->eager_ns = repeat->spread[GPHI_USUAL];
    if (repeat->pieces.count > 1)
        return;
    repeat->eager_ns = stretch(t);
    const double usual = repeat->spread[GPHI_USUAL];
    for (int b = 0; b < GPHI_BOUNDS; b++)
        repeat->spread[b] =
            usual > 0 ? repeat->spread[b] * repeat->eager_ns / usual : repeat->eager_ns;
}

gph_status gphi_repeat_measure(const gph_advice *advice, gphi_repeat *repeat)
{
    timing t = {.advice = advice,
                .repeat = repeat,
                .count = gphi_repeat_count(repeat),
                .events_ns = gphi_advice_anchor(advice, GPHI_ANCHOR_EVENTS),
                .fresh_ns = gphi_advice_anchor(advice, GPHI_ANCHOR_FRESH_START),
                .fresh_node_ns =
                    fmax(gphi_advice_anchor(advice, GPHI_ANCHOR_FRESH_NODE) -
                             gphi_advice_anchor(advice, GPHI_ANCHOR_GRAPH_NODE),
                         0)};
    gphi_vec_init(&t.windows, advice->heap, sizeof(placed));
    const gph_status status = place_windows(&t);
    if (status == GPH_OK)
        use(&t);
    gphi_vec_fini(&t.windows);
    return status;
}
