// SPDX-License-Identifier: Apache-2.0
/* Kernels of one block that come one after the other run in one call of the engine: one that
 * faults ends the row at its own place, is named, and nothing after it runs. */
#include "conformance/driver.h"
#include "conformance/kernels.h"

enum { NODES = 40, WILD = 17, LAUNCHES = 8 };

static char said[8192];

static void listen(void *user, CUlogLevel level, char *line, size_t length)
{
    (void)user, (void)level;
    if (strlen(said) + length + 2 < sizeof(said))
        strncat(said, line, length);
}

/* `count` nodes that store their number in a row of words. */
static CUgraph build(CUfunction store, CUdeviceptr words, CUgraphNode *nodes)
{
    CUgraph graph;
    OK(cu.cuGraphCreate(&graph, 0));
    for (unsigned i = 0; i < NODES; i++) {
        CUdeviceptr at = words + 4 * i;
        unsigned value = i + 1;
        void *arguments[] = {&at, &value};
        const CUDA_KERNEL_NODE_PARAMS params = one_thread(store, arguments);
        OK(cu.cuGraphAddKernelNode(&nodes[i], graph, i ? &nodes[i - 1] : NULL, i != 0,
                                   &params));
    }
    return graph;
}

static void a_fault_ends_the_row_where_it_is(void)
{
    CUcontext context;
    CUmodule module;
    CUfunction store;
    CUstream stream;
    CUgraphExec exec;
    CUgraphNode nodes[NODES];
    unsigned *words;
    CUdeviceptr at;
    OK(cu.cuCtxCreate(&context, NULL, 0, 0));
    OK(cu.cuModuleLoadData(&module, kernels_ptx));
    OK(cu.cuModuleGetFunction(&store, module, "store"));
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu.cuMemAllocHost((void **)&words, NODES * sizeof(*words)));
    OK(cu.cuMemHostGetDevicePointer(&at, words, 0));
    CUgraph graph = build(store, at, nodes);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (unsigned launch = 0; launch < LAUNCHES; launch++) {
        memset(words, 0, NODES * sizeof(*words));
        OK(cu.cuGraphLaunch(exec, stream));
        OK(cu.cuStreamSynchronize(stream));
        for (unsigned i = 0; i < NODES; i++)
            CHECK(words[i] == i + 1);
    }
    CUdeviceptr wild = 0x123450;
    unsigned value = 1;
    void *arguments[] = {&wild, &value};
    const CUDA_KERNEL_NODE_PARAMS params = one_thread(store, arguments);
    OK(cu.cuGraphExecKernelNodeSetParams(exec, nodes[WILD], &params));
    memset(words, 0, NODES * sizeof(*words));
    OK(cu.cuGraphLaunch(exec, stream));
    CHECK_IS(cu.cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    for (unsigned i = 0; i < NODES; i++)
        CHECK(words[i] == (i < WILD ? i + 1 : 0));
    if (!CHECK(strstr(said, "store (node ") && strstr(said, "123450")))
        fprintf(stderr, "  no node in: %s\n", said);
    OK(cu.cuCtxDestroy(context));
}

int main(void)
{
    DEVICE_OR_SKIP();
    if (!driver_is_soft)
        return 77; /* a GPU says less */
    CUlogsCallbackHandle handle;
    OK(cu.cuLogsRegisterCallback(listen, NULL, &handle));
    RUN(a_fault_ends_the_row_where_it_is);
    OK(cu.cuLogsUnregisterCallback(handle));
    return test_done();
}
