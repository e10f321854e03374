// SPDX-License-Identifier: Apache-2.0
/* Every allocation of the library and every driver call fails in turn, in all that a patch
 * does by itself. Afterwards nothing is leaked, and it works. That a cache goes on without
 * one is in cache_fault_test. */
#define FIXTURE_WITHOUT_SET_UP
#include "cache/patch.h"
#include "cache_fixture.h"
#include "cuda/runtime.h"
#include "fault.h"
#include "shim.h"

enum { NODES = 4, KEYS = 2, COUNT = 64 };

static fault_heap heap = {.fail_at = -1};
static CUgraph graphs[KEYS];
static atomic_int allocations, pinned, templates;

static const struct shim_rule rules[] = {
    SHIM_GIVE(cuMemAlloc, allocations, 1),
    SHIM_GIVE(cuMemFree, allocations, -1),
    SHIM_GIVE(cuMemHostAlloc, pinned, 1),
    SHIM_GIVE(cuMemFreeHost, pinned, -1),
    SHIM_GIVE(cuGraphClone, templates, 1),
    SHIM_GIVE(cuGraphDestroy, templates, -1),
    SHIM_CALL(cuMemHostGetDevicePointer),
    SHIM_CALL(cuMemcpyHtoDAsync),
    SHIM_CALL(cuStreamSynchronize),
    SHIM_CALL(cuModuleLoadData),
    SHIM_CALL(cuModuleGetFunction),
    SHIM_CALL(cuGraphGetNodes),
    SHIM_CALL(cuGraphGetEdges),
    SHIM_CALL(cuGraphGetRootNodes),
    SHIM_CALL(cuGraphNodeFindInClone),
    SHIM_CALL(cuGraphNodeGetType),
    SHIM_CALL(cuGraphKernelNodeGetParams),
    SHIM_CALL(cuGraphKernelNodeSetAttribute),
    SHIM_CALL(cuGraphAddKernelNode),
    SHIM_CALL(cuGraphAddDependencies),
    SHIM_CALL(cuGraphInstantiateWithParams),
    SHIM_CALL(cuGraphUpload),
    SHIM_CALL(cuGraphLaunch),
    SHIM_END,
};

/* y += 1, NODES times; key 1 does so with more of it, in more blocks. */
static bool make_graphs(void)
{
    for (unsigned key = 0; key < KEYS; key++) {
        if (!CHECK(runtime->cu.cuStreamBeginCapture(
                       stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS))
            return false;
        for (int i = 0; i < NODES; i++) {
            CUdeviceptr none = 0;
            float one = 1;
            unsigned count = COUNT * (key + 1);
            void *params[] = {&device_y, &device_y, &none, &one, &count};
            if (!CU(LaunchKernel, kernel_line, key + 1, 1, 1, COUNT, 1, 1, 0, stream,
                    params, NULL))
                return false;
        }
        if (!CHECK(runtime->cu.cuStreamEndCapture(stream, &graphs[key]) == CUDA_SUCCESS))
            return false;
    }
    return true;
}

static bool has_run(void)
{
    static float y[3 * COUNT];
    bool right = CU(MemcpyDtoHAsync, y, device_y, sizeof(y), stream) &&
                 CU(StreamSynchronize, stream);
    for (int i = 0; i < 3 * COUNT; i++)
        right = right && y[i] == (float)(i < COUNT       ? 3 * NODES
                                         : i < 2 * COUNT ? NODES
                                                         : 0);
    return right;
}

static gph_status launch_all(gphi_patch *patch, const CUdeviceptr *blocks)
{
    static const int order[] = {0, 1, 0};
    gph_status status = GPH_OK;
    for (int i = 0; i < 3 && status == GPH_OK; i++)
        status = gphi_patch_launch(patch, blocks[order[i]], stream, &error);
    return status;
}

static gph_status do_it_all(void)
{
    gphi_patch *patch = NULL;
    CUdeviceptr blocks[KEYS] = {0};
    CU(MemsetD32Async, device_y, 0, 3 * COUNT, stream);
    shim_over(&runtime->cu, rules, true);
    gph_status status = gphi_patch_create(runtime, graphs[1], stream, &patch, &error);
    CHECK((patch != NULL) == (status == GPH_OK));
    for (int key = 0; key < KEYS && status == GPH_OK; key++)
        status = gphi_patch_block(patch, graphs[key], stream, &blocks[key], &error);
    if (status == GPH_OK)
        status = launch_all(patch, blocks);
    shim_over(&runtime->cu, rules, false);
    CHECK(status != GPH_OK || has_run());
    CU(StreamSynchronize, stream);
    shim_over(&runtime->cu, rules, true);
    for (int key = 0; key < KEYS && patch; key++)
        gphi_patch_block_free(patch, blocks[key]);
    gphi_patch_destroy(patch);
    shim_over(&runtime->cu, rules, false);
    CHECK(atomic_load(&allocations) == 0 && atomic_load(&pinned) == 0);
    CHECK(atomic_load(&templates) == 0);
    return status;
}

static void every_allocation_fails_in_turn(void)
{
    CHECK_OK(do_it_all(), error);
    const long live = atomic_load(&heap.live_bytes);
    for (long nth = 0; nth < 2000 && atomic_load(&test_failures) < 20; nth++) {
        atomic_store(&heap.fail_at, nth);
        const gph_status status = do_it_all();
        const bool is_over = atomic_load(&heap.fail_at) >= 0;
        atomic_store(&heap.fail_at, -1);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        if (!CHECK(atomic_load(&heap.live_bytes) == live))
            fprintf(stderr, "  allocation %ld leaks\n", nth);
        if (is_over) {
            CHECK(status == GPH_OK && nth > 10);
            return;
        }
    }
    CHECK(atomic_load(&test_failures) > 0); /* it ended */
}

static void every_driver_call_fails_in_turn(void)
{
    const long live = atomic_load(&heap.live_bytes);
    shim.code = CUDA_ERROR_UNKNOWN;
    for (long nth = 0; nth < 2000 && atomic_load(&test_failures) < 20; nth++) {
        shim.fail_at = nth;
        const gph_status status = do_it_all();
        const bool is_over = shim.fail_at >= 0;
        shim.fail_at = -1;
        if (!CHECK(status == (is_over ? GPH_OK : (gph_status)CUDA_ERROR_UNKNOWN)))
            fprintf(stderr, "  call %ld: %s: %s\n", nth, gph_status_name(status),
                    error.message);
        if (!CHECK(atomic_load(&heap.live_bytes) == live))
            fprintf(stderr, "  call %ld leaks\n", nth);
        if (is_over) {
            CHECK(nth > 20);
            return;
        }
    }
    CHECK(atomic_load(&test_failures) > 0); /* it ended */
}

static void what_differs_in_more_has_no_block(void)
{
    gphi_patch *patch = NULL;
    CUdeviceptr block = 0;
    CUgraph other = NULL;
    if (!CHECK_OK(gphi_patch_create(runtime, graphs[0], stream, &patch, &error), error))
        return;
    CU(GraphCreate, &other, 0);
    CHECK(gphi_patch_block(patch, other, stream, &block, &error) == GPH_E_UNSUPPORTED);
    CHECK(block == 0);
    gphi_patch_destroy(patch);
    patch = NULL;
    CHECK(gphi_patch_create(runtime, other, stream, &patch, &error) == GPH_E_UNSUPPORTED);
    CHECK(!patch && strstr(error.message, "no kernel"));
    CU(GraphDestroy, other);
}

/* ---- what is asked of a graph ---- */

enum look {
    ALIKE,
    BY_BUFFER,
    OTHER_BLOCK,
    OTHER_SHARED,
    OTHER_PRIORITY,
    WITH_A_FILL,
    LOOSE
};

static CUresult launch_one(enum look look, unsigned key, int i)
{
    struct {
        CUdeviceptr y, x, none;
        float one;
        unsigned count;
    } all = {device_y, device_y, 0, 1, COUNT * (key + 1)};
    size_t bytes = sizeof(all);
    void *params[] = {&all.y, &all.x, &all.none, &all.one, &all.count};
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &all, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes, CU_LAUNCH_PARAM_END};
    const bool is_odd = i == NODES / 2;
    const bool by_buffer = is_odd && look == BY_BUFFER;
    if (is_odd && look == WITH_A_FILL)
        return runtime->cu.cuMemsetD32Async(device_y, 0, 1, stream);
    return runtime->cu.cuLaunchKernel(
        kernel_line, key + 1, 1, 1, is_odd && look == OTHER_BLOCK ? COUNT / 2 : COUNT, 1,
        1, is_odd && look == OTHER_SHARED ? 16 : 0, stream, by_buffer ? NULL : params,
        by_buffer ? extra : NULL);
}

/* Like graphs[0], but for one of its nodes, or for an edge. */
static CUgraph make_like(enum look look)
{
    const gphi_cuda_table *table = &runtime->cu;
    CUgraph graph = NULL;
    CHECK(table->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED) ==
          CUDA_SUCCESS);
    for (int i = look == LOOSE; i < NODES; i++)
        CHECK(launch_one(look, 0, i) == CUDA_SUCCESS);
    CHECK(table->cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS);
    CUgraphNode nodes[NODES] = {NULL};
    size_t count = NODES;
    CHECK(table->cuGraphGetNodes(graph, nodes, &count) == CUDA_SUCCESS);
    if (look == LOOSE) {
        CUDA_KERNEL_NODE_PARAMS params = {0};
        CUgraphNode loose;
        CHECK(table->cuGraphKernelNodeGetParams(nodes[0], &params) == CUDA_SUCCESS);
        CHECK(table->cuGraphAddKernelNode(&loose, graph, NULL, 0, &params) ==
              CUDA_SUCCESS);
    }
    if (look == OTHER_PRIORITY) {
        const CUlaunchAttributeValue value = {.priority = -1};
        CHECK(table->cuGraphKernelNodeSetAttribute(nodes[1], CU_LAUNCH_ATTRIBUTE_PRIORITY,
                                                   &value) == CUDA_SUCCESS);
    }
    return graph;
}

static atomic_int asked, listed;
static const struct shim_rule queries_are_counted[] = {
    SHIM_GIVE(cuGraphKernelNodeGetParams, asked, 1),
    SHIM_GIVE(cuGraphGetNodes, listed, 1), SHIM_END};

/* The words of a graph's block, without its serial number. */
static gph_status words_of(gphi_patch *patch, CUgraph graph, unsigned char *out)
{
    CUdeviceptr block = 0;
    const size_t bytes = gphi_patch_block_bytes(patch) - sizeof(uint64_t);
    atomic_store(&asked, 0);
    atomic_store(&listed, 0);
    shim_over(&runtime->cu, queries_are_counted, true);
    const gph_status status = gphi_patch_block(patch, graph, stream, &block, &error);
    shim_over(&runtime->cu, queries_are_counted, false);
    if (status == GPH_OK) {
        CU(MemcpyDtoHAsync, out, block + sizeof(uint64_t), bytes, stream);
        CU(StreamSynchronize, stream);
    }
    gphi_patch_block_free(patch, block);
    return status;
}

static bool is_asked_once(void)
{
    return atomic_load(&asked) == NODES && atomic_load(&listed) == 1;
}

/* A graph of kernels alone is asked for each once; another one is described, and has the
 * same words or is refused. */
static void a_graph_is_asked_no_more_than_it_takes(void)
{
    static unsigned char words[2][4096];
    gphi_patch *patch = NULL;
    if (!CHECK_OK(gphi_patch_create(runtime, graphs[1], stream, &patch, &error), error) ||
        !CHECK(gphi_patch_block_bytes(patch) <= sizeof(words[0])))
        return;
    CHECK_OK(words_of(patch, graphs[0], words[0]), error);
    CHECK(is_asked_once());
    for (int look = ALIKE; look <= LOOSE; look++) {
        CUgraph graph = make_like((enum look)look);
        memset(words[1], 0xff, sizeof(words[1]));
        const gph_status status = words_of(patch, graph, words[1]);
        const bool fits = look <= BY_BUFFER;
        if (!CHECK(status == (fits ? GPH_OK : GPH_E_UNSUPPORTED)) ||
            !CHECK(!fits ||
                   memcmp(words[0], words[1],
                          gphi_patch_block_bytes(patch) - sizeof(uint64_t)) == 0) ||
            !CHECK(look != ALIKE || is_asked_once()))
            fprintf(stderr, "  look %d: %s: %s\n", look, gph_status_name(status),
                    error.message);
        CU(GraphDestroy, graph);
    }
    gphi_patch_destroy(patch);
}

int main(void)
{
    const gph_allocator own = {fault_realloc, &heap};
    (void)model_options;                 /* no cache here */
    runtime_open(GPH_DRIVER_SOFT, &own); /* a GPU's calls are too slow for so many */
    if (!use_runtime() || !make_graphs())
        return 1;
    RUN(what_differs_in_more_has_no_block);
    RUN(a_graph_is_asked_no_more_than_it_takes);
    RUN(every_allocation_fails_in_turn);
    RUN(every_driver_call_fails_in_turn);
    for (int key = 0; key < KEYS; key++)
        CU(GraphDestroy, graphs[key]);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
    gph_close(runtime);
    CHECK(atomic_load(&heap.live_bytes) == 0);
    return test_done();
}
