// SPDX-License-Identifier: Apache-2.0
/* PULL slots: the kernels that copy what is bound.
 *
 * Block (x, y) copies its share of slot y. A single block reads its launch's row itself. Blocks
 * that read one row over the bus wait for each other, 2 us each on an H200, so for several a
 * kernel of one block has put the row's words into the device's memory before. */
#include "replay/copy_body.h"
#include "slot/slots.h"

enum {
    BLOCK_BYTES = 16384, /* 4 vectors of 16 a thread */
    BLOCKS_MAX = 128,
    THREADS_MAX = 256,
    WARP = 32
};

/* More than the 4095 bytes that ISO C promises a literal. */
#pragma GCC diagnostic ignored "-Woverlength-strings"

/* counter: the count of replays, a word, then {to, bytes} a slot. In both kernels thread 0
 * counts the replay once its row was read, if the row is the launch's. */
/* clang-format off */
#define FIND_ROW /* %d27 the row, %d26 its bytes, %d25 the count, %r23 depth */ \
    "ld.param.u64 %d24, [ring];\nld.param.u32 %r23, [depth];\n" \
    "ld.param.u32 %r24, [stride];\nmul.wide.u32 %d26, %r24, 8;\n" \
    "ld.global.u64 %d25, [%d20];\n" \
    "cvt.u32.u64 %r25, %d25;\nsub.u32 %r26, %r23, 1;\nand.b32 %r25, %r25, %r26;\n" \
    "cvt.u64.u32 %d27, %r25;\nmul.lo.u64 %d27, %d27, %d26;\nadd.s64 %d27, %d24, %d27;\n"
#define COUNT_ONE /* `done`, after the rows */ \
    "st.global.u64 [%d20], %d25;\n" \
    "cvt.u64.u32 %d27, %r23;\nmul.lo.u64 %d27, %d27, %d26;\nadd.s64 %d27, %d24, %d27;\n" \
    "membar.sys;\nst.volatile.global.u64 [%d27], %d25;\n"

static const char pull_ptx[] =
    ".version 6.3\n.target sm_70\n.address_size 64\n"
    ".visible .entry gph_slot_row(.param .u64 ring, .param .u64 counter,"
    " .param .u64 words, .param .u32 depth, .param .u32 stride)\n"
    "{\n"
    ".reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .b64 %d<32>;\n"
    "mov.u32 %r4, %tid.x;\nmov.u32 %r5, %ntid.x;\nld.param.u64 %d20, [counter];\n"
    "ld.param.u64 %d21, [words];\n"
    FIND_ROW
    "ld.volatile.global.u64 %d29, [%d27];\n" /* whose row it is */
    "add.s64 %d25, %d25, 1;\nsetp.ne.s64 %p5, %d29, %d25;\nadd.u32 %r6, %r4, 1;\n"
    "NEXT:\nsetp.ge.u32 %p1, %r6, %r24;\n@%p1 bra READ;\n"
    "mul.wide.u32 %d1, %r6, 8;\nadd.s64 %d2, %d27, %d1;\nadd.s64 %d3, %d21, %d1;\n"
    "ld.volatile.global.u64 %d4, [%d2];\nselp.b64 %d4, 0, %d4, %p5;\n"
    "st.global.u64 [%d3+-8], %d4;\nadd.u32 %r6, %r6, %r5;\nbra NEXT;\n"
    "READ:\nbar.sync 0;\nsetp.ne.u32 %p3, %r4, 0;\n@%p3 bra DONE;\n@%p5 bra DONE;\n"
    COUNT_ONE
    "DONE:\nret;\n"
    "}\n"
    ".visible .entry gph_slot_pull(.param .u64 ring, .param .u64 counter,"
    " .param .u64 words, .param .u32 depth, .param .u32 stride)\n"
    "{\n"
    ".reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .b64 %d<32>;\n"
    ".shared .align 8 .b8 source[8];\n"
    "mov.u32 %r4, %tid.x;\nmov.u32 %r1, %ctaid.y;\nld.param.u64 %d20, [counter];\n"
    "mul.wide.u32 %d1, %r1, 16;\nadd.s64 %d2, %d20, %d1;\n"
    "ld.global.u64 %d3, [%d2+16];\n" /* to */
    "ld.global.u64 %d5, [%d2+24];\n" /* bytes */
    "setp.ne.u32 %p3, %r4, 0;\n@%p3 bra READ;\n"
    "ld.param.u64 %d21, [words];\nmul.wide.u32 %d22, %r1, 8;\n"
    "setp.eq.s64 %p4, %d21, 0;\n@%p4 bra ROW;\n"
    "add.s64 %d21, %d21, %d22;\nld.global.u64 %d23, [%d21];\nbra PUT;\n"
    "ROW:\n"
    FIND_ROW
    "ld.volatile.global.u64 %d29, [%d27];\n"
    "ld.volatile.global.u64 %d23, [%d27+8];\n"
    "add.s64 %d25, %d25, 1;\nsetp.ne.s64 %p5, %d29, %d25;\n"
    "selp.b64 %d23, 0, %d23, %p5;\n"
    "PUT:\nst.shared.u64 [source], %d23;\n"
    "READ:\nbar.sync 0;\nld.shared.u64 %d4, [source];\n"
    "@%p3 bra COPY;\n@!%p4 bra COPY;\n@%p5 bra COPY;\n"
    COUNT_ONE
    "COPY:\n"
    "setp.eq.s64 %p1, %d4, 0;\n@%p1 bra DONE;\n"
    "setp.eq.s64 %p1, %d4, %d3;\n@%p1 bra DONE;\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r5, %nctaid.x;\n"
    "cvt.u64.u32 %d7, %r4;\nmad.wide.u32 %d6, %r2, %r3, %d7;\nmul.wide.u32 %d7, %r3, %r5;\n"
    GPHI_COPY_BODY
    "DONE:\nret;\n"
    "}\n";
/* clang-format on */

const gphi_kernel_text gphi_pull_text = {.what = "the kernel that copies into slots",
                                         .ptx = pull_ptx,
                                         .names = {"gph_slot_pull", "gph_slot_row"}};

void gphi_pull_shape(uint64_t largest, unsigned *blocks, unsigned *threads)
{
    const uint64_t shares = (largest + BLOCK_BYTES - 1) / BLOCK_BYTES;
    const uint64_t vectors = (largest + 15) / 16;
    *blocks = shares < BLOCKS_MAX ? (unsigned)shares : BLOCKS_MAX;
    *threads = vectors < THREADS_MAX ? ((unsigned)vectors + WARP - 1) / WARP * WARP
                                     : THREADS_MAX;
}
