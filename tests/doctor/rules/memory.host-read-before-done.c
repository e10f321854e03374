// SPDX-License-Identifier: Apache-2.0
// memory.host-read-before-done
//
// The host reads pinned memory that a queued copy has yet to write: a copy to pinned memory does
// not wait, neither in a stream nor in a graph. Wait for the stream or an event first. Only
// softcuda sees it, with SOFTCUDA_CHECK=memory: what the host reads does not pass through the driver.
// env: SOFTCUDA_CHECK=memory
#include "broken.h"

enum { BYTES = FLOATS * sizeof(float) };

static volatile float *new_pinned(void)
{
    void *out = NULL;
    CU(cuMemHostAlloc(&out, BYTES, 0));
    return out;
}

static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    volatile float *result = new_pinned();
    SPIN(stream, 50000);
    CU(cuMemcpyDtoHAsync((void *)(uintptr_t)result, x, BYTES, stream));
    EXPECT(result[3] == 0); // <-- first
    CU(cuStreamSynchronize(stream));
    CU(cuMemFreeHost((void *)(uintptr_t)result));
}

/* The copy is a node of a graph; another thread waits for another stream. */
static volatile float *shared;

static void look(void *stream)
{
    CU(cuStreamSynchronize(stream));
    EXPECT(shared[7] == 0); // <-- second
}

static void second(void)
{
    CUstream stream = new_stream(), other = new_stream();
    CUdeviceptr x = new_floats();
    CUgraphExec exec;
    shared = new_pinned();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SPIN(stream, 50000);
    CU(cuMemcpyDtoHAsync((void *)(uintptr_t)shared, x, BYTES, stream));
    exec = end_capture(stream);
    CU(cuGraphLaunch(exec, stream));
    in_thread(look, other);
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuMemFreeHost((void *)(uintptr_t)shared));
}

/* It waits; two halves of a page, of which one is written while the other is read; a kernel
 * that reads what the copy will write, later in the stream. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), mapped;
    volatile float *result = new_pinned();
    for (int i = 0; i < 3; i++) {
        SPIN(stream, 5000);
        CU(cuMemcpyDtoHAsync((void *)(uintptr_t)result, x, BYTES / 2, stream));
        EXPECT(result[FLOATS - 1] == 0);
        CU(cuStreamSynchronize(stream));
        EXPECT(result[0] == 0);
    }
    CU(cuMemHostGetDevicePointer(&mapped, (void *)(uintptr_t)result, 0));
    SPIN(stream, 5000);
    COPY(stream, x, mapped);
    CU(cuMemcpyDtoHAsync((void *)(uintptr_t)result, x, BYTES, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuMemFreeHost((void *)(uintptr_t)result));
}

BROKEN(first, second, near)
