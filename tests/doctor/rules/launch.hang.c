// SPDX-License-Identifier: Apache-2.0
// launch.hang
//
// A replay ends when all of its nodes have. A kernel that waits for a word which nobody
// writes, or a node that waits for a value or an event which never comes, keeps whoever
// synchronizes waiting forever, and the call that hangs names nothing of it. Let the
// writer come before what waits for it, and bound every wait in a kernel.
// watch: 2
#include "broken.h"

static const char gate_ptx[] = BROKEN_HEAD
    ".visible .entry gate(.param .u64 flag)\n"
    "{\n"
    "  .reg .pred %p; .reg .b32 %r; .reg .b64 %d;\n"
    "  ld.param.u64 %d, [flag];\n"
    "again: ld.volatile.global.u32 %r, [%d]; setp.eq.u32 %p, %r, 0; @%p bra again;\n"
    "  ret;\n"
    "}\n";

/* A kernel waits for a flag that is set after the launch, between kernels that do not. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), flag = new_floats();
    CUmodule own = NULL;
    CUfunction gate = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CU(cuModuleLoadData(&own, gate_ptx));
    CU(cuModuleGetFunction(&gate, own, "gate"));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 1);
    CU(cuLaunchKernel(gate, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&flag}, NULL));
    SCALE_ADD(stream, x, x, 2);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuMemsetD32Async(flag, 1, 1, stream)); /* which waits for the launch */
    CU(cuStreamSynchronize(stream));          /* <-- first */
}

/* A node waits for a value that only comes after the wait for its end. */
static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), flag = new_floats();
    CUevent done = new_event();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 1);
    CU(cuStreamWaitValue32(stream, flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
    SCALE_ADD(stream, x, x, 2);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuEventRecord(done, stream));
    CU(cuEventSynchronize(done)); /* <-- second */
    CU(cuMemsetD32(flag, 1, 1));
}

/* Slow, again and again, for longer than what is watched for in all, but each ends. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraphExec exec = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 1);
    SPIN(stream, 600000);
    exec = end_capture(stream);
    for (int i = 0; i < 4; i++) {
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
    }
    EXPECT(float_at(x, 3) == 1);
    CU(cuGraphExecDestroy(exec));
}

BROKEN(first, second, near)
