// SPDX-License-Identifier: Apache-2.0
/* Barriers and warp operations taken apart: which operand means what.
 *
 * PTX leaves operands out from the end and from the middle (bar.sync a; bar.red d, a, b,
 * p; shfl with or without a predicate), so they are taken one by one in the order of the
 * form. What is NULL afterwards was not written. Both paths, and the question whether a
 * kernel can be cut at all, read barriers from here. */
#include "softcuda/ptx/flow/flow.h"

typedef struct operands {
    const ptx_operand *list;
    uint32_t count, at;
} operands;

static const ptx_operand *take(operands *o)
{
    return o->at < o->count ? &o->list[o->at++] : NULL;
}

static uint32_t left(const operands *o)
{
    return o->count - o->at;
}

static void cut_barrier(const ptx_insn *insn, operands *o, ptx_cut_form *cut)
{
    cut->kind = SHAPE_CUT_SYNC;
    cut->cluster = ptx_has(insn, PTX_MOD_CLUSTER);
    if (ptx_has(insn, PTX_MOD_WARP)) {
        cut->kind = SHAPE_CUT_WARPSYNC;
        cut->mask = take(o);
        return;
    }
    if (ptx_has(insn, PTX_MOD_ARRIVE))
        cut->kind = SHAPE_CUT_ARRIVE;
    if (!ptx_has(insn, PTX_MOD_RED)) {
        cut->id = take(o);
        cut->threads = take(o);
        return;
    }
    cut->kind = SHAPE_CUT_REDUCE;
    cut->mode = ptx_has(insn, PTX_MOD_POPC) ? 1 : ptx_has(insn, PTX_MOD_AND) ? 2 : 3;
    cut->out = take(o);
    cut->id = take(o);
    if (left(o) > 1)
        cut->threads = take(o);
    cut->value = take(o);
    cut->type = PTX_PRED;
}

static void cut_shfl(const ptx_insn *insn, operands *o, ptx_cut_form *cut)
{
    static const ptx_modifier modes[] = {PTX_MOD_UP, PTX_MOD_DOWN, PTX_MOD_BFLY,
                                         PTX_MOD_IDX};
    cut->kind = SHAPE_CUT_SHFL;
    for (uint32_t i = 0; i < 4; i++)
        if (ptx_has(insn, modes[i]))
            cut->mode = i;
    cut->type = PTX_B32;
    cut->value = take(o);
    cut->b = take(o);
    cut->c = take(o);
    cut->mask = take(o);
}

static void cut_vote(const ptx_insn *insn, operands *o, ptx_cut_form *cut)
{
    static const ptx_modifier modes[] = {PTX_MOD_ALL, PTX_MOD_ANY, PTX_MOD_UNI,
                                         PTX_MOD_BALLOT};
    cut->kind = SHAPE_CUT_VOTE;
    for (uint32_t i = 0; i < 4; i++)
        if (ptx_has(insn, modes[i]))
            cut->mode = i;
    cut->type = PTX_PRED;
    cut->value = take(o);
    cut->mask = take(o);
}

static uint32_t redux_mode(const ptx_insn *insn)
{
    const bool is_signed = insn->types[0] == PTX_S32;
    if (ptx_has(insn, PTX_MOD_MIN))
        return is_signed ? 3 : 1;
    if (ptx_has(insn, PTX_MOD_MAX))
        return is_signed ? 4 : 2;
    if (ptx_has(insn, PTX_MOD_AND))
        return 5;
    if (ptx_has(insn, PTX_MOD_OR))
        return 6;
    return ptx_has(insn, PTX_MOD_XOR) ? 7 : 0;
}

/* red has no result, that of atom is read by nobody. */
static void cut_sum(const ptx_insn *insn, operands *o, ptx_cut_form *cut)
{
    cut->kind = SHAPE_CUT_SUM;
    cut->mode = ptx_has(insn, PTX_MOD_SYS);
    cut->type = PTX_F32;
    if (insn->opcode == PTX_OP_ATOM)
        (void)take(o);
    cut->b = take(o);
    cut->value = take(o);
}

static void cut_warp(const ptx_insn *insn, operands *o, ptx_cut_form *cut)
{
    cut->type = insn->type_count > 0 ? (ptx_type)insn->types[0] : PTX_B32;
    switch ((ptx_opcode)insn->opcode) {
    case PTX_OP_SHFL: cut_shfl(insn, o, cut); break;
    case PTX_OP_VOTE: cut_vote(insn, o, cut); break;
    case PTX_OP_MATCH:
        cut->kind = SHAPE_CUT_MATCH;
        cut->mode = ptx_has(insn, PTX_MOD_ALL);
        cut->value = take(o);
        cut->mask = take(o);
        break;
    case PTX_OP_REDUX:
        cut->kind = SHAPE_CUT_REDUX;
        cut->mode = redux_mode(insn);
        cut->value = take(o);
        cut->mask = take(o);
        break;
    case PTX_OP_ELECT:
        cut->kind = SHAPE_CUT_ELECT;
        cut->mask = take(o);
        break;
    case PTX_OP_ACTIVEMASK: cut->kind = SHAPE_CUT_ACTIVE; break;
    default: cut->kind = SHAPE_CUT_MATRIX; break;
    }
}

/* The number that a register always is: compilers write `mov r, 16` and shuffle by r. */
static const ptx_operand *number_of(const ptx_shape *s, const ptx_operand *o)
{
    if (!o || o->kind != PTX_OPERAND_REG || o->negate || s->regs[o->index].def_count != 1)
        return o;
    const ptx_insn *def = &s->function->insns[s->regs[o->index].def];
    const ptx_operand *from = &s->function->operands[def->operand];
    return def->opcode == PTX_OP_MOV && !def->guarded && def->operand_count == 2 &&
                   from[1].kind == PTX_OPERAND_INT
               ? &from[1]
               : o;
}

ptx_cut_form ptx_cut_of(const ptx_shape *s, uint32_t i)
{
    const ptx_insn *insn = &s->function->insns[i];
    operands o = {&s->function->operands[insn->operand], insn->operand_count, 0};
    ptx_cut_form cut = {0};
    if (insn->opcode == PTX_OP_BAR || insn->opcode == PTX_OP_BARRIER) {
        cut_barrier(insn, &o, &cut);
        return cut;
    }
    if (s->insns[i].is_sum) {
        cut_sum(insn, &o, &cut);
        return cut;
    }
    const ptx_operand *out = take(&o);
    cut.out = out;
    if (out && out->pair)
        cut.out_pred = take(&o);
    const ptx_cut_form outputs = cut;
    cut_warp(insn, &o, &cut);
    cut.out = outputs.out;
    cut.out_pred = outputs.out_pred;
    cut.mask = number_of(s, cut.mask);
    if (cut.kind == SHAPE_CUT_SHFL) {
        cut.b = number_of(s, cut.b);
        cut.c = number_of(s, cut.c);
    }
    return cut;
}

bool ptx_cut_is_whole(const ptx_cut_form *cut)
{
    if (cut->kind != SHAPE_CUT_SYNC && cut->kind != SHAPE_CUT_REDUCE)
        return false;
    if (cut->threads)
        return false;
    return !cut->id || (cut->id->kind == PTX_OPERAND_INT && cut->id->imm == 0);
}
