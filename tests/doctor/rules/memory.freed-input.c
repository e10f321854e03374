// SPDX-License-Identifier: Apache-2.0
// memory.freed-input
//
// A graph was launched after memory was freed whose address it has. As long as nobody
// else gets the address, the replay reads what is left there, or ends with an illegal
// address (700), which is reported somewhere later. Free the buffer after the last
// replay, or tie it to the graph by a user object.
#include "broken.h"

/* Freed after the capture, as a local buffer of the captured function would be. */
static CUgraphExec capture_with_local(CUstream stream, CUdeviceptr out)
{
    const CUdeviceptr local = new_floats();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SCALE_ADD(stream, out, local, 2);
    CUgraphExec exec = end_capture(stream);
    CU(cuMemFree(local)); /* <-- first */
    return exec;
}

static void first(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr out = new_floats();
    CUgraphExec exec = capture_with_local(stream, out);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
}

/* A page that is unmapped; the graph fills it. */
static void second(void)
{
    const CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    const CUmemAccessDesc access = {.location = prop.location,
                                    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUstream stream = new_stream();
    CUmemGenericAllocationHandle page = 0;
    CUdeviceptr at = 0;
    size_t bytes = 0;
    CU(cuMemGetAllocationGranularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CU(cuMemAddressReserve(&at, bytes, 0, 0, 0));
    CU(cuMemCreate(&page, bytes, &prop, 0));
    CU(cuMemMap(at, bytes, 0, page, 0));
    CU(cuMemSetAccess(at, bytes, &access, 1));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CU(cuMemsetD32Async(at + 4096, 7, FLOATS, stream));
    CUgraphExec exec = end_capture(stream);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuMemUnmap(at, bytes));
    CU(cuMemRelease(page));
    CU(cuGraphLaunch(exec, stream)); /* <-- second */
    CU(cuStreamSynchronize(stream));
}

/* Stream-ordered memory, freed after the last replay; and a page that is mapped again
 * at its place before the graph is launched again. */
static void near(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr out = new_floats();
    CUdeviceptr in = 0;
    CU(cuMemAllocAsync(&in, FLOATS * sizeof(float), stream));
    CU(cuMemsetD32Async(in, 0, FLOATS, stream));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SCALE_ADD(stream, out, in, 2);
    CUgraphExec exec = end_capture(stream);
    CU(cuGraphLaunch(exec, stream));
    CU(cuGraphLaunch(exec, stream));
    CU(cuMemFreeAsync(in, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuMemFree(out));
}

BROKEN(first, second, near)
