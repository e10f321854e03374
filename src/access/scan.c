// SPDX-License-Identifier: Apache-2.0
/* PTX as pieces of the text itself: nothing is copied, and whatever the bytes are, each step goes
 * on or ends. */
#include "access/scan.h"

#include <string.h>

bool gphi_span_is(gphi_span span, const char *word)
{
    const size_t length = strlen(word);
    return (size_t)(span.end - span.at) == length && memcmp(span.at, word, length) == 0;
}

bool gphi_span_begins(gphi_span span, const char *word)
{
    const size_t length = strlen(word);
    return (size_t)(span.end - span.at) >= length && memcmp(span.at, word, length) == 0;
}

bool gphi_opcode_has(gphi_span opcode, const char *word)
{
    while (opcode.at < opcode.end) {
        const char *dot = memchr(opcode.at, '.', (size_t)(opcode.end - opcode.at));
        const gphi_span part = {opcode.at, dot ? dot : opcode.end};
        if (gphi_span_is(part, word))
            return true;
        opcode.at = dot ? dot + 1 : opcode.end;
    }
    return false;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Of names, numbers, opcodes and directives. */
static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '$' || c == '%' || c == '.';
}

/* After white space and comments; at the end if a comment has none. */
static const char *skip_blank(const char *at, const char *end)
{
    while (at < end) {
        if (is_space(*at)) {
            at++;
        } else if (end - at > 1 && at[0] == '/' && at[1] == '/') {
            const char *line = memchr(at, '\n', (size_t)(end - at));
            at = line ? line : end;
        } else if (end - at > 1 && at[0] == '/' && at[1] == '*') {
            at += 2;
            while (end - at > 1 && (at[0] != '*' || at[1] != '/'))
                at++;
            at = end - at > 1 ? at + 2 : end;
        } else {
            break;
        }
    }
    return at;
}

gphi_span gphi_span_trim(gphi_span span)
{
    span.at = skip_blank(span.at, span.end);
    while (span.end > span.at && is_space(span.end[-1]))
        span.end--;
    return span;
}

gphi_span gphi_span_word(gphi_span *rest)
{
    rest->at = skip_blank(rest->at, rest->end);
    gphi_span word = {rest->at, rest->at};
    while (word.end < rest->end && is_word(*word.end))
        word.end++;
    rest->at = word.end;
    return word;
}

/* From an opening bracket, quote or any other character: after what it encloses, or
 * after itself. */
static const char *skip_piece(const char *at, const char *end)
{
    if (*at == '"') {
        const char *quote = memchr(at + 1, '"', (size_t)(end - at - 1));
        return quote ? quote + 1 : end;
    }
    if (!strchr("([{", *at) || *at == '\0')
        return at + 1;
    uint32_t depth = 0;
    do {
        at = skip_blank(at, end);
        if (at >= end)
            break;
        if (*at == '"') {
            at = skip_piece(at, end);
            continue;
        }
        depth += *at == '(' || *at == '[' || *at == '{';
        depth -= *at == ')' || *at == ']' || *at == '}';
        at++;
    } while (depth > 0);
    return at;
}

gphi_span gphi_span_item(gphi_span *rest)
{
    gphi_span item = {rest->at, rest->at};
    while (item.end < rest->end && *item.end != ',')
        item.end = skip_piece(item.end, rest->end);
    rest->at = item.end < rest->end ? item.end + 1 : rest->end;
    return gphi_span_trim(item);
}

/* What a bracket at rest->at encloses. False: there is none. */
static bool take_bracket(gphi_span *rest, char open, gphi_span *out)
{
    rest->at = skip_blank(rest->at, rest->end);
    if (rest->at >= rest->end || *rest->at != open)
        return false;
    const char *after = skip_piece(rest->at, rest->end);
    *out = (gphi_span){rest->at + 1, after > rest->at + 1 ? after - 1 : after};
    rest->at = after;
    return true;
}

bool gphi_ptx_next(gphi_span *rest, gphi_ptx_kernel *out)
{
    while (rest->at < rest->end) {
        const gphi_span word = gphi_span_word(rest);
        if (gphi_span_is(word, ".entry")) {
            out->name = gphi_span_word(rest);
            out->params = (gphi_span){rest->at, rest->at};
            (void)take_bracket(rest, '(', &out->params);
            while (rest->at < rest->end && *rest->at != '{' && *rest->at != ';')
                rest->at = skip_blank(rest->at + 1, rest->end);
            if (take_bracket(rest, '{', &out->body))
                return true;
        } else if (word.at == word.end && rest->at < rest->end) {
            rest->at = skip_piece(rest->at, rest->end);
        }
    }
    return false;
}

/* Where a directive ends that has no semicolon. */
static const char *line_end(const char *at, const char *end)
{
    const char *line = memchr(at, '\n', (size_t)(end - at));
    return line ? line : end;
}

/* After the semicolon. */
static const char *statement_end(const char *at, const char *end)
{
    while (at < end && *at != ';')
        at = *at == '/' ? skip_blank(at, end) + (skip_blank(at, end) == at)
                        : skip_piece(at, end);
    return at;
}

bool gphi_ptx_instruction_next(gphi_span *rest, gphi_ptx_instruction *out)
{
    while (true) {
        rest->at = skip_blank(rest->at, rest->end);
        if (rest->at >= rest->end)
            return false;
        if (strchr("{};", *rest->at) && *rest->at != '\0') {
            rest->at++;
            continue;
        }
        if (*rest->at == '@') { /* a predicate */
            rest->at++;
            rest->at += rest->at < rest->end && *rest->at == '!';
            (void)gphi_span_word(rest);
            continue;
        }
        const gphi_span word = gphi_span_word(rest);
        const char *after = skip_blank(rest->at, rest->end);
        if (after < rest->end && *after == ':') { /* a label */
            rest->at = after + 1;
            continue;
        }
        if (gphi_span_is(word, ".loc") || gphi_span_is(word, ".file")) {
            rest->at = line_end(rest->at, rest->end);
            continue;
        }
        const char *end = statement_end(rest->at, rest->end);
        *out = (gphi_ptx_instruction){word, {rest->at, end}};
        rest->at = end < rest->end ? end + 1 : end;
        if (word.at < word.end && *word.at != '.')
            return true;
    }
}
