// SPDX-License-Identifier: Apache-2.0
/* What cuGraphDebugDotPrint() writes, flag by flag. */
#include <unistd.h>

#include "graphs.h"

static CUcontext context;
static struct kernels k;
static char text[65536]; /* of the last graph written */

static char path[64];
static CUgraph graph;
static CUdeviceptr words;
static CUevent event;

static void write_dot_of(CUgraph from, unsigned flags)
{
    OK(cu.cuGraphDebugDotPrint(from, path, flags));
    FILE *file = fopen(path, "r");
    if (!CHECK(file != NULL))
        return;
    const size_t length = fread(text, 1, sizeof(text) - 1, file);
    text[length] = '\0';
    fclose(file);
    (void)remove(path);
}

static void write_dot(unsigned flags)
{
    write_dot_of(graph, flags);
}

static bool says(const char *part)
{
    if (strstr(text, part) != NULL)
        return true;
    fprintf(stderr, "not there: %s\nbut:\n%s", part, text);
    return false;
}

/* "graph_%d..." of the first or second graph of the text. */
static bool says_of(int which, const char *format)
{
    unsigned long long number = 0;
    const char *at = text;
    for (int i = 0; i <= which && at != NULL; i++)
        at = strstr(at + 1, "subgraph cluster_");
    if (!CHECK(at != NULL && sscanf(at, "subgraph cluster_%llu", &number) == 1))
        return false;
    char part[512], digits[24];
    size_t length = 0;
    snprintf(digits, sizeof(digits), "%llu", number);
    for (; *format != '\0' && length < sizeof(part) - 32; format++)
        if (*format == '#')
            length += (size_t)snprintf(part + length, 32, "%s", digits);
        else
            part[length++] = *format;
    part[length] = '\0';
    return says(part);
}

static void CUDA_CB do_nothing(void *user)
{
    (void)user;
}

/* A node of each kind: 0 kernel, 1 kernel, 2 copy, 3 fill, 4 host, 5 empty, 6 and 7 an
 * event, 8 child, 9 memory operation, in a chain; then 10 alloc, 11 free. */
static CUgraph graph_of_all(void)
{
    static unsigned host[2];
    unsigned value = 3;
    CUgraph whole = new_graph(), child = new_graph();
    CUgraphNode n[12];
    void *args[] = {&words, &value};
    const CUDA_KERNEL_NODE_PARAMS store = one_thread(k.store, args);
    const CUgraphEdgeData programmatic = {.from_port = 1, .type = 1};
    OK(cu.cuGraphAddKernelNode(&n[0], whole, NULL, 0, &store));
    n[1] = kernel_node(whole, k.nothing);
    OK(cu.cuGraphAddDependencies(whole, &n[0], &n[1], &programmatic, 1));
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = host,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = words,
                                .WidthInBytes = 8,
                                .Height = 1,
                                .Depth = 1};
    OK(cu.cuGraphAddMemcpyNode(&n[2], whole, &n[1], 1, &copy, context));
    const CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = words, .value = 5, .elementSize = 4, .width = 16, .height = 1};
    OK(cu.cuGraphAddMemsetNode(&n[3], whole, &n[2], 1, &fill, context));
    const CUDA_HOST_NODE_PARAMS call = {do_nothing, host};
    OK(cu.cuGraphAddHostNode(&n[4], whole, &n[3], 1, &call));
    OK(cu.cuGraphAddEmptyNode(&n[5], whole, &n[4], 1));
    OK(cu.cuGraphAddEventRecordNode(&n[6], whole, &n[5], 1, event));
    OK(cu.cuGraphAddEventWaitNode(&n[7], whole, &n[6], 1, event));
    empty_node(child);
    OK(cu.cuGraphAddChildGraphNode(&n[8], whole, &n[7], 1, child));
    CUstreamBatchMemOpParams op;
    memset(&op, 0, sizeof(op));
    op.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    op.writeValue.address = words;
    op.writeValue.value = 4;
    const CUDA_BATCH_MEM_OP_NODE_PARAMS batch = {context, 1, &op, 0};
    OK(cu.cuGraphAddBatchMemOpNode(&n[9], whole, &n[8], 1, &batch));
    CUDA_MEM_ALLOC_NODE_PARAMS params;
    n[10] = alloc_node(whole);
    OK(cu.cuGraphMemAllocNodeGetParams(n[10], &params));
    OK(cu.cuGraphAddMemFreeNode(&n[11], whole, &n[10], 1, params.dptr));
    OK(cu.cuGraphDestroy(child));
    return whole;
}

static void every_node_and_edge_is_there(void)
{
    static const char *const nodes[] = {
        "\"graph_#_node_0\"[style=\"bold\" shape=\"octagon\" label=\"0\nstore\n\"];\n\n",
        "\"graph_#_node_1\"[style=\"bold\" shape=\"octagon\" label=\"1\nnothing\n\"];",
        "\"graph_#_node_2\"[style=\"solid\" shape=\"trapezium\"label=\"2\nMEMCPY\n"
        "(HtoD,8)\n\"];",
        "\"graph_#_node_3\"[style=\"solid\" shape=\"invtrapezium\"label=\"3\nMEMSET\n"
        "(5,64)\n\"];",
        "\"graph_#_node_4\"[style=\"solid\" shape=\"rectangle\" label=\"4\nHOST\n\"];",
        "\"graph_#_node_5\"[style=\"solid\" shape=\"rectangle\" label=\"5\nEMPTY\n\"];",
        "label=\"6\nEVENT_RECORD\n\"];",
        "label=\"7\nEVENT_WAIT\n\"];",
        "label=\"9\nBATCH_MEM_OP\n\"];",
        "label=\"10\nMEM_ALLOC\n\"];",
        "label=\"11\nMEM_FREE\n\"];",
        "\"graph_#_node_0\" -> \"graph_#_node_1\";\n",
        "\"graph_#_node_10\" -> \"graph_#_node_11\";\n}\n",
        "subgraph cluster_# {\nlabel=\"graph_#\" graph[style=\"dashed\"];\n"};
    write_dot(0);
    CHECK(strncmp(text, "digraph dot {\n", 14) == 0);
    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
        CHECK(says_of(0, nodes[i]));
    CHECK(says_of(1, "label=\"8\ngraph_#\n\"];"));
    CHECK(says_of(1, "\"graph_#_node_0\"[style=\"solid\" shape=\"rectangle\" label=\"0\n"
                     "EMPTY\n\"];\n\n}\n}\n"));
}

static void each_flag_shows_its_part(void)
{
    static const struct {
        unsigned flag;
        const char *part;
    } parts[] = {
        {CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS,
         "label=\"0\nstore\n\\<\\<\\<1,1,0\\>\\>\\>\"];"},
        {CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS,
         "| {Extent | {WidthInBytes | Height | Depth} | {8 | 1 | 1}}\n}\"];"},
        {CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS,
         "| Height | LOD} | {HOST (HOST PAGEABLE) | 0x0000000000000000 | 0x"},
        {CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS, " | 0 | 5 | 4 | 16 | 1}}}\"];"},
        {CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS, "label=\"4\nHOST\nfn: 0x"},
        {CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS, "\nuserData: 0x"},
        {CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS, "EVENT_RECORD\nevent: 0x"},
        {CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS, "EVENT_WAIT\nevent: 0x"},
        {CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES,
         "label=\"{KERNEL\n| {ID | 0 | store}\n| {accessPolicyWindow | {base_ptr | "},
        {CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES,
         "| {cooperative | 0}\n| {priority | 0}\n}\"];"},
        {CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES, "label=\"0\nstore\nnode handle: 0x"},
        {CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES, "func handle: 0x"},
        {CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES, "label=\"5\nEMPTY\nnode handle: 0x"},
        {CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS,
         "{PINNED | NONE | DEVICE | 0}}}}\n| {{bytesize | dptr} | {4096 | 0x"},
        {CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS,
         "MEM_FREE\n| {{ID} | {11}}\n| {{dptr} | {0x"},
        {CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS,
         "BATCH_MEM_OP\n| {{ID | count | flags } | {9 | 1 | 0x00000000 }}\n"
         "| {{{paramArray[0] | {op | addr | val | flags }}}\n| {WRITE_VALUE_32 | 0x"},
        {CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS,
         " | 0x00000004 | DEFAULT}}\n}\"];"},
        {CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO, "label=\"0 (topoId: 11)\nstore\n"},
        {CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO, "label=\"9 (topoId: 1)\n"},
        {CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO, "label=\"10 (topoId: 2)\n"},
        {CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO, " [headlabel=0];\n"},
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        write_dot(parts[i].flag);
        CHECK(says(parts[i].part));
        write_dot(0);
        CHECK(strstr(text, parts[i].part) == NULL);
    }
    write_dot(CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE);
    CHECK(
        says("label=\"{KERNEL\n| {ID | 0 (topoId: 11) | store\\<\\<\\<1,1,0\\>\\>\\>}"));
    CHECK(says("label=\"5 (topoId: 6)\nEMPTY\nnode handle: 0x"));
}

static void wide_launches_and_long_batches_are_written_out(void)
{
    CUgraph other = new_graph();
    CUgraphNode node;
    unsigned value = 3;
    void *args[] = {&words, &value};
    CUDA_KERNEL_NODE_PARAMS store = one_thread(k.store, args);
    store.gridDimX = 2;
    store.gridDimY = 3;
    store.gridDimZ = 4;
    store.blockDimX = 5;
    store.blockDimY = 6;
    store.blockDimZ = 7;
    store.sharedMemBytes = 128;
    OK(cu.cuGraphAddKernelNode(&node, other, NULL, 0, &store));
    CUstreamBatchMemOpParams ops[2];
    memset(ops, 0, sizeof(ops));
    ops[0].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    ops[0].waitValue.address = words;
    ops[0].waitValue.value = 9;
    ops[0].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    ops[1].memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
    ops[1].memoryBarrier.flags = CU_STREAM_MEMORY_BARRIER_TYPE_GPU;
    const CUDA_BATCH_MEM_OP_NODE_PARAMS batch = {context, 2, ops, 0};
    OK(cu.cuGraphAddBatchMemOpNode(&node, other, NULL, 0, &batch));
    write_dot_of(other, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS |
                            CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS);
    CHECK(says("store\n\\<\\<\\<\\{2,3,4\\},\\{5,6,7\\},128\\>\\>\\>\"];"));
    CHECK(says("| {{{paramArray[0] | {op | addr | val | flags }}\n"
               "| {paramArray[1] | {op | flags }}}\n| {WAIT_VALUE_32 | 0x"));
    CHECK(says(" | 0x00000009 | EQ\n| BARRIER | GPU }}\n}\"];"));
    OK(cu.cuGraphDestroy(other));
}

/* Level by level; numbers of graphs rise as they are made. */
static void child_graphs_come_by_levels(void)
{
    CUgraph inner = new_graph(), middle = new_graph(), top = new_graph();
    CUgraphNode node;
    empty_node(inner);
    empty_node(inner);
    OK(cu.cuGraphAddChildGraphNode(&node, middle, NULL, 0, inner));
    OK(cu.cuGraphAddChildGraphNode(&node, top, NULL, 0, middle));
    OK(cu.cuGraphAddChildGraphNode(&node, top, NULL, 0, inner));
    write_dot_of(top, 0);
    unsigned long long numbers[4] = {0};
    const char *at = text;
    for (int i = 0; i < 4 && (at = strstr(at, "subgraph cluster_")) != NULL; i++, at++)
        CHECK(sscanf(at, "subgraph cluster_%llu", &numbers[i]) == 1);
    /* top, the copy of middle, the copy of inner, and what the copy of middle holds */
    CHECK(numbers[1] < numbers[3] && numbers[3] < numbers[2]);
    OK(cu.cuGraphDestroy(inner));
    OK(cu.cuGraphDestroy(middle));
    OK(cu.cuGraphDestroy(top));
}

/* As an H200 writes them. */
static void conditional_nodes_name_their_bodies(void)
{
    CUgraph top = new_graph();
    CUgraphNode node;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.type = CU_GRAPH_COND_TYPE_SWITCH;
    params.conditional.size = 2;
    params.conditional.ctx = context;
    OK(cu.cuGraphConditionalHandleCreate(&params.conditional.handle, top, context, 1, 1));
    OK(cu.cuGraphAddNode(&node, top, NULL, NULL, 0, &params));
    CUgraph body = params.conditional.phGraph_out[1];
    params.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
    params.conditional.size = 1;
    OK(cu.cuGraphConditionalHandleCreate(&params.conditional.handle, body, context, 1,
                                         1));
    OK(cu.cuGraphAddNode(&node, body, NULL, NULL, 0, &params));
    for (unsigned flags = 0; flags < 2; flags++) {
        unsigned long long first = 0, second = 0, third = 0;
        write_dot_of(top, flags);
        CHECK(says("[style=\"bold\" shape=\"record\" label=\"{\nCONDITIONAL\n| {ID | 0"));
        const char *at = strstr(text, "| {Conditional Type| SWITCH}\n| {0|  graph_");
        CHECK(at != NULL && sscanf(at,
                                   "| {Conditional Type| SWITCH} | {0|  graph_%llu} "
                                   "| {1|  graph_%llu} }",
                                   &first, &second) == 2);
        at = strstr(text, "| {Conditional Type| WHILE}\n| {True|graph_");
        CHECK(at != NULL &&
              sscanf(at, "| {Conditional Type| WHILE} | {True|graph_%llu}", &third) == 1);
        CHECK(first < second && second < third);
        CHECK((strstr(text, "| {Conditional Handle|2}\n") != NULL) == (flags == 1));
        CHECK((strstr(text, "| {node handle| 0x") != NULL) == (flags == 1));
    }
    OK(cu.cuGraphDestroy(top));
}

static void wrong_places_are_refused(void)
{
    REFUSED(INVALID_VALUE, cu.cuGraphDebugDotPrint(graph, NULL, 0));
    REFUSED(INVALID_VALUE, cu.cuGraphDebugDotPrint(NULL, path, 0));
    REFUSED(OPERATING_SYSTEM, cu.cuGraphDebugDotPrint(graph, "/no/such/folder/x", 0));
    OK(cu.cuGraphDebugDotPrint(graph, path, 1u << 16)); /* unknown flags are let pass */
    (void)remove(path);
}

static void run(void)
{
    if (!rule_listing) {
        OK(cu.cuCtxGetCurrent(&context));
        k = load_kernels();
        snprintf(path, sizeof(path), "/tmp/gph-rules-%ld.dot", (long)getpid());
        words = new_words();
        OK(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
        graph = graph_of_all();
    }
    RULE_TEST(M_dot, every_node_and_edge_is_there);
    RULE_TEST(M_dot, each_flag_shows_its_part);
    RULE_TEST(M_dot, wide_launches_and_long_batches_are_written_out);
    RULE_TEST(M_dot, child_graphs_come_by_levels);
    RULE_TEST(M_dot, conditional_nodes_name_their_bodies);
    RULE_TEST(M_dot, wrong_places_are_refused);
}

int main(int argc, char **argv)
{
    return rule_main(argc, argv, run);
}
