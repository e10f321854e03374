// SPDX-License-Identifier: Apache-2.0
/* The server: admits what has arrived into free slots, keeps a few steps in flight, and reads
 * tokens from pinned memory as graphs end. Who launches them is the only difference:
 *
 *   host     copies the request to the device, launches, records an event, asks for it
 *   device   writes the request into the queue, reads how many have ended
 */
#include "online.h"

#include "fail.h"
#include "step.h"

#include <sched.h>
#include <stdlib.h>

enum { ADMIT, STEP, KINDS };
enum { IN_FLIGHT = 64, EVENT_DISABLE_TIMING = 2, NOT_READY = 600 };

/* A graph that was asked for and has not been seen to end. */
typedef struct asked {
    int kind;
    uint64_t index; /* of the sequence, or of the step */
} asked;

typedef struct server {
    decoder *m;
    sequence *list;
    size_t count, sent, ended;                               /* requests */
    uint64_t begun, gap_ns, *arrives, *first_ns, *answer_ns; /* by sequence */
    int *owner;                                              /* by slot; -1: free */
    int *firsts; /* pinned, by sequence: its first token */
    uint32_t live, steps_in_flight;
    asked queue[IN_FLIGHT];
    uint64_t asked, done;
    gph_dispatch *dispatch; /* NULL: the host launches */
    gph_exec *exec[KINDS];
    CUevent event[IN_FLIGHT];
    ask_t *asks; /* pinned, IN_FLIGHT of them */
    CUdeviceptr block;
    online_stats *stats;
    gph_error *error;
} server;

/* ---- asking for a graph ---- */

static gph_status launch(server *s, int kind, const ask_t *ask)
{
    gph_error *error = s->error;
    device *d = s->m->d;
    const uint64_t place = s->asked % IN_FLIGHT;
    if (ask) {
        s->asks[place] = *ask;
        CU(d, MemcpyHtoDAsync, s->block, &s->asks[place], sizeof(*ask), d->stream);
    }
    TRY(gph_exec_launch(s->exec[kind], d->stream, error));
    CU(d, EventRecord, s->event[place], d->stream);
    return GPH_OK;
}

static gph_status ask_for(server *s, int kind, uint64_t index, const ask_t *ask)
{
    const uint64_t start = device_clock_ns();
    if (s->dispatch)
        TRY(gph_dispatch_send(s->dispatch, (uint32_t)kind, ask, ask ? sizeof(*ask) : 0,
                              NULL, s->error));
    else
        TRY(launch(s, kind, ask));
    s->stats->host_ns += device_clock_ns() - start;
    s->stats->calls++;
    s->queue[s->asked++ % IN_FLIGHT] = (asked){.kind = kind, .index = index};
    return GPH_OK;
}

/* How many have ended, in the order in which they were asked for. */
static gph_status count_done(const server *s, uint64_t *done)
{
    *done = s->done;
    if (s->dispatch) {
        *done = gph_dispatch_done(s->dispatch);
        return GPH_OK;
    }
    while (*done < s->asked) {
        const gph_status status = s->m->d->cu->EventQuery(s->event[*done % IN_FLIGHT]);
        if (status == NOT_READY)
            return GPH_OK;
        TRY(gph_cuda_check(status, "cuEventQuery", s->error));
        ++*done;
    }
    return GPH_OK;
}

/* ---- what ended ---- */

static void take(server *s, uint32_t slot, int token, uint64_t now)
{
    const size_t index = (size_t)s->owner[slot];
    sequence *q = &s->list[index];
    q->out[q->out_count++] = token;
    if (q->out_count == 1)
        s->first_ns[index] = now - s->arrives[index];
    if (token != s->m->c.end && q->out_count != q->new_max)
        return;
    s->answer_ns[index] = now - s->arrives[index];
    s->owner[slot] = -1;
    s->live--;
    s->ended++;
}

static void take_step(server *s, uint64_t step, uint64_t now)
{
    const uint32_t slots = s->m->o.slots;
    const int *row = s->m->ring + (size_t)(step % s->m->o.ring) * slots;
    for (uint32_t slot = 0; slot < slots; slot++)
        if (row[slot] >= 0 && s->owner[slot] >= 0) {
            take(s, slot, row[slot], now);
            s->stats->tokens++;
        }
    s->steps_in_flight--;
}

static gph_status look(server *s)
{
    uint64_t done = 0;
    TRY(count_done(s, &done));
    const uint64_t now = device_clock_ns();
    for (; s->done < done; s->done++) {
        const asked *a = &s->queue[s->done % IN_FLIGHT];
        if (a->kind == STEP) {
            take_step(s, a->index, now);
            continue;
        }
        for (uint32_t slot = 0; slot < s->m->o.slots; slot++)
            if (s->owner[slot] == (int)a->index) {
                take(s, slot, s->firsts[a->index], now);
                break;
            }
    }
    return GPH_OK;
}

/* ---- what is next ---- */

static gph_status admit(server *s, uint32_t slot)
{
    const sequence *q = &s->list[s->sent];
    ask_t ask = {.start = {.slot = (int)slot,
                           .position = (int)q->prompt_count,
                           .limit = (int)(q->prompt_count + q->new_max - 1),
                           .sequence = (int)s->sent},
                 .count = q->prompt_count};
    for (uint32_t i = 0; i < q->prompt_count; i++)
        ask.token[i] = (unsigned short)q->prompt[i];
    s->owner[slot] = (int)s->sent;
    s->live++;
    return ask_for(s, ADMIT, s->sent++, &ask);
}

static gph_status admit_some(server *s, uint64_t now)
{
    for (uint32_t slot = 0; slot < s->m->o.slots && s->sent < s->count; slot++) {
        if (s->arrives[s->sent] > now || s->asked - s->done >= IN_FLIGHT - s->m->o.queue)
            return GPH_OK;
        if (s->owner[slot] < 0)
            TRY(admit(s, slot));
    }
    return GPH_OK;
}

static gph_status serve(server *s)
{
    s->begun = device_clock_ns();
    uint64_t at = s->begun;
    for (size_t i = 0; i < s->count; i++) {
        const uint64_t random = (i + 1) * 0x9E3779B97F4A7C15u >> 40;
        s->arrives[i] = at;
        at += random % (2 * s->gap_ns + 1);
    }
    while (s->ended < s->count) {
        const uint64_t before = s->asked, done = s->done;
        TRY(admit_some(s, device_clock_ns()));
        while (s->live > 0 && s->steps_in_flight < s->m->o.queue) {
            TRY(ask_for(s, STEP, s->stats->steps++, NULL));
            s->steps_in_flight++;
        }
        TRY(look(s));
        if (s->asked == before && s->done == done)
            sched_yield();
    }
    s->stats->all_ns = device_clock_ns() - s->begun;
    return GPH_OK;
}

/* ---- making ---- */

static gph_status capture(server *s, int kind, CUdeviceptr ask, CUdeviceptr to,
                          CUgraph *out)
{
    gph_capture *capture = NULL;
    TRY(gph_capture_begin(s->m->d->runtime, s->m->d->stream, NULL, &capture, s->error));
    const gph_status status = kind == ADMIT ? step_admit(s->m, ask, to, s->error)
                                            : decoder_step(s->m, s->error);
    if (status != GPH_OK) {
        (void)gph_capture_abort(capture, NULL); /* the first failure is the one to
                                                   report */
        return status;
    }
    return gph_capture_end(capture, out, s->error);
}

static gph_status add(server *s, int kind, CUdeviceptr to)
{
    CUgraph graph = NULL;
    const CUdeviceptr ask = s->dispatch ? gph_dispatch_block(s->dispatch) : s->block;
    TRY(capture(s, kind, ask, to, &graph));
    const gph_status status =
        s->dispatch
            ? gph_dispatch_add(s->dispatch, (uint32_t)kind, graph, s->error)
            : gph_exec_create(s->m->d->runtime, graph, NULL, &s->exec[kind], s->error);
    (void)s->m->d->cu->GraphDestroy(graph); /* the executable has all it needs */
    return status;
}

static gph_status make(server *s, bool by_device)
{
    gph_error *error = s->error;
    device *d = s->m->d;
    gph_dispatch_options how = GPH_DISPATCH_OPTIONS_INIT;
    void *pinned = NULL;
    TRY(device_pin(d, s->count * sizeof(int), &pinned, error));
    s->firsts = pinned;
    const CUdeviceptr to = (CUdeviceptr)(uintptr_t)pinned; /* the same on both sides */
    TRY(device_pin(d, IN_FLIGHT * sizeof(ask_t), &pinned, error));
    s->asks = pinned;
    TRY(device_alloc(d, sizeof(ask_t), &s->block, error));
    for (int i = 0; i < IN_FLIGHT; i++)
        CU(d, EventCreate, &s->event[i], EVENT_DISABLE_TIMING);
    how.name = "decode";
    how.order = GPH_DISPATCH_IN_ORDER;
    if (by_device)
        TRY(gph_dispatch_create(d->runtime, &how, &s->dispatch, error));
    for (int kind = 0; kind < KINDS; kind++)
        TRY(add(s, kind, to));
    return by_device ? gph_dispatch_start(s->dispatch, error) : GPH_OK;
}

static gph_status prepare(server *s, bool by_device)
{
    decoder *m = s->m;
    const gph_allocator *heap = &m->d->heap;
    for (size_t i = 0; i < s->count; i++) {
        s->list[i].out_count = 0;
        if (s->list[i].prompt_count > ASK_TOKENS)
            return fail(s->error, GPH_E_UNSUPPORTED,
                        "a prompt of %u tokens, a request here has up to %d",
                        s->list[i].prompt_count, ASK_TOKENS);
    }
    if (m->c.vocab > 65536)
        return fail(s->error, GPH_E_UNSUPPORTED,
                    "a model of %u tokens, a request here has 16 bits for each",
                    m->c.vocab);
    TRY(decoder_reset(m, s->error));
    s->owner = heap_alloc(heap, m->o.slots * sizeof(*s->owner));
    s->arrives = heap_alloc(heap, 3 * s->count * sizeof(*s->arrives));
    if (s->owner == NULL || s->arrives == NULL)
        return fail(s->error, GPH_E_NO_MEMORY, "%zu requests", s->count);
    s->first_ns = s->arrives + s->count;
    s->answer_ns = s->first_ns + s->count;
    memset(s->owner, -1, m->o.slots * sizeof(*s->owner));
    return make(s, by_device);
}

static void clean_up(server *s)
{
    decoder *m = s->m;
    s->stats->dispatch.size = sizeof(s->stats->dispatch);
    gph_dispatch_stats_get(s->dispatch, &s->stats->dispatch);
    gph_dispatch_destroy(s->dispatch);
    (void)m->d->cu->StreamSynchronize(m->d->stream); /* after a failure steps may run */
    for (int kind = 0; kind < KINDS; kind++)
        gph_exec_destroy(s->exec[kind]);
    for (int i = 0; i < IN_FLIGHT; i++)
        if (s->event[i] != NULL)
            (void)m->d->cu->EventDestroy(s->event[i]);
    heap_free(&m->d->heap, s->owner, m->o.slots * sizeof(*s->owner));
    heap_free(&m->d->heap, s->arrives, 3 * s->count * sizeof(*s->arrives));
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void summarize(server *s)
{
    qsort(s->first_ns, s->count, sizeof(*s->first_ns), by_size);
    qsort(s->answer_ns, s->count, sizeof(*s->answer_ns), by_size);
    s->stats->first_p50 = s->first_ns[s->count / 2];
    s->stats->first_p99 = s->first_ns[s->count * 99 / 100];
    s->stats->answer_p50 = s->answer_ns[s->count / 2];
    s->stats->answer_p99 = s->answer_ns[s->count * 99 / 100];
}

gph_status online_run(decoder *m, bool by_device, uint64_t gap_ns, sequence *list,
                      size_t count, online_stats *stats, gph_error *error)
{
    *stats = (online_stats){0};
    server s = {.m = m,
                .list = list,
                .count = count,
                .gap_ns = gap_ns,
                .stats = stats,
                .error = error};
    gph_status status = prepare(&s, by_device);
    if (status == GPH_OK)
        status = serve(&s);
    if (status == GPH_OK && s.dispatch)
        status = gph_dispatch_stop(s.dispatch, error);
    if (status == GPH_OK)
        summarize(&s);
    clean_up(&s);
    return status;
}
