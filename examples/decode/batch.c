// SPDX-License-Identifier: Apache-2.0
/* The scheduler: slots, refill, and a bounded queue of steps.
 *
 *   refill: wait for the queue, prefill into the free slots
 *   step:   launch (30 kernels, or one graph), record an event
 *   when `queue` steps are in flight: wait for the oldest, read its row of the ring
 *   loop:   the device takes steps until slots have to be filled or all are done; the host
 *           sleeps, and then reads all rows of the ring
 */
#include "batch.h"

#include "fail.h"
#include <time.h>

enum { EVENT_DISABLE_TIMING = 2, QUEUE_MAX = 16 };

typedef struct batch {
    decoder *m;
    sequence *list;
    size_t count, started;
    int *owner;     /* by slot: its sequence, -1: free */
    prompt *prompt; /* room for a prefill of every slot */
    uint32_t live;  /* slots whose end has not been seen */
    uint32_t in_flight, unkept;
    uint64_t steps; /* launched */
    CUevent event[QUEUE_MAX];
    gph_exec *exec; /* NULL: eager, or a loop */
    gph_loop *loop; /* NULL: it is not one */
    bool is_filled; /* slots were, since the loop ended */
    batch_stats *stats;
    gph_error *error;
} batch;

/* When this many slots are free, waiting prompts are put into them. */
static uint32_t enough(const batch *b)
{
    return b->m->o.slots / 4 ? b->m->o.slots / 4 : 1;
}

/* Takes a token of a slot; frees the slot at the sequence's end. */
static void take(batch *b, uint32_t slot, int token)
{
    sequence *s = &b->list[b->owner[slot]];
    s->out[s->out_count++] = token;
    if (token == b->m->c.end || s->out_count == s->new_max) {
        b->owner[slot] = -1;
        b->live--;
    }
}

/* The tokens of a step that has ended. */
static void take_row(batch *b, uint64_t step)
{
    const int *given = b->m->ring + (size_t)(step % b->m->o.ring) * b->m->o.slots;
    for (uint32_t s = 0; s < b->m->o.slots; s++)
        if (given[s] >= 0 && b->owner[s] >= 0) {
            take(b, s, given[s]);
            b->stats->tokens++;
        }
}

static gph_status wait_oldest(batch *b)
{
    gph_error *error = b->error;
    const uint64_t step = b->steps - b->in_flight;
    CU(b->m->d, EventSynchronize, b->event[step % b->m->o.queue]);
    b->in_flight--;
    take_row(b, step);
    return GPH_OK;
}

static gph_status wait_all(batch *b)
{
    while (b->in_flight > 0)
        TRY(wait_oldest(b));
    return GPH_OK;
}

/* Every log_steps steps the logits on the device are fetched, before they are
 * overwritten. */
static gph_status keep_logits(batch *b)
{
    TRY(wait_all(b));
    TRY(decoder_keep(b->m, b->unkept, b->error));
    b->unkept = 0;
    return GPH_OK;
}

static gph_status launch_step(batch *b)
{
    gph_error *error = b->error;
    device *d = b->m->d;
    const uint64_t start = device_clock_ns(), launches = d->launches;
    if (b->exec != NULL) {
        TRY(gph_exec_launch(b->exec, d->stream, error));
        d->launches++;
    } else {
        TRY(decoder_step(b->m, error));
    }
    b->stats->host_ns += device_clock_ns() - start;
    CU(d, EventRecord, b->event[b->steps % b->m->o.queue], d->stream);
    b->stats->launches += d->launches - launches;
    b->steps++;
    b->in_flight++;
    b->unkept++;
    if (b->in_flight == b->m->o.queue)
        TRY(wait_oldest(b));
    if (b->unkept == b->m->log_steps)
        TRY(keep_logits(b));
    return GPH_OK;
}

/* ---- the loop ---- */

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Where the logits of all steps are compared, the loop takes the steps that are in flight
 * elsewhere when the host sees that slots are free. */
static gph_status set_going(batch *b)
{
    gph_error *error = b->error;
    const bool waits = b->started < b->count;
    const going_t words = {.going = 1,
                           .least = waits ? b->m->o.slots - enough(b) : 0,
                           .lag = b->m->o.keep_logits ? b->m->o.queue : 1};
    CU(b->m->d, MemcpyHtoDAsync, b->m->going, &words, sizeof(words), b->m->d->stream);
    b->is_filled = false;
    return GPH_OK;
}

/* Steps that the ring, and the log of logits, have room for. */
static uint64_t room_for(const batch *b)
{
    const uint64_t log = b->m->log_steps > 0 ? b->m->log_steps - b->unkept : UINT64_MAX;
    return log < b->m->o.ring ? log : b->m->o.ring;
}

/* Until slots have to be filled: whole answers, if nobody waits. */
static gph_status run_loop(batch *b)
{
    device *d = b->m->d;
    gph_loop_result result = GPH_SIZED(gph_loop_result);
    if (b->is_filled)
        TRY(set_going(b));
    TRY(gph_loop_limits_set(b->loop, room_for(b), 0, b->error));
    const uint64_t start = device_clock_ns(), cpu = cpu_ns();
    TRY(gph_loop_launch(b->loop, d->stream, b->error));
    b->stats->host_ns += device_clock_ns() - start;
    const gph_status status = gph_loop_wait(b->loop, d->stream, &result, b->error);
    b->stats->loop_cpu_ns += cpu_ns() - cpu;
    if (status != GPH_OK && result.end != GPH_LOOP_CEILING)
        return status; /* a full ring ends it as well, and it goes on */
    d->launches++;
    b->stats->launches++;
    b->stats->loops++;
    for (uint64_t i = 0; i < result.steps; i++)
        take_row(b, b->steps++);
    b->unkept += (uint32_t)result.steps;
    return b->unkept == b->m->log_steps ? keep_logits(b) : GPH_OK;
}

/* Puts waiting prompts into free slots, as many as one prefill takes. */
static uint32_t choose(batch *b)
{
    uint32_t chosen = 0, rows = 0;
    for (uint32_t slot = 0; slot < b->m->o.slots && b->started < b->count; slot++) {
        const sequence *s = &b->list[b->started];
        if (b->owner[slot] >= 0)
            continue;
        if (rows + s->prompt_count > b->m->rows_max)
            break;
        rows += s->prompt_count;
        b->owner[slot] = (int)b->started;
        b->prompt[chosen++] = (prompt){.token = s->prompt,
                                       .count = s->prompt_count,
                                       .slot = (int)slot,
                                       .limit = (int)(s->prompt_count + s->new_max - 1),
                                       .sequence = (int)b->started};
        b->started++;
    }
    b->stats->prompt_tokens += rows;
    return chosen;
}

static gph_status refill(batch *b)
{
    TRY(wait_all(b));
    if (b->m->o.progress != NULL)
        b->m->o.progress(b->loop   ? "loop"
                         : b->exec ? "graph"
                                   : "eager",
                         b->started - b->live, b->count);
    const uint64_t start = device_clock_ns();
    const uint32_t chosen = choose(b);
    TRY(decoder_prefill(b->m, b->prompt, chosen, b->error));
    b->live += chosen;
    b->is_filled = true;
    for (uint32_t i = 0; i < chosen; i++)
        take(b, (uint32_t)b->prompt[i].slot, b->m->first[i]);
    b->stats->prefills++;
    b->stats->prefill_ns += device_clock_ns() - start;
    return GPH_OK;
}

static gph_status run_all(batch *b)
{
    const uint32_t slots = b->m->o.slots;
    const uint64_t start = device_clock_ns();
    while (b->started < b->count || b->live > 0) {
        if (b->started < b->count && (b->live == 0 || slots - b->live >= enough(b)))
            TRY(refill(b));
        else if (b->loop != NULL)
            TRY(run_loop(b));
        else
            TRY(launch_step(b));
    }
    TRY(wait_all(b));
    b->stats->decode_ns = device_clock_ns() - start - b->stats->prefill_ns;
    b->stats->steps = b->steps;
    return keep_logits(b);
}

static gph_status make_loop(batch *b, CUgraph graph, gph_loop_way way)
{
    gph_loop_options options = GPH_LOOP_OPTIONS_INIT;
    options.way = (uint32_t)way;
    options.condition = b->m->going;
    options.ceiling = b->m->o.ring;
    options.name = "decode";
    options.stream = b->m->d->stream;
    TRY(gph_loop_create(b->m->d->runtime, graph, &options, &b->loop, b->error));
    return GPH_OK;
}

/* Captures one step; nothing runs meanwhile. */
static gph_status capture_step(batch *b, const batch_options *how)
{
    device *d = b->m->d;
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    const uint64_t start = device_clock_ns();
    TRY(gph_capture_begin(d->runtime, d->stream, NULL, &capture, b->error));
    gph_status status = how->mode == MODE_LOOP ? decoder_loop_step(b->m, b->error)
                                               : decoder_step(b->m, b->error);
    if (status != GPH_OK) {
        (void)gph_capture_abort(capture, NULL); /* the first failure is the one to
                                                   report */
        return status;
    }
    TRY(gph_capture_end(capture, &graph, b->error));
    status = how->mode == MODE_LOOP
                 ? make_loop(b, graph, how->way)
                 : gph_exec_create(d->runtime, graph, NULL, &b->exec, b->error);
    (void)d->cu->GraphDestroy(graph); /* the executable has all it needs */
    b->stats->capture_ns = device_clock_ns() - start;
    return status;
}

static gph_status prepare(batch *b, const batch_options *how)
{
    gph_error *error = b->error;
    decoder *m = b->m;
    const gph_allocator *heap = &m->d->heap;
    if (m->o.queue > QUEUE_MAX)
        return fail(error, GPH_E_INVALID, "a queue of %u steps, %d is the most",
                    m->o.queue, QUEUE_MAX);
    TRY(decoder_reset(m, error));
    b->owner = heap_alloc(heap, m->o.slots * sizeof(*b->owner));
    b->prompt = heap_alloc(heap, m->o.slots * sizeof(*b->prompt));
    if (b->owner == NULL || b->prompt == NULL)
        return fail(error, GPH_E_NO_MEMORY, "%u slots", m->o.slots);
    memset(b->owner, -1, m->o.slots * sizeof(*b->owner));
    for (uint32_t i = 0; i < m->o.queue; i++)
        CU(m->d, EventCreate, &b->event[i], EVENT_DISABLE_TIMING);
    const uint64_t launches = m->d->launches;
    if (how->mode != MODE_EAGER)
        TRY(capture_step(b, how));
    b->stats->nodes = (uint32_t)(m->d->launches - launches);
    return GPH_OK;
}

static void clean_up(batch *b)
{
    decoder *m = b->m;
    (void)m->d->cu->StreamSynchronize(m->d->stream); /* after a failure steps may run */
    b->stats->ways.size = sizeof(b->stats->ways);
    gph_loop_ways_get(b->loop, &b->stats->ways); /* after the launches that it measures */
    gph_exec_destroy(b->exec);
    gph_loop_destroy(b->loop);
    for (uint32_t i = 0; i < QUEUE_MAX; i++)
        if (b->event[i] != NULL)
            (void)m->d->cu->EventDestroy(b->event[i]);
    heap_free(&m->d->heap, b->owner, m->o.slots * sizeof(*b->owner));
    heap_free(&m->d->heap, b->prompt, m->o.slots * sizeof(*b->prompt));
}

gph_status batch_run(decoder *m, const batch_options *how, sequence *list, size_t count,
                     batch_stats *stats, gph_error *error)
{
    *stats = (batch_stats){0};
    batch b = {.m = m, .list = list, .count = count, .stats = stats, .error = error};
    for (size_t i = 0; i < count; i++)
        list[i].out_count = 0;
    gph_status status = prepare(&b, how);
    if (status == GPH_OK)
        status = run_all(&b);
    clean_up(&b);
    return status;
}
