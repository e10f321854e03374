// SPDX-License-Identifier: Apache-2.0
/* Adding an instruction to a body, and operands that are sums: `mov.u32 %r1, %r2 + 4`
 * stands for an add in front and a register of its own. */
#include "softcuda/ptx/parse/parse.h"

gph_status ptx_add_insn(ptx_parser *parser, const ptx_insn *insn, const ptx_token *opcode)
{
    ptx_body *body = &parser->body;
    if (body->insns.count == PTX_INSTRUCTIONS_MAX)
        return ptx_fail_at(parser, opcode, NULL,
                           "more than %u instructions in a function",
                           PTX_INSTRUCTIONS_MAX);
    ptx_insn *to = ptx_vec_add(parser->arena, &body->insns, sizeof(*to));
    if (!to)
        return ptx_fail_memory(parser);
    *to = *insn;
    return GPH_OK;
}

static ptx_operand *operand_at(ptx_parser *parser, uint32_t index)
{
    return (ptx_operand *)parser->body.operands.items + index;
}

/* A register like that one, and its number. */
static gph_status add_register(ptx_parser *parser, uint32_t like, const ptx_token *opcode,
                               uint32_t *out)
{
    ptx_body *body = &parser->body;
    const ptx_register from = ((const ptx_register *)body->registers.items)[like];
    const bool is_number = from.type >= PTX_U16 && from.type <= PTX_B64 &&
                           ptx_type_bytes((ptx_type)from.type) > 1;
    if (!is_number || body->registers.count == PTX_REGISTERS_MAX)
        return ptx_fail_at(parser, opcode, NULL, "a number is added to register %s",
                           from.name);
    ptx_register *fresh = ptx_vec_add(parser->arena, &body->registers, sizeof(*fresh));
    if (!fresh)
        return ptx_fail_memory(parser);
    *fresh = from;
    *out = body->registers.count - 1;
    return GPH_OK;
}

static gph_status add_sum(ptx_parser *parser, const ptx_insn *user, uint32_t at,
                          const ptx_token *opcode)
{
    ptx_body *body = &parser->body;
    const ptx_operand sum = *operand_at(parser, at);
    uint32_t fresh;
    GPHI_TRY(add_register(parser, sum.index, opcode, &fresh));
    const ptx_register *registers = body->registers.items;
    const uint32_t bytes = ptx_type_bytes((ptx_type)registers[fresh].type);
    ptx_insn insn = *user;
    insn.opcode = PTX_OP_ADD;
    insn.type_count = 1;
    insn.types[0] = (uint8_t)(bytes == 2 ? PTX_U16 : bytes == 4 ? PTX_U32 : PTX_U64);
    insn.mod_count = 0;
    insn.space = insn.space2 = PTX_SPACE_GENERIC;
    insn.guarded = 0;
    insn.operand = body->operands.count;
    insn.operand_count = 3;
    const ptx_operand operands[] = {{.kind = PTX_OPERAND_REG, .index = fresh},
                                    {.kind = PTX_OPERAND_REG, .index = sum.index},
                                    {.kind = PTX_OPERAND_INT, .imm = sum.imm}};
    for (uint32_t i = 0; i < 3; i++) {
        ptx_operand *to = ptx_vec_add(parser->arena, &body->operands, sizeof(*to));
        if (!to)
            return ptx_fail_memory(parser);
        *to = operands[i];
    }
    operand_at(parser, at)->index = fresh;
    operand_at(parser, at)->imm = 0;
    return ptx_add_insn(parser, &insn, opcode);
}

gph_status ptx_add_sums(ptx_parser *parser, const ptx_insn *insn, const ptx_token *opcode)
{
    for (uint32_t i = 0; i < insn->operand_count; i++) {
        const ptx_operand *o = operand_at(parser, insn->operand + i);
        if (o->kind == PTX_OPERAND_REG && o->imm != 0 && o->select == 0)
            GPHI_TRY(add_sum(parser, insn, insn->operand + i, opcode));
    }
    return GPH_OK;
}
