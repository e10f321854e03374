// SPDX-License-Identifier: Apache-2.0
/* The Python frames of the calling thread, where the process has an interpreter. */
#ifndef ATTACH_PYTHON_H
#define ATTACH_PYTHON_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
