// SPDX-License-Identifier: Apache-2.0
/* Puts device functions with barriers, warp operations or an exit in them in place of
 * their calls, so that the kernel can be cut there. All other calls stay: LLVM inlines
 * them.
 *
 *   st.param.b32 [pa], %r1;              mov.b32  C, %r1;
 *   call (pr), f, (pa);           ->     mov.b32  F, C;       C: of the caller's variable
 *   ld.param.b32 %r2, [pr];              ... f, `ret` is a branch to its end ...
 *                                        mov.b32  C', F';     F: of f's parameter
 *                                        mov.b32  %r2, C';
 *
 * A parameter becomes registers of the width in which it is accessed, 4 or 8 bytes a
 * variable, the smaller one where both are found. What does not fit (addresses of
 * parameters taken, parts of other widths, recursion, too much code) leaves the function
 * as it is. */
#include <string.h>

#include "softcuda/ptx/flow/flow.h"

#define INSNS_MAX 20000u
#define PASSES_MAX 16u
#define MODULE_INSNS_MAX 200000u /* of all kernels with functions in place of calls ... */
#define KERNEL_INSNS_MIN 4000u   /* ... but each may have as many */
#define PARAM_BYTES_MAX 256u
#define VARIABLES_MAX 4096u

typedef struct list {
    void *items;
    uint32_t count, room;
} list;

typedef struct inliner {
    ptx_build *program;
    ptx_flow_memory *memory;
    const ptx_function *from;
    list insns, operands, registers, variables, labels;
    uint32_t **own;   /* by function: where its .local and .shared variables went, + 1 */
    uint8_t *width;   /* by variable of `from`: of its parts, 0: stays in memory */
    uint32_t *first;  /* by variable of `from`: the register of its first part */
    uint32_t *places; /* by instruction of `from`: where it went */
} inliner;

/* A copy of a function that is being written. */
typedef struct copy {
    const ptx_function *function;
    uint32_t registers, labels; /* where its own begin */
    uint32_t *variables;        /* where its variables went */
    uint8_t *width;             /* of its parameters' parts */
    uint32_t *first;
    uint32_t end; /* label after it */
} copy;

/* ---- lists ------------------------------------------------------------------------ */

static void *add(inliner *n, list *to, size_t bytes, const void *item)
{
    if (to->count == to->room) {
        to->room = to->room ? 2 * to->room : 64;
        void *items = ptx_alloc(n->memory, to->room, bytes);
        if (to->count > 0)
            memcpy(items, to->items, to->count * bytes);
        to->items = items;
    }
    void *at = (char *)to->items + to->count++ * bytes;
    memcpy(at, item, bytes);
    return at;
}

static void add_all(inliner *n, list *to, size_t bytes, const void *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        (void)add(n, to, bytes, (const char *)items + i * bytes);
}

static uint32_t add_register(inliner *n, uint32_t type)
{
    (void)add(n, &n->registers, sizeof(ptx_register), &(ptx_register){"%inlined", type});
    return n->registers.count - 1;
}

static void add_operand(inliner *n, ptx_operand operand)
{
    (void)add(n, &n->operands, sizeof(operand), &operand);
}

/* An instruction made of another: its place in the text, its guard. */
static ptx_insn made_of(const inliner *n, const ptx_insn *insn, ptx_opcode opcode)
{
    ptx_insn made = *insn;
    made.opcode = (uint16_t)opcode;
    made.type_count = made.mod_count = 0;
    made.space = made.space2 = PTX_SPACE_GENERIC;
    made.return_count = made.argument_count = 0;
    made.operand = n->operands.count;
    made.operand_count = 0;
    return made;
}

static void add_branch(inliner *n, const ptx_insn *insn, bool negates, uint32_t label)
{
    ptx_insn branch = made_of(n, insn, PTX_OP_BRA);
    branch.guard_negate = (uint8_t)(insn->guard_negate ^ negates);
    branch.operand_count = 1;
    add_operand(n, (ptx_operand){.kind = PTX_OPERAND_LABEL, .index = label});
    (void)add(n, &n->insns, sizeof(branch), &branch);
}

static ptx_operand register_operand(uint32_t index)
{
    return (ptx_operand){.kind = PTX_OPERAND_REG, .index = index};
}

static void add_move(inliner *n, const ptx_insn *insn, uint8_t type, ptx_operand to,
                     ptx_operand from)
{
    ptx_insn move = made_of(n, insn, PTX_OP_MOV);
    move.types[0] = type;
    move.type_count = 1;
    move.operand_count = 2;
    add_operand(n, to);
    add_operand(n, from);
    (void)add(n, &n->insns, sizeof(move), &move);
}

/* One of 8 bytes to or from two of 4. */
static void add_halves(inliner *n, const ptx_insn *insn, bool packs, ptx_operand whole,
                       uint32_t low)
{
    ptx_insn move = made_of(n, insn, PTX_OP_MOV);
    move.types[0] = PTX_B64;
    move.type_count = 1;
    move.operand_count = 4;
    if (packs)
        add_operand(n, whole);
    add_operand(n, (ptx_operand){.kind = PTX_OPERAND_VECTOR, .index = 2});
    add_operand(n, register_operand(low));
    add_operand(n, register_operand(low + 1));
    if (!packs)
        add_operand(n, whole);
    (void)add(n, &n->insns, sizeof(move), &move);
}

/* ---- which calls ------------------------------------------------------------------ */

static const ptx_operand *operand_of(const ptx_function *f, const ptx_insn *insn,
                                     uint32_t nth)
{
    return &f->operands[insn->operand + nth];
}

static const ptx_function *cut_callee(const inliner *n, const ptx_function *f,
                                      const ptx_insn *insn, uint32_t *index)
{
    if (insn->opcode != PTX_OP_CALL)
        return NULL;
    const ptx_operand *callee = operand_of(f, insn, insn->return_count);
    if (callee->kind != PTX_OPERAND_FUNC || !n->program->has_cuts[callee->index])
        return NULL;
    *index = callee->index;
    return &n->program->module->functions[callee->index];
}

/* Whoever is called by its address needs its variables where functions have them. */
static bool calls_by_address(const ptx_function *f)
{
    for (uint32_t i = 0; i < f->insn_count; i++)
        if (f->insns[i].opcode == PTX_OP_CALL &&
            operand_of(f, &f->insns[i], f->insns[i].return_count)->kind !=
                PTX_OPERAND_FUNC)
            return true;
    return false;
}

static bool has_cut_calls(const inliner *n, const ptx_function *f)
{
    uint32_t index;
    for (uint32_t i = 0; i < f->insn_count; i++)
        if (cut_callee(n, f, &f->insns[i], &index))
            return true;
    return false;
}

/* ---- parameters as registers ------------------------------------------------------ */

/* The variable that a ld.param or st.param is about, or SHAPE_NONE. */
static uint32_t param_of(const ptx_function *f, const ptx_insn *insn)
{
    if ((insn->opcode != PTX_OP_LD && insn->opcode != PTX_OP_ST) ||
        insn->space != PTX_SPACE_PARAM || insn->operand_count < 2)
        return SHAPE_NONE;
    const ptx_operand *address =
        operand_of(f, insn, insn->opcode == PTX_OP_ST ? 0 : insn->operand_count - 1);
    if (address->kind != PTX_OPERAND_ADDRESS || address->base != PTX_OPERAND_VAR ||
        !(address->index & PTX_VAR_LOCAL))
        return SHAPE_NONE;
    return address->index & ~PTX_VAR_LOCAL;
}

static int64_t offset_of(const ptx_function *f, const ptx_insn *insn)
{
    return operand_of(f, insn, insn->opcode == PTX_OP_ST ? 0 : insn->operand_count - 1)
        ->imm;
}

/* The values of a ld.param or st.param: one, or those of a vector. */
static const ptx_operand *values_of(const ptx_function *f, const ptx_insn *insn,
                                    uint32_t *count)
{
    const ptx_operand *value = operand_of(f, insn, insn->opcode == PTX_OP_ST ? 1 : 0);
    *count = value->kind == PTX_OPERAND_VECTOR ? value->index : 1;
    return value->kind == PTX_OPERAND_VECTOR ? value + 1 : value;
}

/* Notes one access; false if the variable cannot be in registers. */
static bool note_access(const ptx_function *f, const ptx_insn *insn, uint32_t variable,
                        uint8_t *width)
{
    uint32_t count;
    const ptx_operand *values = values_of(f, insn, &count);
    const uint32_t bytes = ptx_type_bytes((ptx_type)insn->types[0]);
    const int64_t offset = offset_of(f, insn);
    const uint64_t size = f->variables[variable].bytes;
    const bool whole = insn->type_count == 1 && (bytes == 4 || bytes == 8) &&
                       insn->types[0] != PTX_PRED && offset >= 0 &&
                       offset % (int64_t)bytes == 0 &&
                       (uint64_t)offset + (uint64_t)count * bytes <= size;
    if (!whole || size % 4 != 0)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (insn->opcode == PTX_OP_LD && values[i].kind != PTX_OPERAND_REG &&
            values[i].kind != PTX_OPERAND_SINK)
            return false;
    if (width[variable] == 0 || bytes < width[variable] || size % 8 != 0)
        width[variable] = size % 8 != 0 ? 4 : (uint8_t)bytes;
    return true;
}

static bool is_candidate(const ptx_function *f, uint32_t variable)
{
    const ptx_variable *v = &f->variables[variable];
    const bool kernels = f->is_entry && variable < f->parameter_count;
    return v->space == PTX_SPACE_PARAM && !kernels && v->bytes <= PARAM_BYTES_MAX;
}

/* Widths of the .param variables of a function in which all their uses are loads and
 * stores, and calls where `calls`; `wanted` are those that must be in registers: false if
 * one cannot. */
static bool find_widths(const ptx_function *f, const uint8_t *wanted, bool calls,
                        uint8_t *width)
{
    for (uint32_t i = 0; i < f->insn_count; i++) {
        const ptx_insn *insn = &f->insns[i];
        const uint32_t about = param_of(f, insn);
        if (about != SHAPE_NONE && wanted[about] &&
            (!is_candidate(f, about) || !note_access(f, insn, about, width)))
            return false;
        for (uint32_t k = 0; k < insn->operand_count; k++) {
            const ptx_operand *o = operand_of(f, insn, k);
            const bool names =
                (o->kind == PTX_OPERAND_VAR ||
                 (o->kind == PTX_OPERAND_ADDRESS && o->base == PTX_OPERAND_VAR)) &&
                (o->index & PTX_VAR_LOCAL) && wanted[o->index & ~PTX_VAR_LOCAL];
            const bool fits =
                about != SHAPE_NONE || (calls && insn->opcode == PTX_OP_CALL);
            if (names && !fits)
                return false;
        }
    }
    return true;
}

static uint32_t make_parts(inliner *n, const ptx_variable *v, uint32_t width)
{
    const uint32_t count = (uint32_t)v->bytes / width;
    const uint32_t first = n->registers.count;
    for (uint32_t i = 0; i < count; i++)
        (void)add_register(n, width == 8 ? PTX_B64 : PTX_B32);
    return first;
}

/* A load or store of a parameter as moves of its parts. */
static void move_parts(inliner *n, const ptx_function *f, const ptx_insn *insn,
                       uint32_t first, uint32_t width, uint32_t registers)
{
    uint32_t count;
    const ptx_operand *values = values_of(f, insn, &count);
    const bool halves = ptx_type_bytes((ptx_type)insn->types[0]) > width;
    const bool stores = insn->opcode == PTX_OP_ST;
    const uint32_t part = first + (uint32_t)offset_of(f, insn) / width;
    for (uint32_t i = 0; i < count; i++) {
        ptx_operand value = values[i];
        if (value.kind == PTX_OPERAND_REG)
            value.index += registers;
        if (value.kind == PTX_OPERAND_SINK)
            continue;
        const ptx_operand held = register_operand(part + i);
        if (halves)
            add_halves(n, insn, !stores, value, part + 2 * i);
        else
            add_move(n, insn, insn->types[0], stores ? held : value,
                     stores ? value : held);
    }
}

/* ---- copying a function ----------------------------------------------------------- */

static ptx_operand mapped(const copy *c, ptx_operand operand)
{
    const bool names =
        operand.kind == PTX_OPERAND_VAR ||
        (operand.kind == PTX_OPERAND_ADDRESS && operand.base == PTX_OPERAND_VAR);
    if (operand.kind == PTX_OPERAND_REG ||
        (operand.kind == PTX_OPERAND_ADDRESS && operand.base == PTX_OPERAND_REG))
        operand.index += c->registers;
    else if (operand.kind == PTX_OPERAND_LABEL)
        operand.index += c->labels;
    else if (names && (operand.index & PTX_VAR_LOCAL))
        operand.index = c->variables[operand.index & ~PTX_VAR_LOCAL] | PTX_VAR_LOCAL;
    return operand;
}

static void copy_insn(inliner *n, const copy *c, const ptx_insn *insn)
{
    ptx_insn made = *insn;
    made.operand = n->operands.count;
    made.guard += c->registers;
    const uint32_t about = param_of(c->function, insn);
    if (about != SHAPE_NONE && c->width[about] != 0) {
        ptx_insn guarded = *insn;
        guarded.guard = made.guard;
        move_parts(n, c->function, &guarded, c->first[about], c->width[about],
                   c->registers);
        return;
    }
    if (insn->opcode == PTX_OP_RET) {
        add_branch(n, &made, false, c->end);
        return;
    }
    for (uint32_t k = 0; k < insn->operand_count; k++)
        add_operand(n, mapped(c, *operand_of(c->function, insn, k)));
    (void)add(n, &n->insns, sizeof(made), &made);
}

/* Where the variables of a function lie: .local and .shared ones at one place for all its
 * copies, since it is not in two of them at once. */
static bool place_variables(inliner *n, copy *c, uint32_t index)
{
    const ptx_function *f = c->function;
    const uint32_t params = f->parameter_count + f->return_count;
    if (!n->own[index])
        n->own[index] = ptx_alloc(n->memory, f->variable_count, sizeof(uint32_t));
    for (uint32_t v = 0; v < f->variable_count; v++) {
        const bool shared_by_all =
            v >= params && f->variables[v].space != PTX_SPACE_PARAM;
        if (v < params)
            continue;
        if (shared_by_all && n->own[index][v] != 0) {
            c->variables[v] = n->own[index][v] - 1;
            continue;
        }
        c->variables[v] = n->variables.count;
        (void)add(n, &n->variables, sizeof(ptx_variable), &f->variables[v]);
        if (shared_by_all)
            n->own[index][v] = n->variables.count;
    }
    return n->variables.count <= VARIABLES_MAX;
}

static bool begin_copy(inliner *n, copy *c, const ptx_function *f, uint32_t index)
{
    const uint32_t params = f->parameter_count + f->return_count;
    uint8_t *wanted = ptx_alloc(n->memory, f->variable_count, 1);
    *c = (copy){.function = f,
                .variables = ptx_alloc(n->memory, f->variable_count, sizeof(uint32_t)),
                .width = ptx_alloc(n->memory, f->variable_count, 1),
                .first = ptx_alloc(n->memory, f->variable_count, sizeof(uint32_t))};
    for (uint32_t v = 0; v < params; v++) {
        if (f->variables[v].space != PTX_SPACE_PARAM)
            return false;
        wanted[v] = 1;
    }
    if (n->program->cuts_recursive[index] || n->insns.count + f->insn_count > INSNS_MAX ||
        !place_variables(n, c, index) || !find_widths(f, wanted, false, c->width))
        return false;
    c->registers = n->registers.count;
    add_all(n, &n->registers, sizeof(ptx_register), f->registers, f->register_count);
    c->labels = n->labels.count;
    add_all(n, &n->labels, sizeof(ptx_label), f->labels, f->label_count);
    c->end = n->labels.count;
    (void)add(n, &n->labels, sizeof(ptx_label), &(ptx_label){"%end", 0});
    return true;
}

/* Moves between the caller's variable and the function's parameter. Either may never be
 * read or written: then it has no width of its own. */
static bool hand_over(inliner *n, copy *c, const ptx_insn *call, uint32_t argument,
                      uint32_t parameter)
{
    const ptx_operand *operand = operand_of(n->from, call, argument);
    const bool is_result = argument < call->return_count;
    if (operand->kind != PTX_OPERAND_VAR || !(operand->index & PTX_VAR_LOCAL))
        return false;
    const uint32_t v = operand->index & ~PTX_VAR_LOCAL;
    const uint8_t inside = c->width[parameter], outside = n->width[v];
    const uint64_t bytes = c->function->variables[parameter].bytes;
    if (inside == 0 || outside == 0)
        return true;
    if (n->from->variables[v].bytes != bytes)
        return false;
    ptx_insn at = *call;
    at.guarded = 0;
    const uint32_t wide = inside > outside ? inside : outside;
    for (uint32_t i = 0; i < (uint32_t)bytes / wide; i++) {
        const uint32_t ours = n->first[v] + i * (wide / outside);
        const uint32_t theirs = c->first[parameter] + i * (wide / inside);
        const uint32_t to = is_result ? ours : theirs, from = is_result ? theirs : ours;
        if (inside == outside)
            add_move(n, &at, inside == 8 ? PTX_B64 : PTX_B32, register_operand(to),
                     register_operand(from));
        else if ((inside > outside) == is_result) /* the wide one is taken apart */
            add_halves(n, &at, false, register_operand(from), to);
        else
            add_halves(n, &at, true, register_operand(to), from);
    }
    return true;
}

static bool hand_all(inliner *n, copy *c, const ptx_insn *call, bool results)
{
    const uint32_t count = results ? call->return_count : call->argument_count;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t argument = results ? i : call->return_count + 1 + i;
        const uint32_t parameter = results ? c->function->parameter_count + i : i;
        if (!hand_over(n, c, call, argument, parameter))
            return false;
    }
    return true;
}

static bool write_copy(inliner *n, const ptx_insn *call, const ptx_function *f,
                       uint32_t index)
{
    copy c;
    if (call->argument_count != f->parameter_count ||
        call->return_count != f->return_count || !begin_copy(n, &c, f, index))
        return false;
    for (uint32_t v = 0; v < f->parameter_count + f->return_count; v++)
        if (c.width[v] != 0)
            c.first[v] = make_parts(n, &f->variables[v], c.width[v]);
    if (call->guarded)
        add_branch(n, call, true, c.end);
    if (!hand_all(n, &c, call, false))
        return false;
    uint32_t *places = ptx_alloc(n->memory, f->insn_count + 1u, sizeof(*places));
    const uint32_t last = n->labels.count;
    ptx_insn unguarded = *call;
    unguarded.guarded = 0;
    (void)add(n, &n->labels, sizeof(ptx_label), &(ptx_label){"%ret", 0});
    const uint32_t end = c.end;
    c.end = last; /* results are handed over before the end */
    for (uint32_t i = 0; i < f->insn_count; i++) {
        places[i] = n->insns.count;
        copy_insn(n, &c, &f->insns[i]);
    }
    places[f->insn_count] = n->insns.count;
    for (uint32_t k = 0; k < f->label_count; k++) {
        ptx_label *label = (ptx_label *)n->labels.items + c.labels + k;
        label->insn = places[f->labels[k].insn];
    }
    ((ptx_label *)n->labels.items)[last].insn = n->insns.count;
    if (!hand_all(n, &c, &unguarded, true))
        return false;
    ((ptx_label *)n->labels.items)[end].insn = n->insns.count;
    return n->insns.count <= INSNS_MAX;
}

/* ---- one pass over the caller ----------------------------------------------------- */

/* The caller's .param variables that calls to be replaced use. */
static bool find_callers(inliner *n)
{
    const ptx_function *f = n->from;
    uint8_t *wanted = ptx_alloc(n->memory, f->variable_count, 1);
    uint32_t index;
    n->width = ptx_alloc(n->memory, f->variable_count, 1);
    n->first = ptx_alloc(n->memory, f->variable_count, sizeof(uint32_t));
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < f->insn_count; i++) {
            const ptx_insn *insn = &f->insns[i];
            const bool goes = cut_callee(n, f, insn, &index);
            for (uint32_t k = 0; insn->opcode == PTX_OP_CALL && k < insn->operand_count;
                 k++) {
                const ptx_operand *o = operand_of(f, insn, k);
                if (o->kind != PTX_OPERAND_VAR || !(o->index & PTX_VAR_LOCAL))
                    continue;
                if (goes)
                    wanted[o->index & ~PTX_VAR_LOCAL] = 1;
                else if (round == 1 && wanted[o->index & ~PTX_VAR_LOCAL])
                    return false; /* another call wants it in memory */
            }
        }
    if (!find_widths(f, wanted, true, n->width))
        return false;
    for (uint32_t v = 0; v < f->variable_count; v++)
        if (n->width[v] != 0)
            n->first[v] = make_parts(n, &f->variables[v], n->width[v]);
    return true;
}

static void begin_pass(inliner *n, const ptx_function *f)
{
    n->from = f;
    n->insns = n->operands = n->registers = n->variables = n->labels = (list){0};
    add_all(n, &n->registers, sizeof(ptx_register), f->registers, f->register_count);
    add_all(n, &n->variables, sizeof(ptx_variable), f->variables, f->variable_count);
    add_all(n, &n->labels, sizeof(ptx_label), f->labels, f->label_count);
    n->places = ptx_alloc(n->memory, f->insn_count + 1u, sizeof(*n->places));
}

static ptx_function *end_pass(inliner *n)
{
    const ptx_function *f = n->from;
    ptx_function *made = ptx_alloc(n->memory, 1, sizeof(*made));
    for (uint32_t k = 0; k < f->label_count; k++)
        ((ptx_label *)n->labels.items)[k].insn = n->places[f->labels[k].insn];
    *made = *f;
    made->insns = n->insns.items;
    made->insn_count = n->insns.count;
    made->operands = n->operands.items;
    made->operand_count = n->operands.count;
    made->registers = n->registers.items;
    made->register_count = n->registers.count;
    made->variables = n->variables.items;
    made->variable_count = n->variables.count;
    made->labels = n->labels.items;
    made->label_count = n->labels.count;
    return made;
}

/* NULL: a call cannot be replaced. */
static ptx_function *replace_calls(inliner *n, const ptx_function *f)
{
    begin_pass(n, f);
    if (!find_callers(n))
        return NULL;
    const copy self = {.function = f,
                       .variables =
                           ptx_alloc(n->memory, f->variable_count, sizeof(uint32_t)),
                       .width = n->width,
                       .first = n->first};
    for (uint32_t v = 0; v < f->variable_count; v++)
        self.variables[v] = v;
    for (uint32_t i = 0; i < f->insn_count; i++) {
        uint32_t index;
        const ptx_insn *insn = &f->insns[i];
        const ptx_function *callee = cut_callee(n, f, insn, &index);
        n->places[i] = n->insns.count;
        if (callee) {
            if (!write_copy(n, insn, callee, index))
                return NULL;
        } else if (insn->opcode == PTX_OP_RET) { /* its own */
            ptx_insn own = *insn;
            own.operand = n->operands.count;
            (void)add(n, &n->insns, sizeof(own), &own);
        } else {
            copy_insn(n, &self, insn);
        }
        if (n->insns.count > INSNS_MAX)
            return NULL;
    }
    n->places[f->insn_count] = n->insns.count;
    return end_pass(n);
}

/* A kernel's share does not depend on those before it: it may be compiled alone. */
static uint32_t room_of(const ptx_module *m)
{
    uint32_t kernels = 0;
    for (uint32_t n = 0; n < m->function_count; n++)
        kernels += m->functions[n].is_entry;
    const uint32_t share = MODULE_INSNS_MAX / (kernels ? kernels : 1);
    return share > KERNEL_INSNS_MIN ? share : KERNEL_INSNS_MIN;
}

const ptx_function *ptx_inline_calls(ptx_build *p, ptx_flow_memory *memory,
                                     const ptx_function *f)
{
    inliner n = {.program = p, .memory = memory};
    const ptx_function *now = f;
    if (!has_cut_calls(&n, f))
        return f;
    const uint32_t room = room_of(p->module);
    n.own = ptx_alloc(memory, p->module->function_count, sizeof(*n.own));
    for (uint32_t pass = 0; pass < PASSES_MAX; pass++) {
        now = replace_calls(&n, now);
        if (!now || calls_by_address(now))
            return f;
        if (now->insn_count > room)
            return f;
        if (has_cut_calls(&n, now))
            continue;
        return now;
    }
    return f;
}
