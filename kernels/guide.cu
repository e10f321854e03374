// SPDX-License-Identifier: Apache-2.0
/* Kernels of the programs after the CUDA guide's sections on conditional nodes and on graphs
 * that kernels launch (tests/programs/guide). One thread each. */
#include "math.cuh"

extern "C" __device__ void cudaGraphSetConditional(u64 handle, u32 value);
extern "C" __device__ int cudaGraphLaunch(u64 exec, u64 stream);

/* What ran, in order: a length, then numbers. */
__device__ __forceinline__ void append(volatile int *list, int number)
{
    const int at = atomicAdd((int *)list, 1);
    list[1 + at] = number;
}

KERNEL say(int *list, int number)
{
    append(list, number);
}

KERNEL say_word(int *list, const int *word)
{
    append(list, *word);
}

/* ---- conditions ---- */

KERNEL set_value(u64 handle, u32 value)
{
    cudaGraphSetConditional(handle, value);
}

KERNEL set_word(u64 handle, const int *word)
{
    cudaGraphSetConditional(handle, (u32)*word);
}

KERNEL set_above(u64 handle, const int *word, int limit)
{
    cudaGraphSetConditional(handle, *word > limit);
}

KERNEL set_odd(u64 handle, const int *word)
{
    cudaGraphSetConditional(handle, *word % 2 != 0);
}

/* One step of Collatz's sequence, in two halves: for even numbers and for odd ones. */
KERNEL halve(int *word)
{
    *word /= 2;
}

KERNEL triple(int *word)
{
    *word = 3 * *word + 1;
}

/* ---- launches ---- */

/* Writes how many launches were refused. */
KERNEL launch(int *refused, u64 exec, u64 stream)
{
    *refused += cudaGraphLaunch(exec, stream) != 0;
}

KERNEL launch_three(int *refused, u64 first, u64 second, u64 third, u64 stream)
{
    *refused += cudaGraphLaunch(first, stream) != 0;
    *refused += cudaGraphLaunch(second, stream) != 0;
    *refused += cudaGraphLaunch(third, stream) != 0;
}

__device__ __forceinline__ u64 own_graph()
{
    u64 self;
    asm volatile("mov.u64 %0, %%current_graph_exec;" : "=l"(self));
    return self;
}

/* Again, until the word is 0. */
KERNEL again(int *refused, int *word, u64 tail)
{
    *word -= 1;
    if (*word > 0)
        *refused += cudaGraphLaunch(own_graph(), tail) != 0;
}

/* A queue of jobs, each the number of a kind; every kind has a graph. The scheduler starts the
 * graph of the job at the front, and itself once that has ended. */
typedef struct queue {
    int count, next;
    int jobs[14];
    u64 graphs[4];
} queue;

KERNEL schedule(int *refused, queue *jobs, u64 forget, u64 tail)
{
    if (jobs->next == jobs->count)
        return;
    const int kind = jobs->jobs[jobs->next];
    jobs->next += 1;
    *refused += cudaGraphLaunch(jobs->graphs[kind], forget) != 0;
    *refused += cudaGraphLaunch(own_graph(), tail) != 0;
}
