// SPDX-License-Identifier: Apache-2.0
/* The control flow graph of one function. A barrier or a warp operation is a block by
 * itself; a guard before one becomes a branch around it. Edges to blocks that do nothing
 * but jump or return lead straight to where those lead, so that every `bra EXIT` of an
 * early return is seen as what it is. */
#include "softcuda/ptx/flow/flow.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Out of memory is one way out for all analyses: none of them has anything to undo. */
void *ptx_alloc(ptx_flow_memory *memory, size_t count, size_t bytes)
{
    void *ptr = ptx_arena_alloc(memory->arena, count, bytes);
    if (!ptr)
        longjmp(memory->exit, 1);
    return ptr;
}

void *ptx_scratch(ptx_flow_memory *memory, ptx_scratch_use use, size_t count,
                  size_t bytes)
{
    const size_t wanted = count * bytes;
    if (wanted > memory->scratch[use].bytes) {
        memory->scratch[use].room = ptx_alloc(memory, 2, wanted); /* so grows seldom */
        memory->scratch[use].bytes = 2 * wanted;
    }
    return memory->scratch[use].room;
}

const char *ptx_format(ptx_flow_memory *memory, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    char *text = ptx_arena_text(memory->arena, line, strlen(line));
    if (!text)
        longjmp(memory->exit, 1);
    return text;
}

/* ---- instructions ---- */

static void refuse(ptx_shape *s, const ptx_insn *insn, const char *reason)
{
    char text[160];
    if (s->refusal)
        return;
    ptx_insn_text(s->module, insn, text, sizeof(text));
    s->refusal =
        ptx_format(s->memory, "line %u: %s: %s", insn->line, text,
                   reason ? reason : "this build does not have this instruction");
}

static uint32_t *copy_list(ptx_shape *s, const uint32_t *list, uint32_t count)
{
    uint32_t *copy = ptx_alloc(s->memory, count, sizeof(*copy));
    if (count > 0)
        memcpy(copy, list, count * sizeof(*copy));
    return copy;
}

static void scan_insn(ptx_shape *s, uint32_t i)
{
    uint32_t reads[PTX_OPERANDS_MAX], writes[PTX_OPERANDS_MAX];
    const ptx_insn *insn = &s->function->insns[i];
    ptx_flow_insn *info = &s->insns[i];
    const char *reason = NULL;
    const ptx_role role = ptx_insn_role(s->module, s->function, insn, &reason);
    if (role == PTX_ROLE_UNSUPPORTED)
        refuse(s, insn, reason);
    info->role = (uint8_t)role;
    ptx_insn_registers(s->function, insn, reads, &info->read_count, writes,
                       &info->write_count);
    info->reads = copy_list(s, reads, info->read_count);
    info->writes = copy_list(s, writes, info->write_count);
    info->reads_memory = ptx_insn_reads_memory(insn);
    info->writes_memory = ptx_insn_writes_memory(insn);
    info->is_volatile = ptx_insn_is_volatile(insn);
    info->keeps_lockstep = ptx_insn_keeps_lockstep(s->module, s->function, insn);
    info->keeps_uniformity = ptx_insn_keeps_uniformity(s->function, insn);
}

void ptx_scan(ptx_shape *s)
{
    const ptx_function *f = s->function;
    s->insns = ptx_alloc(s->memory, f->insn_count, sizeof(*s->insns));
    s->regs = ptx_alloc(s->memory, f->register_count, sizeof(*s->regs));
    s->reg_words = (f->register_count + 31) / 32;
    for (uint32_t r = 0; r < f->register_count; r++)
        s->regs[r].def = SHAPE_NONE;
    for (uint32_t i = 0; i < f->insn_count; i++)
        scan_insn(s, i);
    if (s->joins)
        ptx_join_sums(s);
    if (s->clocks)
        ptx_join_clocks(s);
}

/* ---- blocks ---- */

static bool is_cut(uint8_t role)
{
    return role == PTX_ROLE_BARRIER || role == PTX_ROLE_WARP;
}

static const ptx_operand *operand_of(const ptx_shape *s, const ptx_insn *insn,
                                     uint32_t nth)
{
    return &s->function->operands[insn->operand + nth];
}

/* ---- large kernels: see bound.c ---- */

/* Between an instruction that reads the carry and the last one before it that sets it, as
 * the text has them: no compiler hands a carry round a loop. */
static void keep_carries(ptx_shape *s)
{
    const ptx_function *f = s->function;
    bool wanted = false;
    for (uint32_t i = f->insn_count; i-- > 0;) {
        const ptx_insn *insn = &f->insns[i];
        const bool reads = insn->opcode == PTX_OP_ADDC || insn->opcode == PTX_OP_SUBC ||
                           insn->opcode == PTX_OP_MADC;
        if (reads)
            wanted = true;
        else if (ptx_has(insn, PTX_MOD_CC))
            wanted = false;
        s->insns[i].keeps_together |= wanted;
    }
}

/* A .param variable that the body declares. */
static bool is_call_parameter(const ptx_function *f, const ptx_operand *o,
                              uint32_t *index)
{
    const bool names = o->kind == PTX_OPERAND_VAR ||
                       (o->kind == PTX_OPERAND_ADDRESS && o->base == PTX_OPERAND_VAR);
    *index = o->index & ~PTX_VAR_LOCAL;
    return names && (o->index & PTX_VAR_LOCAL) && *index < f->variable_count &&
           *index >= f->parameter_count + f->return_count &&
           f->variables[*index].space == PTX_SPACE_PARAM;
}

/* From the first to the last instruction that names a parameter of a call. */
static void keep_calls(ptx_shape *s)
{
    const ptx_function *f = s->function;
    uint32_t *last = ptx_alloc(s->memory, f->variable_count, sizeof(*last));
    uint32_t index, until = 0;
    for (uint32_t i = 0; i < f->insn_count; i++)
        for (uint32_t k = 0; k < f->insns[i].operand_count; k++)
            if (is_call_parameter(f, &f->operands[f->insns[i].operand + k], &index))
                last[index] = i;
    for (uint32_t i = 0; i < f->insn_count; i++) {
        s->insns[i].keeps_together |= i <= until && until != 0;
        for (uint32_t k = 0; k < f->insns[i].operand_count; k++)
            if (is_call_parameter(f, &f->operands[f->insns[i].operand + k], &index) &&
                last[index] > until)
                until = last[index];
    }
}

static void bound_blocks(ptx_shape *s, uint8_t *leader)
{
    const ptx_function *f = s->function;
    uint32_t length = 0;
    if (!ptx_is_large(s))
        return;
    keep_carries(s);
    keep_calls(s);
    for (uint32_t i = 0; i < f->insn_count; i++, length++) {
        if (length >= SHAPE_STRETCH_INSNS && !s->insns[i].keeps_together)
            leader[i] = 1;
        if (leader[i])
            length = 0;
    }
}

static uint8_t *find_leaders(ptx_shape *s)
{
    const ptx_function *f = s->function;
    uint8_t *leader = ptx_alloc(s->memory, (size_t)f->insn_count + 1, 1);
    leader[0] = 1;
    for (uint32_t i = 0; i < f->insn_count; i++) {
        const ptx_insn *insn = &f->insns[i];
        const uint8_t role = s->insns[i].role;
        if (role == PTX_ROLE_BRANCH || role == PTX_ROLE_EXIT || is_cut(role))
            leader[i + 1] = 1;
        const bool alone = s->insns[i].keeps_lockstep || s->insns[i].is_moment;
        leader[i] |= is_cut(role) || alone;
        leader[i + 1] |= alone;
        if (role != PTX_ROLE_BRANCH)
            continue;
        for (uint32_t k = 0; k < insn->operand_count; k++)
            if (operand_of(s, insn, k)->kind == PTX_OPERAND_LABEL)
                leader[f->labels[operand_of(s, insn, k)->index].insn] = 1;
    }
    bound_blocks(s, leader);
    return leader;
}

/* Successors are instruction indices at first; block_at[] turns them into blocks. */
static void set_succ(ptx_shape *s, ptx_flow_block *block, uint32_t count,
                     const uint32_t *at)
{
    block->succ_count = count;
    block->succ = copy_list(s, at, count);
}

static void end_with_branch(ptx_shape *s, ptx_flow_block *block, uint32_t i)
{
    const ptx_function *f = s->function;
    const ptx_insn *insn = &f->insns[i];
    uint32_t to[2] = {SHAPE_EXIT, i + 1};
    block->line = insn->line;
    if (insn->opcode == PTX_OP_BRX) {
        uint32_t labels[PTX_OPERANDS_MAX], count = 0;
        block->end = SHAPE_INDEX;
        block->reg = operand_of(s, insn, 0)->index;
        for (uint32_t k = 1; k < insn->operand_count && count < PTX_OPERANDS_MAX; k++)
            if (operand_of(s, insn, k)->kind == PTX_OPERAND_LABEL)
                labels[count++] = f->labels[operand_of(s, insn, k)->index].insn;
        if (insn->guarded || operand_of(s, insn, 0)->kind != PTX_OPERAND_REG ||
            count == 0)
            refuse(s, insn, "a guarded or constant brx.idx is not in this build");
        set_succ(s, block, count, labels);
        return;
    }
    if (s->insns[i].role == PTX_ROLE_BRANCH)
        to[0] = f->labels[operand_of(s, insn, 0)->index].insn;
    if (insn->guarded) {
        block->end = SHAPE_BRANCH;
        block->reg = insn->guard;
        block->negate = insn->guard_negate;
    }
    set_succ(s, block, insn->guarded ? 2 : 1, to);
}

/* One block that starts at instruction i; returns the instruction after it. */
static uint32_t make_block(ptx_shape *s, uint32_t i, const uint8_t *leader,
                           uint32_t *block_at)
{
    const ptx_function *f = s->function;
    const ptx_insn *insn = &f->insns[i];
    ptx_flow_block *block = &s->blocks[s->block_count];
    block_at[i] = s->block_count++;
    block->line = insn->line;
    if (is_cut(s->insns[i].role)) {
        if (insn->guarded) { /* an empty block that branches around the cut */
            const uint32_t around[2] = {SHAPE_NONE, i + 1};
            *block = (ptx_flow_block){.first = i,
                                      .end = SHAPE_BRANCH,
                                      .reg = insn->guard,
                                      .negate = insn->guard_negate,
                                      .line = insn->line};
            set_succ(s, block, 2, around);
            block = &s->blocks[s->block_count++];
        }
        *block = (ptx_flow_block){
            .first = i,
            .count = 1,
            .line = insn->line,
            .kind = s->insns[i].role == PTX_ROLE_BARRIER ? SHAPE_BARRIER : SHAPE_WARP};
        s->has_cuts = 1;
        set_succ(s, block, 1, &(uint32_t){i + 1});
        return i + 1;
    }
    block->first = i;
    for (;; i++) {
        if (i == f->insn_count || (i > block->first && leader[i])) {
            set_succ(s, block, 1, &(uint32_t){i});
            return i;
        }
        const uint8_t role = s->insns[i].role;
        if (role == PTX_ROLE_BRANCH || role == PTX_ROLE_EXIT) {
            /* `exit` in a device function is not a mere return: it is written, too. */
            block->count += f->insns[i].opcode == PTX_OP_EXIT && !f->is_entry;
            end_with_branch(s, block, i);
            return i + 1;
        }
        block->count++;
    }
}

/* Where an edge to `block` really leads. */
static uint32_t thread_edge(const ptx_shape *s, uint32_t block)
{
    for (uint32_t steps = 0; block != SHAPE_EXIT && steps < s->block_count; steps++) {
        const ptx_flow_block *b = &s->blocks[block];
        if (b->count > 0 || b->end != SHAPE_JUMP)
            break;
        block = b->succ[0];
    }
    return block;
}

static void link_blocks(ptx_shape *s, const uint32_t *block_at)
{
    for (uint32_t b = 0; b < s->block_count; b++) {
        for (uint32_t k = 0; k < s->blocks[b].succ_count; k++) {
            uint32_t *succ = &s->blocks[b].succ[k];
            if (*succ == SHAPE_NONE) /* the guarded cut after its branch */
                *succ = b + 1;
            else if (*succ != SHAPE_EXIT)
                *succ = *succ == s->function->insn_count ? SHAPE_EXIT : block_at[*succ];
        }
    }
    for (uint32_t b = 0; b < s->block_count; b++)
        for (uint32_t k = 0; k < s->blocks[b].succ_count; k++)
            s->blocks[b].succ[k] = thread_edge(s, s->blocks[b].succ[k]);
    for (uint32_t b = 0; b < s->block_count; b++) {
        ptx_flow_block *block = &s->blocks[b];
        if (block->end == SHAPE_BRANCH && block->succ[0] == block->succ[1]) {
            block->end = SHAPE_JUMP;
            block->succ_count = 1;
        }
    }
}

/* Reverse postorder of what the entry reaches. */
static void order_blocks(ptx_shape *s)
{
    uint32_t *stack = ptx_alloc(s->memory, s->block_count + 1, sizeof(*stack));
    uint32_t *next = ptx_alloc(s->memory, s->block_count, sizeof(*next));
    uint32_t *post = ptx_alloc(s->memory, s->block_count, sizeof(*post));
    uint32_t depth = 0, count = 0;
    for (uint32_t b = 0; b < s->block_count; b++) {
        s->blocks[b].reachable = b == s->entry;
        s->blocks[b].pred_count = 0;
    }
    stack[depth++] = s->entry;
    while (depth > 0) {
        const uint32_t b = stack[depth - 1];
        ptx_flow_block *block = &s->blocks[b];
        if (next[b] == block->succ_count) {
            post[count++] = b;
            depth--;
            continue;
        }
        const uint32_t to = block->succ[next[b]++];
        if (to == SHAPE_EXIT || s->blocks[to].reachable)
            continue;
        s->blocks[to].reachable = 1;
        stack[depth++] = to;
    }
    s->order = ptx_alloc(s->memory, count, sizeof(*s->order));
    s->order_count = count;
    for (uint32_t i = 0; i < count; i++) {
        s->order[i] = post[count - 1 - i];
        s->blocks[s->order[i]].order = i;
    }
}

static void link_preds(ptx_shape *s)
{
    for (uint32_t i = 0; i < s->order_count; i++) {
        const ptx_flow_block *b = &s->blocks[s->order[i]];
        for (uint32_t k = 0; k < b->succ_count; k++)
            if (b->succ[k] != SHAPE_EXIT)
                s->blocks[b->succ[k]].pred_count++;
    }
    for (uint32_t i = 0; i < s->order_count; i++) {
        ptx_flow_block *b = &s->blocks[s->order[i]];
        b->pred = ptx_alloc(s->memory, b->pred_count, sizeof(*b->pred));
        b->pred_count = 0;
    }
    for (uint32_t i = 0; i < s->order_count; i++) {
        const ptx_flow_block *b = &s->blocks[s->order[i]];
        for (uint32_t k = 0; k < b->succ_count; k++) {
            if (b->succ[k] == SHAPE_EXIT)
                continue;
            ptx_flow_block *to = &s->blocks[b->succ[k]];
            to->pred[to->pred_count++] = s->order[i];
        }
    }
}

static void note_definitions(ptx_shape *s)
{
    s->has_cuts = 0;
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        s->has_cuts |= b->kind != SHAPE_CODE;
        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            s->insns[i].block = s->order[n];
            for (uint32_t k = 0; k < s->insns[i].write_count; k++) {
                ptx_flow_reg *reg = &s->regs[s->insns[i].writes[k]];
                reg->def = i;
                reg->def_count++;
            }
        }
    }
}

void ptx_build_cfg(ptx_shape *s)
{
    const ptx_function *f = s->function;
    const uint8_t *leader = find_leaders(s);
    uint32_t *block_at =
        ptx_alloc(s->memory, (size_t)f->insn_count + 1, sizeof(*block_at));
    uint32_t most = 1;
    for (uint32_t i = 0; i < f->insn_count; i++)
        most += leader[i] + (is_cut(s->insns[i].role) && f->insns[i].guarded ? 1u : 0u);
    /* Twice: room for a block before every loop. */
    s->blocks = ptx_alloc(s->memory, 2 * (size_t)most, sizeof(*s->blocks));
    for (uint32_t i = 0; i < f->insn_count;)
        i = make_block(s, i, leader, block_at);
    if (f->insn_count == 0) {
        s->block_count = 1;
        set_succ(s, &s->blocks[0], 1, &(uint32_t){0});
    }
    link_blocks(s, block_at);
    ptx_order_blocks(s);
    note_definitions(s);
}

void ptx_order_blocks(ptx_shape *s)
{
    s->block_words = (s->block_count + 31) / 32;
    order_blocks(s);
    link_preds(s);
}
