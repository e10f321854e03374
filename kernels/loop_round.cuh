/* SPDX-License-Identifier: Apache-2.0 */
/* What is decided before the first round of a loop and after each, in whatever way the
 * next one is started. One thread. */
#ifndef KERNELS_LOOP_ROUND_CUH
#define KERNELS_LOOP_ROUND_CUH
#include "loop.cuh"
#include "math.cuh"

/* ---- the condition ---- */

/* gphi_compare_type, and its bits, of src/device/setters.h. */
enum { U32, I32, U64, I64, F32, F64 };
enum { IS_LESS = 1, IS_EQUAL = 2, IS_GREATER = 4, IS_UNORDERED = 8 };

__device__ __forceinline__ u64 read_side(const void *at, u32 type)
{
    const bool is_wide = type == U64 || type == I64 || type == F64;
    return is_wide ? *(const u64 *)at : *(const u32 *)at;
}

template <class T> __device__ __forceinline__ u32 relation(T a, T b)
{
    return a < b ? IS_LESS : a > b ? IS_GREATER : a == b ? IS_EQUAL : IS_UNORDERED;
}

__device__ __forceinline__ double number(u64 bits, u32 type)
{
    return type == F32 ? (double)__builtin_bit_cast(float, (u32)bits) : __builtin_bit_cast(double, bits);
}

__device__ __forceinline__ u32 compare(u64 a, u64 b, u32 type)
{
    switch (type) {
    case U32: return relation((u32)a, (u32)b);
    case I32: return relation((int)a, (int)b);
    case U64: return relation(a, b);
    case I64: return relation((long long)a, (long long)b);
    default: return relation(number(a, type), number(b, type));
    }
}

/* What the condition says, and a mark of what it read, by which a change is seen. */
typedef struct said {
    u32 value, mark;
} said;

__device__ __forceinline__ said look(const loop_plan plan)
{
    if (plan.condition) {
        const u32 word = *plan.condition;
        return {word, word};
    }
    const u64 left = read_side(plan.left, plan.type);
    const u64 right = plan.right ? read_side(plan.right, plan.type) : plan.constant;
    const u64 both = left * 31 + right;
    const bool holds = (compare(left, right, plan.type) & plan.accepts) != 0;
    return {holds, (u32)(both ^ both >> 32)};
}

/* ---- reports ---- */

/* `at`: the device's words, read at once when the kernel begins: from memory each would be a
 * trip of its own, and they are between two rounds. */

/* How far it came, for a host that looks. */
__device__ __forceinline__ void report(const loop_plan plan, const loop_device &at, u64 now)
{
    volatile loop_host *host = plan.host;
    host->steps = at.steps;
    host->rounds = at.rounds;
    host->ns = now - at.begun;
}

/* The last words of a launch; `ended` after all of them. */
__device__ __forceinline__ void finish(const loop_plan plan, const loop_device &at, u32 end,
                                       u32 value, u64 code)
{
    volatile loop_host *host = plan.host;
    report(plan, at, now_ns());
    host->end = end;
    host->value = value;
    host->changed = at.changed;
    host->code = code;
    host->next = LOOP_NONE;
    fence();
    host->ended = at.launch;
}

/* LOOP_RUNS, or why it ends. The clock is read in each round; the host's memory, which
 * is across a bus, only after `poll` ns. */
__device__ __forceinline__ u32 decide(const loop_plan plan, loop_device &at, u32 value)
{
    if (value == 0)
        return LOOP_DONE;
    if (at.steps >= at.ceiling || at.rounds >= at.ceiling)
        return LOOP_CEILING; /* rounds: of a body that does not count */
    const u64 now = now_ns();
    if (now >= at.deadline)
        return LOOP_BUDGET;
    if (now - at.looked >= plan.poll) {
        at.looked = now;
        plan.here->looked = now;
        report(plan, at, now);
        if (((volatile loop_host *)plan.host)->aborted >= at.launch)
            return LOOP_ABORTED;
    }
    return LOOP_RUNS;
}

/* What comes next, or LOOP_NONE, and then all is said. The ceiling is exact: where fewer
 * steps are left than a body has, single ones follow. */
__device__ __forceinline__ u32 next_body(const loop_plan plan, loop_device &at, u32 value)
{
    const u32 end = decide(plan, at, value);
    if (end != LOOP_RUNS) {
        finish(plan, at, end, value, 0);
        return LOOP_NONE;
    }
    const bool fits = at.steps + plan.many <= at.ceiling;
    return plan.many > 1 && fits ? LOOP_MANY : LOOP_ONE;
}

/* Before the first round. */
__device__ __forceinline__ u32 begin_loop(const loop_plan plan, loop_device &at)
{
    volatile loop_host *host = plan.host;
    const u64 now = now_ns(), budget = host->budget;
    const said now_said = look(plan);
    at.launch = plan.here->launch + 1;
    at.steps = at.rounds = 0;
    at.ceiling = host->ceiling;
    at.deadline = budget > 0 ? now + budget : ~0ull;
    at.begun = now;
    at.looked = 0; /* so that an abort from before is seen */
    at.counted = plan.counter ? *plan.counter : 0;
    at.first = now_said.mark;
    at.changed = 0;
    at.live = 1;
    *plan.here = at;
    host->begun = at.launch;
    return next_body(plan, at, now_said.value);
}

/* After a step, of which the condition was looked at. */
__device__ __forceinline__ void count(loop_device &at, const said now)
{
    at.steps += at.live;
    at.live = now.value != 0;
    at.changed |= now.mark != at.first;
}

/* What a step or a round changes. */
__device__ __forceinline__ void keep(const loop_plan plan, const loop_device &at)
{
    loop_device *here = plan.here;
    here->steps = at.steps;
    here->rounds = at.rounds;
    here->live = at.live;
    here->changed = at.changed;
}

/* After one step of several. */
__device__ __forceinline__ void count_step(const loop_plan plan)
{
    loop_device at = *plan.here;
    count(at, look(plan));
    keep(plan, at);
}

/* After a round. What it changes is kept once the next one is started: to start one waits for
 * what was written, and between two rounds that would be seen. */
__device__ __forceinline__ u32 end_round(const loop_plan plan, loop_device &at)
{
    at = *plan.here;
    const u32 counted = plan.counter ? *plan.counter : 0;
    const said now = look(plan);
    if (plan.counter) {
        at.steps = counted - at.counted;
        at.changed |= now.mark != at.first;
    } else {
        count(at, now);
    }
    at.rounds++;
    return next_body(plan, at, now.value);
}
#endif
