// SPDX-License-Identifier: Apache-2.0
/* The checks that every entry point begins with, and the contexts that each thread has
 * current.
 *
 *   soft_thread (one a thread)     soft_context
 *   stack [ c0 | c1 | c1 ]  ---->  references: creator 1 + one a place on a stack
 *
 * A place may have a green context, too, which is counted in the same way. */
#include <stdio.h>
#include <unistd.h>

#include "base/vec.h"
#include "softcuda/device/alloc.h"
#include "softcuda/device/checkpoint.h"
#include "softcuda/device/device.h"
#include "softcuda/device/driver.h"
#include "softcuda/device/green.h"
#include "softcuda/device/stream.h"
#include "softcuda/device/verdict.h"
#include "softcuda/memory/memory.h"

/* What graph/ does for streams that capture; set once, before any capture. */
static const soft_capture_hooks *hooks;
atomic_uint soft_captures_open;

void soft_capture_set_hooks(const soft_capture_hooks *set)
{
    hooks = set;
}

const soft_capture_hooks *soft_capture_get_hooks(void)
{
    return hooks;
}

void soft_context_release(soft_context *context)
{
    if (atomic_fetch_sub_explicit(&context->references, 1, memory_order_acq_rel) == 1)
        soft_delete(context);
}

static void release(soft_current current)
{
    soft_context_release(current.context);
    soft_green_release(current.green);
}

static void drop_stack(soft_thread *thread)
{
    while (thread->depth > 0)
        release(thread->stack[--thread->depth]);
    soft_delete(thread->stack);
    thread->stack = NULL;
    thread->capacity = 0;
}

CUresult soft_driver_refuse(enum soft_phase now)
{
    switch (now) {
    case SOFT_PHASE_ENDING:
        return soft_fail(CUDA_ERROR_DEINITIALIZED, "the process is ending");
    case SOFT_PHASE_FORKED:
        return soft_fail(CUDA_ERROR_NOT_INITIALIZED,
                         "process %ld is a fork of one that uses the driver: only a new "
                         "program can use it again",
                         (long)getpid());
    default: return soft_fail(CUDA_ERROR_NOT_INITIALIZED, "cuInit() was not called");
    }
}

static CUresult enter(const char *call)
{
    soft_self.call = call;
    soft_verdict_entered();
    const enum soft_phase phase = soft_driver_phase();
    if (phase != SOFT_PHASE_READY)
        return soft_driver_refuse(phase);
    if (soft_self.in_callback)
        return soft_fail(CUDA_ERROR_NOT_PERMITTED,
                         "a host function of a stream may not call the driver");
    if (soft_checkpoint_state() != CU_PROCESS_STATE_RUNNING)
        soft_checkpoint_wait();
    return CUDA_SUCCESS;
}

/* Some calls are forbidden while something captures. */
static CUresult check_captures(const char *call)
{
    return soft_capture_is_open() ? hooks->entered(call) : CUDA_SUCCESS;
}

CUresult soft_enter(const char *call)
{
    SOFT_TRY(enter(call));
    return check_captures(call);
}

CUresult soft_enter_with(const char *call, const void *pointer, const char *name)
{
    SOFT_TRY(soft_enter(call));
    return soft_need(pointer, name);
}

CUresult soft_context_check(soft_context *context)
{
    if (!atomic_load_explicit(&context->alive, memory_order_acquire))
        return soft_fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context %p is destroyed",
                         (void *)context);
    const int error = atomic_load_explicit(&context->error, memory_order_acquire);
    if (error != 0)
        return soft_fail((CUresult)error,
                         "context %p is dead, destroy it or reset the device: %s",
                         (void *)context, context->cause);
    return CUDA_SUCCESS;
}

CUresult soft_enter_context(const char *call, soft_context **out)
{
    SOFT_TRY(enter(call));
    if (soft_self.depth == 0)
        return soft_fail(CUDA_ERROR_INVALID_CONTEXT,
                         "no context is current on this thread");
    const soft_current current = soft_self.stack[soft_self.depth - 1];
    SOFT_TRY(soft_context_check(current.context));
    SOFT_TRY(soft_green_check(current.green));
    SOFT_TRY(check_captures(call));
    if (out)
        *out = current.context;
    return CUDA_SUCCESS;
}

CUresult soft_enter_into(const char *call, soft_context *context)
{
    SOFT_TRY(enter(call));
    SOFT_TRY(soft_context_check(context));
    return check_captures(call);
}

CUresult soft_enter_any(const char *call)
{
    return soft_self.depth == 0 ? soft_enter(call) : soft_enter_context(call, NULL);
}

soft_context *soft_context_current(void)
{
    return soft_self.depth ? soft_self.stack[soft_self.depth - 1].context : NULL;
}

CUresult soft_context_find(CUcontext handle, soft_context **out)
{
    soft_current seen;
    SOFT_TRY(soft_context_find_seen(handle, &seen));
    *out = seen.context;
    return CUDA_SUCCESS;
}

CUresult soft_context_find_seen(CUcontext handle, soft_current *out)
{
    if (soft_handle_is(handle, SOFT_KIND_GREEN_VIEW)) {
        soft_green *green = soft_green_of_view(handle);
        SOFT_TRY(soft_green_check(green));
        *out = (soft_current){green->context, green};
        return CUDA_SUCCESS;
    }
    if (!soft_handle_is(handle, SOFT_KIND_CONTEXT))
        return soft_fail(CUDA_ERROR_INVALID_CONTEXT, "%p is not a context",
                         (void *)handle);
    soft_context *context = (soft_context *)handle;
    if (!atomic_load_explicit(&context->alive, memory_order_acquire))
        return soft_fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context %p is destroyed",
                         (void *)context);
    *out = (soft_current){context, NULL};
    return CUDA_SUCCESS;
}

void soft_context_fail(soft_context *context, CUresult error, const char *cause)
{
    static pthread_mutex_t failing = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&failing);
    if (atomic_load_explicit(&context->error, memory_order_relaxed) == 0) {
        snprintf(context->cause, sizeof(context->cause), "%s", cause);
        /* Pairs with the acquire in soft_context_check(): who sees it may read `cause`.
         */
        atomic_store_explicit(&context->error, (int)error, memory_order_release);
    }
    pthread_mutex_unlock(&failing);
}

void soft_context_fail_at(soft_context *context, CUresult error, const char *cause,
                          uint64_t address)
{
    char place[256] = "";
    const soft_device *device = address ? soft_device_holding(address) : NULL;
    if (device)
        soft_memory_describe(device->memory, address, place, sizeof(place));
    soft_log(CU_LOG_LEVEL_ERROR, "%s%s%s", cause, place[0] ? "; the address is " : "",
             place);
    soft_context_fail(context, error, cause);
}

/* ---- the stack of current contexts ------------------------------------------------- */

static soft_current retain(soft_current current)
{
    atomic_fetch_add_explicit(&current.context->references, 1, memory_order_relaxed);
    soft_green_retain(current.green);
    return current;
}

CUresult soft_context_push(soft_current current)
{
    soft_current *stack =
        gphi_array_room(*soft_allocator(), soft_self.stack, &soft_self.capacity,
                        soft_self.depth + 1, sizeof(*stack));
    SOFT_TRY(soft_made(stack, "no memory for %u current contexts", soft_self.depth + 1));
    if (stack != soft_self.stack) {
        soft_self.stack = stack;
        soft_self.drop_stack = drop_stack;
        soft_thread_keep();
    }
    soft_self.stack[soft_self.depth++] = retain(current);
    return CUDA_SUCCESS;
}

CUresult soft_context_pop(soft_current *out)
{
    if (soft_self.depth == 0)
        return soft_fail(CUDA_ERROR_INVALID_CONTEXT,
                         "no context is current on this thread");
    *out = soft_self.stack[--soft_self.depth];
    const bool alive = atomic_load_explicit(&out->context->alive, memory_order_acquire);
    CUresult status = soft_green_check(out->green);
    if (!alive)
        status = soft_fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context %p is destroyed",
                           (void *)out->context);
    release(*out);
    return status;
}

CUresult soft_context_set(soft_current current)
{
    if (current.context && soft_self.depth == 0)
        return soft_context_push(current);
    if (soft_self.depth == 0)
        return CUDA_SUCCESS;
    soft_current *top = &soft_self.stack[soft_self.depth - 1];
    if (top->context == current.context && top->green == current.green)
        return CUDA_SUCCESS;
    const soft_current before = *top;
    if (current.context)
        *top = retain(current);
    else
        soft_self.depth--;
    release(before);
    return CUDA_SUCCESS;
}
