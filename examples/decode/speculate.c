// SPDX-License-Identifier: Apache-2.0
/* Speculative decoding, one request at a time. Each step is a path through a tree of
 * graphs, and the host chooses the branch by what the first graph computed:
 *
 *   guess --- unsure ------> verify 2 guesses
 *         \-- sure: guess -> verify 4 guesses
 *
 * Guesses are outputs of one graph and inputs of the next, where they lie: nothing is
 * copied between the graphs of a path. */
#include "speculate.h"

#include "fail.h"
#include "rows.h"

/* A first guess goes on if each of its tokens beats the next likely one by so much. */
static const float SURE = 4.0f;

enum { GIVEN = 2 + 2 * GUESSES };

typedef struct speculation {
    decoder *m;
    gph_arena *arena;
    gph_tree *tree;
    gph_tree_function *guess, *guess_on, *verify, *verify_all;
    int *given;  /* pinned, GIVEN */
    float *sure; /* pinned, GUESSES */
    serve_stats *stats;
    gph_error *error;
} speculation;

static gph_status add(speculation *s, const char *name, gph_function_fn *function,
                      uint32_t inputs, uint32_t outputs, gph_tree_function **out)
{
    gph_tree_function_options how = GPH_TREE_FUNCTION_OPTIONS_INIT;
    how.name = name;
    how.input_count = inputs;
    how.output_count = outputs;
    how.flags = inputs == 0 ? GPH_TREE_FUNCTION_ROOT : 0;
    return gph_tree_function_add(s->tree, function, s->m, &how, out, s->error);
}

static gph_status prepare(speculation *s)
{
    device *d = s->m->d;
    void *pinned = NULL;
    gph_tree_options how = GPH_TREE_OPTIONS_INIT;
    how.stream = d->stream;
    if (s->m->o.slots != 1)
        return fail(s->error, GPH_E_INVALID, "%u slots, a look ahead needs one",
                    s->m->o.slots);
    TRY(decoder_reset(s->m, s->error));
    TRY(device_pin(d, GIVEN * sizeof(int), &pinned, s->error));
    s->given = pinned;
    TRY(device_pin(d, GUESSES * sizeof(float), &pinned, s->error));
    s->sure = pinned;
    TRY(gph_arena_create(d->runtime, NULL, &s->arena, s->error));
    TRY(gph_tree_create(d->runtime, s->arena, &how, &s->tree, s->error));
    TRY(add(s, "guess", rows_guess, 0, 2, &s->guess));
    TRY(add(s, "guess-on", rows_guess, 1, 2, &s->guess_on));
    TRY(add(s, "verify", rows_verify, 1, 1, &s->verify));
    return add(s, "verify-all", rows_verify, 2, 1, &s->verify_all);
}

/* Waits for an output, and reads it. */
static gph_status fetch(speculation *s, gph_tree_output output, void *to, size_t bytes)
{
    gph_error *error = s->error;
    device *d = s->m->d;
    CUdeviceptr from = 0;
    TRY(gph_tree_output_data(s->tree, output, &from, error));
    CU(d, MemcpyDtoHAsync, to, from, bytes, d->stream);
    CU(d, StreamSynchronize, d->stream);
    return GPH_OK;
}

/* Calls a function; the time until it returns is the host's. */
static gph_status call(speculation *s, gph_tree_function *function,
                       const gph_tree_input *inputs, gph_tree_output *outputs)
{
    const uint64_t start = device_clock_ns();
    TRY(gph_tree_call(s->tree, function, NULL, inputs, outputs, s->error));
    s->stats->host_ns += device_clock_ns() - start;
    return GPH_OK;
}

static bool is_sure(const speculation *s)
{
    bool sure = true;
    for (int i = 0; i < GUESSES; i++)
        sure = sure && s->sure[i] >= SURE;
    return sure;
}

/* One step: s->given says what came of it. The outputs are released by the calls that take
 * them, so that their memory is for the next graphs. */
static gph_status look_ahead(speculation *s)
{
    gph_tree_output guess[2], more[2], given;
    TRY(call(s, s->guess, NULL, guess));
    TRY(fetch(s, guess[1], s->sure, GUESSES * sizeof(float)));
    gph_tree_output_release(s->tree, guess[1]);
    const bool sure = is_sure(s);
    gph_tree_input known[2] = {{.output = guess[0]}};
    if (sure) {
        TRY(call(s, s->guess_on, known, more));
        gph_tree_output_release(s->tree, more[1]);
        known[1] = (gph_tree_input){.output = more[0], .take = 1};
    }
    known[0].take = 1;
    TRY(call(s, sure ? s->verify_all : s->verify, known, &given));
    TRY(fetch(s, given, s->given, GIVEN * sizeof(int)));
    gph_tree_output_release(s->tree, given);
    s->stats->short_looks += !sure;
    s->stats->guessed += sure ? 2 * GUESSES : GUESSES;
    s->stats->held += (uint64_t)s->given[0] - 1;
    s->stats->steps++;
    return GPH_OK;
}

static gph_status start(speculation *s, const sequence *q, size_t index)
{
    const uint64_t begun = device_clock_ns();
    const prompt p = {.token = q->prompt,
                      .count = q->prompt_count,
                      .limit = (int)(q->prompt_count + q->new_max - 1),
                      .sequence = (int)index};
    TRY(decoder_prefill(s->m, &p, 1, s->error));
    s->stats->prefills++;
    s->stats->prompt_tokens += q->prompt_count;
    s->stats->prefill_ns += device_clock_ns() - begun;
    return GPH_OK;
}

static gph_status run_one(speculation *s, sequence *q, size_t index)
{
    TRY(start(s, q, index));
    int last = s->m->first[0];
    q->out[q->out_count++] = last;
    while (last != s->m->c.end && q->out_count < q->new_max) {
        TRY(look_ahead(s));
        if (s->given[0] < 1 || s->given[0] >= GIVEN)
            return fail(s->error, GPH_E_STATE, "a look ahead gave %d tokens",
                        s->given[0]);
        for (int i = 1; i <= s->given[0]; i++)
            q->out[q->out_count++] = last = s->given[i];
        s->stats->tokens += (uint64_t)s->given[0];
    }
    return GPH_OK;
}

static gph_status run_all(speculation *s, sequence *list, size_t count)
{
    const uint64_t begun = device_clock_ns();
    for (size_t i = 0; i < count; i++) {
        TRY(run_one(s, &list[i], i));
        if (s->m->o.progress != NULL)
            s->m->o.progress("tree", i, count);
    }
    s->stats->decode_ns = device_clock_ns() - begun - s->stats->prefill_ns;
    s->stats->rows = s->stats->steps;
    s->stats->rows_max = 1;
    return GPH_OK;
}

gph_status speculate_run(decoder *m, sequence *list, size_t count, serve_stats *stats,
                         gph_error *error)
{
    speculation s = {.m = m, .stats = stats, .error = error};
    gph_status status = prepare(&s);
    if (status == GPH_OK)
        status = run_all(&s, list, count);
    (void)m->d->cu->StreamSynchronize(m->d->stream); /* after a failure work may run */
    if (s.tree != NULL) {
        stats->tree.size = sizeof(stats->tree);
        gph_tree_stats_get(s.tree, &stats->tree);
        gph_buffer text = {stats->text, sizeof(stats->text), 0};
        gph_status written =
            gph_tree_write(s.tree, GPH_TREE_SHORT, gph_write_buffer, &text, NULL);
        (void)written; /* text for the reader, nothing else hangs on it */
    }
    gph_tree_destroy(s.tree);
    gph_arena_destroy(s.arena);
    return status;
}
