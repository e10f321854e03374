// SPDX-License-Identifier: Apache-2.0
/* Of 50 broken programs of everyday kinds, by authors who had not looked at the rules, those that
 * the doctor got wrong when it first saw them and that it can know, and a right one that alarmed it;
 * with right variants (a second argument: right), in short forms. The line of each first cause is
 * marked with its name. */
#include "../rules/libgph.h"

#include <stdbool.h>

enum { BYTES = FLOATS * sizeof(float) };

static bool ok;
static gph_arena *arena;
static gph_pool *pool;

static void start_pool(void)
{
    open_gph();
    must(gph_arena_create(gph, NULL, &arena, &error));
    must(gph_pool_create(arena, NULL, &pool, &error));
}

/* Gradients are reduced in another stream while the next micro-batch is computed. */
static void event_before_launch(void)
{
    CUdeviceptr x = new_floats(), grad = new_floats(), total = new_floats();
    CUstream comm = new_stream(), compute = new_stream();
    CUevent ready = new_event(), reduced = new_event();
    CU(cuStreamBeginCapture(compute, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    COPY(compute, grad, x);
    CUgraphExec exec = end_capture(compute);
    for (int micro = 1; micro <= 10; micro++) {
        CU(cuStreamWaitEvent(compute, reduced, 0));
        CU(cuMemsetD32Async(x, (unsigned)micro << 23, FLOATS, compute));
        if (!ok)
            CU(cuEventRecord(ready, compute)); // <- event_before_launch
        CU(cuGraphLaunch(exec, compute));
        if (ok)
            CU(cuEventRecord(ready, compute));
        CU(cuStreamWaitEvent(comm, ready, 0));
        SCALE_ADD(comm, total, grad, 1);
        CU(cuEventRecord(reduced, comm));
    }
    CU(cuCtxSynchronize());
    printf("%g\n", (double)float_at(total, 5));
}

/* The strength of an adapter is an argument of one kernel in each layer. */
static void edits_first_only(void)
{
    enum { LAYERS = 4 };
    static const float strengths[] = {1, 0.5F, 0, 2};
    CUdeviceptr y = new_floats(), adapter = new_floats();
    gph_capture *capture;
    CUgraph graph;
    uint32_t nodes[LAYERS];
    open_gph();
    must(gph_capture_begin(gph, stream, NULL, &capture, &error));
    FILL(stream, y, 1);
    for (int i = 0; i < LAYERS; i++)
        SCALE_ADD(stream, y, adapter, 1);
    gph_exec *exec = end_exec(capture, &graph);
    must(gph_exec_track(exec, graph, NULL, &error));
    for (uint32_t i = 0; i < LAYERS; i++) {
        const uint32_t n = ok ? i : 0;
        uint32_t *at = nodes + i;
        must(gph_exec_node_find(exec, "scale_add", n, at, &error)); // <- edits_first_only
    }
    for (int r = 0; r < 4; r++) {
        gph_edit edits[LAYERS];
        for (int i = 0; i < LAYERS; i++)
            edits[i] = (gph_edit){.node = nodes[i],
                                  .what = GPH_EDIT_ARG,
                                  .index = 2,
                                  .bytes = sizeof(float),
                                  .data = &strengths[r]};
        must(gph_exec_edit(exec, edits, LAYERS, &error));
        must(gph_exec_launch(exec, stream, &error));
        printf("%g\n", (double)read_back(y));
    }
}

static gph_status output_of(gph_call *call, CUdeviceptr *out, gph_error *why)
{
    static const int64_t shape[] = {FLOATS};
    const gph_status status = gph_pool_alloc(call->pool, BYTES, call->stream, out, why);
    if (status == GPH_OK)
        call->outputs[0] = gph_tensor_dense(*out, GPH_DTYPE_F32, 1, shape);
    return status;
}

static gph_status augment(void *user, gph_call *call, gph_error *why)
{
    CUdeviceptr out = 0;
    const gph_status status = output_of(call, &out, why);
    (void)user;
    if (status != GPH_OK)
        return status;
    LAUNCH(copy, 1, call->stream, &out, &(CUdeviceptr){call->rng},
           &(unsigned){4}); // <- rng_count_left_out
    if (ok)
        call->rng_count = 4;
    return GPH_OK;
}

/* Each call is to draw new numbers. */
static void rng_count_left_out(void)
{
    gph_rng *rng;
    gph_callable *callable;
    start_pool();
    must(gph_rng_create(gph, 42, &rng, &error));
    gph_callable_options options = GPH_CALLABLE_OPTIONS_INIT;
    options.function = augment;
    options.pool = pool;
    options.stream = stream;
    options.rng = rng;
    options.output_count = 1;
    must(gph_callable_create(gph, &options, &callable, &error));
    for (int i = 0; i < 5; i++) {
        gph_tensor out = {0};
        must(gph_callable_call(callable, NULL, stream, &out, &error));
        printf("%g\n", (double)read_back(out.data + 8));
    }
}

static gph_status forward(void *user, gph_call *call, gph_error *why)
{
    CUdeviceptr x = call->inputs[0].data, out = 0;
    unsigned count = (unsigned)call->inputs[0].shape[0];
    const gph_status status =
        gph_pool_alloc(call->pool, (uint64_t)count * 4, call->stream, &out, why);
    (void)user;
    if (status != GPH_OK)
        return status;
    call->outputs[0] = gph_tensor_dense(out, GPH_DTYPE_F32, 1, call->inputs[0].shape);
    for (int i = 0; i < 4; i++)
        LAUNCH(copy, 1, call->stream, &out, i ? &out : &x, &count);
    return GPH_OK;
}

/* A cache that captures when there is time, after calls of other sizes: right either way. */
static void lazy_cache(void)
{
    const gph_cache_axis axis = {
        .name = "rows", .ladder = GPH_LADDER_POWERS, .first = 16, .last = 128};
    const gph_cache_tensor rows = {
        .dtype = GPH_DTYPE_F32, .rank = 1, .shape = {1}, .axis = {1}};
    gph_cache *cache;
    CUdeviceptr x = new_floats();
    start_pool();
    gph_cache_options options = GPH_CACHE_OPTIONS_INIT;
    options.pool = pool;
    options.axes = &axis;
    options.inputs = options.outputs = &rows;
    options.axis_count = options.input_count = options.output_count = 1;
    options.function = forward;
    options.lazy = GPH_CACHE_LAZY_WORK;
    must(gph_cache_create(gph, &options, &cache, &error));
    for (int i = 0; i < 60; i++) {
        const int64_t count = 1 + i * 37 % 128;
        gph_tensor in = gph_tensor_dense(x, GPH_DTYPE_F32, 1, &count), out = {0};
        gph_cache_call_args call = GPH_CACHE_CALL_INIT;
        call.stream = stream;
        call.sizes = &count;
        call.inputs = &in;
        call.outputs = &out;
        must(gph_cache_call(cache, &call, &error));
        printf("%g\n", (double)read_back(out.data));
        if (call.match.key == GPH_CACHE_NONE)
            must(gph_pool_free(pool, out.data, stream, &error));
        must(gph_cache_work(cache, stream, NULL, NULL, &error));
    }
}

/* The result of one graph is freed in its capture, as a temporary is, and read after another
 * graph of the pool. */
static void result_freed(void)
{
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    gph_capture *capture;
    gph_recording *recording;
    gph_replay *replays[2];
    CUdeviceptr prompt = new_floats(), logits = new_floats(), hidden[2];
    unsigned floats = FLOATS;
    start_pool();
    options.pool = pool;
    for (int i = 0; i < 2; i++) {
        must(gph_capture_begin(gph, stream, &options, &capture, &error));
        must(gph_pool_alloc(pool, BYTES, stream, &hidden[i], &error));
        if (i == 0)
            LAUNCH(copy, 1, stream, &hidden[0], &prompt, &floats);
        else
            FILL(stream, hidden[1], 100);
        SCALE_ADD(stream, logits, hidden[i], 1);
        if (i == 1 || !ok)
            must(gph_pool_free(pool, hidden[i], stream, &error)); // <- result_freed
        must(gph_capture_finish(capture, &recording, &error));
        must(gph_replay_create(recording, NULL, &replays[i], &error));
        gph_recording_destroy(recording);
    }
    for (int request = 1; request <= 3; request++) {
        CU(cuMemsetD32Async(prompt, 0x40000000, FLOATS, stream));
        for (int i = 0; i < 2; i++)
            must(gph_replay_launch(replays[i], stream, &error));
        printf("%g\n", (double)read_back(hidden[0]));
    }
    gph_replay_destroy(replays[1]);
    gph_replay_destroy(replays[0]);
}

/* The arguments of an edge are exchanged: what blurs runs before what decodes. */
static void edge_reversed(void)
{
    CUdeviceptr packet = new_floats(), frame = new_floats(), result = new_floats();
    CUstream compute = new_stream();
    CUgraph graph = NULL;
    CUgraphNode decode, blur;
    CUgraphExec exec = NULL;
    unsigned floats = FLOATS;
    CU(cuMemsetD32(frame, 0, FLOATS));
    CU(cuGraphCreate(&graph, 0));
    CUDA_KERNEL_NODE_PARAMS decodes =
        floats_kernel(copy, (void *[]){&frame, &packet, &floats});
    CU(cuGraphAddKernelNode(&decode, graph, NULL, 0, &decodes));
    CUDA_KERNEL_NODE_PARAMS blurs =
        floats_kernel(copy, (void *[]){&result, &frame, &floats});
    CU(cuGraphAddKernelNode(&blur, graph, NULL, 0, &blurs));
    if (ok)
        CU(cuGraphAddDependencies(graph, &decode, &blur, NULL, 1));
    else
        CU(cuGraphAddDependencies(graph, &blur, &decode, NULL, 1)); // <- edge_reversed
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int t = 1; t <= 3; t++) {
        CU(cuMemsetD32Async(packet, (unsigned)t << 23, FLOATS, compute));
        CU(cuGraphLaunch(exec, compute));
        CU(cuStreamSynchronize(compute));
        printf("%g\n", (double)float_at(result, 5));
    }
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

#define ALL(X)                                                                           \
    X(event_before_launch)                                                               \
    X(edits_first_only)                                                                  \
    X(rng_count_left_out)                                                                \
    X(lazy_cache)                                                                        \
    X(result_freed)                                                                      \
    X(edge_reversed)

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {
#define X(name) {#name, name},
        ALL(X)
#undef X
    };
    ok = argc > 2;
    for (size_t i = 0; argc > 1 && i < sizeof(all) / sizeof(*all); i++)
        if (strcmp(all[i].name, argv[1]) == 0) {
            broken_open();
            all[i].run();
            fflush(stdout);
            return 0;
        }
    return 2;
}
