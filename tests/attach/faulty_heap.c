// SPDX-License-Identifier: Apache-2.0
/* Between the attached library and the heap: one allocation fails. Preloaded before the
 * attached library, whose own free() and realloc() would hide who called.
 *
 *   program, driver, libgph-attach ── realloc, free here ── the C library
 *
 * What the attached library itself takes and gives back is counted; others go past. */
#define _GNU_SOURCE
#include "faulty.h"

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define OURS __attribute__((visibility("default")))

static atomic_long left = -1, live;

OURS long faulty_fail(long nth)
{
    return atomic_exchange(&left, nth);
}

OURS long faulty_live(void)
{
    return atomic_load(&live);
}

OURS bool faulty_now(void)
{
    return atomic_load(&left) >= 0 && atomic_fetch_sub(&left, 1) == 0;
}

#ifndef FAULTY_HAS_HEAP /* a sanitizer has its own */
#else
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
static uintptr_t from, to; /* the library's code */

static int note_range(struct dl_phdr_info *info, size_t bytes, void *user)
{
    (void)bytes, (void)user;
    if (strstr(info->dlpi_name, "libgph-attach") == NULL)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_LOAD && (header->p_flags & PF_X) != 0) {
            from = info->dlpi_addr + header->p_vaddr;
            to = from + header->p_memsz;
        }
    }
    return 1;
}

__attribute__((constructor)) static void find_library(void)
{
    dl_iterate_phdr(note_range, NULL);
}

static bool is_library(const void *caller)
{
    return (uintptr_t)caller >= from && (uintptr_t)caller < to;
}

OURS void *realloc(void *old, size_t bytes)
{
    const bool is_counted = is_library(__builtin_return_address(0));
    if (is_counted && faulty_now())
        return NULL;
    void *fresh = __libc_realloc(old, bytes);
    if (is_counted && old == NULL && fresh != NULL)
        atomic_fetch_add(&live, 1);
    return fresh;
}

OURS void free(void *old)
{
    if (old != NULL && is_library(__builtin_return_address(0)))
        atomic_fetch_sub(&live, 1);
    __libc_free(old);
}
#endif
