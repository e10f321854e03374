// SPDX-License-Identifier: Apache-2.0
// launch.dead-executable
//
// What is launched is not an executable: it was destroyed, or never made because the
// instantiation failed. CUDA_ERROR_INVALID_VALUE. Look at the result of the
// instantiation, and set a handle to NULL where it is destroyed.
#include "broken.h"

/* Destroyed, and launched. */
static void first(void)
{
    CUstream stream = new_stream();
    CUgraph graph = fill_graph(stream, new_floats());
    CUgraphExec exec = NULL;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphLaunch(exec, stream)); /* <-- first */
    CU(cuStreamSynchronize(stream));
    CU(cuGraphDestroy(graph));
}

/* Never made; and uploaded by another thread. */
static void upload(void *user)
{
    CU(cuGraphUpload(*(CUgraphExec *)user, CU_STREAM_PER_THREAD)); /* <-- second */
}

static void second(void)
{
    CUgraphExec exec = NULL;
    in_thread(upload, &exec);
}

/* Destroyed while it runs, which is allowed; and another one that may have its handle. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graph = fill_graph(stream, x);
    CUgraphExec exec = NULL;
    for (int i = 0; i < 3; i++) {
        CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
        CU(cuGraphLaunch(exec, stream));
        CU(cuGraphExecDestroy(exec));
    }
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(x, 5) == 5);
    CU(cuGraphDestroy(graph));
}

BROKEN(first, second, near)
