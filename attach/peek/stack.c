// SPDX-License-Identifier: Apache-2.0
/* Call stacks: a cache a thread, numbers for the process.
 *
 *   thread:  [return address, where it lies, Python's frames] -> a set of entries: slots
 *            and what stood in them, number
 *   process: hash of the return addresses -> number (the place in the table + 1) */
#define _GNU_SOURCE
#include "attach/peek/stack.h"
#include "attach/peek/python.h"
#include "attach/ring/draft.h"
#include "attach/ring/place.h"
#include "attach/ring/state.h"
#include "base/clock.h"
#include "base/hash.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

/* WAYS: all launches of a library are one return address, often at one depth. */
enum { ENTRIES = 1024, WAYS = 4, NUMBERS = 1 << 16, MODULES = 1 << 13, LOOK_EVERY = 16 };

/* Frames above the first of this library: where the return address lies, and what it is.
 */
struct entry {
    uintptr_t at; /* where the first of them lies */
    uint32_t number, count;
    uint32_t slots[ATTACH_FRAMES]; /* bytes from `at` */
    uintptr_t frames[ATTACH_FRAMES];
};

/* A thread's own: mapped, since malloc() may be what calls us. */
struct local {
    struct entry entries[ENTRIES];
    uint32_t taken;  /* entries and known ones so far: the next takes a place in turn */
    uint32_t looks;  /* for Python */
    uint32_t seldom; /* stacks of attach_stack_python_seldom(), and its next */
    uint64_t next_ns;
    char python[8 << 10]; /* text of Python frames */
    struct kept {         /* for a child of fork() */
        uint32_t count;
        uintptr_t frames[ATTACH_FRAMES];
        char python[8 << 10];
    } kept;
    struct known { /* stacks with Python frames: by key and native number */
        uint64_t hash;
        uint32_t number;
    } known[ENTRIES];
};

static __thread struct local *local __attribute__((tls_model("initial-exec")));
static pthread_key_t local_key;
static bool has_key;

static _Atomic uint64_t numbers[NUMBERS]; /* hashes; 0: free */
static _Atomic uint8_t is_told[NUMBERS];  /* its STACK record is in the ring */
static _Atomic uint64_t modules[MODULES]; /* hashes of files that were reported */
static _Atomic uint64_t module_changes;   /* as the linker counts them */
static uintptr_t own_start, own_end;      /* this library's code */
static struct kept of_fork;               /* by which this process was made */

/* ---- unwinding ---- */

struct walk {
    uintptr_t base;
    uintptr_t from; /* frames above that one are left out; 0: it was reached */
    uint32_t count;
    bool is_whole; /* the slots hold the addresses */
    uint32_t slots[ATTACH_FRAMES];
    uintptr_t frames[ATTACH_FRAMES];
};

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *user)
{
    struct walk *walk = user;
    const uintptr_t at = _Unwind_GetIP(context);
    if (at == 0)
        return _URC_END_OF_STACK;
    if (walk->from != 0 && at != walk->from)
        return _URC_NO_REASON;
    if (walk->from == 0 && at - own_start < own_end - own_start)
        return _URC_NO_REASON;
    walk->from = 0;
    /* What the caller of this frame's callee pushed: below the stack pointer at the call.
     */
    const uintptr_t slot = _Unwind_GetCFA(context) - sizeof(uintptr_t);
#if defined(__x86_64__)
    if (slot < walk->base || slot - walk->base > UINT32_MAX ||
        *(const uintptr_t *)slot != at)
        walk->is_whole = false;
#else
    walk->is_whole = false; /* where a return address lies is not reported */
#endif
    walk->slots[walk->count] = (uint32_t)(slot - walk->base);
    walk->frames[walk->count++] = at;
    return walk->count < ATTACH_FRAMES ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* ---- loaded files ---- */

/* The place of a hash in a table of them, where 0 is free. */
static long place_of(_Atomic uint64_t *table, uint32_t size, uint64_t hash, bool *is_new)
{
    return attach_place(table, size, hash, hash != 0 ? hash : 1, is_new);
}

static void read_build_id(const struct dl_phdr_info *info, char hex[2 * 32 + 1])
{
    hex[0] = '\0';
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_NOTE)
            continue;
        const char *at = (const char *)(info->dlpi_addr + header->p_vaddr);
        const char *end = at + header->p_memsz;
        while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
            const ElfW(Nhdr) *note = (const void *)at;
            const size_t name = (note->n_namesz + 3U) & ~3U;
            const size_t body = (note->n_descsz + 3U) & ~3U;
            at += sizeof(*note);
            if ((size_t)(end - at) < name + body)
                return;
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
                memcmp(at, "GNU", 4) == 0) {
                const uint32_t count = note->n_descsz < 32 ? note->n_descsz : 32;
                for (uint32_t k = 0; k < count; k++)
                    snprintf(hex + 2 * k, 3, "%02x", (unsigned char)at[name + k]);
                return;
            }
            at += name + body;
        }
    }
}

static void tell_module(const struct dl_phdr_info *info, const ElfW(Phdr) * code)
{
    char path[PATH_MAX] = "", build_id[2 * 32 + 1];
    const uint64_t start = info->dlpi_addr + code->p_vaddr;
    const uint64_t words[] = {start, start + code->p_memsz, info->dlpi_addr};
    if (!info->dlpi_name || info->dlpi_name[0] == '\0') {
        const ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path) - 1);
        path[bytes > 0 ? bytes : 0] = '\0';
    } else if (info->dlpi_name[0] == '/' || !realpath(info->dlpi_name, path))
        snprintf(path, sizeof(path), "%s", info->dlpi_name);
    bool is_new;
    const uint64_t hash =
        gphi_hash_text(gphi_hash_bytes(GPHI_HASH_START, words, sizeof(words)), path);
    const long place = place_of(modules, MODULES, hash, &is_new);
    if (place < 0 || !is_new)
        return;
    read_build_id(info, build_id);
    attach_draft draft;
    attach_draft_begin(&draft, GPHI_EVENT_MODULE, 0);
    attach_draft_words(&draft, words, 3);
    attach_add_text(&draft, path);
    attach_add_text(&draft, build_id);
    if (!attach_write(&draft))
        atomic_store(&modules[place], 0); /* another time */
}

static int count_loads(struct dl_phdr_info *info, size_t bytes, void *user)
{
    (void)bytes;
    *(uint64_t *)user = info->dlpi_adds + 1;
    return 1;
}

/* Changes whenever a file is loaded. */
static uint64_t loaded_files(void)
{
    uint64_t count = 0;
    dl_iterate_phdr(count_loads, &count);
    return count;
}

static int visit_module(struct dl_phdr_info *info, size_t bytes, void *user)
{
    (void)bytes;
    uint64_t *changes = user;
    const uint64_t now = info->dlpi_adds + info->dlpi_subs + 1;
    if (*changes == now)
        return 1; /* nothing was loaded since */
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X)
            tell_module(info, &info->dlpi_phdr[i]);
    if (attach_ring()) /* a child of fork() may have none yet */
        atomic_store(&module_changes, now);
    return 0;
}

static void tell_modules(void)
{
    uint64_t changes = atomic_load(&module_changes);
    dl_iterate_phdr(visit_module, &changes);
}

/* ---- numbers ---- */

/* The number of a stack, which is reported if it is new. 0: there is no room for it. */
static uint32_t number_of(const uintptr_t *frames, uint32_t count, const char *python)
{
    uint64_t words[ATTACH_FRAMES];
    for (uint32_t i = 0; i < count; i++)
        words[i] = frames[i];
    uint64_t hash = gphi_hash_bytes(GPHI_HASH_START, words, count * sizeof(*words));
    if (python)
        hash = gphi_hash_text(hash, python);
    bool is_new;
    const long place = place_of(numbers, NUMBERS, hash, &is_new);
    if (place < 0)
        return 0;
    const uint32_t number = (uint32_t)place + 1;
    if (atomic_load_explicit(&is_told[place], memory_order_acquire))
        return number;
    /* Two threads may both report it: no matter. */
    if (count > 0)
        tell_modules();
    if ((!python || attach_tell(GPHI_EVENT_PYTHON, number, 0, NULL, 0, python)) &&
        attach_tell(GPHI_EVENT_STACK, number, 0, words, count, NULL))
        atomic_store_explicit(&is_told[place], 1, memory_order_release);
    return number;
}

/* ---- the cache of a thread ---- */

static void free_local(void *mapped)
{
    local = NULL;
    munmap(mapped, sizeof(struct local));
}

/* NULL: no memory. */
static struct local *local_of_thread(void)
{
    if (!local) {
        void *mapped = mmap(NULL, sizeof(struct local), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED)
            return NULL;
        local = mapped;
        if (has_key)
            pthread_setspecific(local_key, mapped);
    }
    return local;
}

/* Where the set of a hash begins, in a table of ENTRIES. */
static size_t set_of(uint64_t hash)
{
    return (size_t)(hash % (ENTRIES / WAYS)) * WAYS;
}

/* Whether the stack is as it was when the entry was made. */
__attribute__((no_sanitize("address", "thread"))) static bool
is_same(const struct entry *entry, uintptr_t at)
{
    if (entry->at != at || entry->count == 0)
        return false;
    for (uint32_t i = 0; i < entry->count; i++)
        if (*(const uintptr_t *)(at + entry->slots[i]) != entry->frames[i])
            return false;
    return true;
}

static void unwind(struct walk *walk, uintptr_t at)
{
    *walk = (struct walk){.base = at, .is_whole = at != 0};
    _Unwind_Backtrace(step, walk);
}

void attach_stack_prepare(void)
{
    Dl_info info;
    struct walk walk;
    has_key = has_key || pthread_key_create(&local_key, free_local) == 0;
    if (own_end == 0 && dladdr((void *)(uintptr_t)attach_stack_prepare, &info) != 0) {
        own_start = (uintptr_t)info.dli_fbase;
        const ElfW(Ehdr) *file = info.dli_fbase;
        const ElfW(Phdr) *headers =
            (const void *)((const char *)info.dli_fbase + file->e_phoff);
        uintptr_t end = own_start;
        for (int i = 0; i < file->e_phnum; i++)
            if (headers[i].p_type == PT_LOAD &&
                own_start + headers[i].p_vaddr + headers[i].p_memsz > end)
                end = own_start + headers[i].p_vaddr + headers[i].p_memsz;
        own_end = end;
    }
    unwind(&walk, 0); /* loads the unwinder */
}

/* Where the return address into the program lies: what a call pushes. 0: not known. */
static uintptr_t slot_of(const void *above)
{
#if defined(__x86_64__)
    return above ? (uintptr_t)above - sizeof(uintptr_t) : 0;
#else
    (void)above;
    return 0;
#endif
}

/* `python`: a key of Python's frames, or 0: under one of them few stacks differ. */
static uint32_t cached(uintptr_t at, uint64_t python)
{
    struct local *own = at != 0 ? local_of_thread() : NULL;
    struct entry *set = NULL;
    if (own) {
        const uint64_t hash = gphi_hash_word(*(const uintptr_t *)at, at);
        set = &own->entries[set_of(gphi_hash_word(hash, python))];
        for (uint32_t i = 0; i < WAYS; i++)
            if (is_same(&set[i], at))
                return set[i].number;
    }
    struct walk walk;
    unwind(&walk, at);
    if (walk.count == 0)
        return 0;
    const uint32_t number = number_of(walk.frames, walk.count, NULL);
    if (set && walk.is_whole && walk.slots[0] == 0 && number != 0) {
        struct entry *entry = &set[own->taken++ % WAYS];
        entry->at = at;
        entry->number = number;
        entry->count = walk.count;
        memcpy(entry->slots, walk.slots, sizeof(walk.slots));
        memcpy(entry->frames, walk.frames, sizeof(walk.frames));
    }
    return number;
}

uint32_t attach_stack(const void *above)
{
    const int saved = errno;
    const uint32_t number = cached(slot_of(above), 0);
    errno = saved;
    return number;
}

/* To ask the linker costs more than the whole rest of a stack that was seen before: what
 * a program loads late is found some calls late. */
static bool has_python(struct local *own)
{
    return attach_python_is_known() ||
           (own->looks++ % LOOK_EVERY == 0 && attach_python_is_there(loaded_files()));
}

/* With the text of the frames, which is in `own`. */
static uint32_t number_with_python(struct local *own, uintptr_t at)
{
    struct walk walk;
    if (attach_python(own->python, sizeof(own->python)) == 0)
        return cached(at, 0);
    unwind(&walk, 0);
    return number_of(walk.frames, walk.count, own->python);
}

/* The number of a stack with Python frames, by their key. */
static uint32_t known_number(struct local *own, uintptr_t at, uint64_t key)
{
    const uint64_t hash = gphi_hash_word(key, cached(at, key));
    struct known *set = &own->known[set_of(hash)];
    for (uint32_t i = 0; i < WAYS; i++)
        if (set[i].number != 0 && set[i].hash == hash)
            return set[i].number;
    const uint32_t number = number_with_python(own, at);
    set[own->taken++ % WAYS] = (struct known){hash, number};
    return number;
}

uint32_t attach_stack_python(const void *above)
{
    const int saved = errno;
    const uintptr_t at = slot_of(above);
    struct local *own = local_of_thread();
    uint64_t key;
    uint32_t number;
    if (!own || !has_python(own))
        number = cached(at, 0);
    else if (at == 0 || !attach_python_key(&key))
        number = number_with_python(own, at);
    else
        number = known_number(own, at, key);
    errno = saved;
    return number;
}

uint32_t attach_stack_python_alone(void)
{
    struct local *own = local_of_thread();
    if (!own || !has_python(own) || !attach_python(own->python, sizeof(own->python)))
        return 0;
    return number_of(NULL, 0, own->python);
}

uint32_t attach_stack_python_seldom(const void *above)
{
    enum { SHARE = 100, FREE = 64 };
    struct local *own = local_of_thread();
    if (!own || !has_python(own))
        return 0;
    const uint64_t begun = gphi_clock_ns();
    if (own->seldom >= FREE && begun < own->next_ns)
        return 0;
    own->seldom += own->seldom < FREE;
    const uint32_t number = attach_stack_python(above);
    const uint64_t ended = gphi_clock_ns();
    own->next_ns = ended + SHARE * (ended - begun);
    return number;
}

/* How many of the innermost frames are the C library's: which makes a child, or ends the
 * process. */
static uint32_t frames_of_libc(const struct walk *walk)
{
    Dl_info library, frame;
    uint32_t count = 0;
    if (dladdr((void *)(uintptr_t)getpid, &library) == 0)
        return 0;
    while (count + 1 < walk->count && dladdr((void *)walk->frames[count], &frame) != 0 &&
           frame.dli_fbase == library.dli_fbase)
        count++;
    return count;
}

uint32_t attach_stack_of_fault(uintptr_t at, uintptr_t caller)
{
    struct walk walk = {.from = at};
    char *python = local ? local->python : NULL;
    Dl_info code;
    const bool is_code = at != 0 && dladdr((void *)at, &code) != 0;
    if (is_code)
        _Unwind_Backtrace(step, &walk);
    if (walk.count > 0)
        walk.frames[0]++;
    else if (caller != 0)
        walk.frames[walk.count++] = caller;
    const uint32_t inner = frames_of_libc(&walk);
    if (!python || !attach_python_is_known() ||
        attach_python(python, sizeof(local->python)) == 0)
        python = NULL;
    if (walk.count == 0 && !python)
        return 0;
    return number_of(&walk.frames[inner], walk.count - inner, python);
}

void attach_stack_keep(void)
{
    struct local *own = local_of_thread();
    struct walk walk;
    if (!own)
        return;
    const int saved = errno;
    unwind(&walk, 0);
    const uint32_t inner = frames_of_libc(&walk);
    own->kept.count = walk.count - inner;
    memcpy(own->kept.frames, &walk.frames[inner], own->kept.count * sizeof(uintptr_t));
    if (!has_python(own) || !attach_python(own->kept.python, sizeof(own->kept.python)))
        own->kept.python[0] = '\0';
    errno = saved;
}

uint32_t attach_stack_kept(void)
{
    const char *python = of_fork.python[0] != '\0' ? of_fork.python : NULL;
    return of_fork.count > 0 ? number_of(of_fork.frames, of_fork.count, python) : 0;
}

void attach_stack_forked(void)
{
    of_fork.count = 0;
    if (local)
        of_fork = local->kept;

    for (uint32_t i = 0; i < NUMBERS; i++)
        atomic_store_explicit(&is_told[i], 0, memory_order_relaxed);
    for (uint32_t i = 0; i < MODULES; i++)
        atomic_store_explicit(&modules[i], 0, memory_order_relaxed);
    atomic_store(&module_changes, 0);
    if (local) /* what it knows is in the parent's ring */
        memset(local, 0, sizeof(*local));
}
