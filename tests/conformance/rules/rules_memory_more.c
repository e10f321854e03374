// SPDX-License-Identifier: Apache-2.0
/* Memory nodes over several graphs: child graphs that allocate or free for others,
 * captures that failed, other devices, and when memory is mapped. */
#include <gph/softcuda.h>
#include <pthread.h>

#include "memory_help.h"

static CUgraphNode move_in(CUgraph parent, CUgraphNode before, CUgraph child)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    params.graph.graph = child;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    CUgraphNode node = NULL;
    OK(cu.cuGraphAddNode(&node, parent, before ? &before : NULL, NULL, before != NULL,
                         &params));
    return node;
}

static void a_parent_frees_what_its_child_allocates(void)
{
    CUdeviceptr p, out = 0;
    OK(cu.cuMemAlloc(&out, 4096));
    CUgraph parent = new_graph(), child = simple_graph(MIB, 44, false, &p);
    CUgraphNode inner = move_in(parent, NULL, child);
    CUgraphNode copy = add_copy(parent, inner, out, p, 4096);
    add_free(parent, copy, p);
    REFUSED(INVALID_VALUE, try_free(parent, copy, p));
    CUgraphExec exec = instantiate(parent, 0);
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuGraphLaunch(exec, NULL)); /* nothing is live: it may */
    OK(cu.cuCtxSynchronize());
    CHECK(word_at(out + 4092) == 44);
    REFUSED(INVALID_VALUE, cu.cuMemFree(p));
    drop(exec, parent);
    OK(cu.cuMemFree(out));
}

static void a_child_frees_what_its_parent_allocates(void)
{
    CUdeviceptr p;
    CUgraph parent = new_graph(), child = new_graph();
    CUgraphNode alloc = add_alloc(parent, NULL, MIB, &p);
    CUgraphNode fill = add_fill(parent, alloc, p, 1, 1024);
    add_free(child, NULL, p); /* still of another graph */
    move_in(parent, fill, child);
    CUgraphExec exec = instantiate(parent, 0);
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuCtxSynchronize());
    REFUSED(INVALID_VALUE, cu.cuMemFree(p));
    drop(exec, parent);
}

static void a_child_leaves_memory_live(void)
{
    CUdeviceptr p;
    const uint64_t base = settled();
    CUgraph parent = new_graph(), child = simple_graph(MIB, 45, false, &p);
    move_in(parent, NULL, child);
    CUgraphExec exec = instantiate(parent, 0);
    OK(cu.cuGraphLaunch(exec, NULL));
    REFUSED(INVALID_VALUE, cu.cuGraphLaunch(exec, NULL));
    drop(exec, parent); /* the child goes with it; its memory does not */
    CHECK(settled() - base == STEP);
    CHECK(word_at(p) == 45);
    OK(cu.cuMemFree(p));
    CHECK(settled() == base);
}

static void a_child_has_addresses_of_its_own(void)
{
    CUdeviceptr p, q;
    CUgraph parent = new_graph(), child = simple_graph(MIB, 1, true, &p);
    CUgraphNode inner = move_in(parent, NULL, child);
    add_alloc(parent, inner, MIB, &q); /* after the free in the child */
    CHECK(p + MIB <= q || q + MIB <= p);
    drop(NULL, parent);
}

static void a_child_with_memory_is_not_set_alone(void)
{
    CUdeviceptr p;
    CUgraph parent = new_graph(), child = simple_graph(MIB, 1, true, &p);
    CUgraphNode inner = move_in(parent, NULL, child);
    CUgraphExec exec = instantiate(parent, 0);
    CUgraphExecUpdateResultInfo info;
    REFUSED(GRAPH_EXEC_UPDATE_FAILURE,
            cu.cuGraphExecChildGraphNodeSetParams(exec, inner, child));
    OK(cu.cuGraphExecUpdate(exec, parent, &info));
    OK(cu.cuGraphLaunch(exec, NULL));
    drop(exec, parent);
}

/* ---- threads ---- */

enum { THREADS = 4, GRAPHS = 3, ROUNDS = 25 };

struct worker {
    CUcontext context;
    unsigned number;
    pthread_t thread;
    int wrong;
};

/* Graphs of its own, on memory that those of other threads had a moment ago. */
static void *launch_and_look(void *user)
{
    struct worker *worker = user;
    CUdeviceptr p[GRAPHS], out = 0;
    CUgraph graphs[GRAPHS];
    CUgraphExec execs[GRAPHS];
    worker->wrong += cu.cuCtxSetCurrent(worker->context) != CUDA_SUCCESS;
    CUstream stream = new_stream();
    worker->wrong += cu.cuMemAlloc(&out, 4096 * GRAPHS) != CUDA_SUCCESS;
    for (unsigned g = 0; g < GRAPHS; g++) {
        const size_t bytes = (1 + 7 * g * g) * MIB;
        graphs[g] = new_graph();
        CUgraphNode node = add_alloc(graphs[g], NULL, bytes, &p[g]);
        node = add_fill(graphs[g], node, p[g], 100 * worker->number + g, bytes / 4);
        node = add_copy(graphs[g], node, out + 4096 * g, p[g] + bytes - 4096, 4096);
        add_free(graphs[g], node, p[g]);
        execs[g] = instantiate(graphs[g], 0);
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned words[GRAPHS * 1024] = {0};
        for (unsigned g = 0; g < GRAPHS; g++)
            worker->wrong +=
                cu.cuGraphLaunch(execs[(g + round) % GRAPHS], stream) != CUDA_SUCCESS;
        worker->wrong +=
            cu.cuMemcpyDtoHAsync(words, out, sizeof(words), stream) != CUDA_SUCCESS;
        worker->wrong += cu.cuStreamSynchronize(stream) != CUDA_SUCCESS;
        for (unsigned g = 0; g < GRAPHS; g++)
            for (unsigned i = 0; i < 1024; i += 31)
                worker->wrong += words[1024 * g + i] != 100 * worker->number + g;
        if (worker->number == 0 && round % 8 == 7)
            worker->wrong += cu.cuDeviceGraphMemTrim(0) != CUDA_SUCCESS;
    }
    for (unsigned g = 0; g < GRAPHS; g++) {
        worker->wrong += cu.cuGraphExecDestroy(execs[g]) != CUDA_SUCCESS;
        worker->wrong += cu.cuGraphDestroy(graphs[g]) != CUDA_SUCCESS;
    }
    worker->wrong += cu.cuMemFree(out) != CUDA_SUCCESS;
    worker->wrong += cu.cuStreamDestroy(stream) != CUDA_SUCCESS;
    return NULL;
}

static void threads_launch_side_by_side(void)
{
    struct worker workers[THREADS] = {0};
    uint64_t zero = 0;
    const uint64_t base = settled();
    OK(cu.cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &zero));
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].number = i;
        OK(cu.cuCtxGetCurrent(&workers[i].context));
        CHECK(pthread_create(&workers[i].thread, NULL, launch_and_look, &workers[i]) ==
              0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        CHECK(pthread_join(workers[i].thread, NULL) == 0);
        CHECK(workers[i].wrong == 0);
    }
    /* A thread's graphs run one after the other, so they share. */
    CHECK(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) - base <
          THREADS * GRAPHS * STEP);
    CHECK(settled() == base);
}

/* ---- nodes that are refused ---- */

static void graphs_remember_what_was_tried(void)
{
    CUgraph clone;
    CUgraphNode node = NULL;
    CUdeviceptr p;
    OK(cu.cuMemAlloc(&p, 4096));
    CUgraph huge = new_graph(), foreign = new_graph(), other = new_graph();
    CUDA_MEM_ALLOC_NODE_PARAMS params = want(SIZE_MAX);
    REFUSED(OUT_OF_MEMORY, cu.cuGraphAddMemAllocNode(&node, huge, NULL, 0, &params));
    REFUSED(NOT_SUPPORTED, cu.cuGraphClone(&clone, huge));
    REFUSED(INVALID_VALUE, try_free(foreign, NULL, p)); /* no graph's address */
    REFUSED(NOT_SUPPORTED, cu.cuGraphRemoveDependencies(foreign, NULL, NULL, NULL, 0));
    params = want(MIB); /* what is refused before a node is made leaves no trace */
    params.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    REFUSED(NOT_SUPPORTED, cu.cuGraphAddMemAllocNode(&node, other, NULL, 0, &params));
    OK(cu.cuGraphClone(&clone, other));
    drop(NULL, clone);
    drop(NULL, huge);
    drop(NULL, foreign);
    drop(NULL, other);
    OK(cu.cuMemFree(p));
}

/* ---- mapping ---- */

static uint64_t maps_of(gph_status (*ask)(int, gph_softcuda_memory *))
{
    gph_softcuda_memory memory = GPH_SIZED(gph_softcuda_memory);
    CHECK(ask(0, &memory) == GPH_OK);
    return memory.graph_map_calls;
}

/* Two graphs on the same memory, one that leaves memory live, one with a child. */
static void launches_that_need_no_remap_map_nothing(void)
{
    gph_status (*ask)(int, gph_softcuda_memory *);
    *(void **)&ask = dlsym(driver_library, "gph_softcuda_memory_get");
    if (!driver_is_soft || ask == NULL) {
        SKIP("a GPU's driver does not count its mappings");
        return;
    }
    CUdeviceptr p[4];
    CUstream a = new_stream(), b = new_stream();
    (void)settled();
    CUgraph graphs[4] = {simple_graph(40 * MIB, 1, true, &p[0]),
                         simple_graph(70 * MIB, 2, true, &p[1]),
                         simple_graph(3 * MIB, 3, false, &p[2]), new_graph()};
    move_in(graphs[3], NULL, simple_graph(5 * MIB, 4, true, &p[3]));
    CUgraphExec execs[4];
    for (int i = 0; i < 4; i++)
        execs[i] =
            instantiate(graphs[i], CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    uint64_t before = maps_of(ask);
    for (int i = 0; i < 4; i++)
        OK(cu.cuGraphUpload(execs[i], a));
    OK(cu.cuCtxSynchronize());
    CHECK(maps_of(ask) > before);
    OK(cu.cuGraphLaunch(execs[2], a)); /* takes memory of its own for what it leaves */
    for (int i = 0; i < 4; i++)
        OK(cu.cuGraphLaunch(execs[i], a));
    OK(cu.cuCtxSynchronize());
    before = maps_of(ask);
    for (int round = 0; round < 50; round++) {
        CUstream in = round % 2 ? a : b;
        for (int i = 0; i < 4; i++)
            OK(cu.cuGraphLaunch(execs[(i + round) % 4], in));
        if (round % 5 == 0)
            OK(cu.cuGraphUpload(execs[round % 4], in));
        OK(cu.cuStreamSynchronize(in));
    }
    CHECK(maps_of(ask) == before);
    OK(cu.cuMemFree(p[2]));
    OK(cu.cuGraphLaunch(execs[2], b)); /* where it was */
    OK(cu.cuCtxSynchronize());
    CHECK(maps_of(ask) == before);
    OK(cu.cuMemFree(p[2]));
    (void)settled(); /* a trim takes the memory: now there is something to map */
    OK(cu.cuGraphLaunch(execs[0], a));
    CHECK(maps_of(ask) > before);
    for (int i = 0; i < 4; i++)
        drop(execs[i], graphs[i]);
    OK(cu.cuStreamDestroy(a));
    OK(cu.cuStreamDestroy(b));
}

/* The executable was made before the node, and keeps addresses, but not that one. */
static void what_came_behind_the_executable_goes_with_its_graph(void)
{
    CUdeviceptr p, q;
    CUgraph graph = new_graph(), other = new_graph();
    CUgraphNode node = add_alloc(graph, NULL, MIB, &p);
    node = add_free(graph, add_fill(graph, node, p, 1, 1024), p);
    CUgraphExec exec = instantiate(graph, 0);
    add_alloc(graph, node, MIB, &q); /* where the first was, as it may be */
    OK(cu.cuGraphDestroy(graph));
    REFUSED(INVALID_VALUE, try_free(other, NULL, p));
    REFUSED(INVALID_VALUE, try_free(other, NULL, q));
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(other));
}

static void run(void)
{
    RULE_TEST(R49, a_parent_frees_what_its_child_allocates);
    RULE_TEST(R49, a_child_frees_what_its_parent_allocates);
    RULE_TEST(R49, a_child_leaves_memory_live);
    RULE_TEST(R49, a_child_has_addresses_of_its_own);
    RULE_TEST(M_set_child_memory, a_child_with_memory_is_not_set_alone);
    RULE_TEST(R53, threads_launch_side_by_side);
    RULE_TEST(M_alloc_gone, what_came_behind_the_executable_goes_with_its_graph);
    RULE_TEST(M_tried_nodes, graphs_remember_what_was_tried);
    RULE_TEST(M_no_remap, launches_that_need_no_remap_map_nothing);
}

int main(int argc, char **argv)
{
    return rule_main(argc, argv, run);
}
