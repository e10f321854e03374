// SPDX-License-Identifier: Apache-2.0
/* Graphs with memory nodes for want of memory: each allocation of softcuda's own, and
 * each mapping of physical memory, fails in turn. What fails gives
 * CUDA_ERROR_OUT_OF_MEMORY and leaves everything as it was, so that it works the next
 * time. */
#include <string.h>

#include "conformance/driver.h"

#define MIB (1ull << 20)

static long (*fail_allocation)(long nth), (*fail_mapping)(long nth);
static CUcontext context;
static CUstream stream;

static bool worked(CUresult result, long nth)
{
    if (result == CUDA_SUCCESS)
        return true;
    if (!CHECK(result == CUDA_ERROR_OUT_OF_MEMORY))
        fprintf(stderr, "  failure %ld: %d\n", nth, (int)result);
    return false;
}

/* `fail(-1)` ended the sweep: it was beyond the last call. */
#define SWEEP(nth)                                                                       \
    long nth = 0, last = 0;                                                              \
    !last &&nth < 5000 && test_failures < 20;                                            \
    nth++
#define END_OF_SWEEP(fail, fine)                                                         \
    do {                                                                                 \
        last = fail(-1) >= 0;                                                            \
        if (last)                                                                        \
            CHECK(fine);                                                                 \
    } while (0)

/* ---- building ---- */

static CUDA_MEM_ALLOC_NODE_PARAMS want(size_t bytes)
{
    return (CUDA_MEM_ALLOC_NODE_PARAMS){
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}},
        .bytesize = bytes};
}

static size_t count_of(CUgraph graph)
{
    size_t count = 0;
    OK(cu.cuGraphGetNodes(graph, NULL, &count));
    return count;
}

static CUgraphNode add_fill(CUgraph graph, CUgraphNode before, CUdeviceptr at,
                            unsigned value)
{
    const CUDA_MEMSET_NODE_PARAMS params = {
        .dst = at, .value = value, .elementSize = 4, .width = 1024, .height = 1};
    CUgraphNode node = NULL;
    OK(cu.cuGraphAddMemsetNode(&node, graph, &before, 1, &params, context));
    return node;
}

static CUgraph memory_graph(size_t bytes, unsigned value, bool frees, CUdeviceptr *out)
{
    CUgraph graph;
    CUgraphNode node, gone;
    CUDA_MEM_ALLOC_NODE_PARAMS params = want(bytes);
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    node = add_fill(graph, node, params.dptr, value);
    if (frees)
        OK(cu.cuGraphAddMemFreeNode(&gone, graph, &node, 1, params.dptr));
    *out = params.dptr;
    return graph;
}

static unsigned word_at(CUdeviceptr address)
{
    unsigned word = 0;
    OK(cu.cuMemcpyDtoH(&word, address, sizeof(word)));
    return word;
}

static const CUgraphNode untouched = (CUgraphNode)(uintptr_t)0x77;

static void alloc_nodes_are_added_or_not(void)
{
    for (int with_room = 0; with_room < 2; with_room++)
        for (SWEEP(nth)) {
            CUgraph graph;
            CUgraphNode node = untouched, first;
            CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                      CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
            CUDA_MEM_ALLOC_NODE_PARAMS params = want(3 * MIB), other = want(9 * MIB);
            OK(cu.cuGraphCreate(&graph, 0));
            if (with_room)
                OK(cu.cuGraphAddMemAllocNode(&first, graph, NULL, 0, &other));
            params.accessDescs = &access;
            params.accessDescCount = 1;
            params.dptr = 5;
            fail_allocation(nth);
            const bool fine =
                worked(cu.cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), nth);
            END_OF_SWEEP(fail_allocation, fine);
            CHECK(fine == (node != untouched) && fine == (params.dptr != 5));
            CHECK(count_of(graph) == (size_t)with_room + fine);
            if (!fine)
                OK(cu.cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
            OK(cu.cuGraphDestroy(graph));
        }
}

static void free_nodes_are_added_or_not(void)
{
    for (SWEEP(nth)) {
        CUgraph graph;
        CUgraphNode alloc, node = untouched, next;
        CUDA_MEM_ALLOC_NODE_PARAMS params = want(MIB), again = want(MIB);
        OK(cu.cuGraphCreate(&graph, 0));
        OK(cu.cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
        fail_allocation(nth);
        const bool fine =
            worked(cu.cuGraphAddMemFreeNode(&node, graph, &alloc, 1, params.dptr), nth);
        END_OF_SWEEP(fail_allocation, fine);
        CHECK(fine == (node != untouched) && count_of(graph) == (size_t)1 + fine);
        if (!fine)
            OK(cu.cuGraphAddMemFreeNode(&node, graph, &alloc, 1, params.dptr));
        OK(cu.cuGraphAddMemAllocNode(&next, graph, &node, 1, &again));
        OK(cu.cuGraphDestroy(graph));
    }
}

static void children_move_or_not(void)
{
    for (SWEEP(nth)) {
        CUdeviceptr p;
        CUgraph parent, child = memory_graph(MIB, 1, true, &p);
        CUgraphNode node = untouched;
        CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
        params.graph.graph = child;
        params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
        OK(cu.cuGraphCreate(&parent, 0));
        fail_allocation(nth);
        const bool fine =
            worked(cu.cuGraphAddNode(&node, parent, NULL, NULL, 0, &params), nth);
        END_OF_SWEEP(fail_allocation, fine);
        CHECK(fine == (node != untouched) && count_of(parent) == (size_t)fine);
        if (!fine) { /* still the program's */
            CUgraphExec exec;
            OK(cu.cuGraphInstantiateWithFlags(&exec, child, 0));
            OK(cu.cuGraphExecDestroy(exec));
            OK(cu.cuGraphDestroy(child));
        }
        OK(cu.cuGraphDestroy(parent));
    }
}

static void captured_allocations_are_nodes_or_not(void)
{
    for (SWEEP(nth)) {
        CUgraph graph = NULL;
        CUdeviceptr p = 5;
        OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        fail_allocation(nth);
        const bool fine = worked(cu.cuMemAllocAsync(&p, MIB, stream), nth);
        const bool freed = fine && worked(cu.cuMemFreeAsync(p, stream), nth);
        END_OF_SWEEP(fail_allocation, freed);
        CHECK(fine == (p != 0)); /* 0 on failure, as an H100 */
        if (!fine)               /* the program got it: the capture goes on */
            OK(cu.cuMemAllocAsync(&p, MIB, stream));
        if (!freed)
            OK(cu.cuMemFreeAsync(p, stream));
        OK(cu.cuStreamEndCapture(stream, &graph));
        CHECK(count_of(graph) == 2);
        OK(cu.cuGraphDestroy(graph));
    }
}

/* A failed instantiation takes nothing away: a free node can still be added. */
static void a_failed_instantiation_leaves_the_graph(void)
{
    for (SWEEP(nth)) {
        CUdeviceptr p;
        CUgraph graph = memory_graph(MIB, 1, false, &p);
        CUgraphExec exec = NULL;
        CUgraphNode nodes[2], gone;
        size_t count = 2;
        OK(cu.cuGraphGetNodes(graph, nodes, &count));
        fail_allocation(nth);
        const bool fine = worked(cu.cuGraphInstantiateWithFlags(&exec, graph, 0), nth);
        END_OF_SWEEP(fail_allocation, fine);
        CHECK(fine == (exec != NULL));
        const CUresult result = cu.cuGraphAddMemFreeNode(&gone, graph, &nodes[1], 1, p);
        CHECK(result == (fine ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS));
        if (!fine)
            OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
        OK(cu.cuGraphLaunch(exec, stream));
        OK(cu.cuStreamSynchronize(stream));
        if (fine)
            OK(cu.cuMemFree(p));
        OK(cu.cuGraphExecDestroy(exec));
        OK(cu.cuGraphDestroy(graph));
    }
}

/* ---- mapping ---- */

static uint64_t reserved(void)
{
    uint64_t bytes = 0;
    OK(cu.cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,
                                       &bytes));
    return bytes;
}

enum { LAUNCH, UPLOAD, INSTANTIATE, WAYS };

static CUresult bring(int way, CUgraph graph, CUgraphExec *exec)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD,
                                            .hUploadStream = stream};
    switch (way) {
    case LAUNCH: return cu.cuGraphLaunch(*exec, stream);
    case UPLOAD: return cu.cuGraphUpload(*exec, stream);
    default: return cu.cuGraphInstantiateWithParams(exec, graph, &params);
    }
}

/* Beside memory that is live, in pieces of chunks that do not follow each other. */
static void memory_is_mapped_or_not(long (*fail)(long), int way)
{
    CUdeviceptr p, q, live;
    CUgraph keeps = memory_graph(5 * MIB, 42, false, &live),
            small = memory_graph(3 * MIB, 1, true, &q);
    CUgraphExec keeping, little;
    OK(cu.cuGraphInstantiateWithFlags(&keeping, keeps, 0));
    OK(cu.cuGraphInstantiateWithFlags(&little, small, 0));
    for (SWEEP(nth)) {
        CUgraph graph = memory_graph(70 * MIB, 7, false, &p);
        CUgraphExec exec = NULL;
        OK(cu.cuGraphLaunch(little, stream));
        OK(cu.cuGraphLaunch(keeping, stream));
        OK(cu.cuStreamSynchronize(stream));
        if (way != INSTANTIATE)
            OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
        const uint64_t before = reserved();
        fail(nth);
        const bool fine = worked(bring(way, graph, &exec), nth);
        OK(cu.cuStreamSynchronize(stream));
        END_OF_SWEEP(fail, fine);
        if (!fine)
            CHECK(reserved() == before);
        CHECK(word_at(live) == 42); /* whatever happened */
        if (!fine && way == INSTANTIATE)
            OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
        if (!fine || way != LAUNCH)
            OK(cu.cuGraphLaunch(exec, stream));
        OK(cu.cuGraphLaunch(little, stream));
        OK(cu.cuStreamSynchronize(stream));
        CHECK(word_at(p) == 7 && word_at(live) == 42);
        OK(cu.cuMemFree(p));
        OK(cu.cuMemFree(live));
        OK(cu.cuGraphExecDestroy(exec));
        OK(cu.cuGraphDestroy(graph));
        OK(cu.cuDeviceGraphMemTrim(0));
        CHECK(reserved() == 0);
    }
    OK(cu.cuGraphExecDestroy(keeping));
    OK(cu.cuGraphExecDestroy(little));
    OK(cu.cuGraphDestroy(keeps));
    OK(cu.cuGraphDestroy(small));
}

static void launches_find_memory_or_not(void)
{
    for (int way = 0; way < WAYS; way++)
        memory_is_mapped_or_not(fail_allocation, way);
}

static void launches_find_mappings_or_not(void)
{
    for (int way = 0; way < WAYS; way++)
        memory_is_mapped_or_not(fail_mapping, way);
}

int main(void)
{
    DRIVER_OR_SKIP();
    *(void **)&fail_allocation = dlsym(driver_library, "gph_softcuda_fail_allocation");
    *(void **)&fail_mapping = dlsym(driver_library, "gph_softcuda_fail_mapping");
    if (fail_allocation == NULL || fail_mapping == NULL) {
        printf("only softcuda can be made to fail\n");
        return 77;
    }
    OK(cu.cuInit(0));
    use_primary();
    OK(cu.cuCtxGetCurrent(&context));
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    RUN(alloc_nodes_are_added_or_not);
    RUN(free_nodes_are_added_or_not);
    RUN(children_move_or_not);
    RUN(captured_allocations_are_nodes_or_not);
    RUN(a_failed_instantiation_leaves_the_graph);
    RUN(launches_find_memory_or_not);
    RUN(launches_find_mappings_or_not);
    return test_done();
}
