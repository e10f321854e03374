// SPDX-License-Identifier: Apache-2.0
/* faulty.c and faulty_heap.c, for the program that is linked with them. */
#ifndef FAULTY_H
#define FAULTY_H
#include <stdbool.h>

/* From now on the nth allocation or call (from 0) that the attached library makes fails;
 * below 0: none. Returns how many were left before the failing one, below 0: it failed. */
long faulty_fail(long nth);

/* Counts one of these; true: it is to fail. */
bool faulty_now(void);

/* What it has taken of the heap and not given back, and how many sentinels it has added. */
long faulty_live(void);
long faulty_added(void);
#endif
