// SPDX-License-Identifier: Apache-2.0
/* What only threads at an edge of the block do, apart from what all do:
 *
 *   tile[ty + 1][tx + 1] = in[y][x];         all:  ---- without the ifs: vectors
 *   if (ty == 0) tile[0][tx + 1] = ...       y 0 to 1, all x
 *   if (tx == 31) tile[ty + 1][33] = ...     all y, x 31 to 32
 *
 * The threads of a region are unordered, so the region's loop may be several loops, one
 * after the other: the main way, past all such ifs, for all threads, then each side for
 * the threads between two bounds of an axis that its conditions leave. What the main way
 * computes a side computes again, without its accesses of memory.
 *
 *   head --> P1 ------> P2 ------> J1 --> P3 --------> J2 --> out      the main way
 *             \         |          ^       \           ^
 *              \--> D1 -+--> D2 ---/        \--> D3 ---/               sides
 *
 * Each thread must do its own accesses in the order that is written: so after the first
 * branch to a side the main way touches no memory, and no side reads what the main way
 * has loaded. What a side sets must be its own: nothing that is read after it. */
#include <stdio.h>
#include <string.h>

#include "softcuda/ptx/abi.h"
#include "softcuda/ptx/shape/fast.h"

#define SIDES_MAX 16u
#define WAY_MAX 64u     /* blocks */
#define INSNS_MAX 3000u /* of all copies together */
#define DEPTH_MAX 6u

/* threadIdx's axis compared with a uniform value. */
typedef struct bound {
    int axis;
    ptx_modifier compare;
    bool is_signed;
    const ptx_operand *value;
} bound;

typedef struct side {
    uint32_t block, main; /* where it leaves the main way, and where others go then */
    uint32_t join;        /* where the ways meet: a block or SHAPE_EXIT */
    bool exact;           /* the bounds say it all: the branch need not be asked */
    bound bounds[4];
    uint32_t bound_count;
} side;

typedef struct plan {
    uint32_t way[WAY_MAX];
    uint32_t way_count;
    uint16_t *place;   /* by block: its place on the main way, + 1 */
    uint32_t *tainted; /* registers that come from the main way's loads: bitmap */
    side sides[SIDES_MAX];
    uint32_t side_count;
} plan;

/* ---- conditions ------------------------------------------------------------------- */

static bool is_word(uint32_t type)
{
    return type == PTX_U32 || type == PTX_S32 || type == PTX_B32 || type == PTX_U64 ||
           type == PTX_S64 || type == PTX_B64;
}

/* threadIdx.x, y or z, moved or made wider and narrow again: it is small; 3, the lane of a
 * warp's form. -1: it is not. */
static int axis_of(const ptx_fast *f, const ptx_operand *o)
{
    for (uint32_t depth = 0; depth < DEPTH_MAX; depth++) {
        if (f->s->by_warp &&
            (o->kind == PTX_OPERAND_SREG
                 ? o->index == PTX_SREG_LANEID && f->s->lanes == PTX_WARP_SIZE
                 : o->kind == PTX_OPERAND_REG && !o->negate &&
                       ptx_is_bare_lane(f->s, o->index)))
            return 3;
        if (o->kind == PTX_OPERAND_SREG && f->s->by_warp) /* it has one y and z */
            return o->index == PTX_SREG_TID_X ? 0 : -1;
        if (o->kind == PTX_OPERAND_SREG)
            return o->index == PTX_SREG_TID_X   ? 0
                   : o->index == PTX_SREG_TID_Y ? 1
                   : o->index == PTX_SREG_TID_Z ? 2
                                                : -1;
        const ptx_insn *insn = o->kind == PTX_OPERAND_REG && !o->negate
                                   ? ptx_fast_definition(f, o->index)
                                   : NULL;
        if (!insn || (insn->opcode != PTX_OP_MOV && insn->opcode != PTX_OP_CVT) ||
            insn->mod_count != 0 || insn->operand_count != 2)
            return -1;
        for (uint32_t k = 0; k < insn->type_count; k++)
            if (!is_word(insn->types[k]))
                return -1;
        o = &ptx_fast_operands(f, insn)[1];
    }
    return -1;
}

static bool is_uniform(const ptx_fast *f, const ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_INT)
        return true;
    return o->kind == PTX_OPERAND_REG && !o->negate && !f->s->regs[o->index].divergent &&
           ptx_fast_definition(f, o->index) &&
           ptx_type_bytes((ptx_type)f->s->function->registers[o->index].type) == 4;
}

static ptx_modifier opposite(ptx_modifier compare)
{
    switch (compare) {
    case PTX_MOD_EQ: return PTX_MOD_NE;
    case PTX_MOD_NE: return PTX_MOD_EQ;
    case PTX_MOD_LT: return PTX_MOD_GE;
    case PTX_MOD_LE: return PTX_MOD_GT;
    case PTX_MOD_GT: return PTX_MOD_LE;
    case PTX_MOD_GE: return PTX_MOD_LT;
    default: return PTX_MOD_UNKNOWN;
    }
}

static const ptx_operand zero = {.kind = PTX_OPERAND_INT};

/* `x | y` is 0: both are. Compilers write `x == 0 && y == 0` so. */
static bool add_zeros(const ptx_fast *f, const ptx_operand *o, side *to)
{
    const ptx_insn *insn = o->kind == PTX_OPERAND_REG && !o->negate
                               ? ptx_fast_definition(f, o->index)
                               : NULL;
    if (!insn || insn->opcode != PTX_OP_OR || insn->type_count != 1 ||
        insn->types[0] != PTX_B32 || insn->operand_count != 3)
        return false;
    for (uint32_t k = 1; k <= 2; k++) {
        const int axis = axis_of(f, &ptx_fast_operands(f, insn)[k]);
        if (axis < 0 || to->bound_count == 4)
            return false;
        to->bounds[to->bound_count++] = (bound){axis, PTX_MOD_EQ, false, &zero};
    }
    return true;
}

/* Threads for which the comparison gives `value` lie between two bounds. */
static bool add_compare(const ptx_fast *f, const ptx_insn *insn, bool value, side *to)
{
    const ptx_operand *o = ptx_fast_operands(f, insn);
    if (insn->mod_count != 1 || insn->type_count != 1 || insn->operand_count != 3 ||
        o[0].pair || to->bound_count == 4 ||
        ptx_type_bytes((ptx_type)insn->types[0]) != 4 || !is_word(insn->types[0]) ||
        !is_uniform(f, &o[2]))
        return false;
    ptx_modifier compare = (ptx_modifier)insn->mods[0];
    if (!value)
        compare = opposite(compare);
    if (compare == PTX_MOD_UNKNOWN || opposite(compare) == PTX_MOD_UNKNOWN ||
        compare == PTX_MOD_NE)
        return false;
    const int axis = axis_of(f, &o[1]);
    if (axis < 0)
        return compare == PTX_MOD_EQ && o[2].kind == PTX_OPERAND_INT && o[2].imm == 0 &&
               add_zeros(f, &o[1], to);
    to->bounds[to->bound_count++] =
        (bound){axis, compare, insn->types[0] == PTX_S32, &o[2]};
    return true;
}

/* The bounds of the threads in which predicate `reg` is `value`. */
static bool add_condition(const ptx_fast *f, uint32_t reg, bool value, uint32_t depth,
                          side *to)
{
    const ptx_insn *insn = depth < DEPTH_MAX ? ptx_fast_definition(f, reg) : NULL;
    if (!insn)
        return false;
    if (insn->opcode == PTX_OP_SETP)
        return add_compare(f, insn, value, to);
    const bool joins =
        (insn->opcode == PTX_OP_OR && !value) || (insn->opcode == PTX_OP_AND && value);
    if (!joins && insn->opcode != PTX_OP_NOT)
        return false;
    for (uint32_t k = 1; k < insn->operand_count; k++) {
        const ptx_operand *o = &ptx_fast_operands(f, insn)[k];
        if (o->kind != PTX_OPERAND_REG ||
            !add_condition(f, o->index, value ^ o->negate ^ (insn->opcode == PTX_OP_NOT),
                           depth + 1, to))
            return false;
    }
    return true;
}

/* ---- the main way ------------------------------------------------------------------ */

static bool inside(const ptx_fast *f, uint32_t block)
{
    return block != SHAPE_EXIT && block != SHAPE_NONE &&
           f->s->blocks[block].region == f->region && block != ptx_fast_region(f)->head;
}

static bool touches_memory(const ptx_fast *f, uint32_t block)
{
    const ptx_flow_block *b = &f->s->blocks[block];
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        if ((f->s->insns[i].reads_memory || f->s->insns[i].writes_memory) &&
            !ptx_fast_is_scalar(f->s, i))
            return true;
    return false;
}

/* Whether a way that others than `one` do not take, to `other`, may be the main one: `one`
 * is for a single row, or all that the others do here is to compute. */
static bool is_aside(const ptx_fast *f, const side *one, uint32_t other)
{
    return one->exact && inside(f, other) &&
           (one->bounds[0].compare == PTX_MOD_EQ || !touches_memory(f, other));
}

/* A branch of the main way: which way is a side. False: none can be. */
static bool add_side(const ptx_fast *f, plan *p, uint32_t block, uint32_t *next)
{
    const ptx_flow_block *b = &f->s->blocks[block];
    if (b->end != SHAPE_BRANCH || b->succ_count != 2 || !f->s->regs[b->reg].divergent ||
        p->side_count == SIDES_MAX || ptx_bit(p->tainted, b->reg))
        return false;
    side tries[2];
    for (uint32_t k = 0; k < 2; k++) {
        tries[k] = (side){.block = block};
        const bool when = (k == 0) != (b->negate != 0);
        tries[k].exact = add_condition(f, b->reg, when, 0, &tries[k]);
        if (!tries[k].exact)
            tries[k].bound_count = 0;
    }
    /* Post-dominators know nothing of a thread's end. */
    const bool ends = b->succ[0] == SHAPE_EXIT || b->succ[1] == SHAPE_EXIT;
    const uint32_t join = ends ? SHAPE_EXIT : b->ipdom;
    uint32_t off = b->succ[1] == join ? 0 : 1;
    if (b->succ[0] != join && b->succ[1] != join) {
        /* Neither way leads past the side at once. */
        off = is_aside(f, &tries[0], b->succ[1]) ? 0 : 1;
        if (!is_aside(f, &tries[off], b->succ[1 - off]))
            return false;
    }
    if (!inside(f, b->succ[off]))
        return false;
    tries[off].main = b->succ[1 - off];
    tries[off].join = join;
    p->sides[p->side_count++] = tries[off];
    *next = tries[off].main;
    return true;
}

/* What the block's instructions add to the registers that come from loads. */
static void taint(const ptx_fast *f, plan *p, uint32_t block)
{
    const ptx_flow_block *b = &f->s->blocks[block];
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const ptx_flow_insn *insn = &f->s->insns[i];
        bool is = insn->reads_memory && !ptx_fast_is_scalar(f->s, i);
        for (uint32_t k = 0; k < insn->read_count; k++)
            is |= ptx_bit(p->tainted, insn->reads[k]);
        for (uint32_t k = 0; k < insn->write_count && is; k++)
            ptx_set_bit(p->tainted, insn->writes[k]);
    }
}

/* What the main way finds in an array and changes there is not what a side would find. */
static void taint_arrays(const ptx_fast *f, plan *p)
{
    const ptx_region *r = ptx_fast_region(f);
    for (uint32_t reg = 0; reg < f->s->function->register_count; reg++)
        if (ptx_fast_is_array(f, reg) && ptx_bit(r->live_in, reg) &&
            ptx_bit(r->live_out, reg))
            ptx_set_bit(p->tainted, reg);
}

static bool find_way(const ptx_fast *f, plan *p)
{
    uint32_t block = ptx_fast_region(f)->head;
    for (;;) {
        if (p->way_count == WAY_MAX || p->place[block] != 0 ||
            (p->side_count > 0 && touches_memory(f, block)))
            return false;
        p->way[p->way_count++] = block;
        p->place[block] = (uint16_t)p->way_count;
        taint(f, p, block);
        const ptx_flow_block *b = &f->s->blocks[block];
        uint32_t next = b->succ_count == 1 ? b->succ[0] : SHAPE_EXIT;
        bool leaves = true;
        for (uint32_t k = 0; k < b->succ_count; k++)
            leaves &= !inside(f, b->succ[k]);
        if (leaves)
            return p->side_count > 0;
        if (b->succ_count != 1 && !add_side(f, p, block, &next))
            return false;
        if (!inside(f, next)) /* the region ends where the side's ways meet */
            return true;
        block = next;
    }
}

/* ---- sides ------------------------------------------------------------------------ */

/* Where the ways of a side's branch meet: a place on the main way, or after its end. */
static uint32_t join_place(const ptx_fast *f, const plan *p, const side *one)
{
    return inside(f, one->join) ? p->place[one->join] : p->way_count + 1;
}

/* No thread goes both ways: tid.y is not 0 and 7. */
static bool excludes(const side *a, const side *b)
{
    for (uint32_t i = 0; i < a->bound_count; i++)
        for (uint32_t k = 0; k < b->bound_count; k++) {
            const bound *x = &a->bounds[i], *y = &b->bounds[k];
            if (x->axis == y->axis && x->compare == PTX_MOD_EQ &&
                y->compare == PTX_MOD_EQ && x->value->kind == PTX_OPERAND_INT &&
                y->value->kind == PTX_OPERAND_INT &&
                (uint32_t)x->value->imm != (uint32_t)y->value->imm)
                return true;
        }
    return false;
}

/* Whether a thread that turns off at side `k` never comes to the branch of side `nth`, so
 * that it has to be asked whether it does. */
static bool keeps_away(const ptx_fast *f, const plan *p, uint32_t k, uint32_t nth)
{
    const side *first = &p->sides[k], *second = &p->sides[nth];
    return k < nth && p->place[second->block] < join_place(f, p, first) &&
           !excludes(first, second);
}

static bool is_read_at(const ptx_fast *f, uint32_t block, uint32_t reg)
{
    if (block == SHAPE_EXIT || block == SHAPE_NONE)
        return false;
    return ptx_bit(f->s->live_in[block], reg);
}

/* Two definitions that compute the same of the same, such as a sum that a compiler moved
 * into both arms of an if. */
static bool is_same_value(const ptx_fast *f, uint32_t a, uint32_t b, uint32_t depth)
{
    const ptx_insn *x = &f->s->function->insns[a], *y = &f->s->function->insns[b];
    if (a == b)
        return true;
    if (depth == DEPTH_MAX || x->opcode != y->opcode || x->guarded || y->guarded ||
        x->type_count != y->type_count || x->mod_count != y->mod_count ||
        x->operand_count != y->operand_count || f->s->insns[a].reads_memory ||
        f->s->insns[a].write_count != 1 || f->s->insns[b].write_count != 1 ||
        memcmp(x->types, y->types, sizeof(x->types)) != 0 ||
        memcmp(x->mods, y->mods, sizeof(x->mods)) != 0)
        return false;
    for (uint32_t k = 1; k < x->operand_count; k++) {
        const ptx_operand *p = &ptx_fast_operands(f, x)[k],
                          *q = &ptx_fast_operands(f, y)[k];
        if (p->kind != q->kind || p->negate != q->negate || p->imm != q->imm ||
            (p->kind != PTX_OPERAND_INT && p->kind != PTX_OPERAND_REG))
            return false;
        if (p->kind == PTX_OPERAND_REG &&
            (!ptx_fast_definition(f, p->index) || !ptx_fast_definition(f, q->index) ||
             !is_same_value(f, f->s->regs[p->index].def, f->s->regs[q->index].def,
                            depth + 1)))
            return false;
    }
    return true;
}

/* Both ways of the branch set the register, wherever it is set, to the same value. */
static bool is_set_alike(const ptx_fast *f, uint32_t branch, uint32_t reg)
{
    const ptx_shape *s = f->s;
    const ptx_region *r = ptx_fast_region(f);
    const ptx_flow_block *at = &s->blocks[branch];
    uint32_t first = SHAPE_NONE;
    for (uint32_t k = 0; k < at->succ_count; k++)
        if (is_read_at(f, at->succ[k], reg))
            return false; /* not on every way */
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &s->blocks[r->blocks[n]];
        for (uint32_t i = b->first; i < b->first + b->count; i++)
            for (uint32_t k = 0; k < s->insns[i].write_count; k++) {
                if (s->insns[i].writes[k] != reg)
                    continue;
                first = first == SHAPE_NONE ? i : first;
                if (!is_same_value(f, first, i, 0))
                    return false;
            }
    }
    return true;
}

/* Nothing that the block sets is read where the ways meet, but what both of them set. */
static bool keeps_to_itself(const ptx_fast *f, uint32_t block, const side *one)
{
    const ptx_flow_block *b = &f->s->blocks[block];
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        for (uint32_t k = 0; k < f->s->insns[i].write_count; k++) {
            const uint32_t reg = f->s->insns[i].writes[k];
            if (f->s->regs[reg].divergent && is_read_at(f, one->join, reg) &&
                !is_set_alike(f, one->block, reg))
                return false;
        }
    return true;
}

/* The blocks of a side end where the ways meet, and read nothing that was loaded. */
static bool check_side(const ptx_fast *f, const plan *p, const side *one)
{
    const ptx_region *r = ptx_fast_region(f);
    const uint32_t join = one->join;
    uint8_t *seen = ptx_alloc(f->s->memory, f->s->block_count, 1);
    if (join == SHAPE_NONE || (inside(f, join) && p->place[join] == 0))
        return false;
    for (uint32_t n = 0; n < r->block_count; n++) { /* in order: no loops among them */
        const uint32_t block = r->blocks[n];
        const ptx_flow_block *b = &f->s->blocks[block];
        if (block != one->block && !seen[block])
            continue;
        for (uint32_t k = 0; k < b->succ_count; k++) {
            const uint32_t to = b->succ[k];
            if (to == one->main || to == join || (inside(f, to) && p->place[to] != 0))
                continue;
            if (!inside(f, to) || f->s->blocks[to].order <= b->order)
                return false;
            seen[to] = 1;
        }
        if (block == one->block)
            continue;
        if (!keeps_to_itself(f, block, one))
            return false;
        for (uint32_t w = 0; w < f->s->reg_words; w++)
            if (f->s->uses[block][w] & p->tainted[w])
                return false;
    }
    return true;
}

/* On the main way between a branch and where its ways meet are blocks that not all
 * threads run, though all pass through them now. */
static bool check_way(const ptx_fast *f, const plan *p)
{
    for (uint32_t k = 0; k < p->side_count; k++) {
        const uint32_t from = p->place[p->sides[k].block];
        const uint32_t to = join_place(f, p, &p->sides[k]) - 1;
        for (uint32_t n = from; n < to; n++)
            if (!keeps_to_itself(f, p->way[n], &p->sides[k]))
                return false;
    }
    return true;
}

static bool find_plan(const ptx_fast *f, plan *p)
{
    bool any = false;
    p->place = ptx_alloc(f->s->memory, f->s->block_count, sizeof(*p->place));
    p->tainted = ptx_alloc(f->s->memory, f->s->reg_words, sizeof(*p->tainted));
    if (!ptx_fast_is_plain(f))
        return false;
    taint_arrays(f, p);
    if (!find_way(f, p) || !check_way(f, p))
        return false;
    for (uint32_t k = 0; k < p->side_count; k++) {
        if (!check_side(f, p, &p->sides[k]))
            return false;
        any |= p->sides[k].exact;
        /* Not all threads between the bounds come to the branch. */
        for (uint32_t n = 0; n < k; n++)
            p->sides[k].exact &= !keeps_away(f, p, n, k);
    }
    return any && (p->side_count + 1) * ptx_fast_insn_count(f) <= INSNS_MAX;
}

/* ---- writing ---------------------------------------------------------------------- */

/* `value` is taken to be between 0 and the number of threads along the axis: what is
 * negative, where comparisons are signed, is 0. */
static ptx_value clamp(ptx_fast *f, const bound *b, ptx_value value, const char *count,
                       bool past)
{
    ptx_emit *e = &f->emit;
    if (b->is_signed && b->compare != PTX_MOD_EQ) {
        const ptx_value low = ptx_let(e, "icmp slt i32 %s, 0", value.name);
        const ptx_value more = past ? ptx_let(e, "add i32 %s, 1", value.name) : value;
        const ptx_value up =
            ptx_let(e, "select i1 %s, i32 0, i32 %s", low.name, more.name);
        const ptx_value in = ptx_let(e, "icmp ult i32 %s, %s", up.name, count);
        return ptx_let(e, "select i1 %s, i32 %s, i32 %s", in.name, up.name, count);
    }
    const ptx_value in = ptx_let(e, "icmp ult i32 %s, %s", value.name, count);
    const ptx_value up = past ? ptx_let(e, "add i32 %s, 1", value.name) : value;
    return ptx_let(e, "select i1 %s, i32 %s, i32 %s", in.name, up.name, count);
}

/* Narrows from[] and to[] of the axis by one bound. */
static void narrow(ptx_fast *f, const bound *b, ptx_window *window)
{
    ptx_emit *e = &f->emit;
    char count[16];
    if (b->axis == 3)
        snprintf(count, sizeof(count), "%s", ptx_fast_lanes(f));
    else
        snprintf(count, sizeof(count), "%%ntid.%c", "xyz"[b->axis]);
    const ptx_value value = ptx_operand_value(e, b->value, PTX_U32);
    const bool lower =
        b->compare == PTX_MOD_GE || b->compare == PTX_MOD_GT || b->compare == PTX_MOD_EQ;
    const bool upper =
        b->compare == PTX_MOD_LE || b->compare == PTX_MOD_LT || b->compare == PTX_MOD_EQ;
    if (lower) {
        const ptx_value at = clamp(f, b, value, count, b->compare == PTX_MOD_GT);
        const ptx_value more =
            ptx_let(e, "icmp ugt i32 %s, %s", at.name, window->from[b->axis].name);
        window->from[b->axis] = ptx_let(e, "select i1 %s, i32 %s, i32 %s", more.name,
                                        at.name, window->from[b->axis].name);
    }
    if (upper) {
        const ptx_value at = clamp(f, b, value, count, b->compare != PTX_MOD_LT);
        const ptx_value less =
            ptx_let(e, "icmp ult i32 %s, %s", at.name, window->to[b->axis].name);
        window->to[b->axis] = ptx_let(e, "select i1 %s, i32 %s, i32 %s", less.name,
                                      at.name, window->to[b->axis].name);
    }
}

/* Of a warp the lanes that are between the bounds of x, too. */
static void narrow_lanes(ptx_fast *f, ptx_window *window)
{
    ptx_emit *e = &f->emit;
    ptx_value *const x[] = {&window->from[0], &window->to[0]};
    for (int k = 0; k < 2; k++) {
        const ptx_value is_after = ptx_let(e, "icmp ugt i32 %s, %%warp.x", x[k]->name);
        const ptx_value by = ptx_let(e, "sub i32 %s, %%warp.x", x[k]->name);
        const ptx_value lane =
            ptx_let(e, "select i1 %s, i32 %s, i32 0", is_after.name, by.name);
        ptx_value *const to = k ? &window->to[3] : &window->from[3];
        const ptx_value in =
            ptx_let(e, "icmp %s i32 %s, %s", k ? "ult" : "ugt", lane.name, to->name);
        *to = ptx_let(e, "select i1 %s, i32 %s, i32 %s", in.name, lane.name, to->name);
    }
}

/* The loops over the threads of one side, if there are any. */
static void write_side(ptx_fast *f, const plan *p, uint32_t nth, const char *next)
{
    ptx_emit *e = &f->emit;
    const side *one = &p->sides[nth];
    ptx_window window = {{{"0"}, {"0"}, {"0"}, {"0"}},
                         {{"0"}, {"%ntid.y"}, {"%ntid.z"}, {"32"}}};
    ptx_fast_set_name(&window.to[0], ptx_fast_row(f));
    ptx_fast_set_name(&window.to[3], ptx_fast_lanes(f));
    const int axes = f->s->by_warp ? 4 : 3;
    char from[32];
    ptx_fast_set_scalar(f, true);
    gphi_text_add(e->out, "C%u.d%u:\n", f->region, nth);
    bool by_x = false;
    for (uint32_t k = 0; k < one->bound_count; k++) {
        narrow(f, &one->bounds[k], &window);
        by_x |= one->bounds[k].axis == 0;
    }
    if (f->s->by_warp && by_x)
        narrow_lanes(f, &window);
    ptx_value some = {"true"};
    for (int axis = f->s->by_warp ? 3 : 0; axis < axes; axis++) {
        const ptx_value in = ptx_let(e, "icmp ult i32 %s, %s", window.from[axis].name,
                                     window.to[axis].name);
        some = ptx_let(e, "and i1 %s, %s", some.name, in.name);
    }
    const ptx_value known = ptx_let(e, "freeze i1 %s", some.name);
    snprintf(from, sizeof(from), "C%u.o%u", f->region, nth);
    ptx_line(e, "br i1 %s, label %%%s, label %%%s", known.name, from, next);
    gphi_text_add(e->out, "%s:\n  br label %%T%u%c.z\n", from, f->region, 'A' + (int)nth);
    uint8_t *ways = ptx_alloc(f->s->memory, f->s->block_count, 1);
    for (uint32_t k = 0; k < p->side_count; k++) {
        const ptx_flow_block *b = &f->s->blocks[p->sides[k].block];
        const uint8_t main = b->succ[0] == p->sides[k].main ? 1 : 2;
        if (k == nth && one->exact)
            ways[one->block] = (uint8_t)(3 - main);
        else if (k < nth && !keeps_away(f, p, k, nth))
            ways[p->sides[k].block] = main;
    }
    const ptx_side writing = {p->place, one->block, one->main};
    f->ways = ways;
    f->side = &writing;
    f->window = &window;
    f->next = next;
    ptx_fast_write_loops(f, (char)('A' + (int)nth), from, window.to[0].name);
    f->ways = NULL;
    f->side = NULL;
    f->window = NULL;
    f->next = NULL;
}

bool ptx_fast_write_sides(ptx_fast *f)
{
    plan p = {.way_count = 0};
    char next[32], from[32];
    if (!find_plan(f, &p))
        return false;
    uint8_t *ways = ptx_alloc(f->s->memory, f->s->block_count, 1);
    for (uint32_t k = 0; k < p.side_count; k++) {
        const ptx_flow_block *b = &f->s->blocks[p.sides[k].block];
        ways[p.sides[k].block] = b->succ[0] == p.sides[k].main ? 1 : 2;
    }
    snprintf(from, sizeof(from), "C%u", f->region);
    gphi_text_add(f->emit.out, "  br label %%%s\n%s:\n  br label %%T%ua.z\n", from, from,
                  f->region);
    snprintf(next, sizeof(next), "C%u.d0", f->region);
    f->ways = ways;
    f->next = next;
    ptx_fast_write_loops(f, 'a', from, ptx_fast_row(f));
    f->ways = NULL;
    for (uint32_t k = 0; k < p.side_count; k++) {
        const bool last = k + 1 == p.side_count;
        snprintf(next, sizeof(next), last ? "R%u.after" : "C%u.d%u", f->region, k + 1);
        write_side(f, &p, k, next);
    }
    f->next = NULL;
    return true;
}
