// SPDX-License-Identifier: Apache-2.0
/* The Python frames of the calling thread, where the process has an interpreter. */
#ifndef ATTACH_PYTHON_H
#define ATTACH_PYTHON_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the process has Python. `loaded` changes whenever a file is loaded: only then
 * it is looked for again. */
bool attach_python_is_there(uint64_t loaded);
/* Whether it was found already. */
bool attach_python_is_known(void);

/* "file:line function\n" of the thread's Python frames, innermost first; the length, 0 if
 * there are none. Python 3.6 to 3.15, with the interpreter's lock or without. Calls nothing
 * that allocates or takes a reference. */
size_t attach_python(char *text, size_t bytes);

/* A hash of the frames that the text above would have, for a hundredth of what that costs:
 * what a stack is found by that was seen before. False: there are none, or they must be
 * read in full (before the first text; Python before 3.11). */
bool attach_python_key(uint64_t *key);
/* Whether that is so of this process, or will be after its first text. */
bool attach_python_is_cheap(void);
#endif
