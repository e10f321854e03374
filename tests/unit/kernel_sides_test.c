// SPDX-License-Identifier: Apache-2.0
/* What only threads at an edge of a block do: it has loops of its own where nobody can see
 * the difference, and gives what the slow path gives wherever it has or not. */
#include "kernel_run.h"
#include "softcuda/ptx/compile.h"
#include "test.h"

#define PTX_HEAD ".version 7.0\n.target sm_80\n.address_size 64\n"
/* A thread has a word of its own at [%rd3], and more of them 4 KiB apart. */
#define KERNEL(body)                                                                     \
    PTX_HEAD                                                                             \
    ".visible .entry k(.param .u64 out, .param .u32 n)\n{\n"                             \
    ".reg .pred %p<8>;\n.reg .b32 %r<24>;\n.reg .b64 %rd<8>;\n"                          \
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r5, [n];\n"                                \
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nmov.u32 %r3, %tid.z;\n"                 \
    "mov.u32 %r6, %ntid.x;\nmov.u32 %r7, %ntid.y;\nadd.s32 %r8, %r6, -1;\n"              \
    "mad.lo.s32 %r9, %r3, %r7, %r2;\nmad.lo.s32 %r4, %r9, %r6, %r1;\n"                   \
    "mul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\n" body "\nret;\n}\n"
#define STORE(place, value) "st.global.u32 [%rd3+" place "], " value ";\n"
#define MAIN STORE("0", "%r4")
#define SIDE(to) STORE("4096", "%r1") to ":\n"

static const struct {
    const char *name, *text;
    bool apart;
} kernels[] = {
    {"a row",
     KERNEL(MAIN "setp.ne.s32 %p1, %r2, 0;\n@%p1 bra A;\n" SIDE(
         "A") "setp.eq.u32 %p2, %r3, 1;\n@!%p2 bra B;\n" STORE("8192", "7") "B:\n"),
     true},
    {"the last column",
     KERNEL(MAIN "setp.ne.b32 %p1, %r1, %r8;\n@%p1 bra A;\n" SIDE("A")), true},
    {"a corner",
     KERNEL(MAIN "or.b32 %r10, %r1, %r2;\nsetp.ne.s32 %p1, %r10, 0;\n@%p1 bra A;\n" SIDE(
         "A") "setp.eq.s32 %p2, %r1, 1;\nsetp.gt.u32 %p3, %r2, 2;\n"
              "and.pred %p4, %p2, %p3;\n@!%p4 bra B;\n" STORE("8192", "5") "B:\n"),
     true},
    {"a few, and not all of them",
     KERNEL(MAIN "setp.ge.u32 %p1, %r1, 5;\n@%p1 bra B;\nmov.u32 %r10, 0;\n"
                 "setp.lt.u32 %p2, %r4, %r5;\n@!%p2 bra A;\nld.global.u32 %r10, "
                 "[%rd3+8192];\nA:\n" STORE("4096", "%r10") "B:\n"),
     true},
    {"as many as a parameter says",
     KERNEL(MAIN "setp.lt.u32 %p1, %r1, %r5;\n@!%p1 bra A;\n" SIDE(
         "A") "setp.gt.s32 %p2, %r1, %r5;\n@!%p2 bra B;\n" STORE("8192", "3") "B:\n"),
     true},
    {"signs",
     KERNEL(MAIN "setp.lt.s32 %p1, %r1, -1;\n@!%p1 bra A;\n" STORE(
         "4096", "1") "A:\nsetp.ge.s32 %p2, %r2, -2;\n@!%p2 bra "
                      "B;\n" STORE("8192",
                                   "2") "B:\nsetp.gt.u32 %p3, %r1, "
                                        "0xfffffff0;\n@!%p3 bra "
                                        "C;\n" STORE("12288",
                                                     "3") "C:\nsetp.le."
                                                          "u32 %p4, %r1, "
                                                          "0xffffffff;\n@!"
                                                          "%p4 bra "
                                                          "D;\n" STORE("16"
                                                                       "38"
                                                                       "4",
                                                                       "4") "D:\n"),
     true},
    {"two rows, one store",
     KERNEL(MAIN "setp.eq.s32 %p1, %r2, 3;\n@%p1 bra A;\nsetp.ne.s32 %p2, %r2, 0;\n"
                 "@%p2 bra C;\nmov.u32 %r10, 11;\nbra.uni B;\nA:\nmov.u32 %r10, 12;\n"
                 "B:\n" STORE("4096", "%r10") "C:\nbar.sync 0;\n"),
     true},
    {"one or the other",
     KERNEL(MAIN
            "setp.lt.u32 %p1, %r1, 4;\n@%p1 bra A;\nsetp.lt.u32 %p2, %r1, 8;\n"
            "@%p2 bra B;\nbra.uni C;\nA:\n" STORE("4096", "1") "bra.uni C;\nB:\n" STORE(
                "4096", "2") "C:\nbar.sync 0;\n"),
     true},
    {"the order of a thread's own",
     KERNEL(MAIN "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra A;\n" STORE(
         "0", "2") "A:\nsetp.ne.s32 %p2, %r2, 0;\n@%p2 bra B;\nld.global.u32 "
                   "%r10, [%rd3];\n"
                   "mad.lo.s32 %r10, %r10, 3, 10;\n" STORE("0", "%r10") "B:\n"),
     true},
    {"the same sum in both arms",
     KERNEL(MAIN "setp.gt.u32 %p1, %r1, 3;\n@%p1 bra A;\nadd.s32 %r10, %r4, 8;\n" STORE(
         "4096", "9") "bra.uni B;\nA:\nadd.s32 %r10, %r4, 8;\nB:\nbar.sync "
                      "0;\n" STORE("8192", "%r10")),
     true},
    {"in a loop between barriers",
     KERNEL("mov.u32 %r11, 0;\nL:\nst.global.u32 [%rd3], %r11;\n"
            "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra A;\nld.global.u32 %r12, "
            "[%rd3+4096];\n"
            "add.s32 %r12, %r12, %r11;\n" STORE(
                "4096", "%r12") "A:\nbar.sync 0;\nadd.s32 %r11, %r11, 1;\n"
                                "setp.lt.u32 %p2, %r11, 5;\n@%p2 bra L;\n"),
     true},
    {"a store of all after it",
     KERNEL("setp.ne.s32 %p1, %r1, 0;\n@%p1 bra A;\n" STORE("0", "5") "A:\n" MAIN),
     false},
    {"a guarded store of others after it",
     KERNEL(MAIN "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra A;\n" STORE(
         "0", "5") "A:\nsetp.ne.s32 %p2, %r2, 0;\n@%p2 st.global.u32 [%rd3], 6;\n"),
     false},
    {"what was loaded before",
     KERNEL("ld.global.u32 %r10, [%rd3];\nadd.s32 %r11, %r10, 1;\n" MAIN
            "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra A;\n" STORE("4096", "%r11") "A:\n"),
     false},
    {"a condition made of memory",
     KERNEL("ld.global.u32 %r10, [%rd3];\n" MAIN
            "setp.ne.s32 %p1, %r1, 0;\nsetp.eq.s32 %p2, %r10, 0;\n"
            "or.pred %p3, %p1, %p2;\n@%p3 bra A;\n" SIDE("A")),
     false},
    {"a value for later",
     KERNEL("mov.u32 %r10, 1;\n" MAIN
            "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra A;\nmov.u32 %r10, 2;\n" STORE(
                "4096", "3") "A:\nbar.sync 0;\n" STORE("8192", "%r10")),
     false},
    {"another sum in each arm",
     KERNEL(MAIN "setp.gt.u32 %p1, %r1, 3;\n@%p1 bra A;\nadd.s32 %r10, %r4, 8;\n" STORE(
         "4096", "9") "bra.uni B;\nA:\nadd.s32 %r10, %r4, 9;\nB:\nbar.sync "
                      "0;\n" STORE("8192", "%r10")),
     false},
    {"an early end",
     KERNEL(MAIN "setp.ge.u32 %p2, %r4, %r5;\n@%p2 ret;\nsetp.ne.s32 %p1, %r1, 0;\n"
                 "@%p1 bra A;\n" SIDE("A")),
     false},
    {"a sum that goes on from round to round",
     KERNEL("mov.u32 %r11, 0;\nld.global.u32 %r10, [%rd3];\nL:\n"
            "add.s32 %r10, %r10, %r4;\n" STORE(
                "0", "%r10") "setp.ne.s32 %p1, %r1, 0;\n"
                             "@%p1 bra A;\n" STORE(
                                 "4096", "%r10") "A:\nbar.sync 0;\n"
                                                 "add.s32 %r11, %r11, 1;\nsetp.lt.u32 "
                                                 "%p2, %r11, 5;\n@%p2 bra L;\n"),
     false},
    {"the time",
     KERNEL(MAIN "mov.u32 %r12, %clock;\nsetp.ne.s32 %p1, %r1, 0;\n@%p1 bra A;\n"
                 "and.b32 %r12, %r12, 0;\n" STORE("4096", "%r12") "A:\n"),
     false},
    {"a trap that nobody comes to",
     KERNEL(MAIN "setp.eq.s32 %p1, %r1, 0;\n@%p1 bra B;\nsetp.ne.s32 %p2, %r2, 99;\n"
                 "@%p2 bra A;\ntrap;\nbra.uni A;\nB:\n" SIDE("A") "bar.sync 0;\n"),
     false},
    {"volatile",
     KERNEL(MAIN "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra A;\nld.volatile.global.u32 "
                 "%r10, [%rd3+8192];\n" STORE("4096", "%r10") "A:\n"),
     false},
    {"a copy of all after it",
     KERNEL(".shared .align 4 .b8 s[4096];\nmov.u32 %r13, s;\nshl.b32 %r14, %r4, 2;\n"
            "add.s32 %r13, %r13, %r14;\n" MAIN "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra A;\n"
            "st.shared.u32 [%r13], 5;\nA:\ncp.async.ca.shared.global [%r13], [%rd3], 4;\n"
            "cp.async.wait_all;\nbar.sync 0;\nld.shared.u32 %r10, [%r13];\n" STORE(
                "8192", "%r10")),
     false},
    {"a fence",
     KERNEL(MAIN "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra A;\nmembar.gl;\n" SIDE("A")), false},
};

static gph_error error;

static void has_loops_of_its_own_where_it_can(void)
{
    for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++) {
        ptx_module *module;
        ptx_program *program;
        const char *text = kernels[k].text;
        if (!CHECK_OK(ptx_parse(text, strlen(text), NULL, &module, &error), error))
            continue;
        if (CHECK_OK(ptx_compile(module, NULL, &program, &error), error)) {
            const bool apart = strstr(program->ir, ".o0:") != NULL;
            if (!CHECK(program->kernels[0].path == PTX_PATH_FAST &&
                       apart == kernels[k].apart))
                fprintf(stderr, "%s: apart %d\n", kernels[k].name, apart);
            ptx_program_destroy(program);
        }
        ptx_module_destroy(module);
    }
}

static void run_pair(kernel_unit *const *pair, const char *name, const uint32_t *shape,
                     uint32_t n)
{
    static uint32_t out[2][8192];
    for (int path = 0; path < 2; path++) {
        for (uint32_t i = 0; i < 8192; i++)
            out[path][i] = i * 7;
        const struct {
            void *out;
            uint32_t n;
        } params = {out[path], n};
        const kernel_call call = {.name = "k", .block = {shape[0], shape[1], shape[2]}};
        CHECK_OK(kernel_run(pair[path], &call, &params, &error), error);
    }
    if (!CHECK(memcmp(out[0], out[1], sizeof(out[0])) == 0))
        fprintf(stderr, "%s, block %u x %u x %u, n %u\n", name, shape[0], shape[1],
                shape[2], n);
}

static void gives_what_the_slow_path_gives(void)
{
    static const uint32_t shapes[][3] = {
        {1, 1, 1},   {4, 1, 1},  {33, 1, 1}, {256, 1, 1},  {1, 7, 1}, {5, 4, 3},
        {16, 16, 1}, {32, 8, 1}, {31, 3, 2}, {1024, 1, 1}, {2, 2, 64}};
    static const uint32_t counts[] = {0, 7, 0x80000000};
    for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++) {
        kernel_unit *pair[2] = {kernel_open(kernels[k].text, KERNEL_FAST, &error),
                                kernel_open(kernels[k].text, KERNEL_SLOW, &error)};
        if (CHECK_OK(pair[0] && pair[1] ? GPH_OK : GPH_E_INVALID, error))
            for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
                for (size_t n = 0; n < sizeof(counts) / sizeof(counts[0]); n++)
                    run_pair(pair, kernels[k].name, shapes[i], counts[n]);
        kernel_close(pair[0]);
        kernel_close(pair[1]);
    }
}

int main(void)
{
    RUN(has_loops_of_its_own_where_it_can);
    RUN(gives_what_the_slow_path_gives);
    return test_done();
}
