// SPDX-License-Identifier: Apache-2.0
/* Call stacks of one process: from numbers to functions, files and lines. */
#ifndef GPHI_DOCTOR_STACKS_H
#define GPHI_DOCTOR_STACKS_H
#include "event/event.h"
#include <gph/doctor.h>
#include <stdbool.h>

typedef struct gphi_stacks gphi_stacks;

gph_status gphi_stacks_create(gph_allocator heap, gphi_stacks **out);
void gphi_stacks_destroy(gphi_stacks *stacks);

/* Takes STACK, PYTHON and MODULE records, which come before they are needed, and CALLs,
 * by which a module is known that only wraps the driver. */
gph_status gphi_stacks_feed(gphi_stacks *stacks, const gphi_event *event);

/* The frames of a stack number: Python's first, then the program's, innermost first. What
 * is below main, the driver's, the runtime's and the attached library's own frames
 * on top, and those of the C++ standard library are left out. NULL and 0: none, or no
 * memory. Lent until the end. */
const gph_place *gphi_stacks_frames(gphi_stacks *stacks, uint32_t stack, uint32_t *count);

/* What is at an address of code, whoever's it is. False: nothing is known of it. */
bool gphi_stacks_place(gphi_stacks *stacks, uint64_t address, gph_place *out);

/* The public function of libgph by which the innermost frame of those came into it:
 * "gph_exec_launch". NULL: the program called the driver itself. */
const char *gphi_stacks_entered(gphi_stacks *stacks, uint32_t stack);

/* A number that is the same for stacks that show the same frames. Of one with Python's that is more than its
 * number: an interpreter calls C from other addresses once it has specialized a line. */
uint64_t gphi_stacks_key(gphi_stacks *stacks, uint32_t stack);

/* Of those frames the first that is not of PyTorch, of Python's own library or of a module
 * of Python through whose one line the calls go, which stand between a program and what it
 * does; 0 where all are. */
uint32_t gphi_stacks_own(const gphi_stacks *stacks, const gph_place *frames,
                         uint32_t count);

/* The number of a stack of Python frames alone, as a PYTHON record has them; the same for
 * the same text, with that bit. 0: no memory. */
#define GPHI_STACK_OF_TEXT (1U << 31)
uint32_t gphi_stacks_python(gphi_stacks *stacks, const char *text);

/* Whom to ask whether a frame of that stack is a binding's: nobody where it is an exception's,
 * through which no call goes. */
static inline const gphi_stacks *gphi_stacks_for(const gphi_stacks *stacks,
                                                 uint32_t stack)
{
    return (stack & GPHI_STACK_OF_TEXT) != 0 ? NULL : stacks;
}

/* "function (file:line)" into `out`; "" if nothing is known. The file without its path.
 */
void gphi_place_text(const gph_place *place, char *out, size_t bytes);
#endif
