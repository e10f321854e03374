// SPDX-License-Identifier: Apache-2.0
/* A Llama-architecture model as it lies in a Hugging Face folder (config.json,
 * model.safetensors), read into host memory in the order in which the kernels want it:
 * one array of floats, every matrix transposed to [inputs][outputs], queries, keys and
 * values side by side in one matrix, gate and up too. It knows no driver. */
#ifndef DECODE_WEIGHTS_H
#define DECODE_WEIGHTS_H

#include "safetensors.h"

typedef struct config {
    uint32_t vocab, width, inner, layers, heads, kv_heads, head_dim;
    uint32_t positions; /* the longest sequence it was made for */
    int end;            /* the token that ends a sequence, -1: none */
    bool tied;          /* the head is the embedding */
    float eps;
    double theta;
    /* Llama 3's stretching of the slow rotations; factor 0: none */
    double factor, low, high, trained_positions;
} config;

/* Where each part starts, in floats from the start of the array. */
typedef struct layer_at {
    size_t attention_norm, qkv, out, mlp_norm, gate_up, down;
} layer_at;

typedef struct weights {
    gph_allocator heap;
    config c;
    float *data;
    size_t floats;     /* of data */
    size_t parameters; /* of the model: data less padding, transposed copies, rates */
    size_t embed, norm, head;
    size_t rates; /* head_dim / 2 rotations a position */
    layer_at *layer;
} weights;

/* Columns of a matrix lie padded to a multiple of 64, so that no kernel reads past one.
 */
static inline uint32_t weights_stride(uint32_t outputs)
{
    return (outputs + 63) / 64 * 64;
}

/* Reads config.json's text. Fails with GPH_E_FORMAT, GPH_E_UNSUPPORTED (a model that the
 * kernels cannot run, with the reason) and GPH_E_NO_MEMORY. *out untouched on failure. */
GPH_CHECKED gph_status config_read(const gph_allocator *heap, const char *text,
                                   size_t bytes, config *out, gph_error *error);

/* Reads a folder. heap copied; *out is the caller's (weights_fini()), untouched on
 * failure. */
GPH_CHECKED gph_status weights_load(const gph_allocator *heap, const char *folder,
                                    weights *out, gph_error *error);
/* Room for a model of that shape: zeros, and the rotations. heap copied; *out is the caller's
 * (weights_fini()), untouched on failure. Fails with GPH_E_UNSUPPORTED and GPH_E_NO_MEMORY. */
GPH_CHECKED gph_status weights_make(const gph_allocator *heap, const config *c,
                                    weights *out, gph_error *error);
void weights_fini(weights *w);

/* The file's bytes, at most `most`; the caller's (heap_free with *bytes). */
GPH_CHECKED gph_status file_read(const gph_allocator *heap, const char *path, size_t most,
                                 char **out, size_t *bytes, gph_error *error);

#endif
