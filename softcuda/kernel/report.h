// SPDX-License-Identifier: Apache-2.0
/* What the machine code of a kernel says, for the kernel report. */
#ifndef SOFT_KERNEL_REPORT_H
#define SOFT_KERNEL_REPORT_H

#include <gph/base.h>
#include <stdbool.h>

#include "base/text.h"
#include "softcuda/jit/jit.h"
#include "softcuda/kernel/load/loader.h"

typedef struct soft_machine_code {
    uint32_t vector_bits; /* widest vector in a loop, 0: none */
    uint64_t code_bytes;
    gphi_text assembly;
} soft_machine_code;

/* Looks through the machine code of one function; `assembly` is filled if wanted. */
void soft_read_code(const soft_jit_api *jit, const soft_image *image,
                    const soft_image_function *function, bool want_assembly,
                    soft_machine_code *out);

#endif
