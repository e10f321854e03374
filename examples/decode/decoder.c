// SPDX-License-Identifier: Apache-2.0
/* Memory of the model on a device. */
#include "decoder.h"

#include "fail.h"
#include "step.h"

enum {
    PREFILL_ROWS = 256,      /* at least; a longer context brings more */
    LOG_BYTES = 8 << 20,     /* of logits on the device before they are fetched */
    SHARED_FLOATS = 11 << 10 /* of 48 KiB of shared memory a block: attention's scores */
};
#define KEPT_BYTES_MAX ((size_t)1 << 30)

static gph_status room(decoder *m, CUdeviceptr *out, uint64_t elements, gph_error *error)
{
    return device_alloc(m->d, (size_t)elements * 4, out, error);
}

static gph_status room_for_rows(decoder *m, gph_error *error)
{
    const config *c = &m->c;
    const uint64_t rows = m->rows_max > m->o.slots ? m->rows_max : m->o.slots;
    const uint64_t query = (uint64_t)c->heads * c->head_dim;
    const uint64_t key = (uint64_t)c->kv_heads * c->head_dim;
    TRY(room(m, &m->x, rows * c->width, error));
    TRY(room(m, &m->y, rows * c->width, error));
    TRY(room(m, &m->hidden, rows * c->width, error));
    TRY(room(m, &m->qkv, rows * (query + 2 * key), error));
    TRY(room(m, &m->mix, rows * query, error));
    TRY(room(m, &m->gate_up, rows * 2 * c->inner, error));
    TRY(room(m, &m->inner, rows * c->inner, error));
    TRY(room(m, &m->logits, (uint64_t)m->o.slots * c->vocab, error));
    TRY(room(m, &m->next, m->o.slots, error));
    const uint64_t cache = key * m->o.context * m->o.slots * c->layers;
    TRY(room(m, &m->keys, cache, error));
    return room(m, &m->values, cache, error);
}

static gph_status room_for_state(decoder *m, gph_error *error)
{
    CUdeviceptr at = 0;
    const uint64_t slots = m->o.slots;
    const uint32_t staged = step_staged_ints(m);
    void *pinned = NULL;
    TRY(room(m, &at, slots * 4 + 1, error));
    m->state = (state_t){.token = (int *)(uintptr_t)at,
                         .position = (int *)(uintptr_t)(at + slots * 4),
                         .limit = (int *)(uintptr_t)(at + slots * 8),
                         .sequence = (int *)(uintptr_t)(at + slots * 12),
                         .step = (unsigned *)(uintptr_t)(at + slots * 16)};
    TRY(room(m, &m->slot_ids, slots, error));
    TRY(room(m, &m->going, sizeof(going_t) / 4, error));
    TRY(room(m, &m->prefill, staged, error));
    TRY(device_pin(m->d, staged * sizeof(int), &pinned, error));
    m->staged = pinned;
    TRY(device_pin(m->d, m->o.ring * slots * sizeof(int), &pinned, error));
    m->ring = pinned;
    TRY(device_pin(m->d, slots * sizeof(int), &pinned, error));
    m->first = pinned;
    if (m->o.keep_logits) {
        const uint64_t step = slots * m->c.vocab * sizeof(float);
        m->log_steps = step < LOG_BYTES ? (uint32_t)(LOG_BYTES / step) : 1;
        TRY(room(m, &m->log, m->log_steps * slots * m->c.vocab, error));
    }
    return GPH_OK;
}

gph_status decoder_init(decoder *m, device *d, const weights *w,
                        const decoder_options *options, gph_error *error)
{
    *m = (decoder){.d = d, .c = w->c, .layer = w->layer, .o = *options};
    if (m->o.ring < m->o.queue)
        m->o.ring = m->o.queue;
    m->embed = w->embed;
    m->norm = w->norm;
    m->head = w->head;
    m->rates = w->rates;
    if (m->o.context > m->c.positions)
        return fail(error, GPH_E_INVALID, "a sequence of %u tokens, the model takes %u",
                    m->o.context, m->c.positions);
    if (m->o.context > SHARED_FLOATS)
        return fail(error, GPH_E_UNSUPPORTED, "a context of %u, %d is the most here",
                    m->o.context, SHARED_FLOATS);
    m->rows_max = m->o.context > PREFILL_ROWS ? m->o.context : PREFILL_ROWS;
    TRY(device_alloc(d, w->floats * sizeof(float), &m->weights, error));
    TRY(room_for_rows(m, error));
    TRY(room_for_state(m, error));
    for (uint32_t i = 0; i < m->o.slots; i++)
        m->staged[i] = (int)i;
    TRY(device_wait(d, error)); /* the memory's zeros are there before anything else is */
    CU(d, MemcpyHtoD, m->weights, w->data, w->floats * sizeof(float));
    CU(d, MemcpyHtoD, m->slot_ids, m->staged, m->o.slots * sizeof(int));
    return GPH_OK;
}

void decoder_fini(decoder *m)
{
    if (m->d != NULL)
        heap_free(&m->d->heap, m->kept, m->kept_capacity * sizeof(float));
    *m = (decoder){0};
}

gph_status decoder_reset(decoder *m, gph_error *error)
{
    const CUdeviceptr token = (CUdeviceptr)(uintptr_t)m->state.token;
    const CUdeviceptr position = (CUdeviceptr)(uintptr_t)m->state.position;
    CU(m->d, MemsetD32, token, 0, m->o.slots * 4 + 1);
    CU(m->d, MemsetD32, position, UINT32_MAX, m->o.slots);
    if (m->log_steps > 0)
        CU(m->d, MemsetD32, m->log, 0, (size_t)m->log_steps * m->o.slots * m->c.vocab);
    TRY(device_wait(m->d, error));
    m->kept_count = 0;
    return GPH_OK;
}

/* Room for `floats` more logits on the host. */
static gph_status kept_room(decoder *m, size_t floats, float **out, gph_error *error)
{
    const size_t need = m->kept_count + floats;
    if (need > KEPT_BYTES_MAX / sizeof(float))
        return fail(error, GPH_E_UNSUPPORTED,
                    "more than %zu bytes of logits to compare: run the modes one by one",
                    KEPT_BYTES_MAX);
    if (need > m->kept_capacity) {
        const size_t grown = need > 2 * m->kept_capacity ? need : 2 * m->kept_capacity;
        float *fresh = heap_grow(&m->d->heap, m->kept, m->kept_capacity * sizeof(float),
                                 grown * sizeof(float));
        if (fresh == NULL)
            return fail(error, GPH_E_NO_MEMORY, "%zu bytes of logits",
                        grown * sizeof(float));
        m->kept = fresh;
        m->kept_capacity = grown;
    }
    *out = m->kept + m->kept_count;
    m->kept_count = need;
    return GPH_OK;
}

gph_status decoder_keep(decoder *m, uint32_t steps, gph_error *error)
{
    if (m->log_steps == 0 || steps == 0)
        return GPH_OK;
    float *to = NULL;
    const size_t floats = (size_t)steps * m->o.slots * m->c.vocab;
    TRY(kept_room(m, floats, &to, error));
    CU(m->d, MemcpyDtoH, to, m->log, floats * sizeof(float));
    return GPH_OK;
}

gph_status decoder_prefill(decoder *m, const prompt *list, uint32_t count,
                           gph_error *error)
{
    TRY(step_prefill(m, list, count, error));
    CU(m->d, MemcpyDtoHAsync, m->first, m->next, count * sizeof(int), m->d->stream);
    CU(m->d, StreamSynchronize, m->d->stream);
    if (!m->o.keep_logits)
        return GPH_OK;
    float *to = NULL;
    const size_t floats = (size_t)count * m->c.vocab;
    TRY(kept_room(m, floats, &to, error));
    CU(m->d, MemcpyDtoH, to, m->logits, floats * sizeof(float));
    return GPH_OK;
}
