// SPDX-License-Identifier: Apache-2.0
/* Symbol tables of ELF files, read in place.
 *
 * Offsets and sizes come from the file and are checked against its length before they
 * are used: a library that somebody cut or wrote over is not a reason to crash a program
 * that does not even use CUDA. */
#include "softcuda/runtime/elf.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool map(rt_elf *out, const char *path)
{
    struct stat info;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    void *bytes = MAP_FAILED;
    if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) &&
        info.st_size > (off_t)sizeof(Elf64_Ehdr))
        bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED)
        return false;
    out->bytes = bytes;
    out->size = (size_t)info.st_size;
    return true;
}

static bool has(const rt_elf *elf, uint64_t offset, uint64_t size)
{
    return offset <= elf->size && size <= elf->size - offset;
}

static const Elf64_Shdr *sections(const rt_elf *elf, size_t *count)
{
    const Elf64_Ehdr *head = (const void *)elf->bytes;
    *count = head->e_shnum;
    const bool is_elf = memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
                        head->e_ident[EI_CLASS] == ELFCLASS64 &&
                        head->e_shentsize == sizeof(Elf64_Shdr) &&
                        head->e_shoff % _Alignof(Elf64_Shdr) == 0 &&
                        has(elf, head->e_shoff, *count * sizeof(Elf64_Shdr));
    return is_elf ? (const void *)(elf->bytes + head->e_shoff) : NULL;
}

static bool find_table(rt_elf *elf, unsigned table)
{
    size_t count;
    const Elf64_Shdr *all = sections(elf, &count);
    for (size_t i = 0; all && i < count; i++) {
        const Elf64_Shdr *at = &all[i];
        if (at->sh_type != table || at->sh_link >= count ||
            at->sh_offset % _Alignof(Elf64_Sym) != 0 ||
            !has(elf, at->sh_offset, at->sh_size))
            continue;
        const Elf64_Shdr *names = &all[at->sh_link];
        if (names->sh_size == 0 || !has(elf, names->sh_offset, names->sh_size) ||
            elf->bytes[names->sh_offset + names->sh_size - 1] != '\0')
            continue;
        elf->symbols = (const void *)(elf->bytes + at->sh_offset);
        elf->symbol_count = at->sh_size / sizeof(Elf64_Sym);
        elf->names = (const char *)elf->bytes + names->sh_offset;
        elf->names_size = names->sh_size;
        return true;
    }
    return false;
}

bool rt_elf_open(rt_elf *out, const char *path, unsigned table)
{
    *out = (rt_elf){0};
    if (!map(out, path))
        return false;
    if (find_table(out, table))
        return true;
    rt_elf_close(out);
    return false;
}

void rt_elf_close(rt_elf *elf)
{
    munmap((void *)(uintptr_t)elf->bytes, elf->size);
    *elf = (rt_elf){0};
}

const char *rt_elf_name(const rt_elf *elf, const Elf64_Sym *symbol)
{
    return symbol->st_name < elf->names_size ? elf->names + symbol->st_name : "";
}
