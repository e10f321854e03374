// SPDX-License-Identifier: Apache-2.0
/* A Llama forward pass in plain C, as slow and as plain as can be: what the kernels must
 * compute. Sums are in double. */
#ifndef DECODE_REFERENCE_H
#define DECODE_REFERENCE_H

#include "examples/decode/weights.h"
#include <math.h>
#include <string.h>

enum { MAX_T = 64, MAX_WIDTH = 512 };

/* Keys and values of every layer and position. */
typedef struct reference_cache {
    float key[8][MAX_T][MAX_WIDTH], value[8][MAX_T][MAX_WIDTH];
} reference_cache;

static void reference_multiply(float *out, const float *x, const float *w, uint32_t in,
                               uint32_t n)
{
    for (uint32_t o = 0; o < n; o++) {
        double sum = 0;
        for (uint32_t i = 0; i < in; i++)
            sum += (double)x[i] * w[(size_t)i * weights_stride(n) + o];
        out[o] = (float)sum;
    }
}

static void reference_norm(float *out, const float *x, const float *w, uint32_t n,
                           float eps)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += (double)x[i] * x[i];
    const double scale = 1 / sqrt(sum / n + eps);
    for (uint32_t i = 0; i < n; i++)
        out[i] = (float)(x[i] * scale * w[i]);
}

static void reference_rotate(float *head, const float *rate, uint32_t size,
                             uint32_t position)
{
    for (uint32_t i = 0; i < size / 2; i++) {
        const double angle = (double)position * rate[i];
        const float a = head[i], b = head[i + size / 2];
        head[i] = (float)(a * cos(angle) - b * sin(angle));
        head[i + size / 2] = (float)(b * cos(angle) + a * sin(angle));
    }
}

static void reference_attend(const config *c, reference_cache *past, uint32_t layer,
                             uint32_t position, const float *query, float *out)
{
    for (uint32_t h = 0; h < c->heads; h++) {
        const uint32_t d = c->head_dim, kv = h / (c->heads / c->kv_heads) * d;
        double score[MAX_T], top = -1e30, sum = 0;
        for (uint32_t t = 0; t <= position; t++) {
            score[t] = 0;
            for (uint32_t i = 0; i < d; i++)
                score[t] += (double)query[h * d + i] * past->key[layer][t][kv + i];
            score[t] /= sqrt(d);
            top = score[t] > top ? score[t] : top;
        }
        for (uint32_t t = 0; t <= position; t++)
            sum += score[t] = exp(score[t] - top);
        for (uint32_t i = 0; i < d; i++) {
            double mix = 0;
            for (uint32_t t = 0; t <= position; t++)
                mix += score[t] * past->value[layer][t][kv + i];
            out[h * d + i] = (float)(mix / sum);
        }
    }
}

static void reference_forward(const weights *w, reference_cache *past, int token,
                              uint32_t position, float *logits)
{
    const config *c = &w->c;
    const uint32_t query = c->heads * c->head_dim, key = c->kv_heads * c->head_dim;
    float x[MAX_WIDTH], h[MAX_WIDTH], wide[4 * MAX_WIDTH], y[MAX_WIDTH];
    memcpy(x, w->data + w->embed + (size_t)token * c->width, c->width * sizeof(float));
    for (uint32_t l = 0; l < c->layers; l++) {
        const layer_at *at = &w->layer[l];
        reference_norm(h, x, w->data + at->attention_norm, c->width, c->eps);
        reference_multiply(wide, h, w->data + at->qkv, c->width, query + 2 * key);
        for (uint32_t i = 0; i < c->heads + c->kv_heads; i++)
            reference_rotate(wide + i * c->head_dim, w->data + w->rates, c->head_dim,
                             position);
        memcpy(past->key[l][position], wide + query, key * sizeof(float));
        memcpy(past->value[l][position], wide + query + key, key * sizeof(float));
        reference_attend(c, past, l, position, wide, h);
        reference_multiply(y, h, w->data + at->out, query, c->width);
        for (uint32_t i = 0; i < c->width; i++)
            x[i] += y[i];
        reference_norm(h, x, w->data + at->mlp_norm, c->width, c->eps);
        reference_multiply(wide, h, w->data + at->gate_up, c->width, 2 * c->inner);
        for (uint32_t i = 0; i < c->inner; i++)
            h[i] = (float)(wide[i] / (1 + exp(-(double)wide[i])) * wide[c->inner + i]);
        reference_multiply(y, h, w->data + at->down, c->inner, c->width);
        for (uint32_t i = 0; i < c->width; i++)
            x[i] += y[i];
    }
    reference_norm(h, x, w->data + w->norm, c->width, c->eps);
    reference_multiply(logits, h, w->data + w->head, c->width, c->vocab);
}

#endif
