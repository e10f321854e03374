// SPDX-License-Identifier: Apache-2.0
/* Green contexts: a part of a device's multiprocessors, and streams whose kernels run there.
 *
 *   primary context (memory, modules, events: all of it)
 *      +-- streams without a green context
 *      +-- green context: multiprocessors [first, first + count)
 *              +-- its legacy stream, and those that were created in it
 *
 * A program makes one current as a CUcontext of its own, the address of `view`; all but
 * streams and multiprocessors is then the primary context's. */
#ifndef SOFT_DEVICE_GREEN_H
#define SOFT_DEVICE_GREEN_H
#include <stddef.h>

#include "softcuda/device/context.h"

struct soft_stream;

/* A CUgreenCtx points to one. It stays allocated while a stream is of it or a thread has it
 * current. */
struct soft_green {
    soft_context *context; /* the primary one, retained until the end */
    char view;             /* not the first: the two handles differ */
    uint64_t context_id;   /* of the life of it that was retained */
    uint64_t id;
    uint32_t first, count; /* multiprocessors */
    atomic_bool alive;
    atomic_uint references;      /* its creator's, one a stream, one a place on a stack */
    struct soft_stream *legacy;  /* NULL: it has ended; of the primary context's list */
    struct soft_stream *gather;  /* likewise; made when first used */
    soft_green *next, *previous; /* those alive; under the mutex of green.c */
};

static inline soft_green *soft_green_of_view(const void *view)
{
    return (soft_green *)((char *)(uintptr_t)view - offsetof(soft_green, view));
}

static inline CUcontext soft_green_view(soft_green *green)
{
    return (CUcontext)&green->view;
}

static inline soft_green *soft_green_retain(soft_green *green)
{
    if (green)
        atomic_fetch_add_explicit(&green->references, 1, memory_order_relaxed);
    return green;
}
/* Takes NULL. */
void soft_green_release(soft_green *green);

/* NULL counts as alive: no green context. */
static inline bool soft_green_is_alive(const soft_green *green)
{
    return !green || atomic_load_explicit(&((soft_green *)(uintptr_t)green)->alive,
                                          memory_order_acquire);
}

/* CONTEXT_IS_DESTROYED after its end; NULL is fine. */
CUresult soft_green_check(const soft_green *green);

/* The one of a handle: INVALID_CONTEXT for what is none. */
CUresult soft_green_find(CUgreenCtx handle, soft_green **out);

/* Beginning and end of `alive`. False: it had ended before. */
void soft_green_begin(soft_green *green);
bool soft_green_end(soft_green *green);
/* Whether one of this context is alive. */
bool soft_greens_alive(const soft_context *context);
/* The context dies, and with it all of its green contexts. */
void soft_greens_end(const soft_context *context);
#endif
