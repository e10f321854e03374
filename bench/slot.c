// SPDX-License-Identifier: Apache-2.0
/* bench/slot: what a buffer that changes costs, as COPY, INDIRECT, PULL and REMAP, on softcuda
 * or, with GPH_DRIVER=cuda in the environment, NVIDIA's driver.
 *
 *   bench_slot [ROUNDS]
 *
 * Host time of a bind against its bar; a replay with it, for sizes of the buffer, where
 * two buffers take turns (which REMAP maps once) and where five do (which it maps each
 * time). Medians; exit status 3 if a bar is missed. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include <gph/gph.h>

/* Reads the first word of a buffer, by its address or by a word that holds it. */
static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry direct(.param .u64 p, .param .u64 out)\n"
    "{\n.reg .b64 %a<3>;\n.reg .b32 %r<2>;\n"
    "ld.param.u64 %a1, [p];\nld.param.u64 %a2, [out];\n"
    "ld.global.u32 %r1, [%a1];\nst.global.u32 [%a2], %r1;\nret;\n}\n"
    ".visible .entry indirect(.param .u64 p, .param .u64 out)\n"
    "{\n.reg .b64 %a<3>;\n.reg .b32 %r<2>;\n"
    "ld.param.u64 %a1, [p];\nld.param.u64 %a2, [out];\nld.global.u64 %a1, [%a1];\n"
    "ld.global.u32 %r1, [%a1];\nst.global.u32 [%a2], %r1;\nret;\n}\n";

enum { BUFFERS = 5, STEPS = 20, ROUNDS_MAX = 1001, KINDS = 5 };

static gph_runtime *runtime;
static const gph_cuda_calls *cu;
static CUfunction functions[2];
static CUstream stream;
static CUdeviceptr out;
static int rounds = 21;
static int missed;
static bool is_soft;
static gph_error error;

static void must(gph_status status, const char *what)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "bench_slot: %s: %d %s\n", what, (int)status, error.message);
    exit(1);
}
#define MUST(call) must(call, #call)

static void open_driver(void)
{
    gph_options options = GPH_OPTIONS_INIT;
    const char *wanted = getenv("GPH_DRIVER");
    is_soft = wanted == NULL || strcmp(wanted, "cuda") != 0;
    options.driver = is_soft ? GPH_DRIVER_SOFT : GPH_DRIVER_CUDA;
    MUST(gph_open(&options, &runtime, &error));
    cu = gph_cuda(runtime);
    CUcontext context;
    CUmodule module;
    MUST(cu->DevicePrimaryCtxRetain(&context, 0));
    MUST(cu->CtxSetCurrent(context));
    MUST(cu->ModuleLoadData(&module, ptx));
    MUST(cu->ModuleGetFunction(&functions[0], module, "direct"));
    MUST(cu->ModuleGetFunction(&functions[1], module, "indirect"));
    MUST(cu->StreamCreate(&stream, 1));
    MUST(cu->MemAlloc(&out, 4096));
}

/* ---- tables -------------------------------------------------------------------------
 */

struct table {
    gph_slots *slots;
    gph_exec *execs[2];
    uint32_t windows;
};

static gph_exec *capture(gph_slots *slots, CUfunction function)
{
    gph_capture *recording = NULL;
    gph_exec_options options = GPH_EXEC_OPTIONS_INIT;
    gph_exec *exec = NULL;
    CUgraph graph = NULL;
    CUdeviceptr address = slots != NULL ? gph_slots_address(slots, 0) : out;
    void *arguments[] = {&address, &out};
    MUST(gph_capture_begin(runtime, stream, NULL, &recording, &error));
    if (slots != NULL)
        MUST(gph_slots_feed(slots, stream, &error));
    MUST(cu->LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
    MUST(gph_capture_end(recording, &graph, &error));
    options.upload_stream = stream;
    MUST(gph_exec_create(runtime, graph, &options, &exec, &error));
    MUST(cu->GraphDestroy(graph));
    return exec;
}

static struct table make(gph_slot_kind kind, uint64_t bytes, gph_slot_buffer *first)
{
    const gph_slot slot = {.name = "input", .kind = kind, .bytes = bytes};
    struct table table = {.slots = NULL};
    MUST(gph_slots_create(runtime, &slot, 1, NULL, &table.slots, &error));
    MUST(gph_slots_bind_buffer(table.slots, 0, first, &error));
    table.windows = gph_slots_window_count(table.slots);
    for (uint32_t w = 0; w < table.windows; w++) {
        MUST(gph_slots_window_set(table.slots, w, &error));
        table.execs[w] = capture(table.slots, functions[kind == GPH_SLOT_INDIRECT]);
    }
    return table;
}

static void destroy(struct table *table)
{
    MUST(cu->StreamSynchronize(stream));
    for (uint32_t w = 0; w < table->windows; w++)
        gph_exec_destroy(table->execs[w]);
    gph_slots_destroy(table->slots);
}

static void replay(const struct table *table, gph_slot_buffer *buffer)
{
    MUST(gph_slots_bind_buffer(table->slots, 0, buffer, &error));
    MUST(gph_slots_launch(table->slots, table->execs, table->windows, stream, &error));
}

/* ---- measuring ----------------------------------------------------------------------
 */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *samples)
{
    qsort(samples, (size_t)rounds, sizeof(*samples), by_size);
    return samples[rounds / 2];
}

/* Steps of `count` buffers that take turns, in us a step. */
static double steps_of(const struct table *table, gph_slot_buffer *const *buffers,
                       int count)
{
    const uint64_t from = gphi_clock_ns();
    for (int i = 0; i < STEPS; i++)
        replay(table, buffers[i % count]);
    MUST(cu->StreamSynchronize(stream));
    return (double)(gphi_clock_ns() - from) / STEPS / 1e3;
}

static void bind_costs(gph_slot_kind kind, const char *name)
{
    static double samples[3][ROUNDS_MAX];
    enum { BINDS = 10000, LAUNCHES = 32 };
    gph_slot_buffer *buffer;
    MUST(gph_slot_buffer_create(runtime, 1, &buffer, &error));
    struct table table = make(kind, 1024, buffer);
    gph_exec *plain = capture(NULL, functions[0]);
    const CUdeviceptr address = gph_slot_buffer_address(buffer);
    for (int i = 0; i < rounds; i++) {
        uint64_t from = gphi_clock_ns();
        for (int k = 0; k < BINDS; k++)
            MUST(
                gph_slots_bind(table.slots, 0, address + 64 * (unsigned)(k & 1), &error));
        samples[0][i] = (double)(gphi_clock_ns() - from) / BINDS;
        from = gphi_clock_ns();
        for (int k = 0; k < LAUNCHES; k++) {
            MUST(
                gph_slots_bind(table.slots, 0, address + 64 * (unsigned)(k & 1), &error));
            MUST(gph_slots_launch(table.slots, table.execs, 1, stream, &error));
        }
        samples[1][i] = (double)(gphi_clock_ns() - from) / LAUNCHES;
        MUST(cu->StreamSynchronize(stream));
        from = gphi_clock_ns();
        for (int k = 0; k < LAUNCHES; k++)
            MUST(gph_exec_launch(plain, stream, &error));
        samples[2][i] = (double)(gphi_clock_ns() - from) / LAUNCHES;
        MUST(cu->StreamSynchronize(stream));
    }
    const double bind = median(samples[0]), with = median(samples[1]),
                 without = median(samples[2]);
    printf("%s: a bind %*s %9.4f us, bar 0.1%s\n", name, 42 - (int)strlen(name), "",
           bind / 1e3, bind <= 100 ? "" : ": MISSED");
    missed += bind > 100;
    printf("%-52s %9.3f us\n", "  bind and launch, a feed and a kernel", with / 1e3);
    printf("%-52s %9.3f us\n", "  gph_exec_launch() of the kernel alone", without / 1e3);
    gph_exec_destroy(plain);
    destroy(&table);
    gph_slot_buffer_destroy(buffer);
}

static const struct {
    const char *name;
    gph_slot_kind kind;
    int buffers;
} kinds[KINDS] = {{"COPY", GPH_SLOT_COPY, BUFFERS},
                  {"INDIRECT", GPH_SLOT_INDIRECT, BUFFERS},
                  {"PULL", GPH_SLOT_PULL, BUFFERS},
                  {"REMAP, 2 by turns", GPH_SLOT_REMAP, 2},
                  {"REMAP, 5 by turns", GPH_SLOT_REMAP, BUFFERS}};

/* One line; returns which is faster than copying, a bit each. */
static unsigned size_line(uint64_t bytes)
{
    static double samples[KINDS][ROUNDS_MAX];
    struct table tables[KINDS];
    gph_slot_buffer *buffers[BUFFERS];
    unsigned faster = 0;
    for (int i = 0; i < BUFFERS; i++)
        MUST(gph_slot_buffer_create(runtime, bytes, &buffers[i], &error));
    for (int k = 0; k < KINDS; k++) {
        tables[k] = make(kinds[k].kind, bytes, buffers[0]);
        (void)steps_of(&tables[k], buffers, kinds[k].buffers);
    }
    for (int i = 0; i < rounds; i++)
        for (int k = 0; k < KINDS; k++)
            samples[k][i] = steps_of(&tables[k], buffers, kinds[k].buffers);
    printf("%10.3f MiB", (double)bytes / (1 << 20));
    const double copy = median(samples[0]);
    for (int k = 0; k < KINDS; k++) {
        const double us = k == 0 ? copy : median(samples[k]);
        printf(" %18.2f", us);
        faster |= (unsigned)(us < copy) << k;
        destroy(&tables[k]);
    }
    printf("\n");
    for (int i = 0; i < BUFFERS; i++)
        gph_slot_buffer_destroy(buffers[i]);
    return faster;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atoi(argv[1]);
    if (rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: bench_slot [ROUNDS], 1 to %d\n", ROUNDS_MAX);
        return 2;
    }
    open_driver();
    bind_costs(GPH_SLOT_INDIRECT, "INDIRECT");
    bind_costs(GPH_SLOT_PULL, "PULL");
    printf("us a replay with another buffer each time\n%14s", "");
    for (int k = 0; k < KINDS; k++)
        printf(" %18s", kinds[k].name);
    printf("\n");
    uint64_t first[KINDS] = {0};
    for (uint64_t bytes = 256; bytes <= (is_soft ? 64u : 256u) << 20; bytes *= 4) {
        const unsigned faster = size_line(bytes);
        for (int k = 0; k < KINDS; k++)
            if ((faster & 1u << k) == 0)
                first[k] = 0;
            else if (first[k] == 0)
                first[k] = bytes;
    }
    for (int k = 1; k < KINDS; k++)
        if (first[k] != 0)
            printf("%s beats COPY from %.3f MiB\n", kinds[k].name,
                   (double)first[k] / (1 << 20));
        else
            printf("%s beats COPY at no size\n", kinds[k].name);
    gph_close(runtime);
    return missed ? 3 : 0;
}
