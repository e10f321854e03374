// SPDX-License-Identifier: Apache-2.0
/* One period of a loop: where it begins, what a graph could hold of it, what changes
 * between repetitions. */
#include "advice/advice.h"
#include "base/hash.h"
#include "base/heap.h"
#include <stdlib.h>
#include <string.h>

enum {
    INNER_MIN = 8, /* work calls that make a graph of their own */
    COMPARED = 32, /* repetitions in which changes are looked for */
    FEW_OF = 4,    /* repetitions: of fewer none is an odd one */
    SHARE_OF = 8,  /* at most one of so many may be odd */
    CHANGES_MAX = 256,
    VARIANTS_MAX = 4, /* sets of arguments with a graph each */
    TIMED = 64        /* repetitions whose gaps are looked at */
};

/* ---- where it begins ---- */

/* What the host takes between beat `i` of the loop and the next. */
static double gap_after(const gph_advice *advice, const gphi_loop *loop, uint64_t i)
{
    const gphi_track *track = gphi_advice_track(advice, loop->track);
    double gaps[TIMED];
    size_t count = 0;
    for (; i + 1 < loop->count && count < TIMED; i += loop->period) {
        const gphi_beat *a = gphi_track_beat(track, loop->first + i), *b = a + 1;
        const uint64_t end = a->time_ns + a->duration_ns;
        gaps[count++] = b->time_ns > end ? (double)(b->time_ns - end) : 0;
    }
    return gphi_median(gaps, count);
}

/* Copies that wait end a segment, though a capture would take their asynchronous forms.
 * */
static gphi_piece_kind kind_of(const gphi_site *site)
{
    if (gphi_effect_waits(site->call))
        return GPHI_WAIT;
    switch (site->effect) {
    case GPHI_EFFECT_CAPTURED:
    case GPHI_EFFECT_ORDER:
    case GPHI_EFFECT_STREAM_ONLY:
    case GPHI_EFFECT_DROPPED: return GPHI_SEGMENT;
    default: return GPHI_OTHER;
    }
}

static const gphi_site *loop_site(const gph_advice *advice, const gphi_loop *loop,
                                  uint64_t place)
{
    const gphi_track *track = gphi_advice_track(advice, loop->track);
    return gphi_advice_site(advice, gphi_track_beat(track, loop->first + place)->site);
}

/* Where the loop was entered, or the first wait after that; but if the host is far
 * longer away after another wait (without waits: after another call), there. The first
 * beat of the period is work, or what orders it. */
static void choose_start(const gph_advice *advice, gphi_repeat *repeat)
{
    const gphi_loop *loop = &repeat->loop;
    double first_gap = -1, best_gap = 20e3; /* ns: less is not work of the host's own */
    uint32_t from = 0;
    bool has_waits = false;
    for (uint32_t i = 0; i < loop->period; i++)
        has_waits |= gphi_effect_waits(loop_site(advice, loop, i)->call);
    for (uint32_t n = 0; n < loop->period; n++) {
        /* the last first: what comes after it is where the loop was entered */
        const uint32_t i = (uint32_t)((n + loop->period - 1) % loop->period);
        if (has_waits && !gphi_effect_waits(loop_site(advice, loop, i)->call))
            continue;
        const double gap = gap_after(advice, loop, i);
        if (first_gap < 0)
            from = i + 1;
        else if (gap > best_gap && gap > 4 * first_gap)
            from = i + 1;
        if (first_gap < 0)
            first_gap = gap;
        if (gap > best_gap)
            best_gap = gap;
    }
    /* on to what a graph could hold */
    for (uint32_t i = 0; i < loop->period; i++) {
        const uint64_t at = (from + i) % loop->period;
        if (kind_of(loop_site(advice, loop, at)) == GPHI_SEGMENT) {
            repeat->start = (uint32_t)at;
            return;
        }
    }
}

/* Whether a period begins at beat `at` as the loop's does from its start on. */
static bool is_period(const gphi_track *track, uint64_t at, uint64_t like,
                      uint64_t period)
{
    for (uint64_t i = 0; i < period; i++)
        if (gphi_track_beat(track, at + i)->weak !=
            gphi_track_beat(track, like + i)->weak)
            return false;
    return true;
}

/* Runs may be entered anywhere in the period, and in some that are queued a wait lies
 * between the calls: what counts is what is alike from its first call to its last. */
static gph_status find_begins(const gph_advice *advice, gphi_repeat *repeat)
{
    const gphi_loop *loop = &repeat->loop;
    const gphi_track *track = gphi_advice_track(advice, loop->track);
    const uint64_t like = loop->first + repeat->start;
    gph_status status = GPH_OK;
    for (size_t i = 0; i < advice->runs.count; i++) {
        const gphi_run *run = gphi_vec_at(&advice->runs, i);
        uint64_t at = run->first;
        while (run->loop == loop->number && status == GPH_OK &&
               at + loop->period <= run->first + run->count) {
            const bool is_here = is_period(track, at, like, loop->period);
            if (is_here)
                status = gphi_vec_push(&repeat->begins, &at);
            at += is_here ? loop->period : 1;
        }
    }
    return status;
}

/* ---- pieces ---- */

static bool is_same(const gph_advice *advice, const gphi_repeat *repeat, uint32_t a,
                    uint32_t b)
{
    return gphi_repeat_beat(advice, repeat, 0, a)->weak ==
           gphi_repeat_beat(advice, repeat, 0, b)->weak;
}

/* How many repetitions of one sequence a segment is. Of a sequence of fewer than
 * INNER_MIN calls nobody would make a graph: then it is one. */
static uint32_t inner_of(const gph_advice *advice, const gphi_repeat *repeat,
                         const gphi_piece *piece)
{
    for (uint32_t length = 1; length <= piece->count / 2; length++) {
        uint32_t i = piece->from + length;
        if (piece->count % length != 0)
            continue;
        while (i < piece->from + piece->count && is_same(advice, repeat, i, i - length))
            i++;
        if (i == piece->from + piece->count)
            return length < INNER_MIN ? 1 : piece->count / length;
    }
    return 1;
}

static void count_streams(const gph_advice *advice, const gphi_repeat *repeat,
                          gphi_piece *piece)
{
    const gphi_stream *seen[8];
    for (uint32_t i = 0; i < piece->count; i++) {
        const gphi_beat *beat = gphi_repeat_beat(advice, repeat, 0, piece->from + i);
        const gphi_site *site = gphi_advice_site(advice, beat->site);
        const gphi_stream *stream = site->stream;
        uint32_t s = 0;
        piece->nodes += beat->nodes;
        piece->copies += beat->nodes != 0 && site->function == 0 &&
                         site->call != GPHI_CALL_cuGraphLaunch;
        piece->waits += site->call == GPHI_CALL_cuStreamWaitEvent;
        while (s < piece->streams && seen[s] != stream)
            s++;
        if (s == piece->streams && s < 8 && beat->nodes != 0)
            seen[piece->streams++] = stream;
    }
}

/* Calls that stay with the host do not cut a segment: they can be moved out of it. */
static gph_status cut(const gph_advice *advice, gphi_repeat *repeat)
{
    gphi_piece *open = NULL;
    uint32_t segments = 0;
    for (uint32_t i = 0; i < repeat->loop.period; i++) {
        const bool is_read = gphi_repeat_is_read(advice, repeat, i);
        const gphi_piece_kind kind =
            is_read ? GPHI_OTHER : kind_of(gphi_repeat_site(advice, repeat, i));
        if (kind == GPHI_OTHER && !is_read && open && open->kind == GPHI_SEGMENT) {
            open->count++;
            continue;
        }
        if (kind == GPHI_SEGMENT && open && open->kind == GPHI_SEGMENT) {
            open->count++;
            continue;
        }
        open = gphi_vec_add(&repeat->pieces, 1);
        if (!open)
            return GPH_E_NO_MEMORY;
        *open = (gphi_piece){.kind = kind,
                             .from = i,
                             .count = 1,
                             .held_ns = {-1, -1, -1},
                             .graph_ns = {-1, -1, -1},
                             .instantiate_ns = -1};
        segments += kind == GPHI_SEGMENT;
    }
    for (size_t i = 0; i < repeat->pieces.count; i++)
        if (((gphi_piece *)gphi_vec_at(&repeat->pieces, i))->kind == GPHI_SEGMENT)
            count_streams(advice, repeat, gphi_vec_at(&repeat->pieces, i));
    gphi_piece *first = gphi_vec_at(&repeat->pieces, 0);
    if (segments == 1 && first->kind == GPHI_SEGMENT) {
        repeat->inner = inner_of(advice, repeat, first);
        first->nodes /= repeat->inner;
        first->copies /= repeat->inner;
        first->waits /= repeat->inner;
    }
    return GPH_OK;
}

/* ---- what changes ---- */

static bool is_memory(const gph_advice *advice, uint64_t value)
{
    return gphi_model_memory(advice->model, value, false) ||
           gphi_model_memory(advice->model, value, true);
}

/* Both of what is kept of their arguments are addresses, of the host's memory too. */
static bool is_copy(uint32_t call)
{
    return call == GPHI_CALL_cuMemcpyAsync || call == GPHI_CALL_cuMemcpyHtoDAsync ||
           call == GPHI_CALL_cuMemcpyDtoHAsync || call == GPHI_CALL_cuMemcpyDtoDAsync;
}

static int by_beat(const void *a, const void *b)
{
    const gphi_change *x = a, *y = b;
    if (x->beat != y->beat)
        return x->beat < y->beat ? -1 : 1;
    return (x->argument > y->argument) - (x->argument < y->argument);
}

static gph_status add_change(gphi_repeat *repeat, gphi_change change)
{
    GPHI_EACH (const gphi_change, known, &repeat->changes)
        if (known->beat == change.beat && known->argument == change.argument)
            return GPH_OK;
    if (repeat->changes.count == CHANGES_MAX)
        return GPH_OK;
    gphi_change *added = gphi_vec_add(&repeat->changes, 1);
    if (!added)
        return GPH_E_NO_MEMORY;
    *added = change;
    return GPH_OK;
}

/* `a` and `b`: the same call of two repetitions. */
static gph_status compare(const gph_advice *advice, gphi_repeat *repeat, uint32_t place,
                          const gphi_beat *a, const gphi_beat *b)
{
    const gphi_site *site = gphi_advice_site(advice, a->site);
    const gphi_function *f = gphi_model_function(advice->model, site->function);
    const bool has_args = site->function != 0 && f && f->args;
    const uint32_t count = has_args ? f->arg_count : a->value_words;
    if (a->value_words != b->value_words || a->value_words == 0)
        return GPH_OK;
    const char *from = gphi_vec_at(&advice->values, a->value_at);
    const char *to = gphi_vec_at(&advice->values, b->value_at);
    for (uint32_t i = 0; i < count; i++) {
        size_t at = has_args ? f->args[i].offset : i * sizeof(uint64_t);
        size_t bytes = has_args ? f->args[i].bytes : sizeof(uint64_t);
        for (; bytes > 8 && at + bytes <= a->value_words * sizeof(uint64_t) &&
               memcmp(from + at, to + at, 8) == 0;
             at += 8, bytes -= 8)
            ; /* of a struct what differs is shown */
        gphi_change change = {.beat = place,
                              .argument = i,
                              .offset = (uint32_t)at,
                              .bytes = bytes < 8 ? (uint32_t)bytes : 8};
        if (at + bytes > a->value_words * sizeof(uint64_t) ||
            memcmp(from + at, to + at, bytes) == 0)
            continue;
        memcpy(&change.before, from + at, change.bytes);
        memcpy(&change.after, to + at, change.bytes);
        change.is_address =
            is_copy(site->call) || (bytes >= 8 && is_memory(advice, change.before) &&
                                    is_memory(advice, change.after));
        const gph_status status = add_change(repeat, change);
        if (status != GPH_OK)
            return status;
    }
    return GPH_OK;
}

/* Of one repetition against one before it, and of inner ones against each other. */
static gph_status compare_all(const gph_advice *advice, gphi_repeat *repeat, uint64_t r,
                              uint64_t than, bool *same)
{
    const gphi_piece *first = gphi_vec_at(&repeat->pieces, 0);
    const uint32_t inner = repeat->inner > 1 ? first->count / repeat->inner : 0;
    gph_status status = GPH_OK;
    for (uint32_t i = 0; i < repeat->loop.period && status == GPH_OK; i++) {
        const gphi_beat *now = gphi_repeat_beat(advice, repeat, r, i), *before = NULL;
        if (inner != 0 && i >= inner && i < first->count)
            before = gphi_repeat_beat(advice, repeat, r, i - inner);
        else if (than < r)
            before = gphi_repeat_beat(advice, repeat, than, i);
        if (!before)
            continue;
        *same = *same && before->strong == now->strong;
        status = compare(advice, repeat, inner == 0 ? i : i % inner, before, now);
    }
    return status;
}

static uint64_t shape_of(const gph_advice *advice, const gphi_repeat *repeat, uint64_t r)
{
    uint64_t shape = GPHI_HASH_START;
    for (uint32_t i = 0; i < repeat->loop.period; i++)
        shape = gphi_hash_word(shape, gphi_repeat_beat(advice, repeat, r, i)->strong);
    return shape;
}

/* Whether a repetition is one of the few of another size. */
static bool is_odd(const gph_advice *advice, const gphi_repeat *repeat, uint64_t r)
{
    return repeat->odd > 0 && shape_of(advice, repeat, r) != repeat->shape;
}

/* The kinds of sizes. If all but one repetition, or seven of eight, are of one kind, a
 * graph of that is worth having: the others (a first step, a last batch) stay as they
 * are; so do those before the first of three quarters that are alike to the end (libraries
 * that choose another kernel once they are warm). */
static void count_shapes(const gph_advice *advice, gphi_repeat *repeat)
{
    const uint64_t all = gphi_repeat_count(repeat);
    uint64_t shapes[COMPARED], counts[COMPARED] = {0};
    uint64_t since = 0; /* from there on all are as the last */
    uint32_t most = 0, last = 0;
    for (uint64_t r = 0; r < all; r++) {
        const uint64_t now = shape_of(advice, repeat, r);
        uint32_t at = 0;
        while (at < repeat->shapes && shapes[at] != now)
            at++;
        if (at == COMPARED)
            return; /* of all sizes */
        if (at == repeat->shapes)
            shapes[repeat->shapes++] = now;
        counts[at]++;
        since = at != last ? r : since;
        last = at;
        most = counts[at] > counts[most] ? at : most;
    }
    const bool is_settled = (all - since) * 4 >= all * 3;
    most = is_settled ? last : most;
    repeat->shape = shapes[most];
    const uint64_t others = all - counts[most];
    const bool is_few = others == 1 ? all >= FEW_OF : others * SHARE_OF <= all;
    if (repeat->inner == 1 && (is_few || is_settled))
        repeat->odd = (uint32_t)others;
}

static gph_status look_for_changes(const gph_advice *advice, gphi_repeat *repeat)
{
    const uint64_t all = gphi_repeat_count(repeat);
    uint64_t before = UINT64_MAX, compared = 0;
    gph_status status = GPH_OK;
    repeat->compared = (uint32_t)all;
    count_shapes(advice, repeat);
    for (uint64_t r = 0; r < all && compared < COMPARED && status == GPH_OK; r++) {
        bool same = true;
        if (is_odd(advice, repeat, r))
            continue;
        status = compare_all(advice, repeat, r, before, &same);
        repeat->other_shapes += !same;
        compared++;
        before = r;
    }
    return status;
}

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Whether two sites read the same: of two callers of one function, say. */
static bool looks_alike(const gph_advice *advice, uint32_t a, uint32_t b)
{
    const gphi_site *x = gphi_advice_site(advice, a), *y = gphi_advice_site(advice, b);
    if (x->call != y->call || x->function != y->function)
        return false;
    const gph_place at = gphi_advice_place(advice, x->stack),
                    to = gphi_advice_place(advice, y->stack);
    return at.line == to.line && is_same_text(at.file, to.file) &&
           is_same_text(at.function, to.function);
}

static bool has_changes(const gph_advice *advice, const gphi_repeat *repeat,
                        uint32_t site)
{
    GPHI_EACH (const gphi_change, change, &repeat->changes)
        if (gphi_repeat_beat(advice, repeat, 0, change->beat)->site == site)
            return true;
    return false;
}

static bool is_as_it_is(const gphi_obstacle *o)
{
    return o->kind == GPHI_FINE || o->kind == GPHI_MOVES;
}

/* What reads the same is listed once, and with the call that changes if it reads like
 * one. */
static bool is_joined(const gph_advice *advice, gphi_repeat *repeat,
                      const gphi_obstacle *now)
{
    GPHI_EACH (gphi_obstacle, o, &repeat->obstacles) {
        const bool is_same = o->kind == now->kind && o->text == now->text &&
                             !has_changes(advice, repeat, now->site);
        const bool is_fine = is_as_it_is(now) && o->kind == GPHI_CHANGES;
        if (!(is_same || is_fine) || !looks_alike(advice, o->site, now->site))
            continue;
        o->count += now->count;
        return true;
    }
    return false;
}

/* A call is of one kind: what was fine but for what changes is not fine. */
static void mark_changes(const gph_advice *advice, gphi_repeat *repeat)
{
    gphi_obstacle *all = repeat->obstacles.items;
    size_t kept = 0;
    GPHI_EACH (const gphi_change, change, &repeat->changes) {
        const uint32_t site = gphi_repeat_beat(advice, repeat, 0, change->beat)->site;
        GPHI_EACH (gphi_obstacle, o, &repeat->obstacles)
            if (o->site == site && is_as_it_is(o))
                o->kind = GPHI_CHANGES;
    }
    for (size_t i = 0; i < repeat->obstacles.count; i++) {
        const gphi_obstacle now = all[i];
        all[i].kind = GPHI_OBSTACLES; /* not to be found twice */
        if (!is_joined(advice, repeat, &now))
            all[kept++] = now;
    }
    repeat->obstacles.count = kept;
}

/* The arguments that change, as a repetition has them. */
static uint64_t values_of(const gph_advice *advice, const gphi_repeat *repeat, uint64_t r,
                          uint32_t from)
{
    uint64_t hash = GPHI_HASH_START;
    GPHI_EACH (const gphi_change, change, &repeat->changes) {
        const gphi_beat *beat = gphi_repeat_beat(advice, repeat, r, from + change->beat);
        uint64_t value = 0;
        if (change->offset + change->bytes <= beat->value_words * sizeof(uint64_t))
            memcpy(&value,
                   (const char *)gphi_vec_at(&advice->values, beat->value_at) +
                       change->offset,
                   change->bytes);
        hash = gphi_hash_word(hash, value);
    }
    return hash;
}

/* How many sets of arguments take turns, as with two buffers: then a graph for each needs
 * no update. */
static uint32_t count_variants(const gph_advice *advice, const gphi_repeat *repeat)
{
    const gphi_piece *first = gphi_vec_at(&repeat->pieces, 0);
    const uint32_t inner = first->count / repeat->inner;
    uint64_t known[VARIANTS_MAX];
    uint32_t count = 0, seen = 0;
    for (uint64_t r = 0; r < gphi_repeat_count(repeat) && seen < COMPARED; r++)
        for (uint32_t i = 0;
             i < repeat->inner && seen < COMPARED && !is_odd(advice, repeat, r);
             i++, seen++) {
            const uint64_t now = values_of(advice, repeat, r, i * inner);
            uint32_t at = 0;
            while (at < count && known[at] != now)
                at++;
            if (at == VARIANTS_MAX)
                return 0;
            known[at] = now;
            count += at == count;
        }
    return seen >= 2 * count ? count : 0;
}

/* Nodes of each segment's graph that have to be set before a replay. */
static void count_updates(gphi_repeat *repeat)
{
    GPHI_EACH (gphi_piece, piece, &repeat->pieces) {
        uint64_t before = UINT64_MAX;
        for (size_t c = 0; piece->kind == GPHI_SEGMENT && c < repeat->changes.count;
             c++) {
            const gphi_change *change = gphi_vec_at(&repeat->changes, c);
            if (change->beat >= piece->from &&
                change->beat < piece->from + piece->count) {
                piece->updates += change->beat != before;
                before = change->beat;
            }
        }
    }
}

gph_status gphi_repeat_read(const gph_advice *advice, gphi_repeat *repeat)
{
    choose_start(advice, repeat);
    gph_status status = find_begins(advice, repeat);
    if (status == GPH_OK)
        status = cut(advice, repeat);
    if (status != GPH_OK)
        return status;
    status = gphi_repeat_look(advice, repeat);
    if (status == GPH_OK)
        status = look_for_changes(advice, repeat);
    if (status != GPH_OK)
        return status;
    if (repeat->changes.count > 0)
        qsort(repeat->changes.items, repeat->changes.count, sizeof(gphi_change), by_beat);
    mark_changes(advice, repeat);
    repeat->variants = count_variants(advice, repeat);
    if (repeat->variants == 0)
        count_updates(repeat);
    for (uint32_t i = 0; i < repeat->loop.period; i++)
        repeat->graph_launches +=
            gphi_repeat_site(advice, repeat, i)->call == GPHI_CALL_cuGraphLaunch;
    return GPH_OK;
}
