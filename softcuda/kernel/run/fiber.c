// SPDX-License-Identifier: Apache-2.0
/* Stacks, and what the sanitizers want to know about a switch between them. The switch
 * itself is fiber.S. */
#include "softcuda/kernel/run/fiber.h"

#include <setjmp.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define WITH_TSAN 1
#endif

#ifdef WITH_ASAN
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef WITH_TSAN
#include <sanitizer/tsan_interface.h>
#endif

/* fiber.S */
void soft_stack_switch(void **save, void *to);
void soft_stack_entry(void); /* calls the function in one saved register with another */
int soft_stack_guard(soft_fiber_fn *run, void *argument, void **save);
_Noreturn void soft_stack_leave(void *sp);

#if defined(__x86_64__)
enum { FRAME_WORDS = 7, FRAME_RUN = 3, FRAME_ARGUMENT = 2, FRAME_RETURN = 6 };
#else
enum { FRAME_WORDS = 20, FRAME_RUN = 0, FRAME_ARGUMENT = 1, FRAME_RETURN = 11 };
#endif

/* Inline: tsan counts calls, and a switch in between would mix up two counts. */
static inline __attribute__((always_inline)) void announce_arrival(soft_fiber *fiber)
{
#ifdef WITH_ASAN
    __sanitizer_finish_switch_fiber(fiber->shadow, NULL, NULL);
#else
    (void)fiber;
#endif
}

/* `from` is NULL if it ends. */
static inline __attribute__((always_inline)) void announce_departure(soft_fiber *from,
                                                                     soft_fiber *to)
{
#ifdef WITH_ASAN
    __sanitizer_start_switch_fiber(from ? &from->shadow : NULL, to->stack, to->bytes);
#endif
#ifdef WITH_TSAN
    __tsan_switch_to_fiber(to->sanitizer, 0);
#endif
    (void)from;
    (void)to;
}

bool soft_fiber_init(soft_fiber *fiber, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    bytes = (bytes + page - 1) & ~(page - 1);
    unsigned char *base = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return false;
    if (mprotect(base, page, PROT_NONE) != 0) {
        munmap(base, bytes + page);
        return false;
    }
    *fiber = (soft_fiber){.stack = base + page, .bytes = bytes};
    return true;
}

void soft_fiber_fini(soft_fiber *fiber)
{
    if (!fiber->stack)
        return;
#ifdef WITH_TSAN
    if (fiber->sanitizer)
        __tsan_destroy_fiber(fiber->sanitizer);
#endif
#ifdef WITH_ASAN
    __asan_unpoison_memory_region(fiber->stack, fiber->bytes);
#endif
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap(fiber->stack - page, fiber->bytes + page);
    *fiber = (soft_fiber){0};
}

void soft_fiber_init_own(soft_fiber *fiber)
{
    *fiber = (soft_fiber){0};
#ifdef WITH_ASAN
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        void *base = NULL;
        pthread_attr_getstack(&attributes, &base, &fiber->bytes);
        pthread_attr_destroy(&attributes);
        fiber->stack = base;
    }
#endif
#ifdef WITH_TSAN
    fiber->sanitizer = __tsan_get_current_fiber();
#endif
}

static void begin(void *argument)
{
    soft_fiber *fiber = argument;
    announce_arrival(fiber);
    fiber->run(fiber->argument);
    __builtin_trap(); /* run() must not return */
}

void soft_fiber_start(soft_fiber *fiber, soft_fiber_fn *run, void *argument)
{
    fiber->run = run;
    fiber->argument = argument;
    fiber->shadow = NULL;
#ifdef WITH_TSAN
    if (fiber->sanitizer)
        __tsan_destroy_fiber(fiber->sanitizer); /* its shadow stack may be half unwound */
    fiber->sanitizer = __tsan_create_fiber(0);
#endif
#ifdef WITH_ASAN
    __asan_unpoison_memory_region(fiber->stack, fiber->bytes);
#endif
    /* The frame that soft_stack_switch() pops: saved registers, then where to return. */
    uintptr_t top = (uintptr_t)(fiber->stack + fiber->bytes) & ~(uintptr_t)15;
    uintptr_t *frame = (uintptr_t *)top - FRAME_WORDS;
    for (int i = 0; i < FRAME_WORDS; i++)
        frame[i] = 0;
    frame[FRAME_RUN] = (uintptr_t)begin;
    frame[FRAME_ARGUMENT] = (uintptr_t)fiber;
    frame[FRAME_RETURN] = (uintptr_t)soft_stack_entry;
    fiber->sp = frame;
}

void soft_fiber_switch(soft_fiber *from, soft_fiber *to)
{
    announce_departure(from, to);
    soft_stack_switch(&from->sp, to->sp);
    announce_arrival(from);
}

void soft_fiber_end(soft_fiber *from, soft_fiber *to)
{
    announce_departure(NULL, to);
    soft_stack_switch(&from->sp, to->sp);
    __builtin_unreachable();
}

#ifdef WITH_TSAN
/* tsan keeps a shadow of the call stack that only its own longjmp unwinds. */
bool soft_guard_call(soft_guard *guard, soft_fiber_fn *run, void *argument)
{
    sigjmp_buf jump;
    guard->jump = &jump;
    guard->sp = &jump;
    const bool left = sigsetjmp(jump, 0) != 0;
    if (!left)
        run(argument);
    guard->sp = NULL;
    return left;
}

void soft_guard_leave(soft_guard *guard)
{
    if (guard->current != guard->own)
        announce_departure(NULL, guard->own);
    guard->current = guard->own;
    siglongjmp(*(sigjmp_buf *)guard->jump, 1);
}
#else
bool soft_guard_call(soft_guard *guard, soft_fiber_fn *run, void *argument)
{
    const bool left = soft_stack_guard(run, argument, &guard->sp) != 0;
#ifdef WITH_ASAN
    if (left) {
        if (guard->current != guard->own)
            announce_arrival(guard->own);
        /* Frames that were left keep their redzones poisoned. */
        unsigned char *here = __builtin_frame_address(0);
        unsigned char *low = guard->own->stack;
        if (low && here > low) {
            const size_t below = (size_t)(here - low);
            const size_t bytes = below < (1u << 20) ? below : 1u << 20;
            __asan_unpoison_memory_region(here - bytes, bytes - 512);
        }
    }
#endif
    guard->current = guard->own;
    guard->sp = NULL;
    return left;
}

void soft_guard_leave(soft_guard *guard)
{
    if (guard->current != guard->own)
        announce_departure(NULL, guard->own);
    soft_stack_leave(guard->sp);
}
#endif
