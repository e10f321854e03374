// SPDX-License-Identifier: Apache-2.0
/* A setter makes a wait of what was a write. Before that it sets another value, which is
 * as it should be. */
#include "app.h"

int main(void)
{
    app_start();
    CUstream s;
    CUgraph g;
    CUgraphNode node;
    CUgraphExec x;
    OK(cuStreamCreate(&s, 1));
    CUdeviceptr words = app_alloc(64);
    CUstreamBatchMemOpParams two[2];
    memset(two, 0, sizeof(two));
    for (int i = 0; i < 2; i++) {
        two[i].word.operation = 2;
        two[i].word.address = words + 4 * i;
        two[i].word.value = 7;
    }
    CUDA_BATCH_MEM_OP_NODE_PARAMS all = {app_context, 2, two, 0};
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddBatchMemOpNode(&node, g, NULL, 0, &all));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    two[1].word.value = 9;
    OK(cuGraphExecBatchMemOpNodeSetParams(x, node, &all));
    OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
    two[1].word.operation = 1;
    CUresult r = cuGraphExecBatchMemOpNodeSetParams(x, node, &all); /* <- here */
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return r == CUDA_SUCCESS;
}
