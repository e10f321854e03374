// SPDX-License-Identifier: Apache-2.0
/* Bodies: a tree of numbers that rise from the root on, so that a parent is always known
 * before what is in it. */
#include "plan/bodies.h"

#include "base/fail.h"

#define BODIES_MAX 4096u

static uint32_t parent_of(const gphi_bodies *b, uint32_t body)
{
    return b->items[body - 1].parent;
}

static gph_status check_body(const gph_plan_body *body, size_t number, gph_error *error)
{
    if (body->parent >= number)
        return gphi_fail(error, GPH_E_INVALID,
                         "body %zu is in body %u, which does not come before it", number,
                         body->parent);
    if (body->choice == 0 && body->upper <= body->lower)
        return gphi_fail(error, GPH_E_INVALID,
                         "body %zu is of a loop with rounds from %llu to %llu: they must "
                         "end after they begin",
                         number, (unsigned long long)body->lower,
                         (unsigned long long)body->upper);
    return GPH_OK;
}

/* Closes a ring around the cases of each choice. */
static void find_twins(gphi_bodies *b)
{
    for (uint32_t i = 1; i <= b->count; i++) {
        const gph_plan_body *body = &b->items[i - 1];
        b->depth[i] = b->depth[body->parent] + 1;
        b->twin[i] = i;
        for (uint32_t k = i - 1; k >= 1 && body->choice != 0; k--) {
            const gph_plan_body *other = &b->items[k - 1];
            if (other->parent != body->parent || other->choice != body->choice)
                continue;
            b->twin[i] = b->twin[k];
            b->twin[k] = i;
            b->has_choice = true;
            break;
        }
    }
}

gph_status gphi_bodies_init(gphi_bodies *b, const gph_plan_body *items, size_t count,
                            gph_allocator heap, gph_error *error)
{
    *b = (gphi_bodies){.heap = heap, .items = items};
    if (count > BODIES_MAX)
        return gphi_fail(error, GPH_E_INVALID, "%zu bodies: at most %u are planned",
                         count, BODIES_MAX);
    for (size_t i = 0; i < count; i++) {
        GPHI_TRY(check_body(&items[i], i + 1, error));
        b->has_loop |= items[i].choice == 0;
    }
    b->count = (uint32_t)count;
    b->depth = gphi_heap_array(heap, count + 1, sizeof(*b->depth));
    b->twin = gphi_heap_array(heap, count + 1, sizeof(*b->twin));
    b->all = gphi_heap_array(heap, count + 1, sizeof(*b->all));
    GPHI_TRY(
        gphi_made(error, b->depth && b->twin && b->all, "planning %zu bodies", count));
    find_twins(b);
    return GPH_OK;
}

void gphi_bodies_fini(gphi_bodies *b)
{
    const size_t room = (size_t)b->count + 1;
    gphi_heap_free(b->heap, b->depth, room * sizeof(*b->depth));
    gphi_heap_free(b->heap, b->twin, room * sizeof(*b->twin));
    gphi_heap_free(b->heap, b->all, room * sizeof(*b->all));
}

/* Where the ways to both part, they are in the same body: in cases of one choice there,
 * or not. */
bool gphi_bodies_exclude(const gphi_bodies *b, uint32_t x, uint32_t y)
{
    if (!b->has_choice || x == y || x == 0 || y == 0)
        return false;
    while (b->depth[x] > b->depth[y])
        x = parent_of(b, x);
    while (b->depth[y] > b->depth[x])
        y = parent_of(b, y);
    if (x == y)
        return false; /* one is in the other */
    while (parent_of(b, x) != parent_of(b, y)) {
        x = parent_of(b, x);
        y = parent_of(b, y);
    }
    const uint32_t choice = b->items[x - 1].choice;
    return choice != 0 && choice == b->items[y - 1].choice;
}

static bool stands_in(const gphi_bodies *b, uint32_t body, uint32_t outer)
{
    while (b->depth[body] > b->depth[outer])
        body = parent_of(b, body);
    return body == outer;
}

uint64_t gphi_bodies_upper(const gphi_bodies *b, const gph_plan_buffer *buffer)
{
    uint64_t upper = buffer->upper;
    /* The end of an inner loop may lie in the rounds of an outer one, which comes before
     * it: so from the last to the first. */
    for (uint32_t i = b->has_loop ? b->count : 0; i > 0; i--) {
        const gph_plan_body *loop = &b->items[i - 1];
        if (loop->choice == 0 && buffer->lower < loop->lower && upper > loop->lower &&
            upper < loop->upper && !stands_in(b, buffer->body, i))
            upper = loop->upper;
    }
    return upper;
}

/* What a choice adds to the body that it is in. */
static uint64_t largest_case(const gphi_bodies *b, uint32_t body)
{
    uint64_t most = b->all[body];
    for (uint32_t i = b->twin[body]; i != body; i = b->twin[i])
        most = b->all[i] > most ? b->all[i] : most;
    return most;
}

void gphi_bodies_add(gphi_bodies *b, uint32_t body, uint64_t bytes)
{
    while (body != 0) {
        const uint64_t before = largest_case(b, body);
        b->all[body] += bytes;
        bytes = largest_case(b, body) - before;
        body = parent_of(b, body);
    }
    b->all[0] += bytes;
}

uint64_t gphi_bodies_bytes(const gphi_bodies *b)
{
    return b->all[0];
}
