// SPDX-License-Identifier: Apache-2.0
/* Whether any call of the process has succeeded: SOFTCUDA_VERDICT=NAME lets a process whose
 * calls were all refused say so at its end, as NAME. Versions, names and cuInit() do not
 * count: a program that comes no further has done nothing. */
#ifndef SOFT_DEVICE_VERDICT_H
#define SOFT_DEVICE_VERDICT_H
#include <stdatomic.h>

#include "cuda/abi.h"

/* From the first call that is known to have succeeded: nothing has to be counted then. */
extern atomic_bool soft_verdict_known __attribute__((visibility("hidden")));
void soft_verdict_count(void);

/* A call begins. On the path of every launch, so that it costs a load there. */
static inline void soft_verdict_entered(void)
{
    if (!atomic_load_explicit(&soft_verdict_known, memory_order_relaxed))
        soft_verdict_count();
}

/* The call that this thread is in is refused. The texts are borrowed for good. */
void soft_verdict_refused(const char *call, CUresult code, const char *name);
#endif
