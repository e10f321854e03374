// SPDX-License-Identifier: Apache-2.0
/* gph_open() and what it returns. */
#include "cuda/runtime.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "cuda/older.h"
#include "cuda/refusal.h"
#include "cuda/status.h"

#include <string.h>

CUresult gphi_cuda_missing(void)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

static gph_cuda_fn find_or_missing(const gphi_cuda_source *source, const char *name,
                                   int version)
{
    const gph_cuda_fn function = source->find(source->user, name, version);
    if (function)
        return function;
    gphi_log("cuda", GPH_LOG_DEBUG, "%s lacks %s of CUDA %d.%d", source->path, name,
             version / 1000, version % 1000 / 10);
    return (gph_cuda_fn)gphi_cuda_missing;
}

void gphi_cuda_table_fill(gphi_cuda_table *table, const gphi_cuda_source *source)
{
#define X(name, version, arguments)                                                      \
    table->name = (CUresult(*) arguments)find_or_missing(source, #name, version);
    GPHI_CUDA_CALLS(X)
#undef X
    gphi_older_fill(table, source);
}

int gphi_cuda_call_version(const char *name)
{
    static const struct {
        const char *name;
        int version;
    } calls[] = {
#define X(call, since, arguments) {#call, since},
        GPHI_CUDA_CALLS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        if (strcmp(calls[i].name, name) == 0)
            return calls[i].version;
    return 0;
}

/* The table for programs has ints where CUDA has enumerations; the calls are the same. */
static void fill_calls(gph_cuda_calls *calls, const gphi_cuda_table *cu)
{
#define X(name, arguments)                                                               \
    calls->name = (gph_status(*) arguments)(gph_cuda_fn)cu->cu##name;
    GPH_CUDA_CALLS(X)
#undef X
}

/* No mode: the thread's was not changed. */
#define UNCHANGED ((CUstreamCaptureMode)3)

CUstreamCaptureMode gphi_relax(const gphi_cuda_table *cu)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    const CUresult result = cu->cuThreadExchangeStreamCaptureMode(&mode);
    return result == CUDA_SUCCESS ? mode : UNCHANGED;
}

void gphi_unrelax(const gphi_cuda_table *cu, CUstreamCaptureMode before)
{
    if (before != UNCHANGED)
        gphi_ignore((gph_status)cu->cuThreadExchangeStreamCaptureMode(&before),
                    "it takes what it gave");
}

CUresult gphi_event_create(const gphi_cuda_table *cu, CUcontext context, CUevent *out)
{
    CUresult result = CUDA_SUCCESS;
    if (context)
        result = cu->cuCtxPushCurrent(context);
    if (result != CUDA_SUCCESS)
        return result;
    result = cu->cuEventCreate(out, CU_EVENT_DISABLE_TIMING);
    if (context)
        gphi_ignore((gph_status)cu->cuCtxPopCurrent(&context), "it was pushed");
    return result;
}

/* Nobody listens to the log before cuInit(): whether a callback may be registered by then
 * is not documented. A cuInit() that was refused says the same when it is called again. */
static void ask_why(const gphi_cuda_table *cu)
{
    if (!gphi_refusal_open(cu))
        return;
    gphi_ignore((gph_status)cu->cuInit(0), "the first result is the one that counts");
    gphi_refusal_close(cu);
}

static gph_status start_driver(gph_runtime *runtime, gph_error *error)
{
    const gphi_cuda_table *cu = &runtime->cu;
    const CUresult result = cu->cuInit(0);
    if (result != CUDA_SUCCESS) {
        ask_why(cu);
        gphi_cuda_fail(error, (gph_status)result, "cuInit", "opening %s",
                       runtime->source.path);
        if (runtime->source.kind == GPH_DRIVER_CUDA)
            gphi_hint(error, "GPH_DRIVER=soft runs kernels on CPU threads");
        return (gph_status)result;
    }

    int version = 0;
    gphi_ignore((gph_status)cu->cuDriverGetVersion(&version),
                "it cannot fail after cuInit");
    runtime->is_told = gphi_refusal_open(cu);
    const bool has_params =
        runtime->source.find(runtime->source.user, "cuGraphNodeGetParams", 13010);
    const bool is_soft = runtime->source.kind == GPH_DRIVER_SOFT;
    runtime->info = (gph_driver_info){
        .driver = runtime->source.kind,
        .version = version,
        .features = (runtime->is_told ? (uint32_t)GPH_FEATURE_LOGS : 0) |
                    (has_params ? (uint32_t)GPH_FEATURE_NODE_PARAMS : 0) |
                    (is_soft ? (uint32_t)GPH_FEATURE_SOFTCUDA : 0),
        .path = runtime->source.path,
        .why = runtime->source.why,
    };
    gphi_log("cuda", GPH_LOG_INFO, "driver %s (%s), CUDA %d.%d", runtime->info.path,
             runtime->info.why, version / 1000, version % 1000 / 10);
    return GPH_OK;
}

gph_status gphi_runtime_create(const gph_allocator *allocator,
                               const gphi_cuda_source *source, gph_runtime **out,
                               gph_error *error)
{
    const gph_allocator heap = gphi_heap(allocator);
    gph_runtime *runtime = gphi_heap_alloc(heap, sizeof(*runtime));
    GPHI_TRY(gphi_made(error, runtime, "opening %s", source->path));

    runtime->heap = heap;
    runtime->source = *source;
    gphi_cuda_table_fill(&runtime->cu, source);
    fill_calls(&runtime->calls, &runtime->cu);
    if (!gphi_cuda_has(&runtime->cu, cuMemcpyBatchAsync))
        runtime->batch_12080 = (gphi_batch_12080_fn *)source->find(
            source->user, "cuMemcpyBatchAsync", 12080);
    const gph_status status = start_driver(runtime, error);
    if (status != GPH_OK) {
        gphi_heap_free(heap, runtime, sizeof(*runtime));
        return status;
    }
    *out = runtime;
    return GPH_OK;
}

gph_status gph_open(const gph_options *options, gph_runtime **out, gph_error *error)
{
    gph_options opt;
    GPHI_TRY(gphi_options_read(&opt, sizeof(opt), "gph_options", options, error));
    GPHI_TRY(gphi_need(error, out));
    if (opt.driver > GPH_DRIVER_SOFT)
        return gphi_fail(error, GPH_E_INVALID, "options.driver %u is not a gph_driver",
                         (unsigned)opt.driver);

    gphi_driver *driver = NULL;
    GPHI_TRY(
        gphi_driver_retain((gph_driver)opt.driver, opt.softcuda_path, &driver, error));
    gph_runtime *runtime = NULL;
    const gph_status status =
        gphi_runtime_create(opt.allocator, gphi_driver_source(driver), &runtime, error);
    if (status != GPH_OK) {
        gphi_driver_release(driver);
        return status;
    }
    runtime->driver = driver;
    *out = runtime;
    return GPH_OK;
}

static void close_now(void *user)
{
    gph_runtime *runtime = user;
    if (runtime->is_told)
        gphi_refusal_close(&runtime->cu);
    if (runtime->driver)
        gphi_driver_release(runtime->driver);
    gphi_heap_free(runtime->heap, runtime, sizeof(*runtime));
}

void gph_close(gph_runtime *runtime)
{
    if (runtime) /* after what of it was put off, if anything was */
        gphi_defer(&runtime->closing, close_now, runtime);
}

void gph_driver_info_get(const gph_runtime *runtime, gph_driver_info *out)
{
    const gph_driver_info none = {0};
    gphi_struct_write(out, runtime ? &runtime->info : &none, sizeof(none));
}

const gph_cuda_calls *gph_cuda(const gph_runtime *runtime)
{
    return runtime ? &runtime->calls : NULL;
}

gph_status gph_cuda_find(const gph_runtime *runtime, const char *name, gph_cuda_fn *out,
                         gph_error *error)
{
    GPHI_TRY(gphi_need(error, runtime, name, out));
    const int version = gphi_cuda_call_version(name);
    const gph_cuda_fn function =
        runtime->source.find(runtime->source.user, name, version);
    if (!function)
        return gphi_fail(error, GPH_E_UNSUPPORTED, "%s (CUDA %d.%d) has no %.100s",
                         runtime->info.path, runtime->info.version / 1000,
                         runtime->info.version % 1000 / 10, name);
    *out = function;
    return GPH_OK;
}
