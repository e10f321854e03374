// SPDX-License-Identifier: Apache-2.0
/* Runs work in order, on a team of threads: queues (a CUDA stream each) of submissions,
 * each one piece of work or one program (a compiled graph). Knows nothing of CUDA or
 * kernels.
 *
 *   queue A   [w1][program p][w2] -->      a submission starts when the one before it in
 *   queue B   [w3] .wait(A,2). [w4] -->    its queue is done, and every point it waits
 * for
 *
 *   program   nodes in execution order, flat arrays: chains stay on one worker, cheap
 *             nodes run inline, dear ones are split by parts over the team
 *
 * Nothing here allocates or takes a contended lock when work is submitted, started or
 * finished; a full ring blocks the submitter until a place is free, as CUDA does. A
 * submit never runs work inline; a thread that waits works meanwhile. */
#ifndef SOFT_ENGINE_ENGINE_H
#define SOFT_ENGINE_ENGINE_H

#include <gph/base.h>
#include <stdbool.h>

typedef struct soft_engine soft_engine; /* any thread */
typedef struct soft_queue
    soft_queue; /* any thread; submissions of two threads interleave */
typedef struct soft_program soft_program; /* immutable: any thread */
typedef struct soft_worker soft_worker;   /* the thread that runs work just now */

/* Parts of one piece of work that the workers of a team share (blocks of a grid): those
 * that one worker has in hand, and where it gets more. The engine's alone to look into;
 * here so that a claim of a single part costs no call. */
typedef struct soft_parts {
    uint64_t first, have; /* claimed, not yet given out */
    uint64_t total;
    soft_queue *queue; /* whose step it is; NULL: there is nothing more */
    uint64_t open;     /* the step's word when this worker came */
    uint32_t share;    /* which of the step's shares it takes from */
    uint32_t units;    /* claimed so far */
} soft_parts;
bool soft_parts_refill(soft_parts *parts, uint64_t want);

/* Claims up to `want` parts that follow each other; returns how many, 0 when this call of
 * run_parts has no more to do (it may be called again for others). want 0: as many as
 * pay, by the measured cost and what is left (what a kernel whose blocks do not wait for
 * each other should ask for). With in_order or all_at_once, parts are given out in index
 * order; else each worker begins in a run of its own. A run_parts whose parts wait for
 * later ones must go on claiming while they wait.
 * Thread: any worker that runs this work. */
static inline uint64_t soft_parts_claim(soft_parts *parts, uint64_t want, uint64_t *first)
{
    if (parts->have == 0 && (!parts->queue || !soft_parts_refill(parts, want)))
        return 0;
    const uint64_t count = want == 0 || want > parts->have ? parts->have : want;
    *first = parts->first;
    parts->first += count;
    parts->have -= count;
    return count;
}

/* How many units all of them are, of which `units` were this call's when it is over; 0:
 * nobody shares them, all are done in this call. */
uint32_t soft_parts_units(const soft_parts *parts);

static inline uint64_t soft_parts_total(const soft_parts *parts)
{
    return parts->total;
}

typedef enum soft_work_kind {
    SOFT_WORK_EMPTY, /* order only */
    SOFT_WORK_CALL,  /* run once, on one worker */
    SOFT_WORK_PARTS, /* run_parts on as many workers as pay, until all parts are claimed
                      */
    SOFT_WORK_HOST,  /* run once on the internal host thread, never on a worker */
    SOFT_WORK_POLL,  /* asked again and again until it says that it is done, by one thread
                      * at a time; holds up what comes after it and nothing else */
    SOFT_WORK_BRANCH /* of a program only: asked which of its bodies runs, and again after
                      * each; what comes after it waits for the last */
} soft_work_kind;

typedef void soft_run_fn(void *argument, soft_worker *worker);
typedef bool soft_poll_fn(void *argument); /* true: done; must not block */
typedef void soft_run_parts_fn(void *argument, soft_parts *parts, soft_worker *worker);
/* Which body runs in this round, from 1 on; SOFT_NO_BODY: none, the node is done. Round 0:
 * a launch begins, nothing is chosen yet. */
#define SOFT_NO_BODY UINT32_MAX
/* Added to a body: the node is done after it, and is not asked again. */
#define SOFT_BODY_ONCE (UINT32_C(1) << 31)
typedef uint32_t soft_choose_fn(void *argument, uint64_t round);

/* What one node or one submission does. */
typedef struct soft_work {
    uint32_t kind;        /* soft_work_kind */
    uint16_t all_at_once; /* PARTS: may spin on each other: every part must get started
                           * even if earlier ones never end (cooperative grids) */
    uint16_t in_order;    /* PARTS: may wait for earlier ones: no part starts before all
                           * earlier ones have been claimed */
    union {
        soft_run_fn *run;
        soft_run_parts_fn *run_parts;
        soft_poll_fn *poll;
        soft_choose_fn *choose;
    };
    void *argument;
    uint64_t parts;    /* PARTS: how many, at least 1 */
    uint32_t *cost_ns; /* measured mean cost of the whole work, updated by the engine with
                        * relaxed atomics; may be NULL (unmeasured) */
} soft_work;

/* A place in a queue: everything submitted to it up to and including number `sequence`.
 */
typedef struct soft_point {
    soft_queue *queue; /* NULL: a point that is always reached */
    uint64_t sequence;
} soft_point;

/* Nodes of one part that stand one after the other and have `of` as their run_parts may be
 * run by one call, which sets up once what each would: works[order[0]], works[order[1]] ...
 * of at most `count`, up to the first of another kind. Returns how many, at least 1. */
typedef struct soft_row {
    soft_run_parts_fn *of; /* NULL: none are */
    uint32_t (*run)(const soft_work *works, const uint32_t *order, uint32_t count,
                    soft_worker *worker);
} soft_row;

typedef struct soft_engine_options {
    uint32_t workers; /* 0: one a usable CPU (SOFTCUDA_WORKERS is read by the caller) */
    uint32_t
        spin_us; /* how long a worker spins after work before it sleeps; 0: default */
    /* Not 0: what may run in any order runs in one that is drawn: nodes, parts, queues.
     * Another order each launch, the same in each run: but for what depends on when
     * something was submitted, and on which worker was faster. */
    uint32_t random_seed;
    const gph_allocator *allocator;
    soft_row row;
} soft_engine_options;

GPH_CHECKED gph_status soft_engine_create(const soft_engine_options *options,
                                          soft_engine **out, gph_error *error);
void soft_engine_destroy(soft_engine *engine); /* every queue must be idle; takes NULL */
uint32_t soft_engine_worker_count(const soft_engine *engine);
/* 0 ... the count of workers - 1: each slot is one thread at a time (scratch memory
 * by slot). A thread that waits and helps takes the place, and the slot, of the last
 * worker. */
uint32_t soft_worker_slot(const soft_worker *worker);
/* For work that waits in a loop (for another stream, for the host) and has nothing else
 * to do: runs one piece of ready work of another queue to its end on this stack, and then
 * returns true; false when there is none. The worker's slot is then used by both: scratch
 * memory in use must not be found through the slot. */
bool soft_worker_relieve(soft_worker *worker);

/* Work that has more to do when all that it could do itself is over: queues of its own (their
 * team's size says how many pay), and a wait that runs what the point depends on, on this
 * stack, and what is ready in other such queues; in those nothing waits for what is outside.
 * Thread: the worker's. */
uint32_t soft_worker_team(const soft_worker *worker);
GPH_CHECKED gph_status soft_worker_queue(soft_worker *worker, soft_queue **out);
void soft_worker_await(soft_worker *worker, soft_point point);

/* Queues are never freed before the engine, but recycled: a point stays valid forever.
 * priority: lower runs first. */
GPH_CHECKED gph_status soft_queue_create(soft_engine *engine, int priority,
                                         soft_queue **out, gph_error *error);
/* Before the first submission: one launch at a time will be in it. */
void soft_queue_shorten(soft_queue *queue);
void soft_queue_release(soft_queue *queue);                    /* recycled once idle */
void soft_queue_set_priority(soft_queue *queue, int priority); /* any thread */

/* Appends one piece of work. `waits` are copied. Never fails but for GPH_E_STATE (engine
 * shutting down). Blocks while the ring is full. `work` is copied; its argument must live
 * until the work has run. Returns the point in *out (may be NULL). */
gph_status soft_queue_submit(soft_queue *queue, const soft_work *work,
                             const soft_point *waits, uint32_t wait_count,
                             soft_point *out);

/* Appends one launch of a program. works[i] is what node i of the program (in the
 * caller's numbering) does in this launch: borrowed until the launch is done, never
 * written meanwhile. `done`, if not NULL, runs on a worker after the last node, before
 * the point is reached (releases versions, counts). Launches of one program do not
 * overlap: the engine orders them (R33), whichever queues they are in. */
gph_status soft_queue_launch(soft_queue *queue, soft_program *program,
                             const soft_work *works, soft_run_fn *done, void *argument,
                             const soft_point *waits, uint32_t wait_count,
                             soft_point *out);

/* The same by who keeps the program until `done` has run, and orders its launches: where one
 * is under way, `waits` has its point. `launch` is copied. Returns the sequence of the point,
 * 0 for GPH_E_STATE. */
typedef struct soft_launched {
    soft_program *program;
    const soft_work *works;
    soft_run_fn *done;
    void *argument;
} soft_launched;
uint64_t soft_queue_launch_kept(soft_queue *queue, const soft_launched *launch,
                                const soft_point *waits, uint32_t wait_count);
/* The same where it waits for one point, or none: most launches. */
uint64_t soft_queue_launch_after(soft_queue *queue, const soft_launched *launch,
                                 soft_point after);

/* The same by who knows that no launch of the program runs, and none will before this one
 * is over: it takes no turn, and who launches keeps the program until `done` has run. `by`: the
 * worker that this runs on, which comes for it itself when its work is over, if it is small; or NULL. From a `done` too, that of this very program included. Nobody
 * else submits to the queue meanwhile. */
gph_status soft_queue_relaunch(soft_queue *queue, soft_program *program,
                               const soft_work *works, soft_run_fn *done, void *argument,
                               soft_worker *by);
/* From the `done` of a launch in this queue alone: the launch runs once more, with these
 * works, before its point is reached, and what comes after it in the queue waits. */
gph_status soft_queue_repeat(soft_queue *queue, const soft_work *works);

/* Of a queue that has host functions alone: the next one goes to their thread now, though all
 * workers may be busy. */
void soft_queue_call_host(soft_queue *queue);

soft_point soft_queue_tail(const soft_queue *queue);
bool soft_point_reached(soft_point point);
/* Returns when the point is reached; the calling thread runs ready work meanwhile.
 * Must not be called from inside work (host functions included). */
void soft_point_wait(soft_engine *engine, soft_point point);
/* The same for all that was submitted to a queue; returns its last point. */
soft_point soft_queue_wait(soft_queue *queue);
/* Sleeps or helps for at most timeout_ns: true if reached. */
bool soft_point_wait_for(soft_engine *engine, soft_point point, uint64_t timeout_ns);

/* A queue whose points are reached by hand, in their order: nothing is submitted to it.
 * What waits for such a point is woken, and nothing runs on its behalf. */
GPH_CHECKED gph_status soft_fence_create(soft_engine *engine, soft_queue **out,
                                         gph_error *error);
soft_point soft_fence_arm(soft_queue *fence); /* the next point */
void soft_fence_reach(soft_queue *fence);     /* one more; may come before it is armed */
void soft_fence_release(soft_queue *fence);   /* all points are reached; takes NULL */

typedef struct soft_edge {
    uint32_t from, to;
} soft_edge;

/* The bodies of BRANCH nodes: subprograms of the launch, run by whoever runs it. */
typedef struct soft_bodies {
    uint32_t count;
    const uint32_t *owner;   /* by body, rising: its BRANCH node, which numbers its
                              * bodies in this order */
    const uint32_t *of_node; /* by node: the body that it is in + 1, 0: in none */
} soft_bodies;

/* Compiles a graph. Edges may repeat; a cycle fails with GPH_E_INVALID, error.node = an
 * offender. kinds[i]: what node i will be (a launch's works[i].kind must equal it).
 * priorities: NULL, or one a node, lower first. bodies: NULL without BRANCH nodes; edges
 * into a body and out of it say no more than that it is run for its owner. Nodes of
 * bodies wait for nothing outside: neither HOST nor POLL. Arrays are borrowed for the
 * call. */
GPH_CHECKED gph_status soft_program_create_nested(
    soft_engine *engine, uint32_t node_count, const soft_edge *edges, uint64_t edge_count,
    const uint8_t *kinds, const int *priorities, const soft_bodies *bodies,
    soft_program **out, gph_error *error);
static inline gph_status soft_program_create(soft_engine *engine, uint32_t node_count,
                                             const soft_edge *edges, uint64_t edge_count,
                                             const uint8_t *kinds, const int *priorities,
                                             soft_program **out, gph_error *error)
{
    return soft_program_create_nested(engine, node_count, edges, edge_count, kinds,
                                      priorities, NULL, out, error);
}
/* May be called while launches are in flight: freed when they are done. */
void soft_program_destroy(soft_program *program);

#endif
