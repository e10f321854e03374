// SPDX-License-Identifier: Apache-2.0
/* Opens the driver and the module of kernels; allocates memory. */
#include "device.h"

#include "fail.h"
#include "weights.h"
#include <time.h>

/* CUDA's numbers. */
enum {
    STREAM_NON_BLOCKING = 1,
    HOST_ALLOC_PORTABLE = 1,
    HOST_ALLOC_DEVICE_MAP = 2,
    JIT_ERROR_LOG = 5,
    JIT_ERROR_LOG_BYTES = 6,
    PTX_BYTES_MAX = 16 << 20,
};

uint64_t device_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static const char *const kernel_names[] = {
#define X(name) #name,
    DECODE_KERNELS(X)
#undef X
};

static gph_status load_module(device *d, const char *folder, gph_error *error)
{
    if (snprintf(d->ptx_path, sizeof(d->ptx_path), "%s/decode.ptx", folder) >=
        (int)sizeof(d->ptx_path))
        return fail(error, GPH_E_INVALID, "a folder name of %zu bytes", strlen(folder));
    char *ptx = NULL;
    size_t bytes = 0;
    TRY(file_read(&d->heap, d->ptx_path, PTX_BYTES_MAX, &ptx, &bytes, error));
    char log[400] = "";
    int options[] = {JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof(log)};
    const uint64_t start = device_clock_ns();
    gph_status status =
        gph_cuda_check(d->cu->ModuleLoadDataEx(&d->module, ptx, 2, options, values),
                       "cuModuleLoadDataEx", error);
    d->load_ns = device_clock_ns() - start;
    heap_free(&d->heap, ptx, bytes);
    if (status != GPH_OK && log[0] != 0)
        return fail(error, status, "%s: %.300s", d->ptx_path, log);
    TRY(status);
    for (int i = 0; i < KERNEL_COUNT; i++)
        CU(d, ModuleGetFunction, &d->kernel[i], d->module, kernel_names[i]);
    return GPH_OK;
}

static gph_status open_all(device *d, const device_options *options, gph_error *error)
{
    gph_options how = GPH_OPTIONS_INIT;
    how.driver = options->driver;
    how.allocator = &d->heap;
    TRY(gph_open(&how, &d->runtime, error));
    d->info = (gph_driver_info)GPH_SIZED(gph_driver_info);
    gph_driver_info_get(d->runtime, &d->info);
    d->cu = gph_cuda(d->runtime);
    int devices = 0;
    CU(d, DeviceGetCount, &devices);
    if (devices == 0)
        return fail(error, GPH_E_UNSUPPORTED, "the driver has no device");
    CU(d, DeviceGet, &d->ordinal, (int)(options->device % (uint32_t)devices));
    CU(d, DeviceGetName, d->name, (int)sizeof(d->name), d->ordinal);
    CU(d, DevicePrimaryCtxRetain, &d->context, d->ordinal);
    CU(d, CtxSetCurrent, d->context);
    CU(d, StreamCreate, &d->stream, STREAM_NON_BLOCKING);
    return load_module(d, options->kernels, error);
}

gph_status device_open(const gph_allocator *heap, const device_options *options,
                       device *out, gph_error *error)
{
    *out = (device){.heap = *heap};
    const gph_status status = open_all(out, options, error);
    if (status != GPH_OK)
        device_close(out);
    return status;
}

/* What fails here fails on the way out: there is nobody left who could do better. */
void device_close(device *d)
{
    if (d->context != NULL) {
        (void)d->cu->CtxSynchronize();
        for (uint32_t i = 0; i < d->blocks; i++)
            (void)d->cu->MemFree(d->block[i]);
        for (uint32_t i = 0; i < d->pins; i++)
            (void)d->cu->MemFreeHost(d->pinned[i]);
        if (d->module != NULL)
            (void)d->cu->ModuleUnload(d->module);
        if (d->stream != NULL)
            (void)d->cu->StreamDestroy(d->stream);
        (void)d->cu->DevicePrimaryCtxRelease(d->ordinal);
    }
    gph_close(d->runtime);
    *d = (device){0};
}

gph_status device_alloc(device *d, size_t bytes, CUdeviceptr *out, gph_error *error)
{
    CUdeviceptr fresh = 0;
    if (d->blocks == DEVICE_BLOCKS_MAX)
        return fail(error, GPH_E_STATE, "more than %d allocations", DEVICE_BLOCKS_MAX);
    CU(d, MemAlloc, &fresh, bytes);
    d->block[d->blocks++] = fresh;
    CU(d, MemsetD8, fresh, 0, bytes);
    CU(d, StreamSynchronize, NULL); /* streams that do not wait for that one use it */
    *out = fresh;
    return GPH_OK;
}

gph_status device_pin(device *d, size_t bytes, void **out, gph_error *error)
{
    void *fresh = NULL;
    if (d->pins == DEVICE_BLOCKS_MAX)
        return fail(error, GPH_E_STATE, "more than %d pinned blocks", DEVICE_BLOCKS_MAX);
    CU(d, MemHostAlloc, &fresh, bytes, HOST_ALLOC_PORTABLE | HOST_ALLOC_DEVICE_MAP);
    d->pinned[d->pins++] = fresh;
    memset(fresh, 0, bytes);
    *out = fresh;
    return GPH_OK;
}

gph_status device_wait(device *d, gph_error *error)
{
    return gph_cuda_check(d->cu->CtxSynchronize(), "cuCtxSynchronize", error);
}

gph_status device_launch(device *d, kernel which, launch_size size, void **arguments,
                         gph_error *error)
{
    d->launches++;
    const gph_status status = d->cu->LaunchKernel(
        d->kernel[which], size.grid_x, size.grid_y, 1, size.block_x, size.block_y, 1,
        size.shared_bytes, d->stream, arguments, NULL);
    return status == GPH_OK ? GPH_OK : gph_cuda_check(status, "cuLaunchKernel", error);
}
