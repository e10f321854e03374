// SPDX-License-Identifier: Apache-2.0
/* Arithmetic of small numbers in 8 or 16 bits. A register whose value fits (flow/range.c)
 * has a second, narrow slot, %n.7 beside %r.7: bytes from 0 to 255, or words of 16 bits with
 * the sign that the range asks for. What is computed narrow is made wide for %r.7, which
 * LLVM drops where nobody reads it. */
#include <stdio.h>
#include <string.h>

#include "softcuda/ptx/shape/fast.h"

#define REGIONS_MAX 32u /* of more, narrow slots of flags took longer than wide ones */

#define FLOAT_MAX (1 << 22) /* whole numbers that are divided as floats */

typedef enum narrow {
    FORM_NONE,
    FORM_BYTE,
    FORM_UNSIGNED,
    FORM_SIGNED,
    FORM_FITS
} narrow;

static bool has_kept(const ptx_fast *f, uint32_t reg)
{
    const ptx_type type = (ptx_type)f->s->function->registers[reg].type;
    return f->s->regs[reg].divergent && ptx_type_bytes(type) >= 2 && f->narrow[reg];
}

/* FITS: a number that is in words of both kinds. */
static narrow form_of(ptx_range r)
{
    if (r.low > r.high)
        return FORM_NONE;
    if (r.low >= 0 && r.high <= UINT8_MAX)
        return FORM_BYTE;
    if (r.low >= 0 && r.high <= INT16_MAX)
        return FORM_FITS;
    if (r.low >= 0 && r.high <= UINT16_MAX)
        return FORM_UNSIGNED;
    return r.low >= INT16_MIN && r.high <= INT16_MAX ? FORM_SIGNED : FORM_NONE;
}

static const char *type_of(narrow form)
{
    return form == FORM_BYTE ? "i8" : "i16";
}

static const char *extension(narrow form)
{
    return form == FORM_SIGNED ? "sext" : "zext";
}

/* What both can be done in, with the same numbers. */
static narrow joined(narrow a, narrow b)
{
    if (a == FORM_NONE || b == FORM_NONE)
        return FORM_NONE;
    if (a == b)
        return a;
    const narrow low = a < b ? a : b, high = a < b ? b : a;
    if (low == FORM_BYTE)
        return high;
    return high == FORM_FITS ? low : FORM_NONE; /* one negative, one above 32767 */
}

static narrow form_of_register(const ptx_fast *f, uint32_t reg)
{
    return (narrow)f->narrow[reg];
}

static narrow form_of_operand(const ptx_fast *f, const ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_INT)
        return form_of((ptx_range){o->imm, o->imm});
    if (o->kind != PTX_OPERAND_REG || o->negate || !has_kept(f, o->index))
        return FORM_NONE;
    return form_of_register(f, o->index);
}

static ptx_value read(ptx_fast *f, const ptx_operand *o, narrow as)
{
    ptx_value value;
    if (o->kind == PTX_OPERAND_INT) {
        snprintf(value.name, sizeof(value.name), "%lld", (long long)o->imm);
        return value;
    }
    const narrow own = form_of_register(f, o->index);
    value = ptx_let(&f->emit, "load %s, ptr %%n.%u", type_of(own), o->index);
    if (own != FORM_BYTE || as == FORM_BYTE)
        return value;
    return ptx_let(&f->emit, "zext i8 %s to i16", value.name);
}

/* The result, computed as `as`, in both slots. */
static void write(ptx_fast *f, uint32_t reg, narrow as, ptx_value value)
{
    ptx_emit *e = &f->emit;
    const narrow own = form_of_register(f, reg);
    if (own == FORM_BYTE && as != FORM_BYTE)
        value = ptx_let(e, "trunc i16 %s to i8", value.name);
    ptx_line(e, "store %s %s, ptr %%n.%u", type_of(own), value.name, reg);
    const char *type = ptx_fast_type(f, reg);
    const bool same = own != FORM_BYTE &&
                      ptx_type_bytes((ptx_type)f->s->function->registers[reg].type) == 2;
    if (!same)
        value =
            ptx_let(e, "%s %s %s to %s", extension(own), type_of(own), value.name, type);
    ptx_store_register(e, reg, value);
}

static const char *word_of(const ptx_insn *insn, narrow as)
{
    const bool sign = as == FORM_SIGNED;
    switch ((ptx_opcode)insn->opcode) {
    case PTX_OP_ADD: return "add";
    case PTX_OP_SUB: return "sub";
    case PTX_OP_MUL:
    case PTX_OP_MAD: return "mul";
    case PTX_OP_AND: return "and";
    case PTX_OP_OR: return "or";
    case PTX_OP_XOR: return "xor";
    case PTX_OP_SHL: return "shl";
    case PTX_OP_SHR: return sign ? "ashr" : "lshr";
    case PTX_OP_MIN: return sign ? "smin" : "umin";
    case PTX_OP_MAX: return sign ? "smax" : "umax";
    default: return NULL;
    }
}

static ptx_value compute(ptx_fast *f, const ptx_insn *insn, narrow as)
{
    ptx_emit *e = &f->emit;
    const ptx_operand *o = ptx_fast_operands(f, insn);
    const char *type = type_of(as), *word = word_of(insn, as);
    const ptx_value a = read(f, &o[1], as);
    if (insn->opcode == PTX_OP_NEG)
        return ptx_let(e, "sub %s 0, %s", type, a.name);
    if (insn->opcode == PTX_OP_ABS)
        return ptx_let(e, "call %s @llvm.abs.%s(%s %s, i1 false)", type, type, type,
                       a.name);
    if (!word)
        return a; /* mov, cvt */
    const ptx_value b = read(f, &o[2], as);
    if (insn->opcode == PTX_OP_MIN || insn->opcode == PTX_OP_MAX)
        return ptx_let(e, "call %s @llvm.%s.%s(%s %s, %s %s)", type, word, type, type,
                       a.name, type, b.name);
    const ptx_value r = ptx_let(e, "%s %s %s, %s", word, type, a.name, b.name);
    if (insn->opcode != PTX_OP_MAD)
        return r;
    const ptx_value c = read(f, &o[3], as);
    return ptx_let(e, "add %s %s, %s", type, r.name, c.name);
}

/* Plain arithmetic of whole numbers, and which operands it has. */
static bool is_arithmetic(const ptx_insn *insn)
{
    const bool low = insn->mod_count == 1 && ptx_has(insn, PTX_MOD_LO);
    const bool wide = insn->mod_count == 1 && ptx_has(insn, PTX_MOD_WIDE);
    if (insn->guarded || insn->type_count == 0)
        return false;
    switch ((ptx_opcode)insn->opcode) {
    case PTX_OP_MUL: return (low || wide) && insn->operand_count == 3;
    case PTX_OP_MAD: return low && insn->operand_count == 4;
    case PTX_OP_ABS:
    case PTX_OP_NEG:
    case PTX_OP_MOV:
    case PTX_OP_CVT: return insn->mod_count == 0 && insn->operand_count == 2;
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_MIN:
    case PTX_OP_MAX:
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_XOR: return insn->mod_count == 0 && insn->operand_count == 3;
    default: return false;
    }
}

/* Shifts by a number of bits that the narrow form has. */
static bool is_shift(const ptx_fast *f, const ptx_insn *insn)
{
    const ptx_operand *o = ptx_fast_operands(f, insn);
    return !insn->guarded && (insn->opcode == PTX_OP_SHL || insn->opcode == PTX_OP_SHR) &&
           insn->mod_count == 0 && insn->operand_count == 3 &&
           o[2].kind == PTX_OPERAND_INT && o[2].imm >= 0 && o[2].imm < 8;
}

/* A conversion that leaves all numbers as they are. */
static bool is_kept(const ptx_fast *f, const ptx_operand *o, uint32_t reg)
{
    const ptx_range to = f->ranges[reg];
    const ptx_range from = o[1].kind == PTX_OPERAND_INT ? (ptx_range){o[1].imm, o[1].imm}
                                                        : f->ranges[o[1].index];
    return from.low >= to.low && from.high <= to.high;
}

static narrow form_of_insn(const ptx_fast *f, const ptx_insn *insn, uint32_t reg)
{
    const ptx_operand *o = ptx_fast_operands(f, insn);
    const bool shift = is_shift(f, insn);
    if (!shift && !is_arithmetic(insn))
        return FORM_NONE;
    narrow as = form_of_register(f, reg);
    for (uint32_t k = 1; k < (shift ? 2u : insn->operand_count); k++)
        as = joined(as, form_of_operand(f, &o[k]));
    /* A difference of bytes has a sign, which joined() has seen to; an abs of -32768 or the
     * top bit of an unsigned word do not come here: their ranges are larger. */
    if ((insn->opcode == PTX_OP_CVT || insn->opcode == PTX_OP_MOV) && !is_kept(f, o, reg))
        return FORM_NONE;
    if (as == FORM_BYTE && (insn->opcode == PTX_OP_ABS || insn->opcode == PTX_OP_NEG))
        return FORM_FITS;
    return as;
}

/* x / d as x * m >> n, where mul.wide.u32 made the product, for x from 0 to `most`; 0: it is
 * another shift, or not exact. */
static uint32_t divisor_of(const ptx_fast *f, const ptx_insn *insn,
                           const ptx_operand **dividend, uint64_t *most)
{
    const ptx_operand *o = ptx_fast_operands(f, insn);
    if (insn->opcode != PTX_OP_SHR || insn->guarded || insn->mod_count != 0 ||
        insn->types[0] != PTX_U64 || o[1].kind != PTX_OPERAND_REG ||
        o[2].kind != PTX_OPERAND_INT || o[2].imm < 32 || o[2].imm > 47)
        return 0;
    const ptx_insn *mul = ptx_fast_definition(f, o[1].index);
    if (!mul || mul->opcode != PTX_OP_MUL || mul->types[0] != PTX_U32 ||
        !ptx_has(mul, PTX_MOD_WIDE) || mul->mod_count != 1)
        return 0;
    const ptx_operand *p = ptx_fast_operands(f, mul);
    if (p[2].kind != PTX_OPERAND_INT || p[1].kind != PTX_OPERAND_REG || p[1].negate ||
        !ptx_fast_definition(f, p[1].index))
        return 0;
    const ptx_range r = f->ranges[p[1].index];
    if (r.low < 0 || r.high > FLOAT_MAX)
        return 0;
    *most = r.high > UINT16_MAX ? FLOAT_MAX : UINT16_MAX;
    const uint64_t m = (uint32_t)p[2].imm, two = (uint64_t)1 << o[2].imm;
    const uint64_t d = m ? (two + m - 1) / m : 0;
    if (d < 2 || d > INT16_MAX || m * d < two || (m * d - two) * *most >= two)
        return 0;
    *dividend = &p[1];
    return (uint32_t)d;
}

/* Of a number below 2^22, by a float that is at least 1 / d: a multiple of d gives no less than
 * the whole number, and what is below the next one misses it by 1 / d, more than two
 * roundings make. A product of 64 bits would take two vectors for one. */
static ptx_value divide_float(ptx_fast *f, const ptx_operand *dividend, uint32_t d)
{
    ptx_emit *e = &f->emit;
    float by = 1.0f / (float)d;
    uint32_t word;
    memcpy(&word, &by, sizeof(word));
    word += (double)by * d < 1.0; /* the next float above */
    memcpy(&by, &word, sizeof(word));
    const double wide = (double)by; /* a float in LLVM's text is one of these */
    uint64_t bits;
    memcpy(&bits, &wide, sizeof(bits));
    const ptx_value x = ptx_operand_value(e, dividend, PTX_U32);
    const ptx_value real = ptx_let(e, "sitofp i32 %s to float", x.name);
    const ptx_value q =
        ptx_let(e, "fmul float %s, 0x%016llX", real.name, (unsigned long long)bits);
    const ptx_value whole = ptx_let(e, "fptosi float %s to i32", q.name);
    return ptx_let(e, "trunc i32 %s to i16", whole.name);
}

static bool write_quotient(ptx_fast *f, const ptx_insn *insn, uint32_t reg)
{
    const ptx_operand *dividend;
    uint64_t most;
    const uint32_t d = divisor_of(f, insn, &dividend, &most);
    if (d == 0)
        return false;
    if (most > UINT16_MAX || !has_kept(f, dividend->index)) {
        write(f, reg, FORM_UNSIGNED, divide_float(f, dividend, d));
        return true;
    }
    const ptx_value x = read(f, dividend, FORM_UNSIGNED);
    write(f, reg, FORM_UNSIGNED, ptx_let(&f->emit, "udiv i16 %s, %u", x.name, d));
    return true;
}

static bool write_choice(ptx_fast *f, const ptx_insn *insn, uint32_t reg)
{
    const ptx_operand *o = ptx_fast_operands(f, insn);
    if (insn->opcode != PTX_OP_SELP || insn->guarded || insn->mod_count != 0 ||
        insn->operand_count != 4)
        return false;
    const narrow as = joined(form_of_register(f, reg), joined(form_of_operand(f, &o[1]),
                                                              form_of_operand(f, &o[2])));
    if (as == FORM_NONE)
        return false;
    const ptx_value a = read(f, &o[1], as), b = read(f, &o[2], as);
    const ptx_value c = ptx_operand_value(&f->emit, &o[3], PTX_PRED);
    write(f, reg, as,
          ptx_let(&f->emit, "select i1 %s, %s %s, %s %s, !unpredictable !13", c.name,
                  type_of(as), a.name, type_of(as), b.name));
    return true;
}

static const char *order_of(ptx_modifier mod)
{
    switch (mod) {
    case PTX_MOD_EQ: return "eq";
    case PTX_MOD_NE: return "ne";
    case PTX_MOD_LT: return "lt";
    case PTX_MOD_LE: return "le";
    case PTX_MOD_GT: return "gt";
    case PTX_MOD_GE: return "ge";
    default: return NULL;
    }
}

/* A comparison of words of 32 bits. Both operands are extended alike, which keeps either
 * order of them; numbers without a sign are in the same order by both. */
static bool write_compare(ptx_fast *f, const ptx_insn *insn)
{
    ptx_emit *e = &f->emit;
    const ptx_operand *o = ptx_fast_operands(f, insn);
    if (insn->opcode != PTX_OP_SETP || insn->guarded || insn->mod_count != 1 ||
        insn->operand_count != 3 || !ptx_fast_is_32_bits(insn) || o[0].pair ||
        o[0].kind != PTX_OPERAND_REG || o[1].kind != PTX_OPERAND_REG)
        return false;
    const char *order = order_of((ptx_modifier)insn->mods[0]);
    const narrow as = joined(form_of_operand(f, &o[1]), form_of_operand(f, &o[2]));
    if (!order || as == FORM_NONE)
        return false;
    const char *sign = order[0] == 'e' || order[0] == 'n'               ? ""
                       : as == FORM_SIGNED && insn->types[0] == PTX_S32 ? "s"
                                                                        : "u";
    const ptx_value a = read(f, &o[1], as), b = read(f, &o[2], as);
    ptx_store_register(
        e, o[0].index,
        ptx_let(e, "icmp %s%s %s %s, %s", sign, order, type_of(as), a.name, b.name));
    return true;
}

/* False: nothing is written, the instruction is not of small numbers. */
bool ptx_fast_write_narrow(ptx_fast *f, uint32_t i)
{
    const ptx_insn *insn = &f->s->function->insns[i];
    if (!f->narrow || f->s->insns[i].write_count != 1 ||
        f->s->insns[i].role != PTX_ROLE_PLAIN)
        return false;
    const uint32_t reg = f->s->insns[i].writes[0];
    if (write_compare(f, insn))
        return true;
    if (!has_kept(f, reg) || !ptx_fast_is_whole(insn))
        return false;
    if (write_choice(f, insn, reg) || write_quotient(f, insn, reg))
        return true;
    const narrow as = form_of_insn(f, insn, reg);
    if (as == FORM_NONE)
        return false;
    write(f, reg, as, compute(f, insn, as));
    f->s->program->has_byte_runs |= as == FORM_BYTE && f->bends;
    return true;
}

/* The narrow slot of a register whose other one has been set. */
void ptx_fast_keep_narrow(ptx_fast *f, uint32_t reg)
{
    ptx_emit *e = &f->emit;
    if (!f->narrow || !has_kept(f, reg))
        return;
    const narrow own = form_of_register(f, reg);
    const char *type = ptx_fast_type(f, reg);
    ptx_value value = ptx_load_register(e, reg);
    if (own == FORM_BYTE ||
        ptx_type_bytes((ptx_type)f->s->function->registers[reg].type) != 2)
        value = ptx_let(e, "trunc %s %s to %s", type, value.name, type_of(own));
    ptx_line(e, "store %s %s, ptr %%n.%u", type_of(own), value.name, reg);
}

/* Which registers have narrow slots, and those slots. */
void ptx_fast_plan_narrow(ptx_fast *f)
{
    const uint32_t count = f->s->function->register_count;
    if (ptx_is_large(f->s) || f->s->region_count > REGIONS_MAX)
        return;
    f->ranges = ptx_find_ranges(f->s);
    f->narrow = ptx_alloc(f->s->memory, count + 1u, 1);
    for (uint32_t r = 0; r < count; r++) {
        const ptx_type type = (ptx_type)f->s->function->registers[r].type;
        if (!f->s->regs[r].divergent || type == PTX_PRED || ptx_type_bytes(type) < 2)
            continue;
        f->narrow[r] = (uint8_t)form_of(f->ranges[r]);
        if (f->narrow[r])
            gphi_text_add(f->emit.out, "  %%n.%u = alloca %s\n", r,
                          type_of((narrow)f->narrow[r]));
    }
}

bool ptx_fast_write_quotient(ptx_fast *f, uint32_t i)
{
    for (uint32_t k = 0; f->quotients && k < f->quotients->count; k++) {
        const ptx_quotient *q = &f->quotients->list[k];
        if (q->insn != i)
            continue;
        const ptx_insn *insn = &f->s->function->insns[i];
        ptx_value value = q->first[f->round_at];
        if (insn->opcode == PTX_OP_REM) {
            const ptx_value lane =
                ptx_let(&f->emit, "trunc i64 %s to i32", f->index64.name);
            value = ptx_let(&f->emit, "add i32 %s, %s", value.name, lane.name);
        }
        ptx_store_operand(&f->emit, &ptx_fast_operands(f, insn)[0], PTX_U32, value);
        return true;
    }
    return false;
}
