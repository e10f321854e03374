// SPDX-License-Identifier: Apache-2.0
/* The model's kernels in order. A step at batch 16 of the adding model, 30 launches:
 *
 *   embed
 *   per layer: rms_norm, matmul qkv, rotary, kv_append, attention, matmul out,
 *              residual_add, rms_norm, matmul gate_up, swiglu, matmul down, residual_add
 *   rms_norm, matmul head, [record], argmax or softmax and top_p, advance
 */
#include "step.h"

#include "fail.h"
#include <math.h>

/* What the rows of a pass are; device addresses. */
typedef struct pass {
    decoder *m;
    gph_error *error;
    uint32_t rows, layers;
    CUdeviceptr token, position, slot;
} pass;

#define LAUNCH(p, which, grid_x, grid_y, block_x, block_y, shared, ...)                  \
    device_launch((p)->m->d, KERNEL_##which,                                             \
                  (launch_size){grid_x, grid_y, block_x, block_y, shared},               \
                  (void *[]){__VA_ARGS__}, (p)->error)

static uint32_t blocks(uint32_t items, uint32_t size)
{
    return (items + size - 1) / size;
}

static CUdeviceptr weight_at(const decoder *m, size_t floats)
{
    return m->weights + floats * sizeof(float);
}

static rows_t rows_of(const pass *p)
{
    return (rows_t){.slot = (const int *)(uintptr_t)p->slot,
                    .position = (const int *)(uintptr_t)p->position};
}

static gph_status norm(pass *p, CUdeviceptr out, CUdeviceptr x, size_t weight)
{
    CUdeviceptr w = weight_at(p->m, weight);
    return LAUNCH(p, rms_norm, p->rows, 1, 128, 1, 0, &out, &x, &w, &p->position,
                  &p->m->c.width, &p->m->c.eps);
}

static gph_status multiply(pass *p, CUdeviceptr out, CUdeviceptr x, size_t weight,
                           uint32_t inputs, uint32_t outputs)
{
    CUdeviceptr w = weight_at(p->m, weight);
    matrix_t size = {inputs, outputs, weights_stride(outputs)};
    if (p->rows == 1)
        return LAUNCH(p, matvec, blocks(outputs, 32), 1, 32, 8, 0, &out, &x, &w,
                      &p->position, &size);
    return LAUNCH(p, matmul, blocks(outputs, 64), blocks(p->rows, 8), 64, 1, 0, &out, &x,
                  &w, &p->position, &p->rows, &size);
}

static gph_status add(pass *p)
{
    const decoder_options *o = &p->m->o;
    if (o->sum != NULL)
        TRY(o->sum(o->sum_user, p->m->y, (uint64_t)p->rows * p->m->c.width, p->error));
    return LAUNCH(p, residual_add, blocks(p->m->c.width, 128), p->rows, 128, 1, 0,
                  &p->m->x, &p->m->y, &p->position, &p->m->c.width);
}

/* A thread a position or a dimension, whichever is more; whole warps. */
static uint32_t attention_threads(const decoder *m)
{
    const uint32_t head_dim = m->c.head_dim, context = m->o.context;
    const uint32_t items = context > head_dim ? context : head_dim;
    return items >= 256 ? 256 : blocks(items, 32) * 32;
}

static gph_status attend(pass *p, uint32_t layer)
{
    decoder *m = p->m;
    const config *c = &m->c;
    uint32_t query = c->heads * c->head_dim, key = c->kv_heads * c->head_dim;
    uint32_t stride = query + 2 * key, head_dim = c->head_dim;
    CUdeviceptr rates = weight_at(m, m->rates);
    const uint64_t cache = (uint64_t)key * m->o.context * m->o.slots * layer * 4;
    CUdeviceptr keys = m->keys + cache, values = m->values + cache;
    CUdeviceptr first_key = m->qkv + (uint64_t)query * 4;
    rows_t rows = rows_of(p);
    shape_t shape = {c->heads, c->kv_heads, head_dim, m->o.context,
                     1.0f / sqrtf((float)head_dim)};
    TRY(norm(p, m->hidden, m->x, m->layer[layer].attention_norm));
    TRY(multiply(p, m->qkv, m->hidden, m->layer[layer].qkv, c->width, stride));
    TRY(LAUNCH(p, rotary, c->heads + c->kv_heads, p->rows, 32, 1, 0, &m->qkv, &rates,
               &p->position, &stride, &head_dim));
    TRY(LAUNCH(p, kv_append, c->kv_heads, p->rows, 32, 1, 0, &keys, &values, &first_key,
               &rows, &stride, &shape));
    TRY(LAUNCH(p, attention, c->heads, p->rows, attention_threads(m), 1, m->o.context * 4,
               &m->mix, &m->qkv, &keys, &values, &rows, &shape));
    TRY(multiply(p, m->y, m->mix, m->layer[layer].out, query, c->width));
    return add(p);
}

static gph_status feed_forward(pass *p, uint32_t layer)
{
    decoder *m = p->m;
    const config *c = &m->c;
    uint32_t inner = c->inner;
    TRY(norm(p, m->hidden, m->x, m->layer[layer].mlp_norm));
    TRY(multiply(p, m->gate_up, m->hidden, m->layer[layer].gate_up, c->width, 2 * inner));
    TRY(LAUNCH(p, swiglu, blocks(inner, 128), p->rows, 128, 1, 0, &m->inner, &m->gate_up,
               &p->position, &inner));
    TRY(multiply(p, m->y, m->inner, m->layer[layer].down, inner, c->width));
    return add(p);
}

/* From tokens to the residual stream after the last layer. */
static gph_status body(pass *p)
{
    decoder *m = p->m;
    CUdeviceptr table = weight_at(m, m->embed);
    TRY(LAUNCH(p, embed, p->rows, 1, 128, 1, 0, &m->x, &table, &p->token, &p->position,
               &m->c.width));
    for (uint32_t i = 0; i < p->layers; i++) {
        TRY(attend(p, i));
        TRY(feed_forward(p, i));
    }
    return GPH_OK;
}

/* From `x` to a token a row. */
static gph_status head(pass *p, CUdeviceptr x, CUdeviceptr sequence, bool record)
{
    decoder *m = p->m;
    TRY(norm(p, m->hidden, x, m->norm));
    TRY(multiply(p, m->logits, m->hidden, m->head, m->c.width, m->c.vocab));
    if (record)
        TRY(LAUNCH(p, record, p->rows, 1, 128, 1, 0, &m->log, &m->logits, &p->position,
                   &m->state.step, &m->c.vocab, &m->log_steps));
    if (m->o.top_p <= 0)
        return LAUNCH(p, argmax, p->rows, 1, 128, 1, 0, &m->next, &m->logits,
                      &p->position, &m->c.vocab);
    float sharpness = 1.0f / m->o.temperature;
    sampling_t how = {.seed = m->o.seed, .top_p = m->o.top_p};
    TRY(LAUNCH(p, softmax, p->rows, 1, 128, 1, 0, &m->logits, &p->position, &m->c.vocab,
               &sharpness));
    return LAUNCH(p, top_p, p->rows, 1, 128, 1, 0, &m->next, &m->logits, &p->position,
                  &sequence, &m->c.vocab, &how);
}

/* All of a step but its end. */
static gph_status next_tokens(decoder *m, gph_error *error)
{
    pass p = {.m = m,
              .error = error,
              .rows = m->o.slots,
              .layers = m->c.layers,
              .token = (CUdeviceptr)(uintptr_t)m->state.token,
              .position = (CUdeviceptr)(uintptr_t)m->state.position,
              .slot = m->slot_ids};
    const CUdeviceptr sequence = (CUdeviceptr)(uintptr_t)m->state.sequence;
    TRY(body(&p));
    return head(&p, m->x, sequence, m->log_steps > 0);
}

gph_status decoder_step(decoder *m, gph_error *error)
{
    const pass p = {.m = m, .error = error};
    TRY(next_tokens(m, error));
    return LAUNCH(&p, advance, 1, 1, 128, 1, 0, &m->state, &m->next, &m->ring,
                  &m->o.slots, &m->o.ring, &m->c.end);
}

gph_status decoder_loop_step(decoder *m, gph_error *error)
{
    const pass p = {.m = m, .error = error};
    TRY(next_tokens(m, error));
    return LAUNCH(&p, advance_while, 1, 1, 128, 1, 0, &m->state, &m->next, &m->ring,
                  &m->o.slots, &m->o.ring, &m->c.end, &m->going);
}

static CUdeviceptr address(const int *at)
{
    return (CUdeviceptr)(uintptr_t)at;
}

gph_status step_rows(decoder *m, const row_pass *what, gph_error *error)
{
    pass p = {.m = m,
              .error = error,
              .rows = what->rows,
              .layers = what->layers,
              .token = address(what->row.token),
              .position = address(what->row.position),
              .slot = address(what->row.slot)};
    decoder local = *m; /* its tokens go where the caller wants them */
    local.next = what->next;
    p.m = &local;
    TRY(body(&p));
    TRY(head(&p, local.x, address(what->row.sequence), false));
    if (what->margin == 0)
        return GPH_OK;
    CUdeviceptr to = what->margin;
    return LAUNCH(&p, margin, p.rows, 1, 128, 1, 0, &to, &local.logits, &p.position,
                  &local.c.vocab);
}

uint32_t step_staged_ints(const decoder *m)
{
    return 3 * m->rows_max + 7 * m->o.slots;
}

/* Where the arrays of a prefill start, in ints. */
typedef struct staged_at {
    uint32_t token, position, slot, last_row, last_position, sequence, start, end;
} staged_at;

static staged_at stage(decoder *m, const prompt *list, uint32_t count, uint32_t rows)
{
    staged_at at = {.token = 0, .position = rows, .slot = 2 * rows, .last_row = 3 * rows};
    at.last_position = at.last_row + count;
    at.sequence = at.last_position + count;
    at.start = at.sequence + count;
    at.end = at.start + 4 * count;
    uint32_t row = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < list[i].count; k++, row++) {
            m->staged[at.token + row] = list[i].token[k];
            m->staged[at.position + row] = (int)k;
            m->staged[at.slot + row] = list[i].slot;
        }
        m->staged[at.last_row + i] = (int)row - 1;
        m->staged[at.last_position + i] = (int)list[i].count - 1;
        m->staged[at.sequence + i] = list[i].sequence;
        const start_t start = {.slot = list[i].slot,
                               .position = (int)list[i].count,
                               .limit = list[i].limit,
                               .sequence = list[i].sequence};
        memcpy(&m->staged[at.start + 4 * i], &start, sizeof(start));
    }
    return at;
}

/* The launches of a prefill whose arrays are there. */
static gph_status prefill_rows(decoder *m, const staged_at *at, uint32_t rows,
                               uint32_t count, gph_error *error)
{
    pass p = {.m = m,
              .error = error,
              .rows = rows,
              .layers = m->c.layers,
              .token = m->prefill + at->token * sizeof(int),
              .position = m->prefill + at->position * sizeof(int),
              .slot = m->prefill + at->slot * sizeof(int)};
    TRY(body(&p));
    CUdeviceptr last = m->prefill + at->last_row * sizeof(int);
    CUdeviceptr start = m->prefill + at->start * sizeof(int);
    p.rows = count;
    TRY(LAUNCH(&p, gather, count, 1, 128, 1, 0, &m->y, &m->x, &last, &m->c.width));
    p.position = m->prefill + at->last_position * sizeof(int);
    TRY(head(&p, m->y, m->prefill + at->sequence * sizeof(int), false));
    return LAUNCH(&p, place, blocks(count, 32), 1, 32, 1, 0, &m->state, &m->next, &start,
                  &count, &m->c.end);
}

gph_status step_prefill(decoder *m, const prompt *list, uint32_t count, gph_error *error)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < count; i++)
        rows += list[i].count;
    if (count == 0 || count > m->o.slots || rows > m->rows_max)
        return fail(error, GPH_E_INVALID, "a prefill of %u prompts with %u tokens", count,
                    rows);
    const staged_at at = stage(m, list, count, rows);
    CU(m->d, MemcpyHtoDAsync, m->prefill, m->staged, at.end * sizeof(int), m->d->stream);
    return prefill_rows(m, &at, rows, count, error);
}

gph_status step_admit(decoder *m, CUdeviceptr ask, CUdeviceptr out, gph_error *error)
{
    const pass p = {.m = m, .error = error};
    const uint32_t rows = ASK_TOKENS;
    const staged_at at = {.position = rows,
                          .slot = 2 * rows,
                          .last_row = 3 * rows,
                          .last_position = 3 * rows + 1,
                          .sequence = 3 * rows + 2,
                          .start = 3 * rows + 3};
    TRY(LAUNCH(&p, unpack, 1, 1, 32, 1, 0, &ask, &m->prefill));
    TRY(prefill_rows(m, &at, rows, 1, error));
    return LAUNCH(&p, say_first, 1, 1, 1, 1, 0, &out, &m->next, &ask);
}
