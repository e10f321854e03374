// SPDX-License-Identifier: Apache-2.0
/* Run-time calls of generated code that need no other lane; and the table of all. A fault
 * does not return: it leaves the launch by soft_block_raise(). */
#include "softcuda/kernel/run/rtcalls.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "softcuda/check/trace.h"
#include "softcuda/kernel/run/env.h"
#include "softcuda/kernel/run/lanes.h"
#include "softcuda/kernel/run/nested.h"
#include "softcuda/kernel/run/place.h"
#include "softcuda/kernel/run/runner.h"

#define SLEEP_NS_MAX 1000000u /* PTX: nanosleep is at most 1 ms */

static soft_kernel_env *env_of(const soft_block *block)
{
    return block->runner->launch->env;
}

void ptx_rt_safepoint(ptx_block *view)
{
    soft_block_safepoint(soft_block_from(view));
}

void ptx_rt_thread_safepoint(ptx_thread *thread)
{
    soft_lane *lane = soft_lane_from(thread);
    lane->gave_way = true;
    soft_lane_wait(lane);
}

void ptx_rt_cluster_wait(ptx_block *view)
{
    soft_cluster_wait(soft_block_from(view));
}

void ptx_rt_trap(ptx_block *view, uint32_t thread)
{
    soft_block_raise(soft_block_from(view), thread, SOFT_ERROR_LAUNCH_FAILED,
                     "a trap instruction");
}

static bool inside(uint64_t address, uint64_t bytes, const void *start, uint64_t room)
{
    const uint64_t base = (uint64_t)(uintptr_t)start;
    return address >= base && bytes <= room && address - base <= room - bytes;
}

/* Memory that belongs to the block itself, or to its launch. */
static bool is_own(const soft_block *block, uint64_t address, uint64_t bytes)
{
    const ptx_grid *grid = block->view.grid;
    const soft_kernel_launch *launch = block->runner->launch;
    return inside(address, bytes, block->view.shared, launch->shared_room) ||
           (block->cluster && soft_cluster_holds(block->cluster, address, bytes)) ||
           inside(address, bytes, block->view.local, launch->local_bytes) ||
           inside(address, bytes, grid->params, launch->code->kernel->param_bytes) ||
           (launch->sync && inside(address, bytes, launch->sync->workspace,
                                   sizeof(launch->sync->workspace))) ||
           soft_device_heap_holds(&env_of(block)->heap, address, bytes) ||
           (launch->code->kernel->launches_kernels &&
            soft_nested_holds(block->runner->launch, address, bytes));
}

/* Where the bytes are, or NULL with a reason. */
static void *reach(const soft_block *block, const soft_touch *touch, char *reason,
                   size_t reason_bytes)
{
    const soft_kernel_env_options *options = &env_of(block)->options;
    if (!options->check || is_own(block, touch->address, touch->bytes))
        return (void *)(uintptr_t)touch->address;
    void *at = options->check(options->user, touch->address, touch->bytes, touch->write,
                              reason, reason_bytes);
    soft_trace *trace = block->runner->launch->trace;
    if (!trace)
        return at;
    if (!at && options->place && soft_trace_excuses(trace, touch->address, touch->bytes))
        at = options->place(options->user, touch->address, touch->write);
    if (at)
        soft_trace_touch(trace, &block->runner->seen, touch);
    return at;
}

const void *soft_rtcall_reach(const ptx_block *view, uint64_t address)
{
    char reason[8];
    const soft_block *block = (const soft_block *)(const void *)view;
    const soft_touch touch = {.address = address, .bytes = 1, .block = view->block_index};
    const void *at = reach(block, &touch, reason, sizeof(reason));
    /* What cannot be read faults where it is. */
    return at ? at : (const void *)(uintptr_t)address;
}

/* Copies a text of the kernel's. The copy may fault, which ends the launch. */
static void copy_text(const ptx_block *view, char *to, size_t room, uint64_t address)
{
    const char *from = address != 0 ? soft_rtcall_reach(view, address) : NULL;
    const size_t length = from ? soft_text_length(from, room - 1) : 0;
    if (length != 0)
        soft_text_copy(to, from, length);
    to[length] = '\0';
}

void ptx_rt_assertfail(ptx_block *view, uint32_t thread, uint64_t message, uint64_t file,
                       uint32_t line, uint64_t function, uint64_t char_bytes)
{
    (void)char_bytes;
    soft_block *block = soft_block_from(view);
    char what[96], where[96], who[96], text[288];
    copy_text(view, what, sizeof(what), message);
    copy_text(view, where, sizeof(where), file);
    copy_text(view, who, sizeof(who), function);
    const uint32_t *n = view->grid->ntid, *c = view->ctaid;
    /* As CUDA prints it. */
    fprintf(stderr,
            "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
            where, line, who, c[0], c[1], c[2], thread % n[0], thread / n[0] % n[1],
            thread / n[0] / n[1], what);
    snprintf(text, sizeof(text), "%.80s:%u: %.80s: Assertion `%.80s` failed", where, line,
             who, what);
    soft_block_raise(block, thread, SOFT_ERROR_ASSERT, text);
}

/* Handles number the values of the executable graph that runs (R80). */
void ptx_rt_set_conditional(ptx_block *view, uint32_t thread, uint64_t handle,
                            uint32_t value)
{
    soft_block *block = soft_block_from(view);
    soft_conditions *conditions = block->runner->launch->conditions;
    if (conditions && handle - 1 < conditions->count) {
        /* Relaxed: who reads it comes after this kernel. */
        atomic_store_explicit(&conditions->values[handle - 1], value,
                              memory_order_relaxed);
        atomic_store_explicit(&conditions->values[conditions->count + handle - 1], 1,
                              memory_order_relaxed);
        if (block->runner->launch->trace)
            soft_trace_touch(block->runner->launch->trace, &block->runner->seen,
                             &(soft_touch){.address = soft_trace_handle(handle),
                                           .block = view->block_index,
                                           .bytes = 4,
                                           .thread = thread,
                                           .write = true});
        return;
    }
    block->runner->raised.has_thread = true;
    block->runner->raised.thread = thread;
    soft_runner_raise(block->runner, SOFT_ERROR_ILLEGAL_ADDRESS, handle,
                      conditions ? "cudaGraphSetConditional() with a handle that the "
                                   "graph does not have"
                                 : "cudaGraphSetConditional() in a kernel that runs in "
                                   "no graph with conditional nodes");
}

uint64_t ptx_rt_malloc(ptx_block *view, uint64_t bytes)
{
    return soft_device_heap_alloc(&env_of(soft_block_from(view))->heap, bytes);
}

void ptx_rt_free(ptx_block *view, uint64_t address)
{
    soft_block *block = soft_block_from(view);
    if (soft_device_heap_free(&env_of(block)->heap, address))
        return;
    soft_runner_raise(block->runner, SOFT_ERROR_ILLEGAL_ADDRESS, address,
                      "free() of what malloc() in a kernel did not give, or gave once");
}

void ptx_rt_unsupported(ptx_block *view, uint32_t thread, uint32_t line)
{
    char text[128];
    snprintf(text, sizeof(text),
             "the instruction on line %u of the PTX cannot run in this build", line);
    soft_block_raise(soft_block_from(view), thread, SOFT_ERROR_NOT_SUPPORTED, text);
}

void ptx_rt_bad_target(ptx_block *view, uint32_t thread, uint64_t address)
{
    soft_block *block = soft_block_from(view);
    block->runner->raised.has_thread = true;
    block->runner->raised.thread = thread;
    soft_runner_raise(block->runner, SOFT_ERROR_INVALID_PC, address,
                      "a call or branch to what is not a target");
}

void *ptx_rt_check(ptx_block *view, uint32_t thread, uint64_t address, uint32_t bytes,
                   uint32_t line)
{
    soft_block *block = soft_block_from(view);
    const soft_touch touch = {.address = address,
                              .block = view->block_index,
                              .bytes = bytes & ~PTX_CHECK_FLAGS,
                              .thread = thread,
                              .line = line,
                              .write = (bytes & PTX_CHECK_WRITE) != 0,
                              .strong = (bytes & PTX_CHECK_STRONG) != 0};
    char text[256], reason[200] = "";
    gph_status code = SOFT_ERROR_MISALIGNED_ADDRESS;
    const bool aligned = (bytes & PTX_CHECK_UNALIGNED) == 0;
    bytes = touch.bytes;
    if (bytes == 0) /* cp.async that reads nothing */
        return (void *)(uintptr_t)address;
    if (aligned && (bytes & (bytes - 1)) == 0 && (address & (bytes - 1)) != 0) {
        snprintf(reason, sizeof(reason), "no multiple of %u", bytes);
    } else {
        void *at = reach(block, &touch, reason, sizeof(reason));
        if (at)
            return at;
        code = SOFT_ERROR_ILLEGAL_ADDRESS;
    }
    snprintf(text, sizeof(text), "line %u of the PTX %s %u bytes: %s", line,
             touch.write ? "writes" : "reads", bytes, reason);
    block->runner->raised.has_thread = true;
    block->runner->raised.thread = thread;
    soft_runner_raise(block->runner, code, address, text);
}

uint64_t ptx_rt_clock(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return gphi_clock_ns();
#endif
}

uint64_t ptx_rt_globaltimer(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void ptx_rt_nanosleep(ptx_block *view, uint32_t ns)
{
    soft_block *block = soft_block_from(view);
    if (block->thread) { /* slow path: the other threads go on meanwhile */
        ptx_rt_thread_safepoint(block->thread);
        return;
    }
    soft_block_safepoint(block);
    if (block->runner->live > 1)
        return; /* other blocks have run meanwhile */
    const struct timespec pause = {0, ns < SLEEP_NS_MAX ? (long)ns : (long)SLEEP_NS_MAX};
    nanosleep(&pause, NULL);
}

/* ---- the table -------------------------------------------------------------------- */

/* Memory and math functions that LLVM may call for what has no instruction. */
/* clang-format off */
#define MATH_CALLS(X)                                                                    \
    X(fma) X(fmaf) X(fmod) X(fmodf) X(exp) X(expf) X(exp2) X(exp2f) X(log) X(logf)       \
    X(log2) X(log2f) X(log10) X(log10f) X(sin) X(sinf) X(cos) X(cosf) X(tan) X(tanf)     \
    X(tanh) X(tanhf) X(pow) X(powf) X(sqrt) X(sqrtf) X(floor) X(floorf) X(ceil) X(ceilf) \
    X(trunc) X(truncf) X(rint) X(rintf) X(nearbyint) X(nearbyintf) X(round) X(roundf)    \
    X(roundeven) X(roundevenf) X(fmin) X(fminf) X(fmax) X(fmaxf) X(ldexp) X(ldexpf)      \
    X(copysign) X(copysignf) X(fabs) X(fabsf) X(asin) X(asinf) X(acos) X(acosf) X(atan)  \
    X(atanf) X(atan2) X(atan2f) X(sinh) X(sinhf) X(cosh) X(coshf) X(exp10) X(exp10f)     \
    X(cbrt) X(cbrtf) X(expm1) X(expm1f) X(log1p) X(log1pf) X(hypot) X(hypotf)
/* clang-format on */

/* Of the compiler's run-time library: half precision and 128-bit division. */
#if defined(__x86_64__)
#define COMPILER_CALLS(X)                                                                \
    X(__udivti3)                                                                         \
    X(__umodti3) X(__divti3) X(__modti3) X(__extendhfsf2) X(__truncsfhf2) X(__truncdfhf2)
#else
#define COMPILER_CALLS(X) X(__udivti3) X(__umodti3) X(__divti3) X(__modti3)
#endif
#define X(name) extern void name##_declared(void) __asm__(#name);
COMPILER_CALLS(X)
#undef X

typedef void any_fn(void);

/* clang-format off */
static const struct call {
    const char *name;
    any_fn *address;
} calls[] = {
#define X(name, result, arguments) {#name, (any_fn *)name},
    PTX_RUNTIME_CALLS(X)
#undef X
#define X(name) {#name, (any_fn *)name},
    MATH_CALLS(X)
#undef X
#define X(name) {#name, name##_declared},
    COMPILER_CALLS(X)
#undef X
    {"memcpy", (any_fn *)soft_text_copy},
    {"memmove", (any_fn *)soft_text_move},
    {"memset", (any_fn *)soft_text_fill},
    {"memcmp", (any_fn *)soft_text_compare},
    {"bcmp", (any_fn *)soft_text_compare},
};
/* clang-format on */

uint64_t soft_rtcall_find(const char *name)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (strcmp(calls[i].name, name) == 0)
            return (uint64_t)(uintptr_t)calls[i].address;
    return 0;
}
