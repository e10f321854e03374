// SPDX-License-Identifier: Apache-2.0
/* The driver, contexts and the thread's last error.
 *
 *   first call of a process      the driver is opened: whichever libcuda.so.1 the linker
 *                                finds, which under gph run is softcuda
 *   a call without a context     the primary context of the thread's device is retained,
 *                                once a process, and made current for the thread
 *   a context made by hand       is used as it is: both interfaces mix
 *
 * An error is the thread's last one until cudaGetLastError() takes it. Errors of the
 * device (700, 719) come back with every call, since the driver says them again: there is
 * no second memory of them here. */
#include "softcuda/runtime/entry.h"
#include "base/thread.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 64 };

typedef CUresult get_proc_fn(const char *, void **, int, cuuint64_t,
                             CUdriverProcAddressQueryResult *);

static gphi_mutex mutex = GPHI_MUTEX_INIT;
static atomic_int load_result = -1; /* a cudaError_t; -1: not yet tried */
static rt_driver drivers[2];        /* by rt_default */
static CUcontext primary[DEVICES_MAX];

static _Thread_local cudaError_t last_error;
static _Thread_local int chosen_device;

/* Where a driver has no such call, or an older form of it alone. */
static CUresult missing(void)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* What cannot be found is an entry all the same, so that no caller asks before a call. */
static void find(get_proc_fn *get_proc, const char *name, int version, cuuint64_t flags,
                 void *entry)
{
    void *object = NULL;
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    const CUresult result = get_proc(name, &object, version, flags, &found);
    CUresult (*const none)(void) = missing;
    if (result == CUDA_SUCCESS && found == CU_GET_PROC_ADDRESS_SUCCESS)
        memcpy(entry, &object, sizeof(object));
    else
        memcpy(entry, &none, sizeof(none));
}

/* Set before the program's kernels are unregistered: that was noted for later before this
 * was. */
static atomic_bool is_ending;

static void end(void)
{
    atomic_store_explicit(&is_ending, true, memory_order_relaxed);
}

bool rt_is_ending(void)
{
    return atomic_load_explicit(&is_ending, memory_order_relaxed);
}

static cudaError_t load(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    void *object = library ? dlsym(library, "cuGetProcAddress_v2") : NULL;
    get_proc_fn *get_proc;
    memcpy(&get_proc, &object, sizeof(get_proc));
    if (!get_proc)
        return cudaErrorInsufficientDriver;
    const cuuint64_t flags[2] = {CU_GET_PROC_ADDRESS_LEGACY_STREAM,
                                 CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM};
    for (int which = 0; which < 2; which++) {
#define X(name, version, arguments)                                                      \
    find(get_proc, #name, version, flags[which], &drivers[which].name);
        GPHI_CUDA_CALLS(X)
#undef X
    }
    atexit(end);
    return (cudaError_t)drivers[0].cuInit(0);
}

cudaError_t rt_load(const rt_driver **out, rt_default stream)
{
    *out = &drivers[stream];
    /* Acquire: who sees a result sees the tables. */
    cudaError_t result = atomic_load_explicit(&load_result, memory_order_acquire);
    if (result >= 0)
        return result;
    gphi_mutex_lock(&mutex);
    result = atomic_load_explicit(&load_result, memory_order_relaxed);
    if (result < 0) {
        result = load();
        atomic_store_explicit(&load_result, result, memory_order_release);
    }
    gphi_mutex_unlock(&mutex);
    return result;
}

cudaError_t rt_device_check(const rt_driver *cu, int device)
{
    int count = 0;
    const CUresult result = cu->cuDeviceGetCount(&count);
    if (result != CUDA_SUCCESS)
        return (cudaError_t)result;
    if (count == 0)
        return cudaErrorNoDevice;
    return device < 0 || device >= count || device >= DEVICES_MAX ? cudaErrorInvalidDevice
                                                                  : cudaSuccess;
}

/* A context is retained once, whoever uses it: it goes with the process, or by
 * cudaDeviceReset(). */
static cudaError_t retain(const rt_driver *cu, int device, CUcontext *out)
{
    const cudaError_t known = rt_device_check(cu, device);
    if (known != cudaSuccess)
        return known;
    CUresult result = CUDA_SUCCESS;
    gphi_mutex_lock(&mutex);
    if (!primary[device])
        result = cu->cuDevicePrimaryCtxRetain(&primary[device], device);
    *out = primary[device];
    gphi_mutex_unlock(&mutex);
    return (cudaError_t)result;
}

cudaError_t rt_device_set(const rt_driver *cu, int device)
{
    CUcontext context = NULL;
    cudaError_t result = retain(cu, device, &context);
    if (result == cudaSuccess)
        result = (cudaError_t)cu->cuCtxSetCurrent(context);
    if (result == cudaSuccess)
        chosen_device = device;
    return result;
}

void rt_device_prefer(int device)
{
    chosen_device = device;
}

void rt_device_forget(const rt_driver *cu, int device)
{
    gphi_mutex_lock(&mutex);
    if (device >= 0 && device < DEVICES_MAX && primary[device]) {
        cu->cuDevicePrimaryCtxRelease(device);
        primary[device] = NULL;
    }
    gphi_mutex_unlock(&mutex);
}

int rt_device(const rt_driver *cu)
{
    CUcontext context = NULL;
    CUdevice device = chosen_device;
    if (cu->cuCtxGetCurrent(&context) == CUDA_SUCCESS && context)
        cu->cuCtxGetDevice(&device);
    return device;
}

cudaError_t rt_enter(const rt_driver **out, rt_default stream)
{
    const cudaError_t result = rt_load(out, stream);
    if (result != cudaSuccess)
        return result;
    CUcontext context = NULL;
    const CUresult asked = (*out)->cuCtxGetCurrent(&context);
    if (asked != CUDA_SUCCESS || context)
        return (cudaError_t)asked;
    return rt_device_set(*out, chosen_device);
}

cudaError_t rt_leave(cudaError_t result)
{
    if (result != cudaSuccess && result != cudaErrorNotReady) /* not an error */
        last_error = result;
    return result;
}

cudaError_t rt_last_error(int forget)
{
    const cudaError_t result = last_error;
    if (forget)
        last_error = cudaSuccess;
    return result;
}
