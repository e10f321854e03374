// SPDX-License-Identifier: Apache-2.0
/* The kernels of the programs: one thread each, as nvcc writes the calls (-rdc=true). */
#ifndef DIFFERENTIAL_DEVICE_KERNELS_H
#define DIFFERENTIAL_DEVICE_KERNELS_H

#define HEAD ".version 8.0\n.target sm_70\n.address_size 64\n"
#define REGS "{\n  .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %d<12>;\n"
#define END "  ret;\n}\n"
/* %r1 into the log at %d9: its count, its hash, and its place among the last entries. */
#define LOG_R1                                                                           \
    "  ld.global.u32 %r5, [%d9]; add.u32 %r6, %r5, 1; st.global.u32 [%d9], %r6;\n"       \
    "  ld.global.u32 %r7, [%d9+4]; mad.lo.u32 %r7, %r7, 31, %r1;\n"                      \
    "  st.global.u32 [%d9+4], %r7;\n"                                                    \
    "  rem.u32 %r8, %r5, 46; mul.wide.u32 %d10, %r8, 4; add.s64 %d11, %d9, %d10;\n"      \
    "  st.global.u32 [%d11+8], %r1;\n"
#define CONDITION                                                                        \
    "  { .param .b64 h; .param .b32 c; st.param.b64 [h], %d1; st.param.b32 [c], %r1;\n"  \
    "    call.uni cudaGraphSetConditional, (h, c); }\n"
/* Launches %d1 into %d2 unless the guard at %d3 is used up. */
#define LAUNCH_D1                                                                        \
    "  ld.global.u32 %r2, [%d3]; setp.eq.u32 %p1, %r2, 0; @%p1 bra done;\n"              \
    "  sub.u32 %r2, %r2, 1; st.global.u32 [%d3], %r2;\n"                                 \
    "  { .param .b64 e; .param .b64 s; .param .b32 r;\n"                                 \
    "    st.param.b64 [e], %d1; st.param.b64 [s], %d2;\n"                                \
    "    call.uni (r), cudaGraphLaunch, (e, s); ld.param.b32 %r1, [r]; }\n" LOG_R1       \
    "done:\n"

static const char work_ptx[] = HEAD
    ".extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);\n"

    ".visible .entry mix(.param .u64 dst, .param .u64 src, .param .u32 v)\n" REGS
    "  ld.param.u64 %d1, [dst]; ld.param.u64 %d2, [src]; ld.param.u32 %r1, [v];\n"
    "  ld.global.u32 %r2, [%d1]; ld.global.u32 %r3, [%d2];\n"
    "  mad.lo.u32 %r2, %r2, 5, %r3; add.u32 %r2, %r2, %r1; st.global.u32 [%d1], "
    "%r2;\n" END

    ".visible .entry take(.param .u64 dst, .param .u64 src, .param .u32 v)\n" REGS
    "  ld.param.u64 %d1, [dst]; ld.param.u64 %d2, [src]; ld.param.u32 %r1, [v];\n"
    "  ld.global.u32 %r3, [%d2]; rem.u32 %r3, %r3, %r1; st.global.u32 [%d1], %r3;\n" END

    ".visible .entry note(.param .u64 log, .param .u32 v)\n" REGS
    "  ld.param.u64 %d9, [log]; ld.param.u32 %r1, [v];\n" LOG_R1 END

    ".visible .entry blocks(.param .u64 dst)\n" REGS
    "  ld.param.u64 %d1, [dst]; atom.global.add.u32 %r1, [%d1], 1;\n" END

    ".visible .entry decide(.param .u64 handle, .param .u64 src, .param .u32 v)\n" REGS
    "  ld.param.u64 %d1, [handle]; ld.param.u64 %d2, [src]; ld.param.u32 %r2, [v];\n"
    "  ld.global.u32 %r1, [%d2]; rem.u32 %r1, %r1, %r2;\n" CONDITION END

    ".visible .entry count(.param .u64 handle, .param .u64 dst)\n" REGS
    "  ld.param.u64 %d1, [handle]; ld.param.u64 %d2, [dst];\n"
    "  ld.global.u32 %r1, [%d2]; setp.eq.u32 %p1, %r1, 0; @%p1 bra set;\n"
    "  sub.u32 %r1, %r1, 1; st.global.u32 [%d2], %r1;\n"
    "set:\n" CONDITION END;

static const char launch_ptx[] = HEAD
    ".extern .func (.param .b32 r) cudaGraphLaunch(.param .b64 e, .param .b64 s);\n"

    ".visible .entry fire(.param .u64 exec, .param .u64 stream, "
    ".param .u64 guard, .param .u64 log)\n" REGS
    "  ld.param.u64 %d4, [exec]; ld.global.u64 %d1, [%d4]; ld.param.u64 %d2, [stream];\n"
    "  ld.param.u64 %d3, [guard]; ld.param.u64 %d9, [log];\n" LAUNCH_D1 END

    ".visible .entry self(.param .u64 stream, .param .u64 guard, .param .u64 log)\n" REGS
    "  mov.u64 %d1, %current_graph_exec; ld.param.u64 %d2, [stream];\n"
    "  ld.param.u64 %d3, [guard]; ld.param.u64 %d9, [log];\n" LAUNCH_D1 END;

static const char change_ptx[] = HEAD
    ".extern .func (.param .b32 r) cudaGraphKernelNodeSetParam("
    ".param .b64 n, .param .b64 o, .param .b64 v, .param .b64 s);\n"
    ".extern .func (.param .b32 r) cudaGraphKernelNodeSetEnabled("
    ".param .b64 n, .param .b32 e);\n"
    ".extern .func (.param .b32 r) cudaGraphKernelNodeSetGridDim("
    ".param .b64 n, .param .align 4 .b8 d[12]);\n"
    ".extern .func (.param .b32 r) cudaGraphKernelNodeUpdatesApply("
    ".param .b64 u, .param .b64 c);\n"

    ".visible .entry param(.param .u64 node, .param .u64 offset, "
    ".param .u64 src, .param .u64 bytes, .param .u64 log)\n" REGS
    "  ld.param.u64 %d5, [node]; ld.global.u64 %d1, [%d5]; ld.param.u64 %d2, [offset];\n"
    "  ld.param.u64 %d3, [src]; ld.param.u64 %d4, [bytes]; ld.param.u64 %d9, [log];\n"
    "  { .param .b64 n; .param .b64 o; .param .b64 v; .param .b64 s; .param .b32 r;\n"
    "    st.param.b64 [n], %d1; st.param.b64 [o], %d2; st.param.b64 [v], %d3;\n"
    "    st.param.b64 [s], %d4;\n"
    "    call.uni (r), cudaGraphKernelNodeSetParam, (n, o, v, s);\n"
    "    ld.param.b32 %r1, [r]; }\n" LOG_R1 END

    ".visible .entry enable(.param .u64 node, .param .u64 src, .param .u64 log)\n" REGS
    "  ld.param.u64 %d5, [node]; ld.global.u64 %d1, [%d5]; ld.param.u64 %d2, [src];\n"
    "  ld.param.u64 %d9, [log]; ld.global.u32 %r2, [%d2]; and.b32 %r2, %r2, 1;\n"
    "  { .param .b64 n; .param .b32 e; .param .b32 r;\n"
    "    st.param.b64 [n], %d1; st.param.b32 [e], %r2;\n"
    "    call.uni (r), cudaGraphKernelNodeSetEnabled, (n, e); ld.param.b32 %r1, [r]; "
    "}\n" LOG_R1 END

    ".visible .entry grid(.param .u64 node, .param .u64 src, .param .u64 log)\n" REGS
    "  ld.param.u64 %d5, [node]; ld.global.u64 %d1, [%d5]; ld.param.u64 %d2, [src];\n"
    "  ld.param.u64 %d9, [log]; ld.global.u32 %r2, [%d2]; rem.u32 %r2, %r2, 5;\n"
    "  add.u32 %r2, %r2, 1; mov.u32 %r3, 1;\n"
    "  { .param .b64 n; .param .align 4 .b8 d[12]; .param .b32 r;\n"
    "    st.param.b64 [n], %d1; st.param.b32 [d], %r2; st.param.b32 [d+4], %r3;\n"
    "    st.param.b32 [d+8], %r3;\n"
    "    call.uni (r), cudaGraphKernelNodeSetGridDim, (n, d); ld.param.b32 %r1, [r]; "
    "}\n" LOG_R1 END

    ".visible .entry apply(.param .u64 updates, .param .u64 count, "
    ".param .u64 log)\n" REGS
    "  ld.param.u64 %d1, [updates]; ld.param.u64 %d2, [count]; ld.param.u64 %d9, [log];\n"
    "  { .param .b64 u; .param .b64 c; .param .b32 r;\n"
    "    st.param.b64 [u], %d1; st.param.b64 [c], %d2;\n"
    "    call.uni (r), cudaGraphKernelNodeUpdatesApply, (u, c); ld.param.b32 %r1, [r];\n"
    "  }\n" LOG_R1 END;
#endif
