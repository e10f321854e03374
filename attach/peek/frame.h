// SPDX-License-Identifier: Apache-2.0
/* Whose a variable on the calling thread's stack is: an address alone is soon another
 * function's, once the one that had it there has returned. */
#ifndef ATTACH_FRAME_H
#define ATTACH_FRAME_H
#include <stdint.h>

enum { ATTACH_FRAME_VARIABLES = 8 };

/* For each address the frame that it lies in, as a number: of a function at a depth of the
 * stack. A function that is called again from there has the same. 0: of none that is under
 * way. Unwinds as far as the outermost of them; at most ATTACH_FRAME_VARIABLES, an address
 * of 0 is none. */
void attach_frames_of(const uint64_t *addresses, uint64_t *frames, uint32_t count);
#endif
