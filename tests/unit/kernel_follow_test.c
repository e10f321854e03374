// SPDX-License-Identifier: Apache-2.0
/* Blocks that follow each other are run as one with a longer row where threads cannot know;
 * and flags are not stored where all threads of a block go the same way. Both give what the
 * slow path gives. */
#include "kernel_run.h"
#include "softcuda/ptx/compile.h"
#include "test.h"

#define WORDS 65536u
#define ROWS_MAX 12u
/* Words of its own for each y: blocks run beside each other. %r4 = blockIdx.x * blockDim.x + threadIdx.x, %r5 = n, %rd1 and %rd2 = out and in. */
#define KERNEL(body)                                                                     \
    ".version 7.0\n.target sm_80\n.address_size 64\n"                                    \
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)\n{\n"             \
    ".reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<16>;\n"                         \
    "ld.param.u64 %rd10, [out];\nld.param.u64 %rd2, [in];\nld.param.u32 %r5, [n];\n"     \
    "mov.u32 %r25, %ctaid.y;\nmov.u32 %r26, %ntid.y;\nmov.u32 %r27, %tid.y;\n"           \
    "mad.lo.s32 %r28, %r25, %r26, %r27;\nmul.wide.u32 %rd11, %r28, 262144;\n"            \
    "add.s64 %rd1, %rd10, %rd11;\n"                                                      \
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"              \
    "mad.lo.s32 %r4, %r2, %r3, %r1;\n" body "E:\nret;\n}\n"
#define GUARD "setp.ge.s32 %p1, %r4, %r5;\n@%p1 bra E;\n"
/* out[to] += in[from] * 3 + more, both modulo the words that there are */
#define ADD(to, from, more)                                                              \
    "and.b32 %r20, " from ", 65535;\nmul.wide.u32 %rd3, %r20, 4;\n"                      \
    "add.s64 %rd4, %rd2, %rd3;\nld.global.u32 %r21, [%rd4];\n"                           \
    "mad.lo.s32 %r22, %r21, 3, " more ";\nand.b32 %r23, " to ", 65535;\n"                \
    "mul.wide.u32 %rd5, %r23, 4;\nadd.s64 %rd6, %rd1, %rd5;\n"                           \
    "ld.global.u32 %r24, [%rd6];\nadd.s32 %r24, %r24, %r22;\n"                           \
    "st.global.u32 [%rd6], %r24;\n"
/* A row of n words a block, from a place that memory names. */
#define ROWS(body)                                                                       \
    "mul.wide.u32 %rd7, %r2, 4;\nadd.s64 %rd8, %rd2, %rd7;\n" body                       \
    "mul.lo.s32 %r8, %r2, %r5;\nmov.u32 %r9, %r1;\n"                                     \
    "setp.ge.s32 %p2, %r9, %r5;\n@%p2 bra E;\nld.global.u32 %r7, [%rd8];\n"              \
    "L:\nadd.s32 %r10, %r8, %r9;\nadd.s32 %r11, %r7, %r9;\n" ADD(                        \
        "%r10", "%r11",                                                                  \
        "%r9") "add.s32 %r9, %r9, %r3;\nsetp.lt.s32 %p3, %r9, %r5;\n@%p3 bra L;\n"

/* out[r10] += in[from] */
#define MIX(from)                                                                        \
    "mul.wide.u32 %rd3, " from ", 4;\nadd.s64 %rd4, %rd2, %rd3;\n"                       \
    "ld.global.u32 %r21, [%rd4];\nmul.wide.u32 %rd5, %r10, 4;\n"                         \
    "add.s64 %rd6, %rd1, %rd5;\nld.global.u32 %r24, [%rd6];\n"                           \
    "add.s32 %r24, %r24, %r21;\nst.global.u32 [%rd6], %r24;\n"
/* A row of `count` words. */
#define ROW(count, index, body)                                                          \
    "mov.u32 %r9, %r1;\nsetp.ge.s32 %p2, %r9, " count ";\n@%p2 bra F;\n"                 \
    "L:\nadd.s32 %r10, %r8, %r9;\n" body                                                 \
    MIX(index) "add.s32 %r9, %r9, %r3;\nsetp.lt.s32 %p3, %r9, " count                    \
               ";\n@%p3 bra L;\nF:\n"
/* Three times, of n words, then of fewer: not all threads go round then. */
#define TIMES(head, index, body)                                                         \
    "mul.lo.s32 %r8, %r2, %r5;\nmov.u32 %r18, 0;\n" head                                 \
    "O:\nsub.s32 %r12, %r5, %r18;\n" ROW(                                                \
        "%r12", index,                                                                   \
        body) "bar.sync 0;\nadd.s32 %r18, %r18, 70;\nsetp.lt.s32 %p4, %r18, 200;\n"      \
              "@%p4 bra O;\n"
/* Once by all threads and once by the first 40. */
#define AGAIN                                                                            \
    "mul.lo.s32 %r8, %r2, %r5;\nmov.u32 %r18, %r1;\nadd.s32 %r12, %r3, 40;\n"            \
    "O:\n" ROW(                                                                          \
        "%r5", "%r9",                                                                    \
        "") "add.s32 %r18, %r18, %r3;\nsetp.lt.s32 %p4, %r18, %r12;\n@%p4 bra O;\n"
/* For a warp's form; no lane votes. */
#define VOTE                                                                             \
    "setp.eq.s32 %p1, %r1, -1;\nvote.sync.ballot.b32 %r6, %p1, -1;\n"                    \
    "add.s32 %r8, %r8, %r6;\n"
/* By 0, too: all ones. */
#define QUOTIENTS(type, by)                                                              \
    TIMES(VOTE "shr.u32 %r14, %r5, 2;\n", "%r17",                                        \
          "div." type " %r15, %r9, " by ";\nrem." type " %r16, %r9, " by ";\n"           \
          "mad.lo.s32 %r17, %r15, 1000, %r16;\nand.b32 %r17, %r17, 65535;\n")

static const struct {
    const char *name, *text;
    bool is_long;         /* blocks may follow each other */
    const char *contains; /* in the IR, or NULL */
    bool one_row;         /* other rows of threads would do the same, and race */
} kernels[] = {
    {"a guard", KERNEL(GUARD ADD("%r4", "%r4", "7")), true, NULL, false},
    {"rows of the launch",
     KERNEL(GUARD "mov.u32 %r6, %tid.y;\nmov.u32 %r7, %ctaid.y;\nmov.u32 %r8, %ntid.y;\n"
                  "mad.lo.s32 %r9, %r7, %r8, %r6;\nmad.lo.s32 %r10, %r9, %r5, %r4;\n" ADD(
                      "%r10", "%r10", "%r9")),
     true, NULL, false},
    {"a clamped index",
     KERNEL(GUARD "sub.s32 %r6, %r4, 1;\nmax.s32 %r7, %r6, 0;\n" ADD("%r4", "%r7", "1")),
     true, NULL, false},
    {"an edge",
     KERNEL(GUARD "setp.eq.s32 %p2, %r4, 0;\nsub.s32 %r6, %r5, 1;\n"
                  "setp.eq.s32 %p3, %r4, %r6;\nor.pred %p4, %p2, %p3;\n@%p4 bra E;\n" ADD(
                      "%r4", "%r4", "5")),
     true, NULL, false},
    {"a loop of one thread",
     KERNEL(GUARD "and.b32 %r6, %r4, 7;\nmov.u32 %r7, 0;\nL:\nadd.s32 %r7, %r7, %r6;\n"
                  "shr.u32 %r6, %r6, 1;\nsetp.ne.s32 %p2, %r6, 0;\n@%p2 bra L;\n" ADD(
                      "%r4", "%r4", "%r7")),
     true, NULL, false},
    {"the index in a block is read", KERNEL(GUARD ADD("%r4", "%r4", "%r1")), false, NULL,
     false},
    {"the block is read", KERNEL(GUARD ADD("%r4", "%r4", "%r2")), false, NULL, false},
    {"the index is another",
     KERNEL("mad.lo.s32 %r6, %r2, 100, %r1;\n" GUARD ADD("%r4", "%r6", "0")), false, NULL,
     false},
    {"a lane", KERNEL(GUARD "mov.u32 %r6, %laneid;\n" ADD("%r4", "%r4", "%r6")), false,
     NULL, false},
    {"a row a block", KERNEL(ROWS("")), false, ".known.a:", false},
    {"a row a block, if it has one",
     KERNEL(ROWS("ld.global.u32 %r6, [%rd8];\nsetp.lt.s32 %p1, %r6, 0;\n@%p1 bra E;\n")),
     false, NULL, false},
    {"four rounds, then fewer", KERNEL(TIMES("", "%r9", "")), false, "j4.b", true},
    {"four rounds of a warp, then fewer", KERNEL(TIMES(VOTE, "%r9", "")), false, "j4.b",
     true},
    {"four rounds, then for some", KERNEL(AGAIN), false, "j4.b", true},
    {"a quotient of the index", KERNEL(QUOTIENTS("s32", "%r14")), false, "urem i32",
     true},
    {"a quotient that bends often", KERNEL(QUOTIENTS("u32", "37")), false, "urem i32",
     true},
    {"a row for some", KERNEL("setp.gt.s32 %p4, %r1, 40;\n@%p4 bra E;\n" ROWS("")), false,
     "call void @soft.flags(", false},
};
#define KERNELS (sizeof(kernels) / sizeof(kernels[0]))

static gph_error error;
static uint32_t in[WORDS], out[2][ROWS_MAX * WORDS];

static void run_pair(kernel_unit *const *pair, const char *name, const uint32_t *shape,
                     uint32_t n)
{
    const uint32_t words = shape[1] * shape[3] * WORDS;
    for (int path = 0; path < 2; path++) {
        for (uint32_t i = 0; i < words; i++)
            out[path][i] = i * 7;
        const struct {
            void *out, *in;
            uint32_t n;
        } params = {out[path], in, n};
        const kernel_call call = {.name = "k",
                                  .grid = {shape[0], shape[1], 1},
                                  .block = {shape[2], shape[3], 1}};
        CHECK_OK(kernel_run(pair[path], &call, &params, &error), error);
    }
    if (!CHECK(memcmp(out[0], out[1], words * sizeof(out[0][0])) == 0))
        fprintf(stderr, "%s, grid %u x %u, block %u x %u, n %u\n", name, shape[0],
                shape[1], shape[2], shape[3], n);
}

static void gives_what_the_slow_path_gives(void)
{
    static const uint32_t shapes[][4] = {
        {1, 1, 64, 1}, {2, 1, 32, 1}, {3, 1, 96, 1}, {7, 3, 16, 4}, {40, 1, 33, 1}};
    static const uint32_t sizes[] = {0, 1, 31, 64, 130, 256, 288, 384, 1000, 1320};
    for (uint32_t i = 0; i < WORDS; i++)
        in[i] = i * 2654435761u ^ i >> 7;
    for (size_t k = 0; k < KERNELS; k++) {
        kernel_unit *pair[2] = {kernel_open(kernels[k].text, KERNEL_FAST, &error),
                                kernel_open(kernels[k].text, KERNEL_SLOW, &error)};
        if (CHECK_OK(pair[0] && pair[1] ? GPH_OK : GPH_E_INVALID, error))
            for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
                for (size_t n = 0; n < sizeof(sizes) / sizeof(sizes[0]) &&
                                   (!kernels[k].one_row || shapes[i][1] == 1);
                     n++)
                    run_pair(pair, kernels[k].name, shapes[i], sizes[n]);
        kernel_close(pair[0]);
        kernel_close(pair[1]);
    }
}

static void is_found_where_threads_cannot_know(void)
{
    for (size_t k = 0; k < KERNELS; k++) {
        ptx_module *module;
        ptx_program *program;
        const char *text = kernels[k].text, *contains = kernels[k].contains;
        if (!CHECK_OK(ptx_parse(text, strlen(text), NULL, &module, &error), error))
            return;
        if (CHECK_OK(ptx_compile(module, NULL, &program, &error), error)) {
            if (!CHECK(!program->kernels[0].long_rows == !kernels[k].is_long) ||
                !CHECK(!contains || strstr(program->ir, contains)))
                fprintf(stderr, "%s\n", kernels[k].name);
            ptx_program_destroy(program);
        }
        ptx_module_destroy(module);
    }
}

/* Which of the blocks of a row it was is not known. */
static void a_fault_names_the_blocks(void)
{
    kernel_unit *unit = kernel_open(
        KERNEL("setp.lt.s32 %p1, %r4, %r5;\n@%p1 bra E;\nmul.wide.u32 %rd3, %r4, 4;\n"
               "add.s64 %rd4, %rd1, %rd3;\nst.global.u32 [%rd4], %r4;\n"),
        KERNEL_FAST, &error);
    const struct {
        void *out, *in;
        uint32_t n;
    } params = {NULL, NULL, 160};
    const kernel_call call = {.name = "k", .grid = {40}, .block = {32}};
    if (!CHECK_OK(unit ? GPH_OK : GPH_E_INVALID, error))
        return;
    unit->workers = 1;
    CHECK(kernel_run(unit, &call, &params, &error) != GPH_OK);
    if (!CHECK(strstr(unit->fault.text, "kernel k, block [1,0,0] to [38,0,0]: illegal ")))
        fprintf(stderr, "%s\n", unit->fault.text);
    kernel_close(unit);
}

int main(void)
{
    RUN(is_found_where_threads_cannot_know);
    RUN(gives_what_the_slow_path_gives);
    RUN(a_fault_names_the_blocks);
    return test_done();
}
