// SPDX-License-Identifier: Apache-2.0
/* What the files of the parser share.
 *
 *   parse.c         the module: header lines, directives at its level, the end
 *   parse_func.c    functions: heads, bodies, scopes, labels
 *   parse_insn.c    one instruction and its operands
 *   parse_check.c   operand counts
 *   parse_sum.c     operands that are sums
 *   parse_var.c     variables of every state space, parameters, registers
 *   parse_note.c    directives without meaning for the code
 *   parse_init.c    initializers, constants
 *   parse_symbol.c  names in scopes
 *   cursor.c        the current token, errors, arrays
 *   lex.c, words.c  tokens, known words
 *
 * One pass, one token ahead, no recursion: scopes and initializers keep explicit stacks.
 * The module grows in `arena`, what only the parser needs in `scratch`. */
#ifndef SOFT_PTX_PARSE_PARSE_H
#define SOFT_PTX_PARSE_PARSE_H

#include "base/fail.h"
#include "softcuda/ptx/parse/lex.h"
#include "softcuda/ptx/ptx.h"
#include "softcuda/ptx/ptx_arena.h"

#define PTX_E_INVALID 218 /* CUDA_ERROR_INVALID_PTX */
#define PTX_E_VERSION 222 /* CUDA_ERROR_UNSUPPORTED_PTX_VERSION */

/* Text of n bytes may take this much memory, as a module and while it is parsed. Real
 * modules take 5 to 15 bytes a byte. */
#define PTX_MEMORY_BYTES_MIN ((size_t)64 << 20)
#define PTX_MEMORY_FACTOR 40

#define PTX_SCOPES_MAX 64
#define PTX_DIMENSIONS_MAX 16

typedef enum ptx_symbol_kind {
    PTX_SYMBOL_REG,
    PTX_SYMBOL_RANGE, /* %r<10>: its name is "%r", hashed apart from a register %r */
    PTX_SYMBOL_VAR,
    PTX_SYMBOL_FUNC,
    PTX_SYMBOL_LABEL,
    PTX_SYMBOL_TARGETS,    /* label of a .branchtargets */
    PTX_SYMBOL_PROTOTYPE,  /* label of a .callprototype: index is the function */
    PTX_SYMBOL_CALLTARGETS /* label of a .calltargets: index is its first function */
} ptx_symbol_kind;

/* All symbols are on one stack, inner scopes above outer ones, and hang in hash chains,
 * newest first: leaving a scope takes the top of the stack off the heads of the chains.
 */
typedef struct ptx_symbol {
    const char *name; /* in the text */
    uint32_t length, hash;
    uint32_t next; /* in the chain: position + 1; 0 ends */
    uint32_t index, count;
    uint32_t line;
    uint8_t kind, width; /* width: 2 or 4 for a vector register, else 1 */
} ptx_symbol;

/* A growing array in an arena. */
typedef struct ptx_vec {
    void *items;
    uint32_t count, capacity;
} ptx_vec;

/* A use of a label that may be defined further down. */
typedef struct ptx_pending {
    ptx_token name;
    uint32_t operand;
} ptx_pending;

/* An address in an initializer whose symbol may be defined further down. */
typedef struct ptx_pending_address {
    ptx_token name;
    ptx_relocation *relocation;
} ptx_pending_address;

typedef struct ptx_scope {
    uint32_t symbols, pending; /* on the stacks when the scope began */
    uint32_t line, column;
} ptx_scope;

/* The function whose body is being parsed. */
typedef struct ptx_body {
    uint32_t function; /* index */
    ptx_vec variables, registers, labels, insns, operands;
    ptx_vec targets; /* ptx_token: names in .branchtargets */
    ptx_vec pending; /* ptx_pending */
    ptx_scope scopes[PTX_SCOPES_MAX];
    uint32_t depth;
    uint32_t source_file, source_line;
} ptx_body;

typedef struct ptx_parser {
    ptx_lexer lexer;
    ptx_token token; /* the one not yet taken */
    ptx_module *module;
    ptx_arena *arena, *scratch;
    gph_error *error;
    ptx_words words;
    ptx_vec symbols;   /* ptx_symbol */
    uint32_t *buckets; /* position + 1 of the newest symbol */
    uint32_t bucket_count;
    uint32_t scope_symbols; /* where the innermost scope begins */
    ptx_vec variables, functions, files;
    ptx_vec addresses; /* ptx_pending_address */
    ptx_vec aliases;   /* pairs of uint32_t: function, aliased function */
    ptx_body body;
    bool in_body;
} ptx_parser;

/* ---- cursor.c ---------------------------------------------------------------------- */

/* Each of these returns the status to pass on. */
gph_status ptx_fail_at(ptx_parser *parser, const ptx_token *where, const char *hint,
                       const char *format, ...) GPH_PRINTF(4, 5);
/* "found 'x', expected a register" at the current token. */
gph_status ptx_fail_expected(ptx_parser *parser, const char *expected);
gph_status ptx_fail_memory(ptx_parser *parser);
void ptx_set_hint(gph_error *error, const char *hint); /* NULL: none */
/* A token as an error shows it: quoted, cut, other bytes than ASCII escaped. */
typedef struct ptx_quoted {
    char text[64];
} ptx_quoted;
ptx_quoted ptx_quote(const ptx_token *token);

gph_status ptx_next(ptx_parser *parser); /* takes the current token */
bool ptx_at(const ptx_parser *parser, char punct);
gph_status ptx_expect(ptx_parser *parser, char punct, const char *expected);
/* Takes the punctuation if it is there, and says so. */
gph_status ptx_accept(ptx_parser *parser, char punct, bool *taken);
/* Takes a word, or fails with what was expected in its place. */
gph_status ptx_take_word(ptx_parser *parser, const char *expected, ptx_token *out);
bool ptx_is_word(const ptx_token *token, const char *text);
#define PTX_WARP_SIZE_NAME "WARP_SZ" /* the one named constant of PTX */
/* What the current token, a dotted word, is as a directive; PTX_DIR_NONE if it is none.
 */
ptx_directive ptx_at_directive(const ptx_parser *parser);
const ptx_word *ptx_at_word(const ptx_parser *parser); /* NULL: not known */

/* The new element, zeroed, or NULL. */
void *ptx_vec_add(ptx_arena *arena, ptx_vec *vec, size_t item_bytes);
/* An exact copy in the module's arena; NULL without memory. */
void *ptx_vec_keep(ptx_parser *parser, const ptx_vec *vec, size_t item_bytes);
ptx_function *ptx_function_at(ptx_parser *parser, uint32_t index);
char *ptx_keep_name(ptx_parser *parser, const ptx_token *name);

/* ---- parse_sum.c ------------------------------------------------------------------- */

/* To the body's instructions; `opcode` is where a failure points to. */
gph_status ptx_add_insn(ptx_parser *parser, const ptx_insn *insn,
                        const ptx_token *opcode);
/* For each operand of `insn` that is a register plus a number: an add in front of it. */
gph_status ptx_add_sums(ptx_parser *parser, const ptx_insn *insn,
                        const ptx_token *opcode);

/* ---- parse_symbol.c ---------------------------------------------------------------- */

/* Adds to the innermost scope; fails if the name is taken there. The result lives until
 * the next symbol is added. */
gph_status ptx_symbol_add(ptx_parser *parser, const ptx_token *name, ptx_symbol_kind kind,
                          ptx_symbol **out);
/* The innermost meaning of a name, or NULL. For a register of a range, *member is its
 * number in it; `member` may be NULL where registers are not asked for. */
ptx_symbol *ptx_symbol_find(ptx_parser *parser, const ptx_token *name, uint32_t *member);
/* The same of the current token; NULL also if it is not a word. */
ptx_symbol *ptx_symbol_here(ptx_parser *parser);
bool ptx_symbol_is_local(const ptx_parser *parser, const ptx_symbol *symbol);
void ptx_symbols_cut(ptx_parser *parser, uint32_t count);

/* ---- parse_init.c ------------------------------------------------------------------ */

/* A constant expression of integers, or a float literal with a sign. */
typedef struct ptx_constant {
    bool is_float, is_single;
    uint64_t bits;
} ptx_constant;
gph_status ptx_parse_constant(ptx_parser *parser, ptx_constant *out);
gph_status ptx_parse_int(ptx_parser *parser, const char *expected, int64_t *out);
gph_status ptx_parse_u32(ptx_parser *parser, const char *expected, uint32_t *out);
/* After `=`. `dimensions` as written, [] as 0, which the initializer then gives its
 * size: sets bytes, init and relocations of the variable. */
gph_status ptx_parse_initializer(ptx_parser *parser, ptx_variable *variable,
                                 uint64_t *dimensions, uint32_t dimension_count);
gph_status ptx_resolve_addresses(ptx_parser *parser);

/* ---- parse_note.c ------------------------------------------------------------------ */

/* The token is the directive's. */
gph_status ptx_parse_pragma(ptx_parser *parser);
gph_status ptx_parse_loc(ptx_parser *parser);
gph_status ptx_parse_file(ptx_parser *parser);
gph_status ptx_skip_section(ptx_parser *parser);

/* ---- parse_var.c ------------------------------------------------------------------- */

typedef struct ptx_linkage {
    uint8_t is_visible, is_extern;
} ptx_linkage;

/* The token is the state space of a declaration; takes it up to its semicolon. */
gph_status ptx_parse_variables(ptx_parser *parser, ptx_linkage linkage);
gph_status ptx_parse_registers(ptx_parser *parser);
/* The token is .attribute; sets `is_managed` if it is .managed. */
gph_status ptx_parse_attribute(ptx_parser *parser, uint8_t *is_managed);
/* `( .param .b32 a, .reg .b32 b )`: appends a ptx_parameter each to `out`. The caller has
 * checked for the parenthesis. */
typedef struct ptx_parameter {
    ptx_token name;
    ptx_variable variable;
} ptx_parameter;
gph_status ptx_parse_parameters(ptx_parser *parser, ptx_vec *out);
/* A register of the body, with its symbol. */
gph_status ptx_add_register(ptx_parser *parser, const ptx_token *name, ptx_type type,
                            uint32_t *out);

/* ---- parse_func.c ------------------------------------------------------------------ */

/* The token is .entry or .func. */
gph_status ptx_parse_function(ptx_parser *parser, bool is_entry);

/* ---- parse_insn.c, parse_check.c --------------------------------------------------- */

/* An instruction up to its opcode; the token after that is the current one. */
typedef struct ptx_insn_head {
    ptx_token opcode, guard;
    bool is_guarded, guard_negate;
    uint32_t start; /* offset in the text */
} ptx_insn_head;
gph_status ptx_parse_insn(ptx_parser *parser, const ptx_insn_head *head);

/* What is checked when an instruction is complete: `count` operands, vectors and pairs
 * counted once; `vector` is the place of the first vector, if there is one. */
typedef struct ptx_insn_form {
    uint32_t count;
    bool has_vector;
    ptx_token vector;
    uint32_t vector_size;
} ptx_insn_form;
gph_status ptx_check_insn(ptx_parser *parser, const ptx_insn *insn,
                          const ptx_token *opcode, const ptx_insn_form *form);

#endif
