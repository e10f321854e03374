// SPDX-License-Identifier: Apache-2.0
/* Which function calls which, and what follows from it: which have cuts below them, which
 * are recursive, how much code each is with all that it calls in it.
 *
 * All of it is asked of a function after the functions that it calls, so that one way
 * through the module settles everything but recursion. */
#include <string.h>

#include "softcuda/ptx/flow/flow.h"

const ptx_operand *ptx_callee(const ptx_function *f, const ptx_insn *insn)
{
    if (insn->opcode != PTX_OP_CALL)
        return NULL;
    return &f->operands[insn->operand + insn->return_count];
}

bool ptx_has_body(const ptx_module *module, uint32_t function)
{
    const ptx_function *f = &module->functions[function];
    return !f->is_entry && !f->is_extern && !f->is_prototype;
}

/* Functions whose address is taken, by code or by an initial value. */
static void find_open_functions(ptx_build *p)
{
    const ptx_module *m = p->module;
    for (uint32_t n = 0; n < m->function_count; n++) {
        const ptx_function *f = &m->functions[n];
        for (uint32_t i = 0; i < f->insn_count; i++) {
            const ptx_insn *insn = &f->insns[i];
            const ptx_operand *callee = ptx_callee(f, insn);
            for (uint32_t k = 0; k < insn->operand_count; k++) {
                const ptx_operand *o = &f->operands[insn->operand + k];
                if (o->kind == PTX_OPERAND_FUNC && o != callee &&
                    ptx_has_body(m, o->index))
                    p->used_functions[o->index] |= FUNCTION_WANTED | FUNCTION_OPEN;
            }
        }
    }
    for (uint32_t v = 0; v < m->variable_count; v++)
        for (uint32_t k = 0; k < m->variables[v].relocation_count; k++) {
            const ptx_relocation *r = &m->variables[v].relocations[k];
            if (r->is_function && ptx_has_body(m, r->index))
                p->used_functions[r->index] |= FUNCTION_WANTED | FUNCTION_OPEN;
        }
}

static bool has_own_cut(const ptx_build *p, const ptx_function *f)
{
    for (uint32_t i = 0; i < f->insn_count; i++) {
        const ptx_role role = ptx_insn_role(p->module, f, &f->insns[i], NULL);
        if (role == PTX_ROLE_BARRIER || role == PTX_ROLE_WARP ||
            ptx_insn_keeps_lockstep(p->module, f, &f->insns[i]))
            return true;
        /* Compilers write `trap; exit;`: what comes after a trap is never reached. */
        if (role == PTX_ROLE_EXIT && f->insns[i].opcode == PTX_OP_EXIT &&
            !(i > 0 && f->insns[i - 1].opcode == PTX_OP_TRAP && !f->insns[i - 1].guarded))
            return true;
    }
    return false;
}

static bool calls_marked(const ptx_build *p, const ptx_function *f, const uint8_t *marks)
{
    for (uint32_t i = 0; i < f->insn_count; i++) {
        const ptx_operand *callee = ptx_callee(f, &f->insns[i]);
        if (callee && callee->kind == PTX_OPERAND_FUNC && marks[callee->index] &&
            ptx_has_body(p->module, callee->index))
            return true;
    }
    return false;
}

/* ---- order ------------------------------------------------------------------------ */

/* The next function that `f` calls and that has not been met, from instruction *at on. */
static uint32_t next_callee(const ptx_function *f, uint32_t *at, const uint8_t *met)
{
    while (*at < f->insn_count) {
        const ptx_operand *callee = ptx_callee(f, &f->insns[(*at)++]);
        if (callee && callee->kind == PTX_OPERAND_FUNC && !met[callee->index])
            return callee->index;
    }
    return SHAPE_NONE;
}

/* Depth first, by a stack of our own: a module may nest its calls as deep as it likes. */
static void find_order(ptx_build *p)
{
    const ptx_module *m = p->module;
    uint8_t *met = ptx_alloc(&p->memory, m->function_count, 1);
    uint32_t *stack = ptx_alloc(&p->memory, m->function_count, sizeof(*stack));
    uint32_t *at = ptx_alloc(&p->memory, m->function_count, sizeof(*at));
    uint32_t count = 0;
    p->order = ptx_alloc(&p->memory, m->function_count, sizeof(*p->order));
    for (uint32_t n = 0; n < m->function_count; n++) {
        uint32_t depth = 0;
        if (met[n])
            continue;
        met[n] = 1;
        stack[depth++] = n;
        while (depth > 0) {
            const uint32_t top = stack[depth - 1];
            const uint32_t next = next_callee(&m->functions[top], &at[top], met);
            if (next == SHAPE_NONE) {
                p->order[count++] = top;
                depth--;
                continue;
            }
            met[next] = 1;
            stack[depth++] = next;
        }
    }
}

/* ---- what follows from it --------------------------------------------------------- */

/* All that are not found to be free of recursion, of `among` or of all. */
static void find_recursion(const ptx_build *p, const uint8_t *among, uint8_t *marks)
{
    const ptx_module *m = p->module;
    for (uint32_t n = 0; n < m->function_count; n++)
        marks[n] = ptx_has_body(m, n) && (!among || among[n]);
    for (uint32_t i = 0; i < m->function_count; i++) {
        const uint32_t n = p->order[i];
        if (marks[n] && !calls_marked(p, &m->functions[n], marks))
            marks[n] = 0;
    }
}

static void find_cuts_below(ptx_build *p)
{
    const ptx_module *m = p->module;
    for (uint32_t n = 0; n < m->function_count; n++)
        p->has_cuts[n] = ptx_has_body(m, n) && has_own_cut(p, &m->functions[n]);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < m->function_count; i++) {
            const uint32_t n = p->order[i];
            if (ptx_has_body(m, n) && !p->has_cuts[n] &&
                calls_marked(p, &m->functions[n], p->has_cuts))
                p->has_cuts[n] = changed = true;
        }
    }
}

/* A call by address may reach any function whose address is taken. */
static uint8_t may_launch(const ptx_build *p, const ptx_function *f)
{
    uint8_t found = 0;
    for (uint32_t i = 0; i < f->insn_count; i++) {
        const ptx_operand *callee = ptx_callee(f, &f->insns[i]);
        if (callee && callee->kind == PTX_OPERAND_FUNC)
            found |= p->launches[callee->index];
        for (uint32_t n = 0;
             callee && callee->kind != PTX_OPERAND_FUNC && n < p->module->function_count;
             n++)
            if (p->used_functions[n] & FUNCTION_OPEN)
                found |= p->launches[n];
    }
    return found;
}

static uint8_t launches_itself(const char *name)
{
    const ptx_signature *s = ptx_intrinsic(name);
    if (s && s->nested != 0)
        return LAUNCHES_KERNELS;
    return strcmp(name, "cudaGraphLaunch") == 0 ? LAUNCHES_GRAPHS : 0;
}

/* Kernels and functions alike. */
static void find_launches(ptx_build *p)
{
    const ptx_module *m = p->module;
    for (uint32_t n = 0; n < m->function_count; n++)
        if (!ptx_has_body(m, n))
            p->launches[n] = launches_itself(m->functions[n].name);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < m->function_count; i++) {
            const uint32_t n = p->order[i];
            const uint8_t more = may_launch(p, &m->functions[n]) & ~p->launches[n];
            p->launches[n] |= more;
            changed |= more != 0;
        }
    }
}

/* By itself: any operand, the callee or not. */
static bool names_open(const ptx_build *p, const ptx_function *f)
{
    for (uint32_t k = 0; k < f->operand_count; k++)
        if (f->operands[k].kind == PTX_OPERAND_FUNC &&
            (p->used_functions[f->operands[k].index] & FUNCTION_OPEN))
            return true;
    return false;
}

/* Kernels and functions alike. */
static void find_open_names(ptx_build *p)
{
    const ptx_module *m = p->module;
    for (uint32_t n = 0; n < m->function_count; n++)
        p->names_open[n] = names_open(p, &m->functions[n]);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < m->function_count; i++) {
            const uint32_t n = p->order[i];
            if (!p->names_open[n] && calls_marked(p, &m->functions[n], p->names_open))
                p->names_open[n] = changed = true;
        }
    }
}

/* Instructions of a function with all that it calls in place of the calls. */
static uint64_t whole_size(const uint32_t *sizes, const ptx_function *f)
{
    uint64_t size = f->insn_count;
    for (uint32_t i = 0; i < f->insn_count; i++) {
        const ptx_operand *callee = ptx_callee(f, &f->insns[i]);
        if (callee && callee->kind == PTX_OPERAND_FUNC)
            size += sizes[callee->index];
        else if (callee) /* who knows whom: it may come back here */
            size += SHAPE_SMALL_MAX;
        if (size > SHAPE_SMALL_MAX)
            break;
    }
    return size;
}

/* What grows without bound when it is put in place of its calls is called, and counts the
 * calls: a tree of them may be as endless as a loop. */
static void find_small(ptx_build *p)
{
    const ptx_module *m = p->module;
    uint32_t *sizes = ptx_alloc(&p->memory, m->function_count, sizeof(*sizes));
    for (uint32_t i = 0; i < m->function_count; i++) {
        const uint32_t n = p->order[i];
        const uint64_t size = whole_size(sizes, &m->functions[n]);
        p->small[n] = !p->recursive[n] && size <= SHAPE_SMALL_MAX;
        sizes[n] = p->small[n] ? (uint32_t)size : 1; /* stays a call */
    }
}

void ptx_find_calls(ptx_build *p)
{
    const uint32_t count = p->module->function_count;
    p->used_functions = ptx_alloc(&p->memory, count, 1);
    p->has_cuts = ptx_alloc(&p->memory, count, 1);
    p->recursive = ptx_alloc(&p->memory, count, 1);
    p->cuts_recursive = ptx_alloc(&p->memory, count, 1);
    p->small = ptx_alloc(&p->memory, count, 1);
    p->launches = ptx_alloc(&p->memory, count, 1);
    p->names_open = ptx_alloc(&p->memory, count, 1);
    find_order(p);
    find_open_functions(p);
    find_cuts_below(p);
    find_launches(p);
    find_open_names(p);
    find_recursion(p, NULL, p->recursive);
    find_recursion(p, p->has_cuts, p->cuts_recursive);
    find_small(p);
}
