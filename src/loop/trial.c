// SPDX-License-Identifier: Apache-2.0
/* The first launches of a loop whose way is to be the fastest. What short kernels take
 * shows the ways of the device apart, and what a body's shape costs. Whether the host is
 * faster depends on how many rounds a launch has: it starts and ends one quickly, since
 * it looks, where a sleeper is woken late (on an H100 10 us beside the rounds and 40 to
 * 90), and each round slower. So launches take turns, device and host, on the caller's
 * own work; rounds are timed by the device's clock, and what a launch takes beside them
 * by the host's, up to the end of the wait. Both use the same words, so that a launch is
 * the same to whoever waits for it or ends it.
 *
 *   gph_loop_launch()   device  host  device  host  ...  the faster one
 *   its end             noted   noted noted   noted
 */
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "loop/loop.h"

#include <stdlib.h>

/* Launches that do not count: the first one of an executable is slower. */
enum { COUNTED = GPHI_TRIAL_COUNTED, IGNORED = 1 };

/* The host's words are read by one launch at a time, so the host waits for its turn where
 * others are under way. `launched`: without this one. */
bool gphi_trial_is_host(gph_loop *loop, uint64_t launched)
{
    gphi_loop_trial *trial = &loop->trial;
    if (!trial->is_on)
        return loop->way == GPH_LOOP_HOST;
    const uint64_t begun = __atomic_load_n(&loop->host->begun, __ATOMIC_ACQUIRE);
    const uint64_t ended = __atomic_load_n(&loop->host->ended, __ATOMIC_ACQUIRE);
    const bool is_alone = begun == ended && launched <= ended;
    trial->was_host =
        is_alone && (trial->counts[1] < trial->counts[0] ||
                     (trial->counts[1] == trial->counts[0] && trial->host_first));
    trial->launch = is_alone ? begun + 1 : 0;
    trial->from_ns = gphi_clock_ns();
    return trial->was_host;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A launch of as many rounds as there were on average. */
static double launch_ns(gphi_loop_trial *trial, int which, double rounds)
{
    double *beside = trial->beside[which];
    qsort(beside, COUNTED, sizeof(*beside), by_value);
    return beside[COUNTED / 2] + rounds * trial->ns[which];
}

static void settle(gph_loop *loop)
{
    gphi_loop_trial *trial = &loop->trial;
    gphi_text text;
    const double rounds = trial->rounds / (2 * COUNTED);
    const double device = launch_ns(trial, 0, rounds);
    const double host = launch_ns(trial, 1, rounds);
    trial->is_on = false;
    loop->way = host < device ? GPH_LOOP_HOST : trial->way;
    loop->ways.way = (uint32_t)loop->way;
    gphi_text_fix(&text, loop->ways.text, sizeof(loop->ways.text));
    gphi_text_add(
        &text,
        "%s was taken: a launch of %.1f rounds, as the first were, takes %.1f us by %s "
        "and %.1f by host; a round %.2f and %.2f",
        gph_loop_way_name(loop->way), rounds, device * 1e-3,
        gph_loop_way_name(trial->way), host * 1e-3, trial->ns[0] * 1e-3,
        trial->ns[1] * 1e-3);
    gphi_log("loop", GPH_LOG_INFO, "loop %s: %s", loop->name, loop->ways.text);
}

void gphi_trial_end(gph_loop *loop)
{
    loop->trial.is_on = false;
}

void gphi_trial_note(gph_loop *loop)
{
    gphi_loop_trial *trial = &loop->trial;
    const loop_host *host = loop->host;
    if (!trial->is_on || trial->launch == 0 || host->ended != trial->launch ||
        host->rounds == 0)
        return; /* several launches were waited for together, or it did nothing */
    const int which = trial->was_host;
    const double ns = (double)host->ns / (double)host->rounds;
    const double took = (double)(gphi_clock_ns() - trial->from_ns);
    const uint32_t nth = trial->counts[which]++;
    trial->launch = 0; /* noted */
    if (nth >= IGNORED && nth < IGNORED + COUNTED) {
        if (trial->ns[which] == 0 || ns < trial->ns[which])
            trial->ns[which] = ns;
        trial->beside[which][nth - IGNORED] =
            took > (double)host->ns ? took - (double)host->ns : 0;
        trial->rounds += (double)host->rounds;
    }
    if (trial->counts[0] >= IGNORED + COUNTED && trial->counts[1] >= IGNORED + COUNTED)
        settle(loop);
}

const char *gph_loop_way_name(gph_loop_way way)
{
    switch (way) {
    case GPH_LOOP_FASTEST: return "fastest";
    case GPH_LOOP_DEVICE: return "device";
    case GPH_LOOP_WHILE: return "while";
    case GPH_LOOP_TAIL: return "tail";
    case GPH_LOOP_HOST: return "host";
    }
    return "unknown";
}
