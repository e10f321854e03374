// SPDX-License-Identifier: Apache-2.0
/* PTX that several tests load. */
#ifndef CONFORMANCE_KERNELS_H
#define CONFORMANCE_KERNELS_H

#define PTX_HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

/* nothing(); add(float *c, const float *a, const float *b, unsigned n); store(unsigned
 * *p, unsigned v); and the variables counter (4 bytes, starts at 7) and table (16 bytes).
 */
static const char kernels_ptx[] = PTX_HEAD
    ".visible .global .align 4 .u32 counter = 7;\n"
    ".visible .const .align 4 .u32 table[4] = {1, 2, 3, 4};\n"
    ".visible .entry nothing() { ret; }\n"
    ".visible .entry add(.param .u64 c, .param .u64 a, .param .u64 b, .param .u32 n)\n"
    "{\n"
    "  .reg .pred %p<2>; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .b64 %d<8>;\n"
    "  ld.param.u64 %d1, [c]; ld.param.u64 %d2, [a]; ld.param.u64 %d3, [b];\n"
    "  ld.param.u32 %r1, [n];\n"
    "  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "  mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "  setp.ge.u32 %p1, %r5, %r1;\n"
    "  @%p1 bra done;\n"
    "  mul.wide.u32 %d4, %r5, 4;\n"
    "  add.s64 %d5, %d2, %d4; add.s64 %d6, %d3, %d4; add.s64 %d7, %d1, %d4;\n"
    "  ld.global.f32 %f1, [%d5]; ld.global.f32 %f2, [%d6];\n"
    "  add.f32 %f3, %f1, %f2;\n"
    "  st.global.f32 [%d7], %f3;\n"
    "done:\n"
    "  ret;\n"
    "}\n"
    ".visible .entry store(.param .u64 p, .param .u32 v)\n"
    "{\n"
    "  .reg .b32 %r<2>; .reg .b64 %d<2>;\n"
    "  ld.param.u64 %d1, [p]; ld.param.u32 %r1, [v];\n"
    "  st.global.u32 [%d1], %r1;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry bump()\n"
    "{\n"
    "  .reg .b32 %r<3>;\n"
    "  ld.global.u32 %r1, [counter]; add.u32 %r2, %r1, 1; st.global.u32 [counter], %r2;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry small(.param .u64 p) .maxntid 64, 1, 1\n"
    "{\n"
    "  ret;\n"
    "}\n"
    ".visible .entry shared(.param .u64 p)\n"
    "{\n"
    "  .shared .align 4 .b8 room[1024];\n"
    "  .reg .b32 %r<3>; .reg .b64 %d<2>;\n"
    "  ld.param.u64 %d1, [p];\n"
    "  mov.u32 %r1, 42; st.shared.u32 [room], %r1; ld.shared.u32 %r2, [room];\n"
    "  st.global.u32 [%d1], %r2;\n"
    "  ret;\n"
    "}\n";
#endif
