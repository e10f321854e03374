// SPDX-License-Identifier: Apache-2.0
/* Declarations: variables of every state space, parameters, registers.
 *
 *   .global .align 16 .v4 .f32 name[4][3] = { ... }, other;
 *   .reg .pred %p<4>;  .reg .v2 .b32 %v;
 *
 * A vector register becomes as many registers as it has elements, named .x to .w; a range
 * as many as it says. A symbol holds the index of the first. */
#include <string.h>

#include "softcuda/ptx/parse/parse.h"

#define ALIGN_MAX (1u << 20)
#define BYTES_MAX ((uint64_t)1 << 40)

/* The part of a declaration in front of the names. */
typedef struct declaration {
    uint8_t space, type, width;
    uint8_t is_parameter; /* of a function: .ptr and names such as _ are allowed */
    uint32_t align;
    ptx_linkage linkage;
    uint8_t is_managed;
    uint8_t reference;
} declaration;

static gph_status parse_align(ptx_parser *parser, uint32_t *out)
{
    GPHI_TRY(ptx_next(parser));
    const ptx_token where = parser->token;
    GPHI_TRY(ptx_parse_u32(parser, "an alignment in bytes", out));
    if (*out == 0 || (*out & (*out - 1)) != 0 || *out > ALIGN_MAX)
        return ptx_fail_at(parser, &where, NULL,
                           "alignment %u is not a power of two up to %u", *out,
                           ALIGN_MAX);
    return GPH_OK;
}

/* With its dot or without, as the lexer has it. */
static bool is_word(const ptx_token *token, const char *word)
{
    const size_t skipped = token->length + 1 == strlen(word);
    return token->length + skipped == strlen(word) &&
           memcmp(token->text, word + skipped, token->length) == 0;
}

/* .attribute(.managed), .attribute(.unified(1, 2)); the second has no meaning here. */
gph_status ptx_parse_attribute(ptx_parser *parser, uint8_t *is_managed)
{
    GPHI_TRY(ptx_next(parser));
    GPHI_TRY(ptx_expect(parser, '(', "'('"));
    for (unsigned depth = 1; depth > 0;) {
        if (parser->token.kind == PTX_TOKEN_END)
            return ptx_fail_expected(parser, "')' at the end of the attribute");
        *is_managed |= is_word(&parser->token, ".managed");
        depth += ptx_at(parser, '(');
        depth -= ptx_at(parser, ')');
        GPHI_TRY(ptx_next(parser));
    }
    return GPH_OK;
}

static uint8_t reference_of(const ptx_token *token)
{
    return is_word(token, ".texref")    ? PTX_REFERENCE_TEXTURE
           : is_word(token, ".surfref") ? PTX_REFERENCE_SURFACE
                                        : PTX_REFERENCE_NONE;
}

static uint8_t width_of(const ptx_word *word)
{
    switch (word ? word->modifier : PTX_MOD_UNKNOWN) {
    case PTX_MOD_V2: return 2;
    case PTX_MOD_V4: return 4;
    case PTX_MOD_V8: return 8;
    default: return 0;
    }
}

/* .ptr .global .align 8: what a pointer parameter points at; of no use here. */
static gph_status skip_pointee(ptx_parser *parser)
{
    GPHI_TRY(ptx_next(parser));
    while (parser->token.kind == PTX_TOKEN_DOT) {
        uint32_t align;
        const ptx_word *word = ptx_at_word(parser);
        if (word && word->directive == PTX_DIR_ALIGN)
            GPHI_TRY(parse_align(parser, &align));
        else if (word && word->space != PTX_SPACE_GENERIC)
            GPHI_TRY(ptx_next(parser));
        else
            return ptx_fail_expected(parser, "a state space, .align or a name");
    }
    return GPH_OK;
}

/* Dotted words from the state space to the names. */
static gph_status parse_declaration(ptx_parser *parser, declaration *out)
{
    out->space = ptx_at_word(parser)->space; /* the caller looked at it */
    out->width = 1;
    GPHI_TRY(ptx_next(parser));
    while (parser->token.kind == PTX_TOKEN_DOT) {
        const ptx_word *word = ptx_at_word(parser);
        if (word && word->directive == PTX_DIR_ALIGN) {
            GPHI_TRY(parse_align(parser, &out->align));
        } else if (word && word->directive == PTX_DIR_ATTRIBUTE) {
            GPHI_TRY(ptx_parse_attribute(parser, &out->is_managed));
        } else if (word && word->directive == PTX_DIR_PTR && out->is_parameter &&
                   out->type != PTX_NONE) {
            GPHI_TRY(skip_pointee(parser));
        } else if (width_of(word) != 0) {
            out->width = width_of(word);
            GPHI_TRY(ptx_next(parser));
        } else if (word && word->type != PTX_NONE && out->type == PTX_NONE) {
            out->type = word->type;
            out->reference = reference_of(&parser->token);
            GPHI_TRY(ptx_next(parser));
        } else {
            return ptx_fail_expected(parser, out->type == PTX_NONE ? "a type such as .b32"
                                                                   : "a name");
        }
    }
    if (out->type == PTX_NONE)
        return ptx_fail_expected(parser, "a type such as .b32");
    return GPH_OK;
}

/* [4][3][]; *bytes is of one element before, of all afterwards (0 if one is open). */
static gph_status parse_dimensions(ptx_parser *parser, uint64_t *dimensions,
                                   uint32_t *count, uint64_t *bytes)
{
    while (ptx_at(parser, '[')) {
        const ptx_token where = parser->token;
        int64_t size = 0;
        GPHI_TRY(ptx_next(parser));
        if (!ptx_at(parser, ']'))
            GPHI_TRY(ptx_parse_int(parser, "a number of elements", &size));
        GPHI_TRY(ptx_expect(parser, ']', "']'"));
        if (*count == PTX_DIMENSIONS_MAX - 1)
            return ptx_fail_at(parser, &where, NULL, "more than %d dimensions",
                               PTX_DIMENSIONS_MAX - 1);
        if (size < 0 || (size == 0 && *count > 0))
            return ptx_fail_at(parser, &where, "only the first dimension may be open",
                               "a dimension of %lld elements", (long long)size);
        if (*bytes != 0 && (uint64_t)size > BYTES_MAX / *bytes)
            return ptx_fail_at(parser, &where, NULL, "an array of more than %llu bytes",
                               (unsigned long long)BYTES_MAX);
        *bytes *= (uint64_t)size;
        dimensions[(*count)++] = (uint64_t)size;
    }
    return GPH_OK;
}

/* One name of a declaration, with its dimensions and initializer. */
static gph_status parse_variable(ptx_parser *parser, const declaration *decl,
                                 ptx_token *name, ptx_variable *out)
{
    GPHI_TRY(ptx_take_word(parser, "a name", name));
    char *kept = ptx_keep_name(parser, name);
    if (!kept)
        return ptx_fail_memory(parser);
    const uint32_t element = ptx_type_bytes((ptx_type)decl->type);
    uint64_t bytes =
        element == 0 ? 8 : (uint64_t)element * decl->width; /* 8: a texture */
    *out = (ptx_variable){.name = kept,
                          .space = decl->space,
                          .type = decl->type,
                          .is_extern = decl->linkage.is_extern,
                          .is_visible = decl->linkage.is_visible,
                          .is_managed = decl->is_managed,
                          .reference = decl->reference,
                          .align = decl->align ? decl->align : (uint32_t)bytes,
                          .line = name->line};
    uint64_t dimensions[PTX_DIMENSIONS_MAX];
    uint32_t count = 0;
    GPHI_TRY(parse_dimensions(parser, dimensions, &count, &bytes));
    out->bytes = bytes;
    if (!ptx_at(parser, '='))
        return GPH_OK;
    if (decl->space != PTX_SPACE_GLOBAL && decl->space != PTX_SPACE_CONST)
        return ptx_fail_at(parser, &parser->token,
                           "only .global and .const start with values",
                           "%s takes no initializer", ptx_quote(name).text);
    if (decl->width > 1)
        dimensions[count++] = decl->width;
    GPHI_TRY(ptx_next(parser));
    return ptx_parse_initializer(parser, out, dimensions, count);
}

/* An .extern declaration of what is defined elsewhere in the module, or the other way
 * round: one variable, the definition wins. */
static bool merge(ptx_variable *old, const ptx_variable *fresh)
{
    if (old->space != fresh->space || (!old->is_extern && !fresh->is_extern))
        return false;
    const uint8_t is_visible = old->is_visible | fresh->is_visible;
    const uint8_t is_managed = old->is_managed | fresh->is_managed;
    if (old->is_extern)
        *old = *fresh;
    old->is_visible = is_visible;
    old->is_managed = is_managed;
    return true;
}

/* To the body's variables or the module's; at module level a second declaration of one
 * name is not an error if one of the two is .extern. */
static gph_status add_variable(ptx_parser *parser, const ptx_token *name,
                               const ptx_variable *variable)
{
    ptx_vec *vec = parser->in_body ? &parser->body.variables : &parser->variables;
    ptx_symbol *symbol = ptx_symbol_find(parser, name, NULL);
    if (symbol && !parser->in_body && symbol->kind == PTX_SYMBOL_VAR &&
        merge((ptx_variable *)vec->items + symbol->index, variable))
        return GPH_OK;
    GPHI_TRY(ptx_symbol_add(parser, name, PTX_SYMBOL_VAR, &symbol));
    symbol->index = vec->count | (parser->in_body ? PTX_VAR_LOCAL : 0);
    ptx_variable *kept = ptx_vec_add(parser->scratch, vec, sizeof(*kept));
    if (!kept)
        return ptx_fail_memory(parser);
    *kept = *variable;
    return GPH_OK;
}

gph_status ptx_parse_variables(ptx_parser *parser, ptx_linkage linkage)
{
    declaration decl = {.linkage = linkage};
    bool more = true;
    GPHI_TRY(parse_declaration(parser, &decl));
    while (more) {
        ptx_token name;
        ptx_variable variable;
        GPHI_TRY(parse_variable(parser, &decl, &name, &variable));
        GPHI_TRY(add_variable(parser, &name, &variable));
        GPHI_TRY(ptx_accept(parser, ',', &more));
    }
    return ptx_expect(parser, ';', "';'");
}

/* ---- parameters ------------------------------------------------------------------- */

gph_status ptx_parse_parameters(ptx_parser *parser, ptx_vec *out)
{
    bool more = true;
    GPHI_TRY(ptx_next(parser));
    if (ptx_at(parser, ')'))
        return ptx_next(parser);
    while (more) {
        const ptx_directive directive = ptx_at_directive(parser);
        if (directive != PTX_DIR_PARAM && directive != PTX_DIR_REG)
            return ptx_fail_expected(parser, "a parameter such as .param .b64 name");
        declaration decl = {.is_parameter = 1};
        GPHI_TRY(parse_declaration(parser, &decl));
        if (directive == PTX_DIR_REG && decl.width > 1)
            return ptx_fail_at(parser, &parser->token, "pass it in .param space",
                               "a vector register as a parameter");
        ptx_parameter *parameter = ptx_vec_add(parser->scratch, out, sizeof(*parameter));
        if (!parameter)
            return ptx_fail_memory(parser);
        GPHI_TRY(parse_variable(parser, &decl, &parameter->name, &parameter->variable));
        GPHI_TRY(ptx_accept(parser, ',', &more));
    }
    return ptx_expect(parser, ')', "',' or ')'");
}

/* ---- registers -------------------------------------------------------------------- */

/* A register of the body. Its name is `name`, then `number` unless that is negative, then
 * `lane` (".x") of a vector register. */
static gph_status push_register(ptx_parser *parser, const ptx_token *name, int64_t number,
                                const char *lane, ptx_type type)
{
    char digits[24];
    size_t at = sizeof(digits);
    for (int64_t rest = number; rest >= 0; rest = rest < 10 ? -1 : rest / 10)
        digits[--at] = (char)('0' + rest % 10);
    const size_t digit_count = sizeof(digits) - at, lane_bytes = strlen(lane);
    if (parser->body.registers.count == PTX_REGISTERS_MAX)
        return ptx_fail_at(parser, name, NULL, "more than %u registers in a function",
                           PTX_REGISTERS_MAX);
    char *text =
        ptx_arena_room(parser->arena, name->length + digit_count + lane_bytes + 1);
    ptx_register *reg =
        ptx_vec_add(parser->scratch, &parser->body.registers, sizeof(*reg));
    if (!reg || !text)
        return ptx_fail_memory(parser);
    memcpy(text, name->text, name->length);
    memcpy(text + name->length, digits + at, digit_count);
    memcpy(text + name->length + digit_count, lane, lane_bytes + 1);
    *reg = (ptx_register){.name = text, .type = type};
    return GPH_OK;
}

static gph_status push_registers(ptx_parser *parser, const ptx_token *name,
                                 int64_t number, const declaration *decl)
{
    static const char *const lanes[] = {".x", ".y", ".z", ".w"};
    if (decl->width == 1)
        return push_register(parser, name, number, "", (ptx_type)decl->type);
    for (unsigned lane = 0; lane < decl->width; lane++)
        GPHI_TRY(push_register(parser, name, number, lanes[lane], (ptx_type)decl->type));
    return GPH_OK;
}

gph_status ptx_add_register(ptx_parser *parser, const ptx_token *name, ptx_type type,
                            uint32_t *out)
{
    ptx_symbol *symbol;
    GPHI_TRY(ptx_symbol_add(parser, name, PTX_SYMBOL_REG, &symbol));
    *out = symbol->index = parser->body.registers.count;
    return push_register(parser, name, -1, "", type);
}

/* %r, or %r<10> */
static gph_status parse_register(ptx_parser *parser, const declaration *decl)
{
    const ptx_token name = parser->token;
    bool is_range;
    uint32_t count = 1;
    ptx_symbol *symbol;
    if (name.kind != PTX_TOKEN_WORD || name.length > 512)
        return ptx_fail_expected(parser, "the name of a register");
    GPHI_TRY(ptx_next(parser));
    const ptx_token where = parser->token;
    GPHI_TRY(ptx_accept(parser, '<', &is_range));
    if (is_range) {
        GPHI_TRY(ptx_parse_u32(parser, "a number of registers", &count));
        GPHI_TRY(ptx_expect(parser, '>', "'>'"));
        if (count > PTX_REGISTERS_MAX)
            return ptx_fail_at(parser, &where, NULL,
                               "%u registers are above the limit %u", count,
                               PTX_REGISTERS_MAX);
    }
    GPHI_TRY(ptx_symbol_add(parser, &name, is_range ? PTX_SYMBOL_RANGE : PTX_SYMBOL_REG,
                            &symbol));
    symbol->index = parser->body.registers.count;
    symbol->count = count;
    symbol->width = decl->width;
    for (uint32_t i = 0; i < count; i++)
        GPHI_TRY(push_registers(parser, &name, is_range ? (int64_t)i : -1, decl));
    return GPH_OK;
}

gph_status ptx_parse_registers(ptx_parser *parser)
{
    declaration decl = {0};
    bool more = true;
    GPHI_TRY(parse_declaration(parser, &decl));
    if (decl.width > 4 || decl.type >= PTX_TYPE_OTHER)
        return ptx_fail_at(parser, &parser->token, NULL,
                           "a register cannot have the type in front");
    while (more) {
        GPHI_TRY(parse_register(parser, &decl));
        GPHI_TRY(ptx_accept(parser, ',', &more));
    }
    return ptx_expect(parser, ';', "',' or ';'");
}
