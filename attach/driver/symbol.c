// SPDX-License-Identifier: Apache-2.0
/* The table of symbols, from the list of calls (cuda/calls.h) and what each means to this
 * library (policy.def).
 *
 *   call       struct of_CALL: a pointer to each argument's type, in order, so that a name
 *              gives its place and its type; POLICY_CALL, HOOK_CALL, FLAGS_CALL, ...
 *   signature  struct old_SYMBOL and old_SYMBOL_policy, ... the same of an older one
 *   symbol     a row that points at its call's, or its older signature's, arguments
 * sizes: table */
#include "attach/driver/symbol.h"
#include "cuda/prototypes.h"

/* clang-format off */

/* ---- arguments by their names ---- */

#define NO_SEPARATOR()
#define MEMBER(C, type, name) type *name;
#define MEMBER_VOID(C)
#define OLD(symbol, version, per_thread) old_##symbol

#define CALL(X, name, arguments, ...) \
    struct of_##name { char *none; GPHI_MAP(MEMBER, , NO_SEPARATOR, arguments) };
#define OLDER(X, name, arguments, ...) OLDER_(arguments, __VA_ARGS__, )
#define OLDER_(arguments, first, ...) \
    struct OLD first { char *none; GPHI_MAP(MEMBER, , NO_SEPARATOR, arguments) };
GPHI_CUDA_LIST(CALL, OLDER, GPHI_NOTHING, )
#undef CALL
#undef OLDER
#undef OLDER_

/* The place of an argument; -1 of `none`. */
#define AT(of, name) (offsetof(struct of, name) / sizeof(char *) - 1)

/* How many arguments there are; the last stream of them, or -1. */
#define COUNT(of) (sizeof(struct of) / sizeof(char *) - 1)
#define STREAM(C, type, name) \
    | (__builtin_types_compatible_p(type, CUstream) ? 1U << AT(C, name) : 0)
#define STREAM_VOID(C)
enum {
#define CALL(X, name, arguments, ...) \
    STREAMS_##name = 0 GPHI_MAP(STREAM, of_##name, NO_SEPARATOR, arguments),
GPHI_CUDA_LIST(CALL, GPHI_NOTHING, GPHI_NOTHING, )
#undef CALL
};
#define LAST(bits) ((bits) == 0 ? -1 : 31 - __builtin_clz((unsigned)(bits) | 1U))

/* ROLES(M, CALL, SIGNATURE, ignored, a, b, ...): M(CALL, SIGNATURE, a) M(..., b) ... */
#define ROLES(M, C, S, ...) \
    ROLES_PICK(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0, )(M, C, S, __VA_ARGS__)
#define ROLES_PICK(a, b, c, d, e, f, g, h, i, count, ...) ROLES_##count
#define ROLES_0(M, C, S, x)
#define ROLES_1(M, C, S, x, a) M(C, S, a)
#define ROLES_2(M, C, S, x, a, ...) M(C, S, a) ROLES_1(M, C, S, x, __VA_ARGS__)
#define ROLES_3(M, C, S, x, a, ...) M(C, S, a) ROLES_2(M, C, S, x, __VA_ARGS__)
#define ROLES_4(M, C, S, x, a, ...) M(C, S, a) ROLES_3(M, C, S, x, __VA_ARGS__)
#define ROLES_5(M, C, S, x, a, ...) M(C, S, a) ROLES_4(M, C, S, x, __VA_ARGS__)
#define ROLES_6(M, C, S, x, a, ...) M(C, S, a) ROLES_5(M, C, S, x, __VA_ARGS__)
#define ROLES_7(M, C, S, x, a, ...) M(C, S, a) ROLES_6(M, C, S, x, __VA_ARGS__)
#define ROLES_8(M, C, S, x, a, ...) M(C, S, a) ROLES_7(M, C, S, x, __VA_ARGS__)

/* ---- what calls mean ---- */

enum { WORK = ATTACH_WORK, PYTHON = ATTACH_PYTHON, EDITS = ATTACH_EDITS };

#define FIRST(...) FIRST_(__VA_ARGS__, )
#define FIRST_(a, ...) a
#define OLDER_FIRST(...) OLDER_(__VA_ARGS__)
#define OLD_MEANS(symbol, call) \
    old_##symbol##_call = GPHI_CALL_##call, old_##symbol##_policy = POLICY_##call, \
    old_##symbol##_hook = HOOK_##call, old_##symbol##_flags = FLAGS_##call, \
    old_##symbol##_streams = STREAMS_##call,
#define OLD_COUNT(symbol, call) \
    old_##symbol##_count = \
        COUNT(old_##symbol) < COUNT(of_##call) ? COUNT(old_##symbol) : COUNT(of_##call), \
    old_##symbol##_is_moved = 0,
#define ONE(C, S, name) +1
enum {
#define CALL(name, policy, hook, ...) \
    POLICY_##name = ATTACH_##policy, HOOK_##name = ATTACH_HOOK_##hook, \
    FLAGS_##name = FIRST(__VA_ARGS__),
#define OLDER(symbol, ...) OLDER_FIRST(symbol, FIRST(__VA_ARGS__))
#define OLDER_(symbol, call) OLD_MEANS(symbol, call) OLD_COUNT(symbol, call)
#define MOVED(symbol, call, ...) \
    OLD_MEANS(symbol, call) MOVED_(symbol, FIRST(__VA_ARGS__))
#define MOVED_(symbol, places) \
    old_##symbol##_count = 0 GPHI_EXPAND(ROLES, ONE, , , , GPHI_BARE places), \
    old_##symbol##_is_moved = 1,
#include "attach/policy.def"
#undef CALL
#undef OLDER
#undef OLDER_
#undef MOVED
#undef MOVED_
};

/* Places are those of the present signature, sizes those of the signature itself. */
#define BYTES(S, name) sizeof(**((struct S *)NULL)->name)
#define ROLE(C, S, role) GPHI_EXPAND(ROLE_, C, S, GPHI_BARE role)
#define ROLE_(C, S, kind, ...) ROLE_##kind(C, S, __VA_ARGS__)
#define ROLE_OUT(C, S, a) .of[AT(C, a)] = {ATTACH_OUT, 0, BYTES(S, a)},
#define ROLE_STRUCT(C, S, a) .of[AT(C, a)] = {ATTACH_STRUCT, 0, BYTES(S, a)},
#define ROLE_STRUCT_V1(C, S, a) .of[AT(C, a)] = {ATTACH_STRUCT_V1, 0, BYTES(S, a)},
#define ROLE_ARRAY(C, S, a, n) .of[AT(C, a)] = {ATTACH_ARRAY, AT(C, n), BYTES(S, a)},
#define ROLE_TEXT(C, S, a) .of[AT(C, a)] = {ATTACH_TEXT, 0, 0},
#define ROLE_ATTRIBUTE(C, S, a, n) .of[AT(C, a)] = {ATTACH_ATTRIBUTE, AT(C, n), 0},

typedef struct arguments {
    int8_t order[8]; /* of an older signature whose arguments have moved */
    attach_argument of[ATTACH_WORDS_MAX];
} arguments;

#define ORDER(C, S, name) (int8_t)AT(S, name),
#define CALL(name, policy, hook, ...) \
    static const arguments of_##name = {.order = {0}, ROLES(ROLE, of_##name, of_##name, __VA_ARGS__)};
#define OLDER(symbol, ...) OLDER_FIRST(symbol, FIRST(__VA_ARGS__), __VA_ARGS__)
#define OLDER_(symbol, call, ...) \
    static const arguments old_##symbol = {.order = {0}, ROLES(ROLE, of_##call, old_##symbol, __VA_ARGS__)};
#define MOVED(symbol, call, ...) \
    static const arguments old_##symbol = { \
        .order = {MOVED_(symbol, FIRST(__VA_ARGS__))}, ROLES(ROLE, of_##call, old_##symbol, __VA_ARGS__)};
#define MOVED_(symbol, places) GPHI_EXPAND(ROLES, ORDER, , old_##symbol, , GPHI_BARE places)
#include "attach/policy.def"
#undef CALL
#undef OLDER
#undef OLDER_
#undef MOVED
#undef MOVED_

/* ---- symbols ---- */

#define CALL(X, name, arguments, ...) GPHI_SYMBOL_ROW(CALL_SYMBOL, name, , __VA_ARGS__)
#define CALL_SYMBOL(symbol, name, version, per_thread, ignored) \
    [ATTACH_##symbol] = {#symbol, #name, (attach_function *)symbol, version, per_thread, \
        GPHI_CALL_##name, POLICY_##name, HOOK_##name, FLAGS_##name, COUNT(of_##name), \
        LAST(STREAMS_##name), 0, of_##name.of, NULL},
#define OLDER(X, name, arguments, ...) \
    GPHI_SYMBOL_ROW(OLD_SYMBOL, name, OLD FIRST(__VA_ARGS__), __VA_ARGS__)
#define OLD_SYMBOL(symbol, name, version, per_thread, old) \
    OLD_SYMBOL_(symbol, name, version, per_thread, old)
#define OLD_SYMBOL_(symbol, name, version, per_thread, old) \
    [ATTACH_##symbol] = {#symbol, #name, (attach_function *)symbol, version, per_thread, \
        old##_call, old##_policy, old##_hook, old##_flags, old##_count, \
        LAST(old##_streams), 1, old.of, old##_is_moved ? old.order : NULL},
#define GONE(X, name, arguments, ...) GPHI_SYMBOL_ROW(GONE_SYMBOL, name, , __VA_ARGS__)
#define GONE_SYMBOL(symbol, name, version, per_thread, ignored) \
    [ATTACH_##symbol] = {#symbol, #name, (attach_function *)symbol, version, per_thread, \
        GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL},

const attach_symbol attach_symbols[ATTACH_SYMBOL_COUNT] = {
    GPHI_CUDA_LIST(CALL, OLDER, GONE, )
};

/* clang-format on */

/* ---- what follows from it ---- */

attach_mask attach_masks[ATTACH_SYMBOL_COUNT];

void attach_masks_prepare(void)
{
    for (uint32_t i = 0; i < ATTACH_SYMBOL_COUNT; i++)
        for (uint32_t k = 0; k < attach_symbols[i].count; k++) {
            const uint16_t bit = (uint16_t)(1U << k);
            const uint8_t kind = attach_symbols[i].arguments[k].kind;
            if (kind == ATTACH_OUT)
                attach_masks[i].filled |= bit;
            else if (kind != ATTACH_WORD)
                attach_masks[i].parts |= bit;
        }
}
