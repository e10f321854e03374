// SPDX-License-Identifier: Apache-2.0
/* The prediction: host and GPU as two clocks that a wait brings together, stepped through
 * a few periods, as the program is now and with graphs in place of its segments. */
#include "advice/advice.h"
#include "doctor/findings/stacks.h"
#include <math.h>
#include <stdarg.h>
#include <string.h>

enum {
    SHORT = 8, /* calls: of less nobody makes a graph */
    STEPS = 24,
    WARM = 8,
    FEW = 8,
    FIRST_TIME =
        3, /* what a driver's first capture takes of a later one, by bench/advice */
    SAVING_BYTES = 48,
    LEAST = 3 /* repetitions: of fewer it cannot be said by how much they differ */
};
static const double least_saving = 0.05; /* of the time: less is not worth a change */
static const double most_own = 0.5;      /* of the time: what is left is not known then */
static const double most_cheap_ns = 2000; /* of a call */
static const double mostly_busy = 0.6;    /* of the time: the GPU is what takes it */

typedef enum how { AS_GRAPH, AS_IT_IS, WITHOUT_DOCTOR } how;

/* Nodes one after the other: those of parallel streams do not add up. */
static double depth_of(const gphi_piece *piece)
{
    return piece->nodes / (piece->streams > 1 ? (double)piece->streams : 1.0);
}

/* A constant and a part by node, both from the anchors. */
double gphi_graph_launch_ns(const gph_advice *advice, const gphi_piece *piece)
{
    return gphi_advice_anchor(advice, GPHI_ANCHOR_GRAPH_LAUNCH) +
           gphi_advice_anchor(advice, GPHI_ANCHOR_GRAPH_LAUNCH_NODE) * piece->nodes;
}

/* What is lost between two nodes of a stream and not between those of a graph. */
static double step_ns(const gph_advice *advice, const gphi_piece *piece)
{
    const double kernel = gphi_advice_anchor(advice, GPHI_ANCHOR_STREAM_NODE) -
                          gphi_advice_anchor(advice, GPHI_ANCHOR_GRAPH_NODE);
    const double copy = gphi_advice_anchor(advice, GPHI_ANCHOR_STREAM_COPY) -
                        gphi_advice_anchor(advice, GPHI_ANCHOR_GRAPH_COPY);
    const double fork = gphi_advice_anchor(advice, GPHI_ANCHOR_STREAM_FORK) -
                        gphi_advice_anchor(advice, GPHI_ANCHOR_GRAPH_FORK);
    const double depth = depth_of(piece) / fmax(piece->nodes, 1);
    return ((piece->nodes - piece->copies) * kernel + piece->copies * copy) * depth +
           piece->waits * fork / 2; /* a fork and its join are two waits */
}

/* What one graph of a segment keeps the GPU busy: what it took where its calls ran as a
 * graph; or else what was measured for them in a stream, with the steps between nodes of
 * a graph in place of those of a stream. */
static double graph_busy(const gph_advice *advice, const gphi_repeat *repeat,
                         const gphi_piece *piece, gphi_bound bound)
{
    if (piece->graph_ns[bound] >= 0)
        return piece->graph_ns[bound] / repeat->inner +
               gphi_advice_anchor(advice, GPHI_ANCHOR_GRAPH_START);
    const double least =
        gphi_advice_anchor(advice, GPHI_ANCHOR_GRAPH_NODE) * depth_of(piece);
    const double held = piece->held_ns[bound] / repeat->inner;
    /* the steps are the anchors', not this program's: at worst nothing of them is saved */
    double busy = held - (bound == GPHI_HIGH ? 0 : step_ns(advice, piece));
    busy = fmin(fmax(busy, least), held);
    return busy + gphi_advice_anchor(advice, GPHI_ANCHOR_GRAPH_START);
}

/* What a waiting host takes to go on when the GPU has ended. */
static double wake(const gph_advice *advice)
{
    const double rest = gphi_advice_anchor(advice, GPHI_ANCHOR_GRAPH_WAIT) -
                        gphi_advice_anchor(advice, GPHI_ANCHOR_GRAPH_LAUNCH) -
                        gphi_advice_anchor(advice, GPHI_ANCHOR_GRAPH_LAUNCH_NODE) -
                        gphi_advice_anchor(advice, GPHI_ANCHOR_GRAPH_START) -
                        gphi_advice_anchor(advice, GPHI_ANCHOR_GRAPH_NODE);
    return rest > 0 ? rest : 0;
}

/* What changing the arguments of a graph takes before a launch, each repetition. */
static double update_ns(const gph_advice *advice, const gphi_piece *piece)
{
    const double measured = gphi_advice_anchor(advice, GPHI_ANCHOR_SET);
    return piece->updates *
           (measured > 0 ? measured : gphi_advice_anchor(advice, GPHI_ANCHOR_LAUNCH));
}

typedef struct clocks {
    double host, gpu;
} clocks;

/* In a stream the GPU may start on the first call while the host makes the next; a graph
 * starts when it is launched. That is why work and gaps are stepped call by call. */
static void step_segment(const gph_advice *advice, const gphi_repeat *repeat,
                         const gphi_piece *piece, how mode, gphi_bound bound, clocks *at)
{
    at->host += piece->gap_ns;
    if (mode == AS_GRAPH) {
        for (uint32_t i = 0; i < repeat->inner; i++) {
            at->host += update_ns(advice, piece) + gphi_graph_launch_ns(advice, piece);
            at->gpu = fmax(at->gpu, at->host) + graph_busy(advice, repeat, piece, bound);
        }
        return;
    }
    double host = piece->host_ns;
    if (mode == WITHOUT_DOCTOR)
        host = fmax(host - piece->own_ns, host * 0.2);
    const uint32_t calls = piece->nodes * repeat->inner;
    for (uint32_t i = 0; i < calls; i++) {
        at->host += host / calls;
        at->gpu = fmax(at->gpu, at->host) + fmax(piece->held_ns[GPHI_USUAL], 0) / calls;
    }
}

/* The first steps fill the queue; the time of a period is that of the later ones. */
static double run(const gph_advice *advice, const gphi_repeat *repeat, how mode,
                  gphi_bound bound)
{
    clocks at = {0, 0}, warm = at;
    for (int step = 0; step < STEPS; step++) {
        if (step == WARM)
            warm = at;
        GPHI_EACH (const gphi_piece, piece, &repeat->pieces) {
            if (piece->kind == GPHI_SEGMENT) {
                step_segment(advice, repeat, piece, mode, bound, &at);
                continue;
            }
            at.host += piece->gap_ns;
            if (mode != AS_IT_IS)
                at.host -= fmin(piece->own_ns, piece->gap_ns);
            if (piece->kind == GPHI_WAIT)
                at.host = fmax(at.host, at.gpu) + wake(advice);
            at.host += piece->host_ns;
        }
    }
    return (fmax(at.host, at.gpu) - fmax(warm.host, warm.gpu)) / (STEPS - WARM);
}

/* What is paid once: the larger of what was measured for this graph and of what the
 * anchors say. */
static double once(const gph_advice *advice, const gphi_piece *piece)
{
    const double instantiate =
        gphi_advice_anchor(advice, GPHI_ANCHOR_INSTANTIATE) +
        gphi_advice_anchor(advice, GPHI_ANCHOR_INSTANTIATE_NODE) * piece->nodes;
    return gphi_advice_anchor(advice, GPHI_ANCHOR_CAPTURE) +
           gphi_advice_anchor(advice, GPHI_ANCHOR_UPLOAD) +
           (gphi_advice_anchor(advice, GPHI_ANCHOR_CAPTURE_NODE) +
            gphi_advice_anchor(advice, GPHI_ANCHOR_UPLOAD_NODE)) *
               piece->nodes +
           fmax(piece->instantiate_ns, instantiate);
}

static void say(gphi_repeat *repeat, gph_verdict verdict, const char *format, ...)
    GPH_PRINTF(3, 4);
static void say(gphi_repeat *repeat, gph_verdict verdict, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    repeat->prediction.verdict = verdict;
    gphi_language_intov(repeat->why, sizeof(repeat->why), format, values);
    va_end(values);
    repeat->prediction.why = repeat->why;
}

/* What must be changed before it can be captured; NULL: nothing. */
static const gphi_obstacle *blocker(const gphi_repeat *repeat)
{
    const gphi_obstacle *breaks = gphi_repeat_obstacle(repeat, GPHI_BREAKS);
    return breaks ? breaks : gphi_repeat_obstacle(repeat, GPHI_ESCAPES);
}

/* The text of what a graph would save: "60 %", or "55 to 62 %" of the time; all of it is
 * never saved, and how much slower it may be is not of use. */
static const char *saving_text(const gphi_repeat *repeat, char out[SAVING_BYTES])
{
    const int low = (int)floor(repeat->prediction.saves_low * 100 + 0.5);
    int high = (int)floor(repeat->prediction.saves_high * 100 + 0.5);
    high = high > low && high > 99 ? 99 : high;
    if (low < 0) {
        gphi_language_into(out, SAVING_BYTES, "nothing, or up to %d %%", high);
        return out;
    }
    gphi_language_into(out, SAVING_BYTES, low == high ? "%d %%" : "%d to %d %%", low,
                       high);
    return out;
}

/* Not one graph, whatever it saves: a graph for each of the sizes. */
static void say_buckets(gphi_repeat *repeat, const char *saving)
{
    const gph_prediction *p = &repeat->prediction;
    say(repeat, GPH_VERDICT_NEEDS_BUCKETS,
        "one graph cannot replay all of it, since sizes differ (%u kinds of repetitions "
        "among those compared): a graph a size, or a few buckets that calls are padded "
        "to, "
        "each recorded for %.0f us; where one fits it saves %s of the time",
        repeat->shapes, p->once_us, saving);
}

static void say_blocked(const gph_advice *advice, gphi_repeat *repeat,
                        const gphi_obstacle *in_way, const char *saving)
{
    const gphi_site *site = gphi_advice_site(advice, in_way->site);
    const gph_place place = gphi_advice_place(advice, site->stack);
    char where[200];
    gphi_place_text(&place, where, sizeof(where));
    say(repeat, GPH_VERDICT_CANNOT_CAPTURE,
        "%s in %.199s is in the way; without it a graph would save %s of the time",
        gphi_call_name(site->call), where, saving);
}

static void say_open(gphi_repeat *repeat, const char *saving)
{
    char interrupted[160] = "";
    if (repeat->interrupted > 0)
        gphi_language_into(interrupted, sizeof(interrupted),
                           " (other programs interrupted %u of the %u)",
                           repeat->interrupted, repeat->windows);
    if (repeat->graph_windows < 2)
        say(repeat, GPH_VERDICT_UNKNOWN,
            "what it takes as a graph was measured %s: a graph might save %s of the time",
            repeat->graph_windows == 0 ? "in parts only" : "once only", saving);
    else
        say(repeat, GPH_VERDICT_UNKNOWN,
            "under the doctor a repetition took %.1f to %.1f us in different stretches "
            "of the run, as a "
            "graph %.1f to %.1f us by %u windows%s: a graph might save %s of the time, "
            "and "
            "%.0f %% is what pays",
            repeat->spread[GPHI_LOW] / 1e3, repeat->spread[GPHI_HIGH] / 1e3,
            repeat->graph_spread[GPHI_LOW] / 1e3, repeat->graph_spread[GPHI_HIGH] / 1e3,
            repeat->windows, interrupted, saving, least_saving * 100);
}

static void say_little(gphi_repeat *repeat, const char *with)
{
    /* less than the limit is not rounded up to it */
    const double limit = least_saving * 100;
    const double most = fmin(fmax(repeat->prediction.saves_high, 0) * 100, limit - 0.1);
    const double busy = fmin(repeat->busy_ns / repeat->eager_ns, 1);
    if (busy > mostly_busy)
        say(repeat, GPH_VERDICT_DOES_NOT_PAY,
            "a graph would save at most %.1f %% of the time%s, less than %.0f %%: the "
            "GPU is already busy for %.0f %% of it",
            most, with, least_saving * 100, busy * 100);
    else if (repeat->pieces.count == 1 && repeat->prediction.launches < SHORT)
        say(repeat, GPH_VERDICT_UNKNOWN,
            "a graph of so few calls would save at most %.1f %% of the time%s; how many "
            "repetitions one may hold depends on what the host does between them",
            most, with);
    else
        say(repeat, GPH_VERDICT_DOES_NOT_PAY,
            "a graph would save at most %.1f %% of the time%s, less than %.0f %%: most "
            "of it "
            "is the host's own work and waits",
            most, with, least_saving * 100);
}

/* What the saving supposes. */
static void conditions_text(const gphi_repeat *repeat, char *out, size_t capacity)
{
    const gph_prediction *p = &repeat->prediction;
    out[0] = '\0';
    if (repeat->stream && repeat->stream->is_legacy)
        gphi_language_into(out, capacity,
                           ", on a created stream (the legacy one cannot be captured; "
                           "torch.cuda.graph() changes to its own)");
    size_t used = strlen(out);
    if (repeat->odd > 0)
        gphi_language_into(out + used, capacity - used,
                           ", but not of the %u of %u repetitions that have other sizes",
                           repeat->odd, repeat->compared);
    used = strlen(out);
    if (p->updates > 0)
        gphi_language_into(out + used, capacity - used,
                           ", %u nodes updated each time (%.1f us)", p->updates,
                           p->update_us);
    else if (repeat->variants > 1)
        gphi_language_into(out + used, capacity - used,
                           ", with %u graphs that take turns", repeat->variants);
}

/* Reasons against, the strongest first; the last is that nothing is against it. Only
 * what holds at both ends of what was measured is an answer. */
static void judge_gain(const gph_advice *advice, gphi_repeat *repeat)
{
    const gph_prediction *p = &repeat->prediction;
    const double like = 1 - (double)repeat->odd / fmax(repeat->compared, 1);
    const double count = floor((double)p->repetitions * like), once = repeat->once_ns;
    const double most = p->saves_high * repeat->spread[GPHI_HIGH];
    const double surely = p->saves_low * repeat->eager_ns;
    const uint32_t graphs = repeat->other_shapes > 0 ? repeat->shapes : 1;
    const gphi_obstacle *in_way = blocker(repeat);
    char saving[SAVING_BYTES], with[320];
    (void)saving_text(repeat, saving);
    conditions_text(repeat, with, sizeof(with));
    if (repeat->own[GPHI_USUAL] > most_own * repeat->spread[GPHI_USUAL])
        say(repeat, GPH_VERDICT_UNKNOWN,
            "gph doctor itself takes %.0f of the %.0f us of a repetition: what is left "
            "is too uncertain",
            repeat->own[GPHI_USUAL] / 1e3, repeat->spread[GPHI_USUAL] / 1e3);
    else if (p->saves_high < least_saving)
        say_little(repeat, with);
    else if (once * graphs >= most * count)
        say(repeat, GPH_VERDICT_DOES_NOT_PAY,
            "recording costs %.0f us, and %.0f repetitions save at most %.0f us of it",
            once * graphs / 1e3, count, most * count / 1e3);
    else if (p->saves_low < least_saving || repeat->graph_windows < 2)
        say_open(repeat, saving);
    else if (in_way)
        say_blocked(advice, repeat, in_way, saving);
    else if (repeat->other_shapes > 0)
        say_buckets(repeat, saving);
    else if (once * (double)FIRST_TIME >= surely * count)
        say(repeat, GPH_VERDICT_UNKNOWN,
            "recording costs %.0f us, the first time in a process up to %d times as "
            "much, "
            "and %.0f repetitions save %.0f to %.0f us of it",
            once / 1e3, FIRST_TIME, count, surely * count / 1e3, most * count / 1e3);
    else
        say(repeat, GPH_VERDICT_PAYS,
            "saves %s of the time%s, paid for after %.0f of %.0f repetitions", saving,
            with, fmax(ceil(p->break_even), 1), count);
}

static bool is_all_measured(const gphi_repeat *repeat)
{
    GPHI_EACH (const gphi_piece, piece, &repeat->pieces)
        if (piece->kind == GPHI_SEGMENT && piece->graph_ns[GPHI_USUAL] < 0)
            return false;
    return true;
}

/* How far graphs can be from the time now. */
typedef struct limits {
    double saved; /* the host's part of the segments, and what lies between their nodes */
    double lost;  /* launches of the graphs */
} limits;

static limits limits_of(const gph_advice *advice, const gphi_repeat *repeat)
{
    limits most = {0, 0};
    GPHI_EACH (const gphi_piece, piece, &repeat->pieces) {
        if (piece->kind != GPHI_SEGMENT)
            continue;
        most.saved += fmax(piece->host_ns - piece->own_ns, 0) +
                      fmax(step_ns(advice, piece), 0) * repeat->inner;
        most.lost += (update_ns(advice, piece) + gphi_graph_launch_ns(advice, piece) +
                      gphi_advice_anchor(advice, GPHI_ANCHOR_GRAPH_START)) *
                     repeat->inner;
    }
    return most;
}

/* The doctor's part of a time now, at least or at most, taken off. */
static double without_own(const gphi_repeat *repeat, gphi_bound time, gphi_bound own)
{
    return fmax(repeat->spread[time] - repeat->own[own], repeat->spread[time] * 0.2);
}

/* How far the saving can be off, of the time now. What the two clocks do not explain of
 * that time is either not the program's, or a graph has it as well; the GPU's work takes
 * what its windows took, the host's part no more than there is of it. */
static void set_saving(const gph_advice *advice, gphi_repeat *repeat, double eager,
                       double graph)
{
    double *bound = repeat->graph_spread, least = eager;
    gph_prediction *p = &repeat->prediction;
    bound[GPHI_USUAL] = graph;
    bound[GPHI_LOW] = fmin(graph, run(advice, repeat, AS_GRAPH, GPHI_LOW));
    bound[GPHI_HIGH] = fmax(graph, run(advice, repeat, AS_GRAPH, GPHI_HIGH));
    p->saves_low = p->saves_high = 1 - graph / eager;
    for (int b = GPHI_LOW; b <= GPHI_USUAL; b++) {
        const double seen = without_own(repeat, (gphi_bound)b, GPHI_HIGH);
        const double unexplained = fmax(seen - eager, 0), base = fmin(eager, seen);
        least = fmin(least, base);
        if (base > 0)
            p->saves_low = fmin(p->saves_low, 1 - (bound[GPHI_HIGH] + unexplained) /
                                                      (base + unexplained));
    }
    /* half of what is known of launches may be wrong */
    const double most = 2 * limits_of(advice, repeat).saved / least;
    const double slow = fmax(without_own(repeat, GPHI_HIGH, GPHI_LOW), eager);
    p->saves_high = fmax(p->saves_high, fmin(1 - bound[GPHI_LOW] / slow, most));
    repeat->least_ns =
        fmin(eager, without_own(repeat, GPHI_USUAL, GPHI_HIGH)) / repeat->inner;
    for (int b = 0; b < GPHI_BOUNDS; b++) {
        bound[b] /= repeat->inner;
        repeat->spread[b] /= repeat->inner;
        repeat->own[b] /= repeat->inner;
    }
}

/* What the doctor adds to a call, of what it adds to a repetition. */
static double own_of_call(const gphi_repeat *repeat, double own_ns)
{
    double calls = 0;
    GPHI_EACH (const gphi_piece, piece, &repeat->pieces)
        calls += piece->count;
    return calls > 0 ? own_ns / calls : 0;
}

/* eager_ns without the doctor's part, and graph_ns. What the two clocks do not explain of
 * the time now is the doctor's too, beyond its wrappers (it takes caches, and processors
 * from softcuda), where both clocks were measured; but where its wrappers are expensive (stacks of
 * Python and C++), they are all of it, and the sum of what is usual between many calls is less
 * than what is usual for all of them. Else it is put down to host and GPU as
 * they work, and the GPU's part stays. */
static void set_times(const gph_advice *advice, gphi_repeat *repeat)
{
    const double with = run(advice, repeat, AS_IT_IS, GPHI_USUAL);
    const double without = run(advice, repeat, WITHOUT_DOCTOR, GPHI_USUAL);
    double eager = repeat->eager_ns - fmax(with - without, 0);
    eager = fmax(eager, repeat->eager_ns * 0.2);
    double graph = run(advice, repeat, AS_GRAPH, GPHI_USUAL);
    if (repeat->loop.repetitions < FEW) /* the first ones are not what it takes later */
        eager = fmin(eager, without);
    if (!is_all_measured(repeat) && without > 0)
        graph += fmax(eager - without, 0) * fmin(fmax(repeat->busy_ns, 0) / without, 1);
    else if (is_all_measured(repeat) &&
             own_of_call(repeat, with - without) < most_cheap_ns)
        eager = fmin(eager, without);
    /* two measurements of a busy GPU differ by more than that at times */
    const limits most = limits_of(advice, repeat);
    if (repeat->busy_ns > mostly_busy * eager)
        graph = fmax(graph, eager - most.saved);
    graph = fmin(graph, eager + most.lost);
    for (int b = 0; b < GPHI_BOUNDS; b++)
        repeat->own[b] *= fmax(with - without, 0);
    set_saving(advice, repeat, eager, graph);
    repeat->busy_ns = fmin(repeat->busy_ns, eager);
    repeat->eager_ns = eager / repeat->inner;
    repeat->graph_ns = repeat->busy_ns < 0 ? -1 : graph / repeat->inner;
}

static void say_unknown(const gph_advice *advice, gphi_repeat *repeat)
{
    const uint32_t back = gphi_advice_track(advice, repeat->loop.track)->back;
    if (back > 0)
        say(repeat, GPH_VERDICT_UNKNOWN,
            "the clock of this log goes back, %u times between calls of this thread: no "
            "time in it can be relied on",
            back);
    else if (advice->has_anchors && repeat->prediction.repetitions < LEAST)
        say(repeat, GPH_VERDICT_UNKNOWN,
            "%llu repetitions were seen: with fewer than %d it is not known by how much "
            "they differ; recording costs %.0f us once",
            (unsigned long long)repeat->prediction.repetitions, LEAST,
            repeat->once_ns / 1e3);
    else if (advice->has_anchors)
        say(repeat, GPH_VERDICT_UNKNOWN,
            "the GPU's time could not be measured: too few repetitions, or the host "
            "waits in each");
    else if (advice->anchor_failure != 0)
        say(repeat, GPH_VERDICT_UNKNOWN,
            "nothing was measured: what launches take on this machine could not be found "
            "out, %s (%d) by %s",
            gph_status_name((gph_status)advice->anchor_failure),
            (int)advice->anchor_failure,
            advice->anchor_call[0] == '\0' ? "the driver" : advice->anchor_call);
    else
        say(repeat, GPH_VERDICT_UNKNOWN,
            "nothing was measured: the program ran without GPH_DOCTOR_ADVISE=1");
}

void gphi_repeat_predict(const gph_advice *advice, gphi_repeat *repeat)
{
    gph_prediction *prediction = &repeat->prediction;
    double launch = 0;
    GPHI_EACH (const gphi_piece, piece, &repeat->pieces) {
        if (piece->kind != GPHI_SEGMENT)
            continue;
        launch += gphi_graph_launch_ns(advice, piece) * repeat->inner;
        repeat->once_ns +=
            once(advice, piece) * (repeat->variants > 1 ? repeat->variants : 1);
        prediction->graphs++;
        prediction->launches += piece->nodes;
        prediction->updates += piece->updates;
        prediction->update_us += update_ns(advice, piece) / 1e3;
    }
    repeat->launch_ns = launch;
    const bool is_measured = gphi_advice_track(advice, repeat->loop.track)->back == 0;
    prediction->repetitions = repeat->loop.repetitions * repeat->inner;
    prediction->changed = (uint32_t)repeat->changes.count;
    prediction->windows = repeat->windows;
    const double inner = repeat->inner;
    set_times(advice, repeat);
    repeat->busy_ns = repeat->busy_ns < 0 || !is_measured ? -1 : repeat->busy_ns / inner;
    if (prediction->repetitions < LEAST || !is_measured)
        repeat->graph_ns = -1;
    const double saving = repeat->eager_ns - repeat->graph_ns;
    prediction->eager_us = repeat->eager_ns / 1e3;
    prediction->busy_us = repeat->busy_ns < 0 ? -1 : repeat->busy_ns / 1e3;
    prediction->graph_us = repeat->graph_ns < 0 ? -1 : repeat->graph_ns / 1e3;
    prediction->once_us = advice->has_anchors ? repeat->once_ns / 1e3 : -1;
    prediction->break_even =
        repeat->graph_ns >= 0 && saving > 0 ? repeat->once_ns / saving : -1;
    if (!advice->has_anchors || repeat->graph_ns < 0)
        say_unknown(advice, repeat);
    else
        judge_gain(advice, repeat);
    /* whatever the GPU takes, launching alone says it for few repetitions */
    if (advice->has_anchors && is_measured && repeat->graph_ns < 0 &&
        prediction->repetitions >= LEAST &&
        repeat->once_ns >=
            (repeat->eager_ns - launch / inner) * (double)prediction->repetitions)
        say(repeat, GPH_VERDICT_DOES_NOT_PAY,
            "recording costs %.0f us, more than %.0f repetitions take",
            repeat->once_ns / 1e3, (double)prediction->repetitions);
}
