// SPDX-License-Identifier: Apache-2.0
/* A rank of a job over libgph's communicators, for ranks.py: `doctor_ranks_gph WAY`. */
#include <gph/callable.h>
#include <gph/gph.h>
#include <gph/ranks_comm.h>

#include <stdio.h>
#include <string.h>

enum { BYTES = 4096 };

static gph_error error;
static int failures;

static void check(int holds, int line)
{
    if (holds)
        return;
    fprintf(stderr, "line %d: %s\n", line, error.message);
    failures++;
}
#define CHECK(condition) check((condition) ? 1 : 0, __LINE__)

typedef struct job {
    gph_runtime *runtime;
    const gph_cuda_calls *cu;
    gph_ranks *ranks;
    gph_comm *comm;
    CUstream stream;
    CUdeviceptr data;
} job;

static void sum(job *of, uint64_t count)
{
    CHECK(gph_comm_all_reduce(of->comm, of->data, of->data, count, GPH_DTYPE_F32,
                              GPH_COMM_SUM, of->stream, &error) == GPH_OK);
}

/* Sums at once, and in a graph: of another count on rank 1 where they differ, which the
 * ranks find out before they replay it. */
static void run(job *of, int differs)
{
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    const uint64_t own = differs && gph_ranks_rank(of->ranks) == 1 ? 32 : 64;
    sum(of, 64);
    CHECK(gph_ranks_wait(of->ranks, of->runtime, of->stream, &error) == GPH_OK);
    CHECK(gph_capture_begin(of->runtime, of->stream, NULL, &capture, &error) == GPH_OK);
    sum(of, 16);
    sum(of, own);
    CHECK(gph_capture_end(capture, &graph, &error) == GPH_OK);
    const gph_status agreed = gph_comm_graph_agree(of->comm, graph, &error);
    CHECK(agreed == (differs ? GPH_E_INVALID : GPH_OK));
    CHECK(of->cu->GraphInstantiateWithFlags(&exec, graph, 0) == 0);
    CHECK(of->cu->GraphDestroy(graph) == 0);
    for (int i = 0; agreed == GPH_OK && i < 8; i++)
        CHECK(of->cu->GraphLaunch(exec, of->stream) == 0);
    CHECK(gph_ranks_wait(of->ranks, of->runtime, of->stream, &error) == GPH_OK);
    gph_comm_destroy(of->comm); /* before its graph, which keeps it */
    CHECK(of->cu->GraphExecDestroy(exec) == 0);
}

int main(int argc, char **argv)
{
    job of = {.data = 0};
    CUcontext context = NULL;
    CUdevice device = 0;
    int devices = 0;
    gph_comm_options options = GPH_COMM_OPTIONS_INIT;
    options.way = GPH_COMM_OWN;
    options.name = "sums";
    if (gph_open(NULL, &of.runtime, &error) != GPH_OK)
        return 77;
    of.cu = gph_cuda(of.runtime);
    if (of.cu->DeviceGetCount(&devices) != 0 || devices == 0)
        return 77;
    CHECK(gph_ranks_open(NULL, &of.ranks, &error) == GPH_OK);
    CHECK(of.cu->DeviceGet(&device, (int)gph_ranks_local(of.ranks) % devices) == 0);
    CHECK(of.cu->DevicePrimaryCtxRetain(&context, device) == 0);
    CHECK(of.cu->CtxSetCurrent(context) == 0);
    CHECK(of.cu->StreamCreate(&of.stream, 1) == 0);
    CHECK(of.cu->MemAlloc(&of.data, BYTES) == 0);
    CHECK(of.cu->MemsetD8(of.data, 0, BYTES) == 0);
    CHECK(of.cu->CtxSynchronize() == 0);
    CHECK(gph_comm_create(of.ranks, of.runtime, &options, &of.comm, &error) == GPH_OK);
    if (failures == 0)
        run(&of, argc > 1 && strcmp(argv[1], "differs") == 0);
    gph_ranks_close(of.ranks);
    CHECK(of.cu->MemFree(of.data) == 0);
    CHECK(of.cu->StreamDestroy(of.stream) == 0);
    gph_close(of.runtime);
    return failures > 0;
}
