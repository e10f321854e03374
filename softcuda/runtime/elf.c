// SPDX-License-Identifier: Apache-2.0
/* Symbol tables, sections and segments of ELF files, read in place.
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

static bool is_elf(const rt_elf *elf)
{
    const Elf64_Ehdr *head = (const void *)elf->bytes;
    return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
           head->e_ident[EI_CLASS] == ELFCLASS64;
}

static const Elf64_Shdr *sections(const rt_elf *elf, size_t *count)
{
    const Elf64_Ehdr *head = (const void *)elf->bytes;
    *count = head->e_shnum;
    const bool is_there = head->e_shentsize == sizeof(Elf64_Shdr) &&
                          head->e_shoff % _Alignof(Elf64_Shdr) == 0 &&
                          has(elf, head->e_shoff, *count * sizeof(Elf64_Shdr));
    return is_there ? (const void *)(elf->bytes + head->e_shoff) : NULL;
}

/* A section of text whose last byte is a NUL; NULL: it is none. */
static const char *strings(const rt_elf *elf, const Elf64_Shdr *section)
{
    const bool is_text = section->sh_type == SHT_STRTAB && section->sh_size != 0 &&
                         has(elf, section->sh_offset, section->sh_size) &&
                         elf->bytes[section->sh_offset + section->sh_size - 1] == '\0';
    return is_text ? (const char *)elf->bytes + section->sh_offset : NULL;
}

bool rt_elf_read(rt_elf *elf, unsigned table)
{
    size_t count;
    const Elf64_Shdr *all = sections(elf, &count);
    elf->symbol_count = 0;
    for (size_t i = 0; all && i < count; i++) {
        const Elf64_Shdr *at = &all[i];
        if (at->sh_type != table || at->sh_link >= count ||
            at->sh_offset % _Alignof(Elf64_Sym) != 0 ||
            !has(elf, at->sh_offset, at->sh_size))
            continue;
        const char *names = strings(elf, &all[at->sh_link]);
        if (!names)
            continue;
        elf->symbols = (const void *)(elf->bytes + at->sh_offset);
        elf->symbol_count = at->sh_size / sizeof(Elf64_Sym);
        elf->names = names;
        elf->names_size = all[at->sh_link].sh_size;
        return true;
    }
    return false;
}

bool rt_elf_open(rt_elf *out, const char *path)
{
    *out = (rt_elf){0};
    if (!map(out, path))
        return false;
    if (is_elf(out))
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

const void *rt_elf_section(const rt_elf *elf, const char *name, size_t *bytes)
{
    size_t count;
    const Elf64_Shdr *all = sections(elf, &count);
    const size_t index = ((const Elf64_Ehdr *)(const void *)elf->bytes)->e_shstrndx;
    const char *names = all && index < count ? strings(elf, &all[index]) : NULL;
    for (size_t i = 0; names && i < count; i++) {
        if (all[i].sh_name >= all[index].sh_size || all[i].sh_type == SHT_NOBITS ||
            strcmp(names + all[i].sh_name, name) != 0 ||
            !has(elf, all[i].sh_offset, all[i].sh_size))
            continue;
        *bytes = all[i].sh_size;
        return elf->bytes + all[i].sh_offset;
    }
    return NULL;
}

const Elf64_Phdr *rt_elf_code(const rt_elf *elf, size_t *at)
{
    const Elf64_Ehdr *head = (const void *)elf->bytes;
    if (head->e_phentsize != sizeof(Elf64_Phdr) ||
        head->e_phoff % _Alignof(Elf64_Phdr) != 0 ||
        !has(elf, head->e_phoff, head->e_phnum * sizeof(Elf64_Phdr)))
        return NULL;
    const Elf64_Phdr *all = (const void *)(elf->bytes + head->e_phoff);
    while (*at < head->e_phnum) {
        const Elf64_Phdr *segment = &all[(*at)++];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0)
            return segment;
    }
    return NULL;
}
