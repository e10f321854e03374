// SPDX-License-Identifier: Apache-2.0
/* Bodies in tables: the way to one from outside, as "branch:0/rounds@10-40". */
#ifndef GPHI_PLAN_BODIES_CSV_H
#define GPHI_PLAN_BODIES_CSV_H
#include <gph/plan.h>

#include "base/text.h"
#include "base/vec.h"
#include "plan/csv.h"

/* Bodies, and what they are called. */
typedef struct gphi_body_names {
    gphi_vec items; /* of gph_plan_body */
    gphi_vec names; /* of gphi_body_name, one each */
    gphi_vec text;  /* of char */
} gphi_body_names;

void gphi_body_names_init(gphi_body_names *names, gph_allocator heap);
void gphi_body_names_fini(gphi_body_names *names);

/* The number of the body at the end of a way, which is made as far as it is not there; 0 for
 * no way. GPH_E_FORMAT names line and step. */
gph_status gphi_bodies_read(gphi_body_names *names, gphi_csv *csv, uint32_t column,
                            gphi_span way, uint32_t *out);

/* The way to a body, as it was read; nothing for 0. */
void gphi_bodies_write(const gphi_body_names *names, uint32_t body, gphi_text *out);
#endif
