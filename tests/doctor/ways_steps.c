// SPDX-License-Identifier: Apache-2.0
/* Ways in which a replay is another step than those before its capture, as training and decoding
 * have them: inputs come before each launch, and hardly a result is read. Marked as ways.c says. */
#include "rules/broken.h"

#include <stdbool.h>

enum { STEPS = 8, WARM = 4, BYTES = FLOATS * sizeof(float) };

static const char step_ptx[] = BROKEN_HEAD
    ".visible .entry sgd_step(.param .u64 out, .param .u64 in, .param .f32 k,\n"
    "                         .param .u32 n)\n"
    "{\n" BROKEN_INDEX
    "  ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in]; ld.param.f32 %f1, [k];\n"
    "  add.s64 %d3, %d1, %d7; add.s64 %d4, %d2, %d7;\n"
    "  ld.global.f32 %f2, [%d3]; ld.global.f32 %f3, [%d4];\n"
    "  fma.rn.f32 %f4, %f1, %f3, %f2; st.global.f32 [%d3], %f4;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry add_kernel(.param .u64 out, .param .u64 a, .param .u64 b,\n"
    "                           .param .u32 n)\n"
    "{\n" BROKEN_INDEX
    "  ld.param.u64 %d1, [out]; ld.param.u64 %d2, [a]; ld.param.u64 %d3, [b];\n"
    "  add.s64 %d1, %d1, %d7; add.s64 %d2, %d2, %d7; add.s64 %d3, %d3, %d7;\n"
    "  ld.global.f32 %f2, [%d2]; ld.global.f32 %f3, [%d3];\n"
    "  add.f32 %f4, %f2, %f3; st.global.f32 [%d1], %f4;\n"
    "  ret;\n"
    "}\n";

static CUfunction sgd_step, add_kernel;

static void send(CUdeviceptr to, int step)
{
    float host[FLOATS];
    for (int i = 0; i < FLOATS; i++)
        host[i] = (float)(step + i);
    CU(cuMemcpyHtoD(to, host, sizeof(host)));
}

static void begin(CUstream stream)
{
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
}

/* ---- gradients that add up ---- */

static void add_up(bool is_cleared, bool is_fed)
{
    CUstream stream = new_stream();
    const CUdeviceptr x = new_floats(), sum = new_floats();
    for (int i = 0; i < WARM; i++) {
        send(x, i);
        FILL(stream, sum, 0);
        SCALE_ADD(stream, sum, x, 1);
    }
    begin(stream);
    SCALE_ADD(stream, sum, x, 1); // <-- sum_grows
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < STEPS; i++) {
        if (is_fed)
            send(x, i);
        if (is_cleared)
            FILL(stream, sum, 0);
        CU(cuGraphLaunch(exec, stream));
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

// way: sum_grows replay.missing-work
static void sum_grows(void)
{
    add_up(false, true);
}

/* Cleared between the launches; a benchmark, to which nothing new comes. */
// way: sum_cleared silent
static void sum_cleared(void)
{
    add_up(true, true);
    add_up(false, false);
}

/* ---- an optimizer that does not run any more ---- */

static void train(bool is_updated, bool is_part)
{
    CUstream stream = new_stream();
    const CUdeviceptr x = new_floats(), w = new_floats(), grad = new_floats();
    for (int i = 0; i < WARM; i++) {
        send(x, i);
        SCALE_ADD(stream, grad, w, 1);
        for (int k = 0; is_part && k < 3; k++)
            COPY(stream, grad, x);
        LAUNCH(sgd_step, FLOATS / 128, stream, &(CUdeviceptr){w}, &(CUdeviceptr){grad},
               &(float){0.5F}, &(unsigned){FLOATS});
        CU(cuStreamSynchronize(stream));
    }
    begin(stream);
    SCALE_ADD(stream, grad, w, 1);
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < STEPS; i++) {
        send(grad, i);
        CU(cuGraphLaunch(exec, stream)); // <-- update_left_out
        if (is_updated)
            LAUNCH(sgd_step, FLOATS / 128, stream, &(CUdeviceptr){w},
                   &(CUdeviceptr){grad}, &(float){0.5F}, &(unsigned){FLOATS});
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

// way: update_left_out replay.missing-work
static void update_left_out(void)
{
    train(false, false);
}

/* It runs after each launch; the graph is a small part of the step, as what is captured to ask a
 * model after training. */
// way: update_beside silent
static void update_beside(void)
{
    train(true, false);
    train(false, true);
}

/* ---- a scale that grows now and then ---- */

static void scale_by(const float scales[5])
{
    CUstream stream = new_stream();
    const CUdeviceptr x = new_floats(), y = new_floats(), z = new_floats();
    for (int i = 0; i < 4; i++) {
        send(x, i);
        COPY(stream, y, x);
        SCALE_ADD(stream, z, y, scales[i]);
    }
    begin(stream);
    COPY(stream, y, x);
    SCALE_ADD(stream, z, y, scales[4]); // <-- scale_grows
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < STEPS; i++) {
        send(x, i);
        CU(cuGraphLaunch(exec, stream));
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

// way: scale_grows replay.frozen-value
static void scale_grows(void)
{
    scale_by((const float[]){256, 512, 512, 1024, 1024});
}

/* Two values by turns, and one that was changed once. */
// way: scale_settled silent
static void scale_settled(void)
{
    scale_by((const float[]){256, 512, 512, 256, 256});
    scale_by((const float[]){1, 1, 3, 3, 3});
}

/* ---- a table that the host makes ---- */

static void send_table(CUstream stream, CUdeviceptr to, const float *table)
{
    CU(cuMemcpyHtoDAsync(to, table, BYTES, stream)); // <-- table_made_once
}

/* One buffer for all steps, or another one in each: the captured one is written no more. */
static void tables(bool is_one, bool is_same)
{
    CUstream stream = new_stream();
    const CUdeviceptr x = new_floats(), table = new_floats(), out = new_floats();
    float *host[WARM + 1] = {NULL};
    for (int i = 0; i <= WARM; i++)
        if (i == 0 || !is_one)
            CU(cuMemHostAlloc((void **)&host[i], BYTES, 0));
        else
            host[i] = host[0];
    for (int i = 0; i < WARM + STEPS; i++) {
        const int at = i < WARM ? i : WARM;
        static CUgraphExec exec;
        for (int k = 0; k < FLOATS && (is_one || i <= WARM); k++)
            host[at][k] = (float)(is_same ? k : k + i);
        send(x, i);
        if (i == WARM)
            begin(stream);
        if (i <= WARM) {
            send_table(stream, table, host[at]);
            SCALE_ADD(stream, out, table, 1);
            SCALE_ADD(stream, out, x, 1);
        }
        if (i == WARM)
            exec = end_capture(stream);
        if (i >= WARM)
            CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
    }
}

// way: table_made_once replay.frozen-value
static void table_made_once(void)
{
    tables(false, false);
}

/* Made again in the captured buffer; always the same. */
// way: table_made_again silent
static void table_made_again(void)
{
    tables(true, false);
    tables(false, true);
}

/* ---- the eager step's result ---- */

static void read_of(bool is_graphs, bool is_both)
{
    CUstream stream = new_stream();
    const CUdeviceptr x = new_floats(), old = new_floats(), out = new_floats();
    const CUdeviceptr mean = new_floats(), other = new_floats();
    float seen = 0;
    COPY(stream, old, x);
    begin(stream);
    COPY(stream, out, x);
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < STEPS; i++) {
        send(x, i);
        CU(cuGraphLaunch(exec, stream));
        if (is_both)
            COPY(stream, other, out);
        COPY(stream, mean, is_graphs ? out : old); // <-- old_result
        CU(cuMemcpyDtoHAsync(&seen, mean, sizeof(seen), stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
}

// way: old_result replay.unread-result
static void old_result(void)
{
    read_of(false, false);
}

/* The graph's is read; both are, as weights are beside an input. */
// way: new_result silent
static void new_result(void)
{
    read_of(true, false);
    read_of(false, true);
}

/* ---- a graph for each size, whose results stay on the device ---- */

static void sizes(int at_work, int in_use)
{
    enum { SIZES = 40 };
    CUstream stream = new_stream();
    const CUdeviceptr x = new_floats(), y = new_floats(), kept = new_floats();
    CUgraphExec execs[SIZES];
    CUgraph graph = NULL;
    for (int i = 0; i < SIZES; i++) {
        begin(stream);
        LAUNCH(copy, (unsigned)i + 1, stream, &(CUdeviceptr){y}, &(CUdeviceptr){x},
               &(unsigned){16U * (unsigned)i});
        SCALE_ADD(stream, y, x, 1);
        SCALE_ADD(stream, y, x, 2);
        CU(cuStreamEndCapture(stream, &graph));
        CU(cuGraphInstantiateWithFlags(&execs[i], graph, 0)); // <-- size_after_size
        CU(cuGraphDestroy(graph));
        CU(cuGraphLaunch(execs[i], stream));
        if (at_work)
            CU(cuMemcpyDtoDAsync(kept, y, BYTES, stream));
    }
    for (int i = 0; i < in_use; i++)
        CU(cuGraphLaunch(execs[i % SIZES], stream));
    CU(cuStreamSynchronize(stream));
    for (int i = 0; i < SIZES; i++)
        CU(cuGraphExecDestroy(execs[i]));
}

// way: size_after_size cache.shape-explosion
static void size_after_size(void)
{
    sizes(1, 0);
}

/* Recorded at the start, and used. */
// way: sizes_used silent
static void sizes_used(void)
{
    sizes(0, 2000);
}

/* ---- what the host decides in each step ---- */

/* As many layers as the bits of `kept` say. */
static void layered(CUstream stream, CUdeviceptr h, CUdeviceptr x, unsigned kept)
{
    COPY(stream, h, x);
    for (int i = 0; i < 4; i++)
        if (kept >> i & 1)
            SCALE_ADD(stream, h, x, 1); // <-- layers_by_chance
    COPY(stream, x, h);
}

static CUgraphExec layers_in_graph(CUstream stream, CUdeviceptr h, CUdeviceptr x,
                                   unsigned kept)
{
    begin(stream);
    layered(stream, h, x, kept);
    return end_capture(stream);
}

enum { BY_CHANCE, FOR_EACH_CASE, AND_EAGERLY, WARM_FIRST };

static void layers(int how)
{
    static const unsigned chance[] = {15, 11, 15, 9, 13, 7},
                          warm[] = {15, 15, 11, 11, 11, 11};
    CUstream stream = new_stream();
    const CUdeviceptr x = new_floats(), h = new_floats();
    for (int i = 0; i < 6; i++) {
        send(x, i);
        layered(stream, h, x, how == WARM_FIRST ? warm[i] : chance[i]);
    }
    CUgraphExec exec[] = {layers_in_graph(stream, h, x, 11),
                          how == FOR_EACH_CASE ? layers_in_graph(stream, h, x, 9) : NULL};
    for (int i = 0; i < STEPS; i++) {
        send(x, i);
        CU(cuGraphLaunch(exec[exec[1] ? i % 2 : 0], stream));
        if (how == AND_EAGERLY && i % 3 == 0)
            layered(stream, h, x, 1);
    }
    CU(cuStreamSynchronize(stream));
    for (int i = 0; i < 2 && exec[i]; i++)
        CU(cuGraphExecDestroy(exec[i]));
}

// way: layers_by_chance replay.frozen-value
static void layers_by_chance(void)
{
    layers(BY_CHANCE);
}

/* A graph for each case; the rest without a graph; a warm-up that is another at first. */
// way: layers_as_they_are silent
static void layers_as_they_are(void)
{
    layers(FOR_EACH_CASE);
    layers(AND_EAGERLY);
    layers(WARM_FIRST);
}

/* An optimizer that steps for every second batch. */
static void accumulated(CUstream stream, CUdeviceptr w, CUdeviceptr grad, CUdeviceptr x,
                        bool is_step)
{
    SCALE_ADD(stream, grad, x, 1);
    if (is_step)
        LAUNCH(sgd_step, FLOATS / 128, stream, &(CUdeviceptr){w},
               &(CUdeviceptr){grad}, // <-- every_second
               &(float){0.5F}, &(unsigned){FLOATS});
}

static void accumulate(bool is_outside)
{
    CUstream stream = new_stream();
    const CUdeviceptr x = new_floats(), w = new_floats(), grad = new_floats();
    for (int i = 0; i < 6; i++) {
        send(x, i);
        accumulated(stream, w, grad, x, i % 2 == 1);
    }
    begin(stream);
    accumulated(stream, w, grad, x, !is_outside);
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < STEPS; i++) {
        send(x, i);
        CU(cuGraphLaunch(exec, stream));
        if (is_outside && i % 2 == 1)
            LAUNCH(sgd_step, FLOATS / 128, stream, &(CUdeviceptr){w},
                   &(CUdeviceptr){grad}, &(float){0.5F}, &(unsigned){FLOATS});
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

// way: every_second replay.frozen-value
static void every_second(void)
{
    accumulate(false);
}

// way: every_second_outside silent
static void every_second_outside(void)
{
    accumulate(true);
}

/* ---- a large buffer that a loader fills ---- */

static void load(bool is_waited)
{
    enum { LARGE = 16 * BYTES };
    CUstream stream = new_stream();
    const CUdeviceptr y = new_floats();
    CUdeviceptr x;
    void *shard;
    CU(cuMemAlloc(&x, LARGE));
    CU(cuMemAllocHost(&shard, LARGE));
    begin(stream);
    SCALE_ADD(stream, y, x, 1);
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < STEPS; i++) {
        memset(shard, i, LARGE);
        CU(cuMemcpyHtoDAsync(x, shard, LARGE, stream)); // <-- shard_overwritten
        if (is_waited)
            CU(cuStreamSynchronize(stream));
        CU(cuGraphLaunch(exec, stream));
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuMemFreeHost(shard));
    CU(cuMemFree(x));
}

// way: shard_overwritten memory.staging-overwritten
static void shard_overwritten(void)
{
    load(false);
}

// way: shard_waited_for silent
static void shard_waited_for(void)
{
    load(true);
}

/* ---- a last batch that is smaller, and a result of one number ---- */

enum { AS_IT_IS, WITH_COUNT, WITH_REST, BY_ROWS, OTHER_PLACE };

static void validate(int how)
{
    static float host[FLOATS], rows[FLOATS];
    CUstream stream = new_stream();
    const CUdeviceptr x = new_floats(), y = new_floats(), count = new_floats();
    const CUdeviceptr loss = new_floats();
    begin(stream);
    SCALE_ADD(stream, loss, x, 1);
    SCALE_ADD(stream, loss, y, 1);
    SCALE_ADD(stream, loss, count, 1);
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < 6; i++) {
        const size_t bytes = i < 5 ? BYTES : BYTES / 2;
        const size_t at = how == OTHER_PLACE ? bytes - sizeof(float) : 0;
        CU(cuMemcpyHtoD(x, host, bytes)); // <-- batch_cut
        CU(cuMemcpyHtoD(y, host, bytes));
        if (how == WITH_COUNT)
            CU(cuMemcpyHtoD(count, host, sizeof(float)));
        if (how == WITH_REST && i == 5)
            CU(cuMemsetD8(x + bytes, 0, BYTES - bytes));
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
        CU(cuMemcpyDtoH(rows, loss + at, how == BY_ROWS ? bytes : sizeof(float)));
    }
    CU(cuGraphExecDestroy(exec));
}

// way: batch_cut replay.frozen-size
static void batch_cut(void)
{
    validate(AS_IT_IS);
}

/* The count is sent as well; the rest is cleared; rows are read, as many as were sent; the number is
 * read from where the batch ends. */
// way: batch_counted silent
static void batch_counted(void)
{
    validate(WITH_COUNT);
    validate(WITH_REST);
    validate(BY_ROWS);
    validate(OTHER_PLACE);
}

/* ---- sums that are kept where the graph writes ---- */

/* Two gradients, and what is done with them after each launch: all of x += y. */
static void add_gradients(bool is_own)
{
    CUstream stream = new_stream();
    const CUdeviceptr x = new_floats(), a = new_floats(), b = new_floats();
    const CUdeviceptr sum_a = is_own ? new_floats() : a,
                      sum_b = is_own ? new_floats() : b;
    begin(stream);
    SCALE_ADD(stream, a, x, 1);
    SCALE_ADD(stream, b, x, 2);
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < STEPS; i++) {
        send(x, i);
        CU(cuGraphLaunch(exec, stream));
        if (i % 4 == 0)
            continue; /* kept as it is */
        const CUdeviceptr from[] = {a, b}, to[] = {sum_a, sum_b};
        for (int k = 0; k < 2; k++)
            LAUNCH(add_kernel, FLOATS / 128, stream,
                   &(CUdeviceptr){to[k]}, // <-- sum_in_graph
                   &(CUdeviceptr){to[k]}, &(CUdeviceptr){from[k]}, &(unsigned){FLOATS});
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

// way: sum_in_graph memory.output-overwritten
static void sum_in_graph(void)
{
    add_gradients(false);
}

// way: sum_of_its_own silent
static void sum_of_its_own(void)
{
    add_gradients(true);
}

#define WAYS(X)                                                                          \
    X(sum_grows)                                                                         \
    X(sum_cleared)                                                                       \
    X(update_left_out)                                                                   \
    X(update_beside)                                                                     \
    X(scale_grows)                                                                       \
    X(scale_settled)                                                                     \
    X(table_made_once)                                                                   \
    X(table_made_again)                                                                  \
    X(old_result)                                                                        \
    X(new_result)                                                                        \
    X(size_after_size)                                                                   \
    X(sizes_used)                                                                        \
    X(layers_by_chance)                                                                  \
    X(layers_as_they_are)                                                                \
    X(every_second)                                                                      \
    X(every_second_outside)                                                              \
    X(shard_overwritten)                                                                 \
    X(shard_waited_for)                                                                  \
    X(batch_cut)                                                                         \
    X(batch_counted)                                                                     \
    X(sum_in_graph)                                                                      \
    X(sum_of_its_own)

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {
#define X(name) {#name, name},
        WAYS(X)
#undef X
    };
    CUmodule own;
    for (size_t i = 0; argc == 2 && i < sizeof(ways) / sizeof(ways[0]); i++)
        if (strcmp(argv[1], ways[i].name) == 0) {
            broken_open();
            CU(cuModuleLoadData(&own, step_ptx));
            CU(cuModuleGetFunction(&sgd_step, own, "sgd_step"));
            CU(cuModuleGetFunction(&add_kernel, own, "add_kernel"));
            ways[i].run();
            fflush(stdout);
            return broken_failures > 0;
        }
    fprintf(stderr, "usage: %s WAY\n", argv[0]);
    return 2;
}
