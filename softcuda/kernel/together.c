// SPDX-License-Identifier: Apache-2.0
/* Several kernels made ready at once: a thread a processor, each with the next kernel that
 * nobody has taken. */
#include <pthread.h>
#include <sched.h>

#include "softcuda/kernel/load/code.h"

#define THREADS_MAX 16u

struct together {
    const soft_kernel_code *const *kernels;
    uint32_t count;
    atomic_uint next;     /* relaxed: whoever gets a number has it alone */
    pthread_mutex_t lock; /* the first failure */
    gph_status status;
    gph_error *error;
};

static void note_failure(struct together *t, gph_status status, const gph_error *error)
{
    pthread_mutex_lock(&t->lock);
    if (t->status == GPH_OK && t->error)
        *t->error = *error;
    if (t->status == GPH_OK)
        t->status = status;
    pthread_mutex_unlock(&t->lock);
}

static void *make_some(void *argument)
{
    struct together *t = argument;
    for (;;) {
        const uint32_t i = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed);
        if (i >= t->count)
            return NULL;
        gph_error error = {0};
        const gph_status status = soft_kernel_ready(t->kernels[i], &error);
        if (status != GPH_OK)
            note_failure(t, status, &error);
    }
}

/* Those this process may run on. */
static uint32_t cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return 1;
    const uint32_t count = (uint32_t)CPU_COUNT(&set);
    return count < THREADS_MAX ? count : THREADS_MAX;
}

/* This thread is one of them; what cannot get a thread is its own. */
gph_status soft_kernels_ready(const soft_kernel_code *const *kernels, uint32_t count,
                              gph_error *error)
{
    struct together t = {.kernels = kernels,
                         .count = count,
                         .lock = PTHREAD_MUTEX_INITIALIZER,
                         .error = error};
    pthread_t threads[THREADS_MAX];
    uint32_t made = 0;
    const uint32_t most = cpu_count();
    while (made + 1 < most && made + 1 < count &&
           pthread_create(&threads[made], NULL, make_some, &t) == 0)
        made++;
    make_some(&t);
    while (made > 0)
        pthread_join(threads[--made], NULL);
    pthread_mutex_destroy(&t.lock);
    return t.status;
}
