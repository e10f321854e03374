// SPDX-License-Identifier: Apache-2.0
/* What the files of the engine share.
 *
 * From the top; each calls only what is below it:
 *
 *   engine.c   threads: workers, places, sleep, waiting and helping
 *   await.c    waits of work, in the middle of it
 *   queue.c    what the owner of a queue runs
 *   program.c  compiling a graph; running its nodes in order
 *   random.c   orders drawn from a seed
 *   planrun.c  running a plan
 *   plan.c     making one
 *   park.c     work that waits for the world outside
 *   parts.c    one piece of work split over the team (the step of a queue)
 *   host.c     the thread for host functions
 *   ring.c     rings of submissions, ownership, completion of points
 *   hold.c     submissions that no worker hears of: their submitter comes for them
 *   wake.c     lines, futexes, draws, the wake of a worker
 *   tick.c     time stamps
 *
 * Who may touch a queue's run: its owner, that is who moved `state` from QUEUE_IDLE to
 * QUEUE_RUNNING. Ownership passes from thread to thread without a lock: to whoever
 * finishes the last part of a wide step, to the host thread, back to QUEUE_IDLE. */
#ifndef SOFT_ENGINE_STATE_H
#define SOFT_ENGINE_STATE_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>

#include "softcuda/engine/engine.h"
#include "softcuda/engine/wordlock.h"

enum {
    CACHE_LINE = 64,
    RING_PLACES = 1024, /* submissions in flight in a queue, a power of two */
    RING_FEW = 4,       /* in a queue of one launch at a time: these stay in the cache */
    RING_WAITS = 4,     /* points one place holds; more take places of their own */
    QUEUE_WORDS = 1024, /* of 64 queues each */
    QUEUE_MAX = QUEUE_WORDS * 64,
    VISITS_MAX = 4,
    SHARES_MAX = 255, /* eight bits of a step's word */
    UNITS_MAX = (1 << 24) - 1,
    SPLIT_MIN_NS = 600,    /* gain for which work is split: two hand-overs and some */
    CROWDED_MIN_NS = 5000, /* ... where workers outnumber CPUs */
    WAKE_MIN_NS = 60000,   /* cheaper work is not worth a wake (25 us, 9 of them ours) */
    LATER_PLACES = 128,    /* queues that a worker keeps for itself, a power of two */
    LATER_MOST_NS = 5000,  /* more expensive programs are given to the team at once */
    LATER_NODES = 4,       /* longer ones, too */
};

/* Time stamps of about 10 ns each; cheaper than the clock where there is a counter. */
#if defined(__x86_64__)
static inline uint64_t soft_ticks(void)
{
    return __builtin_ia32_rdtsc();
}
#else
uint64_t soft_ticks(void);
#endif
double soft_tick_ns(void);     /* nanoseconds a tick, measured once */
uint64_t soft_tick_cost(void); /* ticks that a time stamp takes, at least */

static inline void soft_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Work that is open to the team: one a queue, used again for each wide piece of work.
 *
 *   open       epoch:32 | shares:8 | units:24      all that a claim has to know
 *   share[i]   epoch:32 | units left:32            a cache line each, after the queue
 *
 * The units are cut into as many runs as there are workers (one run if they have to
 * start in order), and each worker begins with the run of its slot: a line that only it
 * writes, and the same part of the data in grid after grid. A worker that is done takes from other
 * runs. A share of an older epoch is untouched, so opening writes one line; one of a
 * later epoch says that the claimant is late. An epoch is over only when every unit of
 * it has been claimed, so that the compare and swap of who comes late cannot succeed.
 * Everything behind a pointer may be read only after a successful claim. */
typedef struct soft_step {
    alignas(CACHE_LINE) _Atomic uint64_t open;
    _Atomic uint32_t chunk;   /* units worth a claim */
    _Atomic uint16_t base;    /* the slot whose share is the first */
    _Atomic uint8_t timed;    /* this epoch adds up `ticks` */
    _Atomic uint8_t patience; /* rounds for which others' shares are left alone */
    _Atomic uint64_t unit;    /* parts a unit: 1 but for absurd grids */
    soft_work work;           /* read after a claim only */
    alignas(CACHE_LINE) _Atomic uint32_t finished; /* units */
    _Atomic uint64_t ticks;                        /* spent in it, by all workers */
    /* With a seed: unit i stands for i * stride + offset, modulo units. 0: for itself. */
    _Atomic uint32_t stride, offset;
} soft_step;

/* One line to write for who opens it, one to read for who comes. */
_Static_assert(offsetof(soft_step, work) + sizeof(soft_work) <= CACHE_LINE, "a line");

typedef struct soft_share {
    alignas(CACHE_LINE) _Atomic uint64_t word;
} soft_share;

/* RELAUNCH: a launch whose program others hold. */
enum submission_kind { SUBMIT_WORK, SUBMIT_LAUNCH, SUBMIT_RELAUNCH };

typedef struct soft_submission {
    uint32_t kind;
    uint32_t wait_count;
    soft_point waits[RING_WAITS];
    union {
        soft_work work;
        soft_launched launch;
    } u;
} soft_submission;

enum queue_state {
    QUEUE_IDLE,    /* whoever comes may own it */
    QUEUE_RUNNING, /* owned */
    QUEUE_BLOCKED  /* in the waiters of another queue; whoever pops it makes it idle */
};

/* Host functions, one after the other. */
typedef struct soft_host_row {
    const soft_work *works;
    const uint32_t *order; /* into `works`; NULL: there is one */
    uint32_t count;
} soft_host_row;

struct soft_queue {
    soft_engine *engine;
    uint32_t index;
    _Atomic int priority;
    soft_submission *ring;
    _Atomic uint32_t places; /* of the ring in use: a power of two, changed while idle */
    soft_queue *next_free;   /* under the engine's mutex */
    soft_light submit;       /* the order of submissions */
    _Atomic uint32_t released; /* to be recycled when idle */
    _Atomic bool is_fence;     /* nothing of it runs: who waits for it cannot help */
    _Atomic bool is_nested;    /* of work that waits for it: await.c */

    /* Written by submitters. */
    alignas(CACHE_LINE) _Atomic uint64_t tail; /* the last submission, 0: none yet */
    uint64_t
        reached; /* `done` as it was last looked at, under `submit`: a place is free */

    /* hold.c */
    _Atomic bool waited;   /* somebody waits, or has waited, for the last submission */
    _Atomic bool held;     /* submissions are held back */
    uint32_t streak;       /* of those that were waited for; under `submit`, as */
    uint32_t penalty;      /* submissions by which the next streak must be longer */
    _Atomic uint64_t seen; /* the tail when a watcher last found work left */

    /* Looked at by each submission, and written where owners change. */
    alignas(CACHE_LINE) _Atomic uint32_t state;
    _Atomic uint32_t signal;   /* futex: changes when `done` does and somebody sleeps */
    _Atomic uint32_t sleepers; /* threads on `signal` */
    _Atomic(soft_queue *) waiters;    /* queues blocked on this one, linked by next */
    _Atomic(soft_queue *) next;       /* in the waiters of the queue it is blocked on */
    _Atomic(soft_queue *) blocked_on; /* for helpers; may be stale */
    _Atomic uint64_t blocked_until;

    /* Written by the owner for each submission. */
    alignas(CACHE_LINE) _Atomic uint64_t done; /* the last one completed */
    uint32_t vain; /* how often in a row its owner waited for one more and none came */
    /* The run of the head submission: the owner's, written in each round of a loop. Who waits
     * looks at `done` all the time. */
    alignas(CACHE_LINE) uint32_t waits_met;
    bool started;
    bool repeats;           /* the head is run once more */
    uint32_t position;      /* node of the program's order */
    bool measure;           /* this launch takes a time stamp a node */
    bool is_open;           /* its bit in queue_bits.open is set */
    _Atomic bool calls;     /* who was woken and takes part wakes another one */
    uint32_t *step_cost;    /* of the node that the step runs; may be NULL */
    soft_host_row host_row; /* that the host thread was given */
    uint32_t tickets;       /* runs of plans so far */
    /* Not 0: the plan that runs has items to claim. A number never used again << 32 | the
     * epoch of the launch: all that a thread needs to know that it is not too late. */
    _Atomic uint64_t plan_ticket;
    _Atomic(struct soft_plan *) plan; /* meaningful while there is a ticket */

    soft_step step;
    soft_share share[]; /* engine.share_count */
};

struct soft_worker {
    alignas(CACHE_LINE) soft_engine *engine;
    uint32_t slot;
    uint32_t scan;   /* where to look for work first */
    bool woken;      /* and has had no work since */
    uint32_t sample; /* counts runs, to time some of them */
    uint64_t random;
    soft_queue *current; /* the queue whose work runs on this stack */
    uint32_t awaits;     /* waits of its work on this stack: await.c */
    uint32_t visits;     /* of `visiting`; more than one where work relieves */
    /* The step it has last found nothing to claim in. */
    const soft_queue *drained_queue;
    uint64_t drained;
    pthread_t thread;
    _Atomic(struct soft_plan *) visiting[VISITS_MAX]; /* plans it may look at */
    /* Queues in which its work has relaunched something small: it comes for them when that work
     * is over. Others look at the numbers, and give them out where they stay the same for long:
     * who finds a queue first owns it, and what is left here of one that ran is passed over. */
    alignas(
        CACHE_LINE) _Atomic uint32_t later_end; /* by the worker alone, as all of these */
    _Atomic uint32_t later_begin;
    _Atomic(soft_queue *) later[LATER_PLACES];
    _Atomic uint64_t later_seen, later_since;    /* by watchers: both numbers, ticks */
    alignas(CACHE_LINE) _Atomic uint32_t asleep; /* futex: 1 while it sleeps */
};

/* The host thread's list: queues whose head wants a host function run. */
typedef struct soft_host {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    soft_queue *first, *last; /* linked by next */
    bool stop;
} soft_host;

/* The thread of work that waits: started with the first of it. */
typedef struct soft_park {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    soft_queue *fresh; /* posted, linked by next */
    bool started, stop;
} soft_park;

struct queue_bits {
    _Atomic uint64_t pending; /* queues that want an owner */
    _Atomic uint64_t open;    /* queues whose step wants hands */
    _Atomic uint64_t held;    /* queues whose submissions are held back */
};

struct soft_engine {
    gph_allocator heap;
    uint32_t worker_count;
    uint32_t share_count; /* of a step: a worker each, up to SHARES_MAX */
    uint32_t started;     /* threads */
    uint64_t spin_ticks;
    soft_row row;
    uint64_t seed;             /* 0: none */
    _Atomic uint64_t programs; /* made so far: their numbers, with a seed */
    double tick_ns;
    uint64_t tick_cost;
    bool crowded; /* more workers than CPUs: spinning gives way */
    bool full;    /* a worker for each CPU: who waits and cannot help gives way */
    soft_worker *workers;
    soft_worker helper; /* the last worker's slot, while a waiting thread has its place */
    soft_host host;
    soft_park park;
    pthread_mutex_t mutex; /* queues made and recycled */
    soft_queue *free_queues;
    _Atomic(soft_queue *) *queues;
    alignas(CACHE_LINE) _Atomic uint32_t queue_count;
    _Atomic uint32_t stop;
    _Atomic uint32_t many_priorities;
    alignas(CACHE_LINE) _Atomic uint32_t place; /* who is the last worker: PLACE_* */
    _Atomic uint32_t helpers;                   /* threads that want that place */
    alignas(CACHE_LINE) _Atomic uint32_t idle;  /* workers that look for work */
    _Atomic uint32_t sleeping;
    _Atomic uint32_t napping; /* 1: a worker sleeps for a moment at a time (hold.c) */
    _Atomic uint64_t look_at; /* ticks: the next look at held queues */
    alignas(CACHE_LINE) struct queue_bits bits[QUEUE_WORDS];
};

/* Whether work of this measured cost is done sooner when it is split over the team. */
static inline bool soft_pays_to_split(const soft_engine *engine, uint64_t parts,
                                      uint32_t cost_ns)
{
    const uint64_t n = engine->worker_count;
    if (parts < 2 || n < 2)
        return false;
    const uint64_t most = parts <= n ? 1 : (parts + n - 1) / n; /* parts of one worker */
    const uint64_t split_ns = parts > UINT32_MAX ? cost_ns / n : cost_ns * most / parts;
    return cost_ns - split_ns >= (engine->crowded ? CROWDED_MIN_NS : SPLIT_MIN_NS);
}

/* soft_point_reached() of a point in a queue. */
static inline bool soft_queue_reached(const soft_queue *queue, uint64_t sequence)
{
    /* Acquire: pairs with the store in soft_queue_complete(), for all that the work wrote. */
    return atomic_load_explicit(&((soft_queue *)(uintptr_t)queue)->done,
                                memory_order_acquire) >= sequence;
}

/* Nanoseconds between two time stamps, without what the second one took. */
static inline uint64_t soft_span_ns(const soft_engine *engine, uint64_t ticks)
{
    return ticks <= engine->tick_cost
               ? 0
               : (uint64_t)((double)(ticks - engine->tick_cost) * engine->tick_ns);
}

enum { PLACE_FREE, PLACE_WORKER, PLACE_HELPER };

/* A fence between a store and a load of two threads where one comes a thousand times as
 * often: that one's costs nothing, the other one's makes all CPUs that run this process pass
 * one (membarrier, 0.4 us). Where the system has no such call both are full. */
extern bool soft_fences_are_uneven
    __attribute__((visibility("hidden"))); /* wake.c; from the first engine on */
void soft_fence_rare(void);
static inline void soft_fence_often(void)
{
    if (soft_fences_are_uneven)
        atomic_signal_fence(memory_order_seq_cst);
    else
        atomic_thread_fence(memory_order_seq_cst);
}
void soft_fences_init(void);

/* wake.c: zeroed memory that starts on a cache line, or NULL. */
void *soft_line_alloc(gph_allocator heap, size_t bytes);
void soft_line_free(gph_allocator heap, void *ptr, size_t bytes);
/* One sleeper, for what must not be left alone. */
void soft_engine_wake(soft_engine *engine);
/* The same for what gains by one more, but is done without: no fence (13 us on some virtual
 * machines), which a thread that runs its own launch would pay for the place that it has
 * itself. False: those that sleep have no place. */
bool soft_engine_call(soft_engine *engine);
uint64_t soft_random(soft_worker *worker); /* 0 unless the engine has a seed */
void soft_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns);
void soft_futex_wake(_Atomic uint32_t *word, int count);
/* A number for what three others name, the same in each run with this seed; and the next
 * of a row of numbers. */
uint64_t soft_draw(const soft_engine *engine, uint64_t a, uint64_t b, uint64_t c);
uint64_t soft_draw_next(uint64_t state);
/* Whether its place may be a waiting thread's (engine.c). */
static inline bool soft_worker_is_last(const soft_worker *worker)
{
    return worker->slot + 1 == worker->engine->worker_count;
}

/* Relaxed: an owner that stays for the next submission may look while the queue gets its next
 * user; who takes a place has seen the tail that was published after it. */
static inline uint32_t soft_queue_places(const soft_queue *queue)
{
    return atomic_load_explicit(&((soft_queue *)(uintptr_t)queue)->places,
                                memory_order_relaxed);
}

/* wake.c: a queue wants an owner (or hands); wakes a worker if nobody looks. */
void soft_queue_pend(soft_queue *queue);
/* ring.c */
/* QUEUE_IDLE to QUEUE_RUNNING. It wants no owner any more: a bit that stayed would make each
 * thread that gives its place back wake a worker, which finds nothing. Whoever lets go of the
 * queue looks at its tail, and sets the bit for what came meanwhile. */
static inline bool soft_queue_own(soft_queue *queue)
{
    uint32_t idle = QUEUE_IDLE;
    /* Acquire: pairs with whoever made it idle, for the run's fields. */
    if (atomic_load_explicit(&queue->state, memory_order_relaxed) != QUEUE_IDLE ||
        !atomic_compare_exchange_strong(&queue->state, &idle, QUEUE_RUNNING))
        return false;
    _Atomic uint64_t *const pending = &queue->engine->bits[queue->index / 64].pending;
    const uint64_t bit = UINT64_C(1) << (queue->index % 64);
    if ((atomic_load_explicit(pending, memory_order_relaxed) & bit) != 0)
        atomic_fetch_and(pending, ~bit);
    return true;
}
/* Gives ownership up: to whoever comes, or until the point may have been reached. */
void soft_queue_let_go(soft_queue *queue);
void soft_queue_block_on(soft_queue *queue, soft_point point);
/* The head is done: those who wait for it look again. */
void soft_queue_complete(soft_queue *queue);
/* Both, where the owner has nothing more to do: with one barrier less. */
void soft_queue_complete_and_let_go(soft_queue *queue);
/* The step of an owned queue wants hands, until the owner lets go of the queue. */
void soft_queue_open(soft_queue *queue);
void soft_queue_close(soft_queue *queue);
/* What runs in an owned queue, until it is closed, is worth the wake of all workers: this
 * wakes one, and each that is woken the next. */
void soft_queue_call(soft_queue *queue);
void soft_queue_fini(soft_queue *queue);
static inline soft_submission *soft_queue_place(soft_queue *queue, uint64_t sequence)
{
    return &queue->ring[sequence & (soft_queue_places(queue) - 1)];
}
static inline const soft_submission *soft_queue_head(soft_queue *queue)
{
    return soft_queue_place(queue,
                            atomic_load_explicit(&queue->done, memory_order_relaxed) + 1);
}

/* hold.c. By submitters, under `submit`: before the tail is written, whether the streak goes
 * on; after it, whether no worker need hear of it. */
enum {
    HOLD_FORGIVE = 1024
}; /* held submissions in a row after which it starts small again */
void soft_hold_change(soft_queue *queue); /* the streak ends, or is counted for holding */
static inline void soft_hold_begin(soft_queue *queue)
{
    if (atomic_load_explicit(&queue->waited, memory_order_relaxed) &&
        atomic_load_explicit(&queue->held, memory_order_relaxed) &&
        ++queue->streak % HOLD_FORGIVE != 0)
        atomic_store_explicit(&queue->waited, false, memory_order_relaxed);
    else
        soft_hold_change(queue);
}
bool soft_hold_back(soft_queue *queue);
/* Both, for a held queue that is idle; false: it is none, or has to be made known. */
static inline bool soft_hold_publish(soft_queue *queue, uint64_t sequence)
{
    soft_engine *engine = queue->engine;
    if (!atomic_load_explicit(&queue->held, memory_order_relaxed))
        return false;
    atomic_store_explicit(&queue->tail, sequence, memory_order_release);
    /* Pairs with soft_hold_unwatched(). An owner that has just gone is none that this waits
     * for: where it still seems to have the queue, the tail is written again with a full
     * fence. */
    soft_fence_often();
    return atomic_load_explicit(&queue->state, memory_order_acquire) == QUEUE_IDLE &&
           (atomic_load_explicit(&engine->idle, memory_order_relaxed) != 0 ||
            atomic_load_explicit(&engine->napping, memory_order_relaxed) != 0);
}
/* The queue has another user. */
void soft_hold_forget(soft_queue *queue);
/* What is held back in it, if anything is, is wanted by who cannot run it. */
void soft_hold_urge(soft_queue *queue);
/* By watchers: now and then, when one has stopped to be one, and after a nap (returns what
 * changes while held queues are used). */
bool soft_hold_any(const soft_engine *engine, const soft_queue *but);
void soft_hold_look(soft_engine *engine);
void soft_hold_unwatched(soft_engine *engine, const soft_queue *taken);
uint64_t soft_hold_nap_over(soft_engine *engine);

/* hold.c: a queue that the worker keeps for itself, taken out; NULL: none. */
soft_queue *soft_later_take(soft_worker *worker);
/* Whether it keeps one more. It is seen by watchers from now on. */
bool soft_later_put(soft_worker *worker, soft_queue *queue);
/* Whether no other worker need be woken for what it keeps. */
bool soft_later_is_safe(soft_engine *engine);

/* host.c */
gph_status soft_host_start(soft_engine *engine, gph_error *error);
void soft_host_stop(soft_engine *engine);
/* Of an owned queue: the host thread has it now, runs the functions and lets go. */
void soft_host_post(soft_queue *queue, soft_host_row row);

/* parts.c: runs one piece of work. True if it is done and the caller still (or now) owns
 * the queue; false if the queue has gone to another thread. */
bool soft_step_run(soft_queue *queue, soft_worker *worker, const soft_work *work,
                   uint32_t *cost_ns);
/* Takes part in the open step of a queue. True if this thread finished the step and so
 * owns the queue now. */
bool soft_step_join(soft_queue *queue, soft_worker *worker);
/* Whether its step has units to claim, as far as this worker can see. */
bool soft_step_wants_workers(const soft_queue *queue, soft_worker *worker);
static inline void soft_work_inline(const soft_work *work, soft_worker *worker)
{
    if (work->kind == SOFT_WORK_CALL) {
        work->run(work->argument, worker);
    } else if (work->kind == SOFT_WORK_PARTS) {
        soft_parts parts = {.have = work->parts, .total = work->parts};
        work->run_parts(work->argument, &parts, worker);
    }
}
void soft_cost_update(uint32_t *cost_ns, uint64_t ns);

/* park.c */
void soft_park_init(soft_engine *engine);
void soft_park_stop(soft_engine *engine);
void soft_park_post(soft_queue *queue); /* owned; the head is asked until it may go on */

/* planrun.c: soft_step_join() for the plan that runs in a queue. */
bool soft_plan_join(soft_queue *queue, soft_worker *worker);

/* program.c: like soft_step_run(), for a launch. */
bool soft_program_run(soft_queue *queue, soft_worker *worker,
                      const soft_submission *launch);
/* The same where a launch is a loop over the nodes and nothing else, as most are. False: it is
 * not, and nothing was done. */
bool soft_program_run_straight(soft_queue *queue, soft_worker *worker,
                               const soft_launched *launch);
/* A launch is over: its program may be gone afterwards. */
void soft_program_finished(soft_program *program);

/* queue.c: runs the submissions of an owned queue until it is empty, blocked, handed to
 * another thread, or past `limit`. Ownership is gone when it returns. */
void soft_queue_advance(soft_queue *queue, soft_worker *worker, uint64_t limit);
/* Whether what runs in a queue can use another thread; and one takes part. */
bool soft_queue_wants_workers(const soft_queue *queue, soft_worker *worker);
bool soft_queue_join(soft_queue *queue, soft_worker *worker);
/* soft_queue_advance() where `sequence` is all that there is and waits for nothing: false if
 * it is not so, and nothing was done. */
bool soft_queue_advance_alone(soft_queue *queue, soft_worker *worker, uint64_t sequence);

/* Whether its step wants hands: others may join who runs it. */
static inline bool soft_queue_is_open(const soft_queue *queue)
{
    return (atomic_load_explicit(&queue->engine->bits[queue->index / 64].open,
                                 memory_order_relaxed) >>
                (queue->index % 64) &
            1) != 0;
}
#endif
