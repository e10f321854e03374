// SPDX-License-Identifier: Apache-2.0
/* The resident graph of gph_dispatch: one thread that takes requests from a queue in the
 * host's memory, launches a graph for each, and then its own graph into the tail, which
 * begins when all of them have ended. */
#include "dispatch.cuh"
#include "math.cuh"

extern "C" __device__ int cudaGraphLaunch(u64 exec, u64 stream);

static const u64 TAIL = 0x0100000000000000ull;

__device__ __forceinline__ u64 now_ns()
{
    u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

__device__ __forceinline__ void fence()
{
    asm volatile("membar.sys;" ::: "memory");
}

__device__ __forceinline__ u64 sent(const dispatch_plan plan)
{
    return ((volatile dispatch_host *)plan.host)->sent;
}

/* Says that it ends, and looks once more: either the host sees the one, or this the other.
 * Where both see it the host starts another resident graph, which waits in the stream. */
__device__ __forceinline__ bool falls_asleep(const dispatch_plan plan)
{
    ((volatile dispatch_host *)plan.host)->sleeps = ++plan.here->sleeps;
    fence();
    return sent(plan) == plan.here->taken;
}

enum { WORK, AGAIN, END };

/* For `spin` ns: a longer wait is several rounds, so that it holds no place for long. */
__device__ __forceinline__ u32 await_work(const dispatch_plan plan)
{
    dispatch_device *here = plan.here;
    const u64 from = now_ns();
    while (sent(plan) == here->taken) {
        const u64 now = now_ns();
        const bool stops = ((volatile dispatch_host *)plan.host)->stop != 0;
        if (stops || now - here->worked >= plan.idle)
            return falls_asleep(plan) ? END : WORK;
        if (now - from >= plan.spin)
            return AGAIN;
        asm volatile("nanosleep.u32 200;");
    }
    return WORK;
}

/* The first graph of that kind that this round has not launched; count: there is none. */
__device__ __forceinline__ u32 find_entry(const dispatch_plan plan, u32 kind, u64 used)
{
    u32 at = 0;
    while (at < plan.count && (plan.entries[at].kind != kind || (used >> at & 1) != 0))
        at++;
    return at;
}

__device__ __forceinline__ void serve(const dispatch_plan plan, u32 at,
                                      volatile dispatch_request *request)
{
    const dispatch_entry *entry = &plan.entries[at];
    for (u32 i = 0; i < DISPATCH_WORDS; i++)
        entry->block[i] = request->words[i];
    fence(); /* the graph reads them */
    request->code = (u32)cudaGraphLaunch(entry->exec, plan.where);
}

/* In their order: the first one whose graphs are all under way waits for the next round. */
__device__ __forceinline__ void take_requests(const dispatch_plan plan)
{
    dispatch_device *here = plan.here;
    const u64 all = sent(plan);
    u64 used = 0;
    fence(); /* what was written before `sent` is read after it */
    while (here->taken != all) {
        volatile dispatch_request *request = &plan.queue[here->taken & plan.mask];
        const u32 at = find_entry(plan, request->kind, used);
        if (at == plan.count)
            break;
        serve(plan, at, request);
        used |= 1ull << at;
        here->taken++;
    }
}

/* What was launched before this round has ended by now. */
__device__ __forceinline__ void settle(const dispatch_plan plan)
{
    dispatch_device *here = plan.here;
    if (here->done == here->taken)
        return;
    here->done = here->taken;
    here->worked = now_ns();
    fence(); /* codes before the count */
    ((volatile dispatch_host *)plan.host)->done = here->done;
}

KERNEL gph_dispatch_round(const dispatch_plan plan)
{
    volatile dispatch_host *host = plan.host;
    u64 self;
    settle(plan);
    const u32 what = await_work(plan);
    if (what == END)
        return;
    if (what == WORK) {
        take_requests(plan);
        host->rounds = ++plan.here->rounds;
    }
    asm volatile("mov.u64 %0, %%current_graph_exec;" : "=l"(self));
    const int code = cudaGraphLaunch(self, TAIL);
    if (code != 0)
        host->broken = (u64)code;
}

/* What the host launches. */
KERNEL gph_dispatch_start(const dispatch_plan plan, u64 resident)
{
    plan.here->worked = now_ns();
    const int code = cudaGraphLaunch(resident, TAIL);
    if (code != 0)
        ((volatile dispatch_host *)plan.host)->broken = (u64)code;
}
