// SPDX-License-Identifier: Apache-2.0
/* What a capture makes of each driver call, one row a call, after the matrix of call by
 * thread, mode and kind of stream that tests/conformance holds
 * (docs/design/capture.md). */
#include "advice/effect.h"
#include "event/event.h"

/* clang-format off */
#define EFFECTS(X)                                                                       \
    X(CAPTURED, cuLaunchKernel) X(CAPTURED, cuLaunchKernelEx)                            \
    X(CAPTURED, cuLaunchCooperativeKernel) X(CAPTURED, cuLaunchHostFunc)                 \
    X(CAPTURED, cuMemcpyAsync) X(CAPTURED, cuMemcpyHtoDAsync)                            \
    X(CAPTURED, cuMemcpyDtoHAsync) X(CAPTURED, cuMemcpyDtoDAsync)                        \
    X(CAPTURED, cuMemcpyHtoAAsync) X(CAPTURED, cuMemcpyAtoHAsync)                        \
    X(CAPTURED, cuMemcpy2DAsync) X(CAPTURED, cuMemcpy3DAsync)                            \
    X(CAPTURED, cuMemcpy3DPeerAsync)                                                     \
    X(CAPTURED, cuMemsetD8Async) X(CAPTURED, cuMemsetD16Async)                           \
    X(CAPTURED, cuMemsetD32Async) X(CAPTURED, cuMemsetD2D8Async)                         \
    X(CAPTURED, cuMemsetD2D16Async) X(CAPTURED, cuMemsetD2D32Async)                      \
    X(CAPTURED, cuMemAllocAsync) X(CAPTURED, cuMemAllocFromPoolAsync)                    \
    X(CAPTURED, cuMemFreeAsync)                                                          \
    X(CAPTURED, cuStreamWaitValue32) X(CAPTURED, cuStreamWaitValue64)                    \
    X(CAPTURED, cuStreamWriteValue32) X(CAPTURED, cuStreamWriteValue64)                  \
    X(CAPTURED, cuStreamBatchMemOp)                                                      \
    X(ORDER, cuEventRecord) X(ORDER, cuEventRecordWithFlags) X(ORDER, cuStreamWaitEvent) \
    X(STREAM_ONLY, cuGraphLaunch) X(STREAM_ONLY, cuStreamAttachMemAsync)                 \
    X(STREAM_ONLY, cuMemPrefetchAsync) X(STREAM_ONLY, cuMemPrefetchBatchAsync)           \
    X(STREAM_ONLY, cuMemDiscardBatchAsync)                                               \
    X(STREAM_ONLY, cuMemDiscardAndPrefetchBatchAsync)                                    \
    X(STREAM_ONLY, cuStreamAddCallback) X(STREAM_ONLY, cuMemcpyPeerAsync)                \
    X(DROPPED, cuMemcpyBatchAsync) X(DROPPED, cuMemcpy3DBatchAsync)                      \
    X(STREAM, cuStreamSynchronize) X(STREAM, cuStreamQuery)                              \
    X(ALWAYS, cuCtxSynchronize)                                                          \
    X(EVENT, cuEventQuery) X(EVENT, cuEventSynchronize)                                  \
    X(LEGACY, cuMemcpy) X(LEGACY, cuMemcpyPeer) X(LEGACY, cuMemcpyHtoD)                  \
    X(LEGACY, cuMemcpyDtoH) X(LEGACY, cuMemcpyDtoD) X(LEGACY, cuMemcpyDtoA)              \
    X(LEGACY, cuMemcpyAtoD) X(LEGACY, cuMemcpyHtoA) X(LEGACY, cuMemcpyAtoH)              \
    X(LEGACY, cuMemcpyAtoA) X(LEGACY, cuMemcpy2D) X(LEGACY, cuMemcpy2DUnaligned)         \
    X(LEGACY, cuMemcpy3D) X(LEGACY, cuMemcpy3DPeer) X(LEGACY, cuMemsetD8)                \
    X(LEGACY, cuMemsetD16) X(LEGACY, cuMemsetD32) X(LEGACY, cuMemsetD2D8)                \
    X(LEGACY, cuMemsetD2D16) X(LEGACY, cuMemsetD2D32)                                    \
    X(UNSAFE, cuMemAlloc) X(UNSAFE, cuMemAllocPitch) X(UNSAFE, cuMemFree)                \
    X(UNSAFE, cuMemAllocHost) X(UNSAFE, cuMemHostAlloc) X(UNSAFE, cuMemFreeHost)         \
    X(UNSAFE, cuMemAllocManaged) X(UNSAFE, cuMemHostRegister)                            \
    X(UNSAFE, cuMemHostUnregister) X(UNSAFE, cuMemAdvise) X(UNSAFE, cuArrayCreate)       \
    X(UNSAFE, cuArray3DCreate) X(UNSAFE, cuArrayDestroy)                                 \
    X(UNSAFE, cuMipmappedArrayCreate) X(UNSAFE, cuMipmappedArrayDestroy)                 \
    X(UNSAFE, cuTexObjectCreate) X(UNSAFE, cuTexObjectDestroy)                           \
    X(UNSAFE, cuModuleUnload) X(UNSAFE, cuLibraryUnload) X(UNSAFE, cuCtxSetLimit)        \
    X(UNSAFE, cuCtxSetCacheConfig) X(UNSAFE, cuProfilerStart) X(UNSAFE, cuProfilerStop)  \
    X(UNSAFE, cuMemPoolCreate) X(UNSAFE, cuMemPoolDestroy) X(UNSAFE, cuMemPoolTrimTo)    \
    X(UNSAFE, cuMemPoolSetAttribute) X(UNSAFE, cuMemPoolGetAttribute)                    \
    X(UNSAFE, cuGraphInstantiateWithFlags) X(UNSAFE, cuGraphInstantiateWithParams)       \
    X(UNSAFE, cuGraphExecDestroy)                                                        \
    X(CAPTURE, cuStreamBeginCapture) X(CAPTURE, cuStreamBeginCaptureToGraph)             \
    X(CAPTURE, cuStreamEndCapture) X(CAPTURE, cuGraphExecUpdate)                         \
    X(CAPTURE, cuGraphUpload) X(CAPTURE, cuGraphDestroy)                                 \
    X(HOST, cuModuleLoad) X(HOST, cuModuleLoadData) X(HOST, cuModuleLoadDataEx)          \
    X(HOST, cuModuleLoadFatBinary) X(HOST, cuLibraryLoadData)                            \
    X(HOST, cuLibraryLoadFromFile) X(HOST, cuStreamCreate)                               \
    X(HOST, cuStreamCreateWithPriority) X(HOST, cuStreamDestroy) X(HOST, cuEventCreate)  \
    X(HOST, cuEventDestroy) X(HOST, cuMemMap) X(HOST, cuMemUnmap) X(HOST, cuMemCreate)   \
    X(HOST, cuMemRelease) X(HOST, cuMemAddressReserve) X(HOST, cuMemAddressFree)         \
    X(HOST, cuMemSetAccess) X(HOST, cuMemGetInfo) X(HOST, cuEventElapsedTime)
/* clang-format on */

gphi_effect gphi_effect_of(uint32_t call)
{
    switch (call) {
#define X(effect, name)                                                                  \
    case GPHI_CALL_##name: return GPHI_EFFECT_##effect;
        EFFECTS(X)
#undef X
    default: return GPHI_EFFECT_NONE;
    }
}

/* What goes to the legacy stream counts as a wait: the host does not run ahead of it. */
bool gphi_effect_waits(uint32_t call)
{
    switch (call) {
    case GPHI_CALL_cuStreamSynchronize:
    case GPHI_CALL_cuCtxSynchronize:
    case GPHI_CALL_cuEventSynchronize: return true;
    default: return gphi_effect_of(call) == GPHI_EFFECT_LEGACY;
    }
}

const char *gphi_effect_text(gphi_effect effect)
{
    static const char *const texts[] = {
        [GPHI_EFFECT_HOST] = "allowed; done once, when captured, not at a replay",
        [GPHI_EFFECT_UNSAFE] = "900 in global and thread-local mode, allowed in relaxed "
                               "mode, and not part of the graph",
        [GPHI_EFFECT_STREAM] =
            "900 in any mode on a stream of the capture; on another stream 900 in global "
            "and thread-local mode",
        [GPHI_EFFECT_ALWAYS] = "900 in any mode, from any thread",
        [GPHI_EFFECT_STREAM_ONLY] = "900 in any mode on a stream of the capture",
        [GPHI_EFFECT_LEGACY] = "906 in any mode while a blocking stream captures; else "
                               "it runs immediately and is not in the graph",
        [GPHI_EFFECT_DROPPED] =
            "900, but the capture goes on and the graph lacks the copy",
        [GPHI_EFFECT_EVENT] = "907 if the event was recorded in the capture; else 900 in "
                              "global and thread-local mode, allowed in relaxed mode",
        [GPHI_EFFECT_CAPTURE] = "not allowed on a stream of the capture",
    };
    return (unsigned)effect < sizeof(texts) / sizeof(texts[0]) ? texts[effect] : 0;
}
