// SPDX-License-Identifier: Apache-2.0
/* An ELF file as it lies on disk: its sections, and the functions of its symbol tables.
 * What is missing in it comes from its debug file, /usr/lib/debug/.build-id/..., where
 * there is one. Files may be damaged: every place is checked before it is read. */
#ifndef GPHI_SYMBOL_ELF_H
#define GPHI_SYMBOL_ELF_H
#include "symbol/bytes.h"
#include <gph/base.h>

typedef struct gphi_elf gphi_elf;

/* NULL: not an ELF file of this machine's kind, or no memory. `build_id`: in hex; where it
 * is not empty and the file's is another, `is_same` is false. */
gphi_elf *gphi_elf_open(gph_allocator heap, const char *path, const char *build_id,
                        bool *is_same);
void gphi_elf_close(gphi_elf *elf);

/* The bytes of a section such as ".debug_line", decompressed; none where it is not there.
 * Lent until gphi_elf_close(). */
gphi_bytes gphi_elf_section(gphi_elf *elf, const char *name);

/* The name of the function that holds an address of the file, or NULL. Lent likewise. */
const char *gphi_elf_function(gphi_elf *elf, uint64_t at);
#endif
