// SPDX-License-Identifier: Apache-2.0
/* Writing under `ulimit -f`. Where a process may not make a file as large as it is asked
 * to, the kernel sends SIGXFSZ, which ends it. A library must not end a program: these
 * fail with EFBIG, and the program's own handling of the signal stays as it is. Thread:
 * any. Signal-safe. */
#ifndef GPHI_BASE_LIMIT_H
#define GPHI_BASE_LIMIT_H
#include <gph/base.h>
#include <stdbool.h>
#include <sys/types.h>

/* write(), in a loop until all is written; false, with errno. */
bool gphi_limit_write(int fd, const void *data, size_t bytes);

/* pwrite(), likewise. */
bool gphi_limit_write_at(int fd, const void *data, size_t bytes, off_t at);

/* posix_fallocate(): 0, or what is wrong as errno has it. */
int gphi_limit_allocate(int fd, off_t bytes);

/* Whether this process may make a file of so many bytes. */
bool gphi_limit_allows(uint64_t bytes);
#endif
