// SPDX-License-Identifier: Apache-2.0
/* Sums of floats in global memory as operations of a warp: the bytes of thread by thread
 * where a thread adds once, no sum lost among workers, and which kernels have them. */
#include "kernel_run.h"
#include "softcuda/memory/share.h"
#include "softcuda/ptx/compile.h"
#include "test.h"

#include <math.h>
#include <unistd.h>

#define THREADS 256u
#define PLACES 1024u

static gph_error error;

#define HEAD                                                                             \
    ".version 7.0\n.target sm_70\n.address_size 64\n"                                    \
    ".visible .entry k(.param .u64 out, .param .u64 at, .param .u64 value, "             \
    ".param .u32 n)\n{\n"                                                                \
    ".reg .b32 %r<20>;\n.reg .f32 %f<8>;\n.reg .b64 %rd<20>;\n.reg .pred %p<4>;\n"       \
    "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [at];\nld.param.u64 %rd3, [value];\n" \
    "ld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\nmov.u32 %r3, %ntid.x;\n"              \
    "mov.u32 %r4, %ctaid.x;\nmad.lo.s32 %r5, %r4, %r3, %r2;\n"

/* out[at[i]] += value[i] */
static const char scatter[] =
    HEAD "setp.ge.s32 %p1, %r5, %r1;\n@%p1 bra END;\nmul.wide.s32 %rd4, %r5, 4;\n"
         "add.s64 %rd5, %rd2, %rd4;\nld.global.u32 %r6, [%rd5];\n"
         "mul.wide.s32 %rd6, %r6, 4;\nadd.s64 %rd7, %rd1, %rd6;\n"
         "add.s64 %rd8, %rd3, %rd4;\nld.global.f32 %f1, [%rd8];\n"
         "atom.global.add.f32 %f2, [%rd7], %f1;\nEND:\nret;\n}\n";

/* for (i = tid; i < n; i += ntid) out[at[ctaid] + i] += value[i] */
static const char rows[] = HEAD
    "mul.wide.s32 %rd4, %r4, 4;\nadd.s64 %rd5, %rd2, %rd4;\n"
    "setp.ge.s32 %p1, %r2, %r1;\n@%p1 bra END;\nL:\n"
    "ld.global.u32 %r6, [%rd5];\nadd.s32 %r7, %r6, %r2;\n"
    "mul.wide.s32 %rd6, %r7, 4;\nadd.s64 %rd7, %rd1, %rd6;\n"
    "mul.wide.s32 %rd8, %r2, 4;\nadd.s64 %rd9, %rd3, %rd8;\n"
    "ld.global.f32 %f1, [%rd9];\nred.global.add.f32 [%rd7+8], %f1;\n"
    "add.s32 %r2, %r2, %r3;\nsetp.lt.s32 %p2, %r2, %r1;\n@%p2 bra L;\nEND:\nret;\n}\n";

/* One thread, an old value that is read, and a loop whose rounds differ by thread. */
static const char leader[] =
    HEAD "setp.ne.s32 %p1, %r2, 0;\n@%p1 bra END;\n"
         "red.global.add.f32 [%rd1], 0f3F800000;\nEND:\nret;\n}\n";
static const char returns[] =
    HEAD "atom.global.add.f32 %f2, [%rd1], 0f3F800000;\nmul.wide.s32 %rd4, %r5, 4;\n"
         "add.s64 %rd5, %rd2, %rd4;\nst.global.f32 [%rd5], %f2;\nret;\n}\n";
static const char uneven[] =
    HEAD "mul.wide.s32 %rd4, %r5, 4;\nadd.s64 %rd5, %rd2, %rd4;\n"
         "ld.global.u32 %r6, [%rd5];\nL:\nred.global.add.f32 [%rd1], 0f3F800000;\n"
         "add.s32 %r6, %r6, -1;\nsetp.gt.s32 %p1, %r6, 0;\n@%p1 bra L;\nret;\n}\n";

static bool joins(const char *text)
{
    ptx_module *module = NULL;
    ptx_program *program = NULL;
    bool is_there = false;
    if (CHECK_OK(ptx_parse(text, strlen(text), NULL, &module, &error), error) &&
        CHECK_OK(ptx_compile(module, NULL, &program, &error), error))
        is_there = strstr(program->ir, "call void @x_sum_lanes_f32(") != NULL;
    ptx_program_destroy(program);
    ptx_module_destroy(module);
    return is_there;
}

static void those_that_gain_are_joined(void)
{
    CHECK(joins(scatter) && joins(rows));
    CHECK(!joins(leader));
    CHECK(!joins(returns));
    CHECK(!joins(uneven));
}

typedef struct arguments {
    void *out;
    const void *at, *value;
    uint32_t n;
} arguments;

static kernel_unit *open_unit(const char *text, int path)
{
    kernel_unit *unit = kernel_open(text, path, &error);
    CHECK_OK(unit ? GPH_OK : GPH_E_INVALID, error);
    return unit;
}

static void run(kernel_unit *unit, uint32_t workers, uint32_t blocks,
                const arguments *params)
{
    const kernel_call call = {.name = "k", .grid = {blocks}, .block = {THREADS}};
    if (!unit)
        return;
    unit->workers = workers;
    CHECK_OK(kernel_run(unit, &call, params, &error), error);
}

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Runs, one place, side by side, at an odd word, every other, anywhere. */
static uint32_t place(uint32_t kind, uint32_t i, uint32_t *seed)
{
    switch (kind) {
    case 0: return i / 7;
    case 1: return 5;
    case 2: return i + 4;
    case 3: return i + 3;
    case 4: return i & 1;
    default: return next(seed) % 64;
    }
}

/* Large and small, so that the order shows; subnormal ones, zeros, infinities. */
static float number(uint32_t kind, uint32_t *seed)
{
    const float x = (float)next(seed) / 16777216.0f - 0.5f;
    switch (kind) {
    case 0: return ldexpf(x, (int)(next(seed) % 40) - 20);
    case 1: return ldexpf(x, -126 - (int)(next(seed) % 4));
    default: return next(seed) % 64 == 0 ? INFINITY : next(seed) % 4 ? x : -0.0f;
    }
}

static void compare(kernel_unit *const pair[2], uint32_t places, uint32_t numbers,
                    uint32_t n, uint32_t workers)
{
    static uint32_t at[THREADS];
    static float value[THREADS], out[2][PLACES];
    uint32_t seed = places * 31 + numbers * 7 + n;
    for (uint32_t i = 0; i < THREADS; i++) {
        at[i] = place(places, i, &seed);
        value[i] = number(numbers, &seed);
    }
    for (uint32_t i = 0; i < PLACES; i++)
        out[0][i] = out[1][i] = number(numbers, &seed);
    for (int path = 0; path < 2; path++) {
        const arguments params = {out[path], at, value, n};
        run(pair[path], workers, 1, &params);
    }
    if (!CHECK(memcmp(out[0], out[1], sizeof(out[0])) == 0))
        fprintf(stderr, "places %u, numbers %u, %u threads\n", places, numbers, n);
}

static void bytes(uint32_t workers)
{
    static const uint32_t counts[] = {THREADS, 75, 1};
    kernel_unit *pair[2] = {open_unit(scatter, KERNEL_FAST),
                            open_unit(scatter, KERNEL_SLOW)};
    for (uint32_t places = 0; places < 6; places++)
        for (uint32_t numbers = 0; numbers < 3; numbers++)
            compare(pair, places, numbers, counts[(places + numbers) % 3], workers);
    compare(pair, 2, 0, THREADS, workers);
    compare(pair, 3, 1, THREADS, workers);
    kernel_close(pair[0]);
    kernel_close(pair[1]);
}

/* Whole numbers: their sums are exact in any order. */
static void sums(uint32_t workers)
{
    enum { BLOCKS = 512, WIDTH = 700 };
    static uint32_t at[BLOCKS];
    static float value[PLACES], out[PLACES];
    double wanted[PLACES] = {0};
    memset(out, 0, sizeof(out));
    for (uint32_t i = 0; i < PLACES; i++)
        value[i] = (float)(i % 9);
    for (uint32_t b = 0; b < BLOCKS; b++) {
        at[b] = b * 5 % 300;
        for (uint32_t i = 0; i < WIDTH; i++)
            wanted[at[b] + i + 2] += (double)value[i];
    }
    const arguments params = {out, at, value, WIDTH};
    kernel_unit *unit = open_unit(rows, KERNEL_FAST);
    run(unit, workers, BLOCKS, &params);
    kernel_close(unit);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < PLACES; i++)
        wrong += (double)out[i] != wanted[i];
    CHECK(wrong == 0);
}

static void bytes_are_those_of_thread_by_thread(void)
{
    CHECK(!soft_share_is_alone());
    bytes(2);
}

static void no_sum_is_lost(void)
{
    sums(2);
}

/* From here on as with one worker: without locked operations. */
static void alone_it_is_the_same(void)
{
    soft_share_begin_alone();
    CHECK(soft_share_is_alone());
    bytes(1);
    sums(1);
}

/* What could show memory to another process ends it for good. */
static void shared_memory_ends_it(void)
{
    int file = -1;
    CHECK_OK(soft_share_create(SOFT_SHARE_DEVICE, 0, 4096, &file, &error), error);
    CHECK(soft_share_is_alone());
    close(file);
    CHECK_OK(soft_share_create(SOFT_SHARE_LEDGER, 0, 4096, &file, &error), error);
    close(file);
    CHECK(!soft_share_is_alone());
    soft_share_begin_alone();
    CHECK(!soft_share_is_alone());
}

int main(void)
{
    RUN(those_that_gain_are_joined);
    RUN(bytes_are_those_of_thread_by_thread);
    RUN(no_sum_is_lost);
    RUN(alone_it_is_the_same);
    RUN(shared_memory_ends_it);
    return test_done();
}
