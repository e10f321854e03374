// SPDX-License-Identifier: Apache-2.0
/* Sentinels: what they say while a replay hangs, after an error and of a process that was
 * killed; that the program's graph has none of them; files that nobody wrote. */
#define _GNU_SOURCE
#include "replay/query.h"
#include "tests/node.h"
#include "update_world.h"
#include <gph/recipe.h>
#include <gph/sentinel.h>

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* gate: waits until *p is not 0, then makes it 0. stray: writes where nothing is. */
static const char gate_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry gate(.param .u64 p)\n"
    "{\n.reg .pred %q;\n.reg .b64 %a<2>;\n.reg .b32 %r<3>;\n"
    "ld.param.u64 %a1, [p];\n"
    "AGAIN:\nld.volatile.global.u32 %r1, [%a1];\nsetp.eq.u32 %q, %r1, 0;\n@%q bra "
    "AGAIN;\n"
    "mov.u32 %r2, 0;\nst.volatile.global.u32 [%a1], %r2;\nret;\n}\n"
    ".visible .entry stray()\n"
    "{\n.reg .b64 %a<2>;\n.reg .b32 %r<2>;\n"
    "mov.u64 %a1, 64;\nmov.u32 %r1, 1;\nst.global.u32 [%a1], %r1;\nret;\n}\n";

static CUfunction gate, stray;

static volatile uint32_t *flag(void)
{
    return (volatile uint32_t *)(uintptr_t)world.at[AT_PINNED];
}

static void load(void)
{
    CUmodule module = NULL;
    OK(world.cu->cuModuleLoadData(&module, gate_ptx));
    OK(world.cu->cuModuleGetFunction(&gate, module, "gate"));
    OK(world.cu->cuModuleGetFunction(&stray, module, "stray"));
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

/* ---- graphs ---- */

static CUgraphNode add(CUgraph graph, CUfunction function, CUgraphNode a, CUgraphNode b)
{
    CUgraphNode deps[] = {a, b}, node = NULL;
    CUdeviceptr address = function == gate ? world.at[AT_PINNED] : world.at[AT_DEVICE];
    unsigned value = 7;
    void *arguments[] = {&address, &value};
    const CUDA_KERNEL_NODE_PARAMS params = one_thread(function, arguments);
    OK(world.cu->cuGraphAddKernelNode(&node, graph, deps,
                                      (size_t)(a != NULL) + (b != NULL), &params));
    return node;
}

/*   0 ── 1 ── 3 (gate) ── 4 ── 5        2 is of the other branch; it comes before the
 *    └────── 2 ───────────┘            gate, as softcuda may have one worker alone */
static CUgraph fork_in_order(CUgraphNode nodes[6], int first)
{
    CUgraph graph = NULL;
    OK(world.cu->cuGraphCreate(&graph, 0));
    nodes[0] = add(graph, world.store, NULL, NULL);
    nodes[first] = add(graph, world.store, nodes[0], NULL);
    nodes[3 - first] = add(graph, world.store, nodes[0], NULL);
    nodes[3] = add(graph, gate, nodes[1], NULL);
    nodes[4] = add(graph, world.store, nodes[3], nodes[2]);
    nodes[5] = add(graph, world.store, nodes[4], NULL);
    return graph;
}

static CUgraph fork_with_gate(CUgraphNode nodes[6])
{
    return fork_in_order(nodes, 1);
}

static gph_sentinel *board(uint32_t every, const char *path)
{
    gph_sentinel_options options = GPH_SENTINEL_OPTIONS_INIT;
    gph_sentinel *out = NULL;
    options.every = every;
    options.path = path;
    FINE(gph_sentinel_create(world.runtime, &options, &out, &world.error));
    return out;
}

static gph_exec_options with(gph_sentinel *sentinel)
{
    gph_exec_options options = GPH_EXEC_OPTIONS_INIT;
    options.upload_stream = world.stream;
    options.sentinel = sentinel;
    return options;
}

static gph_exec *make(CUgraph graph, gph_sentinel *sentinel)
{
    gph_exec *exec = NULL;
    const gph_exec_options options = with(sentinel);
    FINE(gph_exec_create(world.runtime, graph, &options, &exec, &world.error));
    return exec;
}

static size_t count_of(CUgraph graph)
{
    size_t count = 0, edges = 0;
    OK(world.cu->cuGraphGetNodes(graph, NULL, &count));
    OK(world.cu->cuGraphGetEdges(graph, NULL, NULL, NULL, &edges));
    return count * 1000 + edges;
}

/* ---- what is read ---- */

static uint32_t state_of(const gph_progress *progress, uint32_t index)
{
    const gph_progress_exec *exec = gph_progress_exec_at(progress, 0);
    for (uint32_t i = 0; i < exec->node_count; i++)
        if (exec->nodes[i].index == index)
            return exec->nodes[i].state;
    return 99;
}

static gph_progress *look(gph_sentinel *sentinel, const gph_exec *exec)
{
    gph_progress *progress = NULL;
    FINE(gph_progress_create(sentinel, exec, &progress, &world.error));
    return progress;
}

/* Until node 3 is seen to run and node 2, which nothing holds, to have ended. */
static gph_progress *look_when_it_hangs(gph_sentinel *sentinel, const gph_exec *exec)
{
    for (int i = 0; i < 5000; i++) {
        gph_progress *progress = look(sentinel, exec);
        if (state_of(progress, 3) == GPH_NODE_RUNNING &&
            state_of(progress, 2) == GPH_NODE_DONE)
            return progress;
        gph_progress_destroy(progress);
        nap();
    }
    return look(sentinel, exec);
}

static void check_hangs_at_3(const gph_progress *progress)
{
    static const uint32_t wanted[] = {GPH_NODE_DONE,    GPH_NODE_DONE,
                                      GPH_NODE_DONE,    GPH_NODE_RUNNING,
                                      GPH_NODE_WAITING, GPH_NODE_WAITING};
    const gph_progress_exec *exec = gph_progress_exec_at(progress, 0);
    CHECK(exec->state == GPH_LAUNCH_UNDER_WAY && exec->node_count == 6);
    CHECK(exec->counts[GPH_NODE_DONE] == 3 && exec->counts[GPH_NODE_WAITING] == 2);
    for (uint32_t i = 0; i < 6; i++)
        if (!CHECK(state_of(progress, i) == wanted[i]))
            fprintf(stderr, "  node %u: %u\n", i, state_of(progress, i));
    for (uint32_t i = 0; i < 6; i++)
        if (exec->nodes[i].index == 4)
            CHECK(exec->nodes[i].waits_for_count == 1 &&
                  exec->nodes[i].waits_for[0] == 3);
}

static void finish(unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        while (*flag() != 0)
            nap();
        *flag() = 1;
    }
    OK(world.cu->cuStreamSynchronize(world.stream));
}

static void text_of(const gph_progress *progress, char *text, size_t bytes)
{
    gph_buffer buffer = {.text = text, .bytes = bytes};
    FINE(gph_progress_write(progress, gph_write_buffer, &buffer, &world.error));
}

/* ---- tests ---- */

static void the_node_that_hangs_is_named(void)
{
    CUgraphNode nodes[6];
    CUgraph graph = fork_with_gate(nodes);
    gph_sentinel *sentinel = board(1, NULL);
    gph_exec *exec = make(graph, sentinel);
    gph_progress *progress = look(sentinel, NULL);
    CHECK(gph_progress_exec_at(progress, 0)->state == GPH_LAUNCH_NONE);
    CHECK(state_of(progress, 0) == GPH_NODE_UNKNOWN);
    gph_progress_destroy(progress);
    FINE(gph_exec_launch(exec, world.stream, &world.error));
    progress = look_when_it_hangs(sentinel, exec);
    check_hangs_at_3(progress);
    char text[2048];
    text_of(progress, text, sizeof(text));
    CHECK(strstr(text, "1 launch: a launch is under way\n") != NULL);
    CHECK(strstr(text, "  running  node 3 (kernel gate)\n") != NULL);
    CHECK(strstr(text, "  waiting  nodes 4 to 5, for node 3\n") != NULL);
    gph_progress_destroy(progress);
    finish(1);
    progress = look(sentinel, exec);
    CHECK(gph_progress_exec_at(progress, 0)->state == GPH_LAUNCH_ENDED);
    CHECK(gph_progress_exec_at(progress, 0)->counts[GPH_NODE_DONE] == 6);
    gph_progress_destroy(progress);
    gph_sentinel_destroy(sentinel); /* lives as long as its executables */
    gph_exec_destroy(exec);
    OK(world.cu->cuGraphDestroy(graph));
}

/* Three launches are queued; the first passes, the second hangs. */
static void launches_in_a_queue_are_kept_apart(void)
{
    CUgraphNode nodes[6];
    CUgraph graph = fork_with_gate(nodes);
    gph_sentinel *sentinel = board(1, NULL);
    gph_exec *exec = make(graph, sentinel);
    *flag() = 1;
    for (int i = 0; i < 3; i++)
        FINE(gph_exec_launch(exec, world.stream, &world.error));
    while (*flag() != 0)
        nap();
    gph_progress *progress = look_when_it_hangs(sentinel, exec);
    check_hangs_at_3(progress);
    CHECK(gph_progress_exec_at(progress, 0)->launches == 3);
    gph_progress_destroy(progress);
    finish(2);
    gph_exec_destroy(exec);
    gph_sentinel_destroy(sentinel);
    OK(world.cu->cuGraphDestroy(graph));
}

static gph_status launch(CUfunction function)
{
    CUdeviceptr address = function == gate ? world.at[AT_PINNED] : world.at[AT_DEVICE];
    unsigned value = 3;
    void *arguments[] = {&address, &value};
    return (gph_status)world.cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0,
                                                world.stream, arguments, NULL);
}

enum { BEGUN_AT = __LINE__ + 6, PUSHED_AT = __LINE__ + 11 };

static gph_recording *record_regions(void)
{
    gph_capture *capture = NULL;
    gph_recording *recording = NULL;
    FINE(gph_capture_begin(world.runtime, world.stream, NULL, &capture, &world.error));
    OK(launch(world.store));
    static const char *const regions[] = {"embed", "layer.0", "head"};
    for (int i = 0; i < 3; i++) {
        if (i < 2)
            FINE(gph_region_push(capture, regions[i], &world.error));
        else
            FINE(gph_region_push_at("model.py:12", capture, regions[i], &world.error));
        OK(launch(world.store));
        OK(launch(i == 1 ? gate : world.store));
        OK(launch(world.store));
        FINE(gph_region_pop(capture, &world.error));
    }
    FINE(gph_capture_finish(capture, &recording, &world.error));
    return recording;
}

static gph_replay *replay_regions(gph_recording *recording, gph_sentinel *sentinel)
{
    gph_replay *replay = NULL;
    const gph_exec_options options = with(sentinel);
    FINE(gph_replay_create(recording, &options, &replay, &world.error));
    FINE(gph_replay_launch(replay, world.stream, &world.error));
    return replay;
}

/* Every node has a region and the line that began it, or the capture. */
static void check_places(const gph_progress *progress)
{
    const gph_progress_exec *exec = gph_progress_exec_at(progress, 0);
    const char *file = strrchr(__FILE__, '/') ? strrchr(__FILE__, '/') + 1 : __FILE__;
    char text[2048], line[3][160];
    text_of(progress, text, sizeof(text));
    snprintf(line[0], sizeof(line[0]), "node 0 (kernel store), recorded at %s:%d\n", file,
             BEGUN_AT);
    snprintf(line[1], sizeof(line[1]), ", region layer.0, recorded at %s:%d", file,
             PUSHED_AT);
    snprintf(line[2], sizeof(line[2]),
             ", region head, recorded at model.py:12, for node");
    for (int i = 0; i < 3; i++)
        if (!CHECK(strstr(text, line[i]) != NULL))
            fprintf(stderr, "  no '%s' in\n%s", line[i], text);
    for (uint32_t i = 0; i < exec->node_count; i++)
        CHECK(exec->nodes[i].place[0] != '\0');
    CHECK(strncmp(exec->nodes[1].place, __FILE__ ":", sizeof(__FILE__)) == 0);
}

static void borders_of_regions_have_them(void)
{
    gph_sentinel *sentinel = board(0, NULL);
    gph_recording *recording = record_regions();
    gph_replay *replay = replay_regions(recording, sentinel);
    gph_progress *progress = look(sentinel, NULL);
    for (int i = 0; i < 5000 && (state_of(progress, 3) != GPH_NODE_DONE ||
                                 state_of(progress, 9) == GPH_NODE_DONE);
         i++) {
        gph_progress_destroy(progress);
        nap();
        progress = look(sentinel, NULL);
    }
    const gph_progress_exec *exec = gph_progress_exec_at(progress, 0);
    CHECK(exec->sentinel_count == 4 && exec->counts[GPH_NODE_DONE] == 4);
    /* Of layer.0 it is known that it has not ended. */
    CHECK(exec->counts[GPH_NODE_UNKNOWN] == 3 && exec->counts[GPH_NODE_WAITING] == 3);
    CHECK(strcmp(exec->nodes[5].region, "layer.0") == 0);
    CHECK(strcmp(exec->nodes[5].kernel, "gate") == 0);
    char text[2048];
    text_of(progress, text, sizeof(text));
    CHECK(strstr(text, "  unknown  nodes 4 to 6, region layer.0, recorded at ") != NULL);
    CHECK(strstr(text, "  waiting  nodes 7 to 9, region head, recorded at model.py:12, "
                       "for node 6\n") != NULL);
    check_places(progress);
    gph_progress_destroy(progress);
    finish(1);
    gph_replay_destroy(replay);
    gph_recording_destroy(recording);
    gph_sentinel_destroy(sentinel);
}

/* Signatures, differences, handles, setters and recipes are of the program's graph. */
static void the_graph_stays_the_programs(void)
{
    CUgraphNode nodes[6], now[6];
    CUgraph graph = fork_with_gate(nodes);
    const size_t count = count_of(graph);
    gph_graph *before = NULL, *after = NULL;
    gph_diff *diff = NULL;
    gph_signature a, b;
    FINE(gph_graph_describe(world.runtime, graph, &before, &world.error));
    gph_sentinel *sentinel = board(1, NULL);
    gph_exec *exec = make(graph, sentinel);
    CHECK(count_of(graph) == count);
    size_t filled = 6;
    OK(world.cu->cuGraphGetNodes(graph, now, &filled));
    CHECK(memcmp(now, nodes, sizeof(now)) == 0);
    FINE(gph_graph_describe(world.runtime, graph, &after, &world.error));
    FINE(gph_graph_diff(before, after, &diff, &world.error));
    CHECK(gph_diff_count(diff) == 0);
    FINE(gph_graph_signature(before, GPH_SIGNATURE_KERNELS, &a, &world.error));
    FINE(gph_graph_signature(after, GPH_SIGNATURE_KERNELS, &b, &world.error));
    CHECK(memcmp(&a, &b, sizeof(a)) == 0);
    CUDA_KERNEL_NODE_PARAMS params = {0};
    OK(world.cu->cuGraphKernelNodeGetParams(nodes[5], &params));
    OK(world.cu->cuGraphExecKernelNodeSetParams(gph_exec_handle(exec), nodes[5],
                                                &params));
    CUgraphExecUpdateResultInfo info;
    *flag() = 1;
    FINE(gph_exec_launch(exec, world.stream, &world.error));
    OK(world.cu->cuStreamSynchronize(world.stream));
    /* By the driver alone the executable is of another graph, as anybody sees. */
    CHECK(world.cu->cuGraphExecUpdate(gph_exec_handle(exec), graph, &info) ==
          CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    FINE(gph_exec_update(exec, graph, NULL, NULL, &world.error));
    CHECK(count_of(graph) == count);
    gph_diff_destroy(diff);
    gph_graph_destroy(before);
    gph_graph_destroy(after);
    gph_exec_destroy(exec);
    gph_sentinel_destroy(sentinel);
    OK(world.cu->cuGraphDestroy(graph));
}

/* Made in another order, so that numbers are others, too. */
static void an_update_takes_them_along(void)
{
    CUgraphNode nodes[6], more[6];
    CUgraph graph = fork_with_gate(nodes), other = fork_in_order(more, 2);
    gph_sentinel *sentinel = board(1, NULL);
    gph_exec *exec = make(graph, sentinel);
    FINE(gph_exec_update(exec, other, NULL, NULL, &world.error));
    CHECK(count_of(other) == count_of(graph));
    FINE(gph_exec_launch(exec, world.stream, &world.error));
    gph_progress *progress = NULL;
    for (int i = 0; i < 5000; i++) {
        progress = look(sentinel, exec);
        if (state_of(progress, 3) == GPH_NODE_RUNNING)
            break;
        gph_progress_destroy(progress);
        nap();
    }
    CHECK(state_of(progress, 3) == GPH_NODE_RUNNING); /* the gate */
    CHECK(state_of(progress, 1) == GPH_NODE_DONE);
    CHECK(state_of(progress, 2) == GPH_NODE_DONE);
    CHECK(state_of(progress, 4) == GPH_NODE_WAITING);
    gph_progress_destroy(progress);
    finish(1);
    gph_exec_destroy(exec);
    gph_sentinel_destroy(sentinel);
    OK(world.cu->cuGraphDestroy(graph));
    OK(world.cu->cuGraphDestroy(other));
}

/* A refusal names a node of the program's, by any result. */
static void a_refused_update_leaves_all(void)
{
    CUgraphNode nodes[6], more[7];
    CUgraph graph = fork_with_gate(nodes), other = fork_with_gate(more);
    more[6] = add(other, world.store, more[5], NULL);
    const size_t count = count_of(other);
    gph_sentinel *sentinel = board(2, NULL);
    gph_exec *exec = make(graph, sentinel);
    gph_update_report report = GPH_UPDATE_REPORT_INIT;
    CHECK(gph_exec_update(exec, other, NULL, &report, &world.error) ==
          CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    CHECK(count_of(other) == count);
    CHECK(report.handle == NULL || report.node >= 0);
    *flag() = 1;
    FINE(gph_exec_launch(exec, world.stream, &world.error));
    OK(world.cu->cuStreamSynchronize(world.stream));
    /* A new executable has them, too. */
    gph_update_options options = GPH_UPDATE_OPTIONS_INIT;
    options.may_reinstantiate = 1;
    options.upload_stream = world.stream;
    FINE(gph_exec_update(exec, other, &options, &report, &world.error));
    gph_progress *progress = look(sentinel, NULL);
    CHECK(gph_progress_exec_count(progress) == 1);
    CHECK(gph_progress_exec_at(progress, 0)->node_count == 7);
    gph_progress_destroy(progress);
    gph_update_report_fini(&report);
    gph_exec_destroy(exec);
    gph_sentinel_destroy(sentinel);
    OK(world.cu->cuGraphDestroy(graph));
    OK(world.cu->cuGraphDestroy(other));
}

static void what_cannot_have_them_is_refused(void)
{
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS alloc = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = 4096};
    gph_sentinel *sentinel = board(1, NULL);
    gph_exec *exec = NULL;
    const gph_exec_options options = with(sentinel);
    OK(world.cu->cuGraphCreate(&graph, 0));
    OK(world.cu->cuGraphAddMemAllocNode(&node, graph, NULL, 0, &alloc));
    OK(world.cu->cuGraphAddMemFreeNode(&node, graph, &node, 1, alloc.dptr));
    CHECK(gph_exec_create(world.runtime, graph, &options, &exec, &world.error) ==
          GPH_E_UNSUPPORTED);
    CHECK(strstr(world.error.message, "node 0 (mem_alloc)") != NULL && !exec);
    CHECK(count_of(graph) == 2001);
    OK(world.cu->cuGraphDestroy(graph));
    gph_sentinel_destroy(sentinel);

    gph_sentinel_options small = GPH_SENTINEL_OPTIONS_INIT;
    small.bytes = 4096;
    small.every = 1;
    FINE(gph_sentinel_create(world.runtime, &small, &sentinel, &world.error));
    CUgraphNode nodes[6], last = NULL;
    graph = fork_with_gate(nodes);
    last = nodes[5];
    for (int i = 0; i < 200; i++)
        last = add(graph, world.store, last, NULL);
    const gph_exec_options full = with(sentinel);
    CHECK(gph_exec_create(world.runtime, graph, &full, &exec, &world.error) ==
          GPH_E_STATE);
    OK(world.cu->cuGraphDestroy(graph));
    graph = fork_with_gate(nodes); /* blocks come back */
    for (int i = 0; i < 100; i++)
        gph_exec_destroy(make(graph, sentinel));
    gph_exec *without = make(graph, NULL);
    gph_progress *progress = NULL;
    CHECK(gph_progress_create(sentinel, without, &progress, &world.error) == GPH_E_STATE);
    gph_exec_destroy(without);
    gph_sentinel_destroy(sentinel);
    OK(world.cu->cuGraphDestroy(graph));
}

/* A graph of no nodes, and one of two ends: an end among several has no sentinel. */
static void odd_graphs_have_what_they_can(void)
{
    CUgraph graph = NULL;
    gph_sentinel *sentinel = board(1, NULL);
    OK(world.cu->cuGraphCreate(&graph, 0));
    gph_exec *empty = make(graph, sentinel);
    FINE(gph_exec_launch(empty, world.stream, &world.error));
    FINE(gph_exec_update(empty, graph, NULL, NULL, &world.error));
    OK(world.cu->cuStreamSynchronize(world.stream));
    const CUgraphNode first = add(graph, world.store, NULL, NULL);
    add(graph, world.store, first, NULL);
    add(graph, world.store, first, NULL);
    gph_exec *ends = make(graph, sentinel);
    FINE(gph_exec_launch(ends, world.stream, &world.error));
    OK(world.cu->cuStreamSynchronize(world.stream));
    gph_progress *progress = look(sentinel, ends);
    const gph_progress_exec *exec = gph_progress_exec_at(progress, 0);
    CHECK(gph_progress_exec_count(progress) == 1 && exec->sentinel_count == 1);
    CHECK(exec->state == GPH_LAUNCH_MAYBE_ENDED && exec->counts[GPH_NODE_UNKNOWN] == 2);
    gph_progress_destroy(progress);
    gph_exec_destroy(empty);
    gph_exec_destroy(ends);
    gph_sentinel_destroy(sentinel);
    OK(world.cu->cuGraphDestroy(graph));
}

/* ---- other processes ---- */

static char path[64];

enum way { HANGS, FAULTS, HANGS_IN_REGION };

/* Only the child uses the driver: it hangs until it is killed, or faults and says so. */
static void hang(enum way way)
{
    if (world_open() != 0)
        _exit(1);
    load();
    CUgraphNode nodes[6];
    if (way == HANGS_IN_REGION) {
        replay_regions(record_regions(), board(1, path));
        OK(world.cu->cuStreamSynchronize(world.stream));
        _exit(2);
    }
    CUgraph graph = fork_with_gate(nodes);
    if (way == FAULTS)
        add(graph, stray, nodes[2], NULL);
    gph_exec *exec = make(graph, board(1, path));
    *flag() = way == FAULTS;
    FINE(gph_exec_launch(exec, world.stream, &world.error));
    const CUresult result = world.cu->cuStreamSynchronize(world.stream);
    _exit(result == CUDA_ERROR_ILLEGAL_ADDRESS ? 7 : 2);
}

static pid_t start(enum way way)
{
    snprintf(path, sizeof(path), "/dev/shm/gph-sentinel-test.%ld", (long)getpid());
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        hang(way);
    return child;
}

/* Until it does, or the process has ended. */
static bool wait_to_run(pid_t child, uint32_t node, uint32_t done)
{
    gph_progress *progress = NULL;
    bool hangs = false;
    for (int i = 0; i < 5000 && !hangs && waitpid(child, NULL, WNOHANG) == 0; i++) {
        nap();
        if (gph_progress_load(path, NULL, &progress, NULL) != GPH_OK)
            continue;
        hangs = gph_progress_exec_count(progress) == 1 &&
                state_of(progress, node) == GPH_NODE_RUNNING &&
                state_of(progress, done) == GPH_NODE_DONE;
        gph_progress_destroy(progress);
    }
    return hangs;
}

static void a_killed_process_has_left_its_file(void)
{
    const pid_t child = start(HANGS);
    gph_progress *progress = NULL;
    CHECK(wait_to_run(child, 3, 2));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    if (CHECK_OK(gph_progress_load(path, NULL, &progress, &world.error), world.error)) {
        CHECK(gph_progress_process(progress) == (uint64_t)child);
        check_hangs_at_3(progress);
        gph_progress_destroy(progress);
    }
}

static void its_nodes_have_region_and_place(void)
{
    const pid_t child = start(HANGS_IN_REGION);
    gph_progress *progress = NULL;
    CHECK(wait_to_run(child, 5, 4));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    if (CHECK_OK(gph_progress_load(path, NULL, &progress, &world.error), world.error)) {
        check_places(progress);
        char text[2048], line[200];
        text_of(progress, text, sizeof(text));
        snprintf(line, sizeof(line), "node 5 (kernel gate), region layer.0, recorded at");
        CHECK(strstr(text, line) != NULL);
        gph_progress_destroy(progress);
    }
}

/* Any bytes may be in a file. Needs the file of the test before. */
static void a_file_that_nobody_wrote_does_no_harm(void)
{
    static char bytes[1 << 15];
    FILE *file = fopen(path, "rb");
    if (!CHECK(file != NULL))
        return;
    const size_t got = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    uint64_t state = 5;
    for (int round = 0; round < 400; round++) {
        file = fopen(path, "r+b");
        CHECK(file != NULL && fwrite(bytes, 1, got, file) == got);
        for (int i = 0; i < 3; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            fseek(file, (long)(8 + (state >> 33) % 1200), SEEK_SET);
            fputc((int)(state >> 24 & 255), file);
        }
        fclose(file);
        gph_progress *progress = NULL;
        char text[512];
        if (gph_progress_load(path, NULL, &progress, &world.error) == GPH_OK)
            text_of(progress, text, sizeof(text));
        gph_progress_destroy(progress);
    }
    CHECK(truncate(path, 10) == 0);
    gph_progress *progress = NULL;
    CHECK(gph_progress_load(path, NULL, &progress, &world.error) == GPH_E_FORMAT);
    CHECK(gph_progress_load("/dev/null", NULL, &progress, &world.error) == GPH_E_FORMAT);
    unlink(path);
    CHECK(gph_progress_load(path, NULL, &progress, &world.error) == GPH_E_IO);
}

static void an_error_leaves_what_was_reached(void)
{
    const pid_t child = start(FAULTS);
    int status = 0;
    waitpid(child, &status, 0);
    gph_progress *progress = NULL;
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    if (CHECK_OK(gph_progress_load(path, NULL, &progress, &world.error), world.error)) {
        CHECK(state_of(progress, 0) == GPH_NODE_DONE);
        CHECK(state_of(progress, 6) != GPH_NODE_DONE); /* the stray one */
        gph_progress_destroy(progress);
    }
    unlink(path);
}

static void one_file_is_one_boards(void)
{
    gph_sentinel_options options = GPH_SENTINEL_OPTIONS_INIT;
    gph_sentinel *first = board(1, path), *second = NULL;
    options.path = path;
    CHECK(gph_sentinel_create(world.runtime, &options, &second, &world.error) ==
          GPH_E_STATE);
    gph_sentinel_destroy(first);
    second = board(1, path);
    gph_sentinel_destroy(second);
    unlink(path);
    options.path = "/nowhere/at/all";
    CHECK(gph_sentinel_create(world.runtime, &options, &second, &world.error) ==
          GPH_E_IO);
    options.path = NULL;
    options.bytes = 1;
    CHECK(gph_sentinel_create(world.runtime, &options, &second, &world.error) ==
          GPH_E_INVALID);
}

int main(void)
{
    /* Before this process uses the driver. */
    RUN(a_killed_process_has_left_its_file);
    RUN(its_nodes_have_region_and_place);
    RUN(a_file_that_nobody_wrote_does_no_harm);
    RUN(an_error_leaves_what_was_reached);
    const int code = world_open();
    if (code != 0)
        return code;
    load();
    RUN(the_node_that_hangs_is_named);
    RUN(launches_in_a_queue_are_kept_apart);
    RUN(borders_of_regions_have_them);
    RUN(the_graph_stays_the_programs);
    RUN(an_update_takes_them_along);
    RUN(a_refused_update_leaves_all);
    RUN(what_cannot_have_them_is_refused);
    RUN(odd_graphs_have_what_they_can);
    RUN(one_file_is_one_boards);
    gph_close(world.runtime);
    return test_done();
}
