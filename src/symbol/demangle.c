// SPDX-License-Identifier: Apache-2.0
/* Names of C++, by __cxa_demangle() of libstdc++, which every program of C++ has loaded. */
#include "base/thread.h"
#include "symbol/dwarf.h"

#include <dlfcn.h>
#include <string.h>

typedef char *demangle_fn(const char *, char *, size_t *, int *);

static gphi_mutex mutex = GPHI_MUTEX_INIT;
static demangle_fn *demangle;
static bool is_tried;

char *gphi_demangle(const char *name)
{
    if (strncmp(name, "_Z", 2) != 0)
        return NULL;
    gphi_mutex_lock(&mutex);
    if (!is_tried) {
        void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
        if (library)
            *(void **)&demangle = dlsym(library, "__cxa_demangle");
        is_tried = true;
    }
    demangle_fn *found = demangle;
    gphi_mutex_unlock(&mutex);
    int status = 0;
    return found ? found(name, NULL, NULL, &status) : NULL;
}
