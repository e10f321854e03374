// SPDX-License-Identifier: Apache-2.0
/* CUmemoryPool: a pool of softcuda/memory with what CUDA adds to it. */
#ifndef SOFT_DEVICE_POOLOBJECT_H
#define SOFT_DEVICE_POOLOBJECT_H
#include "softcuda/device/context.h"
#include "softcuda/memory/memory.h"

typedef struct soft_pool_object {
    soft_pool *pool;
    soft_device *device;
    bool is_default;                        /* of its device: cannot be destroyed */
    bool is_managed;                        /* its memory is the host's, too */
    bool of_host;                           /* its memory is the host's own */
    CUmemLocation place;                    /* managed: preferred, may be none; of_host */
    CUmemAllocationHandleType handle_types; /* asked for */
    atomic_uint access[SOFT_DEVICE_MAX];    /* CUmemAccess_flags of each device */
    uint32_t imports;              /* of an import: how often; under device.c's lock */
    struct soft_pool_object *next; /* all of the process; device.c's lock */
} soft_pool_object;

/* `bytes` 0: up to the device's memory. */
CUresult soft_pool_object_create(soft_device *device, uint64_t bytes,
                                 CUmemAllocationHandleType handle_types,
                                 soft_pool_object **out);
/* Of managed memory that prefers to be at `place`, which is looked at alone. */
CUresult soft_pool_object_create_managed(soft_device *device, uint64_t bytes,
                                         const CUmemLocation *place,
                                         soft_pool_object **out);
/* Of page-locked memory of the host or of the NUMA node `place`. That a device needs access
 * is kept, and not enforced. */
CUresult soft_pool_object_create_host(soft_device *device, uint64_t bytes,
                                      const CUmemLocation *place,
                                      CUmemAllocationHandleType handle_types,
                                      soft_pool_object **out);
/* The object of a pool that is taken over, on failure too. */
CUresult soft_pool_object_adopt(soft_device *device, soft_pool *pool,
                                soft_pool_object **out);
/* The pool of another process, or the same object once more. */
CUresult soft_pool_object_import(soft_device *device, int file, soft_pool_object **out);
/* A device that has it as its current pool gets its default one again. */
CUresult soft_pool_object_destroy(soft_pool_object *object);
/* INVALID_VALUE for what is not a pool. */
CUresult soft_pool_object_find(CUmemoryPool handle, soft_pool_object **out);

/* The object around a pool of softcuda/memory; NULL gives NULL. */
soft_pool_object *soft_pool_object_of(const soft_pool *pool);

/* The pool that cuMemAllocAsync() uses on a device. */
soft_pool_object *soft_device_pool(soft_device *device);
void soft_device_set_pool(soft_device *device, soft_pool_object *object);

/* api/cu_memory.c: cuMemFree() of what is not 0. */
CUresult soft_api_free(soft_context *context, CUdeviceptr address);
#endif
