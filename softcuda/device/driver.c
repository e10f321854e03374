// SPDX-License-Identifier: Apache-2.0
/* The life of the driver in a process: what cuInit() makes, fork, exit. The top of this
 * folder: it calls all others, none of them calls it. */
#include "softcuda/device/driver.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "softcuda/device/checkpoint.h"
#include "softcuda/device/process.h"
#include "softcuda/device/racing.h"
#include "softcuda/kernel/load/fatbin.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void after_fork_in_child(void)
{
    soft_driver_set_phase(SOFT_PHASE_FORKED);
    soft_checkpoint_after_fork();
}

static void at_exit(void)
{
    if (soft_driver_phase() != SOFT_PHASE_READY)
        return;
    soft_summary_write();
    soft_driver_set_phase(SOFT_PHASE_ENDING);
}

/* A tool named by the environment is loaded into the process, as NVIDIA's driver does. */
static void inject(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    if (!path || path[0] == '\0')
        return;
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        soft_log(CU_LOG_LEVEL_WARNING, "CUDA_INJECTION64_PATH: %s", dlerror());
        return;
    }
    int (*start)(void) = NULL;
    *(void **)&start = dlsym(library, "InitializeInjection");
    if (start)
        start();
    else
        soft_log(CU_LOG_LEVEL_WARNING,
                 "CUDA_INJECTION64_PATH: %s has no InitializeInjection", path);
}

static CUresult make_devices(void)
{
    for (int i = 0; i < soft_process.settings.device_count; i++) {
        soft_device *device = &soft_process.devices[i];
        if (device->primary)
            continue; /* an earlier cuInit() failed half way */
        device->ordinal = i;
        device->physical = soft_process.settings.physical[i];
        device->total_bytes = soft_process.settings.memory_bytes;
        SOFT_TRY(soft_device_start(device, soft_process.settings.workers,
                                   soft_process.settings.schedule_seed));
        SOFT_TRY(soft_primary_prepare(device));
    }
    return CUDA_SUCCESS;
}

static CUresult init_locked(void)
{
    SOFT_TRY(soft_settings_read(&soft_process.settings));
    if (soft_process.settings.device_count == 0)
        return soft_fail(CUDA_ERROR_NO_DEVICE, "no device is visible: "
                                               "SOFTCUDA_DEVICES or CUDA_VISIBLE_DEVICES "
                                               "leaves none");
    SOFT_TRY(make_devices());
    SOFT_TRY(soft_racing_start());
    soft_ptx_take_newer(soft_driver_version() > SOFT_DRIVER_VERSION);
    soft_process.device_count = soft_process.settings.device_count;
    static bool hooked;
    if (!hooked) {
        if (pthread_atfork(NULL, NULL, after_fork_in_child) != 0 || atexit(at_exit) != 0)
            return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for exit handlers");
        hooked = true;
    }
    soft_checkpoint_publish();
    soft_driver_set_phase(SOFT_PHASE_READY);
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
