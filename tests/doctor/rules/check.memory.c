// SPDX-License-Identifier: Apache-2.0
// check.memory
//
// A node uses memory that its graph allocates while that memory need not be there: no path of
// dependencies leads to it from the allocation, or from it to the free. The driver takes such a
// graph, and the memory may be another's by then. softcuda with SOFTCUDA_CHECK=race watches every
// access; the doctor leads its sentence back to the line that made the node. Let the node depend
// on the allocation, and the free on the last node that uses the memory.
// env: SOFTCUDA_CHECK=race
#include "broken.h"

enum { BYTES = FLOATS * sizeof(float) };

static CUgraphNode add_memory(CUgraph graph, CUdeviceptr *out)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.bytesize = BYTES};
    CUgraphNode node = NULL;
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CU(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    *out = params.dptr;
    return node;
}

/* The free hangs on the allocation, not on the kernel. */
static void first(void)
{
    CUstream stream = new_stream();
    CUgraph graph = NULL;
    CUdeviceptr x = 0;
    CU(cuGraphCreate(&graph, 0));
    CUgraphNode alloc = add_memory(graph, &x), user = NULL, end = NULL;
    void *arguments[] = {&x, &(float){1}, &(unsigned){FLOATS}};
    const CUDA_KERNEL_NODE_PARAMS params = floats_kernel(fill, arguments);
    CU(cuGraphAddKernelNode(&user, graph, &alloc, 1, &params)); // <-- first
    CU(cuGraphAddMemFreeNode(&end, graph, &alloc, 1, x));
    replay_once(graph, stream);
}

/* The kernel does not wait for the allocation. */
static void second(void)
{
    CUstream stream = new_stream();
    CUgraph graph = NULL;
    CUdeviceptr x = 0;
    CU(cuGraphCreate(&graph, 0));
    (void)add_memory(graph, &x);
    CUgraphNode user = NULL, end = NULL;
    void *arguments[] = {&x, &(float){2}, &(unsigned){FLOATS}};
    const CUDA_KERNEL_NODE_PARAMS params = floats_kernel(fill, arguments);
    CU(cuGraphAddKernelNode(&user, graph, NULL, 0, &params)); // <-- second
    CU(cuGraphAddMemFreeNode(&end, graph, &user, 1, x));
    replay_once(graph, stream);
}

static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = 0, y = new_floats();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemAllocAsync(&x, BYTES, stream));
    FILL(stream, x, 3);
    COPY(stream, y, x);
    CU(cuMemFreeAsync(x, stream));
    CUgraph graph = NULL;
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
    EXPECT(float_at(y, 9) == 3);
}

BROKEN(first, second, near)
