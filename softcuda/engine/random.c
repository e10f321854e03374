// SPDX-License-Identifier: Apache-2.0
/* Orders drawn from a seed: what a program's nodes, parts and queues may do in any order,
 * they do in another order each launch. It is for tests: a missing dependency shows when
 * the order that hid it does not come up.
 *
 * A launch is run in one of two ways, drawn as well:
 *   one by one    of the nodes that are ready, one is drawn; several workers share its
 *                 parts. The order is a function of seed, program and launch alone.
 *   by a plan     made afresh from costs that are drawn: nodes run at the same time. */
#include <string.h>

#include "base/fail.h"
#include "base/heap.h"
#include "softcuda/engine/program.h"

#define NO_PLACE UINT32_MAX

/* All by place in the order; of the running launch's owner. */
struct soft_shuffle {
    uint64_t number;             /* of the program among the engine's */
    uint64_t state;              /* of the launch's draws */
    uint32_t *succ_first, *succ; /* successors of i are at succ_first[i] ... */
    uint32_t *missing;           /* predecessors that have not run */
    uint32_t *ready, ready_count;
    uint32_t in_hand; /* runs; done when the owner comes back */
};

/* ---- life -------------------------------------------------------------------------- */

void soft_shuffle_destroy(soft_program *program)
{
    soft_shuffle *shuffle = program->shuffle;
    const gph_allocator heap = program->engine->heap;
    const size_t n = program->node_count, e = program->edge_count;
    if (!shuffle)
        return;
    gphi_heap_free(heap, shuffle->succ_first, (n + 1) * sizeof(uint32_t));
    gphi_heap_free(heap, shuffle->succ, (e + 1) * sizeof(uint32_t));
    gphi_heap_free(heap, shuffle->missing, (n + 1) * sizeof(uint32_t));
    gphi_heap_free(heap, shuffle->ready, (n + 1) * sizeof(uint32_t));
    gphi_heap_free(heap, shuffle, sizeof(*shuffle));
    program->shuffle = NULL;
}

/* Successor lists by counting. */
static void list_successors(const soft_program *program, soft_shuffle *shuffle)
{
    uint32_t *const first = shuffle->succ_first;
    for (uint32_t e = 0; e < program->edge_count; e++)
        first[program->pred[e]]++;
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= program->node_count; i++) {
        sum += first[i];
        first[i] = sum; /* the end of its list; it becomes the start below */
    }
    for (uint32_t i = program->node_count; i-- > 0;)
        for (uint32_t e = program->pred_first[i]; e < program->pred_first[i + 1]; e++)
            shuffle->succ[--first[program->pred[e]]] = i;
}

gph_status soft_shuffle_create(soft_program *program, gph_error *error)
{
    soft_engine *engine = program->engine;
    const gph_allocator heap = engine->heap;
    const size_t n = program->node_count, e = program->edge_count;
    soft_shuffle *shuffle = program->shuffle = gphi_heap_alloc(heap, sizeof(*shuffle));
    GPHI_TRY(gphi_made(error, shuffle, "a program of %zu nodes", n));
    shuffle->succ_first = gphi_heap_array(heap, n + 1, sizeof(uint32_t));
    shuffle->succ = gphi_heap_array(heap, e + 1, sizeof(uint32_t));
    shuffle->missing = gphi_heap_array(heap, n + 1, sizeof(uint32_t));
    shuffle->ready = gphi_heap_array(heap, n + 1, sizeof(uint32_t));
    GPHI_TRY(gphi_made(
        error, shuffle->succ_first && shuffle->succ && shuffle->missing && shuffle->ready,
        "a program of %zu nodes", n));
    shuffle->number = atomic_fetch_add(&engine->programs, 1);
    list_successors(program, shuffle);
    return GPH_OK;
}

/* ---- a launch ---------------------------------------------------------------------- */

void soft_shuffle_begin(soft_program *program)
{
    soft_shuffle *shuffle = program->shuffle;
    const uint64_t draw =
        soft_draw(program->engine, UINT64_MAX, shuffle->number, program->launches);
    shuffle->state = draw;
    program->planned = false;
    if (program->may_plan && draw % 2 == 0) {
        soft_plan_destroy(program->engine, program->plan);
        program->plan = soft_plan_create(program, shuffle->state);
        program->planned = program->plan != NULL;
    }
    program->shuffled = !program->planned;
}

static void make_ready(soft_program *program, uint32_t place)
{
    soft_shuffle *shuffle = program->shuffle;
    shuffle->missing[place] = program->pred_first[place + 1] - program->pred_first[place];
    if (shuffle->missing[place] == 0)
        shuffle->ready[shuffle->ready_count++] = place;
}

static void start(soft_program *program, soft_shuffle *shuffle)
{
    shuffle->ready_count = 0;
    shuffle->in_hand = NO_PLACE;
    program->waiting_count = 0;
    if (program->ran)
        memset(program->ran, 0, program->node_count);
    for (uint32_t i = 0; i < program->node_count; i++)
        if (!program->branches || program->branches->body_of[i] == 0)
            make_ready(program, i);
}

/* Opens the body that a branch chooses; false: none, the branch is done. */
static bool enter_body(soft_program *program, const soft_work *works, soft_branch *branch,
                       bool again)
{
    const soft_branches *b = program->branches;
    do {
        const uint32_t body = soft_branch_choose(branch, works, again);
        if (body == SOFT_NO_BODY)
            return false;
        again = true;
        branch->left = b->first[body + 2] - b->first[body + 1];
        for (uint32_t i = 0; i < branch->left; i++)
            make_ready(program, b->place[b->first[body + 1] + i]);
    } while (branch->left == 0);
    return true;
}

/* The last node of a body leads back to its branch, which may be the last of another. */
static void node_done(soft_program *program, const soft_work *works, uint32_t place)
{
    soft_shuffle *shuffle = program->shuffle;
    const soft_branches *b = program->branches;
    for (;;) {
        const uint32_t end = shuffle->succ_first[place + 1];
        for (uint32_t s = shuffle->succ_first[place]; s < end; s++)
            if (--shuffle->missing[shuffle->succ[s]] == 0)
                shuffle->ready[shuffle->ready_count++] = shuffle->succ[s];
        if (!b || b->body_of[place] == 0)
            return;
        soft_branch *branch = &b->list[b->owner[b->body_of[place] - 1]];
        if (--branch->left > 0 || enter_body(program, works, branch, true))
            return;
        place = branch->place;
    }
}

/* What was in other hands is done, and perhaps some of what was waited for. */
static void come_back(soft_program *program, const soft_work *works)
{
    soft_shuffle *shuffle = program->shuffle;
    if (shuffle->in_hand != NO_PLACE)
        node_done(program, works, shuffle->in_hand);
    shuffle->in_hand = NO_PLACE;
    for (uint32_t i = 0; i < program->waiting_count;) {
        const uint32_t place = program->waiting[i];
        const soft_work *work = &works[soft_program_node_at(program, place)];
        if (!program->ran[place] && !work->poll(work->argument)) {
            i++;
            continue;
        }
        program->waiting[i] = program->waiting[--program->waiting_count];
        node_done(program, works, place);
    }
}

static uint32_t draw_ready(soft_shuffle *shuffle)
{
    shuffle->state = soft_draw_next(shuffle->state);
    const uint32_t at = (uint32_t)(shuffle->state >> 32) % shuffle->ready_count;
    const uint32_t place = shuffle->ready[at];
    shuffle->ready[at] = shuffle->ready[--shuffle->ready_count];
    return place;
}

/* False if the queue has gone to another thread. */
static bool run_place(soft_queue *queue, soft_worker *worker, soft_program *program,
                      const soft_work *works, uint32_t place)
{
    soft_shuffle *shuffle = program->shuffle;
    const uint32_t node = soft_program_node_at(program, place);
    const soft_work *work = &works[node];
    if (work->kind == SOFT_WORK_POLL && !work->poll(work->argument)) {
        program->waiting[program->waiting_count++] = place;
        return true;
    }
    if (work->kind == SOFT_WORK_BRANCH) {
        soft_branch *branch = soft_branch_of(program, node);
        branch->place = place;
        if (!enter_body(program, works, branch, false))
            node_done(program, works, place);
        return true;
    }
    shuffle->in_hand = place;
    if (work->kind == SOFT_WORK_HOST) {
        program->host_place = place;
        soft_queue_close(queue);
        soft_host_post(queue, (soft_host_row){.works = work, .count = 1});
        return false;
    }
    if ((work->kind == SOFT_WORK_CALL || work->kind == SOFT_WORK_PARTS) &&
        !soft_step_run(queue, worker, work, NULL))
        return false;
    shuffle->in_hand = NO_PLACE;
    node_done(program, works, place);
    return true;
}

bool soft_shuffle_run(soft_queue *queue, soft_worker *worker, soft_program *program,
                      const soft_work *works)
{
    soft_shuffle *shuffle = program->shuffle;
    if (queue->position == 0)
        start(program, shuffle);
    else
        come_back(program, works);
    queue->position = 1;
    while (shuffle->ready_count != 0) {
        const uint32_t place = draw_ready(shuffle);
        queue->position = place + 1;
        if (!run_place(queue, worker, program, works, place))
            return false;
    }
    if (program->waiting_count == 0)
        return true;
    soft_queue_close(queue);
    soft_park_post(queue);
    return false;
}
