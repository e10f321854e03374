// SPDX-License-Identifier: Apache-2.0
/* A kernel with shuffles runs warp by warp where rows of the block are whole warps, else
 * as a block: the same bytes for every shape of block as thread by thread. */
#include "kernel_run.h"
#include "test.h"

#define WORDS 10u
#define THREADS_MAX 1024u

/* Out of a thread: its row and warp as a warp's own values, sums over lanes in a loop,
 * votes where some threads are elsewhere, and threads that end early. */
static const char text[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)\n{\n"
    ".reg .pred %p<6>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<12>;\n.reg .f32 %f<8>;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\nld.param.u32 %r1, [n];\n"
    "mov.u32 %r2, %tid.x;\nmov.u32 %r3, %tid.y;\nmov.u32 %r4, %tid.z;\n"
    "mov.u32 %r5, %ntid.x;\nmov.u32 %r6, %ntid.y;\nmov.u32 %r7, %laneid;\n"
    "mad.lo.u32 %r8, %r4, %r6, %r3;\nmad.lo.u32 %r9, %r8, %r5, %r2;\n"
    "mul.wide.u32 %rd3, %r9, 40;\nadd.u64 %rd4, %rd1, %rd3;\n"
    "and.b32 %r10, %r2, 31;\nshr.u32 %r11, %r2, 5;\nand.b32 %r12, %r2, -32;\n"
    "shr.u32 %r13, %r9, 5;\nmov.u32 %r14, %warpid;\n"
    "st.global.u32 [%rd4], %r11;\nst.global.u32 [%rd4+4], %r12;\n"
    "st.global.u32 [%rd4+8], %r13;\nst.global.u32 [%rd4+12], %r14;\n"
    "mad.lo.u32 %r15, %r4, 100, %r3;\nst.global.u32 [%rd4+16], %r15;\n"
    /* sum of in[warp * 7 + i] for i = lane, lane + 32 ... below n + warp */
    "mov.f32 %f1, 0f00000000;\nadd.u32 %r16, %r1, %r11;\nmov.u32 %r17, %r10;\n"
    "setp.ge.u32 %p1, %r17, %r16;\n@%p1 bra DONE;\n"
    "LOOP:\nmad.lo.u32 %r18, %r13, 7, %r17;\nmul.wide.u32 %rd5, %r18, 4;\n"
    "add.u64 %rd6, %rd2, %rd5;\nld.global.f32 %f2, [%rd6];\nadd.f32 %f1, %f1, %f2;\n"
    "add.u32 %r17, %r17, 32;\nsetp.lt.u32 %p2, %r17, %r16;\n@%p2 bra LOOP;\n"
    "DONE:\nmov.b32 %r19, %f1;\nshfl.sync.bfly.b32 %r20, %r19, 16, 31, -1;\n"
    "mov.b32 %f3, %r20;\nadd.f32 %f4, %f1, %f3;\nmov.b32 %r21, %f4;\n"
    "shfl.sync.up.b32 %r22|%p3, %r21, 3, 0, -1;\n@%p3 add.u32 %r22, %r22, 1;\n"
    "st.global.u32 [%rd4+20], %r21;\nst.global.u32 [%rd4+24], %r22;\n"
    "setp.eq.u32 %p4, %r7, 9;\n@%p4 bra SKIP;\nsetp.lt.u32 %p5, %r19, %r21;\n"
    "vote.sync.ballot.b32 %r23, %p5, 0xfffffdff;\nst.global.u32 [%rd4+28], %r23;\n"
    "SKIP:\nsetp.ge.u32 %p1, %r2, %r1;\n@%p1 ret;\n"
    "st.global.u32 [%rd4+32], %r10;\n"
    "st.global.u32 [%rd4+36], %r7;\nret;\n}\n";

/* Whole warps: what a shuffle gives of a lane that does not exist is undefined. */
static const uint32_t blocks[][3] = {{32},   {32, 8},    {64, 2, 2}, {256},   {1024},
                                     {96},   {48, 2},    {16, 16},   {24, 4}, {40, 4},
                                     {8, 4}, {32, 1, 3}, {128, 2},   {1, 32}};

static void all_shapes_of_blocks_agree(void)
{
    static uint32_t out[2][THREADS_MAX * WORDS];
    static float in[4096];
    gph_error error = {0};
    kernel_unit *units[2] = {kernel_open(text, KERNEL_FAST, &error),
                             kernel_open(text, KERNEL_SLOW, &error)};
    for (uint32_t i = 0; i < 4096; i++)
        in[i] = (float)(i * 2654435761u >> 12) / 1048576.0f;
    CHECK(units[0] && soft_code_kernel(units[0]->code, 0)->path == PTX_PATH_FAST);
    for (size_t b = 0; b < sizeof(blocks) / sizeof(blocks[0]); b++)
        for (uint32_t n = 0; n < 200; n += 19) {
            for (int path = 0; path < 2; path++) {
                memset(out[path], 0x55, sizeof(out[path]));
                const struct {
                    void *out, *in;
                    uint32_t n;
                } params = {out[path], in, n};
                kernel_call call = {.name = "k"};
                memcpy(call.block, blocks[b], sizeof(call.block));
                CHECK_OK(kernel_run(units[path], &call, &params, &error), error);
            }
            if (!CHECK(memcmp(out[0], out[1], sizeof(out[0])) == 0))
                for (uint32_t i = 0; i < THREADS_MAX * WORDS; i++)
                    if (out[0][i] != out[1][i]) {
                        fprintf(stderr,
                                "block %u x %u, n %u, thread %u, word %u: %x not "
                                "%x\n",
                                blocks[b][0], blocks[b][1], n, i / WORDS, i % WORDS,
                                out[0][i], out[1][i]);
                        break;
                    }
        }
    kernel_close(units[0]);
    kernel_close(units[1]);
}

int main(void)
{
    RUN(all_shapes_of_blocks_agree);
    return test_done();
}
