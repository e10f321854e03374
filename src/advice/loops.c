// SPDX-License-Identifier: Apache-2.0
/* What repeats: each beat is compared with the one a period earlier; where it differs,
 * the last beat of its kind says what the period may be. Inner loops give way to the
 * outer one: what comes only once in it (a wait, a head) tells its length. */
#include "advice/advice.h"
#include "base/hash.h"
#include "base/heap.h"

#include <stdlib.h>

enum { LAST = 1 << 14, PERIOD_MAX = 1 << 15 };

/* The same for each rotation of a period: a sum, since loops are entered anywhere. */
static uint32_t content_of(const gphi_track *track, uint64_t first, uint64_t period)
{
    uint64_t sum = period;
    for (uint64_t i = 0; i < period; i++)
        sum += gphi_hash_mix(gphi_track_beat(track, first + i)->weak);
    return (uint32_t)(sum ^ sum >> 32);
}

/* A stretch has ended before beat `end`: it repeats if its second period is whole. */
static gph_status add_loop(gphi_vec *out, const gphi_track *track, uint32_t index,
                           gphi_loop loop)
{
    if (loop.period == 0 || loop.count < 2 * loop.period)
        return GPH_OK;
    loop.track = index;
    loop.content = content_of(track, loop.first, loop.period);
    loop.repetitions = loop.count / loop.period;
    loop.total_ns = gphi_beat_end(gphi_track_beat(track, loop.first + loop.count - 1)) -
                    gphi_track_beat(track, loop.first)->time_ns;
    for (size_t i = 0; i < out->count; i++) {
        gphi_loop *known = gphi_vec_at(out, i);
        if (known->content != loop.content || known->period != loop.period ||
            known->track != index)
            continue;
        const uint64_t repetitions = known->repetitions + loop.repetitions;
        const uint64_t total_ns = known->total_ns + loop.total_ns;
        if (loop.count > known->count)
            *known = loop;
        known->repetitions = repetitions;
        known->total_ns = total_ns;
        return GPH_OK;
    }
    gphi_loop *added = gphi_vec_add(out, 1);
    if (added == NULL)
        return GPH_E_NO_MEMORY;
    *added = loop;
    return GPH_OK;
}

static gph_status loops_of(const gph_advice *advice, uint32_t index, uint64_t *last,
                           gphi_vec *out)
{
    const gphi_track *track = gphi_advice_track(advice, index);
    gphi_loop now = {0};
    for (uint64_t i = 0; i < track->beats.count; i++) {
        const uint32_t key = gphi_track_beat(track, i)->weak;
        const uint64_t earlier = last[key % LAST];
        last[key % LAST] = i + 1;
        if (now.period != 0 && gphi_track_beat(track, i - now.period)->weak == key) {
            now.count++;
            continue;
        }
        const gph_status status = add_loop(out, track, index, now);
        if (status != GPH_OK)
            return status;
        now = (gphi_loop){0};
        if (earlier == 0 || i + 1 - earlier > PERIOD_MAX ||
            gphi_track_beat(track, earlier - 1)->weak != key)
            continue;
        now.period = i + 1 - earlier;
        now.first = i - now.period;
        now.count = now.period + 1;
        /* what came before may agree too */
        while (now.first > 0 &&
               gphi_track_beat(track, now.first - 1)->weak ==
                   gphi_track_beat(track, now.first - 1 + now.period)->weak &&
               now.count < 2 * now.period) {
            now.first--;
            now.count++;
        }
    }
    return add_loop(out, track, index, now);
}

/* The dearest first; of equals the one that came first. */
static int by_time(const void *a, const void *b)
{
    const gphi_loop *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

gph_status gphi_advice_loops(const gph_advice *advice, gphi_vec *out)
{
    uint64_t *last = NULL;
    gph_status status = GPH_OK;
    for (uint32_t t = 0; t < advice->tracks.count && status == GPH_OK; t++) {
        gphi_heap_free(advice->heap, last, LAST * sizeof(*last));
        last = gphi_heap_array(advice->heap, LAST, sizeof(*last));
        status = last == NULL ? GPH_E_NO_MEMORY : loops_of(advice, t, last, out);
    }
    gphi_heap_free(advice->heap, last, LAST * sizeof(*last));
    if (status == GPH_OK && out->count > 1)
        qsort(out->items, out->count, out->item_bytes, by_time);
    return status;
}
