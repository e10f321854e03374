// SPDX-License-Identifier: Apache-2.0
/* Kernels that launch kernels (dynamic parallelism), by the driver's API: PTX that is linked
 * with CUDA's libcudadevrt.a. A GPU needs that file; softcuda takes it, and does without. */
#include <stdio.h>
#include <unistd.h>

#include "driver.h"

enum { TAIL = 3, FORGET = 4 };

/* parent(out, grid, block, stream, times, n): launches child(out, n) so often; out[0] gets
 * what the children add, out[1] the last error and out[2] how many there were. seen(out):
 * out[3] = out[0]. faulty(): a child that writes to 0. */
static const char text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f,\n"
    "    .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);\n"
    ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 "
    "s);\n"
    ".extern .func (.param .b32 r) __cudaCDP2GetLastError();\n"
    ".visible .entry child(.param .u64 out, .param .u32 n)\n{\n"
    "    .reg .b64 %d<2>; .reg .b32 %r<3>;\n"
    "    ld.param.u64 %d1, [out]; ld.param.u32 %r1, [n];\n"
    "    atom.add.u32 %r2, [%d1], %r1;\n    ret;\n}\n"
    ".visible .entry seen(.param .u64 out)\n{\n"
    "    .reg .b64 %d<2>; .reg .b32 %r<2>;\n"
    "    ld.param.u64 %d1, [out]; ld.u32 %r1, [%d1]; st.u32 [%d1+12], %r1;\n    ret;\n}\n"
    ".visible .entry parent(.param .u64 out, .param .u32 grid, .param .u32 block,\n"
    "                       .param .u64 stream, .param .u32 times, .param .u32 n)\n{\n"
    "    .reg .b64 %d<5>; .reg .b32 %r<9>; .reg .pred %p<4>;\n"
    "    ld.param.u64 %d1, [out]; ld.param.u32 %r1, [grid]; ld.param.u32 %r2, [block];\n"
    "    ld.param.u64 %d2, [stream]; ld.param.u32 %r3, [times]; ld.param.u32 %r4, [n];\n"
    "    mov.u32 %r8, 1;\n"
    "again:\n"
    "    setp.eq.u32 %p1, %r3, 0;\n    @%p1 bra over;\n    sub.u32 %r3, %r3, 1;\n"
    "    mov.u64 %d3, child;\n    {\n"
    "    .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12];\n"
    "    .param .b32 s; .param .b64 r;\n"
    "    st.param.b64 [f], %d3; st.param.b32 [g], %r1; st.param.b32 [g+4], %r8;\n"
    "    st.param.b32 [g+8], %r8; st.param.b32 [b], %r2; st.param.b32 [b+4], %r8;\n"
    "    st.param.b32 [b+8], %r8; st.param.b32 [s], 0;\n"
    "    call.uni (r), __cudaCDP2GetParameterBufferV2, (f, g, b, s);\n"
    "    ld.param.b64 %d4, [r];\n    }\n"
    "    setp.eq.u64 %p2, %d4, 0;\n    @%p2 bra error;\n"
    "    st.u64 [%d4], %d1; st.u32 [%d4+8], %r4;\n    {\n"
    "    .param .b64 q; .param .b64 s; .param .b32 r;\n"
    "    st.param.b64 [q], %d4; st.param.b64 [s], %d2;\n"
    "    call.uni (r), __cudaCDP2LaunchDeviceV2, (q, s);\n    ld.param.b32 %r5, [r];\n   "
    " }\n"
    "error:\n    {\n    .param .b32 r;\n"
    "    call.uni (r), __cudaCDP2GetLastError, ();\n    ld.param.b32 %r5, [r];\n    }\n"
    "    setp.eq.u32 %p3, %r5, 0;\n    @%p3 bra again;\n"
    "    st.u32 [%d1+4], %r5;\n    add.u64 %d3, %d1, 8;\n"
    "    atom.add.u32 %r6, [%d3], 1;\n    bra again;\nover:\n    ret;\n}\n";

static CUmodule module;
static CUfunction parent, seen;
static CUdeviceptr out;
static uint32_t found[4];

static bool find_library(char *path, size_t room)
{
    const char *const places[] = {getenv("CUDA_HOME"), "/usr/local/cuda"};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (!places[i])
            continue;
        snprintf(path, room, "%s/lib64/libcudadevrt.a", places[i]);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

/* False: a GPU, and no library for it. */
static bool open_module(void)
{
    char path[512];
    CUlinkState link = NULL;
    void *image = NULL;
    size_t bytes = 0;
    const bool has_library = find_library(path, sizeof(path));
    if (!has_library && !driver_is_soft)
        return false;
    OK(cu.cuLinkCreate(0, NULL, NULL, &link));
    OK(cu.cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)text, sizeof(text),
                        "nested", 0, NULL, NULL));
    if (has_library)
        OK(cu.cuLinkAddFile(link, CU_JIT_INPUT_LIBRARY, path, 0, NULL, NULL));
    OK(cu.cuLinkComplete(link, &image, &bytes));
    OK(cu.cuModuleLoadData(&module, image));
    OK(cu.cuLinkDestroy(link));
    OK(cu.cuModuleGetFunction(&parent, module, "parent"));
    OK(cu.cuModuleGetFunction(&seen, module, "seen"));
    OK(cu.cuMemAlloc(&out, sizeof(found)));
    return true;
}

typedef struct asked {
    CUdeviceptr out;
    uint32_t grid, block;
    uint64_t stream;
    uint32_t times, n;
} asked;

static CUresult launch(asked *a, uint32_t threads)
{
    void *params[] = {&a->out, &a->grid, &a->block, &a->stream, &a->times, &a->n};
    a->out = out;
    return cu.cuLaunchKernel(parent, 1, 1, 1, threads, 1, 1, 0, NULL, params, NULL);
}

/* What comes next in the stream sees all that the parent has launched. */
static void run(asked a, uint32_t threads)
{
    void *params[] = {&out};
    OK(cu.cuMemsetD32(out, 0, 4));
    OK(launch(&a, threads));
    OK(cu.cuLaunchKernel(seen, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cu.cuMemcpyDtoH(found, out, sizeof(found)));
}

static void a_kernel_is_over_when_its_children_are(void)
{
    const uint64_t streams[] = {0, TAIL, FORGET};
    for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
        run((asked){.grid = 5, .block = 64, .stream = streams[i], .times = 7, .n = 2}, 3);
        CHECK(found[0] == 3 * 7 * 5 * 64 * 2);
        CHECK(found[3] == found[0]);
        CHECK(found[1] == 0 && found[2] == 0);
    }
}

static void a_wrong_launch_is_an_error_of_its_thread(void)
{
    run((asked){.grid = 0, .block = 1, .times = 1, .n = 1}, 1);
    CHECK(found[0] == 0 && found[1] == 9 && found[2] == 1);
    run((asked){.grid = 1, .block = 1025, .times = 2, .n = 1}, 1);
    CHECK(found[0] == 0 && found[1] == 9 && found[2] == 2);
    run((asked){.grid = 1, .block = 1, .stream = 5, .times = 1, .n = 1}, 1);
    CHECK(found[0] == 0 && found[1] == 1 && found[2] == 1);
}

static void so_many_launches_may_be_pending(void)
{
    size_t limit = 0;
    OK(cu.cuCtxGetLimit(&limit, CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT));
    CHECK(limit == 2048);
    OK(cu.cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 1));
    OK(cu.cuCtxGetLimit(&limit, CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT));
    CHECK(limit == 32);
    run((asked){.grid = 1, .block = 1, .stream = TAIL, .times = 40, .n = 1}, 1);
    CHECK(found[0] == 32 && found[1] == 69 && found[2] == 8);
    OK(cu.cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048));
    run((asked){.grid = 1, .block = 1, .stream = TAIL, .times = 40, .n = 1}, 1);
    CHECK(found[0] == 40 && found[2] == 0);
}

static CUgraphNode add_parent(CUgraph graph, asked *a)
{
    void *params[] = {&a->out, &a->grid, &a->block, &a->stream, &a->times, &a->n};
    CUDA_KERNEL_NODE_PARAMS node = {.func = parent,
                                    .gridDimX = 1,
                                    .gridDimY = 1,
                                    .gridDimZ = 1,
                                    .blockDimX = 1,
                                    .blockDimY = 1,
                                    .blockDimZ = 1,
                                    .kernelParams = params};
    CUgraphNode added = NULL;
    a->out = out;
    OK(cu.cuGraphAddKernelNode(&added, graph, NULL, 0, &node));
    return added;
}

static void a_node_is_over_when_its_children_are(void)
{
    asked a = {.grid = 4, .block = 32, .times = 5, .n = 3};
    void *params[] = {&out};
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode second = NULL;
    OK(cu.cuGraphCreate(&graph, 0));
    CUgraphNode first = add_parent(graph, &a);
    CUDA_KERNEL_NODE_PARAMS node = {.func = seen,
                                    .gridDimX = 1,
                                    .gridDimY = 1,
                                    .gridDimZ = 1,
                                    .blockDimX = 1,
                                    .blockDimY = 1,
                                    .blockDimZ = 1,
                                    .kernelParams = params};
    OK(cu.cuGraphAddKernelNode(&second, graph, &first, 1, &node));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (uint32_t i = 0; i < 5; i++) {
        OK(cu.cuMemsetD32(out, 0, 4));
        OK(cu.cuGraphLaunch(exec, NULL));
        OK(cu.cuMemcpyDtoH(found, out, sizeof(found)));
        CHECK(found[0] == 4 * 32 * 5 * 3 && found[3] == found[0]);
    }
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

static void where_such_kernels_are_refused(void)
{
    asked a = {.grid = 1, .block = 1, .times = 1, .n = 1};
    void *params[] = {&out, &a.grid, &a.block, &a.stream, &a.times, &a.n};
    REFUSED(NOT_PERMITTED,
            cu.cuLaunchCooperativeKernel(parent, 1, 1, 1, 1, 1, 1, 0, NULL, params));
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    OK(cu.cuGraphCreate(&graph, 0));
    const CUgraphNode node = add_parent(graph, &a);
    CUDA_GRAPH_INSTANTIATE_PARAMS how = {.flags =
                                             CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH};
    REFUSED(INVALID_VALUE, cu.cuGraphInstantiateWithParams(&exec, graph, &how));
    CHECK(how.result_out == CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
    CHECK(how.hErrNode_out == node);
    OK(cu.cuGraphDestroy(graph));
}

/* Last: the context is over after it. */
static void a_fault_of_a_child_is_one_of_the_context(void)
{
    asked a = {.grid = 1, .block = 1, .times = 1, .n = 1};
    void *params[] = {&a.out, &a.grid, &a.block, &a.stream, &a.times, &a.n};
    OK(cu.cuMemFree(out));
    a.out = 0;
    OK(cu.cuLaunchKernel(parent, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    REFUSED(ILLEGAL_ADDRESS, cu.cuCtxSynchronize());
    REFUSED(ILLEGAL_ADDRESS, cu.cuCtxSynchronize());
}

int main(void)
{
    DEVICE_OR_SKIP();
    use_primary();
    if (!open_module()) {
        printf("no libcudadevrt.a: CUDA_HOME says where the toolkit is\n");
        return 77;
    }
    RUN(a_kernel_is_over_when_its_children_are);
    RUN(a_wrong_launch_is_an_error_of_its_thread);
    RUN(so_many_launches_may_be_pending);
    RUN(a_node_is_over_when_its_children_are);
    RUN(where_such_kernels_are_refused);
    RUN(a_fault_of_a_child_is_one_of_the_context);
    return test_done();
}
