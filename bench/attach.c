// SPDX-License-Identifier: Apache-2.0
/* bench/attach: what gph doctor's library costs a program, on softcuda or, with
 * GPH_DRIVER=cuda in the environment, on NVIDIA's driver.
 *
 *   bench_attach [ROUNDS]
 *
 * The program runs itself again and again, with and without the library in turn, and
 * drains the ring as gph doctor does. Medians: what a call takes more, and a program that
 * does nothing but launch graphs. softcuda's workers share the cores with all else that
 * runs: of that program the fastest runs are compared as well, and a bar is missed where
 * both say so. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "event/ring.h"

static const char ptx[] =
    ".version 7.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry nothing(.param .u64 p, .param .u32 v) { ret; }\n"
    /* some microseconds, as a small kernel takes on a GPU with its launch */
    ".visible .entry busy(.param .u64 p, .param .u32 v)\n"
    "{\n"
    "  .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %d<2>;\n"
    "  ld.param.u64 %d1, [p]; ld.param.u32 %r1, [v]; mov.u32 %r2, 0;\n"
    "again:\n"
    "  mad.lo.u32 %r1, %r1, 1664525, 1013904223;\n"
    "  st.volatile.global.u32 [%d1], %r1;\n"
    "  add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 500; @%p1 bra again;\n"
    "  ret;\n"
    "}\n";

#include "driver.h"

enum { CALLS = 2000, SYNC_EVERY = 200, ROUNDS_MAX = 101, FIGURES = 9, NODES = 100 };

static const char *const names[FIGURES] = {
    "eager kernel launch, 2 arguments",
    "event record",
    "event query",
    "pointer attribute (a getter)",
    "copy of 256 bytes from the host",
    "captured kernel launch",
    "graph launch, 1 node",
    "replays of 1 empty node (no bar)",
    "replay-bound program, 100 small kernels",
};

/* ---- the program ---- */

static CUfunction nothing, busy;
static CUstream stream;
static CUdeviceptr memory;
static CUevent event;
static CUgraphExec execs[2]; /* of 1 node, of NODES */

static void launch_kernel(CUfunction function)
{
    unsigned value = 7;
    void *arguments[] = {&memory, &value};
    CU(cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL);
}

static CUgraph capture(CUfunction function, int nodes)
{
    CUgraph graph;
    CU(cuStreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    for (int i = 0; i < nodes; i++)
        launch_kernel(function);
    CU(cuStreamEndCapture, stream, &graph);
    return graph;
}

static void prepare(void)
{
    driver_must_open(BENCH_SOFTCUDA);
    CUmodule module;
    CU(cuModuleLoadData, &module, ptx);
    CU(cuModuleGetFunction, &nothing, module, "nothing");
    CU(cuModuleGetFunction, &busy, module, "busy");
    CU(cuMemAlloc, &memory, 1 << 20);
    CU(cuStreamCreate, &stream, 1);
    CU(cuEventCreate, &event, 2);
    for (int i = 0; i < 2; i++) {
        CUgraph graph = capture(i == 0 ? nothing : busy, i == 0 ? 1 : NODES);
        CU(cuGraphInstantiateWithFlags, &execs[i], graph, 0);
        CU(cuGraphLaunch, execs[i], stream);
        CU(cuGraphDestroy, graph);
    }
    CU(cuStreamSynchronize, stream);
}

static void call_once(int figure)
{
    static const char bytes[256];
    CUcontext context;
    switch (figure) {
    case 0: launch_kernel(nothing); break;
    case 1: CU(cuEventRecord, event, stream); break;
    case 2: (void)cu.cuEventQuery(event); break;
    case 3:
        CU(cuPointerGetAttribute, &context, CU_POINTER_ATTRIBUTE_CONTEXT, memory);
        break;
    case 4: CU(cuMemcpyHtoDAsync, memory, bytes, sizeof(bytes), stream); break;
    case 6: CU(cuGraphLaunch, execs[0], stream); break;
    default: break;
    }
}

/* Nanoseconds of one call on the host; what is queued is waited for aside. */
static double time_calls(int figure)
{
    uint64_t all = 0;
    for (int done = 0; done < CALLS; done += SYNC_EVERY) {
        const uint64_t start = gphi_clock_ns();
        for (int i = 0; i < SYNC_EVERY; i++)
            call_once(figure);
        all += gphi_clock_ns() - start;
        CU(cuStreamSynchronize, stream);
    }
    return (double)all / CALLS;
}

static double time_captured(void)
{
    uint64_t all = 0;
    for (int done = 0; done < CALLS; done += SYNC_EVERY) {
        CUgraph graph;
        CU(cuStreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_RELAXED);
        const uint64_t start = gphi_clock_ns();
        for (int i = 0; i < SYNC_EVERY; i++)
            launch_kernel(nothing);
        all += gphi_clock_ns() - start;
        CU(cuStreamEndCapture, stream, &graph);
        CU(cuGraphDestroy, graph);
    }
    return (double)all / CALLS;
}

/* Nanoseconds a launch, with the GPU's work: ten launches, then a wait. */
static double time_replays(CUgraphExec exec)
{
    const uint64_t start = gphi_clock_ns();
    for (int i = 0; i < CALLS / 10; i++) {
        for (int k = 0; k < 10; k++)
            CU(cuGraphLaunch, exec, stream);
        CU(cuStreamSynchronize, stream);
    }
    return (double)(gphi_clock_ns() - start) / CALLS;
}

static int run_program(void)
{
    prepare();
    for (int warm = 0; warm < 2; warm++)
        for (int figure = 0; figure < FIGURES; figure++) {
            const double ns = figure == 5   ? time_captured()
                              : figure == 7 ? time_replays(execs[0])
                              : figure == 8 ? time_replays(execs[1])
                                            : time_calls(figure);
            if (warm == 1)
                printf("%.1f\n", ns);
        }
    return 0;
}

/* ---- running it ---- */

static char folder[64];

static pid_t start(bool attached, int *out)
{
    int pipes[2];
    if (pipe(pipes) != 0)
        exit(1);
    const pid_t child = fork();
    if (child == 0) {
        dup2(pipes[1], 1);
        if (attached) {
            setenv("GPH_DOCTOR_DIR", folder, 1);
            setenv("GPH_DOCTOR_RING", "524288", 1);
            setenv("LD_PRELOAD", BENCH_ATTACH, 1);
        }
        execl("/proc/self/exe", "bench_attach", "--program", (char *)NULL);
        _exit(127);
    }
    close(pipes[1]);
    *out = pipes[0];
    return child;
}

/* As gph doctor does: reads all there is, then sleeps a little. */
static uint64_t drain_until_end(pid_t child, uint64_t *lost)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%ld.ring", folder, (long)child);
    gphi_event_ring_reader *ring = NULL;
    uint64_t count = 0;
    for (bool is_over = false; !is_over;) {
        is_over = waitpid(child, NULL, WNOHANG) != 0;
        if (ring == NULL && gphi_event_ring_open(path, NULL, &ring, NULL) != GPH_OK)
            ring = NULL;
        while (ring != NULL && gphi_event_ring_next(ring, is_over) != NULL)
            count++;
        usleep(2000);
    }
    if (ring != NULL)
        *lost += gphi_event_ring_lost(ring);
    gphi_event_ring_close(ring);
    unlink(path);
    return count;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, int count)
{
    double sorted[ROUNDS_MAX];
    memcpy(sorted, values, (size_t)count * sizeof(*values));
    qsort(sorted, (size_t)count, sizeof(*sorted), compare);
    return sorted[count / 2];
}

static double fastest(const double *values, int count)
{
    double least = values[0];
    for (int i = 1; i < count; i++)
        least = values[i] < least ? values[i] : least;
    return least;
}

static double figures[2][FIGURES][ROUNDS_MAX];

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--program") == 0)
        return run_program();
    int rounds = argc > 1 ? atoi(argv[1]) : 7;
    rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
    snprintf(folder, sizeof(folder), "%s/bench-attach-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(folder) == NULL)
        return 1;
    uint64_t events = 0, lost = 0;
    for (int round = 0; round < rounds; round++)
        for (int attached = 0; attached < 2; attached++) {
            int out;
            const pid_t child = start(attached, &out);
            if (attached)
                events += drain_until_end(child, &lost);
            FILE *text = fdopen(out, "r");
            for (int i = 0; i < FIGURES; i++)
                if (fscanf(text, "%lf", &figures[attached][i][round]) != 1) {
                    fprintf(stderr, "bench_attach: the program failed\n");
                    return 1;
                }
            fclose(text);
            if (!attached)
                waitpid(child, NULL, 0);
        }
    rmdir(folder);
    printf("%-44s %9s %9s %9s\n", "", "plain ns", "with ns", "more");
    int missed = 0;
    for (int i = 0; i < FIGURES; i++) {
        const double plain = median(figures[0][i], rounds);
        const double with = median(figures[1][i], rounds);
        const bool is_share = i >= 7;
        const double least =
            fastest(figures[1][i], rounds) / fastest(figures[0][i], rounds);
        const bool is_missed =
            i == 8 ? with > plain * 1.1 && least > 1.1 : i < 7 && with - plain > 1000;
        missed |= is_missed;
        printf("%-44s %9.0f %9.0f ", names[i], plain, with);
        if (is_share)
            printf("%8.1f %%, fastest %+.1f %%%s\n", (with / plain - 1) * 100,
                   (least - 1) * 100,
                   i == 7      ? ""
                   : is_missed ? ", bar 10  MISSED"
                               : ", bar 10");
        else
            printf("%6.0f ns, bar 1000%s\n", with - plain, is_missed ? "  MISSED" : "");
    }
    printf("%llu events, %llu lost\n", (unsigned long long)events,
           (unsigned long long)lost);
    return missed;
}
