// SPDX-License-Identifier: Apache-2.0
// check.race
//
// Two nodes of a graph touch the same bytes, at least one writes, and no path of dependencies
// orders them: what comes out depends on which is faster. The driver never says so. softcuda with
// SOFTCUDA_CHECK=race watches every access of a graph's kernels, copies and fills; the doctor
// leads its sentence back to the lines that made the nodes. Add the edge, or, in a capture, let
// the one stream wait for an event of the other.
// also: launch.unordered-nodes
// env: SOFTCUDA_CHECK=race
#include "broken.h"

static CUgraphNode add(CUgraph graph, const CUgraphNode *after, CUfunction kernel,
                       void **arguments)
{
    CUgraphNode node = NULL;
    const CUDA_KERNEL_NODE_PARAMS params = floats_kernel(kernel, arguments);
    CU(cuGraphAddKernelNode(&node, graph, after, after != NULL, &params));
    return node;
}

/* The edge leads from the wrong node. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), y = new_floats(), z = new_floats();
    CUgraph graph = NULL;
    CU(cuGraphCreate(&graph, 0));
    CUgraphNode begin =
        add(graph, NULL, fill, (void *[]){&x, &(float){1}, &(unsigned){FLOATS}});
    add(graph, &begin, copy, (void *[]){&y, &x, &(unsigned){FLOATS}});
    void *sum[] = {&z, &y, &(float){2}, &(unsigned){FLOATS}};
    const CUDA_KERNEL_NODE_PARAMS params = floats_kernel(scale_add, sum);
    CUgraphNode end = NULL;
    CU(cuGraphAddKernelNode(&end, graph, &begin, 1, &params)); // <-- first
    replay_once(graph, stream);
}

/* A fork whose branches share a scratch buffer. */
static void second(void)
{
    CUstream stream = new_stream(), side = new_stream();
    CUevent fork = new_event(), join = new_event();
    CUdeviceptr scratch = new_floats(), in = new_floats();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    fork_to(stream, side, fork);
    COPY(stream, scratch, in);
    CU(cuMemsetD32Async(scratch, 7, FLOATS, side)); // <-- second
    join_from(stream, side, join);
    CUgraph graph = NULL;
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
}

/* The same nodes, in order; and a fork whose branches share what they only read. */
static void near(void)
{
    CUstream stream = new_stream(), side = new_stream();
    CUevent fork = new_event(), join = new_event();
    CUdeviceptr x = new_floats(), y = new_floats(), z = new_floats();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 1);
    fork_to(stream, side, fork);
    COPY(stream, y, x);
    COPY(side, z, x);
    join_from(stream, side, join);
    SCALE_ADD(stream, z, y, 2);
    CUgraph graph = NULL;
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
    EXPECT(float_at(z, 5) == 3);
}

BROKEN(first, second, near)
