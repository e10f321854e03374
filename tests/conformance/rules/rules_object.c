// SPDX-License-Identifier: Apache-2.0
/* R104-R108: user objects. */
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "graphs.h"

static struct kernels k;
static atomic_int destroyed;
static pthread_t destroyer;
static CUresult called_back;

static void CUDA_CB count_one(void *user)
{
    (void)user;
    destroyer = pthread_self();
    atomic_fetch_add(&destroyed, 1);
}

static CUuserObject new_object(unsigned count)
{
    CUuserObject object = NULL;
    OK(cu.cuUserObjectCreate(&object, &destroyed, count_one, count,
                             CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    return object;
}

/* Destructors run some time later. */
static bool come_to(int wanted)
{
    for (int i = 0; i < 2000 && atomic_load(&destroyed) < wanted; i++)
        usleep(1000);
    return atomic_load(&destroyed) == wanted;
}

static bool stays_at(int wanted)
{
    usleep(20000);
    return atomic_load(&destroyed) == wanted;
}

static void objects_have_a_destructor_and_counts(void)
{
    const unsigned flag = CU_USER_OBJECT_NO_DESTRUCTOR_SYNC;
    CUuserObject object = NULL;
    CUgraph graph = new_graph();
    atomic_store(&destroyed, 0);
    REFUSED(INVALID_VALUE, cu.cuUserObjectCreate(NULL, &destroyed, count_one, 1, flag));
    REFUSED(INVALID_VALUE, cu.cuUserObjectCreate(&object, &destroyed, NULL, 1, flag));
    REFUSED(INVALID_VALUE,
            cu.cuUserObjectCreate(&object, &destroyed, count_one, 0, flag));
    REFUSED(INVALID_VALUE, cu.cuUserObjectCreate(&object, &destroyed, count_one, 1, 0));
    REFUSED(INVALID_VALUE, cu.cuUserObjectCreate(&object, &destroyed, count_one, 1, 2));
    CHECK(object == NULL);
    OK(cu.cuUserObjectCreate(&object, NULL, count_one, 1,
                             flag)); /* any pointer will do */
    const unsigned much = (unsigned)INT_MAX + 1;
    REFUSED(INVALID_VALUE, cu.cuUserObjectRetain(object, 0));
    REFUSED(INVALID_VALUE, cu.cuUserObjectRetain(object, much));
    REFUSED(INVALID_VALUE, cu.cuUserObjectRelease(object, 0));
    REFUSED(INVALID_VALUE, cu.cuUserObjectRelease(object, much));
    REFUSED(INVALID_VALUE, cu.cuUserObjectRetain(NULL, 1));
    REFUSED(INVALID_VALUE, cu.cuUserObjectRelease(NULL, 1));
    REFUSED(INVALID_VALUE, cu.cuGraphRetainUserObject(graph, object, 0, 0));
    REFUSED(INVALID_VALUE, cu.cuGraphRetainUserObject(graph, object, much, 0));
    REFUSED(INVALID_VALUE, cu.cuGraphRetainUserObject(NULL, object, 1, 0));
    REFUSED(INVALID_VALUE, cu.cuGraphRetainUserObject(graph, NULL, 1, 0));
    REFUSED(INVALID_VALUE, cu.cuGraphReleaseUserObject(graph, object, 0));
    OK(cu.cuUserObjectRetain(object, 2));
    OK(cu.cuUserObjectRelease(object, 2));
    CHECK(stays_at(0));
    OK(cu.cuUserObjectRelease(object, 1));
    CHECK(come_to(1));
    OK(cu.cuGraphDestroy(graph));
}

/* Undefined by CUDA; NVIDIA's driver takes the references from somebody else. */
static void nobody_releases_what_he_has_not(void)
{
    if (!driver_is_soft) {
        SKIP("undefined: NVIDIA's driver destroys the object under its holders");
        return;
    }
    atomic_store(&destroyed, 0);
    CUuserObject object = new_object(1);
    CUgraph graph = new_graph();
    REFUSED(INVALID_VALUE, cu.cuGraphReleaseUserObject(graph, object, 1));
    REFUSED(INVALID_VALUE, cu.cuUserObjectRelease(object, 2));
    REFUSED(INVALID_VALUE,
            cu.cuGraphRetainUserObject(graph, object, 2, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cu.cuUserObjectRelease(object, 1));
    CHECK(come_to(1));
    REFUSED(INVALID_VALUE, cu.cuUserObjectRelease(object, 1));
    OK(cu.cuGraphDestroy(graph));
}

static void graphs_take_references_or_the_callers(void)
{
    atomic_store(&destroyed, 0);
    CUuserObject object = new_object(2), moved = new_object(1);
    CUgraph graph = new_graph();
    REFUSED(INVALID_VALUE, cu.cuGraphRetainUserObject(graph, object, 1, 2));
    OK(cu.cuGraphRetainUserObject(graph, object, 2, 0));
    OK(cu.cuUserObjectRelease(object, 2));
    CHECK(stays_at(0));
    OK(cu.cuGraphReleaseUserObject(graph, object, 1));
    CHECK(stays_at(0));
    OK(cu.cuGraphReleaseUserObject(graph, object, 1));
    CHECK(come_to(1));
    OK(cu.cuGraphRetainUserObject(graph, moved, 1, CU_GRAPH_USER_OBJECT_MOVE));
    CHECK(stays_at(1));
    OK(cu.cuGraphDestroy(graph));
    CHECK(come_to(2));
}

static void copies_hold_references_of_their_own(void)
{
    atomic_store(&destroyed, 0);
    CUuserObject object = new_object(1);
    CUgraph graph = new_graph(), clone;
    kernel_node(graph, k.nothing);
    OK(cu.cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cu.cuGraphClone(&clone, graph));
    CUgraphExec exec = instantiate(graph);
    OK(cu.cuGraphDestroy(graph));
    CHECK(stays_at(0));
    OK(cu.cuGraphDestroy(clone));
    CHECK(stays_at(0));
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuCtxSynchronize());
    CHECK(come_to(1));
}

/* A launch under way holds what its graph held. */
static void a_launch_holds_references(void)
{
    CUcontext context;
    CUstream launches, writes;
    CUdeviceptr words = new_words();
    atomic_store(&destroyed, 0);
    OK(cu.cuCtxGetCurrent(&context));
    OK(cu.cuStreamCreate(&launches, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamCreate(&writes, CU_STREAM_NON_BLOCKING));
    CUuserObject object = new_object(1);
    CUgraph graph = new_graph();
    CUgraphNode node;
    CUstreamBatchMemOpParams op;
    memset(&op, 0, sizeof(op));
    op.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    op.waitValue.address = words;
    op.waitValue.value = 1;
    const CUDA_BATCH_MEM_OP_NODE_PARAMS params = {context, 1, &op, 0};
    OK(cu.cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    OK(cu.cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    CUgraphExec exec = instantiate(graph);
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphLaunch(exec, launches));
    OK(cu.cuGraphExecDestroy(exec));
    CHECK(stays_at(0));
    OK(cu.cuStreamWriteValue32(writes, words, 1, 0));
    OK(cu.cuStreamSynchronize(launches));
    CHECK(come_to(1));
    OK(cu.cuStreamDestroy(launches));
    OK(cu.cuStreamDestroy(writes));
    OK(cu.cuMemFree(words));
}

static void a_childs_references_are_the_childs(void)
{
    atomic_store(&destroyed, 0);
    CUuserObject object = new_object(1);
    CUgraph child = new_graph(), parent = new_graph(), inner;
    CUgraphNode node;
    OK(cu.cuGraphRetainUserObject(child, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cu.cuGraphAddChildGraphNode(&node, parent, NULL, 0, child));
    OK(cu.cuGraphDestroy(child));
    CHECK(stays_at(0));
    OK(cu.cuGraphChildGraphNodeGetGraph(node, &inner));
    CUgraphExec exec = instantiate(parent);
    OK(cu.cuGraphReleaseUserObject(inner, object, 1));
    CHECK(stays_at(0)); /* the executable graph has its own */
    OK(cu.cuGraphExecDestroy(exec));
    CHECK(come_to(1));
    OK(cu.cuGraphDestroy(parent));
}

static void CUDA_CB call_cuda(void *user)
{
    int devices;
    called_back = cu.cuDeviceGetCount(&devices);
    count_one(user);
}

static void destructors_run_elsewhere(void)
{
    atomic_store(&destroyed, 0);
    CUuserObject object;
    OK(cu.cuUserObjectCreate(&object, NULL, call_cuda, 1,
                             CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cu.cuUserObjectRelease(object, 1));
    CHECK(come_to(1));
    /* NVIDIA's driver takes the caller's thread here, and does not refuse this call. */
    CHECK(!driver_is_soft || !pthread_equal(destroyer, pthread_self()));
    CHECK(!driver_is_soft || called_back == CUDA_ERROR_NOT_PERMITTED);
}

static const char spin_ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".visible .entry spin(.param .u64 flag)\n"
                               "{\n"
                               "  .reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %d<2>;\n"
                               "  ld.param.u64 %d1, [flag];\n"
                               "again:\n"
                               "  ld.volatile.global.u32 %r1, [%d1];\n"
                               "  setp.eq.u32 %p1, %r1, 0; @%p1 bra again;\n"
                               "  ret;\n"
                               "}\n";

/* A destructor needs nothing of the device, on which kernels run for long. */
static void destructors_do_not_wait_for_kernels(void)
{
    enum { BLOCKS = 64, TIMES = 20 };
    CUmodule module;
    CUfunction spin;
    void *flag;
    OK(cu.cuModuleLoadData(&module, spin_ptx));
    OK(cu.cuModuleGetFunction(&spin, module, "spin"));
    OK(cu.cuMemHostAlloc(&flag, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    atomic_store((atomic_uint *)flag, 0);
    void *params[] = {&flag};
    CUgraph graphs[TIMES];
    atomic_store(&destroyed, 0);
    for (int i = 0; i < TIMES; i++) {
        graphs[i] = new_graph();
        OK(cu.cuGraphRetainUserObject(graphs[i], new_object(1), 1,
                                      CU_GRAPH_USER_OBJECT_MOVE));
    }
    OK(cu.cuLaunchKernel(spin, BLOCKS, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    usleep(2000); /* it has all workers */
    for (int i = 0; i < TIMES; i++) {
        OK(cu.cuGraphDestroy(graphs[i]));
        if (i % 2 == 0)
            CHECK(come_to(i + 1));
    }
    CHECK(come_to(TIMES));
    REFUSED(NOT_READY, cu.cuStreamQuery(NULL));
    atomic_store((atomic_uint *)flag, 1);
    OK(cu.cuCtxSynchronize());
    OK(cu.cuMemFreeHost(flag));
    OK(cu.cuModuleUnload(module));
}

static void many_objects_end_at_once(void)
{
    enum { MANY = 5000 };
    atomic_store(&destroyed, 0);
    CUgraph graph = new_graph();
    for (int i = 0; i < MANY; i++)
        OK(cu.cuGraphRetainUserObject(graph, new_object(1), 1,
                                      CU_GRAPH_USER_OBJECT_MOVE));
    OK(cu.cuGraphDestroy(graph));
    CHECK(come_to(MANY));
}

static void run(void)
{
    if (!rule_listing)
        k = load_kernels();
    RULE_TEST(R104, objects_have_a_destructor_and_counts);
    RULE_TEST(R104, nobody_releases_what_he_has_not);
    RULE_TEST(R105, graphs_take_references_or_the_callers);
    RULE_TEST(R106, copies_hold_references_of_their_own);
    RULE_TEST(R106, a_launch_holds_references);
    RULE_TEST(R107, a_childs_references_are_the_childs);
    RULE_TEST(R108, destructors_run_elsewhere);
    RULE_TEST(R108, destructors_do_not_wait_for_kernels);
    RULE_TEST(R108, many_objects_end_at_once);
}

int main(int argc, char **argv)
{
    return rule_main(argc, argv, run);
}
