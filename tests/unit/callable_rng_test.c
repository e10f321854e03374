// SPDX-License-Identifier: Apache-2.0
/* Random numbers: what a replay draws is what an eager call would have drawn. The bytes
 * of the kernel's Philox4x32-10 are checked against one of the host. */
#define _GNU_SOURCE
#include "unit/callable_run.h"

enum { WORDS = 64, THREADS = WORDS / 4 };

/* As Salmon and others published it; known answers below. */
static void philox(uint32_t *c, uint64_t key)
{
    uint32_t k[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    for (int round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t)0xD2511F53u * c[0], b = (uint64_t)0xCD9E8D57u * c[2];
        const uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k[0], (uint32_t)b,
                                  (uint32_t)(a >> 32) ^ c[3] ^ k[1], (uint32_t)a};
        memcpy(c, next, sizeof(next));
        k[0] += 0x9E3779B9u;
        k[1] += 0xBB67AE85u;
    }
}

static void the_reference_knows_the_published_answers(void)
{
    /* Random123, kat_vectors: philox4x32 10. */
    uint32_t zero[4] = {0}, ones[4] = {~0u, ~0u, ~0u, ~0u};
    const uint32_t zero_out[] = {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
    const uint32_t ones_out[] = {0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu};
    philox(zero, 0);
    philox(ones, ~(uint64_t)0);
    CHECK(memcmp(zero, zero_out, sizeof(zero)) == 0);
    CHECK(memcmp(ones, ones_out, sizeof(ones)) == 0);
}

/* outputs[0]: WORDS random words; takes `*user` numbers of the generator, one for each
 * kernel, and returns the last kernel's words. */
static gph_status draw(void *user, gph_call *call, gph_error *out)
{
    const unsigned kernels = *(const unsigned *)user;
    CUdeviceptr at = 0, rng = call->rng;
    gph_status status = gph_pool_alloc(call->pool, WORDS * 4, call->stream, &at, out);
    call->outputs[0] = gph_tensor_dense(at, GPH_DTYPE_U32, 1, (int64_t[]){WORDS});
    for (unsigned skip = 0; status == GPH_OK && skip < kernels; skip++) {
        unsigned n = THREADS;
        void *params[] = {&at, &n, &rng, &skip};
        status = gph_cuda_check(cu->LaunchKernel(philox_fill, 1, 1, 1, THREADS, 1, 1, 0,
                                                 call->stream, params, NULL),
                                "cuLaunchKernel", out);
    }
    call->rng_count = kernels;
    return status;
}

static gph_rng *new_rng(uint64_t seed)
{
    gph_rng *rng = NULL;
    CHECK_OK(gph_rng_create(runtime, seed, &rng, &error), error);
    return rng;
}

static gph_callable_options draw_options(gph_rng *rng, unsigned *kernels)
{
    gph_callable_options options = options_for(draw, NULL, 0, 1);
    options.user = kernels;
    options.rng = rng;
    options.warmup_count = 1;
    options.flags = GPH_CALLABLE_ANY_ORDER; /* outputs are read at once */
    return options;
}

static gph_callable *new_draw(gph_rng *rng, unsigned *kernels)
{
    const gph_callable_options options = draw_options(rng, kernels);
    gph_callable *callable = NULL;
    CHECK_OK(gph_callable_create(runtime, &options, &callable, &error), error);
    return callable;
}

/* What lies at `at` are the words of seed and offset. */
static bool has_words(CUdeviceptr at, uint64_t seed, uint64_t offset)
{
    uint32_t host[WORDS];
    CU(MemcpyDtoHAsync, host, at, sizeof(host), stream);
    CU(StreamSynchronize, stream);
    for (uint32_t i = 0; i < THREADS; i++) {
        uint32_t c[4] = {(uint32_t)offset, (uint32_t)(offset >> 32), i, 0};
        philox(c, seed);
        if (memcmp(c, host + 4 * i, sizeof(c)) != 0)
            return false;
    }
    return true;
}

static CUdeviceptr replay_in(gph_callable *callable, CUstream where)
{
    gph_tensor out = {0};
    CHECK_OK(gph_callable_call(callable, NULL, where, &out, &error), error);
    return out.data;
}

static CUdeviceptr replay(gph_callable *callable)
{
    return replay_in(callable, stream);
}

static bool eager_has(gph_rng *rng, unsigned kernels, uint64_t seed, uint64_t offset)
{
    const gph_callable_options options = draw_options(rng, &kernels);
    gph_tensor out = {0};
    if (!CHECK_OK(gph_function_call(runtime, &options, NULL, stream, &out, &error),
                  error))
        return false;
    const bool is_right = has_words(out.data, seed, offset + kernels - 1);
    CHECK_OK(gph_pool_free(pool, out.data, stream, &error), error);
    return is_right;
}

static uint64_t offset_of(const gph_rng *rng)
{
    return gph_rng_state_get(rng).offset;
}

static void each_replay_draws_the_next_numbers(void)
{
    unsigned kernels = 3;
    const uint64_t seed = 0x123456789abcdef0u;
    gph_rng *rng = new_rng(seed);
    gph_callable *callable = new_draw(rng, &kernels);
    CHECK(offset_of(rng) == 0); /* neither warm-up nor capture took any */
    for (uint64_t i = 0; i < 6; i++)
        CHECK(has_words(replay(callable), seed, 3 * i + 2));
    CHECK(offset_of(rng) == 18);
    gph_callable_destroy(callable);
    gph_rng_destroy(rng);
}

static void eager_calls_and_replays_mix(void)
{
    unsigned kernels = 2;
    gph_rng *rng = new_rng(5);
    gph_callable *callable = new_draw(rng, &kernels);
    uint64_t offset = 0;
    for (int i = 0; i < 20; i++) {
        const int kind = (i * i + i / 3) % 3;
        if (kind == 0) {
            CHECK(has_words(replay(callable), 5, offset + 1));
            offset += 2;
        } else if (kind == 1) {
            CHECK(eager_has(rng, 3, 5, offset));
            offset += 3;
        } else {
            const gph_rng_state at = gph_rng_take(rng, 7);
            CHECK(at.seed == 5 && at.offset == offset);
            offset += 7;
        }
        CHECK(offset_of(rng) == offset);
    }
    gph_callable_destroy(callable);
    gph_rng_destroy(rng);
}

static void a_new_seed_is_honoured(void)
{
    unsigned kernels = 1;
    gph_rng *rng = new_rng(1);
    gph_callable *callable = new_draw(rng, &kernels);
    CHECK(has_words(replay(callable), 1, 0));
    CHECK(has_words(replay(callable), 1, 1));
    for (int again = 0; again < 2; again++) {
        gph_rng_state_set(rng, (gph_rng_state){.seed = 2});
        CHECK(has_words(replay(callable), 2, 0));
        CHECK(has_words(replay(callable), 2, 1));
    }
    /* The same offset with another seed, too. */
    gph_rng_state_set(rng, (gph_rng_state){.seed = 3, .offset = 2});
    CHECK(has_words(replay(callable), 3, 2));
    const gph_rng_state kept = gph_rng_state_get(rng);
    CHECK(has_words(replay(callable), 3, 3));
    gph_rng_state_set(rng, kept);
    CHECK(has_words(replay(callable), 3, 3));
    gph_rng_state_set(rng, (gph_rng_state){.seed = ~(uint64_t)0, .offset = 0xffffffffu});
    CHECK(has_words(replay(callable), ~(uint64_t)0, 0xffffffffu));
    CHECK(has_words(replay(callable), ~(uint64_t)0, (uint64_t)1 << 32));
    gph_callable_destroy(callable);
    gph_rng_destroy(rng);
}

/* Queued replays keep their numbers, whatever the host sets before they run. */
static void queued_replays_keep_their_numbers(void)
{
    enum { REPLAYS = 40 };
    unsigned kernels = 1;
    CUdeviceptr log = 0;
    gph_rng *rng = new_rng(9);
    gph_callable *callable = new_draw(rng, &kernels);
    CU(MemAlloc, &log, REPLAYS * WORDS * 4);
    for (uint64_t i = 0; i < REPLAYS; i++) {
        if (i % 3 == 0)
            gph_rng_state_set(rng, (gph_rng_state){.seed = 9, .offset = 1000 * i});
        CU(MemcpyDtoDAsync, log + i * WORDS * 4, replay(callable), WORDS * 4, stream);
    }
    for (uint64_t i = 0; i < REPLAYS; i++)
        CHECK(has_words(log + i * WORDS * 4, 9, 1000 * (i - i % 3) + i % 3));
    CU(MemFree, log);
    gph_callable_destroy(callable);
    gph_rng_destroy(rng);
}

static void graphs_share_a_generator(void)
{
    unsigned one = 1, two = 2;
    gph_rng *rng = new_rng(4);
    gph_callable *a = new_draw(rng, &one), *b = new_draw(rng, &two);
    uint64_t offset = 0;
    for (int i = 0; i < 24; i++) {
        const bool is_b = i % 5 > 2;
        /* Streams that know nothing of each other; the graphs have words of their own. */
        CUstream where = is_b ? other_stream : stream;
        const CUdeviceptr out = replay_in(is_b ? b : a, where);
        CU(StreamSynchronize, where);
        CHECK(has_words(out, 4, offset + (is_b ? 1 : 0)));
        offset += is_b ? 2 : 1;
    }
    CHECK(offset_of(rng) == offset);
    gph_callable_destroy(a);
    CHECK(has_words(replay(b), 4, offset + 1));
    gph_callable_destroy(b);
    gph_rng_destroy(rng);
}

static void graphs_of_one_generator_run_at_once(void)
{
    enum { REPLAYS = 30 };
    unsigned one = 1;
    gph_pool *apart = NULL;
    CUdeviceptr log = 0;
    gph_rng *rng = new_rng(4);
    gph_callable *a = new_draw(rng, &one), *b = NULL;
    CHECK_OK(gph_pool_create(arena, NULL, &apart, &error), error);
    gph_callable_options options = draw_options(rng, &one);
    options.pool = apart;
    CHECK_OK(gph_callable_create(runtime, &options, &b, &error), error);
    CU(MemAlloc, &log, REPLAYS * WORDS * 4);
    for (uint64_t i = 0; i < REPLAYS; i++) {
        CUstream where = i % 2 ? other_stream : stream;
        const CUdeviceptr out = replay_in(i % 2 ? b : a, where);
        CU(MemcpyDtoDAsync, log + i * WORDS * 4, out, WORDS * 4, where);
    }
    CU(StreamSynchronize, other_stream);
    for (uint64_t i = 0; i < REPLAYS; i++)
        CHECK(has_words(log + i * WORDS * 4, 4, i));
    CU(MemFree, log);
    gph_callable_destroy(a);
    gph_callable_destroy(b);
    gph_pool_release(apart);
    gph_rng_destroy(rng);
}

static void generators_do_not_disturb_each_other(void)
{
    unsigned one = 1;
    gph_rng *x = new_rng(100), *y = new_rng(200);
    gph_callable *a = new_draw(x, &one), *b = new_draw(y, &one), *c = new_draw(x, &one);
    for (uint64_t i = 0; i < 4; i++) {
        CHECK(has_words(replay(a), 100, 2 * i));
        CHECK(has_words(replay(b), 200, i));
        CHECK(has_words(replay(c), 100, 2 * i + 1));
    }
    /* Whole states swap places. */
    const gph_rng_state of_x = gph_rng_state_get(x), of_y = gph_rng_state_get(y);
    gph_rng_state_set(x, of_y);
    gph_rng_state_set(y, of_x);
    CHECK(has_words(replay(a), 200, 4));
    CHECK(has_words(replay(b), 100, 8));
    gph_callable_destroy(a);
    gph_callable_destroy(b);
    gph_callable_destroy(c);
    gph_rng_destroy(x);
    gph_rng_destroy(y);
}

/* Draws, then fails. */
static gph_status draw_and_fail(void *user, gph_call *call, gph_error *out)
{
    const gph_status status = draw(user, call, out);
    return status == GPH_OK && call->phase == GPH_PHASE_CAPTURE ? GPH_E_IO : status;
}

static void a_failed_capture_takes_no_numbers(void)
{
    unsigned one = 1;
    gph_rng *rng = new_rng(6);
    gph_callable_options options = draw_options(rng, &one);
    gph_callable *callable = NULL;
    CHECK(eager_has(rng, 1, 6, 0));
    options.function = draw_and_fail;
    CHECK(gph_callable_create(runtime, &options, &callable, &error) == GPH_E_IO);
    CHECK(offset_of(rng) == 1 && callable == NULL);
    CHECK(eager_has(rng, 1, 6, 1));
    callable = new_draw(rng, &one);
    CHECK(has_words(replay(callable), 6, 2));
    CHECK(eager_has(rng, 1, 6, 3));
    gph_callable_destroy(callable);
    gph_rng_destroy(rng);
}

static void a_function_that_draws_nothing_has_no_node_for_it(void)
{
    unsigned none = 0;
    gph_rng *rng = new_rng(6);
    gph_callable_options options = draw_options(rng, &none);
    gph_callable *callable = NULL;
    size_t count = 99;
    options.flags |= GPH_CALLABLE_KEEP_GRAPH;
    CHECK_OK(gph_callable_create(runtime, &options, &callable, &error), error);
    CU(GraphGetNodes, gph_callable_graph(callable), NULL, &count);
    CHECK(count == 0);
    replay(callable);
    CHECK(offset_of(rng) == 0);
    CU(StreamSynchronize, stream);
    gph_callable_destroy(callable);
    gph_rng_destroy(rng);
}

static void a_refused_call_takes_no_numbers(void)
{
    unsigned one = 1;
    gph_rng *rng = new_rng(8);
    gph_callable *callable = new_draw(rng, &one);
    CHECK(has_words(replay(callable), 8, 0));
    gph_tensor surplus = gph_tensor_dense(1, GPH_DTYPE_U8, 0, NULL);
    const gph_arguments arguments = args(&surplus, 1);
    CHECK(gph_callable_call(callable, &arguments, stream, NULL, &error) == GPH_E_INVALID);
    CHECK(offset_of(rng) == 1);
    CHECK(has_words(replay(callable), 8, 1));
    gph_callable_destroy(callable);
    gph_rng_destroy(rng);
}

/* More recordings than words were reserved for at a time; words are used again. */
static void many_graphs_have_words_of_their_own(void)
{
    enum { GRAPHS = 70 };
    static gph_callable *callables[GRAPHS];
    unsigned one = 1;
    uint64_t offset = 0;
    gph_rng *rng = new_rng(3);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < GRAPHS; i++)
            callables[i] = new_draw(rng, &one);
        for (int i = 0; i < GRAPHS; i++)
            CHECK(has_words(replay(callables[i]), 3, offset++));
        for (int i = GRAPHS; i-- > 0;)
            CHECK(has_words(replay(callables[i]), 3, offset++));
        for (int i = 0; i < GRAPHS; i++)
            gph_callable_destroy(callables[i]);
    }
    gph_rng_destroy(rng);
}

static void nothing_is_asked_of_no_generator(void)
{
    gph_rng *rng = NULL;
    CHECK(gph_rng_create(NULL, 1, &rng, &error) == GPH_E_INVALID);
    CHECK(gph_rng_create(runtime, 1, NULL, &error) == GPH_E_INVALID);
    gph_rng_destroy(NULL);
    gph_rng_state_set(NULL, (gph_rng_state){1, 2});
    CHECK(gph_rng_state_get(NULL).seed == 0 && gph_rng_take(NULL, 3).offset == 0);
}

int main(void)
{
    if (!set_up())
        return 1;
    RUN(the_reference_knows_the_published_answers);
    RUN(each_replay_draws_the_next_numbers);
    RUN(eager_calls_and_replays_mix);
    RUN(a_new_seed_is_honoured);
    RUN(queued_replays_keep_their_numbers);
    RUN(graphs_share_a_generator);
    RUN(graphs_of_one_generator_run_at_once);
    RUN(generators_do_not_disturb_each_other);
    RUN(a_failed_capture_takes_no_numbers);
    RUN(a_function_that_draws_nothing_has_no_node_for_it);
    RUN(a_refused_call_takes_no_numbers);
    RUN(many_graphs_have_words_of_their_own);
    RUN(nothing_is_asked_of_no_generator);
    return tear_down();
}
