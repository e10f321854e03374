// SPDX-License-Identifier: Apache-2.0
/* A program that breaks a rule and then ends as argv[1] says: exit, _exit, abort, kill,
 * segv, fork (the child breaks it, too), exec; that crashes before (crash-...); or works with 8 threads that capture,
 * launch and wait, all rightly (threads) or one of them wrongly (threads-broken). */
#include "../../tests/doctor/rules/broken.h"

#include <signal.h>
#include <sys/wait.h>

enum { THREADS = 8, TURNS = 50 };

/* capture.unjoined-fork */
static void break_rule(void)
{
    CUstream stream = new_stream(), side = new_stream();
    CUdeviceptr a = new_floats(), b = new_floats();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    FILL(stream, a, 1);
    fork_to(stream, side, new_event());
    FILL(side, b, 2);
    CU(cuStreamEndCapture(stream, &graph));
}

static void work_rightly(void)
{
    CUstream stream = new_stream(), side = new_stream();
    CUevent event = new_event();
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    FILL(stream, a, 1);
    fork_to(stream, side, event);
    SCALE_ADD(side, a, a, 1);
    join_from(stream, side, event);
    SCALE_ADD(stream, a, a, 1);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < TURNS; i++) {
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
    }
    EXPECT(float_at(a, 7) == 4);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuMemFree(a));
    CU(cuEventDestroy(event));
    CU(cuStreamDestroy(side));
    CU(cuStreamDestroy(stream));
}

static void *thread(void *user)
{
    CU(cuCtxSetCurrent(context));
    if (user != NULL)
        break_rule();
    work_rightly();
    return NULL;
}

static void run_threads(int is_one_broken)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        EXPECT(pthread_create(&threads[i], NULL, thread,
                              is_one_broken && i == 5 ? threads : NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void end(const char *how, char **argv)
{
    if (strcmp(how, "_exit") == 0)
        _exit(3);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "segv") == 0)
        raise(SIGSEGV);
    if (strcmp(how, "exec") == 0)
        execl("/proc/self/exe", argv[0], "exit", (char *)NULL);
}

/* A mistake of the program's own, which nothing of CUDA explains. */
static void crash(const char *how)
{
    void (*volatile nothing)(void) = NULL;
    volatile size_t nowhere = 64;
    char to[16];
    if (strcmp(how, "crash-null") == 0)
        nothing(); // <-- crash-null
    if (strcmp(how, "crash-library") == 0)
        memcpy(to, (void *)nowhere, 16 + nowhere / 64); // <-- crash-library
    if (strcmp(how, "crash-abort") == 0)
        abort(); // <-- crash-abort
    EXPECT(to[0] == 0);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "exit";
    int status = 0;
    if (strcmp(how, "fork") == 0) { /* before the driver is used: each has its own */
        const pid_t child = fork();
        broken_open();
        break_rule();
        if (child > 0)
            waitpid(child, &status, 0);
        return 0;
    }
    broken_open();
    if (strncmp(how, "threads", 7) == 0) {
        run_threads(strcmp(how, "threads-broken") == 0);
        return broken_failures > 0;
    }
    if (strncmp(how, "crash", 5) == 0)
        crash(how);
    break_rule();
    end(how, argv);
    return 0;
}
