// SPDX-License-Identifier: Apache-2.0
/* The digit tokenizer of the adding model, and lists of token ids. */
#include "tokens.h"

#include "fail.h"
#include "weights.h"
#include <stdlib.h>

enum { PROBLEMS_BYTES_MAX = 64 << 20 };

typedef struct scanner {
    const char *at, *line_start, *path;
    size_t line;
    gph_error *error;
} scanner;

static gph_status wrong(const scanner *s, const char *what)
{
    return fail(s->error, GPH_E_FORMAT, "%s line %zu column %zu: %s", s->path, s->line,
                (size_t)(s->at - s->line_start) + 1, what);
}

/* A number of 1 to `most` digits; its digits become tokens unless `tokens` is NULL. */
static gph_status read_number(scanner *s, int most, problem *to, unsigned *out)
{
    unsigned value = 0;
    int digits = 0;
    for (; *s->at >= '0' && *s->at <= '9'; s->at++) {
        if (++digits > most)
            return wrong(s, "a number with too many digits");
        value = value * 10 + (unsigned)(*s->at - '0');
        if (to != NULL)
            to->prompt[to->prompt_count++] = *s->at - '0';
    }
    if (digits == 0)
        return wrong(s, "a digit is due");
    *out = value;
    return GPH_OK;
}

static gph_status read_sign(scanner *s, char sign, int token, problem *to)
{
    if (*s->at != sign)
        return wrong(s, sign == '+' ? "a + is due" : "a = is due");
    s->at++;
    to->prompt[to->prompt_count++] = token;
    return GPH_OK;
}

static gph_status read_problem(scanner *s, problem *out)
{
    *out = (problem){0};
    TRY(read_number(s, 4, out, &out->a));
    TRY(read_sign(s, '+', TOKEN_PLUS, out));
    TRY(read_number(s, 4, out, &out->b));
    TRY(read_sign(s, '=', TOKEN_EQUALS, out));
    TRY(read_number(s, 5, NULL, &out->sum));
    if (*s->at == '\r')
        s->at++;
    if (*s->at != '\n' && *s->at != 0)
        return wrong(s, "the end of the line is due");
    if (*s->at == '\n')
        s->at++;
    s->line++;
    s->line_start = s->at;
    return GPH_OK;
}

gph_status problems_read(const gph_allocator *heap, const char *path, size_t limit,
                         problem **out, size_t *count, gph_error *error)
{
    char *text = NULL;
    size_t bytes = 0, lines = 0;
    TRY(file_read(heap, path, PROBLEMS_BYTES_MAX, &text, &bytes, error));
    for (const char *c = text; *c != 0; c++)
        lines += *c == '\n' || c[1] == 0;
    if (limit != 0 && lines > limit)
        lines = limit;
    problem *list = NULL;
    gph_status status = GPH_OK;
    if (lines == 0)
        status = fail(error, GPH_E_FORMAT, "%s has no problem in it", path);
    else if ((list = heap_alloc(heap, lines * sizeof(*list))) == NULL)
        status = fail(error, GPH_E_NO_MEMORY, "%zu problems", lines);
    scanner s = {.at = text, .line_start = text, .path = path, .line = 1, .error = error};
    for (size_t i = 0; i < lines && status == GPH_OK; i++)
        status = read_problem(&s, &list[i]);
    heap_free(heap, text, bytes);
    if (status != GPH_OK) {
        heap_free(heap, list, lines * sizeof(*list));
        return status;
    }
    *out = list;
    *count = lines;
    return GPH_OK;
}

bool answer_read(const int *token, size_t count, unsigned long long *out)
{
    if (count < 2 || count > 19 || token[count - 1] != TOKEN_END)
        return false;
    unsigned long long value = 0;
    for (size_t i = count - 1; i-- > 0;) {
        if (token[i] < 0 || token[i] > 9)
            return false;
        value = value * 10 + (unsigned long long)token[i];
    }
    *out = value;
    return true;
}

gph_status token_ids_read(const gph_allocator *heap, const char *text, uint32_t vocab,
                          int **out, size_t *count, gph_error *error)
{
    size_t ids = 1, done = 0;
    for (const char *c = text; *c != 0; c++)
        ids += *c == ',';
    int *list = heap_alloc(heap, ids * sizeof(*list));
    if (list == NULL)
        return fail(error, GPH_E_NO_MEMORY, "%zu token ids", ids);
    for (const char *c = text; done < ids; c++) {
        char *end;
        const long id = *c >= '0' && *c <= '9' ? strtol(c, &end, 10) : -1;
        if (id < 0 || (*end != ',' && *end != 0) || (uint64_t)id >= vocab)
            break;
        list[done++] = (int)id;
        c = end;
    }
    if (done != ids) {
        heap_free(heap, list, ids * sizeof(*list));
        return fail(error, GPH_E_INVALID,
                    "token id %zu of \"%.60s\" is not a number from 0 to %u", done + 1,
                    text, vocab - 1);
    }
    *out = list;
    *count = ids;
    return GPH_OK;
}
