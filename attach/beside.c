// SPDX-License-Identifier: Apache-2.0
/* The caller's function of a library that a process may have more than once: linked with
 * it, opened with RTLD_LOCAL, or looked up by name. */
#define _GNU_SOURCE
#include "attach/beside.h"
#include "attach/driver/find.h"
#include "base/hash.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

enum { PROBES = 8 };

typedef struct wanted {
    const char *file;
    char *path;
} wanted;

static attach_function *to_function(void *object)
{
    attach_function *function;
    memcpy(&function, &object, sizeof(function));
    return function;
}

/* A library that nobody is linked with: some code looked it up. */
static int find_file(struct dl_phdr_info *info, size_t bytes, void *user)
{
    (void)bytes;
    wanted *of = user;
    const char *name = strrchr(info->dlpi_name, '/');
    if (!strstr(name ? name : info->dlpi_name, of->file))
        return 0;
    of->path = strdup(info->dlpi_name);
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

bool attach_beside_is_there(const char *file, const char *name)
{
    wanted of = {file, NULL};
    dl_iterate_phdr(find_file, &of);
    void *found = in_file(of.path, name);
    free(of.path);
    return found != NULL;
}

static attach_function *find(const void *from, const attach_beside_what *what)
{
    Dl_info info;
    struct link_map *map = NULL;
    wanted of = {what->file, NULL};
    void *found = NULL;
    if (dladdr1(from, &info, (void **)&map, RTLD_DL_LINKMAP) != 0 && map)
        found = in_file(map->l_name, what->name);
    if (!found)
        found = what->picked;
    if (!found)
        found = attach_next(what->name);
    if (!found && dl_iterate_phdr(find_file, &of) != 0) {
        found = in_file(of.path, what->name);
        free(of.path);
    }
    return to_function(found);
}

attach_function *attach_beside(attach_place *places, const void *from,
                               const attach_beside_what *what)
{
    const uintptr_t key = (uintptr_t)from ^ (uintptr_t)gphi_hash_mix(what->salt);
    const uint32_t first = (uint32_t)gphi_hash_mix(key);
    for (uint32_t i = 0; i < PROBES; i++) {
        attach_place *at = &places[(first + i) % ATTACH_PLACES];
        uintptr_t there = atomic_load_explicit(&at->key, memory_order_relaxed);
        if (there == 0 && (atomic_compare_exchange_strong(&at->key, &there, key)))
            there = key;
        if (there != key)
            continue;
        attach_function *real = atomic_load_explicit(&at->real, memory_order_acquire);
        if (!real) {
            real = find(from, what);
            atomic_store_explicit(&at->real, real, memory_order_release);
        }
        return real;
    }
    return find(from, what);
}
