// SPDX-License-Identifier: Apache-2.0
/* Written by scripts/attach_wrappers.py from src/cuda/calls.h:
 * a wrapper for each symbol, and a table of them. sizes: table */
#include "attach/enter.h"

/* clang-format off */
#define X(symbol, name, version, per_thread, arguments) ATTACH_API CUresult symbol arguments;
GPHI_CUDA_SYMBOLS(X)
#undef X

static const attach_argument arguments_cuArray3DCreate[] = {{ATTACH_OUT, 0, sizeof(CUarray)}, {ATTACH_WORD, 0, 0}};
CUresult cuArray3DCreate(CUarray *a0, const CUDA_ARRAY3D_DESCRIPTOR_v1 *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUarray *, const CUDA_ARRAY3D_DESCRIPTOR_v1 *) = (CUresult (*)(CUarray *, const CUDA_ARRAY3D_DESCRIPTOR_v1 *))attach_enter(&call, ATTACH_cuArray3DCreate, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuArray3DCreate_v2[] = {{ATTACH_OUT, 0, sizeof(CUarray)}, {ATTACH_STRUCT, 0, sizeof(CUDA_ARRAY3D_DESCRIPTOR)}};
CUresult cuArray3DCreate_v2(CUarray *a0, const CUDA_ARRAY3D_DESCRIPTOR *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUarray *, const CUDA_ARRAY3D_DESCRIPTOR *) = (CUresult (*)(CUarray *, const CUDA_ARRAY3D_DESCRIPTOR *))attach_enter(&call, ATTACH_cuArray3DCreate_v2, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuArray3DGetDescriptor[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR_v1 *a0, CUarray a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUDA_ARRAY3D_DESCRIPTOR_v1 *, CUarray) = (CUresult (*)(CUDA_ARRAY3D_DESCRIPTOR_v1 *, CUarray))attach_enter(&call, ATTACH_cuArray3DGetDescriptor, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuArray3DGetDescriptor_v2[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_ARRAY3D_DESCRIPTOR)}, {ATTACH_WORD, 0, 0}};
CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *a0, CUarray a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUDA_ARRAY3D_DESCRIPTOR *, CUarray) = (CUresult (*)(CUDA_ARRAY3D_DESCRIPTOR *, CUarray))attach_enter(&call, ATTACH_cuArray3DGetDescriptor_v2, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuArrayCreate[] = {{ATTACH_OUT, 0, sizeof(CUarray)}, {ATTACH_WORD, 0, 0}};
CUresult cuArrayCreate(CUarray *a0, const CUDA_ARRAY_DESCRIPTOR_v1 *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUarray *, const CUDA_ARRAY_DESCRIPTOR_v1 *) = (CUresult (*)(CUarray *, const CUDA_ARRAY_DESCRIPTOR_v1 *))attach_enter(&call, ATTACH_cuArrayCreate, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuArrayCreate_v2[] = {{ATTACH_OUT, 0, sizeof(CUarray)}, {ATTACH_STRUCT, 0, sizeof(CUDA_ARRAY_DESCRIPTOR)}};
CUresult cuArrayCreate_v2(CUarray *a0, const CUDA_ARRAY_DESCRIPTOR *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUarray *, const CUDA_ARRAY_DESCRIPTOR *) = (CUresult (*)(CUarray *, const CUDA_ARRAY_DESCRIPTOR *))attach_enter(&call, ATTACH_cuArrayCreate_v2, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuArrayDestroy[] = {{ATTACH_WORD, 0, 0}};
CUresult cuArrayDestroy(CUarray a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUarray) = (CUresult (*)(CUarray))attach_enter(&call, ATTACH_cuArrayDestroy, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuArrayGetDescriptor[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR_v1 *a0, CUarray a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUDA_ARRAY_DESCRIPTOR_v1 *, CUarray) = (CUresult (*)(CUDA_ARRAY_DESCRIPTOR_v1 *, CUarray))attach_enter(&call, ATTACH_cuArrayGetDescriptor, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuArrayGetDescriptor_v2[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_ARRAY_DESCRIPTOR)}, {ATTACH_WORD, 0, 0}};
CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *a0, CUarray a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUDA_ARRAY_DESCRIPTOR *, CUarray) = (CUresult (*)(CUDA_ARRAY_DESCRIPTOR *, CUarray))attach_enter(&call, ATTACH_cuArrayGetDescriptor_v2, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuArrayGetMemoryRequirements[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_ARRAY_MEMORY_REQUIREMENTS)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *a0, CUarray a1, CUdevice a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUDA_ARRAY_MEMORY_REQUIREMENTS *, CUarray, CUdevice) = (CUresult (*)(CUDA_ARRAY_MEMORY_REQUIREMENTS *, CUarray, CUdevice))attach_enter(&call, ATTACH_cuArrayGetMemoryRequirements, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuArrayGetPlane[] = {{ATTACH_OUT, 0, sizeof(CUarray)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuArrayGetPlane(CUarray *a0, CUarray a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUarray *, CUarray, unsigned int) = (CUresult (*)(CUarray *, CUarray, unsigned int))attach_enter(&call, ATTACH_cuArrayGetPlane, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuArrayGetSparseProperties[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_ARRAY_SPARSE_PROPERTIES)}, {ATTACH_WORD, 0, 0}};
CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *a0, CUarray a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUDA_ARRAY_SPARSE_PROPERTIES *, CUarray) = (CUresult (*)(CUDA_ARRAY_SPARSE_PROPERTIES *, CUarray))attach_enter(&call, ATTACH_cuArrayGetSparseProperties, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuCheckpointProcessCheckpoint[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUcheckpointCheckpointArgs)}};
CUresult cuCheckpointProcessCheckpoint(int a0, CUcheckpointCheckpointArgs *a1)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(int, CUcheckpointCheckpointArgs *) = (CUresult (*)(int, CUcheckpointCheckpointArgs *))attach_enter(&call, ATTACH_cuCheckpointProcessCheckpoint, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuCheckpointProcessGetRestoreThreadId[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(int)}};
CUresult cuCheckpointProcessGetRestoreThreadId(int a0, int *a1)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(int, int *) = (CUresult (*)(int, int *))attach_enter(&call, ATTACH_cuCheckpointProcessGetRestoreThreadId, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuCheckpointProcessGetState[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUprocessState)}};
CUresult cuCheckpointProcessGetState(int a0, CUprocessState *a1)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(int, CUprocessState *) = (CUresult (*)(int, CUprocessState *))attach_enter(&call, ATTACH_cuCheckpointProcessGetState, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuCheckpointProcessLock[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUcheckpointLockArgs)}};
CUresult cuCheckpointProcessLock(int a0, CUcheckpointLockArgs *a1)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(int, CUcheckpointLockArgs *) = (CUresult (*)(int, CUcheckpointLockArgs *))attach_enter(&call, ATTACH_cuCheckpointProcessLock, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuCheckpointProcessRestore[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUcheckpointRestoreArgs)}};
CUresult cuCheckpointProcessRestore(int a0, CUcheckpointRestoreArgs *a1)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(int, CUcheckpointRestoreArgs *) = (CUresult (*)(int, CUcheckpointRestoreArgs *))attach_enter(&call, ATTACH_cuCheckpointProcessRestore, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuCheckpointProcessUnlock[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUcheckpointUnlockArgs)}};
CUresult cuCheckpointProcessUnlock(int a0, CUcheckpointUnlockArgs *a1)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(int, CUcheckpointUnlockArgs *) = (CUresult (*)(int, CUcheckpointUnlockArgs *))attach_enter(&call, ATTACH_cuCheckpointProcessUnlock, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuCoredumpGetAttribute[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(size_t)}};
CUresult cuCoredumpGetAttribute(CUcoredumpSettings a0, void *a1, size_t *a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUcoredumpSettings, void *, size_t *) = (CUresult (*)(CUcoredumpSettings, void *, size_t *))attach_enter(&call, ATTACH_cuCoredumpGetAttribute, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuCoredumpGetAttributeGlobal[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(size_t)}};
CUresult cuCoredumpGetAttributeGlobal(CUcoredumpSettings a0, void *a1, size_t *a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUcoredumpSettings, void *, size_t *) = (CUresult (*)(CUcoredumpSettings, void *, size_t *))attach_enter(&call, ATTACH_cuCoredumpGetAttributeGlobal, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuCoredumpSetAttribute[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(size_t)}};
CUresult cuCoredumpSetAttribute(CUcoredumpSettings a0, void *a1, size_t *a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUcoredumpSettings, void *, size_t *) = (CUresult (*)(CUcoredumpSettings, void *, size_t *))attach_enter(&call, ATTACH_cuCoredumpSetAttribute, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuCoredumpSetAttributeGlobal[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(size_t)}};
CUresult cuCoredumpSetAttributeGlobal(CUcoredumpSettings a0, void *a1, size_t *a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUcoredumpSettings, void *, size_t *) = (CUresult (*)(CUcoredumpSettings, void *, size_t *))attach_enter(&call, ATTACH_cuCoredumpSetAttributeGlobal, words);
    return attach_leave(&call, real(a0, a1, a2));
}
CUresult cuCtxAttach(CUcontext *a0, unsigned int a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUcontext *, unsigned int) = (CUresult (*)(CUcontext *, unsigned int))attach_enter(&call, ATTACH_cuCtxAttach, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuCtxCreate[] = {{ATTACH_OUT, 0, sizeof(CUcontext)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
static const int8_t order_cuCtxCreate[] = {0, -1, 1, 2};
CUresult cuCtxCreate(CUcontext *a0, unsigned int a1, CUdevice a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUcontext *, unsigned int, CUdevice) = (CUresult (*)(CUcontext *, unsigned int, CUdevice))attach_enter(&call, ATTACH_cuCtxCreate, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuCtxCreate_v2[] = {{ATTACH_OUT, 0, sizeof(CUcontext)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
static const int8_t order_cuCtxCreate_v2[] = {0, -1, 1, 2};
CUresult cuCtxCreate_v2(CUcontext *a0, unsigned int a1, CUdevice a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUcontext *, unsigned int, CUdevice) = (CUresult (*)(CUcontext *, unsigned int, CUdevice))attach_enter(&call, ATTACH_cuCtxCreate_v2, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuCtxCreate_v3[] = {{ATTACH_OUT, 0, sizeof(CUcontext)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
static const int8_t order_cuCtxCreate_v3[] = {0, -1, 3, 4};
CUresult cuCtxCreate_v3(CUcontext *a0, CUexecAffinityParam *a1, int a2, unsigned int a3, CUdevice a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUcontext *, CUexecAffinityParam *, int, unsigned int, CUdevice) = (CUresult (*)(CUcontext *, CUexecAffinityParam *, int, unsigned int, CUdevice))attach_enter(&call, ATTACH_cuCtxCreate_v3, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuCtxCreate_v4[] = {{ATTACH_OUT, 0, sizeof(CUcontext)}, {ATTACH_STRUCT, 0, sizeof(CUctxCreateParams)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuCtxCreate_v4(CUcontext *a0, CUctxCreateParams *a1, unsigned int a2, CUdevice a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUcontext *, CUctxCreateParams *, unsigned int, CUdevice) = (CUresult (*)(CUcontext *, CUctxCreateParams *, unsigned int, CUdevice))attach_enter(&call, ATTACH_cuCtxCreate_v4, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuCtxDestroy[] = {{ATTACH_WORD, 0, 0}};
CUresult cuCtxDestroy(CUcontext a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUcontext) = (CUresult (*)(CUcontext))attach_enter(&call, ATTACH_cuCtxDestroy, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuCtxDestroy_v2[] = {{ATTACH_WORD, 0, 0}};
CUresult cuCtxDestroy_v2(CUcontext a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUcontext) = (CUresult (*)(CUcontext))attach_enter(&call, ATTACH_cuCtxDestroy_v2, words);
    return attach_leave(&call, real(a0));
}
CUresult cuCtxDetach(CUcontext a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUcontext) = (CUresult (*)(CUcontext))attach_enter(&call, ATTACH_cuCtxDetach, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuCtxDisablePeerAccess[] = {{ATTACH_WORD, 0, 0}};
CUresult cuCtxDisablePeerAccess(CUcontext a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUcontext) = (CUresult (*)(CUcontext))attach_enter(&call, ATTACH_cuCtxDisablePeerAccess, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuCtxEnablePeerAccess[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuCtxEnablePeerAccess(CUcontext a0, unsigned int a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUcontext, unsigned int) = (CUresult (*)(CUcontext, unsigned int))attach_enter(&call, ATTACH_cuCtxEnablePeerAccess, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuCtxFromGreenCtx[] = {{ATTACH_OUT, 0, sizeof(CUcontext)}, {ATTACH_WORD, 0, 0}};
CUresult cuCtxFromGreenCtx(CUcontext *a0, CUgreenCtx a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUcontext *, CUgreenCtx) = (CUresult (*)(CUcontext *, CUgreenCtx))attach_enter(&call, ATTACH_cuCtxFromGreenCtx, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuCtxGetApiVersion[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(unsigned int)}};
CUresult cuCtxGetApiVersion(CUcontext a0, unsigned int *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUcontext, unsigned int *) = (CUresult (*)(CUcontext, unsigned int *))attach_enter(&call, ATTACH_cuCtxGetApiVersion, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuCtxGetCacheConfig[] = {{ATTACH_OUT, 0, sizeof(CUfunc_cache)}};
CUresult cuCtxGetCacheConfig(CUfunc_cache *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUfunc_cache *) = (CUresult (*)(CUfunc_cache *))attach_enter(&call, ATTACH_cuCtxGetCacheConfig, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuCtxGetCurrent[] = {{ATTACH_OUT, 0, sizeof(CUcontext)}};
CUresult cuCtxGetCurrent(CUcontext *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUcontext *) = (CUresult (*)(CUcontext *))attach_enter(&call, ATTACH_cuCtxGetCurrent, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuCtxGetDevResource[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUdevResource)}, {ATTACH_WORD, 0, 0}};
CUresult cuCtxGetDevResource(CUcontext a0, CUdevResource *a1, CUdevResourceType a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, ((void)a2, UINT64_C(0))};
    attach_call call;
    CUresult (*const real)(CUcontext, CUdevResource *, CUdevResourceType) = (CUresult (*)(CUcontext, CUdevResource *, CUdevResourceType))attach_enter(&call, ATTACH_cuCtxGetDevResource, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuCtxGetDevice[] = {{ATTACH_OUT, 0, sizeof(CUdevice)}};
CUresult cuCtxGetDevice(CUdevice *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUdevice *) = (CUresult (*)(CUdevice *))attach_enter(&call, ATTACH_cuCtxGetDevice, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuCtxGetDevice_v2[] = {{ATTACH_OUT, 0, sizeof(CUdevice)}};
CUresult cuCtxGetDevice_v2(CUdevice *a0, CUcontext a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUdevice *, CUcontext) = (CUresult (*)(CUdevice *, CUcontext))attach_enter(&call, ATTACH_cuCtxGetDevice_v2, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuCtxGetExecAffinity[] = {{ATTACH_STRUCT, 0, sizeof(CUexecAffinityParam)}, {ATTACH_WORD, 0, 0}};
CUresult cuCtxGetExecAffinity(CUexecAffinityParam *a0, CUexecAffinityType a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUexecAffinityParam *, CUexecAffinityType) = (CUresult (*)(CUexecAffinityParam *, CUexecAffinityType))attach_enter(&call, ATTACH_cuCtxGetExecAffinity, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuCtxGetFlags[] = {{ATTACH_OUT, 0, sizeof(unsigned int)}};
CUresult cuCtxGetFlags(unsigned int *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(unsigned int *) = (CUresult (*)(unsigned int *))attach_enter(&call, ATTACH_cuCtxGetFlags, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuCtxGetId[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(unsigned long long)}};
CUresult cuCtxGetId(CUcontext a0, unsigned long long *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUcontext, unsigned long long *) = (CUresult (*)(CUcontext, unsigned long long *))attach_enter(&call, ATTACH_cuCtxGetId, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuCtxGetLimit[] = {{ATTACH_OUT, 0, sizeof(size_t)}, {ATTACH_WORD, 0, 0}};
CUresult cuCtxGetLimit(size_t *a0, CUlimit a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(size_t *, CUlimit) = (CUresult (*)(size_t *, CUlimit))attach_enter(&call, ATTACH_cuCtxGetLimit, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuCtxGetSharedMemConfig(CUsharedconfig *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUsharedconfig *) = (CUresult (*)(CUsharedconfig *))attach_enter(&call, ATTACH_cuCtxGetSharedMemConfig, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuCtxGetStreamPriorityRange[] = {{ATTACH_OUT, 0, sizeof(int)}, {ATTACH_OUT, 0, sizeof(int)}};
CUresult cuCtxGetStreamPriorityRange(int *a0, int *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(int *, int *) = (CUresult (*)(int *, int *))attach_enter(&call, ATTACH_cuCtxGetStreamPriorityRange, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuCtxPopCurrent[] = {{ATTACH_OUT, 0, sizeof(CUcontext)}};
CUresult cuCtxPopCurrent(CUcontext *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUcontext *) = (CUresult (*)(CUcontext *))attach_enter(&call, ATTACH_cuCtxPopCurrent, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuCtxPopCurrent_v2[] = {{ATTACH_OUT, 0, sizeof(CUcontext)}};
CUresult cuCtxPopCurrent_v2(CUcontext *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUcontext *) = (CUresult (*)(CUcontext *))attach_enter(&call, ATTACH_cuCtxPopCurrent_v2, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuCtxPushCurrent[] = {{ATTACH_WORD, 0, 0}};
CUresult cuCtxPushCurrent(CUcontext a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUcontext) = (CUresult (*)(CUcontext))attach_enter(&call, ATTACH_cuCtxPushCurrent, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuCtxPushCurrent_v2[] = {{ATTACH_WORD, 0, 0}};
CUresult cuCtxPushCurrent_v2(CUcontext a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUcontext) = (CUresult (*)(CUcontext))attach_enter(&call, ATTACH_cuCtxPushCurrent_v2, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuCtxRecordEvent[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuCtxRecordEvent(CUcontext a0, CUevent a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUcontext, CUevent) = (CUresult (*)(CUcontext, CUevent))attach_enter(&call, ATTACH_cuCtxRecordEvent, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuCtxResetPersistingL2Cache[] = {{ATTACH_WORD, 0, 0}};
CUresult cuCtxResetPersistingL2Cache(void)
{
    const uint64_t words[] = {0};
    attach_call call;
    CUresult (*const real)(void) = (CUresult (*)(void))attach_enter(&call, ATTACH_cuCtxResetPersistingL2Cache, words);
    return attach_leave(&call, real());
}
static const attach_argument arguments_cuCtxSetCacheConfig[] = {{ATTACH_WORD, 0, 0}};
CUresult cuCtxSetCacheConfig(CUfunc_cache a0)
{
    const uint64_t words[] = {(uint64_t)a0};
    attach_call call;
    CUresult (*const real)(CUfunc_cache) = (CUresult (*)(CUfunc_cache))attach_enter(&call, ATTACH_cuCtxSetCacheConfig, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuCtxSetCurrent[] = {{ATTACH_WORD, 0, 0}};
CUresult cuCtxSetCurrent(CUcontext a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUcontext) = (CUresult (*)(CUcontext))attach_enter(&call, ATTACH_cuCtxSetCurrent, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuCtxSetFlags[] = {{ATTACH_WORD, 0, 0}};
CUresult cuCtxSetFlags(unsigned int a0)
{
    const uint64_t words[] = {(uint64_t)a0};
    attach_call call;
    CUresult (*const real)(unsigned int) = (CUresult (*)(unsigned int))attach_enter(&call, ATTACH_cuCtxSetFlags, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuCtxSetLimit[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuCtxSetLimit(CUlimit a0, size_t a1)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUlimit, size_t) = (CUresult (*)(CUlimit, size_t))attach_enter(&call, ATTACH_cuCtxSetLimit, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuCtxSetSharedMemConfig(CUsharedconfig a0)
{
    const uint64_t words[] = {(uint64_t)a0};
    attach_call call;
    CUresult (*const real)(CUsharedconfig) = (CUresult (*)(CUsharedconfig))attach_enter(&call, ATTACH_cuCtxSetSharedMemConfig, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuCtxSynchronize[] = {{ATTACH_WORD, 0, 0}};
CUresult cuCtxSynchronize(void)
{
    const uint64_t words[] = {0};
    attach_call call;
    CUresult (*const real)(void) = (CUresult (*)(void))attach_enter(&call, ATTACH_cuCtxSynchronize, words);
    return attach_leave(&call, real());
}
static const attach_argument arguments_cuCtxSynchronize_v2[] = {{ATTACH_WORD, 0, 0}};
CUresult cuCtxSynchronize_v2(CUcontext a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUcontext) = (CUresult (*)(CUcontext))attach_enter(&call, ATTACH_cuCtxSynchronize_v2, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuCtxWaitEvent[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuCtxWaitEvent(CUcontext a0, CUevent a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUcontext, CUevent) = (CUresult (*)(CUcontext, CUevent))attach_enter(&call, ATTACH_cuCtxWaitEvent, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuDestroyExternalMemory[] = {{ATTACH_WORD, 0, 0}};
CUresult cuDestroyExternalMemory(CUexternalMemory a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUexternalMemory) = (CUresult (*)(CUexternalMemory))attach_enter(&call, ATTACH_cuDestroyExternalMemory, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuDestroyExternalSemaphore[] = {{ATTACH_WORD, 0, 0}};
CUresult cuDestroyExternalSemaphore(CUexternalSemaphore a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUexternalSemaphore) = (CUresult (*)(CUexternalSemaphore))attach_enter(&call, ATTACH_cuDestroyExternalSemaphore, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuDevResourceGenerateDesc[] = {{ATTACH_OUT, 0, sizeof(CUdevResourceDesc)}, {ATTACH_STRUCT, 0, sizeof(CUdevResource)}, {ATTACH_WORD, 0, 0}};
CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *a0, CUdevResource *a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdevResourceDesc *, CUdevResource *, unsigned int) = (CUresult (*)(CUdevResourceDesc *, CUdevResource *, unsigned int))attach_enter(&call, ATTACH_cuDevResourceGenerateDesc, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuDevSmResourceSplitByCount[] = {{ATTACH_STRUCT, 0, sizeof(CUdevResource)}, {ATTACH_OUT, 0, sizeof(unsigned int)}, {ATTACH_STRUCT, 0, sizeof(CUdevResource)}, {ATTACH_STRUCT, 0, sizeof(CUdevResource)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuDevSmResourceSplitByCount(CUdevResource *a0, unsigned int *a1, const CUdevResource *a2, CUdevResource *a3, unsigned int a4, unsigned int a5)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)a4, (uint64_t)a5};
    attach_call call;
    CUresult (*const real)(CUdevResource *, unsigned int *, const CUdevResource *, CUdevResource *, unsigned int, unsigned int) = (CUresult (*)(CUdevResource *, unsigned int *, const CUdevResource *, CUdevResource *, unsigned int, unsigned int))attach_enter(&call, ATTACH_cuDevSmResourceSplitByCount, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5));
}
static const attach_argument arguments_cuDeviceCanAccessPeer[] = {{ATTACH_OUT, 0, sizeof(int)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuDeviceCanAccessPeer(int *a0, CUdevice a1, CUdevice a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(int *, CUdevice, CUdevice) = (CUresult (*)(int *, CUdevice, CUdevice))attach_enter(&call, ATTACH_cuDeviceCanAccessPeer, words);
    return attach_leave(&call, real(a0, a1, a2));
}
CUresult cuDeviceComputeCapability(int *a0, int *a1, CUdevice a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(int *, int *, CUdevice) = (CUresult (*)(int *, int *, CUdevice))attach_enter(&call, ATTACH_cuDeviceComputeCapability, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuDeviceGet[] = {{ATTACH_OUT, 0, sizeof(CUdevice)}, {ATTACH_WORD, 0, 0}};
CUresult cuDeviceGet(CUdevice *a0, int a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUdevice *, int) = (CUresult (*)(CUdevice *, int))attach_enter(&call, ATTACH_cuDeviceGet, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuDeviceGetAttribute[] = {{ATTACH_OUT, 0, sizeof(int)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuDeviceGetAttribute(int *a0, CUdevice_attribute a1, CUdevice a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(int *, CUdevice_attribute, CUdevice) = (CUresult (*)(int *, CUdevice_attribute, CUdevice))attach_enter(&call, ATTACH_cuDeviceGetAttribute, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuDeviceGetByPCIBusId[] = {{ATTACH_OUT, 0, sizeof(CUdevice)}, {ATTACH_WORD, 0, 0}};
CUresult cuDeviceGetByPCIBusId(CUdevice *a0, const char *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUdevice *, const char *) = (CUresult (*)(CUdevice *, const char *))attach_enter(&call, ATTACH_cuDeviceGetByPCIBusId, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuDeviceGetCount[] = {{ATTACH_OUT, 0, sizeof(int)}};
CUresult cuDeviceGetCount(int *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(int *) = (CUresult (*)(int *))attach_enter(&call, ATTACH_cuDeviceGetCount, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuDeviceGetDefaultMemPool[] = {{ATTACH_OUT, 0, sizeof(CUmemoryPool)}, {ATTACH_WORD, 0, 0}};
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *a0, CUdevice a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUmemoryPool *, CUdevice) = (CUresult (*)(CUmemoryPool *, CUdevice))attach_enter(&call, ATTACH_cuDeviceGetDefaultMemPool, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuDeviceGetDevResource[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUdevResource)}, {ATTACH_WORD, 0, 0}};
CUresult cuDeviceGetDevResource(CUdevice a0, CUdevResource *a1, CUdevResourceType a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, ((void)a2, UINT64_C(0))};
    attach_call call;
    CUresult (*const real)(CUdevice, CUdevResource *, CUdevResourceType) = (CUresult (*)(CUdevice, CUdevResource *, CUdevResourceType))attach_enter(&call, ATTACH_cuDeviceGetDevResource, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuDeviceGetExecAffinitySupport[] = {{ATTACH_OUT, 0, sizeof(int)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuDeviceGetExecAffinitySupport(int *a0, CUexecAffinityType a1, CUdevice a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(int *, CUexecAffinityType, CUdevice) = (CUresult (*)(int *, CUexecAffinityType, CUdevice))attach_enter(&call, ATTACH_cuDeviceGetExecAffinitySupport, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuDeviceGetGraphMemAttribute[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_ATTRIBUTE, 1, 0}};
CUresult cuDeviceGetGraphMemAttribute(CUdevice a0, CUgraphMem_attribute a1, void *a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUdevice, CUgraphMem_attribute, void *) = (CUresult (*)(CUdevice, CUgraphMem_attribute, void *))attach_enter(&call, ATTACH_cuDeviceGetGraphMemAttribute, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuDeviceGetHostAtomicCapabilities[] = {{ATTACH_OUT, 0, sizeof(unsigned int)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuDeviceGetHostAtomicCapabilities(unsigned int *a0, const CUatomicOperation *a1, unsigned int a2, CUdevice a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(unsigned int *, const CUatomicOperation *, unsigned int, CUdevice) = (CUresult (*)(unsigned int *, const CUatomicOperation *, unsigned int, CUdevice))attach_enter(&call, ATTACH_cuDeviceGetHostAtomicCapabilities, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuDeviceGetLuid[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(unsigned int)}, {ATTACH_WORD, 0, 0}};
CUresult cuDeviceGetLuid(char *a0, unsigned int *a1, CUdevice a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(char *, unsigned int *, CUdevice) = (CUresult (*)(char *, unsigned int *, CUdevice))attach_enter(&call, ATTACH_cuDeviceGetLuid, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuDeviceGetMemPool[] = {{ATTACH_OUT, 0, sizeof(CUmemoryPool)}, {ATTACH_WORD, 0, 0}};
CUresult cuDeviceGetMemPool(CUmemoryPool *a0, CUdevice a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUmemoryPool *, CUdevice) = (CUresult (*)(CUmemoryPool *, CUdevice))attach_enter(&call, ATTACH_cuDeviceGetMemPool, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuDeviceGetName[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuDeviceGetName(char *a0, int a1, CUdevice a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(char *, int, CUdevice) = (CUresult (*)(char *, int, CUdevice))attach_enter(&call, ATTACH_cuDeviceGetName, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuDeviceGetNvSciSyncAttributes[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuDeviceGetNvSciSyncAttributes(void *a0, CUdevice a1, int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(void *, CUdevice, int) = (CUresult (*)(void *, CUdevice, int))attach_enter(&call, ATTACH_cuDeviceGetNvSciSyncAttributes, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuDeviceGetP2PAtomicCapabilities[] = {{ATTACH_OUT, 0, sizeof(unsigned int)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuDeviceGetP2PAtomicCapabilities(unsigned int *a0, const CUatomicOperation *a1, unsigned int a2, CUdevice a3, CUdevice a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(unsigned int *, const CUatomicOperation *, unsigned int, CUdevice, CUdevice) = (CUresult (*)(unsigned int *, const CUatomicOperation *, unsigned int, CUdevice, CUdevice))attach_enter(&call, ATTACH_cuDeviceGetP2PAtomicCapabilities, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuDeviceGetP2PAttribute[] = {{ATTACH_OUT, 0, sizeof(int)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuDeviceGetP2PAttribute(int *a0, CUdevice_P2PAttribute a1, CUdevice a2, CUdevice a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(int *, CUdevice_P2PAttribute, CUdevice, CUdevice) = (CUresult (*)(int *, CUdevice_P2PAttribute, CUdevice, CUdevice))attach_enter(&call, ATTACH_cuDeviceGetP2PAttribute, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuDeviceGetPCIBusId[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuDeviceGetPCIBusId(char *a0, int a1, CUdevice a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(char *, int, CUdevice) = (CUresult (*)(char *, int, CUdevice))attach_enter(&call, ATTACH_cuDeviceGetPCIBusId, words);
    return attach_leave(&call, real(a0, a1, a2));
}
CUresult cuDeviceGetProperties(CUdevprop *a0, CUdevice a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUdevprop *, CUdevice) = (CUresult (*)(CUdevprop *, CUdevice))attach_enter(&call, ATTACH_cuDeviceGetProperties, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuDeviceGetTexture1DLinearMaxWidth[] = {{ATTACH_OUT, 0, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *a0, CUarray_format a1, unsigned int a2, CUdevice a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(size_t *, CUarray_format, unsigned int, CUdevice) = (CUresult (*)(size_t *, CUarray_format, unsigned int, CUdevice))attach_enter(&call, ATTACH_cuDeviceGetTexture1DLinearMaxWidth, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuDeviceGetUuid[] = {{ATTACH_STRUCT, 0, sizeof(CUuuid)}, {ATTACH_WORD, 0, 0}};
CUresult cuDeviceGetUuid(CUuuid *a0, CUdevice a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUuuid *, CUdevice) = (CUresult (*)(CUuuid *, CUdevice))attach_enter(&call, ATTACH_cuDeviceGetUuid, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuDeviceGetUuid_v2[] = {{ATTACH_STRUCT, 0, sizeof(CUuuid)}, {ATTACH_WORD, 0, 0}};
CUresult cuDeviceGetUuid_v2(CUuuid *a0, CUdevice a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUuuid *, CUdevice) = (CUresult (*)(CUuuid *, CUdevice))attach_enter(&call, ATTACH_cuDeviceGetUuid_v2, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuDeviceGraphMemTrim[] = {{ATTACH_WORD, 0, 0}};
CUresult cuDeviceGraphMemTrim(CUdevice a0)
{
    const uint64_t words[] = {(uint64_t)a0};
    attach_call call;
    CUresult (*const real)(CUdevice) = (CUresult (*)(CUdevice))attach_enter(&call, ATTACH_cuDeviceGraphMemTrim, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuDevicePrimaryCtxGetState[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(unsigned int)}, {ATTACH_OUT, 0, sizeof(int)}};
CUresult cuDevicePrimaryCtxGetState(CUdevice a0, unsigned int *a1, int *a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUdevice, unsigned int *, int *) = (CUresult (*)(CUdevice, unsigned int *, int *))attach_enter(&call, ATTACH_cuDevicePrimaryCtxGetState, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuDevicePrimaryCtxRelease[] = {{ATTACH_WORD, 0, 0}};
CUresult cuDevicePrimaryCtxRelease(CUdevice a0)
{
    const uint64_t words[] = {(uint64_t)a0};
    attach_call call;
    CUresult (*const real)(CUdevice) = (CUresult (*)(CUdevice))attach_enter(&call, ATTACH_cuDevicePrimaryCtxRelease, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuDevicePrimaryCtxRelease_v2[] = {{ATTACH_WORD, 0, 0}};
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice a0)
{
    const uint64_t words[] = {(uint64_t)a0};
    attach_call call;
    CUresult (*const real)(CUdevice) = (CUresult (*)(CUdevice))attach_enter(&call, ATTACH_cuDevicePrimaryCtxRelease_v2, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuDevicePrimaryCtxReset[] = {{ATTACH_WORD, 0, 0}};
CUresult cuDevicePrimaryCtxReset(CUdevice a0)
{
    const uint64_t words[] = {(uint64_t)a0};
    attach_call call;
    CUresult (*const real)(CUdevice) = (CUresult (*)(CUdevice))attach_enter(&call, ATTACH_cuDevicePrimaryCtxReset, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuDevicePrimaryCtxReset_v2[] = {{ATTACH_WORD, 0, 0}};
CUresult cuDevicePrimaryCtxReset_v2(CUdevice a0)
{
    const uint64_t words[] = {(uint64_t)a0};
    attach_call call;
    CUresult (*const real)(CUdevice) = (CUresult (*)(CUdevice))attach_enter(&call, ATTACH_cuDevicePrimaryCtxReset_v2, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuDevicePrimaryCtxRetain[] = {{ATTACH_OUT, 0, sizeof(CUcontext)}, {ATTACH_WORD, 0, 0}};
CUresult cuDevicePrimaryCtxRetain(CUcontext *a0, CUdevice a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUcontext *, CUdevice) = (CUresult (*)(CUcontext *, CUdevice))attach_enter(&call, ATTACH_cuDevicePrimaryCtxRetain, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuDevicePrimaryCtxSetFlags[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuDevicePrimaryCtxSetFlags(CUdevice a0, unsigned int a1)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUdevice, unsigned int) = (CUresult (*)(CUdevice, unsigned int))attach_enter(&call, ATTACH_cuDevicePrimaryCtxSetFlags, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuDevicePrimaryCtxSetFlags_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice a0, unsigned int a1)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUdevice, unsigned int) = (CUresult (*)(CUdevice, unsigned int))attach_enter(&call, ATTACH_cuDevicePrimaryCtxSetFlags_v2, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuDeviceRegisterAsyncNotification[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUasyncCallbackHandle)}};
CUresult cuDeviceRegisterAsyncNotification(CUdevice a0, CUasyncCallback a1, void *a2, CUasyncCallbackHandle *a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUdevice, CUasyncCallback, void *, CUasyncCallbackHandle *) = (CUresult (*)(CUdevice, CUasyncCallback, void *, CUasyncCallbackHandle *))attach_enter(&call, ATTACH_cuDeviceRegisterAsyncNotification, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuDeviceSetGraphMemAttribute[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_ATTRIBUTE, 1, 0}};
CUresult cuDeviceSetGraphMemAttribute(CUdevice a0, CUgraphMem_attribute a1, void *a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUdevice, CUgraphMem_attribute, void *) = (CUresult (*)(CUdevice, CUgraphMem_attribute, void *))attach_enter(&call, ATTACH_cuDeviceSetGraphMemAttribute, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuDeviceSetMemPool[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuDeviceSetMemPool(CUdevice a0, CUmemoryPool a1)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUdevice, CUmemoryPool) = (CUresult (*)(CUdevice, CUmemoryPool))attach_enter(&call, ATTACH_cuDeviceSetMemPool, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuDeviceTotalMem[] = {{ATTACH_OUT, 0, sizeof(unsigned int)}, {ATTACH_WORD, 0, 0}};
CUresult cuDeviceTotalMem(unsigned int *a0, CUdevice a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(unsigned int *, CUdevice) = (CUresult (*)(unsigned int *, CUdevice))attach_enter(&call, ATTACH_cuDeviceTotalMem, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuDeviceTotalMem_v2[] = {{ATTACH_OUT, 0, sizeof(size_t)}, {ATTACH_WORD, 0, 0}};
CUresult cuDeviceTotalMem_v2(size_t *a0, CUdevice a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(size_t *, CUdevice) = (CUresult (*)(size_t *, CUdevice))attach_enter(&call, ATTACH_cuDeviceTotalMem_v2, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuDeviceUnregisterAsyncNotification[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuDeviceUnregisterAsyncNotification(CUdevice a0, CUasyncCallbackHandle a1)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUdevice, CUasyncCallbackHandle) = (CUresult (*)(CUdevice, CUasyncCallbackHandle))attach_enter(&call, ATTACH_cuDeviceUnregisterAsyncNotification, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuDriverGetVersion[] = {{ATTACH_OUT, 0, sizeof(int)}};
CUresult cuDriverGetVersion(int *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(int *) = (CUresult (*)(int *))attach_enter(&call, ATTACH_cuDriverGetVersion, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuEventCreate[] = {{ATTACH_OUT, 0, sizeof(CUevent)}, {ATTACH_WORD, 0, 0}};
CUresult cuEventCreate(CUevent *a0, unsigned int a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUevent *, unsigned int) = (CUresult (*)(CUevent *, unsigned int))attach_enter(&call, ATTACH_cuEventCreate, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuEventDestroy[] = {{ATTACH_WORD, 0, 0}};
CUresult cuEventDestroy(CUevent a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUevent) = (CUresult (*)(CUevent))attach_enter(&call, ATTACH_cuEventDestroy, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuEventDestroy_v2[] = {{ATTACH_WORD, 0, 0}};
CUresult cuEventDestroy_v2(CUevent a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUevent) = (CUresult (*)(CUevent))attach_enter(&call, ATTACH_cuEventDestroy_v2, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuEventElapsedTime[] = {{ATTACH_OUT, 0, sizeof(float)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuEventElapsedTime(float *a0, CUevent a1, CUevent a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(float *, CUevent, CUevent) = (CUresult (*)(float *, CUevent, CUevent))attach_enter(&call, ATTACH_cuEventElapsedTime, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuEventElapsedTime_v2[] = {{ATTACH_OUT, 0, sizeof(float)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuEventElapsedTime_v2(float *a0, CUevent a1, CUevent a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(float *, CUevent, CUevent) = (CUresult (*)(float *, CUevent, CUevent))attach_enter(&call, ATTACH_cuEventElapsedTime_v2, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuEventQuery[] = {{ATTACH_WORD, 0, 0}};
CUresult cuEventQuery(CUevent a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUevent) = (CUresult (*)(CUevent))attach_enter(&call, ATTACH_cuEventQuery, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuEventRecord[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuEventRecord(CUevent a0, CUstream a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUevent, CUstream) = (CUresult (*)(CUevent, CUstream))attach_enter(&call, ATTACH_cuEventRecord, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuEventRecordWithFlags[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuEventRecordWithFlags(CUevent a0, CUstream a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUevent, CUstream, unsigned int) = (CUresult (*)(CUevent, CUstream, unsigned int))attach_enter(&call, ATTACH_cuEventRecordWithFlags, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuEventRecordWithFlags_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuEventRecordWithFlags_ptsz(CUevent a0, CUstream a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUevent, CUstream, unsigned int) = (CUresult (*)(CUevent, CUstream, unsigned int))attach_enter(&call, ATTACH_cuEventRecordWithFlags_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuEventRecord_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuEventRecord_ptsz(CUevent a0, CUstream a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUevent, CUstream) = (CUresult (*)(CUevent, CUstream))attach_enter(&call, ATTACH_cuEventRecord_ptsz, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuEventSynchronize[] = {{ATTACH_WORD, 0, 0}};
CUresult cuEventSynchronize(CUevent a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUevent) = (CUresult (*)(CUevent))attach_enter(&call, ATTACH_cuEventSynchronize, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuExternalMemoryGetMappedBuffer[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr)}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_EXTERNAL_MEMORY_BUFFER_DESC)}};
CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr *a0, CUexternalMemory a1, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, CUexternalMemory, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *) = (CUresult (*)(CUdeviceptr *, CUexternalMemory, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *))attach_enter(&call, ATTACH_cuExternalMemoryGetMappedBuffer, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuExternalMemoryGetMappedMipmappedArray[] = {{ATTACH_OUT, 0, sizeof(CUmipmappedArray)}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC)}};
CUresult cuExternalMemoryGetMappedMipmappedArray(CUmipmappedArray *a0, CUexternalMemory a1, const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUmipmappedArray *, CUexternalMemory, const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *) = (CUresult (*)(CUmipmappedArray *, CUexternalMemory, const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *))attach_enter(&call, ATTACH_cuExternalMemoryGetMappedMipmappedArray, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuFlushGPUDirectRDMAWrites[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget a0, CUflushGPUDirectRDMAWritesScope a1)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUflushGPUDirectRDMAWritesTarget, CUflushGPUDirectRDMAWritesScope) = (CUresult (*)(CUflushGPUDirectRDMAWritesTarget, CUflushGPUDirectRDMAWritesScope))attach_enter(&call, ATTACH_cuFlushGPUDirectRDMAWrites, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuFuncGetAttribute[] = {{ATTACH_OUT, 0, sizeof(int)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuFuncGetAttribute(int *a0, CUfunction_attribute a1, CUfunction a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(int *, CUfunction_attribute, CUfunction) = (CUresult (*)(int *, CUfunction_attribute, CUfunction))attach_enter(&call, ATTACH_cuFuncGetAttribute, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuFuncGetModule[] = {{ATTACH_OUT, 0, sizeof(CUmodule)}, {ATTACH_WORD, 0, 0}};
CUresult cuFuncGetModule(CUmodule *a0, CUfunction a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUmodule *, CUfunction) = (CUresult (*)(CUmodule *, CUfunction))attach_enter(&call, ATTACH_cuFuncGetModule, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuFuncGetName[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuFuncGetName(const char **a0, CUfunction a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(const char **, CUfunction) = (CUresult (*)(const char **, CUfunction))attach_enter(&call, ATTACH_cuFuncGetName, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuFuncGetParamInfo[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(size_t)}, {ATTACH_OUT, 0, sizeof(size_t)}};
CUresult cuFuncGetParamInfo(CUfunction a0, size_t a1, size_t *a2, size_t *a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUfunction, size_t, size_t *, size_t *) = (CUresult (*)(CUfunction, size_t, size_t *, size_t *))attach_enter(&call, ATTACH_cuFuncGetParamInfo, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuFuncIsLoaded[] = {{ATTACH_OUT, 0, sizeof(CUfunctionLoadingState)}, {ATTACH_WORD, 0, 0}};
CUresult cuFuncIsLoaded(CUfunctionLoadingState *a0, CUfunction a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUfunctionLoadingState *, CUfunction) = (CUresult (*)(CUfunctionLoadingState *, CUfunction))attach_enter(&call, ATTACH_cuFuncIsLoaded, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuFuncLoad[] = {{ATTACH_WORD, 0, 0}};
CUresult cuFuncLoad(CUfunction a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUfunction) = (CUresult (*)(CUfunction))attach_enter(&call, ATTACH_cuFuncLoad, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuFuncSetAttribute[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuFuncSetAttribute(CUfunction a0, CUfunction_attribute a1, int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUfunction, CUfunction_attribute, int) = (CUresult (*)(CUfunction, CUfunction_attribute, int))attach_enter(&call, ATTACH_cuFuncSetAttribute, words);
    return attach_leave(&call, real(a0, a1, a2));
}
CUresult cuFuncSetBlockShape(CUfunction a0, int a1, int a2, int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUfunction, int, int, int) = (CUresult (*)(CUfunction, int, int, int))attach_enter(&call, ATTACH_cuFuncSetBlockShape, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuFuncSetCacheConfig[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuFuncSetCacheConfig(CUfunction a0, CUfunc_cache a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUfunction, CUfunc_cache) = (CUresult (*)(CUfunction, CUfunc_cache))attach_enter(&call, ATTACH_cuFuncSetCacheConfig, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuFuncSetSharedMemConfig(CUfunction a0, CUsharedconfig a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUfunction, CUsharedconfig) = (CUresult (*)(CUfunction, CUsharedconfig))attach_enter(&call, ATTACH_cuFuncSetSharedMemConfig, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuFuncSetSharedSize(CUfunction a0, unsigned int a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUfunction, unsigned int) = (CUresult (*)(CUfunction, unsigned int))attach_enter(&call, ATTACH_cuFuncSetSharedSize, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGetErrorName[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGetErrorName(CUresult a0, const char **a1)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUresult, const char **) = (CUresult (*)(CUresult, const char **))attach_enter(&call, ATTACH_cuGetErrorName, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGetErrorString[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGetErrorString(CUresult a0, const char **a1)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUresult, const char **) = (CUresult (*)(CUresult, const char **))attach_enter(&call, ATTACH_cuGetErrorString, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGetExportTable[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUuuid)}};
CUresult cuGetExportTable(const void **a0, const CUuuid *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(const void **, const CUuuid *) = (CUresult (*)(const void **, const CUuuid *))attach_enter(&call, ATTACH_cuGetExportTable, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGetProcAddress[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGetProcAddress(const char *a0, void **a1, int a2, cuuint64_t a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(const char *, void **, int, cuuint64_t) = (CUresult (*)(const char *, void **, int, cuuint64_t))attach_enter(&call, ATTACH_cuGetProcAddress, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuGetProcAddress_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUdriverProcAddressQueryResult)}};
CUresult cuGetProcAddress_v2(const char *a0, void **a1, int a2, cuuint64_t a3, CUdriverProcAddressQueryResult *a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *) = (CUresult (*)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *))attach_enter(&call, ATTACH_cuGetProcAddress_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuGraphAddBatchMemOpNode[] = {{ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 3, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_BATCH_MEM_OP_NODE_PARAMS)}};
CUresult cuGraphAddBatchMemOpNode(CUgraphNode *a0, CUgraph a1, const CUgraphNode *a2, size_t a3, const CUDA_BATCH_MEM_OP_NODE_PARAMS *a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_BATCH_MEM_OP_NODE_PARAMS *) = (CUresult (*)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_BATCH_MEM_OP_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphAddBatchMemOpNode, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuGraphAddChildGraphNode[] = {{ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 3, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphAddChildGraphNode(CUgraphNode *a0, CUgraph a1, const CUgraphNode *a2, size_t a3, CUgraph a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUgraph) = (CUresult (*)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUgraph))attach_enter(&call, ATTACH_cuGraphAddChildGraphNode, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuGraphAddDependencies[] = {{ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 4, sizeof(CUgraphNode)}, {ATTACH_ARRAY, 4, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
static const int8_t order_cuGraphAddDependencies[] = {0, 1, 2, -1, 3};
CUresult cuGraphAddDependencies(CUgraph a0, const CUgraphNode *a1, const CUgraphNode *a2, size_t a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUgraph, const CUgraphNode *, const CUgraphNode *, size_t) = (CUresult (*)(CUgraph, const CUgraphNode *, const CUgraphNode *, size_t))attach_enter(&call, ATTACH_cuGraphAddDependencies, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuGraphAddDependencies_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 4, sizeof(CUgraphNode)}, {ATTACH_ARRAY, 4, sizeof(CUgraphNode)}, {ATTACH_ARRAY, 4, sizeof(CUgraphEdgeData)}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphAddDependencies_v2(CUgraph a0, const CUgraphNode *a1, const CUgraphNode *a2, const CUgraphEdgeData *a3, size_t a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUgraph, const CUgraphNode *, const CUgraphNode *, const CUgraphEdgeData *, size_t) = (CUresult (*)(CUgraph, const CUgraphNode *, const CUgraphNode *, const CUgraphEdgeData *, size_t))attach_enter(&call, ATTACH_cuGraphAddDependencies_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuGraphAddEmptyNode[] = {{ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 3, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphAddEmptyNode(CUgraphNode *a0, CUgraph a1, const CUgraphNode *a2, size_t a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t) = (CUresult (*)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t))attach_enter(&call, ATTACH_cuGraphAddEmptyNode, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuGraphAddEventRecordNode[] = {{ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 3, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphAddEventRecordNode(CUgraphNode *a0, CUgraph a1, const CUgraphNode *a2, size_t a3, CUevent a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUevent) = (CUresult (*)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUevent))attach_enter(&call, ATTACH_cuGraphAddEventRecordNode, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuGraphAddEventWaitNode[] = {{ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 3, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphAddEventWaitNode(CUgraphNode *a0, CUgraph a1, const CUgraphNode *a2, size_t a3, CUevent a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUevent) = (CUresult (*)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUevent))attach_enter(&call, ATTACH_cuGraphAddEventWaitNode, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuGraphAddExternalSemaphoresSignalNode[] = {{ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 3, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_EXT_SEM_SIGNAL_NODE_PARAMS)}};
CUresult cuGraphAddExternalSemaphoresSignalNode(CUgraphNode *a0, CUgraph a1, const CUgraphNode *a2, size_t a3, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *) = (CUresult (*)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphAddExternalSemaphoresSignalNode, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuGraphAddExternalSemaphoresWaitNode[] = {{ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 3, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_EXT_SEM_WAIT_NODE_PARAMS)}};
CUresult cuGraphAddExternalSemaphoresWaitNode(CUgraphNode *a0, CUgraph a1, const CUgraphNode *a2, size_t a3, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *) = (CUresult (*)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphAddExternalSemaphoresWaitNode, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuGraphAddHostNode[] = {{ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 3, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_HOST_NODE_PARAMS)}};
CUresult cuGraphAddHostNode(CUgraphNode *a0, CUgraph a1, const CUgraphNode *a2, size_t a3, const CUDA_HOST_NODE_PARAMS *a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_HOST_NODE_PARAMS *) = (CUresult (*)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_HOST_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphAddHostNode, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuGraphAddKernelNode[] = {{ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 3, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT_V1, 0, sizeof(CUDA_KERNEL_NODE_PARAMS_v1)}};
CUresult cuGraphAddKernelNode(CUgraphNode *a0, CUgraph a1, const CUgraphNode *a2, size_t a3, const CUDA_KERNEL_NODE_PARAMS_v1 *a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS_v1 *) = (CUresult (*)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS_v1 *))attach_enter(&call, ATTACH_cuGraphAddKernelNode, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuGraphAddKernelNode_v2[] = {{ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 3, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_KERNEL_NODE_PARAMS)}};
CUresult cuGraphAddKernelNode_v2(CUgraphNode *a0, CUgraph a1, const CUgraphNode *a2, size_t a3, const CUDA_KERNEL_NODE_PARAMS *a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS *) = (CUresult (*)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphAddKernelNode_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuGraphAddMemAllocNode[] = {{ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 3, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_MEM_ALLOC_NODE_PARAMS)}};
CUresult cuGraphAddMemAllocNode(CUgraphNode *a0, CUgraph a1, const CUgraphNode *a2, size_t a3, CUDA_MEM_ALLOC_NODE_PARAMS *a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUDA_MEM_ALLOC_NODE_PARAMS *) = (CUresult (*)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUDA_MEM_ALLOC_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphAddMemAllocNode, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuGraphAddMemFreeNode[] = {{ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 3, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphAddMemFreeNode(CUgraphNode *a0, CUgraph a1, const CUgraphNode *a2, size_t a3, CUdeviceptr a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUdeviceptr) = (CUresult (*)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUdeviceptr))attach_enter(&call, ATTACH_cuGraphAddMemFreeNode, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuGraphAddMemcpyNode[] = {{ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 3, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_MEMCPY3D)}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphAddMemcpyNode(CUgraphNode *a0, CUgraph a1, const CUgraphNode *a2, size_t a3, const CUDA_MEMCPY3D *a4, CUcontext a5)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4, (uint64_t)(uintptr_t)a5};
    attach_call call;
    CUresult (*const real)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMCPY3D *, CUcontext) = (CUresult (*)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMCPY3D *, CUcontext))attach_enter(&call, ATTACH_cuGraphAddMemcpyNode, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5));
}
static const attach_argument arguments_cuGraphAddMemsetNode[] = {{ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 3, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_MEMSET_NODE_PARAMS)}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphAddMemsetNode(CUgraphNode *a0, CUgraph a1, const CUgraphNode *a2, size_t a3, const CUDA_MEMSET_NODE_PARAMS *a4, CUcontext a5)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4, (uint64_t)(uintptr_t)a5};
    attach_call call;
    CUresult (*const real)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMSET_NODE_PARAMS *, CUcontext) = (CUresult (*)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMSET_NODE_PARAMS *, CUcontext))attach_enter(&call, ATTACH_cuGraphAddMemsetNode, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5));
}
static const attach_argument arguments_cuGraphAddNode[] = {{ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 4, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUgraphNodeParams)}};
static const int8_t order_cuGraphAddNode[] = {0, 1, 2, -1, 3, 4};
CUresult cuGraphAddNode(CUgraphNode *a0, CUgraph a1, const CUgraphNode *a2, size_t a3, CUgraphNodeParams *a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUgraphNodeParams *) = (CUresult (*)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUgraphNodeParams *))attach_enter(&call, ATTACH_cuGraphAddNode, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuGraphAddNode_v2[] = {{ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 4, sizeof(CUgraphNode)}, {ATTACH_ARRAY, 4, sizeof(CUgraphEdgeData)}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUgraphNodeParams)}};
CUresult cuGraphAddNode_v2(CUgraphNode *a0, CUgraph a1, const CUgraphNode *a2, const CUgraphEdgeData *a3, size_t a4, CUgraphNodeParams *a5)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)a4, (uint64_t)(uintptr_t)a5};
    attach_call call;
    CUresult (*const real)(CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUgraphNodeParams *) = (CUresult (*)(CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUgraphNodeParams *))attach_enter(&call, ATTACH_cuGraphAddNode_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5));
}
static const attach_argument arguments_cuGraphBatchMemOpNodeGetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_BATCH_MEM_OP_NODE_PARAMS)}};
CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode a0, CUDA_BATCH_MEM_OP_NODE_PARAMS *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUDA_BATCH_MEM_OP_NODE_PARAMS *) = (CUresult (*)(CUgraphNode, CUDA_BATCH_MEM_OP_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphBatchMemOpNodeGetParams, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphBatchMemOpNodeSetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_BATCH_MEM_OP_NODE_PARAMS)}};
CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode a0, const CUDA_BATCH_MEM_OP_NODE_PARAMS *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS *) = (CUresult (*)(CUgraphNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphBatchMemOpNodeSetParams, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphChildGraphNodeGetGraph[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUgraph)}};
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode a0, CUgraph *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUgraph *) = (CUresult (*)(CUgraphNode, CUgraph *))attach_enter(&call, ATTACH_cuGraphChildGraphNodeGetGraph, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphClone[] = {{ATTACH_OUT, 0, sizeof(CUgraph)}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphClone(CUgraph *a0, CUgraph a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraph *, CUgraph) = (CUresult (*)(CUgraph *, CUgraph))attach_enter(&call, ATTACH_cuGraphClone, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphConditionalHandleCreate[] = {{ATTACH_OUT, 0, sizeof(CUgraphConditionalHandle)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *a0, CUgraph a1, CUcontext a2, unsigned int a3, unsigned int a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUgraphConditionalHandle *, CUgraph, CUcontext, unsigned int, unsigned int) = (CUresult (*)(CUgraphConditionalHandle *, CUgraph, CUcontext, unsigned int, unsigned int))attach_enter(&call, ATTACH_cuGraphConditionalHandleCreate, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuGraphCreate[] = {{ATTACH_OUT, 0, sizeof(CUgraph)}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphCreate(CUgraph *a0, unsigned int a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraph *, unsigned int) = (CUresult (*)(CUgraph *, unsigned int))attach_enter(&call, ATTACH_cuGraphCreate, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphDebugDotPrint[] = {{ATTACH_WORD, 0, 0}, {ATTACH_TEXT, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphDebugDotPrint(CUgraph a0, const char *a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraph, const char *, unsigned int) = (CUresult (*)(CUgraph, const char *, unsigned int))attach_enter(&call, ATTACH_cuGraphDebugDotPrint, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphDestroy[] = {{ATTACH_WORD, 0, 0}};
CUresult cuGraphDestroy(CUgraph a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUgraph) = (CUresult (*)(CUgraph))attach_enter(&call, ATTACH_cuGraphDestroy, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuGraphDestroyNode[] = {{ATTACH_WORD, 0, 0}};
CUresult cuGraphDestroyNode(CUgraphNode a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUgraphNode) = (CUresult (*)(CUgraphNode))attach_enter(&call, ATTACH_cuGraphDestroyNode, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuGraphEventRecordNodeGetEvent[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUevent)}};
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode a0, CUevent *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUevent *) = (CUresult (*)(CUgraphNode, CUevent *))attach_enter(&call, ATTACH_cuGraphEventRecordNodeGetEvent, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphEventRecordNodeSetEvent[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode a0, CUevent a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUevent) = (CUresult (*)(CUgraphNode, CUevent))attach_enter(&call, ATTACH_cuGraphEventRecordNodeSetEvent, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphEventWaitNodeGetEvent[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUevent)}};
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode a0, CUevent *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUevent *) = (CUresult (*)(CUgraphNode, CUevent *))attach_enter(&call, ATTACH_cuGraphEventWaitNodeGetEvent, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphEventWaitNodeSetEvent[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode a0, CUevent a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUevent) = (CUresult (*)(CUgraphNode, CUevent))attach_enter(&call, ATTACH_cuGraphEventWaitNodeSetEvent, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphExecBatchMemOpNodeSetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_BATCH_MEM_OP_NODE_PARAMS)}};
CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec a0, CUgraphNode a1, const CUDA_BATCH_MEM_OP_NODE_PARAMS *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraphExec, CUgraphNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS *) = (CUresult (*)(CUgraphExec, CUgraphNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphExecBatchMemOpNodeSetParams, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphExecChildGraphNodeSetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec a0, CUgraphNode a1, CUgraph a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraphExec, CUgraphNode, CUgraph) = (CUresult (*)(CUgraphExec, CUgraphNode, CUgraph))attach_enter(&call, ATTACH_cuGraphExecChildGraphNodeSetParams, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphExecDestroy[] = {{ATTACH_WORD, 0, 0}};
CUresult cuGraphExecDestroy(CUgraphExec a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUgraphExec) = (CUresult (*)(CUgraphExec))attach_enter(&call, ATTACH_cuGraphExecDestroy, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuGraphExecEventRecordNodeSetEvent[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec a0, CUgraphNode a1, CUevent a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraphExec, CUgraphNode, CUevent) = (CUresult (*)(CUgraphExec, CUgraphNode, CUevent))attach_enter(&call, ATTACH_cuGraphExecEventRecordNodeSetEvent, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphExecEventWaitNodeSetEvent[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec a0, CUgraphNode a1, CUevent a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraphExec, CUgraphNode, CUevent) = (CUresult (*)(CUgraphExec, CUgraphNode, CUevent))attach_enter(&call, ATTACH_cuGraphExecEventWaitNodeSetEvent, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphExecExternalSemaphoresSignalNodeSetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_EXT_SEM_SIGNAL_NODE_PARAMS)}};
CUresult cuGraphExecExternalSemaphoresSignalNodeSetParams(CUgraphExec a0, CUgraphNode a1, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraphExec, CUgraphNode, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *) = (CUresult (*)(CUgraphExec, CUgraphNode, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphExecExternalSemaphoresSignalNodeSetParams, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphExecExternalSemaphoresWaitNodeSetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_EXT_SEM_WAIT_NODE_PARAMS)}};
CUresult cuGraphExecExternalSemaphoresWaitNodeSetParams(CUgraphExec a0, CUgraphNode a1, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraphExec, CUgraphNode, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *) = (CUresult (*)(CUgraphExec, CUgraphNode, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphExecExternalSemaphoresWaitNodeSetParams, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphExecGetFlags[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(cuuint64_t)}};
CUresult cuGraphExecGetFlags(CUgraphExec a0, cuuint64_t *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphExec, cuuint64_t *) = (CUresult (*)(CUgraphExec, cuuint64_t *))attach_enter(&call, ATTACH_cuGraphExecGetFlags, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphExecHostNodeSetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_HOST_NODE_PARAMS)}};
CUresult cuGraphExecHostNodeSetParams(CUgraphExec a0, CUgraphNode a1, const CUDA_HOST_NODE_PARAMS *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraphExec, CUgraphNode, const CUDA_HOST_NODE_PARAMS *) = (CUresult (*)(CUgraphExec, CUgraphNode, const CUDA_HOST_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphExecHostNodeSetParams, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphExecKernelNodeSetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT_V1, 0, sizeof(CUDA_KERNEL_NODE_PARAMS_v1)}};
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec a0, CUgraphNode a1, const CUDA_KERNEL_NODE_PARAMS_v1 *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1 *) = (CUresult (*)(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1 *))attach_enter(&call, ATTACH_cuGraphExecKernelNodeSetParams, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphExecKernelNodeSetParams_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_KERNEL_NODE_PARAMS)}};
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec a0, CUgraphNode a1, const CUDA_KERNEL_NODE_PARAMS *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *) = (CUresult (*)(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphExecKernelNodeSetParams_v2, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphExecMemcpyNodeSetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_MEMCPY3D)}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec a0, CUgraphNode a1, const CUDA_MEMCPY3D *a2, CUcontext a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUgraphExec, CUgraphNode, const CUDA_MEMCPY3D *, CUcontext) = (CUresult (*)(CUgraphExec, CUgraphNode, const CUDA_MEMCPY3D *, CUcontext))attach_enter(&call, ATTACH_cuGraphExecMemcpyNodeSetParams, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuGraphExecMemsetNodeSetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_MEMSET_NODE_PARAMS)}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec a0, CUgraphNode a1, const CUDA_MEMSET_NODE_PARAMS *a2, CUcontext a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUgraphExec, CUgraphNode, const CUDA_MEMSET_NODE_PARAMS *, CUcontext) = (CUresult (*)(CUgraphExec, CUgraphNode, const CUDA_MEMSET_NODE_PARAMS *, CUcontext))attach_enter(&call, ATTACH_cuGraphExecMemsetNodeSetParams, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuGraphExecNodeSetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUgraphNodeParams)}};
CUresult cuGraphExecNodeSetParams(CUgraphExec a0, CUgraphNode a1, CUgraphNodeParams *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraphExec, CUgraphNode, CUgraphNodeParams *) = (CUresult (*)(CUgraphExec, CUgraphNode, CUgraphNodeParams *))attach_enter(&call, ATTACH_cuGraphExecNodeSetParams, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphExecUpdate[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
static const int8_t order_cuGraphExecUpdate[] = {0, 1, -1};
CUresult cuGraphExecUpdate(CUgraphExec a0, CUgraph a1, CUgraphNode *a2, CUgraphExecUpdateResult *a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUgraphExec, CUgraph, CUgraphNode *, CUgraphExecUpdateResult *) = (CUresult (*)(CUgraphExec, CUgraph, CUgraphNode *, CUgraphExecUpdateResult *))attach_enter(&call, ATTACH_cuGraphExecUpdate, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuGraphExecUpdate_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUgraphExecUpdateResultInfo)}};
CUresult cuGraphExecUpdate_v2(CUgraphExec a0, CUgraph a1, CUgraphExecUpdateResultInfo *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo *) = (CUresult (*)(CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo *))attach_enter(&call, ATTACH_cuGraphExecUpdate_v2, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphExternalSemaphoresSignalNodeGetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_EXT_SEM_SIGNAL_NODE_PARAMS)}};
CUresult cuGraphExternalSemaphoresSignalNodeGetParams(CUgraphNode a0, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *) = (CUresult (*)(CUgraphNode, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphExternalSemaphoresSignalNodeGetParams, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphExternalSemaphoresSignalNodeSetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_EXT_SEM_SIGNAL_NODE_PARAMS)}};
CUresult cuGraphExternalSemaphoresSignalNodeSetParams(CUgraphNode a0, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *) = (CUresult (*)(CUgraphNode, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphExternalSemaphoresSignalNodeSetParams, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphExternalSemaphoresWaitNodeGetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_EXT_SEM_WAIT_NODE_PARAMS)}};
CUresult cuGraphExternalSemaphoresWaitNodeGetParams(CUgraphNode a0, CUDA_EXT_SEM_WAIT_NODE_PARAMS *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUDA_EXT_SEM_WAIT_NODE_PARAMS *) = (CUresult (*)(CUgraphNode, CUDA_EXT_SEM_WAIT_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphExternalSemaphoresWaitNodeGetParams, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphExternalSemaphoresWaitNodeSetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_EXT_SEM_WAIT_NODE_PARAMS)}};
CUresult cuGraphExternalSemaphoresWaitNodeSetParams(CUgraphNode a0, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *) = (CUresult (*)(CUgraphNode, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphExternalSemaphoresWaitNodeSetParams, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphGetEdges[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(size_t)}};
static const int8_t order_cuGraphGetEdges[] = {0, 1, 2, -1, 3};
CUresult cuGraphGetEdges(CUgraph a0, CUgraphNode *a1, CUgraphNode *a2, size_t *a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUgraph, CUgraphNode *, CUgraphNode *, size_t *) = (CUresult (*)(CUgraph, CUgraphNode *, CUgraphNode *, size_t *))attach_enter(&call, ATTACH_cuGraphGetEdges, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuGraphGetEdges_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_STRUCT, 0, sizeof(CUgraphEdgeData)}, {ATTACH_OUT, 0, sizeof(size_t)}};
CUresult cuGraphGetEdges_v2(CUgraph a0, CUgraphNode *a1, CUgraphNode *a2, CUgraphEdgeData *a3, size_t *a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(CUgraph, CUgraphNode *, CUgraphNode *, CUgraphEdgeData *, size_t *) = (CUresult (*)(CUgraph, CUgraphNode *, CUgraphNode *, CUgraphEdgeData *, size_t *))attach_enter(&call, ATTACH_cuGraphGetEdges_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuGraphGetNodes[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_OUT, 0, sizeof(size_t)}};
CUresult cuGraphGetNodes(CUgraph a0, CUgraphNode *a1, size_t *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraph, CUgraphNode *, size_t *) = (CUresult (*)(CUgraph, CUgraphNode *, size_t *))attach_enter(&call, ATTACH_cuGraphGetNodes, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphGetRootNodes[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_OUT, 0, sizeof(size_t)}};
CUresult cuGraphGetRootNodes(CUgraph a0, CUgraphNode *a1, size_t *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraph, CUgraphNode *, size_t *) = (CUresult (*)(CUgraph, CUgraphNode *, size_t *))attach_enter(&call, ATTACH_cuGraphGetRootNodes, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphHostNodeGetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_HOST_NODE_PARAMS)}};
CUresult cuGraphHostNodeGetParams(CUgraphNode a0, CUDA_HOST_NODE_PARAMS *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUDA_HOST_NODE_PARAMS *) = (CUresult (*)(CUgraphNode, CUDA_HOST_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphHostNodeGetParams, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphHostNodeSetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_HOST_NODE_PARAMS)}};
CUresult cuGraphHostNodeSetParams(CUgraphNode a0, const CUDA_HOST_NODE_PARAMS *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, const CUDA_HOST_NODE_PARAMS *) = (CUresult (*)(CUgraphNode, const CUDA_HOST_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphHostNodeSetParams, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphInstantiate[] = {{ATTACH_OUT, 0, sizeof(CUgraphExec)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
static const int8_t order_cuGraphInstantiate[] = {0, 1, -1};
CUresult cuGraphInstantiate(CUgraphExec *a0, CUgraph a1, CUgraphNode *a2, char *a3, size_t a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t) = (CUresult (*)(CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t))attach_enter(&call, ATTACH_cuGraphInstantiate, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuGraphInstantiateWithFlags[] = {{ATTACH_OUT, 0, sizeof(CUgraphExec)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphInstantiateWithFlags(CUgraphExec *a0, CUgraph a1, unsigned long long a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraphExec *, CUgraph, unsigned long long) = (CUresult (*)(CUgraphExec *, CUgraph, unsigned long long))attach_enter(&call, ATTACH_cuGraphInstantiateWithFlags, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphInstantiateWithParams[] = {{ATTACH_OUT, 0, sizeof(CUgraphExec)}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS)}};
CUresult cuGraphInstantiateWithParams(CUgraphExec *a0, CUgraph a1, CUDA_GRAPH_INSTANTIATE_PARAMS *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraphExec *, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS *) = (CUresult (*)(CUgraphExec *, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS *))attach_enter(&call, ATTACH_cuGraphInstantiateWithParams, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphInstantiateWithParams_ptsz[] = {{ATTACH_OUT, 0, sizeof(CUgraphExec)}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS)}};
CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *a0, CUgraph a1, CUDA_GRAPH_INSTANTIATE_PARAMS *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraphExec *, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS *) = (CUresult (*)(CUgraphExec *, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS *))attach_enter(&call, ATTACH_cuGraphInstantiateWithParams_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphInstantiate_v2[] = {{ATTACH_OUT, 0, sizeof(CUgraphExec)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
static const int8_t order_cuGraphInstantiate_v2[] = {0, 1, -1};
CUresult cuGraphInstantiate_v2(CUgraphExec *a0, CUgraph a1, CUgraphNode *a2, char *a3, size_t a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t) = (CUresult (*)(CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t))attach_enter(&call, ATTACH_cuGraphInstantiate_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuGraphKernelNodeCopyAttributes[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode a0, CUgraphNode a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUgraphNode) = (CUresult (*)(CUgraphNode, CUgraphNode))attach_enter(&call, ATTACH_cuGraphKernelNodeCopyAttributes, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphKernelNodeGetAttribute[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUkernelNodeAttrValue)}};
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode a0, CUkernelNodeAttrID a1, CUkernelNodeAttrValue *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUkernelNodeAttrID, CUkernelNodeAttrValue *) = (CUresult (*)(CUgraphNode, CUkernelNodeAttrID, CUkernelNodeAttrValue *))attach_enter(&call, ATTACH_cuGraphKernelNodeGetAttribute, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphKernelNodeGetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT_V1, 0, sizeof(CUDA_KERNEL_NODE_PARAMS_v1)}};
CUresult cuGraphKernelNodeGetParams(CUgraphNode a0, CUDA_KERNEL_NODE_PARAMS_v1 *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v1 *) = (CUresult (*)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v1 *))attach_enter(&call, ATTACH_cuGraphKernelNodeGetParams, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphKernelNodeGetParams_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_KERNEL_NODE_PARAMS)}};
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode a0, CUDA_KERNEL_NODE_PARAMS *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS *) = (CUresult (*)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphKernelNodeGetParams_v2, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphKernelNodeSetAttribute[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUkernelNodeAttrValue)}};
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode a0, CUkernelNodeAttrID a1, const CUkernelNodeAttrValue *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUkernelNodeAttrID, const CUkernelNodeAttrValue *) = (CUresult (*)(CUgraphNode, CUkernelNodeAttrID, const CUkernelNodeAttrValue *))attach_enter(&call, ATTACH_cuGraphKernelNodeSetAttribute, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphKernelNodeSetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT_V1, 0, sizeof(CUDA_KERNEL_NODE_PARAMS_v1)}};
CUresult cuGraphKernelNodeSetParams(CUgraphNode a0, const CUDA_KERNEL_NODE_PARAMS_v1 *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1 *) = (CUresult (*)(CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1 *))attach_enter(&call, ATTACH_cuGraphKernelNodeSetParams, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphKernelNodeSetParams_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_KERNEL_NODE_PARAMS)}};
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode a0, const CUDA_KERNEL_NODE_PARAMS *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *) = (CUresult (*)(CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphKernelNodeSetParams_v2, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphLaunch[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphLaunch(CUgraphExec a0, CUstream a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphExec, CUstream) = (CUresult (*)(CUgraphExec, CUstream))attach_enter(&call, ATTACH_cuGraphLaunch, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphLaunch_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphLaunch_ptsz(CUgraphExec a0, CUstream a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphExec, CUstream) = (CUresult (*)(CUgraphExec, CUstream))attach_enter(&call, ATTACH_cuGraphLaunch_ptsz, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphMemAllocNodeGetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_MEM_ALLOC_NODE_PARAMS)}};
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode a0, CUDA_MEM_ALLOC_NODE_PARAMS *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUDA_MEM_ALLOC_NODE_PARAMS *) = (CUresult (*)(CUgraphNode, CUDA_MEM_ALLOC_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphMemAllocNodeGetParams, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphMemFreeNodeGetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUdeviceptr)}};
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode a0, CUdeviceptr *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUdeviceptr *) = (CUresult (*)(CUgraphNode, CUdeviceptr *))attach_enter(&call, ATTACH_cuGraphMemFreeNodeGetParams, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphMemcpyNodeGetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_MEMCPY3D)}};
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode a0, CUDA_MEMCPY3D *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUDA_MEMCPY3D *) = (CUresult (*)(CUgraphNode, CUDA_MEMCPY3D *))attach_enter(&call, ATTACH_cuGraphMemcpyNodeGetParams, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphMemcpyNodeSetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_MEMCPY3D)}};
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode a0, const CUDA_MEMCPY3D *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, const CUDA_MEMCPY3D *) = (CUresult (*)(CUgraphNode, const CUDA_MEMCPY3D *))attach_enter(&call, ATTACH_cuGraphMemcpyNodeSetParams, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphMemsetNodeGetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_MEMSET_NODE_PARAMS)}};
CUresult cuGraphMemsetNodeGetParams(CUgraphNode a0, CUDA_MEMSET_NODE_PARAMS *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUDA_MEMSET_NODE_PARAMS *) = (CUresult (*)(CUgraphNode, CUDA_MEMSET_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphMemsetNodeGetParams, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphMemsetNodeSetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUDA_MEMSET_NODE_PARAMS)}};
CUresult cuGraphMemsetNodeSetParams(CUgraphNode a0, const CUDA_MEMSET_NODE_PARAMS *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, const CUDA_MEMSET_NODE_PARAMS *) = (CUresult (*)(CUgraphNode, const CUDA_MEMSET_NODE_PARAMS *))attach_enter(&call, ATTACH_cuGraphMemsetNodeSetParams, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphNodeFindInClone[] = {{ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphNodeFindInClone(CUgraphNode *a0, CUgraphNode a1, CUgraph a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraphNode *, CUgraphNode, CUgraph) = (CUresult (*)(CUgraphNode *, CUgraphNode, CUgraph))attach_enter(&call, ATTACH_cuGraphNodeFindInClone, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphNodeGetDependencies[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(size_t)}};
static const int8_t order_cuGraphNodeGetDependencies[] = {0, 1, -1, 2};
CUresult cuGraphNodeGetDependencies(CUgraphNode a0, CUgraphNode *a1, size_t *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUgraphNode *, size_t *) = (CUresult (*)(CUgraphNode, CUgraphNode *, size_t *))attach_enter(&call, ATTACH_cuGraphNodeGetDependencies, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphNodeGetDependencies_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_STRUCT, 0, sizeof(CUgraphEdgeData)}, {ATTACH_OUT, 0, sizeof(size_t)}};
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode a0, CUgraphNode *a1, CUgraphEdgeData *a2, size_t *a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUgraphNode *, CUgraphEdgeData *, size_t *) = (CUresult (*)(CUgraphNode, CUgraphNode *, CUgraphEdgeData *, size_t *))attach_enter(&call, ATTACH_cuGraphNodeGetDependencies_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuGraphNodeGetDependentNodes[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(size_t)}};
static const int8_t order_cuGraphNodeGetDependentNodes[] = {0, 1, -1, 2};
CUresult cuGraphNodeGetDependentNodes(CUgraphNode a0, CUgraphNode *a1, size_t *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUgraphNode *, size_t *) = (CUresult (*)(CUgraphNode, CUgraphNode *, size_t *))attach_enter(&call, ATTACH_cuGraphNodeGetDependentNodes, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphNodeGetDependentNodes_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUgraphNode)}, {ATTACH_STRUCT, 0, sizeof(CUgraphEdgeData)}, {ATTACH_OUT, 0, sizeof(size_t)}};
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode a0, CUgraphNode *a1, CUgraphEdgeData *a2, size_t *a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUgraphNode *, CUgraphEdgeData *, size_t *) = (CUresult (*)(CUgraphNode, CUgraphNode *, CUgraphEdgeData *, size_t *))attach_enter(&call, ATTACH_cuGraphNodeGetDependentNodes_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuGraphNodeGetEnabled[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(unsigned int)}};
CUresult cuGraphNodeGetEnabled(CUgraphExec a0, CUgraphNode a1, unsigned int *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraphExec, CUgraphNode, unsigned int *) = (CUresult (*)(CUgraphExec, CUgraphNode, unsigned int *))attach_enter(&call, ATTACH_cuGraphNodeGetEnabled, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphNodeGetType[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUgraphNodeType)}};
CUresult cuGraphNodeGetType(CUgraphNode a0, CUgraphNodeType *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUgraphNodeType *) = (CUresult (*)(CUgraphNode, CUgraphNodeType *))attach_enter(&call, ATTACH_cuGraphNodeGetType, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphNodeSetEnabled[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphNodeSetEnabled(CUgraphExec a0, CUgraphNode a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraphExec, CUgraphNode, unsigned int) = (CUresult (*)(CUgraphExec, CUgraphNode, unsigned int))attach_enter(&call, ATTACH_cuGraphNodeSetEnabled, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphNodeSetParams[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUgraphNodeParams)}};
CUresult cuGraphNodeSetParams(CUgraphNode a0, CUgraphNodeParams *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphNode, CUgraphNodeParams *) = (CUresult (*)(CUgraphNode, CUgraphNodeParams *))attach_enter(&call, ATTACH_cuGraphNodeSetParams, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphReleaseUserObject[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphReleaseUserObject(CUgraph a0, CUuserObject a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUgraph, CUuserObject, unsigned int) = (CUresult (*)(CUgraph, CUuserObject, unsigned int))attach_enter(&call, ATTACH_cuGraphReleaseUserObject, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphRemoveDependencies[] = {{ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 4, sizeof(CUgraphNode)}, {ATTACH_ARRAY, 4, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
static const int8_t order_cuGraphRemoveDependencies[] = {0, 1, 2, -1, 3};
CUresult cuGraphRemoveDependencies(CUgraph a0, const CUgraphNode *a1, const CUgraphNode *a2, size_t a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUgraph, const CUgraphNode *, const CUgraphNode *, size_t) = (CUresult (*)(CUgraph, const CUgraphNode *, const CUgraphNode *, size_t))attach_enter(&call, ATTACH_cuGraphRemoveDependencies, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuGraphRemoveDependencies_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 4, sizeof(CUgraphNode)}, {ATTACH_ARRAY, 4, sizeof(CUgraphNode)}, {ATTACH_ARRAY, 4, sizeof(CUgraphEdgeData)}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphRemoveDependencies_v2(CUgraph a0, const CUgraphNode *a1, const CUgraphNode *a2, const CUgraphEdgeData *a3, size_t a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUgraph, const CUgraphNode *, const CUgraphNode *, const CUgraphEdgeData *, size_t) = (CUresult (*)(CUgraph, const CUgraphNode *, const CUgraphNode *, const CUgraphEdgeData *, size_t))attach_enter(&call, ATTACH_cuGraphRemoveDependencies_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuGraphRetainUserObject[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphRetainUserObject(CUgraph a0, CUuserObject a1, unsigned int a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUgraph, CUuserObject, unsigned int, unsigned int) = (CUresult (*)(CUgraph, CUuserObject, unsigned int, unsigned int))attach_enter(&call, ATTACH_cuGraphRetainUserObject, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuGraphUpload[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphUpload(CUgraphExec a0, CUstream a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphExec, CUstream) = (CUresult (*)(CUgraphExec, CUstream))attach_enter(&call, ATTACH_cuGraphUpload, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphUpload_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphUpload_ptsz(CUgraphExec a0, CUstream a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphExec, CUstream) = (CUresult (*)(CUgraphExec, CUstream))attach_enter(&call, ATTACH_cuGraphUpload_ptsz, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphicsMapResources[] = {{ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 0, sizeof(CUgraphicsResource)}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphicsMapResources(unsigned int a0, CUgraphicsResource *a1, CUstream a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(unsigned int, CUgraphicsResource *, CUstream) = (CUresult (*)(unsigned int, CUgraphicsResource *, CUstream))attach_enter(&call, ATTACH_cuGraphicsMapResources, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphicsMapResources_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 0, sizeof(CUgraphicsResource)}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphicsMapResources_ptsz(unsigned int a0, CUgraphicsResource *a1, CUstream a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(unsigned int, CUgraphicsResource *, CUstream) = (CUresult (*)(unsigned int, CUgraphicsResource *, CUstream))attach_enter(&call, ATTACH_cuGraphicsMapResources_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphicsResourceGetMappedMipmappedArray[] = {{ATTACH_OUT, 0, sizeof(CUmipmappedArray)}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphicsResourceGetMappedMipmappedArray(CUmipmappedArray *a0, CUgraphicsResource a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUmipmappedArray *, CUgraphicsResource) = (CUresult (*)(CUmipmappedArray *, CUgraphicsResource))attach_enter(&call, ATTACH_cuGraphicsResourceGetMappedMipmappedArray, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphicsResourceGetMappedPointer[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr_v1)}, {ATTACH_OUT, 0, sizeof(unsigned int)}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphicsResourceGetMappedPointer(CUdeviceptr_v1 *a0, unsigned int *a1, CUgraphicsResource a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr_v1 *, unsigned int *, CUgraphicsResource) = (CUresult (*)(CUdeviceptr_v1 *, unsigned int *, CUgraphicsResource))attach_enter(&call, ATTACH_cuGraphicsResourceGetMappedPointer, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphicsResourceGetMappedPointer_v2[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr)}, {ATTACH_OUT, 0, sizeof(size_t)}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphicsResourceGetMappedPointer_v2(CUdeviceptr *a0, size_t *a1, CUgraphicsResource a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, size_t *, CUgraphicsResource) = (CUresult (*)(CUdeviceptr *, size_t *, CUgraphicsResource))attach_enter(&call, ATTACH_cuGraphicsResourceGetMappedPointer_v2, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphicsResourceSetMapFlags[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphicsResourceSetMapFlags(CUgraphicsResource a0, unsigned int a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphicsResource, unsigned int) = (CUresult (*)(CUgraphicsResource, unsigned int))attach_enter(&call, ATTACH_cuGraphicsResourceSetMapFlags, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphicsResourceSetMapFlags_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphicsResourceSetMapFlags_v2(CUgraphicsResource a0, unsigned int a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUgraphicsResource, unsigned int) = (CUresult (*)(CUgraphicsResource, unsigned int))attach_enter(&call, ATTACH_cuGraphicsResourceSetMapFlags_v2, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGraphicsSubResourceGetMappedArray[] = {{ATTACH_OUT, 0, sizeof(CUarray)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphicsSubResourceGetMappedArray(CUarray *a0, CUgraphicsResource a1, unsigned int a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUarray *, CUgraphicsResource, unsigned int, unsigned int) = (CUresult (*)(CUarray *, CUgraphicsResource, unsigned int, unsigned int))attach_enter(&call, ATTACH_cuGraphicsSubResourceGetMappedArray, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuGraphicsUnmapResources[] = {{ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 0, sizeof(CUgraphicsResource)}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphicsUnmapResources(unsigned int a0, CUgraphicsResource *a1, CUstream a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(unsigned int, CUgraphicsResource *, CUstream) = (CUresult (*)(unsigned int, CUgraphicsResource *, CUstream))attach_enter(&call, ATTACH_cuGraphicsUnmapResources, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphicsUnmapResources_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 0, sizeof(CUgraphicsResource)}, {ATTACH_WORD, 0, 0}};
CUresult cuGraphicsUnmapResources_ptsz(unsigned int a0, CUgraphicsResource *a1, CUstream a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(unsigned int, CUgraphicsResource *, CUstream) = (CUresult (*)(unsigned int, CUgraphicsResource *, CUstream))attach_enter(&call, ATTACH_cuGraphicsUnmapResources_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGraphicsUnregisterResource[] = {{ATTACH_WORD, 0, 0}};
CUresult cuGraphicsUnregisterResource(CUgraphicsResource a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUgraphicsResource) = (CUresult (*)(CUgraphicsResource))attach_enter(&call, ATTACH_cuGraphicsUnregisterResource, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuGreenCtxCreate[] = {{ATTACH_OUT, 0, sizeof(CUgreenCtx)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGreenCtxCreate(CUgreenCtx *a0, CUdevResourceDesc a1, CUdevice a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUgreenCtx *, CUdevResourceDesc, CUdevice, unsigned int) = (CUresult (*)(CUgreenCtx *, CUdevResourceDesc, CUdevice, unsigned int))attach_enter(&call, ATTACH_cuGreenCtxCreate, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuGreenCtxDestroy[] = {{ATTACH_WORD, 0, 0}};
CUresult cuGreenCtxDestroy(CUgreenCtx a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUgreenCtx) = (CUresult (*)(CUgreenCtx))attach_enter(&call, ATTACH_cuGreenCtxDestroy, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuGreenCtxGetDevResource[] = {{ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUdevResource)}, {ATTACH_WORD, 0, 0}};
CUresult cuGreenCtxGetDevResource(CUgreenCtx a0, CUdevResource *a1, CUdevResourceType a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, ((void)a2, UINT64_C(0))};
    attach_call call;
    CUresult (*const real)(CUgreenCtx, CUdevResource *, CUdevResourceType) = (CUresult (*)(CUgreenCtx, CUdevResource *, CUdevResourceType))attach_enter(&call, ATTACH_cuGreenCtxGetDevResource, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuGreenCtxGetId[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(unsigned long long)}};
CUresult cuGreenCtxGetId(CUgreenCtx a0, unsigned long long *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgreenCtx, unsigned long long *) = (CUresult (*)(CUgreenCtx, unsigned long long *))attach_enter(&call, ATTACH_cuGreenCtxGetId, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGreenCtxRecordEvent[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGreenCtxRecordEvent(CUgreenCtx a0, CUevent a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgreenCtx, CUevent) = (CUresult (*)(CUgreenCtx, CUevent))attach_enter(&call, ATTACH_cuGreenCtxRecordEvent, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuGreenCtxStreamCreate[] = {{ATTACH_OUT, 0, sizeof(CUstream)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGreenCtxStreamCreate(CUstream *a0, CUgreenCtx a1, unsigned int a2, int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream *, CUgreenCtx, unsigned int, int) = (CUresult (*)(CUstream *, CUgreenCtx, unsigned int, int))attach_enter(&call, ATTACH_cuGreenCtxStreamCreate, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuGreenCtxWaitEvent[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuGreenCtxWaitEvent(CUgreenCtx a0, CUevent a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUgreenCtx, CUevent) = (CUresult (*)(CUgreenCtx, CUevent))attach_enter(&call, ATTACH_cuGreenCtxWaitEvent, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuImportExternalMemory[] = {{ATTACH_OUT, 0, sizeof(CUexternalMemory)}, {ATTACH_STRUCT, 0, sizeof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC)}};
CUresult cuImportExternalMemory(CUexternalMemory *a0, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUexternalMemory *, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *) = (CUresult (*)(CUexternalMemory *, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *))attach_enter(&call, ATTACH_cuImportExternalMemory, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuImportExternalSemaphore[] = {{ATTACH_OUT, 0, sizeof(CUexternalSemaphore)}, {ATTACH_STRUCT, 0, sizeof(CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC)}};
CUresult cuImportExternalSemaphore(CUexternalSemaphore *a0, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUexternalSemaphore *, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *) = (CUresult (*)(CUexternalSemaphore *, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *))attach_enter(&call, ATTACH_cuImportExternalSemaphore, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuInit[] = {{ATTACH_WORD, 0, 0}};
CUresult cuInit(unsigned int a0)
{
    const uint64_t words[] = {(uint64_t)a0};
    attach_call call;
    CUresult (*const real)(unsigned int) = (CUresult (*)(unsigned int))attach_enter(&call, ATTACH_cuInit, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuIpcCloseMemHandle[] = {{ATTACH_WORD, 0, 0}};
CUresult cuIpcCloseMemHandle(CUdeviceptr a0)
{
    const uint64_t words[] = {(uint64_t)a0};
    attach_call call;
    CUresult (*const real)(CUdeviceptr) = (CUresult (*)(CUdeviceptr))attach_enter(&call, ATTACH_cuIpcCloseMemHandle, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuIpcGetEventHandle[] = {{ATTACH_STRUCT, 0, sizeof(CUipcEventHandle)}, {ATTACH_WORD, 0, 0}};
CUresult cuIpcGetEventHandle(CUipcEventHandle *a0, CUevent a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUipcEventHandle *, CUevent) = (CUresult (*)(CUipcEventHandle *, CUevent))attach_enter(&call, ATTACH_cuIpcGetEventHandle, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuIpcGetMemHandle[] = {{ATTACH_STRUCT, 0, sizeof(CUipcMemHandle)}, {ATTACH_WORD, 0, 0}};
CUresult cuIpcGetMemHandle(CUipcMemHandle *a0, CUdeviceptr a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUipcMemHandle *, CUdeviceptr) = (CUresult (*)(CUipcMemHandle *, CUdeviceptr))attach_enter(&call, ATTACH_cuIpcGetMemHandle, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuIpcOpenEventHandle[] = {{ATTACH_OUT, 0, sizeof(CUevent)}, {ATTACH_WORD, 0, 0}};
CUresult cuIpcOpenEventHandle(CUevent *a0, CUipcEventHandle a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, ((void)a1, UINT64_C(0))};
    attach_call call;
    CUresult (*const real)(CUevent *, CUipcEventHandle) = (CUresult (*)(CUevent *, CUipcEventHandle))attach_enter(&call, ATTACH_cuIpcOpenEventHandle, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuIpcOpenMemHandle[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuIpcOpenMemHandle(CUdeviceptr *a0, CUipcMemHandle a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, ((void)a1, UINT64_C(0)), (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, CUipcMemHandle, unsigned int) = (CUresult (*)(CUdeviceptr *, CUipcMemHandle, unsigned int))attach_enter(&call, ATTACH_cuIpcOpenMemHandle, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuIpcOpenMemHandle_v2[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *a0, CUipcMemHandle a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, ((void)a1, UINT64_C(0)), (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, CUipcMemHandle, unsigned int) = (CUresult (*)(CUdeviceptr *, CUipcMemHandle, unsigned int))attach_enter(&call, ATTACH_cuIpcOpenMemHandle_v2, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuKernelGetAttribute[] = {{ATTACH_OUT, 0, sizeof(int)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuKernelGetAttribute(int *a0, CUfunction_attribute a1, CUkernel a2, CUdevice a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(int *, CUfunction_attribute, CUkernel, CUdevice) = (CUresult (*)(int *, CUfunction_attribute, CUkernel, CUdevice))attach_enter(&call, ATTACH_cuKernelGetAttribute, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuKernelGetFunction[] = {{ATTACH_OUT, 0, sizeof(CUfunction)}, {ATTACH_WORD, 0, 0}};
CUresult cuKernelGetFunction(CUfunction *a0, CUkernel a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUfunction *, CUkernel) = (CUresult (*)(CUfunction *, CUkernel))attach_enter(&call, ATTACH_cuKernelGetFunction, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuKernelGetLibrary[] = {{ATTACH_OUT, 0, sizeof(CUlibrary)}, {ATTACH_WORD, 0, 0}};
CUresult cuKernelGetLibrary(CUlibrary *a0, CUkernel a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUlibrary *, CUkernel) = (CUresult (*)(CUlibrary *, CUkernel))attach_enter(&call, ATTACH_cuKernelGetLibrary, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuKernelGetName[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuKernelGetName(const char **a0, CUkernel a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(const char **, CUkernel) = (CUresult (*)(const char **, CUkernel))attach_enter(&call, ATTACH_cuKernelGetName, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuKernelGetParamInfo[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(size_t)}, {ATTACH_OUT, 0, sizeof(size_t)}};
CUresult cuKernelGetParamInfo(CUkernel a0, size_t a1, size_t *a2, size_t *a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUkernel, size_t, size_t *, size_t *) = (CUresult (*)(CUkernel, size_t, size_t *, size_t *))attach_enter(&call, ATTACH_cuKernelGetParamInfo, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuKernelSetAttribute[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuKernelSetAttribute(CUfunction_attribute a0, int a1, CUkernel a2, CUdevice a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUfunction_attribute, int, CUkernel, CUdevice) = (CUresult (*)(CUfunction_attribute, int, CUkernel, CUdevice))attach_enter(&call, ATTACH_cuKernelSetAttribute, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuKernelSetCacheConfig[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuKernelSetCacheConfig(CUkernel a0, CUfunc_cache a1, CUdevice a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUkernel, CUfunc_cache, CUdevice) = (CUresult (*)(CUkernel, CUfunc_cache, CUdevice))attach_enter(&call, ATTACH_cuKernelSetCacheConfig, words);
    return attach_leave(&call, real(a0, a1, a2));
}
CUresult cuLaunch(CUfunction a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUfunction) = (CUresult (*)(CUfunction))attach_enter(&call, ATTACH_cuLaunch, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuLaunchCooperativeKernel[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuLaunchCooperativeKernel(CUfunction a0, unsigned int a1, unsigned int a2, unsigned int a3, unsigned int a4, unsigned int a5, unsigned int a6, unsigned int a7, CUstream a8, void **a9)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4, (uint64_t)a5, (uint64_t)a6, (uint64_t)a7, (uint64_t)(uintptr_t)a8, (uint64_t)(uintptr_t)a9};
    attach_call call;
    CUresult (*const real)(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, CUstream, void **) = (CUresult (*)(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, CUstream, void **))attach_enter(&call, ATTACH_cuLaunchCooperativeKernel, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9));
}
CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *a0, unsigned int a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUDA_LAUNCH_PARAMS *, unsigned int, unsigned int) = (CUresult (*)(CUDA_LAUNCH_PARAMS *, unsigned int, unsigned int))attach_enter(&call, ATTACH_cuLaunchCooperativeKernelMultiDevice, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuLaunchCooperativeKernel_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuLaunchCooperativeKernel_ptsz(CUfunction a0, unsigned int a1, unsigned int a2, unsigned int a3, unsigned int a4, unsigned int a5, unsigned int a6, unsigned int a7, CUstream a8, void **a9)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4, (uint64_t)a5, (uint64_t)a6, (uint64_t)a7, (uint64_t)(uintptr_t)a8, (uint64_t)(uintptr_t)a9};
    attach_call call;
    CUresult (*const real)(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, CUstream, void **) = (CUresult (*)(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, CUstream, void **))attach_enter(&call, ATTACH_cuLaunchCooperativeKernel_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9));
}
CUresult cuLaunchGrid(CUfunction a0, int a1, int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUfunction, int, int) = (CUresult (*)(CUfunction, int, int))attach_enter(&call, ATTACH_cuLaunchGrid, words);
    return attach_leave(&call, real(a0, a1, a2));
}
CUresult cuLaunchGridAsync(CUfunction a0, int a1, int a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUfunction, int, int, CUstream) = (CUresult (*)(CUfunction, int, int, CUstream))attach_enter(&call, ATTACH_cuLaunchGridAsync, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuLaunchHostFunc[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuLaunchHostFunc(CUstream a0, CUhostFn a1, void *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUstream, CUhostFn, void *) = (CUresult (*)(CUstream, CUhostFn, void *))attach_enter(&call, ATTACH_cuLaunchHostFunc, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuLaunchHostFunc_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuLaunchHostFunc_ptsz(CUstream a0, CUhostFn a1, void *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUstream, CUhostFn, void *) = (CUresult (*)(CUstream, CUhostFn, void *))attach_enter(&call, ATTACH_cuLaunchHostFunc_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuLaunchKernel[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuLaunchKernel(CUfunction a0, unsigned int a1, unsigned int a2, unsigned int a3, unsigned int a4, unsigned int a5, unsigned int a6, unsigned int a7, CUstream a8, void **a9, void **a10)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4, (uint64_t)a5, (uint64_t)a6, (uint64_t)a7, (uint64_t)(uintptr_t)a8, (uint64_t)(uintptr_t)a9, (uint64_t)(uintptr_t)a10};
    attach_call call;
    CUresult (*const real)(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, CUstream, void **, void **) = (CUresult (*)(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, CUstream, void **, void **))attach_enter(&call, ATTACH_cuLaunchKernel, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10));
}
static const attach_argument arguments_cuLaunchKernelEx[] = {{ATTACH_STRUCT, 0, sizeof(CUlaunchConfig)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuLaunchKernelEx(const CUlaunchConfig *a0, CUfunction a1, void **a2, void **a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(const CUlaunchConfig *, CUfunction, void **, void **) = (CUresult (*)(const CUlaunchConfig *, CUfunction, void **, void **))attach_enter(&call, ATTACH_cuLaunchKernelEx, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuLaunchKernelEx_ptsz[] = {{ATTACH_STRUCT, 0, sizeof(CUlaunchConfig)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *a0, CUfunction a1, void **a2, void **a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(const CUlaunchConfig *, CUfunction, void **, void **) = (CUresult (*)(const CUlaunchConfig *, CUfunction, void **, void **))attach_enter(&call, ATTACH_cuLaunchKernelEx_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuLaunchKernel_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuLaunchKernel_ptsz(CUfunction a0, unsigned int a1, unsigned int a2, unsigned int a3, unsigned int a4, unsigned int a5, unsigned int a6, unsigned int a7, CUstream a8, void **a9, void **a10)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4, (uint64_t)a5, (uint64_t)a6, (uint64_t)a7, (uint64_t)(uintptr_t)a8, (uint64_t)(uintptr_t)a9, (uint64_t)(uintptr_t)a10};
    attach_call call;
    CUresult (*const real)(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, CUstream, void **, void **) = (CUresult (*)(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, CUstream, void **, void **))attach_enter(&call, ATTACH_cuLaunchKernel_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10));
}
static const attach_argument arguments_cuLibraryEnumerateKernels[] = {{ATTACH_ARRAY, 1, sizeof(CUkernel)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuLibraryEnumerateKernels(CUkernel *a0, unsigned int a1, CUlibrary a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUkernel *, unsigned int, CUlibrary) = (CUresult (*)(CUkernel *, unsigned int, CUlibrary))attach_enter(&call, ATTACH_cuLibraryEnumerateKernels, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuLibraryGetGlobal[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr)}, {ATTACH_OUT, 0, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_TEXT, 0, 0}};
CUresult cuLibraryGetGlobal(CUdeviceptr *a0, size_t *a1, CUlibrary a2, const char *a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, size_t *, CUlibrary, const char *) = (CUresult (*)(CUdeviceptr *, size_t *, CUlibrary, const char *))attach_enter(&call, ATTACH_cuLibraryGetGlobal, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuLibraryGetKernel[] = {{ATTACH_OUT, 0, sizeof(CUkernel)}, {ATTACH_WORD, 0, 0}, {ATTACH_TEXT, 0, 0}};
CUresult cuLibraryGetKernel(CUkernel *a0, CUlibrary a1, const char *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUkernel *, CUlibrary, const char *) = (CUresult (*)(CUkernel *, CUlibrary, const char *))attach_enter(&call, ATTACH_cuLibraryGetKernel, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuLibraryGetKernelCount[] = {{ATTACH_OUT, 0, sizeof(unsigned int)}, {ATTACH_WORD, 0, 0}};
CUresult cuLibraryGetKernelCount(unsigned int *a0, CUlibrary a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(unsigned int *, CUlibrary) = (CUresult (*)(unsigned int *, CUlibrary))attach_enter(&call, ATTACH_cuLibraryGetKernelCount, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuLibraryGetManaged[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr)}, {ATTACH_OUT, 0, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_TEXT, 0, 0}};
CUresult cuLibraryGetManaged(CUdeviceptr *a0, size_t *a1, CUlibrary a2, const char *a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, size_t *, CUlibrary, const char *) = (CUresult (*)(CUdeviceptr *, size_t *, CUlibrary, const char *))attach_enter(&call, ATTACH_cuLibraryGetManaged, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuLibraryGetModule[] = {{ATTACH_OUT, 0, sizeof(CUmodule)}, {ATTACH_WORD, 0, 0}};
CUresult cuLibraryGetModule(CUmodule *a0, CUlibrary a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUmodule *, CUlibrary) = (CUresult (*)(CUmodule *, CUlibrary))attach_enter(&call, ATTACH_cuLibraryGetModule, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuLibraryGetUnifiedFunction[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuLibraryGetUnifiedFunction(void **a0, CUlibrary a1, const char *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(void **, CUlibrary, const char *) = (CUresult (*)(void **, CUlibrary, const char *))attach_enter(&call, ATTACH_cuLibraryGetUnifiedFunction, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuLibraryLoadData[] = {{ATTACH_OUT, 0, sizeof(CUlibrary)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuLibraryLoadData(CUlibrary *a0, const void *a1, CUjit_option *a2, void **a3, unsigned int a4, CUlibraryOption *a5, void **a6, unsigned int a7)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)a4, (uint64_t)(uintptr_t)a5, (uint64_t)(uintptr_t)a6, (uint64_t)a7};
    attach_call call;
    CUresult (*const real)(CUlibrary *, const void *, CUjit_option *, void **, unsigned int, CUlibraryOption *, void **, unsigned int) = (CUresult (*)(CUlibrary *, const void *, CUjit_option *, void **, unsigned int, CUlibraryOption *, void **, unsigned int))attach_enter(&call, ATTACH_cuLibraryLoadData, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5, a6, a7));
}
static const attach_argument arguments_cuLibraryLoadFromFile[] = {{ATTACH_OUT, 0, sizeof(CUlibrary)}, {ATTACH_TEXT, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuLibraryLoadFromFile(CUlibrary *a0, const char *a1, CUjit_option *a2, void **a3, unsigned int a4, CUlibraryOption *a5, void **a6, unsigned int a7)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)a4, (uint64_t)(uintptr_t)a5, (uint64_t)(uintptr_t)a6, (uint64_t)a7};
    attach_call call;
    CUresult (*const real)(CUlibrary *, const char *, CUjit_option *, void **, unsigned int, CUlibraryOption *, void **, unsigned int) = (CUresult (*)(CUlibrary *, const char *, CUjit_option *, void **, unsigned int, CUlibraryOption *, void **, unsigned int))attach_enter(&call, ATTACH_cuLibraryLoadFromFile, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5, a6, a7));
}
static const attach_argument arguments_cuLibraryUnload[] = {{ATTACH_WORD, 0, 0}};
CUresult cuLibraryUnload(CUlibrary a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUlibrary) = (CUresult (*)(CUlibrary))attach_enter(&call, ATTACH_cuLibraryUnload, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuLinkAddData[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUjit_option)}, {ATTACH_WORD, 0, 0}};
CUresult cuLinkAddData(CUlinkState a0, CUjitInputType a1, void *a2, size_t a3, const char *a4, unsigned int a5, CUjit_option *a6, void **a7)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4, (uint64_t)a5, (uint64_t)(uintptr_t)a6, (uint64_t)(uintptr_t)a7};
    attach_call call;
    CUresult (*const real)(CUlinkState, CUjitInputType, void *, size_t, const char *, unsigned int, CUjit_option *, void **) = (CUresult (*)(CUlinkState, CUjitInputType, void *, size_t, const char *, unsigned int, CUjit_option *, void **))attach_enter(&call, ATTACH_cuLinkAddData, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5, a6, a7));
}
static const attach_argument arguments_cuLinkAddData_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUjit_option)}, {ATTACH_WORD, 0, 0}};
CUresult cuLinkAddData_v2(CUlinkState a0, CUjitInputType a1, void *a2, size_t a3, const char *a4, unsigned int a5, CUjit_option *a6, void **a7)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4, (uint64_t)a5, (uint64_t)(uintptr_t)a6, (uint64_t)(uintptr_t)a7};
    attach_call call;
    CUresult (*const real)(CUlinkState, CUjitInputType, void *, size_t, const char *, unsigned int, CUjit_option *, void **) = (CUresult (*)(CUlinkState, CUjitInputType, void *, size_t, const char *, unsigned int, CUjit_option *, void **))attach_enter(&call, ATTACH_cuLinkAddData_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5, a6, a7));
}
static const attach_argument arguments_cuLinkAddFile[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUjit_option)}, {ATTACH_WORD, 0, 0}};
CUresult cuLinkAddFile(CUlinkState a0, CUjitInputType a1, const char *a2, unsigned int a3, CUjit_option *a4, void **a5)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4, (uint64_t)(uintptr_t)a5};
    attach_call call;
    CUresult (*const real)(CUlinkState, CUjitInputType, const char *, unsigned int, CUjit_option *, void **) = (CUresult (*)(CUlinkState, CUjitInputType, const char *, unsigned int, CUjit_option *, void **))attach_enter(&call, ATTACH_cuLinkAddFile, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5));
}
static const attach_argument arguments_cuLinkAddFile_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUjit_option)}, {ATTACH_WORD, 0, 0}};
CUresult cuLinkAddFile_v2(CUlinkState a0, CUjitInputType a1, const char *a2, unsigned int a3, CUjit_option *a4, void **a5)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4, (uint64_t)(uintptr_t)a5};
    attach_call call;
    CUresult (*const real)(CUlinkState, CUjitInputType, const char *, unsigned int, CUjit_option *, void **) = (CUresult (*)(CUlinkState, CUjitInputType, const char *, unsigned int, CUjit_option *, void **))attach_enter(&call, ATTACH_cuLinkAddFile_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5));
}
static const attach_argument arguments_cuLinkComplete[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(size_t)}};
CUresult cuLinkComplete(CUlinkState a0, void **a1, size_t *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUlinkState, void **, size_t *) = (CUresult (*)(CUlinkState, void **, size_t *))attach_enter(&call, ATTACH_cuLinkComplete, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuLinkCreate[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUjit_option)}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUlinkState)}};
CUresult cuLinkCreate(unsigned int a0, CUjit_option *a1, void **a2, CUlinkState *a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(unsigned int, CUjit_option *, void **, CUlinkState *) = (CUresult (*)(unsigned int, CUjit_option *, void **, CUlinkState *))attach_enter(&call, ATTACH_cuLinkCreate, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuLinkCreate_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUjit_option)}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUlinkState)}};
CUresult cuLinkCreate_v2(unsigned int a0, CUjit_option *a1, void **a2, CUlinkState *a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(unsigned int, CUjit_option *, void **, CUlinkState *) = (CUresult (*)(unsigned int, CUjit_option *, void **, CUlinkState *))attach_enter(&call, ATTACH_cuLinkCreate_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuLinkDestroy[] = {{ATTACH_WORD, 0, 0}};
CUresult cuLinkDestroy(CUlinkState a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUlinkState) = (CUresult (*)(CUlinkState))attach_enter(&call, ATTACH_cuLinkDestroy, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuLogsCurrent[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuLogsCurrent(CUlogIterator *a0, unsigned int a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUlogIterator *, unsigned int) = (CUresult (*)(CUlogIterator *, unsigned int))attach_enter(&call, ATTACH_cuLogsCurrent, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuLogsDumpToFile[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuLogsDumpToFile(CUlogIterator *a0, const char *a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUlogIterator *, const char *, unsigned int) = (CUresult (*)(CUlogIterator *, const char *, unsigned int))attach_enter(&call, ATTACH_cuLogsDumpToFile, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuLogsDumpToMemory[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(size_t)}, {ATTACH_WORD, 0, 0}};
CUresult cuLogsDumpToMemory(CUlogIterator *a0, char *a1, size_t *a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUlogIterator *, char *, size_t *, unsigned int) = (CUresult (*)(CUlogIterator *, char *, size_t *, unsigned int))attach_enter(&call, ATTACH_cuLogsDumpToMemory, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuLogsRegisterCallback[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUlogsCallbackHandle)}};
CUresult cuLogsRegisterCallback(CUlogsCallback a0, void *a1, CUlogsCallbackHandle *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUlogsCallback, void *, CUlogsCallbackHandle *) = (CUresult (*)(CUlogsCallback, void *, CUlogsCallbackHandle *))attach_enter(&call, ATTACH_cuLogsRegisterCallback, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuLogsUnregisterCallback[] = {{ATTACH_WORD, 0, 0}};
CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUlogsCallbackHandle) = (CUresult (*)(CUlogsCallbackHandle))attach_enter(&call, ATTACH_cuLogsUnregisterCallback, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuMemAddressFree[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemAddressFree(CUdeviceptr a0, size_t a1)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, size_t) = (CUresult (*)(CUdeviceptr, size_t))attach_enter(&call, ATTACH_cuMemAddressFree, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemAddressReserve[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemAddressReserve(CUdeviceptr *a0, size_t a1, size_t a2, CUdeviceptr a3, unsigned long long a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long) = (CUresult (*)(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long))attach_enter(&call, ATTACH_cuMemAddressReserve, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemAdvise[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemAdvise(CUdeviceptr a0, size_t a1, CUmem_advise a2, CUdevice a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, size_t, CUmem_advise, CUdevice) = (CUresult (*)(CUdeviceptr, size_t, CUmem_advise, CUdevice))attach_enter(&call, ATTACH_cuMemAdvise, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemAdvise_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemAdvise_v2(CUdeviceptr a0, size_t a1, CUmem_advise a2, CUmemLocation a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, attach_location(a3)};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, size_t, CUmem_advise, CUmemLocation) = (CUresult (*)(CUdeviceptr, size_t, CUmem_advise, CUmemLocation))attach_enter(&call, ATTACH_cuMemAdvise_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemAlloc[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr_v1)}, {ATTACH_WORD, 0, 0}};
CUresult cuMemAlloc(CUdeviceptr_v1 *a0, unsigned int a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUdeviceptr_v1 *, unsigned int) = (CUresult (*)(CUdeviceptr_v1 *, unsigned int))attach_enter(&call, ATTACH_cuMemAlloc, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemAllocAsync[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemAllocAsync(CUdeviceptr *a0, size_t a1, CUstream a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, size_t, CUstream) = (CUresult (*)(CUdeviceptr *, size_t, CUstream))attach_enter(&call, ATTACH_cuMemAllocAsync, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemAllocAsync_ptsz[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemAllocAsync_ptsz(CUdeviceptr *a0, size_t a1, CUstream a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, size_t, CUstream) = (CUresult (*)(CUdeviceptr *, size_t, CUstream))attach_enter(&call, ATTACH_cuMemAllocAsync_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemAllocFromPoolAsync[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *a0, size_t a1, CUmemoryPool a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, size_t, CUmemoryPool, CUstream) = (CUresult (*)(CUdeviceptr *, size_t, CUmemoryPool, CUstream))attach_enter(&call, ATTACH_cuMemAllocFromPoolAsync, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemAllocFromPoolAsync_ptsz[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *a0, size_t a1, CUmemoryPool a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, size_t, CUmemoryPool, CUstream) = (CUresult (*)(CUdeviceptr *, size_t, CUmemoryPool, CUstream))attach_enter(&call, ATTACH_cuMemAllocFromPoolAsync_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemAllocHost[] = {{ATTACH_OUT, 0, sizeof(void *)}, {ATTACH_WORD, 0, 0}};
CUresult cuMemAllocHost(void **a0, unsigned int a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(void **, unsigned int) = (CUresult (*)(void **, unsigned int))attach_enter(&call, ATTACH_cuMemAllocHost, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemAllocHost_v2[] = {{ATTACH_OUT, 0, sizeof(void *)}, {ATTACH_WORD, 0, 0}};
CUresult cuMemAllocHost_v2(void **a0, size_t a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(void **, size_t) = (CUresult (*)(void **, size_t))attach_enter(&call, ATTACH_cuMemAllocHost_v2, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemAllocManaged[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemAllocManaged(CUdeviceptr *a0, size_t a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, size_t, unsigned int) = (CUresult (*)(CUdeviceptr *, size_t, unsigned int))attach_enter(&call, ATTACH_cuMemAllocManaged, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemAllocPitch[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr_v1)}, {ATTACH_OUT, 0, sizeof(unsigned int)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemAllocPitch(CUdeviceptr_v1 *a0, unsigned int *a1, unsigned int a2, unsigned int a3, unsigned int a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUdeviceptr_v1 *, unsigned int *, unsigned int, unsigned int, unsigned int) = (CUresult (*)(CUdeviceptr_v1 *, unsigned int *, unsigned int, unsigned int, unsigned int))attach_enter(&call, ATTACH_cuMemAllocPitch, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemAllocPitch_v2[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr)}, {ATTACH_OUT, 0, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemAllocPitch_v2(CUdeviceptr *a0, size_t *a1, size_t a2, size_t a3, unsigned int a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, size_t *, size_t, size_t, unsigned int) = (CUresult (*)(CUdeviceptr *, size_t *, size_t, size_t, unsigned int))attach_enter(&call, ATTACH_cuMemAllocPitch_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemAlloc_v2[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr)}, {ATTACH_WORD, 0, 0}};
CUresult cuMemAlloc_v2(CUdeviceptr *a0, size_t a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, size_t) = (CUresult (*)(CUdeviceptr *, size_t))attach_enter(&call, ATTACH_cuMemAlloc_v2, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemBatchDecompressAsync[] = {{ATTACH_ARRAY, 1, sizeof(CUmemDecompressParams)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemBatchDecompressAsync(CUmemDecompressParams *a0, size_t a1, unsigned int a2, size_t *a3, CUstream a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(CUmemDecompressParams *, size_t, unsigned int, size_t *, CUstream) = (CUresult (*)(CUmemDecompressParams *, size_t, unsigned int, size_t *, CUstream))attach_enter(&call, ATTACH_cuMemBatchDecompressAsync, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemBatchDecompressAsync_ptsz[] = {{ATTACH_ARRAY, 1, sizeof(CUmemDecompressParams)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemBatchDecompressAsync_ptsz(CUmemDecompressParams *a0, size_t a1, unsigned int a2, size_t *a3, CUstream a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(CUmemDecompressParams *, size_t, unsigned int, size_t *, CUstream) = (CUresult (*)(CUmemDecompressParams *, size_t, unsigned int, size_t *, CUstream))attach_enter(&call, ATTACH_cuMemBatchDecompressAsync_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemCreate[] = {{ATTACH_OUT, 0, sizeof(CUmemGenericAllocationHandle)}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUmemAllocationProp)}, {ATTACH_WORD, 0, 0}};
CUresult cuMemCreate(CUmemGenericAllocationHandle *a0, size_t a1, const CUmemAllocationProp *a2, unsigned long long a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long) = (CUresult (*)(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long))attach_enter(&call, ATTACH_cuMemCreate, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemDiscardAndPrefetchBatchAsync[] = {{ATTACH_ARRAY, 2, sizeof(CUdeviceptr)}, {ATTACH_ARRAY, 2, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 5, sizeof(CUmemLocation)}, {ATTACH_ARRAY, 5, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *a0, size_t *a1, size_t a2, CUmemLocation *a3, size_t *a4, size_t a5, unsigned long long a6, CUstream a7)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)(uintptr_t)a4, (uint64_t)a5, (uint64_t)a6, (uint64_t)(uintptr_t)a7};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, size_t *, size_t, CUmemLocation *, size_t *, size_t, unsigned long long, CUstream) = (CUresult (*)(CUdeviceptr *, size_t *, size_t, CUmemLocation *, size_t *, size_t, unsigned long long, CUstream))attach_enter(&call, ATTACH_cuMemDiscardAndPrefetchBatchAsync, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5, a6, a7));
}
static const attach_argument arguments_cuMemDiscardAndPrefetchBatchAsync_ptsz[] = {{ATTACH_ARRAY, 2, sizeof(CUdeviceptr)}, {ATTACH_ARRAY, 2, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 5, sizeof(CUmemLocation)}, {ATTACH_ARRAY, 5, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemDiscardAndPrefetchBatchAsync_ptsz(CUdeviceptr *a0, size_t *a1, size_t a2, CUmemLocation *a3, size_t *a4, size_t a5, unsigned long long a6, CUstream a7)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)(uintptr_t)a4, (uint64_t)a5, (uint64_t)a6, (uint64_t)(uintptr_t)a7};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, size_t *, size_t, CUmemLocation *, size_t *, size_t, unsigned long long, CUstream) = (CUresult (*)(CUdeviceptr *, size_t *, size_t, CUmemLocation *, size_t *, size_t, unsigned long long, CUstream))attach_enter(&call, ATTACH_cuMemDiscardAndPrefetchBatchAsync_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5, a6, a7));
}
static const attach_argument arguments_cuMemDiscardBatchAsync[] = {{ATTACH_ARRAY, 2, sizeof(CUdeviceptr)}, {ATTACH_ARRAY, 2, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemDiscardBatchAsync(CUdeviceptr *a0, size_t *a1, size_t a2, unsigned long long a3, CUstream a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, size_t *, size_t, unsigned long long, CUstream) = (CUresult (*)(CUdeviceptr *, size_t *, size_t, unsigned long long, CUstream))attach_enter(&call, ATTACH_cuMemDiscardBatchAsync, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemDiscardBatchAsync_ptsz[] = {{ATTACH_ARRAY, 2, sizeof(CUdeviceptr)}, {ATTACH_ARRAY, 2, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemDiscardBatchAsync_ptsz(CUdeviceptr *a0, size_t *a1, size_t a2, unsigned long long a3, CUstream a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, size_t *, size_t, unsigned long long, CUstream) = (CUresult (*)(CUdeviceptr *, size_t *, size_t, unsigned long long, CUstream))attach_enter(&call, ATTACH_cuMemDiscardBatchAsync_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemExportToShareableHandle[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemExportToShareableHandle(void *a0, CUmemGenericAllocationHandle a1, CUmemAllocationHandleType a2, unsigned long long a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(void *, CUmemGenericAllocationHandle, CUmemAllocationHandleType, unsigned long long) = (CUresult (*)(void *, CUmemGenericAllocationHandle, CUmemAllocationHandleType, unsigned long long))attach_enter(&call, ATTACH_cuMemExportToShareableHandle, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemFree[] = {{ATTACH_WORD, 0, 0}};
CUresult cuMemFree(CUdeviceptr_v1 a0)
{
    const uint64_t words[] = {(uint64_t)a0};
    attach_call call;
    CUresult (*const real)(CUdeviceptr_v1) = (CUresult (*)(CUdeviceptr_v1))attach_enter(&call, ATTACH_cuMemFree, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuMemFreeAsync[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemFreeAsync(CUdeviceptr a0, CUstream a1)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, CUstream) = (CUresult (*)(CUdeviceptr, CUstream))attach_enter(&call, ATTACH_cuMemFreeAsync, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemFreeAsync_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemFreeAsync_ptsz(CUdeviceptr a0, CUstream a1)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, CUstream) = (CUresult (*)(CUdeviceptr, CUstream))attach_enter(&call, ATTACH_cuMemFreeAsync_ptsz, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemFreeHost[] = {{ATTACH_WORD, 0, 0}};
CUresult cuMemFreeHost(void *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(void *) = (CUresult (*)(void *))attach_enter(&call, ATTACH_cuMemFreeHost, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuMemFree_v2[] = {{ATTACH_WORD, 0, 0}};
CUresult cuMemFree_v2(CUdeviceptr a0)
{
    const uint64_t words[] = {(uint64_t)a0};
    attach_call call;
    CUresult (*const real)(CUdeviceptr) = (CUresult (*)(CUdeviceptr))attach_enter(&call, ATTACH_cuMemFree_v2, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuMemGetAccess[] = {{ATTACH_OUT, 0, sizeof(unsigned long long)}, {ATTACH_STRUCT, 0, sizeof(CUmemLocation)}, {ATTACH_WORD, 0, 0}};
CUresult cuMemGetAccess(unsigned long long *a0, const CUmemLocation *a1, CUdeviceptr a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(unsigned long long *, const CUmemLocation *, CUdeviceptr) = (CUresult (*)(unsigned long long *, const CUmemLocation *, CUdeviceptr))attach_enter(&call, ATTACH_cuMemGetAccess, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemGetAddressRange[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr_v1)}, {ATTACH_OUT, 0, sizeof(unsigned int)}, {ATTACH_WORD, 0, 0}};
CUresult cuMemGetAddressRange(CUdeviceptr_v1 *a0, unsigned int *a1, CUdeviceptr_v1 a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr_v1 *, unsigned int *, CUdeviceptr_v1) = (CUresult (*)(CUdeviceptr_v1 *, unsigned int *, CUdeviceptr_v1))attach_enter(&call, ATTACH_cuMemGetAddressRange, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemGetAddressRange_v2[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr)}, {ATTACH_OUT, 0, sizeof(size_t)}, {ATTACH_WORD, 0, 0}};
CUresult cuMemGetAddressRange_v2(CUdeviceptr *a0, size_t *a1, CUdeviceptr a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, size_t *, CUdeviceptr) = (CUresult (*)(CUdeviceptr *, size_t *, CUdeviceptr))attach_enter(&call, ATTACH_cuMemGetAddressRange_v2, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemGetAllocationGranularity[] = {{ATTACH_OUT, 0, sizeof(size_t)}, {ATTACH_STRUCT, 0, sizeof(CUmemAllocationProp)}, {ATTACH_WORD, 0, 0}};
CUresult cuMemGetAllocationGranularity(size_t *a0, const CUmemAllocationProp *a1, CUmemAllocationGranularity_flags a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(size_t *, const CUmemAllocationProp *, CUmemAllocationGranularity_flags) = (CUresult (*)(size_t *, const CUmemAllocationProp *, CUmemAllocationGranularity_flags))attach_enter(&call, ATTACH_cuMemGetAllocationGranularity, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemGetAllocationPropertiesFromHandle[] = {{ATTACH_STRUCT, 0, sizeof(CUmemAllocationProp)}, {ATTACH_WORD, 0, 0}};
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *a0, CUmemGenericAllocationHandle a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUmemAllocationProp *, CUmemGenericAllocationHandle) = (CUresult (*)(CUmemAllocationProp *, CUmemGenericAllocationHandle))attach_enter(&call, ATTACH_cuMemGetAllocationPropertiesFromHandle, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemGetDefaultMemPool[] = {{ATTACH_OUT, 0, sizeof(CUmemoryPool)}, {ATTACH_STRUCT, 0, sizeof(CUmemLocation)}, {ATTACH_WORD, 0, 0}};
CUresult cuMemGetDefaultMemPool(CUmemoryPool *a0, CUmemLocation *a1, CUmemAllocationType a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUmemoryPool *, CUmemLocation *, CUmemAllocationType) = (CUresult (*)(CUmemoryPool *, CUmemLocation *, CUmemAllocationType))attach_enter(&call, ATTACH_cuMemGetDefaultMemPool, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemGetHandleForAddressRange[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemGetHandleForAddressRange(void *a0, CUdeviceptr a1, size_t a2, CUmemRangeHandleType a3, unsigned long long a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(void *, CUdeviceptr, size_t, CUmemRangeHandleType, unsigned long long) = (CUresult (*)(void *, CUdeviceptr, size_t, CUmemRangeHandleType, unsigned long long))attach_enter(&call, ATTACH_cuMemGetHandleForAddressRange, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemGetInfo[] = {{ATTACH_OUT, 0, sizeof(unsigned int)}, {ATTACH_OUT, 0, sizeof(unsigned int)}};
CUresult cuMemGetInfo(unsigned int *a0, unsigned int *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(unsigned int *, unsigned int *) = (CUresult (*)(unsigned int *, unsigned int *))attach_enter(&call, ATTACH_cuMemGetInfo, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemGetInfo_v2[] = {{ATTACH_OUT, 0, sizeof(size_t)}, {ATTACH_OUT, 0, sizeof(size_t)}};
CUresult cuMemGetInfo_v2(size_t *a0, size_t *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(size_t *, size_t *) = (CUresult (*)(size_t *, size_t *))attach_enter(&call, ATTACH_cuMemGetInfo_v2, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemGetMemPool[] = {{ATTACH_OUT, 0, sizeof(CUmemoryPool)}, {ATTACH_STRUCT, 0, sizeof(CUmemLocation)}, {ATTACH_WORD, 0, 0}};
CUresult cuMemGetMemPool(CUmemoryPool *a0, CUmemLocation *a1, CUmemAllocationType a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUmemoryPool *, CUmemLocation *, CUmemAllocationType) = (CUresult (*)(CUmemoryPool *, CUmemLocation *, CUmemAllocationType))attach_enter(&call, ATTACH_cuMemGetMemPool, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemHostAlloc[] = {{ATTACH_OUT, 0, sizeof(void *)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemHostAlloc(void **a0, size_t a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(void **, size_t, unsigned int) = (CUresult (*)(void **, size_t, unsigned int))attach_enter(&call, ATTACH_cuMemHostAlloc, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemHostGetDevicePointer[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr_v1)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemHostGetDevicePointer(CUdeviceptr_v1 *a0, void *a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr_v1 *, void *, unsigned int) = (CUresult (*)(CUdeviceptr_v1 *, void *, unsigned int))attach_enter(&call, ATTACH_cuMemHostGetDevicePointer, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemHostGetDevicePointer_v2[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *a0, void *a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, void *, unsigned int) = (CUresult (*)(CUdeviceptr *, void *, unsigned int))attach_enter(&call, ATTACH_cuMemHostGetDevicePointer_v2, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemHostGetFlags[] = {{ATTACH_OUT, 0, sizeof(unsigned int)}, {ATTACH_WORD, 0, 0}};
CUresult cuMemHostGetFlags(unsigned int *a0, void *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(unsigned int *, void *) = (CUresult (*)(unsigned int *, void *))attach_enter(&call, ATTACH_cuMemHostGetFlags, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemHostRegister[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemHostRegister(void *a0, size_t a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(void *, size_t, unsigned int) = (CUresult (*)(void *, size_t, unsigned int))attach_enter(&call, ATTACH_cuMemHostRegister, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemHostRegister_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemHostRegister_v2(void *a0, size_t a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(void *, size_t, unsigned int) = (CUresult (*)(void *, size_t, unsigned int))attach_enter(&call, ATTACH_cuMemHostRegister_v2, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemHostUnregister[] = {{ATTACH_WORD, 0, 0}};
CUresult cuMemHostUnregister(void *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(void *) = (CUresult (*)(void *))attach_enter(&call, ATTACH_cuMemHostUnregister, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuMemImportFromShareableHandle[] = {{ATTACH_OUT, 0, sizeof(CUmemGenericAllocationHandle)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *a0, void *a1, CUmemAllocationHandleType a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUmemGenericAllocationHandle *, void *, CUmemAllocationHandleType) = (CUresult (*)(CUmemGenericAllocationHandle *, void *, CUmemAllocationHandleType))attach_enter(&call, ATTACH_cuMemImportFromShareableHandle, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemMap[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemMap(CUdeviceptr a0, size_t a1, size_t a2, CUmemGenericAllocationHandle a3, unsigned long long a4)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long) = (CUresult (*)(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long))attach_enter(&call, ATTACH_cuMemMap, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemMapArrayAsync[] = {{ATTACH_ARRAY, 1, sizeof(CUarrayMapInfo)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemMapArrayAsync(CUarrayMapInfo *a0, unsigned int a1, CUstream a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUarrayMapInfo *, unsigned int, CUstream) = (CUresult (*)(CUarrayMapInfo *, unsigned int, CUstream))attach_enter(&call, ATTACH_cuMemMapArrayAsync, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemMapArrayAsync_ptsz[] = {{ATTACH_ARRAY, 1, sizeof(CUarrayMapInfo)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemMapArrayAsync_ptsz(CUarrayMapInfo *a0, unsigned int a1, CUstream a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUarrayMapInfo *, unsigned int, CUstream) = (CUresult (*)(CUarrayMapInfo *, unsigned int, CUstream))attach_enter(&call, ATTACH_cuMemMapArrayAsync_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemPoolCreate[] = {{ATTACH_OUT, 0, sizeof(CUmemoryPool)}, {ATTACH_STRUCT, 0, sizeof(CUmemPoolProps)}};
CUresult cuMemPoolCreate(CUmemoryPool *a0, const CUmemPoolProps *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUmemoryPool *, const CUmemPoolProps *) = (CUresult (*)(CUmemoryPool *, const CUmemPoolProps *))attach_enter(&call, ATTACH_cuMemPoolCreate, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemPoolDestroy[] = {{ATTACH_WORD, 0, 0}};
CUresult cuMemPoolDestroy(CUmemoryPool a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUmemoryPool) = (CUresult (*)(CUmemoryPool))attach_enter(&call, ATTACH_cuMemPoolDestroy, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuMemPoolExportPointer[] = {{ATTACH_STRUCT, 0, sizeof(CUmemPoolPtrExportData)}, {ATTACH_WORD, 0, 0}};
CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *a0, CUdeviceptr a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUmemPoolPtrExportData *, CUdeviceptr) = (CUresult (*)(CUmemPoolPtrExportData *, CUdeviceptr))attach_enter(&call, ATTACH_cuMemPoolExportPointer, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemPoolExportToShareableHandle[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemPoolExportToShareableHandle(void *a0, CUmemoryPool a1, CUmemAllocationHandleType a2, unsigned long long a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(void *, CUmemoryPool, CUmemAllocationHandleType, unsigned long long) = (CUresult (*)(void *, CUmemoryPool, CUmemAllocationHandleType, unsigned long long))attach_enter(&call, ATTACH_cuMemPoolExportToShareableHandle, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemPoolGetAccess[] = {{ATTACH_OUT, 0, sizeof(CUmemAccess_flags)}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUmemLocation)}};
CUresult cuMemPoolGetAccess(CUmemAccess_flags *a0, CUmemoryPool a1, CUmemLocation *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUmemAccess_flags *, CUmemoryPool, CUmemLocation *) = (CUresult (*)(CUmemAccess_flags *, CUmemoryPool, CUmemLocation *))attach_enter(&call, ATTACH_cuMemPoolGetAccess, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemPoolGetAttribute[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_ATTRIBUTE, 1, 0}};
CUresult cuMemPoolGetAttribute(CUmemoryPool a0, CUmemPool_attribute a1, void *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUmemoryPool, CUmemPool_attribute, void *) = (CUresult (*)(CUmemoryPool, CUmemPool_attribute, void *))attach_enter(&call, ATTACH_cuMemPoolGetAttribute, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemPoolImportFromShareableHandle[] = {{ATTACH_OUT, 0, sizeof(CUmemoryPool)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *a0, void *a1, CUmemAllocationHandleType a2, unsigned long long a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUmemoryPool *, void *, CUmemAllocationHandleType, unsigned long long) = (CUresult (*)(CUmemoryPool *, void *, CUmemAllocationHandleType, unsigned long long))attach_enter(&call, ATTACH_cuMemPoolImportFromShareableHandle, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemPoolImportPointer[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr)}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUmemPoolPtrExportData)}};
CUresult cuMemPoolImportPointer(CUdeviceptr *a0, CUmemoryPool a1, CUmemPoolPtrExportData *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, CUmemoryPool, CUmemPoolPtrExportData *) = (CUresult (*)(CUdeviceptr *, CUmemoryPool, CUmemPoolPtrExportData *))attach_enter(&call, ATTACH_cuMemPoolImportPointer, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemPoolSetAccess[] = {{ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 2, sizeof(CUmemAccessDesc)}, {ATTACH_WORD, 0, 0}};
CUresult cuMemPoolSetAccess(CUmemoryPool a0, const CUmemAccessDesc *a1, size_t a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUmemoryPool, const CUmemAccessDesc *, size_t) = (CUresult (*)(CUmemoryPool, const CUmemAccessDesc *, size_t))attach_enter(&call, ATTACH_cuMemPoolSetAccess, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemPoolSetAttribute[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_ATTRIBUTE, 1, 0}};
CUresult cuMemPoolSetAttribute(CUmemoryPool a0, CUmemPool_attribute a1, void *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUmemoryPool, CUmemPool_attribute, void *) = (CUresult (*)(CUmemoryPool, CUmemPool_attribute, void *))attach_enter(&call, ATTACH_cuMemPoolSetAttribute, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemPoolTrimTo[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemPoolTrimTo(CUmemoryPool a0, size_t a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUmemoryPool, size_t) = (CUresult (*)(CUmemoryPool, size_t))attach_enter(&call, ATTACH_cuMemPoolTrimTo, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemPrefetchAsync[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
static const int8_t order_cuMemPrefetchAsync[] = {0, 1, 2, -1, 3};
CUresult cuMemPrefetchAsync(CUdeviceptr a0, size_t a1, CUdevice a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, size_t, CUdevice, CUstream) = (CUresult (*)(CUdeviceptr, size_t, CUdevice, CUstream))attach_enter(&call, ATTACH_cuMemPrefetchAsync, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemPrefetchAsync_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
static const int8_t order_cuMemPrefetchAsync_ptsz[] = {0, 1, 2, -1, 3};
CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr a0, size_t a1, CUdevice a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, size_t, CUdevice, CUstream) = (CUresult (*)(CUdeviceptr, size_t, CUdevice, CUstream))attach_enter(&call, ATTACH_cuMemPrefetchAsync_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemPrefetchAsync_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemPrefetchAsync_v2(CUdeviceptr a0, size_t a1, CUmemLocation a2, unsigned int a3, CUstream a4)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, attach_location(a2), (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, size_t, CUmemLocation, unsigned int, CUstream) = (CUresult (*)(CUdeviceptr, size_t, CUmemLocation, unsigned int, CUstream))attach_enter(&call, ATTACH_cuMemPrefetchAsync_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemPrefetchAsync_v2_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr a0, size_t a1, CUmemLocation a2, unsigned int a3, CUstream a4)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, attach_location(a2), (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, size_t, CUmemLocation, unsigned int, CUstream) = (CUresult (*)(CUdeviceptr, size_t, CUmemLocation, unsigned int, CUstream))attach_enter(&call, ATTACH_cuMemPrefetchAsync_v2_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemPrefetchBatchAsync[] = {{ATTACH_ARRAY, 2, sizeof(CUdeviceptr)}, {ATTACH_ARRAY, 2, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 5, sizeof(CUmemLocation)}, {ATTACH_ARRAY, 5, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemPrefetchBatchAsync(CUdeviceptr *a0, size_t *a1, size_t a2, CUmemLocation *a3, size_t *a4, size_t a5, unsigned long long a6, CUstream a7)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)(uintptr_t)a4, (uint64_t)a5, (uint64_t)a6, (uint64_t)(uintptr_t)a7};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, size_t *, size_t, CUmemLocation *, size_t *, size_t, unsigned long long, CUstream) = (CUresult (*)(CUdeviceptr *, size_t *, size_t, CUmemLocation *, size_t *, size_t, unsigned long long, CUstream))attach_enter(&call, ATTACH_cuMemPrefetchBatchAsync, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5, a6, a7));
}
static const attach_argument arguments_cuMemPrefetchBatchAsync_ptsz[] = {{ATTACH_ARRAY, 2, sizeof(CUdeviceptr)}, {ATTACH_ARRAY, 2, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 5, sizeof(CUmemLocation)}, {ATTACH_ARRAY, 5, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemPrefetchBatchAsync_ptsz(CUdeviceptr *a0, size_t *a1, size_t a2, CUmemLocation *a3, size_t *a4, size_t a5, unsigned long long a6, CUstream a7)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)(uintptr_t)a4, (uint64_t)a5, (uint64_t)a6, (uint64_t)(uintptr_t)a7};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, size_t *, size_t, CUmemLocation *, size_t *, size_t, unsigned long long, CUstream) = (CUresult (*)(CUdeviceptr *, size_t *, size_t, CUmemLocation *, size_t *, size_t, unsigned long long, CUstream))attach_enter(&call, ATTACH_cuMemPrefetchBatchAsync_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5, a6, a7));
}
static const attach_argument arguments_cuMemRangeGetAttribute[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemRangeGetAttribute(void *a0, size_t a1, CUmem_range_attribute a2, CUdeviceptr a3, size_t a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(void *, size_t, CUmem_range_attribute, CUdeviceptr, size_t) = (CUresult (*)(void *, size_t, CUmem_range_attribute, CUdeviceptr, size_t))attach_enter(&call, ATTACH_cuMemRangeGetAttribute, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemRangeGetAttributes[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(size_t)}, {ATTACH_OUT, 0, sizeof(CUmem_range_attribute)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemRangeGetAttributes(void **a0, size_t *a1, CUmem_range_attribute *a2, size_t a3, CUdeviceptr a4, size_t a5)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)a4, (uint64_t)a5};
    attach_call call;
    CUresult (*const real)(void **, size_t *, CUmem_range_attribute *, size_t, CUdeviceptr, size_t) = (CUresult (*)(void **, size_t *, CUmem_range_attribute *, size_t, CUdeviceptr, size_t))attach_enter(&call, ATTACH_cuMemRangeGetAttributes, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5));
}
static const attach_argument arguments_cuMemRelease[] = {{ATTACH_WORD, 0, 0}};
CUresult cuMemRelease(CUmemGenericAllocationHandle a0)
{
    const uint64_t words[] = {(uint64_t)a0};
    attach_call call;
    CUresult (*const real)(CUmemGenericAllocationHandle) = (CUresult (*)(CUmemGenericAllocationHandle))attach_enter(&call, ATTACH_cuMemRelease, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuMemRetainAllocationHandle[] = {{ATTACH_OUT, 0, sizeof(CUmemGenericAllocationHandle)}, {ATTACH_WORD, 0, 0}};
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *a0, void *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUmemGenericAllocationHandle *, void *) = (CUresult (*)(CUmemGenericAllocationHandle *, void *))attach_enter(&call, ATTACH_cuMemRetainAllocationHandle, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemSetAccess[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 3, sizeof(CUmemAccessDesc)}, {ATTACH_WORD, 0, 0}};
CUresult cuMemSetAccess(CUdeviceptr a0, size_t a1, const CUmemAccessDesc *a2, size_t a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t) = (CUresult (*)(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t))attach_enter(&call, ATTACH_cuMemSetAccess, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemSetMemPool[] = {{ATTACH_STRUCT, 0, sizeof(CUmemLocation)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemSetMemPool(CUmemLocation *a0, CUmemAllocationType a1, CUmemoryPool a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUmemLocation *, CUmemAllocationType, CUmemoryPool) = (CUresult (*)(CUmemLocation *, CUmemAllocationType, CUmemoryPool))attach_enter(&call, ATTACH_cuMemSetMemPool, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemUnmap[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemUnmap(CUdeviceptr a0, size_t a1)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, size_t) = (CUresult (*)(CUdeviceptr, size_t))attach_enter(&call, ATTACH_cuMemUnmap, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemcpy[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpy(CUdeviceptr a0, CUdeviceptr a1, size_t a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, CUdeviceptr, size_t) = (CUresult (*)(CUdeviceptr, CUdeviceptr, size_t))attach_enter(&call, ATTACH_cuMemcpy, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemcpy2D[] = {{ATTACH_WORD, 0, 0}};
CUresult cuMemcpy2D(const CUDA_MEMCPY2D_v1 *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(const CUDA_MEMCPY2D_v1 *) = (CUresult (*)(const CUDA_MEMCPY2D_v1 *))attach_enter(&call, ATTACH_cuMemcpy2D, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuMemcpy2DAsync[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D_v1 *a0, CUstream a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(const CUDA_MEMCPY2D_v1 *, CUstream) = (CUresult (*)(const CUDA_MEMCPY2D_v1 *, CUstream))attach_enter(&call, ATTACH_cuMemcpy2DAsync, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemcpy2DAsync_v2[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_MEMCPY2D)}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *a0, CUstream a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(const CUDA_MEMCPY2D *, CUstream) = (CUresult (*)(const CUDA_MEMCPY2D *, CUstream))attach_enter(&call, ATTACH_cuMemcpy2DAsync_v2, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemcpy2DAsync_v2_ptsz[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_MEMCPY2D)}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D *a0, CUstream a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(const CUDA_MEMCPY2D *, CUstream) = (CUresult (*)(const CUDA_MEMCPY2D *, CUstream))attach_enter(&call, ATTACH_cuMemcpy2DAsync_v2_ptsz, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemcpy2DUnaligned[] = {{ATTACH_WORD, 0, 0}};
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D_v1 *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(const CUDA_MEMCPY2D_v1 *) = (CUresult (*)(const CUDA_MEMCPY2D_v1 *))attach_enter(&call, ATTACH_cuMemcpy2DUnaligned, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuMemcpy2DUnaligned_v2[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_MEMCPY2D)}};
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(const CUDA_MEMCPY2D *) = (CUresult (*)(const CUDA_MEMCPY2D *))attach_enter(&call, ATTACH_cuMemcpy2DUnaligned_v2, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuMemcpy2DUnaligned_v2_ptds[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_MEMCPY2D)}};
CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(const CUDA_MEMCPY2D *) = (CUresult (*)(const CUDA_MEMCPY2D *))attach_enter(&call, ATTACH_cuMemcpy2DUnaligned_v2_ptds, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuMemcpy2D_v2[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_MEMCPY2D)}};
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(const CUDA_MEMCPY2D *) = (CUresult (*)(const CUDA_MEMCPY2D *))attach_enter(&call, ATTACH_cuMemcpy2D_v2, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuMemcpy2D_v2_ptds[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_MEMCPY2D)}};
CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(const CUDA_MEMCPY2D *) = (CUresult (*)(const CUDA_MEMCPY2D *))attach_enter(&call, ATTACH_cuMemcpy2D_v2_ptds, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuMemcpy3D[] = {{ATTACH_WORD, 0, 0}};
CUresult cuMemcpy3D(const CUDA_MEMCPY3D_v1 *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(const CUDA_MEMCPY3D_v1 *) = (CUresult (*)(const CUDA_MEMCPY3D_v1 *))attach_enter(&call, ATTACH_cuMemcpy3D, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuMemcpy3DAsync[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D_v1 *a0, CUstream a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(const CUDA_MEMCPY3D_v1 *, CUstream) = (CUresult (*)(const CUDA_MEMCPY3D_v1 *, CUstream))attach_enter(&call, ATTACH_cuMemcpy3DAsync, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemcpy3DAsync_v2[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_MEMCPY3D)}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *a0, CUstream a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(const CUDA_MEMCPY3D *, CUstream) = (CUresult (*)(const CUDA_MEMCPY3D *, CUstream))attach_enter(&call, ATTACH_cuMemcpy3DAsync_v2, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemcpy3DAsync_v2_ptsz[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_MEMCPY3D)}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpy3DAsync_v2_ptsz(const CUDA_MEMCPY3D *a0, CUstream a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(const CUDA_MEMCPY3D *, CUstream) = (CUresult (*)(const CUDA_MEMCPY3D *, CUstream))attach_enter(&call, ATTACH_cuMemcpy3DAsync_v2_ptsz, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemcpy3DBatchAsync[] = {{ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 0, sizeof(CUDA_MEMCPY3D_BATCH_OP)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
static const int8_t order_cuMemcpy3DBatchAsync[] = {0, 1, 3, 4};
CUresult cuMemcpy3DBatchAsync(size_t a0, CUDA_MEMCPY3D_BATCH_OP *a1, size_t *a2, unsigned long long a3, CUstream a4)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(size_t, CUDA_MEMCPY3D_BATCH_OP *, size_t *, unsigned long long, CUstream) = (CUresult (*)(size_t, CUDA_MEMCPY3D_BATCH_OP *, size_t *, unsigned long long, CUstream))attach_enter(&call, ATTACH_cuMemcpy3DBatchAsync, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemcpy3DBatchAsync_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 0, sizeof(CUDA_MEMCPY3D_BATCH_OP)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
static const int8_t order_cuMemcpy3DBatchAsync_ptsz[] = {0, 1, 3, 4};
CUresult cuMemcpy3DBatchAsync_ptsz(size_t a0, CUDA_MEMCPY3D_BATCH_OP *a1, size_t *a2, unsigned long long a3, CUstream a4)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(size_t, CUDA_MEMCPY3D_BATCH_OP *, size_t *, unsigned long long, CUstream) = (CUresult (*)(size_t, CUDA_MEMCPY3D_BATCH_OP *, size_t *, unsigned long long, CUstream))attach_enter(&call, ATTACH_cuMemcpy3DBatchAsync_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemcpy3DBatchAsync_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 0, sizeof(CUDA_MEMCPY3D_BATCH_OP)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpy3DBatchAsync_v2(size_t a0, CUDA_MEMCPY3D_BATCH_OP *a1, unsigned long long a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(size_t, CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream) = (CUresult (*)(size_t, CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream))attach_enter(&call, ATTACH_cuMemcpy3DBatchAsync_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpy3DBatchAsync_v2_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 0, sizeof(CUDA_MEMCPY3D_BATCH_OP)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpy3DBatchAsync_v2_ptsz(size_t a0, CUDA_MEMCPY3D_BATCH_OP *a1, unsigned long long a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(size_t, CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream) = (CUresult (*)(size_t, CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream))attach_enter(&call, ATTACH_cuMemcpy3DBatchAsync_v2_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpy3DPeer[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_MEMCPY3D_PEER)}};
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(const CUDA_MEMCPY3D_PEER *) = (CUresult (*)(const CUDA_MEMCPY3D_PEER *))attach_enter(&call, ATTACH_cuMemcpy3DPeer, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuMemcpy3DPeerAsync[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_MEMCPY3D_PEER)}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *a0, CUstream a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(const CUDA_MEMCPY3D_PEER *, CUstream) = (CUresult (*)(const CUDA_MEMCPY3D_PEER *, CUstream))attach_enter(&call, ATTACH_cuMemcpy3DPeerAsync, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemcpy3DPeerAsync_ptsz[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_MEMCPY3D_PEER)}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpy3DPeerAsync_ptsz(const CUDA_MEMCPY3D_PEER *a0, CUstream a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(const CUDA_MEMCPY3D_PEER *, CUstream) = (CUresult (*)(const CUDA_MEMCPY3D_PEER *, CUstream))attach_enter(&call, ATTACH_cuMemcpy3DPeerAsync_ptsz, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMemcpy3DPeer_ptds[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_MEMCPY3D_PEER)}};
CUresult cuMemcpy3DPeer_ptds(const CUDA_MEMCPY3D_PEER *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(const CUDA_MEMCPY3D_PEER *) = (CUresult (*)(const CUDA_MEMCPY3D_PEER *))attach_enter(&call, ATTACH_cuMemcpy3DPeer_ptds, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuMemcpy3D_v2[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_MEMCPY3D)}};
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(const CUDA_MEMCPY3D *) = (CUresult (*)(const CUDA_MEMCPY3D *))attach_enter(&call, ATTACH_cuMemcpy3D_v2, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuMemcpy3D_v2_ptds[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_MEMCPY3D)}};
CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(const CUDA_MEMCPY3D *) = (CUresult (*)(const CUDA_MEMCPY3D *))attach_enter(&call, ATTACH_cuMemcpy3D_v2_ptds, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuMemcpyAsync[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyAsync(CUdeviceptr a0, CUdeviceptr a1, size_t a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, CUdeviceptr, size_t, CUstream) = (CUresult (*)(CUdeviceptr, CUdeviceptr, size_t, CUstream))attach_enter(&call, ATTACH_cuMemcpyAsync, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpyAsync_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyAsync_ptsz(CUdeviceptr a0, CUdeviceptr a1, size_t a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, CUdeviceptr, size_t, CUstream) = (CUresult (*)(CUdeviceptr, CUdeviceptr, size_t, CUstream))attach_enter(&call, ATTACH_cuMemcpyAsync_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpyAtoA[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyAtoA(CUarray a0, unsigned int a1, CUarray a2, unsigned int a3, unsigned int a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUarray, unsigned int, CUarray, unsigned int, unsigned int) = (CUresult (*)(CUarray, unsigned int, CUarray, unsigned int, unsigned int))attach_enter(&call, ATTACH_cuMemcpyAtoA, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemcpyAtoA_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyAtoA_v2(CUarray a0, size_t a1, CUarray a2, size_t a3, size_t a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUarray, size_t, CUarray, size_t, size_t) = (CUresult (*)(CUarray, size_t, CUarray, size_t, size_t))attach_enter(&call, ATTACH_cuMemcpyAtoA_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemcpyAtoA_v2_ptds[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyAtoA_v2_ptds(CUarray a0, size_t a1, CUarray a2, size_t a3, size_t a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUarray, size_t, CUarray, size_t, size_t) = (CUresult (*)(CUarray, size_t, CUarray, size_t, size_t))attach_enter(&call, ATTACH_cuMemcpyAtoA_v2_ptds, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemcpyAtoD[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyAtoD(CUdeviceptr_v1 a0, CUarray a1, unsigned int a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr_v1, CUarray, unsigned int, unsigned int) = (CUresult (*)(CUdeviceptr_v1, CUarray, unsigned int, unsigned int))attach_enter(&call, ATTACH_cuMemcpyAtoD, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpyAtoD_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyAtoD_v2(CUdeviceptr a0, CUarray a1, size_t a2, size_t a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, CUarray, size_t, size_t) = (CUresult (*)(CUdeviceptr, CUarray, size_t, size_t))attach_enter(&call, ATTACH_cuMemcpyAtoD_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpyAtoD_v2_ptds[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyAtoD_v2_ptds(CUdeviceptr a0, CUarray a1, size_t a2, size_t a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, CUarray, size_t, size_t) = (CUresult (*)(CUdeviceptr, CUarray, size_t, size_t))attach_enter(&call, ATTACH_cuMemcpyAtoD_v2_ptds, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpyAtoH[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyAtoH(void *a0, CUarray a1, unsigned int a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(void *, CUarray, unsigned int, unsigned int) = (CUresult (*)(void *, CUarray, unsigned int, unsigned int))attach_enter(&call, ATTACH_cuMemcpyAtoH, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpyAtoHAsync[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyAtoHAsync(void *a0, CUarray a1, unsigned int a2, unsigned int a3, CUstream a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(void *, CUarray, unsigned int, unsigned int, CUstream) = (CUresult (*)(void *, CUarray, unsigned int, unsigned int, CUstream))attach_enter(&call, ATTACH_cuMemcpyAtoHAsync, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemcpyAtoHAsync_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyAtoHAsync_v2(void *a0, CUarray a1, size_t a2, size_t a3, CUstream a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(void *, CUarray, size_t, size_t, CUstream) = (CUresult (*)(void *, CUarray, size_t, size_t, CUstream))attach_enter(&call, ATTACH_cuMemcpyAtoHAsync_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemcpyAtoHAsync_v2_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyAtoHAsync_v2_ptsz(void *a0, CUarray a1, size_t a2, size_t a3, CUstream a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(void *, CUarray, size_t, size_t, CUstream) = (CUresult (*)(void *, CUarray, size_t, size_t, CUstream))attach_enter(&call, ATTACH_cuMemcpyAtoHAsync_v2_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemcpyAtoH_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyAtoH_v2(void *a0, CUarray a1, size_t a2, size_t a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(void *, CUarray, size_t, size_t) = (CUresult (*)(void *, CUarray, size_t, size_t))attach_enter(&call, ATTACH_cuMemcpyAtoH_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpyAtoH_v2_ptds[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyAtoH_v2_ptds(void *a0, CUarray a1, size_t a2, size_t a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(void *, CUarray, size_t, size_t) = (CUresult (*)(void *, CUarray, size_t, size_t))attach_enter(&call, ATTACH_cuMemcpyAtoH_v2_ptds, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpyBatchAsync[] = {{ATTACH_ARRAY, 3, sizeof(CUdeviceptr)}, {ATTACH_ARRAY, 3, sizeof(CUdeviceptr)}, {ATTACH_ARRAY, 3, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 6, sizeof(CUmemcpyAttributes)}, {ATTACH_ARRAY, 6, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
static const int8_t order_cuMemcpyBatchAsync[] = {0, 1, 2, 3, 4, 5, 6, 8};
CUresult cuMemcpyBatchAsync(CUdeviceptr *a0, CUdeviceptr *a1, size_t *a2, size_t a3, CUmemcpyAttributes *a4, size_t *a5, size_t a6, size_t *a7, CUstream a8)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4, (uint64_t)(uintptr_t)a5, (uint64_t)a6, (uint64_t)(uintptr_t)a7, (uint64_t)(uintptr_t)a8};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t, size_t *, CUstream) = (CUresult (*)(CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t, size_t *, CUstream))attach_enter(&call, ATTACH_cuMemcpyBatchAsync, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5, a6, a7, a8));
}
static const attach_argument arguments_cuMemcpyBatchAsync_ptsz[] = {{ATTACH_ARRAY, 3, sizeof(CUdeviceptr)}, {ATTACH_ARRAY, 3, sizeof(CUdeviceptr)}, {ATTACH_ARRAY, 3, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 6, sizeof(CUmemcpyAttributes)}, {ATTACH_ARRAY, 6, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
static const int8_t order_cuMemcpyBatchAsync_ptsz[] = {0, 1, 2, 3, 4, 5, 6, 8};
CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr *a0, CUdeviceptr *a1, size_t *a2, size_t a3, CUmemcpyAttributes *a4, size_t *a5, size_t a6, size_t *a7, CUstream a8)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4, (uint64_t)(uintptr_t)a5, (uint64_t)a6, (uint64_t)(uintptr_t)a7, (uint64_t)(uintptr_t)a8};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t, size_t *, CUstream) = (CUresult (*)(CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t, size_t *, CUstream))attach_enter(&call, ATTACH_cuMemcpyBatchAsync_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5, a6, a7, a8));
}
static const attach_argument arguments_cuMemcpyBatchAsync_v2[] = {{ATTACH_ARRAY, 3, sizeof(CUdeviceptr)}, {ATTACH_ARRAY, 3, sizeof(CUdeviceptr)}, {ATTACH_ARRAY, 3, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 6, sizeof(CUmemcpyAttributes)}, {ATTACH_ARRAY, 6, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *a0, CUdeviceptr *a1, size_t *a2, size_t a3, CUmemcpyAttributes *a4, size_t *a5, size_t a6, CUstream a7)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4, (uint64_t)(uintptr_t)a5, (uint64_t)a6, (uint64_t)(uintptr_t)a7};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t, CUstream) = (CUresult (*)(CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t, CUstream))attach_enter(&call, ATTACH_cuMemcpyBatchAsync_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5, a6, a7));
}
static const attach_argument arguments_cuMemcpyBatchAsync_v2_ptsz[] = {{ATTACH_ARRAY, 3, sizeof(CUdeviceptr)}, {ATTACH_ARRAY, 3, sizeof(CUdeviceptr)}, {ATTACH_ARRAY, 3, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 6, sizeof(CUmemcpyAttributes)}, {ATTACH_ARRAY, 6, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr *a0, CUdeviceptr *a1, size_t *a2, size_t a3, CUmemcpyAttributes *a4, size_t *a5, size_t a6, CUstream a7)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4, (uint64_t)(uintptr_t)a5, (uint64_t)a6, (uint64_t)(uintptr_t)a7};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t, CUstream) = (CUresult (*)(CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t, CUstream))attach_enter(&call, ATTACH_cuMemcpyBatchAsync_v2_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5, a6, a7));
}
static const attach_argument arguments_cuMemcpyDtoA[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyDtoA(CUarray a0, unsigned int a1, CUdeviceptr_v1 a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUarray, unsigned int, CUdeviceptr_v1, unsigned int) = (CUresult (*)(CUarray, unsigned int, CUdeviceptr_v1, unsigned int))attach_enter(&call, ATTACH_cuMemcpyDtoA, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpyDtoA_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyDtoA_v2(CUarray a0, size_t a1, CUdeviceptr a2, size_t a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUarray, size_t, CUdeviceptr, size_t) = (CUresult (*)(CUarray, size_t, CUdeviceptr, size_t))attach_enter(&call, ATTACH_cuMemcpyDtoA_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpyDtoA_v2_ptds[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyDtoA_v2_ptds(CUarray a0, size_t a1, CUdeviceptr a2, size_t a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUarray, size_t, CUdeviceptr, size_t) = (CUresult (*)(CUarray, size_t, CUdeviceptr, size_t))attach_enter(&call, ATTACH_cuMemcpyDtoA_v2_ptds, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpyDtoD[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyDtoD(CUdeviceptr_v1 a0, CUdeviceptr_v1 a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr_v1, CUdeviceptr_v1, unsigned int) = (CUresult (*)(CUdeviceptr_v1, CUdeviceptr_v1, unsigned int))attach_enter(&call, ATTACH_cuMemcpyDtoD, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemcpyDtoDAsync[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyDtoDAsync(CUdeviceptr_v1 a0, CUdeviceptr_v1 a1, unsigned int a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr_v1, CUdeviceptr_v1, unsigned int, CUstream) = (CUresult (*)(CUdeviceptr_v1, CUdeviceptr_v1, unsigned int, CUstream))attach_enter(&call, ATTACH_cuMemcpyDtoDAsync, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpyDtoDAsync_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr a0, CUdeviceptr a1, size_t a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, CUdeviceptr, size_t, CUstream) = (CUresult (*)(CUdeviceptr, CUdeviceptr, size_t, CUstream))attach_enter(&call, ATTACH_cuMemcpyDtoDAsync_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpyDtoDAsync_v2_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr a0, CUdeviceptr a1, size_t a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, CUdeviceptr, size_t, CUstream) = (CUresult (*)(CUdeviceptr, CUdeviceptr, size_t, CUstream))attach_enter(&call, ATTACH_cuMemcpyDtoDAsync_v2_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpyDtoD_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyDtoD_v2(CUdeviceptr a0, CUdeviceptr a1, size_t a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, CUdeviceptr, size_t) = (CUresult (*)(CUdeviceptr, CUdeviceptr, size_t))attach_enter(&call, ATTACH_cuMemcpyDtoD_v2, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemcpyDtoD_v2_ptds[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr a0, CUdeviceptr a1, size_t a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, CUdeviceptr, size_t) = (CUresult (*)(CUdeviceptr, CUdeviceptr, size_t))attach_enter(&call, ATTACH_cuMemcpyDtoD_v2_ptds, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemcpyDtoH[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyDtoH(void *a0, CUdeviceptr_v1 a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(void *, CUdeviceptr_v1, unsigned int) = (CUresult (*)(void *, CUdeviceptr_v1, unsigned int))attach_enter(&call, ATTACH_cuMemcpyDtoH, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemcpyDtoHAsync[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyDtoHAsync(void *a0, CUdeviceptr_v1 a1, unsigned int a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(void *, CUdeviceptr_v1, unsigned int, CUstream) = (CUresult (*)(void *, CUdeviceptr_v1, unsigned int, CUstream))attach_enter(&call, ATTACH_cuMemcpyDtoHAsync, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpyDtoHAsync_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyDtoHAsync_v2(void *a0, CUdeviceptr a1, size_t a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(void *, CUdeviceptr, size_t, CUstream) = (CUresult (*)(void *, CUdeviceptr, size_t, CUstream))attach_enter(&call, ATTACH_cuMemcpyDtoHAsync_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpyDtoHAsync_v2_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyDtoHAsync_v2_ptsz(void *a0, CUdeviceptr a1, size_t a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(void *, CUdeviceptr, size_t, CUstream) = (CUresult (*)(void *, CUdeviceptr, size_t, CUstream))attach_enter(&call, ATTACH_cuMemcpyDtoHAsync_v2_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpyDtoH_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyDtoH_v2(void *a0, CUdeviceptr a1, size_t a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(void *, CUdeviceptr, size_t) = (CUresult (*)(void *, CUdeviceptr, size_t))attach_enter(&call, ATTACH_cuMemcpyDtoH_v2, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemcpyDtoH_v2_ptds[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyDtoH_v2_ptds(void *a0, CUdeviceptr a1, size_t a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(void *, CUdeviceptr, size_t) = (CUresult (*)(void *, CUdeviceptr, size_t))attach_enter(&call, ATTACH_cuMemcpyDtoH_v2_ptds, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemcpyHtoA[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyHtoA(CUarray a0, unsigned int a1, const void *a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUarray, unsigned int, const void *, unsigned int) = (CUresult (*)(CUarray, unsigned int, const void *, unsigned int))attach_enter(&call, ATTACH_cuMemcpyHtoA, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpyHtoAAsync[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyHtoAAsync(CUarray a0, unsigned int a1, const void *a2, unsigned int a3, CUstream a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(CUarray, unsigned int, const void *, unsigned int, CUstream) = (CUresult (*)(CUarray, unsigned int, const void *, unsigned int, CUstream))attach_enter(&call, ATTACH_cuMemcpyHtoAAsync, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemcpyHtoAAsync_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyHtoAAsync_v2(CUarray a0, size_t a1, const void *a2, size_t a3, CUstream a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(CUarray, size_t, const void *, size_t, CUstream) = (CUresult (*)(CUarray, size_t, const void *, size_t, CUstream))attach_enter(&call, ATTACH_cuMemcpyHtoAAsync_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemcpyHtoAAsync_v2_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyHtoAAsync_v2_ptsz(CUarray a0, size_t a1, const void *a2, size_t a3, CUstream a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(CUarray, size_t, const void *, size_t, CUstream) = (CUresult (*)(CUarray, size_t, const void *, size_t, CUstream))attach_enter(&call, ATTACH_cuMemcpyHtoAAsync_v2_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemcpyHtoA_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyHtoA_v2(CUarray a0, size_t a1, const void *a2, size_t a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUarray, size_t, const void *, size_t) = (CUresult (*)(CUarray, size_t, const void *, size_t))attach_enter(&call, ATTACH_cuMemcpyHtoA_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpyHtoA_v2_ptds[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyHtoA_v2_ptds(CUarray a0, size_t a1, const void *a2, size_t a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUarray, size_t, const void *, size_t) = (CUresult (*)(CUarray, size_t, const void *, size_t))attach_enter(&call, ATTACH_cuMemcpyHtoA_v2_ptds, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpyHtoD[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyHtoD(CUdeviceptr_v1 a0, const void *a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr_v1, const void *, unsigned int) = (CUresult (*)(CUdeviceptr_v1, const void *, unsigned int))attach_enter(&call, ATTACH_cuMemcpyHtoD, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemcpyHtoDAsync[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyHtoDAsync(CUdeviceptr_v1 a0, const void *a1, unsigned int a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr_v1, const void *, unsigned int, CUstream) = (CUresult (*)(CUdeviceptr_v1, const void *, unsigned int, CUstream))attach_enter(&call, ATTACH_cuMemcpyHtoDAsync, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpyHtoDAsync_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr a0, const void *a1, size_t a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, const void *, size_t, CUstream) = (CUresult (*)(CUdeviceptr, const void *, size_t, CUstream))attach_enter(&call, ATTACH_cuMemcpyHtoDAsync_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpyHtoDAsync_v2_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr a0, const void *a1, size_t a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, const void *, size_t, CUstream) = (CUresult (*)(CUdeviceptr, const void *, size_t, CUstream))attach_enter(&call, ATTACH_cuMemcpyHtoDAsync_v2_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemcpyHtoD_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyHtoD_v2(CUdeviceptr a0, const void *a1, size_t a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, const void *, size_t) = (CUresult (*)(CUdeviceptr, const void *, size_t))attach_enter(&call, ATTACH_cuMemcpyHtoD_v2, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemcpyHtoD_v2_ptds[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr a0, const void *a1, size_t a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, const void *, size_t) = (CUresult (*)(CUdeviceptr, const void *, size_t))attach_enter(&call, ATTACH_cuMemcpyHtoD_v2_ptds, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemcpyPeer[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyPeer(CUdeviceptr a0, CUcontext a1, CUdeviceptr a2, CUcontext a3, size_t a4)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t) = (CUresult (*)(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t))attach_enter(&call, ATTACH_cuMemcpyPeer, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemcpyPeerAsync[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyPeerAsync(CUdeviceptr a0, CUcontext a1, CUdeviceptr a2, CUcontext a3, size_t a4, CUstream a5)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)a4, (uint64_t)(uintptr_t)a5};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream) = (CUresult (*)(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream))attach_enter(&call, ATTACH_cuMemcpyPeerAsync, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5));
}
static const attach_argument arguments_cuMemcpyPeerAsync_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr a0, CUcontext a1, CUdeviceptr a2, CUcontext a3, size_t a4, CUstream a5)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)a4, (uint64_t)(uintptr_t)a5};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream) = (CUresult (*)(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream))attach_enter(&call, ATTACH_cuMemcpyPeerAsync_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5));
}
static const attach_argument arguments_cuMemcpyPeer_ptds[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpyPeer_ptds(CUdeviceptr a0, CUcontext a1, CUdeviceptr a2, CUcontext a3, size_t a4)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t) = (CUresult (*)(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t))attach_enter(&call, ATTACH_cuMemcpyPeer_ptds, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemcpy_ptds[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemcpy_ptds(CUdeviceptr a0, CUdeviceptr a1, size_t a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, CUdeviceptr, size_t) = (CUresult (*)(CUdeviceptr, CUdeviceptr, size_t))attach_enter(&call, ATTACH_cuMemcpy_ptds, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemsetD16[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD16(CUdeviceptr_v1 a0, unsigned short a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr_v1, unsigned short, unsigned int) = (CUresult (*)(CUdeviceptr_v1, unsigned short, unsigned int))attach_enter(&call, ATTACH_cuMemsetD16, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemsetD16Async[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD16Async(CUdeviceptr a0, unsigned short a1, size_t a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, unsigned short, size_t, CUstream) = (CUresult (*)(CUdeviceptr, unsigned short, size_t, CUstream))attach_enter(&call, ATTACH_cuMemsetD16Async, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemsetD16Async_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD16Async_ptsz(CUdeviceptr a0, unsigned short a1, size_t a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, unsigned short, size_t, CUstream) = (CUresult (*)(CUdeviceptr, unsigned short, size_t, CUstream))attach_enter(&call, ATTACH_cuMemsetD16Async_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemsetD16_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD16_v2(CUdeviceptr a0, unsigned short a1, size_t a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, unsigned short, size_t) = (CUresult (*)(CUdeviceptr, unsigned short, size_t))attach_enter(&call, ATTACH_cuMemsetD16_v2, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemsetD16_v2_ptds[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD16_v2_ptds(CUdeviceptr a0, unsigned short a1, size_t a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, unsigned short, size_t) = (CUresult (*)(CUdeviceptr, unsigned short, size_t))attach_enter(&call, ATTACH_cuMemsetD16_v2_ptds, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemsetD2D16[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD2D16(CUdeviceptr_v1 a0, unsigned int a1, unsigned short a2, unsigned int a3, unsigned int a4)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUdeviceptr_v1, unsigned int, unsigned short, unsigned int, unsigned int) = (CUresult (*)(CUdeviceptr_v1, unsigned int, unsigned short, unsigned int, unsigned int))attach_enter(&call, ATTACH_cuMemsetD2D16, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemsetD2D16Async[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD2D16Async(CUdeviceptr a0, size_t a1, unsigned short a2, size_t a3, size_t a4, CUstream a5)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4, (uint64_t)(uintptr_t)a5};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, size_t, unsigned short, size_t, size_t, CUstream) = (CUresult (*)(CUdeviceptr, size_t, unsigned short, size_t, size_t, CUstream))attach_enter(&call, ATTACH_cuMemsetD2D16Async, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5));
}
static const attach_argument arguments_cuMemsetD2D16Async_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD2D16Async_ptsz(CUdeviceptr a0, size_t a1, unsigned short a2, size_t a3, size_t a4, CUstream a5)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4, (uint64_t)(uintptr_t)a5};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, size_t, unsigned short, size_t, size_t, CUstream) = (CUresult (*)(CUdeviceptr, size_t, unsigned short, size_t, size_t, CUstream))attach_enter(&call, ATTACH_cuMemsetD2D16Async_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5));
}
static const attach_argument arguments_cuMemsetD2D16_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD2D16_v2(CUdeviceptr a0, size_t a1, unsigned short a2, size_t a3, size_t a4)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, size_t, unsigned short, size_t, size_t) = (CUresult (*)(CUdeviceptr, size_t, unsigned short, size_t, size_t))attach_enter(&call, ATTACH_cuMemsetD2D16_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemsetD2D16_v2_ptds[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD2D16_v2_ptds(CUdeviceptr a0, size_t a1, unsigned short a2, size_t a3, size_t a4)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, size_t, unsigned short, size_t, size_t) = (CUresult (*)(CUdeviceptr, size_t, unsigned short, size_t, size_t))attach_enter(&call, ATTACH_cuMemsetD2D16_v2_ptds, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemsetD2D32[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD2D32(CUdeviceptr_v1 a0, unsigned int a1, unsigned int a2, unsigned int a3, unsigned int a4)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUdeviceptr_v1, unsigned int, unsigned int, unsigned int, unsigned int) = (CUresult (*)(CUdeviceptr_v1, unsigned int, unsigned int, unsigned int, unsigned int))attach_enter(&call, ATTACH_cuMemsetD2D32, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemsetD2D32Async[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD2D32Async(CUdeviceptr a0, size_t a1, unsigned int a2, size_t a3, size_t a4, CUstream a5)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4, (uint64_t)(uintptr_t)a5};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, size_t, unsigned int, size_t, size_t, CUstream) = (CUresult (*)(CUdeviceptr, size_t, unsigned int, size_t, size_t, CUstream))attach_enter(&call, ATTACH_cuMemsetD2D32Async, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5));
}
static const attach_argument arguments_cuMemsetD2D32Async_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD2D32Async_ptsz(CUdeviceptr a0, size_t a1, unsigned int a2, size_t a3, size_t a4, CUstream a5)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4, (uint64_t)(uintptr_t)a5};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, size_t, unsigned int, size_t, size_t, CUstream) = (CUresult (*)(CUdeviceptr, size_t, unsigned int, size_t, size_t, CUstream))attach_enter(&call, ATTACH_cuMemsetD2D32Async_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5));
}
static const attach_argument arguments_cuMemsetD2D32_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD2D32_v2(CUdeviceptr a0, size_t a1, unsigned int a2, size_t a3, size_t a4)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, size_t, unsigned int, size_t, size_t) = (CUresult (*)(CUdeviceptr, size_t, unsigned int, size_t, size_t))attach_enter(&call, ATTACH_cuMemsetD2D32_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemsetD2D32_v2_ptds[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD2D32_v2_ptds(CUdeviceptr a0, size_t a1, unsigned int a2, size_t a3, size_t a4)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, size_t, unsigned int, size_t, size_t) = (CUresult (*)(CUdeviceptr, size_t, unsigned int, size_t, size_t))attach_enter(&call, ATTACH_cuMemsetD2D32_v2_ptds, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemsetD2D8[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD2D8(CUdeviceptr_v1 a0, unsigned int a1, unsigned char a2, unsigned int a3, unsigned int a4)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUdeviceptr_v1, unsigned int, unsigned char, unsigned int, unsigned int) = (CUresult (*)(CUdeviceptr_v1, unsigned int, unsigned char, unsigned int, unsigned int))attach_enter(&call, ATTACH_cuMemsetD2D8, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemsetD2D8Async[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD2D8Async(CUdeviceptr a0, size_t a1, unsigned char a2, size_t a3, size_t a4, CUstream a5)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4, (uint64_t)(uintptr_t)a5};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, size_t, unsigned char, size_t, size_t, CUstream) = (CUresult (*)(CUdeviceptr, size_t, unsigned char, size_t, size_t, CUstream))attach_enter(&call, ATTACH_cuMemsetD2D8Async, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5));
}
static const attach_argument arguments_cuMemsetD2D8Async_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD2D8Async_ptsz(CUdeviceptr a0, size_t a1, unsigned char a2, size_t a3, size_t a4, CUstream a5)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4, (uint64_t)(uintptr_t)a5};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, size_t, unsigned char, size_t, size_t, CUstream) = (CUresult (*)(CUdeviceptr, size_t, unsigned char, size_t, size_t, CUstream))attach_enter(&call, ATTACH_cuMemsetD2D8Async_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5));
}
static const attach_argument arguments_cuMemsetD2D8_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD2D8_v2(CUdeviceptr a0, size_t a1, unsigned char a2, size_t a3, size_t a4)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, size_t, unsigned char, size_t, size_t) = (CUresult (*)(CUdeviceptr, size_t, unsigned char, size_t, size_t))attach_enter(&call, ATTACH_cuMemsetD2D8_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemsetD2D8_v2_ptds[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD2D8_v2_ptds(CUdeviceptr a0, size_t a1, unsigned char a2, size_t a3, size_t a4)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, size_t, unsigned char, size_t, size_t) = (CUresult (*)(CUdeviceptr, size_t, unsigned char, size_t, size_t))attach_enter(&call, ATTACH_cuMemsetD2D8_v2_ptds, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMemsetD32[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD32(CUdeviceptr_v1 a0, unsigned int a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr_v1, unsigned int, unsigned int) = (CUresult (*)(CUdeviceptr_v1, unsigned int, unsigned int))attach_enter(&call, ATTACH_cuMemsetD32, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemsetD32Async[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD32Async(CUdeviceptr a0, unsigned int a1, size_t a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, unsigned int, size_t, CUstream) = (CUresult (*)(CUdeviceptr, unsigned int, size_t, CUstream))attach_enter(&call, ATTACH_cuMemsetD32Async, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemsetD32Async_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD32Async_ptsz(CUdeviceptr a0, unsigned int a1, size_t a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, unsigned int, size_t, CUstream) = (CUresult (*)(CUdeviceptr, unsigned int, size_t, CUstream))attach_enter(&call, ATTACH_cuMemsetD32Async_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemsetD32_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD32_v2(CUdeviceptr a0, unsigned int a1, size_t a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, unsigned int, size_t) = (CUresult (*)(CUdeviceptr, unsigned int, size_t))attach_enter(&call, ATTACH_cuMemsetD32_v2, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemsetD32_v2_ptds[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD32_v2_ptds(CUdeviceptr a0, unsigned int a1, size_t a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, unsigned int, size_t) = (CUresult (*)(CUdeviceptr, unsigned int, size_t))attach_enter(&call, ATTACH_cuMemsetD32_v2_ptds, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemsetD8[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD8(CUdeviceptr_v1 a0, unsigned char a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr_v1, unsigned char, unsigned int) = (CUresult (*)(CUdeviceptr_v1, unsigned char, unsigned int))attach_enter(&call, ATTACH_cuMemsetD8, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemsetD8Async[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD8Async(CUdeviceptr a0, unsigned char a1, size_t a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, unsigned char, size_t, CUstream) = (CUresult (*)(CUdeviceptr, unsigned char, size_t, CUstream))attach_enter(&call, ATTACH_cuMemsetD8Async, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemsetD8Async_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD8Async_ptsz(CUdeviceptr a0, unsigned char a1, size_t a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, unsigned char, size_t, CUstream) = (CUresult (*)(CUdeviceptr, unsigned char, size_t, CUstream))attach_enter(&call, ATTACH_cuMemsetD8Async_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuMemsetD8_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD8_v2(CUdeviceptr a0, unsigned char a1, size_t a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, unsigned char, size_t) = (CUresult (*)(CUdeviceptr, unsigned char, size_t))attach_enter(&call, ATTACH_cuMemsetD8_v2, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMemsetD8_v2_ptds[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMemsetD8_v2_ptds(CUdeviceptr a0, unsigned char a1, size_t a2)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUdeviceptr, unsigned char, size_t) = (CUresult (*)(CUdeviceptr, unsigned char, size_t))attach_enter(&call, ATTACH_cuMemsetD8_v2_ptds, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMipmappedArrayCreate[] = {{ATTACH_OUT, 0, sizeof(CUmipmappedArray)}, {ATTACH_STRUCT, 0, sizeof(CUDA_ARRAY3D_DESCRIPTOR)}, {ATTACH_WORD, 0, 0}};
CUresult cuMipmappedArrayCreate(CUmipmappedArray *a0, const CUDA_ARRAY3D_DESCRIPTOR *a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUmipmappedArray *, const CUDA_ARRAY3D_DESCRIPTOR *, unsigned int) = (CUresult (*)(CUmipmappedArray *, const CUDA_ARRAY3D_DESCRIPTOR *, unsigned int))attach_enter(&call, ATTACH_cuMipmappedArrayCreate, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMipmappedArrayDestroy[] = {{ATTACH_WORD, 0, 0}};
CUresult cuMipmappedArrayDestroy(CUmipmappedArray a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUmipmappedArray) = (CUresult (*)(CUmipmappedArray))attach_enter(&call, ATTACH_cuMipmappedArrayDestroy, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuMipmappedArrayGetLevel[] = {{ATTACH_OUT, 0, sizeof(CUarray)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMipmappedArrayGetLevel(CUarray *a0, CUmipmappedArray a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUarray *, CUmipmappedArray, unsigned int) = (CUresult (*)(CUarray *, CUmipmappedArray, unsigned int))attach_enter(&call, ATTACH_cuMipmappedArrayGetLevel, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMipmappedArrayGetMemoryRequirements[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_ARRAY_MEMORY_REQUIREMENTS)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *a0, CUmipmappedArray a1, CUdevice a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUDA_ARRAY_MEMORY_REQUIREMENTS *, CUmipmappedArray, CUdevice) = (CUresult (*)(CUDA_ARRAY_MEMORY_REQUIREMENTS *, CUmipmappedArray, CUdevice))attach_enter(&call, ATTACH_cuMipmappedArrayGetMemoryRequirements, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMipmappedArrayGetSparseProperties[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_ARRAY_SPARSE_PROPERTIES)}, {ATTACH_WORD, 0, 0}};
CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *a0, CUmipmappedArray a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUDA_ARRAY_SPARSE_PROPERTIES *, CUmipmappedArray) = (CUresult (*)(CUDA_ARRAY_SPARSE_PROPERTIES *, CUmipmappedArray))attach_enter(&call, ATTACH_cuMipmappedArrayGetSparseProperties, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuModuleEnumerateFunctions[] = {{ATTACH_ARRAY, 1, sizeof(CUfunction)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuModuleEnumerateFunctions(CUfunction *a0, unsigned int a1, CUmodule a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUfunction *, unsigned int, CUmodule) = (CUresult (*)(CUfunction *, unsigned int, CUmodule))attach_enter(&call, ATTACH_cuModuleEnumerateFunctions, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuModuleGetFunction[] = {{ATTACH_OUT, 0, sizeof(CUfunction)}, {ATTACH_WORD, 0, 0}, {ATTACH_TEXT, 0, 0}};
CUresult cuModuleGetFunction(CUfunction *a0, CUmodule a1, const char *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUfunction *, CUmodule, const char *) = (CUresult (*)(CUfunction *, CUmodule, const char *))attach_enter(&call, ATTACH_cuModuleGetFunction, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuModuleGetFunctionCount[] = {{ATTACH_OUT, 0, sizeof(unsigned int)}, {ATTACH_WORD, 0, 0}};
CUresult cuModuleGetFunctionCount(unsigned int *a0, CUmodule a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(unsigned int *, CUmodule) = (CUresult (*)(unsigned int *, CUmodule))attach_enter(&call, ATTACH_cuModuleGetFunctionCount, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuModuleGetGlobal[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr_v1)}, {ATTACH_OUT, 0, sizeof(unsigned int)}, {ATTACH_WORD, 0, 0}, {ATTACH_TEXT, 0, 0}};
CUresult cuModuleGetGlobal(CUdeviceptr_v1 *a0, unsigned int *a1, CUmodule a2, const char *a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr_v1 *, unsigned int *, CUmodule, const char *) = (CUresult (*)(CUdeviceptr_v1 *, unsigned int *, CUmodule, const char *))attach_enter(&call, ATTACH_cuModuleGetGlobal, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuModuleGetGlobal_v2[] = {{ATTACH_OUT, 0, sizeof(CUdeviceptr)}, {ATTACH_OUT, 0, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_TEXT, 0, 0}};
CUresult cuModuleGetGlobal_v2(CUdeviceptr *a0, size_t *a1, CUmodule a2, const char *a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, size_t *, CUmodule, const char *) = (CUresult (*)(CUdeviceptr *, size_t *, CUmodule, const char *))attach_enter(&call, ATTACH_cuModuleGetGlobal_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuModuleGetLoadingMode[] = {{ATTACH_OUT, 0, sizeof(CUmoduleLoadingMode)}};
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUmoduleLoadingMode *) = (CUresult (*)(CUmoduleLoadingMode *))attach_enter(&call, ATTACH_cuModuleGetLoadingMode, words);
    return attach_leave(&call, real(a0));
}
CUresult cuModuleGetSurfRef(CUsurfref *a0, CUmodule a1, const char *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUsurfref *, CUmodule, const char *) = (CUresult (*)(CUsurfref *, CUmodule, const char *))attach_enter(&call, ATTACH_cuModuleGetSurfRef, words);
    return attach_leave(&call, real(a0, a1, a2));
}
CUresult cuModuleGetTexRef(CUtexref *a0, CUmodule a1, const char *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUtexref *, CUmodule, const char *) = (CUresult (*)(CUtexref *, CUmodule, const char *))attach_enter(&call, ATTACH_cuModuleGetTexRef, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuModuleLoad[] = {{ATTACH_OUT, 0, sizeof(CUmodule)}, {ATTACH_TEXT, 0, 0}};
CUresult cuModuleLoad(CUmodule *a0, const char *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUmodule *, const char *) = (CUresult (*)(CUmodule *, const char *))attach_enter(&call, ATTACH_cuModuleLoad, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuModuleLoadData[] = {{ATTACH_OUT, 0, sizeof(CUmodule)}, {ATTACH_WORD, 0, 0}};
CUresult cuModuleLoadData(CUmodule *a0, const void *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUmodule *, const void *) = (CUresult (*)(CUmodule *, const void *))attach_enter(&call, ATTACH_cuModuleLoadData, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuModuleLoadDataEx[] = {{ATTACH_OUT, 0, sizeof(CUmodule)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuModuleLoadDataEx(CUmodule *a0, const void *a1, unsigned int a2, CUjit_option *a3, void **a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)(uintptr_t)a4};
    attach_call call;
    CUresult (*const real)(CUmodule *, const void *, unsigned int, CUjit_option *, void **) = (CUresult (*)(CUmodule *, const void *, unsigned int, CUjit_option *, void **))attach_enter(&call, ATTACH_cuModuleLoadDataEx, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuModuleLoadFatBinary[] = {{ATTACH_OUT, 0, sizeof(CUmodule)}, {ATTACH_WORD, 0, 0}};
CUresult cuModuleLoadFatBinary(CUmodule *a0, const void *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUmodule *, const void *) = (CUresult (*)(CUmodule *, const void *))attach_enter(&call, ATTACH_cuModuleLoadFatBinary, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuModuleUnload[] = {{ATTACH_WORD, 0, 0}};
CUresult cuModuleUnload(CUmodule a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUmodule) = (CUresult (*)(CUmodule))attach_enter(&call, ATTACH_cuModuleUnload, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuMulticastAddDevice[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle a0, CUdevice a1)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUmemGenericAllocationHandle, CUdevice) = (CUresult (*)(CUmemGenericAllocationHandle, CUdevice))attach_enter(&call, ATTACH_cuMulticastAddDevice, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMulticastBindAddr[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle a0, size_t a1, CUdeviceptr a2, size_t a3, unsigned long long a4)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUmemGenericAllocationHandle, size_t, CUdeviceptr, size_t, unsigned long long) = (CUresult (*)(CUmemGenericAllocationHandle, size_t, CUdeviceptr, size_t, unsigned long long))attach_enter(&call, ATTACH_cuMulticastBindAddr, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuMulticastBindMem[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMulticastBindMem(CUmemGenericAllocationHandle a0, size_t a1, CUmemGenericAllocationHandle a2, size_t a3, size_t a4, unsigned long long a5)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4, (uint64_t)a5};
    attach_call call;
    CUresult (*const real)(CUmemGenericAllocationHandle, size_t, CUmemGenericAllocationHandle, size_t, size_t, unsigned long long) = (CUresult (*)(CUmemGenericAllocationHandle, size_t, CUmemGenericAllocationHandle, size_t, size_t, unsigned long long))attach_enter(&call, ATTACH_cuMulticastBindMem, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5));
}
static const attach_argument arguments_cuMulticastCreate[] = {{ATTACH_OUT, 0, sizeof(CUmemGenericAllocationHandle)}, {ATTACH_STRUCT, 0, sizeof(CUmulticastObjectProp)}};
CUresult cuMulticastCreate(CUmemGenericAllocationHandle *a0, const CUmulticastObjectProp *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUmemGenericAllocationHandle *, const CUmulticastObjectProp *) = (CUresult (*)(CUmemGenericAllocationHandle *, const CUmulticastObjectProp *))attach_enter(&call, ATTACH_cuMulticastCreate, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuMulticastGetGranularity[] = {{ATTACH_OUT, 0, sizeof(size_t)}, {ATTACH_STRUCT, 0, sizeof(CUmulticastObjectProp)}, {ATTACH_WORD, 0, 0}};
CUresult cuMulticastGetGranularity(size_t *a0, const CUmulticastObjectProp *a1, CUmulticastGranularity_flags a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(size_t *, const CUmulticastObjectProp *, CUmulticastGranularity_flags) = (CUresult (*)(size_t *, const CUmulticastObjectProp *, CUmulticastGranularity_flags))attach_enter(&call, ATTACH_cuMulticastGetGranularity, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuMulticastUnbind[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuMulticastUnbind(CUmemGenericAllocationHandle a0, CUdevice a1, size_t a2, size_t a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUmemGenericAllocationHandle, CUdevice, size_t, size_t) = (CUresult (*)(CUmemGenericAllocationHandle, CUdevice, size_t, size_t))attach_enter(&call, ATTACH_cuMulticastUnbind, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuOccupancyAvailableDynamicSMemPerBlock[] = {{ATTACH_OUT, 0, sizeof(size_t)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *a0, CUfunction a1, int a2, int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(size_t *, CUfunction, int, int) = (CUresult (*)(size_t *, CUfunction, int, int))attach_enter(&call, ATTACH_cuOccupancyAvailableDynamicSMemPerBlock, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuOccupancyMaxActiveBlocksPerMultiprocessor[] = {{ATTACH_OUT, 0, sizeof(int)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *a0, CUfunction a1, int a2, size_t a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(int *, CUfunction, int, size_t) = (CUresult (*)(int *, CUfunction, int, size_t))attach_enter(&call, ATTACH_cuOccupancyMaxActiveBlocksPerMultiprocessor, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags[] = {{ATTACH_OUT, 0, sizeof(int)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *a0, CUfunction a1, int a2, size_t a3, unsigned int a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(int *, CUfunction, int, size_t, unsigned int) = (CUresult (*)(int *, CUfunction, int, size_t, unsigned int))attach_enter(&call, ATTACH_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuOccupancyMaxActiveClusters[] = {{ATTACH_OUT, 0, sizeof(int)}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUlaunchConfig)}};
CUresult cuOccupancyMaxActiveClusters(int *a0, CUfunction a1, const CUlaunchConfig *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(int *, CUfunction, const CUlaunchConfig *) = (CUresult (*)(int *, CUfunction, const CUlaunchConfig *))attach_enter(&call, ATTACH_cuOccupancyMaxActiveClusters, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuOccupancyMaxPotentialBlockSize[] = {{ATTACH_OUT, 0, sizeof(int)}, {ATTACH_OUT, 0, sizeof(int)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuOccupancyMaxPotentialBlockSize(int *a0, int *a1, CUfunction a2, CUoccupancyB2DSize a3, size_t a4, int a5)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)a4, (uint64_t)a5};
    attach_call call;
    CUresult (*const real)(int *, int *, CUfunction, CUoccupancyB2DSize, size_t, int) = (CUresult (*)(int *, int *, CUfunction, CUoccupancyB2DSize, size_t, int))attach_enter(&call, ATTACH_cuOccupancyMaxPotentialBlockSize, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5));
}
static const attach_argument arguments_cuOccupancyMaxPotentialBlockSizeWithFlags[] = {{ATTACH_OUT, 0, sizeof(int)}, {ATTACH_OUT, 0, sizeof(int)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *a0, int *a1, CUfunction a2, CUoccupancyB2DSize a3, size_t a4, int a5, unsigned int a6)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)a4, (uint64_t)a5, (uint64_t)a6};
    attach_call call;
    CUresult (*const real)(int *, int *, CUfunction, CUoccupancyB2DSize, size_t, int, unsigned int) = (CUresult (*)(int *, int *, CUfunction, CUoccupancyB2DSize, size_t, int, unsigned int))attach_enter(&call, ATTACH_cuOccupancyMaxPotentialBlockSizeWithFlags, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5, a6));
}
static const attach_argument arguments_cuOccupancyMaxPotentialClusterSize[] = {{ATTACH_OUT, 0, sizeof(int)}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUlaunchConfig)}};
CUresult cuOccupancyMaxPotentialClusterSize(int *a0, CUfunction a1, const CUlaunchConfig *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(int *, CUfunction, const CUlaunchConfig *) = (CUresult (*)(int *, CUfunction, const CUlaunchConfig *))attach_enter(&call, ATTACH_cuOccupancyMaxPotentialClusterSize, words);
    return attach_leave(&call, real(a0, a1, a2));
}
CUresult cuParamSetSize(CUfunction a0, unsigned int a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUfunction, unsigned int) = (CUresult (*)(CUfunction, unsigned int))attach_enter(&call, ATTACH_cuParamSetSize, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuParamSetTexRef(CUfunction a0, int a1, CUtexref a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUfunction, int, CUtexref) = (CUresult (*)(CUfunction, int, CUtexref))attach_enter(&call, ATTACH_cuParamSetTexRef, words);
    return attach_leave(&call, real(a0, a1, a2));
}
CUresult cuParamSetf(CUfunction a0, int a1, float a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, attach_float(a2)};
    attach_call call;
    CUresult (*const real)(CUfunction, int, float) = (CUresult (*)(CUfunction, int, float))attach_enter(&call, ATTACH_cuParamSetf, words);
    return attach_leave(&call, real(a0, a1, a2));
}
CUresult cuParamSeti(CUfunction a0, int a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUfunction, int, unsigned int) = (CUresult (*)(CUfunction, int, unsigned int))attach_enter(&call, ATTACH_cuParamSeti, words);
    return attach_leave(&call, real(a0, a1, a2));
}
CUresult cuParamSetv(CUfunction a0, int a1, void *a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUfunction, int, void *, unsigned int) = (CUresult (*)(CUfunction, int, void *, unsigned int))attach_enter(&call, ATTACH_cuParamSetv, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuPointerGetAttribute[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuPointerGetAttribute(void *a0, CUpointer_attribute a1, CUdeviceptr a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(void *, CUpointer_attribute, CUdeviceptr) = (CUresult (*)(void *, CUpointer_attribute, CUdeviceptr))attach_enter(&call, ATTACH_cuPointerGetAttribute, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuPointerGetAttributes[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUpointer_attribute)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuPointerGetAttributes(unsigned int a0, CUpointer_attribute *a1, void **a2, CUdeviceptr a3)
{
    const uint64_t words[] = {(uint64_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(unsigned int, CUpointer_attribute *, void **, CUdeviceptr) = (CUresult (*)(unsigned int, CUpointer_attribute *, void **, CUdeviceptr))attach_enter(&call, ATTACH_cuPointerGetAttributes, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuPointerSetAttribute[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuPointerSetAttribute(const void *a0, CUpointer_attribute a1, CUdeviceptr a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(const void *, CUpointer_attribute, CUdeviceptr) = (CUresult (*)(const void *, CUpointer_attribute, CUdeviceptr))attach_enter(&call, ATTACH_cuPointerSetAttribute, words);
    return attach_leave(&call, real(a0, a1, a2));
}
CUresult cuProfilerInitialize(const char *a0, const char *a1, CUoutput_mode a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(const char *, const char *, CUoutput_mode) = (CUresult (*)(const char *, const char *, CUoutput_mode))attach_enter(&call, ATTACH_cuProfilerInitialize, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuProfilerStart[] = {{ATTACH_WORD, 0, 0}};
CUresult cuProfilerStart(void)
{
    const uint64_t words[] = {0};
    attach_call call;
    CUresult (*const real)(void) = (CUresult (*)(void))attach_enter(&call, ATTACH_cuProfilerStart, words);
    return attach_leave(&call, real());
}
static const attach_argument arguments_cuProfilerStop[] = {{ATTACH_WORD, 0, 0}};
CUresult cuProfilerStop(void)
{
    const uint64_t words[] = {0};
    attach_call call;
    CUresult (*const real)(void) = (CUresult (*)(void))attach_enter(&call, ATTACH_cuProfilerStop, words);
    return attach_leave(&call, real());
}
static const attach_argument arguments_cuSignalExternalSemaphoresAsync[] = {{ATTACH_ARRAY, 2, sizeof(CUexternalSemaphore)}, {ATTACH_ARRAY, 2, sizeof(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuSignalExternalSemaphoresAsync(const CUexternalSemaphore *a0, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *a1, unsigned int a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(const CUexternalSemaphore *, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *, unsigned int, CUstream) = (CUresult (*)(const CUexternalSemaphore *, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *, unsigned int, CUstream))attach_enter(&call, ATTACH_cuSignalExternalSemaphoresAsync, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuSignalExternalSemaphoresAsync_ptsz[] = {{ATTACH_ARRAY, 2, sizeof(CUexternalSemaphore)}, {ATTACH_ARRAY, 2, sizeof(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuSignalExternalSemaphoresAsync_ptsz(const CUexternalSemaphore *a0, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *a1, unsigned int a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(const CUexternalSemaphore *, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *, unsigned int, CUstream) = (CUresult (*)(const CUexternalSemaphore *, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *, unsigned int, CUstream))attach_enter(&call, ATTACH_cuSignalExternalSemaphoresAsync_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamAddCallback[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamAddCallback(CUstream a0, CUstreamCallback a1, void *a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, CUstreamCallback, void *, unsigned int) = (CUresult (*)(CUstream, CUstreamCallback, void *, unsigned int))attach_enter(&call, ATTACH_cuStreamAddCallback, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamAddCallback_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamAddCallback_ptsz(CUstream a0, CUstreamCallback a1, void *a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, CUstreamCallback, void *, unsigned int) = (CUresult (*)(CUstream, CUstreamCallback, void *, unsigned int))attach_enter(&call, ATTACH_cuStreamAddCallback_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamAttachMemAsync[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamAttachMemAsync(CUstream a0, CUdeviceptr a1, size_t a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, CUdeviceptr, size_t, unsigned int) = (CUresult (*)(CUstream, CUdeviceptr, size_t, unsigned int))attach_enter(&call, ATTACH_cuStreamAttachMemAsync, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamAttachMemAsync_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamAttachMemAsync_ptsz(CUstream a0, CUdeviceptr a1, size_t a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, CUdeviceptr, size_t, unsigned int) = (CUresult (*)(CUstream, CUdeviceptr, size_t, unsigned int))attach_enter(&call, ATTACH_cuStreamAttachMemAsync_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamBatchMemOp[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 1, sizeof(CUstreamBatchMemOpParams)}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamBatchMemOp(CUstream a0, unsigned int a1, CUstreamBatchMemOpParams *a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, unsigned int, CUstreamBatchMemOpParams *, unsigned int) = (CUresult (*)(CUstream, unsigned int, CUstreamBatchMemOpParams *, unsigned int))attach_enter(&call, ATTACH_cuStreamBatchMemOp, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamBatchMemOp_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 1, sizeof(CUstreamBatchMemOpParams)}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamBatchMemOp_ptsz(CUstream a0, unsigned int a1, CUstreamBatchMemOpParams *a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, unsigned int, CUstreamBatchMemOpParams *, unsigned int) = (CUresult (*)(CUstream, unsigned int, CUstreamBatchMemOpParams *, unsigned int))attach_enter(&call, ATTACH_cuStreamBatchMemOp_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamBatchMemOp_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 1, sizeof(CUstreamBatchMemOpParams)}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamBatchMemOp_v2(CUstream a0, unsigned int a1, CUstreamBatchMemOpParams *a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, unsigned int, CUstreamBatchMemOpParams *, unsigned int) = (CUresult (*)(CUstream, unsigned int, CUstreamBatchMemOpParams *, unsigned int))attach_enter(&call, ATTACH_cuStreamBatchMemOp_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamBatchMemOp_v2_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 1, sizeof(CUstreamBatchMemOpParams)}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamBatchMemOp_v2_ptsz(CUstream a0, unsigned int a1, CUstreamBatchMemOpParams *a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, unsigned int, CUstreamBatchMemOpParams *, unsigned int) = (CUresult (*)(CUstream, unsigned int, CUstreamBatchMemOpParams *, unsigned int))attach_enter(&call, ATTACH_cuStreamBatchMemOp_v2_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamBeginCapture[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
static const int8_t order_cuStreamBeginCapture[] = {0, -1};
CUresult cuStreamBeginCapture(CUstream a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUstream) = (CUresult (*)(CUstream))attach_enter(&call, ATTACH_cuStreamBeginCapture, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuStreamBeginCaptureToGraph[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 4, sizeof(CUgraphNode)}, {ATTACH_ARRAY, 4, sizeof(CUgraphEdgeData)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamBeginCaptureToGraph(CUstream a0, CUgraph a1, const CUgraphNode *a2, const CUgraphEdgeData *a3, size_t a4, CUstreamCaptureMode a5)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)a4, (uint64_t)a5};
    attach_call call;
    CUresult (*const real)(CUstream, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUstreamCaptureMode) = (CUresult (*)(CUstream, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUstreamCaptureMode))attach_enter(&call, ATTACH_cuStreamBeginCaptureToGraph, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5));
}
static const attach_argument arguments_cuStreamBeginCaptureToGraph_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 4, sizeof(CUgraphNode)}, {ATTACH_ARRAY, 4, sizeof(CUgraphEdgeData)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream a0, CUgraph a1, const CUgraphNode *a2, const CUgraphEdgeData *a3, size_t a4, CUstreamCaptureMode a5)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)a4, (uint64_t)a5};
    attach_call call;
    CUresult (*const real)(CUstream, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUstreamCaptureMode) = (CUresult (*)(CUstream, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUstreamCaptureMode))attach_enter(&call, ATTACH_cuStreamBeginCaptureToGraph_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5));
}
static const attach_argument arguments_cuStreamBeginCapture_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
static const int8_t order_cuStreamBeginCapture_ptsz[] = {0, -1};
CUresult cuStreamBeginCapture_ptsz(CUstream a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUstream) = (CUresult (*)(CUstream))attach_enter(&call, ATTACH_cuStreamBeginCapture_ptsz, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuStreamBeginCapture_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamBeginCapture_v2(CUstream a0, CUstreamCaptureMode a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUstream, CUstreamCaptureMode) = (CUresult (*)(CUstream, CUstreamCaptureMode))attach_enter(&call, ATTACH_cuStreamBeginCapture_v2, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuStreamBeginCapture_v2_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamBeginCapture_v2_ptsz(CUstream a0, CUstreamCaptureMode a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUstream, CUstreamCaptureMode) = (CUresult (*)(CUstream, CUstreamCaptureMode))attach_enter(&call, ATTACH_cuStreamBeginCapture_v2_ptsz, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuStreamCopyAttributes[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamCopyAttributes(CUstream a0, CUstream a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUstream, CUstream) = (CUresult (*)(CUstream, CUstream))attach_enter(&call, ATTACH_cuStreamCopyAttributes, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuStreamCopyAttributes_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamCopyAttributes_ptsz(CUstream a0, CUstream a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUstream, CUstream) = (CUresult (*)(CUstream, CUstream))attach_enter(&call, ATTACH_cuStreamCopyAttributes_ptsz, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuStreamCreate[] = {{ATTACH_OUT, 0, sizeof(CUstream)}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamCreate(CUstream *a0, unsigned int a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUstream *, unsigned int) = (CUresult (*)(CUstream *, unsigned int))attach_enter(&call, ATTACH_cuStreamCreate, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuStreamCreateWithPriority[] = {{ATTACH_OUT, 0, sizeof(CUstream)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamCreateWithPriority(CUstream *a0, unsigned int a1, int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUstream *, unsigned int, int) = (CUresult (*)(CUstream *, unsigned int, int))attach_enter(&call, ATTACH_cuStreamCreateWithPriority, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuStreamDestroy[] = {{ATTACH_WORD, 0, 0}};
CUresult cuStreamDestroy(CUstream a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUstream) = (CUresult (*)(CUstream))attach_enter(&call, ATTACH_cuStreamDestroy, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuStreamDestroy_v2[] = {{ATTACH_WORD, 0, 0}};
CUresult cuStreamDestroy_v2(CUstream a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUstream) = (CUresult (*)(CUstream))attach_enter(&call, ATTACH_cuStreamDestroy_v2, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuStreamEndCapture[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUgraph)}};
CUresult cuStreamEndCapture(CUstream a0, CUgraph *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUstream, CUgraph *) = (CUresult (*)(CUstream, CUgraph *))attach_enter(&call, ATTACH_cuStreamEndCapture, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuStreamEndCapture_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUgraph)}};
CUresult cuStreamEndCapture_ptsz(CUstream a0, CUgraph *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUstream, CUgraph *) = (CUresult (*)(CUstream, CUgraph *))attach_enter(&call, ATTACH_cuStreamEndCapture_ptsz, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuStreamGetAttribute[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUstreamAttrValue)}};
CUresult cuStreamGetAttribute(CUstream a0, CUstreamAttrID a1, CUstreamAttrValue *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUstream, CUstreamAttrID, CUstreamAttrValue *) = (CUresult (*)(CUstream, CUstreamAttrID, CUstreamAttrValue *))attach_enter(&call, ATTACH_cuStreamGetAttribute, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuStreamGetAttribute_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUstreamAttrValue)}};
CUresult cuStreamGetAttribute_ptsz(CUstream a0, CUstreamAttrID a1, CUstreamAttrValue *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUstream, CUstreamAttrID, CUstreamAttrValue *) = (CUresult (*)(CUstream, CUstreamAttrID, CUstreamAttrValue *))attach_enter(&call, ATTACH_cuStreamGetAttribute_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuStreamGetCaptureInfo[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUstreamCaptureStatus)}, {ATTACH_OUT, 0, sizeof(cuuint64_t)}};
static const int8_t order_cuStreamGetCaptureInfo[] = {0, 1, 2};
CUresult cuStreamGetCaptureInfo(CUstream a0, CUstreamCaptureStatus *a1, cuuint64_t *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUstream, CUstreamCaptureStatus *, cuuint64_t *) = (CUresult (*)(CUstream, CUstreamCaptureStatus *, cuuint64_t *))attach_enter(&call, ATTACH_cuStreamGetCaptureInfo, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuStreamGetCaptureInfo_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUstreamCaptureStatus)}, {ATTACH_OUT, 0, sizeof(cuuint64_t)}};
static const int8_t order_cuStreamGetCaptureInfo_ptsz[] = {0, 1, 2};
CUresult cuStreamGetCaptureInfo_ptsz(CUstream a0, CUstreamCaptureStatus *a1, cuuint64_t *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUstream, CUstreamCaptureStatus *, cuuint64_t *) = (CUresult (*)(CUstream, CUstreamCaptureStatus *, cuuint64_t *))attach_enter(&call, ATTACH_cuStreamGetCaptureInfo_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuStreamGetCaptureInfo_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUstreamCaptureStatus)}, {ATTACH_OUT, 0, sizeof(cuuint64_t)}, {ATTACH_OUT, 0, sizeof(CUgraph)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(size_t)}};
static const int8_t order_cuStreamGetCaptureInfo_v2[] = {0, 1, 2, 3, 4, -1, 5};
CUresult cuStreamGetCaptureInfo_v2(CUstream a0, CUstreamCaptureStatus *a1, cuuint64_t *a2, CUgraph *a3, const CUgraphNode **a4, size_t *a5)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)(uintptr_t)a4, (uint64_t)(uintptr_t)a5};
    attach_call call;
    CUresult (*const real)(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *, const CUgraphNode **, size_t *) = (CUresult (*)(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *, const CUgraphNode **, size_t *))attach_enter(&call, ATTACH_cuStreamGetCaptureInfo_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5));
}
static const attach_argument arguments_cuStreamGetCaptureInfo_v2_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUstreamCaptureStatus)}, {ATTACH_OUT, 0, sizeof(cuuint64_t)}, {ATTACH_OUT, 0, sizeof(CUgraph)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(size_t)}};
static const int8_t order_cuStreamGetCaptureInfo_v2_ptsz[] = {0, 1, 2, 3, 4, -1, 5};
CUresult cuStreamGetCaptureInfo_v2_ptsz(CUstream a0, CUstreamCaptureStatus *a1, cuuint64_t *a2, CUgraph *a3, const CUgraphNode **a4, size_t *a5)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)(uintptr_t)a4, (uint64_t)(uintptr_t)a5};
    attach_call call;
    CUresult (*const real)(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *, const CUgraphNode **, size_t *) = (CUresult (*)(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *, const CUgraphNode **, size_t *))attach_enter(&call, ATTACH_cuStreamGetCaptureInfo_v2_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5));
}
static const attach_argument arguments_cuStreamGetCaptureInfo_v3[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUstreamCaptureStatus)}, {ATTACH_OUT, 0, sizeof(cuuint64_t)}, {ATTACH_OUT, 0, sizeof(CUgraph)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(size_t)}};
CUresult cuStreamGetCaptureInfo_v3(CUstream a0, CUstreamCaptureStatus *a1, cuuint64_t *a2, CUgraph *a3, const CUgraphNode **a4, const CUgraphEdgeData **a5, size_t *a6)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)(uintptr_t)a4, (uint64_t)(uintptr_t)a5, (uint64_t)(uintptr_t)a6};
    attach_call call;
    CUresult (*const real)(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *, const CUgraphNode **, const CUgraphEdgeData **, size_t *) = (CUresult (*)(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *, const CUgraphNode **, const CUgraphEdgeData **, size_t *))attach_enter(&call, ATTACH_cuStreamGetCaptureInfo_v3, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5, a6));
}
static const attach_argument arguments_cuStreamGetCaptureInfo_v3_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUstreamCaptureStatus)}, {ATTACH_OUT, 0, sizeof(cuuint64_t)}, {ATTACH_OUT, 0, sizeof(CUgraph)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(size_t)}};
CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream a0, CUstreamCaptureStatus *a1, cuuint64_t *a2, CUgraph *a3, const CUgraphNode **a4, const CUgraphEdgeData **a5, size_t *a6)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)(uintptr_t)a4, (uint64_t)(uintptr_t)a5, (uint64_t)(uintptr_t)a6};
    attach_call call;
    CUresult (*const real)(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *, const CUgraphNode **, const CUgraphEdgeData **, size_t *) = (CUresult (*)(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *, const CUgraphNode **, const CUgraphEdgeData **, size_t *))attach_enter(&call, ATTACH_cuStreamGetCaptureInfo_v3_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5, a6));
}
static const attach_argument arguments_cuStreamGetCtx[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUcontext)}};
CUresult cuStreamGetCtx(CUstream a0, CUcontext *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUstream, CUcontext *) = (CUresult (*)(CUstream, CUcontext *))attach_enter(&call, ATTACH_cuStreamGetCtx, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuStreamGetCtx_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUcontext)}};
CUresult cuStreamGetCtx_ptsz(CUstream a0, CUcontext *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUstream, CUcontext *) = (CUresult (*)(CUstream, CUcontext *))attach_enter(&call, ATTACH_cuStreamGetCtx_ptsz, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuStreamGetCtx_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUcontext)}};
CUresult cuStreamGetCtx_v2(CUstream a0, CUcontext *a1, CUgreenCtx *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUstream, CUcontext *, CUgreenCtx *) = (CUresult (*)(CUstream, CUcontext *, CUgreenCtx *))attach_enter(&call, ATTACH_cuStreamGetCtx_v2, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuStreamGetCtx_v2_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUcontext)}};
CUresult cuStreamGetCtx_v2_ptsz(CUstream a0, CUcontext *a1, CUgreenCtx *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUstream, CUcontext *, CUgreenCtx *) = (CUresult (*)(CUstream, CUcontext *, CUgreenCtx *))attach_enter(&call, ATTACH_cuStreamGetCtx_v2_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuStreamGetDevice[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUdevice)}};
CUresult cuStreamGetDevice(CUstream a0, CUdevice *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUstream, CUdevice *) = (CUresult (*)(CUstream, CUdevice *))attach_enter(&call, ATTACH_cuStreamGetDevice, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuStreamGetDevice_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUdevice)}};
CUresult cuStreamGetDevice_ptsz(CUstream a0, CUdevice *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUstream, CUdevice *) = (CUresult (*)(CUstream, CUdevice *))attach_enter(&call, ATTACH_cuStreamGetDevice_ptsz, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuStreamGetFlags[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(unsigned int)}};
CUresult cuStreamGetFlags(CUstream a0, unsigned int *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUstream, unsigned int *) = (CUresult (*)(CUstream, unsigned int *))attach_enter(&call, ATTACH_cuStreamGetFlags, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuStreamGetFlags_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(unsigned int)}};
CUresult cuStreamGetFlags_ptsz(CUstream a0, unsigned int *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUstream, unsigned int *) = (CUresult (*)(CUstream, unsigned int *))attach_enter(&call, ATTACH_cuStreamGetFlags_ptsz, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuStreamGetGreenCtx[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUgreenCtx)}};
CUresult cuStreamGetGreenCtx(CUstream a0, CUgreenCtx *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUstream, CUgreenCtx *) = (CUresult (*)(CUstream, CUgreenCtx *))attach_enter(&call, ATTACH_cuStreamGetGreenCtx, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuStreamGetId[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(unsigned long long)}};
CUresult cuStreamGetId(CUstream a0, unsigned long long *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUstream, unsigned long long *) = (CUresult (*)(CUstream, unsigned long long *))attach_enter(&call, ATTACH_cuStreamGetId, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuStreamGetId_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(unsigned long long)}};
CUresult cuStreamGetId_ptsz(CUstream a0, unsigned long long *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUstream, unsigned long long *) = (CUresult (*)(CUstream, unsigned long long *))attach_enter(&call, ATTACH_cuStreamGetId_ptsz, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuStreamGetPriority[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(int)}};
CUresult cuStreamGetPriority(CUstream a0, int *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUstream, int *) = (CUresult (*)(CUstream, int *))attach_enter(&call, ATTACH_cuStreamGetPriority, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuStreamGetPriority_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(int)}};
CUresult cuStreamGetPriority_ptsz(CUstream a0, int *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUstream, int *) = (CUresult (*)(CUstream, int *))attach_enter(&call, ATTACH_cuStreamGetPriority_ptsz, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuStreamIsCapturing[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUstreamCaptureStatus)}};
CUresult cuStreamIsCapturing(CUstream a0, CUstreamCaptureStatus *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUstream, CUstreamCaptureStatus *) = (CUresult (*)(CUstream, CUstreamCaptureStatus *))attach_enter(&call, ATTACH_cuStreamIsCapturing, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuStreamIsCapturing_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_OUT, 0, sizeof(CUstreamCaptureStatus)}};
CUresult cuStreamIsCapturing_ptsz(CUstream a0, CUstreamCaptureStatus *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUstream, CUstreamCaptureStatus *) = (CUresult (*)(CUstream, CUstreamCaptureStatus *))attach_enter(&call, ATTACH_cuStreamIsCapturing_ptsz, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuStreamQuery[] = {{ATTACH_WORD, 0, 0}};
CUresult cuStreamQuery(CUstream a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUstream) = (CUresult (*)(CUstream))attach_enter(&call, ATTACH_cuStreamQuery, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuStreamQuery_ptsz[] = {{ATTACH_WORD, 0, 0}};
CUresult cuStreamQuery_ptsz(CUstream a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUstream) = (CUresult (*)(CUstream))attach_enter(&call, ATTACH_cuStreamQuery_ptsz, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuStreamSetAttribute[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUstreamAttrValue)}};
CUresult cuStreamSetAttribute(CUstream a0, CUstreamAttrID a1, const CUstreamAttrValue *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUstream, CUstreamAttrID, const CUstreamAttrValue *) = (CUresult (*)(CUstream, CUstreamAttrID, const CUstreamAttrValue *))attach_enter(&call, ATTACH_cuStreamSetAttribute, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuStreamSetAttribute_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_STRUCT, 0, sizeof(CUstreamAttrValue)}};
CUresult cuStreamSetAttribute_ptsz(CUstream a0, CUstreamAttrID a1, const CUstreamAttrValue *a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUstream, CUstreamAttrID, const CUstreamAttrValue *) = (CUresult (*)(CUstream, CUstreamAttrID, const CUstreamAttrValue *))attach_enter(&call, ATTACH_cuStreamSetAttribute_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuStreamSynchronize[] = {{ATTACH_WORD, 0, 0}};
CUresult cuStreamSynchronize(CUstream a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUstream) = (CUresult (*)(CUstream))attach_enter(&call, ATTACH_cuStreamSynchronize, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuStreamSynchronize_ptsz[] = {{ATTACH_WORD, 0, 0}};
CUresult cuStreamSynchronize_ptsz(CUstream a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUstream) = (CUresult (*)(CUstream))attach_enter(&call, ATTACH_cuStreamSynchronize_ptsz, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuStreamUpdateCaptureDependencies[] = {{ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 3, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
static const int8_t order_cuStreamUpdateCaptureDependencies[] = {0, 1, -1, 2, 3};
CUresult cuStreamUpdateCaptureDependencies(CUstream a0, CUgraphNode *a1, size_t a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, CUgraphNode *, size_t, unsigned int) = (CUresult (*)(CUstream, CUgraphNode *, size_t, unsigned int))attach_enter(&call, ATTACH_cuStreamUpdateCaptureDependencies, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamUpdateCaptureDependencies_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 3, sizeof(CUgraphNode)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
static const int8_t order_cuStreamUpdateCaptureDependencies_ptsz[] = {0, 1, -1, 2, 3};
CUresult cuStreamUpdateCaptureDependencies_ptsz(CUstream a0, CUgraphNode *a1, size_t a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, CUgraphNode *, size_t, unsigned int) = (CUresult (*)(CUstream, CUgraphNode *, size_t, unsigned int))attach_enter(&call, ATTACH_cuStreamUpdateCaptureDependencies_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamUpdateCaptureDependencies_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 3, sizeof(CUgraphNode)}, {ATTACH_ARRAY, 3, sizeof(CUgraphEdgeData)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream a0, CUgraphNode *a1, const CUgraphEdgeData *a2, size_t a3, unsigned int a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUstream, CUgraphNode *, const CUgraphEdgeData *, size_t, unsigned int) = (CUresult (*)(CUstream, CUgraphNode *, const CUgraphEdgeData *, size_t, unsigned int))attach_enter(&call, ATTACH_cuStreamUpdateCaptureDependencies_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuStreamUpdateCaptureDependencies_v2_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_ARRAY, 3, sizeof(CUgraphNode)}, {ATTACH_ARRAY, 3, sizeof(CUgraphEdgeData)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamUpdateCaptureDependencies_v2_ptsz(CUstream a0, CUgraphNode *a1, const CUgraphEdgeData *a2, size_t a3, unsigned int a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUstream, CUgraphNode *, const CUgraphEdgeData *, size_t, unsigned int) = (CUresult (*)(CUstream, CUgraphNode *, const CUgraphEdgeData *, size_t, unsigned int))attach_enter(&call, ATTACH_cuStreamUpdateCaptureDependencies_v2_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuStreamWaitEvent[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamWaitEvent(CUstream a0, CUevent a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUstream, CUevent, unsigned int) = (CUresult (*)(CUstream, CUevent, unsigned int))attach_enter(&call, ATTACH_cuStreamWaitEvent, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuStreamWaitEvent_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamWaitEvent_ptsz(CUstream a0, CUevent a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUstream, CUevent, unsigned int) = (CUresult (*)(CUstream, CUevent, unsigned int))attach_enter(&call, ATTACH_cuStreamWaitEvent_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuStreamWaitValue32[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamWaitValue32(CUstream a0, CUdeviceptr a1, cuuint32_t a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, CUdeviceptr, cuuint32_t, unsigned int) = (CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned int))attach_enter(&call, ATTACH_cuStreamWaitValue32, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamWaitValue32_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamWaitValue32_ptsz(CUstream a0, CUdeviceptr a1, cuuint32_t a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, CUdeviceptr, cuuint32_t, unsigned int) = (CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned int))attach_enter(&call, ATTACH_cuStreamWaitValue32_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamWaitValue32_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamWaitValue32_v2(CUstream a0, CUdeviceptr a1, cuuint32_t a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, CUdeviceptr, cuuint32_t, unsigned int) = (CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned int))attach_enter(&call, ATTACH_cuStreamWaitValue32_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamWaitValue32_v2_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamWaitValue32_v2_ptsz(CUstream a0, CUdeviceptr a1, cuuint32_t a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, CUdeviceptr, cuuint32_t, unsigned int) = (CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned int))attach_enter(&call, ATTACH_cuStreamWaitValue32_v2_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamWaitValue64[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamWaitValue64(CUstream a0, CUdeviceptr a1, cuuint64_t a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, CUdeviceptr, cuuint64_t, unsigned int) = (CUresult (*)(CUstream, CUdeviceptr, cuuint64_t, unsigned int))attach_enter(&call, ATTACH_cuStreamWaitValue64, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamWaitValue64_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamWaitValue64_ptsz(CUstream a0, CUdeviceptr a1, cuuint64_t a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, CUdeviceptr, cuuint64_t, unsigned int) = (CUresult (*)(CUstream, CUdeviceptr, cuuint64_t, unsigned int))attach_enter(&call, ATTACH_cuStreamWaitValue64_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamWaitValue64_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamWaitValue64_v2(CUstream a0, CUdeviceptr a1, cuuint64_t a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, CUdeviceptr, cuuint64_t, unsigned int) = (CUresult (*)(CUstream, CUdeviceptr, cuuint64_t, unsigned int))attach_enter(&call, ATTACH_cuStreamWaitValue64_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamWaitValue64_v2_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamWaitValue64_v2_ptsz(CUstream a0, CUdeviceptr a1, cuuint64_t a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, CUdeviceptr, cuuint64_t, unsigned int) = (CUresult (*)(CUstream, CUdeviceptr, cuuint64_t, unsigned int))attach_enter(&call, ATTACH_cuStreamWaitValue64_v2_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamWriteValue32[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamWriteValue32(CUstream a0, CUdeviceptr a1, cuuint32_t a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, CUdeviceptr, cuuint32_t, unsigned int) = (CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned int))attach_enter(&call, ATTACH_cuStreamWriteValue32, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamWriteValue32_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamWriteValue32_ptsz(CUstream a0, CUdeviceptr a1, cuuint32_t a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, CUdeviceptr, cuuint32_t, unsigned int) = (CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned int))attach_enter(&call, ATTACH_cuStreamWriteValue32_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamWriteValue32_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamWriteValue32_v2(CUstream a0, CUdeviceptr a1, cuuint32_t a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, CUdeviceptr, cuuint32_t, unsigned int) = (CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned int))attach_enter(&call, ATTACH_cuStreamWriteValue32_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamWriteValue32_v2_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamWriteValue32_v2_ptsz(CUstream a0, CUdeviceptr a1, cuuint32_t a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, CUdeviceptr, cuuint32_t, unsigned int) = (CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned int))attach_enter(&call, ATTACH_cuStreamWriteValue32_v2_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamWriteValue64[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamWriteValue64(CUstream a0, CUdeviceptr a1, cuuint64_t a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, CUdeviceptr, cuuint64_t, unsigned int) = (CUresult (*)(CUstream, CUdeviceptr, cuuint64_t, unsigned int))attach_enter(&call, ATTACH_cuStreamWriteValue64, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamWriteValue64_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamWriteValue64_ptsz(CUstream a0, CUdeviceptr a1, cuuint64_t a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, CUdeviceptr, cuuint64_t, unsigned int) = (CUresult (*)(CUstream, CUdeviceptr, cuuint64_t, unsigned int))attach_enter(&call, ATTACH_cuStreamWriteValue64_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamWriteValue64_v2[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamWriteValue64_v2(CUstream a0, CUdeviceptr a1, cuuint64_t a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, CUdeviceptr, cuuint64_t, unsigned int) = (CUresult (*)(CUstream, CUdeviceptr, cuuint64_t, unsigned int))attach_enter(&call, ATTACH_cuStreamWriteValue64_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuStreamWriteValue64_v2_ptsz[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuStreamWriteValue64_v2_ptsz(CUstream a0, CUdeviceptr a1, cuuint64_t a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUstream, CUdeviceptr, cuuint64_t, unsigned int) = (CUresult (*)(CUstream, CUdeviceptr, cuuint64_t, unsigned int))attach_enter(&call, ATTACH_cuStreamWriteValue64_v2_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuSurfObjectCreate[] = {{ATTACH_OUT, 0, sizeof(CUsurfObject)}, {ATTACH_STRUCT, 0, sizeof(CUDA_RESOURCE_DESC)}};
CUresult cuSurfObjectCreate(CUsurfObject *a0, const CUDA_RESOURCE_DESC *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUsurfObject *, const CUDA_RESOURCE_DESC *) = (CUresult (*)(CUsurfObject *, const CUDA_RESOURCE_DESC *))attach_enter(&call, ATTACH_cuSurfObjectCreate, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuSurfObjectDestroy[] = {{ATTACH_WORD, 0, 0}};
CUresult cuSurfObjectDestroy(CUsurfObject a0)
{
    const uint64_t words[] = {(uint64_t)a0};
    attach_call call;
    CUresult (*const real)(CUsurfObject) = (CUresult (*)(CUsurfObject))attach_enter(&call, ATTACH_cuSurfObjectDestroy, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuSurfObjectGetResourceDesc[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_RESOURCE_DESC)}, {ATTACH_WORD, 0, 0}};
CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *a0, CUsurfObject a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUDA_RESOURCE_DESC *, CUsurfObject) = (CUresult (*)(CUDA_RESOURCE_DESC *, CUsurfObject))attach_enter(&call, ATTACH_cuSurfObjectGetResourceDesc, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuSurfRefGetArray(CUarray *a0, CUsurfref a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUarray *, CUsurfref) = (CUresult (*)(CUarray *, CUsurfref))attach_enter(&call, ATTACH_cuSurfRefGetArray, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuSurfRefSetArray(CUsurfref a0, CUarray a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUsurfref, CUarray, unsigned int) = (CUresult (*)(CUsurfref, CUarray, unsigned int))attach_enter(&call, ATTACH_cuSurfRefSetArray, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuTensorMapEncodeIm2col[] = {{ATTACH_STRUCT, 0, sizeof(CUtensorMap)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuTensorMapEncodeIm2col(CUtensorMap *a0, CUtensorMapDataType a1, cuuint32_t a2, void *a3, const cuuint64_t *a4, const cuuint64_t *a5, const int *a6, const int *a7, cuuint32_t a8, cuuint32_t a9, const cuuint32_t *a10, CUtensorMapInterleave a11, CUtensorMapSwizzle a12, CUtensorMapL2promotion a13, CUtensorMapFloatOOBfill a14)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)(uintptr_t)a4, (uint64_t)(uintptr_t)a5, (uint64_t)(uintptr_t)a6, (uint64_t)(uintptr_t)a7, (uint64_t)a8, (uint64_t)a9, (uint64_t)(uintptr_t)a10, (uint64_t)a11, (uint64_t)a12, (uint64_t)a13, (uint64_t)a14};
    attach_call call;
    CUresult (*const real)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const int *, const int *, cuuint32_t, cuuint32_t, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill) = (CUresult (*)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const int *, const int *, cuuint32_t, cuuint32_t, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill))attach_enter(&call, ATTACH_cuTensorMapEncodeIm2col, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14));
}
static const attach_argument arguments_cuTensorMapEncodeIm2colWide[] = {{ATTACH_STRUCT, 0, sizeof(CUtensorMap)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuTensorMapEncodeIm2colWide(CUtensorMap *a0, CUtensorMapDataType a1, cuuint32_t a2, void *a3, const cuuint64_t *a4, const cuuint64_t *a5, int a6, int a7, cuuint32_t a8, cuuint32_t a9, const cuuint32_t *a10, CUtensorMapInterleave a11, CUtensorMapIm2ColWideMode a12, CUtensorMapSwizzle a13, CUtensorMapL2promotion a14, CUtensorMapFloatOOBfill a15)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)(uintptr_t)a4, (uint64_t)(uintptr_t)a5, (uint64_t)a6, (uint64_t)a7, (uint64_t)a8, (uint64_t)a9, (uint64_t)(uintptr_t)a10, (uint64_t)a11, (uint64_t)a12, (uint64_t)a13, (uint64_t)a14, (uint64_t)a15};
    attach_call call;
    CUresult (*const real)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, int, int, cuuint32_t, cuuint32_t, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapIm2ColWideMode, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill) = (CUresult (*)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, int, int, cuuint32_t, cuuint32_t, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapIm2ColWideMode, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill))attach_enter(&call, ATTACH_cuTensorMapEncodeIm2colWide, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15));
}
static const attach_argument arguments_cuTensorMapEncodeTiled[] = {{ATTACH_STRUCT, 0, sizeof(CUtensorMap)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuTensorMapEncodeTiled(CUtensorMap *a0, CUtensorMapDataType a1, cuuint32_t a2, void *a3, const cuuint64_t *a4, const cuuint64_t *a5, const cuuint32_t *a6, const cuuint32_t *a7, CUtensorMapInterleave a8, CUtensorMapSwizzle a9, CUtensorMapL2promotion a10, CUtensorMapFloatOOBfill a11)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3, (uint64_t)(uintptr_t)a4, (uint64_t)(uintptr_t)a5, (uint64_t)(uintptr_t)a6, (uint64_t)(uintptr_t)a7, (uint64_t)a8, (uint64_t)a9, (uint64_t)a10, (uint64_t)a11};
    attach_call call;
    CUresult (*const real)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill) = (CUresult (*)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill))attach_enter(&call, ATTACH_cuTensorMapEncodeTiled, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11));
}
static const attach_argument arguments_cuTensorMapReplaceAddress[] = {{ATTACH_STRUCT, 0, sizeof(CUtensorMap)}, {ATTACH_WORD, 0, 0}};
CUresult cuTensorMapReplaceAddress(CUtensorMap *a0, void *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUtensorMap *, void *) = (CUresult (*)(CUtensorMap *, void *))attach_enter(&call, ATTACH_cuTensorMapReplaceAddress, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuTexObjectCreate[] = {{ATTACH_OUT, 0, sizeof(CUtexObject)}, {ATTACH_STRUCT, 0, sizeof(CUDA_RESOURCE_DESC)}, {ATTACH_STRUCT, 0, sizeof(CUDA_TEXTURE_DESC)}, {ATTACH_STRUCT, 0, sizeof(CUDA_RESOURCE_VIEW_DESC)}};
CUresult cuTexObjectCreate(CUtexObject *a0, const CUDA_RESOURCE_DESC *a1, const CUDA_TEXTURE_DESC *a2, const CUDA_RESOURCE_VIEW_DESC *a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(CUtexObject *, const CUDA_RESOURCE_DESC *, const CUDA_TEXTURE_DESC *, const CUDA_RESOURCE_VIEW_DESC *) = (CUresult (*)(CUtexObject *, const CUDA_RESOURCE_DESC *, const CUDA_TEXTURE_DESC *, const CUDA_RESOURCE_VIEW_DESC *))attach_enter(&call, ATTACH_cuTexObjectCreate, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuTexObjectDestroy[] = {{ATTACH_WORD, 0, 0}};
CUresult cuTexObjectDestroy(CUtexObject a0)
{
    const uint64_t words[] = {(uint64_t)a0};
    attach_call call;
    CUresult (*const real)(CUtexObject) = (CUresult (*)(CUtexObject))attach_enter(&call, ATTACH_cuTexObjectDestroy, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuTexObjectGetResourceDesc[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_RESOURCE_DESC)}, {ATTACH_WORD, 0, 0}};
CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *a0, CUtexObject a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUDA_RESOURCE_DESC *, CUtexObject) = (CUresult (*)(CUDA_RESOURCE_DESC *, CUtexObject))attach_enter(&call, ATTACH_cuTexObjectGetResourceDesc, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuTexObjectGetResourceViewDesc[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_RESOURCE_VIEW_DESC)}, {ATTACH_WORD, 0, 0}};
CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *a0, CUtexObject a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUDA_RESOURCE_VIEW_DESC *, CUtexObject) = (CUresult (*)(CUDA_RESOURCE_VIEW_DESC *, CUtexObject))attach_enter(&call, ATTACH_cuTexObjectGetResourceViewDesc, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuTexObjectGetTextureDesc[] = {{ATTACH_STRUCT, 0, sizeof(CUDA_TEXTURE_DESC)}, {ATTACH_WORD, 0, 0}};
CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *a0, CUtexObject a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUDA_TEXTURE_DESC *, CUtexObject) = (CUresult (*)(CUDA_TEXTURE_DESC *, CUtexObject))attach_enter(&call, ATTACH_cuTexObjectGetTextureDesc, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuTexRefCreate(CUtexref *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUtexref *) = (CUresult (*)(CUtexref *))attach_enter(&call, ATTACH_cuTexRefCreate, words);
    return attach_leave(&call, real(a0));
}
CUresult cuTexRefDestroy(CUtexref a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUtexref) = (CUresult (*)(CUtexref))attach_enter(&call, ATTACH_cuTexRefDestroy, words);
    return attach_leave(&call, real(a0));
}
CUresult cuTexRefGetAddress(CUdeviceptr_v1 *a0, CUtexref a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUdeviceptr_v1 *, CUtexref) = (CUresult (*)(CUdeviceptr_v1 *, CUtexref))attach_enter(&call, ATTACH_cuTexRefGetAddress, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuTexRefGetAddressMode(CUaddress_mode *a0, CUtexref a1, int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUaddress_mode *, CUtexref, int) = (CUresult (*)(CUaddress_mode *, CUtexref, int))attach_enter(&call, ATTACH_cuTexRefGetAddressMode, words);
    return attach_leave(&call, real(a0, a1, a2));
}
CUresult cuTexRefGetAddress_v2(CUdeviceptr *a0, CUtexref a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUdeviceptr *, CUtexref) = (CUresult (*)(CUdeviceptr *, CUtexref))attach_enter(&call, ATTACH_cuTexRefGetAddress_v2, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuTexRefGetArray(CUarray *a0, CUtexref a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUarray *, CUtexref) = (CUresult (*)(CUarray *, CUtexref))attach_enter(&call, ATTACH_cuTexRefGetArray, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuTexRefGetBorderColor(float *a0, CUtexref a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(float *, CUtexref) = (CUresult (*)(float *, CUtexref))attach_enter(&call, ATTACH_cuTexRefGetBorderColor, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuTexRefGetFilterMode(CUfilter_mode *a0, CUtexref a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUfilter_mode *, CUtexref) = (CUresult (*)(CUfilter_mode *, CUtexref))attach_enter(&call, ATTACH_cuTexRefGetFilterMode, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuTexRefGetFlags(unsigned int *a0, CUtexref a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(unsigned int *, CUtexref) = (CUresult (*)(unsigned int *, CUtexref))attach_enter(&call, ATTACH_cuTexRefGetFlags, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuTexRefGetFormat(CUarray_format *a0, int *a1, CUtexref a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(CUarray_format *, int *, CUtexref) = (CUresult (*)(CUarray_format *, int *, CUtexref))attach_enter(&call, ATTACH_cuTexRefGetFormat, words);
    return attach_leave(&call, real(a0, a1, a2));
}
CUresult cuTexRefGetMaxAnisotropy(int *a0, CUtexref a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(int *, CUtexref) = (CUresult (*)(int *, CUtexref))attach_enter(&call, ATTACH_cuTexRefGetMaxAnisotropy, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuTexRefGetMipmapFilterMode(CUfilter_mode *a0, CUtexref a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUfilter_mode *, CUtexref) = (CUresult (*)(CUfilter_mode *, CUtexref))attach_enter(&call, ATTACH_cuTexRefGetMipmapFilterMode, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuTexRefGetMipmapLevelBias(float *a0, CUtexref a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(float *, CUtexref) = (CUresult (*)(float *, CUtexref))attach_enter(&call, ATTACH_cuTexRefGetMipmapLevelBias, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuTexRefGetMipmapLevelClamp(float *a0, float *a1, CUtexref a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2};
    attach_call call;
    CUresult (*const real)(float *, float *, CUtexref) = (CUresult (*)(float *, float *, CUtexref))attach_enter(&call, ATTACH_cuTexRefGetMipmapLevelClamp, words);
    return attach_leave(&call, real(a0, a1, a2));
}
CUresult cuTexRefGetMipmappedArray(CUmipmappedArray *a0, CUtexref a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUmipmappedArray *, CUtexref) = (CUresult (*)(CUmipmappedArray *, CUtexref))attach_enter(&call, ATTACH_cuTexRefGetMipmappedArray, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuTexRefSetAddress(unsigned int *a0, CUtexref a1, CUdeviceptr_v1 a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(unsigned int *, CUtexref, CUdeviceptr_v1, unsigned int) = (CUresult (*)(unsigned int *, CUtexref, CUdeviceptr_v1, unsigned int))attach_enter(&call, ATTACH_cuTexRefSetAddress, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
CUresult cuTexRefSetAddress2D(CUtexref a0, const CUDA_ARRAY_DESCRIPTOR_v1 *a1, CUdeviceptr_v1 a2, unsigned int a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUtexref, const CUDA_ARRAY_DESCRIPTOR_v1 *, CUdeviceptr_v1, unsigned int) = (CUresult (*)(CUtexref, const CUDA_ARRAY_DESCRIPTOR_v1 *, CUdeviceptr_v1, unsigned int))attach_enter(&call, ATTACH_cuTexRefSetAddress2D, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
CUresult cuTexRefSetAddress2D_v2(CUtexref a0, const CUDA_ARRAY_DESCRIPTOR *a1, CUdeviceptr a2, size_t a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUtexref, const CUDA_ARRAY_DESCRIPTOR *, CUdeviceptr, size_t) = (CUresult (*)(CUtexref, const CUDA_ARRAY_DESCRIPTOR *, CUdeviceptr, size_t))attach_enter(&call, ATTACH_cuTexRefSetAddress2D_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
CUresult cuTexRefSetAddress2D_v3(CUtexref a0, const CUDA_ARRAY_DESCRIPTOR *a1, CUdeviceptr a2, size_t a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(CUtexref, const CUDA_ARRAY_DESCRIPTOR *, CUdeviceptr, size_t) = (CUresult (*)(CUtexref, const CUDA_ARRAY_DESCRIPTOR *, CUdeviceptr, size_t))attach_enter(&call, ATTACH_cuTexRefSetAddress2D_v3, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
CUresult cuTexRefSetAddressMode(CUtexref a0, int a1, CUaddress_mode a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUtexref, int, CUaddress_mode) = (CUresult (*)(CUtexref, int, CUaddress_mode))attach_enter(&call, ATTACH_cuTexRefSetAddressMode, words);
    return attach_leave(&call, real(a0, a1, a2));
}
CUresult cuTexRefSetAddress_v2(size_t *a0, CUtexref a1, CUdeviceptr a2, size_t a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)a3};
    attach_call call;
    CUresult (*const real)(size_t *, CUtexref, CUdeviceptr, size_t) = (CUresult (*)(size_t *, CUtexref, CUdeviceptr, size_t))attach_enter(&call, ATTACH_cuTexRefSetAddress_v2, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
CUresult cuTexRefSetArray(CUtexref a0, CUarray a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUtexref, CUarray, unsigned int) = (CUresult (*)(CUtexref, CUarray, unsigned int))attach_enter(&call, ATTACH_cuTexRefSetArray, words);
    return attach_leave(&call, real(a0, a1, a2));
}
CUresult cuTexRefSetBorderColor(CUtexref a0, float *a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1};
    attach_call call;
    CUresult (*const real)(CUtexref, float *) = (CUresult (*)(CUtexref, float *))attach_enter(&call, ATTACH_cuTexRefSetBorderColor, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuTexRefSetFilterMode(CUtexref a0, CUfilter_mode a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUtexref, CUfilter_mode) = (CUresult (*)(CUtexref, CUfilter_mode))attach_enter(&call, ATTACH_cuTexRefSetFilterMode, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuTexRefSetFlags(CUtexref a0, unsigned int a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUtexref, unsigned int) = (CUresult (*)(CUtexref, unsigned int))attach_enter(&call, ATTACH_cuTexRefSetFlags, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuTexRefSetFormat(CUtexref a0, CUarray_format a1, int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUtexref, CUarray_format, int) = (CUresult (*)(CUtexref, CUarray_format, int))attach_enter(&call, ATTACH_cuTexRefSetFormat, words);
    return attach_leave(&call, real(a0, a1, a2));
}
CUresult cuTexRefSetMaxAnisotropy(CUtexref a0, unsigned int a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUtexref, unsigned int) = (CUresult (*)(CUtexref, unsigned int))attach_enter(&call, ATTACH_cuTexRefSetMaxAnisotropy, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuTexRefSetMipmapFilterMode(CUtexref a0, CUfilter_mode a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUtexref, CUfilter_mode) = (CUresult (*)(CUtexref, CUfilter_mode))attach_enter(&call, ATTACH_cuTexRefSetMipmapFilterMode, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuTexRefSetMipmapLevelBias(CUtexref a0, float a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, attach_float(a1)};
    attach_call call;
    CUresult (*const real)(CUtexref, float) = (CUresult (*)(CUtexref, float))attach_enter(&call, ATTACH_cuTexRefSetMipmapLevelBias, words);
    return attach_leave(&call, real(a0, a1));
}
CUresult cuTexRefSetMipmapLevelClamp(CUtexref a0, float a1, float a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, attach_float(a1), attach_float(a2)};
    attach_call call;
    CUresult (*const real)(CUtexref, float, float) = (CUresult (*)(CUtexref, float, float))attach_enter(&call, ATTACH_cuTexRefSetMipmapLevelClamp, words);
    return attach_leave(&call, real(a0, a1, a2));
}
CUresult cuTexRefSetMipmappedArray(CUtexref a0, CUmipmappedArray a1, unsigned int a2)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2};
    attach_call call;
    CUresult (*const real)(CUtexref, CUmipmappedArray, unsigned int) = (CUresult (*)(CUtexref, CUmipmappedArray, unsigned int))attach_enter(&call, ATTACH_cuTexRefSetMipmappedArray, words);
    return attach_leave(&call, real(a0, a1, a2));
}
static const attach_argument arguments_cuThreadExchangeStreamCaptureMode[] = {{ATTACH_OUT, 0, sizeof(CUstreamCaptureMode)}};
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *a0)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0};
    attach_call call;
    CUresult (*const real)(CUstreamCaptureMode *) = (CUresult (*)(CUstreamCaptureMode *))attach_enter(&call, ATTACH_cuThreadExchangeStreamCaptureMode, words);
    return attach_leave(&call, real(a0));
}
static const attach_argument arguments_cuUserObjectCreate[] = {{ATTACH_OUT, 0, sizeof(CUuserObject)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuUserObjectCreate(CUuserObject *a0, void *a1, CUhostFn a2, unsigned int a3, unsigned int a4)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)(uintptr_t)a2, (uint64_t)a3, (uint64_t)a4};
    attach_call call;
    CUresult (*const real)(CUuserObject *, void *, CUhostFn, unsigned int, unsigned int) = (CUresult (*)(CUuserObject *, void *, CUhostFn, unsigned int, unsigned int))attach_enter(&call, ATTACH_cuUserObjectCreate, words);
    return attach_leave(&call, real(a0, a1, a2, a3, a4));
}
static const attach_argument arguments_cuUserObjectRelease[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuUserObjectRelease(CUuserObject a0, unsigned int a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUuserObject, unsigned int) = (CUresult (*)(CUuserObject, unsigned int))attach_enter(&call, ATTACH_cuUserObjectRelease, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuUserObjectRetain[] = {{ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuUserObjectRetain(CUuserObject a0, unsigned int a1)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)a1};
    attach_call call;
    CUresult (*const real)(CUuserObject, unsigned int) = (CUresult (*)(CUuserObject, unsigned int))attach_enter(&call, ATTACH_cuUserObjectRetain, words);
    return attach_leave(&call, real(a0, a1));
}
static const attach_argument arguments_cuWaitExternalSemaphoresAsync[] = {{ATTACH_ARRAY, 2, sizeof(CUexternalSemaphore)}, {ATTACH_ARRAY, 2, sizeof(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuWaitExternalSemaphoresAsync(const CUexternalSemaphore *a0, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *a1, unsigned int a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(const CUexternalSemaphore *, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *, unsigned int, CUstream) = (CUresult (*)(const CUexternalSemaphore *, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *, unsigned int, CUstream))attach_enter(&call, ATTACH_cuWaitExternalSemaphoresAsync, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
static const attach_argument arguments_cuWaitExternalSemaphoresAsync_ptsz[] = {{ATTACH_ARRAY, 2, sizeof(CUexternalSemaphore)}, {ATTACH_ARRAY, 2, sizeof(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS)}, {ATTACH_WORD, 0, 0}, {ATTACH_WORD, 0, 0}};
CUresult cuWaitExternalSemaphoresAsync_ptsz(const CUexternalSemaphore *a0, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *a1, unsigned int a2, CUstream a3)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)a0, (uint64_t)(uintptr_t)a1, (uint64_t)a2, (uint64_t)(uintptr_t)a3};
    attach_call call;
    CUresult (*const real)(const CUexternalSemaphore *, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *, unsigned int, CUstream) = (CUresult (*)(const CUexternalSemaphore *, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *, unsigned int, CUstream))attach_enter(&call, ATTACH_cuWaitExternalSemaphoresAsync_ptsz, words);
    return attach_leave(&call, real(a0, a1, a2, a3));
}
const attach_symbol attach_symbols[ATTACH_SYMBOL_COUNT] = {
    {"cuArray3DCreate", "cuArray3DCreate", (attach_function *)cuArray3DCreate, 2000, 0, GPHI_CALL_cuArray3DCreate, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 1, arguments_cuArray3DCreate, NULL},
    {"cuArray3DCreate_v2", "cuArray3DCreate", (attach_function *)cuArray3DCreate_v2, 3020, 0, GPHI_CALL_cuArray3DCreate, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuArray3DCreate_v2, NULL},
    {"cuArray3DGetDescriptor", "cuArray3DGetDescriptor", (attach_function *)cuArray3DGetDescriptor, 2000, 0, GPHI_CALL_cuArray3DGetDescriptor, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 1, arguments_cuArray3DGetDescriptor, NULL},
    {"cuArray3DGetDescriptor_v2", "cuArray3DGetDescriptor", (attach_function *)cuArray3DGetDescriptor_v2, 3020, 0, GPHI_CALL_cuArray3DGetDescriptor, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuArray3DGetDescriptor_v2, NULL},
    {"cuArrayCreate", "cuArrayCreate", (attach_function *)cuArrayCreate, 2000, 0, GPHI_CALL_cuArrayCreate, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 1, arguments_cuArrayCreate, NULL},
    {"cuArrayCreate_v2", "cuArrayCreate", (attach_function *)cuArrayCreate_v2, 3020, 0, GPHI_CALL_cuArrayCreate, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuArrayCreate_v2, NULL},
    {"cuArrayDestroy", "cuArrayDestroy", (attach_function *)cuArrayDestroy, 2000, 0, GPHI_CALL_cuArrayDestroy, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuArrayDestroy, NULL},
    {"cuArrayGetDescriptor", "cuArrayGetDescriptor", (attach_function *)cuArrayGetDescriptor, 2000, 0, GPHI_CALL_cuArrayGetDescriptor, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 1, arguments_cuArrayGetDescriptor, NULL},
    {"cuArrayGetDescriptor_v2", "cuArrayGetDescriptor", (attach_function *)cuArrayGetDescriptor_v2, 3020, 0, GPHI_CALL_cuArrayGetDescriptor, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuArrayGetDescriptor_v2, NULL},
    {"cuArrayGetMemoryRequirements", "cuArrayGetMemoryRequirements", (attach_function *)cuArrayGetMemoryRequirements, 11060, 0, GPHI_CALL_cuArrayGetMemoryRequirements, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuArrayGetMemoryRequirements, NULL},
    {"cuArrayGetPlane", "cuArrayGetPlane", (attach_function *)cuArrayGetPlane, 11020, 0, GPHI_CALL_cuArrayGetPlane, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuArrayGetPlane, NULL},
    {"cuArrayGetSparseProperties", "cuArrayGetSparseProperties", (attach_function *)cuArrayGetSparseProperties, 11010, 0, GPHI_CALL_cuArrayGetSparseProperties, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuArrayGetSparseProperties, NULL},
    {"cuCheckpointProcessCheckpoint", "cuCheckpointProcessCheckpoint", (attach_function *)cuCheckpointProcessCheckpoint, 12080, 0, GPHI_CALL_cuCheckpointProcessCheckpoint, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuCheckpointProcessCheckpoint, NULL},
    {"cuCheckpointProcessGetRestoreThreadId", "cuCheckpointProcessGetRestoreThreadId", (attach_function *)cuCheckpointProcessGetRestoreThreadId, 12080, 0, GPHI_CALL_cuCheckpointProcessGetRestoreThreadId, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuCheckpointProcessGetRestoreThreadId, NULL},
    {"cuCheckpointProcessGetState", "cuCheckpointProcessGetState", (attach_function *)cuCheckpointProcessGetState, 12080, 0, GPHI_CALL_cuCheckpointProcessGetState, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuCheckpointProcessGetState, NULL},
    {"cuCheckpointProcessLock", "cuCheckpointProcessLock", (attach_function *)cuCheckpointProcessLock, 12080, 0, GPHI_CALL_cuCheckpointProcessLock, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuCheckpointProcessLock, NULL},
    {"cuCheckpointProcessRestore", "cuCheckpointProcessRestore", (attach_function *)cuCheckpointProcessRestore, 12080, 0, GPHI_CALL_cuCheckpointProcessRestore, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuCheckpointProcessRestore, NULL},
    {"cuCheckpointProcessUnlock", "cuCheckpointProcessUnlock", (attach_function *)cuCheckpointProcessUnlock, 12080, 0, GPHI_CALL_cuCheckpointProcessUnlock, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuCheckpointProcessUnlock, NULL},
    {"cuCoredumpGetAttribute", "cuCoredumpGetAttribute", (attach_function *)cuCoredumpGetAttribute, 12010, 0, GPHI_CALL_cuCoredumpGetAttribute, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuCoredumpGetAttribute, NULL},
    {"cuCoredumpGetAttributeGlobal", "cuCoredumpGetAttributeGlobal", (attach_function *)cuCoredumpGetAttributeGlobal, 12010, 0, GPHI_CALL_cuCoredumpGetAttributeGlobal, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuCoredumpGetAttributeGlobal, NULL},
    {"cuCoredumpSetAttribute", "cuCoredumpSetAttribute", (attach_function *)cuCoredumpSetAttribute, 12010, 0, GPHI_CALL_cuCoredumpSetAttribute, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuCoredumpSetAttribute, NULL},
    {"cuCoredumpSetAttributeGlobal", "cuCoredumpSetAttributeGlobal", (attach_function *)cuCoredumpSetAttributeGlobal, 12010, 0, GPHI_CALL_cuCoredumpSetAttributeGlobal, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuCoredumpSetAttributeGlobal, NULL},
    {"cuCtxAttach", "cuCtxAttach", (attach_function *)cuCtxAttach, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuCtxCreate", "cuCtxCreate", (attach_function *)cuCtxCreate, 2000, 0, GPHI_CALL_cuCtxCreate, ATTACH_ALWAYS, ATTACH_HOOK_CONTEXT, 0, 4, -1, 1, arguments_cuCtxCreate, order_cuCtxCreate},
    {"cuCtxCreate_v2", "cuCtxCreate", (attach_function *)cuCtxCreate_v2, 3020, 0, GPHI_CALL_cuCtxCreate, ATTACH_ALWAYS, ATTACH_HOOK_CONTEXT, 0, 4, -1, 1, arguments_cuCtxCreate_v2, order_cuCtxCreate_v2},
    {"cuCtxCreate_v3", "cuCtxCreate", (attach_function *)cuCtxCreate_v3, 11040, 0, GPHI_CALL_cuCtxCreate, ATTACH_ALWAYS, ATTACH_HOOK_CONTEXT, 0, 4, -1, 1, arguments_cuCtxCreate_v3, order_cuCtxCreate_v3},
    {"cuCtxCreate_v4", "cuCtxCreate", (attach_function *)cuCtxCreate_v4, 12050, 0, GPHI_CALL_cuCtxCreate, ATTACH_ALWAYS, ATTACH_HOOK_CONTEXT, 0, 4, -1, 0, arguments_cuCtxCreate_v4, NULL},
    {"cuCtxDestroy", "cuCtxDestroy", (attach_function *)cuCtxDestroy, 2000, 0, GPHI_CALL_cuCtxDestroy, ATTACH_ALWAYS, ATTACH_HOOK_CONTEXT_GONE, 0, 1, -1, 0, arguments_cuCtxDestroy, NULL},
    {"cuCtxDestroy_v2", "cuCtxDestroy", (attach_function *)cuCtxDestroy_v2, 4000, 0, GPHI_CALL_cuCtxDestroy, ATTACH_ALWAYS, ATTACH_HOOK_CONTEXT_GONE, 0, 1, -1, 0, arguments_cuCtxDestroy_v2, NULL},
    {"cuCtxDetach", "cuCtxDetach", (attach_function *)cuCtxDetach, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuCtxDisablePeerAccess", "cuCtxDisablePeerAccess", (attach_function *)cuCtxDisablePeerAccess, 4000, 0, GPHI_CALL_cuCtxDisablePeerAccess, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuCtxDisablePeerAccess, NULL},
    {"cuCtxEnablePeerAccess", "cuCtxEnablePeerAccess", (attach_function *)cuCtxEnablePeerAccess, 4000, 0, GPHI_CALL_cuCtxEnablePeerAccess, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuCtxEnablePeerAccess, NULL},
    {"cuCtxFromGreenCtx", "cuCtxFromGreenCtx", (attach_function *)cuCtxFromGreenCtx, 12040, 0, GPHI_CALL_cuCtxFromGreenCtx, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuCtxFromGreenCtx, NULL},
    {"cuCtxGetApiVersion", "cuCtxGetApiVersion", (attach_function *)cuCtxGetApiVersion, 3020, 0, GPHI_CALL_cuCtxGetApiVersion, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuCtxGetApiVersion, NULL},
    {"cuCtxGetCacheConfig", "cuCtxGetCacheConfig", (attach_function *)cuCtxGetCacheConfig, 3020, 0, GPHI_CALL_cuCtxGetCacheConfig, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuCtxGetCacheConfig, NULL},
    {"cuCtxGetCurrent", "cuCtxGetCurrent", (attach_function *)cuCtxGetCurrent, 4000, 0, GPHI_CALL_cuCtxGetCurrent, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuCtxGetCurrent, NULL},
    {"cuCtxGetDevResource", "cuCtxGetDevResource", (attach_function *)cuCtxGetDevResource, 12040, 0, GPHI_CALL_cuCtxGetDevResource, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuCtxGetDevResource, NULL},
    {"cuCtxGetDevice", "cuCtxGetDevice", (attach_function *)cuCtxGetDevice, 2000, 0, GPHI_CALL_cuCtxGetDevice, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuCtxGetDevice, NULL},
    {"cuCtxGetDevice_v2", "cuCtxGetDevice", (attach_function *)cuCtxGetDevice_v2, 13000, 0, GPHI_CALL_cuCtxGetDevice, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 1, arguments_cuCtxGetDevice_v2, NULL},
    {"cuCtxGetExecAffinity", "cuCtxGetExecAffinity", (attach_function *)cuCtxGetExecAffinity, 11040, 0, GPHI_CALL_cuCtxGetExecAffinity, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuCtxGetExecAffinity, NULL},
    {"cuCtxGetFlags", "cuCtxGetFlags", (attach_function *)cuCtxGetFlags, 7000, 0, GPHI_CALL_cuCtxGetFlags, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuCtxGetFlags, NULL},
    {"cuCtxGetId", "cuCtxGetId", (attach_function *)cuCtxGetId, 12000, 0, GPHI_CALL_cuCtxGetId, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuCtxGetId, NULL},
    {"cuCtxGetLimit", "cuCtxGetLimit", (attach_function *)cuCtxGetLimit, 3010, 0, GPHI_CALL_cuCtxGetLimit, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuCtxGetLimit, NULL},
    {"cuCtxGetSharedMemConfig", "cuCtxGetSharedMemConfig", (attach_function *)cuCtxGetSharedMemConfig, 4020, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuCtxGetStreamPriorityRange", "cuCtxGetStreamPriorityRange", (attach_function *)cuCtxGetStreamPriorityRange, 5050, 0, GPHI_CALL_cuCtxGetStreamPriorityRange, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuCtxGetStreamPriorityRange, NULL},
    {"cuCtxPopCurrent", "cuCtxPopCurrent", (attach_function *)cuCtxPopCurrent, 2000, 0, GPHI_CALL_cuCtxPopCurrent, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuCtxPopCurrent, NULL},
    {"cuCtxPopCurrent_v2", "cuCtxPopCurrent", (attach_function *)cuCtxPopCurrent_v2, 4000, 0, GPHI_CALL_cuCtxPopCurrent, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuCtxPopCurrent_v2, NULL},
    {"cuCtxPushCurrent", "cuCtxPushCurrent", (attach_function *)cuCtxPushCurrent, 2000, 0, GPHI_CALL_cuCtxPushCurrent, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuCtxPushCurrent, NULL},
    {"cuCtxPushCurrent_v2", "cuCtxPushCurrent", (attach_function *)cuCtxPushCurrent_v2, 4000, 0, GPHI_CALL_cuCtxPushCurrent, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuCtxPushCurrent_v2, NULL},
    {"cuCtxRecordEvent", "cuCtxRecordEvent", (attach_function *)cuCtxRecordEvent, 12050, 0, GPHI_CALL_cuCtxRecordEvent, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuCtxRecordEvent, NULL},
    {"cuCtxResetPersistingL2Cache", "cuCtxResetPersistingL2Cache", (attach_function *)cuCtxResetPersistingL2Cache, 11000, 0, GPHI_CALL_cuCtxResetPersistingL2Cache, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 0, -1, 0, arguments_cuCtxResetPersistingL2Cache, NULL},
    {"cuCtxSetCacheConfig", "cuCtxSetCacheConfig", (attach_function *)cuCtxSetCacheConfig, 3020, 0, GPHI_CALL_cuCtxSetCacheConfig, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuCtxSetCacheConfig, NULL},
    {"cuCtxSetCurrent", "cuCtxSetCurrent", (attach_function *)cuCtxSetCurrent, 4000, 0, GPHI_CALL_cuCtxSetCurrent, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuCtxSetCurrent, NULL},
    {"cuCtxSetFlags", "cuCtxSetFlags", (attach_function *)cuCtxSetFlags, 12010, 0, GPHI_CALL_cuCtxSetFlags, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuCtxSetFlags, NULL},
    {"cuCtxSetLimit", "cuCtxSetLimit", (attach_function *)cuCtxSetLimit, 3010, 0, GPHI_CALL_cuCtxSetLimit, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuCtxSetLimit, NULL},
    {"cuCtxSetSharedMemConfig", "cuCtxSetSharedMemConfig", (attach_function *)cuCtxSetSharedMemConfig, 4020, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuCtxSynchronize", "cuCtxSynchronize", (attach_function *)cuCtxSynchronize, 2000, 0, GPHI_CALL_cuCtxSynchronize, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 0, -1, 0, arguments_cuCtxSynchronize, NULL},
    {"cuCtxSynchronize_v2", "cuCtxSynchronize", (attach_function *)cuCtxSynchronize_v2, 13000, 0, GPHI_CALL_cuCtxSynchronize, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 0, -1, 1, arguments_cuCtxSynchronize_v2, NULL},
    {"cuCtxWaitEvent", "cuCtxWaitEvent", (attach_function *)cuCtxWaitEvent, 12050, 0, GPHI_CALL_cuCtxWaitEvent, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuCtxWaitEvent, NULL},
    {"cuDestroyExternalMemory", "cuDestroyExternalMemory", (attach_function *)cuDestroyExternalMemory, 10000, 0, GPHI_CALL_cuDestroyExternalMemory, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuDestroyExternalMemory, NULL},
    {"cuDestroyExternalSemaphore", "cuDestroyExternalSemaphore", (attach_function *)cuDestroyExternalSemaphore, 10000, 0, GPHI_CALL_cuDestroyExternalSemaphore, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuDestroyExternalSemaphore, NULL},
    {"cuDevResourceGenerateDesc", "cuDevResourceGenerateDesc", (attach_function *)cuDevResourceGenerateDesc, 12040, 0, GPHI_CALL_cuDevResourceGenerateDesc, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuDevResourceGenerateDesc, NULL},
    {"cuDevSmResourceSplitByCount", "cuDevSmResourceSplitByCount", (attach_function *)cuDevSmResourceSplitByCount, 12040, 0, GPHI_CALL_cuDevSmResourceSplitByCount, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 6, -1, 0, arguments_cuDevSmResourceSplitByCount, NULL},
    {"cuDeviceCanAccessPeer", "cuDeviceCanAccessPeer", (attach_function *)cuDeviceCanAccessPeer, 4000, 0, GPHI_CALL_cuDeviceCanAccessPeer, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuDeviceCanAccessPeer, NULL},
    {"cuDeviceComputeCapability", "cuDeviceComputeCapability", (attach_function *)cuDeviceComputeCapability, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuDeviceGet", "cuDeviceGet", (attach_function *)cuDeviceGet, 2000, 0, GPHI_CALL_cuDeviceGet, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuDeviceGet, NULL},
    {"cuDeviceGetAttribute", "cuDeviceGetAttribute", (attach_function *)cuDeviceGetAttribute, 2000, 0, GPHI_CALL_cuDeviceGetAttribute, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuDeviceGetAttribute, NULL},
    {"cuDeviceGetByPCIBusId", "cuDeviceGetByPCIBusId", (attach_function *)cuDeviceGetByPCIBusId, 4010, 0, GPHI_CALL_cuDeviceGetByPCIBusId, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuDeviceGetByPCIBusId, NULL},
    {"cuDeviceGetCount", "cuDeviceGetCount", (attach_function *)cuDeviceGetCount, 2000, 0, GPHI_CALL_cuDeviceGetCount, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuDeviceGetCount, NULL},
    {"cuDeviceGetDefaultMemPool", "cuDeviceGetDefaultMemPool", (attach_function *)cuDeviceGetDefaultMemPool, 11020, 0, GPHI_CALL_cuDeviceGetDefaultMemPool, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuDeviceGetDefaultMemPool, NULL},
    {"cuDeviceGetDevResource", "cuDeviceGetDevResource", (attach_function *)cuDeviceGetDevResource, 12040, 0, GPHI_CALL_cuDeviceGetDevResource, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuDeviceGetDevResource, NULL},
    {"cuDeviceGetExecAffinitySupport", "cuDeviceGetExecAffinitySupport", (attach_function *)cuDeviceGetExecAffinitySupport, 11040, 0, GPHI_CALL_cuDeviceGetExecAffinitySupport, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuDeviceGetExecAffinitySupport, NULL},
    {"cuDeviceGetGraphMemAttribute", "cuDeviceGetGraphMemAttribute", (attach_function *)cuDeviceGetGraphMemAttribute, 11040, 0, GPHI_CALL_cuDeviceGetGraphMemAttribute, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuDeviceGetGraphMemAttribute, NULL},
    {"cuDeviceGetHostAtomicCapabilities", "cuDeviceGetHostAtomicCapabilities", (attach_function *)cuDeviceGetHostAtomicCapabilities, 13000, 0, GPHI_CALL_cuDeviceGetHostAtomicCapabilities, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuDeviceGetHostAtomicCapabilities, NULL},
    {"cuDeviceGetLuid", "cuDeviceGetLuid", (attach_function *)cuDeviceGetLuid, 10000, 0, GPHI_CALL_cuDeviceGetLuid, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuDeviceGetLuid, NULL},
    {"cuDeviceGetMemPool", "cuDeviceGetMemPool", (attach_function *)cuDeviceGetMemPool, 11020, 0, GPHI_CALL_cuDeviceGetMemPool, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuDeviceGetMemPool, NULL},
    {"cuDeviceGetName", "cuDeviceGetName", (attach_function *)cuDeviceGetName, 2000, 0, GPHI_CALL_cuDeviceGetName, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuDeviceGetName, NULL},
    {"cuDeviceGetNvSciSyncAttributes", "cuDeviceGetNvSciSyncAttributes", (attach_function *)cuDeviceGetNvSciSyncAttributes, 10020, 0, GPHI_CALL_cuDeviceGetNvSciSyncAttributes, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuDeviceGetNvSciSyncAttributes, NULL},
    {"cuDeviceGetP2PAtomicCapabilities", "cuDeviceGetP2PAtomicCapabilities", (attach_function *)cuDeviceGetP2PAtomicCapabilities, 13000, 0, GPHI_CALL_cuDeviceGetP2PAtomicCapabilities, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 5, -1, 0, arguments_cuDeviceGetP2PAtomicCapabilities, NULL},
    {"cuDeviceGetP2PAttribute", "cuDeviceGetP2PAttribute", (attach_function *)cuDeviceGetP2PAttribute, 8000, 0, GPHI_CALL_cuDeviceGetP2PAttribute, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuDeviceGetP2PAttribute, NULL},
    {"cuDeviceGetPCIBusId", "cuDeviceGetPCIBusId", (attach_function *)cuDeviceGetPCIBusId, 4010, 0, GPHI_CALL_cuDeviceGetPCIBusId, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuDeviceGetPCIBusId, NULL},
    {"cuDeviceGetProperties", "cuDeviceGetProperties", (attach_function *)cuDeviceGetProperties, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuDeviceGetTexture1DLinearMaxWidth", "cuDeviceGetTexture1DLinearMaxWidth", (attach_function *)cuDeviceGetTexture1DLinearMaxWidth, 11010, 0, GPHI_CALL_cuDeviceGetTexture1DLinearMaxWidth, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuDeviceGetTexture1DLinearMaxWidth, NULL},
    {"cuDeviceGetUuid", "cuDeviceGetUuid", (attach_function *)cuDeviceGetUuid, 9020, 0, GPHI_CALL_cuDeviceGetUuid, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuDeviceGetUuid, NULL},
    {"cuDeviceGetUuid_v2", "cuDeviceGetUuid", (attach_function *)cuDeviceGetUuid_v2, 11040, 0, GPHI_CALL_cuDeviceGetUuid, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuDeviceGetUuid_v2, NULL},
    {"cuDeviceGraphMemTrim", "cuDeviceGraphMemTrim", (attach_function *)cuDeviceGraphMemTrim, 11040, 0, GPHI_CALL_cuDeviceGraphMemTrim, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuDeviceGraphMemTrim, NULL},
    {"cuDevicePrimaryCtxGetState", "cuDevicePrimaryCtxGetState", (attach_function *)cuDevicePrimaryCtxGetState, 7000, 0, GPHI_CALL_cuDevicePrimaryCtxGetState, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuDevicePrimaryCtxGetState, NULL},
    {"cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease", (attach_function *)cuDevicePrimaryCtxRelease, 7000, 0, GPHI_CALL_cuDevicePrimaryCtxRelease, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuDevicePrimaryCtxRelease, NULL},
    {"cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRelease", (attach_function *)cuDevicePrimaryCtxRelease_v2, 11000, 0, GPHI_CALL_cuDevicePrimaryCtxRelease, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuDevicePrimaryCtxRelease_v2, NULL},
    {"cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxReset", (attach_function *)cuDevicePrimaryCtxReset, 7000, 0, GPHI_CALL_cuDevicePrimaryCtxReset, ATTACH_ALWAYS, ATTACH_HOOK_CONTEXT_GONE, 0, 1, -1, 0, arguments_cuDevicePrimaryCtxReset, NULL},
    {"cuDevicePrimaryCtxReset_v2", "cuDevicePrimaryCtxReset", (attach_function *)cuDevicePrimaryCtxReset_v2, 11000, 0, GPHI_CALL_cuDevicePrimaryCtxReset, ATTACH_ALWAYS, ATTACH_HOOK_CONTEXT_GONE, 0, 1, -1, 0, arguments_cuDevicePrimaryCtxReset_v2, NULL},
    {"cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRetain", (attach_function *)cuDevicePrimaryCtxRetain, 7000, 0, GPHI_CALL_cuDevicePrimaryCtxRetain, ATTACH_ALWAYS, ATTACH_HOOK_CONTEXT, 0, 2, -1, 0, arguments_cuDevicePrimaryCtxRetain, NULL},
    {"cuDevicePrimaryCtxSetFlags", "cuDevicePrimaryCtxSetFlags", (attach_function *)cuDevicePrimaryCtxSetFlags, 7000, 0, GPHI_CALL_cuDevicePrimaryCtxSetFlags, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuDevicePrimaryCtxSetFlags, NULL},
    {"cuDevicePrimaryCtxSetFlags_v2", "cuDevicePrimaryCtxSetFlags", (attach_function *)cuDevicePrimaryCtxSetFlags_v2, 11000, 0, GPHI_CALL_cuDevicePrimaryCtxSetFlags, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuDevicePrimaryCtxSetFlags_v2, NULL},
    {"cuDeviceRegisterAsyncNotification", "cuDeviceRegisterAsyncNotification", (attach_function *)cuDeviceRegisterAsyncNotification, 12040, 0, GPHI_CALL_cuDeviceRegisterAsyncNotification, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuDeviceRegisterAsyncNotification, NULL},
    {"cuDeviceSetGraphMemAttribute", "cuDeviceSetGraphMemAttribute", (attach_function *)cuDeviceSetGraphMemAttribute, 11040, 0, GPHI_CALL_cuDeviceSetGraphMemAttribute, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuDeviceSetGraphMemAttribute, NULL},
    {"cuDeviceSetMemPool", "cuDeviceSetMemPool", (attach_function *)cuDeviceSetMemPool, 11020, 0, GPHI_CALL_cuDeviceSetMemPool, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuDeviceSetMemPool, NULL},
    {"cuDeviceTotalMem", "cuDeviceTotalMem", (attach_function *)cuDeviceTotalMem, 2000, 0, GPHI_CALL_cuDeviceTotalMem, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 1, arguments_cuDeviceTotalMem, NULL},
    {"cuDeviceTotalMem_v2", "cuDeviceTotalMem", (attach_function *)cuDeviceTotalMem_v2, 3020, 0, GPHI_CALL_cuDeviceTotalMem, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuDeviceTotalMem_v2, NULL},
    {"cuDeviceUnregisterAsyncNotification", "cuDeviceUnregisterAsyncNotification", (attach_function *)cuDeviceUnregisterAsyncNotification, 12040, 0, GPHI_CALL_cuDeviceUnregisterAsyncNotification, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuDeviceUnregisterAsyncNotification, NULL},
    {"cuDriverGetVersion", "cuDriverGetVersion", (attach_function *)cuDriverGetVersion, 2020, 0, GPHI_CALL_cuDriverGetVersion, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuDriverGetVersion, NULL},
    {"cuEventCreate", "cuEventCreate", (attach_function *)cuEventCreate, 2000, 0, GPHI_CALL_cuEventCreate, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuEventCreate, NULL},
    {"cuEventDestroy", "cuEventDestroy", (attach_function *)cuEventDestroy, 2000, 0, GPHI_CALL_cuEventDestroy, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuEventDestroy, NULL},
    {"cuEventDestroy_v2", "cuEventDestroy", (attach_function *)cuEventDestroy_v2, 4000, 0, GPHI_CALL_cuEventDestroy, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuEventDestroy_v2, NULL},
    {"cuEventElapsedTime", "cuEventElapsedTime", (attach_function *)cuEventElapsedTime, 2000, 0, GPHI_CALL_cuEventElapsedTime, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuEventElapsedTime, NULL},
    {"cuEventElapsedTime_v2", "cuEventElapsedTime", (attach_function *)cuEventElapsedTime_v2, 12080, 0, GPHI_CALL_cuEventElapsedTime, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuEventElapsedTime_v2, NULL},
    {"cuEventQuery", "cuEventQuery", (attach_function *)cuEventQuery, 2000, 0, GPHI_CALL_cuEventQuery, ATTACH_POLL, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuEventQuery, NULL},
    {"cuEventRecord", "cuEventRecord", (attach_function *)cuEventRecord, 2000, 0, GPHI_CALL_cuEventRecord, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, 1, 0, arguments_cuEventRecord, NULL},
    {"cuEventRecordWithFlags", "cuEventRecordWithFlags", (attach_function *)cuEventRecordWithFlags, 11010, 0, GPHI_CALL_cuEventRecordWithFlags, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, 1, 0, arguments_cuEventRecordWithFlags, NULL},
    {"cuEventRecordWithFlags_ptsz", "cuEventRecordWithFlags", (attach_function *)cuEventRecordWithFlags_ptsz, 11010, 1, GPHI_CALL_cuEventRecordWithFlags, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, 1, 0, arguments_cuEventRecordWithFlags_ptsz, NULL},
    {"cuEventRecord_ptsz", "cuEventRecord", (attach_function *)cuEventRecord_ptsz, 7000, 1, GPHI_CALL_cuEventRecord, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, 1, 0, arguments_cuEventRecord_ptsz, NULL},
    {"cuEventSynchronize", "cuEventSynchronize", (attach_function *)cuEventSynchronize, 2000, 0, GPHI_CALL_cuEventSynchronize, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuEventSynchronize, NULL},
    {"cuExternalMemoryGetMappedBuffer", "cuExternalMemoryGetMappedBuffer", (attach_function *)cuExternalMemoryGetMappedBuffer, 10000, 0, GPHI_CALL_cuExternalMemoryGetMappedBuffer, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuExternalMemoryGetMappedBuffer, NULL},
    {"cuExternalMemoryGetMappedMipmappedArray", "cuExternalMemoryGetMappedMipmappedArray", (attach_function *)cuExternalMemoryGetMappedMipmappedArray, 10000, 0, GPHI_CALL_cuExternalMemoryGetMappedMipmappedArray, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuExternalMemoryGetMappedMipmappedArray, NULL},
    {"cuFlushGPUDirectRDMAWrites", "cuFlushGPUDirectRDMAWrites", (attach_function *)cuFlushGPUDirectRDMAWrites, 11030, 0, GPHI_CALL_cuFlushGPUDirectRDMAWrites, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuFlushGPUDirectRDMAWrites, NULL},
    {"cuFuncGetAttribute", "cuFuncGetAttribute", (attach_function *)cuFuncGetAttribute, 2020, 0, GPHI_CALL_cuFuncGetAttribute, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuFuncGetAttribute, NULL},
    {"cuFuncGetModule", "cuFuncGetModule", (attach_function *)cuFuncGetModule, 11000, 0, GPHI_CALL_cuFuncGetModule, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuFuncGetModule, NULL},
    {"cuFuncGetName", "cuFuncGetName", (attach_function *)cuFuncGetName, 12030, 0, GPHI_CALL_cuFuncGetName, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuFuncGetName, NULL},
    {"cuFuncGetParamInfo", "cuFuncGetParamInfo", (attach_function *)cuFuncGetParamInfo, 12040, 0, GPHI_CALL_cuFuncGetParamInfo, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuFuncGetParamInfo, NULL},
    {"cuFuncIsLoaded", "cuFuncIsLoaded", (attach_function *)cuFuncIsLoaded, 12040, 0, GPHI_CALL_cuFuncIsLoaded, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuFuncIsLoaded, NULL},
    {"cuFuncLoad", "cuFuncLoad", (attach_function *)cuFuncLoad, 12040, 0, GPHI_CALL_cuFuncLoad, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuFuncLoad, NULL},
    {"cuFuncSetAttribute", "cuFuncSetAttribute", (attach_function *)cuFuncSetAttribute, 9000, 0, GPHI_CALL_cuFuncSetAttribute, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuFuncSetAttribute, NULL},
    {"cuFuncSetBlockShape", "cuFuncSetBlockShape", (attach_function *)cuFuncSetBlockShape, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuFuncSetCacheConfig", "cuFuncSetCacheConfig", (attach_function *)cuFuncSetCacheConfig, 3000, 0, GPHI_CALL_cuFuncSetCacheConfig, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuFuncSetCacheConfig, NULL},
    {"cuFuncSetSharedMemConfig", "cuFuncSetSharedMemConfig", (attach_function *)cuFuncSetSharedMemConfig, 4020, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuFuncSetSharedSize", "cuFuncSetSharedSize", (attach_function *)cuFuncSetSharedSize, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuGetErrorName", "cuGetErrorName", (attach_function *)cuGetErrorName, 6000, 0, GPHI_CALL_cuGetErrorName, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuGetErrorName, NULL},
    {"cuGetErrorString", "cuGetErrorString", (attach_function *)cuGetErrorString, 6000, 0, GPHI_CALL_cuGetErrorString, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuGetErrorString, NULL},
    {"cuGetExportTable", "cuGetExportTable", (attach_function *)cuGetExportTable, 3000, 0, GPHI_CALL_cuGetExportTable, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuGetExportTable, NULL},
    {"cuGetProcAddress", "cuGetProcAddress", (attach_function *)cuGetProcAddress, 11030, 0, GPHI_CALL_cuGetProcAddress, ATTACH_NEVER, ATTACH_HOOK_GET_PROC, 0, 4, -1, 1, arguments_cuGetProcAddress, NULL},
    {"cuGetProcAddress_v2", "cuGetProcAddress", (attach_function *)cuGetProcAddress_v2, 12000, 0, GPHI_CALL_cuGetProcAddress, ATTACH_NEVER, ATTACH_HOOK_GET_PROC, 0, 5, -1, 0, arguments_cuGetProcAddress_v2, NULL},
    {"cuGraphAddBatchMemOpNode", "cuGraphAddBatchMemOpNode", (attach_function *)cuGraphAddBatchMemOpNode, 11070, 0, GPHI_CALL_cuGraphAddBatchMemOpNode, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 5, -1, 0, arguments_cuGraphAddBatchMemOpNode, NULL},
    {"cuGraphAddChildGraphNode", "cuGraphAddChildGraphNode", (attach_function *)cuGraphAddChildGraphNode, 10000, 0, GPHI_CALL_cuGraphAddChildGraphNode, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 5, -1, 0, arguments_cuGraphAddChildGraphNode, NULL},
    {"cuGraphAddDependencies", "cuGraphAddDependencies", (attach_function *)cuGraphAddDependencies, 10000, 0, GPHI_CALL_cuGraphAddDependencies, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 5, -1, 1, arguments_cuGraphAddDependencies, order_cuGraphAddDependencies},
    {"cuGraphAddDependencies_v2", "cuGraphAddDependencies", (attach_function *)cuGraphAddDependencies_v2, 12030, 0, GPHI_CALL_cuGraphAddDependencies, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 5, -1, 0, arguments_cuGraphAddDependencies_v2, NULL},
    {"cuGraphAddEmptyNode", "cuGraphAddEmptyNode", (attach_function *)cuGraphAddEmptyNode, 10000, 0, GPHI_CALL_cuGraphAddEmptyNode, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 4, -1, 0, arguments_cuGraphAddEmptyNode, NULL},
    {"cuGraphAddEventRecordNode", "cuGraphAddEventRecordNode", (attach_function *)cuGraphAddEventRecordNode, 11010, 0, GPHI_CALL_cuGraphAddEventRecordNode, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 5, -1, 0, arguments_cuGraphAddEventRecordNode, NULL},
    {"cuGraphAddEventWaitNode", "cuGraphAddEventWaitNode", (attach_function *)cuGraphAddEventWaitNode, 11010, 0, GPHI_CALL_cuGraphAddEventWaitNode, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 5, -1, 0, arguments_cuGraphAddEventWaitNode, NULL},
    {"cuGraphAddExternalSemaphoresSignalNode", "cuGraphAddExternalSemaphoresSignalNode", (attach_function *)cuGraphAddExternalSemaphoresSignalNode, 11020, 0, GPHI_CALL_cuGraphAddExternalSemaphoresSignalNode, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 5, -1, 0, arguments_cuGraphAddExternalSemaphoresSignalNode, NULL},
    {"cuGraphAddExternalSemaphoresWaitNode", "cuGraphAddExternalSemaphoresWaitNode", (attach_function *)cuGraphAddExternalSemaphoresWaitNode, 11020, 0, GPHI_CALL_cuGraphAddExternalSemaphoresWaitNode, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 5, -1, 0, arguments_cuGraphAddExternalSemaphoresWaitNode, NULL},
    {"cuGraphAddHostNode", "cuGraphAddHostNode", (attach_function *)cuGraphAddHostNode, 10000, 0, GPHI_CALL_cuGraphAddHostNode, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 5, -1, 0, arguments_cuGraphAddHostNode, NULL},
    {"cuGraphAddKernelNode", "cuGraphAddKernelNode", (attach_function *)cuGraphAddKernelNode, 10000, 0, GPHI_CALL_cuGraphAddKernelNode, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 5, -1, 1, arguments_cuGraphAddKernelNode, NULL},
    {"cuGraphAddKernelNode_v2", "cuGraphAddKernelNode", (attach_function *)cuGraphAddKernelNode_v2, 12000, 0, GPHI_CALL_cuGraphAddKernelNode, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 5, -1, 0, arguments_cuGraphAddKernelNode_v2, NULL},
    {"cuGraphAddMemAllocNode", "cuGraphAddMemAllocNode", (attach_function *)cuGraphAddMemAllocNode, 11040, 0, GPHI_CALL_cuGraphAddMemAllocNode, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 5, -1, 0, arguments_cuGraphAddMemAllocNode, NULL},
    {"cuGraphAddMemFreeNode", "cuGraphAddMemFreeNode", (attach_function *)cuGraphAddMemFreeNode, 11040, 0, GPHI_CALL_cuGraphAddMemFreeNode, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 5, -1, 0, arguments_cuGraphAddMemFreeNode, NULL},
    {"cuGraphAddMemcpyNode", "cuGraphAddMemcpyNode", (attach_function *)cuGraphAddMemcpyNode, 10000, 0, GPHI_CALL_cuGraphAddMemcpyNode, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 6, -1, 0, arguments_cuGraphAddMemcpyNode, NULL},
    {"cuGraphAddMemsetNode", "cuGraphAddMemsetNode", (attach_function *)cuGraphAddMemsetNode, 10000, 0, GPHI_CALL_cuGraphAddMemsetNode, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 6, -1, 0, arguments_cuGraphAddMemsetNode, NULL},
    {"cuGraphAddNode", "cuGraphAddNode", (attach_function *)cuGraphAddNode, 12020, 0, GPHI_CALL_cuGraphAddNode, ATTACH_ALWAYS, ATTACH_HOOK_ADD_NODE, ATTACH_EDITS, 6, -1, 1, arguments_cuGraphAddNode, order_cuGraphAddNode},
    {"cuGraphAddNode_v2", "cuGraphAddNode", (attach_function *)cuGraphAddNode_v2, 12030, 0, GPHI_CALL_cuGraphAddNode, ATTACH_ALWAYS, ATTACH_HOOK_ADD_NODE, ATTACH_EDITS, 6, -1, 0, arguments_cuGraphAddNode_v2, NULL},
    {"cuGraphBatchMemOpNodeGetParams", "cuGraphBatchMemOpNodeGetParams", (attach_function *)cuGraphBatchMemOpNodeGetParams, 11070, 0, GPHI_CALL_cuGraphBatchMemOpNodeGetParams, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuGraphBatchMemOpNodeGetParams, NULL},
    {"cuGraphBatchMemOpNodeSetParams", "cuGraphBatchMemOpNodeSetParams", (attach_function *)cuGraphBatchMemOpNodeSetParams, 11070, 0, GPHI_CALL_cuGraphBatchMemOpNodeSetParams, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 2, -1, 0, arguments_cuGraphBatchMemOpNodeSetParams, NULL},
    {"cuGraphChildGraphNodeGetGraph", "cuGraphChildGraphNodeGetGraph", (attach_function *)cuGraphChildGraphNodeGetGraph, 10000, 0, GPHI_CALL_cuGraphChildGraphNodeGetGraph, ATTACH_ALWAYS, ATTACH_HOOK_CHILD, 0, 2, -1, 0, arguments_cuGraphChildGraphNodeGetGraph, NULL},
    {"cuGraphClone", "cuGraphClone", (attach_function *)cuGraphClone, 10000, 0, GPHI_CALL_cuGraphClone, ATTACH_ALWAYS, ATTACH_HOOK_GRAPH, ATTACH_EDITS, 2, -1, 0, arguments_cuGraphClone, NULL},
    {"cuGraphConditionalHandleCreate", "cuGraphConditionalHandleCreate", (attach_function *)cuGraphConditionalHandleCreate, 12030, 0, GPHI_CALL_cuGraphConditionalHandleCreate, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 5, -1, 0, arguments_cuGraphConditionalHandleCreate, NULL},
    {"cuGraphCreate", "cuGraphCreate", (attach_function *)cuGraphCreate, 10000, 0, GPHI_CALL_cuGraphCreate, ATTACH_ALWAYS, ATTACH_HOOK_GRAPH, ATTACH_EDITS, 2, -1, 0, arguments_cuGraphCreate, NULL},
    {"cuGraphDebugDotPrint", "cuGraphDebugDotPrint", (attach_function *)cuGraphDebugDotPrint, 11030, 0, GPHI_CALL_cuGraphDebugDotPrint, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuGraphDebugDotPrint, NULL},
    {"cuGraphDestroy", "cuGraphDestroy", (attach_function *)cuGraphDestroy, 10000, 0, GPHI_CALL_cuGraphDestroy, ATTACH_ALWAYS, ATTACH_HOOK_GRAPH_GONE, ATTACH_PYTHON|ATTACH_EDITS, 1, -1, 0, arguments_cuGraphDestroy, NULL},
    {"cuGraphDestroyNode", "cuGraphDestroyNode", (attach_function *)cuGraphDestroyNode, 10000, 0, GPHI_CALL_cuGraphDestroyNode, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 1, -1, 0, arguments_cuGraphDestroyNode, NULL},
    {"cuGraphEventRecordNodeGetEvent", "cuGraphEventRecordNodeGetEvent", (attach_function *)cuGraphEventRecordNodeGetEvent, 11010, 0, GPHI_CALL_cuGraphEventRecordNodeGetEvent, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuGraphEventRecordNodeGetEvent, NULL},
    {"cuGraphEventRecordNodeSetEvent", "cuGraphEventRecordNodeSetEvent", (attach_function *)cuGraphEventRecordNodeSetEvent, 11010, 0, GPHI_CALL_cuGraphEventRecordNodeSetEvent, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 2, -1, 0, arguments_cuGraphEventRecordNodeSetEvent, NULL},
    {"cuGraphEventWaitNodeGetEvent", "cuGraphEventWaitNodeGetEvent", (attach_function *)cuGraphEventWaitNodeGetEvent, 11010, 0, GPHI_CALL_cuGraphEventWaitNodeGetEvent, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuGraphEventWaitNodeGetEvent, NULL},
    {"cuGraphEventWaitNodeSetEvent", "cuGraphEventWaitNodeSetEvent", (attach_function *)cuGraphEventWaitNodeSetEvent, 11010, 0, GPHI_CALL_cuGraphEventWaitNodeSetEvent, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 2, -1, 0, arguments_cuGraphEventWaitNodeSetEvent, NULL},
    {"cuGraphExecBatchMemOpNodeSetParams", "cuGraphExecBatchMemOpNodeSetParams", (attach_function *)cuGraphExecBatchMemOpNodeSetParams, 11070, 0, GPHI_CALL_cuGraphExecBatchMemOpNodeSetParams, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 3, -1, 0, arguments_cuGraphExecBatchMemOpNodeSetParams, NULL},
    {"cuGraphExecChildGraphNodeSetParams", "cuGraphExecChildGraphNodeSetParams", (attach_function *)cuGraphExecChildGraphNodeSetParams, 11010, 0, GPHI_CALL_cuGraphExecChildGraphNodeSetParams, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 3, -1, 0, arguments_cuGraphExecChildGraphNodeSetParams, NULL},
    {"cuGraphExecDestroy", "cuGraphExecDestroy", (attach_function *)cuGraphExecDestroy, 10000, 0, GPHI_CALL_cuGraphExecDestroy, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_PYTHON, 1, -1, 0, arguments_cuGraphExecDestroy, NULL},
    {"cuGraphExecEventRecordNodeSetEvent", "cuGraphExecEventRecordNodeSetEvent", (attach_function *)cuGraphExecEventRecordNodeSetEvent, 11010, 0, GPHI_CALL_cuGraphExecEventRecordNodeSetEvent, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 3, -1, 0, arguments_cuGraphExecEventRecordNodeSetEvent, NULL},
    {"cuGraphExecEventWaitNodeSetEvent", "cuGraphExecEventWaitNodeSetEvent", (attach_function *)cuGraphExecEventWaitNodeSetEvent, 11010, 0, GPHI_CALL_cuGraphExecEventWaitNodeSetEvent, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 3, -1, 0, arguments_cuGraphExecEventWaitNodeSetEvent, NULL},
    {"cuGraphExecExternalSemaphoresSignalNodeSetParams", "cuGraphExecExternalSemaphoresSignalNodeSetParams", (attach_function *)cuGraphExecExternalSemaphoresSignalNodeSetParams, 11020, 0, GPHI_CALL_cuGraphExecExternalSemaphoresSignalNodeSetParams, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 3, -1, 0, arguments_cuGraphExecExternalSemaphoresSignalNodeSetParams, NULL},
    {"cuGraphExecExternalSemaphoresWaitNodeSetParams", "cuGraphExecExternalSemaphoresWaitNodeSetParams", (attach_function *)cuGraphExecExternalSemaphoresWaitNodeSetParams, 11020, 0, GPHI_CALL_cuGraphExecExternalSemaphoresWaitNodeSetParams, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 3, -1, 0, arguments_cuGraphExecExternalSemaphoresWaitNodeSetParams, NULL},
    {"cuGraphExecGetFlags", "cuGraphExecGetFlags", (attach_function *)cuGraphExecGetFlags, 12000, 0, GPHI_CALL_cuGraphExecGetFlags, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuGraphExecGetFlags, NULL},
    {"cuGraphExecHostNodeSetParams", "cuGraphExecHostNodeSetParams", (attach_function *)cuGraphExecHostNodeSetParams, 10020, 0, GPHI_CALL_cuGraphExecHostNodeSetParams, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 3, -1, 0, arguments_cuGraphExecHostNodeSetParams, NULL},
    {"cuGraphExecKernelNodeSetParams", "cuGraphExecKernelNodeSetParams", (attach_function *)cuGraphExecKernelNodeSetParams, 10010, 0, GPHI_CALL_cuGraphExecKernelNodeSetParams, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 3, -1, 1, arguments_cuGraphExecKernelNodeSetParams, NULL},
    {"cuGraphExecKernelNodeSetParams_v2", "cuGraphExecKernelNodeSetParams", (attach_function *)cuGraphExecKernelNodeSetParams_v2, 12000, 0, GPHI_CALL_cuGraphExecKernelNodeSetParams, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 3, -1, 0, arguments_cuGraphExecKernelNodeSetParams_v2, NULL},
    {"cuGraphExecMemcpyNodeSetParams", "cuGraphExecMemcpyNodeSetParams", (attach_function *)cuGraphExecMemcpyNodeSetParams, 10020, 0, GPHI_CALL_cuGraphExecMemcpyNodeSetParams, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 4, -1, 0, arguments_cuGraphExecMemcpyNodeSetParams, NULL},
    {"cuGraphExecMemsetNodeSetParams", "cuGraphExecMemsetNodeSetParams", (attach_function *)cuGraphExecMemsetNodeSetParams, 10020, 0, GPHI_CALL_cuGraphExecMemsetNodeSetParams, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 4, -1, 0, arguments_cuGraphExecMemsetNodeSetParams, NULL},
    {"cuGraphExecNodeSetParams", "cuGraphExecNodeSetParams", (attach_function *)cuGraphExecNodeSetParams, 12020, 0, GPHI_CALL_cuGraphExecNodeSetParams, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 3, -1, 0, arguments_cuGraphExecNodeSetParams, NULL},
    {"cuGraphExecUpdate", "cuGraphExecUpdate", (attach_function *)cuGraphExecUpdate, 10020, 0, GPHI_CALL_cuGraphExecUpdate, ATTACH_ALWAYS, ATTACH_HOOK_UPDATE, ATTACH_PYTHON, 3, -1, 1, arguments_cuGraphExecUpdate, order_cuGraphExecUpdate},
    {"cuGraphExecUpdate_v2", "cuGraphExecUpdate", (attach_function *)cuGraphExecUpdate_v2, 12000, 0, GPHI_CALL_cuGraphExecUpdate, ATTACH_ALWAYS, ATTACH_HOOK_UPDATE, ATTACH_PYTHON, 3, -1, 0, arguments_cuGraphExecUpdate_v2, NULL},
    {"cuGraphExternalSemaphoresSignalNodeGetParams", "cuGraphExternalSemaphoresSignalNodeGetParams", (attach_function *)cuGraphExternalSemaphoresSignalNodeGetParams, 11020, 0, GPHI_CALL_cuGraphExternalSemaphoresSignalNodeGetParams, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuGraphExternalSemaphoresSignalNodeGetParams, NULL},
    {"cuGraphExternalSemaphoresSignalNodeSetParams", "cuGraphExternalSemaphoresSignalNodeSetParams", (attach_function *)cuGraphExternalSemaphoresSignalNodeSetParams, 11020, 0, GPHI_CALL_cuGraphExternalSemaphoresSignalNodeSetParams, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 2, -1, 0, arguments_cuGraphExternalSemaphoresSignalNodeSetParams, NULL},
    {"cuGraphExternalSemaphoresWaitNodeGetParams", "cuGraphExternalSemaphoresWaitNodeGetParams", (attach_function *)cuGraphExternalSemaphoresWaitNodeGetParams, 11020, 0, GPHI_CALL_cuGraphExternalSemaphoresWaitNodeGetParams, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuGraphExternalSemaphoresWaitNodeGetParams, NULL},
    {"cuGraphExternalSemaphoresWaitNodeSetParams", "cuGraphExternalSemaphoresWaitNodeSetParams", (attach_function *)cuGraphExternalSemaphoresWaitNodeSetParams, 11020, 0, GPHI_CALL_cuGraphExternalSemaphoresWaitNodeSetParams, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 2, -1, 0, arguments_cuGraphExternalSemaphoresWaitNodeSetParams, NULL},
    {"cuGraphGetEdges", "cuGraphGetEdges", (attach_function *)cuGraphGetEdges, 10000, 0, GPHI_CALL_cuGraphGetEdges, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 5, -1, 1, arguments_cuGraphGetEdges, order_cuGraphGetEdges},
    {"cuGraphGetEdges_v2", "cuGraphGetEdges", (attach_function *)cuGraphGetEdges_v2, 12030, 0, GPHI_CALL_cuGraphGetEdges, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 5, -1, 0, arguments_cuGraphGetEdges_v2, NULL},
    {"cuGraphGetNodes", "cuGraphGetNodes", (attach_function *)cuGraphGetNodes, 10000, 0, GPHI_CALL_cuGraphGetNodes, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuGraphGetNodes, NULL},
    {"cuGraphGetRootNodes", "cuGraphGetRootNodes", (attach_function *)cuGraphGetRootNodes, 10000, 0, GPHI_CALL_cuGraphGetRootNodes, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuGraphGetRootNodes, NULL},
    {"cuGraphHostNodeGetParams", "cuGraphHostNodeGetParams", (attach_function *)cuGraphHostNodeGetParams, 10000, 0, GPHI_CALL_cuGraphHostNodeGetParams, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuGraphHostNodeGetParams, NULL},
    {"cuGraphHostNodeSetParams", "cuGraphHostNodeSetParams", (attach_function *)cuGraphHostNodeSetParams, 10000, 0, GPHI_CALL_cuGraphHostNodeSetParams, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 2, -1, 0, arguments_cuGraphHostNodeSetParams, NULL},
    {"cuGraphInstantiate", "cuGraphInstantiate", (attach_function *)cuGraphInstantiate, 10000, 0, GPHI_CALL_cuGraphInstantiateWithFlags, ATTACH_ALWAYS, ATTACH_HOOK_INSTANTIATE, ATTACH_PYTHON, 3, -1, 1, arguments_cuGraphInstantiate, order_cuGraphInstantiate},
    {"cuGraphInstantiateWithFlags", "cuGraphInstantiateWithFlags", (attach_function *)cuGraphInstantiateWithFlags, 11040, 0, GPHI_CALL_cuGraphInstantiateWithFlags, ATTACH_ALWAYS, ATTACH_HOOK_INSTANTIATE, ATTACH_PYTHON, 3, -1, 0, arguments_cuGraphInstantiateWithFlags, NULL},
    {"cuGraphInstantiateWithParams", "cuGraphInstantiateWithParams", (attach_function *)cuGraphInstantiateWithParams, 12000, 0, GPHI_CALL_cuGraphInstantiateWithParams, ATTACH_ALWAYS, ATTACH_HOOK_INSTANTIATE, ATTACH_PYTHON, 3, -1, 0, arguments_cuGraphInstantiateWithParams, NULL},
    {"cuGraphInstantiateWithParams_ptsz", "cuGraphInstantiateWithParams", (attach_function *)cuGraphInstantiateWithParams_ptsz, 12000, 1, GPHI_CALL_cuGraphInstantiateWithParams, ATTACH_ALWAYS, ATTACH_HOOK_INSTANTIATE, ATTACH_PYTHON, 3, -1, 0, arguments_cuGraphInstantiateWithParams_ptsz, NULL},
    {"cuGraphInstantiate_v2", "cuGraphInstantiate", (attach_function *)cuGraphInstantiate_v2, 11000, 0, GPHI_CALL_cuGraphInstantiateWithFlags, ATTACH_ALWAYS, ATTACH_HOOK_INSTANTIATE, ATTACH_PYTHON, 3, -1, 1, arguments_cuGraphInstantiate_v2, order_cuGraphInstantiate_v2},
    {"cuGraphKernelNodeCopyAttributes", "cuGraphKernelNodeCopyAttributes", (attach_function *)cuGraphKernelNodeCopyAttributes, 11000, 0, GPHI_CALL_cuGraphKernelNodeCopyAttributes, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 2, -1, 0, arguments_cuGraphKernelNodeCopyAttributes, NULL},
    {"cuGraphKernelNodeGetAttribute", "cuGraphKernelNodeGetAttribute", (attach_function *)cuGraphKernelNodeGetAttribute, 11000, 0, GPHI_CALL_cuGraphKernelNodeGetAttribute, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuGraphKernelNodeGetAttribute, NULL},
    {"cuGraphKernelNodeGetParams", "cuGraphKernelNodeGetParams", (attach_function *)cuGraphKernelNodeGetParams, 10000, 0, GPHI_CALL_cuGraphKernelNodeGetParams, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 1, arguments_cuGraphKernelNodeGetParams, NULL},
    {"cuGraphKernelNodeGetParams_v2", "cuGraphKernelNodeGetParams", (attach_function *)cuGraphKernelNodeGetParams_v2, 12000, 0, GPHI_CALL_cuGraphKernelNodeGetParams, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuGraphKernelNodeGetParams_v2, NULL},
    {"cuGraphKernelNodeSetAttribute", "cuGraphKernelNodeSetAttribute", (attach_function *)cuGraphKernelNodeSetAttribute, 11000, 0, GPHI_CALL_cuGraphKernelNodeSetAttribute, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 3, -1, 0, arguments_cuGraphKernelNodeSetAttribute, NULL},
    {"cuGraphKernelNodeSetParams", "cuGraphKernelNodeSetParams", (attach_function *)cuGraphKernelNodeSetParams, 10000, 0, GPHI_CALL_cuGraphKernelNodeSetParams, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 2, -1, 1, arguments_cuGraphKernelNodeSetParams, NULL},
    {"cuGraphKernelNodeSetParams_v2", "cuGraphKernelNodeSetParams", (attach_function *)cuGraphKernelNodeSetParams_v2, 12000, 0, GPHI_CALL_cuGraphKernelNodeSetParams, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 2, -1, 0, arguments_cuGraphKernelNodeSetParams_v2, NULL},
    {"cuGraphLaunch", "cuGraphLaunch", (attach_function *)cuGraphLaunch, 10000, 0, GPHI_CALL_cuGraphLaunch, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 2, 1, 0, arguments_cuGraphLaunch, NULL},
    {"cuGraphLaunch_ptsz", "cuGraphLaunch", (attach_function *)cuGraphLaunch_ptsz, 10000, 1, GPHI_CALL_cuGraphLaunch, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 2, 1, 0, arguments_cuGraphLaunch_ptsz, NULL},
    {"cuGraphMemAllocNodeGetParams", "cuGraphMemAllocNodeGetParams", (attach_function *)cuGraphMemAllocNodeGetParams, 11040, 0, GPHI_CALL_cuGraphMemAllocNodeGetParams, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuGraphMemAllocNodeGetParams, NULL},
    {"cuGraphMemFreeNodeGetParams", "cuGraphMemFreeNodeGetParams", (attach_function *)cuGraphMemFreeNodeGetParams, 11040, 0, GPHI_CALL_cuGraphMemFreeNodeGetParams, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuGraphMemFreeNodeGetParams, NULL},
    {"cuGraphMemcpyNodeGetParams", "cuGraphMemcpyNodeGetParams", (attach_function *)cuGraphMemcpyNodeGetParams, 10000, 0, GPHI_CALL_cuGraphMemcpyNodeGetParams, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuGraphMemcpyNodeGetParams, NULL},
    {"cuGraphMemcpyNodeSetParams", "cuGraphMemcpyNodeSetParams", (attach_function *)cuGraphMemcpyNodeSetParams, 10000, 0, GPHI_CALL_cuGraphMemcpyNodeSetParams, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 2, -1, 0, arguments_cuGraphMemcpyNodeSetParams, NULL},
    {"cuGraphMemsetNodeGetParams", "cuGraphMemsetNodeGetParams", (attach_function *)cuGraphMemsetNodeGetParams, 10000, 0, GPHI_CALL_cuGraphMemsetNodeGetParams, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuGraphMemsetNodeGetParams, NULL},
    {"cuGraphMemsetNodeSetParams", "cuGraphMemsetNodeSetParams", (attach_function *)cuGraphMemsetNodeSetParams, 10000, 0, GPHI_CALL_cuGraphMemsetNodeSetParams, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 2, -1, 0, arguments_cuGraphMemsetNodeSetParams, NULL},
    {"cuGraphNodeFindInClone", "cuGraphNodeFindInClone", (attach_function *)cuGraphNodeFindInClone, 10000, 0, GPHI_CALL_cuGraphNodeFindInClone, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuGraphNodeFindInClone, NULL},
    {"cuGraphNodeGetDependencies", "cuGraphNodeGetDependencies", (attach_function *)cuGraphNodeGetDependencies, 10000, 0, GPHI_CALL_cuGraphNodeGetDependencies, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 4, -1, 1, arguments_cuGraphNodeGetDependencies, order_cuGraphNodeGetDependencies},
    {"cuGraphNodeGetDependencies_v2", "cuGraphNodeGetDependencies", (attach_function *)cuGraphNodeGetDependencies_v2, 12030, 0, GPHI_CALL_cuGraphNodeGetDependencies, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuGraphNodeGetDependencies_v2, NULL},
    {"cuGraphNodeGetDependentNodes", "cuGraphNodeGetDependentNodes", (attach_function *)cuGraphNodeGetDependentNodes, 10000, 0, GPHI_CALL_cuGraphNodeGetDependentNodes, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 4, -1, 1, arguments_cuGraphNodeGetDependentNodes, order_cuGraphNodeGetDependentNodes},
    {"cuGraphNodeGetDependentNodes_v2", "cuGraphNodeGetDependentNodes", (attach_function *)cuGraphNodeGetDependentNodes_v2, 12030, 0, GPHI_CALL_cuGraphNodeGetDependentNodes, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuGraphNodeGetDependentNodes_v2, NULL},
    {"cuGraphNodeGetEnabled", "cuGraphNodeGetEnabled", (attach_function *)cuGraphNodeGetEnabled, 11060, 0, GPHI_CALL_cuGraphNodeGetEnabled, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuGraphNodeGetEnabled, NULL},
    {"cuGraphNodeGetType", "cuGraphNodeGetType", (attach_function *)cuGraphNodeGetType, 10000, 0, GPHI_CALL_cuGraphNodeGetType, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuGraphNodeGetType, NULL},
    {"cuGraphNodeSetEnabled", "cuGraphNodeSetEnabled", (attach_function *)cuGraphNodeSetEnabled, 11060, 0, GPHI_CALL_cuGraphNodeSetEnabled, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 3, -1, 0, arguments_cuGraphNodeSetEnabled, NULL},
    {"cuGraphNodeSetParams", "cuGraphNodeSetParams", (attach_function *)cuGraphNodeSetParams, 12020, 0, GPHI_CALL_cuGraphNodeSetParams, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 2, -1, 0, arguments_cuGraphNodeSetParams, NULL},
    {"cuGraphReleaseUserObject", "cuGraphReleaseUserObject", (attach_function *)cuGraphReleaseUserObject, 11030, 0, GPHI_CALL_cuGraphReleaseUserObject, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuGraphReleaseUserObject, NULL},
    {"cuGraphRemoveDependencies", "cuGraphRemoveDependencies", (attach_function *)cuGraphRemoveDependencies, 10000, 0, GPHI_CALL_cuGraphRemoveDependencies, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 5, -1, 1, arguments_cuGraphRemoveDependencies, order_cuGraphRemoveDependencies},
    {"cuGraphRemoveDependencies_v2", "cuGraphRemoveDependencies", (attach_function *)cuGraphRemoveDependencies_v2, 12030, 0, GPHI_CALL_cuGraphRemoveDependencies, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 5, -1, 0, arguments_cuGraphRemoveDependencies_v2, NULL},
    {"cuGraphRetainUserObject", "cuGraphRetainUserObject", (attach_function *)cuGraphRetainUserObject, 11030, 0, GPHI_CALL_cuGraphRetainUserObject, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuGraphRetainUserObject, NULL},
    {"cuGraphUpload", "cuGraphUpload", (attach_function *)cuGraphUpload, 11010, 0, GPHI_CALL_cuGraphUpload, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_PYTHON, 2, 1, 0, arguments_cuGraphUpload, NULL},
    {"cuGraphUpload_ptsz", "cuGraphUpload", (attach_function *)cuGraphUpload_ptsz, 11010, 1, GPHI_CALL_cuGraphUpload, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_PYTHON, 2, 1, 0, arguments_cuGraphUpload_ptsz, NULL},
    {"cuGraphicsMapResources", "cuGraphicsMapResources", (attach_function *)cuGraphicsMapResources, 3000, 0, GPHI_CALL_cuGraphicsMapResources, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, 2, 0, arguments_cuGraphicsMapResources, NULL},
    {"cuGraphicsMapResources_ptsz", "cuGraphicsMapResources", (attach_function *)cuGraphicsMapResources_ptsz, 7000, 1, GPHI_CALL_cuGraphicsMapResources, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, 2, 0, arguments_cuGraphicsMapResources_ptsz, NULL},
    {"cuGraphicsResourceGetMappedMipmappedArray", "cuGraphicsResourceGetMappedMipmappedArray", (attach_function *)cuGraphicsResourceGetMappedMipmappedArray, 5000, 0, GPHI_CALL_cuGraphicsResourceGetMappedMipmappedArray, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuGraphicsResourceGetMappedMipmappedArray, NULL},
    {"cuGraphicsResourceGetMappedPointer", "cuGraphicsResourceGetMappedPointer", (attach_function *)cuGraphicsResourceGetMappedPointer, 3000, 0, GPHI_CALL_cuGraphicsResourceGetMappedPointer, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 1, arguments_cuGraphicsResourceGetMappedPointer, NULL},
    {"cuGraphicsResourceGetMappedPointer_v2", "cuGraphicsResourceGetMappedPointer", (attach_function *)cuGraphicsResourceGetMappedPointer_v2, 3020, 0, GPHI_CALL_cuGraphicsResourceGetMappedPointer, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuGraphicsResourceGetMappedPointer_v2, NULL},
    {"cuGraphicsResourceSetMapFlags", "cuGraphicsResourceSetMapFlags", (attach_function *)cuGraphicsResourceSetMapFlags, 3000, 0, GPHI_CALL_cuGraphicsResourceSetMapFlags, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuGraphicsResourceSetMapFlags, NULL},
    {"cuGraphicsResourceSetMapFlags_v2", "cuGraphicsResourceSetMapFlags", (attach_function *)cuGraphicsResourceSetMapFlags_v2, 6050, 0, GPHI_CALL_cuGraphicsResourceSetMapFlags, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuGraphicsResourceSetMapFlags_v2, NULL},
    {"cuGraphicsSubResourceGetMappedArray", "cuGraphicsSubResourceGetMappedArray", (attach_function *)cuGraphicsSubResourceGetMappedArray, 3000, 0, GPHI_CALL_cuGraphicsSubResourceGetMappedArray, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuGraphicsSubResourceGetMappedArray, NULL},
    {"cuGraphicsUnmapResources", "cuGraphicsUnmapResources", (attach_function *)cuGraphicsUnmapResources, 3000, 0, GPHI_CALL_cuGraphicsUnmapResources, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, 2, 0, arguments_cuGraphicsUnmapResources, NULL},
    {"cuGraphicsUnmapResources_ptsz", "cuGraphicsUnmapResources", (attach_function *)cuGraphicsUnmapResources_ptsz, 7000, 1, GPHI_CALL_cuGraphicsUnmapResources, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, 2, 0, arguments_cuGraphicsUnmapResources_ptsz, NULL},
    {"cuGraphicsUnregisterResource", "cuGraphicsUnregisterResource", (attach_function *)cuGraphicsUnregisterResource, 3000, 0, GPHI_CALL_cuGraphicsUnregisterResource, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuGraphicsUnregisterResource, NULL},
    {"cuGreenCtxCreate", "cuGreenCtxCreate", (attach_function *)cuGreenCtxCreate, 12040, 0, GPHI_CALL_cuGreenCtxCreate, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuGreenCtxCreate, NULL},
    {"cuGreenCtxDestroy", "cuGreenCtxDestroy", (attach_function *)cuGreenCtxDestroy, 12040, 0, GPHI_CALL_cuGreenCtxDestroy, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuGreenCtxDestroy, NULL},
    {"cuGreenCtxGetDevResource", "cuGreenCtxGetDevResource", (attach_function *)cuGreenCtxGetDevResource, 12040, 0, GPHI_CALL_cuGreenCtxGetDevResource, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuGreenCtxGetDevResource, NULL},
    {"cuGreenCtxGetId", "cuGreenCtxGetId", (attach_function *)cuGreenCtxGetId, 12090, 0, GPHI_CALL_cuGreenCtxGetId, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuGreenCtxGetId, NULL},
    {"cuGreenCtxRecordEvent", "cuGreenCtxRecordEvent", (attach_function *)cuGreenCtxRecordEvent, 12040, 0, GPHI_CALL_cuGreenCtxRecordEvent, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuGreenCtxRecordEvent, NULL},
    {"cuGreenCtxStreamCreate", "cuGreenCtxStreamCreate", (attach_function *)cuGreenCtxStreamCreate, 12050, 0, GPHI_CALL_cuGreenCtxStreamCreate, ATTACH_ALWAYS, ATTACH_HOOK_STREAM, 0, 4, -1, 0, arguments_cuGreenCtxStreamCreate, NULL},
    {"cuGreenCtxWaitEvent", "cuGreenCtxWaitEvent", (attach_function *)cuGreenCtxWaitEvent, 12040, 0, GPHI_CALL_cuGreenCtxWaitEvent, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuGreenCtxWaitEvent, NULL},
    {"cuImportExternalMemory", "cuImportExternalMemory", (attach_function *)cuImportExternalMemory, 10000, 0, GPHI_CALL_cuImportExternalMemory, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuImportExternalMemory, NULL},
    {"cuImportExternalSemaphore", "cuImportExternalSemaphore", (attach_function *)cuImportExternalSemaphore, 10000, 0, GPHI_CALL_cuImportExternalSemaphore, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuImportExternalSemaphore, NULL},
    {"cuInit", "cuInit", (attach_function *)cuInit, 2000, 0, GPHI_CALL_cuInit, ATTACH_ALWAYS, ATTACH_HOOK_INIT, 0, 1, -1, 0, arguments_cuInit, NULL},
    {"cuIpcCloseMemHandle", "cuIpcCloseMemHandle", (attach_function *)cuIpcCloseMemHandle, 4010, 0, GPHI_CALL_cuIpcCloseMemHandle, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuIpcCloseMemHandle, NULL},
    {"cuIpcGetEventHandle", "cuIpcGetEventHandle", (attach_function *)cuIpcGetEventHandle, 4010, 0, GPHI_CALL_cuIpcGetEventHandle, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuIpcGetEventHandle, NULL},
    {"cuIpcGetMemHandle", "cuIpcGetMemHandle", (attach_function *)cuIpcGetMemHandle, 4010, 0, GPHI_CALL_cuIpcGetMemHandle, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuIpcGetMemHandle, NULL},
    {"cuIpcOpenEventHandle", "cuIpcOpenEventHandle", (attach_function *)cuIpcOpenEventHandle, 4010, 0, GPHI_CALL_cuIpcOpenEventHandle, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuIpcOpenEventHandle, NULL},
    {"cuIpcOpenMemHandle", "cuIpcOpenMemHandle", (attach_function *)cuIpcOpenMemHandle, 4010, 0, GPHI_CALL_cuIpcOpenMemHandle, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuIpcOpenMemHandle, NULL},
    {"cuIpcOpenMemHandle_v2", "cuIpcOpenMemHandle", (attach_function *)cuIpcOpenMemHandle_v2, 11000, 0, GPHI_CALL_cuIpcOpenMemHandle, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuIpcOpenMemHandle_v2, NULL},
    {"cuKernelGetAttribute", "cuKernelGetAttribute", (attach_function *)cuKernelGetAttribute, 12000, 0, GPHI_CALL_cuKernelGetAttribute, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuKernelGetAttribute, NULL},
    {"cuKernelGetFunction", "cuKernelGetFunction", (attach_function *)cuKernelGetFunction, 12000, 0, GPHI_CALL_cuKernelGetFunction, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuKernelGetFunction, NULL},
    {"cuKernelGetLibrary", "cuKernelGetLibrary", (attach_function *)cuKernelGetLibrary, 12050, 0, GPHI_CALL_cuKernelGetLibrary, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuKernelGetLibrary, NULL},
    {"cuKernelGetName", "cuKernelGetName", (attach_function *)cuKernelGetName, 12030, 0, GPHI_CALL_cuKernelGetName, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuKernelGetName, NULL},
    {"cuKernelGetParamInfo", "cuKernelGetParamInfo", (attach_function *)cuKernelGetParamInfo, 12040, 0, GPHI_CALL_cuKernelGetParamInfo, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuKernelGetParamInfo, NULL},
    {"cuKernelSetAttribute", "cuKernelSetAttribute", (attach_function *)cuKernelSetAttribute, 12000, 0, GPHI_CALL_cuKernelSetAttribute, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuKernelSetAttribute, NULL},
    {"cuKernelSetCacheConfig", "cuKernelSetCacheConfig", (attach_function *)cuKernelSetCacheConfig, 12000, 0, GPHI_CALL_cuKernelSetCacheConfig, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuKernelSetCacheConfig, NULL},
    {"cuLaunch", "cuLaunch", (attach_function *)cuLaunch, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuLaunchCooperativeKernel", "cuLaunchCooperativeKernel", (attach_function *)cuLaunchCooperativeKernel, 9000, 0, GPHI_CALL_cuLaunchCooperativeKernel, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 10, 8, 0, arguments_cuLaunchCooperativeKernel, NULL},
    {"cuLaunchCooperativeKernelMultiDevice", "cuLaunchCooperativeKernelMultiDevice", (attach_function *)cuLaunchCooperativeKernelMultiDevice, 9000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuLaunchCooperativeKernel_ptsz", "cuLaunchCooperativeKernel", (attach_function *)cuLaunchCooperativeKernel_ptsz, 9000, 1, GPHI_CALL_cuLaunchCooperativeKernel, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 10, 8, 0, arguments_cuLaunchCooperativeKernel_ptsz, NULL},
    {"cuLaunchGrid", "cuLaunchGrid", (attach_function *)cuLaunchGrid, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuLaunchGridAsync", "cuLaunchGridAsync", (attach_function *)cuLaunchGridAsync, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuLaunchHostFunc", "cuLaunchHostFunc", (attach_function *)cuLaunchHostFunc, 10000, 0, GPHI_CALL_cuLaunchHostFunc, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 3, 0, 0, arguments_cuLaunchHostFunc, NULL},
    {"cuLaunchHostFunc_ptsz", "cuLaunchHostFunc", (attach_function *)cuLaunchHostFunc_ptsz, 10000, 1, GPHI_CALL_cuLaunchHostFunc, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 3, 0, 0, arguments_cuLaunchHostFunc_ptsz, NULL},
    {"cuLaunchKernel", "cuLaunchKernel", (attach_function *)cuLaunchKernel, 4000, 0, GPHI_CALL_cuLaunchKernel, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 11, 8, 0, arguments_cuLaunchKernel, NULL},
    {"cuLaunchKernelEx", "cuLaunchKernelEx", (attach_function *)cuLaunchKernelEx, 11060, 0, GPHI_CALL_cuLaunchKernelEx, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, -1, 0, arguments_cuLaunchKernelEx, NULL},
    {"cuLaunchKernelEx_ptsz", "cuLaunchKernelEx", (attach_function *)cuLaunchKernelEx_ptsz, 11060, 1, GPHI_CALL_cuLaunchKernelEx, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, -1, 0, arguments_cuLaunchKernelEx_ptsz, NULL},
    {"cuLaunchKernel_ptsz", "cuLaunchKernel", (attach_function *)cuLaunchKernel_ptsz, 7000, 1, GPHI_CALL_cuLaunchKernel, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 11, 8, 0, arguments_cuLaunchKernel_ptsz, NULL},
    {"cuLibraryEnumerateKernels", "cuLibraryEnumerateKernels", (attach_function *)cuLibraryEnumerateKernels, 12040, 0, GPHI_CALL_cuLibraryEnumerateKernels, ATTACH_ALWAYS, ATTACH_HOOK_KERNELS, 0, 3, -1, 0, arguments_cuLibraryEnumerateKernels, NULL},
    {"cuLibraryGetGlobal", "cuLibraryGetGlobal", (attach_function *)cuLibraryGetGlobal, 12000, 0, GPHI_CALL_cuLibraryGetGlobal, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuLibraryGetGlobal, NULL},
    {"cuLibraryGetKernel", "cuLibraryGetKernel", (attach_function *)cuLibraryGetKernel, 12000, 0, GPHI_CALL_cuLibraryGetKernel, ATTACH_ALWAYS, ATTACH_HOOK_KERNEL, 0, 3, -1, 0, arguments_cuLibraryGetKernel, NULL},
    {"cuLibraryGetKernelCount", "cuLibraryGetKernelCount", (attach_function *)cuLibraryGetKernelCount, 12040, 0, GPHI_CALL_cuLibraryGetKernelCount, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuLibraryGetKernelCount, NULL},
    {"cuLibraryGetManaged", "cuLibraryGetManaged", (attach_function *)cuLibraryGetManaged, 12000, 0, GPHI_CALL_cuLibraryGetManaged, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuLibraryGetManaged, NULL},
    {"cuLibraryGetModule", "cuLibraryGetModule", (attach_function *)cuLibraryGetModule, 12000, 0, GPHI_CALL_cuLibraryGetModule, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuLibraryGetModule, NULL},
    {"cuLibraryGetUnifiedFunction", "cuLibraryGetUnifiedFunction", (attach_function *)cuLibraryGetUnifiedFunction, 12000, 0, GPHI_CALL_cuLibraryGetUnifiedFunction, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuLibraryGetUnifiedFunction, NULL},
    {"cuLibraryLoadData", "cuLibraryLoadData", (attach_function *)cuLibraryLoadData, 12000, 0, GPHI_CALL_cuLibraryLoadData, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 8, -1, 0, arguments_cuLibraryLoadData, NULL},
    {"cuLibraryLoadFromFile", "cuLibraryLoadFromFile", (attach_function *)cuLibraryLoadFromFile, 12000, 0, GPHI_CALL_cuLibraryLoadFromFile, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 8, -1, 0, arguments_cuLibraryLoadFromFile, NULL},
    {"cuLibraryUnload", "cuLibraryUnload", (attach_function *)cuLibraryUnload, 12000, 0, GPHI_CALL_cuLibraryUnload, ATTACH_ALWAYS, ATTACH_HOOK_CODE_GONE, 0, 1, -1, 0, arguments_cuLibraryUnload, NULL},
    {"cuLinkAddData", "cuLinkAddData", (attach_function *)cuLinkAddData, 5050, 0, GPHI_CALL_cuLinkAddData, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 8, -1, 0, arguments_cuLinkAddData, NULL},
    {"cuLinkAddData_v2", "cuLinkAddData", (attach_function *)cuLinkAddData_v2, 6050, 0, GPHI_CALL_cuLinkAddData, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 8, -1, 0, arguments_cuLinkAddData_v2, NULL},
    {"cuLinkAddFile", "cuLinkAddFile", (attach_function *)cuLinkAddFile, 5050, 0, GPHI_CALL_cuLinkAddFile, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 6, -1, 0, arguments_cuLinkAddFile, NULL},
    {"cuLinkAddFile_v2", "cuLinkAddFile", (attach_function *)cuLinkAddFile_v2, 6050, 0, GPHI_CALL_cuLinkAddFile, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 6, -1, 0, arguments_cuLinkAddFile_v2, NULL},
    {"cuLinkComplete", "cuLinkComplete", (attach_function *)cuLinkComplete, 5050, 0, GPHI_CALL_cuLinkComplete, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuLinkComplete, NULL},
    {"cuLinkCreate", "cuLinkCreate", (attach_function *)cuLinkCreate, 5050, 0, GPHI_CALL_cuLinkCreate, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuLinkCreate, NULL},
    {"cuLinkCreate_v2", "cuLinkCreate", (attach_function *)cuLinkCreate_v2, 6050, 0, GPHI_CALL_cuLinkCreate, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuLinkCreate_v2, NULL},
    {"cuLinkDestroy", "cuLinkDestroy", (attach_function *)cuLinkDestroy, 5050, 0, GPHI_CALL_cuLinkDestroy, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuLinkDestroy, NULL},
    {"cuLogsCurrent", "cuLogsCurrent", (attach_function *)cuLogsCurrent, 12090, 0, GPHI_CALL_cuLogsCurrent, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuLogsCurrent, NULL},
    {"cuLogsDumpToFile", "cuLogsDumpToFile", (attach_function *)cuLogsDumpToFile, 12090, 0, GPHI_CALL_cuLogsDumpToFile, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuLogsDumpToFile, NULL},
    {"cuLogsDumpToMemory", "cuLogsDumpToMemory", (attach_function *)cuLogsDumpToMemory, 12090, 0, GPHI_CALL_cuLogsDumpToMemory, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuLogsDumpToMemory, NULL},
    {"cuLogsRegisterCallback", "cuLogsRegisterCallback", (attach_function *)cuLogsRegisterCallback, 12090, 0, GPHI_CALL_cuLogsRegisterCallback, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuLogsRegisterCallback, NULL},
    {"cuLogsUnregisterCallback", "cuLogsUnregisterCallback", (attach_function *)cuLogsUnregisterCallback, 12090, 0, GPHI_CALL_cuLogsUnregisterCallback, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuLogsUnregisterCallback, NULL},
    {"cuMemAddressFree", "cuMemAddressFree", (attach_function *)cuMemAddressFree, 10020, 0, GPHI_CALL_cuMemAddressFree, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuMemAddressFree, NULL},
    {"cuMemAddressReserve", "cuMemAddressReserve", (attach_function *)cuMemAddressReserve, 10020, 0, GPHI_CALL_cuMemAddressReserve, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, -1, 0, arguments_cuMemAddressReserve, NULL},
    {"cuMemAdvise", "cuMemAdvise", (attach_function *)cuMemAdvise, 8000, 0, GPHI_CALL_cuMemAdvise, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 1, arguments_cuMemAdvise, NULL},
    {"cuMemAdvise_v2", "cuMemAdvise", (attach_function *)cuMemAdvise_v2, 12020, 0, GPHI_CALL_cuMemAdvise, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuMemAdvise_v2, NULL},
    {"cuMemAlloc", "cuMemAlloc", (attach_function *)cuMemAlloc, 2000, 0, GPHI_CALL_cuMemAlloc, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 1, arguments_cuMemAlloc, NULL},
    {"cuMemAllocAsync", "cuMemAllocAsync", (attach_function *)cuMemAllocAsync, 11020, 0, GPHI_CALL_cuMemAllocAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 3, 2, 0, arguments_cuMemAllocAsync, NULL},
    {"cuMemAllocAsync_ptsz", "cuMemAllocAsync", (attach_function *)cuMemAllocAsync_ptsz, 11020, 1, GPHI_CALL_cuMemAllocAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 3, 2, 0, arguments_cuMemAllocAsync_ptsz, NULL},
    {"cuMemAllocFromPoolAsync", "cuMemAllocFromPoolAsync", (attach_function *)cuMemAllocFromPoolAsync, 11020, 0, GPHI_CALL_cuMemAllocFromPoolAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 0, arguments_cuMemAllocFromPoolAsync, NULL},
    {"cuMemAllocFromPoolAsync_ptsz", "cuMemAllocFromPoolAsync", (attach_function *)cuMemAllocFromPoolAsync_ptsz, 11020, 1, GPHI_CALL_cuMemAllocFromPoolAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 0, arguments_cuMemAllocFromPoolAsync_ptsz, NULL},
    {"cuMemAllocHost", "cuMemAllocHost", (attach_function *)cuMemAllocHost, 2000, 0, GPHI_CALL_cuMemAllocHost, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 1, arguments_cuMemAllocHost, NULL},
    {"cuMemAllocHost_v2", "cuMemAllocHost", (attach_function *)cuMemAllocHost_v2, 3020, 0, GPHI_CALL_cuMemAllocHost, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuMemAllocHost_v2, NULL},
    {"cuMemAllocManaged", "cuMemAllocManaged", (attach_function *)cuMemAllocManaged, 6000, 0, GPHI_CALL_cuMemAllocManaged, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemAllocManaged, NULL},
    {"cuMemAllocPitch", "cuMemAllocPitch", (attach_function *)cuMemAllocPitch, 2000, 0, GPHI_CALL_cuMemAllocPitch, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, -1, 1, arguments_cuMemAllocPitch, NULL},
    {"cuMemAllocPitch_v2", "cuMemAllocPitch", (attach_function *)cuMemAllocPitch_v2, 3020, 0, GPHI_CALL_cuMemAllocPitch, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, -1, 0, arguments_cuMemAllocPitch_v2, NULL},
    {"cuMemAlloc_v2", "cuMemAlloc", (attach_function *)cuMemAlloc_v2, 3020, 0, GPHI_CALL_cuMemAlloc, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuMemAlloc_v2, NULL},
    {"cuMemBatchDecompressAsync", "cuMemBatchDecompressAsync", (attach_function *)cuMemBatchDecompressAsync, 12060, 0, GPHI_CALL_cuMemBatchDecompressAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, 4, 0, arguments_cuMemBatchDecompressAsync, NULL},
    {"cuMemBatchDecompressAsync_ptsz", "cuMemBatchDecompressAsync", (attach_function *)cuMemBatchDecompressAsync_ptsz, 12060, 1, GPHI_CALL_cuMemBatchDecompressAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, 4, 0, arguments_cuMemBatchDecompressAsync_ptsz, NULL},
    {"cuMemCreate", "cuMemCreate", (attach_function *)cuMemCreate, 10020, 0, GPHI_CALL_cuMemCreate, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuMemCreate, NULL},
    {"cuMemDiscardAndPrefetchBatchAsync", "cuMemDiscardAndPrefetchBatchAsync", (attach_function *)cuMemDiscardAndPrefetchBatchAsync, 13000, 0, GPHI_CALL_cuMemDiscardAndPrefetchBatchAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 8, 7, 0, arguments_cuMemDiscardAndPrefetchBatchAsync, NULL},
    {"cuMemDiscardAndPrefetchBatchAsync_ptsz", "cuMemDiscardAndPrefetchBatchAsync", (attach_function *)cuMemDiscardAndPrefetchBatchAsync_ptsz, 13000, 1, GPHI_CALL_cuMemDiscardAndPrefetchBatchAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 8, 7, 0, arguments_cuMemDiscardAndPrefetchBatchAsync_ptsz, NULL},
    {"cuMemDiscardBatchAsync", "cuMemDiscardBatchAsync", (attach_function *)cuMemDiscardBatchAsync, 13000, 0, GPHI_CALL_cuMemDiscardBatchAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, 4, 0, arguments_cuMemDiscardBatchAsync, NULL},
    {"cuMemDiscardBatchAsync_ptsz", "cuMemDiscardBatchAsync", (attach_function *)cuMemDiscardBatchAsync_ptsz, 13000, 1, GPHI_CALL_cuMemDiscardBatchAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, 4, 0, arguments_cuMemDiscardBatchAsync_ptsz, NULL},
    {"cuMemExportToShareableHandle", "cuMemExportToShareableHandle", (attach_function *)cuMemExportToShareableHandle, 10020, 0, GPHI_CALL_cuMemExportToShareableHandle, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuMemExportToShareableHandle, NULL},
    {"cuMemFree", "cuMemFree", (attach_function *)cuMemFree, 2000, 0, GPHI_CALL_cuMemFree, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 1, arguments_cuMemFree, NULL},
    {"cuMemFreeAsync", "cuMemFreeAsync", (attach_function *)cuMemFreeAsync, 11020, 0, GPHI_CALL_cuMemFreeAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 2, 1, 0, arguments_cuMemFreeAsync, NULL},
    {"cuMemFreeAsync_ptsz", "cuMemFreeAsync", (attach_function *)cuMemFreeAsync_ptsz, 11020, 1, GPHI_CALL_cuMemFreeAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 2, 1, 0, arguments_cuMemFreeAsync_ptsz, NULL},
    {"cuMemFreeHost", "cuMemFreeHost", (attach_function *)cuMemFreeHost, 2000, 0, GPHI_CALL_cuMemFreeHost, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuMemFreeHost, NULL},
    {"cuMemFree_v2", "cuMemFree", (attach_function *)cuMemFree_v2, 3020, 0, GPHI_CALL_cuMemFree, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuMemFree_v2, NULL},
    {"cuMemGetAccess", "cuMemGetAccess", (attach_function *)cuMemGetAccess, 10020, 0, GPHI_CALL_cuMemGetAccess, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemGetAccess, NULL},
    {"cuMemGetAddressRange", "cuMemGetAddressRange", (attach_function *)cuMemGetAddressRange, 2000, 0, GPHI_CALL_cuMemGetAddressRange, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 1, arguments_cuMemGetAddressRange, NULL},
    {"cuMemGetAddressRange_v2", "cuMemGetAddressRange", (attach_function *)cuMemGetAddressRange_v2, 3020, 0, GPHI_CALL_cuMemGetAddressRange, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemGetAddressRange_v2, NULL},
    {"cuMemGetAllocationGranularity", "cuMemGetAllocationGranularity", (attach_function *)cuMemGetAllocationGranularity, 10020, 0, GPHI_CALL_cuMemGetAllocationGranularity, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemGetAllocationGranularity, NULL},
    {"cuMemGetAllocationPropertiesFromHandle", "cuMemGetAllocationPropertiesFromHandle", (attach_function *)cuMemGetAllocationPropertiesFromHandle, 10020, 0, GPHI_CALL_cuMemGetAllocationPropertiesFromHandle, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuMemGetAllocationPropertiesFromHandle, NULL},
    {"cuMemGetDefaultMemPool", "cuMemGetDefaultMemPool", (attach_function *)cuMemGetDefaultMemPool, 13000, 0, GPHI_CALL_cuMemGetDefaultMemPool, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemGetDefaultMemPool, NULL},
    {"cuMemGetHandleForAddressRange", "cuMemGetHandleForAddressRange", (attach_function *)cuMemGetHandleForAddressRange, 11070, 0, GPHI_CALL_cuMemGetHandleForAddressRange, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 5, -1, 0, arguments_cuMemGetHandleForAddressRange, NULL},
    {"cuMemGetInfo", "cuMemGetInfo", (attach_function *)cuMemGetInfo, 2000, 0, GPHI_CALL_cuMemGetInfo, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 1, arguments_cuMemGetInfo, NULL},
    {"cuMemGetInfo_v2", "cuMemGetInfo", (attach_function *)cuMemGetInfo_v2, 3020, 0, GPHI_CALL_cuMemGetInfo, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuMemGetInfo_v2, NULL},
    {"cuMemGetMemPool", "cuMemGetMemPool", (attach_function *)cuMemGetMemPool, 13000, 0, GPHI_CALL_cuMemGetMemPool, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemGetMemPool, NULL},
    {"cuMemHostAlloc", "cuMemHostAlloc", (attach_function *)cuMemHostAlloc, 2020, 0, GPHI_CALL_cuMemHostAlloc, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemHostAlloc, NULL},
    {"cuMemHostGetDevicePointer", "cuMemHostGetDevicePointer", (attach_function *)cuMemHostGetDevicePointer, 2020, 0, GPHI_CALL_cuMemHostGetDevicePointer, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 1, arguments_cuMemHostGetDevicePointer, NULL},
    {"cuMemHostGetDevicePointer_v2", "cuMemHostGetDevicePointer", (attach_function *)cuMemHostGetDevicePointer_v2, 3020, 0, GPHI_CALL_cuMemHostGetDevicePointer, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemHostGetDevicePointer_v2, NULL},
    {"cuMemHostGetFlags", "cuMemHostGetFlags", (attach_function *)cuMemHostGetFlags, 2030, 0, GPHI_CALL_cuMemHostGetFlags, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuMemHostGetFlags, NULL},
    {"cuMemHostRegister", "cuMemHostRegister", (attach_function *)cuMemHostRegister, 4000, 0, GPHI_CALL_cuMemHostRegister, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemHostRegister, NULL},
    {"cuMemHostRegister_v2", "cuMemHostRegister", (attach_function *)cuMemHostRegister_v2, 6050, 0, GPHI_CALL_cuMemHostRegister, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemHostRegister_v2, NULL},
    {"cuMemHostUnregister", "cuMemHostUnregister", (attach_function *)cuMemHostUnregister, 4000, 0, GPHI_CALL_cuMemHostUnregister, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuMemHostUnregister, NULL},
    {"cuMemImportFromShareableHandle", "cuMemImportFromShareableHandle", (attach_function *)cuMemImportFromShareableHandle, 10020, 0, GPHI_CALL_cuMemImportFromShareableHandle, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemImportFromShareableHandle, NULL},
    {"cuMemMap", "cuMemMap", (attach_function *)cuMemMap, 10020, 0, GPHI_CALL_cuMemMap, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, -1, 0, arguments_cuMemMap, NULL},
    {"cuMemMapArrayAsync", "cuMemMapArrayAsync", (attach_function *)cuMemMapArrayAsync, 11010, 0, GPHI_CALL_cuMemMapArrayAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 3, 2, 0, arguments_cuMemMapArrayAsync, NULL},
    {"cuMemMapArrayAsync_ptsz", "cuMemMapArrayAsync", (attach_function *)cuMemMapArrayAsync_ptsz, 11010, 1, GPHI_CALL_cuMemMapArrayAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 3, 2, 0, arguments_cuMemMapArrayAsync_ptsz, NULL},
    {"cuMemPoolCreate", "cuMemPoolCreate", (attach_function *)cuMemPoolCreate, 11020, 0, GPHI_CALL_cuMemPoolCreate, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_PYTHON, 2, -1, 0, arguments_cuMemPoolCreate, NULL},
    {"cuMemPoolDestroy", "cuMemPoolDestroy", (attach_function *)cuMemPoolDestroy, 11020, 0, GPHI_CALL_cuMemPoolDestroy, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuMemPoolDestroy, NULL},
    {"cuMemPoolExportPointer", "cuMemPoolExportPointer", (attach_function *)cuMemPoolExportPointer, 11020, 0, GPHI_CALL_cuMemPoolExportPointer, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuMemPoolExportPointer, NULL},
    {"cuMemPoolExportToShareableHandle", "cuMemPoolExportToShareableHandle", (attach_function *)cuMemPoolExportToShareableHandle, 11020, 0, GPHI_CALL_cuMemPoolExportToShareableHandle, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuMemPoolExportToShareableHandle, NULL},
    {"cuMemPoolGetAccess", "cuMemPoolGetAccess", (attach_function *)cuMemPoolGetAccess, 11020, 0, GPHI_CALL_cuMemPoolGetAccess, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemPoolGetAccess, NULL},
    {"cuMemPoolGetAttribute", "cuMemPoolGetAttribute", (attach_function *)cuMemPoolGetAttribute, 11020, 0, GPHI_CALL_cuMemPoolGetAttribute, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemPoolGetAttribute, NULL},
    {"cuMemPoolImportFromShareableHandle", "cuMemPoolImportFromShareableHandle", (attach_function *)cuMemPoolImportFromShareableHandle, 11020, 0, GPHI_CALL_cuMemPoolImportFromShareableHandle, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuMemPoolImportFromShareableHandle, NULL},
    {"cuMemPoolImportPointer", "cuMemPoolImportPointer", (attach_function *)cuMemPoolImportPointer, 11020, 0, GPHI_CALL_cuMemPoolImportPointer, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemPoolImportPointer, NULL},
    {"cuMemPoolSetAccess", "cuMemPoolSetAccess", (attach_function *)cuMemPoolSetAccess, 11020, 0, GPHI_CALL_cuMemPoolSetAccess, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemPoolSetAccess, NULL},
    {"cuMemPoolSetAttribute", "cuMemPoolSetAttribute", (attach_function *)cuMemPoolSetAttribute, 11020, 0, GPHI_CALL_cuMemPoolSetAttribute, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemPoolSetAttribute, NULL},
    {"cuMemPoolTrimTo", "cuMemPoolTrimTo", (attach_function *)cuMemPoolTrimTo, 11020, 0, GPHI_CALL_cuMemPoolTrimTo, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuMemPoolTrimTo, NULL},
    {"cuMemPrefetchAsync", "cuMemPrefetchAsync", (attach_function *)cuMemPrefetchAsync, 8000, 0, GPHI_CALL_cuMemPrefetchAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 5, 4, 1, arguments_cuMemPrefetchAsync, order_cuMemPrefetchAsync},
    {"cuMemPrefetchAsync_ptsz", "cuMemPrefetchAsync", (attach_function *)cuMemPrefetchAsync_ptsz, 8000, 1, GPHI_CALL_cuMemPrefetchAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 5, 4, 1, arguments_cuMemPrefetchAsync_ptsz, order_cuMemPrefetchAsync_ptsz},
    {"cuMemPrefetchAsync_v2", "cuMemPrefetchAsync", (attach_function *)cuMemPrefetchAsync_v2, 12020, 0, GPHI_CALL_cuMemPrefetchAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 5, 4, 0, arguments_cuMemPrefetchAsync_v2, NULL},
    {"cuMemPrefetchAsync_v2_ptsz", "cuMemPrefetchAsync", (attach_function *)cuMemPrefetchAsync_v2_ptsz, 12020, 1, GPHI_CALL_cuMemPrefetchAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 5, 4, 0, arguments_cuMemPrefetchAsync_v2_ptsz, NULL},
    {"cuMemPrefetchBatchAsync", "cuMemPrefetchBatchAsync", (attach_function *)cuMemPrefetchBatchAsync, 13000, 0, GPHI_CALL_cuMemPrefetchBatchAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 8, 7, 0, arguments_cuMemPrefetchBatchAsync, NULL},
    {"cuMemPrefetchBatchAsync_ptsz", "cuMemPrefetchBatchAsync", (attach_function *)cuMemPrefetchBatchAsync_ptsz, 13000, 1, GPHI_CALL_cuMemPrefetchBatchAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 8, 7, 0, arguments_cuMemPrefetchBatchAsync_ptsz, NULL},
    {"cuMemRangeGetAttribute", "cuMemRangeGetAttribute", (attach_function *)cuMemRangeGetAttribute, 8000, 0, GPHI_CALL_cuMemRangeGetAttribute, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 5, -1, 0, arguments_cuMemRangeGetAttribute, NULL},
    {"cuMemRangeGetAttributes", "cuMemRangeGetAttributes", (attach_function *)cuMemRangeGetAttributes, 8000, 0, GPHI_CALL_cuMemRangeGetAttributes, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 6, -1, 0, arguments_cuMemRangeGetAttributes, NULL},
    {"cuMemRelease", "cuMemRelease", (attach_function *)cuMemRelease, 10020, 0, GPHI_CALL_cuMemRelease, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuMemRelease, NULL},
    {"cuMemRetainAllocationHandle", "cuMemRetainAllocationHandle", (attach_function *)cuMemRetainAllocationHandle, 11000, 0, GPHI_CALL_cuMemRetainAllocationHandle, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuMemRetainAllocationHandle, NULL},
    {"cuMemSetAccess", "cuMemSetAccess", (attach_function *)cuMemSetAccess, 10020, 0, GPHI_CALL_cuMemSetAccess, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuMemSetAccess, NULL},
    {"cuMemSetMemPool", "cuMemSetMemPool", (attach_function *)cuMemSetMemPool, 13000, 0, GPHI_CALL_cuMemSetMemPool, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemSetMemPool, NULL},
    {"cuMemUnmap", "cuMemUnmap", (attach_function *)cuMemUnmap, 10020, 0, GPHI_CALL_cuMemUnmap, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuMemUnmap, NULL},
    {"cuMemcpy", "cuMemcpy", (attach_function *)cuMemcpy, 4000, 0, GPHI_CALL_cuMemcpy, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemcpy, NULL},
    {"cuMemcpy2D", "cuMemcpy2D", (attach_function *)cuMemcpy2D, 2000, 0, GPHI_CALL_cuMemcpy2D, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 1, arguments_cuMemcpy2D, NULL},
    {"cuMemcpy2DAsync", "cuMemcpy2DAsync", (attach_function *)cuMemcpy2DAsync, 2000, 0, GPHI_CALL_cuMemcpy2DAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 2, 1, 1, arguments_cuMemcpy2DAsync, NULL},
    {"cuMemcpy2DAsync_v2", "cuMemcpy2DAsync", (attach_function *)cuMemcpy2DAsync_v2, 3020, 0, GPHI_CALL_cuMemcpy2DAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 2, 1, 0, arguments_cuMemcpy2DAsync_v2, NULL},
    {"cuMemcpy2DAsync_v2_ptsz", "cuMemcpy2DAsync", (attach_function *)cuMemcpy2DAsync_v2_ptsz, 7000, 1, GPHI_CALL_cuMemcpy2DAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 2, 1, 0, arguments_cuMemcpy2DAsync_v2_ptsz, NULL},
    {"cuMemcpy2DUnaligned", "cuMemcpy2DUnaligned", (attach_function *)cuMemcpy2DUnaligned, 2000, 0, GPHI_CALL_cuMemcpy2DUnaligned, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 1, arguments_cuMemcpy2DUnaligned, NULL},
    {"cuMemcpy2DUnaligned_v2", "cuMemcpy2DUnaligned", (attach_function *)cuMemcpy2DUnaligned_v2, 3020, 0, GPHI_CALL_cuMemcpy2DUnaligned, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuMemcpy2DUnaligned_v2, NULL},
    {"cuMemcpy2DUnaligned_v2_ptds", "cuMemcpy2DUnaligned", (attach_function *)cuMemcpy2DUnaligned_v2_ptds, 7000, 1, GPHI_CALL_cuMemcpy2DUnaligned, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuMemcpy2DUnaligned_v2_ptds, NULL},
    {"cuMemcpy2D_v2", "cuMemcpy2D", (attach_function *)cuMemcpy2D_v2, 3020, 0, GPHI_CALL_cuMemcpy2D, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuMemcpy2D_v2, NULL},
    {"cuMemcpy2D_v2_ptds", "cuMemcpy2D", (attach_function *)cuMemcpy2D_v2_ptds, 7000, 1, GPHI_CALL_cuMemcpy2D, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuMemcpy2D_v2_ptds, NULL},
    {"cuMemcpy3D", "cuMemcpy3D", (attach_function *)cuMemcpy3D, 2000, 0, GPHI_CALL_cuMemcpy3D, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 1, arguments_cuMemcpy3D, NULL},
    {"cuMemcpy3DAsync", "cuMemcpy3DAsync", (attach_function *)cuMemcpy3DAsync, 2000, 0, GPHI_CALL_cuMemcpy3DAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 2, 1, 1, arguments_cuMemcpy3DAsync, NULL},
    {"cuMemcpy3DAsync_v2", "cuMemcpy3DAsync", (attach_function *)cuMemcpy3DAsync_v2, 3020, 0, GPHI_CALL_cuMemcpy3DAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 2, 1, 0, arguments_cuMemcpy3DAsync_v2, NULL},
    {"cuMemcpy3DAsync_v2_ptsz", "cuMemcpy3DAsync", (attach_function *)cuMemcpy3DAsync_v2_ptsz, 7000, 1, GPHI_CALL_cuMemcpy3DAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 2, 1, 0, arguments_cuMemcpy3DAsync_v2_ptsz, NULL},
    {"cuMemcpy3DBatchAsync", "cuMemcpy3DBatchAsync", (attach_function *)cuMemcpy3DBatchAsync, 12080, 0, GPHI_CALL_cuMemcpy3DBatchAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 1, arguments_cuMemcpy3DBatchAsync, order_cuMemcpy3DBatchAsync},
    {"cuMemcpy3DBatchAsync_ptsz", "cuMemcpy3DBatchAsync", (attach_function *)cuMemcpy3DBatchAsync_ptsz, 12080, 1, GPHI_CALL_cuMemcpy3DBatchAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 1, arguments_cuMemcpy3DBatchAsync_ptsz, order_cuMemcpy3DBatchAsync_ptsz},
    {"cuMemcpy3DBatchAsync_v2", "cuMemcpy3DBatchAsync", (attach_function *)cuMemcpy3DBatchAsync_v2, 13000, 0, GPHI_CALL_cuMemcpy3DBatchAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 0, arguments_cuMemcpy3DBatchAsync_v2, NULL},
    {"cuMemcpy3DBatchAsync_v2_ptsz", "cuMemcpy3DBatchAsync", (attach_function *)cuMemcpy3DBatchAsync_v2_ptsz, 13000, 1, GPHI_CALL_cuMemcpy3DBatchAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 0, arguments_cuMemcpy3DBatchAsync_v2_ptsz, NULL},
    {"cuMemcpy3DPeer", "cuMemcpy3DPeer", (attach_function *)cuMemcpy3DPeer, 4000, 0, GPHI_CALL_cuMemcpy3DPeer, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuMemcpy3DPeer, NULL},
    {"cuMemcpy3DPeerAsync", "cuMemcpy3DPeerAsync", (attach_function *)cuMemcpy3DPeerAsync, 4000, 0, GPHI_CALL_cuMemcpy3DPeerAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 2, 1, 0, arguments_cuMemcpy3DPeerAsync, NULL},
    {"cuMemcpy3DPeerAsync_ptsz", "cuMemcpy3DPeerAsync", (attach_function *)cuMemcpy3DPeerAsync_ptsz, 7000, 1, GPHI_CALL_cuMemcpy3DPeerAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 2, 1, 0, arguments_cuMemcpy3DPeerAsync_ptsz, NULL},
    {"cuMemcpy3DPeer_ptds", "cuMemcpy3DPeer", (attach_function *)cuMemcpy3DPeer_ptds, 7000, 1, GPHI_CALL_cuMemcpy3DPeer, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuMemcpy3DPeer_ptds, NULL},
    {"cuMemcpy3D_v2", "cuMemcpy3D", (attach_function *)cuMemcpy3D_v2, 3020, 0, GPHI_CALL_cuMemcpy3D, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuMemcpy3D_v2, NULL},
    {"cuMemcpy3D_v2_ptds", "cuMemcpy3D", (attach_function *)cuMemcpy3D_v2_ptds, 7000, 1, GPHI_CALL_cuMemcpy3D, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuMemcpy3D_v2_ptds, NULL},
    {"cuMemcpyAsync", "cuMemcpyAsync", (attach_function *)cuMemcpyAsync, 4000, 0, GPHI_CALL_cuMemcpyAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 0, arguments_cuMemcpyAsync, NULL},
    {"cuMemcpyAsync_ptsz", "cuMemcpyAsync", (attach_function *)cuMemcpyAsync_ptsz, 7000, 1, GPHI_CALL_cuMemcpyAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 0, arguments_cuMemcpyAsync_ptsz, NULL},
    {"cuMemcpyAtoA", "cuMemcpyAtoA", (attach_function *)cuMemcpyAtoA, 2000, 0, GPHI_CALL_cuMemcpyAtoA, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, -1, 1, arguments_cuMemcpyAtoA, NULL},
    {"cuMemcpyAtoA_v2", "cuMemcpyAtoA", (attach_function *)cuMemcpyAtoA_v2, 3020, 0, GPHI_CALL_cuMemcpyAtoA, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, -1, 0, arguments_cuMemcpyAtoA_v2, NULL},
    {"cuMemcpyAtoA_v2_ptds", "cuMemcpyAtoA", (attach_function *)cuMemcpyAtoA_v2_ptds, 7000, 1, GPHI_CALL_cuMemcpyAtoA, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, -1, 0, arguments_cuMemcpyAtoA_v2_ptds, NULL},
    {"cuMemcpyAtoD", "cuMemcpyAtoD", (attach_function *)cuMemcpyAtoD, 2000, 0, GPHI_CALL_cuMemcpyAtoD, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 1, arguments_cuMemcpyAtoD, NULL},
    {"cuMemcpyAtoD_v2", "cuMemcpyAtoD", (attach_function *)cuMemcpyAtoD_v2, 3020, 0, GPHI_CALL_cuMemcpyAtoD, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuMemcpyAtoD_v2, NULL},
    {"cuMemcpyAtoD_v2_ptds", "cuMemcpyAtoD", (attach_function *)cuMemcpyAtoD_v2_ptds, 7000, 1, GPHI_CALL_cuMemcpyAtoD, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuMemcpyAtoD_v2_ptds, NULL},
    {"cuMemcpyAtoH", "cuMemcpyAtoH", (attach_function *)cuMemcpyAtoH, 2000, 0, GPHI_CALL_cuMemcpyAtoH, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 1, arguments_cuMemcpyAtoH, NULL},
    {"cuMemcpyAtoHAsync", "cuMemcpyAtoHAsync", (attach_function *)cuMemcpyAtoHAsync, 2000, 0, GPHI_CALL_cuMemcpyAtoHAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 5, 4, 1, arguments_cuMemcpyAtoHAsync, NULL},
    {"cuMemcpyAtoHAsync_v2", "cuMemcpyAtoHAsync", (attach_function *)cuMemcpyAtoHAsync_v2, 3020, 0, GPHI_CALL_cuMemcpyAtoHAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 5, 4, 0, arguments_cuMemcpyAtoHAsync_v2, NULL},
    {"cuMemcpyAtoHAsync_v2_ptsz", "cuMemcpyAtoHAsync", (attach_function *)cuMemcpyAtoHAsync_v2_ptsz, 7000, 1, GPHI_CALL_cuMemcpyAtoHAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 5, 4, 0, arguments_cuMemcpyAtoHAsync_v2_ptsz, NULL},
    {"cuMemcpyAtoH_v2", "cuMemcpyAtoH", (attach_function *)cuMemcpyAtoH_v2, 3020, 0, GPHI_CALL_cuMemcpyAtoH, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuMemcpyAtoH_v2, NULL},
    {"cuMemcpyAtoH_v2_ptds", "cuMemcpyAtoH", (attach_function *)cuMemcpyAtoH_v2_ptds, 7000, 1, GPHI_CALL_cuMemcpyAtoH, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuMemcpyAtoH_v2_ptds, NULL},
    {"cuMemcpyBatchAsync", "cuMemcpyBatchAsync", (attach_function *)cuMemcpyBatchAsync, 12080, 0, GPHI_CALL_cuMemcpyBatchAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 8, 7, 1, arguments_cuMemcpyBatchAsync, order_cuMemcpyBatchAsync},
    {"cuMemcpyBatchAsync_ptsz", "cuMemcpyBatchAsync", (attach_function *)cuMemcpyBatchAsync_ptsz, 12080, 1, GPHI_CALL_cuMemcpyBatchAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 8, 7, 1, arguments_cuMemcpyBatchAsync_ptsz, order_cuMemcpyBatchAsync_ptsz},
    {"cuMemcpyBatchAsync_v2", "cuMemcpyBatchAsync", (attach_function *)cuMemcpyBatchAsync_v2, 13000, 0, GPHI_CALL_cuMemcpyBatchAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 8, 7, 0, arguments_cuMemcpyBatchAsync_v2, NULL},
    {"cuMemcpyBatchAsync_v2_ptsz", "cuMemcpyBatchAsync", (attach_function *)cuMemcpyBatchAsync_v2_ptsz, 13000, 1, GPHI_CALL_cuMemcpyBatchAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 8, 7, 0, arguments_cuMemcpyBatchAsync_v2_ptsz, NULL},
    {"cuMemcpyDtoA", "cuMemcpyDtoA", (attach_function *)cuMemcpyDtoA, 2000, 0, GPHI_CALL_cuMemcpyDtoA, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 1, arguments_cuMemcpyDtoA, NULL},
    {"cuMemcpyDtoA_v2", "cuMemcpyDtoA", (attach_function *)cuMemcpyDtoA_v2, 3020, 0, GPHI_CALL_cuMemcpyDtoA, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuMemcpyDtoA_v2, NULL},
    {"cuMemcpyDtoA_v2_ptds", "cuMemcpyDtoA", (attach_function *)cuMemcpyDtoA_v2_ptds, 7000, 1, GPHI_CALL_cuMemcpyDtoA, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuMemcpyDtoA_v2_ptds, NULL},
    {"cuMemcpyDtoD", "cuMemcpyDtoD", (attach_function *)cuMemcpyDtoD, 2000, 0, GPHI_CALL_cuMemcpyDtoD, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 1, arguments_cuMemcpyDtoD, NULL},
    {"cuMemcpyDtoDAsync", "cuMemcpyDtoDAsync", (attach_function *)cuMemcpyDtoDAsync, 3000, 0, GPHI_CALL_cuMemcpyDtoDAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 1, arguments_cuMemcpyDtoDAsync, NULL},
    {"cuMemcpyDtoDAsync_v2", "cuMemcpyDtoDAsync", (attach_function *)cuMemcpyDtoDAsync_v2, 3020, 0, GPHI_CALL_cuMemcpyDtoDAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 0, arguments_cuMemcpyDtoDAsync_v2, NULL},
    {"cuMemcpyDtoDAsync_v2_ptsz", "cuMemcpyDtoDAsync", (attach_function *)cuMemcpyDtoDAsync_v2_ptsz, 7000, 1, GPHI_CALL_cuMemcpyDtoDAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 0, arguments_cuMemcpyDtoDAsync_v2_ptsz, NULL},
    {"cuMemcpyDtoD_v2", "cuMemcpyDtoD", (attach_function *)cuMemcpyDtoD_v2, 3020, 0, GPHI_CALL_cuMemcpyDtoD, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemcpyDtoD_v2, NULL},
    {"cuMemcpyDtoD_v2_ptds", "cuMemcpyDtoD", (attach_function *)cuMemcpyDtoD_v2_ptds, 7000, 1, GPHI_CALL_cuMemcpyDtoD, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemcpyDtoD_v2_ptds, NULL},
    {"cuMemcpyDtoH", "cuMemcpyDtoH", (attach_function *)cuMemcpyDtoH, 2000, 0, GPHI_CALL_cuMemcpyDtoH, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 1, arguments_cuMemcpyDtoH, NULL},
    {"cuMemcpyDtoHAsync", "cuMemcpyDtoHAsync", (attach_function *)cuMemcpyDtoHAsync, 2000, 0, GPHI_CALL_cuMemcpyDtoHAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 1, arguments_cuMemcpyDtoHAsync, NULL},
    {"cuMemcpyDtoHAsync_v2", "cuMemcpyDtoHAsync", (attach_function *)cuMemcpyDtoHAsync_v2, 3020, 0, GPHI_CALL_cuMemcpyDtoHAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 0, arguments_cuMemcpyDtoHAsync_v2, NULL},
    {"cuMemcpyDtoHAsync_v2_ptsz", "cuMemcpyDtoHAsync", (attach_function *)cuMemcpyDtoHAsync_v2_ptsz, 7000, 1, GPHI_CALL_cuMemcpyDtoHAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 0, arguments_cuMemcpyDtoHAsync_v2_ptsz, NULL},
    {"cuMemcpyDtoH_v2", "cuMemcpyDtoH", (attach_function *)cuMemcpyDtoH_v2, 3020, 0, GPHI_CALL_cuMemcpyDtoH, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemcpyDtoH_v2, NULL},
    {"cuMemcpyDtoH_v2_ptds", "cuMemcpyDtoH", (attach_function *)cuMemcpyDtoH_v2_ptds, 7000, 1, GPHI_CALL_cuMemcpyDtoH, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemcpyDtoH_v2_ptds, NULL},
    {"cuMemcpyHtoA", "cuMemcpyHtoA", (attach_function *)cuMemcpyHtoA, 2000, 0, GPHI_CALL_cuMemcpyHtoA, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 1, arguments_cuMemcpyHtoA, NULL},
    {"cuMemcpyHtoAAsync", "cuMemcpyHtoAAsync", (attach_function *)cuMemcpyHtoAAsync, 2000, 0, GPHI_CALL_cuMemcpyHtoAAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 5, 4, 1, arguments_cuMemcpyHtoAAsync, NULL},
    {"cuMemcpyHtoAAsync_v2", "cuMemcpyHtoAAsync", (attach_function *)cuMemcpyHtoAAsync_v2, 3020, 0, GPHI_CALL_cuMemcpyHtoAAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 5, 4, 0, arguments_cuMemcpyHtoAAsync_v2, NULL},
    {"cuMemcpyHtoAAsync_v2_ptsz", "cuMemcpyHtoAAsync", (attach_function *)cuMemcpyHtoAAsync_v2_ptsz, 7000, 1, GPHI_CALL_cuMemcpyHtoAAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 5, 4, 0, arguments_cuMemcpyHtoAAsync_v2_ptsz, NULL},
    {"cuMemcpyHtoA_v2", "cuMemcpyHtoA", (attach_function *)cuMemcpyHtoA_v2, 3020, 0, GPHI_CALL_cuMemcpyHtoA, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuMemcpyHtoA_v2, NULL},
    {"cuMemcpyHtoA_v2_ptds", "cuMemcpyHtoA", (attach_function *)cuMemcpyHtoA_v2_ptds, 7000, 1, GPHI_CALL_cuMemcpyHtoA, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuMemcpyHtoA_v2_ptds, NULL},
    {"cuMemcpyHtoD", "cuMemcpyHtoD", (attach_function *)cuMemcpyHtoD, 2000, 0, GPHI_CALL_cuMemcpyHtoD, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 1, arguments_cuMemcpyHtoD, NULL},
    {"cuMemcpyHtoDAsync", "cuMemcpyHtoDAsync", (attach_function *)cuMemcpyHtoDAsync, 2000, 0, GPHI_CALL_cuMemcpyHtoDAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 1, arguments_cuMemcpyHtoDAsync, NULL},
    {"cuMemcpyHtoDAsync_v2", "cuMemcpyHtoDAsync", (attach_function *)cuMemcpyHtoDAsync_v2, 3020, 0, GPHI_CALL_cuMemcpyHtoDAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 0, arguments_cuMemcpyHtoDAsync_v2, NULL},
    {"cuMemcpyHtoDAsync_v2_ptsz", "cuMemcpyHtoDAsync", (attach_function *)cuMemcpyHtoDAsync_v2_ptsz, 7000, 1, GPHI_CALL_cuMemcpyHtoDAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 0, arguments_cuMemcpyHtoDAsync_v2_ptsz, NULL},
    {"cuMemcpyHtoD_v2", "cuMemcpyHtoD", (attach_function *)cuMemcpyHtoD_v2, 3020, 0, GPHI_CALL_cuMemcpyHtoD, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemcpyHtoD_v2, NULL},
    {"cuMemcpyHtoD_v2_ptds", "cuMemcpyHtoD", (attach_function *)cuMemcpyHtoD_v2_ptds, 7000, 1, GPHI_CALL_cuMemcpyHtoD, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemcpyHtoD_v2_ptds, NULL},
    {"cuMemcpyPeer", "cuMemcpyPeer", (attach_function *)cuMemcpyPeer, 4000, 0, GPHI_CALL_cuMemcpyPeer, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, -1, 0, arguments_cuMemcpyPeer, NULL},
    {"cuMemcpyPeerAsync", "cuMemcpyPeerAsync", (attach_function *)cuMemcpyPeerAsync, 4000, 0, GPHI_CALL_cuMemcpyPeerAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 6, 5, 0, arguments_cuMemcpyPeerAsync, NULL},
    {"cuMemcpyPeerAsync_ptsz", "cuMemcpyPeerAsync", (attach_function *)cuMemcpyPeerAsync_ptsz, 7000, 1, GPHI_CALL_cuMemcpyPeerAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 6, 5, 0, arguments_cuMemcpyPeerAsync_ptsz, NULL},
    {"cuMemcpyPeer_ptds", "cuMemcpyPeer", (attach_function *)cuMemcpyPeer_ptds, 7000, 1, GPHI_CALL_cuMemcpyPeer, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, -1, 0, arguments_cuMemcpyPeer_ptds, NULL},
    {"cuMemcpy_ptds", "cuMemcpy", (attach_function *)cuMemcpy_ptds, 7000, 1, GPHI_CALL_cuMemcpy, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemcpy_ptds, NULL},
    {"cuMemsetD16", "cuMemsetD16", (attach_function *)cuMemsetD16, 2000, 0, GPHI_CALL_cuMemsetD16, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 1, arguments_cuMemsetD16, NULL},
    {"cuMemsetD16Async", "cuMemsetD16Async", (attach_function *)cuMemsetD16Async, 3020, 0, GPHI_CALL_cuMemsetD16Async, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 0, arguments_cuMemsetD16Async, NULL},
    {"cuMemsetD16Async_ptsz", "cuMemsetD16Async", (attach_function *)cuMemsetD16Async_ptsz, 7000, 1, GPHI_CALL_cuMemsetD16Async, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 0, arguments_cuMemsetD16Async_ptsz, NULL},
    {"cuMemsetD16_v2", "cuMemsetD16", (attach_function *)cuMemsetD16_v2, 3020, 0, GPHI_CALL_cuMemsetD16, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemsetD16_v2, NULL},
    {"cuMemsetD16_v2_ptds", "cuMemsetD16", (attach_function *)cuMemsetD16_v2_ptds, 7000, 1, GPHI_CALL_cuMemsetD16, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemsetD16_v2_ptds, NULL},
    {"cuMemsetD2D16", "cuMemsetD2D16", (attach_function *)cuMemsetD2D16, 2000, 0, GPHI_CALL_cuMemsetD2D16, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, -1, 1, arguments_cuMemsetD2D16, NULL},
    {"cuMemsetD2D16Async", "cuMemsetD2D16Async", (attach_function *)cuMemsetD2D16Async, 3020, 0, GPHI_CALL_cuMemsetD2D16Async, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 6, 5, 0, arguments_cuMemsetD2D16Async, NULL},
    {"cuMemsetD2D16Async_ptsz", "cuMemsetD2D16Async", (attach_function *)cuMemsetD2D16Async_ptsz, 7000, 1, GPHI_CALL_cuMemsetD2D16Async, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 6, 5, 0, arguments_cuMemsetD2D16Async_ptsz, NULL},
    {"cuMemsetD2D16_v2", "cuMemsetD2D16", (attach_function *)cuMemsetD2D16_v2, 3020, 0, GPHI_CALL_cuMemsetD2D16, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, -1, 0, arguments_cuMemsetD2D16_v2, NULL},
    {"cuMemsetD2D16_v2_ptds", "cuMemsetD2D16", (attach_function *)cuMemsetD2D16_v2_ptds, 7000, 1, GPHI_CALL_cuMemsetD2D16, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, -1, 0, arguments_cuMemsetD2D16_v2_ptds, NULL},
    {"cuMemsetD2D32", "cuMemsetD2D32", (attach_function *)cuMemsetD2D32, 2000, 0, GPHI_CALL_cuMemsetD2D32, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, -1, 1, arguments_cuMemsetD2D32, NULL},
    {"cuMemsetD2D32Async", "cuMemsetD2D32Async", (attach_function *)cuMemsetD2D32Async, 3020, 0, GPHI_CALL_cuMemsetD2D32Async, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 6, 5, 0, arguments_cuMemsetD2D32Async, NULL},
    {"cuMemsetD2D32Async_ptsz", "cuMemsetD2D32Async", (attach_function *)cuMemsetD2D32Async_ptsz, 7000, 1, GPHI_CALL_cuMemsetD2D32Async, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 6, 5, 0, arguments_cuMemsetD2D32Async_ptsz, NULL},
    {"cuMemsetD2D32_v2", "cuMemsetD2D32", (attach_function *)cuMemsetD2D32_v2, 3020, 0, GPHI_CALL_cuMemsetD2D32, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, -1, 0, arguments_cuMemsetD2D32_v2, NULL},
    {"cuMemsetD2D32_v2_ptds", "cuMemsetD2D32", (attach_function *)cuMemsetD2D32_v2_ptds, 7000, 1, GPHI_CALL_cuMemsetD2D32, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, -1, 0, arguments_cuMemsetD2D32_v2_ptds, NULL},
    {"cuMemsetD2D8", "cuMemsetD2D8", (attach_function *)cuMemsetD2D8, 2000, 0, GPHI_CALL_cuMemsetD2D8, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, -1, 1, arguments_cuMemsetD2D8, NULL},
    {"cuMemsetD2D8Async", "cuMemsetD2D8Async", (attach_function *)cuMemsetD2D8Async, 3020, 0, GPHI_CALL_cuMemsetD2D8Async, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 6, 5, 0, arguments_cuMemsetD2D8Async, NULL},
    {"cuMemsetD2D8Async_ptsz", "cuMemsetD2D8Async", (attach_function *)cuMemsetD2D8Async_ptsz, 7000, 1, GPHI_CALL_cuMemsetD2D8Async, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 6, 5, 0, arguments_cuMemsetD2D8Async_ptsz, NULL},
    {"cuMemsetD2D8_v2", "cuMemsetD2D8", (attach_function *)cuMemsetD2D8_v2, 3020, 0, GPHI_CALL_cuMemsetD2D8, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, -1, 0, arguments_cuMemsetD2D8_v2, NULL},
    {"cuMemsetD2D8_v2_ptds", "cuMemsetD2D8", (attach_function *)cuMemsetD2D8_v2_ptds, 7000, 1, GPHI_CALL_cuMemsetD2D8, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, -1, 0, arguments_cuMemsetD2D8_v2_ptds, NULL},
    {"cuMemsetD32", "cuMemsetD32", (attach_function *)cuMemsetD32, 2000, 0, GPHI_CALL_cuMemsetD32, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 1, arguments_cuMemsetD32, NULL},
    {"cuMemsetD32Async", "cuMemsetD32Async", (attach_function *)cuMemsetD32Async, 3020, 0, GPHI_CALL_cuMemsetD32Async, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 0, arguments_cuMemsetD32Async, NULL},
    {"cuMemsetD32Async_ptsz", "cuMemsetD32Async", (attach_function *)cuMemsetD32Async_ptsz, 7000, 1, GPHI_CALL_cuMemsetD32Async, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 0, arguments_cuMemsetD32Async_ptsz, NULL},
    {"cuMemsetD32_v2", "cuMemsetD32", (attach_function *)cuMemsetD32_v2, 3020, 0, GPHI_CALL_cuMemsetD32, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemsetD32_v2, NULL},
    {"cuMemsetD32_v2_ptds", "cuMemsetD32", (attach_function *)cuMemsetD32_v2_ptds, 7000, 1, GPHI_CALL_cuMemsetD32, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemsetD32_v2_ptds, NULL},
    {"cuMemsetD8", "cuMemsetD8", (attach_function *)cuMemsetD8, 2000, 0, GPHI_CALL_cuMemsetD8, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 1, arguments_cuMemsetD8, NULL},
    {"cuMemsetD8Async", "cuMemsetD8Async", (attach_function *)cuMemsetD8Async, 3020, 0, GPHI_CALL_cuMemsetD8Async, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 0, arguments_cuMemsetD8Async, NULL},
    {"cuMemsetD8Async_ptsz", "cuMemsetD8Async", (attach_function *)cuMemsetD8Async_ptsz, 7000, 1, GPHI_CALL_cuMemsetD8Async, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 0, arguments_cuMemsetD8Async_ptsz, NULL},
    {"cuMemsetD8_v2", "cuMemsetD8", (attach_function *)cuMemsetD8_v2, 3020, 0, GPHI_CALL_cuMemsetD8, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemsetD8_v2, NULL},
    {"cuMemsetD8_v2_ptds", "cuMemsetD8", (attach_function *)cuMemsetD8_v2_ptds, 7000, 1, GPHI_CALL_cuMemsetD8, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMemsetD8_v2_ptds, NULL},
    {"cuMipmappedArrayCreate", "cuMipmappedArrayCreate", (attach_function *)cuMipmappedArrayCreate, 5000, 0, GPHI_CALL_cuMipmappedArrayCreate, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMipmappedArrayCreate, NULL},
    {"cuMipmappedArrayDestroy", "cuMipmappedArrayDestroy", (attach_function *)cuMipmappedArrayDestroy, 5000, 0, GPHI_CALL_cuMipmappedArrayDestroy, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuMipmappedArrayDestroy, NULL},
    {"cuMipmappedArrayGetLevel", "cuMipmappedArrayGetLevel", (attach_function *)cuMipmappedArrayGetLevel, 5000, 0, GPHI_CALL_cuMipmappedArrayGetLevel, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMipmappedArrayGetLevel, NULL},
    {"cuMipmappedArrayGetMemoryRequirements", "cuMipmappedArrayGetMemoryRequirements", (attach_function *)cuMipmappedArrayGetMemoryRequirements, 11060, 0, GPHI_CALL_cuMipmappedArrayGetMemoryRequirements, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMipmappedArrayGetMemoryRequirements, NULL},
    {"cuMipmappedArrayGetSparseProperties", "cuMipmappedArrayGetSparseProperties", (attach_function *)cuMipmappedArrayGetSparseProperties, 11010, 0, GPHI_CALL_cuMipmappedArrayGetSparseProperties, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuMipmappedArrayGetSparseProperties, NULL},
    {"cuModuleEnumerateFunctions", "cuModuleEnumerateFunctions", (attach_function *)cuModuleEnumerateFunctions, 12040, 0, GPHI_CALL_cuModuleEnumerateFunctions, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuModuleEnumerateFunctions, NULL},
    {"cuModuleGetFunction", "cuModuleGetFunction", (attach_function *)cuModuleGetFunction, 2000, 0, GPHI_CALL_cuModuleGetFunction, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuModuleGetFunction, NULL},
    {"cuModuleGetFunctionCount", "cuModuleGetFunctionCount", (attach_function *)cuModuleGetFunctionCount, 12040, 0, GPHI_CALL_cuModuleGetFunctionCount, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuModuleGetFunctionCount, NULL},
    {"cuModuleGetGlobal", "cuModuleGetGlobal", (attach_function *)cuModuleGetGlobal, 2000, 0, GPHI_CALL_cuModuleGetGlobal, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 1, arguments_cuModuleGetGlobal, NULL},
    {"cuModuleGetGlobal_v2", "cuModuleGetGlobal", (attach_function *)cuModuleGetGlobal_v2, 3020, 0, GPHI_CALL_cuModuleGetGlobal, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuModuleGetGlobal_v2, NULL},
    {"cuModuleGetLoadingMode", "cuModuleGetLoadingMode", (attach_function *)cuModuleGetLoadingMode, 11070, 0, GPHI_CALL_cuModuleGetLoadingMode, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuModuleGetLoadingMode, NULL},
    {"cuModuleGetSurfRef", "cuModuleGetSurfRef", (attach_function *)cuModuleGetSurfRef, 3000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuModuleGetTexRef", "cuModuleGetTexRef", (attach_function *)cuModuleGetTexRef, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuModuleLoad", "cuModuleLoad", (attach_function *)cuModuleLoad, 2000, 0, GPHI_CALL_cuModuleLoad, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuModuleLoad, NULL},
    {"cuModuleLoadData", "cuModuleLoadData", (attach_function *)cuModuleLoadData, 2000, 0, GPHI_CALL_cuModuleLoadData, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuModuleLoadData, NULL},
    {"cuModuleLoadDataEx", "cuModuleLoadDataEx", (attach_function *)cuModuleLoadDataEx, 2010, 0, GPHI_CALL_cuModuleLoadDataEx, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, -1, 0, arguments_cuModuleLoadDataEx, NULL},
    {"cuModuleLoadFatBinary", "cuModuleLoadFatBinary", (attach_function *)cuModuleLoadFatBinary, 2000, 0, GPHI_CALL_cuModuleLoadFatBinary, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuModuleLoadFatBinary, NULL},
    {"cuModuleUnload", "cuModuleUnload", (attach_function *)cuModuleUnload, 2000, 0, GPHI_CALL_cuModuleUnload, ATTACH_ALWAYS, ATTACH_HOOK_CODE_GONE, 0, 1, -1, 0, arguments_cuModuleUnload, NULL},
    {"cuMulticastAddDevice", "cuMulticastAddDevice", (attach_function *)cuMulticastAddDevice, 12010, 0, GPHI_CALL_cuMulticastAddDevice, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuMulticastAddDevice, NULL},
    {"cuMulticastBindAddr", "cuMulticastBindAddr", (attach_function *)cuMulticastBindAddr, 12010, 0, GPHI_CALL_cuMulticastBindAddr, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, -1, 0, arguments_cuMulticastBindAddr, NULL},
    {"cuMulticastBindMem", "cuMulticastBindMem", (attach_function *)cuMulticastBindMem, 12010, 0, GPHI_CALL_cuMulticastBindMem, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 6, -1, 0, arguments_cuMulticastBindMem, NULL},
    {"cuMulticastCreate", "cuMulticastCreate", (attach_function *)cuMulticastCreate, 12010, 0, GPHI_CALL_cuMulticastCreate, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuMulticastCreate, NULL},
    {"cuMulticastGetGranularity", "cuMulticastGetGranularity", (attach_function *)cuMulticastGetGranularity, 12010, 0, GPHI_CALL_cuMulticastGetGranularity, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuMulticastGetGranularity, NULL},
    {"cuMulticastUnbind", "cuMulticastUnbind", (attach_function *)cuMulticastUnbind, 12010, 0, GPHI_CALL_cuMulticastUnbind, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuMulticastUnbind, NULL},
    {"cuOccupancyAvailableDynamicSMemPerBlock", "cuOccupancyAvailableDynamicSMemPerBlock", (attach_function *)cuOccupancyAvailableDynamicSMemPerBlock, 10020, 0, GPHI_CALL_cuOccupancyAvailableDynamicSMemPerBlock, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuOccupancyAvailableDynamicSMemPerBlock, NULL},
    {"cuOccupancyMaxActiveBlocksPerMultiprocessor", "cuOccupancyMaxActiveBlocksPerMultiprocessor", (attach_function *)cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, 0, GPHI_CALL_cuOccupancyMaxActiveBlocksPerMultiprocessor, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuOccupancyMaxActiveBlocksPerMultiprocessor, NULL},
    {"cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", (attach_function *)cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000, 0, GPHI_CALL_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 5, -1, 0, arguments_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, NULL},
    {"cuOccupancyMaxActiveClusters", "cuOccupancyMaxActiveClusters", (attach_function *)cuOccupancyMaxActiveClusters, 11070, 0, GPHI_CALL_cuOccupancyMaxActiveClusters, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuOccupancyMaxActiveClusters, NULL},
    {"cuOccupancyMaxPotentialBlockSize", "cuOccupancyMaxPotentialBlockSize", (attach_function *)cuOccupancyMaxPotentialBlockSize, 6050, 0, GPHI_CALL_cuOccupancyMaxPotentialBlockSize, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 6, -1, 0, arguments_cuOccupancyMaxPotentialBlockSize, NULL},
    {"cuOccupancyMaxPotentialBlockSizeWithFlags", "cuOccupancyMaxPotentialBlockSizeWithFlags", (attach_function *)cuOccupancyMaxPotentialBlockSizeWithFlags, 7000, 0, GPHI_CALL_cuOccupancyMaxPotentialBlockSizeWithFlags, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 7, -1, 0, arguments_cuOccupancyMaxPotentialBlockSizeWithFlags, NULL},
    {"cuOccupancyMaxPotentialClusterSize", "cuOccupancyMaxPotentialClusterSize", (attach_function *)cuOccupancyMaxPotentialClusterSize, 11070, 0, GPHI_CALL_cuOccupancyMaxPotentialClusterSize, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuOccupancyMaxPotentialClusterSize, NULL},
    {"cuParamSetSize", "cuParamSetSize", (attach_function *)cuParamSetSize, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuParamSetTexRef", "cuParamSetTexRef", (attach_function *)cuParamSetTexRef, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuParamSetf", "cuParamSetf", (attach_function *)cuParamSetf, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuParamSeti", "cuParamSeti", (attach_function *)cuParamSeti, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuParamSetv", "cuParamSetv", (attach_function *)cuParamSetv, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuPointerGetAttribute", "cuPointerGetAttribute", (attach_function *)cuPointerGetAttribute, 4000, 0, GPHI_CALL_cuPointerGetAttribute, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuPointerGetAttribute, NULL},
    {"cuPointerGetAttributes", "cuPointerGetAttributes", (attach_function *)cuPointerGetAttributes, 7000, 0, GPHI_CALL_cuPointerGetAttributes, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuPointerGetAttributes, NULL},
    {"cuPointerSetAttribute", "cuPointerSetAttribute", (attach_function *)cuPointerSetAttribute, 6000, 0, GPHI_CALL_cuPointerSetAttribute, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, -1, 0, arguments_cuPointerSetAttribute, NULL},
    {"cuProfilerInitialize", "cuProfilerInitialize", (attach_function *)cuProfilerInitialize, 4000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuProfilerStart", "cuProfilerStart", (attach_function *)cuProfilerStart, 4000, 0, GPHI_CALL_cuProfilerStart, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 0, -1, 0, arguments_cuProfilerStart, NULL},
    {"cuProfilerStop", "cuProfilerStop", (attach_function *)cuProfilerStop, 4000, 0, GPHI_CALL_cuProfilerStop, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 0, -1, 0, arguments_cuProfilerStop, NULL},
    {"cuSignalExternalSemaphoresAsync", "cuSignalExternalSemaphoresAsync", (attach_function *)cuSignalExternalSemaphoresAsync, 10000, 0, GPHI_CALL_cuSignalExternalSemaphoresAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 0, arguments_cuSignalExternalSemaphoresAsync, NULL},
    {"cuSignalExternalSemaphoresAsync_ptsz", "cuSignalExternalSemaphoresAsync", (attach_function *)cuSignalExternalSemaphoresAsync_ptsz, 10000, 1, GPHI_CALL_cuSignalExternalSemaphoresAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 0, arguments_cuSignalExternalSemaphoresAsync_ptsz, NULL},
    {"cuStreamAddCallback", "cuStreamAddCallback", (attach_function *)cuStreamAddCallback, 5000, 0, GPHI_CALL_cuStreamAddCallback, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamAddCallback, NULL},
    {"cuStreamAddCallback_ptsz", "cuStreamAddCallback", (attach_function *)cuStreamAddCallback_ptsz, 7000, 1, GPHI_CALL_cuStreamAddCallback, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamAddCallback_ptsz, NULL},
    {"cuStreamAttachMemAsync", "cuStreamAttachMemAsync", (attach_function *)cuStreamAttachMemAsync, 6000, 0, GPHI_CALL_cuStreamAttachMemAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamAttachMemAsync, NULL},
    {"cuStreamAttachMemAsync_ptsz", "cuStreamAttachMemAsync", (attach_function *)cuStreamAttachMemAsync_ptsz, 7000, 1, GPHI_CALL_cuStreamAttachMemAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamAttachMemAsync_ptsz, NULL},
    {"cuStreamBatchMemOp", "cuStreamBatchMemOp", (attach_function *)cuStreamBatchMemOp, 8000, 0, GPHI_CALL_cuStreamBatchMemOp, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamBatchMemOp, NULL},
    {"cuStreamBatchMemOp_ptsz", "cuStreamBatchMemOp", (attach_function *)cuStreamBatchMemOp_ptsz, 8000, 1, GPHI_CALL_cuStreamBatchMemOp, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamBatchMemOp_ptsz, NULL},
    {"cuStreamBatchMemOp_v2", "cuStreamBatchMemOp", (attach_function *)cuStreamBatchMemOp_v2, 11070, 0, GPHI_CALL_cuStreamBatchMemOp, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamBatchMemOp_v2, NULL},
    {"cuStreamBatchMemOp_v2_ptsz", "cuStreamBatchMemOp", (attach_function *)cuStreamBatchMemOp_v2_ptsz, 11070, 1, GPHI_CALL_cuStreamBatchMemOp, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamBatchMemOp_v2_ptsz, NULL},
    {"cuStreamBeginCapture", "cuStreamBeginCapture", (attach_function *)cuStreamBeginCapture, 10000, 0, GPHI_CALL_cuStreamBeginCapture, ATTACH_ALWAYS, ATTACH_HOOK_BEGIN, ATTACH_PYTHON, 2, 0, 1, arguments_cuStreamBeginCapture, order_cuStreamBeginCapture},
    {"cuStreamBeginCaptureToGraph", "cuStreamBeginCaptureToGraph", (attach_function *)cuStreamBeginCaptureToGraph, 12030, 0, GPHI_CALL_cuStreamBeginCaptureToGraph, ATTACH_ALWAYS, ATTACH_HOOK_BEGIN, ATTACH_PYTHON|ATTACH_EDITS, 6, 0, 0, arguments_cuStreamBeginCaptureToGraph, NULL},
    {"cuStreamBeginCaptureToGraph_ptsz", "cuStreamBeginCaptureToGraph", (attach_function *)cuStreamBeginCaptureToGraph_ptsz, 12030, 1, GPHI_CALL_cuStreamBeginCaptureToGraph, ATTACH_ALWAYS, ATTACH_HOOK_BEGIN, ATTACH_PYTHON|ATTACH_EDITS, 6, 0, 0, arguments_cuStreamBeginCaptureToGraph_ptsz, NULL},
    {"cuStreamBeginCapture_ptsz", "cuStreamBeginCapture", (attach_function *)cuStreamBeginCapture_ptsz, 10000, 1, GPHI_CALL_cuStreamBeginCapture, ATTACH_ALWAYS, ATTACH_HOOK_BEGIN, ATTACH_PYTHON, 2, 0, 1, arguments_cuStreamBeginCapture_ptsz, order_cuStreamBeginCapture_ptsz},
    {"cuStreamBeginCapture_v2", "cuStreamBeginCapture", (attach_function *)cuStreamBeginCapture_v2, 10010, 0, GPHI_CALL_cuStreamBeginCapture, ATTACH_ALWAYS, ATTACH_HOOK_BEGIN, ATTACH_PYTHON, 2, 0, 0, arguments_cuStreamBeginCapture_v2, NULL},
    {"cuStreamBeginCapture_v2_ptsz", "cuStreamBeginCapture", (attach_function *)cuStreamBeginCapture_v2_ptsz, 10010, 1, GPHI_CALL_cuStreamBeginCapture, ATTACH_ALWAYS, ATTACH_HOOK_BEGIN, ATTACH_PYTHON, 2, 0, 0, arguments_cuStreamBeginCapture_v2_ptsz, NULL},
    {"cuStreamCopyAttributes", "cuStreamCopyAttributes", (attach_function *)cuStreamCopyAttributes, 11000, 0, GPHI_CALL_cuStreamCopyAttributes, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, 1, 0, arguments_cuStreamCopyAttributes, NULL},
    {"cuStreamCopyAttributes_ptsz", "cuStreamCopyAttributes", (attach_function *)cuStreamCopyAttributes_ptsz, 11000, 1, GPHI_CALL_cuStreamCopyAttributes, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, 1, 0, arguments_cuStreamCopyAttributes_ptsz, NULL},
    {"cuStreamCreate", "cuStreamCreate", (attach_function *)cuStreamCreate, 2000, 0, GPHI_CALL_cuStreamCreate, ATTACH_ALWAYS, ATTACH_HOOK_STREAM, ATTACH_PYTHON, 2, -1, 0, arguments_cuStreamCreate, NULL},
    {"cuStreamCreateWithPriority", "cuStreamCreateWithPriority", (attach_function *)cuStreamCreateWithPriority, 5050, 0, GPHI_CALL_cuStreamCreateWithPriority, ATTACH_ALWAYS, ATTACH_HOOK_STREAM, ATTACH_PYTHON, 3, -1, 0, arguments_cuStreamCreateWithPriority, NULL},
    {"cuStreamDestroy", "cuStreamDestroy", (attach_function *)cuStreamDestroy, 2000, 0, GPHI_CALL_cuStreamDestroy, ATTACH_ALWAYS, ATTACH_HOOK_STREAM_GONE, ATTACH_PYTHON, 1, 0, 0, arguments_cuStreamDestroy, NULL},
    {"cuStreamDestroy_v2", "cuStreamDestroy", (attach_function *)cuStreamDestroy_v2, 4000, 0, GPHI_CALL_cuStreamDestroy, ATTACH_ALWAYS, ATTACH_HOOK_STREAM_GONE, ATTACH_PYTHON, 1, 0, 0, arguments_cuStreamDestroy_v2, NULL},
    {"cuStreamEndCapture", "cuStreamEndCapture", (attach_function *)cuStreamEndCapture, 10000, 0, GPHI_CALL_cuStreamEndCapture, ATTACH_ALWAYS, ATTACH_HOOK_END, ATTACH_PYTHON, 2, 0, 0, arguments_cuStreamEndCapture, NULL},
    {"cuStreamEndCapture_ptsz", "cuStreamEndCapture", (attach_function *)cuStreamEndCapture_ptsz, 10000, 1, GPHI_CALL_cuStreamEndCapture, ATTACH_ALWAYS, ATTACH_HOOK_END, ATTACH_PYTHON, 2, 0, 0, arguments_cuStreamEndCapture_ptsz, NULL},
    {"cuStreamGetAttribute", "cuStreamGetAttribute", (attach_function *)cuStreamGetAttribute, 11000, 0, GPHI_CALL_cuStreamGetAttribute, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, 0, 0, arguments_cuStreamGetAttribute, NULL},
    {"cuStreamGetAttribute_ptsz", "cuStreamGetAttribute", (attach_function *)cuStreamGetAttribute_ptsz, 11000, 1, GPHI_CALL_cuStreamGetAttribute, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, 0, 0, arguments_cuStreamGetAttribute_ptsz, NULL},
    {"cuStreamGetCaptureInfo", "cuStreamGetCaptureInfo", (attach_function *)cuStreamGetCaptureInfo, 10010, 0, GPHI_CALL_cuStreamGetCaptureInfo, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, 0, 1, arguments_cuStreamGetCaptureInfo, order_cuStreamGetCaptureInfo},
    {"cuStreamGetCaptureInfo_ptsz", "cuStreamGetCaptureInfo", (attach_function *)cuStreamGetCaptureInfo_ptsz, 10010, 1, GPHI_CALL_cuStreamGetCaptureInfo, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 3, 0, 1, arguments_cuStreamGetCaptureInfo_ptsz, order_cuStreamGetCaptureInfo_ptsz},
    {"cuStreamGetCaptureInfo_v2", "cuStreamGetCaptureInfo", (attach_function *)cuStreamGetCaptureInfo_v2, 11030, 0, GPHI_CALL_cuStreamGetCaptureInfo, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 7, 0, 1, arguments_cuStreamGetCaptureInfo_v2, order_cuStreamGetCaptureInfo_v2},
    {"cuStreamGetCaptureInfo_v2_ptsz", "cuStreamGetCaptureInfo", (attach_function *)cuStreamGetCaptureInfo_v2_ptsz, 11030, 1, GPHI_CALL_cuStreamGetCaptureInfo, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 7, 0, 1, arguments_cuStreamGetCaptureInfo_v2_ptsz, order_cuStreamGetCaptureInfo_v2_ptsz},
    {"cuStreamGetCaptureInfo_v3", "cuStreamGetCaptureInfo", (attach_function *)cuStreamGetCaptureInfo_v3, 12030, 0, GPHI_CALL_cuStreamGetCaptureInfo, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 7, 0, 0, arguments_cuStreamGetCaptureInfo_v3, NULL},
    {"cuStreamGetCaptureInfo_v3_ptsz", "cuStreamGetCaptureInfo", (attach_function *)cuStreamGetCaptureInfo_v3_ptsz, 12030, 1, GPHI_CALL_cuStreamGetCaptureInfo, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 7, 0, 0, arguments_cuStreamGetCaptureInfo_v3_ptsz, NULL},
    {"cuStreamGetCtx", "cuStreamGetCtx", (attach_function *)cuStreamGetCtx, 9020, 0, GPHI_CALL_cuStreamGetCtx, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, 0, 0, arguments_cuStreamGetCtx, NULL},
    {"cuStreamGetCtx_ptsz", "cuStreamGetCtx", (attach_function *)cuStreamGetCtx_ptsz, 9020, 1, GPHI_CALL_cuStreamGetCtx, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, 0, 0, arguments_cuStreamGetCtx_ptsz, NULL},
    {"cuStreamGetCtx_v2", "cuStreamGetCtx", (attach_function *)cuStreamGetCtx_v2, 12050, 0, GPHI_CALL_cuStreamGetCtx, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, 0, 1, arguments_cuStreamGetCtx_v2, NULL},
    {"cuStreamGetCtx_v2_ptsz", "cuStreamGetCtx", (attach_function *)cuStreamGetCtx_v2_ptsz, 12050, 1, GPHI_CALL_cuStreamGetCtx, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, 0, 1, arguments_cuStreamGetCtx_v2_ptsz, NULL},
    {"cuStreamGetDevice", "cuStreamGetDevice", (attach_function *)cuStreamGetDevice, 12080, 0, GPHI_CALL_cuStreamGetDevice, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, 0, 0, arguments_cuStreamGetDevice, NULL},
    {"cuStreamGetDevice_ptsz", "cuStreamGetDevice", (attach_function *)cuStreamGetDevice_ptsz, 12080, 1, GPHI_CALL_cuStreamGetDevice, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, 0, 0, arguments_cuStreamGetDevice_ptsz, NULL},
    {"cuStreamGetFlags", "cuStreamGetFlags", (attach_function *)cuStreamGetFlags, 5050, 0, GPHI_CALL_cuStreamGetFlags, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, 0, 0, arguments_cuStreamGetFlags, NULL},
    {"cuStreamGetFlags_ptsz", "cuStreamGetFlags", (attach_function *)cuStreamGetFlags_ptsz, 7000, 1, GPHI_CALL_cuStreamGetFlags, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, 0, 0, arguments_cuStreamGetFlags_ptsz, NULL},
    {"cuStreamGetGreenCtx", "cuStreamGetGreenCtx", (attach_function *)cuStreamGetGreenCtx, 12040, 0, GPHI_CALL_cuStreamGetGreenCtx, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, 0, 0, arguments_cuStreamGetGreenCtx, NULL},
    {"cuStreamGetId", "cuStreamGetId", (attach_function *)cuStreamGetId, 12000, 0, GPHI_CALL_cuStreamGetId, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, 0, 0, arguments_cuStreamGetId, NULL},
    {"cuStreamGetId_ptsz", "cuStreamGetId", (attach_function *)cuStreamGetId_ptsz, 12000, 1, GPHI_CALL_cuStreamGetId, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, 0, 0, arguments_cuStreamGetId_ptsz, NULL},
    {"cuStreamGetPriority", "cuStreamGetPriority", (attach_function *)cuStreamGetPriority, 5050, 0, GPHI_CALL_cuStreamGetPriority, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, 0, 0, arguments_cuStreamGetPriority, NULL},
    {"cuStreamGetPriority_ptsz", "cuStreamGetPriority", (attach_function *)cuStreamGetPriority_ptsz, 7000, 1, GPHI_CALL_cuStreamGetPriority, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, 0, 0, arguments_cuStreamGetPriority_ptsz, NULL},
    {"cuStreamIsCapturing", "cuStreamIsCapturing", (attach_function *)cuStreamIsCapturing, 10000, 0, GPHI_CALL_cuStreamIsCapturing, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, 0, 0, arguments_cuStreamIsCapturing, NULL},
    {"cuStreamIsCapturing_ptsz", "cuStreamIsCapturing", (attach_function *)cuStreamIsCapturing_ptsz, 10000, 1, GPHI_CALL_cuStreamIsCapturing, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, 0, 0, arguments_cuStreamIsCapturing_ptsz, NULL},
    {"cuStreamQuery", "cuStreamQuery", (attach_function *)cuStreamQuery, 2000, 0, GPHI_CALL_cuStreamQuery, ATTACH_POLL, ATTACH_HOOK_NONE, 0, 1, 0, 0, arguments_cuStreamQuery, NULL},
    {"cuStreamQuery_ptsz", "cuStreamQuery", (attach_function *)cuStreamQuery_ptsz, 7000, 1, GPHI_CALL_cuStreamQuery, ATTACH_POLL, ATTACH_HOOK_NONE, 0, 1, 0, 0, arguments_cuStreamQuery_ptsz, NULL},
    {"cuStreamSetAttribute", "cuStreamSetAttribute", (attach_function *)cuStreamSetAttribute, 11000, 0, GPHI_CALL_cuStreamSetAttribute, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, 0, 0, arguments_cuStreamSetAttribute, NULL},
    {"cuStreamSetAttribute_ptsz", "cuStreamSetAttribute", (attach_function *)cuStreamSetAttribute_ptsz, 11000, 1, GPHI_CALL_cuStreamSetAttribute, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, 0, 0, arguments_cuStreamSetAttribute_ptsz, NULL},
    {"cuStreamSynchronize", "cuStreamSynchronize", (attach_function *)cuStreamSynchronize, 2000, 0, GPHI_CALL_cuStreamSynchronize, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, 0, 0, arguments_cuStreamSynchronize, NULL},
    {"cuStreamSynchronize_ptsz", "cuStreamSynchronize", (attach_function *)cuStreamSynchronize_ptsz, 7000, 1, GPHI_CALL_cuStreamSynchronize, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, 0, 0, arguments_cuStreamSynchronize_ptsz, NULL},
    {"cuStreamUpdateCaptureDependencies", "cuStreamUpdateCaptureDependencies", (attach_function *)cuStreamUpdateCaptureDependencies, 11030, 0, GPHI_CALL_cuStreamUpdateCaptureDependencies, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 5, 0, 1, arguments_cuStreamUpdateCaptureDependencies, order_cuStreamUpdateCaptureDependencies},
    {"cuStreamUpdateCaptureDependencies_ptsz", "cuStreamUpdateCaptureDependencies", (attach_function *)cuStreamUpdateCaptureDependencies_ptsz, 11030, 1, GPHI_CALL_cuStreamUpdateCaptureDependencies, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 5, 0, 1, arguments_cuStreamUpdateCaptureDependencies_ptsz, order_cuStreamUpdateCaptureDependencies_ptsz},
    {"cuStreamUpdateCaptureDependencies_v2", "cuStreamUpdateCaptureDependencies", (attach_function *)cuStreamUpdateCaptureDependencies_v2, 12030, 0, GPHI_CALL_cuStreamUpdateCaptureDependencies, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 5, 0, 0, arguments_cuStreamUpdateCaptureDependencies_v2, NULL},
    {"cuStreamUpdateCaptureDependencies_v2_ptsz", "cuStreamUpdateCaptureDependencies", (attach_function *)cuStreamUpdateCaptureDependencies_v2_ptsz, 12030, 1, GPHI_CALL_cuStreamUpdateCaptureDependencies, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_EDITS, 5, 0, 0, arguments_cuStreamUpdateCaptureDependencies_v2_ptsz, NULL},
    {"cuStreamWaitEvent", "cuStreamWaitEvent", (attach_function *)cuStreamWaitEvent, 3020, 0, GPHI_CALL_cuStreamWaitEvent, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, 0, 0, arguments_cuStreamWaitEvent, NULL},
    {"cuStreamWaitEvent_ptsz", "cuStreamWaitEvent", (attach_function *)cuStreamWaitEvent_ptsz, 7000, 1, GPHI_CALL_cuStreamWaitEvent, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 3, 0, 0, arguments_cuStreamWaitEvent_ptsz, NULL},
    {"cuStreamWaitValue32", "cuStreamWaitValue32", (attach_function *)cuStreamWaitValue32, 8000, 0, GPHI_CALL_cuStreamWaitValue32, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamWaitValue32, NULL},
    {"cuStreamWaitValue32_ptsz", "cuStreamWaitValue32", (attach_function *)cuStreamWaitValue32_ptsz, 8000, 1, GPHI_CALL_cuStreamWaitValue32, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamWaitValue32_ptsz, NULL},
    {"cuStreamWaitValue32_v2", "cuStreamWaitValue32", (attach_function *)cuStreamWaitValue32_v2, 11070, 0, GPHI_CALL_cuStreamWaitValue32, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamWaitValue32_v2, NULL},
    {"cuStreamWaitValue32_v2_ptsz", "cuStreamWaitValue32", (attach_function *)cuStreamWaitValue32_v2_ptsz, 11070, 1, GPHI_CALL_cuStreamWaitValue32, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamWaitValue32_v2_ptsz, NULL},
    {"cuStreamWaitValue64", "cuStreamWaitValue64", (attach_function *)cuStreamWaitValue64, 9000, 0, GPHI_CALL_cuStreamWaitValue64, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamWaitValue64, NULL},
    {"cuStreamWaitValue64_ptsz", "cuStreamWaitValue64", (attach_function *)cuStreamWaitValue64_ptsz, 9000, 1, GPHI_CALL_cuStreamWaitValue64, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamWaitValue64_ptsz, NULL},
    {"cuStreamWaitValue64_v2", "cuStreamWaitValue64", (attach_function *)cuStreamWaitValue64_v2, 11070, 0, GPHI_CALL_cuStreamWaitValue64, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamWaitValue64_v2, NULL},
    {"cuStreamWaitValue64_v2_ptsz", "cuStreamWaitValue64", (attach_function *)cuStreamWaitValue64_v2_ptsz, 11070, 1, GPHI_CALL_cuStreamWaitValue64, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamWaitValue64_v2_ptsz, NULL},
    {"cuStreamWriteValue32", "cuStreamWriteValue32", (attach_function *)cuStreamWriteValue32, 8000, 0, GPHI_CALL_cuStreamWriteValue32, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamWriteValue32, NULL},
    {"cuStreamWriteValue32_ptsz", "cuStreamWriteValue32", (attach_function *)cuStreamWriteValue32_ptsz, 8000, 1, GPHI_CALL_cuStreamWriteValue32, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamWriteValue32_ptsz, NULL},
    {"cuStreamWriteValue32_v2", "cuStreamWriteValue32", (attach_function *)cuStreamWriteValue32_v2, 11070, 0, GPHI_CALL_cuStreamWriteValue32, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamWriteValue32_v2, NULL},
    {"cuStreamWriteValue32_v2_ptsz", "cuStreamWriteValue32", (attach_function *)cuStreamWriteValue32_v2_ptsz, 11070, 1, GPHI_CALL_cuStreamWriteValue32, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamWriteValue32_v2_ptsz, NULL},
    {"cuStreamWriteValue64", "cuStreamWriteValue64", (attach_function *)cuStreamWriteValue64, 9000, 0, GPHI_CALL_cuStreamWriteValue64, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamWriteValue64, NULL},
    {"cuStreamWriteValue64_ptsz", "cuStreamWriteValue64", (attach_function *)cuStreamWriteValue64_ptsz, 9000, 1, GPHI_CALL_cuStreamWriteValue64, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamWriteValue64_ptsz, NULL},
    {"cuStreamWriteValue64_v2", "cuStreamWriteValue64", (attach_function *)cuStreamWriteValue64_v2, 11070, 0, GPHI_CALL_cuStreamWriteValue64, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamWriteValue64_v2, NULL},
    {"cuStreamWriteValue64_v2_ptsz", "cuStreamWriteValue64", (attach_function *)cuStreamWriteValue64_v2_ptsz, 11070, 1, GPHI_CALL_cuStreamWriteValue64, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 0, 0, arguments_cuStreamWriteValue64_v2_ptsz, NULL},
    {"cuSurfObjectCreate", "cuSurfObjectCreate", (attach_function *)cuSurfObjectCreate, 5000, 0, GPHI_CALL_cuSurfObjectCreate, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuSurfObjectCreate, NULL},
    {"cuSurfObjectDestroy", "cuSurfObjectDestroy", (attach_function *)cuSurfObjectDestroy, 5000, 0, GPHI_CALL_cuSurfObjectDestroy, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuSurfObjectDestroy, NULL},
    {"cuSurfObjectGetResourceDesc", "cuSurfObjectGetResourceDesc", (attach_function *)cuSurfObjectGetResourceDesc, 5000, 0, GPHI_CALL_cuSurfObjectGetResourceDesc, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuSurfObjectGetResourceDesc, NULL},
    {"cuSurfRefGetArray", "cuSurfRefGetArray", (attach_function *)cuSurfRefGetArray, 3000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuSurfRefSetArray", "cuSurfRefSetArray", (attach_function *)cuSurfRefSetArray, 3000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTensorMapEncodeIm2col", "cuTensorMapEncodeIm2col", (attach_function *)cuTensorMapEncodeIm2col, 12000, 0, GPHI_CALL_cuTensorMapEncodeIm2col, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 15, -1, 0, arguments_cuTensorMapEncodeIm2col, NULL},
    {"cuTensorMapEncodeIm2colWide", "cuTensorMapEncodeIm2colWide", (attach_function *)cuTensorMapEncodeIm2colWide, 12080, 0, GPHI_CALL_cuTensorMapEncodeIm2colWide, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 16, -1, 0, arguments_cuTensorMapEncodeIm2colWide, NULL},
    {"cuTensorMapEncodeTiled", "cuTensorMapEncodeTiled", (attach_function *)cuTensorMapEncodeTiled, 12000, 0, GPHI_CALL_cuTensorMapEncodeTiled, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 12, -1, 0, arguments_cuTensorMapEncodeTiled, NULL},
    {"cuTensorMapReplaceAddress", "cuTensorMapReplaceAddress", (attach_function *)cuTensorMapReplaceAddress, 12000, 0, GPHI_CALL_cuTensorMapReplaceAddress, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuTensorMapReplaceAddress, NULL},
    {"cuTexObjectCreate", "cuTexObjectCreate", (attach_function *)cuTexObjectCreate, 5000, 0, GPHI_CALL_cuTexObjectCreate, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 4, -1, 0, arguments_cuTexObjectCreate, NULL},
    {"cuTexObjectDestroy", "cuTexObjectDestroy", (attach_function *)cuTexObjectDestroy, 5000, 0, GPHI_CALL_cuTexObjectDestroy, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 1, -1, 0, arguments_cuTexObjectDestroy, NULL},
    {"cuTexObjectGetResourceDesc", "cuTexObjectGetResourceDesc", (attach_function *)cuTexObjectGetResourceDesc, 5000, 0, GPHI_CALL_cuTexObjectGetResourceDesc, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuTexObjectGetResourceDesc, NULL},
    {"cuTexObjectGetResourceViewDesc", "cuTexObjectGetResourceViewDesc", (attach_function *)cuTexObjectGetResourceViewDesc, 5000, 0, GPHI_CALL_cuTexObjectGetResourceViewDesc, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuTexObjectGetResourceViewDesc, NULL},
    {"cuTexObjectGetTextureDesc", "cuTexObjectGetTextureDesc", (attach_function *)cuTexObjectGetTextureDesc, 5000, 0, GPHI_CALL_cuTexObjectGetTextureDesc, ATTACH_FAIL, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuTexObjectGetTextureDesc, NULL},
    {"cuTexRefCreate", "cuTexRefCreate", (attach_function *)cuTexRefCreate, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefDestroy", "cuTexRefDestroy", (attach_function *)cuTexRefDestroy, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefGetAddress", "cuTexRefGetAddress", (attach_function *)cuTexRefGetAddress, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefGetAddressMode", "cuTexRefGetAddressMode", (attach_function *)cuTexRefGetAddressMode, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefGetAddress_v2", "cuTexRefGetAddress", (attach_function *)cuTexRefGetAddress_v2, 3020, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefGetArray", "cuTexRefGetArray", (attach_function *)cuTexRefGetArray, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefGetBorderColor", "cuTexRefGetBorderColor", (attach_function *)cuTexRefGetBorderColor, 8000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefGetFilterMode", "cuTexRefGetFilterMode", (attach_function *)cuTexRefGetFilterMode, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefGetFlags", "cuTexRefGetFlags", (attach_function *)cuTexRefGetFlags, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefGetFormat", "cuTexRefGetFormat", (attach_function *)cuTexRefGetFormat, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefGetMaxAnisotropy", "cuTexRefGetMaxAnisotropy", (attach_function *)cuTexRefGetMaxAnisotropy, 5000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefGetMipmapFilterMode", "cuTexRefGetMipmapFilterMode", (attach_function *)cuTexRefGetMipmapFilterMode, 5000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefGetMipmapLevelBias", "cuTexRefGetMipmapLevelBias", (attach_function *)cuTexRefGetMipmapLevelBias, 5000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefGetMipmapLevelClamp", "cuTexRefGetMipmapLevelClamp", (attach_function *)cuTexRefGetMipmapLevelClamp, 5000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefGetMipmappedArray", "cuTexRefGetMipmappedArray", (attach_function *)cuTexRefGetMipmappedArray, 5000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefSetAddress", "cuTexRefSetAddress", (attach_function *)cuTexRefSetAddress, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefSetAddress2D", "cuTexRefSetAddress2D", (attach_function *)cuTexRefSetAddress2D, 2020, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefSetAddress2D_v2", "cuTexRefSetAddress2D", (attach_function *)cuTexRefSetAddress2D_v2, 3020, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefSetAddress2D_v3", "cuTexRefSetAddress2D", (attach_function *)cuTexRefSetAddress2D_v3, 4010, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefSetAddressMode", "cuTexRefSetAddressMode", (attach_function *)cuTexRefSetAddressMode, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefSetAddress_v2", "cuTexRefSetAddress", (attach_function *)cuTexRefSetAddress_v2, 3020, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefSetArray", "cuTexRefSetArray", (attach_function *)cuTexRefSetArray, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefSetBorderColor", "cuTexRefSetBorderColor", (attach_function *)cuTexRefSetBorderColor, 8000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefSetFilterMode", "cuTexRefSetFilterMode", (attach_function *)cuTexRefSetFilterMode, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefSetFlags", "cuTexRefSetFlags", (attach_function *)cuTexRefSetFlags, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefSetFormat", "cuTexRefSetFormat", (attach_function *)cuTexRefSetFormat, 2000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefSetMaxAnisotropy", "cuTexRefSetMaxAnisotropy", (attach_function *)cuTexRefSetMaxAnisotropy, 5000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefSetMipmapFilterMode", "cuTexRefSetMipmapFilterMode", (attach_function *)cuTexRefSetMipmapFilterMode, 5000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefSetMipmapLevelBias", "cuTexRefSetMipmapLevelBias", (attach_function *)cuTexRefSetMipmapLevelBias, 5000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefSetMipmapLevelClamp", "cuTexRefSetMipmapLevelClamp", (attach_function *)cuTexRefSetMipmapLevelClamp, 5000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuTexRefSetMipmappedArray", "cuTexRefSetMipmappedArray", (attach_function *)cuTexRefSetMipmappedArray, 5000, 0, GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},
    {"cuThreadExchangeStreamCaptureMode", "cuThreadExchangeStreamCaptureMode", (attach_function *)cuThreadExchangeStreamCaptureMode, 10010, 0, GPHI_CALL_cuThreadExchangeStreamCaptureMode, ATTACH_ALWAYS, ATTACH_HOOK_MODE, 0, 1, -1, 0, arguments_cuThreadExchangeStreamCaptureMode, NULL},
    {"cuUserObjectCreate", "cuUserObjectCreate", (attach_function *)cuUserObjectCreate, 11030, 0, GPHI_CALL_cuUserObjectCreate, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 5, -1, 0, arguments_cuUserObjectCreate, NULL},
    {"cuUserObjectRelease", "cuUserObjectRelease", (attach_function *)cuUserObjectRelease, 11030, 0, GPHI_CALL_cuUserObjectRelease, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuUserObjectRelease, NULL},
    {"cuUserObjectRetain", "cuUserObjectRetain", (attach_function *)cuUserObjectRetain, 11030, 0, GPHI_CALL_cuUserObjectRetain, ATTACH_ALWAYS, ATTACH_HOOK_NONE, 0, 2, -1, 0, arguments_cuUserObjectRetain, NULL},
    {"cuWaitExternalSemaphoresAsync", "cuWaitExternalSemaphoresAsync", (attach_function *)cuWaitExternalSemaphoresAsync, 10000, 0, GPHI_CALL_cuWaitExternalSemaphoresAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 0, arguments_cuWaitExternalSemaphoresAsync, NULL},
    {"cuWaitExternalSemaphoresAsync_ptsz", "cuWaitExternalSemaphoresAsync", (attach_function *)cuWaitExternalSemaphoresAsync_ptsz, 10000, 1, GPHI_CALL_cuWaitExternalSemaphoresAsync, ATTACH_ALWAYS, ATTACH_HOOK_NONE, ATTACH_WORK, 4, 3, 0, arguments_cuWaitExternalSemaphoresAsync_ptsz, NULL},
};
