// SPDX-License-Identifier: Apache-2.0
/* Recipes from end to end, on a real driver: recorded here, loaded in a process that this
 * test starts, at the same addresses and at others.
 *
 *   recipe_driver_test                             the tests
 *   recipe_driver_test load FILE BASE WHAT FACTOR  the other process: loads FILE with its
 *       memory at BASE and launches each graph. Exit: 0 right, 3 it says why not, else
 *       wrong. */
#define _GNU_SOURCE
#include "recipe_work.h"

#include <gph/recipe_load.h>

#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/recipe-test-XXXXXX";
static char file[64];
static gph_module *module;

static CUdeviceptr first_base, second_base; /* of the recording process */

static gph_tensor floats(CUdeviceptr data)
{
    return (gph_tensor){
        .data = data, .dtype = GPH_DTYPE_F32, .rank = 1, .shape = {COUNT}, .stride = {1}};
}

static gph_recipe *new_recipe(bool moves)
{
    gph_recipe *recipe = NULL;
    const gph_recipe_range range = {sizeof(gph_recipe_range), "arena", first_base,
                                    moves ? second_base : first_base, PLACE};
    CHECK_OK(gph_recipe_create(NULL, &recipe, &error), error);
    CHECK_OK(gph_recipe_range_add(recipe, &range, NULL, &error), error);
    return recipe;
}

static float captured_factor;

static gph_status capture_either(void *user, int which, CUgraph *out, gph_error *why)
{
    (void)user, (void)why;
    *out = capture_work(which == 0 ? first_base : second_base, captured_factor);
    return *out != NULL ? GPH_OK : GPH_E_STATE;
}

/* Adds the work, captured twice if the recipe's range moves. */
static void add_work(gph_recipe *recipe, const char *name, float factor, bool with_check)
{
    const gph_tensor input = floats(first_base), output = floats(first_base + OUT);
    gph_recipe_entry entry = GPH_RECIPE_ENTRY_INIT;
    entry.name = name;
    entry.inputs = &input;
    entry.outputs = &output;
    entry.input_count = entry.output_count = 1;
    entry.check = with_check;
    entry.stream = stream;
    gph_recipe_range range = GPH_SIZED(gph_recipe_range);
    CHECK(gph_recipe_range_get(recipe, 0, &range) != 0);
    captured_factor = factor;
    if (range.shifted != range.address) {
        CHECK_OK(gph_recipe_record_twice(recipe, runtime, &entry, capture_either, NULL,
                                         &error),
                 error);
    } else {
        entry.graph = capture_work(first_base, factor);
        CHECK_OK(gph_recipe_add(recipe, runtime, &entry, NULL, &error), error);
        CU(GraphDestroy, entry.graph);
    }
}

static void print_refusals(const gph_recipe *recipe, uint32_t graph)
{
    gph_recipe_refusal refusal = GPH_SIZED(gph_recipe_refusal);
    for (uint32_t i = 0; gph_recipe_refusal_get(recipe, graph, i, &refusal); i++)
        fprintf(stderr, "  node %lld (%s) offset %lld: %s\n", (long long)refusal.node,
                gph_node_kind_name(refusal.kind), (long long)refusal.offset, refusal.why);
}

static void save(gph_recipe *recipe)
{
    for (uint32_t i = 0; i < 8; i++)
        print_refusals(recipe, i);
    CHECK_OK(gph_recipe_save(recipe, file, &error), error);
    gph_recipe_destroy(recipe);
}

/* Starts this program again; its exit, and what it says. */
static int run_other(CUdeviceptr base, const char *what, float factor, char *said,
                     size_t room)
{
    char address[32], number[32];
    snprintf(address, sizeof(address), "%llx", (unsigned long long)base);
    snprintf(number, sizeof(number), "%g", (double)factor);
    int pipes[2];
    if (!CHECK(pipe(pipes) == 0))
        return -1;
    const pid_t child = fork();
    if (child == 0) {
        dup2(pipes[1], 1);
        close(pipes[0]);
        execl("/proc/self/exe", "recipe_driver_test", "load", file, address, what, number,
              (char *)NULL);
        _exit(99);
    }
    close(pipes[1]);
    size_t count = 0;
    for (ssize_t more = 1; more > 0 && count + 1 < room; count += (size_t)more) {
        more = read(pipes[0], said + count, room - 1 - count);
        if (more < 0)
            more = 0;
    }
    said[count] = '\0';
    close(pipes[0]);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static char said[4096];

static void expect_other(CUdeviceptr base, const char *what, float factor, int code,
                         const char *words)
{
    const int got = run_other(base, what, factor, said, sizeof(said));
    if (got == 77) /* the address is taken there */
        return;
    if (!CHECK(got == code) || !CHECK(strstr(said, words) != NULL))
        fprintf(stderr, "  exit %d, said: %s\n", got, said);
}

/* An address where nothing of the recording process lay. */
static CUdeviceptr elsewhere(void)
{
    const CUdeviceptr high = first_base > second_base ? first_base : second_base;
    return high + 64 * (CUdeviceptr)PLACE;
}

static void a_process_loads_what_another_recorded_at_the_same_addresses(void)
{
    gph_recipe *recipe = new_recipe(false);
    add_work(recipe, "a", 3.0f, false);
    save(recipe);
    expect_other(first_base, "plain", 3.0f, 0, "1 loaded, 1 executables");
}

static void one_captured_twice_loads_anywhere(void)
{
    gph_recipe *recipe = new_recipe(true);
    add_work(recipe, "a", 5.0f, true);
    gph_recipe_graph graph = GPH_SIZED(gph_recipe_graph);
    CHECK(gph_recipe_graph_get(recipe, 0, &graph) && graph.is_movable && graph.has_check);
    CHECK(graph.pointer_count == 2 + 2 * 2 + 2 * 2); /* fills, kernels, copies */
    save(recipe);
    expect_other(first_base, "check", 5.0f, 0, "checked");
    expect_other(elsewhere(), "check", 5.0f, 0, "checked");
    expect_other(elsewhere(), "plain", 5.0f, 0, "1 loaded");
}

static void one_captured_once_stays_where_it_was(void)
{
    gph_recipe *recipe = new_recipe(false);
    add_work(recipe, "a", 3.0f, false);
    save(recipe);
    char words[64];
    snprintf(words, sizeof(words), "it was recorded at 0x%llx: it was captured once",
             (unsigned long long)first_base);
    expect_other(elsewhere(), "plain", 3.0f, 3, words);
    expect_other(elsewhere(), "plain", 3.0f, 3, "range arena is at 0x");
}

static void memory_that_is_not_there_is_missed(void)
{
    gph_recipe *recipe = new_recipe(true);
    add_work(recipe, "a", 3.0f, false);
    save(recipe);
    expect_other(elsewhere(), "hole", 3.0f, 3, "there is no device memory at 0x");
}

static void another_image_is_refused_by_name(void)
{
    gph_recipe *recipe = new_recipe(true);
    add_work(recipe, "a", 3.0f, false);
    save(recipe);
    expect_other(first_base, "changed", 3.0f, 3, "kernel axpy: no module with image ");
    expect_other(first_base, "changed", 3.0f, 3, ", which is, has a kernel of that name");
    expect_other(first_base, "none", 3.0f, 3, "kernel axpy: no module with image ");
}

static void a_resolver_finds_kernels_of_others(void)
{
    gph_recipe *recipe = new_recipe(true);
    add_work(recipe, "a", 3.0f, false);
    save(recipe);
    expect_other(first_base, "resolve", 3.0f, 0, "1 loaded");
    expect_other(first_base, "resolve-other", 3.0f, 3,
                 "kernel axpy takes other arguments than were recorded");
}

static void a_check_finds_that_something_else_comes_out(void)
{
    gph_recipe *recipe = new_recipe(true);
    add_work(recipe, "a", 3.0f, true);
    save(recipe);
    /* A resolver that gives a kernel of the same name that computes something else. */
    expect_other(first_base, "check-twice", 3.0f, 3, "its outputs differ from those");
}

static void graphs_of_one_topology_share_an_executable(void)
{
    gph_recipe *recipe = new_recipe(true);
    char name[8];
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof(name), "g%d", i);
        add_work(recipe, name, (float)(i + 1), i % 2 == 0);
    }
    save(recipe);
    expect_other(first_base, "share", 1.0f, 0, "8 loaded, 1 executables");
    expect_other(elsewhere(), "share-check", 1.0f, 0, "8 loaded, 1 executables");
    expect_other(elsewhere(), "lazy", 1.0f, 0, "8 loaded, 0 executables");
    expect_other(first_base, "lazy-share", 1.0f, 0, "8 loaded, 0 executables");
    expect_other(first_base, "threads", 1.0f, 0, "8 loaded");
}

/* ---- refusals ---- */

/* Adds a graph that is to be refused, and looks for the reason. */
static void expect_refusal(CUgraph graph, CUgraph shifted, const gph_resolver *resolver,
                           gph_node_kind kind, int64_t offset, const char *words)
{
    gph_recipe *recipe = new_recipe(shifted != NULL);
    gph_recipe_entry entry = GPH_RECIPE_ENTRY_INIT;
    entry.name = "refused";
    entry.graph = graph;
    entry.shifted = shifted;
    entry.resolver = resolver;
    entry.check = 1; /* not replayed: it is refused before */
    uint32_t index = 7;
    CHECK_OK(gph_recipe_add(recipe, runtime, &entry, &index, &error), error);
    gph_recipe_refusal refusal = {.size = sizeof(gph_recipe_refusal),
                                  .why = "it was not refused"};
    CHECK(index == 0 && gph_recipe_refusal_get(recipe, 0, 0, &refusal));
    if (!CHECK(strstr(refusal.why, words) != NULL && refusal.kind == kind &&
               refusal.offset == offset))
        fprintf(stderr, "  %s, offset %lld: %s\n", gph_node_kind_name(refusal.kind),
                (long long)refusal.offset, refusal.why);
    gph_recipe_graph info = GPH_SIZED(gph_recipe_graph);
    CHECK(gph_recipe_graph_get(recipe, 0, &info) && info.node_count == 0 &&
          info.refusal_count > 0 && !info.has_check);
    CHECK_OK(gph_recipe_save(recipe, file, &error), error);
    gph_recipe_destroy(recipe);

    gph_recipe *again = NULL;
    gph_loaded *loaded = NULL;
    gph_loaded_graph state = GPH_SIZED(gph_loaded_graph);
    CHECK_OK(gph_recipe_load(file, NULL, &again, &error), error);
    CHECK_OK(gph_loaded_create(runtime, again, NULL, &loaded, &error), error);
    CHECK(gph_loaded_get(loaded, 0, &state) && !state.is_loaded &&
          state.status == GPH_E_UNSUPPORTED && strstr(state.why, words) != NULL);
    CHECK(gph_loaded_launch(loaded, 0, stream, &error) == GPH_E_STATE);
    CHECK(strstr(error.message, "graph refused has to be captured: it was refused") !=
          NULL);
    gph_loaded_destroy(loaded);
    gph_recipe_destroy(again);
}

static CUgraph begin_then(void (*work)(CUdeviceptr base), CUdeviceptr base)
{
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    CHECK_OK(gph_capture_begin(runtime, stream, NULL, &capture, &error), error);
    work(base);
    CHECK_OK(gph_capture_end(capture, &graph, &error), error);
    return graph;
}

static void host_call(void *user)
{
    (void)user;
}

static char page[4096];
static CUdeviceptr outside;

static void work_host(CUdeviceptr base)
{
    (void)base;
    CU(LaunchHostFunc, stream, host_call, NULL);
}

static void work_read_host(CUdeviceptr base)
{
    CU(MemcpyDtoHAsync, page, base, 64, stream);
}

static void work_outside(CUdeviceptr base)
{
    CHECK(launch_axpy(stream, base, outside, 1.0f) == GPH_OK);
}

static void work_fill_outside(CUdeviceptr base)
{
    (void)base;
    CU(MemsetD32Async, outside, 0, 16, stream);
}

static void work_mem_alloc(CUdeviceptr base)
{
    CUdeviceptr fresh = 0;
    (void)base;
    CU(MemAllocAsync, &fresh, 64, stream);
    CU(MemFreeAsync, fresh, stream);
}

static void work_kept(CUdeviceptr base)
{
    (void)base; /* an address of the first capture, whichever this one is */
    CHECK(launch_axpy(stream, first_base + Y, first_base, 1.0f) == GPH_OK);
}

static void work_strides(CUdeviceptr base) /* moves by another distance */
{
    CHECK(launch_axpy(stream, base == first_base ? base : base + 256, base, 1.0f) ==
          GPH_OK);
}

static void work_number(CUdeviceptr base)
{
    CHECK(launch_axpy(stream, base, base, base == first_base ? 1.0f : 2.0f) == GPH_OK);
}

static void work_more(CUdeviceptr base)
{
    CU(MemsetD32Async, base, 0, base == first_base ? 16 : 32, stream);
}

static void work_extra_node(CUdeviceptr base)
{
    CU(MemsetD32Async, base, 0, 16, stream);
    if (base != first_base)
        CU(MemsetD32Async, base, 0, 16, stream);
}

static CUfunction pair, talker;

static void work_packed(CUdeviceptr base)
{
    struct __attribute__((packed)) {
        char c;
        uint64_t pointer;
        char rest[15];
    } both = {.pointer = base};
    void *params[] = {&both};
    CU(LaunchKernel, pair, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
}

static void work_packed_kept(CUdeviceptr base)
{
    (void)base;
    work_packed(first_base);
}

static void work_talk(CUdeviceptr base)
{
    void *params[] = {&base};
    CU(LaunchKernel, talker, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
}

static void refuse(void (*work)(CUdeviceptr base), bool twice, gph_node_kind kind,
                   int64_t offset, const char *words)
{
    CUgraph graph = begin_then(work, first_base);
    CUgraph shifted = twice ? begin_then(work, second_base) : NULL;
    expect_refusal(graph, shifted, NULL, kind, offset, words);
    CU(GraphDestroy, graph);
    if (twice)
        CU(GraphDestroy, shifted);
}

static void what_cannot_be_kept_is_refused_with_node_and_reason(void)
{
    CU(MemAlloc, &outside, BYTES);
    refuse(work_host, false, GPH_NODE_HOST, -1, "calls a function of this process");
    refuse(work_read_host, false, GPH_NODE_MEMCPY, 0, "it writes host memory at 0x");
    refuse(work_mem_alloc, false, GPH_NODE_MEM_ALLOC, -1, "use a pool");
    refuse(work_outside, false, GPH_NODE_KERNEL, 8, "device memory outside every range");
    refuse(work_outside, true, GPH_NODE_KERNEL, 8, "device memory outside every range");
    refuse(work_fill_outside, false, GPH_NODE_MEMSET, 0, "address outside every range");
    refuse(work_talk, false, GPH_NODE_KERNEL, -1,
           "ncclDevKernel_AllReduce talks to other processes");
    CU(MemFree, outside);
}

static void what_differs_between_captures_is_refused(void)
{
    refuse(work_kept, true, GPH_NODE_KERNEL, 0, "but did not move with it");
    refuse(work_strides, true, GPH_NODE_KERNEL, 0, "by another distance than its range");
    refuse(work_number, true, GPH_NODE_KERNEL, 16, ", and is in no range");
    refuse(work_more, true, GPH_NODE_MEMSET, -1, "its shape or value differs");
    refuse(work_extra_node, true, GPH_NODE_KERNEL, -1,
           "the captures differ: 1 nodes and 0 edges, then 2 and 1");
    refuse(work_packed, true, GPH_NODE_KERNEL, 0, ", and is in no range");
    refuse(work_packed_kept, true, GPH_NODE_KERNEL, 1, "but did not move with it");
}

static gph_status identify_foreign(void *user, CUfunction function, gph_kernel_id *out,
                                   gph_error *why)
{
    (void)function, (void)why;
    if (user == NULL)
        return GPH_E_UNSUPPORTED;
    *out = (gph_kernel_id){.name = user};
    gph_image_hash(work_ptx, sizeof(work_ptx), out->image);
    return GPH_OK;
}

static void an_unknown_module_is_refused_unless_it_is_resolved(void)
{
    CUmodule foreign = NULL;
    CUfunction function = NULL, own = axpy;
    CU(ModuleLoadData, &foreign, work_ptx);
    CU(ModuleGetFunction, &function, foreign, "axpy");
    axpy = function;
    CUgraph graph = capture_work(first_base, 2.0f);
    gph_resolver resolver = {.size = sizeof(gph_resolver), .identify = identify_foreign};
    expect_refusal(graph, NULL, NULL, GPH_NODE_KERNEL, -1,
                   "kernel axpy is of a module that gph_module_load() did not load");
    expect_refusal(graph, NULL, &resolver, GPH_NODE_KERNEL, -1,
                   "kernel axpy is of a module that gph_module_load() did not load");
    char bad[] = "a\nb";
    resolver.user = bad;
    expect_refusal(graph, NULL, &resolver, GPH_NODE_KERNEL, -1,
                   "is empty or not printable");
    char name[] = "axpy";
    resolver.user = name;
    gph_recipe *recipe = new_recipe(false);
    gph_recipe_entry entry = GPH_RECIPE_ENTRY_INIT;
    entry.name = "a";
    entry.graph = graph;
    entry.resolver = &resolver;
    CHECK_OK(gph_recipe_add(recipe, runtime, &entry, NULL, &error), error);
    save(recipe);
    expect_other(first_base, "plain", 2.0f, 0, "1 loaded"); /* known there by its image */
    CU(GraphDestroy, graph);
    CU(ModuleUnload, foreign);
    axpy = own;
}

static gph_status fail_capture(void *user, int which, CUgraph *out, gph_error *why)
{
    const int *fails = user;
    if (which == *fails)
        return GPH_E_STATE;
    return *fails == 2 ? GPH_OK : capture_either(NULL, which, out, why);
}

static void bad_arguments_are_refused_and_change_nothing(void)
{
    gph_recipe *recipe = new_recipe(true);
    const gph_tensor far = floats(first_base + PLACE - 8);
    CUgraph graph = capture_work(first_base, 2.0f);
    gph_recipe_entry good = GPH_RECIPE_ENTRY_INIT, bad;
    good.name = "a";
    good.graph = graph;
#define REFUSE(field, value, words)                                                      \
    do {                                                                                 \
        bad = good;                                                                      \
        bad.field = value;                                                               \
        CHECK(gph_recipe_add(recipe, runtime, &bad, NULL, &error) == GPH_E_INVALID);     \
        if (!CHECK(strstr(error.message, words) != NULL))                                \
            fprintf(stderr, "  %s\n", error.message);                                    \
    } while (0)
    REFUSE(name, NULL, "a printable name");
    REFUSE(name, "", "a printable name");
    REFUSE(name, "tab\t", "a printable name");
    REFUSE(graph, NULL, "it is NULL");
    REFUSE(key_count, 65, "65 numbers in its key");
    REFUSE(output_count, 1, "its tensors are NULL");
    good.outputs = &far;
    REFUSE(output_count, 1, "output 0: 4000 bytes at 0x");
    gph_recipe_summary summary = GPH_SIZED(gph_recipe_summary);
    gph_recipe_summary_get(recipe, &summary);
    CHECK(summary.graph_count == 0 && summary.kernel_count == 0);
    CHECK_OK(gph_recipe_add(recipe, runtime, &good, NULL, &error), error);
    CHECK(gph_recipe_add(recipe, runtime, &good, NULL, &error) == GPH_E_INVALID);
    CHECK(strcmp(error.message, "there is a graph a already") == 0);
    for (int fails = 0; fails < 3; fails++) {
        good.name = "b";
        CHECK(gph_recipe_record_twice(recipe, runtime, &good, fail_capture, &fails,
                                      &error) ==
              (fails < 2 ? GPH_E_STATE : GPH_E_INVALID));
    }
    CU(GraphDestroy, graph);
    gph_recipe_destroy(recipe);
}

static void bad_ranges_places_and_paths_are_refused(void)
{
    gph_recipe *recipe = new_recipe(true);
    const gph_recipe_range same = {sizeof(gph_recipe_range), "arena", 4096, 4096, 64};
    const gph_recipe_range over = {sizeof(gph_recipe_range), "over", first_base + 64,
                                   first_base + 64, 64};
    const gph_recipe_range none = {sizeof(gph_recipe_range), "none", 4096, 4096, 0};
    CHECK(gph_recipe_range_add(recipe, &same, NULL, &error) == GPH_E_INVALID);
    CHECK(gph_recipe_range_add(recipe, &over, NULL, &error) == GPH_E_INVALID);
    CHECK(strcmp(error.message, "range over overlaps range arena") == 0);
    CHECK(gph_recipe_range_add(recipe, &none, NULL, &error) == GPH_E_INVALID);

    gph_loaded *loaded = NULL;
    const gph_recipe_place wrong = {"arenas", first_base, PLACE};
    const gph_recipe_place small = {"arena", first_base, 64};
    gph_loaded_options options = GPH_LOADED_OPTIONS_INIT;
    options.place_count = 1;
    CHECK(gph_loaded_create(runtime, recipe, &options, &loaded, &error) == GPH_E_INVALID);
    options.places = &wrong;
    CHECK(gph_loaded_create(runtime, recipe, &options, &loaded, &error) == GPH_E_INVALID);
    CHECK(strcmp(error.message, "the recipe has no range arenas") == 0);
    options.places = &small;
    CHECK(gph_loaded_create(runtime, recipe, &options, &loaded, &error) == GPH_E_INVALID);
    CHECK(strstr(error.message, "has 64 bytes, but 2097152 were recorded") != NULL);
    options.place_count = 0;
    options.flags = 64;
    CHECK(gph_loaded_create(runtime, recipe, &options, &loaded, &error) == GPH_E_INVALID);
    CHECK(loaded == NULL);
    CHECK(gph_recipe_load("no/such/file", NULL, &recipe, &error) == GPH_E_IO);
    CHECK(gph_recipe_save(recipe, "no/such/folder/file", &error) == GPH_E_IO);
    CHECK(gph_loaded_launch(NULL, 0, stream, &error) == GPH_E_INVALID);
    gph_loaded_destroy(NULL);
    gph_module_unload(NULL);
    gph_recipe_destroy(recipe);
    gph_recipe_destroy(NULL);
}

static void modules_are_counted_and_wait_for_captures(void)
{
    gph_module *again = NULL, *other = NULL;
    CHECK_OK(gph_module_load(runtime, work_ptx, sizeof(work_ptx), &again, &error), error);
    CHECK(again == module); /* with and without the zero at its end */
    gph_module_unload(again);
    CHECK_OK(gph_module_load(runtime, other_ptx, strlen(other_ptx), &other, &error),
             error);
    CHECK(other != module && gph_module_handle(other) != gph_module_handle(module));
    CUfunction function = NULL;
    gph_kernel_id id = {0}, own = {0};
    CHECK_OK(gph_module_function(other, "axpy", &function, &error), error);
    CHECK_OK(gph_kernel_identify(runtime, function, &id, &error), error);
    CHECK_OK(gph_kernel_identify(runtime, axpy, &own, &error), error);
    CHECK(strcmp(id.name, "axpy") == 0 && memcmp(id.image, own.image, 32) != 0);
    CHECK(gph_module_function(other, "nothing", &function, &error) == 500);
    CHECK(strstr(error.message, "kernel nothing of image ") != NULL);
    CHECK(gph_module_load(runtime, "garbage", 7, &again, &error) > 0);
    CHECK(gph_module_load(runtime, NULL, 7, &again, &error) == GPH_E_INVALID);
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    CHECK_OK(gph_capture_begin(runtime, stream, NULL, &capture, &error), error);
    CHECK(launch_axpy(stream, first_base, first_base, 1.0f) == GPH_OK);
    gph_module_unload(other); /* would invalidate the capture */
    CHECK_OK(gph_capture_end(capture, &graph, &error), error);
    CU(GraphDestroy, graph);
}

static void a_recipe_describes_its_graphs(void)
{
    gph_recipe *recipe = new_recipe(true);
    add_work(recipe, "bucket 8", 2.0f, false);
    gph_graph *graph = NULL;
    CHECK_OK(gph_recipe_describe(recipe, 0, &graph, &error), error);
    CHECK(gph_graph_node_count(graph) == 6 && gph_graph_edge_count(graph) == 5);
    CHECK(strcmp(gph_graph_name(graph), "bucket 8") == 0);
    CHECK_OK(gph_graph_check(graph, &error), error);
    gph_graph_destroy(graph);
    CHECK(gph_recipe_describe(recipe, 1, &graph, &error) == GPH_E_INVALID);
    CHECK(gph_recipe_find(recipe, "bucket 8") == 0);
    CHECK(gph_recipe_find(recipe, "bucket 9") == UINT32_MAX);
    gph_kernel_id kernel;
    uint64_t nodes = 0;
    CHECK(gph_recipe_kernel_get(recipe, 0, &kernel, &nodes) && nodes == 2);
    CHECK(strcmp(kernel.name, "axpy") == 0);
    CHECK(!gph_recipe_kernel_get(recipe, 1, &kernel, NULL));
    gph_recipe_summary summary = GPH_SIZED(gph_recipe_summary);
    gph_recipe_summary_get(recipe, &summary);
    CHECK(summary.graph_count == 1 && summary.refused_count == 0 &&
          summary.node_count == 6 && summary.image_count == 1 &&
          summary.driver_version >= 12040 && summary.device[0] != '\0');
    gph_recipe_destroy(recipe);
}

static void work_counter(CUdeviceptr base) /* its output depends on how often it ran */
{
    CHECK(launch_axpy(stream, base + OUT, base, 2.0f) == GPH_OK);
}

static void a_graph_that_keeps_state_is_kept_without_a_check(void)
{
    gph_recipe *recipe = new_recipe(false);
    const gph_tensor input = floats(first_base), output = floats(first_base + OUT);
    gph_recipe_entry entry = GPH_RECIPE_ENTRY_INIT;
    entry.name = "counter";
    entry.graph = begin_then(work_counter, first_base);
    entry.inputs = &input;
    entry.outputs = &output;
    entry.input_count = entry.output_count = 1;
    entry.check = 1;
    clear(first_base);
    CU(MemsetD32Async, first_base + OUT, 0, COUNT, stream);
    CU(StreamSynchronize, stream);
    CHECK_OK(gph_recipe_add(recipe, runtime, &entry, NULL, &error), error);
    gph_recipe_graph info = GPH_SIZED(gph_recipe_graph);
    print_refusals(recipe, 0);
    CHECK(gph_recipe_graph_get(recipe, 0, &info) && !info.has_check &&
          info.refusal_count == 0);
    CU(GraphDestroy, entry.graph);
    gph_recipe_destroy(recipe);
}

static void work_beside(CUdeviceptr base)
{
    const bool is_first = base == first_base;
    const CUdeviceptr begin = is_first ? base + 256 : base;     /* of the second range */
    const CUdeviceptr end = is_first ? base + 256 : base + 512; /* of the first */
    CHECK(launch_axpy(stream, begin, end, 1.0f) == GPH_OK);
}

/* The end of `left` is the begin of `right`, but not where they have moved to. */
static void of_two_ranges_side_by_side_the_one_that_moved_alike_is_meant(void)
{
    const gph_recipe_range ranges[] = {
        {sizeof(gph_recipe_range), "left", first_base, second_base + 256, 256},
        {sizeof(gph_recipe_range), "right", first_base + 256, second_base, 256}};
    gph_recipe *recipe = NULL;
    gph_recipe_entry entry = GPH_RECIPE_ENTRY_INIT;
    gph_recipe_graph info = GPH_SIZED(gph_recipe_graph);
    CHECK_OK(gph_recipe_create(NULL, &recipe, &error), error);
    for (int i = 0; i < 2; i++)
        CHECK_OK(gph_recipe_range_add(recipe, &ranges[i], NULL, &error), error);
    entry.name = "beside";
    entry.graph = begin_then(work_beside, first_base);
    entry.shifted = begin_then(work_beside, second_base);
    CHECK_OK(gph_recipe_add(recipe, runtime, &entry, NULL, &error), error);
    print_refusals(recipe, 0);
    CHECK(gph_recipe_graph_get(recipe, 0, &info) && info.is_movable &&
          info.pointer_count == 2 && info.refusal_count == 0);
    CU(GraphDestroy, entry.graph);
    CU(GraphDestroy, entry.shifted);
    gph_recipe_destroy(recipe);
}

#include "recipe_driver_load.h"

int main(int argc, char **argv)
{
    if (!work_begin(NULL))
        return 77;
    if (argc == 6) {
        const int code = load_here(argv[2], strtoull(argv[3], NULL, 16), argv[4],
                                   strtof(argv[5], NULL));
        work_end();
        return code;
    }
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(file, sizeof(file), "%s/recipe.gphr", folder);
    CHECK_OK(gph_module_load(runtime, work_ptx, strlen(work_ptx), &module, &error),
             error);
    CHECK_OK(gph_module_function(module, "axpy", &axpy, &error), error);
    CHECK_OK(gph_module_function(module, "pair", &pair, &error), error);
    CHECK_OK(gph_module_function(module, "ncclDevKernel_AllReduce", &talker, &error),
             error);
    first_base = place(0);
    second_base = place(0);
    write_x(first_base);
    write_x(second_base);

    RUN(a_process_loads_what_another_recorded_at_the_same_addresses);
    RUN(one_captured_twice_loads_anywhere);
    RUN(one_captured_once_stays_where_it_was);
    RUN(memory_that_is_not_there_is_missed);
    RUN(another_image_is_refused_by_name);
    RUN(a_resolver_finds_kernels_of_others);
    RUN(a_check_finds_that_something_else_comes_out);
    RUN(graphs_of_one_topology_share_an_executable);
    RUN(what_cannot_be_kept_is_refused_with_node_and_reason);
    RUN(what_differs_between_captures_is_refused);
    RUN(of_two_ranges_side_by_side_the_one_that_moved_alike_is_meant);
    RUN(an_unknown_module_is_refused_unless_it_is_resolved);
    RUN(bad_arguments_are_refused_and_change_nothing);
    RUN(bad_ranges_places_and_paths_are_refused);
    RUN(modules_are_counted_and_wait_for_captures);
    RUN(a_recipe_describes_its_graphs);
    RUN(a_graph_that_keeps_state_is_kept_without_a_check);

    gph_module_unload(module);
    unlink(file);
    rmdir(folder);
    work_end();
    return test_done();
}
