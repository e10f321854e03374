// SPDX-License-Identifier: Apache-2.0
/* Rule memory.growth: one place makes more and more of something, while the program works,
 * and nothing destroys it. */
#ifndef GPHI_DOCTOR_MEMORY_GROWTH_H
#define GPHI_DOCTOR_MEMORY_GROWTH_H
#include "doctor/history/history.h"

typedef struct gphi_growth_state {
    gphi_map by_key;   /* handle or address, with the kind -> index in `objects` */
    gphi_map by_place; /* stack, with the kind -> index in `places` */
    gphi_vec objects, places, spare; /* spare: indices of objects that are gone */
} gphi_growth_state;

void gphi_growth_init(gphi_rule_run *run);
void gphi_growth_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_growth_end(gphi_rule_run *run);
void gphi_growth_fini(gphi_rule_run *run);
#endif
