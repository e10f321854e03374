// SPDX-License-Identifier: Apache-2.0
/* Why a kernel is slow here, by line of its PTX, for the kernel report. From the text of
 * the kernel and its plan, not from machine code:
 *
 *   stride     how far an address moves from one threadIdx.x to the next: 0 is one load
 *              for all, the size of the element a vector, all else a gather or scatter
 *   spills     registers that go to memory, an array by thread, from cut to cut
 *   loops      whose rounds differ by thread: each thread makes its own, no vectors
 *   atomics    thread by thread, as are calls of functions with memory of their own */
#include "softcuda/ptx/flow/flow.h"

#include <stdio.h>

#define DEPTH_MAX 24u
#define UNKNOWN INT64_MIN /* made of data, or of a step known only at launch */

/* Of the register as instruction `user` reads it. */
static int64_t stride_of(const ptx_shape *s, uint32_t reg, uint32_t user, uint32_t depth);

static int64_t stride_of_operand(const ptx_shape *s, const ptx_operand *o, uint32_t user,
                                 uint32_t depth)
{
    if (o->kind == PTX_OPERAND_SREG)
        return o->index == PTX_SREG_TID_X || o->index == PTX_SREG_LANEID;
    return o->kind == PTX_OPERAND_REG ? stride_of(s, o->index, user, depth) : 0;
}

/* The stride times what the other operand is. */
static int64_t scaled(int64_t stride, const ptx_operand *by, bool shift)
{
    if (stride == 0 || stride == UNKNOWN)
        return stride;
    if (by->kind != PTX_OPERAND_INT || by->imm > 0x7fffffff)
        return UNKNOWN;
    return shift ? (by->imm < 31 ? stride * (1ll << by->imm) : UNKNOWN)
                 : stride * (int64_t)by->imm;
}

static int64_t product(const ptx_shape *s, const ptx_operand *a, const ptx_operand *b,
                       uint32_t user, uint32_t depth)
{
    const int64_t x = stride_of_operand(s, a, user, depth);
    const int64_t y = stride_of_operand(s, b, user, depth);
    if (x == UNKNOWN || y == UNKNOWN || (x != 0 && y != 0))
        return UNKNOWN;
    return x != 0 ? scaled(x, b, false) : scaled(y, a, false);
}

static int64_t added(int64_t a, int64_t b, bool subtract)
{
    if (a == UNKNOWN || b == UNKNOWN)
        return UNKNOWN;
    return subtract ? a - b : a + b;
}

/* Rows of threads are done in runs, between the places where such a value bends; but in a
 * warp's form, whose loops have 32 rounds. */
static bool bends(const ptx_shape *s, uint32_t i)
{
    const ptx_insn *insn = &s->function->insns[i];
    if (s->by_warp || insn->type_count != 1 || insn->mod_count != 0 ||
        ptx_type_bytes((ptx_type)insn->types[0]) != 4)
        return false;
    return insn->opcode == PTX_OP_MIN || insn->opcode == PTX_OP_MAX ||
           insn->opcode == PTX_OP_DIV || insn->opcode == PTX_OP_REM ||
           insn->opcode == PTX_OP_AND || insn->opcode == PTX_OP_SHR;
}

static int64_t stride_of_insn(const ptx_shape *s, uint32_t i, uint32_t depth)
{
    const ptx_insn *insn = &s->function->insns[i];
    const ptx_operand *o = &s->function->operands[insn->operand];
    if (ptx_is_steady_load(s, i))
        return 0;
    if (insn->guarded || s->insns[i].write_count != 1 || s->insns[i].reads_memory)
        return UNKNOWN;
    switch (insn->opcode) {
    case PTX_OP_MOV:
    case PTX_OP_CVT:
    case PTX_OP_CVTA:
        return insn->operand_count == 2 ? stride_of_operand(s, &o[1], i, depth) : UNKNOWN;
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_OR: /* of parts that do not meet, as compilers have it */
        return added(stride_of_operand(s, &o[1], i, depth),
                     stride_of_operand(s, &o[2], i, depth), insn->opcode == PTX_OP_SUB);
    case PTX_OP_MUL: return product(s, &o[1], &o[2], i, depth);
    case PTX_OP_MAD:
        return added(product(s, &o[1], &o[2], i, depth),
                     stride_of_operand(s, &o[3], i, depth), false);
    case PTX_OP_SHL: return scaled(stride_of_operand(s, &o[1], i, depth), &o[2], true);
    case PTX_OP_AND: /* threads side by side, but at the end of a run of them */
        if (o[2].kind == PTX_OPERAND_INT && (o[2].imm & 15) == 15)
            return stride_of_operand(s, &o[1], i, depth);
        if (bends(s, i)) {
            const int64_t a = stride_of_operand(s, &o[1], i, depth),
                          b = stride_of_operand(s, &o[2], i, depth);
            if (b == 0 && o[2].kind == PTX_OPERAND_INT && (o[2].imm & 7) == 0 && a == 1)
                return 0;
            if (a != UNKNOWN && b != UNKNOWN && a + b == 1)
                return 1;
        }
        break;
    case PTX_OP_SHR: /* one value for 16 threads side by side */
        if (o[2].kind == PTX_OPERAND_INT && o[2].imm >= 4 &&
            stride_of_operand(s, &o[1], i, depth) == 1)
            return 0;
        break;
    case PTX_OP_MIN:
    case PTX_OP_MAX:
    case PTX_OP_REM: /* up to where it bends, see shape_bend.c */
    case PTX_OP_DIV: {
        const int64_t a = stride_of_operand(s, &o[1], i, depth),
                      b = stride_of_operand(s, &o[2], i, depth);
        if (bends(s, i) && (a == 1 || b == 1) && a + b == 1)
            return insn->opcode == PTX_OP_DIV ? (b == 0 ? 0 : UNKNOWN) : 1;
        break;
    }
    default: break;
    }
    for (uint32_t k = 0; k < s->insns[i].read_count; k++)
        if (stride_of(s, s->insns[i].reads[k], i, depth) != 0)
            return UNKNOWN;
    return s->insns[i].keeps_uniformity ? 0 : UNKNOWN;
}

static int64_t stride_of(const ptx_shape *s, uint32_t reg, uint32_t user, uint32_t depth)
{
    const ptx_flow_reg *r = &s->regs[reg];
    if (!r->divergent)
        return 0;
    if (depth == DEPTH_MAX || r->def == SHAPE_NONE)
        return UNKNOWN;
    if (r->home == SHAPE_AFFINE)
        return r->part != SHAPE_NONE ? stride_of(s, r->part, r->base, depth + 1)
                                     : stride_of_insn(s, r->base, depth + 1);
    /* One definition, or several that say the same. */
    const bool one = r->def_count == 1 || ptx_has_one_meaning(s, reg);
    const uint32_t def = one ? r->def : ptx_local_def(s, user, reg);
    return def != SHAPE_NONE ? stride_of_insn(s, def, depth + 1) : UNKNOWN;
}

/* What sets the register that `user` reads; SHAPE_NONE: several things do. */
static uint32_t definition_of(const ptx_shape *s, uint32_t reg, uint32_t user)
{
    const ptx_flow_reg *r = &s->regs[reg];
    if (r->home == SHAPE_AFFINE)
        return r->base;
    return r->def_count == 1 ? r->def : ptx_local_def(s, user, reg);
}

/* Whether something that bends is in the register's value. */
static bool is_bent(const ptx_shape *s, uint32_t reg, uint32_t user, uint32_t depth)
{
    const uint32_t def =
        s->regs[reg].divergent ? definition_of(s, reg, user) : SHAPE_NONE;
    if (def == SHAPE_NONE || depth == DEPTH_MAX || s->insns[def].reads_memory)
        return false;
    if (bends(s, def))
        return true;
    for (uint32_t k = 0; k < s->insns[def].read_count; k++)
        if (is_bent(s, s->insns[def].reads[k], def, depth + 1))
            return true;
    return false;
}

/* Bytes that one thread reads or writes. */
static int64_t bytes_of(const ptx_insn *insn)
{
    const int64_t one = insn->type_count ? ptx_type_bytes((ptx_type)insn->types[0]) : 0;
    return one * (ptx_has(insn, PTX_MOD_V2)   ? 2
                  : ptx_has(insn, PTX_MOD_V4) ? 4
                  : ptx_has(insn, PTX_MOD_V8) ? 8
                                              : 1);
}

static const ptx_operand *address_of(const ptx_shape *s, const ptx_insn *insn)
{
    for (uint32_t k = 0; k < insn->operand_count; k++)
        if (s->function->operands[insn->operand + k].kind == PTX_OPERAND_ADDRESS)
            return &s->function->operands[insn->operand + k];
    return NULL;
}

static const char *access_cost(ptx_flow_memory *memory, const ptx_shape *s, uint32_t i)
{
    const ptx_insn *insn = &s->function->insns[i];
    const bool load = insn->opcode == PTX_OP_LD || insn->opcode == PTX_OP_LDU;
    if (insn->opcode == PTX_OP_ATOM || insn->opcode == PTX_OP_RED)
        return "atomic operation, thread by thread";
    if (!load && insn->opcode != PTX_OP_ST)
        return NULL;
    const ptx_operand *at = address_of(s, insn);
    if (!at || at->base != PTX_OPERAND_REG || insn->space == PTX_SPACE_PARAM ||
        insn->space == PTX_SPACE_LOCAL || ptx_is_uniform_insn(s, i))
        return NULL;
    const int64_t stride = stride_of(s, at->index, i, 0), bytes = bytes_of(insn);
    if (stride == bytes || (load && stride == 0))
        return is_bent(s, at->index, i, 0)
                   ? "runs: vectors between the threads where the index is clamped, "
                     "wrapped or divided"
                   : NULL;
    if (stride == UNKNOWN)
        return load ? "gather: the address is not the thread's index times a constant"
                    : "scatter: the address is not the thread's index times a constant";
    return ptx_format(memory, "%s: %lld bytes from thread to thread, for %lld bytes",
                      load ? "gather" : "scatter", (long long)stride, (long long)bytes);
}

/* The most that ptx_find_costs() finds. */
uint32_t ptx_costs_max(const ptx_shape *s)
{
    return s->function->insn_count + s->function->register_count + s->loop_count;
}

uint32_t ptx_find_costs(ptx_flow_memory *memory, const ptx_shape *s, ptx_cut *out)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        const ptx_insn *insns = s->function->insns;
        if (b->loop != SHAPE_NONE && s->loops[b->loop].head == s->order[n] &&
            !s->loops[b->loop].outside && b->count > 0)
            out[count++] = (ptx_cut){
                insns[b->first].line,
                "loop whose rounds differ by thread: no vectors, thread by thread"};
        for (uint32_t i = b->first; i < b->first + b->count && b->kind == SHAPE_CODE;
             i++) {
            const char *why = access_cost(memory, s, i);
            if (why)
                out[count++] = (ptx_cut){insns[i].line, why};
        }
    }
    /* A warp's form keeps them in vector registers. */
    for (uint32_t r = 0; r < s->function->register_count && !s->by_warp; r++)
        if (s->regs[r].home == SHAPE_ARRAY && s->regs[r].def != SHAPE_NONE)
            out[count++] =
                (ptx_cut){s->function->insns[s->regs[r].def].line,
                          ptx_format(memory, "%s is kept in memory from cut to cut",
                                     s->function->registers[r].name)};
    return count;
}
