// SPDX-License-Identifier: Apache-2.0
/* Libraries: code that belongs to no context, and its module in each context that uses
 * it. */
#include "base/vec.h"
#include "softcuda/device/alloc.h"
#include "softcuda/device/module.h"

struct soft_library {
    soft_code *code;
    CUresult broken; /* its image was wrong: `code` has nothing in it */
    soft_kernel *kernels;
    uint32_t kernel_count;
    pthread_mutex_t lock; /* the modules */
    uint32_t module_count, module_capacity;
    soft_module **modules;
};

static void free_library(soft_library *library)
{
    soft_code_release(library->code);
    pthread_mutex_destroy(&library->lock);
    soft_delete(library->kernels);
    soft_delete(library->modules);
    soft_delete(library);
}

/* Attributes of -1 are not set: a function keeps its own. */
static CUresult make_kernels(soft_library *library)
{
    const uint32_t count = soft_code_kernel_count(library->code);
    if (count == 0)
        return CUDA_SUCCESS;
    library->kernels = soft_new(count * sizeof(*library->kernels));
    SOFT_TRY(soft_made(library->kernels, "no memory for %u kernels", count));
    for (uint32_t i = 0; i < count; i++) {
        soft_kernel *kernel = &library->kernels[i];
        kernel->library = library;
        kernel->index = i;
        for (int d = 0; d < SOFT_DEVICE_MAX; d++) {
            atomic_init(&kernel->dynamic_shared_max[d], -1);
            atomic_init(&kernel->carveout[d], -1);
        }
        SOFT_TRY(soft_handle_add(kernel, SOFT_KIND_KERNEL));
        library->kernel_count++;
    }
    return CUDA_SUCCESS;
}

static void remove_kernels(soft_library *library)
{
    for (uint32_t i = 0; i < library->kernel_count; i++)
        soft_handle_remove(&library->kernels[i], SOFT_KIND_KERNEL);
}

CUresult soft_library_create(soft_code *code, CUresult broken, soft_library **out)
{
    soft_library *library = soft_new(sizeof(*library));
    SOFT_TRY(soft_made(library, "no memory for a library"));
    library->code = code;
    library->broken = broken;
    soft_code_retain(code);
    pthread_mutex_init(&library->lock, NULL);
    CUresult status = make_kernels(library);
    SOFT_THEN(status, soft_handle_add(library, SOFT_KIND_LIBRARY));
    if (status != CUDA_SUCCESS) {
        remove_kernels(library);
        free_library(library);
        return status;
    }
    *out = library;
    return CUDA_SUCCESS;
}

/* Modules are unloaded one by one without the lock: each waits for its context. */
CUresult soft_library_destroy(soft_library *library)
{
    if (!soft_handle_remove(library, SOFT_KIND_LIBRARY))
        return soft_fail(CUDA_ERROR_INVALID_HANDLE, "%p is not a library",
                         (void *)library);
    remove_kernels(library);
    CUresult status = CUDA_SUCCESS;
    for (;;) {
        pthread_mutex_lock(&library->lock);
        soft_module *module =
            library->module_count ? library->modules[--library->module_count] : NULL;
        pthread_mutex_unlock(&library->lock);
        if (!module)
            break;
        const CUresult unloaded = soft_module_unload(module);
        if (unloaded != CUDA_SUCCESS)
            status = unloaded;
    }
    free_library(library);
    return status;
}

SOFT_FINDER(soft_library_find, CUlibrary, soft_library, SOFT_KIND_LIBRARY,
            CUDA_ERROR_INVALID_HANDLE, "library")

CUresult soft_library_check(const soft_library *library)
{
    return library->broken == CUDA_SUCCESS
               ? CUDA_SUCCESS
               : soft_fail(library->broken, "the library's image could not be read");
}

soft_code *soft_library_code(const soft_library *library)
{
    return library->code;
}

soft_kernel *soft_library_kernel(const soft_library *library, uint32_t index)
{
    return &library->kernels[index];
}

static soft_module *loaded_locked(const soft_library *library,
                                  const soft_context *context)
{
    for (uint32_t i = 0; i < library->module_count; i++)
        if (library->modules[i]->context == context)
            return library->modules[i];
    return NULL;
}

/* Room is made first, so that a module that is loaded can be noted. */
static CUresult load_locked(soft_library *library, soft_context *context,
                            soft_module **out)
{
    soft_module **modules =
        gphi_array_room(*soft_allocator(), library->modules, &library->module_capacity,
                        library->module_count + 1, sizeof(*modules));
    SOFT_TRY(soft_made(modules, "no memory for %u modules", library->module_count + 1));
    library->modules = modules;
    SOFT_TRY(soft_module_create(context, library->code, library, library->kernels, out));
    library->modules[library->module_count++] = *out;
    return CUDA_SUCCESS;
}

/* Two threads that ask at once get one module. */
CUresult soft_library_module(soft_library *library, soft_context *context,
                             soft_module **out)
{
    SOFT_TRY(soft_library_check(library));
    pthread_mutex_lock(&library->lock);
    CUresult status = CUDA_SUCCESS;
    soft_module *module = loaded_locked(library, context);
    if (!module)
        status = load_locked(library, context, &module);
    pthread_mutex_unlock(&library->lock);
    if (status == CUDA_SUCCESS)
        *out = module;
    return status;
}

/* A module of a library ends with its context. */
static void forget(soft_library *library, const soft_module *module)
{
    pthread_mutex_lock(&library->lock);
    for (uint32_t i = 0; i < library->module_count; i++)
        if (library->modules[i] == module)
            library->modules[i] = library->modules[--library->module_count];
    pthread_mutex_unlock(&library->lock);
}

void soft_modules_destroy(soft_context *context)
{
    soft_module *module;
    while ((module = soft_module_take(context))) {
        if (module->library)
            forget(module->library, module);
        soft_module_drop(module);
    }
}

CUresult soft_function_find(soft_context *context, CUfunction handle, soft_function **out)
{
    if (soft_handle_is(handle, SOFT_KIND_FUNCTION)) {
        *out = (soft_function *)handle;
        return CUDA_SUCCESS;
    }
    if (!soft_handle_is(handle, SOFT_KIND_KERNEL))
        return soft_fail(CUDA_ERROR_INVALID_HANDLE,
                         "%p is neither a function nor a kernel", (void *)handle);
    soft_kernel *kernel = (soft_kernel *)handle;
    soft_module *module;
    SOFT_TRY(soft_library_module(kernel->library, context, &module));
    *out = &module->functions[kernel->index];
    return CUDA_SUCCESS;
}

SOFT_FINDER(soft_kernel_find, CUkernel, soft_kernel, SOFT_KIND_KERNEL,
            CUDA_ERROR_INVALID_HANDLE, "kernel")

/* Under the lock, so that a module loaded meanwhile has the value as well. */
void soft_kernel_set(soft_kernel *kernel, int device, bool carveout, int value)
{
    soft_library *library = kernel->library;
    pthread_mutex_lock(&library->lock);
    atomic_store(carveout ? &kernel->carveout[device]
                          : &kernel->dynamic_shared_max[device],
                 value);
    for (uint32_t i = 0; i < library->module_count; i++) {
        soft_module *module = library->modules[i];
        soft_function *function = &module->functions[kernel->index];
        if (module->context->device->ordinal == device)
            atomic_store(carveout ? &function->carveout : &function->dynamic_shared_max,
                         value);
    }
    pthread_mutex_unlock(&library->lock);
}

const ptx_kernel *soft_kernel_info(const soft_kernel *kernel)
{
    return soft_code_kernel(kernel->library->code, kernel->index);
}
