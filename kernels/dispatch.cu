// SPDX-License-Identifier: Apache-2.0
/* The resident graph of gph_dispatch: one thread that takes requests from a queue in the
 * host's memory, launches a graph for each, and then its own graph into the tail, which
 * begins when all of them have ended. */
#include "dispatch.cuh"
#include "math.cuh"

extern "C" __device__ int cudaGraphLaunch(u64 exec, u64 stream);

static const u64 TAIL = 0x0100000000000000ull;

__device__ __forceinline__ u64 sent(const dispatch_plan plan)
{
    return ((volatile dispatch_host *)plan.host)->sent;
}

/* Both words of the host by one trip over the bus. */
__device__ __forceinline__ void read_host(const dispatch_plan plan, u64 *sent, u64 *stop)
{
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(*sent), "=l"(*stop)
                 : "l"(plan.host)
                 : "memory");
}

/* Says that it ends, and looks once more: either the host sees the one, or this the other.
 * Where both see it the host starts another resident graph, which waits in the stream. */
__device__ __forceinline__ bool falls_asleep(const dispatch_plan plan, u64 *all)
{
    ((volatile dispatch_host *)plan.host)->sleeps = ++plan.here->sleeps;
    fence();
    *all = sent(plan);
    return *all == plan.here->taken;
}

enum { WORK, AGAIN, END };

/* `all`: how many requests were sent, where there is work. For `spin` ns: a longer wait is several rounds, so that it holds no place for long. */
__device__ __forceinline__ u32 await_work(const dispatch_plan plan, u64 *all)
{
    dispatch_device *here = plan.here;
    const u64 from = now_ns(), taken = here->taken;
    u64 stops;
    while (read_host(plan, all, &stops), *all == taken) {
        const u64 now = now_ns();
        if (stops != 0 || now - here->worked >= plan.idle)
            return falls_asleep(plan, all) ? END : WORK;
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

/* A request, read by one trip over the bus: all of its words are asked for before the first
 * one is there. */
typedef struct copied {
    u64 kind_code; /* the kind in its low half */
    u64 words[DISPATCH_WORDS + 1];
} copied;

__device__ __forceinline__ copied read_request(const dispatch_request *request)
{
    copied r;
    asm volatile("{\n"
                 "ld.volatile.global.v2.u64 {%0, %1}, [%8];\n"
                 "ld.volatile.global.v2.u64 {%2, %3}, [%8+16];\n"
                 "ld.volatile.global.v2.u64 {%4, %5}, [%8+32];\n"
                 "ld.volatile.global.v2.u64 {%6, %7}, [%8+48];\n"
                 "}"
                 : "=l"(r.kind_code), "=l"(r.words[0]), "=l"(r.words[1]), "=l"(r.words[2]),
                   "=l"(r.words[3]), "=l"(r.words[4]), "=l"(r.words[5]), "=l"(r.words[6])
                 : "l"(request)
                 : "memory");
    return r;
}

__device__ __forceinline__ void serve(const dispatch_plan plan, u32 at, const copied &r,
                                      volatile dispatch_request *request)
{
    const dispatch_entry *entry = &plan.entries[at];
#pragma unroll
    for (u32 i = 0; i < DISPATCH_WORDS; i++)
        entry->block[i] = r.words[i];
    asm volatile("membar.gl;" ::: "memory"); /* the graph reads them */
    const u32 code = (u32)cudaGraphLaunch(entry->exec, plan.where);
    if (code != 0) /* the host wrote 0 */
        request->code = code;
}

/* In their order: the first one whose graphs are all under way waits for the next round.
 * `all`: how many were sent by now. */
__device__ __forceinline__ void take_requests(const dispatch_plan plan, u64 all)
{
    u64 taken = plan.here->taken, used = 0;
    fence(); /* what was written before `sent` is read after it */
    while (taken != all) {
        dispatch_request *request = &plan.queue[taken & plan.mask];
        const copied r = read_request(request);
        const u32 at = find_entry(plan, (u32)r.kind_code, used);
        if (at == plan.count)
            break;
        serve(plan, at, r, request);
        used |= 1ull << at;
        taken++;
    }
    plan.here->taken = taken;
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
    u64 all = 0;
    const u32 what = await_work(plan, &all);
    if (what == END)
        return;
    if (what == WORK) {
        take_requests(plan, all);
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
