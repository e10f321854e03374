// SPDX-License-Identifier: Apache-2.0
/* Clusters of several blocks: which shapes a launch may have, what blocks know of their
 * cluster, its barrier, and shared memory of other blocks. Codes and values are an H100's. */
#include "driver.h"

static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    /* Eleven registers by block. */
    ".visible .entry r(.param .u64 po)\n{\n.reg .b64 %o, %a; .reg .b32 %r<16>;\n"
    ".reg .pred %p; ld.param.u64 %o, [po];\n"
    "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ctaid.y; mov.u32 %r2, %nctaid.x;\n"
    "mad.lo.u32 %r3, %r1, %r2, %r0; mul.wide.u32 %a, %r3, 64; add.u64 %o, %o, %a;\n"
    "mov.u32 %r4, %cluster_ctaid.x; mov.u32 %r5, %cluster_ctaid.y;\n"
    "mov.u32 %r6, %cluster_nctaid.x; mov.u32 %r7, %cluster_nctaid.y;\n"
    "mov.u32 %r8, %clusterid.x; mov.u32 %r9, %clusterid.y;\n"
    "mov.u32 %r10, %nclusterid.x; mov.u32 %r11, %nclusterid.y;\n"
    "mov.u32 %r12, %cluster_ctarank; mov.u32 %r13, %cluster_nctarank;\n"
    "mov.pred %p, %is_explicit_cluster; selp.u32 %r14, 1, 0, %p;\n"
    "st.global.u32 [%o], %r4; st.global.u32 [%o+4], %r5; st.global.u32 [%o+8], %r6;\n"
    "st.global.u32 [%o+12], %r7; st.global.u32 [%o+16], %r8;\n"
    "st.global.u32 [%o+20], %r9; st.global.u32 [%o+24], %r10;\n"
    "st.global.u32 [%o+28], %r11; st.global.u32 [%o+32], %r12;\n"
    "st.global.u32 [%o+36], %r13; st.global.u32 [%o+40], %r14; ret;\n}\n"
    ".visible .entry q(.param .u64 po) .reqnctapercluster 2, 1, 1 { ret; }\n"
    ".visible .entry x(.param .u64 po) .explicitcluster { ret; }\n"
    ".visible .entry mx(.param .u64 po) .maxclusterrank 4 { ret; }\n"
    /* Each block reads and adds to the words of the next one. */
    ".visible .entry d(.param .u64 po)\n{\n.reg .b64 %o, %a; .reg .b32 %r<16>;\n"
    ".shared .align 16 .b8 s[256]; ld.param.u64 %o, [po];\n"
    "mov.u32 %r0, %cluster_ctarank; mov.u32 %r1, %cluster_nctarank;\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r2, 1000, %r3;\n"
    "shl.b32 %r5, %r3, 2; mov.u32 %r6, s; add.u32 %r5, %r5, %r6;\n"
    "st.shared.u32 [%r5], %r4;\n"
    "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
    "add.u32 %r7, %r0, 1; rem.u32 %r7, %r7, %r1;\n"
    "mapa.shared::cluster.u32 %r8, %r5, %r7; ld.shared::cluster.u32 %r9, [%r8];\n"
    "atom.shared::cluster.add.u32 %r10, [%r8], 7;\n"
    "barrier.cluster.arrive; barrier.cluster.wait;\n"
    "ld.shared.u32 %r11, [%r5]; getctarank.shared::cluster.u32 %r12, %r8;\n"
    "mad.lo.u32 %r13, %r2, 32, %r3; mul.wide.u32 %a, %r13, 16; add.u64 %o, %o, %a;\n"
    "st.global.u32 [%o], %r9; st.global.u32 [%o+4], %r10;\n"
    "st.global.u32 [%o+8], %r11; st.global.u32 [%o+12], %r12;\n"
    "barrier.cluster.arrive.release; barrier.cluster.wait.acquire; ret;\n}\n"
    /* As cooperative groups write it: generic addresses. The sum over all blocks of the
     * words that each has in dynamic shared memory; block 0 of each stores it. */
    ".extern .shared .align 16 .b8 dyn[];\n"
    ".visible .entry g(.param .u64 po)\n{\n.reg .b64 %o, %a, %b, %c; .reg .b32 %r<12>;\n"
    ".reg .pred %p, %q; ld.param.u64 %o, [po];\n"
    "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %cluster_nctarank;\n"
    "mov.u32 %r9, %clusterid.x; mov.u32 %r10, %cluster_ctarank;\n"
    "mad.lo.u32 %r3, %r1, 64, %r0; mul.wide.u32 %a, %r0, 4;\n"
    "mov.u64 %b, dyn; cvta.shared.u64 %b, %b; add.u64 %b, %b, %a; st.u32 [%b], %r3;\n"
    "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
    "mov.u32 %r4, 0; mov.u32 %r5, 0;\n"
    "L: mapa.u64 %c, %b, %r5; ld.u32 %r6, [%c]; isspacep.shared::cluster %q, %c;\n"
    "@%q add.u32 %r4, %r4, %r6; getctarank.u64 %r7, %c; setp.ne.u32 %q, %r7, %r5;\n"
    "@%q add.u32 %r4, %r4, 1000000; isspacep.global %q, %c;\n"
    "@%q add.u32 %r4, %r4, 2000000; add.u32 %r5, %r5, 1;\n"
    "setp.lt.u32 %p, %r5, %r2; @%p bra L;\n"
    "setp.ne.u32 %p, %r10, 0; @%p bra E;\n"
    "mad.lo.u32 %r8, %r9, 64, %r0; mul.wide.u32 %a, %r8, 4; add.u64 %o, %o, %a;\n"
    "st.global.u32 [%o], %r4;\n"
    "E: barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n"
    /* The odd blocks end at once; the others meet thrice and count. Some threads of a warp
     * wait in a branch of their own. */
    ".visible .entry e(.param .u64 po)\n{\n.reg .b64 %o, %a; .reg .b32 %r<8>;\n"
    ".reg .pred %p; ld.param.u64 %o, [po]; mov.u32 %r0, %cluster_ctarank;\n"
    "and.b32 %r1, %r0, 1; setp.ne.u32 %p, %r1, 0; @%p bra E;\n"
    "mov.u32 %r2, 0; mov.u32 %r3, %tid.x; setp.lt.u32 %p, %r3, 5;\n"
    "L: @%p bra A; barrier.cluster.arrive; barrier.cluster.wait; bra B;\n"
    "A: barrier.cluster.arrive; barrier.cluster.wait;\n"
    "B: add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r3, 5; setp.lt.u32 %p, %r2, 3;\n"
    "@%p bra L; mov.u32 %r4, %ctaid.x; mad.lo.u32 %r4, %r4, 32, %r3;\n"
    "mul.wide.u32 %a, %r4, 4; add.u64 %o, %o, %a; st.global.u32 [%o], %r2;\nE: ret;\n}\n"
    ".visible .entry t(.param .u64 po)\n{\n.reg .b32 %r<2>; .reg .pred %p;\n"
    "mov.u32 %r0, %cluster_ctarank; setp.eq.u32 %p, %r0, 1; @%p trap;\n"
    "barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n";

static CUmodule module;
static CUdeviceptr memory;
static uint32_t out[2048];

typedef struct shape {
    unsigned x, y, z;
} shape;

static CUfunction function(const char *name)
{
    CUfunction f = NULL;
    OK(cu.cuModuleGetFunction(&f, module, name));
    return f;
}

static CUresult launch(CUfunction f, shape grid, shape cluster, unsigned threads,
                       unsigned shared)
{
    CUlaunchAttribute a = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    void *params[] = {&memory};
    a.value.clusterDim.x = cluster.x;
    a.value.clusterDim.y = cluster.y;
    a.value.clusterDim.z = cluster.z;
    const CUlaunchConfig config = {.gridDimX = grid.x,
                                   .gridDimY = grid.y,
                                   .gridDimZ = grid.z,
                                   .blockDimX = threads,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .sharedMemBytes = shared,
                                   .attrs = &a,
                                   .numAttrs = 1};
    return cu.cuLaunchKernelEx(&config, f, params, NULL);
}

static CUresult plain(CUfunction f, unsigned blocks)
{
    void *params[] = {&memory};
    return cu.cuLaunchKernel(f, blocks, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
}

static void read_out(void)
{
    OK(cu.cuCtxSynchronize());
    OK(cu.cuMemcpyDtoH(out, memory, sizeof(out)));
}

static const shape flat = {4, 2, 1};
#define GO(name, ...) launch(function(name), __VA_ARGS__, 32, 0)

static void clusters_divide_the_grid(void)
{
    OK(GO("r", flat, (shape){1, 1, 1}));
    OK(GO("r", flat, (shape){2, 1, 1}));
    REFUSED(INVALID_CLUSTER_SIZE, GO("r", flat, (shape){3, 1, 1}));
    OK(GO("r", ((shape){6, 2, 1}), (shape){3, 1, 1}));
    OK(GO("r", ((shape){8, 1, 1}), (shape){8, 1, 1}));
    REFUSED(INVALID_CLUSTER_SIZE, GO("r", ((shape){16, 1, 1}), (shape){16, 1, 1}));
    REFUSED(INVALID_CLUSTER_SIZE, GO("r", ((shape){9, 1, 1}), (shape){9, 1, 1}));
    REFUSED(INVALID_CLUSTER_SIZE, GO("r", flat, (shape){0, 1, 1}));
    OK(GO("r", flat, (shape){4, 2, 1}));
    REFUSED(INVALID_CLUSTER_SIZE, GO("r", flat, (shape){4, 2, 2}));
    OK(cu.cuCtxSynchronize());
}

static void kernels_say_what_they_take(void)
{
    REFUSED(INVALID_CLUSTER_SIZE, GO("q", flat, (shape){1, 1, 1}));
    OK(GO("q", flat, (shape){2, 1, 1}));
    REFUSED(INVALID_CLUSTER_SIZE, GO("q", flat, (shape){4, 1, 1}));
    OK(GO("x", flat, (shape){2, 1, 1}));
    OK(plain(function("q"), 4));
    REFUSED(INVALID_CLUSTER_SIZE, plain(function("q"), 3));
    REFUSED(INVALID_CLUSTER_SIZE, plain(function("x"), 4));
    OK(GO("mx", ((shape){8, 1, 1}), (shape){4, 1, 1}));
    REFUSED(INVALID_CLUSTER_SIZE, GO("mx", ((shape){8, 1, 1}), (shape){8, 1, 1}));
    OK(plain(function("mx"), 8));
    OK(cu.cuCtxSynchronize());
}

static void functions_are_told_what_they_take(void)
{
    CUfunction r = function("r"), q = function("q");
    int value = 0;
    OK(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, q));
    CHECK(value == 2);
    OK(cu.cuFuncSetAttribute(r, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 2));
    OK(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, r));
    CHECK(value == 2);
    REFUSED(INVALID_CLUSTER_SIZE, plain(r, 4)); /* no height */
    OK(cu.cuFuncSetAttribute(r, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 0));
    REFUSED(INVALID_VALUE,
            cu.cuFuncSetAttribute(q, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 4));
    OK(cu.cuFuncSetAttribute(r, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
                             1));
    OK(cu.cuFuncSetAttribute(r, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    OK(GO("r", ((shape){16, 1, 1}), (shape){16, 1, 1}));
    REFUSED(INVALID_CLUSTER_SIZE, GO("r", ((shape){32, 1, 1}), (shape){32, 1, 1}));
    const CUlaunchConfig config = {8, 1, 1, 32, 1, 1, 0, NULL, NULL, 0};
    OK(cu.cuOccupancyMaxPotentialClusterSize(&value, r, &config));
    CHECK(value == 16);
    OK(cu.cuFuncSetAttribute(r, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 0));
    OK(cu.cuOccupancyMaxPotentialClusterSize(&value, function("d"), &config));
    CHECK(value == 8);
    OK(cu.cuCtxSynchronize());
}

/* x, y of 2 x 2 clusters in a grid of 4 x 2. */
static void blocks_know_their_place(void)
{
    static const uint32_t expected[8][11] = {
        {0, 0, 2, 2, 0, 0, 2, 1, 0, 4, 1}, {1, 0, 2, 2, 0, 0, 2, 1, 1, 4, 1},
        {0, 0, 2, 2, 1, 0, 2, 1, 0, 4, 1}, {1, 0, 2, 2, 1, 0, 2, 1, 1, 4, 1},
        {0, 1, 2, 2, 0, 0, 2, 1, 2, 4, 1}, {1, 1, 2, 2, 0, 0, 2, 1, 3, 4, 1},
        {0, 1, 2, 2, 1, 0, 2, 1, 2, 4, 1}, {1, 1, 2, 2, 1, 0, 2, 1, 3, 4, 1}};
    OK(cu.cuMemsetD8(memory, 0xff, sizeof(out)));
    OK(GO("r", flat, (shape){2, 2, 1}));
    read_out();
    for (int block = 0; block < 8; block++)
        CHECK(memcmp(out + 16 * block, expected[block], sizeof(expected[block])) == 0);
    OK(plain(function("r"), 1));
    read_out();
    CHECK(out[2] == 1 && out[9] == 1 && out[10] == 0);
}

static void blocks_use_each_others_memory(void)
{
    for (uint32_t size = 1; size <= 8; size *= 2) {
        OK(GO("d", ((shape){8, 1, 1}), (shape){size, 1, 1}));
        read_out();
        uint32_t wrong = 0;
        for (uint32_t i = 0; i < 256; i++) {
            const uint32_t block = i / 32, thread = i % 32;
            const uint32_t rank = (block % size + 1) % size;
            const uint32_t there = (block - block % size + rank) * 1000 + thread;
            const uint32_t *o = out + 4 * (size_t)i;
            wrong += o[0] != there || o[1] != there ||
                     o[2] != block * 1000 + thread + 7 || o[3] != rank;
        }
        CHECK(wrong == 0);
    }
}

static void generic_addresses_reach_other_blocks(void)
{
    static const uint32_t sizes[] = {1, 3, 6, 8};
    for (int n = 0; n < 4; n++) {
        const uint32_t size = sizes[n], blocks = 24;
        OK(launch(function("g"), (shape){blocks, 1, 1}, (shape){size, 1, 1}, 64, 4096));
        read_out();
        uint32_t wrong = 0;
        for (uint32_t i = 0; i < blocks / size * 64; i++) {
            uint32_t sum = 0;
            for (uint32_t rank = 0; rank < size; rank++)
                sum += (i / 64 * size + rank) * 64 + i % 64;
            wrong += out[i] != sum;
        }
        CHECK(wrong == 0);
    }
}

static void nodes_have_clusters(void)
{
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    void *params[] = {&memory};
    CUDA_KERNEL_NODE_PARAMS kernel = {.func = function("r"),
                                      .gridDimX = 4,
                                      .gridDimY = 2,
                                      .gridDimZ = 1,
                                      .blockDimX = 32,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = params};
    CUlaunchAttributeValue value = {{0}}, is = {{0}};
    value.clusterDim.x = 2;
    value.clusterDim.y = value.clusterDim.z = 1;
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    OK(cu.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                        &value));
    OK(cu.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                        &is));
    CHECK(is.clusterDim.x == 2 && is.clusterDim.y == 1 && is.clusterDim.z == 1);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, NULL));
    read_out();
    CHECK(out[16 + 8] == 1 && out[16 + 9] == 2);
    value.clusterDim.x = 3;
    REFUSED(INVALID_CLUSTER_SIZE,
            cu.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                             &value));
    kernel.gridDimX = 3;
    REFUSED(INVALID_CLUSTER_SIZE, cu.cuGraphKernelNodeSetParams(node, &kernel));
    REFUSED(INVALID_CLUSTER_SIZE, cu.cuGraphExecKernelNodeSetParams(exec, node, &kernel));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

static void blocks_that_ended_have_arrived(void)
{
    OK(cu.cuMemsetD8(memory, 0, sizeof(out)));
    OK(GO("e", ((shape){8, 1, 1}), (shape){4, 1, 1}));
    read_out();
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < 256; i++)
        wrong += out[i] != (i / 32 % 2 == 0 ? 3 : 0);
    CHECK(wrong == 0);
}

/* The last: its context is lost. */
static void a_trap_ends_the_whole_cluster(void)
{
    OK(GO("t", ((shape){8, 1, 1}), (shape){4, 1, 1}));
    const CUresult status = cu.cuCtxSynchronize();
    CHECK(status == CUDA_ERROR_LAUNCH_FAILED || status == CUDA_ERROR_ILLEGAL_INSTRUCTION);
    OK(cu.cuDevicePrimaryCtxReset(0));
    (void)use_primary();
    OK(cu.cuModuleLoadData(&module, text));
    OK(cu.cuMemAlloc(&memory, sizeof(out)));
    blocks_use_each_others_memory();
}

int main(void)
{
    DEVICE_OR_SKIP();
    (void)use_primary();
    OK(cu.cuModuleLoadData(&module, text));
    OK(cu.cuMemAlloc(&memory, sizeof(out)));
    RUN(clusters_divide_the_grid);
    RUN(kernels_say_what_they_take);
    RUN(functions_are_told_what_they_take);
    RUN(blocks_know_their_place);
    RUN(blocks_use_each_others_memory);
    RUN(generic_addresses_reach_other_blocks);
    RUN(nodes_have_clusters);
    RUN(blocks_that_ended_have_arrived);
    RUN(a_trap_ends_the_whole_cluster);
    return test_done();
}
