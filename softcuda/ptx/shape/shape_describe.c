// SPDX-License-Identifier: Apache-2.0
/* What is known of a kernel before and after its plan: ptx_kernel. */
#include <stdio.h>
#include <string.h>

#include "softcuda/ptx/shape/shape.h"

bool ptx_uses_variable(const ptx_function *f, uint32_t variable)
{
    for (uint32_t k = 0; k < f->operand_count; k++) {
        const ptx_operand *o = &f->operands[k];
        const bool names = o->kind == PTX_OPERAND_VAR ||
                           (o->kind == PTX_OPERAND_ADDRESS && o->base == PTX_OPERAND_VAR);
        if (names && o->index == variable)
            return true;
    }
    return false;
}

static void describe_params(ptx_build *p, const ptx_shape *s, ptx_kernel *k)
{
    const ptx_function *f = s->function;
    ptx_param *params = ptx_alloc(&p->memory, f->parameter_count, sizeof(*params));
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        params[i] = (ptx_param){s->offsets[i], (uint32_t)f->variables[i].bytes,
                                f->variables[i].align};
        k->param_bytes = params[i].offset + params[i].bytes;
    }
    k->params = params;
    k->param_count = f->parameter_count;
}

/* uses_printf and the others decide what a launch must provide; const_bytes are the whole
 * module's, whichever of them the kernel names. */
static bool reads_reserved_shared(const ptx_function *f)
{
    for (uint32_t i = 0; i < f->operand_count; i++)
        if (f->operands[i].kind == PTX_OPERAND_SREG &&
            f->operands[i].index >= PTX_SREG_RESERVED_SMEM_BEGIN &&
            f->operands[i].index <= PTX_SREG_RESERVED_SMEM_1)
            return true;
    return false;
}

/* Its own or those of any function it might call. */
static bool uses_reserved_shared(const ptx_module *m, const ptx_function *kernel)
{
    for (uint32_t n = 0; n < m->function_count; n++)
        if (!m->functions[n].is_entry && reads_reserved_shared(&m->functions[n]))
            return true;
    return reads_reserved_shared(kernel);
}

static bool is_volatile_shared_load(const ptx_shape *s, const ptx_insn *insn)
{
    ptx_insn store = *insn;
    if (insn->opcode != PTX_OP_LD)
        return false;
    store.opcode = PTX_OP_ST; /* the same question of the same memory */
    return ptx_insn_keeps_lockstep(s->module, s->function, &store);
}

/* Of a load the second operand, of a store the first. */
static bool same_place(const ptx_function *f, const ptx_insn *store, const ptx_insn *load)
{
    const ptx_operand *a = &f->operands[store->operand],
                      *b = &f->operands[load->operand + 1];
    return a->base == b->base && a->index == b->index && a->imm == b->imm;
}

/* As old reductions end: the last 32 sums without a barrier. A thread that reads back what it
 * has stored itself is none of it. By lines, as nvcc unrolls them; what a branch skips counts. */
static void find_lockstep_use(const ptx_shape *s, ptx_kernel *k)
{
    const ptx_function *f = s->function;
    const ptx_insn *store = NULL;
    for (uint32_t i = 0; i < f->insn_count && k->lockstep_store == 0; i++) {
        const ptx_insn *insn = &f->insns[i];
        if (s->insns[i].role == PTX_ROLE_BARRIER || s->insns[i].role == PTX_ROLE_WARP) {
            store = NULL;
        } else if (s->insns[i].keeps_lockstep) {
            store = insn;
        } else if (store && is_volatile_shared_load(s, insn) &&
                   !same_place(f, store, insn)) {
            k->lockstep_store = store->line;
            k->lockstep_load = insn->line;
        }
    }
}

static void describe_uses(const ptx_build *p, const ptx_shape *s, ptx_kernel *k)
{
    const ptx_function *f = s->function;
    k->uses_reserved_shared = uses_reserved_shared(p->module, f);
    find_lockstep_use(s, k);
    for (uint32_t i = 0; i < f->insn_count; i++) {
        const ptx_insn *insn = &f->insns[i];
        k->uses_barrier |= s->insns[i].role == PTX_ROLE_BARRIER;
        k->uses_atomics |= insn->opcode == PTX_OP_ATOM || insn->opcode == PTX_OP_RED;
        const ptx_operand *callee = ptx_callee(f, insn);
        if (!callee || callee->kind != PTX_OPERAND_FUNC)
            continue;
        const char *name = p->module->functions[callee->index].name;
        k->uses_printf |= strcmp(name, "vprintf") == 0;
        k->uses_malloc |= strcmp(name, "malloc") == 0;
    }
    for (uint32_t v = 0; v < p->module->variable_count; v++) {
        const ptx_variable *var = &p->module->variables[v];
        if (var->space == PTX_SPACE_CONST)
            k->const_bytes += (uint32_t)var->bytes;
        if (var->space == PTX_SPACE_SHARED && var->is_extern && var->bytes == 0)
            k->uses_dynamic_shared |= ptx_uses_variable(f, v);
    }
}

/* As .maxntid and .reqntid say; a kernel without them takes as many threads as a device
 * does. */
static void describe_limits(const ptx_function *f, ptx_kernel *k)
{
    uint64_t most = 1024;
    const uint32_t *limits =
        f->required_threads[0] ? f->required_threads : f->max_threads;
    if (limits[0] != 0) {
        most = limits[0];
        most *= limits[1] ? limits[1] : 1;
        most *= limits[2] ? limits[2] : 1;
    }
    k->max_threads = most > 1024 ? 1024 : (uint32_t)most;
    for (int i = 0; i < 3; i++) {
        k->required_threads[i] = f->required_threads[i];
        if (f->required_threads[0] && k->required_threads[i] == 0)
            k->required_threads[i] = 1;
        k->required_cluster[i] = f->required_cluster[i];
        if (f->required_cluster[0] && k->required_cluster[i] == 0)
            k->required_cluster[i] = 1;
    }
    k->max_cluster = f->max_cluster;
    k->explicit_cluster = f->explicit_cluster;
}

/* For the report: what cut the kernel, and on which line. */
static void describe_cuts(ptx_build *p, const ptx_shape *s, ptx_kernel *k)
{
    ptx_cut *cuts = ptx_alloc(&p->memory, s->order_count + s->loop_count, sizeof(*cuts));
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        const uint32_t line = s->function->insns[b->first].line;
        if (b->kind != SHAPE_CODE) {
            char text[64];
            ptx_insn_text(s->module, &s->function->insns[b->first], text, sizeof(text));
            text[strcspn(text, " \t")] = 0;
            cuts[k->cut_count++] = (ptx_cut){line, ptx_format(&p->memory, "%s", text)};
        } else if (s->clocks && b->count > 0 && s->insns[b->first].is_moment) {
            cuts[k->cut_count++] = (ptx_cut){line, "clock of all threads"};
        }
        if (b->loop == SHAPE_NONE || s->loops[b->loop].head != s->order[n])
            continue;
        const ptx_flow_loop *loop = &s->loops[b->loop];
        if (k->path == PTX_PATH_FAST && (loop->uniform || loop->lockstep))
            cuts[k->cut_count++] =
                (ptx_cut){line, loop->uniform ? "uniform loop" : "lockstep loop"};
    }
    k->cuts = cuts;
}

static void describe_costs(ptx_build *p, ptx_shape *s, ptx_kernel *k)
{
    ptx_cut *costs =
        ptx_alloc(&p->memory, ptx_costs_max(s) + s->region_count + 1ull, sizeof(*costs));
    k->cost_count = ptx_find_costs(&p->memory, s, costs);
    for (uint32_t n = 0; n < s->region_count; n++)
        k->cost_count += ptx_describe_region(s, n, &costs[k->cost_count]);
    if (s->no_twin)
        costs[k->cost_count++] = (ptx_cut){s->no_twin_line, s->no_twin};
    k->costs = costs;
}

/* Of a form for warps as well, in the order of lines. */
static void describe_rows(ptx_build *p, const ptx_shape *s, ptx_kernel *k)
{
    const ptx_shape *forms[] = {s, s->twin};
    uint32_t *lines = ptx_alloc(
        &p->memory, s->row_line_count + (s->twin ? s->twin->row_line_count : 0) + 1u,
        sizeof(*lines));
    for (uint32_t n = 0; n < 2 && forms[n]; n++)
        for (uint32_t i = 0; i < forms[n]->row_line_count; i++) {
            const uint32_t line = forms[n]->row_lines[i];
            uint32_t at = k->row_count;
            while (at > 0 && lines[at - 1] > line)
                at--;
            if (at > 0 && lines[at - 1] == line)
                continue;
            memmove(&lines[at + 1], &lines[at], (k->row_count - at) * sizeof(*lines));
            lines[at] = line;
            k->row_count++;
        }
    k->rows = lines;
}

static void describe_rerolled(ptx_build *p, const ptx_shape *s, ptx_kernel *k)
{
    uint32_t *lines = ptx_alloc(&p->memory, s->rerolled_count + 1u, sizeof(*lines));
    for (uint32_t i = 0; i < s->rerolled_count; i++)
        lines[i] = s->rerolled_lines[i];
    k->rerolled = lines;
    k->rerolled_count = s->rerolled_count;
}

void ptx_describe_kernel(ptx_build *p, const ptx_shape *s, ptx_kernel *k)
{
    describe_params(p, s, k);
    describe_limits(s->function, k);
    describe_uses(p, s, k);
}

void ptx_describe_plan(ptx_build *p, ptx_shape *s, ptx_kernel *k)
{
    describe_cuts(p, s, k);
    k->by_warps = s->twin ? s->twin->lanes : 0;
    describe_rows(p, s, k);
    describe_rerolled(p, s, k);
    if (p->options->costs && k->path == PTX_PATH_FAST)
        describe_costs(p, s->twin ? s->twin : s, k);
}
