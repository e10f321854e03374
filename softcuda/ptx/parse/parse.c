// SPDX-License-Identifier: Apache-2.0
#include "softcuda/ptx/parse/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/heap.h"

/* Text of n bytes may take this much memory, as a module and while it is parsed. Real
 * modules take 5 to 15 bytes a byte. */
#define MEMORY_BYTES_MIN ((size_t)64 << 20)
#define MEMORY_FACTOR 40

#define FILES_MAX 65536u

/* ---- errors ------------------------------------------------------------------------ */

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

static void set_hint(gph_error *error, const char *hint)
{
    if (error != NULL && hint != NULL)
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
    set_hint(parser->error, hint);
    return status;
}

gph_status ptx_fail_expected(ptx_parser *parser, const char *expected)
{
    return ptx_fail_at(parser, &parser->token, NULL, "found %s, expected %s",
                       ptx_quote(&parser->token).text, expected);
}

gph_status ptx_fail_memory(ptx_parser *parser)
{
    const size_t bytes = (size_t)(parser->lexer.end - parser->lexer.text);
    if (ptx_arena_is_full(parser->arena) || ptx_arena_is_full(parser->scratch))
        return ptx_fail_at(parser, &parser->token,
                           "large initializers and register ranges take the most",
                           "%zu bytes of PTX declare more than %zu bytes of module",
                           bytes, MEMORY_BYTES_MIN + bytes * MEMORY_FACTOR);
    return gphi_fail(parser->error, GPH_E_NO_MEMORY, "parsing %zu bytes of PTX", bytes);
}

/* ---- tokens ------------------------------------------------------------------------ */

gph_status ptx_next(ptx_parser *parser)
{
    if (ptx_lex(&parser->lexer, &parser->token))
        return GPH_OK;
    parser->token.kind = PTX_TOKEN_PUNCT;
    parser->token.length = 1;
    const bool is_byte = parser->lexer.hint == NULL && parser->token.text[0] != '\0';
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
    return word == NULL ? PTX_DIR_NONE : (ptx_directive)word->directive;
}

/* ---- arrays ------------------------------------------------------------------------ */

void *ptx_vec_add(ptx_arena *arena, ptx_vec *vec, size_t item_bytes)
{
    if (vec->count == vec->capacity) {
        const uint32_t capacity = vec->capacity < 8 ? 8 : vec->capacity * 2;
        if (vec->capacity > UINT32_MAX / 2)
            return NULL;
        void *items = ptx_arena_alloc(arena, capacity, item_bytes);
        if (items == NULL)
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
    if (items != NULL && vec->count > 0)
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

/* ---- directives without meaning for the code ----------------------------------------
 */

/* .pragma "nounroll", "x"; the semicolon may be missing in the head of a function. */
gph_status ptx_parse_pragma(ptx_parser *parser)
{
    bool more = true;
    GPHI_TRY(ptx_next(parser));
    while (more) {
        if (parser->token.kind != PTX_TOKEN_STRING)
            return ptx_fail_expected(parser, "a string such as \"nounroll\"");
        GPHI_TRY(ptx_next(parser));
        GPHI_TRY(ptx_accept(parser, ',', &more));
    }
    return ptx_accept(parser, ';', &more);
}

/* .file 1 "name.cu", 1700000000, 4096 */
gph_status ptx_parse_file(ptx_parser *parser)
{
    uint32_t index;
    GPHI_TRY(ptx_next(parser));
    const ptx_token where = parser->token;
    GPHI_TRY(ptx_parse_u32(parser, "the number of a file", &index));
    if (index >= FILES_MAX)
        return ptx_fail_at(parser, &where, NULL, "file number %u is above the limit %u",
                           index, FILES_MAX - 1);
    if (parser->token.kind != PTX_TOKEN_STRING)
        return ptx_fail_expected(parser, "the name of a file in quotes");
    const char *name = ptx_keep_name(parser, &parser->token);
    if (name == NULL)
        return ptx_fail_memory(parser);
    while (parser->files.count <= index)
        if (ptx_vec_add(parser->scratch, &parser->files, sizeof(name)) == NULL)
            return ptx_fail_memory(parser);
    ((const char **)parser->files.items)[index] = name;
    GPHI_TRY(ptx_next(parser));
    for (int i = 0; i < 2; i++) { /* time and size */
        bool more;
        int64_t ignored;
        GPHI_TRY(ptx_accept(parser, ',', &more));
        if (more)
            GPHI_TRY(ptx_parse_int(parser, "a number", &ignored));
    }
    return GPH_OK;
}

static bool token_is(const ptx_token *token, const char *text)
{
    return token->kind == PTX_TOKEN_WORD && token->length == strlen(text) &&
           memcmp(token->text, text, token->length) == 0;
}

static gph_status parse_place(ptx_parser *parser, uint32_t *file, uint32_t *line)
{
    uint32_t column;
    GPHI_TRY(ptx_parse_u32(parser, "the number of a file", file));
    GPHI_TRY(ptx_parse_u32(parser, "a line number", line));
    return ptx_parse_u32(parser, "a column number", &column);
}

/* .loc 1 12 3, function_name $L__info_string0, inlined_at 1 14 9 */
gph_status ptx_parse_loc(ptx_parser *parser)
{
    uint32_t file, line;
    bool more;
    GPHI_TRY(ptx_next(parser));
    GPHI_TRY(parse_place(parser, &file, &line));
    parser->body.source_file = file;
    parser->body.source_line = line;
    GPHI_TRY(ptx_accept(parser, ',', &more));
    while (more) {
        if (token_is(&parser->token, "function_name")) {
            int64_t ignored;
            GPHI_TRY(ptx_next(parser));
            if (parser->token.kind != PTX_TOKEN_WORD)
                return ptx_fail_expected(parser, "a label");
            GPHI_TRY(ptx_next(parser));
            GPHI_TRY(ptx_accept(parser, '+', &more));
            if (more)
                GPHI_TRY(ptx_parse_int(parser, "an offset", &ignored));
        } else if (token_is(&parser->token, "inlined_at")) {
            GPHI_TRY(ptx_next(parser));
            GPHI_TRY(parse_place(parser, &file, &line));
        } else {
            return ptx_fail_expected(parser, "function_name or inlined_at");
        }
        GPHI_TRY(ptx_accept(parser, ',', &more));
    }
    return GPH_OK;
}

/* .section .debug_str { ... }: debug information, of no use here. */
static gph_status skip_section(ptx_parser *parser)
{
    GPHI_TRY(ptx_next(parser));
    if (parser->token.kind != PTX_TOKEN_DOT && parser->token.kind != PTX_TOKEN_WORD)
        return ptx_fail_expected(parser, "the name of a section");
    GPHI_TRY(ptx_next(parser));
    GPHI_TRY(ptx_expect(parser, '{', "'{'"));
    while (!ptx_at(parser, '}')) {
        if (parser->token.kind == PTX_TOKEN_END)
            return ptx_fail_expected(parser, "'}' at the end of the section");
        GPHI_TRY(ptx_next(parser));
    }
    return ptx_next(parser);
}

/* ---- the head of the module ----------------------------------------------------------
 */

static bool read_digits(const char **at, const char *end, uint32_t *out)
{
    const char *first = *at;
    *out = 0;
    for (; *at < end && **at >= '0' && **at <= '9' && *at - first < 4; ++*at)
        *out = *out * 10 + (uint32_t)(**at - '0');
    return *at > first;
}

static gph_status parse_version(ptx_parser *parser)
{
    if (ptx_at_directive(parser) != PTX_DIR_VERSION)
        return ptx_fail_at(
            parser, &parser->token,
            "PTX begins with .version 9.0, .target sm_90, .address_size 64",
            "found %s, expected .version", ptx_quote(&parser->token).text);
    GPHI_TRY(ptx_next(parser));
    ptx_module *module = parser->module;
    const ptx_token *token = &parser->token;
    const char *at = token->text, *end = token->text + token->length;
    if (token->kind != PTX_TOKEN_FLOAT ||
        !read_digits(&at, end, &module->version_major) || at == end || *at++ != '.' ||
        !read_digits(&at, end, &module->version_minor) || at != end)
        return ptx_fail_expected(parser, "a version such as 8.5");
    if (module->version_major > PTX_VERSION_MAJOR_MAX ||
        (module->version_major == PTX_VERSION_MAJOR_MAX &&
         module->version_minor > PTX_VERSION_MINOR_MAX)) {
        const gph_status status = gphi_fail(
            parser->error, PTX_E_VERSION,
            "line %u, column %u: PTX version %u.%u is newer than %d.%d", token->line,
            token->column, module->version_major, module->version_minor,
            PTX_VERSION_MAJOR_MAX, PTX_VERSION_MINOR_MAX);
        set_hint(parser->error, "compile with the toolkit of CUDA 13.0 or older");
        return status;
    }
    return ptx_next(parser);
}

/* sm_70; false if the word is not of that form. */
static bool read_target(const ptx_token *token, uint32_t *number, bool *has_suffix)
{
    const char *at = token->text, *end = token->text + token->length;
    if (token->kind != PTX_TOKEN_WORD || token->length < 4 || memcmp(at, "sm_", 3) != 0)
        return false;
    at += 3;
    if (!read_digits(&at, end, number))
        return false;
    *has_suffix = end - at == 1 && (*at == 'a' || *at == 'f');
    return at == end || *has_suffix;
}

static gph_status parse_target(ptx_parser *parser)
{
    if (ptx_at_directive(parser) != PTX_DIR_TARGET)
        return ptx_fail_expected(parser, ".target");
    GPHI_TRY(ptx_next(parser));
    bool has_suffix, more;
    const ptx_token *token = &parser->token;
    if (!read_target(token, &parser->module->target, &has_suffix))
        return ptx_fail_expected(parser, "a target such as sm_90");
    if (parser->module->target > PTX_TARGET_MAX || has_suffix) {
        const gph_status status =
            gphi_fail(parser->error, PTX_E_VERSION,
                      "line %u, column %u: target %.*s is not below or equal to sm_%d%s",
                      token->line, token->column, (int)token->length, token->text,
                      PTX_TARGET_MAX, has_suffix ? ", or is for one chip only" : "");
        set_hint(parser->error, has_suffix ? "compile for sm_90, without the suffix"
                                           : "compile for sm_90 or below");
        return status;
    }
    GPHI_TRY(ptx_next(parser));
    GPHI_TRY(ptx_accept(parser, ',', &more));
    while (more) { /* debug, texmode_independent ... */
        if (parser->token.kind != PTX_TOKEN_WORD)
            return ptx_fail_expected(parser, "a target option");
        GPHI_TRY(ptx_next(parser));
        GPHI_TRY(ptx_accept(parser, ',', &more));
    }
    return GPH_OK;
}

static gph_status parse_address_size(ptx_parser *parser)
{
    uint32_t bits;
    GPHI_TRY(ptx_next(parser));
    const ptx_token where = parser->token;
    GPHI_TRY(ptx_parse_u32(parser, "64", &bits));
    if (bits != 64)
        return ptx_fail_at(parser, &where, "compile for 64-bit addresses (nvcc -m64)",
                           "address size %u is not 64", bits);
    return GPH_OK;
}

/* ---- the body of the module ----------------------------------------------------------
 */

/* .alias name, aliasee; both functions. */
static gph_status parse_alias(ptx_parser *parser)
{
    uint32_t pair[2];
    GPHI_TRY(ptx_next(parser));
    for (int i = 0; i < 2; i++) {
        uint32_t member;
        const ptx_symbol *symbol = parser->token.kind == PTX_TOKEN_WORD
                                       ? ptx_symbol_find(parser, &parser->token, &member)
                                       : NULL;
        if (symbol == NULL || symbol->kind != PTX_SYMBOL_FUNC)
            return ptx_fail_expected(parser, "the name of a declared function");
        pair[i] = symbol->index;
        GPHI_TRY(ptx_next(parser));
        GPHI_TRY(ptx_expect(parser, i == 0 ? ',' : ';', i == 0 ? "','" : "';'"));
    }
    uint32_t *kept = ptx_vec_add(parser->scratch, &parser->aliases, sizeof(pair));
    if (kept == NULL)
        return ptx_fail_memory(parser);
    memcpy(kept, pair, sizeof(pair));
    return GPH_OK;
}

static gph_status parse_linkage(ptx_parser *parser, ptx_linkage *out)
{
    for (;;) {
        switch (ptx_at_directive(parser)) {
        case PTX_DIR_EXTERN: out->is_extern = 1; break;
        case PTX_DIR_VISIBLE:
        case PTX_DIR_WEAK:
        case PTX_DIR_COMMON: out->is_visible = 1; break;
        default: return GPH_OK;
        }
        GPHI_TRY(ptx_next(parser));
    }
}

static gph_status parse_item(ptx_parser *parser)
{
    ptx_linkage linkage = {0};
    GPHI_TRY(parse_linkage(parser, &linkage));
    switch (ptx_at_directive(parser)) {
    case PTX_DIR_ENTRY: return ptx_parse_function(parser, true);
    case PTX_DIR_FUNC: return ptx_parse_function(parser, false);
    case PTX_DIR_GLOBAL:
    case PTX_DIR_CONST:
    case PTX_DIR_SHARED: return ptx_parse_variables(parser, linkage);
    case PTX_DIR_FILE: return ptx_parse_file(parser);
    case PTX_DIR_LOC: return ptx_parse_loc(parser);
    case PTX_DIR_SECTION: return skip_section(parser);
    case PTX_DIR_PRAGMA: return ptx_parse_pragma(parser);
    case PTX_DIR_ALIAS: return parse_alias(parser);
    case PTX_DIR_ADDRESS_SIZE: return parse_address_size(parser);
    case PTX_DIR_REG:
    case PTX_DIR_LOCAL:
    case PTX_DIR_PARAM:
        return ptx_fail_at(
            parser, &parser->token, "move it into the function that uses it",
            "%s is declared outside a function", ptx_quote(&parser->token).text);
    default: break;
    }
    return ptx_fail_expected(parser, "a variable, .func or .entry");
}

/* Every operand and address that names an alias names its function from here on. */
static gph_status apply_aliases(ptx_parser *parser)
{
    const uint32_t(*pairs)[2] = parser->aliases.items;
    const ptx_module *module = parser->module;
    if (parser->aliases.count == 0)
        return GPH_OK;
    uint32_t *to = ptx_arena_alloc(parser->scratch, module->function_count, sizeof(*to));
    if (to == NULL)
        return ptx_fail_memory(parser);
    for (uint32_t f = 0; f < module->function_count; f++)
        to[f] = f;
    for (uint32_t i = 0; i < parser->aliases.count; i++)
        to[pairs[i][0]] = to[pairs[i][1]];
    for (uint32_t f = 0; f < module->function_count; f++) {
        const ptx_function *function = &module->functions[f];
        for (uint32_t o = 0; o < function->operand_count; o++) {
            ptx_operand *operand = &function->operands[o];
            const bool is_address = operand->kind == PTX_OPERAND_ADDRESS;
            if ((is_address ? operand->base : operand->kind) == PTX_OPERAND_FUNC)
                operand->index = to[operand->index];
        }
    }
    const ptx_pending_address *addresses = parser->addresses.items;
    for (uint32_t a = 0; a < parser->addresses.count; a++) {
        ptx_relocation *relocation = addresses[a].relocation;
        if (relocation->is_function)
            relocation->index = to[relocation->index];
    }
    return GPH_OK;
}

static gph_status parse_module(ptx_parser *parser)
{
    ptx_module *module = parser->module;
    GPHI_TRY(ptx_next(parser));
    GPHI_TRY(parse_version(parser));
    GPHI_TRY(parse_target(parser));
    module->address_bits = 64;
    while (parser->token.kind != PTX_TOKEN_END)
        GPHI_TRY(parse_item(parser));
    GPHI_TRY(ptx_resolve_addresses(parser));

    module->variables = ptx_vec_keep(parser, &parser->variables, sizeof(ptx_variable));
    module->variable_count = parser->variables.count;
    module->functions = ptx_vec_keep(parser, &parser->functions, sizeof(ptx_function));
    module->function_count = parser->functions.count;
    module->files = ptx_vec_keep(parser, &parser->files, sizeof(char *));
    module->file_count = parser->files.count;
    if (module->variables == NULL || module->functions == NULL || module->files == NULL)
        return ptx_fail_memory(parser);
    return apply_aliases(parser);
}

static gph_status parse_into(ptx_parser *parser, const char *text, size_t bytes)
{
    ptx_module *module = ptx_arena_alloc(parser->arena, 1, sizeof(*module));
    char *copy = ptx_arena_text(parser->arena, text, bytes);
    if (module == NULL || copy == NULL)
        return gphi_fail(parser->error, GPH_E_NO_MEMORY, "parsing %zu bytes of PTX",
                         bytes);
    *module = (ptx_module){.text = copy, .text_bytes = bytes, .arena = parser->arena};
    parser->module = module;
    parser->lexer = (ptx_lexer){
        .text = copy, .at = copy, .end = copy + bytes, .line_start = copy, .line = 1};
    ptx_words_init(&parser->words);
    return parse_module(parser);
}

gph_status ptx_parse(const char *text, size_t bytes, const gph_allocator *allocator,
                     ptx_module **out, gph_error *error)
{
    while (bytes > 0 && text[bytes - 1] == '\0')
        bytes--;
    if (bytes > PTX_TEXT_BYTES_MAX)
        return gphi_fail(error, PTX_E_INVALID, "%zu bytes of PTX are above the limit %u",
                         bytes, PTX_TEXT_BYTES_MAX);
    const gph_allocator heap = gphi_heap(allocator);
    ptx_parser *parser = gphi_heap_alloc(heap, sizeof(*parser));
    if (parser == NULL)
        return gphi_fail(error, GPH_E_NO_MEMORY, "parsing %zu bytes of PTX", bytes);
    const size_t limit = MEMORY_BYTES_MIN + bytes * MEMORY_FACTOR;
    gph_status status = GPH_E_NO_MEMORY;
    parser->error = error;
    parser->arena = ptx_arena_create(&heap, limit);
    parser->scratch = ptx_arena_create(&heap, limit);
    if (parser->arena != NULL && parser->scratch != NULL)
        status = parse_into(parser, text, bytes);
    else
        status = gphi_fail(error, status, "parsing %zu bytes of PTX", bytes);
    if (status == GPH_OK)
        *out = parser->module;
    else
        ptx_arena_destroy(parser->arena);
    ptx_arena_destroy(parser->scratch);
    gphi_heap_free(heap, parser, sizeof(*parser));
    return status;
}

void ptx_module_destroy(ptx_module *module)
{
    if (module != NULL)
        ptx_arena_destroy(module->arena);
}
