// SPDX-License-Identifier: Apache-2.0
/* Tokens. One table classifies bytes; whatever is not in it is refused by name, so that a
 * binary file or a text in UTF-16 says what it is.
 *
 *   add.cc.u32  %r1, 0xffU, 0f3F800000;  // comment
 *   WORD DOT DOT WORD , INT , FLOAT ;
 *
 * Numbers are read without the C library's locale: a point is a point everywhere. A word
 * is hashed where it is cut, once, for the table of words and that of symbols. */
#include "softcuda/ptx/parse/lex.h"

#include <stdlib.h>
#include <string.h>

enum {
    IS_WORD_START = 1, /* letters _ $ % */
    IS_WORD = 2,       /* letters, digits, _ $ */
    IS_DIGIT = 4,
    IS_HEX = 8,
    IS_BLANK = 16
};

static unsigned classify(char c)
{
    if (c >= '0' && c <= '9')
        return IS_WORD | IS_DIGIT | IS_HEX;
    if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
        return IS_WORD_START | IS_WORD | IS_HEX;
    if ((c >= 'g' && c <= 'z') || (c >= 'G' && c <= 'Z') || c == '_' || c == '$')
        return IS_WORD_START | IS_WORD;
    if (c == '%')
        return IS_WORD_START;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f')
        return IS_BLANK;
    return 0;
}

static bool is(char c, unsigned class)
{
    return (classify(c) & class) != 0;
}

/* What is wrong, and where it may come from; the parser adds the place. */
static bool refuse(ptx_lexer *lexer, const char *problem, const char *hint)
{
    lexer->problem = problem;
    lexer->hint = hint;
    return false;
}

static void place(const ptx_lexer *lexer, ptx_token *out)
{
    out->text = lexer->at;
    out->offset = (uint32_t)(lexer->at - lexer->text);
    out->line = lexer->line;
    out->column = (uint32_t)(lexer->at - lexer->line_start) + 1;
}

/* Columns are counted from here; tabs count as one. */
static void next_line(ptx_lexer *lexer, const char *after)
{
    lexer->line++;
    lexer->line_start = after;
}

/* After the comment that starts at `at`; false if it does not end. */
static bool skip_comment(ptx_lexer *lexer)
{
    const char *at = lexer->at + 2, *end = lexer->end;
    if (lexer->at[1] == '/') {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        lexer->at = line_end ? line_end : end;
        return true;
    }
    for (; at < end; at++) {
        if (*at == '\n')
            next_line(lexer, at + 1);
        if (*at == '*' && at + 1 < end && at[1] == '/') {
            lexer->at = at + 2;
            return true;
        }
    }
    return false;
}

static bool skip_blanks(ptx_lexer *lexer, ptx_token *out)
{
    const char *end = lexer->end;
    while (lexer->at < end) {
        const char c = *lexer->at;
        if (c == '\n') {
            next_line(lexer, ++lexer->at);
        } else if (is(c, IS_BLANK)) {
            lexer->at++;
        } else if (c == '/' && lexer->at + 1 < end &&
                   (lexer->at[1] == '/' || lexer->at[1] == '*')) {
            place(lexer, out);
            if (!skip_comment(lexer))
                return refuse(lexer, "a comment that does not end", "close it with */");
        } else {
            break;
        }
    }
    return true;
}

/* 0f3F800000, 0d3FF0000000000000 */
static bool lex_float_bits(ptx_lexer *lexer, ptx_token *out, unsigned digits)
{
    const char *at = lexer->at + 2;
    uint64_t value = 0;
    unsigned count = 0;
    for (; at < lexer->end && is(*at, IS_HEX); at++, count++) {
        const char c = *at;
        const unsigned digit = c <= '9' ? (unsigned)(c - '0') : ((unsigned)c & 15) + 9;
        value = value << 4 | digit;
    }
    if (count != digits || (at < lexer->end && is(*at, IS_WORD)))
        return refuse(lexer, "a malformed floating-point literal",
                      "0f takes 8 hexadecimal digits, 0d takes 16");
    out->kind = PTX_TOKEN_FLOAT;
    out->is_single = digits == 8;
    out->value = value;
    out->length = (uint32_t)(at - lexer->at);
    lexer->at = at;
    return true;
}

/* 1.5, 1e10, 2.5E-3: rewritten without the point, so that strtod() does not depend on the
 * locale. */
static bool lex_decimal_float(ptx_lexer *lexer, ptx_token *out)
{
    char digits[128];
    unsigned count = 0;
    long exponent = 0, written = 0;
    const char *at = lexer->at;
    bool behind_point = false;
    for (; at < lexer->end && (is(*at, IS_DIGIT) || (*at == '.' && !behind_point));
         at++) {
        if (*at == '.') {
            behind_point = true;
            continue;
        }
        if (count == 100)
            return refuse(lexer, "a number of more than 100 digits", "shorten it");
        digits[count++] = *at;
        exponent -= behind_point;
    }
    if (at < lexer->end && (*at == 'e' || *at == 'E')) {
        const char *e = ++at;
        const bool negative = at < lexer->end && *at == '-';
        if (at < lexer->end && (*at == '-' || *at == '+'))
            e = ++at;
        for (; at < lexer->end && is(*at, IS_DIGIT); at++)
            written = written < 100000 ? written * 10 + (*at - '0') : written;
        if (at == e)
            return refuse(lexer, "an exponent without digits", "write it as 1.5e10");
        exponent += negative ? -written : written;
    }
    if (at < lexer->end && is(*at, IS_WORD))
        return refuse(lexer, "a malformed number", "");
    digits[count] = 'e';
    const bool below = exponent < 0;
    unsigned long rest = (unsigned long)(below ? -exponent : exponent);
    unsigned place_at = count + 8;
    digits[place_at] = '\0';
    while (place_at > count + 2) {
        digits[--place_at] = (char)('0' + rest % 10);
        rest /= 10;
    }
    digits[count + 1] = below ? '-' : '+';
    const double value = strtod(digits, NULL);
    memcpy(&out->value, &value, sizeof(value));
    out->kind = PTX_TOKEN_FLOAT;
    out->is_single = 0;
    out->length = (uint32_t)(at - lexer->at);
    lexer->at = at;
    return true;
}

static bool lex_int(ptx_lexer *lexer, ptx_token *out)
{
    const char *at = lexer->at;
    const char second = at + 1 < lexer->end ? at[1] : '\0';
    unsigned base = 10;
    if (*at == '0' &&
        (second == 'x' || second == 'X' || second == 'b' || second == 'B')) {
        base = second == 'x' || second == 'X' ? 16 : 2;
        at += 2;
    } else if (*at == '0') {
        base = 8;
    }
    const char *first = at;
    uint64_t value = 0;
    for (; at < lexer->end && is(*at, IS_HEX); at++) {
        const char c = *at;
        const unsigned digit = c <= '9' ? (unsigned)(c - '0') : ((unsigned)c & 15) + 9;
        if (digit >= base)
            break;
        if (value > (UINT64_MAX - digit) / base)
            return refuse(lexer, "a number that does not fit in 64 bits", "");
        value = value * base + digit;
    }
    const bool has_digits = at > first;
    if (at < lexer->end && *at == 'U')
        at++;
    if (!has_digits || (at < lexer->end && is(*at, IS_WORD)))
        return refuse(lexer, "a malformed number",
                      "numbers are 12, 0x1F, 017, 0b101, 0f3F800000 or 1.5");
    out->kind = PTX_TOKEN_INT;
    out->value = value;
    out->length = (uint32_t)(at - lexer->at);
    lexer->at = at;
    return true;
}

static bool lex_number(ptx_lexer *lexer, ptx_token *out)
{
    const char *at = lexer->at;
    const char second = at + 1 < lexer->end ? at[1] : '\0';
    if (*at == '0' && (second == 'f' || second == 'F'))
        return lex_float_bits(lexer, out, 8);
    if (*at == '0' && (second == 'd' || second == 'D'))
        return lex_float_bits(lexer, out, 16);
    if (*at == '0' && (second == 'x' || second == 'X'))
        return lex_int(lexer, out);
    while (at < lexer->end && is(*at, IS_DIGIT))
        at++;
    if (at < lexer->end && (*at == '.' || *at == 'e' || *at == 'E'))
        return lex_decimal_float(lexer, out);
    return lex_int(lexer, out);
}

static void lex_word(ptx_lexer *lexer, ptx_token *out)
{
    const char *at = lexer->at + 1;
    while (at < lexer->end && is(*at, IS_WORD))
        at++;
    out->kind = PTX_TOKEN_WORD;
    out->length = (uint32_t)(at - lexer->at);
    out->hash = ptx_hash_word(lexer->at, out->length);
    lexer->at = at;
}

/* .global, .m16n8k16, .L2::cache_hint */
static void lex_dot(ptx_lexer *lexer, ptx_token *out)
{
    const char *first = ++lexer->at, *at = first, *end = lexer->end;
    while (at < end) {
        if (is(*at, IS_WORD))
            at++;
        else if (end - at > 2 && at[0] == ':' && at[1] == ':' && is(at[2], IS_WORD))
            at += 2;
        else
            break;
    }
    out->kind = PTX_TOKEN_DOT;
    out->text = first;
    out->length = (uint32_t)(at - first);
    out->hash = ptx_hash_word(first, out->length);
    lexer->at = at;
}

static bool lex_string(ptx_lexer *lexer, ptx_token *out)
{
    const char *first = ++lexer->at, *at = first;
    while (at < lexer->end && *at != '"' && *at != '\n')
        at += *at == '\\' && at + 1 < lexer->end && at[1] != '\n' ? 2 : 1;
    if (at >= lexer->end || *at != '"')
        return refuse(lexer, "a string that does not end on its line",
                      "close it with \"");
    out->kind = PTX_TOKEN_STRING;
    out->text = first;
    out->length = (uint32_t)(at - first);
    lexer->at = at + 1;
    return true;
}

bool ptx_lex(ptx_lexer *lexer, ptx_token *out)
{
    if (!skip_blanks(lexer, out))
        return false;
    place(lexer, out);
    if (lexer->at >= lexer->end) {
        out->kind = PTX_TOKEN_END;
        out->length = 0;
        return true;
    }
    const char c = *lexer->at;
    const char second = lexer->at + 1 < lexer->end ? lexer->at[1] : '\0';
    if (is(c, IS_WORD_START) && (c != '%' || is(second, IS_WORD))) {
        lex_word(lexer, out);
        return true;
    }
    if (is(c, IS_DIGIT))
        return lex_number(lexer, out);
    if (c == '.' && is(second, IS_WORD)) {
        lex_dot(lexer, out);
        return true;
    }
    if (c == '"')
        return lex_string(lexer, out);
    if (c == '\0' || !strchr("@!,;:{}[]()<>|+-*/%~&^=?", c))
        return refuse(lexer, c == '\0' ? "a NUL byte" : "a byte that is not PTX", NULL);
    out->kind = PTX_TOKEN_PUNCT;
    out->punct = c;
    out->length = 1;
    lexer->at++;
    return true;
}
