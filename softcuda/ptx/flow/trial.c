// SPDX-License-Identifier: Apache-2.0
/* See trial.h. A register that the run has not set has the value of the one definition that
 * arrives at its start, if that only computes; else one of its own. */
#include "softcuda/ptx/flow/trial.h"

#include <string.h>

#include "base/hash.h"

#define MANY SHAPE_EXIT /* several definitions arrive */

static uint64_t mixed(uint64_t a, uint64_t b)
{
    return gphi_hash_word(a, gphi_hash_mix(b + 1));
}

static const ptx_operand *operands_of(const ptx_shape *s, uint32_t i)
{
    return &s->function->operands[s->function->insns[i].operand];
}

static uint32_t bits_of(ptx_type type)
{
    return type == PTX_PRED ? 1 : 8 * ptx_type_bytes(type);
}

static uint64_t cut(uint64_t value, uint32_t bits)
{
    return bits >= 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

/* A number of 64 bits, with its sign where the type has one. */
static uint64_t extended(uint64_t value, ptx_type type)
{
    const uint32_t bits = bits_of(type);
    const bool is_signed =
        type == PTX_S8 || type == PTX_S16 || type == PTX_S32 || type == PTX_S64;
    value = cut(value, bits);
    if (is_signed && bits < 64 && value >> (bits - 1) & 1)
        value |= ~UINT64_C(0) << bits;
    return value;
}

static bool is_whole(uint8_t type)
{
    return (type >= PTX_U8 && type <= PTX_S64) || (type >= PTX_B8 && type <= PTX_B64);
}

/* ---- reading ---------------------------------------------------------------------- */

/* The definition of a register that arrives at the start of a block, on all ways. */
static uint32_t arrival(const ptx_shape *s, uint32_t block, uint32_t reg, uint8_t *seen)
{
    const ptx_flow_block *b = &s->blocks[block];
    uint32_t found = block == s->entry ? MANY : SHAPE_NONE;
    seen[block] = 1;
    for (uint32_t k = 0; k < b->pred_count && found != MANY; k++) {
        const ptx_flow_block *p = &s->blocks[b->pred[k]];
        uint32_t def = SHAPE_NONE;
        for (uint32_t i = p->first + p->count; i-- > p->first && def == SHAPE_NONE;)
            if (ptx_writes(s, i, reg))
                def = s->function->insns[i].guarded ? MANY : i;
        if (def == SHAPE_NONE && !seen[b->pred[k]])
            def = arrival(s, b->pred[k], reg, seen);
        if (def != SHAPE_NONE && def != found)
            found = found == SHAPE_NONE ? def : MANY;
    }
    return found;
}

static bool reads_strict(const ptx_shape *s, uint32_t i)
{
    for (uint32_t k = 0; k < s->insns[i].read_count; k++)
        if (!s->regs[s->insns[i].reads[k]].strict)
            return false;
    return ptx_is_cheap(s, i);
}

/* What gave the register its value before the run started, of registers that have one value
 * alone; then it can be computed again from them (see value.c). */
static uint32_t definition(ptx_trial *t, uint32_t reg)
{
    const ptx_shape *s = t->s;
    if (s->regs[reg].strict)
        return reads_strict(s, s->regs[reg].def) ? s->regs[reg].def : SHAPE_NONE;
    uint8_t *seen = ptx_scratch(s->memory, PTX_SCRATCH_MARKS, s->block_count, 1);
    memset(seen, 0, s->block_count);
    const uint32_t def = arrival(s, t->start, reg, seen);
    if (def == SHAPE_NONE || def == MANY || !reads_strict(s, def) ||
        s->blocks[s->insns[def].block].loop != s->blocks[t->start].loop ||
        !ptx_dominates(s, s->insns[def].block, t->start))
        return SHAPE_NONE;
    return def;
}

static uint64_t evaluate(ptx_trial *t, uint32_t i);

uint64_t ptx_trial_value(ptx_trial *t, uint32_t reg)
{
    const uint32_t bits = bits_of((ptx_type)t->s->function->registers[reg].type);
    if (t->known[reg] == 1)
        return t->values[reg];
    uint64_t value = mixed(t->seed, reg);
    if (reg == t->given) {
        value = t->given_value;
    } else if (t->known[reg] == 0 && t->steps < TRIAL_STEPS_MAX) {
        const uint32_t def = definition(t, reg);
        t->known[reg] = 2; /* what is made of itself is not followed */
        if (def != SHAPE_NONE)
            value = evaluate(t, def);
    }
    t->known[reg] = 1;
    return t->values[reg] = cut(value, bits);
}

/* Indices are small; a thread is of one block. */
static uint64_t special(ptx_trial *t, uint32_t index)
{
    return mixed(t->seed ^ 0x5eedu, index) %
           (index >= PTX_SREG_TID_X && index <= PTX_SREG_TID_Z ? 1024 : 4096);
}

static uint64_t operand_value(ptx_trial *t, const ptx_operand *o)
{
    switch ((ptx_operand_kind)o->kind) {
    case PTX_OPERAND_REG: return ptx_trial_value(t, o->index) ^ (o->negate ? 1u : 0u);
    case PTX_OPERAND_SREG: t->failed |= ptx_is_clock(o); return special(t, o->index);
    case PTX_OPERAND_INT:
    case PTX_OPERAND_FLOAT: return (uint64_t)o->imm;
    case PTX_OPERAND_VAR: return (mixed(77, o->index) & 0xffffff00u) + (uint64_t)o->imm;
    case PTX_OPERAND_ADDRESS:
        if (o->base == PTX_OPERAND_REG)
            return ptx_trial_value(t, o->index) + (uint64_t)o->imm;
        return (mixed(o->base == PTX_OPERAND_VAR ? 77 : 78, o->index) & 0xffffff00u) +
               (uint64_t)o->imm;
    case PTX_OPERAND_VECTOR: return o->index;
    default: t->failed = true; return 0;
    }
}

/* ---- computing -------------------------------------------------------------------- */

static uint64_t compared(const ptx_insn *insn, uint64_t a, uint64_t b, bool *is_known)
{
    const ptx_type type = (ptx_type)insn->types[0];
    const bool is_signed =
        type == PTX_S8 || type == PTX_S16 || type == PTX_S32 || type == PTX_S64;
    const uint64_t x = extended(a, type), y = extended(b, type);
    const bool less = is_signed ? (int64_t)x < (int64_t)y : x < y;
    *is_known = insn->mod_count == 1 && is_whole(insn->types[0]);
    switch ((ptx_modifier)insn->mods[0]) {
    case PTX_MOD_EQ: return x == y;
    case PTX_MOD_NE: return x != y;
    case PTX_MOD_LT: return less;
    case PTX_MOD_LE: return less || x == y;
    case PTX_MOD_GT: return !less && x != y;
    case PTX_MOD_GE: return !less;
    default: *is_known = false; return 0;
    }
}

/* Shifts by more than there are bits give zeros, or the sign. */
static uint64_t shifted(const ptx_insn *insn, uint64_t a, uint64_t by)
{
    const ptx_type type = (ptx_type)insn->types[0];
    const uint32_t bits = bits_of(type);
    const uint64_t x = extended(a, type);
    by = (uint32_t)by;
    if (insn->opcode == PTX_OP_SHL)
        return by >= bits ? 0 : x << by;
    if (type == PTX_S16 || type == PTX_S32 || type == PTX_S64)
        return (uint64_t)((int64_t)x >> (by >= bits ? bits - 1 : by));
    return by >= bits ? 0 : cut(x, bits) >> by;
}

/* Operand values are x[1] ...; false: not of whole numbers, or one that is not known. */
static bool computed(const ptx_insn *insn, const uint64_t *x, uint64_t *out)
{
    const ptx_type type = (ptx_type)insn->types[0];
    const bool wide = insn->mod_count == 1 && insn->mods[0] == PTX_MOD_WIDE,
               low = insn->mod_count == 1 && insn->mods[0] == PTX_MOD_LO,
               plain = insn->mod_count == 0;
    bool is_known = plain;
    uint64_t product;
    switch ((ptx_opcode)insn->opcode) {
    case PTX_OP_MOV: *out = x[1]; return plain && insn->operand_count == 2;
    case PTX_OP_CVTA: *out = x[1]; return true;
    case PTX_OP_CVT:
        *out = extended(x[1], (ptx_type)insn->types[1]);
        return plain && insn->type_count == 2 && is_whole(insn->types[0]) &&
               is_whole(insn->types[1]);
    case PTX_OP_SETP: *out = compared(insn, x[1], x[2], &is_known); return is_known;
    case PTX_OP_SELP: *out = x[3] & 1 ? x[1] : x[2]; return true;
    default: break;
    }
    if (!is_whole(insn->types[0]) && type != PTX_PRED)
        return false;
    switch ((ptx_opcode)insn->opcode) {
    case PTX_OP_ADD: *out = x[1] + x[2]; break;
    case PTX_OP_SUB: *out = x[1] - x[2]; break;
    case PTX_OP_AND: *out = x[1] & x[2]; break;
    case PTX_OP_OR: *out = x[1] | x[2]; break;
    case PTX_OP_XOR: *out = x[1] ^ x[2]; break;
    case PTX_OP_NOT: *out = ~x[1]; break;
    case PTX_OP_NEG: *out = 0 - x[1]; break;
    case PTX_OP_SHL:
    case PTX_OP_SHR: *out = shifted(insn, x[1], x[2]); break;
    case PTX_OP_MUL:
    case PTX_OP_MAD:
        product = wide ? extended(x[1], type) * extended(x[2], type) : x[1] * x[2];
        *out = insn->opcode == PTX_OP_MAD ? product + x[3] : product;
        return wide || low;
    default: return false;
    }
    return plain;
}

#define OPERANDS_SOME 8u

/* Of an instruction that sets one register and touches no memory. */
static uint64_t evaluate(ptx_trial *t, uint32_t i)
{
    const ptx_insn *insn = &t->s->function->insns[i];
    const ptx_operand *o = operands_of(t->s, i);
    uint64_t x[OPERANDS_SOME] = {0}, out = 0, hash = insn->opcode;
    t->steps++;
    if (insn->operand_count > OPERANDS_SOME) {
        t->failed = true;
        return 0;
    }
    for (uint32_t k = 1; k < insn->operand_count; k++)
        x[k] = operand_value(t, &o[k]);
    if (computed(insn, x, &out))
        return out;
    for (uint32_t k = 0; k < insn->type_count; k++)
        hash = mixed(hash, insn->types[k]);
    for (uint32_t k = 0; k < insn->mod_count; k++)
        hash = mixed(hash, insn->mods[k]);
    for (uint32_t k = 1; k < insn->operand_count; k++)
        hash = mixed(hash, x[k]);
    return hash;
}

/* ---- running ---------------------------------------------------------------------- */

static void set(ptx_trial *t, uint32_t reg, uint64_t value)
{
    t->values[reg] = cut(value, bits_of((ptx_type)t->s->function->registers[reg].type));
    t->known[reg] = 1;
}

/* The value in memory is a hash of where it is and what has been stored before. */
static void access_memory(ptx_trial *t, uint32_t i)
{
    const ptx_insn *insn = &t->s->function->insns[i];
    const ptx_operand *o = operands_of(t->s, i);
    const bool loads = insn->opcode == PTX_OP_LD;
    const uint32_t bytes = ptx_type_bytes((ptx_type)insn->types[0]);
    uint64_t at = 0, kind = mixed(mixed(insn->opcode, insn->space), insn->types[0]);
    for (uint32_t k = 0; k < insn->operand_count; k++)
        if (o[k].kind == PTX_OPERAND_ADDRESS)
            at = operand_value(t, &o[k]);
    for (uint32_t k = 0, n = 0; k < insn->operand_count; k++) {
        if (o[k].kind == PTX_OPERAND_ADDRESS || o[k].kind == PTX_OPERAND_VECTOR)
            continue;
        const uint64_t place = mixed(kind, at + (uint64_t)n++ * bytes);
        if (!loads) {
            t->stores = mixed(t->stores, mixed(place, operand_value(t, &o[k])));
        } else if (o[k].kind == PTX_OPERAND_REG) {
            const uint64_t value = mixed(place, t->stores);
            t->loads += mixed(value, 3); /* in any order */
            set(t, o[k].index, value);
        }
    }
}

void ptx_trial_insn(ptx_trial *t, uint32_t i)
{
    const ptx_insn *insn = &t->s->function->insns[i];
    const ptx_flow_insn *info = &t->s->insns[i];
    if (++t->steps > TRIAL_STEPS_MAX || info->role != PTX_ROLE_PLAIN ||
        info->is_volatile || ptx_has(insn, PTX_MOD_CC)) {
        t->failed = true;
        return;
    }
    if (insn->guarded && (ptx_trial_value(t, insn->guard) & 1) == insn->guard_negate)
        return;
    if (info->reads_memory || info->writes_memory) {
        if (insn->opcode == PTX_OP_LD || insn->opcode == PTX_OP_ST)
            access_memory(t, i);
        else
            t->failed = true;
        return;
    }
    if (info->write_count == 1 && operands_of(t->s, i)[0].kind == PTX_OPERAND_REG)
        set(t, info->writes[0], evaluate(t, i));
    else
        t->failed = true; /* a fence, a trap, two results */
}

void ptx_trial_block(ptx_trial *t, uint32_t block)
{
    const ptx_flow_block *b = &t->s->blocks[block];
    t->failed |= b->kind != SHAPE_CODE || ++t->steps > TRIAL_STEPS_MAX;
    for (uint32_t i = b->first; i < b->first + b->count && !t->failed; i++)
        ptx_trial_insn(t, i);
}

uint32_t ptx_trial_next(ptx_trial *t, uint32_t block)
{
    const ptx_flow_block *b = &t->s->blocks[block];
    if (b->end == SHAPE_JUMP)
        return b->succ[0];
    if (b->end == SHAPE_BRANCH)
        return b->succ[(ptx_trial_value(t, b->reg) & 1) == b->negate];
    t->failed = true;
    return SHAPE_EXIT;
}

ptx_trial *ptx_trial_create(ptx_shape *s)
{
    ptx_trial *t = ptx_alloc(s->memory, 1, sizeof(*t));
    t->s = s;
    t->values = ptx_alloc(s->memory, s->function->register_count, sizeof(*t->values));
    t->known = ptx_alloc(s->memory, s->function->register_count, 1);
    return t;
}

/* All values that the run may ask for are found before it changes any. */
void ptx_trial_begin(ptx_trial *t, uint32_t start, uint64_t seed, uint32_t reg,
                     uint64_t value)
{
    memset(t->known, 0, t->s->function->register_count);
    t->start = start;
    t->seed = seed;
    t->given = reg;
    t->given_value = value;
    t->stores = t->loads = 0;
    t->steps = 0;
    t->failed = false;
    for (uint32_t r = 0; r < t->s->function->register_count; r++)
        if (ptx_bit(t->s->live_in[start], r))
            ptx_trial_value(t, r);
    t->steps = 0;
}
