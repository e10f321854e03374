// SPDX-License-Identifier: Apache-2.0
/* Finding the PTX in a module image: plain text, or a fatbin as nvcc and clang embed it.
 */
#ifndef SOFT_KERNEL_LOAD_FATBIN_H
#define SOFT_KERNEL_LOAD_FATBIN_H

#include <gph/base.h>

typedef struct soft_ptx_text {
    const char *text; /* lent by the image, or by `owned` */
    size_t bytes;     /* no NUL counted */
    char *owned;      /* NULL, or decompressed text of owned_bytes */
    size_t owned_bytes;
    gph_allocator heap;
} soft_ptx_text;

/* As soft_code_create() takes an image. Of several PTX texts in a fatbin: the one of the
 * highest architecture up to 9.0. Fails with 200, 209 and GPH_E_NO_MEMORY. */
GPH_CHECKED gph_status soft_ptx_find(const void *image, size_t bytes,
                                     const gph_allocator *allocator, soft_ptx_text *out,
                                     gph_error *error);
void soft_ptx_text_fini(soft_ptx_text *text);

#endif
