// SPDX-License-Identifier: Apache-2.0
/* Finds NCCL's library and says what it answers. */
#define _GNU_SOURCE
#include "ranks/nccl.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "cuda/runtime.h"
#include "cuda/status.h"
#include <gph/callable.h>
#include <gph/ranks_comm.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the library ---- */

/* POSIX lets an object pointer of dlsym's be a function pointer; C does not. */
static bool find(void *library, const char *name, void *function)
{
    void *object = dlsym(library, name);
    memcpy(function, &object, sizeof(object));
    return object;
}

static void *load(const char *path)
{
    if (!path) {
        path = getenv("GPH_NCCL_PATH");
        path = path && path[0] != '\0' ? path : NULL;
    }
    if (path)
        return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    return library ? library : dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
}

static gph_status fill(void *library, gphi_nccl *nccl, gph_error *error)
{
    const char *missing = NULL;
#define X(name, is_needed, arguments)                                                    \
    if (!find(library, #name, &nccl->name) && is_needed)                                 \
        missing = #name;
    GPHI_NCCL_CALLS(X)
#undef X
    if (!find(library, "ncclGetErrorString", &nccl->ncclGetErrorString))
        missing = "ncclGetErrorString";
    (void)find(library, "ncclGetLastError", &nccl->ncclGetLastError);
    Dl_info info = {0};
    void *known = dlsym(library, "ncclGetVersion");
    if (known && dladdr(known, &info) != 0)
        snprintf(nccl->path, sizeof(nccl->path), "%s", info.dli_fname);
    if (missing)
        return gphi_fail(error, GPH_E_UNSUPPORTED, "%s has no %s: not an NCCL library",
                         nccl->path[0] ? nccl->path : "the library", missing);
    if (nccl->ncclGetVersion(&nccl->version) != GPHI_NCCL_SUCCESS)
        return gphi_fail(error, GPH_E_UNSUPPORTED, "%s does not say its version",
                         nccl->path);
    return GPH_OK;
}

gph_status gphi_nccl_open(const char *path, gphi_nccl *out, gph_error *error)
{
    gphi_nccl nccl = {0};
    void *library = load(path);
    if (!library)
        return gphi_fail(error, GPH_E_UNSUPPORTED, "no NCCL: %s", dlerror());
    const gph_status status = fill(library, &nccl, error);
    if (status == GPH_OK)
        *out = nccl;
    else
        dlclose(library);
    return status;
}

/* ---- words and numbers ---- */

static gph_status status_of(int result)
{
    switch (result) {
    case GPHI_NCCL_CUDA_ERROR: return CUDA_ERROR_UNKNOWN;
    case GPHI_NCCL_SYSTEM_ERROR: return GPH_E_IO;
    case GPHI_NCCL_INVALID_ARGUMENT:
    case GPHI_NCCL_INVALID_USAGE: return GPH_E_INVALID;
    default: return GPH_E_STATE;
    }
}

gph_status gphi_nccl_fail(gph_error *error, const gphi_nccl *nccl, gphi_nccl_comm comm,
                          int result, const char *call, const char *format, ...)
{
    char what[256];
    va_list values;
    va_start(values, format);
    vsnprintf(what, sizeof(what), format, values);
    va_end(values);
    const char *last = nccl->ncclGetLastError ? nccl->ncclGetLastError(comm) : NULL;
    const bool says = last && last[0] != '\0';
    return gphi_fail(error, status_of(result), "%s: %s returned %d, %.100s%s%.200s", what,
                     call, result, nccl->ncclGetErrorString(result), says ? ": " : "",
                     says ? last : "");
}

int gphi_nccl_dtype(uint32_t dtype)
{
    switch (dtype) {
    case GPH_DTYPE_I8: return 0;
    case GPH_DTYPE_U8: return 1;
    case GPH_DTYPE_I32: return 2;
    case GPH_DTYPE_U32: return 3;
    case GPH_DTYPE_I64: return 4;
    case GPH_DTYPE_U64: return 5;
    case GPH_DTYPE_F16: return 6;
    case GPH_DTYPE_F32: return 7;
    case GPH_DTYPE_F64: return 8;
    case GPH_DTYPE_BF16: return 9;
    default: return -1;
    }
}

int gphi_nccl_reduction(uint32_t reduction)
{
    return reduction == GPH_COMM_SUM ? 0 : reduction == GPH_COMM_MAX ? 2 : 3;
}

/* ---- joining ---- */

/* Of two threads; the second of them that is done with it frees it. */
struct joining {
    gphi_nccl nccl;
    CUresult(CUDAAPI *set_current)(CUcontext context); /* the runtime may go before it */
    CUcontext context;
    gphi_nccl_id id;
    int rank, count;
    gphi_nccl_comm comm;
    int result;
    atomic_int done; /* release: what is above */
    atomic_int leavers;
};

static bool leave_second(struct joining *join)
{
    return atomic_fetch_add_explicit(&join->leavers, 1, memory_order_acq_rel) == 1;
}

static void *join_main(void *argument)
{
    struct joining *join = argument;
    join->set_current(join->context);
    join->result =
        join->nccl.ncclCommInitRank(&join->comm, join->count, join->id, join->rank);
    atomic_store_explicit(&join->done, 1, memory_order_release);
    if (!leave_second(join))
        return NULL;
    if (join->result == GPHI_NCCL_SUCCESS) /* nobody waits for it any more */
        join->nccl.ncclCommAbort(join->comm);
    free(join);
    return NULL;
}

static gph_status await(struct joining *join,
                        gph_status (*goes_on)(void *user, gph_error *error), void *user,
                        uint64_t patience_ns, gph_error *error)
{
    const uint64_t from = gphi_clock_ns();
    const struct timespec nap = {0, 200000};
    while (!atomic_load_explicit(&join->done, memory_order_acquire)) {
        GPHI_TRY(goes_on(user, error));
        if (gphi_clock_ns() - from > patience_ns)
            return gphi_fail(error, GPH_E_STATE,
                             "ncclCommInitRank did not return within %llu s",
                             (unsigned long long)(patience_ns / 1000000000));
        nanosleep(&nap, NULL);
    }
    return GPH_OK;
}

gph_status gphi_nccl_join(const gphi_nccl *nccl, gph_runtime *runtime,
                          const gphi_nccl_id *id, uint32_t rank, uint32_t count,
                          gph_status (*goes_on)(void *user, gph_error *error), void *user,
                          uint64_t patience_ns, gphi_nccl_comm *out, gph_error *error)
{
    /* C's heap: it may outlive the runtime. */
    struct joining *join = calloc(1, sizeof(*join));
    GPHI_TRY(gphi_made(error, join, "joining an NCCL communicator"));
    join->nccl = *nccl;
    join->set_current = runtime->cu.cuCtxSetCurrent;
    join->id = *id;
    join->rank = (int)rank;
    join->count = (int)count;
    gph_status status =
        gphi_cuda_check(error, runtime->cu.cuCtxGetCurrent(&join->context),
                        "cuCtxGetCurrent", "joining an NCCL communicator");
    pthread_t thread;
    if (status == GPH_OK && pthread_create(&thread, NULL, join_main, join) != 0)
        status = gphi_fail(error, GPH_E_NO_MEMORY, "a thread that joins NCCL");
    if (status != GPH_OK) {
        free(join);
        return status;
    }
    status = await(join, goes_on, user, patience_ns, error);
    if (status != GPH_OK) {
        pthread_detach(thread);
        if (leave_second(join)) { /* it came just now */
            if (join->result == GPHI_NCCL_SUCCESS)
                nccl->ncclCommAbort(join->comm);
            free(join);
        }
        return status;
    }
    pthread_join(thread, NULL);
    if (join->result != GPHI_NCCL_SUCCESS)
        status = gphi_nccl_fail(error, nccl, NULL, join->result, "ncclCommInitRank",
                                "rank %u of %u", rank, count);
    else
        *out = join->comm;
    free(join);
    return status;
}

/* ---- aborting ---- */

/* Of two threads, as a joining is. */
struct gphi_nccl_aborting {
    int (*abort)(gphi_nccl_comm comm);
    CUresult(CUDAAPI *set_current)(CUcontext context);
    CUcontext context;
    gphi_nccl_comm comm;
    atomic_int done;
    atomic_int leavers;
};

static void leave(gphi_nccl_aborting *aborting)
{
    if (atomic_fetch_add_explicit(&aborting->leavers, 1, memory_order_acq_rel) == 1)
        free(aborting);
}

static void *abort_main(void *argument)
{
    gphi_nccl_aborting *aborting = argument;
    aborting->set_current(aborting->context);
    if (aborting->abort(aborting->comm) != GPHI_NCCL_SUCCESS)
        gphi_log("ranks", GPH_LOG_ERROR, "ncclCommAbort failed");
    atomic_store_explicit(&aborting->done, 1, memory_order_release);
    leave(aborting);
    return NULL;
}

gphi_nccl_aborting *gphi_nccl_abort(const gphi_nccl *nccl, gph_runtime *runtime,
                                    CUcontext context, gphi_nccl_comm comm)
{
    gphi_nccl_aborting *aborting =
        calloc(1, sizeof(*aborting)); /* may outlive the runtime */
    pthread_t thread;
    if (aborting) {
        aborting->abort = nccl->ncclCommAbort;
        aborting->set_current = runtime->cu.cuCtxSetCurrent;
        aborting->context = context;
        aborting->comm = comm;
        if (pthread_create(&thread, NULL, abort_main, aborting) == 0) {
            pthread_detach(thread);
            return aborting;
        }
        free(aborting);
    }
    gphi_log("ranks", GPH_LOG_ERROR,
             "no thread to call ncclCommAbort: what waits in NCCL waits on");
    return NULL;
}

void gphi_nccl_abort_end(gphi_nccl_aborting *aborting, uint64_t patience_ns)
{
    if (!aborting)
        return;
    const uint64_t from = gphi_clock_ns();
    const struct timespec nap = {0, 200000};
    while (!atomic_load_explicit(&aborting->done, memory_order_acquire) &&
           gphi_clock_ns() - from < patience_ns)
        nanosleep(&nap, NULL);
    leave(aborting);
}
