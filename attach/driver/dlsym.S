// SPDX-License-Identifier: Apache-2.0
/* dlsym(): what attach_pick() does not answer goes on to the C library's own, by a jump,
 * so that it sees the caller's return address: RTLD_NEXT and RTLD_DEFAULT depend on it. */
    .text
    .globl dlsym
    .type dlsym, %function
    .hidden attach_pick
    .hidden attach_true_dlsym
dlsym:
#if defined(__x86_64__)
    .cfi_startproc
    endbr64
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    call attach_pick
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    cmpq $1, %rax /* not ours */
    je 1f
    ret
1:  jmp *attach_true_dlsym(%rip)
    .cfi_endproc
#elif defined(__aarch64__)
    .cfi_startproc
    hint #34
    stp x29, x30, [sp, #-32]!
    .cfi_adjust_cfa_offset 32
    .cfi_rel_offset x30, 8
    stp x0, x1, [sp, #16]
    bl attach_pick
    mov x9, x0
    ldp x0, x1, [sp, #16]
    ldp x29, x30, [sp], #32
    .cfi_restore x30
    .cfi_adjust_cfa_offset -32
    cmp x9, #1
    b.eq 1f
    mov x0, x9
    ret
1:  adrp x9, attach_true_dlsym
    ldr x9, [x9, #:lo12:attach_true_dlsym]
    br x9
    .cfi_endproc
#endif
    .size dlsym, .-dlsym
    .section .note.GNU-stack, "", %progbits
