// SPDX-License-Identifier: Apache-2.0
/* SOFTCUDA_CHECK=race: two nodes of one launch that touch the same byte, one of them
 * writing, without a path of dependencies between them, are named; nothing else is. */
#include "race_graphs.h"

/* ---- warps ---- */

#define WARP_HEAD(name)                                                                  \
    ".visible .entry " name "(.param .u64 out)\n{\n.reg .b32 %r<8>;\n"                   \
    ".shared .align 4 .b8 v_" name "[512];\n"                                            \
    "mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, v_" name                     \
    "; add.u32 %r3, %r2, %r1; mov.u32 %r4, 1;\n"                                         \
    "st.volatile.shared.u32 [%r3], %r4;\n"

/* Each lane stores; then it loads another's word: at once, after a barrier of its warp, of its
 * block; its own. */
static const char
    warps_ptx[] = ".version 8.0\n.target sm_70\n.address_size 64\n" WARP_HEAD("at_once") "ld.volatile.shared.u32 %r5, [%r3+64];\nret;\n}\n" WARP_HEAD(
        "after_warp") "bar.warp.sync 0xffffffff;\nld.volatile.shared.u32 %r5, "
                      "[%r3+64];\nret;\n}\n" WARP_HEAD("after_block") "bar.sync "
                                                                      "0;\nld.volatile."
                                                                      "shared.u32 %r5, "
                                                                      "[%r3+64];\nret;\n}"
                                                                      "\n" WARP_HEAD(
                                                                          "its_own") "ld."
                                                                                     "vol"
                                                                                     "ati"
                                                                                     "le."
                                                                                     "sha"
                                                                                     "red"
                                                                                     ".u3"
                                                                                     "2 "
                                                                                     "%r5"
                                                                                     ", "
                                                                                     "[%"
                                                                                     "r3]"
                                                                                     ";\n"
                                                                                     "ret"
                                                                                     ";\n"
                                                                                     "}"
                                                                                     "\n";

static void warps_without_a_barrier_are_reported(void)
{
    static const struct {
        const char *name;
        bool reported;
    } cases[] = {{"at_once", true},
                 {"after_warp", false},
                 {"after_block", false},
                 {"its_own", false}};
    CUmodule warps;
    CUfunction function;
    CUdeviceptr out = 0;
    void *params[] = {&out};
    OK(cu.cuModuleLoadData(&warps, warps_ptx));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        OK(cu.cuModuleGetFunction(&function, warps, cases[i].name));
        for (int again = 0; again < 2; again++) { /* once each kernel */
            log_text[0] = '\0';
            OK(cu.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
            OK(cu.cuCtxSynchronize());
            const char *has = strstr(log_text, "warp without a barrier: kernel ");
            CHECK((has != NULL) == (cases[i].reported && !again));
            CHECK(!has ||
                  (strstr(has, cases[i].name) && strstr(has, "(line 9 of the PTX)") &&
                   strstr(has, "(line 10)")));
        }
    }
    OK(cu.cuModuleUnload(warps));
}

/* ---- pairs ---- */

static const bool writes[KINDS] = {
    [WR] = true, [AT] = true, [VW] = true, [FILL] = true, [TO] = true, [SET] = true};
static const bool strong[KINDS] = {
    [AT] = true, [VW] = true, [VR] = true, [SET] = true, [AWAIT] = true};
static const place whole_too = {0, 1000, 1};

static bool race(kind a, kind b)
{
    return (writes[a] || writes[b]) && !(strong[a] && strong[b]);
}

static void expect(const char *how, kind a, kind b, bool expected)
{
    const uint32_t count = reports();
    if (!CHECK(count == (expected ? 1u : 0u)))
        fprintf(stderr, "%s, %s and %s: %u reports\n%s", how, names[a], names[b], count,
                log_text);
}

static void every_pair_of_kinds_unordered(void)
{
    for (kind a = 0; a < KINDS; a++)
        for (kind b = 0; b < KINDS; b++) {
            CUgraph graph;
            OK(cu.cuGraphCreate(&graph, 0));
            add(graph, a, whole, NULL, 0);
            add(graph, b, whole_too, NULL, 0);
            launch(graph, 2);
            expect("unordered", a, b, race(a, b));
            OK(cu.cuGraphDestroy(graph));
        }
}

static void no_pair_that_is_ordered(void)
{
    for (kind a = 0; a < KINDS; a++)
        for (kind b = 0; b < KINDS; b++) {
            CUgraph graph;
            CUgraphNode first, empty;
            OK(cu.cuGraphCreate(&graph, 0));
            first = add(graph, a, whole, NULL, 0);
            OK(cu.cuGraphAddEmptyNode(&empty, graph, &first, 1));
            add(graph, b, whole_too, &empty, 1);
            /* Somebody that nobody is ordered with, so that all is watched. */
            add(graph, RD, (place){1010, 1, 2}, NULL, 0);
            launch(graph, 1);
            expect("ordered", a, b, false);
            OK(cu.cuGraphDestroy(graph));
        }
}

static void no_pair_on_different_bytes(void)
{
    for (kind a = 0; a < KINDS; a++)
        for (kind b = 0; b < KINDS; b++) {
            CUgraph graph;
            OK(cu.cuGraphCreate(&graph, 0));
            add(graph, a, lower, NULL, 0);
            add(graph, b, upper, NULL, 0);
            launch(graph, 1);
            expect("side by side", a, b, false);
            OK(cu.cuGraphDestroy(graph));
        }
}

/* Inside a child graph is inside the launch. */
static void pairs_across_child_graphs(void)
{
    for (int ordered = 0; ordered < 2; ordered++)
        for (kind a = 0; a < KINDS; a++) {
            CUgraph graph, inner;
            CUgraphNode first, child;
            OK(cu.cuGraphCreate(&graph, 0));
            OK(cu.cuGraphCreate(&inner, 0));
            add(inner, WR, whole_too, NULL, 0);
            first = add(graph, a, whole, NULL, 0);
            OK(cu.cuGraphAddChildGraphNode(&child, graph, &first, (size_t)ordered,
                                           inner));
            launch(graph, 1);
            expect("across a child graph", a, WR, !ordered);
            OK(cu.cuGraphDestroy(graph));
            OK(cu.cuGraphDestroy(inner));
        }
}

static void captured_forks_too(void)
{
    for (int joined = 0; joined < 2; joined++) {
        CUstream a, b;
        CUevent fork, join;
        CUgraph graph;
        OK(cu.cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
        OK(cu.cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
        OK(cu.cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
        OK(cu.cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
        OK(cu.cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
        OK(cu.cuEventRecord(fork, a));
        OK(cu.cuStreamWaitEvent(b, fork, 0));
        OK(cu.cuMemsetD32Async(buffer, 1, WORDS, b));
        OK(cu.cuEventRecord(join, b));
        if (joined)
            OK(cu.cuStreamWaitEvent(a, join, 0));
        OK(cu.cuMemsetD32Async(buffer, 2, WORDS, a));
        if (!joined)
            OK(cu.cuStreamWaitEvent(a, join, 0));
        OK(cu.cuStreamEndCapture(a, &graph));
        launch(graph, 1);
        expect(joined ? "joined" : "forked", FILL, FILL, !joined);
        OK(cu.cuGraphDestroy(graph));
        OK(cu.cuEventDestroy(fork));
        OK(cu.cuEventDestroy(join));
        OK(cu.cuStreamDestroy(a));
        OK(cu.cuStreamDestroy(b));
    }
}

/* ---- the sentences ---- */

static void a_report_names_both_accesses(void)
{
    CUgraph graph;
    char sentence[800];
    OK(cu.cuGraphCreate(&graph, 0));
    CUgraphNode writer = add(graph, WR, (place){100, 100, 0}, NULL, 0);
    CUgraphNode reader = add(graph, RD, (place){170, 10, 1}, NULL, 0);
    CUgraphNode fill = add(graph, FILL, (place){199, 1, 1}, &reader, 1);
    launch(graph, 3);
    const unsigned long long ids[3] = {id_of(graph, writer), id_of(graph, reader),
                                       id_of(graph, fill)};
    CHECK(reports() == 2);
    snprintf(sentence, sizeof(sentence),
             "race: kernel wr (node %llu) writes 4 bytes (line 13 of the PTX) and kernel "
             "rd (node %llu) reads 4 bytes (line 26 of the PTX, block [0,0,0], thread "
             "[0,0,0]) at 0x%llx, 680 bytes into the allocation of 4096 bytes at 0x%llx; "
             "no path of dependencies orders them\n",
             ids[0], ids[1], (unsigned long long)buffer + 680,
             (unsigned long long)buffer);
    CHECK(said(sentence));
    snprintf(sentence, sizeof(sentence),
             "race: kernel wr (node %llu) writes 4 bytes (line 13 of the PTX) and memset "
             "(node %llu) writes at 0x%llx, 796 bytes into the allocation of 4096 bytes "
             "at 0x%llx; no path of dependencies orders them\n",
             ids[0], ids[2], (unsigned long long)buffer + 796,
             (unsigned long long)buffer);
    CHECK(said(sentence));
    OK(cu.cuGraphDestroy(graph));
}

static void a_report_names_threads_where_it_is_sure(void)
{
    CUgraph graph;
    OK(cu.cuGraphCreate(&graph, 0));
    add(graph, AT, (place){0, 200, 0}, NULL, 0);
    add(graph, WR, (place){64, 100, 0}, NULL, 0);
    launch(graph, 1);
    CHECK(said("kernel at (node "));
    CHECK(said("atomically writes 4 bytes (line 39 of the PTX, block [1,0,0], thread "
               "[0,0,0]) and kernel wr (node "));
    CHECK(said("writes 4 bytes (line 13 of the PTX, block [0,0,0], thread [0,0,0]) at "));
    OK(cu.cuGraphDestroy(graph));
}

static void pinned_host_memory_is_watched(void)
{
    CUgraph graph;
    void *host;
    const CUdeviceptr keep = buffer;
    OK(cu.cuMemAllocHost(&host, 4 * WORDS));
    buffer = (CUdeviceptr)(uintptr_t)host;
    OK(cu.cuGraphCreate(&graph, 0));
    add(graph, WR, whole, NULL, 0);
    add(graph, RD, whole_too, NULL, 0);
    launch(graph, 1);
    CHECK(reports() == 1 && said("0 bytes into the host memory of 4096 bytes at 0x"));
    OK(cu.cuGraphDestroy(graph));
    buffer = keep;
    OK(cu.cuMemFreeHost(host));
}

/* ---- edits ---- */

static void edits_are_watched(void)
{
    CUgraph graph;
    CUgraphExec exec;
    CUcontext context;
    OK(cu.cuCtxGetCurrent(&context));
    OK(cu.cuGraphCreate(&graph, 0));
    add(graph, WR, lower, NULL, 0);
    CUgraphNode fill = add(graph, FILL, upper, NULL, 0);
    log_text[0] = '\0';
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuCtxSynchronize());
    CHECK(reports() == 0);
    CUDA_MEMSET_NODE_PARAMS params;
    OK(cu.cuGraphMemsetNodeGetParams(fill, &params));
    params.dst = buffer;
    if (cu.cuGraphExecMemsetNodeSetParams(exec, fill, &params, context) == CUDA_SUCCESS) {
        OK(cu.cuGraphLaunch(exec, NULL));
        OK(cu.cuCtxSynchronize());
        CHECK(reports() == 1);
    }
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

/* ---- random graphs ---- */

enum { NODES_MAX = 16, GRAPHS = 220 };
static uint64_t random_state;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % n;
}

/* What is expected: leaves are nodes that touch memory, in a child graph or not. */
typedef struct plan {
    uint32_t count; /* nodes, and entries and exits of child graphs */
    bool above[3 * NODES_MAX][3 * NODES_MAX];
    bool is_leaf[3 * NODES_MAX];
    kind kinds[3 * NODES_MAX];
    place places[3 * NODES_MAX];
    unsigned long long ids[3 * NODES_MAX];
} plan;

static void close_paths(plan *p)
{
    for (uint32_t k = 0; k < p->count; k++)
        for (uint32_t i = 0; i < p->count; i++)
            for (uint32_t j = 0; j < p->count; j++)
                p->above[i][j] |= p->above[i][k] && p->above[k][j];
}

static bool overlap(const place *a, const place *b)
{
    return a->first < b->first + b->count && b->first < a->first + a->count;
}

static bool expected_race(const plan *p, uint32_t a, uint32_t b)
{
    return p->is_leaf[a] && p->is_leaf[b] && !p->above[a][b] && !p->above[b][a] &&
           race(p->kinds[a], p->kinds[b]) && overlap(&p->places[a], &p->places[b]);
}

static uint32_t plan_leaf(plan *p)
{
    const uint32_t at = p->count++;
    p->is_leaf[at] = true;
    p->kinds[at] = (kind)random_below(KINDS);
    const bool one_word = p->kinds[at] == SET || p->kinds[at] == AWAIT;
    p->places[at] =
        (place){random_below(WORDS - 200), one_word ? 1 : 1 + random_below(200), at};
    return at;
}

/* A child graph of two leaves, in order or not. Returns its entry; the exit follows. */
static uint32_t add_child(plan *p, CUgraph graph, const CUgraphNode *deps, size_t count,
                          CUgraphNode *out)
{
    CUgraph inner, own;
    CUgraphNode nodes[2];
    size_t node_count = 2;
    const uint32_t entry = p->count, leave = p->count + 1;
    const bool chained = random_below(2) != 0;
    p->count += 2;
    OK(cu.cuGraphCreate(&inner, 0));
    uint32_t leaves[2];
    for (int i = 0; i < 2; i++) {
        leaves[i] = plan_leaf(p);
        nodes[i] = add(inner, p->kinds[leaves[i]], p->places[leaves[i]], nodes,
                       i == 1 && chained);
        p->above[leaves[i]][entry] = p->above[leave][leaves[i]] = true;
    }
    p->above[leaves[1]][leaves[0]] = chained;
    p->above[leave][entry] = true;
    OK(cu.cuGraphAddChildGraphNode(out, graph, deps, count, inner));
    OK(cu.cuGraphDestroy(inner));
    OK(cu.cuGraphChildGraphNodeGetGraph(*out, &own));
    OK(cu.cuGraphGetNodes(own, nodes, &node_count));
    for (int i = 0; i < 2; i++)
        p->ids[leaves[i]] = id_of(own, nodes[i]);
    return entry;
}

static void build_random(plan *p, CUgraph graph)
{
    CUgraphNode nodes[NODES_MAX], deps[NODES_MAX];
    uint32_t in[NODES_MAX], out[NODES_MAX];
    const uint32_t count = 2 + random_below(NODES_MAX - 4), density = random_below(5);
    for (uint32_t i = 0; i < count; i++) {
        size_t dep_count = 0;
        uint32_t from[NODES_MAX];
        for (uint32_t k = 0; k < i; k++)
            if (random_below(10) < density) {
                from[dep_count] = out[k];
                deps[dep_count++] = nodes[k];
            }
        if (random_below(8) == 0) {
            in[i] = add_child(p, graph, deps, dep_count, &nodes[i]);
            out[i] = in[i] + 1;
        } else if (random_below(8) == 0) {
            in[i] = out[i] = p->count++;
            OK(cu.cuGraphAddEmptyNode(&nodes[i], graph, deps, dep_count));
        } else {
            in[i] = out[i] = plan_leaf(p);
            nodes[i] = add(graph, p->kinds[in[i]], p->places[in[i]], deps, dep_count);
            p->ids[in[i]] = id_of(graph, nodes[i]);
        }
        for (size_t k = 0; k < dep_count; k++)
            p->above[in[i]][from[k]] = true;
    }
    close_paths(p);
}

/* The pairs of the log, each one expected; and as many as are. */
static bool log_agrees(const plan *p)
{
    uint32_t expected = 0, seen = 0;
    for (uint32_t a = 0; a < p->count; a++)
        for (uint32_t b = a + 1; b < p->count; b++)
            expected += expected_race(p, a, b);
    for (const char *at = log_text; (at = strstr(at, "race: ")) != NULL; seen++) {
        unsigned long long ids[2] = {0, 0};
        const char *end = strchr(at, '\n');
        for (int i = 0; i < 2 && (at = strstr(at, "(node ")) != NULL && at < end; i++)
            ids[i] = strtoull(at += 6, NULL, 10);
        bool found = false;
        for (uint32_t a = 0; a < p->count; a++)
            for (uint32_t b = 0; b < p->count; b++)
                found |= p->ids[a] == ids[0] && p->ids[b] == ids[1] && ids[0] != 0 &&
                         expected_race(p, a, b);
        if (!found || at == NULL)
            return false;
    }
    return seen == expected;
}

static void random_graphs_give_just_their_races(void)
{
    uint32_t all = 0, silent = 0;
    for (uint32_t seed = 1; seed <= GRAPHS; seed++) {
        static plan p;
        CUgraph graph;
        random_state = seed * 2654435761u;
        memset(&p, 0, sizeof(p));
        OK(cu.cuGraphCreate(&graph, 0));
        build_random(&p, graph);
        launch(graph, 1 + (int)random_below(3));
        if (!CHECK(log_agrees(&p)))
            fprintf(stderr, "seed %u: %s", seed, log_text);
        all += reports();
        silent += reports() == 0;
        OK(cu.cuGraphDestroy(graph));
    }
    CHECK(all > 500 && silent > 10);
}

/* ---- what a finding does ---- */

static const char *self;

static int race_once(void)
{
    CUgraph graph;
    CUgraphExec exec;
    OK(cu.cuGraphCreate(&graph, 0));
    add(graph, WR, whole, NULL, 0);
    add(graph, FILL, whole_too, NULL, 0);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, NULL));
    return (int)cu.cuCtxSynchronize();
}

/* Runs this program again; the exit code, and whether stderr had the text. */
static int again(const char *setting, const char *text, bool *heard)
{
    char command[4096], line[1024];
    snprintf(command, sizeof(command), "SOFTCUDA_CHECK=%s exec '%s' once 2>&1", setting,
             self);
    FILE *child = popen(command, "r");
    *heard = false;
    if (!CHECK(child != NULL))
        return -1;
    while (fgets(line, sizeof(line), child) != NULL)
        *heard |= strstr(line, text) != NULL;
    return pclose(child) >> 8;
}

static void a_race_is_told_on_stderr_and_fatal_only_if_asked(void)
{
    bool heard;
    const char *const text = "softcuda: race: kernel wr (node ";
    CHECK(again("race", text, &heard) == 0 && heard);
    CHECK(again("all", text, &heard) == 0 && heard);
    CHECK(again("memory", text, &heard) == 0 && !heard);
    CHECK(again("race,fatal", text, &heard) == (CUDA_ERROR_LAUNCH_FAILED & 0xff) &&
          heard);
}

int main(int argc, char **argv)
{
    self = argv[0];
    const bool once = argc > 1 && strcmp(argv[1], "once") == 0;
    if (!once)
        setenv("SOFTCUDA_CHECK", "race", 1);
    DEVICE_OR_SKIP();
    if (!driver_is_soft) {
        printf("check mode is softcuda's\n");
        return 77;
    }
    use_primary();
    set_up();
    if (once)
        return race_once() & 0xff;
    CUlogsCallbackHandle handle;
    OK(cu.cuLogsRegisterCallback(note, NULL, &handle));

    RUN(warps_without_a_barrier_are_reported);
    RUN(every_pair_of_kinds_unordered);
    RUN(no_pair_that_is_ordered);
    RUN(no_pair_on_different_bytes);
    RUN(pairs_across_child_graphs);
    RUN(captured_forks_too);
    RUN(a_report_names_both_accesses);
    RUN(a_report_names_threads_where_it_is_sure);
    RUN(pinned_host_memory_is_watched);
    RUN(edits_are_watched);
    RUN(random_graphs_give_just_their_races);
    RUN(a_race_is_told_on_stderr_and_fatal_only_if_asked);
    OK(cu.cuLogsUnregisterCallback(handle));
    return test_done();
}
