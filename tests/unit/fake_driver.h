// SPDX-License-Identifier: Apache-2.0
/* A driver for tests of libgph: one stream that can be captured, graphs with nodes of
 * fixed parameters, and a call that fails when asked to. It counts what it gave out, so that
 * a test sees what was not given back.
 *
 *   fake.fail_at   calls left before the failing one; negative: none fails
 *   fake.lacks     the name of a call that this driver does not have */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H
#include "base/heap.h"
#include "cuda/runtime.h"

#include <stdio.h>
#include <string.h>

enum { FAKE_NODES = 9 };

static struct fake_driver {
    int version;
    long fail_at;
    CUresult fail_with;
    CUresult init_with; /* of each cuInit() */
    const char *lacks;
    CUstreamCaptureStatus capture; /* of the one stream */
    CUresult end_with;             /* what ending the capture returns */
    int live_graphs, live_execs, live_logs;
    int uploads, launches;
    CUlogsCallback log;
    int is_terse;           /* the log names calls without a sentence */
    CUgraphNode error_node; /* what a failed instantiation blames */
    int changes;            /* describing: the graph changes under the reader */
    int deep;               /* child graphs nest forever */
} fake;

/* Handles are addresses of these. */
static char fake_stream, fake_graph, fake_exec, fake_nodes[FAKE_NODES + 1];
#define FAKE_STREAM ((CUstream)(void *)&fake_stream)
#define FAKE_GRAPH ((CUgraph)(void *)&fake_graph)
#define FAKE_EXEC ((CUgraphExec)(void *)&fake_exec)
#define FAKE_NODE(i) ((CUgraphNode)(void *)&fake_nodes[i])

static CUresult fake_fail(const char *name, CUresult result)
{
    char text[128];
    int bytes = snprintf(text, sizeof(text), "%s makes no sense\n", name);
    if (fake.log != NULL && !fake.is_terse)
        fake.log(NULL, CU_LOG_LEVEL_ERROR, text, (size_t)bytes);
    bytes = snprintf(text, sizeof(text), "Returning %d (%s) from %s", (int)result,
                     gph_status_name((gph_status)result), name);
    if (fake.log != NULL)
        fake.log(NULL, CU_LOG_LEVEL_ERROR, text, (size_t)bytes);
    return result;
}

/* Begins every call: the one that is to fail does so without doing anything. */
#define FAKE_ENTER()                                                                     \
    do {                                                                                 \
        if (fake.fail_at >= 0 && fake.fail_at-- == 0)                                    \
            return fake_fail(__func__ + 5, fake.fail_with);                              \
    } while (0)

static CUresult fake_cuInit(unsigned int flags)
{
    FAKE_ENTER();
    if (fake.init_with != CUDA_SUCCESS)
        return fake_fail("cuInit", fake.init_with);
    return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult fake_cuDriverGetVersion(int *version)
{
    *version = fake.version;
    return CUDA_SUCCESS;
}

static CUresult fake_cuLogsRegisterCallback(CUlogsCallback callback, void *user,
                                            CUlogsCallbackHandle *out)
{
    (void)user;
    FAKE_ENTER();
    fake.log = callback;
    fake.live_logs++;
    *out = NULL;
    return CUDA_SUCCESS;
}

static CUresult fake_cuLogsUnregisterCallback(CUlogsCallbackHandle handle)
{
    (void)handle;
    fake.log = NULL;
    fake.live_logs--;
    return CUDA_SUCCESS;
}

static CUresult fake_cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    FAKE_ENTER();
    if (stream != FAKE_STREAM)
        return fake_fail("cuStreamIsCapturing", CUDA_ERROR_INVALID_HANDLE);
    *status = fake.capture;
    return CUDA_SUCCESS;
}

static CUresult fake_cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
    FAKE_ENTER();
    if (stream != FAKE_STREAM || mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    fake.capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return CUDA_SUCCESS;
}

static CUresult fake_cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    FAKE_ENTER();
    if (stream != FAKE_STREAM)
        return CUDA_ERROR_INVALID_HANDLE;
    fake.capture = CU_STREAM_CAPTURE_STATUS_NONE;
    if (fake.end_with != CUDA_SUCCESS)
        return fake_fail("cuStreamEndCapture", fake.end_with);
    *graph = FAKE_GRAPH;
    fake.live_graphs++;
    return CUDA_SUCCESS;
}

static CUresult fake_cuGraphDestroy(CUgraph graph)
{
    (void)graph;
    fake.live_graphs--;
    return CUDA_SUCCESS;
}

static CUresult fake_cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
                                                  CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    (void)graph;
    if (fake.error_node != NULL) {
        params->hErrNode_out = fake.error_node;
        params->result_out = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
        return fake_fail("cuGraphInstantiateWithParams", CUDA_ERROR_INVALID_VALUE);
    }
    FAKE_ENTER();
    if ((params->flags & 2) != 0 && params->hUploadStream != NULL)
        fake.uploads++;
    fake.live_execs++;
    *exec = FAKE_EXEC;
    return CUDA_SUCCESS;
}

static CUresult fake_cuGraphExecDestroy(CUgraphExec exec)
{
    (void)exec;
    fake.live_execs--;
    return CUDA_SUCCESS;
}

static CUresult fake_cuGraphUpload(CUgraphExec exec, CUstream stream)
{
    FAKE_ENTER();
    if (exec != FAKE_EXEC || stream != FAKE_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    fake.uploads++;
    return CUDA_SUCCESS;
}

static CUresult fake_cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    FAKE_ENTER();
    if (exec != FAKE_EXEC || stream != FAKE_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    fake.launches++;
    return CUDA_SUCCESS;
}

/* The graph: one node of each type from 0 to 7, and a kernel launched with one buffer; a
 * chain, whose last edge is programmatic. The child graph is empty. */
static char fake_child;
#define FAKE_CHILD ((CUgraph)(void *)&fake_child)

static CUresult fake_cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    FAKE_ENTER();
    const size_t all = graph == FAKE_GRAPH ? FAKE_NODES : 0;
    for (size_t i = 0; nodes != NULL && i < *count; i++)
        nodes[i] = i < all ? FAKE_NODE(i) : NULL;
    *count = all;
    return CUDA_SUCCESS;
}

static CUresult fake_cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                                     CUgraphEdgeData *data, size_t *count)
{
    FAKE_ENTER();
    *count = graph == FAKE_GRAPH ? FAKE_NODES : 0;
    for (size_t i = 0; from != NULL && i < *count; i++) {
        from[i] = FAKE_NODE(i + 1 < FAKE_NODES ? i : 0);
        to[i] = FAKE_NODE(i + 1 < FAKE_NODES ? i + 1 : FAKE_NODES - 1);
        data[i] = (CUgraphEdgeData){0};
    }
    if (from != NULL && *count > 0)
        data[*count - 1] = (CUgraphEdgeData){.from_port = 1, .type = 1};
    if (from != NULL && fake.changes)
        to[0] = FAKE_NODE(FAKE_NODES); /* a node that was not there before */
    return CUDA_SUCCESS;
}

static CUresult fake_cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
    FAKE_ENTER();
    const long at = (char *)node - fake_nodes;
    *type = at == FAKE_NODES - 1 ? CU_GRAPH_NODE_TYPE_KERNEL : (CUgraphNodeType)at;
    return CUDA_SUCCESS;
}

static CUresult fake_cuGraphKernelNodeGetParams(CUgraphNode node,
                                                CUDA_KERNEL_NODE_PARAMS *params)
{
    static uint64_t first = 0x1122334455667788;
    static float second = 2.5f;
    static void *pointers[] = {&first, &second};
    static unsigned char buffer[12] = {9, 8, 7};
    static size_t bytes = sizeof(buffer);
    static void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer,
                            CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    FAKE_ENTER();
    const bool is_first = node == FAKE_NODE(0);
    *params = (CUDA_KERNEL_NODE_PARAMS){
        .func = is_first ? (CUfunction)(void *)&fake : NULL,
        .kern = is_first ? NULL : (CUkernel)(void *)&fake,
        .gridDimX = 4,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = 128,
        .blockDimY = 1,
        .blockDimZ = 1,
        .sharedMemBytes = 64,
        .kernelParams = is_first ? pointers : NULL,
        .extra = is_first ? NULL : extra,
    };
    return CUDA_SUCCESS;
}

static CUresult fake_cuFuncGetName(const char **name, CUfunction function)
{
    (void)function;
    *name = "saxpy";
    return CUDA_SUCCESS;
}

static CUresult fake_cuKernelGetName(const char **name, CUkernel kernel)
{
    (void)kernel;
    *name = "scale";
    return CUDA_SUCCESS;
}

static CUresult fake_params(size_t index, size_t *offset, size_t *bytes)
{
    if (index >= 2)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = index * 8;
    *bytes = index == 0 ? 8 : 4;
    return CUDA_SUCCESS;
}

static CUresult fake_cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset,
                                        size_t *bytes)
{
    (void)function;
    return fake_params(index, offset, bytes);
}

static CUresult fake_cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset,
                                          size_t *bytes)
{
    (void)kernel;
    return fake_params(index, offset, bytes);
}

static CUresult fake_cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *params)
{
    (void)node;
    FAKE_ENTER();
    *params = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                              .srcHost = &fake,
                              .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                              .dstDevice = 0x7000,
                              .WidthInBytes = 256,
                              .Height = 1,
                              .Depth = 1};
    return CUDA_SUCCESS;
}

static CUresult fake_cuGraphMemsetNodeGetParams(CUgraphNode node,
                                                CUDA_MEMSET_NODE_PARAMS *params)
{
    (void)node;
    FAKE_ENTER();
    *params = (CUDA_MEMSET_NODE_PARAMS){
        .dst = 0x8000, .value = 7, .elementSize = 4, .width = 32, .height = 1};
    return CUDA_SUCCESS;
}

static CUresult fake_cuGraphHostNodeGetParams(CUgraphNode node,
                                              CUDA_HOST_NODE_PARAMS *params)
{
    (void)node;
    FAKE_ENTER();
    *params = (CUDA_HOST_NODE_PARAMS){.userData = &fake};
    return CUDA_SUCCESS;
}

static CUresult fake_cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph)
{
    (void)node;
    FAKE_ENTER();
    *graph = fake.deep ? FAKE_GRAPH : FAKE_CHILD;
    return CUDA_SUCCESS;
}

static CUresult fake_cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event)
{
    (void)node;
    FAKE_ENTER();
    *event = (CUevent)(void *)&fake;
    return CUDA_SUCCESS;
}

static CUresult fake_cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event)
{
    return fake_cuGraphEventWaitNodeGetEvent(node, event);
}

#define FAKE_CALLS(X)                                                                    \
    X(cuInit)                                                                            \
    X(cuDriverGetVersion)                                                                \
    X(cuLogsRegisterCallback)                                                            \
    X(cuLogsUnregisterCallback)                                                          \
    X(cuStreamIsCapturing)                                                               \
    X(cuStreamBeginCapture)                                                              \
    X(cuStreamEndCapture)                                                                \
    X(cuGraphDestroy)                                                                    \
    X(cuGraphInstantiateWithParams)                                                      \
    X(cuGraphExecDestroy)                                                                \
    X(cuGraphUpload)                                                                     \
    X(cuGraphLaunch)                                                                     \
    X(cuGraphGetNodes)                                                                   \
    X(cuGraphGetEdges)                                                                   \
    X(cuGraphNodeGetType)                                                                \
    X(cuGraphKernelNodeGetParams)                                                        \
    X(cuFuncGetName)                                                                     \
    X(cuKernelGetName)                                                                   \
    X(cuFuncGetParamInfo)                                                                \
    X(cuKernelGetParamInfo)                                                              \
    X(cuGraphMemcpyNodeGetParams)                                                        \
    X(cuGraphMemsetNodeGetParams)                                                        \
    X(cuGraphHostNodeGetParams)                                                          \
    X(cuGraphChildGraphNodeGetGraph)                                                     \
    X(cuGraphEventWaitNodeGetEvent)                                                      \
    X(cuGraphEventRecordNodeGetEvent)

static gph_cuda_fn fake_find(void *user, const char *name, int version)
{
    (void)user;
    if (version > fake.version || (fake.lacks != NULL && strcmp(name, fake.lacks) == 0))
        return NULL;
#define X(call)                                                                          \
    if (strcmp(name, #call) == 0)                                                        \
        return (gph_cuda_fn)fake_##call;
    FAKE_CALLS(X)
#undef X
    return NULL;
}

static const gphi_cuda_source fake_source = {.find = fake_find,
                                             .kind = GPH_DRIVER_CUDA,
                                             .path = "/fake/libcuda.so.1",
                                             .why = "test"};

/* As new, nothing failing. */
static void fake_reset(void)
{
    fake = (struct fake_driver){
        .version = 13000, .fail_at = -1, .fail_with = CUDA_ERROR_UNKNOWN};
}
#endif
