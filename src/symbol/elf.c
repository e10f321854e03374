// SPDX-License-Identifier: Apache-2.0
/* ELF files, mapped; and the functions of .symtab and .dynsym, sorted by address.
 *
 *   elf ─┬─ file[0]   the one that was loaded   (names, sections)
 *        ├─ file[1]   its debug file, if any    (what the first lacks)
 *        └─ functions sorted when the first is asked for */
#define _GNU_SOURCE
#include "symbol/elf.h"
#include "base/heap.h"
#include "base/vec.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 2, BUILD_ID_MAX = 64, UNPACKED_MAX_SHIFT = 30, NESTED_MAX = 16 };

struct file {
    gphi_bytes all; /* mapped; all.at == NULL: there is none */
    const Elf64_Shdr *sections;
    size_t section_count;
    gphi_bytes names;
};

struct function {
    uint64_t start, end; /* start is first; end == start: its size is not known */
    const char *name;
    bool is_global;
};

/* A section that was compressed. */
struct unpacked {
    const Elf64_Shdr *section;
    uint8_t *bytes;
    size_t size;
};

struct gphi_elf {
    gph_allocator heap;
    struct file files[FILES];
    gphi_vec functions; /* of struct function */
    gphi_vec unpacked;  /* of struct unpacked */
    bool is_sorted;
};

/* ---- files ---- */

static gphi_bytes part_of(const struct file *file, uint64_t offset, uint64_t bytes)
{
    const gphi_bytes from = gphi_bytes_from(file->all, offset);
    if (bytes > gphi_bytes_left(&from))
        return (gphi_bytes){NULL, NULL, true};
    return (gphi_bytes){from.at, from.at + bytes, false};
}

static gphi_bytes bytes_of(const struct file *file, const Elf64_Shdr *section)
{
    if (section->sh_type == SHT_NOBITS) /* a debug file has these, without their bytes */
        return (gphi_bytes){NULL, NULL, true};
    return part_of(file, section->sh_offset, section->sh_size);
}

static void unmap(struct file *file)
{
    if (file->all.at)
        munmap((void *)(uintptr_t)file->all.at, gphi_bytes_left(&file->all));
    *file = (struct file){.section_count = 0};
}

static bool read_headers(struct file *file)
{
    const Elf64_Ehdr *head = (const void *)file->all.at;
    if (gphi_bytes_left(&file->all) < sizeof(*head) ||
        memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_ident[EI_DATA] != ELFDATA2LSB)
        return false;
    const uint64_t bytes = (uint64_t)head->e_shnum * sizeof(Elf64_Shdr);
    const gphi_bytes table = part_of(file, head->e_shoff, bytes);
    if (head->e_shentsize != sizeof(Elf64_Shdr) || table.is_short ||
        head->e_shoff % _Alignof(Elf64_Shdr) != 0 || head->e_shstrndx >= head->e_shnum)
        return true; /* one without sections is an ELF file all the same */
    file->sections = (const void *)table.at;
    file->section_count = head->e_shnum;
    file->names = bytes_of(file, &file->sections[head->e_shstrndx]);
    return true;
}

static bool map(const char *path, struct file *out)
{
    struct stat about;
    /* A log names it: what is a pipe by now must not be waited for. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    const bool is_file =
        fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0;
    void *at = is_file ? mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
                       : MAP_FAILED;
    close(fd);
    if (at == MAP_FAILED)
        return false;
    *out = (struct file){.all = {at, (const uint8_t *)at + about.st_size, false}};
    if (read_headers(out))
        return true;
    unmap(out);
    return false;
}

static const Elf64_Shdr *find_section(const struct file *file, const char *name)
{
    for (size_t i = 0; i < file->section_count; i++) {
        gphi_bytes at = gphi_bytes_from(file->names, file->sections[i].sh_name);
        if (strcmp(gphi_bytes_text(&at), name) == 0)
            return &file->sections[i];
    }
    return NULL;
}

/* The linker's number of the file, in hex; empty: it has none. */
static void read_build_id(const struct file *file, char hex[2 * BUILD_ID_MAX + 1])
{
    const Elf64_Shdr *section = find_section(file, ".note.gnu.build-id");
    hex[0] = '\0';
    if (!section)
        return;
    gphi_bytes note = bytes_of(file, section);
    const uint64_t name_bytes = gphi_bytes_number(&note, 4);
    const uint64_t bytes = gphi_bytes_number(&note, 4);
    (void)gphi_bytes_take(&note, 4 + (name_bytes + 3) / 4 * 4); /* type, "GNU" */
    const uint8_t *id = gphi_bytes_take(&note, bytes);
    for (uint64_t i = 0; id && i < bytes && i < BUILD_ID_MAX; i++)
        snprintf(hex + 2 * i, 3, "%02x", id[i]);
}

gphi_elf *gphi_elf_open(gph_allocator heap, const char *path, const char *build_id,
                        bool *is_same)
{
    char own[2 * BUILD_ID_MAX + 1], beside[2 * BUILD_ID_MAX + 64];
    gphi_elf *elf = gphi_heap_alloc(heap, sizeof(*elf));
    *is_same = true;
    if (!elf)
        return NULL;
    elf->heap = heap;
    gphi_vec_init(&elf->functions, heap, sizeof(struct function));
    gphi_vec_init(&elf->unpacked, heap, sizeof(struct unpacked));
    if (!map(path, &elf->files[0])) {
        gphi_elf_close(elf);
        return NULL;
    }
    read_build_id(&elf->files[0], own);
    *is_same = build_id[0] == '\0' || strcmp(own, build_id) == 0;
    if (own[0] != '\0' && !find_section(&elf->files[0], ".debug_info")) {
        snprintf(beside, sizeof(beside), "/usr/lib/debug/.build-id/%.2s/%s.debug", own,
                 own + 2);
        (void)map(beside, &elf->files[1]);
    }
    return elf;
}

void gphi_elf_close(gphi_elf *elf)
{
    if (!elf)
        return;
    GPHI_EACH (const struct unpacked, one, &elf->unpacked)
        gphi_heap_free(elf->heap, one->bytes, one->size);
    for (int i = 0; i < FILES; i++)
        unmap(&elf->files[i]);
    gphi_vec_fini(&elf->functions);
    gphi_vec_fini(&elf->unpacked);
    gphi_heap_free(elf->heap, elf, sizeof(*elf));
}

/* ---- sections ---- */

/* zlib and zstd are opened when a section wants them: few do. */
static bool decompress(uint32_t kind, gphi_bytes from, uint8_t *to, size_t bytes)
{
    typedef int zlib_fn(uint8_t *, unsigned long *, const uint8_t *, unsigned long);
    typedef size_t zstd_fn(void *, size_t, const void *, size_t);
    zlib_fn *unzip = NULL;
    zstd_fn *unzstd = NULL;
    const bool is_zlib = kind == ELFCOMPRESS_ZLIB;
    void *library = dlopen(is_zlib ? "libz.so.1" : "libzstd.so.1", RTLD_NOW);
    if (!library)
        return false;
    if (is_zlib)
        *(void **)&unzip = dlsym(library, "uncompress");
    else
        *(void **)&unzstd = dlsym(library, "ZSTD_decompress");
    if (unzstd)
        return unzstd(to, bytes, from.at, gphi_bytes_left(&from)) == bytes;
    unsigned long size = bytes;
    return unzip && unzip(to, &size, from.at, gphi_bytes_left(&from)) == 0 &&
           size == bytes;
}

static gphi_bytes unpack(gphi_elf *elf, const Elf64_Shdr *section, gphi_bytes packed)
{
    const gphi_bytes none = {NULL, NULL, true};
    GPHI_EACH (const struct unpacked, one, &elf->unpacked) {
        if (one->section == section)
            return (gphi_bytes){one->bytes, one->bytes + one->size, false};
    }
    const uint32_t kind = (uint32_t)gphi_bytes_number(&packed, 4);
    (void)gphi_bytes_number(&packed, 4);
    const uint64_t size = gphi_bytes_number(&packed, 8);
    (void)gphi_bytes_number(&packed, 8); /* alignment */
    if (packed.is_short || size == 0 || size >> UNPACKED_MAX_SHIFT != 0 || kind - 1u > 1)
        return none;
    uint8_t *bytes = gphi_heap_alloc(elf->heap, size);
    struct unpacked *one = NULL;
    if (bytes && decompress(kind, packed, bytes, size))
        one = gphi_vec_add(&elf->unpacked, 1);
    if (!one) {
        gphi_heap_free(elf->heap, bytes, size);
        return none;
    }
    *one = (struct unpacked){section, bytes, size};
    return (gphi_bytes){bytes, bytes + size, false};
}

gphi_bytes gphi_elf_section(gphi_elf *elf, const char *name)
{
    for (int i = 0; i < FILES; i++) {
        const Elf64_Shdr *section = find_section(&elf->files[i], name);
        if (!section || section->sh_type == SHT_NOBITS)
            continue;
        const gphi_bytes bytes = bytes_of(&elf->files[i], section);
        return (section->sh_flags & SHF_COMPRESSED) != 0 ? unpack(elf, section, bytes)
                                                         : bytes;
    }
    return (gphi_bytes){NULL, NULL, true};
}

/* ---- functions ---- */

static void add_functions(gphi_elf *elf, const struct file *file, uint32_t type)
{
    for (size_t i = 0; i < file->section_count; i++) {
        const Elf64_Shdr *section = &file->sections[i];
        if (section->sh_type != type || section->sh_link >= file->section_count)
            continue;
        gphi_bytes table = bytes_of(file, section);
        const gphi_bytes names = bytes_of(file, &file->sections[section->sh_link]);
        const uint8_t *at;
        while ((at = gphi_bytes_take(&table, sizeof(Elf64_Sym)))) {
            Elf64_Sym symbol; /* sections may lie at any address of a damaged file */
            memcpy(&symbol, at, sizeof(symbol));
            const unsigned kind = ELF64_ST_TYPE(symbol.st_info);
            gphi_bytes name = gphi_bytes_from(names, symbol.st_name);
            const char *text = gphi_bytes_text(&name);
            if ((kind != STT_FUNC && kind != STT_GNU_IFUNC) ||
                symbol.st_shndx == SHN_UNDEF || text[0] == '\0')
                continue;
            struct function *function = gphi_vec_add(&elf->functions, 1);
            if (!function)
                return; /* those that there was memory for */
            *function =
                (struct function){symbol.st_value, symbol.st_value + symbol.st_size, text,
                                  ELF64_ST_BIND(symbol.st_info) != STB_LOCAL};
        }
    }
}

/* By address; of one address that name last which a reader knows: a global one, and not a
 * longer alias such as __printf. */
static int by_start(const void *a, const void *b)
{
    const struct function *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->is_global != y->is_global)
        return x->is_global ? 1 : -1;
    const size_t left = strlen(x->name), right = strlen(y->name);
    return left != right ? (left > right ? -1 : 1) : strcmp(x->name, y->name);
}

static void sort_functions(gphi_elf *elf)
{
    elf->is_sorted = true;
    for (int i = 0; i < FILES && elf->functions.count == 0; i++)
        add_functions(elf, &elf->files[i], SHT_SYMTAB);
    if (elf->functions.count == 0)
        add_functions(elf, &elf->files[0], SHT_DYNSYM);
    if (elf->functions.count > 0)
        qsort(elf->functions.items, elf->functions.count, sizeof(struct function),
              by_start);
}

const char *gphi_elf_function(gphi_elf *elf, uint64_t at)
{
    if (!elf->is_sorted)
        sort_functions(elf);
    const struct function *all = elf->functions.items;
    const size_t low = gphi_vec_upto(&elf->functions, at);
    /* A function may lie within another: the nearest that spans the address. */
    for (size_t i = low; i-- > 0 && low - i <= NESTED_MAX;)
        if (at < all[i].end || (all[i].end == all[i].start && i == low - 1))
            return all[i].name;
    return NULL;
}
