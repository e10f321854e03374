// SPDX-License-Identifier: Apache-2.0
/* Reading the program's memory. */
#define _GNU_SOURCE
#include "attach/peek/memory.h"
#include "attach/ring/state.h"
#include "attach/ring/thread.h"
#include "event/event.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

/* Where the program's file lies, and the break when we were loaded. */
static struct {
    uintptr_t start, end, heap;
} program;

extern void *__libc_stack_end; /* of the main thread */

uintptr_t attach_stack_end(uintptr_t here)
{
    const uintptr_t end = attach_thread() == (uint32_t)attach_process()
                              ? (uintptr_t)__libc_stack_end
                              : (uintptr_t)pthread_self();
    return end - here <= ATTACH_STACK_MAX ? end : 0;
}

/* The way where a sandbox forbids the other. Opened each time: a program may close files
 * that it does not know, and have its own under their numbers. */
static bool read_own_file(void *to, const void *from, size_t bytes)
{
    const int own = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    const bool is_read =
        own >= 0 && pread(own, to, bytes, (off_t)(uintptr_t)from) == (ssize_t)bytes;
    if (own >= 0)
        close(own);
    return is_read;
}

/* Texts are read by pieces that may be longer than they are, and the program's memory as
 * it is there, whoever writes it: sanitizers would object, and the kernel reads instead. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_WATCHED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_WATCHED true
#endif
#endif
#ifndef IS_WATCHED
#define IS_WATCHED false
#endif

/* Memory that is there for sure: this thread's stack above us (the thread's own block
 * lies at its top), the program's file, and the heap below the break. Saves a system
 * call. */
typedef struct known_memory {
    uintptr_t stack, stack_end, heap_end;
} known_memory;

static known_memory look_around(void)
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    const known_memory out = {here, attach_stack_end(here), (uintptr_t)sbrk(0)};
    return out;
}

static bool is_in(const known_memory *known, uintptr_t from, size_t bytes)
{
    const uintptr_t to = from + bytes;
    if (to < from || IS_WATCHED)
        return false;
    return (from >= known->stack && to <= known->stack_end) ||
           (from >= program.heap && to <= known->heap_end) ||
           (from >= program.start && to <= program.end);
}

static bool is_there(uintptr_t from, size_t bytes)
{
    const known_memory known = look_around();
    return is_in(&known, from, bytes);
}

/* By the kernel, which says EFAULT where we would die. */
static bool read_unknown(void *to, const void *from, size_t bytes)
{
    const struct iovec here = {to, bytes};
    const struct iovec there = {(void *)(uintptr_t)from, bytes};
    const ssize_t got = process_vm_readv(attach_process(), &here, 1, &there, 1, 0);
    if (got >= 0 || errno == EFAULT)
        return got == (ssize_t)bytes;
    return read_own_file(to, from, bytes);
}

bool attach_read(void *to, const void *from, size_t bytes)
{
    if (!is_there((uintptr_t)from, bytes))
        return read_unknown(to, from, bytes);
    memcpy(to, from, bytes);
    return true;
}

enum { BATCH = 64 };

/* Some of the parameters in one system call; false: not all of them are there. */
static bool read_batch(char *to, const uint32_t *places, void *const *from,
                       uint32_t count)
{
    struct iovec here[BATCH], there[BATCH];
    ssize_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        here[i] = (struct iovec){to + places[2 * i], places[2 * i + 1]};
        there[i] = (struct iovec){from[i], places[2 * i + 1]};
        bytes += (ssize_t)places[2 * i + 1];
    }
    if (process_vm_readv(attach_process(), here, count, there, count, 0) == bytes)
        return true;
    for (uint32_t i = 0; i < count; i++)
        if (!attach_read(here[i].iov_base, from[i], here[i].iov_len))
            return false;
    return true;
}

bool attach_read_params(char *to, const attach_layout *layout, void *const *params)
{
    const known_memory known = look_around();
    void *from[BATCH];
    for (uint32_t first = 0; first < layout->count; first += BATCH) {
        const uint32_t left = layout->count - first;
        const uint32_t count = left < BATCH ? left : BATCH;
        const uint32_t *places = &layout->places[2 * first];
        bool are_there = true;
        if (!attach_read(from, params + first, count * sizeof(*from)))
            return false;
        for (uint32_t i = 0; i < count && are_there; i++) {
            are_there = is_in(&known, (uintptr_t)from[i], places[2 * i + 1]);
            if (are_there)
                memcpy(to + places[2 * i], from[i], places[2 * i + 1]);
        }
        if (!are_there && !read_batch(to, places, from, count))
            return false;
    }
    return true;
}

/* ---- hashes ---- */

static bool hash_host(uint64_t address, size_t bytes, uint64_t *out)
{
    unsigned char copy[4096];
    uint64_t hash = bytes;
    if (is_there(address, bytes)) {
        *out = gphi_host_hash(hash, (const void *)(uintptr_t)address, bytes);
        return true;
    }
    for (size_t at = 0; at < bytes; at += sizeof(copy)) {
        const size_t now = bytes - at < sizeof(copy) ? bytes - at : sizeof(copy);
        if (!attach_read(copy, (const void *)(uintptr_t)(address + at), now))
            return false;
        hash = gphi_host_hash(hash, copy, now);
    }
    *out = hash;
    return true;
}

bool attach_hash(uint64_t address, uint64_t bytes, uint64_t *out)
{
    return hash_host(address, bytes < ATTACH_HASH_MAX ? bytes : ATTACH_HASH_MAX, out);
}

/* ---- the program's file ---- */

/* The first file is the program. */
static int note_program(struct dl_phdr_info *info, size_t bytes, void *user)
{
    (void)bytes;
    (void)user;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type != PT_LOAD)
            continue;
        if (program.end == 0)
            program.start = start;
        program.end = start + header->p_memsz;
    }
    return 1;
}

void attach_memory_prepare(void)
{
    program.heap = (uintptr_t)sbrk(0);
    dl_iterate_phdr(note_program, NULL);
}
