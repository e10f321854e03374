// SPDX-License-Identifier: Apache-2.0
/* One instruction:
 *
 *   @!%p  atom.global.add.u32  %r1, [%rd2+8], {%r3, %r4};
 *   guard opcode, dotted words  operands
 *
 * A dotted word is a state space, a type or a modifier, whichever is free: `.b32` of a
 * mov is its type, `.cc` a modifier. An unknown one makes the instruction unsupported,
 * not the module invalid. Operands go to the function's flat list in the order written,
 * a vector as its head and then its elements. */
#include <string.h>

#include "softcuda/ptx/parse/parse.h"

/* The instruction that is being parsed. */
typedef struct reader {
    ptx_parser *parser;
    ptx_insn insn;
    ptx_insn_form form;
} reader;

/* ---- modifiers -------------------------------------------------------------------- */

static void add_modifier(ptx_insn *insn, uint8_t modifier)
{
    if (modifier == PTX_MOD_COUNT) /* known by name only */
        modifier = PTX_MOD_UNKNOWN;
    if (insn->mod_count < PTX_INSN_MODS_MAX)
        insn->mods[insn->mod_count++] = modifier;
    else
        insn->mods[PTX_INSN_MODS_MAX - 1] = PTX_MOD_UNKNOWN;
}

static void add_space(ptx_insn *insn, uint8_t space)
{
    if (insn->space == PTX_SPACE_GENERIC)
        insn->space = space;
    else if (insn->space2 == PTX_SPACE_GENERIC)
        insn->space2 = space;
    else
        add_modifier(insn, PTX_MOD_UNKNOWN);
}

/* .u33 and the like: written as types are, and none. */
static bool looks_like_type(const ptx_token *token)
{
    if (token->length < 2 || !strchr("usbf", token->text[0]))
        return false;
    for (uint32_t i = 1; i < token->length; i++)
        if (token->text[i] < '0' || token->text[i] > '9')
            return false;
    return true;
}

/* Opcodes of which this build executes not all forms: it need not know all their words. */
static const bool takes_any_modifier[PTX_OP_COUNT] = {
    [PTX_OP_UNKNOWN] = true,  [PTX_OP_CP] = true,       [PTX_OP_ISTYPEP] = true,
    [PTX_OP_LDMATRIX] = true, [PTX_OP_MMA] = true,      [PTX_OP_MOVMATRIX] = true,
    [PTX_OP_MULTIMEM] = true, [PTX_OP_STMATRIX] = true, [PTX_OP_SULD] = true,
    [PTX_OP_SURED] = true,    [PTX_OP_SUST] = true,     [PTX_OP_TEX] = true,
    [PTX_OP_TLD4] = true,     [PTX_OP_TXQ] = true,      [PTX_OP_WGMMA] = true,
    [PTX_OP_WMMA] = true,
};

static bool is_modifier(const ptx_word *word)
{
    return word && (word->modifier != PTX_MOD_UNKNOWN || word->type != PTX_NONE ||
                    word->space != PTX_SPACE_GENERIC);
}

static gph_status parse_modifiers(reader *r)
{
    ptx_parser *parser = r->parser;
    ptx_insn *insn = &r->insn;
    for (; parser->token.kind == PTX_TOKEN_DOT;) {
        const ptx_word *word = ptx_at_word(parser);
        if (!word && looks_like_type(&parser->token))
            return ptx_fail_at(parser, &parser->token,
                               "types are u, s, b 8 to 64, f16 to f64",
                               "%s is not a type", ptx_quote(&parser->token).text);
        if (!is_modifier(word) && !takes_any_modifier[insn->opcode])
            return ptx_fail_at(parser, &parser->token, NULL, "%s is not a PTX modifier",
                               ptx_quote(&parser->token).text);
        if (!word) {
            add_modifier(insn, PTX_MOD_UNKNOWN);
        } else if (word->space != PTX_SPACE_GENERIC) {
            add_space(insn, word->space);
            if (word->modifier != PTX_MOD_UNKNOWN) /* .shared::cluster */
                add_modifier(insn, word->modifier);
        } else if (word->type != PTX_NONE && insn->type_count < PTX_INSN_TYPES_MAX) {
            insn->types[insn->type_count++] = word->type;
            if (word->modifier != PTX_MOD_UNKNOWN) /* .u4 of cvt.pack */
                add_modifier(insn, word->modifier);
        } else {
            add_modifier(insn, word->type != PTX_NONE ? PTX_MOD_UNKNOWN : word->modifier);
        }
        GPHI_TRY(ptx_next(parser));
    }
    return GPH_OK;
}

/* ---- operands --------------------------------------------------------------------- */

/* By index, since adding an operand may move all of them. */
static ptx_operand *operand_at(reader *r, uint32_t index)
{
    return (ptx_operand *)r->parser->body.operands.items + index;
}

/* `out`, if not NULL, gets the operand's place in the function's list. */
static gph_status add_operand(reader *r, const ptx_token *where, ptx_operand_kind kind,
                              uint32_t index, uint32_t *out)
{
    ptx_parser *parser = r->parser;
    const uint32_t limit =
        PTX_OPERANDS_MAX + (r->insn.opcode == PTX_OP_BRX ? PTX_TARGETS_MAX : 0);
    if (r->insn.operand_count == limit)
        return ptx_fail_at(parser, where, NULL, "more than %u operands", limit);
    ptx_operand *operand =
        ptx_vec_add(parser->arena, &parser->body.operands, sizeof(*operand));
    if (!operand)
        return ptx_fail_memory(parser);
    operand->kind = (uint8_t)kind;
    operand->column = where->column;
    operand->index = index;
    r->insn.operand_count++;
    if (out)
        *out = parser->body.operands.count - 1;
    return GPH_OK;
}

static gph_status fail_undefined(ptx_parser *parser, const ptx_token *name)
{
    if (name->text[0] == '%')
        return ptx_fail_at(parser, name, "declare it with .reg",
                           "register %s is not defined", ptx_quote(name).text);
    return ptx_fail_at(parser, name, "declare it above, or import it with .extern",
                       "%s is not defined", ptx_quote(name).text);
}

static gph_status parse_literal(reader *r)
{
    const ptx_token where = r->parser->token;
    ptx_constant constant;
    uint32_t at;
    GPHI_TRY(ptx_parse_constant(r->parser, &constant));
    GPHI_TRY(add_operand(
        r, &where, constant.is_float ? PTX_OPERAND_FLOAT : PTX_OPERAND_INT, 0, &at));
    operand_at(r, at)->imm = (int64_t)constant.bits;
    operand_at(r, at)->single = constant.is_single;
    return GPH_OK;
}

/* A name that stands for no symbol: %tid.x, %clock64. */
static gph_status parse_sreg(reader *r, const ptx_token *name)
{
    ptx_parser *parser = r->parser;
    char text[64];
    if (name->length > 40)
        return fail_undefined(parser, name);
    size_t length = name->length;
    memcpy(text, name->text, length);
    if (parser->token.kind == PTX_TOKEN_DOT && parser->token.length == 1) {
        text[length++] = '.';
        text[length++] = parser->token.text[0];
    }
    const ptx_word *word =
        ptx_words_find(&parser->words, text, length, ptx_hash_word(text, length));
    if (!word || word->sreg == 0)
        return fail_undefined(parser, name);
    if (length > name->length)
        GPHI_TRY(ptx_next(parser));
    return add_operand(r, name, PTX_OPERAND_SREG,
                       word->sreg == PTX_SREG_COUNT ? PTX_SREG_UNKNOWN : word->sreg,
                       NULL);
}

/* Elements that a video instruction works on: 1, 2 or 4; 0: it is none. */
static uint32_t video_elements(ptx_opcode opcode)
{
    const char *name = ptx_opcode_name(opcode);
    if (name[0] != 'v' || opcode == PTX_OP_VOTE)
        return 0;
    const char last = name[strlen(name) - 1];
    return last == '2' ? 2 : last == '4' ? 4 : 1;
}

/* .h32 of two elements, .b7654 of four: digits in `imm`, the last in the lowest nibble.
 */
static bool read_digits(const ptx_token *token, uint32_t elements, int64_t *imm)
{
    const char letter = elements == 2 ? 'h' : 'b';
    const char top = elements == 2 ? '3' : '7';
    if (token->length < 2 || token->length > elements + 1 || token->text[0] != letter)
        return false;
    *imm = (int64_t)(token->length - 1) << 16;
    for (uint32_t i = 1; i < token->length; i++) {
        if (token->text[i] < '0' || token->text[i] > top)
            return false;
        *imm |= (int64_t)(token->text[i] - '0') << (4 * (token->length - 1 - i));
    }
    return true;
}

typedef struct selector {
    uint32_t lane;
    uint8_t select;
    int64_t digits;
} selector;

/* .x .y .z .w (or .r .g .b .a) of a vector register; .b0 ... .h1 of any other in a video
 * instruction. */
static gph_status parse_selector(reader *r, uint32_t width, selector *out)
{
    ptx_parser *parser = r->parser;
    const ptx_token *token = &parser->token;
    const ptx_word *word = ptx_at_word(parser);
    const uint32_t elements = video_elements((ptx_opcode)r->insn.opcode);
    if (width > 1 && token->length == 1 && strchr("xyzwrgba", token->text[0])) {
        const char *all = "xyzwrgba";
        out->lane = (uint32_t)(strchr(all, token->text[0]) - all) % 4;
        if (out->lane < width)
            return ptx_next(parser);
    } else if (width == 1 && elements > 1 && read_digits(token, elements, &out->digits)) {
        out->select = PTX_SELECT_DIGITS;
        return ptx_next(parser);
    } else if (width == 1 && elements == 1 && word &&
               (word->modifier == PTX_MOD_H0 || word->modifier == PTX_MOD_H1 ||
                (word->modifier >= PTX_MOD_B0 && word->modifier <= PTX_MOD_B3))) {
        out->select = word->modifier;
        return ptx_next(parser);
    }
    return ptx_fail_at(parser, token, NULL, "a register of %u element%s has no %s", width,
                       width == 1 ? "" : "s", ptx_quote(token).text);
}

/* The first vector of an instruction is the one whose size is checked. */
static void note_vector(reader *r, const ptx_token *where, uint32_t size)
{
    if (r->form.has_vector)
        return;
    r->form.has_vector = true;
    r->form.vector = *where;
    r->form.vector_size = size;
}

static gph_status parse_offset(reader *r, uint32_t operand)
{
    int64_t offset;
    if (!ptx_at(r->parser, '+') && !ptx_at(r->parser, '-'))
        return GPH_OK;
    GPHI_TRY(ptx_parse_int(r->parser, "an offset in bytes", &offset));
    operand_at(r, operand)->imm = offset;
    return GPH_OK;
}

/* A register, perhaps plus a number; a whole vector register becomes a vector. */
static gph_status parse_register_use(reader *r, const ptx_token *name,
                                     const ptx_symbol *symbol, uint32_t member)
{
    const uint32_t width = symbol->width;
    const uint32_t first = symbol->index + member * width;
    uint32_t at;
    selector part = {0};
    const bool is_selected = r->parser->token.kind == PTX_TOKEN_DOT;
    if (is_selected)
        GPHI_TRY(parse_selector(r, width, &part));
    if (width == 1 || is_selected) {
        GPHI_TRY(add_operand(r, name, PTX_OPERAND_REG, first + part.lane, &at));
        operand_at(r, at)->select = part.select;
        operand_at(r, at)->imm = part.digits;
        return is_selected ? GPH_OK : parse_offset(r, at);
    }
    note_vector(r, name, width);
    GPHI_TRY(add_operand(r, name, PTX_OPERAND_VECTOR, width, NULL));
    for (uint32_t lane = 0; lane < width; lane++)
        GPHI_TRY(add_operand(r, name, PTX_OPERAND_REG, first + lane, NULL));
    return GPH_OK;
}

static bool moves(uint16_t opcode)
{
    return opcode == PTX_OP_LD || opcode == PTX_OP_LDU || opcode == PTX_OP_ST ||
           opcode == PTX_OP_MOV;
}

/* s[3]: the address of an element; of loads and stores the place itself. */
static gph_status parse_element(reader *r, uint32_t at, uint32_t index)
{
    ptx_parser *parser = r->parser;
    const ptx_vec *all =
        index & PTX_VAR_LOCAL ? &parser->body.variables : &parser->variables;
    const ptx_variable *first = all->items, *variable = first + (index & ~PTX_VAR_LOCAL);
    int64_t element;
    GPHI_TRY(ptx_next(parser));
    GPHI_TRY(ptx_parse_int(parser, "the number of an element", &element));
    ptx_operand *operand = operand_at(r, at);
    operand->imm = element * (int64_t)ptx_type_bytes((ptx_type)variable->type);
    if (moves(r->insn.opcode) && r->insn.opcode != PTX_OP_MOV) {
        operand->kind = PTX_OPERAND_ADDRESS;
        operand->base = PTX_OPERAND_VAR;
    }
    return ptx_expect(parser, ']', "']'");
}

/* A register, special register, variable, function or `_`. */
static gph_status parse_name(reader *r)
{
    ptx_parser *parser = r->parser;
    const ptx_token name = parser->token;
    uint32_t member, at;
    if (ptx_is_word(&name, PTX_WARP_SIZE_NAME))
        return parse_literal(r);
    GPHI_TRY(ptx_next(parser));
    if (name.length == 1 && name.text[0] == '_')
        return add_operand(r, &name, PTX_OPERAND_SINK, 0, NULL);
    const ptx_symbol *symbol = ptx_symbol_find(parser, &name, &member);
    if (!symbol)
        return parse_sreg(r, &name);
    const uint32_t index = symbol->index;
    switch (symbol->kind) {
    case PTX_SYMBOL_REG:
    case PTX_SYMBOL_RANGE: return parse_register_use(r, &name, symbol, member);
    case PTX_SYMBOL_VAR:
        GPHI_TRY(add_operand(r, &name, PTX_OPERAND_VAR, index, &at));
        return ptx_at(parser, '[') ? parse_element(r, at, index) : parse_offset(r, at);
    case PTX_SYMBOL_FUNC: return add_operand(r, &name, PTX_OPERAND_FUNC, index, NULL);
    default: break;
    }
    return ptx_fail_at(parser, &name, NULL,
                       "%s is a label, expected a register, a variable or a number",
                       ptx_quote(&name).text);
}

static gph_status parse_predicate(reader *r, const ptx_token *name, uint32_t *out)
{
    ptx_parser *parser = r->parser;
    uint32_t member;
    if (name->kind != PTX_TOKEN_WORD)
        return ptx_fail_expected(parser, "a predicate register");
    const ptx_symbol *symbol = ptx_symbol_find(parser, name, &member);
    if (!symbol)
        return fail_undefined(parser, name);
    const ptx_register *registers = parser->body.registers.items;
    const bool is_reg =
        symbol->kind == PTX_SYMBOL_REG || symbol->kind == PTX_SYMBOL_RANGE;
    if (!is_reg || symbol->width > 1 || registers[symbol->index].type != PTX_PRED)
        return ptx_fail_at(parser, name, "declare it with .reg .pred",
                           "%s is not a predicate register", ptx_quote(name).text);
    *out = symbol->index + member;
    return GPH_OK;
}

/* !%p */
static gph_status parse_negated(reader *r)
{
    uint32_t at, index;
    GPHI_TRY(ptx_next(r->parser));
    const ptx_token name = r->parser->token;
    GPHI_TRY(parse_predicate(r, &name, &index));
    GPHI_TRY(add_operand(r, &name, PTX_OPERAND_REG, index, &at));
    operand_at(r, at)->negate = 1;
    return ptx_next(r->parser);
}

/* One element of a vector, or a scalar operand. */
static gph_status parse_scalar(reader *r)
{
    const ptx_token *token = &r->parser->token;
    if (token->kind == PTX_TOKEN_WORD)
        return parse_name(r);
    if (token->kind == PTX_TOKEN_INT || token->kind == PTX_TOKEN_FLOAT ||
        ptx_at(r->parser, '-') || ptx_at(r->parser, '+') || ptx_at(r->parser, '(') ||
        ptx_at(r->parser, '~'))
        return parse_literal(r);
    return ptx_fail_expected(r->parser, "an operand");
}

/* {a, b, ...}. Triton writes { %r1 } where it moves one element: the element itself. */
static gph_status parse_vector(reader *r)
{
    ptx_parser *parser = r->parser;
    const ptx_token where = parser->token;
    uint32_t at;
    bool more = true;
    GPHI_TRY(add_operand(r, &where, PTX_OPERAND_VECTOR, 0, &at));
    GPHI_TRY(ptx_next(parser));
    const uint32_t first = r->insn.operand_count;
    while (more) {
        const uint32_t element = r->insn.operand_count;
        const ptx_token name = parser->token;
        if (ptx_at(parser, '!'))
            GPHI_TRY(parse_negated(r));
        else
            GPHI_TRY(parse_scalar(r));
        if (r->insn.operand_count != element + 1)
            return ptx_fail_at(parser, &name, "name its elements: %v.x, %v.y ...",
                               "a vector register inside a vector");
        GPHI_TRY(ptx_accept(parser, ',', &more));
    }
    if (r->insn.operand_count == first + 1 && moves(r->insn.opcode)) {
        *operand_at(r, at) = *operand_at(r, at + 1);
        parser->body.operands.count--;
        r->insn.operand_count--;
        return ptx_expect(parser, '}', "',' or '}'");
    }
    operand_at(r, at)->index = r->insn.operand_count - first;
    note_vector(r, &where, r->insn.operand_count - first);
    return ptx_expect(parser, '}', "',' or '}'");
}

/* The base inside [ ]: a register, a variable, a function or a number. */
static gph_status parse_base(reader *r, const ptx_token *where, uint32_t *out)
{
    ptx_parser *parser = r->parser;
    const uint32_t first = r->insn.operand_count;
    *out = parser->body.operands.count;
    GPHI_TRY(parse_scalar(r));
    const ptx_operand_kind kind = operand_at(r, *out)->kind;
    if ((kind != PTX_OPERAND_REG && kind != PTX_OPERAND_VAR && kind != PTX_OPERAND_FUNC &&
         kind != PTX_OPERAND_INT) ||
        r->insn.operand_count != first + 1)
        return ptx_fail_at(
            parser, where, NULL,
            "%s cannot be an address, expected a register, a variable or a "
            "number",
            ptx_quote(where).text);
    operand_at(r, *out)->kind = PTX_OPERAND_ADDRESS;
    operand_at(r, *out)->base = (uint8_t)kind;
    return kind == PTX_OPERAND_REG ? parse_offset(r, *out) : GPH_OK;
}

/* [%rd1+8], [var], and [texture, sampler, {x, y}] */
static gph_status parse_address(reader *r)
{
    ptx_parser *parser = r->parser;
    uint32_t at;
    bool more;
    GPHI_TRY(ptx_next(parser));
    const ptx_token where = parser->token;
    GPHI_TRY(parse_base(r, &where, &at));
    GPHI_TRY(ptx_accept(parser, ',', &more));
    while (more) {
        GPHI_TRY(ptx_at(parser, '{') ? parse_vector(r) : parse_scalar(r));
        GPHI_TRY(ptx_accept(parser, ',', &more));
    }
    return ptx_expect(parser, ']', "']'");
}

/* After the first of a pair p|q. */
static gph_status parse_second(reader *r, uint32_t first)
{
    ptx_parser *parser = r->parser;
    const ptx_operand_kind kind = operand_at(r, first)->kind;
    if (kind != PTX_OPERAND_REG && kind != PTX_OPERAND_SINK)
        return ptx_fail_expected(parser, "',' or ';'");
    GPHI_TRY(ptx_next(parser));
    const ptx_token where = parser->token;
    const uint32_t second = parser->body.operands.count;
    if (where.kind != PTX_TOKEN_WORD)
        return ptx_fail_expected(parser, "a register or '_'");
    GPHI_TRY(parse_name(r));
    const ptx_operand_kind other = operand_at(r, second)->kind;
    if (other != PTX_OPERAND_REG && other != PTX_OPERAND_SINK)
        return ptx_fail_at(parser, &where, NULL, "%s is not a register",
                           ptx_quote(&where).text);
    operand_at(r, first)->pair = 1;
    return GPH_OK;
}

/* -%r of vmad: of nothing else. */
static gph_status parse_minus(reader *r)
{
    const uint32_t first = r->parser->body.operands.count;
    GPHI_TRY(ptx_next(r->parser));
    const ptx_token name = r->parser->token;
    if (name.kind != PTX_TOKEN_WORD)
        return ptx_fail_expected(r->parser, "a register after '-'");
    GPHI_TRY(parse_name(r));
    if (operand_at(r, first)->kind != PTX_OPERAND_REG)
        return ptx_fail_at(r->parser, &name, NULL, "%s is not a register",
                           ptx_quote(&name).text);
    operand_at(r, first)->negate = 1;
    return GPH_OK;
}

static gph_status parse_operand(reader *r)
{
    ptx_parser *parser = r->parser;
    const uint32_t first = parser->body.operands.count;
    r->form.count++;
    if (r->insn.opcode == PTX_OP_VMAD && ptx_at(parser, '-'))
        return parse_minus(r);
    if (ptx_at(parser, '['))
        return parse_address(r);
    if (ptx_at(parser, '!'))
        return parse_negated(r);
    const bool is_vector = ptx_at(parser, '{');
    GPHI_TRY(is_vector ? parse_vector(r) : parse_scalar(r));
    if (!ptx_at(parser, '|') || (is_vector && r->insn.opcode != PTX_OP_TEX))
        return GPH_OK;
    return parse_second(r, is_vector ? parser->body.operands.count - 1 : first);
}

/* ---- control flow ----------------------------------------------------------------- */

/* A label: perhaps one of this scope that is already known, else it waits. A label of an
 * outer scope waits too: an inner one may follow. */
static gph_status add_label(reader *r, const ptx_token *name)
{
    ptx_parser *parser = r->parser;
    uint32_t at;
    if (name->kind != PTX_TOKEN_WORD)
        return ptx_fail_expected(parser, "a label");
    GPHI_TRY(add_operand(r, name, PTX_OPERAND_LABEL, 0, &at));
    const ptx_symbol *symbol = ptx_symbol_find(parser, name, NULL);
    if (symbol && symbol->kind == PTX_SYMBOL_LABEL &&
        ptx_symbol_is_local(parser, symbol)) {
        operand_at(r, at)->index = symbol->index;
        return GPH_OK;
    }
    ptx_pending *pending =
        ptx_vec_add(parser->scratch, &parser->body.pending, sizeof(*pending));
    if (!pending)
        return ptx_fail_memory(parser);
    *pending = (ptx_pending){.name = *name, .operand = at};
    return GPH_OK;
}

/* bra L; the label may be further down. */
static gph_status parse_bra(reader *r)
{
    const ptx_token name = r->parser->token;
    r->form.count = 1;
    GPHI_TRY(add_label(r, &name));
    return ptx_next(r->parser);
}

/* brx.idx %r1, targets; */
static gph_status parse_brx(reader *r)
{
    ptx_parser *parser = r->parser;
    GPHI_TRY(parse_operand(r));
    GPHI_TRY(ptx_expect(parser, ',', "','"));
    const ptx_symbol *symbol = ptx_symbol_here(parser);
    if (!symbol || symbol->kind != PTX_SYMBOL_TARGETS)
        return ptx_fail_expected(parser, "the label of a .branchtargets further up");
    const uint32_t first = symbol->index, count = symbol->count;
    for (uint32_t i = 0; i < count; i++) {
        const ptx_token target =
            ((const ptx_token *)parser->body.targets.items)[first + i];
        GPHI_TRY(add_label(r, &target));
    }
    r->form.count = 2;
    return ptx_next(parser);
}

/* ( a, b ): arguments or results of a call. */
static gph_status parse_call_list(reader *r, uint16_t *count)
{
    ptx_parser *parser = r->parser;
    bool more = true;
    GPHI_TRY(ptx_next(parser));
    if (ptx_at(parser, ')'))
        return ptx_next(parser);
    while (more) {
        const uint32_t before = r->insn.operand_count;
        const ptx_token where = parser->token;
        GPHI_TRY(parse_scalar(r));
        if (r->insn.operand_count != before + 1)
            return ptx_fail_at(parser, &where, "pass it in .param space",
                               "a vector register as an argument");
        ++*count;
        GPHI_TRY(ptx_accept(parser, ',', &more));
    }
    return ptx_expect(parser, ')', "',' or ')'");
}

/* Counts only, as the linker compares them. A last parameter of no bytes (.param .b8 x[]) is variadic. */
static gph_status check_call(reader *r, const ptx_token *callee, uint32_t index)
{
    ptx_parser *parser = r->parser;
    const ptx_function *function = ptx_function_at(parser, index);
    const ptx_insn *insn = &r->insn;
    const uint32_t count = function->parameter_count;
    const bool is_open =
        count > 0 && function->variables && function->variables[count - 1].bytes == 0;
    if (insn->argument_count != count && !(is_open && insn->argument_count >= count - 1))
        return ptx_fail_at(parser, callee, NULL,
                           "the call passes %u arguments, %s takes %u",
                           insn->argument_count, ptx_quote(callee).text, count);
    if (insn->return_count != function->return_count)
        return ptx_fail_at(parser, callee, NULL, "the call takes %u results, %s gives %u",
                           insn->return_count, ptx_quote(callee).text,
                           function->return_count);
    return GPH_OK;
}

/* After the register of an indirect call and its arguments: the prototype. */
static gph_status parse_call_prototype(reader *r)
{
    ptx_parser *parser = r->parser;
    const ptx_token name = parser->token;
    const ptx_symbol *symbol = ptx_symbol_here(parser);
    if (!symbol ||
        (symbol->kind != PTX_SYMBOL_PROTOTYPE && symbol->kind != PTX_SYMBOL_CALLTARGETS))
        return ptx_fail_expected(
            parser, "the label of a .callprototype or .calltargets further up");
    const uint32_t index = symbol->index;
    GPHI_TRY(add_operand(r, &name, PTX_OPERAND_FUNC, index, NULL));
    GPHI_TRY(check_call(r, &name, index));
    return ptx_next(parser);
}

/* call (ret), f, (a, b);  call (ret), %rd1, (a), prototype; */
static gph_status parse_call(reader *r)
{
    ptx_parser *parser = r->parser;
    bool more;
    if (ptx_at(parser, '(')) {
        GPHI_TRY(parse_call_list(r, &r->insn.return_count));
        GPHI_TRY(ptx_expect(parser, ',', "','"));
    }
    const ptx_token callee = parser->token;
    const uint32_t at = parser->body.operands.count;
    if (callee.kind != PTX_TOKEN_WORD)
        return ptx_fail_expected(parser, "a function or a register");
    GPHI_TRY(parse_name(r));
    const ptx_operand_kind kind = operand_at(r, at)->kind;
    const uint32_t index = operand_at(r, at)->index;
    if ((kind != PTX_OPERAND_FUNC && kind != PTX_OPERAND_REG) ||
        parser->body.operands.count != at + 1)
        return ptx_fail_at(parser, &callee, NULL,
                           "%s cannot be called, expected a function or a register",
                           ptx_quote(&callee).text);
    GPHI_TRY(ptx_accept(parser, ',', &more));
    if (more && ptx_at(parser, '(')) {
        GPHI_TRY(parse_call_list(r, &r->insn.argument_count));
        GPHI_TRY(ptx_accept(parser, ',', &more));
    }
    if (kind == PTX_OPERAND_FUNC && !more)
        return check_call(r, &callee, index);
    if (!more)
        return ptx_fail_expected(parser, "',' and the label of a .callprototype");
    return parse_call_prototype(r);
}

/* ---- instructions ----------------------------------------------------------------- */

static gph_status parse_operands(reader *r)
{
    bool more = true;
    switch (r->insn.opcode) {
    case PTX_OP_BRA: return parse_bra(r);
    case PTX_OP_BRX: return parse_brx(r);
    case PTX_OP_CALL: return parse_call(r);
    default: break;
    }
    if (ptx_at(r->parser, ';'))
        return GPH_OK;
    while (more) {
        GPHI_TRY(parse_operand(r));
        GPHI_TRY(ptx_accept(r->parser, ',', &more));
    }
    return GPH_OK;
}

gph_status ptx_parse_insn(ptx_parser *parser, const ptx_insn_head *head)
{
    ptx_body *body = &parser->body;
    const ptx_token *opcode = &head->opcode;
    const ptx_word *word =
        ptx_words_find(&parser->words, opcode->text, opcode->length, opcode->hash);
    if (!word || word->opcode == PTX_OP_UNKNOWN)
        return ptx_fail_at(parser, opcode, NULL, "%s is not a PTX instruction",
                           ptx_quote(opcode).text);
    reader r = {
        .parser = parser,
        .insn = {.opcode = word->opcode == PTX_OP_COUNT ? PTX_OP_UNKNOWN : word->opcode,
                 .operand = body->operands.count,
                 .line = opcode->line,
                 .column = opcode->column,
                 .text = head->start,
                 .source_line = body->source_line,
                 .source_file = body->source_file}};
    if (head->is_guarded) {
        r.insn.guarded = 1;
        r.insn.guard_negate = head->guard_negate;
        GPHI_TRY(parse_predicate(&r, &head->guard, &r.insn.guard));
    }
    GPHI_TRY(parse_modifiers(&r));
    GPHI_TRY(parse_operands(&r));
    if (!ptx_at(parser, ';'))
        return ptx_fail_expected(parser, "',' or ';'");
    GPHI_TRY(ptx_check_insn(parser, &r.insn, opcode, &r.form));
    r.insn.text_bytes = parser->token.offset - head->start;
    GPHI_TRY(ptx_add_sums(parser, &r.insn, opcode));
    GPHI_TRY(ptx_add_insn(parser, &r.insn, opcode));
    return ptx_next(parser);
}
