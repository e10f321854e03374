// SPDX-License-Identifier: Apache-2.0
/* Loops that a compiler unrolled, made one again: where both loops do the same, and only
 * there. Each kernel gives what its threads give one by one. */
#include "kernel_run.h"
#include "softcuda/ptx/compile.h"
#include "test.h"

#define KERNEL(body)                                                                     \
    ".version 7.0\n.target sm_80\n.address_size 64\n"                                    \
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)\n{\n"             \
    ".reg .pred %p<12>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<24>;\n.reg .f32 %f<12>;\n"     \
    "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\nld.param.u32 %r5, [n];\n"      \
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.y;\n"                \
    "mad.lo.s32 %r4, %r3, %r2, %r1;\nmul.wide.u32 %rd3, %r4, 4;\n"                       \
    "add.s64 %rd4, %rd1, %rd3;\nmov.u32 %r20, 0;\nand.b32 %r6, %r1, 31;\n" body          \
    "st.global.u32 [%rd4], %r20;\nret;\n}\n"

/* for (i = lane; i < n; i += 32): what is left over of rounds of four, then those. */
#define LOOPS(guard, mask, rest, least, main, less)                                      \
    "mov.u32 %r10, %r6;\n" guard "not.b32 %r11, %r10;\nadd.s32 %r11, %r11, %r5;\n"       \
    "shr.u32 %r12, %r11, 5;\nadd.s32 %r12, %r12, 1;\nand.b32 %r13, %r12, " mask ";\n"    \
    "setp.eq.s32 %p2, %r13, 0;\n@%p2 bra MAIN;\nmul.wide.u32 %rd5, %r6, 4;\n"            \
    "add.s64 %rd6, %rd2, %rd5;\nREST:\n" rest                                            \
    "add.s32 %r10, %r10, 32;\nadd.s64 %rd6, %rd6, 128;\nadd.s32 %r13, %r13, -1;\n"       \
    "setp.ne.s32 %p3, %r13, 0;\n@%p3 bra REST;\nMAIN:\nsetp.lt.u32 %p4, %r11, " least    \
    ";\n@%p4 bra DONE;\nmul.wide.s32 %rd7, %r10, 4;\nadd.s64 %rd9, %rd7, %rd2;\n"        \
    "add.s64 %rd8, %rd9, 256;\nFOUR:\n" main                                             \
    "add.s64 %rd8, %rd8, 512;\nadd.s32 %r10, %r10, 128;\nsetp." less                     \
    " %p5, %r10, %r5;\n@%p5 bra FOUR;\nDONE:\n"
#define GUARD "setp.ge.s32 %p1, %r10, %r5;\n@%p1 bra DONE;\n"
#define ADD(factor, from)                                                                \
    "ld.global.u32 %r21, [" from "];\nmad.lo.s32 %r20, %r20, " factor ", %r21;\n"
#define FOUR(b, c) ADD("3", "%rd8+-256") ADD("3", b) ADD("3", c) ADD("3", "%rd8+128")
#define SUM FOUR("%rd8+-128", "%rd8")

/* A store under a condition of data, in both loops. */
#define KEEP(name, at, place)                                                            \
    "ld.global.u32 %r21, [" at "];\nand.b32 %r22, %r21, 1;\n"                            \
    "setp.eq.s32 %p6, %r22, 0;\n@%p6 bra " name ";\nadd.s32 %r23, %r21, 5;\n"            \
    "st.global.u32 [" place "], %r23;\nadd.s32 %r20, %r20, 1;\n" name ":\n"
/* %rd10, %rd11: where `in` is, 8,192 bytes on. */
#define KEEP_FOUR                                                                        \
    KEEP("M0", "%rd8+-256", "%rd8+7936")                                                 \
    KEEP("M1", "%rd8+-128", "%rd8+8064")                                                 \
    KEEP("M2", "%rd8", "%rd8+8192") KEEP("M3", "%rd8+128", "%rd8+8320")

static const struct {
    const char *name, *text;
    bool one; /* there is one loop afterwards */
} kernels[] = {
    {"a sum", KERNEL(LOOPS(GUARD, "3", ADD("3", "%rd6"), "96", SUM, "lt.s32")), true},
    {"stores under conditions",
     KERNEL(
         LOOPS(GUARD, "3", KEEP("R0", "%rd6", "%rd6+8192"), "96", KEEP_FOUR, "lt.s32")),
     true},
    {"other arithmetic", KERNEL(LOOPS(GUARD, "3", ADD("5", "%rd6"), "96", SUM, "lt.s32")),
     false},
    {"places that change by turns",
     KERNEL(
         LOOPS(GUARD, "3", ADD("3", "%rd6"), "96", FOUR("%rd8", "%rd8+-128"), "lt.s32")),
     false},
    {"a place outside",
     KERNEL(LOOPS(GUARD, "3", ADD("3", "%rd6"), "96", FOUR("%rd8+-128", "%rd8+4"),
                  "lt.s32")),
     false},
    {"another count of what is left over",
     KERNEL(LOOPS(GUARD, "1", ADD("3", "%rd6"), "96", SUM, "lt.s32")), false},
    {"rounds of four for fewer",
     KERNEL(LOOPS(GUARD, "3", ADD("3", "%rd6"), "64", SUM, "lt.s32")), false},
    {"a round too many", KERNEL(LOOPS(GUARD, "3", ADD("3", "%rd6"), "96", SUM, "le.s32")),
     false},
    {"no guard", KERNEL(LOOPS("", "3", ADD("3", "%rd6"), "96", SUM, "lt.s32")), false},
    {"the index is wanted afterwards",
     KERNEL(LOOPS(GUARD, "3", ADD("3", "%rd6"), "96", SUM,
                  "lt.s32") "add.s32 %r20, %r20, %r10;\n"),
     true},
    {"a pointer is wanted afterwards",
     KERNEL("mov.u64 %rd8, 0;\n" LOOPS(
         GUARD, "3", ADD("3", "%rd6"), "96", SUM,
         "lt.s32") "cvt.u32.u64 %r21, %rd8;\nadd.s32 %r20, %r20, %r21;\n"
                   "sub.s32 %r20, %r20, %r21;\n"),
     false},
    {"a fence between stores",
     KERNEL(LOOPS(GUARD, "3", "membar.gl;\n" ADD("3", "%rd6"), "96", SUM, "lt.s32")),
     false},
};
#define KERNELS (sizeof(kernels) / sizeof(kernels[0]))

static gph_error error;

static void is_one_loop_where_both_do_the_same(void)
{
    for (size_t k = 0; k < KERNELS; k++) {
        ptx_module *module = NULL;
        ptx_program *program = NULL;
        if (CHECK_OK(ptx_parse(kernels[k].text, strlen(kernels[k].text), NULL, &module,
                               &error),
                     error) &&
            CHECK_OK(ptx_compile(module, NULL, &program, &error), error) &&
            !CHECK(program->kernels[0].rerolled_count == (kernels[k].one ? 1 : 0)))
            fprintf(stderr, "%s\n", kernels[k].name);
        ptx_program_destroy(program);
        ptx_module_destroy(module);
    }
}

#define WORDS 4096
static void run_pair(kernel_unit *pair[2], const char *name, const uint32_t shape[2],
                     uint32_t n)
{
    static uint32_t in[2][WORDS], out[2][WORDS];
    for (int path = 0; path < 2; path++) {
        for (uint32_t i = 0; i < WORDS; i++) {
            in[path][i] = i * 2654435761u >> 7;
            out[path][i] = i * 7;
        }
        const struct {
            void *out, *in;
            uint32_t n;
        } params = {out[path], in[path], n};
        const kernel_call call = {.name = "k", .block = {shape[0], shape[1]}};
        CHECK_OK(kernel_run(pair[path], &call, &params, &error), error);
    }
    if (!CHECK(memcmp(out[0], out[1], sizeof(out[0])) == 0 &&
               memcmp(in[0], in[1], sizeof(in[0])) == 0))
        fprintf(stderr, "%s, block %u x %u, n %u\n", name, shape[0], shape[1], n);
}

static void gives_what_the_slow_path_gives(void)
{
    static const uint32_t shapes[][2] = {{32, 1}, {27, 2}};
    static const uint32_t counts[] = {1, 31, 32, 33, 64, 95, 128, 130, 200, 500, 1000};
    for (size_t k = 0; k < KERNELS; k++) {
        if (!kernels[k].one)
            continue;
        kernel_unit *pair[2] = {kernel_open(kernels[k].text, KERNEL_FAST, &error),
                                kernel_open(kernels[k].text, KERNEL_SLOW, &error)};
        if (CHECK_OK(pair[0] && pair[1] ? GPH_OK : GPH_E_INVALID, error))
            for (size_t i = 0; i < 2; i++)
                for (size_t n = 0; n < sizeof(counts) / sizeof(counts[0]); n++)
                    run_pair(pair, kernels[k].name, shapes[i], counts[n]);
        kernel_close(pair[0]);
        kernel_close(pair[1]);
    }
}

int main(void)
{
    RUN(is_one_loop_where_both_do_the_same);
    RUN(gives_what_the_slow_path_gives);
    return test_done();
}
