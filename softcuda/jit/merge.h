// SPDX-License-Identifier: Apache-2.0
/* For code that must be there soon: functions of regions that differ by their constants
 * alone become one. */
#ifndef SOFT_JIT_MERGE_H
#define SOFT_JIT_MERGE_H

#include <stddef.h>

/* The text with such functions merged, malloc'ed and NUL-terminated. NULL: there are none,
 * or there is no memory; the text as it is is right, too.
 *
 *  ir  borrowed for the call; ir[*bytes] is 0.
 *  bytes  of the text; set where there is another one. */
char *soft_merge(const char *ir, size_t *bytes);

#endif
