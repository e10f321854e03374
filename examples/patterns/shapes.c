// SPDX-License-Identifier: Apache-2.0
/* The patterns about shapes: what changes from call to call, and what need not. */
#include "common.h"

#include <gph/cache_figures.h>

enum { LENGTHS = 12, LONGEST = 32, LAYERS = 6 };
static const int64_t lengths[LENGTHS] = {5, 9, 12, 7, 30, 12, 31, 16, 3, 22, 11, 28};

/* ---- padding: y = ((x + 1) + 1) + 1 ..., of any length ---- */

static gph_status layers(void *user, gph_call *call, gph_error *error)
{
    common *c = user;
    const CUstream before = c->stream;
    unsigned n = (unsigned)call->inputs[0].shape[0];
    float one = 1;
    CUdeviceptr x = call->inputs[0].data, y = 0;
    gph_status status =
        gph_pool_alloc(call->pool, n * sizeof(float), call->stream, &y, error);
    c->stream = call->stream;
    if (status == GPH_OK)
        status = LAUNCH(fill, n, &y, &one, &n);
    for (int i = 0; i < LAYERS && status == GPH_OK; i++)
        status = LAUNCH(scale_add, n, &y, &x, &one, &n);
    c->stream = before;
    call->outputs[0] = gph_tensor_dense(y, GPH_DTYPE_F32, 1, call->inputs[0].shape);
    return status;
}

static gph_cache *make_cache(common *c, const gph_cache_axis *axis, double overshoot)
{
    const gph_cache_tensor row = {.dtype = GPH_DTYPE_F32,
                                  .rank = 1,
                                  .shape = {1},
                                  .axis = {1},
                                  .fill = GPH_FILL_ZERO};
    gph_cache *cache = NULL;
    gph_cache_options options = GPH_CACHE_OPTIONS_INIT;
    options.pool = c->pool;
    options.axes = axis;
    options.inputs = options.outputs = &row;
    options.axis_count = options.input_count = options.output_count = 1;
    options.function = layers;
    options.user = c;
    options.lazy = GPH_CACHE_LAZY_CALL;
    options.overshoot_max = overshoot;
    MUST(gph_cache_create(c->gph, &options, &cache, &c->error));
    return cache;
}

/* All lengths through a cache whose keys are captured when they are first missed. */
static void say(common *c, const char *word, const gph_cache_axis *axis, double overshoot)
{
    gph_cache *cache = make_cache(c, axis, overshoot);
    gph_cache_stats stats = GPH_SIZED(gph_cache_stats);
    float sum = 0;
    CUdeviceptr x;
    MUST(gph_pool_alloc(c->pool, LONGEST * sizeof(float), c->stream, &x, &c->error));
    CU(MemsetD32Async, x, 0x3f800000, LONGEST, c->stream); /* ones */
    for (int i = 0; i < LENGTHS; i++) {
        gph_tensor in = gph_tensor_dense(x, GPH_DTYPE_F32, 1, &lengths[i]), out = {0};
        gph_cache_call_args call = GPH_CACHE_CALL_INIT;
        call.stream = c->stream;
        call.sizes = &lengths[i];
        call.inputs = &in;
        call.outputs = &out;
        MUST(gph_cache_call(cache, &call, &c->error));
        sum += read_float(c, out.data + (CUdeviceptr)(lengths[i] - 1) * sizeof(float));
    }
    gph_cache_stats_get(cache, &stats);
    printf(
        "  %s %d calls of %d lengths, %llu captures, %llu elements of padding; the last "
        "elements add up to %g\n",
        word, LENGTHS, LENGTHS - 1, (unsigned long long)stats.captures,
        (unsigned long long)(stats.padded_units - stats.real_units), (double)sum);
    gph_cache_destroy(cache);
    MUST(gph_pool_free(c->pool, x, c->stream, &c->error));
}

void pattern_padding(common *c)
{
    const gph_cache_axis exact = {
        .name = "length", .ladder = GPH_LADDER_LINEAR, .last = LONGEST, .step = 1};
    const gph_cache_axis buckets = {.name = "length",
                                    .ladder = GPH_LADDER_LINEAR,
                                    .first = 8,
                                    .last = LONGEST,
                                    .step = 8};
    puts("padding");
    say(c, "before:", &exact, 1); /* no padding at all */
    say(c, "after: ", &buckets, 3);
}

/* ---- prefill: prompts of any length, then 16 tokens each of one shape ---- */

enum { PROMPTS = 3, TOKENS = 16 };

static void prompt(common *c, CUdeviceptr state, CUdeviceptr x, unsigned length)
{
    float one = 1, zero = 0;
    unsigned width = LONGEST;
    MUST(LAUNCH(fill, width, &state, &zero, &width));
    MUST(LAUNCH(fill, length, &x, &one, &length));
    MUST(LAUNCH(scale_add, length, &state, &x, &one, &length));
}

static void token(common *c, CUdeviceptr state, CUdeviceptr x)
{
    float one = 1;
    unsigned width = LONGEST;
    for (int i = 0; i < LAYERS; i++)
        MUST(LAUNCH(scale_add, width, &state, &x, &one, &width));
}

static void generate(common *c, const char *word, gph_exec *step, CUdeviceptr state,
                     CUdeviceptr x)
{
    c->launches = 0;
    for (int p = 0; p < PROMPTS; p++) {
        prompt(c, state, x, (unsigned)lengths[p]);
        for (int t = 0; t < TOKENS; t++) {
            if (step == NULL) {
                token(c, state, x);
                continue;
            }
            c->launches++;
            MUST(gph_exec_launch(step, c->stream, &c->error));
        }
    }
    printf("  %s %u launches for %d prompts and %d tokens; the state is %g\n", word,
           c->launches, PROMPTS, PROMPTS * TOKENS, (double)read_float(c, state));
}

void pattern_prefill(common *c)
{
    CUdeviceptr state, x;
    gph_capture *open = NULL;
    CUgraph graph = NULL;
    gph_exec *step = NULL;
    MUST(gph_pool_alloc(c->pool, LONGEST * sizeof(float), c->stream, &state, &c->error));
    MUST(gph_pool_alloc(c->pool, LONGEST * sizeof(float), c->stream, &x, &c->error));
    puts("prefill");
    generate(c, "before:", NULL, state, x);
    MUST(gph_capture_begin(c->gph, c->stream, NULL, &open, &c->error));
    token(c, state, x);
    MUST(gph_capture_end(open, &graph, &c->error));
    MUST(gph_exec_create(c->gph, graph, NULL, &step, &c->error));
    CU(GraphDestroy, graph);
    generate(c, "after: ", step, state, x);
    gph_exec_destroy(step);
    MUST(gph_pool_free(c->pool, state, c->stream, &c->error));
    MUST(gph_pool_free(c->pool, x, c->stream, &c->error));
}
