// SPDX-License-Identifier: Apache-2.0
/* Modules by the hash of their image, so that a kernel has a name in every process.
 *
 *   modules -> {runtime, context, SHA-256, CUmodule, users} -> {...} -> NULL
 *
 * A list is enough: programs have a few modules, and loading looks each kernel up once.
 */
#include "module/module.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/sha256.h"
#include "base/thread.h"
#include "cuda/defer.h"
#include "cuda/runtime.h"
#include "cuda/status.h"

#include <stdio.h>
#include <string.h>

struct gph_module {
    gph_module *next;
    gph_runtime *runtime;
    CUcontext context;
    CUmodule handle;
    uint32_t users;
    unsigned char image[GPH_IMAGE_HASH_BYTES];
    gphi_deferred deferred;
};

static gphi_mutex mutex = GPHI_MUTEX_INIT;
static gph_module *modules; /* under `mutex` */

/* PTX is a text, which ends with a zero that a caller need not count. ELF and fatbins, by
 * their first byte, contain their own size. */
static bool is_text(const unsigned char *image, size_t bytes)
{
    return bytes > 0 && image[0] != 0x7f && image[0] != 0x50 && image[0] != 0xb1;
}

void gph_image_hash(const void *image, size_t bytes,
                    unsigned char out[GPH_IMAGE_HASH_BYTES])
{
    const unsigned char *all = image;
    const size_t zero = is_text(all, bytes) && all[bytes - 1] == 0;
    gphi_sha256 hash;
    gphi_sha256_begin(&hash);
    gphi_sha256_add(&hash, image, bytes - zero);
    gphi_sha256_end(&hash, out);
}

const char *gphi_image_text(const unsigned char hash[GPH_IMAGE_HASH_BYTES],
                            char text[GPHI_HASH_TEXT_BYTES])
{
    for (int i = 0; i < (GPHI_HASH_TEXT_BYTES - 1) / 2; i++)
        snprintf(text + (size_t)2 * (size_t)i, 3, "%02x", hash[i]);
    return text;
}

static gph_module *find_locked(const gph_runtime *runtime, CUcontext context,
                               const unsigned char *image) GPHI_REQUIRES(&mutex)
{
    for (gph_module *module = modules; module; module = module->next)
        if (module->runtime == runtime && module->context == context &&
            memcmp(module->image, image, GPH_IMAGE_HASH_BYTES) == 0)
            return module;
    return NULL;
}

static gph_status load(gph_module *module, const void *image, size_t bytes,
                       gph_error *error)
{
    const gphi_cuda_table *cu = &module->runtime->cu;
    const gph_allocator heap = module->runtime->heap;
    const unsigned char *all = image;
    char *copy = NULL;
    if (is_text(all, bytes) && all[bytes - 1] != 0) {
        copy = gphi_heap_array(heap, 1, bytes + 1);
        GPHI_TRY(gphi_made(error, copy, "loading a module of %zu bytes", bytes));
        memcpy(copy, image, bytes);
    }
    const CUresult result = cu->cuModuleLoadData(&module->handle, copy ? copy : image);
    gphi_heap_free(heap, copy, bytes + 1);
    if (result != CUDA_SUCCESS)
        return gphi_cuda_fail(error, (gph_status)result, "cuModuleLoadData",
                              "a module of %zu bytes", bytes);
    return GPH_OK;
}

static gph_status load_locked(gph_module *fresh, const void *image, size_t bytes,
                              gph_module **out, gph_error *error) GPHI_REQUIRES(&mutex)
{
    gph_module *module = find_locked(fresh->runtime, fresh->context, fresh->image);
    if (!module) {
        GPHI_TRY(load(fresh, image, bytes, error));
        module = fresh;
        module->next = modules;
        modules = module;
    }
    module->users++;
    *out = module;
    return GPH_OK;
}

static gph_status read_context(const gph_runtime *runtime, const char *why,
                               CUcontext *out, gph_error *error)
{
    return gphi_cuda_check(error, runtime->cu.cuCtxGetCurrent(out), "cuCtxGetCurrent",
                           "%s", why);
}

gph_status gph_module_load(gph_runtime *runtime, const void *image, size_t bytes,
                           gph_module **out, gph_error *error)
{
    GPHI_TRY(gphi_need(error, runtime, image, out));
    if (bytes == 0)
        return gphi_fail(error, GPH_E_INVALID, "gph_module_load: the image has 0 bytes");
    CUcontext context = NULL;
    GPHI_TRY(read_context(runtime, "loading a module", &context, error));
    gph_module *fresh = gphi_heap_alloc(runtime->heap, sizeof(*fresh));
    GPHI_TRY(gphi_made(error, fresh, "loading a module"));
    fresh->runtime = runtime;
    fresh->context = context;
    gph_image_hash(image, bytes, fresh->image);

    gph_module *module = NULL;
    gphi_mutex_lock(&mutex);
    const gph_status status = load_locked(fresh, image, bytes, &module, error);
    gphi_mutex_unlock(&mutex);
    if (module != fresh)
        gphi_heap_free(runtime->heap, fresh, sizeof(*fresh));
    if (status == GPH_OK)
        *out = module;
    return status;
}

static void unload(void *user)
{
    gph_module *module = user;
    gph_runtime *runtime = module->runtime;
    const CUresult result = runtime->cu.cuModuleUnload(module->handle);
    if (result != CUDA_SUCCESS)
        gphi_log("module", GPH_LOG_ERROR, "cuModuleUnload of %p returned %s",
                 (void *)module->handle, gph_status_name((gph_status)result));
    gphi_heap_free(runtime->heap, module, sizeof(*module));
}

void gph_module_unload(gph_module *module)
{
    if (!module)
        return;
    gphi_mutex_lock(&mutex);
    const bool is_last = --module->users == 0;
    gph_module **link = &modules;
    while (is_last && *link != module)
        link = &(*link)->next;
    if (is_last)
        *link = module->next;
    gphi_mutex_unlock(&mutex);
    if (is_last)
        gphi_defer(&module->deferred, unload, module);
}

gph_status gph_module_function(gph_module *module, const char *name, CUfunction *out,
                               gph_error *error)
{
    GPHI_TRY(gphi_need(error, module, name, out));
    CUfunction function = NULL;
    const CUresult result =
        module->runtime->cu.cuModuleGetFunction(&function, module->handle, name);
    char hash[GPHI_HASH_TEXT_BYTES];
    if (result != CUDA_SUCCESS)
        return gphi_cuda_fail(error, (gph_status)result, "cuModuleGetFunction",
                              "kernel %.200s of image %s", name,
                              gphi_image_text(module->image, hash));
    *out = function;
    return GPH_OK;
}

CUmodule gph_module_handle(const gph_module *module)
{
    return module ? module->handle : NULL;
}

/* An image that has a kernel of that name, or NULL: what was meant, perhaps. */
static const gph_module *find_namesake_locked(const gph_runtime *runtime,
                                              CUcontext context, const char *name)
    GPHI_REQUIRES(&mutex)
{
    CUfunction function = NULL;
    for (const gph_module *at = modules; at; at = at->next)
        if (at->runtime == runtime && at->context == context &&
            runtime->cu.cuModuleGetFunction(&function, at->handle, name) == CUDA_SUCCESS)
            return at;
    return NULL;
}

static gph_status fail_find(const gph_kernel_id *id, const gph_module *namesake,
                            gph_error *error)
{
    char wanted[GPHI_HASH_TEXT_BYTES], other[GPHI_HASH_TEXT_BYTES];
    gphi_image_text(id->image, wanted);
    if (!namesake)
        return gphi_fail(error, GPH_E_UNSUPPORTED,
                         "kernel %.200s: no module with image %s is loaded", id->name,
                         wanted);
    return gphi_fail(error, GPH_E_UNSUPPORTED,
                     "kernel %.200s: no module with image %s is loaded; image %s, which "
                     "is, has a kernel of that name",
                     id->name, wanted, gphi_image_text(namesake->image, other));
}

gph_status gphi_module_find(gph_runtime *runtime, const gph_kernel_id *id,
                            CUfunction *out, gph_error *error)
{
    CUcontext context = NULL;
    GPHI_TRY(read_context(runtime, "looking for a kernel", &context, error));
    gphi_mutex_lock(&mutex);
    gph_module *module = find_locked(runtime, context, id->image);
    if (module)
        module->users++; /* not unloaded meanwhile */
    else
        fail_find(id, find_namesake_locked(runtime, context, id->name), error);
    gphi_mutex_unlock(&mutex);
    if (!module)
        return GPH_E_UNSUPPORTED;
    const gph_status status = gph_module_function(module, id->name, out, error);
    gph_module_unload(module);
    return status;
}

static bool find_image(const gph_runtime *runtime, CUmodule handle,
                       unsigned char out[GPH_IMAGE_HASH_BYTES])
{
    bool is_known = false;
    gphi_mutex_lock(&mutex);
    for (gph_module *at = modules; at && !is_known; at = at->next) {
        is_known = at->runtime == runtime && at->handle == handle;
        if (is_known)
            memcpy(out, at->image, GPH_IMAGE_HASH_BYTES);
    }
    gphi_mutex_unlock(&mutex);
    return is_known;
}

gph_status gph_kernel_identify(gph_runtime *runtime, CUfunction function,
                               gph_kernel_id *out, gph_error *error)
{
    GPHI_TRY(gphi_need(error, runtime, function, out));
    const gphi_cuda_table *cu = &runtime->cu;
    CUmodule handle = NULL;
    gph_kernel_id found = {0};
    GPHI_TRY(gphi_cuda_check(error, cu->cuFuncGetName(&found.name, function),
                             "cuFuncGetName", "function %p", (void *)function));
    GPHI_TRY(gphi_cuda_check(error, cu->cuFuncGetModule(&handle, function),
                             "cuFuncGetModule", "kernel %.200s", found.name));
    if (!find_image(runtime, handle, found.image))
        return gphi_fail(
            error, GPH_E_UNSUPPORTED,
            "kernel %.200s is of a module that gph_module_load() did not load",
            found.name);
    *out = found;
    return GPH_OK;
}
