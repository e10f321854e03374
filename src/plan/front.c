// SPDX-License-Identifier: Apache-2.0
/* Fronts of labels: merging, pruning, thinning out. */
#include "plan/front.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/heap.h"

#define NONE UINT32_MAX
#define LABELS 4000000u /* of all steps together */
#define LABELS_MIN 64u  /* of one step */
#define LABELS_MAX 20000u

struct decision {
    uint32_t before; /* or NONE */
    uint32_t graph;
    uint32_t own;
};

/* Labels of a front, each moved by as much. */
struct moved {
    const gphi_front_label *labels;
    size_t count;
    uint64_t bytes;
    uint32_t execs;
    double cost;
    int own; /* what that decides; -1: nothing */
};

static bool limits_bytes(const gphi_front *f)
{
    return f->limits->bytes != UINT64_MAX;
}

static bool limits_execs(const gphi_front *f)
{
    return f->limits->execs != UINT32_MAX;
}

static struct moved all_of(const gphi_vec *labels)
{
    return (struct moved){.labels = (const gphi_front_label *)labels->items,
                          .count = labels->count,
                          .own = -1};
}

/* What is not limited does not count. */
static struct moved move(const gphi_front *f, const gphi_vec *labels, uint64_t bytes,
                         uint32_t execs)
{
    struct moved m = all_of(labels);
    m.bytes = limits_bytes(f) ? bytes : 0;
    m.execs = limits_execs(f) ? execs : 0;
    return m;
}

gph_status gphi_front_init(gphi_front *f, gph_allocator heap,
                           const gphi_front_limits *limits, uint64_t steps)
{
    *f = (gphi_front){.heap = heap, .limits = limits, .exact = true};
    gphi_vec_init(&f->trunk, heap, sizeof(gphi_front_label));
    gphi_vec_init(&f->way, heap, sizeof(gphi_front_label));
    gphi_vec_init(&f->joined, heap, sizeof(gphi_front_label));
    gphi_vec_init(&f->scratch, heap, sizeof(gphi_front_label));
    gphi_vec_init(&f->past, heap, sizeof(struct decision));
    const uint64_t share = LABELS / (steps ? steps : 1);
    f->labels_max = share < LABELS_MIN   ? LABELS_MIN
                    : share > LABELS_MAX ? LABELS_MAX
                                         : (size_t)share;
    if (limits_bytes(f) && limits_execs(f)) {
        f->least_room = limits->execs < steps ? limits->execs + 1 : (uint32_t)steps + 1;
        f->least = gphi_heap_array(heap, f->least_room, sizeof(double));
        if (!f->least)
            return GPH_E_NO_MEMORY;
    }
    gphi_front_label *root = gphi_vec_add(&f->trunk, 1);
    if (!root)
        return GPH_E_NO_MEMORY;
    root->past = NONE;
    return GPH_OK;
}

void gphi_front_fini(gphi_front *f)
{
    gphi_vec_fini(&f->trunk);
    gphi_vec_fini(&f->way);
    gphi_vec_fini(&f->joined);
    gphi_vec_fini(&f->scratch);
    gphi_vec_fini(&f->past);
    gphi_heap_free(f->heap, f->least, f->least_room * sizeof(double));
}

/* ---- pruning ---- */

/* The least cost among labels so far with as many executables or fewer, in a tree of
 * minima over prefixes (Fenwick); without one, labels come in order of what is limited.
 */
struct least {
    gphi_front *f;
    double all;
};

static struct least begin_least(gphi_front *f)
{
    for (uint32_t i = 0; i < f->least_room; i++)
        f->least[i] = INFINITY;
    return (struct least){f, INFINITY};
}

static double least_of(const struct least *l, uint32_t execs)
{
    double least = INFINITY;
    if (l->f->least_room == 0)
        return l->all;
    for (uint32_t i = execs + 1; i > 0; i -= i & -i)
        least = l->f->least[i - 1] < least ? l->f->least[i - 1] : least;
    return least;
}

static void note_least(struct least *l, uint32_t execs, double cost)
{
    l->all = cost < l->all ? cost : l->all;
    for (uint32_t i = execs + 1; i <= l->f->least_room; i += i & -i)
        l->f->least[i - 1] = cost < l->f->least[i - 1] ? cost : l->f->least[i - 1];
}

static gphi_front_label take(const struct moved *m, size_t at)
{
    gphi_front_label label = m->labels[at];
    label.bytes += m->bytes;
    label.execs += m->execs;
    label.cost += m->cost;
    return label;
}

static bool comes_first(const gphi_front_label *a, const gphi_front_label *b)
{
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes;
    if (a->execs != b->execs)
        return a->execs < b->execs;
    return a->cost < b->cost; /* else the second, in which earlier graphs are hot */
}

static bool fits(const gphi_front *f, const gphi_front_label *label)
{
    const gphi_front_limits *l = f->limits;
    return label->bytes <= l->bytes - (limits_bytes(f) ? l->later_bytes : 0) &&
           label->execs <= l->execs - (limits_execs(f) ? l->later_execs : 0);
}

/* Leaves labels_max of them, the first and the last among them. */
static void thin_out(gphi_front *f, gphi_vec *labels)
{
    gphi_front_label *items = (gphi_front_label *)labels->items;
    const size_t count = labels->count, room = f->labels_max;
    if (count <= room)
        return;
    for (size_t i = 0; i < room; i++)
        items[i] = items[i * (count - 1) / (room - 1)];
    labels->count = room;
    f->exact = false;
}

/* The labels of both that fit and are worth keeping, in order, in `to`. The graph of
 * decisions is written down by the caller: `past` of a fresh label is 2 x its index in
 * its source, and 1 if that is the second. */
static gph_status merge(gphi_front *f, const struct moved from[2], gphi_vec *to)
{
    size_t at[2] = {0, 0};
    to->count = 0;
    if (gphi_vec_reserve(to, from[0].count + from[1].count) != GPH_OK)
        return GPH_E_NO_MEMORY;
    struct least least = begin_least(f);
    while (at[0] < from[0].count || at[1] < from[1].count) {
        gphi_front_label label[2];
        int which = at[0] == from[0].count;
        if (at[0] < from[0].count)
            label[0] = take(&from[0], at[0]);
        if (at[1] < from[1].count)
            label[1] = take(&from[1], at[1]);
        if (which == 0 && at[1] < from[1].count)
            which = !comes_first(&label[0], &label[1]);
        gphi_front_label *one = &label[which];
        one->past = (uint32_t)(2 * at[which]++ + (unsigned)which);
        if (!fits(f, one) || least_of(&least, one->execs) <= one->cost)
            continue;
        note_least(&least, one->execs, one->cost);
        memcpy(gphi_vec_add(to, 1), one, sizeof(*one));
    }
    thin_out(f, to);
    return GPH_OK;
}

/* Sets the past of merged labels, with what was decided. */
static gph_status remember(gphi_front *f, const struct moved from[2], gphi_vec *to,
                           uint32_t graph)
{
    if (gphi_vec_reserve(&f->past, to->count) != GPH_OK)
        return GPH_E_NO_MEMORY;
    for (size_t i = 0; i < to->count; i++) {
        gphi_front_label *label = gphi_vec_at(to, i);
        const struct moved *source = &from[label->past & 1];
        label->past = source->labels[label->past / 2].past;
        if (source->own < 0)
            continue;
        const struct decision d = {label->past, graph, (uint32_t)source->own};
        label->past = (uint32_t)f->past.count;
        memcpy(gphi_vec_add(&f->past, 1), &d, sizeof(d));
    }
    return GPH_OK;
}

static void swap(gphi_vec *a, gphi_vec *b)
{
    const gphi_vec c = *a;
    *a = *b;
    *b = c;
}

/* Replaces `labels` by what comes of both. */
static gph_status replace(gphi_front *f, const struct moved from[2], gphi_vec *labels,
                          uint32_t graph)
{
    GPHI_TRY(merge(f, from, &f->scratch));
    GPHI_TRY(remember(f, from, &f->scratch, graph));
    swap(labels, &f->scratch);
    return GPH_OK;
}

/* ---- ways ---- */

gph_status gphi_front_branch(gphi_front *f, uint64_t bytes, uint32_t execs)
{
    const struct moved from[2] = {move(f, &f->trunk, bytes, execs), {.own = -1}};
    return replace(f, from, &f->way, 0);
}

gph_status gphi_front_step(gphi_front *f, uint32_t graph, uint64_t bytes, double cost,
                           bool must)
{
    struct moved from[2] = {move(f, &f->way, bytes, 1), {.own = -1}};
    from[0].own = 1;
    if (!must) {
        from[1] = all_of(&f->way);
        from[1].cost = cost;
        from[1].own = 0;
    }
    return replace(f, from, &f->way, graph);
}

gph_status gphi_front_join(gphi_front *f)
{
    const struct moved from[2] = {all_of(&f->joined), all_of(&f->way)};
    return replace(f, from, &f->joined, 0);
}

void gphi_front_advance(gphi_front *f)
{
    swap(&f->trunk, &f->joined);
    f->joined.count = 0;
}

void gphi_front_best(const gphi_front *f, bool *own)
{
    const gphi_front_label *labels = (const gphi_front_label *)f->trunk.items;
    const gphi_front_label *best = &labels[0];
    for (size_t i = 1; i < f->trunk.count; i++)
        if (labels[i].cost < best->cost)
            best = &labels[i];
    for (uint32_t at = best->past; at != NONE;) {
        const struct decision *d = gphi_vec_at(&f->past, at);
        own[d->graph] = d->own != 0;
        at = d->before;
    }
}
