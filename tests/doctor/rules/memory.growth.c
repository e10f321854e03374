// SPDX-License-Identifier: Apache-2.0
// memory.growth
//
// Each step makes something that nothing destroys: a graph beside the executable that is updated
// from it, a buffer, a pool, an event. The older ones are not used any more. Destroy what a step
// has made, or make it once. What is made at the start, and a cache that is full at some size, are
// right.
#include "broken.h"

enum { STEPS = 24, BYTES = FLOATS * sizeof(float) };

static CUgraph captured(CUstream stream, CUdeviceptr out, float value)
{
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, out, value);
    CU(cuStreamEndCapture(stream, &graph)); // <-- first
    return graph;
}

/* An executable is updated from a new graph in each step, and the graphs are kept. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr out = new_floats();
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    float seen[STEPS];
    for (int i = 0; i < STEPS; i++) {
        CUgraph graph = captured(stream, out, (float)i);
        if (i == 0)
            CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
        else
            CU(cuGraphExecUpdate(exec, graph, &info));
        CU(cuGraphLaunch(exec, stream));
        CU(cuMemcpyDtoHAsync(&seen[i], out, sizeof(float), stream));
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

/* A buffer and a pool for each batch. */
static void second(void)
{
    CUstream stream = new_stream();
    CUgraphExec exec = NULL;
    float seen;
    CUgraph graph = captured(stream, new_floats(), 1);
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < STEPS; i++) {
        CUdeviceptr batch = 0;
        CU(cuMemAllocAsync(&batch, BYTES, stream)); // <-- second
        FILL(stream, batch, (float)i);
        CU(cuGraphLaunch(exec, stream));
        CU(cuMemcpyDtoHAsync(&seen, batch, sizeof(float), stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* Many buffers at the start; a cache of graphs that is full after a while, and results that are
 * read at the end; events that are destroyed. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr weights[STEPS], results[STEPS];
    CUgraph graphs[4];
    CUgraphExec execs[4];
    float seen = 0;
    for (int i = 0; i < STEPS; i++) {
        weights[i] = new_floats();
        FILL(stream, weights[i], (float)i);
    }
    for (int i = 0; i < 8 * STEPS; i++) {
        CUevent event = new_event();
        if (i < 4) {
            graphs[i] = captured(stream, weights[i], (float)i);
            CU(cuGraphInstantiateWithFlags(&execs[i], graphs[i], 0));
        }
        CU(cuGraphLaunch(execs[i % 4], stream));
        CU(cuGraphLaunch(execs[i % 4], stream));
        CU(cuEventRecord(event, stream));
        CU(cuEventSynchronize(event));
        if (i < STEPS) {
            results[i] = new_floats();
            CU(cuMemcpyDtoDAsync(results[i], weights[i % 4], BYTES, stream));
            CU(cuMemcpyDtoHAsync(&seen, weights[i % 4], sizeof(float), stream));
        }
        CU(cuEventDestroy(event));
    }
    CU(cuStreamSynchronize(stream));
    for (int i = 0; i < STEPS; i++)
        seen += float_at(results[i], 0);
    for (int i = 0; i < 4; i++) {
        CU(cuGraphExecDestroy(execs[i]));
        CU(cuGraphDestroy(graphs[i]));
    }
}

BROKEN(first, second, near)
