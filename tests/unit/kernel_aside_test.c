// SPDX-License-Identifier: Apache-2.0
/* Stores under a condition of data that go aside where it does not hold, and loops whose
 * counters move on between such conditions: give what the slow path gives, and nothing is
 * written where no thread comes. */
#include "kernel_run.h"
#include "softcuda/ptx/abi.h"
#include "softcuda/ptx/compile.h"
#include "test.h"

#define WORDS 2048u

/* %r7 is a word of data, %rd6 where the thread stores: no row. */
#define KERNEL(body)                                                                     \
    ".version 7.0\n.target sm_70\n.address_size 64\n"                                    \
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)\n{\n"             \
    ".reg .pred %p<6>;\n.reg .b32 %r<20>;\n.reg .b16 %h<4>;\n.reg .b64 %rd<12>;\n"       \
    ".shared .align 4 .b8 s[4096];\n"                                                    \
    "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\nld.param.u32 %r4, [n];\n"      \
    "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"      \
    "add.s64 %rd5, %rd1, %rd3;\nld.global.u32 %r7, [%rd4];\nmul.lo.s32 %r5, %r1, 97;\n"  \
    "and.b32 %r5, %r5, 511;\nmul.wide.u32 %rd7, %r5, 4;\nadd.s64 %rd6, %rd1, %rd7;\n"    \
    "setp.gt.u32 %p1, %r7, 2000;\nsetp.ge.u32 %p2, %r1, %r4;\n" body "ret;\n}\n"

static const struct {
    const char *text;
    bool aside;
} kernels[] = {
    /* the end of the kernel under a condition, and code after one */
    {KERNEL("@%p1 bra END;\nadd.s32 %r8, %r7, 5;\nst.global.u32 [%rd6], %r8;\nEND:\n"),
     true},
    {KERNEL("mov.u32 %r8, 3;\n@%p1 bra NEXT;\nadd.s32 %r8, %r7, 5;\n"
            "st.global.u32 [%rd6], %r8;\nNEXT:\nst.global.u32 [%rd5+4096], %r8;\n"),
     true},
    /* one condition in another; threads that have ended; bytes */
    {KERNEL("@%p1 bra NEXT;\nand.b32 %r8, %r7, 1;\nsetp.eq.s32 %p3, %r8, 0;\n"
            "@%p3 bra NEXT;\nst.global.u32 [%rd6], %r7;\nNEXT:\n"
            "st.global.u32 [%rd5+4096], %r7;\n"),
     true},
    {KERNEL("@%p2 ret;\nand.b32 %r9, %r7, 1;\nsetp.eq.u32 %p3, %r9, 1;\n@%p3 bra END;\n"
            "st.global.u32 [%rd6], %r7;\nEND:\n"),
     true},
    {KERNEL("@%p2 ret;\nbar.sync 0;\n@%p1 bra END;\nst.global.u32 [%rd6], %r7;\nEND:\n"),
     true},
    {KERNEL("@%p1 bra END;\nst.global.u8 [%rd5], %r7;\nEND:\n"), true},
    /* a row, and a load, stay under their branch */
    {KERNEL("@%p1 bra END;\nst.global.u32 [%rd5], %r7;\nEND:\n"), false},
    {KERNEL("@%p1 bra END;\nld.global.u32 %r8, [%rd4+4];\nst.global.u32 [%rd6], %r8;\n"
            "END:\n"),
     false},
    /* shared memory under a branch, then threads that end: those after them store nothing */
    {KERNEL("mov.u32 %r10, s;\nshl.b32 %r11, %r1, 2;\nadd.s32 %r12, %r10, %r11;\n"
            "st.shared.u32 [%r12], %r7;\nbar.sync 0;\nmov.u32 %r13, 1;\n@%p1 bra NEXT;\n"
            "ld.shared.u32 %r13, [%r12];\nNEXT:\n@%p2 bra END;\n"
            "st.global.u32 [%rd5], %r13;\nEND:\n"),
     false},
    /* a counter and a pointer that move on between the branches of a round */
    {KERNEL("mov.u32 %r8, %r1;\nmov.u64 %rd8, %rd5;\nmov.u64 %rd9, %rd4;\nLOOP:\n"
            "mov.u32 %r9, 7;\nsetp.gt.u32 %p3, %r8, %r7;\n@%p3 bra A;\n"
            "ld.global.u32 %r9, [%rd9];\nA:\nst.global.u32 [%rd8], %r9;\n"
            "add.s32 %r10, %r8, 512;\nadd.s64 %rd10, %rd8, 2048;\n"
            "setp.gt.u32 %p4, %r10, %r7;\nmov.u32 %r9, 9;\n@%p4 bra B;\n"
            "ld.global.u32 %r9, [%rd9+2048];\nB:\nst.global.u32 [%rd8+2048], %r9;\n"
            "add.s32 %r8, %r10, 512;\nadd.s64 %rd11, %rd10, 2048;\nadd.s64 %rd9, %rd9, "
            "1024;\n"
            "mov.u64 %rd8, %rd11;\nsetp.lt.s32 %p5, %r8, 2048;\n@%p5 bra LOOP;\n"),
     false},
};
#define KERNELS (sizeof(kernels) / sizeof(kernels[0]))

static gph_error error;

static bool compiles_to(const char *text, const char *part, const char *cut)
{
    ptx_module *module;
    ptx_program *program;
    bool found = false;
    if (!CHECK_OK(ptx_parse(text, strlen(text), NULL, &module, &error), error))
        return false;
    if (CHECK_OK(ptx_compile(module, NULL, &program, &error), error)) {
        const ptx_kernel *k = &program->kernels[0];
        found = part && strstr(program->ir, part) != NULL;
        for (uint32_t i = 0; i < k->cut_count; i++)
            found |= cut && strcmp(k->cuts[i].reason, cut) == 0;
        ptx_program_destroy(program);
    }
    ptx_module_destroy(module);
    return found;
}

static void scattered_stores_go_aside(void)
{
    char part[64];
    snprintf(part, sizeof(part), "getelementptr i8, ptr %%block, i64 %zu\n",
             offsetof(ptx_block, aside));
    for (size_t k = 0; k < KERNELS; k++)
        if (!CHECK(compiles_to(kernels[k].text, part, NULL) == kernels[k].aside))
            fprintf(stderr, "kernel %zu\n", k);
}

static void a_step_may_be_spread_over_a_round(void)
{
    CHECK(compiles_to(kernels[KERNELS - 1].text, NULL, "lockstep loop"));
}

static void gives_what_the_slow_path_gives(void)
{
    static const uint32_t threads[] = {1, 31, 32, 100, 128, 256, 512};
    static uint32_t in[WORDS], out[2][WORDS];
    for (uint32_t i = 0; i < WORDS; i++)
        in[i] = i * 2654435761u >> 20;
    for (size_t k = 0; k < KERNELS; k++) {
        kernel_unit *pair[2] = {kernel_open(kernels[k].text, KERNEL_FAST, &error),
                                kernel_open(kernels[k].text, KERNEL_SLOW, &error)};
        const bool opened = pair[0] && pair[1];
        CHECK_OK(opened ? GPH_OK : GPH_E_INVALID, error);
        for (size_t c = 0; opened && c < sizeof(threads) / sizeof(threads[0]) * 2; c++) {
            memset(out, 0x55, sizeof(out));
            for (int path = 0; path < 2; path++) {
                const struct {
                    void *out;
                    const void *in;
                    uint32_t n;
                } params = {out[path], in, c % 2 ? 77 : 4000};
                const kernel_call call = {.name = "k", .block = {threads[c / 2]}};
                CHECK_OK(kernel_run(pair[path], &call, &params, &error), error);
            }
            if (!CHECK(memcmp(out[0], out[1], sizeof(out[0])) == 0))
                fprintf(stderr, "kernel %zu, %u threads\n", k, threads[c / 2]);
        }
        kernel_close(pair[0]);
        kernel_close(pair[1]);
    }
}

int main(void)
{
    RUN(scattered_stores_go_aside);
    RUN(a_step_may_be_spread_over_a_round);
    RUN(gives_what_the_slow_path_gives);
    return test_done();
}
