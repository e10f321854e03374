/* SPDX-License-Identifier: Apache-2.0 */
/* Which rank of a job this process is. */
#ifndef ATTACH_RANK_H
#define ATTACH_RANK_H
#include <stdint.h>

typedef struct attach_rank {
    uint64_t rank, count; /* count 0: it is none */
} attach_rank;

/* By the environment, as launchers set it. */
attach_rank attach_rank_of_process(void);
#endif
