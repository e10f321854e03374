// SPDX-License-Identifier: Apache-2.0
/* Function, file and line of an address, by libdw.so.1 (elfutils) where there is one.
 * libdw does not promise threads: hold gphi_dwarf_mutex over all calls and over the
 * texts. libgph and libgph-doctor have one each: what libdw keeps hangs on a Dwfl, which
 * never crosses from one to the other, and a program's own use of libdw takes neither. */
#ifndef GPHI_SYMBOL_DWARF_H
#define GPHI_SYMBOL_DWARF_H
#include "base/thread.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct Dwfl Dwfl;

/* Texts are lent until gphi_dwarf_end(). */
typedef struct gphi_dwarf_place {
    const char *function; /* mangled; left as it was if unknown */
    const char *file;     /* likewise */
    int line;
} gphi_dwarf_place;

extern gphi_mutex gphi_dwarf_mutex;

/* This process as it is now, or NULL: no libdw. */
Dwfl *gphi_dwarf_self(void) GPHI_REQUIRES(&gphi_dwarf_mutex);

/* An empty one, to which files are reported with the difference between where they were
 * loaded and what they say; or NULL: no libdw. */
Dwfl *gphi_dwarf_begin(void) GPHI_REQUIRES(&gphi_dwarf_mutex);
void gphi_dwarf_end(Dwfl *dwfl) GPHI_REQUIRES(&gphi_dwarf_mutex);

/* False if the file cannot be read. `is_same`: whether its build id (hex; empty: unknown)
 * is the given one. */
bool gphi_dwarf_report(Dwfl *dwfl, const char *path, uint64_t bias, const char *build_id,
                       bool *is_same) GPHI_REQUIRES(&gphi_dwarf_mutex);
bool gphi_dwarf_report_end(Dwfl *dwfl) GPHI_REQUIRES(&gphi_dwarf_mutex);

/* What is known of an address in a call (the return address - 1). NULL finds nothing. */
void gphi_dwarf_find(Dwfl *dwfl, uint64_t at, gphi_dwarf_place *out)
    GPHI_REQUIRES(&gphi_dwarf_mutex);

/* The same with the functions that were inlined there, innermost first, the function that
 * holds the address last; how many. */
uint32_t gphi_dwarf_frames(Dwfl *dwfl, uint64_t at, gphi_dwarf_place *out, uint32_t room)
    GPHI_REQUIRES(&gphi_dwarf_mutex);

/* The name as C++ writes it, owned by the caller (free()); NULL: it is none of C++, or
 * there is no libstdc++. Takes the mutex itself. */
char *gphi_demangle(const char *name);
#endif
