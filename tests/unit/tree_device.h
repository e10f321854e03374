// SPDX-License-Identifier: Apache-2.0
/* The world of tree_random.h on a driver, softcuda or a GPU's, with a shim between it and
 * libgph that fails the n-th call:
 *
 *   tree ── libgph ── shim ── driver
 *
 * What tests do themselves goes past the shim. */
#ifndef TREE_DEVICE_H
#define TREE_DEVICE_H
#include "base/fail.h"
#include "cuda/loader.h"
#include "cuda/runtime.h"
#include "fault.h"
#include "memory/pool.h"
#include "shim.h"
#include "tree/tree.h"
#include "unit/tree_spec.h"
#include <errno.h>

static const struct shim_rule tree_rules[] = {
    SHIM_CALL(cuStreamIsCapturing),
    SHIM_CALL(cuStreamBeginCapture),
    SHIM_CALL(cuStreamEndCapture),
    SHIM_CALL(cuStreamSynchronize),
    SHIM_CALL(cuLaunchKernel),
    SHIM_CALL(cuMemcpyDtoDAsync),
    SHIM_CALL(cuMemcpyBatchAsync),
    SHIM_CALL(cuGraphLaunch),
    SHIM_CALL(cuGraphInstantiateWithParams),
    SHIM_CALL(cuMemCreate),
    SHIM_CALL(cuMemMap),
    SHIM_CALL(cuMemSetAccess),
    SHIM_CALL(cuEventCreate),
    SHIM_CALL(cuEventRecord),
    SHIM_CALL(cuStreamCreate),
    SHIM_CALL(cuMemAddressReserve),
    SHIM_CALL(cuMemHostAlloc), /* from here on: of inputs that the graph copies */
    SHIM_CALL(cuMemAlloc),
    SHIM_CALL(cuMemcpyHtoD),
    SHIM_CALL(cuModuleLoadData),
    SHIM_CALL(cuGraphGetRootNodes),
    SHIM_CALL(cuGraphAddKernelNode),
    SHIM_CALL(cuGraphAddDependencies),
    SHIM_CALL(cuGraphDestroyNode),
    SHIM_END,
};

/* ---- one driver, stream and arena for all ---- */

enum { WEIGHT_TENSORS = 16 };

static fault_heap device_heap = {.fail_at = -1};
static gph_runtime *device_runtime;
static gph_arena *device_arena;
static CUstream device_stream;
static CUfunction hash_store;
static CUdeviceptr device_weights;

static void drop_line(void *user, gph_log_level level, const char *area, const char *text)
{
    (void)user;
    (void)level;
    (void)area;
    (void)text;
}

/* False: there is no driver. What failures are logged is dropped: they are meant. */
static inline bool device_open(gph_driver which, gph_error *error)
{
    gph_log_set(drop_line, NULL);
    CUcontext context = NULL;
    CUmodule module = NULL;
    if (!shim_open(which, tree_rules))
        return false;
    shim.code = CUDA_ERROR_OUT_OF_MEMORY;
    const gph_allocator heap = {fault_realloc, &device_heap};
    return below.cuInit(0) == 0 && below.cuDevicePrimaryCtxRetain(&context, 0) == 0 &&
           below.cuCtxSetCurrent(context) == 0 &&
           below.cuModuleLoad(&module, TREE_PTX) == 0 &&
           below.cuModuleGetFunction(&hash_store, module, "hash_store") == 0 &&
           below.cuStreamCreate(&device_stream, CU_STREAM_NON_BLOCKING) == 0 &&
           below.cuMemAlloc(&device_weights, WEIGHT_TENSORS * UNITS_MAX * UNIT) == 0 &&
           gphi_runtime_create(&heap, &shim_source, &device_runtime, error) == GPH_OK &&
           gph_arena_create(device_runtime, NULL, &device_arena, error) == GPH_OK;
}

static inline void device_close(void)
{
    CHECK(below.cuStreamSynchronize(device_stream) == 0);
    gph_arena_destroy(device_arena);
    gph_close(device_runtime);
    CHECK(atomic_load(&device_heap.live_bytes) == 0);
    shim_close();
}

/* ---- functions by description ---- */

struct hashed {
    CUdeviceptr from[FROM_MAX];
    uint32_t units[FROM_MAX];
};

static gph_status device_store(const gph_call *call, CUdeviceptr to, uint32_t units,
                               uint64_t salt, uint32_t inputs, gph_error *error)
{
    struct hashed in = {{0}, {0}};
    for (uint32_t i = 0; i < inputs && i < FROM_MAX; i++) {
        in.from[i] = call->inputs[i].data;
        in.units[i] = spec_units(&call->inputs[i]);
    }
    void *arguments[] = {&to, &units, &salt, &in};
    const gph_cuda_calls *cu = gph_cuda(call->runtime);
    return gph_cuda_check(
        cu->LaunchKernel(hash_store, 1, 1, 1, 32, 1, 1, 0, call->stream, arguments, NULL),
        "cuLaunchKernel", error);
}

/* One call in a program fails, so the second try works. */
static gph_status device_free(const gph_call *call, CUdeviceptr address, gph_error *error)
{
    if (gph_pool_free(call->pool, address, call->stream, NULL) == GPH_OK)
        return GPH_OK;
    return gph_pool_free(call->pool, address, call->stream, error);
}

static gph_status device_outputs(const spec *s, gph_call *call, CUdeviceptr *made,
                                 gph_error *error)
{
    for (uint32_t k = 0; k < s->outputs; k++) {
        gph_tensor *out = &call->outputs[k];
        if (s->view_input[k] != 0)
            *out = call->inputs[s->view_input[k] - 1];
        else if (s->view_output[k] != 0)
            *out = call->outputs[s->view_output[k] - 1];
        else
            *out = spec_tensor(0, s->units[k]);
        if (s->view_input[k] != 0 || s->view_output[k] != 0 || s->units[k] == 0)
            continue;
        gph_status status = gph_pool_alloc(call->pool, (uint64_t)s->units[k] * UNIT,
                                           call->stream, &made[k], error);
        if (status != GPH_OK)
            return status;
        out->data = made[k];
        status = device_store(call, made[k], s->units[k],
                              spec_salt(s, k, call->key, call->key_count),
                              call->input_count, error);
        if (status != GPH_OK)
            return status;
    }
    return GPH_OK;
}

static gph_status device_work(const spec *s, gph_call *call, CUdeviceptr *made,
                              CUdeviceptr *temporaries, gph_error *error)
{
    gph_status status = GPH_OK;
    for (uint32_t i = 0; i < s->temporaries && status == GPH_OK; i++) {
        status =
            gph_pool_alloc(call->pool, 3 * UNIT, call->stream, &temporaries[i], error);
        if (status == GPH_OK)
            status = device_store(call, temporaries[i], 3, 77 + i, 0, error);
    }
    if (status == GPH_OK)
        status = device_outputs(s, call, made, error);
    for (uint32_t i = 0; i < s->temporaries; i++)
        if (temporaries[i] != 0) {
            const gph_status freed =
                device_free(call, temporaries[i], status == GPH_OK ? error : NULL);
            status = status == GPH_OK ? freed : status;
        }
    if (status == GPH_OK && s->mutates != 0) {
        const gph_tensor *to = &call->inputs[s->mutates - 1];
        status = device_store(call, to->data, spec_units(to),
                              spec_salt(s, 100, call->key, call->key_count),
                              call->input_count, error);
    }
    return status;
}

static gph_status spec_fn(void *user, gph_call *call, gph_error *error)
{
    spec *s = user;
    CUdeviceptr temporaries[8] = {0}, made[OUTPUTS_MAX] = {0};
    s->calls++;
    if (call->phase == GPH_PHASE_CAPTURE && s->capture_fails != GPH_OK) {
        /* Forbidden in a capture: the driver says so. */
        const gph_cuda_calls *cu = gph_cuda(call->runtime);
        return gph_cuda_check(cu->StreamSynchronize(call->stream), "cuStreamSynchronize",
                              error);
    }
    const gph_status status = device_work(s, call, made, temporaries, error);
    for (uint32_t k = 0; status != GPH_OK && k < OUTPUTS_MAX; k++)
        if (made[k] != 0)
            gphi_ignore(device_free(call, made[k], NULL), "the first failure counts");
    return status;
}

/* ---- memory of the user's ---- */

static inline value device_value(const gph_tensor *tensor)
{
    static uint64_t words[UNITS_MAX * UNIT / 8];
    value out = {.units = spec_units(tensor)};
    CHECK(below.cuStreamSynchronize(device_stream) == 0);
    if (out.units != 0)
        CHECK(below.cuMemcpyDtoH(words, tensor->data, out.units * UNIT) == 0);
    for (uint32_t u = 0; u < out.units; u++) {
        out.unit[u] = words[u * UNIT / 8];
        for (uint32_t k = 0; k < UNIT / 8; k++)
            if (words[u * UNIT / 8 + k] != out.unit[u] + k)
                out.unit[u] = ~UINT64_C(0); /* torn */
    }
    return out;
}

static inline gph_tensor device_tensor(uint32_t n, uint32_t units, uint64_t seed)
{
    static uint64_t words[UNITS_MAX * UNIT / 8];
    const gph_tensor tensor = spec_tensor(device_weights + n * UNITS_MAX * UNIT, units);
    for (uint32_t w = 0; w < units * UNIT / 8; w++)
        words[w] = spec_mix(seed, w / 8) + w % 8;
    CHECK(below.cuStreamSynchronize(device_stream) == 0);
    CHECK(below.cuMemcpyHtoD(tensor.data, words, units * UNIT) == 0);
    return tensor;
}
#endif
