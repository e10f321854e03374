// SPDX-License-Identifier: Apache-2.0
/* Loads of bytes under conditions made of data, done by all threads of a run where its pages
 * are touched anyhow: the bytes of the slow path, and no access of a page that no thread of
 * the program touches. */
#include <sys/mman.h>

#include "kernel_run.h"
#include "softcuda/ptx/compile.h"
#include "test.h"

#define PTX_HEAD ".version 7.0\n.target sm_80\n.address_size 64\n"
#define PAGE 4096u
#define THREADS 1024u
/* %r4: the thread's number in the launch, %rd5 = in + it, %rd6 = other + it, %rd3: the place
 * of its result, %r20. */
#define KERNEL(body)                                                                     \
    PTX_HEAD                                                                             \
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .u64 other, "             \
    ".param .u32 n)\n{\n"                                                                \
    ".reg .pred %p<8>;\n.reg .b16 %h<16>;\n.reg .b32 %r<48>;\n.reg .b64 %rd<24>;\n"      \
    "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\nld.param.u64 %rd7, [other];\n" \
    "ld.param.u32 %r6, [n];\nmov.u32 %r1, %tid.x;\nmov.u32 %r8, %ntid.x;\n"              \
    "mov.u32 %r11, %ctaid.x;\nmad.lo.s32 %r4, %r11, %r8, %r1;\n"                         \
    "mul.wide.s32 %rd4, %r4, 4;\nadd.s64 %rd3, %rd1, %rd4;\ncvt.s64.s32 %rd8, %r4;\n"    \
    "add.s64 %rd5, %rd2, %rd8;\nadd.s64 %rd6, %rd7, %rd8;\n" body                        \
    "st.global.u32 [%rd3], %r20;\nEND:\nret;\n}\n"

static const struct {
    const char *name, *text;
    bool has; /* a copy without branches */
} kernels[] = {
    {"its own row",
     KERNEL("ld.global.u8 %r20, [%rd5];\nsetp.gt.u32 %p1, %r20, 99;\n@%p1 bra A;\n"
            "ld.global.u8 %r21, [%rd5];\nmad.lo.s32 %r20, %r21, 3, %r20;\nA:\n"),
     true},
    {"the next byte, after threads that have no part",
     KERNEL("setp.ge.s32 %p2, %r4, %r6;\n@%p2 bra END;\n"
            "ld.global.u8 %r20, [%rd5];\nsetp.ne.u32 %p1, %r20, 0;\n@%p1 bra A;\n"
            "ld.global.s8 %r21, [%rd5+1];\nadd.s32 %r20, %r21, 9;\nA:\n"),
     true},
    {"one of three ways, small numbers set in all",
     KERNEL("mov.u16 %h1, 1;\nld.global.u8 %r21, [%rd5];\nsetp.eq.u32 %p1, %r21, 3;\n"
            "@%p1 bra C;\nsetp.lt.u32 %p2, %r21, 90;\n@%p2 bra B;\n"
            "ld.global.u8 %h2, [%rd5];\nsetp.ne.s16 %p3, %h2, 101;\n"
            "selp.u16 %h1, 7, 5, %p3;\nbra.uni C;\nB:\nmov.u16 %h1, 0;\nC:\n"
            "cvt.u32.u16 %r20, %h1;\n"),
     true},
    {"wrapped around an edge",
     KERNEL(
         "add.s32 %r12, %r4, 1;\nand.b32 %r13, %r12, 255;\nand.b32 %r14, %r4, -256;\n"
         "add.s32 %r15, %r14, %r13;\ncvt.s64.s32 %rd9, %r15;\nadd.s64 %rd10, %rd2, "
         "%rd9;\nld.global.u8 %r20, [%rd10];\nsetp.gt.u32 %p1, %r20, 50;\n@%p1 bra A;\n"
         "ld.global.u8 %r21, [%rd5];\nadd.s32 %r20, %r20, %r21;\nA:\n"),
     true},
    {"backward",
     KERNEL("sub.s32 %r12, 1023, %r4;\ncvt.s64.s32 %rd9, %r12;\nadd.s64 %rd10, %rd2, "
            "%rd9;\nld.global.u8 %r20, [%rd10];\nsetp.ne.u32 %p1, %r20, 0;\n@%p1 bra A;\n"
            "ld.global.u8 %r21, [%rd10+-1];\nadd.s32 %r20, %r20, %r21;\nA:\n"),
     true},
    {"other memory",
     KERNEL("ld.global.u8 %r20, [%rd5];\nsetp.ne.u32 %p1, %r20, 0;\n@%p1 bra A;\n"
            "ld.global.u8 %r21, [%rd6];\nadd.s32 %r20, %r20, %r21;\nA:\n"),
     true},
    {"a store under the condition",
     KERNEL("ld.global.u8 %r20, [%rd5];\nsetp.gt.u32 %p1, %r20, 99;\n@%p1 bra A;\n"
            "ld.global.u8 %r21, [%rd5];\nst.global.u32 [%rd3+65536], %r21;\nA:\n"),
     false},
    {"a place that data decides",
     KERNEL("ld.global.u8 %r20, [%rd5];\nsetp.gt.u32 %p1, %r20, 99;\n@%p1 bra A;\n"
            "cvt.u64.u32 %rd9, %r20;\nadd.s64 %rd10, %rd2, %rd9;\n"
            "ld.global.u8 %r20, [%rd10];\nA:\n"),
     false},
};
#define KERNELS (sizeof(kernels) / sizeof(kernels[0]))

static gph_error error;
static uint32_t out[2][THREADS + 65536 / 4];

static void run_pair(kernel_unit *const *pair, const char *name, uint32_t block, void *in,
                     void *other, uint32_t n)
{
    for (int path = 0; path < 2; path++) {
        memset(out[path], 0x55, sizeof(out[path]));
        const struct {
            void *out, *in, *other;
            uint32_t n;
        } params = {out[path], in, other, n};
        const kernel_call call = {
            .name = "k", .grid = {THREADS / block}, .block = {block}};
        CHECK_OK(kernel_run(pair[path], &call, &params, &error), error);
        CHECK(pair[path]->fault.code == 0);
    }
    if (CHECK(memcmp(out[0], out[1], sizeof(out[0])) == 0))
        return;
    uint32_t i = 0;
    while (out[0][i] == out[1][i])
        i++;
    fprintf(stderr, "%s, blocks of %u, n %u: thread %u has %x, not %x\n", name, block, n,
            i, out[0][i], out[1][i]);
}

/* A page between two that nobody may touch. The bytes are zeros in one pattern, then no
 * thread reads beside them but where that is on the page. */
static void fill(uint8_t *page, int pattern)
{
    for (uint32_t i = 0; i < PAGE; i++)
        page[i] = (uint8_t)(pattern == 0 ? i * 2654435761u >> 24 : 1 + i % 7);
    page[PAGE - 1] = page[0] = 1;
}

static void reads_what_the_slow_path_reads(void)
{
    static const uint32_t blocks[] = {32, 64, 128, 256, 512, 1024};
    uint8_t *memory =
        mmap(NULL, 5 * (size_t)PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(memory != MAP_FAILED &&
               mprotect(memory + PAGE, PAGE, PROT_READ | PROT_WRITE) == 0))
        return;
    uint8_t *page = memory + PAGE;
    for (size_t k = 0; k < KERNELS; k++) {
        kernel_unit *pair[2] = {kernel_open(kernels[k].text, KERNEL_FAST, &error),
                                kernel_open(kernels[k].text, KERNEL_SLOW, &error)};
        const bool opened = pair[0] && pair[1];
        CHECK_OK(opened ? GPH_OK : GPH_E_INVALID, error);
        for (size_t b = 0; opened && b < 2 * sizeof(blocks) / sizeof(blocks[0]); b++) {
            const int pattern = (int)(b & 1);
            fill(page, pattern);
            /* at the page's start, in it, at its end; the other page is not there where no
             * thread asks for it */
            uint8_t *const other = pattern == 0 ? page + 1500 : memory + 2 * PAGE;
            for (uint32_t at = 0; at <= PAGE - THREADS; at += (PAGE - THREADS) / 3)
                run_pair(pair, kernels[k].name, blocks[b / 2], page + at, other,
                         THREADS - 24 * (uint32_t)pattern);
        }
        kernel_close(pair[0]);
        kernel_close(pair[1]);
    }
    munmap(memory, 5 * (size_t)PAGE);
}

static void has_a_copy_without_branches_where_it_can(void)
{
    for (size_t k = 0; k < KERNELS; k++) {
        ptx_module *module;
        ptx_program *program;
        const char *text = kernels[k].text;
        if (!CHECK_OK(ptx_parse(text, strlen(text), NULL, &module, &error), error))
            continue;
        if (CHECK_OK(ptx_compile(module, NULL, &program, &error), error)) {
            if (!CHECK((strstr(program->ir, "%first.T") != NULL) == kernels[k].has))
                fprintf(stderr, "%s\n", kernels[k].name);
            ptx_program_destroy(program);
        }
        ptx_module_destroy(module);
    }
}

int main(void)
{
    RUN(has_a_copy_without_branches_where_it_can);
    RUN(reads_what_the_slow_path_reads);
    return test_done();
}
