// SPDX-License-Identifier: Apache-2.0
/* PyTorch launches the forward pass on one thread, the backward pass on autograd's and the
 * optimizer on the first again: one sequence, since none calls while another does. */
#include "attach/timing/owner.h"

enum {
    THREADS = 8, /* with a rhythm of their own */
    TURNS = 64   /* of threads that have nothing together that repeats */
};

static struct {
    gphi_rhythm rhythm;
    _Atomic uintptr_t inside; /* the thread that is in a call; 0: none */
    uintptr_t last;           /* the thread that was in one before */
    uint32_t turns;           /* since something repeated */
} shared;

static gphi_rhythm apart[THREADS];
static _Atomic uint32_t apart_count;
static _Thread_local gphi_rhythm *own = &shared.rhythm;

static uintptr_t this_thread(void)
{
    return (uintptr_t)&own;
}

/* A thread that takes over goes on with what the others have begun, if it works in the
 * context that is measured, and all of them together repeat something. */
static bool may_take_over(const gphi_timing_calls *cu, CUcontext measured)
{
    CUcontext context = NULL;
    if (shared.last == this_thread())
        return true;
    if (cu->ctx_current(&context) != CUDA_SUCCESS || context != measured)
        return false;
    shared.last = this_thread();
    shared.turns = gphi_rhythm_is_steady(&shared.rhythm) ? 0 : shared.turns + 1;
    return shared.turns < TURNS;
}

static bool enter_shared(const gphi_timing_calls *cu, CUcontext measured)
{
    uintptr_t inside = 0;
    if (!atomic_compare_exchange_strong(&shared.inside, &inside, this_thread()) &&
        inside != this_thread()) /* else its last call did not return */
        return false;
    if (may_take_over(cu, measured))
        return true;
    atomic_store(&shared.inside, 0);
    return false;
}

gphi_rhythm *gphi_owner_enter(const gphi_timing_calls *cu, CUcontext context)
{
    if (own != &shared.rhythm || enter_shared(cu, context))
        return own;
    const uint32_t index = atomic_fetch_add(&apart_count, 1);
    own = index < THREADS ? &apart[index] : NULL;
    return own;
}

gphi_rhythm *gphi_owner_rhythm(void)
{
    return own;
}

void gphi_owner_leave(void)
{
    uintptr_t inside = this_thread();
    (void)atomic_compare_exchange_strong(&shared.inside, &inside, 0);
}
