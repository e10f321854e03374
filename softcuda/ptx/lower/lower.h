// SPDX-License-Identifier: Apache-2.0
/* What the lower_*.c files share. Every lowering function is called in two ways: to ask
 * (low->emit == NULL: nothing is written, values are empty) and to write. It returns
 * false for a form that it cannot write, and consumes what it understands of the
 * modifiers with ptx_mod(); a modifier that nobody consumed makes the form unsupported.
 * So what ptx_insn_role() calls PLAIN and what ptx_lower() writes are decided by the same
 * code. */
#ifndef SOFT_PTX_LOWER_LOWER_H
#define SOFT_PTX_LOWER_LOWER_H

#include "softcuda/ptx/lower/emit.h"

#define LOW_OPERANDS_MAX 8

typedef struct ptx_low {
    ptx_emit *emit; /* NULL: only asks */
    const ptx_module *module;
    const ptx_function *function;
    const ptx_insn *insn;
    const ptx_operand *operands[LOW_OPERANDS_MAX]; /* vectors count as one */
    uint32_t count;
    bool too_many;
    bool is_strong;     /* the access to come: see PTX_CHECK_STRONG */
    uint16_t used;      /* bit i: mods[i] is understood */
    const char *word;   /* the opcode as written: "add" */
    const char *reason; /* why it cannot be written; once set, the form is refused */
} ptx_low;

typedef bool ptx_lower_fn(ptx_low *l);

#define PTX_NO_FORM "this build does not have this form of the instruction"

/* Can ptx_lower() write it? The question behind ptx_insn_role(). */
bool ptx_can_lower(const ptx_module *module, const ptx_function *function,
                   const ptx_insn *insn, const char **reason);

/* False for a call of an intrinsic with other arguments than it takes. */
bool ptx_intrinsic_fits(const ptx_module *module, const ptx_function *function,
                        const ptx_insn *insn);

/* Sets the reason once; returns false. */
bool ptx_refuse(ptx_low *l, const char *reason);

/* ---- modifiers and types */
bool ptx_mod(ptx_low *l, ptx_modifier modifier);      /* is it there? consumes it */
ptx_type ptx_type_at(const ptx_low *l, uint32_t nth); /* PTX_NONE after the last */
bool ptx_is_int(ptx_type type);                       /* u, s 8 ... 64 */
bool ptx_is_bits(ptx_type type);                      /* b8 ... b64 */
bool ptx_is_number(ptx_type type);                    /* one of these two */
bool ptx_is_float(ptx_type type);                     /* f32, f64 */
bool ptx_is_signed(ptx_type type);                    /* s8 ... s64 */
bool ptx_is_half(ptx_type type);         /* f16, bf16 and their packed forms */
uint32_t ptx_bits(ptx_type type);        /* 8 * ptx_type_bytes */
const char *ptx_int_name(uint32_t bits); /* "i32" */
/* The first written one of a run of modifiers in ptx.h's order, PTX_MOD_UNKNOWN if none
 * is; consumes it. */
ptx_modifier ptx_one_of(ptx_low *l, ptx_modifier first, ptx_modifier last);
/* Consumes all of a run: they change nothing here. */
void ptx_skip(ptx_low *l, ptx_modifier first, ptx_modifier last);

uint32_t ptx_vector_length(ptx_low *l); /* .v2 .v4 .v8; 0: none written */

/* ---- operands: true if operand `nth` can be read (written) as `type` */
bool ptx_check_in(ptx_low *l, uint32_t nth, ptx_type type);
bool ptx_check_out(ptx_low *l, uint32_t nth, ptx_type type);
/* The elements of a vector operand; for 0 elements the operand itself. */
bool ptx_check_vector(ptx_low *l, uint32_t nth, uint32_t elements, ptx_type type,
                      bool is_out);
/* One out and `inputs` in of `type`, and nothing else. */
bool ptx_check_all(ptx_low *l, ptx_type type, uint32_t inputs);
ptx_value ptx_in(ptx_low *l, uint32_t nth, ptx_type type);
void ptx_out(ptx_low *l, uint32_t nth, ptx_type type, ptx_value value);

/* ---- writing */
ptx_value ptx_name(const char *format, ...) GPH_PRINTF(1, 2);           /* a constant */
ptx_value ptx_op(ptx_low *l, const char *format, ...) GPH_PRINTF(2, 3); /* %v = format */
void ptx_do(ptx_low *l, const char *format, ...) GPH_PRINTF(2, 3);      /* format */
/* Is the function in the library? */
bool ptx_has_library(const char *name);
/* Calls library function `name`; the form is refused if there is none. `result` and
 * `args` are "void", "float", "i32" ...; at most 6 arguments. */
typedef struct ptx_arg {
    const char *type;
    ptx_value value;
} ptx_arg;
ptx_value ptx_call_library(ptx_low *l, const char *name, const char *result,
                           const ptx_arg *args, uint32_t count);
/* Calls @llvm.<name> of that type, with `count` arguments (up to 3) of it. */
ptx_value ptx_call_llvm(ptx_low *l, const char *name, ptx_type type,
                        const ptx_value *args, uint32_t count);

/* Bits of `from` bits to an integer of `to` bits: truncates, or extends. */
ptx_value ptx_resize(ptx_low *l, ptx_value value, uint32_t from, uint32_t to, bool sign);
/* Two values of 16 bits as one of 32. */
ptx_value ptx_join(ptx_low *l, ptx_value low, ptx_value high);

/* ---- families: what each opcode is written by, NULL: it is not one of the family's */
typedef ptx_lower_fn *const ptx_family[PTX_OP_COUNT];
extern ptx_family ptx_low_integer, ptx_low_float, ptx_low_half, ptx_low_bits,
    ptx_low_compare, ptx_low_convert, ptx_low_memory, ptx_low_atomic, ptx_low_video,
    ptx_low_mbarrier, ptx_low_misc, ptx_low_texture;
/* Forms of one family's opcodes that another writes. */
ptx_lower_fn ptx_low_pack, ptx_low_copy_arrive, ptx_low_narrow, ptx_low_copy_bulk,
    ptx_low_tensor;

/* lower_mbarrier.c: .multicast::cluster with the mask at operand `nth`, as what
 * ptx_rt_multicast returns, and the bytes that have come to the objects of these blocks. */
ptx_value ptx_low_blocks(ptx_low *l, uint32_t nth);
void ptx_low_complete(ptx_low *l, ptx_value object, ptx_value bytes, ptx_value blocks);

/* lower_address.c: an address operand as `ptr`, with a check call where asked for, which
 * then says where the bytes are. */
typedef struct ptx_place {
    ptx_value pointer;
    bool is_shared;  /* a block's own memory: needs no atomic instructions */
    bool is_private; /* a parameter or local memory */
    bool is_fixed;   /* a parameter of the kernel: nothing changes it while it runs */
} ptx_place;
/* Whether a generic address (i64) lies in the block's shared memory (i1). */
ptx_value ptx_in_shared(ptx_low *l, ptx_value address);
/* The pointer to use, once an access is found good. `bytes` is PTX_CHECK_... too. */
ptx_value ptx_add_check(ptx_low *l, ptx_value pointer, ptx_value bytes);
bool ptx_address(ptx_low *l, uint32_t nth, ptx_space space, uint32_t bytes, bool write,
                 ptx_place *out);

#endif
