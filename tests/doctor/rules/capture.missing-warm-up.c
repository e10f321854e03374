// SPDX-License-Identifier: Apache-2.0
// capture.missing-warm-up
//
// Something is used for the first time inside the capture, and sets itself up there:
// it loads code, allocates a workspace, pins memory. What it needs is forbidden in a
// capture (900). Run the region once before the capture, on the same stream and with the
// same shapes, or make handles and workspaces before.
#include "broken.h"

/* A small library that sets itself up when it is used first. */
static CUmodule library;
static CUfunction library_fill;
static CUdeviceptr workspace;

static void set_up(void)
{
    CU(cuModuleLoadData(&library, broken_ptx));
    CU(cuModuleGetFunction(&library_fill, library, "fill"));
    CU(cuMemAlloc(&workspace, FLOATS * sizeof(float))); /* <-- first */
}

static void library_run(CUstream stream, CUdeviceptr out)
{
    if (workspace == 0)
        set_up();
    LAUNCH(library_fill, FLOATS / 128, stream, &out, &(float){3}, &(unsigned){FLOATS});
}

static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, a, 1);
    library_run(stream, a);
    CU(cuStreamEndCapture(stream, &graph));
    EXPECT(graph == NULL);
}

/* A pool of staging memory with a handle, in a thread, loaded as a library. */
typedef struct handle {
    CUlibrary library;
    CUkernel kernel;
    void *staging;
} handle;

static void open_handle(handle *it)
{
    CU(cuLibraryLoadData(&it->library, broken_ptx, NULL, NULL, 0, NULL, NULL, 0));
    CU(cuLibraryGetKernel(&it->kernel, it->library, "fill"));
    CU(cuMemAllocHost(&it->staging, 4096)); /* <-- second */
}

static void capture(void *user)
{
    CUdeviceptr *out = user;
    CUgraph graph = NULL;
    handle it = {NULL, NULL, NULL};
    CU(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    open_handle(&it);
    LAUNCH((CUfunction)it.kernel, FLOATS / 128, CU_STREAM_PER_THREAD, out, &(float){1},
           &(unsigned){FLOATS});
    CU(cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph));
    EXPECT(graph == NULL);
}

static void second(void)
{
    CUdeviceptr a = new_floats();
    in_thread(capture, &a);
}

/* The same library, run once before. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL;
    library_run(stream, a);
    CU(cuStreamSynchronize(stream));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, a, 1);
    library_run(stream, a);
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
    EXPECT(float_at(a, 1) == 3);
    CU(cuMemFree(workspace));
}

BROKEN(first, second, near)
