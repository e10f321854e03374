// SPDX-License-Identifier: Apache-2.0
/* Recording, saving, opening, loading and launching on softcuda, while each call of the
 * driver and each allocation fails in turn: nothing is left over, and a recipe is as it
 * was before the call that failed.
 *
 *   libgph ── shim (counts graphs and executables, fails the n-th call) ── softcuda */
#define _GNU_SOURCE
#include "base/fail.h"
#include "fault.h"
#include "recipe_shim.h"
#include "test.h"
#include "tests/node.h"
#include <gph/recipe.h>
#include <gph/recipe_load.h>

#include <unistd.h>

static char folder[] = "/tmp/recipe-fault-XXXXXX";
static char file[64];
static CUstream stream;
static CUdeviceptr first, second; /* two places */
enum { BYTES = 4096 };

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry add(.param .u64 p, .param .u32 n)\n"
                          "{\n"
                          ".reg .b32 %r<4>;\n.reg .b64 %d<2>;\n"
                          "ld.param.u64 %d1, [p];\n"
                          "ld.param.u32 %r1, [n];\n"
                          "ld.global.u32 %r2, [%d1];\n"
                          "add.u32 %r2, %r2, %r1;\n"
                          "st.global.u32 [%d1], %r2;\n"
                          "ret;\n"
                          "}\n";

static gph_runtime *open_shim(const gph_allocator *allocator)
{
    gph_runtime *runtime = NULL;
    gph_error error = {0};
    CHECK_OK(gphi_runtime_create(allocator, &shim_source, &runtime, &error), error);
    return runtime;
}

/* memset; add; copy; and an empty node before the copy, with the memory at `base`. */
static CUgraph build(CUfunction function, CUdeviceptr base, unsigned int n)
{
    CUgraph graph = NULL;
    CUgraphNode fill = NULL, add = NULL, empty = NULL, copy = NULL;
    const CUDA_MEMSET_NODE_PARAMS zero = {
        .dst = base, .elementSize = 4, .width = 16, .height = 1};
    void *arguments[] = {&base, &n};
    const CUDA_KERNEL_NODE_PARAMS launch = one_thread(function, arguments);
    const CUDA_MEMCPY3D move = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = base,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = base + 1024,
                                .WidthInBytes = 64,
                                .Height = 1,
                                .Depth = 1};
    CUcontext context = NULL;
    const CUlaunchAttributeValue priority = {.priority = -1};
    CHECK(below.cuCtxGetCurrent(&context) == 0 && below.cuGraphCreate(&graph, 0) == 0);
    CHECK(below.cuGraphAddMemsetNode(&fill, graph, NULL, 0, &zero, context) == 0);
    CHECK(below.cuGraphAddKernelNode(&add, graph, &fill, 1, &launch) == 0);
    CHECK(below.cuGraphKernelNodeSetAttribute(add, CU_LAUNCH_ATTRIBUTE_PRIORITY,
                                              &priority) == 0);
    CHECK(below.cuGraphAddEmptyNode(&empty, graph, &add, 1) == 0);
    CHECK(below.cuGraphAddMemcpyNode(&copy, graph, &empty, 1, &move, context) == 0);
    return graph;
}

static gph_tensor words(CUdeviceptr data)
{
    const int64_t shape[] = {16};
    return gph_tensor_dense(data, GPH_DTYPE_I32, 1, shape);
}

/* Adds one graph; on failure the recipe must be as before. */
static gph_status add(gph_recipe *recipe, gph_runtime *runtime, CUfunction function,
                      const char *name, unsigned int n)
{
    const gph_tensor input = words(first), output = words(first + 1024);
    gph_recipe_summary before = GPH_SIZED(gph_recipe_summary);
    gph_recipe_summary after = GPH_SIZED(gph_recipe_summary);
    gph_recipe_entry entry = GPH_RECIPE_ENTRY_INIT;
    gph_error error = {0};
    entry.name = name;
    entry.graph = build(function, first, n);
    entry.shifted = build(function, second, n + 1); /* as bytes that nobody sets */
    entry.unset = 1;
    entry.inputs = &input;
    entry.outputs = &output;
    entry.input_count = entry.output_count = 1;
    entry.check = 1;
    entry.stream = stream;
    gph_recipe_summary_get(recipe, &before);
    const gph_status status = gph_recipe_add(recipe, runtime, &entry, NULL, &error);
    gph_recipe_summary_get(recipe, &after);
    CHECK(status == GPH_OK || (before.graph_count == after.graph_count &&
                               before.kernel_count == after.kernel_count));
    CHECK(status == GPH_OK || error.message[0] != '\0');
    CHECK(below.cuGraphDestroy(entry.graph) == 0 &&
          below.cuGraphDestroy(entry.shifted) == 0);
    return status;
}

static gph_status record(gph_runtime *runtime, CUfunction function,
                         const gph_allocator *allocator)
{
    gph_recipe *recipe = NULL;
    gph_error error = {0};
    const gph_recipe_range range = {sizeof(gph_recipe_range), "memory", first, second,
                                    BYTES};
    GPHI_TRY(gph_recipe_create(allocator, &recipe, &error));
    gph_status status = gph_recipe_range_add(recipe, &range, NULL, &error);
    if (status == GPH_OK)
        status = add(recipe, runtime, function, "one", 5);
    if (status == GPH_OK)
        status = add(recipe, runtime, function, "two", 7);
    if (status == GPH_OK)
        status = gph_recipe_save(recipe, file, &error);
    gph_recipe_destroy(recipe);
    return status;
}

static void check_result(CUdeviceptr base, int expected)
{
    int word = 0;
    CHECK(below.cuMemcpyDtoHAsync(&word, base + 1024, sizeof(word), stream) == 0);
    CHECK(below.cuStreamSynchronize(stream) == 0 && word == expected);
}

/* Loads the file at the second place and launches both; a graph that a failure kept out
 * says so. Returns the first failure. */
static gph_status load_and_launch(gph_runtime *runtime, const gph_allocator *allocator,
                                  uint32_t flags)
{
    gph_recipe *recipe = NULL;
    gph_loaded *loaded = NULL;
    gph_error error = {0};
    gph_file_options file_options = GPH_FILE_OPTIONS_INIT;
    gph_loaded_options options = GPH_LOADED_OPTIONS_INIT;
    const gph_recipe_place place = {"memory", second, BYTES};
    file_options.allocator = allocator;
    options.flags = flags;
    options.places = &place;
    options.place_count = 1;
    options.stream = stream;
    GPHI_TRY(gph_recipe_load(file, &file_options, &recipe, &error));
    gph_status status = gph_loaded_create(runtime, recipe, &options, &loaded, &error);
    gph_recipe_destroy(recipe);
    CHECK((status == GPH_OK) == (loaded != NULL));
    gph_loaded_graph graph = GPH_SIZED(gph_loaded_graph);
    for (uint32_t i = 0; status == GPH_OK && gph_loaded_get(loaded, i, &graph); i++) {
        CHECK(graph.is_loaded == (graph.status == GPH_OK));
        CHECK(graph.is_loaded || graph.why[0] != '\0');
        status = gph_loaded_launch(loaded, i, stream, &error);
        CHECK(graph.is_loaded || status == GPH_E_STATE);
        if (!graph.is_loaded)
            status = graph.status;
        else if (status == GPH_OK)
            check_result(second, i == 0 ? 5 : 7);
    }
    gph_loaded_destroy(loaded);
    return status;
}

static void check_nothing_is_left(const char *what, long nth)
{
    if (!CHECK(live.graphs == 0 && live.execs == 0 && live.modules == 0))
        fprintf(stderr, "  %s %ld: %d graphs, %d executables, %d modules\n", what, nth,
                live.graphs, live.execs, live.modules);
    live.graphs = live.execs = live.modules = 0;
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    CHECK(below.cuStreamIsCapturing(stream, &capture) == 0 && capture == 0);
}

/* All of it; the first failure. */
static gph_status do_it_all(gph_runtime *runtime, const gph_allocator *allocator,
                            uint32_t flags)
{
    gph_module *module = NULL;
    CUfunction function = NULL;
    gph_error error = {0};
    GPHI_TRY(gph_module_load(runtime, ptx, strlen(ptx), &module, &error));
    gph_status status = gph_module_function(module, "add", &function, &error);
    if (status == GPH_OK)
        status = record(runtime, function, allocator);
    if (status == GPH_OK)
        status = load_and_launch(runtime, allocator, flags);
    gph_module_unload(module);
    return status;
}

static const uint32_t ways[] = {0, GPH_RECIPE_CHECK, GPH_RECIPE_CHECK | GPH_RECIPE_SHARE,
                                GPH_RECIPE_SHARE | GPH_RECIPE_LAZY};

static void survives_every_failed_driver_call(void)
{
    for (size_t way = 0; way < sizeof(ways) / sizeof(*ways); way++) {
        gph_runtime *runtime = open_shim(NULL);
        long nth = 0;
        for (bool is_done = false; !is_done && nth < 3000; nth++) {
            shim.fail_at = nth;
            const gph_status status = do_it_all(runtime, NULL, ways[way]);
            is_done = shim.fail_at >= 0;
            shim.fail_at = -1;
            const bool may_work = is_done || is_mere_information(shim.failed);
            if (!CHECK((status == GPH_OK && may_work) ||
                       (status == (gph_status)CUDA_ERROR_UNKNOWN && !is_done)))
                fprintf(stderr, "  call %ld (%s): %d\n", nth, shim.failed, (int)status);
            check_nothing_is_left("call", nth);
        }
        CHECK(nth > 60);
        gph_close(runtime);
    }
}

static void survives_every_failed_allocation(void)
{
    for (size_t way = 0; way < sizeof(ways) / sizeof(*ways); way++) {
        long nth = 0, worked = 0;
        for (bool is_done = false; !is_done && nth < 3000; nth++) {
            fault_heap heap = {.fail_at = -1};
            const gph_allocator allocator = {fault_realloc, &heap};
            gph_runtime *runtime = open_shim(&allocator);
            atomic_store(&heap.fail_at, nth);
            const gph_status status = do_it_all(runtime, &allocator, ways[way]);
            is_done = atomic_load(&heap.fail_at) >= 0;
            /* A file that cannot be packed is written as it is. */
            worked += status == GPH_OK;
            if (!CHECK(status == GPH_OK || (status == GPH_E_NO_MEMORY && !is_done)))
                fprintf(stderr, "  allocation %ld: %d\n", nth, (int)status);
            gph_close(runtime);
            if (!CHECK(atomic_load(&heap.live_bytes) == 0))
                fprintf(stderr, "  allocation %ld leaks %ld bytes, status %d\n", nth,
                        atomic_load(&heap.live_bytes), (int)status);
            check_nothing_is_left("allocation", nth);
        }
        CHECK(nth > 60 && worked <= 2);
    }
}

int main(void)
{
    if (!shim_open(GPH_DRIVER_SOFT, rules))
        return 77;
    shim.has_all = true;
    CUcontext context = NULL;
    const bool is_up =
        below.cuInit(0) == 0 && below.cuDevicePrimaryCtxRetain(&context, 0) == 0 &&
        below.cuCtxSetCurrent(context) == 0 && below.cuStreamCreate(&stream, 1) == 0 &&
        below.cuMemAlloc(&first, BYTES) == 0 && below.cuMemAlloc(&second, BYTES) == 0;
    if (!CHECK(is_up) || mkdtemp(folder) == NULL)
        return 1;
    snprintf(file, sizeof(file), "%s/recipe.gphr", folder);
    RUN(survives_every_failed_driver_call);
    RUN(survives_every_failed_allocation);
    unlink(file);
    rmdir(folder);
    shim_close();
    return test_done();
}
