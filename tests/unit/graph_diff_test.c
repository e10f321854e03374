// SPDX-License-Identifier: Apache-2.0
/* Graphs compared: classes, signatures, differences; random edits are found again. */
#include "fault.h"
#include "test.h"
#include <gph/graph.h>

#include <stdbool.h>

static gph_error error;

static uint32_t add(gph_graph *graph, const gph_node *node)
{
    uint32_t index = 0;
    CHECK_OK(gph_graph_node_add(graph, node, &index, &error), error);
    return index;
}

static void join(gph_graph *graph, uint32_t from, uint32_t to)
{
    CHECK_OK(gph_graph_edge_add(graph, &(gph_edge){.from = from, .to = to}, &error),
             error);
}

static gph_graph *empty_graph(const gph_allocator *heap)
{
    gph_graph *graph = NULL;
    CHECK_OK(gph_graph_create(heap, &graph, &error), error);
    return graph;
}

static const gph_kernel_arg two_args[] = {{0, 8}, {8, 4}};

/* A node that is easy to change in one place. */
static gph_node kernel(const char *function, unsigned char value)
{
    static unsigned char buffers[256][12];
    buffers[value][8] = value;
    return (gph_node){.kind = GPH_NODE_KERNEL,
                      .u.kernel = {.function = function,
                                   .handle = 0x1000 + (unsigned char)function[0],
                                   .grid = {4, 1, 1},
                                   .block = {128, 1, 1},
                                   .arg_count = 2,
                                   .args = two_args,
                                   .buffer = buffers[value],
                                   .buffer_bytes = 12}};
}

static gph_node fill(uint64_t address, uint64_t rows)
{
    return (gph_node){.kind = GPH_NODE_MEMSET,
                      .u.memset = {.address = address,
                                   .width = 16,
                                   .height = rows,
                                   .pitch_bytes = 64,
                                   .element_bytes = 4}};
}

static gph_node copy(uint64_t from, uint64_t rows)
{
    return (gph_node){
        .kind = GPH_NODE_MEMCPY,
        .u.memcpy = {.dst = {.memory = GPH_MEMORY_DEVICE, .address = 0x7000},
                     .src = {.memory = GPH_MEMORY_DEVICE, .address = from},
                     .width_bytes = 64,
                     .height = rows,
                     .depth = 1}};
}

/* memset -> a -> b -> copy, and a -> copy. */
static gph_graph *plain(const gph_allocator *heap)
{
    gph_graph *graph = empty_graph(heap);
    const gph_node nodes[] = {fill(0x100, 1), kernel("a", 1), kernel("b", 2),
                              copy(0x200, 1)};
    for (size_t i = 0; i < 4; i++)
        add(graph, &nodes[i]);
    join(graph, 0, 1);
    join(graph, 1, 2);
    join(graph, 2, 3);
    join(graph, 1, 3);
    return graph;
}

static bool same_class(const gph_graph *a, const gph_graph *b, uint32_t flags)
{
    gph_signature x, y;
    int matches = -1;
    CHECK_OK(gph_graph_signature(a, flags, &x, &error), error);
    CHECK_OK(gph_graph_signature(b, flags, &y, &error), error);
    CHECK_OK(gph_graph_matches(a, b, flags, &matches, &error), error);
    const bool equal = x.bits[0] == y.bits[0] && x.bits[1] == y.bits[1];
    CHECK(equal == (matches == 1)); /* the hash says what the comparison says */
    return equal;
}

/* Two graphs of one node each. */
static bool nodes_are_one_class(gph_node a, gph_node b, uint32_t flags)
{
    gph_graph *x = empty_graph(NULL), *y = empty_graph(NULL);
    add(x, &a);
    add(y, &b);
    const bool same = same_class(x, y, flags);
    CHECK(same_class(y, x, flags) == same);
    gph_graph_destroy(y);
    gph_graph_destroy(x);
    return same;
}

static void what_an_update_changes_is_no_part_of_the_class(void)
{
    gph_node other = kernel("a", 9);
    other.u.kernel.grid[0] = 99;
    CHECK(nodes_are_one_class(kernel("a", 1), other, GPH_SIGNATURE_KERNELS));
    CHECK(nodes_are_one_class(kernel("a", 1), kernel("b", 1), 0));
    CHECK(nodes_are_one_class(fill(1, 1), fill(2, 1), GPH_SIGNATURE_KERNELS));
    CHECK(nodes_are_one_class(fill(1, 4), fill(2, 4), GPH_SIGNATURE_KERNELS));
    CHECK(nodes_are_one_class(copy(1, 1), copy(2, 1), GPH_SIGNATURE_KERNELS));
    gph_node shifted = copy(0x200 - 8, 4);
    shifted.u.memcpy.src.x_bytes = 8; /* the same first byte (R69d) */
    CHECK(nodes_are_one_class(copy(0x200, 4), shifted, 0));
}

static void what_no_update_changes_tells_classes_apart(void)
{
    CHECK(!nodes_are_one_class(kernel("a", 1), kernel("b", 1), GPH_SIGNATURE_KERNELS));
    gph_node other = kernel("a", 1);
    other.u.kernel.block[0] = 64;
    CHECK(!nodes_are_one_class(kernel("a", 1), other, GPH_SIGNATURE_KERNELS));
    CHECK(nodes_are_one_class(kernel("a", 1), other, 0));
    other = kernel("a", 1);
    other.u.kernel.cooperative = 1;
    CHECK(!nodes_are_one_class(kernel("a", 1), other, 0));
    other = kernel("a", 1);
    other.u.kernel.handle = 0; /* of a file: known by its name */
    gph_node named = kernel("b", 1);
    named.u.kernel.handle = 0;
    CHECK(!nodes_are_one_class(named, other, GPH_SIGNATURE_KERNELS));
    CHECK(nodes_are_one_class(other, other, GPH_SIGNATURE_KERNELS));
    CHECK(!nodes_are_one_class(fill(1, 1), fill(1, 2), 0));
    CHECK(!nodes_are_one_class(copy(1, 1), copy(1, 2), 0));
    CHECK(!nodes_are_one_class(copy(1, 2), copy(2, 2), 0));
    gph_node wide = fill(1, 4);
    wide.u.memset.width = 8;
    CHECK(!nodes_are_one_class(fill(1, 4), wide, 0));
    gph_node host = copy(1, 1);
    host.u.memcpy.src.memory = GPH_MEMORY_HOST;
    CHECK(!nodes_are_one_class(copy(1, 1), host, 0));
    const gph_mem_op wait = {.operation = 1}, write = {.operation = 2};
    CHECK(!nodes_are_one_class(
        (gph_node){.kind = GPH_NODE_BATCH_MEM_OP, .u.batch = {.count = 1, .ops = &wait}},
        (gph_node){.kind = GPH_NODE_BATCH_MEM_OP, .u.batch = {.count = 1, .ops = &write}},
        0));
    CHECK(!nodes_are_one_class(
        (gph_node){.kind = GPH_NODE_SEMAPHORE_WAIT, .u.semaphore = {.count = 1}},
        (gph_node){.kind = GPH_NODE_SEMAPHORE_WAIT, .u.semaphore = {.count = 2}}, 0));
}

/* Two graphs of `count` empty nodes and a host node, with these edges. */
static bool edges_are_one_class(const uint32_t (*a)[2], size_t a_count,
                                const uint32_t (*b)[2], size_t b_count, uint32_t count)
{
    gph_graph *x = empty_graph(NULL), *y = empty_graph(NULL);
    for (uint32_t i = 0; i < count; i++) {
        const gph_node node = {.kind = i == 1 ? GPH_NODE_HOST : GPH_NODE_EMPTY};
        add(x, &node);
        add(y, &node);
    }
    for (size_t i = 0; i < a_count; i++)
        join(x, a[i][0], a[i][1]);
    for (size_t i = 0; i < b_count; i++)
        join(y, b[i][0], b[i][1]);
    const bool same = same_class(x, y, 0);
    gph_graph_destroy(y);
    gph_graph_destroy(x);
    return same;
}

static void dependencies_count_in_their_order(void)
{
    const uint32_t ab[][2] = {{0, 2}, {1, 2}}, ba[][2] = {{1, 2}, {0, 2}},
                   a[][2] = {{0, 2}}, chain[][2] = {{0, 1}, {1, 2}},
                   other[][2] = {{1, 0}, {0, 2}};
    CHECK(edges_are_one_class(ab, 2, ab, 2, 3));
    CHECK(!edges_are_one_class(ab, 2, ba, 2, 3)); /* empty and host change places */
    CHECK(!edges_are_one_class(ab, 2, a, 1, 3));
    CHECK(!edges_are_one_class(chain, 2, other, 2, 3));
    CHECK(!edges_are_one_class(chain, 2, ab, 2, 3));
    CHECK(edges_are_one_class(NULL, 0, NULL, 0, 0));
}

static void wrong_questions_are_refused(void)
{
    gph_graph *graph = plain(NULL), *ring = empty_graph(NULL);
    gph_signature signature = {{7, 7}};
    gph_diff *diff = NULL;
    int matches = 7;
    CHECK(gph_graph_signature(NULL, 0, &signature, &error) == GPH_E_INVALID);
    CHECK(gph_graph_signature(graph, 0, NULL, &error) == GPH_E_INVALID);
    CHECK(gph_graph_signature(graph, 2, &signature, &error) == GPH_E_INVALID);
    CHECK(strstr(error.message, "0x2") != NULL);
    CHECK(gph_graph_matches(graph, NULL, 0, &matches, &error) == GPH_E_INVALID);
    CHECK(gph_graph_matches(graph, graph, 4, &matches, &error) == GPH_E_INVALID);
    CHECK(gph_graph_diff(NULL, graph, &diff, &error) == GPH_E_INVALID);
    CHECK(gph_graph_diff(graph, graph, NULL, &error) == GPH_E_INVALID);
    for (int i = 0; i < 3; i++)
        add(ring, &(gph_node){.kind = GPH_NODE_EMPTY});
    join(ring, 0, 1);
    join(ring, 1, 0);
    CHECK(gph_graph_signature(ring, 0, &signature, &error) == GPH_E_INVALID);
    CHECK(gph_graph_matches(ring, ring, 0, &matches, &error) == GPH_E_INVALID);
    CHECK(signature.bits[0] == 7 && matches == 7 && diff == NULL);
    CHECK_OK(gph_graph_diff(ring, ring, &diff, &error), error);
    CHECK(gph_diff_count(diff) == 0);
    gph_diff_destroy(diff);
    CHECK(gph_diff_count(NULL) == 0 && gph_diff_at(NULL, 0) == NULL);
    gph_diff_destroy(NULL);
    gph_graph_destroy(ring);
    gph_graph_destroy(graph);
}

/* The lines of a difference. */
static const char *lines_of(const gph_graph *a, const gph_graph *b)
{
    static char all[4096];
    gph_diff *diff = NULL;
    all[0] = '\0';
    CHECK_OK(gph_graph_diff(a, b, &diff, &error), error);
    gph_buffer text = {all, sizeof(all), 0};
    for (size_t i = 0; i < gph_diff_count(diff); i++) {
        CHECK_OK(gph_change_write(gph_diff_at(diff, i), gph_write_buffer, &text, &error),
                 error);
        CHECK(gph_write_buffer(&text, "\n", 1) == GPH_OK);
    }
    gph_diff_destroy(diff);
    return all;
}

static void check_lines(const gph_graph *a, const gph_graph *b, const char *wanted)
{
    const char *lines = lines_of(a, b);
    if (!CHECK(strcmp(lines, wanted) == 0))
        fprintf(stderr, "%s", lines);
}

static void equal_graphs_do_not_differ(void)
{
    gph_graph *a = plain(NULL), *b = plain(NULL), *none = empty_graph(NULL);
    check_lines(a, b, "");
    check_lines(none, none, "");
    gph_graph_destroy(none);
    gph_graph_destroy(b);
    gph_graph_destroy(a);
}

/* Every field of every kind, one after the other. */
static void check_field(gph_node a, gph_node b, const char *wanted)
{
    gph_graph *x = empty_graph(NULL), *y = empty_graph(NULL);
    add(x, &a);
    add(y, &b);
    check_lines(x, y, wanted);
    gph_graph_destroy(y);
    gph_graph_destroy(x);
}

#define CHANGE(make, member, to, wanted)                                                 \
    do {                                                                                 \
        gph_node from_ = make, to_ = make;                                               \
        to_.u.member = to;                                                               \
        check_field(from_, to_, wanted "\n");                                            \
    } while (0)

static void every_field_is_told_with_both_values(void)
{
    gph_node filed = kernel("a", 1);
    filed.u.kernel.handle = 0; /* one handle has one name and one layout */
    CHANGE(filed, kernel.function, "z", "~ node 0 (kernel a) function: a -> z");
    CHANGE(kernel("a", 1), kernel.handle, 7, "~ node 0 (kernel a) handle: 0x1061 -> 0x7");
    CHANGE(kernel("a", 1), kernel.grid[1], 3, "~ node 0 (kernel a) grid: 4 1 1 -> 4 3 1");
    CHANGE(kernel("a", 1), kernel.block[0], 64,
           "~ node 0 (kernel a) block: 128 1 1 -> 64 1 1");
    CHANGE(kernel("a", 1), kernel.shared_bytes, 9,
           "~ node 0 (kernel a) shared_bytes: 0 -> 9");
    CHANGE(kernel("a", 1), kernel.cooperative, 1,
           "~ node 0 (kernel a) cooperative: 0 -> 1");
    CHANGE(kernel("a", 1), kernel.priority, -3, "~ node 0 (kernel a) priority: 0 -> -3");
    CHANGE(kernel("a", 1), kernel.cluster[0], 2,
           "~ node 0 (kernel a) cluster: 0 0 0 -> 2 0 0");
    CHANGE(kernel("a", 1), kernel.buffer, kernel("a", 5).u.kernel.buffer,
           "~ node 0 (kernel a) args[1]: 0x1 -> 0x5");
    CHANGE(filed, kernel.arg_count, 1,
           "~ node 0 (kernel a) args: 2 in 12 bytes -> 1 in 12 bytes");
    CHANGE(fill(1, 1), memset.address, 2, "~ node 0 (memset) address: 0x1 -> 0x2");
    CHANGE(fill(1, 1), memset.value, 2, "~ node 0 (memset) value: 0 -> 2");
    CHANGE(fill(1, 1), memset.width, 2, "~ node 0 (memset) width: 16 -> 2");
    CHANGE(copy(1, 1), memcpy.src.address, 2,
           "~ node 0 (memcpy) src.address: 0x1 -> 0x2");
    CHANGE(copy(1, 1), memcpy.dst.memory, GPH_MEMORY_HOST,
           "~ node 0 (memcpy) dst.memory: device -> host");
    CHANGE(copy(1, 1), memcpy.width_bytes, 2, "~ node 0 (memcpy) width_bytes: 64 -> 2");
    CHANGE((gph_node){.kind = GPH_NODE_HOST}, host.user, 2,
           "~ node 0 (host) user: 0x0 -> 0x2");
    CHANGE((gph_node){.kind = GPH_NODE_EVENT_WAIT}, event.event, 2,
           "~ node 0 (event_wait) event: 0x0 -> 0x2");
    CHANGE((gph_node){.kind = GPH_NODE_MEM_ALLOC}, memory.bytes, 2,
           "~ node 0 (mem_alloc) bytes: 0 -> 2");
    CHANGE((gph_node){.kind = GPH_NODE_SEMAPHORE_WAIT}, semaphore.count, 2,
           "~ node 0 (semaphore_wait) count: 0 -> 2");
    const gph_mem_op ops[2] = {{2, 0, 0x10, 1}, {2, 0, 0x10, 8}};
    gph_node batch = {.kind = GPH_NODE_BATCH_MEM_OP, .u.batch = {0, 1, ops}};
    CHANGE(batch, batch.ops, ops + 1, "~ node 0 (batch_mem_op) ops[0].value: 1 -> 8");
    CHANGE(batch, batch.count, 2,
           "~ node 0 (batch_mem_op) ops: 1 operations -> 2 operations");
}

static void what_is_unknown_is_no_difference(void)
{
    gph_node a = kernel("a", 1), b = a;
    b.u.kernel.handle = 0;
    b.name = "only here";
    check_field(a, b, "");
    check_field(b, a, "");
}

static void nodes_that_come_and_go_are_told(void)
{
    gph_graph *a = plain(NULL), *b = empty_graph(NULL);
    const gph_node nodes[] = {fill(0x100, 1), kernel("b", 2), kernel("c", 3),
                              copy(0x200, 1)};
    for (size_t i = 0; i < 4; i++)
        add(b, &nodes[i]);
    join(b, 0, 1);
    join(b, 1, 2);
    join(b, 2, 3);
    join(b, 0, 3); /* another in-degree than before: no pairing as of an update */
    join(b, 1, 3);
    check_lines(a, b,
                "- node 1 (kernel a)\n"
                "+ node 2 (kernel c)\n"
                "- edge 0 -> 1 (ordinary)\n"
                "- edge 1 -> 2 (ordinary)\n"
                "- edge 1 -> 3 (ordinary)\n"
                "+ edge 0 -> 1 (ordinary)\n"
                "+ edge 1 -> 2 (ordinary)\n"
                "+ edge 2 -> 3 (ordinary)\n"
                "+ edge 0 -> 3 (ordinary)\n");
    gph_diff *diff = NULL;
    CHECK_OK(gph_graph_diff(a, b, &diff, &error), error);
    CHECK(gph_diff_is_topology(diff));
    gph_diff_destroy(diff);
    gph_graph_destroy(b);
    gph_graph_destroy(a);
}

static void child_graphs_are_entered(void)
{
    gph_graph *a = empty_graph(NULL), *b = empty_graph(NULL), *none = empty_graph(NULL);
    gph_graph *inner[2] = {plain(NULL), plain(NULL)};
    gph_node changed = kernel("d", 4);
    add(inner[1], &changed);
    add(a, &(gph_node){.kind = GPH_NODE_CHILD, .u.child = inner[0]});
    add(b, &(gph_node){.kind = GPH_NODE_CHILD, .u.child = inner[1]});
    add(none, &(gph_node){.kind = GPH_NODE_CHILD});
    check_lines(a, b, "+ node 0/4 (kernel d)\n");
    check_lines(b, a, "- node 0/4 (kernel d)\n");
    CHECK(!same_class(a, b, 0));
    CHECK(same_class(a, a, 0));
    CHECK(strstr(lines_of(a, none), "- node 0/2 (kernel b)") != NULL);
    CHECK(!same_class(a, none, 0));
    gph_graph_destroy(none);
    gph_graph_destroy(b);
    gph_graph_destroy(a);
}

/* ---- random ---- */

static uint64_t state = 1;

static uint32_t random_below(uint32_t limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % limit;
}

enum { NODES = 40 };

/* A graph with edges forward; `edited` has another argument. */
static gph_graph *random_graph(uint64_t seed, uint32_t edited)
{
    static const char *const names[] = {"a", "b", "c"};
    gph_graph *graph = empty_graph(NULL);
    state = seed;
    for (uint32_t i = 0; i < NODES; i++) {
        gph_node node = kernel(names[random_below(3)], (unsigned char)i);
        if (random_below(4) == 0)
            node = fill(i, 1);
        if (i == edited && node.kind == GPH_NODE_KERNEL)
            node.u.kernel.grid[0] = 1000;
        else if (i == edited)
            node.u.memset.address = 1000;
        add(graph, &node);
        bool used[NODES] = {false};
        for (uint32_t k = random_below(4); i > 0 && k > 0; k--) {
            const uint32_t from = random_below(i);
            if (!used[from])
                join(graph, from, i);
            used[from] = true;
        }
    }
    return graph;
}

static void one_edit_is_one_difference(void)
{
    for (uint64_t seed = 1; seed < 300; seed++) {
        const uint32_t edited = (uint32_t)(seed % NODES);
        gph_graph *a = random_graph(seed, NODES), *b = random_graph(seed, edited);
        gph_diff *diff = NULL;
        CHECK(same_class(a, b, 0));
        CHECK_OK(gph_graph_diff(a, b, &diff, &error), error);
        CHECK(gph_diff_count(diff) == 1 && !gph_diff_is_topology(diff));
        const gph_change *change = gph_diff_at(diff, 0);
        CHECK(change != NULL && change->a == edited && change->b == edited &&
              change->kind == GPH_CHANGE_FIELD);
        gph_diff_destroy(diff);
        gph_graph_destroy(b);
        gph_graph_destroy(a);
    }
}

/* A node less, at random: it alone is missing, by the count. */
static gph_graph *without(const gph_graph *from, uint32_t removed)
{
    gph_graph *graph = empty_graph(NULL);
    for (uint32_t i = 0; i < gph_graph_node_count(from); i++)
        if (i != removed)
            add(graph, gph_graph_node(from, i));
    for (size_t i = 0; i < gph_graph_edge_count(from); i++) {
        const gph_edge *edge = gph_graph_edge(from, i);
        if (edge->from != removed && edge->to != removed)
            join(graph, edge->from - (edge->from > removed),
                 edge->to - (edge->to > removed));
    }
    return graph;
}

static void a_missing_node_leaves_all_others_paired(void)
{
    for (uint64_t seed = 1; seed < 200; seed++) {
        gph_graph *a = random_graph(seed, NODES);
        gph_graph *b = without(a, (uint32_t)(seed % NODES));
        gph_diff *diff = NULL;
        int removed = 0, added = 0;
        CHECK(!same_class(a, b, 0));
        CHECK_OK(gph_graph_diff(a, b, &diff, &error), error);
        for (size_t i = 0; i < gph_diff_count(diff); i++) {
            removed += gph_diff_at(diff, i)->kind == GPH_CHANGE_NODE_REMOVED;
            added += gph_diff_at(diff, i)->kind == GPH_CHANGE_NODE_ADDED;
        }
        /* The order may shift nodes that nothing orders: a few are reported again. */
        CHECK(removed == added + 1 && removed < NODES / 2);
        gph_diff_destroy(diff);
        gph_graph_destroy(b);
        gph_graph_destroy(a);
    }
}

/* Rows with nothing in common, long enough that the exact search is left. */
static void long_rows_end_in_time(void)
{
    gph_graph *a = empty_graph(NULL), *b = empty_graph(NULL);
    for (int i = 0; i < 20000; i++) {
        const gph_node one = kernel(i % 2 ? "a" : "b", 1), two = kernel("c", 2);
        add(a, &one);
        add(b, i % 3 ? &two : &one);
    }
    join(a, 0, 1);
    gph_diff *diff = NULL;
    CHECK_OK(gph_graph_diff(a, b, &diff, &error), error);
    CHECK(gph_diff_count(diff) > 20000 && gph_diff_is_topology(diff));
    gph_diff_destroy(diff);
    gph_graph_destroy(b);
    gph_graph_destroy(a);
}

static gph_status compare_all(const gph_graph *a, const gph_graph *b)
{
    gph_signature signature;
    gph_diff *diff = NULL;
    int matches = 0;
    gph_status status = gph_graph_signature(a, 0, &signature, &error);
    if (status == GPH_OK)
        status = gph_graph_matches(a, b, 0, &matches, &error);
    if (status == GPH_OK)
        status = gph_graph_diff(a, b, &diff, &error);
    CHECK((diff != NULL) == (status == GPH_OK));
    gph_diff_destroy(diff);
    return status;
}

static void survives_every_failed_allocation(void)
{
    fault_heap heap = {.fail_at = -1};
    const gph_allocator allocator = {fault_realloc, &heap};
    gph_graph *a = plain(&allocator), *b = plain(&allocator), *inner = plain(&allocator);
    const gph_node more = kernel("e", 3);
    const gph_mem_op op = {.operation = 2};
    add(b, &more);
    add(b, &(gph_node){.kind = GPH_NODE_BATCH_MEM_OP, .u.batch = {0, 1, &op}});
    add(a, &(gph_node){.kind = GPH_NODE_CHILD, .u.child = inner});
    const long before = atomic_load(&heap.live_bytes);
    for (long nth = 0;; nth++) {
        atomic_store(&heap.fail_at, nth);
        const gph_status same = compare_all(a, a);
        const gph_status other = same == GPH_OK ? compare_all(a, b) : same;
        const bool done = atomic_load(&heap.fail_at) > 0;
        CHECK(other == GPH_OK || other == GPH_E_NO_MEMORY);
        CHECK(atomic_load(&heap.live_bytes) == before);
        if (done) {
            CHECK(other == GPH_OK && nth > 20);
            break;
        }
    }
    atomic_store(&heap.fail_at, -1);
    gph_graph_destroy(b);
    gph_graph_destroy(a);
    CHECK(atomic_load(&heap.live_bytes) == 0);
}

int main(void)
{
    RUN(what_an_update_changes_is_no_part_of_the_class);
    RUN(what_no_update_changes_tells_classes_apart);
    RUN(dependencies_count_in_their_order);
    RUN(wrong_questions_are_refused);
    RUN(equal_graphs_do_not_differ);
    RUN(every_field_is_told_with_both_values);
    RUN(what_is_unknown_is_no_difference);
    RUN(nodes_that_come_and_go_are_told);
    RUN(child_graphs_are_entered);
    RUN(one_edit_is_one_difference);
    RUN(a_missing_node_leaves_all_others_paired);
    RUN(long_rows_end_in_time);
    RUN(survives_every_failed_allocation);
    return test_done();
}
