// SPDX-License-Identifier: Apache-2.0
/* What the machine itself asks for a hand-over: a word that goes to another CPU and back,
 * and a barrier, both without any work. No way to run short grids on a team is faster. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/clock.h"
#include "replay_team.h"

enum { TRIPS = 20000, TURNS = 9, CPUS_MAX = 64 };

static alignas(64) atomic_uint ball;
static alignas(64) atomic_uint arrived;
static alignas(64) atomic_uint released;
static int team;

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void stay_on(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)cpu, &set);
    (void)pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

/* On its CPU from the start: under a real-time policy it would never leave that of a
 * thread which spins. */
static bool start(pthread_t *thread, void *(*run)(void *), int cpu)
{
    pthread_attr_t attributes;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)cpu, &set);
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof(set), &set);
    const bool started = pthread_create(thread, &attributes, run, NULL) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

static void *echo(void *unused)
{
    (void)unused;
    for (unsigned i = 1; i < 2 * TRIPS; i += 2) {
        while (atomic_load_explicit(&ball, memory_order_acquire) != i)
            relax();
        atomic_store_explicit(&ball, i + 1, memory_order_release);
    }
    return NULL;
}

/* ns from one CPU to another: half of a way there and back, the best of some turns. */
static double one_way(int from_cpu, int to_cpu)
{
    double best = 1e18;
    for (int turn = 0; turn < TURNS; turn++) {
        pthread_t other;
        atomic_store(&ball, 0);
        stay_on(from_cpu);
        if (!start(&other, echo, to_cpu))
            return 0;
        const uint64_t from = gphi_clock_ns();
        for (unsigned i = 0; i < 2 * TRIPS; i += 2) {
            atomic_store_explicit(&ball, i + 1, memory_order_release);
            while (atomic_load_explicit(&ball, memory_order_acquire) != i + 2)
                relax();
        }
        const double ns = (double)(gphi_clock_ns() - from) / (2 * TRIPS);
        best = ns < best ? ns : best;
        pthread_join(other, NULL);
    }
    return best;
}

static void meet(void)
{
    const unsigned now = atomic_load_explicit(&released, memory_order_relaxed);
    if (atomic_fetch_add(&arrived, 1) + 1 == (unsigned)team) {
        atomic_store_explicit(&arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&released, now + 1, memory_order_release);
        return;
    }
    while (atomic_load_explicit(&released, memory_order_acquire) == now)
        relax();
}

static void *member(void *unused)
{
    (void)unused;
    for (int i = 0; i < TRIPS; i++)
        meet();
    return NULL;
}

static double barrier(const int *cpus)
{
    double best = 1e18;
    for (int turn = 0; turn < TURNS; turn++) {
        pthread_t threads[CPUS_MAX];
        int started = 1;
        for (; started < team; started++)
            if (!start(&threads[started], member, cpus[started]))
                return 0; /* the others spin until the process ends */
        stay_on(cpus[0]);
        const uint64_t from = gphi_clock_ns();
        for (int i = 0; i < TRIPS; i++)
            meet();
        const double ns = (double)(gphi_clock_ns() - from) / TRIPS;
        best = ns < best ? ns : best;
        for (int i = 1; i < started; i++)
            pthread_join(threads[i], NULL);
    }
    return best;
}

void replay_hand_over(int threads)
{
    cpu_set_t before;
    int cpus[CPUS_MAX] = {0}, count = 0;
    sched_getaffinity(0, sizeof(before), &before);
    for (int i = 0; i < CPU_SETSIZE && count < CPUS_MAX && count < threads; i++)
        if (CPU_ISSET((unsigned)i, &before))
            cpus[count++] = i;
    printf("a word from CPU %d to CPU, ns:", cpus[0]);
    for (int i = 1; i < count; i++)
        printf("  %d: %.0f", cpus[i], one_way(cpus[0], cpus[i]));
    team = count;
    printf("\na barrier of %d threads: %.0f ns\n", team, barrier(cpus));
    sched_setaffinity(0, sizeof(before), &before);
}
