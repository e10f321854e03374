// SPDX-License-Identifier: Apache-2.0
// device.stale-upload
//
// What the host changes in an executable that kernels launch is not on the device before the next
// upload: kernels go on launching the graph as it was. Call cuGraphUpload() after the last change,
// or launch it from the host once.
#include "device.h"

static CUgraphExec device_graph(CUgraph graph, CUstream stream)
{
    CUgraphExec exec = NULL;
    CU(cuGraphInstantiateWithFlags(&exec, graph,
                                   CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    CU(cuGraphUpload(exec, stream));
    return exec;
}

static CUgraphExec launcher_of(CUgraphExec inner, CUdeviceptr answer)
{
    CUgraph outer = new_graph();
    CUgraphExec exec = NULL;
    unsigned long long where = FORGET;
    add_one(outer, NULL, "fire", (void *[]){&inner, &where, &answer});
    CU(cuGraphInstantiateWithFlags(&exec, outer, 0));
    CU(cuGraphDestroy(outer));
    return exec;
}

/* A node is given another buffer. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0), other = new_words(0), answer = new_words(9);
    CUgraph graph = new_graph();
    CUgraphNode node = add_one(graph, NULL, "add", (void *[]){&word});
    CUgraphExec inner = device_graph(graph, stream), outer = launcher_of(inner, answer);
    launch_and_wait(outer, stream);
    const CUDA_KERNEL_NODE_PARAMS params = one_thread("add", (void *[]){&other});
    CU(cuGraphExecKernelNodeSetParams(inner, node, &params)); // <-- first
    launch_and_wait(outer, stream);
    EXPECT(word_at(word) == 2 && word_at(other) == 0);
    CU(cuGraphExecDestroy(outer));
    CU(cuGraphExecDestroy(inner));
    CU(cuGraphDestroy(graph));
}

/* By a whole update. */
static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0), other = new_words(0), answer = new_words(9);
    CUgraph graph = add_graph(word), next = add_graph(other);
    CUgraphExec inner = device_graph(graph, stream), outer = launcher_of(inner, answer);
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
    launch_and_wait(outer, stream);
    CU(cuGraphExecUpdate(inner, next, &info)); // <-- second
    launch_and_wait(outer, stream);
    CU(cuGraphExecDestroy(outer));
    CU(cuGraphExecDestroy(inner));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(next));
}

/* Uploaded again; and a change of the graph that the host launches needs none. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0), other = new_words(0), answer = new_words(9);
    CUgraph graph = new_graph(), host = new_graph();
    CUgraphNode node = add_one(graph, NULL, "add", (void *[]){&word});
    CUgraphExec inner = device_graph(graph, stream), outer = NULL;
    unsigned long long where = FORGET;
    CUgraphNode fires = add_one(host, NULL, "fire", (void *[]){&inner, &where, &answer});
    CU(cuGraphInstantiateWithFlags(&outer, host, 0));
    launch_and_wait(outer, stream);
    const CUDA_KERNEL_NODE_PARAMS params = one_thread("add", (void *[]){&other});
    CU(cuGraphExecKernelNodeSetParams(inner, node, &params));
    CU(cuGraphUpload(inner, stream));
    where = TAIL;
    const CUDA_KERNEL_NODE_PARAMS tail =
        one_thread("fire", (void *[]){&inner, &where, &answer});
    CU(cuGraphExecKernelNodeSetParams(outer, fires, &tail));
    launch_and_wait(outer, stream);
    EXPECT(word_at(word) == 1 && word_at(other) == 1);
    CU(cuGraphExecDestroy(outer));
    CU(cuGraphExecDestroy(inner));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(host));
}

BROKEN(first, second, near)
