// SPDX-License-Identifier: Apache-2.0
/* The prediction: host and GPU as two clocks that a wait brings together, stepped through
 * a few periods, as the program is now and with graphs in place of its segments. */
#include "advice/advice.h"
#include "doctor/findings/stacks.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { STEPS = 24, WARM = 8, FEW = 8 };
static const double least_saving = 0.05; /* of the time: less is not worth a change */
static const double mostly_busy = 0.6;   /* of the time: the GPU is what takes it */

typedef enum how { AS_GRAPH, AS_IT_IS, WITHOUT_DOCTOR } how;

/* Nodes one behind the other: those of parallel streams do not add up. */
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
                         const gphi_piece *piece)
{
    if (piece->graph_ns >= 0)
        return piece->graph_ns / repeat->inner +
               gphi_advice_anchor(advice, GPHI_ANCHOR_GRAPH_START);
    const double least =
        gphi_advice_anchor(advice, GPHI_ANCHOR_GRAPH_NODE) * depth_of(piece);
    const double held = piece->held_ns / repeat->inner;
    double busy = held - step_ns(advice, piece);
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

typedef struct clocks {
    double host, gpu;
} clocks;

/* In a stream the GPU may start on the first call while the host makes the next; a graph
 * starts when it is launched. That is why work and gaps are stepped call by call. */
static void step_segment(const gph_advice *advice, const gphi_repeat *repeat,
                         const gphi_piece *piece, how mode, clocks *at)
{
    at->host += piece->gap_ns;
    if (mode == AS_GRAPH) {
        for (uint32_t i = 0; i < repeat->inner; i++) {
            at->host += gphi_graph_launch_ns(advice, piece);
            at->gpu = fmax(at->gpu, at->host) + graph_busy(advice, repeat, piece);
        }
        return;
    }
    double host = piece->host_ns;
    if (mode == WITHOUT_DOCTOR)
        host = fmax(host - piece->own_ns, host * 0.2);
    const uint32_t calls = piece->nodes * repeat->inner;
    for (uint32_t i = 0; i < calls; i++) {
        at->host += host / calls;
        at->gpu = fmax(at->gpu, at->host) + fmax(piece->held_ns, 0) / calls;
    }
}

/* The first steps fill the queue; the time of a period is that of the later ones. */
static double run(const gph_advice *advice, const gphi_repeat *repeat, how mode)
{
    clocks at = {0, 0}, warm = at;
    for (int step = 0; step < STEPS; step++) {
        if (step == WARM)
            warm = at;
        for (size_t i = 0; i < repeat->pieces.count; i++) {
            const gphi_piece *piece = gphi_vec_at(&repeat->pieces, i);
            if (piece->kind == GPHI_SEGMENT) {
                step_segment(advice, repeat, piece, mode, &at);
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
    repeat->told.verdict = verdict;
    vsnprintf(repeat->why, sizeof(repeat->why), format, values);
    va_end(values);
    repeat->told.why = repeat->why;
}

/* What must be changed before it can be captured; NULL: nothing. */
static const gphi_obstacle *blocker(const gphi_repeat *repeat)
{
    const gphi_obstacle *breaks = gphi_repeat_obstacle(repeat, GPHI_BREAKS);
    return breaks != NULL ? breaks : gphi_repeat_obstacle(repeat, GPHI_ESCAPES);
}

/* Reasons against, the strongest first; the last is that nothing is against it. */
static void judge_gain(const gph_advice *advice, gphi_repeat *repeat, double saving)
{
    const double share = saving / repeat->eager_ns;
    const double noise = repeat->noise_ns / repeat->eager_ns;
    const double even = repeat->told.break_even;
    const double count = (double)repeat->told.repetitions;
    const gphi_obstacle *in_way = blocker(repeat);
    if (share >= least_saving && share < least_saving + noise) {
        say(repeat, GPH_VERDICT_DOES_NOT_PAY,
            "a graph would save %.0f %% of the time, but the GPU's times differ by %.0f "
            "%% from one repetition to the next: that cannot be told apart",
            share * 100, noise * 100);
    } else if (share < least_saving) {
        say(repeat, GPH_VERDICT_DOES_NOT_PAY,
            "a graph would save %.0f %% of the time, less than %.0f %%: the GPU is busy "
            "for %.0f %% of it already",
            fmax(share, 0) * 100, least_saving * 100,
            fmin(repeat->busy_ns / repeat->eager_ns, 1) * 100);
    } else if (even >= count) {
        say(repeat, GPH_VERDICT_DOES_NOT_PAY,
            "recording costs %.0f us and is earned after %.0f repetitions; there are "
            "%.0f",
            repeat->once_ns / 1e3, ceil(even), count);
    } else if (in_way != NULL) {
        const gphi_site *site = gphi_advice_site(advice, in_way->site);
        const gph_place place = gphi_advice_place(advice, site->stack);
        char where[200];
        gphi_place_text(&place, where, sizeof(where));
        say(repeat, GPH_VERDICT_CANNOT_CAPTURE,
            "%s in %s is in the way; without it a graph would save %.0f %%",
            gphi_call_name(site->call), where, share * 100);
    } else {
        say(repeat, GPH_VERDICT_PAYS,
            "saves %.0f %% of the time, earned after %.0f of %.0f repetitions",
            share * 100, fmax(ceil(even), 1), count);
    }
}

static bool is_all_measured(const gphi_repeat *repeat)
{
    for (size_t i = 0; i < repeat->pieces.count; i++) {
        const gphi_piece *piece = gphi_vec_at(&repeat->pieces, i);
        if (piece->kind == GPHI_SEGMENT && piece->graph_ns < 0)
            return false;
    }
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
    for (size_t i = 0; i < repeat->pieces.count; i++) {
        const gphi_piece *piece = gphi_vec_at(&repeat->pieces, i);
        if (piece->kind != GPHI_SEGMENT)
            continue;
        most.saved += fmax(piece->host_ns - piece->own_ns, 0) +
                      fmax(step_ns(advice, piece), 0) * repeat->inner;
        most.lost += (gphi_graph_launch_ns(advice, piece) +
                      gphi_advice_anchor(advice, GPHI_ANCHOR_GRAPH_START)) *
                     repeat->inner;
    }
    return most;
}

/* eager_ns without the doctor's part, and graph_ns. What the two clocks do not explain of
 * the time now is the doctor's too, beyond its wrappers (it takes caches, and processors
 * from softcuda), where both clocks were measured; else it is put down to host and GPU as
 * they work, and the GPU's part stays. */
static void set_times(const gph_advice *advice, gphi_repeat *repeat)
{
    const double with = run(advice, repeat, AS_IT_IS);
    const double without = run(advice, repeat, WITHOUT_DOCTOR);
    double eager = repeat->eager_ns - fmax(with - without, 0);
    eager = fmax(eager, repeat->eager_ns * 0.2);
    double graph = run(advice, repeat, AS_GRAPH);
    if (repeat->loop.repetitions < FEW) /* the first ones are not what it takes later */
        eager = fmin(eager, without);
    if (is_all_measured(repeat))
        eager = fmin(eager, without);
    else if (without > 0)
        graph += fmax(eager - without, 0) * fmin(fmax(repeat->busy_ns, 0) / without, 1);
    /* two measurements of a busy GPU differ by more than that at times */
    const limits most = limits_of(advice, repeat);
    if (repeat->busy_ns > mostly_busy * eager)
        graph = fmax(graph, eager - most.saved);
    graph = fmin(graph, eager + most.lost);
    repeat->busy_ns = fmin(repeat->busy_ns, eager);
    repeat->eager_ns = eager / repeat->inner;
    repeat->graph_ns = repeat->busy_ns < 0 ? -1 : graph / repeat->inner;
}

static void say_unknown(const gph_advice *advice, gphi_repeat *repeat)
{
    if (advice->has_anchors)
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
    gph_prediction *told = &repeat->told;
    double launch = 0;
    for (size_t i = 0; i < repeat->pieces.count; i++) {
        const gphi_piece *piece = gphi_vec_at(&repeat->pieces, i);
        if (piece->kind != GPHI_SEGMENT)
            continue;
        launch += gphi_graph_launch_ns(advice, piece) * repeat->inner;
        repeat->once_ns += once(advice, piece);
        told->graphs++;
        told->launches += piece->nodes;
    }
    repeat->launch_ns = launch;
    told->repetitions = repeat->loop.repetitions * repeat->inner;
    told->changed = (uint32_t)repeat->changes.count;
    told->windows = repeat->windows;
    const double inner = repeat->inner;
    set_times(advice, repeat);
    repeat->busy_ns = repeat->busy_ns < 0 ? -1 : repeat->busy_ns / inner;
    const double saving = repeat->eager_ns - repeat->graph_ns;
    told->eager_us = repeat->eager_ns / 1e3;
    told->busy_us = repeat->busy_ns < 0 ? -1 : repeat->busy_ns / 1e3;
    told->graph_us = repeat->graph_ns < 0 ? -1 : repeat->graph_ns / 1e3;
    told->once_us = advice->has_anchors ? repeat->once_ns / 1e3 : -1;
    told->break_even = saving > 0 ? repeat->once_ns / saving : -1;
    if (!advice->has_anchors || repeat->graph_ns < 0)
        say_unknown(advice, repeat);
    else
        judge_gain(advice, repeat, saving);
    /* whatever the GPU takes, launching alone says it for few repetitions */
    if (advice->has_anchors && repeat->graph_ns < 0 &&
        repeat->once_ns >=
            (repeat->eager_ns - launch / inner) * (double)told->repetitions)
        say(repeat, GPH_VERDICT_DOES_NOT_PAY,
            "recording costs %.0f us, more than %.0f repetitions take",
            repeat->once_ns / 1e3, (double)told->repetitions);
}
