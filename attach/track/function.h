// SPDX-License-Identifier: Apache-2.0
/* Functions that the driver has taken: their names, and how their arguments lie. */
#ifndef ATTACH_FUNCTION_H
#define ATTACH_FUNCTION_H
#include "attach/ring/draft.h"

/* Of a kernel node: a function, or a kernel of a library. */
static inline uint64_t attach_function_of(const CUDA_KERNEL_NODE_PARAMS *node)
{
    return node->func ? (uint64_t)(uintptr_t)node->func : (uint64_t)(uintptr_t)node->kern;
}

/* NULL: the driver does not say. Writes FUNCTION the first time. */
const attach_layout *attach_layout_of(uint64_t function);

/* Code was unloaded: handles may mean others. */
void attach_forget_functions(void);
#endif
