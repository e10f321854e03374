// SPDX-License-Identifier: Apache-2.0
/* What a thread may ask for that has no current context, or another device's: a stream that
 * was created brings its own along, so do functions, modules, events and memory. The codes
 * are those of an H200 (driver 580.159.04). Not asked without a context: a kernel node, at
 * which that driver crashes. */
#include "driver.h"
#include "kernels.h"

static struct {
    CUcontext context;
    CUstream stream;
    CUevent event;
    CUmodule module;
    CUfunction function;
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr a, b;
    unsigned char host[256];
} its;

static void make(CUcontext current)
{
    CUgraphNode node;
    its.context = use_primary();
    OK(cu.cuStreamCreate(&its.stream, CU_STREAM_NON_BLOCKING));
    OK(cu.cuEventCreate(&its.event, CU_EVENT_DEFAULT));
    OK(cu.cuModuleLoadData(&its.module, kernels_ptx));
    OK(cu.cuModuleGetFunction(&its.function, its.module, "nothing"));
    OK(cu.cuMemAlloc(&its.a, 256));
    OK(cu.cuMemAlloc(&its.b, 256));
    OK(cu.cuGraphCreate(&its.graph, 0));
    const CUDA_KERNEL_NODE_PARAMS params = one_thread(its.function, NULL);
    OK(cu.cuGraphAddKernelNode(&node, its.graph, NULL, 0, &params));
    OK(cu.cuGraphInstantiateWithFlags(&its.exec, its.graph, 0));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuCtxSetCurrent(current));
}

static CUresult launch(CUstream stream)
{
    return cu.cuLaunchKernel(its.function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

static void a_created_stream_brings_its_context(void)
{
    CUcontext found = NULL;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    CUgraph captured = NULL;
    CUdeviceptr p = 0;
    unsigned flags = 0;
    OK(cu.cuGraphLaunch(its.exec, its.stream));
    OK(cu.cuGraphUpload(its.exec, its.stream));
    OK(launch(its.stream));
    OK(cu.cuMemcpyHtoDAsync(its.b, its.host, 64, its.stream));
    OK(cu.cuMemcpyDtoDAsync(its.a, its.b, 64, its.stream));
    OK(cu.cuMemcpyAsync(its.a, its.b, 64, its.stream));
    OK(cu.cuMemsetD8Async(its.a, 1, 64, its.stream));
    OK(cu.cuMemsetD32Async(its.a, 0x01010101, 4, its.stream));
    OK(cu.cuMemcpyDtoHAsync(its.host, its.a, 64, its.stream));
    OK(cu.cuEventRecord(its.event, its.stream));
    OK(cu.cuEventSynchronize(its.event));
    CHECK(its.host[0] == 1 && its.host[63] == 1);
    OK(cu.cuStreamWaitEvent(its.stream, its.event, 0));
    OK(cu.cuStreamSynchronize(its.stream));
    OK(cu.cuStreamQuery(its.stream));
    OK(cu.cuStreamGetCtx(its.stream, &found));
    CHECK(found == its.context);
    OK(cu.cuStreamGetFlags(its.stream, &flags));
    CHECK(flags == CU_STREAM_NON_BLOCKING);
    OK(cu.cuStreamIsCapturing(its.stream, &status));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cu.cuStreamBeginCapture(its.stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(launch(its.stream));
    OK(cu.cuMemsetD8Async(its.a, 1, 64, its.stream));
    OK(cu.cuStreamEndCapture(its.stream, &captured));
    OK(cu.cuGraphDestroy(captured));
    OK(cu.cuMemAllocAsync(&p, 64, its.stream));
    OK(cu.cuMemFreeAsync(p, its.stream));
    OK(cu.cuStreamSynchronize(its.stream));
}

/* What no stream orders, and what makes something new, is of the current context. */
static void without_one_the_rest_is_refused(void)
{
    CUstream stream = NULL;
    CUevent event = NULL;
    CUmodule module = NULL;
    CUgraphExec exec = NULL;
    CUdeviceptr p = 0;
    CUdevice device = 0;
    void *host = NULL;
    REFUSED(INVALID_CONTEXT, cu.cuMemcpyHtoD(its.a, its.host, 64));
    REFUSED(INVALID_CONTEXT, cu.cuMemcpyDtoH(its.host, its.a, 64));
    REFUSED(INVALID_CONTEXT, cu.cuMemcpy(its.a, its.b, 64));
    REFUSED(INVALID_CONTEXT, cu.cuMemsetD8(its.a, 1, 64));
    REFUSED(INVALID_CONTEXT, cu.cuGraphInstantiateWithFlags(&exec, its.graph, 0));
    REFUSED(INVALID_CONTEXT, cu.cuGraphLaunch(its.exec, CU_STREAM_PER_THREAD));
    REFUSED(INVALID_CONTEXT, launch(NULL));
    REFUSED(INVALID_CONTEXT, cu.cuStreamSynchronize(NULL));
    REFUSED(INVALID_CONTEXT, cu.cuMemcpyHtoDAsync(its.a, its.host, 64, NULL));
    REFUSED(INVALID_CONTEXT, cu.cuMemAlloc(&p, 64));
    REFUSED(INVALID_CONTEXT, cu.cuStreamCreate(&stream, 0));
    REFUSED(INVALID_CONTEXT, cu.cuEventCreate(&event, 0));
    REFUSED(INVALID_CONTEXT, cu.cuModuleLoadData(&module, kernels_ptx));
    REFUSED(INVALID_CONTEXT, cu.cuCtxGetDevice(&device));
    REFUSED(INVALID_CONTEXT, cu.cuCtxSynchronize());
    REFUSED(INVALID_CONTEXT, cu.cuMemHostAlloc(&host, 64, 0));
}

static void other_handles_bring_theirs(void)
{
    CUfunction function = NULL;
    CUdeviceptr p = 0;
    size_t bytes = 0;
    int number = 0;
    OK(cu.cuModuleGetFunction(&function, its.module, "add"));
    OK(cu.cuModuleGetGlobal(&p, &bytes, its.module, "counter"));
    OK(cu.cuFuncGetAttribute(&number, CU_FUNC_ATTRIBUTE_NUM_REGS, its.function));
    OK(cu.cuMemFree(its.a));
    OK(cu.cuMemFree(its.b));
    OK(cu.cuGraphExecDestroy(its.exec));
    OK(cu.cuGraphDestroy(its.graph));
    OK(cu.cuEventDestroy(its.event));
    OK(cu.cuModuleUnload(its.module));
    OK(cu.cuStreamDestroy(its.stream));
    OK(cu.cuCtxSetCurrent(its.context));
    OK(cu.cuCtxSynchronize());
}

static void a_thread_without_a_context(void)
{
    make(NULL);
    a_created_stream_brings_its_context();
    without_one_the_rest_is_refused();
    other_handles_bring_theirs();
}

static void a_thread_with_another_devices_context(void)
{
    int count = 0;
    CUcontext other = NULL;
    OK(cu.cuDeviceGetCount(&count));
    if (count < 2)
        SKIP("one device");
    OK(cu.cuDevicePrimaryCtxRetain(&other, 1));
    make(other);
    a_created_stream_brings_its_context();
    REFUSED(INVALID_HANDLE,
            launch(NULL)); /* the other device's stream, this one's kernel */
    OK(cu.cuGraphLaunch(its.exec, NULL));
    OK(cu.cuStreamSynchronize(NULL));
    other_handles_bring_theirs();
    OK(cu.cuDevicePrimaryCtxRelease(1));
}

int main(void)
{
    (void)setenv("SOFTCUDA_DEVICES", "2", 0);
    DEVICE_OR_SKIP();
    RUN(a_thread_without_a_context);
    RUN(a_thread_with_another_devices_context);
    return test_done();
}
