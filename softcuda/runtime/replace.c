// SPDX-License-Identifier: Apache-2.0
/* The CUDA runtime that nvcc links into programs by default, replaced in memory.
 *
 *     the program's cudaMalloc:  jmp near  ->  jmp [far]  ->  cudaMalloc of this library
 *                                              (a page within 2 GiB of the program)
 *
 * `gph run` preloads this library. Before anything registers its kernels, each function
 * of a static runtime that an object's symbol table names gets a jump to the one of the
 * same name here. An object whose symbols were stripped keeps its runtime; that runtime
 * says itself that it finds no driver it knows.
 *
 * Objects that come later, by dlopen(), are seen as debuggers see them: the dynamic linker
 * calls an empty function, _dl_debug_state, when one is mapped and before its
 * constructors run; that function gets a jump, too. There the linker holds its lock, so
 * nothing here may allocate or call it. */
#include "softcuda/runtime/elf.h"
#include "softcuda/runtime/entry.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    NEAR_BYTES = 5,       /* e9 rel32 */
    FAR_BYTES = 16,       /* ff 25 00000000, the address, 2 of padding */
    ISLAND_BYTES = 16384, /* jumps of one object: a thousand */
    OBJECTS_MAX = 1024,
    FUNCTIONS_MAX = 512
};

/* A function of this library that programs link statically. */
typedef struct function {
    const char *name; /* in `own`, which stays mapped */
    uint64_t address;
} function;

static rt_elf own;
static function functions[FUNCTIONS_MAX]; /* by name */
static size_t function_count;
static uint64_t own_base;

/* Bases of objects that were looked at. Written under the linker's lock alone. */
static uint64_t seen[OBJECTS_MAX];
static size_t seen_count;

static int by_name(const void *a, const void *b)
{
    const function *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static const function *find(const char *name)
{
    const function key = {.name = name};
    return bsearch(&key, functions, function_count, sizeof(*functions), by_name);
}

static bool is_runtime_name(const char *name)
{
    return strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0;
}

/* ---- writing jumps --------------------------------------------------------------------- */

/* Pages for jumps within 2 GiB of an object, free since nothing was mapped there. */
static unsigned char *island(uint64_t near)
{
    const uint64_t step = 1 << 20, reach = (uint64_t)1 << 30;
    for (uint64_t away = step; away < reach; away += step) {
        const uint64_t places[2] = {near + away, near - away};
        for (int i = 0; i < 2; i++) {
            if (places[i] < 65536)
                continue;
            void *wanted = (void *)(uintptr_t)(places[i] & ~(uint64_t)4095);
            void *got = mmap(wanted, ISLAND_BYTES, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
            if (got == wanted)
                return got;
            if (got != MAP_FAILED)
                munmap(got, ISLAND_BYTES);
        }
    }
    return NULL;
}

/* Anywhere: the address lies after the jump, which reads it. */
static void put_far(unsigned char *at, uint64_t target)
{
    static const unsigned char jump[6] = {0xff, 0x25, 0, 0, 0, 0};
    memcpy(at, jump, sizeof(jump));
    memcpy(at + sizeof(jump), &target, sizeof(target));
}

static void put_near(uint64_t from, uint64_t to)
{
    const int32_t distance = (int32_t)(int64_t)(to - (from + NEAR_BYTES));
    unsigned char *at = (unsigned char *)(uintptr_t)from;
    at[0] = 0xe9;
    memcpy(at + 1, &distance, sizeof(distance));
}

/* Whole pages, from the one that holds the first byte on. */
static bool protect(uint64_t address, uint64_t bytes, int protection)
{
    const uint64_t first = address & ~(uint64_t)4095;
    return mprotect((void *)(uintptr_t)first, address + bytes - first, protection) == 0;
}

/* ---- one object ------------------------------------------------------------------------ */

/* What of a symbol table is a function of a static runtime. */
static const function *replaces(const rt_elf *elf, const Elf64_Sym *symbol)
{
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF ||
        symbol->st_size < NEAR_BYTES)
        return NULL;
    const char *name = rt_elf_name(elf, symbol);
    return is_runtime_name(name) ? find(name) : NULL;
}

/* Where the runtime's functions lie in an object: they are one piece of its code. */
typedef struct range {
    uint64_t first, end;
    size_t count;
    bool
        is_runtime; /* it registers fat binaries: not a program's own function of a name */
} range;

static range measure(const rt_elf *elf, uint64_t base)
{
    range found = {.first = UINT64_MAX};
    for (size_t i = 0; i < elf->symbol_count; i++) {
        const Elf64_Sym *symbol = &elf->symbols[i];
        if (!replaces(elf, symbol))
            continue;
        const uint64_t at = base + symbol->st_value;
        found.first = at < found.first ? at : found.first;
        found.end = at + symbol->st_size > found.end ? at + symbol->st_size : found.end;
        found.count++;
        if (strcmp(rt_elf_name(elf, symbol), "__cudaRegisterFatBinary") == 0)
            found.is_runtime = true;
    }
    return found;
}

static void say(const char *path, const char *what)
{
    char text[512];
    const int length =
        snprintf(text, sizeof(text),
                 "softcuda: the CUDA runtime inside %s stays as it is: %s\n", path, what);
    if (length > 0)
        (void)!write(STDERR_FILENO, text,
                     (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1);
}

static void replace_in(const rt_elf *elf, uint64_t base, const char *path)
{
    const range code = measure(elf, base);
    if (!code.is_runtime)
        return;
    unsigned char *jumps =
        code.count * FAR_BYTES <= ISLAND_BYTES ? island(code.first) : NULL;
    if (!jumps) {
        say(path, "no memory near it for jumps");
        return;
    }
    if (!protect(code.first, code.end - code.first, PROT_READ | PROT_WRITE)) {
        say(path, "this system forbids writing to code");
        munmap(jumps, ISLAND_BYTES);
        return;
    }
    size_t used = 0;
    for (size_t i = 0; i < elf->symbol_count; i++) {
        const function *to = replaces(elf, &elf->symbols[i]);
        if (!to)
            continue;
        unsigned char *far = jumps + used++ * FAR_BYTES;
        put_far(far, to->address);
        put_near(base + elf->symbols[i].st_value, (uint64_t)(uintptr_t)far);
    }
    protect(code.first, code.end - code.first, PROT_READ | PROT_EXEC);
    mprotect(jumps, ISLAND_BYTES, PROT_READ | PROT_EXEC);
}

static bool is_new(uint64_t base)
{
    for (size_t i = 0; i < seen_count; i++)
        if (seen[i] == base)
            return false;
    if (seen_count < OBJECTS_MAX)
        seen[seen_count++] = base;
    return true;
}

/* The program itself has no name in the linker's list. */
static void look_at(const struct link_map *object)
{
    rt_elf elf;
    const char *path =
        object->l_name && object->l_name[0] ? object->l_name : "/proc/self/exe";
    if (object->l_addr == own_base || !is_new(object->l_addr) ||
        !rt_elf_open(&elf, path, SHT_SYMTAB))
        return;
    replace_in(&elf, object->l_addr, path);
    rt_elf_close(&elf);
}

/* ---- all objects, now and later ----------------------------------------------------------- */

static void look_at_all(void)
{
    for (const struct link_map *at = _r_debug.r_map; at; at = at->l_next)
        look_at(at);
}

/* Called in place of the linker's empty function: objects come, or are there. */
static void objects_changed(void)
{
    look_at_all();
}

/* Without room for a jump, or the right to write one, what comes later stays as it is. */
static void watch_linker(void)
{
    const uint64_t hook = _r_debug.r_brk;
    unsigned char *jump = hook != 0 ? island(hook) : NULL;
    if (!jump)
        return;
    if (!protect(hook, NEAR_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC)) {
        munmap(jump, ISLAND_BYTES);
        return;
    }
    put_far(jump, (uint64_t)(uintptr_t)objects_changed);
    put_near(hook, (uint64_t)(uintptr_t)jump);
    protect(hook, NEAR_BYTES, PROT_READ | PROT_EXEC);
    mprotect(jump, ISLAND_BYTES, PROT_READ | PROT_EXEC);
}

/* What this library has, by its own table: so a function that is added is replaced, too. */
static bool list_own(void)
{
    Dl_info info;
    if (dladdr((const void *)&function_count, &info) == 0 ||
        !rt_elf_open(&own, info.dli_fname, SHT_DYNSYM))
        return false;
    own_base = (uint64_t)(uintptr_t)info.dli_fbase;
    for (size_t i = 0; i < own.symbol_count && function_count < FUNCTIONS_MAX; i++) {
        const Elf64_Sym *symbol = &own.symbols[i];
        const char *name = rt_elf_name(&own, symbol);
        if (symbol->st_shndx != SHN_UNDEF && is_runtime_name(name) &&
            ELF64_ST_TYPE(symbol->st_info) == STT_FUNC)
            functions[function_count++] = (function){name, own_base + symbol->st_value};
    }
    qsort(functions, function_count, sizeof(*functions), by_name);
    return true;
}

/* First of all constructors: the library is linked with -z initfirst. */
__attribute__((constructor)) static void replace_static_runtimes(void)
{
    if (!list_own())
        return;
    look_at_all();
    watch_linker();
}
