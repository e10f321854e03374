// SPDX-License-Identifier: Apache-2.0
/* The functions of a training step: what an engine would record. */
#include "network.h"

enum kernel {
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
    KERNEL_COUNT
};

_Static_assert((int)KERNEL_COUNT == (int)KERNELS, "a place for each kernel");

static const char *const names[KERNEL_COUNT] = {
    "to_half",     "linear",     "relu_dropout",  "relu_dropout_grad", "loss_and_grad",
    "weight_grad", "input_grad", "find_overflow", "optimize",          "update_scale"};

/* Layers: inputs, outputs, and where weights begin; a layer's biases follow its weights.
 */
static const unsigned ins[LAYERS] = {INS, HIDDEN, HIDDEN};
static const unsigned outs[LAYERS] = {HIDDEN, HIDDEN, CLASSES};
static const unsigned first[LAYERS] = {0, (INS + 1) * HIDDEN,
                                       (INS + 1) * HIDDEN + (HIDDEN + 1) * HIDDEN};
const int64_t weight_count =
    (INS + 1) * HIDDEN + (HIDDEN + 1) * HIDDEN + (HIDDEN + 1) * CLASSES;

/* What forward saves for backward. */
enum saved { W16, X16, H1, H2, DLOGITS };

gph_tensor tensor_of(CUdeviceptr data, gph_dtype type, int64_t rows, int64_t columns)
{
    return gph_tensor_dense(data, type, 2, (int64_t[]){rows, columns});
}

#define TRY(expr)                                                                        \
    do {                                                                                 \
        const gph_status try_status = (expr);                                            \
        if (try_status != GPH_OK)                                                        \
            return try_status;                                                           \
    } while (0)

static gph_status launch(network *net, gph_call *call, enum kernel which,
                         unsigned threads, void **params, gph_error *error)
{
    const unsigned block = threads < 128 ? threads : 128;
    net->calls++;
    return gph_cuda_check(gph_cuda(net->gph)->LaunchKernel(
                              net->kernels[which], (threads + block - 1) / block, 1, 1,
                              block, 1, 1, 0, call->stream, params, NULL),
                          names[which], error);
}
#define LAUNCH(which, threads, ...)                                                      \
    TRY(launch(net, call, which, threads, (void *[]){__VA_ARGS__}, error))

static gph_status new_halves(gph_call *call, int64_t rows, int64_t columns,
                             gph_tensor *out, gph_error *error)
{
    CUdeviceptr at = 0;
    TRY(gph_pool_alloc(call->pool, (uint64_t)(rows * columns) * 2, call->stream, &at,
                       error));
    *out = tensor_of(at, GPH_DTYPE_F16, rows, columns);
    return GPH_OK;
}

static gph_status linear(network *net, gph_call *call, unsigned layer,
                         const gph_tensor *x, const gph_tensor *w16, gph_tensor *y,
                         gph_error *error)
{
    unsigned rows = ROWS, in = ins[layer], out = outs[layer];
    CUdeviceptr w = w16->data + 2 * first[layer], from = x->data;
    TRY(new_halves(call, ROWS, out, y, error));
    LAUNCH(LINEAR, rows * out, &y->data, &from, &w, &rows, &in, &out);
    return GPH_OK;
}

/* A hidden layer: linear, then relu and dropout. `skip`: the layer's random numbers. */
static gph_status hidden(network *net, gph_call *call, unsigned layer,
                         const gph_tensor *x, const gph_tensor *w16, gph_tensor *y,
                         gph_error *error)
{
    unsigned n = ROWS * outs[layer], skip = layer;
    gph_tensor z;
    CUdeviceptr rng = call->rng;
    TRY(linear(net, call, layer, x, w16, &z, error));
    TRY(new_halves(call, ROWS, outs[layer], y, error));
    LAUNCH(RELU_DROPOUT, n, &y->data, &z.data, &n, &rng, &skip);
    return gph_pool_free(call->pool, z.data, call->stream, error);
}

gph_status forward(void *user, gph_call *call, gph_error *error)
{
    network *net = user;
    CUdeviceptr x = call->inputs[0].data, labels = call->inputs[1].data;
    CUdeviceptr weights = call->inputs[2].data, loss = 0;
    gph_tensor *saved = call->outputs + 1, logits;
    unsigned count = (unsigned)weight_count, n = ROWS * INS, classes = CLASSES;

    TRY(gph_pool_alloc(call->pool, sizeof(float), call->stream, &loss, error));
    call->outputs[0] = gph_tensor_dense(loss, GPH_DTYPE_F32, 0, NULL);
    TRY(new_halves(call, 1, weight_count, &saved[W16], error));
    TRY(new_halves(call, ROWS, INS, &saved[X16], error));
    LAUNCH(TO_HALF, count, &saved[W16].data, &weights, &count);
    LAUNCH(TO_HALF, n, &saved[X16].data, &x, &n);
    TRY(hidden(net, call, 0, &saved[X16], &saved[W16], &saved[H1], error));
    TRY(hidden(net, call, 1, &saved[H1], &saved[W16], &saved[H2], error));
    TRY(linear(net, call, 2, &saved[H2], &saved[W16], &logits, error));
    TRY(new_halves(call, ROWS, CLASSES, &saved[DLOGITS], error));
    LAUNCH(LOSS_AND_GRAD, ROWS, &loss, &saved[DLOGITS].data, &logits.data, &labels,
           &classes, &net->scale);
    call->rng_count = 2; /* one a hidden layer */
    return gph_pool_free(call->pool, logits.data, call->stream, error);
}

static gph_status add_weight_grad(network *net, gph_call *call, unsigned layer,
                                  const gph_tensor *dy, const gph_tensor *x,
                                  gph_error *error)
{
    unsigned rows = ROWS, in = ins[layer], out = outs[layer];
    CUdeviceptr grad = call->inputs[SAVED].data + 4 * first[layer];
    CUdeviceptr up = dy->data, from = x->data;
    LAUNCH(WEIGHT_GRAD, (in + 1) * out, &grad, &up, &from, &rows, &in, &out);
    return GPH_OK;
}

/* Gradients of the layer below: through the weights, then through relu and dropout, whose
 * output was `h`. Takes dy, gives dx. */
static gph_status go_down(network *net, gph_call *call, unsigned layer,
                          const gph_tensor *h, gph_tensor *dy, gph_error *error)
{
    unsigned rows = ROWS, in = ins[layer], out = outs[layer], n = ROWS * in;
    CUdeviceptr w = call->inputs[W16].data + 2 * first[layer], output = h->data;
    gph_tensor dh, dx;
    TRY(new_halves(call, ROWS, in, &dh, error));
    LAUNCH(INPUT_GRAD, n, &dh.data, &dy->data, &w, &rows, &in, &out);
    TRY(new_halves(call, ROWS, in, &dx, error));
    LAUNCH(RELU_DROPOUT_GRAD, n, &dx.data, &dh.data, &output, &n);
    TRY(gph_pool_free(call->pool, dh.data, call->stream, error));
    *dy = dx;
    return GPH_OK;
}

gph_status backward(void *user, gph_call *call, gph_error *error)
{
    network *net = user;
    const gph_tensor *saved = call->inputs;
    gph_tensor dy = saved[DLOGITS];
    TRY(add_weight_grad(net, call, 2, &dy, &saved[H2], error));
    TRY(go_down(net, call, 2, &saved[H2], &dy, error));
    const gph_tensor d2 = dy;
    TRY(add_weight_grad(net, call, 1, &dy, &saved[H1], error));
    TRY(go_down(net, call, 1, &saved[H1], &dy, error));
    TRY(gph_pool_free(call->pool, d2.data, call->stream, error));
    TRY(add_weight_grad(net, call, 0, &dy, &saved[X16], error));
    return gph_pool_free(call->pool, dy.data, call->stream, error);
}

gph_status optimize(void *user, gph_call *call, gph_error *error)
{
    network *net = user;
    CUdeviceptr weights = call->inputs[0].data, velocities = call->inputs[1].data;
    CUdeviceptr gradients = call->inputs[2].data;
    unsigned n = (unsigned)weight_count;
    LAUNCH(FIND_OVERFLOW, n, &net->overflow, &gradients, &n);
    LAUNCH(OPTIMIZE, n, &weights, &velocities, &gradients, &n, &net->scale,
           &net->overflow, &net->rate);
    LAUNCH(UPDATE_SCALE, 1, &net->scale, &net->overflow, &net->counts);
    return GPH_OK;
}

gph_status step(void *user, gph_call *call, gph_error *error)
{
    gph_tensor saved[FORWARD_OUTPUTS] = {0}, grads[SAVED + 1];
    gph_call part = *call;
    part.outputs = saved;
    part.output_count = FORWARD_OUTPUTS;
    TRY(forward(user, &part, error));
    call->outputs[0] = saved[0];
    call->rng_count = part.rng_count;

    for (int i = 0; i < SAVED; i++)
        grads[i] = saved[1 + i];
    grads[SAVED] = call->inputs[4];
    part.inputs = grads;
    part.input_count = SAVED + 1;
    part.output_count = 0;
    TRY(backward(user, &part, error));
    for (int i = 0; i < SAVED; i++)
        TRY(gph_pool_free(call->pool, saved[1 + i].data, call->stream, error));

    part.inputs = call->inputs + 2;
    part.input_count = 3;
    return optimize(user, &part, error);
}

gph_status network_open(network *net, gph_runtime *gph, const char *ptx, gph_error *error)
{
    const gph_cuda_calls *cu = gph_cuda(gph);
    *net = (network){.gph = gph, .rate = 0.02f};
    TRY(gph_cuda_check(cu->ModuleLoad(&net->module, ptx), "cuModuleLoad", error));
    for (int i = 0; i < KERNEL_COUNT; i++)
        TRY(gph_cuda_check(cu->ModuleGetFunction(&net->kernels[i], net->module, names[i]),
                           names[i], error));
    TRY(gph_cuda_check(cu->MemAlloc(&net->scale, 16), "cuMemAlloc", error));
    net->overflow = net->scale + 4;
    net->counts = net->scale + 8;
    return GPH_OK;
}

void network_close(network *net)
{
    const gph_cuda_calls *cu = gph_cuda(net->gph);
    (void)cu->MemFree(net->scale);
    (void)cu->ModuleUnload(net->module);
}

gph_status network_reset(network *net, CUstream stream, gph_error *error)
{
    const gph_cuda_calls *cu = gph_cuda(net->gph);
    TRY(gph_cuda_check(cu->MemsetD32Async(net->overflow, 0, 3, stream),
                       "cuMemsetD32Async", error));
    /* 2^24 as a float: too much, so that the first steps overflow and are skipped */
    return gph_cuda_check(cu->MemsetD32Async(net->scale, 0x4b800000u, 1, stream),
                          "cuMemsetD32Async", error);
}
