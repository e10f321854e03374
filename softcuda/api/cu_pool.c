// SPDX-License-Identifier: Apache-2.0
/* Stream-ordered allocation and its pools.
 *
 * Which code a wrong argument gives was recorded on an H100, call by call: what is no
 * property at all is INVALID_VALUE, what exists and is not built NOT_SUPPORTED. */
#include "softcuda/device/poolobject.h"

#include <string.h>

#include "softcuda/api/cu_graph.h"
#include "softcuda/api/exports.h"
#include "softcuda/device/device.h"
#include "softcuda/device/task.h"
#include "softcuda/memory/share.h"
#include "softcuda/rules/rules.h"

/* The device of a memory location. */
static CUresult located(const CUmemLocation *location, soft_device **out)
{
    SOFT_TRY(soft_need(location, "location"));
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "pools at location type %d are not built", (int)location->type);
    return soft_device_find(location->id, out);
}

/* Where a device that does not exist is INVALID_VALUE. */
static CUresult pool_device_of(CUdevice ordinal, soft_device **out)
{
    *out = soft_device_at(ordinal);
    return *out ? CUDA_SUCCESS
                : soft_fail(soft_rule(M_pool_props) ? CUDA_ERROR_INVALID_VALUE
                                                    : CUDA_ERROR_INVALID_DEVICE,
                            "device %d is not one of the %d visible", ordinal,
                            soft_device_count());
}

/* What is not a device is INVALID_VALUE to these calls, INVALID_DEVICE to others. */
static CUresult pool_located(const CUmemLocation *location, soft_device **out)
{
    if (location && location->type == CU_MEM_LOCATION_TYPE_DEVICE)
        return pool_device_of(location->id, out);
    return located(location, out);
}

/* Pools of the host are kept by the first device. */
static bool is_of_host(const CUmemLocation *location)
{
    return location->type == CU_MEM_LOCATION_TYPE_HOST ||
           location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
}

/* The device that keeps managed memory which prefers that location. */
static CUresult managed_at(const CUmemLocation *location, soft_device **out)
{
    SOFT_TRY(soft_need(location, "location"));
    if ((unsigned)location->type >= SOFT_POOL_PLACES)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "no managed pools are at location type %d", (int)location->type);
    if (location->type == CU_MEM_LOCATION_TYPE_DEVICE)
        return pool_device_of(location->id, out);
    *out = soft_device_at(0);
    return CUDA_SUCCESS;
}

/* ---- pools ------------------------------------------------------------------------- */

/* What no pool of the host can be, whether such pools are built or not. */
static CUresult check_host_pool(const CUmemPoolProps *props)
{
    const CUmemLocationType type = props->location.type;
    if (type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "a pool is made for a NUMA node by its number, not for the "
                         "current one");
    if (type == CU_MEM_LOCATION_TYPE_HOST &&
        props->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "handle type 0x%x: a pool of the host cannot be exported, one "
                         "of a NUMA node can",
                         (unsigned)props->handleTypes);
    return CUDA_SUCCESS;
}

/* What no pool can have, whether pools at that location are built or not. Managed memory
 * alone may prefer no place. */
static CUresult check_props(const CUmemPoolProps *props)
{
    static const unsigned char zeros[sizeof(props->reserved)];
    const bool is_managed = props->allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
    if (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED && !is_managed)
        return soft_fail(
            CUDA_ERROR_INVALID_VALUE,
            "allocation type %d is neither CU_MEM_ALLOCATION_TYPE_PINNED nor "
            "_MANAGED",
            (int)props->allocType);
    if (memcmp(props->reserved, zeros, sizeof(zeros)) != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "reserved bytes of the pool properties are set");
    const CUmemLocationType where = props->location.type;
    if (where < CU_MEM_LOCATION_TYPE_INVALID ||
        (where == CU_MEM_LOCATION_TYPE_NONE && !is_managed) ||
        where > CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
        return soft_fail(is_managed ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE,
                         "no pools are at location type %d", (int)where);
    if (where == CU_MEM_LOCATION_TYPE_DEVICE && !soft_device_at(props->location.id))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "device %d is not one of the %d visible", props->location.id,
                         soft_device_count());
    if (props->handleTypes &
        ~(unsigned)(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "handle types 0x%x are not known here",
                         (unsigned)props->handleTypes);
    if (props->handleTypes & CU_MEM_HANDLE_TYPE_FABRIC)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "handle type 0x%x: fabric handles are not built",
                         (unsigned)props->handleTypes);
    return CUDA_SUCCESS;
}

/* Properties that no pool can have are judged before those that softcuda lacks (R111). */
CUresult cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *props)
{
    SOFT_TRY(soft_enter_with(__func__, out, "pool"));
    SOFT_TRY(soft_need(props, "poolProps"));
    if (soft_rule(M_pool_props))
        SOFT_TRY(check_props(props));
    if (soft_rule(R111))
        SOFT_TRY(check_host_pool(props));
    soft_device *device;
    soft_pool_object *object;
    if (props->allocType == CU_MEM_ALLOCATION_TYPE_MANAGED) {
        /* Where it lies is all the same here: the location is kept, and no more. */
        SOFT_TRY(managed_at(&props->location, &device));
        if (props->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
            return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                             "handle types 0x%x: managed pools are not exported",
                             (unsigned)props->handleTypes);
        SOFT_TRY(soft_pool_object_create_managed(device, props->maxSize, &props->location,
                                                 &object));
    } else if (is_of_host(&props->location)) {
        SOFT_TRY(soft_pool_object_create_host(soft_device_at(0), props->maxSize,
                                              &props->location, props->handleTypes,
                                              &object));
    } else {
        SOFT_TRY(located(&props->location, &device));
        SOFT_TRY(
            soft_pool_object_create(device, props->maxSize, props->handleTypes, &object));
    }
    *out = (CUmemoryPool)object;
    return CUDA_SUCCESS;
}

/* What concerns the memory that a pool gives out: of another process' pool that is asked
 * there alone. */
static CUresult find_own(CUmemoryPool handle, soft_pool_object **out)
{
    SOFT_TRY(soft_pool_object_find(handle, out));
    if (soft_pool_is_import((*out)->pool))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "pool %p is another process'",
                         (void *)handle);
    return CUDA_SUCCESS;
}

/* What is allocated from it stays good until it is freed; a device that used it has its
 * default pool again (R109). */
CUresult cuMemPoolDestroy(CUmemoryPool handle)
{
    soft_pool_object *object;
    SOFT_TRY(soft_enter(__func__));
    SOFT_TRY(soft_pool_object_find(handle, &object));
    return soft_pool_object_destroy(object);
}

/* Not below what is in use, nor what is asked to be kept (R112); memory of graphs is
 * another pool (R58). */
CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t keep)
{
    soft_pool_object *object;
    SOFT_TRY(soft_enter(__func__));
    SOFT_TRY(find_own(handle, &object));
    soft_pool_trim(object->pool, soft_rule(R112) ? keep : 0);
    if (!soft_rule(R58))
        soft_graph_memory_trim(object->device);
    return CUDA_SUCCESS;
}

/* CUDA resets a high watermark, and never sets it. */
static CUresult set_high(soft_pool_object *object, CUmemPool_attribute attribute,
                         uint64_t value)
{
    if (value != 0 && soft_rule(M_pool_attributes))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "a high watermark can be set to 0 only, not to %llu",
                         (unsigned long long)value);
    soft_pool_reset_high(object->pool, attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH,
                         attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH);
    return CUDA_SUCCESS;
}

/* Where the policy keeps an attribute that CUDA has as an int; NULL for the others, which
 * have 64 bits. */
static uint32_t *flag_of(soft_pool_policy *policy, CUmemPool_attribute attribute)
{
    switch ((int)attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        return &policy->follow_event_dependencies;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC: return &policy->allow_opportunistic;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        return &policy->allow_internal_dependencies;
    default: return NULL;
    }
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute,
                               void *value)
{
    SOFT_TRY(soft_enter_with(__func__, value, "value"));
    soft_pool_object *object;
    SOFT_TRY(find_own(handle, &object));
    soft_pool_policy policy;
    soft_pool_get_policy(object->pool, &policy);
    uint32_t *flag = flag_of(&policy, attribute);
    int set;
    uint64_t number;
    if (flag) {
        memcpy(&set, value, sizeof(set));
        *flag = set != 0;
        soft_pool_set_policy(object->pool, &policy);
        return CUDA_SUCCESS;
    }
    if (attribute != CU_MEMPOOL_ATTR_RELEASE_THRESHOLD &&
        attribute != CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH &&
        attribute != CU_MEMPOOL_ATTR_USED_MEM_HIGH)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "pool attribute %d cannot be set",
                         (int)attribute);
    memcpy(&number, value, sizeof(number));
    if (attribute != CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        return set_high(object, attribute, number);
    policy.release_threshold_bytes = number;
    soft_pool_set_policy(object->pool, &policy);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute,
                               void *out)
{
    SOFT_TRY(soft_enter_with(__func__, out, "value"));
    soft_pool_object *object;
    SOFT_TRY(find_own(handle, &object));
    soft_pool_policy policy;
    soft_pool_stats stats;
    soft_pool_get_policy(object->pool, &policy);
    soft_pool_get_stats(object->pool, &stats);
    const uint32_t *flag = flag_of(&policy, attribute);
    if (flag) {
        memcpy(out, &(int){*flag != 0}, sizeof(int));
        return CUDA_SUCCESS;
    }
    uint64_t number;
    switch ((int)attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        number = policy.release_threshold_bytes;
        break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: number = stats.reserved_bytes; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: number = stats.reserved_high_bytes; break;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: number = stats.used_bytes; break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: number = stats.used_high_bytes; break;
    default:
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a pool attribute",
                         (int)attribute);
    }
    memcpy(out, &number, sizeof(number));
    return CUDA_SUCCESS;
}

/* With its rule off a wrong access is taken for one that is known. */
static CUresult check_access(const soft_pool_object *object,
                             const CUmemAccessDesc *access)
{
    soft_device *device = NULL;
    if (!object->of_host || !is_of_host(&access->location))
        SOFT_TRY(located(&access->location, &device));
    if (!soft_rule(M_pool_access))
        return CUDA_SUCCESS;
    if (access->flags == CU_MEM_ACCESS_FLAGS_PROT_READ)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "a pool gives no access, or reading and writing");
    if (access->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
        access->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "0x%x are not access flags",
                         (unsigned)access->flags);
    if (device == object->device && !object->of_host &&
        access->flags == CU_MEM_ACCESS_FLAGS_PROT_NONE)
        return soft_fail(CUDA_ERROR_INVALID_DEVICE,
                         "access of device %d to its own pool cannot be revoked",
                         device->ordinal);
    return CUDA_SUCCESS;
}

/* All descriptors are checked before the first takes effect. */
CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc *map, size_t count)
{
    SOFT_TRY(soft_enter(__func__));
    if (!map || count == 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%zu access descriptions at %p", count,
                         (const void *)map);
    soft_pool_object *object;
    SOFT_TRY(soft_pool_object_find(handle, &object));
    for (size_t i = 0; i < count; i++)
        SOFT_TRY(check_access(object, &map[i]));
    for (size_t i = 0; i < count; i++)
        if (map[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE)
            atomic_store(&object->access[map[i].location.id], (unsigned)map[i].flags);
    return CUDA_SUCCESS;
}

/* The host has its own pools; of others it has none, and they say nothing of it. */
CUresult cuMemPoolGetAccess(CUmemAccess_flags *out, CUmemoryPool handle,
                            CUmemLocation *location)
{
    SOFT_TRY(soft_enter_with(__func__, out, "flags"));
    SOFT_TRY(soft_need(location, "location"));
    soft_pool_object *object;
    SOFT_TRY(soft_pool_object_find(handle, &object));
    if (location->type == CU_MEM_LOCATION_TYPE_HOST ||
        (object->of_host && location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA)) {
        *out = object->of_host ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                               : CU_MEM_ACCESS_FLAGS_PROT_NONE;
        return CUDA_SUCCESS;
    }
    soft_device *device;
    SOFT_TRY(pool_located(location, &device));
    *out = (CUmemAccess_flags)atomic_load(&object->access[device->ordinal]);
    return CUDA_SUCCESS;
}

/* ---- the pools of a device --------------------------------------------------------- */

/* Made with the device, and never destroyed. */
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice ordinal)
{
    SOFT_TRY(soft_enter_with(__func__, out, "pool_out"));
    soft_device *device;
    SOFT_TRY(soft_device_find(ordinal, &device));
    *out = (CUmemoryPool)device->default_pool;
    return CUDA_SUCCESS;
}

/* That of cuMemAllocAsync() on this device. */
CUresult cuDeviceGetMemPool(CUmemoryPool *out, CUdevice ordinal)
{
    SOFT_TRY(soft_enter_with(__func__, out, "pool"));
    soft_device *device;
    SOFT_TRY(pool_device_of(ordinal, &device));
    *out = (CUmemoryPool)soft_device_pool(device);
    return CUDA_SUCCESS;
}

/* A pool serves the device that it is on (R110). */
static CUresult set_pool(soft_device *device, CUmemoryPool handle)
{
    soft_pool_object *object;
    SOFT_TRY(find_own(handle, &object));
    if (object->is_managed || object->of_host)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "pool %p is of %s memory",
                         (void *)handle, object->of_host ? "the host's" : "managed");
    if (soft_rule(R110) && object->device != device)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "the pool belongs to device %d, not to %d",
                         object->device->ordinal, device->ordinal);
    soft_device_set_pool(device, object);
    return CUDA_SUCCESS;
}

/* For allocations from now on, of all threads. */
CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool handle)
{
    SOFT_TRY(soft_enter(__func__));
    soft_device *device;
    SOFT_TRY(pool_device_of(ordinal, &device));
    return set_pool(device, handle);
}

/* The device of a location whose pools of a type are asked for. */
static CUresult typed_device(const CUmemLocation *location, CUmemAllocationType type,
                             soft_device **out)
{
    if (type == CU_MEM_ALLOCATION_TYPE_MANAGED)
        return managed_at(location, out);
    if (location && location->type == CU_MEM_LOCATION_TYPE_NONE)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "managed memory alone is at no place");
    if (location && is_of_host(location))
        *out = soft_device_at(0);
    else
        SOFT_TRY(pool_located(location, out));
    if (type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "allocation type %d is none",
                         (int)type);
    return CUDA_SUCCESS;
}

/* Managed memory has other default pools than what cuMemAllocAsync() takes. */
CUresult cuMemGetDefaultMemPool(CUmemoryPool *out, CUmemLocation *location,
                                CUmemAllocationType type)
{
    SOFT_TRY(soft_enter_with(__func__, out, "pool_out"));
    soft_device *device;
    SOFT_TRY(typed_device(location, type, &device));
    *out = (CUmemoryPool)(type == CU_MEM_ALLOCATION_TYPE_MANAGED
                              ? device->managed_default[location->type]
                          : is_of_host(location) ? device->host_default[location->type]
                                                 : device->default_pool);
    return CUDA_SUCCESS;
}

CUresult cuMemGetMemPool(CUmemoryPool *out, CUmemLocation *location,
                         CUmemAllocationType type)
{
    SOFT_TRY(soft_enter_with(__func__, out, "pool"));
    soft_device *device;
    SOFT_TRY(typed_device(location, type, &device));
    *out = (CUmemoryPool)(type == CU_MEM_ALLOCATION_TYPE_MANAGED
                              ? atomic_load(&device->managed_current[location->type])
                          : is_of_host(location)
                              ? atomic_load(&device->host_current[location->type])
                              : soft_device_pool(device));
    return CUDA_SUCCESS;
}

/* A pool of managed memory or of the host serves the place that it was made for alone. */
CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type,
                         CUmemoryPool handle)
{
    SOFT_TRY(soft_enter(__func__));
    soft_device *device;
    SOFT_TRY(typed_device(location, type, &device));
    const bool is_managed = type == CU_MEM_ALLOCATION_TYPE_MANAGED;
    if (!is_managed && !is_of_host(location))
        return set_pool(device, handle);
    soft_pool_object *object;
    SOFT_TRY(find_own(handle, &object));
    if (!(is_managed ? object->is_managed : object->of_host) ||
        object->device != device || object->place.type != location->type)
        return soft_fail(
            CUDA_ERROR_INVALID_VALUE, "pool %p is not of %s memory at location type %d",
            (void *)handle, is_managed ? "managed" : "the host's", (int)location->type);
    atomic_store(
        &(is_managed ? device->managed_current : device->host_current)[location->type],
        object);
    return CUDA_SUCCESS;
}

/* ---- allocation -------------------------------------------------------------------- */

struct allocate_in {
    const char *call;
    CUstream stream;
    bool per_thread;
    bool from_current; /* the current pool of the device, not `pool` */
    CUmemoryPool pool;
    size_t bytes;
};

/* In stream order: the address is good for work that is submitted later, and the memory
 * may be another stream's whose free comes before. */
static CUresult allocate(CUdeviceptr *out, const struct allocate_in *in)
{
    soft_context *context;
    soft_pool_object *object;
    soft_stream *found;
    SOFT_TRY(soft_enter_stream_context(in->call, in->stream, &context));
    if (in->from_current)
        object = soft_device_pool(context->device);
    else
        SOFT_TRY(find_own(in->pool, &object));
    if (!out && !soft_rule(M_capture_order))
        return soft_need(out, "dptr");
    SOFT_TRY(soft_stream_find(context, in->stream, in->per_thread, &found));
    SOFT_TRY(soft_need(out, "dptr"));
    *out = 0;
    if (in->bytes == 0 && soft_rule(M_pool_nothing))
        return CUDA_SUCCESS; /* with address 0, unlike cuMemAlloc */
    if (soft_stream_captures(found))
        return soft_api_capture_alloc(found, object, in->bytes, out);
    soft_queue *queue = found->queue;
    uint64_t address;
    soft_point wait = {0};
    SOFT_TRY(soft_pass(soft_pool_alloc(object->pool, in->bytes, queue, NULL, NULL,
                                       &address, &wait, soft_error())));
    if (wait.queue) {
        const soft_work order = {.kind = SOFT_WORK_EMPTY};
        const gph_status status = soft_queue_submit(queue, &order, &wait, 1, NULL);
        if (status != GPH_OK)
            return soft_fail(CUDA_ERROR_DEINITIALIZED, "the engine is ending");
    }
    *out = address;
    return CUDA_SUCCESS;
}

SOFT_TWINS(cuMemAllocAsync, _ptsz, (CUdeviceptr * out, size_t bytes, CUstream stream),
           allocate(out, &(struct allocate_in){__func__, stream, per_thread, true, NULL,
                                               bytes}))

SOFT_TWINS(cuMemAllocFromPoolAsync, _ptsz,
           (CUdeviceptr * out, size_t bytes, CUmemoryPool pool, CUstream stream),
           allocate(out, &(struct allocate_in){__func__, stream, per_thread, false, pool,
                                               bytes}))

static void nothing(void *user)
{
    (void)user;
}

/* Memory of cuMemAlloc() is taken as well, and freed as by cuMemFree(). */
static CUresult free_async(const char *call, CUdeviceptr address, CUstream stream,
                           bool per_thread)
{
    soft_context *context;
    soft_stream *in;
    SOFT_TRY(soft_enter_stream_context(call, stream, &context));
    SOFT_TRY(soft_stream_find(context, stream, per_thread, &in));
    if (address == 0)
        return CUDA_SUCCESS;
    if (soft_stream_captures(in))
        return soft_api_capture_free(in, address);
    soft_device *device = soft_device_holding(address);
    soft_allocation found;
    if (!soft_rule(R60) && device && soft_graph_known(device->memory, address, 1, &found))
        return CUDA_SUCCESS;
    if (soft_rule(M_free_async_memory) && device &&
        soft_memory_find(device->memory, address, &found) &&
        found.kind == SOFT_MEMORY_DEVICE)
        return soft_api_free(context, address);
    if (!device || !soft_memory_find(device->memory, address, &found) ||
        (found.kind != SOFT_MEMORY_POOL && found.kind != SOFT_MEMORY_GRAPH) ||
        found.base != address)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "0x%llx is not a live allocation of a memory pool or a graph",
                         (unsigned long long)address);
    if (found.kind == SOFT_MEMORY_GRAPH)
        return soft_graph_memory_free(context, in, address);
    /* A place in the order of the stream, after all that may use the memory. */
    const soft_task order = {.kind = SOFT_TASK_CALL, .u.call = {.function = nothing}};
    SOFT_TRY(soft_stream_submit(context, stream, per_thread, &order, NULL));
    return soft_pass(soft_pool_free(device->memory, address, soft_queue_tail(in->queue),
                                    soft_error()));
}

SOFT_TWINS(cuMemFreeAsync, _ptsz, (CUdeviceptr address, CUstream stream),
           free_async(__func__, address, stream, per_thread))
