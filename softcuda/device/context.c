// SPDX-License-Identifier: Apache-2.0
/* Birth and death of contexts, the primary ones among them.
 *
 * A context dies with its creator's reference (alive = false, streams and modules gone);
 * its struct goes with the last reference, which a thread's stack may hold (enter.c).
 * Primary contexts are never freed. */
#include "softcuda/device/context.h"

#include <stdio.h>

#include "softcuda/device/alloc.h"
#include "softcuda/device/device.h"
#include "softcuda/device/driver.h"
#include "softcuda/device/green.h"
#include "softcuda/device/limits.h"
#include "softcuda/device/peer.h"
#include "softcuda/device/task.h"
#include "softcuda/kernel/run/launch.h"
#include "softcuda/memory/memory.h"
#include "softcuda/rules/rules.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* life and death, primaries */
static atomic_uint_fast64_t next_id = 1;

uint64_t soft_context_next_id(void)
{
    return atomic_fetch_add(&next_id, 1);
}

/* ---- birth and death --------------------------------------------------------------- */

static void set_defaults(soft_context *context, uint32_t flags)
{
    context->flags = flags;
    context->cache_config = CU_FUNC_CACHE_PREFER_NONE;
    context->shared_config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    atomic_store(&context->peers, 0);
    for (int i = 0; i < CU_LIMIT_MAX; i++)
        context->limits[i] = 0;
    context->limits[CU_LIMIT_STACK_SIZE] = 1024;
    context->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 7340032;
    context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8388608;
    context->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
    context->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
}

/* A kernel failed: on the worker that ran it. */
static void on_fault(void *user, const soft_fault *fault)
{
    soft_context *context = user;
    const bool unsaid =
        fault->code == CUDA_ERROR_ILLEGAL_ADDRESS && !soft_check_memory_wanted();
    soft_context_fail_at(context, (CUresult)fault->code, fault->text,
                         unsaid ? fault->address : 0);
}

/* SOFTCUDA_CHECK=memory. */
static void *check_access(void *user, uint64_t address, uint64_t bytes, bool write,
                          char *reason, size_t reason_bytes)
{
    const soft_context *context = user;
    soft_memory *memories[SOFT_DEVICE_MAX];
    const int count = soft_device_count();
    for (int i = 0; i < count; i++)
        memories[i] = soft_device_at(i)->memory;
    soft_check check;
    if (!soft_check_access(memories, (uint32_t)count, address, bytes, write, &check)) {
        if (soft_device_holding(address) ? !soft_rule(G_bounds)
                                         : !soft_rule(G_host_pointer))
            return soft_device_reach(address);
        snprintf(reason, reason_bytes, "%s", check.reason);
        return NULL;
    }
    if (count > 1 && !soft_peer_may_use(context, address, write)) {
        soft_peer_explain(context, address, reason, reason_bytes);
        return NULL;
    }
    return (void *)(uintptr_t)check.at;
}

/* Memory outside its life: the race check says so, but not who may use it at all. */
static void *place_of(void *user, uint64_t address, bool write)
{
    const soft_context *context = user;
    return soft_peer_may_use(context, address, write) ? soft_device_reach(address) : NULL;
}

/* Several devices, and no check of each byte. */
static void *check_peer(void *user, uint64_t address, uint64_t bytes, bool write,
                        char *reason, size_t reason_bytes)
{
    const soft_context *context = user;
    (void)bytes;
    if (soft_peer_may_use(context, address, write))
        return (void *)(uintptr_t)address;
    soft_peer_explain(context, address, reason, reason_bytes);
    return NULL;
}

static CUresult create_env(soft_context *context)
{
    const soft_kernel_env_options options = {
        .heap_bytes = context->limits[CU_LIMIT_MALLOC_HEAP_SIZE],
        .timeout_ns = soft_limit_from_environment("SOFTCUDA_KERNEL_TIMEOUT_MS"),
        .multiprocessors = soft_multiprocessors(),
        .on_fault = on_fault,
        .check = soft_check_memory_wanted() ? check_access
                 : soft_device_count() > 1  ? check_peer
                                            : NULL,
        .place = place_of,
        .nested = &soft_context_nested,
        .user = context,
        .allocator = soft_allocator()};
    return soft_pass(soft_kernel_env_create(&options, &context->kernels, soft_error()));
}

static CUresult come_alive_locked(soft_context *context, uint32_t flags)
{
    set_defaults(context, flags);
    soft_coredump_begin(&context->coredump);
    context->id = soft_context_next_id();
    atomic_store(&context->error, 0);
    SOFT_TRY(create_env(context));
    context->loop_limit_ns = soft_limit_from_environment("SOFTCUDA_GRAPH_TIMEOUT_MS");
    if (context->loop_limit_ns == 0)
        context->loop_limit_ns =
            soft_limit_from_environment("SOFTCUDA_KERNEL_TIMEOUT_MS");
    const CUresult status = soft_streams_create(context);
    if (status != CUDA_SUCCESS) {
        soft_kernel_env_destroy(context->kernels);
        context->kernels = NULL;
        return status;
    }
    atomic_store_explicit(&context->alive, true, memory_order_release);
    return CUDA_SUCCESS;
}

/* Everything that belongs to a context goes; whoever still has it current gets an error. */
static void die_locked(soft_context *context)
{
    soft_greens_end(context);
    soft_streams_destroy(context);
    atomic_store_explicit(&context->alive, false, memory_order_release);
    soft_modules_destroy(context);
    soft_kernel_env_destroy(context->kernels);
    context->kernels = NULL;
    soft_memory_free_owner(context->device->memory, context);
    soft_host_free_owner(context);
}

CUresult soft_context_create(soft_device *device, uint32_t flags, soft_context **out)
{
    soft_context *context = soft_new(sizeof(*context));
    SOFT_TRY(soft_made(context, "no memory for a context"));
    context->device = device;
    atomic_store(&context->references, 1);
    pthread_mutex_lock(&lock);
    CUresult status = come_alive_locked(context, flags);
    if (status == CUDA_SUCCESS) {
        status = soft_handle_add(context, SOFT_KIND_CONTEXT);
        if (status != CUDA_SUCCESS)
            die_locked(context);
    }
    pthread_mutex_unlock(&lock);
    if (status != CUDA_SUCCESS) {
        soft_delete(context);
        return status;
    }
    *out = context;
    return CUDA_SUCCESS;
}

CUresult soft_context_destroy(soft_context *context)
{
    if (context->is_primary)
        return soft_fail(CUDA_ERROR_INVALID_CONTEXT,
                         "context %p is a primary context: release it with "
                         "cuDevicePrimaryCtxRelease",
                         (void *)context);
    if (!soft_handle_remove(context, SOFT_KIND_CONTEXT))
        return soft_fail(CUDA_ERROR_INVALID_CONTEXT, "%p is not a context",
                         (void *)context);
    pthread_mutex_lock(&lock);
    die_locked(context);
    pthread_mutex_unlock(&lock);
    if (soft_rule(R115) && soft_context_current() == context) {
        soft_thread_self()->depth--;
        soft_context_release(context);
    }
    soft_context_release(context);
    return CUDA_SUCCESS;
}

/* ---- primary contexts -------------------------------------------------------------- */

CUresult soft_primary_prepare(soft_device *device)
{
    soft_context *context = soft_new(sizeof(*context));
    SOFT_TRY(soft_made(context, "no memory for a context"));
    context->device = device;
    context->is_primary = true;
    atomic_store(&context->references, 1);
    SOFT_TRY(soft_handle_own(context, SOFT_KIND_CONTEXT));
    device->primary = context;
    return CUDA_SUCCESS;
}

CUresult soft_primary_retain(soft_device *device, soft_context **out)
{
    soft_context *context = device->primary;
    CUresult status = CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    if (!atomic_load_explicit(&context->alive, memory_order_acquire))
        status = come_alive_locked(context, context->flags);
    if (status == CUDA_SUCCESS) {
        context->retain_count++;
        *out = context;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

CUresult soft_primary_release(soft_device *device)
{
    soft_context *context = device->primary;
    pthread_mutex_lock(&lock);
    const bool retained = context->retain_count > 0;
    if (retained && --context->retain_count == 0)
        die_locked(context);
    pthread_mutex_unlock(&lock);
    return retained ? CUDA_SUCCESS
                    : soft_fail(CUDA_ERROR_INVALID_CONTEXT,
                                "the primary context of device %d is not retained",
                                device->ordinal);
}

CUresult soft_primary_reset(soft_device *device)
{
    soft_context *context = device->primary;
    pthread_mutex_lock(&lock);
    const bool is_divided = soft_greens_alive(context);
    if (!is_divided) {
        if (atomic_load_explicit(&context->alive, memory_order_acquire))
            die_locked(context);
        context->retain_count = 0;
    }
    pthread_mutex_unlock(&lock);
    return is_divided ? soft_fail(CUDA_ERROR_NOT_PERMITTED,
                                  "device %d has green contexts that are not destroyed",
                                  device->ordinal)
                      : CUDA_SUCCESS;
}

void soft_primary_set_flags(soft_device *device, uint32_t flags)
{
    pthread_mutex_lock(&lock);
    device->primary->flags = flags;
    pthread_mutex_unlock(&lock);
}
