// SPDX-License-Identifier: Apache-2.0
/* Structures as arguments with bytes that nobody sets: padding, and entries of an array
 * beyond its count. What lies there differs between two captures; it is kept where it can be
 * no address, and refused where it may be one.
 *
 *   struct list   out │ number, padding │ from[0] │ from[1] from[2] from[3]
 *                                ^ unset             ^ unset: the count is 1 */
#define _GNU_SOURCE
#include "recipe_work.h"

#include <gph/recipe_load.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct list {
    uint64_t out;
    uint32_t number, padding;
    uint64_t from[4];
};
struct __attribute__((packed)) packed_list {
    uint64_t out;
    uint32_t number;
    uint64_t from;
    uint8_t rest[28];
};

/* *out = *from[0] + number; of a packed list, whose address is in two halves, likewise */
static const char list_ptx[] =
    PTX_HEAD ".visible .entry gather_packed(.param .align 8 .b8 list[48])\n"
             "{\n"
             ".reg .b32 %r<6>;\n.reg .b64 %d<4>;\n"
             "ld.param.u64 %d1, [list];\n"
             "ld.param.u32 %r1, [list+8];\n"
             "ld.param.u32 %r3, [list+12];\n"
             "ld.param.u32 %r4, [list+16];\n"
             "mov.b64 %d2, {%r3, %r4};\n"
             "ld.global.u32 %r2, [%d2];\n"
             "add.u32 %r2, %r2, %r1;\n"
             "st.global.u32 [%d1], %r2;\n"
             "ret;\n"
             "}\n"
             ".visible .entry gather(.param .align 8 .b8 list[48])\n"
             "{\n"
             ".reg .b32 %r<4>;\n.reg .b64 %d<4>;\n"
             "ld.param.u64 %d1, [list];\n"
             "ld.param.u32 %r1, [list+8];\n"
             "ld.param.u64 %d2, [list+16];\n"
             "ld.global.u32 %r2, [%d2];\n"
             "add.u32 %r2, %r2, %r1;\n"
             "st.global.u32 [%d1], %r2;\n"
             "ret;\n"
             "}\n";

static char file[] = "/tmp/recipe-unset-XXXXXX";
static CUfunction gather, gather_packed;
static unsigned int shared_bytes;        /* of the next launch */
static CUdeviceptr first, second, third; /* places of one range */
static CUdeviceptr near, far;            /* and of another one, which moves further */
static CUdeviceptr outside;              /* memory in none */

/* One that works on a place, and has 0 where nobody sets anything. */
static struct list list_at(CUdeviceptr base)
{
    return (struct list){.out = base + OUT, .number = 30, .from = {base}};
}

static CUgraph capture_list(const void *list)
{
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    char copy[sizeof(struct list)];
    void *params[] = {copy};
    memcpy(copy, list, sizeof(copy));
    CHECK_OK(gph_capture_begin(runtime, stream, NULL, &capture, &error), error);
    CU(LaunchKernel, gather, 1, 1, 1, 1, 1, 1, shared_bytes, stream, params, NULL);
    CHECK_OK(gph_capture_end(capture, &graph, &error), error);
    return graph;
}

static gph_recipe *recipe_of(CUgraph graph, CUgraph shifted, uint32_t unset)
{
    gph_recipe *recipe = NULL;
    const gph_recipe_range ranges[] = {
        {sizeof(gph_recipe_range), "one", first, second, PLACE},
        {sizeof(gph_recipe_range), "other", near, far, PLACE}};
    gph_recipe_entry entry = GPH_RECIPE_ENTRY_INIT;
    entry.name = "list";
    entry.graph = graph;
    entry.shifted = shifted;
    entry.unset = unset;
    CHECK_OK(gph_recipe_create(NULL, &recipe, &error), error);
    for (int i = 0; i < 2; i++)
        CHECK_OK(gph_recipe_range_add(recipe, &ranges[i], NULL, &error), error);
    CHECK_OK(gph_recipe_add(recipe, runtime, &entry, NULL, &error), error);
    return recipe;
}

/* Of lists as both captures had them. */
static gph_recipe *recipe_of_lists(const void *one, const void *two, uint32_t unset)
{
    CUgraph graph = capture_list(one), shifted = capture_list(two);
    gph_recipe *recipe = recipe_of(graph, shifted, unset);
    CU(GraphDestroy, graph);
    CU(GraphDestroy, shifted);
    return recipe;
}

static void expect_refusal(gph_recipe *recipe, int64_t offset, const char *words)
{
    gph_recipe_refusal refusal = {.size = sizeof(gph_recipe_refusal),
                                  .why = "it was not refused"};
    CHECK(gph_recipe_refusal_get(recipe, 0, 0, &refusal));
    if (!CHECK(refusal.offset == offset && strstr(refusal.why, words) != NULL))
        fprintf(stderr, "  offset %lld: %s\n", (long long)refusal.offset, refusal.why);
    gph_recipe_destroy(recipe);
}

static void expect_refused_lists(const void *one, const void *two, size_t offset,
                                 const char *words)
{
    expect_refusal(recipe_of_lists(one, two, 1), (int64_t)offset, words);
}

/* Two lists alike, with what a stack may have left where nobody sets anything. */
static void make_lists(struct list *one, struct list *two)
{
    *one = list_at(first);
    *two = list_at(second);
    one->padding = 0x60; /* 0x6000008000 is what an H200's graph had */
    two->padding = 0xffffff7f;
    one->from[1] = UINT64_C(0x42f5f43100000000);
    two->from[1] = 0;
    one->from[2] = UINT64_C(0x7ffc12345678); /* of a stack that is not the device's */
    two->from[2] = UINT64_C(0x7ffd00005670);
    one->from[3] = 1;
    two->from[3] = second + 64; /* of memory in the second capture alone */
}

static void what_nobody_sets_is_kept_as_the_first_capture_had_it(void)
{
    struct list one, two;
    make_lists(&one, &two);
    gph_recipe *recipe = recipe_of_lists(&one, &two, 1);
    gph_recipe_graph info = GPH_SIZED(gph_recipe_graph);
    CHECK(gph_recipe_graph_get(recipe, 0, &info) && info.is_movable);
    CHECK(info.refusal_count == 0 && info.pointer_count == 2);
    gph_graph *described = NULL;
    CHECK_OK(gph_recipe_describe(recipe, 0, &described, &error), error);
    const gph_kernel_params *kernel = &gph_graph_node(described, 0)->u.kernel;
    CHECK(kernel->buffer_bytes == sizeof(one) &&
          memcmp(kernel->buffer, &one, sizeof(one)) == 0);
    gph_graph_destroy(described);
    CHECK_OK(gph_recipe_save(recipe, file, &error), error);
    gph_recipe_destroy(recipe);
}

/* Of the recipe in the file, with `number` in the range's new place. */
static void expect_sum(CUdeviceptr place_now, uint32_t number, uint32_t expected_sum)
{
    gph_recipe *recipe = NULL;
    gph_loaded *loaded = NULL;
    const gph_recipe_place places[] = {{"one", place_now, PLACE}, {"other", near, PLACE}};
    gph_loaded_options options = GPH_LOADED_OPTIONS_INIT;
    options.places = places;
    options.place_count = 2;
    uint32_t sum = 0;
    CHECK_OK(gph_recipe_load(file, NULL, &recipe, &error), error);
    CHECK_OK(gph_loaded_create(runtime, recipe, &options, &loaded, &error), error);
    CU(MemcpyHtoDAsync, place_now, &number, sizeof(number), stream);
    CHECK_OK(gph_loaded_launch(loaded, 0, stream, &error), error);
    CU(MemcpyDtoHAsync, &sum, place_now + OUT, sizeof(sum), stream);
    CU(StreamSynchronize, stream);
    CHECK(sum == expected_sum);
    gph_loaded_destroy(loaded);
    gph_recipe_destroy(recipe);
}

static void such_a_graph_runs_elsewhere(void)
{
    what_nobody_sets_is_kept_as_the_first_capture_had_it();
    expect_sum(third, 12, 42);
}

/* The graph of a file once more, as an executable of the caller's. */
static void a_graph_that_was_kept_can_be_taken(void)
{
    gph_recipe *recipe = NULL;
    gph_loaded *loaded[2] = {NULL, NULL};
    gph_loaded_options options = GPH_LOADED_OPTIONS_INIT;
    gph_exec *exec = NULL;
    CUgraph graph = NULL, again = NULL;
    what_nobody_sets_is_kept_as_the_first_capture_had_it();
    CHECK_OK(gph_recipe_load(file, NULL, &recipe, &error), error);
    CHECK_OK(gph_loaded_create(runtime, recipe, &options, &loaded[0], &error), error);
    CHECK(gph_loaded_take(loaded[0], 0, &graph, &error) == GPH_E_STATE && !graph);
    options.flags = GPH_RECIPE_KEEP;
    CHECK_OK(gph_loaded_create(runtime, recipe, &options, &loaded[1], &error), error);
    CHECK(gph_loaded_take(loaded[1], 1, &graph, &error) == GPH_E_INVALID);
    CHECK_OK(gph_loaded_take(loaded[1], 0, &graph, &error), error);
    CHECK(gph_loaded_take(loaded[1], 0, &again, &error) == GPH_E_STATE && !again);
    CHECK_OK(gph_exec_create(runtime, graph, NULL, &exec, &error), error);
    CHECK_OK(gph_exec_launch(exec, stream, &error), error);
    CHECK_OK(gph_loaded_launch(loaded[1], 0, stream, &error), error);
    CU(StreamSynchronize, stream);
    gph_exec_destroy(exec);
    CU(GraphDestroy, graph);
    gph_loaded_destroy(loaded[0]);
    gph_loaded_destroy(loaded[1]);
    gph_recipe_destroy(recipe);
}

static void it_is_refused_unless_it_is_asked_for(void)
{
    struct list one, two;
    make_lists(&one, &two);
    expect_refusal(
        recipe_of_lists(&one, &two, 0), offsetof(struct list, number),
        "0x600000001e changed to 0xffffff7f0000001e, and is in no range (byte 8 "
        "of the arguments of gather)");
}

static void memory_that_is_in_no_range_is_refused(void)
{
    struct list one = list_at(first), two = list_at(second);
    one.from[1] = outside;
    expect_refused_lists(&one, &two, offsetof(struct list, from[1]),
                         "changed to 0x0, and is memory outside every range");
}

static void expect_pointers(const void *one, const void *two, uint32_t count)
{
    gph_recipe *recipe = recipe_of_lists(one, two, 1);
    gph_recipe_refusal refusal = GPH_SIZED(gph_recipe_refusal);
    gph_recipe_graph info = GPH_SIZED(gph_recipe_graph);
    CHECK(gph_recipe_graph_get(recipe, 0, &info));
    if (!CHECK(info.refusal_count == 0 && info.pointer_count == count))
        fprintf(stderr, "  %u pointers, %s\n", info.pointer_count,
                gph_recipe_refusal_get(recipe, 0, 0, &refusal) ? refusal.why : "kept");
    gph_recipe_destroy(recipe);
}

/* A number of 4 bytes, with the upper half of an old address beside it in one capture. */
static void a_number_beside_half_of_an_address_stays(void)
{
    struct list one, two;
    make_lists(&one, &two);
    one.from[1] = outside + 64;
    two.from[1] = (uint32_t)one.from[1];
    expect_pointers(&one, &two, 2);
    two.from[1] = (uint32_t)(one.from[1] + 1);
    expect_refused_lists(&one, &two, offsetof(struct list, from[1]),
                         "and is memory outside every range");
}

/* As an address that the second capture did not have, and one that somebody kept. */
static void what_lies_in_a_range_moves_with_it_however_it_changed(void)
{
    struct list one = list_at(first), two = list_at(second);
    one.from[1] = first + 64;
    expect_pointers(&one, &two, 3);
    two.from[1] = one.from[1];
    expect_pointers(&one, &two, 3);
    two.from[1] = near;
    expect_pointers(&one, &two, 3);
}

/* A part of it, with something else written over the rest. */
static void what_is_left_of_an_address_stays(void)
{
    struct list one = list_at(first), two = list_at(second);
    one.from[1] = first | UINT64_C(0x101) << 48;
    two.from[1] = second | UINT64_C(0x101) << 48;
    one.from[2] = UINT64_C(6) << 32 | (uint32_t)first;
    two.from[2] = UINT64_C(6) << 32 | (uint32_t)second;
    expect_pointers(&one, &two, 2);
}

/* Which the driver may well know no memory at. */
static void what_is_computed_from_addresses_is_refused(void)
{
    static const char *const words =
        ", as what is computed from addresses, and is in no range";
    const size_t offset = offsetof(struct list, from[1]);
    struct list one = list_at(first), two = list_at(second);
    one.from[1] = first - 64 * (uint64_t)PLACE;
    two.from[1] = second - 64 * (uint64_t)PLACE;
    expect_refused_lists(&one, &two, offset, words);
    one.from[1] = near - first;
    two.from[1] = far - second;
    expect_refused_lists(&one, &two, offset, words);
    one.from[1] = -first;
    two.from[1] = -second;
    expect_refused_lists(&one, &two, offset, words);
}

static void an_address_in_a_packed_structure_moves_too(void)
{
    struct packed_list one = {.out = first + OUT, .from = first};
    struct packed_list two = {.out = second + OUT, .from = second};
    CUfunction usual = gather;
    gather = gather_packed;
    one.number = two.number = 30;
    expect_pointers(&one, &two, 2);
    gph_recipe *recipe = recipe_of_lists(&one, &two, 1);
    CHECK_OK(gph_recipe_save(recipe, file, &error), error);
    gph_recipe_destroy(recipe);
    expect_sum(third, 15, 45);
    two.from = one.from;
    expect_pointers(&one, &two, 2);
    gather = usual;
}

/* As cuDNN does, which sets it for each launch. */
static void a_limit_of_shared_memory_may_be_lower_than_at_the_launch(void)
{
    const CUfunction_attribute limit = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    const struct list one = list_at(first), two = list_at(second);
    gph_recipe *recipe = NULL;
    gph_loaded *loaded = NULL;
    int bytes = 0;
    CU(FuncSetAttribute, gather, limit, 80000);
    shared_bytes = 70000;
    CUgraph graph = capture_list(&one), shifted = capture_list(&two);
    shared_bytes = 0;
    CU(FuncSetAttribute, gather, limit, 1024);
    recipe = recipe_of(graph, shifted, 0);
    CU(FuncGetAttribute, &bytes, limit, gather);
    CHECK(bytes == 1024);
    CHECK_OK(gph_loaded_create(runtime, recipe, NULL, &loaded, &error), error);
    CHECK_OK(gph_loaded_launch(loaded, 0, stream, &error), error);
    CU(StreamSynchronize, stream);
    CU(FuncGetAttribute, &bytes, limit, gather);
    CHECK(bytes == 70000);
    gph_loaded_destroy(loaded);
    gph_recipe_destroy(recipe);
    CU(GraphDestroy, graph);
    CU(GraphDestroy, shifted);
}

/* The address of a fill is one for certain. */
static void what_is_an_address_is_refused_all_the_same(void)
{
    CUgraph graphs[2];
    for (int i = 0; i < 2; i++) {
        gph_capture *capture = NULL;
        CHECK_OK(gph_capture_begin(runtime, stream, NULL, &capture, &error), error);
        CU(MemsetD32Async, outside + 256 * (CUdeviceptr)i, 0, 16, stream);
        CHECK_OK(gph_capture_end(capture, &graphs[i], &error), error);
    }
    expect_refusal(recipe_of(graphs[0], graphs[1], 1), 0, ", and is in no range");
    CU(GraphDestroy, graphs[0]);
    CU(GraphDestroy, graphs[1]);
}

int main(void)
{
    gph_module *module = NULL;
    if (!work_begin(NULL))
        return 77;
    const int made = mkstemp(file);
    if (made < 0)
        return 1;
    close(made);
    CHECK_OK(gph_module_load(runtime, list_ptx, strlen(list_ptx), &module, &error),
             error);
    CHECK_OK(gph_module_function(module, "gather", &gather, &error), error);
    CHECK_OK(gph_module_function(module, "gather_packed", &gather_packed, &error), error);
    first = place(0);
    near = place(0);
    second = place(0);
    third = place(0);
    place(0); /* so that the ranges move by different distances */
    far = place(0);
    CU(MemAlloc, &outside, BYTES);

    RUN(what_nobody_sets_is_kept_as_the_first_capture_had_it);
    RUN(such_a_graph_runs_elsewhere);
    RUN(a_graph_that_was_kept_can_be_taken);
    RUN(it_is_refused_unless_it_is_asked_for);
    RUN(memory_that_is_in_no_range_is_refused);
    RUN(a_number_beside_half_of_an_address_stays);
    RUN(what_lies_in_a_range_moves_with_it_however_it_changed);
    RUN(what_is_left_of_an_address_stays);
    RUN(what_is_computed_from_addresses_is_refused);
    RUN(an_address_in_a_packed_structure_moves_too);
    RUN(a_limit_of_shared_memory_may_be_lower_than_at_the_launch);
    RUN(what_is_an_address_is_refused_all_the_same);

    CU(MemFree, outside);
    gph_module_unload(module);
    unlink(file);
    work_end();
    return test_done();
}
