// SPDX-License-Identifier: Apache-2.0
/* Matrix operations: the registers of all lanes lie side by side in `%mat.tmp`, a slot of
 * 32 lanes each, when the run time is called, and results come back there.
 *
 *   | d0: 32 lanes | d1 | ... | a0 | ... | addresses, 32 x i64 | strides, 32 x i32 |
 *
 * On the slow path each thread has a slot of one value, and the run time collects them. */
#include <stdio.h>

#include "softcuda/ptx/abi.h"
#include "softcuda/ptx/lower/matrix_form.h"
#include "softcuda/ptx/shape/warp.h"

typedef struct slots {
    ptx_matrix form;
    ptx_matrix_operands operands;
    const ptx_insn *insn;
} slots;

static slots take_apart(const ptx_shape *s, uint32_t insn)
{
    slots out = {.insn = &s->function->insns[insn]};
    (void)ptx_matrix_read(s->function, out.insn, &out.form, &out.operands);
    return out;
}

bool ptx_has_matrix(const ptx_function *f)
{
    for (uint32_t i = 0; i < f->insn_count; i++) {
        const uint16_t opcode = f->insns[i].opcode;
        if (opcode == PTX_OP_MMA || opcode == PTX_OP_WMMA || opcode == PTX_OP_LDMATRIX ||
            opcode == PTX_OP_STMATRIX || opcode == PTX_OP_MOVMATRIX)
            return true;
    }
    return false;
}

/* The operand inside [ ], as a value. */
static ptx_operand base_of(const ptx_operand *address)
{
    ptx_operand base = *address;
    base.kind = address->base;
    base.imm = 0;
    return base;
}

static uint32_t line_of(const ptx_emit *e, const slots *x)
{
    return e->options->check_memory ? x->insn->line : 0;
}

/* ---- fast path ---- */

static const char *memory_type(const ptx_emit *e, const ptx_operand *o, uint32_t unit)
{
    if (o->kind == PTX_OPERAND_REG)
        return ptx_llvm_type((ptx_type)e->function->registers[o->index].type);
    return unit == 8 ? "i64" : "i32";
}

static ptx_value slot_at(ptx_emit *e, uint32_t slot)
{
    return ptx_let(e, "getelementptr i8, ptr %%mat.tmp, i64 %u", slot * 256u);
}

static void put_lanes(ptx_warp *w, const ptx_operand *o, uint32_t unit, uint32_t slot)
{
    const char *type = memory_type(w->e, o, unit);
    ptx_value lanes;
    if (ptx_warp_is_array(w, o)) {
        lanes = ptx_warp_load_lanes(w, type, "%ctx.", o->index);
    } else {
        const ptx_type as = o->kind == PTX_OPERAND_REG
                                ? (ptx_type)w->e->function->registers[o->index].type
                            : unit == 8 ? PTX_B64
                                        : PTX_B32;
        lanes = ptx_warp_splat(w, type, ptx_operand_value(w->e, o, as).name);
    }
    const ptx_value at = slot_at(w->e, slot);
    ptx_line(w->e, "store <32 x %s> %s, ptr %s, align 8", type, lanes.name, at.name);
}

ptx_value ptx_warp_addresses(ptx_warp *w, const ptx_operand *address)
{
    const ptx_operand base = base_of(address);
    ptx_value lanes;
    if (ptx_warp_is_array(w, &base)) {
        const char *type = memory_type(w->e, &base, 8);
        lanes = ptx_warp_load_lanes(w, type, "%ctx.", base.index);
        if (type[1] != '6')
            lanes = ptx_let(w->e, "zext <32 x %s> %s to <32 x i64>", type, lanes.name);
    } else {
        const ptx_value one = base.kind == PTX_OPERAND_VAR
                                  ? w->e->variable_address(w->e, base.index)
                                  : ptx_operand_value(w->e, &base, PTX_U64);
        lanes = ptx_warp_splat(w, "i64", one.name);
    }
    if (address->imm == 0)
        return lanes;
    char text[24];
    snprintf(text, sizeof(text), "%lld", (long long)address->imm);
    const ptx_value by = ptx_warp_splat(w, "i64", text);
    return ptx_let(w->e, "add <32 x i64> %s, %s", lanes.name, by.name);
}

static void put_addresses(ptx_warp *w, const ptx_operand *address, uint32_t slot)
{
    const ptx_value lanes = ptx_warp_addresses(w, address), at = slot_at(w->e, slot);
    ptx_line(w->e, "store <32 x i64> %s, ptr %s, align 8", lanes.name, at.name);
}

void ptx_warp_write_matrix(ptx_warp *w)
{
    const ptx_shape *s = w->f->s;
    const slots x = take_apart(s, s->blocks[w->region->head].first);
    const ptx_matrix_operands *o = &x.operands;
    for (uint32_t i = o->written; i < o->count; i++)
        put_lanes(w, o->registers[i], o->unit[i], i);
    if (o->address)
        put_addresses(w, o->address, o->count);
    if (o->stride)
        put_lanes(w, o->stride, 4, o->count + 1);
    const ptx_value first = ptx_let(w->e, "trunc i64 %s to i32", w->base);
    ptx_line(
        w->e,
        "call void @ptx_rt_matrix(ptr %%block, i64 %llu, i32 %s, i32 %s, i32 %u, i32 "
        "%u, ptr %%mat.tmp)",
        (unsigned long long)ptx_matrix_pack(&x.form), w->bits.name, first.name,
        line_of(w->e, &x), o->stride ? 1u : 0u);
    for (uint32_t i = 0; i < o->written; i++) {
        if (o->registers[i]->kind != PTX_OPERAND_REG)
            continue;
        const char *type = memory_type(w->e, o->registers[i], o->unit[i]);
        const ptx_value at = slot_at(w->e, i);
        const ptx_value lanes =
            ptx_let(w->e, "load <32 x %s>, ptr %s, align 8", type, at.name);
        ptx_warp_store_active(w, type, o->registers[i]->index, lanes);
    }
}

/* ---- slow path ---- */

static void put_value(ptx_emit *e, const char *type, ptx_value value, uint32_t slot)
{
    const ptx_value at = ptx_let(e, "getelementptr i64, ptr %%mat.values, i64 %u", slot);
    ptx_line(e, "store %s %s, ptr %s", type, value.name, at.name);
}

void ptx_write_slow_matrix(ptx_emit *e, uint32_t insn)
{
    const ptx_writer *w = e->shape;
    const slots x = take_apart(w->s, insn);
    const ptx_matrix_operands *o = &x.operands;
    for (uint32_t i = o->written; i < o->count; i++) {
        const ptx_type type = o->unit[i] == 8 ? PTX_B64 : PTX_B32;
        put_value(e, ptx_llvm_type(type), ptx_operand_value(e, o->registers[i], type), i);
    }
    if (o->address) {
        const ptx_operand base = base_of(o->address);
        ptx_value at = base.kind == PTX_OPERAND_VAR
                           ? e->variable_address(e, base.index)
                           : ptx_operand_value(e, &base, PTX_U64);
        at = ptx_let(e, "add i64 %s, %lld", at.name, (long long)o->address->imm);
        put_value(e, "i64", at, o->count);
    }
    if (o->stride)
        put_value(e, "i32", ptx_operand_value(e, o->stride, PTX_B32), o->count + 1);
    ptx_line(e,
             "call void @ptx_rt_thread_matrix(ptr %s, i64 %llu, i32 %u, i32 %u, ptr "
             "%%mat.values)",
             w->thread.name, (unsigned long long)ptx_matrix_pack(&x.form), line_of(e, &x),
             o->stride ? 1u : 0u);
    for (uint32_t i = 0; i < o->written; i++) {
        const ptx_type type = o->unit[i] == 8 ? PTX_B64 : PTX_B32;
        const ptx_value at = ptx_let(e, "getelementptr i64, ptr %%mat.values, i64 %u", i);
        const ptx_value value =
            ptx_let(e, "load %s, ptr %s", ptx_llvm_type(type), at.name);
        ptx_store_operand(e, o->registers[i], type, value);
    }
}
