// SPDX-License-Identifier: Apache-2.0
/* Choosing between two drivers. LD_LIBRARY_PATH leads to a library that passes for
 * NVIDIA's, FAKE_DRIVER names one that passes for softcuda. */
#define _POSIX_C_SOURCE 200809L
#include "test.h"
#include <gph/cuda.h>

static gph_status open_as(gph_driver driver, gph_driver_info *info, gph_error *error)
{
    gph_options options = GPH_OPTIONS_INIT;
    options.driver = driver;
    options.softcuda_path = getenv("FAKE_DRIVER");
    gph_runtime *runtime = NULL;
    const gph_status status = gph_open(&options, &runtime, error);
    if (runtime != NULL)
        gph_driver_info_get(runtime, info);
    gph_close(runtime);
    return status;
}

static void auto_falls_to_softcuda_where_there_is_no_device(void)
{
    setenv("FAKE_DEVICES", "0", 1);
    gph_error error = {0};
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    for (int i = 0; i < 2; i++) { /* the second time both are loaded */
        CHECK_OK(open_as(GPH_DRIVER_AUTO, &info, &error), error);
        CHECK(info.driver == GPH_DRIVER_SOFT);
        CHECK(strcmp(info.why, "auto: no usable GPU") == 0);
        CHECK_OK(open_as(GPH_DRIVER_SOFT, &info, &error), error);
        CHECK(info.driver == GPH_DRIVER_SOFT);
    }
}

static void auto_takes_the_driver_that_has_a_device(void)
{
    setenv("FAKE_DEVICES", "1", 1);
    gph_error error = {0};
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    CHECK_OK(open_as(GPH_DRIVER_AUTO, &info, &error), error);
    CHECK(info.driver == GPH_DRIVER_CUDA);
    CHECK(strcmp(info.why, "auto: it has a device") == 0);
}

static void the_default_is_the_driver_of_the_system(void)
{
    gph_error error = {0};
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    CHECK_OK(open_as(GPH_DRIVER_DEFAULT, &info, &error), error);
    CHECK(info.driver == GPH_DRIVER_CUDA && strcmp(info.why, "default") == 0);
    CHECK((info.features & GPH_FEATURE_SOFTCUDA) == 0);
}

static void a_driver_without_device_passes_its_code_on(void)
{
    setenv("FAKE_INIT", "100", 1);
    gph_error error = {0};
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    CHECK(open_as(GPH_DRIVER_CUDA, &info, &error) == 100);
    CHECK(strstr(error.message, "cuInit returned CUDA_ERROR_NO_DEVICE") != NULL);
    CHECK(strstr(error.hint, "GPH_DRIVER=soft") != NULL);
    unsetenv("FAKE_INIT");
}

int main(void)
{
    const char *path = getenv("LD_LIBRARY_PATH");
    if (path == NULL || strstr(path, "fake/nvidia") == NULL) {
        printf("skipped: LD_LIBRARY_PATH does not lead to the false driver\n");
        return 77;
    }
    unsetenv("GPH_DRIVER");
    RUN(auto_falls_to_softcuda_where_there_is_no_device);
    RUN(auto_takes_the_driver_that_has_a_device);
    RUN(the_default_is_the_driver_of_the_system);
    RUN(a_driver_without_device_passes_its_code_on);
    return test_done();
}
