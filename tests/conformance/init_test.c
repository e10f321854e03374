// SPDX-License-Identifier: Apache-2.0
/* Before and after cuInit(): versions, error names, entry points by name, the log. */
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"

static void calls_before_init_are_refused(void)
{
    int count;
    CUdevice device;
    CUcontext context;
    REFUSED(NOT_INITIALIZED, cu.cuDeviceGetCount(&count));
    REFUSED(NOT_INITIALIZED, cu.cuDeviceGet(&device, 0));
    REFUSED(NOT_INITIALIZED, cu.cuCtxGetCurrent(&context));
    REFUSED(NOT_INITIALIZED, cu.cuCtxSynchronize());
}

static void these_work_before_init(void)
{
    int version = 0;
    const char *text = NULL;
    OK(cu.cuDriverGetVersion(&version));
    CHECK(version >= 12040);
    REFUSED(INVALID_VALUE, cu.cuDriverGetVersion(NULL));
    OK(cu.cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    CHECK(strcmp(text, "CUDA_ERROR_ILLEGAL_ADDRESS") == 0);
    OK(cu.cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    CHECK(strcmp(text, "an illegal memory access was encountered") == 0);
}

static void every_error_has_a_name(void)
{
    static const struct {
        CUresult code;
        const char *name, *text;
    } all[] = {
#define X(name, value, text) {name, #name, text},
        GPHI_CUDA_RESULTS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        const char *text = NULL;
        if (cu.cuGetErrorName(all[i].code, &text) != CUDA_SUCCESS)
            continue; /* a driver older than the code */
        if (!CHECK(strcmp(text, all[i].name) == 0))
            fprintf(stderr, "  %d is %s\n", (int)all[i].code, text);
        OK(cu.cuGetErrorString(all[i].code, &text));
        if (!CHECK(strcmp(text, all[i].text) == 0))
            fprintf(stderr, "  %d says '%s'\n", (int)all[i].code, text);
    }
    const char *text = "";
    REFUSED(INVALID_VALUE, cu.cuGetErrorName((CUresult)12345, &text));
    CHECK(text == NULL);
    REFUSED(INVALID_VALUE, cu.cuGetErrorString((CUresult)12345, &text));
}

static void init_takes_no_flags(void)
{
    REFUSED(INVALID_VALUE, cu.cuInit(1));
    OK(cu.cuInit(0));
    OK(cu.cuInit(0));
}

/* ---- cuGetProcAddress ---- */

static CUdriverProcAddressQueryResult status;
static void *entry;

static CUresult look_up(const char *name, int version, cuuint64_t flags)
{
    entry = &status;
    status = (CUdriverProcAddressQueryResult)99;
    return cu.cuGetProcAddress(name, &entry, version, flags, &status);
}

static void versions_choose_the_signature(void)
{
    OK(look_up("cuMemAlloc", 12000, 0));
    CHECK(entry == dlsym(driver_library, "cuMemAlloc_v2"));
    CHECK(status == CU_GET_PROC_ADDRESS_SUCCESS);
    OK(look_up("cuMemAlloc", 3020, 0));
    CHECK(entry == dlsym(driver_library, "cuMemAlloc_v2"));
    OK(look_up("cuCtxCreate", 3020, 0));
    CHECK(entry == dlsym(driver_library, "cuCtxCreate_v2"));
    OK(look_up("cuCtxCreate", 11040, 0));
    CHECK(entry == dlsym(driver_library, "cuCtxCreate_v3"));
    OK(look_up("cuStreamGetCaptureInfo", 11030, 0));
    CHECK(entry == dlsym(driver_library, "cuStreamGetCaptureInfo_v2"));
    /* cuda.h renames the call to cuGraphInstantiateWithFlags; an H100's driver does not.
     */
    OK(look_up("cuGraphInstantiate", 12000, 0));
    CHECK(entry == dlsym(driver_library, "cuGraphInstantiate_v2"));
    OK(look_up("cuGraphInstantiate", 10000, 0));
    CHECK(entry == dlsym(driver_library, "cuGraphInstantiate"));
    OK(look_up("cuMemAlloc_v2", 12000, 0)); /* a symbol is not a name */
    CHECK(entry == NULL && status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

static void unknown_and_too_old_differ(void)
{
    OK(look_up("cuNoSuchCall", 12000, 0));
    CHECK(entry == NULL && status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    OK(look_up("cuGraphLaunch", 9000, 0));
    CHECK(entry == NULL && status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    int version = 0;
    OK(cu.cuDriverGetVersion(&version));
    REFUSED(INVALID_VALUE, look_up("cuMemAlloc", version + 10, 0));
    if (driver_is_soft) { /* an H100's driver crashes here */
        REFUSED(INVALID_VALUE, cu.cuGetProcAddress(NULL, &entry, 12000, 0, &status));
        REFUSED(INVALID_VALUE, cu.cuGetProcAddress("cuInit", NULL, 12000, 0, &status));
    }
    REFUSED(INVALID_VALUE, look_up("cuInit", 12000, 16));
    OK(look_up("cuInit", 12000, 3)); /* both streams asked for */
    OK(cu.cuGetProcAddress("cuInit", &entry, 12000, 0, NULL));
    CHECK(entry != NULL);
}

static void flags_choose_the_default_stream(void)
{
    OK(look_up("cuLaunchKernel", 12000, CU_GET_PROC_ADDRESS_LEGACY_STREAM));
    CHECK(entry == dlsym(driver_library, "cuLaunchKernel"));
    OK(look_up("cuLaunchKernel", 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM));
    CHECK(entry == dlsym(driver_library, "cuLaunchKernel_ptsz"));
    OK(look_up("cuMemcpyHtoD", 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM));
    CHECK(entry == dlsym(driver_library, "cuMemcpyHtoD_v2_ptds"));
    OK(look_up("cuInit", 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM));
    CHECK(entry == dlsym(driver_library, "cuInit"));
}

static void every_symbol_is_exported(void)
{
#define X(symbol, name, version, per_thread, args)                                       \
    if (!CHECK(dlsym(driver_library, #symbol) != NULL))                                  \
        fprintf(stderr, "  %s is missing\n", #symbol);
    if (driver_is_soft) {
        GPHI_CUDA_SYMBOLS(X)
    }
#undef X
}

/* What is not built says so, by its own name. */
static void missing_calls_are_known(void)
{
    if (!driver_is_soft)
        SKIP("only softcuda lacks calls");
    int (*has)(const char *);
    *(void **)&has = dlsym(driver_library, "gph_softcuda_has");
    CHECK(has("cuMemAlloc_v2") == 1 && has("cuLaunchKernel_ptsz") == 1);
    CHECK(has("cuDeviceGetLuid") == 0);
    CHECK(has("cuNoSuchCall") == -1 && has("") == -1);
    REFUSED(NOT_SUPPORTED, cu.cuDeviceGetLuid(NULL, NULL, 0));
}

/* ---- the log ---- */

static char said[4096];
static int said_lines;

static void listen(void *user, CUlogLevel level, char *line, size_t length)
{
    CHECK(user == said);
    CHECK(level == CU_LOG_LEVEL_ERROR || level == CU_LOG_LEVEL_WARNING);
    said_lines++;
    if (strlen(said) + length + 2 < sizeof(said)) {
        strncat(said, line, length);
        strcat(said, "\n");
    }
}

static void refusals_are_logged(void)
{
    if (cu.cuLogsRegisterCallback == NULL)
        SKIP("the driver has no log calls (CUDA 12.9)");
    CUlogsCallbackHandle handle;
    OK(cu.cuLogsRegisterCallback(listen, said, &handle));
    CUdevice device;
    REFUSED(INVALID_DEVICE, cu.cuDeviceGet(&device, 4711));
    CHECK(strstr(said, "Returning 101 (CUDA_ERROR_INVALID_DEVICE) from cuDeviceGet") !=
          NULL);
    if (driver_is_soft)
        CHECK(strstr(said, "4711") != NULL);
    OK(cu.cuLogsUnregisterCallback(handle));
    const int before = said_lines;
    REFUSED(INVALID_DEVICE, cu.cuDeviceGet(&device, 4711));
    CHECK(said_lines == before);
    REFUSED(INVALID_VALUE, cu.cuLogsRegisterCallback(NULL, NULL, &handle));
}

static void log_can_be_read_later(void)
{
    if (cu.cuLogsCurrent == NULL)
        SKIP("the driver has no log calls (CUDA 12.9)");
    CUlogIterator at;
    CUdevice device;
    static char text[25600];
    size_t bytes = sizeof(text);
    OK(cu.cuLogsCurrent(&at, 0));
    OK(cu.cuLogsDumpToMemory(&at, text, &bytes, 0));
    CHECK(bytes == 0);
    REFUSED(INVALID_DEVICE, cu.cuDeviceGet(&device, 4712));
    bytes = sizeof(text);
    OK(cu.cuLogsDumpToMemory(&at, text, &bytes, 0));
    CHECK(bytes > 0 && strlen(text) == bytes);
    CHECK(strstr(text, "CUDA_ERROR_INVALID_DEVICE") != NULL);
    bytes = sizeof(text);
    OK(cu.cuLogsDumpToMemory(&at, text, &bytes, 0));
    CHECK(bytes == 0);
    bytes = 4;
    REFUSED(INVALID_VALUE, cu.cuLogsDumpToMemory(NULL, text, &bytes, 0));
    CHECK(bytes == 0);
    REFUSED(INVALID_VALUE, cu.cuLogsCurrent(NULL, 0));
    OK(cu.cuLogsCurrent(&at, 1)); /* an H100's driver looks at no flag */
}

/* ---- fork ---- */

static void a_forked_child_has_no_driver(void)
{
    const pid_t child = fork();
    if (child == 0) {
        int count;
        const bool right = cu.cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED &&
                           cu.cuInit(0) == CUDA_ERROR_NOT_INITIALIZED;
        _exit(right ? 0 : 1);
    }
    int ended = -1;
    CHECK(waitpid(child, &ended, 0) == child);
    CHECK(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    int count = 0;
    OK(cu.cuDeviceGetCount(&count));
    CHECK(count > 0);
}

static void unknown_tables_are_refused(void)
{
    const void *table = &entry;
    const CUuuid id = {{1, 2, 3}};
    REFUSED(INVALID_VALUE, cu.cuGetExportTable(&table, &id));
    CHECK(table == NULL);
}

int main(void)
{
    DRIVER_OR_SKIP();
    RUN(calls_before_init_are_refused);
    RUN(these_work_before_init);
    RUN(every_error_has_a_name);
    if (!device_wanted()) {
        printf("no device\n");
        return 77;
    }
    RUN(init_takes_no_flags);
    RUN(versions_choose_the_signature);
    RUN(unknown_and_too_old_differ);
    RUN(flags_choose_the_default_stream);
    RUN(every_symbol_is_exported);
    RUN(missing_calls_are_known);
    RUN(refusals_are_logged);
    RUN(log_can_be_read_later);
    if (cu.cuGetExportTable)
        RUN(unknown_tables_are_refused);
    RUN(a_forked_child_has_no_driver);
    return test_done();
}
