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
#include "event/ring.h"
#include <stdbool.h>

enum { ATTACH_FRAMES = 32 };

/* Once, where allocating is allowed, before the first stack. */
void attach_stack_prepare(void);

/* The number of the caller's stack without frames of this library; 0: none. Allocates
 * nothing by malloc; keeps errno. */
uint32_t attach_stack(void);

/* The same with the Python frames of the thread, if it runs Python: for what matters,
 * since it costs microseconds. */
uint32_t attach_stack_python(void);

/* The same, if the thread has spent less than a hundredth of its time on such stacks;
 * else 0. Of the call in which a process ends there is no later chance. */
uint32_t attach_stack_python_seldom(void);

/* In a child of fork(): the numbers begin anew, for another ring. */
void attach_stack_forked(void);

/* What the rest of the library gives: the ring to write to, or NULL, and the kernel's
 * number of the thread. */
gphi_event_ring *attach_ring(void);
uint32_t attach_thread(void);

/* ---- python.c ---- */

/* Where the interpreter writes its dump. */
typedef struct attach_dump {
    int file;               /* its fd + 1, or 0 */
    uint64_t device, inode; /* what that number stood for when we opened it */
    char text[32 << 10];
} attach_dump;

void attach_dump_close(attach_dump *dump);

/* Whether the process has Python. `loaded` changes whenever a file is loaded: only then
 * it is looked for again. */
bool attach_python_is_there(uint64_t loaded);
/* Whether it was found already. */
bool attach_python_is_known(void);

/* "file:line function\n" of the thread's Python frames, innermost first; the length, 0 if
 * there are none. With the interpreter's lock held by objects, without it by the
 * interpreter's own dump for crashes, where it exports one (3.8, 3.11, 3.12). */
size_t attach_python(char *text, size_t bytes, attach_dump *dump);
#endif
