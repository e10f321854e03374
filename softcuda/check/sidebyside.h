// SPDX-License-Identifier: Apache-2.0
/* Comparing what two units have touched. */
#ifndef SOFT_CHECK_SIDEBYSIDE_H
#define SOFT_CHECK_SIDEBYSIDE_H

#include "softcuda/check/sideunit.h"

/* Pairs that were reported. */
struct known {
    gphi_map pairs;
};

struct beside_findings {
    gph_allocator heap;
    struct beside_found {
        uint64_t key; /* of the pair */
        soft_beside_finding finding;
        char kernels[2][64]; /* the finding's names: what has them may go */
    } * list;
    uint32_t count, capacity;
};

/* Adds a finding for each pair of nodes that touches a byte and is not known yet, for the lowest
 * byte. False: no memory, something is left out. */
bool soft_units_compare(const soft_unit *a, const soft_unit *b, struct known *known,
                        struct beside_findings *out);

#endif
