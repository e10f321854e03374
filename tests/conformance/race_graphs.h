// SPDX-License-Identifier: Apache-2.0
/* Graphs of nodes that touch known words of a buffer, and what check mode said about
 * them: what the tests of races and of the lives of graph memory are made of. */
#ifndef CONFORMANCE_RACE_GRAPHS_H
#define CONFORMANCE_RACE_GRAPHS_H
#include <unistd.h>

#include "driver.h"
#include "kernels.h"

/* One access of four bytes a thread: i-th word of p, i < n. */
#define WORD_KERNEL(name, what)                                                          \
    ".visible .entry " name "(.param .u64 p, .param .u32 n)\n"                           \
    "{\n"                                                                                \
    "  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %d<4>;\n"                            \
    "  ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n];\n"                                  \
    "  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"              \
    "  mad.lo.s32 %r5, %r2, %r3, %r4;\n"                                                 \
    "  setp.ge.u32 %p1, %r5, %r1;\n"                                                     \
    "  @%p1 bra done;\n"                                                                 \
    "  mul.wide.u32 %d2, %r5, 4; add.s64 %d3, %d1, %d2;\n"                               \
    "  " what ";\n"                                                                      \
    "done:\n"                                                                            \
    "  ret;\n"                                                                           \
    "}\n"
static const char ptx[] = PTX_HEAD WORD_KERNEL("wr", "st.global.u32 [%d3], %r5")
    WORD_KERNEL("rd", "ld.global.u32 %r2, [%d3]")
        WORD_KERNEL("at", "red.global.add.u32 [%d3], 1")
            WORD_KERNEL("vw", "st.volatile.global.u32 [%d3], 1")
                WORD_KERNEL("vr", "ld.volatile.global.u32 %r2, [%d3]")
    /* Stores to data, then says so in a flag; and who waits for the flag: a
     * while, as nothing has to run the other one meanwhile. */
    ".visible .entry post(.param .u64 data, .param .u64 flag)\n"
    "{\n"
    "  .reg .b64 %d<3>;\n"
    "  ld.param.u64 %d1, [data]; ld.param.u64 %d2, [flag];\n"
    "  st.global.u32 [%d1], 7;\n"
    "  st.release.gpu.global.u32 [%d2], 1;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry hear(.param .u64 data, .param .u64 flag)\n"
    "{\n"
    "  .reg .pred %p<3>; .reg .b32 %r<3>; .reg .b64 %d<3>;\n"
    "  ld.param.u64 %d1, [data]; ld.param.u64 %d2, [flag];\n"
    "  mov.u32 %r2, 100000;\n"
    "again:\n"
    "  ld.acquire.gpu.global.u32 %r1, [%d2];\n"
    "  setp.eq.u32 %p1, %r1, 0;\n"
    "  sub.u32 %r2, %r2, 1; setp.ne.and.u32 %p2, %r2, 0, %p1;\n"
    "  @%p2 bra again;\n"
    "  ret;\n"
    "}\n";

enum { WORDS = 1024, SIDE_MAX = 64 };

typedef enum kind { WR, RD, AT, VW, VR, FILL, FROM, TO, SET, AWAIT, KINDS } kind;
static const char *const names[KINDS] = {
    "wr", "rd", "at", "vw", "vr", "memset", "copy from", "copy to", "set", "await"};
static CUmodule module;
static CUfunction functions[FILL];
static CUdeviceptr buffer, side; /* side: what copies copy to and from, apart */
static char log_text[1 << 18];

static void CUDA_CB note(void *user, CUlogLevel level, char *message, size_t bytes)
{
    (void)user, (void)level;
    const size_t have = strlen(log_text);
    snprintf(log_text + have, sizeof(log_text) - have, "%.*s\n", (int)bytes, message);
}

/* ---- building ---- */

typedef struct place {
    uint32_t first, count; /* words of the buffer */
    uint32_t side;         /* of the side memory, WORDS words each */
} place;

static CUgraphNode add_copy(CUgraph graph, const CUgraphNode *deps, size_t dep_count,
                            CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    CUcontext context;
    CUgraphNode node = NULL;
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = from,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = to,
                                .WidthInBytes = bytes,
                                .Height = 1,
                                .Depth = 1};
    OK(cu.cuCtxGetCurrent(&context));
    OK(cu.cuGraphAddMemcpyNode(&node, graph, deps, dep_count, &copy, context));
    return node;
}

/* Memory operations: writes a word, or waits for one that is not all ones. */
static CUgraphNode add_operation(CUgraph graph, const CUgraphNode *deps, size_t dep_count,
                                 CUdeviceptr word, bool write)
{
    CUgraphNode node = NULL;
    CUstreamBatchMemOpParams op;
    CUDA_BATCH_MEM_OP_NODE_PARAMS params;
    memset(&op, 0, sizeof(op));
    memset(&params, 0, sizeof(params));
    if (write) {
        op.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
        op.writeValue.address = word;
    } else {
        op.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
        op.waitValue.address = word;
        op.waitValue.flags = CU_STREAM_WAIT_VALUE_NOR;
    }
    OK(cu.cuCtxGetCurrent(&params.ctx));
    params.count = 1;
    params.paramArray = &op;
    OK(cu.cuGraphAddBatchMemOpNode(&node, graph, deps, dep_count, &params));
    return node;
}

static CUgraphNode add(CUgraph graph, kind k, place at, const CUgraphNode *deps,
                       size_t dep_count)
{
    CUgraphNode node = NULL;
    CUcontext context;
    CUdeviceptr p = buffer + 4ull * at.first, aside = side + 4ull * WORDS * at.side;
    uint32_t count = at.count;
    void *params[] = {&p, &count};
    OK(cu.cuCtxGetCurrent(&context));
    if (k < FILL) {
        const CUDA_KERNEL_NODE_PARAMS kernel = {.func = functions[k],
                                                .gridDimX = (count + 63) / 64,
                                                .gridDimY = 1,
                                                .gridDimZ = 1,
                                                .blockDimX = 64,
                                                .blockDimY = 1,
                                                .blockDimZ = 1,
                                                .kernelParams = params};
        OK(cu.cuGraphAddKernelNode(&node, graph, deps, dep_count, &kernel));
    } else if (k == FILL) {
        const CUDA_MEMSET_NODE_PARAMS fill = {
            .dst = p, .elementSize = 4, .width = count, .height = 1};
        OK(cu.cuGraphAddMemsetNode(&node, graph, deps, dep_count, &fill, context));
    } else if (k == SET || k == AWAIT) {
        node = add_operation(graph, deps, dep_count, p, k == SET);
    } else {
        node = add_copy(graph, deps, dep_count, k == FROM ? aside : p,
                        k == FROM ? p : aside, 4ull * count);
    }
    return node;
}

static void launch(CUgraph graph, int times)
{
    CUgraphExec exec;
    log_text[0] = '\0';
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < times; i++)
        OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuGraphExecDestroy(exec));
}

static uint32_t reports(void)
{
    uint32_t count = 0;
    for (const char *at = log_text; (at = strstr(at, "race: ")) != NULL; at += 6)
        count++;
    return count;
}

/* What messages call a node, from the graph's DOT. */
static unsigned long long id_of(CUgraph graph, CUgraphNode node)
{
    char path[64], line[512];
    unsigned long long found = 0;
    snprintf(path, sizeof(path), "/tmp/race_test.%ld.dot", (long)getpid());
    OK(cu.cuGraphDebugDotPrint(graph, path, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES));
    FILE *file = fopen(path, "r");
    if (!CHECK(file != NULL))
        return 0;
    bool here = false;
    while (found == 0 && fgets(line, sizeof(line), file) != NULL) {
        unsigned long long handle, id;
        if (sscanf(line, "node handle: 0x%llX", &handle) == 1)
            here = handle == (unsigned long long)(uintptr_t)node;
        else if (here && sscanf(line, "node id: %llu", &id) == 1)
            found = id;
    }
    fclose(file);
    (void)remove(path);
    CHECK(found != 0);
    return found;
}

static const place whole = {0, 1000, 0};
static const place lower = {0, 100, 0}, upper = {100, 100, 1};

/* ---- the sentences ---- */

static bool said(const char *sentence)
{
    if (strstr(log_text, sentence) != NULL)
        return true;
    fprintf(stderr, "not said: %s\nbut: %s", sentence, log_text);
    return false;
}

static void set_up(void)
{
    OK(cu.cuModuleLoadData(&module, ptx));
    for (kind k = 0; k < FILL; k++)
        OK(cu.cuModuleGetFunction(&functions[k], module, names[k]));
    OK(cu.cuMemAlloc(&buffer, 4 * WORDS));
    OK(cu.cuMemAlloc(&side, 4ull * WORDS * SIDE_MAX));
}
#endif
