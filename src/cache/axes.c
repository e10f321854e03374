// SPDX-License-Identifier: Apache-2.0
/* The values of one axis: listed, doubled, stepped, or planned from what occurs.
 *
 *   size     0  1  2  3  4  5  6  7  8
 *   rung     0  0  1  2  2  3  3  3  3     of the values 1 2 4 8: the least that holds it
 *
 * A look-up is on the way of every call, so sizes up to TABLE_MAX have a table of 16-bit
 * rungs (128 KiB an axis at most), and larger axes are searched by halves. A discrete
 * axis has the same values and the same table: whether the size is the value is asked
 * later. */
#include "base/fail.h"
#include "base/heap.h"
#include "base/vec.h"
#include "cache/layout.h"

#include <gph/plan_ladder.h>

#include <stdlib.h>
#include <string.h>

enum { TABLE_MAX = 65536, RUNGS_DEFAULT = 64 };

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The axis' value `next` after `value`, the last one at the end. */
static int64_t step_on(const gph_cache_axis *axis, int64_t value)
{
    const int64_t next =
        axis->ladder == GPH_LADDER_POWERS ? 2 * value : value + axis->step;
    return next < axis->last ? next : axis->last;
}

static gph_status read_steps(struct gphi_axis *out, const gph_cache_axis *axis,
                             gph_allocator heap, gph_error *error)
{
    const int64_t first = axis->first == 0 ? 1 : axis->first;
    if (first < 1 || axis->last < first || axis->last > GPH_CACHE_SIZE_MAX)
        return gphi_fail(error, GPH_E_INVALID, "axis %s: from %lld to %lld", out->name,
                         (long long)first, (long long)axis->last);
    if (axis->ladder == GPH_LADDER_LINEAR && axis->step < 1)
        return gphi_fail(error, GPH_E_INVALID, "axis %s: a step of %lld", out->name,
                         (long long)axis->step);
    uint32_t count = 1;
    for (int64_t v = first; v < axis->last; v = step_on(axis, v))
        if (++count > GPH_CACHE_KEYS_MAX)
            return gphi_fail(error, GPH_E_INVALID, "axis %s: more than %d values",
                             out->name, GPH_CACHE_KEYS_MAX);
    out->values = gphi_heap_array(heap, count, sizeof(*out->values));
    GPHI_TRY(gphi_made(error, out->values, "%u values of axis %s", count, out->name));
    out->count = count;
    int64_t value = first;
    for (uint32_t i = 0; i < count; i++, value = step_on(axis, value))
        out->values[i] = value;
    return GPH_OK;
}

/* Copies the values given, sorted. */
static gph_status read_list(struct gphi_axis *out, const gph_cache_axis *axis,
                            gph_allocator heap, gph_error *error)
{
    if (!axis->values || axis->value_count == 0 || axis->value_count > GPH_CACHE_KEYS_MAX)
        return gphi_fail(error, GPH_E_INVALID, "axis %s: %u values", out->name,
                         !axis->values ? 0 : axis->value_count);
    out->values = gphi_heap_array(heap, axis->value_count, sizeof(*out->values));
    GPHI_TRY(gphi_made(error, out->values, "%u values of axis %s", axis->value_count,
                       out->name));
    out->count = axis->value_count;
    memcpy(out->values, axis->values, out->count * sizeof(*out->values));
    qsort(out->values, out->count, sizeof(*out->values), compare);
    const int64_t least = out->is_discrete ? 0 : 1;
    for (uint32_t i = 0; i < out->count; i++) {
        const int64_t value = out->values[i];
        if (value < least || value > GPH_CACHE_SIZE_MAX)
            return gphi_fail(error, GPH_E_INVALID,
                             "axis %s: value %lld is not in %lld ... %ld", out->name,
                             (long long)value, (long long)least, GPH_CACHE_SIZE_MAX);
        if (i > 0 && out->values[i - 1] == value)
            return gphi_fail(error, GPH_E_INVALID, "axis %s: value %lld occurs twice",
                             out->name, (long long)value);
    }
    return GPH_OK;
}

/* A straight cost, and a price for having a bucket at all. */
static gph_status plan(const gph_cache_axis *axis, gph_plan_size *sizes, uint64_t *rungs,
                       gph_plan_ladder_options *options, gph_plan_ladder_result *result,
                       gph_error *error)
{
    const double unit =
        axis->unit_cost == 0 && axis->fixed_cost == 0 ? 1 : axis->unit_cost;
    uint64_t last = 1;
    for (uint32_t i = 0; i < axis->value_count; i++) {
        const int64_t value = axis->values[i];
        if (value < 1 || value > GPH_CACHE_SIZE_MAX)
            return gphi_fail(error, GPH_E_INVALID,
                             "axis %s: size %lld is not in 1 ... %ld", axis->name,
                             (long long)value, GPH_CACHE_SIZE_MAX);
        sizes[i] = (gph_plan_size){(uint64_t)value, axis->counts[i]};
        last = sizes[i].size > last ? sizes[i].size : last;
    }
    const gph_plan_point costs[] = {
        {1, axis->fixed_cost + unit},
        {last + 1, axis->fixed_cost + unit * (double)(last + 1)}};
    const gph_plan_point one = {1, 1};
    options->cost = (gph_plan_curve){costs, 2};
    options->seconds = (gph_plan_curve){&one, 1};
    options->second_weight = axis->bucket_cost;
    const gph_plan_histogram histogram = {sizes, axis->value_count};
    return gph_plan_ladder(&histogram, options, rungs, options->bucket_max, result,
                           error);
}

static gph_status read_plan(struct gphi_axis *out, const gph_cache_axis *axis,
                            gph_allocator heap, gph_error *error)
{
    if (!axis->values || !axis->counts || axis->value_count == 0 ||
        axis->value_count > GPH_CACHE_KEYS_MAX || out->is_discrete)
        return gphi_fail(error, GPH_E_INVALID,
                         "axis %s: a planned ladder wants sizes, counts, and padding",
                         out->name);
    const uint32_t wanted = axis->rungs_max == 0 ? RUNGS_DEFAULT : axis->rungs_max;
    const uint32_t room = wanted < axis->value_count ? wanted : axis->value_count;
    gph_plan_size *sizes = gphi_heap_array(heap, axis->value_count, sizeof(*sizes));
    uint64_t *rungs = gphi_heap_array(heap, room, sizeof(*rungs));
    gph_plan_ladder_result result = GPH_SIZED(gph_plan_ladder_result);
    gph_plan_ladder_options options = GPH_PLAN_LADDER_OPTIONS_INIT;
    options.bucket_max = room;
    options.allocator = &heap;
    gph_status status =
        !sizes || !rungs
            ? gphi_fail(error, GPH_E_NO_MEMORY, "planning axis %s", out->name)
            : plan(axis, sizes, rungs, &options, &result, error);
    if (status == GPH_OK) {
        out->values = gphi_heap_array(heap, result.rung_count, sizeof(*out->values));
        if (!out->values)
            status = gphi_fail(error, GPH_E_NO_MEMORY, "values of axis %s", out->name);
    }
    if (status == GPH_OK) {
        out->count = (uint32_t)result.rung_count;
        for (uint32_t i = 0; i < out->count; i++)
            out->values[i] = (int64_t)rungs[i];
    }
    gphi_heap_free(heap, sizes, axis->value_count * sizeof(*sizes));
    gphi_heap_free(heap, rungs, room * sizeof(*rungs));
    return status;
}

/* Sizes up to the last value, each with its rung, if they are not too many. */
static gph_status make_table(struct gphi_axis *axis, gph_allocator heap, gph_error *error)
{
    const int64_t last = axis->values[axis->count - 1];
    if (last >= TABLE_MAX)
        return GPH_OK;
    axis->rung_count = (uint32_t)last + 1;
    axis->rungs = gphi_heap_array(heap, axis->rung_count, sizeof(*axis->rungs));
    GPHI_TRY(gphi_made(error, axis->rungs, "the sizes of axis %s", axis->name));
    uint32_t rung = 0;
    for (uint32_t size = 0; size < axis->rung_count; size++) {
        if ((int64_t)size > axis->values[rung])
            rung++;
        axis->rungs[size] = (uint16_t)rung;
    }
    return GPH_OK;
}

gph_status gphi_axis_init(struct gphi_axis *out, const gph_cache_axis *axis,
                          gph_allocator heap, gph_error *error)
{
    if (!axis->name || axis->name[0] == '\0')
        return gphi_fail(error, GPH_E_INVALID, "an axis of %u values has no name",
                         (unsigned)axis->value_count);
    out->name = gphi_heap_text(heap, axis->name);
    GPHI_TRY(gphi_made(error, out->name, "axis %s", axis->name));
    out->is_discrete = axis->discrete != 0;
    switch (axis->ladder) {
    case GPH_LADDER_LIST: GPHI_TRY(read_list(out, axis, heap, error)); break;
    case GPH_LADDER_POWERS:
    case GPH_LADDER_LINEAR: GPHI_TRY(read_steps(out, axis, heap, error)); break;
    case GPH_LADDER_PLANNED: GPHI_TRY(read_plan(out, axis, heap, error)); break;
    default:
        return gphi_fail(error, GPH_E_INVALID, "axis %s: %u is not a gph_ladder",
                         axis->name, axis->ladder);
    }
    return make_table(out, heap, error);
}

void gphi_axis_fini(struct gphi_axis *axis, gph_allocator heap)
{
    gphi_heap_text_free(heap, axis->name);
    gphi_heap_free(heap, axis->values, axis->count * sizeof(*axis->values));
    gphi_heap_free(heap, axis->rungs, axis->rung_count * sizeof(*axis->rungs));
    memset(axis, 0, sizeof(*axis));
}

uint32_t gphi_axis_rung(const struct gphi_axis *axis, int64_t size)
{
    if (size < 0)
        return axis->count;
    if (axis->rungs)
        return size < (int64_t)axis->rung_count ? axis->rungs[size] : axis->count;
    size_t low;
    GPHI_HALVE(low, axis->count, at, axis->values[at] < size);
    return (uint32_t)low;
}
