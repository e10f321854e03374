// SPDX-License-Identifier: Apache-2.0
/* Each allocation of softcuda's own fails in turn while graphs are built, cloned, changed
 * and launched before an event: what fails gives CUDA_ERROR_OUT_OF_MEMORY and leaves the
 * graph as it was. */
#include <string.h>
#include <time.h>

#include "conformance/driver.h"
#include "conformance/kernels.h"
#include "fault/sweep.h"

static CUcontext context;
static CUstream stream;
static CUfunction store;
static CUdeviceptr memory;
static CUevent event;

static CUgraph new_graph(void)
{
    CUgraph graph = NULL;
    OK(cu.cuGraphCreate(&graph, 0));
    return graph;
}

static CUgraphNode empty_node(CUgraph graph)
{
    CUgraphNode node = NULL;
    OK(cu.cuGraphAddEmptyNode(&node, graph, NULL, 0));
    return node;
}

static size_t node_count(CUgraph graph)
{
    size_t count = 0;
    OK(cu.cuGraphGetNodes(graph, NULL, &count));
    return count;
}

static size_t edge_count(CUgraph graph)
{
    size_t count = 0;
    OK(cu.cuGraphGetEdges(graph, NULL, NULL, NULL, &count));
    return count;
}

/* ---- adding nodes ---- */

#define UNTOUCHED ((CUgraphNode)(uintptr_t)0x77)

enum {
    KERNEL,
    FILL,
    COPY,
    HOST,
    RECORD,
    WAIT,
    BATCH,
    CHILD,
    MOVED,
    EMPTY,
    ALLOC,
    FREE,
    KINDS
};

static void CUDA_CB do_nothing(void *user)
{
    (void)user;
}

/* What nodes are made of, as long as a call uses it. */
typedef struct parts {
    CUdeviceptr at;
    unsigned value;
    void *arguments[2];
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUDA_MEMSET_NODE_PARAMS fill;
    CUDA_MEMCPY3D copy;
    CUstreamBatchMemOpParams ops[40];
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch;
} parts;

static void describe(parts *p, unsigned value)
{
    memset(p, 0, sizeof(*p));
    p->at = memory;
    p->value = value;
    p->arguments[0] = &p->at;
    p->arguments[1] = &p->value;
    p->kernel = one_thread(store, p->arguments);
    p->fill = (CUDA_MEMSET_NODE_PARAMS){
        .dst = memory + 4, .value = value, .elementSize = 4, .width = 1, .height = 1};
    p->copy = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                              .srcDevice = memory,
                              .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                              .dstDevice = memory + 8,
                              .WidthInBytes = 4,
                              .Height = 1,
                              .Depth = 1};
    for (int i = 0; i < 40; i++) {
        p->ops[i].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
        p->ops[i].writeValue.address = memory + 12;
        p->ops[i].writeValue.value = value;
    }
    p->batch = (CUDA_BATCH_MEM_OP_NODE_PARAMS){
        .ctx = context, .count = 40, .paramArray = p->ops};
}

static CUresult add_any(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
                        CUgraphNodeParams *params)
{
    return cu.cuGraphAddNode(out, graph, dependencies, NULL, 2, params);
}

/* A node of a kind after two others. `child`: what CHILD and MOVED take; `address`: what
 * FREE frees. */
static CUresult add(int kind, CUgraphNode *out, CUgraph graph, const CUgraphNode *after,
                    CUgraph child, CUdeviceptr address)
{
    parts p;
    const CUDA_HOST_NODE_PARAMS host = {do_nothing, NULL};
    CUgraphNodeParams moved = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    CUDA_MEM_ALLOC_NODE_PARAMS alloc = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
        .bytesize = 4096};
    moved.graph.graph = child;
    moved.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    describe(&p, 5);
    switch (kind) {
    case KERNEL: return cu.cuGraphAddKernelNode(out, graph, after, 2, &p.kernel);
    case FILL: return cu.cuGraphAddMemsetNode(out, graph, after, 2, &p.fill, context);
    case COPY: return cu.cuGraphAddMemcpyNode(out, graph, after, 2, &p.copy, context);
    case HOST: return cu.cuGraphAddHostNode(out, graph, after, 2, &host);
    case RECORD: return cu.cuGraphAddEventRecordNode(out, graph, after, 2, event);
    case WAIT: return cu.cuGraphAddEventWaitNode(out, graph, after, 2, event);
    case BATCH: return cu.cuGraphAddBatchMemOpNode(out, graph, after, 2, &p.batch);
    case CHILD: return cu.cuGraphAddChildGraphNode(out, graph, after, 2, child);
    case MOVED: return add_any(out, graph, after, &moved);
    case ALLOC: return cu.cuGraphAddMemAllocNode(out, graph, after, 2, &alloc);
    case FREE: return cu.cuGraphAddMemFreeNode(out, graph, after, 2, address);
    default: return cu.cuGraphAddEmptyNode(out, graph, after, 2);
    }
}

static CUgraph child_graph(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node, before = empty_node(graph);
    parts p;
    describe(&p, 6);
    OK(cu.cuGraphAddKernelNode(&node, graph, &before, 1, &p.kernel));
    OK(cu.cuGraphAddBatchMemOpNode(&node, graph, &before, 1, &p.batch));
    return graph;
}

/* A graph is launched as it is: nothing that failed is left in it. */
static void launch(CUgraph graph)
{
    CUgraphExec exec = NULL;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph,
                                      CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuGraphExecDestroy(exec));
}

static void a_node_is_added_or_not(void)
{
    long least = 5000;
    for (int kind = 0; kind < KINDS; kind++) {
        for (SWEEP(nth)) {
            CUgraph graph = new_graph(), child = child_graph();
            CUgraphNode ends[2] = {empty_node(graph), empty_node(graph)};
            CUgraphNode node = UNTOUCHED;
            CUDA_MEM_ALLOC_NODE_PARAMS params = {0};
            if (kind == FREE) {
                OK(add(ALLOC, &ends[1], graph, (CUgraphNode[2]){ends[0], ends[1]}, NULL,
                       0));
                OK(cu.cuGraphMemAllocNodeGetParams(ends[1], &params));
            }
            const size_t nodes = node_count(graph), edges = edge_count(graph);
            fail_allocation(nth);
            const bool fine =
                worked(add(kind, &node, graph, ends, child, params.dptr), nth);
            END_OF_SWEEP(nth, fine);
            CHECK((node != UNTOUCHED) == fine);
            CHECK(node_count(graph) == nodes + fine);
            CHECK(edge_count(graph) == edges + 2 * (size_t)fine);
            if (!fine) /* there is nothing that would be in the way */
                OK(add(kind, &node, graph, ends, child, params.dptr));
            launch(graph);
            if (kind != MOVED)
                OK(cu.cuGraphDestroy(child));
            OK(cu.cuGraphDestroy(graph));
        }
        least = swept < least ? swept : least;
    }
    CHECK(least > 0);
}

/* ---- edges ---- */

static void edges_come_and_go_together(void)
{
    enum { MANY = 12 };
    CUgraph graph = new_graph();
    CUgraphNode from[MANY], to[MANY];
    CUgraphNode first = empty_node(graph);
    for (int i = 0; i < MANY; i++) {
        from[i] = first;
        to[i] = empty_node(graph);
    }
    for (SWEEP(nth)) {
        fail_allocation(nth);
        const bool fine =
            worked(cu.cuGraphAddDependencies(graph, from, to, NULL, MANY), nth);
        END_OF_SWEEP(nth, fine);
        CHECK(edge_count(graph) == (fine ? MANY : 0));
        if (fine)
            OK(cu.cuGraphRemoveDependencies(graph, from, to, NULL, MANY));
    }
    CHECK(swept > 0);
    OK(cu.cuGraphAddDependencies(graph, from, to, NULL, MANY));
    for (SWEEP(nth)) {
        fail_allocation(nth);
        const bool fine =
            worked(cu.cuGraphRemoveDependencies(graph, from, to, NULL, MANY), nth);
        END_OF_SWEEP(nth, fine);
        CHECK(edge_count(graph) == (fine ? 0 : MANY));
    }
    OK(cu.cuGraphDestroy(graph));
}

/* ---- user objects, clones ---- */

static CUresult create_object(CUuserObject *out)
{
    return cu.cuUserObjectCreate(out, &destroyed, count_destroyed, 1,
                                 CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
}

static void objects_are_made_and_end(void)
{
    const CUuserObject untouched = (CUuserObject)(uintptr_t)0x77;
    int ended = 0;
    atomic_store(&destroyed, 0);
    for (SWEEP(nth)) {
        CUuserObject object = untouched;
        fail_allocation(nth);
        const bool fine = worked(create_object(&object), nth);
        END_OF_SWEEP(nth, fine);
        CHECK((object != untouched) == fine);
        if (!fine)
            continue;
        OK(cu.cuUserObjectRelease(object, 1));
        wait_for_destructors(++ended);
    }
    for (SWEEP(nth)) { /* the end of an object needs no memory, or waits for some */
        CUuserObject object = NULL;
        OK(create_object(&object));
        fail_allocation(nth);
        const bool fine = worked(cu.cuUserObjectRelease(object, 1), nth);
        wait_for_destructors(++ended);
        END_OF_SWEEP(nth, fine);
        CHECK(fine);
    }
}

static void graphs_hold_objects_or_not(void)
{
    CUuserObject object = NULL;
    atomic_store(&destroyed, 0);
    OK(create_object(&object));
    for (SWEEP(nth)) {
        CUgraph graph = new_graph();
        fail_allocation(nth);
        const bool fine = worked(cu.cuGraphRetainUserObject(graph, object, 1, 0), nth);
        END_OF_SWEEP(nth, fine);
        if (fine)
            OK(cu.cuGraphReleaseUserObject(graph, object, 1));
        else
            REFUSED(INVALID_VALUE, cu.cuGraphReleaseUserObject(graph, object, 1));
        OK(cu.cuGraphDestroy(graph));
    }
    CHECK(swept > 0);
    for (SWEEP(nth)) { /* the caller's reference goes over, or stays his */
        CUgraph graph = new_graph();
        CUuserObject own = NULL;
        OK(create_object(&own));
        fail_allocation(nth);
        const bool fine = worked(
            cu.cuGraphRetainUserObject(graph, own, 1, CU_GRAPH_USER_OBJECT_MOVE), nth);
        END_OF_SWEEP(nth, fine);
        const int before = atomic_load(&destroyed);
        if (!fine)
            OK(cu.cuUserObjectRelease(own, 1));
        OK(cu.cuGraphDestroy(graph));
        wait_for_destructors(before + 1);
    }
    const int before = atomic_load(&destroyed);
    OK(cu.cuUserObjectRelease(object, 1));
    wait_for_destructors(before + 1);
}

static CUgraph whole_graph(CUuserObject object)
{
    CUgraph graph = new_graph(), child = child_graph();
    CUgraphNode ends[2] = {empty_node(graph), empty_node(graph)}, node;
    CUlaunchAttributeValue priority = {.priority = -1};
    for (int kind = 0; kind < ALLOC; kind++) {
        if (kind == MOVED)
            continue;
        OK(add(kind, &node, graph, ends, child, 0));
        if (kind == KERNEL)
            OK(cu.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY,
                                                &priority));
        ends[1] = node;
    }
    OK(cu.cuGraphDestroy(child));
    OK(cu.cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    return graph;
}

static void a_clone_is_whole_or_none(void)
{
    const CUgraph untouched = (CUgraph)(uintptr_t)0x77;
    CUuserObject object = NULL;
    atomic_store(&destroyed, 0);
    OK(create_object(&object));
    CUgraph graph = whole_graph(object);
    for (SWEEP(nth)) {
        CUgraph clone = untouched;
        fail_allocation(nth);
        const bool fine = worked(cu.cuGraphClone(&clone, graph), nth);
        END_OF_SWEEP(nth, fine);
        CHECK((clone != untouched) == fine);
        if (!fine)
            continue;
        CHECK(node_count(clone) == node_count(graph));
        CHECK(edge_count(clone) == edge_count(graph));
        launch(clone);
        OK(cu.cuGraphDestroy(clone));
    }
    CHECK(swept > 20 && atomic_load(&destroyed) == 0);
    launch(graph);
    OK(cu.cuGraphDestroy(graph));
    wait_for_destructors(1);
}

/* ---- changes of nodes ---- */

static unsigned stored_value(CUgraphNode node)
{
    CUDA_KERNEL_NODE_PARAMS params;
    OK(cu.cuGraphKernelNodeGetParams(node, &params));
    return *(const unsigned *)params.kernelParams[1];
}

static void a_node_is_changed_or_not(void)
{
    CUgraph graph = new_graph(), child = child_graph(), other = child_graph(), inner;
    CUgraphNode ends[2] = {empty_node(graph), empty_node(graph)};
    CUgraphNode kernel, batch, parent;
    empty_node(other); /* one node more */
    OK(add(KERNEL, &kernel, graph, ends, child, 0));
    OK(add(BATCH, &batch, graph, ends, child, 0));
    OK(add(CHILD, &parent, graph, ends, child, 0));
    parts p;
    CUDA_BATCH_MEM_OP_NODE_PARAMS got;
    CUgraphNodeParams swap = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    for (unsigned value = 10; value < 12; value++) {
        const unsigned before = stored_value(kernel);
        describe(&p, value);
        for (SWEEP(nth)) {
            fail_allocation(nth);
            const bool fine =
                worked(cu.cuGraphKernelNodeSetParams(kernel, &p.kernel), nth);
            END_OF_SWEEP(nth, fine);
            CHECK(stored_value(kernel) == (fine ? value : before));
        }
        OK(cu.cuGraphBatchMemOpNodeGetParams(batch, &got));
        const unsigned old = got.paramArray[39].writeValue.value;
        for (SWEEP(nth)) {
            fail_allocation(nth);
            const bool fine =
                worked(cu.cuGraphBatchMemOpNodeSetParams(batch, &p.batch), nth);
            END_OF_SWEEP(nth, fine);
            OK(cu.cuGraphBatchMemOpNodeGetParams(batch, &got));
            CHECK(got.paramArray[39].writeValue.value == (fine ? value : old));
        }
    }
    swap.graph.graph = other;
    for (SWEEP(nth)) {
        fail_allocation(nth);
        const bool fine = worked(cu.cuGraphNodeSetParams(parent, &swap), nth);
        END_OF_SWEEP(nth, fine);
        OK(cu.cuGraphChildGraphNodeGetGraph(parent, &inner));
        CHECK(node_count(inner) == (fine ? 4 : 3));
    }
    CHECK(swept > 5);
    launch(graph);
    OK(cu.cuGraphDestroy(child));
    OK(cu.cuGraphDestroy(other));
    OK(cu.cuGraphDestroy(graph));
}

static void attributes_are_set_or_not(void)
{
    for (SWEEP(nth)) {
        CUgraph graph = new_graph();
        CUgraphNode node, ends[2] = {empty_node(graph), empty_node(graph)};
        CUlaunchAttributeValue value = {.priority = -2}, got = {.priority = 9};
        OK(add(KERNEL, &node, graph, ends, NULL, 0));
        fail_allocation(nth);
        const bool fine = worked(
            cu.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value),
            nth);
        END_OF_SWEEP(nth, fine);
        OK(cu.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &got));
        CHECK(got.priority == (fine ? -2 : 0));
        OK(cu.cuGraphDestroy(graph));
    }
}

/* ---- launches before an event ---- */

static void a_launch_before_its_event_runs_or_not(void)
{
    CUgraph graph = new_graph();
    CUgraphNode root, wait, after;
    CUstream other;
    parts p;
    describe(&p, 7);
    OK(cu.cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cu.cuGraphAddKernelNode(&root, graph, NULL, 0, &p.kernel));
    OK(cu.cuGraphAddEventWaitNode(&wait, graph, &root, 1, event));
    OK(cu.cuGraphAddMemsetNode(&after, graph, &wait, 1, &p.fill, context));
    CUgraphExec exec = NULL;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (SWEEP(nth)) {
        unsigned words[2] = {0};
        OK(cu.cuMemsetD32(memory, 99, 4));
        OK(cu.cuCtxSynchronize());
        OK(cu.cuStreamWaitValue32(other, memory + 12, 1, CU_STREAM_WAIT_VALUE_EQ));
        OK(cu.cuEventRecord(event, other));
        fail_allocation(nth);
        const bool fine = worked(cu.cuGraphLaunch(exec, stream), nth);
        END_OF_SWEEP(nth, fine);
        OK(cu.cuStreamWriteValue32(NULL, memory + 12, 1, 0));
        OK(cu.cuStreamSynchronize(stream));
        OK(cu.cuStreamSynchronize(other));
        OK(cu.cuMemcpyDtoH(words, memory, sizeof(words)));
        CHECK(words[0] == (fine ? 7 : 99) && words[1] == (fine ? 7 : 99));
    }
    CHECK(swept > 0);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuStreamDestroy(other));
}

static void advice_is_kept_or_not(void)
{
    CUdeviceptr managed;
    const CUmemLocation device = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    OK(cu.cuMemAllocManaged(&managed, 1 << 20, CU_MEM_ATTACH_GLOBAL));
    for (SWEEP(nth)) {
        int value = 9;
        fail_allocation(nth);
        const bool fine = worked(
            cu.cuMemAdvise(managed, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, device), nth);
        END_OF_SWEEP(nth, fine);
        OK(cu.cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                     managed, 4096));
        CHECK(value == fine);
    }
    OK(cu.cuMemFree(managed));
}

/* ---- linking ---- */

static const char calls[] = PTX_HEAD ".extern .func step(.param .b32 x);\n"
                                     ".func own() { ret; }\n"
                                     ".visible .entry run()\n{\n"
                                     "{ .param .b32 a; st.param.b32 [a], 3;\n"
                                     "call.uni step, (a); call.uni own; }\nret;\n}\n",
                  steps[] = PTX_HEAD ".func own() { ret; }\n"
                                     ".visible .func step(.param .b32 x) { ret; }\n";

static CUresult add_input(CUlinkState link, const char *text)
{
    return cu.cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)text,
                            strlen(text) + 1, "input", 0, NULL, NULL);
}

static void run_linked(CUlinkState link)
{
    CUmodule module = NULL;
    CUfunction run = NULL;
    void *image = NULL;
    size_t bytes = 0;
    OK(cu.cuLinkComplete(link, &image, &bytes));
    OK(cu.cuModuleLoadData(&module, image));
    OK(cu.cuModuleGetFunction(&run, module, "run"));
    OK(cu.cuLaunchKernel(run, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuModuleUnload(module));
}

static void an_input_is_added_or_not(void)
{
    for (SWEEP(nth)) {
        CUlinkState link = NULL;
        OK(cu.cuLinkCreate(0, NULL, NULL, &link));
        OK(add_input(link, calls));
        fail_allocation(nth);
        const bool fine = worked(add_input(link, steps), nth);
        END_OF_SWEEP(nth, fine);
        if (!fine)
            OK(add_input(link, steps));
        run_linked(link);
        OK(cu.cuLinkDestroy(link));
    }
    CHECK(swept > 1);
}

static void inputs_are_linked_or_not(void)
{
    for (SWEEP(nth)) {
        CUlinkState link = NULL;
        void *const untouched = &link;
        void *image = untouched;
        size_t bytes = 0;
        OK(cu.cuLinkCreate(0, NULL, NULL, &link));
        OK(add_input(link, calls));
        OK(add_input(link, steps));
        fail_allocation(nth);
        const bool fine = worked(cu.cuLinkComplete(link, &image, &bytes), nth);
        END_OF_SWEEP(nth, fine);
        CHECK((image != untouched) == fine);
        if (!fine)
            run_linked(link);
        OK(cu.cuLinkDestroy(link));
    }
    CHECK(swept > 5);
}

int main(void)
{
    DRIVER_OR_SKIP();
    if (!can_fail())
        return 77;
    context = open_sweep(kernels_ptx, &stream, &store, &memory);
    OK(cu.cuMemsetD32(memory, 0, 1024));
    OK(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    RUN(a_node_is_added_or_not);
    RUN(edges_come_and_go_together);
    RUN(objects_are_made_and_end);
    RUN(graphs_hold_objects_or_not);
    RUN(a_clone_is_whole_or_none);
    RUN(a_node_is_changed_or_not);
    RUN(attributes_are_set_or_not);
    RUN(a_launch_before_its_event_runs_or_not);
    RUN(advice_is_kept_or_not);
    RUN(an_input_is_added_or_not);
    RUN(inputs_are_linked_or_not);
    return test_done();
}
