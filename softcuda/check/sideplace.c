// SPDX-License-Identifier: Apache-2.0
/* Order among what came of one launch of the program: by who launched whom, and how. */
#include "softcuda/check/sideunit.h"

/* The last of a row of places around `unit` that lies in `place`: in which of its units'
 * environments; UINT64_MAX: it does not. A unit lies in its own place as itself. */
static uint64_t lies_in(const soft_unit *unit, const struct place *place)
{
    if (unit->place == place)
        return unit->ordinal;
    for (const struct place *at = unit->place; at; at = at->scope)
        if (at->scope == place)
            return at->scope_ordinal;
    return UINT64_MAX;
}

/* Whether the `ordinal`-th unit of a place begins after that node of another unit of the same
 * root. */
static bool begins_after(const struct place *place, uint64_t ordinal,
                         const soft_unit *unit, uint32_t node)
{
    for (; place; ordinal = place->ordinal, place = place->parent) {
        const uint64_t in = lies_in(unit, place);
        if (in != UINT64_MAX && in < ordinal)
            return true; /* it was over before this one took the place */
        if (unit->place == place->parent && unit->ordinal == place->ordinal)
            return node < place->before_count && place->before[node] != 0;
    }
    return false;
}

bool soft_units_ordered(const soft_unit *a, uint32_t a_node, const soft_unit *b,
                        uint32_t b_node)
{
    return a->root != b->root || begins_after(b->place, b->ordinal, a, a_node) ||
           begins_after(a->place, a->ordinal, b, b_node);
}
