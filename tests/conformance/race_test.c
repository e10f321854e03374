// SPDX-License-Identifier: Apache-2.0
/* SOFTCUDA_CHECK=race: two nodes of one launch that touch the same byte, one of them
 * writing, without a path of dependencies between them, are named; nothing else is. */
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
    /* Stores to data, then says so in a flag; and who waits for the flag. */
    ".visible .entry tell(.param .u64 data, .param .u64 flag)\n"
    "{\n"
    "  .reg .b64 %d<3>;\n"
    "  ld.param.u64 %d1, [data]; ld.param.u64 %d2, [flag];\n"
    "  st.global.u32 [%d1], 7;\n"
    "  st.release.gpu.global.u32 [%d2], 1;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry hear(.param .u64 data, .param .u64 flag)\n"
    "{\n"
    "  .reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %d<3>;\n"
    "  ld.param.u64 %d1, [data]; ld.param.u64 %d2, [flag];\n"
    "again:\n"
    "  ld.acquire.gpu.global.u32 %r1, [%d2];\n"
    "  setp.eq.u32 %p1, %r1, 0;\n"
    "  @%p1 bra again;\n"
    "  ret;\n"
    "}\n";

enum { WORDS = 1024, SIDE_MAX = 64 };

typedef enum kind { WR, RD, AT, VW, VR, FILL, FROM, TO, SET, AWAIT, KINDS } kind;
static const char *const names[KINDS] = {
    "wr", "rd", "at", "vw", "vr", "memset", "copy from", "copy to", "set", "await"};
static const bool writes[KINDS] = {
    [WR] = true, [AT] = true, [VW] = true, [FILL] = true, [TO] = true, [SET] = true};
static const bool strong[KINDS] = {
    [AT] = true, [VW] = true, [VR] = true, [SET] = true, [AWAIT] = true};

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

static bool race(kind a, kind b)
{
    return (writes[a] || writes[b]) && !(strong[a] && strong[b]);
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
    unsigned long long id = 0, found = 0;
    snprintf(path, sizeof(path), "/tmp/race_test.%ld.dot", (long)getpid());
    OK(cu.cuGraphDebugDotPrint(graph, path, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES));
    FILE *file = fopen(path, "r");
    if (!CHECK(file != NULL))
        return 0;
    while (fgets(line, sizeof(line), file) != NULL) {
        const char *at = strstr(line, "\"node_");
        if (at != NULL)
            id = strtoull(at + 6, NULL, 10);
        char plain[64];
        snprintf(plain, sizeof(plain), "handle %p", (void *)node);
        if ((at = strstr(line, plain)) != NULL &&
            !(at[strlen(plain)] >= '0' && at[strlen(plain)] <= '9') &&
            !(at[strlen(plain)] >= 'a' && at[strlen(plain)] <= 'f'))
            found = id;
    }
    fclose(file);
    (void)remove(path);
    CHECK(found != 0);
    return found;
}

/* ---- pairs ---- */

static void expect(const char *how, kind a, kind b, bool expected)
{
    const uint32_t count = reports();
    if (!CHECK(count == (expected ? 1u : 0u)))
        fprintf(stderr, "%s, %s and %s: %u reports\n%s", how, names[a], names[b], count,
                log_text);
}

static const place whole = {0, 1000, 0}, whole_too = {0, 1000, 1};
static const place lower = {0, 100, 0}, upper = {100, 100, 1};

static void every_pair_of_kinds_unordered(void)
{
    for (kind a = 0; a < KINDS; a++)
        for (kind b = 0; b < KINDS; b++) {
            CUgraph graph;
            OK(cu.cuGraphCreate(&graph, 0));
            add(graph, a, whole, NULL, 0);
            add(graph, b, whole_too, NULL, 0);
            launch(graph, 2);
            expect("unordered", a, b, race(a, b));
            OK(cu.cuGraphDestroy(graph));
        }
}

static void no_pair_that_is_ordered(void)
{
    for (kind a = 0; a < KINDS; a++)
        for (kind b = 0; b < KINDS; b++) {
            CUgraph graph;
            CUgraphNode first, empty;
            OK(cu.cuGraphCreate(&graph, 0));
            first = add(graph, a, whole, NULL, 0);
            OK(cu.cuGraphAddEmptyNode(&empty, graph, &first, 1));
            add(graph, b, whole_too, &empty, 1);
            /* Somebody that nobody is ordered with, so that all is watched. */
            add(graph, RD, (place){1010, 1, 2}, NULL, 0);
            launch(graph, 1);
            expect("ordered", a, b, false);
            OK(cu.cuGraphDestroy(graph));
        }
}

static void no_pair_on_different_bytes(void)
{
    for (kind a = 0; a < KINDS; a++)
        for (kind b = 0; b < KINDS; b++) {
            CUgraph graph;
            OK(cu.cuGraphCreate(&graph, 0));
            add(graph, a, lower, NULL, 0);
            add(graph, b, upper, NULL, 0);
            launch(graph, 1);
            expect("side by side", a, b, false);
            OK(cu.cuGraphDestroy(graph));
        }
}

/* Inside of a child graph is inside of the launch. */
static void pairs_across_child_graphs(void)
{
    for (int ordered = 0; ordered < 2; ordered++)
        for (kind a = 0; a < KINDS; a++) {
            CUgraph graph, inner;
            CUgraphNode first, child;
            OK(cu.cuGraphCreate(&graph, 0));
            OK(cu.cuGraphCreate(&inner, 0));
            add(inner, WR, whole_too, NULL, 0);
            first = add(graph, a, whole, NULL, 0);
            OK(cu.cuGraphAddChildGraphNode(&child, graph, &first, (size_t)ordered,
                                           inner));
            launch(graph, 1);
            expect("across a child graph", a, WR, !ordered);
            OK(cu.cuGraphDestroy(graph));
            OK(cu.cuGraphDestroy(inner));
        }
}

static void captured_forks_too(void)
{
    for (int joined = 0; joined < 2; joined++) {
        CUstream a, b;
        CUevent fork, join;
        CUgraph graph;
        OK(cu.cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
        OK(cu.cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
        OK(cu.cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
        OK(cu.cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
        OK(cu.cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
        OK(cu.cuEventRecord(fork, a));
        OK(cu.cuStreamWaitEvent(b, fork, 0));
        OK(cu.cuMemsetD32Async(buffer, 1, WORDS, b));
        OK(cu.cuEventRecord(join, b));
        if (joined)
            OK(cu.cuStreamWaitEvent(a, join, 0));
        OK(cu.cuMemsetD32Async(buffer, 2, WORDS, a));
        if (!joined)
            OK(cu.cuStreamWaitEvent(a, join, 0));
        OK(cu.cuStreamEndCapture(a, &graph));
        launch(graph, 1);
        expect(joined ? "joined" : "forked", FILL, FILL, !joined);
        OK(cu.cuGraphDestroy(graph));
        OK(cu.cuEventDestroy(fork));
        OK(cu.cuEventDestroy(join));
        OK(cu.cuStreamDestroy(a));
        OK(cu.cuStreamDestroy(b));
    }
}

/* ---- the sentences ---- */

static bool said(const char *sentence)
{
    if (strstr(log_text, sentence) != NULL)
        return true;
    fprintf(stderr, "not said: %s\nbut: %s", sentence, log_text);
    return false;
}

static void a_report_names_both_accesses(void)
{
    CUgraph graph;
    char sentence[800];
    OK(cu.cuGraphCreate(&graph, 0));
    CUgraphNode writer = add(graph, WR, (place){100, 100, 0}, NULL, 0);
    CUgraphNode reader = add(graph, RD, (place){170, 10, 1}, NULL, 0);
    CUgraphNode fill = add(graph, FILL, (place){199, 1, 1}, &reader, 1);
    launch(graph, 3);
    const unsigned long long ids[3] = {id_of(graph, writer), id_of(graph, reader),
                                       id_of(graph, fill)};
    CHECK(reports() == 2);
    snprintf(sentence, sizeof(sentence),
             "race: kernel wr (node %llu) writes 4 bytes (line 13 of the PTX) and kernel "
             "rd (node %llu) reads 4 bytes (line 26 of the PTX, block [0,0,0], thread "
             "[0,0,0]) at 0x%llx, 680 bytes into the allocation of 4096 bytes at 0x%llx; "
             "no path of dependencies orders them\n",
             ids[0], ids[1], (unsigned long long)buffer + 680,
             (unsigned long long)buffer);
    CHECK(said(sentence));
    snprintf(sentence, sizeof(sentence),
             "race: kernel wr (node %llu) writes 4 bytes (line 13 of the PTX) and memset "
             "(node %llu) writes at 0x%llx, 796 bytes into the allocation of 4096 bytes "
             "at 0x%llx; no path of dependencies orders them\n",
             ids[0], ids[2], (unsigned long long)buffer + 796,
             (unsigned long long)buffer);
    CHECK(said(sentence));
    OK(cu.cuGraphDestroy(graph));
}

static void a_report_names_threads_where_it_is_sure(void)
{
    CUgraph graph;
    OK(cu.cuGraphCreate(&graph, 0));
    add(graph, AT, (place){0, 200, 0}, NULL, 0);
    add(graph, WR, (place){64, 100, 0}, NULL, 0);
    launch(graph, 1);
    CHECK(said("kernel at (node "));
    CHECK(said("atomically writes 4 bytes (line 39 of the PTX, block [1,0,0], thread "
               "[0,0,0]) and kernel wr (node "));
    CHECK(said("writes 4 bytes (line 13 of the PTX, block [0,0,0], thread [0,0,0]) at "));
    OK(cu.cuGraphDestroy(graph));
}

static void pinned_host_memory_is_watched(void)
{
    CUgraph graph;
    void *host;
    const CUdeviceptr keep = buffer;
    OK(cu.cuMemAllocHost(&host, 4 * WORDS));
    buffer = (CUdeviceptr)(uintptr_t)host;
    OK(cu.cuGraphCreate(&graph, 0));
    add(graph, WR, whole, NULL, 0);
    add(graph, RD, whole_too, NULL, 0);
    launch(graph, 1);
    CHECK(reports() == 1 && said("0 bytes into the host memory of 4096 bytes at 0x"));
    OK(cu.cuGraphDestroy(graph));
    buffer = keep;
    OK(cu.cuMemFreeHost(host));
}

/* ---- memory of the graph's own ---- */

static CUgraphNode add_alloc(CUgraph graph, CUdeviceptr *out)
{
    CUgraphNode node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS params;
    memset(&params, 0, sizeof(params));
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.bytesize = 4 * WORDS;
    OK(cu.cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    *out = params.dptr;
    return node;
}

/* A node that touches the allocation, `deps` before it. */
static CUgraphNode use(CUgraph graph, kind k, CUdeviceptr memory, CUgraphNode before)
{
    const CUdeviceptr keep = buffer;
    buffer = memory;
    CUgraphNode node = add(graph, k, lower, &before, before != NULL);
    buffer = keep;
    return node;
}

static CUgraphNode add_free(CUgraph graph, CUgraphNode before, CUdeviceptr memory)
{
    CUgraphNode node = NULL;
    OK(cu.cuGraphAddMemFreeNode(&node, graph, &before, before != NULL, memory));
    return node;
}

static void uses_within_a_life_are_fine(void)
{
    for (kind k = 0; k < SET; k++) {
        CUgraph graph;
        CUdeviceptr memory, again;
        OK(cu.cuGraphCreate(&graph, 0));
        CUgraphNode alloc = add_alloc(graph, &memory);
        CUgraphNode user = use(graph, k, memory, alloc);
        CUgraphNode end = add_free(graph, user, memory);
        /* The addresses once more, behind the free; and somebody beside it all. */
        CUDA_MEM_ALLOC_NODE_PARAMS params;
        CUgraphNode next;
        memset(&params, 0, sizeof(params));
        params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        params.bytesize = 4 * WORDS;
        OK(cu.cuGraphAddMemAllocNode(&next, graph, &end, 1, &params));
        again = params.dptr;
        user = use(graph, k, again, next);
        add_free(graph, user, again);
        add(graph, RD, whole, NULL, 0);
        launch(graph, 3);
        if (!CHECK(reports() == 0 && strstr(log_text, "life") == NULL))
            fprintf(stderr, "%s: %s", names[k], log_text);
        OK(cu.cuGraphDestroy(graph));
    }
}

static bool told(CUgraph graph, CUgraphNode user, const char *what, CUdeviceptr memory,
                 const char *how, CUgraphNode end)
{
    char sentence[800];
    snprintf(
        sentence, sizeof(sentence),
        "outside of its life: %s (node %llu) writes%s at 0x%llx, 0 bytes into the "
        "graph allocation of 4096 bytes at 0x%llx; %s %llu\n",
        what, id_of(graph, user),
        what[0] == 'k' ? " 4 bytes (line 13 of the PTX, block [0,0,0], thread [0,0,0])"
                       : "",
        (unsigned long long)memory, (unsigned long long)memory, how, id_of(graph, end));
    return said(sentence);
}

static const char *const no_way_to_free =
    "no path of dependencies leads from it to the free of that memory, node";

static void uses_outside_of_a_life_are_told(void)
{
    CUgraph graph;
    CUdeviceptr memory;
    OK(cu.cuGraphCreate(&graph, 0));
    CUgraphNode early = add(graph, RD, (place){1010, 1, 2}, NULL, 0);
    CUgraphNode alloc = add_alloc(graph, &memory);
    OK(cu.cuGraphAddDependencies(graph, &early, &alloc, NULL, 1));
    CUgraphNode in = use(graph, RD, memory, alloc);
    CUgraphNode end = add_free(graph, in, memory);
    CUgraphNode beside = use(graph, WR, memory, alloc);
    CUgraphNode after = use(graph, FILL, memory, end);
    CUgraphNode lost = use(graph, FILL, memory, NULL);
    launch(graph, 2);
    CHECK(told(graph, beside, "kernel wr", memory, no_way_to_free, end));
    CHECK(told(graph, after, "memset", memory, "that memory was freed before it, by node",
               end));
    CHECK(told(graph, lost, "memset", memory, no_way_to_free, end));
    OK(cu.cuGraphDestroy(graph));
}

static void a_use_before_the_allocation_is_told(void)
{
    CUgraph graph, ordered;
    CUdeviceptr memory;
    OK(cu.cuGraphCreate(&graph, 0));
    CUgraphNode alloc = add_alloc(graph, &memory);
    CUgraphNode fill = use(graph, FILL, memory, NULL);
    add_free(graph, fill, memory);
    OK(cu.cuGraphAddDependencies(graph, &alloc, &fill, NULL, 0));
    launch(graph, 1);
    CHECK(told(graph, fill, "memset", memory,
               "no path of dependencies leads to it from the allocation of that memory, "
               "node",
               alloc));
    OK(cu.cuGraphDestroy(graph));

    OK(cu.cuGraphCreate(&ordered, 0));
    alloc = add_alloc(ordered, &memory);
    fill = use(ordered, FILL, memory, NULL);
    OK(cu.cuGraphAddDependencies(ordered, &fill, &alloc, NULL, 1));
    add_free(ordered, alloc, memory);
    launch(ordered, 1);
    CHECK(told(ordered, fill, "memset", memory,
               "that memory is allocated after it, by node", alloc));
    OK(cu.cuGraphDestroy(ordered));
}

/* The memory of one graph, freed by another. */
static void a_free_of_another_graph_counts(void)
{
    for (int ordered = 0; ordered < 2; ordered++) {
        CUgraph first, second;
        CUgraphExec exec;
        CUdeviceptr memory;
        OK(cu.cuGraphCreate(&first, 0));
        CUgraphNode alloc = add_alloc(first, &memory);
        use(first, FILL, memory, alloc);
        OK(cu.cuGraphInstantiateWithFlags(&exec, first, 0));
        OK(cu.cuGraphLaunch(exec, NULL));
        OK(cu.cuGraphCreate(&second, 0));
        CUgraphNode user = use(second, WR, memory, NULL);
        CUgraphNode end = add_free(second, ordered ? user : NULL, memory);
        launch(second, 1);
        if (ordered)
            CHECK(strstr(log_text, "life") == NULL);
        else
            CHECK(told(second, user, "kernel wr", memory, no_way_to_free, end));
        OK(cu.cuGraphExecDestroy(exec));
        OK(cu.cuGraphDestroy(first));
        OK(cu.cuGraphDestroy(second));
    }
}

/* `hear` returns only when `tell` has stored: still nothing orders `tell` before the
 * free. */
static void a_flag_is_no_dependency(void)
{
    CUgraph graph;
    CUdeviceptr memory, flag = buffer;
    CUfunction tell, hear;
    CUgraphNode nodes[2];
    OK(cu.cuModuleGetFunction(&tell, module, "tell"));
    OK(cu.cuModuleGetFunction(&hear, module, "hear"));
    OK(cu.cuMemsetD32(flag, 0, 1));
    OK(cu.cuGraphCreate(&graph, 0));
    CUgraphNode alloc = add_alloc(graph, &memory);
    for (int i = 0; i < 2; i++) {
        void *params[] = {&memory, &flag};
        const CUDA_KERNEL_NODE_PARAMS kernel = {.func = i ? hear : tell,
                                                .gridDimX = 1,
                                                .gridDimY = 1,
                                                .gridDimZ = 1,
                                                .blockDimX = 1,
                                                .blockDimY = 1,
                                                .blockDimZ = 1,
                                                .kernelParams = params};
        OK(cu.cuGraphAddKernelNode(&nodes[i], graph, &alloc, 1, &kernel));
    }
    CUgraphNode end = add_free(graph, nodes[1], memory);
    launch(graph, 1);
    char sentence[400];
    snprintf(sentence, sizeof(sentence), "outside of its life: kernel tell (node %llu) ",
             id_of(graph, nodes[0]));
    CHECK(said(sentence));
    snprintf(sentence, sizeof(sentence), "; %s %llu\n", no_way_to_free,
             id_of(graph, end));
    CHECK(said(sentence));
    CHECK(reports() == 0); /* the flag itself is fine */
    OK(cu.cuGraphDestroy(graph));
}

/* ---- edits ---- */

static void edits_are_watched(void)
{
    CUgraph graph;
    CUgraphExec exec;
    CUcontext context;
    OK(cu.cuCtxGetCurrent(&context));
    OK(cu.cuGraphCreate(&graph, 0));
    add(graph, WR, lower, NULL, 0);
    CUgraphNode fill = add(graph, FILL, upper, NULL, 0);
    log_text[0] = '\0';
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuCtxSynchronize());
    CHECK(reports() == 0);
    CUDA_MEMSET_NODE_PARAMS params;
    OK(cu.cuGraphMemsetNodeGetParams(fill, &params));
    params.dst = buffer;
    if (cu.cuGraphExecMemsetNodeSetParams(exec, fill, &params, context) == CUDA_SUCCESS) {
        OK(cu.cuGraphLaunch(exec, NULL));
        OK(cu.cuCtxSynchronize());
        CHECK(reports() == 1);
    }
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

/* ---- random graphs ---- */

enum { NODES_MAX = 16, GRAPHS = 220 };
static uint64_t random_state;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % n;
}

/* What is expected: leaves are nodes that touch memory, in a child graph or not. */
typedef struct plan {
    uint32_t count; /* nodes, and entries and exits of child graphs */
    bool above[3 * NODES_MAX][3 * NODES_MAX];
    bool is_leaf[3 * NODES_MAX];
    kind kinds[3 * NODES_MAX];
    place places[3 * NODES_MAX];
    unsigned long long ids[3 * NODES_MAX];
} plan;

static void close_paths(plan *p)
{
    for (uint32_t k = 0; k < p->count; k++)
        for (uint32_t i = 0; i < p->count; i++)
            for (uint32_t j = 0; j < p->count; j++)
                p->above[i][j] |= p->above[i][k] && p->above[k][j];
}

static bool overlap(const place *a, const place *b)
{
    return a->first < b->first + b->count && b->first < a->first + a->count;
}

static bool expected_race(const plan *p, uint32_t a, uint32_t b)
{
    return p->is_leaf[a] && p->is_leaf[b] && !p->above[a][b] && !p->above[b][a] &&
           race(p->kinds[a], p->kinds[b]) && overlap(&p->places[a], &p->places[b]);
}

static uint32_t plan_leaf(plan *p)
{
    const uint32_t at = p->count++;
    p->is_leaf[at] = true;
    p->kinds[at] = (kind)random_below(KINDS);
    const bool one_word = p->kinds[at] == SET || p->kinds[at] == AWAIT;
    p->places[at] =
        (place){random_below(WORDS - 200), one_word ? 1 : 1 + random_below(200), at};
    return at;
}

/* A child graph of two leaves, in order or not. Returns its entry; the exit follows. */
static uint32_t add_child(plan *p, CUgraph graph, const CUgraphNode *deps, size_t count,
                          CUgraphNode *out)
{
    CUgraph inner, own;
    CUgraphNode nodes[2];
    size_t node_count = 2;
    const uint32_t entry = p->count, leave = p->count + 1;
    const bool chained = random_below(2) != 0;
    p->count += 2;
    OK(cu.cuGraphCreate(&inner, 0));
    uint32_t leaves[2];
    for (int i = 0; i < 2; i++) {
        leaves[i] = plan_leaf(p);
        nodes[i] = add(inner, p->kinds[leaves[i]], p->places[leaves[i]], nodes,
                       i == 1 && chained);
        p->above[leaves[i]][entry] = p->above[leave][leaves[i]] = true;
    }
    p->above[leaves[1]][leaves[0]] = chained;
    p->above[leave][entry] = true;
    OK(cu.cuGraphAddChildGraphNode(out, graph, deps, count, inner));
    OK(cu.cuGraphDestroy(inner));
    OK(cu.cuGraphChildGraphNodeGetGraph(*out, &own));
    OK(cu.cuGraphGetNodes(own, nodes, &node_count));
    for (int i = 0; i < 2; i++)
        p->ids[leaves[i]] = id_of(own, nodes[i]);
    return entry;
}

static void build_random(plan *p, CUgraph graph)
{
    CUgraphNode nodes[NODES_MAX], deps[NODES_MAX];
    uint32_t in[NODES_MAX], out[NODES_MAX];
    const uint32_t count = 2 + random_below(NODES_MAX - 4), density = random_below(5);
    for (uint32_t i = 0; i < count; i++) {
        size_t dep_count = 0;
        uint32_t from[NODES_MAX];
        for (uint32_t k = 0; k < i; k++)
            if (random_below(10) < density) {
                from[dep_count] = out[k];
                deps[dep_count++] = nodes[k];
            }
        if (random_below(8) == 0) {
            in[i] = add_child(p, graph, deps, dep_count, &nodes[i]);
            out[i] = in[i] + 1;
        } else if (random_below(8) == 0) {
            in[i] = out[i] = p->count++;
            OK(cu.cuGraphAddEmptyNode(&nodes[i], graph, deps, dep_count));
        } else {
            in[i] = out[i] = plan_leaf(p);
            nodes[i] = add(graph, p->kinds[in[i]], p->places[in[i]], deps, dep_count);
            p->ids[in[i]] = id_of(graph, nodes[i]);
        }
        for (size_t k = 0; k < dep_count; k++)
            p->above[in[i]][from[k]] = true;
    }
    close_paths(p);
}

/* The pairs of the log, each one expected; and as many as are. */
static bool log_agrees(const plan *p)
{
    uint32_t expected = 0, seen = 0;
    for (uint32_t a = 0; a < p->count; a++)
        for (uint32_t b = a + 1; b < p->count; b++)
            expected += expected_race(p, a, b);
    for (const char *at = log_text; (at = strstr(at, "race: ")) != NULL; seen++) {
        unsigned long long ids[2] = {0, 0};
        const char *end = strchr(at, '\n');
        for (int i = 0; i < 2 && (at = strstr(at, "(node ")) != NULL && at < end; i++)
            ids[i] = strtoull(at += 6, NULL, 10);
        bool found = false;
        for (uint32_t a = 0; a < p->count; a++)
            for (uint32_t b = 0; b < p->count; b++)
                found |= p->ids[a] == ids[0] && p->ids[b] == ids[1] && ids[0] != 0 &&
                         expected_race(p, a, b);
        if (!found || at == NULL)
            return false;
    }
    return seen == expected;
}

static void random_graphs_give_just_their_races(void)
{
    uint32_t all = 0, silent = 0;
    for (uint32_t seed = 1; seed <= GRAPHS; seed++) {
        static plan p;
        CUgraph graph;
        random_state = seed * 2654435761u;
        memset(&p, 0, sizeof(p));
        OK(cu.cuGraphCreate(&graph, 0));
        build_random(&p, graph);
        launch(graph, 1 + (int)random_below(3));
        if (!CHECK(log_agrees(&p)))
            fprintf(stderr, "seed %u: %s", seed, log_text);
        all += reports();
        silent += reports() == 0;
        OK(cu.cuGraphDestroy(graph));
    }
    CHECK(all > 500 && silent > 10);
}

/* ---- what a finding does ---- */

static const char *self;

static int race_once(void)
{
    CUgraph graph;
    CUgraphExec exec;
    OK(cu.cuGraphCreate(&graph, 0));
    add(graph, WR, whole, NULL, 0);
    add(graph, FILL, whole_too, NULL, 0);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, NULL));
    return (int)cu.cuCtxSynchronize();
}

/* Runs this program again; the exit code, and whether stderr had the text. */
static int again(const char *setting, const char *text, bool *heard)
{
    char command[4096], line[1024];
    snprintf(command, sizeof(command), "SOFTCUDA_CHECK=%s exec '%s' once 2>&1", setting,
             self);
    FILE *child = popen(command, "r");
    *heard = false;
    if (!CHECK(child != NULL))
        return -1;
    while (fgets(line, sizeof(line), child) != NULL)
        *heard |= strstr(line, text) != NULL;
    return pclose(child) >> 8;
}

static void a_race_is_told_on_stderr_and_fatal_only_if_asked(void)
{
    bool heard;
    const char *const text = "softcuda: race: kernel wr (node ";
    CHECK(again("race", text, &heard) == 0 && heard);
    CHECK(again("all", text, &heard) == 0 && heard);
    CHECK(again("memory", text, &heard) == 0 && !heard);
    CHECK(again("race,fatal", text, &heard) == (CUDA_ERROR_LAUNCH_FAILED & 0xff) &&
          heard);
}

static void set_up(void)
{
    OK(cu.cuModuleLoadData(&module, ptx));
    for (kind k = 0; k < FILL; k++)
        OK(cu.cuModuleGetFunction(&functions[k], module, names[k]));
    OK(cu.cuMemAlloc(&buffer, 4 * WORDS));
    OK(cu.cuMemAlloc(&side, 4ull * WORDS * SIDE_MAX));
}

int main(int argc, char **argv)
{
    self = argv[0];
    const bool once = argc > 1 && strcmp(argv[1], "once") == 0;
    if (!once)
        setenv("SOFTCUDA_CHECK", "race", 1);
    DEVICE_OR_SKIP();
    if (!driver_is_soft) {
        printf("check mode is softcuda's\n");
        return 77;
    }
    use_primary();
    set_up();
    if (once)
        return race_once() & 0xff;
    CUlogsCallbackHandle handle;
    OK(cu.cuLogsRegisterCallback(note, NULL, &handle));

    RUN(every_pair_of_kinds_unordered);
    RUN(no_pair_that_is_ordered);
    RUN(no_pair_on_different_bytes);
    RUN(pairs_across_child_graphs);
    RUN(captured_forks_too);
    RUN(a_report_names_both_accesses);
    RUN(a_report_names_threads_where_it_is_sure);
    RUN(pinned_host_memory_is_watched);
    RUN(uses_within_a_life_are_fine);
    RUN(uses_outside_of_a_life_are_told);
    RUN(a_use_before_the_allocation_is_told);
    RUN(a_free_of_another_graph_counts);
    RUN(a_flag_is_no_dependency);
    RUN(edits_are_watched);
    RUN(random_graphs_give_just_their_races);
    RUN(a_race_is_told_on_stderr_and_fatal_only_if_asked);
    OK(cu.cuLogsUnregisterCallback(handle));
    return test_done();
}
