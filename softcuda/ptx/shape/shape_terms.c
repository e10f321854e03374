// SPDX-License-Identifier: Apache-2.0
/* Sums of uniform terms and an index of the thread: those of the first and the last thread
 * say what all threads have: how instructions are recognized as such, and how they are
 * compared. For shape_guard.c and shape_jam.c. */
#include "softcuda/ptx/shape/guard.h"

#define DEPTH_MAX 6u

/* ---- recognizing ------------------------------------------------------------------ */

/* Of the block or the launch. */
static bool is_shared(const ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_SREG &&
           (operand->index == PTX_SREG_CTAID_X || operand->index == PTX_SREG_CTAID_Y ||
            operand->index == PTX_SREG_CTAID_Z || operand->index == PTX_SREG_NTID_X ||
            operand->index == PTX_SREG_NTID_Y || operand->index == PTX_SREG_NTID_Z);
}

bool ptx_guard_is_uniform(const ptx_fast *f, const ptx_operand *operand)
{
    if (operand->kind == PTX_OPERAND_INT || is_shared(operand))
        return true;
    if (operand->kind != PTX_OPERAND_REG || operand->negate ||
        f->s->regs[operand->index].divergent)
        return false;
    const uint32_t type = f->s->function->registers[operand->index].type;
    return ptx_fast_definition(f, operand->index) && ptx_type_bytes((ptx_type)type) == 4;
}

static int axis_of(const ptx_operand *operand)
{
    if (operand->kind != PTX_OPERAND_SREG)
        return -1;
    switch ((ptx_sreg)operand->index) {
    case PTX_SREG_TID_X: return 0;
    case PTX_SREG_TID_Y: return 1;
    case PTX_SREG_TID_Z: return 2;
    default: return -1;
    }
}

/* A sum has room for PTX_GUARD_TERMS_MAX; a longer one is not a requirement. */
static bool add_term(ptx_guard_terms *to, const ptx_operand *a, const ptx_operand *b)
{
    if (to->count == PTX_GUARD_TERMS_MAX)
        return false;
    to->terms[to->count][0] = a;
    to->terms[to->count++][1] = b;
    return true;
}

/* A register that has made its step of this round before instruction `use`. */
static bool has_stepped(const ptx_fast *f, uint32_t reg, const ptx_insn *use)
{
    const uint32_t at = (uint32_t)(use - f->s->function->insns);
    const ptx_flow_block *b = &f->s->blocks[f->s->insns[at].block];
    bool stepped = false;
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        if (ptx_is_step(f->s, i, reg)) {
            if (stepped || i > at)
                return false;
            stepped = true;
        }
    return stepped;
}

/* A register that makes its step of this round after instruction `use`. */
static bool will_step(const ptx_fast *f, uint32_t reg, const ptx_insn *use)
{
    const uint32_t at = (uint32_t)(use - f->s->function->insns);
    const ptx_flow_block *b = &f->s->blocks[f->s->insns[at].block];
    for (uint32_t i = b->first; i < at; i++)
        if (ptx_is_step(f->s, i, reg))
            return false;
    return true;
}

/* What gives the operand of `use` its value: the one definition of its register, on all ways
 * or on the only way there; or, of one that is a base and a uniform offset, and of the
 * comparison itself, what sets the base. */
static const ptx_insn *source(const ptx_fast *f, const ptx_operand *operand,
                              const ptx_insn *use, bool compares, ptx_guard_terms *to)
{
    if (operand->kind != PTX_OPERAND_REG || operand->negate)
        return NULL;
    const ptx_flow_reg *r = &f->s->regs[operand->index];
    const ptx_insn *insns = f->s->function->insns, *from = NULL;
    if (ptx_fast_definition(f, operand->index))
        return ptx_fast_definition(f, operand->index);
    if (r->home == SHAPE_AFFINE && compares && to->offset == SHAPE_NONE &&
        (to->before ? will_step : has_stepped)(f, operand->index, use)) {
        to->offset = operand->index;
        from = &insns[r->base];
    } else {
        const uint32_t near =
            ptx_local_def(f->s, (uint32_t)(use - insns), operand->index);
        from = near == SHAPE_NONE ? NULL : &insns[near];
    }
    return from && !from->guarded ? from : NULL;
}

/* The operand of `use`, or what a register that has other meanings later was set to on the
 * way there: `mov r, %ctaid.x`, and a loop counts r down. */
static const ptx_operand *meaning(const ptx_fast *f, const ptx_operand *operand,
                                  const ptx_insn *use)
{
    const ptx_insn *insns = f->s->function->insns;
    if (operand->kind != PTX_OPERAND_REG || operand->negate ||
        ptx_fast_definition(f, operand->index))
        return operand;
    const uint32_t near = ptx_local_def(f->s, (uint32_t)(use - insns), operand->index);
    if (near == SHAPE_NONE || insns[near].opcode != PTX_OP_MOV || insns[near].guarded ||
        insns[near].mod_count != 0 || insns[near].operand_count != 2)
        return operand;
    const ptx_operand *from = &ptx_fast_operands(f, &insns[near])[1];
    return is_shared(from) ? from : operand;
}

/* What the low half of a whole number is made of, where `insn` made it wide before. */
static const ptx_operand *low_half(const ptx_fast *f, const ptx_insn *insn)
{
    for (int k = 0; k < 2; k++) {
        if (!insn || insn->opcode != PTX_OP_CVT || insn->mod_count != 0 ||
            insn->type_count != 2)
            return NULL;
        for (int t = 0; t < 2; t++)
            if (insn->types[t] != (t == k ? PTX_U32 : PTX_U64) &&
                insn->types[t] != (t == k ? PTX_S32 : PTX_S64))
                return NULL;
        const ptx_operand *o = &ptx_fast_operands(f, insn)[1];
        if (k == 1)
            return o;
        insn = o->kind == PTX_OPERAND_REG && !o->negate ? ptx_fast_definition(f, o->index)
                                                        : NULL;
    }
    return NULL;
}

/* Adds what `operand` of `use` is to the sum: one operand is followed further, the others
 * are uniform. */
bool ptx_guard_add(const ptx_fast *f, const ptx_operand *operand, const ptx_insn *use,
                   ptx_guard_terms *to)
{
    for (uint32_t depth = 0; depth < DEPTH_MAX; depth++) {
        operand = meaning(f, operand, use);
        if (ptx_guard_is_uniform(f, operand))
            return add_term(to, operand, NULL);
        if (axis_of(operand) >= 0) {
            if (to->axis >= 0)
                return false;
            to->axis = axis_of(operand);
            return true;
        }
        if (operand->kind == PTX_OPERAND_REG && !operand->negate &&
            ptx_is_bare_lane(f->s, operand->index)) {
            if (to->axis >= 0)
                return false;
            to->axis = 3;
            return true;
        }
        const ptx_insn *insn = source(f, operand, use, depth == 0, to);
        use = insn;
        if (low_half(f, insn)) {
            operand = low_half(f, insn);
            use = ptx_fast_definition(f, ptx_fast_operands(f, insn)[1].index);
            continue;
        }
        if (!insn || !ptx_fast_is_32_bits(insn))
            return false;
        const ptx_operand *o = ptx_fast_operands(f, insn);
        const ptx_operand *a = insn->operand_count > 2 ? meaning(f, &o[1], insn) : &o[1],
                          *b = insn->operand_count > 2 ? meaning(f, &o[2], insn) : NULL;
        if (insn->opcode == PTX_OP_MOV && insn->mod_count == 0 &&
            insn->operand_count == 2) {
            operand = &o[1];
        } else if (insn->opcode == PTX_OP_ADD && insn->mod_count == 0) {
            const bool first = ptx_guard_is_uniform(f, a);
            if (!first && !ptx_guard_is_uniform(f, b))
                return false;
            if (!add_term(to, first ? a : b, NULL))
                return false;
            operand = first ? &o[2] : &o[1];
        } else if (insn->opcode == PTX_OP_MAD && insn->mod_count == 1 &&
                   ptx_has(insn, PTX_MOD_LO) && ptx_guard_is_uniform(f, a) &&
                   ptx_guard_is_uniform(f, b)) {
            if (!add_term(to, a, b))
                return false;
            operand = &o[3];
        } else {
            return false;
        }
    }
    return false;
}

/* ---- writing ---------------------------------------------------------------------- */

/* At the time when the region starts: offsets are as the scalar part left them. */
ptx_value ptx_guard_sum(ptx_fast *f, const ptx_guard_terms *from)
{
    ptx_value total = {"0"};
    if (from->offset != SHAPE_NONE)
        total = from->before ? ptx_let(&f->emit, "add i32 0, %%moved.%u.%u", f->region,
                                       from->offset)
                             : ptx_let(&f->emit, "load i32, ptr %%off.%u", from->offset);
    for (uint32_t i = 0; i < from->count; i++) {
        ptx_value term = ptx_operand_value(&f->emit, from->terms[i][0], PTX_U32);
        if (from->terms[i][1]) {
            const ptx_value by = ptx_operand_value(&f->emit, from->terms[i][1], PTX_U32);
            term = ptx_let(&f->emit, "mul i32 %s, %s", term.name, by.name);
        }
        total = ptx_let(&f->emit, "add i32 %s, %s", total.name, term.name);
    }
    return total;
}

/* `low` as it is `rounds` later, and whether it gets there without wrapping. */
ptx_value ptx_guard_later(ptx_fast *f, bool is_signed, const ptx_guard_terms *from,
                          uint32_t rounds, ptx_value *low)
{
    ptx_emit *e = &f->emit;
    ptx_value holds = {"true"};
    if (rounds == 0 || from->offset == SHAPE_NONE)
        return holds;
    const ptx_value now = ptx_let(e, "load i32, ptr %%off.%u", from->offset);
    const ptx_value step =
        ptx_let(e, "sub i32 %s, %%moved.%u.%u", now.name, f->region, from->offset);
    const ptx_value way = ptx_let(e, "mul i32 %s, %u", step.name, rounds);
    const ptx_value later = ptx_let(e, "add i32 %s, %s", low->name, way.name);
    const ptx_value small =
        ptx_let(e, "icmp ult i32 %s, %u", step.name, 0x40000000u / rounds);
    const ptx_value ahead = ptx_let(e, "icmp %s i32 %s, %s", is_signed ? "sle" : "ule",
                                    low->name, later.name);
    holds = ptx_let(e, "and i1 %s, %s", small.name, ahead.name);
    *low = later;
    return holds;
}

/* Whether the first and the last thread give `value`, and the index does not wrap: then
 * all in between do. With `rounds`, so many rounds later: given that it holds now, then
 * in all rounds up to there. */
ptx_value ptx_guard_holds(ptx_fast *f, const ptx_guard *r, uint32_t rounds)
{
    ptx_emit *e = &f->emit;
    const bool left = r->left.axis >= 0;
    const int axis = left ? r->left.axis : r->right.axis;
    const ptx_guard_terms *moving = left ? &r->left : &r->right;
    const ptx_value sum_low = ptx_guard_sum(f, moving);
    ptx_value low =
        ptx_let(e, "add i32 %s, %s", sum_low.name, ptx_fast_first_index(f, axis).name);
    ptx_value holds = ptx_guard_later(f, r->is_signed, moving, rounds, &low);
    const ptx_value bound = ptx_guard_sum(f, left ? &r->right : &r->left);
    const ptx_value last = ptx_fast_index_range(f, axis);
    const ptx_value high = ptx_let(e, "add i32 %s, %s", low.name, last.name);
    if (r->differs) { /* the value is not among those of the threads */
        const ptx_value away = ptx_let(e, "sub i32 %s, %s", bound.name, low.name);
        return ptx_let(e, "icmp ugt i32 %s, %s", away.name, last.name);
    }
    const ptx_value rises = ptx_let(e, "icmp %s i32 %s, %s", r->is_signed ? "sle" : "ule",
                                    low.name, high.name);
    holds = ptx_let(e, "and i1 %s, %s", holds.name, rises.name);
    const ptx_value ends[2] = {low, high};
    for (int k = 0; k < 2; k++) {
        ptx_value is =
            ptx_let(e, "icmp %s i32 %s, %s", r->predicate,
                    left ? ends[k].name : bound.name, left ? bound.name : ends[k].name);
        if (!r->value)
            is = ptx_let(e, "xor i1 %s, true", is.name);
        holds = ptx_let(e, "and i1 %s, %s", holds.name, is.name);
    }
    return holds;
}
