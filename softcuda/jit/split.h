// SPDX-License-Identifier: Apache-2.0
/* A large kernel's IR in batches, each a text that LLVM can take by itself. */
#ifndef SOFT_JIT_SPLIT_H
#define SOFT_JIT_SPLIT_H

#include <stddef.h>
#include <stdint.h>

typedef struct soft_split soft_split; /* one thread at a time, but for reading */

/* Batch 0 has the kernels, the others have the functions of their regions, about
 * `batch_bytes` of them each, and more where that would be over `most` batches. NULL: the
 * text is not worth two, or there is no memory.
 *
 *  ir  borrowed as long as the split lives; ir[bytes] is 0. */
soft_split *soft_split_create(const char *ir, size_t bytes, size_t batch_bytes,
                              uint32_t most);
void soft_split_destroy(soft_split *split); /* takes NULL */
uint32_t soft_split_count(const soft_split *split);
/* The text of a batch, malloc'ed and NUL-terminated; NULL: no memory. */
char *soft_split_text(const soft_split *split, uint32_t batch, size_t *bytes);

#endif
