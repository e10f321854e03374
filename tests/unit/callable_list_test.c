// SPDX-License-Identifier: Apache-2.0
/* Lists of callables: forwards and backwards over one pool, the order of their calls, and
 * what may be read when. Breaks, forks, and threads. */
#define _GNU_SOURCE
#include "unit/callable_run.h"

#include <pthread.h>

enum { LAYERS = 3 };

/* forward of a layer: inputs x, w; outputs y = 2 x + w, and h = x + w, for backward. */
static gph_status layer_forward(void *user, gph_call *call, gph_error *out)
{
    gph_call part = *call;
    gph_status status = twice_plus(user, &part, out);
    CUdeviceptr h = 0;
    if (status == GPH_OK)
        status = gph_pool_alloc(call->pool, N * sizeof(float), call->stream, &h, out);
    call->outputs[1] = floats(h);
    if (status == GPH_OK)
        status = put_copy(h, call->inputs[0].data, call->stream, out);
    if (status == GPH_OK)
        status = put_scale_add(h, call->inputs[1].data, 1, call->stream, out);
    return status;
}

/* backward of a layer: inputs dy, h (managed), grad; grad += h, output dx = 2 dy + h. */
static gph_status layer_backward(void *user, gph_call *call, gph_error *out)
{
    const gph_status status =
        put_scale_add(call->inputs[2].data, call->inputs[1].data, 1, call->stream, out);
    return status == GPH_OK ? twice_plus(user, call, out) : status;
}

/* x = 1 -> y: 2 x + w each layer, w = 10. Backward from dy = 1: dx = 2 dy + h. */
struct chain {
    CUdeviceptr x, w, dy, grad[LAYERS];
    gph_tensor fore[LAYERS][2], back[LAYERS][3];
    gph_callable *list[2 * LAYERS];
};

static const uint8_t fore_modes[] = {GPH_INPUT_MANAGED, GPH_INPUT_STATIC};
static const uint8_t first_modes[] = {GPH_INPUT_COPY, GPH_INPUT_STATIC};
static const uint8_t back_modes[] = {GPH_INPUT_MANAGED, GPH_INPUT_MANAGED,
                                     GPH_INPUT_STATIC};
static const uint8_t last_modes[] = {GPH_INPUT_COPY, GPH_INPUT_MANAGED, GPH_INPUT_STATIC};

static void fill_options(struct chain *c, gph_callable_options *fore,
                         gph_callable_options *back, gph_source (*fore_from)[2],
                         gph_source (*back_from)[3], uint32_t warmups)
{
    for (uint32_t i = 0; i < LAYERS; i++) {
        c->fore[i][0] = i == 0 ? floats(c->x) : (gph_tensor){0};
        c->fore[i][1] = floats(c->w);
        c->back[i][0] = i == LAYERS - 1 ? floats(c->dy) : (gph_tensor){0};
        c->back[i][1] = (gph_tensor){0};
        c->back[i][2] = floats(c->grad[i]);
        fore[i] = options_for(layer_forward, c->fore[i], 2, 2);
        fore[i].modes = i == 0 ? first_modes : fore_modes;
        fore_from[i][0] = (gph_source){i > 0 ? i - 1 : 0, 0};
        fore[i].sources = fore_from[i];
        back[i] = options_for(layer_backward, c->back[i], 3, 1);
        back[i].modes = i == LAYERS - 1 ? last_modes : back_modes;
        back_from[i][0] = (gph_source){LAYERS + i + 1, 0};
        back_from[i][1] = (gph_source){i, 1};
        back[i].sources = back_from[i];
        back[i].clear = &c->back[i][2];
        back[i].clear_count = 1;
        fore[i].warmup_count = back[i].warmup_count = warmups;
    }
}

static bool make_chain(struct chain *c, uint32_t warmups)
{
    gph_callable_options fore[LAYERS], back[LAYERS];
    gph_source fore_from[LAYERS][2] = {0}, back_from[LAYERS][3] = {0};
    *c = (struct chain){.x = new_floats(1), .w = new_floats(10), .dy = new_floats(1)};
    for (int i = 0; i < LAYERS; i++)
        c->grad[i] = new_floats(0);
    fill_options(c, fore, back, fore_from, back_from, warmups);
    return CHECK_OK(gph_callables_create(runtime, fore, back, LAYERS, c->list, &error),
                    error);
}

static void free_chain(struct chain *c)
{
    for (int i = 0; i < 2 * LAYERS; i++)
        gph_callable_destroy(c->list[i]);
    for (int i = 0; i < LAYERS; i++)
        CU(MemFree, c->grad[i]);
    CU(MemFree, c->x);
    CU(MemFree, c->w);
    CU(MemFree, c->dy);
}

static gph_status call(struct chain *c, int index)
{
    return gph_callable_call(c->list[index], NULL, stream, NULL, &error);
}

/* One step of training with x and dy; returns dx of the first layer. */
static float run_chain(struct chain *c, float x, float dy, float *grads)
{
    CUdeviceptr new_x = new_floats(x), new_dy = new_floats(dy);
    gph_tensor inputs[3] = {floats(new_x)};
    gph_arguments arguments = args(inputs, 2);
    CHECK_OK(gph_callable_call(c->list[0], &arguments, stream, NULL, &error), error);
    for (int i = 1; i < LAYERS; i++)
        CHECK_OK(call(c, i), error);
    inputs[0] = floats(new_dy);
    arguments.input_count = 3;
    CHECK_OK(gph_callable_call(c->list[2 * LAYERS - 1], &arguments, stream, NULL, &error),
             error);
    for (int i = LAYERS - 2; i >= 0; i--)
        CHECK_OK(call(c, LAYERS + i), error);
    for (int i = 0; i < LAYERS; i++)
        grads[i] = first_float(c->grad[i]);
    const float dx = first_float(gph_callable_output(c->list[LAYERS], 0).data);
    CU(MemFree, new_x);
    CU(MemFree, new_dy);
    return dx;
}

static float expected_chain(float x, float dy, float *grads)
{
    for (int i = 0; i < LAYERS; i++) {
        grads[i] = x + 10;
        x = 2 * x + 10;
    }
    for (int i = LAYERS - 1; i >= 0; i--)
        dy = 2 * dy + grads[i];
    return dy;
}

static void forwards_and_backwards_share_a_pool(void)
{
    struct chain c;
    for (uint32_t warmups = 0; warmups < 2; warmups++) {
        if (!make_chain(&c, warmups))
            return;
        for (int i = 0; i < 4; i++) {
            float got[LAYERS], wanted[LAYERS];
            const float x = (float)i, dy = (float)(i * i);
            CHECK(run_chain(&c, x, dy, got) == expected_chain(x, dy, wanted));
            CHECK(memcmp(got, wanted, sizeof(got)) == 0);
        }
        free_chain(&c);
    }
}

static void a_wrong_order_is_refused(void)
{
    struct chain c;
    float grads[LAYERS];
    if (!make_chain(&c, 0))
        return;
    run_chain(&c, 1, 1, grads);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 2 * LAYERS; i++)
            CHECK_OK(call(&c, i < LAYERS ? i : 3 * LAYERS - 1 - i), error);
    CHECK_OK(call(&c, 5), error); /* its temporary lies over what 4 left for 3 */
    CHECK(call(&c, 3) == GPH_E_STATE);
    CHECK(gph_callable_epoch(c.list[3]) == 3);
    CHECK_OK(call(&c, 4), error);
    CHECK_OK(call(&c, 3), error);
    free_chain(&c);
}

/* As the pool proves it: a replay of `writer` overwrites what `reader` left. */
static bool overwrites(const struct chain *c, int reader, int writer)
{
    gph_pool_conflict conflict = GPH_SIZED(gph_pool_conflict);
    return gph_pool_may_replay(pool, gph_callable_recording(c->list[reader]),
                               gph_callable_recording(c->list[writer]), GPH_REPLAY_AFTER,
                               &conflict, NULL) != GPH_OK &&
           conflict.second.kind != GPH_RANGE_INPUT;
}

static void outputs_of_a_list_go_stale(void)
{
    struct chain c;
    float grads[LAYERS];
    bool is_stale[2 * LAYERS] = {false};
    int stale = 0;
    if (!make_chain(&c, 0))
        return;
    run_chain(&c, 1, 1, grads);
    for (int i = 0; i < 2 * LAYERS; i++) /* all are whole until the next step */
        CHECK_OK(gph_callable_epoch_check(c.list[i], 1, &error), error);
    for (int at = 0; at < 2 * LAYERS; at++) {
        const int now = at < LAYERS ? at : 3 * LAYERS - 1 - at;
        CHECK_OK(call(&c, now), error);
        CHECK_OK(gph_callable_epoch_check(c.list[now], 2, &error), error);
        for (int i = 0; i < 2 * LAYERS; i++) {
            is_stale[i] |= i == now || overwrites(&c, i, now);
            CHECK((gph_callable_epoch_check(c.list[i], 1, &error) == GPH_E_STATE) ==
                  is_stale[i]);
            stale += is_stale[i] && gph_callable_epoch(c.list[i]) == 1;
        }
    }
    CHECK(stale > 0); /* by another one than itself */
    /* One that is destroyed has been called all the same. */
    CHECK_OK(call(&c, LAYERS + 1), error);
    CHECK(gph_callable_epoch_check(c.list[LAYERS], 2, &error) == GPH_E_STATE);
    CHECK(strcmp(error.message, "outputs of call 2 of callable 3 of the list were "
                                "overwritten by a later call of callable 4") == 0);
    gph_callable_destroy(c.list[LAYERS + 1]);
    c.list[LAYERS + 1] = NULL;
    CHECK(gph_callable_epoch_check(c.list[LAYERS], 2, &error) == GPH_E_STATE);
    free_chain(&c);
}

static void bad_lists_are_named(void)
{
    struct chain c = {.x = new_floats(1), .w = new_floats(10), .dy = new_floats(1)};
    gph_callable_options fore[LAYERS], back[LAYERS];
    gph_source fore_from[LAYERS][2] = {0}, back_from[LAYERS][3] = {0};
    gph_callable *list[2 * LAYERS] = {NULL};
    for (int i = 0; i < LAYERS; i++)
        c.grad[i] = new_floats(0);
    fill_options(&c, fore, back, fore_from, back_from, 0);
    gph_pool_stats before = GPH_SIZED(gph_pool_stats);
    gph_pool_stats after = GPH_SIZED(gph_pool_stats);
    gph_pool_stats_get(pool, &before);

    fore_from[1][0].callable = 2; /* of later */
    CHECK(gph_callables_create(runtime, fore, back, LAYERS, list, &error) ==
          GPH_E_INVALID);
    CHECK(strcmp(error.message, "callable 1: input 0 comes from callable 2, which is not "
                                "recorded before it") == 0);
    fore_from[1][0] = (gph_source){0, 2};
    CHECK(gph_callables_create(runtime, fore, back, LAYERS, list, &error) ==
          GPH_E_INVALID);
    CHECK(strcmp(error.message,
                 "callable 1: input 0 is output 2 of callable 0, which has 2") == 0);
    fore_from[1][0].output = 0;
    back_from[0][0].callable = LAYERS; /* itself */
    CHECK(gph_callables_create(runtime, fore, back, LAYERS, list, &error) ==
          GPH_E_INVALID);
    back_from[0][0].callable = 99;
    CHECK(gph_callables_create(runtime, fore, back, LAYERS, list, &error) ==
          GPH_E_INVALID);
    CHECK(gph_callables_create(runtime, fore, back, 0, list, &error) == GPH_E_INVALID);
    CHECK(gph_callables_create(runtime, fore, back, 100000, list, &error) ==
          GPH_E_INVALID);
    CHECK(gph_callables_create(runtime, NULL, back, 1, list, &error) == GPH_E_INVALID);
    CHECK(gph_callable_create(runtime, &fore[0], list, &error) == GPH_E_INVALID);
    CHECK(strstr(error.message, "options.sources") != NULL);
    for (int i = 0; i < 2 * LAYERS; i++)
        CHECK(list[i] == NULL);
    gph_pool_stats_get(pool, &after);
    CHECK(after.recording_count == before.recording_count &&
          after.allocation_count == before.allocation_count);
    free_chain(&c);
}

/* twice_plus() on another stream, which it forgets to join. */
static gph_status forked(void *user, gph_call *call, gph_error *out)
{
    if (call->capture == NULL)
        return twice_plus(user, call, out);
    gph_call part = *call;
    gph_status status = gph_capture_fork(call->capture, other_stream, out);
    part.stream = other_stream;
    return status == GPH_OK ? twice_plus(user, &part, out) : status;
}

static void a_forgotten_fork_is_joined(void)
{
    const gph_tensor inputs[] = {floats(new_floats(1)), floats(new_floats(10))};
    gph_callable_options options = options_for(forked, inputs, 2, 1);
    gph_callable *callable = NULL;
    gph_tensor out;
    int capturing = 1;
    CHECK_OK(gph_callable_create(runtime, &options, &callable, &error), error);
    CU(StreamIsCapturing, other_stream, &capturing);
    CHECK(capturing == 0);
    const gph_arguments arguments = args(inputs, 2);
    CHECK_OK(gph_callable_call(callable, &arguments, stream, &out, &error), error);
    CHECK(first_float(out.data) == 12);
    gph_callable_destroy(callable);
    CU(MemFree, inputs[0].data);
    CU(MemFree, inputs[1].data);
}

static int breaks, releases;

static gph_status on_break(void *user, const gph_break *call, gph_error *out)
{
    (void)user;
    (void)out;
    breaks += call->is_replay ? 1 : 100;
    return breaks == 3 ? GPH_E_IO : GPH_OK;
}

static void on_release(void *user)
{
    (void)user;
    releases++;
}

/* twice_plus(), with a host call in front that sees nothing, and something held. */
static gph_status broken(void *user, gph_call *call, gph_error *out)
{
    gph_status status = GPH_OK;
    if (call->capture != NULL)
        status = gph_capture_hold(call->capture, on_release, NULL, out);
    if (call->capture != NULL && status == GPH_OK && *(const int *)user)
        status = gph_capture_break(call->capture, on_break, NULL, out);
    call->rng_count = 3;
    return status == GPH_OK ? twice_plus(NULL, call, out) : status;
}

static void a_function_may_break_and_hold(void)
{
    const gph_tensor inputs[] = {floats(new_floats(1)), floats(new_floats(10))};
    gph_callable_options options = options_for(broken, inputs, 2, 1);
    const gph_arguments arguments = args(inputs, 2);
    gph_rng *rng = NULL;
    CHECK_OK(gph_rng_create(runtime, 3, &rng, &error), error);
    for (int is_broken = 0; is_broken < 2; is_broken++) {
        gph_callable *callable = NULL;
        gph_tensor out;
        options.user = &is_broken;
        options.rng = rng;
        breaks = releases = 0;
        gph_rng_state_set(rng, (gph_rng_state){0});
        if (!CHECK_OK(gph_callable_create(runtime, &options, &callable, &error), error))
            continue;
        CHECK(breaks == 100 * is_broken && releases == 0);
        breaks = 0;
        for (int i = 1; i <= 2; i++) {
            CHECK_OK(gph_callable_call(callable, &arguments, stream, &out, &error),
                     error);
            CHECK(first_float(out.data) == 12 && breaks == i * is_broken);
        }
        CHECK(gph_rng_state_get(rng).offset == 6);
        if (is_broken) { /* the third break fails: no numbers were taken */
            CHECK(gph_callable_call(callable, &arguments, stream, &out, &error) ==
                  GPH_E_IO);
            CHECK(gph_rng_state_get(rng).offset == 6);
            CU(StreamSynchronize, stream);
        }
        CHECK_OK(gph_callable_call(callable, &arguments, stream, &out, &error), error);
        CHECK(first_float(out.data) == 12 && gph_callable_exec(callable) != NULL);
        gph_callable_destroy(callable);
        CHECK(releases == 1);
    }
    gph_rng_destroy(rng);
    CU(MemFree, inputs[0].data);
    CU(MemFree, inputs[1].data);
}

/* A thread records in a pool of its own and calls, beside the others. */
static void *record_and_call(void *user)
{
    const int self = *(const int *)user;
    gph_error own = {0};
    CUstream where = NULL;
    gph_pool *mine = NULL;
    gph_callable *callable = NULL;
    CUdeviceptr at = 0;
    float host[2 * N];
    for (int i = 0; i < 2 * N; i++)
        host[i] = (float)(self + i / N);
    CHECK(cu->CtxSetCurrent(context) == 0 && cu->StreamCreate(&where, 1) == 0);
    CHECK(cu->MemAlloc(&at, sizeof(host)) == 0);
    CHECK(cu->MemcpyHtoDAsync(at, host, sizeof(host), where) == 0);
    CHECK(cu->StreamSynchronize(where) == 0);
    CHECK_OK(gph_pool_create(arena, NULL, &mine, &own), own);
    const gph_tensor inputs[] = {floats(at), floats(at + N * sizeof(float))};
    const gph_arguments arguments = args(inputs, 2);
    for (int round = 0; round < 5; round++) {
        gph_callable_options options = options_for(twice_plus, inputs, 2, 1);
        options.pool = mine;
        options.stream = where;
        options.warmup_count = 1;
        if (!CHECK_OK(gph_callable_create(runtime, &options, &callable, &own), own))
            break;
        for (int i = 0; i < 20; i++) {
            gph_tensor out;
            float first = 0;
            CHECK_OK(gph_callable_call(callable, &arguments, where, &out, &own), own);
            CHECK(cu->MemcpyDtoHAsync(&first, out.data, sizeof(first), where) == 0);
            CHECK(cu->StreamSynchronize(where) == 0);
            CHECK(first == 3 * (float)self + 1);
        }
        gph_callable_destroy(callable);
    }
    gph_pool_release(mine);
    CHECK(cu->MemFree(at) == 0 && cu->StreamDestroy(where) == 0);
    return NULL;
}

static void threads_record_and_call_beside_each_other(void)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, record_and_call, &numbers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* Callables of one list, which share a generator, called by a thread each. */
struct caller {
    gph_callable *callable;
    CUstream where;
};

static gph_status takes_one(void *user, gph_call *call, gph_error *out)
{
    (void)user;
    (void)out;
    call->rng_count = 1;
    return GPH_OK;
}

static void *call_often(void *user)
{
    const struct caller *caller = user;
    gph_error own = {0};
    CHECK(cu->CtxSetCurrent(context) == 0);
    for (int i = 0; i < 200; i++) {
        CHECK_OK(gph_callable_call(caller->callable, NULL, caller->where, NULL, &own),
                 own);
        if (i % 20 == 0)
            CHECK(gph_callable_epoch_check(caller->callable, (uint64_t)i + 1, &own) ==
                  GPH_OK);
    }
    CHECK(cu->StreamSynchronize(caller->where) == 0);
    return NULL;
}

static void threads_share_a_generator(void)
{
    gph_rng *rng = NULL;
    gph_callable *list[2] = {NULL, NULL};
    pthread_t threads[2];
    CHECK_OK(gph_rng_create(runtime, 3, &rng, &error), error);
    gph_callable_options options[2] = {options_for(takes_one, NULL, 0, 0),
                                       options_for(takes_one, NULL, 0, 0)};
    options[0].rng = options[1].rng = rng;
    CHECK_OK(gph_callables_create(runtime, options, NULL, 2, list, &error), error);
    struct caller callers[2] = {{list[0], stream}, {list[1], other_stream}};
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, call_often, &callers[i]) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK(gph_rng_state_get(rng).offset == 400);
    gph_callable_destroy(list[0]);
    gph_callable_destroy(list[1]);
    gph_rng_destroy(rng);
}

int main(void)
{
    if (!set_up())
        return 1;
    RUN(forwards_and_backwards_share_a_pool);
    RUN(a_wrong_order_is_refused);
    RUN(outputs_of_a_list_go_stale);
    RUN(bad_lists_are_named);
    RUN(a_forgotten_fork_is_joined);
    RUN(a_function_may_break_and_hold);
    RUN(threads_record_and_call_beside_each_other);
    RUN(threads_share_a_generator);
    return tear_down();
}
