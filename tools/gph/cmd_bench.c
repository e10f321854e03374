// SPDX-License-Identifier: Apache-2.0
/* gph bench launch: what launching costs the host. Three ways to run the same chain of
 * empty kernels take turns, launch by launch; what the device does is waited for outside
 * the timed calls, often enough that no queue fills.
 *
 * Kernels are empty, so that host time is all there is to see. Medians, since a machine
 * that does other work adds to some launches and never takes from any. */
#define _POSIX_C_SOURCE 200809L
#include "commands.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One thread that does nothing. */
static const char kernel_ptx[] = ".version 7.0\n"
                                 ".target sm_70\n"
                                 ".address_size 64\n"
                                 ".visible .entry empty()\n"
                                 "{\n"
                                 "\tret;\n"
                                 "}\n";

/* A driver's queue of launches holds about a thousand. */
enum { LAUNCHES_BETWEEN_WAITS = 64 };
enum { NON_BLOCKING = 1 };

/* RAW is the graph of LIBRARY, launched past libgph: the difference is what libgph adds. */
enum { EAGER, RAW, LIBRARY, WAYS };

struct bench {
    gph_runtime *runtime;
    const gph_cuda_calls *cu;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUstream stream;
    CUgraph graph;
    gph_exec *exec;
    long nodes, launches;
    double *ns[WAYS]; /* `launches` times each; print() sorts them */
    gph_error error;
};

/* False: bench->error has what the driver said of the call that is named. */
static bool worked(struct bench *bench, int result, const char *call)
{
    return gph_cuda_check(result, call, &bench->error) == GPH_OK;
}

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static bool launch_eager(struct bench *bench)
{
    int result = 0;
    for (long i = 0; result == 0 && i < bench->nodes; i++)
        result = bench->cu->LaunchKernel(bench->function, 1, 1, 1, 1, 1, 1, 0,
                                         bench->stream, NULL, NULL);
    return worked(bench, result, "cuLaunchKernel");
}

/* A capture of the library's own: what is compared is launching, not capturing. */
static bool capture_chain(struct bench *bench)
{
    gph_capture *capture = NULL;
    if (gph_capture_begin(bench->runtime, bench->stream, NULL, &capture, &bench->error) !=
        GPH_OK)
        return false;
    if (launch_eager(bench))
        return gph_capture_end(capture, &bench->graph, &bench->error) == GPH_OK;
    (void)gph_capture_abort(capture, NULL); /* the launch's failure is the cause */
    return false;
}

static bool set_up(struct bench *b)
{
    const gph_cuda_calls *cu = b->cu;
    CUdevice device = 0;
    return worked(b, cu->DeviceGet(&device, 0), "cuDeviceGet") &&
           worked(b, cu->DevicePrimaryCtxRetain(&b->context, device),
                  "cuDevicePrimaryCtxRetain") &&
           worked(b, cu->CtxSetCurrent(b->context), "cuCtxSetCurrent") &&
           worked(b, cu->ModuleLoadData(&b->module, kernel_ptx), "cuModuleLoadData") &&
           worked(b, cu->ModuleGetFunction(&b->function, b->module, "empty"),
                  "cuModuleGetFunction") &&
           worked(b, cu->StreamCreate(&b->stream, NON_BLOCKING), "cuStreamCreate") &&
           launch_eager(b) && /* the first launch loads the kernel */
           capture_chain(b) &&
           gph_exec_create(b->runtime, b->graph, NULL, &b->exec, &b->error) == GPH_OK;
}

/* Takes a bench that is half set up, too: what failed left NULL. */
static void tear_down(struct bench *bench)
{
    const gph_cuda_calls *cu = bench->cu;
    gph_exec_destroy(bench->exec);
    if (bench->graph)
        (void)cu->GraphDestroy(bench->graph);
    if (bench->stream)
        (void)cu->StreamDestroy(bench->stream);
    if (bench->module)
        (void)cu->ModuleUnload(bench->module);
    if (bench->context)
        (void)cu->DevicePrimaryCtxRelease(0);
    for (int way = 0; way < WAYS; way++)
        free(bench->ns[way]);
    gph_close(bench->runtime);
}

static bool launch(struct bench *bench, int way)
{
    if (way == EAGER)
        return launch_eager(bench);
    if (way == RAW)
        return worked(bench,
                      bench->cu->GraphLaunch(gph_exec_handle(bench->exec), bench->stream),
                      "cuGraphLaunch");
    return gph_exec_launch(bench->exec, bench->stream, &bench->error) == GPH_OK;
}

static bool wait_for_all(struct bench *bench)
{
    return worked(bench, bench->cu->StreamSynchronize(bench->stream),
                  "cuStreamSynchronize");
}

static bool measure(struct bench *bench)
{
    for (long i = 0; i < bench->launches; i++) {
        for (int turn = 0; turn < WAYS; turn++) {
            const int way = (int)((turn + i) % WAYS); /* each goes first as often */
            const double start = now_ns();
            const bool is_launched = launch(bench, way);
            bench->ns[way][i] = now_ns() - start;
            const bool is_full = bench->nodes * i % LAUNCHES_BETWEEN_WAITS < bench->nodes;
            if (!is_launched || (is_full && !wait_for_all(bench)))
                return false;
        }
    }
    return wait_for_all(bench);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const struct bench *bench)
{
    static const char *const names[WAYS] = {"kernels one by one", "cuGraphLaunch",
                                            "gph_exec_launch"};
    double median[WAYS];
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    gph_driver_info_get(bench->runtime, &info);
    printf("%s, chain of %ld empty kernels, medians of %ld launches\n\n",
           info.driver == GPH_DRIVER_SOFT ? "softcuda" : "NVIDIA's driver", bench->nodes,
           bench->launches);
    printf("%-22s %12s %12s\n", "", "host us", "us a kernel");
    for (int way = 0; way < WAYS; way++) {
        qsort(bench->ns[way], (size_t)bench->launches, sizeof(double), by_value);
        median[way] = bench->ns[way][bench->launches / 2] / 1e3;
        printf("%-22s %12.3f %12.4f\n", names[way], median[way],
               median[way] / (double)bench->nodes);
    }
    printf("\na graph is %.1f times cheaper; gph_exec_launch adds %+.3f us\n",
           median[EAGER] / median[RAW], median[LIBRARY] - median[RAW]);
}

static int bench_launch(struct bench *bench, gph_driver driver)
{
    bench->runtime = driver_open(driver);
    if (!bench->runtime)
        return EXIT_FAILED;
    bench->cu = gph_cuda(bench->runtime);
    bool has_memory = true;
    for (int way = 0; way < WAYS; way++) {
        bench->ns[way] = calloc((size_t)bench->launches, sizeof(double));
        has_memory = has_memory && bench->ns[way];
    }
    int code = EXIT_FAILED;
    if (!has_memory)
        fprintf(stderr, "gph bench: out of memory\n");
    else if (!set_up(bench) || !measure(bench))
        fail(&bench->error);
    else
        code = EXIT_OK;
    if (code == EXIT_OK)
        print(bench);
    tear_down(bench);
    return code;
}

int cmd_bench(const command_line *line)
{
    if (line->operand_count != 1 || strcmp(line->operands[0], "launch") != 0) {
        fputs("gph bench: ", stderr);
        if (line->operand_count == 1) {
            fputs("cannot measure ", stderr);
            put_text(stderr, line->operands[0]);
        } else {
            fputs("needs one word", stderr);
        }
        fputs("; what it measures: launch\ntry: gph bench --help\n", stderr);
        return EXIT_USAGE;
    }
    struct bench bench = {.nodes = 20, .launches = 10000};
    const char *const *values = line->values;
    gph_driver driver;
    if (!option_number("nodes", values[BENCH_NODES], 1, 100000, &bench.nodes) ||
        !option_number("launches", values[BENCH_LAUNCHES], 1, 10000000,
                       &bench.launches) ||
        !driver_parse(values[BENCH_DRIVER], &driver))
        return EXIT_USAGE;
    return bench_launch(&bench, driver);
}
