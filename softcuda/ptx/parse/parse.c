// SPDX-License-Identifier: Apache-2.0
/* A module: its head, then its directives in the order of the text, then what could only
 * be known at the end. */
#include "softcuda/ptx/parse/parse.h"

#include <string.h>

#include "base/heap.h"

/* ---- the head of the module ------------------------------------------------------- */

static bool read_digits(const char **at, const char *end, uint32_t *out)
{
    const char *first = *at;
    *out = 0;
    for (; *at < end && **at >= '0' && **at <= '9' && *at - first < 4; ++*at)
        *out = *out * 10 + (uint32_t)(**at - '0');
    return *at > first;
}

/* Kept as numbers: what a newer version brought is not asked anywhere, since words decide
 * for themselves whether they are known. */
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
        ptx_set_hint(parser->error, "pin the packages that compile to CUDA 13.0, as in "
                                    "nvidia-cuda-nvcc==13.0.*");
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

/* Code for one chip only (sm_90a), or for a newer one, may hold instructions that nothing
 * else has: kernels which use one cannot be launched, all others can. */
static gph_status parse_target(ptx_parser *parser)
{
    if (ptx_at_directive(parser) != PTX_DIR_TARGET)
        return ptx_fail_expected(parser, ".target");
    GPHI_TRY(ptx_next(parser));
    bool has_suffix, more;
    const ptx_token *token = &parser->token;
    if (!read_target(token, &parser->module->target, &has_suffix))
        return ptx_fail_expected(parser, "a target such as sm_90");
    parser->module->target_is_arch_specific = has_suffix;
    if (parser->module->target > PTX_TARGET_MAX) {
        const gph_status status = gphi_fail(
            parser->error, PTX_E_VERSION,
            "line %u, column %u: target %.*s is not below or equal to sm_%d", token->line,
            token->column, (int)token->length, token->text, PTX_TARGET_MAX);
        ptx_set_hint(parser->error, "compile for sm_90 or below");
        return status;
    }
    GPHI_TRY(ptx_next(parser));
    GPHI_TRY(ptx_accept(parser, ',', &more));
    while (more) { /* debug, texmode_independent ... */
        ptx_token option;
        GPHI_TRY(ptx_take_word(parser, "a target option", &option));
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

/* ---- the body of the module ------------------------------------------------------- */

/* .alias name, aliasee; both functions. */
static gph_status parse_alias(ptx_parser *parser)
{
    uint32_t pair[2];
    GPHI_TRY(ptx_next(parser));
    for (int i = 0; i < 2; i++) {
        const ptx_symbol *symbol = ptx_symbol_here(parser);
        if (!symbol || symbol->kind != PTX_SYMBOL_FUNC)
            return ptx_fail_expected(parser, "the name of a declared function");
        pair[i] = symbol->index;
        GPHI_TRY(ptx_next(parser));
        GPHI_TRY(ptx_expect(parser, i == 0 ? ',' : ';', i == 0 ? "','" : "';'"));
    }
    uint32_t *kept = ptx_vec_add(parser->scratch, &parser->aliases, sizeof(pair));
    if (!kept)
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
    case PTX_DIR_SECTION: return ptx_skip_section(parser);
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

/* Every operand and address that names an alias names its function from here on, so that
 * no later pass knows aliases. In the order of the text: an alias of an alias works. */
static gph_status apply_aliases(ptx_parser *parser)
{
    const uint32_t(*pairs)[2] = parser->aliases.items;
    const ptx_module *module = parser->module;
    if (parser->aliases.count == 0)
        return GPH_OK;
    uint32_t *to = ptx_arena_alloc(parser->scratch, module->function_count, sizeof(*to));
    if (!to)
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

/* Addresses last, since an initializer may name what is declared after it. Vectors grow
 * in the scratch arena and are copied to the module's once, at their size. */
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
    if (!module->variables || !module->functions || !module->files)
        return ptx_fail_memory(parser);
    return apply_aliases(parser);
}

static gph_status parse_into(ptx_parser *parser, const char *text, size_t bytes)
{
    ptx_module *module = ptx_arena_alloc(parser->arena, 1, sizeof(*module));
    char *copy = ptx_arena_text(parser->arena, text, bytes);
    GPHI_TRY(gphi_made(parser->error, module && copy, "parsing %zu bytes of PTX", bytes));
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
    /* A caller that counts the NUL of its string, as cuModuleLoadDataEx() wants it,
     * passes one. */
    while (bytes > 0 && text[bytes - 1] == '\0')
        bytes--;
    if (bytes > PTX_TEXT_BYTES_MAX)
        return gphi_fail(error, PTX_E_INVALID, "%zu bytes of PTX are above the limit %u",
                         bytes, PTX_TEXT_BYTES_MAX);
    const gph_allocator heap = gphi_heap(allocator);
    ptx_parser *parser = gphi_heap_alloc(heap, sizeof(*parser));
    GPHI_TRY(gphi_made(error, parser, "parsing %zu bytes of PTX", bytes));
    /* Two arenas of one limit: the module's lives on, scratch ends here; both end as a
     * whole, so no path of a failure frees anything by itself. */
    const size_t limit = PTX_MEMORY_BYTES_MIN + bytes * PTX_MEMORY_FACTOR;
    gph_status status = GPH_E_NO_MEMORY;
    parser->error = error;
    parser->arena = ptx_arena_create(&heap, limit);
    parser->scratch = ptx_arena_create(&heap, limit);
    if (parser->arena && parser->scratch)
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
    if (module)
        ptx_arena_destroy(module->arena);
}
