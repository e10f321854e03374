// SPDX-License-Identifier: Apache-2.0
/* What no return code and no result shows: uses that a GPU computes on with, and that
 * SOFTCUDA_CHECK=race reports, with both nodes, the access and the address. Each is shown
 * with its right form beside it, about which nothing may be said. */
#include <setjmp.h>
#include <signal.h>

#include "memory_help.h"

#define ONLY_SOFT(reason)                                                                \
    do {                                                                                 \
        if (!driver_is_soft)                                                             \
            SKIP(reason);                                                                \
    } while (0)

/* store(p, v); load(p) reads a word; post(data, flag) stores, then says so in the flag;
 * hear(data, flag) waits for the flag, a while, then reads. */
static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry store(.param .u64 p, .param .u64 v)\n"
                          "{\n"
                          "  .reg .b64 %d<3>;\n"
                          "  ld.param.u64 %d1, [p]; ld.param.u64 %d2, [v];\n"
                          "  st.global.u32 [%d1], %d2;\n"
                          "  ret;\n"
                          "}\n"
                          ".visible .entry load(.param .u64 p, .param .u64 v)\n"
                          "{\n"
                          "  .reg .b32 %r<2>; .reg .b64 %d<2>;\n"
                          "  ld.param.u64 %d1, [p];\n"
                          "  ld.global.u32 %r1, [%d1];\n"
                          "  ret;\n"
                          "}\n"
                          ".visible .entry count(.param .u64 p, .param .u64 v)\n"
                          "{\n"
                          "  .reg .b64 %d<2>;\n"
                          "  ld.param.u64 %d1, [p];\n"
                          "  red.global.add.u32 [%d1], 1;\n"
                          "  ret;\n"
                          "}\n"
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
                          "  .reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %d<3>;\n"
                          "  ld.param.u64 %d1, [data]; ld.param.u64 %d2, [flag];\n"
                          "  mov.u32 %r3, 100000;\n"
                          "again:\n"
                          "  ld.acquire.gpu.global.u32 %r1, [%d2];\n"
                          "  setp.eq.u32 %p1, %r1, 0;\n"
                          "  sub.u32 %r3, %r3, 1;\n"
                          "  setp.ne.and.u32 %p2, %r3, 0, %p1;\n"
                          "  @%p2 bra again;\n"
                          "  ld.global.u32 %r2, [%d1];\n"
                          "  ret;\n"
                          "}\n";

static char reported[1 << 16]; /* since the last launch_and_listen() */

static void CUDA_CB note(void *user, CUlogLevel level, char *message, size_t bytes)
{
    (void)user, (void)level;
    const size_t have = strlen(reported);
    snprintf(reported + have, sizeof(reported) - have, "%.*s\n", (int)bytes, message);
}

static CUgraphNode add_kernel(CUgraph graph, CUgraphNode before, const char *name,
                              CUdeviceptr p, CUdeviceptr second)
{
    CUmodule module = NULL;
    CUgraphNode node = NULL;
    void *params[] = {&p, &second};
    CUDA_KERNEL_NODE_PARAMS kernel = {.gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 1,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = params};
    OK(cu.cuModuleLoadData(&module, ptx)); /* goes with the context */
    OK(cu.cuModuleGetFunction(&kernel.func, module, name));
    OK(cu.cuGraphAddKernelNode(&node, graph, before ? &before : NULL, before != NULL,
                               &kernel));
    return node;
}

/* A context of its own, which an error may end. */
struct scene {
    CUcontext outer, own;
    CUgraph graph;
};

static struct scene open_scene(int device)
{
    struct scene scene = {0};
    OK(cu.cuCtxGetCurrent(&scene.outer));
    OK(cu.cuCtxCreate(&scene.own, NULL, 0, device));
    scene.graph = new_graph();
    return scene;
}

/* One launch of the scene's graph; everything goes afterwards, but `reported`. */
static CUresult launch_and_listen(struct scene *scene)
{
    CUgraphExec exec = instantiate(scene->graph, 0);
    reported[0] = '\0';
    CUresult result = cu.cuGraphLaunch(exec, CU_STREAM_PER_THREAD);
    if (result == CUDA_SUCCESS)
        result = cu.cuCtxSynchronize();
    OK(cu.cuCtxDestroy(scene->own));
    OK(cu.cuCtxSetCurrent(scene->outer));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(scene->graph));
    return result;
}

static bool quiet(void)
{
    if (reported[0] != '\0')
        fprintf(stderr, "reported: %s", reported);
    return reported[0] == '\0';
}

/* Every text was reported, one after the other. */
static bool heard(const char *const *texts, size_t count)
{
    const char *at = reported;
    for (size_t i = 0; i < count && at != NULL; i++)
        at = strstr(at, texts[i]);
    if (at == NULL)
        fprintf(stderr, "reported: %s", reported);
    return at != NULL;
}
#define HEARD(...)                                                                       \
    CHECK(heard((const char *const[]){__VA_ARGS__},                                      \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))

static const char *hexadecimal(CUdeviceptr address)
{
    static char text[32];
    snprintf(text, sizeof(text), " at 0x%llx", (unsigned long long)address);
    return text;
}

/* ---- R51 ---- */

static const char *const computes_on =
    "a GPU computes on, with what happens to be in the memory";

static void a_use_beside_the_free_is_told(void)
{
    ONLY_SOFT(computes_on);
    for (int ordered = 0; ordered < 2; ordered++) {
        struct scene scene = open_scene(0);
        CUdeviceptr p;
        CUgraphNode alloc = add_alloc(scene.graph, NULL, 4096, &p);
        CUgraphNode user = add_kernel(scene.graph, alloc, "store", p + 8, 1);
        add_free(scene.graph, ordered ? user : alloc, p);
        OK(launch_and_listen(&scene));
        if (ordered)
            CHECK(quiet());
        else
            HEARD("outside of its life: kernel store (node ", " writes 4 bytes",
                  hexadecimal(p + 8), "8 bytes into the graph allocation of 4096 bytes",
                  "no path of dependencies leads from it to the free of that memory, "
                  "node ");
    }
}

static void a_use_behind_the_free_is_told(void)
{
    ONLY_SOFT(computes_on);
    struct scene scene = open_scene(0);
    CUdeviceptr p;
    CUgraphNode alloc = add_alloc(scene.graph, NULL, 4096, &p);
    /* A fill cannot name what a free node frees already: the edge comes last. */
    CUgraphNode fill = add_fill(scene.graph, NULL, p, 1, 4);
    CUgraphNode end = add_free(scene.graph, alloc, p);
    OK(cu.cuGraphAddDependencies(scene.graph, &end, &fill, NULL, 1));
    OK(launch_and_listen(&scene));
    HEARD("outside of its life: memset (node ", hexadecimal(p),
          "that memory was freed before it, by node ");
}

static void a_use_that_nothing_orders_behind_the_allocation_is_told(void)
{
    ONLY_SOFT(computes_on);
    for (int ordered = 0; ordered < 2; ordered++) {
        struct scene scene = open_scene(0);
        CUdeviceptr p;
        CUgraphNode alloc = add_alloc(scene.graph, NULL, 4096, &p);
        CUgraphNode user = add_kernel(scene.graph, ordered ? alloc : NULL, "load", p, 0);
        add_free(scene.graph, user, p);
        OK(launch_and_listen(&scene));
        if (ordered)
            CHECK(quiet());
        else
            HEARD("outside of its life: kernel load (node ", " reads 4 bytes",
                  hexadecimal(p),
                  "no path of dependencies leads to it from the allocation of that "
                  "memory, node ");
    }
}

/* `hear` ends only after `post` has stored: nothing orders `post` before the free. */
static void a_flag_orders_no_free(void)
{
    if (getenv("SOFTCUDA_SCHEDULE_SEED") != NULL)
        SKIP("the order in which `hear` comes first does not end");
    ONLY_SOFT(computes_on);
    CUdeviceptr p, flag;
    OK(cu.cuMemAlloc(&flag, 4));
    OK(cu.cuMemsetD32(flag, 0, 1));
    OK(cu.cuCtxSynchronize());
    struct scene scene = open_scene(0);
    CUgraphNode alloc = add_alloc(scene.graph, NULL, 4096, &p);
    add_kernel(scene.graph, alloc, "post", p, flag);
    CUgraphNode hears = add_kernel(scene.graph, alloc, "hear", p, flag);
    add_free(scene.graph, hears, p);
    OK(launch_and_listen(&scene));
    HEARD("outside of its life: kernel post (node ", hexadecimal(p),
          "no path of dependencies leads from it to the free of that memory, node ");
    OK(cu.cuMemFree(flag));
}

/* ---- G_unordered ---- */

static const char *const computes_on_either =
    "a GPU computes on, with one order or the other";

static void unordered(const char *first, const char *second, bool is_race)
{
    for (int ordered = 0; ordered < 2; ordered++) {
        CUdeviceptr p;
        OK(cu.cuMemAlloc(&p, 64));
        struct scene scene = open_scene(0);
        CUgraphNode one = add_kernel(scene.graph, NULL, first, p + 16, 1);
        add_kernel(scene.graph, ordered ? one : NULL, second, p + 16, 2);
        OK(launch_and_listen(&scene));
        if (ordered || !is_race)
            CHECK(quiet());
        else
            HEARD("race: kernel ", first, "(node ", " and kernel ", second, "(node ",
                  hexadecimal(p + 16), "16 bytes into the allocation of 64 bytes at",
                  "no path of dependencies orders them");
        OK(cu.cuMemFree(p));
    }
}

static void conflicting_accesses_are_told(void)
{
    ONLY_SOFT(computes_on_either);
    unordered("store", "store", true);
    unordered("store", "load", true);
    unordered("count", "load", true);
}

static void accesses_that_agree_are_not(void)
{
    ONLY_SOFT(computes_on_either);
    unordered("load", "load", false);
    unordered("count", "count", false);
}

static void a_flag_orders_no_reader(void)
{
    if (getenv("SOFTCUDA_SCHEDULE_SEED") != NULL)
        SKIP("the order in which `hear` comes first does not end");
    ONLY_SOFT(computes_on_either);
    CUdeviceptr p;
    OK(cu.cuMemAlloc(&p, 64));
    OK(cu.cuMemsetD32(p, 0, 16));
    OK(cu.cuCtxSynchronize());
    struct scene scene = open_scene(0);
    add_kernel(scene.graph, NULL, "post", p, p + 32);
    add_kernel(scene.graph, NULL, "hear", p, p + 32);
    OK(launch_and_listen(&scene));
    HEARD("race: kernel post (node ", " and kernel hear (node ", hexadecimal(p),
          "no path of dependencies orders them");
    CHECK(strstr(reported, hexadecimal(p + 32)) == NULL); /* of the flag nothing */
    OK(cu.cuMemFree(p));
}

/* ---- G_bounds ---- */

static CUresult store_in_graph_memory(uint64_t bytes, uint64_t offset, CUdeviceptr *at)
{
    struct scene scene = open_scene(0);
    CUgraphNode alloc = add_alloc(scene.graph, NULL, bytes, at);
    CUgraphNode user = add_kernel(scene.graph, alloc, "store", *at + offset, 1);
    add_free(scene.graph, user, *at);
    *at += offset;
    return launch_and_listen(&scene);
}

static void a_store_past_the_end_is_told(void)
{
    ONLY_SOFT("memory is mapped in steps of 2 MiB, within which a GPU computes on");
    CUdeviceptr at;
    OK(store_in_graph_memory(100, 96, &at));
    CHECK(quiet());
    REFUSED(ILLEGAL_ADDRESS, store_in_graph_memory(100, 100, &at));
    HEARD("kernel store (node ", "block [0,0,0], thread [0,0,0]: illegal address",
          hexadecimal(at) + 4, " writes 4 bytes", "past the end of the ", "100 bytes");
}

static void a_store_to_freed_memory_is_told(void)
{
    ONLY_SOFT("freed memory stays mapped, and a GPU computes on");
    struct scene scene = open_scene(0);
    CUdeviceptr p;
    OK(cu.cuMemAllocAsync(&p, 64, CU_STREAM_PER_THREAD));
    OK(cu.cuMemFreeAsync(p, CU_STREAM_PER_THREAD));
    OK(cu.cuStreamSynchronize(CU_STREAM_PER_THREAD));
    add_kernel(scene.graph, NULL, "store", p, 1);
    REFUSED(ILLEGAL_ADDRESS, launch_and_listen(&scene));
    HEARD("kernel store (node ", "illegal address", hexadecimal(p) + 4);
}

/* ---- G_wider_mapping ---- */

static CUresult store_from_the_other(bool is_named, CUdeviceptr *at)
{
    struct scene scene = open_scene(1);
    const CUmemAccessDesc access = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 1},
                                    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUDA_MEM_ALLOC_NODE_PARAMS params = want(4096);
    CUgraphNode alloc = NULL;
    params.accessDescs = &access;
    params.accessDescCount = is_named;
    OK(cu.cuGraphAddMemAllocNode(&alloc, scene.graph, NULL, 0, &params));
    *at = params.dptr + 4;
    CUgraphNode user = add_kernel(scene.graph, alloc, "store", *at, 1);
    add_free(scene.graph, user, params.dptr);
    return launch_and_listen(&scene);
}

static void devices_that_the_alloc_node_does_not_name_are_told(void)
{
    ONLY_SOFT("memory of a graph may be mapped for more devices than it names");
    CUdeviceptr at;
    OK(store_from_the_other(true, &at));
    CHECK(quiet());
    REFUSED(ILLEGAL_ADDRESS, store_from_the_other(false, &at));
    HEARD("kernel store (node ", "illegal address", hexadecimal(at) + 4,
          "memory of device 0, to which device 1 was given no access (accessDescs of the "
          "alloc node)");
}

/* ---- G_host_pointer, G_device_pointer ---- */

static unsigned word_of_the_host = 3;

static void ordinary_host_memory_is_none_for_kernels(void)
{
    ONLY_SOFT("where the system serves host memory to kernels, a GPU computes on");
    const CUdeviceptr word = (CUdeviceptr)(uintptr_t)&word_of_the_host;
    for (int pinned = 0; pinned < 2; pinned++) {
        if (pinned)
            OK(cu.cuMemHostRegister(&word_of_the_host, sizeof(word_of_the_host), 0));
        struct scene scene = open_scene(0);
        add_kernel(scene.graph, NULL, "store", word, 5);
        CHECK_IS(launch_and_listen(&scene),
                 pinned ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS);
        if (pinned)
            CHECK(quiet());
        else
            HEARD("kernel store (node ", "illegal address", hexadecimal(word) + 4,
                  "no memory of the GPU; ordinary host memory is not for kernels");
        CHECK(word_of_the_host == (pinned ? 5u : 3u));
    }
    OK(cu.cuMemHostUnregister(&word_of_the_host));
}

static sigjmp_buf out_of_it;
static volatile sig_atomic_t expecting;

static void on_signal(int number)
{
    if (!expecting) {
        signal(number, SIG_DFL);
        raise(number);
    }
    expecting = 0;
    siglongjmp(out_of_it, 1);
}

static void CUDA_CB read_there(void *at)
{
    if (sigsetjmp(out_of_it, 1) != 0)
        return;
    expecting = 1;
    (void)*(volatile unsigned *)at;
    expecting = 0;
}

/* The function of a host node gets the address of the graph's memory. */
static void device_memory_is_none_for_host_nodes(void)
{
    ONLY_SOFT("on a GPU the process ends, or computes on where the system serves it");
    struct scene scene = open_scene(0);
    CUdeviceptr p;
    CUgraphNode alloc = add_alloc(scene.graph, NULL, 4096, &p), host = NULL;
    CUgraphNode fill = add_fill(scene.graph, alloc, p, 1, 4);
    const CUDA_HOST_NODE_PARAMS params = {read_there, (void *)(uintptr_t)p};
    OK(cu.cuGraphAddHostNode(&host, scene.graph, &fill, 1, &params));
    add_free(scene.graph, host, p);
    OK(launch_and_listen(&scene));
    HEARD("host code read device memory", hexadecimal(p), "4096 bytes",
          "only kernels and copies reach it (SOFTCUDA_CHECK)");
}

static void run(void)
{
    CUlogsCallbackHandle handle;
    if (!rule_listing && driver_is_soft)
        OK(cu.cuLogsRegisterCallback(note, NULL, &handle));
    RULE_TEST(R51, a_use_beside_the_free_is_told);
    RULE_TEST(R51, a_use_behind_the_free_is_told);
    RULE_TEST(R51, a_use_that_nothing_orders_behind_the_allocation_is_told);
    RULE_TEST(R51, a_flag_orders_no_free);
    RULE_TEST(G_unordered, conflicting_accesses_are_told);
    RULE_TEST(G_unordered, accesses_that_agree_are_not);
    RULE_TEST(G_unordered, a_flag_orders_no_reader);
    RULE_TEST(G_bounds, a_store_past_the_end_is_told);
    RULE_TEST(G_bounds, a_store_to_freed_memory_is_told);
    RULE_TEST(G_wider_mapping, devices_that_the_alloc_node_does_not_name_are_told);
    RULE_TEST(G_host_pointer, ordinary_host_memory_is_none_for_kernels);
    RULE_TEST(G_device_pointer, device_memory_is_none_for_host_nodes);
    if (!rule_listing && driver_is_soft)
        OK(cu.cuLogsUnregisterCallback(handle));
}

int main(int argc, char **argv)
{
    setenv("SOFTCUDA_CHECK", "race", 1);
    setenv("SOFTCUDA_DEVICES", "2", 1);
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_signal;
    action.sa_flags = SA_NODEFER;
    sigaction(SIGSEGV, &action, NULL); /* before the driver's, which passes on to it */
    return rule_main(argc, argv, run);
}
