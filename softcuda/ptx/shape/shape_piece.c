// SPDX-License-Identifier: Apache-2.0
/* What all writers of the fast path ask and write: types of registers in memory, which
 * instructions are the scalar part's, and loading a thread's value from its context
 * array. */
#include <stdio.h>
#include <string.h>

#include "softcuda/ptx/shape/fast.h"

#define STRIP_ACCESSES_SOME 8u /* in a copy for some lanes */
#define STRIP_ACCESSES_ALL 64u

const ptx_region *ptx_fast_region(const ptx_fast *f)
{
    return &f->s->regions[f->region];
}

uint32_t ptx_fast_insn_count(const ptx_fast *f)
{
    const ptx_region *r = ptx_fast_region(f);
    uint32_t count = 0;
    for (uint32_t n = 0; n < r->block_count; n++)
        count += f->s->blocks[r->blocks[n]].count;
    return count;
}

const ptx_insn *ptx_fast_definition(const ptx_fast *f, uint32_t reg)
{
    const ptx_flow_reg *r = &f->s->regs[reg];
    if (r->def_count != 1 || !r->strict || r->def == SHAPE_NONE)
        return NULL;
    const ptx_insn *insn = &f->s->function->insns[r->def];
    return insn->guarded ? NULL : insn;
}

const ptx_operand *ptx_fast_operands(const ptx_fast *f, const ptx_insn *insn)
{
    return &f->s->function->operands[insn->operand];
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

void ptx_fast_set_name(ptx_value *value, const char *name)
{
    snprintf(value->name, sizeof(value->name), "%s", name);
}

void ptx_fast_set_scalar(ptx_fast *f, bool scalar)
{
    f->w.scalar = scalar;
    f->emit.access = scalar ? ", !noalias !8" : ", !llvm.access.group !1, !noalias !8";
}

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

void ptx_fast_load_context(ptx_fast *f, uint32_t reg)
{
    const char *type = ptx_fast_memory_type(f, reg);
    const ptx_value at = ptx_let(&f->emit, "getelementptr %s, ptr %%ctx.%u, i64 %s", type,
                                 reg, f->index64.name);
    ptx_value value =
        ptx_let(&f->emit, "load %s, ptr %s" PTX_FAST_CONTEXT, type, at.name);
    if (f->s->function->registers[reg].type == PTX_PRED)
        value = ptx_let(&f->emit, "trunc i8 %s to i1", value.name);
    ptx_line(&f->emit, "store %s %s, ptr %%r.%u", ptx_fast_type(f, reg), value.name, reg);
}

bool ptx_fast_is_32_bits(const ptx_insn *insn)
{
    return insn->type_count == 1 &&
           (insn->types[0] == PTX_U32 || insn->types[0] == PTX_S32 ||
            insn->types[0] == PTX_B32);
}

bool ptx_fast_is_whole(const ptx_insn *insn)
{
    for (uint32_t k = 0; k < insn->type_count; k++)
        if ((insn->types[k] < PTX_U8 || insn->types[k] > PTX_S64) &&
            (insn->types[k] < PTX_B8 || insn->types[k] > PTX_B64))
            return false;
    return true;
}

bool ptx_fast_is_array(const ptx_fast *f, uint32_t reg)
{
    return f->s->regs[reg].home == SHAPE_ARRAY;
}

/* f16 on a processor that only converts. LLVM takes the conversion of eight (one
 * instruction) for eight conversions, and would rather do four. */
static bool converts_halves(const ptx_fast *f)
{
    const ptx_region *r = ptx_fast_region(f);
    if (f->s->options->half != PTX_HALF_CONVERTS)
        return false;
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &f->s->blocks[r->blocks[n]];
        for (uint32_t i = b->first; i < b->first + b->count; i++)
            for (uint32_t k = 0; k < f->s->function->insns[i].type_count; k++) {
                const uint32_t type = f->s->function->insns[i].types[k];
                if ((type == PTX_F16 || type == PTX_F16X2) &&
                    !ptx_fast_is_scalar(f->s, i))
                    return true;
            }
    }
    return false;
}

static bool computes_doubles(const ptx_fast *f)
{
    const ptx_region *r = ptx_fast_region(f);
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &f->s->blocks[r->blocks[n]];
        for (uint32_t i = b->first; i < b->first + b->count; i++)
            for (uint32_t k = 0; k < f->s->function->insns[i].type_count; k++)
                if (f->s->function->insns[i].types[k] == PTX_F64 &&
                    !ptx_fast_is_scalar(f->s, i))
                    return true;
    }
    return false;
}

/* An address of 64 bits in an array is the widest thing of the region, by which LLVM decides
 * how many threads are done at once, though all that takes time is of 32 bits. */
static bool keeps_addresses(const ptx_fast *f)
{
    const ptx_region *r = ptx_fast_region(f);
    for (uint32_t reg = 0; reg < f->s->function->register_count; reg++)
        if (ptx_fast_is_array(f, reg) && strcmp(ptx_fast_type(f, reg), "i64") == 0 &&
            (ptx_bit(r->live_in, reg) || ptx_bit(r->live_out, reg)))
            return !computes_doubles(f);
    return false;
}

/* What is around the loops that strips are for (flow/strip.c), and accesses memory in many
 * places under conditions: vectors are a branch for each lane of each of them, and LLVM took
 * three quarters of a second for a copy of sixteen steps of a merge. Only the copy for all
 * lanes gains from them. */
static bool goes_by_thread(const ptx_fast *f)
{
    const ptx_region *r = ptx_fast_region(f);
    uint32_t accesses = 0;
    if (!f->s->by_warp || f->s->has_cuts || f->s->blocks[r->head].loop != SHAPE_NONE)
        return false;
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &f->s->blocks[r->blocks[n]];
        for (uint32_t i = b->first; i < b->first + b->count && b->divergent; i++)
            accesses += (f->s->insns[i].reads_memory || f->s->insns[i].writes_memory) &&
                        !ptx_fast_is_scalar(f->s, i);
    }
    return accesses > (f->name[strlen(f->name) - 1] == 'b' ? STRIP_ACCESSES_SOME
                                                           : STRIP_ACCESSES_ALL);
}

uint32_t ptx_fast_loop_node(ptx_fast *f)
{
    const bool eight = converts_halves(f) || (f->rows && keeps_addresses(f));
    const uint32_t kind = goes_by_thread(f) ? PTX_LOOP_PLAIN
                          : f->s->by_warp   ? eight ? PTX_LOOP_WARP_EIGHT : PTX_LOOP_WARP
                          : eight           ? PTX_LOOP_BLOCK_EIGHT
                                            : PTX_LOOP_BLOCK;
    return 100 + kind + PTX_LOOP_KINDS * f->s->program->loop_nodes[kind]++;
}

/* A byte by thread: `array` to or from the slot `slot`. */
void ptx_fast_load_flag(ptx_fast *f, const char *array, uint32_t n, const char *slot)
{
    const ptx_value at = ptx_let(&f->emit, "getelementptr i8, ptr %s%u, i64 %s", array, n,
                                 f->index64.name);
    const ptx_value value =
        ptx_let(&f->emit, "load i8, ptr %s" PTX_FAST_CONTEXT, at.name);
    ptx_line(&f->emit, "store i8 %s, ptr %s%u", value.name, slot, n);
}

void ptx_fast_store_flag(ptx_fast *f, const char *array, uint32_t n, const char *slot)
{
    const ptx_value value = ptx_let(&f->emit, "load i8, ptr %s%u", slot, n);
    const ptx_value at = ptx_let(&f->emit, "getelementptr i8, ptr %s%u, i64 %s", array, n,
                                 f->index64.name);
    ptx_line(&f->emit, "store i8 %s, ptr %s" PTX_FAST_CONTEXT, value.name, at.name);
}

void ptx_fast_need_flags(ptx_fast *f)
{
    ptx_line(&f->emit,
             "call void @soft.flags(ptr %%begun, ptr %%mask.0, i64 %%mask.bytes, "
             "i64 %%flag.bytes, i32 %%threads)");
}

/* A warp's flags are a vector: all, none, or (whichever) the top bit. */
ptx_value ptx_fast_scan(ptx_fast *f, const char *array, uint32_t n)
{
    ptx_emit *e = &f->emit;
    if (f->late_flags)
        ptx_fast_need_flags(f);
    if (!f->s->by_warp)
        return ptx_let(e, "call i32 @soft.scan(ptr %%%s.%u, i32 %%threads)", array, n);
    const uint32_t lanes = f->s->lanes;
    const ptx_value bytes = ptx_let(e, "load <%u x i8>, ptr %%%s.%u", lanes, array, n);
    const ptx_value set =
        ptx_let(e, "icmp ne <%u x i8> %s, zeroinitializer", lanes, bytes.name);
    const ptx_value bits =
        ptx_let(e, "bitcast <%u x i1> %s to i%u", lanes, set.name, lanes);
    const ptx_value none = ptx_let(e, "icmp eq i%u %s, 0", lanes, bits.name);
    const ptx_value all = ptx_let(e, "icmp eq i%u %s, -1", lanes, bits.name);
    const ptx_value some = ptx_let(e, "select i1 %s, i32 0, i32 -2147483647", none.name);
    return ptx_let(e, "select i1 %s, i32 %u, i32 %s", all.name, lanes, some.name);
}

void ptx_fast_load_row(ptx_fast *f, uint32_t reg)
{
    ptx_emit *e = &f->emit;
    const char *type = ptx_fast_type(f, reg);
    const bool wide = ptx_type_bytes((ptx_type)f->s->function->registers[reg].type) == 8;
    char lane[32];
    snprintf(lane, sizeof(lane), "%%x.%s", f->name);
    const char *at = wide            ? f->index64.name
                     : f->s->by_warp ? lane
                                     : f->emit.thread_index.name;
    const ptx_value by =
        ptx_let(e, "mul nsw %s %s, %lld", type, at, (long long)f->slopes[reg]);
    const ptx_value value = ptx_let(e, "add nsw %s %%row%c.%u.%u, %s", type, f->row_copy,
                                    f->region, reg, by.name);
    ptx_store_register(e, reg, value);
}

/* ---- names ------------------------------------------------------------------------ */

const char *ptx_fast_lanes(const ptx_fast *f)
{
    return f->s->lanes == SHAPE_STRIP ? "16" : "32";
}

const char *ptx_fast_all(const ptx_fast *f)
{
    return f->s->by_warp ? ptx_fast_lanes(f) : "%threads";
}

const char *ptx_fast_row(const ptx_fast *f)
{
    return f->s->long_rows ? "%row.x" : "%ntid.x";
}

/* A block's scalar part reads nothing of the thread's own; a warp's may, of its first. */
void ptx_fast_name_first(ptx_fast *f)
{
    if (!f->s->by_warp) {
        ptx_fast_set_name(&f->emit.thread_index, "0");
        return;
    }
    ptx_fast_set_name(&f->emit.thread_index, "%warp.first");
    ptx_fast_set_name(&f->w.tid[0], "%warp.x");
    ptx_fast_set_name(&f->w.tid[1], "%warp.y");
    ptx_fast_set_name(&f->w.tid[2], "%warp.z");
}

/* The value of the first thread's index along the axis, and how far the last one's is. */
ptx_value ptx_fast_first_index(const ptx_fast *f, int axis)
{
    static const char *const names[] = {"%warp.x", "%warp.y", "%warp.z", "0"};
    ptx_value value = {"0"};
    if (f->s->by_warp)
        ptx_fast_set_name(&value, names[axis]);
    return value;
}

ptx_value ptx_fast_index_range(ptx_fast *f, int axis)
{
    ptx_value range;
    const char *last = f->s->lanes == SHAPE_STRIP ? "15" : "31";
    ptx_fast_set_name(&range, axis == 0 || axis == 3 ? last : "0");
    if (f->s->by_warp)
        return range;
    return axis == 0 ? ptx_let(&f->emit, "sub i32 %s, 1", ptx_fast_row(f))
                     : ptx_let(&f->emit, "sub i32 %%ntid.%c, 1", "xyz"[axis]);
}

void ptx_fast_name_thread(ptx_fast *f)
{
    static const char axis[] = "xyz";
    if (f->s->by_warp)
        snprintf(f->w.tid[0].name, sizeof(f->w.tid[0].name), "%%tx.%s", f->name);
    for (int k = 0; k < 3 && !f->s->by_warp; k++)
        snprintf(f->w.tid[k].name, sizeof(f->w.tid[k].name), "%%%c.%s", axis[k], f->name);
    snprintf(f->emit.thread_index.name, sizeof(f->emit.thread_index.name), "%%i.%s",
             f->name);
    snprintf(f->index64.name, sizeof(f->index64.name), "%%i64.%s", f->name);
    if (f->s->local_bytes > 0)
        snprintf(f->emit.local.name, sizeof(f->emit.local.name), "%%lm.%s", f->name);
    else /* .local may be named all the same: cvta.to.local of a foreign address */
        snprintf(f->emit.local.name, sizeof(f->emit.local.name), "null");
}

void ptx_fast_name_run(ptx_fast *f)
{
    snprintf(f->w.tid[0].name, sizeof(f->w.tid[0].name), "%%s.%s", f->name);
    snprintf(f->emit.thread_index.name, sizeof(f->emit.thread_index.name), "%%si.%s",
             f->name);
    snprintf(f->index64.name, sizeof(f->index64.name), "%%si64.%s", f->name);
    if (f->s->local_bytes > 0)
        snprintf(f->emit.local.name, sizeof(f->emit.local.name), "%%slm.%s", f->name);
}
