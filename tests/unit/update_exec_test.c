// SPDX-License-Identifier: Apache-2.0
/* Updates and edits of executables: what they hold afterwards is what a new executable of
 * the same graph would hold, whichever way was taken; refusals leave all as it was. */
#include "update_world.h"
#include <gph/sentinel.h>

#include <pthread.h>

static uint64_t state = 7;

static unsigned below(unsigned limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % limit;
}

enum { WORDS = 16 * 64 };

/* What a launch leaves in both places that the nodes write to. */
static void run(gph_exec *exec, uint32_t out[2 * WORDS])
{
    OK(world.cu->cuMemsetD32Async(world.at[AT_DEVICE], 0, WORDS, world.stream));
    OK(world.cu->cuMemsetD32Async(world.at[AT_SECOND], 0, WORDS, world.stream));
    FINE(gph_exec_launch(exec, world.stream, &world.error));
    for (int i = 0; i < 2; i++)
        OK(world.cu->cuMemcpyDtoHAsync(out + i * WORDS, world.at[AT_DEVICE + i],
                                       4 * WORDS, world.stream));
    OK(world.cu->cuStreamSynchronize(world.stream));
}

static gph_sentinel *sentinel; /* of all executables; NULL: they have none */

static gph_exec *make(CUgraph graph)
{
    gph_exec *exec = NULL;
    gph_exec_options options = GPH_EXEC_OPTIONS_INIT;
    options.upload_stream = world.stream;
    options.sentinel = sentinel;
    FINE(gph_exec_create(world.runtime, graph, &options, &exec, &world.error));
    return exec;
}

/* Whether it does what a new executable of that description would. */
static bool holds(gph_exec *exec, const spec *what)
{
    static uint32_t mine[2 * WORDS], wanted[2 * WORDS];
    CUgraphNode nodes[SPEC_NODES];
    CUgraph graph = spec_build(what, nodes);
    gph_exec *fresh = make(graph);
    run(exec, mine);
    run(fresh, wanted);
    gph_exec_destroy(fresh);
    OK(world.cu->cuGraphDestroy(graph));
    for (int i = 0; i < 2 * WORDS; i++)
        if (mine[i] != wanted[i])
            fprintf(stderr, "  word %d is %u, not %u\n", i, mine[i], wanted[i]);
    return memcmp(mine, wanted, sizeof(mine)) == 0;
}

/* A chain with forks, of kernels, fills and copies, one last node. */
static spec plain(int count)
{
    spec out = {.count = count};
    for (int i = 0; i < count; i++) {
        const spec_kind kind = i % 3 == 1   ? SPEC_FILL
                               : i % 5 == 4 ? SPEC_COPY
                                            : SPEC_KERNEL;
        spec_node *node = &out.nodes[i];
        *node = spec_default(kind, (uint64_t)i * 64);
        node->value = (unsigned)i + 1;
        if (i > 0)
            node->deps[node->dep_count++] = i - 1;
        if (i > 2 && i % 2)
            node->deps[node->dep_count++] = i - 3;
    }
    return out;
}

static void change(spec_node *node)
{
    node->value = 100 + below(1000);
    if (node->kind == SPEC_KERNEL && below(3) == 0)
        node->function = !node->function;
    if (node->kind == SPEC_FILL)
        node->width = 4 * (1 + below(16));
    if (node->kind == SPEC_COPY)
        node->width = 4 * (1 + below(8));
}

struct tracked {
    spec made_of;
    CUgraph graph;
    gph_exec *exec;
    CUgraphNode nodes[SPEC_NODES];
};

static struct tracked track(spec what)
{
    struct tracked out = {.made_of = what};
    out.graph = spec_build(&what, out.nodes);
    out.exec = make(out.graph);
    gph_track_options options = GPH_TRACK_OPTIONS_INIT;
    options.takes_graph = 1;
    FINE(gph_exec_track(out.exec, out.graph, &options, &world.error));
    return out;
}

static gph_update_stats stats_of(const gph_exec *exec)
{
    gph_update_stats stats = GPH_SIZED(gph_update_stats);
    gph_exec_update_stats_get(exec, &stats);
    return stats;
}

/* ---- ways ---- */

static void random_updates_are_right(void)
{
    CUgraphNode nodes[SPEC_NODES];
    struct tracked it = track(plain(10));
    spec now = it.made_of;
    for (int i = 0; i < 300; i++) {
        for (unsigned k = below(4); k > 0; k--)
            change(&now.nodes[below(10)]);
        CUgraph graph = spec_build(&now, nodes);
        gph_snapshot *snapshot = NULL;
        gph_update_options options = GPH_UPDATE_OPTIONS_INIT;
        gph_update_report report = GPH_UPDATE_REPORT_INIT;
        if (below(4) > 0) {
            FINE(gph_snapshot_take(world.runtime, graph, &snapshot, &world.error));
            options.snapshot = snapshot;
        }
        FINE(gph_exec_update(it.exec, graph, &options, &report, &world.error));
        CHECK(report.way >= GPH_UPDATE_NOTHING && report.way <= GPH_UPDATE_WHOLE);
        CHECK(report.ns > 0 && report.text[0] != '\0');
        gph_update_report_fini(&report);
        gph_snapshot_release(snapshot);
        OK(world.cu->cuGraphDestroy(graph)); /* none of it is needed any more */
        if (!CHECK(holds(it.exec, &now)))
            break;
    }
    const gph_update_stats stats = stats_of(it.exec);
    CHECK(stats.nothing_count > 0 && stats.nodes_count > 0 && stats.whole_count > 0);
    CHECK(stats.node_set_count >= stats.nodes_count && stats.ns > 0);
    CHECK(stats.reinstantiate_count == 0 && stats.refused_count == 0);
    gph_exec_destroy(it.exec);
}

/* The cheapest: nothing, one node, all of them. */
static void the_way_is_the_cheapest_that_is_right(void)
{
    CUgraphNode nodes[SPEC_NODES];
    struct tracked it = track(plain(10));
    spec now = it.made_of;
    const uint32_t wanted[] = {GPH_UPDATE_NOTHING, GPH_UPDATE_NODES, GPH_UPDATE_WHOLE};
    for (int i = 0; i < 3; i++) {
        if (i == 1)
            now.nodes[2].value = 77;
        if (i == 2) { /* no setter of a single node takes a priority */
            now.nodes[3].priority = -1;
            now.nodes[2].value = 78;
        }
        CUgraph graph = spec_build(&now, nodes);
        gph_snapshot *snapshot = NULL;
        FINE(gph_snapshot_take(world.runtime, graph, &snapshot, &world.error));
        gph_update_options options = GPH_UPDATE_OPTIONS_INIT;
        gph_update_report report = GPH_UPDATE_REPORT_INIT;
        options.snapshot = snapshot;
        options.wants_diff = 1;
        FINE(gph_exec_compatible_with(it.exec, snapshot, &report, &world.error));
        CHECK(report.way == wanted[i] && gph_diff_count(report.diff) == (size_t)i);
        FINE(gph_exec_update(it.exec, graph, &options, &report, &world.error));
        CHECK(report.way == wanted[i] && gph_diff_count(report.diff) == (size_t)i);
        CHECK(report.changed_count == (uint32_t)i && report.node_count == 10);
        CHECK(holds(it.exec, &now));
        gph_update_report_fini(&report);
        gph_snapshot_release(snapshot);
        OK(world.cu->cuGraphDestroy(graph));
    }
    gph_exec_destroy(it.exec);
}

static void an_executable_that_remembers_nothing_is_updated(void)
{
    CUgraphNode nodes[SPEC_NODES];
    spec now = plain(6);
    CUgraph graph = spec_build(&now, nodes);
    gph_exec *exec = make(graph);
    OK(world.cu->cuGraphDestroy(graph));
    change(&now.nodes[0]);
    graph = spec_build(&now, nodes);
    gph_update_report report = GPH_UPDATE_REPORT_INIT;
    FINE(gph_exec_update(exec, graph, NULL, NULL, &world.error));
    CHECK(holds(exec, &now));
    CHECK(gph_exec_compatible(exec, graph, &report, &world.error) == GPH_E_STATE);
    OK(world.cu->cuGraphDestroy(graph));
    spec fewer = plain(5);
    graph = spec_build(&fewer, nodes);
    CHECK(gph_exec_update(exec, graph, NULL, &report, &world.error) == 910);
    CHECK(report.way == GPH_UPDATE_REINSTANTIATE && report.result == 2);
    CHECK(strstr(world.error.message, "another topology") != NULL);
    CHECK(strstr(world.error.hint, "may_reinstantiate") != NULL);
    CHECK(holds(exec, &now));
    gph_update_options options = GPH_UPDATE_OPTIONS_INIT;
    options.may_reinstantiate = 1;
    options.upload_stream = world.stream;
    FINE(gph_exec_update(exec, graph, &options, &report, &world.error));
    CHECK(report.way == GPH_UPDATE_REINSTANTIATE && holds(exec, &fewer));
    const gph_update_stats stats = stats_of(exec);
    CHECK(stats.refused_count == 1 && stats.reinstantiate_count == 1);
    OK(world.cu->cuGraphDestroy(graph));
    gph_update_report_fini(&report);
    gph_exec_destroy(exec);
}

/* Both values and the rule; then a new executable, which follows the new graph. */
static void a_refusal_is_explained(void)
{
    CUgraphNode nodes[SPEC_NODES];
    struct tracked it = track(plain(6));
    spec now = it.made_of, other = it.made_of;
    other.nodes[3].cooperative = 1;
    CUgraph graph = spec_build(&other, nodes);
    gph_update_report report = GPH_UPDATE_REPORT_INIT;
    CHECK(gph_exec_update(it.exec, graph, NULL, &report, &world.error) == 910);
    CHECK(report.node == 3 && report.node_before == 3 && report.handle == nodes[3]);
    CHECK(report.rule != NULL && strcmp(report.rule, "R69a") == 0);
    CHECK(report.field != NULL && strcmp(report.field, "cooperative") == 0);
    CHECK(strcmp(report.before, "0") == 0 && strcmp(report.after, "1") == 0);
    CHECK(strstr(world.error.message, "cooperative may not go from 0 to 1") != NULL);
    CHECK(world.error.has_node && world.error.node == 3);
    CHECK(holds(it.exec, &now));
    gph_update_options options = GPH_UPDATE_OPTIONS_INIT;
    options.may_reinstantiate = 1;
    options.takes_graph = 1;
    options.upload_stream = world.stream;
    FINE(gph_exec_update(it.exec, graph, &options, &report, &world.error));
    CHECK(report.way == GPH_UPDATE_REINSTANTIATE && report.rule != NULL);
    CHECK(holds(it.exec, &other));
    const gph_edit edit = {
        .node = 3, .what = GPH_EDIT_ARG, .index = 1, .bytes = 4, .data = &(uint32_t){55}};
    FINE(gph_exec_edit(it.exec, &edit, 1, &world.error)); /* its nodes are the new ones */
    other.nodes[3].value = 55;
    CHECK(holds(it.exec, &other));
    gph_update_report_fini(&report);
    gph_exec_destroy(it.exec);
}

/* Partners have other numbers: the nodes were made in another order. */
static void another_order_of_creation_is_no_obstacle(void)
{
    CUgraphNode nodes[SPEC_NODES];
    spec a = {.count = 3}, b = {.count = 3};
    for (int i = 0; i < 3; i++)
        a.nodes[i] = spec_default(i == 1 ? SPEC_FILL : SPEC_KERNEL, (uint64_t)i * 64);
    a.nodes[2].dep_count = 2;
    a.nodes[2].deps[0] = 0;
    a.nodes[2].deps[1] = 1;
    b.nodes[0] = a.nodes[1];
    b.nodes[1] = a.nodes[0];
    b.nodes[2] = a.nodes[2];
    b.nodes[2].deps[0] = 1;
    b.nodes[2].deps[1] = 0;
    struct tracked it = track(a);
    for (unsigned round = 0; round < 6; round++) {
        spec *now = round % 2 ? &a : &b;
        now->nodes[round % 3].value = 50 + round;
        CUgraph graph = spec_build(now, nodes);
        gph_snapshot *snapshot = NULL;
        gph_update_options options = GPH_UPDATE_OPTIONS_INIT;
        FINE(gph_snapshot_take(world.runtime, graph, &snapshot, &world.error));
        options.snapshot = snapshot;
        FINE(gph_exec_update(it.exec, graph, &options, NULL, &world.error));
        CHECK(holds(it.exec, now));
        gph_snapshot_release(snapshot);
        OK(world.cu->cuGraphDestroy(graph));
    }
    /* An edit names the node that it was made with. */
    const gph_edit edit = {.node = 1, .what = GPH_EDIT_VALUE, .value = 9};
    FINE(gph_exec_edit(it.exec, &edit, 1, &world.error));
    a.nodes[1].value = 9;
    a.nodes[0].value = b.nodes[1].value;
    a.nodes[2].value = b.nodes[2].value;
    CHECK(stats_of(it.exec).nodes_count > 0);
    static uint32_t words[2 * WORDS];
    run(it.exec, words);
    CHECK(words[WORDS + 64] == 9);
    gph_exec_destroy(it.exec);
}

static void a_child_graph_is_updated_node_by_node(void)
{
    CUgraphNode nodes[SPEC_NODES];
    spec now = {.count = 2};
    now.nodes[0] = spec_default(SPEC_KERNEL, 64);
    now.nodes[1] = spec_default(SPEC_CHILD, 128);
    now.nodes[1].dep_count = 1;
    struct tracked it = track(now);
    now.nodes[1].value = 42;
    CUgraph graph = spec_build(&now, nodes);
    gph_snapshot *snapshot = NULL;
    gph_update_options options = GPH_UPDATE_OPTIONS_INIT;
    gph_update_report report = GPH_UPDATE_REPORT_INIT;
    FINE(gph_snapshot_take(world.runtime, graph, &snapshot, &world.error));
    options.snapshot = snapshot;
    FINE(gph_exec_update(it.exec, graph, &options, &report, &world.error));
    CHECK(report.way == GPH_UPDATE_NODES && report.changed_count == 2);
    CHECK(holds(it.exec, &now));
    uint32_t node = 0;
    FINE(gph_exec_node_find(it.exec, "store", 1, &node, &world.error));
    CHECK(node == 2); /* after those of the graph itself */
    const gph_edit edit = {
        .node = node, .what = GPH_EDIT_ARG, .index = 1, .bytes = 4, .data = &(int){43}};
    FINE(gph_exec_edit(it.exec, &edit, 1, &world.error));
    static uint32_t words[2 * WORDS];
    run(it.exec, words);
    CHECK(words[128] == 43 && words[WORDS + 128] == 42);
    gph_update_report_fini(&report);
    gph_snapshot_release(snapshot);
    OK(world.cu->cuGraphDestroy(graph));
    gph_exec_destroy(it.exec);
}

/* ---- edits ---- */

static void edits_reach_the_nodes_that_are_named(void)
{
    struct tracked it = track(plain(10));
    spec now = it.made_of;
    const CUdeviceptr place = world.at[AT_DEVICE] + 4 * 200;
    const uint32_t value = 1234;
    const gph_edit edits[] = {
        {.node = 0, .what = GPH_EDIT_ARG, .index = 0, .bytes = 8, .data = &place},
        {.node = 0, .what = GPH_EDIT_ARG, .index = 1, .bytes = 4, .data = &value},
        {.node = 0, .what = GPH_EDIT_GRID, .size = {2, 1, 1}},
        {.node = 0, .what = GPH_EDIT_BLOCK, .size = {4, 1, 1}},
        {.node = 0, .what = GPH_EDIT_SHARED, .value = 256},
        {.node = 1, .what = GPH_EDIT_VALUE, .value = 5},
        {.node = 1, .what = GPH_EDIT_WIDTH, .value = 3},
        {.node = 9, .what = GPH_EDIT_WIDTH, .value = 8},
        {.node = 6, .what = GPH_EDIT_ENABLED, .value = 0}};
    FINE(gph_exec_edit(it.exec, edits, sizeof(edits) / sizeof(*edits), &world.error));
    CHECK(stats_of(it.exec).node_set_count == 3 && stats_of(it.exec).edit_count == 1);
    now.nodes[0].slot = 200;
    now.nodes[0].value = value;
    now.nodes[0].grid = 2;
    now.nodes[0].block = 4;
    now.nodes[1].value = 5;
    now.nodes[1].width = 12;
    now.nodes[9].width = 8;
    static uint32_t words[2 * WORDS];
    run(it.exec, words);
    CHECK(words[200] == value && words[0] == 0 && words[6 * 64] == 0);
    CHECK(words[WORDS + 64] == 5 && words[WORDS + 67] == 0);
    const gph_edit on = {.node = 6, .what = GPH_EDIT_ENABLED, .value = 1};
    FINE(gph_exec_edit(it.exec, &on, 1, &world.error));
    CHECK(holds(it.exec, &now));
    FINE(gph_exec_edit(it.exec, NULL, 0, &world.error));
    gph_exec_destroy(it.exec);
}

static void wrong_edits_change_nothing(void)
{
    struct tracked it = track(plain(6));
    const uint32_t value = 1;
    const gph_edit good = {
        .node = 0, .what = GPH_EDIT_ARG, .index = 1, .bytes = 4, .data = &(int){99}};
    const gph_edit wrong[] = {
        {.node = 6, .what = GPH_EDIT_VALUE},
        {.node = 0, .what = 99},
        {.node = 0, .what = GPH_EDIT_VALUE, .value = 1},
        {.node = 0, .what = GPH_EDIT_ARG, .index = 2, .bytes = 4, .data = &value},
        {.node = 0, .what = GPH_EDIT_ARG, .index = 1, .bytes = 8, .data = &value},
        {.node = 0, .what = GPH_EDIT_ARG, .index = 1, .bytes = 4},
        {.node = 1, .what = GPH_EDIT_SRC, .value = 1},
        {.node = 1, .what = GPH_EDIT_VALUE, .value = UINT64_C(1) << 32},
        {.node = 1, .what = GPH_EDIT_GRID, .size = {1, 1, 1}},
        {.node = 4, .what = GPH_EDIT_USER, .value = 1},
        {.node = 4, .what = GPH_EDIT_EVENT, .value = 1},
        {.node = 4, .what = GPH_EDIT_ENABLED, .value = 2},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        const gph_edit both[] = {good, wrong[i]};
        CHECK(gph_exec_edit(it.exec, both, 2, &world.error) == GPH_E_INVALID);
    }
    /* What the driver refuses, in the middle. */
    const gph_edit grid = {.node = 2, .what = GPH_EDIT_GRID, .size = {0, 1, 1}};
    const gph_edit off = {.node = 1, .what = GPH_EDIT_ENABLED};
    const gph_edit both[] = {good, off, grid};
    CHECK(gph_exec_edit(it.exec, both, 3, &world.error) == CUDA_ERROR_INVALID_VALUE);
    CHECK(strstr(world.error.message, "node 2") != NULL);
    CHECK(holds(it.exec, &it.made_of));
    CHECK(gph_exec_edit(NULL, &good, 1, &world.error) == GPH_E_INVALID);
    CHECK(gph_exec_edit(it.exec, NULL, 1, &world.error) == GPH_E_INVALID);
    FINE(gph_exec_edit(it.exec, &good, 1, &world.error));
    gph_exec_destroy(it.exec);
}

static void edits_want_contents_that_are_known(void)
{
    CUgraphNode nodes[SPEC_NODES];
    struct tracked it = track(plain(5));
    spec now = it.made_of;
    now.nodes[0].value = 70;
    CUgraph graph = spec_build(&now, nodes);
    FINE(gph_exec_update(it.exec, graph, NULL, NULL, &world.error));
    const gph_edit edit = {.node = 1, .what = GPH_EDIT_VALUE, .value = 9};
    CHECK(gph_exec_edit(it.exec, &edit, 1, &world.error) == GPH_E_STATE);
    gph_update_options options = GPH_UPDATE_OPTIONS_INIT;
    gph_update_report report = GPH_UPDATE_REPORT_INIT;
    FINE(gph_exec_compatible(it.exec, graph, &report, &world.error));
    CHECK(report.way == GPH_UPDATE_WHOLE); /* it may hold that, or not */
    options.wants_diff = 1;
    CHECK(gph_exec_update(it.exec, graph, &options, &report, &world.error) ==
          GPH_E_STATE);
    gph_snapshot *snapshot = NULL;
    FINE(gph_snapshot_take(world.runtime, graph, &snapshot, &world.error));
    options.wants_diff = 0;
    options.snapshot = snapshot;
    FINE(gph_exec_update(it.exec, graph, &options, &report, &world.error));
    FINE(gph_exec_edit(it.exec, &edit, 1, &world.error));
    now.nodes[1].value = 9;
    CHECK(holds(it.exec, &now));
    gph_update_report_fini(&report);
    gph_snapshot_release(snapshot);
    OK(world.cu->cuGraphDestroy(graph));
    gph_exec_destroy(it.exec);
}

struct launcher {
    gph_exec *exec;
    atomic_bool stop;
    long launches, failures;
};

static void *launch_on(void *user)
{
    struct launcher *it = user;
    CUstream stream = NULL;
    it->failures += world.cu->cuCtxSetCurrent(world.context) != CUDA_SUCCESS;
    it->failures += world.cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != 0;
    do { /* once at least: the edits may be over before this thread begins */
        it->failures += gph_exec_launch(it->exec, stream, NULL) != GPH_OK;
        if (++it->launches % 16 == 0)
            it->failures += world.cu->cuStreamSynchronize(stream) != CUDA_SUCCESS;
    } while (!atomic_load(&it->stop));
    it->failures += world.cu->cuStreamSynchronize(stream) != CUDA_SUCCESS;
    it->failures += world.cu->cuStreamDestroy(stream) != CUDA_SUCCESS;
    return NULL;
}

/* Others launch while one thread edits and updates. */
static void launches_go_on_meanwhile(void)
{
    CUgraphNode nodes[SPEC_NODES];
    struct tracked it = track(plain(10));
    struct launcher launcher = {.exec = it.exec};
    spec now = it.made_of;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, launch_on, &launcher) == 0);
    for (int i = 0; i < 60; i++) {
        gph_update_options options = GPH_UPDATE_OPTIONS_INIT;
        gph_snapshot *snapshot = NULL;
        change(&now.nodes[below(10)]);
        CUgraph graph = spec_build(&now, nodes);
        FINE(gph_snapshot_take(world.runtime, graph, &snapshot, &world.error));
        options.snapshot = snapshot;
        FINE(gph_exec_update(it.exec, graph, &options, NULL, &world.error));
        const gph_edit edit = {.node = 1, .what = GPH_EDIT_VALUE, .value = (uint64_t)i};
        FINE(gph_exec_edit(it.exec, &edit, 1, &world.error));
        now.nodes[1].value = (unsigned)i;
        gph_snapshot_release(snapshot);
        OK(world.cu->cuGraphDestroy(graph));
    }
    atomic_store(&launcher.stop, true);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(launcher.failures == 0 && launcher.launches > 0);
    CHECK(holds(it.exec, &now));
    gph_exec_destroy(it.exec);
}

static void nodes_are_found(void)
{
    struct tracked it = track(plain(7));
    uint32_t node = 77;
    FINE(gph_exec_node_find(it.exec, "store", 1, &node, &world.error));
    CHECK(node == 2);
    FINE(gph_exec_node_index(it.exec, it.nodes[5], &node, &world.error));
    CHECK(node == 5);
    CHECK(gph_exec_node_find(it.exec, "gone", 0, &node, &world.error) == GPH_E_INVALID);
    CHECK(gph_exec_node_find(it.exec, "store", 9, &node, &world.error) == GPH_E_INVALID);
    CHECK(gph_exec_node_find(it.exec, NULL, 0, &node, &world.error) == GPH_E_INVALID);
    CHECK(gph_exec_node_index(it.exec, NULL, &node, &world.error) == GPH_E_INVALID);
    CHECK(gph_exec_node_index(it.exec, (CUgraphNode)(void *)&node, &node, &world.error) ==
          GPH_E_INVALID);
    CHECK(node == 5);
    gph_exec_destroy(it.exec);
}

static void wrong_arguments_are_refused(void)
{
    CUgraphNode nodes[SPEC_NODES];
    struct tracked it = track(plain(3));
    spec other = plain(3);
    CUgraph graph = spec_build(&other, nodes);
    gph_snapshot *snapshot = NULL;
    gph_update_report report = GPH_UPDATE_REPORT_INIT;
    gph_update_options options = GPH_UPDATE_OPTIONS_INIT;
    gph_track_options tracking = GPH_TRACK_OPTIONS_INIT;
    FINE(gph_snapshot_take(world.runtime, it.graph, &snapshot, &world.error));
    CHECK(gph_snapshot_take(NULL, graph, &snapshot, &world.error) == GPH_E_INVALID);
    CHECK(gph_snapshot_take(world.runtime, NULL, &snapshot, &world.error) ==
          GPH_E_INVALID);
    CHECK(gph_exec_track(it.exec, graph, NULL, &world.error) == GPH_E_STATE);
    CHECK(gph_exec_track(NULL, graph, NULL, &world.error) == GPH_E_INVALID);
    CHECK(gph_exec_track(it.exec, NULL, NULL, &world.error) == GPH_E_INVALID);
    CHECK(gph_exec_compatible(it.exec, NULL, &report, &world.error) == GPH_E_INVALID);
    CHECK(gph_exec_compatible(it.exec, graph, NULL, &world.error) == GPH_E_INVALID);
    CHECK(gph_exec_update(NULL, graph, NULL, NULL, &world.error) == GPH_E_INVALID);
    CHECK(gph_exec_update(it.exec, NULL, NULL, NULL, &world.error) == GPH_E_INVALID);
    options.snapshot = snapshot; /* of another graph */
    CHECK(gph_exec_update(it.exec, graph, &options, NULL, &world.error) == GPH_E_INVALID);
    options.snapshot = NULL;
    options.wants_diff = 1;
    CHECK(gph_exec_update(it.exec, graph, &options, NULL, &world.error) == GPH_E_INVALID);
    report.size = 4;
    CHECK(gph_exec_update(it.exec, graph, NULL, &report, &world.error) == GPH_E_INVALID);
    gph_exec *fresh = make(graph);
    tracking.snapshot = snapshot;
    CHECK(gph_exec_track(fresh, graph, &tracking, &world.error) == GPH_E_INVALID);
    gph_exec_destroy(fresh);
    gph_update_report_fini(NULL);
    gph_snapshot_release(NULL);
    gph_snapshot_release(snapshot);
    CHECK(gph_snapshot_graph(NULL) == NULL);
    CHECK(holds(it.exec, &it.made_of));
    OK(world.cu->cuGraphDestroy(graph));
    gph_exec_destroy(it.exec);
}

static void run_all(void)
{
    RUN(random_updates_are_right);
    RUN(the_way_is_the_cheapest_that_is_right);
    RUN(an_executable_that_remembers_nothing_is_updated);
    RUN(a_refusal_is_explained);
    RUN(another_order_of_creation_is_no_obstacle);
    RUN(a_child_graph_is_updated_node_by_node);
    RUN(edits_reach_the_nodes_that_are_named);
    RUN(wrong_edits_change_nothing);
    RUN(edits_want_contents_that_are_known);
    RUN(launches_go_on_meanwhile);
    RUN(nodes_are_found);
    RUN(wrong_arguments_are_refused);
}

int main(void)
{
    const int code = world_open();
    if (code != 0)
        return code;
    run_all();
    /* Sentinels change nothing of it. */
    gph_sentinel_options options = GPH_SENTINEL_OPTIONS_INIT;
    options.every = 1;
    FINE(gph_sentinel_create(world.runtime, &options, &sentinel, &world.error));
    run_all();
    gph_sentinel_destroy(sentinel);
    gph_close(world.runtime);
    return test_done();
}
