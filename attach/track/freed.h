// SPDX-License-Identifier: Apache-2.0
/* Host memory that captures hold, and whether the program gives it back. */
#ifndef ATTACH_FREED_H
#define ATTACH_FREED_H
#include <stdbool.h>
#include <stdint.h>

/* Before the program runs: looks up the C library's functions. */
void attach_freed_prepare(void);
/* A capture holds this address from now on; what was freed there before is over. */
void attach_freed_watch(uint64_t address);
/* Whether a block with it was given to free() or moved by realloc() since then. */
bool attach_freed_since(uint64_t address);
#endif
