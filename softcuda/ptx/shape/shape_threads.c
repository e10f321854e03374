// SPDX-License-Identifier: Apache-2.0
/* One region of the fast path: its scalar part, and the loop over the threads of a block
 * with what each of them starts from and leaves behind. Which copies of the loop there
 * are, and what leads into them, is shape_guard.c's and shape_fast.c's. */
#include <stdio.h>
#include <string.h>

#include "softcuda/ptx/abi.h"
#include "softcuda/ptx/shape/fast.h"

/* ---- the scalar part of a region -------------------------------------------------- */

/* A uniform load whose register changes again in the region: threads take what was loaded
 * from here. */
static void save_load(ptx_fast *f, uint32_t i)
{
    const ptx_flow_insn *insn = &f->s->insns[i];
    if (!insn->reads_memory || !ptx_fast_is_inside(f->s, i))
        return;
    for (uint32_t k = 0; k < insn->write_count; k++) {
        const uint32_t r = insn->writes[k];
        const ptx_value value = ptx_load_register(&f->emit, r);
        ptx_line(&f->emit, "store %s %s, ptr %%load.%u.%u", ptx_fast_type(f, r),
                 value.name, i, r);
    }
}

static ptx_type bits_of(const ptx_fast *f, uint32_t r)
{
    const uint32_t bytes = ptx_type_bytes((ptx_type)f->s->function->registers[r].type);
    return bytes == 8 ? PTX_B64 : bytes == 4 ? PTX_B32 : PTX_B16;
}

/* The uniform value that the base of r, instruction i, adds to its part. */
static ptx_value added_to(ptx_fast *f, uint32_t i, uint32_t r)
{
    const ptx_insn *insn = &f->s->function->insns[i];
    const ptx_operand *o = &f->s->function->operands[insn->operand];
    const bool first = o[1].index == f->s->regs[r].part;
    return ptx_operand_value(&f->emit, first ? &o[2] : &o[1], bits_of(f, r));
}

/* Instruction i moves the offset of r on by what it adds. */
static void move_by(ptx_fast *f, uint32_t i, uint32_t r)
{
    const ptx_insn *insn = &f->s->function->insns[i];
    const ptx_operand *o = &f->s->function->operands[insn->operand];
    const bool first = o[1].kind == PTX_OPERAND_REG && f->s->regs[o[1].index].divergent;
    const char *type = ptx_fast_type(f, r);
    const ptx_value u = ptx_operand_value(&f->emit, first ? &o[2] : &o[1], bits_of(f, r));
    const ptx_value old = ptx_let(&f->emit, "load %s, ptr %%off.%u", type, r);
    const ptx_value now =
        ptx_let(&f->emit, "%s %s %s, %s", insn->opcode == PTX_OP_SUB ? "sub" : "add",
                type, old.name, u.name);
    ptx_line(&f->emit, "store %s %s, ptr %%off.%u", type, now.name, r);
}

/* Base and steps of registers that are a base and a uniform offset. */
static void move_offset(ptx_fast *f, uint32_t i)
{
    for (uint32_t k = 0; k < f->s->insns[i].write_count; k++) {
        const uint32_t r = f->s->insns[i].writes[k];
        const ptx_flow_reg *reg = &f->s->regs[r];
        if (reg->home != SHAPE_AFFINE)
            continue;
        const char *type = ptx_fast_type(f, r);
        if (!ptx_is_step(f->s, i, r)) {
            if (reg->part != SHAPE_NONE)
                ptx_line(&f->emit, "store %s %s, ptr %%off.%u", type,
                         added_to(f, i, r).name, r);
            else if (reg->loop == SHAPE_NONE)
                ptx_line(&f->emit, "store %s 0, ptr %%off.%u", type, r);
            continue;
        }
        uint32_t chain[SHAPE_STEP_MAX];
        for (uint32_t n = ptx_find_step(f->s, i, r, chain); n-- > 0;)
            move_by(f, chain[n], r);
    }
}

/* The offsets as they are a round later, in a region without scalar instructions. */
void ptx_fast_move_offsets(ptx_fast *f)
{
    const ptx_region *r = ptx_fast_region(f);
    ptx_fast_set_scalar(f, true);
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &f->s->blocks[r->blocks[n]];
        for (uint32_t i = b->first; i < b->first + b->count; i++)
            move_offset(f, i);
    }
}

static bool in_region(const ptx_fast *f, uint32_t block)
{
    return block != SHAPE_EXIT && block != SHAPE_NONE &&
           f->s->blocks[block].region == f->region && block != ptx_fast_region(f)->head;
}

static void scalar_label(const ptx_fast *f, uint32_t block, char *label, size_t bytes)
{
    if (in_region(f, block))
        snprintf(label, bytes, "S%u.%u", f->region, block);
    else
        snprintf(label, bytes, "S%u.done", f->region);
}

static void scalar_target(ptx_emit *emit, uint32_t block, uint32_t nth, char *label,
                          size_t bytes)
{
    const ptx_fast *f = emit->shape;
    scalar_label(f, f->s->blocks[block].succ[nth], label, bytes);
}

/* A value that a warp shares is made of one that it does not: that of its first lane. */
static void write_first_lane(ptx_fast *f, uint32_t i)
{
    const ptx_flow_insn *insn = &f->s->insns[i];
    for (uint32_t k = 0; k < insn->read_count; k++) {
        const uint32_t reg = insn->reads[k];
        if (!f->s->regs[reg].divergent)
            continue;
        write_first_lane(f, f->s->regs[reg].def);
        ptx_lower(&f->emit, &f->s->function->insns[f->s->regs[reg].def]);
    }
}

void ptx_fast_write_scalar(ptx_fast *f)
{
    const ptx_shape *s = f->s;
    const ptx_region *r = ptx_fast_region(f);
    char label[64];
    ptx_fast_set_scalar(f, true);
    ptx_fast_name_first(f);
    gphi_text_add(f->emit.out, "  br label %%S%u.%u\n", f->region, r->blocks[0]);
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &s->blocks[r->blocks[n]];
        gphi_text_add(f->emit.out, "S%u.%u:\n", f->region, r->blocks[n]);
        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            if (ptx_fast_is_scalar(s, i)) {
                if (ptx_is_warp_uniform(s, i))
                    write_first_lane(f, i);
                ptx_write_insn(&f->emit, i);
                save_load(f, i);
            } else {
                move_offset(f, i);
            }
        }
        if (!s->passes[r->blocks[n]]) {
            ptx_write_end(&f->emit, r->blocks[n], scalar_target);
            continue;
        }
        scalar_label(f, s->after[r->blocks[n]], label, sizeof(label));
        ptx_line(&f->emit, "br label %%%s", label);
    }
    gphi_text_add(f->emit.out, "S%u.done:\n", f->region);
}

/* ---- what a thread of a region starts from ---------------------------------------- */

/* Uniform registers that the region changes, and offsets, as they are before it does. */
void ptx_fast_write_snapshots(ptx_fast *f)
{
    const ptx_shape *s = f->s;
    const ptx_region *r = ptx_fast_region(f);
    memset(f->inside, 0, s->function->register_count);
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &s->blocks[r->blocks[n]];
        for (uint32_t i = b->first; i < b->first + b->count; i++)
            for (uint32_t k = 0; k < s->insns[i].write_count; k++) {
                const uint32_t reg = s->insns[i].writes[k];
                f->inside[reg] = !s->regs[reg].divergent && !s->regs[reg].strict;
            }
    }
    for (uint32_t reg = 0; reg < s->function->register_count; reg++) {
        if (!ptx_bit(r->live_in, reg))
            continue;
        if (f->inside[reg])
            gphi_text_add(f->emit.out, "  %%snap.%u.%u = load %s, ptr %%u.%u\n",
                          f->region, reg, ptx_fast_type(f, reg), reg);
        if (s->regs[reg].home == SHAPE_AFFINE)
            gphi_text_add(f->emit.out, "  %%moved.%u.%u = load %s, ptr %%off.%u\n",
                          f->region, reg, ptx_fast_type(f, reg), reg);
    }
}

/* ---- context arrays --------------------------------------------------------------- */

/* Predicates are bytes in memory: bits of one byte would be a race between threads. */
static void store_context(ptx_fast *f, uint32_t reg)
{
    const char *type = ptx_fast_memory_type(f, reg);
    ptx_value value =
        ptx_let(&f->emit, "load %s, ptr %%r.%u", ptx_fast_type(f, reg), reg);
    if (f->s->function->registers[reg].type == PTX_PRED)
        value = ptx_let(&f->emit, "zext i1 %s to i8", value.name);
    const ptx_value at = ptx_let(&f->emit, "getelementptr %s, ptr %%ctx.%u, i64 %s", type,
                                 reg, f->index64.name);
    ptx_line(&f->emit, "store %s %s, ptr %s" PTX_FAST_CONTEXT, type, value.name, at.name);
}

/* Whether a thread of this region may be sent to the region of that mask. */
static bool sends_to(const ptx_fast *f, uint32_t mask)
{
    const ptx_region *r = ptx_fast_region(f);
    for (uint32_t k = 0; k < r->target_count; k++)
        if (f->s->regions[r->targets[k]].mask == mask)
            return true;
    return false;
}

/* Memory of the thread that the region reads or will write whatever happens in it: all of
 * it unconditional, so that stores of bytes need no masks. In the guarded copy threads
 * that are elsewhere pass through as well: they load what store_thread() then writes back
 * unchanged. */
static void load_thread(ptx_fast *f, bool guarded)
{
    const ptx_shape *s = f->s;
    const ptx_region *r = ptx_fast_region(f);
    for (uint32_t reg = 0; reg < s->function->register_count; reg++) {
        if (!ptx_fast_is_array(f, reg))
            continue;
        const bool in = ptx_bit(r->live_in, reg);
        if (f->rows && f->rows[reg])
            ptx_fast_load_row(f, reg);
        else if (in || (guarded && ptx_bit(r->live_out, reg)))
            ptx_fast_load_context(f, reg);
    }
    for (uint32_t m = 0; m < s->mask_count; m++) {
        if (m == r->mask)
            ptx_line(&f->emit, "store i8 0, ptr %%mk.%u", m);
        else if (sends_to(f, m) && guarded)
            ptx_fast_load_flag(f, "%mask.", m, "%mk.");
        else if (sends_to(f, m))
            ptx_line(&f->emit, "store i8 0, ptr %%mk.%u", m);
    }
    if (r->exits && guarded)
        ptx_fast_load_flag(f, "%live.", 0, "%lv.");
    else if (r->exits)
        ptx_line(&f->emit, "store i8 1, ptr %%lv.0");
}

/* The counterpart of load_thread(), after the body. */
static void store_thread(ptx_fast *f)
{
    const ptx_shape *s = f->s;
    const ptx_region *r = ptx_fast_region(f);
    if (f->side)
        return; /* the main way's copy has */
    for (uint32_t reg = 0; reg < s->function->register_count; reg++)
        if (ptx_fast_is_array(f, reg) && ptx_bit(r->live_out, reg))
            store_context(f, reg);
    if (f->round)
        return; /* the flags stay as they are */
    for (uint32_t m = 0; m < s->mask_count && !f->settled.masks; m++)
        if (m == r->mask || sends_to(f, m))
            ptx_fast_store_flag(f, "%mask.", m, "%mk.");
    if (r->exits && !f->settled.live)
        ptx_fast_store_flag(f, "%live.", 0, "%lv.");
}

/* ---- the body of the loop over threads -------------------------------------------- */

/* A loop inside one thread's code: divergent, or without a cut. */
static bool is_inner_back(const ptx_fast *f, uint32_t from, uint32_t to)
{
    return in_region(f, to) && f->s->blocks[to].order <= f->s->blocks[from].order;
}

/* In a side's copy: a way that only other threads take, or back to the main way. */
static bool is_left_out(const ptx_fast *f, uint32_t block, uint32_t to)
{
    if (!f->side || !in_region(f, to))
        return false;
    if (block == f->side->block)
        return to == f->side->main;
    return (f->side->place[block] != 0) != (f->side->place[to] != 0);
}

static void thread_target(ptx_emit *emit, uint32_t block, uint32_t nth, char *label,
                          size_t bytes)
{
    const ptx_fast *f = emit->shape;
    const uint32_t to = f->s->blocks[block].succ[nth];
    if (is_left_out(f, block, to))
        snprintf(label, bytes, "%s.latch", f->name);
    else if (in_region(f, to) && !is_inner_back(f, block, to))
        snprintf(label, bytes, "%s.b%u", f->name, to);
    else
        snprintf(label, bytes, "%s.e%u.%u", f->name, block, nth);
}

/* What a thread does on its way out: notes where it was sent, or that it has ended. */
static void write_edges(ptx_fast *f, uint32_t block)
{
    const ptx_flow_block *b = &f->s->blocks[block];
    const ptx_region *r = ptx_fast_region(f);
    for (uint32_t k = 0; k < b->succ_count; k++) {
        const uint32_t to = b->succ[k];
        const bool back = is_inner_back(f, block, to);
        if (in_region(f, to) && !back)
            continue;
        gphi_text_add(f->emit.out, "%s.e%u.%u:\n", f->name, block, k);
        if (back) {
            ptx_line(&f->emit, "call void @soft.safepoint(ptr %%block, ptr null, i32 1)");
            ptx_line(&f->emit, "br label %%%s.b%u", f->name, to);
            continue;
        }
        if (to == SHAPE_EXIT && r->exits)
            ptx_line(&f->emit, "store i8 0, ptr %%lv.0");
        if (to != SHAPE_EXIT && f->s->regions[f->s->blocks[to].region].masked)
            ptx_line(&f->emit, "store i8 1, ptr %%mk.%u",
                     f->s->regions[f->s->blocks[to].region].mask);
        ptx_line(&f->emit, "br label %%%s.latch", f->name);
    }
}

static void write_own_insn(ptx_fast *f, uint32_t i)
{
    const bool bends = f->bends && f->bends->wanted[i];
    if (!bends && (ptx_fast_write_narrow(f, i) || ptx_fast_write_floor(f, i)))
        return;
    if (ptx_fast_write_quotient(f, i))
        ; /* one number, or a row */
    else if (bends)
        ptx_fast_lower(f, i);
    else
        ptx_write_insn(&f->emit, i);
    for (uint32_t k = 0; k < f->s->insns[i].write_count; k++)
        ptx_fast_keep_narrow(f, f->s->insns[i].writes[k]);
}

/* The scalar part has run the uniform ones; what it set in a slot by thread is done again
 * here, so that each thread sees the changes in its own order. */
static void write_thread_insn(ptx_fast *f, uint32_t i)
{
    const ptx_flow_insn *insn = &f->s->insns[i];
    if (!ptx_fast_is_scalar(f->s, i)) {
        if (!f->side || f->side->place[insn->block] == 0 ||
            (!insn->reads_memory && !insn->writes_memory)) {
            write_own_insn(f, i);
            ptx_fast_part_lane(f, i);
        }
        return;
    }
    if (!ptx_fast_is_inside(f->s, i))
        return;
    if (!insn->reads_memory) {
        ptx_write_insn(&f->emit, i);
        return;
    }
    for (uint32_t k = 0; k < insn->write_count; k++) {
        const uint32_t r = insn->writes[k];
        const ptx_value value =
            ptx_let(&f->emit, "load %s, ptr %%load.%u.%u", ptx_fast_type(f, r), i, r);
        ptx_store_register(&f->emit, r, value);
    }
}

/* In a copy for threads that all take one way, the branch is a jump. */
static void write_end(ptx_fast *f, uint32_t block)
{
    char label[64];
    if (!f->ways || f->ways[block] == 0) {
        ptx_write_end(&f->emit, block, thread_target);
        return;
    }
    thread_target(&f->emit, block, f->ways[block] - 1u, label, sizeof(label));
    ptx_line(&f->emit, "br label %%%s", label);
}

/* What the threads that do not come to the block keep of the registers that it sets, from
 * before its code to after it: in `old`, by register, as they are numbered. */
static void keep_registers(ptx_fast *f, uint32_t block, ptx_value *old, bool after)
{
    const ptx_flow_block *b = &f->s->blocks[block];
    ptx_emit *e = &f->emit;
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const ptx_flow_insn *insn = &f->s->insns[i];
        for (uint32_t k = 0; k < insn->write_count; k++) {
            const uint32_t reg = insn->writes[k];
            const char *type = ptx_fast_type(f, reg);
            if (ptx_fast_is_scalar(f->s, i) && !ptx_fast_is_inside(f->s, i))
                continue;
            if (!after && old[reg].name[0] == 0)
                old[reg] = ptx_load_register(e, reg);
            if (!after || old[reg].name[0] == 0)
                continue;
            const ptx_value now = ptx_load_register(e, reg);
            ptx_store_register(e, reg,
                               ptx_let(e, "select i1 %s, %s %s, %s %s", e->only_if.name,
                                       type, now.name, type, old[reg].name));
            ptx_fast_keep_narrow(f, reg);
            old[reg].name[0] = 0;
        }
    }
}

/* The copy without branches: see shape_flat.c. */
static void write_flat_body(ptx_fast *f)
{
    const ptx_region *r = ptx_fast_region(f);
    ptx_value *old =
        ptx_alloc(f->s->memory, f->s->function->register_count, sizeof(*old));
    memset(f->flat, 0, f->s->block_count * sizeof(*f->flat));
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &f->s->blocks[r->blocks[n]];
        gphi_text_add(f->emit.out, "%s.b%u:\n", f->name, r->blocks[n]);
        ptx_fast_begin_flat(f, r->blocks[n]);
        const bool some = f->emit.only_if.name[0] != 0;
        if (some)
            keep_registers(f, r->blocks[n], old, false);
        for (uint32_t i = b->first;
             i < b->first + b->count && f->flat[r->blocks[n]].name[0] != 0; i++)
            write_thread_insn(f, i);
        if (some)
            keep_registers(f, r->blocks[n], old, true);
        f->emit.only_if.name[0] = 0;
        if (f->flat[r->blocks[n]].name[0] != 0)
            ptx_fast_end_flat(f, r->blocks[n]);
        if (n + 1 < r->block_count)
            ptx_line(&f->emit, "br label %%%s.b%u", f->name, r->blocks[n + 1]);
        else
            ptx_line(&f->emit, "br label %%%s.latch", f->name);
    }
}

static void write_body(ptx_fast *f)
{
    const ptx_region *r = ptx_fast_region(f);
    if (f->flat) {
        write_flat_body(f);
        return;
    }
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &f->s->blocks[r->blocks[n]];
        gphi_text_add(f->emit.out, "%s.b%u:\n", f->name, r->blocks[n]);
        for (uint32_t i = b->first; i < b->first + b->count; i++)
            write_thread_insn(f, i);
        write_end(f, r->blocks[n]);
        write_edges(f, r->blocks[n]);
    }
}

/* As many rounds of the body as the copy holds, one after the other:
 *
 *   T7g.x -> T7g4.b2 ... T7g4.latch -> T7g3.b2 ... -> T7g.b2 ... T7g.latch -> next thread
 *
 * Each copy has labels of its own, and values stay in registers from one to the next. */
static void write_bodies(ptx_fast *f)
{
    const uint32_t first = ptx_fast_region(f)->blocks[0];
    char name[sizeof(f->name)];
    const uint8_t *ways = f->ways;
    memcpy(name, f->name, sizeof(name));
    if (f->ways_before)
        f->ways = f->ways_before;
    f->round_at = 0;
    for (uint32_t k = f->rounds; k > 1; k--, f->round_at++) {
        snprintf(f->name, sizeof(f->name), "%.12s%c", name, (char)('0' + k));
        ptx_line(&f->emit, "br label %%%s.b%u", f->name, first);
        write_body(f);
        gphi_text_add(f->emit.out, "%s.latch:\n", f->name);
    }
    memcpy(f->name, name, sizeof(name));
    f->ways = ways;
    if (f->ways_before) /* a round before has said that the thread goes on */
        ptx_line(&f->emit, "store i8 0, ptr %%mk.%u", ptx_fast_region(f)->mask);
    ptx_line(&f->emit, "br label %%%s.b%u", f->name, first);
    write_body(f);
    gphi_text_add(f->emit.out, "%s.latch:\n", f->name);
}

/* ---- the loop over threads -------------------------------------------------------- */

/* The 32 lanes of a warp: a loop that LLVM knows the length of. */
static void open_lanes(ptx_fast *f)
{
    const char *first = f->window ? f->window->from[3].name : "0";
    gphi_text *out = f->emit.out;
    const char *n = f->name;
    gphi_text_add(out,
                  "%s.z:\n  br label %%%s.x\n"
                  "%s.x:\n  %%x.%s = phi i32 [ %s, %%%s.z ], [ %%x1.%s, %%%s.latch ]\n"
                  "  %%tx.%s = add nuw nsw i32 %%warp.x, %%x.%s\n"
                  "  %%i.%s = add nuw nsw i32 %%warp.first, %%x.%s\n"
                  "  %%i64.%s = zext i32 %%x.%s to i64\n",
                  n, n, n, n, first, n, n, n, n, n, n, n, n, n);
}

static void close_lanes(ptx_fast *f)
{
    gphi_text *out = f->emit.out;
    const char *n = f->name;
    char after[32];
    ptx_fast_after_loops(f, after, sizeof(after));
    gphi_text_add(out,
                  "  %%x1.%s = add nuw nsw i32 %%x.%s, %u\n"
                  "  %%xc.%s = icmp ult i32 %%x1.%s, %s\n"
                  "  br i1 %%xc.%s, label %%%s.x, label %%%s, !llvm.loop !%u\n",
                  n, n, f->stride, n, n,
                  f->window ? f->window->to[3].name : ptx_fast_lanes(f), n, n,
                  f->next ? f->next : after, ptx_fast_loop_node(f));
    ptx_fast_write_settled(f);
}

static const ptx_window all_threads = {{{"0"}, {"0"}, {"0"}, {"0"}},
                                       {{"%ntid.x"}, {"%ntid.y"}, {"%ntid.z"}, {"32"}}};

/* The loop over x, from the block `from` of the same name. */
static void open_x(ptx_fast *f, const char *first, char from)
{
    gphi_text *out = f->emit.out;
    const char *n = f->name;
    gphi_text_add(out,
                  "%s.x:\n  %%x.%s = phi i32 [ %s, %%%s.%c ], [ %%x1.%s, %%%s.latch ]\n"
                  "  %%i.%s = add nuw nsw i32 %%row.%s, %%x.%s\n"
                  "  %%i64.%s = zext i32 %%i.%s to i64\n",
                  n, n, first, n, from, n, n, n, n, n, n, n);
    if (f->bends)
        gphi_text_add(out,
                      "  %%k.%s = sub nuw nsw i32 %%x.%s, %%s.%s\n"
                      "  %%k64.%s = zext i32 %%k.%s to i64\n",
                      n, n, n, n, n);
}

/* z and y outside, x inside; close_loops() ends x. */
static void open_loops(ptx_fast *f, const char *from, const char *bound)
{
    gphi_text *out = f->emit.out;
    const char *n = f->name;
    const ptx_window *w = f->window ? f->window : &all_threads;
    if (f->s->by_warp) {
        open_lanes(f);
        return;
    }
    gphi_text_add(out,
                  "%s.z:\n  %%z.%s = phi i32 [ %s, %%%s ], [ %%z1.%s, %%%s.zl ]\n"
                  "  %%zrow.%s = mul nuw nsw i32 %%z.%s, %%ntid.y\n",
                  n, n, w->from[2].name, from, n, n, n, n);
    if (f->late_flags && f->settled.touches)
        ptx_fast_need_flags(f);
    gphi_text_add(out,
                  "  br label %%%s.y\n%s.y:\n  %%y.%s = phi i32 [ %s, %%%s.z ], [ "
                  "%%y1.%s, %%%s.yl ]\n"
                  "  %%yrow.%s = add nuw nsw i32 %%zrow.%s, %%y.%s\n"
                  "  %%row.%s = mul nuw nsw i32 %%yrow.%s, %%ntid.x\n",
                  n, n, n, w->from[1].name, n, n, n, n, n, n, n, n);
    if (f->piece != 0) {
        ptx_fast_open_pieces(f);
        return;
    }
    char first[40];
    snprintf(first, sizeof(first), f->bends ? "%%s.%s" : "%s",
             f->bends ? n : w->from[0].name);
    if (f->bends)
        ptx_fast_open_runs(f, w->from[0].name, bound);
    if (f->spare)
        ptx_fast_open_spare(f);
    else
        gphi_text_add(out, "  br label %%%s.x\n", n);
    open_x(f, first, f->bends ? 's' : 'y');
}

/* The code of a thread that has what it starts from in memory. */
static void write_thread(ptx_fast *f)
{
    ptx_fast_write_remat(f);
    for (uint32_t reg = 0; f->narrow && reg < f->s->function->register_count; reg++)
        if (ptx_bit(ptx_fast_region(f)->live_in, reg))
            ptx_fast_keep_narrow(f, reg);
    write_bodies(f);
    store_thread(f);
}

/* The copy with branches of a run: see shape_spare.c. */
static void write_branches(ptx_fast *f)
{
    char name[sizeof(f->name)], first[24];
    ptx_value *flat = f->flat;
    memcpy(name, f->name, sizeof(name));
    snprintf(f->name, sizeof(f->name), "%.12sn", name);
    snprintf(first, sizeof(first), "%%s.%s", f->name);
    f->flat = NULL;
    ptx_fast_name_thread(f);
    ptx_fast_open_branches(f, name);
    gphi_text_add(f->emit.out, "  br label %%%s.x\n", f->name);
    open_x(f, first, 'p');
    load_thread(f, false);
    write_thread(f);
    gphi_text_add(f->emit.out,
                  "  %%x1.%s = add nuw nsw i32 %%x.%s, 1\n"
                  "  %%xc.%s = icmp ult i32 %%x1.%s, %%e.%s\n"
                  "  br i1 %%xc.%s, label %%%s.x, label %%%s.sl\n",
                  f->name, f->name, f->name, f->name, name, f->name, f->name, name);
    memcpy(f->name, name, sizeof(name));
    f->flat = flat;
    ptx_fast_name_thread(f);
}

/* The innermost loop carries the metadata that makes LLVM vectorize it. */
static void close_loops(ptx_fast *f, const char *bound)
{
    gphi_text *out = f->emit.out;
    const char *n = f->name;
    const ptx_window *w = f->window ? f->window : &all_threads;
    char after[32], end[32];
    snprintf(end, sizeof(end), "%%e.%s", n);
    if (f->s->by_warp) {
        close_lanes(f);
        return;
    }
    ptx_fast_after_loops(f, after, sizeof(after));
    if (f->piece != 0) {
        ptx_fast_close_pieces(f);
    } else {
        gphi_text_add(out,
                      "  %%x1.%s = add nuw nsw i32 %%x.%s, %u\n"
                      "  %%xc.%s = icmp ult i32 %%x1.%s, %s\n"
                      "  br i1 %%xc.%s, label %%%s.x, label %%%s.%s, !llvm.loop !%u\n",
                      n, n, f->stride, n, n, f->bends ? end : bound, n, n, n,
                      f->bends ? "sl" : "yl", ptx_fast_loop_node(f));
        if (f->spare)
            write_branches(f);
        if (f->bends)
            gphi_text_add(out,
                          "%s.sl:\n  %%sc.%s = icmp ult i32 %%e.%s, %s\n"
                          "  br i1 %%sc.%s, label %%%s.s, label %%%s.yl\n",
                          n, n, n, bound, n, n, n);
    }
    gphi_text_add(out,
                  "%s.yl:\n  %%y1.%s = add nuw nsw i32 %%y.%s, 1\n"
                  "  %%yc.%s = icmp ult i32 %%y1.%s, %s\n"
                  "  br i1 %%yc.%s, label %%%s.y, label %%%s.zl\n",
                  n, n, n, n, n, w->to[1].name, n, n, n);
    gphi_text_add(out,
                  "%s.zl:\n  %%z1.%s = add nuw nsw i32 %%z.%s, 1\n"
                  "  %%zc.%s = icmp ult i32 %%z1.%s, %s\n"
                  "  br i1 %%zc.%s, label %%%s.z, label %%%s\n",
                  n, n, n, n, n, w->to[2].name, n, n, f->next ? f->next : after);
    ptx_fast_write_settled(f);
}

void ptx_fast_write_loops(ptx_fast *f, char copy, const char *from, const char *bound)
{
    const ptx_region *r = ptx_fast_region(f);
    const bool guarded = copy == 'b';
    snprintf(f->name, sizeof(f->name), "T%u%c", f->region, copy);
    ptx_fast_set_scalar(f, false);
    ptx_fast_name_thread(f);
    ptx_fast_find_bends(f);
    if (f->spare)
        f->flat = ptx_alloc(f->s->memory, f->s->block_count, sizeof(*f->flat));
    ptx_fast_settle(f, copy);
    open_loops(f, from, bound);
    if (f->s->local_bytes > 0)
        gphi_text_add(f->emit.out,
                      "  %%li.%s = zext i32 %%i.%s to i64\n"
                      "  %%lo.%s = mul nuw nsw i64 %%li.%s, %u\n"
                      "  %%lm.%s = getelementptr i8, ptr %%localbase, i64 %%lo.%s\n",
                      f->name, f->name, f->name, f->name, f->s->local_bytes, f->name,
                      f->name);
    load_thread(f, guarded);
    if (guarded) {
        const char *flags = r->masked ? "%mask." : "%live.";
        const ptx_value at = ptx_let(&f->emit, "getelementptr i8, ptr %s%u, i64 %s",
                                     flags, r->masked ? r->mask : 0, f->index64.name);
        const ptx_value flag =
            ptx_let(&f->emit, "load i8, ptr %s" PTX_FAST_CONTEXT, at.name);
        const ptx_value set = ptx_let(&f->emit, "icmp ne i8 %s, 0", flag.name);
        ptx_line(&f->emit, "br i1 %s, label %%%s.body, label %%%s.latch", set.name,
                 f->name, f->name);
        gphi_text_add(f->emit.out, "%s.body:\n", f->name);
    }
    const bool aside =
        !guarded && !f->flat && !f->side && !f->bends && ptx_fast_sets_aside(f);
    if (aside) {
        f->flat = ptx_alloc(f->s->memory, f->s->block_count, sizeof(*f->flat));
        f->emit.aside = ptx_let(&f->emit, "getelementptr i8, ptr %%block, i64 %zu",
                                offsetof(ptx_block, aside));
    }
    write_thread(f);
    if (aside) {
        f->flat = NULL;
        f->emit.aside.name[0] = 0;
    }
    close_loops(f, bound);
    if (f->spare)
        f->flat = NULL;
}
