// SPDX-License-Identifier: Apache-2.0
/* Which entries are the driver's, and where ours stand for them.
 *
 *   linked with -lcuda      our exports come first in the program
 *   dlopen, dlsym           dlsym() (dlsym.S) gives ours for the driver's
 *   cuGetProcAddress        gives ours for the entry that it found, whatever the version
 *
 * The driver is the first library that a symbol of it is looked up in, and stays it once
 * its cuInit() has succeeded; before that, another one takes its place (GPH_DRIVER=auto opens
 * two). Built without sanitizers: their runtimes call dlsym() before they are ready. */
#define _GNU_SOURCE
#include "attach/driver/find.h"
#include "attach/ring/state.h"
#include "attach/ring/thread.h"
#include "base/vec.h"

#include <dlfcn.h>
#include <link.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

typedef struct library {
    attach_library seen;
    uintptr_t base;
} library;

typedef struct address {
    uintptr_t entry;
    uint32_t symbol;
} address;

static attach_function *_Atomic entries[ATTACH_SYMBOL_COUNT];
static library driver;
static address by_address[ATTACH_SYMBOL_COUNT];
static uint32_t address_count;
static atomic_uint binder; /* a thread that binds, or 0 */
static atomic_bool is_bound, was_tried, is_final;

typedef void *dlsym_function(void *, const char *);
void *attach_pick(void *handle, const char *name);
extern dlsym_function *attach_true_dlsym;
dlsym_function *attach_true_dlsym;

static void *to_object(attach_function *function)
{
    void *object;
    memcpy(&object, &function, sizeof(object));
    return object;
}

static attach_function *to_function(void *object)
{
    attach_function *function;
    memcpy(&function, &object, sizeof(function));
    return function;
}

/* ---- the C library's dlsym ---- */

static void find_dlsym(void)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
    for (size_t i = 0; !attach_true_dlsym && i < 3; i++) {
        void *found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
        memcpy(&attach_true_dlsym, &found, sizeof(found));
    }
    if (!attach_true_dlsym)
        abort(); /* no glibc that we know */
}

void *attach_next(const char *name)
{
    return attach_symbol_in(RTLD_NEXT, name);
}

void *attach_symbol_in(void *handle, const char *name)
{
    if (!attach_true_dlsym)
        find_dlsym();
    return attach_true_dlsym(handle, name);
}

/* The number of a symbol, or -1. */
static long find_symbol(const char *name)
{
    if (name[0] != 'c' || name[1] != 'u' || name[2] < 'A' || name[2] > 'Z')
        return -1;
    for (long i = 0; i < ATTACH_SYMBOL_COUNT; i++)
        if (strcmp(name + 2, attach_symbols[i].symbol + 2) == 0)
            return i;
    return -1;
}

/* ---- binding ---- */

static int compare(const void *a, const void *b)
{
    const uintptr_t x = ((const address *)a)->entry, y = ((const address *)b)->entry;
    return (x > y) - (x < y);
}

static int note_range(struct dl_phdr_info *info, size_t bytes, void *user)
{
    (void)bytes;
    library *wanted = user;
    if (info->dlpi_addr != wanted->base)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_LOAD || (header->p_flags & PF_X) == 0)
            continue;
        wanted->seen.start = info->dlpi_addr + header->p_vaddr;
        wanted->seen.end = wanted->seen.start + header->p_memsz;
    }
    return 1;
}

static bool is_own(const void *object)
{
    static uintptr_t own;
    Dl_info info;
    if (own == 0 && dladdr(to_object((attach_function *)attach_wrap), &info) != 0)
        own = (uintptr_t)info.dli_fbase;
    return dladdr(object, &info) != 0 && (uintptr_t)info.dli_fbase == own;
}

static void bind_all(void *handle, const Dl_info *info)
{
    address_count = 0;
    for (uint32_t i = 0; i < ATTACH_SYMBOL_COUNT; i++) {
        void *entry = attach_true_dlsym(handle, attach_symbols[i].symbol);
        if (entry && is_own(entry))
            entry = NULL;
        atomic_store_explicit(&entries[i], to_function(entry), memory_order_release);
        if (entry)
            by_address[address_count++] = (address){(uintptr_t)entry, i};
    }
    dlerror(); /* what is missing is not an error of the program's */
    qsort(by_address, address_count, sizeof(address), compare);
    driver = (library){.base = (uintptr_t)info->dli_fbase};
    strncpy(driver.seen.path, info->dli_fname, sizeof(driver.seen.path) - 1);
    dl_iterate_phdr(note_range, &driver);
    atomic_store(&is_bound, true);
}

/* Binds to the library that `entry` lies in, if that is the driver. Whether it is bound
 * to it now. */
static bool bind_to(const void *entry)
{
    Dl_info info;
    if (dladdr(entry, &info) == 0 || !info.dli_fname)
        return false;
    const uint32_t me = attach_thread();
    uint32_t nobody = 0;
    while (!atomic_compare_exchange_weak(&binder, &nobody, me)) {
        if (nobody == me)
            return false; /* a constructor that runs because we bind */
        nobody = 0;
        sched_yield();
    }
    bool is_it = atomic_load(&is_bound) && driver.base == (uintptr_t)info.dli_fbase;
    if (!is_it && !atomic_load(&is_final)) {
        void *handle = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
        is_it = handle && attach_true_dlsym(handle, "cuInit") &&
                attach_true_dlsym(handle, "cuDriverGetVersion");
        if (is_it)
            bind_all(handle, &info); /* and keeps it loaded */
        dlerror();
    }
    atomic_store(&binder, 0);
    return is_it;
}

/* The driver of a program that is linked with it, or that loads it nowhere that we see.
 */
static void bind_next(void)
{
    if (atomic_exchange(&was_tried, true))
        return;
    void *entry = attach_true_dlsym(RTLD_NEXT, "cuInit");
    if (!entry) {
        void *handle = dlopen("libcuda.so.1", RTLD_NOW);
        entry = handle ? attach_true_dlsym(handle, "cuInit") : NULL;
    }
    dlerror();
    if (entry && !is_own(entry))
        bind_to(entry);
}

attach_function *attach_real(uint32_t symbol)
{
    attach_function *entry = atomic_load_explicit(&entries[symbol], memory_order_acquire);
    if (entry || atomic_load_explicit(&is_bound, memory_order_acquire))
        return entry;
    if (!attach_true_dlsym)
        find_dlsym();
    bind_next();
    return atomic_load_explicit(&entries[symbol], memory_order_acquire);
}

void *attach_entry(const char *name)
{
    const long symbol = find_symbol(name);
    return symbol >= 0 ? to_object(attach_real((uint32_t)symbol)) : NULL;
}

void *attach_driver_symbol(const char *name)
{
    void *handle = driver.seen.path[0] != '\0'
                       ? dlopen(driver.seen.path, RTLD_NOW | RTLD_NOLOAD)
                       : NULL;
    void *found = handle ? attach_true_dlsym(handle, name) : NULL;
    dlerror();
    return found;
}

const attach_library *attach_driver(void)
{
    return &driver.seen;
}

bool attach_is_host(uint64_t pointer)
{
    CUmemorytype type = 0;
    return ATTACH_ASK(cuPointerGetAttribute, &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                      pointer) != CUDA_SUCCESS ||
           type == CU_MEMORYTYPE_HOST;
}

void attach_keep_driver(void)
{
    atomic_store(&is_final, true);
}

/* ---- dlsym ---- */

#define NOT_OURS ((void *)1)

const attach_others *attach_other;

/* What a search through the whole program finds of a name after this library, which would
 * not be there without the doctor. False, with the linker's error: nobody has it. */
static bool find_after(void *handle, const char *name, bool is_driver, void **entry)
{
    *entry = attach_true_dlsym(RTLD_NEXT, name);
    if (*entry)
        return true;
    /* A library's own scope is not known here: what is loaded may be in it. */
    if (handle != RTLD_DEFAULT ||
        !(is_driver ? atomic_load(&is_bound) : attach_other->is_there(name)))
        return false;
    dlerror();
    return true;
}

/* What dlsym() is to give, or NOT_OURS. */
__attribute__((visibility("hidden"))) void *attach_pick(void *handle, const char *name)
{
    if (!attach_true_dlsym)
        find_dlsym();
    const long symbol = name ? find_symbol(name) : -1;
    if (!name || handle == RTLD_NEXT ||
        (symbol < 0 && (!attach_other || !attach_other->pick(name, NULL))))
        return NOT_OURS;
    void *entry = handle == RTLD_DEFAULT ? NULL : attach_true_dlsym(handle, name);
    const bool is_program = handle == RTLD_DEFAULT || (entry && is_own(entry));
    if (is_program && !find_after(handle, name, symbol >= 0, &entry))
        return NULL;
    const uint32_t is = atomic_load_explicit(&attach_is, memory_order_acquire);
    if (!entry || is == ATTACH_OFF || is == ATTACH_LOGS)
        return NOT_OURS;
    if (symbol < 0) {
        void *ours = attach_other->pick(name, entry);
        return ours ? ours : NOT_OURS;
    }
    return is_program || !bind_to(entry) ? NOT_OURS
                                         : to_object(attach_symbols[symbol].wrapper);
}

/* ---- cuGetProcAddress ---- */

/* How well a symbol answers what was asked; less than 0: not at all. */
static int fit(const attach_symbol *symbol, const char *name, int version, uint64_t flags)
{
    const bool wants_thread =
        (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    if (strcmp(symbol->name, name) != 0 || symbol->version > version ||
        (symbol->per_thread && !wants_thread))
        return -1;
    return symbol->version * 2 + (symbol->per_thread == wants_thread);
}

/* Names whose newer versions are symbols of another name, or that cannot be distinguished by
 * version: only the entry itself says. */
static bool is_ambiguous(const char *name)
{
    return strcmp(name, "cuGraphInstantiate") == 0 ||
           strcmp(name, "cuCtxGetDevice") == 0 || strcmp(name, "cuCtxSynchronize") == 0 ||
           strcmp(name, "cuStreamGetCtx") == 0;
}

static long by_name(const char *name, int version, uint64_t flags)
{
    long best = -1;
    int best_fit = -1;
    if (strcmp(name, "cuGraphInstantiate") == 0 && version >= 12000)
        return find_symbol("cuGraphInstantiateWithFlags");
    for (long i = 0; i < ATTACH_SYMBOL_COUNT && !is_ambiguous(name); i++) {
        const int fits = fit(&attach_symbols[i], name, version, flags);
        if (fits > best_fit) {
            best_fit = fits;
            best = i;
        }
    }
    return best;
}

/* Several symbols may share an entry: the one that was asked for, else the first. */
static long by_entry(uintptr_t entry, const char *name, int version, uint64_t flags)
{
    size_t low;
    GPHI_HALVE(low, address_count, at, by_address[at].entry < entry);
    long best = -1;
    int best_fit = -2;
    for (; low < address_count && by_address[low].entry == entry; low++) {
        const int fits =
            fit(&attach_symbols[by_address[low].symbol], name, version, flags);
        if (fits > best_fit) {
            best_fit = fits;
            best = by_address[low].symbol;
        }
    }
    return best;
}

void *attach_wrap(void *entry, const char *name, int version, uint64_t flags)
{
    long symbol = by_entry((uintptr_t)entry, name, version, flags);
    if (symbol < 0 && (symbol = by_name(name, version, flags)) >= 0) {
        attach_function *none = NULL;
        atomic_compare_exchange_strong(&entries[symbol], &none, to_function(entry));
    }
    return symbol >= 0 ? to_object(attach_symbols[symbol].wrapper) : entry;
}

/* ---- another injection library ---- */

int attach_chain(const char *path)
{
    if (!path || path[0] == '\0')
        return 1;
    void *other = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    int (*start)(void) = NULL;
    void *found = other && attach_true_dlsym
                      ? attach_true_dlsym(other, "InitializeInjection")
                      : NULL;
    if (!found || is_own(found))
        return 1;
    memcpy(&start, &found, sizeof(found));
    return start();
}
