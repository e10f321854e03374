// SPDX-License-Identifier: Apache-2.0
/* Constant expressions and initializers.
 *
 *   expression   an operator-precedence parser with explicit stacks: values, operators;
 *                a parenthesis is an operator that nothing but its partner takes off
 *   initializer  { {1, 2}, {3} }: `place` by dimension; what braces leave out stays zero
 *   address      name, name+4, generic(name), 0xff00(name): a relocation, since where
 *                the symbol lies is known only when the module is bound
 *
 * Neither recurses: depth of input is not depth of the stack. */
#include <string.h>

#include "softcuda/ptx/parse/parse.h"

/* ---- constants -------------------------------------------------------------------- */

#define NESTING_MAX 32 /* operators and parentheses waiting */

/* clang-format off */
/* Operators with their precedence, that of C (PTX ISA, 4.5.4). One that is the beginning
 * of another may be anywhere: binary_at() takes the longer one. The unary ones are the
 * last four. */
#define OPERATORS(X)                                                                     \
    X(OP_OR_ELSE, "||", 1) X(OP_AND_ALSO, "&&", 2) X(OP_OR, "|", 3) X(OP_XOR, "^", 4)    \
    X(OP_AND, "&", 5) X(OP_EQ, "==", 6) X(OP_NE, "!=", 6) X(OP_LT, "<", 7)               \
    X(OP_LE, "<=", 7) X(OP_GT, ">", 7) X(OP_GE, ">=", 7) X(OP_SHL, "<<", 8)              \
    X(OP_SHR, ">>", 8) X(OP_ADD, "+", 9) X(OP_SUB, "-", 9) X(OP_MUL, "*", 10)            \
    X(OP_DIV, "/", 10) X(OP_REM, "%", 10)                                                \
    X(OP_PLUS, "+", 11) X(OP_MINUS, "-", 11) X(OP_NOT, "!", 11) X(OP_INVERT, "~", 11)
/* clang-format on */

enum {
    OP_NONE,
    OP_OPEN, /* a parenthesis: precedence 0 */
#define X(name, text, precedence) name,
    OPERATORS(X)
#undef X
};

static const struct {
    char text[3];
    uint8_t precedence;
} operators[] = {
#define X(name, text, precedence) [name] = {text, precedence},
    OPERATORS(X)
#undef X
};

typedef struct expression {
    int64_t values[NESTING_MAX + 1];
    uint8_t operators[NESTING_MAX];
    unsigned value_count, operator_count, open_count;
} expression;

/* The binary operator at the current token; *is_double if it is two bytes long. */
static unsigned binary_at(const ptx_parser *parser, bool *is_double)
{
    const char first = parser->token.kind == PTX_TOKEN_PUNCT ? parser->token.punct : '\0';
    const char second = parser->lexer.at < parser->lexer.end ? *parser->lexer.at : '\0';
    unsigned found = OP_NONE;
    *is_double = false;
    for (unsigned op = OP_OR_ELSE; op < OP_PLUS && !*is_double; op++) {
        const char *text = operators[op].text;
        if (text[0] != first || (text[1] != '\0' && text[1] != second))
            continue;
        found = op;
        *is_double = text[1] != '\0';
    }
    return found;
}

static unsigned unary_at(const ptx_parser *parser)
{
    for (unsigned op = OP_PLUS; op <= OP_INVERT; op++)
        if (ptx_at(parser, operators[op].text[0]))
            return op;
    return OP_NONE;
}

static int64_t combine(unsigned op, int64_t a, int64_t b)
{
    const uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (op) {
    case OP_OR_ELSE: return a || b;
    case OP_AND_ALSO: return a && b;
    case OP_OR: return a | b;
    case OP_XOR: return a ^ b;
    case OP_AND: return a & b;
    case OP_EQ: return a == b;
    case OP_NE: return a != b;
    case OP_LT: return a < b;
    case OP_LE: return a <= b;
    case OP_GT: return a > b;
    case OP_GE: return a >= b;
    case OP_SHL: return y > 63 ? 0 : (int64_t)(x << y);
    case OP_SHR: return a >> (y > 63 ? 63 : y);
    case OP_ADD: return (int64_t)(x + y);
    case OP_SUB: return (int64_t)(x - y);
    case OP_MUL: return (int64_t)(x * y);
    case OP_DIV: return b == -1 ? (int64_t)(0 - x) : a / b;
    default: return b == -1 ? 0 : a % b;
    }
}

/* Applies the operators on the stack that bind at least as tightly as `least`. */
static gph_status reduce(ptx_parser *parser, expression *e, unsigned least)
{
    while (e->operator_count > 0 &&
           operators[e->operators[e->operator_count - 1]].precedence >= least) {
        const unsigned op = e->operators[--e->operator_count];
        int64_t *top = &e->values[e->value_count - 1];
        if (op >= OP_PLUS) {
            const int64_t x = *top;
            *top = op == OP_MINUS    ? (int64_t)(0 - (uint64_t)x)
                   : op == OP_NOT    ? !x
                   : op == OP_INVERT ? ~x
                                     : x;
            continue;
        }
        if ((op == OP_DIV || op == OP_REM) && *top == 0)
            return ptx_fail_at(parser, &parser->token, NULL,
                               "the constant in front divides by 0");
        top[-1] = combine(op, top[-1], *top);
        e->value_count--;
    }
    return GPH_OK;
}

/* NESTING_MAX operators and parentheses may wait at once. */
static gph_status push(ptx_parser *parser, expression *e, unsigned op)
{
    if (e->operator_count == NESTING_MAX)
        return ptx_fail_at(parser, &parser->token, NULL,
                           "a constant with more than %d operators open", NESTING_MAX);
    e->operators[e->operator_count++] = (uint8_t)op;
    e->open_count += op == OP_OPEN;
    return ptx_next(parser);
}

/* One operand with the unary operators and parentheses in front of it. */
static gph_status parse_term(ptx_parser *parser, expression *e, ptx_constant *out)
{
    for (;;) {
        const ptx_token *token = &parser->token;
        const unsigned unary = unary_at(parser);
        if (unary != OP_NONE) {
            GPHI_TRY(push(parser, e, unary));
        } else if (ptx_at(parser, '(')) {
            GPHI_TRY(push(parser, e, OP_OPEN));
            const ptx_word *word =
                token->kind == PTX_TOKEN_DOT ? ptx_at_word(parser) : NULL;
            if (word && (word->type == PTX_S64 || word->type == PTX_U64)) {
                GPHI_TRY(ptx_next(parser)); /* a cast; all values have 64 bits */
                GPHI_TRY(ptx_expect(parser, ')', "')'"));
                e->operator_count--;
                e->open_count--;
            }
        } else if (token->kind == PTX_TOKEN_FLOAT && e->value_count == 0 &&
                   e->open_count == 0) {
            out->is_float = true;
            out->is_single = token->is_single;
            out->bits = token->value;
            return ptx_next(parser);
        } else if (token->kind == PTX_TOKEN_INT) {
            e->values[e->value_count++] = (int64_t)token->value;
            return ptx_next(parser);
        } else if (ptx_is_word(token, PTX_WARP_SIZE_NAME)) {
            e->values[e->value_count++] = 32;
            return ptx_next(parser);
        } else {
            return ptx_fail_expected(parser, "a constant");
        }
    }
}

/* Only signs may precede a float. */
static gph_status finish_float(ptx_parser *parser, const expression *e, ptx_constant *out)
{
    for (unsigned i = 0; i < e->operator_count; i++) {
        if (e->operators[i] != OP_MINUS && e->operators[i] != OP_PLUS)
            return ptx_fail_at(parser, &parser->token, NULL,
                               "the floating-point literal in front has an operator that "
                               "takes integers");
        if (e->operators[i] == OP_MINUS)
            out->bits ^= out->is_single ? (uint64_t)1 << 31 : (uint64_t)1 << 63;
    }
    return GPH_OK;
}

gph_status ptx_parse_constant(ptx_parser *parser, ptx_constant *out)
{
    expression e;
    e.value_count = e.operator_count = e.open_count = 0;
    *out = (ptx_constant){0};
    for (;;) {
        bool is_double;
        GPHI_TRY(parse_term(parser, &e, out));
        if (out->is_float)
            return finish_float(parser, &e, out);
        while (e.open_count > 0 && ptx_at(parser, ')')) {
            GPHI_TRY(reduce(parser, &e, 1));
            e.operator_count--;
            e.open_count--;
            GPHI_TRY(ptx_next(parser));
        }
        const unsigned op = binary_at(parser, &is_double);
        if (op == OP_NONE)
            break;
        GPHI_TRY(reduce(parser, &e, operators[op].precedence));
        if (is_double)
            GPHI_TRY(ptx_next(parser));
        GPHI_TRY(push(parser, &e, op));
    }
    if (e.open_count > 0)
        return ptx_fail_expected(parser, "')'");
    GPHI_TRY(reduce(parser, &e, 1));
    out->bits = (uint64_t)e.values[0];
    return GPH_OK;
}

gph_status ptx_parse_int(ptx_parser *parser, const char *expected, int64_t *out)
{
    const ptx_token where = parser->token;
    ptx_constant constant;
    if (where.kind == PTX_TOKEN_WORD || where.kind == PTX_TOKEN_DOT ||
        where.kind == PTX_TOKEN_FLOAT || where.kind == PTX_TOKEN_END)
        return ptx_fail_expected(parser, expected);
    GPHI_TRY(ptx_parse_constant(parser, &constant));
    if (constant.is_float)
        return ptx_fail_at(parser, &where, NULL,
                           "found a floating-point number, expected %s", expected);
    *out = (int64_t)constant.bits;
    return GPH_OK;
}

/* A plain number: no operator may follow, since %r<10> ends with one. */
gph_status ptx_parse_u32(ptx_parser *parser, const char *expected, uint32_t *out)
{
    if (parser->token.kind != PTX_TOKEN_INT)
        return ptx_fail_expected(parser, expected);
    if (parser->token.value > UINT32_MAX)
        return ptx_fail_at(parser, &parser->token, NULL, "%s is too large for %s",
                           ptx_quote(&parser->token).text, expected);
    *out = (uint32_t)parser->token.value;
    return ptx_next(parser);
}

/* ---- initializers ----------------------------------------------------------------- */

typedef struct initializer {
    const ptx_variable *variable;
    uint32_t element_bytes;
    uint64_t
        sizes[PTX_DIMENSIONS_MAX + 1]; /* elements of one {} at each depth; 0: open */
    uint64_t starts[PTX_DIMENSIONS_MAX + 1];
    uint32_t depth, depth_max;
    uint64_t at;   /* the next element */
    ptx_vec bytes; /* all elements so far */
    ptx_vec relocations;
} initializer;

static double double_of(const ptx_constant *constant)
{
    const uint32_t bits = (uint32_t)constant->bits;
    float single;
    double value;
    memcpy(&single, &bits, sizeof(single));
    memcpy(&value, &constant->bits, sizeof(value));
    return !constant->is_float   ? (double)(int64_t)constant->bits
           : constant->is_single ? (double)single
                                 : value;
}

static uint64_t float_bits(double value)
{
    const float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof(bits));
    return bits;
}

/* The bits that an element of that type gets. False: no such conversion. */
static bool element_bits(ptx_type type, const ptx_constant *constant, uint64_t *out)
{
    *out = constant->bits;
    if (!constant->is_float && type != PTX_F32 && type != PTX_F64)
        return true;
    if (constant->is_single && (type == PTX_F32 || type == PTX_B32))
        return true;
    const double value = double_of(constant);
    switch (type) {
    case PTX_F32:
    case PTX_B32: *out = float_bits(value); return true;
    case PTX_F64:
    case PTX_B64: memcpy(out, &value, sizeof(value)); return true;
    default: return false;
    }
}

/* Room for element `at`; NULL without memory. */
static unsigned char *element_room(ptx_parser *parser, initializer *init)
{
    const uint64_t end = (init->at + 1) * init->element_bytes;
    if (end > UINT32_MAX / 2)
        return NULL;
    if (end > init->bytes.capacity) {
        const size_t capacity = end < 64 ? 128 : (size_t)end * 2;
        unsigned char *bytes = ptx_arena_alloc(parser->scratch, capacity, 1);
        if (!bytes)
            return NULL;
        if (init->bytes.count > 0)
            memcpy(bytes, init->bytes.items, init->bytes.count);
        init->bytes.items = bytes;
        init->bytes.capacity = (uint32_t)capacity;
    }
    if (init->bytes.count < end)
        init->bytes.count = (uint32_t)end;
    return (unsigned char *)init->bytes.items + end - init->element_bytes;
}

/* name, name+4, generic(name)+4 */
static gph_status parse_symbol_address(ptx_parser *parser, ptx_relocation *relocation,
                                       ptx_token *name)
{
    bool is_generic = false;
    GPHI_TRY(
        ptx_take_word(parser, "a number or the name of a variable or function", name));
    if (ptx_is_word(name, "generic"))
        GPHI_TRY(ptx_accept(parser, '(', &is_generic));
    relocation->is_generic = is_generic;
    for (bool closed = !is_generic;; closed = true) {
        if (!closed)
            GPHI_TRY(ptx_take_word(parser, "the name of a variable or function", name));
        if (ptx_at(parser, '+') || ptx_at(parser, '-')) {
            int64_t offset;
            GPHI_TRY(ptx_parse_int(parser, "an offset in bytes", &offset));
            relocation->addend =
                (int64_t)((uint64_t)relocation->addend + (uint64_t)offset);
        }
        if (closed)
            return GPH_OK;
        GPHI_TRY(ptx_expect(parser, ')', "')'"));
    }
}

static gph_status add_address(ptx_parser *parser, initializer *init, uint64_t mask)
{
    const ptx_token where = parser->token;
    ptx_relocation relocation = {.offset = init->at * init->element_bytes,
                                 .bytes = init->element_bytes};
    ptx_token name;
    GPHI_TRY(parse_symbol_address(parser, &relocation, &name));
    if (mask != 0) {
        while ((mask & 0xff) == 0) {
            mask >>= 8;
            relocation.shift = (uint8_t)(relocation.shift + 8);
        }
        relocation.bytes = 1;
        if (mask != 0xff)
            return ptx_fail_at(parser, &where, "masks are 0xFF, 0xFF00, 0xFF0000 ...",
                               "the mask of this address is not one byte of it");
        GPHI_TRY(ptx_expect(parser, ')', "')'"));
    } else if (init->element_bytes < 4) {
        return ptx_fail_at(parser, &where, "use .u64, or masks such as 0xFF(name)",
                           "an address does not fit in .%s",
                           ptx_type_name((ptx_type)init->variable->type));
    }
    ptx_relocation *kept =
        ptx_vec_add(parser->scratch, &init->relocations, sizeof(relocation));
    ptx_pending_address *pending =
        ptx_vec_add(parser->scratch, &parser->addresses, sizeof(*pending));
    if (!kept || !pending || !element_room(parser, init))
        return ptx_fail_memory(parser);
    *kept = relocation;
    pending->name = name;
    return GPH_OK;
}

static gph_status parse_element(ptx_parser *parser, initializer *init)
{
    const ptx_token where = parser->token;
    if (where.kind == PTX_TOKEN_WORD && !ptx_is_word(&where, PTX_WARP_SIZE_NAME))
        return add_address(parser, init, 0);
    ptx_constant constant;
    GPHI_TRY(ptx_parse_constant(parser, &constant));
    bool is_mask = false;
    if (!constant.is_float && constant.bits != 0)
        GPHI_TRY(ptx_accept(parser, '(', &is_mask));
    if (is_mask)
        return add_address(parser, init, constant.bits);
    uint64_t bits;
    if (!element_bits((ptx_type)init->variable->type, &constant, &bits))
        return ptx_fail_at(parser, &where, "write its bits as an integer",
                           "a floating-point literal cannot initialize .%s",
                           ptx_type_name((ptx_type)init->variable->type));
    unsigned char *room = element_room(parser, init);
    if (!room)
        return ptx_fail_memory(parser);
    const uint32_t bytes = init->element_bytes < 8 ? init->element_bytes : 8;
    for (uint32_t i = 0; i < bytes; i++)
        room[i] = (unsigned char)(bits >> (8 * i));
    return GPH_OK;
}

static gph_status check_room(ptx_parser *parser, const initializer *init)
{
    /* The innermost {} that is open, or the whole of a scalar. */
    const uint32_t depth = init->depth > 0 ? init->depth - 1 : 0;
    const uint64_t size = init->sizes[depth];
    const uint64_t start = init->depth > 0 ? init->starts[depth] : 0;
    if (size != 0 && init->at - start >= size)
        return ptx_fail_at(parser, &parser->token, NULL,
                           "the initializer of %s has more than %llu elements here",
                           init->variable->name, (unsigned long long)size);
    return GPH_OK;
}

static gph_status open_brace(ptx_parser *parser, initializer *init)
{
    if (init->depth == init->depth_max)
        return ptx_fail_at(parser, &parser->token, NULL,
                           "'{' nests deeper than the %u dimensions of %s",
                           init->depth_max, init->variable->name);
    if (init->depth > 0)
        GPHI_TRY(check_room(parser, init));
    init->starts[init->depth++] = init->at;
    return ptx_next(parser);
}

/* Takes the closing braces and the comma after an element. *done: the last is closed. */
static gph_status close_braces(ptx_parser *parser, initializer *init, bool *done)
{
    *done = init->depth == 0;
    while (!*done && ptx_at(parser, '}')) {
        const uint64_t size = init->sizes[--init->depth];
        if (size != 0)
            init->at = init->starts[init->depth] + size;
        *done = init->depth == 0;
        GPHI_TRY(ptx_next(parser));
    }
    if (*done)
        return GPH_OK;
    return ptx_expect(parser, ',', "',' or '}'");
}

static gph_status parse_elements(ptx_parser *parser, initializer *init)
{
    for (bool done = false; !done;) {
        while (ptx_at(parser, '{'))
            GPHI_TRY(open_brace(parser, init));
        if (!ptx_at(parser, '}')) { /* {} alone is empty */
            GPHI_TRY(check_room(parser, init));
            GPHI_TRY(parse_element(parser, init));
            init->at++;
        } else if (init->depth == 0) {
            return ptx_fail_expected(parser, "a value");
        }
        GPHI_TRY(close_braces(parser, init, &done));
    }
    return GPH_OK;
}

/* Copies what was read to the module, and gives the addresses where they went. */
static gph_status keep_initializer(ptx_parser *parser, initializer *init,
                                   ptx_variable *variable, uint32_t first_address)
{
    unsigned char *bytes = ptx_arena_alloc(parser->arena, variable->bytes, 1);
    ptx_relocation *relocations =
        ptx_vec_keep(parser, &init->relocations, sizeof(*relocations));
    if (!bytes || !relocations)
        return ptx_fail_memory(parser);
    if (init->bytes.count > 0)
        memcpy(bytes, init->bytes.items, init->bytes.count);
    ptx_pending_address *pending = parser->addresses.items;
    for (uint32_t i = 0; i < init->relocations.count; i++)
        pending[first_address + i].relocation = &relocations[i];
    variable->init = bytes;
    variable->relocations = relocations;
    variable->relocation_count = init->relocations.count;
    return GPH_OK;
}

gph_status ptx_parse_initializer(ptx_parser *parser, ptx_variable *variable,
                                 uint64_t *dimensions, uint32_t dimension_count)
{
    const uint32_t first_address = parser->addresses.count;
    initializer init = {.variable = variable,
                        .element_bytes = ptx_type_bytes((ptx_type)variable->type),
                        .depth_max = dimension_count > 0 ? dimension_count : 1};
    if (init.element_bytes == 0)
        return ptx_fail_at(parser, &parser->token, NULL,
                           "%s has a type that takes no initializer", variable->name);
    uint64_t size = 1;
    init.sizes[0] = 1; /* of a scalar */
    for (uint32_t i = dimension_count; i-- > 0;)
        init.sizes[i] = size *= dimensions[i];
    GPHI_TRY(parse_elements(parser, &init));
    if (dimension_count > 0 && dimensions[0] == 0) {
        const uint64_t row = dimension_count > 1 ? init.sizes[1] : 1;
        dimensions[0] = (init.at + row - 1) / row;
        variable->bytes = dimensions[0] * row * init.element_bytes;
    }
    return keep_initializer(parser, &init, variable, first_address);
}

gph_status ptx_resolve_addresses(ptx_parser *parser)
{
    ptx_pending_address *pending = parser->addresses.items;
    for (uint32_t i = 0; i < parser->addresses.count; i++) {
        const ptx_symbol *symbol = ptx_symbol_find(parser, &pending[i].name, NULL);
        if (!symbol)
            return ptx_fail_at(parser, &pending[i].name,
                               "declare it as a variable or a function",
                               "%s is not defined", ptx_quote(&pending[i].name).text);
        pending[i].relocation->is_function = symbol->kind == PTX_SYMBOL_FUNC;
        pending[i].relocation->index = symbol->index;
    }
    return GPH_OK;
}
