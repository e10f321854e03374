// SPDX-License-Identifier: Apache-2.0
/* Modules: loading with the JIT's options, and what is in them.
 *
 * A module is of one context, and goes with it. Handles of functions go with their
 * module, their code with the last graph that has it. */
#include "softcuda/device/module.h"

#include <gph/softcuda.h>
#include <string.h>

#include "base/fail.h"
#include "softcuda/api/exports.h"
#include "softcuda/api/image.h"

static CUresult load(soft_context *context, const void *image, size_t bytes,
                     const soft_jit *jit, CUmodule *out)
{
    soft_code *code;
    SOFT_TRY(soft_image_compile(image, bytes, jit, &code));
    soft_module *module;
    const CUresult status = soft_module_create(context, code, NULL, NULL, &module);
    soft_code_release(code); /* the module holds it */
    if (status == CUDA_SUCCESS)
        *out = (CUmodule)module;
    return status;
}

static CUresult load_checked(soft_context *context, CUmodule *out, const void *image,
                             const soft_jit *jit)
{
    SOFT_TRY(soft_need(out, "module"));
    SOFT_TRY(soft_need(image, "image"));
    return load(context, image, 0, jit, out);
}

/* PTX, a cubin's PTX, or a fatbin with PTX. */
CUresult cuModuleLoadData(CUmodule *out, const void *image)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    return load_checked(context, out, image, NULL);
}

CUresult cuModuleLoadFatBinary(CUmodule *out, const void *image)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    return load_checked(context, out, image, NULL);
}

CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned int count,
                            CUjit_option *options, void **values)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    soft_jit jit;
    SOFT_TRY(soft_jit_read(&jit, count, options, values));
    return load_checked(context, out, image, &jit);
}

CUresult cuModuleLoad(CUmodule *out, const char *path)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_need(out, "module"));
    SOFT_TRY(soft_need(path, "fname"));
    void *image;
    size_t bytes;
    SOFT_TRY(soft_image_read(path, &image, &bytes));
    const CUresult status = load(context, image, bytes, NULL, out);
    soft_image_free(image);
    return status;
}

/* Waits for the work of the context; graphs that have its functions keep the code. */
CUresult cuModuleUnload(CUmodule handle)
{
    SOFT_TRY(soft_enter_any(__func__));
    soft_module *module;
    SOFT_TRY(soft_module_find(handle, &module));
    if (module->library)
        return soft_fail(CUDA_ERROR_INVALID_HANDLE,
                         "module %p belongs to a library: cuLibraryUnload ends it",
                         (void *)module);
    return soft_module_unload(module);
}

gph_status gph_softcuda_code_get(gph_softcuda_code *out)
{
    if (!out)
        return GPH_E_INVALID;
    soft_code_counts counts;
    soft_code_count(&counts);
    const gph_softcuda_code code = {.kernels = counts.described,
                                    .compiled = counts.compiled,
                                    .cached = counts.cached,
                                    .compile_ns = counts.compile_ns,
                                    .parsed = counts.parsed,
                                    .written = counts.written};
    gphi_struct_write(out, &code, sizeof(code));
    return GPH_OK;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *out)
{
    SOFT_TRY(soft_enter_with(__func__, out, "mode"));
    *out = soft_loads_eagerly() ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

/* By the name in the PTX, which for C++ is the mangled one. */
CUresult cuModuleGetFunction(CUfunction *out, CUmodule handle, const char *name)
{
    SOFT_TRY(soft_enter_any(__func__));
    SOFT_TRY(soft_need(out, "hfunc"));
    SOFT_TRY(soft_need(name, "name"));
    soft_module *module;
    SOFT_TRY(soft_module_find(handle, &module));
    soft_function *function = soft_module_function(module, name);
    *out = (CUfunction)function; /* NULL, too */
    if (!function)
        return soft_fail(CUDA_ERROR_NOT_FOUND, "no kernel of the module is named '%s'",
                         name);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunctionCount(unsigned int *out, CUmodule handle)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    SOFT_TRY(soft_need(out, "count"));
    soft_module *module;
    SOFT_TRY(soft_module_find(handle, &module));
    *out = module->function_count;
    return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction *out, unsigned int count, CUmodule handle)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    if (!out || count == 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%u functions at %p", count,
                         (void *)out);
    soft_module *module;
    SOFT_TRY(soft_module_find(handle, &module));
    for (unsigned i = 0; i < count; i++)
        out[i] = i < module->function_count ? (CUfunction)&module->functions[i] : NULL;
    return CUDA_SUCCESS;
}

/* Either output may be NULL, not both. */
CUresult cuModuleGetGlobal_v2(CUdeviceptr *out, size_t *bytes, CUmodule handle,
                              const char *name)
{
    SOFT_TRY(soft_enter_any(__func__));
    SOFT_TRY(soft_need(name, "name"));
    if (!out && !bytes)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "dptr and bytes are both NULL");
    soft_module *module;
    SOFT_TRY(soft_module_find(handle, &module));
    uint64_t address = 0, size = 0;
    bool is_managed;
    const bool found = soft_module_global(module, name, &address, &size, &is_managed);
    if (out)
        *out = found ? address : 0;
    if (bytes)
        *bytes = found ? size : 0;
    if (!found)
        return soft_fail(CUDA_ERROR_NOT_FOUND, "no variable of the module is named '%s'",
                         name);
    return CUDA_SUCCESS;
}
