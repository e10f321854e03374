// SPDX-License-Identifier: Apache-2.0
/* Kernels of the tests of --advise's windows. */
#ifndef TESTS_ATTACH_STEP_PTX_H
#define TESTS_ATTACH_STEP_PTX_H

/* p[i] = p[i] * a + b; and: waits for nothing, sets a word of host memory. */
static const char step_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry step(.param .u64 p, .param .u32 a, .param .u32 b)\n"
    "{ .reg .b32 %r<6>; .reg .b64 %d<4>;\n"
    "  ld.param.u64 %d1, [p]; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b];\n"
    "  mov.u32 %r3, %tid.x; mul.wide.u32 %d2, %r3, 4; add.s64 %d3, %d1, %d2;\n"
    "  ld.global.u32 %r4, [%d3]; mad.lo.u32 %r5, %r4, %r1, %r2;\n"
    "  st.global.u32 [%d3], %r5; ret; }\n"
    ".visible .entry put(.param .u64 p, .param .u32 v)\n"
    "{ .reg .b32 %r<2>; .reg .b64 %d<2>; ld.param.u64 %d1, [p]; ld.param.u32 %r1, [v];\n"
    "  st.volatile.global.u32 [%d1], %r1; ret; }\n";
#endif
