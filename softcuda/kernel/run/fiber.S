// SPDX-License-Identifier: Apache-2.0
/* Switching stacks. Saves what the calling convention asks a callee to save.
 *
 *   void soft_stack_switch(void **save, void *to)
 *   int soft_stack_guard(fn, argument, void **save): 0, or 1 if left
 *   void soft_stack_leave(void *sp): makes that call return 1 */

#if defined(__x86_64__)
    .text
    .globl soft_stack_switch
    .hidden soft_stack_switch
    .type soft_stack_switch, @function
    .p2align 4
soft_stack_switch:
    pushq %rbp
    pushq %rbx
    pushq %r15
    pushq %r14
    pushq %r13
    pushq %r12
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r12
    popq %r13
    popq %r14
    popq %r15
    popq %rbx
    popq %rbp
    ret
    .size soft_stack_switch, . - soft_stack_switch

    .globl soft_stack_entry
    .hidden soft_stack_entry
    .type soft_stack_entry, @function
    .p2align 4
soft_stack_entry:
    .cfi_startproc
    .cfi_undefined %rip
    movq %r14, %rdi
    callq *%r15
    ud2
    .cfi_endproc
    .size soft_stack_entry, . - soft_stack_entry

    .globl soft_stack_guard
    .hidden soft_stack_guard
    .type soft_stack_guard, @function
    .p2align 4
soft_stack_guard:
    .cfi_startproc
    pushq %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbp, 0
    pushq %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbx, 0
    pushq %r15
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %r15, 0
    pushq %r14
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %r14, 0
    pushq %r13
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %r13, 0
    pushq %r12
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %r12, 0
    pushq %rdx
    .cfi_adjust_cfa_offset 8
    movq %rsp, (%rdx)
    movq %rdi, %rax
    movq %rsi, %rdi
    callq *%rax
    xorl %eax, %eax
.Lreturn:
    popq %rdx
    .cfi_adjust_cfa_offset -8
    movq $0, (%rdx)
    popq %r12
    .cfi_adjust_cfa_offset -8
    popq %r13
    .cfi_adjust_cfa_offset -8
    popq %r14
    .cfi_adjust_cfa_offset -8
    popq %r15
    .cfi_adjust_cfa_offset -8
    popq %rbx
    .cfi_adjust_cfa_offset -8
    popq %rbp
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_endproc
    .size soft_stack_guard, . - soft_stack_guard

    .globl soft_stack_leave
    .hidden soft_stack_leave
    .type soft_stack_leave, @function
    .p2align 4
soft_stack_leave:
    movq %rdi, %rsp
    movl $1, %eax
    cld
    jmp .Lreturn
    .size soft_stack_leave, . - soft_stack_leave

#elif defined(__aarch64__)
    .text
    .macro save_registers
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    .endm
    .macro restore_registers
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    .endm

    .globl soft_stack_switch
    .hidden soft_stack_switch
    .type soft_stack_switch, %function
    .p2align 4
soft_stack_switch:
    save_registers
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    restore_registers
    ret
    .size soft_stack_switch, . - soft_stack_switch

    .globl soft_stack_entry
    .hidden soft_stack_entry
    .type soft_stack_entry, %function
    .p2align 4
soft_stack_entry:
    mov x0, x20
    blr x19
    brk #1
    .size soft_stack_entry, . - soft_stack_entry

    .globl soft_stack_guard
    .hidden soft_stack_guard
    .type soft_stack_guard, %function
    .p2align 4
soft_stack_guard:
    save_registers
    sub sp, sp, #16
    str x2, [sp]
    mov x9, sp
    str x9, [x2]
    mov x9, x0
    mov x0, x1
    blr x9
    mov w0, #0
.Lreturn:
    ldr x2, [sp]
    str xzr, [x2]
    add sp, sp, #16
    restore_registers
    ret
    .size soft_stack_guard, . - soft_stack_guard

    .globl soft_stack_leave
    .hidden soft_stack_leave
    .type soft_stack_leave, %function
    .p2align 4
soft_stack_leave:
    mov sp, x0
    mov w0, #1
    b .Lreturn
    .size soft_stack_leave, . - soft_stack_leave
#endif

    .section .note.GNU-stack, "", %progbits
