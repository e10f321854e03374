// SPDX-License-Identifier: Apache-2.0
/* Flags of a pipeline are written by one node, and a stage more makes it a write more. */
#include "app.h"

static CUgraph flags_of(CUdeviceptr words, unsigned stages)
{
    CUgraph graph;
    CUgraphNode node;
    CUstreamBatchMemOpParams write[8];
    memset(write, 0, sizeof(write));
    for (unsigned i = 0; i < stages; i++) {
        write[i].word.operation = 2;
        write[i].word.address = words + 4 * i;
        write[i].word.value = 1;
    }
    CUDA_BATCH_MEM_OP_NODE_PARAMS all = {app_context, stages, write, 0};
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &all));
    return graph;
}

int main(void)
{
    app_start();
    CUstream s;
    CUgraphExec x;
    CUgraphExecUpdateResultInfo why;
    OK(cuStreamCreate(&s, 1));
    CUdeviceptr words = app_alloc(64);
    CUgraph three = flags_of(words, 3), four = flags_of(words, 4);
    OK(cuGraphInstantiateWithFlags(&x, three, 0));
    OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
    CUresult r = cuGraphExecUpdate(x, four, &why); /* <- here */
    OK(cuGraphExecDestroy(x));
    return r != CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}
