// SPDX-License-Identifier: Apache-2.0
/* Functions that are not there: each is an error and names itself, once.
 *
 * They are exported all the same. A program that never calls them links and runs; one that
 * does learns which it was, where a missing symbol would end it before main(). */
#include "base/log.h"
#include "softcuda/runtime/entry.h"

#include <stdatomic.h>
#include <stdio.h>

static cudaError_t refuse(const char *name, atomic_bool *is_said)
{
    if (!atomic_exchange(is_said, true))
        fprintf(
            stderr,
            "softcuda: %s is not supported (cudaErrorNotSupported): softcuda's runtime "
            "does not have it\n",
            name);
    return rt_leave(cudaErrorNotSupported);
}

#define X(name)                                                                          \
    GPH_API cudaError_t name(void);                                                      \
    cudaError_t name(void)                                                               \
    {                                                                                    \
        static atomic_bool is_said;                                                      \
        return refuse(#name, &is_said);                                                  \
    }
#include "softcuda/runtime/absent.def"
/* The forms of before 11.2, which no header of 12 names. */
#if RT_MAJOR == 12
#undef cudaSignalExternalSemaphoresAsync
#undef cudaSignalExternalSemaphoresAsync_ptsz
#undef cudaWaitExternalSemaphoresAsync
#undef cudaWaitExternalSemaphoresAsync_ptsz
#include "softcuda/runtime/absent_12.def"
#endif
#undef X
