// SPDX-License-Identifier: Apache-2.0
/* Units: who comes before whom, what is kept, and when two are compared. */
#include "softcuda/check/beside.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "base/heap.h"
#include "softcuda/check/sidebyside.h"

enum {
    UNITS_KEPT = 2048, /* the oldest goes then */
    ITEMS_KEPT = 1 << 20
};

struct soft_beside {
    gph_allocator heap;
    soft_beside_options options;
    pthread_mutex_t mutex; /* of all below, and of units */
    struct clocks clocks;
    uint64_t swept; /* the host's waits when units were last dropped */
    soft_unit *list, *last;
    uint32_t count;
    uint64_t numbers, item_count;
    struct known known;
    bool is_incomplete, is_said;
};

gph_status soft_beside_create(const soft_beside_options *options, soft_beside **out,
                              gph_error *error)
{
    const gph_allocator heap = gphi_heap(options->allocator);
    soft_beside *beside = gphi_heap_alloc(heap, sizeof(*beside));
    GPHI_TRY(gphi_made(error, beside, "a check of launches side by side"));
    beside->heap = heap;
    beside->options = *options;
    pthread_mutex_init(&beside->mutex, NULL);
    soft_clocks_init(&beside->clocks, heap);
    gphi_map_init(&beside->known.pairs, heap);
    *out = beside;
    return GPH_OK;
}

/* ---- places and units -------------------------------------------------------------- */

static void drop_place(soft_beside *beside, struct place *place)
{
    while (place && --place->references == 0) {
        struct place *const parent = place->parent, *const scope = place->scope;
        gphi_heap_free(beside->heap, place->before, place->before_count);
        gphi_heap_free(beside->heap, place, sizeof(*place));
        if (scope)
            drop_place(beside, scope);
        place = parent;
    }
}

static struct place *hold_place(struct place *place)
{
    if (place)
        place->references++;
    return place;
}

static void drop_unit(soft_unit *unit)
{
    soft_beside *beside = unit->beside;
    if (--unit->references > 0)
        return;
    soft_footprint_fini(&unit->print, beside->heap);
    drop_place(beside, unit->place);
    if (unit->root && --unit->root->references == 0)
        gphi_heap_free(beside->heap, unit->root, sizeof(*unit->root));
    gphi_heap_free(beside->heap, unit, sizeof(*unit));
}

static void unlist(soft_unit *unit)
{
    soft_beside *beside = unit->beside;
    *(unit->previous ? &unit->previous->next : &beside->list) = unit->next;
    *(unit->next ? &unit->next->previous : &beside->last) = unit->previous;
    beside->count--;
    beside->item_count -= unit->print.count;
    drop_unit(unit);
}

/* In the list, with a reference for the caller. Takes the references of root and place, on
 * failure too. */
static soft_unit *new_unit(soft_beside *beside, struct root *root, struct place *place)
{
    soft_unit *unit = gphi_heap_alloc(beside->heap, sizeof(*unit));
    if (!unit || !root || !place) {
        beside->is_incomplete = true;
        gphi_heap_free(beside->heap, unit, sizeof(*unit));
        drop_place(beside, place);
        if (root && --root->references == 0)
            gphi_heap_free(beside->heap, root, sizeof(*root));
        return NULL;
    }
    *unit = (soft_unit){.beside = beside,
                        .next = beside->list,
                        .references = 2,
                        .number = ++beside->numbers,
                        .root = root,
                        .place = place,
                        .ordinal = place->count++};
    *(unit->next ? &unit->next->previous : &beside->last) = unit;
    beside->list = unit;
    beside->count++;
    return unit;
}

void soft_beside_destroy(soft_beside *beside)
{
    if (!beside)
        return;
    while (beside->list)
        unlist(beside->list);
    soft_clocks_fini(&beside->clocks);
    gphi_map_fini(&beside->known.pairs);
    pthread_mutex_destroy(&beside->mutex);
    gphi_heap_free(beside->heap, beside, sizeof(*beside));
}

/* ---- order ------------------------------------------------------------------------- */

static bool root_before(const soft_beside *beside, const struct root *a,
                        const struct root *b)
{
    if (a->column == b->column)
        return true; /* one queue */
    return soft_clocks_before(&beside->clocks, a->column, a->sequence, &b->clock);
}

static bool roots_ordered(const soft_unit *a, const soft_unit *b)
{
    return a->root != b->root && (root_before(a->beside, a->root, b->root) ||
                                  root_before(a->beside, b->root, a->root));
}

/* ---- what is kept ------------------------------------------------------------------ */

/* Up to where all that may still come, or still runs, comes after. */
static struct clock horizon(const soft_beside *beside)
{
    struct clock out = beside->clocks.host;
    for (const soft_unit *unit = beside->list; unit; unit = unit->next)
        for (int i = 0; !unit->settled && i < beside->clocks.columns; i++)
            if (unit->root->clock.at[i] < out.at[i])
                out.at[i] = unit->root->clock.at[i];
    return out;
}

/* Drops what nothing can race with any more. */
static void sweep(soft_beside *beside)
{
    if (beside->swept == beside->clocks.waits)
        return;
    beside->swept = beside->clocks.waits;
    const struct clock out = horizon(beside);
    for (soft_unit *unit = beside->list, *next; unit; unit = next) {
        next = unit->next;
        if (unit->settled && unit->root->sequence <= out.at[unit->root->column])
            unlist(unit);
    }
}

static void make_room(soft_beside *beside)
{
    for (soft_unit *unit = beside->last, *previous;
         unit && (beside->count > UNITS_KEPT || beside->item_count > ITEMS_KEPT);
         unit = previous) {
        previous = unit->previous;
        if (unit->settled)
            unlist(unit);
    }
}

/* Whether what touched the same before `unit` need not be kept: who races with it races with
 * the unit, too. */
static bool replaces(const soft_unit *unit, const soft_unit *old)
{
    if (old->print.count != unit->print.count || old->print.hash != unit->print.hash)
        return false;
    if (old->root == unit->root)
        return old->place == unit->place && old->ordinal < unit->ordinal;
    return old->root->column == unit->root->column &&
           old->root->sequence < unit->root->sequence && !old->place->parent;
}

/* Compares it with all that ended before it. */
static void settle(soft_unit *unit, struct beside_findings *out)
{
    soft_beside *beside = unit->beside;
    if (unit->settled)
        return;
    unit->settled = true;
    for (soft_unit *other = beside->list, *next; other; other = next) {
        next = other->next;
        if (other == unit || !other->settled || other->print.count == 0)
            continue;
        if (replaces(unit, other)) {
            unlist(other);
            continue;
        }
        if (unit->print.count > 0 && !roots_ordered(unit, other) &&
            !soft_units_compare(unit, other, &beside->known, out))
            beside->is_incomplete = true;
    }
    if (unit->print.count == 0)
        unlist(unit);
    make_room(beside);
}

/* All of a root that have ended before its submission was known. */
static void settle_root(soft_beside *beside, const struct root *root,
                        struct beside_findings *out)
{
    for (soft_unit *unit = beside->list; unit;) {
        const bool is_due = unit->root == root && unit->ended && !unit->settled;
        if (is_due)
            settle(unit, out);
        unit = is_due ? beside->list : unit->next; /* others may have gone */
    }
}

/* Lets go of the mutex and says what there is to say. */
static void leave(soft_beside *beside, struct beside_findings *findings)
{
    const soft_beside_options *options = &beside->options;
    const bool says =
        (beside->is_incomplete || beside->clocks.is_lost) && !beside->is_said;
    beside->is_said |= says;
    pthread_mutex_unlock(&beside->mutex);
    if (says && options->incomplete)
        options->incomplete(options->user,
                            beside->clocks.is_lost
                                ? "more streams than launches are compared between"
                                : "no memory to note what launches touched");
    for (uint32_t i = 0; i < findings->count && options->found; i++) {
        soft_beside_finding *finding = &findings->list[i].finding;
        for (int k = 0; k < 2; k++)
            if (finding->sides[k].kernel)
                finding->sides[k].kernel = findings->list[i].kernels[k];
        options->found(options->user, finding);
    }
    gphi_heap_free(beside->heap, findings->list,
                   findings->capacity * sizeof(*findings->list));
}

static struct beside_findings none(const soft_beside *beside)
{
    return (struct beside_findings){.heap = beside->heap};
}

/* ---- calls ------------------------------------------------------------------------- */

void soft_beside_after(soft_beside *beside, const soft_queue *queue, soft_point point)
{
    pthread_mutex_lock(&beside->mutex);
    soft_clocks_after(&beside->clocks, queue, point);
    pthread_mutex_unlock(&beside->mutex);
}

void soft_beside_alias(soft_beside *beside, soft_point point, soft_point of)
{
    pthread_mutex_lock(&beside->mutex);
    soft_clocks_alias(&beside->clocks, point, of);
    pthread_mutex_unlock(&beside->mutex);
}

void soft_beside_waited(soft_beside *beside, soft_point point)
{
    pthread_mutex_lock(&beside->mutex);
    soft_clocks_waited(&beside->clocks, point);
    sweep(beside);
    pthread_mutex_unlock(&beside->mutex);
}

void soft_beside_leave(soft_beside *beside, soft_point last)
{
    pthread_mutex_lock(&beside->mutex);
    soft_clocks_leave(&beside->clocks, last);
    pthread_mutex_unlock(&beside->mutex);
}

void soft_beside_after_gone(soft_beside *beside, const soft_queue *queue)
{
    pthread_mutex_lock(&beside->mutex);
    soft_clocks_after_gone(&beside->clocks, queue);
    pthread_mutex_unlock(&beside->mutex);
}

void soft_beside_waited_gone(soft_beside *beside)
{
    pthread_mutex_lock(&beside->mutex);
    soft_clocks_waited_gone(&beside->clocks);
    sweep(beside);
    pthread_mutex_unlock(&beside->mutex);
}

void soft_beside_forget(soft_beside *beside, const void *context)
{
    pthread_mutex_lock(&beside->mutex);
    for (soft_unit *unit = beside->list, *next; unit; unit = next) {
        bool is_its = false;
        next = unit->next;
        for (uint32_t i = 0; i < unit->print.name_count; i++)
            is_its |= unit->print.names[i].who.context == context;
        if (is_its && unit->settled)
            unlist(unit);
    }
    pthread_mutex_unlock(&beside->mutex);
}

static struct root *new_root(soft_beside *beside, const soft_queue *queue, bool acquires)
{
    struct lane *lane = soft_clocks_lane(&beside->clocks, queue);
    struct root *root = lane ? gphi_heap_alloc(beside->heap, sizeof(*root)) : NULL;
    if (root)
        *root = (struct root){.references = 1,
                              .acquires = acquires,
                              .column = lane->column,
                              .clock = soft_clocks_next(&beside->clocks, lane)};
    return root;
}

static struct place *new_place(soft_beside *beside)
{
    struct place *place = gphi_heap_alloc(beside->heap, sizeof(*place));
    return hold_place(place);
}

soft_unit *soft_unit_begin(soft_beside *beside, const soft_queue *queue, bool acquires)
{
    soft_unit *unit = NULL;
    pthread_mutex_lock(&beside->mutex);
    if (!beside->clocks.is_lost)
        unit = new_unit(beside, new_root(beside, queue, acquires), new_place(beside));
    struct beside_findings findings = none(beside);
    leave(beside, &findings);
    return unit;
}

void soft_unit_submitted(soft_unit *unit, soft_point point)
{
    if (!unit)
        return;
    soft_beside *beside = unit->beside;
    struct beside_findings findings = none(beside);
    pthread_mutex_lock(&beside->mutex);
    unit->root->sequence = point.sequence;
    unit->root->submitted = point.queue != NULL;
    if (!point.queue)
        unlist(unit);
    else
        settle_root(beside, unit->root, &findings);
    leave(beside, &findings);
}

static bool note_before(struct place *place, const soft_race *race, uint32_t node,
                        gph_allocator heap)
{
    const uint32_t count = race->order.node_count;
    place->before = gphi_heap_alloc(heap, count + 1ull);
    if (!place->before)
        return false;
    place->before_count = count + 1;
    for (uint32_t i = 0; i < count; i++)
        place->before[i] = i == node || (race->order.columns[i] != SOFT_RACE_NO_NODE &&
                                         soft_order_above(&race->order, node, i));
    return true;
}

soft_unit *soft_unit_launch(soft_unit *by, soft_race *race, uint32_t node,
                            bool is_sibling)
{
    if (!by)
        return NULL;
    soft_beside *beside = by->beside;
    soft_unit *unit = NULL;
    pthread_mutex_lock(&beside->mutex);
    struct place *place = new_place(beside);
    if (place) {
        place->parent = hold_place(by->place);
        place->ordinal = by->ordinal;
        place->scope = hold_place(is_sibling ? by->place->scope : by->place);
        place->scope_ordinal = is_sibling ? by->place->scope_ordinal : by->ordinal;
        if (!note_before(place, race, node, beside->heap)) {
            drop_place(beside, place);
            place = NULL;
        }
    }
    by->root->references++;
    unit = new_unit(beside, by->root, place);
    pthread_mutex_unlock(&beside->mutex);
    return unit;
}

soft_unit *soft_unit_follow(soft_unit *before)
{
    if (!before)
        return NULL;
    soft_beside *beside = before->beside;
    pthread_mutex_lock(&beside->mutex);
    before->root->references++;
    soft_unit *unit = new_unit(beside, before->root, hold_place(before->place));
    pthread_mutex_unlock(&beside->mutex);
    return unit;
}

/* Up to its end where that is known; else up to all that is in its queue. */
static void flag_host(const struct root *root, struct clocks *clocks)
{
    const uint64_t sequence =
        root->submitted ? root->sequence
                        : soft_queue_tail(clocks->queues[root->column]).sequence;
    soft_clocks_flag(clocks, &root->clock, root->column, sequence);
}

void soft_unit_end(soft_unit *unit, soft_race *race, const soft_who *who)
{
    if (!unit)
        return;
    soft_beside *beside = unit->beside;
    struct beside_findings findings = none(beside);
    struct footprint print;
    /* Without the mutex: memory and kernels are asked for. */
    const bool made =
        soft_footprint_init(&print, race, who, &beside->options, beside->heap);
    pthread_mutex_lock(&beside->mutex);
    unit->print = print;
    unit->ended = true;
    beside->item_count += print.count;
    beside->is_incomplete |=
        !made || atomic_load_explicit(&race->incomplete, memory_order_relaxed);
    if (unit->root->acquires)
        soft_clocks_acquire(
            &beside->clocks,
            soft_clocks_lane(&beside->clocks, beside->clocks.queues[unit->root->column]),
            unit->root->clock.at[unit->root->column]);
    if (print.flags_host)
        flag_host(unit->root, &beside->clocks);
    if (unit->root->submitted)
        settle(unit, &findings);
    leave(beside, &findings);
}

void soft_unit_cancel(soft_unit *unit)
{
    if (!unit)
        return;
    soft_beside *beside = unit->beside;
    pthread_mutex_lock(&beside->mutex);
    unlist(unit);
    pthread_mutex_unlock(&beside->mutex);
}

void soft_unit_retain(soft_unit *unit)
{
    if (!unit)
        return;
    pthread_mutex_lock(&unit->beside->mutex);
    unit->references++;
    pthread_mutex_unlock(&unit->beside->mutex);
}

void soft_unit_release(soft_unit *unit)
{
    if (!unit)
        return;
    soft_beside *beside = unit->beside;
    pthread_mutex_lock(&beside->mutex);
    drop_unit(unit);
    pthread_mutex_unlock(&beside->mutex);
}
