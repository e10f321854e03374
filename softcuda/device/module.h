// SPDX-License-Identifier: Apache-2.0
/* Modules, libraries, kernels and functions: the objects that are handed out as CUmodule, CUlibrary,
 * CUkernel and CUfunction.
 *
 *   soft_library (process) -- soft_kernel (CUkernel), one a kernel of the image
 *        |  one module a context that asks
 *        v
 *   soft_module (context)  -- soft_function (CUfunction), one a kernel
 *        |                -- globals: device memory
 *        v
 *   soft_binding, soft_code (softcuda/kernel) */
#ifndef SOFT_DEVICE_MODULE_H
#define SOFT_DEVICE_MODULE_H
#include "softcuda/device/context.h"
#include "softcuda/kernel/load/code.h"

typedef struct soft_module soft_module;
typedef struct soft_library soft_library;

/* A CUfunction points to one; lives as long as its module. */
typedef struct soft_function {
    soft_module *module;
    const soft_kernel_code *code;  /* code->kernel: name, parameters, shared memory */
    struct soft_kernel *kernel;    /* of the library that it came from, or NULL */
    atomic_int dynamic_shared_max; /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
    atomic_int carveout;
    atomic_int cache_config;
    atomic_int cluster[3];          /* CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_...; 0: none */
    atomic_int cluster_more;        /* CU_FUNC_ATTRIBUTE_NON_PORTABLE_... */
    atomic_bool said_lockstep;      /* check mode: once */
    uint32_t cost_ns;               /* of a launch, as the engine measured it */
    struct soft_prepared *prepared; /* api/cu_prepared.c: NULL until something is set */
} soft_function;

struct soft_module {
    soft_context *context;
    uint64_t context_id;
    struct soft_memory *memory;
    soft_code *code;
    soft_binding *binding;
    soft_library *library; /* NULL: loaded by cuModuleLoad and the like */
    atomic_uint references;
    uint32_t function_count, global_count;
    soft_function *functions;    /* by index as in `code` */
    uint64_t *globals;           /* their addresses, 0 for none */
    struct soft_texref *texrefs; /* those asked for; under the mutex of module.c */
    soft_module *next, *previous;
};

/* A CUkernel points to one. */
typedef struct soft_kernel {
    soft_library *library;
    uint32_t index; /* in the code */
    atomic_int dynamic_shared_max[SOFT_DEVICE_MAX], carveout[SOFT_DEVICE_MAX];
    atomic_int cluster_more[SOFT_DEVICE_MAX];
} soft_kernel;

/* library.c: resolves a CUfunction, or a CUkernel in `context`. INVALID_HANDLE for what is none. */
CUresult soft_function_find(soft_context *context, CUfunction handle,
                            soft_function **out);

/* clustershape.c: the clusters of a launch that names `given` (zeros: none); zeros: each block
 * is alone. Fails with INVALID_CLUSTER_SIZE. */
CUresult soft_cluster_of(const soft_function *function, const uint32_t grid[3],
                         const uint16_t given[3], uint32_t out[3]);
/* As it is kept: what is too large for any device stays so. */
void soft_cluster_read(const CUlaunchAttributeValue *value, uint16_t out[3]);
/* Blocks of the largest. */
uint32_t soft_cluster_most(const soft_function *function);

/* Keeps the module's code and globals until the matching release, after unloading too. */
void soft_function_retain(soft_function *function);
void soft_function_release(soft_function *function);

/* Makes the machine code of its kernel, if nobody did; waits for a thread that is at it.
 * Long, the first time: call it with no lock held. Fails as soft_kernel_ready() does. */
CUresult soft_function_ready(soft_function *function);
/* All of them, on several processors; failures are left for who needs one. */
void soft_functions_ready(soft_function *const *functions, uint32_t count);
bool soft_function_is_ready(const soft_function *function);

/* Loads compiled code into a context; of a library, with its kernels, or with NULL for
 * both. Retains `code`. */
CUresult soft_module_create(soft_context *context, soft_code *code, soft_library *library,
                            soft_kernel *kernels, soft_module **out);
/* Takes a module out of a context that ends, or NULL; soft_module_drop() it. */
soft_module *soft_module_take(soft_context *context);
void soft_module_drop(soft_module *module);
/* Waits for the context's work. INVALID_HANDLE if another thread was first. */
CUresult soft_module_unload(soft_module *module);
/* INVALID_HANDLE for what is not a module. */
CUresult soft_module_find(CUmodule handle, soft_module **out);
/* NULL where there is none of that name. */
soft_function *soft_module_function(soft_module *module, const char *name);
/* False where there is none of that name. */
bool soft_module_global(const soft_module *module, const char *name, uint64_t *address,
                        uint64_t *bytes, bool *is_managed);

/* The function of a context whose kernel has this address in generated code; NULL: none. */
soft_function *soft_module_kernel_at(soft_context *context, uint64_t address);

/* The reference of a .texref or .surfref variable, made when first asked for; it goes with
 * the module. NOT_FOUND. */
CUresult soft_module_reference(soft_module *module, const char *name, bool is_surface,
                               struct soft_texref **out);

/* What allocations of a module's globals carry as flags: cuMemFree() refuses them. */
#define SOFT_FLAGS_MODULE 0x80000000u

/* `broken`: why its image could not be read, and `code` has nothing in it; or CUDA_SUCCESS. */
CUresult soft_library_create(soft_code *code, CUresult broken, soft_library **out);
CUresult soft_library_check(const soft_library *library); /* fails with that */
CUresult soft_library_destroy(soft_library *library);
CUresult soft_library_find(CUlibrary handle, soft_library **out);
soft_code *soft_library_code(const soft_library *library);
soft_kernel *soft_library_kernel(const soft_library *library, uint32_t index);
/* The library as a module of a context; loaded at the first call. */
CUresult soft_library_module(soft_library *library, soft_context *context,
                             soft_module **out);
/* Unloads every module of a context that ends. */
void soft_modules_destroy(soft_context *context);
CUresult soft_kernel_find(CUkernel handle, soft_kernel **out);
/* Sets an attribute of a kernel on a device: in its functions there, now and later. */
void soft_kernel_set(soft_kernel *kernel, int device, bool carveout, int value);
const ptx_kernel *soft_kernel_info(const soft_kernel *kernel);
#endif
