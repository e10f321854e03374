// SPDX-License-Identifier: Apache-2.0
/* The model on a device: weights, cache, the state of every slot, and the two things that
 * can be put into a stream: the prefill of some prompts and one decode step.
 *
 * A step's launches are the same every time, whatever the slots hold: tokens and
 * positions lie in device memory and the last kernel advances them. So a step can be
 * captured once and replayed for every token. */
#ifndef DECODE_DECODER_H
#define DECODE_DECODER_H

#include "device.h"
#include "kernels/decode.cuh"
#include "weights.h"

typedef struct decoder_options {
    uint32_t slots;   /* sequences at a time */
    uint32_t context; /* positions a slot has in the cache */
    uint32_t queue;   /* steps that may be in flight */
    uint32_t ring;    /* steps whose tokens the host can still read; 0: `queue` */
    float top_p;      /* 0: the most probable token (greedy) */
    float temperature;
    uint64_t seed;
    bool keep_logits; /* every step's, for comparison */
    /* Of a model whose matrices are split over ranks: puts the sum over all of them into the
     * stream, in place. NULL: the model is whole. */
    gph_status (*sum)(void *user, CUdeviceptr data, uint64_t floats, gph_error *error);
    void *sum_user;
    /* Called now and then while a batch runs; may be NULL. */
    void (*progress)(const char *what, size_t done, size_t all);
} decoder_options;

typedef struct decoder {
    device *d;
    config c;
    const layer_at *layer; /* borrowed from the weights */
    size_t embed, norm, head, rates;
    decoder_options o;
    uint32_t rows_max; /* of one prefill */
    uint32_t log_steps;
    CUdeviceptr weights, keys, values;
    CUdeviceptr x, y, hidden, qkv, mix, gate_up, inner, logits, next;
    CUdeviceptr slot_ids; /* 0, 1, 2, ...: the slot of each row of a step */
    state_t state;        /* device addresses */
    CUdeviceptr log;      /* [log_steps][slots][vocab] */
    CUdeviceptr prefill;  /* the arrays of a prefill, as `staged` lays them out */
    int *staged;          /* pinned */
    int *ring;            /* pinned, [o.ring][slots]: what the last steps gave */
    CUdeviceptr going;    /* a going_t */
    int *first;           /* pinned: the first token of each prompt of a prefill */
    float *kept;          /* logits kept so far, host; the caller's heap */
    size_t kept_count, kept_capacity;
} decoder;

/* A prompt that a prefill puts into a slot. */
typedef struct prompt {
    const int *token;
    uint32_t count;
    int slot, limit, sequence; /* limit: the position at which it is cut off */
} prompt;

/* Uploads the weights and makes room. `d` and `w` are borrowed until decoder_fini(). */
GPH_CHECKED gph_status decoder_init(decoder *m, device *d, const weights *w,
                                    const decoder_options *options, gph_error *error);
void decoder_fini(decoder *m);

/* Every slot idle, step 0, nothing kept. */
GPH_CHECKED gph_status decoder_reset(decoder *m, gph_error *error);

/* Puts one step into the stream. */
GPH_CHECKED gph_status decoder_step(decoder *m, gph_error *error);

/* The same for a loop, which goes on while the first word at m->going is not 0. */
GPH_CHECKED gph_status decoder_loop_step(decoder *m, gph_error *error);

/* Runs some prompts (together at most rows_max tokens, at most `slots` of them), waits,
 * and leaves their first tokens in m->first. */
GPH_CHECKED gph_status decoder_prefill(decoder *m, const prompt *list, uint32_t count,
                                       gph_error *error);

/* Fetches the logits of the last `steps` steps, which have all ended. */
GPH_CHECKED gph_status decoder_keep(decoder *m, uint32_t steps, gph_error *error);

#endif
