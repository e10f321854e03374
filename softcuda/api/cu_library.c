// SPDX-License-Identifier: Apache-2.0
/* Libraries and kernels: code without a context.
 *
 * A library is compiled once for the process; each context that uses it gets a module of
 * its own when it first does. Kernels are handles of the library: attributes set on them
 * hold in all contexts of a device. */
#include <string.h>

#include "softcuda/api/cu_function.h"
#include "softcuda/api/exports.h"
#include "softcuda/api/image.h"
#include "softcuda/device/module.h"

static bool is_of_image(CUresult status)
{
    return status == CUDA_ERROR_INVALID_IMAGE || status == CUDA_ERROR_INVALID_PTX ||
           status == CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
}

/* Compiled immediately, so that the log says what is wrong where the call is made. But a library of a
 * wrong image is loaded, whatever CUDA_MODULE_LOADING says: it has no kernels, and who asks for
 * one gets the error (an H200). */
static CUresult create(const void *image, size_t bytes, const soft_jit *jit,
                       CUlibrary *out)
{
    static const char nothing[] = ".version 7.0\n.target sm_50\n.address_size 64\n";
    static const soft_jit plain;
    soft_code *code;
    const CUresult broken = soft_image_compile(image, bytes, jit, &code);
    if (is_of_image(broken))
        SOFT_TRY(soft_image_compile(nothing, 0, &plain, &code));
    else
        SOFT_TRY(broken);
    soft_library *library;
    const CUresult status = soft_library_create(code, broken, &library);
    soft_code_release(code); /* the library holds it */
    if (status == CUDA_SUCCESS)
        *out = (CUlibrary)library;
    return status;
}

/* Library options only say how long the image stays and how eagerly it loads. */
static CUresult check_options(unsigned count, const CUlibraryOption *options)
{
    if (count != 0 && !options)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%u library options at NULL", count);
    for (unsigned i = 0; i < count; i++)
        if (options[i] < 0 || options[i] >= CU_LIBRARY_NUM_OPTIONS)
            return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a library option",
                             (int)options[i]);
    return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary *out, const void *image, CUjit_option *options,
                           void **values, unsigned int count,
                           CUlibraryOption *lib_options, void **lib_values,
                           unsigned int lib_count)
{
    (void)lib_values;
    SOFT_TRY(soft_enter_with(__func__, out, "library"));
    SOFT_TRY(soft_need(image, "code"));
    soft_jit jit;
    SOFT_TRY(soft_jit_read(&jit, count, options, values));
    SOFT_TRY(check_options(lib_count, lib_options));
    return create(image, 0, &jit, out);
}

/* Read at once: the file may go afterwards. */
CUresult cuLibraryLoadFromFile(CUlibrary *out, const char *path, CUjit_option *options,
                               void **values, unsigned int count,
                               CUlibraryOption *lib_options, void **lib_values,
                               unsigned int lib_count)
{
    (void)lib_values;
    SOFT_TRY(soft_enter_with(__func__, out, "library"));
    SOFT_TRY(soft_need(path, "fileName"));
    soft_jit jit;
    SOFT_TRY(soft_jit_read(&jit, count, options, values));
    SOFT_TRY(check_options(lib_count, lib_options));
    void *image;
    size_t bytes;
    SOFT_TRY(soft_image_read(path, &image, &bytes));
    const CUresult status = create(image, bytes, &jit, out);
    soft_image_free(image);
    return status;
}

/* Its modules go in every context; kernels that are in graphs keep their code. */
CUresult cuLibraryUnload(CUlibrary handle)
{
    SOFT_TRY(soft_enter(__func__));
    soft_library *library;
    SOFT_TRY(soft_library_find(handle, &library));
    return soft_library_destroy(library);
}

/* The same handle each time: kernels belong to the library. */
CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary handle, const char *name)
{
    SOFT_TRY(soft_enter_with(__func__, out, "pKernel"));
    SOFT_TRY(soft_need(name, "name"));
    soft_library *library;
    SOFT_TRY(soft_library_find(handle, &library));
    SOFT_TRY(soft_library_check(library));
    const soft_code *code = soft_library_code(library);
    for (uint32_t i = 0; i < soft_code_kernel_count(code); i++)
        if (strcmp(soft_code_kernel(code, i)->name, name) == 0) {
            *out = (CUkernel)soft_library_kernel(library, i);
            return CUDA_SUCCESS;
        }
    return soft_fail(CUDA_ERROR_NOT_FOUND, "no kernel of the library is named '%s'",
                     name);
}

/* Of the code, whatever is loaded where. */
CUresult cuLibraryGetKernelCount(unsigned int *out, CUlibrary handle)
{
    SOFT_TRY(soft_enter_with(__func__, out, "count"));
    soft_library *library;
    SOFT_TRY(soft_library_find(handle, &library));
    *out = soft_code_kernel_count(soft_library_code(library));
    return CUDA_SUCCESS;
}

/* More room than there are kernels is filled with NULL. */
CUresult cuLibraryEnumerateKernels(CUkernel *out, unsigned int count, CUlibrary handle)
{
    SOFT_TRY(soft_enter(__func__));
    if (!out)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%u kernels at %p", count,
                         (void *)out);
    soft_library *library;
    SOFT_TRY(soft_library_find(handle, &library));
    const uint32_t all = soft_code_kernel_count(soft_library_code(library));
    for (unsigned i = 0; i < count; i++)
        out[i] = i < all ? (CUkernel)soft_library_kernel(library, i) : NULL;
    return CUDA_SUCCESS;
}

/* Loaded into the context at the first call. */
static CUresult module_of(CUlibrary handle, soft_context *context, soft_module **out)
{
    soft_library *library;
    SOFT_TRY(soft_library_find(handle, &library));
    return soft_library_module(library, context, out);
}

CUresult cuLibraryGetModule(CUmodule *out, CUlibrary handle)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_need(out, "pMod"));
    soft_module *module;
    SOFT_TRY(module_of(handle, context, &module));
    *out = (CUmodule)module;
    return CUDA_SUCCESS;
}

static CUresult find_variable(soft_context *context, CUlibrary handle, const char *name,
                              bool wants_managed, CUdeviceptr *out, size_t *bytes)
{
    soft_module *module;
    uint64_t address, size;
    bool is_managed;
    SOFT_TRY(module_of(handle, context, &module));
    if (!soft_module_global(module, name, &address, &size, &is_managed) ||
        (wants_managed && !is_managed))
        return soft_fail(CUDA_ERROR_NOT_FOUND,
                         "no %svariable of the library is named '%s'",
                         wants_managed ? "managed " : "", name);
    if (out)
        *out = address;
    if (bytes)
        *bytes = size;
    return CUDA_SUCCESS;
}

/* A variable has one copy in each context. */
CUresult cuLibraryGetGlobal(CUdeviceptr *out, size_t *bytes, CUlibrary handle,
                            const char *name)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_need(name, "name"));
    if (!out && !bytes)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "dptr and bytes are both NULL");
    return find_variable(context, handle, name, false, out, bytes);
}

/* One copy in each context, too: with one device, the one that a GPU has. */
CUresult cuLibraryGetManaged(CUdeviceptr *out, size_t *bytes, CUlibrary handle,
                             const char *name)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_need(name, "name"));
    if (!out && !bytes)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "dptr and bytes are both NULL");
    return find_variable(context, handle, name, true, out, bytes);
}

/* There are none on this architecture, either. */
CUresult cuLibraryGetUnifiedFunction(void **out, CUlibrary handle, const char *name)
{
    SOFT_TRY(soft_enter_with(__func__, out, "fptr"));
    SOFT_TRY(soft_need(name, "symbol"));
    soft_library *library;
    SOFT_TRY(soft_library_find(handle, &library));
    return soft_fail(CUDA_ERROR_INVALID_VALUE,
                     "'%s': unified function pointers are not supported", name);
}

/* ---- kernels ----------------------------------------------------------------------- */

/* Of the current context. */
CUresult cuKernelGetFunction(CUfunction *out, CUkernel handle)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_need(out, "pFunc"));
    soft_kernel *kernel;
    SOFT_TRY(soft_kernel_find(handle, &kernel));
    soft_function *function;
    SOFT_TRY(soft_function_find(context, (CUfunction)handle, &function));
    *out = (CUfunction)function;
    return CUDA_SUCCESS;
}

/* Without a reference: the program keeps the library alive. */
CUresult cuKernelGetLibrary(CUlibrary *out, CUkernel handle)
{
    SOFT_TRY(soft_enter_with(__func__, out, "pLib"));
    soft_kernel *kernel;
    SOFT_TRY(soft_kernel_find(handle, &kernel));
    *out = (CUlibrary)kernel->library;
    return CUDA_SUCCESS;
}

/* Lent: it lives as long as the library. */
CUresult cuKernelGetName(const char **out, CUkernel handle)
{
    SOFT_TRY(soft_enter_with(__func__, out, "name"));
    SOFT_TRY(soft_need(handle, "hfunc")); /* 1 and not 400, as on an H100 */
    soft_kernel *kernel;
    SOFT_TRY(soft_kernel_find(handle, &kernel));
    *out = soft_kernel_info(kernel)->name;
    return CUDA_SUCCESS;
}

/* The layout is that of the kernel in a context, so one must be current. */
CUresult cuKernelGetParamInfo(CUkernel handle, size_t index, size_t *offset, size_t *size)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    soft_kernel *kernel;
    SOFT_TRY(soft_kernel_find(handle, &kernel));
    return soft_param_info(soft_kernel_info(kernel), index, offset, size);
}

/* A kernel has attributes on each device, whether or not it is loaded there. */
static CUresult kernel_on(CUkernel handle, CUdevice device, soft_kernel **out)
{
    SOFT_TRY(soft_kernel_find(handle, out));
    soft_device *found;
    return soft_device_find(device, &found);
}

CUresult cuKernelGetAttribute(int *out, CUfunction_attribute attribute, CUkernel handle,
                              CUdevice device)
{
    SOFT_TRY(soft_enter_with(__func__, out, "pi"));
    soft_kernel *kernel;
    SOFT_TRY(kernel_on(handle, device, &kernel));
    const soft_attributes from = {
        .kernel = soft_kernel_info(kernel),
        .ptx_target = (int)soft_code_ptx_target(soft_library_code(kernel->library)),
        .dynamic_shared_max = atomic_load(&kernel->dynamic_shared_max[device]),
        .carveout = atomic_load(&kernel->carveout[device]),
        .cluster_more = atomic_load(&kernel->cluster_more[device])};
    return soft_attribute_get(&from, attribute, out);
}

/* In every context of that device, those that come later included. */
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel handle,
                              CUdevice device)
{
    SOFT_TRY(soft_enter(__func__));
    soft_kernel *kernel;
    SOFT_TRY(kernel_on(handle, device, &kernel));
    SOFT_TRY(soft_attribute_check(soft_kernel_info(kernel), attribute, value));
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        soft_kernel_set(kernel, device, false, value);
    else if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
        soft_kernel_set(kernel, device, true, value);
    else if (attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
        atomic_store(&kernel->cluster_more[device], value);
    return CUDA_SUCCESS;
}

/* Checked, and forgotten. */
CUresult cuKernelSetCacheConfig(CUkernel handle, CUfunc_cache config, CUdevice device)
{
    SOFT_TRY(soft_enter(__func__));
    soft_kernel *kernel;
    SOFT_TRY(kernel_on(handle, device, &kernel));
    if (config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a cache configuration",
                         (int)config);
    return CUDA_SUCCESS;
}
