// SPDX-License-Identifier: Apache-2.0
/* Sums over ranks in graphs: NCCL, libgph's own kernel, and the faster of both.
 *
 *   bench_ranks [RANKS] [--most BYTES] [--rounds N] [--replays N]
 *
 * Starts its ranks itself, 2 if nothing is said; under torchrun, mpirun or srun it is one of
 * theirs. Times are microseconds a sum, of chains of 20: the median of interleaved rounds on
 * each rank; the largest is shown. Then a step of 32 layers with a sum of 4 KiB each,
 * and 10,000 replays in which ranks come late at random, with every result checked. */
#define _GNU_SOURCE
#include <gph/callable.h>
#include <gph/ranks_comm.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    CHAIN = 20,
    LAYERS = 32,
    LAYER_BYTES = 4096,
    ROUNDS_MAX = 101,
    OWN_BYTES = 1 << 20
};
enum { EAGER, NCCL, OWN, BEST, WAYS };
static const char *const names[WAYS] = {"NCCL eager", "NCCL", "own", "best"};

/* scale: p[i] *= f. step: p[i] += 1. add: p[i] += q[i]; whole words. */
static const char ptx[] =
    ".version 6.3\n.target sm_70\n.address_size 64\n"
    ".visible .entry scale(.param .u64 p, .param .u32 n, .param .f32 f)\n"
    "{\n.reg .pred %q;\n.reg .b64 %a<4>;\n.reg .b32 %r<6>;\n.reg .f32 %f<3>;\n"
    "ld.param.u64 %a1, [p];\nld.param.u32 %r1, [n];\nld.param.f32 %f2, [f];\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"
    "mad.lo.u32 %r2, %r2, %r3, %r4;\nsetp.ge.u32 %q, %r2, %r1;\n@%q bra END;\n"
    "mul.wide.u32 %a2, %r2, 4;\nadd.u64 %a1, %a1, %a2;\nld.global.f32 %f1, [%a1];\n"
    "mul.f32 %f1, %f1, %f2;\nst.global.f32 [%a1], %f1;\nEND:\nret;\n}\n"
    ".visible .entry add(.param .u64 p, .param .u32 n, .param .u64 q)\n"
    "{\n.reg .pred %q;\n.reg .b64 %a<4>;\n.reg .b32 %r<6>;\n"
    "ld.param.u64 %a1, [p];\nld.param.u32 %r1, [n];\nld.param.u64 %a3, [q];\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"
    "mad.lo.u32 %r2, %r2, %r3, %r4;\nsetp.ge.u32 %q, %r2, %r1;\n@%q bra END;\n"
    "mul.wide.u32 %a2, %r2, 4;\nadd.u64 %a1, %a1, %a2;\nld.global.u32 %r3, [%a1];\n"
    "mov.u32 %r4, 1;\nsetp.eq.u64 %q, %a3, 0;\n@%q bra ONE;\n"
    "add.u64 %a3, %a3, %a2;\nld.global.u32 %r4, [%a3];\nONE:\n"
    "add.u32 %r3, %r3, %r4;\nst.global.u32 [%a1], %r3;\nEND:\nret;\n}\n";

static struct {
    gph_ranks *ranks;
    gph_runtime *runtime;
    const gph_cuda_calls *cu;
    gph_comm *comms[WAYS];
    CUstream stream;
    CUevent events[2];
    CUdeviceptr memory, more;
    CUfunction scale, add;
    unsigned rank, count;
    unsigned rounds, replays;
    uint64_t most;
} me = {.rounds = 15, .replays = 10000, .most = 8 << 20};

static gph_error error;

static void need(gph_status status, const char *what)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "rank %u: %s: %s %s\n", me.rank, what, gph_status_name(status),
            error.message);
    exit(1);
}
#define NEED(call) need(call, #call)

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void nap_us(long us)
{
    const struct timespec time = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&time, NULL);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- making ---- */

static gph_comm *comm_of(uint32_t way, uint64_t own_bytes)
{
    static const char *const of[] = {"best", "nccl", "own"};
    gph_comm_options options = GPH_COMM_OPTIONS_INIT;
    gph_comm *comm = NULL;
    options.way = way;
    options.own_bytes = own_bytes;
    options.name = of[way];
    const double begin = now_us();
    const gph_status status =
        gph_comm_create(me.ranks, me.runtime, &options, &comm, &error);
    if (me.rank == 0 && status != GPH_OK)
        printf("# without %s: %s\n", of[way], error.message);
    if (status != GPH_OK)
        return NULL;
    gph_comm_info info = GPH_SIZED(gph_comm_info);
    gph_comm_info_get(comm, &info);
    if (me.rank == 0)
        printf("# %s, made in %.1f ms: %s\n", of[way], (now_us() - begin) / 1e3,
               info.text);
    return comm;
}

static void rank_open(void)
{
    gph_options options = GPH_OPTIONS_INIT;
    CUcontext context = NULL;
    CUmodule module = NULL;
    int devices = 0;
    char name[128] = "";
    options.driver = getenv("GPH_DRIVER") ? GPH_DRIVER_DEFAULT : GPH_DRIVER_AUTO;
    NEED(gph_open(&options, &me.runtime, &error));
    NEED(gph_ranks_open(NULL, &me.ranks, &error));
    me.rank = gph_ranks_rank(me.ranks);
    me.count = gph_ranks_count(me.ranks);
    me.cu = gph_cuda(me.runtime);
    NEED(me.cu->DeviceGetCount(&devices));
    if (devices == 0)
        exit(77);
    const CUdevice device = (CUdevice)gph_ranks_local(me.ranks) % devices;
    NEED(me.cu->DeviceGetName(name, sizeof(name), device));
    NEED(me.cu->DevicePrimaryCtxRetain(&context, device));
    NEED(me.cu->CtxSetCurrent(context));
    NEED(me.cu->StreamCreate(&me.stream, 1));
    for (int i = 0; i < 2; i++)
        NEED(me.cu->EventCreate(&me.events[i], 0));
    NEED(me.cu->MemAlloc(&me.memory, me.most));
    NEED(me.cu->MemAlloc(&me.more, 1 << 20));
    NEED(me.cu->MemsetD8(me.memory, 0, me.most));
    NEED(me.cu->CtxSynchronize());
    NEED(me.cu->ModuleLoadData(&module, ptx));
    NEED(me.cu->ModuleGetFunction(&me.scale, module, "scale"));
    NEED(me.cu->ModuleGetFunction(&me.add, module, "add"));
    if (me.rank == 0)
        printf("# %u ranks, %d devices seen, %s\n", me.count, devices, name);
    me.comms[OWN] = comm_of(GPH_COMM_OWN, OWN_BYTES);
    me.comms[NCCL] = me.comms[EAGER] = comm_of(GPH_COMM_NCCL, 0);
    me.comms[BEST] = comm_of(GPH_COMM_BEST, 512 << 10);
}

/* What the border of the best way was measured to be. */
static void show_border(void)
{
    static const int kib[] = {1, 4, 16, 32, 64, 128, 256, 512};
    gph_comm_info info = GPH_SIZED(gph_comm_info);
    gph_comm_info_get(me.comms[BEST], &info);
    if (me.rank != 0 || info.own_us[0] <= 0)
        return;
    printf("# measured at creation, us (own, NCCL):");
    for (int i = 0; i < 8; i++)
        printf(" %d KiB %.1f %.1f;", kib[i], info.own_us[i], info.nccl_us[i]);
    printf("\n");
}

/* ---- replaying ---- */

struct work {
    int way;
    uint64_t bytes;
    gph_dtype dtype;
};

static void put_chain(const struct work *work)
{
    for (int i = 0; i < CHAIN; i++)
        NEED(gph_comm_all_reduce(me.comms[work->way], me.memory, me.memory,
                                 work->bytes / 2, work->dtype, GPH_COMM_SUM, me.stream,
                                 &error));
}

static void put_words(CUfunction function, CUdeviceptr at, unsigned n, void *third)
{
    void *arguments[] = {&at, &n, third};
    NEED(me.cu->LaunchKernel(function, (n + 255) / 256, 1, 1, 256, 1, 1, 0, me.stream,
                             arguments, NULL));
}

/* A layer: a kernel, and a sum that keeps the values as they are. */
static void put_step(const struct work *work)
{
    float part = 1.0f / (float)me.count;
    for (int i = 0; i < LAYERS; i++) {
        put_words(me.scale, me.memory, LAYER_BYTES / 4, &part);
        NEED(gph_comm_all_reduce(me.comms[work->way], me.memory, me.memory,
                                 LAYER_BYTES / 4, GPH_DTYPE_F32, GPH_COMM_SUM, me.stream,
                                 &error));
    }
}

static CUgraphExec exec_of(void (*put)(const struct work *), const struct work *work)
{
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    NEED(gph_capture_begin(me.runtime, me.stream, NULL, &capture, &error));
    put(work);
    NEED(gph_capture_end(capture, &graph, &error));
    NEED(me.cu->GraphInstantiateWithFlags(&exec, graph, 0));
    NEED(me.cu->GraphDestroy(graph));
    return exec;
}

static void together(void)
{
    int64_t all;
    NEED(gph_ranks_most(me.ranks, "round", 0, &all, &error));
}

/* The slowest rank's median. */
static double slowest(double *times, unsigned count)
{
    double all[64], most = 0;
    qsort(times, count, sizeof(*times), by_value);
    NEED(gph_ranks_gather(me.ranks, "median", &times[count / 2], sizeof(double), all,
                          &error));
    for (unsigned i = 0; i < me.count; i++)
        most = all[i] > most ? all[i] : most;
    return most;
}

static bool can(int way, uint64_t bytes)
{
    return me.comms[way] && (way != OWN || bytes <= OWN_BYTES) &&
           (way != BEST || me.comms[NCCL] || bytes <= (512 << 10));
}

/* The first one lets all ranks begin the second one together, which is measured. */
static double once(void (*put)(const struct work *), const struct work *work,
                   CUgraphExec exec)
{
    float ms = 0;
    for (int i = 0; i < 2; i++) {
        if (!exec)
            put(work);
        else
            NEED(me.cu->GraphLaunch(exec, me.stream));
        NEED(me.cu->EventRecord(me.events[i], me.stream));
    }
    NEED(me.cu->StreamSynchronize(me.stream));
    NEED(me.cu->EventElapsedTime(&ms, me.events[0], me.events[1]));
    return 1000.0 * (double)ms;
}

/* Microseconds of the whole work, by each way that can; 0: it cannot. */
static void measure(void (*put)(const struct work *), uint64_t bytes, gph_dtype dtype,
                    double out[WAYS])
{
    static double times[WAYS][ROUNDS_MAX];
    CUgraphExec execs[WAYS] = {NULL};
    for (int way = 0; way < WAYS; way++) {
        const struct work work = {way, bytes, dtype};
        if (can(way, bytes) && way != EAGER)
            execs[way] = exec_of(put, &work);
        if (can(way, bytes)) { /* as it is used first */
            put(&work);
            NEED(gph_ranks_wait(me.ranks, me.runtime, me.stream, &error));
        }
    }
    for (unsigned round = 0; round < me.rounds + 2; round++)
        for (int way = 0; way < WAYS; way++) {
            const struct work work = {way, bytes, dtype};
            if (!can(way, bytes))
                continue;
            together();
            const double us = once(put, &work, execs[way]);
            if (round >= 2)
                times[way][round - 2] = us;
        }
    for (int way = 0; way < WAYS; way++) {
        out[way] = can(way, bytes) ? slowest(times[way], me.rounds) : 0;
        if (execs[way])
            NEED(me.cu->GraphExecDestroy(execs[way]));
    }
    NEED(gph_ranks_check(me.ranks, &error));
}

/* ---- what is shown ---- */

static void show(const char *what, const double us[WAYS], int parts)
{
    if (me.rank != 0)
        return;
    printf("%-16s", what);
    for (int way = 0; way < WAYS; way++)
        if (us[way] > 0)
            printf(" %10.2f", us[way] / parts);
        else
            printf(" %10s", "-");
    if (us[NCCL] > 0)
        printf("   %5.2f", us[NCCL] / us[BEST]);
    printf("\n");
    fflush(stdout);
}

static void show_sums(gph_dtype dtype, const char *name)
{
    if (me.rank == 0) {
        printf("%-16s", name);
        for (int way = 0; way < WAYS; way++)
            printf(" %10s", names[way]);
        printf("   NCCL / best\n");
    }
    for (uint64_t bytes = 1024; bytes <= me.most; bytes *= 2) {
        char what[32];
        double us[WAYS];
        snprintf(what, sizeof(what), "%llu KiB", (unsigned long long)bytes >> 10);
        measure(put_chain, bytes, dtype, us);
        show(what, us, CHAIN);
    }
}

static void show_step(void)
{
    float ones[LAYER_BYTES / 4];
    double us[WAYS];
    for (int i = 0; i < LAYER_BYTES / 4; i++)
        ones[i] = (float)(i % 64);
    NEED(me.cu->MemcpyHtoDAsync(me.memory, ones, sizeof(ones), me.stream));
    measure(put_step, LAYER_BYTES, GPH_DTYPE_F32, us);
    show("step, 32 layers", us, 1);
    NEED(me.cu->MemcpyDtoH(ones, me.memory, sizeof(ones)));
    for (int i = 0; i < LAYER_BYTES / 4 && (me.count & (me.count - 1)) == 0; i++)
        if (ones[i] != (float)(i % 64)) {
            printf("rank %u: element %d is %g after the steps\n", me.rank, i,
                   (double)ones[i]);
            exit(1);
        }
}

/* Replays with late ranks: each counts up, sums over the ranks, and adds the sum to a
 * total, which so has every replay in it. */
enum { LATE_COUNT = 1000 };

static void put_late(const struct work *work)
{
    CUdeviceptr none = 0, sums = me.more + 4 * LATE_COUNT, total = sums + 4 * LATE_COUNT;
    put_words(me.add, me.more, LATE_COUNT, &none);
    NEED(gph_comm_all_reduce(me.comms[work->way], me.more, sums, LATE_COUNT,
                             GPH_DTYPE_I32, GPH_COMM_SUM, me.stream, &error));
    put_words(me.add, total, LATE_COUNT, &sums);
}

static void show_late(int way)
{
    const struct work work = {way, 0, GPH_DTYPE_I32};
    static uint32_t words[3 * LATE_COUNT];
    uint32_t total = 0;
    if (!me.comms[way])
        return;
    CUgraphExec exec = exec_of(put_late, &work);
    NEED(me.cu->MemsetD8(me.more, 0, sizeof(words)));
    NEED(me.cu->CtxSynchronize());
    together();
    const double begin = now_us();
    srand(me.rank + 1);
    for (unsigned i = 0; i < me.replays; i++) {
        if (rand() % 200 == 0)
            nap_us(rand() % 2000);
        NEED(me.cu->GraphLaunch(exec, me.stream));
        if (rand() % 50 == 0)
            NEED(gph_ranks_wait(me.ranks, me.runtime, me.stream, &error));
        total += (i + 1) * me.count;
    }
    NEED(gph_ranks_wait(me.ranks, me.runtime, me.stream, &error));
    const double us = (now_us() - begin) / me.replays;
    NEED(me.cu->MemcpyDtoH(words, me.more, sizeof(words)));
    for (unsigned i = 0; i < LATE_COUNT; i++)
        if (words[i] != me.replays || words[LATE_COUNT + i] != me.replays * me.count ||
            words[2 * LATE_COUNT + i] != total) {
            printf("rank %u: %s: element %u is %u, %u, %u after %u replays\n", me.rank,
                   names[way], i, words[i], words[LATE_COUNT + i],
                   words[2 * LATE_COUNT + i], me.replays);
            exit(1);
        }
    NEED(me.cu->GraphExecDestroy(exec));
    if (me.rank == 0)
        printf("%u replays with late ranks, %s: all sums right, %.1f us each\n",
               me.replays, names[way], us);
}

static int run(void)
{
    rank_open();
    show_border();
    show_sums(GPH_DTYPE_F16, "f16");
    show_sums(GPH_DTYPE_BF16, "bf16");
    show_step();
    for (int way = NCCL; way < WAYS; way++)
        show_late(way);
    gph_comm_destroy(me.comms[OWN]);
    gph_comm_destroy(me.comms[NCCL]);
    gph_comm_destroy(me.comms[BEST]);
    gph_ranks_close(me.ranks);
    return 0;
}

/* ---- the processes ---- */

static bool is_launched(void)
{
    return getenv("GPH_RANK") || getenv("RANK") || getenv("OMPI_COMM_WORLD_RANK") ||
           getenv("PMI_RANK") || getenv("PMIX_RANK") || getenv("SLURM_PROCID");
}

static int start(unsigned count, char **argv)
{
    char text[32];
    int failures = 0;
    snprintf(text, sizeof(text), "bench %ld", (long)getpid());
    setenv("GPH_RANKS_ID", text, 1);
    snprintf(text, sizeof(text), "%u", count);
    setenv("GPH_RANKS", text, 1);
    for (unsigned rank = 0; rank < count; rank++) {
        if (fork() != 0)
            continue;
        snprintf(text, sizeof(text), "%u", rank);
        setenv("GPH_RANK", text, 1);
        execv("/proc/self/exe", argv);
        _exit(99);
    }
    for (int status; wait(&status) > 0;)
        failures += status != 0;
    return failures != 0;
}

int main(int argc, char **argv)
{
    unsigned ranks = 2;
    for (int i = 1; i < argc; i++)
        if (i + 1 < argc && strcmp(argv[i], "--most") == 0)
            me.most = strtoull(argv[++i], NULL, 10);
        else if (i + 1 < argc && strcmp(argv[i], "--rounds") == 0)
            me.rounds = (unsigned)atoi(argv[++i]);
        else if (i + 1 < argc && strcmp(argv[i], "--replays") == 0)
            me.replays = (unsigned)atoi(argv[++i]);
        else
            ranks = (unsigned)atoi(argv[i]);
    if (ranks == 0 || ranks > 64 || me.rounds == 0 || me.rounds > ROUNDS_MAX ||
        me.most < LAYER_BYTES) {
        fprintf(stderr, "usage: bench_ranks [RANKS] [--most BYTES] [--rounds N] "
                        "[--replays N]\n");
        return 2;
    }
    return is_launched() ? run() : start(ranks, argv);
}
