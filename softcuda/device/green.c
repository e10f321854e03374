// SPDX-License-Identifier: Apache-2.0
/* Life and death of green contexts; api/cu_green.c makes them. */
#include "softcuda/device/green.h"

#include "softcuda/device/alloc.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static soft_green *living; /* under the lock */

void soft_green_release(soft_green *green)
{
    if (green &&
        atomic_fetch_sub_explicit(&green->references, 1, memory_order_acq_rel) == 1)
        soft_delete(green);
}

CUresult soft_green_check(const soft_green *green)
{
    if (!soft_green_is_alive(green))
        return soft_fail(
            CUDA_ERROR_CONTEXT_IS_DESTROYED,
            "green context %p is destroyed, or its primary context was reset",
            (const void *)green);
    return CUDA_SUCCESS;
}

CUresult soft_green_find(CUgreenCtx handle, soft_green **out)
{
    if (!soft_handle_is(handle, SOFT_KIND_GREEN))
        return soft_fail(CUDA_ERROR_INVALID_CONTEXT, "%p is not a green context",
                         (void *)handle);
    SOFT_TRY(soft_green_check((soft_green *)handle));
    *out = (soft_green *)handle;
    return CUDA_SUCCESS;
}

void soft_green_begin(soft_green *green)
{
    pthread_mutex_lock(&lock);
    green->next = living;
    if (living)
        living->previous = green;
    living = green;
    atomic_store_explicit(&green->alive, true, memory_order_release);
    pthread_mutex_unlock(&lock);
}

static bool end_locked(soft_green *green)
{
    if (!atomic_load_explicit(&green->alive, memory_order_relaxed))
        return false;
    *(green->previous ? &green->previous->next : &living) = green->next;
    if (green->next)
        green->next->previous = green->previous;
    atomic_store_explicit(&green->alive, false, memory_order_release);
    return true;
}

bool soft_green_end(soft_green *green)
{
    pthread_mutex_lock(&lock);
    const bool was_alive = end_locked(green);
    pthread_mutex_unlock(&lock);
    return was_alive;
}

bool soft_greens_alive(const soft_context *context)
{
    pthread_mutex_lock(&lock);
    const soft_green *green = living;
    while (green && green->context != context)
        green = green->next;
    pthread_mutex_unlock(&lock);
    return green != NULL;
}

void soft_greens_end(const soft_context *context)
{
    pthread_mutex_lock(&lock);
    for (soft_green *green = living, *next; green; green = next) {
        next = green->next;
        if (green->context == context)
            (void)end_locked(green);
    }
    pthread_mutex_unlock(&lock);
}
