// SPDX-License-Identifier: Apache-2.0
/* Control kernels of gph_loop where the device starts the rounds: by the handles of two
 * WHILE nodes, or by launches into the tail. One thread each. */
#include "loop_round.cuh"

extern "C" __device__ void cudaGraphSetConditional(u64 handle, u32 value);
extern "C" __device__ int cudaGraphLaunch(u64 exec, u64 stream);

/* The node of single steps comes after that of several. */
__device__ __forceinline__ void set_handles(u64 many, u64 one, u32 next)
{
    if (many != 0)
        cudaGraphSetConditional(many, next == LOOP_MANY);
    cudaGraphSetConditional(one, next == LOOP_ONE);
}

KERNEL gph_loop_while_begin(const loop_plan plan, u64 many, u64 one)
{
    loop_device at;
    set_handles(many, one, begin_loop(plan, at));
}

KERNEL gph_loop_while_round(const loop_plan plan, u64 many, u64 one)
{
    loop_device at;
    set_handles(many, one, end_round(plan, at));
    keep(plan, at);
}

__device__ __forceinline__ void launch(const loop_plan plan, const loop_device &at, u64 exec)
{
    const u64 tail = 0x0100000000000000ull;
    const int code = cudaGraphLaunch(exec, tail);
    if (code != 0)
        finish(plan, at, LOOP_REFUSED, look(plan).value, (u64)code);
}

KERNEL gph_loop_tail_begin(const loop_plan plan, u64 many, u64 one)
{
    loop_device at;
    const u32 next = begin_loop(plan, at);
    if (next != LOOP_NONE)
        launch(plan, at, next == LOOP_MANY ? many : one);
}

/* `one`: the graph of single steps, or 0 in that graph itself. */
KERNEL gph_loop_tail_round(const loop_plan plan, u64 one)
{
    loop_device at;
    u64 self;
    const u32 next = end_round(plan, at);
    asm volatile("mov.u64 %0, %%current_graph_exec;" : "=l"(self));
    if (next != LOOP_NONE)
        launch(plan, at, next == LOOP_ONE && one != 0 ? one : self);
    keep(plan, at);
}
