// SPDX-License-Identifier: Apache-2.0
/* Pieces of the kernel report: a growing text, and what machine code says. */
#ifndef SOFT_KERNEL_REPORT_H
#define SOFT_KERNEL_REPORT_H

#include <gph/base.h>
#include <stdbool.h>

#include "softcuda/jit/jit.h"
#include "softcuda/kernel/load/loader.h"

typedef struct report_text {
    char *bytes; /* malloc'ed */
    size_t length, capacity;
    bool failed; /* no memory */
} report_text;

void report_add(report_text *text, const char *format, ...) GPH_PRINTF(2, 3);
/* As a JSON string, with its quotes. NULL gives null. */
void report_add_string(report_text *text, const char *string);

typedef struct report_code {
    uint32_t vector_bits; /* widest vector in a loop, 0: none */
    uint64_t code_bytes;
    report_text assembly;
} report_code;

/* Looks through the machine code of one function; `assembly` is filled if wanted. */
void report_read_code(const soft_jit_api *jit, const soft_image *image,
                      const soft_image_function *function, bool want_assembly,
                      report_code *out);

#endif
