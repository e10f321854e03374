// SPDX-License-Identifier: Apache-2.0
/* The entry to lowering: which family of instructions takes one, and whether what the
 * family understood of it is all that is written.
 *
 *   ptx_can_lower(), ptx_lower()        here
 *        the family's table             lower_integer.c ... lower_misc.c
 *             operands, lines of IR     lower_address.c, operand.c, emit.c */
#include "softcuda/ptx/lower/lower.h"

/* An opcode that is in several is the first one's: arithmetic is chosen by type. */
static ptx_lower_fn *const *const families[] = {
    ptx_low_integer,  ptx_low_float,  ptx_low_bits,    ptx_low_compare,
    ptx_low_convert,  ptx_low_memory, ptx_low_atomic,  ptx_low_video,
    ptx_low_mbarrier, ptx_low_misc,   ptx_low_texture,
};

static ptx_lower_fn *family_of(const ptx_low *l)
{
    const uint16_t opcode = l->insn->opcode;
    const ptx_type type = ptx_type_at(l, 0);
    if (ptx_is_half(type) && ptx_low_half[opcode])
        return ptx_low_half[opcode];
    if ((ptx_is_float(type) || type == PTX_F32X2) && ptx_low_float[opcode])
        return ptx_low_float[opcode];
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        if (families[i][opcode])
            return families[i][opcode];
    return NULL;
}

static ptx_low begin(ptx_emit *emit, const ptx_module *module,
                     const ptx_function *function, const ptx_insn *insn)
{
    ptx_low l = {.emit = emit,
                 .module = module,
                 .function = function,
                 .insn = insn,
                 .word = ptx_opcode_name((ptx_opcode)insn->opcode)};
    for (uint32_t i = 0; i < insn->operand_count; i++) {
        const ptx_operand *operand = &function->operands[insn->operand + i];
        if (l.count == LOW_OPERANDS_MAX) {
            l.too_many = true;
            break;
        }
        l.operands[l.count++] = operand;
        if (operand->kind == PTX_OPERAND_VECTOR)
            i += operand->index;
    }
    return l;
}

static bool run(ptx_low *l)
{
    ptx_lower_fn *family = family_of(l);
    if (!family)
        return ptx_refuse(l, "this build does not have the instruction");
    if (l->too_many)
        return ptx_refuse(l, "too many operands");
    if (!family(l) || l->reason)
        return ptx_refuse(l, PTX_NO_FORM);
    if (l->used != (uint16_t)((1u << l->insn->mod_count) - 1))
        return ptx_refuse(l, "a modifier that this build does not have here");
    return true;
}

bool ptx_can_lower(const ptx_module *module, const ptx_function *function,
                   const ptx_insn *insn, const char **reason)
{
    ptx_low l = begin(NULL, module, function, insn);
    const bool can = run(&l);
    if (!can && reason)
        *reason = l.reason;
    return can;
}

void ptx_lower(ptx_emit *emit, const ptx_insn *insn)
{
    ptx_low l = begin(emit, emit->module, emit->function, insn);
    (void)run(&l); /* cannot fail: asked before */
}
