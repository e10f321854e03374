// SPDX-License-Identifier: Apache-2.0
/* The compiled program, shared by program.c (compiling, running) and plan.c. */
#ifndef SOFT_ENGINE_PROGRAM_H
#define SOFT_ENGINE_PROGRAM_H
#include "softcuda/engine/internal.h"

enum {
    MEASURE_FIRST = 3,  /* launches that take a time stamp a node (10 ns each) */
    MEASURE_EVERY = 64, /* and every so many after that: costs change */
};

enum { MODE_CALL, MODE_PARTS, MODE_STEP, MODE_HOST };

struct soft_program {
    soft_engine *engine;
    _Atomic uint32_t references; /* the creator's, one a launch */
    uint32_t node_count;
    uint32_t count; /* positions */
    uint32_t *order;
    uint32_t *cost; /* relaxed __atomic accesses */
    uint8_t *mode;  /* changed between launches only */
    uint64_t launches;
    pthread_mutex_t mutex; /* of `last` */
    soft_point last;       /* the launch submitted last */
};

#endif
