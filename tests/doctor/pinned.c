// SPDX-License-Identifier: Apache-2.0
/* The host's use of pinned memory, as gph doctor --check has it watched on NVIDIA's driver: by pages
 * that are closed (GPH_DOCTOR_PINNED=1). Marked as ways.c says. */
#include "rules/broken.h"

#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = FLOATS * sizeof(float), LONG = 20000 };

static CUstream stream;
static CUdeviceptr x;
static volatile float *result;

static void copy_late(void)
{
    SPIN(stream, LONG);
    CU(cuMemcpyDtoHAsync((void *)(uintptr_t)result, x, BYTES, stream));
}

static CUgraphExec copy_in_graph(void)
{
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    copy_late();
    return end_capture(stream);
}

// way: read_early memory.host-read-before-done
static void read_early(void)
{
    copy_late();
    SCALE_ADD(stream, x, x, 1);
    EXPECT(result[3] == 0); // <-- read_early
    CU(cuStreamSynchronize(stream));
}

// way: written_early memory.host-read-before-done
static void written_early(void)
{
    copy_late();
    result[9] = 1; // <-- written_early
    CU(cuStreamSynchronize(stream));
}

// way: read_after_launch memory.host-read-before-done
static void read_after_launch(void)
{
    CUgraphExec exec = copy_in_graph();
    CU(cuGraphLaunch(exec, stream));
    EXPECT(result[3] == 0); // <-- read_after_launch
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

/* Calls of the kernel after a wait, half of a page, another buffer of the page, a child. */
// way: read_in_time silent
static void read_in_time(void)
{
    CUgraphExec exec = copy_in_graph();
    int ends[2], status = 0;
    for (int i = 0; i < 3; i++) {
        copy_late();
        CU(cuStreamSynchronize(stream));
        EXPECT(result[3] == 0);
        CU(cuGraphLaunch(exec, stream));
        CU(cuCtxSynchronize());
        EXPECT(pipe(ends) == 0);
        EXPECT(write(ends[1], (const void *)(uintptr_t)result, 64) == 64);
        close(ends[0]);
        close(ends[1]);
        SPIN(stream, LONG);
        CU(cuMemcpyDtoHAsync((void *)(uintptr_t)result, x, BYTES / 2, stream));
        EXPECT(result[FLOATS - 1] == 0);
        CU(cuStreamSynchronize(stream));
    }
    copy_late();
    const pid_t child = fork();
    if (child == 0)
        _exit(result[1] == 0 ? 0 : 1);
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

/* The program's own handler would get the signal: nothing is closed then. */
static void on_fault(int number)
{
    _exit(number);
}

// way: own_handler silent
static void own_handler(void)
{
    signal(SIGSEGV, on_fault);
    copy_late();
    EXPECT(result[3] == 0);
    CU(cuStreamSynchronize(stream));
}

#define WAYS(X)                                                                          \
    X(read_early) X(written_early) X(read_after_launch) X(read_in_time) X(own_handler)

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {
#define X(name) {#name, name},
        WAYS(X)
#undef X
    };
    for (size_t i = 0; argc == 2 && i < sizeof(ways) / sizeof(ways[0]); i++)
        if (strcmp(argv[1], ways[i].name) == 0) {
            void *pinned = NULL;
            broken_open();
            stream = new_stream();
            x = new_floats();
            CU(cuMemHostAlloc(&pinned, BYTES, 0));
            result = pinned;
            SPIN(stream, 1); /* softcuda catches signals from its first kernel on */
            CU(cuStreamSynchronize(stream));
            ways[i].run();
            CU(cuMemFreeHost(pinned));
            fflush(stdout);
            return broken_failures > 0;
        }
    fprintf(stderr, "usage: %s WAY\n", argv[0]);
    return 2;
}
