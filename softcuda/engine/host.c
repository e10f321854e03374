// SPDX-License-Identifier: Apache-2.0
/* The thread that runs host functions (R108: one thread, apart from the workers). A queue
 * whose head is a host function is owned by this thread until the function returns. */
#include "base/fail.h"
#include "softcuda/engine/state.h"

void soft_host_post(soft_queue *queue, soft_host_row row)
{
    soft_host *host = &queue->engine->host;
    queue->host_row = row;
    atomic_store_explicit(&queue->next, NULL, memory_order_relaxed);
    pthread_mutex_lock(&host->mutex);
    if (host->last)
        atomic_store_explicit(&host->last->next, queue, memory_order_relaxed);
    else
        host->first = queue;
    host->last = queue;
    pthread_cond_signal(&host->wake);
    pthread_mutex_unlock(&host->mutex);
}

/* The next queue, or NULL when the engine stops. Sleeps meanwhile. */
static soft_queue *take(soft_host *host)
{
    pthread_mutex_lock(&host->mutex);
    while (!host->first && !host->stop)
        pthread_cond_wait(&host->wake, &host->mutex);
    soft_queue *queue = host->first;
    if (queue) {
        host->first = atomic_load_explicit(&queue->next, memory_order_relaxed);
        if (!host->first)
            host->last = NULL;
    }
    pthread_mutex_unlock(&host->mutex);
    return queue;
}

static void *host_main(void *argument)
{
    soft_engine *engine = argument;
    soft_queue *queue;
    while ((queue = take(&engine->host))) {
        const soft_host_row row = queue->host_row;
        for (uint32_t i = 0; i < row.count; i++) {
            const soft_work *work = &row.works[row.order ? row.order[i] : 0];
            work->run(work->argument, NULL);
        }
        soft_queue_let_go(queue);
    }
    return NULL;
}

gph_status soft_host_start(soft_engine *engine, gph_error *error)
{
    soft_host *host = &engine->host;
    pthread_mutex_init(&host->mutex, NULL);
    pthread_cond_init(&host->wake, NULL);
    if (pthread_create(&host->thread, NULL, host_main, engine) == 0)
        return GPH_OK;
    pthread_cond_destroy(&host->wake);
    pthread_mutex_destroy(&host->mutex);
    return gphi_fail(error, GPH_E_NO_MEMORY, "starting the thread for host functions");
}

void soft_host_stop(soft_engine *engine)
{
    soft_host *host = &engine->host;
    pthread_mutex_lock(&host->mutex);
    host->stop = true;
    pthread_cond_signal(&host->wake);
    pthread_mutex_unlock(&host->mutex);
    pthread_join(host->thread, NULL);
    pthread_cond_destroy(&host->wake);
    pthread_mutex_destroy(&host->mutex);
}
