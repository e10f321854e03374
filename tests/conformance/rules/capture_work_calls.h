// SPDX-License-Identifier: Apache-2.0
/* The second half of capture_calls.h, which includes it: launches, copies, fills, graphs. */
#ifndef CAPTURE_WORK_CALLS_H
#define CAPTURE_WORK_CALLS_H

/* ---- work ---- */

static CUresult launch(CUstream stream, unsigned threads)
{
    return cu.cuLaunchKernel(b.nothing, 1, 1, 1, threads, 1, 1, 0, stream, NULL, NULL);
}
CALL(launch_capturing, launch(b.capturing, 32))
CALL(launch_bad, launch(b.capturing, 4096))
CALL(launch_other, launch(b.other, 32))
CALL(launch_legacy, launch(CU_STREAM_LEGACY, 32))
CALL(launch_per_thread, launch(CU_STREAM_PER_THREAD, 32))
CALL(launch_cooperative,
     cu.cuLaunchCooperativeKernel(b.nothing, 1, 1, 1, 32, 1, 1, 0, b.capturing, NULL))
CALL(host_capturing, cu.cuLaunchHostFunc(b.capturing, ignore, NULL))
CALL(host_other, cu.cuLaunchHostFunc(b.other, ignore, NULL))
CALL(host_legacy, cu.cuLaunchHostFunc(CU_STREAM_LEGACY, ignore, NULL))
CALL(copy_capturing, cu.cuMemcpyDtoDAsync(b.at, b.at + 1024, 64, b.capturing))
CALL(copy_bad, cu.cuMemcpyDtoDAsync(b.at, 4096, 64, b.capturing))
CALL(copy_other, cu.cuMemcpyDtoDAsync(b.at, b.at + 1024, 64, b.other))
CALL(copy_legacy, cu.cuMemcpyDtoDAsync(b.at, b.at + 1024, 64, CU_STREAM_LEGACY))
CALL(copy_pageable_in, cu.cuMemcpyHtoDAsync(b.at, ordinary + PAGE, 64, b.capturing))
CALL(copy_pageable_out, cu.cuMemcpyDtoHAsync(ordinary + PAGE, b.at, 64, b.capturing))
CALL(copy_pageable_other, cu.cuMemcpyDtoHAsync(ordinary + PAGE, b.at, 64, b.other))
CALL(copy_to_host, cu.cuMemcpyDtoH(ordinary + PAGE, b.at, 64))
CALL(copy_to_device, cu.cuMemcpyHtoD(b.at, ordinary + PAGE, 64))
CALL(copy_in_device, cu.cuMemcpyDtoD(b.at, b.at + 1024, 64))
CALL(copy_any, cu.cuMemcpy(b.at, b.at + 1024, 64))
static CUresult copy_2d(void)
{
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = b.at,
                                .srcPitch = 64,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = b.at + 1024,
                                .dstPitch = 64,
                                .WidthInBytes = 32,
                                .Height = 4};
    return cu.cuMemcpy2D(&copy);
}
CALL(copy_peer, cu.cuMemcpyPeer(b.at, b.context, b.at + 1024, b.context, 64))
CALL(copy_peer_capturing,
     cu.cuMemcpyPeerAsync(b.at, b.context, b.at + 1024, b.context, 64, b.capturing))
CALL(copy_peer_other,
     cu.cuMemcpyPeerAsync(b.at, b.context, b.at + 1024, b.context, 64, b.other))
static CUresult copy_batch(CUstream stream)
{
    CUdeviceptr dst = b.at, src = b.at + 1024;
    size_t bytes = 64, index = 0;
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    return cu.cuMemcpyBatchAsync(&dst, &src, &bytes, 1, &attributes, &index, 1, stream);
}
CALL(copy_batch_capturing, copy_batch(b.capturing))
CALL(copy_batch_other, copy_batch(b.other))
CALL(copy_batch_legacy, copy_batch(CU_STREAM_LEGACY))
static CUresult copy_3d_batch(CUstream stream)
{
    CUDA_MEMCPY3D_BATCH_OP op = {.src = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER},
                                 .dst = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER},
                                 .extent = {64, 1, 1},
                                 .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    op.src.op.ptr.ptr = b.at + 1024;
    op.src.op.ptr.locHint = here();
    op.dst.op.ptr.ptr = b.at;
    op.dst.op.ptr.locHint = here();
    return cu.cuMemcpy3DBatchAsync(1, &op, 0, stream);
}
CALL(copy_3d_batch_capturing, copy_3d_batch(b.capturing))
CALL(copy_3d_batch_other, copy_3d_batch(b.other))
static CUresult discard_capturing(void)
{
    CUdeviceptr at = b.managed;
    size_t bytes = PAGE;
    return cu.cuMemDiscardBatchAsync(&at, &bytes, 1, 0, b.capturing);
}
static CUresult prefetch_batch_capturing(void)
{
    CUdeviceptr at = b.managed;
    CUmemLocation to = here();
    size_t bytes = PAGE, index = 0;
    return cu.cuMemPrefetchBatchAsync(&at, &bytes, 1, &to, &index, 1, 0, b.capturing);
}
CALL(fill, cu.cuMemsetD32(b.at, 1, 16))
CALL(fill_capturing, cu.cuMemsetD32Async(b.at, 1, 16, b.capturing))
CALL(fill_bad, cu.cuMemsetD32Async(4096, 1, 16, b.capturing))
CALL(fill_other, cu.cuMemsetD32Async(b.at, 1, 16, b.other))
CALL(fill_legacy, cu.cuMemsetD32Async(b.at, 1, 16, CU_STREAM_LEGACY))

/* ---- graphs ---- */

CALL(graph_create, cu.cuGraphCreate(&b.spare_graph, 0))
MADE(destroy_graph, cu.cuGraphDestroy(b.spare_graph))
BEFORE(have_graph, OK(graph_create()))
CALL(graph_destroy, cu.cuGraphDestroy(b.spare_graph))
KEPT(kept_graph, cu.cuGraphDestroy(b.spare_graph))
CALL(graph_clone, cu.cuGraphClone(&b.spare_graph, b.graph))
static void drop_graph(CUresult result)
{
    (void)result;
    OK(cu.cuGraphDestroy(b.spare_graph));
}
static CUresult graph_add(void)
{
    CUgraphNode node;
    return cu.cuGraphAddEmptyNode(&node, b.spare_graph, NULL, 0);
}
static CUresult graph_add_alloc(void)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.poolProps = pooled(), .bytesize = 4096};
    CUgraphNode node;
    return cu.cuGraphAddMemAllocNode(&node, b.spare_graph, NULL, 0, &params);
}
static CUresult graph_nodes(void)
{
    size_t count;
    return cu.cuGraphGetNodes(b.graph, NULL, &count);
}
CALL(graph_dot, cu.cuGraphDebugDotPrint(b.graph, b.dot_path, 0))
CALL(graph_instantiate, cu.cuGraphInstantiateWithFlags(&b.spare_exec, b.graph, 0))
static CUresult graph_instantiate_with(void)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
    return cu.cuGraphInstantiateWithParams(&b.spare_exec, b.graph, &params);
}
MADE(destroy_exec, cu.cuGraphExecDestroy(b.spare_exec))
BEFORE(have_exec, OK(graph_instantiate()))
CALL(exec_destroy, cu.cuGraphExecDestroy(b.spare_exec))
KEPT(kept_exec, cu.cuGraphExecDestroy(b.spare_exec))
static CUresult exec_update(void)
{
    CUgraphExecUpdateResultInfo info;
    return cu.cuGraphExecUpdate(b.exec, b.graph, &info);
}
CALL(exec_upload_capturing, cu.cuGraphUpload(b.exec, b.capturing))
CALL(exec_upload_legacy, cu.cuGraphUpload(b.exec, CU_STREAM_LEGACY))
CALL(exec_upload_other, cu.cuGraphUpload(b.exec, b.other))
CALL(exec_launch_capturing, cu.cuGraphLaunch(b.exec, b.capturing))
CALL(exec_launch_other, cu.cuGraphLaunch(b.exec, b.other))
CALL(exec_launch_legacy, cu.cuGraphLaunch(b.exec, CU_STREAM_LEGACY))
static CUresult exec_flags(void)
{
    cuuint64_t flags;
    return cu.cuGraphExecGetFlags(b.exec, &flags);
}
CALL(object_create, cu.cuUserObjectCreate(&b.object, ordinary, ignore, 1,
                                          CU_USER_OBJECT_NO_DESTRUCTOR_SYNC))
MADE(release_object, cu.cuUserObjectRelease(b.object, 1))
BEFORE(have_object, b.object = object_create() == CUDA_SUCCESS ? b.object : NULL)
CALL(object_release,
     b.object ? cu.cuUserObjectRelease(b.object, 1) : (CUresult)CUDA_ERROR_NOT_SUPPORTED)
static void kept_object(CUresult result)
{
    if (result != CUDA_SUCCESS && b.object)
        OK(cu.cuUserObjectRelease(b.object, 1));
}
#endif
