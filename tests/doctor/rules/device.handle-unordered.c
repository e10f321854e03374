// SPDX-License-Identifier: Apache-2.0
// device.handle-unordered
//
// A conditional node reads its handle when it begins. Where no path leads from the kernel that sets
// the handle to the node, the node may decide first: by the default, or by what was left there.
// Reported at the node, where the one kernel that was given the handle is in the same graph; with
// softcuda's check mode (gph doctor --check) whichever kernels set it, exactly.
#include "device.h"

static CUgraph make(CUgraphConditionalHandle *handle)
{
    CUgraph graph = new_graph();
    CU(cuGraphConditionalHandleCreate(handle, graph, context, 0,
                                      CU_GRAPH_COND_ASSIGN_DEFAULT));
    return graph;
}

static void run(CUgraph graph)
{
    CUstream stream = new_stream();
    CUgraphExec exec = NULL;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

static CUgraphNodeParams condition_of(CUgraphConditionalHandle handle)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = handle;
    params.conditional.type = CU_GRAPH_COND_TYPE_IF;
    params.conditional.size = 1;
    params.conditional.ctx = context;
    return params;
}

/* The node has no dependency at all. */
static void first(void)
{
    CUdeviceptr word = new_words(0);
    CUgraphConditionalHandle handle = 0;
    CUgraph graph = make(&handle);
    CUgraphNode node = NULL;
    CUgraphNodeParams params = condition_of(handle);
    add_one(graph, NULL, "set", (void *[]){&handle, &(unsigned){1}});
    CU(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params)); // <-- first
    add_one(params.conditional.phGraph_out[0], NULL, "add", (void *[]){&word});
    run(graph);
}

/* It waits for another kernel, beside the one that sets the handle. */
static void second(void)
{
    CUdeviceptr word = new_words(0);
    CUgraphConditionalHandle handle = 0;
    CUgraph graph = make(&handle);
    CUgraphNode node = NULL;
    CUgraphNodeParams params = condition_of(handle);
    CUgraphNode before = add_one(graph, NULL, "add", (void *[]){&word});
    add_one(graph, before, "set", (void *[]){&handle, &(unsigned){1}});
    CU(cuGraphAddNode(&node, graph, &before, NULL, 1, &params)); // <-- second
    add_one(params.conditional.phGraph_out[0], NULL, "add", (void *[]){&word});
    run(graph);
}

/* A path of two edges leads from the kernel to the node; and a kernel after it sets the
 * handle, too. */
static void near(void)
{
    CUdeviceptr word = new_words(0);
    CUgraphConditionalHandle handle = 0;
    CUgraph graph = make(&handle);
    CUgraphNode node = NULL;
    CUgraphNodeParams params = condition_of(handle);
    CUgraphNode setter = add_one(graph, NULL, "set", (void *[]){&handle, &(unsigned){1}});
    CUgraphNode between = add_one(graph, setter, "add", (void *[]){&word});
    CU(cuGraphAddNode(&node, graph, &between, NULL, 1, &params));
    add_one(params.conditional.phGraph_out[0], NULL, "add", (void *[]){&word});
    add_one(graph, node, "set", (void *[]){&handle, &(unsigned){0}});
    run(graph);
}

BROKEN(first, second, near)
