/* SPDX-License-Identifier: Apache-2.0 */
/* Structs that the kernels of decode.cu take by value; the host includes this file too.
 */
#ifndef KERNELS_DECODE_CUH
#define KERNELS_DECODE_CUH

typedef struct rows_t {
    const int *slot;     /* a row's slot in the cache */
    const int *position; /* a row's place in its sequence; negative: idle */
} rows_t;

typedef struct shape_t {
    unsigned heads, kv_heads, head_dim, context;
    float scale; /* of the dot products: 1 / sqrt(head_dim) */
} shape_t;

typedef struct matrix_t {
    unsigned inputs, outputs, stride; /* stride: outputs, padded */
} matrix_t;

typedef struct sampling_t {
    unsigned long long seed;
    float top_p;
} sampling_t;

/* Of the decode loop, on the device; arrays by slot. */
typedef struct state_t {
    int *token;     /* the token that the next step reads */
    int *position;  /* and its place; negative: idle */
    int *limit;     /* the position at which the sequence is cut off */
    int *sequence;  /* its number, for the random numbers */
    unsigned *step; /* steps since the start */
} state_t;

/* When a loop of decode steps ends: once no more than `least` slots are live, `lag` steps
 * after that one was seen, itself counted. */
typedef struct going_t {
    unsigned going; /* 0: it ends */
    unsigned least, lag, seen;
} going_t;

/* A prompt that has been prefilled and starts decoding. */
typedef struct start_t {
    int slot, position, limit, sequence;
} start_t;

/* A request as it travels through a queue to the device: 48 bytes. */
enum { ASK_TOKENS = 14 };
typedef struct ask_t {
    start_t start;
    unsigned count; /* tokens of the prompt */
    unsigned short token[ASK_TOKENS];
} ask_t;

/* Arrays by row, of a step over some of the slots. */
typedef struct picked_t {
    int *slot, *token, *position, *sequence;
} picked_t;

/* Tokens that are guessed to follow, from one source and then from another. */
typedef struct guesses_t {
    const int *first, *more;
    unsigned first_count, more_count;
} guesses_t;

#endif
