// SPDX-License-Identifier: Apache-2.0
/* Names in scopes: one stack of symbols, hung in hash chains, newest first.
 *
 *   buckets   [h] --> symbol 7 --> symbol 2
 *   symbols   | 0 1 2 3 | 4 5 6 | 7 |       scopes, inner ones to the right
 *
 * A name is found at the head of its chain's innermost scope. Leaving a scope takes the
 * top of the stack off; since chains hold newer symbols first, each of these is the head
 * of its chain then. A range %r<100> is one symbol, found by the digits of %r17. */
#include <string.h>

#include "softcuda/ptx/parse/parse.h"

#define RANGE_HASH 1u /* keeps the range %r<10> apart from a register %r */

static ptx_symbol *symbol_at(const ptx_parser *parser, uint32_t position)
{
    return (ptx_symbol *)parser->symbols.items + position;
}

static void hang(ptx_parser *parser, uint32_t position)
{
    ptx_symbol *symbol = symbol_at(parser, position);
    uint32_t *bucket = &parser->buckets[symbol->hash & (parser->bucket_count - 1)];
    symbol->next = *bucket;
    *bucket = position + 1;
}

/* The old table stays in the arena: doubling makes it as large as all before it. */
static bool grow_buckets(ptx_parser *parser)
{
    const uint32_t count = parser->bucket_count ? parser->bucket_count * 2 : 256;
    uint32_t *buckets = ptx_arena_alloc(parser->scratch, count, sizeof(*buckets));
    if (!buckets)
        return false;
    parser->buckets = buckets;
    parser->bucket_count = count;
    for (uint32_t i = 0; i < parser->symbols.count; i++)
        hang(parser, i);
    return true;
}

/* The newest symbol of that name and sort, or NULL. */
static ptx_symbol *find(const ptx_parser *parser, const char *name, uint32_t length,
                        uint32_t hash, bool is_range)
{
    if (parser->bucket_count == 0)
        return NULL;
    uint32_t at = parser->buckets[hash & (parser->bucket_count - 1)];
    while (at != 0) {
        ptx_symbol *symbol = symbol_at(parser, at - 1);
        if (symbol->hash == hash && symbol->length == length &&
            (symbol->kind == PTX_SYMBOL_RANGE) == is_range &&
            memcmp(symbol->name, name, length) == 0)
            return symbol;
        at = symbol->next;
    }
    return NULL;
}

/* The range that has the register %r12: %r<13> or %r1<3>, the innermost. */
static ptx_symbol *find_range(const ptx_parser *parser, const ptx_token *name,
                              uint32_t *member)
{
    ptx_symbol *best = NULL;
    uint64_t value = 0, scale = 1;
    for (uint32_t length = name->length; length > 1 && name->length - length < 8;) {
        const char digit = name->text[--length];
        if (digit < '0' || digit > '9')
            break;
        value += (uint64_t)(digit - '0') * scale;
        scale *= 10;
        if (digit == '0' && length + 1 < name->length)
            continue; /* members have no leading zeros */
        ptx_symbol *symbol = find(parser, name->text, length,
                                  ptx_hash_word(name->text, length) ^ RANGE_HASH, true);
        if (symbol && value < symbol->count && (!best || symbol > best)) {
            best = symbol;
            *member = (uint32_t)value;
        }
    }
    return best;
}

ptx_symbol *ptx_symbol_find(ptx_parser *parser, const ptx_token *name, uint32_t *member)
{
    uint32_t in_range = 0;
    ptx_symbol *single = find(parser, name->text, name->length, name->hash, false);
    ptx_symbol *range = find_range(parser, name, &in_range);
    const bool is_member = range && (!single || range > single);
    if (member)
        *member = is_member ? in_range : 0;
    return is_member ? range : single;
}

ptx_symbol *ptx_symbol_here(ptx_parser *parser)
{
    return parser->token.kind == PTX_TOKEN_WORD
               ? ptx_symbol_find(parser, &parser->token, NULL)
               : NULL;
}

bool ptx_symbol_is_local(const ptx_parser *parser, const ptx_symbol *symbol)
{
    return symbol >= symbol_at(parser, parser->scope_symbols);
}

gph_status ptx_symbol_add(ptx_parser *parser, const ptx_token *name, ptx_symbol_kind kind,
                          ptx_symbol **out)
{
    const bool is_range = kind == PTX_SYMBOL_RANGE;
    const uint32_t hash = is_range ? name->hash ^ RANGE_HASH : name->hash;
    const ptx_symbol *other = is_range
                                  ? find(parser, name->text, name->length, hash, true)
                                  : ptx_symbol_find(parser, name, NULL);
    if (other && ptx_symbol_is_local(parser, other))
        return ptx_fail_at(parser, name, "rename one of them",
                           "%s%s is already defined on line %u", ptx_quote(name).text,
                           is_range ? "<...>" : "", other->line);
    if (parser->symbols.count >= parser->bucket_count && !grow_buckets(parser))
        return ptx_fail_memory(parser);
    ptx_symbol *symbol = ptx_vec_add(parser->scratch, &parser->symbols, sizeof(*symbol));
    if (!symbol)
        return ptx_fail_memory(parser);
    *symbol = (ptx_symbol){.name = name->text,
                           .length = name->length,
                           .hash = hash,
                           .line = name->line,
                           .kind = (uint8_t)kind,
                           .width = 1};
    hang(parser, parser->symbols.count - 1);
    *out = symbol;
    return GPH_OK;
}

void ptx_symbols_cut(ptx_parser *parser, uint32_t count)
{
    while (parser->symbols.count > count) {
        const ptx_symbol *symbol = symbol_at(parser, --parser->symbols.count);
        parser->buckets[symbol->hash & (parser->bucket_count - 1)] = symbol->next;
    }
}
