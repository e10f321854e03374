// SPDX-License-Identifier: Apache-2.0
/* Devices: names, attributes, peers. Sizes and limits are an H100's, so that programs
 * take the paths that they would take there; what softcuda lacks is answered with 0.
 *
 * None of these calls needs a context. An ordinal is looked up after the outputs are
 * known to be there: two mistakes give INVALID_VALUE, as on an H100. */
#include <stdio.h>

#include "softcuda/api/exports.h"
#include "softcuda/device/device.h"
#include "softcuda/device/driver.h"
#include "softcuda/device/limits.h"
#include "softcuda/device/peer.h"
#include "softcuda/device/settings.h"
#include "softcuda/rules/rules.h"

/* The handle of a device is its ordinal. */
CUresult cuDeviceGet(CUdevice *out, int ordinal)
{
    SOFT_TRY(soft_enter_with(__func__, out, "device"));
    soft_device *device;
    SOFT_TRY(soft_device_find(ordinal, &device));
    *out = ordinal;
    return CUDA_SUCCESS;
}

/* Those that SOFTCUDA_DEVICES makes and CUDA_VISIBLE_DEVICES leaves. */
CUresult cuDeviceGetCount(int *out)
{
    SOFT_TRY(soft_enter_with(__func__, out, "count"));
    *out = soft_device_count();
    return CUDA_SUCCESS;
}

/* What does not fit is cut, with a terminating NUL. */
CUresult cuDeviceGetName(char *out, int bytes, CUdevice ordinal)
{
    SOFT_TRY(soft_enter(__func__));
    if (!out || bytes <= 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "name is %p, its length %d",
                         (void *)out, bytes);
    soft_device *device;
    SOFT_TRY(soft_device_find(ordinal, &device));
    snprintf(out, (size_t)bytes, "softcuda");
    return CUDA_SUCCESS;
}

/* Of the physical device, so that it stays the same when CUDA_VISIBLE_DEVICES reorders
 * them. */
CUresult cuDeviceGetUuid_v2(CUuuid *out, CUdevice ordinal)
{
    SOFT_TRY(soft_enter_with(__func__, out, "uuid"));
    soft_device *device;
    SOFT_TRY(soft_device_find(ordinal, &device));
    *out = soft_device_uuid(device->physical);
    return CUDA_SUCCESS;
}

SOFT_OLDER(cuDeviceGetUuid, (CUuuid * out, CUdevice ordinal),
           cuDeviceGetUuid_v2(out, ordinal))

/* SOFTCUDA_MEMORY, whatever the machine has: memory is only taken when it is used. */
CUresult cuDeviceTotalMem_v2(size_t *out, CUdevice ordinal)
{
    SOFT_TRY(soft_enter_with(__func__, out, "bytes"));
    soft_device *device;
    SOFT_TRY(soft_device_find(ordinal, &device));
    *out = device->total_bytes;
    return CUDA_SUCCESS;
}

/* A PCI address that no machine has: domain ffff, bus = the device's number. */
CUresult cuDeviceGetPCIBusId(char *out, int bytes, CUdevice ordinal)
{
    SOFT_TRY(soft_enter(__func__));
    soft_device *device;
    SOFT_TRY(soft_device_find(ordinal, &device));
    if (!out || bytes < 13)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "pciBusId is %p, its length %d < 13",
                         (void *)out, bytes);
    snprintf(out, (size_t)bytes, "FFFF:%02X:00.0", device->physical & 0xff);
    return CUDA_SUCCESS;
}

/* Any of the forms that NVIDIA's tools write; bus and slot are what devices
 * differ in. */
CUresult cuDeviceGetByPCIBusId(CUdevice *out, const char *id)
{
    SOFT_TRY(soft_enter_with(__func__, out, "dev"));
    SOFT_TRY(soft_need(id, "pciBusId"));
    unsigned domain = 0xffff, bus, slot, function = 0;
    if (sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3 &&
        sscanf(id, "%x:%x.%x", &bus, &slot, &function) < 2)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "'%s' is not a PCI address", id);
    for (int i = 0; i < soft_device_count(); i++)
        if (domain == 0xffff && (unsigned)soft_device_at(i)->physical == bus &&
            slot == 0 && function == 0) {
            *out = i;
            return CUDA_SUCCESS;
        }
    return soft_fail(CUDA_ERROR_INVALID_DEVICE, "no device has the PCI address %s", id);
}

/* SOFTCUDA_COMPUTE_CAPABILITY, or an H100's. */
CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice ordinal)
{
    SOFT_TRY(soft_enter_with(__func__, major, "major"));
    SOFT_TRY(soft_need(minor, "minor"));
    soft_device *device;
    SOFT_TRY(soft_device_find(ordinal, &device));
    *major = soft_compute_capability() / 10;
    *minor = soft_compute_capability() % 10;
    return CUDA_SUCCESS;
}

/* An old call: its fields are attributes as well, with the same numbers. */
CUresult cuDeviceGetProperties(CUdevprop *out, CUdevice ordinal)
{
    SOFT_TRY(soft_enter_with(__func__, out, "prop"));
    soft_device *device;
    SOFT_TRY(soft_device_find(ordinal, &device));
    *out = (CUdevprop){
        .maxThreadsPerBlock = SOFT_BLOCK_THREADS_MAX,
        .maxThreadsDim = {SOFT_BLOCK_X_MAX, SOFT_BLOCK_Y_MAX, SOFT_BLOCK_Z_MAX},
        .maxGridSize = {SOFT_GRID_X_MAX, SOFT_GRID_YZ_MAX, SOFT_GRID_YZ_MAX},
        .sharedMemPerBlock = SOFT_SHARED_BYTES,
        .totalConstantMemory = 65536,
        .SIMDWidth = 32,
        .memPitch = 0x7fffffff,
        .regsPerBlock = SOFT_REGISTERS,
        .clockRate = 1980000,
        .textureAlign = 512};
    return CUDA_SUCCESS;
}

/* ---- attributes -------------------------------------------------------------------- */

/* Unknown attributes are INVALID_VALUE before the device is looked at. */
CUresult cuDeviceGetAttribute(int *out, CUdevice_attribute attribute, CUdevice ordinal)
{
    SOFT_TRY(soft_enter_with(__func__, out, "pi"));
    if (!soft_device_has_attribute(attribute))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a device attribute",
                         (int)attribute);
    soft_device *device;
    SOFT_TRY(soft_device_find(ordinal, &device));
    *out = soft_device_attribute(device, attribute);
    return CUDA_SUCCESS;
}

/* There is one type, and no GPU without MPS supports it. */
CUresult cuDeviceGetExecAffinitySupport(int *out, CUexecAffinityType type,
                                        CUdevice ordinal)
{
    SOFT_TRY(soft_enter_with(__func__, out, "pi"));
    if (type != CU_EXEC_AFFINITY_TYPE_SM_COUNT)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not an affinity type",
                         (int)type);
    soft_device *device;
    SOFT_TRY(soft_device_find(ordinal, &device));
    *out = 0;
    return CUDA_SUCCESS;
}

/* ---- peers: every device of the process reaches every other ------------------------ */

/* A device cannot be its own peer. */
CUresult cuDeviceCanAccessPeer(int *out, CUdevice from, CUdevice to)
{
    SOFT_TRY(soft_enter_with(__func__, out, "canAccessPeer"));
    soft_device *device;
    SOFT_TRY(soft_device_find(from, &device));
    SOFT_TRY(soft_device_find(to, &device));
    *out = from != to;
    return CUDA_SUCCESS;
}

/* All devices are memory of one process: atomics work across them, arrays are not
 * shared. */
CUresult cuDeviceGetP2PAttribute(int *out, CUdevice_P2PAttribute attribute, CUdevice from,
                                 CUdevice to)
{
    SOFT_TRY(soft_enter_with(__func__, out, "value"));
    soft_device *device;
    SOFT_TRY(soft_device_find(from, &device));
    SOFT_TRY(soft_device_find(to, &device));
    if (from == to)
        return soft_fail(CUDA_ERROR_INVALID_DEVICE, "device %d is asked about itself",
                         from);
    switch (attribute) {
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK: *out = 0; break;
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED: *out = 1; break;
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED: *out = 0; break;
    default:
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a peer attribute",
                         (int)attribute);
    }
    return CUDA_SUCCESS;
}

/* One way: from the current context to memory of the other one's device. Twice is an
 * error, as on a GPU. */
CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned int flags)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    soft_context *peer;
    SOFT_TRY(soft_context_find(handle, &peer));
    if (flags != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "flags are 0x%x, not 0", flags);
    if (peer->device == context->device)
        return soft_fail(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
                         "the peer context is on the same device, %d",
                         peer->device->ordinal);
    const uint32_t bit = 1u << peer->device->ordinal;
    if ((atomic_fetch_or(&context->peers, bit) & bit) && soft_rule(M_peer_calls))
        return soft_fail(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
                         "access to device %d is enabled already", peer->device->ordinal);
    soft_peer_changed();
    return CUDA_SUCCESS;
}

/* Kernels that run meanwhile may see either answer, as page tables of a GPU change under
 * them. */
CUresult cuCtxDisablePeerAccess(CUcontext handle)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    soft_context *peer;
    SOFT_TRY(soft_context_find(handle, &peer));
    const uint32_t bit = 1u << peer->device->ordinal;
    if (!(atomic_fetch_and(&context->peers, ~bit) & bit))
        return soft_fail(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,
                         "access to device %d is not enabled", peer->device->ordinal);
    soft_peer_changed();
    return CUDA_SUCCESS;
}
