// SPDX-License-Identifier: Apache-2.0
/* Branches that every thread of a block takes alike, though it cannot be known when the
 * kernel is compiled: `if (blockIdx.x * blockDim.x + threadIdx.x < n)` holds for all
 * threads of all blocks but the last. Such a region is written twice: as it is, and without
 * these branches (and the masked vector stores that they need), where both ends agree.
 *
 * The same for a loop that threads leave one by one, `i += stride` up to n: while the
 * first and the last thread stay in it, a round looks at no flags and writes none.
 */
#include <stdio.h>

#include "softcuda/ptx/shape/guard.h"

/* ---- recognizing ------------------------------------------------------------------ */

static const char *compare_name(const ptx_insn *insn, bool *is_signed)
{
    *is_signed = insn->types[0] == PTX_S32;
    if (insn->mod_count != 1 || !ptx_fast_is_32_bits(insn) || insn->types[0] == PTX_B32)
        return NULL;
    switch ((ptx_modifier)insn->mods[0]) {
    case PTX_MOD_LT: return *is_signed ? "slt" : "ult";
    case PTX_MOD_LE: return *is_signed ? "sle" : "ule";
    case PTX_MOD_GT: return *is_signed ? "sgt" : "ugt";
    case PTX_MOD_GE: return *is_signed ? "sge" : "uge";
    default: return NULL;
    }
}

/* `x == 0` is false, or `x != 0` true: threads at an edge take another way. */
static bool asks_to_differ(const ptx_insn *insn, bool value)
{
    return insn->mod_count == 1 && ptx_fast_is_32_bits(insn) &&
           (ptx_modifier)insn->mods[0] == (value ? PTX_MOD_NE : PTX_MOD_EQ);
}

/* `value`: what the comparison must give for all threads. */
static bool require_compare(const ptx_fast *f, const ptx_insn *insn, bool value,
                            ptx_guards *all)
{
    const ptx_operand *o = ptx_fast_operands(f, insn);
    if (all->count == FAST_GUARDS_MAX || insn->operand_count != 3 || o[0].pair)
        return false;
    ptx_guard *r = &all->list[all->count];
    *r = (ptx_guard){.value = value,
                     .left = {.axis = -1, .offset = SHAPE_NONE},
                     .right = {.axis = -1, .offset = SHAPE_NONE}};
    r->predicate = compare_name(insn, &r->is_signed);
    r->differs = !r->predicate && asks_to_differ(insn, value);
    if ((!r->predicate && !r->differs) || !ptx_guard_add(f, &o[1], insn, &r->left) ||
        !ptx_guard_add(f, &o[2], insn, &r->right))
        return false;
    if ((r->left.axis >= 0) == (r->right.axis >= 0))
        return false;
    all->count++;
    return true;
}

/* What it takes for predicate `reg` to be `value` in all threads. Both operands of an
 * `or` must be false for it to be false, both of an `and` true for it to be true. */
static bool require(const ptx_fast *f, uint32_t first, bool first_value, ptx_guards *all)
{
    uint32_t stack[FAST_GUARDS_MAX * 2], depth = 0;
    bool values[FAST_GUARDS_MAX * 2];
    stack[depth] = first;
    values[depth++] = first_value;
    while (depth > 0) {
        const uint32_t reg = stack[--depth];
        const bool value = values[depth];
        const ptx_insn *insn = ptx_fast_definition(f, reg);
        if (!insn)
            return false;
        const ptx_operand *o = ptx_fast_operands(f, insn);
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
static int usual_way(const ptx_flow_block *b)
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

/* What it takes for all threads to go that way. */
static bool require_way(const ptx_fast *f, const ptx_flow_block *b, int way,
                        ptx_guards *all)
{
    const ptx_guards before = *all;
    const bool can = way >= 0 && require(f, b->reg, (way == 0) != (b->negate != 0), all);
    *all = can ? *all : before;
    return can;
}

/* The way past `x == 0 || y == 0 || x == last`, which the others than those at an edge go. */
static int inner_way(const ptx_fast *f, const ptx_flow_block *b, ptx_guards *all)
{
    const ptx_guards before = *all;
    const int way = b->negate ? 0 : 1;
    if (!require_way(f, b, way, all))
        return -1;
    for (uint32_t i = before.count; i < all->count; i++)
        if (all->list[i].differs)
            return way;
    *all = before;
    return -1;
}

/* Of all branches in the region; one that is no such comparison is left as it is. */
static bool find_all(const ptx_fast *f, uint8_t *ways, ptx_guards *all)
{
    const ptx_region *r = &f->s->regions[f->region];
    bool any = false;
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &f->s->blocks[r->blocks[n]];
        if (b->end != SHAPE_BRANCH || b->succ_count != 2 || !f->s->regs[b->reg].divergent)
            continue;
        int way = usual_way(b);
        if (!require_way(f, b, way, all))
            way = inner_way(f, b, all);
        if (way < 0)
            continue;
        ways[r->blocks[n]] = (uint8_t)(way + 1);
        any = true;
    }
    return any;
}

/* ---- writing ---------------------------------------------------------------------- */

/* A masked region that is a loop by itself: the way of its branch that goes round. */
static bool goes_round(const ptx_fast *f, const uint8_t *ways)
{
    const ptx_region *r = &f->s->regions[f->region];
    const ptx_flow_block *b = &f->s->blocks[r->head];
    return r->block_count == 1 && b->loop != SHAPE_NONE &&
           f->s->loops[b->loop].head == r->head && f->s->loops[b->loop].outside &&
           ways[r->head] != 0 && b->succ[ways[r->head] - 1] == r->head;
}

/* Whether all threads take the usual way at the branches of the region: an i1, worked
 * out once a block, and f->ways. False: there is no branch of which it can be said, or
 * the region is masked and not a loop by itself. */
static bool write_guards(ptx_fast *f, ptx_guards *all, ptx_value *out)
{
    uint8_t *ways = ptx_alloc(f->s->memory, f->s->block_count, 1);
    if (!find_all(f, ways, all))
        return false;
    if (f->s->regions[f->region].masked && !goes_round(f, ways))
        return false;
    ptx_fast_set_scalar(f, true);
    ptx_value holds = {"true"};
    for (uint32_t i = 0; i < all->count; i++) {
        const ptx_value one = ptx_guard_holds(f, &all->list[i], 0);
        holds = ptx_let(&f->emit, "and i1 %s, %s", holds.name, one.name);
    }
    /* A value that this block of the kernel never comes to set stands for nothing: then
     * no thread comes to its branch either. */
    *out = ptx_let(&f->emit, "freeze i1 %s", holds.name);
    f->ways = ways;
    return true;
}

/* ---- the copies of a region ------------------------------------------------------- */

/* A copy of the last round, for when all threads leave together: flags are cleared. */
static void write_last(ptx_fast *f, const char *scan, const ptx_guards *guards,
                       const uint8_t *ways)
{
    ptx_emit *e = &f->emit;
    char from[32];
    if (guards->count != 1 || guards->list[0].differs)
        return; /* not all of several things: some thread may stay */
    ptx_fast_set_scalar(f, true);
    ptx_guard opposite = guards->list[0];
    opposite.value = !opposite.value;
    const ptx_value leave = ptx_guard_holds(f, &opposite, 0);
    const ptx_value known = ptx_let(e, "freeze i1 %s", leave.name);
    const ptx_value full = ptx_let(e, "icmp eq i32 %s, %s", scan, ptx_fast_all(f));
    const ptx_value all = ptx_let(e, "and i1 %s, %s", full.name, known.name);
    ptx_line(e, "br i1 %s, label %%C%u.l, label %%C%u.m", all.name, f->region, f->region);
    snprintf(from, sizeof(from), "C%u.l", f->region);
    gphi_text_add(e->out, "%s:\n  br label %%T%ul.z\n", from, f->region);
    uint8_t *other = ptx_alloc(f->s->memory, f->s->block_count, 1);
    const uint32_t head = ptx_fast_region(f)->head;
    other[head] = (uint8_t)(3 - ways[head]);
    f->ways = other;
    ptx_fast_write_loops(f, 'l', from, ptx_fast_row(f));
    f->ways = NULL;
    gphi_text_add(e->out, "C%u.m:\n", f->region);
}

/* All threads, and what they have in arrays is a row: see shape_row.c. */
static void write_full(ptx_fast *f, const char *full, char on)
{
    char label[32];
    snprintf(label, sizeof(label), "C%u.%c", f->region, on);
    if (ptx_fast_write_rows(f, full, label))
        gphi_text_add(f->emit.out, "%s:\n", label);
}

/* A loop that all threads go round, and will go round once more: no flags are looked at
 * or written, and the next round knows how many take part. */
static void write_round(ptx_fast *f, const char *scan)
{
    ptx_emit *e = &f->emit;
    ptx_guards guards = {.count = 0};
    ptx_value all;
    char from[32];
    if (!ptx_fast_region(f)->masked || !write_guards(f, &guards, &all))
        return;
    const ptx_value full = ptx_let(e, "icmp eq i32 %s, %s", scan, ptx_fast_all(f));
    const ptx_value go = ptx_let(e, "and i1 %s, %s", full.name, all.name);
    ptx_line(e, "br i1 %s, label %%C%u.f, label %%C%u.r", go.name, f->region, f->region);
    gphi_text_add(e->out, "C%u.f:\n", f->region);
    f->round = true;
    write_full(f, NULL, 'p');
    ptx_guard_jam(f, &guards);
    snprintf(from, sizeof(from), "C%u.one", f->region);
    ptx_line(e, "br label %%%s\n%s:\n  br label %%T%uf.z", from, from, f->region);
    ptx_fast_write_loops(f, 'f', from, ptx_fast_row(f));
    const uint8_t *ways = f->ways;
    f->round = false;
    f->ways = NULL;
    f->again = true;
    gphi_text_add(e->out, "R%u.again:\n", f->region);
    ptx_line(e, "store i32 %s, ptr %%known", ptx_fast_all(f));
    ptx_line(e, "br label %%R%u.back", f->region);
    gphi_text_add(e->out, "C%u.r:\n", f->region);
    write_last(f, scan, &guards, ways);
}

/* `scan` says how many threads take part; in its top bit, that they are not the first
 * ones. All of them, or the first n of a row, need no flags. */
void ptx_fast_write_choice(ptx_fast *f, const char *scan)
{
    ptx_emit *e = &f->emit;
    write_round(f, scan);
    const ptx_value prefix = ptx_let(e, "icmp sge i32 %s, 0", scan);
    const ptx_value full = ptx_let(e, "icmp eq i32 %s, %s", scan, ptx_fast_all(f));
    const ptx_value easy = ptx_let(e, "or i1 %%one.row, %s", full.name);
    const ptx_value plain = ptx_let(e, "and i1 %s, %s", prefix.name, easy.name);
    write_full(f, full.name, 'q');
    const ptx_value bound = /* of a block; a warp's loops have 32 rounds */
        ptx_let(e, "select i1 %s, i32 %%ntid.x, i32 %s", full.name, scan);
    ptx_line(e, "br i1 %s, label %%C%u.a, label %%C%u.b", plain.name, f->region,
             f->region);
    char from[32];
    snprintf(from, sizeof(from), "C%u.a", f->region);
    gphi_text_add(e->out, "%s:\n  br label %%T%ua.z\n", from, f->region);
    ptx_fast_write_loops(f, 'a', from, bound.name);
    snprintf(from, sizeof(from), "C%u.b", f->region);
    gphi_text_add(e->out, "%s:\n  br label %%T%ub.z\n", from, f->region);
    ptx_fast_write_loops(f, 'b', from, ptx_fast_row(f));
}

/* n, if the requirement is that x < n, a constant; 0: it is another one. */
static uint32_t first_threads(const ptx_guard *r)
{
    const bool left = r->left.axis == 0;
    const ptx_guard_terms *x = left ? &r->left : &r->right,
                          *bound = left ? &r->right : &r->left;
    if (r->differs || x->axis != 0 || x->count != 0 || x->offset != SHAPE_NONE ||
        bound->count != 1 || bound->offset != SHAPE_NONE || bound->terms[0][1] ||
        bound->terms[0][0]->kind != PTX_OPERAND_INT)
        return 0;
    const int64_t k = (int64_t)bound->terms[0][0]->imm;
    const bool less = (r->predicate[1] == 'l') == left; /* x < k or x <= k, if true */
    const bool equal = r->predicate[2] == 'e';
    if (k < 0 || k >= PTX_FAST_ROW_MAX || less != r->value)
        return 0;
    return (uint32_t)k + (equal == r->value);
}

/* `if (threadIdx.x >= 32) return;`: the copy for threads that agree serves the first 32
 * of a row, too; all others have ended. Says which `threads` it is for, and joins to
 * `holds` that it can be taken. */
static bool write_first_threads(ptx_fast *f, const ptx_guards *guards, ptx_value *holds,
                                ptx_value *threads)
{
    const ptx_region *r = ptx_fast_region(f);
    const ptx_flow_block *b = &f->s->blocks[r->head];
    const uint32_t n =
        guards->count == 1 && !f->s->by_warp ? first_threads(&guards->list[0]) : 0;
    if (n == 0 || !r->exits || f->ways[r->head] == 0 ||
        !ptx_fast_only_computes(f, r->head) ||
        b->succ[2 - f->ways[r->head]] != SHAPE_EXIT)
        return false;
    for (uint32_t k = 0; k < r->target_count; k++)
        if (f->s->regions[r->targets[k]].masked)
            return false;
    const ptx_value fewer = ptx_let(&f->emit, "icmp ult i32 %u, %%ntid.x", n);
    const ptx_value row = ptx_let(&f->emit, "and i1 %s, %%one.row", fewer.name);
    *threads = ptx_let(&f->emit, "select i1 %s, i32 %u, i32 %%ntid.x", row.name, n);
    *holds = ptx_let(&f->emit, "or i1 %s, %s", holds->name, row.name);
    return true;
}

/* Threads after the first `threads` of a row have ended. */
static void write_ended(ptx_fast *f, const char *threads)
{
    ptx_emit *e = &f->emit;
    const ptx_value rest = ptx_let(e, "sub i32 %%ntid.x, %s", threads);
    const ptx_value any = ptx_let(e, "icmp ne i32 %s, 0", rest.name);
    ptx_line(e, "br i1 %s, label %%C%u.e, label %%C%u.s", any.name, f->region, f->region);
    gphi_text_add(e->out, "C%u.e:\n", f->region);
    if (f->late_flags)
        ptx_fast_need_flags(f);
    const ptx_value at = ptx_let(e, "getelementptr i8, ptr %%live.0, i32 %s", threads);
    const ptx_value bytes = ptx_let(e, "zext i32 %s to i64", rest.name);
    ptx_line(e, "call void @soft.fill(ptr %s, i8 0, i64 %s)", at.name, bytes.name);
    gphi_text_add(e->out, "  br label %%C%u.s\nC%u.s:\n", f->region, f->region);
}

/* All threads of most blocks take the same way at a guard: see shape_guard.c. */
bool ptx_fast_write_without_guards(ptx_fast *f)
{
    ptx_guards guards = {.count = 0};
    ptx_value all, threads;
    char from[32];
    if (!write_guards(f, &guards, &all))
        return false;
    ptx_fast_set_name(&threads, ptx_fast_row(f));
    const bool few = write_first_threads(f, &guards, &all, &threads);
    ptx_line(&f->emit, "br i1 %s, label %%C%u.f, label %%C%u", all.name, f->region,
             f->region);
    snprintf(from, sizeof(from), "C%u.%c", f->region, few ? 's' : 'f');
    gphi_text_add(f->emit.out, "C%u.f:\n", f->region);
    if (few)
        write_ended(f, threads.name);
    gphi_text_add(f->emit.out, "  br label %%T%uf.z\n", f->region);
    f->few = few;
    ptx_fast_write_loops(f, 'f', from, threads.name);
    f->few = false;
    f->ways = NULL;
    snprintf(from, sizeof(from), "C%u", f->region);
    gphi_text_add(f->emit.out, "%s:\n  br label %%T%ua.z\n", from, f->region);
    ptx_fast_write_loops(f, 'a', from, ptx_fast_row(f));
    return true;
}
