// SPDX-License-Identifier: Apache-2.0
/* Branches by thread around accesses of shared memory, written without branches:
 *
 *   if (k[a] > k[b]) swap k[a], k[b]      old = k[a]; k[a] = condition ? k[b] : old ...
 *
 * Each block's code runs for all threads, registers and memory keep what they had where the
 * condition is false. A processor guesses such branches wrong half of the time, vectors of
 * bytes have no masks on x86, and masked stores take tens of cycles on some processors.
 *
 * It needs to be known where each thread's access would be, had it taken the way: addresses
 * that are made of threadIdx.x and constants alone are computed here, thread by thread. A
 * load must be in shared memory or near it, where memory can be read; a store must be inside,
 * and at a place that no other thread of the region stores to. Both hold for the first n
 * threads of a row: larger blocks take the code with branches. */
#include <stdio.h>

#include "softcuda/ptx/abi.h"
#include "softcuda/ptx/shape/fast.h"

#define INSNS_MAX 80u
#define DEPTH_MAX 12u
#define ACCESSES_MAX 32u
#define SHARED_MAX (48u << 10)
/* Of what can be read before and after shared memory: kernel/run/runner.c. */
#define BEFORE_BYTES 4096
#define AFTER_BYTES 4096

typedef struct access {
    uint32_t insn, bytes;
    bool is_store, always; /* by all threads, as it is written */
    uint32_t *at;          /* by threadIdx.x */
} access;

typedef struct flat {
    access list[ACCESSES_MAX];
    uint32_t count;
    uint32_t threads; /* of a row, for which all is well */
    uint32_t piece;   /* the largest n of threadIdx.x % n in addresses, or 0 */
    bool before;      /* some load is before shared memory */
} flat;

/* ---- where each thread's access is -------------------------------------------------- */

static bool is_word(uint32_t type)
{
    return type == PTX_U32 || type == PTX_S32 || type == PTX_B32;
}

/* Where a .shared variable is, if that is known before the launch. */
static bool variable_offset(const ptx_fast *f, uint32_t index, uint32_t *offset)
{
    const uint32_t i = index & ~PTX_VAR_LOCAL;
    const bool own = index & PTX_VAR_LOCAL;
    const ptx_variable *v =
        own ? &f->s->function->variables[i] : &f->s->module->variables[i];
    if (v->space != PTX_SPACE_SHARED || v->bytes == 0)
        return false;
    *offset = own ? f->s->offsets[i] : f->s->shared_offsets[i];
    return true;
}

static uint32_t compute(ptx_opcode opcode, uint32_t a, uint32_t b, uint32_t c)
{
    switch (opcode) {
    case PTX_OP_ADD: return a + b;
    case PTX_OP_SUB: return a - b;
    case PTX_OP_SHL: return b < 32 ? a << b : 0;
    case PTX_OP_AND: return a & b;
    case PTX_OP_OR: return a | b;
    case PTX_OP_XOR: return a ^ b;
    case PTX_OP_MUL: return a * b;
    case PTX_OP_MAD: return a * b + c;
    default: return a; /* mov */
    }
}

/* How many operands it has, if compute() knows it; 0. */
static uint32_t operands_of(const ptx_insn *insn)
{
    if (insn->type_count != 1 || !is_word(insn->types[0]))
        return 0;
    switch ((ptx_opcode)insn->opcode) {
    case PTX_OP_MOV: return insn->mod_count == 0 ? 1 : 0;
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_SHL:
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_XOR: return insn->mod_count == 0 ? 2 : 0;
    case PTX_OP_MUL:
    case PTX_OP_MAD:
        if (insn->mod_count != 1 || !ptx_has(insn, PTX_MOD_LO))
            return 0;
        return insn->opcode == PTX_OP_MUL ? 2 : 3;
    default: return 0;
    }
}

/* `x & (n - 1)`: the loop over x is one over pieces of n threads. In each the remainder is
 * the thread's place, and LLVM sees the stride of what is made of it:
 *
 *   2 x - x % 64:   0 1 ... 63 | 128 129 ... 191 | ...
 */
static void note_piece(flat *p, const uint32_t *index, uint32_t mask)
{
    if (mask < 3 || mask >= PTX_FAST_ROW_MAX || (mask & (mask + 1)) != 0)
        return;
    for (uint32_t x = 0; x < PTX_FAST_ROW_MAX; x++)
        if (index[x] != x)
            return;
    p->piece = mask + 1 > p->piece ? mask + 1 : p->piece;
}

/* The operand's value by threadIdx.x, in `to`. False: it is made of something else, too. */
static bool evaluate(const ptx_fast *f, flat *p, const ptx_operand *o, uint32_t depth,
                     uint32_t *to)
{
    uint32_t offset = 0;
    if (o->kind == PTX_OPERAND_SREG && o->index == PTX_SREG_TID_X) {
        for (uint32_t x = 0; x < PTX_FAST_ROW_MAX; x++)
            to[x] = x;
        return true;
    }
    if (o->kind == PTX_OPERAND_INT ||
        (o->kind == PTX_OPERAND_VAR && variable_offset(f, o->index, &offset))) {
        for (uint32_t x = 0; x < PTX_FAST_ROW_MAX; x++)
            to[x] = o->kind == PTX_OPERAND_INT ? (uint32_t)o->imm : offset;
        return true;
    }
    const ptx_insn *insn = o->kind == PTX_OPERAND_REG && !o->negate && depth < DEPTH_MAX
                               ? ptx_fast_definition(f, o->index)
                               : NULL;
    const uint32_t count = insn ? operands_of(insn) : 0;
    if (count == 0 || insn->operand_count != count + 1)
        return false;
    uint32_t *values[3] = {to, to, to};
    for (uint32_t k = 0; k < count; k++) {
        values[k] = ptx_alloc(f->s->memory, PTX_FAST_ROW_MAX, sizeof(*to));
        if (!evaluate(f, p, &ptx_fast_operands(f, insn)[k + 1], depth + 1, values[k]))
            return false;
    }
    if (insn->opcode == PTX_OP_AND &&
        ptx_fast_operands(f, insn)[2].kind == PTX_OPERAND_INT)
        note_piece(p, values[0], values[1][0]);
    for (uint32_t x = 0; x < PTX_FAST_ROW_MAX; x++)
        to[x] =
            compute((ptx_opcode)insn->opcode, values[0][x], values[1][x], values[2][x]);
    return true;
}

/* A plain load or store of one value, of shared memory at a known place. */
static bool add_access(const ptx_fast *f, flat *p, uint32_t i, bool always)
{
    const ptx_insn *insn = &f->s->function->insns[i];
    const bool is_store = insn->opcode == PTX_OP_ST;
    const ptx_operand *o = ptx_fast_operands(f, insn), *at = &o[is_store ? 0 : 1];
    if ((!is_store && insn->opcode != PTX_OP_LD) || insn->space != PTX_SPACE_SHARED ||
        insn->mod_count != 0 || insn->type_count != 1 || insn->operand_count != 2 ||
        at->kind != PTX_OPERAND_ADDRESS || p->count == ACCESSES_MAX)
        return false;
    access *a = &p->list[p->count++];
    *a = (access){.insn = i,
                  .bytes = ptx_type_bytes((ptx_type)insn->types[0]),
                  .is_store = is_store,
                  .always = always,
                  .at = ptx_alloc(f->s->memory, PTX_FAST_ROW_MAX, sizeof(*a->at))};
    ptx_operand base = *at;
    base.kind = at->base;
    base.imm = at->base == PTX_OPERAND_INT ? at->imm : 0;
    if (!evaluate(f, p, &base, 0, a->at))
        return false;
    for (uint32_t x = 0; x < PTX_FAST_ROW_MAX && at->base != PTX_OPERAND_INT; x++)
        a->at[x] += (uint32_t)at->imm;
    return true;
}

/* ---- what is well for how many threads ---------------------------------------------- */

/* Bytes of shared memory that each block has, whatever the launch adds. */
static uint32_t shared_bytes(const ptx_fast *f)
{
    const ptx_function *own = f->s->function;
    uint64_t most = 0;
    for (uint32_t i = 0; i < own->variable_count; i++)
        if (own->variables[i].space == PTX_SPACE_SHARED && own->variables[i].bytes != 0 &&
            f->s->offsets[i] + own->variables[i].bytes > most)
            most = f->s->offsets[i] + own->variables[i].bytes;
    return most < SHARED_MAX ? (uint32_t)most : SHARED_MAX;
}

static void bound_access(flat *p, const access *a, int64_t shared)
{
    const int64_t first = a->is_store ? 0 : -BEFORE_BYTES;
    const int64_t end = a->is_store ? shared : shared + AFTER_BYTES;
    for (uint32_t x = 0; x < p->threads && !a->always; x++) {
        const int64_t at = (int32_t)a->at[x];
        if (at < first || at + a->bytes > end)
            p->threads = x;
        else
            p->before |= at < 0;
    }
}

/* No two threads store to one place. */
static void bound_stores(const ptx_fast *f, flat *p, uint32_t shared)
{
    uint16_t *owner = ptx_alloc(f->s->memory, shared + 1u, sizeof(*owner)); /* x + 1 */
    for (uint32_t x = 0; x < p->threads; x++)
        for (uint32_t k = 0; k < p->count; k++)
            for (uint32_t n = 0; n < p->list[k].bytes && p->list[k].is_store; n++) {
                const uint32_t at = p->list[k].at[x] + n;
                if (at >= shared)
                    continue; /* one that all do: faults as it would */
                if (owner[at] != 0 && owner[at] != x + 1) {
                    p->threads = x;
                    return;
                }
                owner[at] = (uint16_t)(x + 1);
            }
}

/* What may be done for a thread that has not taken the way: nothing that traps. */
bool ptx_fast_is_harmless(const ptx_insn *insn)
{
    return !insn->guarded && insn->opcode != PTX_OP_DIV && insn->opcode != PTX_OP_REM &&
           insn->opcode != PTX_OP_TRAP;
}

static bool add_block(const ptx_fast *f, flat *p, uint32_t block)
{
    const ptx_flow_block *b = &f->s->blocks[block];
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const ptx_flow_insn *flow = &f->s->insns[i];
        const ptx_insn *insn = &f->s->function->insns[i];
        if (b->divergent && !ptx_fast_is_harmless(insn))
            return false;
        if (ptx_fast_is_scalar(f->s, i))
            continue;
        const bool elsewhere =
            !b->divergent && (!flow->writes_memory || (insn->opcode == PTX_OP_ST &&
                                                       insn->space == PTX_SPACE_GLOBAL));
        if ((flow->reads_memory || flow->writes_memory) && !elsewhere &&
            (insn->guarded || !add_access(f, p, i, !b->divergent)))
            return false;
    }
    return true;
}

/* Some threads end at the branch, and the others' block is not marked as one that not all
 * come to: an early end, which post-dominators ignore. */
bool ptx_fast_ends_unmarked(const ptx_fast *f, uint32_t block)
{
    const ptx_flow_block *b = &f->s->blocks[block];
    for (uint32_t k = 0; k < b->succ_count && b->end != SHAPE_JUMP; k++)
        if (b->succ[k] != SHAPE_EXIT && !f->s->blocks[b->succ[k]].divergent)
            return true;
    return false;
}

static bool find_flat(const ptx_fast *f, flat *p)
{
    const ptx_region *r = ptx_fast_region(f);
    const uint32_t shared = shared_bytes(f);
    bool any = false;
    if (shared == 0 || r->block_count < 2 || ptx_fast_insn_count(f) > INSNS_MAX ||
        !ptx_fast_is_plain(f) || f->s->blocks[r->head].divergent)
        return false;
    for (uint32_t n = 0; n < r->block_count; n++)
        if (!ptx_fast_leads_on(f, r->blocks[n]) ||
            (ptx_fast_leaves_early(f, r->blocks[n]) &&
             ptx_fast_ends_unmarked(f, r->blocks[n])))
            return false;
    for (uint32_t n = 0; n < r->block_count; n++)
        if (!add_block(f, p, r->blocks[n]))
            return false;
    p->threads = PTX_FAST_ROW_MAX;
    for (uint32_t k = 0; k < p->count; k++) {
        bound_access(p, &p->list[k], shared);
        any |= !p->list[k].always;
    }
    bound_stores(f, p, shared);
    return any && p->threads >= 32;
}

/* ---- writing ------------------------------------------------------------------------ */

/* The threads that come to a block: joined over the ways to it. */
static void add_condition(ptx_fast *f, uint32_t block, uint32_t nth,
                          const ptx_value *condition)
{
    const uint32_t to = f->s->blocks[block].succ[nth];
    if (to == SHAPE_EXIT || f->s->blocks[to].region != f->region)
        return;
    ptx_value *at = &f->flat[to];
    *at = at->name[0] == 0 ? *condition
                           : ptx_let(&f->emit, "or i1 %s, %s", at->name, condition->name);
}

void ptx_fast_end_flat(ptx_fast *f, uint32_t block)
{
    ptx_emit *e = &f->emit;
    const ptx_flow_block *b = &f->s->blocks[block];
    const ptx_value own = f->flat[block];
    if (b->end == SHAPE_JUMP || (f->ways && f->ways[block] != 0)) {
        add_condition(f, block, b->end == SHAPE_JUMP ? 0 : f->ways[block] - 1u, &own);
        return;
    }
    const ptx_value value = ptx_load_register(e, b->reg);
    const ptx_value other = ptx_let(e, "xor i1 %s, true", value.name);
    for (uint32_t k = 0; k < 2; k++) {
        const ptx_value way = ptx_let(e, "and i1 %s, %s", own.name,
                                      (k == 0) != b->negate ? value.name : other.name);
        add_condition(f, block, k, &way);
    }
}

/* What all threads come to has no condition. */
void ptx_fast_begin_flat(ptx_fast *f, uint32_t block)
{
    if (!ptx_fast_is_conditional(f, block))
        ptx_fast_set_name(&f->flat[block], "true");
    else
        f->emit.only_if = f->flat[block];
}

bool ptx_fast_write_flat(ptx_fast *f)
{
    ptx_emit *e = &f->emit;
    flat p = {.count = 0};
    char from[32];
    if (!find_flat(f, &p))
        return false;
    ptx_fast_set_scalar(f, true);
    ptx_value fits = ptx_let(e, "icmp ule i32 %%ntid.x, %u", p.threads);
    if (p.before) { /* in a cluster there is another block's memory, or none */
        const ptx_value size =
            ptx_load_field(e, "i32", "%grid", offsetof(ptx_grid, cluster_size));
        const ptx_value alone = ptx_let(e, "icmp eq i32 %s, 1", size.name);
        fits = ptx_let(e, "and i1 %s, %s", fits.name, alone.name);
    }
    if (p.piece != 0 && !f->s->by_warp) {
        const ptx_value rest = ptx_let(e, "and i32 %%ntid.x, %u", p.piece - 1);
        const ptx_value whole = ptx_let(e, "icmp eq i32 %s, 0", rest.name);
        fits = ptx_let(e, "and i1 %s, %s", fits.name, whole.name);
        f->piece = p.piece;
    }
    ptx_line(e, "br i1 %s, label %%C%u.p, label %%C%u", fits.name, f->region, f->region);
    snprintf(from, sizeof(from), "C%u.p", f->region);
    gphi_text_add(e->out, "%s:\n  br label %%T%up.z\n", from, f->region);
    f->flat = ptx_alloc(f->s->memory, f->s->block_count, sizeof(*f->flat));
    ptx_fast_write_loops(f, 'p', from, ptx_fast_row(f));
    f->flat = NULL;
    f->piece = 0;
    snprintf(from, sizeof(from), "C%u", f->region);
    gphi_text_add(e->out, "%s:\n  br label %%T%ua.z\n", from, f->region);
    ptx_fast_write_loops(f, 'a', from, ptx_fast_row(f));
    return true;
}

/* x inside, in pieces of as many threads: where each begins, `xp`, is a multiple of that. */
void ptx_fast_open_pieces(ptx_fast *f)
{
    const char *n = f->name;
    gphi_text_add(f->emit.out,
                  "  br label %%%s.xp\n"
                  "%s.xp:\n  %%xp.%s = phi i32 [ 0, %%%s.y ], [ %%xp1.%s, %%%s.xl ]\n"
                  "  %%xb.%s = mul nuw nsw i32 %%xp.%s, %u\n  br label %%%s.x\n"
                  "%s.x:\n  %%j.%s = phi i32 [ 0, %%%s.xp ], [ %%x1.%s, %%%s.latch ]\n"
                  "  %%x.%s = add nuw nsw i32 %%xb.%s, %%j.%s\n"
                  "  %%i.%s = add nuw nsw i32 %%row.%s, %%x.%s\n"
                  "  %%i64.%s = zext i32 %%i.%s to i64\n",
                  n, n, n, n, n, n, n, n, f->piece, n, n, n, n, n, n, n, n, n, n, n, n, n,
                  n);
}

void ptx_fast_close_pieces(ptx_fast *f)
{
    const char *n = f->name;
    gphi_text_add(f->emit.out,
                  "  %%x1.%s = add nuw nsw i32 %%j.%s, 1\n"
                  "  %%xc.%s = icmp ult i32 %%x1.%s, %u\n"
                  "  br i1 %%xc.%s, label %%%s.x, label %%%s.xl, !llvm.loop !%u\n"
                  "%s.xl:\n  %%xp1.%s = add nuw nsw i32 %%xp.%s, 1\n"
                  "  %%xe.%s = mul nuw nsw i32 %%xp1.%s, %u\n"
                  "  %%xd.%s = icmp ult i32 %%xe.%s, %%ntid.x\n"
                  "  br i1 %%xd.%s, label %%%s.xp, label %%%s.yl\n",
                  n, n, n, n, f->piece, n, n, n, ptx_fast_loop_node(f), n, n, n, n, n,
                  f->piece, n, n, n, n, n);
}

/* ---- for the kernel report ---------------------------------------------------------- */

/* The first line that not all threads come to as it is written. */
static uint32_t line_of_condition(const ptx_fast *f)
{
    const ptx_region *r = ptx_fast_region(f);
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &f->s->blocks[r->blocks[n]];
        if (b->count > 0 && ptx_fast_is_conditional(f, r->blocks[n]))
            return f->s->function->insns[b->first].line;
    }
    return f->s->blocks[r->head].line;
}

uint32_t ptx_describe_region(ptx_shape *s, uint32_t region, ptx_cut *out)
{
    ptx_fast *f = ptx_alloc(s->memory, 1, sizeof(*f));
    flat p = {.count = 0};
    f->s = s;
    f->region = region;
    f->stride = ptx_fast_stride(f);
    if (s->regions[region].kind != SHAPE_CODE)
        return 0;
    if (ptx_fast_sets_aside(f)) {
        *out =
            (ptx_cut){line_of_condition(f),
                      "aside: all threads store, those elsewhere to a place of no use"};
        return 1;
    }
    if (!find_flat(f, &p))
        return 0;
    *out =
        (ptx_cut){line_of_condition(f),
                  ptx_format(&s->program->memory,
                             "flat: all threads of rows up to %u access shared memory, "
                             "whatever the condition",
                             p.threads)};
    return 1;
}
