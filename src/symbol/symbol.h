// SPDX-License-Identifier: Apache-2.0
/* Addresses of a process that may be gone, put into words: from the files it had loaded.
 */
#ifndef GPHI_SYMBOL_SYMBOL_H
#define GPHI_SYMBOL_SYMBOL_H
#include <gph/base.h>

typedef struct gphi_symbols gphi_symbols;

/* Texts are lent until gphi_symbols_destroy(); NULL: unknown. */
typedef struct gphi_symbol {
    const char *function; /* demangled */
    const char *file;     /* of the source */
    int line;
    const char *module; /* path of the loaded file */
    uint64_t offset;    /* of the call in the loaded file's addresses */
} gphi_symbol;

gph_status gphi_symbols_create(const gph_allocator *allocator, gphi_symbols **out,
                               gph_error *error);
void gphi_symbols_destroy(gphi_symbols *symbols);

/* A loaded file: its code lies from `start` up to `end`, `bias` beyond what its headers
 * say. A later one hides those it overlaps. `build_id` in hex or "": a file that is
 * another one now gives no lines. GPH_E_NO_MEMORY. */
gph_status gphi_symbols_module(gphi_symbols *symbols, uint64_t start, uint64_t end,
                               uint64_t bias, const char *path, const char *build_id);

/* Frames of one address: functions that were inlined there, and the one that holds it. */
enum { GPHI_SYMBOL_FRAMES = 6 };

/* What a return address means: how many frames, innermost first; at least one, in which
 * what is unknown is NULL. 0: no memory. Slow at first for each file (its debug
 * information is read), then remembered. One thread at a time. */
uint32_t gphi_symbols_find(gphi_symbols *symbols, uint64_t return_address,
                           gphi_symbol out[GPHI_SYMBOL_FRAMES]);
#endif
