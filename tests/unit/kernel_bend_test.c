// SPDX-License-Identifier: Apache-2.0
/* Indices that bend (clamped, wrapped, divided) and numbers that fit into 8 or 16 bits: on
 * the fast path rows of threads are done in runs, and small numbers in narrow lanes. Both
 * give what the slow path gives, which does neither. */
#include "kernel_run.h"
#include "softcuda/ptx/compile.h"
#include "test.h"

#define PTX_HEAD ".version 7.0\n.target sm_80\n.address_size 64\n"
#define WORDS 65536u
/* %r4 = base + the thread's index in a row of all blocks, %r2 = threadIdx.y, %rd3 the place
 * of the thread's own result; %r5 and %r6 are numbers of the launch. */
#define KERNEL(body)                                                                     \
    PTX_HEAD                                                                             \
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 base, "              \
    ".param .u32 n, .param .u32 m)\n{\n"                                                 \
    ".reg .pred %p<8>;\n.reg .b16 %h<16>;\n.reg .b32 %r<48>;\n.reg .b64 %rd<24>;\n"      \
    "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\nld.param.u32 %r7, [base];\n"   \
    "ld.param.u32 %r5, [n];\nld.param.u32 %r6, [m];\n"                                   \
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nmov.u32 %r8, %ctaid.x;\n"               \
    "mov.u32 %r9, %ntid.x;\nmad.lo.s32 %r3, %r8, %r9, %r1;\nadd.s32 %r4, %r3, %r7;\n"    \
    "mad.lo.s32 %r10, %r2, 1024, %r3;\nmul.wide.u32 %rd4, %r10, 4;\n"                    \
    "add.s64 %rd3, %rd1, %rd4;\n" body "ret;\n}\n"
/* Reads in[index & 65535] and adds it to what is there. */
#define READ(index)                                                                      \
    "and.b32 %r40, " index ", 65535;\nmul.wide.s32 %rd10, %r40, 4;\n"                    \
    "add.s64 %rd11, %rd2, %rd10;\nld.global.u32 %r41, [%rd11];\n"                        \
    "ld.global.u32 %r42, [%rd3];\nadd.s32 %r42, %r42, %r41;\n"                           \
    "st.global.u32 [%rd3], %r42;\n"
#define BYTE(to, at) "ld.global.u8 " to ", [%rd11+" at "];\n"

static const struct {
    const char *name, *text;
} kernels[] = {
    {"clamped", KERNEL("max.s32 %r11, %r4, 0;\nmin.s32 %r12, %r11, %r5;\n" READ("%r12"))},
    {"clamped, without a sign",
     KERNEL("max.u32 %r11, %r4, %r6;\nmin.u32 %r12, %r5, %r11;\n" READ("%r12"))},
    {"wrapped by a mask", KERNEL("and.b32 %r11, %r5, %r4;\n" READ("%r11"))},
    {"wrapped by a number",
     KERNEL("and.b32 %r11, %r4, 31;\nand.b32 %r12, %r4, -32;\nshl.b32 %r13, %r12, 1;\n"
            "add.s32 %r14, %r13, %r11;\n" READ("%r14"))},
    {"quotient and rest", KERNEL("div.s32 %r11, %r4, %r5;\nrem.s32 %r12, %r4, %r5;\n"
                                 "mad.lo.s32 %r13, %r11, %r6, %r12;\n" READ("%r13"))},
    {"quotient and rest, without a sign",
     KERNEL("div.u32 %r11, %r4, %r5;\nrem.u32 %r12, %r4, %r6;\n"
            "mad.lo.s32 %r13, %r11, 7, %r12;\n" READ("%r13"))},
    {"by a power of two, as a compiler has it",
     KERNEL("shr.s32 %r11, %r4, 31;\nshr.u32 %r12, %r11, 27;\nadd.s32 %r13, %r4, %r12;\n"
            "shr.s32 %r14, %r13, 5;\nand.b32 %r15, %r13, -32;\n"
            "sub.s32 %r16, %r4, %r15;\nmad.lo.s32 %r17, %r14, 64, %r16;\n" READ("%r17"))},
    {"made wide",
     KERNEL("and.b32 %r11, %r4, 127;\nadd.s32 %r12, %r11, %r5;\n"
            "mul.wide.s32 %rd5, %r12, 4;\nmul.wide.s32 %rd6, %r5, 4;\n"
            "sub.s64 %rd7, %rd5, %rd6;\nadd.s64 %rd8, %rd2, %rd7;\n"
            "setp.lt.s64 %p1, %rd7, 0;\n@%p1 bra A;\nld.global.u32 %r13, [%rd8];\n"
            "st.global.u32 [%rd3], %r13;\nA:\n")},
    {"edges",
     KERNEL("setp.eq.s32 %p1, %r4, %r5;\nsetp.lt.s32 %p2, %r4, 5;\n"
            "setp.ge.u32 %p3, %r6, %r4;\nor.pred %p4, %p1, %p2;\n@%p4 bra A;\n" READ(
                "%r4") "bra.uni B;\nA:\n@%p3 bra B;\nst.global.u32 [%rd3], 77;\nB:\n")},
    {"edges of all sorts",
     KERNEL(
         "setp.gt.s32 %p1, %r4, %r5;\nsetp.le.u32 %p2, %r4, %r6;\n"
         "setp.ne.b32 %p3, %r4, 40;\nand.pred %p4, %p1, %p2;\nand.pred %p5, %p4, %p3;\n"
         "@!%p5 bra A;\n" READ("%r4") "A:\nsetp.gt.u32 %p6, %r5, %r4;\n@%p6 bra B;\n"
                                      "st.global.u32 [%rd3+65536], 5;\nB:\n")},
    {"a loop of all",
     KERNEL(
         "mov.u32 %r20, %r4;\nadd.s32 %r21, %r7, 900;\nL:\nsetp.ge.s32 %p1, %r20, %r21;\n"
         "@%p1 bra A;\nrem.u32 %r11, %r20, 48;\n" READ(
             "%r11") "add.s32 %r20, %r20, %r9;\nbra.uni L;\nA:\n")},
    {"sums of bytes",
     KERNEL("mul.wide.u32 %rd10, %r3, 4;\nadd.s64 %rd11, %rd2, %rd10;\n" BYTE("%r11", "0")
                BYTE("%r12", "1") BYTE(
                    "%r13",
                    "2") "sub.s32 %r14, %r11, %r12;\nabs.s32 %r15, %r14;\nadd.s32 %r16, "
                         "%r15, %r13;\n"
                         "min.s32 %r17, %r16, 255;\nmax.s32 %r18, %r14, -100;\n"
                         "mad.lo.s32 %r19, %r18, 129, %r17;\nshl.b32 %r20, %r11, 7;\n"
                         "xor.b32 %r21, %r20, %r12;\nshr.u32 %r22, %r21, 3;\n"
                         "setp.lt.s32 %p1, %r18, %r13;\nselp.b32 %r23, %r22, %r19, %p1;\n"
                         "neg.s32 %r24, %r13;\nsub.s32 %r25, %r23, %r24;\n"
                         "st.global.u32 [%rd3], %r25;\n")},
    {"what only looks small",
     KERNEL("mul.wide.u32 %rd10, %r3, 4;\nadd.s64 %rd11, %rd2, %rd10;\n" BYTE(
         "%r11", "0") "ld.global.s8 %r12, [%rd11+1];\nld.global.s16 %r13, [%rd11+2];\n"
                      "cvt.s32.s8 %r14, %r11;\ncvt.u32.u8 %r15, %r12;\n"
                      "min.u32 %r16, %r12, %r11;\nmax.u32 %r17, %r12, %r13;\n"
                      "sub.u32 %r18, %r11, %r15;\nshr.u32 %r19, %r18, 2;\n"
                      "mul.lo.s32 %r20, %r13, %r13;\nabs.s32 %r21, %r13;\n"
                      "and.b32 %r22, %r12, %r13;\nor.b32 %r23, %r12, %r11;\n"
                      "add.s32 %r24, %r14, %r16;\nadd.s32 %r25, %r17, %r19;\n"
                      "xor.b32 %r26, %r20, %r21;\nsub.s32 %r27, %r22, %r23;\n"
                      "xor.b32 %r28, %r24, %r25;\nadd.s32 %r29, %r26, %r27;\n"
                      "xor.b32 %r30, %r28, %r29;\nst.global.u32 [%rd3], %r30;\n")},
    {"words of 16 bits",
     KERNEL("mul.wide.u32 %rd10, %r3, 4;\nadd.s64 %rd11, %rd2, %rd10;\n"
            "ld.global.u8 %h1, [%rd11];\nld.global.u8 %h2, [%rd11+1];\n"
            "mul.wide.u16 %r11, %h1, 2;\nmul.lo.s16 %h3, %h1, %h2;\n"
            "mul.wide.s16 %r12, %h2, -200;\nsub.s16 %h4, %h1, %h2;\n"
            "cvt.u32.u16 %r13, %h4;\ncvt.s32.s16 %r14, %h4;\nadd.s16 %h5, %h3, %h4;\n"
            "max.u16 %h6, %h4, %h2;\ncvt.u32.u16 %r15, %h5;\ncvt.u32.u16 %r16, %h6;\n"
            "add.s32 %r17, %r11, %r12;\nxor.b32 %r18, %r13, %r14;\n"
            "add.s32 %r19, %r15, %r16;\nadd.s32 %r20, %r17, %r18;\n"
            "xor.b32 %r21, %r19, %r20;\nst.global.u32 [%rd3], %r21;\n")},
    {"a quotient by a constant",
     KERNEL(
         "mul.wide.u32 %rd10, %r3, 4;\nadd.s64 %rd11, %rd2, %rd10;\n" BYTE("%r11", "0")
             BYTE("%r12",
                  "1") "mul.lo.s32 %r13, %r11, %r12;\nadd.s32 %r14, %r13, 127;\n"
                       "mul.wide.u32 %rd12, %r14, -2139062143;\nshr.u64 %rd13, %rd12, "
                       "39;\n"
                       "cvt.u32.u64 %r15, %rd13;\nmul.wide.u32 %rd14, %r14, 1717986919;\n"
                       "shr.u64 %rd15, %rd14, 34;\ncvt.u32.u64 %r16, %rd15;\n"
                       "shl.b32 %r17, %r16, 8;\nadd.s32 %r18, %r15, %r17;\n"
                       "st.global.u32 [%rd3], %r18;\n")},
};

static gph_error error;
static uint32_t in[WORDS + 8], out[2][WORDS];

static void run_pair(kernel_unit *const *pair, const char *name, const uint32_t *block,
                     uint32_t base, uint32_t n, uint32_t m)
{
    for (int path = 0; path < 2; path++) {
        for (uint32_t i = 0; i < WORDS; i++)
            out[path][i] = i * 7;
        const struct {
            void *out, *in;
            uint32_t base, n, m;
        } params = {out[path], in, base, n, m};
        const kernel_call call = {
            .name = "k", .grid = {3}, .block = {block[0], block[1], 1}};
        CHECK_OK(kernel_run(pair[path], &call, &params, &error), error);
    }
    if (!CHECK(memcmp(out[0], out[1], sizeof(out[0])) == 0))
        fprintf(stderr, "%s, block %u x %u, base %u, n %u, m %u\n", name, block[0],
                block[1], base, n, m);
}

static void gives_what_the_slow_path_gives(void)
{
    static const uint32_t blocks[][2] = {{1, 1}, {33, 3}, {64, 8}, {256, 1}};
    static const uint32_t launches[][3] = {
        {0, 63, 40},          {0xffffffff, 511, 9},          {0xfffffff0, 100, 0},
        {0x7fffffa0, 37, 48}, {0x80000000, 0x7fffffff, 300}, {50, 0, 0xffffffff},
        {5, 60, 0x80000000},  {100, 0xffffffff, 12}};
    for (uint32_t i = 0; i < WORDS + 8; i++)
        in[i] = i * 2654435761u ^ i >> 7;
    for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++) {
        kernel_unit *pair[2] = {kernel_open(kernels[k].text, KERNEL_FAST, &error),
                                kernel_open(kernels[k].text, KERNEL_SLOW, &error)};
        if (CHECK_OK(pair[0] && pair[1] ? GPH_OK : GPH_E_INVALID, error))
            for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
                for (size_t n = 0; n < sizeof(launches) / sizeof(launches[0]); n++)
                    run_pair(pair, kernels[k].name, blocks[i], launches[n][0],
                             launches[n][1], launches[n][2]);
        kernel_close(pair[0]);
        kernel_close(pair[1]);
    }
}

/* In the IR of kernel k: how often `what`. */
static int count_of(size_t k, const char *what)
{
    ptx_module *module;
    ptx_program *program;
    int count = 0;
    const char *text = kernels[k].text;
    if (!CHECK_OK(ptx_parse(text, strlen(text), NULL, &module, &error), error))
        return -1;
    if (CHECK_OK(ptx_compile(module, NULL, &program, &error), error)) {
        for (const char *at = program->ir; (at = strstr(at, what)) != NULL; at++)
            count++;
        ptx_program_destroy(program);
    }
    ptx_module_destroy(module);
    return count;
}

static void has_runs_and_narrow_numbers_where_it_can(void)
{
    for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++) {
        const bool small = strstr(kernels[k].text, "ld.global.u8") != NULL;
        if (!CHECK(count_of(k, small ? ", ptr %n." : "%bend.") > 0))
            fprintf(stderr, "%s\n", kernels[k].name);
    }
}

int main(void)
{
    RUN(has_runs_and_narrow_numbers_where_it_can);
    RUN(gives_what_the_slow_path_gives);
    return test_done();
}
