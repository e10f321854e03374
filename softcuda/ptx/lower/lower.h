// SPDX-License-Identifier: Apache-2.0
/* What the lower_*.c files share. Every lowering function is called in two ways: to ask
 * (low->emit == NULL: nothing is written, values are empty) and to write. It returns
 * false for a form that it cannot write, and consumes what it understands of the
 * modifiers with low_mod(); a modifier that nobody consumed makes the form unsupported.
 * So what ptx_insn_role() calls PLAIN and what ptx_lower() writes are decided by the same
 * code. */
#ifndef SOFT_PTX_LOWER_LOWER_H
#define SOFT_PTX_LOWER_LOWER_H

#include "softcuda/ptx/lower/emit.h"

#define LOW_OPERANDS_MAX 8

typedef struct low {
    ptx_emit *emit; /* NULL: only asks */
    const ptx_module *module;
    const ptx_function *function;
    const ptx_insn *insn;
    const ptx_operand *operands[LOW_OPERANDS_MAX]; /* vectors count as one */
    uint32_t count;
    bool too_many;
    bool is_strong; /* the access to come: see PTX_CHECK_STRONG */
    uint16_t used;  /* bit i: mods[i] is understood */
    const char *reason;
} low;

typedef bool low_fn(low *l);

/* Can ptx_lower() write it? The question behind ptx_insn_role(). */
bool low_supports(const ptx_module *module, const ptx_function *function,
                  const ptx_insn *insn, const char **reason);

/* False for a call of an intrinsic with other arguments than it takes. */
bool low_intrinsic_fits(const ptx_module *module, const ptx_function *function,
                        const ptx_insn *insn);

/* Sets the reason once; returns false. */
bool low_fail(low *l, const char *reason);

/* ---- modifiers and types */
bool low_mod(low *l, ptx_modifier modifier);   /* is it there? consumes it */
ptx_type low_type(const low *l, uint32_t nth); /* PTX_NONE behind the last */
bool low_is_int(ptx_type type);                /* u, s 8 ... 64 */
bool low_is_bits(ptx_type type);               /* b8 ... b64 */
bool low_is_signed(ptx_type type);             /* s8 ... s64 */
bool low_is_half(ptx_type type);               /* f16, bf16 and their packed forms */
uint32_t low_bits(ptx_type type);              /* 8 * ptx_type_bytes */
const char *low_int(uint32_t bits);            /* "i32" */
typedef enum low_round { LOW_RN, LOW_RZ, LOW_RM, LOW_RP, LOW_NO_ROUND } low_round;
low_round low_rounding(low *l); /* consumes .rn .rz .rm .rp */

/* ---- operands: true if operand `nth` can be read (written) as `type` */
bool low_check_in(low *l, uint32_t nth, ptx_type type);
bool low_check_out(low *l, uint32_t nth, ptx_type type);
/* One out and `inputs` in of `type`, and nothing else. */
bool low_check(low *l, ptx_type type, uint32_t inputs);
ptx_value low_in(low *l, uint32_t nth, ptx_type type);
void low_out(low *l, uint32_t nth, ptx_type type, ptx_value value);

/* ---- writing */
ptx_value low_name(const char *format, ...) GPH_PRINTF(1, 2);       /* a constant */
ptx_value low_op(low *l, const char *format, ...) GPH_PRINTF(2, 3); /* %v = format */
void low_do(low *l, const char *format, ...) GPH_PRINTF(2, 3);      /* format */
/* Is the function in the library? */
bool low_has_library(const char *name);
/* Calls library function `name`; false (and a reason) if there is none. `result` and
 * `args` are "float", "i32" ...; at most 6 arguments. */
typedef struct low_arg {
    const char *type;
    ptx_value value;
} low_arg;
bool low_call(low *l, const char *name, const char *result, const low_arg *args,
              uint32_t count, ptx_value *out);

/* Bits of `from` bits to an integer of `to` bits: truncates, or extends. */
ptx_value low_resize(low *l, ptx_value value, uint32_t from, uint32_t to, bool sign);
ptx_value low_bitcast(low *l, const char *from, ptx_value value, const char *to);

/* ---- families */
low_fn low_integer, low_float, low_convert, low_compare, low_memory, low_atomic, low_misc,
    low_bits_family, low_carry, low_mbarrier, low_copy_arrive, low_video, low_pack;

/* lower_memory.c: an address operand as `ptr`, with a check call where asked for, which
 * then says where the bytes are. */
typedef struct low_place {
    ptx_value pointer;
    bool is_shared;  /* a block's own memory: needs no atomic instructions */
    bool is_private; /* a parameter or local memory */
} low_place;
/* lower_misc.c: whether a generic address (i64) lies in the block's shared memory (i1).
 */
ptx_value low_in_shared(low *l, ptx_value address);
bool low_address(low *l, uint32_t nth, ptx_space space, uint32_t bytes, bool write,
                 low_place *out);

#endif
