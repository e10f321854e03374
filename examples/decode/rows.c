// SPDX-License-Identifier: Apache-2.0
/* The functions that are recorded for serving. */
#include "rows.h"

#include "fail.h"
#include "step.h"

enum { SCRATCH_MAX = 16 };

/* A decoder whose rows live in the pool of a call, and whose work goes into the stream of
 * the call. */
typedef struct scratch {
    gph_call *call;
    device d;
    decoder m;
    uint32_t count;
    CUdeviceptr block[SCRATCH_MAX];
    gph_error *error;
} scratch;

static gph_status take(scratch *s, CUdeviceptr *out, uint64_t elements)
{
    TRY(gph_pool_alloc(s->call->pool, elements * 4, s->call->stream, out, s->error));
    s->block[s->count++] = *out;
    return GPH_OK;
}

static gph_status take_ints(scratch *s, int **out, uint64_t count)
{
    CUdeviceptr at = 0;
    TRY(take(s, &at, count));
    *out = (int *)(uintptr_t)at;
    return GPH_OK;
}

static gph_status take_rows(scratch *s, uint64_t rows, picked_t *row)
{
    decoder *m = &s->m;
    const config *c = &m->c;
    const uint64_t query = (uint64_t)c->heads * c->head_dim;
    const uint64_t key = (uint64_t)c->kv_heads * c->head_dim;
    TRY(take(s, &m->x, rows * c->width));
    TRY(take(s, &m->y, rows * c->width));
    TRY(take(s, &m->hidden, rows * c->width));
    TRY(take(s, &m->qkv, rows * (query + 2 * key)));
    TRY(take(s, &m->mix, rows * query));
    TRY(take(s, &m->gate_up, rows * 2 * c->inner));
    TRY(take(s, &m->inner, rows * c->inner));
    TRY(take(s, &m->logits, rows * c->vocab));
    TRY(take(s, &m->next, rows));
    TRY(take_ints(s, &row->slot, rows));
    TRY(take_ints(s, &row->token, rows));
    TRY(take_ints(s, &row->position, rows));
    return take_ints(s, &row->sequence, rows);
}

/* Gives the temporaries back; the first failure is the one to report. */
static gph_status give_back(scratch *s, gph_status status)
{
    while (s->count > 0) {
        const gph_status freed =
            gph_pool_free(s->call->pool, s->block[--s->count], s->call->stream,
                          status == GPH_OK ? s->error : NULL);
        status = status == GPH_OK ? freed : status;
    }
    return status;
}

static void scratch_begin(scratch *s, const decoder *m, gph_call *call, gph_error *error)
{
    *s = (scratch){.call = call, .d = *m->d, .m = *m, .error = error};
    s->d.stream = call->stream;
    s->m.d = &s->d;
}

/* An output of the call, in the pool. */
static gph_status give(scratch *s, uint32_t index, gph_dtype dtype, int64_t count)
{
    CUdeviceptr at = 0;
    TRY(gph_pool_alloc(s->call->pool, (uint64_t)count * 4, s->call->stream, &at,
                       s->error));
    s->call->outputs[index] = gph_tensor_dense(at, dtype, 1, &count);
    return GPH_OK;
}

/* Launches a kernel of one block. */
#define LAUNCH_ONE(s, which, threads, ...)                                               \
    device_launch(&(s)->d, KERNEL_##which, (launch_size){1, 1, threads, 1, 0},           \
                  (void *[]){__VA_ARGS__}, (s)->error)

static gph_status step_some(scratch *s)
{
    const gph_tensor *active = &s->call->inputs[0];
    uint32_t rows = (uint32_t)active->shape[0];
    picked_t row;
    TRY(give(s, 0, GPH_DTYPE_I32, rows));
    TRY(take_rows(s, rows, &row));
    CUdeviceptr slots = active->data, given = s->call->outputs[0].data;
    TRY(LAUNCH_ONE(s, pick, 128, &s->m.state, &slots, &row, &rows));
    const row_pass pass = {
        .rows = rows, .layers = s->m.c.layers, .row = row, .next = s->m.next};
    TRY(step_rows(&s->m, &pass, s->error));
    return LAUNCH_ONE(s, put_back, 128, &s->m.state, &slots, &s->m.next, &given, &rows,
                      &s->m.c.end);
}

gph_status rows_step(void *user, gph_call *call, gph_error *error)
{
    scratch s;
    scratch_begin(&s, user, call, error);
    return give_back(&s, step_some(&s));
}

static guesses_t guesses_of(const gph_call *call)
{
    const gph_tensor *in = call->inputs;
    return (guesses_t){
        .first = call->input_count > 0 ? (const int *)(uintptr_t)in[0].data : NULL,
        .more = call->input_count > 1 ? (const int *)(uintptr_t)in[1].data : NULL,
        .first_count = call->input_count > 0 ? (unsigned)in[0].shape[0] : 0,
        .more_count = call->input_count > 1 ? (unsigned)in[1].shape[0] : 0,
    };
}

/* The row at place `at` of the arrays. */
static picked_t row_at(picked_t row, unsigned at)
{
    return (picked_t){row.slot + at, row.token + at, row.position + at,
                      row.sequence + at};
}

/* One token after the other: each guess is the next one's last token. */
static gph_status guess_some(scratch *s)
{
    uint32_t slot = 0;
    guesses_t known = guesses_of(s->call);
    const unsigned before = known.first_count;
    picked_t row;
    TRY(give(s, 0, GPH_DTYPE_I32, GUESSES));
    TRY(give(s, 1, GPH_DTYPE_F32, GUESSES));
    TRY(take_rows(s, before + GUESSES, &row));
    const CUdeviceptr tokens = s->call->outputs[0].data, sure = s->call->outputs[1].data;
    known.more = (const int *)(uintptr_t)tokens;
    /* with nothing known before, the guesses so far count as the first ones */
    if (before == 0)
        known.first = known.more;
    for (unsigned i = 0; i < GUESSES; i++) {
        if (before == 0)
            known.first_count = i;
        else
            known.more_count = i;
        TRY(LAUNCH_ONE(s, look_ahead, 32, &s->m.state, &slot, &known, &row));
        const row_pass pass = {.rows = 1,
                               .layers = GUESS_LAYERS,
                               .row = row_at(row, before + i),
                               .next = tokens + 4 * i,
                               .margin = sure + 4 * i};
        TRY(step_rows(&s->m, &pass, s->error));
    }
    return GPH_OK;
}

gph_status rows_guess(void *user, gph_call *call, gph_error *error)
{
    scratch s;
    scratch_begin(&s, user, call, error);
    return give_back(&s, guess_some(&s));
}

static gph_status verify_some(scratch *s)
{
    uint32_t slot = 0;
    guesses_t known = guesses_of(s->call);
    uint32_t rows = 1 + known.first_count + known.more_count;
    picked_t row;
    TRY(give(s, 0, GPH_DTYPE_I32, 2 + 2 * GUESSES));
    TRY(take_rows(s, rows, &row));
    CUdeviceptr given = s->call->outputs[0].data;
    TRY(LAUNCH_ONE(s, look_ahead, 32, &s->m.state, &slot, &known, &row));
    const row_pass pass = {
        .rows = rows, .layers = s->m.c.layers, .row = row, .next = s->m.next};
    TRY(step_rows(&s->m, &pass, s->error));
    return LAUNCH_ONE(s, accept, 1, &s->m.state, &slot, &row, &s->m.next, &given, &rows,
                      &s->m.c.end);
}

gph_status rows_verify(void *user, gph_call *call, gph_error *error)
{
    scratch s;
    scratch_begin(&s, user, call, error);
    return give_back(&s, verify_some(&s));
}
