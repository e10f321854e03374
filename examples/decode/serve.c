// SPDX-License-Identifier: Apache-2.0
/* Continuous batching. Every step takes the requests that are live, whatever their
 * number: the cache pads them to a bucket. Nothing is recorded before the first request:
 * a bucket that is missed runs eagerly, and the most missed one is captured between two
 * steps. */
#include "serve.h"

#include "fail.h"
#include "rows.h"
#include "speculate.h"

#include "examples/trace.h"

#include <gph/cache_figures.h>

typedef struct server {
    decoder *m;
    sequence *list;
    size_t count, started;
    uint64_t clock;        /* steps, and idle waits for the next arrival */
    uint64_t next_arrival; /* of list[started] */
    int *owner;            /* by slot: its sequence, -1: free */
    prompt *prompt;        /* room for a prefill of every slot */
    int *active;           /* pinned: the slots of the step's rows */
    int *given;            /* pinned: their tokens */
    uint32_t rows;
    gph_arena *arena;
    gph_pool *pool;
    gph_cache *cache; /* NULL: eager */
    serve_stats *stats;
    gph_error *error;
} server;

/* In steps: 64 requests that come almost at once, then 64 that come one by one. */
static uint64_t arrival_gap(size_t index)
{
    const uint64_t random = (index + 1) * 0x9E3779B97F4A7C15u >> 40;
    return index / 64 % 2 == 0 ? random % 8 == 0 : random % 8;
}

static void take(server *s, uint32_t slot, int token)
{
    sequence *q = &s->list[s->owner[slot]];
    q->out[q->out_count++] = token;
    if (token == s->m->c.end || q->out_count == q->new_max)
        s->owner[slot] = -1;
}

/* Puts what has arrived into free slots, as much as one prefill takes. */
static uint32_t choose(server *s)
{
    uint32_t chosen = 0, rows = 0;
    for (uint32_t slot = 0; slot < s->m->o.slots && s->started < s->count; slot++) {
        const sequence *q = &s->list[s->started];
        if (s->owner[slot] >= 0)
            continue;
        if (s->next_arrival > s->clock || rows + q->prompt_count > s->m->rows_max)
            break;
        rows += q->prompt_count;
        s->owner[slot] = (int)s->started;
        s->prompt[chosen++] = (prompt){.token = q->prompt,
                                       .count = q->prompt_count,
                                       .slot = (int)slot,
                                       .limit = (int)(q->prompt_count + q->new_max - 1),
                                       .sequence = (int)s->started};
        s->started++;
        s->next_arrival += arrival_gap(s->started);
    }
    s->stats->prompt_tokens += rows;
    return chosen;
}

static gph_status admit(server *s)
{
    const uint64_t start = device_clock_ns();
    const uint32_t chosen = choose(s);
    if (chosen == 0)
        return GPH_OK;
    TRY(decoder_prefill(s->m, s->prompt, chosen, s->error));
    for (uint32_t i = 0; i < chosen; i++)
        take(s, (uint32_t)s->prompt[i].slot, s->m->first[i]);
    s->stats->prefills++;
    s->stats->prefill_ns += device_clock_ns() - start;
    if (s->m->o.progress != NULL)
        s->m->o.progress(s->cache != NULL ? "cache" : "eager", s->started, s->count);
    return GPH_OK;
}

/* The step's work, by the cache: `out` is the token of each row. */
static gph_status call_cache(server *s, gph_tensor *out)
{
    const int64_t sizes[] = {s->rows};
    gph_cache_call_args call = GPH_CACHE_CALL_INIT;
    call.stream = s->m->d->stream;
    call.sizes = sizes;
    call.outputs = out; /* the input lies in the cache's buffer */
    return gph_cache_call(s->cache, &call, s->error);
}

static gph_status call_eager(server *s, CUdeviceptr active, gph_tensor *out)
{
    const int64_t rows = s->rows;
    const gph_tensor input = gph_tensor_dense(active, GPH_DTYPE_I32, 1, &rows);
    gph_callable_options how = GPH_CALLABLE_OPTIONS_INIT;
    how.function = rows_step;
    how.user = s->m;
    how.pool = s->pool;
    how.output_count = 1;
    const gph_arguments arguments = {.inputs = &input, .input_count = 1};
    return gph_function_call(s->m->d->runtime, &how, &arguments, s->m->d->stream, out,
                             s->error);
}

/* Where a step reads which slots it is over. */
static gph_status find_active(server *s, CUdeviceptr *out)
{
    gph_tensor input;
    *out = s->m->slot_ids; /* nobody else uses it here */
    if (s->cache == NULL)
        return GPH_OK;
    TRY(gph_cache_input(s->cache, 0, 0, &input, s->error));
    *out = input.data;
    return GPH_OK;
}

static gph_status step(server *s)
{
    gph_error *error = s->error;
    device *d = s->m->d;
    CUdeviceptr active = 0;
    gph_tensor out = {0};
    TRY(find_active(s, &active));
    const uint64_t start = device_clock_ns();
    CU(d, MemcpyHtoDAsync, active, s->active, s->rows * sizeof(int), d->stream);
    if (s->cache != NULL)
        TRY(call_cache(s, &out));
    else
        TRY(call_eager(s, active, &out));
    s->stats->host_ns += device_clock_ns() - start;
    CU(d, MemcpyDtoHAsync, s->given, out.data, s->rows * sizeof(int), d->stream);
    if (s->cache == NULL)
        TRY(gph_pool_free(s->pool, out.data, d->stream, error));
    else
        TRY(gph_cache_work(s->cache, d->stream, NULL, NULL, error));
    CU(d, StreamSynchronize, d->stream);
    for (uint32_t r = 0; r < s->rows; r++)
        if (s->given[r] >= 0)
            take(s, (uint32_t)s->active[r], s->given[r]);
    s->stats->steps++;
    s->stats->rows += s->rows;
    s->stats->tokens += s->rows;
    return GPH_OK;
}

static gph_status run_all(server *s)
{
    const uint64_t start = device_clock_ns();
    for (;; s->clock++) {
        TRY(admit(s));
        s->rows = 0;
        for (uint32_t slot = 0; slot < s->m->o.slots; slot++)
            if (s->owner[slot] >= 0)
                s->active[s->rows++] = (int)slot;
        if (s->rows > s->stats->rows_max)
            s->stats->rows_max = s->rows;
        if (s->rows > 0)
            TRY(step(s));
        else if (s->started == s->count)
            break;
    }
    s->stats->decode_ns = device_clock_ns() - start - s->stats->prefill_ns;
    return GPH_OK;
}

static gph_status make_cache(server *s)
{
    const gph_cache_axis axis = {
        .name = "requests", .ladder = GPH_LADDER_POWERS, .last = s->m->o.slots};
    const gph_cache_tensor active = {.dtype = GPH_DTYPE_I32,
                                     .rank = 1,
                                     .shape = {1},
                                     .axis = {1},
                                     .fill = GPH_FILL_VALUE,
                                     .value = UINT32_MAX}; /* -1: an idle row */
    const gph_cache_tensor given = {
        .dtype = GPH_DTYPE_I32, .rank = 1, .shape = {1}, .axis = {1}};
    gph_cache_options how = GPH_CACHE_OPTIONS_INIT;
    how.name = "decode";
    how.pool = s->pool;
    how.axes = &axis;
    how.axis_count = 1;
    how.inputs = &active;
    how.input_count = 1;
    how.outputs = &given;
    how.output_count = 1;
    how.function = rows_step;
    how.user = s->m;
    how.overshoot_max = 2;
    how.lazy_misses = 2;
    return gph_cache_create(s->m->d->runtime, &how, &s->cache, s->error);
}

static gph_status prepare(server *s, serve_mode mode)
{
    decoder *m = s->m;
    const gph_allocator *heap = &m->d->heap;
    void *pinned = NULL;
    TRY(decoder_reset(m, s->error));
    s->owner = heap_alloc(heap, m->o.slots * sizeof(*s->owner));
    s->prompt = heap_alloc(heap, m->o.slots * sizeof(*s->prompt));
    if (s->owner == NULL || s->prompt == NULL)
        return fail(s->error, GPH_E_NO_MEMORY, "%u slots", m->o.slots);
    memset(s->owner, -1, m->o.slots * sizeof(*s->owner));
    TRY(device_pin(m->d, m->o.slots * sizeof(int), &pinned, s->error));
    s->active = pinned;
    TRY(device_pin(m->d, m->o.slots * sizeof(int), &pinned, s->error));
    s->given = pinned;
    TRY(gph_arena_create(m->d->runtime, NULL, &s->arena, s->error));
    TRY(gph_pool_create(s->arena, NULL, &s->pool, s->error));
    return mode == SERVE_CACHE ? make_cache(s) : GPH_OK;
}

static void clean_up(server *s)
{
    decoder *m = s->m;
    (void)m->d->cu->StreamSynchronize(m->d->stream); /* after a failure steps may run */
    if (s->cache != NULL) {
        s->stats->cache.size = sizeof(s->stats->cache);
        gph_cache_stats_get(s->cache, &s->stats->cache);
        gph_buffer text = {s->stats->text, sizeof(s->stats->text), 0};
        gph_status written = gph_cache_write(s->cache, gph_write_buffer, &text, NULL);
        (void)written; /* text for the reader, nothing else hangs on it */
    }
    gph_cache_destroy(s->cache);
    gph_pool_release(s->pool);
    gph_arena_destroy(s->arena);
    heap_free(&m->d->heap, s->owner, m->o.slots * sizeof(*s->owner));
    heap_free(&m->d->heap, s->prompt, m->o.slots * sizeof(*s->prompt));
}

/* What the largest bucket that was recorded allocates. */
static gph_status save_trace(server *s, const char *path)
{
    enum { MOST = 256 };
    gph_plan_buffer buffers[MOST];
    gph_cache_trace trace = GPH_SIZED(gph_cache_trace);
    uint32_t key = gph_cache_key_count(s->cache);
    gph_status status = GPH_E_STATE;
    while (status == GPH_E_STATE && key > 0)
        status = gph_cache_trace_get(s->cache, --key, buffers, MOST, &trace, s->error);
    TRY(status);
    if (!trace_save(path, trace.buffers, trace.buffer_count))
        return fail(s->error, GPH_E_IO, "%.200s was not written", path);
    return GPH_OK;
}

gph_status serve_run(decoder *m, const serve_options *options, sequence *list,
                     size_t count, serve_stats *stats, gph_error *error)
{
    *stats = (serve_stats){0};
    for (size_t i = 0; i < count; i++)
        list[i].out_count = 0;
    if (options->mode == SERVE_TREE)
        return speculate_run(m, list, count, stats, error);
    server s = {.m = m, .list = list, .count = count, .stats = stats, .error = error};
    gph_status status = prepare(&s, options->mode);
    if (status == GPH_OK)
        status = run_all(&s);
    if (status == GPH_OK && s.cache != NULL && options->trace != NULL)
        status = save_trace(&s, options->trace);
    clean_up(&s);
    return status;
}
