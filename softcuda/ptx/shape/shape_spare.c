// SPDX-License-Identifier: Apache-2.0
/* Loads of bytes under a condition made of data: `n == 3 || (n == 2 && in[x])`. x86 before
 * AVX-512 has no masked load of bytes, so a loop with one stays scalar. In a run (see
 * shape_bend.c) it is known where such a load is for the first thread and for the last. All
 * threads may do it if each page between the two is touched by the run anyhow: by an access
 * that rises alike and that no condition is before. That is asked once a run:
 *
 *   T7a.s:    the values of the run's first thread; pages: as said?  then T7a.x, else T7an.p
 *   T7a.x:    the threads without branches, registers keep what they had (shape_flat.c)
 *   T7an.x:   the threads with their branches */
#include <stdio.h>

#include "softcuda/ptx/shape/fast.h"

#define INSNS_MAX 200u
#define PAGE_SHIFT 12 /* of the smallest pages that there are */

static bool is_back(const ptx_fast *f, uint32_t from, uint32_t to)
{
    return f->s->blocks[to].order <= f->s->blocks[from].order;
}

static bool in_region(const ptx_fast *f, uint32_t block)
{
    return block != SHAPE_EXIT && f->s->blocks[block].region == f->region;
}

/* Marks the blocks that all threads come to, and whether the others can be written without
 * branches. */
static bool follow_ways(const ptx_fast *f, uint8_t *always)
{
    const ptx_region *r = ptx_fast_region(f);
    always[r->head] = 1;
    for (uint32_t n = 0; n < r->block_count; n++) {
        const uint32_t block = r->blocks[n];
        const ptx_flow_block *b = &f->s->blocks[block];
        const uint8_t way = f->ways ? f->ways[block] : 0;
        always[block] |= !b->divergent;
        if (b->end != SHAPE_JUMP && way == 0 &&
            (b->end != SHAPE_BRANCH || !f->s->regs[b->reg].divergent))
            return false;
        for (uint32_t k = 0; k < b->succ_count; k++) {
            if (way != 0 && k + 1u != way)
                continue;
            if (b->succ[k] == SHAPE_EXIT && way == 0 && ptx_fast_ends_unmarked(f, block))
                return false;
            if (!in_region(f, b->succ[k]))
                continue;
            if (is_back(f, block, b->succ[k]))
                return false;
            always[b->succ[k]] |= always[block] && (b->end == SHAPE_JUMP || way != 0);
        }
    }
    return true;
}

static const ptx_operand *address_of(const ptx_fast *f, uint32_t i)
{
    const ptx_insn *insn = &f->s->function->insns[i];
    const ptx_operand *o = ptx_fast_operands(f, insn);
    if ((insn->opcode != PTX_OP_LD && insn->opcode != PTX_OP_ST) || insn->guarded ||
        insn->space != PTX_SPACE_GLOBAL || insn->type_count != 1 ||
        insn->operand_count != 2)
        return NULL;
    const ptx_operand *at = &o[insn->opcode == PTX_OP_LD ? 1 : 0];
    return at->kind == PTX_OPERAND_ADDRESS && at->base == PTX_OPERAND_REG ? at : NULL;
}

/* The instruction that makes the address, in the region, of one of the run's chain. */
static uint32_t maker_of(const ptx_fast *f, uint32_t i)
{
    const ptx_operand *at = address_of(f, i);
    if (!at || ptx_is_remat(f->s, at->index) ||
        f->s->regs[at->index].home == SHAPE_AFFINE || (f->rows && f->rows[at->index]))
        return SHAPE_NONE;
    const uint32_t def = ptx_fast_definition(f, at->index)
                             ? f->s->regs[at->index].def
                             : ptx_local_def(f->s, i, at->index);
    if (def == SHAPE_NONE || !in_region(f, f->s->insns[def].block) ||
        !f->bends->wanted[def] || ptx_fast_is_scalar(f->s, def) ||
        f->bends->slopes[def] < -4096 || f->bends->slopes[def] > 4096)
        return SHAPE_NONE;
    return def;
}

static void mark_makers(const ptx_fast *f, uint32_t def, uint32_t *map)
{
    const ptx_flow_insn *insn = &f->s->insns[def];
    for (uint32_t k = 0; k < insn->read_count; k++) {
        const uint32_t reg = insn->reads[k];
        if (ptx_bit(map, reg))
            continue;
        ptx_set_bit(map, reg);
        if (ptx_fast_definition(f, reg))
            mark_makers(f, f->s->regs[reg].def, map);
    }
}

/* Of the accesses that all threads do, the one whose address has most in common with that
 * of load i. */
static uint32_t nearest(const ptx_fast *f, uint32_t own, const uint8_t *always)
{
    const uint32_t words = f->s->reg_words;
    uint32_t *mine = ptx_alloc(f->s->memory, words, sizeof(*mine));
    uint32_t *other = ptx_alloc(f->s->memory, words, sizeof(*other));
    uint32_t best = SHAPE_NONE, most = 0;
    mark_makers(f, own, mine);
    const ptx_region *r = ptx_fast_region(f);
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &f->s->blocks[r->blocks[n]];
        for (uint32_t i = b->first; i < b->first + b->count && always[r->blocks[n]];
             i++) {
            const uint32_t def = maker_of(f, i);
            uint32_t common = 1;
            if (def == SHAPE_NONE || f->bends->slopes[def] != f->bends->slopes[own])
                continue;
            for (uint32_t w = 0; w < words; w++)
                other[w] = 0;
            mark_makers(f, def, other);
            for (uint32_t w = 0; w < words; w++)
                common += (uint32_t)__builtin_popcount(mine[w] & other[w]);
            /* of the whole address: equal ones are of a load elsewhere */
            if (common > most) {
                most = common;
                best = i;
            }
        }
    }
    return best;
}

static bool add_block(const ptx_fast *f, ptx_spare *spare, uint32_t block,
                      const uint8_t *always)
{
    const ptx_flow_block *b = &f->s->blocks[block];
    for (uint32_t i = b->first; i < b->first + b->count && !always[block]; i++) {
        const ptx_insn *insn = &f->s->function->insns[i];
        const ptx_flow_insn *flow = &f->s->insns[i];
        if (!ptx_fast_is_harmless(insn) || flow->writes_memory)
            return false;
        if (!flow->reads_memory || ptx_fast_is_scalar(f->s, i))
            continue;
        const uint32_t def = maker_of(f, i);
        const uint32_t with = def != SHAPE_NONE && insn->opcode == PTX_OP_LD
                                  ? nearest(f, def, always)
                                  : SHAPE_NONE;
        if (with == SHAPE_NONE || spare->count == PTX_SPARES_MAX)
            return false;
        spare->own[spare->count] = i;
        spare->with[spare->count++] = with;
        spare->kept[def] = spare->kept[maker_of(f, with)] = 1;
        spare->small |= ptx_type_bytes((ptx_type)insn->types[0]) < 4;
    }
    return true;
}

/* Whether the load keeps the loop from being vectors. */
bool ptx_fast_is_small_load(const ptx_fast *f, uint32_t i)
{
    const ptx_insn *insn = &f->s->function->insns[i];
    return f->s->blocks[f->s->insns[i].block].divergent && insn->opcode == PTX_OP_LD &&
           address_of(f, i) && ptx_type_bytes((ptx_type)insn->types[0]) < 4;
}

void ptx_fast_find_spare(ptx_fast *f)
{
    f->spare = NULL;
    const ptx_region *r = ptx_fast_region(f);
    if (!f->bends || f->side || f->s->local_bytes != 0 || r->block_count < 2 ||
        !ptx_fast_is_plain(f) || f->s->blocks[r->head].divergent ||
        ptx_fast_insn_count(f) > INSNS_MAX)
        return;
    uint8_t *always = ptx_alloc(f->s->memory, f->s->block_count, 1);
    ptx_spare *spare = ptx_alloc(f->s->memory, 1, sizeof(*spare));
    spare->kept = ptx_alloc(f->s->memory, f->s->function->insn_count, 1);
    if (!follow_ways(f, always))
        return;
    for (uint32_t n = 0; n < r->block_count; n++)
        if (!add_block(f, spare, r->blocks[n], always))
            return;
    if (spare->small)
        f->spare = spare;
}

/* ---- writing ----------------------------------------------------------------------- */

/* After instruction i of the run's first thread. */
void ptx_fast_keep_first(ptx_fast *f, uint32_t i)
{
    if (!f->spare || f->spare->kept[i] != 1)
        return;
    f->spare->kept[i] = 2; /* once */
    const ptx_value value = ptx_load_register(&f->emit, f->s->insns[i].writes[0]);
    ptx_line(&f->emit, "%%first.%s.%u = add i64 %s, 0", f->name, i, value.name);
}

/* The pages of an access of the run: of its first thread, and of its last. */
static void write_pages(ptx_fast *f, uint32_t i, const char *way, ptx_value page[2])
{
    ptx_emit *e = &f->emit;
    const uint32_t def = maker_of(f, i);
    const ptx_value at = ptx_let(e, "add i64 %%first.%s.%u, %lld", f->name, def,
                                 (long long)(int64_t)address_of(f, i)->imm);
    const ptx_value by =
        ptx_let(e, "mul i64 %s, %lld", way, (long long)f->bends->slopes[def]);
    const ptx_value end = ptx_let(e, "add i64 %s, %s", at.name, by.name);
    const bool falls = f->bends->slopes[def] < 0;
    page[0] = ptx_let(e, "lshr i64 %s, %d", falls ? end.name : at.name, PAGE_SHIFT);
    page[1] = ptx_let(e, "lshr i64 %s, %d", falls ? at.name : end.name, PAGE_SHIFT);
}

/* Between the end of a run's first thread and its threads. */
void ptx_fast_open_spare(ptx_fast *f)
{
    ptx_emit *e = &f->emit;
    ptx_value good = {"true"};
    const ptx_value count =
        ptx_let(e, "sub nuw nsw i32 %%e.%s, %%s.%s", f->name, f->name);
    const ptx_value last = ptx_let(e, "sub nuw nsw i32 %s, 1", count.name);
    const ptx_value way = ptx_let(e, "zext i32 %s to i64", last.name);
    for (uint32_t k = 0; k < f->spare->count; k++) {
        ptx_value own[2], with[2];
        write_pages(f, f->spare->own[k], way.name, own);
        write_pages(f, f->spare->with[k], way.name, with);
        const ptx_value low =
            ptx_let(e, "icmp uge i64 %s, %s", own[0].name, with[0].name);
        const ptx_value high =
            ptx_let(e, "icmp ule i64 %s, %s", own[1].name, with[1].name);
        const ptx_value both = ptx_let(e, "and i1 %s, %s", low.name, high.name);
        good = ptx_let(e, "and i1 %s, %s", good.name, both.name);
    }
    const ptx_value known = ptx_let(e, "freeze i1 %s", good.name);
    ptx_line(e, "br i1 %s, label %%%s.x, label %%%sn.p", known.name, f->name, f->name);
}

/* What the copy with branches has of the run, by names of its own. */
void ptx_fast_open_branches(ptx_fast *f, const char *from)
{
    const char *n = f->name;
    gphi_text_add(
        f->emit.out,
        "%s.p:\n  %%s.%s = add i32 %%s.%s, 0\n  %%row.%s = add i32 %%row.%s, 0\n"
        "  %%y.%s = add i32 %%y.%s, 0\n  %%z.%s = add i32 %%z.%s, 0\n",
        n, n, from, n, from, n, from, n, from);
    for (uint32_t i = 0; i < f->s->function->insn_count; i++)
        if (f->bends->given[i])
            gphi_text_add(f->emit.out, "  %%bend.%s.%u = %s %s %%bend.%s.%u, 0\n", n, i,
                          ptx_fast_is_compare(f, i) ? "xor" : "add",
                          ptx_fast_type(f, f->s->insns[i].writes[0]), from, i);
}
