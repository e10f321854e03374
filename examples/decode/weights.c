// SPDX-License-Identifier: Apache-2.0
/* Loads the tensors of a Llama-architecture model. */
#include "weights.h"

#include "fail.h"
#include <errno.h>
#include <math.h>

enum { CONFIG_BYTES_MAX = 1 << 20 };
#define PARAMETERS_MAX ((uint64_t)1 << 33)

gph_status file_read(const gph_allocator *heap, const char *path, size_t most, char **out,
                     size_t *bytes, gph_error *error)
{
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        return fail(error, GPH_E_INVALID, "%s: %s", path, strerror(errno));
    size_t capacity = 4096, used = 0;
    char *text = heap_alloc(heap, capacity);
    gph_status status = GPH_OK;
    while (text != NULL && status == GPH_OK) {
        const size_t got = fread(text + used, 1, capacity - used, file);
        used += got;
        if (got == 0)
            break;
        if (used > most)
            status = fail(error, GPH_E_FORMAT, "%s has more than %zu bytes", path, most);
        if (used < capacity)
            continue;
        char *grown = heap_grow(heap, text, capacity, capacity * 2);
        if (grown == NULL) {
            heap_free(heap, text, capacity);
            text = NULL;
            break;
        }
        text = grown;
        capacity *= 2;
    }
    if (text == NULL)
        status = fail(error, GPH_E_NO_MEMORY, "reading %s", path);
    else if (status == GPH_OK && ferror(file))
        status = fail(error, GPH_E_INVALID, "%s: %s", path, strerror(errno));
    fclose(file);
    if (status == GPH_OK) { /* exactly as long as it is, so that *bytes frees it */
        char *fit = heap_grow(heap, text, capacity, used + 1);
        if (fit == NULL)
            status = fail(error, GPH_E_NO_MEMORY, "reading %s", path);
        else
            text = fit, text[used] = 0;
    }
    if (status != GPH_OK) {
        heap_free(heap, text, capacity);
        return status;
    }
    *out = text;
    *bytes = used + 1;
    return GPH_OK;
}

/* Gives `floats` floats a place, on a boundary of 256 bytes. */
static size_t place(weights *w, uint64_t floats)
{
    const size_t at = w->floats;
    w->floats += (size_t)((floats + 63) / 64 * 64);
    return at;
}

static size_t place_matrix(weights *w, uint32_t inputs, uint32_t outputs)
{
    return place(w, (uint64_t)inputs * weights_stride(outputs));
}

static gph_status lay_out(weights *w, gph_error *error)
{
    const config *c = &w->c;
    const uint32_t query = c->heads * c->head_dim, key = c->kv_heads * c->head_dim;
    const uint64_t inner = c->inner, table = (uint64_t)c->vocab * c->width;
    const uint64_t layer = c->width * (2ull * query + 2ull * key + 3 * inner + 2);
    w->parameters =
        (size_t)(layer * c->layers + (c->tied ? table : 2 * table) + c->width);
    if (w->parameters > PARAMETERS_MAX)
        return fail(error, GPH_E_UNSUPPORTED, "a model of %zu weights, %llu is the most",
                    w->parameters, (unsigned long long)PARAMETERS_MAX);
    w->layer = heap_alloc(&w->heap, c->layers * sizeof(*w->layer));
    if (w->layer == NULL)
        return fail(error, GPH_E_NO_MEMORY, "%u layers", c->layers);
    w->embed = place(w, table);
    w->head = place_matrix(w, c->width, c->vocab);
    w->norm = place(w, c->width);
    w->rates = place(w, c->head_dim / 2);
    for (uint32_t i = 0; i < c->layers; i++)
        w->layer[i] = (layer_at){
            .attention_norm = place(w, c->width),
            .qkv = place_matrix(w, c->width, query + 2 * key),
            .out = place_matrix(w, query, c->width),
            .mlp_norm = place(w, c->width),
            .gate_up = place_matrix(w, c->width, 2 * c->inner),
            .down = place_matrix(w, c->inner, c->width),
        };
    w->data = heap_alloc(&w->heap, w->floats * sizeof(float));
    if (w->data == NULL)
        return fail(error, GPH_E_NO_MEMORY, "%zu bytes of weights",
                    w->floats * sizeof(float));
    memset(w->data, 0, w->floats * sizeof(float));
    return GPH_OK;
}

static gph_status find(const tensors *file, const char *name, uint64_t rows,
                       uint64_t columns, const tensor **out, gph_error *error)
{
    const tensor *t = tensors_find(file, name);
    if (t == NULL)
        return fail(error, GPH_E_FORMAT, "there is no tensor %s", name);
    const bool vector = columns == 0;
    if (t->dims != (vector ? 1 : 2) || t->shape[0] != rows ||
        (!vector && t->shape[1] != columns))
        return fail(error, GPH_E_FORMAT, "tensor %s is not of the shape %llu x %llu",
                    name, (unsigned long long)rows,
                    (unsigned long long)(vector ? 1 : columns));
    *out = t;
    return GPH_OK;
}

static gph_status load_vector(weights *w, const tensors *file, const char *name,
                              size_t at, uint32_t count, gph_error *error)
{
    const tensor *t = NULL;
    TRY(find(file, name, count, 0, &t, error));
    return tensors_read(file, t, w->data + at, error);
}

/* Where a matrix goes: ours has `outputs` columns, from `column` on of `all`. */
typedef struct matrix_at {
    size_t at;
    uint32_t inputs, outputs, all, column;
} matrix_at;

static gph_status load_matrix(weights *w, const tensors *file, const char *name,
                              matrix_at to, gph_error *error)
{
    const tensor *t = NULL;
    TRY(find(file, name, to.outputs, to.inputs, &t, error));
    const size_t bytes = (size_t)t->count * sizeof(float);
    float *rows = heap_alloc(&w->heap, bytes);
    if (rows == NULL)
        return fail(error, GPH_E_NO_MEMORY, "%zu bytes of weights", bytes);
    const size_t stride = weights_stride(to.all);
    const gph_status status = tensors_read(file, t, rows, error);
    if (status == GPH_OK)
        for (size_t o = 0; o < to.outputs; o++)
            for (size_t i = 0; i < to.inputs; i++)
                w->data[to.at + i * stride + to.column + o] = rows[o * to.inputs + i];
    heap_free(&w->heap, rows, bytes);
    return status;
}

static gph_status load_layer(weights *w, const tensors *file, uint32_t index,
                             gph_error *error)
{
    const config *c = &w->c;
    const layer_at *at = &w->layer[index];
    const uint32_t query = c->heads * c->head_dim, key = c->kv_heads * c->head_dim;
    const uint32_t all = query + 2 * key, inner = c->inner, width = c->width;
    const struct {
        const char *name;
        matrix_at to;
    } matrices[] = {
        {"self_attn.q_proj", {at->qkv, width, query, all, 0}},
        {"self_attn.k_proj", {at->qkv, width, key, all, query}},
        {"self_attn.v_proj", {at->qkv, width, key, all, query + key}},
        {"self_attn.o_proj", {at->out, query, width, width, 0}},
        {"mlp.gate_proj", {at->gate_up, width, inner, 2 * inner, 0}},
        {"mlp.up_proj", {at->gate_up, width, inner, 2 * inner, inner}},
        {"mlp.down_proj", {at->down, inner, width, width, 0}},
    };
    char name[96];
    for (size_t i = 0; i < sizeof(matrices) / sizeof(matrices[0]); i++) {
        snprintf(name, sizeof(name), "model.layers.%u.%s.weight", index,
                 matrices[i].name);
        TRY(load_matrix(w, file, name, matrices[i].to, error));
    }
    snprintf(name, sizeof(name), "model.layers.%u.input_layernorm.weight", index);
    TRY(load_vector(w, file, name, at->attention_norm, width, error));
    snprintf(name, sizeof(name), "model.layers.%u.post_attention_layernorm.weight",
             index);
    return load_vector(w, file, name, at->mlp_norm, width, error);
}

/* The rotations of one position, as transformers computes them. */
static void compute_rates(weights *w)
{
    const config *c = &w->c;
    const double pi = 3.14159265358979323846;
    for (uint32_t i = 0; i < c->head_dim / 2; i++) {
        double rate = pow(c->theta, -2.0 * i / c->head_dim);
        if (c->factor > 0) {
            const double turns = c->trained_positions * rate / (2 * pi);
            double keep = (turns - c->low) / (c->high - c->low);
            keep = keep < 0 ? 0 : keep > 1 ? 1 : keep;
            rate = rate * keep + rate / c->factor * (1 - keep);
        }
        w->data[w->rates + i] = (float)rate;
    }
}

static gph_status load_all(weights *w, const tensors *file, gph_error *error)
{
    const config *c = &w->c;
    const tensor *t = NULL;
    TRY(find(file, "model.embed_tokens.weight", c->vocab, c->width, &t, error));
    TRY(tensors_read(file, t, w->data + w->embed, error));
    const char *head = c->tied ? "model.embed_tokens.weight" : "lm_head.weight";
    TRY(load_matrix(w, file, head, (matrix_at){w->head, c->width, c->vocab, c->vocab, 0},
                    error));
    TRY(load_vector(w, file, "model.norm.weight", w->norm, c->width, error));
    for (uint32_t i = 0; i < c->layers; i++)
        TRY(load_layer(w, file, i, error));
    return GPH_OK;
}

gph_status weights_make(const gph_allocator *heap, const config *c, weights *out,
                        gph_error *error)
{
    weights w = {.heap = *heap, .c = *c};
    const gph_status status = lay_out(&w, error);
    if (status != GPH_OK) {
        weights_fini(&w);
        return status;
    }
    compute_rates(&w);
    *out = w;
    return GPH_OK;
}

gph_status weights_load(const gph_allocator *heap, const char *folder, weights *out,
                        gph_error *error)
{
    char path[4096];
    char *text = NULL;
    size_t bytes = 0;
    weights w = {.heap = *heap};
    config c = {0};
    if (snprintf(path, sizeof(path), "%s/model.safetensors", folder) >= (int)sizeof(path))
        return fail(error, GPH_E_INVALID, "a folder name of %zu bytes", strlen(folder));
    snprintf(path, sizeof(path), "%s/config.json", folder);
    TRY(file_read(heap, path, CONFIG_BYTES_MAX, &text, &bytes, error));
    gph_status status = config_read(heap, text, bytes - 1, &c, error);
    heap_free(heap, text, bytes);
    TRY(status);

    tensors file;
    snprintf(path, sizeof(path), "%s/model.safetensors", folder);
    TRY(tensors_open(heap, path, &file, error));
    status = weights_make(heap, &c, &w, error);
    if (status == GPH_OK)
        status = load_all(&w, &file, error);
    tensors_close(&file);
    if (status != GPH_OK) {
        weights_fini(&w);
        return status;
    }
    *out = w;
    return GPH_OK;
}

void weights_fini(weights *w)
{
    heap_free(&w->heap, w->data, w->floats * sizeof(float));
    heap_free(&w->heap, w->layer, w->c.layers * sizeof(*w->layer));
    *w = (weights){0};
}
