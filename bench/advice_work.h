// SPDX-License-Identifier: Apache-2.0
/* The programs that bench/advice asks about: each is some parts of GPU work that a graph
 * can hold, with what the host does around them. */
#ifndef BENCH_ADVICE_WORK_H
#define BENCH_ADVICE_WORK_H
#include "examples/decode/decoder.h"

typedef enum shop_kernel {
    TINY,
    SPIN,
    CONV3,
    POOL2,
    GEMV,
    SOFTMAX_ROWS,
    MATMUL,
    TO_HALF,
    LINEAR,
    RELU_DROPOUT,
    RELU_DROPOUT_GRAD,
    LOSS_AND_GRAD,
    WEIGHT_GRAD,
    INPUT_GRAD,
    FIND_OVERFLOW,
    OPTIMIZE,
    UPDATE_SCALE,
    SHOP_KERNELS
} shop_kernel;

enum { PARTS_MAX = 2, BUFFERS = 8 };

/* What all of them work with. */
typedef struct shop {
    device d;
    const gph_cuda_calls *cu;
    CUstream stream, side;
    CUevent fork, join;
    CUfunction kernel[SHOP_KERNELS];
    CUdeviceptr buffer[BUFFERS]; /* SHOP_BYTES each */
    float *pinned;               /* as many */
    weights weight;
    decoder decoder;
    bool is_soft, has_decoder;
    uint32_t rounds; /* of `spin` that take about 100 us */
} shop;

typedef struct work {
    const char *name;
    void (*part)(shop *s, int part); /* queues GPU work on s->stream */
    void (*ready)(shop *s);          /* before the first iteration, or NULL */
    int parts;                       /* each is a graph; the host waits between them */
    int iterations;                  /* how often the program repeats it, on a GPU */
    int soft_iterations;             /* on softcuda */
    int wait_every;                  /* iterations: then the host waits */
    double host_us;                  /* work of the host ahead of each iteration */
} work;

extern const work works[];
extern const int work_count;

/* Ends the process with a message if the status is not GPH_OK. */
void shop_must(gph_status status, const char *what);
void shop_open(shop *s, const char *kernels, const char *model, uint32_t rounds);
void shop_close(shop *s);

/* `rounds` for a spin of 100 us on this device. */
uint32_t shop_calibrate(shop *s);

int work_iterations(const shop *s, const work *w);
void shop_host_work(double us);
void shop_wait(shop *s);
#endif
