// SPDX-License-Identifier: Apache-2.0
/* 20 broken programs of everyday kinds, and their right variants (a second argument: right), as they
 * were when the doctor first saw them. The lines of each first cause are marked with its name. */
#include "../rules/device.h"
#include <gph/gph.h>
#include <stdbool.h>
enum { BYTES = FLOATS * sizeof(float) };
static bool ok;
static CUstream st;
static float host[FLOATS];

static float get(CUdeviceptr p)
{
    float v = 0;
    CU(cuMemcpyDtoHAsync(&v, p, 4, st));
    CU(cuStreamSynchronize(st));
    return v;
}

/* 1 learning rate of a schedule, by value */
static void lr_schedule(void)
{
    CUdeviceptr w = new_floats(), g = new_floats();
    float lr = 0.1f;
    unsigned n = FLOATS;
    CUgraphExec e = NULL;
    for (int step = 0; step < 6; step++) {
        lr = 0.1f / (float)(step + 1);
        if (!e || ok) {
            if (e)
                CU(cuGraphExecDestroy(e));
            CU(cuStreamBeginCapture(st, CU_STREAM_CAPTURE_MODE_GLOBAL));
            FILL(st, g, 1);
            LAUNCH(scale_add, FLOATS / 128, st, &w, &g, &lr, &n); // <- lr_schedule
            e = end_capture(st);
        }
        CU(cuGraphLaunch(e, st)); // <- lr_schedule
        CU(cuStreamSynchronize(st));
    }
    printf("%g\n", (double)get(w));
}

/* 2 a step counter, in a graph made by hand; eager steps before */
static void step_count(void)
{
    CUdeviceptr w = new_words(1), x = new_floats();
    unsigned step = 0, one = 1;
    CUgraphExec e;
    CUgraph g;
    for (step = 0; step < 3; step++) {
        LAUNCH(poke, 1, st, &w, &step, &one);
        FILL(st, x, 1);
        CU(cuStreamSynchronize(st));
    }
    CU(cuStreamBeginCapture(st, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    LAUNCH(poke, 1, st, &w, &step, &one); // <- step_count
    FILL(st, x, 1);
    CU(cuStreamEndCapture(st, &g));
    CU(cuGraphInstantiateWithFlags(&e, g, 0));
    size_t many = 2;
    CUgraphNode nodes[2];
    CU(cuGraphGetNodes(g, nodes, &many));
    for (; step < 8; step++) {
        if (ok) {
            CUDA_KERNEL_NODE_PARAMS p;
            CU(cuGraphKernelNodeGetParams(nodes[0], &p));
            p.kernelParams = (void *[]){&w, &step, &one};
            CU(cuGraphExecKernelNodeSetParams(e, nodes[0], &p));
        }
        CU(cuGraphLaunch(e, st)); // <- step_count
        CU(cuStreamSynchronize(st));
    }
    printf("%u\n", word_at(w));
}

/* 3 a helper copies its own array into the graph */
static __attribute__((noinline)) void send(CUdeviceptr to)
{
    float local[64];
    for (int i = 0; i < 64; i++)
        local[i] = 2;
    CU(cuMemcpyHtoDAsync(to, ok ? (void *)host : (void *)local, 256,
                         st)); // <- stack_source
}
static void stack_source(void)
{
    CUdeviceptr x = new_floats(), y = new_floats();
    host[0] = 2;
    CU(cuStreamBeginCapture(st, CU_STREAM_CAPTURE_MODE_GLOBAL));
    send(x);
    COPY(st, y, x);
    CUgraphExec e = end_capture(st);
    CU(cuGraphLaunch(e, st)); // <- stack_source
    printf("%g\n", (double)get(y));
}

/* 4 the cache grows: new buffers, old graphs */
static void cache_grown(void)
{
    CUgraphExec e[2] = {0};
    CUdeviceptr kv = 0, out = new_floats();
    for (int turn = 0; turn < 4; turn++) {
        int size = turn % 2;
        if (turn == 2 || !kv) {
            if (kv)
                CU(cuMemFree(kv)); // <- cache_grown
            CU(cuMemAlloc(&kv, turn == 2 ? 4 * BYTES : BYTES));
            if (ok)
                e[0] = e[1] = NULL;
        }
        if (!e[size]) {
            CU(cuStreamBeginCapture(st, CU_STREAM_CAPTURE_MODE_GLOBAL));
            FILL(st, kv, 3); // <- cache_grown
            COPY(st, out, kv);
            e[size] = end_capture(st);
        }
        CU(cuGraphLaunch(e[size], st)); // <- cache_grown
        CU(cuStreamSynchronize(st));
    }
    printf("%g\n", (double)get(out));
}

/* 5 continue jumps over the end of the capture */
static void continued(void)
{
    CUdeviceptr x = new_floats();
    CUgraphExec e = NULL;
    for (int layer = 0; layer < 3; layer++) {
        CU(cuStreamBeginCapture(st, CU_STREAM_CAPTURE_MODE_RELAXED)); // <- continued
        FILL(st, x, (float)layer);
        if (layer == 1 && !ok)
            continue;
        e = end_capture(st);
        CU(cuGraphLaunch(e, st));
        CU(cuStreamSynchronize(st));
    }
}

/* 6 the event is recorded before the copy that it is to announce */
static void early_event(void)
{
    CUstream cs = new_stream();
    CUevent ev = new_event();
    CUdeviceptr in = new_floats(), out = new_floats();
    float *pinned;
    CU(cuMemHostAlloc((void **)&pinned, BYTES, 0));
    CU(cuStreamBeginCapture(st, CU_STREAM_CAPTURE_MODE_GLOBAL));
    COPY(st, out, in);
    CUgraphExec e = end_capture(st);
    for (int i = 0; i < 4; i++) {
        pinned[0] = (float)i;
        if (!ok)
            CU(cuEventRecord(ev, cs));
        CU(cuMemcpyHtoDAsync(in, pinned, BYTES, cs)); // <- early_event
        if (ok)
            CU(cuEventRecord(ev, cs));
        CU(cuStreamWaitEvent(st, ev, 0));
        CU(cuGraphLaunch(e, st)); // <- early_event
        CU(cuStreamSynchronize(st));
        CU(cuStreamSynchronize(cs));
    }
}

/* 7 memory is freed in one stream while the graph runs in another */
static void freed_beside(void)
{
    CUstream other = new_stream();
    CUevent ev = new_event();
    CUdeviceptr x = 0, out = new_floats();
    CU(cuMemAllocAsync(&x, BYTES, st));
    CU(cuStreamBeginCapture(st, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(st, x, 1);
    SPIN(st, 2000);
    COPY(st, out, x);
    CUgraphExec e = end_capture(st);
    CU(cuGraphLaunch(e, st)); // <- freed_beside
    if (ok) {
        CU(cuEventRecord(ev, st));
        CU(cuStreamWaitEvent(other, ev, 0));
    }
    CU(cuMemFreeAsync(x, other)); // <- freed_beside
    CU(cuStreamSynchronize(st));
    CU(cuStreamSynchronize(other));
}

/* 8 the update is refused, nobody looks, the old graph runs on */
static CUgraph rec(CUdeviceptr x, int n)
{
    CUgraph g;
    CU(cuStreamBeginCapture(st, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < n; i++)
        FILL(st, x, (float)n);
    CU(cuStreamEndCapture(st, &g));
    return g;
}
static void update_unseen(void)
{
    CUdeviceptr x = new_floats();
    CUgraphExec e;
    CUgraphExecUpdateResultInfo info;
    CU(cuGraphInstantiateWithFlags(&e, rec(x, 1), 0));
    for (int n = 1; n < 4; n++) {
        CUgraph g = rec(x, n);
        if (cuGraphExecUpdate(e, g, &info) != CUDA_SUCCESS && ok) { // <- update_unseen
            CU(cuGraphExecDestroy(e));
            CU(cuGraphInstantiateWithFlags(&e, g, 0));
        }
        CU(cuGraphLaunch(e, st));
        CU(cuStreamSynchronize(st));
        CU(cuGraphDestroy(g));
    }
    printf("%g\n", (double)get(x));
}

/* 9 gradients are added up; cleared each step eagerly, never in the graph */
static void not_cleared(void)
{
    CUdeviceptr grad = new_floats(), x = new_floats();
    CUgraphExec e = NULL;
    FILL(st, x, 1);
    for (int i = 0; i < 3; i++) {
        CU(cuMemsetD32Async(grad, 0, FLOATS, st)); // <- not_cleared
        SCALE_ADD(st, grad, x, 1);
        CU(cuStreamSynchronize(st));
    }
    CU(cuStreamBeginCapture(st, CU_STREAM_CAPTURE_MODE_GLOBAL));
    if (ok)
        CU(cuMemsetD32Async(grad, 0, FLOATS, st));
    SCALE_ADD(st, grad, x, 1); // <- not_cleared
    e = end_capture(st);
    for (int i = 0; i < 4; i++) {
        CU(cuGraphLaunch(e, st));
        printf("%g\n", (double)get(grad));
    } // <- not_cleared
}

/* 10 a result is fetched in another stream while the next replay overwrites it */
static void overwritten(void)
{
    CUstream cs = new_stream();
    CUevent done = new_event(), got = new_event();
    CUdeviceptr out = new_floats(), in = new_floats();
    float *pinned;
    CU(cuMemHostAlloc((void **)&pinned, 8 * BYTES, 0));
    CU(cuStreamBeginCapture(st, CU_STREAM_CAPTURE_MODE_GLOBAL));
    COPY(st, out, in);
    SPIN(st, 300);
    CUgraphExec e = end_capture(st);
    for (int i = 0; i < 4; i++) {
        CU(cuGraphLaunch(e, st)); // <- overwritten
        CU(cuEventRecord(done, st));
        CU(cuStreamWaitEvent(cs, done, 0));
        CU(cuMemcpyDtoHAsync(pinned + i * FLOATS, out, BYTES, cs)); // <- overwritten
        if (ok) {
            CU(cuEventRecord(got, cs));
            CU(cuStreamWaitEvent(st, got, 0));
        }
    }
    CU(cuStreamSynchronize(st));
    CU(cuStreamSynchronize(cs));
}

/* 11 a graph and an executable a request, never destroyed */
static void per_request(void)
{
    CUdeviceptr x = new_floats();
    CUgraphExec e = NULL;
    for (int i = 0; i < 120; i++) {
        if (!ok || i == 0) {
            CUgraph g = rec(x, 2);
            CU(cuGraphInstantiateWithFlags(&e, g, 0)); // <- per_request
        }
        CU(cuGraphLaunch(e, st)); // <- per_request
        CU(cuStreamSynchronize(st));
    }
}

/* 12 the child graph is edited after it was added */
static void child_edited(void)
{
    CUdeviceptr x = new_floats();
    CUgraph child = new_graph(), parent = new_graph();
    CUgraphNode k, c;
    CUgraphExec e;
    float v = 1;
    unsigned n = FLOATS;
    CUDA_KERNEL_NODE_PARAMS p = floats_kernel(fill, (void *[]){&x, &v, &n});
    CU(cuGraphAddKernelNode(&k, child, NULL, 0, &p));
    CU(cuGraphAddChildGraphNode(&c, parent, NULL, 0, child));
    CU(cuGraphInstantiateWithFlags(&e, parent, 0));
    for (int i = 0; i < 3; i++) {
        CUgraph inner = child;
        CUgraphNode in = k;
        size_t one = 1;
        v = (float)i + 2;
        CU(cuGraphKernelNodeSetParams(in, &p)); // <- child_edited
        if (ok) {
            (void)inner;
            (void)one;
            CU(cuGraphExecChildGraphNodeSetParams(e, c, child));
        }
        CU(cuGraphLaunch(e, st));
        printf("%g\n", (double)get(x));
    }
}

/* 13 a node is switched off for one step, and stays off */
static void left_off(void)
{
    CUdeviceptr x = new_floats(), y = new_floats();
    CUgraph g;
    CUgraphExec e;
    CUgraphNode nodes[2];
    size_t many = 2;
    CU(cuStreamBeginCapture(st, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(st, x, 1);
    SCALE_ADD(st, y, x, 1);
    CU(cuStreamEndCapture(st, &g));
    CU(cuGraphInstantiateWithFlags(&e, g, 0));
    CU(cuGraphGetNodes(g, nodes, &many));
    for (int i = 0; i < 12; i++) {
        if (i == 5)
            CU(cuGraphNodeSetEnabled(e, nodes[1], 0)); // <- left_off
        if (i == 6 && ok)
            CU(cuGraphNodeSetEnabled(e, nodes[1], 1));
        CU(cuGraphLaunch(e, st)); // <- left_off
        CU(cuStreamSynchronize(st));
    }
    printf("%g\n", (double)get(y));
}

/* 14 the event that is waited for was recorded before the launch */
static void waits_too_early(void)
{
    CUevent done = new_event();
    CUdeviceptr out = new_floats();
    float *pinned;
    CU(cuMemHostAlloc((void **)&pinned, BYTES, 0));
    CU(cuStreamBeginCapture(st, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SPIN(st, 200);
    FILL(st, out, 4);
    CU(cuMemcpyDtoHAsync(pinned, out, BYTES, st));
    CUgraphExec e = end_capture(st);
    for (int i = 0; i < 5; i++) {
        if (!ok)
            CU(cuEventRecord(done, st)); // <- waits_too_early
        CU(cuGraphLaunch(e, st));        // <- waits_too_early
        if (ok)
            CU(cuEventRecord(done, st));
        CU(cuEventSynchronize(done)); // <- waits_too_early
        printf("%g\n", (double)pinned[0]);
    }
    CU(cuStreamSynchronize(st));
}

/* 15 the loop's condition starts as 0: the body never runs */
static void never_enters(void)
{
    CUdeviceptr w = new_words(1);
    CUgraph g = new_graph();
    CUgraphConditionalHandle h;
    CU(cuGraphConditionalHandleCreate(&h, g, context, ok ? 1 : 0,
                                      ok ? CU_GRAPH_COND_ASSIGN_DEFAULT
                                         : 0));                      // <- never_enters
    CUgraph body = add_condition(g, NULL, h, CU_GRAPH_COND_TYPE_IF); // <- never_enters
    add_one(body, NULL, "add", (void *[]){&w});
    CUgraphExec e;
    CU(cuGraphInstantiateWithFlags(&e, g, 0));
    for (int i = 0; i < 3; i++) {
        CU(cuGraphLaunch(e, st));
        CU(cuStreamSynchronize(st));
    } // <- never_enters
    printf("%u\n", word_at(w));
}

/* 16 two captures of two threads in the global mode; one allocates */
static void alloc_thread(void *user)
{
    CUdeviceptr p = 0;
    (void)user;
    CU(cuMemAlloc(&p, 4096));
} // <- loader_allocates
static void loader_allocates(void)
{
    CUdeviceptr x = new_floats();
    CUgraph g = NULL;
    CUgraphExec e = NULL;
    CU(cuStreamBeginCapture(st,
                            ok ? CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
                               : CU_STREAM_CAPTURE_MODE_GLOBAL)); // <- loader_allocates
    FILL(st, x, 1);
    in_thread(alloc_thread, NULL);
    FILL(st, x, 2);
    CU(cuStreamEndCapture(st, &g));
    if (g) {
        CU(cuGraphInstantiateWithFlags(&e, g, 0));
        CU(cuGraphLaunch(e, st));
        CU(cuStreamSynchronize(st));
    }
}

/* ---- libgph ---- */
static gph_error err;
static gph_runtime *rt;
static gph_arena *arena;
static gph_pool *pool;
static void start_gph(void)
{
    if (gph_open(NULL, &rt, &err) || gph_arena_create(rt, NULL, &arena, &err) ||
        gph_pool_create(arena, NULL, &pool, &err))
        exit(3);
}

/* 17 a callable is called with shapes that take turns; it refuses every second one */
static gph_status body(void *user, gph_call *call, gph_error *why)
{
    const int64_t shape[] = {call->inputs[0].shape[0]};
    CUdeviceptr o = 0, in = call->inputs[0].data;
    unsigned n = (unsigned)shape[0];
    (void)user;
    gph_status status = gph_pool_alloc(call->pool, n * 4, call->stream, &o, why);
    if (status)
        return status;
    call->outputs[0] = gph_tensor_dense(o, GPH_DTYPE_F32, 1, shape);
    LAUNCH(copy, FLOATS / 128, call->stream, &o, &in, &n);
    return GPH_OK;
}
static void shapes_in_turn(void)
{
    CUdeviceptr x = new_floats();
    gph_callable *c[2] = {0};
    gph_tensor out = {.data = 0};
    start_gph();
    for (int i = 0; i < 6; i++) {
        int64_t n = i % 2 ? 128 : 64;
        int which = ok ? i % 2 : 0;
        gph_tensor in = gph_tensor_dense(x, GPH_DTYPE_F32, 1, &n);
        gph_arguments a = {.inputs = &in, .input_count = 1};
        FILL(st, x, (float)i);
        if (!c[which]) {
            gph_callable_options o = GPH_CALLABLE_OPTIONS_INIT;
            o.function = body;
            o.sample = a;
            o.pool = pool;
            o.stream = st;
            o.output_count = 1;
            if (gph_callable_create(rt, &o, &c[which], &err))
                exit(3);
        }
        (void)!gph_callable_call(c[which], &a, st, &out, NULL); // <- shapes_in_turn
        printf("%g\n", (double)get(out.data));
    }
}

/* 18 the update of an executable is refused without may_reinstantiate, and not looked at */
static CUgraph grec(CUdeviceptr x, int n)
{
    gph_capture *c;
    CUgraph g;
    if (gph_capture_begin(rt, st, NULL, &c, &err))
        exit(3);
    for (int i = 0; i < n; i++)
        FILL(st, x, (float)n);
    if (gph_capture_end(c, &g, &err))
        exit(3);
    return g;
}
static void gph_update_ignored(void)
{
    CUdeviceptr x = new_floats();
    gph_exec *e;
    gph_update_options o = GPH_UPDATE_OPTIONS_INIT;
    start_gph();
    CUgraph one = grec(x, 1), two = grec(x, 2);
    if (gph_exec_create(rt, one, NULL, &e, &err))
        exit(3);
    if (gph_exec_track(e, one, NULL, &err))
        exit(3);
    o.may_reinstantiate = ok;
    o.upload_stream = st;
    (void)!gph_exec_update(e, two, &o, NULL, NULL); // <- gph_update_ignored
    (void)!gph_exec_launch(e, st, NULL);
    printf("%g\n", (double)get(x));
}

/* 19 a slot that is out of range is bound, and not looked at */
static void bind_ignored(void)
{
    CUdeviceptr out = new_floats(), a = new_floats(), b = new_floats();
    gph_slots *slots;
    gph_capture *c;
    CUgraph g;
    gph_exec *e;
    const gph_slot list[] = {{.name = "in", .kind = GPH_SLOT_COPY, .bytes = BYTES}};
    start_gph();
    FILL(st, a, 1);
    FILL(st, b, 2);
    if (gph_slots_create(rt, list, 1, NULL, &slots, &err))
        exit(3);
    if (gph_capture_begin(rt, st, NULL, &c, &err))
        exit(3);
    if (gph_slots_feed(slots, st, &err))
        exit(3);
    COPY(st, out, gph_slots_address(slots, 0));
    if (gph_capture_end(c, &g, &err) || gph_exec_create(rt, g, NULL, &e, &err))
        exit(3);
    (void)!gph_slots_bind(slots, 0, a, NULL);
    (void)!gph_slots_launch(slots, &e, 1, st, NULL);
    printf("%g\n", (double)get(out));
    (void)!gph_slots_bind(slots, ok ? 0 : 1, b, NULL); // <- bind_ignored
    (void)!gph_slots_launch(slots, &e, 1, st, NULL);
    printf("%g\n", (double)get(out));
}

/* 20 a null handle that came of a failed load crashes in the program's own table */
struct table {
    int (*call)(CUgraphExec);
};
static int run(CUgraphExec e)
{
    return (int)cuGraphLaunch(e, st);
}
static void null_plugin(void)
{
    CUdeviceptr x = new_floats();
    CUgraphExec e;
    struct table t = {ok ? run : NULL};
    CU(cuGraphInstantiateWithFlags(&e, rec(x, 1), 0));
    t.call(e); // <- null_plugin
    CU(cuStreamSynchronize(st));
}

#define ALL(X)                                                                           \
    X(lr_schedule)                                                                       \
    X(step_count)                                                                        \
    X(stack_source)                                                                      \
    X(cache_grown)                                                                       \
    X(continued)                                                                         \
    X(early_event)                                                                       \
    X(freed_beside)                                                                      \
    X(update_unseen)                                                                     \
    X(not_cleared)                                                                       \
    X(overwritten)                                                                       \
    X(per_request)                                                                       \
    X(child_edited)                                                                      \
    X(left_off)                                                                          \
    X(waits_too_early)                                                                   \
    X(never_enters)                                                                      \
    X(loader_allocates)                                                                  \
    X(shapes_in_turn)                                                                    \
    X(gph_update_ignored)                                                                \
    X(bind_ignored)                                                                      \
    X(null_plugin)

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {
#define X(n) {#n, n},
        ALL(X)
#undef X
    };
    ok = argc > 2;
    for (size_t i = 0; argc > 1 && i < sizeof(all) / sizeof(*all); i++)
        if (strcmp(all[i].name, argv[1]) == 0) {
            broken_open();
            st = new_stream();
            all[i].run();
            fflush(stdout);
            return 0;
        }
    return 2;
}
