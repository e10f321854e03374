// SPDX-License-Identifier: Apache-2.0
/* What a cache will take, predicted without a driver: each known recording is laid out as
 * a pool would, the others are fitted to those by the size of their keys.
 *
 * Laying out is best fit in event order over blocks sorted by offset, in grains of 512
 * bytes as the pool's, since that is what the pool does while it captures: a better plan
 * would predict less than will be taken. Graphs lie over each other, so a family takes
 * what its largest graph does, and inputs beside it. A key without a trace has the nodes
 * of the nearest one that has, by units: the sizes of its padded axes, multiplied. */
#include "base/fail.h"
#include "base/heap.h"
#include "cache/cache.h"
#include "memory/pool.h"

#include <gph/cache_figures.h>
#include <gph/plan_ladder.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRAIN = 512, BUFFERS_MAX = 1 << 20 };

/* ---- one recording ---- */

/* A begin or an end, in the order in which they happen. */
struct event {
    uint64_t time;
    uint32_t buffer;
    uint32_t begins; /* ends come first */
};

struct block {
    uint64_t first, end;
    uint32_t buffer;
};

static int by_time(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->begins != y->begins)
        return x->begins < y->begins ? -1 : 1;
    return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

/* Into the smallest gap that holds it, else on top. Blocks are in order of offset. */
static uint64_t place(struct block *blocks, uint32_t *count, uint64_t size,
                      uint32_t buffer)
{
    uint64_t best = UINT64_MAX, at = 0;
    uint32_t index = *count;
    uint64_t end = 0;
    for (uint32_t i = 0; i < *count; i++) {
        const uint64_t gap = blocks[i].first - end;
        if (gap >= size && gap < best) {
            best = gap;
            at = end;
            index = i;
        }
        end = blocks[i].end;
    }
    if (best == UINT64_MAX)
        at = end;
    memmove(blocks + index + 1, blocks + index, (*count - index) * sizeof(*blocks));
    blocks[index] = (struct block){at, at + size, buffer};
    (*count)++;
    return at + size;
}

static void take_out(struct block *blocks, uint32_t *count, uint32_t buffer)
{
    for (uint32_t i = 0; i < *count; i++)
        if (blocks[i].buffer == buffer) {
            memmove(blocks + i, blocks + i + 1, (*count - i - 1) * sizeof(*blocks));
            (*count)--;
            return;
        }
}

/* Bytes from the lowest to the highest that the buffers reach, placed as they come. */
static gph_status lay_out(const gph_cache_trace *trace, gph_allocator heap, uint64_t *out,
                          gph_error *error)
{
    const uint32_t count = trace->buffer_count;
    uint64_t height = 0;
    *out = 0;
    if (count == 0)
        return GPH_OK;
    struct event *events = gphi_heap_array(heap, 2 * (size_t)count, sizeof(*events));
    struct block *blocks = gphi_heap_array(heap, count, sizeof(*blocks));
    gph_status status =
        gphi_made(error, events && blocks, "%u buffers of a trace", count);
    for (uint32_t i = 0; i < count && status == GPH_OK; i++) {
        events[2 * i] = (struct event){trace->buffers[i].lower, i, 1};
        events[2 * i + 1] = (struct event){trace->buffers[i].upper, i, 0};
    }
    if (status == GPH_OK)
        qsort(events, 2 * (size_t)count, sizeof(*events), by_time);
    uint32_t live = 0;
    for (size_t e = 0; e < 2 * (size_t)count && status == GPH_OK; e++) {
        const uint64_t size =
            (trace->buffers[events[e].buffer].size + GRAIN - 1) / GRAIN * GRAIN;
        if (events[e].begins == 0) {
            take_out(blocks, &live, events[e].buffer);
            continue;
        }
        const uint64_t end = place(blocks, &live, size, events[e].buffer);
        height = end > height ? end : height;
    }
    gphi_heap_free(heap, events, 2 * (size_t)count * sizeof(*events));
    gphi_heap_free(heap, blocks, count * sizeof(*blocks));
    *out = height;
    return status;
}

/* Traces come from files and other processes: every number of them is checked before
 * it is added to another. */
static gph_status check_trace(const gphi_layout *layout, const gph_cache_trace *trace,
                              uint32_t index, uint32_t *key, gph_error *error)
{
    *key = 0;
    for (uint32_t a = 0; a < layout->axis_count; a++) {
        const struct gphi_axis *axis = &layout->axes[a];
        const uint32_t rung = gphi_axis_rung(axis, trace->values[a]);
        if (rung == axis->count || axis->values[rung] != trace->values[a])
            return gphi_fail(error, GPH_E_INVALID, "trace %u: axis %s has no value %lld",
                             index, axis->name, (long long)trace->values[a]);
        *key += rung * axis->stride;
    }
    if (trace->buffer_count > BUFFERS_MAX ||
        (!trace->buffers && trace->buffer_count > 0) ||
        !(trace->seconds >= 0 && isfinite(trace->seconds)))
        return gphi_fail(error, GPH_E_INVALID, "trace %u: %u buffers, %g seconds", index,
                         trace->buffer_count, trace->seconds);
    for (uint32_t i = 0; i < trace->buffer_count; i++) {
        const gph_plan_buffer *buffer = &trace->buffers[i];
        if (buffer->lower >= buffer->upper || buffer->size == 0 ||
            buffer->size > (uint64_t)1 << 40)
            return gphi_fail(error, GPH_E_INVALID,
                             "trace %u: buffer %u has %llu bytes from %llu to %llu",
                             index, i, (unsigned long long)buffer->size,
                             (unsigned long long)buffer->lower,
                             (unsigned long long)buffer->upper);
    }
    return GPH_OK;
}

/* ---- all keys ---- */

struct known {
    uint32_t key, node_count;
    gph_plan_measure is; /* size: units of the key */
};

struct forecast {
    const gphi_layout *layout;
    gph_allocator heap;
    struct known *known;
    uint32_t known_count;
    gph_plan_fit bytes, seconds;
    bool has_bytes, has_seconds;
};

/* Lines through the traces, where they have two sizes. */
static void fit(struct forecast *self, gph_plan_measure *room)
{
    gph_error ignored;
    uint32_t measured = 0;
    for (uint32_t i = 0; i < self->known_count; i++)
        room[i] = self->known[i].is;
    self->has_bytes =
        gph_plan_cost_fit(room, self->known_count, &self->bytes, &ignored) == GPH_OK;
    for (uint32_t i = 0; i < self->known_count; i++)
        if (self->known[i].is.seconds > 0)
            room[measured++] = self->known[i].is;
    self->has_seconds = measured > 1 && gph_plan_cost_fit(room, measured, &self->seconds,
                                                          &ignored) == GPH_OK;
}

static const struct known *nearest(const struct forecast *self, uint64_t units)
{
    const struct known *best = &self->known[0];
    for (uint32_t i = 1; i < self->known_count; i++) {
        const struct known *other = &self->known[i];
        const uint64_t mine =
            best->is.size > units ? best->is.size - units : units - best->is.size;
        const uint64_t its =
            other->is.size > units ? other->is.size - units : units - other->is.size;
        best = its < mine ? other : best;
    }
    return best;
}

/* Bytes and seconds of one key; true if they are guessed. */
static bool measure(const struct forecast *self, uint32_t key, gph_plan_measure *out,
                    uint32_t *node_count)
{
    const uint64_t units = (uint64_t)self->layout->volume[key];
    for (uint32_t i = 0; i < self->known_count; i++)
        if (self->known[i].key == key) {
            *out = self->known[i].is;
            *node_count = self->known[i].node_count;
            if (out->seconds == 0 && self->has_seconds)
                out->seconds = gph_plan_cost_at(&self->seconds, units).seconds;
            return false;
        }
    const struct known *model = nearest(self, units);
    *node_count = model->node_count;
    *out = model->is;
    if (self->has_bytes)
        *out = gph_plan_cost_at(&self->bytes, units);
    else
        out->tensor_bytes *= (double)units / (double)model->is.size;
    out->exec_bytes = model->is.exec_bytes;
    out->seconds =
        self->has_seconds ? gph_plan_cost_at(&self->seconds, units).seconds : 0;
    return true;
}

static uint64_t input_bytes_of(const gphi_layout *layout, uint32_t key)
{
    int64_t values[GPH_CACHE_AXES_MAX];
    uint64_t all = 0;
    gphi_layout_values(layout, key, values);
    for (uint32_t i = 0; i < layout->input_count; i++) {
        gph_tensor tensor;
        if (gphi_layout_tensor(&layout->tensors[i], values, 0, &tensor, NULL) != GPH_OK)
            continue; /* create() has refused it */
        all += (gph_tensor_bytes(&tensor) + GRAIN - 1) / GRAIN * GRAIN;
    }
    return all + (layout->axis_count * sizeof(int64_t) + GRAIN - 1) / GRAIN * GRAIN;
}

/* One executable for each number of nodes: the largest of them. `seen`: node counts and
 * bytes, a pair each. */
static void share(uint64_t (*seen)[2], uint32_t *count, uint32_t nodes, uint64_t bytes)
{
    uint32_t i = 0;
    while (i < *count && seen[i][0] != nodes)
        i++;
    if (i == *count) {
        seen[i][0] = nodes;
        seen[i][1] = 0;
        (*count)++;
    }
    seen[i][1] = bytes > seen[i][1] ? bytes : seen[i][1];
}

/* Sums of doubles would lose bytes beyond 2^53, so bytes are added as integers where
 * they are known as such. */
static gph_status add_up(const struct forecast *self, gph_cache_forecast *out,
                         gph_error *error)
{
    const gphi_layout *layout = self->layout;
    uint64_t(*seen)[2] =
        gphi_heap_array(self->heap, self->known_count + 1, sizeof(*seen));
    uint64_t *buffers =
        gphi_heap_array(self->heap, layout->input_count + 1, sizeof(*buffers));
    uint32_t classes = 0;
    double graphs = 0;
    gph_status status = !seen || !buffers
                            ? gphi_fail(error, GPH_E_NO_MEMORY, "a forecast of %u keys",
                                        layout->key_count)
                            : gphi_cache_buffer_sizes(layout, buffers, error);
    for (uint32_t i = 0; i <= layout->input_count && status == GPH_OK; i++)
        out->input_bytes += (buffers[i] + GRAIN - 1) / GRAIN * GRAIN;
    for (uint32_t k = 0; k < layout->key_count && status == GPH_OK; k++) {
        gph_plan_measure one;
        uint32_t nodes = 0;
        if (gphi_layout_state(layout, k) == GPH_CACHE_NOT_WANTED)
            continue;
        out->guessed_count += measure(self, k, &one, &nodes);
        out->key_count++;
        graphs = one.tensor_bytes > graphs ? one.tensor_bytes : graphs;
        out->separate_bytes += (uint64_t)one.tensor_bytes + input_bytes_of(layout, k);
        out->exec_bytes += (uint64_t)one.exec_bytes;
        out->seconds += one.seconds;
        share(seen, &classes, nodes, (uint64_t)one.exec_bytes);
    }
    out->tensor_bytes = out->input_bytes + (uint64_t)graphs;
    for (uint32_t i = 0; i < classes; i++)
        out->shared_exec_bytes += seen[i][1];
    if (!self->has_seconds)
        out->seconds = 0;
    gphi_heap_free(self->heap, seen, (self->known_count + 1) * sizeof(*seen));
    gphi_heap_free(self->heap, buffers, (layout->input_count + 1) * sizeof(*buffers));
    return status;
}

static gph_status read_traces(struct forecast *self, const gph_cache_trace *traces,
                              uint32_t count, gph_error *error)
{
    gph_plan_measure *room = gphi_heap_array(self->heap, count, sizeof(*room));
    self->known = gphi_heap_array(self->heap, count, sizeof(*self->known));
    gph_status status = gphi_made(error, room && self->known, "%u traces", count);
    for (uint32_t i = 0; i < count && status == GPH_OK; i++) {
        struct known *known = &self->known[i];
        uint64_t height = 0;
        gph_cache_trace trace;
        status = gphi_element_read(&trace, sizeof(trace), traces, traces->size, i, error);
        GPHI_THEN(status, check_trace(self->layout, &trace, i, &known->key, error));
        GPHI_THEN(status, lay_out(&trace, self->heap, &height, error));
        if (status != GPH_OK)
            break;
        known->node_count = trace.node_count;
        known->is = (gph_plan_measure){
            .size = (uint64_t)self->layout->volume[known->key],
            .tensor_bytes = (double)height,
            .exec_bytes = trace.exec_bytes != 0
                              ? (double)trace.exec_bytes
                              : (double)trace.node_count * (double)GPHI_CACHE_NODE_BYTES,
            .seconds = trace.seconds};
        self->known_count = i + 1;
    }
    if (status == GPH_OK)
        fit(self, room);
    gphi_heap_free(self->heap, room, count * sizeof(*room));
    return status;
}

gph_status gph_cache_forecast_make(const gph_cache_options *options,
                                   const gph_cache_trace *traces, uint32_t trace_count,
                                   const gph_allocator *allocator,
                                   gph_cache_forecast *out, gph_error *error)
{
    gph_cache_options opt;
    GPHI_TRY(gphi_options_read(&opt, sizeof(opt), "gph_cache_options", options, error));
    GPHI_TRY(gphi_need(error, traces, out));
    if (trace_count == 0 || trace_count > GPH_CACHE_KEYS_MAX)
        return gphi_fail(error, GPH_E_INVALID, "%u traces: 1 to %u are taken",
                         trace_count, (unsigned)GPH_CACHE_KEYS_MAX);
    const gph_allocator heap = gphi_heap(allocator);
    gphi_layout layout;
    gph_cache_forecast result = {0};
    GPHI_TRY(gphi_layout_init(&layout, &opt, heap, error));
    struct forecast self = {.layout = &layout, .heap = heap};
    gph_status status = read_traces(&self, traces, trace_count, error);
    GPHI_THEN(status, add_up(&self, &result, error));
    gphi_heap_free(heap, self.known, trace_count * sizeof(*self.known));
    gphi_layout_fini(&layout);
    if (status == GPH_OK)
        gphi_struct_write(out, &result, sizeof(result));
    return status;
}

/* ---- a trace of what was recorded ---- */

static gph_status read_ranges(const gph_cache *cache, const gphi_entry *entry,
                              gph_plan_buffer *buffers, uint32_t capacity, uint32_t *used,
                              gph_error *error)
{
    gphi_vec ranges;
    gphi_vec_init(&ranges, cache->runtime->heap, sizeof(gph_pool_range));
    gph_status status = gphi_pool_list(cache->pool, entry->record->id, 0, &ranges, error);
    *used = 0;
    for (size_t i = 0; i < ranges.count && status == GPH_OK; i++) {
        const gph_pool_range *range = gphi_vec_at(&ranges, i);
        if (range->kind == GPH_RANGE_INPUT)
            continue;
        if (*used < capacity)
            buffers[*used] = (gph_plan_buffer){
                .lower = range->first, .upper = range->last, .size = range->bytes};
        (*used)++;
    }
    if (status == GPH_OK && *used > capacity)
        status =
            gphi_fail(error, GPH_E_INVALID, "%u buffers, room for %u", *used, capacity);
    gphi_vec_fini(&ranges);
    return status;
}

gph_status gph_cache_trace_get(const gph_cache *cache, uint32_t key,
                               gph_plan_buffer *buffers, uint32_t capacity,
                               gph_cache_trace *out, gph_error *error)
{
    if (!cache || !out || key >= cache->layout.key_count || (!buffers && capacity > 0))
        return gphi_fail(error, GPH_E_INVALID, "key %u: there is none", key);
    gph_cache *self = (gph_cache *)cache; /* for the lock */
    gphi_mutex_lock(&self->mutex);
    const gphi_bucket *bucket = &cache->buckets[key];
    const gphi_entry *entry = bucket->entry;
    gph_cache_trace trace = {.buffers = buffers};
    gph_status status =
        !entry ? gphi_fail(error, GPH_E_STATE, "%s: key %u is not captured", cache->name,
                           key)
               : read_ranges(cache, entry, buffers, capacity, &trace.buffer_count, error);
    if (status == GPH_OK) {
        gphi_layout_values(&cache->layout, key, trace.values);
        trace.node_count = entry->node_count;
        trace.exec_bytes = entry->own_exec_bytes;
        if (trace.exec_bytes == 0 && entry->class_index != GPHI_CLASS_NONE)
            trace.exec_bytes = gphi_class_at(cache, entry->class_index)->bytes;
        trace.seconds = (bucket->warmup_ms + bucket->capture_ms) * 1e-3;
        gphi_struct_write(out, &trace, sizeof(trace));
    }
    gphi_mutex_unlock(&self->mutex);
    return status;
}
