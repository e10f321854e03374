// SPDX-License-Identifier: Apache-2.0
/* SOFTCUDA_CHECK=memory: accesses that no page protection catches end the kernel with
 * error 700, and the log says which bytes of which allocation they touched; the host
 * faults where it touches device memory, and the log says which. */
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"
#include "kernels.h"

static char log_text[4096];
static sigjmp_buf touched;
static volatile sig_atomic_t touching; /* a fault is expected on this thread */

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

static unsigned long long stack_word_at;

static CUdeviceptr of_the_stack(CUdeviceptr p)
{
    static unsigned *word;
    unsigned local[4];
    (void)p;
    word = (unsigned *)(((uintptr_t)local + 3) & ~(uintptr_t)3);
    stack_word_at = (unsigned long long)(uintptr_t)word;
    return (CUdeviceptr)(uintptr_t)word;
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

/* Holds up the stream that it is queued in. */
static atomic_bool may_go;

static void CUDA_CB wait_for_word(void *user)
{
    (void)user;
    while (!atomic_load(&may_go))
        usleep(100);
}

/* Queued before it is freed in stream order: it may touch all of it, however late it runs
 * and whoever gets the block next; what is queued later may not. */
static void stream_ordered_frees_wait_for_their_turn(void)
{
    CUcontext context;
    CUmodule module;
    CUfunction store;
    CUdeviceptr p, again;
    CUstream stream;
    unsigned value = 5;
    OK(cu.cuCtxCreate(&context, NULL, 0, 0));
    OK(cu.cuModuleLoadData(&module, kernels_ptx));
    OK(cu.cuModuleGetFunction(&store, module, "store"));
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu.cuMemAllocAsync(&p, 8192, stream));
    CUdeviceptr at = p + 8188;
    void *params[] = {&at, &value};
    OK(cu.cuLaunchHostFunc(stream, wait_for_word, NULL));
    OK(cu.cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    OK(cu.cuMemFreeAsync(p, stream));
    OK(cu.cuMemAllocAsync(&again, 5000, stream));
    CHECK(again == p);
    atomic_store(&may_go, true);
    CHECK(cu.cuStreamSynchronize(stream) == CUDA_SUCCESS);
    log_text[0] = '\0';
    OK(cu.cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    REFUSED(ILLEGAL_ADDRESS, cu.cuStreamSynchronize(stream));
    CHECK(strstr(log_text, "past the end of the allocation of 5000 bytes") ||
          strstr(log_text, "that was freed"));
    OK(cu.cuCtxDestroy(context));
}

static void host_memory_is_caught(void)
{
    REFUSED(ILLEGAL_ADDRESS, store_at(of_the_host));
    CHECK(strstr(log_text, " of the PTX writes 4 bytes: no memory of the GPU; "
                           "ordinary host memory is not for kernels") != NULL);
    char stack_address[32];
    REFUSED(ILLEGAL_ADDRESS, store_at(of_the_stack));
    snprintf(stack_address, sizeof(stack_address), "0x%llx", stack_word_at);
    CHECK(strstr(log_text, stack_address) != NULL);
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

/* ---- the host and device memory ---- */

static void on_signal(int number)
{
    if (!touching) { /* of the test itself */
        signal(number, SIG_DFL);
        raise(number);
    }
    touching = 0;
    siglongjmp(touched, 1);
}

static unsigned char bytes_here[64];

static void read_word(void *at)
{
    bytes_here[0] = (unsigned char)*(volatile unsigned *)at;
}

static void write_word(void *at)
{
    *(volatile unsigned *)at = 1;
}

static void copy_from(void *at)
{
    memcpy(bytes_here, at, sizeof(bytes_here));
}

static void copy_to(void *at)
{
    memcpy(at, bytes_here, sizeof(bytes_here));
}

static bool faults(void (*touch)(void *at), CUdeviceptr at)
{
    log_text[0] = '\0';
    if (sigsetjmp(touched, 1) != 0)
        return true;
    touching = 1;
    touch((void *)(uintptr_t)at);
    touching = 0;
    return false;
}

static bool said(const char *verb, CUdeviceptr at, CUdeviceptr base, unsigned bytes)
{
    char sentence[400];
    snprintf(sentence, sizeof(sentence),
             "host code %s device memory at 0x%llx: %llu bytes into the allocation of %u "
             "bytes at 0x%llx; only kernels and copies reach it (SOFTCUDA_CHECK)",
             verb, (unsigned long long)at, (unsigned long long)(at - base), bytes,
             (unsigned long long)base);
    if (strstr(log_text, sentence) != NULL)
        return true;
    fprintf(stderr, "not said: %s\nbut: %s\n", sentence, log_text);
    return false;
}

static void the_host_is_kept_out_of_device_memory(void)
{
    CUdeviceptr p;
    OK(cu.cuMemAlloc(&p, 100));
    CHECK(faults(read_word, p + 8) && said("read", p + 8, p, 100));
    CHECK(faults(write_word, p + 96) && said("wrote", p + 96, p, 100));
    CHECK(faults(copy_from, p) && said("read", p, p, 100));
    CHECK(faults(copy_to, p) && said("wrote", p, p, 100));
    OK(cu.cuMemFree(p));
    CHECK(faults(read_word, p + 8));
    CHECK(strstr(log_text, "host code read device memory") != NULL);
    CHECK(strstr(log_text, "that was freed") != NULL);
}

/* Every way to device memory but the host's own still leads there. */
static void copies_kernels_and_variables_reach_it(void)
{
    const unsigned from[4] = {1, 2, 3, 4};
    unsigned to[4] = {0};
    CUdeviceptr p, q, counter;
    size_t bytes;
    CUmodule module;
    CUfunction bump;
    OK(cu.cuMemAlloc(&p, sizeof(from)));
    OK(cu.cuMemAllocAsync(&q, sizeof(from), NULL));
    OK(cu.cuMemcpyHtoD(p, from, sizeof(from)));
    OK(cu.cuMemcpyDtoD(q, p, sizeof(from)));
    OK(cu.cuMemsetD32(q + 4, 9, 1));
    OK(cu.cuMemcpyDtoH(to, q, sizeof(to)));
    CHECK(to[0] == 1 && to[1] == 9 && to[2] == 3 && to[3] == 4);
    CHECK(faults(read_word, q));
    OK(cu.cuMemFreeAsync(q, NULL));
    OK(cu.cuModuleLoadData(&module, kernels_ptx));
    OK(cu.cuModuleGetFunction(&bump, module, "bump"));
    OK(cu.cuLaunchKernel(bump, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cu.cuModuleGetGlobal(&counter, &bytes, module, "counter"));
    OK(cu.cuMemcpyDtoH(to, counter, 4));
    CHECK(to[0] == 8);
    CHECK(faults(write_word, counter));
    OK(cu.cuModuleUnload(module));
    OK(cu.cuMemFree(p));
}

/* Pinned and managed memory is the host's, too. */
static void shared_memory_stays_the_hosts(void)
{
    CUmodule module;
    CUfunction store;
    unsigned value = 17, *pinned;
    CUdeviceptr p, neighbor;
    OK(cu.cuModuleLoadData(&module, kernels_ptx));
    OK(cu.cuModuleGetFunction(&store, module, "store"));
    OK(cu.cuMemAlloc(&neighbor, 64));
    OK(cu.cuMemAllocManaged(&p, 64, CU_MEM_ATTACH_GLOBAL));
    OK(cu.cuMemAllocHost((void **)&pinned, 64));
    CUdeviceptr ends[2] = {p, (CUdeviceptr)(uintptr_t)pinned};
    for (int i = 0; i < 2; i++) {
        volatile unsigned *word = (unsigned *)(uintptr_t)ends[i];
        word[0] = word[1] = 1;
        void *params[] = {&ends[i], &value};
        OK(cu.cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
        OK(cu.cuCtxSynchronize());
        CHECK(word[0] == 17 && word[1] == 1);
    }
    CHECK(faults(read_word, neighbor));
    OK(cu.cuMemFree(p));
    OK(cu.cuMemFree(neighbor));
    OK(cu.cuMemFreeHost(pinned));
    OK(cu.cuModuleUnload(module));
}

/* ---- several devices ---- */

/* A kernel of device 1 stores to `p`, in a fresh context that may be let in before. */
static CUresult store_from_device_1(CUdeviceptr p, CUcontext owner)
{
    CUcontext context;
    CUmodule code;
    CUfunction store;
    unsigned value = 3;
    void *params[] = {&p, &value};
    OK(cu.cuCtxCreate(&context, NULL, 0, 1));
    if (owner != NULL)
        OK(cu.cuCtxEnablePeerAccess(owner, 0));
    OK(cu.cuModuleLoadData(&code, kernels_ptx));
    OK(cu.cuModuleGetFunction(&store, code, "store"));
    log_text[0] = '\0';
    OK(cu.cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    const CUresult result = cu.cuCtxSynchronize();
    OK(cu.cuCtxDestroy(context));
    return result;
}

static void peers_are_let_in_only_where_asked(void)
{
    CUcontext own;
    CUdeviceptr p, q;
    CUmemoryPool pool;
    OK(cu.cuCtxGetCurrent(&own));
    OK(cu.cuMemAlloc(&p, 64));
    REFUSED(ILLEGAL_ADDRESS, store_from_device_1(p, NULL));
    CHECK(strstr(log_text, "memory of device 0, to which device 1 was given no access "
                           "(cuCtxEnablePeerAccess)") != NULL);
    OK(store_from_device_1(p, own));
    OK(cu.cuMemFree(p));
    OK(cu.cuMemAllocManaged(&p, 64, CU_MEM_ATTACH_GLOBAL));
    OK(store_from_device_1(p, NULL));
    OK(cu.cuMemFree(p));

    OK(cu.cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cu.cuMemAllocAsync(&q, 64, NULL));
    OK(cu.cuCtxSynchronize());
    REFUSED(ILLEGAL_ADDRESS, store_from_device_1(q, own)); /* pools have their own */
    CHECK(strstr(log_text, "was given no access (cuMemPoolSetAccess)") != NULL);
    CUmemAccessDesc access = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 1},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cu.cuMemPoolSetAccess(pool, &access, 1));
    OK(store_from_device_1(q, NULL));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    OK(cu.cuMemPoolSetAccess(pool, &access, 1));
    OK(cu.cuMemFreeAsync(q, NULL));
}

/* Each device by itself, though one mapping serves both. */
static void mapped_ranges_let_each_device_in(void)
{
    const size_t bytes = 2 << 20;
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemAccessDesc access = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr p;
    unsigned long long flags;
    OK(cu.cuMemCreate(&handle, bytes, &prop, 0));
    OK(cu.cuMemAddressReserve(&p, bytes, 0, 0, 0));
    OK(cu.cuMemMap(p, bytes, 0, handle, 0));
    OK(cu.cuMemSetAccess(p, bytes, &access, 1));
    REFUSED(ILLEGAL_ADDRESS, store_from_device_1(p, NULL));
    CHECK(strstr(log_text, "memory of device 0, to which device 1 was given no access "
                           "(cuMemSetAccess)") != NULL);
    access.location.id = 1;
    OK(cu.cuMemGetAccess(&flags, &access.location, p));
    CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_NONE);
    OK(cu.cuMemSetAccess(p, bytes, &access, 1));
    OK(store_from_device_1(p, NULL));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    OK(cu.cuMemSetAccess(p, bytes, &access, 1));
    REFUSED(ILLEGAL_ADDRESS, store_from_device_1(p, NULL));
    access.location.id = 0;
    OK(cu.cuMemGetAccess(&flags, &access.location, p));
    CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cu.cuMemUnmap(p, bytes));
    OK(cu.cuMemAddressFree(p, bytes));
    OK(cu.cuMemRelease(handle));
}

/* A graph whose allocation device 1 may use or not, and a kernel of device 1 in it. */
static CUresult store_in_graph_memory(bool let_in)
{
    CUcontext context, own;
    CUmodule code;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode alloc, kernel;
    unsigned value = 3;
    const CUmemAccessDesc access = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 1},
                                    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUDA_MEM_ALLOC_NODE_PARAMS memory;
    memset(&memory, 0, sizeof(memory));
    memory.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    memory.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    memory.accessDescs = &access;
    memory.accessDescCount = let_in;
    memory.bytesize = 64;
    OK(cu.cuCtxGetCurrent(&own));
    OK(cu.cuCtxCreate(&context, NULL, 0, 1));
    OK(cu.cuModuleLoadData(&code, kernels_ptx));
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &memory));
    void *params[] = {&memory.dptr, &value};
    CUDA_KERNEL_NODE_PARAMS node = {.gridDimX = 1,
                                    .gridDimY = 1,
                                    .gridDimZ = 1,
                                    .blockDimX = 1,
                                    .blockDimY = 1,
                                    .blockDimZ = 1,
                                    .kernelParams = params};
    OK(cu.cuModuleGetFunction(&node.func, code, "store"));
    OK(cu.cuGraphAddKernelNode(&kernel, graph, &alloc, 1, &node));
    OK(cu.cuGraphAddMemFreeNode(&alloc, graph, &kernel, 1, memory.dptr));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    log_text[0] = '\0';
    OK(cu.cuGraphLaunch(exec, CU_STREAM_PER_THREAD));
    const CUresult result = cu.cuCtxSynchronize();
    OK(cu.cuCtxDestroy(context));
    OK(cu.cuCtxSetCurrent(own));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    return result;
}

static void graph_memory_lets_in_whom_it_names(void)
{
    OK(store_in_graph_memory(true));
    REFUSED(ILLEGAL_ADDRESS, store_in_graph_memory(false));
    CHECK(strstr(log_text, "was given no access (accessDescs of the alloc node)") !=
          NULL);
}

static bool asked_to_die(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], "die") == 0;
}

/* What a program without a handler comes to; in a process of its own. */
static int die(void)
{
    CUdeviceptr p;
    use_primary();
    OK(cu.cuMemAlloc(&p, 100));
    copy_from((void *)(uintptr_t)p);
    return 0;
}

static const char *self;

static void a_program_that_does_it_ends(void)
{
    char command[4096], line[1024] = "";
    snprintf(command, sizeof(command), "exec '%s' die 2>&1", self);
    FILE *child = popen(command, "r");
    if (!CHECK(child != NULL))
        return;
    bool heard = false;
    while (fgets(line, sizeof(line), child) != NULL)
        heard |= strstr(line, "host code read device memory at 0x") != NULL;
    const int status = pclose(child);
    CHECK(heard);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    CHECK(status != 0); /* it has a handler of its own */
#elif defined(__has_feature)
    CHECK(status != 0);
#else
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
#endif
}

static void an_unknown_word_is_refused(void)
{
    char command[4096], line[1024] = "";
    snprintf(command, sizeof(command), "SOFTCUDA_CHECK=memry exec '%s' init 2>&1", self);
    FILE *child = popen(command, "r");
    if (!CHECK(child != NULL))
        return;
    bool heard = false;
    while (fgets(line, sizeof(line), child) != NULL)
        heard |= strstr(line, "SOFTCUDA_CHECK has the word 'memry'") != NULL;
    CHECK(pclose(child) == 0 && heard);
}

int main(int argc, char **argv)
{
    self = argv[0];
    if (argc > 1 && strcmp(argv[1], "init") == 0) {
        setenv("CUDA_LOG_FILE", "stderr", 1);
        DRIVER_OR_SKIP();
        return cu.cuInit(0) == CUDA_ERROR_INVALID_VALUE ? 0 : 1;
    }
    setenv("SOFTCUDA_CHECK", "memory", 1);
    setenv("SOFTCUDA_DEVICES", "2", 1);
    if (!asked_to_die(argc, argv))
        signal(SIGSEGV, on_signal); /* before the driver's: it is handed on */
    DEVICE_OR_SKIP();
    if (asked_to_die(argc, argv))
        return die();
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
    RUN(stream_ordered_frees_wait_for_their_turn);
    RUN(host_memory_is_caught);
    RUN(misaligned_accesses_are_caught);
    RUN(the_host_is_kept_out_of_device_memory);
    RUN(copies_kernels_and_variables_reach_it);
    RUN(shared_memory_stays_the_hosts);
    RUN(peers_are_let_in_only_where_asked);
    RUN(mapped_ranges_let_each_device_in);
    RUN(graph_memory_lets_in_whom_it_names);
    RUN(a_program_that_does_it_ends);
    RUN(an_unknown_word_is_refused);
    OK(cu.cuLogsUnregisterCallback(handle));
    OK(cu.cuCtxSetCurrent(context));
    return test_done();
}
