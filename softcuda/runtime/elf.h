// SPDX-License-Identifier: Apache-2.0
/* What ELF files say of themselves: what is loaded may be looked at while the dynamic linker
 * holds its lock, so nothing here allocates or calls it. */
#ifndef SOFT_RUNTIME_ELF_H
#define SOFT_RUNTIME_ELF_H
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

/* A file, mapped. All that is read of it lies inside: a damaged one has no symbols. */
typedef struct rt_elf {
    const unsigned char *bytes;
    size_t size;
    const Elf64_Sym *symbols; /* of the table that was asked for last */
    size_t symbol_count;
    const char *names; /* ends with a NUL, as `names_size` says */
    size_t names_size;
} rt_elf;

/* False: no such file, or it is not of 64 bits. */
bool rt_elf_open(rt_elf *out, const char *path);
void rt_elf_close(rt_elf *elf);
/* `table`: SHT_SYMTAB or SHT_DYNSYM. False: it has none, and `symbol_count` is 0. */
bool rt_elf_read(rt_elf *elf, unsigned table);
/* "" where it has none. */
const char *rt_elf_name(const rt_elf *elf, const Elf64_Sym *symbol);
/* What it has in the file; NULL: it is not there, or the file has nothing of it. */
const void *rt_elf_section(const rt_elf *elf, const char *name, size_t *bytes);
/* The next segment of code after `at` of them; NULL: there is none. */
const Elf64_Phdr *rt_elf_code(const rt_elf *elf, size_t *at);
#endif
