// SPDX-License-Identifier: Apache-2.0
/* Control kernels of gph_loop where the host launches the rounds, which any driver loads.
 * One thread each. */
#include "loop_round.cuh"

KERNEL gph_loop_host_begin(const loop_plan plan)
{
    loop_device at;
    ((volatile loop_host *)plan.host)->next = begin_loop(plan, at);
}

KERNEL gph_loop_host_round(const loop_plan plan)
{
    loop_device at;
    ((volatile loop_host *)plan.host)->next = end_round(plan, at);
    keep(plan, at);
}

/* After each step but the last of a body of several. */
KERNEL gph_loop_step(const loop_plan plan)
{
    count_step(plan);
}

/* Stands for a node of a body while the ways are measured: a thread that is busy for about a
 * microsecond, with a chain of which each value needs the one before. An empty kernel would
 * not do: it ends before the driver could have prepared the next, which is what a plain
 * launch gains over a body of the device. */
KERNEL gph_loop_work(u32 count, u32 *never)
{
    u32 x = count;
    for (u32 i = 0; i < count; i++)
        x = (x ^ x >> 7) * 1664525u + i;
    if (never)
        *never = x;
}
