// SPDX-License-Identifier: Apache-2.0
/* Work that waits for something outside the engine (SOFT_WORK_POLL): it is asked again
 * and again, and holds no worker meanwhile.
 *
 * A queue whose head cannot go on is owned by the thread below until the head can. A
 * launch with such nodes goes through its nodes in passes: a pass runs every node whose
 * predecessors are done, so that a node that waits holds up only what depends on it, as
 * it does on a GPU; a launch where all that is left waits is parked. */
#define _GNU_SOURCE
#include <time.h>

#include "base/fail.h"
#include "base/heap.h"
#include "softcuda/engine/program.h"

enum { NAP_LEAST_NS = 20000, NAP_MOST_NS = 500000 };

/* ---- launches ---------------------------------------------------------------------- */

gph_status soft_polled_create(soft_program *program, gph_error *error)
{
    program->ran = gphi_heap_array(program->engine->heap, program->node_count, 1);
    program->waiting =
        gphi_heap_array(program->engine->heap, program->node_count, sizeof(uint32_t));
    GPHI_TRY(gphi_made(error, program->ran && program->waiting, "a program of %u nodes",
                       program->node_count));
    return GPH_OK;
}

void soft_polled_destroy(soft_program *program)
{
    gphi_heap_free(program->engine->heap, program->ran, program->node_count);
    gphi_heap_free(program->engine->heap, program->waiting,
                   program->node_count * sizeof(uint32_t));
}

static bool is_ready(const soft_program *program, uint32_t place)
{
    for (uint32_t i = program->pred_first[place]; i < program->pred_first[place + 1]; i++)
        if (!program->ran[program->pred[i]])
            return false;
    return true;
}

/* One pass. False if the queue was handed to the host thread. */
static bool run_pass(soft_queue *queue, soft_worker *worker, soft_program *program,
                     const soft_work *works)
{
    program->waiting_count = 0;
    for (uint32_t place = 0; place < program->node_count; place++) {
        if (program->ran[place] || !is_ready(program, place))
            continue;
        const soft_work *work = &works[soft_program_node_at(program, place)];
        if (work->kind == SOFT_WORK_HOST) {
            program->host_place = place;
            program->host_runs = true;
            soft_queue_close(queue);
            soft_host_post(queue, (soft_host_row){.works = work, .count = 1});
            return false;
        }
        if (work->kind == SOFT_WORK_POLL && !work->poll(work->argument)) {
            program->waiting[program->waiting_count++] = place;
            continue;
        }
        if (work->kind == SOFT_WORK_CALL || work->kind == SOFT_WORK_PARTS)
            soft_work_inline(work, worker);
        if (work->kind == SOFT_WORK_BRANCH)
            soft_branch_inline(program, soft_program_node_at(program, place), works,
                               worker);
        program->ran[place] = 1;
    }
    return true;
}

bool soft_polled_run(soft_queue *queue, soft_worker *worker, soft_program *program,
                     const soft_work *works)
{
    for (uint32_t i = 0; queue->position == 0 && i < program->node_count; i++)
        program->ran[i] = program->branches && program->branches->body_of[i] != 0;
    queue->position = 1;
    if (program->host_runs)
        program->ran[program->host_place] = 1;
    program->host_runs = false;
    if (!run_pass(queue, worker, program, works))
        return false;
    if (program->waiting_count == 0)
        return true;
    soft_queue_close(queue);
    soft_park_post(queue);
    return false;
}

/* ---- the thread -------------------------------------------------------------------- */

/* Whether the head of a parked queue can go on. */
static bool may_go_on(soft_queue *queue)
{
    const soft_submission *head = soft_queue_head(queue);
    if (head->kind == SUBMIT_WORK)
        return head->u.work.poll(head->u.work.argument);
    soft_program *program = head->u.launch.program;
    bool any = false;
    for (uint32_t i = 0; i < program->waiting_count; i++) {
        const uint32_t place = program->waiting[i];
        const soft_work *work =
            &head->u.launch.works[soft_program_node_at(program, place)];
        if (!program->ran[place] && work->poll(work->argument)) {
            program->ran[place] = 1;
            any = true;
        }
    }
    return any;
}

/* Asks all queues of a list; those that go on are let go, the others are given back. */
static soft_queue *ask_all(soft_queue *list, bool *any)
{
    soft_queue *left = NULL;
    while (list) {
        soft_queue *queue = list;
        list = atomic_load_explicit(&queue->next, memory_order_relaxed);
        if (may_go_on(queue)) {
            *any = true;
            soft_queue_let_go(queue);
        } else {
            atomic_store_explicit(&queue->next, left, memory_order_relaxed);
            left = queue;
        }
    }
    return left;
}

static void nap(soft_park *park, uint64_t ns)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)ns;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&park->wake, &park->mutex, &until);
}

static void *park_main(void *argument)
{
    soft_park *park = argument;
    soft_queue *mine = NULL;
    uint64_t nap_ns = NAP_LEAST_NS;
    pthread_mutex_lock(&park->mutex);
    while (!park->stop) {
        if (!mine && !park->fresh)
            pthread_cond_wait(&park->wake, &park->mutex);
        else
            nap(park, nap_ns);
        bool any = park->fresh;
        while (park->fresh) {
            soft_queue *queue = park->fresh;
            park->fresh = atomic_load_explicit(&queue->next, memory_order_relaxed);
            atomic_store_explicit(&queue->next, mine, memory_order_relaxed);
            mine = queue;
        }
        pthread_mutex_unlock(&park->mutex);
        mine = ask_all(mine, &any);
        nap_ns = any ? NAP_LEAST_NS : nap_ns + nap_ns / 8;
        nap_ns = nap_ns < NAP_MOST_NS ? nap_ns : NAP_MOST_NS;
        pthread_mutex_lock(&park->mutex);
    }
    pthread_mutex_unlock(&park->mutex);
    return NULL;
}

void soft_park_post(soft_queue *queue)
{
    soft_park *park = &queue->engine->park;
    pthread_mutex_lock(&park->mutex);
    if (!park->started)
        park->started = pthread_create(&park->thread, NULL, park_main, park) == 0;
    if (park->started) {
        atomic_store_explicit(&queue->next, park->fresh, memory_order_relaxed);
        park->fresh = queue;
        pthread_cond_signal(&park->wake);
    }
    const bool taken = park->started;
    pthread_mutex_unlock(&park->mutex);
    if (taken)
        return;
    /* No thread: the workers ask again, which costs their time. */
    if (soft_queue_head(queue)->kind == SUBMIT_WORK)
        queue->position = 0;
    soft_queue_let_go(queue);
}

void soft_park_init(soft_engine *engine)
{
    pthread_mutex_init(&engine->park.mutex, NULL);
    /* A clock that is set back must not make a nap of hours. */
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&engine->park.wake, &attributes);
    pthread_condattr_destroy(&attributes);
}

void soft_park_stop(soft_engine *engine)
{
    soft_park *park = &engine->park;
    pthread_mutex_lock(&park->mutex);
    park->stop = true;
    pthread_cond_signal(&park->wake);
    pthread_mutex_unlock(&park->mutex);
    if (park->started)
        pthread_join(park->thread, NULL);
    pthread_cond_destroy(&park->wake);
    pthread_mutex_destroy(&park->mutex);
}
