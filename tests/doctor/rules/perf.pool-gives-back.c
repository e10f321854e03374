// SPDX-License-Identifier: Apache-2.0
// perf.pool-gives-back
//
// The default pool's release threshold is 0: what is free at a synchronization goes back to the
// system, and the next cuMemAllocAsync takes it again. Set the threshold once, or keep the buffer.
// Silent for less than 1 MiB, fewer than 8 rounds, and where the program sets pools up itself.
#include "broken.h"

enum { STEPS = 12, BYTES = 4 << 20 };

static void first(void)
{
    CUstream stream = new_stream();
    for (int step = 0; step < STEPS; step++) {
        CUdeviceptr scratch = 0;
        CU(cuMemAllocAsync(&scratch, BYTES, stream)); /* <-- first */
        FILL(stream, scratch, 1);
        CU(cuMemFreeAsync(scratch, stream));
        CU(cuStreamSynchronize(stream));
    }
}

/* Two buffers a step, waited for by an event. */
static void second(void)
{
    CUstream stream = new_stream();
    CUevent done = new_event();
    for (int step = 0; step < STEPS; step++) {
        CUdeviceptr a = 0, b = 0;
        CU(cuMemAllocAsync(&a, BYTES, stream)); /* <-- second */
        CU(cuMemAllocAsync(&b, BYTES, stream));
        COPY(stream, a, b);
        CU(cuMemFreeAsync(a, stream));
        CU(cuMemFreeAsync(b, stream));
        CU(cuEventRecord(done, stream));
        CU(cuEventSynchronize(done));
    }
}

/* The threshold is set; so it is by who waits rarely, and by who keeps a buffer. */
static void near(void)
{
    CUstream stream = new_stream();
    CUmemoryPool pool = NULL;
    CUdeviceptr kept = 0;
    cuuint64_t all = UINT64_MAX;
    CU(cuMemAllocAsync(&kept, BYTES, stream));
    for (int step = 0; step < STEPS; step++) {
        CUdeviceptr scratch = 0;
        CU(cuMemAllocAsync(&scratch, BYTES, stream));
        FILL(stream, scratch, 1);
        CU(cuMemFreeAsync(scratch, stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuMemFreeAsync(kept, stream));
    CU(cuDeviceGetDefaultMemPool(&pool, 0));
    CU(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
    first();
}

BROKEN(first, second, near)
