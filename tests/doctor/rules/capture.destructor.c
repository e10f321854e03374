// SPDX-License-Identifier: Apache-2.0
// capture.destructor
//
// During the capture something older came to its end: an executable graph was destroyed,
// a module unloaded, memory freed. Such calls are forbidden while a thread captures
// (900), and they are seldom written where they happen: a container drops an entry, a
// collector of garbage runs. Destroy before the capture begins or keep the object alive
// until it has ended; destructors may put what they destroy into a list meanwhile, or
// relax their thread.
#include "broken.h"

static CUgraphExec make_exec(CUstream stream, CUdeviceptr out)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, out, 1);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphDestroy(graph));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    return exec;
}

/* A cache of graphs makes room for the one that is being captured. */
static void evict(CUgraphExec *slot)
{
    CU(cuGraphExecDestroy(*slot)); /* <-- first */
    *slot = NULL;
}

static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr a = new_floats();
    CUgraphExec cached = make_exec(stream, a);
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, a, 2);
    evict(&cached);
    CU(cuStreamEndCapture(stream, &graph));
    EXPECT(graph == NULL);
}

/* A buffer that grows frees the one before, and code that is not needed any more is
 * unloaded, both in the thread that captures. */
static void collect(CUdeviceptr *old, CUmodule code)
{
    CU(cuMemFree(*old)); /* <-- second */
    CU(cuModuleUnload(code));
}

static void capture(void *user)
{
    CUdeviceptr *old = user;
    CUdeviceptr a = new_floats();
    CUmodule code = NULL;
    CUgraph graph = NULL;
    CU(cuModuleLoadData(&code, broken_ptx));
    CU(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CU(cuMemsetD32Async(a, 1, FLOATS, CU_STREAM_PER_THREAD));
    collect(old, code);
    CU(cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph));
    EXPECT(graph == NULL);
}

static void second(void)
{
    CUdeviceptr old = new_floats();
    in_thread(capture, &old);
}

/* Destroyed before, after, and during the capture in a thread that is relaxed meanwhile.
 */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr a = new_floats(), old = new_floats();
    CUgraphExec cached[3] = {make_exec(stream, a), make_exec(stream, a),
                             make_exec(stream, a)};
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUgraph graph = NULL;
    CU(cuGraphExecDestroy(cached[0]));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, a, 2);
    CU(cuThreadExchangeStreamCaptureMode(&mode));
    CU(cuGraphExecDestroy(cached[1]));
    CU(cuMemFree(old));
    CU(cuThreadExchangeStreamCaptureMode(&mode));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphExecDestroy(cached[2]));
    replay_once(graph, stream);
    EXPECT(float_at(a, 0) == 2);
}

BROKEN(first, second, near)
