// SPDX-License-Identifier: Apache-2.0
/* Launching kernels: from PTX to bytes, and every argument that can be wrong. */
#include "driver.h"
#include "kernels.h"

static CUmodule module;
static CUfunction nothing, add, store, small, shared;

static void kernel_from_ptx_to_bytes(void)
{
    enum { N = 1000 };
    static float a[N], b[N], c[N];
    for (int i = 0; i < N; i++) {
        a[i] = (float)i;
        b[i] = 2.0f * (float)i;
    }
    CUdeviceptr da, db, dc;
    OK(cu.cuMemAlloc(&da, sizeof(a)));
    OK(cu.cuMemAlloc(&db, sizeof(b)));
    OK(cu.cuMemAlloc(&dc, sizeof(c)));
    OK(cu.cuMemcpyHtoD(da, a, sizeof(a)));
    OK(cu.cuMemcpyHtoD(db, b, sizeof(b)));
    unsigned n = N;
    void *params[] = {&dc, &da, &db, &n};
    OK(cu.cuLaunchKernel(add, (N + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    OK(cu.cuMemcpyDtoH(c, dc, sizeof(c)));
    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += c[i] != 3.0f * (float)i;
    CHECK(wrong == 0);
    OK(cu.cuMemFree(da));
    OK(cu.cuMemFree(db));
    OK(cu.cuMemFree(dc));
}

static CUresult launch_with(CUfunction f, unsigned grid, unsigned block, unsigned bytes,
                            void **params)
{
    return cu.cuLaunchKernel(f, grid, 1, 1, block, 1, 1, bytes, NULL, params, NULL);
}

static void wrong_dimensions_are_refused(void)
{
    REFUSED(INVALID_VALUE, launch_with(nothing, 0, 1, 0, NULL));
    REFUSED(INVALID_VALUE, launch_with(nothing, 1, 0, 0, NULL));
    REFUSED(INVALID_VALUE, launch_with(nothing, 1, 1025, 0, NULL));
    REFUSED(INVALID_VALUE, launch_with(nothing, 0x80000000u, 1, 0, NULL));
    REFUSED(INVALID_VALUE,
            cu.cuLaunchKernel(nothing, 1, 65536, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    REFUSED(INVALID_VALUE,
            cu.cuLaunchKernel(nothing, 1, 1, 65536, 1, 1, 1, 0, NULL, NULL, NULL));
    REFUSED(INVALID_VALUE,
            cu.cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 65, 0, NULL, NULL, NULL));
    REFUSED(INVALID_VALUE,
            cu.cuLaunchKernel(nothing, 1, 1, 1, 32, 32, 2, 0, NULL, NULL, NULL));
    OK(cu.cuLaunchKernel(nothing, 1, 1, 1, 16, 16, 4, 0, NULL, NULL, NULL));
    OK(cu.cuCtxSynchronize());
}

static void launch_bounds_are_held(void)
{
    CUdeviceptr p = 0;
    void *params[] = {&p};
    OK(launch_with(small, 1, 64, 0, params));
    REFUSED(INVALID_VALUE, launch_with(small, 1, 65, 0, params));
    OK(cu.cuCtxSynchronize());
}

static void shared_memory_has_limits(void)
{
    CUdeviceptr p;
    OK(cu.cuMemAlloc(&p, 4));
    void *params[] = {&p};
    int fixed = 0, dynamic = 0;
    OK(cu.cuFuncGetAttribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, shared));
    CHECK(fixed == 1024);
    OK(cu.cuFuncGetAttribute(&dynamic, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                             shared));
    CHECK(dynamic == 49152 - 1024);
    OK(launch_with(shared, 1, 1, 49152 - 1024, params));
    REFUSED(INVALID_VALUE, launch_with(shared, 1, 1, 49152 - 1023, params));
    int optin = 0;
    OK(cu.cuDeviceGetAttribute(&optin,
                               CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0));
    REFUSED(INVALID_VALUE,
            cu.cuFuncSetAttribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                  optin));
    OK(cu.cuFuncSetAttribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                             optin - 1024));
    OK(launch_with(shared, 1, 1, (unsigned)optin - 1024, params));
    REFUSED(INVALID_VALUE, launch_with(shared, 1, 1, (unsigned)optin - 1023, params));
    unsigned value = 0;
    OK(cu.cuMemcpyDtoH(&value, p, 4));
    CHECK(value == 42);
    OK(cu.cuMemFree(p));
}

/* Shared and local variables lie where their alignment says, in every thread: the kernel
 * ors the addresses that two variables and a function's have. */
static void memory_is_aligned(void)
{
    static const char text[] =
        ".version 7.0\n.target sm_80\n.address_size 64\n"
        ".shared .align 1024 .b8 s[1024];\n"
        ".func (.reg .b64 %out) deep(.reg .b64 %in)\n{\n.local .align 512 .b8 f[8];\n"
        ".reg .b64 %a;\nst.local.u64 [f], %in;\nmov.u64 %a, f;\n"
        "cvta.local.u64 %a, %a;\nand.b64 %out, %a, 511;\nret;\n}\n"
        ".visible .entry where(.param .u64 p)\n{\n.local .align 256 .b8 l[8];\n"
        ".reg .b64 %p, %a, %b, %c;\nld.param.u64 %p, [p];\nst.local.u64 [l], %p;\n"
        "st.shared.u64 [s], %p;\nmov.u64 %a, l;\ncvta.local.u64 %a, %a;\n"
        "and.b64 %a, %a, 255;\nmov.u64 %b, s;\ncvta.shared.u64 %b, %b;\n"
        "and.b64 %b, %b, 1023;\nor.b64 %a, %a, %b;\ncall (%c), deep, (%p);\n"
        "or.b64 %a, %a, %c;\natom.global.or.b64 %b, [%p], %a;\nret;\n}\n";
    CUmodule aligned;
    CUfunction where;
    CUdeviceptr p;
    unsigned long long low = ~0ull;
    OK(cu.cuModuleLoadData(&aligned, text));
    OK(cu.cuModuleGetFunction(&where, aligned, "where"));
    OK(cu.cuMemAlloc(&p, 8));
    void *params[] = {&p};
    for (unsigned threads = 1; threads < 100; threads += 33) {
        OK(cu.cuMemsetD32(p, 0, 2));
        OK(launch_with(where, 3, threads, 0, params));
        OK(cu.cuMemcpyDtoH(&low, p, 8));
        CHECK(low == 0);
    }
    OK(cu.cuMemFree(p));
    OK(cu.cuModuleUnload(aligned));
}

static void parameters_come_one_way(void)
{
    CUdeviceptr p;
    OK(cu.cuMemAlloc(&p, 4));
    struct {
        CUdeviceptr p;
        unsigned v;
    } packed = {p, 77};
    size_t bytes = 12; /* what the parameters take, without the tail */
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes, CU_LAUNCH_PARAM_END};
    OK(cu.cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    unsigned value = 0;
    OK(cu.cuMemcpyDtoH(&value, p, 4));
    CHECK(value == 77);
    unsigned v = 78;
    void *params[] = {&p, &v};
    REFUSED(INVALID_VALUE,
            cu.cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, params, extra));
    OK(cu.cuMemcpyDtoH(&value, p, 4));
    CHECK(value == 77);
    /* The values are read during the call. */
    OK(launch_with(store, 1, 1, 0, params));
    v = 79;
    OK(cu.cuMemcpyDtoH(&value, p, 4));
    CHECK(value == 78);
    OK(cu.cuMemFree(p));
}

static void launch_by_config(void)
{
    CUdeviceptr p;
    OK(cu.cuMemAlloc(&p, 4));
    unsigned v = 5;
    void *params[] = {&p, &v};
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                   .value.cooperative = 1};
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 1,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = &attribute,
                             .numAttrs = 1};
    OK(cu.cuLaunchKernelEx(&config, store, params, NULL));
    unsigned value = 0;
    OK(cu.cuMemcpyDtoH(&value, p, 4));
    CHECK(value == 5);
    config.gridDimX = 1u << 24; /* more than any device holds at once */
    REFUSED(COOPERATIVE_LAUNCH_TOO_LARGE,
            cu.cuLaunchKernelEx(&config, store, params, NULL));
    REFUSED(
        COOPERATIVE_LAUNCH_TOO_LARGE,
        cu.cuLaunchCooperativeKernel(store, 1u << 24, 1, 1, 1, 1, 1, 0, NULL, params));
    OK(cu.cuMemFree(p));
}

static void count_call(void *user)
{
    ++*(int *)user;
}

static void host_functions_run_in_order(void)
{
    int calls = 0;
    CUstream stream;
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 10; i++)
        OK(cu.cuLaunchHostFunc(stream, count_call, &calls));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(calls == 10);
    REFUSED(INVALID_VALUE, cu.cuLaunchHostFunc(stream, NULL, NULL));
    OK(cu.cuStreamDestroy(stream));
}

static CUresult inside;
static void call_the_driver(void *user)
{
    CUdeviceptr p;
    inside = cu.cuMemAlloc(&p, 4);
    (void)user;
}

static void host_functions_may_not_call_the_driver(void)
{
    OK(cu.cuLaunchHostFunc(NULL, call_the_driver, NULL));
    OK(cu.cuCtxSynchronize());
    CHECK(inside == CUDA_ERROR_NOT_PERMITTED);
}

static void wrong_functions_are_refused(void)
{
    REFUSED(INVALID_HANDLE, launch_with(NULL, 1, 1, 0, NULL));
    if (!driver_is_soft)
        SKIP("a garbage handle crashes the real driver");
    int garbage[64] = {0};
    REFUSED(INVALID_HANDLE, launch_with((CUfunction)garbage, 1, 1, 0, NULL));
    REFUSED(INVALID_HANDLE, launch_with((CUfunction)8, 1, 1, 0, NULL));
    REFUSED(INVALID_HANDLE, launch_with((CUfunction)module, 1, 1, 0, NULL));
}

int main(void)
{
    DEVICE_OR_SKIP();
    use_primary();
    OK(cu.cuModuleLoadData(&module, kernels_ptx));
    OK(cu.cuModuleGetFunction(&nothing, module, "nothing"));
    OK(cu.cuModuleGetFunction(&add, module, "add"));
    OK(cu.cuModuleGetFunction(&store, module, "store"));
    OK(cu.cuModuleGetFunction(&small, module, "small"));
    OK(cu.cuModuleGetFunction(&shared, module, "shared"));
    if (shared == NULL)
        return 1;
    RUN(kernel_from_ptx_to_bytes);
    RUN(wrong_dimensions_are_refused);
    RUN(launch_bounds_are_held);
    RUN(shared_memory_has_limits);
    RUN(memory_is_aligned);
    RUN(parameters_come_one_way);
    RUN(launch_by_config);
    RUN(host_functions_run_in_order);
    RUN(host_functions_may_not_call_the_driver);
    RUN(wrong_functions_are_refused);
    OK(cu.cuModuleUnload(module));
    return test_done();
}
