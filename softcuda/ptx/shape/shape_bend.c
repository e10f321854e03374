// SPDX-License-Identifier: Apache-2.0
/* Indices that bend: `min(max(x - 1, 0), width - 1)`, `(x + 1) & mask`, `i / n`, `i % n`.
 * From thread to thread such a value rises by one, or stays, but for some places; between
 * two of those an address made of it is a base and the thread's index. So where addresses
 * are, a row of threads is done in runs, each up to where the first value bends:
 *
 *   T7a.y:  for each row
 *   T7a.s:    s = its first thread, then what the run before ended at
 *             the values of thread s; e = where the first of them bends
 *   T7a.x:    threads s to e: a value is that of thread s, and x - s times its slope
 *
 * A run of one thread never bends, so nothing else is asked for. The same for an index of
 * 32 bits that is made wide: it bends where it wraps. */
#include <stdio.h>

#include "softcuda/ptx/shape/fast.h"

#define DEPTH_MAX 32u
#define SHORTEST 8u  /* what bends sooner is left to gathers */
#define LARGEST 4096 /* bytes a thread */
#define INSNS_MAX 400u

typedef enum bend_kind {
    BEND_NONE,
    BEND_LOW,   /* and with 2^k - 1 */
    BEND_HIGH,  /* and with -2^k */
    BEND_SHIFT, /* to the right */
    BEND_MIN,
    BEND_MAX,
    BEND_DIV,
    BEND_REM,
    BEND_WIDE,
    BEND_COMPARE
} bend_kind;

typedef struct found {
    ptx_fast *f;
    int64_t *slopes; /* by instruction; UNSEEN */
    uint8_t *wanted; /* by instruction: of the chain that the scalar part computes */
    uint8_t *kinds;  /* by instruction: bend_kind */
    uint8_t *moving; /* by instruction that bends: which operand does */
    int64_t *steps;  /* and by how much */
    bool small;      /* there is a load of bytes that shape_spare.c may want */
} found;

#define UNSEEN (INT64_MIN + 1)

static int64_t slope_of_insn(found *w, uint32_t i, uint32_t depth);

static bool is_in_region(const ptx_fast *f, uint32_t i)
{
    return f->s->blocks[f->s->insns[i].block].region == f->region;
}

/* Whether the region has moved the register on before `use`. */
static bool is_moved(const ptx_fast *f, uint32_t reg, uint32_t use)
{
    const ptx_region *r = ptx_fast_region(f);
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &f->s->blocks[r->blocks[n]];
        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            if (i == use)
                return false;
            if (ptx_writes(f->s, i, reg))
                return true;
        }
    }
    return false;
}

/* What sets the register that `use` reads, in the region or in what it computes again: not
 * what a warp operation has in an array, though it could be, for that is loaded, and by each
 * thread. */
static uint32_t definition_of(const ptx_fast *f, uint32_t reg, uint32_t use)
{
    if (ptx_is_remat(f->s, reg) && !ptx_fast_is_array(f, reg))
        return f->s->regs[reg].def;
    const bool inside = is_in_region(f, use);
    const uint32_t def = inside && ptx_fast_definition(f, reg)
                             ? f->s->regs[reg].def
                             : ptx_local_def(f->s, use, reg);
    return def != SHAPE_NONE && inside == is_in_region(f, def) ? def : SHAPE_NONE;
}

/* Of the register as instruction `use` reads it. */
static int64_t slope_of(found *w, uint32_t reg, uint32_t use, uint32_t depth)
{
    ptx_fast *f = w->f;
    const ptx_flow_reg *r = &f->s->regs[reg];
    if (!r->divergent)
        return f->inside[reg] ? SHAPE_NO_SLOPE : 0;
    if (f->rows && f->rows[reg])
        return is_moved(f, reg, use) ? SHAPE_NO_SLOPE : f->slopes[reg];
    if (r->home == SHAPE_AFFINE) {
        if (!ptx_bit(ptx_fast_region(f)->live_in, reg) || is_moved(f, reg, use))
            return SHAPE_NO_SLOPE;
        return r->part != SHAPE_NONE ? slope_of(w, r->part, r->base, depth + 1)
                                     : slope_of_insn(w, r->base, depth + 1);
    }
    const uint32_t def = definition_of(f, reg, use);
    if (def == SHAPE_NONE || depth == DEPTH_MAX)
        return SHAPE_NO_SLOPE;
    return slope_of_insn(w, def, depth + 1);
}

/* The same for all threads of a row. */
static bool is_shared(uint32_t sreg)
{
    switch ((ptx_sreg)sreg) {
    case PTX_SREG_TID_Y:
    case PTX_SREG_TID_Z:
    case PTX_SREG_NTID_X:
    case PTX_SREG_NTID_Y:
    case PTX_SREG_NTID_Z:
    case PTX_SREG_CTAID_X:
    case PTX_SREG_CTAID_Y:
    case PTX_SREG_CTAID_Z:
    case PTX_SREG_NCTAID_X:
    case PTX_SREG_NCTAID_Y:
    case PTX_SREG_NCTAID_Z: return true;
    default: return false;
    }
}

static int64_t slope_of_operand(found *w, const ptx_operand *o, uint32_t use,
                                uint32_t depth)
{
    if (o->kind == PTX_OPERAND_INT)
        return 0;
    if (o->kind == PTX_OPERAND_SREG) {
        if (o->index == PTX_SREG_TID_X)
            return 1;
        return is_shared(o->index) ? 0 : SHAPE_NO_SLOPE;
    }
    if (o->kind != PTX_OPERAND_REG || o->negate || o->pair)
        return SHAPE_NO_SLOPE;
    return slope_of(w, o->index, use, depth);
}

static int64_t bounded(int64_t slope)
{
    return slope >= -LARGEST && slope <= LARGEST ? slope : SHAPE_NO_SLOPE;
}

static bool is_word(ptx_type type)
{
    return type == PTX_U32 || type == PTX_S32 || type == PTX_B32;
}

static bool is_wide(ptx_type type)
{
    return type == PTX_U64 || type == PTX_S64 || type == PTX_B64;
}

static bool is_low_mask(uint32_t m)
{
    return (m & (m + 1)) == 0 && m >= SHORTEST - 1 && m != UINT32_MAX;
}

/* A product by a number. */
static int64_t product(const ptx_operand *o, const int64_t *x)
{
    if (x[1] == 0 && x[2] == 0)
        return 0;
    if (o[2].kind == PTX_OPERAND_INT && o[2].imm <= LARGEST)
        return bounded(x[1] * (int64_t)o[2].imm);
    if (o[1].kind == PTX_OPERAND_INT && o[1].imm <= LARGEST)
        return bounded(x[2] * (int64_t)o[1].imm);
    return SHAPE_NO_SLOPE;
}

/* What rises as the index does, or stays, up to a bend. */
static int64_t bent(const ptx_insn *insn, const ptx_operand *o, const int64_t *x,
                    uint8_t *kind)
{
    const bool number = o[2].kind == PTX_OPERAND_INT;
    const uint32_t n = (uint32_t)o[2].imm;
    if (!ptx_fast_is_32_bits(insn) || insn->mod_count != 0 || insn->operand_count != 3)
        return SHAPE_NO_SLOPE;
    if ((insn->opcode == PTX_OP_AND || insn->opcode == PTX_OP_MIN ||
         insn->opcode == PTX_OP_MAX) &&
        x[1] == 0 && x[2] == 1) {
        *kind = insn->opcode == PTX_OP_AND   ? BEND_LOW
                : insn->opcode == PTX_OP_MIN ? BEND_MIN
                                             : BEND_MAX;
        return o[1].kind == PTX_OPERAND_INT && *kind == BEND_LOW ? SHAPE_NO_SLOPE : 1;
    }
    if (x[1] != 1 || x[2] != 0)
        return SHAPE_NO_SLOPE;
    switch ((ptx_opcode)insn->opcode) {
    case PTX_OP_AND:
        *kind = number && is_low_mask(~n) ? BEND_HIGH : BEND_LOW;
        if (number && *kind == BEND_LOW && !is_low_mask(n))
            return SHAPE_NO_SLOPE;
        return *kind == BEND_LOW;
    case PTX_OP_SHR:
        *kind = BEND_SHIFT;
        return number && n >= 3 && n <= 31 ? 0 : SHAPE_NO_SLOPE;
    case PTX_OP_MIN: *kind = BEND_MIN; return 1;
    case PTX_OP_MAX: *kind = BEND_MAX; return 1;
    case PTX_OP_DIV:
    case PTX_OP_REM:
        *kind = insn->opcode == PTX_OP_DIV ? BEND_DIV : BEND_REM;
        if (insn->types[0] == PTX_B32 || (number && n < SHORTEST))
            return SHAPE_NO_SLOPE;
        return *kind == BEND_REM;
    default: return SHAPE_NO_SLOPE;
    }
}

/* A comparison has one answer up to where the index meets the bound. */
static bool is_compare(const ptx_fast *f, const ptx_insn *insn)
{
    if (insn->opcode != PTX_OP_SETP || insn->mod_count != 1 || insn->operand_count != 3 ||
        !ptx_fast_is_32_bits(insn) || ptx_fast_operands(f, insn)[0].pair)
        return false;
    switch ((ptx_modifier)insn->mods[0]) {
    case PTX_MOD_EQ:
    case PTX_MOD_NE: return true;
    case PTX_MOD_LT:
    case PTX_MOD_LE:
    case PTX_MOD_GT:
    case PTX_MOD_GE: return insn->types[0] != PTX_B32;
    default: return false;
    }
}

/* From 32 bits to 64. */
static int64_t widened(const ptx_insn *insn, const ptx_operand *o, const int64_t *x,
                       uint8_t *kind)
{
    int64_t slope = SHAPE_NO_SLOPE;
    const int64_t before = x[1] != 0 ? x[1] : x[2];
    if (insn->opcode == PTX_OP_CVT && insn->type_count == 2 && is_wide(insn->types[0]) &&
        (insn->types[1] == PTX_U32 || insn->types[1] == PTX_S32) && insn->mod_count == 0)
        slope = x[1];
    else if (insn->opcode == PTX_OP_MUL && insn->mod_count == 1 &&
             ptx_has(insn, PTX_MOD_WIDE) && ptx_fast_is_32_bits(insn))
        slope = product(o, x);
    *kind = slope != SHAPE_NO_SLOPE && before != 0 ? BEND_WIDE : BEND_NONE;
    return slope;
}

static int64_t combined(const ptx_insn *insn, const ptx_operand *o, const int64_t *x,
                        uint8_t *kind)
{
    const ptx_type type = insn->type_count == 1 ? (ptx_type)insn->types[0] : PTX_NONE;
    const bool plain = insn->mod_count == 0 && (is_word(type) || is_wide(type));
    const bool low = insn->mod_count == 1 && ptx_has(insn, PTX_MOD_LO) &&
                     (is_word(type) || is_wide(type));
    switch ((ptx_opcode)insn->opcode) {
    case PTX_OP_MOV: return plain && insn->operand_count == 2 ? x[1] : SHAPE_NO_SLOPE;
    case PTX_OP_CVTA: return insn->operand_count == 2 ? x[1] : SHAPE_NO_SLOPE;
    case PTX_OP_CVT: return widened(insn, o, x, kind);
    case PTX_OP_ADD: return plain ? bounded(x[1] + x[2]) : SHAPE_NO_SLOPE;
    case PTX_OP_SUB: return plain ? bounded(x[1] - x[2]) : SHAPE_NO_SLOPE;
    case PTX_OP_MUL: return low ? product(o, x) : widened(insn, o, x, kind);
    case PTX_OP_MAD: {
        const int64_t by = low ? product(o, x) : SHAPE_NO_SLOPE;
        return by == SHAPE_NO_SLOPE ? by : bounded(by + x[3]);
    }
    case PTX_OP_SHL:
        return plain && o[2].kind == PTX_OPERAND_INT && o[2].imm <= 12
                   ? bounded(x[1] * ((int64_t)1 << o[2].imm))
                   : SHAPE_NO_SLOPE;
    default: return bent(insn, o, x, kind);
    }
}

static int64_t slope_of_insn(found *w, uint32_t i, uint32_t depth)
{
    const ptx_insn *insn = &w->f->s->function->insns[i];
    const ptx_operand *o = ptx_fast_operands(w->f, insn);
    const ptx_flow_insn *flow = &w->f->s->insns[i];
    int64_t x[4] = {0, 0, 0, 0};
    bool all_zero = true;
    if (w->slopes[i] != UNSEEN)
        return w->slopes[i];
    w->slopes[i] = SHAPE_NO_SLOPE; /* what is made of itself has none */
    if (insn->guarded || flow->write_count != 1 || flow->role != PTX_ROLE_PLAIN ||
        flow->reads_memory || flow->writes_memory || insn->operand_count > 4 ||
        insn->operand_count < 2)
        return SHAPE_NO_SLOPE;
    for (uint32_t k = 1; k < insn->operand_count; k++) {
        x[k] = slope_of_operand(w, &o[k], i, depth);
        if (x[k] == SHAPE_NO_SLOPE)
            return SHAPE_NO_SLOPE;
        all_zero &= x[k] == 0;
    }
    uint8_t kind = BEND_NONE;
    int64_t slope = 0;
    if (all_zero && flow->keeps_uniformity)
        kind = BEND_NONE;
    else if (is_compare(w->f, insn) && x[1] + x[2] == 1 && x[1] * x[2] == 0)
        kind = BEND_COMPARE;
    else
        slope = combined(insn, o, x, &kind);
    w->kinds[i] = slope == SHAPE_NO_SLOPE ? BEND_NONE : kind;
    w->moving[i] = x[1] != 0 ? 1 : 2;
    w->steps[i] = x[w->moving[i]];
    return w->slopes[i] = slope;
}

/* ---- which addresses gain ---------------------------------------------------------- */

/* Marks what the address is made of; whether anything in it bends but for being wide. */
static bool want(found *w, uint32_t reg, uint32_t use)
{
    ptx_fast *f = w->f;
    uint32_t *stack = ptx_stack(f->s->memory, 2u * f->s->function->insn_count + 2u);
    uint32_t depth = 0;
    bool bends = false;
    stack[depth++] = reg;
    stack[depth++] = use;
    while (depth > 0) {
        const uint32_t at = stack[--depth], q = stack[--depth];
        const ptx_flow_reg *r = &f->s->regs[q];
        if (!r->divergent || (f->rows && f->rows[q]))
            continue;
        const uint32_t def = r->home == SHAPE_AFFINE ? r->base : definition_of(f, q, at);
        if (w->wanted[def])
            continue;
        w->wanted[def] = 1;
        bends |= w->kinds[def] != BEND_NONE && w->kinds[def] != BEND_WIDE;
        for (uint32_t k = 0; k < f->s->insns[def].read_count; k++) {
            stack[depth++] = f->s->insns[def].reads[k];
            stack[depth++] = def;
        }
    }
    return bends;
}

/* The register of an address of each thread, or SHAPE_NONE. */
static uint32_t address_of(const ptx_fast *f, uint32_t i)
{
    const ptx_insn *insn = &f->s->function->insns[i];
    const ptx_operand *o = ptx_fast_operands(f, insn);
    if ((insn->opcode != PTX_OP_LD && insn->opcode != PTX_OP_ST) ||
        ptx_fast_is_scalar(f->s, i))
        return SHAPE_NONE;
    for (uint32_t k = 0; k < insn->operand_count; k++)
        if (o[k].kind == PTX_OPERAND_ADDRESS && o[k].base == PTX_OPERAND_REG &&
            f->s->regs[o[k].index].divergent)
            return o[k].index;
    return SHAPE_NONE;
}

/* A branch at an edge: `x == 0 || y == 0`. */
static bool want_branch(found *w, uint32_t block)
{
    const ptx_fast *f = w->f;
    const ptx_flow_block *b = &f->s->blocks[block];
    if (b->end != SHAPE_BRANCH || b->succ_count != 2 || !f->s->regs[b->reg].divergent ||
        (f->ways && f->ways[block] != 0) || b->count == 0 ||
        !ptx_fast_definition(f, b->reg))
        return false;
    const uint32_t last = b->first + b->count - 1;
    return slope_of(w, b->reg, last, 0) == 0 && want(w, b->reg, last);
}

/* A loop inside a thread's code is not made vectors. */
static bool has_inner_loop(const ptx_fast *f)
{
    const ptx_region *r = ptx_fast_region(f);
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &f->s->blocks[r->blocks[n]];
        for (uint32_t k = 0; k < b->succ_count; k++)
            if (b->succ[k] != SHAPE_EXIT && b->succ[k] != r->head &&
                f->s->blocks[b->succ[k]].region == f->region &&
                f->s->blocks[b->succ[k]].order <= b->order)
                return true;
    }
    return false;
}

static bool find(found *w)
{
    const ptx_fast *f = w->f;
    const ptx_region *r = ptx_fast_region(f);
    bool bends = false;
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &f->s->blocks[r->blocks[n]];
        bends |= want_branch(w, r->blocks[n]);
        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            const uint32_t reg = address_of(f, i);
            if (reg == SHAPE_NONE || slope_of(w, reg, i, 0) == SHAPE_NO_SLOPE)
                continue;
            bends |= want(w, reg, i);
            w->small |= ptx_fast_is_small_load(f, i);
        }
    }
    return bends;
}

/* For the copy of the region that is about to be written: f->rows is what it is there. */
void ptx_fast_find_bends(ptx_fast *f)
{
    const uint32_t count = f->s->function->insn_count;
    f->bends = NULL;
    f->spare = NULL;
    if (f->s->by_warp || f->s->options->check_memory || f->flat || f->stride != 1 ||
        f->rounds > 1 || ptx_is_large(f->s) || ptx_fast_insn_count(f) > INSNS_MAX ||
        has_inner_loop(f))
        return;
    found w = {.f = f,
               .slopes = ptx_alloc(f->s->memory, count + 1u, sizeof(int64_t)),
               .wanted = ptx_alloc(f->s->memory, count + 1u, 1),
               .kinds = ptx_alloc(f->s->memory, count + 1u, 1),
               .moving = ptx_alloc(f->s->memory, count + 1u, 1),
               .steps = ptx_alloc(f->s->memory, count + 1u, sizeof(int64_t))};
    for (uint32_t i = 0; i < count; i++)
        w.slopes[i] = UNSEEN;
    const bool any = find(&w);
    if (!any && !w.small)
        return;
    ptx_bends *bends = ptx_alloc(f->s->memory, 1, sizeof(*bends));
    *bends = (ptx_bends){.wanted = w.wanted,
                         .kinds = w.kinds,
                         .moving = w.moving,
                         .given = ptx_alloc(f->s->memory, count + 1u, 1),
                         .slopes = w.slopes,
                         .steps = w.steps};
    f->bends = bends;
    ptx_fast_find_spare(f);
    if (!any && !f->spare) /* runs would bring nothing */
        f->bends = NULL;
}

/* ---- writing ----------------------------------------------------------------------- */

/* min(a, b) of unsigned numbers, at least 1. */
static ptx_value least(ptx_emit *e, ptx_value a, ptx_value b)
{
    const ptx_value low =
        ptx_let(e, "call i32 @llvm.umin.i32(i32 %s, i32 %s)", a.name, b.name);
    return ptx_let(e, "call i32 @llvm.umax.i32(i32 %s, i32 1)", low.name);
}

/* Whether v does not wrap in a whole row. */
static ptx_value write_wide(ptx_fast *f, const ptx_insn *insn, int64_t slope, ptx_value v)
{
    ptx_emit *e = &f->emit;
    const bool is_signed = insn->types[insn->opcode == PTX_OP_CVT ? 1 : 0] == PTX_S32;
    const uint32_t way = (uint32_t)(slope < 0 ? -slope : slope) * PTX_FAST_ROW_MAX;
    const uint32_t bound = slope > 0 ? (is_signed ? 0x7fffffffu : 0xffffffffu) - way
                                     : (is_signed ? 0x80000000u : 0u) + way;
    return ptx_let(e, "icmp %c%s i32 %s, %d", is_signed ? 's' : 'u',
                   slope > 0 ? "le" : "ge", v.name, (int32_t)bound);
}

static ptx_value write_divided(ptx_fast *f, const ptx_insn *insn, ptx_value v,
                               ptx_value u)
{
    ptx_emit *e = &f->emit;
    const bool is_signed = insn->types[0] == PTX_S32;
    const ptx_value by = ptx_let(e, "call i32 @llvm.umax.i32(i32 %s, i32 1)", u.name);
    const ptx_value past = ptx_let(e, "urem i32 %s, %s", v.name, by.name);
    const ptx_value left = ptx_let(e, "sub i32 %s, %s", by.name, past.name);
    const ptx_value end = ptx_let(e, "sub i32 %d, %s", is_signed ? INT32_MIN : 0, v.name);
    const ptx_value run = least(e, left, end);
    if (!is_signed)
        return run;
    const ptx_value sign = ptx_let(e, "or i32 %s, %s", v.name, u.name);
    const ptx_value good = ptx_let(e, "icmp sge i32 %s, 0", sign.name);
    return ptx_let(e, "select i1 %s, i32 %s, i32 1", good.name, run.name);
}

/* Up to the last thread on the same side of the bound as v; one, on its other side. */
static ptx_value write_clamp(ptx_fast *f, const ptx_insn *insn, bool is_min, ptx_value v,
                             ptx_value u)
{
    ptx_emit *e = &f->emit;
    const bool is_signed = insn->types[0] == PTX_S32;
    const ptx_value on = ptx_let(e, "icmp %c%s i32 %s, %s", is_signed ? 's' : 'u',
                                 is_min ? "le" : "ge", v.name, u.name);
    ptx_value run =
        is_min ? ptx_let(e, "sub i32 %s, %s", u.name, v.name)
               : ptx_let(e, "sub i32 %d, %s", is_signed ? INT32_MAX : -1, v.name);
    if (is_min)
        run = ptx_let(e, "add i32 %s, 1", run.name);
    run = ptx_let(e, "call i32 @llvm.umax.i32(i32 %s, i32 1)", run.name);
    return ptx_let(e, "select i1 %s, i32 %s, i32 1", on.name, run.name);
}

/* From v on, up to where its last bits wrap. `mask`: those bits, or a number. */
static ptx_value write_wrap(ptx_fast *f, ptx_value v, ptx_value mask, bool is_known)
{
    ptx_emit *e = &f->emit;
    const ptx_value past = ptx_let(e, "and i32 %s, %s", v.name, mask.name);
    const ptx_value left = ptx_let(e, "sub i32 %s, %s", mask.name, past.name);
    const ptx_value run = ptx_let(e, "add i32 %s, 1", left.name);
    if (is_known)
        return run;
    const ptx_value next = ptx_let(e, "add i32 %s, 1", mask.name);
    const ptx_value both = ptx_let(e, "and i32 %s, %s", mask.name, next.name);
    const ptx_value good = ptx_let(e, "icmp eq i32 %s, 0", both.name);
    const ptx_value some = ptx_let(e, "call i32 @llvm.umax.i32(i32 %s, i32 1)", run.name);
    return ptx_let(e, "select i1 %s, i32 %s, i32 1", good.name, some.name);
}

static ptx_value write_compare(ptx_fast *f, uint32_t i, ptx_value v, ptx_value u)
{
    ptx_emit *e = &f->emit;
    const ptx_insn *insn = &f->s->function->insns[i];
    const ptx_modifier how = (ptx_modifier)insn->mods[0];
    const bool is_signed = insn->types[0] == PTX_S32, left = f->bends->moving[i] == 1;
    const ptx_value way = ptx_let(e, "sub i32 %s, %s", u.name, v.name);
    if (how == PTX_MOD_EQ || how == PTX_MOD_NE)
        return ptx_let(e, "call i32 @llvm.umax.i32(i32 %s, i32 1)", way.name);
    /* v < u changes where v is u; v <= u, or u < v, one later */
    const bool later = (how == PTX_MOD_LE || how == PTX_MOD_GT) == left;
    const ptx_value below = ptx_let(e, "icmp %cl%c i32 %s, %s", is_signed ? 's' : 'u',
                                    later ? 'e' : 't', v.name, u.name);
    const ptx_value run = ptx_let(e, "add i32 %s, %d", way.name, later);
    const ptx_value wraps =
        ptx_let(e, "sub i32 %d, %s", is_signed ? INT32_MIN : 0, v.name);
    const ptx_value one =
        ptx_let(e, "select i1 %s, i32 %s, i32 %s", below.name, run.name, wraps.name);
    return ptx_let(e, "call i32 @llvm.umax.i32(i32 %s, i32 1)", one.name);
}

/* How many threads from the run's first on go straight through bend i of value v; u: what
 * its other operand is. */
static ptx_value write_length(ptx_fast *f, uint32_t i, ptx_value v, ptx_value u)
{
    const ptx_insn *insn = &f->s->function->insns[i];
    const ptx_operand *by = &ptx_fast_operands(f, insn)[3 - f->bends->moving[i]];
    ptx_value mask;
    switch ((bend_kind)f->bends->kinds[i]) {
    case BEND_LOW: return write_wrap(f, v, u, by->kind == PTX_OPERAND_INT);
    case BEND_HIGH:
        snprintf(mask.name, sizeof(mask.name), "%u", ~(uint32_t)by->imm);
        return write_wrap(f, v, mask, true);
    case BEND_SHIFT:
        snprintf(mask.name, sizeof(mask.name), "%u", (1u << by->imm) - 1u);
        return write_wrap(f, v, mask, true);
    case BEND_MIN:
    case BEND_MAX: return write_clamp(f, insn, f->bends->kinds[i] == BEND_MIN, v, u);
    case BEND_DIV:
    case BEND_REM: return write_divided(f, insn, v, u);
    case BEND_COMPARE:
    case BEND_WIDE:
    case BEND_NONE: break;
    }
    return write_compare(f, i, v, u);
}

/* Of the run's first thread: notes the value of a bend, and ends the run there. What it
 * reads is read before it is written, since that may be the same register. */
static void write_first(ptx_fast *f, uint32_t i)
{
    ptx_emit *e = &f->emit;
    const ptx_insn *insn = &f->s->function->insns[i];
    const ptx_operand *o = ptx_fast_operands(f, insn);
    const uint32_t moving = f->bends->moving[i];
    const ptx_value v = ptx_operand_value(e, &o[moving], PTX_B32);
    ptx_value u = {"0"};
    if (insn->operand_count > 2)
        u = ptx_operand_value(e, &o[3 - moving], PTX_B32);
    ptx_lower(e, insn);
    if (f->bends->given[i])
        return; /* another user computes it again */
    f->bends->given[i] = 1;
    const uint32_t reg = f->s->insns[i].writes[0];
    const ptx_value value = ptx_load_register(e, reg);
    ptx_line(e, "%%bend.%s.%u = %s %s %s, 0", f->name, i,
             f->bends->kinds[i] == BEND_COMPARE ? "xor" : "add", ptx_fast_type(f, reg),
             value.name);
    if (f->bends->kinds[i] == BEND_WIDE) {
        const ptx_value fits = write_wide(f, insn, f->bends->steps[i], v);
        f->bends->fits = ptx_let(e, "and i1 %s, %s", f->bends->fits.name, fits.name);
        return;
    }
    const ptx_value run = write_length(f, i, v, u);
    f->bends->run = ptx_let(e, "call i32 @llvm.umin.i32(i32 %s, i32 %s)",
                            f->bends->run.name, run.name);
}

/* Instruction i of a thread: what the run's first thread has, and as much as the threads
 * between them add. */
static void write_other(ptx_fast *f, uint32_t i)
{
    ptx_emit *e = &f->emit;
    const uint32_t reg = f->s->insns[i].writes[0];
    const char *type = ptx_fast_type(f, reg);
    if (f->bends->slopes[i] == 0) {
        ptx_value same;
        snprintf(same.name, sizeof(same.name), "%%bend.%s.%u", f->name, i);
        ptx_store_register(e, reg, same);
        return;
    }
    const bool wide = ptx_type_bytes((ptx_type)f->s->function->registers[reg].type) == 8;
    const ptx_value by = ptx_let(e, "mul nsw %s %%k%s.%s, %lld", type, wide ? "64" : "",
                                 f->name, (long long)f->bends->slopes[i]);
    const ptx_value value =
        ptx_let(e, "add nsw %s %%bend.%s.%u, %s", type, f->name, i, by.name);
    ptx_store_register(e, reg, value);
}

bool ptx_fast_is_compare(const ptx_fast *f, uint32_t i)
{
    return f->bends->kinds[i] == BEND_COMPARE;
}

void ptx_fast_lower(ptx_fast *f, uint32_t i)
{
    if (!f->bends || !f->bends->wanted[i] || f->bends->kinds[i] == BEND_NONE)
        ptx_lower(&f->emit, &f->s->function->insns[i]);
    else if (f->bends->first)
        write_first(f, i);
    else
        write_other(f, i);
}

/* What is known of thread s: what it computes again, and what addresses are made of. */
static void write_chain(ptx_fast *f)
{
    const ptx_region *r = ptx_fast_region(f);
    for (uint32_t reg = 0; f->rows && reg < f->s->function->register_count; reg++)
        if (f->rows[reg])
            ptx_fast_load_row(f, reg);
    ptx_fast_write_remat(f);
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &f->s->blocks[r->blocks[n]];
        for (uint32_t i = b->first; i < b->first + b->count; i++)
            if (f->bends->wanted[i] && !ptx_fast_is_scalar(f->s, i)) {
                ptx_fast_lower(f, i);
                ptx_fast_keep_first(f, i);
            }
    }
}

/* Between the loop over rows and the one over threads; `bound`: where a row ends. */
void ptx_fast_open_runs(ptx_fast *f, const char *first, const char *bound)
{
    gphi_text *out = f->emit.out;
    const char *n = f->name;
    gphi_text_add(out,
                  "  br label %%%s.s\n%s.s:\n"
                  "  %%s.%s = phi i32 [ %s, %%%s.y ], [ %%e.%s, %%%s.sl ]\n"
                  "  %%si.%s = add nuw nsw i32 %%row.%s, %%s.%s\n"
                  "  %%si64.%s = zext i32 %%si.%s to i64\n"
                  "  %%left.%s = sub nuw nsw i32 %s, %%s.%s\n",
                  n, n, n, first, n, n, n, n, n, n, n, n, n, bound, n);
    if (f->s->local_bytes > 0)
        gphi_text_add(out,
                      "  %%slo.%s = mul nuw nsw i64 %%si64.%s, %u\n"
                      "  %%slm.%s = getelementptr i8, ptr %%localbase, i64 %%slo.%s\n",
                      n, n, f->s->local_bytes, n, n);
    snprintf(f->bends->run.name, sizeof(f->bends->run.name), "%%left.%s", n);
    snprintf(f->bends->fits.name, sizeof(f->bends->fits.name), "true");
    ptx_fast_name_run(f);
    f->bends->first = true;
    write_chain(f);
    f->bends->first = false;
    ptx_fast_name_thread(f);
    const ptx_value run = ptx_let(&f->emit, "select i1 %s, i32 %s, i32 1",
                                  f->bends->fits.name, f->bends->run.name);
    ptx_line(&f->emit, "%%e.%s = add nuw nsw i32 %%s.%s, %s", n, n, run.name);
}
