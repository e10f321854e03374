// SPDX-License-Identifier: Apache-2.0
/* gph env: driver, devices, settings: what a report of a fault has to begin with.
 *
 * Settings are shown without a driver, too: one of them may be the reason that there is
 * none. */
#include "columns.h"
#include "commands.h"
#include "output.h"
#include <gph/softcuda.h>

#include <stdlib.h>

/* Of CUdevice_attribute: public headers have no names for them. */
enum { MULTIPROCESSORS = 16, CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };

/* Settings of libgph and the command; softcuda lists its own. */
static const gph_softcuda_setting own_settings[] = {
    {"GPH_DRIVER", "auto in gph, cuda in gph_open()", "which driver: auto, cuda, soft"},
    {"GPH_SOFTCUDA_PATH", "gph/soft/libcuda.so.1 beside libgph, or pip's",
     "where softcuda lies"},
    {"GPH_LOG", "all:warn",
     "what is logged: AREA:LEVEL, ... (off error warn info debug)"},
};

static void put_setting(const gph_softcuda_setting *setting)
{
    const char *value = getenv(setting->name);
    put_row(stdout, setting->name, "%s%s", value ? value : setting->default_value,
            value ? "" : " (default)");
    printf("%-28s   ", "");
    columns_fold(setting->meaning, 31, 31, stdout);
}

/* softcuda knows its own settings; NVIDIA's driver has no such call, and none are shown. */
static void put_softcuda_settings(const gph_runtime *runtime)
{
    gph_cuda_fn found;
    if (gph_cuda_find(runtime, "gph_softcuda_settings", &found, NULL) != GPH_OK)
        return;
    const gph_softcuda_setting *(*list)(size_t *) =
        (const gph_softcuda_setting *(*)(size_t *))found;
    size_t count = 0;
    const gph_softcuda_setting *settings = list(&count);
    for (size_t i = 0; i < count; i++)
        put_setting(&settings[i]);
}

static void put_driver(const gph_runtime *runtime)
{
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    gph_driver_info_get(runtime, &info);
    put_row(stdout, "driver", "%s, CUDA %d.%d (%s)",
            info.driver == GPH_DRIVER_SOFT ? "softcuda" : "NVIDIA's", info.version / 1000,
            info.version % 1000 / 10, info.why);
    put_row(stdout, "path", "%s", info.path);
    put_row(stdout, "names refused calls", "%s",
            (info.features & GPH_FEATURE_LOGS) != 0 ? "yes" : "no (CUDA 12.9 does)");
}

static gph_status put_device(const gph_cuda_calls *cu, int ordinal)
{
    enum { MAJOR, MINOR, PROCESSORS, NUMBERS };
    static const int attributes[NUMBERS] = {CAPABILITY_MAJOR, CAPABILITY_MINOR,
                                            MULTIPROCESSORS};
    CUdevice device = 0;
    char name[128] = "", left[32];
    size_t bytes = 0;
    int numbers[NUMBERS];
    gph_status status = cu->DeviceGet(&device, ordinal);
    if (status == GPH_OK)
        status = cu->DeviceGetName(name, sizeof(name), device);
    if (status == GPH_OK)
        status = cu->DeviceTotalMem(&bytes, device);
    for (int i = 0; i < NUMBERS && status == GPH_OK; i++)
        status = cu->DeviceGetAttribute(&numbers[i], attributes[i], device);
    if (status != GPH_OK)
        return status;
    snprintf(left, sizeof(left), "device %d", ordinal);
    put_row(stdout, left, "%s, compute capability %d.%d, %d multiprocessors, %s", name,
            numbers[MAJOR], numbers[MINOR], numbers[PROCESSORS],
            bytes_text((double)bytes));
    return GPH_OK;
}

/* A device that cannot be asked ends the list with its reason. */
static int put_devices(const gph_runtime *runtime)
{
    const gph_cuda_calls *cu = gph_cuda(runtime);
    int count = 0;
    gph_error error = {0};
    gph_status status =
        gph_cuda_check(cu->DeviceGetCount(&count), "cuDeviceGetCount", &error);
    for (int i = 0; status == GPH_OK && i < count; i++)
        status = gph_cuda_check(put_device(cu, i), "a query of the device", &error);
    return status == GPH_OK ? EXIT_OK : fail(&error);
}

int cmd_env(const command_line *line)
{
    gph_driver driver;
    if (!driver_parse(line->values[ENV_DRIVER], &driver))
        return EXIT_USAGE;
    put_row(stdout, "version", "gph %s", gph_version_text());
    gph_runtime *runtime = driver_open(driver);
    int code = EXIT_FAILED;
    if (runtime) {
        put_driver(runtime);
        code = put_devices(runtime);
    } else {
        put_row(stdout, "driver", "none");
    }
    printf("\n");
    for (size_t i = 0; i < sizeof(own_settings) / sizeof(*own_settings); i++)
        put_setting(&own_settings[i]);
    if (runtime)
        put_softcuda_settings(runtime);
    gph_close(runtime);
    return code;
}
