// SPDX-License-Identifier: Apache-2.0
/* Recipes of graphs with conditional nodes: what was captured runs as it did, with handles
 * made again, also at other addresses; it is described as it was; and what cannot be kept is
 * named with its body. */
#define _GNU_SOURCE
#include "cuda/abi.h"
#include "fault.h"
#include "flow_run.h"
#include <gph/file.h>
#include <gph/module.h>
#include <gph/recipe.h>
#include <gph/recipe_load.h>
#include <unistd.h>

/* Of the tests' kernels, in a module that libgph knows; and memory at another place. */
static gph_module *module;
static CUdeviceptr log_there, words_there, log_here, words_here;

static void move_to(bool there)
{
    log_at = there ? log_there : log_here;
    words_at = there ? words_there : words_here;
}

static gph_status set_own(void *user, CUstream where, uint64_t handle, gph_error *out)
{
    CUdeviceptr at = *(CUdeviceptr *)user;
    void *params[] = {&handle, &at};
    return gph_cuda_check(
        cu->LaunchKernel(own_setter, 1, 1, 1, 1, 1, 1, 0, where, params, NULL),
        "cuLaunchKernel", out);
}

/* mark 1; switch (word 0) { 0: mark 10; 1: while (word 1) { mark 11; if (word 2 == 3) mark
 * 12 else mark 13; word 1 -= 1 } 2: } if (own(word 3)) mark 14; mark 2 */
static struct made capture_all(void)
{
    gph_capture *capture = open_capture(NULL);
    const gph_condition choice = word_at(word(0)), rounds = word_at(word(1));
    gph_condition third = compare_at(word(2), GPH_VALUE_U32, GPH_EQUAL), own;
    CUdeviceptr decides = word(3);
    third.constant.u = 3;
    own = word_at(0);
    own.kind = GPH_CONDITION_KERNEL;
    own.set = set_own;
    own.user = &decides;
    mark(1);
    CHECK_OK(gph_capture_switch(capture, &choice, 3, &error), error);
    mark(10);
    CHECK_OK(gph_capture_case(capture, 1, &error), error);
    CHECK_OK(gph_capture_while(capture, &rounds, &error), error);
    mark(11);
    CHECK_OK(gph_capture_if(capture, &third, 2, &error), error);
    mark(12);
    CHECK_OK(gph_capture_else(capture, &error), error);
    mark(13);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    step(1);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    CHECK_OK(gph_capture_if(capture, &own, 1, &error), error);
    mark(14);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    mark(2);
    return close_capture(capture);
}

static gph_recipe *make_recipe(bool twice, const gph_allocator *allocator)
{
    gph_recipe *recipe = NULL;
    const gph_recipe_range ranges[] = {{sizeof(gph_recipe_range), "log", log_here,
                                        twice ? log_there : log_here, 4 * LOG_WORDS},
                                       {sizeof(gph_recipe_range), "words", words_here,
                                        twice ? words_there : words_here, 8 * WORDS}};
    if (!CHECK_OK(gph_recipe_create(allocator, &recipe, &error), error))
        return NULL;
    for (int i = 0; i < 2; i++)
        CHECK_OK(gph_recipe_range_add(recipe, &ranges[i], NULL, &error), error);
    return recipe;
}

static gph_status add(gph_recipe *recipe, const char *name, CUgraph graph,
                      CUgraph shifted)
{
    gph_recipe_entry entry = GPH_RECIPE_ENTRY_INIT;
    entry.name = name;
    entry.graph = graph;
    entry.shifted = shifted;
    return gph_recipe_add(recipe, runtime, &entry, NULL, &error);
}

/* To a file and back; the first is destroyed. */
static gph_recipe *through_file(gph_recipe *recipe)
{
    char path[64];
    gph_recipe *again = NULL;
    snprintf(path, sizeof(path), "recipe_flow_%d.gphr", (int)getpid());
    CHECK_OK(gph_recipe_save(recipe, path, &error), error);
    CHECK_OK(gph_recipe_load(path, NULL, &again, &error), error);
    remove(path);
    gph_recipe_destroy(recipe);
    return again;
}

static bool runs(gph_loaded *loaded, uint32_t index, unsigned count,
                 const unsigned *values)
{
    unsigned got[LOG_WORDS] = {0};
    CU(MemsetD32Async, log_at, 0, LOG_WORDS, stream);
    CHECK_OK(gph_loaded_launch(loaded, index, stream, &error), error);
    CU(MemcpyDtoHAsync, got, log_at, sizeof(got), stream);
    CU(StreamSynchronize, stream);
    return got[0] == count && memcmp(got + 1, values, count * sizeof(*values)) == 0;
}
#define RUNS(loaded, index, ...)                                                         \
    CHECK(runs((loaded), (index), sizeof((unsigned[]){__VA_ARGS__}) / sizeof(unsigned),  \
               (unsigned[]){__VA_ARGS__}))

static void run_all(gph_loaded *loaded, uint32_t index)
{
    put(0, 0);
    put(3, 0);
    RUNS(loaded, index, 1, 10, 2);
    put(0, 1);
    put(1, 2);
    put(2, 3);
    put(3, 1);
    RUNS(loaded, index, 1, 11, 12, 11, 12, 14, 2);
    put(1, 1);
    put(2, 4);
    RUNS(loaded, index, 1, 11, 13, 14, 2);
    put(0, 9);
    put(3, 0);
    RUNS(loaded, index, 1, 2);
}

static void loops_and_branches_come_back(void)
{
    static const uint32_t flags[] = {0, GPH_RECIPE_SHARE, GPH_RECIPE_LAZY};
    struct made made = capture_all();
    gph_recipe *recipe = make_recipe(false, NULL);
    const CUgraph graph = gph_recording_graph(made.recording, 0);
    CHECK_OK(add(recipe, "all", graph, NULL), error);
    CHECK_OK(add(recipe, "again", graph, NULL), error);
    drop(&made);
    recipe = through_file(recipe);
    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
        gph_loaded_options options = GPH_LOADED_OPTIONS_INIT;
        gph_loaded *loaded = NULL;
        uint32_t graphs = 0;
        options.flags = flags[i];
        CHECK_OK(gph_loaded_create(runtime, recipe, &options, &loaded, &error), error);
        gph_loaded_count(loaded, &graphs, NULL);
        CHECK(graphs == 2);
        for (uint32_t k = 0; k < 2 && graphs == 2; k++)
            run_all(loaded, k);
        gph_loaded_destroy(loaded);
    }
    gph_recipe_destroy(recipe);
}

static void they_run_at_other_addresses(void)
{
    struct made first = capture_all();
    move_to(true);
    struct made second = capture_all();
    gph_recipe *recipe = make_recipe(true, NULL);
    CHECK_OK(add(recipe, "all", gph_recording_graph(first.recording, 0),
                 gph_recording_graph(second.recording, 0)),
             error);
    drop(&first);
    drop(&second);
    recipe = through_file(recipe);
    const gph_recipe_place places[] = {{"log", log_there, 4 * LOG_WORDS},
                                       {"words", words_there, 8 * WORDS}};
    gph_loaded_options options = GPH_LOADED_OPTIONS_INIT;
    gph_loaded *loaded = NULL;
    options.places = places;
    options.place_count = 2;
    gph_recipe_graph about = GPH_SIZED(gph_recipe_graph);
    CHECK(gph_recipe_graph_get(recipe, 0, &about) && about.is_movable &&
          about.refusal_count == 0);
    CHECK_OK(gph_loaded_create(runtime, recipe, &options, &loaded, &error), error);
    run_all(loaded, 0);
    gph_loaded_destroy(loaded);
    gph_recipe_destroy(recipe);
    move_to(false);
}

/* Graphs for launch from the device: what a kernel may launch, the host may, too. */
static void device_graphs_come_back(void)
{
    gph_capture *capture = open_capture(NULL);
    mark(5);
    mark(6);
    struct made made = close_capture(capture);
    gph_recipe *recipe = make_recipe(false, NULL);
    gph_loaded_options options = GPH_LOADED_OPTIONS_INIT;
    gph_loaded *loaded = NULL;
    CHECK_OK(add(recipe, "all", gph_recording_graph(made.recording, 0), NULL), error);
    drop(&made);
    recipe = through_file(recipe);
    options.exec_flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    options.stream = stream;
    CHECK_OK(gph_loaded_create(runtime, recipe, &options, &loaded, &error), error);
    RUNS(loaded, 0, 5, 6);
    gph_loaded_destroy(loaded);
    gph_recipe_destroy(recipe);
}

/* Handles are other numbers, all else is the same. */
static void they_are_described_as_they_were(void)
{
    struct made made = capture_all();
    gph_recipe *recipe = make_recipe(false, NULL);
    const CUgraph graph = gph_recording_graph(made.recording, 0);
    gph_graph *live = NULL, *kept = NULL;
    gph_diff *diff = NULL;
    CHECK_OK(add(recipe, "all", graph, NULL), error);
    recipe = through_file(recipe);
    CHECK_OK(gph_graph_describe(runtime, graph, &live, &error), error);
    CHECK_OK(gph_recipe_describe(recipe, 0, &kept, &error), error);
    CHECK(gph_graph_node_count_deep(live) == gph_graph_node_count_deep(kept));
    CHECK_OK(gph_graph_diff(live, kept, &diff, &error), error);
    for (size_t i = 0; i < gph_diff_count(diff); i++) {
        const gph_change *change = gph_diff_at(diff, i);
        /* The first argument of the kernels that set conditions. */
        if (!CHECK(change->field && strncmp(change->field, "args[0]", 7) == 0))
            fprintf(stderr, "  %s %s %s: %s, %s\n", change->path, change->node,
                    change->field ? change->field : "",
                    change->before ? change->before : "",
                    change->after ? change->after : "");
    }
    gph_diff_destroy(diff);
    gph_graph_destroy(kept);
    gph_graph_destroy(live);
    gph_recipe_destroy(recipe);
    drop(&made);
}

/* ---- refusals ---- */

static void refused(CUgraph graph, int64_t node, const char *says)
{
    gph_recipe *recipe = make_recipe(false, NULL);
    gph_recipe_refusal why = GPH_SIZED(gph_recipe_refusal);
    CHECK_OK(add(recipe, "all", graph, NULL), error);
    recipe = through_file(recipe);
    if (CHECK(gph_recipe_refusal_get(recipe, 0, 0, &why)) &&
        !CHECK(why.node == node && why.kind == GPH_NODE_CONDITIONAL &&
               strstr(why.why, says)))
        fprintf(stderr, "  node %lld: %s\n", (long long)why.node, why.why);
    gph_recipe_destroy(recipe);
}

static void what_is_in_a_body_is_named(void)
{
    const gph_condition rounds = word_at(word(1)), choice = word_at(word(0));
    const CUfunction known = marker;
    CUmodule foreign = NULL;
    CU(ModuleLoadData, &foreign, flow_ptx);
    gph_capture *capture = open_capture(NULL);
    CHECK_OK(gph_capture_switch(capture, &choice, 2, &error), error);
    CHECK_OK(gph_capture_case(capture, 1, &error), error);
    mark(1);
    CHECK_OK(gph_capture_while(capture, &rounds, &error), error);
    mark(2);
    CU(ModuleGetFunction, &marker, foreign, "mark");
    mark(3);
    marker = known;
    step(1);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    struct made made = close_capture(capture);
    /* Node 0 sets the choice, 1 is it; or 0 and 1 set two IFs, 2 and 3. In case 1: mark, set,
     * the loop. */
    refused(gph_recording_graph(made.recording, 0), has_forms() ? 1 : 3,
            has_forms() ? "body of node 2, case 1 of node 1: node 1: kernel mark is of a "
                          "module that gph_module_load() did not load"
                        : "body of node 2, then of node 3: node 1: kernel mark is of a");
    drop(&made);
}

static void nodes_of_others_are_refused(void)
{
    CUresult (*create)(CUgraphConditionalHandle *, CUgraph, CUcontext, unsigned int,
                       unsigned int) = NULL;
    CUresult (*add_node)(CUgraphNode *, CUgraph, const CUgraphNode *,
                         const CUgraphEdgeData *, size_t, CUgraphNodeParams *) = NULL;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    CUcontext context = NULL;
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphConditionalHandle handle = 0;
    CHECK_OK(gph_cuda_find(runtime, "cuGraphConditionalHandleCreate",
                           (gph_cuda_fn *)&create, &error),
             error);
    CHECK_OK(gph_cuda_find(runtime, "cuGraphAddNode", (gph_cuda_fn *)&add_node, &error),
             error);
    CU(CtxGetCurrent, &context);
    CU(GraphCreate, &graph, 0);
    CHECK(create(&handle, graph, context, 1, 1) == CUDA_SUCCESS);
    params.conditional.handle = handle;
    params.conditional.type = CU_GRAPH_COND_TYPE_IF;
    params.conditional.size = 1;
    params.conditional.ctx = context;
    CHECK(add_node(&node, graph, NULL, NULL, 0, &params) == CUDA_SUCCESS);
    refused(graph, 0, "the driver does not say what its bodies are");
    CU(GraphDestroy, graph);
}

/* ---- faults ---- */

static fault_heap heap = {.fail_at = -1};

/* Recording and loading, where an allocation fails. */
static gph_status do_all(CUgraph graph, const gph_allocator *allocator)
{
    gph_recipe *recipe = NULL;
    gph_loaded *loaded = NULL;
    const gph_recipe_range ranges[] = {
        {sizeof(gph_recipe_range), "log", log_here, log_here, 4 * LOG_WORDS},
        {sizeof(gph_recipe_range), "words", words_here, words_here, 8 * WORDS}};
    gph_status status = gph_recipe_create(allocator, &recipe, &error);
    for (int i = 0; i < 2 && status == GPH_OK; i++)
        status = gph_recipe_range_add(recipe, &ranges[i], NULL, &error);
    if (status == GPH_OK)
        status = add(recipe, "all", graph, NULL);
    if (status == GPH_OK)
        status = gph_loaded_create(runtime, recipe, NULL, &loaded, &error);
    if (status == GPH_OK) {
        gph_loaded_graph about = GPH_SIZED(gph_loaded_graph);
        CHECK(gph_loaded_get(loaded, 0, &about));
        status = about.is_loaded ? GPH_OK : about.status;
    }
    gph_loaded_destroy(loaded);
    gph_recipe_destroy(recipe);
    return status;
}

static void failed_allocations_leave_nothing(void)
{
    const gph_allocator allocator = {fault_realloc, &heap};
    struct made made = capture_all();
    const CUgraph graph = gph_recording_graph(made.recording, 0);
    const long live = atomic_load(&heap.live_bytes);
    long nth = 0;
    for (gph_status status = GPH_E_NO_MEMORY; status != GPH_OK && nth < 3000; nth++) {
        atomic_store(&heap.fail_at, nth);
        status = do_all(graph, &allocator);
        atomic_store(&heap.fail_at, -1);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        if (!CHECK(atomic_load(&heap.live_bytes) == live))
            fprintf(stderr, "  allocation %ld: %ld bytes left\n", nth,
                    atomic_load(&heap.live_bytes) - live);
    }
    CHECK(nth > 50 && nth < 3000);
    drop(&made);
}

static bool open_all(void)
{
    const gph_allocator allocator = {fault_realloc, &heap};
    static const char *const names[] = {"mark", "mark_if", "step", "own"};
    CUfunction *const functions[] = {&marker, &flag_marker, &stepper, &own_setter};
    runtime_open(GPH_DRIVER_AUTO, &allocator);
    CUcontext context = NULL;
    if (!CU(DevicePrimaryCtxRetain, &context, 0) || !CU(CtxSetCurrent, context) ||
        !CHECK_OK(gph_module_load(runtime, flow_ptx, sizeof(flow_ptx), &module, &error),
                  error))
        return false;
    for (int i = 0; i < 4; i++)
        CHECK_OK(gph_module_function(module, names[i], functions[i], &error), error);
    const bool is_open =
        CU(StreamCreate, &stream, 1) && CU(StreamCreate, &side, 1) &&
        CU(MemAlloc, &log_here, 4 * LOG_WORDS) && CU(MemAlloc, &words_here, 8 * WORDS) &&
        CU(MemAlloc, &log_there, 4 * LOG_WORDS) && CU(MemAlloc, &words_there, 8 * WORDS);
    move_to(false);
    return is_open && CU(MemsetD32Async, words_at, 0, 2 * WORDS, stream) &&
           CHECK_OK(mark_status(stream, 0), error) && CU(StreamSynchronize, stream);
}

int main(void)
{
    if (!open_all())
        return 1;
    RUN(loops_and_branches_come_back);
    RUN(they_run_at_other_addresses);
    RUN(device_graphs_come_back);
    RUN(they_are_described_as_they_were);
    RUN(what_is_in_a_body_is_named);
    RUN(nodes_of_others_are_refused);
    RUN(failed_allocations_leave_nothing);
    gph_module_unload(module);
    return test_done();
}
