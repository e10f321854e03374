// SPDX-License-Identifier: Apache-2.0
/* Kernels whose code is made twice: quickly before the first launch, and by LLVM's best
 * beside the program once the quick code has run for a while. */
#ifndef SOFT_KERNEL_TIER_H
#define SOFT_KERNEL_TIER_H

#include "softcuda/kernel/load/code.h"
#include "softcuda/kernel/load/loader.h"
#include "softcuda/kernel/load/pack.h"

typedef struct soft_tier soft_tier; /* a kernel's, of one binding: any thread */

typedef struct soft_tier_input {
    soft_kernel_code *code; /* its entry is quick code: replaced; its tier is set */
    uint32_t index;         /* of the kernel in its binding */
    soft_code *owner;  /* of the binding, which retains it; retained for a job, too */
    soft_image *quick; /* borrowed until soft_tier_destroy(); unmapped when nobody
                               runs it any more */
    /* Maps a kernel's code into `image` and finds the entry in it: with the binding
     * alive, on the thread that made the code. */
    gph_status (*map)(soft_binding *binding, uint32_t index, const soft_pack *pack,
                      soft_image *image, ptx_block_fn **entry, gph_error *error);
} soft_tier_input;

/* Fails with GPH_E_NO_MEMORY, nothing changed. */
GPH_CHECKED gph_status soft_tier_create(const soft_tier_input *input, gph_allocator heap,
                                        gph_error *error);
/* No launch runs. What is being made for it is not waited for. Takes NULL. */
void soft_tier_destroy(soft_tier *tier, gph_allocator heap);

/* Waits until nothing is being made: for tests. */
void soft_tiers_settle(void);
/* So many kernels run better code than at first, so many quick codes are unmapped. */
void soft_tiers_count(uint64_t *swapped, uint64_t *unmapped);

#endif
