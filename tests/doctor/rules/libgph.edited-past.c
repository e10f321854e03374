// SPDX-License-Identifier: Apache-2.0
// libgph.edited-past
//
// libgph knows what an executable holds that it tracks, and an update sends the driver only
// what differs from that. Here a node is set through the driver, and the update that is to put
// the original back finds nothing to do. Use gph_exec_edit(), or update to a changed graph.
#include "libgph.h"

static CUdeviceptr out;
static gph_exec *exec;
static CUgraph original;
static CUgraphExec raw;
static CUgraphNode node;

static CUgraph record(float value)
{
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    must(gph_capture_begin(gph, stream, NULL, &capture, &error));
    FILL(stream, out, value);
    must(gph_capture_end(capture, &graph, &error));
    return graph;
}

static void open_tracked(void)
{
    size_t one = 1;
    open_gph();
    out = new_floats();
    original = record(1);
    must(gph_exec_create(gph, original, NULL, &exec, &error));
    must(gph_exec_track(exec, original, NULL, &error));
    raw = gph_exec_handle(exec);
    CU(cuGraphGetNodes(original, &node, &one));
}

static void update(float value)
{
    gph_update_options options = GPH_UPDATE_OPTIONS_INIT;
    gph_snapshot *snapshot = NULL;
    CUgraph graph = record(value);
    must(gph_snapshot_take(gph, graph, &snapshot, &error));
    options.snapshot = snapshot;
    must(gph_exec_update(exec, graph, &options, NULL, &error));
    must(gph_exec_launch(exec, stream, &error));
    printf("%g\n", (double)read_back(out));
}

static void first(void)
{
    CUDA_KERNEL_NODE_PARAMS params;
    open_tracked();
    CU(cuGraphKernelNodeGetParams(node, &params));
    params.kernelParams = (void *[]){&out, &(float){9}, &(unsigned){FLOATS}};
    CU(cuGraphExecKernelNodeSetParams(raw, node, &params)); // <-- first
    must(gph_exec_launch(exec, stream, &error));
    update(1);
}

/* A node that is switched off. */
static void second(void)
{
    open_tracked();
    CU(cuGraphNodeSetEnabled(raw, node, 0)); // <-- second
    must(gph_exec_launch(exec, stream, &error));
    update(1);
}

/* By libgph; and set through the driver, but not updated afterwards. */
static void near(void)
{
    CUDA_KERNEL_NODE_PARAMS params;
    open_tracked();
    update(2);
    update(1);
    CU(cuGraphKernelNodeGetParams(node, &params));
    params.kernelParams = (void *[]){&out, &(float){9}, &(unsigned){FLOATS}};
    CU(cuGraphExecKernelNodeSetParams(raw, node, &params));
    must(gph_exec_launch(exec, stream, &error));
    CU(cuStreamSynchronize(stream));
}

BROKEN(first, second, near)
