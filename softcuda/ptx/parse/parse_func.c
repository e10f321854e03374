// SPDX-License-Identifier: Apache-2.0
/* Functions: their heads, bodies, scopes and labels.
 *
 *   .visible .entry k (.param .u64 p) .maxntid 256  { ... }
 *   .func (.reg .b32 r) f (.reg .b32 a)             ;          a declaration
 *
 * A body is flattened as it is read: registers, variables and labels of nested { } get
 * indices of the function, and only names know scopes. A branch to a label that is not
 * known yet waits in `pending`; a scope that ends gives its labels to what waits inside
 * of it, and hands the others on to the scope around. */
#include <string.h>

#include "softcuda/ptx/parse/parse.h"

/* ---- heads ------------------------------------------------------------------------ */

/* 128  or  8, 8, 4 */
static gph_status parse_extents(ptx_parser *parser, uint32_t out[3])
{
    bool more = true;
    GPHI_TRY(ptx_next(parser));
    out[0] = out[1] = out[2] = 1;
    for (int i = 0; i < 3 && more; i++) {
        GPHI_TRY(ptx_parse_u32(parser, "a number of threads or blocks", &out[i]));
        GPHI_TRY(ptx_accept(parser, ',', &more));
    }
    return GPH_OK;
}

static gph_status parse_number(ptx_parser *parser, uint32_t *out)
{
    GPHI_TRY(ptx_next(parser));
    return ptx_parse_u32(parser, "a number", out);
}

/* What may be between the parameters and the body. Limits that are not in the function's
 * description have no meaning here. */
static gph_status parse_head_directives(ptx_parser *parser, ptx_function *function)
{
    for (uint32_t ignored, *number = &ignored;; number = &ignored) {
        uint32_t *extents = NULL;
        switch (ptx_at_directive(parser)) {
        case PTX_DIR_MAXNTID: extents = function->max_threads; break;
        case PTX_DIR_REQNTID: extents = function->required_threads; break;
        case PTX_DIR_REQNCTAPERCLUSTER: extents = function->required_cluster; break;
        case PTX_DIR_MINNCTAPERSM: number = &function->min_blocks; break;
        case PTX_DIR_MAXNREG: number = &function->max_registers; break;
        case PTX_DIR_MAXCLUSTERRANK: number = &function->max_cluster; break;
        case PTX_DIR_MAXNCTAPERSM:
        case PTX_DIR_ABI_PRESERVE:
        case PTX_DIR_ABI_PRESERVE_CONTROL: break;
        case PTX_DIR_NORETURN:
            function->is_noreturn = 1;
            GPHI_TRY(ptx_next(parser));
            continue;
        case PTX_DIR_EXPLICITCLUSTER: function->explicit_cluster = 1; /* fall through */
        case PTX_DIR_BLOCKSARECLUSTERS: GPHI_TRY(ptx_next(parser)); continue;
        case PTX_DIR_PRAGMA: GPHI_TRY(ptx_parse_pragma(parser)); continue;
        default: return GPH_OK;
        }
        GPHI_TRY(extents ? parse_extents(parser, extents) : parse_number(parser, number));
    }
}

/* What a head says, before it is known which function it is. */
typedef struct function_head {
    ptx_token name;
    ptx_vec returns, parameters; /* ptx_parameter */
    ptx_function function;
} function_head;

/* ( .param .b32 ret ) name ( .param .b64 a ) .noreturn */
static gph_status parse_head(ptx_parser *parser, function_head *out, const char *expected)
{
    if (!out->function.is_entry && ptx_at(parser, '('))
        GPHI_TRY(ptx_parse_parameters(parser, &out->returns));
    GPHI_TRY(ptx_take_word(parser, expected, &out->name));
    if (ptx_at(parser, '('))
        GPHI_TRY(ptx_parse_parameters(parser, &out->parameters));
    out->function.parameter_count = out->parameters.count;
    out->function.return_count = out->returns.count;
    out->function.line = out->name.line;
    out->function.name = ptx_keep_name(parser, &out->name);
    if (!out->function.name)
        return ptx_fail_memory(parser);
    return parse_head_directives(parser, &out->function);
}

/* Parameters, then returns: as they are numbered everywhere. */
static const ptx_parameter *parameter_at(const function_head *head, uint32_t i)
{
    const uint32_t count = head->parameters.count;
    return i < count ? (const ptx_parameter *)head->parameters.items + i
                     : (const ptx_parameter *)head->returns.items + (i - count);
}

/* Copies the parameters' variables to a function that has no body (yet). */
static gph_status keep_signature(ptx_parser *parser, const function_head *from,
                                 ptx_function *to)
{
    const uint32_t count = from->parameters.count + from->returns.count;
    ptx_variable *variables = ptx_arena_alloc(parser->arena, count, sizeof(*variables));
    if (!variables)
        return ptx_fail_memory(parser);
    for (uint32_t i = 0; i < count; i++)
        variables[i] = parameter_at(from, i)->variable;
    to->variables = variables;
    to->variable_count = count;
    return GPH_OK;
}

/* The function of that name: a new one, or the one declared further up. */
static gph_status find_or_add(ptx_parser *parser, const function_head *head,
                              bool is_definition, uint32_t *out)
{
    ptx_symbol *symbol = ptx_symbol_find(parser, &head->name, NULL);
    if (symbol && symbol->kind == PTX_SYMBOL_FUNC) {
        const ptx_function *old = ptx_function_at(parser, symbol->index);
        const ptx_function *fresh = &head->function;
        if (is_definition && !old->is_extern)
            return ptx_fail_at(parser, &head->name, "rename one of them",
                               "function %s is already defined on line %u",
                               ptx_quote(&head->name).text, old->line);
        if (old->is_entry != fresh->is_entry ||
            old->parameter_count != fresh->parameter_count ||
            old->return_count != fresh->return_count)
            return ptx_fail_at(parser, &head->name,
                               "give both the same parameters and results",
                               "%s is declared differently on line %u",
                               ptx_quote(&head->name).text, old->line);
        *out = symbol->index;
        return GPH_OK;
    }
    GPHI_TRY(ptx_symbol_add(parser, &head->name, PTX_SYMBOL_FUNC, &symbol));
    *out = symbol->index = parser->functions.count;
    ptx_function *function =
        ptx_vec_add(parser->scratch, &parser->functions, sizeof(*function));
    if (!function)
        return ptx_fail_memory(parser);
    *function = head->function;
    function->is_extern = 1;
    return is_definition ? GPH_OK : keep_signature(parser, head, function);
}

/* ---- scopes and labels ------------------------------------------------------------ */

static gph_status enter_scope(ptx_parser *parser)
{
    ptx_body *body = &parser->body;
    if (body->depth == PTX_SCOPES_MAX)
        return ptx_fail_at(parser, &parser->token, NULL, "scopes nest deeper than %d",
                           PTX_SCOPES_MAX);
    body->scopes[body->depth++] = (ptx_scope){.symbols = parser->symbols.count,
                                              .pending = body->pending.count,
                                              .line = parser->token.line,
                                              .column = parser->token.column};
    parser->scope_symbols = parser->symbols.count;
    return GPH_OK;
}

/* Gives the labels of the scope to the branches that wait for them; the others wait on,
 * in the scope around. */
static gph_status leave_scope(ptx_parser *parser)
{
    ptx_body *body = &parser->body;
    const ptx_scope *scope = &body->scopes[body->depth - 1];
    ptx_pending *pending = body->pending.items;
    ptx_operand *operands = body->operands.items;
    uint32_t kept = scope->pending;
    for (uint32_t i = scope->pending; i < body->pending.count; i++) {
        const ptx_symbol *symbol = ptx_symbol_find(parser, &pending[i].name, NULL);
        if (symbol && symbol->kind == PTX_SYMBOL_LABEL &&
            ptx_symbol_is_local(parser, symbol))
            operands[pending[i].operand].index = symbol->index;
        else
            pending[kept++] = pending[i];
    }
    body->pending.count = kept;
    ptx_symbols_cut(parser, scope->symbols);
    body->depth--;
    parser->scope_symbols = body->depth > 0 ? body->scopes[body->depth - 1].symbols : 0;
    if (body->depth == 1 && kept > 0)
        return ptx_fail_at(parser, &pending[0].name,
                           "labels are seen only inside their own { }",
                           "label %s is not defined", ptx_quote(&pending[0].name).text);
    return GPH_OK;
}

/* ts: .branchtargets L1, L2; */
static gph_status parse_branch_targets(ptx_parser *parser, const ptx_token *name)
{
    ptx_symbol *symbol;
    bool more = true;
    ptx_vec *targets = &parser->body.targets;
    const uint32_t first = targets->count;
    GPHI_TRY(ptx_symbol_add(parser, name, PTX_SYMBOL_TARGETS, &symbol));
    GPHI_TRY(ptx_next(parser));
    while (more) {
        if (targets->count - first == PTX_TARGETS_MAX)
            return ptx_fail_at(parser, &parser->token, NULL,
                               "more than %d branch targets", PTX_TARGETS_MAX);
        ptx_token *target = ptx_vec_add(parser->scratch, targets, sizeof(*target));
        if (!target)
            return ptx_fail_memory(parser);
        GPHI_TRY(ptx_take_word(parser, "a label", target));
        GPHI_TRY(ptx_accept(parser, ',', &more));
    }
    symbol->index = first;
    symbol->count = targets->count - first;
    return ptx_expect(parser, ';', "',' or ';'");
}

/* fs: .calltargets f, g; */
static gph_status parse_call_targets(ptx_parser *parser, const ptx_token *name)
{
    ptx_symbol *symbol;
    uint32_t first = UINT32_MAX;
    bool more = true;
    GPHI_TRY(ptx_next(parser));
    while (more) {
        const ptx_symbol *target = ptx_symbol_here(parser);
        if (!target || target->kind != PTX_SYMBOL_FUNC)
            return ptx_fail_expected(parser, "the name of a declared function");
        if (first == UINT32_MAX)
            first = target->index;
        GPHI_TRY(ptx_next(parser));
        GPHI_TRY(ptx_accept(parser, ',', &more));
    }
    GPHI_TRY(ptx_symbol_add(parser, name, PTX_SYMBOL_CALLTARGETS, &symbol));
    symbol->index = first;
    return ptx_expect(parser, ';', "',' or ';'");
}

/* proto: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn; */
static gph_status parse_call_prototype(ptx_parser *parser, const ptx_token *name)
{
    function_head head = {.function.is_prototype = 1};
    ptx_symbol *symbol;
    GPHI_TRY(ptx_next(parser));
    GPHI_TRY(parse_head(parser, &head, "'_' or '('"));
    GPHI_TRY(ptx_symbol_add(parser, name, PTX_SYMBOL_PROTOTYPE, &symbol));
    symbol->index = parser->functions.count;
    head.function.name = ptx_keep_name(parser, name);
    ptx_function *function =
        ptx_vec_add(parser->scratch, &parser->functions, sizeof(*function));
    if (!function || !head.function.name)
        return ptx_fail_memory(parser);
    *function = head.function;
    GPHI_TRY(keep_signature(parser, &head, function));
    return ptx_expect(parser, ';', "';'");
}

/* After `name:`. */
static gph_status parse_label(ptx_parser *parser, const ptx_token *name)
{
    ptx_body *body = &parser->body;
    switch (ptx_at_directive(parser)) {
    case PTX_DIR_BRANCHTARGETS: return parse_branch_targets(parser, name);
    case PTX_DIR_CALLTARGETS: return parse_call_targets(parser, name);
    case PTX_DIR_CALLPROTOTYPE: return parse_call_prototype(parser, name);
    default: break;
    }
    ptx_symbol *symbol;
    GPHI_TRY(ptx_symbol_add(parser, name, PTX_SYMBOL_LABEL, &symbol));
    symbol->index = body->labels.count;
    ptx_label *label = ptx_vec_add(parser->scratch, &body->labels, sizeof(*label));
    char *kept = ptx_keep_name(parser, name);
    if (!label || !kept)
        return ptx_fail_memory(parser);
    *label = (ptx_label){.name = kept, .insn = body->insns.count};
    return GPH_OK;
}

/* ---- bodies ----------------------------------------------------------------------- */

/* After a `@`: the predicate, then the opcode. */
static gph_status parse_guarded(ptx_parser *parser)
{
    ptx_insn_head head = {.is_guarded = true, .start = parser->token.offset};
    GPHI_TRY(ptx_next(parser));
    GPHI_TRY(ptx_accept(parser, '!', &head.guard_negate));
    GPHI_TRY(ptx_take_word(parser, "a predicate register", &head.guard));
    GPHI_TRY(ptx_take_word(parser, "an instruction", &head.opcode));
    return ptx_parse_insn(parser, &head);
}

static gph_status parse_label_or_insn(ptx_parser *parser)
{
    const ptx_insn_head head = {.opcode = parser->token, .start = parser->token.offset};
    bool is_label;
    GPHI_TRY(ptx_next(parser));
    GPHI_TRY(ptx_accept(parser, ':', &is_label));
    return is_label ? parse_label(parser, &head.opcode) : ptx_parse_insn(parser, &head);
}

static gph_status parse_directive(ptx_parser *parser)
{
    const ptx_linkage none = {0};
    switch (ptx_at_directive(parser)) {
    case PTX_DIR_REG: return ptx_parse_registers(parser);
    case PTX_DIR_LOCAL:
    case PTX_DIR_SHARED:
    case PTX_DIR_PARAM: return ptx_parse_variables(parser, none);
    case PTX_DIR_LOC: return ptx_parse_loc(parser);
    case PTX_DIR_FILE: return ptx_parse_file(parser);
    case PTX_DIR_PRAGMA: return ptx_parse_pragma(parser);
    case PTX_DIR_GLOBAL:
    case PTX_DIR_CONST:
        return ptx_fail_at(parser, &parser->token, "move it in front of the function",
                           "%s is declared inside a function",
                           ptx_quote(&parser->token).text);
    default: break;
    }
    return ptx_fail_expected(parser, "an instruction, a label or a declaration");
}

/* An instruction, a label, a declaration, or the begin or end of a scope. */
static gph_status parse_statement(ptx_parser *parser)
{
    const ptx_token first = parser->token;
    if (first.kind == PTX_TOKEN_DOT)
        return parse_directive(parser);
    if (first.kind == PTX_TOKEN_WORD)
        return parse_label_or_insn(parser);
    if (ptx_at(parser, '@'))
        return parse_guarded(parser);
    if (ptx_at(parser, ';'))
        return ptx_next(parser);
    if (ptx_at(parser, '{')) {
        GPHI_TRY(enter_scope(parser));
        return ptx_next(parser);
    }
    if (ptx_at(parser, '}')) {
        GPHI_TRY(leave_scope(parser));
        return ptx_next(parser);
    }
    if (first.kind == PTX_TOKEN_END) {
        const ptx_scope *scope = &parser->body.scopes[parser->body.depth - 1];
        return ptx_fail_at(parser, &first, NULL,
                           "found the end of the text, expected '}' for the '{' of line "
                           "%u, column %u",
                           scope->line, scope->column);
    }
    return ptx_fail_expected(parser, "an instruction, a label or a declaration");
}

/* After the comment or string that begins at `at`, as the lexer sees it. */
static const char *skip_opaque(const char *at, const char *end)
{
    if (*at == '"') {
        for (at++; at < end && *at != '"' && *at != '\n'; at++)
            at += *at == '\\' && at + 1 < end && at[1] != '\n';
        return at < end ? at + 1 : end;
    }
    if (at[1] == '/') {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        return line_end ? line_end : end;
    }
    for (at += 2; at + 1 < end; at++)
        if (at[0] == '*' && at[1] == '/')
            return at + 2;
    return end;
}

/* Room for the instructions and operands of the body that begins at the lexer, so that
 * their arrays need not grow: counts what separates them, up to the brace that ends it.
 */
static gph_status reserve_body(ptx_parser *parser)
{
    ptx_body *body = &parser->body;
    const char *at = parser->lexer.at, *end = parser->lexer.end;
    size_t insns = 0, operands = 0;
    char last = ';';
    for (unsigned depth = 1; at < end && depth > 0;) {
        const char c = *at;
        if (c == '"' || (c == '/' && at + 1 < end && (at[1] == '/' || at[1] == '*'))) {
            at = skip_opaque(at, end);
            continue;
        }
        insns += c == ';' && last != ';';
        operands += (c == ';' && last != ';') || c == ',' || c == '{' || c == '|';
        depth += c == '{';
        depth -= c == '}';
        if (c > ' ')
            last = c;
        at++;
    }
    if (insns > PTX_INSTRUCTIONS_MAX)
        insns = PTX_INSTRUCTIONS_MAX;
    if (operands > UINT32_MAX / 2)
        operands = UINT32_MAX / 2;
    body->insns = (ptx_vec){.capacity = (uint32_t)insns};
    body->operands = (ptx_vec){.capacity = (uint32_t)operands};
    body->insns.items = ptx_arena_alloc(parser->arena, insns, sizeof(ptx_insn));
    body->operands.items = ptx_arena_alloc(parser->arena, operands, sizeof(ptx_operand));
    if (!body->insns.items || !body->operands.items)
        return ptx_fail_memory(parser);
    return GPH_OK;
}

/* Parameters, then returns, as the first variables, with their names; those in registers
 * get one. */
static gph_status declare_parameters(ptx_parser *parser, const function_head *head)
{
    ptx_body *body = &parser->body;
    const uint32_t count = head->parameters.count + head->returns.count;
    uint32_t *registers = ptx_arena_alloc(parser->arena, count, sizeof(*registers));
    if (!registers)
        return ptx_fail_memory(parser);
    bool has_registers = false;
    for (uint32_t i = 0; i < count; i++) {
        const ptx_parameter *parameter = parameter_at(head, i);
        ptx_variable *variable =
            ptx_vec_add(parser->scratch, &body->variables, sizeof(*variable));
        if (!variable)
            return ptx_fail_memory(parser);
        *variable = parameter->variable;
        if (variable->space == PTX_SPACE_REG) {
            GPHI_TRY(ptx_add_register(parser, &parameter->name, (ptx_type)variable->type,
                                      &registers[i]));
            has_registers = true;
            continue;
        }
        ptx_symbol *symbol;
        GPHI_TRY(ptx_symbol_add(parser, &parameter->name, PTX_SYMBOL_VAR, &symbol));
        symbol->index = i | PTX_VAR_LOCAL;
    }
    if (has_registers)
        ptx_function_at(parser, body->function)->parameter_registers = registers;
    return GPH_OK;
}

/* Exact copies in the module's arena; instructions and operands are there already. */
static gph_status keep_body(ptx_parser *parser)
{
    const ptx_body *body = &parser->body;
    ptx_function *function = ptx_function_at(parser, body->function);
    function->variables = ptx_vec_keep(parser, &body->variables, sizeof(ptx_variable));
    function->variable_count = body->variables.count;
    function->registers = ptx_vec_keep(parser, &body->registers, sizeof(ptx_register));
    function->register_count = body->registers.count;
    function->labels = ptx_vec_keep(parser, &body->labels, sizeof(ptx_label));
    function->label_count = body->labels.count;
    function->insns = body->insns.items;
    function->insn_count = body->insns.count;
    function->operands = body->operands.items;
    function->operand_count = body->operands.count;
    if (!function->variables || !function->registers || !function->labels)
        return ptx_fail_memory(parser);
    return GPH_OK;
}

/* The vectors of the body stay from function to function: only their counts go to zero. */
static gph_status parse_body(ptx_parser *parser, const function_head *head,
                             uint32_t index)
{
    ptx_body *body = &parser->body;
    body->function = index;
    body->variables.count = body->registers.count = body->labels.count = 0;
    body->targets.count = body->pending.count = 0;
    body->depth = 0;
    body->source_file = body->source_line = 0;
    parser->in_body = true;
    GPHI_TRY(enter_scope(parser)); /* of the parameters */
    GPHI_TRY(declare_parameters(parser, head));
    GPHI_TRY(reserve_body(parser));
    GPHI_TRY(enter_scope(parser));
    GPHI_TRY(ptx_next(parser));
    while (body->depth > 1)
        GPHI_TRY(parse_statement(parser));
    GPHI_TRY(leave_scope(parser));
    parser->in_body = false;
    return keep_body(parser);
}

gph_status ptx_parse_function(ptx_parser *parser, bool is_entry)
{
    function_head head = {.function.is_entry = is_entry};
    uint32_t index = 0;
    GPHI_TRY(ptx_next(parser));
    uint8_t is_managed = 0; /* said of variables alone */
    while (ptx_at_directive(parser) == PTX_DIR_ATTRIBUTE)
        GPHI_TRY(ptx_parse_attribute(parser, &is_managed));
    GPHI_TRY(parse_head(parser, &head, "the name of a function"));
    const bool is_definition = ptx_at(parser, '{');
    if (!is_definition && !ptx_at(parser, ';'))
        return ptx_fail_expected(parser, "'{' or ';'");
    GPHI_TRY(find_or_add(parser, &head, is_definition, &index));
    if (!is_definition)
        return ptx_next(parser);
    ptx_function *function = ptx_function_at(parser, index);
    head.function.is_noreturn |= function->is_noreturn;
    *function = head.function;
    GPHI_TRY(keep_signature(parser, &head, function)); /* it may call itself */
    return parse_body(parser, &head, index);
}
