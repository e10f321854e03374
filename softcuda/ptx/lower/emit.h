// SPDX-License-Identifier: Apache-2.0
/* Writing LLVM IR for one PTX instruction at a time: what the shape of the code (cuts,
 * regions, thread loops: shape*.c) and the meaning of an instruction (lower*.c) share.
 *
 * Every PTX register is a stack slot `%r.<index>` (an alloca in the entry block of the
 * LLVM function, promoted to SSA by LLVM): integers and bits by size (i8 ... i64, i128),
 * f16, bf16 and b16 as i16, packed 16-bit pairs as i32, f32 as float, f64 as double,
 * .pred as i1. Lowering loads operands, computes, stores results. The shape decides where
 * the slots live and what is copied to and from the context arrays around a region.
 *
 * Two more kinds of slot are the shape's to allocate and lowering's to use:
 *  - `%cc`, an i1: the carry flag of add.cc, addc ... (in every LLVM function);
 *  - `%p.<index>`: the bytes of the function's own .param variable `index` (without
 *    PTX_VAR_LOCAL), for parameters and return parameters of device functions and the
 *    .param variables of a body. A kernel's parameters lie at `params` + offset instead.
 * In .param space an address held in a register is a host address. */
#ifndef SOFT_PTX_LOWER_EMIT_H
#define SOFT_PTX_LOWER_EMIT_H

#include "base/text.h"
#include "softcuda/ptx/compile.h"

/* An SSA value or a constant, as it is written in IR: "%v17", "5", "0x3FF0000000000000". */
typedef struct ptx_value {
    char name[40];
} ptx_value;

typedef struct ptx_emit ptx_emit;

struct ptx_emit {
    const ptx_module *module;
    const ptx_function *function;
    const ptx_compile_options *options;
    gphi_text *out;
    uint32_t next; /* of %v<next> and of labels; unique in the LLVM function */
    /* Appended to every load and store of PTX memory in a thread loop, "" elsewhere:
     * ", !llvm.access.group !3". */
    const char *access;
    /* Set by the shape before it lowers an instruction. The names below are values of the
     * current thread: `block` (ptr to ptx_block), `zero` (ptr), `shared` (ptr),
     * `thread_index` (i32, linear), `local` (ptr, this thread's local memory),
     * `params` (ptr to the kernel's parameters or, in a device function, unused). */
    ptx_value block, zero, shared, thread_index, local, params;
    /* The shape answers, in terms of the thread that is being emitted. */
    ptx_value (*special_register)(ptx_emit *emit,
                                  ptx_sreg sreg); /* i32, or i64 by sreg */
    /* The address of a variable (`index` with PTX_VAR_LOCAL for the function's own) in
     * its own state space, as i64: shared and local: an offset; global and const:
     * absolute; param: asked for a kernel's parameters only, the offset in `params`. */
    ptx_value (*variable_address)(ptx_emit *emit, uint32_t index);
    /* Whether the register's slot is a scalar of the function, `%u.7`, and not the
     * thread's own, `%r.7`. NULL: all are the thread's own. */
    bool (*is_scalar)(const ptx_emit *emit, uint32_t reg);
    /* Stores are done only if it is true, else what is there is written again; or "". */
    ptx_value only_if;
    /* Where such a store goes then, if that is not "". */
    ptx_value aside;
    void *shape; /* the shape's own state */
};

/* ---- lowering: lower*.c ------------------------------------------------------------ */

typedef enum ptx_role {
    PTX_ROLE_PLAIN,   /* ptx_lower() writes it */
    PTX_ROLE_BRANCH,  /* bra, brx.idx: the shape's */
    PTX_ROLE_EXIT,    /* ret, exit: the shape's */
    PTX_ROLE_CALL,    /* the shape's, but for the intrinsics of ptx_lower_intrinsic() */
    PTX_ROLE_BARRIER, /* bar.*, barrier.*, a cut of the block */
    PTX_ROLE_WARP,    /* shfl, vote, match, redux, activemask, elect, bar.warp.sync */
    PTX_ROLE_UNSUPPORTED /* not in this build */
} ptx_role;

/* What kind of instruction it is. `reason`, if not NULL, says in static text what is
 * unsupported. An instruction is PLAIN only if ptx_lower() can write that very form. */
ptx_role ptx_insn_role(const ptx_module *module, const ptx_function *function,
                       const ptx_insn *insn, const char **reason);

/* Writes a PLAIN instruction, without its guard (the shape branches around it, or
 * predicates it). Never fails for what ptx_insn_role() called PLAIN. */
void ptx_lower(ptx_emit *emit, const ptx_insn *insn);

/* vprintf, malloc, free, __assertfail ... called by `insn`: true if it was one, and
 * written. */
bool ptx_lower_intrinsic(ptx_emit *emit, const ptx_insn *insn);

/* Appends what the IR in `out` uses of the instruction library and of LLVM's intrinsics:
 * declarations of @llvm.*, definitions of @x_*. To be called once, after the last
 * function; nobody else declares @llvm.*. */
void ptx_lower_library(gphi_text *out, uint32_t half);

/* Registers that an instruction reads and writes, in any order, each at most once a list.
 * The guard counts as read; a guarded write counts as written, and as read too (the old
 * value may stay). Lists have room for PTX_OPERANDS_MAX. */
void ptx_insn_registers(const ptx_function *function, const ptx_insn *insn,
                        uint32_t *reads, uint32_t *read_count, uint32_t *writes,
                        uint32_t *write_count);

/* Facts for the shape's analyses. */
bool ptx_insn_reads_memory(const ptx_insn *insn);
bool ptx_insn_writes_memory(const ptx_insn *insn); /* stores, atomics, calls */
/* A load whose value may change by itself: volatile, relaxed, acquire, atomics. */
bool ptx_insn_is_volatile(const ptx_insn *insn);
/* A volatile store to what is, or may be, shared memory. Much old code lets a warp work
 * on such memory without a barrier: nothing promises it, and GPUs act in lockstep there.
 * So all lanes do what is before it, then store, then go on. */
bool ptx_insn_keeps_lockstep(const ptx_module *module, const ptx_function *function,
                             const ptx_insn *insn);
/* Same result for every thread of a block if all register operands are uniform and no
 * special register but the uniform ones is read. False for everything that reads memory:
 * which loads are uniform (kernel parameters, constants) the shape knows. */
bool ptx_insn_keeps_uniformity(const ptx_function *function, const ptx_insn *insn);

/* ---- pieces that both sides use: emit.c -------------------------------------------- */

void ptx_line(ptx_emit *emit, const char *format, ...) GPH_PRINTF(2, 3);
/* "%v12 = format" */
ptx_value ptx_let(ptx_emit *emit, const char *format, ...) GPH_PRINTF(2, 3);
void ptx_linev(ptx_emit *emit, const char *format, va_list args);
ptx_value ptx_letv(ptx_emit *emit, const char *format, va_list args);
uint32_t ptx_new_label(ptx_emit *emit);
/* Loads the field at `offset` of the structure `base` points to. */
ptx_value ptx_load_field(ptx_emit *emit, const char *type, const char *base,
                         size_t offset);
const char *ptx_llvm_type(ptx_type type); /* "i32", "float", ... */
ptx_value ptx_fresh(ptx_emit *emit);      /* "%v17", not yet defined */
/* Loads a register slot; LLVM type as above. */
ptx_value ptx_load_register(ptx_emit *emit, uint32_t reg);
void ptx_store_register(ptx_emit *emit, uint32_t reg, ptx_value value);
/* An operand as a value of PTX type `type`, converted bit by bit (register size may be
 * larger: PTX lets ld/st/cvt use wider registers). Handles registers, literals, special
 * registers, variable addresses; addresses and vectors are lower_memory.c's. */
ptx_value ptx_operand_value(ptx_emit *emit, const ptx_operand *operand, ptx_type type);
/* Stores `value` of PTX type `type` to a register operand; a wider register is extended
 * (sign-extended for signed types, else zero). SINK is ignored. */
void ptx_store_operand(ptx_emit *emit, const ptx_operand *operand, ptx_type type,
                       ptx_value value);

#endif
