// SPDX-License-Identifier: Apache-2.0
/* Devices: which there are, what they can do, which one is current; versions.
 *
 * Questions about devices make no context: a program that only counts them pays for none,
 * and may still fork(). cudaSetDevice() makes one, as it does since CUDA 12.0. */
#include "softcuda/runtime/registry.h"

#include <string.h>

/* ---- which ---------------------------------------------------------------------------------- */

static cudaError_t device_count(const rt_driver *cu, int *out)
{
    if (!out)
        return cudaErrorInvalidValue;
    const CUresult result = cu->cuDeviceGetCount(out);
    return result == CUDA_SUCCESS && *out == 0 ? cudaErrorNoDevice : (cudaError_t)result;
}

static cudaError_t get_device(const rt_driver *cu, int *out)
{
    if (!out)
        return cudaErrorInvalidValue;
    *out = rt_device(cu);
    return cudaSuccess;
}

/* Everything of the device goes; it begins again at the next call. */
static cudaError_t reset(const rt_driver *cu)
{
    const int device = rt_device(cu);
    rt_program_forget(cu);
    const CUresult result = cu->cuDevicePrimaryCtxReset(device);
    rt_device_forget(cu, device);
    cu->cuCtxSetCurrent(NULL);
    if (result == CUDA_SUCCESS)
        return (cudaError_t)cu->cuDevicePrimaryCtxSetFlags(device, 0);
    return (cudaError_t)result;
}

/* Host memory can be mapped, always (an H200). */
static cudaError_t get_flags(const rt_driver *cu, unsigned *out)
{
    int is_active = 0;
    unsigned flags = 0;
    if (!out)
        return cudaErrorInvalidValue;
    const CUresult result =
        cu->cuDevicePrimaryCtxGetState(rt_device(cu), &flags, &is_active);
    if (result == CUDA_SUCCESS)
        *out = flags | CU_CTX_MAP_HOST;
    return (cudaError_t)result;
}

static cudaError_t init_device(const rt_driver *cu, int device, unsigned flags)
{
    cudaError_t result = rt_device_check(cu, device);
    if (result == cudaSuccess && flags != 0)
        result = (cudaError_t)cu->cuDevicePrimaryCtxSetFlags(device, flags);
    const int before = rt_device(cu);
    if (result == cudaSuccess)
        result = rt_device_set(cu, device);
    return result == cudaSuccess ? rt_device_set(cu, before) : result;
}

/* Devices in the order in which a thread without one would take them; none: as at first. */
static cudaError_t set_valid(const rt_driver *cu, const int *devices, int count)
{
    if (count < 0 || (count > 0 && !devices))
        return cudaErrorInvalidValue;
    for (int i = 0; i < count; i++) {
        const cudaError_t result = rt_device_check(cu, devices[i]);
        if (result != cudaSuccess)
            return result;
    }
    rt_device_prefer(count > 0 ? devices[0] : 0);
    return cudaSuccess;
}

RT_EARLY(cudaSetValidDevices, (int *, devices, int, count), set_valid(cu, devices, count))
RT_EARLY(cudaGetDeviceCount, (int *, count), device_count(cu, count))
RT_EARLY(cudaGetDevice, (int *, device), get_device(cu, device))
RT_EARLY(cudaSetDevice, (int, device), rt_device_set(cu, device))
RT_EARLY(cudaInitDevice, (int, device, unsigned, device_flags, unsigned, flags),
         init_device(cu, device, flags & 1 ? device_flags : 0))
RT_EARLY(cudaSetDeviceFlags, (unsigned, flags),
         cu->cuDevicePrimaryCtxSetFlags(rt_device(cu), flags))
RT_EARLY(cudaGetDeviceFlags, (unsigned *, flags), get_flags(cu, flags))
RT_EARLY(cudaDeviceReset, (void), reset(cu))
RT_ENTRY(cudaDeviceSynchronize, (void), cu->cuCtxSynchronize())
RT_EARLY(cudaDeviceGetByPCIBusId, (int *, device, const char *, text),
         cu->cuDeviceGetByPCIBusId(device, text))
RT_EARLY(cudaDeviceGetPCIBusId, (char *, text, int, room, int, device),
         cu->cuDeviceGetPCIBusId(text, room, device))

/* ---- limits, caches, peers -------------------------------------------------------------------- */

RT_ENTRY(cudaDeviceGetLimit, (size_t *, value, CUlimit, which),
         cu->cuCtxGetLimit(value, which))
RT_ENTRY(cudaDeviceSetLimit, (CUlimit, which, size_t, value),
         cu->cuCtxSetLimit(which, value))
RT_ENTRY(cudaDeviceGetCacheConfig, (CUfunc_cache *, config),
         cu->cuCtxGetCacheConfig(config))
RT_ENTRY(cudaDeviceSetCacheConfig, (CUfunc_cache, config),
         cu->cuCtxSetCacheConfig(config))
RT_ENTRY(cudaDeviceGetStreamPriorityRange, (int *, least, int *, greatest),
         cu->cuCtxGetStreamPriorityRange(least, greatest))
RT_ENTRY(cudaCtxResetPersistingL2Cache, (void), cu->cuCtxResetPersistingL2Cache())
RT_EARLY(cudaDeviceCanAccessPeer, (int *, can, int, device, int, peer),
         cu->cuDeviceCanAccessPeer(can, device, peer))
RT_EARLY(cudaDeviceGetP2PAttribute,
         (int *, value, CUdevice_P2PAttribute, which, int, from, int, to),
         cu->cuDeviceGetP2PAttribute(value, which, from, to))

RT_EARLY(cudaDeviceGetP2PAtomicCapabilities,
         (unsigned *, out, const CUatomicOperation *, which, unsigned, count, int, from,
          int, to),
         cu->cuDeviceGetP2PAtomicCapabilities(out, which, count, from, to))
RT_EARLY(cudaDeviceGetHostAtomicCapabilities,
         (unsigned *, out, const CUatomicOperation *, which, unsigned, count, int,
          device),
         cu->cuDeviceGetHostAtomicCapabilities(out, which, count, device))
RT_ENTRY(cudaDeviceFlushGPUDirectRDMAWrites,
         (CUflushGPUDirectRDMAWritesTarget, target, CUflushGPUDirectRDMAWritesScope,
          scope),
         cu->cuFlushGPUDirectRDMAWrites(target, scope))
RT_EARLY(cudaDeviceRegisterAsyncNotification,
         (int, device, CUasyncCallback, callback, void *, user, CUasyncCallbackHandle *,
          out),
         cu->cuDeviceRegisterAsyncNotification(device, callback, user, out))
RT_EARLY(cudaDeviceUnregisterAsyncNotification,
         (int, device, CUasyncCallbackHandle, callback),
         cu->cuDeviceUnregisterAsyncNotification(device, callback))

/* Peers are named by their contexts there, by their numbers here. */
static cudaError_t peer(const rt_driver *cu, int device, unsigned flags, bool enables)
{
    CUcontext context = NULL;
    cudaError_t result = rt_device_check(cu, device);
    if (result == cudaSuccess)
        result = (cudaError_t)cu->cuDevicePrimaryCtxRetain(&context, device);
    if (result != cudaSuccess)
        return result;
    result = (cudaError_t)(enables ? cu->cuCtxEnablePeerAccess(context, flags)
                                   : cu->cuCtxDisablePeerAccess(context));
    cu->cuDevicePrimaryCtxRelease(device);
    return result;
}

RT_ENTRY(cudaDeviceEnablePeerAccess, (int, device, unsigned, flags),
         peer(cu, device, flags, true))
RT_ENTRY(cudaDeviceDisablePeerAccess, (int, device), peer(cu, device, 0, false))

/* Shared memory has banks of four bytes since Volta. */
enum { BANKS_OF_FOUR = 1 };

static cudaError_t bank_size(int *out)
{
    if (!out)
        return cudaErrorInvalidValue;
    *out = BANKS_OF_FOUR;
    return cudaSuccess;
}

RT_ENTRY(cudaDeviceGetSharedMemConfig, (int *, config), bank_size(config))
RT_ENTRY(cudaDeviceSetSharedMemConfig, (int, config), ((void)config, cudaSuccess))

/* ---- properties --------------------------------------------------------------------------------- */

RT_EARLY(cudaDeviceGetAttribute, (int *, value, CUdevice_attribute, which, int, device),
         cu->cuDeviceGetAttribute(value, which, device))

/* An int of cudaDeviceProp and the attribute that has it. */
typedef struct member {
    size_t offset;
    int is_size; /* a size_t */
    CUdevice_attribute which;
} member;

#define INT(name, which)                                                                 \
    {offsetof(struct cudaDeviceProp, name), 0, CU_DEVICE_ATTRIBUTE_##which},
#define SIZE(name, which)                                                                \
    {offsetof(struct cudaDeviceProp, name), 1, CU_DEVICE_ATTRIBUTE_##which},
static const member members[] = {
#include "softcuda/runtime/properties.def"
};
#undef INT
#undef SIZE

static cudaError_t properties(const rt_driver *cu, struct cudaDeviceProp *out, int device)
{
    cudaError_t result = out ? rt_device_check(cu, device) : cudaErrorInvalidValue;
    if (result != cudaSuccess)
        return result;
    memset(out, 0, sizeof(*out));
    result = (cudaError_t)cu->cuDeviceGetName(out->name, sizeof(out->name), device);
    if (result == cudaSuccess)
        result = (cudaError_t)cu->cuDeviceTotalMem(&out->totalGlobalMem, device);
    if (result == cudaSuccess)
        result = (cudaError_t)cu->cuDeviceGetUuid(&out->uuid, device);
    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
        int value = 0;
        char *at = (char *)out + members[i].offset;
        if (cu->cuDeviceGetAttribute(&value, members[i].which, device) != CUDA_SUCCESS)
            continue; /* newer than the driver: 0 */
        const size_t size = (size_t)value;
        memcpy(at, members[i].is_size ? (void *)&size : (void *)&value,
               members[i].is_size ? sizeof(size) : sizeof(value));
    }
    return result;
}

RT_EARLY(cudaGetDeviceProperties, (struct cudaDeviceProp *, out, int, device),
         properties(cu, out, device))

/* The device that has most of what is asked for: with devices of one kind, the first. */
static cudaError_t choose(const rt_driver *cu, int *out,
                          const struct cudaDeviceProp *wish)
{
    int count = 0;
    if (!out || !wish)
        return cudaErrorInvalidValue;
    *out = 0;
    return device_count(cu, &count);
}

RT_EARLY(cudaChooseDevice, (int *, device, const struct cudaDeviceProp *, wish),
         choose(cu, device, wish))

/* ---- versions ------------------------------------------------------------------------------------ */

/* 12.9 is the last one of 12. */
enum { RUNTIME_VERSION = RT_MAJOR == 12 ? 12090 : 13000 };

static cudaError_t runtime_version(int *out)
{
    if (!out)
        return cudaErrorInvalidValue;
    *out = RUNTIME_VERSION;
    return cudaSuccess;
}

RT_EARLY(cudaRuntimeGetVersion, (int *, version), runtime_version(version))
RT_EARLY(cudaDriverGetVersion, (int *, version), cu->cuDriverGetVersion(version))
RT_ENTRY(cudaProfilerStart, (void), cu->cuProfilerStart())
RT_ENTRY(cudaProfilerStop, (void), cu->cuProfilerStop())
