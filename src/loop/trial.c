// SPDX-License-Identifier: Apache-2.0
/* The first launches of a loop whose way is to be the fastest. What short kernels take tells
 * the ways of the device apart, and what a body's shape costs; whether the host is faster
 * depends on the kernels themselves (on an H100 decode's take 0.6 us more each in a WHILE
 * body than in a plain graph, kernels of one thread do not). So launches take turns, device
 * and host, and the rounds of the caller's own work are timed by the device's clock. Both
 * use the same words, so that a launch is the same to whoever waits for it or ends it.
 *
 *   gph_loop_launch()   device  host  device  host  ...  the faster one
 *   its end             noted   noted noted   noted
 */
#include "base/log.h"
#include "base/text.h"
#include "loop/loop.h"

/* Launches of each that count, and before them those that do not: the first one of an
 * executable is slower. */
enum { COUNTED = 4, IGNORED = 1 };

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
    return trial->was_host;
}

static void settle(gph_loop *loop)
{
    gphi_loop_trial *trial = &loop->trial;
    gphi_text text;
    trial->is_on = false;
    loop->way = trial->ns[1] < trial->ns[0] ? GPH_LOOP_HOST : trial->way;
    loop->ways.way = (uint32_t)loop->way;
    gphi_text_fix(&text, loop->ways.text, sizeof(loop->ways.text));
    gphi_text_add(
        &text,
        "%s was taken: a round of its first launches took %.2f us by %s %.2f us by "
        "host",
        gph_loop_way_name(loop->way), trial->ns[0] * 1e-3, gph_loop_way_name(trial->way),
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
    trial->launch = 0; /* noted */
    trial->counts[which]++;
    if (trial->counts[which] > IGNORED &&
        (trial->ns[which] == 0 || ns < trial->ns[which]))
        trial->ns[which] = ns;
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
