// SPDX-License-Identifier: Apache-2.0
/* Fibers: stacks that a thread switches between, and a call that can be left from below.
 * A fiber stays with the thread that started it. */
#ifndef SOFT_KERNEL_RUN_FIBER_H
#define SOFT_KERNEL_RUN_FIBER_H

#include <gph/base.h>
#include <stdbool.h>

typedef void soft_fiber_fn(void *argument);

/* One of them per stack; also one for the thread's own stack, zeroed. */
typedef struct soft_fiber {
    void *sp;             /* where it goes on, while it does not run */
    unsigned char *stack; /* lowest usable byte; NULL: the thread's own */
    size_t bytes;
    void *sanitizer; /* tsan's record of it */
    void *shadow;    /* asan's fake stack while it does not run */
    soft_fiber_fn *run;
    void *argument;
    struct soft_fiber *next; /* the owner's: free list, queue */
} soft_fiber;

/* Maps a stack of at least `bytes`, a page that faults below it. False: no memory. */
bool soft_fiber_init(soft_fiber *fiber, size_t bytes);
void soft_fiber_fini(soft_fiber *fiber); /* does not run; zeroed is fine */
/* The thread's own stack; to be called on it before the first switch. */
void soft_fiber_init_own(soft_fiber *fiber);
/* The next switch to it calls run(argument), which must not return but switch away with
 * soft_fiber_end(). Whatever it did before is forgotten. */
void soft_fiber_start(soft_fiber *fiber, soft_fiber_fn *run, void *argument);
/* Leaves `from`, which runs, for `to`. Returns when something switches back. */
void soft_fiber_switch(soft_fiber *from, soft_fiber *to);
/* As soft_fiber_switch(), never to come back. */
_Noreturn void soft_fiber_end(soft_fiber *from, soft_fiber *to);

/* Calls run(argument) on the thread's own stack. Returns false when it returned, true
 * when soft_guard_leave() ended it, from any stack of this thread, or from a signal
 * handler. Does not nest. */
typedef struct soft_guard {
    void *sp;            /* NULL while no call is going on */
    soft_fiber *own;     /* of the thread */
    soft_fiber *current; /* what runs just now */
    void *jump;          /* tsan only: a sigjmp_buf */
} soft_guard;

bool soft_guard_call(soft_guard *guard, soft_fiber_fn *run, void *argument);
_Noreturn void soft_guard_leave(soft_guard *guard);

#endif
