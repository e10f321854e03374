// SPDX-License-Identifier: Apache-2.0
/* The step of nvcc's expf that rounds down:
 *
 *   cvt.sat.f32.f32 s, x;             0 <= s <= 1, never NaN
 *   fma.rm.f32 r, s, 252, 12582913;   12582913 + floor(252 s): floats are 1 apart there
 *
 * The nearest float of the sum is r or the next above it. What it adds to 12582913 is exact,
 * and so is the sign of what an fma finds between that and 252 s. The library's fma.rm, which
 * takes any numbers, needs doubles. */
#include <string.h>

#include "softcuda/ptx/shape/fast.h"

/* The only instruction that sets the register of the operand, in all threads. */
static const ptx_insn *only_definition(const ptx_fast *f, const ptx_operand *o)
{
    if (o->kind != PTX_OPERAND_REG || o->negate || f->s->regs[o->index].def_count != 1)
        return NULL;
    const uint32_t def = f->s->regs[o->index].def;
    const ptx_insn *insn = &f->s->function->insns[def];
    return f->s->insns[def].role != PTX_ROLE_PLAIN || insn->guarded ? NULL : insn;
}

static bool is_saturated(const ptx_fast *f, const ptx_operand *o)
{
    const ptx_insn *insn = only_definition(f, o);
    if (!insn || insn->types[0] != PTX_F32 || !ptx_has(insn, PTX_MOD_SAT))
        return false;
    return insn->opcode == PTX_OP_CVT || insn->opcode == PTX_OP_ADD ||
           insn->opcode == PTX_OP_SUB || insn->opcode == PTX_OP_MUL ||
           insn->opcode == PTX_OP_FMA || insn->opcode == PTX_OP_MAD;
}

/* A float, written here or moved to the register. */
static bool is_constant(const ptx_fast *f, const ptx_operand *o, float *value)
{
    const ptx_insn *insn = only_definition(f, o);
    if (insn && insn->opcode == PTX_OP_MOV && insn->types[0] == PTX_F32)
        o = &ptx_fast_operands(f, insn)[1];
    if (o->kind != PTX_OPERAND_FLOAT || !o->single || o->negate)
        return false;
    const uint32_t bits = (uint32_t)o->imm;
    memcpy(value, &bits, sizeof(bits));
    return true;
}

/* False: nothing is written, the instruction is another one. */
bool ptx_fast_write_floor(ptx_fast *f, uint32_t i)
{
    const ptx_insn *insn = &f->s->function->insns[i];
    const ptx_operand *o = ptx_fast_operands(f, insn);
    float scale, base;
    if (insn->opcode != PTX_OP_FMA || insn->guarded || !ptx_has(insn, PTX_MOD_RM) ||
        ptx_has(insn, PTX_MOD_SAT) || insn->type_count != 1 ||
        insn->types[0] != PTX_F32 || insn->operand_count != 4 ||
        !is_saturated(f, &o[1]) || !is_constant(f, &o[2], &scale) ||
        !is_constant(f, &o[3], &base))
        return false;
    if (!(scale >= 1.0f && base >= 8388608.0f && (double)base + scale <= 16777215.0))
        return false;
    ptx_emit *e = &f->emit;
    const ptx_value s = ptx_operand_value(e, &o[1], PTX_F32);
    const ptx_value near =
        ptx_let(e, "call float @llvm.fma.f32(float %s, float %.9e, float %.9e)", s.name,
                (double)scale, (double)base);
    const ptx_value less = ptx_let(e, "fsub float %.9e, %s", (double)base, near.name);
    const ptx_value rest =
        ptx_let(e, "call float @llvm.fma.f32(float %s, float %.9e, float %s)", s.name,
                (double)scale, less.name);
    const ptx_value sign = ptx_let(e, "bitcast float %s to i32", rest.name);
    const ptx_value step = ptx_let(e, "ashr i32 %s, 31", sign.name);
    const ptx_value bits = ptx_let(e, "bitcast float %s to i32", near.name);
    const ptx_value down = ptx_let(e, "add i32 %s, %s", bits.name, step.name);
    ptx_store_operand(e, &o[0], PTX_F32,
                      ptx_let(e, "bitcast i32 %s to float", down.name));
    return true;
}
