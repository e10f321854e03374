// SPDX-License-Identifier: Apache-2.0
/* Finding the PTX in a module image: plain text, or a fatbin as nvcc and clang embed it.
 */
#ifndef SOFT_KERNEL_LOAD_FATBIN_H
#define SOFT_KERNEL_LOAD_FATBIN_H

#include <gph/base.h>
#include <stdbool.h>

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
/* PTX that is newer than what is known here is taken as of the newest version that is, with
 * or without machine code beside it: a driver that claims to be newer. Before any image is
 * loaded. */
void soft_ptx_take_newer(bool takes);
void soft_ptx_text_fini(soft_ptx_text *text);

#endif
