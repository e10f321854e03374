// SPDX-License-Identifier: Apache-2.0
/* Programs with bodies: nodes that decide, in the launch, what runs next.
 *
 * Bodies lie in the order of the program, each after its branch and before a way back to
 * it (program.h). So a branch is a jump: nothing is submitted for it, no thread waits for
 * it, and it may stand in a body itself. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/heap.h"
#include "softcuda/engine/program.h"

enum { ROUNDS_A_TURN = 1024 }; /* others may wait for this worker */

/* ---- life -------------------------------------------------------------------------- */

void soft_branches_destroy(soft_program *program)
{
    soft_branches *b = program->branches;
    const gph_allocator heap = program->engine->heap;
    if (!b)
        return;
    gphi_heap_free(heap, b->list, b->count * sizeof(*b->list));
    gphi_heap_free(heap, b->owner, b->body_count * sizeof(uint32_t));
    gphi_heap_free(heap, b->start, b->body_count * sizeof(uint32_t));
    gphi_heap_free(heap, b->jump, b->position_count * sizeof(uint32_t));
    gphi_heap_free(heap, b->body_of, b->node_count * sizeof(uint32_t));
    gphi_heap_free(heap, b->first, (b->body_count + 2u) * sizeof(uint32_t));
    gphi_heap_free(heap, b->place, b->node_count * sizeof(uint32_t));
    gphi_heap_free(heap, b, sizeof(*b));
    program->branches = NULL;
}

static gph_status allocate(soft_program *program, soft_branches *b, gph_error *error)
{
    const gph_allocator heap = program->engine->heap;
    b->list = gphi_heap_array(heap, b->count, sizeof(*b->list));
    b->owner = gphi_heap_array(heap, b->body_count, sizeof(uint32_t));
    b->start = gphi_heap_array(heap, b->body_count, sizeof(uint32_t));
    b->jump = gphi_heap_array(heap, b->position_count, sizeof(uint32_t));
    b->body_of = gphi_heap_array(heap, b->node_count, sizeof(uint32_t));
    b->first = gphi_heap_array(heap, b->body_count + 2u, sizeof(uint32_t));
    b->place = gphi_heap_array(heap, b->node_count, sizeof(uint32_t));
    return gphi_made(error,
                     b->list && b->owner && b->start && b->jump && b->body_of &&
                         b->first && b->place,
                     "a program of %u bodies", b->body_count);
}

static gph_status check_nodes(const soft_program *program, const uint8_t *kinds,
                              const soft_bodies *bodies, gph_error *error)
{
    for (uint32_t i = 0; i < program->node_count; i++)
        if (bodies->of_node[i] &&
            (kinds[i] == SOFT_WORK_HOST || kinds[i] == SOFT_WORK_POLL))
            return gphi_fail(error, GPH_E_INVALID,
                             "node %u has kind %u, which no body runs", i, kinds[i]);
    return GPH_OK;
}

/* Places by the body that they are in, each body's in order: sorting by counting. */
static void list_places(soft_branches *b, const uint32_t *order,
                        const soft_bodies *bodies)
{
    for (uint32_t i = 0; i < b->node_count; i++) {
        b->body_of[i] = bodies->of_node[order ? order[i] : i];
        b->first[b->body_of[i] + 1]++;
    }
    for (uint32_t i = 0; i <= b->body_count; i++)
        b->first[i + 1] += b->first[i];
    for (uint32_t i = 0; i < b->node_count; i++)
        b->place[b->first[b->body_of[i]]++] = i;
    for (uint32_t i = b->body_count + 1; i > 0; i--)
        b->first[i] = b->first[i - 1];
    b->first[0] = 0;
}

gph_status soft_branches_create(soft_program *program, const uint32_t *order,
                                const uint8_t *kinds, const soft_bodies *bodies,
                                gph_error *error)
{
    GPHI_TRY(check_nodes(program, kinds, bodies, error));
    soft_branches *b = gphi_heap_alloc(program->engine->heap, sizeof(*b));
    GPHI_TRY(gphi_made(error, b, "a program of %u bodies", bodies->count));
    program->branches = b;
    b->body_count = bodies->count;
    b->node_count = program->node_count;
    b->position_count = program->count;
    for (uint32_t i = 0; i < bodies->count; i++)
        b->count += i == 0 || bodies->owner[i] != bodies->owner[i - 1];
    GPHI_TRY(allocate(program, b, error));
    uint32_t at = 0;
    for (uint32_t i = 0; i < bodies->count; i++) {
        if (i == 0 || bodies->owner[i] != bodies->owner[i - 1])
            b->list[at++] = (soft_branch){.node = bodies->owner[i], .first = i};
        b->list[at - 1].count++;
        b->owner[i] = at - 1;
    }
    list_places(b, order, bodies);
    return GPH_OK;
}

/* ---- positions --------------------------------------------------------------------- */

static int by_node(const void *key, const void *item)
{
    const uint32_t node = *(const uint32_t *)key;
    const soft_branch *branch = item;
    return node < branch->node ? -1 : node > branch->node;
}

soft_branch *soft_branch_of(const soft_program *program, uint32_t node)
{
    const soft_branches *b = program->branches;
    return bsearch(&node, b->list, b->count, sizeof(*b->list), by_node);
}

/* Fills the positions of a body, or of the nodes in none, from `position` on. Bodies that
 * stand in it come after their branches. */
static uint32_t lay_out_body(soft_program *program, uint32_t body, const uint32_t *order,
                             const uint8_t *kinds, uint32_t position)
{
    const soft_branches *b = program->branches;
    for (uint32_t i = b->first[body]; i < b->first[body + 1]; i++) {
        const uint32_t node = order ? order[b->place[i]] : b->place[i];
        if (kinds[node] == SOFT_WORK_EMPTY)
            continue;
        const uint32_t at = position++;
        program->order[at] = node;
        program->mode[at] = soft_mode_of(kinds[node]);
        if (kinds[node] != SOFT_WORK_BRANCH)
            continue;
        soft_branch *branch = soft_branch_of(program, node);
        const uint32_t number = (uint32_t)(branch - b->list);
        b->jump[at] = number;
        for (uint32_t k = branch->first; k < branch->first + branch->count; k++) {
            b->start[k] = position;
            position = lay_out_body(program, k + 1, order, kinds, position);
            b->jump[position] = number;
            program->order[position] = node;
            program->mode[position++] = MODE_BACK;
        }
        branch->after = position;
    }
    return position;
}

void soft_branches_lay_out(soft_program *program, const uint32_t *order,
                           const uint8_t *kinds)
{
    (void)lay_out_body(program, 0, order, kinds, 0);
}

/* ---- a launch ---------------------------------------------------------------------- */

void soft_branches_begin(const soft_program *program, const soft_work *works)
{
    const soft_branches *b = program->branches;
    for (uint32_t i = 0; i < b->count; i++) {
        const soft_work *work = &works[b->list[i].node];
        (void)work->choose(work->argument, 0);
    }
}

uint32_t soft_branch_choose(soft_branch *branch, const soft_work *works, bool again)
{
    const soft_work *work = &works[branch->node];
    if (again && branch->once)
        return SOFT_NO_BODY;
    branch->round = again ? branch->round + 1 : 1;
    uint32_t body = work->choose(work->argument, branch->round);
    branch->once = body != SOFT_NO_BODY && (body & SOFT_BODY_ONCE) != 0;
    if (branch->once)
        body -= SOFT_BODY_ONCE;
    return body < branch->count ? branch->first + body : SOFT_NO_BODY;
}

bool soft_branch_next(const soft_program *program, uint32_t *position,
                      const soft_work *works)
{
    const soft_branches *b = program->branches;
    soft_branch *branch = &b->list[b->jump[*position]];
    const uint32_t body =
        soft_branch_choose(branch, works, program->mode[*position] == MODE_BACK);
    *position = body == SOFT_NO_BODY ? branch->after : b->start[body];
    return branch->round % ROUNDS_A_TURN == 0;
}

void soft_branch_inline(const soft_program *program, uint32_t node,
                        const soft_work *works, soft_worker *worker)
{
    soft_branch *branch = soft_branch_of(program, node);
    const uint32_t body = soft_branch_choose(branch, works, false);
    if (body == SOFT_NO_BODY)
        return;
    uint32_t position = program->branches->start[body];
    while (position != branch->after) {
        if (program->mode[position] >= MODE_BRANCH)
            (void)soft_branch_next(program, &position, works);
        else
            soft_work_inline(&works[program->order[position++]], worker);
    }
}
