// SPDX-License-Identifier: Apache-2.0
/* CUDA's rules for threads, kept and broken: graphs and executable graphs that many
 * threads use at once without any order. softcuda orders the calls itself; what NVIDIA's
 * driver would do is undefined, so only softcuda is asked. */
#include <pthread.h>

#include "driver.h"
#include "kernels.h"

enum { ROUNDS = 200 };

static CUcontext context;
static CUfunction store;
static CUdeviceptr memory;
static atomic_int running;

static unsigned values[2] = {1, 2};
static void *arguments[2][2] = {{&memory, &values[0]}, {&memory, &values[1]}};

static CUDA_KERNEL_NODE_PARAMS writes(int variant)
{
    return one_thread(store, arguments[variant]);
}

static CUDA_MEMSET_NODE_PARAMS fills(int variant)
{
    return (CUDA_MEMSET_NODE_PARAMS){.dst = memory + 64,
                                     .value = (unsigned)variant,
                                     .elementSize = 4,
                                     .width = 16,
                                     .height = 1};
}

enum { NODES = 3 };

static CUgraph build(int variant, CUgraphNode nodes[NODES])
{
    CUgraph graph;
    const CUDA_KERNEL_NODE_PARAMS kernel = writes(variant);
    const CUDA_MEMSET_NODE_PARAMS fill = fills(variant);
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddMemsetNode(&nodes[0], graph, NULL, 0, &fill, context));
    OK(cu.cuGraphAddKernelNode(&nodes[1], graph, nodes, 1, &kernel));
    OK(cu.cuGraphAddEmptyNode(&nodes[2], graph, &nodes[1], 1));
    return graph;
}

/* What all threads of a test share. */
static CUgraph graphs[2];
static CUgraphNode nodes[2][NODES];
static CUgraphExec exec;

static void start(void)
{
    for (int i = 0; i < 2; i++)
        graphs[i] = build(i, nodes[i]);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graphs[0], 0));
}

/* After all threads have ended: the objects still work, the word is one of the two. */
static void end(bool has_exec)
{
    unsigned word = 0;
    if (has_exec) {
        CUgraphExecUpdateResultInfo info;
        OK(cu.cuGraphExecUpdate(exec, graphs[1], &info));
        OK(cu.cuGraphNodeSetEnabled(exec, nodes[0][1], 1));
        OK(cu.cuGraphLaunch(exec, NULL));
        OK(cu.cuCtxSynchronize());
        OK(cu.cuMemcpyDtoH(&word, memory, sizeof(word)));
        CHECK(word == values[1]);
        OK(cu.cuGraphExecDestroy(exec));
    }
    OK(cu.cuCtxSynchronize());
    for (int i = 0; i < 2; i++)
        OK(cu.cuGraphDestroy(graphs[i]));
}

/* Either it worked, or the executable graph is gone. */
static bool lives(CUresult result)
{
    CHECK(result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_VALUE);
    return result == CUDA_SUCCESS;
}

/* ---- threads ---- */

static void *launches(void *unused)
{
    CUstream stream;
    (void)unused;
    OK(cu.cuCtxSetCurrent(context));
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < ROUNDS && lives(cu.cuGraphLaunch(exec, stream)); i++)
        if (i % 8 == 0)
            OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuStreamDestroy(stream));
    return NULL;
}

static void *updates(void *unused)
{
    CUgraphExecUpdateResultInfo info;
    (void)unused;
    OK(cu.cuCtxSetCurrent(context));
    for (int i = 0; i < ROUNDS; i++)
        if (!lives(cu.cuGraphExecUpdate(exec, graphs[i % 2], &info)))
            break;
    return NULL;
}

static void *sets(void *unused)
{
    (void)unused;
    OK(cu.cuCtxSetCurrent(context));
    for (int i = 0; i < ROUNDS; i++) {
        const CUDA_KERNEL_NODE_PARAMS kernel = writes(i % 2);
        const CUDA_MEMSET_NODE_PARAMS fill = fills(i % 2);
        unsigned enabled = 7;
        if (!lives(cu.cuGraphExecKernelNodeSetParams(exec, nodes[0][1], &kernel)) ||
            !lives(
                cu.cuGraphExecMemsetNodeSetParams(exec, nodes[0][0], &fill, context)) ||
            !lives(cu.cuGraphNodeSetEnabled(exec, nodes[0][1], i % 3 != 0)) ||
            !lives(cu.cuGraphNodeGetEnabled(exec, nodes[0][1], &enabled)))
            break;
        CHECK(enabled <= 1);
    }
    return NULL;
}

static void *uploads(void *unused)
{
    cuuint64_t flags;
    (void)unused;
    OK(cu.cuCtxSetCurrent(context));
    for (int i = 0; i < ROUNDS; i++)
        if (!lives(cu.cuGraphUpload(exec, CU_STREAM_PER_THREAD)) ||
            !lives(cu.cuGraphExecGetFlags(exec, &flags)))
            break;
    return NULL;
}

/* Two threads add and remove nodes of the graphs that are instantiated and cloned. No
 * edge orders those of one after those of the other: each has a word of its own. */
static void *edits(void *unused)
{
    (void)unused;
    CUdeviceptr own = memory + 1024 + 64 * (CUdeviceptr)atomic_fetch_add(&running, 1);
    OK(cu.cuCtxSetCurrent(context));
    for (int i = 0; i < ROUNDS; i++) {
        CUgraphNode node;
        CUDA_KERNEL_NODE_PARAMS kernel = writes(i % 2);
        void *mine[] = {&own, &values[i % 2]};
        kernel.kernelParams = mine;
        OK(cu.cuGraphAddKernelNode(&node, graphs[0], &nodes[0][1], 1, &kernel));
        OK(cu.cuGraphKernelNodeSetParams(node, &kernel));
        OK(cu.cuGraphAddDependencies(graphs[0], &nodes[0][0], &node, NULL, 1));
        OK(cu.cuGraphDestroyNode(node));
    }
    return NULL;
}

static void *instantiates(void *unused)
{
    (void)unused;
    OK(cu.cuCtxSetCurrent(context));
    for (int i = 0; i < ROUNDS; i++) {
        CUgraph clone;
        CUgraphExec mine;
        size_t count = 0;
        OK(cu.cuGraphClone(&clone, graphs[0]));
        OK(cu.cuGraphGetNodes(clone, NULL, &count));
        CHECK(count >= NODES);
        OK(cu.cuGraphInstantiateWithFlags(&mine, i % 2 ? clone : graphs[0], 0));
        OK(cu.cuGraphLaunch(mine, CU_STREAM_PER_THREAD));
        OK(cu.cuGraphExecDestroy(mine));
        OK(cu.cuGraphDestroy(clone));
    }
    OK(cu.cuStreamSynchronize(CU_STREAM_PER_THREAD));
    return NULL;
}

static void *destroys(void *unused)
{
    (void)unused;
    OK(cu.cuCtxSetCurrent(context));
    while (atomic_load(&running) < 20)
        atomic_fetch_add(&running, 1);
    OK(cu.cuStreamSynchronize(CU_STREAM_PER_THREAD));
    (void)lives(cu.cuGraphExecDestroy(exec));
    return NULL;
}

static void together(void *(*const *bodies)(void *), int count)
{
    pthread_t threads[8];
    atomic_store(&running, 0);
    for (int i = 0; i < count; i++)
        CHECK(pthread_create(&threads[i], NULL, bodies[i], NULL) == 0);
    for (int i = 0; i < count; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

/* ---- tests ---- */

static void one_executable_is_launched_by_many(void)
{
    void *(*const bodies[])(void *) = {launches, launches, launches, uploads};
    start();
    together(bodies, 4);
    end(true);
}

static void one_executable_is_launched_and_edited(void)
{
    void *(*const bodies[])(void *) = {launches, updates, sets, launches, updates, sets};
    start();
    together(bodies, 6);
    end(true);
}

static void one_graph_is_edited_and_instantiated(void)
{
    void *(*const bodies[])(void *) = {edits, instantiates, edits, instantiates};
    start();
    together(bodies, 4);
    end(true);
}

/* Two threads destroy it: one of them is too late. */
static void one_executable_is_destroyed_under_all(void)
{
    void *(*const bodies[])(void *) = {launches, updates, sets,     uploads,
                                       launches, updates, destroys, destroys};
    for (int round = 0; round < 5; round++) {
        start();
        together(bodies, 8);
        end(false);
    }
}

/* ---- places ---- */

static _Atomic(CUgraphExec) shown;
static atomic_bool over;

/* Launches whatever is shown, though it may be gone, and perhaps another one in its place. */
static void *launches_what_is_shown(void *unused)
{
    CUstream stream;
    (void)unused;
    OK(cu.cuCtxSetCurrent(context));
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    while (!atomic_load(&over)) {
        (void)lives(cu.cuGraphLaunch(atomic_load(&shown), stream));
        OK(cu.cuStreamSynchronize(stream));
    }
    OK(cu.cuStreamDestroy(stream));
    return NULL;
}

static void places_are_used_again_under_launches(void)
{
    pthread_t threads[2];
    CUgraphNode node;
    CUgraph graph;
    const CUDA_KERNEL_NODE_PARAMS kernel = writes(0);
    unsigned word = 0, same = 0;
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    atomic_store(&shown, exec);
    atomic_store(&over, false);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, launches_what_is_shown, NULL) == 0);
    for (int i = 0; i < 2000; i++) {
        const CUgraphExec before = exec;
        OK(cu.cuGraphExecDestroy(exec));
        OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
        same += exec == before;
        atomic_store(&shown, exec);
    }
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(same > 0); /* else nothing was asked here */
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuMemcpyDtoH(&word, memory, sizeof(word)));
    CHECK(word == values[0]);
    OK(cu.cuGraphExecDestroy(exec));
    CHECK_IS(cu.cuGraphLaunch(exec, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuGraphDestroy(graph));
}

int main(void)
{
    DEVICE_OR_SKIP();
    if (!driver_is_soft) {
        printf("these threads break CUDA's rules\n");
        return 77;
    }
    CUmodule module;
    use_primary();
    OK(cu.cuCtxGetCurrent(&context));
    OK(cu.cuModuleLoadData(&module, kernels_ptx));
    OK(cu.cuModuleGetFunction(&store, module, "store"));
    OK(cu.cuMemAlloc(&memory, 4096));
    RUN(one_executable_is_launched_by_many);
    RUN(one_executable_is_launched_and_edited);
    RUN(one_graph_is_edited_and_instantiated);
    RUN(one_executable_is_destroyed_under_all);
    RUN(places_are_used_again_under_launches);
    return test_done();
}
