// SPDX-License-Identifier: Apache-2.0
/* Up to which size the own kernel is the faster way: captured sums of both, replayed in
 * turns, on all ranks at once. The slowest rank's median counts, since the others wait for
 * it. */
#include "base/fail.h"
#include "base/heap.h"
#include "cuda/status.h"
#include "ranks/comm.h"

#include <stdlib.h>
#include <string.h>

const uint32_t gphi_comm_sizes[GPHI_COMM_SIZES] = {
    1 << 10, 4 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10};

enum { WAYS = 2, SUMS = 10, ROUNDS = 7, FIRST = 2 /* rounds that do not count */ };

static const gph_comm_way ways[WAYS] = {GPH_COMM_OWN, GPH_COMM_NCCL};

struct trial {
    gph_comm *comm;
    unsigned sizes;
    CUstream stream;
    CUevent events[2];
    CUdeviceptr memory; /* of the largest size */
    CUgraphExec execs[WAYS][GPHI_COMM_SIZES];
    float ms[WAYS][GPHI_COMM_SIZES][ROUNDS];
};

/* What is measured on all ranks. */
struct medians {
    double us[WAYS][GPHI_COMM_SIZES];
};

static gph_status check(CUresult result, const char *call, gph_error *error)
{
    return gphi_cuda_check(error, result, call, "measuring a communicator");
}

static gph_status put_sum(struct trial *trial, int way, unsigned size, gph_error *error)
{
    const gphi_comm_record record = {.count = gphi_comm_sizes[size] / 2,
                                     .kind = GPHI_COMM_REDUCE,
                                     .dtype = GPH_DTYPE_F16,
                                     .reduction = GPH_COMM_SUM};
    return gphi_comm_put(trial->comm, ways[way], &record, trial->memory, trial->memory, 0,
                         trial->stream, error);
}

/* ---- making the graphs ---- */

static gph_status take(struct trial *trial, gph_error *error)
{
    const gphi_cuda_table *cu = &trial->comm->runtime->cu;
    const size_t bytes = gphi_comm_sizes[trial->sizes - 1];
    GPHI_TRY(check(cu->cuStreamCreate(&trial->stream, CU_STREAM_NON_BLOCKING),
                   "cuStreamCreate", error));
    for (int i = 0; i < 2; i++)
        GPHI_TRY(check(cu->cuEventCreate(&trial->events[i], CU_EVENT_DEFAULT),
                       "cuEventCreate", error));
    GPHI_TRY(check(cu->cuMemAlloc(&trial->memory, bytes), "cuMemAlloc", error));
    GPHI_TRY(check(cu->cuMemsetD8(trial->memory, 0, bytes), "cuMemsetD8", error));
    return check(cu->cuStreamSynchronize(NULL), "cuStreamSynchronize", error);
}

/* NCCL connects its ranks at the first sum that needs it: here, not in a capture. */
static gph_status warm_up(struct trial *trial, gph_error *error)
{
    for (unsigned size = 0; size < trial->sizes; size++)
        for (int way = 0; way < WAYS; way++)
            GPHI_TRY(put_sum(trial, way, size, error));
    return gph_ranks_wait(trial->comm->ranks, trial->comm->runtime, trial->stream, error);
}

static gph_status capture(struct trial *trial, int way, unsigned size, CUgraph *out,
                          gph_error *error)
{
    const gphi_cuda_table *cu = &trial->comm->runtime->cu;
    GPHI_TRY(
        check(cu->cuStreamBeginCapture(trial->stream, CU_STREAM_CAPTURE_MODE_RELAXED),
              "cuStreamBeginCapture", error));
    gph_status status = GPH_OK;
    for (int i = 0; i < SUMS; i++)
        GPHI_THEN(status, put_sum(trial, way, size, error));
    const CUresult ended = cu->cuStreamEndCapture(trial->stream, out);
    GPHI_THEN(status, check(ended, "cuStreamEndCapture", error));
    return status;
}

static gph_status make_exec(struct trial *trial, int way, unsigned size, gph_error *error)
{
    const gphi_cuda_table *cu = &trial->comm->runtime->cu;
    CUgraph graph = NULL;
    gphi_capture_open();
    gph_status status = capture(trial, way, size, &graph, error);
    gphi_capture_close();
    GPHI_THEN(status,
              check(cu->cuGraphInstantiateWithFlags(&trial->execs[way][size], graph, 0),
                    "cuGraphInstantiateWithFlags", error));
    if (graph)
        gphi_ignore((gph_status)cu->cuGraphDestroy(graph), "the executable has it all");
    return status;
}

static gph_status make_execs(struct trial *trial, gph_error *error)
{
    gph_status status = GPH_OK;
    for (unsigned size = 0; size < trial->sizes; size++)
        for (int way = 0; way < WAYS; way++)
            GPHI_THEN(status, make_exec(trial, way, size, error));
    return status;
}

/* ---- measuring ---- */

/* The replay before the one that is measured lets all ranks begin that one together. */
static gph_status replay_one(struct trial *trial, CUgraphExec exec, float *ms,
                             gph_error *error)
{
    const gphi_cuda_table *cu = &trial->comm->runtime->cu;
    for (int i = 0; i < 2; i++) {
        GPHI_TRY(check(cu->cuGraphLaunch(exec, trial->stream), "cuGraphLaunch", error));
        GPHI_TRY(check(cu->cuEventRecord(trial->events[i], trial->stream),
                       "cuEventRecord", error));
    }
    GPHI_TRY(
        gph_ranks_wait(trial->comm->ranks, trial->comm->runtime, trial->stream, error));
    return check(cu->cuEventElapsedTime(ms, trial->events[0], trial->events[1]),
                 "cuEventElapsedTime", error);
}

static gph_status replay(struct trial *trial, int round, gph_error *error)
{
    for (unsigned size = 0; size < trial->sizes; size++)
        for (int way = 0; way < WAYS; way++)
            GPHI_TRY(replay_one(trial, trial->execs[way][size],
                                &trial->ms[way][size][round], error));
    return GPH_OK;
}

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static struct medians medians_of(struct trial *trial)
{
    struct medians medians = {{{0}}};
    for (unsigned size = 0; size < trial->sizes; size++)
        for (int way = 0; way < WAYS; way++) {
            float *from = trial->ms[way][size] + FIRST;
            qsort(from, ROUNDS - FIRST, sizeof(*from), by_value);
            medians.us[way][size] =
                1000.0 * (double)from[(ROUNDS - FIRST) / 2] / (double)SUMS;
        }
    return medians;
}

/* Whatever of it was made. */
static void drop(struct trial *trial)
{
    const gphi_cuda_table *cu = &trial->comm->runtime->cu;
    CUresult result = CUDA_SUCCESS;
    for (unsigned size = 0; size < GPHI_COMM_SIZES; size++)
        for (int way = 0; way < WAYS; way++)
            if (trial->execs[way][size])
                result |= cu->cuGraphExecDestroy(trial->execs[way][size]);
    for (int i = 0; i < 2; i++)
        if (trial->events[i])
            result |= cu->cuEventDestroy(trial->events[i]);
    if (trial->stream)
        result |= cu->cuStreamDestroy(trial->stream);
    if (trial->memory)
        result |= cu->cuMemFree(trial->memory);
    gphi_ignore((gph_status)result, "what was measured counts");
}

/* A rank on which a step fails must not leave the others waiting in the next one. */
static gph_status run(struct trial *trial, gph_error *error)
{
    gph_ranks *ranks = trial->comm->ranks;
    gph_error mine = {0};
    gph_status status = take(trial, &mine);
    GPHI_TRY(gph_ranks_all_at(NULL, ranks, "comm trial", status, &mine, error));
    status = warm_up(trial, &mine);
    GPHI_TRY(gph_ranks_all_at(NULL, ranks, "comm warm", status, &mine, error));
    status = make_execs(trial, &mine);
    GPHI_TRY(gph_ranks_all_at(NULL, ranks, "comm graphs", status, &mine, error));
    for (int round = 0; round < ROUNDS; round++) {
        status = replay(trial, round, &mine);
        GPHI_TRY(gph_ranks_all_at(NULL, ranks, "comm round", status, &mine, error));
    }
    return GPH_OK;
}

/* ---- the border ---- */

/* What a tie is not: runs of one size differ by some per cent. */
#define WINS_BY 0.95

/* The largest size up to which the own kernel wins at each. */
static void choose(gph_comm *comm, unsigned sizes, const struct medians *all)
{
    bool wins = true;
    comm->own_up_to = 0;
    for (unsigned size = 0; size < sizes; size++) {
        double most[WAYS] = {0, 0};
        for (uint32_t rank = 0; rank < comm->ranks->who.count; rank++)
            for (int way = 0; way < WAYS; way++)
                if (all[rank].us[way][size] > most[way])
                    most[way] = all[rank].us[way][size];
        comm->own_us[size] = most[0];
        comm->nccl_us[size] = most[1];
        wins = wins && most[0] <= most[1] * WINS_BY;
        if (wins)
            comm->own_up_to = gphi_comm_sizes[size];
    }
}

gph_status gphi_comm_measure(gph_comm *comm, gph_error *error)
{
    const uint32_t count = comm->ranks->who.count;
    gph_error mine = {0};
    unsigned sizes = 0;
    while (sizes < GPHI_COMM_SIZES && gphi_comm_sizes[sizes] <= comm->options.own_bytes)
        sizes++;
    if (sizes == 0) /* smaller than all that is measured: alike on all ranks */
        return GPH_OK;
    struct trial *trial = gphi_heap_alloc(comm->heap, sizeof(*trial));
    struct medians *all = gphi_heap_array(comm->heap, count, sizeof(*all));
    gph_status status = gphi_made(&mine, trial && all, "measuring a communicator");
    status = gph_ranks_all_at(NULL, comm->ranks, "comm measure", status, &mine, error);
    if (status == GPH_OK) {
        trial->comm = comm;
        trial->sizes = sizes;
        status = run(trial, error);
        const struct medians medians = medians_of(trial);
        drop(trial);
        GPHI_THEN(status, gph_ranks_gather_at(NULL, comm->ranks, "comm medians", &medians,
                                              sizeof(medians), all, error));
        if (status == GPH_OK)
            choose(comm, sizes, all);
    }
    if (trial)
        gphi_heap_free(comm->heap, trial, sizeof(*trial));
    if (all)
        gphi_heap_free(comm->heap, all, count * sizeof(*all));
    return status;
}
