/* SPDX-License-Identifier: Apache-2.0 */
/* What is decided before the first round of a loop and after each, in whatever way the
 * next one is started. One thread. */
#ifndef KERNELS_LOOP_ROUND_CUH
#define KERNELS_LOOP_ROUND_CUH
#include "loop.cuh"
#include "math.cuh"

__device__ __forceinline__ u64 now_ns()
{
    u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

/* How far it came, for a host that looks. */
__device__ __forceinline__ void report(const loop_plan plan, u64 now)
{
    volatile loop_host *host = plan.host;
    host->steps = plan.here->steps;
    host->rounds = plan.here->rounds;
    host->ns = now - plan.here->begun;
}

/* The last words of a launch; `ended` after all of them. */
__device__ __forceinline__ void finish(const loop_plan plan, u32 end, u32 value, u64 code)
{
    volatile loop_host *host = plan.host;
    report(plan, now_ns());
    host->end = end;
    host->value = value;
    host->changed = plan.here->changed;
    host->code = code;
    host->next = LOOP_NONE;
    asm volatile("membar.sys;" ::: "memory");
    host->ended = plan.here->launch;
}

/* LOOP_RUNS, or why it ends. The clock is read in each round; the host's memory, which
 * is across a bus, only after `poll` ns. */
__device__ __forceinline__ u32 decide(const loop_plan plan, u32 value)
{
    loop_device *here = plan.here;
    if (value == 0)
        return LOOP_DONE;
    if (here->steps >= here->ceiling || here->rounds >= here->ceiling)
        return LOOP_CEILING; /* rounds: of a body that does not count */
    const u64 now = now_ns();
    if (now >= here->deadline)
        return LOOP_BUDGET;
    if (now - here->looked >= plan.poll) {
        here->looked = now;
        report(plan, now);
        if (((volatile loop_host *)plan.host)->aborted >= here->launch)
            return LOOP_ABORTED;
    }
    return LOOP_RUNS;
}

/* What comes next, or LOOP_NONE, and then all is said. The ceiling is exact: where fewer
 * steps are left than a body has, single ones follow. */
__device__ __forceinline__ u32 next_body(const loop_plan plan, u32 value)
{
    const loop_device *here = plan.here;
    const u32 end = decide(plan, value);
    if (end != LOOP_RUNS) {
        finish(plan, end, value, 0);
        return LOOP_NONE;
    }
    const bool fits = here->steps + plan.many <= here->ceiling;
    return plan.many > 1 && fits ? LOOP_MANY : LOOP_ONE;
}

/* Before the first round. */
__device__ __forceinline__ u32 begin_loop(const loop_plan plan)
{
    volatile loop_host *host = plan.host;
    loop_device *here = plan.here;
    const u64 now = now_ns(), budget = host->budget;
    const u32 value = *plan.condition;
    here->launch++;
    here->steps = here->rounds = 0;
    here->ceiling = host->ceiling;
    here->deadline = budget > 0 ? now + budget : ~0ull;
    here->begun = now;
    here->looked = 0; /* so that an abort from before is seen */
    here->counted = plan.counter ? *plan.counter : 0;
    here->first = value;
    here->changed = 0;
    here->live = 1;
    host->begun = here->launch;
    return next_body(plan, value);
}

/* After one step of several. */
__device__ __forceinline__ void count_step(const loop_plan plan)
{
    loop_device *here = plan.here;
    const u32 value = *plan.condition;
    here->steps += here->live;
    here->live = value != 0;
    here->changed |= value != here->first;
}

/* After a round. */
__device__ __forceinline__ u32 end_round(const loop_plan plan)
{
    loop_device *here = plan.here;
    if (plan.counter) {
        const u32 value = *plan.condition;
        here->steps = *plan.counter - here->counted;
        here->changed |= value != here->first;
    } else {
        count_step(plan);
    }
    here->rounds++;
    return next_body(plan, *plan.condition);
}
#endif
