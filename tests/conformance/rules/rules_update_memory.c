// SPDX-License-Identifier: Apache-2.0
/* R69g, M_update_memory: updates of executable graphs that have memory nodes. */
#include <time.h>

#include "graph_text.h"

static CUstream stream;

/* An allocation, a kernel that writes `value` to its start, and perhaps its end. */
static CUgraph memory_graph(unsigned value, size_t bytes, bool freed, CUdeviceptr *out)
{
    CUgraph graph;
    CUgraphNode alloc, write, release;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}},
        .bytesize = bytes};
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
    const CUDA_KERNEL_NODE_PARAMS kernel = store_params(&params.dptr, &value);
    OK(cu.cuGraphAddKernelNode(&write, graph, &alloc, 1, &kernel));
    if (freed)
        OK(cu.cuGraphAddMemFreeNode(&release, graph, &write, 1, params.dptr));
    *out = params.dptr;
    return graph;
}

static CUgraphExec instantiate(CUgraph graph)
{
    CUgraphExec exec = NULL;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

static CUresult update(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResult *result)
{
    CUgraphExecUpdateResultInfo info;
    memset(&info, 0x77, sizeof(info));
    const CUresult code = cu.cuGraphExecUpdate(exec, graph, &info);
    *result = info.result;
    return code;
}

static unsigned launch_and_read(CUgraphExec exec, CUdeviceptr from)
{
    unsigned word = 0xdead;
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuMemcpyDtoHAsync(&word, from, sizeof(word), stream));
    OK(cu.cuStreamSynchronize(stream));
    return word;
}

#define MIB ((size_t)1 << 20)

static void a_graph_with_another_executable_cannot_update(void)
{
    CUdeviceptr p, q;
    CUgraph graph = memory_graph(1, MIB, true, &p),
            other = memory_graph(2, MIB, true, &q);
    CUgraphExec exec = instantiate(graph), taken = instantiate(other), again;
    CUgraphExecUpdateResult result;
    REFUSED(NOT_SUPPORTED, update(exec, other, &result));
    CHECK(result == CU_GRAPH_EXEC_UPDATE_SUCCESS); /* not about what differs */
    OK(update(exec, graph, &result));
    REFUSED(NOT_SUPPORTED, cu.cuGraphInstantiateWithFlags(&again, graph, 0));
    OK(cu.cuGraphExecDestroy(taken));
    OK(update(exec, other, &result));
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphDestroy(other));
}

/* It is said before what differs. */
static void the_other_executable_is_said_first(void)
{
    CUdeviceptr p, q;
    CUgraph graph = memory_graph(1, MIB, true, &p),
            other = memory_graph(2, MIB, false, &q);
    const text_graph plain = text_build("k1");
    CUgraphExec exec = instantiate(graph), taken = instantiate(other);
    CUgraphExec without = instantiate(plain.graph);
    CUgraphExecUpdateResult result;
    REFUSED(NOT_SUPPORTED, update(exec, other, &result));
    CHECK(result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    REFUSED(NOT_SUPPORTED, update(without, other, &result));
    CHECK(result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    OK(cu.cuGraphExecDestroy(taken));
    REFUSED(GRAPH_EXEC_UPDATE_FAILURE, update(exec, other, &result));
    CHECK(result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphExecDestroy(without));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphDestroy(other));
    OK(cu.cuGraphDestroy(plain.graph));
}

static void the_executable_becomes_the_new_graphs(void)
{
    CUdeviceptr p, q;
    CUgraph graph = memory_graph(1, MIB, false, &p);
    CUgraph other = memory_graph(2, 64 * MIB, false, &q);
    CUgraphExec exec = instantiate(graph), second, none;
    CUgraphExecUpdateResult result;
    OK(update(exec, other, &result));
    CHECK(result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    REFUSED(NOT_SUPPORTED, cu.cuGraphInstantiateWithFlags(&none, other, 0));
    OK(cu.cuGraphInstantiateWithFlags(&second, graph, 0));
    CHECK(launch_and_read(exec, q) == 2);
    REFUSED(INVALID_VALUE, cu.cuGraphLaunch(exec, stream)); /* q is live */
    REFUSED(NOT_SUPPORTED, update(second, other, &result));
    CHECK(launch_and_read(second, p) == 1);
    REFUSED(NOT_SUPPORTED, update(exec, graph, &result));
    OK(cu.cuGraphExecDestroy(second));
    OK(update(exec, graph, &result));
    REFUSED(INVALID_VALUE, cu.cuGraphLaunch(exec, stream)); /* p is live */
    OK(cu.cuMemFree(p));
    CHECK(launch_and_read(exec, p) == 1);
    OK(cu.cuGraphInstantiateWithFlags(&second, other, 0));
    OK(cu.cuMemFree(p));
    OK(cu.cuMemFree(q));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphExecDestroy(second));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphDestroy(other));
}

/* What the old graph left unfreed nobody frees on its behalf. */
static void what_was_left_unfreed_stays(void)
{
    CUdeviceptr p, q;
    CUgraph graph = memory_graph(1, MIB, false, &p),
            other = memory_graph(2, MIB, false, &q);
    CUgraphExec exec = instantiate(graph);
    CUgraphExecUpdateResult result;
    unsigned word = 0;
    CHECK(launch_and_read(exec, p) == 1);
    OK(update(exec, other, &result));
    CHECK(launch_and_read(exec, q) == 2); /* p being live is nothing to it */
    OK(cu.cuMemcpyDtoH(&word, p, sizeof(word)));
    CHECK(word == 1);
    OK(cu.cuMemFree(p));
    OK(cu.cuMemFree(q));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphDestroy(other));
}

static atomic_int gate;

static void CUDA_CB wait_at_gate(void *user)
{
    (void)user;
    for (int i = 0; i < 20000 && !atomic_load(&gate); i++) {
        const struct timespec pause = {.tv_nsec = 1000000};
        nanosleep(&pause, NULL);
    }
}

/* Those before the update run in the old graph's memory, even when all else is gone. */
static void launches_under_way_keep_their_memory(void)
{
    CUdeviceptr p, q;
    CUgraph graph = memory_graph(1, MIB, true, &p),
            other = memory_graph(2, MIB, true, &q);
    CUgraphExec exec = instantiate(graph);
    CUgraphExecUpdateResult result;
    OK(cu.cuGraphUpload(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    atomic_store(&gate, 0);
    OK(cu.cuLaunchHostFunc(stream, wait_at_gate, NULL));
    for (int i = 0; i < 4; i++) {
        OK(cu.cuGraphLaunch(exec, stream));
        OK(update(exec, i % 2 == 0 ? other : graph, &result));
    }
    OK(cu.cuGraphDestroy(other));
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    atomic_store(&gate, 1);
    OK(cu.cuStreamSynchronize(stream));
}

/* ---- what is beside memory nodes ---- */

/* An allocation, a fill of it or a copy from it, and perhaps its end. */
static CUgraph working_graph(bool fills, bool freed, CUdeviceptr *out, CUgraphNode *work)
{
    CUgraph graph;
    CUgraphNode alloc, release;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}},
        .bytesize = MIB};
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
    const CUDA_MEMSET_NODE_PARAMS fill = fill_params(params.dptr, 1, 64, 1);
    const CUDA_MEMCPY3D copy = copy_params(text_memory[0], params.dptr, 64, 1);
    if (fills)
        OK(cu.cuGraphAddMemsetNode(work, graph, &alloc, 1, &fill, text_context));
    else
        OK(cu.cuGraphAddMemcpyNode(work, graph, &alloc, 1, &copy, text_context));
    if (freed)
        OK(cu.cuGraphAddMemFreeNode(&release, graph, work, 1, params.dptr));
    *out = params.dptr;
    return graph;
}

static void fill_or_copy(bool fills, bool freed, CUgraphExecUpdateResult wanted)
{
    CUdeviceptr p, q;
    CUgraphNode work, other_work;
    CUgraph graph = working_graph(fills, freed, &p, &work);
    CUgraph other = working_graph(fills, freed, &q, &other_work);
    CUgraphExec exec = instantiate(graph), second;
    CUgraphExecUpdateResultInfo info;
    CUgraphExecUpdateResult result;
    OK(update(exec, graph, &result)); /* nothing changes */
    /* The other one's memory is live, if it is not freed. */
    second = instantiate(other);
    OK(cu.cuGraphLaunch(second, stream));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuGraphExecDestroy(second));
    const bool fits = wanted == CU_GRAPH_EXEC_UPDATE_SUCCESS;
    CHECK_IS(cu.cuGraphExecUpdate(exec, other, &info),
             fits ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    CHECK(info.result == wanted);
    CHECK(info.errorNode == (fits ? NULL : other_work));
    if (!freed)
        OK(cu.cuMemFree(q));
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    if (!freed)
        OK(cu.cuMemFree(q));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphDestroy(other));
}

static void a_fill_of_memory_that_is_freed_inside_stays(void)
{
    fill_or_copy(true, true, CU_GRAPH_EXEC_UPDATE_ERROR);
    fill_or_copy(true, false, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    /* It may go to other memory, and come back. */
    CUdeviceptr p;
    CUgraphNode work;
    CUgraphExecUpdateResult result;
    CUgraph graph = working_graph(true, true, &p, &work);
    CUgraphExec exec = instantiate(graph);
    const CUDA_MEMSET_NODE_PARAMS away = fill_params(text_memory[0], 1, 64, 1);
    OK(cu.cuGraphExecMemsetNodeSetParams(exec, work, &away, text_context));
    OK(update(exec, graph, &result));
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

/* Live or not. */
static void memory_of_graphs_is_of_one_kind(void)
{
    fill_or_copy(false, false, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    fill_or_copy(false, true, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    CUdeviceptr p;
    CUgraphNode work, other_work;
    CUgraph graph = working_graph(false, false, &p, &work), other;
    const CUDA_MEMCPY3D from_graph = copy_params(text_memory[0], p, 64, 1);
    const CUDA_MEMCPY3D plain = copy_params(text_memory[0], text_memory[1], 64, 1);
    CUgraphExecUpdateResult result;
    OK(cu.cuGraphCreate(&other, 0));
    OK(cu.cuGraphAddMemcpyNode(&other_work, other, NULL, 0, &plain, text_context));
    CUgraphExec exec = instantiate(other);
    REFUSED(INVALID_VALUE, cu.cuGraphExecMemcpyNodeSetParams(exec, other_work,
                                                             &from_graph, text_context));
    OK(cu.cuGraphMemcpyNodeSetParams(other_work, &from_graph));
    REFUSED(GRAPH_EXEC_UPDATE_FAILURE, update(exec, other, &result));
    CHECK(result == CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(other));
    OK(cu.cuGraphDestroy(graph));
}

/* A free node that is refused makes its dependency a sink again. */
static void a_refused_node_leaves_younger_sinks(void)
{
    CUdeviceptr p;
    CUgraphNode work, last, none;
    CUgraph graph = working_graph(true, false, &p, &work);
    CUgraphExecUpdateResultInfo info;
    unsigned value = 1;
    const CUDA_KERNEL_NODE_PARAMS kernel = store_params(&text_memory[0], &value);
    OK(cu.cuGraphAddKernelNode(&last, graph, NULL, 0, &kernel));
    CUgraphExec exec = instantiate(graph);
    OK(cu.cuGraphExecUpdate(exec, graph, &info));
    REFUSED(INVALID_VALUE, cu.cuGraphAddMemFreeNode(&none, graph, &work, 1, p));
    REFUSED(GRAPH_EXEC_UPDATE_FAILURE, cu.cuGraphExecUpdate(exec, graph, &info));
    CHECK(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    CHECK(info.errorNode == work && info.errorFromNode == NULL);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

/* Three sinks; a fourth node names two of them, the first one twice. */
static void a_dependency_that_stands_twice_leaves_younger_sinks(void)
{
    const text_graph graph = text_build("k1 e2 h3");
    CUgraphExec exec = instantiate(graph.graph);
    CUgraphExecUpdateResult result;
    OK(update(exec, graph.graph, &result));
    CUgraphNode node, after[3] = {graph.nodes[1], graph.nodes[0], graph.nodes[1]};
    REFUSED(INVALID_VALUE, cu.cuGraphAddEmptyNode(&node, graph.graph, after, 3));
    REFUSED(GRAPH_EXEC_UPDATE_FAILURE, update(exec, graph.graph, &result));
    CHECK(result == CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph.graph));
}

static void a_child_with_memory_is_not_set(void)
{
    CUdeviceptr p;
    CUgraph memory = memory_graph(1, MIB, true, &p);
    const text_graph graph = text_build("g1"), other = text_build("g1");
    CUgraphExec exec = instantiate(graph.graph);
    REFUSED(GRAPH_EXEC_UPDATE_FAILURE,
            cu.cuGraphExecChildGraphNodeSetParams(exec, graph.nodes[0], memory));
    REFUSED(GRAPH_EXEC_UPDATE_FAILURE, /* a node that the executable does not know */
            cu.cuGraphExecChildGraphNodeSetParams(exec, other.nodes[0], memory));
    OK(cu.cuGraphDestroy(other.graph));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph.graph));
    OK(cu.cuGraphDestroy(memory));
}

static void run(void)
{
    if (!rule_listing) {
        text_start();
        OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    }
    RULE_TEST(R69g, a_graph_with_another_executable_cannot_update);
    RULE_TEST(R69g, the_other_executable_is_said_first);
    RULE_TEST(M_update_memory, the_executable_becomes_the_new_graphs);
    RULE_TEST(M_update_memory, what_was_left_unfreed_stays);
    RULE_TEST(M_update_memory, launches_under_way_keep_their_memory);
    RULE_TEST(M_fill_freed, a_fill_of_memory_that_is_freed_inside_stays);
    RULE_TEST(M_U07_backing, memory_of_graphs_is_of_one_kind);
    RULE_TEST(M_sinks_again, a_refused_node_leaves_younger_sinks);
    RULE_TEST(M_sinks_again, a_dependency_that_stands_twice_leaves_younger_sinks);
    RULE_TEST(M_set_child_memory, a_child_with_memory_is_not_set);
}

int main(int argc, char **argv)
{
    return rule_main(argc, argv, run);
}
