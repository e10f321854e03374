// SPDX-License-Identifier: Apache-2.0
/* A loader of ELF64 relocatable objects for kernels. Objects may come from a damaged
 * cache file: every offset is checked before it is used.
 *
 *   mapping   | text of all objects, stubs | constants, slots | data |
 *               read, execute                read only          read, write
 *
 * A slot holds the absolute address of a symbol (a GOT entry); a stub jumps to a symbol
 * that is not in the mapping. */
#include "softcuda/kernel/load/loader.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/map.h"
#include "softcuda/kernel/load/code.h"

#define NOWHERE UINT64_MAX
#define ALIGN_MAX 4096u

enum segment { TEXT, CONSTANTS, DATA, SEGMENTS };

struct object {
    const unsigned char *bytes;
    size_t count;
    const Elf64_Shdr *sections;
    uint32_t section_count;
    const char *section_names;
    uint64_t section_names_bytes;
    const Elf64_Sym *symbols;
    uint32_t symbol_count;
    const char *strings;
    uint64_t string_bytes;
    uint64_t *places;    /* section -> offset in the mapping */
    uint64_t *addresses; /* symbol -> address */
    uint32_t *slots;     /* symbol -> number of its slot + 1 */
    uint32_t *stubs;     /* symbol -> number of its stub + 1 */
};

struct load {
    const soft_loader_input *input;
    gph_allocator heap;
    gph_error *error;
    struct object *objects;
    uint64_t used[SEGMENTS];  /* bytes so far */
    uint64_t start[SEGMENTS]; /* offset in the mapping */
    uint32_t slot_count, stub_count, function_count;
    uint64_t slots_at, stubs_at; /* offsets in the mapping */
    gphi_map defined;            /* of several objects: see note_defined() */
    soft_image image;
};

/* Every refusal names the object and what was wrong with it; where it came from is not
 * known here. */
static gph_status damaged(struct load *load, uint32_t index, const char *what)
{
    return gphi_fail(load->error, SOFT_ERROR_INVALID_IMAGE, "machine code object %u: %s",
                     index, what);
}

/* Written so that no sum can overflow. */
static bool in_file(const struct object *object, uint64_t offset, uint64_t bytes)
{
    return offset <= object->count && bytes <= object->count - offset;
}

/* A text of a string table; the tables are checked to end with a NUL. */
static const char *text_at(const char *table, uint64_t bytes, uint32_t offset)
{
    return offset < bytes ? table + offset : "";
}

static const char *section_name(const struct object *object, const Elf64_Shdr *section)
{
    return text_at(object->section_names, object->section_names_bytes, section->sh_name);
}

static bool read_strings(const struct object *object, uint32_t index, const char **table,
                         uint64_t *bytes)
{
    if (index >= object->section_count)
        return false;
    const Elf64_Shdr *section = &object->sections[index];
    if (section->sh_type != SHT_STRTAB || section->sh_size == 0 ||
        object->bytes[section->sh_offset + section->sh_size - 1] != '\0')
        return false;
    *table = (const char *)object->bytes + section->sh_offset;
    *bytes = section->sh_size;
    return true;
}

static bool read_sections(struct object *object)
{
    if (object->count < sizeof(Elf64_Ehdr) || (uintptr_t)object->bytes % 8 != 0)
        return false;
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)object->bytes;
    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_ident[EI_DATA] != ELFDATA2LSB ||
        head->e_type != ET_REL || head->e_machine != soft_machine ||
        head->e_shentsize != sizeof(Elf64_Shdr) || head->e_shoff % 8 != 0 ||
        !in_file(object, head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr)))
        return false;
    object->sections = (const Elf64_Shdr *)(const void *)(object->bytes + head->e_shoff);
    object->section_count = head->e_shnum;
    for (uint32_t i = 0; i < object->section_count; i++) {
        const Elf64_Shdr *section = &object->sections[i];
        if (section->sh_type != SHT_NOBITS && section->sh_type != SHT_NULL &&
            !in_file(object, section->sh_offset, section->sh_size))
            return false;
        if (section->sh_addralign > ALIGN_MAX ||
            (section->sh_addralign & (section->sh_addralign - 1)) != 0)
            return false;
    }
    return read_strings(object, head->e_shstrndx, &object->section_names,
                        &object->section_names_bytes);
}

static bool read_symbols(struct object *object)
{
    for (uint32_t i = 0; i < object->section_count; i++) {
        const Elf64_Shdr *section = &object->sections[i];
        if (section->sh_type != SHT_SYMTAB)
            continue;
        if (section->sh_offset % 8 != 0 ||
            section->sh_size / sizeof(Elf64_Sym) > 1u << 24)
            return false;
        object->symbols =
            (const Elf64_Sym *)(const void *)(object->bytes + section->sh_offset);
        object->symbol_count = (uint32_t)(section->sh_size / sizeof(Elf64_Sym));
        return read_strings(object, section->sh_link, &object->strings,
                            &object->string_bytes);
    }
    return false;
}

/* Sections that run code needs; unwind tables are not among them. */
static bool is_loaded(const struct object *object, const Elf64_Shdr *section)
{
    return (section->sh_flags & SHF_ALLOC) != 0 && section->sh_size != 0 &&
           (section->sh_type == SHT_PROGBITS || section->sh_type == SHT_NOBITS) &&
           strcmp(section_name(object, section), ".eh_frame") != 0;
}

static enum segment segment_of(const Elf64_Shdr *section)
{
    if (section->sh_flags & SHF_EXECINSTR)
        return TEXT;
    return section->sh_flags & SHF_WRITE ? DATA : CONSTANTS;
}

/* Gives each section a place, as an offset in its segment for now. */
static gph_status place_sections(struct load *load, uint32_t index)
{
    struct object *object = &load->objects[index];
    for (uint32_t i = 0; i < object->section_count; i++) {
        const Elf64_Shdr *section = &object->sections[i];
        object->places[i] = NOWHERE;
        if (!is_loaded(object, section))
            continue;
        if (section->sh_flags & SHF_TLS)
            return damaged(load, index, "it has thread-local data");
        if (section->sh_size > 1u << 30)
            return damaged(load, index, "a section is over 1 GiB");
        uint64_t *used = &load->used[segment_of(section)];
        const uint64_t align = section->sh_addralign > 1 ? section->sh_addralign : 1;
        *used = (*used + align - 1) & ~(align - 1);
        object->places[i] = *used;
        *used += section->sh_size;
    }
    return GPH_OK;
}

/* In a section that is loaded, or absolute. */
static bool is_defined(const struct object *object, uint32_t symbol)
{
    const uint16_t section = object->symbols[symbol].st_shndx;
    return section == SHN_ABS ||
           (section != SHN_UNDEF && section < object->section_count &&
            object->places[section] != NOWHERE);
}

/* The relocations of a section, if it has any that matter. */
static bool relocations_of(const struct object *object, const Elf64_Shdr *section,
                           const Elf64_Rela **out, uint64_t *count)
{
    if (section->sh_type != SHT_RELA || section->sh_info >= object->section_count ||
        object->places[section->sh_info] == NOWHERE)
        return false;
    *out = (const Elf64_Rela *)(const void *)(object->bytes + section->sh_offset);
    *count = section->sh_size / sizeof(Elf64_Rela);
    return true;
}

/* Counts the slots and stubs that an object needs. */
static gph_status count_needs(struct load *load, uint32_t index)
{
    struct object *object = &load->objects[index];
    for (uint32_t i = 0; i < object->section_count; i++) {
        const Elf64_Rela *relocations;
        uint64_t count;
        if (object->sections[i].sh_type == SHT_REL)
            return damaged(load, index, "relocations without addends");
        if (!relocations_of(object, &object->sections[i], &relocations, &count))
            continue;
        if (object->sections[i].sh_offset % 8 != 0)
            return damaged(load, index, "misplaced relocations");
        for (uint64_t r = 0; r < count; r++) {
            const uint32_t symbol = (uint32_t)ELF64_R_SYM(relocations[r].r_info);
            const uint32_t type = (uint32_t)ELF64_R_TYPE(relocations[r].r_info);
            soft_relocation_need need;
            if (symbol >= object->symbol_count)
                return damaged(load, index, "a relocation names no symbol");
            if (!soft_relocation_known(type, &need))
                return gphi_fail(load->error, SOFT_ERROR_INVALID_IMAGE,
                                 "machine code object %u: relocation type %u is unknown",
                                 index, type);
            if (need == SOFT_RELOCATION_GOT && object->slots[symbol] == 0)
                object->slots[symbol] = ++load->slot_count;
            if (need == SOFT_RELOCATION_BRANCH && !is_defined(object, symbol) &&
                object->stubs[symbol] == 0)
                object->stubs[symbol] = ++load->stub_count;
        }
    }
    return GPH_OK;
}

static uint64_t section_address(const struct load *load, const struct object *object,
                                uint32_t section)
{
    const enum segment segment = segment_of(&object->sections[section]);
    return (uint64_t)(uintptr_t)load->image.base + load->start[segment] +
           object->places[section];
}

static const char *symbol_name(const struct object *object, uint32_t symbol)
{
    return text_at(object->strings, object->string_bytes,
                   object->symbols[symbol].st_name);
}

static bool is_for_others(const struct object *object, uint32_t symbol)
{
    return ELF64_ST_BIND(object->symbols[symbol].st_info) != STB_LOCAL &&
           object->symbols[symbol].st_shndx != SHN_UNDEF && is_defined(object, symbol);
}

/* What objects define for each other, by the hash of its name. A large kernel has
 * thousands. Of two with one name the first counts. */
static gph_status note_defined(struct load *load)
{
    for (uint32_t o = 0; load->input->object_count > 1 && o < load->input->object_count;
         o++) {
        const struct object *object = &load->objects[o];
        for (uint32_t i = 0; i < object->symbol_count; i++) {
            const uint64_t key = gphi_hash_text(GPHI_HASH_START, symbol_name(object, i));
            if (is_for_others(object, i) && !gphi_map_get(&load->defined, key))
                GPHI_TRY(gphi_map_set(&load->defined, key, (uint64_t)o << 32 | i));
        }
    }
    return GPH_OK;
}

/* A symbol defined for others by any object, or 0. */
static uint64_t find_defined(const struct load *load, const char *name)
{
    const uint64_t *place =
        gphi_map_get(&load->defined, gphi_hash_text(GPHI_HASH_START, name));
    if (!place)
        return 0;
    const struct object *object = &load->objects[*place >> 32];
    const Elf64_Sym *symbol = &object->symbols[(uint32_t)*place];
    if (strcmp(symbol_name(object, (uint32_t)*place), name) != 0)
        return 0; /* two names of one hash: nothing that LLVM wrote for one kernel */
    return section_address(load, object, symbol->st_shndx) + symbol->st_value;
}

static gph_status resolve_symbols(struct load *load, uint32_t index)
{
    struct object *object = &load->objects[index];
    for (uint32_t i = 1; i < object->symbol_count; i++) {
        const Elf64_Sym *symbol = &object->symbols[i];
        const char *name =
            text_at(object->strings, object->string_bytes, symbol->st_name);
        if (symbol->st_shndx == SHN_ABS) {
            object->addresses[i] = symbol->st_value;
        } else if (is_defined(object, i)) {
            object->addresses[i] =
                section_address(load, object, symbol->st_shndx) + symbol->st_value;
        } else if (symbol->st_shndx == SHN_UNDEF) {
            uint64_t address = find_defined(load, name);
            if (address == 0)
                address = load->input->resolve(load->input->user, name);
            if (address == 0)
                return gphi_fail(load->error, SOFT_ERROR_INVALID_IMAGE,
                                 "machine code needs \"%.200s\", which nobody defines",
                                 name);
            object->addresses[i] = address;
        }
    }
    return GPH_OK;
}

/* Sections without bytes in the file (.bss) are zero already: the mapping is fresh. */
static void copy_sections(struct load *load, const struct object *object)
{
    for (uint32_t i = 0; i < object->section_count; i++)
        if (object->places[i] != NOWHERE && object->sections[i].sh_type != SHT_NOBITS)
            memcpy((void *)(uintptr_t)section_address(load, object, i),
                   object->bytes + object->sections[i].sh_offset,
                   object->sections[i].sh_size);
}

/* Fills the slots and stubs of one object. */
static void write_slots(struct load *load, const struct object *object)
{
    for (uint32_t i = 0; i < object->symbol_count; i++) {
        if (object->slots[i] != 0)
            memcpy(load->image.base + load->slots_at + (object->slots[i] - 1) * 8ull,
                   &object->addresses[i], 8);
        if (object->stubs[i] != 0)
            soft_stub_write(load->image.base + load->stubs_at +
                                (object->stubs[i] - 1) * (uint64_t)SOFT_STUB_BYTES,
                            object->addresses[i]);
    }
}

/* What a relocation refers to: the symbol itself, its slot, or its stub. */
static uint64_t value_for(const struct load *load, const struct object *object,
                          uint32_t symbol, uint32_t type)
{
    const uint64_t base = (uint64_t)(uintptr_t)load->image.base;
    soft_relocation_need need = SOFT_RELOCATION_PLAIN;
    soft_relocation_known(type, &need); /* count_needs() has refused unknown ones */
    if (need == SOFT_RELOCATION_GOT)
        return base + load->slots_at + (object->slots[symbol] - 1) * 8ull;
    if (need == SOFT_RELOCATION_BRANCH && object->stubs[symbol] != 0)
        return base + load->stubs_at +
               (object->stubs[symbol] - 1) * (uint64_t)SOFT_STUB_BYTES;
    return object->addresses[symbol];
}

static gph_status relocate(struct load *load, uint32_t index)
{
    const struct object *object = &load->objects[index];
    for (uint32_t i = 0; i < object->section_count; i++) {
        const Elf64_Rela *relocations;
        uint64_t count;
        if (!relocations_of(object, &object->sections[i], &relocations, &count))
            continue;
        const uint32_t target = object->sections[i].sh_info;
        const uint64_t bytes = object->sections[target].sh_size;
        const uint64_t address = section_address(load, object, target);
        for (uint64_t r = 0; r < count; r++) {
            const uint32_t type = (uint32_t)ELF64_R_TYPE(relocations[r].r_info);
            const uint64_t offset = relocations[r].r_offset;
            const soft_patch patch = {
                .type = type,
                .where = (unsigned char *)(uintptr_t)(address + offset),
                .room = offset < bytes ? bytes - offset : 0,
                .place = address + offset,
                .value = value_for(load, object,
                                   (uint32_t)ELF64_R_SYM(relocations[r].r_info), type),
                .addend = relocations[r].r_addend,
            };
            if (!soft_relocation_apply(&patch))
                return gphi_fail(load->error, SOFT_ERROR_INVALID_IMAGE,
                                 "machine code object %u: relocation type %u at %#llx "
                                 "does not fit",
                                 index, type, (unsigned long long)offset);
        }
    }
    return GPH_OK;
}

static uint64_t whole_pages(uint64_t bytes)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) & ~(page - 1);
}

static gph_status map_image(struct load *load)
{
    load->used[TEXT] = (load->used[TEXT] + 15) & ~15ull;
    load->stubs_at = load->used[TEXT];
    load->used[TEXT] += (uint64_t)load->stub_count * SOFT_STUB_BYTES;
    load->used[CONSTANTS] = (load->used[CONSTANTS] + 15) & ~15ull;
    const uint64_t slots = load->used[CONSTANTS];
    load->used[CONSTANTS] += load->slot_count * 8ull;

    load->start[TEXT] = 0;
    load->start[CONSTANTS] = whole_pages(load->used[TEXT]);
    load->start[DATA] = load->start[CONSTANTS] + whole_pages(load->used[CONSTANTS]);
    load->slots_at = load->start[CONSTANTS] + slots;
    const uint64_t bytes = load->start[DATA] + whole_pages(load->used[DATA]);
    if (bytes == 0 || bytes > 1u << 30)
        return gphi_fail(load->error, SOFT_ERROR_INVALID_IMAGE,
                         "machine code of %llu bytes", (unsigned long long)bytes);
    void *base =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return gphi_fail(load->error, SOFT_ERROR_OUT_OF_MEMORY,
                         "no memory to map %llu bytes of machine code",
                         (unsigned long long)bytes);
    load->image.base = base;
    load->image.bytes = bytes;
    load->image.text_bytes = load->used[TEXT];
    return GPH_OK;
}

/* Last of all: until then everything is writable and nothing can be run. */
static gph_status protect(struct load *load)
{
    unsigned char *base = load->image.base;
    const size_t text = whole_pages(load->used[TEXT]);
    const size_t constants = whole_pages(load->used[CONSTANTS]);
    __builtin___clear_cache((char *)base, (char *)base + text);
    if ((text != 0 && mprotect(base, text, PROT_READ | PROT_EXEC) != 0) ||
        (constants != 0 &&
         mprotect(base + load->start[CONSTANTS], constants, PROT_READ) != 0))
        return gphi_fail(load->error, SOFT_ERROR_OUT_OF_MEMORY,
                         "the system refuses to make memory executable");
    return GPH_OK;
}

static bool is_function(const struct object *object, uint32_t symbol)
{
    return ELF64_ST_TYPE(object->symbols[symbol].st_info) == STT_FUNC &&
           object->symbols[symbol].st_shndx != SHN_ABS && is_defined(object, symbol);
}

/* For lookups by name, and for messages that name where a fault was. */
static gph_status list_functions(struct load *load)
{
    uint32_t count = 0;
    for (uint32_t o = 0; o < load->input->object_count; o++)
        for (uint32_t i = 0; i < load->objects[o].symbol_count; i++)
            count += is_function(&load->objects[o], i);
    if (count == 0)
        return GPH_OK;
    soft_image_function *functions =
        gphi_heap_array(load->heap, count, sizeof(*functions));
    GPHI_TRY(gphi_made(load->error, functions, "listing %u functions", count));
    load->image.functions = functions;
    load->image.function_count = count;
    for (uint32_t o = 0; o < load->input->object_count; o++) {
        const struct object *object = &load->objects[o];
        for (uint32_t i = 0; i < object->symbol_count; i++) {
            if (!is_function(object, i))
                continue;
            const Elf64_Sym *symbol = &object->symbols[i];
            *functions++ = (soft_image_function){
                text_at(object->strings, object->string_bytes, symbol->st_name),
                object->addresses[i] - (uint64_t)(uintptr_t)load->image.base,
                symbol->st_size};
        }
    }
    return GPH_OK;
}

static gph_status open_object(struct load *load, uint32_t index)
{
    struct object *object = &load->objects[index];
    object->bytes = load->input->objects[index].bytes;
    object->count = load->input->objects[index].count;
    if (!read_sections(object) || !read_symbols(object))
        return damaged(load, index, "no valid ELF object of this machine");
    object->places = gphi_heap_array(load->heap, object->section_count + 1u, 8);
    object->addresses = gphi_heap_array(load->heap, object->symbol_count + 1u, 8);
    object->slots = gphi_heap_array(load->heap, object->symbol_count + 1u, 4);
    object->stubs = gphi_heap_array(load->heap, object->symbol_count + 1u, 4);
    GPHI_TRY(
        gphi_made(load->error,
                  object->places && object->addresses && object->slots && object->stubs,
                  "loading %u symbols", object->symbol_count));
    GPHI_TRY(place_sections(load, index));
    return count_needs(load, index);
}

static gph_status load_all(struct load *load)
{
    const uint32_t count = load->input->object_count;
    for (uint32_t i = 0; i < count; i++)
        GPHI_TRY(open_object(load, i));
    GPHI_TRY(gphi_made(load->error, note_defined(load) == GPH_OK, "symbols of %u objects",
                       count));
    GPHI_TRY(map_image(load));
    for (uint32_t i = 0; i < count; i++)
        GPHI_TRY(resolve_symbols(load, i));
    for (uint32_t i = 0; i < count; i++) {
        copy_sections(load, &load->objects[i]);
        write_slots(load, &load->objects[i]);
        GPHI_TRY(relocate(load, i));
    }
    GPHI_TRY(list_functions(load));
    return protect(load);
}

static void close_object(struct load *load, struct object *object)
{
    gphi_heap_free(load->heap, object->places, (object->section_count + 1ull) * 8);
    gphi_heap_free(load->heap, object->addresses, (object->symbol_count + 1ull) * 8);
    gphi_heap_free(load->heap, object->slots, (object->symbol_count + 1ull) * 4);
    gphi_heap_free(load->heap, object->stubs, (object->symbol_count + 1ull) * 4);
}

gph_status soft_image_load(const soft_loader_input *input, const gph_allocator *allocator,
                           soft_image *out, gph_error *error)
{
    struct load load = {.input = input, .heap = gphi_heap(allocator), .error = error};
    load.image.heap = load.heap;
    gphi_map_init(&load.defined, load.heap);
    if (input->object_count == 0)
        return gphi_fail(error, SOFT_ERROR_INVALID_IMAGE, "no machine code object");
    load.objects = gphi_heap_array(load.heap, input->object_count, sizeof(*load.objects));
    GPHI_TRY(gphi_made(error, load.objects, "loading %u objects", input->object_count));
    const gph_status status = load_all(&load);
    gphi_map_fini(&load.defined);
    for (uint32_t i = 0; i < input->object_count; i++)
        close_object(&load, &load.objects[i]);
    gphi_heap_free(load.heap, load.objects, input->object_count * sizeof(*load.objects));
    if (status != GPH_OK) {
        soft_image_unload(&load.image);
        return status;
    }
    *out = load.image;
    return GPH_OK;
}

void soft_image_unload(soft_image *image)
{
    if (image->base)
        munmap(image->base, image->bytes);
    gphi_heap_free(image->heap, image->functions,
                   image->function_count * sizeof(*image->functions));
    *image = (soft_image){.heap = image->heap};
}

const soft_image_function *soft_image_find(const soft_image *image, const char *name)
{
    for (uint32_t i = 0; i < image->function_count; i++)
        if (strcmp(image->functions[i].name, name) == 0)
            return &image->functions[i];
    return NULL;
}
