// SPDX-License-Identifier: Apache-2.0
/* R32, R42-R50 and what a GPU adds: memory nodes as nodes of a graph. */
#include "memory_help.h"

static void one_executable_at_a_time(void)
{
    CUdeviceptr p;
    CUgraph graph = simple_graph(MIB, 1, true, &p), frees = new_graph(), owner;
    CUgraphExec exec = instantiate(graph, 0), second = NULL;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
    REFUSED(NOT_SUPPORTED, cu.cuGraphInstantiateWithFlags(&second, graph, 0));
    REFUSED(NOT_SUPPORTED, cu.cuGraphInstantiateWithParams(&second, graph, &params));
    CHECK(params.result_out == CUDA_GRAPH_INSTANTIATE_ERROR);
    CHECK(params.hErrNode_out == NULL);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));

    /* A free node alone counts, too. */
    owner = simple_graph(MIB, 1, false, &p);
    add_free(frees, NULL, p);
    CUgraphExec freeing = instantiate(frees, 0);
    REFUSED(NOT_SUPPORTED, cu.cuGraphInstantiateWithFlags(&second, frees, 0));
    drop(freeing, frees);
    drop(exec, graph);
    drop(NULL, owner);
}

static void a_live_allocation_stops_the_next_launch(void)
{
    CUdeviceptr p;
    CUstream stream = new_stream();
    CUgraph graph = simple_graph(MIB, 5, false, &p);
    CUgraphExec exec = instantiate(graph, 0);
    OK(cu.cuGraphLaunch(exec, stream));
    REFUSED(INVALID_VALUE, cu.cuGraphLaunch(exec, stream));
    OK(cu.cuGraphUpload(exec, stream)); /* an upload is fine */
    OK(cu.cuStreamSynchronize(stream));
    CHECK(word_at(p) == 5);
    OK(cu.cuMemFreeAsync(p, stream));
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuMemFree(p));
    OK(cu.cuGraphExecDestroy(exec));

    exec = instantiate(graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    for (int i = 0; i < 3; i++)
        OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuMemFree(p)); /* the last one is live */
    OK(cu.cuStreamDestroy(stream));
    drop(exec, graph);
}

static void addresses_do_not_move(void)
{
    CUdeviceptr p;
    CUstream stream = new_stream();
    CUgraph graph = new_graph();
    CUgraphNode alloc = add_alloc(graph, NULL, 3 * MIB, &p);
    CUgraphNode fill = add_fill(graph, alloc, p, 9, 16);
    CHECK(p != 0 && p % 512 == 0);
    for (int i = 0; i < 2; i++) {
        CUgraphExec exec = instantiate(graph, 0);
        for (int k = 0; k < 2; k++) {
            CUDA_MEM_ALLOC_NODE_PARAMS params = {0};
            OK(cu.cuGraphLaunch(exec, stream));
            OK(cu.cuStreamSynchronize(stream));
            OK(cu.cuGraphMemAllocNodeGetParams(alloc, &params));
            CHECK(params.dptr == p && params.bytesize == 3 * MIB);
            CHECK(word_at(p) == 9);
            OK(cu.cuMemFree(p));
        }
        drop(exec, NULL);
    }
    REFUSED(INVALID_VALUE, cu.cuGraphMemFreeNodeGetParams(alloc, &p));
    REFUSED(INVALID_VALUE,
            cu.cuGraphMemAllocNodeGetParams(fill, &(CUDA_MEM_ALLOC_NODE_PARAMS){0}));
    OK(cu.cuStreamDestroy(stream));
    drop(NULL, graph);
}

/* What adding an alloc node says; the outputs stay as they were unless it succeeds. */
static CUresult add_with(CUDA_MEM_ALLOC_NODE_PARAMS params)
{
    CUgraph graph = new_graph();
    CUgraphNode node = (CUgraphNode)(uintptr_t)0x77;
    params.dptr = 0x55;
    const CUresult result = cu.cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params);
    const bool untouched = node == (CUgraphNode)(uintptr_t)0x77 && params.dptr == 0x55;
    size_t count = 9;
    OK(cu.cuGraphGetNodes(graph, NULL, &count));
    CHECK(untouched == (result != CUDA_SUCCESS));
    CHECK(count == (result == CUDA_SUCCESS));
    OK(cu.cuGraphDestroy(graph));
    return result;
}

static void alloc_nodes_need_plain_device_memory(void)
{
    OK(add_with(want(MIB)));
    CUDA_MEM_ALLOC_NODE_PARAMS p = want(SIZE_MAX);
    REFUSED(OUT_OF_MEMORY, add_with(p));
    p = want(1ull << 50);
    REFUSED(OUT_OF_MEMORY, add_with(p));
    p = want(MIB), p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
    REFUSED(INVALID_VALUE, add_with(p));
    p = want(MIB), p.poolProps.allocType = (CUmemAllocationType)99;
    REFUSED(INVALID_VALUE, add_with(p));
    p = want(MIB), p.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    REFUSED(NOT_SUPPORTED, add_with(p));
    p = want(MIB), p.poolProps.handleTypes = (CUmemAllocationHandleType)0x100;
    REFUSED(INVALID_VALUE, add_with(p));
    p = want(MIB), p.poolProps.location.type = CU_MEM_LOCATION_TYPE_INVALID;
    REFUSED(INVALID_VALUE, add_with(p));
    p = want(MIB), p.poolProps.location.type = CU_MEM_LOCATION_TYPE_HOST;
    REFUSED(NOT_SUPPORTED, add_with(p));
    p = want(MIB), p.poolProps.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    REFUSED(NOT_SUPPORTED, add_with(p));
    p = want(MIB), p.poolProps.location.type = (CUmemLocationType)99;
    REFUSED(INVALID_VALUE, add_with(p));
    p = want(MIB), p.poolProps.location.id = -1;
    REFUSED(INVALID_VALUE, add_with(p));
    p = want(MIB), p.poolProps.location.id = 99;
    REFUSED(INVALID_VALUE, add_with(p));
    p = want(MIB), p.poolProps.reserved[3] = 1;
    REFUSED(INVALID_VALUE, add_with(p));
    p = want(MIB), p.poolProps.maxSize = 4096; /* says nothing here */
    OK(add_with(p));
}

static void descriptors_name_devices(void)
{
    CUmemAccessDesc descs[20];
    memset(descs, 0, sizeof(descs));
    for (int i = 0; i < 20; i++) {
        descs[i].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        descs[i].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    }
    int devices = 0;
    OK(cu.cuDeviceGetCount(&devices));
    CUDA_MEM_ALLOC_NODE_PARAMS p = want(MIB);
    p.accessDescs = descs;
    p.accessDescCount = 1;
    OK(add_with(p));
    p.accessDescCount = (size_t)devices + 1;
    REFUSED(INVALID_VALUE, add_with(p));
    p.accessDescCount = 20;
    REFUSED(INVALID_VALUE, add_with(p));
    p.accessDescCount = 1;
    descs[0].location.id = 77;
    REFUSED(INVALID_DEVICE, add_with(p));
    descs[0].location.id = 0;
    descs[0].flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    REFUSED(NOT_SUPPORTED, add_with(p));
    descs[0].flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    REFUSED(NOT_SUPPORTED, add_with(p));
    descs[0].flags = (CUmemAccess_flags)9;
    REFUSED(INVALID_VALUE, add_with(p));
    descs[0].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    descs[0].location.type = CU_MEM_LOCATION_TYPE_HOST;
    OK(add_with(p)); /* not looked at */
    descs[0].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    if (driver_is_soft) { /* NVIDIA's driver reads the array without asking */
        p.accessDescs = NULL;
        REFUSED(INVALID_VALUE, add_with(p));
    }
}

static void zero_bytes(void)
{
    REFUSED(INVALID_VALUE, add_with(want(0)));
    CUstream stream = new_stream();
    CUgraph graph = NULL;
    CUdeviceptr p = 77;
    size_t count = 9;
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cu.cuMemAllocAsync(&p, 0, stream));
    CHECK(p == 0);
    OK(cu.cuMemFreeAsync(0, stream));
    OK(cu.cuStreamEndCapture(stream, &graph));
    OK(cu.cuGraphGetNodes(graph, NULL, &count));
    CHECK(count == 0);
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuStreamDestroy(stream));
}

static void a_free_node_needs_an_allocation(void)
{
    CUgraph graph = new_graph();
    CUdeviceptr p, device = 0, pooled = 0;
    CUgraphNode alloc = add_alloc(graph, NULL, MIB, &p);
    OK(cu.cuMemAlloc(&device, MIB));
    OK(cu.cuMemAllocAsync(&pooled, MIB, NULL));
    REFUSED(INVALID_VALUE, try_free(graph, NULL, device));
    REFUSED(INVALID_VALUE, try_free(graph, NULL, pooled));
    REFUSED(INVALID_VALUE, try_free(graph, NULL, 12345));
    REFUSED(INVALID_VALUE, try_free(graph, NULL, p + 256));
    CUgraphNode freed = add_free(graph, alloc, p);
    CUdeviceptr said = 0;
    OK(cu.cuGraphMemFreeNodeGetParams(freed, &said));
    CHECK(said == p);
    REFUSED(INVALID_VALUE, try_free(graph, freed, p));
    size_t count = 0;
    OK(cu.cuGraphGetNodes(graph, NULL, &count));
    CHECK(count == 2);
    OK(cu.cuMemFree(device));
    OK(cu.cuMemFreeAsync(pooled, NULL));
    drop(NULL, graph);
}

static void who_may_free(void)
{
    CUdeviceptr p;
    CUgraph owner = simple_graph(MIB, 1, false, &p), one = new_graph(), two = new_graph();
    add_free(one, NULL, p);
    add_free(two, NULL, p); /* several others may */
    REFUSED(INVALID_VALUE, try_free(one, NULL, p));
    REFUSED(INVALID_VALUE, try_free(owner, NULL, p));
    drop(NULL, one);
    drop(NULL, two);
    drop(NULL, owner);
    owner = simple_graph(MIB, 1, true, &p);
    one = new_graph();
    REFUSED(INVALID_VALUE, try_free(one, NULL, p)); /* the owner does */
    drop(NULL, one);
    drop(NULL, owner);
}

static void too_late_to_free_it_in_its_graph(void)
{
    CUdeviceptr p;
    CUgraph graph = simple_graph(MIB, 1, false, &p);
    CUgraphExec exec = instantiate(graph, 0);
    REFUSED(INVALID_VALUE, try_free(graph, NULL, p));
    drop(exec, NULL);
    REFUSED(INVALID_VALUE, try_free(graph, NULL, p));
    drop(NULL, graph);

    /* It counts that it was tried, too. */
    CUstream stream = new_stream();
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cu.cuMemAllocAsync(&p, MIB, stream));
    OK(cu.cuMemsetD32Async(4096, 1, 4, stream)); /* nobody's memory */
    OK(cu.cuStreamEndCapture(stream, &graph));
    REFUSED(INVALID_VALUE, cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    REFUSED(INVALID_VALUE, try_free(graph, NULL, p));
    drop(NULL, graph);
    OK(cu.cuStreamDestroy(stream));
}

static CUresult fill_node(CUgraph graph, CUgraphNode before, CUdeviceptr address)
{
    CUcontext context = NULL;
    const CUDA_MEMSET_NODE_PARAMS params = {
        .dst = address, .value = 1, .elementSize = 4, .width = 4, .height = 1};
    CUgraphNode node = NULL;
    OK(cu.cuCtxGetCurrent(&context));
    return cu.cuGraphAddMemsetNode(&node, graph, before ? &before : NULL, before != NULL,
                                   &params, context);
}

static CUresult copy_node(CUgraph graph, CUdeviceptr to, CUdeviceptr from)
{
    CUcontext context = NULL;
    const CUDA_MEMCPY3D params = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                  .srcDevice = from,
                                  .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                  .dstDevice = to,
                                  .WidthInBytes = 16,
                                  .Height = 1,
                                  .Depth = 1};
    CUgraphNode node = NULL;
    OK(cu.cuCtxGetCurrent(&context));
    return cu.cuGraphAddMemcpyNode(&node, graph, NULL, 0, &params, context);
}

static void what_a_node_may_name(void)
{
    CUdeviceptr open, freed;
    CUgraph keeps = simple_graph(MIB, 1, false, &open), frees = new_graph(),
            other = new_graph();
    CUgraphNode alloc = add_alloc(frees, NULL, MIB, &freed);
    CUgraphNode gone = add_free(frees, alloc, freed);
    OK(fill_node(other, NULL, open)); /* of another graph, and never launched */
    OK(fill_node(keeps, NULL, open + 4096));
    REFUSED(INVALID_VALUE, fill_node(keeps, NULL, open + MIB - 8)); /* too long */
    REFUSED(INVALID_VALUE, fill_node(other, NULL, freed));
    REFUSED(INVALID_VALUE, fill_node(frees, alloc, freed));
    REFUSED(INVALID_VALUE, fill_node(frees, gone, freed));
    OK(copy_node(other, open, open + 65536));
    REFUSED(INVALID_VALUE, copy_node(other, freed, freed + 64));
    REFUSED(INVALID_VALUE, copy_node(frees, freed, freed + 64));

    CUstream stream = new_stream();
    CUgraph captured = NULL;
    size_t count = 9;
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    REFUSED(INVALID_VALUE, cu.cuMemcpyDtoDAsync(freed, open, 16, stream));
    OK(cu.cuStreamEndCapture(stream, &captured));
    OK(cu.cuGraphGetNodes(captured, NULL, &count));
    CHECK(count == 0);
    OK(cu.cuStreamDestroy(stream));
    drop(NULL, captured);
    drop(NULL, other);
    drop(NULL, frees);
    drop(NULL, keeps);
}

static void later_nodes_are_no_part_of_it(void)
{
    CUdeviceptr p, late;
    CUstream a = new_stream(), b = new_stream();
    const uint64_t base = settled();
    CUgraph graph = simple_graph(2 * MIB, 3, false, &p);
    CUgraphExec exec =
        instantiate(graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    add_alloc(graph, NULL, 33 * MIB, &late);
    OK(cu.cuGraphLaunch(exec, a));
    OK(cu.cuGraphLaunch(exec, b));
    CHECK(reserved_now() - base == STEP);
    OK(cu.cuCtxSynchronize());
    CHECK(word_at(p) == 3);
    REFUSED(INVALID_VALUE, cu.cuMemFree(late));
    OK(cu.cuMemFree(p));
    drop(exec, NULL);
    exec = instantiate(graph, 0); /* now it has them */
    OK(cu.cuGraphLaunch(exec, a));
    CHECK(reserved_now() - base > STEP);
    OK(cu.cuCtxSynchronize());
    OK(cu.cuMemFree(late));
    OK(cu.cuMemFree(p));
    drop(exec, graph);
    CHECK(settled() == base);
    OK(cu.cuStreamDestroy(a));
    OK(cu.cuStreamDestroy(b));
}

static void nothing_is_deleted_beside_memory_nodes(void)
{
    CUdeviceptr p;
    CUgraph graph = new_graph();
    CUgraphNode alloc = add_alloc(graph, NULL, MIB, &p), a = NULL, b = NULL;
    CUgraphNode freed = add_free(graph, alloc, p);
    OK(cu.cuGraphAddEmptyNode(&a, graph, NULL, 0));
    OK(cu.cuGraphAddEmptyNode(&b, graph, &a, 1));
    REFUSED(NOT_SUPPORTED, cu.cuGraphDestroyNode(a));
    REFUSED(NOT_SUPPORTED, cu.cuGraphDestroyNode(alloc));
    REFUSED(NOT_SUPPORTED, cu.cuGraphDestroyNode(freed));
    REFUSED(NOT_SUPPORTED, cu.cuGraphRemoveDependencies(graph, &a, &b, NULL, 1));
    REFUSED(NOT_SUPPORTED, cu.cuGraphRemoveDependencies(graph, &alloc, &freed, NULL, 1));
    OK(cu.cuGraphAddDependencies(graph, &freed, &a, NULL, 1));
    size_t nodes = 0, edges = 0;
    OK(cu.cuGraphGetNodes(graph, NULL, &nodes));
    OK(cu.cuGraphGetEdges(graph, NULL, NULL, NULL, &edges));
    CHECK(nodes == 4 && edges == 3);
    CUgraphExec exec = instantiate(graph, 0); /* all of it is as good as before */
    OK(cu.cuGraphLaunch(exec, NULL));
    drop(exec, graph);
}

static CUresult move_child(CUgraph parent, CUgraphNode before, CUgraph child,
                           CUgraphNode *out)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    params.graph.graph = child;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    return cu.cuGraphAddNode(out, parent, before ? &before : NULL, NULL, before != NULL,
                             &params);
}

static void a_moved_child_has_its_memory(void)
{
    CUdeviceptr p, out = 0;
    CUstream stream = new_stream();
    CUgraph parent = new_graph(), child = new_graph(), got = NULL;
    CUgraphNode node = NULL;
    OK(cu.cuMemAlloc(&out, 4096));
    OK(cu.cuMemsetD32(out, 0, 1024));
    CUgraphNode inner = add_alloc(child, NULL, 4 * MIB, &p);
    inner = add_fill(child, inner, p, 1234, 1024);
    inner = add_copy(child, inner, out, p, 4096);
    add_free(child, inner, p);
    OK(move_child(parent, NULL, child, &node));
    OK(cu.cuGraphChildGraphNodeGetGraph(node, &got));
    CHECK(got == child);
    CUgraphExec exec = instantiate(parent, 0);
    for (int i = 0; i < 2 && exec; i++) {
        OK(cu.cuCtxSynchronize()); /* the fill of 0 is in another stream */
        OK(cu.cuGraphLaunch(exec, stream));
        OK(cu.cuStreamSynchronize(stream));
        CHECK(word_at(out) == 1234 && word_at(out + 4092) == 1234);
        OK(cu.cuMemsetD32(out, 0, 1024));
    }
    drop(exec, parent);
    OK(cu.cuMemFree(out));
    OK(cu.cuStreamDestroy(stream));
}

static void no_memory_nodes_into_a_child(void)
{
    CUdeviceptr p;
    CUgraph parent = new_graph(), child = simple_graph(MIB, 1, true, &p);
    CUgraphNode node = NULL;
    OK(move_child(parent, NULL, child, &node));
    CUDA_MEM_ALLOC_NODE_PARAMS params = want(MIB);
    REFUSED(NOT_SUPPORTED, cu.cuGraphAddMemAllocNode(&node, child, NULL, 0, &params));
    drop(NULL, parent);
}

static void run(void)
{
    RULE_TEST(R32, one_executable_at_a_time);
    RULE_TEST(R35, a_live_allocation_stops_the_next_launch);
    RULE_TEST(R42, addresses_do_not_move);
    RULE_TEST(R43, alloc_nodes_need_plain_device_memory);
    RULE_TEST(R44, descriptors_name_devices);
    RULE_TEST(M_alloc_zero, zero_bytes);
    RULE_TEST(R45, a_free_node_needs_an_allocation);
    RULE_TEST(R46, who_may_free);
    RULE_TEST(M_left_unfreed, too_late_to_free_it_in_its_graph);
    RULE_TEST(M_names_freed, what_a_node_may_name);
    RULE_TEST(M_late_nodes, later_nodes_are_no_part_of_it);
    RULE_TEST(R48, nothing_is_deleted_beside_memory_nodes);
    RULE_TEST(R49, a_moved_child_has_its_memory);
    RULE_TEST(R50, no_memory_nodes_into_a_child);
}

int main(int argc, char **argv)
{
    return rule_main(argc, argv, run);
}
