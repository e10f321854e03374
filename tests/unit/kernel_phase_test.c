// SPDX-License-Identifier: Apache-2.0
/* A kernel with shuffles and barriers runs warp by warp from barrier to barrier, and four
 * words a thread are transposed: the same bytes as thread by thread, for every shape of
 * block. */
#include "kernel_run.h"
#include "test.h"

#define THREADS_MAX 1024u
#define HEAD ".version 7.0\n.target sm_80\n.address_size 64\n"

#define STEP(n)                                                                          \
    "shfl.sync.up.b32 %r20, %r10, " n ", 0, -1;\nsetp.lt.u32 %p1, %r4, " n ";\n"         \
    "add.u32 %r21, %r10, %r20;\nselp.b32 %r10, %r10, %r21, %p1;\n"
#define SCAN STEP("1") STEP("2") STEP("4") STEP("8") STEP("16")

/* Scans of a block in a loop around barriers; the round, a running sum of each thread, a
 * row of the block and a load of the first round are kept over them. Warps after `limit`
 * end before the first barrier. */
static const char scans[] = HEAD
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 limit)\n{\n"
    ".reg .pred %p<10>;\n.reg .b32 %r<50>;\n.reg .b64 %rd<16>;\n"
    ".shared .align 4 .b8 part[128];\n"
    "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\nld.param.u32 %r1, [limit];\n"
    "mov.u32 %r2, %tid.x;\nmov.u32 %r3, %tid.y;\nmov.u32 %r5, %ntid.x;\n"
    "mad.lo.u32 %r6, %r3, %r5, %r2;\nand.b32 %r4, %r6, 31;\nshr.u32 %r7, %r6, 5;\n"
    "setp.ge.u32 %p2, %r6, %r1;\n@%p2 ret;\n"
    "mov.u32 %r8, 0;\nmov.u32 %r9, 0;\nmul.wide.u32 %rd3, %r6, 4;\n"
    "add.u64 %rd4, %rd2, %rd3;\nadd.u64 %rd5, %rd1, %rd3;\n"
    "ld.global.u32 %r30, [%rd4];\nld.global.u32 %r31, [%rd2];\n"
    "mov.u64 %rd6, part;\nmul.wide.u32 %rd7, %r7, 4;\nadd.u64 %rd8, %rd6, %rd7;\n"
    "mul.wide.u32 %rd9, %r4, 4;\nadd.u64 %rd10, %rd6, %rd9;\n"
    "ROUND:\nadd.u32 %r10, %r30, %r8;\n" SCAN
    "mov.u32 %r11, %r10;\nsetp.ne.u32 %p3, %r4, 31;\n@%p3 bra KEPT;\n"
    "st.shared.u32 [%rd8], %r10;\nKEPT:\nbar.sync 0;\n"
    "setp.gt.u32 %p4, %r6, 31;\n@%p4 bra WAITS;\n"
    "shr.u32 %r12, %r1, 5;\nmov.u32 %r10, 0;\nsetp.ge.u32 %p5, %r4, %r12;\n"
    "@%p5 bra NONE;\nld.shared.u32 %r10, [%rd10];\nNONE:\n" SCAN
    "st.shared.u32 [%rd10], %r10;\nWAITS:\nbar.sync 0;\n"
    "setp.lt.u32 %p6, %r6, 32;\n@%p6 bra FIRST;\nld.shared.u32 %r13, [%rd8+-4];\n"
    "add.u32 %r11, %r11, %r13;\nFIRST:\nmad.lo.u32 %r9, %r9, 5, %r11;\n"
    "add.u32 %r8, %r8, 1;\nbar.sync 0;\nsetp.lt.u32 %p7, %r8, 3;\n@%p7 bra ROUND;\n"
    "mad.lo.u32 %r14, %r9, %r30, %r31;\nadd.u32 %r14, %r14, %r3;\n"
    "st.global.u32 [%rd5], %r14;\nret;\n}\n";

/* What float4 kernels do with their words: all alike, in turn, some of them, in another
 * order; and a counter that two loops share. */
static const char fours[] = HEAD
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)\n{\n"
    ".reg .pred %p<6>;\n.reg .b32 %r<60>;\n.reg .b64 %rd<20>;\n.reg .f32 %f<60>;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\nld.param.u32 %r1, [n];\n"
    "mov.u32 %r2, %tid.x;\nmov.u32 %r3, %tid.y;\nmov.u32 %r5, %ntid.x;\n"
    "mad.lo.u32 %r6, %r3, %r5, %r2;\nmul.wide.u32 %rd3, %r6, 16;\n"
    "add.u64 %rd4, %rd2, %rd3;\nadd.u64 %rd5, %rd1, %rd3;\n"
    "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4];\n"
    "ld.global.v4.f32 {%f5, %f6, %f7, %f8}, [%rd4+64];\n"
    "mul.f32 %f9, %f1, %f5;\nfma.rn.f32 %f9, %f2, %f6, %f9;\n"
    "fma.rn.f32 %f9, %f3, %f7, %f9;\nfma.rn.f32 %f9, %f4, %f8, %f9;\n"
    "mul.f32 %f10, %f1, %f9;\nmul.f32 %f11, %f2, %f9;\nmul.f32 %f12, %f3, %f9;\n"
    "mul.f32 %f13, %f4, %f9;\nmul.f32 %f10, %f10, %f5;\nmul.f32 %f11, %f11, %f6;\n"
    "mul.f32 %f12, %f12, %f7;\nmul.f32 %f13, %f13, %f8;\n"
    "st.global.v4.f32 [%rd5], {%f10, %f11, %f12, %f13};\n"
    "add.f32 %f14, %f1, %f5;\nadd.f32 %f15, %f2, %f6;\nadd.f32 %f16, %f3, %f7;\n"
    "add.f32 %f17, %f4, %f8;\nst.global.v4.f32 [%rd5+16384], {%f14, %f15, %f16, %f17};\n"
    "sub.f32 %f18, %f1, %f5;\n"
    "st.global.v4.f32 [%rd5+32768], {%f4, %f7, %f9, %f18};\n"
    "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd4+16];\n"
    "add.u32 %r14, %r10, 3;\nadd.u32 %r15, %r11, 3;\nadd.u32 %r16, %r12, 3;\n"
    "add.u32 %r17, %r13, 3;\nst.global.v4.u32 [%rd5+49152], {%r14, %r15, %r16, %r17};\n"
    "add.f32 %f19, %f9, %f3;\nmul.wide.u32 %rd6, %r6, 4;\nadd.u64 %rd7, %rd1, %rd6;\n"
    "st.global.f32 [%rd7+65536], %f19;\n"
    /* the sum of the squares of a row of n float4, and the row by it */
    "mov.f32 %f20, 0f00000000;\nand.b32 %r20, %r2, 31;\nsetp.ge.u32 %p1, %r20, %r1;\n"
    "@%p1 bra SUM;\nmov.u32 %r21, %r20;\n"
    "LOOP:\nmul.wide.u32 %rd8, %r21, 16;\nadd.u64 %rd9, %rd2, %rd8;\n"
    "ld.global.v4.f32 {%f21, %f22, %f23, %f24}, [%rd9];\nmul.f32 %f25, %f22, %f22;\n"
    "fma.rn.f32 %f25, %f21, %f21, %f25;\nfma.rn.f32 %f25, %f23, %f23, %f25;\n"
    "fma.rn.f32 %f25, %f24, %f24, %f25;\nadd.f32 %f20, %f20, %f25;\n"
    "add.u32 %r21, %r21, 32;\nsetp.lt.u32 %p2, %r21, %r1;\n@%p2 bra LOOP;\n"
    "SUM:\nmov.b32 %r22, %f20;\nshfl.sync.bfly.b32 %r23, %r22, 16, 31, -1;\n"
    "mov.b32 %f26, %r23;\nadd.f32 %f27, %f20, %f26;\n"
    "shr.u32 %r24, %r6, 5;\nmul.lo.u32 %r25, %r24, %r1;\nmul.wide.u32 %rd10, %r25, 16;\n"
    "add.u64 %rd11, %rd1, %rd10;\n@%p1 bra DONE;\n"
    "AGAIN:\nmul.wide.u32 %rd12, %r20, 16;\nadd.u64 %rd13, %rd2, %rd12;\n"
    "add.u64 %rd14, %rd11, %rd12;\n"
    "ld.global.v4.f32 {%f31, %f32, %f33, %f34}, [%rd13];\nmul.f32 %f35, %f31, %f27;\n"
    "mul.f32 %f36, %f32, %f27;\nmul.f32 %f37, %f33, %f27;\nmul.f32 %f38, %f34, %f27;\n"
    "st.global.v4.f32 [%rd14+69632], {%f35, %f36, %f37, %f38};\n"
    "add.u32 %r20, %r20, 32;\nsetp.lt.u32 %p3, %r20, %r1;\n@%p3 bra AGAIN;\n"
    "DONE:\nret;\n}\n";

#define WORDS_MAX 65536u
static uint32_t out[2][WORDS_MAX], in[8192];

static const uint32_t blocks[][2] = {{32},    {256},    {1024},   {96},
                                     {64, 2}, {32, 32}, {48, 2},  {16, 4},
                                     {8, 32}, {160, 3}, {512, 2}, {96, 10}};

static void check_block(kernel_unit *const units[2], const uint32_t *block, uint32_t n)
{
    gph_error error = {0};
    for (int path = 0; path < 2; path++) {
        memset(out[path], 0x55, sizeof(out[path]));
        const struct {
            void *out, *in;
            uint32_t n;
        } params = {out[path], in, n};
        const kernel_call call = {.name = "k", .block = {block[0], block[1]}};
        CHECK_OK(kernel_run(units[path], &call, &params, &error), error);
    }
    if (CHECK(memcmp(out[0], out[1], sizeof(out[0])) == 0))
        return;
    for (uint32_t i = 0; i < WORDS_MAX; i++)
        if (out[0][i] != out[1][i]) {
            fprintf(stderr, "block %u x %u, n %u, word %u: %x not %x\n", block[0],
                    block[1], n, i, out[0][i], out[1][i]);
            break;
        }
}

static void open_both(const char *text, kernel_unit **units)
{
    gph_error error = {0};
    units[0] = kernel_open(text, KERNEL_FAST, &error);
    units[1] = kernel_open(text, KERNEL_SLOW, &error);
    CHECK(units[0] && units[1] &&
          soft_code_kernel(units[0]->code, 0)->path == PTX_PATH_FAST);
    CHECK(soft_code_kernel(units[0]->code, 0)->by_warps);
}

static void warps_meet_at_barriers(void)
{
    kernel_unit *units[2];
    open_both(scans, units);
    for (uint32_t i = 0; i < 8192; i++)
        in[i] = i * 2654435761u >> 20;
    for (size_t b = 0; b < sizeof(blocks) / sizeof(blocks[0]); b++) {
        const uint32_t *block = blocks[b], threads = block[0] * (block[1] ? block[1] : 1);
        const uint32_t shape[] = {block[0], block[1] ? block[1] : 1};
        check_block(units, shape, threads);
        check_block(units, shape, 32);
        check_block(units, shape, threads / 64 * 32 + 32);
    }
    kernel_close(units[0]);
    kernel_close(units[1]);
}

static void four_words_a_thread(void)
{
    kernel_unit *units[2];
    open_both(fours, units);
    for (uint32_t i = 0; i < 8192; i++) {
        const float f = (float)(i * 2654435761u >> 12) / 1048576.0f - 0.4f;
        memcpy(&in[i], &f, sizeof(f));
    }
    for (size_t b = 0; b < sizeof(blocks) / sizeof(blocks[0]); b++) {
        const uint32_t shape[] = {blocks[b][0], blocks[b][1] ? blocks[b][1] : 1};
        for (uint32_t n = 1; n < 320; n += n < 30 ? 30 : 97)
            check_block(units, shape, n);
    }
    kernel_close(units[0]);
    kernel_close(units[1]);
}

int main(void)
{
    RUN(warps_meet_at_barriers);
    RUN(four_words_a_thread);
    return test_done();
}
