// SPDX-License-Identifier: Apache-2.0
/* A graph as data: what it keeps, what it refuses, its order. */
#include "fault.h"
#include "test.h"
#include <gph/graph.h>

static gph_graph *new_graph(void)
{
    gph_graph *graph = NULL;
    CHECK(gph_graph_create(NULL, &graph, NULL) == GPH_OK);
    return graph;
}

static gph_status add_kind(gph_graph *graph, gph_node_kind kind)
{
    const gph_node node = {.kind = kind};
    return gph_graph_node_add(graph, &node, NULL, NULL);
}

static gph_status add_edge(gph_graph *graph, uint32_t from, uint32_t to, gph_error *error)
{
    const gph_edge edge = {.from = from, .to = to};
    return gph_graph_edge_add(graph, &edge, error);
}

static gph_status add_kernel(gph_graph *graph, gph_error *error)
{
    const gph_kernel_arg args[] = {{0, 8}, {8, 4}};
    const unsigned char buffer[12] = {1, 2, 3};
    const gph_node node = {.kind = GPH_NODE_KERNEL,
                           .name = "layer 3",
                           .u.kernel = {.function = "saxpy",
                                        .grid = {4, 1, 1},
                                        .block = {128, 1, 1},
                                        .arg_count = 2,
                                        .args = args,
                                        .buffer = buffer,
                                        .buffer_bytes = sizeof(buffer)}};
    return gph_graph_node_add(graph, &node, NULL, error);
}

static void a_node_is_copied_with_its_parts(void)
{
    gph_graph *graph = new_graph();
    gph_error error = {0};
    CHECK_OK(add_kernel(graph, &error), error);
    const gph_node *node = gph_graph_node(graph, 0);
    CHECK(node->kind == GPH_NODE_KERNEL && strcmp(node->name, "layer 3") == 0);
    CHECK(strcmp(node->u.kernel.function, "saxpy") == 0);
    CHECK(node->u.kernel.args[1].offset == 8 && node->u.kernel.buffer[2] == 3);
    CHECK(gph_graph_node(graph, 1) == NULL && gph_graph_edge(graph, 0) == NULL);
    gph_graph_destroy(graph);
    gph_graph_destroy(NULL);
}

static void names_can_be_set_and_taken_away(void)
{
    gph_graph *graph = new_graph();
    CHECK(gph_graph_name(graph) == NULL);
    CHECK(gph_graph_name_set(graph, "decode", NULL) == GPH_OK);
    CHECK(strcmp(gph_graph_name(graph), "decode") == 0);
    CHECK(gph_graph_name_set(graph, NULL, NULL) == GPH_OK);
    CHECK(gph_graph_name(graph) == NULL);
    gph_graph_destroy(graph);
}

static void a_bad_node_is_refused_with_its_value(void)
{
    gph_graph *graph = new_graph();
    gph_error error = {0};
    const gph_kernel_arg outside = {.offset = 8, .bytes = 8};
    const unsigned char buffer[12] = {0};
    const gph_node cases[] = {
        {.kind = (gph_node_kind)14},
        {.kind = (gph_node_kind)-1},
        {.kind = GPH_NODE_MEMSET, .u.memset = {.element_bytes = 3}},
        {.kind = GPH_NODE_KERNEL, .u.kernel = {.arg_count = 1}},
        {.kind = GPH_NODE_KERNEL, .u.kernel = {.buffer_bytes = 1}},
        {.kind = GPH_NODE_KERNEL,
         .u.kernel = {.arg_count = 1,
                      .args = &outside,
                      .buffer = buffer,
                      .buffer_bytes = sizeof(buffer)}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CHECK(gph_graph_node_add(graph, &cases[i], NULL, &error) == GPH_E_INVALID);
    CHECK(strcmp(error.message, "kernel argument 0: 8 bytes at 8 lie outside 12") == 0);
    CHECK(gph_graph_node_count(graph) == 0);
    gph_graph_destroy(graph);
}

static void a_bad_edge_is_refused_with_its_value(void)
{
    gph_graph *graph = new_graph();
    CHECK(add_kind(graph, GPH_NODE_EMPTY) == GPH_OK);
    CHECK(add_kind(graph, GPH_NODE_EMPTY) == GPH_OK);
    CHECK(add_kernel(graph, NULL) == GPH_OK);
    CHECK(add_kernel(graph, NULL) == GPH_OK);
    gph_error error = {0};
    const gph_edge bad[] = {
        {.from = 0, .to = 4},
        {.from = 4, .to = 0},
        {.from = 1, .to = 1},
        {.from = 0, .to = 1, .from_port = 1, .type = 1}, /* no kernels */
        {.from = 2, .to = 1, .from_port = 1, .type = 1},
        {.from = 2, .to = 3, .from_port = 1}, /* port 1 is programmatic */
        {.from = 2, .to = 3, .type = 1},
        {.from = 2, .to = 3, .from_port = 3},
        {.from = 2, .to = 3, .to_port = 1},
        {.from = 2, .to = 3, .reserved = 1},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        CHECK(gph_graph_edge_add(graph, &bad[i], &error) == GPH_E_INVALID);
    CHECK(gph_graph_edge_count(graph) == 0);
    const gph_edge good[] = {{.from = 2, .to = 3, .from_port = 1, .type = 1},
                             {.from = 2, .to = 1, .from_port = 2},
                             {.from = 3, .to = 1}};
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        CHECK_OK(gph_graph_edge_add(graph, &good[i], &error), error);
    gph_graph_destroy(graph);
}

static void every_edge_points_forward_in_the_order(void)
{
    gph_graph *graph = new_graph();
    enum { COUNT = 300 };
    for (int i = 0; i < COUNT; i++)
        CHECK(add_kind(graph, GPH_NODE_EMPTY) == GPH_OK);
    for (uint32_t i = 0; i < COUNT; i++) /* 7 is prime to 300: a shuffled chain */
        if (i % 5 != 4)
            CHECK(add_edge(graph, i * 7 % COUNT, (i + 1) * 7 % COUNT, NULL) == GPH_OK);
    uint32_t order[COUNT], place[COUNT];
    CHECK(gph_graph_order(graph, order, NULL) == GPH_OK);
    for (uint32_t i = 0; i < COUNT; i++)
        place[order[i]] = i;
    for (size_t i = 0; i < gph_graph_edge_count(graph); i++) {
        const gph_edge *edge = gph_graph_edge(graph, i);
        CHECK(place[edge->from] < place[edge->to]);
    }
    CHECK(gph_graph_check(graph, NULL) == GPH_OK);
    gph_graph_destroy(graph);
}

static void a_cycle_is_found_and_a_node_on_it_is_named(void)
{
    gph_graph *graph = new_graph();
    for (int i = 0; i < 6; i++)
        CHECK(add_kind(graph, GPH_NODE_EMPTY) == GPH_OK);
    /* 0 before the cycle 3 > 4 > 3; 1 and 2 after it */
    CHECK(add_edge(graph, 0, 3, NULL) == GPH_OK && add_edge(graph, 3, 4, NULL) == GPH_OK);
    CHECK(add_edge(graph, 4, 3, NULL) == GPH_OK && add_edge(graph, 4, 1, NULL) == GPH_OK);
    CHECK(add_edge(graph, 1, 2, NULL) == GPH_OK);
    uint32_t order[6] = {9, 9, 9, 9, 9, 9};
    gph_error error = {0};
    CHECK(gph_graph_order(graph, order, &error) == GPH_E_INVALID);
    CHECK(error.has_node && (error.node == 3 || error.node == 4));
    CHECK(order[0] == 9);
    CHECK(gph_graph_check(graph, &error) == GPH_E_INVALID);
    gph_graph_destroy(graph);
}

static void an_edge_twice_is_found(void)
{
    gph_graph *graph = new_graph();
    for (int i = 0; i < 3; i++)
        CHECK(add_kind(graph, GPH_NODE_EMPTY) == GPH_OK);
    CHECK(add_edge(graph, 0, 2, NULL) == GPH_OK && add_edge(graph, 1, 2, NULL) == GPH_OK);
    CHECK(gph_graph_check(graph, NULL) == GPH_OK);
    CHECK(add_edge(graph, 0, 2, NULL) == GPH_OK);
    gph_error error = {0};
    CHECK(gph_graph_check(graph, &error) == GPH_E_INVALID);
    CHECK(error.node == 2 && strstr(error.message, "two edges") != NULL);
    gph_graph_destroy(graph);
}

static void children_nest_only_so_deep_and_have_one_parent(void)
{
    gph_error error = {0};
    gph_graph *graph = new_graph();
    CHECK(add_kind(graph, GPH_NODE_EMPTY) == GPH_OK);
    for (int depth = 2; depth <= GPH_GRAPH_DEPTH_MAX; depth++) {
        gph_graph *parent = new_graph();
        const gph_node node = {.kind = GPH_NODE_CHILD, .u.child = graph};
        CHECK_OK(gph_graph_node_add(parent, &node, NULL, &error), error);
        CHECK(gph_graph_node_add(parent, &node, NULL, &error) == GPH_E_INVALID);
        CHECK(add_kind(graph, GPH_NODE_EMPTY) == GPH_E_INVALID);
        CHECK(add_kind(parent, GPH_NODE_EMPTY) == GPH_OK);
        graph = parent;
    }
    CHECK(gph_graph_node_count(graph) == 2);
    CHECK(gph_graph_node_count_deep(graph) == GPH_GRAPH_DEPTH_MAX);
    CHECK(gph_graph_check(graph, &error) == GPH_OK);

    gph_graph *parent = new_graph();
    const gph_node node = {.kind = GPH_NODE_CHILD, .u.child = graph};
    CHECK(gph_graph_node_add(parent, &node, NULL, &error) == GPH_E_INVALID);
    const gph_node self = {.kind = GPH_NODE_CHILD, .u.child = parent};
    CHECK(gph_graph_node_add(parent, &self, NULL, &error) == GPH_E_INVALID);
    gph_graph_destroy(parent);
    gph_graph_destroy(graph);
}

static gph_status build_all(const gph_allocator *allocator)
{
    gph_graph *graph = NULL, *child = NULL;
    gph_status status = gph_graph_create(allocator, &graph, NULL);
    if (status == GPH_OK)
        status = gph_graph_create(allocator, &child, NULL);
    if (status == GPH_OK)
        status = add_kernel(child, NULL);
    if (status == GPH_OK)
        status = gph_graph_name_set(graph, "all", NULL);
    for (int i = 0; status == GPH_OK && i < 9; i++)
        status = add_kernel(graph, NULL);
    if (status == GPH_OK) {
        const gph_node node = {.kind = GPH_NODE_CHILD, .u.child = child};
        status = gph_graph_node_add(graph, &node, NULL, NULL);
        if (status == GPH_OK)
            child = NULL;
    }
    for (uint32_t i = 0; status == GPH_OK && i < 9; i++)
        status = add_edge(graph, i, i + 1, NULL);
    if (status == GPH_OK)
        status = gph_graph_check(graph, NULL);
    gph_graph_destroy(child);
    gph_graph_destroy(graph);
    return status;
}

static void survives_every_failed_allocation(void)
{
    for (long nth = 0;; nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {fault_realloc, &heap};
        const gph_status status = build_all(&allocator);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (status == GPH_OK)
            return;
    }
}

static void null_arguments_are_refused(void)
{
    gph_graph *graph = new_graph();
    const gph_node node = {.kind = GPH_NODE_EMPTY};
    CHECK(gph_graph_create(NULL, NULL, NULL) == GPH_E_INVALID);
    CHECK(gph_graph_node_add(NULL, &node, NULL, NULL) == GPH_E_INVALID);
    CHECK(gph_graph_node_add(graph, NULL, NULL, NULL) == GPH_E_INVALID);
    CHECK(gph_graph_edge_add(graph, NULL, NULL) == GPH_E_INVALID);
    CHECK(gph_graph_name_set(NULL, "x", NULL) == GPH_E_INVALID);
    CHECK(gph_graph_order(graph, NULL, NULL) == GPH_E_INVALID);
    CHECK(gph_graph_check(NULL, NULL) == GPH_E_INVALID);
    CHECK(gph_graph_name(NULL) == NULL && gph_graph_node(NULL, 0) == NULL);
    CHECK(gph_graph_node_count(NULL) == 0 && gph_graph_node_count_deep(NULL) == 0);
    CHECK(gph_graph_edge_count(NULL) == 0 && gph_graph_edge(NULL, 0) == NULL);
    CHECK(strcmp(gph_node_kind_name(GPH_NODE_CHILD), "child") == 0);
    CHECK(strcmp(gph_node_kind_name((gph_node_kind)99), "unknown") == 0);
    gph_graph_destroy(graph);
}

int main(void)
{
    RUN(a_node_is_copied_with_its_parts);
    RUN(names_can_be_set_and_taken_away);
    RUN(a_bad_node_is_refused_with_its_value);
    RUN(a_bad_edge_is_refused_with_its_value);
    RUN(every_edge_points_forward_in_the_order);
    RUN(a_cycle_is_found_and_a_node_on_it_is_named);
    RUN(an_edge_twice_is_found);
    RUN(children_nest_only_so_deep_and_have_one_parent);
    RUN(survives_every_failed_allocation);
    RUN(null_arguments_are_refused);
    return test_done();
}
