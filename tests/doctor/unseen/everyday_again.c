// SPDX-License-Identifier: Apache-2.0
/* 19 broken programs of everyday kinds, and their right variants (a second argument: right), as they
 * were when the doctor first saw them, but for three that wrote or read past their buffers. The lines
 * of each first cause are marked with its name. */
#include "../rules/device.h"
#include <gph/gph.h>
#include <stdbool.h>
enum { BYTES = FLOATS * sizeof(float) };
static bool ok;
static CUstream st;

static float get(CUdeviceptr p)
{
    float v = 0;
    CU(cuMemcpyDtoHAsync(&v, p, 4, st));
    CU(cuStreamSynchronize(st));
    return v;
}
static void begin(void)
{
    CU(cuStreamBeginCapture(st, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
}
static float *pinned_floats(void)
{
    float *out = NULL;
    CU(cuMemHostAlloc((void **)&out, BYTES, 0));
    memset(out, 0, BYTES);
    return out;
}

/* 1 the length of the context is a number of the launch: prefill runs eagerly, decoding replays */
static void context_length(void)
{
    CUdeviceptr cache = new_floats(), out = new_floats(), y = new_floats();
    CUgraphExec e = NULL;
    unsigned length = 0;
    for (int i = 0; i < 9; i++) {
        float token = (float)i;
        length++;
        CU(cuMemcpyHtoDAsync(cache + 4 * (length - 1), &token, 4, st));
        if (i < 3) {
            LAUNCH(copy, FLOATS / 128, st, &out, &cache, &length);
        } else {
            if (!e || ok) {
                if (e)
                    CU(cuGraphExecDestroy(e));
                begin();
                LAUNCH(copy, FLOATS / 128, st, &out, &cache,
                       &length); // <- context_length
                SCALE_ADD(st, y, y, 1);
                e = end_capture(st);
            }
            CU(cuGraphLaunch(e, st)); // <- context_length
        }
        CU(cuStreamSynchronize(st));
    }
    printf("%g\n", (double)get(out + 4 * (length - 1)));
}

/* 2 each request has its own record for the host function; the graph has the first one's */
typedef struct record {
    int number, served;
} record;
static void serve(void *user)
{
    ((record *)user)->served = ((record *)user)->number + 1;
}
static void host_record(void)
{
    CUdeviceptr x = new_floats();
    CUgraphExec e = NULL;
    static record all[6];
    static record *current;
    for (int i = 0; i < 6; i++) {
        record *mine = ok ? &all[0] : &all[i];
        *mine = (record){i, 0};
        current = mine;
        if (i < 2) {
            FILL(st, x, 1);
            CU(cuLaunchHostFunc(st, serve, mine));
        } else {
            if (!e) {
                begin();
                FILL(st, x, 1);
                CU(cuLaunchHostFunc(st, serve, mine)); // <- host_record
                e = end_capture(st);
            }
            CU(cuGraphLaunch(e, st)); // <- host_record
        }
        CU(cuStreamSynchronize(st));
        printf("%d\n", current->served);
    }
}

/* 3 results go to a ring of pinned buffers; the graph always writes the slot it was recorded with */
static void result_ring(void)
{
    CUdeviceptr x = new_floats();
    float *ring[4];
    CUgraphExec e = NULL;
    for (int i = 0; i < 4; i++)
        ring[i] = pinned_floats();
    for (int i = 0; i < 8; i++) {
        float *slot = ring[ok ? 0 : i % 4];
        FILL(st, x, (float)i);
        if (i < 2) {
            SCALE_ADD(st, x, x, 1);
            CU(cuMemcpyDtoHAsync(slot, x, BYTES, st));
        } else {
            if (!e) {
                begin();
                SCALE_ADD(st, x, x, 1);
                CU(cuMemcpyDtoHAsync(slot, x, BYTES, st)); // <- result_ring
                e = end_capture(st);
            }
            CU(cuGraphLaunch(e, st)); // <- result_ring
        }
        CU(cuStreamSynchronize(st));
        printf("%g\n", (double)slot[1]);
    }
}

/* 4 a graph made by hand lacks the edge from the copy to the kernel that reads it */
static void edge_missing(void)
{
    CUdeviceptr in = new_floats(), out = new_floats();
    float *host = pinned_floats();
    CUgraph g = new_graph();
    CUgraphNode load, work, store;
    CUgraphExec e;
    unsigned n = FLOATS;
    float k = 1;
    CUDA_MEMCPY3D up = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = host,
                        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                        .dstDevice = in,
                        .WidthInBytes = BYTES,
                        .Height = 1,
                        .Depth = 1};
    CUDA_MEMCPY3D down = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = out,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = host + 512,
                          .WidthInBytes = 16,
                          .Height = 1,
                          .Depth = 1};
    CUDA_KERNEL_NODE_PARAMS p = floats_kernel(scale_add, (void *[]){&out, &in, &k, &n});
    CU(cuGraphAddMemcpyNode(&load, g, NULL, 0, &up, context));
    CU(cuGraphAddKernelNode(&work, g, &load, ok ? 1 : 0, &p)); // <- edge_missing
    CU(cuGraphAddMemcpyNode(&store, g, &work, 1, &down, context));
    CU(cuGraphInstantiateWithFlags(&e, g, 0));
    for (int i = 0; i < 5; i++) {
        host[0] = (float)i;
        CU(cuGraphLaunch(e, st)); // <- edge_missing
        CU(cuStreamSynchronize(st));
    }
    printf("%g\n", (double)host[512]);
}

/* 5 the graph was cloned, and the original's node is edited: the clone has one of its own */
static void clone_edited(void)
{
    CUdeviceptr x = new_floats();
    CUgraph base = new_graph(), mine;
    CUgraphNode k, own;
    CUgraphExec e;
    float v = 1;
    unsigned n = FLOATS;
    CUDA_KERNEL_NODE_PARAMS p = floats_kernel(fill, (void *[]){&x, &v, &n});
    CU(cuGraphAddKernelNode(&k, base, NULL, 0, &p));
    CU(cuGraphClone(&mine, base));
    v = 7;
    CU(cuGraphNodeFindInClone(&own, k, mine));
    CU(cuGraphKernelNodeSetParams(ok ? own : k, &p)); // <- clone_edited
    CU(cuGraphInstantiateWithFlags(&e, mine, 0));     // <- clone_edited
    for (int i = 0; i < 3; i++)
        CU(cuGraphLaunch(e, st));
    printf("%g\n", (double)get(x));
}

/* 6 a kernel asks for more shared memory than it was allowed: its launch is refused in the capture */
static void shared_memory(void)
{
    CUdeviceptr x = new_floats();
    CUgraph g = NULL;
    CUgraphExec e = NULL;
    float v = 3;
    unsigned n = FLOATS;
    if (ok)
        CU(cuFuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                              90000));
    begin();
    FILL(st, x, 1);
    (void)cuLaunchKernel(fill, 8, 1, 1, 128, 1, 1, 90000, st, (void *[]){&x, &v, &n},
                         NULL); // <- shared_memory
    if (cuStreamEndCapture(st, &g) == CUDA_SUCCESS)
        CU(cuGraphInstantiateWithFlags(&e, g, 0));
    for (int i = 0; i < 3; i++) {
        if (e)
            CU(cuGraphLaunch(e, st));
        else
            FILL(st, x, 1);
    }
    printf("%g\n", (double)get(x));
}

/* 7 a worker thread launches without a current context; nobody looks at the result */
static CUgraphExec shared_exec;
static void *launching(void *user)
{
    if (ok)
        CU(cuCtxSetCurrent(context));
    for (int i = 0; i < 3; i++)
        (void)cuGraphLaunch(shared_exec, ok ? st : (CUstream)user); // <- no_context
    return NULL;
}
static void no_context(void)
{
    CUdeviceptr x = new_floats();
    pthread_t worker;
    begin();
    FILL(st, x, 1);
    SCALE_ADD(st, x, x, 1);
    shared_exec = end_capture(st);
    pthread_create(&worker, NULL, launching, NULL);
    pthread_join(worker, NULL);
    printf("%g\n", (double)get(x));
}

/* 8 the cache's pages are given back to the device while idle; the graph is launched all the same */
static void pages_given_back(void)
{
    size_t page = 2 << 20;
    CUdeviceptr cache = 0, x = new_floats();
    CUmemGenericAllocationHandle pages;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemAccessDesc access = {.location = prop.location,
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUgraphExec e;
    CU(cuMemAddressReserve(&cache, page, 0, 0, 0));
    CU(cuMemCreate(&pages, page, &prop, 0));
    CU(cuMemMap(cache, page, 0, pages, 0));
    CU(cuMemSetAccess(cache, page, &access, 1));
    begin();
    FILL(st, cache, 1);
    COPY(st, x, cache);
    e = end_capture(st);
    CU(cuGraphLaunch(e, st));
    CU(cuStreamSynchronize(st));
    CU(cuMemUnmap(cache, page)); // <- pages_given_back
    CU(cuMemRelease(pages));
    if (ok) {
        CU(cuMemCreate(&pages, page, &prop, 0));
        CU(cuMemMap(cache, page, 0, pages, 0));
        CU(cuMemSetAccess(cache, page, &access, 1));
    }
    CU(cuGraphLaunch(e, st)); // <- pages_given_back
    printf("%d\n", (int)cuStreamSynchronize(st));
}

/* 9 the weights are uploaded in a stream of the loader's; replays do not wait for it */
static void weights_in_flight(void)
{
    CUstream loader = new_stream();
    CUevent loaded = new_event();
    CUdeviceptr w = new_floats(), y = new_floats();
    float *host = pinned_floats();
    CUgraphExec e;
    begin();
    SCALE_ADD(st, y, w, 1);
    SCALE_ADD(st, y, w, 1);
    e = end_capture(st);
    host[0] = 2;
    SPIN(loader, 300);
    CU(cuMemcpyHtoDAsync(w, host, BYTES, loader)); // <- weights_in_flight
    CU(cuEventRecord(loaded, loader));
    if (ok)
        CU(cuStreamWaitEvent(st, loaded, 0));
    for (int i = 0; i < 3; i++)
        CU(cuGraphLaunch(e, st)); // <- weights_in_flight
    printf("%g\n", (double)get(y));
}

/* 10 the event that the host waits for is another than the one recorded */
static void other_event(void)
{
    CUevent done[2] = {new_event(), new_event()};
    CUdeviceptr x = new_floats();
    float *host = pinned_floats();
    CUgraphExec e;
    float sum = 0;
    begin();
    SPIN(st, 200);
    FILL(st, x, 2);
    CU(cuMemcpyDtoHAsync(host, x, BYTES, st));
    e = end_capture(st);
    for (int i = 0; i < 4; i++) {
        CU(cuGraphLaunch(e, st));
        CU(cuEventRecord(done[0], st));
        CU(cuEventSynchronize(done[ok ? 0 : 1])); // <- other_event
        sum += host[0];                           // <- other_event
    }
    CU(cuStreamSynchronize(st));
    printf("%g\n", (double)sum);
}

/* 11 the capture's dependencies are replaced where some were to be added */
static void deps_replaced(void)
{
    CUdeviceptr in = new_floats(), out = new_floats(), side = new_floats();
    CUgraph g;
    CUgraphNode extra;
    CUgraphExec e;
    CUstreamCaptureStatus status;
    cuuint64_t id;
    float one = 1;
    unsigned n = FLOATS;
    CUDA_KERNEL_NODE_PARAMS p = floats_kernel(fill, (void *[]){&side, &one, &n});
    begin();
    SPIN(st, 100);
    FILL(st, in, 4);
    CU(cuStreamGetCaptureInfo(st, &status, &id, &g, NULL, NULL, NULL));
    CU(cuGraphAddKernelNode(&extra, g, NULL, 0, &p));
    CU(cuStreamUpdateCaptureDependencies(
        st, &extra, NULL, 1,
        ok ? CU_STREAM_ADD_CAPTURE_DEPENDENCIES
           : CU_STREAM_SET_CAPTURE_DEPENDENCIES)); // <- deps_replaced
    SCALE_ADD(st, out, in, 1);                     // <- deps_replaced
    CU(cuStreamEndCapture(st, &g));
    CU(cuGraphInstantiateWithFlags(&e, g, 0));
    CU(cuGraphLaunch(e, st));
    printf("%g\n", (double)get(out));
}

/* 12 a node in the middle is removed: what was before and after it is no longer ordered */
static void node_removed(void)
{
    CUdeviceptr x = new_floats(), y = new_floats();
    CUgraph g;
    CUgraphNode nodes[4];
    CUgraphExec e;
    size_t many = 4;
    begin();
    SPIN(st, 200);
    FILL(st, x, 6);
    SCALE_ADD(st, x, x, 0);
    SCALE_ADD(st, y, x, 1);
    CU(cuStreamEndCapture(st, &g));
    CU(cuGraphGetNodes(g, nodes, &many));
    CU(cuGraphDestroyNode(nodes[2])); // <- node_removed
    if (ok)
        CU(cuGraphAddDependencies(g, &nodes[1], &nodes[3], NULL, 1));
    CU(cuGraphInstantiateWithFlags(&e, g, 0)); // <- node_removed
    CU(cuGraphLaunch(e, st));                  // <- node_removed
    printf("%g\n", (double)get(y));
}

/* 13 a smaller batch in a larger bucket: the rows after it are those of the batch before */
static void rows_behind(void)
{
    CUdeviceptr in = new_floats(), sum = new_floats();
    float *host = pinned_floats();
    CUgraphExec e;
    begin();
    SCALE_ADD(st, sum, in, 1);
    SCALE_ADD(st, sum, in, 1);
    e = end_capture(st);
    for (int rows = 1024; rows > 256; rows -= 200) {
        for (int i = 0; i < 1024; i++)
            host[i] = i < rows ? 1 : 0;
        CU(cuMemcpyHtoDAsync(in, host, ok ? BYTES : (size_t)rows * 4,
                             st)); // <- rows_behind
        CU(cuGraphLaunch(e, st));  // <- rows_behind
        CU(cuStreamSynchronize(st));
    }
    printf("%g\n", (double)get(sum + 4 * 1000));
}

/* 14 memory is allocated in one stream's order and used by the graph in another's */
static void allocated_elsewhere(void)
{
    CUstream other = new_stream();
    CUevent there = new_event();
    CUdeviceptr x = 0, y = new_floats();
    CUgraphExec e;
    SPIN(other, 300);
    CU(cuMemAllocAsync(&x, BYTES, other)); // <- allocated_elsewhere
    CU(cuEventRecord(there, other));
    begin();
    FILL(st, x, 1);
    COPY(st, y, x);
    e = end_capture(st);
    if (ok)
        CU(cuStreamWaitEvent(st, there, 0));
    CU(cuGraphLaunch(e, st)); // <- allocated_elsewhere
    printf("%g\n", (double)get(y));
    CU(cuStreamSynchronize(other));
    CU(cuMemFreeAsync(x, st));
    CU(cuStreamSynchronize(st));
}

/* ---- libgph ---- */
static gph_error err;
static gph_runtime *rt;
static gph_arena *arena;
static gph_pool *pool;
static void need(int status, const char *what)
{
    if (status == 0)
        return;
    printf("%s: %d %s\n", what, status, err.message);
    fflush(stdout);
    exit(3);
}
static void start_gph(void)
{
    need(gph_open(NULL, &rt, &err), "open");
    need(gph_arena_create(rt, NULL, &arena, &err), "arena");
    need(gph_pool_create(arena, NULL, &pool, &err), "pool");
}

/* 15 the side stream is forked and not joined; the failed end is only noted, and work goes on eagerly */
static void side_unjoined(void)
{
    CUdeviceptr x = new_floats(), y = new_floats();
    CUstream side = new_stream();
    gph_capture *c;
    gph_recording *r = NULL;
    gph_replay *replay = NULL;
    start_gph();
    need(gph_capture_begin(rt, st, NULL, &c, &err), "begin");
    FILL(st, x, 1);
    need(gph_capture_fork(c, side, &err), "fork"); // <- side_unjoined
    COPY(side, y, x);                              // <- side_unjoined
    if (ok)
        need(gph_capture_join(c, side, &err), "join");
    if (gph_capture_finish(c, &r, NULL) == GPH_OK) // <- side_unjoined
        need(gph_replay_create(r, NULL, &replay, &err), "replay");
    for (int i = 0; i < 3; i++) {
        if (replay)
            need(gph_replay_launch(replay, st, &err), "launch");
        else
            FILL(st, x, 1);
    }
    printf("%g\n", (double)get(y));
}

/* 16 an output that is lent until the next call is kept over it */
static gph_status twice(void *user, gph_call *call, gph_error *why)
{
    static const int64_t shape[] = {FLOATS};
    CUdeviceptr o = 0, in = call->inputs[0].data;
    (void)user;
    gph_status status = gph_pool_alloc(call->pool, BYTES, call->stream, &o, why);
    if (status)
        return status;
    call->outputs[0] = gph_tensor_dense(o, GPH_DTYPE_F32, 1, shape);
    COPY(call->stream, o, in);
    SCALE_ADD(call->stream, o, in, 1);
    return GPH_OK;
}
static void lent_output(void)
{
    const int64_t shape[] = {FLOATS};
    CUdeviceptr x = new_floats(), kept = new_floats(), sum = new_floats();
    gph_tensor in = gph_tensor_dense(x, GPH_DTYPE_F32, 1, shape), out[2];
    gph_arguments a = {.inputs = &in, .input_count = 1};
    gph_callable *c;
    gph_callable_options o = GPH_CALLABLE_OPTIONS_INIT;
    start_gph();
    o.function = twice;
    o.sample = a;
    o.pool = pool;
    o.stream = st;
    o.output_count = 1;
    need(gph_callable_create(rt, &o, &c, &err), "callable");
    for (int i = 0; i < 2; i++) {
        FILL(st, x, (float)i + 1);
        need(gph_callable_call(c, &a, st, &out[i], &err), "call"); // <- lent_output
        if (ok && i == 0) {
            CU(cuMemcpyDtoDAsync(kept, out[0].data, BYTES, st));
            out[0].data = kept;
        }
    }
    SCALE_ADD(st, sum, out[0].data, 1); // <- lent_output
    SCALE_ADD(st, sum, out[1].data, 1);
    printf("%g\n", (double)get(sum));
}

/* 17 the recording, which owns its memory, is destroyed; its graph was instantiated by hand */
static void recording_gone(void)
{
    CUdeviceptr y = new_floats(), tmp = 0, other = 0;
    gph_capture *c;
    gph_recording *r;
    gph_capture_options o = GPH_CAPTURE_OPTIONS_INIT;
    gph_exec *e;
    start_gph();
    o.pool = pool;
    need(gph_capture_begin(rt, st, &o, &c, &err), "begin");
    need(gph_pool_alloc(pool, BYTES, st, &tmp, &err), "alloc");
    FILL(st, tmp, 1);
    COPY(st, y, tmp);
    need(gph_capture_finish(c, &r, &err), "finish");
    need(gph_exec_create(rt, gph_recording_graph(r, 0), NULL, &e, &err), "exec");
    if (!ok)
        gph_recording_destroy(r); // <- recording_gone
    need(gph_pool_alloc(pool, BYTES, st, &other, &err), "other");
    FILL(st, other, 9);
    for (int i = 0; i < 3; i++)
        need(gph_exec_launch(e, st, &err), "launch"); // <- recording_gone
    printf("%g\n", (double)get(other));
}

/* 18 the generator is set back before each step: each step has the same numbers */
static gph_status noise(void *user, gph_call *call, gph_error *why)
{
    static const int64_t shape[] = {FLOATS};
    CUdeviceptr o = 0;
    (void)user;
    gph_status status = gph_pool_alloc(call->pool, BYTES, call->stream, &o, why);
    if (status)
        return status;
    call->outputs[0] = gph_tensor_dense(o, GPH_DTYPE_F32, 1, shape);
    CUdeviceptr state = call->rng;
    unsigned words = 4;
    LAUNCH(copy, 1, call->stream, &o, &state, &words);
    call->rng_count = 4;
    return GPH_OK;
}
static void seed_set_back(void)
{
    gph_tensor out;
    gph_arguments a = {.input_count = 0};
    gph_callable *c;
    gph_callable_options o = GPH_CALLABLE_OPTIONS_INIT;
    gph_rng *rng;
    start_gph();
    need(gph_rng_create(rt, 42, &rng, &err), "rng");
    o.function = noise;
    o.sample = a;
    o.pool = pool;
    o.stream = st;
    o.output_count = 1;
    o.rng = rng;
    need(gph_callable_create(rt, &o, &c, &err), "callable");
    for (int i = 0; i < 5; i++) {
        if (!ok || i == 0)
            gph_rng_state_set(rng, (gph_rng_state){42, 0});     // <- seed_set_back
        need(gph_callable_call(c, &a, st, &out, &err), "call"); // <- seed_set_back
        printf("%g\n", (double)get(out.data + 8));
    }
}

/* 19 a block of the pool is freed and given to another; a graph still reads it */
static void pool_block(void)
{
    CUdeviceptr kv = 0, other = 0, y = new_floats();
    gph_capture *c;
    CUgraph g;
    gph_exec *e;
    start_gph();
    need(gph_pool_alloc(pool, BYTES, st, &kv, &err), "alloc");
    FILL(st, kv, 1);
    need(gph_capture_begin(rt, st, NULL, &c, &err), "begin");
    COPY(st, y, kv); // <- pool_block
    SCALE_ADD(st, y, kv, 1);
    need(gph_capture_end(c, &g, &err), "end");
    need(gph_exec_create(rt, g, NULL, &e, &err), "exec");
    need(gph_exec_launch(e, st, &err), "launch");
    if (!ok)
        need(gph_pool_free(pool, kv, st, &err), "free"); // <- pool_block
    need(gph_pool_alloc(pool, BYTES, st, &other, &err), "other");
    FILL(st, other, 9);
    for (int i = 0; i < 3; i++)
        need(gph_exec_launch(e, st, &err), "launch"); // <- pool_block
    printf("%g\n", (double)get(y));
}

#define ALL(X)                                                                           \
    X(context_length)                                                                    \
    X(host_record)                                                                       \
    X(result_ring)                                                                       \
    X(edge_missing)                                                                      \
    X(clone_edited)                                                                      \
    X(shared_memory)                                                                     \
    X(no_context)                                                                        \
    X(pages_given_back)                                                                  \
    X(weights_in_flight)                                                                 \
    X(other_event)                                                                       \
    X(deps_replaced)                                                                     \
    X(node_removed)                                                                      \
    X(rows_behind)                                                                       \
    X(allocated_elsewhere)                                                               \
    X(side_unjoined)                                                                     \
    X(lent_output)                                                                       \
    X(recording_gone)                                                                    \
    X(seed_set_back)                                                                     \
    X(pool_block)

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
