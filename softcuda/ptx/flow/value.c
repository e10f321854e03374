// SPDX-License-Identifier: Apache-2.0
/* What is known of registers: where they are alive, and where a divergent one that is
 * alive across a cut has its home:
 *  - SHAPE_REMAT: it is cheap and made of the thread's index and uniform values that have
 *    one definition, so each region computes it again, and LLVM sees its stride;
 *  - SHAPE_AFFINE: such a base, plus an offset that uniform steps change: the offset is a
 *    scalar of the block (pointers and indices that loops move on); it may start with a
 *    uniform value that the base adds, such as the row of a tile that a loop has reached;
 *  - SHAPE_ARRAY: anything else, an array by thread in the block's scratch memory.
 *
 * Why one definition is enough for REMAT: with one definition that reaches every use
 * (nothing alive at the entry), a path from the definition of r to a use that passes the
 * definition of an operand of r again passes the definition of r again after it. */
#include <string.h>

#include "softcuda/ptx/flow/flow.h"

#define REMAT_COST_MAX 24u
#define LOCKSTEP_INSNS_MAX 400u

/* ---- alive ------------------------------------------------------------------------ */

static uint32_t **maps(ptx_shape *s)
{
    uint32_t **list = ptx_alloc(s->memory, s->block_count, sizeof(*list));
    for (uint32_t n = 0; n < s->order_count; n++)
        list[s->order[n]] = ptx_alloc(s->memory, s->reg_words, sizeof(uint32_t));
    return list;
}

/* Registers read before they are written, and written, in a block. */
static void block_sets(const ptx_shape *s, uint32_t b, uint32_t *uses, uint32_t *defs)
{
    const ptx_flow_block *block = &s->blocks[b];
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        const ptx_flow_insn *insn = &s->insns[i];
        for (uint32_t k = 0; k < insn->read_count; k++)
            if (!ptx_bit(defs, insn->reads[k]))
                ptx_set_bit(uses, insn->reads[k]);
        for (uint32_t k = 0; k < insn->write_count; k++)
            ptx_set_bit(defs, insn->writes[k]);
    }
    if (block->end != SHAPE_JUMP && !ptx_bit(defs, block->reg))
        ptx_set_bit(uses, block->reg);
}

static bool live_step(const ptx_shape *s, uint32_t b, uint32_t *const *uses,
                      uint32_t *const *defs)
{
    const ptx_flow_block *block = &s->blocks[b];
    bool changed = false;
    for (uint32_t w = 0; w < s->reg_words; w++) {
        uint32_t out = 0;
        for (uint32_t k = 0; k < block->succ_count; k++)
            if (block->succ[k] != SHAPE_EXIT)
                out |= s->live_in[block->succ[k]][w];
        const uint32_t in = uses[b][w] | (out & ~defs[b][w]);
        changed |= in != s->live_in[b][w];
        s->live_in[b][w] = in;
    }
    return changed;
}

static bool defined_step(const ptx_shape *s, uint32_t b, uint32_t *const *defs)
{
    const ptx_flow_block *block = &s->blocks[b];
    bool changed = false;
    for (uint32_t w = 0; w < s->reg_words; w++) {
        uint32_t in = 0;
        for (uint32_t k = 0; k < block->pred_count; k++)
            in |= s->maybe[block->pred[k]][w] | defs[block->pred[k]][w];
        changed |= in != s->maybe[b][w];
        s->maybe[b][w] = in;
    }
    return changed;
}

/* What warp operations touch lies in arrays; what they write cannot be computed again. */
static void mark_warp_uses(ptx_shape *s)
{
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        if (b->kind == SHAPE_CODE)
            continue;
        const ptx_flow_insn *insn = &s->insns[b->first];
        for (uint32_t k = 0; k < insn->read_count; k++)
            s->regs[insn->reads[k]].warp_use = 1;
        for (uint32_t k = 0; k < insn->write_count; k++)
            s->regs[insn->writes[k]].warp_use = s->regs[insn->writes[k]].warp_write = 1;
    }
}

/* Alive is what may be read later; what no definition reaches is undefined, not alive. */
void ptx_find_liveness(ptx_shape *s)
{
    uint32_t **uses = maps(s), **defs = maps(s);
    s->live_in = maps(s);
    s->maybe = maps(s);
    for (uint32_t n = 0; n < s->order_count; n++)
        block_sets(s, s->order[n], uses[s->order[n]], defs[s->order[n]]);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = s->order_count; n-- > 0;)
            changed |= live_step(s, s->order[n], uses, defs);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = 0; n < s->order_count; n++)
            changed |= defined_step(s, s->order[n], defs);
    }
    for (uint32_t r = 0; r < s->function->register_count; r++) {
        ptx_flow_reg *reg = &s->regs[r];
        reg->strict = reg->def_count == 1 && !s->function->insns[reg->def].guarded &&
                      !ptx_bit(s->live_in[s->entry], r);
    }
    mark_warp_uses(s);
    s->defs = defs;
    s->uses = uses;
}

/* ---- cheap to compute again ------------------------------------------------------- */

static const ptx_operand *operands_of(const ptx_shape *s, uint32_t i)
{
    return &s->function->operands[s->function->insns[i].operand];
}

/* One or two instructions of a processor, without memory or a fault. */
static const bool cheap[PTX_OP_COUNT] = {
    [PTX_OP_MOV] = true,  [PTX_OP_CVT] = true,   [PTX_OP_CVTA] = true,
    [PTX_OP_ADD] = true,  [PTX_OP_SUB] = true,   [PTX_OP_MUL] = true,
    [PTX_OP_MAD] = true,  [PTX_OP_MUL24] = true, [PTX_OP_MAD24] = true,
    [PTX_OP_SHL] = true,  [PTX_OP_SHR] = true,   [PTX_OP_AND] = true,
    [PTX_OP_OR] = true,   [PTX_OP_XOR] = true,   [PTX_OP_NOT] = true,
    [PTX_OP_NEG] = true,  [PTX_OP_MIN] = true,   [PTX_OP_MAX] = true,
    [PTX_OP_SETP] = true, [PTX_OP_SELP] = true,  [PTX_OP_BFE] = true,
    [PTX_OP_BFI] = true,  [PTX_OP_LOP3] = true,  [PTX_OP_SHF] = true,
};

bool ptx_is_cheap(const ptx_shape *s, uint32_t i)
{
    const ptx_insn *insn = &s->function->insns[i];
    if (!cheap[insn->opcode] || insn->guarded || ptx_has(insn, PTX_MOD_CC) ||
        s->insns[i].write_count != 1 || s->insns[i].role != PTX_ROLE_PLAIN ||
        s->insns[i].reads_memory)
        return false;
    for (uint32_t k = 0; k < insn->operand_count; k++) {
        const ptx_operand *o = &operands_of(s, i)[k];
        if (ptx_is_clock(o))
            return false;
        if (o->kind == PTX_OPERAND_VAR && (o->index & PTX_VAR_LOCAL) &&
            s->function->variables[o->index & ~PTX_VAR_LOCAL].space == PTX_SPACE_PARAM)
            return false;
    }
    return true;
}

static bool same_insn(const ptx_shape *s, uint32_t a, uint32_t b)
{
    const ptx_insn *x = &s->function->insns[a], *y = &s->function->insns[b];
    if (x->opcode != y->opcode || x->type_count != y->type_count ||
        x->mod_count != y->mod_count || x->operand_count != y->operand_count ||
        memcmp(x->types, y->types, sizeof(x->types)) != 0 ||
        memcmp(x->mods, y->mods, sizeof(x->mods)) != 0 || y->guarded)
        return false;
    for (uint32_t k = 0; k < x->operand_count; k++) {
        const ptx_operand *p = &operands_of(s, a)[k], *q = &operands_of(s, b)[k];
        if (p->kind != q->kind || p->negate != q->negate || p->single != q->single ||
            p->base != q->base || p->index != q->index || p->imm != q->imm)
            return false;
    }
    return true;
}

/* All definitions of the register say the same (a compiler repeats them in both arms). */
bool ptx_has_one_meaning(const ptx_shape *s, uint32_t reg)
{
    if (s->regs[reg].strict)
        return true;
    if (ptx_bit(s->live_in[s->entry], reg) || s->regs[reg].def_count > 4)
        return false;
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        for (uint32_t i = b->first; i < b->first + b->count; i++)
            if (ptx_writes(s, i, reg) && !same_insn(s, s->regs[reg].def, i))
                return false;
    }
    return true;
}

enum { REMAT_UNKNOWN, REMAT_VISITING, REMAT_YES, REMAT_NO };

static bool can_remat(ptx_shape *s, uint8_t *state, uint32_t reg, uint32_t depth);

/* Every operand is uniform with one definition, or can be computed again itself. */
static bool operands_remat(ptx_shape *s, uint8_t *state, uint32_t i, uint32_t depth,
                           uint32_t *cost)
{
    *cost = 1;
    for (uint32_t k = 0; k < s->insns[i].read_count; k++) {
        const uint32_t q = s->insns[i].reads[k];
        if (!s->regs[q].divergent) {
            if (!s->regs[q].strict)
                return false;
            continue;
        }
        if (!can_remat(s, state, q, depth + 1))
            return false;
        *cost += s->regs[q].cost;
    }
    return *cost <= REMAT_COST_MAX;
}

#define WAY_MAX 16u /* blocks that the only way to an instruction is followed back */

/* The one definition of q in the block of instruction i, before it, or in the last block on
 * the only way there that has any; else SHAPE_NONE. What it gives is what i reads, however
 * q is defined elsewhere: a counter that two loops share is the thread's index before both. */
uint32_t ptx_local_def(const ptx_shape *s, uint32_t i, uint32_t q)
{
    uint32_t at = s->insns[i].block, found = SHAPE_NONE;
    for (uint32_t depth = 0; depth < WAY_MAX; depth++) {
        const ptx_flow_block *b = &s->blocks[at];
        for (uint32_t k = b->first; k < b->first + b->count; k++) {
            if (!ptx_writes(s, k, q))
                continue;
            if (found != SHAPE_NONE || (depth == 0 && k >= i))
                return SHAPE_NONE;
            found = k;
        }
        if (found != SHAPE_NONE || b->pred_count != 1 || at == s->entry)
            break;
        at = b->pred[0];
    }
    return found;
}

/* As operands_remat(), but an operand with other meanings elsewhere may be computed by
 * its definition in the same block. */
static bool operands_near(ptx_shape *s, uint8_t *state, uint32_t i, uint32_t depth,
                          uint32_t *cost)
{
    *cost = 1;
    for (uint32_t k = 0; k < s->insns[i].read_count; k++) {
        const uint32_t q = s->insns[i].reads[k];
        uint32_t more = 0;
        if (!s->regs[q].divergent) {
            if (!s->regs[q].strict)
                return false;
        } else if (can_remat(s, state, q, depth + 1)) {
            more = s->regs[q].cost;
        } else {
            const uint32_t d = ptx_local_def(s, i, q);
            if (d == SHAPE_NONE || !ptx_is_cheap(s, d) ||
                !operands_remat(s, state, d, depth + 1, &more))
                return false;
        }
        *cost += more;
    }
    return *cost <= REMAT_COST_MAX;
}

/* Found when homes were: whether the register can be computed again anywhere. */
bool ptx_is_remat(const ptx_shape *s, uint32_t reg)
{
    return s->remat[reg] == REMAT_YES;
}

static bool can_remat(ptx_shape *s, uint8_t *state, uint32_t reg, uint32_t depth)
{
    ptx_flow_reg *r = &s->regs[reg];
    uint32_t cost = 0;
    if (state[reg] == REMAT_YES)
        return true;
    if (state[reg] != REMAT_UNKNOWN || depth > REMAT_COST_MAX)
        return false;
    state[reg] = REMAT_VISITING;
    const bool can = r->def_count > 0 && !r->warp_write && ptx_is_cheap(s, r->def) &&
                     ptx_has_one_meaning(s, reg) &&
                     (r->def_count == 1 ? operands_near(s, state, r->def, depth, &cost)
                                        : operands_remat(s, state, r->def, depth, &cost));
    state[reg] = can ? REMAT_YES : REMAT_NO;
    r->cost = cost;
    return can;
}

/* ---- a base and a uniform offset -------------------------------------------------- */

static bool alive_behind(const ptx_shape *s, uint32_t loop, uint32_t reg)
{
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        if (!ptx_in_loop(s, loop, s->order[n]))
            continue;
        for (uint32_t k = 0; k < b->succ_count; k++)
            if (b->succ[k] != SHAPE_EXIT && !ptx_in_loop(s, loop, b->succ[k]) &&
                ptx_bit(s->live_in[b->succ[k]], reg))
                return true;
    }
    return false;
}

/* Block b runs exactly once in every round of the loop. */
static bool once_a_round(const ptx_shape *s, uint32_t loop, uint32_t b)
{
    const ptx_flow_block *head = &s->blocks[s->loops[loop].head];
    if (s->blocks[b].loop != loop)
        return false;
    for (uint32_t k = 0; k < head->pred_count; k++)
        if (ptx_in_loop(s, loop, head->pred[k]) && !ptx_dominates(s, b, head->pred[k]))
            return false;
    return true;
}

/* Where a step may be: where all live threads come together, or in a lockstep loop,
 * all of whose threads that still run have made the same number of rounds. */
static bool step_place(const ptx_shape *s, uint32_t i, uint32_t reg, uint32_t *loop)
{
    const uint32_t b = s->insns[i].block;
    if (!s->blocks[b].divergent)
        return *loop == SHAPE_NONE;
    const uint32_t l = s->blocks[b].loop;
    if (l == SHAPE_NONE || !s->loops[l].lockstep || (*loop != SHAPE_NONE && *loop != l) ||
        !once_a_round(s, l, b) || alive_behind(s, l, reg))
        return false;
    *loop = l;
    return true;
}

/* `add r, a, u` with an `a` that can be computed again: then *part is a. */
static bool find_part(ptx_shape *s, uint8_t *state, uint32_t reg, uint32_t i,
                      uint32_t *part)
{
    const ptx_insn *insn = &s->function->insns[i];
    const ptx_operand *o = operands_of(s, i);
    if (insn->opcode != PTX_OP_ADD || insn->guarded || insn->mod_count != 0 ||
        insn->operand_count != 3 || s->insns[i].role != PTX_ROLE_PLAIN ||
        o[1].kind != PTX_OPERAND_REG || o[2].kind != PTX_OPERAND_REG ||
        s->blocks[s->insns[i].block].divergent)
        return false;
    const uint32_t a = s->regs[o[1].index].divergent ? o[1].index : o[2].index;
    const uint32_t u = a == o[1].index ? o[2].index : o[1].index;
    if (a == reg || s->regs[u].divergent || !s->regs[a].divergent ||
        s->function->registers[a].type != s->function->registers[reg].type ||
        s->function->registers[u].type != s->function->registers[reg].type ||
        !can_remat(s, state, a, 0))
        return false;
    *part = a;
    return true;
}

static bool find_affine(ptx_shape *s, uint8_t *state, uint32_t reg)
{
    ptx_flow_reg *r = &s->regs[reg];
    uint32_t base = SHAPE_NONE, loop = SHAPE_NONE, steps = 0, bases = 0, cost;
    const ptx_type type = (ptx_type)s->function->registers[reg].type;
    if (r->def_count < 1 || r->warp_use || ptx_bit(s->live_in[s->entry], reg) ||
        type == PTX_F32 || type == PTX_F64 || type == PTX_PRED || type == PTX_B128)
        return false;
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            if (!ptx_writes(s, i, reg))
                continue;
            if (ptx_is_step(s, i, reg)) {
                if (steps++ > 0 && loop == SHAPE_NONE && b->divergent)
                    return false;
                if (!step_place(s, i, reg, &loop))
                    return false;
            } else if (bases++ == 0) {
                base = i;
            } else if (!same_insn(s, base, i)) {
                return false;
            }
        }
    }
    r->part = SHAPE_NONE;
    if (base == SHAPE_NONE)
        return false;
    /* Of several bases each is in a place of its own. */
    if (steps == 0 || !ptx_is_cheap(s, base) ||
        !(bases == 1 ? operands_near(s, state, base, 0, &cost)
                     : operands_remat(s, state, base, 0, &cost))) {
        if (loop != SHAPE_NONE || !find_part(s, state, reg, base, &r->part))
            return false;
        cost = s->regs[r->part].cost + 1;
    }
    const ptx_flow_block *at = &s->blocks[s->insns[base].block];
    if (loop == SHAPE_NONE && at->divergent)
        return false;
    if (loop != SHAPE_NONE && ptx_in_loop(s, loop, s->insns[base].block))
        return false;
    r->base = base;
    r->loop = loop;
    r->cost = cost;
    return true;
}

/* ---- loops that all threads run round by round ------------------------------------ */

static bool plain_body(const ptx_shape *s, uint32_t loop)
{
    uint32_t insns = 0;
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        if (!ptx_in_loop(s, loop, s->order[n]))
            continue;
        if (b->kind == SHAPE_WARP && s->insns[b->first].is_sum)
            continue;
        if (b->loop != loop || b->kind != SHAPE_CODE)
            return false;
        insns += b->count;
        for (uint32_t i = b->first; i < b->first + b->count; i++)
            if (s->insns[i].role != PTX_ROLE_PLAIN ||
                ((s->insns[i].is_volatile ||
                  s->function->insns[i].opcode == PTX_OP_RED) &&
                 !ptx_commutes(s, i)))
                return false;
    }
    return insns <= LOCKSTEP_INSNS_MAX;
}

/* The one block that leaves the loop, or SHAPE_NONE. */
static uint32_t exit_block(const ptx_shape *s, uint32_t loop)
{
    uint32_t found = SHAPE_NONE;
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        if (!ptx_in_loop(s, loop, s->order[n]))
            continue;
        for (uint32_t k = 0; k < b->succ_count; k++) {
            if (b->succ[k] != SHAPE_EXIT && ptx_in_loop(s, loop, b->succ[k]))
                continue;
            if (found != SHAPE_NONE || b->end != SHAPE_BRANCH)
                return SHAPE_NONE;
            found = s->order[n];
        }
    }
    return found;
}

/* The loop's only definition of `reg` is a uniform step. */
static bool is_induction(const ptx_shape *s, uint32_t loop, uint32_t reg)
{
    uint32_t steps = 0;
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            if (!ptx_in_loop(s, loop, s->order[n]) || !ptx_writes(s, i, reg))
                continue;
            if (!ptx_is_step(s, i, reg) || ++steps > 1)
                return false;
        }
    }
    return steps == 1;
}

/* No memory and no other thread has a say in the register. */
static bool comes_from_index(const ptx_shape *s, uint32_t reg, uint32_t *seen,
                             uint32_t depth)
{
    if (!s->regs[reg].divergent || ptx_bit(seen, reg))
        return true;
    if (depth > REMAT_COST_MAX)
        return false;
    ptx_set_bit(seen, reg);
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            if (!ptx_writes(s, i, reg))
                continue;
            if (s->insns[i].role != PTX_ROLE_PLAIN || s->insns[i].reads_memory)
                return false;
            for (uint32_t k = 0; k < s->insns[i].read_count; k++)
                if (!comes_from_index(s, s->insns[i].reads[k], seen, depth + 1))
                    return false;
        }
    }
    return true;
}

/* The loop starts from what the thread's index gives: not from data, where one thread may
 * make many more rounds than its neighbors. */
static bool starts_alike(ptx_shape *s, uint32_t reg)
{
    uint32_t *seen = ptx_alloc(s->memory, s->reg_words, sizeof(*seen));
    return comes_from_index(s, reg, seen, 0);
}

static bool is_steady(const ptx_shape *s, const ptx_operand *o)
{
    return o->kind == PTX_OPERAND_INT ||
           (o->kind == PTX_OPERAND_REG && !s->regs[o->index].divergent);
}

/* for (i = f(thread); i < uniform; i += uniform): trip counts differ by one at most, so
 * running all threads round by round under a mask costs next to nothing. */
static bool is_lockstep(ptx_shape *s, uint32_t loop)
{
    const uint32_t b = exit_block(s, loop);
    if (b == SHAPE_NONE || !plain_body(s, loop))
        return false;
    const uint32_t p = s->blocks[b].reg;
    const uint32_t i = s->regs[p].def;
    if (s->regs[p].def_count != 1 || !ptx_in_loop(s, loop, s->insns[i].block))
        return false;
    const ptx_insn *insn = &s->function->insns[i];
    const ptx_operand *o = operands_of(s, i);
    if (insn->opcode != PTX_OP_SETP || insn->guarded || insn->operand_count != 3)
        return false;
    for (uint32_t k = 1; k <= 2; k++)
        if (o[k].kind == PTX_OPERAND_REG && is_induction(s, loop, o[k].index) &&
            is_steady(s, &o[3 - k]))
            return starts_alike(s, o[k].index);
    return false;
}

void ptx_find_lockstep(ptx_shape *s)
{
    for (uint32_t l = 0; l < s->loop_count; l++) {
        s->loops[l].lockstep = !s->loops[l].uniform && is_lockstep(s, l);
        s->loops[l].outside = 0;
    }
}

/* ---- homes ---- */

static uint32_t array_bytes(const ptx_shape *s, uint32_t reg)
{
    return ptx_type_bytes((ptx_type)s->function->registers[reg].type);
}

static void place_arrays(ptx_shape *s)
{
    s->array_bytes = 0;
    for (uint32_t bytes = 16; bytes > 0; bytes /= 2) {
        for (uint32_t r = 0; r < s->function->register_count; r++) {
            if (s->regs[r].home != SHAPE_ARRAY || array_bytes(s, r) != bytes)
                continue;
            s->regs[r].offset = s->array_bytes;
            s->array_bytes += bytes;
            s->array_count++;
        }
    }
    s->mask_offset = s->array_bytes;
    s->array_bytes += s->mask_count + s->has_live;
}

/* Registers that a region finds from before, and leaves for others. */
static void region_sets(ptx_shape *s, ptx_region *r)
{
    r->live_in = ptx_alloc(s->memory, s->reg_words, sizeof(uint32_t));
    r->live_out = ptx_alloc(s->memory, s->reg_words, sizeof(uint32_t));
    for (uint32_t w = 0; w < s->reg_words; w++) {
        uint32_t touched = 0, written = 0, wanted = 0;
        for (uint32_t k = 0; k < r->block_count; k++) {
            touched |= s->uses[r->blocks[k]][w] | s->defs[r->blocks[k]][w];
            written |= s->defs[r->blocks[k]][w];
        }
        for (uint32_t k = 0; k < r->target_count; k++)
            wanted |= s->live_in[s->regions[r->targets[k]].head][w];
        r->live_in[w] = s->live_in[r->head][w] & touched;
        r->live_out[w] = wanted & written;
    }
}

void ptx_find_homes(ptx_shape *s)
{
    uint8_t *state = ptx_alloc(s->memory, s->function->register_count, 1);
    s->remat = state;
    uint32_t *crossing = ptx_alloc(s->memory, s->reg_words, sizeof(*crossing));
    for (uint32_t n = 0; n < s->region_count; n++) {
        region_sets(s, &s->regions[n]);
        for (uint32_t w = 0; w < s->reg_words; w++)
            crossing[w] |=
                s->live_in[s->regions[n].head][w] & s->maybe[s->regions[n].head][w];
    }
    for (uint32_t r = 0; r < s->function->register_count; r++) {
        ptx_flow_reg *reg = &s->regs[r];
        if (!reg->divergent)
            reg->home = SHAPE_SCALAR;
        else if (reg->warp_use)
            reg->home = SHAPE_ARRAY;
        else if (!ptx_bit(crossing, r))
            reg->home = SHAPE_LOCAL;
        else if (can_remat(s, state, r, 0))
            reg->home = SHAPE_REMAT;
        else if (find_affine(s, state, r))
            reg->home = SHAPE_AFFINE;
        else
            reg->home = SHAPE_ARRAY;
    }
    place_arrays(s);
}
