// SPDX-License-Identifier: Apache-2.0
/* SOFTCUDA_CHECK=memory: accesses that no page protection catches end the kernel with
 * error 700, and the log says which bytes of which allocation they touched. */
#include "driver.h"
#include "kernels.h"

static char log_text[4096];

static void CUDA_CB note(void *user, CUlogLevel level, char *message, size_t bytes)
{
    (void)user, (void)level;
    const size_t have = strlen(log_text);
    snprintf(log_text + have, sizeof(log_text) - have, "%.*s\n", (int)bytes, message);
}

/* Stores a word at `at` in a fresh context, and gives what comes of it. */
static CUresult store_at(CUdeviceptr (*address)(CUdeviceptr p))
{
    CUcontext context;
    CUmodule module;
    CUfunction store;
    CUdeviceptr p;
    unsigned value = 5;
    OK(cu.cuCtxCreate(&context, NULL, 0, 0));
    OK(cu.cuModuleLoadData(&module, kernels_ptx));
    OK(cu.cuModuleGetFunction(&store, module, "store"));
    OK(cu.cuMemAlloc(&p, 100));
    CUdeviceptr at = address(p);
    void *params[] = {&at, &value};
    log_text[0] = '\0';
    OK(cu.cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    const CUresult result = cu.cuCtxSynchronize();
    OK(cu.cuCtxDestroy(context));
    return result;
}

static CUdeviceptr last_word(CUdeviceptr p)
{
    return p + 96;
}

static CUdeviceptr behind_the_end(CUdeviceptr p)
{
    return p + 100;
}

static CUdeviceptr before_the_start(CUdeviceptr p)
{
    return p - 4;
}

static CUdeviceptr freed(CUdeviceptr p)
{
    OK(cu.cuMemFree(p));
    return p + 8;
}

static CUdeviceptr odd(CUdeviceptr p)
{
    return p + 2;
}

static unsigned host_word;

static CUdeviceptr of_the_host(CUdeviceptr p)
{
    (void)p;
    return (CUdeviceptr)(uintptr_t)&host_word;
}

static void good_accesses_pass(void)
{
    CHECK(store_at(last_word) == CUDA_SUCCESS);
}

static void the_byte_behind_the_end_is_caught(void)
{
    REFUSED(ILLEGAL_ADDRESS, store_at(behind_the_end));
    CHECK(strstr(log_text, "store") != NULL);
    CHECK(strstr(log_text, "past the end of the allocation of 100 bytes") != NULL);
    REFUSED(ILLEGAL_ADDRESS, store_at(before_the_start));
}

static void freed_memory_is_caught(void)
{
    REFUSED(ILLEGAL_ADDRESS, store_at(freed));
    CHECK(strstr(log_text, "that was freed") != NULL);
}

static void host_memory_is_caught(void)
{
    REFUSED(ILLEGAL_ADDRESS, store_at(of_the_host));
    CHECK(strstr(log_text, "host memory") != NULL);
    CHECK(host_word == 0);
    OK(cu.cuMemHostRegister(&host_word, sizeof(host_word), 0));
    CHECK(store_at(of_the_host) == CUDA_SUCCESS);
    CHECK(host_word == 5);
    OK(cu.cuMemHostUnregister(&host_word));
}

static void misaligned_accesses_are_caught(void)
{
    REFUSED(MISALIGNED_ADDRESS, store_at(odd));
}

int main(void)
{
    setenv("SOFTCUDA_CHECK", "memory", 1);
    DEVICE_OR_SKIP();
    if (!driver_is_soft) {
        printf("check mode is softcuda's\n");
        return 77;
    }
    CUlogsCallbackHandle handle;
    CUcontext context = use_primary();
    OK(cu.cuLogsRegisterCallback(note, NULL, &handle));
    RUN(good_accesses_pass);
    RUN(the_byte_behind_the_end_is_caught);
    RUN(freed_memory_is_caught);
    RUN(host_memory_is_caught);
    RUN(misaligned_accesses_are_caught);
    OK(cu.cuLogsUnregisterCallback(handle));
    OK(cu.cuCtxSetCurrent(context));
    return test_done();
}
