// SPDX-License-Identifier: Apache-2.0
/* The two forms of a kernel on the fast path: a block's, which runs all threads of a block
 * from cut to cut, and, of a kernel with shuffles or votes, a warp's, which runs the 32
 * threads of a warp from the kernel's start to its end, or to a barrier (shape_phase.c).
 * A kernel with loops whose rounds differ by thread has one, too, of 16 or 32 threads
 * (flow/strip.c).
 *
 *   b.k(block)   ntid.x % 32 == 0:  w.k(block): warp 0, warp 1 ..., barrier by barrier
 *                else:              n.k(block)
 *
 * What a warp keeps across cuts are 32 values a register, two vectors, which never go to
 * memory; a shuffle is a permutation of them; what differs by warp (the row of a matrix)
 * is a scalar. */
#include "softcuda/ptx/abi.h"
#include "softcuda/ptx/shape/fast.h"

/* The kernel's function where it has both forms: a warp's for blocks whose rows are whole
 * warps, else the block's. */
static void write_choice(ptx_shape *s)
{
    gphi_text *out = &s->program->text;
    ptx_emit emit = {.out = out};
    gphi_text_add(out, "define void @\"b.%s\"(ptr %%block) #0 {\n", s->function->name);
    ptx_write_head(&emit);
    gphi_text_add(out,
                  "  %%odd = and i32 %%ntid.x, %u\n  %%whole = icmp eq i32 %%odd, 0\n"
                  "  br i1 %%whole, label %%warps, label %%block.form\n"
                  "warps:\n  call void @\"w.%s\"(ptr %%block)\n  br label %%done\n"
                  "block.form:\n  call void @\"n.%s\"(ptr %%block)\n  br label %%done\n"
                  "done:\n  ret void\n}\n\n",
                  s->twin->lanes - 1u, s->function->name, s->function->name);
}

/* ---- what every plan starts from --------------------------------------------------- */

/* A call that nobody can serve: an external function that is not an intrinsic. */
static void check_calls(ptx_shape *s)
{
    const ptx_function *f = s->function;
    for (uint32_t i = 0; i < f->insn_count && !s->refusal; i++) {
        const ptx_operand *callee = ptx_callee(f, &f->insns[i]);
        if (!callee || callee->kind != PTX_OPERAND_FUNC)
            continue;
        const ptx_function *to = &s->module->functions[callee->index];
        if ((to->is_extern || to->is_prototype) && !ptx_intrinsic(to->name))
            s->refusal =
                ptx_format(s->memory, "line %u: call of %s, which is not defined here%s",
                           f->insns[i].line, to->name, ptx_why_missing(to->name));
    }
}

/* In the order of docs/design/kernels.md: each step needs the ones before it. */
void ptx_analyze(ptx_shape *s)
{
    ptx_scan(s);
    check_calls(s);
    if (s->refusal)
        return;
    ptx_build_cfg(s);
    ptx_find_dominators(s);
}

/* ---- plans ------------------------------------------------------------------------ */

/* bar.sync, of the block alone. */
static bool is_plain_barrier(const ptx_shape *s, uint32_t block)
{
    const ptx_cut_form cut = ptx_cut_of(s, s->blocks[block].first);
    return cut.kind == SHAPE_CUT_SYNC && !cut.cluster;
}

/* Without cuts threads run one after the other, and so may strips of them. Where loops go
 * round by round all threads are together in between, and one may wait for what another has
 * written there. */
static bool runs_by_strips(const ptx_shape *s)
{
    return !s->has_cuts && !ptx_is_large(s) && ptx_waits_by_warps(s) &&
           (s->region_count == 1 || !ptx_may_wait_unseen(s)) && ptx_strip_lanes(s) != 0;
}

/* Shuffles and votes: then each warp may run from its start to its end, or to a barrier,
 * before the next one. Not where a thread may wait for another warp. */
static bool runs_by_warps(const ptx_shape *s)
{
    bool any = false;
    if (s->region_count > ptx_regions_max(s) || ptx_has_matrix(s->function) ||
        ptx_may_wait_unseen(s) || !ptx_waits_by_warps(s))
        return false;
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        if (b->kind == SHAPE_BARRIER && !is_plain_barrier(s, s->order[n]))
            return false;
        any |= b->kind == SHAPE_WARP && s->insns[b->first].role == PTX_ROLE_WARP;
    }
    return any;
}

/* Memory that is not the block's own, at a place of each thread. */
static bool reads_around(const ptx_shape *w, uint32_t i)
{
    const ptx_insn *insn = &w->function->insns[i];
    return (w->insns[i].reads_memory || w->insns[i].writes_memory) &&
           (insn->space == PTX_SPACE_GLOBAL || insn->space == PTX_SPACE_GENERIC) &&
           !ptx_is_uniform_insn(w, i);
}

/* `i += 32`: the loop goes through what is the warp's. */
static bool steps_by_warp(const ptx_shape *w, uint32_t i)
{
    const ptx_insn *insn = &w->function->insns[i];
    const ptx_operand *o = &w->function->operands[insn->operand];
    return insn->opcode == PTX_OP_ADD && insn->operand_count == 3 &&
           o[2].kind == PTX_OPERAND_INT && o[2].imm == PTX_WARP_SIZE &&
           o[0].kind == PTX_OPERAND_REG && ptx_is_step(w, i, o[0].index);
}

#define SPAN_DEPTH_MAX 4u

/* The value is made of how many blocks there are. */
static bool spans_grid(const ptx_shape *w, const ptx_operand *o, uint32_t depth)
{
    if (o->kind == PTX_OPERAND_SREG)
        return o->index >= PTX_SREG_NCTAID_X && o->index <= PTX_SREG_NCTAID_Z;
    if (o->kind != PTX_OPERAND_REG || w->regs[o->index].def_count != 1 ||
        depth == SPAN_DEPTH_MAX)
        return false;
    const ptx_insn *insn = &w->function->insns[w->regs[o->index].def];
    for (uint32_t k = 1; k < insn->operand_count; k++)
        if (spans_grid(w, &w->function->operands[insn->operand + k], depth + 1))
            return true;
    return false;
}

/* `i += gridDim.x * blockDim.x`: what a block reads is not a row that stays in a cache until
 * its next warp comes. */
static bool steps_by_grid(const ptx_shape *w, uint32_t i)
{
    const ptx_insn *insn = &w->function->insns[i];
    const ptx_operand *o = &w->function->operands[insn->operand];
    return insn->opcode == PTX_OP_ADD && insn->operand_count == 3 &&
           o[0].kind == PTX_OPERAND_REG && ptx_is_step(w, i, o[0].index) &&
           (spans_grid(w, &o[1], 0) || spans_grid(w, &o[2], 0));
}

/* A loop of all threads of the block over memory that reaches as far as the grid reads it as
 * it lies, warp after warp; one warp alone would skip what the others read, and each come
 * through memory again. A row of the block is still in a cache then. */
static bool tears_rows(const ptx_shape *w, uint32_t *line)
{
    for (uint32_t l = 0; l < w->loop_count && w->has_phases; l++) {
        bool around = false, by_warp = false, by_grid = false;
        for (uint32_t i = 0; i < w->function->insn_count && w->loops[l].outside; i++) {
            if (!w->blocks[w->insns[i].block].reachable ||
                !ptx_in_loop(w, l, w->insns[i].block))
                continue;
            around |= reads_around(w, i);
            by_warp |= steps_by_warp(w, i);
            by_grid |= steps_by_grid(w, i);
        }
        *line = w->blocks[w->loops[l].head].line;
        if (around && by_grid && !by_warp)
            return true;
    }
    return false;
}

/* The same kernel planned for a warp, or NULL. */
static ptx_shape *plan_by_warp(ptx_shape *s)
{
    const bool warps = runs_by_warps(s);
    if (s->clocks || (!warps && !runs_by_strips(s))) /* warps would wait one by one */
        return NULL;
    ptx_shape *w = ptx_alloc(s->memory, 1, sizeof(*w));
    *w = (ptx_shape){.memory = s->memory,
                     .module = s->module,
                     .options = s->options,
                     .function = s->function,
                     .program = s->program,
                     .by_warp = 1,
                     .joins = s->joins,
                     .lanes = (uint8_t)(warps ? PTX_WARP_SIZE : ptx_strip_lanes(s)),
                     .offsets = s->offsets,
                     .shared_offsets = s->shared_offsets,
                     .local_bytes = s->local_bytes};
    ptx_analyze(w);
    ptx_plan_fast(w);
    if (w->slow_reason || w->region_count > ptx_regions_max(w))
        return NULL;
    ptx_plan_phases(w, s);
    if (!tears_rows(w, &s->no_twin_line))
        return w;
    s->no_twin = "loop that reads rows of the block: shuffles of this kernel go through "
                 "memory";
    return NULL;
}

void ptx_plan_forms(ptx_shape *s)
{
    s->twin = plan_by_warp(s);
    s->long_rows = ptx_blocks_follow(s);
    if (s->twin)
        s->twin->long_rows = s->long_rows;
}

void ptx_write_forms(ptx_shape *s)
{
    ptx_write_fast(s);
    if (!s->twin)
        return;
    ptx_write_fast(s->twin);
    write_choice(s);
}
