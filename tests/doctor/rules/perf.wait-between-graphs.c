// SPDX-License-Identifier: Apache-2.0
// perf.wait-between-graphs
//
// A graph a layer, all in one stream, and after each launch the host waits, though it reads nothing:
// the stream orders the launches by itself, and while the host wakes up the device has no work.
// Reported from 64 waits on between two different graphs, if nothing else is there. Where the
// host reads a result, edits a graph or measures a time between them, or a graph writes memory that
// the host sees, there is a reason to wait.
#include "broken.h"

enum { LAYERS = 8, STEPS = 12 };

static void make_layers(CUstream stream, CUdeviceptr x, CUgraphExec *out)
{
    for (int i = 0; i < LAYERS; i++) {
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        for (int k = 0; k < 3; k++)
            SCALE_ADD(stream, x, x, 0.1f);
        out[i] = end_capture(stream);
    }
}

static void drop_layers(const CUgraphExec *layers)
{
    for (int i = 0; i < LAYERS; i++)
        CU(cuGraphExecDestroy(layers[i]));
}

static void first(void)
{
    CUstream stream = new_stream();
    CUgraphExec layers[LAYERS];
    make_layers(stream, new_floats(), layers);
    for (int step = 0; step < STEPS; step++)
        for (int i = 0; i < LAYERS; i++) {
            CU(cuGraphLaunch(layers[i], stream));
            CU(cuStreamSynchronize(stream)); // <-- first
        }
    drop_layers(layers);
}

/* For the whole device. */
static void second(void)
{
    CUstream stream = new_stream();
    CUgraphExec layers[LAYERS];
    make_layers(stream, new_floats(), layers);
    for (int step = 0; step < STEPS; step++)
        for (int i = 0; i < LAYERS; i++) {
            CU(cuGraphLaunch(layers[i], stream));
            CU(cuCtxSynchronize()); // <-- second
        }
    drop_layers(layers);
}

/* The host looks at what each layer gave; and one graph that is waited for is a step. */
static void near(void)
{
    CUstream stream = new_stream();
    CUgraphExec layers[LAYERS];
    const CUdeviceptr x = new_floats();
    float value = 0;
    make_layers(stream, x, layers);
    for (int step = 0; step < STEPS; step++)
        for (int i = 0; i < LAYERS; i++) {
            CU(cuGraphLaunch(layers[i], stream));
            CU(cuStreamSynchronize(stream));
            CU(cuMemcpyDtoH(&value, x, sizeof(value)));
        }
    for (int i = 0; i < LAYERS * STEPS; i++) {
        CU(cuGraphLaunch(layers[0], stream));
        CU(cuStreamSynchronize(stream));
    }
    drop_layers(layers);
}

BROKEN(first, second, near)
