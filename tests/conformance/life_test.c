// SPDX-License-Identifier: Apache-2.0
/* SOFTCUDA_CHECK=race: nodes that touch memory of graphs outside of its life, which the
 * path from its allocation to its free is. */
#include "race_graphs.h"

static CUgraphNode add_alloc(CUgraph graph, CUdeviceptr *out)
{
    CUgraphNode node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS params;
    memset(&params, 0, sizeof(params));
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.bytesize = 4 * WORDS;
    OK(cu.cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    *out = params.dptr;
    return node;
}

/* A node that touches the allocation, `deps` before it. */
static CUgraphNode use(CUgraph graph, kind k, CUdeviceptr memory, CUgraphNode before)
{
    const CUdeviceptr keep = buffer;
    buffer = memory;
    CUgraphNode node = add(graph, k, lower, &before, before != NULL);
    buffer = keep;
    return node;
}

static CUgraphNode add_free(CUgraph graph, CUgraphNode before, CUdeviceptr memory)
{
    CUgraphNode node = NULL;
    OK(cu.cuGraphAddMemFreeNode(&node, graph, &before, before != NULL, memory));
    return node;
}

static void uses_within_a_life_are_fine(void)
{
    for (kind k = 0; k < SET; k++) {
        CUgraph graph;
        CUdeviceptr memory, again;
        OK(cu.cuGraphCreate(&graph, 0));
        CUgraphNode alloc = add_alloc(graph, &memory);
        CUgraphNode user = use(graph, k, memory, alloc);
        CUgraphNode end = add_free(graph, user, memory);
        /* The addresses once more, after the free; and somebody beside it all. */
        CUDA_MEM_ALLOC_NODE_PARAMS params;
        CUgraphNode next;
        memset(&params, 0, sizeof(params));
        params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        params.bytesize = 4 * WORDS;
        OK(cu.cuGraphAddMemAllocNode(&next, graph, &end, 1, &params));
        again = params.dptr;
        user = use(graph, k, again, next);
        add_free(graph, user, again);
        add(graph, RD, whole, NULL, 0);
        launch(graph, 3);
        if (!CHECK(reports() == 0 && strstr(log_text, "life") == NULL))
            fprintf(stderr, "%s: %s", names[k], log_text);
        OK(cu.cuGraphDestroy(graph));
    }
}

static bool reported(CUgraph graph, CUgraphNode user, const char *what,
                     CUdeviceptr memory, const char *how, CUgraphNode end)
{
    char sentence[800];
    snprintf(
        sentence, sizeof(sentence),
        "outside of its life: %s (node %llu) writes%s at 0x%llx, 0 bytes into the "
        "graph allocation of 4096 bytes at 0x%llx; %s %llu\n",
        what, id_of(graph, user),
        what[0] == 'k' ? " 4 bytes (line 13 of the PTX, block [0,0,0], thread [0,0,0])"
                       : "",
        (unsigned long long)memory, (unsigned long long)memory, how, id_of(graph, end));
    return said(sentence);
}

static const char *const no_way_to_free =
    "no path of dependencies leads from it to the free of that memory, node";

static void uses_outside_of_a_life_are_told(void)
{
    CUgraph graph;
    CUdeviceptr memory;
    OK(cu.cuGraphCreate(&graph, 0));
    CUgraphNode early = add(graph, RD, (place){1010, 1, 2}, NULL, 0);
    CUgraphNode alloc = add_alloc(graph, &memory);
    OK(cu.cuGraphAddDependencies(graph, &early, &alloc, NULL, 1));
    CUgraphNode in = use(graph, RD, memory, alloc);
    /* Before the free node is there: fills cannot name the memory any more then. */
    CUgraphNode after = use(graph, FILL, memory, NULL);
    CUgraphNode lost = use(graph, FILL, memory, NULL);
    CUgraphNode end = add_free(graph, in, memory);
    CUgraphNode beside = use(graph, WR, memory, alloc);
    OK(cu.cuGraphAddDependencies(graph, &end, &after, NULL, 1));
    launch(graph, 2);
    CHECK(reported(graph, beside, "kernel wr", memory, no_way_to_free, end));
    CHECK(reported(graph, after, "memset", memory,
                   "that memory was freed before it, by node", end));
    CHECK(reported(graph, lost, "memset", memory, no_way_to_free, end));
    OK(cu.cuGraphDestroy(graph));
}

static void a_use_before_the_allocation_is_told(void)
{
    CUgraph graph, ordered;
    CUdeviceptr memory;
    OK(cu.cuGraphCreate(&graph, 0));
    CUgraphNode alloc = add_alloc(graph, &memory);
    CUgraphNode fill = use(graph, FILL, memory, NULL);
    add_free(graph, fill, memory);
    OK(cu.cuGraphAddDependencies(graph, &alloc, &fill, NULL, 0));
    launch(graph, 1);
    CHECK(reported(
        graph, fill, "memset", memory,
        "no path of dependencies leads to it from the allocation of that memory, "
        "node",
        alloc));
    OK(cu.cuGraphDestroy(graph));

    OK(cu.cuGraphCreate(&ordered, 0));
    alloc = add_alloc(ordered, &memory);
    fill = use(ordered, FILL, memory, NULL);
    OK(cu.cuGraphAddDependencies(ordered, &fill, &alloc, NULL, 1));
    add_free(ordered, alloc, memory);
    launch(ordered, 1);
    CHECK(reported(ordered, fill, "memset", memory,
                   "that memory is allocated after it, by node", alloc));
    OK(cu.cuGraphDestroy(ordered));
}

/* The memory of one graph, freed by another. */
static void a_free_of_another_graph_counts(void)
{
    for (int ordered = 0; ordered < 2; ordered++) {
        CUgraph first, second;
        CUgraphExec exec;
        CUdeviceptr memory;
        OK(cu.cuGraphCreate(&first, 0));
        CUgraphNode alloc = add_alloc(first, &memory);
        use(first, FILL, memory, alloc);
        OK(cu.cuGraphInstantiateWithFlags(&exec, first, 0));
        OK(cu.cuGraphLaunch(exec, NULL));
        OK(cu.cuGraphCreate(&second, 0));
        CUgraphNode user = use(second, WR, memory, NULL);
        CUgraphNode end = add_free(second, ordered ? user : NULL, memory);
        launch(second, 1);
        if (ordered)
            CHECK(strstr(log_text, "life") == NULL);
        else
            CHECK(reported(second, user, "kernel wr", memory, no_way_to_free, end));
        OK(cu.cuGraphExecDestroy(exec));
        OK(cu.cuGraphDestroy(first));
        OK(cu.cuGraphDestroy(second));
    }
}

/* `hear` returns only when `post` has stored: still nothing orders `post` before the
 * free. */
static void a_flag_is_no_dependency(void)
{
    if (getenv("SOFTCUDA_SCHEDULE_SEED") != NULL)
        SKIP("the order in which `hear` comes first does not end");
    CUgraph graph;
    CUdeviceptr memory, flag = buffer;
    CUfunction post, hear;
    CUgraphNode nodes[2];
    OK(cu.cuModuleGetFunction(&post, module, "post"));
    OK(cu.cuModuleGetFunction(&hear, module, "hear"));
    OK(cu.cuMemsetD32(flag, 0, 1));
    OK(cu.cuGraphCreate(&graph, 0));
    CUgraphNode alloc = add_alloc(graph, &memory);
    for (int i = 0; i < 2; i++) {
        void *params[] = {&memory, &flag};
        const CUDA_KERNEL_NODE_PARAMS kernel = one_thread(i ? hear : post, params);
        OK(cu.cuGraphAddKernelNode(&nodes[i], graph, &alloc, 1, &kernel));
    }
    CUgraphNode end = add_free(graph, nodes[1], memory);
    launch(graph, 1);
    char sentence[400];
    snprintf(sentence, sizeof(sentence), "outside of its life: kernel post (node %llu) ",
             id_of(graph, nodes[0]));
    CHECK(said(sentence));
    snprintf(sentence, sizeof(sentence), "; %s %llu\n", no_way_to_free,
             id_of(graph, end));
    CHECK(said(sentence));
    CHECK(reports() == 0); /* the flag itself is fine */
    OK(cu.cuGraphDestroy(graph));
}

int main(void)
{
    setenv("SOFTCUDA_CHECK", "race", 1);
    DEVICE_OR_SKIP();
    if (!driver_is_soft) {
        printf("check mode is softcuda's\n");
        return 77;
    }
    use_primary();
    set_up();
    CUlogsCallbackHandle handle;
    OK(cu.cuLogsRegisterCallback(note, NULL, &handle));

    RUN(uses_within_a_life_are_fine);
    RUN(uses_outside_of_a_life_are_told);
    RUN(a_use_before_the_allocation_is_told);
    RUN(a_free_of_another_graph_counts);
    RUN(a_flag_is_no_dependency);
    OK(cu.cuLogsUnregisterCallback(handle));
    return test_done();
}
