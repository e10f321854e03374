// SPDX-License-Identifier: Apache-2.0
/* Modules of a context and their functions. */
#include "softcuda/device/module.h"

#include <string.h>

#include "base/fail.h"
#include "softcuda/device/alloc.h"
#include "softcuda/device/device.h"
#include "softcuda/device/limits.h"
#include "softcuda/device/task.h"
#include "softcuda/device/texref.h"
#include "softcuda/memory/memory.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the lists of modules */

static void drop_references(soft_module *module)
{
    for (soft_texref *ref = module->texrefs, *next; ref; ref = next) {
        next = ref->next;
        soft_texref_destroy(ref);
    }
}

/* Takes half-built modules: everything but the handles and the list. */
static void free_module(soft_module *module)
{
    drop_references(module);
    for (uint32_t i = 0; module->globals && i < module->global_count; i++)
        if (module->globals[i] != 0 &&
            soft_memory_free(module->memory, module->globals[i], soft_error()) != GPH_OK)
            soft_log(CU_LOG_LEVEL_WARNING, "freeing a module's variable: %s",
                     soft_error_text());
    soft_binding_destroy(module->binding);
    soft_code_release(module->code);
    for (uint32_t i = 0; module->functions && i < module->function_count; i++)
        soft_delete(module->functions[i].prepared);
    soft_delete(module->functions);
    soft_delete(module->globals);
    soft_delete(module);
}

static void release(soft_module *module)
{
    if (atomic_fetch_sub_explicit(&module->references, 1, memory_order_acq_rel) == 1)
        free_module(module);
}

/* The module's: functions have no count of their own. */
void soft_function_retain(soft_function *function)
{
    atomic_fetch_add_explicit(&function->module->references, 1, memory_order_relaxed);
}

void soft_function_release(soft_function *function)
{
    release(function->module);
}

bool soft_function_is_ready(const soft_function *function)
{
    /* with the release store of the thread that made it (kernel/binding.c) */
    return atomic_load_explicit(&function->code->ready, memory_order_acquire);
}

/* The module may be unloaded meanwhile: compiling takes long. */
CUresult soft_function_ready(soft_function *function)
{
    if (soft_function_is_ready(function))
        return CUDA_SUCCESS;
    soft_function_retain(function);
    const gph_status status = soft_kernel_ready(function->code, soft_error());
    soft_function_release(function);
    return status == GPH_OK ? CUDA_SUCCESS : soft_pass(status);
}

void soft_functions_ready(soft_function *const *functions, uint32_t count)
{
    const soft_kernel_code **kernels = count ? soft_new(count * sizeof(*kernels)) : NULL;
    if (!kernels)
        return;
    for (uint32_t i = 0; i < count; i++)
        kernels[i] = functions[i]->code;
    gphi_ignore(soft_kernels_ready(kernels, count, NULL),
                "who launches one of them tries again and reports it");
    soft_delete(kernels);
}

/* A variable that is extern everywhere has no address to give. */
static CUresult allocate_globals(soft_module *module)
{
    module->global_count = soft_code_global_count(module->code);
    if (module->global_count == 0)
        return CUDA_SUCCESS;
    module->globals = soft_new(module->global_count * sizeof(*module->globals));
    SOFT_TRY(
        soft_made(module->globals, "no memory for %u addresses", module->global_count));
    for (uint32_t i = 0; i < module->global_count; i++) {
        const soft_code_global *global = soft_code_global_at(module->code, i);
        if (global->is_extern)
            return soft_fail(CUDA_ERROR_INVALID_PTX,
                             "variable %s is declared extern and defined nowhere",
                             global->name);
        if (global->bytes == 0)
            continue;
        SOFT_TRY(soft_pass(soft_memory_alloc(
            module->memory, global->is_managed ? SOFT_MEMORY_MANAGED : SOFT_MEMORY_DEVICE,
            global->bytes, SOFT_FLAGS_MODULE, NULL, &module->globals[i], soft_error())));
    }
    return CUDA_SUCCESS;
}

/* Initial values are written by the host, where the bytes are mapped for it. */
static CUresult bind(soft_module *module)
{
    SOFT_TRY(soft_pass(soft_binding_create(module->code, module->globals,
                                           &module->binding, soft_error())));
    for (uint32_t i = 0; i < module->global_count; i++)
        if (module->globals[i] != 0)
            soft_binding_init_global(module->binding, i,
                                     soft_device_reach(module->globals[i]));
    return CUDA_SUCCESS;
}

static void remove_handles(soft_module *module, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        soft_handle_remove(&module->functions[i], SOFT_KIND_FUNCTION);
    for (soft_texref *ref = module->texrefs; ref; ref = ref->next)
        soft_texref_hide(ref);
}

/* Attributes that were set on the library's kernel count for the function. */
static void set_up_function(soft_module *module, soft_kernel *kernels, uint32_t index)
{
    soft_function *function = &module->functions[index];
    function->module = module;
    function->code = soft_binding_kernel(module->binding, index);
    const int fixed = (int)function->code->kernel->static_shared_bytes;
    atomic_init(&function->dynamic_shared_max,
                fixed < SOFT_SHARED_BYTES ? SOFT_SHARED_BYTES - fixed : 0);
    atomic_init(&function->carveout, -1);
    atomic_init(&function->cache_config, CU_FUNC_CACHE_PREFER_NONE);
    if (!kernels)
        return;
    const int device = module->context->device->ordinal;
    function->kernel = &kernels[index];
    const int wanted = atomic_load(&function->kernel->dynamic_shared_max[device]);
    if (wanted >= 0)
        atomic_store(&function->dynamic_shared_max, wanted);
    atomic_store(&function->carveout, atomic_load(&function->kernel->carveout[device]));
}

/* Handles come last: a program that guesses addresses finds none that is half made. */
static CUresult make_functions(soft_module *module, soft_kernel *kernels)
{
    const uint32_t count = soft_code_kernel_count(module->code);
    if (count == 0)
        return CUDA_SUCCESS;
    module->functions = soft_new(count * sizeof(*module->functions));
    SOFT_TRY(soft_made(module->functions, "no memory for %u functions", count));
    for (uint32_t i = 0; i < count; i++) {
        set_up_function(module, kernels, i);
        const CUresult added = soft_handle_add(&module->functions[i], SOFT_KIND_FUNCTION);
        if (added != CUDA_SUCCESS) {
            remove_handles(module, i);
            return added;
        }
    }
    module->function_count = count;
    return CUDA_SUCCESS;
}

static void link_in(soft_module *module)
{
    pthread_mutex_lock(&lock);
    module->next = module->context->modules;
    if (module->next)
        module->next->previous = module;
    module->context->modules = module;
    pthread_mutex_unlock(&lock);
}

static void take_out_locked(soft_module *module)
{
    if (module->previous)
        module->previous->next = module->next;
    else
        module->context->modules = module->next;
    if (module->next)
        module->next->previous = module->previous;
}

/* All that can fail comes before the list of the context, which others read. */
CUresult soft_module_create(soft_context *context, soft_code *code, soft_library *library,
                            soft_kernel *kernels, soft_module **out)
{
    soft_module *module = soft_new(sizeof(*module));
    SOFT_TRY(soft_made(module, "no memory for a module"));
    *module = (soft_module){.context = context,
                            .context_id = context->id,
                            .memory = context->device->memory,
                            .code = code,
                            .library = library};
    atomic_init(&module->references, 1);
    soft_code_retain(code);
    CUresult status = allocate_globals(module);
    SOFT_THEN(status, bind(module));
    SOFT_THEN(status, make_functions(module, kernels));
    if (status == CUDA_SUCCESS) {
        status = soft_handle_add(module, SOFT_KIND_MODULE);
        if (status != CUDA_SUCCESS)
            remove_handles(module, module->function_count);
    }
    if (status != CUDA_SUCCESS) {
        free_module(module);
        return status;
    }
    link_in(module);
    *out = module;
    return CUDA_SUCCESS;
}

SOFT_FINDER(soft_module_find, CUmodule, soft_module, SOFT_KIND_MODULE,
            CUDA_ERROR_INVALID_HANDLE, "module")

/* Graphs and streams may hold functions: the code goes with the last of them. */
CUresult soft_module_unload(soft_module *module)
{
    if (!soft_handle_remove(module, SOFT_KIND_MODULE))
        return soft_fail(CUDA_ERROR_INVALID_HANDLE, "module %p is unloaded already",
                         (void *)module);
    remove_handles(module, module->function_count);
    pthread_mutex_lock(&lock);
    take_out_locked(module);
    pthread_mutex_unlock(&lock);
    soft_context *context = module->context;
    const CUresult waited =
        atomic_load(&context->alive) ? soft_streams_wait(context) : CUDA_SUCCESS;
    release(module);
    return waited;
}

soft_module *soft_module_take(soft_context *context)
{
    pthread_mutex_lock(&lock);
    soft_module *module = context->modules;
    if (module)
        take_out_locked(module);
    pthread_mutex_unlock(&lock);
    return module;
}

void soft_module_drop(soft_module *module)
{
    soft_handle_remove(module, SOFT_KIND_MODULE);
    remove_handles(module, module->function_count);
    release(module);
}

soft_function *soft_module_function(soft_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->function_count; i++)
        if (strcmp(module->functions[i].code->kernel->name, name) == 0)
            return &module->functions[i];
    return NULL;
}

soft_function *soft_module_kernel_at(soft_context *context, uint64_t address)
{
    soft_function *found = NULL;
    pthread_mutex_lock(&lock);
    for (soft_module *m = context->modules; m && !found; m = m->next)
        for (uint32_t i = 0; i < m->function_count && !found; i++)
            if ((uint64_t)(uintptr_t)m->functions[i].code == address)
                found = &m->functions[i];
    pthread_mutex_unlock(&lock);
    return found;
}

/* A .visible one first: a linked module may have others of its name. nvcc 13 writes no
 * variable .visible, and an H200 finds them. */
bool soft_module_global(const soft_module *module, const char *name, uint64_t *address,
                        uint64_t *bytes, bool *is_managed)
{
    const soft_code_global *found = NULL;
    for (uint32_t i = 0; i < module->global_count; i++) {
        const soft_code_global *global = soft_code_global_at(module->code, i);
        if (strcmp(global->name, name) != 0 || (found && !global->is_visible))
            continue;
        found = global;
        *address = module->globals[i];
        *bytes = global->bytes;
        *is_managed = global->is_managed;
    }
    return found;
}

static uint64_t reference_variable(const soft_module *module, const char *name,
                                   bool is_surface)
{
    const uint8_t wanted = is_surface ? PTX_REFERENCE_SURFACE : PTX_REFERENCE_TEXTURE;
    for (uint32_t i = 0; i < module->global_count; i++) {
        const soft_code_global *global = soft_code_global_at(module->code, i);
        if (global->reference == wanted && strcmp(global->name, name) == 0)
            return module->globals[i];
    }
    return 0;
}

static CUresult reference_locked(soft_module *module, uint64_t variable, bool is_surface,
                                 soft_texref **out)
{
    for (*out = module->texrefs; *out; *out = (*out)->next)
        if ((*out)->variable == variable)
            return CUDA_SUCCESS;
    soft_texref *ref;
    SOFT_TRY(soft_texref_create(module->context, variable, is_surface, &ref));
    ref->next = module->texrefs;
    module->texrefs = ref;
    *out = ref;
    return CUDA_SUCCESS;
}

CUresult soft_module_reference(soft_module *module, const char *name, bool is_surface,
                               soft_texref **out)
{
    const uint64_t variable = reference_variable(module, name, is_surface);
    if (variable == 0)
        return soft_fail(CUDA_ERROR_NOT_FOUND,
                         "no %s reference of the module is named '%s'",
                         is_surface ? "surface" : "texture", name);
    pthread_mutex_lock(&lock);
    const CUresult status = reference_locked(module, variable, is_surface, out);
    pthread_mutex_unlock(&lock);
    return status;
}
