// SPDX-License-Identifier: Apache-2.0
/* Several modules as one. */
#ifndef SOFT_PTX_LINK_H
#define SOFT_PTX_LINK_H
#include "softcuda/ptx/ptx.h"

typedef struct ptx_link_input {
    const char *text; /* PTX that ptx_parse() takes */
    size_t bytes;     /* without a NUL */
    const char *name; /* for messages */
} ptx_link_input;

enum {
    PTX_LINK_FAILED = 300 /* CUDA_ERROR_INVALID_SOURCE */
};

/* One PTX text of all inputs, in their order: names that are private to an input stay
 * apart, weak definitions give way, what is declared .extern is the definition of another
 * input.
 *
 *  out    owned by the caller, a NUL after *bytes: gphi_heap_free(heap, out, bytes + 1).
 *
 *  Fails with PTX_LINK_FAILED (a name is defined twice, or used and nowhere defined) and
 *  GPH_E_NO_MEMORY. Thread: any. */
GPH_CHECKED gph_status ptx_link(const ptx_link_input *inputs, uint32_t count,
                                const gph_allocator *allocator, char **out, size_t *bytes,
                                gph_error *error);
/* Whether inputs can be linked, as far as there are; what is missing may still come.
 * Fails as ptx_link(). */
GPH_CHECKED gph_status ptx_link_check(const ptx_link_input *inputs, uint32_t count,
                                      const gph_allocator *allocator, gph_error *error);

/* The input with those of the device runtime that it names. They are weak: the module's own stay.
 *
 *  out    NULL: it names none; else as ptx_link().
 *
 * Fails as ptx_link(). Thread: any. */
GPH_CHECKED gph_status ptx_link_runtime(const ptx_link_input *input,
                                        const gph_allocator *allocator, char **out,
                                        size_t *bytes, gph_error *error);

/* Whether a text is CUDA's device runtime itself, as nvcc links it into programs whose kernels
 * launch kernels: its functions are here without it. */
bool ptx_holds_device_runtime(const char *text, size_t bytes);

#endif
