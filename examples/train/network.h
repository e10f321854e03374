// SPDX-License-Identifier: Apache-2.0
/* A network of three layers in mixed precision, and its training step in three parts:
 * forward, backward and optimizer, or all in one. */
#ifndef TRAIN_NETWORK_H
#define TRAIN_NETWORK_H
#include <gph/gph.h>

enum {
    ROWS = 32, /* of a batch */
    INS = 16,
    HIDDEN = 64,
    CLASSES = 4,
    LAYERS = 3,
    BATCHES = 8,
    KERNELS = 10
};

/* What a function is given, beside its inputs: kernels, and the state of the loss scale,
 * which only the device looks at. */
typedef struct network {
    gph_runtime *gph;
    CUmodule module;
    CUfunction kernels[KERNELS];
    CUdeviceptr scale;    /* f32: what the loss is multiplied with */
    CUdeviceptr overflow; /* i32: a gradient of this step is infinite */
    CUdeviceptr counts;   /* 2 i32: good steps since, steps skipped */
    float rate;
    unsigned calls; /* of the driver, so far */
} network;

/* Elements of all weights and biases. */
extern const int64_t weight_count;

/* forward: inputs x [ROWS, INS] f32, labels [ROWS] i32, weights f32; outputs loss f32,
 * and what backward reads. backward: these, gradients f32, which it adds to. optimize:
 * weights, velocities, gradients. step: x, labels, weights, velocities, gradients; output
 * loss. */
enum { SAVED = 5, FORWARD_OUTPUTS = 1 + SAVED };
gph_function_fn forward, backward, optimize, step;

gph_status network_open(network *net, gph_runtime *gph, const char *ptx,
                        gph_error *error);
void network_close(network *net);
/* The loss scale at its start, nothing skipped. */
gph_status network_reset(network *net, CUstream stream, gph_error *error);

/* Tensors of the network's shapes. */
gph_tensor tensor_of(CUdeviceptr data, gph_dtype type, int64_t rows, int64_t columns);
#endif
