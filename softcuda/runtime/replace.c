// SPDX-License-Identifier: Apache-2.0
/* The CUDA runtime that nvcc links into programs by default, replaced in memory.
 *
 *     the program's cudaMalloc:  jmp near  ->  jmp [far]  ->  cudaMalloc of this library
 *                                              (a page within 2 GiB of the program)
 *
 * `gph run` preloads this library. Before anything registers its kernels, each function
 * of a static runtime (inside.c, stripped.c) gets a jump to the one of the same name here.
 * libcudart.so.12 is preloaded as well, which has what runtimes of CUDA 12 get; this is
 * done by libcudart.so.13 for both, since one library alone can be first.
 *
 * Objects that come later, by dlopen(), are seen as debuggers see them: the dynamic linker
 * calls an empty function, _dl_debug_state, when one is mapped and before its
 * constructors run; that function gets a jump, too. There the linker holds its lock, so
 * nothing here may allocate or call it. */
#include "softcuda/runtime/compilers.h"
#include "softcuda/runtime/entry.h"
#include "softcuda/runtime/inside.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    FAR_BYTES = 16,       /* ff 25 00000000, the address, 2 of padding */
    ISLAND_BYTES = 16384, /* jumps of one object: a thousand */
    OBJECTS_MAX = 1024,
    FUNCTIONS_MAX = 512
};

/* A function that programs link statically. */
typedef struct function {
    const char *name; /* in the library's file, which stays mapped */
    uint64_t address;
} function;

/* One of the two libraries; by what is exported, so that a function that is added is
 * replaced, too. */
typedef struct library {
    uint64_t base;                     /* 0: it is not there */
    function functions[FUNCTIONS_MAX]; /* by name */
    size_t count;
} library;

static const char self[] = "/proc/self/exe";

static library libraries[2];          /* of CUDA 12 and 13 */
static char folder[1024];             /* of both */
static rt_place found[FUNCTIONS_MAX]; /* in the object that is looked at */

/* Bases of objects that were looked at. Written under the linker's lock alone. */
static uint64_t seen[OBJECTS_MAX];
static size_t seen_count;

static int by_name(const void *a, const void *b)
{
    const function *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* 0: neither library has it. */
static uint64_t replacement(const char *name, int major)
{
    const function key = {.name = name};
    const library *of = &libraries[major == 13];
    const function *with = major >= 12 ? bsearch(&key, of->functions, of->count,
                                                 sizeof(*of->functions), by_name)
                                       : NULL;
    return with ? with->address : 0;
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
    const int32_t distance = (int32_t)(int64_t)(to - (from + RT_NEAR_BYTES));
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

/* The program itself has no name in the linker's list. */
static void say(const char *path, const char *what)
{
    char text[2048], program[1024] = "";
    if (strcmp(path, self) == 0 && readlink(self, program, sizeof(program) - 1) > 0)
        path = program;
    const int length =
        snprintf(text, sizeof(text),
                 "softcuda: the CUDA runtime inside %s stays as it is: %s\n", path, what);
    if (length > 0)
        (void)!write(STDERR_FILENO, text,
                     (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1);
}

/* The functions are one piece of the object's code, which is writable meanwhile. */
static void put_jumps(const rt_inside *inside, const char *path)
{
    uint64_t first = UINT64_MAX, end = 0;
    for (size_t i = 0; i < inside->count; i++) {
        const uint64_t at = inside->places[i].at;
        first = at < first ? at : first;
        end = at + RT_NEAR_BYTES > end ? at + RT_NEAR_BYTES : end;
    }
    unsigned char *jumps =
        inside->count * FAR_BYTES <= ISLAND_BYTES ? island(first) : NULL;
    if (!jumps) {
        say(path, "no memory near it for jumps");
        return;
    }
    if (!protect(first, end - first, PROT_READ | PROT_WRITE)) {
        say(path, "this system forbids writing to code");
        munmap(jumps, ISLAND_BYTES);
        return;
    }
    for (size_t i = 0; i < inside->count; i++) {
        unsigned char *far = jumps + i * FAR_BYTES;
        put_far(far, inside->places[i].to);
        put_near(inside->places[i].at, (uint64_t)(uintptr_t)far);
    }
    protect(first, end - first, PROT_READ | PROT_EXEC);
    mprotect(jumps, ISLAND_BYTES, PROT_READ | PROT_EXEC);
}

static void say_kept(const char *path, int major)
{
    char text[1536];
    if (major == 0)
        snprintf(text, sizeof(text),
                 "its names were stripped and no table of a toolkit's has it; `python3 "
                 "%s/static_runtime.py libcudart_static.a`, with the file of the toolkit "
                 "it was built with, makes one",
                 folder);
    else
        snprintf(text, sizeof(text), "it is older than CUDA 12.0; build with 12 or 13");
    say(path, text);
}

static void replace_in(const rt_elf *elf, uint64_t base, const char *path)
{
    rt_inside inside = {.elf = elf,
                        .base = base,
                        .replacement = replacement,
                        .places = found,
                        .room = FUNCTIONS_MAX};
    rt_compilers_find(&inside);
    if (inside.count > 0)
        put_jumps(&inside, path);
    rt_inside_named(&inside);
    if (inside.major == 0) {
        if (!rt_inside_unnamed(elf))
            return;
        rt_inside_stripped(&inside);
    }
    if (inside.count > 0)
        put_jumps(&inside, path);
    else
        say_kept(path, inside.major);
}

/* Libraries whose kernels are not there as PTX: said once for each. */
static void say_machine_code(const char *path)
{
    static const char *const names[] = {
        "libcublas.so", "libcublasLt.so",  "libcudnn",       "libcufft.so",
        "libcurand.so", "libcusolver.so",  "libcusparse.so", "libnccl.so",
        "libnpp",       "libtorch_cuda.so"};
    static bool is_said[sizeof(names) / sizeof(*names)];
    char text[512];
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (is_said[i] || strncmp(file, names[i], strlen(names[i])) != 0)
            continue;
        is_said[i] = true;
        const int length = snprintf(
            text, sizeof(text),
            "softcuda: %s has its kernels as machine code for GPUs alone: they fail with "
            "209 (cudaErrorNoKernelImageForDevice), what does not need them runs\n",
            file);
        if (length > 0 && (size_t)length < sizeof(text))
            (void)!write(STDERR_FILENO, text, (size_t)length);
    }
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

static void look_at(const struct link_map *object)
{
    rt_elf elf;
    const char *path = object->l_name && object->l_name[0] ? object->l_name : self;
    if (object->l_addr == libraries[0].base || object->l_addr == libraries[1].base ||
        !is_new(object->l_addr) || !rt_elf_open(&elf, path))
        return;
    say_machine_code(path);
    replace_in(&elf, object->l_addr, path);
    rt_elf_close(&elf);
}

/* ---- all objects, now and later ----------------------------------------------------------- */

/* What was unloaded is forgotten: another object may come to its place. */
static void forget_gone(void)
{
    size_t kept = 0;
    for (size_t i = 0; i < seen_count; i++) {
        const struct link_map *at = _r_debug.r_map;
        while (at && at->l_addr != seen[i])
            at = at->l_next;
        if (at)
            seen[kept++] = seen[i];
    }
    seen_count = kept;
}

static void look_at_all(void)
{
    forget_gone();
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
    if (!protect(hook, RT_NEAR_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC)) {
        munmap(jump, ISLAND_BYTES);
        return;
    }
    put_far(jump, (uint64_t)(uintptr_t)objects_changed);
    put_near(hook, (uint64_t)(uintptr_t)jump);
    protect(hook, RT_NEAR_BYTES, PROT_READ | PROT_EXEC);
    mprotect(jump, ISLAND_BYTES, PROT_READ | PROT_EXEC);
}

static bool list(library *out, const char *path, uint64_t base)
{
    rt_elf elf;
    if (!rt_elf_open(&elf, path))
        return false;
    rt_elf_read(&elf, SHT_DYNSYM);
    for (size_t i = 0; i < elf.symbol_count && out->count < FUNCTIONS_MAX; i++) {
        const Elf64_Sym *symbol = &elf.symbols[i];
        if (symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC)
            out->functions[out->count++] =
                (function){rt_elf_name(&elf, symbol), base + symbol->st_value};
    }
    qsort(out->functions, out->count, sizeof(*out->functions), by_name);
    out->base = base;
    return true;
}

/* This library, and the one for CUDA 12 where it is loaded. */
static bool list_libraries(void)
{
    char path[sizeof(folder) + 32];
    Dl_info info;
    if (dladdr((const void *)&libraries, &info) == 0)
        return false;
    snprintf(folder, sizeof(folder), "%s", info.dli_fname);
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    snprintf(path, sizeof(path), "%s/libcudart.so.12", folder);
    for (const struct link_map *at = _r_debug.r_map; at; at = at->l_next)
        if (at->l_name && strcmp(at->l_name, path) == 0)
            list(&libraries[0], path, at->l_addr);
    return list(&libraries[1], info.dli_fname, (uint64_t)(uintptr_t)info.dli_fbase);
}

/* First of all constructors: the library is linked with -z initfirst. */
__attribute__((constructor)) static void replace_static_runtimes(int count, char **words,
                                                                 char **environment)
{
    (void)count, (void)words;
    if (!list_libraries())
        return;
    rt_tables_open(environment);
    look_at_all();
    watch_linker();
}
