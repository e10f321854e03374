// SPDX-License-Identifier: Apache-2.0
/* Where the parser is: the current token, errors at it, and the arrays that grow
 * while it moves on. The bottom of the parser: every other file of it uses this one. */
#include "softcuda/ptx/parse/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- errors ------------------------------------------------------------------------ */

/* By value, so that one message can hold two of them. Tokens point into text of any
 * origin: what is not printable ASCII is escaped, and long ones are cut. */
ptx_quoted ptx_quote(const ptx_token *token)
{
    ptx_quoted out;
    if (token->kind == PTX_TOKEN_END) {
        snprintf(out.text, sizeof(out.text), "the end of the text");
        return out;
    }
    const bool is_dot = token->kind == PTX_TOKEN_DOT;
    const bool is_string = token->kind == PTX_TOKEN_STRING;
    size_t at = 0;
    out.text[at++] = '\'';
    if (is_dot || is_string)
        out.text[at++] = is_dot ? '.' : '"';
    for (uint32_t i = 0; i < token->length; i++) {
        if (at > 48) {
            memcpy(out.text + at, "...", 3);
            at += 3;
            break;
        }
        const unsigned char c = (unsigned char)token->text[i];
        if (c >= ' ' && c < 127)
            out.text[at++] = (char)c;
        else
            at += (size_t)snprintf(out.text + at, 5, "\\x%02x", c);
    }
    if (is_string)
        out.text[at++] = '"';
    out.text[at++] = '\'';
    out.text[at] = '\0';
    return out;
}

void ptx_set_hint(gph_error *error, const char *hint)
{
    if (error && hint)
        snprintf(error->hint, sizeof(error->hint), "%s", hint);
}

gph_status ptx_fail_at(ptx_parser *parser, const ptx_token *where, const char *hint,
                       const char *format, ...)
{
    char message[400];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    const gph_status status =
        gphi_fail(parser->error, PTX_E_INVALID, "line %u, column %u: %s", where->line,
                  where->column, message);
    ptx_set_hint(parser->error, hint);
    return status;
}

gph_status ptx_fail_expected(ptx_parser *parser, const char *expected)
{
    return ptx_fail_at(parser, &parser->token, NULL, "found %s, expected %s",
                       ptx_quote(&parser->token).text, expected);
}

/* Which of the two it was: a text that declares more than its size allows is invalid, an
 * allocator that refuses is out of memory. */
gph_status ptx_fail_memory(ptx_parser *parser)
{
    const size_t bytes = (size_t)(parser->lexer.end - parser->lexer.text);
    if (ptx_arena_is_full(parser->arena) || ptx_arena_is_full(parser->scratch))
        return ptx_fail_at(parser, &parser->token,
                           "large initializers and register ranges take the most",
                           "%zu bytes of PTX declare more than %zu bytes of module",
                           bytes, PTX_MEMORY_BYTES_MIN + bytes * PTX_MEMORY_FACTOR);
    return gphi_fail(parser->error, GPH_E_NO_MEMORY, "parsing %zu bytes of PTX", bytes);
}

/* ---- tokens ------------------------------------------------------------------------ */

/* What the lexer refuses is one byte long here, so that the message can quote it. */
gph_status ptx_next(ptx_parser *parser)
{
    if (ptx_lex(&parser->lexer, &parser->token))
        return GPH_OK;
    parser->token.kind = PTX_TOKEN_PUNCT;
    parser->token.length = 1;
    const bool is_byte = !parser->lexer.hint && parser->token.text[0] != '\0';
    if (is_byte)
        return ptx_fail_at(parser, &parser->token, NULL, "found %s, %s",
                           ptx_quote(&parser->token).text, parser->lexer.problem);
    return ptx_fail_at(parser, &parser->token, parser->lexer.hint, "found %s",
                       parser->lexer.problem);
}

bool ptx_at(const ptx_parser *parser, char punct)
{
    return parser->token.kind == PTX_TOKEN_PUNCT && parser->token.punct == punct;
}

gph_status ptx_expect(ptx_parser *parser, char punct, const char *expected)
{
    if (!ptx_at(parser, punct))
        return ptx_fail_expected(parser, expected);
    return ptx_next(parser);
}

gph_status ptx_accept(ptx_parser *parser, char punct, bool *taken)
{
    *taken = ptx_at(parser, punct);
    return *taken ? ptx_next(parser) : GPH_OK;
}

gph_status ptx_take_word(ptx_parser *parser, const char *expected, ptx_token *out)
{
    if (parser->token.kind != PTX_TOKEN_WORD)
        return ptx_fail_expected(parser, expected);
    *out = parser->token;
    return ptx_next(parser);
}

bool ptx_is_word(const ptx_token *token, const char *text)
{
    return token->kind == PTX_TOKEN_WORD && token->length == strlen(text) &&
           memcmp(token->text, text, token->length) == 0;
}

const ptx_word *ptx_at_word(const ptx_parser *parser)
{
    return ptx_words_find(&parser->words, parser->token.text, parser->token.length,
                          parser->token.hash);
}

ptx_directive ptx_at_directive(const ptx_parser *parser)
{
    if (parser->token.kind != PTX_TOKEN_DOT)
        return PTX_DIR_NONE;
    const ptx_word *word = ptx_at_word(parser);
    return !word ? PTX_DIR_NONE : (ptx_directive)word->directive;
}

/* ---- arrays ------------------------------------------------------------------------ */

/* The old items stay in the arena: all of them together are as large as the newest. */
void *ptx_vec_add(ptx_arena *arena, ptx_vec *vec, size_t item_bytes)
{
    if (vec->count == vec->capacity) {
        const uint32_t capacity = vec->capacity < 8 ? 8 : vec->capacity * 2;
        if (vec->capacity > UINT32_MAX / 2)
            return NULL;
        void *items = ptx_arena_alloc(arena, capacity, item_bytes);
        if (!items)
            return NULL;
        if (vec->count > 0)
            memcpy(items, vec->items, vec->count * item_bytes);
        vec->items = items;
        vec->capacity = capacity;
    }
    void *item = (char *)vec->items + vec->count++ * item_bytes;
    memset(item, 0, item_bytes);
    return item;
}

void *ptx_vec_keep(ptx_parser *parser, const ptx_vec *vec, size_t item_bytes)
{
    void *items = ptx_arena_alloc(parser->arena, vec->count, item_bytes);
    if (items && vec->count > 0)
        memcpy(items, vec->items, vec->count * item_bytes);
    return items;
}

ptx_function *ptx_function_at(ptx_parser *parser, uint32_t index)
{
    return (ptx_function *)parser->functions.items + index;
}

char *ptx_keep_name(ptx_parser *parser, const ptx_token *name)
{
    return ptx_arena_text(parser->arena, name->text, name->length);
}
