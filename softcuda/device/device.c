// SPDX-License-Identifier: Apache-2.0
/* What a device consists of: its memory, its pools, and the engine that all share. */
#include <stdio.h>
#include <unistd.h>

#include "softcuda/device/alloc.h"
#include "softcuda/device/device.h"
#include "softcuda/device/driver.h"
#include "softcuda/device/poolobject.h"
#include "softcuda/kernel/run/launch.h"
#include "softcuda/memory/fault.h"
#include "softcuda/memory/share.h"
#include "softcuda/rules/rules.h"

static soft_engine *engine; /* one for all devices: their work shares the CPU anyway */

/* Of any device: then its bytes are elsewhere than at the addresses that programs have. Set
 * before there is memory. */
static bool host_is_out;

static CUresult start_engine(uint32_t workers, uint32_t seed)
{
    if (engine)
        return CUDA_SUCCESS;
    const soft_engine_options options = {
        .workers = workers,
        .random_seed = seed,
        .allocator = soft_allocator(),
        .row = {soft_kernel_launch_run_single, soft_kernel_launch_run_row}};
    SOFT_TRY(soft_pass(soft_engine_create(&options, &engine, soft_error())));
    if (soft_engine_worker_count(engine) == 1)
        soft_share_begin_alone();
    return CUDA_SUCCESS;
}

/* The host touched an address without access: a device's, mostly. In a signal handler, on
 * the thread that did it; the process ends next unless its own handler knows better. */
static void say_host_access(uint64_t address, uint64_t offset, uint64_t bytes,
                            const char *verb)
{
    (void)offset, (void)bytes;
    const soft_device *device = soft_device_holding(address);
    char place[256], text[400];
    if (!device)
        return;
    soft_memory_describe(device->memory, address, place, sizeof(place));
    const int length = snprintf(
        text, sizeof(text),
        "host code %s device memory at 0x%llx: %s; only kernels and copies reach "
        "it (SOFTCUDA_CHECK)\n",
        verb, (unsigned long long)address, place);
    /* The bare call first: what comes after it may not get through. */
    if (write(STDERR_FILENO, text, (size_t)length) == length)
        text[length - 1] = '\0';
    soft_log(CU_LOG_LEVEL_ERROR, "%s", text);
}

/* In a signal handler of the thread that did it, which then goes on. */
static void say_early_access(uint64_t address, uint64_t offset, uint64_t bytes,
                             const char *verb)
{
    char text[400];
    const int length = snprintf(
        text, sizeof(text),
        "host code %s pinned memory at 0x%llx: %llu bytes into the destination of a copy "
        "of %llu bytes that has not run yet; nothing waited for it (SOFTCUDA_CHECK)\n",
        verb, (unsigned long long)address, (unsigned long long)offset,
        (unsigned long long)bytes);
    if (write(STDERR_FILENO, text, (size_t)length) == length)
        text[length - 1] = '\0';
    soft_log(CU_LOG_LEVEL_ERROR, "%s", text);
}

static CUresult start_managed(soft_device *device)
{
    for (int type = 0; type < SOFT_POOL_PLACES; type++) {
        const bool is_own = type == CU_MEM_LOCATION_TYPE_DEVICE;
        soft_pool_object **pool = &device->managed_default[type];
        if (*pool || (device->ordinal != 0 && !is_own))
            continue;
        const CUmemLocation place = {.type = (CUmemLocationType)type,
                                     .id = is_own ? device->ordinal : 0};
        SOFT_TRY(soft_pool_object_create_managed(device, 0, &place, pool));
        (*pool)->is_default = true;
        atomic_store(&device->managed_current[type], *pool);
    }
    return CUDA_SUCCESS;
}

/* The first device keeps what is the host's. */
static CUresult start_host(soft_device *device)
{
    for (int type = CU_MEM_LOCATION_TYPE_HOST; type < SOFT_POOL_PLACES; type++) {
        soft_pool_object **pool = &device->host_default[type];
        if (*pool || device->ordinal != 0)
            continue;
        const CUmemLocation place = {.type = (CUmemLocationType)type};
        SOFT_TRY(soft_pool_object_create_host(device, 0, &place, CU_MEM_HANDLE_TYPE_NONE,
                                              pool));
        (*pool)->is_default = true;
        atomic_store(&device->host_current[type], *pool);
    }
    return CUDA_SUCCESS;
}

CUresult soft_device_start(soft_device *device, uint32_t workers, uint32_t seed)
{
    SOFT_TRY(start_engine(workers, seed));
    device->engine = engine;
    const bool keep_out = soft_check_memory_wanted() && soft_rule(G_device_pointer);
    host_is_out |= keep_out;
    if (keep_out)
        SOFT_TRY(soft_pass(
            soft_fault_watch_host(say_host_access, say_early_access, soft_error())));
    if (!device->memory) {
        const soft_memory_options options = {.device = (uint32_t)device->ordinal,
                                             .physical = (uint32_t)device->physical,
                                             .limit_bytes = device->total_bytes,
                                             .keeps_host_out = keep_out,
                                             .allocator = soft_allocator()};
        SOFT_TRY(soft_pass(soft_memory_create(&options, &device->memory, soft_error())));
    }
    if (!device->default_pool) {
        SOFT_TRY(soft_pool_object_create(device, 0, CU_MEM_HANDLE_TYPE_NONE,
                                         &device->default_pool));
        device->default_pool->is_default = true;
        atomic_store(&device->current_pool, device->default_pool);
    }
    SOFT_TRY(start_managed(device));
    return start_host(device);
}

CUresult soft_device_find(int ordinal, soft_device **out)
{
    *out = soft_device_at(ordinal);
    if (!*out)
        return soft_fail(CUDA_ERROR_INVALID_DEVICE,
                         "device %d is not one of the %d visible", ordinal,
                         soft_device_count());
    return CUDA_SUCCESS;
}

soft_device *soft_device_holding(uint64_t address)
{
    for (int i = 0; i < soft_device_count(); i++)
        if (soft_memory_contains(soft_device_at(i)->memory, address))
            return soft_device_at(i);
    return NULL;
}

void *soft_device_reach(uint64_t address)
{
    if (!host_is_out)
        return (void *)(uintptr_t)address;
    const soft_device *device = soft_device_holding(address);
    if (device)
        address = soft_memory_reach(device->memory, address);
    return (void *)(uintptr_t)address;
}

/* ---- pools ------------------------------------------------------------------------- */

static pthread_mutex_t pools_lock = PTHREAD_MUTEX_INITIALIZER;
static soft_pool_object *pools;

static void link_in(soft_pool_object *object)
{
    pthread_mutex_lock(&pools_lock);
    object->next = pools;
    pools = object;
    pthread_mutex_unlock(&pools_lock);
}

static void take_out(soft_pool_object *object)
{
    pthread_mutex_lock(&pools_lock);
    soft_pool_object **link = &pools;
    while (*link != object)
        link = &(*link)->next;
    *link = object->next;
    pthread_mutex_unlock(&pools_lock);
}

soft_pool_object *soft_pool_object_of(const soft_pool *pool)
{
    pthread_mutex_lock(&pools_lock);
    soft_pool_object *object = pools;
    while (object && object->pool != pool)
        object = object->next;
    pthread_mutex_unlock(&pools_lock);
    return object;
}

CUresult soft_pool_object_adopt(soft_device *device, soft_pool *pool,
                                soft_pool_object **out)
{
    soft_pool_object *object = soft_new(sizeof(*object));
    CUresult status = soft_made(object, "no memory for a pool");
    if (status == CUDA_SUCCESS)
        status = soft_handle_own(object, SOFT_KIND_POOL);
    if (status != CUDA_SUCCESS) {
        soft_pool_destroy(pool);
        return status;
    }
    object->pool = pool;
    object->device = device;
    atomic_store(&object->access[device->ordinal], CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    link_in(object);
    *out = object;
    return CUDA_SUCCESS;
}

CUresult soft_pool_object_create(soft_device *device, uint64_t bytes,
                                 CUmemAllocationHandleType handle_types,
                                 soft_pool_object **out)
{
    const soft_pool_policy policy = {.follow_event_dependencies = 1,
                                     .allow_opportunistic = 1,
                                     .allow_internal_dependencies = 1,
                                     .max_bytes = bytes};
    soft_pool *pool;
    SOFT_TRY(soft_pass((handle_types != CU_MEM_HANDLE_TYPE_NONE ? soft_pool_create_shared
                                                                : soft_pool_create)(
        device->memory, &policy, &pool, soft_error())));
    SOFT_TRY(soft_pool_object_adopt(device, pool, out));
    (*out)->handle_types = handle_types;
    return CUDA_SUCCESS;
}

static void reach_everywhere(soft_pool_object *object)
{
    for (int i = 0; i < SOFT_DEVICE_MAX; i++)
        atomic_store(&object->access[i], CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

CUresult soft_pool_object_create_managed(soft_device *device, uint64_t bytes,
                                         const CUmemLocation *place,
                                         soft_pool_object **out)
{
    const soft_pool_policy policy = {.follow_event_dependencies = 1,
                                     .allow_opportunistic = 1,
                                     .allow_internal_dependencies = 1,
                                     .max_bytes = bytes,
                                     .is_managed = true};
    soft_pool *pool;
    SOFT_TRY(soft_pass(soft_pool_create(device->memory, &policy, &pool, soft_error())));
    SOFT_TRY(soft_pool_object_adopt(device, pool, out));
    (*out)->is_managed = true;
    (*out)->place = *place;
    reach_everywhere(*out);
    return CUDA_SUCCESS;
}

CUresult soft_pool_object_create_host(soft_device *device, uint64_t bytes,
                                      const CUmemLocation *place,
                                      CUmemAllocationHandleType handle_types,
                                      soft_pool_object **out)
{
    const soft_pool_policy policy = {.follow_event_dependencies = 1,
                                     .allow_opportunistic = 1,
                                     .allow_internal_dependencies = 1,
                                     .max_bytes = bytes,
                                     .of_host = true};
    soft_pool *pool;
    SOFT_TRY(soft_pass((handle_types != CU_MEM_HANDLE_TYPE_NONE ? soft_pool_create_shared
                                                                : soft_pool_create)(
        device->memory, &policy, &pool, soft_error())));
    SOFT_TRY(soft_pool_object_adopt(device, pool, out));
    (*out)->of_host = true;
    (*out)->place = *place;
    (*out)->handle_types = handle_types;
    for (int i = 0; i < SOFT_DEVICE_MAX; i++) /* an H200 gives devices none by itself */
        atomic_store(&(*out)->access[i], CU_MEM_ACCESS_FLAGS_PROT_NONE);
    return CUDA_SUCCESS;
}

/* Two threads that import a pool for the first time may make two of it: each is right. */
CUresult soft_pool_object_import(soft_device *device, int file, soft_pool_object **out)
{
    pthread_mutex_lock(&pools_lock);
    soft_pool_object *known = pools;
    while (known && !soft_pool_is_of(known->pool, file))
        known = known->next;
    if (known)
        known->imports++;
    pthread_mutex_unlock(&pools_lock);
    if (known) {
        *out = known;
        return CUDA_SUCCESS;
    }
    soft_pool *pool;
    SOFT_TRY(soft_pass(soft_pool_import(device->memory, file, &pool, soft_error())));
    SOFT_TRY(soft_pool_object_adopt(device, pool, out));
    (*out)->imports = 1;
    return CUDA_SUCCESS;
}

/* Whether the destroy is of the last import, or of no import. */
static bool is_last(soft_pool_object *object)
{
    pthread_mutex_lock(&pools_lock);
    const bool last = object->imports <= 1;
    if (!last)
        object->imports--;
    pthread_mutex_unlock(&pools_lock);
    return last;
}

static void no_longer_current(soft_pool_object *object)
{
    soft_device *device = object->device;
    soft_pool_object *mine = object;
    if (object->is_managed)
        atomic_compare_exchange_strong(&device->managed_current[object->place.type],
                                       &mine,
                                       device->managed_default[object->place.type]);
    else if (object->of_host)
        atomic_compare_exchange_strong(&device->host_current[object->place.type], &mine,
                                       device->host_default[object->place.type]);
    else
        atomic_compare_exchange_strong(&device->current_pool, &mine,
                                       device->default_pool);
}

CUresult soft_pool_object_destroy(soft_pool_object *object)
{
    if (soft_pool_is_import(object->pool) && soft_pool_live(object->pool) > 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "pointers that were imported from pool %p are not freed",
                         (void *)object);
    if (!is_last(object))
        return CUDA_SUCCESS;
    if (object->is_default && !soft_rule(R109))
        return CUDA_SUCCESS;
    if (object->is_default)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "pool %p is the default pool of device %d", (void *)object,
                         object->device->ordinal);
    if (!soft_handle_remove(object, SOFT_KIND_POOL))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%p is not a memory pool",
                         (void *)object);
    if (soft_rule(R109))
        no_longer_current(object);
    take_out(object);
    soft_pool_destroy(object->pool);
    soft_delete(object);
    return CUDA_SUCCESS;
}

SOFT_FINDER(soft_pool_object_find, CUmemoryPool, soft_pool_object, SOFT_KIND_POOL,
            CUDA_ERROR_INVALID_VALUE, "memory pool")

soft_pool_object *soft_device_pool(soft_device *device)
{
    return atomic_load(&device->current_pool);
}

void soft_device_set_pool(soft_device *device, soft_pool_object *object)
{
    atomic_store(&device->current_pool, object);
}
