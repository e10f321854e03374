// SPDX-License-Identifier: Apache-2.0
/* What a process says at its end if no call succeeded.
 *
 * Nothing is called where a call succeeds, so success is seen late: where its thread begins
 * the next one, or, for the last call of each thread, because fewer calls were refused than
 * begun. */
#include "softcuda/device/verdict.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

atomic_bool soft_verdict_known;

static _Thread_local bool is_inside; /* begun, and not refused up to now */
static atomic_ulong begun, refused;

/* Under the lock; read at the end without it, when other threads are at rest or late. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const char *call, *name;
    CUresult code;
    pid_t process; /* a fork has the counters of its parent, who speaks for both */
} first;

void soft_verdict_count(void)
{
    if (is_inside)
        atomic_store_explicit(&soft_verdict_known, true, memory_order_relaxed);
    is_inside = true;
    atomic_fetch_add_explicit(&begun, 1, memory_order_relaxed);
}

void soft_verdict_refused(const char *call, CUresult code, const char *name)
{
    const bool is_search = strcmp(call, "cuGetProcAddress") == 0;
    if (is_search || atomic_load_explicit(&soft_verdict_known, memory_order_relaxed))
        return;
    if (is_inside)
        atomic_fetch_add_explicit(&refused, 1, memory_order_relaxed);
    is_inside = false;
    pthread_mutex_lock(&lock);
    if (!first.call) {
        first.name = name;
        first.code = code;
        first.process = getpid();
        first.call = call;
    }
    pthread_mutex_unlock(&lock);
}

/* A destructor and not what cuInit() registers: cuInit() may be what was refused. */
__attribute__((destructor)) static void say(void)
{
    const char *as = getenv("SOFTCUDA_VERDICT");
    if (as && as[0] != '\0' && first.call && first.process == getpid() &&
        !atomic_load_explicit(&soft_verdict_known, memory_order_relaxed) &&
        atomic_load_explicit(&begun, memory_order_relaxed) ==
            atomic_load_explicit(&refused, memory_order_relaxed))
        fprintf(stderr,
                "%s: every driver call of the program failed, first %s with %d (%s)\n",
                as, first.call, (int)first.code, first.name);
}
