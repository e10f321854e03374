// SPDX-License-Identifier: Apache-2.0
/* The programs themselves; see advice_work.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advice_work.h"
#include "heap.h"
#include "sample.h"

enum { SHOP_BYTES = 4096 * 4096 * 4, SHOP_SOFT_BYTES = 1 << 22 };

static gph_error error;

void shop_must(gph_status status, const char *what)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "bench_advice: %s: %s (%s) %s\n", what, gph_status_name(status),
            error.message, error.hint);
    exit(1);
}

static void load(shop *s, const char *kernels, const char *file, int first,
                 const char *const *names, int count)
{
    char path[4096];
    CUmodule module;
    snprintf(path, sizeof(path), "%s/%s.ptx", kernels, file);
    shop_must(s->cu->ModuleLoad(&module, path), path);
    for (int i = 0; i < count; i++)
        shop_must(s->cu->ModuleGetFunction(&s->kernel[first + i], module, names[i]),
                  names[i]);
}

void shop_open(shop *s, const char *kernels, const char *model, uint32_t rounds)
{
    static const char *const own[] = {"tiny", "spin", "conv3", "pool2"};
    static const char *const bench[] = {"gemv", "softmax_rows", "matmul_tiled"};
    static const char *const train[] = {
        "to_half",       "linear",      "relu_dropout", "relu_dropout_grad",
        "loss_and_grad", "weight_grad", "input_grad",   "find_overflow",
        "optimize",      "update_scale"};
    const device_options options = {.driver = GPH_DRIVER_AUTO, .kernels = kernels};
    *s = (shop){.rounds = rounds};
    shop_must(device_open(&heap, &options, &s->d, &error), "opening the device");
    s->cu = s->d.cu;
    s->is_soft = s->d.info.driver == GPH_DRIVER_SOFT;
    s->stream = s->d.stream;
    load(s, kernels, "advice", TINY, own, 4);
    load(s, kernels, "bench", GEMV, bench, 3);
    load(s, kernels, "train", TO_HALF, train, 10);
    shop_must(s->cu->StreamCreate(&s->side, 1), "cuStreamCreate");
    shop_must(s->cu->EventCreate(&s->fork, 2), "cuEventCreate");
    shop_must(s->cu->EventCreate(&s->join, 2), "cuEventCreate");
    const size_t bytes = s->is_soft ? SHOP_SOFT_BYTES : SHOP_BYTES;
    for (int i = 0; i < BUFFERS; i++)
        shop_must(device_alloc(&s->d, bytes, &s->buffer[i], &error), "buffers");
    void *pinned;
    shop_must(device_pin(&s->d, 1 << 20, &pinned, &error), "pinned memory");
    s->pinned = pinned;
    shop_must(weights_load(&heap, model, &s->weight, &error), model);
}

void shop_close(shop *s)
{
    if (s->has_decoder)
        decoder_fini(&s->decoder);
    weights_fini(&s->weight);
    device_close(&s->d);
}

void shop_host_work(double us)
{
    const double until = now_us() + us;
    while (us > 0 && now_us() < until)
        ;
}

void shop_wait(shop *s)
{
    shop_must(s->cu->StreamSynchronize(s->stream), "cuStreamSynchronize");
}

int work_iterations(const shop *s, const work *w)
{
    return s->is_soft ? w->soft_iterations : w->iterations;
}

static void launch(shop *s, shop_kernel which, unsigned blocks, unsigned threads,
                   void **arguments)
{
    shop_must(s->cu->LaunchKernel(s->kernel[which], blocks, 1, 1, threads, 1, 1, 0,
                                  s->stream, arguments, NULL),
              "cuLaunchKernel");
}
#define LAUNCH(which, blocks, threads, ...)                                              \
    launch(s, which, blocks, threads, (void *[]){__VA_ARGS__})

/* Threads in blocks of 128. */
#define EACH(which, count, ...) LAUNCH(which, ((count) + 127) / 128, 128, __VA_ARGS__)

/* ---- chains -------------------------------------------------------------------------
 */

static void tiny(shop *s, CUstream stream, CUdeviceptr at, int count)
{
    float a = 0.5f, b = 1.0f;
    unsigned n = 64;
    for (int i = 0; i < count; i++)
        shop_must(s->cu->LaunchKernel(s->kernel[TINY], 1, 1, 1, 64, 1, 1, 0, stream,
                                      (void *[]){&at, &a, &b, &n}, NULL),
                  "cuLaunchKernel");
}

static void chain_40(shop *s, int part)
{
    (void)part;
    tiny(s, s->stream, s->buffer[0], 40);
}

static void chain_200(shop *s, int part)
{
    (void)part;
    tiny(s, s->stream, s->buffer[0], 200);
}

static void chain_1000(shop *s, int part)
{
    (void)part;
    tiny(s, s->stream, s->buffer[0], 1000);
}

static void spins(shop *s, uint32_t rounds, int count)
{
    for (int i = 0; i < count; i++)
        LAUNCH(SPIN, 8, 128, &s->buffer[1], &rounds);
}

static void spin_100us(shop *s, int part)
{
    (void)part;
    spins(s, s->rounds, 20);
}

static void spin_1ms(shop *s, int part)
{
    (void)part;
    spins(s, s->rounds * 10, 10);
}

static void spin_one(shop *s, int part)
{
    (void)part;
    spins(s, s->rounds, 1);
}

static void fork_join(shop *s, int part)
{
    (void)part;
    shop_must(s->cu->EventRecord(s->fork, s->stream), "cuEventRecord");
    shop_must(s->cu->StreamWaitEvent(s->side, s->fork, 0), "cuStreamWaitEvent");
    tiny(s, s->side, s->buffer[2], 20);
    tiny(s, s->stream, s->buffer[3], 20);
    shop_must(s->cu->EventRecord(s->join, s->side), "cuEventRecord");
    shop_must(s->cu->StreamWaitEvent(s->stream, s->join, 0), "cuStreamWaitEvent");
}

static void copies(shop *s, int part)
{
    (void)part;
    const size_t bytes = 16384;
    shop_must(s->cu->MemcpyHtoDAsync(s->buffer[0], s->pinned, bytes, s->stream), "copy");
    tiny(s, s->stream, s->buffer[0], 10);
    shop_must(s->cu->MemcpyDtoDAsync(s->buffer[1], s->buffer[0], bytes, s->stream),
              "copy");
    shop_must(s->cu->MemsetD32Async(s->buffer[2], 0, bytes / 4, s->stream), "fill");
    tiny(s, s->stream, s->buffer[1], 10);
    shop_must(s->cu->MemcpyDtoHAsync(s->pinned, s->buffer[1], bytes, s->stream), "copy");
}

static void half_chain(shop *s, int part)
{
    tiny(s, s->stream, s->buffer[part], 30);
}

/* ---- networks -----------------------------------------------------------------------
 */

static void matmul(shop *s, int part)
{
    (void)part;
    unsigned n = s->is_soft ? 384 : 4096;
    shop_must(s->cu->LaunchKernel(
                  s->kernel[MATMUL], n / 16, n / 16, 1, 16, 16, 1, 0, s->stream,
                  (void *[]){&s->buffer[2], &s->buffer[0], &s->buffer[1], &n}, NULL),
              "cuLaunchKernel");
}

/* 3 x 32 x 32 to 10 classes: six convolutions in three stages, a pool after each. */
static void conv_net(shop *s, int part)
{
    static const unsigned outs[] = {8, 8, 16, 16, 32, 32};
    unsigned ins = 3, size = 32, classes = 10, features;
    CUdeviceptr from = s->buffer[0], to = s->buffer[1], weight = s->buffer[4];
    (void)part;
    for (int i = 0; i < 6; i++) {
        unsigned out = outs[i];
        EACH(CONV3, out * size * size, &to, &from, &weight, &ins, &out, &size);
        weight += 4 * 9 * ins * out;
        ins = out;
        from = to;
        to = s->buffer[1 + (i + 1) % 3];
        if (i % 2 == 0)
            continue;
        EACH(POOL2, ins * size * size / 4, &to, &from, &ins, &size);
        size /= 2;
        from = to;
        to = s->buffer[1 + (i + 2) % 3];
    }
    features = ins * size * size;
    EACH(GEMV, classes, &to, &weight, &from, &classes, &features);
    LAUNCH(SOFTMAX_ROWS, 1, 32, &s->buffer[6], &to, &classes);
}

enum { ROWS = 32, INS = 16, HIDDEN = 64, CLASSES = 4, LAYERS = 3 };

/* Where things lie in the first buffers: weights and their halves, and activations. */
static CUdeviceptr half_at(shop *s, int which)
{
    return s->buffer[3] + (CUdeviceptr)which * 65536;
}

/* The step of examples/train, on fixed buffers: 18 kernels. */
static void train(shop *s, int part)
{
    static const unsigned ins[] = {INS, HIDDEN, HIDDEN},
                          outs[] = {HIDDEN, HIDDEN, CLASSES};
    static const unsigned at[] = {0, (INS + 1) * HIDDEN,
                                  (INS + 1) * HIDDEN + (HIDDEN + 1) * HIDDEN};
    unsigned count = (INS + 1) * HIDDEN + (HIDDEN + 1) * HIDDEN + (HIDDEN + 1) * CLASSES;
    unsigned rows = ROWS, n = ROWS * INS, classes = CLASSES;
    CUdeviceptr w = s->buffer[0], speed = s->buffer[1], grad = s->buffer[2];
    CUdeviceptr w16 = half_at(s, 0), x16 = half_at(s, 1), x = s->buffer[4];
    CUdeviceptr labels = s->buffer[5], loss = s->buffer[6], scale = s->buffer[7];
    CUdeviceptr rng = scale + 64, overflow = scale + 4, counts = scale + 8;
    CUdeviceptr h = x16, dy = half_at(s, 10), kept[LAYERS];
    float rate = 0.02f;
    (void)part;
    EACH(TO_HALF, count, &w16, &w, &count);
    EACH(TO_HALF, n, &x16, &x, &n);
    for (unsigned l = 0; l < LAYERS; l++) {
        CUdeviceptr z = half_at(s, 2 + 2 * (int)l), y = half_at(s, 3 + 2 * (int)l);
        CUdeviceptr own = w16 + 2 * at[l];
        unsigned in = ins[l], out = outs[l], all = ROWS * out;
        kept[l] = h;
        EACH(LINEAR, all, &z, &h, &own, &rows, &in, &out);
        if (l < 2)
            EACH(RELU_DROPOUT, all, &y, &z, &all, &rng, &l);
        h = l < 2 ? y : z;
    }
    LAUNCH(LOSS_AND_GRAD, 1, ROWS, &loss, &dy, &h, &labels, &classes, &scale);
    for (unsigned l = LAYERS; l-- > 0;) {
        CUdeviceptr up = grad + 4 * at[l], own = w16 + 2 * at[l];
        CUdeviceptr dh = half_at(s, 11 + 2 * (int)l), dx = half_at(s, 12 + 2 * (int)l);
        unsigned in = ins[l], out = outs[l], all = ROWS * in;
        EACH(WEIGHT_GRAD, (in + 1) * out, &up, &dy, &kept[l], &rows, &in, &out);
        if (l == 0)
            break;
        EACH(INPUT_GRAD, all, &dh, &dy, &own, &rows, &in, &out);
        EACH(RELU_DROPOUT_GRAD, all, &dx, &dh, &kept[l], &all);
        dy = dx;
    }
    EACH(FIND_OVERFLOW, count, &overflow, &grad, &count);
    EACH(OPTIMIZE, count, &w, &speed, &grad, &count, &scale, &overflow, &rate);
    LAUNCH(UPDATE_SCALE, 1, 1, &scale, &overflow, &counts);
}

enum { SLOTS = 4, CONTEXT = 64, FIRST = 8 };

static void put(shop *s, const void *to, const int *values)
{
    shop_must(
        s->cu->MemcpyHtoD((CUdeviceptr)(uintptr_t)to, values, SLOTS * sizeof(*values)),
        "cuMemcpyHtoD");
}

/* Four sequences at their first position; no token ends one. */
static void decode_ready(shop *s)
{
    const decoder_options options = {.slots = SLOTS, .context = CONTEXT, .queue = 4};
    if (!s->has_decoder)
        shop_must(decoder_init(&s->decoder, &s->d, &s->weight, &options, &error),
                  "decoder_init");
    s->has_decoder = true;
    s->decoder.c.end = -1;
    shop_must(decoder_reset(&s->decoder, &error), "decoder_reset");
    const state_t *state = &s->decoder.state;
    put(s, state->token, (const int[]){0, 1, 2, 3});
    put(s, state->position, (const int[]){FIRST, FIRST, FIRST, FIRST});
    put(s, state->limit, (const int[]){CONTEXT, CONTEXT, CONTEXT, CONTEXT});
    put(s, state->sequence, (const int[]){0, 1, 2, 3});
    shop_wait(s);
}

static void decode(shop *s, int part)
{
    (void)part;
    shop_must(decoder_step(&s->decoder, &error), "decoder_step");
}

static double spin_us(shop *s, uint32_t rounds)
{
    double us[9];
    for (int i = 0; i < 9; i++) {
        shop_wait(s);
        const double from = now_us();
        spins(s, rounds, 10);
        shop_wait(s);
        us[i] = (now_us() - from) / 10;
    }
    return median(us, 9);
}

/* Twice, since short ones are hidden after their launches. */
uint32_t shop_calibrate(shop *s)
{
    double rounds = 2000;
    for (int i = 0; i < 3; i++)
        rounds = rounds * 100.0 / spin_us(s, (uint32_t)rounds) + 1;
    return (uint32_t)rounds;
}

const work works[] = {
    {"decode", decode, decode_ready, 1, 50, 50, 1, 0},
    {"conv-net", conv_net, NULL, 1, 200, 100, 1, 0},
    {"matmul", matmul, NULL, 1, 25, 40, 1, 0},
    {"train", train, NULL, 1, 200, 100, 1, 0},
    {"chain-40", chain_40, NULL, 1, 200, 100, 1, 0},
    {"chain-200", chain_200, NULL, 1, 200, 80, 1, 0},
    {"chain-1000", chain_1000, NULL, 1, 100, 40, 1, 0},
    {"train-queued", train, NULL, 1, 400, 200, 20, 0},
    {"one-kernel", spin_one, NULL, 1, 200, 100, 1, 0},
    {"fork-join", fork_join, NULL, 1, 200, 100, 1, 0},
    {"copies", copies, NULL, 1, 200, 100, 1, 0},
    {"host-work", chain_40, NULL, 1, 200, 100, 1, 300},
    {"wait-inside", half_chain, NULL, 2, 200, 100, 1, 0},
    {"few", chain_200, NULL, 1, 2, 2, 1, 0},
    {"kernels-100us", spin_100us, NULL, 1, 60, 30, 1, 0},
    {"kernels-1ms", spin_1ms, NULL, 1, 30, 15, 1, 0},
};
const int work_count = (int)(sizeof(works) / sizeof(works[0]));
