// SPDX-License-Identifier: Apache-2.0
/* WHILE nodes that do not end, and how their program waits: device.endless-loop of gph doctor
 * --watch, where the driver says nothing of loops, as a GPU's does not (endless.py).
 *
 *   wait      in cuStreamSynchronize
 *   ask       cuStreamQuery, in a circle
 *   seldom    cuEventQuery, each 50 ms
 *   nested    a loop in a loop
 *   ends      a loop of three seconds that is asked for beside other work: nothing is said
 */
#include "rules/device.h"

#include <stdbool.h>
#include <time.h>

static CUgraph add_loop(CUgraph root, CUgraph graph, CUgraphConditionalHandle *handle)
{
    CUgraphNode node = NULL;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    CU(cuGraphConditionalHandleCreate(handle, root, context, 1,
                                      CU_GRAPH_COND_ASSIGN_DEFAULT)); // handle
    params.conditional.handle = *handle;
    params.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
    params.conditional.size = 1;
    params.conditional.ctx = context;
    CU(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params)); // loop
    return params.conditional.phGraph_out[0];
}

static CUstream launch(CUgraph graph)
{
    CUstream stream = new_stream();
    CUgraphExec exec = NULL;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0)); // made
    CU(cuGraphLaunch(exec, stream));                  // launched
    return stream;
}

/* Its kernel sets the handle, and never to 0. */
static CUstream endless(bool is_nested)
{
    CUgraphConditionalHandle handle = 0;
    CUgraph graph = new_graph();
    CUgraph body = add_loop(graph, graph, &handle);
    if (is_nested) { /* the outer one would end */
        add_one(body, NULL, "set", (void *[]){&handle, &(unsigned){0}});
        body = add_loop(graph, body, &handle);
    }
    add_one(body, NULL, "set", (void *[]){&handle, &(unsigned){7}}); // given
    return launch(graph);
}

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static void ask(CUstream stream)
{
    while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
        continue;
}

static void ask_seldom(CUstream stream)
{
    CUevent event = NULL;
    CU(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CU(cuEventRecord(event, stream));
    while (cuEventQuery(event) == CUDA_ERROR_NOT_READY)
        sleep_ms(50);
}

/* Kernels of 100 ms, thirty of them: longer than the doctor waits for a sign of life,
 * but another stream's work ends meanwhile. */
static void asks_and_works(void)
{
    CUstream side = new_stream();
    CUgraphConditionalHandle handle = 0;
    CUdeviceptr word = new_words(15);
    CUgraph graph = new_graph();
    CUgraph body = add_loop(graph, graph, &handle);
    const CUDA_KERNEL_NODE_PARAMS spins = {
        .func = spin,
        .gridDimX = 1,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = 1,
        .blockDimY = 1,
        .blockDimZ = 1,
        .kernelParams = (void *[]){&(unsigned long long){200000000}, &(unsigned){1}}};
    CUgraphNode node = NULL;
    CU(cuGraphAddKernelNode(&node, body, NULL, 0, &spins));
    add_one(body, node, "down", (void *[]){&handle, &word});
    CUstream stream = launch(graph);
    while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY) {
        sleep_ms(100);
        CU(cuMemsetD32Async(word + 64, 1, 1, side));
    }
    CU(cuCtxSynchronize());
    EXPECT(word_at(word) == 0);
}

int main(int argc, char **argv)
{
    const char *way = argc == 2 ? argv[1] : "";
    broken_open();
    if (strcmp(way, "wait") == 0 || strcmp(way, "nested") == 0)
        CU(cuStreamSynchronize(endless(strcmp(way, "nested") == 0))); // waits
    else if (strcmp(way, "ask") == 0)
        ask(endless(false));
    else if (strcmp(way, "seldom") == 0)
        ask_seldom(endless(false));
    else if (strcmp(way, "ends") == 0)
        asks_and_works();
    else
        return 2;
    return broken_failures > 0;
}
