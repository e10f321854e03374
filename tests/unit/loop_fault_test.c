// SPDX-License-Identifier: Apache-2.0
/* Loops while each call of the driver and each allocation fails in turn: nothing leaks, a
 * body is as it was, and a loop that was made works.
 *
 *   libgph ── shim (fails the n-th call) ── the driver */
#define _GNU_SOURCE
#include "fault.h"
#include "loop/loop.h"
#include "loop_world.h"
#include "shim.h"
#include <gph/sentinel.h>

static fault_heap heap = {.fail_at = -1};
static gph_runtime *shimmed;
static atomic_int memory, pinned, graphs, execs, modules, events; /* that live */
static bool is_soft;

static const struct shim_rule rules[] = {
    SHIM_GIVE(cuMemAlloc, memory, 1),
    SHIM_GIVE(cuMemFree, memory, -1),
    SHIM_GIVE(cuMemHostAlloc, pinned, 1),
    SHIM_GIVE(cuMemFreeHost, pinned, -1),
    SHIM_GIVE(cuGraphCreate, graphs, 1),
    SHIM_GIVE(cuGraphClone, graphs, 1),
    SHIM_GIVE(cuGraphDestroy, graphs, -1),
    SHIM_GIVE(cuGraphInstantiateWithParams, execs, 1),
    SHIM_GIVE(cuGraphExecDestroy, execs, -1),
    SHIM_GIVE(cuModuleLoadData, modules, 1),
    SHIM_GIVE(cuModuleUnload, modules, -1),
    SHIM_GIVE(cuEventCreate, events, 1),
    SHIM_GIVE(cuEventDestroy, events, -1),
    SHIM_CALL(cuEventRecord),
    SHIM_CALL(cuEventSynchronize),
    SHIM_CALL(cuModuleGetFunction),
    SHIM_CALL(cuFuncLoad),
    SHIM_CALL(cuCtxGetDevice),
    SHIM_CALL(cuCtxGetCurrent),
    SHIM_CALL(cuMemHostGetDevicePointer),
    SHIM_CALL(cuMemcpyHtoD),
    SHIM_CALL(cuGraphGetNodes),
    SHIM_CALL(cuGraphGetEdges),
    SHIM_CALL(cuStreamGetCaptureInfo),
    SHIM_CALL(cuStreamUpdateCaptureDependencies),
    SHIM_CALL(cuLaunchKernel),
    SHIM_CALL(cuGraphNodeGetType),
    SHIM_CALL(cuGraphNodeGetDependencies),
    SHIM_CALL(cuGraphNodeGetDependentNodes),
    SHIM_CALL(cuGraphKernelNodeGetParams),
    SHIM_CALL(cuGraphMemsetNodeGetParams),
    SHIM_CALL(cuGraphAddChildGraphNode),
    SHIM_CALL(cuGraphAddKernelNode),
    SHIM_CALL(cuGraphAddMemsetNode),
    SHIM_CALL(cuGraphAddDependencies),
    SHIM_CALL(cuGraphConditionalHandleCreate),
    SHIM_CALL(cuGraphAddNode),
    SHIM_CALL(cuGraphLaunch),
    SHIM_CALL(cuStreamSynchronize),
    SHIM_END,
};

/* How often a stream is asked for depends on time: on a GPU thousands of times while ways are
 * measured, so that the n-th call of two runs is not the same, nor how many there are. So
 * these fail only where the scene says so. */
static bool counts_queries;

static CUresult shim_cuStreamQuery(CUstream stream)
{
    return counts_queries && shim_fails("cuStreamQuery") ? CUDA_ERROR_UNKNOWN
                                                         : below.cuStreamQuery(stream);
}

static bool find_own(const char *name, int version, gph_cuda_fn *out)
{
    (void)version;
    if (strcmp(name, "cuStreamQuery") == 0)
        *out = (gph_cuda_fn)shim_cuStreamQuery;
    return *out != NULL;
}

static bool open_shim(void)
{
    const gph_allocator allocator = {fault_realloc, &heap};
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    gph_driver_info_get(world.runtime, &info);
    is_soft = (info.features & GPH_FEATURE_SOFTCUDA) != 0;
    return CHECK(shim_open(info.driver, rules)) &&
           CHECK_OK(gphi_runtime_create(&allocator, &shim_source, &shimmed, &world.error),
                    world.error);
}

/* What is there to be done with a loop; `body` and `other` are the caller's. */
struct scene {
    gph_loop_options options;
    CUgraph body, other;
    long step; /* of the calls each so many-th fails; 0: each */
};

static size_t count_of(CUgraph graph)
{
    size_t nodes = 0, edges = 0;
    OK(below.cuGraphGetNodes(graph, NULL, &nodes));
    OK(below.cuGraphGetEdges(graph, NULL, NULL, NULL, &edges));
    return nodes * 1000 + edges;
}

static gph_status launch_and_wait(gph_loop *loop, uint32_t count, gph_error *error)
{
    gph_loop_result result = GPH_SIZED(gph_loop_result);
    set_words(count, 0);
    gph_status status = gph_loop_launch(loop, world.stream, error);
    if (status == GPH_OK)
        status = gph_loop_wait(loop, world.stream, &result, error);
    OK(below.cuStreamSynchronize(world.stream));
    if (status == GPH_OK)
        CHECK(result.steps == count && word_at(loops.word) == 0);
    return status;
}

/* Into a graph that is thrown away, whatever came of it. */
static gph_status capture_it(const struct scene *scene, gph_loop *loop, gph_error *error)
{
    CUgraph graph = NULL;
    if (scene->options.way != GPH_LOOP_WHILE || scene->options.sentinel)
        return GPH_OK;
    OK(below.cuStreamBeginCapture(world.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    const gph_status status = gph_loop_capture(loop, scene->body, world.stream, error);
    OK(below.cuStreamEndCapture(world.stream, &graph));
    OK(below.cuGraphDestroy(graph));
    return status;
}

static gph_status use(const struct scene *scene, gph_loop *loop, gph_error *error)
{
    gph_status status = launch_and_wait(loop, 5, error);
    if (status == GPH_OK)
        status = capture_it(scene, loop, error);
    if (status == GPH_OK)
        status = gph_loop_update(loop, scene->other, error);
    if (status == GPH_OK)
        status = launch_and_wait(loop, 4, error);
    return status;
}

static gph_status do_all(const struct scene *scene, gph_error *error)
{
    gph_loop *loop = NULL;
    const gph_status made =
        gph_loop_create(shimmed, scene->body, &scene->options, &loop, error);
    CHECK((loop != NULL) == (made == GPH_OK));
    if (made != GPH_OK)
        return made;
    /* As on a GPU: it takes naps, then asks for the stream. There it asks so often that a
     * sweep over these calls would take minutes. */
    const bool naps =
        is_soft && scene->options.way == GPH_LOOP_WHILE && scene->options.unroll == 1;
    loop->doze_ns = naps ? 300000 : 0;
    counts_queries = naps;
    const gph_status status = use(scene, loop, error);
    /* What failed has left a loop that works. */
    shim.fail_at = -1;
    counts_queries = false;
    const long left = atomic_exchange(&heap.fail_at, -1);
    if (status != GPH_OK)
        CHECK_OK(use(scene, loop, &world.error), world.error);
    gph_loop_destroy(loop);
    atomic_store(&heap.fail_at, left);
    return status;
}

static bool is_clean(long live, const int counts[6])
{
    return atomic_load(&heap.live_bytes) == live && memory == counts[0] &&
           pinned == counts[1] && graphs == counts[2] && execs == counts[3] &&
           modules == counts[4] && events == counts[5];
}

/* How many failures it took. */
static long sweep(const struct scene *scene, bool of_heap)
{
    const size_t size = count_of(scene->body);
    const long step = of_heap || scene->step == 0 ? 1 : scene->step;
    for (long nth = 0; nth < 5000; nth += step) {
        gph_error error = {0};
        const long live = atomic_load(&heap.live_bytes);
        const int counts[] = {memory, pinned, graphs, execs, modules, events};
        bool done;
        if (of_heap) {
            atomic_store(&heap.fail_at, nth);
            const gph_status status = do_all(scene, &error);
            done = atomic_load(&heap.fail_at) >= 0;
            CHECK(status == GPH_OK || (status == GPH_E_NO_MEMORY && !done));
        } else {
            const long calls = atomic_load(&shim.calls);
            shim.fail_at = nth;
            const gph_status status = do_all(scene, &error);
            done = atomic_load(&shim.calls) - calls <= nth;
            CHECK(status == GPH_OK || (status == CUDA_ERROR_UNKNOWN && !done));
            CHECK(status == GPH_OK || error.message[0] != '\0');
        }
        atomic_store(&heap.fail_at, -1);
        shim.fail_at = -1;
        if (!CHECK(is_clean(live, counts) && count_of(scene->body) == size))
            fprintf(stderr, "  failure %ld (%s) leaks: %d %d %d %d %d %d, %ld bytes\n",
                    nth, of_heap ? "allocation" : shim.failed, memory - counts[0],
                    pinned - counts[1], graphs - counts[2], execs - counts[3],
                    modules - counts[4], events - counts[5],
                    atomic_load(&heap.live_bytes) - live);
        if (done)
            return nth;
    }
    return -1;
}

static void both_sweeps(struct scene scene, long calls, long allocations)
{
    scene.body = down_body();
    scene.other = down_body();
    const long of_calls = sweep(&scene, false), of_heap = sweep(&scene, true);
    if (!CHECK(of_calls >= calls && of_heap >= allocations))
        fprintf(stderr, "  %ld calls, %ld allocations\n", of_calls, of_heap);
    OK(below.cuGraphDestroy(scene.other));
    OK(below.cuGraphDestroy(scene.body));
}

static void each_way_survives_failures(void)
{
    for (int way = 0; way < LOOP_WAYS; way++)
        for (uint32_t unroll = 1; unroll <= 3; unroll += 2) {
            struct scene scene = {.options = loop_options(loop_ways[way])};
            scene.options.unroll = unroll;
            both_sweeps(scene, 30, 8);
        }
}

static void what_runs_before_survives_failures(void)
{
    struct scene scene = {.options = loop_options(GPH_LOOP_TAIL)};
    scene.options.before = tick_body();
    both_sweeps(scene, 30, 8);
    OK(below.cuGraphDestroy(scene.options.before));
}

static void the_choice_survives_failures(void)
{
    /* A thousand calls, each in a choice that is measured again, are not done in a minute on
     * an H100: there 77 of them fail. */
    both_sweeps((struct scene){.options = loop_options(GPH_LOOP_FASTEST),
                               .step = is_soft ? 1 : 13},
                150, 30);
}

static void sentinels_survive_failures(void)
{
    gph_sentinel_options every = GPH_SENTINEL_OPTIONS_INIT;
    every.every = 1;
    for (int way = 0; way < LOOP_WAYS; way++) {
        struct scene scene = {.options = loop_options(loop_ways[way])};
        FINE(gph_sentinel_create(shimmed, &every, &scene.options.sentinel, &world.error));
        both_sweeps(scene, 50, 20);
        gph_sentinel_destroy(scene.options.sentinel);
    }
}

int main(void)
{
    const int skipped = world_open();
    if (skipped)
        return skipped;
    loops_open();
    shim.special = find_own;
    if (!open_shim())
        return 1;
    RUN(each_way_survives_failures);
    RUN(what_runs_before_survives_failures);
    RUN(the_choice_survives_failures);
    RUN(sentinels_survive_failures);
    return test_done();
}
