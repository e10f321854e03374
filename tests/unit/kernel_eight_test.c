// SPDX-License-Identifier: Apache-2.0
/* Eight words a thread side by side in memory (`x[8 * i + k]`): loads of 64 words, transposed
 * as two squares of four, in blocks and, with an index that is `lane | 32`, in warps. */
#include "kernel_run.h"
#include "test.h"

#define THREADS 256u
#define HEAD                                                                             \
    ".version 7.0\n.target sm_80\n.address_size 64\n"                                    \
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)\n{\n"             \
    ".reg .pred %p<4>;\n.reg .b32 %r<24>;\n.reg .f32 %f<24>;\n.reg .b64 %rd<12>;\n"      \
    "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\nld.param.u32 %r9, [n];\n"      \
    "mov.u32 %r1, %tid.x;\n"
#define LOAD(k, at)                                                                      \
    "ld.global.f32 %f1, [%rd4+" at "];\nfma.rn.f32 %f2, %f2, 0f3FC00000, %f1;\n"
/* Each word has another weight: a word in the wrong place shows. */
#define EIGHT                                                                            \
    "mul.wide.u32 %rd3, %r2, 32;\nadd.s64 %rd4, %rd2, %rd3;\n" LOAD(0, "0") LOAD(1, "4") \
        LOAD(2, "8") LOAD(3, "12") LOAD(4, "16") LOAD(5, "20") LOAD(6, "24")             \
            LOAD(7, "28")
#define TAIL                                                                             \
    "mul.wide.u32 %rd5, %r1, 4;\nadd.s64 %rd6, %rd1, %rd5;\nst.global.f32 [%rd6], "      \
    "%f2;\n"                                                                             \
    "ret;\n}\n"

static const char *const kernels[] = {
    HEAD "mov.u32 %r2, %r1;\nmov.f32 %f2, 0f00000000;\n" EIGHT TAIL,
    /* a row of the warp, with a first round of its own for some */
    HEAD "and.b32 %r2, %r1, 31;\nmov.f32 %f2, 0f3F800000;\nand.b32 %r3, %r9, 32;\n"
         "setp.eq.s32 %p1, %r3, 0;\n@%p1 bra A;\n" EIGHT "or.b32 %r2, %r2, 32;\nA:\n"
         "L:\n" EIGHT "add.s32 %r2, %r2, 64;\nsetp.lt.s32 %p2, %r2, 256;\n@%p2 bra L;\n"
         "mov.b32 %r4, %f2;\nshfl.sync.bfly.b32 %r5, %r4, 1, 31, -1;\nmov.b32 %f3, %r5;\n"
         "add.f32 %f2, %f2, %f3;\n" TAIL,
};

static gph_error error;
static float in[THREADS * 8 + 64], out[2][THREADS];

static void takes_every_eighth_word(void)
{
    static const uint32_t blocks[] = {8, 32, 50, 64, 256};
    for (uint32_t i = 0; i < THREADS * 8 + 64; i++)
        in[i] = (float)(i * 2654435761u >> 12) / 1048576.0f;
    for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++) {
        kernel_unit *pair[2] = {kernel_open(kernels[k], KERNEL_FAST, &error),
                                kernel_open(kernels[k], KERNEL_SLOW, &error)};
        const bool opened = pair[0] && pair[1];
        CHECK_OK(opened ? GPH_OK : GPH_E_INVALID, error);
        for (size_t b = 0; opened && b < 2 * sizeof(blocks) / sizeof(blocks[0]); b++) {
            memset(out, 0, sizeof(out));
            for (int path = 0; path < 2; path++) {
                const struct {
                    void *out, *in;
                    uint32_t n;
                } params = {out[path], in, b & 1 ? 32 : 0};
                const kernel_call call = {.name = "k", .block = {blocks[b / 2]}};
                CHECK_OK(kernel_run(pair[path], &call, &params, &error), error);
            }
            if (!CHECK(memcmp(out[0], out[1], sizeof(out[0])) == 0))
                fprintf(stderr, "kernel %zu, %u threads\n", k, blocks[b / 2]);
        }
        kernel_close(pair[0]);
        kernel_close(pair[1]);
    }
}

int main(void)
{
    RUN(takes_every_eighth_word);
    return test_done();
}
