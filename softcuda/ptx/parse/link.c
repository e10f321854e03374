// SPDX-License-Identifier: Apache-2.0
/* Linking as text: what the parser takes for one module is made of several.
 *
 *   input 0   .extern .func f;  .global x;  .weak .func g {...}
 *   input 1   .visible .func f {...}  .global x;  .weak .func g {...}
 *   out       .extern .func f;  .global x$0;  .weak .func g {...}
 *             .visible .func f {...}  .global x$1;  .extern .func g;
 *
 * Each input is read once for its symbols; what has to change is noted as edits, which
 * are applied when the text is written. Source positions (.file, .loc, debug sections)
 * would mix up the inputs and are left out. */
#include "softcuda/ptx/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/heap.h"
#include "base/text.h"
#include "softcuda/ptx/parse/parse.h"
#include "softcuda/ptx/ptx_arena.h"

enum { MEMORY_FACTOR_LINK = 64, MEMORY_LEAST = 1 << 20 };

typedef enum scope { PRIVATE, VISIBLE, WEAK, EXTERN } scope;

/* A declaration or definition at module scope. */
typedef struct symbol {
    const char *name;
    uint32_t length, hash, input;
    scope linkage;
    bool is_definition, is_shared;
    bool is_alone;              /* the only name of its statement */
    uint32_t keyword, word_end; /* ".weak" in the text */
    uint32_t cut, cut_end;      /* the body, or what the variable starts with */
    uint64_t bytes;             /* of a variable: of commons the largest is taken */
} symbol;

/* Text that is replaced. */
typedef struct edit {
    uint32_t begin, end;
    const char *text;
} edit;

typedef struct reader {
    ptx_lexer lexer;
    ptx_token token;
    const ptx_words *words;
} reader;

typedef struct linker {
    const ptx_link_input *inputs;
    uint32_t count, at; /* at: the input that is read */
    ptx_arena *arena;
    ptx_words words;
    ptx_vec symbols; /* symbol */
    ptx_vec *edits;  /* edit, an input */
    uint32_t major, minor, target;
    bool is_partial; /* what is missing may still come */
    gph_error *error;
} linker;

static gph_status no_memory(const linker *l)
{
    return gphi_fail(l->error, GPH_E_NO_MEMORY, "linking %u inputs", l->count);
}

/* ---- reading ---- */

static reader reader_of(const linker *l, uint32_t input)
{
    const ptx_link_input *in = &l->inputs[input];
    return (reader){.lexer = {.text = in->text,
                              .at = in->text,
                              .end = in->text + in->bytes,
                              .line_start = in->text,
                              .line = 1},
                    .words = &l->words};
}

/* Inputs were parsed before, so that all of their text is tokens. */
static bool next(reader *r)
{
    return ptx_lex(&r->lexer, &r->token) && r->token.kind != PTX_TOKEN_END;
}

static bool is_punct(const reader *r, char punct)
{
    return r->token.kind == PTX_TOKEN_PUNCT && r->token.punct == punct;
}

/* What a dotted word means; NULL for other tokens and unknown words. */
static const ptx_word *word_of(const reader *r)
{
    if (r->token.kind != PTX_TOKEN_DOT)
        return NULL;
    return ptx_words_find(r->words, r->token.text, r->token.length, r->token.hash);
}

static ptx_directive directive_of(const reader *r)
{
    const ptx_word *word = word_of(r);
    return word ? (ptx_directive)word->directive : PTX_DIR_NONE;
}

static uint32_t begin_of(const reader *r)
{
    const uint32_t at = (uint32_t)(r->token.text - r->lexer.text);
    return r->token.kind == PTX_TOKEN_DOT ? at - 1 : at;
}

static uint32_t end_of(const reader *r)
{
    return (uint32_t)(r->token.text - r->lexer.text) + r->token.length;
}

/* After the partner of an opening bracket, which is the token. */
static void skip_group(reader *r, char open, char close)
{
    uint32_t depth = 0;
    do {
        depth += is_punct(r, open);
        depth -= is_punct(r, close);
    } while (depth > 0 && next(r));
}

static gph_status note(linker *l, uint32_t begin, uint32_t end, const char *text)
{
    edit *e = ptx_vec_add(l->arena, &l->edits[l->at], sizeof(*e));
    if (!e)
        return no_memory(l);
    *e = (edit){begin, end, text};
    return GPH_OK;
}

static void take(reader *r, uint32_t count, uint32_t *end)
{
    for (; count > 0 && next(r); count--)
        *end = end_of(r) + (r->token.kind == PTX_TOKEN_STRING); /* the quote */
}

static bool next_is(const reader *r, char punct)
{
    reader ahead = *r;
    return next(&ahead) && is_punct(&ahead, punct);
}

static bool token_is(const reader *r, const char *text)
{
    return r->token.length == strlen(text) &&
           memcmp(r->token.text, text, r->token.length) == 0;
}

/* Leaves out a directive: `count` tokens after it, and what comes after commas: options
 * of .target, sizes of .file, the places of .loc. */
static gph_status drop(linker *l, reader *r, uint32_t count)
{
    const uint32_t begin = begin_of(r);
    uint32_t end = end_of(r);
    take(r, count, &end);
    while (next_is(r, ',')) {
        take(r, 2, &end);
        if (token_is(r, "inlined_at"))
            take(r, 3, &end);
        if (!token_is(r, "function_name"))
            continue;
        take(r, 1, &end);
        if (next_is(r, '+'))
            take(r, 2, &end);
    }
    return note(l, begin, end, "");
}

static gph_status drop_section(linker *l, reader *r)
{
    const uint32_t begin = begin_of(r);
    while (next(r) && !is_punct(r, '}'))
        ;
    return note(l, begin, end_of(r), "");
}

/* ".version 7.8": the highest counts. */
static gph_status read_version(linker *l, reader *r)
{
    reader ahead = *r;
    unsigned major = 0, minor = 0;
    char text[16] = "";
    if (next(&ahead))
        memcpy(text, ahead.token.text, ahead.token.length < 15 ? ahead.token.length : 15);
    if (sscanf(text, "%u.%u", &major, &minor) == 2 &&
        (major > l->major || (major == l->major && minor > l->minor))) {
        l->major = major;
        l->minor = minor;
    }
    return drop(l, r, 1);
}

/* ".target sm_80, debug": the highest counts, without options. */
static gph_status read_target(linker *l, reader *r)
{
    reader ahead = *r;
    unsigned number = 0;
    char text[16] = "";
    if (next(&ahead))
        memcpy(text, ahead.token.text, ahead.token.length < 15 ? ahead.token.length : 15);
    if (sscanf(text, "sm_%u", &number) == 1 && number > l->target)
        l->target = number;
    return drop(l, r, 1);
}

static symbol *add_symbol(linker *l, const reader *r, scope linkage)
{
    symbol *s = ptx_vec_add(l->arena, &l->symbols, sizeof(*s));
    if (s)
        *s = (symbol){.name = r->token.text,
                      .length = r->token.length,
                      .hash = r->token.hash,
                      .input = l->at,
                      .linkage = linkage};
    return s;
}

typedef struct statement {
    scope linkage;
    uint32_t keyword, word_end;
    bool is_shared;
} statement;

/* .func or .entry is the token. */
static gph_status read_function(linker *l, reader *r, const statement *head)
{
    while (next(r) && r->token.kind != PTX_TOKEN_WORD)
        if (is_punct(r, '('))
            skip_group(r, '(', ')');
    symbol *s = add_symbol(l, r, head->linkage);
    if (!s)
        return no_memory(l);
    s->is_alone = true;
    s->keyword = head->keyword;
    s->word_end = head->word_end;
    while (next(r) && !is_punct(r, ';') && !is_punct(r, '{'))
        ;
    if (!is_punct(r, '{'))
        return GPH_OK;
    s->is_definition = true;
    s->cut = begin_of(r);
    uint32_t depth = 0;
    do {
        depth += is_punct(r, '{');
        depth -= is_punct(r, '}');
        if (directive_of(r) == PTX_DIR_LOC)
            GPHI_TRY(drop(l, r, 3));
    } while (depth > 0 && next(r));
    s->cut_end = end_of(r);
    return GPH_OK;
}

/* After a variable's name: its dimensions. */
static uint64_t read_bytes(reader *r, uint64_t bytes, bool *more)
{
    while ((*more = next(r)) && !is_punct(r, ';') && !is_punct(r, ',') &&
           !is_punct(r, '='))
        if (r->token.kind == PTX_TOKEN_INT &&
            __builtin_mul_overflow(bytes, r->token.value, &bytes))
            bytes = UINT64_MAX;
    return bytes;
}

/* The state space is the token; names come up to the semicolon. */
static gph_status read_variables(linker *l, reader *r, const statement *head)
{
    const uint32_t first = l->symbols.count;
    uint64_t element = 1;
    bool more = next(r);
    while (more && !is_punct(r, ';')) {
        if (is_punct(r, '('))
            skip_group(r, '(', ')');
        const ptx_word *word = word_of(r);
        if (word && word->type != 0)
            element = ptx_type_bytes((ptx_type)word->type);
        if (r->token.kind != PTX_TOKEN_WORD) {
            more = next(r);
            continue;
        }
        symbol *s = add_symbol(l, r, head->linkage);
        if (!s)
            return no_memory(l);
        s->is_definition = head->linkage != EXTERN;
        s->is_shared = head->is_shared;
        s->keyword = head->keyword;
        s->word_end = head->word_end;
        s->bytes = read_bytes(r, element, &more);
        s->cut = s->cut_end = begin_of(r);
        while (more && !is_punct(r, ';') && !is_punct(r, ',')) {
            if (is_punct(r, '{'))
                skip_group(r, '{', '}');
            if (is_punct(r, '('))
                skip_group(r, '(', ')');
            s->cut_end = end_of(r);
            more = next(r);
        }
    }
    if (l->symbols.count == first + 1)
        ((symbol *)l->symbols.items)[first].is_alone = true;
    return GPH_OK;
}

/* One directive at module scope; `head` is what stood before it. */
static gph_status read_directive(linker *l, reader *r, statement *head)
{
    const ptx_directive directive = directive_of(r);
    switch (directive) {
    case PTX_DIR_VISIBLE: head->linkage = VISIBLE; break;
    case PTX_DIR_WEAK:
    case PTX_DIR_COMMON: head->linkage = WEAK; break;
    case PTX_DIR_EXTERN: head->linkage = EXTERN; break;
    case PTX_DIR_VERSION: return read_version(l, r);
    case PTX_DIR_TARGET: return read_target(l, r);
    case PTX_DIR_ADDRESS_SIZE: return drop(l, r, 1);
    case PTX_DIR_FILE: return drop(l, r, 2);
    case PTX_DIR_LOC: return drop(l, r, 3);
    case PTX_DIR_SECTION: return drop_section(l, r);
    case PTX_DIR_FUNC:
    case PTX_DIR_ENTRY: GPHI_TRY(read_function(l, r, head)); break;
    case PTX_DIR_GLOBAL:
    case PTX_DIR_CONST:
    case PTX_DIR_SHARED:
        head->is_shared = directive == PTX_DIR_SHARED;
        GPHI_TRY(read_variables(l, r, head));
        break;
    default: return GPH_OK;
    }
    const bool is_linkage = directive == PTX_DIR_VISIBLE || directive == PTX_DIR_WEAK ||
                            directive == PTX_DIR_COMMON || directive == PTX_DIR_EXTERN;
    if (!is_linkage) {
        *head = (statement){.linkage = PRIVATE};
        return GPH_OK;
    }
    head->keyword = begin_of(r);
    head->word_end = end_of(r);
    return GPH_OK;
}

static gph_status read_input(linker *l, uint32_t input)
{
    reader r = reader_of(l, input);
    statement head = {.linkage = PRIVATE};
    l->at = input;
    while (next(&r))
        if (r.token.kind == PTX_TOKEN_DOT)
            GPHI_TRY(read_directive(l, &r, &head));
    return GPH_OK;
}

/* ---- who is who ---- */

static bool same_name(const symbol *a, const symbol *b)
{
    return a->hash == b->hash && a->length == b->length &&
           memcmp(a->name, b->name, a->length) == 0;
}

/* The definition that all inputs see; NULL if there is none. Two that do not give way are
 * an error. */
static gph_status find_definition(linker *l, const symbol *name, symbol **out)
{
    symbol *symbols = l->symbols.items;
    *out = NULL;
    for (uint32_t i = 0; i < l->symbols.count; i++) {
        symbol *s = &symbols[i];
        if (!s->is_definition || s->linkage == PRIVATE || !same_name(s, name))
            continue;
        if (*out && (*out)->linkage == VISIBLE && s->linkage == VISIBLE)
            return gphi_fail(l->error, PTX_LINK_FAILED, "%.*s is defined in %s and in %s",
                             (int)s->length, s->name, l->inputs[(*out)->input].name,
                             l->inputs[s->input].name);
        if (!*out || ((*out)->linkage == WEAK &&
                      (s->linkage == VISIBLE || s->bytes > (*out)->bytes)))
            *out = s;
    }
    return GPH_OK;
}

static bool is_elsewhere(const linker *l, const symbol *name)
{
    const symbol *symbols = l->symbols.items;
    for (uint32_t i = 0; i < l->symbols.count; i++)
        if (symbols[i].input != name->input && same_name(&symbols[i], name))
            return true;
    return false;
}

/* Every use of a private name; opcodes are followed by a dot. */
static gph_status rename_private(linker *l, const symbol *s)
{
    reader r = reader_of(l, s->input);
    const char *fresh =
        ptx_arena_format(l->arena, "%.*s$%u", (int)s->length, s->name, s->input);
    if (!fresh)
        return no_memory(l);
    l->at = s->input;
    while (next(&r))
        if (r.token.kind == PTX_TOKEN_WORD && r.token.hash == s->hash &&
            r.token.length == s->length &&
            memcmp(r.token.text, s->name, s->length) == 0 &&
            (r.lexer.at == r.lexer.end || *r.lexer.at != '.'))
            GPHI_TRY(note(l, begin_of(&r), end_of(&r), fresh));
    return GPH_OK;
}

/* The first of an input's symbols of one name. */
static bool is_first(const linker *l, const symbol *s)
{
    const symbol *symbols = l->symbols.items;
    for (const symbol *before = symbols; before < s; before++)
        if (before->input == s->input && same_name(before, s))
            return false;
    return true;
}

/* A definition that gives way becomes a declaration. */
static gph_status give_way(linker *l, const symbol *s)
{
    const bool is_function = l->inputs[s->input].text[s->cut] == '{';
    if (!s->is_alone)
        return gphi_fail(l->error, PTX_LINK_FAILED,
                         "%.*s of %s gives way to another definition, but shares its "
                         "statement",
                         (int)s->length, s->name, l->inputs[s->input].name);
    l->at = s->input;
    GPHI_TRY(note(l, s->keyword, s->word_end, ".extern"));
    return s->cut == s->cut_end ? GPH_OK
                                : note(l, s->cut, s->cut_end, is_function ? ";" : "");
}

/* Whether an input has the name anywhere else than where it declares it. */
static bool is_used(const linker *l, const symbol *s)
{
    reader r = reader_of(l, s->input);
    const symbol *symbols = l->symbols.items;
    uint32_t uses = 0;
    while (next(&r))
        uses += r.token.kind == PTX_TOKEN_WORD && r.token.hash == s->hash &&
                r.token.length == s->length &&
                memcmp(r.token.text, s->name, s->length) == 0;
    for (uint32_t i = 0; i < l->symbols.count; i++)
        uses -= symbols[i].input == s->input && same_name(&symbols[i], s);
    return uses > 0;
}

static gph_status check_extern(linker *l, const symbol *s)
{
    const char *name = ptx_arena_text(l->arena, s->name, s->length);
    if (!name)
        return no_memory(l);
    if (s->is_shared || ptx_intrinsic(name) || ptx_is_device_runtime(name) ||
        !is_used(l, s))
        return GPH_OK;
    return gphi_fail(l->error, PTX_LINK_FAILED, "%s is used in %s and defined nowhere%s",
                     name, l->inputs[s->input].name, ptx_why_missing(name));
}

static gph_status resolve(linker *l)
{
    symbol *symbols = l->symbols.items;
    for (uint32_t i = 0; i < l->symbols.count; i++) {
        symbol *s = &symbols[i], *definition;
        if (s->linkage == PRIVATE) {
            if (is_first(l, s) && is_elsewhere(l, s))
                GPHI_TRY(rename_private(l, s));
            continue;
        }
        GPHI_TRY(find_definition(l, s, &definition));
        if (!definition && !l->is_partial)
            GPHI_TRY(check_extern(l, s));
        else if (definition && s->is_definition && s != definition)
            GPHI_TRY(give_way(l, s));
    }
    return GPH_OK;
}

/* ---- writing ---- */

/* What is cut takes other edits inside it along. */
static int by_place(const void *a, const void *b)
{
    const edit *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end > y->end ? -1 : x->end < y->end;
}

static void write_input(const linker *l, uint32_t input, gphi_text *out)
{
    const char *text = l->inputs[input].text;
    edit *edits = l->edits[input].items;
    uint32_t at = 0;
    if (l->edits[input].count > 0)
        qsort(edits, l->edits[input].count, sizeof(*edits), by_place);
    for (uint32_t i = 0; i < l->edits[input].count; i++) {
        if (edits[i].begin < at)
            continue;
        gphi_text_add(out, "%.*s%s", (int)(edits[i].begin - at), text + at,
                      edits[i].text);
        at = edits[i].end;
    }
    /* A text may end in a NUL, which is not part of the module. */
    gphi_text_add(out, "%.*s\n", (int)(l->inputs[input].bytes - at), text + at);
}

static gph_status write_all(const linker *l, const gph_allocator *heap, char **out,
                            size_t *bytes)
{
    gphi_text text = {.heap = *heap};
    gphi_text_add(&text, ".version %u.%u\n.target sm_%u\n.address_size 64\n", l->major,
                  l->minor, l->target);
    for (uint32_t i = 0; i < l->count; i++)
        write_input(l, i, &text);
    /* The caller knows the bytes, not the room. */
    char *copy = text.status == GPH_OK ? gphi_heap_alloc(*heap, text.length + 1) : NULL;
    if (copy) {
        memcpy(copy, text.bytes, text.length);
        *bytes = text.length;
        *out = copy;
    }
    gphi_text_fini(&text);
    return copy ? GPH_OK : no_memory(l);
}

static gph_status read_all(linker *l)
{
    ptx_words_init(&l->words);
    l->edits = ptx_arena_alloc(l->arena, l->count, sizeof(*l->edits));
    if (!l->edits)
        return no_memory(l);
    for (uint32_t i = 0; i < l->count; i++)
        GPHI_TRY(read_input(l, i));
    return resolve(l);
}

static gph_status linker_new(const ptx_link_input *inputs, uint32_t count,
                             const gph_allocator *heap, linker **out, gph_error *error)
{
    size_t total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += inputs[i].bytes;
    linker *l = gphi_heap_alloc(*heap, sizeof(*l));
    GPHI_TRY(gphi_made(error, l, "linking %u inputs", count));
    *l = (linker){.inputs = inputs, .count = count, .error = error};
    l->arena = ptx_arena_create(heap, MEMORY_LEAST + total * MEMORY_FACTOR_LINK);
    if (!l->arena) {
        gphi_heap_free(*heap, l, sizeof(*l));
        return gphi_fail(error, GPH_E_NO_MEMORY, "linking %u inputs", count);
    }
    *out = l;
    return GPH_OK;
}

static void linker_destroy(linker *l, const gph_allocator *heap)
{
    ptx_arena_destroy(l->arena);
    gphi_heap_free(*heap, l, sizeof(*l));
}

gph_status ptx_link(const ptx_link_input *inputs, uint32_t count,
                    const gph_allocator *allocator, char **out, size_t *bytes,
                    gph_error *error)
{
    const gph_allocator heap = gphi_heap(allocator);
    linker *l;
    GPHI_TRY(linker_new(inputs, count, &heap, &l, error));
    gph_status status = read_all(l);
    GPHI_THEN(status, write_all(l, &heap, out, bytes));
    linker_destroy(l, &heap);
    return status;
}

gph_status ptx_link_check(const ptx_link_input *inputs, uint32_t count,
                          const gph_allocator *allocator, gph_error *error)
{
    const gph_allocator heap = gphi_heap(allocator);
    linker *l;
    GPHI_TRY(linker_new(inputs, count, &heap, &l, error));
    l->is_partial = true;
    const gph_status status = read_all(l);
    linker_destroy(l, &heap);
    return status;
}
