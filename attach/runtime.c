// SPDX-License-Identifier: Apache-2.0
/* The CUDA runtime's last error. The runtime keeps the code of a call that failed, by
 * thread, until somebody asks: also where the program has long dealt with it. No call to
 * the driver shows who asks, so the two functions by which a program does are exported
 * here, go on to the runtime's, and what they give is noted.
 *
 *   program, or a library ─> here ─> the runtime that the caller is linked with
 *
 * Several runtimes may be in one process, each with its own last error: which one is the
 * caller's is asked of the linker, once for each place that calls. A runtime that is linked
 * in statically is not seen; what it says of an error is on standard error, if anywhere. */
#define _GNU_SOURCE
#include "attach/driver/find.h"
#include "attach/record/sentence.h"
#include "attach/ring/state.h"
#include "attach/ring/thread.h"
#include "base/hash.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

typedef int last_error(void);

enum { PLACES = 1 << 10, PROBES = 8 };

/* A place that calls, and the runtime's function that is meant there. Never taken out. */
typedef struct place {
    _Atomic uintptr_t from;
    last_error *_Atomic real;
} place;

ATTACH_API int cudaGetLastError(void);
ATTACH_API int cudaPeekAtLastError(void);

static last_error *to_function(void *object)
{
    last_error *function;
    memcpy(&function, &object, sizeof(function));
    return function;
}

/* A runtime that nobody is linked with: some code looked it up. */
static int find_runtime(struct dl_phdr_info *info, size_t bytes, void *user)
{
    (void)bytes;
    const char *name = strrchr(info->dlpi_name, '/');
    if (!strstr(name ? name : info->dlpi_name, "libcudart"))
        return 0;
    *(char **)user = strdup(info->dlpi_name);
    return 1;
}

static void *in_file(const char *path, const char *name)
{
    void *handle = path && path[0] ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *found = handle ? attach_symbol_in(handle, name) : NULL;
    if (handle)
        dlclose(handle);
    return found;
}

/* In the caller's file and what it is linked with; of the program itself, in all that is
 * linked after this library. NULL: none is there. */
static last_error *find(const void *from, const char *name)
{
    Dl_info info;
    struct link_map *map = NULL;
    char *path = NULL;
    void *found = NULL;
    if (dladdr1(from, &info, (void **)&map, RTLD_DL_LINKMAP) != 0 && map)
        found = in_file(map->l_name, name);
    if (!found)
        found = attach_next(name);
    if (!found && dl_iterate_phdr(find_runtime, &path) != 0) {
        found = in_file(path, name);
        free(path);
    }
    return to_function(found);
}

static last_error *known(place *places, const void *from, const char *name)
{
    const uintptr_t key = (uintptr_t)from;
    const uint32_t first = (uint32_t)gphi_hash_mix(key);
    for (uint32_t i = 0; i < PROBES; i++) {
        place *at = &places[(first + i) % PLACES];
        uintptr_t there = atomic_load_explicit(&at->from, memory_order_relaxed);
        if (there == 0 && (atomic_compare_exchange_strong(&at->from, &there, key)))
            there = key;
        if (there != key)
            continue;
        last_error *real = atomic_load_explicit(&at->real, memory_order_acquire);
        if (!real) {
            real = find(from, name);
            atomic_store_explicit(&at->real, real, memory_order_release);
        }
        return real;
    }
    return find(from, name);
}

static int ask(place *places, const char *name, gphi_kept_how how, const void *from,
               const void *above)
{
    const int saved = errno;
    last_error *real = known(places, from, name);
    errno = saved;
    const int code = real ? real() : 0;
    if (code != 0 && attach_me.busy == 0 &&
        atomic_load_explicit(&attach_is, memory_order_acquire) == ATTACH_ON)
        attach_kept(code, how, above);
    return code;
}

int cudaGetLastError(void)
{
    static place places[PLACES];
    return ask(places, "cudaGetLastError", GPHI_KEPT_TAKEN, __builtin_return_address(0),
               __builtin_dwarf_cfa());
}

int cudaPeekAtLastError(void)
{
    static place places[PLACES];
    return ask(places, "cudaPeekAtLastError", GPHI_KEPT_SEEN, __builtin_return_address(0),
               __builtin_dwarf_cfa());
}
