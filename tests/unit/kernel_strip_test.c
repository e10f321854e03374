// SPDX-License-Identifier: Apache-2.0
/* Loops whose rounds differ by thread, run round by round in strips of 16 or 32 threads of
 * a row: the bytes of the slow path, which goes thread by thread, for every shape of block;
 * and such loops that are left alone. */
#include "kernel_run.h"
#include "softcuda/ptx/compile.h"
#include "test.h"

#define PTX_HEAD ".version 7.0\n.target sm_80\n.address_size 64\n"
#define WORDS 4096u
/* %r4 is the thread's number in the launch, %rd3 the place of its result, %r5 of its own
 * input; in[0 to n - 1] at %rd2 rise. */
#define KERNEL(body)                                                                     \
    PTX_HEAD                                                                             \
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)\n{\n"             \
    ".reg .pred %p<8>;\n.reg .b32 %r<48>;\n.reg .f32 %f<16>;\n.reg .b64 %rd<24>;\n"      \
    "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\nld.param.u32 %r6, [n];\n"      \
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nmov.u32 %r8, %ntid.x;\n"                \
    "mad.lo.s32 %r3, %r2, %r8, %r1;\nmov.u32 %r9, %ntid.y;\nmul.lo.s32 %r10, %r8, "      \
    "%r9;\nmov.u32 %r11, %ctaid.x;\nmad.lo.s32 %r4, %r11, %r10, %r3;\n"                  \
    "mul.wide.u32 %rd4, %r4, 4;\nadd.s64 %rd3, %rd1, %rd4;\n"                            \
    "mul.lo.u32 %r5, %r4, 40503;\nand.b32 %r5, %r5, 8191;\n" body                        \
    "st.global.u32 [%rd3], %r20;\nEND:\nret;\n}\n"
#define BISECT                                                                           \
    "mov.u32 %r20, 0;\nmov.u32 %r21, %r6;\nsetp.ge.s32 %p1, %r20, %r21;\n@%p1 bra A;\n"  \
    "L:\nadd.s32 %r22, %r20, %r21;\nshr.s32 %r23, %r22, 1;\n"                            \
    "mul.wide.s32 %rd5, %r23, 4;\nadd.s64 %rd6, %rd2, %rd5;\n"                           \
    "ld.global.u32 %r24, [%rd6];\nsetp.lt.s32 %p2, %r24, %r5;\n"                         \
    "add.s32 %r25, %r23, 1;\nselp.b32 %r20, %r25, %r20, %p2;\n"                          \
    "selp.b32 %r21, %r21, %r23, %p2;\nsetp.lt.s32 %p3, %r20, %r21;\n@%p3 bra L;\nA:\n"

static const struct {
    const char *name, *text;
    uint32_t lanes;
} kernels[] = {
    {"arithmetic alone",
     KERNEL("cvt.rn.f32.u32 %f1, %r5;\nmul.f32 %f1, %f1, 0f38000000;\n"
            "mov.f32 %f2, 0f00000000;\nmov.u32 %r20, 0;\n"
            "L:\nfma.rn.f32 %f2, %f2, %f2, %f1;\nadd.s32 %r20, %r20, 1;\n"
            "setp.lt.s32 %p1, %r20, %r6;\nsetp.lt.f32 %p2, %f2, 0f40800000;\n"
            "and.pred %p3, %p1, %p2;\n@%p3 bra L;\n"),
     16},
    {"both ways inside, and no round at all",
     KERNEL("mov.u32 %r20, 0;\nadd.s32 %r21, %r5, 1;\nsetp.lt.u32 %p1, %r21, 100;\n"
            "@%p1 bra A;\n"
            "L:\nand.b32 %r22, %r21, 1;\nsetp.eq.u32 %p2, %r22, 0;\n@%p2 bra E;\n"
            "mad.lo.u32 %r21, %r21, 3, 1;\nbra.uni C;\nE:\nshr.u32 %r21, %r21, 1;\n"
            "C:\nadd.s32 %r20, %r20, 1;\nsetp.gt.u32 %p3, %r21, 1;\n@%p3 bra L;\nA:\n"),
     16},
    {"a thread that ends in the loop",
     KERNEL("mov.u32 %r20, 0;\nmov.u32 %r21, %r5;\n"
            "L:\nadd.s32 %r20, %r20, 3;\nshr.u32 %r21, %r21, 1;\n"
            "setp.eq.u32 %p1, %r21, 6;\n@%p1 bra END;\nsetp.gt.u32 %p2, %r21, 1;\n"
            "@%p2 bra L;\n"),
     16},
    {"after threads that ended, by lanes and rows of the thread's index",
     KERNEL("setp.ge.u32 %p4, %r4, 700;\n@%p4 bra END;\nmov.u32 %r30, %laneid;\n"
            "and.b32 %r31, %r1, 15;\nand.b32 %r32, %r1, 31;\nshr.u32 %r33, %r1, 4;\n"
            "shr.u32 %r34, %r1, 5;\nand.b32 %r35, %r1, -16;\nmov.u32 %r36, %warpid;\n"
            "setp.lt.u32 %p5, %r1, 16;\nmov.u32 %r20, %r5;\n"
            "L:\nshr.u32 %r20, %r20, 1;\nadd.s32 %r30, %r30, %r31;\n"
            "setp.gt.u32 %p6, %r20, 5;\n@%p6 bra L;\n"
            "mad.lo.s32 %r20, %r30, 64, %r32;\nmad.lo.s32 %r20, %r20, 64, %r33;\n"
            "mad.lo.s32 %r20, %r20, 8, %r34;\nadd.s32 %r20, %r20, %r35;\n"
            "add.s32 %r20, %r20, %r36;\n@%p5 add.s32 %r20, %r20, 77;\n"),
     16},
    {"a loop of all around it",
     KERNEL("mov.u32 %r20, 0;\nmov.u32 %r30, 0;\n"
            "M:\nadd.s32 %r21, %r5, %r30;\n"
            "L:\nadd.s32 %r20, %r20, %r21;\nshr.u32 %r21, %r21, 1;\n"
            "setp.gt.u32 %p1, %r21, %r30;\n@%p1 bra L;\nadd.s32 %r30, %r30, 1;\n"
            "setp.lt.s32 %p2, %r30, 5;\n@%p2 bra M;\n"),
     16},
    {"a binary search", KERNEL(BISECT), 32},
    {"a search of some threads",
     KERNEL("setp.gt.u32 %p4, %r5, 6000;\n@%p4 bra END;\n" BISECT), 32},
    {"a probe, whose next place is known",
     KERNEL("and.b32 %r20, %r5, 1023;\n"
            "L:\nmul.wide.u32 %rd5, %r20, 4;\nadd.s64 %rd6, %rd2, %rd5;\n"
            "ld.global.u32 %r21, [%rd6];\nadd.s32 %r20, %r20, 1;\n"
            "setp.lt.u32 %p1, %r21, %r5;\nsetp.lt.u32 %p2, %r20, %r6;\n"
            "and.pred %p3, %p1, %p2;\n@%p3 bra L;\n"),
     0},
    {"one that stores",
     KERNEL(
         "mov.u32 %r20, %r5;\nL:\nst.global.u32 [%rd3], %r20;\nshr.u32 %r20, %r20, 1;\n"
         "setp.gt.u32 %p1, %r20, 3;\n@%p1 bra L;\n"),
     0},
    {"one that divides",
     KERNEL("mov.u32 %r20, %r5;\nL:\nadd.s32 %r21, %r6, 2;\ndiv.u32 %r20, %r20, %r21;\n"
            "setp.gt.u32 %p1, %r20, 3;\n@%p1 bra L;\n"),
     0},
};

static gph_error error;
static uint32_t in[WORDS], out[2][WORDS];

static void run_pair(kernel_unit *const *pair, const char *name, const uint32_t *block,
                     uint32_t n)
{
    for (int path = 0; path < 2; path++) {
        memset(out[path], 0x55, sizeof(out[path]));
        const struct {
            void *out, *in;
            uint32_t n;
        } params = {out[path], in, n};
        const kernel_call call = {
            .name = "k", .grid = {2}, .block = {block[0], block[1], block[2]}};
        CHECK_OK(kernel_run(pair[path], &call, &params, &error), error);
    }
    if (!CHECK(memcmp(out[0], out[1], sizeof(out[0])) == 0))
        fprintf(stderr, "%s, block %u x %u x %u, n %u\n", name, block[0], block[1],
                block[2], n);
}

static void gives_what_the_slow_path_gives(void)
{
    static const uint32_t blocks[][3] = {{16, 16, 1}, {32, 8, 1},  {256, 1, 1},
                                         {48, 2, 3},  {33, 3, 1},  {8, 8, 1},
                                         {16, 1, 1},  {1024, 1, 1}};
    for (uint32_t i = 0; i < WORDS; i++)
        in[i] = i * 2 + (i * 40503u >> 7 & 1);
    for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++) {
        kernel_unit *pair[2] = {kernel_open(kernels[k].text, KERNEL_FAST, &error),
                                kernel_open(kernels[k].text, KERNEL_SLOW, &error)};
        if (CHECK_OK(pair[0] && pair[1] ? GPH_OK : GPH_E_INVALID, error))
            for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
                for (uint32_t n = 0; n <= WORDS; n = n * 8 + 1)
                    run_pair(pair, kernels[k].name, blocks[i], n);
        kernel_close(pair[0]);
        kernel_close(pair[1]);
    }
}

static void says_which_loops_go_in_strips(void)
{
    for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++) {
        ptx_module *module;
        ptx_program *program;
        const char *text = kernels[k].text;
        if (!CHECK_OK(ptx_parse(text, strlen(text), NULL, &module, &error), error))
            continue;
        if (CHECK_OK(ptx_compile(module, NULL, &program, &error), error)) {
            const ptx_kernel *kernel = &program->kernels[0];
            if (!CHECK(kernel->path == PTX_PATH_FAST &&
                       kernel->by_warps == kernels[k].lanes))
                fprintf(stderr, "%s: %u\n", kernels[k].name, kernel->by_warps);
            CHECK((strstr(program->ir, "@\"w.k\"") != NULL) == (kernels[k].lanes != 0));
            ptx_program_destroy(program);
        }
        ptx_module_destroy(module);
    }
}

int main(void)
{
    RUN(says_which_loops_go_in_strips);
    RUN(gives_what_the_slow_path_gives);
    return test_done();
}
