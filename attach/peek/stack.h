// SPDX-License-Identifier: Apache-2.0
/* Call stacks of the program, as numbers: cheap enough to take one at every call.
 *
 * A stack is unwound once. After that, a thread that stands at the same place of its
 * stack only compares the return addresses that lie there with those it found before:
 * that is exact, and takes tens of nanoseconds.
 *
 * The first use of a number writes STACK, and MODULE for files not told yet, with Python
 * frames PYTHON, into the ring. */
#ifndef ATTACH_STACK_H
#define ATTACH_STACK_H
#include <stdint.h>

enum { ATTACH_FRAMES = 32 };

/* Once, where allocating is allowed, before the first stack. */
void attach_stack_prepare(void);

/* The number of the caller's stack without frames of this library; 0: none. Allocates
 * nothing by malloc; keeps errno. */
uint32_t attach_stack(void);

/* The same with the Python frames of the thread, if it runs Python: for what matters,
 * since it costs microseconds. */
uint32_t attach_stack_python(void);

/* The Python frames alone, 0 where there are none: in a signal handler, too, which may run
 * because a stack is broken. */
uint32_t attach_stack_python_alone(void);

/* The same as attach_stack_python(), if the thread has spent less than a hundredth of its time on such stacks;
 * else 0. Of the call in which a process ends there is no later chance. */
uint32_t attach_stack_python_seldom(void);

/* In a child of fork(): the numbers begin anew, for another ring. */
void attach_stack_forked(void);
#endif
