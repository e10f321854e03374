// SPDX-License-Identifier: Apache-2.0
/* A wrapper for each symbol of the driver, which this library exports under its name. */
#include "attach/enter.h"

#include <string.h>

static inline uint64_t bits_of(const void *value, size_t bytes)
{
    uint64_t word = 0;
    memcpy(&word, value, bytes);
    return word;
}

/* clang-format off */

/* An argument as a word. IPC handles, which are longer, are not recorded. */
#define WORD(C, type, name) \
    (uint64_t)_Generic((name), float: bits_of(&(name), sizeof(float)), \
        CUmemLocation: bits_of(&(name), sizeof(CUmemLocation)), \
        CUipcEventHandle: 0, CUipcMemHandle: 0, default: (name))
#define WORD_VOID(C) 0
#define NAME(C, type, name) name
#define NAME_VOID(C)

#define WRAPPER(symbol, name, version, per_thread, arguments) \
    ATTACH_API CUresult symbol GPHI_DECLARED(arguments) \
    { \
        const uint64_t words_[] = {GPHI_MAP(WORD, , GPHI_COMMA, arguments)}; \
        attach_call call_; \
        __typeof__(symbol) *const real_ = \
            (__typeof__(symbol) *)attach_enter(&call_, ATTACH_##symbol, words_); \
        return attach_leave(&call_, real_(GPHI_MAP(NAME, , GPHI_COMMA, arguments))); \
    }
GPHI_CUDA_SIGNATURES(WRAPPER)
