// SPDX-License-Identifier: Apache-2.0
/* Runtimes inside objects, by their names. A program may have a function of its own of the
 * name cudaMalloc: only who registers fat binaries has a runtime.
 *
 * Which version it is, its functions say: 13.0 dropped cudaThreadSynchronize, 12.0 brought
 * a second layout of device properties. */
#include "softcuda/runtime/inside.h"

#include <string.h>

void rt_names_see(rt_names *names, const char *name)
{
    names->registers = names->registers || strcmp(name, "__cudaRegisterFatBinary") == 0;
    names->has_threads = names->has_threads || strcmp(name, "cudaThreadSynchronize") == 0;
    names->has_second =
        names->has_second || strcmp(name, "cudaGetDeviceProperties_v2") == 0;
}

int rt_names_major(const rt_names *names)
{
    const int old = names->has_second ? 12 : 11;
    return !names->registers ? 0 : names->has_threads ? old : 13;
}

void rt_inside_add(rt_inside *out, const char *name, uint64_t at, uint64_t bytes)
{
    const uint64_t to = bytes >= RT_NEAR_BYTES ? out->replacement(name, out->major) : 0;
    if (to != 0 && out->count < out->room)
        out->places[out->count++] = (rt_place){at, to};
}

/* NULL: it is not one of the runtime's names. */
static const char *function_name(const rt_elf *elf, const Elf64_Sym *symbol)
{
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF)
        return NULL;
    const char *name = rt_elf_name(elf, symbol);
    const bool is_its = strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0;
    return is_its ? name : NULL;
}

void rt_inside_named(rt_inside *out)
{
    rt_elf elf = *out->elf;
    rt_names names = {0};
    out->count = 0;
    rt_elf_read(&elf, SHT_SYMTAB);
    for (size_t i = 0; i < elf.symbol_count; i++) {
        const char *name = function_name(&elf, &elf.symbols[i]);
        if (name)
            rt_names_see(&names, name);
    }
    out->major = rt_names_major(&names);
    for (size_t i = 0; out->major != 0 && i < elf.symbol_count; i++) {
        const Elf64_Sym *symbol = &elf.symbols[i];
        const char *name = function_name(&elf, symbol);
        if (name)
            rt_inside_add(out, name, out->base + symbol->st_value, symbol->st_size);
    }
}

static bool defines(const rt_elf *elf, bool is_defined, const char *name)
{
    for (size_t i = 0; i < elf->symbol_count; i++)
        if ((elf->symbols[i].st_shndx != SHN_UNDEF) == is_defined &&
            strcmp(rt_elf_name(elf, &elf->symbols[i]), name) == 0)
            return true;
    return false;
}

/* A runtime opens the driver by its name, and knows the names of all its errors. */
static bool has_texts(const rt_elf *elf)
{
    static const char driver[] = "libcuda.so.1",
                      error[] = "cudaErrorMissingConfiguration";
    size_t bytes;
    const void *texts = rt_elf_section(elf, ".rodata", &bytes);
    return texts && memmem(texts, bytes, driver, sizeof(driver)) &&
           memmem(texts, bytes, error, sizeof(error));
}

bool rt_inside_unnamed(const rt_elf *elf)
{
    rt_elf dynamic = *elf;
    size_t bytes;
    rt_elf_read(&dynamic, SHT_DYNSYM);
    if (defines(&dynamic, false, "__cudaRegisterFatBinary") ||
        defines(&dynamic, true, "cudaMalloc") || defines(&dynamic, true, "cuInit"))
        return false; /* the last is a driver: kernels ask for the names of errors, too */
    return rt_elf_section(elf, ".nvFatBinSegment", &bytes) || has_texts(elf);
}
