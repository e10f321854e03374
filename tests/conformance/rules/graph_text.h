// SPDX-License-Identifier: Apache-2.0
/* Graphs from a line of text, for tests of topology:
 *
 *     k1 m2<k1 e3<k1,m2      three nodes; the second depends on the first, ...
 *     +k1>e3  -k1>e3         an edge added, removed
 *     !m2                    a node destroyed
 *
 * The letter is what the node is: k a kernel that writes, l another kernel, e empty,
 * m a fill of one row, n of four, N of eight, c a copy of one row, C of four, h a host
 * function, r an event record, w an event wait, g a child graph "k1 m2<k1". */
#ifndef CONFORMANCE_GRAPH_TEXT_H
#define CONFORMANCE_GRAPH_TEXT_H
#include "../kernels.h"
#include "rule.h"

enum { TEXT_NODES = 32, TEXT_BYTES = 1 << 20 };

typedef struct text_graph {
    CUgraph graph;
    int count;
    CUgraphNode nodes[TEXT_NODES];
    char names[TEXT_NODES][8];
} text_graph;

/* What the nodes work on; text_start() makes it. */
static CUcontext text_context;
static CUfunction text_store, text_other;
static CUdeviceptr text_memory[2]; /* TEXT_BYTES each */
static CUevent text_event;

static inline void text_start(void)
{
    CUmodule module;
    OK(cu.cuCtxGetCurrent(&text_context));
    OK(cu.cuModuleLoadData(&module, kernels_ptx));
    OK(cu.cuModuleGetFunction(&text_store, module, "store"));
    OK(cu.cuModuleGetFunction(&text_other, module, "nothing"));
    for (int i = 0; i < 2; i++)
        OK(cu.cuMemAlloc(&text_memory[i], TEXT_BYTES));
    OK(cu.cuEventCreate(&text_event, CU_EVENT_DISABLE_TIMING));
}

/* store(*address = *value); both are read when the parameters are used. */
static inline CUDA_KERNEL_NODE_PARAMS store_params(CUdeviceptr *address, unsigned *value)
{
    static void *arguments[8][2];
    static unsigned next;
    void **const mine = arguments[next++ % 8];
    mine[0] = address;
    mine[1] = value;
    return one_thread(text_store, mine);
}

static inline CUDA_MEMSET_NODE_PARAMS fill_params(CUdeviceptr dst, unsigned value,
                                                  size_t width, size_t height)
{
    return (CUDA_MEMSET_NODE_PARAMS){.dst = dst,
                                     .pitch = height > 1 ? 256 : 0,
                                     .value = value,
                                     .elementSize = 1,
                                     .width = width,
                                     .height = height};
}

static inline CUDA_MEMCPY3D copy_params(CUdeviceptr dst, CUdeviceptr src, size_t width,
                                        size_t height)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = src,
                           .srcPitch = height > 1 ? 256 : 0,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = dst,
                           .dstPitch = height > 1 ? 256 : 0,
                           .WidthInBytes = width,
                           .Height = height,
                           .Depth = 1};
}

static void CUDA_CB text_nothing(void *user)
{
    (void)user;
}

static text_graph text_build(const char *text);

static inline void text_add(text_graph *out, char type, const CUgraphNode *after,
                            size_t count)
{
    static unsigned value = 5;
    static CUdeviceptr address;
    CUgraphNode *node = &out->nodes[out->count];
    const size_t rows = type == 'n' || type == 'C' ? 4 : type == 'N' ? 8 : 1;
    const CUDA_MEMSET_NODE_PARAMS fill = fill_params(text_memory[0], 1, 16, rows);
    const CUDA_MEMCPY3D copy = copy_params(text_memory[1], text_memory[0], 16, rows);
    const CUDA_HOST_NODE_PARAMS host = {.fn = text_nothing};
    address = text_memory[0];
    CUDA_KERNEL_NODE_PARAMS kernel = store_params(&address, &value);
    kernel.func = type == 'l' ? text_other : text_store;
    switch (type) {
    case 'k':
    case 'l': OK(cu.cuGraphAddKernelNode(node, out->graph, after, count, &kernel)); break;
    case 'm':
    case 'n':
    case 'N':
        OK(cu.cuGraphAddMemsetNode(node, out->graph, after, count, &fill, text_context));
        break;
    case 'c':
    case 'C':
        OK(cu.cuGraphAddMemcpyNode(node, out->graph, after, count, &copy, text_context));
        break;
    case 'h': OK(cu.cuGraphAddHostNode(node, out->graph, after, count, &host)); break;
    case 'r':
        OK(cu.cuGraphAddEventRecordNode(node, out->graph, after, count, text_event));
        break;
    case 'w':
        OK(cu.cuGraphAddEventWaitNode(node, out->graph, after, count, text_event));
        break;
    case 'g': {
        const text_graph child = text_build("k1 m2<k1");
        OK(cu.cuGraphAddChildGraphNode(node, out->graph, after, count, child.graph));
        OK(cu.cuGraphDestroy(child.graph));
        break;
    }
    default: OK(cu.cuGraphAddEmptyNode(node, out->graph, after, count));
    }
    out->count++;
}

/* The node of a name that ends at a blank or one of <,>. */
static inline CUgraphNode text_find(const text_graph *graph, const char *name)
{
    const size_t length = strcspn(name, " <,>");
    for (int i = 0; i < graph->count; i++)
        if (strlen(graph->names[i]) == length &&
            memcmp(graph->names[i], name, length) == 0)
            return graph->nodes[i];
    fprintf(stderr, "no node %s\n", name);
    exit(1);
}

static inline void text_edge(const text_graph *graph, const char *word)
{
    const CUgraphNode from = text_find(graph, word + 1);
    const CUgraphNode to = text_find(graph, strchr(word, '>') + 1);
    if (word[0] == '+')
        OK(cu.cuGraphAddDependencies(graph->graph, &from, &to, NULL, 1));
    else
        OK(cu.cuGraphRemoveDependencies(graph->graph, &from, &to, NULL, 1));
}

static inline void text_edit(text_graph *graph, const char *text)
{
    for (const char *at = text + strspn(text, " "); *at != '\0';
         at += strcspn(at, " "), at += strspn(at, " ")) {
        if (*at == '+' || *at == '-') {
            text_edge(graph, at);
        } else if (*at == '!') {
            OK(cu.cuGraphDestroyNode(text_find(graph, at + 1)));
        } else {
            CUgraphNode after[TEXT_NODES];
            size_t count = 0;
            const size_t length = strcspn(at, " <");
            for (const char *q = at + length; *q == '<' || *q == ',';
                 q += 1 + strcspn(q + 1, " ,"))
                after[count++] = text_find(graph, q + 1);
            snprintf(graph->names[graph->count], sizeof(graph->names[0]), "%.*s",
                     (int)length, at);
            text_add(graph, *at, after, count);
        }
    }
}

static text_graph text_build(const char *text)
{
    text_graph graph = {0};
    OK(cu.cuGraphCreate(&graph.graph, 0));
    text_edit(&graph, text);
    return graph;
}

static inline CUgraphExec text_instantiate(const char *text, unsigned long long flags)
{
    const text_graph graph = text_build(text);
    CUgraphExec exec = NULL;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph.graph, flags));
    OK(cu.cuGraphDestroy(graph.graph));
    return exec;
}
#endif
