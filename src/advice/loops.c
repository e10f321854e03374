// SPDX-License-Identifier: Apache-2.0
/* What repeats, looked for in three ways.
 *
 *   steps   a thread's calls are cut after its waits, since no graph goes beyond one; the
 *           shortest row of such stretches that comes again at once is a step
 *   queued  the shortest row of calls that comes again at once, waits left out: a step of a
 *           program that queues a few ahead, and so waits now here, now there
 *   calls   each call is compared with the one a period earlier; where it differs, the last
 *           of its kind says what the period may be: the outermost loop, and loops that no
 *           wait cuts
 *
 * Stretches of a thread that are alike are runs of one loop, wherever they lie. */
#include "advice/advice.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/heap.h"

#include <stdlib.h>

enum {
    LAST = 1 << 14,
    PERIOD_MAX = 1 << 15,
    STEP_MAX = 64,   /* stretches of a step */
    TRIES = 256,     /* lengths of a step that are tried from one call or stretch */
    INNER_TIMES = 3, /* that a step comes in a round at least */
    QUEUED_MIN =
        8 /* calls of a step that is queued ahead: of less nobody makes a graph */
};

typedef struct finder {
    const gph_advice *advice;
    const gphi_track *track;
    uint32_t index; /* of the track */
    gphi_vec *out;  /* of gphi_loop */
    gphi_vec *runs; /* of gphi_run */
} finder;

static bool is_wait(const finder *f, uint64_t beat)
{
    return gphi_effect_waits(
        gphi_advice_site(f->advice, gphi_track_beat(f->track, beat)->site)->call);
}

/* The same for each rotation of a period: a sum, since loops are entered anywhere. */
static uint32_t content_of(const finder *f, const gphi_loop *loop)
{
    uint64_t sum = loop->period * 2 + loop->is_queued;
    for (uint64_t i = loop->first, left = loop->period; left > 0; i++) {
        if (loop->is_queued && is_wait(f, i))
            continue;
        sum += gphi_hash_mix(gphi_track_beat(f->track, i)->weak);
        left--;
    }
    return (uint32_t)(sum ^ sum >> 32);
}

/* A stretch that has ended: it repeats if its second period is whole. What was found as
 * steps is known with all its runs. */
static gph_status add_loop(finder *f, gphi_loop loop)
{
    if (loop.period == 0 || loop.count < 2 * loop.period)
        return GPH_OK;
    gphi_loop *known = NULL;
    loop.track = f->index;
    loop.content = content_of(f, &loop);
    loop.repetitions = loop.repetitions ? loop.repetitions : loop.count / loop.period;
    loop.total_ns =
        gphi_beat_end(gphi_track_beat(f->track, loop.first + loop.count - 1)) -
        gphi_track_beat(f->track, loop.first)->time_ns;
    for (size_t i = 0; i < f->out->count && !known; i++) {
        gphi_loop *other = gphi_vec_at(f->out, i);
        if (other->content == loop.content && other->period == loop.period &&
            other->track == f->index)
            known = other;
    }
    if (known && known->is_step && !loop.is_step)
        return GPH_OK;
    loop.number = known ? known->number : (uint32_t)f->out->count;
    const gphi_run run = {loop.number, loop.first, loop.count};
    gph_status status = gphi_vec_push(f->runs, &run);
    if (status == GPH_OK && !known)
        return gphi_vec_push(f->out, &loop);
    if (status != GPH_OK)
        return status;
    loop.repetitions += known->repetitions;
    loop.total_ns += known->total_ns;
    if (loop.count > known->count)
        *known = loop;
    known->repetitions = loop.repetitions;
    known->total_ns = loop.total_ns;
    return GPH_OK;
}

/* ---- steps ---- */

/* The calls up to a wait, and it; or one call. */
typedef struct stretch {
    uint64_t first;
    uint64_t content;
    uint64_t next;  /* the next that is alike, or 0 */
    uint64_t hash;  /* of the contents of all before it, for same() */
    uint32_t waits; /* before it */
} stretch;

static const uint64_t base = 0x9e3779b97f4a7c15; /* of a polynomial, modulo 2^64 */

static gph_status link_alike(const finder *f, gphi_vec *all)
{
    gphi_map later;
    gph_status status = GPH_OK;
    uint64_t hash = 0;
    gphi_map_init(&later, f->advice->heap);
    for (size_t i = all->count; i-- > 0 && status == GPH_OK;) {
        stretch *s = gphi_vec_at(all, i);
        const uint64_t *next = gphi_map_get(&later, s->content);
        s->next = next ? *next : 0;
        status = gphi_map_set(&later, s->content, i);
    }
    GPHI_EACH (stretch, s, all) {
        s->hash = hash;
        hash = hash * base + gphi_hash_mix(s->content);
    }
    gphi_map_fini(&later);
    return status;
}

/* `out` of stretch: up to each wait, what comes after the last is not one of them; or each
 * call but waits. */
static gph_status cut(const finder *f, bool by_waits, gphi_vec *out)
{
    stretch now = {.content = GPHI_HASH_START};
    const uint64_t count = f->track->beats.count;
    gph_status status = GPH_OK;
    for (uint64_t i = 0; i < count && status == GPH_OK; i++) {
        const bool ends = by_waits == is_wait(f, i);
        now.content = gphi_hash_word(now.content, gphi_track_beat(f->track, i)->weak);
        now.waits += is_wait(f, i);
        if (!by_waits)
            now.first = i;
        if (!ends) {
            now.content = by_waits ? now.content : GPHI_HASH_START;
            continue;
        }
        status = gphi_vec_push(out, &now);
        now = (stretch){.first = i + 1, .content = GPHI_HASH_START, .waits = now.waits};
    }
    return status == GPH_OK ? link_alike(f, out) : status;
}

/* Whether two rows of stretches, one after the other, are alike: by hash. */
static bool is_again(const stretch *s, size_t count, size_t i, size_t period)
{
    uint64_t power = 1, factor = base;
    if (i + 2 * period >= count)
        return false;
    for (size_t n = period; n > 0; n >>= 1, factor *= factor)
        power *= n & 1 ? factor : 1;
    return s[i + period].hash - s[i].hash * power ==
           s[i + 2 * period].hash - s[i + period].hash * power;
}

/* How many stretches from `i` on are what they are `period` earlier, and these. */
static size_t same_from(const stretch *s, size_t count, size_t i, size_t period)
{
    size_t length = period;
    while (i + length < count && s[i + length].content == s[i + length - period].content)
        length++;
    return length / period * period;
}

/* The shortest period with which the stretches from `i` on repeat; of single calls, with
 * a wait in between somewhere, and no few calls that are all there is. 0: none. */
static size_t find_period(const stretch *s, size_t count, size_t i, bool by_waits,
                          size_t most, size_t *length)
{
    uint64_t at = s[i].next;
    for (int n = 0; at != 0 && at - i <= most && n < TRIES; n++, at = s[at].next) {
        const size_t period = at - i;
        if (!is_again(s, count, i, period) && i + 2 * period < count)
            continue;
        const size_t same = same_from(s, count, i, period);
        if (same < 2 * period || (!by_waits && s[i + same - 1].waits == s[i].waits))
            continue; /* or repeats between two waits only */
        *length = same;
        return by_waits || period >= QUEUED_MIN ? period : 0;
    }
    *length = 1;
    return 0;
}

/* The first that repeats from *i on, and where: with what comes before it in an outer
 * loop only that repeats. */
static size_t find_inner(const stretch *s, size_t count, size_t *i, bool by_waits,
                         size_t *length)
{
    const size_t most = by_waits ? STEP_MAX : PERIOD_MAX;
    size_t period = find_period(s, count, *i, by_waits, most, length);
    for (size_t at = *i + 1; at < *i + period && period > 1; at++) {
        size_t inner_length = 0;
        const size_t inner =
            find_period(s, count, at, by_waits, period / 2, &inner_length);
        if (inner == 0)
            continue;
        *i = at;
        *length = inner_length;
        period = inner;
    }
    return period;
}

/* Whether the host waits at the same places in each period: a step that cut() finds by its
 * waits, with all its calls. Of fewer than three periods that is not known. */
static bool is_waited_alike(const stretch *s, size_t i, size_t period, size_t length)
{
    for (size_t at = i + period + 1; at < i + length; at++)
        if (s[at].waits - s[at - 1].waits !=
            s[at - period].waits - s[at - period - 1].waits)
            return false;
    return length >= 3 * period;
}

/* Periods that end where the first one begins: their first stretch has more in front of
 * it, such as what a program makes ready once. Not before beat `least`. */
static uint64_t periods_before(const finder *f, uint64_t first, uint64_t period,
                               uint64_t least)
{
    uint64_t alike = 0;
    while (alike < first - least &&
           gphi_track_beat(f->track, first - 1 - alike)->weak ==
               gphi_track_beat(f->track, first - 1 - alike + period)->weak)
        alike++;
    return alike / period;
}

/* Of how many calls the shortest sequence is that the calls from `first` on are, again
 * and again. */
static uint64_t sequence_of(const finder *f, uint64_t first, uint64_t count)
{
    for (uint64_t length = 1; length <= count / 2; length++) {
        uint64_t i = count % length == 0 ? length : 0;
        while (i > 0 && i < count &&
               gphi_track_beat(f->track, first + i)->weak ==
                   gphi_track_beat(f->track, first + i - length)->weak)
            i++;
        if (i == count)
            return length;
    }
    return count;
}

/* A round of steps that are queued, and something else at its end that waits, too (a loss
 * that is read): the step is what repeats between two waits, if that is most of the
 * round. With one wait the round is taken, and looked into (period.c). */
static gph_status add_inner(finder *f, const gphi_loop *round)
{
    uint64_t from = round->first, best = 0, count = 0, waits = 0;
    gph_status status = GPH_OK;
    for (uint64_t i = round->first; i < round->first + round->period; i++) {
        if (!is_wait(f, i))
            continue;
        if (i - from > count)
            best = from, count = i - from;
        from = i + 1;
        waits++;
    }
    if (waits < 2 || count * 4 < round->period * 3)
        return GPH_OK;
    const uint64_t length = sequence_of(f, best, count);
    if (length < QUEUED_MIN || length * INNER_TIMES > count)
        return GPH_OK;
    for (uint64_t at = 0; at < round->count && status == GPH_OK; at += round->period)
        status = add_loop(f, (gphi_loop){.first = best + at,
                                         .period = length,
                                         .count = count,
                                         .repetitions = count / length,
                                         .is_step = true});
    return status;
}

static gph_status find_steps(finder *f, bool by_waits)
{
    uint64_t end = 0; /* of the steps before */
    gphi_vec all;
    gphi_vec_init(&all, f->advice->heap, sizeof(stretch));
    gph_status status = cut(f, by_waits, &all);
    const stretch *s = all.items;
    for (size_t i = 0; i < all.count && status == GPH_OK;) {
        size_t length = 1;
        const size_t period = find_inner(s, all.count, &i, by_waits, &length);
        if (period != 0 && by_waits) {
            const uint64_t calls = s[i + period].first - s[i].first;
            const uint64_t before = periods_before(f, s[i].first, calls, end);
            const uint64_t times = length / period + before;
            end = s[i].first - before * calls + times * calls;
            const gphi_loop step = {.first = end - times * calls,
                                    .period = calls,
                                    .count = times * calls,
                                    .repetitions = times,
                                    .is_step = true};
            status = add_loop(f, step);
            GPHI_THEN(status, add_inner(f, &step));
        } else if (period != 0 && !is_waited_alike(s, i, period, length)) {
            status =
                add_loop(f, (gphi_loop){.first = s[i].first,
                                        .period = period,
                                        .count = s[i + length - 1].first + 1 - s[i].first,
                                        .repetitions = length / period,
                                        .is_step = true,
                                        .is_queued = true});
        }
        i += length;
    }
    gphi_vec_fini(&all);
    return status;
}

/* ---- calls ---- */

static gph_status find_calls(finder *f, uint64_t *last)
{
    gphi_loop now = {0};
    for (uint64_t i = 0; i < f->track->beats.count; i++) {
        const uint32_t key = gphi_track_beat(f->track, i)->weak;
        const uint64_t earlier = last[key % LAST];
        last[key % LAST] = i + 1;
        if (now.period != 0 && gphi_track_beat(f->track, i - now.period)->weak == key) {
            now.count++;
            continue;
        }
        const gph_status status = add_loop(f, now);
        if (status != GPH_OK)
            return status;
        now = (gphi_loop){0};
        if (earlier == 0 || i + 1 - earlier > PERIOD_MAX ||
            gphi_track_beat(f->track, earlier - 1)->weak != key)
            continue;
        now.period = i + 1 - earlier;
        now.first = i - now.period;
        now.count = now.period + 1;
        /* what came before may agree too */
        while (now.first > 0 &&
               gphi_track_beat(f->track, now.first - 1)->weak ==
                   gphi_track_beat(f->track, now.first - 1 + now.period)->weak &&
               now.count < 2 * now.period) {
            now.first--;
            now.count++;
        }
    }
    return add_loop(f, now);
}

static bool is_in_step(const gphi_vec *loops, const gphi_loop *loop, const gphi_run *run)
{
    GPHI_EACH (const gphi_loop, step, loops)
        if (step->is_step && step->track == loop->track && step->period > loop->period &&
            run->first >= step->first && run->first < step->first + step->count)
            return true;
    return false;
}

/* Calls in a row that lie in steps are the steps'. Of those that do by half or more, only
 * the others count, at the usual cost: what came before the host first waited may have been
 * slow, and would make a launch of its own out of a part. */
static void leave_to_steps(const gph_advice *advice, gphi_vec *loops)
{
    GPHI_EACH (gphi_loop, loop, loops) {
        const gphi_track *track = gphi_advice_track(advice, loop->track);
        uint64_t beats[2] = {0}, inside_ns = 0;
        if (loop->is_step)
            continue;
        GPHI_EACH (const gphi_run, run, &advice->runs) {
            const bool inside = run->loop == loop->number && is_in_step(loops, loop, run);
            beats[inside] += run->loop == loop->number ? run->count : 0;
            if (inside)
                inside_ns +=
                    gphi_beat_end(gphi_track_beat(track, run->first + run->count - 1)) -
                    gphi_track_beat(track, run->first)->time_ns;
        }
        if (beats[true] >= beats[false] && beats[true] != 0)
            loop->total_ns = inside_ns / beats[true] * beats[false];
    }
}

/* The most expensive first; of equals the one that came first. */
static int by_time(const void *a, const void *b)
{
    const gphi_loop *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

gph_status gphi_track_loops(gph_advice *advice, uint32_t index, gphi_vec *out)
{
    finder f = {advice, gphi_advice_track(advice, index), index, out, &advice->runs};
    uint64_t *last = gphi_heap_array(advice->heap, LAST, sizeof(*last));
    gph_status status = !last ? GPH_E_NO_MEMORY : find_steps(&f, true);
    GPHI_THEN(status, find_steps(&f, false));
    GPHI_THEN(status, find_calls(&f, last));
    gphi_heap_free(advice->heap, last, LAST * sizeof(*last));
    return status;
}

gph_status gphi_advice_loops(gph_advice *advice, gphi_vec *out)
{
    gph_status status = GPH_OK;
    for (uint32_t t = 0; t < advice->tracks.count && status == GPH_OK; t++)
        status = gphi_track_loops(advice, t, out);
    if (status == GPH_OK)
        leave_to_steps(advice, out);
    if (status == GPH_OK && out->count > 1)
        qsort(out->items, out->count, out->item_bytes, by_time);
    return status;
}

/* ---- one in another ---- */

uint64_t gphi_loop_overlap(const gph_advice *advice, const gphi_loop *loop,
                           const gphi_loop *by)
{
    uint64_t beats = 0;
    if (loop->track != by->track)
        return 0;
    GPHI_EACH (const gphi_run, run, &advice->runs) {
        const uint64_t from = run->first > loop->first ? run->first : loop->first;
        const uint64_t a = run->first + run->count, b = loop->first + loop->count;
        const uint64_t end = a < b ? a : b;
        if (run->loop == by->number && end > from)
            beats += end - from;
    }
    return beats;
}
