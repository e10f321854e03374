// SPDX-License-Identifier: Apache-2.0
/* A program over the driver API, linked with the stub, for attach_test.c: argv[1] says
 * what it does. Each function is one thing. */
#define _GNU_SOURCE
#include "cuda/prototypes.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry store(.param .u64 p, .param .u32 v, .param .u64 q)\n"
    "{ .reg .b32 %r<2>; .reg .b64 %d<2>; ld.param.u64 %d1, [p]; ld.param.u32 %r1, [v];\n"
    "  st.global.u32 [%d1], %r1; ret; }\n";

static CUcontext context;
static CUstream stream;
static CUfunction store;
static CUdeviceptr memory;
static int bad;

#define OK(expr) ok((expr), #expr, __LINE__)
static void ok(CUresult result, const char *what, int line)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "line %d: %s: %d\n", line, what, (int)result);
    bad = 1;
}

static void start(void)
{
    CUmodule module;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&store, module, "store"));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc_v2(&memory, 4096));
}

static void launch(unsigned value)
{
    CUdeviceptr other = memory + 256;
    void *arguments[] = {&memory, &value, &other};
    OK(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
}

static void do_capture(void)
{
    static unsigned char host[100000];
    CUgraph graph, child;
    CUgraphExec exec;
    CUgraphNode node, nodes[2];
    start();
    memset(host, 7, sizeof(host));
    CUdeviceptr large;
    OK(cuMemAlloc_v2(&large, sizeof(host)));
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch(42);
    OK(cuMemcpyHtoDAsync_v2(large, host, sizeof(host), stream));
    OK(cuMemsetD8Async(memory, 1, 64, stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphCreate(&child, 0));
    OK(cuGraphAddEmptyNode(&nodes[0], child, NULL, 0));
    OK(cuGraphAddEmptyNode(&nodes[1], child, nodes, 1));
    OK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(child));
}

/* Executables of a graph that has not changed since its capture, and then has. */
static void do_again(void)
{
    CUgraph graph, other;
    CUgraphExec exec;
    CUgraphNode node;
    CUgraphExecUpdateResultInfo info;
    start();
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch(42);
    OK(cuMemsetD8Async(memory, 1, 64, stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphExecUpdate_v2(exec, graph, &info));
    OK(cuGraphCreate(&other, 0)); /* of another graph: nobody looks which */
    OK(cuGraphExecUpdate_v2(exec, graph, &info));
    OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(other));
}

static void do_fail(void)
{
    start();
    CUdeviceptr none;
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    errno = 33;
    if (cuMemAlloc_v2(&none, 64) != CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED || errno != 33)
        bad = 1;
    CUgraph graph;
    if (cuStreamEndCapture(stream, &graph) != CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
        bad = 1;
    OK(cuMemAlloc_v2(&none, 64)); /* no capture is open any more */
}

/* dlopen, dlsym, cuGetProcAddress in all forms: no call passes unseen. */
static void *library(int flags)
{
    void *handle = dlopen("libcuda.so.1", RTLD_NOW | flags);
    if (handle == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return handle;
}

static void do_dlsym(int flags)
{
    void *handle = library(flags);
    CUresult (*init)(unsigned) = NULL;
    CUresult (*get)(const char *, void **, int, cuuint64_t,
                    CUdriverProcAddressQueryResult *) = NULL;
    CUresult (*retain)(CUcontext *, CUdevice) = NULL;
    CUresult (*allocate)(CUdeviceptr *, size_t) = NULL;
    CUresult (*copy)(CUdeviceptr, CUdeviceptr, size_t, CUstream) = NULL;
    *(void **)&init = dlsym(handle, "cuInit");
    *(void **)&get = dlsym(handle, "cuGetProcAddress_v2");
    OK(init(0));
    CUdriverProcAddressQueryResult found;
    OK(get("cuDevicePrimaryCtxRetain", (void **)&retain, 12000, 0, &found));
    OK(get("cuMemAlloc", (void **)&allocate, 12000, 0, &found));
    OK(get("cuMemcpyAsync", (void **)&copy, 12000,
           CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &found));
    OK(retain(&context, 0));
    CUresult (*set)(CUcontext) = NULL;
    *(void **)&set = dlsym(handle, "cuCtxSetCurrent");
    OK(set(context));
    OK(allocate(&memory, 4096));
    OK(copy(memory, memory + 2048, 16, NULL));
    dlerror();
    if (dlsym(handle, "cuNoSuchCall") != NULL || dlerror() == NULL)
        bad = 1;
    dlsym(handle, "cuMemFree_v2");
    if (dlerror() != NULL)
        bad = 1;
}

/* Every call that the driver gives by cuGetProcAddress() is one of the attached library's
 * wrappers. */
static void do_lookups(void)
{
    Dl_info own, found;
    int missing = 0, seen = 0;
    if (dladdr(dlsym(RTLD_DEFAULT, "gph_attach_note"), &own) == 0)
        exit(1);
#define X(name, version, arguments)                                                      \
    for (cuuint64_t flags = 0; flags <= 2; flags += 2) {                                 \
        void *entry = NULL;                                                              \
        CUdriverProcAddressQueryResult status;                                           \
        if (cuGetProcAddress_v2(#name, &entry, version, flags, &status) != 0 ||          \
            entry == NULL)                                                               \
            continue;                                                                    \
        seen++;                                                                          \
        if (dladdr(entry, &found) == 0 || found.dli_fbase != own.dli_fbase) {            \
            fprintf(stderr, "%s is not seen\n", #name);                                  \
            missing++;                                                                   \
        }                                                                                \
    }
    GPHI_CUDA_CALLS(X)
#undef X
    bad |= missing > 0 || seen < 500;
}

/* The program's own puts() is before the C library's. */
__attribute__((visibility("default"))) int puts(const char *text)
{
    return fprintf(stdout, "<%s>\n", text);
}

static void do_next(void)
{
    int (*next)(const char *) = NULL, (*first)(const char *) = NULL;
    *(void **)&next = dlsym(RTLD_NEXT, "puts");
    *(void **)&first = dlsym(RTLD_DEFAULT, "puts");
    if (first != puts || next == NULL || next == puts)
        bad = 1;
    CUresult (*init)(unsigned) = NULL;
    *(void **)&init = dlsym(RTLD_DEFAULT, "cuInit");
    OK(init(0));
}

/* NCCL is not in this process: no search finds what the attached library has for it, and
 * the linker says so. */
static void do_absent(void)
{
    static const char *const names[] = {"ncclAllReduce", "ncclCommDestroy",
                                        "gph_comm_create"};
    void *const handles[] = {RTLD_DEFAULT, dlopen(NULL, RTLD_NOW)};
    for (size_t h = 0; h < 2; h++)
        for (size_t i = 0; i < 3; i++) {
            dlerror();
            if (dlsym(handles[h], names[i]) != NULL || dlerror() == NULL) {
                fprintf(stderr, "%s is found in %s\n", names[i], h ? "NULL" : "default");
                bad = 1;
            }
        }
    dlsym(handles[1], "cuInit"); /* linked with it: there */
    if (dlerror() != NULL)
        bad = 1;
}

static void *thread_body(void *unused)
{
    CUdeviceptr mine = 0;
    (void)unused;
    pthread_setname_np(pthread_self(), "worker");
    OK(cuCtxSetCurrent(context));
    CUstream own;
    OK(cuStreamCreate(&own, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc_v2(&mine, 4096));
    for (int i = 0; i < 20; i++) {
        CUgraph graph;
        CUgraphExec exec;
        OK(cuStreamBeginCapture_v2(own, CU_STREAM_CAPTURE_MODE_RELAXED));
        OK(cuMemsetD32Async(mine, 1, 16, own));
        OK(cuStreamEndCapture(own, &graph));
        OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
        OK(cuGraphLaunch(exec, own));
        OK(cuMemcpyDtoDAsync_v2_ptsz(mine + 1024, mine + 2048, 64, NULL));
        OK(cuStreamSynchronize(own));
        OK(cuStreamSynchronize_ptsz(NULL));
        OK(cuGraphExecDestroy(exec));
        OK(cuGraphDestroy(graph));
    }
    OK(cuStreamDestroy_v2(own));
    return NULL;
}

static void do_threads(void)
{
    pthread_t threads[4];
    start();
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, thread_body, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void on_host(void *user)
{
    *(CUresult *)user = cuMemFree_v2(memory);
}

static void do_host(void)
{
    CUresult inside = CUDA_SUCCESS;
    start();
    OK(cuLaunchHostFunc(stream, on_host, &inside));
    OK(cuStreamSynchronize(stream));
    bad |= inside == CUDA_SUCCESS;
}

static void do_fork(bool child_starts)
{
    if (!child_starts)
        start();
    const pid_t child = fork();
    if (child == 0) {
        if (child_starts)
            start();
        exit(bad);
    }
    int status;
    waitpid(child, &status, 0);
    bad |= status != 0;
    if (!child_starts) {
        const pid_t shared = vfork();
        if (shared == 0)
            _exit(0);
        waitpid(shared, &status, 0);
        launch(1);
    }
}

/* With the fake CUPTI: it listens while a graph is made, and no more once it is launched.
 */
static void do_cupti(void)
{
    int (*node_is_made)(CUgraph, CUgraphNode) = NULL;
    void *fake = dlopen(getenv("GPH_DOCTOR_CUPTI_LIB"), RTLD_NOW);
    if (fake == NULL)
        exit(1);
    *(void **)&node_is_made = dlsym(fake, "fake_cupti_node");
    start();
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    const int expected = getenv("FAKE_CUPTI_HELD") == NULL;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    bad |= node_is_made(graph, node) != expected;
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    const char *wanted = getenv("GPH_DOCTOR_CUPTI");
    bad |= node_is_made(graph, node) != (expected && strstr(wanted, "kernels") != NULL);
    OK(cuStreamSynchronize(stream));
}

/* ---- ends inside calls ---- */

static void *volatile nowhere = NULL;

/* On a loaded machine the thread that launched may not wait yet. */
static void let_it_wait(void)
{
    usleep(200000);
}

static void crash_on_host(void *unused)
{
    (void)unused;
    let_it_wait();
    *(volatile int *)nowhere = 1;
}

static void kill_on_host(void *unused)
{
    (void)unused;
    let_it_wait();
    kill(getpid(), SIGKILL);
}

static void abort_on_host(void *unused)
{
    (void)unused;
    let_it_wait();
    abort();
}

static void leave_on_host(void *unused)
{
    (void)unused;
    let_it_wait();
    _exit(6);
}

/* A graph with a host function that ends the process, while this thread waits. */
static void end_in_graph(CUhostFn function)
{
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    const CUDA_HOST_NODE_PARAMS params = {.fn = function};
    start();
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddHostNode(&node, graph, NULL, 0, &params));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
}

/* The driver reads an argument from nowhere. */
static void end_in_launch(void)
{
    start();
    void *arguments[] = {(void *)8, (void *)16, (void *)24};
    OK(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
}

static void end_in_getter(void)
{
    start();
    cuMemGetInfo_v2((size_t *)8, (size_t *)16);
}

static atomic_int waiting;

static void *wait_for_ever(void *unused)
{
    (void)unused;
    OK(cuCtxSetCurrent(context));
    waiting++;
    OK(cuStreamSynchronize(stream));
    return NULL;
}

static void on_host_for_ever(void *unused)
{
    (void)unused;
    for (;;)
        pause();
}

/* So many threads are about to wait; then the time that the call takes to be entered. */
static void until_waiting(int threads)
{
    while (waiting < threads)
        usleep(1000);
    usleep(200000);
}

/* Four threads wait; this one has no call open. */
static void end_beside_waits(const char *how)
{
    pthread_t threads[4];
    start();
    OK(cuLaunchHostFunc(stream, on_host_for_ever, NULL));
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, wait_for_ever, NULL);
    until_waiting(4);
    if (strcmp(how, "waits-kill") == 0)
        kill(getpid(), SIGKILL);
    _exit(7);
}

static jmp_buf out_of_wait;

static void on_alarm(int number)
{
    (void)number;
    siglongjmp(out_of_wait, 1);
}

/* This thread leaves a call by a jump; the process ends while another waits. */
static void leave_calls(void)
{
    pthread_t thread;
    start();
    if (sigsetjmp(out_of_wait, 1) == 0) {
        signal(SIGALRM, on_alarm);
        OK(cuLaunchHostFunc(stream, on_host_for_ever, NULL));
        ualarm(100000, 0);
        OK(cuStreamSynchronize(stream));
        bad = 1;
    }
    OK(cuCtxSetCurrent(context));
    pthread_create(&thread, NULL, wait_for_ever, NULL);
    until_waiting(1);
    kill(getpid(), SIGKILL);
}

static bool do_end_inside(const char *what)
{
    if (strcmp(what, "host-segv") == 0)
        end_in_graph(crash_on_host);
    else if (strcmp(what, "host-kill") == 0)
        end_in_graph(kill_on_host);
    else if (strcmp(what, "host-abort") == 0)
        end_in_graph(abort_on_host);
    else if (strcmp(what, "host-exit") == 0)
        end_in_graph(leave_on_host);
    else if (strcmp(what, "launch-segv") == 0)
        end_in_launch();
    else if (strcmp(what, "getter-segv") == 0)
        end_in_getter();
    else if (strncmp(what, "waits-", 6) == 0)
        end_beside_waits(what);
    else if (strcmp(what, "jump") == 0)
        leave_calls();
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (do_end_inside(what))
        return bad;
    if (strcmp(what, "capture") == 0)
        do_capture();
    else if (strcmp(what, "again") == 0)
        do_again();
    else if (strcmp(what, "fail") == 0)
        do_fail();
    else if (strcmp(what, "dlsym") == 0)
        do_dlsym(RTLD_LOCAL);
    else if (strcmp(what, "deepbind") == 0)
        do_dlsym(RTLD_LOCAL | RTLD_DEEPBIND);
    else if (strcmp(what, "next") == 0)
        do_next();
    else if (strcmp(what, "absent") == 0)
        do_absent();
    else if (strcmp(what, "threads") == 0)
        do_threads();
    else if (strcmp(what, "host") == 0)
        do_host();
    else if (strcmp(what, "fork") == 0)
        do_fork(false);
    else if (strcmp(what, "forkfirst") == 0)
        do_fork(true);
    else if (strcmp(what, "lookups") == 0)
        do_lookups();
    else if (strcmp(what, "cupti") == 0)
        do_cupti();
    else if (strcmp(what, "nothing") == 0)
        return 0;
    else
        start();
    if (strcmp(what, "exit") == 0)
        exit(3);
    if (strcmp(what, "_exit") == 0)
        _exit(4);
    if (strcmp(what, "quick") == 0)
        quick_exit(5);
    if (strcmp(what, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(what, "crash") == 0)
        raise(SIGSEGV);
    if (strcmp(what, "exec") == 0)
        execl("/proc/self/exe", argv[0], "exit", (char *)NULL);
    return bad;
}
