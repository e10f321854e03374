// SPDX-License-Identifier: Apache-2.0
/* Call stacks: taken where nothing may be allocated, put into words later. */
#ifndef GPHI_SYMBOL_STACK_H
#define GPHI_SYMBOL_STACK_H
#include <stddef.h>

enum { GPHI_STACK_FRAMES = 32 };

/* Return addresses, the innermost caller first. */
typedef struct gphi_stack {
    unsigned count;
    void *frames[GPHI_STACK_FRAMES];
} gphi_stack;

/* Prepares what the first gphi_stack_take() would allocate. Call it where that is
 * allowed, before. */
void gphi_stack_prepare(void);

/* The callers of the caller, `skip` of them left out. Allocates nothing, takes no lock of
 * ours. Count 0 where the platform does not know. */
__attribute__((noinline)) void gphi_stack_take(gphi_stack *out, unsigned skip);

/* Puts it into words: functions, files and lines from the loaded files themselves, as far
 * as they have them. Thread: any; slow: milliseconds a frame, and more where its file has
 * much debug information.
 *
 * A line a frame, "#3 prefetch, offload.c:77 (/path/program)"; the end of what does not
 * fit is left out. */
void gphi_stack_describe(const gphi_stack *stack, char *out, size_t bytes);

/* The first frame that is not one of the driver's, of libgph's or of libcudart's:
 * "offload.c:77 (prefetch)"; empty if there is none. */
void gphi_stack_caller(const gphi_stack *stack, char *out, size_t bytes);
#endif
