// SPDX-License-Identifier: Apache-2.0
/* Call stacks of the program, as numbers: cheap enough to take one at every call.
 *
 * A stack is unwound once. After that, a thread that calls from the same instruction at
 * the same place of its stack only compares the return addresses that lie there with those
 * it found before: that takes tens of nanoseconds. The innermost one is known to be a
 * frame's, not what an earlier call has left there: what is above follows from it.
 *
 * The first use of a number writes STACK, and MODULE for files not reported yet, with Python
 * frames PYTHON, into the ring. */
#ifndef ATTACH_STACK_H
#define ATTACH_STACK_H
#include <stdint.h>

enum { ATTACH_FRAMES = 32 };

/* Once, where allocating is allowed, before the first stack. */
void attach_stack_prepare(void);

/* The number of the caller's stack without frames of this library; 0: none. `above` is
 * where the program's frames begin: __builtin_dwarf_cfa() in the function that it has
 * called; NULL: not known, and unwound each time. Allocates nothing by malloc; keeps
 * errno. */
uint32_t attach_stack(const void *above);

/* The same with the Python frames of the thread, if it runs Python: for what matters,
 * since it costs microseconds. */
uint32_t attach_stack_python(const void *above);

/* The Python frames alone, 0 where there are none: in a signal handler, too, which may run
 * because a stack is broken. */
uint32_t attach_stack_python_alone(void);

/* The same as attach_stack_python(), if the thread has spent less than a hundredth of its time on such stacks;
 * else 0. Of the call in which a process ends there is no later chance. */
uint32_t attach_stack_python_seldom(const void *above);

/* In a handler of a signal: the number of the stack from the instruction that raised it on,
 * without the C library's frames on top; the first frame is one byte after it, as a return
 * address is. `caller`: the only frame where there is no code at that instruction. */
uint32_t attach_stack_of_fault(uintptr_t at, uintptr_t caller);

/* In a child of fork(): the numbers begin again, for another ring. */
void attach_stack_forked(void);

/* Before fork(): keeps the thread's stack for the child, Python's frames with it; and there
 * its number, 0 if none was kept. */
void attach_stack_keep(void);
uint32_t attach_stack_kept(void);
#endif
