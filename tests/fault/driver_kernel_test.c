// SPDX-License-Identifier: Apache-2.0
/* Kernels that loop forever, assert, trap or read what is not theirs, through the driver
 * API: the error has the real driver's code, the log says where, the process lives. */
#include "conformance/driver.h"
#include "conformance/kernels.h"

static const char loop_ptx[] =
    PTX_HEAD ".visible .entry endless(.param .u64 p)\n"
             "{\n"
             "  .reg .pred %q; .reg .b32 %r<3>; .reg .b64 %d;\n"
             "  ld.param.u64 %d, [p];\n"
             "again:\n"
             "  ld.volatile.global.u32 %r1, [%d];\n"
             "  setp.eq.u32 %q, %r1, 0;\n"
             "  @%q bra again;\n"
             "  ret;\n"
             "}\n";

/* assert(false) of line 77 in "it.cu", function "check". */
static const char assert_ptx[] = PTX_HEAD
    ".global .align 1 .b8 what[4] = {109, 97, 98, 0};\n"
    ".global .align 1 .b8 file[6] = {105, 116, 46, 99, 117, 0};\n"
    ".global .align 1 .b8 func[6] = {99, 104, 101, 99, 107, 0};\n"
    ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c,\n"
    "                           .param .b64 d, .param .b64 e);\n"
    ".visible .entry asserts()\n"
    "{\n"
    "  .reg .pred %q; .reg .b32 %r<4>; .reg .b64 %d<8>;\n"
    "  mov.u32 %r1, %tid.x; setp.ne.u32 %q, %r1, 5;\n"
    "  @%q bra fine;\n"
    "  mov.u64 %d1, what; cvta.global.u64 %d2, %d1;\n"
    "  mov.u64 %d3, file; cvta.global.u64 %d4, %d3;\n"
    "  mov.u64 %d5, func; cvta.global.u64 %d6, %d5;\n"
    "  mov.u32 %r2, 77; mov.u64 %d7, 1;\n"
    "  { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;\n"
    "    st.param.b64 [a], %d2; st.param.b64 [b], %d4; st.param.b32 [c], %r2;\n"
    "    st.param.b64 [d], %d6; st.param.b64 [e], %d7;\n"
    "    call.uni __assertfail, (a, b, c, d, e); }\n"
    "fine:\n"
    "  ret;\n"
    "}\n";

/* Launches a kernel that writes 1, and waits for that. */
static const char parent_ptx[] = PTX_HEAD
    ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f,\n"
    "    .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);\n"
    ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, "
    ".param .b64 s);\n"
    ".visible .entry child(.param .u64 p)\n{\n  .reg .b64 %d; .reg .b32 %r;\n"
    "  ld.param.u64 %d, [p]; mov.u32 %r, 1; st.global.u32 [%d], %r; ret;\n}\n"
    ".visible .entry parent(.param .u64 p)\n{\n"
    "  .reg .pred %q; .reg .b32 %r<3>; .reg .b64 %d<4>;\n"
    "  ld.param.u64 %d1, [p]; mov.u64 %d2, child; mov.u32 %r1, 1;\n"
    "  { .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12];\n"
    "    .param .b32 s; .param .b64 r;\n"
    "    st.param.b64 [f], %d2; st.param.b32 [g], %r1; st.param.b32 [g+4], %r1;\n"
    "    st.param.b32 [g+8], %r1; st.param.b32 [b], %r1; st.param.b32 [b+4], %r1;\n"
    "    st.param.b32 [b+8], %r1; st.param.b32 [s], 0;\n"
    "    call.uni (r), __cudaCDP2GetParameterBufferV2, (f, g, b, s);\n"
    "    ld.param.b64 %d3, [r]; }\n"
    "  st.u64 [%d3], %d1;\n"
    "  { .param .b64 q; .param .b64 s; .param .b32 r;\n"
    "    st.param.b64 [q], %d3; st.param.b64 [s], 4;\n"
    "    call.uni (r), __cudaCDP2LaunchDeviceV2, (q, s); }\n"
    "again:\n"
    "  ld.volatile.global.u32 %r1, [%d1];\n"
    "  setp.eq.u32 %q, %r1, 0;\n"
    "  @%q bra again;\n"
    "  ret;\n}\n";

static char said[8192];

static void listen(void *user, CUlogLevel level, char *line, size_t length)
{
    (void)user, (void)level;
    if (strlen(said) + length + 2 < sizeof(said)) {
        strncat(said, line, length);
        strcat(said, "\n");
    }
}

static CUcontext context;

static CUfunction load(const char *ptx, const char *name)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    said[0] = '\0';
    OK(cu.cuCtxCreate(&context, NULL, 0, 0));
    OK(cu.cuModuleLoadData(&module, ptx));
    OK(cu.cuModuleGetFunction(&function, module, name));
    return function;
}

static CUresult run(CUfunction function, unsigned threads, void **params)
{
    OK(cu.cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, NULL, params, NULL));
    const CUresult result = cu.cuCtxSynchronize();
    OK(cu.cuCtxDestroy(context));
    return result;
}

static void says(const char *wanted)
{
    if (!CHECK(strstr(said, wanted) != NULL))
        fprintf(stderr, "  '%s' is not in: %s\n", wanted, said);
}

static void an_endless_kernel_times_out(void)
{
    CUfunction function = load(loop_ptx, "endless");
    CUdeviceptr p;
    OK(cu.cuMemAlloc(&p, 4));
    OK(cu.cuMemsetD32(p, 0, 1));
    void *params[] = {&p};
    CHECK_IS(run(function, 1, params), CUDA_ERROR_LAUNCH_TIMEOUT);
    says("endless");
}

static void who_waits_for_its_child_is_told_why_it_does_not_come(void)
{
    CUfunction function = load(parent_ptx, "parent");
    CUdeviceptr p;
    OK(cu.cuMemAlloc(&p, 4));
    OK(cu.cuMemsetD32(p, 0, 1));
    void *params[] = {&p};
    CHECK_IS(run(function, 1, params), CUDA_ERROR_LAUNCH_TIMEOUT);
    says("kernel parent");
    says("what it has launched runs after it");
}

static void a_failed_assertion_says_where(void)
{
    CHECK_IS(run(load(assert_ptx, "asserts"), 32, NULL), CUDA_ERROR_ASSERT);
    says("asserts");
    says("it.cu");
    says("77");
    says("mab");
    says("check");
    says("5,0,0");
}

static void a_trap_names_its_kernel(void)
{
    CHECK_IS(run(load(PTX_HEAD ".visible .entry stops() { trap; }\n", "stops"), 1, NULL),
             CUDA_ERROR_LAUNCH_FAILED);
    says("stops");
}

static void a_wild_store_names_kernel_and_address(void)
{
    CUfunction function = load(kernels_ptx, "store");
    CUdeviceptr wild = 0x123450;
    unsigned v = 1;
    void *params[] = {&wild, &v};
    CHECK_IS(run(function, 1, params), CUDA_ERROR_ILLEGAL_ADDRESS);
    says("store");
    says("123450");
}

/* The error belongs to one context; the other one goes on. */
static void another_context_is_not_harmed(void)
{
    CUcontext other = NULL;
    CUdeviceptr p;
    OK(cu.cuCtxCreate(&other, NULL, 0, 0));
    OK(cu.cuMemAlloc(&p, 16));
    CUfunction function = load(kernels_ptx, "store");
    CUdeviceptr wild = 16;
    unsigned v = 1, back = 0;
    void *params[] = {&wild, &v};
    CHECK_IS(run(function, 1, params), CUDA_ERROR_ILLEGAL_ADDRESS);
    OK(cu.cuMemsetD32(p, 9, 4));
    OK(cu.cuMemcpyDtoH(&back, p, 4));
    CHECK(back == 9);
    OK(cu.cuCtxDestroy(other));
}

static void a_kernel_that_cannot_run_says_why(void)
{
    static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                              ".visible .entry good() { ret; }\n"
                              ".visible .entry bad(.param .u64 t)\n"
                              "{\n"
                              "  .reg .b64 %d;\n"
                              "  ld.param.u64 %d, [t];\n"
                              "  wgmma.fence.sync.aligned;\n"
                              "  ret;\n"
                              "}\n";
    CUfunction good = load(ptx, "good"), bad = NULL;
    CUmodule module = NULL;
    OK(cu.cuFuncGetModule(&module, good));
    OK(cu.cuModuleGetFunction(&bad, module, "bad"));
    uint64_t none = 0;
    void *params[] = {&none};
    REFUSED(NOT_SUPPORTED,
            cu.cuLaunchKernel(bad, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    says("bad");
    says("wgmma");
    says("line 9");
    CHECK_IS(run(good, 1, NULL), CUDA_SUCCESS);
}

int main(void)
{
    setenv("SOFTCUDA_KERNEL_TIMEOUT_MS", "200", 1);
    DEVICE_OR_SKIP();
    if (!driver_is_soft) {
        printf("words and limits of softcuda\n");
        return 77;
    }
    CUlogsCallbackHandle handle;
    OK(cu.cuLogsRegisterCallback(listen, NULL, &handle));
    RUN(an_endless_kernel_times_out);
    RUN(who_waits_for_its_child_is_told_why_it_does_not_come);
    RUN(a_failed_assertion_says_where);
    RUN(a_trap_names_its_kernel);
    RUN(a_wild_store_names_kernel_and_address);
    RUN(another_context_is_not_harmed);
    RUN(a_kernel_that_cannot_run_says_why);
    OK(cu.cuLogsUnregisterCallback(handle));
    return test_done();
}
