// SPDX-License-Identifier: Apache-2.0
/* What never ends on the device is ended by SOFTCUDA_GRAPH_TIMEOUT_MS, whatever its shape, and
 * counted: each in a context of its own, which is over then. */
#include "conformance/rules/device_kernels.h"
#include <time.h>

enum { LIMIT_MS = 300 };

static char said[4096];

static void listen(void *unused, CUlogLevel level, char *message, size_t length)
{
    (void)unused, (void)level;
    if (strlen(said) + length < sizeof(said))
        strncat(said, message, length);
}

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static CUgraph conditional(CUgraph graph, CUgraph top, CUgraphConditionalNodeType type,
                           unsigned value)
{
    CUgraphConditionalHandle handle = 0;
    CUgraphNode node;
    OK(cu.cuGraphConditionalHandleCreate(&handle, top, context, value,
                                         CU_GRAPH_COND_ASSIGN_DEFAULT));
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = 1;
    params.conditional.ctx = context;
    OK(cu.cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    return params.conditional.phGraph_out[0];
}

/* It adds to a word; marks() would fill its log. */
static CUgraphNode works(CUgraph graph)
{
    CUdeviceptr sum = answer + 768;
    void *args[] = {&sum};
    return node_behind(graph, NULL, "blocks", args);
}

static void naps(CUgraph graph, CUgraphNode before, unsigned ms)
{
    unsigned rounds = ms * 15; /* of some 60 us */
    void *args[] = {&rounds};
    node_behind(graph, before, "nap", args);
}

/* What was counted; 0: nothing was said of it. It ended by the limit, and not long after. */
static unsigned long long counted(CUgraphExec exec, const char *before, const char *form)
{
    unsigned long long count = 0;
    said[0] = 0;
    const uint64_t from = now_ms();
    OK(cu.cuGraphLaunch(exec, stream));
    CHECK(cu.cuStreamSynchronize(stream) == CUDA_ERROR_LAUNCH_TIMEOUT);
    const uint64_t took = now_ms() - from;
    if (!CHECK(took >= LIMIT_MS && took < LIMIT_MS + 2000))
        fprintf(stderr, "%llu ms\n", (unsigned long long)took);
    const char *has = strstr(said, before);
    if (!CHECK(has != NULL && sscanf(has, form, &count) == 1))
        fprintf(stderr, "said: %s\n", said);
    return count;
}
#define ROUNDS(exec) counted(exec, " has run ", " has run %llu rounds")
#define LAUNCHES(exec) counted(exec, "have launched ", "have launched %llu graphs")

static void a_loop(void)
{
    CUgraph graph = new_graph();
    works(conditional(graph, graph, CU_GRAPH_COND_TYPE_WHILE, 1));
    CHECK(ROUNDS(instantiate(graph)) > 1000);
}

static void a_loop_without_nodes(void)
{
    CUgraph graph = new_graph();
    (void)conditional(graph, graph, CU_GRAPH_COND_TYPE_WHILE, 1);
    CHECK(ROUNDS(instantiate(graph)) > 1000);
}

/* Its rounds take a tenth of the limit: the clock is not looked at each 64th alone. */
static void a_loop_of_slow_rounds(void)
{
    CUgraph graph = new_graph();
    naps(conditional(graph, graph, CU_GRAPH_COND_TYPE_WHILE, 1), NULL, LIMIT_MS / 10);
    const unsigned long long rounds = ROUNDS(instantiate(graph));
    CHECK(rounds >= 1 && rounds <= 12);
}

static void a_loop_in_a_loop_and_a_branch(void)
{
    CUgraph graph = new_graph();
    CUgraph outer = conditional(graph, graph, CU_GRAPH_COND_TYPE_WHILE, 1);
    CUgraph branch = conditional(outer, outer, CU_GRAPH_COND_TYPE_IF, 1);
    works(conditional(branch, branch, CU_GRAPH_COND_TYPE_WHILE, 1));
    CHECK(ROUNDS(instantiate(graph)) > 1000);
}

/* The inner one ends at once, the outer one never. */
static void a_loop_around_others(void)
{
    CUgraph graph = new_graph();
    CUgraph outer = conditional(graph, graph, CU_GRAPH_COND_TYPE_WHILE, 1);
    works(conditional(outer, outer, CU_GRAPH_COND_TYPE_WHILE, 0));
    works(outer);
    CHECK(ROUNDS(instantiate(graph)) > 1000);
}

static CUgraphExec again_after(unsigned nap_ms)
{
    CUgraph graph = new_graph();
    CUgraphNode first = works(graph);
    void *args[] = {&word, &answer};
    if (nap_ms > 0)
        naps(graph, first, nap_ms);
    node_behind(graph, first, "again", args);
    OK(cu.cuMemsetD32(word, UINT32_MAX, 1));
    OK(cu.cuCtxSynchronize());
    return uploaded(graph);
}

static void a_tail_of_its_own(void)
{
    CHECK(LAUNCHES(again_after(0)) > 1000);
}

static void a_slow_tail_of_its_own(void)
{
    const unsigned long long launches = LAUNCHES(again_after(LIMIT_MS / 10));
    CHECK(launches >= 1 && launches <= 12);
}

/* The graph of the host ends at once, and one that it fired goes on forever. */
static void a_tail_of_what_was_fired(void)
{
    CUgraphExec exec = again_after(0);
    CUgraph graph = new_graph();
    fires(graph, NULL, exec, FORGET, 1);
    CHECK(LAUNCHES(instantiate(graph)) > 1000);
}

/* Two graphs that launch each other into the tail. */
static void tails_in_turn(void)
{
    CUdeviceptr list = answer + 256, out = answer + 512;
    unsigned one = 1;
    uint64_t where = TAIL;
    CUgraphExec execs[2];
    for (unsigned i = 0; i < 2; i++) {
        CUdeviceptr other = list + 8 * (1 - i);
        void *args[] = {&other, &one, &where, &out};
        CUgraph graph = new_graph();
        node_behind(graph, NULL, "fire_all", args);
        execs[i] = uploaded(graph);
    }
    OK(cu.cuMemcpyHtoD(list, execs, sizeof(execs)));
    OK(cu.cuCtxSynchronize());
    CHECK(LAUNCHES(execs[0]) > 1000);
}

static void in_its_own_context(void (*test)(void), const char *name)
{
    CUcontext own = NULL;
    OK(cu.cuCtxCreate(&own, NULL, 0, 0));
    set_up();
    test_run(name, test);
    (void)cu.cuCtxDestroy(own);
}
#define OWN(test) in_its_own_context(test, #test)

int main(void)
{
    setenv("SOFTCUDA_GRAPH_TIMEOUT_MS", "300", 1);
    setenv("SOFTCUDA_WORKERS", "4", 0);
    DEVICE_OR_SKIP();
    if (!driver_is_soft) {
        printf("a GPU has no such limit\n");
        return 77;
    }
    CUlogsCallbackHandle handle;
    OK(cu.cuLogsRegisterCallback(listen, NULL, &handle));
    OWN(a_loop);
    OWN(a_loop_without_nodes);
    OWN(a_loop_of_slow_rounds);
    OWN(a_loop_in_a_loop_and_a_branch);
    OWN(a_loop_around_others);
    OWN(a_tail_of_its_own);
    OWN(a_slow_tail_of_its_own);
    OWN(a_tail_of_what_was_fired);
    OWN(tails_in_turn);
    OK(cu.cuLogsUnregisterCallback(handle));
    return test_done();
}
