// SPDX-License-Identifier: Apache-2.0
/* What each symbol of the driver means to this library: a row a symbol. */
#ifndef ATTACH_SYMBOL_H
#define ATTACH_SYMBOL_H
#include "cuda/prototypes.h"
#include "event/event.h"
#include <stddef.h>
#include <stdint.h>

#define ATTACH_API __attribute__((visibility("default")))

typedef void attach_function(void);

/* ATTACH_cuLaunchKernel and so on, in the order of GPHI_CUDA_SYMBOLS. */
typedef enum attach_symbol_id {
#define X(symbol, name, version, per_thread, arguments) ATTACH_##symbol,
    GPHI_CUDA_SYMBOLS(X)
#undef X
        ATTACH_SYMBOL_COUNT
} attach_symbol_id;

typedef enum attach_policy {
    ATTACH_ALWAYS,
    ATTACH_FAIL, /* when it fails */
    ATTACH_POLL, /* "not ready" only while a capture is open */
    ATTACH_NEVER
} attach_policy;

typedef enum attach_hook {
    ATTACH_HOOK_NONE,
    ATTACH_HOOK_INIT,
    ATTACH_HOOK_GET_PROC,
    ATTACH_HOOK_CONTEXT,
    ATTACH_HOOK_CONTEXT_GONE,
    ATTACH_HOOK_STREAM,
    ATTACH_HOOK_STREAM_GONE,
    ATTACH_HOOK_BEGIN,
    ATTACH_HOOK_END,
    ATTACH_HOOK_MODE,
    ATTACH_HOOK_GRAPH,
    ATTACH_HOOK_CHILD,
    ATTACH_HOOK_ADD_NODE,
    ATTACH_HOOK_GRAPH_GONE,
    ATTACH_HOOK_INSTANTIATE,
    ATTACH_HOOK_UPDATE,
    ATTACH_HOOK_EXEC_GONE,
    ATTACH_HOOK_KERNEL,
    ATTACH_HOOK_KERNELS,
    ATTACH_HOOK_CODE,
    ATTACH_HOOK_CODE_GONE,
    ATTACH_HOOK_WORDS
} attach_hook;

enum { ATTACH_WORK = 1, ATTACH_PYTHON = 2, ATTACH_EDITS = 4 }; /* attach_symbol.flags */

typedef enum attach_argument_kind {
    ATTACH_WORD,
    ATTACH_OUT,       /* the word is what is there afterwards */
    ATTACH_STRUCT,    /* a part */
    ATTACH_STRUCT_V1, /* a part: CUDA_KERNEL_NODE_PARAMS_v1, made the present one */
    ATTACH_ARRAY,     /* a part; argument `other` counts it */
    ATTACH_TEXT,
    ATTACH_ATTRIBUTE /* a part of 4 or 8 bytes: argument `other` says which attribute */
} attach_argument_kind;

typedef struct attach_argument {
    uint8_t kind;
    uint8_t other;
    uint16_t bytes; /* of what it points at, or of one item */
} attach_argument;

enum { ATTACH_WORDS_MAX = 16 };

typedef struct attach_symbol {
    const char *symbol; /* "cuMemcpyAsync_ptsz" */
    const char *name;   /* "cuMemcpyAsync" */
    attach_function *wrapper;
    int version;
    uint8_t per_thread;
    uint16_t call; /* gphi_call_id; GPHI_CALL_COUNT: none */
    uint8_t policy, hook, flags;
    uint8_t count; /* of arguments, in the present signature */
    int8_t stream; /* which of them, or -1 */
    uint8_t is_old;
    const attach_argument *arguments;
    const int8_t *order; /* of an older signature: which argument stands for each */
} attach_symbol;

extern const attach_symbol attach_symbols[ATTACH_SYMBOL_COUNT];

/* Of each symbol, as bits: arguments that the driver fills, that are parts. */
typedef struct attach_mask {
    uint16_t filled, parts;
} attach_mask;
extern attach_mask attach_masks[ATTACH_SYMBOL_COUNT];
void attach_masks_prepare(void);

static inline const attach_mask *attach_mask_of(const attach_symbol *symbol)
{
    return &attach_masks[symbol - attach_symbols];
}
#endif
