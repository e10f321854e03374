// SPDX-License-Identifier: Apache-2.0
/* Opening a driver: what is asked, what is found, what is said when it is not. */
#define _POSIX_C_SOURCE 200809L
#include "cuda/status.h"
#include "fake_driver.h"
#include "fault.h"
#include "test.h"

/* What the arguments of each call are in the ABI header, and in the table for programs.
 */
#define X(name, version, arguments) typedef void(*abi_##name) arguments;
GPHI_CUDA_CALLS(X)
#undef X
#define X(name, arguments) typedef void(*own_##name) arguments;
GPH_CUDA_CALLS(X)
#undef X

_Static_assert(sizeof(CUresult) == sizeof(int), "results are ints for programs");

static gph_runtime *open_fake(void)
{
    gph_runtime *runtime = NULL;
    gph_error error = {0};
    CHECK_OK(gphi_runtime_create(NULL, &fake_source, &runtime, &error), error);
    return runtime;
}

static void a_driver_is_described(void)
{
    fake_reset();
    gph_runtime *runtime = open_fake();
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    gph_driver_info_get(runtime, &info);
    CHECK(info.driver == GPH_DRIVER_CUDA && info.version == 13000);
    CHECK(info.features == GPH_FEATURE_LOGS);
    CHECK(strcmp(info.path, "/fake/libcuda.so.1") == 0);
    CHECK(fake.live_logs == 1);
    gph_close(runtime);
    CHECK(fake.live_logs == 0);
    gph_close(NULL);
}

static void calls_reach_the_driver_in_both_tables(void)
{
    fake_reset();
    gph_runtime *runtime = open_fake();
    int version = 0;
    CHECK(gph_cuda(runtime)->DriverGetVersion(&version) == GPH_OK && version == 13000);
    CHECK(gph_cuda(runtime)->GraphLaunch(FAKE_EXEC, FAKE_STREAM) == GPH_OK);
    CHECK(fake.launches == 1);
    CHECK(gph_cuda(runtime)->GraphLaunch(NULL, FAKE_STREAM) == CUDA_ERROR_INVALID_VALUE);
    gph_close(runtime);
}

static void an_error_has_the_sentence_of_the_log(void)
{
    fake_reset();
    gph_runtime *runtime = open_fake();
    gph_error error = {0};
    const CUresult bad = CUDA_ERROR_INVALID_VALUE;
    (void)fake_fail("cuMemAlloc_v2", bad);
    CHECK(gphi_cuda_check(&error, bad, "cuMemAlloc", "%d bytes", 7) == (gph_status)bad);
    CHECK(strcmp(error.message, "7 bytes: cuMemAlloc returned CUDA_ERROR_INVALID_VALUE "
                                "(invalid argument); the driver says: cuMemAlloc_v2 "
                                "makes no sense") == 0);
    CHECK(gph_cuda_check((gph_status)bad, "MemAlloc", &error) == (gph_status)bad);
    CHECK(strstr(error.message, "the driver says: cuMemAlloc_v2 makes") != NULL);

    /* Not that of another call or code, nor one of an earlier refusal. */
    CHECK(gph_cuda_check((gph_status)bad, "cuMemFree", &error) == (gph_status)bad);
    CHECK(strstr(error.message, "says") == NULL);
    CHECK(gph_cuda_check(CUDA_ERROR_UNKNOWN, "cuMemAlloc", &error) != GPH_OK);
    CHECK(strstr(error.message, "says") == NULL);
    fake.is_terse = 1;
    (void)fake_fail("cuMemAlloc", bad);
    CHECK(gph_cuda_check((gph_status)bad, "cuMemAlloc", &error) == (gph_status)bad);
    CHECK(strstr(error.message, "says") == NULL);
    gph_close(runtime);
}

static void a_driver_that_does_not_start_says_why(void)
{
    fake_reset();
    fake.init_with = CUDA_ERROR_INVALID_VALUE;
    gph_runtime *runtime = NULL;
    gph_error error = {0};
    CHECK(gphi_runtime_create(NULL, &fake_source, &runtime, &error) ==
          CUDA_ERROR_INVALID_VALUE);
    CHECK(strstr(error.message, "cuInit returned CUDA_ERROR_INVALID_VALUE") != NULL);
    CHECK(strstr(error.message, "; the driver says: cuInit makes no sense") != NULL);
    CHECK(runtime == NULL && fake.live_logs == 0);
}

/* Calls with an enumeration among their arguments, where programs have an int. */
static bool has_enumeration(const char *name)
{
    static const char *const names[] = {
        "GetErrorName",     "GetErrorString",   "DeviceGetAttribute", "ModuleLoadDataEx",
        "FuncGetAttribute", "FuncSetAttribute", "StreamIsCapturing"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void both_tables_have_the_same_arguments(void)
{
    static const struct {
        const char *name;
        bool is_same;
    } calls[] = {
#define X(name, arguments)                                                               \
    {#name, __builtin_types_compatible_p(abi_cu##name, own_##name)},
        GPH_CUDA_CALLS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        if (!CHECK(calls[i].is_same != has_enumeration(calls[i].name)))
            fprintf(stderr, "  %s\n", calls[i].name);
}

static void a_missing_call_says_so(void)
{
    fake_reset();
    fake.version = 12040;
    gph_runtime *runtime = open_fake();
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    gph_driver_info_get(runtime, &info);
    CHECK((info.features & GPH_FEATURE_LOGS) == 0); /* 12.9 */
    CHECK(gph_cuda(runtime)->CtxSynchronize() == CUDA_ERROR_NOT_SUPPORTED);

    gph_error error = {0};
    gph_cuda_fn function = NULL;
    CHECK(gph_cuda_find(runtime, "cuLogsRegisterCallback", &function, &error) ==
          GPH_E_UNSUPPORTED);
    CHECK(strcmp(error.message,
                 "/fake/libcuda.so.1 (CUDA 12.4) has no cuLogsRegisterCallback") == 0);
    CHECK(gph_cuda_find(runtime, "cuNoSuch", &function, &error) == GPH_E_UNSUPPORTED);
    CHECK(function == NULL);
    CHECK(gph_cuda_find(runtime, "cuGraphLaunch", &function, &error) == GPH_OK);
    CHECK(function == (gph_cuda_fn)fake_cuGraphLaunch);
    CHECK(gph_cuda_find(runtime, NULL, &function, &error) == GPH_E_INVALID);
    gph_close(runtime);
}

static void statuses_have_names_and_texts(void)
{
    CHECK(strcmp(gph_status_name(GPH_OK), "GPH_OK") == 0);
    CHECK(strcmp(gph_status_name(GPH_E_IO), "GPH_E_IO") == 0);
    CHECK(strcmp(gph_status_name(900), "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED") == 0);
    CHECK(strcmp(gph_status_name(123456), "CUDA_ERROR_?") == 0);
    CHECK(strcmp(gph_status_text(GPH_OK), "") == 0);
    CHECK(strcmp(gph_status_text(1), "invalid argument") == 0);
    CHECK(strstr(gph_status_text(GPH_E_STATE), "state") != NULL);
    gph_error error = {0};
    CHECK(gph_cuda_check(GPH_OK, "cuInit", &error) == GPH_OK && error.code == 0);
    CHECK(gph_cuda_check(2, "cuMemAlloc", &error) == 2);
    CHECK(strcmp(error.message, "cuMemAlloc returned CUDA_ERROR_OUT_OF_MEMORY (out of "
                                "memory)") == 0);
    CHECK(strcmp(error.call, "cuMemAlloc") == 0);
}

static void opening_survives_every_failure(void)
{
    for (long nth = 0; nth < 3; nth++) { /* cuInit, the log, none */
        fake_reset();
        fake.fail_at = nth;
        gph_runtime *runtime = NULL;
        gph_error error = {0};
        const gph_status status =
            gphi_runtime_create(NULL, &fake_source, &runtime, &error);
        CHECK(status == (nth == 0 ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS));
        CHECK((runtime != NULL) == (status == GPH_OK));
        gph_close(runtime);
        CHECK(fake.live_logs == 0);
    }
    fault_heap heap = {.fail_at = 0};
    const gph_allocator allocator = {fault_realloc, &heap};
    gph_runtime *runtime = NULL;
    CHECK(gphi_runtime_create(&allocator, &fake_source, &runtime, NULL) ==
          GPH_E_NO_MEMORY);
    CHECK(runtime == NULL && atomic_load(&heap.live_bytes) == 0);
}

static void a_driver_that_is_not_there_is_named(void)
{
    unsetenv("GPH_DRIVER");
    gph_error error = {0};
    gph_runtime *runtime = NULL;
    gph_options options = GPH_OPTIONS_INIT;
    options.driver = GPH_DRIVER_SOFT;
    options.softcuda_path = "/nowhere/libcuda.so.1";
    CHECK(gph_open(&options, &runtime, &error) == GPH_E_UNSUPPORTED);
    CHECK(strstr(error.message, "no softcuda: /nowhere/libcuda.so.1: ") != NULL);
    CHECK(error.hint[0] != '\0' && runtime == NULL);

    options.softcuda_path = NULL; /* the variable comes next */
    setenv("GPH_SOFTCUDA_PATH", "/elsewhere/libcuda.so.1", 1);
    CHECK(gph_open(&options, &runtime, &error) == GPH_E_UNSUPPORTED);
    CHECK(strstr(error.message, "/elsewhere/libcuda.so.1") != NULL);
    setenv("GPH_SOFTCUDA_PATH", "libm.so.6", 1);
    CHECK(gph_open(&options, &runtime, &error) == GPH_E_UNSUPPORTED);
    CHECK(strcmp(error.message, "libm.so.6 is not softcuda") == 0);
    unsetenv("GPH_SOFTCUDA_PATH");
}

static void a_wrong_choice_is_refused(void)
{
    gph_error error = {0};
    gph_runtime *runtime = NULL;
    gph_options options = GPH_OPTIONS_INIT;
    options.driver = 4;
    CHECK(gph_open(&options, &runtime, &error) == GPH_E_INVALID);
    CHECK(strcmp(error.message, "options.driver 4 is not a gph_driver") == 0);
    CHECK(gph_open(NULL, NULL, &error) == GPH_E_INVALID);
    setenv("GPH_DRIVER", "hard", 1);
    CHECK(gph_open(NULL, &runtime, &error) == GPH_E_INVALID);
    CHECK(strcmp(error.message,
                 "GPH_DRIVER is \"hard\": one of auto, cuda, soft is needed") == 0);
    unsetenv("GPH_DRIVER");
    CHECK(runtime == NULL);
}

int main(void)
{
    RUN(a_driver_is_described);
    RUN(calls_reach_the_driver_in_both_tables);
    RUN(both_tables_have_the_same_arguments);
    RUN(a_missing_call_says_so);
    RUN(statuses_have_names_and_texts);
    RUN(an_error_has_the_sentence_of_the_log);
    RUN(a_driver_that_does_not_start_says_why);
    RUN(opening_survives_every_failure);
    RUN(a_driver_that_is_not_there_is_named);
    RUN(a_wrong_choice_is_refused);
    return test_done();
}
