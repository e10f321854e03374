// SPDX-License-Identifier: Apache-2.0
/* What kernels that launch kernels ask of their context: which kernel an address is, copies
 * and fills, what the device and the kernels are like. */
#include <string.h>

#include "cuda/abi.h"
#include "softcuda/device/device.h"
#include "softcuda/device/driver.h"
#include "softcuda/device/limits.h"
#include "softcuda/device/module.h"
#include "softcuda/device/occupancy.h"
#include "softcuda/device/task.h"
#include "softcuda/kernel/run/nested.h"
#include "softcuda/ptx/nestedcalls.h"

enum { DEVICE_RUNTIME_VERSION = 6000 }; /* as an H200 gives it, with CUDA 13.0 */

static void find_kernel(void *user, uint64_t address, soft_nested_kernel *out)
{
    soft_function *function = soft_module_kernel_at(user, address);
    if (!function)
        return;
    out->code = function->code;
    out->cost_ns = &function->cost_ns;
    /* Once the host has asked for more than 48 KiB, all that there is counts (H200). */
    const uint32_t fixed = function->code->kernel->static_shared_bytes;
    const uint32_t set = (uint32_t)atomic_load(&function->dynamic_shared_max);
    out->dynamic_max =
        set + fixed <= SOFT_SHARED_BYTES ? set : SOFT_SHARED_OPTIN_BYTES - fixed;
    memcpy(out->cluster, function->code->kernel->required_cluster, sizeof(out->cluster));
}

static bool fill_planes(const soft_nested_copy *copy, struct soft_trace *trace,
                        uint64_t *lost)
{
    for (uint64_t z = 0; z < copy->depth; z++) {
        const soft_fill fill = {.dst = copy->dst + z * copy->dst_slice,
                                .pitch = copy->dst_pitch,
                                .width = copy->width,
                                .height = copy->height,
                                .value = copy->value,
                                .element = 1};
        if (trace)
            soft_fill_note(trace, &fill);
        if (!soft_fill_run(&fill, lost))
            return false;
    }
    return true;
}

static bool run_copy(void *user, const soft_nested_copy *copy, struct soft_trace *trace,
                     uint64_t *lost)
{
    (void)user;
    const soft_copy plain = {.dst = copy->dst,
                             .src = copy->src,
                             .dst_pitch = copy->dst_pitch,
                             .src_pitch = copy->src_pitch,
                             .dst_slice = copy->dst_slice,
                             .src_slice = copy->src_slice,
                             .width = copy->width,
                             .height = copy->height,
                             .depth = copy->depth,
                             .dst_type = CU_MEMORYTYPE_UNIFIED,
                             .src_type = CU_MEMORYTYPE_UNIFIED};
    if (copy->fills)
        return fill_planes(copy, trace, lost);
    if (trace)
        soft_copy_note(trace, &plain);
    return soft_copy_run(&plain, lost);
}

/* ---- queries ----------------------------------------------------------------------- */

/* struct cudaFuncAttributes (driver_types.h); what an H200 leaves 0 is 0. */
typedef struct function_attributes {
    uint64_t shared, constant, local;
    int32_t threads, registers, ptx, binary, cache_ca, dynamic_max, carveout;
    int32_t cluster_must_be_set, cluster[3], cluster_policy, cluster_more;
    int32_t reserved[16];
} function_attributes;

static uint32_t answer_word(void *out, uint32_t *bytes, uint64_t value, uint32_t count)
{
    memcpy(out, &value, count);
    *bytes = count;
    return 0;
}

static uint32_t describe(soft_context *context, uint64_t address, void *out,
                         uint32_t *bytes)
{
    const soft_function *function = soft_module_kernel_at(context, address);
    if (!function)
        return SOFT_NESTED_INVALID_VALUE;
    const ptx_kernel *kernel = function->code->kernel;
    const function_attributes about = {
        .shared = kernel->static_shared_bytes,
        .constant = kernel->const_bytes,
        .local = kernel->local_bytes,
        .threads = (int32_t)kernel->max_threads,
        .registers = (int32_t)kernel->registers,
        .ptx = (int32_t)soft_code_ptx_target(function->module->code),
        .binary = 90,
        .cluster = {(int32_t)kernel->required_cluster[0],
                    (int32_t)kernel->required_cluster[1],
                    (int32_t)kernel->required_cluster[2]},
    };
    memcpy(out, &about, sizeof(about));
    *bytes = sizeof(about);
    return 0;
}

static uint32_t occupancy(soft_context *context, const uint64_t *a, void *out,
                          uint32_t *bytes)
{
    const soft_function *function = soft_module_kernel_at(context, a[1]);
    if (!function)
        return SOFT_NESTED_INVALID_VALUE;
    if ((int32_t)a[2] <= 0)
        return SOFT_NESTED_INVALID_VALUE;
    ptx_kernel kernel = *function->code->kernel;
    kernel.max_threads =
        SOFT_BLOCK_THREADS_MAX; /* launch bounds do not count here (H200) */
    return answer_word(out, bytes, soft_occupancy(&kernel, (uint32_t)a[2], a[3]), 4);
}

static uint32_t query(void *user, uint32_t which, const uint64_t *a, void *out,
                      uint32_t *bytes)
{
    soft_context *context = user;
    const CUdevice_attribute attribute = (CUdevice_attribute)a[1];
    switch (which) {
    case PTX_NESTED_DEVICE_ATTRIBUTE:
        if ((int32_t)a[2] < 0 || (int32_t)a[2] >= soft_device_count())
            return SOFT_NESTED_INVALID_DEVICE;
        if (!soft_device_has_attribute(attribute))
            return SOFT_NESTED_INVALID_VALUE;
        return answer_word(
            out, bytes,
            (uint32_t)soft_device_attribute(soft_device_at((int)a[2]), attribute), 4);
    case PTX_NESTED_LIMIT:
        if ((uint32_t)a[1] >= CU_LIMIT_MAX)
            return SOFT_NESTED_INVALID_VALUE;
        if (a[1] == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH)
            return SOFT_NESTED_UNSUPPORTED_LIMIT;
        return answer_word(out, bytes, context->limits[a[1]], 8);
    case PTX_NESTED_CACHE_CONFIG:
        return answer_word(out, bytes, context->cache_config, 4);
    case PTX_NESTED_BANK_CONFIG:
        return answer_word(out, bytes, context->shared_config, 4);
    case PTX_NESTED_DEVICE_COUNT:
        return answer_word(out, bytes, (uint32_t)soft_device_count(), 4);
    case PTX_NESTED_DEVICE:
        return answer_word(out, bytes, (uint32_t)context->device->ordinal, 4);
    case PTX_NESTED_VERSION: return answer_word(out, bytes, DEVICE_RUNTIME_VERSION, 4);
    case PTX_NESTED_FUNCTION: return describe(context, a[1], out, bytes);
    default: return occupancy(context, a, out, bytes);
    }
}

/* ---- texts ------------------------------------------------------------------------- */

static const char *driver_text(uint32_t error)
{
    switch (error) {
#define X(name, value, text)                                                             \
    case value: return text;
        GPHI_CUDA_RESULTS(X)
#undef X
    default: return "unrecognized error code";
    }
}

static const char *error_text(uint32_t error, bool is_name)
{
    static const struct {
        uint32_t error;
        const char *name, *text;
    } all[] = {
#define X(number, name, text) {number, "cuda" name, text},
#include "cuda/runtime_errors.def"
#undef X
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i].error == error)
            return is_name ? all[i].name : all[i].text ? all[i].text : driver_text(error);
    return "unrecognized error code";
}

const soft_nested_hooks soft_context_nested = {.finish = soft_nested_finish,
                                               .kernel = find_kernel,
                                               .copy = run_copy,
                                               .query = query,
                                               .text = error_text};
