// SPDX-License-Identifier: Apache-2.0
/* What graphs cost in memory: the bytes of a node, and that updates and new executables do not
 * add to them. Of malloc, so not where a sanitizer replaces it. */
#include <malloc.h>

#include "conformance/driver.h"
#include "conformance/kernels.h"

enum { NODES = 4000, BYTES_A_NODE = 1000, ROUNDS = 20 };

static CUfunction store;
static CUdeviceptr words;

static size_t used(void)
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static bool is_counted(void)
{
    const size_t before = used();
    void *volatile block = malloc(4096);
    const bool counts = used() > before;
    free(block);
    return counts;
}

/* The first `changed` kernels have `value`. */
static CUgraph chain(unsigned value, unsigned changed, unsigned count)
{
    CUgraph graph;
    CUgraphNode node = NULL;
    OK(cu.cuGraphCreate(&graph, 0));
    for (unsigned i = 0; i < count; i++) {
        unsigned own = i < changed ? value : 0;
        void *arguments[] = {&words, &own};
        const CUDA_KERNEL_NODE_PARAMS params = one_thread(store, arguments);
        OK(cu.cuGraphAddKernelNode(&node, graph, i ? &node : NULL, i != 0, &params));
    }
    return graph;
}

static void a_node_has_a_thousand_bytes_at_most(void)
{
    CUgraphExec exec;
    if (!is_counted())
        SKIP("malloc's bytes are not counted");
    const size_t before = used();
    CUgraph graph = chain(0, 0, NODES);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    const size_t bytes = (used() - before) / NODES;
    if (!CHECK(bytes > 0 && bytes <= BYTES_A_NODE))
        fprintf(stderr, "  %zu bytes a node\n", bytes);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

/* Updates of all nodes, of half and of one, in turn; and executables. */
static void updates_and_executables_add_nothing(void)
{
    static const unsigned changed[] = {NODES, NODES / 2, 1};
    CUgraph graphs[4];
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo info;
    size_t settled = 0;
    if (!is_counted())
        SKIP("malloc's bytes are not counted");
    graphs[0] = chain(0, 0, NODES);
    for (unsigned i = 0; i < 3; i++)
        graphs[i + 1] = chain(i + 1, changed[i], NODES);
    for (unsigned round = 0; round < ROUNDS; round++) {
        OK(cu.cuGraphInstantiateWithFlags(&exec, graphs[0], 0));
        for (unsigned i = 0; i < 12; i++)
            OK(cu.cuGraphExecUpdate(exec, graphs[i * 7 % 4], &info));
        OK(cu.cuGraphExecDestroy(exec));
        if (round == ROUNDS / 2)
            settled = used();
    }
    if (!CHECK(used() <= settled + NODES))
        fprintf(stderr, "  %zu bytes, %zu after half of the rounds\n", used(), settled);
    for (unsigned i = 0; i < 4; i++)
        OK(cu.cuGraphDestroy(graphs[i]));
}

int main(void)
{
    DRIVER_OR_SKIP();
    CUmodule module;
    CUgraph graph;
    CUgraphExec exec;
    OK(cu.cuInit(0));
    use_primary();
    OK(cu.cuModuleLoadData(&module, kernels_ptx));
    OK(cu.cuModuleGetFunction(&store, module, "store"));
    OK(cu.cuMemAlloc(&words, 4096));
    /* The code is made, and the table of handles grows; nothing large is given back. */
    OK(cu.cuGraphDestroy(chain(0, 0, NODES)));
    graph = chain(0, 0, 1);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    RUN(a_node_has_a_thousand_bytes_at_most);
    RUN(updates_and_executables_add_nothing);
    return test_done();
}
