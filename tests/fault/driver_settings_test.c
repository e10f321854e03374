// SPDX-License-Identifier: Apache-2.0
/* What the environment asks of softcuda. Each case is a child process, since settings are
 * read once. */
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/driver.h"
#include "conformance/kernels.h"

struct setting {
    const char *name, *value;
};

/* Runs `look` in a child that has the settings; true if it returned true. */
static bool child_sees(const struct setting *settings, int count, bool (*look)(void))
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < count; i++)
            setenv(settings[i].name, settings[i].value, 1);
        const char *why;
        exit(driver_load(SOFTCUDA_PATH, &why) && look() ? 0 : 1); /* exit: handlers run */
    }
    int ended = -1;
    return waitpid(child, &ended, 0) == child && WIFEXITED(ended) &&
           WEXITSTATUS(ended) == 0;
}

#define SEES(look, ...)                                                                  \
    child_sees(                                                                          \
        (const struct setting[]){__VA_ARGS__},                                           \
        (int)(sizeof((const struct setting[]){__VA_ARGS__}) / sizeof(struct setting)),   \
        look)

static int devices(void)
{
    int count = -1;
    return cu.cuInit(0) == CUDA_SUCCESS && cu.cuDeviceGetCount(&count) == CUDA_SUCCESS
               ? count
               : -1;
}

static bool one(void)
{
    return devices() == 1;
}
static bool two(void)
{
    return devices() == 2;
}
static bool four(void)
{
    return devices() == 4;
}
static bool none(void)
{
    return cu.cuInit(0) == CUDA_ERROR_NO_DEVICE;
}
static bool refused(void)
{
    return cu.cuInit(0) == CUDA_ERROR_INVALID_VALUE;
}

static bool last_first(void)
{
    CUuuid uuid;
    return devices() == 2 && cu.cuDeviceGetUuid(&uuid, 0) == CUDA_SUCCESS &&
           uuid.bytes[15] == 3 && cu.cuDeviceGetUuid(&uuid, 1) == CUDA_SUCCESS &&
           uuid.bytes[15] == 1;
}

static void devices_can_be_more_and_hidden(void)
{
    CHECK(SEES(one, {"SOFTCUDA_DEVICES", "1"}));
    CHECK(SEES(four, {"SOFTCUDA_DEVICES", "4"}));
    CHECK(SEES(none, {"SOFTCUDA_DEVICES", "0"}));
    CHECK(SEES(refused, {"SOFTCUDA_DEVICES", "many"}));
    CHECK(SEES(refused, {"SOFTCUDA_DEVICES", "99"}));
    CHECK(SEES(refused, {"SOFTCUDA_MULTIPROCESSORS", "0"}));
    CHECK(SEES(refused, {"SOFTCUDA_MULTIPROCESSORS", "all"}));
    CHECK(SEES(one, {"SOFTCUDA_MULTIPROCESSORS", "132"}));
    CHECK(SEES(last_first, {"SOFTCUDA_DEVICES", "4"}, {"CUDA_VISIBLE_DEVICES", "3,1"}));
    CHECK(SEES(two, {"SOFTCUDA_DEVICES", "4"}, {"CUDA_VISIBLE_DEVICES", "0,1,7,2"}));
    CHECK(SEES(none, {"CUDA_VISIBLE_DEVICES", ""}));
    CHECK(SEES(none, {"CUDA_VISIBLE_DEVICES", "-1"}));
    CHECK(SEES(none, {"SOFTCUDA_DEVICES", "2"}, {"CUDA_VISIBLE_DEVICES", "1,1"}));
    CHECK(SEES(one, {"SOFTCUDA_DEVICES", "2"},
               {"CUDA_VISIBLE_DEVICES", "GPU-736f6674-6375-6461-0000-000000000001"}));
}

static size_t total(void)
{
    size_t bytes = 0;
    return cu.cuInit(0) == CUDA_SUCCESS && cu.cuDeviceTotalMem(&bytes, 0) == CUDA_SUCCESS
               ? bytes
               : 0;
}

static bool has_256m(void)
{
    return total() == (size_t)256 << 20;
}
static bool has_1g(void)
{
    return total() == (size_t)1 << 30;
}

static bool fills_up(void)
{
    CUcontext context;
    CUdeviceptr p;
    return cu.cuInit(0) == CUDA_SUCCESS &&
           cu.cuCtxCreate(&context, NULL, 0, 0) == CUDA_SUCCESS &&
           cu.cuMemAlloc(&p, 200 << 20) == CUDA_SUCCESS &&
           cu.cuMemAlloc(&p, 200 << 20) == CUDA_ERROR_OUT_OF_MEMORY;
}

static void memory_has_the_size_that_is_asked_for(void)
{
    CHECK(SEES(has_256m, {"SOFTCUDA_MEMORY", "256M"}));
    CHECK(SEES(has_256m, {"SOFTCUDA_MEMORY", "268435456"}));
    CHECK(SEES(has_1g, {"SOFTCUDA_MEMORY", "1GiB"}));
    CHECK(SEES(fills_up, {"SOFTCUDA_MEMORY", "256M"}));
    CHECK(SEES(refused, {"SOFTCUDA_MEMORY", "lots"}));
    CHECK(SEES(refused, {"SOFTCUDA_MEMORY", "1K"}));
    CHECK(SEES(refused, {"SOFTCUDA_MEMORY", "-1G"}));
    CHECK(SEES(refused, {"SOFTCUDA_MEMORY", "1Gx"}));
    CHECK(SEES(refused, {"SOFTCUDA_MEMORY", "nan"}));
}

static bool is_8_6(void)
{
    int major = 0, minor = 0;
    return cu.cuInit(0) == CUDA_SUCCESS &&
           cu.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                                   0) == CUDA_SUCCESS &&
           cu.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                   0) == CUDA_SUCCESS &&
           major == 8 && minor == 6;
}

static void compute_capability_can_be_another(void)
{
    CHECK(SEES(is_8_6, {"SOFTCUDA_COMPUTE_CAPABILITY", "8.6"}));
    CHECK(SEES(refused, {"SOFTCUDA_COMPUTE_CAPABILITY", "86"}));
    CHECK(SEES(refused, {"SOFTCUDA_COMPUTE_CAPABILITY", "1.0"}));
}

static bool is_12_4(void)
{
    int version = 0;
    return cu.cuDriverGetVersion(&version) == CUDA_SUCCESS && version == 12040 &&
           cu.cuInit(0) == CUDA_SUCCESS;
}

static CUresult load_newer_ptx(void)
{
    static const char text[] =
        ".version 9.4\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n";
    CUcontext context;
    CUmodule module;
    if (cu.cuInit(0) != CUDA_SUCCESS ||
        cu.cuCtxCreate(&context, NULL, 0, 0) != CUDA_SUCCESS)
        return CUDA_ERROR_NOT_INITIALIZED;
    return cu.cuModuleLoadData(&module, text);
}

static bool is_13_4(void)
{
    int version = 0;
    return cu.cuDriverGetVersion(&version) == CUDA_SUCCESS && version == 13040 &&
           load_newer_ptx() == CUDA_SUCCESS;
}

static bool refuses_newer_ptx(void)
{
    return load_newer_ptx() == CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
}

static void the_version_can_be_an_older_one(void)
{
    CHECK(SEES(is_12_4, {"SOFTCUDA_DRIVER_VERSION", "12.4"}));
    CHECK(SEES(refused, {"SOFTCUDA_DRIVER_VERSION", "11.8"}));
    CHECK(SEES(refused, {"SOFTCUDA_DRIVER_VERSION", "new"}));
}

/* The same driver, which reads newer PTX as its newest. */
static void the_version_can_be_a_newer_one(void)
{
    CHECK(SEES(is_13_4, {"SOFTCUDA_DRIVER_VERSION", "13.4"}));
    CHECK(SEES(refuses_newer_ptx, {"SOFTCUDA_DRIVER_VERSION", "13.0"}));
    CHECK(SEES(refused, {"SOFTCUDA_DRIVER_VERSION", "14.0"}));
}

static bool launches(void)
{
    CUcontext context;
    CUmodule module;
    CUfunction f;
    return cu.cuInit(0) == CUDA_SUCCESS &&
           cu.cuCtxCreate(&context, NULL, 0, 0) == CUDA_SUCCESS &&
           cu.cuModuleLoadData(&module, kernels_ptx) == CUDA_SUCCESS &&
           cu.cuModuleGetFunction(&f, module, "nothing") == CUDA_SUCCESS &&
           cu.cuLaunchKernel(f, 8, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) == CUDA_SUCCESS &&
           cu.cuCtxSynchronize() == CUDA_SUCCESS;
}

static void workers_and_blocking_launches(void)
{
    CHECK(SEES(launches, {"SOFTCUDA_WORKERS", "1"}));
    CHECK(SEES(launches, {"SOFTCUDA_WORKERS", "7"}));
    CHECK(SEES(refused, {"SOFTCUDA_WORKERS", "some"}));
    CHECK(SEES(launches, {"SOFTCUDA_WORKERS", "64"}));
    CHECK(SEES(refused, {"SOFTCUDA_WORKERS", "-1"}));
    CHECK(SEES(refused, {"SOFTCUDA_WORKERS", "0"}));
    CHECK(SEES(refused, {"SOFTCUDA_WORKERS", "65"}));
    CHECK(SEES(refused, {"SOFTCUDA_WORKERS", "4 "}));
    CHECK(SEES(launches, {"SOFTCUDA_SCHEDULE_SEED", "1"}));
    CHECK(SEES(launches, {"SOFTCUDA_SCHEDULE_SEED", "4294967295"}));
    CHECK(SEES(launches, {"SOFTCUDA_SCHEDULE_SEED", "0"}));
    CHECK(SEES(refused, {"SOFTCUDA_SCHEDULE_SEED", "4294967296"}));
    CHECK(SEES(refused, {"SOFTCUDA_SCHEDULE_SEED", "-3"}));
    CHECK(SEES(refused, {"SOFTCUDA_SCHEDULE_SEED", "today"}));
    CHECK(SEES(launches, {"CUDA_LAUNCH_BLOCKING", "1"}));
    CHECK(SEES(launches, {"CUDA_LAUNCH_BLOCKING", "2"}));
}

static char path[] = "/tmp/gph-settings-XXXXXX";

static bool file_has(const char *wanted)
{
    static char text[65536];
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    if (strstr(text, wanted) != NULL)
        return true;
    fprintf(stderr, "  '%s' is not in: %s\n", wanted, text);
    return false;
}

static bool makes_a_mistake(void)
{
    CUdevice device;
    return cu.cuInit(0) == CUDA_SUCCESS &&
           cu.cuDeviceGet(&device, 17) == CUDA_ERROR_INVALID_DEVICE;
}

static bool uses_memory(void)
{
    CUcontext context;
    CUdeviceptr p;
    return cu.cuInit(0) == CUDA_SUCCESS &&
           cu.cuCtxCreate(&context, NULL, 0, 0) == CUDA_SUCCESS &&
           cu.cuMemAlloc(&p, 6 << 20) == CUDA_SUCCESS;
}

static void log_and_summary_go_to_files(void)
{
    const int file = mkstemp(path);
    CHECK(file >= 0);
    close(file);
    CHECK(SEES(makes_a_mistake, {"CUDA_LOG_FILE", path}));
    CHECK(file_has("17"));
    CHECK(file_has("Returning 101 (CUDA_ERROR_INVALID_DEVICE) from cuDeviceGet\n"));
    CHECK(truncate(path, 0) == 0);
    CHECK(SEES(makes_a_mistake, {"SOFTCUDA_LOG", path}));
    CHECK(file_has("CUDA_ERROR_INVALID_DEVICE"));
    CHECK(truncate(path, 0) == 0);
    CHECK(SEES(refused, {"SOFTCUDA_LOG", path}, {"SOFTCUDA_WORKERS", "100"}));
    CHECK(file_has("SOFTCUDA_WORKERS is '100': a whole number from 1 to 64"));
    CHECK(SEES(uses_memory, {"SOFTCUDA_SUMMARY", path}, {"SOFTCUDA_DEVICES", "2"}));
    CHECK(file_has("\"kernels_launched\": 0"));
    CHECK(file_has("\"peak_device_bytes\": 6291456"));
    CHECK(file_has("\"devices\": 2"));
    unlink(path);
}

static bool peers(void)
{
    CUcontext a, b;
    CUdeviceptr p, q;
    int can = 0;
    unsigned value = 0;
    return cu.cuInit(0) == CUDA_SUCCESS &&
           cu.cuDeviceCanAccessPeer(&can, 0, 1) == CUDA_SUCCESS && can == 1 &&
           cu.cuCtxCreate(&a, NULL, 0, 0) == CUDA_SUCCESS &&
           cu.cuMemAlloc(&p, 64) == CUDA_SUCCESS &&
           cu.cuMemsetD32(p, 7, 16) == CUDA_SUCCESS &&
           cu.cuCtxSynchronize() == CUDA_SUCCESS &&
           cu.cuCtxCreate(&b, NULL, 0, 1) == CUDA_SUCCESS &&
           cu.cuMemAlloc(&q, 64) == CUDA_SUCCESS &&
           cu.cuCtxEnablePeerAccess(a, 0) == CUDA_SUCCESS &&
           cu.cuCtxEnablePeerAccess(a, 0) == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED &&
           cu.cuMemcpyPeer(q, b, p, a, 64) == CUDA_SUCCESS &&
           cu.cuMemcpyDtoH(&value, q, 4) == CUDA_SUCCESS && value == 7 &&
           cu.cuCtxDisablePeerAccess(a) == CUDA_SUCCESS &&
           cu.cuCtxDisablePeerAccess(a) == CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

static void two_devices_are_peers(void)
{
    CHECK(SEES(peers, {"SOFTCUDA_DEVICES", "2"}));
}

int main(void)
{
    if (getenv("GPH_DRIVER") != NULL && strcmp(getenv("GPH_DRIVER"), "cuda") == 0) {
        printf("settings of softcuda\n");
        return 77;
    }
    RUN(devices_can_be_more_and_hidden);
    RUN(memory_has_the_size_that_is_asked_for);
    RUN(compute_capability_can_be_another);
    RUN(the_version_can_be_an_older_one);
    RUN(the_version_can_be_a_newer_one);
    RUN(workers_and_blocking_launches);
    RUN(log_and_summary_go_to_files);
    RUN(two_devices_are_peers);
    return test_done();
}
