// SPDX-License-Identifier: Apache-2.0
/* Work that is held back for the thread that waits for it (hold.c), and queues that change
 * their user: nothing is lost, nothing runs twice, whoever comes or does not come for it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine_check.h"
#include "softcuda/engine/state.h"

/* Launches that are waited for at once, until a queue's submissions are held back. */
enum { STREAK = 200, ROUNDS = 300, THREADS = 3, LIMIT_S = 60 };

static soft_engine *make(uint32_t workers, uint32_t seed)
{
    const soft_engine_options options = {.workers = workers, .random_seed = seed};
    soft_engine *engine = NULL;
    CHECK(soft_engine_create(&options, &engine, NULL) == GPH_OK);
    return engine;
}

static soft_queue *queue_of(soft_engine *engine)
{
    soft_queue *queue = NULL;
    CHECK(soft_queue_create(engine, 0, &queue, NULL) == GPH_OK);
    return queue;
}

static void count(void *argument, soft_worker *worker)
{
    (void)worker;
    atomic_fetch_add_explicit((atomic_uint *)argument, 1, memory_order_relaxed);
}

static void submit(soft_queue *queue, atomic_uint *counter, soft_point *out)
{
    const soft_work work = {.kind = SOFT_WORK_CALL, .run = count, .argument = counter};
    CHECK(soft_queue_submit(queue, &work, NULL, 0, out) == GPH_OK);
}

static void streak(soft_engine *engine, soft_queue *queue, atomic_uint *counter)
{
    for (unsigned i = 0; i < STREAK; i++) {
        soft_point point;
        const unsigned before = atomic_load(counter);
        submit(queue, counter, &point);
        soft_point_wait(engine, point);
        CHECK(atomic_load(counter) == before + 1);
    }
}

/* Whether a number is reached although nobody waits by the engine. */
static bool comes(const atomic_uint *counter, unsigned number)
{
    const uint64_t from = gphi_clock_ns();
    while (atomic_load(counter) < number)
        if (gphi_clock_ns() - from > LIMIT_S * UINT64_C(1000000000))
            return false;
    return true;
}

/* The first that nobody comes for, while workers spin, nap and sleep. */
static void nobody_comes(void)
{
    static const unsigned pauses_us[] = {0, 1000, 30000};
    for (unsigned workers = 1; workers <= 3; workers++)
        for (unsigned i = 0; i < 3; i++) {
            soft_engine *engine = make(workers, 0);
            soft_queue *queue = queue_of(engine);
            atomic_uint counter = 0;
            streak(engine, queue, &counter);
            const struct timespec pause = {.tv_nsec = (long)pauses_us[i] * 1000};
            nanosleep(&pause, NULL);
            submit(queue, &counter, NULL);
            CHECK(comes(&counter, STREAK + 1));
            soft_engine_destroy(engine);
        }
}

/* What is held back is wanted by another queue, by a wait that cannot help, by the queue's
 * release, by a full ring. */
static void others_want_it(void)
{
    soft_engine *engine = make(2, 0);
    soft_queue *queue = queue_of(engine), *other = queue_of(engine);
    atomic_uint counter = 0, second = 0;
    soft_point point, last;
    streak(engine, queue, &counter);
    submit(queue, &counter, &point);
    const soft_work work = {.kind = SOFT_WORK_CALL, .run = count, .argument = &second};
    CHECK(soft_queue_submit(other, &work, &point, 1, &last) == GPH_OK);
    soft_point_wait(engine, last);
    CHECK(atomic_load(&counter) == STREAK + 1 && atomic_load(&second) == 1);

    streak(engine, queue, &counter);
    submit(queue, &counter, &point);
    CHECK(soft_point_wait_for(engine, point, LIMIT_S * UINT64_C(1000000000)));

    streak(engine, queue, &counter);
    for (unsigned i = 0; i < 3000; i++)
        submit(queue, &counter, &point);
    soft_point_wait(engine, point);
    CHECK(atomic_load(&counter) == 3 * STREAK + 3002);

    streak(engine, queue, &counter);
    submit(queue, &counter, NULL);
    soft_queue_release(queue);
    CHECK(comes(&counter, 4 * STREAK + 3003));
    soft_engine_destroy(engine);
}

typedef struct user {
    pthread_t thread;
    soft_engine *engine;
    uint64_t state;
    atomic_uint counter;
    unsigned submitted;
    atomic_uint *wrong;
} user;

static unsigned draw(user *u, unsigned below)
{
    u->state = u->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(u->state >> 33) % below;
}

/* Streaks of all lengths, with submissions that nobody waits for between them; now and then
 * the queue is given up with work in it, and what comes instead has none. */
static void *use(void *argument)
{
    user *u = argument;
    soft_queue *queue = queue_of(u->engine);
    for (unsigned round = 0; round < ROUNDS; round++) {
        soft_point point = {0};
        for (unsigned i = draw(u, 40); i > 0; i--) {
            submit(queue, &u->counter, &point);
            u->submitted++;
            soft_point_wait(u->engine, point);
            if (atomic_load(&u->counter) != u->submitted)
                atomic_fetch_add(u->wrong, 1);
        }
        for (unsigned i = draw(u, 4); i > 0; i--, u->submitted++)
            submit(queue, &u->counter, NULL);
        if (draw(u, 2) == 0)
            soft_point_wait(u->engine, soft_queue_tail(queue));
        if (draw(u, 3) != 0)
            continue;
        const soft_point last = soft_queue_tail(queue);
        soft_queue_release(queue);
        queue = queue_of(u->engine);
        if (!soft_point_reached(soft_queue_tail(queue))) /* another one's work */
            atomic_fetch_add(u->wrong, 1);
        soft_point_wait(u->engine, last);
    }
    soft_point_wait(u->engine, soft_queue_tail(queue));
    return NULL;
}

static void many_users(void)
{
    for (unsigned seed = 0; seed < 2; seed++)
        for (unsigned workers = 1; workers <= 3; workers++) {
            soft_engine *engine = make(workers, seed * 11);
            user users[THREADS] = {0};
            atomic_uint wrong = 0;
            for (unsigned i = 0; i < THREADS; i++) {
                users[i].engine = engine;
                users[i].state = seed * 100 + workers * 10 + i;
                users[i].wrong = &wrong;
                CHECK(pthread_create(&users[i].thread, NULL, use, &users[i]) == 0);
            }
            for (unsigned i = 0; i < THREADS; i++) {
                pthread_join(users[i].thread, NULL);
                CHECK(comes(&users[i].counter, users[i].submitted));
                CHECK(atomic_load(&users[i].counter) == users[i].submitted);
            }
            CHECK(atomic_load(&wrong) == 0);
            soft_engine_destroy(engine);
        }
}

/* ---- what work has fired ----------------------------------------------------------- */

enum { FIRED = 150 }; /* more than a worker keeps for itself */

struct fired {
    soft_program *program;
    soft_queue *queue;
    atomic_uint *ended;
    soft_work work;
};

struct firing {
    struct fired fired[FIRED];
    soft_engine *engine;
    atomic_uint ran, ended, late;
    bool waits, relieves; /* for all of them, as a kernel that looks at a flag */
};

static void fired_ends(void *argument, soft_worker *worker)
{
    struct fired *fired = argument;
    (void)worker;
    atomic_fetch_add(fired->ended, 1);
}

static void fire_all(void *argument, soft_worker *worker)
{
    struct firing *f = argument;
    const unsigned before = atomic_load(&f->ran);
    for (int i = 0; i < FIRED; i++)
        CHECK(soft_queue_relaunch(f->fired[i].queue, f->fired[i].program,
                                  &f->fired[i].work, fired_ends, &f->fired[i],
                                  worker) == GPH_OK);
    const uint64_t from = gphi_clock_ns();
    while (f->waits && atomic_load(&f->ran) < before + FIRED) {
        if (f->relieves)
            soft_worker_relieve(worker);
        if (gphi_clock_ns() - from > LIMIT_S * UINT64_C(1000000000)) {
            atomic_fetch_add(&f->late, 1);
            return;
        }
    }
}

static void set_up_firing(struct firing *f, soft_engine *engine)
{
    const uint8_t kind = SOFT_WORK_CALL;
    f->engine = engine;
    for (int i = 0; i < FIRED; i++) {
        struct fired *fired = &f->fired[i];
        gph_error error = {0};
        fired->ended = &f->ended;
        fired->work =
            (soft_work){.kind = SOFT_WORK_CALL, .run = count, .argument = &f->ran};
        fired->queue = queue_of(engine);
        soft_queue_shorten(fired->queue);
        CHECK_OK(
            soft_program_create(engine, 1, NULL, 0, &kind, NULL, &fired->program, &error),
            error);
    }
}

/* Each is run once: by who fired it when its work is over, by others where that waits, whether
 * they look for work, work or sleep. */
static void what_is_fired_runs_once(void)
{
    for (uint32_t workers = 1; workers <= 4; workers++)
        for (int way = 0; way < 3; way++) {
            static struct firing f;
            soft_engine *engine = make(workers, 0);
            soft_queue *queue = queue_of(engine);
            const soft_work fire = {
                .kind = SOFT_WORK_CALL, .run = fire_all, .argument = &f};
            memset(&f, 0, sizeof(f));
            set_up_firing(&f, engine);
            f.waits = way > 0 && (workers > 1 || way == 2);
            f.relieves = way == 2;
            for (unsigned round = 1; round <= 12; round++) {
                soft_point point;
                if (round % 4 == 0)
                    usleep(30000); /* all sleep */
                CHECK(soft_queue_submit(queue, &fire, NULL, 0, &point) == GPH_OK);
                if (round % 2 == 0)
                    soft_point_wait(engine, point);
                CHECK(comes(&f.ended, round * FIRED));
                CHECK(atomic_load(&f.ran) == round * FIRED && atomic_load(&f.late) == 0);
                for (int i = 0; i < FIRED; i++)
                    soft_point_wait(engine, soft_queue_tail(f.fired[i].queue));
            }
            for (int i = 0; i < FIRED; i++) {
                soft_program_destroy(f.fired[i].program);
                soft_queue_release(f.fired[i].queue);
            }
            soft_queue_release(queue);
            soft_engine_destroy(engine);
        }
}

/* ---- launches that are waited for at once ------------------------------------------ */

struct pairs {
    pthread_t thread;
    soft_engine *engine;
    atomic_uint ran, ended, wrong;
    atomic_bool stop;
};

static void launch_ends(void *argument, soft_worker *worker)
{
    struct pairs *p = argument;
    (void)worker;
    atomic_fetch_add(&p->ended, 1);
}

/* One thread's own launches, ordered by itself; now and then into another queue, where they
 * wait for the one before. */
static void *launch_and_wait(void *argument)
{
    struct pairs *p = argument;
    const uint8_t kind = SOFT_WORK_CALL;
    soft_program *program = NULL;
    const soft_work work = {.kind = SOFT_WORK_CALL, .run = count, .argument = &p->ran};
    const soft_launched launch = {NULL, &work, launch_ends, p};
    soft_queue *const queues[] = {queue_of(p->engine), queue_of(p->engine)};
    soft_point last = {0};
    if (soft_program_create(p->engine, 1, NULL, 0, &kind, NULL, &program, NULL) != GPH_OK)
        return NULL;
    soft_launched own = launch;
    own.program = program;
    for (unsigned i = 1; !atomic_load(&p->stop); i++) {
        soft_queue *queue = queues[i % 512 == 0];
        const uint64_t sequence = soft_queue_launch_kept(queue, &own, &last, 1);
        last = (soft_point){queue, sequence};
        if (i % 700 != 0)
            soft_point_wait(p->engine, last);
        if (i % 700 != 0 && (atomic_load(&p->ran) != i || atomic_load(&p->ended) != i))
            atomic_fetch_add(&p->wrong, 1);
    }
    soft_point_wait(p->engine, last);
    soft_program_destroy(program);
    soft_queue_release(queues[0]);
    soft_queue_release(queues[1]);
    return NULL;
}

/* Threads take the last worker's place and give it back a million times a second: who has work
 * for that worker still wakes it. */
static void what_comes_beside_is_run(void)
{
    for (uint32_t workers = 1; workers <= 2; workers++) {
        soft_engine *engine = make(workers, 0);
        struct pairs pairs[2] = {{.engine = engine}, {.engine = engine}};
        for (int i = 0; i < 2; i++)
            CHECK(pthread_create(&pairs[i].thread, NULL, launch_and_wait, &pairs[i]) ==
                  0);
        soft_queue *queue = queue_of(engine);
        atomic_uint counter = 0;
        for (unsigned i = 1; i <= 300; i++) {
            submit(queue, &counter, NULL);
            CHECK(comes(&counter, i));
            if (i % 100 == 0)
                usleep(15000); /* workers sleep */
        }
        for (int i = 0; i < 2; i++) {
            atomic_store(&pairs[i].stop, true);
            pthread_join(pairs[i].thread, NULL);
            CHECK(atomic_load(&pairs[i].wrong) == 0 && atomic_load(&pairs[i].ran) > 0);
        }
        soft_queue_release(queue);
        soft_engine_destroy(engine);
    }
}

/* A thread that waits, and runs what it has launched, leaves no bit that wakes a worker after
 * each launch, for nothing. */
static void who_owns_a_queue_takes_its_bit(void)
{
    soft_engine *engine = make(1, 0);
    soft_queue *queue = queue_of(engine);
    _Atomic uint64_t *const pending = &engine->bits[queue->index / 64].pending;
    const uint64_t bit = UINT64_C(1) << (queue->index % 64);
    uint32_t nobody = PLACE_FREE;
    while (!atomic_compare_exchange_strong(&engine->place, &nobody, PLACE_HELPER))
        nobody = PLACE_FREE; /* the only worker spins, and then sleeps without a place */
    soft_queue_pend(queue);
    CHECK((atomic_load(pending) & bit) != 0);
    CHECK(soft_queue_own(queue));
    CHECK((atomic_load(pending) & bit) == 0);

    atomic_uint counter = 0; /* what comes meanwhile is not lost with it */
    submit(queue, &counter, NULL);
    soft_queue_let_go(queue);
    CHECK((atomic_load(pending) & bit) != 0 && atomic_load(&counter) == 0);
    atomic_store(&engine->place, PLACE_FREE);
    soft_engine_wake(engine);
    CHECK(comes(&counter, 1));
    soft_queue_release(queue);
    soft_engine_destroy(engine);
}

/* An owner waits a moment for the next of a row: rows of all lengths, with and without breaks,
 * in queues that are given back at once and used again while an owner may still be there. */
static void rows_in_queues_that_change_hands(void)
{
    for (uint32_t workers = 1; workers <= 3; workers++) {
        soft_engine *engine = make(workers, 0);
        atomic_uint counter = 0;
        unsigned sum = 0;
        for (unsigned round = 0; round < 600; round++) {
            soft_queue *queue = queue_of(engine);
            const unsigned count = round * 7 % 40 + (round % 97 == 0 ? 3000 : 1);
            soft_point last = {0};
            for (unsigned i = 0; i < count; i++) {
                submit(queue, &counter, &last);
                if (round % 3 == 0 && i % 5 == 0)
                    for (const uint64_t from = gphi_clock_ns();
                         gphi_clock_ns() - from < round * 2;)
                        continue;
            }
            sum += count;
            if (round % 4 == 0)
                soft_point_wait(engine, last);
            soft_queue_release(queue);
        }
        CHECK(comes(&counter, sum));
        usleep(1000);
        CHECK(atomic_load(&counter) == sum);
        soft_engine_destroy(engine);
    }
}

int main(void)
{
    RUN(rows_in_queues_that_change_hands);
    RUN(what_comes_beside_is_run);
    RUN(who_owns_a_queue_takes_its_bit);
    RUN(nobody_comes);
    RUN(others_want_it);
    RUN(many_users);
    RUN(what_is_fired_runs_once);
    return test_done();
}
