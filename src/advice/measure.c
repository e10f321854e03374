// SPDX-License-Identifier: Apache-2.0
/* What the pieces of a period take: the host's time from the calls, in repetitions that
 * no window has disturbed, and the GPU's from the windows. */
#include "advice/advice.h"
#include "base/hash.h"

#include <math.h>

enum { SAMPLES = 64, POSITIONS = 64 };

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
    bool is_graph;
    double gpu_ns, instantiate_ns;
} placed;

typedef struct timing {
    const gph_advice *advice;
    gphi_repeat *repeat;
    gphi_vec windows;               /* of placed */
    double own_ns;                  /* that the doctor adds to a call */
    uint64_t count;                 /* whole repetitions */
    double events_ns;               /* that a window shows beside its calls */
    double fresh_ns, fresh_node_ns; /* and a graph that is not warm yet: whole, by node */
} timing;

/* The first beat of a track that began at that time or later. */
static uint64_t beat_at(const gphi_track *track, uint64_t time_ns)
{
    uint64_t low = 0, high = track->beats.count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (gphi_track_beat(track, middle)->time_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
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

/* Windows know threads and times; a loop knows beats: the first work at or after a
 * window's begin is where it starts. */
static gph_status place_windows(timing *t)
{
    const gphi_loop *loop = &t->repeat->loop;
    const gphi_track *track = gphi_advice_track(t->advice, loop->track);
    const uint64_t first = loop->first + t->repeat->start;
    double own[SAMPLES];
    size_t owns = 0;
    for (size_t i = 0; i < t->advice->windows.count; i++) {
        const gphi_window *window = gphi_vec_at(&t->advice->windows, i);
        uint64_t at = beat_at(track, window->first_ns);
        while (at < track->beats.count && gphi_track_beat(track, at)->nodes == 0)
            at++;
        if (window->thread != track->thread || at < first ||
            at >= first + t->count * loop->period || window->calls == 0)
            continue;
        placed *p = gphi_vec_add(&t->windows, 1);
        if (p == NULL)
            return GPH_E_NO_MEMORY;
        const double fresh = t->fresh_ns + t->fresh_node_ns * window->calls;
        const double beside = t->events_ns + (window->is_graph ? fresh : 0);
        *p = (placed){.repetition = (at - first) / loop->period,
                      .place = (uint32_t)((at - first) % loop->period),
                      .calls = window->calls,
                      .content = content_of(track, at, window->calls),
                      .is_graph = window->is_graph,
                      .gpu_ns = fmax((double)window->gpu_ns - beside, 0),
                      .instantiate_ns = (double)window->instantiate_ns};
        if (owns < SAMPLES)
            own[owns++] = (double)window->own_ns;
    }
    t->own_ns = owns > 0 ? gphi_median(own, owns) : least_gap(t);
    t->repeat->windows = (uint32_t)t->windows.count;
    return GPH_OK;
}

/* A window holds the stream, and what follows meets what it held back. */
static bool is_clean(const timing *t, uint64_t repetition)
{
    for (size_t i = 0; i < t->windows.count; i++) {
        const placed *p = gphi_vec_at(&t->windows, i);
        const uint64_t held =
            (p->place + p->calls + t->repeat->loop.period - 1) / t->repeat->loop.period;
        if (repetition >= p->repetition && repetition <= p->repetition + held)
            return false;
    }
    return true;
}

/* Calls `sample` for repetitions spread over all, clean ones if there are any, and gives
 * the lower quartile. The first repetition warms up. */
static double median_of(const timing *t, uint32_t place,
                        double (*sample)(const timing *t, uint64_t repetition,
                                         uint32_t place))
{
    double values[SAMPLES];
    for (int strict = 1; strict >= 0; strict--) {
        const uint64_t step = t->count / SAMPLES + 1;
        size_t count = 0;
        for (uint64_t r = t->count > 2; r < t->count && count < SAMPLES; r += step) {
            if (strict && !is_clean(t, r))
                continue;
            const double value = sample(t, r, place);
            if (value >= 0)
                values[count++] = value;
        }
        if (count > 0)
            return lower(values, count);
    }
    return 0;
}

/* ---- the host ---- */

static const gphi_beat *beat(const timing *t, uint64_t repetition, uint32_t place)
{
    return gphi_repeat_beat(t->advice, t->repeat, repetition, place);
}

/* Samples of median_of(): a value of one repetition, or < 0 where it has none. */
static double whole(const timing *t, uint64_t repetition, uint32_t place)
{
    (void)place;
    if (repetition + 1 >= t->count)
        return -1;
    return (double)(beat(t, repetition + 1, 0)->time_ns -
                    beat(t, repetition, 0)->time_ns);
}

static double gap_before(const timing *t, uint64_t repetition, uint32_t place)
{
    if (repetition == 0 && place == 0)
        return -1;
    const gphi_beat *now = beat(t, repetition, place);
    const gphi_beat *before = now - 1; /* beats of a track lie side by side */
    return now->time_ns > gphi_beat_end(before)
               ? (double)(now->time_ns - gphi_beat_end(before))
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

static double own_of(const timing *t, uint32_t from, uint32_t count)
{
    double calls = 0;
    for (uint32_t i = from; i < from + count; i++)
        calls += 1.0 + beat(t, 0, i)->extra;
    return calls * t->own_ns;
}

/* A sample of the gaps in a segment: what is usual between two calls. */
static double usual_gap(const timing *t, const gphi_piece *piece)
{
    double gaps[POSITIONS];
    size_t count = 0;
    const uint32_t step = piece->count / POSITIONS + 1;
    for (uint32_t i = 1; i < piece->count && count < POSITIONS; i += step)
        gaps[count++] = median_of(t, piece->from + i, gap_before);
    return gphi_median(gaps, count);
}

static void time_segment(timing *t, gphi_piece *piece, bool begins)
{
    const double usual = usual_gap(t, piece);
    const double large = usual * 10 > 100e3 ? usual * 10 : 100e3;
    /* what a wrapper takes lies between two calls, so it is no more than that */
    if (piece->count > 1 && usual < t->own_ns)
        t->own_ns = usual;
    piece->own_ns = own_of(t, piece->from, piece->count);
    for (uint32_t i = 0; i < piece->count; i++) {
        const double gap = median_of(t, piece->from + i, gap_before);
        piece->host_ns += median_of(t, piece->from + i, duration);
        if (i == 0 && begins) /* behind a wait: the program's own work, and the usual */
            piece->gap_ns += gap > usual ? gap - usual : 0;
        else if (gap > large)
            piece->gap_ns += gap;
        else
            piece->host_ns += gap;
    }
}

static void time_pieces(timing *t)
{
    for (size_t i = 0; i < t->repeat->pieces.count; i++) {
        gphi_piece *piece = gphi_vec_at(&t->repeat->pieces, i);
        if (piece->kind == GPHI_SEGMENT) {
            time_segment(t, piece, t->repeat->pieces.count > 1);
            continue;
        }
        const gphi_site *site =
            gphi_advice_site(t->advice, beat(t, 0, piece->from)->site);
        for (uint32_t b = 0; b < piece->count; b++) {
            if (piece->kind == GPHI_OTHER)
                piece->host_ns += median_of(t, piece->from + b, duration);
            else if (site->effect == GPHI_EFFECT_LEGACY)
                piece->host_ns += least(t, piece->from + b);
        }
        piece->gap_ns = i == 0 ? 0 : median_of(t, piece->from, gap_before);
        piece->own_ns = own_of(t, piece->from, piece->count);
    }
}

/* Without a wait in the period the host runs ahead of the GPU: only a long stretch up to
 * the wait behind it tells the truth. */
static double stretch(const timing *t)
{
    const gphi_loop *loop = &t->repeat->loop;
    const gphi_track *track = gphi_advice_track(t->advice, loop->track);
    const uint64_t end = loop->first + t->repeat->start + t->count * loop->period;
    uint64_t from = t->count;
    while (from > 1 && is_clean(t, from - 1))
        from--;
    if (from + 2 > t->count)
        from = 0; /* nothing is clean: all of it */
    const gphi_beat *last = gphi_track_beat(track, end - 1);
    for (uint64_t i = end; i < track->beats.count && i < end + loop->period; i++) {
        const gphi_beat *behind = gphi_track_beat(track, i);
        last = behind;
        if (gphi_effect_waits(gphi_advice_site(t->advice, behind->site)->call))
            break;
    }
    const double calls = (double)(last - beat(t, from, 0) + 1);
    const double periods = calls / (double)loop->period;
    return (double)(gphi_beat_end(last) - beat(t, from, 0)->time_ns) / periods;
}

/* ---- the GPU ---- */

/* What windows of the same calls and kind took, for a call: the lower quartile. What
 * disturbs a window (another program, a processor that sleeps) only adds to it. */
static double window_lower(const timing *t, const placed *like)
{
    double values[SAMPLES];
    size_t count = 0;
    for (size_t i = 0; i < t->windows.count && count < SAMPLES; i++) {
        const placed *p = gphi_vec_at(&t->windows, i);
        if (p->content == like->content && p->is_graph == like->is_graph)
            values[count++] = p->gpu_ns;
    }
    return lower(values, count) / like->calls;
}

/* Of the windows that begin at a place, for a call; < 0: there are none. */
static double window_from(const timing *t, bool is_graph, uint32_t place, uint32_t *calls)
{
    double least = -1;
    *calls = 0;
    for (size_t i = 0; i < t->windows.count; i++) {
        const placed *p = gphi_vec_at(&t->windows, i);
        if (p->is_graph != is_graph || p->place != place || p->calls < *calls)
            continue;
        const double here = window_lower(t, p);
        least = p->calls > *calls || here < least ? here : least;
        *calls = p->calls;
    }
    return least;
}

static double window_mean(const timing *t, bool is_graph)
{
    double per_call[SAMPLES];
    size_t count = 0;
    for (size_t i = 0; i < t->windows.count && count < SAMPLES; i++) {
        const placed *p = gphi_vec_at(&t->windows, i);
        if (p->is_graph == is_graph)
            per_call[count++] = window_lower(t, p);
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
static double segment_ns(const timing *t, const gphi_piece *piece, bool is_graph)
{
    const double mean = window_mean(t, is_graph);
    double sum = 0, now = -1;
    uint32_t left = 0; /* calls that the last window still covers */
    if (mean < 0)
        return -1;
    for (uint32_t i = piece->from; i < piece->from + piece->count; i++) {
        uint32_t calls;
        const double here = window_from(t, is_graph, i, &calls);
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

/* By how much the times of a warm graph differ, from the least to the median: less than
 * that cannot be told apart. 0: there are not two. */
static double noise_ns(const timing *t, const gphi_piece *piece)
{
    double values[SAMPLES];
    uint32_t calls = 0;
    size_t count = 0;
    for (size_t i = 0; i < t->windows.count && count < SAMPLES; i++) {
        const placed *p = gphi_vec_at(&t->windows, i);
        const bool is_warm = p->is_graph && p->instantiate_ns <= 0;
        if (!is_warm || p->place < piece->from ||
            p->place >= piece->from + piece->count || p->calls < calls)
            continue;
        count = p->calls > calls ? 0 : count;
        calls = p->calls;
        values[count++] = p->gpu_ns;
    }
    const double median = gphi_median(values, count);
    return count < 2 ? 0 : (median - values[0]) / calls * piece->nodes;
}

/* What instantiating a graph of the segment took, by the graphs of the windows. */
static double instantiate_ns(const timing *t, const gphi_piece *piece)
{
    double least = -1;
    for (size_t i = 0; i < t->windows.count; i++) {
        const placed *p = gphi_vec_at(&t->windows, i);
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
    t->repeat->busy_ns = 0;
    time_pieces(t);
    for (size_t i = 0; i < t->repeat->pieces.count; i++) {
        gphi_piece *piece = gphi_vec_at(&t->repeat->pieces, i);
        if (piece->kind != GPHI_SEGMENT)
            continue;
        piece->graph_ns = segment_ns(t, piece, true);
        piece->held_ns = segment_ns(t, piece, false);
        if (piece->held_ns < 0)
            piece->held_ns = piece->graph_ns;
        piece->instantiate_ns = instantiate_ns(t, piece);
        t->repeat->noise_ns += noise_ns(t, piece);
        t->repeat->busy_ns += piece->held_ns;
    }
    if (t->windows.count == 0)
        t->repeat->busy_ns = -1;
    t->repeat->eager_ns =
        t->repeat->pieces.count > 1 ? median_of(t, 0, whole) : stretch(t);
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
