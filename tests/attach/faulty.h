// SPDX-License-Identifier: Apache-2.0
/* faulty.c, for the program that is linked with it. */
#ifndef FAULTY_H
#define FAULTY_H

/* From now on the nth allocation or call (from 0) that the attached library makes fails;
 * below 0: none. Returns how many were left before the failing one, below 0: it failed. */
long faulty_fail(long nth);

/* What it has taken of the heap and not given back, and how many sentinels it has added. */
long faulty_live(void);
long faulty_added(void);
#endif
