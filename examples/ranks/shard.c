// SPDX-License-Identifier: Apache-2.0
/* Random models, and their parts. */
#include "shard.h"

#include "examples/decode/fail.h"
#include <math.h>

/* A number from -1 to 1 for each place (the mixer of splitmix64). */
static float random_at(uint64_t place)
{
    uint64_t z = (place + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (float)((z ^ (z >> 31)) >> 40) * 0x1p-23f - 1.0f;
}

/* Of such a size that what comes out of the matrix is as large as what goes in. */
static void fill_matrix(weights *w, size_t at, uint32_t inputs, uint32_t outputs)
{
    const float scale = sqrtf(3.0f / (float)inputs);
    const size_t stride = weights_stride(outputs);
    for (size_t i = 0; i < inputs; i++)
        for (size_t o = 0; o < outputs; o++)
            w->data[at + i * stride + o] = scale * random_at(at + i * stride + o);
}

static void fill_norm(weights *w, size_t at)
{
    for (size_t i = 0; i < w->c.width; i++)
        w->data[at + i] = 1;
}

gph_status shard_random(const gph_allocator *heap, uint32_t width, uint32_t layers,
                        weights *out, gph_error *error)
{
    const uint32_t head_dim = width >= 1024 ? 128 : 8, heads = width / head_dim;
    if (width == 0 || width % head_dim != 0)
        return fail(error, GPH_E_INVALID, "a width of %u is not heads of %u", width,
                    head_dim);
    const config c = {.vocab = 256,
                      .width = width,
                      .inner = 3 * width,
                      .layers = layers,
                      .heads = heads,
                      .kv_heads = heads % 2 == 0 ? heads / 2 : heads,
                      .head_dim = head_dim,
                      .positions = 4096,
                      .end = -1,
                      .eps = 1e-6f,
                      .theta = 10000};
    TRY(weights_make(heap, &c, out, error));
    for (size_t i = 0; i < (size_t)c.vocab * width; i++)
        out->data[out->embed + i] = random_at(out->embed + i);
    fill_matrix(out, out->head, width, c.vocab);
    fill_norm(out, out->norm);
    for (uint32_t i = 0; i < layers; i++) {
        const layer_at *at = &out->layer[i];
        fill_norm(out, at->attention_norm);
        fill_norm(out, at->mlp_norm);
        fill_matrix(out, at->qkv, width, (heads + 2 * c.kv_heads) * head_dim);
        fill_matrix(out, at->out, heads * head_dim, width);
        fill_matrix(out, at->gate_up, width, 2 * c.inner);
        fill_matrix(out, at->down, c.inner, width);
    }
    return GPH_OK;
}

/* A block of a matrix of a layer: where the matrix lies here and in the whole model, columns
 * of a row of it, where the block begins, and its size. */
typedef struct block {
    size_t at, whole_at;
    uint32_t columns, whole_columns;
    uint32_t column, whole_row, whole_column;
    uint32_t rows, count;
} block;

static void copy_block(weights *to, const weights *whole, const block *b)
{
    const size_t here = weights_stride(b->columns),
                 there = weights_stride(b->whole_columns);
    for (size_t i = 0; i < b->rows; i++)
        memcpy(to->data + b->at + i * here + b->column,
               whole->data + b->whole_at + (b->whole_row + i) * there + b->whole_column,
               b->count * sizeof(float));
}

static void copy_layer(weights *to, const weights *whole, uint32_t index, uint32_t rank)
{
    const config *all = &whole->c, *c = &to->c;
    const layer_at *from = &whole->layer[index], *at = &to->layer[index];
    const uint32_t width = c->width, inner = c->inner, d = c->head_dim;
    const uint32_t query = c->heads * d, key = c->kv_heads * d;
    const uint32_t all_query = all->heads * d, all_key = all->kv_heads * d;
    const uint32_t qkv = query + 2 * key, all_qkv = all_query + 2 * all_key;
    const block part[] = {
        {at->qkv, from->qkv, qkv, all_qkv, 0, 0, rank * query, width, query},
        {at->qkv, from->qkv, qkv, all_qkv, query, 0, all_query + rank * key, width, key},
        {at->qkv, from->qkv, qkv, all_qkv, query + key, 0,
         all_query + all_key + rank * key, width, key},
        {at->gate_up, from->gate_up, 2 * inner, 2 * all->inner, 0, 0, rank * inner, width,
         inner},
        {at->gate_up, from->gate_up, 2 * inner, 2 * all->inner, inner, 0,
         all->inner + rank * inner, width, inner},
        {at->out, from->out, width, width, 0, rank * query, 0, query, width},
        {at->down, from->down, width, width, 0, rank * inner, 0, inner, width},
    };
    for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
        copy_block(to, whole, &part[i]);
    memcpy(to->data + at->attention_norm, whole->data + from->attention_norm,
           width * sizeof(float));
    memcpy(to->data + at->mlp_norm, whole->data + from->mlp_norm, width * sizeof(float));
}

gph_status shard_make(const weights *whole, uint32_t rank, uint32_t count, weights *out,
                      gph_error *error)
{
    config c = whole->c;
    if (c.heads % count != 0 || c.kv_heads % count != 0 || c.inner % count != 0)
        return fail(error, GPH_E_INVALID,
                    "%u heads, %u key heads and %u inner dimensions for %u ranks",
                    c.heads, c.kv_heads, c.inner, count);
    c.heads /= count;
    c.kv_heads /= count;
    c.inner /= count;
    TRY(weights_make(&whole->heap, &c, out, error));
    memcpy(out->data + out->embed, whole->data + whole->embed,
           (size_t)c.vocab * c.width * sizeof(float));
    memcpy(out->data + out->head, whole->data + whole->head,
           (size_t)c.width * weights_stride(c.vocab) * sizeof(float));
    memcpy(out->data + out->norm, whole->data + whole->norm, c.width * sizeof(float));
    for (uint32_t i = 0; i < c.layers; i++)
        copy_layer(out, whole, i, rank);
    return GPH_OK;
}
