// SPDX-License-Identifier: Apache-2.0
/* Work that waits for the world outside: what it holds up, and what it does not. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "fault.h"
#include "softcuda/engine/engine.h"
#include "test.h"

static atomic_int word, ran;

static bool is_set(void *wanted)
{
    return atomic_load(&word) == *(int *)wanted;
}

/* For a word that rises, perhaps by two between one question and the next. */
static bool is_reached(void *wanted)
{
    return atomic_load(&word) >= *(int *)wanted;
}

static void run(void *set, soft_worker *worker)
{
    (void)worker;
    atomic_fetch_add(&ran, 1);
    if (set)
        atomic_store(&word, *(int *)set);
}

static soft_engine *make(uint32_t workers)
{
    const soft_engine_options options = {.workers = workers};
    soft_engine *engine = NULL;
    CHECK(soft_engine_create(&options, &engine, NULL) == GPH_OK);
    atomic_store(&word, 0);
    atomic_store(&ran, 0);
    return engine;
}

static soft_work poll_for(int *value)
{
    return (soft_work){.kind = SOFT_WORK_POLL, .poll = is_set, .argument = value};
}

static soft_work call(int *set)
{
    return (soft_work){.kind = SOFT_WORK_CALL, .run = run, .argument = set};
}

static void doze(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

/* Four queues wait for each other in a ring on one worker: none of them may hold it. */
static void waits_hold_no_worker(void)
{
    static int values[] = {1, 2, 3, 4, 5};
    soft_engine *engine = make(1);
    soft_queue *queues[4];
    soft_point last[4];
    for (int i = 3; i >= 0; i--) {
        CHECK(soft_queue_create(engine, 0, &queues[i], NULL) == GPH_OK);
        const soft_work wait = poll_for(&values[i]), set = call(&values[i + 1]);
        CHECK(soft_queue_submit(queues[i], &wait, NULL, 0, NULL) == GPH_OK);
        CHECK(soft_queue_submit(queues[i], &set, NULL, 0, &last[i]) == GPH_OK);
    }
    doze();
    CHECK(atomic_load(&ran) == 0);
    atomic_store(&word, 1);
    for (int i = 0; i < 4; i++) {
        soft_point_wait(engine, last[i]);
        soft_queue_release(queues[i]);
    }
    CHECK(atomic_load(&word) == 5);
    soft_engine_destroy(engine);
}

/* 0 waits for 1, which only node 3 writes; 1 follows 0; 2 is empty between 3 and 4. */
static void a_launch_goes_on_beside_a_wait(uint32_t workers)
{
    static int one = 1, nine = 9;
    static const soft_edge edges[] = {{0, 1}, {3, 2}, {2, 4}};
    static const uint8_t kinds[] = {SOFT_WORK_POLL, SOFT_WORK_CALL, SOFT_WORK_EMPTY,
                                    SOFT_WORK_CALL, SOFT_WORK_HOST};
    soft_engine *engine = make(workers);
    soft_program *program = NULL;
    soft_queue *queue = NULL;
    CHECK(soft_program_create(engine, 5, edges, 3, kinds, NULL, &program, NULL) ==
          GPH_OK);
    CHECK(soft_queue_create(engine, 0, &queue, NULL) == GPH_OK);
    const soft_work works[] = {poll_for(&one),
                               call(&nine),
                               {.kind = SOFT_WORK_EMPTY},
                               call(&one),
                               {.kind = SOFT_WORK_HOST, .run = run}};
    for (int i = 0; i < 50; i++) {
        soft_point done;
        CHECK(soft_queue_launch(queue, program, works, NULL, NULL, NULL, 0, &done) ==
              GPH_OK);
        soft_point_wait(engine, done);
        CHECK(atomic_load(&word) == 9);
        CHECK(atomic_load(&ran) == 3 * (i + 1));
    }
    soft_program_destroy(program);
    soft_queue_release(queue);
    soft_engine_destroy(engine);
}

static void launches_go_on_beside_waits(void)
{
    a_launch_goes_on_beside_a_wait(1);
    a_launch_goes_on_beside_a_wait(4);
}

/* A launch where all waits: parked, and its end still comes. */
static void a_launch_waits_for_the_host(void)
{
    static int one = 1, two = 2;
    static const soft_edge edges[] = {{0, 1}};
    static const uint8_t kinds[] = {SOFT_WORK_POLL, SOFT_WORK_POLL};
    soft_engine *engine = make(2);
    soft_program *program = NULL;
    soft_queue *queue = NULL;
    soft_point done;
    CHECK(soft_program_create(engine, 2, edges, 1, kinds, NULL, &program, NULL) ==
          GPH_OK);
    CHECK(soft_queue_create(engine, 0, &queue, NULL) == GPH_OK);
    soft_work works[] = {poll_for(&one), poll_for(&two)};
    works[0].poll = works[1].poll = is_reached;
    CHECK(soft_queue_launch(queue, program, works, NULL, NULL, NULL, 0, &done) == GPH_OK);
    doze();
    CHECK(!soft_point_reached(done));
    atomic_store(&word, 1);
    doze();
    CHECK(!soft_point_reached(done));
    atomic_store(&word, 2);
    soft_point_wait(engine, done);
    soft_program_destroy(program);
    soft_queue_release(queue);
    soft_engine_destroy(engine);
}

static void compiling_survives_failed_allocations(void)
{
    static const soft_edge edges[] = {{1, 0}};
    static const uint8_t kinds[] = {SOFT_WORK_POLL, SOFT_WORK_CALL};
    for (long nth = 0;; nth++) {
        fault_heap heap = {.fail_at = -1};
        const gph_allocator allocator = {.realloc = fault_realloc, .user = &heap};
        const soft_engine_options options = {.workers = 1, .allocator = &allocator};
        soft_engine *engine = NULL;
        soft_program *program = NULL;
        CHECK(soft_engine_create(&options, &engine, NULL) == GPH_OK);
        const long before = atomic_load(&heap.live_bytes);
        atomic_store(&heap.fail_at, nth);
        const gph_status status =
            soft_program_create(engine, 2, edges, 1, kinds, NULL, &program, NULL);
        atomic_store(&heap.fail_at, -1);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        soft_program_destroy(program);
        CHECK(atomic_load(&heap.live_bytes) == before);
        soft_engine_destroy(engine);
        if (status == GPH_OK)
            return;
    }
}

int main(void)
{
    RUN(waits_hold_no_worker);
    RUN(launches_go_on_beside_waits);
    RUN(a_launch_waits_for_the_host);
    RUN(compiling_survives_failed_allocations);
    return test_done();
}
