// SPDX-License-Identifier: Apache-2.0
/* The advice as lines for a terminal. */
#include "advice/advice.h"
#include "base/fail.h"
#include "base/path.h"
#include <stdio.h>
#include <string.h>

static const char *bold(const gphi_page *page)
{
    return page->colours ? "\033[1m" : "";
}

static const char *plain(const gphi_page *page)
{
    return page->colours ? "\033[0m" : "";
}

static const char *verdict_colour(const gphi_page *page, gph_verdict verdict)
{
    static const char *const colours[] = {"\033[1m", "\033[1;32m", "\033[1;33m",
                                          "\033[1;31m"};
    return page->colours ? colours[verdict] : "";
}

/* "step (train.c:41)", or "an unknown place". */
static void place_text(gph_place place, char *out, size_t bytes)
{
    const char *file = place.file;
    if (place.function == NULL && file == NULL)
        snprintf(out, bytes, "an unknown place");
    else if (file == NULL)
        snprintf(out, bytes, "%s", place.function);
    else
        snprintf(out, bytes, "%s (%s:%d)", place.function == NULL ? "?" : place.function,
                 gphi_path_name(file), (int)place.line);
}

static void times(gphi_page *page, const gph_prediction *told)
{
    gphi_page_add(page, "   now           %10.1f us", told->eager_us);
    if (told->busy_us >= 0)
        gphi_page_add(
            page, "   the GPU works %.1f us of it, %.0f %% is launching\n", told->busy_us,
            told->busy_us < told->eager_us ? 100 * (1 - told->busy_us / told->eager_us)
                                           : 0.0);
    else
        gphi_page_add(page, "   the GPU's time is not known\n");
    if (told->graph_us >= 0)
        gphi_page_add(page, "   %-13s %10.1f us   predicted, %.2f times as fast\n",
                      told->graphs == 1 ? "as a graph" : "as graphs", told->graph_us,
                      told->graph_us > 0 ? told->eager_us / told->graph_us : 0.0);
    if (told->once_us >= 0)
        gphi_page_add(page,
                      "   once          %10.1f us   capture, instantiation, upload\n",
                      told->once_us);
    if (told->break_even >= 0)
        gphi_page_add(page, "   earned after  %10.0f      repetitions; %llu seen\n",
                      told->break_even < 1 ? 1 : told->break_even + 0.5,
                      (unsigned long long)told->repetitions);
}

static void questions(gphi_page *page, const char *title, const gphi_question *list,
                      uint32_t count)
{
    gphi_page_add(page, "   %s\n", title);
    for (uint32_t i = 0; i < count; i++) {
        gphi_page_add(page, "     %-42s %-8s %s", list[i].text,
                      gphi_answer_text(list[i].answer), list[i].because);
        if (list[i].rule != NULL)
            gphi_page_add(page, " (rule of thumb: %s)", list[i].rule);
        gphi_page_add(page, "\n");
    }
}

static void payoff(gphi_page *page, const gphi_repeat *repeat, size_t number)
{
    const gph_prediction *told = &repeat->told;
    char place[256];
    place_text(told->place, place, sizeof(place));
    gphi_page_add(page,
                  "%s%zu. %u calls, %u of them kernels, repeated %llu times%s at %s\n",
                  bold(page), number, told->launches, told->kernels,
                  (unsigned long long)told->repetitions, plain(page), place);
    times(page, told);
    gphi_page_add(page, "   %s%s%s: %s\n", verdict_colour(page, told->verdict),
                  gphi_verdict_text(told->verdict), plain(page), told->why);
    if (repeat->graph_launches > 0)
        gphi_page_add(
            page,
            "   %u of the calls launch graphs already; what is predicted is one "
            "graph of all of it\n",
            repeat->graph_launches);
    if (told->graphs > 1)
        gphi_page_add(page, "   %u graphs, because the host waits between them\n",
                      told->graphs);
    questions(page, "decision flow", repeat->flow, GPHI_FLOW);
    questions(page, "before capture", repeat->checks, GPHI_CHECKS);
}

static void obstacles(const gph_advice *advice, gphi_page *page,
                      const gphi_repeat *repeat, gphi_obstacle_kind kind)
{
    bool is_first = true;
    for (size_t i = 0; i < repeat->obstacles.count; i++) {
        const gphi_obstacle *o = gphi_vec_at(&repeat->obstacles, i);
        const gphi_site *site = gphi_advice_site(advice, o->site);
        char place[256];
        if (o->kind != kind)
            continue;
        if (is_first)
            gphi_page_add(page, "   %s%s%s\n", bold(page), gphi_obstacle_title(kind),
                          plain(page));
        is_first = false;
        place_text(gphi_advice_place(advice, site->stack), place, sizeof(place));
        gphi_page_add(page, "     %-40s %6llu x  at %s\n", gphi_site_text(site),
                      (unsigned long long)o->count, place);
        if (o->text != NULL)
            gphi_page_add(page, "       %s\n", o->text);
    }
}

static void frozen(const gph_advice *advice, gphi_page *page, const gphi_repeat *repeat)
{
    for (size_t i = 0; i < repeat->changes.count; i++) {
        const gphi_change *change = gphi_vec_at(&repeat->changes, i);
        const gphi_beat *beat = gphi_repeat_beat(advice, repeat, 0, change->beat);
        const gphi_site *site = gphi_advice_site(advice, beat->site);
        char place[256];
        if (i == 0)
            gphi_page_add(page, "   %schanges from one repetition to the next%s\n",
                          bold(page), plain(page));
        place_text(gphi_advice_place(advice, site->stack), place, sizeof(place));
        gphi_page_add(page, "     %-40s           at %s\n", gphi_site_text(site), place);
        gphi_page_add(page,
                      "       argument %u, %s: 0x%llx, then 0x%llx; a graph keeps "
                      "the first\n",
                      change->argument, change->is_address ? "an address" : "a value",
                      (unsigned long long)change->before,
                      (unsigned long long)change->after);
    }
}

static void capturable(const gph_advice *advice, gphi_page *page,
                       const gphi_repeat *repeat, size_t number)
{
    char place[256];
    place_text(repeat->told.place, place, sizeof(place));
    gphi_page_add(page, "%s%zu. repeated %llu times%s: %llu calls, from %s\n", bold(page),
                  number, (unsigned long long)gphi_repeat_count(repeat), plain(page),
                  (unsigned long long)repeat->loop.period, place);
    if (repeat->stream != NULL)
        gphi_page_add(page, "   on %s\n",
                      repeat->stream->is_legacy       ? "the legacy stream"
                      : repeat->stream->is_per_thread ? "the thread's own default stream"
                      : repeat->stream->is_blocking   ? "a blocking stream"
                                                      : "a non-blocking stream");
    for (int kind = 0; kind < GPHI_OBSTACLES; kind++) {
        obstacles(advice, page, repeat, (gphi_obstacle_kind)kind);
        if (kind == GPHI_FREEZES)
            frozen(advice, page, repeat);
    }
}

static bool is_same_line(gph_place a, gph_place b)
{
    return a.line == b.line && a.file != NULL && b.file != NULL &&
           strcmp(a.file, b.file) == 0;
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
static void capturable_all(const gph_advice *advice, gphi_page *page)
{
    gphi_page_add(page, "nothing repeats: all calls of the program\n");
    for (uint32_t i = 0; i < advice->sites.count; i++) {
        const gphi_site *site = gphi_advice_site(advice, i);
        const char *text = gphi_effect_text(site->effect);
        char place[256];
        const uint64_t count =
            site->effect == GPHI_EFFECT_NONE ? 0 : count_line(advice, i);
        if (count == 0)
            continue;
        if (site->stream != NULL && site->stream->is_legacy && text == NULL)
            text = gphi_effect_text(GPHI_EFFECT_LEGACY);
        place_text(gphi_advice_place(advice, site->stack), place, sizeof(place));
        gphi_page_add(page, "     %-40s %6llu x  at %s\n", gphi_site_text(site),
                      (unsigned long long)count, place);
        gphi_page_add(page, "       %s\n", text == NULL ? "fine" : text);
    }
}

static void graphs_there(const gph_advice *advice, gphi_page *page)
{
    if (advice->graph_launches > 0)
        gphi_page_add(page, "   the program launches graphs already, %llu times\n",
                      (unsigned long long)advice->graph_launches);
    if (advice->beats_left_out > 0)
        gphi_page_add(page, "   of the first %llu calls; %llu came behind them\n",
                      (unsigned long long)advice->beat_count,
                      (unsigned long long)advice->beats_left_out);
}

char *gph_advice_text(const gph_advice *advice, gph_advice_part part, int with_colours)
{
    gphi_page page = {.colours = with_colours != 0};
    if (advice == NULL || !advice->is_done)
        return NULL;
    if (part & GPH_ADVICE_CAPTURABLE) {
        gphi_page_add(&page, "%scapturable%s\n", bold(&page), plain(&page));
        for (size_t i = 0; i < advice->repeats.count; i++)
            capturable(advice, &page, *(gphi_repeat **)gphi_vec_at(&advice->repeats, i),
                       i + 1);
        if (advice->repeats.count == 0)
            capturable_all(advice, &page);
    }
    if (part & GPH_ADVICE_PAYOFF) {
        gphi_page_add(&page, "%sadvice%s\n", bold(&page), plain(&page));
        graphs_there(advice, &page);
        for (size_t i = 0; i < advice->repeats.count; i++)
            payoff(&page, *(gphi_repeat **)gphi_vec_at(&advice->repeats, i), i + 1);
        if (advice->repeats.count == 0)
            gphi_page_add(&page, "   nothing is repeated: there is nothing to record\n");
    }
    return gphi_page_take(&page);
}
