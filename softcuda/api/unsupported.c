// SPDX-License-Identifier: Apache-2.0
/* A weak definition of every exported symbol, which names itself in the log and returns
 * CUDA_ERROR_NOT_SUPPORTED. The strong definition of a call that is built replaces its
 * weak one when the library is linked, so the list of what is missing keeps itself. The
 * arguments are not declared: on all our ABIs the caller removes them. */
#include <gph/softcuda.h>
#include <string.h>

#include "cuda/calls.h"
#include "softcuda/device/context.h"

static CUresult unsupported(const char *symbol)
{
    const CUresult entered = soft_enter(symbol);
    if (entered != CUDA_SUCCESS)
        return entered;
    return soft_fail(CUDA_ERROR_NOT_SUPPORTED, "%s is not built into softcuda", symbol);
}

#define X(symbol, name, version, per_thread, args)                                       \
    static CUresult no_##symbol(void)                                                    \
    {                                                                                    \
        return unsupported(#symbol);                                                     \
    }                                                                                    \
    GPH_API CUresult symbol(void) __attribute__((weak, alias("no_" #symbol)));
GPHI_CUDA_SYMBOLS(X)
#undef X

int gph_softcuda_has(const char *symbol)
{
    static const struct {
        const char *name;
        CUresult (*now)(void), (*missing)(void);
    } symbols[] = {
#define X(symbol, name, version, per_thread, args) {#symbol, symbol, no_##symbol},
        GPHI_CUDA_SYMBOLS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
        if (strcmp(symbols[i].name, symbol) == 0)
            return symbols[i].now != symbols[i].missing;
    return -1;
}
