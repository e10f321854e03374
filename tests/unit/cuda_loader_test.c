// SPDX-License-Identifier: Apache-2.0
/* One driver a process: chosen, shared, not exchanged. FAKE_DRIVER names a library that
 * passes for softcuda. */
#define _GNU_SOURCE
#include "cuda/refusal.h"
#include "fake_driver.h"
#include "test.h"

#include <dlfcn.h>
#include <pthread.h>

static gph_status open_as(gph_driver driver, gph_runtime **out, gph_error *error)
{
    gph_options options = GPH_OPTIONS_INIT;
    options.driver = driver;
    options.softcuda_path = getenv("FAKE_DRIVER");
    return gph_open(&options, out, error);
}

static void two_runtimes_share_the_driver(void)
{
    gph_error error = {0};
    gph_runtime *first = NULL, *second = NULL, *third = NULL;
    CHECK_OK(open_as(GPH_DRIVER_SOFT, &first, &error), error);
    if (first == NULL)
        return;
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    gph_driver_info_get(first, &info);
    CHECK(info.driver == GPH_DRIVER_SOFT && strcmp(info.why, "option") == 0);
    CHECK(info.features == GPH_FEATURE_SOFTCUDA);
    CHECK(strcmp(info.path, getenv("FAKE_DRIVER")) == 0);

    CHECK_OK(open_as(GPH_DRIVER_AUTO, &second, &error), error);
    gph_driver_info_get(second, &info);
    CHECK(info.driver == GPH_DRIVER_SOFT);
    CHECK(open_as(GPH_DRIVER_CUDA, &third, &error) == GPH_E_STATE);
    CHECK(strstr(error.message, "driver cuda was requested") != NULL);
    CHECK(strstr(error.message, info.path) != NULL && third == NULL);

    gph_cuda_fn function = NULL;
    CHECK(gph_cuda_find(first, "gph_softcuda_version", &function, &error) == GPH_OK);
    CHECK(gph_cuda_find(first, "gph_softcuda_settings", &function, &error) ==
          GPH_E_UNSUPPORTED);
    gph_close(second);
    gph_close(first);
}

static void the_variable_chooses_unless_an_option_does(void)
{
    gph_error error = {0};
    gph_runtime *runtime = NULL;
    setenv("GPH_DRIVER", "soft", 1);
    CHECK_OK(open_as(GPH_DRIVER_DEFAULT, &runtime, &error), error);
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    gph_driver_info_get(runtime, &info);
    CHECK(strcmp(info.why, "GPH_DRIVER") == 0);
    gph_close(runtime);
    setenv("GPH_DRIVER", "cuda", 1);
    CHECK_OK(open_as(GPH_DRIVER_SOFT, &runtime, &error), error);
    gph_close(runtime);
    unsetenv("GPH_DRIVER");
}

static void an_old_driver_is_refused_with_its_version(void)
{
    gph_error error = {0};
    gph_runtime *runtime = NULL;
    setenv("FAKE_VERSION", "11080", 1);
    CHECK(open_as(GPH_DRIVER_SOFT, &runtime, &error) == GPH_E_UNSUPPORTED);
    CHECK(strstr(error.message, "CUDA 11.8; 12.0 or newer is needed") != NULL);
    unsetenv("FAKE_VERSION");
    CHECK_OK(open_as(GPH_DRIVER_SOFT, &runtime, &error), error);
    gph_close(runtime);
}

static void the_default_never_falls_to_the_cpu(void)
{
    void *nvidia = dlopen("libcuda.so.1", RTLD_NOW);
    if (nvidia != NULL) {
        dlclose(nvidia);
        SKIP("this machine has an NVIDIA driver");
    }
    gph_error error = {0};
    gph_runtime *runtime = NULL;
    CHECK(open_as(GPH_DRIVER_DEFAULT, &runtime, &error) == GPH_E_UNSUPPORTED);
    CHECK(strstr(error.message, "no NVIDIA driver: libcuda.so.1") != NULL);
    CHECK(strstr(error.hint, "GPH_DRIVER=soft") != NULL);
    CHECK_OK(open_as(GPH_DRIVER_AUTO, &runtime, &error), error);
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    gph_driver_info_get(runtime, &info);
    CHECK(strcmp(info.why, "auto: no usable GPU") == 0);
    gph_close(runtime);
}

static void *open_and_close(void *user)
{
    (void)user;
    for (int i = 0; i < 50; i++) {
        gph_error error = {0};
        gph_runtime *runtime = NULL;
        CHECK_OK(open_as(GPH_DRIVER_SOFT, &runtime, &error), error);
        gph_close(runtime);
    }
    return NULL;
}

static void *watch_and_refuse(void *user)
{
    (void)user;
    for (int i = 0; i < 200; i++) {
        gphi_watch watch;
        gphi_watch_begin(&watch);
        (void)fake_fail("cuMemAlloc", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        gphi_watch_end(&watch);
        const struct gphi_refusal *own = gphi_watch_first(&watch, false);
        CHECK(own != NULL && own->thread == watch.thread);
        CHECK(own != NULL && strcmp(own->text, "cuMemAlloc makes no sense") == 0);
        CHECK(own != NULL && strcmp(own->call, "cuMemAlloc") == 0);
    }
    return NULL;
}

static void on_four_threads(void *(*body)(void *))
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, body, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static void many_threads_may_open_it(void)
{
    on_four_threads(open_and_close);
}

static void refusals_find_the_watch_of_their_thread(void)
{
    fake_reset();
    gph_runtime *runtime = NULL;
    gph_error error = {0};
    CHECK_OK(gphi_runtime_create(NULL, &fake_source, &runtime, &error), error);
    on_four_threads(watch_and_refuse);
    gph_close(runtime);
}

int main(void)
{
    if (getenv("FAKE_DRIVER") == NULL) {
        printf("skipped: FAKE_DRIVER is not set\n");
        return 77;
    }
    unsetenv("GPH_DRIVER");
    RUN(two_runtimes_share_the_driver);
    RUN(the_variable_chooses_unless_an_option_does);
    RUN(an_old_driver_is_refused_with_its_version);
    RUN(many_threads_may_open_it);
    RUN(refusals_find_the_watch_of_their_thread);
    RUN(the_default_never_falls_to_the_cpu); /* last: it may load NVIDIA's driver */
    return test_done();
}
