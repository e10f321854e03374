// SPDX-License-Identifier: Apache-2.0
// perf.hardly-replayed
//
// Graph after graph is recorded while the program is at work, each another one, and launched
// once: recording and instantiating cost more than the launches save. Launch such work
// as it is, and record what comes again and again.
// timing: host time of captures and instantiations
#include "broken.h"

#include <stdbool.h>

enum { GRAPHS = 12 };

/* A chain of kernels, longer for each. */
static CUgraphExec record(CUstream stream, CUdeviceptr x, CUdeviceptr y, int kernels)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (int i = 0; i < kernels; i++)
        COPY(stream, i % 2 ? x : y, i % 2 ? y : x);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0)); /* <-- first, second */
    CU(cuGraphDestroy(graph));
    return exec;
}

/* Launched once each: whatever a capture, an instantiation and a launch cost here, together
 * they are more than the same calls without a capture. */
static void work(CUstream stream, bool keeps)
{
    const CUdeviceptr x = new_floats(), y = new_floats();
    CUgraphExec execs[GRAPHS];
    for (int i = 0; i < GRAPHS; i++) {
        execs[i] = record(stream, x, y, i + 1);
        CU(cuGraphLaunch(execs[i], stream));
        CU(cuStreamSynchronize(stream));
        (void)float_at(y, 0);
        if (!keeps)
            CU(cuGraphExecDestroy(execs[i]));
    }
    for (int i = 0; keeps && i < GRAPHS; i++)
        CU(cuGraphExecDestroy(execs[i]));
}

static void first(void)
{
    work(new_stream(), false);
}

/* A thread keeps them, for a second time that does not come. */
static void run(void *stream)
{
    work(stream, true);
}

static void second(void)
{
    in_thread(run, new_stream());
}

/* As many are recorded at the start, and two of them are used in this run; three are recorded
 * at work; and as many at work come again and again. */
static void near(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr x = new_floats(), y = new_floats();
    CUgraphExec execs[GRAPHS];
    for (int i = 0; i < GRAPHS; i++) {
        execs[i] = record(stream, x, y, i + 1);
        CU(cuGraphLaunch(execs[i], stream));
        CU(cuStreamSynchronize(stream));
    }
    for (int i = 0; i < 30; i++) {
        CU(cuGraphLaunch(execs[i % 2], stream));
        CU(cuStreamSynchronize(stream));
        (void)float_at(y, 0);
    }
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < (k == 0 ? 3 : GRAPHS); i++) {
            CUgraphExec exec = record(stream, x, y, 20 + GRAPHS * k + i);
            for (int n = 0; n < (k == 0 ? 1 : 40); n++) {
                CU(cuGraphLaunch(exec, stream));
                CU(cuStreamSynchronize(stream));
                (void)float_at(y, 0);
            }
            CU(cuGraphExecDestroy(exec));
        }
    CU(cuStreamSynchronize(stream));
    for (int i = 0; i < GRAPHS; i++)
        CU(cuGraphExecDestroy(execs[i]));
}

BROKEN(first, second, near)
