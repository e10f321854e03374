// SPDX-License-Identifier: Apache-2.0
/* The scheduler: slots, refill, and a bounded queue of steps.
 *
 *   refill: wait for the queue, prefill into the free slots
 *   step:   launch (30 kernels, or one graph), record an event
 *   when `queue` steps are in flight: wait for the oldest, read its row of the ring
 */
#include "batch.h"

#include "fail.h"

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
    gph_exec *exec; /* NULL: eager */
    batch_stats *stats;
    gph_error *error;
} batch;

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

static gph_status wait_oldest(batch *b)
{
    gph_error *error = b->error;
    const uint64_t step = b->steps - b->in_flight;
    const uint32_t row = (uint32_t)(step % b->m->o.queue);
    CU(b->m->d, EventSynchronize, b->event[row]);
    b->in_flight--;
    const int *told = b->m->ring + (size_t)row * b->m->o.slots;
    for (uint32_t s = 0; s < b->m->o.slots; s++)
        if (told[s] >= 0 && b->owner[s] >= 0) {
            take(b, s, told[s]);
            b->stats->tokens++;
        }
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
    const uint32_t row = (uint32_t)(b->steps % b->m->o.queue);
    const uint64_t start = device_clock_ns(), launches = d->launches;
    if (b->exec != NULL) {
        TRY(gph_exec_launch(b->exec, d->stream, error));
        d->launches++;
    } else {
        TRY(decoder_step(b->m, error));
    }
    b->stats->host_ns += device_clock_ns() - start;
    CU(d, EventRecord, b->event[row], d->stream);
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
        b->m->o.progress(b->exec ? "graph" : "eager", b->started - b->live, b->count);
    const uint64_t start = device_clock_ns();
    const uint32_t chosen = choose(b);
    TRY(decoder_prefill(b->m, b->prompt, chosen, b->error));
    b->live += chosen;
    for (uint32_t i = 0; i < chosen; i++)
        take(b, (uint32_t)b->prompt[i].slot, b->m->first[i]);
    b->stats->prefills++;
    b->stats->prefill_ns += device_clock_ns() - start;
    return GPH_OK;
}

static gph_status run_all(batch *b)
{
    const uint32_t slots = b->m->o.slots, enough = slots / 4 ? slots / 4 : 1;
    const uint64_t start = device_clock_ns();
    while (b->started < b->count || b->live > 0) {
        if (b->started < b->count && (b->live == 0 || slots - b->live >= enough))
            TRY(refill(b));
        else
            TRY(launch_step(b));
    }
    TRY(wait_all(b));
    b->stats->decode_ns = device_clock_ns() - start - b->stats->prefill_ns;
    b->stats->steps = b->steps;
    return keep_logits(b);
}

/* Captures one step; nothing runs meanwhile. */
static gph_status capture_step(batch *b)
{
    device *d = b->m->d;
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    const uint64_t start = device_clock_ns();
    TRY(gph_capture_begin(d->runtime, d->stream, NULL, &capture, b->error));
    gph_status status = decoder_step(b->m, b->error);
    if (status != GPH_OK) {
        (void)gph_capture_abort(capture, NULL); /* the first failure is the one to tell */
        return status;
    }
    TRY(gph_capture_end(capture, &graph, b->error));
    status = gph_exec_create(d->runtime, graph, NULL, &b->exec, b->error);
    (void)d->cu->GraphDestroy(graph); /* the executable has all it needs */
    b->stats->capture_ns = device_clock_ns() - start;
    return status;
}

static gph_status prepare(batch *b, decode_mode mode)
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
    if (mode == MODE_GRAPH)
        TRY(capture_step(b));
    b->stats->nodes = (uint32_t)(m->d->launches - launches);
    return GPH_OK;
}

static void clean_up(batch *b)
{
    decoder *m = b->m;
    (void)m->d->cu->StreamSynchronize(m->d->stream); /* after a failure steps may run */
    gph_exec_destroy(b->exec);
    for (uint32_t i = 0; i < QUEUE_MAX; i++)
        if (b->event[i] != NULL)
            (void)m->d->cu->EventDestroy(b->event[i]);
    heap_free(&m->d->heap, b->owner, m->o.slots * sizeof(*b->owner));
    heap_free(&m->d->heap, b->prompt, m->o.slots * sizeof(*b->prompt));
}

gph_status batch_run(decoder *m, decode_mode mode, sequence *list, size_t count,
                     batch_stats *stats, gph_error *error)
{
    *stats = (batch_stats){0};
    batch b = {.m = m, .list = list, .count = count, .stats = stats, .error = error};
    for (size_t i = 0; i < count; i++)
        list[i].out_count = 0;
    gph_status status = prepare(&b, mode);
    if (status == GPH_OK)
        status = run_all(&b);
    clean_up(&b);
    return status;
}
