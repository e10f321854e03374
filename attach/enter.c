// SPDX-License-Identifier: Apache-2.0
/* The way of each call: in, and out. */
#define _GNU_SOURCE
#include "attach/enter.h"
#include "attach/crash.h"
#include "attach/cupti/cupti.h"
#include "attach/driver/find.h"
#include "attach/hook.h"
#include "attach/process.h"
#include "attach/record/inside.h"
#include "attach/record/record.h"
#include "attach/ring/state.h"
#include "attach/ring/thread.h"
#include "attach/timing/timing.h"
#include "attach/track/capture.h"
#include "attach/track/host.h"
#include "attach/track/pinned.h"
#include "attach/track/source.h"
#include "base/clock.h"

#include <errno.h>

/* What the driver lacks. */
static CUresult missing(void)
{
    return CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER;
}

/* What has been done instead of the driver. */
static CUresult done(void)
{
    return CUDA_SUCCESS;
}

/* Whether this call is looked at. The first one makes the ring; in a child of fork()
 * cuInit() does, or work that is refused. */
static bool is_seen(const attach_symbol *symbol)
{
    const uint32_t is = atomic_load_explicit(&attach_is, memory_order_acquire);
    if (is == ATTACH_ON)
        return attach_me.busy == 0 &&
               (symbol->policy != ATTACH_NEVER || symbol->hook != ATTACH_HOOK_NONE);
    if (attach_me.busy != 0 || is == ATTACH_OFF || is == ATTACH_LOGS ||
        (is == ATTACH_FORKED && symbol->hook != ATTACH_HOOK_INIT))
        return false;
    attach_me.busy++;
    const bool is_on = attach_start();
    attach_me.busy--;
    return is_on;
}

/* A call in a child of fork() that is looked at if it fails: the child uses what is its
 * parent's. Getters and what cleans up at an exit are not meant. */
static bool is_late(const attach_symbol *symbol)
{
    return symbol->policy == ATTACH_ALWAYS && (symbol->flags & ATTACH_WORK) != 0 &&
           attach_me.busy == 0 &&
           atomic_load_explicit(&attach_is, memory_order_relaxed) == ATTACH_FORKED;
}

/* The words of the present signature. */
static const uint64_t *present(attach_call *call, const attach_symbol *symbol,
                               const uint64_t *words)
{
    if (!symbol->order)
        return words;
    for (uint32_t i = 0; i < symbol->count; i++)
        call->own[i] = symbol->order[i] >= 0 ? words[symbol->order[i]] : 0;
    return call->own;
}

/* A signal handler or an exception may have left a call without its return: whose frame
 * lies below this one, or is it, is over. */
static void forget_abandoned(uintptr_t frame)
{
    if (attach_me.depth > 0 && frame >= attach_me.outermost)
        attach_me.depth = 0;
    if (attach_me.depth == 0)
        attach_me.outermost = frame;
}

/* What is gone, or may be, once the driver has been called. */
static void look_before(attach_call *call)
{
    if (atomic_load_explicit(&attach_pinned_is_on, memory_order_relaxed)) {
        attach_me.busy++;
        attach_pinned_before(call);
        attach_me.busy--;
    }
    if (call->symbol->hook != ATTACH_HOOK_NONE) {
        attach_me.busy++;
        attach_hook_before(call);
        attach_me.busy--;
    } else if (call->symbol->call == GPHI_CALL_cuGraphLaunch) {
        attach_source_launch(call);
        attach_host_launch(call);
    }
}

/* Whether it counts for the advice what this call costs. */
static bool is_timed(void)
{
    return attach_me.depth == 0 &&
           atomic_load_explicit(&gphi_timing_is_on, memory_order_relaxed);
}

attach_function *(attach_enter)(attach_call *call, uint32_t number, const uint64_t *words)
{
    const attach_symbol *symbol = &attach_symbols[number];
    call->symbol = NULL;
    const int saved = errno;
    attach_function *real = attach_real(number);
    if (!real)
        real = (attach_function *)missing;
    if (!is_seen(symbol)) {
        call->depth = attach_me.depth;
        call->raw = words;
        call->late = is_late(symbol) ? symbol : NULL;
        errno = saved;
        return real;
    }
    forget_abandoned((uintptr_t)__builtin_frame_address(0));
    call->symbol = symbol;
    call->stack = 0;
    call->is_python = false;
    call->depth = attach_me.depth;
    call->raw = words;
    call->words = present(call, symbol, words);
    call->open = attach_open_captures();
    call->flags = (symbol->per_thread ? GPHI_CALL_PER_THREAD : 0U) |
                  (symbol->is_old ? GPHI_CALL_OLD : 0U) |
                  (attach_me.depth > 0 ? GPHI_CALL_NESTED : 0U) |
                  (uint32_t)attach_me.mode << GPHI_CALL_MODE_SHIFT;
    call->capture = 0;
    call->begin_ns = call->end_ns = 0;
    call->enter_ns = is_timed() ? gphi_clock_ns() : 0; /* what the doctor adds begins */
    look_before(call);
    call->is_counted = attach_me.depth == 0 &&
                       atomic_load_explicit(&attach_cupti_is_on, memory_order_relaxed);
    if (call->is_counted) {
        attach_me.busy++;
        attach_cupti_before(symbol);
        attach_me.busy--;
    }
    const bool is_noted = attach_me.depth == 0 && symbol->policy != ATTACH_NEVER;
    if (is_noted) {
        attach_me.busy++;
        attach_inside_begin(call);
        attach_me.busy--;
    }
    attach_me.depth++;
    if (call->enter_ns != 0) {
        attach_me.busy++;
        const bool is_done = gphi_timing_before(symbol->call, call->words, call->flags);
        attach_me.busy--;
        if (is_done)
            real = (attach_function *)done;
    }
    if (symbol->policy != ATTACH_FAIL || call->enter_ns != 0)
        call->begin_ns = gphi_clock_ns();
    if (is_noted)
        attach_inside_enter(call);
    errno = saved;
    return real;
}

/* The ring begins with the call that failed. Its arguments are handles of the parent's,
 * which nobody asks about. */
static void record_late(attach_call *call, CUresult result)
{
    const int saved = errno;
    attach_me.busy++;
    if (attach_start()) {
        call->symbol = call->late;
        call->stack = 0;
        call->is_python = call->is_counted = false;
        call->words = present(call, call->symbol, call->raw);
        call->open = 0;
        call->flags = (call->symbol->per_thread ? GPHI_CALL_PER_THREAD : 0U) |
                      (call->symbol->is_old ? GPHI_CALL_OLD : 0U);
        call->capture = 0;
        call->begin_ns = call->end_ns = gphi_clock_ns();
        attach_record(call, result);
    }
    attach_me.busy--;
    errno = saved;
}

CUresult attach_leave(attach_call *call, CUresult result)
{
    if (!call->symbol) {
        if (call->late && result == CUDA_ERROR_NOT_INITIALIZED)
            record_late(call, result);
        return result;
    }
    const int saved = errno;
    if (call->depth == 0)
        attach_inside_leave();
    /* Nobody asks the time of a getter that has succeeded. */
    if (call->symbol->policy != ATTACH_FAIL || result != CUDA_SUCCESS ||
        call->enter_ns != 0)
        call->end_ns = gphi_clock_ns();
    if (call->begin_ns == 0)
        call->begin_ns = call->end_ns;
    attach_me.depth = call->depth;
    attach_me.busy++;
    if (call->is_counted)
        attach_cupti_after(call->symbol);
    result = attach_hook_after(call, result);
    attach_record(call, result);
    if (atomic_load_explicit(&attach_pinned_is_on, memory_order_relaxed) &&
        result == CUDA_SUCCESS)
        attach_pinned_after(call, attach_crash_is_ours);
    if (call->enter_ns != 0) {
        const gphi_timing_end end = {call->enter_ns, call->begin_ns, call->end_ns,
                                     (int32_t)result};
        gphi_timing_after(call->symbol->call, &end);
    }
    attach_me.busy--;
    errno = saved;
    return result;
}
