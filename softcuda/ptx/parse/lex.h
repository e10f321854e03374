// SPDX-License-Identifier: Apache-2.0
/* PTX text as tokens, and the words PTX knows. Inside the parser only. */
#ifndef SOFT_PTX_PARSE_LEX_H
#define SOFT_PTX_PARSE_LEX_H

#include "base/hash.h"
#include "softcuda/ptx/ptx.h"

typedef enum ptx_token_kind {
    PTX_TOKEN_END,    /* of the text */
    PTX_TOKEN_WORD,   /* add, %r7, $L__BB0_1, _ */
    PTX_TOKEN_DOT,    /* .global, .L2::cache_hint; the text begins after the dot */
    PTX_TOKEN_INT,    /* value: two's complement */
    PTX_TOKEN_FLOAT,  /* value: bits of a double, or of a float if `is_single` */
    PTX_TOKEN_STRING, /* the text is without the quotes */
    PTX_TOKEN_PUNCT   /* one byte, in `punct` */
} ptx_token_kind;

typedef struct ptx_token {
    uint8_t kind;
    uint8_t is_single;
    char punct;
    const char *text; /* in the module's text; not NUL-terminated */
    uint32_t length;
    uint32_t hash; /* of a word or a dotted word */
    uint32_t line, column, offset;
    uint64_t value;
} ptx_token;

/* Everything that one word can mean, each 0 if it does not mean that. */
typedef struct ptx_word {
    const char *text;
    uint32_t hash;
    uint8_t opcode, modifier, type, space, sreg, directive;
} ptx_word;

/* clang-format off */
#define PTX_DIRECTIVES(X)                                                                \
    X(VERSION, "version") X(TARGET, "target") X(ADDRESS_SIZE, "address_size")            \
    X(VISIBLE, "visible") X(WEAK, "weak") X(EXTERN, "extern") X(COMMON, "common")        \
    X(ENTRY, "entry") X(FUNC, "func") X(PARAM, "param") X(REG, "reg")                    \
    X(GLOBAL, "global") X(CONST, "const") X(LOCAL, "local") X(SHARED, "shared")          \
    X(ALIGN, "align") X(PTR, "ptr") X(ATTRIBUTE, "attribute") X(MAXNTID, "maxntid")      \
    X(REQNTID, "reqntid") X(MINNCTAPERSM, "minnctapersm")                                \
    X(MAXNCTAPERSM, "maxnctapersm") X(MAXNREG, "maxnreg") X(NORETURN, "noreturn")        \
    X(ABI_PRESERVE, "abi_preserve") X(ABI_PRESERVE_CONTROL, "abi_preserve_control")      \
    X(REQNCTAPERCLUSTER, "reqnctapercluster") X(MAXCLUSTERRANK, "maxclusterrank")        \
    X(EXPLICITCLUSTER, "explicitcluster") X(BLOCKSARECLUSTERS, "blocksareclusters")      \
    X(PRAGMA, "pragma") X(FILE, "file") X(LOC, "loc") X(SECTION, "section")              \
    X(BRANCHTARGETS, "branchtargets") X(CALLTARGETS, "calltargets")                      \
    X(CALLPROTOTYPE, "callprototype") X(ALIAS, "alias")
/* clang-format on */

typedef enum ptx_directive {
    PTX_DIR_NONE,
#define X(name, text) PTX_DIR_##name,
    PTX_DIRECTIVES(X)
#undef X
} ptx_directive;

#define PTX_WORD_SLOTS 1024 /* a power of two; some 530 words */

typedef struct ptx_words {
    ptx_word slots[PTX_WORD_SLOTS]; /* open addressing, linear probing */
} ptx_words;

static inline uint32_t ptx_hash_word(const char *text, size_t length)
{
    return (uint32_t)gphi_hash_bytes(GPHI_HASH_START, text, length);
}

void ptx_words_init(ptx_words *words);
/* NULL: a word PTX does not know. */
const ptx_word *ptx_words_find(const ptx_words *words, const char *text, size_t length,
                               uint32_t hash);

typedef struct ptx_lexer {
    const char *text, *at, *end, *line_start;
    uint32_t line;
    /* Set when ptx_lex() returns false. */
    const char *problem, *hint;
} ptx_lexer;

/* The next token. False: the text at `out` (its position is set) is not a token; `problem`
 * says why. */
bool ptx_lex(ptx_lexer *lexer, ptx_token *out);

#endif
