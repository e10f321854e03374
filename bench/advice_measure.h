// SPDX-License-Identifier: Apache-2.0
/* What a work of bench/advice takes, eagerly and as graphs, measured in one process. */
#ifndef BENCH_ADVICE_MEASURE_H
#define BENCH_ADVICE_MEASURE_H
#include "advice_work.h"

enum { MEASURED_BATCHES = 9 };

typedef struct measured {
    double eager_us, graph_us;      /* an iteration, lower quartiles */
    double once_us;                 /* capture, instantiation, upload */
    double nodes;                   /* of an iteration's graphs */
    double saves[MEASURED_BATCHES]; /* share of each batch's time, batches in turn */
} measured;

/* All iterations of the program once, as it is: eagerly. */
void measure_eager_run(shop *s, const work *w);

/* MEASURED_BATCHES batches of each, in turn. */
void measure_both(shop *s, const work *w, measured *out);
#endif
