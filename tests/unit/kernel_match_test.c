// SPDX-License-Identifier: Apache-2.0
/* match.any of values known to have few bits, in whole warps, with a member mask by lane, in
 * divergent code and where a warp has less than 32 threads: what the slow path gives. */
#include "kernel_run.h"
#include "test.h"

#define KERNEL(mask, take)                                                               \
    ".version 7.0\n.target sm_70\n.address_size 64\n"                                    \
    ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"                            \
    ".reg .b32 %r<20>;\n.reg .b64 %rd<8>;\n.reg .pred %p<4>;\n"                          \
    "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\nmov.u32 %r1, %tid.x;\n"        \
    "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\nadd.s64 %rd5, %rd1, %rd3;\n" \
    "ld.global.u32 %r2, [%rd4];\nshr.u32 %r3, %r2, 9;\nand.b32 %r4, %r3, " mask ";\n"    \
    "mov.u32 %r6, 0;\n" take "st.global.u32 [%rd5], %r6;\nret;\n}\n"
#define ALL "match.any.sync.b32 %r6, %r4, -1;\n"
#define HALVES                                                                           \
    "and.b32 %r8, %r1, 16;\nmov.u32 %r9, 65535;\nshl.b32 %r10, %r9, %r8;\n"              \
    "match.any.sync.b32 %r6, %r4, %r10;\n"
#define SOME                                                                             \
    "and.b32 %r8, %r2, 3;\nsetp.eq.s32 %p1, %r8, 0;\n@%p1 bra END;\nactivemask.b32 "     \
    "%r9;\nmatch.any.sync.b32 %r6, %r4, %r9;\nEND:\n"

static const char *const kernels[] = {
    KERNEL("1", ALL),    KERNEL("15", ALL),   KERNEL("1023", ALL),
    KERNEL("2047", ALL), KERNEL("7", HALVES), KERNEL("12", SOME),
};

static gph_error error;

static void gives_what_the_slow_path_gives(void)
{
    static const uint32_t threads[] = {32, 64, 256, 40, 16};
    static uint32_t in[256], out[2][256];
    for (uint32_t i = 0; i < 256; i++)
        in[i] = i * 2654435761u;
    for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++) {
        kernel_unit *pair[2] = {kernel_open(kernels[k], KERNEL_FAST, &error),
                                kernel_open(kernels[k], KERNEL_SLOW, &error)};
        const bool opened = pair[0] && pair[1];
        CHECK_OK(opened ? GPH_OK : GPH_E_INVALID, error);
        /* Of halves the member mask names lanes that are there in whole warps alone. */
        const size_t shapes = k == 4 ? 3 : sizeof(threads) / sizeof(threads[0]);
        for (size_t c = 0; opened && c < shapes; c++) {
            memset(out, 0, sizeof(out));
            for (int path = 0; path < 2; path++) {
                const struct {
                    void *out;
                    const void *in;
                } params = {out[path], in};
                const kernel_call call = {.name = "k", .block = {threads[c]}};
                CHECK_OK(kernel_run(pair[path], &call, &params, &error), error);
            }
            CHECK(out[0][0] != 0 || k == 5);
            if (!CHECK(memcmp(out[0], out[1], sizeof(out[0])) == 0))
                fprintf(stderr, "kernel %zu, %u threads\n", k, threads[c]);
        }
        kernel_close(pair[0]);
        kernel_close(pair[1]);
    }
}

int main(void)
{
    RUN(gives_what_the_slow_path_gives);
    return test_done();
}
