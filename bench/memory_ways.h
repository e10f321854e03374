// SPDX-License-Identifier: Apache-2.0
/* The table of bench_memory without traces. */
#ifndef BENCH_MEMORY_WAYS_H
#define BENCH_MEMORY_WAYS_H
#include <stdbool.h>

/* Measures and prints; whether a bar was missed. */
bool print_ways(void);
#endif
