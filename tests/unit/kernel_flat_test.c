// SPDX-License-Identifier: Apache-2.0
/* Shared memory under branches by thread, written without the branches: gives what the slow
 * path gives, in blocks for which it is done and in those that are too large for it. */
#include "kernel_run.h"
#include "softcuda/ptx/compile.h"
#include "test.h"

/* 256 words and 256 bytes of shared memory, from in; all of it goes to out. */
#define KERNEL(body)                                                                     \
    ".version 7.0\n.target sm_70\n.address_size 64\n"                                    \
    ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"                            \
    ".reg .pred %p<4>;\n.reg .b32 %r<20>;\n.reg .b16 %h<4>;\n.reg .b64 %rd<8>;\n"        \
    ".shared .align 4 .b8 s[1024];\n.shared .align 1 .b8 c[256];\n"                      \
    "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\nmov.u32 %r1, %tid.x;\n"        \
    "mov.u32 %r2, s;\nshl.b32 %r3, %r1, 2;\nadd.s32 %r4, %r2, %r3;\n"                    \
    "mov.u32 %r5, c;\nadd.s32 %r6, %r5, %r1;\nsetp.lt.u32 %p1, %r1, 256;\n"              \
    "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\nadd.s64 %rd5, %rd1, %rd3;\n" \
    "ld.global.u32 %r7, [%rd4];\n@%p1 st.shared.u32 [%r4], %r7;\n"                       \
    "@%p1 st.shared.u8 [%r6], %r7;\nbar.sync 0;\n" body "END:\nbar.sync 0;\n"            \
    "mov.u32 %r8, 0;\nmov.u32 %r9, 0;\n@%p1 ld.shared.u32 %r8, [%r4];\n"                 \
    "@%p1 ld.shared.u8 %r9, [%r6];\nmad.lo.s32 %r8, %r9, 65599, %r8;\n"                  \
    "st.global.u32 [%rd5], %r8;\nret;\n}\n"

/* A step of a sorting network, of what the block has set. */
#define SWAP(mask, words, bytes)                                                         \
    "shl.b32 %r10, %r1, 1;\nand.b32 %r11, %r1, " mask ";\nsub.s32 %r12, %r10, %r11;\n"   \
    "shl.b32 %r13, %r12, 2;\nadd.s32 %r14, %r2, %r13;\n\n"                               \
    "add.s32 %r17, %r12, " words ";\nmov.u32 %r18, %ntid.x;\nmin.u32 %r18, %r18, 256;\n" \
    "setp.ge.u32 %p2, %r17, %r18;\n"                                                     \
    "@%p2 bra END;\nld.shared.u32 %r15, [%r14];\nld.shared.u32 %r16, [%r14+" bytes       \
    "];\n"                                                                               \
    "setp.lt.u32 %p3, %r15, %r16;\n@%p3 bra END;\nst.shared.u32 [%r14], %r16;\n"         \
    "st.shared.u32 [%r14+" bytes "], %r15;\n"

static const char *const kernels[] = {
    KERNEL(SWAP("0", "1", "4")),
    KERNEL(SWAP("3", "4", "16")),
    KERNEL(SWAP("31", "32", "128")),
    /* before the first word and byte, under two conditions */
    KERNEL("mov.u32 %r8, 7;\nsetp.lt.u32 %p2, %r1, 9;\n@%p2 bra END;\n"
           "setp.gt.u32 %p2, %r1, 200;\n@%p2 bra END;\nld.shared.u8 %r9, [%r6];\n"
           "setp.gt.u32 %p3, %r9, 99;\n@%p3 bra NEXT;\nld.shared.u32 %r8, [%r4+-36];\n"
           "NEXT:\nld.shared.u8 %r9, [%r6+-9];\nadd.s32 %r8, %r8, %r9;\n"
           "add.s64 %rd5, %rd5, 4096;\nst.global.u32 [%rd5], %r8;\n"),
    KERNEL("mov.u32 %r8, 7;\nsetp.lt.u32 %p2, %r1, 9;\n@%p2 bra NEXT;\n"
           "setp.gt.u32 %p2, %r1, 200;\n@%p2 bra NEXT;\nld.shared.u8 %r9, [%r6];\n"
           "setp.gt.u32 %p3, %r9, 99;\n@%p3 bra NEXT;\nld.shared.u32 %r8, [%r4+-36];\n"
           "NEXT:\nadd.s64 %rd6, %rd5, 4096;\nst.global.u32 [%rd6], %r8;\n"),
    /* small numbers that some threads set, some keep */
    KERNEL("mov.u32 %r8, 7;\nsetp.lt.u32 %p2, %r1, 9;\n@%p2 bra NEXT;\n"
           "ld.shared.u8 %r8, [%r6];\nNEXT:\nadd.s32 %r9, %r8, %r8;\n"
           "add.s64 %rd6, %rd5, 4096;\nst.global.u32 [%rd6], %r9;\n"),
    /* after threads that have ended */
    KERNEL("setp.gt.u32 %p2, %r1, 100;\n@%p2 bra GONE;\nld.shared.u32 %r8, [%r4];\n"
           "setp.lt.u32 %p3, %r8, 2000;\n@%p3 bra NEXT;\nst.shared.u32 [%r4], %r1;\n"
           "ld.shared.u32 %r8, [%r4];\nNEXT:\nst.global.u32 [%rd5], %r8;\n"
           "GONE:\nret;\n"),
};
#define KERNELS (sizeof(kernels) / sizeof(kernels[0]))

static gph_error error;

/* One stores to global memory under its branches, in one threads end: these stay. */
static void has_a_copy_without_branches(void)
{
    for (size_t k = 0; k < KERNELS; k++) {
        const ptx_compile_options options = {.costs = 1};
        ptx_module *module;
        ptx_program *program;
        if (!CHECK_OK(ptx_parse(kernels[k], strlen(kernels[k]), NULL, &module, &error),
                      error))
            continue;
        if (CHECK_OK(ptx_compile(module, &options, &program, &error), error)) {
            const ptx_kernel *kernel = &program->kernels[0];
            bool named = false;
            for (uint32_t i = 0; i < kernel->cost_count; i++)
                named |= strncmp(kernel->costs[i].reason, "flat: ", 6) == 0;
            const bool flat = k < 5 ? k != 3 : k == 5;
            CHECK((strstr(program->ir, "p.z:") != NULL) == flat);
            CHECK(named == flat);
            ptx_program_destroy(program);
        }
        ptx_module_destroy(module);
    }
}

static void gives_what_the_slow_path_gives(void)
{
    static const uint32_t threads[] = {32, 33, 64, 128, 192, 256, 512};
    static uint32_t in[512], out[2][2048];
    for (uint32_t i = 0; i < 512; i++)
        in[i] = i * 2654435761u >> 20;
    for (size_t k = 0; k < KERNELS; k++) {
        kernel_unit *pair[2] = {kernel_open(kernels[k], KERNEL_FAST, &error),
                                kernel_open(kernels[k], KERNEL_SLOW, &error)};
        const bool opened = pair[0] && pair[1];
        CHECK_OK(opened ? GPH_OK : GPH_E_INVALID, error);
        for (size_t c = 0; opened && c < sizeof(threads) / sizeof(threads[0]); c++) {
            memset(out, 0, sizeof(out));
            for (int path = 0; path < 2; path++) {
                const struct {
                    void *out;
                    const void *in;
                } params = {out[path], in};
                const kernel_call call = {.name = "k", .block = {threads[c]}};
                CHECK_OK(kernel_run(pair[path], &call, &params, &error), error);
            }
            if (!CHECK(memcmp(out[0], out[1], sizeof(out[0])) == 0))
                fprintf(stderr, "kernel %zu, %u threads\n", k, threads[c]);
        }
        kernel_close(pair[0]);
        kernel_close(pair[1]);
    }
}

int main(void)
{
    RUN(has_a_copy_without_branches);
    RUN(gives_what_the_slow_path_gives);
    return test_done();
}
