// SPDX-License-Identifier: Apache-2.0
/* Texture objects come and go while kernels read through others: each kernel reads what its
 * own handle meant when it was launched. */
#include <pthread.h>
#include <stdlib.h>

#include "driver.h"

enum { THREADS = 4, ROUNDS = 60, QUEUED = 120, WORDS = 128 };

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry fetch(.param .u64 h, .param .u64 po)\n{\n"
    ".reg .b64 %h, %o, %a; .reg .b32 %t, %d<4>;\n"
    "ld.param.u64 %h, [h]; ld.param.u64 %o, [po]; mov.u32 %t, %tid.x;\n"
    "tex.1d.v4.u32.s32 {%d0, %d1, %d2, %d3}, [%h, {%t}];\n"
    "mul.wide.u32 %a, %t, 4; add.u64 %o, %o, %a; st.global.u32 [%o], %d0; ret;\n}\n";

static CUcontext context;
static CUfunction fetch;

static CUtexObject texture_over(CUdeviceptr memory)
{
    CUtexObject texture = 0;
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR};
    resource.res.linear.devPtr = memory;
    resource.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT32;
    resource.res.linear.numChannels = 1;
    resource.res.linear.sizeInBytes = 4 * WORDS;
    CUDA_TEXTURE_DESC how = {.flags = CU_TRSF_READ_AS_INTEGER};
    OK(cu.cuTexObjectCreate(&texture, &resource, &how, NULL));
    return texture;
}

static void launch(CUtexObject texture, CUdeviceptr to, CUstream stream)
{
    void *params[] = {&texture, &to};
    OK(cu.cuLaunchKernel(fetch, 1, 1, 1, WORDS, 1, 1, 0, stream, params, NULL));
}

static void *reads_its_own(void *argument)
{
    const uint32_t own = *(const uint32_t *)argument;
    uint32_t got[WORDS];
    CUdeviceptr from, to;
    CUstream stream;
    OK(cu.cuCtxSetCurrent(context));
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu.cuMemAlloc(&from, sizeof(got)));
    OK(cu.cuMemAlloc(&to, sizeof(got)));
    OK(cu.cuMemsetD32Async(from, own, WORDS, stream));
    for (int i = 0; i < ROUNDS; i++) {
        OK(cu.cuMemsetD32Async(to, 0, WORDS, stream));
        const CUtexObject texture = texture_over(from);
        launch(texture, to, stream);
        OK(cu.cuMemcpyDtoHAsync(got, to, sizeof(got), stream));
        OK(cu.cuStreamSynchronize(stream));
        OK(cu.cuTexObjectDestroy(texture));
        CHECK(got[0] == own && got[WORDS - 1] == own);
    }
    OK(cu.cuMemFree(from));
    OK(cu.cuMemFree(to));
    OK(cu.cuStreamDestroy(stream));
    return NULL;
}

static void threads_read_their_own(void)
{
    static uint32_t values[THREADS];
    pthread_t threads[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        values[i] = 1000 + i;
        CHECK(pthread_create(&threads[i], NULL, reads_its_own, &values[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

/* Nothing promises this on a GPU; what is launched and destroyed at once is common. Check
 * mode says of it that the object was destroyed. */
static void what_is_queued_reads_what_it_was_launched_with(void)
{
    if (!driver_is_soft || getenv("SOFTCUDA_CHECK"))
        return;
    static uint32_t got[QUEUED];
    CUdeviceptr from, to, flag;
    CUstream stream;
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu.cuMemAlloc(&from, 512 * QUEUED));
    OK(cu.cuMemAlloc(&to, 512 * QUEUED));
    OK(cu.cuMemAlloc(&flag, 4));
    OK(cu.cuMemsetD32(flag, 0, 1));
    for (uint32_t i = 0; i < QUEUED; i++)
        OK(cu.cuMemsetD32(from + 512 * i, i, WORDS));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuStreamWaitValue32(stream, flag, 1, CU_STREAM_WAIT_VALUE_EQ));
    for (uint32_t i = 0; i < QUEUED; i++) {
        const CUtexObject texture = texture_over(from + 512 * i);
        launch(texture, to + 512 * i, stream);
        OK(cu.cuTexObjectDestroy(texture));
    }
    OK(cu.cuMemsetD32(flag, 1, 1));
    OK(cu.cuStreamSynchronize(stream));
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < QUEUED; i++) {
        OK(cu.cuMemcpyDtoH(&got[i], to + 512 * i, 4));
        wrong += got[i] != i;
    }
    CHECK(wrong == 0);
    OK(cu.cuStreamDestroy(stream));
    OK(cu.cuMemFree(from));
    OK(cu.cuMemFree(to));
    OK(cu.cuMemFree(flag));
}

int main(void)
{
    CUmodule module;
    DEVICE_OR_SKIP();
    context = use_primary();
    OK(cu.cuModuleLoadData(&module, text));
    OK(cu.cuModuleGetFunction(&fetch, module, "fetch"));
    RUN(threads_read_their_own);
    RUN(what_is_queued_reads_what_it_was_launched_with);
    return test_done();
}
