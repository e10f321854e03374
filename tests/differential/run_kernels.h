// SPDX-License-Identifier: Apache-2.0
/* The kernels of the programs: one block, 16 threads a cell (atomic: 64). Every result is
 * an integer or a float that each operation rounds once. */
#ifndef RUN_KERNELS_H
#define RUN_KERNELS_H

#define ENTRY_REGS                                                                       \
    "  .reg .b32 %r<12>; .reg .b64 %d<8>; .reg .f32 %f<8>;\n"                            \
    "  mov.u32 %r0, %tid.x; mul.wide.u32 %d0, %r0, 4;\n"                                 \
    "  ld.param.u64 %d1, [dst]; add.s64 %d1, %d1, %d0;\n"
#define LOAD_A                                                                           \
    "  ld.param.u64 %d2, [a]; add.s64 %d2, %d2, %d0; ld.global.u32 %r2, [%d2];\n"
#define LOAD_B                                                                           \
    "  ld.param.u64 %d3, [b]; add.s64 %d3, %d3, %d0; ld.global.u32 %r3, [%d3];\n"

static const char run_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry store(.param .u64 dst, .param .u32 v)\n{\n" ENTRY_REGS
    "  ld.param.u32 %r1, [v]; mad.lo.u32 %r4, %r0, 7, %r1;\n"
    "  st.global.u32 [%d1], %r4;\n  ret;\n}\n"

    ".visible .entry mix(.param .u64 dst, .param .u64 a, .param .u32 v)\n{\n" ENTRY_REGS
        LOAD_A "  ld.param.u32 %r1, [v]; ld.global.u32 %r4, [%d1];\n"
    "  mul.lo.u32 %r4, %r4, 5; add.u32 %r4, %r4, %r2; add.u32 %r4, %r4, %r1;\n"
    "  st.global.u32 [%d1], %r4;\n  ret;\n}\n"

    ".visible .entry sum(.param .u64 dst, .param .u64 a, .param .u64 b)\n{\n" ENTRY_REGS
        LOAD_A LOAD_B "  mad.lo.u32 %r4, %r3, 3, %r2;\n"
    "  st.global.u32 [%d1], %r4;\n  ret;\n}\n"

    ".visible .entry real(.param .u64 dst, .param .u64 a, .param .u64 b)\n{\n" ENTRY_REGS
        LOAD_A LOAD_B "  or.b32 %r3, %r3, 1;\n"
    "  cvt.rn.f32.u32 %f0, %r2; cvt.rn.f32.u32 %f1, %r3;\n"
    "  div.rn.f32 %f2, %f0, %f1; sqrt.rn.f32 %f3, %f2; fma.rn.f32 %f4, %f3, %f0, %f1;\n"
    "  st.global.f32 [%d1], %f4;\n  ret;\n}\n"

    ".visible .entry atomics(.param .u64 dst, .param .u32 v)\n{\n"
    "  .reg .b32 %r<6>; .reg .b64 %d<4>;\n"
    "  mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 15; mul.wide.u32 %d0, %r1, 4;\n"
    "  ld.param.u64 %d1, [dst]; add.s64 %d1, %d1, %d0;\n"
    "  ld.param.u32 %r2, [v]; shr.u32 %r3, %r0, 4; add.u32 %r2, %r2, %r3;\n"
    "  atom.global.add.u32 %r4, [%d1], %r2;\n  ret;\n}\n";

static const char *const run_kernel_names[] = {"store", "mix", "sum", "real", "atomics"};
#endif
