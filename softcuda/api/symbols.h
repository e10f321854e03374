// SPDX-License-Identifier: Apache-2.0
/* Every exported symbol with its address, for cuGetProcAddress(). */
#ifndef SOFT_API_SYMBOLS_H
#define SOFT_API_SYMBOLS_H
#include <stddef.h>

typedef struct soft_symbol {
    const char *name; /* without _v2, _ptsz and the like */
    int version;
    int per_thread;
    int (*function)(void);
} soft_symbol;

extern const soft_symbol soft_symbols[];
extern const size_t soft_symbol_count;
#endif
