// SPDX-License-Identifier: Apache-2.0
/* An engine captures a decode step per batch size; the bigger batch grows the workspace.
 */
#include "app.h"

struct engine {
    CUstream stream;
    CUfunction matvec, add;
    CUdeviceptr w, x, y, work;
    size_t work_bytes;
    CUgraphExec exec[3];
};

static CUresult need_workspace(struct engine *e, size_t bytes)
{
    if (bytes <= e->work_bytes)
        return 0;
    CUdeviceptr bigger;
    CUresult r = cuMemAlloc(&bigger, bytes); /* <- here */
    if (r)
        return r;
    cuMemFree(e->work);
    e->work = bigger;
    e->work_bytes = bytes;
    return 0;
}

static void layer(struct engine *e, unsigned n)
{
    need_workspace(e, n * 4);
    RUN(e->matvec, 1, 64, e->stream, &e->work, &e->w, &e->x, &n);
    RUN(e->add, 1, 64, e->stream, &e->y, &e->work, &e->x, &n);
}

static void record(struct engine *e, int slot, unsigned n)
{
    CUgraph graph = NULL;
    cuStreamBeginCapture(e->stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    for (int i = 0; i < 4; i++)
        layer(e, n);
    cuStreamEndCapture(e->stream, &graph);
    cuGraphInstantiateWithFlags(&e->exec[slot], graph, 0);
    cuGraphDestroy(graph);
}

int main(void)
{
    struct engine e = {0};
    app_start();
    OK(cuStreamCreate(&e.stream, CU_STREAM_NON_BLOCKING));
    e.matvec = app_kernel("matvec");
    e.add = app_kernel("add");
    e.w = app_alloc(64 * 64 * 4);
    e.x = app_alloc(64 * 4);
    e.y = app_alloc(64 * 4);
    e.work = app_alloc(32 * 4);
    e.work_bytes = 128;
    record(&e, 0, 16);
    record(&e, 1, 32);
    record(&e, 2, 64);
    for (int step = 0; step < 50; step++) {
        cuGraphLaunch(e.exec[step % 3], e.stream);
        cuStreamSynchronize(e.stream);
    }
    puts("done");
    return 0;
}
