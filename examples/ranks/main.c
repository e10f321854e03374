// SPDX-License-Identifier: Apache-2.0
/* ranks: a decoder whose matrices are split over several processes, one per GPU. Each token
 * takes two sums over the ranks a layer, and is one graph on every rank.
 *
 *   examples/ranks/run.sh 2          mpirun -n 2 ranks          torchrun --no-python ... ranks
 *
 * What a program of ranks has to do, in the order of this file: meet; agree on what all of
 * them do; prepare, and go on only where all could; record, and launch only what all have
 * recorded alike; wait with an eye on the others; leave in order. */
#include "examples/decode/fail.h"
#include "examples/decode/step.h"
#include "options.h"
#include "shard.h"
#include <gph/ranks_comm.h>
#include <math.h>
#include <stdlib.h>

enum { REQUESTS_MAX = 16, PROMPT_MAX = 8 };

/* A request: the tokens of its prompt. */
typedef struct request {
    uint32_t count;
    int token[PROMPT_MAX];
} request;

typedef struct program {
    gph_allocator heap;
    options o;
    gph_ranks *ranks;
    uint32_t rank, count;
    request requests[REQUESTS_MAX]; /* of rank 0, once all know them */
    uint32_t request_count, bucket; /* bucket: slots of the decoder */
    device d;
    weights whole, part;  /* of the model: all of it, and what this rank has */
    decoder split, alone; /* alone: rank 0's, with --check: the model by itself */
    gph_comm *comm;       /* of the running mode */
    CUgraph graph;
    gph_exec *exec;
    int *tokens, *wanted; /* [request][token]; wanted: of one rank */
    uint64_t *times;      /* ns of each repetition */
} program;

static void *plain_realloc(void *user, void *ptr, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

/* Requests come in at rank 0; the others learn of them, and of the bucket that all take. */
static gph_status share_requests(program *p, gph_error *error)
{
    request mine[REQUESTS_MAX] = {0};
    int64_t most = 0;
    for (uint32_t i = 0; p->rank == 0 && i < p->o.requests; i++) {
        mine[i].count = 3 + i % 3;
        for (uint32_t k = 0; k < mine[i].count; k++)
            mine[i].token[k] = (int)((37 * i + 11 * k + 5) % p->whole.c.vocab);
    }
    TRY(gph_ranks_most(p->ranks, "bucket", p->rank == 0 ? p->o.requests : 0, &most,
                       error));
    p->request_count = (uint32_t)most;
    for (p->bucket = 1; p->bucket < p->request_count;)
        p->bucket *= 2;
    const size_t bytes = p->count * sizeof(mine);
    request *all = heap_alloc(&p->heap, bytes);
    if (all == NULL)
        return fail(error, GPH_E_NO_MEMORY, "requests of %u ranks", p->count);
    const gph_status status =
        gph_ranks_gather(p->ranks, "requests", mine, sizeof(mine), all, error);
    if (status == GPH_OK)
        memcpy(p->requests, all, sizeof(p->requests));
    heap_free(&p->heap, all, bytes);
    return status;
}

/* What is between the decoder's matrices: the sum over the ranks, eager or captured. */
static gph_status sum_over_ranks(void *user, CUdeviceptr data, uint64_t floats,
                                 gph_error *error)
{
    program *p = user;
    return gph_comm_all_reduce(p->comm, data, data, floats, GPH_DTYPE_F32, GPH_COMM_SUM,
                               p->d.stream, error);
}

static gph_status prepare_memory(program *p, gph_error *error)
{
    const size_t tokens = (size_t)p->request_count * p->o.tokens * sizeof(int);
    p->tokens = heap_alloc(&p->heap, tokens);
    p->wanted = heap_alloc(&p->heap, tokens);
    p->times = heap_alloc(&p->heap, p->o.repeat * sizeof(*p->times));
    if (p->tokens == NULL || p->wanted == NULL || p->times == NULL)
        return fail(error, GPH_E_NO_MEMORY, "%u tokens, %u times", p->o.tokens,
                    p->o.repeat);
    return GPH_OK;
}

/* Everything that one rank does alone before the first collective. */
static gph_status prepare(program *p, gph_error *error)
{
    decoder_options how = {.slots = p->bucket,
                           .context = PROMPT_MAX + p->o.tokens,
                           .queue = p->o.tokens,
                           .keep_logits = p->o.check,
                           .sum = sum_over_ranks,
                           .sum_user = p};
    const device_options where = {
        .driver = getenv("GPH_DRIVER") ? GPH_DRIVER_DEFAULT : GPH_DRIVER_AUTO,
        .device = gph_ranks_local(p->ranks), /* where GPUs are fewer, ranks share them */
        .kernels = RANKS_KERNELS_DIR};
    TRY(prepare_memory(p, error));
    TRY(shard_make(&p->whole, p->rank, p->count, &p->part, error));
    TRY(device_open(&p->heap, &where, &p->d, error));
    TRY(decoder_init(&p->split, &p->d, &p->part, &how, error));
    how.sum = NULL;
    return p->o.check && p->rank == 0
               ? decoder_init(&p->alone, &p->d, &p->whole, &how, error)
               : GPH_OK;
}

/* One captured step. What a rank could not record no other one launches, and what they
 * recorded is the same collectives in the same order, or nobody launches it. */
static gph_status record(program *p, gph_error *error)
{
    gph_capture *capture = NULL;
    gph_error cause = {0};
    gph_status status =
        gph_capture_begin(p->d.runtime, p->d.stream, NULL, &capture, &cause);
    if (status == GPH_OK) {
        status = decoder_step(&p->split, &cause);
        if (status == GPH_OK)
            status = gph_capture_end(capture, &p->graph, &cause);
        else
            gph_capture_abort(capture, NULL);
    }
    if (status == GPH_OK)
        status = gph_exec_create(p->d.runtime, p->graph, NULL, &p->exec, &cause);
    TRY(gph_ranks_all(p->ranks, "capture", status, &cause, error));
    return gph_comm_graph_agree(p->comm, p->graph, error);
}

/* The executable first, then its graph, then the communicator that both have recorded. */
static void forget(program *p)
{
    gph_exec_destroy(p->exec);
    if (p->graph != NULL)
        (void)p->d.cu->GraphDestroy(p->graph);
    gph_comm_destroy(p->comm);
    p->exec = NULL;
    p->graph = NULL;
    p->comm = NULL;
}

/* Never cuStreamSynchronize(): a rank that has died would be waited for, forever. */
static gph_status wait(program *p, gph_error *error)
{
    return gph_ranks_wait(p->ranks, p->d.runtime, p->d.stream, error);
}

/* Answers all requests once; *ns is what the steps took, prompts not counted. */
static gph_status answer(program *p, decoder *m, int *tokens, uint64_t *ns,
                         gph_error *error)
{
    prompt list[REQUESTS_MAX];
    const int all = (int)(PROMPT_MAX + p->o.tokens);
    for (uint32_t i = 0; i < p->request_count; i++)
        list[i] = (prompt){.token = p->requests[i].token,
                           .count = p->requests[i].count,
                           .slot = (int)i,
                           .limit = all,
                           .sequence = (int)i};
    const uint32_t steps = p->o.tokens - 1; /* the prompt gives the first token */
    TRY(decoder_reset(m, error));
    TRY(step_prefill(m, list, p->request_count, error));
    TRY(wait(p, error));
    CU(&p->d, MemcpyDtoH, m->first, m->next, p->request_count * sizeof(int));
    const uint64_t start = device_clock_ns();
    for (uint32_t i = 0; i < steps; i++) {
        TRY(p->exec ? gph_exec_launch(p->exec, p->d.stream, error)
                    : decoder_step(m, error));
        if ((i + 1) % p->o.ahead == 0 || i + 1 == steps)
            TRY(wait(p, error)); /* tokens go from step to step on the device */
    }
    *ns = device_clock_ns() - start;
    for (uint32_t i = 0; i < p->request_count; i++) {
        int *to = tokens + (size_t)i * p->o.tokens;
        to[0] = m->first[i];
        for (uint32_t k = 0; k < steps; k++)
            to[k + 1] = m->ring[(size_t)k * p->bucket + i];
    }
    return decoder_keep(m, steps < m->log_steps ? steps : m->log_steps, error);
}

/* On rank 0: are tokens the same, and logits close to, what one rank computes? */
static gph_status compare(const program *p, gph_error *error)
{
    float most = 0, off = 0;
    for (size_t i = 0; i < (size_t)p->request_count * p->o.tokens; i++)
        if (p->tokens[i] != p->wanted[i])
            return fail(error, GPH_E_STATE,
                        "token %zu of request %zu is %d, and %d by one rank",
                        i % p->o.tokens, i / p->o.tokens, p->tokens[i], p->wanted[i]);
    for (size_t i = 0; i < p->alone.kept_count; i++) {
        most = fmaxf(most, fabsf(p->alone.kept[i]));
        const float now = fabsf(p->alone.kept[i] - p->split.kept[i]);
        off = now > off || isnan(now) ? now : off;
    }
    if (!(off * 1000 <= most))
        return fail(error, GPH_E_STATE, "logits to %g are %g off", (double)most,
                    (double)off);
    return GPH_OK;
}

/* All ranks have the same tokens, and rank 0 has compared its own. */
static gph_status check(program *p, gph_error *error)
{
    gph_error cause = {0};
    char text[32];
    uint64_t hash = 0;
    for (size_t i = 0; i < (size_t)p->request_count * p->o.tokens; i++)
        hash = hash * 0x100000001B3u + (uint64_t)p->tokens[i];
    snprintf(text, sizeof(text), "%016llx", (unsigned long long)hash);
    TRY(gph_ranks_agree(p->ranks, "tokens", text, error));
    const gph_status status = p->o.check && p->rank == 0 ? compare(p, &cause) : GPH_OK;
    return gph_ranks_all(p->ranks, "check", status, &cause, error);
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* A mode from communicator to the end of its work. `us`: the median of a token. */
static gph_status run_mode(program *p, bool graph, double *us, gph_error *error)
{
    if (graph)
        TRY(record(p, error));
    for (uint32_t i = 0; i < p->o.repeat; i++) {
        int64_t slowest = 0;
        uint64_t ns = 0;
        TRY(answer(p, &p->split, p->tokens, &ns, error));
        TRY(gph_ranks_most(p->ranks, "time", (int64_t)ns, &slowest, error));
        p->times[i] = (uint64_t)slowest;
    }
    qsort(p->times, p->o.repeat, sizeof(*p->times), by_size);
    *us = (double)p->times[p->o.repeat / 2] / 1000 / (p->o.tokens - 1);
    return check(p, error);
}

static gph_status run_modes(program *p, gph_error *error)
{
    static const struct {
        const char *name;
        unsigned bit;
        gph_comm_way way;
        bool graph;
    } modes[] = {{"eager, NCCL", RUN_EAGER, GPH_COMM_NCCL, false},
                 {"eager, own", RUN_EAGER, GPH_COMM_OWN, false},
                 {"graph, NCCL", RUN_GRAPH, GPH_COMM_NCCL, true},
                 {"graph, own", RUN_OWN, GPH_COMM_OWN, true}};
    const uint64_t floats = REQUESTS_MAX * PROMPT_MAX * (uint64_t)p->whole.c.width;
    gph_status status = GPH_OK;
    double first = 0, us = 0;
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if ((p->o.modes & modes[i].bit) == 0)
            continue;
        gph_comm_options how = GPH_COMM_OPTIONS_INIT;
        how.way = modes[i].way;
        how.own_bytes = floats * sizeof(float);
        status = gph_comm_create(p->ranks, p->d.runtime, &how, &p->comm, error);
        if (status == GPH_E_UNSUPPORTED || status == GPH_E_INVALID) { /* on all ranks */
            if (p->rank == 0)
                printf("%-11s is left out: %s\n", modes[i].name, error->message);
            continue;
        }
        if (status == GPH_OK)
            status = run_mode(p, modes[i].graph, &us, error);
        forget(p);
        TRY(status);
        first = first > 0 ? first : us;
        if (p->rank == 0)
            options_print_mode(&p->o, modes[i].name, us, first);
    }
    return first > 0 ? GPH_OK : status; /* all left out: why the last one was */
}

static gph_status run(program *p, gph_error *error)
{
    gph_error cause = {0};
    char text[GPH_RANKS_TEXT_MAX];
    uint64_t ns = 0;
    TRY(gph_ranks_open(NULL, &p->ranks, error));
    p->rank = gph_ranks_rank(p->ranks);
    p->count = gph_ranks_count(p->ranks);
    options_text(&p->o, text, sizeof(text));
    TRY(gph_ranks_agree(p->ranks, "options", text, error));
    gph_status status =
        p->o.model ? weights_load(&p->heap, p->o.model, &p->whole, &cause)
                   : shard_random(&p->heap, p->o.width, p->o.layers, &p->whole, &cause);
    TRY(gph_ranks_all(p->ranks, "model", status, &cause, error));
    TRY(share_requests(p, error));
    status = prepare(p, &cause);
    if (status == GPH_OK && p->o.check && p->rank == 0)
        status = answer(p, &p->alone, p->wanted, &ns, &cause);
    TRY(gph_ranks_all(p->ranks, "prepare", status, &cause, error));
    if (p->rank == 0)
        printf("%u ranks, each with %u of %u heads; %u requests in a bucket of %u\n",
               p->count, p->part.c.heads, p->whole.c.heads, p->request_count, p->bucket);
    fflush(stdout);
    TRY(run_modes(p, error));
    for (uint32_t i = 0; p->rank == 0 && i < p->request_count; i++)
        options_print_tokens(&p->o, i, p->tokens + (size_t)i * p->o.tokens);
    return GPH_OK;
}

int main(int count, char **words)
{
    program p = {.heap = {plain_realloc, NULL}};
    gph_error error = {0};
    gph_status status = options_read(count, words, &p.o, &error);
    if (status == GPH_OK)
        status = run(&p, &error);
    if (status != GPH_OK) {
        fprintf(stderr, "ranks: %s (says rank %u)\n", error.message, p.rank);
        if (p.ranks != NULL)
            gph_ranks_fail(p.ranks, &error); /* the others do not have to find out */
    }
    const size_t tokens = (size_t)p.request_count * p.o.tokens * sizeof(int);
    decoder_fini(&p.split); /* work and graphs have gone with their modes */
    decoder_fini(&p.alone);
    gph_ranks_close(p.ranks); /* before the driver: what ranks share is memory of it */
    if (p.d.heap.realloc != NULL)
        device_close(&p.d);
    heap_free(&p.heap, p.tokens, tokens);
    heap_free(&p.heap, p.wanted, tokens);
    heap_free(&p.heap, p.times, p.o.repeat * sizeof(*p.times));
    weights_fini(&p.whole);
    weights_fini(&p.part);
    return status != GPH_OK;
}
