// SPDX-License-Identifier: Apache-2.0
/* Writing the code of one thread: what the functions of the fast path, of the slow path
 * and device functions have in common. */
#include <stdio.h>
#include <string.h>

#include "softcuda/ptx/abi.h"
#include "softcuda/ptx/matrix.h"
#include "softcuda/ptx/shape/shape.h"

/* ---- the start of a function ---- */

/* Loads what every thread may ask for; LLVM drops what nobody uses. */
void ptx_write_head(ptx_emit *emit)
{
    gphi_text *out = emit->out;
    const struct {
        const char *name, *type;
        size_t offset;
    } fields[] = {{"zero", "ptr", offsetof(ptx_block, zero)},
                  {"shared", "ptr", offsetof(ptx_block, shared)},
                  {"scratch", "ptr", offsetof(ptx_block, scratch)},
                  {"localbase", "ptr", offsetof(ptx_block, local)},
                  {"grid", "ptr", offsetof(ptx_block, grid)},
                  {"ctaid.x", "i32", offsetof(ptx_block, ctaid)},
                  {"ctaid.y", "i32", offsetof(ptx_block, ctaid) + 4},
                  {"ctaid.z", "i32", offsetof(ptx_block, ctaid) + 8}};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        gphi_text_add(out,
                      "  %%%s.at = getelementptr inbounds i8, ptr %%block, i64 %zu\n"
                      "  %%%s = load %s, ptr %%%s.at\n",
                      fields[i].name, fields[i].offset, fields[i].name, fields[i].type,
                      fields[i].name);
    gphi_text_add(out,
                  "  %%params.at = getelementptr inbounds i8, ptr %%grid, i64 %zu\n"
                  "  %%params = load ptr, ptr %%params.at\n",
                  offsetof(ptx_grid, params));
    for (int i = 0; i < 3; i++)
        gphi_text_add(out,
                      "  %%ntid.%c.at = getelementptr inbounds i8, ptr %%grid, i64 %zu\n"
                      "  %%ntid.%c = load i32, ptr %%ntid.%c.at, !range !3\n",
                      'x' + i, offsetof(ptx_grid, ntid) + 4u * (unsigned)i, 'x' + i,
                      'x' + i);
    gphi_text_add(out,
                  "  %%threads.at = getelementptr inbounds i8, ptr %%grid, i64 %zu\n"
                  "  %%threads = load i32, ptr %%threads.at, !range !3\n",
                  offsetof(ptx_grid, thread_count));
}

/* How many places calls need for registers and constants. */
static uint32_t call_slots(const ptx_function *f)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < f->insn_count; i++) {
        const ptx_insn *insn = &f->insns[i];
        const uint32_t slots = insn->opcode == PTX_OP_CALL
                                   ? (uint32_t)insn->return_count + insn->argument_count
                                   : 0;
        most = slots > most ? slots : most;
    }
    return most;
}

/* A slot for every register, the carry flag, and the function's own .param variables.
 * A slot starts undefined; a predicate or number that no path defines may be anything. */
void ptx_write_slots(ptx_emit *emit)
{
    const ptx_writer *w = emit->shape;
    const ptx_function *f = emit->function;
    for (uint32_t r = 0; r < f->register_count; r++) {
        const ptx_flow_reg *reg = &w->s->regs[r];
        const char *type = ptx_llvm_type((ptx_type)f->registers[r].type);
        gphi_text_add(emit->out, "  %%r.%u = alloca %s\n", r, type);
        if (w->fast && !reg->divergent)
            gphi_text_add(emit->out, "  %%u.%u = alloca %s\n", r, type);
    }
    gphi_text_put(emit->out, "  %cc = alloca i1\n  store i1 false, ptr %cc\n");
    if (!w->fast && ptx_has_matrix(f))
        gphi_text_add(emit->out, "  %%mat.values = alloca [%u x i64]\n",
                      PTX_MATRIX_REGISTERS_MAX + 2);
    const uint32_t calls = call_slots(f);
    for (uint32_t i = 0; i < calls; i++)
        gphi_text_add(emit->out, "  %%call.%u = alloca i128, align 16\n", i);
    const uint32_t own =
        f->is_entry ? f->parameter_count : f->parameter_count + f->return_count;
    for (uint32_t i = own; i < f->variable_count; i++) {
        const ptx_variable *v = &f->variables[i];
        if (v->space == PTX_SPACE_PARAM)
            gphi_text_add(emit->out, "  %%p.%u = alloca [%llu x i8], align %u\n", i,
                          (unsigned long long)(v->bytes ? v->bytes : 1),
                          v->align < 16 ? 16 : v->align);
    }
}

/* ---- special registers ------------------------------------------------------------ */

static ptx_value named(const char *format, uint32_t number)
{
    ptx_value value;
    snprintf(value.name, sizeof(value.name), format, number); /* NOLINT: own formats */
    return value;
}

static ptx_value grid_field(ptx_emit *emit, const char *type, size_t offset)
{
    return ptx_load_field(emit, type, "%grid", offset);
}

static ptx_value grid_axis(ptx_emit *emit, uint32_t axis)
{
    return grid_field(emit, "i32", offsetof(ptx_grid, nctaid) + 4u * axis);
}

/* %lanemask_lt and the like, from the lane's number. */
static ptx_value lane_mask(ptx_emit *emit, ptx_sreg sreg)
{
    const ptx_value lane = ptx_let(emit, "and i32 %s, 31", emit->thread_index.name);
    const ptx_value eq = ptx_let(emit, "shl i32 1, %s", lane.name);
    if (sreg == PTX_SREG_LANEMASK_EQ)
        return eq;
    const ptx_value lt = ptx_let(emit, "sub i32 %s, 1", eq.name);
    if (sreg == PTX_SREG_LANEMASK_LT)
        return lt;
    if (sreg == PTX_SREG_LANEMASK_GE)
        return ptx_let(emit, "xor i32 %s, -1", lt.name);
    const ptx_value le = ptx_let(emit, "or i32 %s, %s", eq.name, lt.name);
    if (sreg == PTX_SREG_LANEMASK_LE)
        return le;
    return ptx_let(emit, "xor i32 %s, -1", le.name);
}

/* Clocks are calls of the run time: nothing may move them or make two into one. */
static ptx_value time_register(ptx_emit *emit, ptx_sreg sreg)
{
    const bool timer = sreg == PTX_SREG_GLOBALTIMER || sreg == PTX_SREG_GLOBALTIMER_LO ||
                       sreg == PTX_SREG_GLOBALTIMER_HI;
    ptx_value value =
        ptx_let(emit, "call i64 @ptx_rt_%s()", timer ? "globaltimer" : "clock");
    if (sreg == PTX_SREG_GLOBALTIMER || sreg == PTX_SREG_CLOCK64)
        return value;
    if (sreg == PTX_SREG_GLOBALTIMER_HI || sreg == PTX_SREG_CLOCK_HI)
        value = ptx_let(emit, "lshr i64 %s, 32", value.name);
    return ptx_let(emit, "trunc i64 %s to i32", value.name);
}

/* By the launch: a block that is alone is a cluster of 1 x 1 x 1. */
static ptx_value cluster_register(ptx_emit *emit, ptx_sreg sreg)
{
    static const char axis[] = "xyz";
    if (sreg == PTX_SREG_CLUSTER_CTARANK)
        return ptx_load_field(emit, "i32", "%block", offsetof(ptx_block, cluster_rank));
    if (sreg == PTX_SREG_CLUSTER_NCTARANK)
        return grid_field(emit, "i32", offsetof(ptx_grid, cluster_size));
    if (sreg == PTX_SREG_IS_EXPLICIT_CLUSTER) {
        const ptx_value is =
            grid_field(emit, "i32", offsetof(ptx_grid, cluster_is_explicit));
        return ptx_let(emit, "icmp ne i32 %s, 0", is.name);
    }
    const uint32_t nth = (uint32_t)(sreg - PTX_SREG_CLUSTER_CTAID_X) % 3;
    const ptx_value size =
        grid_field(emit, "i32", offsetof(ptx_grid, cluster) + 4u * nth);
    const ptx_value own = named("%%ctaid.%c", (uint32_t)axis[nth]);
    if (sreg >= PTX_SREG_NCLUSTERID_X)
        return ptx_let(emit, "udiv i32 %s, %s", grid_axis(emit, nth).name, size.name);
    if (sreg >= PTX_SREG_CLUSTERID_X)
        return ptx_let(emit, "udiv i32 %s, %s", own.name, size.name);
    if (sreg >= PTX_SREG_CLUSTER_NCTAID_X)
        return size;
    return ptx_let(emit, "urem i32 %s, %s", own.name, size.name);
}

/* Offsets in shared memory of what the system keeps there, and how much it is. */
static ptx_value reserved_shared(ptx_emit *emit, ptx_sreg sreg)
{
    const uint32_t into = sreg == PTX_SREG_RESERVED_SMEM_END ? PTX_SHARED_USED : 0;
    if (sreg == PTX_SREG_RESERVED_SMEM_CAP)
        return named("%u", PTX_SHARED_RESERVED);
    const ptx_value all = grid_field(emit, "i32", offsetof(ptx_grid, shared_bytes));
    const ptx_value up = ptx_let(emit, "add i32 %s, %u", all.name, PTX_SHARED_ALIGN - 1);
    const ptx_value at = ptx_let(emit, "and i32 %s, %d", up.name, -(int)PTX_SHARED_ALIGN);
    return ptx_let(emit, "add i32 %s, %u", at.name, into);
}

/* Everything that a block or grid knows is a name from ptx_write_head(). */
ptx_value ptx_special_register(ptx_emit *emit, ptx_sreg sreg)
{
    const ptx_writer *w = emit->shape;
    const char *index = emit->thread_index.name;
    if (sreg >= PTX_SREG_ENVREG0) {
        const ptx_value at = grid_field(emit, "ptr", offsetof(ptx_grid, envreg));
        return ptx_load_field(emit, "i32", at.name,
                              4u * (unsigned)(sreg - PTX_SREG_ENVREG0));
    }
    switch (sreg) {
    case PTX_SREG_TID_X:
    case PTX_SREG_TID_Y:
    case PTX_SREG_TID_Z: return w->tid[sreg - PTX_SREG_TID_X];
    case PTX_SREG_NTID_X:
    case PTX_SREG_NTID_Y:
    case PTX_SREG_NTID_Z: return named("%%ntid.%c", 'x' + sreg - PTX_SREG_NTID_X);
    case PTX_SREG_CTAID_X:
    case PTX_SREG_CTAID_Y:
    case PTX_SREG_CTAID_Z: return named("%%ctaid.%c", 'x' + sreg - PTX_SREG_CTAID_X);
    case PTX_SREG_NCTAID_X:
    case PTX_SREG_NCTAID_Y:
    case PTX_SREG_NCTAID_Z: return grid_axis(emit, sreg - PTX_SREG_NCTAID_X);
    case PTX_SREG_LANEID: return ptx_let(emit, "and i32 %s, 31", index);
    case PTX_SREG_WARPID: return ptx_let(emit, "lshr i32 %s, 5", index);
    case PTX_SREG_NWARPID: return grid_field(emit, "i32", offsetof(ptx_grid, warp_count));
    case PTX_SREG_SMID:
        return ptx_load_field(emit, "i32", "%block", offsetof(ptx_block, smid));
    case PTX_SREG_NSMID:
        return grid_field(emit, "i32", offsetof(ptx_grid, multiprocessors));
    case PTX_SREG_GRIDID: return grid_field(emit, "i64", offsetof(ptx_grid, grid_id));
    case PTX_SREG_LANEMASK_EQ:
    case PTX_SREG_LANEMASK_LE:
    case PTX_SREG_LANEMASK_LT:
    case PTX_SREG_LANEMASK_GE:
    case PTX_SREG_LANEMASK_GT: return lane_mask(emit, sreg);
    case PTX_SREG_CLOCK:
    case PTX_SREG_CLOCK_HI:
    case PTX_SREG_CLOCK64:
    case PTX_SREG_GLOBALTIMER:
    case PTX_SREG_GLOBALTIMER_LO:
    case PTX_SREG_GLOBALTIMER_HI: return time_register(emit, sreg);
    case PTX_SREG_TOTAL_SMEM_SIZE:
    case PTX_SREG_AGGR_SMEM_SIZE:
        return grid_field(emit, "i32", offsetof(ptx_grid, shared_bytes));
    case PTX_SREG_RESERVED_SMEM_BEGIN:
    case PTX_SREG_RESERVED_SMEM_END:
    case PTX_SREG_RESERVED_SMEM_CAP:
    case PTX_SREG_RESERVED_SMEM_0:
    case PTX_SREG_RESERVED_SMEM_1: return reserved_shared(emit, sreg);
    case PTX_SREG_DYNAMIC_SMEM_SIZE:
        return grid_field(emit, "i32", offsetof(ptx_grid, dynamic_bytes));
    case PTX_SREG_CURRENT_GRAPH_EXEC:
        return grid_field(emit, "i64", offsetof(ptx_grid, graph_exec));
    default: return cluster_register(emit, sreg);
    }
}

/* ---- variables -------------------------------------------------------------------- */

/* Dynamic shared memory starts after the static part, whatever kernel it is. */
static ptx_value dynamic_shared(ptx_emit *emit)
{
    const ptx_value all = grid_field(emit, "i32", offsetof(ptx_grid, shared_bytes));
    const ptx_value dynamic = grid_field(emit, "i32", offsetof(ptx_grid, dynamic_bytes));
    const ptx_value at = ptx_let(emit, "sub i32 %s, %s", all.name, dynamic.name);
    return ptx_let(emit, "zext i32 %s to i64", at.name);
}

/* In the state space of the variable: offsets for .shared and .local, else addresses. */
ptx_value ptx_variable_address(ptx_emit *emit, uint32_t index)
{
    ptx_writer *w = emit->shape;
    ptx_shape *s = w->s;
    if (index & PTX_VAR_LOCAL) {
        const uint32_t i = index & ~PTX_VAR_LOCAL;
        const ptx_variable *v = &s->function->variables[i];
        if (v->space == PTX_SPACE_SHARED && v->is_extern && v->bytes == 0)
            return dynamic_shared(emit);
        return named("%u", s->offsets[i]);
    }
    const ptx_variable *v = &s->module->variables[index];
    if (v->space == PTX_SPACE_SHARED) {
        if (v->is_extern && v->bytes == 0)
            return dynamic_shared(emit);
        return named("%u", s->shared_offsets[index]);
    }
    s->program->used_globals[index] = 1;
    return ptx_let(emit, "ptrtoint ptr @\"g.%s\" to i64", v->name);
}

/* ---- calls ---- */

static const ptx_operand *operand_at(const ptx_emit *emit, const ptx_insn *insn,
                                     uint32_t nth)
{
    return &emit->function->operands[insn->operand + nth];
}

#define SLOT_BYTES 24

/* A variable is handed over by its address; a register or constant in the nth slot for
 * calls. The name of the place goes to `slot`. */
static void call_slot(ptx_emit *emit, const ptx_operand *operand, uint32_t nth,
                      bool is_input, char *slot)
{
    if (operand->kind == PTX_OPERAND_VAR) {
        snprintf(slot, SLOT_BYTES, "%%p.%u", operand->index & ~PTX_VAR_LOCAL);
        return;
    }
    /* i128, so that a register of any type fits; reused from call to call. */
    snprintf(slot, SLOT_BYTES, "%%call.%u", nth);
    if (!is_input)
        return;
    if (operand->kind == PTX_OPERAND_REG) {
        const ptx_value value = ptx_load_register(emit, operand->index);
        ptx_line(emit, "store %s %s, ptr %s",
                 ptx_llvm_type((ptx_type)emit->function->registers[operand->index].type),
                 value.name, slot);
    } else {
        const ptx_type type =
            operand->kind == PTX_OPERAND_FLOAT && operand->single ? PTX_B32 : PTX_B64;
        const ptx_value value = ptx_operand_value(emit, operand, type);
        ptx_line(emit, "store %s %s, ptr %s", ptx_llvm_type(type), value.name, slot);
    }
}

/* What the callee left in its return slots becomes the caller's registers. */
static void load_results(ptx_emit *emit, const ptx_insn *insn, char (*slots)[SLOT_BYTES])
{
    for (uint32_t i = 0; i < insn->return_count; i++) {
        const ptx_operand *operand = operand_at(emit, insn, i);
        if (operand->kind != PTX_OPERAND_REG)
            continue;
        const ptx_value value = ptx_let(
            emit, "load %s, ptr %s",
            ptx_llvm_type((ptx_type)emit->function->registers[operand->index].type),
            slots[i]);
        ptx_store_register(emit, operand->index, value);
    }
}

#define CALL_SLOTS_MAX PTX_OPERANDS_MAX

/* Every device function takes (block, thread, index, tid.x, tid.y, tid.z, then a pointer
 * for each parameter and each result) and returns whether the thread has ended. */
void ptx_write_call(ptx_emit *emit, const ptx_insn *insn)
{
    const ptx_writer *w = emit->shape;
    char slots[CALL_SLOTS_MAX][SLOT_BYTES];
    ptx_value callee = {0};
    const uint32_t results = insn->return_count, arguments = insn->argument_count;
    const ptx_operand *target = operand_at(emit, insn, results);
    for (uint32_t i = 0; i < results; i++)
        call_slot(emit, operand_at(emit, insn, i), i, false, slots[i]);
    for (uint32_t i = 0; i < arguments; i++)
        call_slot(emit, operand_at(emit, insn, results + 1 + i), results + i, true,
                  slots[results + i]);
    const bool is_direct = target->kind == PTX_OPERAND_FUNC;
    if (!is_direct) {
        const ptx_value address = ptx_operand_value(emit, target, PTX_B64);
        callee = ptx_let(emit, "inttoptr i64 %s to ptr", address.name);
    }
    const ptx_value ended = ptx_fresh(emit);
    /* Names of functions have any length. */
    gphi_text_add(emit->out,
                  "  %s = call i1 %s%s%s(ptr %%block, ptr %s, i32 %s, i32 %s, i32 %s, "
                  "i32 %s",
                  ended.name, is_direct ? "@\"f." : "",
                  is_direct ? emit->module->functions[target->index].name : callee.name,
                  is_direct ? "\"" : "", w->thread.name, emit->thread_index.name,
                  w->tid[0].name, w->tid[1].name, w->tid[2].name);
    for (uint32_t i = 0; i < arguments; i++)
        gphi_text_add(emit->out, ", ptr %s", slots[results + i]);
    for (uint32_t i = 0; i < results; i++)
        gphi_text_add(emit->out, ", ptr %s", slots[i]);
    gphi_text_add(emit->out, ")%s\n", emit->access);
    load_results(emit, insn, slots);
    /* A thread that ended in the callee ends here, too. On the fast path a function with
     * an exit takes the place of its calls, or the kernel would be on the slow one. */
    if (!w->fast) {
        const uint32_t go_on = ptx_new_label(emit);
        ptx_line(emit, "br i1 %s, label %%ended, label %%L%u", ended.name, go_on);
        gphi_text_add(emit->out, "L%u:\n", go_on);
    }
}

/* ---- one instruction -------------------------------------------------------------- */

/* By role: plain ones are lowering's, the others this folder's. */
static void write_unguarded(ptx_emit *emit, uint32_t i)
{
    const ptx_writer *w = emit->shape;
    const ptx_insn *insn = &emit->function->insns[i];
    switch ((ptx_role)w->s->insns[i].role) {
    case PTX_ROLE_PLAIN:
        if (w->s->insns[i].keeps_lockstep && !w->fast)
            ptx_write_meeting(emit, 2 * i);
        if (w->s->insns[i].is_moment && !w->fast) /* others wait for it, too */
            ptx_line(emit, "call void @ptx_rt_thread_safepoint(ptr %%thread)");
        ptx_lower(emit, insn);
        if (w->s->insns[i].keeps_lockstep && !w->fast)
            ptx_write_meeting(emit, 2 * i + 1);
        break;
    case PTX_ROLE_CALL:
        if (!ptx_lower_intrinsic(emit, insn))
            ptx_write_call(emit, insn);
        break;
    case PTX_ROLE_EXIT: /* in a device function: the thread ends, see cfg.c */
        ptx_line(emit, "store i1 true, ptr %%exited");
        break;
    case PTX_ROLE_BARRIER:
    case PTX_ROLE_WARP: ptx_write_slow_cut(emit, i); break;
    default: break;
    }
}

void ptx_write_insn(ptx_emit *emit, uint32_t i)
{
    const ptx_insn *insn = &emit->function->insns[i];
    const ptx_writer *w = emit->shape;
    const uint8_t role = w->s->insns[i].role;
    /* The guard of a cut is a branch of the graph. */
    if (!insn->guarded || role == PTX_ROLE_BARRIER || role == PTX_ROLE_WARP) {
        write_unguarded(emit, i);
        return;
    }
    const uint32_t label = ptx_new_label(emit);
    const ptx_value guard = ptx_load_register(emit, insn->guard);
    ptx_line(emit, "br i1 %s, label %%%s%u, label %%%s%u", guard.name,
             insn->guard_negate ? "S" : "G", label, insn->guard_negate ? "G" : "S",
             label);
    gphi_text_add(emit->out, "G%u:\n", label);
    write_unguarded(emit, i);
    gphi_text_add(emit->out, "  br label %%S%u\nS%u:\n", label, label);
}

void ptx_write_end(ptx_emit *emit, uint32_t block, ptx_target_fn *target)
{
    const ptx_writer *w = emit->shape;
    const ptx_flow_block *b = &w->s->blocks[block];
    char one[64], two[64];
    target(emit, block, 0, one, sizeof(one));
    if (b->end == SHAPE_JUMP) {
        ptx_line(emit, "br label %%%s", one);
        return;
    }
    const ptx_value value = ptx_load_register(emit, b->reg);
    if (b->end == SHAPE_BRANCH) {
        target(emit, block, 1, two, sizeof(two));
        ptx_line(emit, "br i1 %s, label %%%s, label %%%s", value.name,
                 b->negate ? two : one, b->negate ? one : two);
        return;
    }
    /* PTX leaves an index beyond the list undefined; here it is a fault that names the
     * thread. */
    const uint32_t bad = ptx_new_label(emit);
    const char *type = ptx_llvm_type((ptx_type)emit->function->registers[b->reg].type);
    gphi_text_add(emit->out, "  switch %s %s, label %%B%u [", type, value.name, bad);
    for (uint32_t k = 0; k < b->succ_count; k++) {
        target(emit, block, k, two, sizeof(two));
        gphi_text_add(emit->out, " %s %u, label %%%s", type, k, two);
    }
    gphi_text_add(emit->out, " ]\nB%u:\n", bad);
    ptx_line(emit, "call void @ptx_rt_bad_target(ptr %%block, i32 %s, i64 -1)",
             w->scalar ? "0" : emit->thread_index.name);
    ptx_line(emit, "unreachable");
}
