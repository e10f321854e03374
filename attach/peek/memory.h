// SPDX-License-Identifier: Apache-2.0
/* The program's memory, which may not be there: reading what lies in known parts of it is
 * a copy, everything else is read by the kernel, which says so where it is gone. */
#ifndef ATTACH_MEMORY_H
#define ATTACH_MEMORY_H
#include "attach/ring/draft.h"

/* Once, before the program runs: where its file and its heap lie. */
void attach_memory_prepare(void);

/* Where the thread's own stack ends, which a frame at `here` lies on; 0: it lies far from
 * it, on a stack that the program has made, whose end nobody reports. */
enum { ATTACH_STACK_MAX = 8 << 20 };
uintptr_t attach_stack_end(uintptr_t here);

/* Memory of the program that may not be there. */
bool attach_read(void *to, const void *from, size_t bytes);

/* What kernelParams point at, into a zeroed buffer of layout->bytes. */
bool attach_read_params(char *to, const attach_layout *layout, void *const *params);

/* Of at most ATTACH_HASH_MAX bytes; false: it cannot be read. */
enum { ATTACH_HASH_MAX = 64 << 10 };
bool attach_hash(uint64_t address, uint64_t bytes, uint64_t *out);
#endif
