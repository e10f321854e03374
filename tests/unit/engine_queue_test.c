// SPDX-License-Identifier: Apache-2.0
/* Queues: order, waits, points, parts, host functions, rings, recycling. */
#define _GNU_SOURCE
#include "engine_check.h"
#include "fault.h"
#include "softcuda/engine/state.h"
#include <pthread.h>

static soft_engine *make(uint32_t workers, uint32_t seed)
{
    const soft_engine_options options = {.workers = workers, .random_seed = seed};
    soft_engine *engine = NULL;
    gph_error error = {0};
    CHECK_OK(soft_engine_create(&options, &engine, &error), error);
    return engine;
}

static soft_queue *queue_of(soft_engine *engine, int priority)
{
    soft_queue *queue = NULL;
    gph_error error = {0};
    CHECK_OK(soft_queue_create(engine, priority, &queue, &error), error);
    return queue;
}

static void finish(soft_engine *engine, soft_queue *queue)
{
    soft_point_wait(engine, soft_queue_tail(queue));
}

/* Appends its number to a list; the order of the list is what is checked. */
typedef struct step {
    struct trace *trace;
    uint32_t number;
} step;
typedef struct trace {
    atomic_uint count; /* places taken in the list */
    atomic_uint done;  /* places written */
    uint32_t order[4096];
    step steps[4096];
} trace;

static void run_step(void *argument, soft_worker *worker)
{
    (void)worker;
    step *s = argument;
    s->trace
        ->order[atomic_fetch_add_explicit(&s->trace->count, 1, memory_order_relaxed)] =
        s->number;
    atomic_fetch_add_explicit(&s->trace->done, 1, memory_order_release);
}

static soft_work step_work(trace *t, uint32_t number, uint32_t kind)
{
    t->steps[number] = (step){t, number};
    return (soft_work){.kind = kind, .run = run_step, .argument = &t->steps[number]};
}

static void runs_in_order(void)
{
    for (uint32_t workers = 1; workers <= 8; workers++) {
        soft_engine *engine = make(workers, workers % 3 == 0 ? workers : 0);
        soft_queue *queue = queue_of(engine, 0);
        trace *t = calloc(1, sizeof(*t));
        for (uint32_t i = 0; i < 3000; i++) {
            const uint32_t kind = i % 701 == 0 ? SOFT_WORK_HOST : SOFT_WORK_CALL;
            const soft_work work = step_work(t, i, kind);
            CHECK(soft_queue_submit(queue, &work, NULL, 0, NULL) == GPH_OK);
        }
        finish(engine, queue);
        CHECK(atomic_load(&t->count) == 3000);
        bool sorted = true;
        for (uint32_t i = 0; i < 3000; i++)
            sorted = sorted && t->order[i] == i;
        CHECK(sorted);
        free(t);
        soft_engine_destroy(engine);
    }
}

typedef struct sums {
    atomic_ullong sum, parts;
    uint32_t spin;
} sums;

static void add_parts(void *argument, soft_parts *parts, soft_worker *worker)
{
    (void)worker;
    sums *s = argument;
    uint64_t first, count;
    while ((count = soft_parts_claim(parts, 0, &first)) != 0)
        for (uint64_t i = first; i < first + count; i++) {
            check_spin(s->spin);
            atomic_fetch_add_explicit(&s->sum, i, memory_order_relaxed);
            atomic_fetch_add_explicit(&s->parts, 1, memory_order_relaxed);
        }
}

static void runs_each_part_once(void)
{
    for (uint32_t workers = 1; workers <= 8; workers++) {
        soft_engine *engine = make(workers, 0);
        soft_queue *queue = queue_of(engine, 0);
        for (uint64_t parts = 1; parts < 5000; parts = parts * 3 + 1) {
            uint32_t cost = 0;
            for (uint32_t round = 0; round < 20; round++) {
                sums s = {.spin = round};
                const soft_work work = {.kind = SOFT_WORK_PARTS,
                                        .run_parts = add_parts,
                                        .argument = &s,
                                        .parts = parts,
                                        .cost_ns = &cost};
                soft_point point;
                CHECK(soft_queue_submit(queue, &work, NULL, 0, &point) == GPH_OK);
                soft_point_wait(engine, point);
                CHECK(atomic_load(&s.parts) == parts);
                CHECK(atomic_load(&s.sum) == parts * (parts - 1) / 2);
            }
            CHECK(cost != 0);
        }
        soft_engine_destroy(engine);
    }
}

/* As if 2^30 steps had been run for each quarter of the numbers: their shares were
 * renewed at its begin, and not used since. Only in an engine of its own, for a worker
 * that is late by so many steps would take what is not its own any more. */
static void pretend_steps(soft_queue *queue, uint32_t number)
{
    const uint64_t renewed = (uint64_t)(number & 0xc0000000) << 32;
    for (uint32_t i = 0; i < queue->engine->share_count; i++)
        atomic_store(&queue->share[i].word, renewed);
    atomic_store(&queue->step.open, (uint64_t)number << 32);
}

/* Steps are numbered with 32 bits, and a share that few steps use keeps an old number:
 * both must survive the wrap. */
static void step_numbers_may_wrap(void)
{
    const uint32_t starts[] = {0x3ffffff0, 0x7ffffff0, 0xbffffff0, 0xfffffff0};
    for (uint32_t n = 0; n < sizeof(starts) / sizeof(starts[0]); n++) {
        soft_engine *engine = make(4, 0);
        soft_queue *queue = queue_of(engine, 0);
        pretend_steps(queue, starts[n]);
        for (uint32_t round = 0; round < 60; round++) {
            const uint64_t count = round % 5 != 4 ? 2 : 64;
            sums s = {.spin = 10};
            const soft_work work = {.kind = SOFT_WORK_PARTS,
                                    .run_parts = add_parts,
                                    .argument = &s,
                                    .parts = count};
            soft_point point;
            CHECK(soft_queue_submit(queue, &work, NULL, 0, &point) == GPH_OK);
            CHECK(soft_point_wait_for(engine, point, UINT64_C(20000000000)));
            CHECK(atomic_load(&s.parts) == count);
        }
        soft_engine_destroy(engine);
    }
}

/* Queue i waits for queue i - 1, around a ring of queues, many times. */
static void waits_between_queues(void)
{
    enum { QUEUES = 70, ROUNDS = 40 };
    for (uint32_t workers = 1; workers <= 4; workers++) {
        soft_engine *engine = make(workers, workers == 4 ? 77 : 0);
        soft_queue *queues[QUEUES];
        for (int i = 0; i < QUEUES; i++)
            queues[i] = queue_of(engine, i % 3);
        trace *t = calloc(1, sizeof(*t));
        soft_point last = {0};
        for (uint32_t n = 0; n < QUEUES * ROUNDS; n++) {
            const soft_work work = step_work(t, n, SOFT_WORK_CALL);
            CHECK(soft_queue_submit(queues[n % QUEUES], &work, &last, 1, &last) ==
                  GPH_OK);
        }
        soft_point_wait(engine, last);
        bool sorted = true;
        for (uint32_t i = 0; i < QUEUES * ROUNDS; i++)
            sorted = sorted && t->order[i] == i;
        CHECK(sorted);
        free(t);
        soft_engine_destroy(engine);
    }
}

static void waits_for_many_points(void)
{
    enum { QUEUES = 30 };
    soft_engine *engine = make(3, 0);
    soft_queue *queues[QUEUES], *join = queue_of(engine, 0);
    for (uint32_t round = 0; round < 50; round++) {
        trace *t = calloc(1, sizeof(*t));
        soft_point points[QUEUES];
        for (uint32_t i = 0; i < QUEUES; i++) {
            queues[i] = queue_of(engine, 0);
            const soft_work work = step_work(t, i, SOFT_WORK_CALL);
            CHECK(soft_queue_submit(queues[i], &work, NULL, 0, &points[i]) == GPH_OK);
        }
        const soft_work end = step_work(t, QUEUES, SOFT_WORK_CALL);
        soft_point point;
        CHECK(soft_queue_submit(join, &end, points, QUEUES, &point) == GPH_OK);
        soft_point_wait(engine, point);
        CHECK(t->order[QUEUES] == QUEUES);
        for (uint32_t i = 0; i < QUEUES; i++)
            soft_queue_release(queues[i]); /* and made again in the next round */
        free(t);
    }
    soft_engine_destroy(engine);
}

static void recycles_queues(void)
{
    soft_engine *engine = make(2, 0);
    soft_queue *first = queue_of(engine, 0);
    soft_queue_release(first);
    soft_queue *again = queue_of(engine, 0);
    CHECK(again == first);
    trace *t = calloc(1, sizeof(*t));
    const soft_work work = step_work(t, 0, SOFT_WORK_CALL);
    CHECK(soft_queue_submit(again, &work, NULL, 0, NULL) == GPH_OK);
    const soft_point old = soft_queue_tail(again);
    soft_queue_release(again); /* perhaps before it has run */
    soft_point_wait(engine, old);
    CHECK(soft_point_reached(old));
    CHECK(atomic_load(&t->count) == 1);
    free(t);
    soft_engine_destroy(engine);
}

static void wait_for_flag(void *argument, soft_worker *worker)
{
    (void)worker;
    while (atomic_load((atomic_int *)argument) == 0)
        sched_yield();
}

static void set_flag(void *argument, soft_worker *worker)
{
    (void)worker;
    atomic_store((atomic_int *)argument, 1);
}

static void a_full_ring_blocks_and_goes_on(void)
{
    soft_engine *engine = make(2, 0);
    soft_queue *queue = queue_of(engine, 0);
    trace *t = calloc(1, sizeof(*t));
    for (uint32_t i = 0; i < 4096; i++) {
        const soft_work work = step_work(t, i, SOFT_WORK_CALL);
        CHECK(soft_queue_submit(queue, &work, NULL, 0, NULL) == GPH_OK);
    }
    finish(engine, queue);
    CHECK(atomic_load(&t->count) == 4096);
    free(t);
    soft_engine_destroy(engine);
}

/* A submit returns while the work cannot run, and waits for nothing. */
static void submits_do_not_wait(void)
{
    soft_engine *engine = make(2, 0);
    soft_queue *queue = queue_of(engine, 0);
    atomic_int flag = 0;
    const soft_work work = {
        .kind = SOFT_WORK_CALL, .run = wait_for_flag, .argument = &flag};
    soft_point point;
    CHECK(soft_queue_submit(queue, &work, NULL, 0, &point) == GPH_OK);
    CHECK(!soft_point_reached(point));
    CHECK(!soft_point_wait_for(engine, point, 2000000));
    atomic_store(&flag, 1);
    CHECK(soft_point_wait_for(engine, point, UINT64_C(20000000000)));
    soft_engine_destroy(engine);
}

/* Work that waits for another queue does not stop it, as long as a worker is free. */
static void blocked_work_lets_other_queues_run(void)
{
    for (uint32_t workers = 2; workers <= 4; workers++) {
        soft_engine *engine = make(workers, 0);
        atomic_int flag = 0;
        soft_queue *a = queue_of(engine, 0), *b = queue_of(engine, 0);
        const soft_work wait = {
            .kind = SOFT_WORK_CALL, .run = wait_for_flag, .argument = &flag};
        const soft_work set = {
            .kind = SOFT_WORK_CALL, .run = set_flag, .argument = &flag};
        CHECK(soft_queue_submit(a, &wait, NULL, 0, NULL) == GPH_OK);
        check_sleep_us(2000); /* the others may sleep by now */
        CHECK(soft_queue_submit(b, &set, NULL, 0, NULL) == GPH_OK);
        finish(engine, a);
        finish(engine, b);
        soft_engine_destroy(engine);
    }
}

typedef struct row {
    atomic_uint next; /* parts that are over */
} row;

static void wait_for_the_part_before(void *argument, soft_parts *parts,
                                     soft_worker *worker)
{
    (void)worker;
    row *r = argument;
    uint64_t first;
    while (soft_parts_claim(parts, 1, &first) != 0) {
        while (atomic_load(&r->next) != first)
            sched_yield();
        atomic_store(&r->next, (unsigned)first + 1);
    }
}

/* One worker is left, whichever it is: it must begin with the first part. */
static void parts_in_order_may_wait_for_earlier_ones(void)
{
    for (uint32_t workers = 2; workers <= 4; workers++) {
        soft_engine *engine = make(workers, 0);
        atomic_int flag = 0;
        const soft_work hold = {
            .kind = SOFT_WORK_CALL, .run = wait_for_flag, .argument = &flag};
        for (uint32_t i = 1; i < workers; i++)
            CHECK(soft_queue_submit(queue_of(engine, 0), &hold, NULL, 0, NULL) == GPH_OK);
        row r = {0};
        const soft_work work = {.kind = SOFT_WORK_PARTS,
                                .in_order = 1,
                                .run_parts = wait_for_the_part_before,
                                .argument = &r,
                                .parts = 100};
        soft_queue *queue = queue_of(engine, 0);
        soft_point point = {0};
        for (uint32_t i = 0; i < 20; i++) {
            CHECK(soft_queue_submit(queue, &work, NULL, 0, &point) == GPH_OK);
            CHECK(soft_point_wait_for(engine, point, UINT64_C(20000000000)));
            CHECK(atomic_load(&r.next) == 100);
            atomic_store(&r.next, 0);
        }
        atomic_store(&flag, 1);
        soft_engine_destroy(engine);
    }
}

static void relieve_until_flag(void *argument, soft_parts *parts, soft_worker *worker)
{
    uint64_t first;
    while (soft_parts_claim(parts, 1, &first) != 0)
        while (atomic_load((atomic_int *)argument) == 0)
            soft_worker_relieve(worker);
}

/* Every worker waits in one piece of work; relieving lets the other queue run. */
static void waiting_work_can_relieve(void)
{
    for (uint32_t workers = 1; workers <= 4; workers++) {
        soft_engine *engine = make(workers, 0);
        atomic_int flag = 0;
        soft_queue *a = queue_of(engine, 0), *b = queue_of(engine, 0);
        const soft_work wait = {.kind = SOFT_WORK_PARTS,
                                .run_parts = relieve_until_flag,
                                .argument = &flag,
                                .parts = 64};
        const soft_work set = {
            .kind = SOFT_WORK_CALL, .run = set_flag, .argument = &flag};
        CHECK(soft_queue_submit(a, &wait, NULL, 0, NULL) == GPH_OK);
        check_sleep_us(500);
        CHECK(soft_queue_submit(b, &set, NULL, 0, NULL) == GPH_OK);
        finish(engine, a);
        soft_engine_destroy(engine);
    }
}

/* A host function may wait for the program; it holds up its own queue alone. */
static void host_functions_run_apart(void)
{
    soft_engine *engine = make(1, 0);
    atomic_int flag = 0, other = 0;
    soft_queue *a = queue_of(engine, 0), *b = queue_of(engine, 0);
    const soft_work wait = {
        .kind = SOFT_WORK_HOST, .run = wait_for_flag, .argument = &flag};
    const soft_work set = {.kind = SOFT_WORK_CALL, .run = set_flag, .argument = &other};
    CHECK(soft_queue_submit(a, &wait, NULL, 0, NULL) == GPH_OK);
    CHECK(soft_queue_submit(b, &set, NULL, 0, NULL) == GPH_OK);
    finish(engine, b);
    CHECK(atomic_load(&other) == 1);
    CHECK(!soft_point_reached(soft_queue_tail(a)));
    atomic_store(&flag, 1);
    finish(engine, a);
    soft_engine_destroy(engine);
}

/* With one worker held up, what is submitted meanwhile runs by priority. */
static void runs_by_priority(void)
{
    soft_engine *engine = make(1, 0);
    atomic_int flag = 0;
    soft_queue *gate = queue_of(engine, 0);
    const soft_work wait = {
        .kind = SOFT_WORK_CALL, .run = wait_for_flag, .argument = &flag};
    CHECK(soft_queue_submit(gate, &wait, NULL, 0, NULL) == GPH_OK);
    check_sleep_us(5000); /* the worker is in it */
    trace *t = calloc(1, sizeof(*t));
    soft_queue *queues[5];
    for (uint32_t i = 0; i < 5; i++) {
        queues[i] = queue_of(engine, -(int)i);
        const soft_work work = step_work(t, i, SOFT_WORK_CALL);
        CHECK(soft_queue_submit(queues[i], &work, NULL, 0, NULL) == GPH_OK);
    }
    atomic_store(&flag, 1);
    while (atomic_load(&t->done) < 5) /* finish() would lend a hand, out of order */
        sched_yield();
    for (uint32_t i = 0; i < 5; i++)
        finish(engine, queues[i]);
    for (uint32_t i = 0; i < 5; i++)
        CHECK(t->order[i] == 4 - i);
    free(t);
    soft_engine_destroy(engine);
}

typedef struct producer {
    soft_engine *engine;
    soft_queue *queue;
    sums *s;
} producer;

static void *produce(void *argument)
{
    producer *p = argument;
    for (uint32_t i = 0; i < 2000; i++) {
        const soft_work work = {.kind = SOFT_WORK_PARTS,
                                .run_parts = add_parts,
                                .argument = p->s,
                                .parts = 1 + i % 5};
        soft_point point;
        CHECK(soft_queue_submit(p->queue, &work, NULL, 0, &point) == GPH_OK);
        if (i % 64 == 0)
            soft_point_wait(p->engine, point);
    }
    finish(p->engine, p->queue);
    return NULL;
}

static void threads_share_queues(void)
{
    soft_engine *engine = make(3, 0);
    sums s = {0};
    soft_queue *queues[2] = {queue_of(engine, 0), queue_of(engine, 0)};
    pthread_t threads[6];
    producer producers[6];
    for (int i = 0; i < 6; i++) {
        producers[i] = (producer){engine, queues[i % 2], &s};
        CHECK(pthread_create(&threads[i], NULL, produce, &producers[i]) == 0);
    }
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    CHECK(atomic_load(&s.parts) == 6 * 2000 * 3);
    soft_engine_destroy(engine);
}

static void survives_every_failed_allocation(void)
{
    for (long nth = 0;; nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {fault_realloc, &heap};
        const soft_engine_options options = {.workers = 2, .allocator = &allocator};
        soft_engine *engine = NULL;
        soft_queue *queue = NULL;
        gph_error error = {0};
        gph_status status = soft_engine_create(&options, &engine, &error);
        CHECK((engine != NULL) == (status == GPH_OK));
        if (status == GPH_OK) {
            status = soft_queue_create(engine, 0, &queue, &error);
            CHECK((queue != NULL) == (status == GPH_OK));
        }
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        soft_engine_destroy(engine);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (status == GPH_OK)
            return;
    }
}

static void refuses_too_many_workers(void)
{
    const soft_engine_options options = {.workers = 1000000};
    soft_engine *engine = NULL;
    gph_error error = {0};
    CHECK(soft_engine_create(&options, &engine, &error) == GPH_E_INVALID);
    CHECK(engine == NULL);
    CHECK(strstr(error.message, "1000000") != NULL);
}

int main(void)
{
    RUN(runs_in_order);
    RUN(runs_each_part_once);
    RUN(step_numbers_may_wrap);
    RUN(waits_between_queues);
    RUN(waits_for_many_points);
    RUN(recycles_queues);
    RUN(a_full_ring_blocks_and_goes_on);
    RUN(submits_do_not_wait);
    RUN(blocked_work_lets_other_queues_run);
    RUN(parts_in_order_may_wait_for_earlier_ones);
    RUN(waiting_work_can_relieve);
    RUN(host_functions_run_apart);
    RUN(runs_by_priority);
    RUN(threads_share_queues);
    RUN(survives_every_failed_allocation);
    RUN(refuses_too_many_workers);
    return test_done();
}
