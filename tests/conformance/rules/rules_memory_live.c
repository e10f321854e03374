// SPDX-License-Identifier: Apache-2.0
/* R47, R52-R60 and what a GPU adds: the memory of memory nodes, and what is live. */
#include <unistd.h>

#include "memory_help.h"

static void three_ways_to_free(void)
{
    CUdeviceptr p;
    CUstream a = new_stream(), b = new_stream();
    CUgraph owner = simple_graph(MIB, 8, false, &p), other = new_graph();
    add_free(other, NULL, p);
    CUgraphExec exec = instantiate(owner, 0), freeing = instantiate(other, 0);
    OK(cu.cuGraphLaunch(exec, a));
    OK(cu.cuStreamSynchronize(a));
    CHECK(word_at(p) == 8);
    OK(cu.cuMemFree(p));
    REFUSED(INVALID_VALUE, cu.cuMemFree(p));
    OK(cu.cuGraphLaunch(exec, a));
    REFUSED(INVALID_VALUE, cu.cuMemFreeAsync(p + 256, b)); /* not where it begins */
    OK(cu.cuMemFreeAsync(p, b));
    REFUSED(INVALID_VALUE, cu.cuMemFreeAsync(p, b));
    OK(cu.cuGraphLaunch(exec, a));
    OK(cu.cuGraphLaunch(freeing, a));
    OK(cu.cuGraphLaunch(exec, a));
    OK(cu.cuGraphLaunch(freeing, a));
    REFUSED(INVALID_VALUE, cu.cuMemFree(p));
    drop(freeing, other);
    drop(exec, owner);
    OK(cu.cuStreamDestroy(a));
    OK(cu.cuStreamDestroy(b));
}

static void nothing_to_free(void)
{
    CUdeviceptr p;
    CUgraph owner = simple_graph(MIB, 8, false, &p), other = new_graph();
    add_free(other, NULL, p);
    CUgraphExec exec = instantiate(owner, 0), freeing = instantiate(other, 0);
    REFUSED(INVALID_VALUE, cu.cuGraphLaunch(freeing, NULL));
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuGraphLaunch(freeing, NULL));
    REFUSED(INVALID_VALUE, cu.cuGraphLaunch(freeing, NULL));
    drop(freeing, other);
    drop(exec, owner);
}

static void addresses_that_are_not_live(void)
{
    CUdeviceptr p;
    CUstream stream = new_stream();
    CUgraph graph = simple_graph(MIB, 3, false, &p);
    CUgraphExec exec = instantiate(graph, 0);
    unsigned word = 7;
    CUmemorytype type = 0;
    REFUSED(INVALID_VALUE, cu.cuMemsetD8(p, 1, 16));
    REFUSED(INVALID_VALUE, cu.cuMemcpyDtoH(&word, p, 4));
    REFUSED(INVALID_VALUE, cu.cuMemFree(p));
    OK(cu.cuGraphUpload(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    REFUSED(INVALID_VALUE, cu.cuMemsetD8(p, 1, 16));
    REFUSED(INVALID_VALUE,
            cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuMemcpyDtoH(&word, p, 4));
    CHECK(word == 3);
    OK(cu.cuMemsetD8(p, 1, 16));
    REFUSED(INVALID_VALUE, cu.cuMemcpyDtoH(&word, p + MIB - 2, 4));

    CUdeviceptr base = 0;
    size_t size = 0;
    CUcontext context = (CUcontext)(uintptr_t)1;
    CUmemoryPool pool = (CUmemoryPool)(uintptr_t)1;
    OK(cu.cuMemGetAddressRange(&base, &size, p + 1000));
    CHECK(base == p && size == MIB);
    OK(cu.cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, p));
    OK(cu.cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p));
    CHECK(context == NULL && pool == NULL);
    OK(cu.cuMemFree(p));
    REFUSED(INVALID_VALUE, cu.cuMemsetD8(p, 1, 16));
    REFUSED(NOT_FOUND, cu.cuMemGetAddressRange(&base, &size, p));
    OK(cu.cuStreamDestroy(stream));
    drop(exec, graph);
}

/* Whether two allocations share an address. */
static bool overlap(CUdeviceptr a, CUdeviceptr b, size_t bytes)
{
    return a < b + bytes && b < a + bytes;
}

static void addresses_are_used_again_behind_the_free(void)
{
    CUdeviceptr p[6];
    CUgraph graph = new_graph();
    CUgraphNode alloc = add_alloc(graph, NULL, MIB, &p[0]);
    CUgraphNode freed = add_free(graph, alloc, p[0]);
    add_alloc(graph, NULL, MIB, &p[1]);
    add_alloc(graph, freed, MIB, &p[2]);
    add_alloc(graph, freed, MIB, &p[3]);
    CHECK(!overlap(p[0], p[1], MIB)); /* nothing says that it comes after */
    CHECK(p[2] == p[0]);
    CHECK(!overlap(p[3], p[2], MIB) && !overlap(p[3], p[1], MIB)); /* taken already */

    /* Neighbors that are free become one. */
    CUgraph joined = new_graph();
    CUgraphNode node = add_alloc(joined, NULL, 4 * MIB, &p[0]);
    node = add_alloc(joined, node, 4 * MIB, &p[1]);
    node = add_free(joined, node, p[0]);
    node = add_free(joined, node, p[1]);
    add_alloc(joined, node, 8 * MIB, &p[2]);
    CHECK(p[2] == p[0] && p[1] == p[0] + 4 * MIB);

    /* A free that only a later edge puts before the allocation does not count. */
    CUgraph late = new_graph();
    CUgraphNode middle = NULL;
    node = add_alloc(late, NULL, MIB, &p[0]);
    node = add_free(late, node, p[0]);
    OK(cu.cuGraphAddEmptyNode(&middle, late, NULL, 0));
    OK(cu.cuGraphAddDependencies(late, &node, &middle, NULL, 1));
    add_alloc(late, middle, MIB, &p[1]);
    CHECK(!overlap(p[0], p[1], MIB));

    /* What was freed is not joined with what nobody has had yet. */
    CUgraph apart = new_graph();
    node = add_alloc(apart, NULL, MIB / 2, &p[0]);
    node = add_free(apart, node, p[0]);
    add_alloc(apart, node, 2 * MIB, &p[1]);
    CHECK(!overlap(p[0], p[1], MIB / 2));
    drop(NULL, apart);
    drop(NULL, late);
    drop(NULL, joined);
    drop(NULL, graph);
}

static void captured_streams_use_their_own_again(void)
{
    CUdeviceptr x, y, z, w, t;
    CUstream a = new_stream(), b = new_stream();
    CUevent event = NULL;
    CUgraph graph = NULL;
    OK(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cu.cuMemAllocAsync(&x, MIB, a));
    OK(cu.cuEventRecord(event, a));
    OK(cu.cuStreamWaitEvent(b, event, 0));
    OK(cu.cuMemAllocAsync(&y, MIB, b));
    OK(cu.cuMemFreeAsync(x, a));
    OK(cu.cuMemFreeAsync(y, b));
    OK(cu.cuMemAllocAsync(&z, MIB, a));
    OK(cu.cuMemAllocAsync(&w, MIB, b));
    CHECK(z == x && w == y && !overlap(x, y, MIB));
    OK(cu.cuEventRecord(event, b));
    OK(cu.cuStreamWaitEvent(a, event, 0));
    OK(cu.cuMemFreeAsync(z, a));
    OK(cu.cuMemFreeAsync(w, a));
    OK(cu.cuMemAllocAsync(&t, 2 * MIB, a));
    CHECK(t == x);
    OK(cu.cuMemFreeAsync(t, a));
    OK(cu.cuStreamEndCapture(a, &graph));
    CUgraphExec exec = instantiate(graph, 0);
    OK(cu.cuGraphLaunch(exec, a));
    OK(cu.cuGraphLaunch(exec, a));
    drop(exec, graph);
    OK(cu.cuEventDestroy(event));
    OK(cu.cuStreamDestroy(a));
    OK(cu.cuStreamDestroy(b));
}

static void memory_is_shared_in_turn(void)
{
    CUdeviceptr p[5];
    CUstream a = new_stream(), b = new_stream();
    const uint64_t base = settled();
    CUgraph graphs[5];
    CUgraphExec execs[5];
    for (int i = 0; i < 5; i++) {
        graphs[i] = simple_graph(64 * MIB, (unsigned)i, i < 2, &p[i]);
        execs[i] = instantiate(graphs[i], 0);
    }
    OK(cu.cuGraphLaunch(execs[0], a));
    OK(cu.cuGraphLaunch(execs[1], a)); /* after it in the same stream */
    CHECK(reserved_now() - base == 2 * STEP);
    OK(cu.cuStreamSynchronize(a));
    OK(cu.cuGraphLaunch(execs[1], b)); /* nothing else runs */
    OK(cu.cuStreamSynchronize(b));
    CHECK(reserved_now() - base == 2 * STEP);
    /* What is live has memory of its own: 64 more each after the first. */
    for (int i = 2; i < 5; i++) {
        OK(cu.cuGraphLaunch(execs[i], a));
        CHECK(reserved_now() - base == (uint64_t)(i - 1) * 2 * STEP);
    }
    OK(cu.cuMemFreeAsync(p[2], a));
    OK(cu.cuGraphLaunch(execs[0], a)); /* in the place of what was freed */
    CHECK(reserved_now() - base == 6 * STEP);
    OK(cu.cuStreamSynchronize(a));
    CHECK(word_at(p[3]) == 3 && word_at(p[4]) == 4);
    OK(cu.cuMemFree(p[3]));
    OK(cu.cuMemFree(p[4]));
    for (int i = 0; i < 5; i++)
        drop(execs[i], graphs[i]);
    CHECK(settled() == base);
    OK(cu.cuStreamDestroy(a));
    OK(cu.cuStreamDestroy(b));
}

static void CUDA_CB rest(void *user)
{
    (void)user;
    usleep(20000);
}

/* alloc, fill, a rest on the host, copy out, free. */
static CUgraph slow_graph(CUdeviceptr out, unsigned value)
{
    CUdeviceptr p;
    CUgraph graph = new_graph();
    CUgraphNode node = add_alloc(graph, NULL, 64 * MIB, &p), host = NULL;
    const CUDA_HOST_NODE_PARAMS params = {.fn = rest};
    node = add_fill(graph, node, p, value, 64 * MIB / 4);
    OK(cu.cuGraphAddHostNode(&host, graph, &node, 1, &params));
    node = add_copy(graph, host, out, p, 64 * MIB);
    add_free(graph, node, p);
    return graph;
}

static void graphs_that_run_at_once_do_not_share(void)
{
    CUdeviceptr out[2];
    CUstream streams[2] = {new_stream(), new_stream()};
    CUgraph graphs[2];
    CUgraphExec execs[2];
    const uint64_t base = settled();
    for (unsigned i = 0; i < 2; i++) {
        OK(cu.cuMemAlloc(&out[i], 64 * MIB));
        graphs[i] = slow_graph(out[i], 100 + i);
        execs[i] = instantiate(graphs[i], 0);
    }
    OK(cu.cuGraphLaunch(execs[0], streams[0]));
    OK(cu.cuGraphLaunch(execs[1], streams[0]));
    OK(cu.cuStreamSynchronize(streams[0])); /* both use the same memory */
    CHECK(reserved_now() - base == 2 * STEP);
    for (int i = 0; i < 2; i++) {
        OK(cu.cuGraphLaunch(execs[0], streams[0]));
        OK(cu.cuGraphLaunch(execs[1], streams[1]));
        CHECK(reserved_now() - base == 4 * STEP);
        OK(cu.cuCtxSynchronize());
        for (unsigned k = 0; k < 2; k++) {
            CHECK(word_at(out[k]) == 100 + k);
            CHECK(word_at(out[k] + 40 * MIB) == 100 + k);
            CHECK(word_at(out[k] + 64 * MIB - 4) == 100 + k);
        }
    }
    for (int i = 0; i < 2; i++) {
        drop(execs[i], graphs[i]);
        OK(cu.cuMemFree(out[i]));
        OK(cu.cuStreamDestroy(streams[i]));
    }
}

static void memory_comes_with_the_first_upload_or_launch(void)
{
    CUdeviceptr p;
    CUstream a = new_stream(), b = new_stream();
    const uint64_t base = settled();
    CUgraph graph = simple_graph(40 * MIB, 1, true, &p);
    CHECK(reserved_now() == base);
    CUgraphExec exec = instantiate(graph, 0);
    CHECK(reserved_now() == base);
    OK(cu.cuGraphUpload(exec, a));
    CHECK(reserved_now() - base == 2 * STEP);
    OK(cu.cuStreamSynchronize(a));
    OK(cu.cuGraphLaunch(exec, b)); /* another stream than that of the upload */
    CHECK(reserved_now() - base == 2 * STEP);
    drop(exec, graph);
    CHECK(settled() == base);

    graph = simple_graph(MIB, 1, true, &p);
    exec = instantiate(graph, 0);
    OK(cu.cuGraphLaunch(exec, a));
    CHECK(reserved_now() - base == STEP);
    drop(exec, graph);
    CHECK(settled() == base);

    graph = simple_graph(MIB, 1, true, &p);
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD,
                                            .hUploadStream = a};
    OK(cu.cuGraphInstantiateWithParams(&exec, graph, &params));
    CHECK(reserved_now() - base == STEP);
    drop(exec, graph);
    CHECK(settled() == base);
    OK(cu.cuStreamDestroy(a));
    OK(cu.cuStreamDestroy(b));
}

static void steps_of_32_mib(void)
{
    static const struct {
        uint64_t bytes, steps;
    } sizes[] = {{512, 1},      {2 * MIB + 1, 1}, {32 * MIB, 1},
                 {33 * MIB, 2}, {64 * MIB, 2},    {100 * MIB, 4}};
    uint64_t zero = 0;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        CUdeviceptr p;
        const uint64_t base = settled();
        OK(cu.cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
        OK(cu.cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH,
                                           &zero));
        CHECK(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) == base);
        CUgraph graph = simple_graph(sizes[i].bytes, 1, true, &p);
        CUgraphExec exec = instantiate(graph, 0);
        OK(cu.cuGraphLaunch(exec, NULL));
        const uint64_t now = base + sizes[i].steps * STEP;
        for (int k = 0; k < 4; k++)
            CHECK(graph_memory((CUgraphMem_attribute)k) == now);
        drop(exec, graph);
        for (int k = 0; k < 4; k++) /* kept, freed as it is */
            CHECK(graph_memory((CUgraphMem_attribute)k) == now);
        CHECK(settled() == base);
        CHECK(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == base);
        CHECK(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) == now);
        CHECK(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) == now);
    }
}

static void room_for_one_is_reserved_whole(void)
{
    CUdeviceptr p, q;
    CUstream stream = new_stream();
    const uint64_t base = settled();
    CUgraph graph = new_graph();
    add_alloc(graph, add_alloc(graph, NULL, 10 * MIB, &p), 40 * MIB, &q);
    CHECK(q == p + 10 * MIB); /* they touch 50 MiB of 32 + 64 */
    CUgraphExec exec = instantiate(graph, 0);
    OK(cu.cuGraphLaunch(exec, stream));
    CHECK(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) - base == 2 * STEP);
    CHECK(reserved_now() - base == 3 * STEP);
    CUdeviceptr late; /* in that room, and so it counts with the next bind */
    add_alloc(graph, NULL, 20 * MIB, &late);
    OK(cu.cuGraphUpload(exec, stream));
    CHECK(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) - base == 3 * STEP);
    CHECK(reserved_now() - base == 3 * STEP);
    CHECK(settled() - base == 2 * STEP); /* live */
    CHECK(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) - base == 2 * STEP);
    OK(cu.cuMemFree(p));
    OK(cu.cuMemFree(q));
    drop(exec, graph);
    CHECK(settled() == base);
    OK(cu.cuStreamDestroy(stream));
}

static void a_trim_takes_what_nothing_uses(void)
{
    CUdeviceptr p, q, out = 0;
    CUstream a = new_stream();
    const uint64_t base = settled();
    CUgraph kept = simple_graph(64 * MIB, 6, false, &p);
    CUgraph gone = simple_graph(64 * MIB, 1, true, &q);
    CUgraphExec keeps = instantiate(kept, 0), goes = instantiate(gone, 0);
    OK(cu.cuGraphLaunch(keeps, a));
    OK(cu.cuGraphLaunch(goes, a));
    OK(cu.cuStreamSynchronize(a));
    CHECK(reserved_now() - base == 4 * STEP);
    OK(cu.cuDeviceGraphMemTrim(0));
    CHECK(reserved_now() - base == 2 * STEP); /* that of the live one */
    CHECK(word_at(p) == 6);
    OK(cu.cuGraphLaunch(goes, a)); /* comes back */
    OK(cu.cuStreamSynchronize(a));
    CHECK(reserved_now() - base == 4 * STEP);
    OK(cu.cuMemFree(p));
    CHECK(settled() == base);

    OK(cu.cuMemAlloc(&out, 64 * MIB));
    CUgraph slow = slow_graph(out, 77);
    CUgraphExec runs = instantiate(slow, 0);
    OK(cu.cuGraphLaunch(runs, a));
    OK(cu.cuDeviceGraphMemTrim(0));
    CHECK(reserved_now() - base == 2 * STEP); /* it runs */
    OK(cu.cuStreamSynchronize(a));
    CHECK(word_at(out + 64 * MIB - 4) == 77);
    REFUSED(INVALID_DEVICE, cu.cuDeviceGraphMemTrim(77));
    REFUSED(INVALID_DEVICE, cu.cuDeviceGraphMemTrim(-1));
    drop(keeps, kept);
    drop(goes, gone);
    drop(runs, slow);
    OK(cu.cuMemFree(out));
    OK(cu.cuStreamDestroy(a));
}

static void only_the_watermarks_can_be_set(void)
{
    uint64_t zero = 0, one = 1;
    OK(cu.cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
    OK(cu.cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &zero));
    REFUSED(INVALID_VALUE,
            cu.cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &one));
    REFUSED(INVALID_VALUE, cu.cuDeviceSetGraphMemAttribute(
                               0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &one));
    REFUSED(INVALID_VALUE, cu.cuDeviceSetGraphMemAttribute(
                               0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &zero));
    REFUSED(INVALID_VALUE, cu.cuDeviceSetGraphMemAttribute(
                               0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &zero));
    REFUSED(INVALID_DEVICE,
            cu.cuDeviceSetGraphMemAttribute(77, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
    REFUSED(INVALID_DEVICE,
            cu.cuDeviceGetGraphMemAttribute(77, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
}

static void destroying_frees_nothing(void)
{
    CUdeviceptr p;
    const uint64_t base = settled();
    CUgraph graph = simple_graph(MIB, 21, false, &p);
    CUgraphExec exec = instantiate(graph, 0);
    OK(cu.cuGraphLaunch(exec, NULL));
    drop(exec, graph);
    CHECK(settled() - base == STEP);
    CHECK(word_at(p) == 21);
    CUgraph frees = new_graph(); /* even a new graph may free it */
    add_free(frees, NULL, p);
    exec = instantiate(frees, 0);
    OK(cu.cuGraphLaunch(exec, NULL));
    drop(exec, frees);
    REFUSED(INVALID_VALUE, cu.cuMemFree(p));
    CHECK(settled() == base);
}

static void pools_are_apart(void)
{
    CUdeviceptr p, pooled = 0;
    CUmemoryPool pool = NULL;
    const uint64_t base = settled();
    CUgraph graph = simple_graph(MIB, 1, true, &p);
    CUgraphExec exec = instantiate(graph, 0);
    OK(cu.cuDeviceGetMemPool(&pool, 0));
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuMemPoolTrimTo(pool, 0));
    CHECK(reserved_now() - base == STEP);
    uint64_t before = 0, after = 0;
    OK(cu.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &before));
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &after));
    CHECK(before == after);
    OK(cu.cuMemAllocAsync(&pooled, 40 * MIB, NULL));
    CHECK(reserved_now() - base == STEP);
    OK(cu.cuMemFreeAsync(pooled, NULL));
    drop(exec, graph);
    CHECK(settled() == base);
}

static void captured_allocations_are_nodes(void)
{
    CUstream stream = new_stream();
    CUmemoryPool pool = NULL;
    CUgraph graph = NULL;
    CUdeviceptr p = 0, out = 0;
    const CUmemPoolProps props = {
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    OK(cu.cuMemPoolCreate(&pool, &props));
    OK(cu.cuMemAlloc(&out, 4096));
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cu.cuMemAllocFromPoolAsync(&p, 5 * MIB, pool, stream));
    OK(cu.cuMemsetD32Async(p, 55, 1024, stream));
    OK(cu.cuMemcpyDtoDAsync(out, p, 4096, stream));
    OK(cu.cuMemFreeAsync(p, stream));
    OK(cu.cuStreamEndCapture(stream, &graph));
    OK(cu.cuMemPoolDestroy(pool)); /* the node does not need it */

    static const CUgraphNodeType types[] = {
        CU_GRAPH_NODE_TYPE_MEM_ALLOC, CU_GRAPH_NODE_TYPE_MEMSET,
        CU_GRAPH_NODE_TYPE_MEMCPY, CU_GRAPH_NODE_TYPE_MEM_FREE};
    CUgraphNode nodes[5];
    size_t count = 5;
    OK(cu.cuGraphGetNodes(graph, nodes, &count));
    CHECK(count == 4);
    for (size_t i = 0; i < 4 && count == 4; i++) {
        CUgraphNodeType type = (CUgraphNodeType)99;
        OK(cu.cuGraphNodeGetType(nodes[i], &type));
        CHECK(type == types[i]);
    }
    CUDA_MEM_ALLOC_NODE_PARAMS params = {0};
    CUdeviceptr freed = 0;
    OK(cu.cuGraphMemAllocNodeGetParams(nodes[0], &params));
    CHECK(params.dptr == p && params.bytesize == 5 * MIB && params.accessDescCount == 0);
    CHECK(params.poolProps.allocType == CU_MEM_ALLOCATION_TYPE_PINNED);
    CHECK(params.poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE);
    OK(cu.cuGraphMemFreeNodeGetParams(nodes[3], &freed));
    CHECK(freed == p);
    CUgraphExec exec = instantiate(graph, 0);
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(word_at(out) == 55 && word_at(out + 4092) == 55);
    drop(exec, graph);
    OK(cu.cuMemFree(out));
    OK(cu.cuStreamDestroy(stream));
}

static void foreign_frees_are_not_captured(void)
{
    CUstream stream = new_stream();
    CUdeviceptr device = 0, pooled = 0, p, done, x = 0;
    CUgraph graph = NULL, owner = simple_graph(MIB, 1, false, &p),
            over = simple_graph(MIB, 1, true, &done);
    OK(cu.cuMemAlloc(&device, MIB));
    OK(cu.cuMemAllocAsync(&pooled, MIB, stream));
    OK(cu.cuStreamSynchronize(stream));
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    REFUSED(INVALID_VALUE, cu.cuMemFreeAsync(12345, stream));
    REFUSED(INVALID_VALUE, cu.cuMemFreeAsync(device, stream));
    REFUSED(INVALID_VALUE, cu.cuMemFreeAsync(pooled, stream));
    REFUSED(INVALID_VALUE, cu.cuMemFreeAsync(done, stream));
    REFUSED(OUT_OF_MEMORY, cu.cuMemAllocAsync(&x, SIZE_MAX, stream));
    OK(cu.cuMemFreeAsync(p, stream)); /* of another graph, unfreed: fine */
    REFUSED(INVALID_VALUE, cu.cuMemFreeAsync(p, stream));
    OK(cu.cuStreamIsCapturing(stream, &status));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cu.cuDeviceGraphMemTrim(0)); /* allowed meanwhile */
    OK(cu.cuStreamEndCapture(stream, &graph));
    size_t count = 9;
    OK(cu.cuGraphGetNodes(graph, NULL, &count));
    CHECK(count == 1);
    OK(cu.cuMemFree(device));
    OK(cu.cuMemFreeAsync(pooled, stream));
    drop(NULL, graph);
    drop(NULL, owner);
    drop(NULL, over);
    OK(cu.cuStreamDestroy(stream));
}

static void what_its_graph_frees_is_not_freed_outside(void)
{
    CUdeviceptr p;
    CUgraph graph = simple_graph(MIB, 1, true, &p);
    CUgraphExec exec = instantiate(graph, 0);
    OK(cu.cuGraphLaunch(exec, NULL));
    REFUSED(INVALID_VALUE, cu.cuMemFreeAsync(p, NULL));
    REFUSED(INVALID_VALUE, cu.cuMemFree(p));
    OK(cu.cuCtxSynchronize());
    REFUSED(INVALID_VALUE, cu.cuMemFreeAsync(p, NULL));
    drop(exec, graph);
}

static void run(void)
{
    RULE_TEST(R47, three_ways_to_free);
    RULE_TEST(M_frees_unallocated, nothing_to_free);
    RULE_TEST(M_idle_address, addresses_that_are_not_live);
    RULE_TEST(R52, addresses_are_used_again_behind_the_free);
    RULE_TEST(R52, captured_streams_use_their_own_again);
    RULE_TEST(R53, memory_is_shared_in_turn);
    RULE_TEST(R53, graphs_that_run_at_once_do_not_share);
    RULE_TEST(R54, memory_comes_with_the_first_upload_or_launch);
    RULE_TEST(M_reserved_steps, steps_of_32_mib);
    RULE_TEST(M_reserved_whole, room_for_one_is_reserved_whole);
    RULE_TEST(R55, a_trim_takes_what_nothing_uses);
    RULE_TEST(R56, only_the_watermarks_can_be_set);
    RULE_TEST(R57, destroying_frees_nothing);
    RULE_TEST(R58, pools_are_apart);
    RULE_TEST(R59, captured_allocations_are_nodes);
    RULE_TEST(M_free_not_captured, foreign_frees_are_not_captured);
    RULE_TEST(R60, what_its_graph_frees_is_not_freed_outside);
}

int main(int argc, char **argv)
{
    return rule_main(argc, argv, run);
}
