// SPDX-License-Identifier: Apache-2.0
/* Loops with atomic operations: they go round by round where no order of them can be seen,
 * where they give what the slow path gives; thread by thread where it can. */
#include "kernel_run.h"
#include "softcuda/ptx/compile.h"
#include "test.h"

/* 16 words of s, and after a barrier out[0] to out[15]; each round takes in[i]. */
#define KERNEL(atomic)                                                                   \
    ".version 7.0\n.target sm_70\n.address_size 64\n"                                    \
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)\n{\n"             \
    ".reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .f32 %f<4>;\n.reg .b64 %rd<12>;\n"       \
    ".shared .align 8 .b8 s[128];\n"                                                     \
    "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\nld.param.u32 %r1, [n];\n"      \
    "mov.u32 %r2, %tid.x;\nmov.u32 %r3, %ntid.x;\nmov.u64 %rd3, s;\n"                    \
    "and.b32 %r4, %r2, 15;\nmul.wide.u32 %rd4, %r4, 8;\nadd.s64 %rd5, %rd3, %rd4;\n"     \
    "mov.u64 %rd6, 5;\nst.shared.u64 [%rd5], %rd6;\nmov.u32 %r7, 0;\nbar.sync 0;\n"      \
    "mov.u32 %r5, %r2;\nsetp.ge.u32 %p1, %r5, %r1;\n@%p1 bra DONE;\nL:\n"                \
    "mul.wide.u32 %rd7, %r5, 4;\nadd.s64 %rd8, %rd2, %rd7;\n"                            \
    "ld.global.u32 %r6, [%rd8];\nand.b32 %r8, %r6, 15;\nmul.wide.u32 %rd9, %r8, 8;\n"    \
    "add.s64 %rd10, %rd3, %rd9;\nsetp.gt.u32 %p3, %r6, 99;\ncvt.rn.f32.u32 %f1, %r6;\n"  \
    "cvt.u64.u32 %rd11, %r6;\n" atomic "\nadd.s32 %r5, %r5, %r3;\n"                      \
    "setp.lt.u32 %p2, %r5, %r1;\n@%p2 bra L;\nDONE:\nbar.sync 0;\n"                      \
    "ld.shared.u64 %rd6, [%rd5];\nmul.wide.u32 %rd4, %r2, 8;\n"                          \
    "add.s64 %rd5, %rd1, %rd4;\nst.global.u64 [%rd5], %rd6;\n"                           \
    "mul.wide.u32 %rd4, %r2, 4;\nadd.s64 %rd5, %rd1, %rd4;\n"                            \
    "st.global.u32 [%rd5+8192], %r7;\nret;\n}\n"

static const struct {
    const char *text;
    bool together;
} kernels[] = {
    {KERNEL("atom.shared.add.u32 %r9, [%rd10], %r6;"), true},
    {KERNEL("red.shared.add.u64 [%rd10], %rd11;"), true},
    {KERNEL("red.shared.max.s32 [%rd10], %r6;\nred.shared.xor.b32 [%rd10+4], %r6;"),
     true},
    {KERNEL("@%p3 red.shared.min.u32 [%rd10], %r6;"), true},
    {KERNEL("@%p3 atom.shared.add.u32 %r9, [%rd10], %r6;"), true},
    {KERNEL("red.global.add.u32 [%rd1+16384], %r6;"), true},
    /* who was there before is kept, a float's sum, wraps, exchanges, an order */
    {KERNEL("atom.shared.add.u32 %r9, [%rd10], 1;\nadd.u32 %r7, %r7, %r9;"), false},
    {KERNEL("red.shared.add.f32 [%rd10], %f1;"), false},
    {KERNEL("red.shared.inc.u32 [%rd10], %r6;"), false},
    {KERNEL("atom.shared.exch.b32 %r9, [%rd10], %r6;"), false},
    {KERNEL("atom.shared.cas.b32 %r9, [%rd10], 5, %r6;"), false},
    {KERNEL("red.release.gpu.global.add.u32 [%rd1+16384], %r6;"), false},
    {KERNEL("ld.volatile.shared.u32 %r9, [%rd10];\n"
            "red.shared.add.u32 [%rd10], %r6;"),
     false},
};
#define KERNELS (sizeof(kernels) / sizeof(kernels[0]))

static gph_error error;

static bool has_cost(const ptx_kernel *k, const char *reason)
{
    for (uint32_t i = 0; i < k->cost_count; i++)
        if (strncmp(k->costs[i].reason, reason, strlen(reason)) == 0)
            return true;
    return false;
}

static void goes_round_by_round_where_no_order_is_seen(void)
{
    const ptx_compile_options options = {.costs = 1};
    for (size_t k = 0; k < KERNELS; k++) {
        ptx_module *module;
        ptx_program *program;
        const char *text = kernels[k].text;
        if (!CHECK_OK(ptx_parse(text, strlen(text), NULL, &module, &error), error))
            continue;
        if (CHECK_OK(ptx_compile(module, &options, &program, &error), error)) {
            const ptx_kernel *kernel = &program->kernels[0];
            if (!CHECK(kernel->path == PTX_PATH_FAST &&
                       has_cost(kernel, "loop whose rounds") != kernels[k].together))
                fprintf(stderr, "kernel %zu, path %d %s\n", k, (int)kernel->path,
                        kernel->reason ? kernel->reason : "");
            ptx_program_destroy(program);
        }
        ptx_module_destroy(module);
    }
}

static void gives_what_the_slow_path_gives(void)
{
    static const uint32_t threads[] = {16, 33, 64, 255, 256}, counts[] = {0, 1, 40, 1000};
    static uint32_t in[1000], out[2][8192];
    for (uint32_t i = 0; i < 1000; i++)
        in[i] = i * 2654435761u >> 23;
    for (size_t k = 0; k < KERNELS; k++) {
        if (!kernels[k].together)
            continue; /* what these give depends on the order of threads, on a GPU, too */
        kernel_unit *pair[2] = {kernel_open(kernels[k].text, KERNEL_FAST, &error),
                                kernel_open(kernels[k].text, KERNEL_SLOW, &error)};
        const bool opened = pair[0] && pair[1];
        CHECK_OK(opened ? GPH_OK : GPH_E_INVALID, error);
        for (size_t c = 0; opened && c < 5 * 4; c++) {
            memset(out, 0, sizeof(out));
            for (int path = 0; path < 2; path++) {
                const struct {
                    void *out;
                    const void *in;
                    uint32_t n;
                } params = {out[path], in, counts[c % 4]};
                const kernel_call call = {.name = "k", .block = {threads[c / 4]}};
                CHECK_OK(kernel_run(pair[path], &call, &params, &error), error);
            }
            if (!CHECK(memcmp(out[0], out[1], sizeof(out[0])) == 0))
                fprintf(stderr, "kernel %zu, %u threads, n %u\n", k, threads[c / 4],
                        counts[c % 4]);
        }
        kernel_close(pair[0]);
        kernel_close(pair[1]);
    }
}

/* The text of the kernel, up to its end; NULL: it is not there. */
static char *ir_of(const char *ir, const char *name)
{
    char head[64];
    snprintf(head, sizeof(head), "@\"b.%s\"(ptr %%block)", name);
    const char *from = strstr(ir, head), *end = from ? strstr(from, "\n}\n") : NULL;
    return end ? strndup(from, (size_t)(end - from)) : NULL;
}

static uint32_t count_of(const char *text, const char *end, const char *what)
{
    uint32_t count = 0;
    while ((text = strstr(text, what)) != NULL && text < end) {
        count++;
        text += strlen(what);
    }
    return count;
}

/* nvcc's code of `atomicAdd(&bins[in[i]], 1)` over bytes has a copy of its loop in which a
 * thread makes four rounds before the next one: half the time. A form for bytes under
 * conditions once displaced it, and every test passed. */
static void bytes_are_counted_four_rounds_together(void)
{
    static char text[1 << 16];
    FILE *file = fopen(MORE_PTX "/image.ptx", "rb");
    ptx_module *module = NULL;
    ptx_program *program = NULL;
    if (!CHECK(file != NULL))
        return;
    const size_t length = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    if (CHECK_OK(ptx_parse(text, length, NULL, &module, &error), error) &&
        CHECK_OK(ptx_compile(module, NULL, &program, &error), error)) {
        char *ir = ir_of(program->ir, "byte_histogram");
        const char *copy = ir ? strstr(ir, "g.x:\n") : NULL;
        const char *end = copy ? strstr(copy, "g.latch:") : NULL;
        if (CHECK(end != NULL))
            CHECK(count_of(copy, end, "load i8, ptr %v") == 4);
        free(ir);
    }
    ptx_program_destroy(program);
    ptx_module_destroy(module);
}

int main(void)
{
    RUN(goes_round_by_round_where_no_order_is_seen);
    RUN(gives_what_the_slow_path_gives);
    RUN(bytes_are_counted_four_rounds_together);
    return test_done();
}
