// SPDX-License-Identifier: Apache-2.0
/* R80-R87, R69f: conditional nodes, their handles, bodies and values. */
#include "graphs.h"

/* set(handle, value); step(handle, word): counts the word down and sets what is left;
 * mark(log, value): appends to a log that begins with its length. */
static const char device_ptx[] =
    ".version 8.0\n.target sm_70\n.address_size 64\n"
    ".extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);\n"
    ".visible .entry set(.param .u64 handle, .param .u32 value)\n"
    "{\n"
    "  .reg .b32 %r<2>; .reg .b64 %d<2>;\n"
    "  ld.param.u64 %d1, [handle]; ld.param.u32 %r1, [value];\n"
    "  { .param .b64 h; .param .b32 v; st.param.b64 [h], %d1; st.param.b32 [v], %r1;\n"
    "    call.uni cudaGraphSetConditional, (h, v); }\n"
    "  ret;\n"
    "}\n"
    ".visible .entry step(.param .u64 handle, .param .u64 word)\n"
    "{\n"
    "  .reg .b32 %r<3>; .reg .b64 %d<3>;\n"
    "  ld.param.u64 %d1, [handle]; ld.param.u64 %d2, [word];\n"
    "  ld.global.u32 %r1, [%d2]; add.u32 %r2, %r1, -1; st.global.u32 [%d2], %r2;\n"
    "  { .param .b64 h; .param .b32 v; st.param.b64 [h], %d1; st.param.b32 [v], %r2;\n"
    "    call.uni cudaGraphSetConditional, (h, v); }\n"
    "  ret;\n"
    "}\n"
    ".visible .entry mark(.param .u64 log, .param .u32 value)\n"
    "{\n"
    "  .reg .b32 %r<3>; .reg .b64 %d<4>;\n"
    "  ld.param.u64 %d1, [log]; ld.param.u32 %r1, [value];\n"
    "  atom.global.add.u32 %r2, [%d1], 1;\n"
    "  mul.wide.u32 %d2, %r2, 4; add.s64 %d3, %d1, %d2; st.global.u32 [%d3+4], %r1;\n"
    "  ret;\n"
    "}\n";

static struct kernels k;
static CUfunction set, step, mark;
static CUcontext context;
static CUdeviceptr log_, word;

static CUgraphNode node_of(CUgraph graph, CUgraphNode before, CUfunction function,
                           void **args)
{
    CUgraphNode node = NULL;
    const CUDA_KERNEL_NODE_PARAMS params = one_thread(function, args);
    OK(cu.cuGraphAddKernelNode(&node, graph, &before, before != NULL, &params));
    return node;
}

static CUgraphNode marks(CUgraph graph, CUgraphNode before, unsigned value)
{
    void *args[] = {&log_, &value};
    return node_of(graph, before, mark, args);
}

static CUgraphNode sets(CUgraph graph, CUgraphNode before,
                        CUgraphConditionalHandle handle, unsigned value)
{
    void *args[] = {&handle, &value};
    return node_of(graph, before, set, args);
}

static CUgraphNode steps(CUgraph graph, CUgraphNode before,
                         CUgraphConditionalHandle handle)
{
    void *args[] = {&handle, &word};
    return node_of(graph, before, step, args);
}

static CUgraphConditionalHandle handle_of(CUgraph graph, unsigned initial, unsigned flags)
{
    CUgraphConditionalHandle handle = 0;
    OK(cu.cuGraphConditionalHandleCreate(&handle, graph, context, initial, flags));
    return handle;
}

static CUresult try_conditional(CUgraphNode *node, CUgraph graph, CUgraphNode before,
                                CUgraphConditionalHandle handle, int type, unsigned size,
                                CUgraph *bodies)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = handle;
    params.conditional.type = (CUgraphConditionalNodeType)type;
    params.conditional.size = size;
    params.conditional.ctx = context;
    const CUresult result =
        cu.cuGraphAddNode(node, graph, &before, NULL, before != NULL, &params);
    for (unsigned i = 0; result == CUDA_SUCCESS && bodies && i < size; i++)
        bodies[i] = params.conditional.phGraph_out[i];
    return result;
}

static CUgraphNode conditional(CUgraph graph, CUgraphNode before,
                               CUgraphConditionalHandle handle, int type, unsigned size,
                               CUgraph *bodies)
{
    CUgraphNode node = NULL;
    OK(try_conditional(&node, graph, before, handle, type, size, bodies));
    return node;
}

/* Launches, and compares the log with `count` values. */
static bool logs(CUgraphExec exec, unsigned count, const unsigned *values)
{
    unsigned got[64] = {0};
    OK(cu.cuMemsetD32(log_, 0, 64));
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuMemcpyDtoH(got, log_, sizeof(got)));
    return got[0] == count &&
           (count == 0 || memcmp(got + 1, values, count * sizeof(*values)) == 0);
}
#define LOGS(exec, ...)                                                                  \
    CHECK(logs(exec, sizeof((unsigned[]){__VA_ARGS__}) / sizeof(unsigned),               \
               (unsigned[]){__VA_ARGS__}))
#define LOGS_NOTHING(exec) CHECK(logs(exec, 0, NULL))

static CUresult try_instantiate(CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    CUgraphExec exec = NULL;
    *params = (CUDA_GRAPH_INSTANTIATE_PARAMS){.flags = 0};
    const CUresult result = cu.cuGraphInstantiateWithParams(&exec, graph, params);
    if (exec)
        OK(cu.cuGraphExecDestroy(exec));
    return result;
}

/* ---- handles and bodies ------------------------------------------------------------ */

static void a_handle_has_one_node(void)
{
    CUgraph graph = new_graph();
    CUgraphConditionalHandle handle;
    CUgraphNode node, other;
    REFUSED(INVALID_VALUE,
            cu.cuGraphConditionalHandleCreate(&handle, graph, context, 0, 2));
    REFUSED(INVALID_VALUE,
            cu.cuGraphConditionalHandleCreate(&handle, NULL, context, 0, 1));
    REFUSED(INVALID_CONTEXT,
            cu.cuGraphConditionalHandleCreate(&handle, graph, NULL, 0, 1));
    handle = handle_of(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    REFUSED(INVALID_VALUE, try_conditional(&node, graph, NULL, 0, 0, 1, NULL));
    REFUSED(INVALID_VALUE, try_conditional(&node, graph, NULL, handle + 77, 0, 1, NULL));
    node = conditional(graph, NULL, handle, CU_GRAPH_COND_TYPE_IF, 1, NULL);
    REFUSED(INVALID_VALUE, try_conditional(&other, graph, NULL, handle, 0, 1, NULL));
    OK(cu.cuGraphDestroyNode(node));
    CUgraph body;
    conditional(graph, NULL, handle, CU_GRAPH_COND_TYPE_IF, 1, &body);
    marks(body, NULL, 5);
    CUgraphExec exec = instantiate(graph);
    LOGS(exec, 5);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

static void sizes_are_those_of_the_type(void)
{
    static const struct {
        int type;
        unsigned size;
    } wrong[] = {{0, 0}, {0, 3}, {1, 0}, {1, 2}, {2, 0}, {3, 1}};
    CUgraph graph = new_graph(), bodies[300];
    const CUgraphConditionalHandle handle = handle_of(graph, 0, 1);
    CUgraphNode node, inside;
    CUgraphNodeType type;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        REFUSED(INVALID_VALUE, try_conditional(&node, graph, NULL, handle, wrong[i].type,
                                               wrong[i].size, NULL));
    CHECK(node_count(graph) == 0);
    node = conditional(graph, NULL, handle, CU_GRAPH_COND_TYPE_SWITCH, 300, bodies);
    OK(cu.cuGraphNodeGetType(node, &type));
    CHECK(type == CU_GRAPH_NODE_TYPE_CONDITIONAL && bodies[0] != bodies[299]);
    inside = marks(bodies[299], NULL, 1);
    CHECK(node_count(bodies[299]) == 1 && node_count(graph) == 1);
    CUgraph unwanted;
    REFUSED(INVALID_VALUE, cu.cuGraphChildGraphNodeGetGraph(node, &unwanted));
    REFUSED(INVALID_VALUE, cu.cuGraphDestroy(bodies[0]));
    REFUSED(INVALID_VALUE, cu.cuGraphAddDependencies(graph, &node, &inside, NULL, 1));
    OK(cu.cuGraphDestroy(graph));
}

static void all_is_of_one_context(void)
{
    CUgraph graph = new_graph(), body;
    const CUgraphConditionalHandle handle = handle_of(graph, 1, 1);
    const CUcontext first = context;
    CUcontext second, popped;
    CUmodule module;
    CUfunction function;
    CUgraphNode node;
    CUDA_GRAPH_INSTANTIATE_PARAMS params;
    OK(cu.cuCtxCreate(&second, NULL, 0, 0));
    OK(cu.cuModuleLoadData(&module, kernels_ptx));
    OK(cu.cuModuleGetFunction(&function, module, "nothing"));
    context = second;
    REFUSED(INVALID_VALUE, try_conditional(&node, graph, NULL, handle, 0, 1, NULL));
    context = first;
    conditional(graph, NULL, handle, CU_GRAPH_COND_TYPE_IF, 1, &body);
    node = kernel_node(body, function);
    OK(cu.cuCtxPopCurrent(&popped));
    REFUSED(INVALID_VALUE, try_instantiate(graph, &params));
    CHECK(params.result_out == CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED);
    CHECK(params.hErrNode_out == node);
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuCtxDestroy(second));
}

/* A node of each kind in a body; what a body cannot hold is found when it is
 * instantiated, and named. */
enum {
    HOST,
    RECORD,
    WAIT,
    ALLOC,
    BATCH,
    PAGEABLE,
    FORBIDDEN,
    PINNED = FORBIDDEN,
    KINDS = 11
};

static void forbid_host(void *unused)
{
    (void)unused;
}

static CUgraphNode copy_from(CUgraph body, const void *host)
{
    CUgraphNode node = NULL;
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = host,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = word,
                                .WidthInBytes = 4,
                                .Height = 1,
                                .Depth = 1};
    OK(cu.cuGraphAddMemcpyNode(&node, body, NULL, 0, &copy, context));
    return node;
}

static CUgraphNode node_of_kind(CUgraph body, int kind, CUevent event, const void *pinned)
{
    static char pageable[64];
    CUgraphNode node = NULL;
    const CUDA_HOST_NODE_PARAMS host = {.fn = forbid_host};
    CUstreamBatchMemOpParams operation = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32};
    operation.writeValue.address = word;
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch = {
        .ctx = context, .count = 1, .paramArray = &operation};
    const CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = word, .elementSize = 4, .width = 1, .height = 1};
    CUgraph child = NULL;
    switch (kind) {
    case HOST: OK(cu.cuGraphAddHostNode(&node, body, NULL, 0, &host)); break;
    case RECORD: OK(cu.cuGraphAddEventRecordNode(&node, body, NULL, 0, event)); break;
    case WAIT: OK(cu.cuGraphAddEventWaitNode(&node, body, NULL, 0, event)); break;
    case ALLOC: node = alloc_node(body); break;
    case BATCH: OK(cu.cuGraphAddBatchMemOpNode(&node, body, NULL, 0, &batch)); break;
    case PAGEABLE: node = copy_from(body, pageable); break;
    case PINNED: node = copy_from(body, pinned); break;
    case PINNED + 1:
        OK(cu.cuGraphAddMemsetNode(&node, body, NULL, 0, &fill, context));
        break;
    case PINNED + 2: node = empty_node(body); break;
    case PINNED + 3:
        child = new_graph();
        marks(child, NULL, 1);
        OK(cu.cuGraphAddChildGraphNode(&node, body, NULL, 0, child));
        OK(cu.cuGraphDestroy(child));
        break;
    default: node = marks(body, NULL, 1);
    }
    return node;
}

static void bodies_hold_what_a_device_runs(void)
{
    void *pinned;
    CUevent event;
    OK(cu.cuEventCreate(&event, 0));
    OK(cu.cuMemHostAlloc(&pinned, 64, 0));
    for (int kind = 0; kind < KINDS; kind++) {
        CUgraph graph = new_graph(), body;
        CUDA_GRAPH_INSTANTIATE_PARAMS params;
        conditional(graph, NULL, handle_of(graph, 1, 1), CU_GRAPH_COND_TYPE_IF, 1, &body);
        const CUgraphNode node = node_of_kind(body, kind, event, pinned);
        const CUresult result = try_instantiate(graph, &params);
        if (kind >= FORBIDDEN) {
            CHECK(result == CUDA_SUCCESS);
        } else {
            CHECK(result == CUDA_ERROR_INVALID_VALUE);
            CHECK(params.result_out ==
                  (kind == PAGEABLE
                       ? CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED
                       : CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED));
            CHECK(params.hErrNode_out == node);
        }
        OK(cu.cuGraphDestroy(graph));
    }
    OK(cu.cuMemFreeHost(pinned));
    OK(cu.cuEventDestroy(event));
}

static void an_unused_handle_is_refused(void)
{
    CUgraph graph = new_graph();
    CUDA_GRAPH_INSTANTIATE_PARAMS params;
    marks(graph, NULL, 1);
    handle_of(graph, 1, 1);
    REFUSED(INVALID_VALUE, try_instantiate(graph, &params));
    CHECK(params.result_out == CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED);
    CHECK(params.hErrNode_out == NULL);
    OK(cu.cuGraphDestroy(graph));
}

static void such_a_graph_stays_what_it_is(void)
{
    CUgraph graph = new_graph(), parent = new_graph(), body, copy;
    CUgraphNode node;
    CUgraphExec exec, second;
    conditional(graph, NULL, handle_of(graph, 1, 1), CU_GRAPH_COND_TYPE_IF, 1, &body);
    marks(body, NULL, 1);
    REFUSED(NOT_SUPPORTED, cu.cuGraphClone(&copy, graph));
    REFUSED(NOT_SUPPORTED, cu.cuGraphClone(&copy, body));
    REFUSED(NOT_SUPPORTED, cu.cuGraphAddChildGraphNode(&node, parent, NULL, 0, graph));
    REFUSED(NOT_SUPPORTED, cu.cuGraphAddChildGraphNode(&node, parent, NULL, 0, body));
    CUgraphNodeParams moved = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    moved.graph.graph = graph;
    moved.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    REFUSED(NOT_SUPPORTED, cu.cuGraphAddNode(&node, parent, NULL, NULL, 0, &moved));
    REFUSED(NOT_SUPPORTED, cu.cuGraphInstantiateWithFlags(&exec, body, 0));
    exec = instantiate(graph);
    REFUSED(NOT_SUPPORTED, cu.cuGraphInstantiateWithFlags(&second, graph, 0));
    OK(cu.cuGraphExecDestroy(exec));
    exec = instantiate(graph);
    LOGS(exec, 1);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphDestroy(parent));
}

static void its_parameters_stay(void)
{
    CUgraph graph = new_graph(), body;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = handle_of(graph, 1, 1);
    params.conditional.size = 1;
    params.conditional.ctx = context;
    CUgraphNode node = conditional(graph, NULL, params.conditional.handle,
                                   CU_GRAPH_COND_TYPE_IF, 1, &body);
    unsigned enabled;
    REFUSED(NOT_SUPPORTED, cu.cuGraphNodeSetParams(node, &params));
    CUgraphExec exec = instantiate(graph);
    REFUSED(NOT_SUPPORTED, cu.cuGraphExecNodeSetParams(exec, node, &params));
    REFUSED(INVALID_VALUE, cu.cuGraphNodeSetEnabled(exec, node, 0));
    REFUSED(INVALID_VALUE, cu.cuGraphNodeGetEnabled(exec, node, &enabled));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

/* ---- what runs --------------------------------------------------------------------- */

/* One conditional node between a kernel that may set its value, and one that comes
 * after. */
static CUgraphExec one_of(int type, unsigned size, unsigned initial, int value)
{
    CUgraph graph = new_graph(), bodies[4];
    CUgraphNode before = NULL;
    const CUgraphConditionalHandle handle = handle_of(graph, initial, 1);
    if (value >= 0)
        before = sets(graph, NULL, handle, (unsigned)value);
    const CUgraphNode node = conditional(graph, before, handle, type, size, bodies);
    for (unsigned i = 0; i < size; i++) {
        const CUgraphNode inside = marks(bodies[i], NULL, 10 + i);
        if (type == CU_GRAPH_COND_TYPE_WHILE)
            sets(bodies[i], inside, handle, 0);
    }
    marks(graph, node, 99);
    CUgraphExec exec = instantiate(graph);
    OK(cu.cuGraphDestroy(graph)); /* R37 */
    return exec;
}

static void bodies_run_as_the_value_says(void)
{
    static const struct {
        int type;
        unsigned size, initial;
        int value;
        unsigned runs; /* 0: none */
    } cases[] = {{0, 1, 0, -1, 0},  {0, 1, 1, -1, 10},  {0, 1, 0, 7, 10},
                 {0, 2, 0, -1, 11}, {0, 2, 1, -1, 10},  {0, 2, 0, 2, 10},
                 {1, 1, 0, -1, 0},  {1, 1, 1, -1, 10},  {1, 1, 0, 5, 10},
                 {2, 3, 0, -1, 10}, {2, 3, 2, -1, 12},  {2, 3, 3, -1, 0},
                 {2, 3, 0, 1, 11},  {2, 3, 0, 70000, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CUgraphExec exec =
            one_of(cases[i].type, cases[i].size, cases[i].initial, cases[i].value);
        for (int launch = 0; launch < 2; launch++) {
            if (cases[i].runs == 0)
                LOGS(exec, 99);
            else
                LOGS(exec, cases[i].runs, 99);
        }
        OK(cu.cuGraphExecDestroy(exec));
    }
}

static void a_loop_asks_after_each_round(void)
{
    CUgraph graph = new_graph(), body;
    const CUgraphConditionalHandle handle = handle_of(graph, 1, 1);
    const CUgraphNode node =
        conditional(graph, NULL, handle, CU_GRAPH_COND_TYPE_WHILE, 1, &body);
    steps(body, marks(body, NULL, 1), handle);
    marks(graph, node, 99);
    CUgraphExec exec = instantiate(graph);
    OK(cu.cuMemsetD32(word, 4, 1));
    LOGS(exec, 1, 1, 1, 1, 99);
    OK(cu.cuMemsetD32(word, 2, 1));
    LOGS(exec, 1, 1, 99);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

/* An IF in a WHILE: its default comes with the launch, not with the round. */
static void a_default_comes_with_the_launch(void)
{
    for (int of_body = 0; of_body < 2; of_body++) {
        CUgraph graph = new_graph(), round, inner;
        const CUgraphConditionalHandle loop = handle_of(graph, 1, 1);
        conditional(graph, NULL, loop, CU_GRAPH_COND_TYPE_WHILE, 1, &round);
        const CUgraphConditionalHandle once = handle_of(of_body ? round : graph, 1, 1);
        CUgraphNode node =
            conditional(round, NULL, once, CU_GRAPH_COND_TYPE_IF, 1, &inner);
        sets(inner, marks(inner, NULL, 1), once, 0);
        steps(round, marks(round, node, 50), loop);
        CUgraphExec exec = instantiate(graph);
        for (int launch = 0; launch < 2; launch++) {
            OK(cu.cuMemsetD32(word, 3, 1));
            LOGS(exec, 1, 50, 50, 50);
        }
        OK(cu.cuGraphExecDestroy(exec));
        OK(cu.cuGraphDestroy(graph));
    }
}

static void without_the_flag_a_value_stays(void)
{
    CUgraph graph = new_graph(), bodies[2];
    const CUgraphConditionalHandle handle = handle_of(graph, 1, 0);
    conditional(graph, NULL, handle, CU_GRAPH_COND_TYPE_IF, 2, bodies);
    sets(bodies[0], marks(bodies[0], NULL, 1), handle, 0);
    sets(bodies[1], marks(bodies[1], NULL, 2), handle, 1);
    CUgraphExec exec = instantiate(graph);
    unsigned first;
    OK(cu.cuMemsetD32(log_, 0, 64));
    OK(cu.cuGraphLaunch(exec, NULL)); /* from a value that nobody promises */
    OK(cu.cuCtxSynchronize());
    OK(cu.cuMemcpyDtoH(&first, log_ + 4, sizeof(first)));
    for (int launch = 0; launch < 4; launch++) {
        first = 3 - first;
        LOGS(exec, first);
    }
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

/* Three deep, a branch in a branch in a loop. */
static void bodies_nest(void)
{
    CUgraph graph = new_graph(), round, ways[2], deep[3];
    const CUgraphConditionalHandle loop = handle_of(graph, 1, 1);
    const CUgraphConditionalHandle turn = handle_of(graph, 0, 1);
    const CUgraphConditionalHandle which = handle_of(graph, 2, 1);
    conditional(graph, NULL, loop, CU_GRAPH_COND_TYPE_WHILE, 1, &round);
    const CUgraphNode branch =
        conditional(round, NULL, turn, CU_GRAPH_COND_TYPE_IF, 2, ways);
    steps(round, branch, loop);
    sets(ways[0], marks(ways[0], NULL, 1), turn, 0);
    const CUgraphNode inner =
        conditional(ways[1], NULL, which, CU_GRAPH_COND_TYPE_SWITCH, 3, deep);
    for (unsigned i = 0; i < 3; i++)
        marks(deep[i], NULL, 10 + i);
    sets(ways[1], inner, turn, 1);
    CUgraphExec exec = instantiate(graph);
    OK(cu.cuMemsetD32(word, 5, 1));
    LOGS(exec, 12, 1, 12, 1, 12);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

static void bodies_use_memory_of_the_parent(void)
{
    if (!has_memory_nodes())
        SKIP("no memory nodes");
    CUgraph graph = new_graph(), body;
    CUgraphNode alloc, node, release;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
        .bytesize = 4096};
    OK(cu.cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
    node = conditional(graph, alloc, handle_of(graph, 1, 1), CU_GRAPH_COND_TYPE_IF, 1,
                       &body);
    unsigned value = 7;
    void *args[] = {&params.dptr, &value};
    node_of(body, NULL, k.store, args);
    CUgraphNode copied = NULL;
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = params.dptr,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = word,
                                .WidthInBytes = 4,
                                .Height = 1,
                                .Depth = 1};
    OK(cu.cuGraphAddMemcpyNode(&copied, graph, &node, 1, &copy, context));
    OK(cu.cuGraphAddMemFreeNode(&release, graph, &copied, 1, params.dptr));
    OK(cu.cuMemsetD32(word, 0, 1));
    run_graph(graph);
    CHECK(word_at(word) == 7);
    OK(cu.cuGraphDestroy(graph));
}

/* ---- updates ----------------------------------------------------------------------- */

struct form {
    unsigned initial, flags, size, value;
    int type, extra, spare; /* spare: a handle that is made first */
};

static CUgraph graph_of(const struct form *form)
{
    CUgraph graph = new_graph(), bodies[3];
    if (form->spare)
        handle_of(graph, 1, 1);
    conditional(graph, NULL, handle_of(graph, form->initial, form->flags), form->type,
                form->size, bodies);
    CUgraphNode node = marks(bodies[0], NULL, form->value);
    if (form->extra)
        marks(bodies[0], node, 77);
    for (unsigned i = 1; i < form->size; i++)
        marks(bodies[i], NULL, 20 + i);
    return graph;
}

static void updates_reach_into_bodies(void)
{
    const struct form first = {.initial = 1, .flags = 1, .size = 2, .value = 1};
    CUgraph graph = graph_of(&first);
    CUgraphExec exec = instantiate(graph);
    static const struct {
        struct form form;
        int result; /* CUgraphExecUpdateResult */
        bool names;
        unsigned runs; /* afterwards */
    } cases[] = {
        {{.initial = 1, .flags = 1, .size = 2, .value = 5}, 0, false, 5},
        {{.initial = 0, .flags = 1, .size = 2, .value = 6}, 0, false, 21},
        {{.initial = 1, .flags = 1, .size = 1, .value = 7}, 6, true, 21},
        {{.initial = 1, .flags = 1, .size = 2, .value = 7, .type = 2}, 6, true, 21},
        {{.initial = 1, .flags = 1, .size = 2, .value = 7, .extra = 1}, 2, false, 21},
        {{.initial = 1, .flags = 1, .size = 2, .value = 7, .spare = 1}, 6, true, 21},
        {{.initial = 1, .flags = 1, .size = 2, .value = 8}, 0, false, 8},
    };
    LOGS(exec, 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
        CUgraph other = graph_of(&cases[i].form);
        const CUresult result = cu.cuGraphExecUpdate(exec, other, &info);
        CHECK(result ==
              (cases[i].result ? CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE : CUDA_SUCCESS));
        CHECK((int)info.result == cases[i].result);
        CHECK((info.errorNode != NULL) == cases[i].names && info.errorFromNode == NULL);
        LOGS(exec, cases[i].runs);
        OK(cu.cuGraphDestroy(other));
    }
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

/* Nodes of bodies have their setters and switches. */
static void setters_reach_into_bodies(void)
{
    CUgraph graph = new_graph(), body;
    conditional(graph, NULL, handle_of(graph, 1, 1), CU_GRAPH_COND_TYPE_IF, 1, &body);
    CUgraphNode node = marks(body, NULL, 1);
    CUgraphExec exec = instantiate(graph);
    unsigned value = 9;
    void *args[] = {&log_, &value};
    const CUDA_KERNEL_NODE_PARAMS params = one_thread(mark, args);
    OK(cu.cuGraphExecKernelNodeSetParams(exec, node, &params));
    LOGS(exec, 9);
    OK(cu.cuGraphNodeSetEnabled(exec, node, 0));
    LOGS_NOTHING(exec);
    OK(cu.cuGraphNodeSetEnabled(exec, node, 1));
    LOGS(exec, 9);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

/* ---- captures ---------------------------------------------------------------------- */

static void bodies_are_captured_into(void)
{
    CUgraph graph, body, ended;
    CUstream stream, side;
    CUgraphNode node;
    CUstreamCaptureStatus status;
    cuuint64_t id;
    const CUgraphNode *before;
    size_t count = 0;
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cu.cuStreamGetCaptureInfo(stream, &status, &id, &graph, &before, NULL, &count));
    CHECK(count == 0);
    node =
        conditional(graph, NULL, handle_of(graph, 1, 1), CU_GRAPH_COND_TYPE_IF, 1, &body);
    OK(cu.cuStreamUpdateCaptureDependencies(stream, &node, NULL, 1,
                                            CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    unsigned value = 4;
    void *args[] = {&log_, &value};
    OK(cu.cuStreamBeginCaptureToGraph(side, body, NULL, NULL, 0,
                                      CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cu.cuLaunchKernel(mark, 1, 1, 1, 1, 1, 1, 0, side, args, NULL));
    OK(cu.cuStreamEndCapture(side, &ended));
    CHECK(ended == body);
    value = 9;
    OK(cu.cuLaunchKernel(mark, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
    OK(cu.cuStreamEndCapture(stream, &ended));
    CHECK(ended == graph);
    CUgraphExec exec = instantiate(graph);
    LOGS(exec, 4, 9);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuStreamDestroy(side));
    OK(cu.cuStreamDestroy(stream));
}

/* The last test of its rule: the context is over. */
static void a_condition_needs_its_graph(void)
{
    CUgraph graph = new_graph();
    CUgraphConditionalHandle handle = handle_of(graph, 1, 1);
    unsigned value = 1;
    void *args[] = {&handle, &value};
    conditional(graph, NULL, handle, CU_GRAPH_COND_TYPE_IF, 1, NULL);
    OK(cu.cuLaunchKernel(set, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    CHECK(cu.cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
    (void)cu.cuGraphDestroy(graph);
}

static void run(void)
{
    CUmodule module;
    if (!rule_listing) {
        k = load_kernels();
        log_ = new_words();
        word = new_words();
        OK(cu.cuCtxGetCurrent(&context));
        OK(cu.cuModuleLoadData(&module, device_ptx));
        OK(cu.cuModuleGetFunction(&set, module, "set"));
        OK(cu.cuModuleGetFunction(&step, module, "step"));
        OK(cu.cuModuleGetFunction(&mark, module, "mark"));
    }
    RULE_TEST(R80, a_handle_has_one_node);
    RULE_TEST(R81, sizes_are_those_of_the_type);
    RULE_TEST(R82, all_is_of_one_context);
    RULE_TEST(R83, bodies_hold_what_a_device_runs);
    RULE_TEST(R83, bodies_are_captured_into);
    RULE_TEST(M_handle_unused, an_unused_handle_is_refused);
    RULE_TEST(R86, such_a_graph_stays_what_it_is);
    RULE_TEST(M_conditional_kept, its_parameters_stay);
    RULE_TEST(R85, bodies_run_as_the_value_says);
    RULE_TEST(R85, a_loop_asks_after_each_round);
    RULE_TEST(R85, bodies_nest);
    RULE_TEST(R84, a_default_comes_with_the_launch);
    RULE_TEST(R84, without_the_flag_a_value_stays);
    RULE_TEST(R87, bodies_use_memory_of_the_parent);
    RULE_TEST(R69f, updates_reach_into_bodies);
    RULE_TEST(R69f, setters_reach_into_bodies);
    RULE_TEST(R80, a_condition_needs_its_graph);
}

int main(int argc, char **argv)
{
    return rule_main(argc, argv, run);
}
