// SPDX-License-Identifier: Apache-2.0
/* A launch that leaves a trail is a launch of other works: each says that its node runs,
 * does what the executable's would, and says that it has ended.
 *
 *   exec's works    [a][b][c]              the engine knows of nothing
 *   launch's works  [|][|][|] ──> steps    a step has the work, and which word is its
 *
 * Launches of one executable follow each other (R33), so that the words are of one: whoever
 * runs the first node of a launch clears them. Nodes of a child graph have one word
 * together; those of bodies have none, their conditional node says that it runs.
 *
 * Words are the reader's, in another process: relaxed stores, of which the order from node
 * to node is the engine's. */
#include "softcuda/graph/trail.h"

#include <gph/softcuda.h>
#include <sched.h>

#include "softcuda/device/alloc.h"
#include "softcuda/device/context.h"

struct soft_trail {
    atomic_uint references; /* the executable's, each launch's */
    _Atomic uint32_t *words;
    uint32_t count, node_count;
    uint32_t word_of[]; /* by flat node; SOFT_NO_NODE: none */
};

typedef struct soft_trail_launch soft_trail_launch;

typedef struct soft_trail_step {
    soft_trail_launch *launch;
    soft_work work;              /* the executable's */
    const soft_context *context; /* it works in; NULL: in none */
    uint32_t word;
    _Atomic uint32_t units; /* of its parts, done */
} soft_trail_step;

struct soft_trail_launch {
    soft_trail *trail;
    soft_trail_run run;      /* the executable's */
    atomic_uint began;       /* BEGAN_ */
    soft_work *works;        /* by flat node */
    _Atomic uint32_t *left;  /* by word: steps that have not ended */
    soft_trail_step steps[]; /* by flat node */
};

enum { BEGAN_NOT, BEGAN_CLEARS, BEGAN };

/* ---- whose word -------------------------------------------------------------------- */

/* Levels come after the one that their owner is in. */
static void find_words(const soft_shape *shape, uint32_t *word_of)
{
    for (uint32_t i = 0; i < shape->node_count; i++)
        word_of[i] = SOFT_NO_NODE;
    for (uint32_t l = 0; l < shape->level_count; l++) {
        const soft_exec_level *level = &shape->levels[l];
        const bool is_top = level->owner == SOFT_NO_NODE;
        const bool is_body =
            !is_top && shape->nodes[level->owner].type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
        for (uint32_t i = 0; i < level->member_count && !is_body; i++)
            word_of[shape->members[level->member_first + i]] =
                is_top ? i : word_of[level->owner];
    }
}

CUresult soft_trail_create(const soft_shape *shape, _Atomic uint32_t *words,
                           soft_trail **out)
{
    const size_t bytes = sizeof(soft_trail) + shape->node_count * sizeof(uint32_t);
    soft_trail *trail = soft_new(bytes);
    SOFT_TRY(soft_made(trail, "no memory for a trail of %u nodes", shape->node_count));
    atomic_init(&trail->references, 1);
    trail->words = words;
    trail->count = shape->levels[0].member_count;
    trail->node_count = shape->node_count;
    find_words(shape, trail->word_of);
    *out = trail;
    return CUDA_SUCCESS;
}

void soft_trail_release(soft_trail *trail)
{
    /* acq_rel: the last one frees what others have read. */
    if (trail &&
        atomic_fetch_sub_explicit(&trail->references, 1, memory_order_acq_rel) == 1)
        soft_delete(trail);
}

/* ---- words ------------------------------------------------------------------------- */

static void put(const soft_trail_launch *launch, uint32_t word, uint32_t what)
{
    atomic_store_explicit(&launch->trail->words[word], what, memory_order_relaxed);
}

static void clear(const soft_trail_launch *launch)
{
    for (uint32_t i = 0; i < launch->trail->count; i++) {
        const uint32_t left =
            atomic_load_explicit(&launch->left[i], memory_order_relaxed);
        put(launch, i, left == 0 ? GPH_TRAIL_ORDER : GPH_TRAIL_WAITS);
    }
}

/* Before the first node of the launch; a second one that begins meanwhile waits. */
static void begin(soft_trail_launch *launch)
{
    unsigned seen = atomic_load_explicit(&launch->began, memory_order_acquire);
    if (seen == BEGAN_NOT &&
        atomic_compare_exchange_strong(&launch->began, &seen, BEGAN_CLEARS)) {
        clear(launch);
        /* Release: no word of this launch is cleared after it was written. */
        atomic_store_explicit(&launch->began, BEGAN, memory_order_release);
        return;
    }
    while (seen != BEGAN) {
        sched_yield();
        seen = atomic_load_explicit(&launch->began, memory_order_acquire);
    }
}

static bool is_dead(const soft_trail_step *step)
{
    return step->context &&
           atomic_load_explicit(&((soft_context *)(uintptr_t)step->context)->error,
                                memory_order_relaxed) != 0;
}

/* In a dead context nothing runs. */
static void enter(soft_trail_step *step)
{
    begin(step->launch);
    if (!is_dead(step))
        put(step->launch, step->word, GPH_TRAIL_RUNS);
}

static void leave(soft_trail_step *step)
{
    if (is_dead(step))
        return;
    const uint32_t before = atomic_fetch_sub_explicit(&step->launch->left[step->word], 1,
                                                      memory_order_acq_rel);
    if (before == 1)
        put(step->launch, step->word, GPH_TRAIL_ENDED);
}

/* ---- works ------------------------------------------------------------------------- */

static void run_call(void *argument, soft_worker *worker)
{
    soft_trail_step *step = argument;
    enter(step);
    step->work.run(step->work.argument, worker);
    leave(step);
}

/* Several workers may come, and come again: who brings the units to their total is last,
 * and none goes on before it has added its own. */
static void run_parts(void *argument, soft_parts *parts, soft_worker *worker)
{
    soft_trail_step *step = argument;
    const uint32_t total = soft_parts_units(parts);
    enter(step);
    step->work.run_parts(step->work.argument, parts, worker);
    if (total == 0 ||
        atomic_fetch_add_explicit(&step->units, parts->units, memory_order_acq_rel) +
                parts->units ==
            total)
        leave(step);
}

static bool run_poll(void *argument)
{
    soft_trail_step *step = argument;
    enter(step);
    if (!step->work.poll(step->work.argument))
        return false;
    leave(step);
    return true;
}

static uint32_t run_choose(void *argument, uint64_t round)
{
    soft_trail_step *step = argument;
    if (round == 0)
        begin(step->launch);
    else
        enter(step);
    const uint32_t body = step->work.choose(step->work.argument, round);
    if (round > 0 && body == SOFT_NO_BODY)
        leave(step);
    return body;
}

static void wrap(soft_work *work, soft_trail_step *step)
{
    switch ((soft_work_kind)work->kind) {
    case SOFT_WORK_CALL:
    case SOFT_WORK_HOST: work->run = run_call; break;
    case SOFT_WORK_PARTS: work->run_parts = run_parts; break;
    case SOFT_WORK_POLL: work->poll = run_poll; break;
    case SOFT_WORK_BRANCH: work->choose = run_choose; break;
    case SOFT_WORK_EMPTY: return;
    }
    work->argument = step;
}

/* ---- launches ---------------------------------------------------------------------- */

void soft_trail_end(soft_trail_run run)
{
    soft_trail_launch *launch = run.argument;
    soft_trail_release(launch->trail);
    soft_delete(launch);
}

static void launch_done(void *argument, soft_worker *worker)
{
    soft_trail_launch *launch = argument;
    const soft_trail_run run = launch->run;
    soft_trail_end((soft_trail_run){.argument = launch});
    run.done(run.argument, worker);
}

soft_trail_run soft_trail_begin(soft_trail *trail, const soft_version *version,
                                soft_trail_run run)
{
    const size_t nodes = trail->node_count;
    soft_trail_launch *launch =
        soft_new(sizeof(*launch) + nodes * sizeof(soft_trail_step) +
                 nodes * sizeof(soft_work) + trail->count * sizeof(_Atomic uint32_t));
    if (!launch)
        return run;
    launch->trail = trail;
    launch->run = run;
    launch->works = (soft_work *)(void *)&launch->steps[nodes];
    launch->left = (_Atomic uint32_t *)(void *)&launch->works[nodes];
    for (uint32_t i = 0; i < nodes; i++) {
        const uint32_t word = trail->word_of[i];
        launch->works[i] = run.works[i];
        if (word == SOFT_NO_NODE || run.works[i].kind == SOFT_WORK_EMPTY)
            continue;
        soft_trail_step *step = &launch->steps[i];
        step->launch = launch;
        step->work = run.works[i];
        step->context = version->records[i] ? version->records[i]->context : NULL;
        step->word = word;
        atomic_fetch_add_explicit(&launch->left[word], 1, memory_order_relaxed);
        wrap(&launch->works[i], step);
    }
    atomic_fetch_add_explicit(&trail->references, 1, memory_order_relaxed);
    return (soft_trail_run){launch->works, launch_done, launch};
}
