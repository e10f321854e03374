// SPDX-License-Identifier: Apache-2.0
/* Modules, libraries, kernels and functions: the objects behind CUmodule, CUlibrary,
 * CUkernel and CUfunction. A library belongs to the process and becomes a module in each
 * context that uses it; a CUkernel becomes a CUfunction likewise. */
#ifndef SOFT_DEVICE_MODULE_H
#define SOFT_DEVICE_MODULE_H
#include "softcuda/device/context.h"

typedef struct soft_module soft_module;
struct soft_kernel_code; /* softcuda/kernel: one kernel of a loaded module */

/* A CUfunction points to one; lives as long as its module. */
typedef struct soft_function {
    soft_module *module;
    const char *name;
    struct soft_kernel_code *code;
    uint32_t param_bytes; /* of the whole parameter buffer */
    uint32_t param_count;
    uint32_t static_shared_bytes;
    uint32_t max_threads;           /* a block, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK */
    atomic_uint dynamic_shared_max; /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
    atomic_int carveout;
    atomic_int cache_config;
} soft_function;

/* Resolves a CUfunction, or a CUkernel in `context`. INVALID_HANDLE for what is none. */
CUresult soft_function_find(soft_context *context, CUfunction handle,
                            soft_function **out);

/* Keeps the module's code and globals until the matching release, after unloading too. */
void soft_function_retain(soft_function *function);
void soft_function_release(soft_function *function);
#endif
