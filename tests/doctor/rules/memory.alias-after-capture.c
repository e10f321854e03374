// SPDX-License-Identifier: Apache-2.0
// memory.alias-after-capture
//
// Temporaries of a capture were allocated from a pool and given back to it when the
// capture was done, though every replay writes there again. The pool gives the same
// memory to the next who asks, and the next replay overwrites it. Give captures a pool of
// their own, and keep their temporaries allocated as long as the executable graph.
#include "broken.h"

enum { BYTES = FLOATS * sizeof(float) };

/* The temporary is freed after the capture; a result of other work gets its place. */
static void first(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats();
    CUdeviceptr temporary = 0, result = 0;
    CU(cuMemAllocAsync(&temporary, BYTES, stream));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    COPY(stream, temporary, in);
    SCALE_ADD(stream, out, temporary, 2);
    CUgraphExec exec = end_capture(stream);
    CU(cuGraphLaunch(exec, stream));
    CU(cuMemFreeAsync(temporary, stream));
    CU(cuMemAllocAsync(&result, BYTES, stream));
    EXPECT(result == temporary);
    FILL(stream, result, 5);
    CU(cuGraphLaunch(exec, stream)); /* <-- first */
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(result, 0) != 5);
    CU(cuGraphExecDestroy(exec));
}

/* A pool that is shared by hand, and fills instead of kernels. */
static void second(void)
{
    const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUstream stream = new_stream();
    CUmemoryPool pool = NULL;
    CUdeviceptr temporary = 0, result = 0;
    CU(cuMemPoolCreate(&pool, &props));
    CU(cuMemAllocFromPoolAsync(&temporary, BYTES, pool, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CU(cuMemsetD32Async(temporary, 1, FLOATS, stream));
    SCALE_ADD(stream, temporary, temporary, 1);
    CUgraphExec exec = end_capture(stream);
    CU(cuMemFreeAsync(temporary, stream)); /* <-- second */
    CU(cuMemAllocFromPoolAsync(&result, BYTES, pool, stream));
    CU(cuMemsetD32Async(result, 9, FLOATS, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(result == temporary);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

/* The temporary stays; what is allocated and freed beside it is something else. */
static void near(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats();
    CUdeviceptr temporary = 0, passing = 0, result = 0;
    CU(cuMemAllocAsync(&temporary, BYTES, stream));
    CU(cuMemAllocAsync(&passing, BYTES, stream));
    FILL(stream, passing, 1);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    COPY(stream, temporary, in);
    SCALE_ADD(stream, out, temporary, 2);
    CUgraphExec exec = end_capture(stream);
    CU(cuGraphLaunch(exec, stream));
    CU(cuMemFreeAsync(passing, stream));
    CU(cuMemAllocAsync(&result, BYTES, stream));
    FILL(stream, result, 5);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(result, 0) == 5);
    CU(cuGraphExecDestroy(exec));
    CU(cuMemFreeAsync(temporary, stream));
    CU(cuMemFreeAsync(result, stream));
    CU(cuStreamSynchronize(stream));
}

BROKEN(first, second, near)
