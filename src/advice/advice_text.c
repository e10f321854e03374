// SPDX-License-Identifier: Apache-2.0
/* The advice as lines for a terminal. */
#include "advice/advice.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/plain.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

typedef struct printing {
    const gph_advice *advice;
    gphi_text *out;
    bool has_colours;
    const char *bold, *plain; /* empty without colors */
} printing;

static const char *verdict_colour(const printing *p, gph_verdict verdict)
{
    static const char *const colours[] = {"\033[1m", "\033[1;32m", "\033[1;33m",
                                          "\033[1;31m", "\033[1;33m"};
    return p->has_colours ? colours[verdict] : "";
}

/* "step (train.c:41)", or "an unknown place", and the end of the line. */
static void put_place(printing *p, gph_place place)
{
    if (!place.function && !place.file)
        gphi_text_say(p->out, "an unknown place\n");
    else if (!place.file)
        gphi_text_say(p->out, "%.400s\n", place.function);
    else
        gphi_text_say(p->out, "%.400s (%.400s:%d)\n",
                      !place.function ? "?" : place.function, gphi_path_name(place.file),
                      (int)place.line);
}

static void put_site_place(printing *p, const gphi_site *site)
{
    put_place(p, gphi_advice_place(p->advice, site->stack));
}

/* A site, how often it is called, and where. */
static void put_site(printing *p, const gphi_site *site, uint64_t count)
{
    gphi_text_say(p->out, "     %-40.199s %6llu x  at ", gphi_site_text(site),
                  (unsigned long long)count);
    put_site_place(p, site);
}

/* "1.2 to 1.5 times as fast", of what is saved of the time. */
static void put_factor(printing *p, const gph_prediction *prediction)
{
    const double low = 1 / (1 - prediction->saves_low);
    const double high = 1 / (1 - fmin(prediction->saves_high, 0.999));
    if (high > 20 && high > 2 * low) /* next to nothing is left: anything may come out */
        gphi_text_say(p->out, "predicted, %.2f times as fast or more\n", low);
    else if (high - low < 0.005)
        gphi_text_say(p->out, "predicted, %.2f times as fast\n", low);
    else
        gphi_text_say(p->out, "predicted, %.2f to %.2f times as fast\n", low, high);
}

/* Columns line up at the numbers; a line that has no number says why instead. */
static void times(printing *p, const gphi_repeat *repeat)
{
    const gph_prediction *prediction = &repeat->prediction;
    const double part = 0.1; /* of the time now: less is not worth a line */
    const double least_us = repeat->least_ns / 1e3;
    gphi_text_say(p->out, "   now           %10.1f us", prediction->eager_us);
    if (prediction->busy_us >= 0)
        gphi_text_say(p->out, "   the GPU works %.1f us of it, %.0f %% it is idle\n",
                      prediction->busy_us,
                      prediction->busy_us < prediction->eager_us
                          ? 100 * (1 - prediction->busy_us / prediction->eager_us)
                          : 0.0);
    else
        gphi_text_say(p->out, "   the GPU's time is not known\n");
    if (least_us > 0 && prediction->eager_us - least_us > part * prediction->eager_us)
        gphi_text_say(p->out,
                      "   or less       %10.1f us   the least, if the doctor costs as "
                      "much as it may\n",
                      least_us);
    if (prediction->graph_us >= 0) {
        gphi_text_say(p->out, "   %-13s %10.1f us   ",
                      prediction->graphs == 1 ? "as a graph" : "as graphs",
                      prediction->graph_us);
        put_factor(p, prediction);
    }
    if (prediction->updates > 0)
        gphi_text_say(
            p->out,
            "   of it         %10.1f us   updates: arguments of %u nodes change\n",
            prediction->update_us, prediction->updates);
    if (prediction->once_us >= 0)
        gphi_text_say(
            p->out, "   once          %10.1f us   capture, instantiation, upload%s\n",
            prediction->once_us,
            repeat->variants > 1 ? ", of a graph for each set of arguments" : "");
    if (prediction->break_even >= 0 && prediction->saves_low > 0)
        gphi_text_say(p->out, "   paid for after%10.0f      repetitions; %llu seen\n",
                      prediction->break_even < 1 ? 1 : prediction->break_even + 0.5,
                      (unsigned long long)prediction->repetitions);
}

static void questions(printing *p, const char *title, const gphi_question *list,
                      uint32_t count)
{
    gphi_text_say(p->out, "   %s\n", title);
    for (uint32_t i = 0; i < count; i++) {
        gphi_text_say(p->out, "     %-42s %-8s %.319s", list[i].text,
                      gphi_answer_text(list[i].answer), list[i].because);
        if (list[i].rule)
            gphi_text_say(p->out, " (rule of thumb: %s)", list[i].rule);
        gphi_text_say(p->out, "\n");
    }
}

/* The names of a run's kernels, of one that comes again at once only the first. */
static void put_kernels(printing *p, const gphi_repeat *repeat, const gphi_fusion *run)
{
    const char *last = NULL;
    for (uint32_t i = 0; i < run->count; i++) {
        const char *name = gphi_repeat_site(p->advice, repeat, run->from + i)->name;
        if (!name || (last && strcmp(name, last) == 0))
            continue;
        gphi_text_say(p->out, "%s%.199s", last ? ", " : " ", name);
        last = name;
    }
}

static void fusions(printing *p, const gphi_repeat *repeat)
{
    if (repeat->fusions.count > 0)
        gphi_text_say(p->out,
                      "   one kernel might do the work of several (an estimate: if they "
                      "work element by element)\n");
    for (size_t i = 0; i < repeat->fusions.count; i++) {
        const gphi_fusion *run = gphi_vec_at(&repeat->fusions, i);
        gphi_text_say(p->out, "     %u over the same buffers:", run->count);
        put_kernels(p, repeat, run);
        gphi_text_say(p->out, "  at ");
        put_site_place(p, gphi_repeat_site(p->advice, repeat, run->from));
        gphi_text_say(
            p->out,
            "       %u launches less, some %.1f us of a graph, and up to %llu bytes "
            "less to and from memory\n",
            run->count - 1, run->saves_ns / 1e3, (unsigned long long)run->bytes);
    }
}

static void payoff(printing *p, const gphi_repeat *repeat, size_t number)
{
    const gph_prediction *prediction = &repeat->prediction;
    gphi_text_say(p->out,
                  "%s%zu. %u calls, %u of them kernels, repeated %llu times%s at ",
                  p->bold, number, prediction->launches, prediction->kernels,
                  (unsigned long long)prediction->repetitions, p->plain);
    put_place(p, prediction->place);
    if (repeat->loop.outer_count > 0)
        gphi_text_say(p->out,
                      "   inside a loop of %llu calls, which is repeated %llu times\n",
                      (unsigned long long)repeat->loop.outer_calls,
                      (unsigned long long)repeat->loop.outer_count);
    times(p, repeat);
    gphi_text_say(p->out, "   %s%s%s: %.639s\n", verdict_colour(p, prediction->verdict),
                  gphi_verdict_text(prediction->verdict), p->plain, prediction->why);
    if (repeat->graph_launches > 0)
        gphi_text_say(
            p->out,
            "   %u of the calls launch graphs already; what is predicted is one "
            "graph of all of it\n",
            repeat->graph_launches);
    if (repeat->variants > 1)
        gphi_text_say(p->out, "   %u sets of arguments take turns: a graph for each\n",
                      repeat->variants);
    if (prediction->graphs > 1)
        gphi_text_say(p->out, "   %u graphs, because the host waits between them\n",
                      prediction->graphs);
    fusions(p, repeat);
    questions(p, "decision flow", repeat->flow, GPHI_FLOW);
    questions(p, "before capture", repeat->checks, GPHI_CHECKS);
}

/* The argument of a site that changes at `change` first, and in how many of its calls. */
static uint32_t count_alike(const printing *p, const gphi_repeat *repeat, uint32_t site,
                            const gphi_change *change)
{
    uint32_t count = 0;
    GPHI_EACH (const gphi_change, other, &repeat->changes) {
        if (other->argument != change->argument ||
            gphi_repeat_beat(p->advice, repeat, 0, other->beat)->site != site)
            continue;
        if (other < change)
            return 0;
        count++;
    }
    return count;
}

/* The first two values are shown: they distinguish a counter from an address at a
 * glance. */
static void put_changes(printing *p, const gphi_repeat *repeat, const gphi_obstacle *of)
{
    GPHI_EACH (const gphi_change, change, &repeat->changes) {
        const char *what = change->is_address ? "an address" : "a value";
        if (gphi_repeat_beat(p->advice, repeat, 0, change->beat)->site != of->site)
            continue;
        const uint32_t count = count_alike(p, repeat, of->site, change);
        if (count == 1 && of->count == 1)
            gphi_text_say(p->out,
                          "       argument %u, %s: 0x%llx, then 0x%llx; a graph keeps "
                          "the first\n",
                          change->argument, what, (unsigned long long)change->before,
                          (unsigned long long)change->after);
        else if (count > 0)
            gphi_text_say(p->out,
                          "       argument %u of %u of these calls, %s: 0x%llx, then "
                          "0x%llx in the first of them; a graph keeps the first\n",
                          change->argument, count, what,
                          (unsigned long long)change->before,
                          (unsigned long long)change->after);
    }
}

/* Sites of one kind below its title; a kind without sites has none. */
static void put_obstacles(printing *p, const gphi_repeat *repeat, gphi_obstacle_kind kind)
{
    bool is_first = true;
    GPHI_EACH (const gphi_obstacle, o, &repeat->obstacles) {
        const gphi_site *site = gphi_advice_site(p->advice, o->site);
        if (o->kind != kind)
            continue;
        if (is_first)
            gphi_text_say(p->out, "   %s%s%s\n", p->bold, gphi_obstacle_title(kind),
                          p->plain);
        is_first = false;
        put_site(p, site, o->count);
        if (o->text)
            gphi_text_say(p->out, "       %s\n", o->text);
        if (kind != GPHI_ELSEWHERE)
            put_changes(p, repeat, o);
    }
}

static void capturable(printing *p, const gphi_repeat *repeat, size_t number)
{
    gphi_text_say(p->out, "%s%zu. repeated %llu times%s: %llu calls, from ", p->bold,
                  number, (unsigned long long)repeat->loop.repetitions, p->plain,
                  (unsigned long long)repeat->loop.period);
    put_place(p, repeat->prediction.place);
    if (repeat->stream)
        gphi_text_say(p->out, "   on %s\n",
                      repeat->stream->is_legacy       ? "the legacy stream"
                      : repeat->stream->is_per_thread ? "the thread's own default stream"
                      : repeat->stream->is_blocking   ? "a blocking stream"
                                                      : "a non-blocking stream");
    for (int kind = 0; kind < GPHI_OBSTACLES; kind++)
        put_obstacles(p, repeat, (gphi_obstacle_kind)kind);
}

/* Frames of one line may be of several stacks: a loop that is unrolled, a template. */
static bool is_same_line(gph_place a, gph_place b)
{
    return a.line == b.line && a.file && b.file && strcmp(a.file, b.file) == 0;
}

/* Calls of a site's line and name, 0 if a site before it is of that line. */
static uint64_t count_line(const gph_advice *advice, uint32_t index)
{
    const gphi_site *site = gphi_advice_site(advice, index);
    const gph_place place = gphi_advice_place(advice, site->stack);
    uint64_t count = site->count;
    for (uint32_t i = 0; i < advice->sites.count; i++) {
        const gphi_site *other = gphi_advice_site(advice, i);
        if (i == index || other->call != site->call || other->function != site->function)
            continue;
        if (!is_same_line(gphi_advice_place(advice, other->stack), place))
            continue;
        if (i < index)
            return 0;
        count += other->count;
    }
    return count;
}

/* Nothing repeats: whatever the program does is one region. */
static void capturable_all(printing *p)
{
    gphi_text_say(p->out, "nothing repeats: all calls of the program\n");
    for (uint32_t i = 0; i < p->advice->sites.count; i++) {
        const gphi_site *site = gphi_advice_site(p->advice, i);
        const char *text = gphi_effect_text(site->effect);
        const uint64_t count =
            site->effect == GPHI_EFFECT_NONE ? 0 : count_line(p->advice, i);
        if (count == 0)
            continue;
        if (site->stream && site->stream->is_legacy && !text)
            text = gphi_effect_text(GPHI_EFFECT_LEGACY);
        put_site(p, site, count);
        gphi_text_say(p->out, "       %s\n", !text ? "fine" : text);
    }
}

static void graphs_there(printing *p)
{
    if (p->advice->graph_launches > 0)
        gphi_text_say(p->out, "   the program launches graphs already, %llu times\n",
                      (unsigned long long)p->advice->graph_launches);
    if (p->advice->beats_left_out > 0)
        gphi_text_say(p->out, "   of the first %llu calls; %llu came after them\n",
                      (unsigned long long)p->advice->beat_count,
                      (unsigned long long)p->advice->beats_left_out);
}

gph_status gph_advice_text_write(const gph_advice *advice, gph_advice_part part,
                                 int with_colours, gph_write_fn *write, void *user,
                                 gph_error *error)
{
    char buffer[1024];
    gphi_text out;
    gphi_plain plain = {.write = write, .user = user, .has_colours = with_colours != 0};
    printing p = {.advice = advice,
                  .out = &out,
                  .has_colours = with_colours != 0,
                  .bold = with_colours ? "\033[1m" : "",
                  .plain = with_colours ? "\033[0m" : ""};
    GPHI_TRY(gphi_advice_check(advice, error));
    gphi_language_use(advice->language);
    gphi_text_stream(&out, buffer, sizeof(buffer), gphi_plain_write, &plain);
    if (part & GPH_ADVICE_CAPTURABLE) {
        gphi_text_say(&out, "%scapturable%s\n", p.bold, p.plain);
        for (size_t i = 0; i < advice->repeats.count; i++)
            capturable(&p, gphi_advice_repeat(advice, i), i + 1);
        if (advice->repeats.count == 0)
            capturable_all(&p);
    }
    if (part & GPH_ADVICE_PAYOFF) {
        gphi_text_say(&out, "%sadvice%s\n", p.bold, p.plain);
        graphs_there(&p);
        for (size_t i = 0; i < advice->repeats.count; i++)
            payoff(&p, gphi_advice_repeat(advice, i), i + 1);
        if (advice->repeats.count == 0)
            gphi_text_say(&out, "   nothing is repeated: there is nothing to record\n");
    }
    return gphi_text_end(&out, error);
}
