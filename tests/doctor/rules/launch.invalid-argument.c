// SPDX-License-Identifier: Apache-2.0
// launch.invalid-argument
//
// A launch is refused with CUDA_ERROR_INVALID_VALUE because of one of its nodes: it frees
// memory that no launch has allocated, or that another one has freed already. The code
// says nothing of the node. Launch the graph that allocates first, once for each launch
// of the graph that frees.
#include "broken.h"

static CUgraph capture_producer(CUstream stream, CUdeviceptr *out)
{
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemAllocAsync(out, FLOATS * sizeof(float), stream));
    FILL(stream, *out, 5);
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
}

static CUgraph capture_consumer(CUstream stream, CUdeviceptr in, CUdeviceptr out)
{
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    COPY(stream, out, in);
    CU(cuMemFreeAsync(in, stream));
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
}

/* The consumer before the producer. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), between = 0;
    CUgraph producer = capture_producer(stream, &between),
            consumer = capture_consumer(stream, between, x);
    CUgraphExec make = NULL, use = NULL;
    CU(cuGraphInstantiateWithFlags(&make, producer, 0));
    CU(cuGraphInstantiateWithFlags(&use, consumer, 0));
    CU(cuGraphLaunch(use, stream)); /* <-- first */
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(make));
    CU(cuGraphExecDestroy(use));
    CU(cuGraphDestroy(consumer));
    CU(cuGraphDestroy(producer));
}

/* By hand; the consumer is launched twice, the second time by another thread. */
static void launch(void *user)
{
    CU(cuGraphLaunch(*(CUgraphExec *)user, CU_STREAM_PER_THREAD)); /* <-- second */
}

static void second(void)
{
    CUstream stream = new_stream();
    CUgraph producer = NULL, consumer = NULL;
    CUgraphNode alloc = NULL, wait = NULL, release = NULL;
    CUgraphExec make = NULL, use = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS wanted = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = 4096};
    CU(cuGraphCreate(&producer, 0));
    CU(cuGraphCreate(&consumer, 0));
    CU(cuGraphAddMemAllocNode(&alloc, producer, NULL, 0, &wanted));
    CU(cuGraphAddEmptyNode(&wait, consumer, NULL, 0));
    CU(cuGraphAddMemFreeNode(&release, consumer, &wait, 1, wanted.dptr));
    CU(cuGraphInstantiateWithFlags(&make, producer, 0));
    CU(cuGraphInstantiateWithFlags(&use, consumer, 0));
    CU(cuGraphLaunch(make, stream));
    CU(cuGraphLaunch(use, stream));
    CU(cuStreamSynchronize(stream));
    in_thread(launch, &use);
    CU(cuGraphExecDestroy(make));
    CU(cuGraphExecDestroy(use));
    CU(cuGraphDestroy(consumer));
    CU(cuGraphDestroy(producer));
}

/* By turns. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), between = 0;
    CUgraph producer = capture_producer(stream, &between),
            consumer = capture_consumer(stream, between, x);
    CUgraphExec make = NULL, use = NULL;
    CU(cuGraphInstantiateWithFlags(&make, producer, 0));
    CU(cuGraphInstantiateWithFlags(&use, consumer, 0));
    for (int i = 0; i < 3; i++) {
        CU(cuGraphLaunch(make, stream));
        CU(cuGraphLaunch(use, stream));
    }
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(x, 6) == 5);
    CU(cuGraphExecDestroy(make));
    CU(cuGraphExecDestroy(use));
    CU(cuGraphDestroy(consumer));
    CU(cuGraphDestroy(producer));
}

BROKEN(first, second, near)
