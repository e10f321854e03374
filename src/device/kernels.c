// SPDX-License-Identifier: Apache-2.0
/* Who has which of libgph's kernels loaded.
 *
 *   all -> {text, runtime, context, module, users} -> {...} -> NULL
 *
 * A list is enough: there are a few texts and contexts, and users keep what they have. */
#include "device/kernels.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/thread.h"
#include "cuda/status.h"

static gphi_mutex all_mutex = GPHI_MUTEX_INIT;
static gphi_kernels *all; /* under all_mutex, as users and next of each */

/* ---- loading ---- */

static CUresult load_functions(gphi_kernels *kernels, const char **call)
{
    const gphi_cuda_table *cu = &kernels->runtime->cu;
    const gphi_kernel_text *text = kernels->text;
    *call = "cuModuleLoadData";
    CUresult result = cu->cuModuleLoadData(&kernels->module, text->ptx);
    for (int i = 0; i < GPHI_KERNELS_MAX && text->names[i] && result == CUDA_SUCCESS;
         i++) {
        CUfunction *function = &kernels->functions[i];
        *call = "cuModuleGetFunction";
        result = cu->cuModuleGetFunction(function, kernels->module, text->names[i]);
        /* Drivers load a kernel when it is launched first: here, not in a capture. */
        if (result == CUDA_SUCCESS) {
            *call = "cuFuncLoad";
            result = cu->cuFuncLoad(*function);
        }
    }
    return result;
}

static gph_status load(gphi_kernels *kernels, gph_error *error)
{
    const gphi_cuda_table *cu = &kernels->runtime->cu;
    const char *call = NULL;
    const CUstreamCaptureMode mode = gphi_relax(cu);
    const CUresult result = load_functions(kernels, &call);
    if (result != CUDA_SUCCESS && kernels->module)
        gphi_ignore((gph_status)cu->cuModuleUnload(kernels->module),
                    "the first failure counts");
    gphi_unrelax(cu, mode);
    if (result != CUDA_SUCCESS)
        return gphi_cuda_fail(error, (gph_status)result, call, "loading %s",
                              kernels->text->what);
    return GPH_OK;
}

static gph_status describe(gphi_kernels *out, gph_error *error)
{
    const gphi_cuda_table *cu = &out->runtime->cu;
    const char *call = "cuCtxGetCurrent";
    CUresult result = cu->cuCtxGetCurrent(&out->context);
    if (result == CUDA_SUCCESS && !out->context)
        result = CUDA_ERROR_INVALID_CONTEXT;
    if (result == CUDA_SUCCESS) {
        call = "cuCtxGetId";
        result = cu->cuCtxGetId(out->context, &out->context_id);
    }
    if (result == CUDA_SUCCESS) {
        call = "cuCtxGetDevice";
        result = cu->cuCtxGetDevice(&out->device);
    }
    if (result != CUDA_SUCCESS)
        return gphi_cuda_fail(error, (gph_status)result, call, "loading %s",
                              out->text->what);
    return GPH_OK;
}

static gph_status find_or_load_locked(const gphi_kernels *wanted, gphi_kernels **out,
                                      gph_error *error) GPHI_REQUIRES(&all_mutex);

static gph_status find_or_load_locked(const gphi_kernels *wanted, gphi_kernels **out,
                                      gph_error *error)
{
    for (gphi_kernels *it = all; it; it = it->next)
        if (it->text == wanted->text && it->runtime == wanted->runtime &&
            it->context == wanted->context && it->context_id == wanted->context_id) {
            it->users++;
            *out = it;
            return GPH_OK;
        }
    const gph_allocator heap = wanted->runtime->heap;
    gphi_kernels *kernels = gphi_heap_alloc(heap, sizeof(*kernels));
    GPHI_TRY(gphi_made(error, kernels, "loading %s", wanted->text->what));
    *kernels = *wanted;
    const gph_status status = load(kernels, error);
    if (status != GPH_OK) {
        gphi_heap_free(heap, kernels, sizeof(*kernels));
        return status;
    }
    kernels->users = 1;
    kernels->next = all;
    all = kernels;
    *out = kernels;
    return GPH_OK;
}

gph_status gphi_kernels_retain(gph_runtime *runtime, const gphi_kernel_text *text,
                               gphi_kernels **out, gph_error *error)
{
    gphi_kernels wanted = {.runtime = runtime, .text = text}, *found = NULL;
    GPHI_TRY(describe(&wanted, error));
    gphi_mutex_lock(&all_mutex);
    const gph_status status = find_or_load_locked(&wanted, &found, error);
    gphi_mutex_unlock(&all_mutex);
    if (status == GPH_OK)
        *out = found;
    return status;
}

const gphi_kernel_text *gphi_kernels_text(const gph_runtime *runtime, CUmodule module)
{
    const gphi_kernel_text *text = NULL;
    gphi_mutex_lock(&all_mutex);
    for (const gphi_kernels *it = all; it && !text; it = it->next)
        if (it->runtime == runtime && it->module == module)
            text = it->text;
    gphi_mutex_unlock(&all_mutex);
    return text;
}

/* ---- the end ---- */

static void destroy_now(void *user)
{
    gphi_kernels *kernels = user;
    gph_runtime *runtime = kernels->runtime;
    const gphi_cuda_table *cu = &runtime->cu;
    unsigned long long id = 0;
    CUresult result = CUDA_SUCCESS;
    const CUstreamCaptureMode mode = gphi_relax(cu);
    /* A context that is gone has taken its modules along. */
    if (cu->cuCtxGetId(kernels->context, &id) == CUDA_SUCCESS &&
        id == kernels->context_id)
        result = cu->cuModuleUnload(kernels->module);
    gphi_unrelax(cu, mode);
    if (result != CUDA_SUCCESS)
        gphi_log("device", GPH_LOG_ERROR, "unloading %s: %s", kernels->text->what,
                 gph_status_name((gph_status)result));
    gphi_heap_free(runtime->heap, kernels, sizeof(*kernels));
}

void gphi_kernels_release(gphi_kernels *kernels)
{
    if (!kernels)
        return;
    gphi_mutex_lock(&all_mutex);
    const bool is_last = --kernels->users == 0;
    if (is_last) {
        gphi_kernels **at = &all;
        while (*at != kernels)
            at = &(*at)->next;
        *at = kernels->next;
    }
    gphi_mutex_unlock(&all_mutex);
    if (is_last)
        gphi_defer(&kernels->destroying, destroy_now, kernels);
}

CUresult gphi_put_words(const gphi_cuda_table *cu, CUdeviceptr to, const void *from,
                        size_t bytes)
{
    const CUresult result = cu->cuMemcpyHtoD(to, from, bytes);
    return result == CUDA_SUCCESS ? cu->cuStreamSynchronize(NULL) : result;
}
