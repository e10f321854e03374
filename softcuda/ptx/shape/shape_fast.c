// SPDX-License-Identifier: Apache-2.0
/* The fast path: one function that runs one block. Every region becomes
 *
 *   R7.enter:  reached from outside, where the region heads a loop
 *   R7.back:   reached round the loop: counts the round
 *   R7:        does any thread wait here? (masked regions)
 *   S7.*       the scalar part: uniform instructions, once
 *   T7a.*      the loop over all threads, or the first n of them
 *   T7b.*      the same for threads that a mask (or the live flags) picks
 *   T7f.*      all threads, when none turns off at a guard (shape_guard.c)
 *   T7g.*      the same for several rounds of a loop at once
 *   T7l.*      all threads, in the round that is the last of all
 *   R7.again:  behind it, in a loop: straight into the next round
 *   R7.after:  did the last thread end?
 *   R7.term:   behind the masked regions that hang on it: where all go from here */
#include <stdio.h>
#include <string.h>

#include "softcuda/ptx/abi.h"
#include "softcuda/ptx/shape/fast.h"

#define COPY_INSNS_MAX 1500u /* larger regions are not written twice */
/* A round of all threads counts as one of one thread, and one more for every 4096
 * instructions that they make in it, so that the time limit is looked at in time. */
#define WEIGHT_SHIFT 12u

/* ---- small pieces
 * ------------------------------------------------------------------------- */

const ptx_region *ptx_fast_region(const ptx_fast *f)
{
    return &f->s->regions[f->region];
}

const char *ptx_fast_type(const ptx_fast *f, uint32_t reg)
{
    return ptx_llvm_type((ptx_type)f->s->function->registers[reg].type);
}

/* Predicates are bytes in memory. */
const char *ptx_fast_memory_type(const ptx_fast *f, uint32_t reg)
{
    return f->s->function->registers[reg].type == PTX_PRED ? "i8" : ptx_fast_type(f, reg);
}

bool ptx_fast_heads_loop(const ptx_fast *f, uint32_t region, uint32_t *loop)
{
    const uint32_t head = f->s->regions[region].head;
    const uint32_t l = f->s->blocks[head].loop;
    *loop = l;
    return l != SHAPE_NONE && f->s->loops[l].head == head && f->s->loops[l].outside;
}

/* The label of `to` for a jump from `from`. */
static void region_label(const ptx_fast *f, uint32_t from, uint32_t to, char *label,
                         size_t bytes)
{
    uint32_t loop;
    const char *kind = "";
    if (ptx_fast_heads_loop(f, to, &loop))
        kind = ptx_in_loop(f->s, loop, f->s->regions[from].head) ? ".back" : ".enter";
    snprintf(label, bytes, "R%u%s", to, kind);
}

void ptx_fast_set_name(ptx_value *value, const char *name)
{
    snprintf(value->name, sizeof(value->name), "%s", name);
}

void ptx_fast_set_scalar(ptx_fast *f, bool scalar)
{
    f->w.scalar = scalar;
    f->emit.access = scalar ? ", !noalias !8" : ", !llvm.access.group !1, !noalias !8";
}

/* ---- the scalar part of a region
 * -------------------------------------------------------------- */

bool ptx_fast_is_scalar(const ptx_shape *s, uint32_t i)
{
    return s->insns[i].role == PTX_ROLE_PLAIN && ptx_is_uniform_insn(s, i);
}

/* Written by threads, too, since the register changes while the region runs. */
bool ptx_fast_is_inside(const ptx_shape *s, uint32_t i)
{
    for (uint32_t k = 0; k < s->insns[i].write_count; k++)
        if (!s->regs[s->insns[i].writes[k]].strict)
            return true;
    return false;
}

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

static void write_scalar(ptx_fast *f)
{
    const ptx_shape *s = f->s;
    const ptx_region *r = ptx_fast_region(f);
    char label[64];
    ptx_fast_set_scalar(f, true);
    ptx_fast_set_name(&f->emit.thread_index, "0");
    gphi_text_add(f->emit.out, "  br label %%S%u.%u\n", f->region, r->blocks[0]);
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &s->blocks[r->blocks[n]];
        gphi_text_add(f->emit.out, "S%u.%u:\n", f->region, r->blocks[n]);
        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            if (ptx_fast_is_scalar(s, i)) {
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

/* ---- what a thread of a region starts from
 * ------------------------------------------------------- */

/* Uniform registers that the region changes, and offsets, as they are before it does. */
static void write_snapshots(ptx_fast *f)
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

/* ---- context arrays
 * --------------------------------------------------------------------------------- */

#define CONTEXT ", !llvm.access.group !1, !alias.scope !8"

void ptx_fast_load_context(ptx_fast *f, uint32_t reg)
{
    const char *type = ptx_fast_memory_type(f, reg);
    const ptx_value at = ptx_let(&f->emit, "getelementptr %s, ptr %%ctx.%u, i64 %s", type,
                                 reg, f->index64.name);
    ptx_value value = ptx_let(&f->emit, "load %s, ptr %s" CONTEXT, type, at.name);
    if (f->s->function->registers[reg].type == PTX_PRED)
        value = ptx_let(&f->emit, "trunc i8 %s to i1", value.name);
    ptx_line(&f->emit, "store %s %s, ptr %%r.%u", ptx_fast_type(f, reg), value.name, reg);
}

static void store_context(ptx_fast *f, uint32_t reg)
{
    const char *type = ptx_fast_memory_type(f, reg);
    ptx_value value =
        ptx_let(&f->emit, "load %s, ptr %%r.%u", ptx_fast_type(f, reg), reg);
    if (f->s->function->registers[reg].type == PTX_PRED)
        value = ptx_let(&f->emit, "zext i1 %s to i8", value.name);
    const ptx_value at = ptx_let(&f->emit, "getelementptr %s, ptr %%ctx.%u, i64 %s", type,
                                 reg, f->index64.name);
    ptx_line(&f->emit, "store %s %s, ptr %s" CONTEXT, type, value.name, at.name);
}

/* A byte by thread: `array` to or from the slot `slot`. */
static void load_flag(ptx_fast *f, const char *array, uint32_t n, const char *slot)
{
    const ptx_value at = ptx_let(&f->emit, "getelementptr i8, ptr %s%u, i64 %s", array, n,
                                 f->index64.name);
    const ptx_value value = ptx_let(&f->emit, "load i8, ptr %s" CONTEXT, at.name);
    ptx_line(&f->emit, "store i8 %s, ptr %s%u", value.name, slot, n);
}

static void store_flag(ptx_fast *f, const char *array, uint32_t n, const char *slot)
{
    const ptx_value value = ptx_let(&f->emit, "load i8, ptr %s%u", slot, n);
    const ptx_value at = ptx_let(&f->emit, "getelementptr i8, ptr %s%u, i64 %s", array, n,
                                 f->index64.name);
    ptx_line(&f->emit, "store i8 %s, ptr %s" CONTEXT, value.name, at.name);
}

static bool sends_to(const ptx_fast *f, uint32_t mask)
{
    const ptx_region *r = ptx_fast_region(f);
    for (uint32_t k = 0; k < r->target_count; k++)
        if (f->s->regions[r->targets[k]].mask == mask)
            return true;
    return false;
}

bool ptx_fast_is_array(const ptx_fast *f, uint32_t reg)
{
    return f->s->regs[reg].home == SHAPE_ARRAY;
}

/* Memory of the thread that the region reads or will write whatever happens in it: all of
 * it unconditional, so that stores of bytes need no masks. */
static void load_thread(ptx_fast *f, bool guarded)
{
    const ptx_shape *s = f->s;
    const ptx_region *r = ptx_fast_region(f);
    for (uint32_t reg = 0; reg < s->function->register_count; reg++) {
        if (!ptx_fast_is_array(f, reg))
            continue;
        const bool in = ptx_bit(r->live_in, reg);
        if (in || (guarded && ptx_bit(r->live_out, reg)))
            ptx_fast_load_context(f, reg);
    }
    for (uint32_t m = 0; m < s->mask_count; m++) {
        if (m == r->mask)
            ptx_line(&f->emit, "store i8 0, ptr %%mk.%u", m);
        else if (sends_to(f, m) && guarded)
            load_flag(f, "%mask.", m, "%mk.");
        else if (sends_to(f, m))
            ptx_line(&f->emit, "store i8 0, ptr %%mk.%u", m);
    }
    if (r->exits && guarded)
        load_flag(f, "%live.", 0, "%lv.");
    else if (r->exits)
        ptx_line(&f->emit, "store i8 1, ptr %%lv.0");
}

static void store_thread(ptx_fast *f)
{
    const ptx_shape *s = f->s;
    const ptx_region *r = ptx_fast_region(f);
    for (uint32_t reg = 0; reg < s->function->register_count; reg++)
        if (ptx_fast_is_array(f, reg) && ptx_bit(r->live_out, reg))
            store_context(f, reg);
    if (f->round)
        return; /* the flags stay as they are */
    for (uint32_t m = 0; m < s->mask_count; m++)
        if (m == r->mask || sends_to(f, m))
            store_flag(f, "%mask.", m, "%mk.");
    if (r->exits)
        store_flag(f, "%live.", 0, "%lv.");
}

/* ---- the body of the loop over threads
 * ----------------------------------------------------------------- */

static bool is_inner_back(const ptx_fast *f, uint32_t from, uint32_t to)
{
    return in_region(f, to) && f->s->blocks[to].order <= f->s->blocks[from].order;
}

static void thread_target(ptx_emit *emit, uint32_t block, uint32_t nth, char *label,
                          size_t bytes)
{
    const ptx_fast *f = emit->shape;
    const uint32_t to = f->s->blocks[block].succ[nth];
    if (in_region(f, to) && !is_inner_back(f, block, to))
        snprintf(label, bytes, "%s.b%u", f->name, to);
    else
        snprintf(label, bytes, "%s.e%u.%u", f->name, block, nth);
}

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

static void write_thread_insn(ptx_fast *f, uint32_t i)
{
    const ptx_flow_insn *insn = &f->s->insns[i];
    if (!ptx_fast_is_scalar(f->s, i)) {
        ptx_write_insn(&f->emit, i);
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

static void write_end(ptx_fast *f, uint32_t block)
{
    char label[64];
    if (f->ways == NULL || f->ways[block] == 0) {
        ptx_write_end(&f->emit, block, thread_target);
        return;
    }
    thread_target(&f->emit, block, f->ways[block] - 1u, label, sizeof(label));
    ptx_line(&f->emit, "br label %%%s", label);
}

static void write_body(ptx_fast *f)
{
    const ptx_region *r = ptx_fast_region(f);
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &f->s->blocks[r->blocks[n]];
        gphi_text_add(f->emit.out, "%s.b%u:\n", f->name, r->blocks[n]);
        for (uint32_t i = b->first; i < b->first + b->count; i++)
            write_thread_insn(f, i);
        write_end(f, r->blocks[n]);
        write_edges(f, r->blocks[n]);
    }
}

/* As many rounds of the body as the copy holds, one behind the other. */
static void write_bodies(ptx_fast *f)
{
    const uint32_t first = ptx_fast_region(f)->blocks[0];
    char name[sizeof(f->name)];
    memcpy(name, f->name, sizeof(name));
    for (uint32_t k = f->rounds; k > 1; k--) {
        snprintf(f->name, sizeof(f->name), "T%ug%u", f->region, k);
        ptx_line(&f->emit, "br label %%%s.b%u", f->name, first);
        write_body(f);
        gphi_text_add(f->emit.out, "%s.latch:\n", f->name);
    }
    memcpy(f->name, name, sizeof(name));
    ptx_line(&f->emit, "br label %%%s.b%u", f->name, first);
    write_body(f);
    gphi_text_add(f->emit.out, "%s.latch:\n", f->name);
}

/* ---- the loop over threads
 * ---------------------------------------------------------------------------------- */

/* z and y outside, x inside; `bound` ends x. */
static void open_loops(ptx_fast *f, const char *from, const char *bound)
{
    gphi_text *out = f->emit.out;
    const char *n = f->name;
    gphi_text_add(out,
                  "%s.z:\n  %%z.%s = phi i32 [ 0, %%%s ], [ %%z1.%s, %%%s.zl ]\n"
                  "  %%zrow.%s = mul nuw nsw i32 %%z.%s, %%ntid.y\n  br label %%%s.y\n",
                  n, n, from, n, n, n, n, n);
    gphi_text_add(out,
                  "%s.y:\n  %%y.%s = phi i32 [ 0, %%%s.z ], [ %%y1.%s, %%%s.yl ]\n"
                  "  %%yrow.%s = add nuw nsw i32 %%zrow.%s, %%y.%s\n"
                  "  %%row.%s = mul nuw nsw i32 %%yrow.%s, %%ntid.x\n  br label %%%s.x\n",
                  n, n, n, n, n, n, n, n, n, n, n);
    gphi_text_add(out,
                  "%s.x:\n  %%x.%s = phi i32 [ 0, %%%s.y ], [ %%x1.%s, %%%s.latch ]\n"
                  "  %%i.%s = add nuw nsw i32 %%row.%s, %%x.%s\n"
                  "  %%i64.%s = zext i32 %%i.%s to i64\n",
                  n, n, n, n, n, n, n, n, n, n);
    (void)bound;
}

static void close_loops(ptx_fast *f, const char *bound)
{
    gphi_text *out = f->emit.out;
    const char *n = f->name;
    gphi_text_add(out,
                  "  %%x1.%s = add nuw nsw i32 %%x.%s, %u\n"
                  "  %%xc.%s = icmp ult i32 %%x1.%s, %s\n"
                  "  br i1 %%xc.%s, label %%%s.x, label %%%s.yl, !llvm.loop !%u\n",
                  n, n, ptx_fast_stride(f), n, n, bound, n, n, n,
                  100 + f->s->program->loop_metadata++);
    gphi_text_add(out,
                  "%s.yl:\n  %%y1.%s = add nuw nsw i32 %%y.%s, 1\n"
                  "  %%yc.%s = icmp ult i32 %%y1.%s, %%ntid.y\n"
                  "  br i1 %%yc.%s, label %%%s.y, label %%%s.zl\n",
                  n, n, n, n, n, n, n, n);
    gphi_text_add(out,
                  "%s.zl:\n  %%z1.%s = add nuw nsw i32 %%z.%s, 1\n"
                  "  %%zc.%s = icmp ult i32 %%z1.%s, %%ntid.z\n"
                  "  br i1 %%zc.%s, label %%%s.z, label %%R%u.%s\n",
                  n, n, n, n, n, n, n, f->region, f->round ? "again" : "after");
}

void ptx_fast_name_thread(ptx_fast *f)
{
    static const char axis[] = "xyz";
    for (int k = 0; k < 3; k++)
        snprintf(f->w.tid[k].name, sizeof(f->w.tid[k].name), "%%%c.%s", axis[k], f->name);
    snprintf(f->emit.thread_index.name, sizeof(f->emit.thread_index.name), "%%i.%s",
             f->name);
    snprintf(f->index64.name, sizeof(f->index64.name), "%%i64.%s", f->name);
    if (f->s->local_bytes > 0)
        snprintf(f->emit.local.name, sizeof(f->emit.local.name), "%%lm.%s", f->name);
    else /* .local may be named all the same: cvta.to.local of a foreign address */
        snprintf(f->emit.local.name, sizeof(f->emit.local.name), "null");
}

void ptx_fast_write_loops(ptx_fast *f, char copy, const char *from, const char *bound)
{
    const ptx_region *r = ptx_fast_region(f);
    const bool guarded = copy == 'b';
    snprintf(f->name, sizeof(f->name), "T%u%c", f->region, copy);
    ptx_fast_set_scalar(f, false);
    ptx_fast_name_thread(f);
    open_loops(f, from, bound);
    if (f->s->local_bytes > 0)
        gphi_text_add(f->emit.out,
                      "  %%lo.%s = mul nuw nsw i64 %%i64.%s, %u\n"
                      "  %%lm.%s = getelementptr i8, ptr %%localbase, i64 %%lo.%s\n",
                      f->name, f->name, f->s->local_bytes, f->name, f->name);
    load_thread(f, guarded);
    if (guarded) {
        const char *flags = r->masked ? "%mask." : "%live.";
        const ptx_value at = ptx_let(&f->emit, "getelementptr i8, ptr %s%u, i64 %s",
                                     flags, r->masked ? r->mask : 0, f->index64.name);
        const ptx_value flag = ptx_let(&f->emit, "load i8, ptr %s" CONTEXT, at.name);
        const ptx_value set = ptx_let(&f->emit, "icmp ne i8 %s, 0", flag.name);
        ptx_line(&f->emit, "br i1 %s, label %%%s.body, label %%%s.latch", set.name,
                 f->name, f->name);
        gphi_text_add(f->emit.out, "%s.body:\n", f->name);
    }
    ptx_fast_write_remat(f);
    write_bodies(f);
    store_thread(f);
    close_loops(f, bound);
}

/* ---- regions ---- */

static bool has_thread_code(const ptx_fast *f)
{
    const ptx_shape *s = f->s;
    const ptx_region *r = ptx_fast_region(f);
    if (r->masked || r->exits)
        return true;
    for (uint32_t k = 0; k < r->target_count; k++)
        if (s->regions[r->targets[k]].masked)
            return true;
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &s->blocks[r->blocks[n]];
        for (uint32_t i = b->first; i < b->first + b->count; i++)
            if (!ptx_fast_is_scalar(s, i))
                return true;
    }
    return false;
}

static uint32_t insn_count(const ptx_fast *f)
{
    const ptx_region *r = ptx_fast_region(f);
    uint32_t count = 0;
    for (uint32_t n = 0; n < r->block_count; n++)
        count += f->s->blocks[r->blocks[n]].count;
    return count;
}

static void write_threads(ptx_fast *f, const char *scan)
{
    char from[32];
    if (!has_thread_code(f)) {
        ptx_line(&f->emit, "br label %%R%u.after", f->region);
        return;
    }
    if (scan[0] != 0 && insn_count(f) <= COPY_INSNS_MAX) {
        ptx_fast_write_choice(f, scan);
        return;
    }
    if (scan[0] == 0 && insn_count(f) <= COPY_INSNS_MAX &&
        ptx_fast_write_without_guards(f))
        return;
    const char copy = scan[0] != 0 ? 'b' : 'a';
    snprintf(from, sizeof(from), "C%u", f->region);
    gphi_text_add(f->emit.out, "  br label %%%s\n%s:\n  br label %%T%u%c.z\n", from, from,
                  f->region, copy);
    ptx_fast_write_loops(f, copy, from, "%ntid.x");
}

/* Where the flow goes behind a masked region, or behind the loops it ends. */
static void after_label(const ptx_fast *f, uint32_t region, bool skip_own_loop,
                        char *label, size_t bytes)
{
    const ptx_shape *s = f->s;
    const ptx_region *r = &s->regions[region];
    uint32_t loop = s->blocks[r->head].loop;
    /* Round the innermost masked loop that ends with this region. */
    for (; loop != SHAPE_NONE && r->masked; loop = s->loops[loop].parent) {
        const uint32_t head = s->blocks[s->loops[loop].head].region;
        if (!s->loops[loop].outside || s->loops[loop].uniform || !s->regions[head].masked)
            break;
        if (r->next != SHAPE_NONE && ptx_in_loop(s, loop, s->regions[r->next].head))
            break;
        if (skip_own_loop) {
            skip_own_loop = false;
            continue;
        }
        snprintf(label, bytes, "R%u.back", head);
        return;
    }
    if (r->next != SHAPE_NONE)
        region_label(f, region, r->next, label, bytes);
    else
        snprintf(label, bytes, "R%u.term", r->anchor);
}

/* The last region of the chain inside the loop that `region` heads. */
static uint32_t last_of_loop(const ptx_fast *f, uint32_t region)
{
    uint32_t loop;
    if (!ptx_fast_heads_loop(f, region, &loop))
        return region;
    uint32_t last = region;
    for (uint32_t n = f->s->regions[region].next; n != SHAPE_NONE;
         n = f->s->regions[n].next)
        if (ptx_in_loop(f->s, loop, f->s->regions[n].head))
            last = n;
    return last;
}

/* Nobody waits: past the region, or past the whole loop that it heads. */
static void empty_label(const ptx_fast *f, char *label, size_t bytes)
{
    uint32_t loop;
    if (!ptx_fast_heads_loop(f, f->region, &loop)) {
        after_label(f, f->region, false, label, bytes);
        return;
    }
    after_label(f, last_of_loop(f, f->region), true, label, bytes);
}

/* Instructions of a round, so many that they cannot overflow with 1024 threads. */
static uint32_t loop_insns(const ptx_shape *s, uint32_t loop)
{
    uint32_t count = 0;
    for (uint32_t w = 0; w < s->block_words; w++)
        for (uint32_t bits = s->loops[loop].blocks[w]; bits != 0; bits &= bits - 1)
            count += s->blocks[w * 32 + (uint32_t)__builtin_ctz(bits)].count;
    return count < 0x100000 ? count : 0x100000;
}

static void write_entry(ptx_fast *f)
{
    const ptx_shape *s = f->s;
    uint32_t loop;
    if (ptx_fast_heads_loop(f, f->region, &loop)) {
        gphi_text_add(f->emit.out, "R%u.enter:\n", f->region);
        for (uint32_t r = 0; r < s->function->register_count; r++)
            if (s->regs[r].home == SHAPE_AFFINE && s->regs[r].loop == loop)
                ptx_line(&f->emit, "store %s 0, ptr %%off.%u", ptx_fast_type(f, r), r);
        gphi_text_add(f->emit.out,
                      "  br label %%R%u\nR%u.back:\n"
                      "  %%cost.%u = mul i32 %%threads, %u\n"
                      "  %%thousands.%u = lshr i32 %%cost.%u, %u\n"
                      "  %%weight.%u = add i32 %%thousands.%u, 1\n"
                      "  call void @soft.safepoint(ptr %%block, ptr null, i32 "
                      "%%weight.%u)\n"
                      "  br label %%R%u\n",
                      f->region, f->region, f->region, loop_insns(s, loop), f->region,
                      f->region, WEIGHT_SHIFT, f->region, f->region, f->region,
                      f->region);
    }
    gphi_text_add(f->emit.out, "R%u:\n", f->region);
}

static void term_target(ptx_emit *emit, uint32_t block, uint32_t nth, char *label,
                        size_t bytes)
{
    const ptx_fast *f = emit->shape;
    const uint32_t to = f->s->blocks[block].succ[nth];
    if (to == SHAPE_EXIT)
        snprintf(label, bytes, "return");
    else
        region_label(f, f->region, f->s->blocks[to].region, label, bytes);
}

static void write_after(ptx_fast *f)
{
    const ptx_shape *s = f->s;
    const ptx_region *r = ptx_fast_region(f);
    char label[64];
    gphi_text_add(f->emit.out, "R%u.after:\n", f->region);
    if (r->exits) {
        const ptx_value scan =
            ptx_let(&f->emit, "call i32 @soft.scan(ptr %%live.0, i32 %%threads)");
        ptx_line(&f->emit, "store i32 %s, ptr %%live.scan", scan.name);
        const ptx_value none = ptx_let(&f->emit, "icmp eq i32 %s, 0", scan.name);
        ptx_line(&f->emit, "br i1 %s, label %%return, label %%R%u.some", none.name,
                 f->region);
        gphi_text_add(f->emit.out, "R%u.some:\n", f->region);
    }
    after_label(f, f->region, false, label, sizeof(label));
    ptx_line(&f->emit, "br label %%%s", label);
    if (r->masked)
        return;
    gphi_text_add(f->emit.out, "R%u.term:\n", f->region);
    if (r->outcome == SHAPE_EXIT) {
        ptx_line(&f->emit, "br label %%return");
    } else if (r->outcome & SHAPE_DECIDED) {
        ptx_fast_set_scalar(f, true);
        ptx_write_end(&f->emit, r->outcome & ~SHAPE_DECIDED, term_target);
    } else {
        region_label(f, f->region, s->blocks[r->outcome].region, label, sizeof(label));
        ptx_line(&f->emit, "br label %%%s", label);
    }
}

/* How many threads a masked region has: known from the round before, or counted. */
static ptx_value write_scan(ptx_fast *f)
{
    ptx_emit *e = &f->emit;
    const uint32_t n = f->region;
    const ptx_value known = ptx_let(e, "load i32, ptr %%known");
    const ptx_value is = ptx_let(e, "icmp ne i32 %s, 0", known.name);
    ptx_line(e, "store i32 0, ptr %%known");
    ptx_line(e, "br i1 %s, label %%R%u.count, label %%R%u.ask", is.name, n, n);
    gphi_text_add(e->out, "R%u.ask:\n", n);
    const ptx_value asked = ptx_let(
        e, "call i32 @soft.scan(ptr %%mask.%u, i32 %%threads)", ptx_fast_region(f)->mask);
    ptx_line(e, "br label %%R%u.count", n);
    gphi_text_add(e->out, "R%u.count:\n", n);
    return ptx_let(e, "phi i32 [ %s, %%R%u ], [ %s, %%R%u.ask ]", known.name, n,
                   asked.name, n);
}

void ptx_fast_write_region(ptx_fast *f, uint32_t region)
{
    const ptx_region *r = &f->s->regions[region];
    ptx_value scan = {""};
    char label[64];
    f->region = region;
    write_entry(f);
    if (r->masked) {
        scan = write_scan(f);
        const ptx_value none = ptx_let(&f->emit, "icmp eq i32 %s, 0", scan.name);
        empty_label(f, label, sizeof(label));
        ptx_line(&f->emit, "br i1 %s, label %%%s, label %%R%u.any", none.name, label,
                 region);
        gphi_text_add(f->emit.out, "R%u.any:\n", region);
    } else if (r->needs_live) {
        scan = ptx_let(&f->emit, "load i32, ptr %%live.scan");
    }
    const bool apart = f->s->region_count > FAST_REGIONS_MAX;
    if (apart)
        ptx_fast_begin_part(f);
    if (r->kind != SHAPE_CODE) {
        ptx_fast_write_cut(f, scan.name);
        ptx_line(&f->emit, "br label %%R%u.after", region);
    } else {
        write_snapshots(f);
        write_scalar(f);
        write_threads(f, scan.name);
    }
    if (apart)
        ptx_fast_end_part(f, scan.name);
    write_after(f);
}
