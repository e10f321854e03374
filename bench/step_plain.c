// SPDX-License-Identifier: Apache-2.0
/* The plain C loop: see step_plain.h. Threads sleep between two runs, so that they do not
 * take the CPUs from the others that are measured. */
#include "step_plain.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "softcuda/kernel/run/launch.h"
#include "softcuda/kernel/run/runner.h"

enum { KERNELS_MAX = 64, PARAM_BYTES_MAX = 256, THREADS_MAX = 64, SPINS_MAX = 4000 };

typedef struct plain_kernel {
    soft_kernel_launch launch;
    _Alignas(64) unsigned char params[PARAM_BYTES_MAX];
} plain_kernel;

struct plain_step {
    soft_code *code;
    soft_binding *binding;
    soft_kernel_env *env;
    plain_kernel *kernel;
    uint32_t kernel_count, threads;
    pthread_t thread[THREADS_MAX];
    /* One run: `run` counts them, `times` is its length; 0 ends the threads. */
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    uint32_t run, times;
    _Alignas(64) atomic_uint arrived;
    _Alignas(64) atomic_uint phase;
};

typedef struct plain_thread {
    plain_step *step;
    uint32_t index;
} plain_thread;

static gph_error error;

static void must(gph_status status, const char *what)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "bench_step: %s: %s\n", what, error.message);
    exit(1);
}

static void pause_cpu(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* The last to arrive opens the barrier; `phase` pairs its release with their acquire. */
static void barrier(plain_step *step)
{
    const unsigned phase = atomic_load_explicit(&step->phase, memory_order_relaxed);
    const unsigned before =
        atomic_fetch_add_explicit(&step->arrived, 1, memory_order_acq_rel);
    if (before + 1 == step->threads) {
        atomic_store_explicit(&step->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&step->phase, phase + 1, memory_order_release);
        return;
    }
    for (uint32_t i = 0;
         atomic_load_explicit(&step->phase, memory_order_acquire) == phase; i++)
        if (i < SPINS_MAX)
            pause_cpu();
        else
            sched_yield(); /* the one it waits for has lost its CPU to other load */
}

/* Blocks [first, end) of a grid, one call each. */
SOFT_CALLS_CODE static void run_blocks(soft_runner *runner, soft_kernel_launch *launch,
                                       uint32_t first, uint32_t end)
{
    soft_block *block = &runner->home;
    runner->launch = launch;
    runner->current = block;
    if (!soft_block_prepare(block, launch, 0))
        must(GPH_E_NO_MEMORY, "memory of a block");
    const uint32_t width = launch->grid.nctaid[0];
    for (uint32_t i = first; i < end; i++) {
        block->view.block_index = i;
        block->view.ctaid[0] = i % width;
        block->view.ctaid[1] = i / width;
        block->view.ctaid[2] = 0;
        launch->code->entry.block(&block->view);
    }
}

static void run_share(plain_step *step, uint32_t index, uint32_t times)
{
    soft_runner *runner = soft_runner_self();
    if (runner == NULL)
        must(GPH_E_NO_MEMORY, "a thread's state");
    for (uint32_t t = 0; t < times; t++)
        for (uint32_t k = 0; k < step->kernel_count; k++) {
            soft_kernel_launch *launch = &step->kernel[k].launch;
            const uint32_t count = (uint32_t)launch->block_count, n = step->threads;
            const uint32_t first = (count * index + n - 1) / n;
            const uint32_t end = (count * (index + 1) + n - 1) / n;
            if (first < end)
                run_blocks(runner, launch, first, end);
            barrier(step);
        }
}

static void *thread_main(void *argument)
{
    const plain_thread self = *(plain_thread *)argument;
    plain_step *step = self.step;
    uint32_t seen = 0;
    free(argument);
    for (;;) {
        pthread_mutex_lock(&step->mutex);
        while (step->run == seen)
            pthread_cond_wait(&step->wake, &step->mutex);
        seen = step->run;
        const uint32_t times = step->times;
        pthread_mutex_unlock(&step->mutex);
        if (times == 0)
            return NULL;
        barrier(step);
        run_share(step, self.index, times);
    }
}

static void wake_team(plain_step *step, uint32_t times)
{
    pthread_mutex_lock(&step->mutex);
    step->run++;
    step->times = times;
    pthread_cond_broadcast(&step->wake);
    pthread_mutex_unlock(&step->mutex);
}

uint64_t plain_step_run(plain_step *step, uint32_t times)
{
    wake_team(step, times);
    barrier(step);
    const uint64_t from = gphi_clock_ns();
    run_share(step, 0, times);
    return gphi_clock_ns() - from;
}

plain_step *plain_step_create(const char *ptx, uint32_t threads)
{
    plain_step *step = aligned_alloc(64, (sizeof(*step) + 63) & ~(size_t)63);
    plain_kernel *kernel = aligned_alloc(64, KERNELS_MAX * sizeof(plain_kernel));
    if (step == NULL || kernel == NULL || threads == 0 || threads > THREADS_MAX)
        must(GPH_E_NO_MEMORY, "a team");
    memset(step, 0, sizeof(*step));
    step->kernel = kernel;
    step->threads = threads;
    pthread_mutex_init(&step->mutex, NULL);
    pthread_cond_init(&step->wake, NULL);
    soft_code_options options;
    soft_code_options_init(&options);
    must(soft_code_create(ptx, 0, &options, &step->code, &error), "compiling");
    if (soft_code_global_count(step->code) != 0)
        must(GPH_E_UNSUPPORTED, "kernels with global variables");
    must(soft_binding_create(step->code, NULL, &step->binding, &error), "binding");
    must(soft_kernel_env_create(&(soft_kernel_env_options){0}, &step->env, &error),
         "kernel state");
    for (uint32_t i = 1; i < threads; i++) {
        plain_thread *self = malloc(sizeof(*self));
        if (self == NULL)
            must(GPH_E_NO_MEMORY, "a thread");
        *self = (plain_thread){step, i};
        if (pthread_create(&step->thread[i], NULL, thread_main, self) != 0)
            must(GPH_E_NO_MEMORY, "a thread");
    }
    return step;
}

void plain_step_destroy(plain_step *step)
{
    wake_team(step, 0);
    for (uint32_t i = 1; i < step->threads; i++)
        pthread_join(step->thread[i], NULL);
    soft_kernel_env_destroy(step->env);
    soft_binding_destroy(step->binding);
    soft_code_release(step->code);
    pthread_cond_destroy(&step->wake);
    pthread_mutex_destroy(&step->mutex);
    free(step->kernel);
    free(step);
}

void plain_step_add(plain_step *step, const char *name, const uint32_t grid[2],
                    const uint32_t block[2], uint32_t shared_bytes, void **arguments)
{
    const soft_kernel_code *code = soft_binding_find(step->binding, name);
    if (step->kernel_count == KERNELS_MAX || code == NULL ||
        code->kernel->path != PTX_PATH_FAST ||
        code->kernel->param_bytes > PARAM_BYTES_MAX) {
        fprintf(stderr, "bench_step: %s is not there, slow, or does not fit\n", name);
        exit(1);
    }
    plain_kernel *kernel = &step->kernel[step->kernel_count++];
    memset(kernel->params, 0, sizeof(kernel->params));
    for (uint32_t i = 0; i < code->kernel->param_count; i++) {
        const ptx_param *param = &code->kernel->params[i];
        memcpy(kernel->params + param->offset, arguments[i], param->bytes);
    }
    const soft_kernel_dims dims = {.grid = {grid[0], grid[1], 1},
                                   .block = {block[0], block[1], 1},
                                   .dynamic_shared_bytes = shared_bytes};
    must(soft_kernel_ready(code, &error), name);
    must(soft_kernel_launch_init(&kernel->launch, step->env, code, &dims, kernel->params,
                                 &error),
         name);
}

uint32_t plain_step_count(const plain_step *step)
{
    return step->kernel_count;
}

void plain_step_clear(plain_step *step)
{
    step->kernel_count = 0;
}
