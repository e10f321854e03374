// SPDX-License-Identifier: Apache-2.0
/* What each call of the driver means to an open capture: the matrix of call x thread x
 * mode x kind of stream, as measured on an H100 (docs/conformance.md, the rows of
 * captures; tests/conformance/rules/capture_matrix.expected has every cell).
 *
 *   class      on a capturing stream          elsewhere
 *   safe       succeeds                       succeeds
 *   unsafe     by the modes                   by the modes
 *   work       is captured                    runs; on the legacy stream 906
 *   wait       900, ends the capture          by the modes
 *   refused    900, ends the capture          runs
 *   dropped    900, the capture goes on       runs
 *
 * "By the modes": refused with 900 while the mode of the capture and that of the calling
 * thread forbid it. */
#include "doctor/rules/capture/rules_capture.h"

#define U GPHI_CLASS_UNSAFE
#define W GPHI_CLASS_WORK
#define S GPHI_CLASS_SYNC
#define R GPHI_CLASS_REFUSED
#define M GPHI_CLASS_MEMORY

/* What is not here is safe: it does nothing to a capture. */
static const uint8_t classes[GPHI_CALL_COUNT] = {
    [GPHI_CALL_cuDeviceSetMemPool] = U,
    [GPHI_CALL_cuCtxSetLimit] = U,
    [GPHI_CALL_cuCtxSetCacheConfig] = U,
    [GPHI_CALL_cuModuleUnload] = U,
    [GPHI_CALL_cuLibraryUnload] = U,
    [GPHI_CALL_cuMemAlloc] = U,
    [GPHI_CALL_cuMemAllocPitch] = U,
    [GPHI_CALL_cuMemFree] = U,
    [GPHI_CALL_cuMemAllocHost] = U,
    [GPHI_CALL_cuMemFreeHost] = U,
    [GPHI_CALL_cuMemHostAlloc] = U,
    [GPHI_CALL_cuMemAllocManaged] = U,
    [GPHI_CALL_cuMemHostRegister] = U,
    [GPHI_CALL_cuMemHostUnregister] = U,
    [GPHI_CALL_cuArrayCreate] = U,
    [GPHI_CALL_cuArrayDestroy] = U,
    [GPHI_CALL_cuArray3DCreate] = U,
    [GPHI_CALL_cuMipmappedArrayCreate] = U,
    [GPHI_CALL_cuMipmappedArrayDestroy] = U,
    [GPHI_CALL_cuMemPoolTrimTo] = U,
    [GPHI_CALL_cuMemPoolSetAttribute] = U,
    [GPHI_CALL_cuMemPoolGetAttribute] = U,
    [GPHI_CALL_cuMemPoolSetAccess] = U,
    [GPHI_CALL_cuMemPoolGetAccess] = U,
    [GPHI_CALL_cuMemPoolCreate] = U,
    [GPHI_CALL_cuMemPoolDestroy] = U,
    [GPHI_CALL_cuMemSetMemPool] = U,
    [GPHI_CALL_cuMemAdvise] = U,
    [GPHI_CALL_cuPointerSetAttribute] = U,
    [GPHI_CALL_cuGraphInstantiateWithFlags] = U,
    [GPHI_CALL_cuGraphInstantiateWithParams] = U,
    [GPHI_CALL_cuGraphExecDestroy] = U,
    [GPHI_CALL_cuTexObjectCreate] = U,
    [GPHI_CALL_cuTexObjectDestroy] = U,
    [GPHI_CALL_cuSurfObjectCreate] = U,
    [GPHI_CALL_cuSurfObjectDestroy] = U,
    [GPHI_CALL_cuProfilerStart] = U,
    [GPHI_CALL_cuProfilerStop] = U,

    [GPHI_CALL_cuCtxSynchronize] = GPHI_CLASS_CONTEXT,
    [GPHI_CALL_cuCtxRecordEvent] = GPHI_CLASS_CONTEXT,
    [GPHI_CALL_cuCtxWaitEvent] = GPHI_CLASS_CONTEXT,

    [GPHI_CALL_cuMemcpyAsync] = W,
    [GPHI_CALL_cuMemcpyHtoDAsync] = W,
    [GPHI_CALL_cuMemcpyDtoHAsync] = W,
    [GPHI_CALL_cuMemcpyDtoDAsync] = W,
    [GPHI_CALL_cuMemcpyHtoAAsync] = W,
    [GPHI_CALL_cuMemcpyAtoHAsync] = W,
    [GPHI_CALL_cuMemcpy2DAsync] = W,
    [GPHI_CALL_cuMemcpy3DAsync] = W,
    [GPHI_CALL_cuMemsetD8Async] = W,
    [GPHI_CALL_cuMemsetD16Async] = W,
    [GPHI_CALL_cuMemsetD32Async] = W,
    [GPHI_CALL_cuMemsetD2D8Async] = W,
    [GPHI_CALL_cuMemsetD2D16Async] = W,
    [GPHI_CALL_cuMemsetD2D32Async] = W,
    [GPHI_CALL_cuStreamWaitEvent] = W,
    [GPHI_CALL_cuEventRecord] = W,
    [GPHI_CALL_cuEventRecordWithFlags] = W,
    [GPHI_CALL_cuSignalExternalSemaphoresAsync] = W,
    [GPHI_CALL_cuWaitExternalSemaphoresAsync] = W,
    [GPHI_CALL_cuStreamWaitValue32] = W,
    [GPHI_CALL_cuStreamWaitValue64] = W,
    [GPHI_CALL_cuStreamWriteValue32] = W,
    [GPHI_CALL_cuStreamWriteValue64] = W,
    [GPHI_CALL_cuStreamBatchMemOp] = W,
    [GPHI_CALL_cuLaunchKernel] = W,
    [GPHI_CALL_cuLaunchKernelEx] = W,
    [GPHI_CALL_cuLaunchCooperativeKernel] = W,
    [GPHI_CALL_cuLaunchHostFunc] = W,

    [GPHI_CALL_cuStreamGetPriority] = GPHI_CLASS_PROPERTY,
    [GPHI_CALL_cuStreamGetCtx] = GPHI_CLASS_PROPERTY,
    [GPHI_CALL_cuStreamGetAttribute] = GPHI_CLASS_PROPERTY,
    [GPHI_CALL_cuStreamSetAttribute] = GPHI_CLASS_PROPERTY,
    [GPHI_CALL_cuStreamBeginCapture] = GPHI_CLASS_CONTROL,
    [GPHI_CALL_cuStreamBeginCaptureToGraph] = GPHI_CLASS_CONTROL,
    [GPHI_CALL_cuStreamEndCapture] = GPHI_CLASS_CONTROL,
    [GPHI_CALL_cuStreamUpdateCaptureDependencies] = GPHI_CLASS_CONTROL,

    [GPHI_CALL_cuMemcpy] = S,
    [GPHI_CALL_cuMemcpyPeer] = S,
    [GPHI_CALL_cuMemcpyHtoD] = S,
    [GPHI_CALL_cuMemcpyDtoH] = S,
    [GPHI_CALL_cuMemcpyDtoD] = S,
    [GPHI_CALL_cuMemcpyDtoA] = S,
    [GPHI_CALL_cuMemcpyAtoD] = S,
    [GPHI_CALL_cuMemcpyHtoA] = S,
    [GPHI_CALL_cuMemcpyAtoH] = S,
    [GPHI_CALL_cuMemcpyAtoA] = S,
    [GPHI_CALL_cuMemcpy2D] = S,
    [GPHI_CALL_cuMemcpy2DUnaligned] = S,
    [GPHI_CALL_cuMemcpy3D] = S,
    [GPHI_CALL_cuMemcpy3DPeer] = S,
    [GPHI_CALL_cuMemsetD8] = S,
    [GPHI_CALL_cuMemsetD16] = S,
    [GPHI_CALL_cuMemsetD32] = S,
    [GPHI_CALL_cuMemsetD2D8] = S,
    [GPHI_CALL_cuMemsetD2D16] = S,
    [GPHI_CALL_cuMemsetD2D32] = S,

    [GPHI_CALL_cuStreamQuery] = GPHI_CLASS_WAIT,
    [GPHI_CALL_cuStreamSynchronize] = GPHI_CLASS_WAIT,

    [GPHI_CALL_cuMemFreeAsync] = M,
    [GPHI_CALL_cuMemAllocAsync] = M,
    [GPHI_CALL_cuMemAllocFromPoolAsync] = M,

    [GPHI_CALL_cuMemcpyPeerAsync] = R,
    [GPHI_CALL_cuMemcpy3DPeerAsync] = R,
    [GPHI_CALL_cuMemPrefetchAsync] = R,
    [GPHI_CALL_cuMemPrefetchBatchAsync] = R,
    [GPHI_CALL_cuMemDiscardBatchAsync] = R,
    [GPHI_CALL_cuMemDiscardAndPrefetchBatchAsync] = R,
    [GPHI_CALL_cuStreamGetFlags] = R,
    [GPHI_CALL_cuStreamGetId] = R,
    [GPHI_CALL_cuStreamGetDevice] = R,
    [GPHI_CALL_cuStreamAddCallback] = R,
    [GPHI_CALL_cuGraphUpload] = R,
    [GPHI_CALL_cuGraphLaunch] = R,

    [GPHI_CALL_cuStreamAttachMemAsync] = GPHI_CLASS_ATTACH,
    [GPHI_CALL_cuMemcpyBatchAsync] = GPHI_CLASS_DROPPED,
    [GPHI_CALL_cuMemcpy3DBatchAsync] = GPHI_CLASS_DROPPED,
    [GPHI_CALL_cuStreamIsCapturing] = GPHI_CLASS_ASK,
    [GPHI_CALL_cuStreamGetCaptureInfo] = GPHI_CLASS_ASK,
    [GPHI_CALL_cuEventQuery] = GPHI_CLASS_EVENT,
    [GPHI_CALL_cuEventSynchronize] = GPHI_CLASS_EVENT,
    [GPHI_CALL_cuEventElapsedTime] = GPHI_CLASS_TIME,
};

gphi_call_class gphi_capture_class(uint32_t call)
{
    return call < GPHI_CALL_COUNT ? (gphi_call_class)classes[call] : GPHI_CLASS_SAFE;
}

/* Whether the modes forbid what may disturb a capture. */
static bool forbids(const gphi_capture_cell *cell)
{
    if (cell->caller == GPHI_MODE_RELAXED)
        return false;
    if (cell->is_same_thread)
        return cell->mode != GPHI_MODE_RELAXED;
    return cell->mode == GPHI_MODE_GLOBAL && cell->caller != GPHI_MODE_THREAD_LOCAL;
}

static bool is_unsafe_aside(gphi_call_class class)
{
    return class == GPHI_CLASS_WAIT || class == GPHI_CLASS_MEMORY ||
           class == GPHI_CLASS_ATTACH || class == GPHI_CLASS_EVENT;
}

static int32_t on_capturing(gphi_call_class class)
{
    switch (class) {
    case GPHI_CLASS_SYNC:
    case GPHI_CLASS_WAIT:
    case GPHI_CLASS_REFUSED:
    case GPHI_CLASS_ATTACH:
    case GPHI_CLASS_DROPPED: return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    case GPHI_CLASS_EVENT:
    case GPHI_CLASS_TIME: return CUDA_ERROR_CAPTURED_EVENT;
    default: return CUDA_SUCCESS;
    }
}

int32_t gphi_capture_verdict(const gphi_capture_cell *cell)
{
    if (cell->class == GPHI_CLASS_SAFE)
        return CUDA_SUCCESS;
    if (cell->class == GPHI_CLASS_CONTEXT)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (cell->target == GPHI_TARGET_LEGACY && cell->is_blocking)
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    if (cell->target == GPHI_TARGET_CAPTURING)
        return on_capturing(cell->class);
    if (cell->class == GPHI_CLASS_UNSAFE || is_unsafe_aside(cell->class))
        return forbids(cell) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
    return CUDA_SUCCESS;
}

const char *gphi_capture_mode_name(uint32_t mode)
{
    static const char *const names[] = {"global", "thread-local", "relaxed"};
    return mode < 3 ? names[mode] : "global";
}
