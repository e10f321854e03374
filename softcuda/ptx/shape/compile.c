// SPDX-License-Identifier: Apache-2.0
/* From a parsed module to IR: which functions are needed, where variables lie, which path
 * each kernel takes, and the description of every kernel. */
#include "softcuda/ptx/compile.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/heap.h"
#include "softcuda/ptx/abi.h"
#include "softcuda/ptx/shape/fast.h"

#define PROGRAM_BYTES_MAX ((size_t)2 << 30)
#define SHAPE_BYTES_MAX ((size_t)1 << 30)

static uint64_t align_up(uint64_t value, uint64_t align)
{
    return align <= 1 ? value : (value + align - 1) / align * align;
}

/* ---- where variables lie ---------------------------------------------------------- */

static bool uses_variable(const ptx_function *f, uint32_t variable)
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

static bool is_static_shared(const ptx_variable *v)
{
    return v->space == PTX_SPACE_SHARED && !(v->is_extern && v->bytes == 0);
}

/* .shared variables that device functions use lie at the same place in every kernel that
 * calls functions; those that only kernels use lie after them, kernel by kernel. Also a
 * device function's own .shared variables: one place for all its calls.
 *
 *   0                                      function_shared_bytes      static_shared_bytes
 *   | module's, named by functions | functions' own | module's, others | the kernel's |
 *
 * A device function is written once for all kernels, so its offsets are constants; a
 * kernel that calls none begins at 0. */
static uint32_t place_functions_shared(ptx_build *p)
{
    const ptx_module *m = p->module;
    uint64_t at = 0;
    p->shared_offsets =
        ptx_alloc(&p->memory, m->variable_count, sizeof(*p->shared_offsets));
    for (uint32_t v = 0; v < m->variable_count; v++) {
        bool used = false;
        p->shared_offsets[v] = SHAPE_NONE;
        if (!is_static_shared(&m->variables[v]))
            continue;
        for (uint32_t n = 0; n < m->function_count && !used; n++)
            used = ptx_has_body(m, n) && uses_variable(&m->functions[n], v);
        if (!used)
            continue;
        at = align_up(at, m->variables[v].align);
        p->shared_offsets[v] = (uint32_t)at;
        at += m->variables[v].bytes;
    }
    p->function_shared = ptx_alloc(&p->memory, m->function_count, sizeof(uint32_t));
    for (uint32_t n = 0; n < m->function_count; n++) {
        const ptx_function *f = &m->functions[n];
        if (!ptx_has_body(m, n))
            continue;
        p->function_shared[n] = (uint32_t)at;
        for (uint32_t v = 0; v < f->variable_count; v++)
            if (is_static_shared(&f->variables[v]))
                at = align_up(at, f->variables[v].align) + f->variables[v].bytes;
    }
    return (uint32_t)at;
}

static bool calls_functions(const ptx_module *m, const ptx_function *f)
{
    for (uint32_t i = 0; i < f->insn_count; i++) {
        const ptx_operand *callee = ptx_callee(f, &f->insns[i]);
        if (callee &&
            (callee->kind != PTX_OPERAND_FUNC || ptx_has_body(m, callee->index)))
            return true;
    }
    return false;
}

/* Places the variables of one function; returns the bytes of shared memory so far. */
static uint64_t place_own(ptx_shape *s, uint64_t shared)
{
    const ptx_function *f = s->function;
    uint32_t *offsets = ptx_alloc(s->memory, f->variable_count, sizeof(*offsets));
    uint64_t params = 0, local = 0;
    for (uint32_t i = 0; i < f->variable_count; i++) {
        const ptx_variable *v = &f->variables[i];
        uint64_t *at = NULL;
        if (v->space == PTX_SPACE_LOCAL)
            at = &local;
        else if (is_static_shared(v))
            at = &shared;
        else if (v->space == PTX_SPACE_PARAM && f->is_entry && i < f->parameter_count)
            at = &params;
        if (!at)
            continue;
        *at = align_up(*at, v->align);
        offsets[i] = (uint32_t)*at;
        *at += v->bytes;
    }
    s->offsets = offsets;
    /* The memory of one thread follows that of another: each begins aligned. */
    s->local_bytes = (uint32_t)align_up(local, 16);
    return shared;
}

/* A kernel's: function variables, the module's that the kernel names, then its own. */
static uint32_t place_kernel(ptx_shape *s)
{
    ptx_build *p = s->program;
    const ptx_module *m = s->module;
    const bool calls = calls_functions(m, s->function);
    uint64_t at = calls ? p->function_shared_bytes : 0;
    uint32_t *offsets = ptx_alloc(s->memory, m->variable_count, sizeof(*offsets));
    for (uint32_t v = 0; v < m->variable_count; v++) {
        offsets[v] = p->shared_offsets[v];
        if (!is_static_shared(&m->variables[v]) || !uses_variable(s->function, v))
            continue;
        if (calls && offsets[v] != SHAPE_NONE)
            continue; /* already placed with the functions' */
        at = align_up(at, m->variables[v].align);
        offsets[v] = (uint32_t)at;
        at += m->variables[v].bytes;
    }
    s->shared_offsets = offsets;
    return (uint32_t)align_up(place_own(s, at), 16);
}

/* ---- describing a kernel ---------------------------------------------------------- */

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
            k->uses_dynamic_shared |= uses_variable(f, v);
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

static void describe_costs(ptx_build *p, const ptx_shape *s, ptx_kernel *k)
{
    ptx_cut *costs = ptx_alloc(&p->memory, ptx_costs_max(s), sizeof(*costs));
    k->cost_count = ptx_find_costs(&p->memory, s, costs);
    k->costs = costs;
}

/* ---- one kernel ------------------------------------------------------------------- */

static void want_callees(ptx_build *p, const ptx_function *f)
{
    for (uint32_t i = 0; i < f->insn_count; i++) {
        const ptx_operand *callee = ptx_callee(f, &f->insns[i]);
        if (callee && callee->kind == PTX_OPERAND_FUNC &&
            ptx_has_body(p->module, callee->index))
            p->used_functions[callee->index] |= FUNCTION_WANTED;
    }
}

typedef bool fact_fn(const ptx_build *p, uint32_t function);

static bool is_refused(const ptx_build *p, uint32_t function)
{
    return p->refusals[function];
}

static bool has_cuts(const ptx_build *p, uint32_t function)
{
    return p->has_cuts[function];
}

static bool waits(const ptx_build *p, uint32_t function)
{
    return p->waits[function];
}

/* The first function that `f` may call of which the fact holds, or SHAPE_NONE; a call by
 * address may reach any whose address is taken. *call: the instruction. */
static uint32_t find_below(const ptx_build *p, const ptx_function *f, fact_fn *fact,
                           const ptx_insn **call)
{
    for (*call = f->insns; *call < f->insns + f->insn_count; ++*call) {
        const ptx_operand *callee = ptx_callee(f, *call);
        if (!callee)
            continue;
        const bool is_named = callee->kind == PTX_OPERAND_FUNC;
        const uint32_t end = is_named ? callee->index + 1 : p->module->function_count;
        for (uint32_t n = is_named ? callee->index : 0; n < end; n++)
            if ((is_named || (p->used_functions[n] & FUNCTION_OPEN)) && fact(p, n))
                return n;
    }
    return SHAPE_NONE;
}

/* Refusals of functions that a kernel calls, directly or not, are the kernel's own. */
static const char *refusal_below(ptx_build *p, const ptx_function *f)
{
    const ptx_insn *call;
    const uint32_t n = find_below(p, f, is_refused, &call);
    return n != SHAPE_NONE ? p->refusals[n] : NULL;
}

/* The first thing that has no form on the fast path, with its line. */
static const char *slow_reason(ptx_build *p, const ptx_shape *s)
{
    const ptx_function *f = s->function;
    const ptx_insn *call;
    if (s->options->force_slow)
        return "asked for";
    const uint32_t n = find_below(p, f, has_cuts, &call);
    if (n == SHAPE_NONE)
        return NULL;
    return ptx_format(s->memory,
                      ptx_callee(f, call)->kind == PTX_OPERAND_FUNC
                          ? "line %u: call of %s, which has a barrier or warp operation"
                          : "line %u: indirect call, and %s has a barrier or warp "
                            "operation",
                      call->line, p->module->functions[n].name);
}

/* Whether a function that `f` calls may wait. */
static bool waits_below(const ptx_build *p, const ptx_function *f)
{
    const ptx_insn *call;
    return find_below(p, f, waits, &call) != SHAPE_NONE;
}

/* The fast path's plan has a few bits for each register and block, and block and loop;
 * the slow path needs none of them. */
static bool has_room(const ptx_shape *s)
{
    const uint64_t maps = 8 * (uint64_t)s->block_count * s->reg_words +
                          (uint64_t)s->loop_count * s->block_words;
    return maps * sizeof(uint32_t) <= SHAPE_BYTES_MAX / 2;
}

static void write_kernel(ptx_build *p, ptx_shape *s, ptx_kernel *k)
{
    s->slow_reason = slow_reason(p, s);
    if (!s->slow_reason && !has_room(s))
        s->slow_reason =
            ptx_format(s->memory,
                       "line %u: too large to be cut (%u blocks, "
                       "%u registers)",
                       s->function->line, s->block_count, s->function->register_count);
    if (!s->slow_reason)
        ptx_plan_fast(s);
    if (!s->slow_reason) {
        k->path = PTX_PATH_FAST;
        ptx_write_forms(s);
        k->one_row = s->alone;
        if (k->one_row)
            ptx_write_slow(s);
        /* A warp is read as a whole: arrays are rounded up to full warps. */
        k->scratch_thread_bytes = s->array_bytes;
        k->scratch_fixed_bytes =
            s->array_bytes ? (PTX_WARP_SIZE - 1) * s->array_bytes + 64 : 0;
        k->live_across_cuts = s->array_count;
    } else {
        k->path = PTX_PATH_SLOW;
        k->reason = ptx_format(&p->memory, "%s", s->slow_reason);
        ptx_write_slow(s);
    }
    k->uses_safepoints = ptx_may_wait(s) || waits_below(p, s->function);
    want_callees(p, s->function);
}

typedef struct kernel_job {
    uint32_t function;
    ptx_kernel *kernel;
} kernel_job;

static bool compile_kernel(ptx_build *p, ptx_flow_memory *memory, void *job)
{
    const kernel_job *kernel = job;
    ptx_kernel *k = kernel->kernel;
    ptx_shape *s = ptx_alloc(memory, 1, sizeof(*s));
    *s = (ptx_shape){.memory = memory,
                     .module = p->module,
                     .options = p->options,
                     .function = &p->module->functions[kernel->function],
                     .program = p};
    if (!p->options->force_slow)
        s->function = ptx_inline_calls(p, memory, s->function);
    *k = (ptx_kernel){.name = s->function->name,
                      .line = s->function->line,
                      .launches_graphs = p->launches[kernel->function]};
    k->static_shared_bytes = place_kernel(s);
    k->local_bytes = s->local_bytes;
    describe_params(p, s, k);
    describe_limits(s->function, k);
    ptx_analyze(s);
    describe_uses(p, s, k);
    const char *refusal = s->refusal ? s->refusal : refusal_below(p, s->function);
    if (refusal) {
        k->path = PTX_PATH_UNSUPPORTED;
        k->reason = ptx_format(&p->memory, "%s", refusal);
        return false;
    }
    write_kernel(p, s, k);
    k->registers = ptx_estimate_registers(s, k->max_threads, has_room(s));
    describe_cuts(p, s, k);
    k->by_warps = s->twin != NULL;
    if (p->options->costs && k->path == PTX_PATH_FAST)
        describe_costs(p, s->twin ? s->twin : s, k);
    return false;
}

/* ---- device functions ------------------------------------------------------------- */

static ptx_shape *begin_function(ptx_build *p, ptx_flow_memory *memory, uint32_t function)
{
    ptx_shape *s = ptx_alloc(memory, 1, sizeof(*s));
    *s = (ptx_shape){.memory = memory,
                     .module = p->module,
                     .options = p->options,
                     .function = &p->module->functions[function],
                     .program = p,
                     .shared_offsets = p->shared_offsets};
    place_own(s, p->function_shared[function]);
    ptx_analyze(s);
    return s;
}

/* Of each device function: whether it can be written and may wait, it or one it calls. */
static bool find_facts(ptx_build *p, ptx_flow_memory *memory, void *job)
{
    (void)job;
    const ptx_module *m = p->module;
    for (uint32_t n = 0; n < m->function_count; n++) {
        if (!ptx_has_body(m, n))
            continue;
        const ptx_shape *s = begin_function(p, memory, n);
        if (s->refusal)
            p->refusals[n] = ptx_format(&p->memory, "%s", s->refusal);
        else
            p->waits[n] = ptx_may_wait(s);
    }
    /* Facts go from a function to those that call it. In this order one round does, and
     * one that finds nothing new; only recursion takes more. */
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < m->function_count; i++) {
            const uint32_t n = p->order[i];
            if (!ptx_has_body(m, n) || p->refusals[n])
                continue;
            p->refusals[n] = refusal_below(p, &m->functions[n]);
            const bool now = !p->waits[n] && waits_below(p, &m->functions[n]);
            p->waits[n] |= now;
            changed |= p->refusals[n] || now;
        }
    }
    return false;
}

/* A function that cannot be written faults when it is called: only an indirect call or a
 * stored address can lead there. */
static void write_refused(ptx_build *p, uint32_t n)
{
    const ptx_function *f = &p->module->functions[n];
    gphi_text_add(&p->text,
                  "define i1 @\"f.%s\"(ptr %%block, ptr %%thread, i32 %%index, "
                  "i32, i32, i32",
                  f->name);
    for (uint32_t i = 0; i < f->parameter_count + f->return_count; i++)
        gphi_text_add(&p->text, ", ptr %%p.%u", i);
    gphi_text_add(&p->text,
                  ") {\n  call void @ptx_rt_unsupported(ptr %%block, i32 %%index, i32 "
                  "%u)\n  ret i1 true\n}\n\n",
                  f->line);
}

/* A function that is written may call others that nobody wanted before: the caller runs
 * this until nothing was written. */
static bool write_functions(ptx_build *p, ptx_flow_memory *memory, void *job)
{
    (void)job;
    bool wrote = false;
    for (uint32_t n = 0; n < p->module->function_count; n++) {
        const uint8_t state = p->used_functions[n];
        if (!(state & FUNCTION_WANTED) || (state & FUNCTION_WRITTEN))
            continue;
        p->used_functions[n] |= FUNCTION_WRITTEN;
        wrote = true;
        if (p->refusals[n]) {
            write_refused(p, n);
            continue;
        }
        ptx_write_device(begin_function(p, memory, n));
        want_callees(p, &p->module->functions[n]);
    }
    return wrote;
}

/* ---- the module ---- */

static void write_runtime(gphi_text *out)
{
#define X(name, result, parameters)                                                      \
    gphi_text_add(out, "declare %s @" #name "(%s) nounwind\n", result, parameters);
    PTX_RUNTIME_CALLS(X)
#undef X
    gphi_text_add(out,
                  "\n; counts a round of a loop; the run time sets the budget anew\n"
                  "define internal void @soft.safepoint(ptr %%block, ptr %%thread, "
                  "i32 %%weight) alwaysinline nounwind {\n"
                  "  %%at = getelementptr inbounds i8, ptr %%block, i64 %zu\n"
                  "  %%budget = load i32, ptr %%at\n"
                  "  %%less = sub i32 %%budget, %%weight\n"
                  "  store i32 %%less, ptr %%at\n"
                  "  %%over = icmp sle i32 %%less, 0\n"
                  "  br i1 %%over, label %%call, label %%done, !prof !4\n"
                  "call:\n"
                  "  %%fast = icmp eq ptr %%thread, null\n"
                  "  br i1 %%fast, label %%block.call, label %%thread.call\n"
                  "block.call:\n  call void @ptx_rt_safepoint(ptr %%block)\n"
                  "  br label %%done\n"
                  "thread.call:\n  call void @ptx_rt_thread_safepoint(ptr %%thread)\n"
                  "  br label %%done\n"
                  "done:\n  ret void\n}\n\n",
                  offsetof(ptx_block, safepoint_budget));
    ptx_fast_write_helpers(out);
}

static void describe_globals(ptx_build *p, ptx_program *program)
{
    const ptx_module *m = p->module;
    ptx_global *globals = ptx_alloc(&p->memory, m->variable_count, sizeof(*globals));
    for (uint32_t v = 0; v < m->variable_count; v++)
        if (m->variables[v].space == PTX_SPACE_GLOBAL ||
            m->variables[v].space == PTX_SPACE_CONST)
            globals[program->global_count++] = (ptx_global){m->variables[v].name, v};
    program->globals = globals;
}

/* `job`: a kernel's, or NULL. True: it asks to be run again. */
typedef bool step_fn(ptx_build *p, ptx_flow_memory *memory, void *job);

/* The analyses of a step live in an arena of their own, given back after it. Where memory
 * ends ptx_alloc() jumps here, so that no analysis asks each time; what is between owns
 * nothing but what lies in the arena. False: out of memory. */
static bool run_step(ptx_build *p, step_fn *step, void *job, bool *more)
{
    ptx_flow_memory memory;
    memory.arena = ptx_arena_create(p->options->allocator, SHAPE_BYTES_MAX);
    if (!memory.arena)
        return false;
    if (setjmp(memory.exit) != 0) {
        ptx_arena_destroy(memory.arena);
        return false;
    }
    *more = step(p, &memory, job);
    ptx_arena_destroy(memory.arena);
    return true;
}

static void prepare(ptx_build *p)
{
    const ptx_module *m = p->module;
    ptx_find_calls(p);
    p->waits = ptx_alloc(&p->memory, m->function_count, 1);
    p->refusals = ptx_alloc(&p->memory, m->function_count, sizeof(*p->refusals));
    p->used_globals = ptx_alloc(&p->memory, m->variable_count, 1);
    p->function_shared_bytes = place_functions_shared(p);
    write_runtime(&p->text);
}

static uint32_t count_kernels(const ptx_module *m)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < m->function_count; n++)
        count += m->functions[n].is_entry && !m->functions[n].is_extern;
    return count;
}

/* False: out of memory. Facts come first, since kernels ask for those of what they call;
 * device functions after the kernels, which say which of them are wanted; last what only
 * the text so far knows: which globals and library functions are used. */
static bool compile_module(ptx_build *p, ptx_program *program)
{
    const ptx_module *m = p->module;
    bool more = false;
    if (setjmp(p->memory.exit) != 0)
        return false;
    prepare(p);
    ptx_kernel *kernels = ptx_alloc(&p->memory, count_kernels(m), sizeof(*kernels));
    program->kernels = kernels;
    if (!run_step(p, find_facts, NULL, &more))
        return false;
    for (uint32_t n = 0; n < m->function_count; n++) {
        if (!m->functions[n].is_entry || m->functions[n].is_extern)
            continue;
        kernel_job job = {n, &kernels[program->kernel_count++]};
        if (!run_step(p, compile_kernel, &job, &more))
            return false;
    }
    do {
        if (!run_step(p, write_functions, NULL, &more))
            return false;
    } while (more);
    ptx_write_tail(p);
    describe_globals(p, program);
    if (p->text.status != GPH_OK)
        return false;
    program->ir = ptx_arena_text(p->memory.arena, p->text.bytes, p->text.length);
    program->ir_bytes = p->text.length;
    return program->ir;
}

gph_status ptx_compile(const ptx_module *module, const ptx_compile_options *options,
                       ptx_program **out, gph_error *error)
{
    const ptx_compile_options defaults = {0};
    const ptx_compile_options *opt = options ? options : &defaults;
    const gph_allocator heap = gphi_heap(opt->allocator);
    ptx_arena *arena = ptx_arena_create(opt->allocator, PROGRAM_BYTES_MAX);
    if (!arena)
        goto out_of_memory;

    ptx_build *p = ptx_arena_alloc(arena, 1, sizeof(*p));
    ptx_program *program = ptx_arena_alloc(arena, 1, sizeof(*program));
    if (!p || !program)
        goto destroy_arena;

    program->arena = arena;
    p->memory.arena = arena;
    p->module = module;
    p->options = opt;
    /* Texts grow on the heap, since an arena would keep every size they had; the finished
     * one is copied to the arena once. */
    p->text.heap = p->part.heap = p->parts.heap = heap;
    const bool done = compile_module(p, program);
    gphi_text_fini(&p->text);
    gphi_text_fini(&p->part);
    gphi_text_fini(&p->parts);
    if (!done)
        goto destroy_arena;

    *out = program;
    return GPH_OK;

destroy_arena:
    ptx_arena_destroy(arena);
out_of_memory:
    return gphi_fail(error, GPH_E_NO_MEMORY, "compiling %zu bytes of PTX",
                     module->text_bytes);
}

void ptx_program_destroy(ptx_program *program)
{
    if (program)
        ptx_arena_destroy(program->arena);
}
