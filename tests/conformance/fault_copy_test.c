// SPDX-License-Identifier: Apache-2.0
/* Copies, fills and memory operations whose memory is gone when they run: an error of the
 * context, as with kernels. softcuda's promise; on a GPU it is left open whether anything
 * is noticed. */
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include "driver.h"

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#elif defined(__has_feature)
#define UNDER_ASAN __has_feature(address_sanitizer)
#else
#define UNDER_ASAN 0
#endif
#define LARGE ((size_t)64 << 20) /* is unmapped when it is freed */
#define ROW 256

static CUcontext context;
static CUstream stream;
static CUdeviceptr there; /* memory that stays */
static char said[512];    /* the last sentence of the log with an address that is wrong */

static void note(void *user, CUlogLevel level, char *message, size_t length)
{
    (void)user;
    (void)level;
    (void)length;
    if (strstr(message, "illegal address 0x") != NULL && said[0] == '\0')
        snprintf(said, sizeof(said), "%s", message);
}

static void begin(void)
{
    said[0] = '\0';
    OK(cu.cuCtxCreate(&context, NULL, 0, 0));
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu.cuMemAlloc(&there, LARGE));
    OK(cu.cuMemsetD8(there, 7, LARGE));
    OK(cu.cuCtxSynchronize());
}

static void a_fresh_context_works(void)
{
    unsigned char back[ROW];
    CUcontext fresh;
    CUdeviceptr p;
    memset(back, 0, sizeof(back));
    OK(cu.cuCtxCreate(&fresh, NULL, 0, 0));
    OK(cu.cuMemAlloc(&p, LARGE));
    OK(cu.cuMemsetD8(p, 5, LARGE));
    OK(cu.cuMemcpyDtoH(back, p + LARGE - ROW, ROW));
    CHECK(back[0] == 5 && back[ROW - 1] == 5);
    OK(cu.cuMemFree(p));
    OK(cu.cuCtxDestroy(fresh));
}

static bool is_said(const char *words)
{
    const bool found = strstr(said, words) != NULL;
    if (!found)
        fprintf(stderr, "  not \"%s\" but: %s\n", words, said);
    return found;
}

/* One of the bytes; which comes first is a copy's own choice. */
static bool is_said_of(uint64_t address, size_t bytes)
{
    static const char words[] = "illegal address 0x";
    const char *at = strstr(said, words);
    const uint64_t named = at ? strtoull(at + sizeof(words) - 1, NULL, 16) : 0;
    return at != NULL && named - address < bytes;
}

/* What `kind` of `bytes` bytes did at `address` ended the context, in one sentence. */
static void ends(const char *kind, size_t bytes, uint64_t address)
{
    char size[40];
    CUdeviceptr p;
    CHECK_IS(cu.cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK_IS(cu.cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK_IS(cu.cuMemAlloc(&p, 16), CUDA_ERROR_ILLEGAL_ADDRESS);
    snprintf(size, sizeof(size), "of %zu bytes", bytes);
    CHECK(is_said(kind) && is_said(size) && is_said_of(address, bytes));
    (void)cu.cuCtxDestroy(context);
    a_fresh_context_works();
}

static CUgraphExec instantiate(CUgraph graph)
{
    CUgraphExec exec = NULL;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, stream)); /* all is there the first time */
    OK(cu.cuStreamSynchronize(stream));
    return exec;
}

static CUgraphExec with_fill(CUdeviceptr dst, unsigned element, size_t width,
                             size_t height)
{
    CUgraph graph;
    CUgraphNode node;
    const CUDA_MEMSET_NODE_PARAMS fill = {.dst = dst,
                                          .elementSize = element,
                                          .value = 1,
                                          .width = width,
                                          .height = height,
                                          .pitch = 2 * width * element};
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    return instantiate(graph);
}

static CUgraphExec with_copy(const CUDA_MEMCPY3D *copy)
{
    CUgraph graph;
    CUgraphNode node;
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddMemcpyNode(&node, graph, NULL, 0, copy, context));
    return instantiate(graph);
}

static CUDA_MEMCPY3D between(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
    return (CUDA_MEMCPY3D){.dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = dst,
                           .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = src,
                           .WidthInBytes = bytes,
                           .Height = 1,
                           .Depth = 1};
}

static CUdeviceptr large(void)
{
    CUdeviceptr p = 0;
    OK(cu.cuMemAlloc(&p, LARGE));
    return p;
}

/* ---- nodes ---- */

static void a_fill_node_without_memory(void)
{
    static const struct {
        unsigned element;
        size_t width, height;
    } shapes[] = {{1, LARGE, 1}, {4, 1, 1}, {4, 16, 1}, {2, 100, 1}, {4, 1000, 9}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        begin();
        const CUdeviceptr p = large();
        const CUgraphExec exec =
            with_fill(p, shapes[i].element, shapes[i].width, shapes[i].height);
        OK(cu.cuMemFree(p));
        OK(cu.cuGraphLaunch(exec, stream));
        ends("memset (node ", shapes[i].element * shapes[i].width * shapes[i].height, p);
    }
}

static void a_copy_node_without_memory(void)
{
    static const size_t sizes[] = {4, 100, LARGE};
    for (size_t i = 0; i < 3; i++)
        for (int to = 0; to < 2; to++) {
            begin();
            const CUdeviceptr p = large();
            const CUDA_MEMCPY3D copy =
                to ? between(p, there, sizes[i]) : between(there, p, sizes[i]);
            const CUgraphExec exec = with_copy(&copy);
            OK(cu.cuMemFree(p));
            OK(cu.cuGraphLaunch(exec, stream));
            ends("memcpy (node ", sizes[i], p);
        }
}

static void copies_of_rows_without_memory(void)
{
    for (size_t depth = 1; depth < 4; depth += 2) {
        begin();
        const CUdeviceptr p = large();
        CUDA_MEMCPY3D copy = between(there, p, ROW);
        copy.srcPitch = 2 * ROW;
        copy.dstPitch = 3 * ROW;
        copy.srcHeight = copy.dstHeight = 16;
        copy.Height = 9;
        copy.Depth = depth;
        copy.srcY = 2;
        const CUgraphExec exec = with_copy(&copy);
        OK(cu.cuMemFree(p));
        OK(cu.cuGraphLaunch(exec, stream));
        ends("memcpy (node ", ROW * 9 * depth, p + 4 * ROW);
    }
}

static void a_copy_from_an_array_that_is_gone(void)
{
    begin();
    CUarray array;
    const CUDA_ARRAY_DESCRIPTOR desc = {.Width = 4096,
                                        .Height = 4096,
                                        .Format = CU_AD_FORMAT_UNSIGNED_INT32,
                                        .NumChannels = 1};
    OK(cu.cuArrayCreate(&array, &desc));
    CUDA_MEMCPY3D copy = between(there, 0, ROW);
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = array;
    const CUgraphExec exec = with_copy(&copy);
    OK(cu.cuArrayDestroy(array));
    OK(cu.cuGraphLaunch(exec, stream));
    CHECK_IS(cu.cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(is_said("memcpy (node ") && is_said("of 256 bytes"));
    (void)cu.cuCtxDestroy(context);
    a_fresh_context_works();
}

static void a_mapping_that_is_gone(void)
{
    const CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    const CUmemAccessDesc both = {.location = prop.location,
                                  .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    const size_t unit = 2 << 20;
    begin();
    CUdeviceptr range = 0;
    CUmemGenericAllocationHandle handle;
    OK(cu.cuMemAddressReserve(&range, unit, 0, 0, 0));
    OK(cu.cuMemCreate(&handle, unit, &prop, 0));
    OK(cu.cuMemMap(range, unit, 0, handle, 0));
    OK(cu.cuMemSetAccess(range, unit, &both, 1));
    const CUDA_MEMCPY3D copy = between(there, range + 64, ROW);
    const CUgraphExec exec = with_copy(&copy);
    OK(cu.cuMemUnmap(range, unit));
    OK(cu.cuGraphLaunch(exec, stream));
    ends("memcpy (node ", ROW, range + 64);
    OK(cu.cuMemRelease(handle));
    OK(cu.cuMemAddressFree(range, unit));
}

static void host_memory_that_is_gone(void)
{
    const size_t page = 65536; /* or several */
    for (int to = 0; to < 2; to++) {
        begin();
        unsigned char *host = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(host != MAP_FAILED);
        CUDA_MEMCPY3D copy = between(there, there, 2 * page);
        if (to) {
            copy.dstMemoryType = CU_MEMORYTYPE_HOST;
            copy.dstHost = host;
        } else {
            copy.srcMemoryType = CU_MEMORYTYPE_HOST;
            copy.srcHost = host;
        }
        const CUgraphExec exec = with_copy(&copy);
        CHECK(munmap(host, 2 * page) == 0);
        OK(cu.cuGraphLaunch(exec, stream));
        CHECK_IS(cu.cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
        CHECK(is_said("memcpy (node ") && is_said("of 131072 bytes"));
        (void)cu.cuCtxDestroy(context);
        a_fresh_context_works();
    }
}

#if defined(__x86_64__)
static void a_host_address_that_cannot_be(void)
{
    if (UNDER_ASAN)
        SKIP("asan knows such addresses before they are touched");
    begin();
    const uint64_t nowhere = 0xdead000000000000;
    CHECK_IS(cu.cuMemcpyHtoDAsync(there, (const void *)(uintptr_t)nowhere, LARGE, stream),
             CUDA_ERROR_ILLEGAL_ADDRESS);
    ends("memcpy of", LARGE, nowhere);
}
#endif

static CUgraphExec with_operation(CUdeviceptr word, CUstreamBatchMemOpType type)
{
    CUgraph graph;
    CUgraphNode node;
    CUstreamBatchMemOpParams op;
    CUDA_BATCH_MEM_OP_NODE_PARAMS params;
    memset(&op, 0, sizeof(op));
    memset(&params, 0, sizeof(params));
    op.operation = type;
    op.waitValue.address = op.writeValue.address = word;
    params.ctx = context;
    params.count = 1;
    params.paramArray = &op;
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    return instantiate(graph);
}

static void operations_in_a_graph_are_looked_at_first(void)
{
    static const CUstreamBatchMemOpType types[] = {CU_STREAM_MEM_OP_WRITE_VALUE_32,
                                                   CU_STREAM_MEM_OP_WAIT_VALUE_64};
    for (int i = 0; i < 2; i++) {
        begin();
        const CUdeviceptr p = large();
        OK(cu.cuMemsetD8(p, 0, 16));
        OK(cu.cuCtxSynchronize());
        const CUgraphExec exec = with_operation(p, types[i]);
        OK(cu.cuMemFree(p));
        REFUSED(INVALID_VALUE, cu.cuGraphLaunch(exec, stream));
        OK(cu.cuCtxSynchronize()); /* refused, and nothing was hurt */
        OK(cu.cuCtxDestroy(context));
    }
}

/* ---- work that waits in a stream while its memory goes ---- */

static atomic_int gate;

static void wait_for_gate(void *user)
{
    (void)user;
    while (atomic_load(&gate) == 0)
        continue;
}

/* Memory of a pool that goes as soon as it is freed in another stream. */
static CUdeviceptr pooled(CUstream other)
{
    CUdeviceptr p = 0;
    OK(cu.cuMemAllocAsync(&p, LARGE, other));
    OK(cu.cuStreamSynchronize(other));
    atomic_store(&gate, 0);
    OK(cu.cuLaunchHostFunc(stream, wait_for_gate, NULL));
    return p;
}

static void goes(CUdeviceptr p, CUstream other)
{
    CUmemoryPool pool;
    OK(cu.cuMemFreeAsync(p, other));
    OK(cu.cuStreamSynchronize(other));
    OK(cu.cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cu.cuMemPoolTrimTo(pool, 0));
    atomic_store(&gate, 1);
}

static void batch(CUdeviceptr p)
{
    CUdeviceptr to[] = {there, there + ROW}, from[] = {there + 2 * ROW, p};
    size_t sizes[] = {ROW, ROW}, first = 0;
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    OK(cu.cuMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, stream));
}

static void rows(CUdeviceptr p)
{
    const CUDA_MEMCPY2D copy = {.dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = there,
                                .dstPitch = 2 * ROW,
                                .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = p,
                                .srcPitch = ROW,
                                .WidthInBytes = ROW,
                                .Height = 16};
    OK(cu.cuMemcpy2DAsync(&copy, stream));
}

static void queued_work_without_memory(void)
{
    static const struct {
        const char *kind;
        size_t bytes;
    } works[] = {{"memset of", LARGE},   {"memcpy of", LARGE}, {"memcpy of", 4},
                 {"a write", 4},         {"a wait", 8},        {"memcpy of", ROW},
                 {"memcpy of", 16 * ROW}};
    for (int i = 0; i < 7; i++) {
        CUstream other;
        begin();
        OK(cu.cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
        const CUdeviceptr p = pooled(other);
        switch (i) {
        case 0: OK(cu.cuMemsetD8Async(p, 1, LARGE, stream)); break;
        case 1: OK(cu.cuMemcpyDtoDAsync(there, p, LARGE, stream)); break;
        case 2: OK(cu.cuMemcpyDtoDAsync(p, there, 4, stream)); break;
        case 3: OK(cu.cuStreamWriteValue32(stream, p, 1, 0)); break;
        case 4: OK(cu.cuStreamWaitValue64(stream, p, 1, 0)); break;
        case 5: batch(p); break;
        default: rows(p);
        }
        goes(p, other);
        ends(works[i].kind, works[i].bytes, p);
    }
}

/* A wait is under way when the memory of its word goes. */
static void a_wait_whose_word_goes(void)
{
    CUstream other;
    begin();
    OK(cu.cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    const CUdeviceptr p = pooled(other);
    OK(cu.cuMemsetD8Async(p, 0, 16, other));
    OK(cu.cuStreamSynchronize(other));
    OK(cu.cuStreamWaitValue32(stream, p, 1, CU_STREAM_WAIT_VALUE_EQ));
    atomic_store(&gate, 1);
    OK(cu.cuMemFreeAsync(p, other));
    ends("a wait", 4, p);
}

/* ---- what it is not ---- */

static sigjmp_buf jump;
static void *volatile missed;
static atomic_int caught;

static void on_fault(int signal, siginfo_t *info, void *machine)
{
    (void)signal;
    (void)machine;
    missed = info->si_addr;
    siglongjmp(jump, 1);
}

static void touch(void *user)
{
    if (sigsetjmp(jump, 1) == 0)
        *(volatile char *)user = 1;
    else
        atomic_fetch_add(&caught, missed == user);
}

/* The handler that was there first gets the program's own faults, and the driver's copies
 * go on as before. */
static void the_programs_own_faults_stay_its_own(void)
{
    void *nowhere = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(nowhere != MAP_FAILED);
    begin();
    atomic_store(&caught, 0);
    touch(nowhere);
    OK(cu.cuMemsetD8Async(there, 1, LARGE, stream));
    OK(cu.cuLaunchHostFunc(stream, touch, nowhere));
    OK(cu.cuMemcpyDtoDAsync(there, there + ROW, ROW, stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(atomic_load(&caught) == 2);
    OK(cu.cuCtxDestroy(context));
    munmap(nowhere, 65536);
}

int main(void)
{
    const struct sigaction own = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    CUlogsCallbackHandle handle;
    DRIVER_OR_SKIP();
    if (!driver_is_soft) {
        printf("what happens is softcuda's choice\n");
        return 77;
    }
    CHECK(sigaction(SIGSEGV, &own, NULL) == 0);
    DEVICE_OR_SKIP();
    OK(cu.cuLogsRegisterCallback(note, NULL, &handle));
    RUN(a_fill_node_without_memory);
    RUN(a_copy_node_without_memory);
    RUN(copies_of_rows_without_memory);
    RUN(a_copy_from_an_array_that_is_gone);
    RUN(a_mapping_that_is_gone);
    RUN(host_memory_that_is_gone);
#if defined(__x86_64__)
    RUN(a_host_address_that_cannot_be);
#endif
    RUN(operations_in_a_graph_are_looked_at_first);
    RUN(queued_work_without_memory);
    RUN(a_wait_whose_word_goes);
    RUN(the_programs_own_faults_stay_its_own);
    return test_done();
}
