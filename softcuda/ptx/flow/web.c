// SPDX-License-Identifier: Apache-2.0
/* Registers with several meanings, taken apart. A compiler gives the thread's index and the
 * counters of the loops that start from it one register:
 *
 *     mov r, %tid.x               mov own, %tid.x;  mov r, own
 *     ... part[r] ...             ... part[own] ...        <- this definition alone arrives
 *   loop:                       loop:
 *     ... add r, r, 256           ... add r, r, 256
 *
 * Later analyses do not look at order, so as written r is not an index anywhere: it is kept in
 * memory from barrier to barrier, and each access by it is a gather. Here what reads `r`
 * where one definition alone arrives reads a register of its own, which can be computed
 * again anywhere (value.c). `add r, r, x` reads r all the same: it is a step from what r
 * was, which value.c knows, and with a register between them no more. */
#include <string.h>

#include "softcuda/ptx/flow/flow.h"

#define DEFS_MAX 8u
#define BACK_MAX 64u
#define MANY (SHAPE_NONE - 1) /* several definitions arrive, or on some way none */

typedef struct splitter {
    const ptx_shape *s;
    ptx_function *to;
    uint32_t reg;
    uint32_t
        *arrives;    /* by block: the definition of reg that does; NONE: not known yet */
    uint32_t *own;   /* by instruction: the register that its definition got, or NONE */
    uint32_t *place; /* by instruction: where it went */
    uint32_t made;
} splitter;

static const ptx_operand *operands_of(const ptx_shape *s, uint32_t i)
{
    return &s->function->operands[s->function->insns[i].operand];
}

static bool gets(const ptx_shape *s, uint32_t i, uint32_t reg)
{
    for (uint32_t k = 0; k < s->insns[i].read_count; k++)
        if (s->insns[i].reads[k] == reg)
            return true;
    return false;
}

/* A whole number that is set several times, as indices and addresses are. */
static bool is_candidate(const ptx_shape *s, uint32_t reg)
{
    const ptx_type type = (ptx_type)s->function->registers[reg].type;
    return s->regs[reg].def_count > 1 && s->regs[reg].def_count <= DEFS_MAX &&
           type != PTX_PRED && type != PTX_F32 && type != PTX_F64 &&
           (ptx_type_bytes(type) == 4 || ptx_type_bytes(type) == 8);
}

/* One block, or one round of a loop. */
static bool in_round(const ptx_shape *s, uint32_t a, uint32_t b)
{
    return a == b ||
           (s->blocks[a].loop != SHAPE_NONE && s->blocks[a].loop == s->blocks[b].loop);
}

/* A step of a loop, `add r, r, u`, perhaps by way of other registers of its block or round:
 * those stay as they are, for what they are is known (value.c). */
static bool steps(const ptx_shape *s, uint32_t def, uint32_t reg)
{
    uint32_t stack[BACK_MAX], depth = 0, seen = 0;
    stack[depth++] = def;
    while (depth > 0) {
        const uint32_t at = stack[--depth];
        if (gets(s, at, reg))
            return true;
        for (uint32_t k = 0; k < s->insns[at].read_count; k++) {
            const uint32_t q = s->insns[at].reads[k], d = s->regs[q].def;
            if (s->regs[q].def_count != 1 || d >= at ||
                !in_round(s, s->insns[d].block, s->insns[def].block))
                continue;
            if (depth == BACK_MAX || ++seen > BACK_MAX)
                return true;
            stack[depth++] = d;
        }
    }
    return false;
}

/* What only computes, so that the same may be computed again. */
static bool is_split(const ptx_shape *s, uint32_t def, uint32_t reg)
{
    const ptx_operand *o = operands_of(s, def);
    return ptx_is_cheap(s, def) && o[0].kind == PTX_OPERAND_REG && o[0].index == reg &&
           !steps(s, def, reg);
}

/* ---- which definition arrives ------------------------------------------------------ */

static uint32_t leaves(const splitter *n, uint32_t block)
{
    const ptx_flow_block *b = &n->s->blocks[block];
    for (uint32_t i = b->first + b->count; i-- > b->first;)
        if (ptx_writes(n->s, i, n->reg))
            return n->s->function->insns[i].guarded ? MANY : i;
    return n->arrives[block];
}

static uint32_t enters(const splitter *n, uint32_t block)
{
    const ptx_flow_block *b = &n->s->blocks[block];
    uint32_t found = block == n->s->entry ? MANY : SHAPE_NONE;
    for (uint32_t k = 0; k < b->pred_count; k++) {
        const uint32_t def = leaves(n, b->pred[k]);
        if (def == SHAPE_NONE || def == found)
            continue;
        found = found == SHAPE_NONE ? def : MANY;
    }
    return found;
}

/* From the optimistic side: a block's value only changes to a definition, then to MANY. */
static void find_arrivals(splitter *n)
{
    const ptx_shape *s = n->s;
    for (uint32_t b = 0; b < s->block_count; b++)
        n->arrives[b] = SHAPE_NONE;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < s->order_count; k++) {
            const uint32_t now = enters(n, s->order[k]);
            changed |= now != n->arrives[s->order[k]];
            n->arrives[s->order[k]] = now;
        }
    }
}

/* ---- the function with registers of their own -------------------------------------- */

static uint32_t own_register(splitter *n, uint32_t def)
{
    if (n->own[def] == SHAPE_NONE) {
        n->own[def] = n->to->register_count++;
        n->to->registers[n->own[def]] = n->to->registers[n->reg];
        n->made++;
    }
    return n->own[def];
}

static void split_read(splitter *n, uint32_t i, uint32_t def)
{
    const ptx_insn *insn = &n->s->function->insns[i];
    const uint32_t first = n->s->insns[i].write_count > 0 ? 1 : 0;
    for (uint32_t k = first; k < insn->operand_count; k++) {
        ptx_operand *o = &n->to->operands[insn->operand + k];
        const bool is = o->kind == PTX_OPERAND_REG ||
                        (o->kind == PTX_OPERAND_ADDRESS && o->base == PTX_OPERAND_REG);
        if (is && o->index == n->reg)
            o->index = own_register(n, def);
    }
}

static void split_block(splitter *n, uint32_t block)
{
    const ptx_shape *s = n->s;
    const ptx_flow_block *b = &s->blocks[block];
    uint32_t def = n->arrives[block];
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const ptx_insn *insn = &s->function->insns[i];
        if (def < MANY && !insn->guarded && s->insns[i].role == PTX_ROLE_PLAIN &&
            s->insns[i].write_count <= 1 && gets(s, i, n->reg) &&
            !ptx_writes(s, i, n->reg) && is_split(s, def, n->reg))
            split_read(n, i, def);
        if (ptx_writes(s, i, n->reg))
            def = insn->guarded ? MANY : i;
    }
}

/* `r = ...` becomes `own = ...; r = own`. */
static void write_insns(splitter *n)
{
    const ptx_function *from = n->s->function;
    ptx_function *to = n->to;
    to->insn_count = 0;
    for (uint32_t i = 0; i < from->insn_count; i++) {
        n->place[i] = to->insn_count;
        to->insns[to->insn_count++] = from->insns[i];
        if (n->own[i] == SHAPE_NONE)
            continue;
        ptx_operand *set = &to->operands[from->insns[i].operand];
        ptx_operand *copy = &to->operands[to->operand_count];
        copy[0] = copy[1] = *set;
        set->index = copy[1].index = n->own[i];
        ptx_insn move = from->insns[i];
        move.opcode = PTX_OP_MOV;
        move.type_count = 1;
        move.mod_count = 0;
        move.types[0] = (uint8_t)to->registers[n->own[i]].type;
        move.operand = to->operand_count;
        move.operand_count = 2;
        to->operand_count += 2;
        to->insns[to->insn_count++] = move;
    }
    n->place[from->insn_count] = to->insn_count;
}

static void *copy_of(const ptx_shape *s, const void *from, uint32_t count, uint32_t more,
                     size_t bytes)
{
    void *to = ptx_alloc(s->memory, (size_t)count + more, bytes);
    if (count > 0)
        memcpy(to, from, count * bytes);
    return to;
}

const ptx_function *ptx_split_registers(const ptx_shape *s)
{
    const ptx_function *f = s->function;
    if (ptx_is_large(s))
        return f;
    splitter n = {.s = s, .to = ptx_alloc(s->memory, 1, sizeof(ptx_function))};
    *n.to = *f;
    n.own = ptx_alloc(s->memory, f->insn_count, sizeof(*n.own));
    n.place = ptx_alloc(s->memory, f->insn_count + 1ull, sizeof(*n.place));
    n.arrives = ptx_alloc(s->memory, s->block_count, sizeof(*n.arrives));
    for (uint32_t i = 0; i < f->insn_count; i++)
        n.own[i] = SHAPE_NONE;
    n.to->insns = copy_of(s, f->insns, f->insn_count, f->insn_count, sizeof(ptx_insn));
    n.to->operands =
        copy_of(s, f->operands, f->operand_count, 2 * f->insn_count, sizeof(ptx_operand));
    n.to->registers =
        copy_of(s, f->registers, f->register_count, f->insn_count, sizeof(ptx_register));
    n.to->labels = copy_of(s, f->labels, f->label_count, 0, sizeof(ptx_label));
    for (uint32_t r = 0; r < f->register_count; r++) {
        if (!is_candidate(s, r))
            continue;
        n.reg = r;
        find_arrivals(&n);
        for (uint32_t k = 0; k < s->order_count; k++)
            split_block(&n, s->order[k]);
    }
    if (n.made == 0 || f->insn_count + n.made > SHAPE_LARGE_INSNS)
        return f;
    write_insns(&n);
    for (uint32_t k = 0; k < f->label_count; k++)
        n.to->labels[k].insn = n.place[f->labels[k].insn];
    return n.to;
}
