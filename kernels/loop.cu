// SPDX-License-Identifier: Apache-2.0
/* Control kernels of gph_loop where the host launches the rounds, which any driver loads.
 * One thread each. */
#include "loop_round.cuh"

KERNEL gph_loop_host_begin(const loop_plan plan)
{
    ((volatile loop_host *)plan.host)->next = begin_loop(plan);
}

KERNEL gph_loop_host_round(const loop_plan plan)
{
    ((volatile loop_host *)plan.host)->next = end_round(plan);
}

/* After each step but the last of a body of several. */
KERNEL gph_loop_step(const loop_plan plan)
{
    count_step(plan);
}

/* Stands for a node of a body while the ways are measured. */
KERNEL gph_loop_nothing()
{
}
