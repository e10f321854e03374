// SPDX-License-Identifier: Apache-2.0
/* decode: runs a Llama-architecture model on whatever CUDA driver there is, first as
 * single launches, then as a captured graph that is replayed, and shows that both give
 * the same tokens and what each costs. */
#include "batch.h"
#include "fail.h"
#include "options.h"
#include "report.h"
#include "tokens.h"
#include <stdlib.h>

#ifndef DECODE_MODEL_DIR
#error "DECODE_MODEL_DIR and DECODE_KERNELS_DIR come from the build"
#endif

static void *plain_realloc(void *user, void *ptr, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

typedef struct app {
    gph_allocator heap;
    options o;
    gph_error error;
    device d;
    decoder m;
    weights w;
    problem *problems;
    size_t problem_count;
    int *ids; /* of --tokens */
    size_t id_count;
    size_t count;               /* sequences */
    uint32_t context;           /* positions that the longest needs */
    int *out[MODE_COUNT];       /* by mode: count * new_max tokens */
    sequence *list[MODE_COUNT]; /* by mode */
    uint32_t new_max;
    float *eager_logits; /* of the first mode, while others run */
    size_t eager_count, eager_capacity;
} app;

static gph_status read_input(app *a, gph_error *error)
{
    options *o = &a->o;
    const char *model = o->model ? o->model : DECODE_MODEL_DIR;
    TRY(weights_load(&a->heap, model, &a->w, error));
    if (o->tokens != NULL) {
        TRY(token_ids_read(&a->heap, o->tokens, a->w.c.vocab, &a->ids, &a->id_count,
                           error));
        a->count = 1;
        a->new_max = o->new_tokens;
        return GPH_OK;
    }
    if (a->w.c.vocab != TOKENS_VOCAB)
        return fail(error, GPH_E_INVALID,
                    "a model of %u tokens does no problems; --tokens", a->w.c.vocab);
    const char *path = o->problems ? o->problems : DECODE_MODEL_DIR "/problems.txt";
    TRY(problems_read(&a->heap, path, o->limit, &a->problems, &a->problem_count, error));
    a->count = a->problem_count;
    a->new_max = PROBLEM_ANSWER_MAX;
    return GPH_OK;
}

static gph_status make_sequences(app *a, int mode, gph_error *error)
{
    a->out[mode] = heap_alloc(&a->heap, a->count * a->new_max * sizeof(int));
    a->list[mode] = heap_alloc(&a->heap, a->count * sizeof(sequence));
    if (a->out[mode] == NULL || a->list[mode] == NULL)
        return fail(error, GPH_E_NO_MEMORY, "%zu sequences", a->count);
    for (size_t i = 0; i < a->count; i++) {
        const problem *p = a->problems ? &a->problems[i] : NULL;
        a->list[mode][i] = (sequence){
            .prompt = p ? p->prompt : a->ids,
            .prompt_count = p ? p->prompt_count : (uint32_t)a->id_count,
            .new_max = a->new_max,
            .out = a->out[mode] + i * a->new_max,
        };
    }
    return GPH_OK;
}

static gph_status open_all(app *a, gph_error *error)
{
    const options *o = &a->o;
    TRY(read_input(a, error));
    for (int mode = 0; mode < MODE_COUNT; mode++)
        TRY(make_sequences(a, mode, error));
    for (size_t i = 0; i < a->count; i++) {
        const uint64_t need = (uint64_t)a->list[0][i].prompt_count + a->new_max;
        if (need > a->context)
            a->context = need < UINT32_MAX ? (uint32_t)need : UINT32_MAX;
    }
    /* an example decides by itself: a GPU where there is one */
    gph_driver driver = o->driver;
    if (driver == GPH_DRIVER_DEFAULT && getenv("GPH_DRIVER") == NULL)
        driver = GPH_DRIVER_AUTO;
    const device_options how = {
        .driver = driver,
        .kernels = o->kernels ? o->kernels : DECODE_KERNELS_DIR,
    };
    report_progress("loading the kernels (compiled at the first run)", 0, 0);
    TRY(device_open(&a->heap, &how, &a->d, error));
    report_progress_end();
    return GPH_OK;
}

static void close_all(app *a)
{
    const size_t out = a->count * a->new_max * sizeof(int);
    for (int mode = 0; mode < MODE_COUNT; mode++) {
        heap_free(&a->heap, a->out[mode], out);
        heap_free(&a->heap, a->list[mode], a->count * sizeof(sequence));
    }
    heap_free(&a->heap, a->eager_logits, a->eager_capacity * sizeof(float));
    heap_free(&a->heap, a->problems, a->problem_count * sizeof(problem));
    heap_free(&a->heap, a->ids, a->id_count * sizeof(int));
    decoder_fini(&a->m);
    if (a->d.heap.realloc != NULL)
        device_close(&a->d);
    weights_fini(&a->w);
}

static size_t count_exact(const app *a, const sequence *list)
{
    size_t exact = 0;
    for (size_t i = 0; i < a->problem_count; i++) {
        unsigned long long answer;
        exact += answer_read(list[i].out, list[i].out_count, &answer) &&
                 answer == a->problems[i].sum;
    }
    return exact;
}

/* The first run of a kernel may compile it: a few sequences that nobody times. */
static gph_status warm_up(app *a, gph_error *error)
{
    batch_stats ignored;
    const size_t few = a->count < 2u * a->m.o.slots ? a->count : 2u * a->m.o.slots;
    const batch_options how = {.mode = MODE_EAGER};
    return batch_run(&a->m, &how, a->list[0], few, &ignored, error);
}

static int by_decode_time(const void *a, const void *b)
{
    const batch_stats *x = a, *y = b;
    return x->decode_ns < y->decode_ns ? -1 : x->decode_ns > y->decode_ns;
}

/* One more run; what counts is the median of all so far. */
static gph_status run_mode(app *a, decode_mode mode, mode_result *out, gph_error *error)
{
    static const char *const names[] = {"eager", "graph", "loop"};
    batch_stats sorted[REPEAT_MAX];
    const batch_options how = {.mode = mode, .way = a->o.way};
    out->name = names[mode];
    out->batch = a->m.o.slots;
    out->list = a->list[mode];
    out->count = a->count;
    TRY(batch_run(&a->m, &how, out->list, a->count, &out->runs[out->run_count++], error));
    memcpy(sorted, out->runs, out->run_count * sizeof(sorted[0]));
    qsort(sorted, out->run_count, sizeof(sorted[0]), by_decode_time);
    out->stats = sorted[(out->run_count - 1) / 2];
    out->exact = count_exact(a, out->list);
    return GPH_OK;
}

/* The eager run's logits, handed over before the graph overwrites them. */
static void take_logits(app *a)
{
    heap_free(&a->heap, a->eager_logits, a->eager_capacity * sizeof(float));
    a->eager_logits = a->m.kept;
    a->eager_count = a->m.kept_count;
    a->eager_capacity = a->m.kept_capacity;
    a->m.kept = NULL;
    a->m.kept_count = a->m.kept_capacity = 0;
}

static bool tokens_alike(const app *a, int mode)
{
    for (size_t i = 0; i < a->count; i++) {
        const sequence *e = &a->list[0][i], *g = &a->list[mode][i];
        if (e->out_count != g->out_count ||
            memcmp(e->out, g->out, e->out_count * sizeof(int)) != 0)
            return false;
    }
    return true;
}

static bool runs_alike(const app *a, int mode)
{
    return tokens_alike(a, mode) && a->eager_count == a->m.kept_count &&
           a->eager_count > 0 &&
           memcmp(a->eager_logits, a->m.kept, a->eager_count * sizeof(float)) == 0;
}

/* Eager, and others beside it. */
static bool compares(const options *o)
{
    return (o->modes & RUN_EAGER) != 0 && o->modes != RUN_EAGER;
}

/* The modes take turns, so that what disturbs the machine disturbs all. */
static gph_status run_modes(app *a, leg *l, gph_error *error)
{
    l->alike = true;
    for (uint32_t i = 0; i < a->o.repeat; i++) {
        if (a->o.modes & RUN_EAGER)
            TRY(run_mode(a, MODE_EAGER, &l->result[MODE_EAGER], error));
        if (compares(&a->o))
            take_logits(a);
        for (int mode = MODE_GRAPH; mode < MODE_COUNT; mode++) {
            if ((a->o.modes & 1u << mode) == 0)
                continue;
            TRY(run_mode(a, (decode_mode)mode, &l->result[mode], error));
            l->alike = l->alike && (!compares(&a->o) || runs_alike(a, mode));
        }
    }
    l->logit_bytes = a->eager_count * sizeof(float);
    return GPH_OK;
}

static gph_status run_leg(app *a, uint32_t batch, leg *l, gph_error *error)
{
    const options *o = &a->o;
    const decoder_options what = {.slots = batch,
                                  .context = a->context,
                                  .queue = o->queue,
                                  .ring = o->modes & RUN_LOOP ? a->context + o->queue : 0,
                                  .top_p = (float)o->top_p,
                                  .temperature = (float)o->temperature,
                                  .seed = o->seed,
                                  .keep_logits = compares(o),
                                  .progress = report_progress};
    decoder_fini(&a->m);
    TRY(decoder_init(&a->m, &a->d, &a->w, &what, error));
    TRY(warm_up(a, error));
    return run_modes(a, l, error);
}

/* --mode cache and --mode tree: the same requests eagerly first. */
static gph_status run_serving(app *a, const report *r, int *verdict, gph_error *error)
{
    static serve_result eager = {.name = "eager"}, recorded;
    const bool tree = a->o.modes == RUN_TREE;
    const decoder_options what = {.slots = a->o.batch[0],
                                  .context = a->context,
                                  .queue = a->o.queue,
                                  .temperature = (float)a->o.temperature,
                                  .seed = a->o.seed,
                                  .progress = report_progress};
    TRY(decoder_init(&a->m, &a->d, &a->w, &what, error));
    TRY(warm_up(a, error));
    eager.list = a->list[0];
    recorded.list = a->list[1];
    recorded.name = tree ? "tree" : "cache";
    eager.count = recorded.count = a->count;
    const serve_options plain = {.mode = SERVE_EAGER};
    const serve_options how = {.mode = tree ? SERVE_TREE : SERVE_CACHE,
                               .trace = a->o.trace};
    TRY(serve_run(&a->m, &plain, eager.list, a->count, &eager.stats, error));
    TRY(serve_run(&a->m, &how, recorded.list, a->count, &recorded.stats, error));
    eager.exact = count_exact(a, eager.list);
    recorded.exact = count_exact(a, recorded.list);
    report_progress_end();
    const bool alike = tokens_alike(a, 1);
    report_serve(r, &eager, &recorded, alike);
    *verdict = !alike || recorded.exact < a->o.expect;
    if (recorded.exact < a->o.expect)
        printf("    only %zu answers are exact, %u were expected\n", recorded.exact,
               a->o.expect);
    return GPH_OK;
}

/* --mode dispatch: the same requests, launched by the host first. */
static gph_status run_online(app *a, const report *r, int *verdict, gph_error *error)
{
    static online_result results[] = {{.name = "host"}, {.name = "device"}};
    const decoder_options what = {.slots = a->o.batch[0],
                                  .context = a->context,
                                  .queue = a->o.queue,
                                  .top_p = (float)a->o.top_p,
                                  .temperature = (float)a->o.temperature,
                                  .seed = a->o.seed};
    TRY(decoder_init(&a->m, &a->d, &a->w, &what, error));
    TRY(warm_up(a, error));
    for (int i = 0; i < 2; i++) {
        online_result *result = &results[i];
        result->list = a->list[i];
        result->count = a->count;
        TRY(online_run(&a->m, i == 1, 1000u * (uint64_t)a->o.gap_us, result->list,
                       a->count, &result->stats, error));
        result->exact = count_exact(a, result->list);
        if (result->exact < a->o.expect)
            printf("    only %zu answers are exact, %u were expected\n", result->exact,
                   a->o.expect);
        *verdict |= result->exact < a->o.expect;
    }
    report_progress_end();
    const bool alike = tokens_alike(a, 1);
    report_online(r, &results[0], &results[1], alike);
    *verdict |= !alike;
    return GPH_OK;
}

/* *verdict: 1 if the modes differ or too few answers are right. */
static gph_status run_all(app *a, const char *program, int *verdict, gph_error *error)
{
    static leg legs[2];
    const options *o = &a->o;
    const report r = {.program = program,
                      .model = o->model ? o->model : DECODE_MODEL_DIR,
                      .o = o,
                      .d = &a->d,
                      .w = &a->w,
                      .problems = a->problems,
                      .problem_count = a->problem_count,
                      .prompt_count = a->id_count};
    report_head(&r);
    if (o->modes == RUN_DISPATCH)
        return run_online(a, &r, verdict, error);
    if (o->modes >= RUN_CACHE)
        return run_serving(a, &r, verdict, error);
    for (uint32_t i = 0; i < o->batch_count; i++)
        TRY(run_leg(a, o->batch[i], &legs[i], error));
    report_progress_end();
    report_answers(&r, &legs[0].result[o->modes == RUN_GRAPH ? MODE_GRAPH : MODE_EAGER]);
    report_table(&r, legs, o->batch_count);
    for (uint32_t i = 0; i < o->batch_count; i++) {
        report_leg(&r, &legs[i]);
        *verdict |= !legs[i].alike;
        for (int mode = 0; mode < MODE_COUNT; mode++)
            if (legs[i].result[mode].run_count > 0 &&
                legs[i].result[mode].exact < o->expect) {
                printf("    only %zu answers are exact, %u were expected\n",
                       legs[i].result[mode].exact, o->expect);
                *verdict = 1;
            }
    }
    report_next(&r);
    return GPH_OK;
}

static int complain(const gph_error *error)
{
    fprintf(stderr, "decode: %s (%s)\n", error->message, gph_status_name(error->code));
    if (error->hint[0] != 0)
        fprintf(stderr, "decode: hint: %s\n", error->hint);
    return error->code == GPH_E_INVALID ? 2 : 1;
}

int main(int count, char **words)
{
    app a = {.heap = {.realloc = plain_realloc}};
    int verdict = 0;
    if (options_read(count, words, &a.o, &a.error) != GPH_OK) {
        fprintf(stderr, "decode: %s; --help lists the options\n", a.error.message);
        return 2;
    }
    if (a.o.help) {
        options_help();
        return 0;
    }
    gph_status status = open_all(&a, &a.error);
    if (status == GPH_OK)
        status = run_all(&a, words[0], &verdict, &a.error);
    fflush(stdout);
    report_progress_end();
    if (status != GPH_OK)
        verdict = complain(&a.error);
    close_all(&a);
    return verdict;
}
