// SPDX-License-Identifier: Apache-2.0
/* Units of .debug_info (DWARF 2 to 5, section 7.5): what the compiler says of one source
 * file. Here: its directory, and which functions were inlined where. */
#ifndef GPHI_SYMBOL_UNIT_H
#define GPHI_SYMBOL_UNIT_H
#include "symbol/bytes.h"
#include <gph/base.h>

/* The sections that entries point into; those that are missing are empty. */
typedef struct gphi_unit_sections {
    gphi_bytes info, abbreviations, text, line_text, text_offsets, addresses, ranges,
        range_lists;
} gphi_unit_sections;

typedef struct gphi_unit {
    uint64_t offset, entries, end; /* in .debug_info: head, first entry, after the last */
    uint64_t abbreviations;        /* offset in its section */
    uint64_t text_base, address_base, range_base; /* what its indices count from */
    uint64_t low;                                 /* what its ranges count from */
    uint64_t program;                             /* its line program; UINT64_MAX: none */
    const char *directory;                        /* that the compiler ran in, or "" */
    const uint32_t *codes; /* by code: where its list of attributes is; or NULL */
    unsigned version, address_bytes;
    bool is_64;
} gphi_unit;

/* A function that was inlined at an address, and where it was called. */
typedef struct gphi_inlined {
    const char *name; /* as the linker has it, or as the source has it; NULL: not said */
    uint64_t call_file;
    int call_line;
} gphi_inlined;

/* The unit at an offset, and where the next one begins (0: none does). False: it cannot
 * be read, or is of types alone. */
bool gphi_unit_read(const gphi_unit_sections *in, uint64_t offset, gphi_unit *out,
                    uint64_t *next);

/* The functions that were inlined at an address of the unit, innermost first; how many.
 * `outer`: the name of the function that holds them, left as it is if it is not said. */
uint32_t gphi_unit_inlined(const gphi_unit_sections *in, const gphi_unit *unit,
                           uint64_t at, gphi_inlined *out, uint32_t room,
                           const char **outer);
#endif
