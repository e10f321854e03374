// SPDX-License-Identifier: Apache-2.0
/* Branches that every thread of a block takes alike, though it cannot be told when the
 * kernel is compiled: `if (blockIdx.x * blockDim.x + threadIdx.x < n)` holds for all
 * threads of all blocks but the last. Such a region is written twice: once as it is, and
 * once without these branches, for when the first and the last thread agree. Masked
 * vector stores, which the branch would need, cost several times a plain one. */
#include "softcuda/ptx/fast.h"

#define TERMS_MAX 8u
#define DEPTH_MAX 6u

/* A sum of uniform terms and at most one index of the thread. */
typedef struct sum {
    const ptx_operand *terms[TERMS_MAX][2]; /* the second not NULL: a product */
    uint32_t count;
    int axis; /* 0 x, 1 y, 2 z, -1 none */
} sum;

/* What must hold for all threads: `left cmp right` is `value`. */
typedef struct requirement {
    const char *predicate; /* of icmp */
    bool is_signed, value;
    sum left, right;
} requirement;

typedef struct requirements {
    requirement list[FAST_GUARDS_MAX];
    uint32_t count;
} requirements;

/* ---- recognizing --------------------------------------------------------------------
 */

static const ptx_insn *definition(const fast *f, uint32_t reg)
{
    const shape_reg *r = &f->s->regs[reg];
    if (r->def_count != 1 || !r->strict || r->def == SHAPE_NONE)
        return NULL;
    const ptx_insn *insn = &f->s->function->insns[r->def];
    return insn->guarded ? NULL : insn;
}

static const ptx_operand *operands_of(const fast *f, const ptx_insn *insn)
{
    return &f->s->function->operands[insn->operand];
}

static bool is_uniform(const fast *f, const ptx_operand *operand)
{
    if (operand->kind == PTX_OPERAND_INT)
        return true;
    if (operand->kind != PTX_OPERAND_REG || operand->negate ||
        f->s->regs[operand->index].divergent)
        return false;
    const uint32_t type = f->s->function->registers[operand->index].type;
    return definition(f, operand->index) != NULL && ptx_type_bytes((ptx_type)type) == 4;
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

static bool add_term(sum *to, const ptx_operand *a, const ptx_operand *b)
{
    if (to->count == TERMS_MAX)
        return false;
    to->terms[to->count][0] = a;
    to->terms[to->count++][1] = b;
    return true;
}

static bool is_32_bits(const ptx_insn *insn)
{
    return insn->type_count == 1 &&
           (insn->types[0] == PTX_U32 || insn->types[0] == PTX_S32 ||
            insn->types[0] == PTX_B32);
}

/* Adds what `operand` is to the sum: one operand is followed further, the others are
 * uniform. */
static bool add_operand(const fast *f, const ptx_operand *operand, sum *to)
{
    for (uint32_t depth = 0; depth < DEPTH_MAX; depth++) {
        if (is_uniform(f, operand))
            return add_term(to, operand, NULL);
        if (axis_of(operand) >= 0) {
            if (to->axis >= 0)
                return false;
            to->axis = axis_of(operand);
            return true;
        }
        const ptx_insn *insn = operand->kind == PTX_OPERAND_REG && !operand->negate
                                   ? definition(f, operand->index)
                                   : NULL;
        if (insn == NULL || !is_32_bits(insn))
            return false;
        const ptx_operand *o = operands_of(f, insn);
        if (insn->opcode == PTX_OP_MOV && insn->mod_count == 0 &&
            insn->operand_count == 2) {
            operand = &o[1];
        } else if (insn->opcode == PTX_OP_ADD && insn->mod_count == 0) {
            const bool first = is_uniform(f, &o[1]);
            if (!first && !is_uniform(f, &o[2]))
                return false;
            if (!add_term(to, first ? &o[1] : &o[2], NULL))
                return false;
            operand = first ? &o[2] : &o[1];
        } else if (insn->opcode == PTX_OP_MAD && insn->mod_count == 1 &&
                   ptx_has(insn, PTX_MOD_LO) && is_uniform(f, &o[1]) &&
                   is_uniform(f, &o[2])) {
            if (!add_term(to, &o[1], &o[2]))
                return false;
            operand = &o[3];
        } else {
            return false;
        }
    }
    return false;
}

static const char *compare_name(const ptx_insn *insn, bool *is_signed)
{
    *is_signed = insn->types[0] == PTX_S32;
    if (insn->mod_count != 1 || !is_32_bits(insn) || insn->types[0] == PTX_B32)
        return NULL;
    switch ((ptx_modifier)insn->mods[0]) {
    case PTX_MOD_LT: return *is_signed ? "slt" : "ult";
    case PTX_MOD_LE: return *is_signed ? "sle" : "ule";
    case PTX_MOD_GT: return *is_signed ? "sgt" : "ugt";
    case PTX_MOD_GE: return *is_signed ? "sge" : "uge";
    default: return NULL;
    }
}

static bool require_compare(const fast *f, const ptx_insn *insn, bool value,
                            requirements *all)
{
    const ptx_operand *o = operands_of(f, insn);
    if (all->count == FAST_GUARDS_MAX || insn->operand_count != 3 || o[0].pair)
        return false;
    requirement *r = &all->list[all->count];
    *r = (requirement){.value = value, .left.axis = -1, .right.axis = -1};
    r->predicate = compare_name(insn, &r->is_signed);
    if (r->predicate == NULL || !add_operand(f, &o[1], &r->left) ||
        !add_operand(f, &o[2], &r->right))
        return false;
    if ((r->left.axis >= 0) == (r->right.axis >= 0))
        return false;
    all->count++;
    return true;
}

/* What it takes for predicate `reg` to be `value` in all threads. Both operands of an
 * `or` must be false for it to be false, both of an `and` true for it to be true. */
static bool require(const fast *f, uint32_t first, bool first_value, requirements *all)
{
    uint32_t stack[FAST_GUARDS_MAX * 2], depth = 0;
    bool values[FAST_GUARDS_MAX * 2];
    stack[depth] = first;
    values[depth++] = first_value;
    while (depth > 0) {
        const uint32_t reg = stack[--depth];
        const bool value = values[depth];
        const ptx_insn *insn = definition(f, reg);
        if (insn == NULL)
            return false;
        const ptx_operand *o = operands_of(f, insn);
        const bool joins = (insn->opcode == PTX_OP_OR && !value) ||
                           (insn->opcode == PTX_OP_AND && value);
        if (insn->opcode == PTX_OP_SETP) {
            if (!require_compare(f, insn, value, all))
                return false;
        } else if (joins || insn->opcode == PTX_OP_NOT) {
            for (uint32_t k = 1; k < insn->operand_count; k++) {
                if (o[k].kind != PTX_OPERAND_REG || depth == FAST_GUARDS_MAX * 2)
                    return false;
                stack[depth] = o[k].index;
                values[depth++] =
                    value ^ (bool)o[k].negate ^ (insn->opcode == PTX_OP_NOT);
            }
        } else {
            return false;
        }
    }
    return true;
}

/* The way of a branch that is the usual one: not out of the kernel, not past what the
 * branch skips. -1: neither is. */
static int usual_way(const shape_block *b)
{
    if (b->end != SHAPE_BRANCH || b->succ_count != 2)
        return -1;
    for (int k = 0; k < 2; k++)
        if (b->succ[k] == SHAPE_EXIT && b->succ[1 - k] != SHAPE_EXIT)
            return 1 - k;
    for (int k = 0; k < 2; k++)
        if (b->succ[k] == b->ipdom && b->succ[1 - k] != b->ipdom)
            return 1 - k;
    return -1;
}

static bool find_all(const fast *f, uint8_t *ways, requirements *all)
{
    const shape_region *r = &f->s->regions[f->region];
    bool any = false;
    for (uint32_t n = 0; n < r->block_count; n++) {
        const shape_block *b = &f->s->blocks[r->blocks[n]];
        const int way = usual_way(b);
        if (way < 0 || !f->s->regs[b->reg].divergent)
            continue;
        const requirements before = *all;
        if (!require(f, b->reg, (way == 0) != (b->negate != 0), all)) {
            *all = before;
            continue;
        }
        ways[r->blocks[n]] = (uint8_t)(way + 1);
        any = true;
    }
    return any;
}

/* ---- writing ------------------------------------------------------------------------
 */

static ptx_value write_sum(fast *f, const sum *from)
{
    ptx_value total = {"0"};
    for (uint32_t i = 0; i < from->count; i++) {
        ptx_value term = ptx_operand_value(&f->emit, from->terms[i][0], PTX_U32);
        if (from->terms[i][1] != NULL) {
            const ptx_value by = ptx_operand_value(&f->emit, from->terms[i][1], PTX_U32);
            term = shape_value(&f->emit, "mul i32 %s, %s", term.name, by.name);
        }
        total = shape_value(&f->emit, "add i32 %s, %s", total.name, term.name);
    }
    return total;
}

/* Whether the first and the last thread give `value`, and the index does not wrap: then
 * all in between do. */
static ptx_value write_requirement(fast *f, const requirement *r)
{
    ptx_emit *e = &f->emit;
    const bool left = r->left.axis >= 0;
    const int axis = left ? r->left.axis : r->right.axis;
    const ptx_value low = write_sum(f, left ? &r->left : &r->right);
    const ptx_value bound = write_sum(f, left ? &r->right : &r->left);
    const ptx_value last = shape_value(e, "sub i32 %%ntid.%c, 1", "xyz"[axis]);
    const ptx_value high = shape_value(e, "add i32 %s, %s", low.name, last.name);
    ptx_value holds = shape_value(e, "icmp %s i32 %s, %s", r->is_signed ? "sle" : "ule",
                                  low.name, high.name);
    const ptx_value ends[2] = {low, high};
    for (int k = 0; k < 2; k++) {
        ptx_value is = shape_value(e, "icmp %s i32 %s, %s", r->predicate,
                                   left ? ends[k].name : bound.name,
                                   left ? bound.name : ends[k].name);
        if (!r->value)
            is = shape_value(e, "xor i1 %s, true", is.name);
        holds = shape_value(e, "and i1 %s, %s", holds.name, is.name);
    }
    return holds;
}

bool fast_write_guards(fast *f, ptx_value *out)
{
    requirements all = {.count = 0};
    uint8_t *ways = shape_alloc(f->s->memory, f->s->block_count, 1);
    if (!find_all(f, ways, &all))
        return false;
    fast_set_scalar(f, true);
    ptx_value holds = {"true"};
    for (uint32_t i = 0; i < all.count; i++) {
        const ptx_value one = write_requirement(f, &all.list[i]);
        holds = shape_value(&f->emit, "and i1 %s, %s", holds.name, one.name);
    }
    /* A value that this block of the kernel never comes to set stands for nothing: then
     * no thread comes to its branch either. */
    *out = shape_value(&f->emit, "freeze i1 %s", holds.name);
    f->ways = ways;
    return true;
}
