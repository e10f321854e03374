// SPDX-License-Identifier: Apache-2.0
/* The text of the kernel that changes nodes. */
#include "device/patcher.h"

/* A thread a node, and again. All read the state before thread 0 writes its head; a word
 * of a node is read and written by the thread that has the node. The volatile look at the
 * ring is as in src/slot/feed.c: the host wrote it before the launch. */
const gphi_kernel_text gphi_patch_text = {
    .what = "the kernel that changes nodes",
    .names = {"gph_patch"},
    .ptx = ".version 7.0\n.target sm_70\n.address_size 64\n"
           ".extern .func (.param .b32 r) cudaGraphKernelNodeSetParam(\n"
           "  .param .b64 n, .param .b64 o, .param .b64 v, .param .b64 s);\n"
           ".extern .func (.param .b32 r) cudaGraphKernelNodeSetGridDim(\n"
           "  .param .b64 n, .param .align 4 .b8 d[12]);\n"
           ".visible .entry gph_patch(.param .u64 table, .param .u64 ring,\n"
           "  .param .u64 state, .param .u32 rows, .param .u32 depth)\n"
           "{\n"
           "  .reg .pred %p<8>;\n  .reg .b32 %r<16>;\n  .reg .b64 %d<24>;\n"
           "  ld.param.u64 %d1, [table];\n  ld.param.u64 %d2, [ring];\n"
           "  ld.param.u64 %d3, [state];\n"
           "  ld.param.u32 %r1, [rows];\n  ld.param.u32 %r2, [depth];\n"
           "  mov.u32 %r3, %tid.x;\n  mov.u32 %r4, %ntid.x;\n"
           "  ld.global.u64 %d4, [%d3];\n"   /* launches before this one */
           "  ld.global.u64 %d5, [%d3+8];\n" /* serial of what nodes have */
           "  mul.wide.u32 %d6, %r2, 8;\n  add.u64 %d6, %d2, %d6;\n" /* after the ring */
           "  cvt.u64.u32 %d7, %r2;\n  sub.u64 %d7, %d7, 1;\n  and.b64 %d7, %d4, %d7;\n"
           "  shl.b64 %d7, %d7, 3;\n  add.u64 %d7, %d2, %d7;\n"
           "  ld.volatile.global.u64 %d8, [%d7];\n" /* the block */
           "  ld.global.u64 %d9, [%d8];\n"
           "  bar.sync 0;\n"
           "  setp.ne.u32 %p1, %r3, 0;\n  @%p1 bra HEAD;\n"
           "  add.u64 %d10, %d4, 1;\n  st.global.u64 [%d3], %d10;\n"
           "  st.global.u64 [%d3+8], %d9;\n"
           "HEAD:\n"
           "  setp.eq.u64 %p2, %d5, %d9;\n  @%p2 bra DONE;\n"
           "NEXT:\n"
           "  setp.ge.u32 %p3, %r3, %r1;\n  @%p3 bra DONE;\n"
           "  mul.wide.u32 %d10, %r3, 24;\n  add.u64 %d10, %d1, %d10;\n"
           "  ld.global.u64 %d11, [%d10];\n" /* node */
           "  ld.global.u32 %r5, [%d10+8];\n  cvt.u64.u32 %d12, %r5;\n"
           "  add.u64 %d13, %d8, %d12;\n  add.u64 %d14, %d3, %d12;\n" /* from, to */
           "  mov.u64 %d15, %d13;\n"
           "  ld.global.u32 %r6, [%d10+12];\n  cvt.u64.u32 %d16, %r6;\n" /* bytes */
           "  ld.global.u32 %r7, [%d10+16];\n"                           /* words */
           "  mov.u32 %r8, 0;\n  mov.u32 %r9, 0;\n" /* differs, answer */
           "WORD:\n"
           "  setp.eq.u32 %p4, %r7, 0;\n  @%p4 bra WORDS;\n"
           "  ld.global.u64 %d17, [%d13];\n  ld.global.u64 %d18, [%d14];\n"
           "  setp.eq.u64 %p5, %d17, %d18;\n  @%p5 bra SAME;\n"
           "  st.global.u64 [%d14], %d17;\n  mov.u32 %r8, 1;\n"
           "SAME:\n"
           "  add.u64 %d13, %d13, 8;\n  add.u64 %d14, %d14, 8;\n  sub.u32 %r7, %r7, 1;\n"
           "  bra WORD;\n"
           "WORDS:\n"
           "  setp.eq.u32 %p4, %r8, 0;\n  @%p4 bra GRID;\n"
           "  mov.u64 %d19, 0;\n"
           "  { .param .b64 n;\n  .param .b64 o;\n  .param .b64 v;\n  .param .b64 s;\n"
           "    .param .b32 r;\n"
           "    st.param.b64 [n], %d11;\n    st.param.b64 [o], %d19;\n"
           "    st.param.b64 [v], %d15;\n    st.param.b64 [s], %d16;\n"
           "    call (r), cudaGraphKernelNodeSetParam, (n, o, v, s);\n"
           "    ld.param.b32 %r9, [r];\n  }\n"
           "GRID:\n"
           "  ld.global.u64 %d17, [%d13];\n  ld.global.u64 %d18, [%d14];\n"
           "  ld.global.u64 %d20, [%d13+8];\n  ld.global.u64 %d21, [%d14+8];\n"
           "  setp.eq.u64 %p5, %d17, %d18;\n  setp.eq.and.u64 %p5, %d20, %d21, %p5;\n"
           "  @%p5 bra ANSWER;\n"
           "  st.global.u64 [%d14], %d17;\n  st.global.u64 [%d14+8], %d20;\n"
           "  cvt.u32.u64 %r10, %d17;\n  shr.u64 %d17, %d17, 32;\n"
           "  cvt.u32.u64 %r11, %d17;\n  cvt.u32.u64 %r12, %d20;\n"
           "  { .param .b64 n;\n  .param .align 4 .b8 d[12];\n  .param .b32 r;\n"
           "    st.param.b64 [n], %d11;\n    st.param.b32 [d], %r10;\n"
           "    st.param.b32 [d+4], %r11;\n    st.param.b32 [d+8], %r12;\n"
           "    call (r), cudaGraphKernelNodeSetGridDim, (n, d);\n"
           "    ld.param.b32 %r13, [r];\n  }\n"
           "  or.b32 %r9, %r9, %r13;\n"
           "ANSWER:\n"
           "  setp.eq.u32 %p6, %r9, 0;\n  @%p6 bra GOOD;\n"
           "  cvt.u64.u32 %d22, %r9;\n  st.volatile.global.u64 [%d6+64], %d22;\n"
           "GOOD:\n"
           "  add.u32 %r3, %r3, %r4;\n  bra NEXT;\n"
           "DONE:\n"
           "  bar.sync 0;\n"
           "  mov.u32 %r3, %tid.x;\n"
           "  setp.ne.u32 %p7, %r3, 0;\n  @%p7 bra OUT;\n"
           "  add.u64 %d10, %d4, 1;\n  membar.sys;\n"
           "  st.volatile.global.u64 [%d6], %d10;\n"
           "OUT:\n"
           "  ret;\n"
           "}\n",
};
