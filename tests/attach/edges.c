// SPDX-License-Identifier: Apache-2.0
/* A program that uses the driver in odd circumstances, for attach_edges_test.c: argv[1]
 * says in which. It must end as it does without the attached library. */
#define _GNU_SOURCE
#include "cuda/prototypes.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__has_feature)
#define IS_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define IS_SANITIZED 0
#endif

enum { THREADS = 64, GENERATIONS = 10, CALLS = 1000000, DEPTH = 20000 };

extern char **environ;
static CUcontext context;
static CUstream stream;
static CUdeviceptr memory;
static CUevent event;
static atomic_int bad;

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
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc_v2(&memory, 4096));
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
}

/* More than any ring holds. */
static void make_many(void)
{
    start();
    for (int i = 0; i < CALLS; i++)
        OK(cuEventRecord(event, stream));
    OK(cuStreamSynchronize(stream));
}

static void *work_a_little(void *number)
{
    const CUdeviceptr own_bytes = memory + 16 * (CUdeviceptr)(uintptr_t)number;
    CUevent own;
    CUstream mine;
    OK(cuCtxSetCurrent(context));
    OK(cuStreamCreate(&mine, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&own, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < 5; i++) {
        OK(cuMemsetD8Async(own_bytes, (unsigned char)i, 16, mine));
        OK(cuEventRecord(own, mine));
        OK(cuEventSynchronize(own));
    }
    OK(cuEventDestroy_v2(own));
    OK(cuStreamDestroy_v2(mine));
    return NULL;
}

/* Threads come and go, more than there are slots. */
static void run_threads(void)
{
    pthread_t threads[THREADS];
    start();
    for (int g = 0; g < GENERATIONS; g++) {
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, work_a_little, (void *)(uintptr_t)i);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
}

/* Thread-specific data whose destructor calls the driver, after ours. */
static void call_late(void *key)
{
    static __thread int turns;
    OK(cuCtxSetCurrent(context));
    if (++turns < (IS_SANITIZED ? 2 : 4)) /* a sanitizer is gone by the last */
        pthread_setspecific(*(pthread_key_t *)key, key);
}

static void *leave_late(void *key)
{
    OK(cuCtxSetCurrent(context));
    pthread_setspecific(*(pthread_key_t *)key, key);
    return NULL;
}

static void run_late_destructors(void)
{
    static pthread_key_t key;
    pthread_t thread;
    start();
    pthread_key_create(&key, call_late);
    for (int i = 0; i < 700; i++) {
        pthread_create(&thread, NULL, leave_late, &key);
        pthread_join(thread, NULL);
    }
}

__attribute__((noinline)) static int descend(int depth)
{
    volatile char room[64];
    room[0] = (char)depth;
    if (depth > 0)
        return descend(depth - 1) + room[0];
    for (int i = 0; i < 100; i++)
        OK(cuEventRecord(event, stream));
    return 0;
}

static atomic_int ticks;

static void on_tick(int number)
{
    (void)number;
    ticks++;
}

/* Signals that interrupt calls, on a stack of their own. */
static void take_signals(void)
{
    static char other[1 << 16];
    const stack_t stack = {.ss_sp = other, .ss_size = sizeof(other)};
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_ONSTACK};
    const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    start();
    sigaltstack(&stack, NULL);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 100000 && ticks < 200; i++) {
        OK(cuMemsetD8Async(memory, 1, 64, stream));
        OK(cuStreamSynchronize(stream));
    }
    setitimer(ITIMER_REAL, &never, NULL);
}

/* Calls from stacks that the program has made itself. */
static ucontext_t main_context, other_context;

static void on_other_stack(void)
{
    CUfunction none;
    /* refused; the address, between this stack and the thread's own, is nowhere */
    bad |= cuModuleGetFunction(&none, NULL, (const char *)0x600000000000) == CUDA_SUCCESS;
    for (int i = 0; i < 10; i++)
        OK(cuEventRecord(event, stream));
}

static void switch_stacks(void)
{
    start();
    for (int i = 0; i < 50; i++) {
        char *stack = malloc(1 << 16);
        getcontext(&other_context);
        other_context.uc_stack.ss_sp = stack;
        other_context.uc_stack.ss_size = 1 << 16;
        other_context.uc_link = &main_context;
        makecontext(&other_context, on_other_stack, 0);
        swapcontext(&main_context, &other_context);
        free(stack);
    }
}

/* The driver is opened, used and closed, again and again. */
static void open_and_close(void)
{
    for (int i = 0; i < 5; i++) {
        void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        CUresult (*init)(unsigned) = NULL;
        CUresult (*count)(int *) = NULL;
        int devices = 0;
        *(void **)&init = dlsym(driver, "cuInit");
        *(void **)&count = dlsym(driver, "cuDeviceGetCount");
        OK(init(0));
        OK(count(&devices));
        bad |= devices < 1;
        dlclose(driver);
    }
}

/* Daemons close what they do not know. */
static void close_files(void)
{
    char text[8] = "";
    start();
    for (int i = 3; i < 256; i++)
        close(i);
    char path[] = "/tmp/edges-XXXXXX";
    const int own = mkstemp(path); /* takes a number that was somebody else's */
    bad |= write(own, "mine", 4) != 4;
    CUdeviceptr none;
    for (int i = 0; i < 100; i++) {
        OK(cuMemsetD8Async(memory, 1, 64, stream));
        bad |= cuMemAlloc_v2(&none, 0) == CUDA_SUCCESS;
    }
    bad |= pread(own, text, sizeof(text), 0) != 4 || strcmp(text, "mine") != 0;
    unlink(path);
}

static int wait_for(pid_t child)
{
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void make_children(char *self)
{
    char *const words[] = {self, "child", NULL};
    char *const empty[] = {NULL};
    char library_path[4200];
    snprintf(library_path, sizeof(library_path), "LD_LIBRARY_PATH=%s",
             getenv("LD_LIBRARY_PATH") != NULL ? getenv("LD_LIBRARY_PATH") : "");
    char *const clean[] = {library_path, NULL};
    pid_t child;
    start();
    child = vfork();
    if (child == 0) {
        execv(self, words); /* attached as we are */
        _exit(1);
    }
    bad |= wait_for(child) != 9;
    child = vfork();
    if (child == 0)
        _exit(5);
    bad |= wait_for(child) != 5;
    OK(cuEventRecord(event, stream));
    bad |= posix_spawn(&child, self, NULL, NULL, words, environ) != 0;
    bad |= wait_for(child) != 9;
    bad |= posix_spawn(&child, self, NULL, NULL, words, clean) != 0;
    bad |= wait_for(child) != 9; /* not attached */
    bad |= posix_spawn(&child, "/bin/true", NULL, NULL, words, empty) != 0;
    bad |= wait_for(child) != 0;
    if (!IS_SANITIZED) /* the shell is not, and cannot load a library that is */
        bad |= system("exit 3") >> 8 != 3;
    OK(cuStreamSynchronize(stream));
}

/* While other threads are in the middle of calls. */
static atomic_bool is_over;

static void *record_on(void *unused)
{
    (void)unused;
    OK(cuCtxSetCurrent(context));
    while (!is_over)
        OK(cuEventRecord(event, stream));
    return NULL;
}

static void fork_among_threads(void)
{
    pthread_t threads[4];
    start();
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, record_on, NULL);
    for (int i = 0; i < 50; i++) {
        const pid_t child = fork();
        if (child == 0)
            _exit(4);
        bad |= wait_for(child) != 4;
    }
    is_over = true;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void *be_cancelled(void *unused)
{
    (void)unused;
    OK(cuCtxSetCurrent(context));
    for (;;) {
        OK(cuEventRecord(event, stream));
        pthread_testcancel();
    }
    return NULL;
}

static void cancel_threads(void)
{
    pthread_t thread;
    start();
    for (int i = 0; i < 50; i++) {
        pthread_create(&thread, NULL, be_cancelled, NULL);
        usleep(500);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    OK(cuStreamSynchronize(stream));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "many") == 0)
        make_many();
    else if (strcmp(what, "threads") == 0)
        run_threads();
    else if (strcmp(what, "late") == 0)
        run_late_destructors();
    else if (strcmp(what, "deep") == 0) {
        start();
        descend(DEPTH);
    } else if (strcmp(what, "signals") == 0)
        take_signals();
    else if (strcmp(what, "stacks") == 0)
        switch_stacks();
    else if (strcmp(what, "dlclose") == 0)
        open_and_close();
    else if (strcmp(what, "close") == 0)
        close_files();
    else if (strcmp(what, "children") == 0)
        make_children(argv[0]);
    else if (strcmp(what, "fork") == 0)
        fork_among_threads();
    else if (strcmp(what, "cancel") == 0)
        cancel_threads();
    else
        start();
    if (strcmp(what, "child") == 0 && !bad)
        return 9;
    return bad;
}
