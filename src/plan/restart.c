// SPDX-License-Identifier: Apache-2.0
/* Searches for a plan within a capacity: orders of candidates by turns, each for some
 * steps, and between them divides at narrow borders. */
#include <string.h>

#include "plan/search.h"

/* 1 1 2 1 1 2 4 1 ..: Luby's sequence, which is never far from the best choice */
static uint64_t luby(uint64_t i)
{
    for (;;) {
        uint64_t size = 1;
        while (size - 1 < i)
            size *= 2;
        if (size - 1 == i)
            return size / 2;
        i -= size / 2 - 1;
    }
}

/* Another order; false once the search is over, with *end. */
static bool try_order(gphi_search *s, gphi_keyed *keyed, uint32_t restart,
                      uint64_t *random, gphi_search_end *end)
{
    const uint32_t count = s->problem->count, orders = GPHI_SEARCH_ORDERS;
    const bool first = restart < orders;
    gphi_search_clear(s);
    gphi_search_rank(s, keyed, 0, count, restart % orders, first ? NULL : random);
    const uint64_t steps = GPHI_SEARCH_STEPS * (first ? 1 : luby(restart - orders + 1));
    *end = GPHI_SEARCH_IMPOSSIBLE;
    if (!gphi_search_fits(s))
        return false;
    if (gphi_search_solve(s, 0, count, steps)) {
        *end = GPHI_SEARCH_FOUND;
        return false;
    }
    return s->out_of_steps;
}

/* What takes turns. */
struct turns {
    gphi_search s;
    gphi_keyed *keyed;
    gphi_divide *divide; /* made when its turn comes */
};

static bool try_divide(struct turns *t)
{
    if (!t->divide && gphi_divide_create(&t->s, t->keyed, &t->divide) != GPH_OK)
        t->s.out_of_memory = true;
    return !t->s.out_of_memory && gphi_divide_try(t->divide);
}

/* All orders first; then divides take as many steps as orders do. */
static gphi_search_end run(struct turns *t)
{
    uint64_t random = GPHI_PLAN_SEED, by_order = 0, by_divide = 0;
    gphi_search *s = &t->s;
    gphi_search_end end;
    for (uint32_t restart = 0; !s->clock->over && !s->out_of_memory;) {
        const uint64_t before = s->clock->steps;
        if (restart >= GPHI_SEARCH_ORDERS && by_divide < by_order) {
            if (try_divide(t))
                return GPHI_SEARCH_FOUND;
            by_divide += s->clock->steps - before + 1;
            continue;
        }
        if (!try_order(s, t->keyed, restart++, &random, &end))
            return end;
        by_order += s->clock->steps - before;
    }
    return GPHI_SEARCH_UNKNOWN;
}

gph_status gphi_plan_search(const gphi_problem *p, gphi_plan_clock *clock,
                            uint64_t capacity, uint64_t *offsets, gphi_search_end *end)
{
    struct turns t = {.divide = NULL};
    t.keyed = gphi_heap_array(p->heap, p->count, sizeof(*t.keyed));
    gph_status status = gphi_search_init(&t.s, p, clock, capacity);
    if (!t.keyed)
        status = GPH_E_NO_MEMORY;
    if (status == GPH_OK) {
        *end = run(&t);
        status = t.s.out_of_memory ? GPH_E_NO_MEMORY : GPH_OK;
    }
    if (status == GPH_OK && *end == GPHI_SEARCH_FOUND)
        memcpy(offsets, t.s.lowest, p->count * sizeof(*offsets));
    gphi_divide_destroy(t.divide);
    gphi_heap_free(p->heap, t.keyed, p->count * sizeof(*t.keyed));
    gphi_search_fini(&t.s);
    return status;
}
