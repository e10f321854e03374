// SPDX-License-Identifier: Apache-2.0
// device.still-running
//
// An executable runs once at a time. A kernel that launches one which has not ended, from any of
// the three streams, gets 1, and nothing more runs; a launch by the host beside one by a kernel is
// not defined. Instantiate a graph for each launch that may be under way, or order them: a tail
// launch comes when all is over that came of the graph.
// env: SOFTCUDA_CHECK=race
#include "device.h"

static CUgraphExec slow_graph(CUstream stream, CUdeviceptr word, unsigned microseconds)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SPIN(stream, microseconds);
    ONE("add", stream, &word);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph,
                                   CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    CU(cuGraphDestroy(graph));
    CU(cuGraphUpload(exec, stream));
    CU(cuStreamSynchronize(stream));
    return exec;
}

/* Two kernels fire the same graph. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0), answer = new_words(9);
    CUgraphExec inner = slow_graph(stream, word, 20000);
    unsigned long long where = FORGET;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ONE("fire", stream, &inner, &where, &answer); // <-- first
    ONE("fire", stream, &inner, &where, &answer);
    CUgraphExec outer = end_capture(stream);
    launch_and_wait(outer, stream);
    EXPECT(word_at(answer) == 1 && word_at(word) == 1);
    CU(cuGraphExecDestroy(outer));
    CU(cuGraphExecDestroy(inner));
}

/* The host launches it, too, from a stream that waits for nothing. */
static void second(void)
{
    CUstream stream = new_stream(), side = new_stream();
    CUdeviceptr word = new_words(0), answer = new_words(9);
    CUgraphExec inner = slow_graph(stream, word, 20000);
    unsigned long long where = TAIL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ONE("fire", stream, &inner, &where, &answer);
    CUgraphExec outer = end_capture(stream);
    CU(cuGraphLaunch(outer, stream));
    CU(cuGraphLaunch(inner, side)); // <-- second
    CU(cuStreamSynchronize(stream));
    CU(cuStreamSynchronize(side));
    CU(cuGraphExecDestroy(outer));
    CU(cuGraphExecDestroy(inner));
}

/* One after the other, by kernels of two launches, and by the host when those are over. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0), answer = new_words(9);
    CUgraphExec inner = slow_graph(stream, word, 1000);
    unsigned long long where = TAIL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ONE("fire", stream, &inner, &where, &answer);
    CUgraphExec outer = end_capture(stream);
    CU(cuGraphLaunch(outer, stream));
    CU(cuGraphLaunch(outer, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphLaunch(inner, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(word_at(answer) == 0 && word_at(word) == 3);
    CU(cuGraphExecDestroy(outer));
    CU(cuGraphExecDestroy(inner));
}

BROKEN(first, second, near)
