// SPDX-License-Identifier: Apache-2.0
/* Finding and opening softcuda-jit.so. */
#include "softcuda/kernel/load/jitload.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "softcuda/kernel/load/code.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const soft_jit_api *loaded; /* under the mutex */

/* The folder of the file that this code is in, with a slash. */
static void find_path(char path[4096])
{
    const char *setting = getenv("SOFTCUDA_JIT");
    if (setting && setting[0] != '\0') {
        snprintf(path, 4096, "%s", setting);
        return;
    }
    Dl_info info;
    snprintf(path, 4096, "%s", SOFT_JIT_FILE);
    if (dladdr((void *)(uintptr_t)soft_jit_load, &info) == 0 || !info.dli_fname)
        return;
    const char *slash = strrchr(info.dli_fname, '/');
    if (slash)
        snprintf(path, 4096, "%.*s/%s", (int)(slash - info.dli_fname), info.dli_fname,
                 SOFT_JIT_FILE);
}

static gph_status load_locked(gph_error *error)
{
    char path[4096];
    find_path(path);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return gphi_fail(error, SOFT_ERROR_JIT_COMPILER_NOT_FOUND,
                         "PTX cannot be compiled: %.400s", dlerror());
    soft_jit_get_fn *get;
    void *symbol = dlsym(library, SOFT_JIT_SYMBOL);
    memcpy(&get, &symbol, sizeof(get));
    const soft_jit_api *api = get ? get() : NULL;
    if (!api || api->version != SOFT_JIT_VERSION) {
        dlclose(library);
        return gphi_fail(error, SOFT_ERROR_JIT_COMPILER_NOT_FOUND,
                         "PTX cannot be compiled: %.400s is of another version", path);
    }
    loaded = api; /* and stays: LLVM does not like to be unloaded */
    return GPH_OK;
}

gph_status soft_jit_load(const soft_jit_api **out, gph_error *error)
{
    pthread_mutex_lock(&mutex);
    const gph_status status = loaded ? GPH_OK : load_locked(error);
    if (status == GPH_OK)
        *out = loaded;
    pthread_mutex_unlock(&mutex);
    return status;
}
