// SPDX-License-Identifier: Apache-2.0
/* SOFTCUDA_SCHEDULE_SEED: a random graph of kernels and host functions takes another
 * legal order for another seed and in another launch, and with one worker the same one
 * for the same seed. Each case is a child process, since settings are read once. */
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/driver.h"
#include "conformance/kernels.h"

enum { NODES = 40, LAUNCHES = 3, EDGES_MOST = 3 };

/* note(unsigned *count, unsigned *order, unsigned node): order[(*count)++] = node */
static const char note_ptx[] =
    PTX_HEAD ".visible .entry note(.param .u64 c, .param .u64 o, .param .u32 n)\n"
             "{\n"
             "  .reg .b32 %r<3>; .reg .b64 %d<5>;\n"
             "  ld.param.u64 %d1, [c]; ld.param.u64 %d2, [o]; ld.param.u32 %r1, [n];\n"
             "  atom.global.add.u32 %r2, [%d1], 1;\n"
             "  mul.wide.u32 %d3, %r2, 4; add.s64 %d4, %d2, %d3;\n"
             "  st.global.u32 [%d4], %r1;\n"
             "  ret;\n"
             "}\n";

typedef struct orders {
    uint32_t launch[LAUNCHES][NODES];
} orders;

static struct shared {
    atomic_uint count;
    uint32_t order[NODES];
} * shared; /* pinned */

static uint32_t node_numbers[NODES];

static void CUDAAPI note_host(void *node)
{
    shared->order[atomic_fetch_add(&shared->count, 1)] = *(const uint32_t *)node;
}

static uint64_t state;
static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* before[i] has bit j: node i depends on node j. */
static uint64_t before[NODES];

static CUgraph random_graph(CUfunction note)
{
    CUgraph graph = NULL;
    CUgraphNode nodes[NODES];
    OK(cu.cuGraphCreate(&graph, 0));
    state = 2026;
    for (uint32_t i = 0; i < NODES; i++) {
        CUgraphNode after[EDGES_MOST];
        before[i] = 0;
        size_t count = 0;
        for (uint32_t e = i == 0 ? 0 : draw(EDGES_MOST + 1); e > 0; e--) {
            const uint32_t from = draw(i);
            if ((before[i] >> from & 1) == 0)
                after[count++] = nodes[from];
            before[i] |= UINT64_C(1) << from;
        }
        node_numbers[i] = i;
        CUdeviceptr at = (CUdeviceptr)(uintptr_t)&shared->count;
        CUdeviceptr order = (CUdeviceptr)(uintptr_t)shared->order;
        void *params[] = {&at, &order, &node_numbers[i]};
        const CUDA_KERNEL_NODE_PARAMS kernel = one_thread(note, params);
        const CUDA_HOST_NODE_PARAMS host = {.fn = note_host,
                                            .userData = &node_numbers[i]};
        if (draw(4) == 0)
            OK(cu.cuGraphAddHostNode(&nodes[i], graph, after, count, &host));
        else
            OK(cu.cuGraphAddKernelNode(&nodes[i], graph, after, count, &kernel));
    }
    return graph;
}

static bool is_legal(const uint32_t *order)
{
    uint64_t seen = 0;
    for (uint32_t i = 0; i < NODES; i++) {
        if (order[i] >= NODES || (seen >> order[i] & 1) != 0 ||
            (before[order[i]] & ~seen) != 0)
            return false;
        seen |= UINT64_C(1) << order[i];
    }
    return true;
}

/* In a child: launches the graph and keeps the orders. */
static bool launch(orders *out)
{
    CUmodule module;
    CUfunction note;
    CUgraphExec exec;
    OK(cu.cuInit(0));
    use_primary();
    OK(cu.cuModuleLoadData(&module, note_ptx));
    OK(cu.cuModuleGetFunction(&note, module, "note"));
    OK(cu.cuMemAllocHost((void **)&shared, sizeof(*shared)));
    CUgraph graph = random_graph(note);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    bool legal = true;
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        atomic_store(&shared->count, 0);
        OK(cu.cuGraphLaunch(exec, NULL));
        OK(cu.cuCtxSynchronize());
        legal = legal && atomic_load(&shared->count) == NODES && is_legal(shared->order);
        memcpy(out->launch[i], shared->order, sizeof(shared->order));
    }
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    return legal && atomic_load(&test_failures) == 0;
}

/* The orders of a child with these settings; false if one of them was not legal. */
static bool orders_of(const char *workers, const char *seed, orders *out)
{
    int ends[2], ended = -1;
    if (pipe(ends) != 0)
        return false;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        orders mine = {0};
        const char *why;
        setenv("SOFTCUDA_WORKERS", workers, 1);
        setenv("SOFTCUDA_SCHEDULE_SEED", seed, 1);
        const bool legal = driver_load(SOFTCUDA_PATH, &why) && launch(&mine);
        const bool sent = write(ends[1], &mine, sizeof(mine)) == sizeof(mine);
        exit(legal && sent ? 0 : 1);
    }
    close(ends[1]);
    const bool got = read(ends[0], out, sizeof(*out)) == sizeof(*out);
    close(ends[0]);
    return waitpid(child, &ended, 0) == child && WIFEXITED(ended) &&
           WEXITSTATUS(ended) == 0 && got;
}

static bool same(const uint32_t *a, const uint32_t *b)
{
    return memcmp(a, b, NODES * sizeof(*a)) == 0;
}

static void one_worker_repeats_what_a_seed_says(void)
{
    orders a, b;
    CHECK(orders_of("1", "5", &a) && orders_of("1", "5", &b));
    CHECK(memcmp(&a, &b, sizeof(a)) == 0);
    CHECK(!same(a.launch[0], a.launch[1]) && !same(a.launch[1], a.launch[2]));
    CHECK(orders_of("1", "6", &b));
    CHECK(!same(a.launch[0], b.launch[0]));
}

static void every_order_is_legal_and_seeds_differ(void)
{
    static const char *const workers[] = {"1", "2", "3", "4", "5", "6", "7", "8"};
    static const char *const seeds[] = {"1", "2", "77", "4000000000"};
    orders first, other;
    for (int w = 0; w < 8; w++) {
        CHECK(orders_of(workers[w], seeds[w % 4], &first));
        CHECK(orders_of(workers[w], seeds[(w + 1) % 4], &other));
        CHECK(!same(first.launch[0], other.launch[0]));
    }
}

static void without_a_seed_a_launch_is_like_the_one_before(void)
{
    orders a;
    CHECK(orders_of("1", "0", &a));
    CHECK(same(a.launch[0], a.launch[1]) && same(a.launch[1], a.launch[2]));
}

int main(void)
{
    if (getenv("GPH_DRIVER") != NULL && strcmp(getenv("GPH_DRIVER"), "cuda") == 0) {
        printf("settings of softcuda\n");
        return 77;
    }
    RUN(one_worker_repeats_what_a_seed_says);
    RUN(every_order_is_legal_and_seeds_differ);
    RUN(without_a_seed_a_launch_is_like_the_one_before);
    return test_done();
}
