// SPDX-License-Identifier: Apache-2.0
/* Guards that most blocks pass as one: every block at its edge, wrapping indices and both
 * ways of writing a comparison give what the slow path gives. */
#include "kernel_run.h"
#include "test.h"

#define PTX_HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
/* out[r5 - first] += 1 in the threads that pass */
#define KERNEL(name, guard)                                                              \
    ".visible .entry " name "(.param .u64 out, .param .u32 first, .param .u32 n)\n{\n"   \
    ".reg .pred %p<5>;\n.reg .b32 %r<12>;\n.reg .b64 %rd<6>;\n"                          \
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [first];\nld.param.u32 %r2, [n];\n"    \
    "mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r6, %tid.x;\n"              \
    "mov.u32 %r7, %tid.y;\n"                                                             \
    "mad.lo.s32 %r8, %r3, %r4, %r6;\nadd.s32 %r5, %r8, %r1;\n" guard                     \
    "sub.s32 %r9, %r5, %r1;\nmul.wide.u32 %rd2, %r9, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"    \
    "atom.global.add.u32 %r10, [%rd3], 1;\nst.global.u32 [%rd3+4096], "                  \
    "%r5;\nEND:\nret;\n}\n"

static const char ptx[] = PTX_HEAD KERNEL("unsigned_less",
                                          "setp.ge.u32 %p1, %r5, %r2;\n@%p1 bra END;\n")
    KERNEL("signed_less", "setp.ge.s32 %p1, %r5, %r2;\n@%p1 bra END;\n")
        KERNEL("turned", "setp.gt.u32 %p1, %r2, %r5;\n@!%p1 bra END;\n")
            KERNEL("at_least", "setp.lt.s32 %p1, %r5, %r2;\n@%p1 bra END;\n")
                KERNEL("both", "setp.ge.u32 %p1, %r5, %r2;\nsetp.gt.u32 %p2, %r7, 1;\n"
                               "or.pred %p3, %p1, %p2;\n@%p3 bra END;\n")
                    KERNEL("inside",
                           "setp.lt.u32 %p1, %r5, %r2;\nsetp.le.u32 %p2, %r7, 1;\n"
                           "and.pred %p3, %p1, %p2;\n@!%p3 bra END;\n");

/* out[global thread] = a hash of the indices that a thread's loop goes through, from
 * `first` on by `stride` while below n; and 512 further on, of the rounds. */
#define LOOP(name, compare, branch)                                                      \
    ".visible .entry " name                                                              \
    "(.param .u64 out, .param .u32 first, .param .u32 n, .param .u32 stride)\n{\n"       \
    ".reg .pred %p<5>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<6>;\n"                          \
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [first];\nld.param.u32 %r2, [n];\n"    \
    "ld.param.u32 %r11, [stride];\n"                                                     \
    "mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r6, %tid.x;\n"              \
    "mov.u32 %r7, %tid.y;\nmad.lo.s32 %r8, %r3, %r4, %r6;\nadd.s32 %r5, %r8, %r1;\n"     \
    "mov.u32 %r9, 0;\nmov.u32 %r12, 0;\nsetp.ge." compare                                \
    " %p1, %r5, %r2;\n@%p1 bra DONE;\nLOOP:\n"                                           \
    "mad.lo.s32 %r9, %r9, 31, %r5;\nadd.s32 %r12, %r12, 1;\n"                            \
    "add.s32 %r5, %r5, %r11;\nsetp." branch " LOOP;\nDONE:\n"                            \
    "mov.u32 %r13, %ntid.y;\nmad.lo.s32 %r8, %r8, %r13, %r7;\n"                          \
    "mul.wide.u32 %rd2, %r8, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"                            \
    "st.global.u32 [%rd3], %r9;\nst.global.u32 [%rd3+2048], %r12;\nret;\n}\n"

static const char loops_ptx[] =
    PTX_HEAD LOOP("below", "u32", "lt.u32 %p2, %r5, %r2;\n@%p2 bra")
        LOOP("signed_below", "s32", "lt.s32 %p2, %r5, %r2;\n@%p2 bra")
            LOOP("not_above", "u32", "ge.u32 %p2, %r5, %r2;\n@!%p2 bra");

/* out[thread]: what threads that pass `lane` write between two barriers; 1,024 further
 * on, a vote of those that `end` leaves. */
#define LANES(name, lane, end)                                                           \
    ".visible .entry " name "(.param .u64 out)\n{\n"                                     \
    ".reg .pred %p<5>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<6>;\n"                          \
    ".shared .align 4 .b8 part[64];\n"                                                   \
    "ld.param.u64 %rd1, [out];\nmov.u32 %r4, %ntid.x;\nmov.u32 %r6, %tid.x;\n"           \
    "mov.u32 %r7, %tid.y;\nmad.lo.s32 %r8, %r7, %r4, %r6;\nmul.wide.u32 %rd2, %r8, 4;\n" \
    "add.s64 %rd3, %rd1, %rd2;\nbar.sync 0;\n" lane                                      \
    "atom.global.add.u32 %r10, [%rd3], %r8;\nst.global.u32 [%rd3+8192], %r6;\nNEXT:\n"   \
    "bar.sync 0;\n" end "and.b32 %r11, %r8, 1;\nsetp.eq.s32 %p3, %r11, 1;\n"             \
    "vote.sync.ballot.b32 %r12, %p3, -1;\nst.global.u32 [%rd3+4096], "                   \
    "%r12;\nEND:\nret;\n"                                                                \
    "}\n"

static const char lanes_ptx[] = PTX_HEAD LANES(
    "warps", "and.b32 %r9, %r6, 31;\nsetp.eq.s32 %p1, %r9, 0;\n@!%p1 bra NEXT;\n",
    "setp.gt.u32 %p2, %r6, 31;\n@%p2 bra END;\n")
    LANES("eighths", "and.b32 %r9, %r6, 7;\nsetp.ne.u32 %p1, %r9, 0;\n@%p1 bra NEXT;\n",
          "setp.ge.s32 %p2, %r6, 40;\n@%p2 bra END;\n")
        LANES("first", "setp.ne.s32 %p1, %r6, 0;\n@%p1 bra NEXT;\n",
              "setp.lt.u32 %p2, %r6, 5;\n@!%p2 bra END;\n")
            LANES("others",
                  "and.b32 %r9, %r6, 31;\nsetp.eq.s32 %p1, %r9, 0;\n@%p1 bra NEXT;\n",
                  "setp.le.s32 %p2, %r6, 63;\n@!%p2 bra END;\n")
                LANES(
                    "odd",
                    "and.b32 %r9, %r6, 30;\nsetp.eq.s32 %p1, %r9, 0;\n@!%p1 bra NEXT;\n",
                    "setp.lt.u32 %p2, %r6, 33;\n@%p2 bra END;\n");

static const char *const names[] = {"unsigned_less", "signed_less", "turned",
                                    "at_least",      "both",        "inside"};
static kernel_unit *units[2];
static gph_error error;

static void run_both(const char *name, uint32_t first, uint32_t n, uint32_t rows)
{
    static uint32_t out[2][4096];
    memset(out, 0, sizeof(out));
    for (int path = 0; path < 2; path++) {
        const struct {
            void *out;
            uint32_t first, n;
        } params = {out[path], first, n};
        const kernel_call call = {.name = name, .grid = {4}, .block = {32, rows}};
        CHECK_OK(kernel_run(units[path], &call, &params, &error), error);
    }
    if (!CHECK(memcmp(out[0], out[1], sizeof(out[0])) == 0))
        fprintf(stderr, "%s first %u n %u rows %u\n", name, first, n, rows);
}

static void every_edge_is_the_slow_paths(void)
{
    static const uint32_t firsts[] = {0,          1,          0x7fffffc0, 0x7fffffe1,
                                      0x80000000, 0xffffffc0, 0xffffffe1, 0xfffffff0};
    static const uint32_t offsets[] = {0, 1, 31, 32, 33, 64, 65, 127, 128, 129, 4000};
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
        for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++)
            for (size_t j = 0; j < sizeof(offsets) / sizeof(offsets[0]); j++)
                run_both(names[k], firsts[i], firsts[i] + offsets[j], 1 + (j + i) % 4);
}

static void every_loop_is_the_slow_paths(void)
{
    static const char *const loops[] = {"below", "signed_below", "not_above"};
    static const uint32_t counts[] = {0, 1, 31, 32, 127, 128, 129, 500, 512, 600, 1000};
    kernel_unit *pair[2];
    for (int path = 0; path < 2; path++) {
        pair[path] = kernel_open(loops_ptx, path ? KERNEL_SLOW : KERNEL_FAST, &error);
        if (!CHECK_OK(pair[path] == NULL, error))
            return;
    }
    for (uint32_t k = 0; k < 3 * 11 * 3; k++) {
        static uint32_t out[2][1024];
        const struct {
            void *out;
            uint32_t first, n, stride;
        } shape = {NULL, k % 2 ? 0 : 0x7fffff00, counts[k / 3 % 11], 32 + 48 * (k % 3)};
        const uint32_t rows = 1 + k % 4;
        memset(out, 0, sizeof(out));
        for (int path = 0; path < 2; path++) {
            const struct {
                void *out;
                uint32_t first, n, stride;
            } params = {out[path], shape.first, shape.first + shape.n, shape.stride};
            const kernel_call call = {
                .name = loops[k / 33], .grid = {4}, .block = {32, rows}};
            CHECK_OK(kernel_run(pair[path], &call, &params, &error), error);
        }
        if (!CHECK(memcmp(out[0], out[1], sizeof(out[0])) == 0))
            fprintf(stderr, "%s first %u n %u stride %u rows %u\n", loops[k / 33],
                    shape.first, shape.n, shape.stride, rows);
    }
    CHECK(kernel_about(pair[0], "below")->path == PTX_PATH_FAST);
    kernel_close(pair[0]);
    kernel_close(pair[1]);
}

static void few_threads_are_the_slow_paths(void)
{
    static const char *const lanes[] = {"warps", "eighths", "first", "others", "odd"};
    static const uint32_t shapes[][2] = {{1, 1},  {31, 1}, {32, 1},  {33, 1},  {40, 1},
                                         {64, 1}, {65, 1}, {256, 1}, {999, 1}, {1024, 1},
                                         {5, 7},  {32, 4}, {48, 3},  {64, 16}};
    static uint32_t out[2][4096];
    kernel_unit *pair[2];
    for (int path = 0; path < 2; path++) {
        pair[path] = kernel_open(lanes_ptx, path ? KERNEL_SLOW : KERNEL_FAST, &error);
        if (!CHECK_OK(pair[path] == NULL, error))
            return;
    }
    for (size_t k = 0; k < 5 * sizeof(shapes) / sizeof(shapes[0]); k++) {
        const uint32_t *shape = shapes[k / 5];
        memset(out, 0, sizeof(out));
        for (int path = 0; path < 2; path++) {
            void *params = out[path];
            const kernel_call call = {
                .name = lanes[k % 5], .grid = {2}, .block = {shape[0], shape[1]}};
            CHECK_OK(kernel_run(pair[path], &call, &params, &error), error);
        }
        if (!CHECK(memcmp(out[0], out[1], sizeof(out[0])) == 0))
            fprintf(stderr, "%s, block %u x %u\n", lanes[k % 5], shape[0], shape[1]);
    }
    for (size_t k = 0; k < 5; k++)
        CHECK(kernel_about(pair[0], lanes[k])->path == PTX_PATH_FAST);
    kernel_close(pair[0]);
    kernel_close(pair[1]);
}

int main(void)
{
    for (int path = 0; path < 2; path++) {
        units[path] = kernel_open(ptx, path ? KERNEL_SLOW : KERNEL_FAST, &error);
        if (units[path] == NULL) {
            fprintf(stderr, "%s\n", error.message);
            return 1;
        }
        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
            if (kernel_about(units[path], names[k])->path != (ptx_path)path)
                fprintf(stderr, "%s is not on path %d\n", names[k], path);
    }
    RUN(every_edge_is_the_slow_paths);
    RUN(every_loop_is_the_slow_paths);
    RUN(few_threads_are_the_slow_paths);
    kernel_close(units[0]);
    kernel_close(units[1]);
    return test_done();
}
