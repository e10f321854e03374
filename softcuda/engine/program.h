// SPDX-License-Identifier: Apache-2.0
/* The compiled program and its plan, shared by program.c (compiling, running in order),
 * plan.c (planning) and planrun.c (running a plan). */
#ifndef SOFT_ENGINE_PROGRAM_H
#define SOFT_ENGINE_PROGRAM_H
#include "softcuda/engine/state.h"

enum {
    MEASURE_FIRST = 3,   /* launches that take a time stamp a node (10 ns each) */
    MEASURE_EVERY = 64,  /* and every so many after that: costs change */
    CALL_MIN_NS = 30000, /* a launch that splitting makes so much shorter wakes workers */
    PLAN_MIN_NS = 20000, /* programs shorter than this stay on one thread */
    PLAN_TRIAL = 8, /* launches after which a plan is judged, and of its first rest */
    PLAN_REST_MAX = 512,
    PLAN_FIRST_REST = 2, /* launches in order before the first one with a plan */
    FINE_NS = 300,       /* ... of programs whose nodes are shorter than this */
    PLAN_PAUSE_MAX = 4096,
};

enum { MODE_CALL, MODE_PARTS, MODE_STEP, MODE_HOST, MODE_BRANCH, MODE_BACK };

/* A BRANCH node in the order of a program:
 *
 *   ... [branch] [body 0 ... back] [body 1 ... back] [what comes after] ...
 *
 * The branch chooses a body and goes there; its end goes back, and the branch chooses
 * again. So a launch is at one position, however deep that is nested. */
typedef struct soft_branch {
    uint32_t node, after;  /* after: the position after its bodies */
    uint32_t first, count; /* its bodies */
    uint64_t round;        /* of the running launch */
    bool once;             /* the body that runs is its last */
    uint32_t place, left;  /* random.c: its own; nodes of its body that have not run */
} soft_branch;

typedef struct soft_branches {
    uint32_t count, body_count, node_count, position_count;
    soft_branch *list;
    uint32_t *owner;   /* by body: its branch */
    uint32_t *start;   /* by body: its first position */
    uint32_t *jump;    /* by position, of branches and ways back: the branch */
    uint32_t *body_of; /* by place: the body that it is in + 1 */
    uint32_t *first;   /* by body, and one more: its places in `place` */
    uint32_t *place;   /* those in no body come first */
} soft_branches;

#define PLAN_NO_FLAG UINT32_MAX

/* Nodes that one worker runs in a row, without waiting in between. */
typedef struct plan_item {
    uint32_t node_first, node_end; /* into plan.nodes */
    uint32_t wait_first, wait_end; /* into plan.waits: flags that must be up first */
} plan_item;

typedef struct plan_node {
    uint32_t node;     /* the caller's number */
    uint32_t position; /* of its cost; UINT32_MAX: an EMPTY node, nothing to run */
    uint32_t flag;     /* put up when it has run, or PLAN_NO_FLAG */
} plan_node;

/* A list of items a worker, made from measured costs.
 *
 *   list 0   [a b c] [d]     [e f]      items: claimed by one compare and swap from
 *   list 1   [g]  ^[h i]  ^[j]  [k]     epoch - 1 to epoch, when their waits are over
 *                 '-- waits for the flag of a
 *
 * Who has the list's number takes its items in order; whoever has nothing ready takes the
 * first ready item of another list. So the plan decides what is likely, never what is
 * right. A flag or a claim that equals the launch's epoch is set: nothing is reset. */
typedef struct soft_plan {
    gph_allocator heap;
    uint32_t list_count, item_count, node_count, wait_count, flag_count;
    uint32_t *list_first; /* list_count + 1, into items */
    plan_item *items;
    plan_node *nodes;
    uint32_t *waits;
    uint64_t estimate_ns;
    _Atomic uint32_t *flags;
    _Atomic uint32_t *claims; /* one an item */
    struct plan_cursor {
        alignas(CACHE_LINE) _Atomic uint64_t at; /* epoch << 32 | first unclaimed item */
    } * cursors;                                 /* hints */

    /* Of the launch that runs. */
    soft_program *program;
    const soft_work *works; /* read after a claim only */
    bool measure;
    alignas(CACHE_LINE) _Atomic uint32_t epoch;
    /* Bit i: the worker of list i (modulo 64) was not there when last looked for; it
     * outlives the launch. Its items go to whoever comes, without patience. */
    _Atomic uint64_t absent;
    alignas(CACHE_LINE) _Atomic uint32_t finished; /* items; added in batches */
} soft_plan;

typedef struct soft_shuffle soft_shuffle;

struct soft_program {
    soft_engine *engine;
    _Atomic uint32_t locked; /* of `last` and `references`: held for a few instructions */
    uint32_t references;     /* the creator's, one a launch */
    uint32_t node_count, edge_count;
    uint32_t count;       /* positions */
    uint32_t *order;      /* node at each position */
    uint32_t *cost;       /* by position; relaxed __atomic accesses */
    uint8_t *mode;        /* changed between launches only */
    uint32_t *topo;       /* all nodes in order; NULL: by number */
    uint32_t *pred_first; /* by place in topo, node_count + 1 */
    uint32_t *pred;       /* places in topo */
    bool has_host, has_poll;
    bool may_plan;   /* nodes may ever run on several workers at once */
    soft_point last; /* the launch submitted last */

    /* With POLL nodes (park.c), of the running launch: which places have run, the POLL
     * nodes that were not done, the host function that runs. */
    uint8_t *ran;
    uint32_t *waiting;
    uint32_t waiting_count, host_place;
    bool host_runs;

    soft_branches *branches; /* NULL: no BRANCH nodes */
    soft_shuffle *shuffle;   /* NULL: the engine has no seed */
    bool shuffled;           /* the running launch takes its nodes one by one as drawn */
    bool straight; /* all nodes run inline, in order: set when costs were measured last */

    /* Of the running launch's owner, between launches. */
    uint64_t launches;
    uint64_t started_ticks;
    soft_plan *plan;       /* NULL: run in order */
    uint64_t serial_ns;    /* one thread: the sum of all costs, or the shortest rest */
    uint64_t plan_best_ns; /* the shortest launch of this trial */
    uint64_t rest_best_ns; /* ... of this rest */
    uint32_t plan_launches;
    uint32_t plan_rest;  /* launches of the next rest */
    bool planned;        /* the running launch has a plan */
    uint64_t rest_until; /* launches before this one run in order: the plan was slower */
    uint64_t plan_next;  /* the launch after which planning is worth a thought again */
    uint32_t plan_pause; /* launches from one such thought to the next */
    uint64_t split_ns;   /* what splitting its wide nodes gains */
};

/* A word, since the two that a launch takes are a tenth of what a small one costs. */
static inline void soft_program_lock(soft_program *program)
{
    soft_word_lock(&program->locked);
}

static inline void soft_program_unlock(soft_program *program)
{
    soft_word_unlock(&program->locked);
}

/* The node at a place of the order. */
static inline uint32_t soft_program_node_at(const soft_program *program, uint32_t place)
{
    return !program->topo ? place : program->topo[place];
}

/* plan.c: a plan for the costs measured so far, or with a seed for costs drawn from
 * `draws`; NULL if none pays, or memory is short. */
soft_plan *soft_plan_create(soft_program *program, uint64_t draws);
/* Waits for workers that still look at it. Takes NULL. */
void soft_plan_destroy(soft_engine *engine, soft_plan *plan);

/* How work of a kind is run, until its cost is known. */
static inline uint8_t soft_mode_of(uint8_t kind)
{
    switch (kind) {
    case SOFT_WORK_CALL: return MODE_CALL;
    case SOFT_WORK_PARTS: return MODE_STEP; /* until its cost is known */
    case SOFT_WORK_BRANCH: return MODE_BRANCH;
    default: return MODE_HOST;
    }
}

/* planrun.c: like soft_step_run(), for the whole launch. */
bool soft_plan_run(soft_queue *queue, soft_worker *worker, soft_program *program,
                   const soft_work *works, bool measure);

/* branch.c: what the bodies of a program need, from places in their order: GPH_E_INVALID
 * for a node that no body may have, GPH_E_NO_MEMORY. */
gph_status soft_branches_create(soft_program *program, const uint32_t *order,
                                const uint8_t *kinds, const soft_bodies *bodies,
                                gph_error *error);
void soft_branches_destroy(soft_program *program);
/* Fills the positions of a program with bodies. */
void soft_branches_lay_out(soft_program *program, const uint32_t *order,
                           const uint8_t *kinds);
void soft_branches_begin(const soft_program *program, const soft_work *works);
/* The body that is chosen now, SOFT_NO_BODY: none; again: after a round of it. */
uint32_t soft_branch_choose(soft_branch *branch, const soft_work *works, bool again);
/* Moves on from a branch or a way back. True now and then in a long loop: other queues
 * should have a turn. */
bool soft_branch_next(const soft_program *program, uint32_t *position,
                      const soft_work *works);
/* The branch of a node. */
soft_branch *soft_branch_of(const soft_program *program, uint32_t node);
/* Runs a branch with all its rounds, on this thread. */
void soft_branch_inline(const soft_program *program, uint32_t node,
                        const soft_work *works, soft_worker *worker);

/* park.c: launches with POLL nodes. The first fails with GPH_E_NO_MEMORY. */
gph_status soft_polled_create(soft_program *program, gph_error *error);
void soft_polled_destroy(soft_program *program);
bool soft_polled_run(soft_queue *queue, soft_worker *worker, soft_program *program,
                     const soft_work *works);

/* random.c: launches in an order drawn from the engine's seed. The first fails with
 * GPH_E_NO_MEMORY; the second decides how the launch that begins is run. */
gph_status soft_shuffle_create(soft_program *program, gph_error *error);
void soft_shuffle_destroy(soft_program *program);
void soft_shuffle_begin(soft_program *program);
bool soft_shuffle_run(soft_queue *queue, soft_worker *worker, soft_program *program,
                      const soft_work *works);
#endif
