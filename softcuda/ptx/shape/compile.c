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

/* At least: vectors are stored there. */
enum { LOCAL_ALIGN = 16 };

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
            used = ptx_has_body(m, n) && ptx_uses_variable(&m->functions[n], v);
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
    s->local_align = LOCAL_ALIGN;
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
        if (at == &local && v->align > s->local_align)
            s->local_align = v->align;
        *at = align_up(*at, v->align);
        offsets[i] = (uint32_t)*at;
        *at += v->bytes;
    }
    s->offsets = offsets;
    /* The memory of one thread follows that of another: each begins aligned. */
    s->local_bytes = (uint32_t)align_up(local, s->local_align);
    return shared;
}

/* What the kernel's own variables need, and all that may be shared. */
static uint32_t memory_align(const ptx_shape *s)
{
    const ptx_module *m = s->module;
    uint32_t most = s->local_align;
    for (uint32_t v = 0; v < m->variable_count; v++)
        if (m->variables[v].space == PTX_SPACE_SHARED && m->variables[v].align > most)
            most = m->variables[v].align;
    for (uint32_t n = 0; n < m->function_count; n++)
        for (uint32_t v = 0; v < m->functions[n].variable_count; v++) {
            const ptx_variable *own = &m->functions[n].variables[v];
            if (own->space == PTX_SPACE_SHARED && own->align > most)
                most = own->align;
        }
    return most;
}

/* Dynamic shared memory follows the static part, aligned for any type. */
static bool may_use_dynamic(const ptx_module *m, const ptx_function *f)
{
    for (uint32_t v = 0; v < m->variable_count; v++)
        if (m->variables[v].space == PTX_SPACE_SHARED &&
            !is_static_shared(&m->variables[v]) && ptx_uses_variable(f, v))
            return true;
    return false;
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
        if (!is_static_shared(&m->variables[v]) || !ptx_uses_variable(s->function, v))
            continue;
        if (calls && offsets[v] != SHAPE_NONE)
            continue; /* already placed with the functions' */
        at = align_up(at, m->variables[v].align);
        offsets[v] = (uint32_t)at;
        at += m->variables[v].bytes;
    }
    s->shared_offsets = offsets;
    const bool grows = calls || may_use_dynamic(m, s->function);
    return (uint32_t)align_up(place_own(s, at), grows ? 16 : 1);
}

/* ---- one kernel ------------------------------------------------------------------- */

/* What it calls, and what it takes the address of. */
static void want_callees(ptx_build *p, const ptx_function *f)
{
    for (uint32_t k = 0; k < f->operand_count; k++) {
        const uint32_t n = f->operands[k].index;
        if (f->operands[k].kind != PTX_OPERAND_FUNC)
            continue;
        if (ptx_has_body(p->module, n))
            p->used_functions[n] |= FUNCTION_WANTED;
        else if (p->module->functions[n].is_entry)
            p->used_functions[n] |= FUNCTION_NAMED;
    }
}

static bool writes(const ptx_build *p)
{
    return p->options->part != PTX_PART_NONE;
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
        ptx_plan_forms(s);
        k->one_row = s->one_row;
        k->long_rows = s->long_rows;
        if (writes(p))
            ptx_write_forms(s);
        if (writes(p) && k->one_row)
            ptx_write_slow(s);
        /* A warp is read as a whole: arrays are rounded up to full warps. */
        k->scratch_thread_bytes = s->array_bytes;
        if (s->twin && s->twin->kept_bytes / PTX_WARP_SIZE > s->array_bytes)
            k->scratch_thread_bytes = s->twin->kept_bytes / PTX_WARP_SIZE;
        k->scratch_fixed_bytes = k->scratch_thread_bytes
                                     ? (PTX_WARP_SIZE - 1) * k->scratch_thread_bytes + 64
                                     : 0;
        k->live_across_cuts = s->array_count;
    } else {
        k->path = PTX_PATH_SLOW;
        k->reason = ptx_format(&p->memory, "%s", s->slow_reason);
        if (ptx_has_clock_waits(s))
            ptx_join_clocks(s); /* threads give way where they read one */
        if (writes(p))
            ptx_write_slow(s);
    }
    k->uses_safepoints =
        ptx_may_wait(s) || ptx_has_clock_waits(s) || waits_below(p, s->function);
    want_callees(p, s->function);
}

/* The same kernel, or `f` in its place, not planned yet. */
static ptx_shape *again(const ptx_shape *s, const ptx_function *f, bool joins)
{
    ptx_shape *n = ptx_alloc(s->memory, 1, sizeof(*n));
    *n = (ptx_shape){.memory = s->memory,
                     .module = s->module,
                     .options = s->options,
                     .function = f,
                     .program = s->program,
                     .offsets = s->offsets,
                     .shared_offsets = s->shared_offsets,
                     .local_bytes = s->local_bytes,
                     .rerolled_lines = s->rerolled_lines,
                     .rerolled_count = s->rerolled_count,
                     .clocks = s->clocks,
                     .joins = joins};
    ptx_analyze(n);
    return n;
}

static ptx_shape *with_function(ptx_shape *s, const ptx_function *f)
{
    return f == s->function ? s : again(s, f, false);
}

/* The kernel as the fast path plans it. */
static ptx_shape *written_anew(ptx_shape *s)
{
    if (s->options->force_slow)
        return s;
    ptx_shape *n = with_function(s, ptx_split_registers(s));
    return with_function(n, ptx_reroll(n));
}

/* The same with clocks read by all threads at one moment, where it waits for them, and the fast
 * path has it so. */
static ptx_shape *join_clocks(ptx_build *p, ptx_shape *s)
{
    if (!ptx_has_clock_waits(s) || ptx_is_large(s) || slow_reason(p, s) || !has_room(s))
        return s;
    s->clocks = 1;
    ptx_shape *trial = again(s, s->function, false);
    ptx_plan_fast(trial);
    s->clocks = !trial->slow_reason;
    return s->clocks ? again(s, s->function, false) : s;
}

/* The same with sums in memory as operations of a warp, where that gains: a plan says so. */
static ptx_shape *join_sums(ptx_build *p, ptx_shape *s)
{
    if (s->options->check_memory || !ptx_has_sums(s) || ptx_is_large(s) ||
        slow_reason(p, s) || !has_room(s))
        return s;
    ptx_shape *trial = again(s, s->function, true);
    ptx_plan_fast(trial);
    const bool gains = !trial->slow_reason && ptx_gains_by_joining(trial);
    return gains ? again(s, s->function, true) : s;
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
                      .launches_graphs = p->launches[kernel->function] & LAUNCHES_GRAPHS,
                      .launches_kernels =
                          (p->launches[kernel->function] & LAUNCHES_KERNELS) != 0,
                      .names_functions = p->names_open[kernel->function]};
    k->static_shared_bytes = place_kernel(s);
    k->local_bytes = s->local_bytes;
    k->memory_align = memory_align(s);
    ptx_analyze(s);
    ptx_describe_kernel(p, s, k);
    const char *refusal = s->refusal ? s->refusal : refusal_below(p, s->function);
    if (refusal) {
        k->path = PTX_PATH_UNSUPPORTED;
        k->reason = ptx_format(&p->memory, "%s", refusal);
        return false;
    }
    ptx_shape *planned = join_sums(p, join_clocks(p, written_anew(s)));
    write_kernel(p, planned, k);
    k->registers = ptx_estimate_registers(s, k->max_threads, has_room(s));
    ptx_describe_plan(p, planned, k);
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
                  "define %si1 @\"f.%s\"(ptr %%block, ptr %%thread, i32 %%index, "
                  "i32, i32, i32",
                  ptx_linkage(p, n), f->name);
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
    ptx_flow_memory memory = {
        .arena = ptx_arena_create(p->options->allocator, SHAPE_BYTES_MAX)};
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
    if (writes(p))
        write_runtime(&p->text);
}

static uint32_t count_kernels(const ptx_module *m)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < m->function_count; n++)
        count += m->functions[n].is_entry && !m->functions[n].is_extern;
    return count;
}

/* The kernels that are wanted, and what they call. */
static bool compile_kernels(ptx_build *p, ptx_program *program, ptx_kernel *kernels)
{
    const ptx_module *m = p->module;
    const ptx_part part = p->options->part;
    uint32_t index = 0;
    bool more = false;
    for (uint32_t n = 0; n < m->function_count && part != PTX_PART_FUNCTIONS; n++) {
        if (!m->functions[n].is_entry || m->functions[n].is_extern)
            continue;
        if (part == PTX_PART_KERNEL && index++ != p->options->kernel)
            continue;
        kernel_job job = {n, &kernels[program->kernel_count++]};
        if (!run_step(p, compile_kernel, &job, &more))
            return false;
    }
    do {
        if (writes(p) && !run_step(p, write_functions, NULL, &more))
            return false;
    } while (more);
    return true;
}

/* A kernel by itself: functions are written because it wants them. */
static void want_nothing(ptx_build *p)
{
    for (uint32_t n = 0; n < p->module->function_count; n++)
        p->used_functions[n] &= (uint8_t)~FUNCTION_WANTED;
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
    if (p->options->part == PTX_PART_KERNEL)
        want_nothing(p);
    if (!compile_kernels(p, program, kernels))
        return false;
    describe_globals(p, program);
    if (!writes(p))
        return true;
    ptx_write_tail(p);
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
    p->text.heap = p->part.heap = p->function.heap = p->parts.heap = heap;
    const bool done = compile_module(p, program);
    gphi_text_fini(&p->text);
    gphi_text_fini(&p->part);
    gphi_text_fini(&p->function);
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
