// SPDX-License-Identifier: Apache-2.0
/* Function, file and line of an address of an ELF file, from its symbols and DWARF. It needs
 * no library, so that whoever reads a stack sees the same everywhere. A gphi_dwarf is one
 * thread's at a time. */
#ifndef GPHI_SYMBOL_DWARF_H
#define GPHI_SYMBOL_DWARF_H
#include <gph/base.h>
#include <stdbool.h>

typedef struct gphi_dwarf gphi_dwarf;

/* Texts are lent until gphi_dwarf_close(). */
typedef struct gphi_dwarf_place {
    const char *function; /* as the linker has it; NULL: not known */
    const char *file;     /* with its directory; NULL: not known */
    int line;
} gphi_dwarf_place;

/* The file at `path`, or NULL: it cannot be read. `is_same`: whether its build id (hex;
 * empty: not known) is the given one. */
gphi_dwarf *gphi_dwarf_open(gph_allocator heap, const char *path, const char *build_id,
                            bool *is_same);
void gphi_dwarf_close(gphi_dwarf *dwarf);

/* What is known of an address of the file (that in the process less the difference with
 * which it was loaded), which lies in a call: the return address - 1. First the functions
 * that were inlined there, innermost first, then the function that holds the address; how
 * many of `room`, at least 1. With a room of 1 the function has the innermost line. */
uint32_t gphi_dwarf_frames(gphi_dwarf *dwarf, uint64_t at, gphi_dwarf_place *out,
                           uint32_t room);

/* The name as C++ writes it, owned by the caller (free()); NULL: it is not one of C++, or
 * there is no libstdc++. Thread: any. */
char *gphi_demangle(const char *name);
#endif
