// SPDX-License-Identifier: Apache-2.0
/* The machine code of a module, a unit at a time: each kernel, and after them the
 * functions whose address is taken. */
#ifndef SOFT_KERNEL_LOAD_UNIT_H
#define SOFT_KERNEL_LOAD_UNIT_H

#include "softcuda/kernel/load/code.h"
#include "softcuda/kernel/load/fatbin.h"
#include "softcuda/kernel/load/pack.h"

typedef struct soft_units soft_units; /* any thread */

typedef struct soft_units_input {
    const soft_code_options *options; /* copied, but for the cache's name */
    const char *directory;            /* of the cache, copied; NULL: none */
    gphi_hash128 seed;                /* of all that decides over code but its text */
    gphi_hash128 key;                 /* and of the text */
    uint32_t kernel_count;
    ptx_module *module; /* taken on success; NULL: parsed when it is needed */
} soft_units_input;

/* `text` is taken on success. Fails with GPH_E_NO_MEMORY. */
GPH_CHECKED gph_status soft_units_create(const soft_units_input *input,
                                         soft_ptx_text *text, gph_allocator heap,
                                         soft_units **out, gph_error *error);
void soft_units_destroy(soft_units *units); /* takes NULL; nobody makes one */

/* The objects of a kernel, or, index kernel_count, of the functions; lent. Made now if
 * nobody did, see soft_kernel_ready(). */
GPH_CHECKED gph_status soft_units_get(soft_units *units, uint32_t index,
                                      const soft_pack **out, gph_error *error);

/* Whether what soft_units_get() gave is quick code, and better may be made beside it. */
bool soft_units_may_improve(soft_units *units, uint32_t index);
/* Not only after it has run for long: SOFT_TIER_SOON. */
bool soft_units_is_hasty(const soft_units *units);
/* The better ones, lent as the quick ones, which stay; made now, or from the cache, if
 * nobody did. Fails soon after *cancel is not 0. After soft_units_get(); one thread at a
 * time. */
GPH_CHECKED gph_status soft_units_improve(soft_units *units, uint32_t index,
                                          const _Atomic uint32_t *cancel,
                                          const soft_pack **out, gph_error *error);

soft_units *soft_code_units(const soft_code *code); /* code.c */
bool soft_code_is_eager(const soft_code *code);
void soft_code_counted(uint32_t kernels); /* so many more are described */
void soft_code_parsed(void);              /* a text more */

#endif
