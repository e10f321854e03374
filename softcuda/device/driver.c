// SPDX-License-Identifier: Apache-2.0
/* The life of the driver in a process: settings, devices, fork, exit. */
#include "softcuda/device/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "softcuda/device/alloc.h"
#include "softcuda/device/settings.h"

static _Atomic enum soft_phase phase = SOFT_PHASE_NEW;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static soft_device devices[SOFT_DEVICE_MAX];
static int device_count; /* written before phase becomes READY */
static soft_settings settings;

enum soft_phase soft_driver_phase(void)
{
    return atomic_load_explicit(&phase, memory_order_acquire);
}

CUresult soft_driver_refuse(enum soft_phase now)
{
    switch (now) {
    case SOFT_PHASE_ENDING:
        return soft_fail(CUDA_ERROR_DEINITIALIZED, "the process is ending");
    case SOFT_PHASE_FORKED:
        return soft_fail(CUDA_ERROR_NOT_INITIALIZED,
                         "process %ld is a fork of one that uses the driver: only a new "
                         "program can use it again",
                         (long)getpid());
    default: return soft_fail(CUDA_ERROR_NOT_INITIALIZED, "cuInit() was not called");
    }
}

static void after_fork_in_child(void)
{
    atomic_store(&phase, SOFT_PHASE_FORKED);
}

static void at_exit(void)
{
    if (soft_driver_phase() != SOFT_PHASE_READY)
        return;
    soft_summary_write();
    atomic_store_explicit(&phase, SOFT_PHASE_ENDING, memory_order_release);
}

/* A tool named by the environment is loaded into the process, as NVIDIA's driver does. */
static void inject(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    if (path == NULL || path[0] == '\0')
        return;
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL) {
        soft_log(CU_LOG_LEVEL_WARNING, "CUDA_INJECTION64_PATH: %s", dlerror());
        return;
    }
    int (*start)(void) = NULL;
    *(void **)&start = dlsym(library, "InitializeInjection");
    if (start != NULL)
        start();
    else
        soft_log(CU_LOG_LEVEL_WARNING,
                 "CUDA_INJECTION64_PATH: %s has no InitializeInjection", path);
}

static CUresult make_devices(void)
{
    for (int i = 0; i < settings.device_count; i++) {
        soft_device *device = &devices[i];
        if (device->primary != NULL)
            continue; /* an earlier cuInit() failed half way */
        device->ordinal = i;
        device->physical = settings.physical[i];
        device->total_bytes = settings.memory_bytes;
        SOFT_TRY(soft_device_start(device, settings.workers, settings.schedule_seed));
        SOFT_TRY(soft_primary_prepare(device));
    }
    return CUDA_SUCCESS;
}

static CUresult init_locked(void)
{
    SOFT_TRY(soft_settings_read(&settings));
    if (settings.device_count == 0)
        return soft_fail(CUDA_ERROR_NO_DEVICE, "no device is visible: "
                                               "SOFTCUDA_DEVICES or CUDA_VISIBLE_DEVICES "
                                               "leaves none");
    SOFT_TRY(make_devices());
    device_count = settings.device_count;
    static bool hooked;
    if (!hooked) {
        if (pthread_atfork(NULL, NULL, after_fork_in_child) != 0 || atexit(at_exit) != 0)
            return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for exit handlers");
        hooked = true;
    }
    atomic_store_explicit(&phase, SOFT_PHASE_READY, memory_order_release);
    return CUDA_SUCCESS;
}

CUresult soft_driver_init(void)
{
    const enum soft_phase now = soft_driver_phase();
    if (now == SOFT_PHASE_READY)
        return CUDA_SUCCESS;
    if (now != SOFT_PHASE_NEW)
        return soft_driver_refuse(now);
    pthread_mutex_lock(&lock);
    const bool first = soft_driver_phase() == SOFT_PHASE_NEW;
    const CUresult status = first ? init_locked() : CUDA_SUCCESS;
    pthread_mutex_unlock(&lock);
    if (first && status == CUDA_SUCCESS)
        inject();
    return status;
}

soft_device *soft_device_at(int ordinal)
{
    return ordinal >= 0 && ordinal < device_count ? &devices[ordinal] : NULL;
}

CUresult soft_device_find(int ordinal, soft_device **out)
{
    *out = soft_device_at(ordinal);
    if (*out == NULL)
        return soft_fail(CUDA_ERROR_INVALID_DEVICE, "device %d is none of the %d visible",
                         ordinal, device_count);
    return CUDA_SUCCESS;
}

int soft_device_count(void)
{
    return device_count;
}

int soft_compute_capability(void)
{
    return settings.compute_capability;
}
bool soft_check_memory_wanted(void)
{
    return settings.check.memory;
}
soft_check_mode soft_check_wanted(void)
{
    return settings.check;
}
bool soft_launch_blocking(void)
{
    return settings.launch_blocking;
}
