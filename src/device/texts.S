// SPDX-License-Identifier: Apache-2.0
/* Kernels of kernels/ as texts with a zero at their end: of loops, dispatch and ranks. */
#if defined(__aarch64__)
#define IS_OBJECT %object
#else
#define IS_OBJECT @object
#endif

.macro embed name, file
    .global \name
    .hidden \name
    .type \name, IS_OBJECT
\name:
    .incbin "\file"
    .byte 0
.endm

    .section .rodata
    embed gphi_loop_ptx, GPH_LOOP_PTX
    embed gphi_loop_device_ptx, GPH_LOOP_DEVICE_PTX
    embed gphi_dispatch_ptx, GPH_DISPATCH_PTX
    embed gphi_ranks_ptx, GPH_RANKS_PTX
    .section .note.GNU-stack, "", %progbits
