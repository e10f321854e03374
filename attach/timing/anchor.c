// SPDX-License-Identifier: Apache-2.0
/* What launching, graphs and tiny kernels take on this machine: measured once, before the
 * program's first work. Two lengths of a chain give what a launch and what a node
 * takes. */
#include "attach/timing/entries.h"
#include "base/clock.h"
#include <stddef.h>
#include <stdlib.h>

enum {
    GPU_TIMES = 3,
    SHORT = 20,
    LONG = 120,
    TRIES = 5,
    WAITS = 15,
    FORKS_SHORT = 2,
    FORKS_LONG = 10
};

/* x += 1, one thread. */
static const char tiny_ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                               ".visible .entry tiny(.param .u64 x)\n{\n"
                               "  .reg .b32 %r<3>;\n  .reg .b64 %d<2>;\n"
                               "  ld.param.u64 %d1, [x];\n"
                               "  ld.global.u32 %r1, [%d1];\n"
                               "  add.u32 %r2, %r1, 1;\n"
                               "  st.global.u32 [%d1], %r2;\n  ret;\n}\n";

typedef struct bench {
    const gphi_timing_calls *cu;
    gphi_timing_gate *gate;
    CUstream stream, side;
    CUmodule module;
    CUfunction tiny;
    CUdeviceptr x;
    CUevent begin, end, fork, join;
    gphi_timing_failure failure; /* then nothing more is called */
} bench;

/* All times in picoseconds. */
typedef struct chain_times {
    uint64_t stream, graph;                /* the GPU's, all of it queued beforehand */
    uint64_t fresh;                        /* of a graph that has just been updated */
    uint64_t launch;                       /* the host's: of the graph */
    uint64_t capture, instantiate, upload; /* the host's */
} chain_times;

static bool ok(bench *b, CUresult result, const char *call)
{
    if (result != CUDA_SUCCESS)
        b->failure = (gphi_timing_failure){result, call};
    return !b->failure.call;
}

/* Calls cu->NAME unless a call has failed. */
#define DO(b, name, ...)                                                                 \
    ((b)->failure.call ? false : ok(b, (b)->cu->name(__VA_ARGS__), #name))

static int order(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The lower quartile: what others on the machine do only adds. */
static uint64_t lower(uint64_t *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), order);
    return values[count / 4];
}

/* What is measured in a stream and in a graph. */
typedef void put_work(bench *b, int count);

static void chain(bench *b, int count)
{
    for (int i = 0; i < count; i++)
        DO(b, launch, b->tiny, 1, 1, 1, 1, 1, 1, 0, b->stream, (void *[]){&b->x}, NULL);
}

static void fills(bench *b, int count)
{
    for (int i = 0; i < count; i++)
        DO(b, fill, b->x, 0, 256, b->stream);
}

/* A kernel beside another: a fork and a join more than a chain of two. */
static void forks(bench *b, int count)
{
    for (int i = 0; i < count; i++) {
        chain(b, 1);
        DO(b, event_record, b->fork, b->stream);
        DO(b, stream_wait_event, b->side, b->fork, 0);
        DO(b, launch, b->tiny, 1, 1, 1, 1, 1, 1, 0, b->side, (void *[]){&b->x}, NULL);
        DO(b, event_record, b->join, b->side);
        DO(b, stream_wait_event, b->stream, b->join, 0);
    }
}

/* What is queued between hold() and let_go() runs back to back. */
static void hold(bench *b)
{
    b->gate->next++;
    DO(b, wait_value, b->stream, b->gate->at, b->gate->next, CU_STREAM_WAIT_VALUE_GEQ);
    DO(b, event_record, b->begin, b->stream);
}

static uint64_t let_go(bench *b)
{
    float ms = 0;
    DO(b, event_record, b->end, b->stream);
    atomic_store(b->gate->word, b->gate->next);
    DO(b, stream_wait, b->stream);
    DO(b, event_elapsed, &ms, b->begin, b->end);
    return ms > 0 ? (uint64_t)((double)ms * 1e9) : 0;
}

static uint64_t since(uint64_t from_ns)
{
    return gphi_span_ns(from_ns, gphi_clock_ns()) * 1000;
}

typedef struct graph_pair {
    CUgraph graph;
    CUgraphExec exec;
} graph_pair;

static void make_graph(bench *b, put_work *work, int count, graph_pair *out,
                       chain_times *t)
{
    uint64_t from = gphi_clock_ns();
    if (!DO(b, capture_begin, b->stream, CU_STREAM_CAPTURE_MODE_RELAXED))
        return;
    work(b, count);
    /* in any case, or the stream stays what it is */
    const CUresult ended = b->cu->capture_end(b->stream, &out->graph);
    if (!ok(b, ended, "capture_end"))
        return;
    t->capture = since(from);
    from = gphi_clock_ns();
    DO(b, instantiate, &out->exec, out->graph, 0);
    t->instantiate = since(from);
    from = gphi_clock_ns();
    DO(b, upload, out->exec, b->stream);
    DO(b, stream_wait, b->stream);
    t->upload = since(from);
}

static void drop_graph(bench *b, const graph_pair *pair)
{
    if (pair->exec)
        (void)b->cu->exec_destroy(pair->exec);
    if (pair->graph)
        (void)b->cu->graph_destroy(pair->graph);
}

static uint64_t launch_held(bench *b, CUgraphExec exec)
{
    hold(b);
    DO(b, graph_launch, exec, b->stream);
    return let_go(b);
}

/* As a program does that launches and waits in turn: the host's time of a launch, and of
 * both. */
static void time_launches(bench *b, CUgraphExec exec, uint64_t *launch, uint64_t *both)
{
    uint64_t launches[WAITS], all[WAITS];
    for (int i = -3; i < WAITS; i++) { /* a driver may learn from the first ones */
        const uint64_t from = gphi_clock_ns();
        DO(b, graph_launch, exec, b->stream);
        const uint64_t launched = since(from);
        DO(b, stream_wait, b->stream);
        if (i < 0)
            continue;
        launches[i] = launched;
        all[i] = since(from);
    }
    *launch = lower(launches, WAITS);
    *both = lower(all, WAITS);
}

static void try_work(bench *b, put_work *work, int count, chain_times *t)
{
    CUgraphExecUpdateResultInfo info;
    graph_pair pair = {0};
    uint64_t ignored;
    make_graph(b, work, count, &pair, t);
    time_launches(b, pair.exec, &t->launch, &ignored);
    t->graph = launch_held(b, pair.exec);
    DO(b, exec_update, pair.exec, pair.graph, &info);
    DO(b, upload, pair.exec, b->stream);
    t->fresh = launch_held(b, pair.exec);
    hold(b);
    work(b, count);
    t->stream = let_go(b);
    drop_graph(b, &pair);
}

static chain_times measure_work(bench *b, put_work *work, int count)
{
    chain_times all[TRIES] = {{0}}, out;
    uint64_t *const fields[] = {&out.stream,  &out.graph,       &out.fresh, &out.launch,
                                &out.capture, &out.instantiate, &out.upload};
    for (int i = 0; i < TRIES; i++)
        try_work(b, work, count, &all[i]);
    for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++) {
        uint64_t values[TRIES];
        for (int i = 0; i < TRIES; i++)
            values[i] = ((const uint64_t *)&all[i])[f];
        *fields[f] = lower(values, TRIES);
        if (f < GPU_TIMES) /* sorted; the least, which does not wait for a processor */
            *fields[f] = values[0];
    }
    return out;
}
_Static_assert(offsetof(chain_times, launch) == GPU_TIMES * sizeof(uint64_t), "first");
_Static_assert(sizeof(chain_times) == 7 * sizeof(uint64_t), "read as an array");
_Static_assert(GPHI_ANCHOR_GRAPH_NODE == GPHI_ANCHOR_STREAM_NODE + 1 &&
                   GPHI_ANCHOR_GRAPH_FORK == GPHI_ANCHOR_STREAM_FORK + 1,
               "in pairs");

static void measure_waits(bench *b, uint64_t *out)
{
    uint64_t eager[WAITS], launch[TRIES], ignored;
    graph_pair pair = {0};
    chain_times unused;
    make_graph(b, chain, 1, &pair, &unused);
    time_launches(b, pair.exec, &ignored, &out[GPHI_ANCHOR_GRAPH_WAIT]);
    drop_graph(b, &pair);
    for (int i = 0; i < WAITS; i++) {
        const uint64_t from = gphi_clock_ns();
        chain(b, 1);
        DO(b, stream_wait, b->stream);
        eager[i] = since(from);
    }
    for (int i = 0; i < TRIES; i++) {
        const uint64_t from = gphi_clock_ns();
        chain(b, LONG);
        launch[i] = since(from) / LONG;
        DO(b, stream_wait, b->stream);
    }
    out[GPHI_ANCHOR_WAIT] = lower(eager, WAITS);
    out[GPHI_ANCHOR_LAUNCH] = lower(launch, TRIES);
}

/* Setting a node's arguments, which a program does whose arguments change. */
static void measure_set(bench *b, uint64_t *out)
{
    uint64_t tries[TRIES];
    graph_pair pair = {0};
    CUgraphNode node = NULL;
    CUDA_KERNEL_NODE_PARAMS params = {.func = b->tiny,
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 1,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = (void *[]){&b->x}};
    DO(b, graph_create, &pair.graph, 0);
    DO(b, add_kernel, &node, pair.graph, NULL, 0, &params);
    DO(b, instantiate, &pair.exec, pair.graph, 0);
    for (int i = 0; i < TRIES; i++) {
        const uint64_t from = gphi_clock_ns();
        for (int n = 0; n < SHORT; n++)
            DO(b, exec_set_kernel, pair.exec, node, &params);
        tries[i] = since(from) / SHORT;
    }
    drop_graph(b, &pair);
    out[GPHI_ANCHOR_SET] = lower(tries, TRIES);
}

/* From two lengths: what each node takes, and what is left for the whole. */
static void line(uint64_t at_short, uint64_t at_long, uint64_t *whole, uint64_t *node)
{
    *node = at_long > at_short ? (at_long - at_short) / (LONG - SHORT) : 0;
    *whole = at_short > *node * SHORT ? at_short - *node * SHORT : 0;
}

static uint64_t slope(uint64_t at_short, uint64_t at_long, uint64_t steps)
{
    return at_long > at_short ? (at_long - at_short) / steps : 0;
}

static void measure_others(bench *b, uint64_t *out)
{
    const chain_times few = measure_work(b, fills, SHORT / 2),
                      many = measure_work(b, fills, LONG / 2);
    out[GPHI_ANCHOR_STREAM_COPY] = slope(few.stream, many.stream, LONG / 2 - SHORT / 2);
    out[GPHI_ANCHOR_GRAPH_COPY] = slope(few.graph, many.graph, LONG / 2 - SHORT / 2);
    const chain_times two = measure_work(b, forks, FORKS_SHORT),
                      ten = measure_work(b, forks, FORKS_LONG);
    out[GPHI_ANCHOR_STREAM_FORK] =
        slope(two.stream, ten.stream, FORKS_LONG - FORKS_SHORT);
    out[GPHI_ANCHOR_GRAPH_FORK] = slope(two.graph, ten.graph, FORKS_LONG - FORKS_SHORT);
    /* less the two kernels of each */
    for (int i = 0; i < 2; i++) {
        uint64_t *fork = &out[GPHI_ANCHOR_STREAM_FORK + i];
        const uint64_t nodes = 2 * out[GPHI_ANCHOR_STREAM_NODE + i];
        *fork -= nodes < *fork ? nodes : *fork;
    }
}

static void take_off(uint64_t *from, uint64_t part)
{
    *from -= part < *from ? part : *from;
}

static void measure(bench *b, uint64_t *out)
{
    uint64_t *const events = &out[GPHI_ANCHOR_EVENTS];
    chain(b, LONG); /* whatever is done at the first launch */
    DO(b, stream_wait, b->stream);
    const chain_times few = measure_work(b, chain, SHORT),
                      many = measure_work(b, chain, LONG);
    line(few.stream, many.stream, events, &out[GPHI_ANCHOR_STREAM_NODE]);
    line(few.graph, many.graph, &out[GPHI_ANCHOR_GRAPH_START],
         &out[GPHI_ANCHOR_GRAPH_NODE]);
    line(few.fresh, many.fresh, &out[GPHI_ANCHOR_FRESH_START],
         &out[GPHI_ANCHOR_FRESH_NODE]);
    take_off(&out[GPHI_ANCHOR_GRAPH_START], *events);
    take_off(&out[GPHI_ANCHOR_FRESH_START], *events);
    if (out[GPHI_ANCHOR_GRAPH_START] > out[GPHI_ANCHOR_FRESH_START]) /* disturbed */
        out[GPHI_ANCHOR_GRAPH_START] = out[GPHI_ANCHOR_FRESH_START];
    line(few.launch, many.launch, &out[GPHI_ANCHOR_GRAPH_LAUNCH],
         &out[GPHI_ANCHOR_GRAPH_LAUNCH_NODE]);
    line(few.capture, many.capture, &out[GPHI_ANCHOR_CAPTURE],
         &out[GPHI_ANCHOR_CAPTURE_NODE]);
    line(few.instantiate, many.instantiate, &out[GPHI_ANCHOR_INSTANTIATE],
         &out[GPHI_ANCHOR_INSTANTIATE_NODE]);
    line(few.upload, many.upload, &out[GPHI_ANCHOR_UPLOAD],
         &out[GPHI_ANCHOR_UPLOAD_NODE]);
    measure_waits(b, out);
    measure_others(b, out);
    measure_set(b, out);
}

gphi_timing_failure gphi_timing_anchors(const gphi_timing_calls *cu,
                                        gphi_timing_gate *gate,
                                        uint64_t out[GPHI_ANCHOR_COUNT])
{
    bench b = {.cu = cu, .gate = gate};
    DO(&b, module_load, &b.module, tiny_ptx);
    DO(&b, function, &b.tiny, b.module, "tiny");
    DO(&b, alloc, &b.x, 256);
    DO(&b, stream_create, &b.stream, CU_STREAM_NON_BLOCKING);
    DO(&b, stream_create, &b.side, CU_STREAM_NON_BLOCKING);
    DO(&b, event_create, &b.fork, CU_EVENT_DISABLE_TIMING);
    DO(&b, event_create, &b.join, CU_EVENT_DISABLE_TIMING);
    DO(&b, event_create, &b.begin, CU_EVENT_DEFAULT);
    DO(&b, event_create, &b.end, CU_EVENT_DEFAULT);
    if (!b.failure.call)
        measure(&b, out);
    atomic_store(gate->word, gate->next); /* nothing waits any more */
    const CUevent events[] = {b.begin, b.end, b.fork, b.join};
    const CUstream streams[] = {b.stream, b.side};
    for (int i = 0; i < 2; i++)
        if (streams[i]) {
            (void)cu->stream_wait(streams[i]);
            (void)cu->stream_destroy(streams[i]);
        }
    for (int i = 0; i < 4; i++)
        if (events[i])
            (void)cu->event_destroy(events[i]);
    if (b.x != 0)
        (void)cu->free(b.x);
    if (b.module)
        (void)cu->module_unload(b.module);
    return b.failure;
}
