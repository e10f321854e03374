// SPDX-License-Identifier: Apache-2.0
/* Orders drawn from a seed: legal ones, others for another seed and another launch, the
 * same for the same seed. */
#define _GNU_SOURCE
#include "engine_check.h"
#include "fault.h"

enum { NODES = 60, LAUNCHES = 6, PARTS = 24 };

/* The order in which the nodes of the running launch began, and of each launch before. */
typedef struct record {
    atomic_uint next;
    uint32_t order[NODES];
    uint32_t launches[LAUNCHES][NODES];
    uint32_t launch;
    bool illegal;
} record;

typedef struct node {
    record *record;
    uint32_t index;
    uint32_t pred_count, pred[4];
    struct node *nodes;
    atomic_uint done; /* launches */
    atomic_uint left; /* parts of this launch */
} node;

static void begin(node *n)
{
    for (uint32_t i = 0; i < n->pred_count; i++)
        if (atomic_load_explicit(&n->nodes[n->pred[i]].done, memory_order_relaxed) !=
            n->record->launch + 1)
            n->record->illegal = true;
    n->record
        ->order[atomic_fetch_add_explicit(&n->record->next, 1, memory_order_relaxed)] =
        n->index;
}

static void run(void *argument, soft_worker *worker)
{
    (void)worker;
    node *n = argument;
    begin(n);
    atomic_fetch_add_explicit(&n->done, 1, memory_order_relaxed);
}

static void run_parts(void *argument, soft_parts *parts, soft_worker *worker)
{
    (void)worker;
    node *n = argument;
    uint64_t first, count;
    while ((count = soft_parts_claim(parts, 0, &first)) != 0) {
        unsigned left =
            atomic_fetch_sub_explicit(&n->left, (unsigned)count, memory_order_relaxed);
        if (left == PARTS)
            begin(n);
        if (left == count) {
            atomic_store_explicit(&n->left, PARTS, memory_order_relaxed);
            atomic_fetch_add_explicit(&n->done, 1, memory_order_relaxed);
        }
    }
}

static atomic_uint polls;

static bool poll(void *argument)
{
    if (atomic_fetch_add_explicit(&polls, 1, memory_order_relaxed) % 3 != 2)
        return false;
    run(argument, NULL);
    return true;
}

static void done(void *argument, soft_worker *worker)
{
    (void)worker;
    record *r = argument;
    if (r->launch < LAUNCHES)
        memcpy(r->launches[r->launch], r->order, sizeof(r->order));
    r->launch++;
    atomic_store_explicit(&r->next, 0, memory_order_relaxed);
}

static soft_engine *make(uint32_t workers, uint32_t seed)
{
    const soft_engine_options options = {.workers = workers, .random_seed = seed};
    soft_engine *engine = NULL;
    gph_error error = {0};
    CHECK_OK(soft_engine_create(&options, &engine, &error), error);
    return engine;
}

/* Kinds of the nodes, drawn; edges from lower to higher numbers. */
enum { PLAIN, WITH_HOST, WITH_POLL };

typedef struct dag {
    node nodes[NODES];
    soft_work works[NODES];
    uint8_t kinds[NODES];
    soft_edge edges[4 * NODES];
    uint32_t edge_count;
} dag;

static void make_dag(dag *d, record *r, int with)
{
    memset(d, 0, sizeof(*d));
    for (uint32_t i = 0; i < NODES; i++) {
        node *n = &d->nodes[i];
        *n = (node){.record = r, .index = i, .nodes = d->nodes, .left = PARTS};
        const uint32_t draw = check_random(8);
        soft_work *work = &d->works[i];
        work->argument = n;
        work->run = run;
        work->kind = SOFT_WORK_CALL;
        if (draw < 2) {
            *work = (soft_work){.kind = SOFT_WORK_PARTS,
                                .run_parts = run_parts,
                                .argument = n,
                                .parts = PARTS};
        } else if (draw == 2 && with == WITH_HOST) {
            work->kind = SOFT_WORK_HOST;
        } else if (draw == 2 && with == WITH_POLL) {
            work->kind = SOFT_WORK_POLL;
            work->poll = poll;
        }
        d->kinds[i] = (uint8_t)work->kind;
        n->pred_count = i == 0 ? 0 : check_random(4);
        for (uint32_t e = 0; e < n->pred_count; e++) {
            n->pred[e] = check_random(i);
            d->edges[d->edge_count++] = (soft_edge){n->pred[e], i};
        }
    }
}

/* Launches a dag a few times; the orders are in the record. The same `dag_seed`, the same
 * dag. */
static void replay(uint32_t workers, uint32_t seed, int with, uint64_t dag_seed,
                   record *r)
{
    static dag d;
    memset(r, 0, sizeof(*r));
    check_seed = dag_seed;
    make_dag(&d, r, with);
    soft_engine *engine = make(workers, seed);
    soft_queue *queue = NULL;
    soft_program *program = NULL;
    gph_error error = {0};
    CHECK_OK(soft_queue_create(engine, 0, &queue, &error), error);
    CHECK_OK(soft_program_create(engine, NODES, d.edges, d.edge_count, d.kinds, NULL,
                                 &program, &error),
             error);
    for (uint32_t i = 0; i < LAUNCHES; i++)
        CHECK(soft_queue_launch(queue, program, d.works, done, r, NULL, 0, NULL) ==
              GPH_OK);
    soft_point_wait(engine, soft_queue_tail(queue));
    soft_program_destroy(program);
    soft_engine_destroy(engine);
    CHECK(r->launch == LAUNCHES);
    CHECK(!r->illegal);
    for (uint32_t i = 0; i < NODES; i++)
        CHECK(atomic_load(&d.nodes[i].done) == LAUNCHES);
}

static bool same(const record *a, const record *b)
{
    return memcmp(a->launches, b->launches, sizeof(a->launches)) == 0;
}

/* One worker: the order depends on nothing but the seed. */
static void one_worker_repeats_what_a_seed_says(void)
{
    static record a, b;
    for (int with = PLAIN; with <= WITH_HOST; with++)
        for (uint32_t seed = 1; seed <= 5; seed++) {
            replay(1, seed, with, 77 + seed, &a);
            replay(1, seed, with, 77 + seed, &b);
            CHECK(same(&a, &b));
            for (uint32_t i = 1; i < LAUNCHES; i++)
                CHECK(memcmp(a.launches[i - 1], a.launches[i], sizeof(a.order)) != 0);
            replay(1, seed + 1, with, 77 + seed, &b);
            CHECK(!same(&a, &b));
        }
}

static void without_a_seed_one_worker_knows_one_order(void)
{
    static record a;
    replay(1, 0, WITH_HOST, 99, &a);
    for (uint32_t i = 1; i < LAUNCHES; i++)
        CHECK(memcmp(a.launches[0], a.launches[i], sizeof(a.order)) == 0);
}

static void any_number_of_workers_keeps_every_edge(void)
{
    static record a, b;
    for (uint32_t workers = 1; workers <= 8; workers++)
        for (int with = PLAIN; with <= WITH_POLL; with++) {
            replay(workers, 3, with, 1000 + workers, &a);
            replay(workers, 4, with, 1000 + workers, &b);
            CHECK(!same(&a, &b));
        }
}

/* ---- parts ------------------------------------------------------------------------- */

typedef struct parts_record {
    uint32_t count;
    uint32_t order[PARTS];
} parts_record;

static void note_parts(void *argument, soft_parts *parts, soft_worker *worker)
{
    (void)worker;
    parts_record *r = argument;
    uint64_t first, count;
    while ((count = soft_parts_claim(parts, 5, &first)) != 0)
        for (uint64_t i = first; i < first + count && r->count < PARTS; i++)
            r->order[r->count++] = (uint32_t)i;
}

/* Runs one piece of work on one worker; true if its parts ran by index. */
static bool runs_by_index(soft_engine *engine, bool in_order, bool all_at_once)
{
    parts_record r = {0};
    const soft_work work = {.kind = SOFT_WORK_PARTS,
                            .in_order = in_order,
                            .all_at_once = all_at_once,
                            .run_parts = note_parts,
                            .argument = &r,
                            .parts = PARTS};
    soft_queue *queue = NULL;
    gph_error error = {0};
    CHECK_OK(soft_queue_create(engine, 0, &queue, &error), error);
    CHECK(soft_queue_submit(queue, &work, NULL, 0, NULL) == GPH_OK);
    soft_point_wait(engine, soft_queue_tail(queue));
    bool seen[PARTS] = {false}, by_index = true;
    CHECK(r.count == PARTS);
    for (uint32_t i = 0; i < r.count; i++) {
        by_index = by_index && r.order[i] == i;
        CHECK(!seen[r.order[i]]);
        seen[r.order[i]] = true;
    }
    return by_index;
}

static void parts_start_in_any_order_unless_they_must_not(void)
{
    uint32_t others = 0;
    for (uint32_t seed = 1; seed <= 20; seed++) {
        soft_engine *engine = make(1, seed);
        others += !runs_by_index(engine, false, false);
        CHECK(runs_by_index(engine, true, false));
        CHECK(runs_by_index(engine, false, true));
        soft_engine_destroy(engine);
    }
    CHECK(others >= 10);
    soft_engine *engine = make(1, 0);
    CHECK(runs_by_index(engine, false, false));
    soft_engine_destroy(engine);
}

/* ---- queues ------------------------------------------------------------------------ */

enum { QUEUES = 8 };

typedef struct queue_record {
    atomic_uint gate; /* 1: the worker is here, 2: it may go on */
    atomic_uint next;
    uint32_t order[QUEUES];
} queue_record;

typedef struct queue_work {
    queue_record *record;
    uint32_t index;
} queue_work;

static void wait_at_gate(void *argument, soft_worker *worker)
{
    (void)worker;
    queue_record *r = argument;
    atomic_store(&r->gate, 1);
    while (atomic_load(&r->gate) != 2)
        sched_yield();
}

static void note_queue(void *argument, soft_worker *worker)
{
    (void)worker;
    const queue_work *w = argument;
    w->record->order[atomic_fetch_add(&w->record->next, 1)] = w->index;
}

static void one_order_of_queues(uint32_t seed, uint32_t *order)
{
    queue_record r = {0};
    queue_work works[QUEUES];
    soft_engine *engine = make(1, seed);
    soft_queue *queue[QUEUES + 1] = {NULL};
    gph_error error = {0};
    for (uint32_t i = 0; i <= QUEUES; i++)
        CHECK_OK(soft_queue_create(engine, 0, &queue[i], &error), error);
    const soft_work gate = {.kind = SOFT_WORK_CALL, .run = wait_at_gate, .argument = &r};
    CHECK(soft_queue_submit(queue[QUEUES], &gate, NULL, 0, NULL) == GPH_OK);
    while (atomic_load(&r.gate) == 0)
        sched_yield();
    for (uint32_t i = 0; i < QUEUES; i++) {
        works[i] = (queue_work){&r, i};
        const soft_work work = {
            .kind = SOFT_WORK_CALL, .run = note_queue, .argument = &works[i]};
        CHECK(soft_queue_submit(queue[i], &work, NULL, 0, NULL) == GPH_OK);
    }
    atomic_store(&r.gate, 2);
    /* A thread that waits would choose the queue itself, so it looks. */
    for (uint32_t i = 0; i < QUEUES; i++)
        while (!soft_point_reached(soft_queue_tail(queue[i])))
            sched_yield();
    memcpy(order, r.order, sizeof(r.order));
    for (uint32_t i = 0; i <= QUEUES; i++)
        soft_point_wait(engine, soft_queue_tail(queue[i]));
    soft_engine_destroy(engine);
}

static void queues_start_in_any_order(void)
{
    uint32_t first[QUEUES], order[QUEUES], others = 0;
    one_order_of_queues(1, first);
    for (uint32_t seed = 2; seed <= 10; seed++) {
        one_order_of_queues(seed, order);
        others += memcmp(first, order, sizeof(first)) != 0;
    }
    CHECK(others >= 5);
}

/* ---- a launch ends once ------------------------------------------------------------ */

enum { TURNS = 50000 };

typedef struct turn {
    atomic_uint ended;
    uint32_t launched;
} turn;

static void rest(void *argument, soft_worker *worker)
{
    (void)argument;
    (void)worker;
}

static void end_turn(void *argument, soft_worker *worker)
{
    (void)worker;
    turn *t = argument;
    atomic_fetch_add(&t->ended, 1);
}

/* Two programs take turns in a queue, with more workers than there are CPUs: who has begun a
 * launch may have lost its CPU when the others are at the next one. */
static void each_launch_ends_once(void)
{
    soft_engine *engine = make(7, 7);
    soft_queue *queue = NULL;
    soft_program *programs[2] = {NULL, NULL};
    turn turns[2] = {0};
    const uint8_t kinds[2] = {SOFT_WORK_CALL, SOFT_WORK_CALL};
    const soft_work work = {.kind = SOFT_WORK_CALL, .run = rest};
    const soft_work works[2] = {work, work};
    gph_error error = {0};
    uint32_t wrong = 0;
    CHECK_OK(soft_queue_create(engine, 0, &queue, &error), error);
    for (int i = 0; i < 2; i++)
        CHECK_OK(
            soft_program_create(engine, 2, NULL, 0, kinds, NULL, &programs[i], &error),
            error);
    for (uint32_t i = 0; i < TURNS && wrong == 0; i++) {
        turn *t = &turns[i % 2];
        soft_point point;
        t->launched++;
        CHECK(soft_queue_launch(queue, programs[i % 2], works, end_turn, t, NULL, 0,
                                &point) == GPH_OK);
        soft_point_wait(engine, point);
        wrong += atomic_load(&t->ended) != t->launched;
    }
    CHECK(wrong == 0);
    for (int i = 0; i < 2 && wrong == 0; i++)
        soft_program_destroy(programs[i]);
    soft_engine_destroy(engine);
}

/* ---- want of memory ---------------------------------------------------------------- */

static void every_allocation_may_fail(void)
{
    static record r;
    static dag d;
    check_seed = 5;
    make_dag(&d, &r, PLAIN);
    for (long nth = 0;; nth++) {
        fault_heap heap = {.fail_at = -1};
        const gph_allocator allocator = {fault_realloc, &heap};
        const soft_engine_options options = {
            .workers = 2, .random_seed = 9, .allocator = &allocator};
        soft_engine *engine = NULL;
        soft_queue *queue = NULL;
        soft_program *program = NULL;
        gph_error error = {0};
        CHECK_OK(soft_engine_create(&options, &engine, &error), error);
        CHECK_OK(soft_queue_create(engine, 0, &queue, &error), error);
        atomic_store(&heap.fail_at, nth);
        const gph_status status = soft_program_create(
            engine, NODES, d.edges, d.edge_count, d.kinds, NULL, &program, &error);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        memset(&r, 0, sizeof(r));
        for (uint32_t i = 0; i < NODES; i++)
            atomic_store(&d.nodes[i].done, 0);
        for (uint32_t i = 0; status == GPH_OK && i < LAUNCHES; i++)
            CHECK(soft_queue_launch(queue, program, d.works, done, &r, NULL, 0, NULL) ==
                  GPH_OK);
        soft_point_wait(engine, soft_queue_tail(queue));
        CHECK(r.launch == (status == GPH_OK ? LAUNCHES : 0) && !r.illegal);
        soft_program_destroy(program);
        soft_engine_destroy(engine);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (atomic_load(&heap.fail_at) >= 0) /* nothing has failed: plans neither */
            break;
    }
}

int main(void)
{
    RUN(one_worker_repeats_what_a_seed_says);
    RUN(without_a_seed_one_worker_knows_one_order);
    RUN(any_number_of_workers_keeps_every_edge);
    RUN(parts_start_in_any_order_unless_they_must_not);
    RUN(queues_start_in_any_order);
    RUN(each_launch_ends_once);
    RUN(every_allocation_may_fail);
    return test_done();
}
