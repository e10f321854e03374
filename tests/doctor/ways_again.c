// SPDX-License-Identifier: Apache-2.0
/* Ways of classes that programs nobody had written for the rules have shown: as ways.c. */
#include "rules/device.h"

#include <stdbool.h>

enum { BYTES = FLOATS * sizeof(float), RING = 4, STEPS = 8 };

static CUstream stream;
static float *ring[RING];

static float *pinned(void)
{
    float *out = NULL;
    CU(cuMemHostAlloc((void **)&out, BYTES, 0));
    memset(out, 0, BYTES);
    return out;
}

static void open_ring(void)
{
    stream = new_stream();
    for (int i = 0; i < RING; i++)
        ring[i] = pinned();
}

/* ---- copies whose host side takes turns ---- */

typedef enum turn { TURNS, ONE_BUFFER, NODE_SET, GRAPH_EACH } turn;

static void to_ring(turn how)
{
    CUdeviceptr x = new_floats();
    CUgraphExec exec[RING] = {NULL};
    CUgraph graph = NULL;
    CUgraphNode nodes[2];
    size_t count = 2;
    open_ring();
    for (int i = 0; i < STEPS; i++) {
        float *slot = ring[how == ONE_BUFFER ? 0 : i % RING];
        CUgraphExec *own = &exec[how == GRAPH_EACH ? i % RING : 0];
        FILL(stream, x, (float)i);
        if (i < 2) {
            SCALE_ADD(stream, x, x, 1);
            CU(cuMemcpyDtoHAsync(slot, x, BYTES, stream));
        } else if (!*own) {
            CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
            SCALE_ADD(stream, x, x, 1);
            CU(cuMemcpyDtoHAsync(slot, x, BYTES, stream)); // <-- ring_of_results
            CU(cuStreamEndCapture(stream, &graph));
            CU(cuGraphGetNodes(graph, nodes, &count));
            CU(cuGraphInstantiateWithFlags(own, graph, 0));
        }
        if (*own && how == NODE_SET) {
            CUDA_MEMCPY3D moved = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                   .srcDevice = x,
                                   .dstMemoryType = CU_MEMORYTYPE_HOST,
                                   .dstHost = slot,
                                   .WidthInBytes = BYTES,
                                   .Height = 1,
                                   .Depth = 1};
            CU(cuGraphExecMemcpyNodeSetParams(*own, nodes[1], &moved, context));
        }
        if (*own)
            CU(cuGraphLaunch(*own, stream));
        CU(cuStreamSynchronize(stream));
        printf("%g\n", (double)slot[1]);
    }
}

// way: ring_of_results replay.turning-pointer
static void ring_of_results(void)
{
    to_ring(TURNS);
}

// way: ring_is_set silent
static void ring_is_set(void)
{
    to_ring(ONE_BUFFER);
    to_ring(NODE_SET);
    to_ring(GRAPH_EACH);
}

/* Inputs: the host goes on to fill the ring, or the place that the graph reads. */
static void from_ring(bool fills_own)
{
    CUdeviceptr x = new_floats(), y = new_floats();
    CUgraphExec exec = NULL;
    open_ring();
    for (int i = 0; i < STEPS; i++) {
        float *slot = ring[exec && fills_own ? 2 : i % RING];
        slot[0] = (float)i;
        if (i < 2) {
            CU(cuMemcpyHtoDAsync(x, slot, BYTES, stream));
            SCALE_ADD(stream, y, x, 1);
        } else if (!exec) {
            CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
            CU(cuMemcpyHtoDAsync(x, slot, BYTES, stream)); // <-- ring_of_inputs
            SCALE_ADD(stream, y, x, 1);
            exec = end_capture(stream);
        }
        if (exec)
            CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
    }
    printf("%g\n", (double)float_at(y, 0));
}

// way: ring_of_inputs replay.turning-pointer
static void ring_of_inputs(void)
{
    from_ring(false);
}

// way: own_place_is_filled silent
static void own_place_is_filled(void)
{
    from_ring(true);
}

/* ---- a clone's original is edited ---- */

static void launch_clone(bool by_capture, bool is_own, bool clones_again)
{
    CUdeviceptr x = new_floats();
    CUgraph base = NULL, clone = NULL;
    CUgraphNode node = NULL, own = NULL;
    CUgraphExec exec = NULL;
    float value = 1;
    unsigned floats = FLOATS;
    size_t one = 1;
    CUDA_KERNEL_NODE_PARAMS params = floats_kernel(fill, (void *[]){&x, &value, &floats});
    stream = new_stream();
    if (by_capture) {
        base = fill_graph(stream, x);
        CU(cuGraphGetNodes(base, &node, &one));
    } else {
        base = new_graph();
        CU(cuGraphAddKernelNode(&node, base, NULL, 0, &params));
    }
    CU(cuGraphClone(&clone, base));
    CU(cuGraphNodeFindInClone(&own, node, clone));
    value = 7;
    if (by_capture)
        CU(cuGraphKernelNodeSetParams(is_own ? own : node,
                                      &params)); // <-- clone_captured
    else
        CU(cuGraphKernelNodeSetParams(is_own ? own : node, &params)); // <-- clone_by_hand
    if (clones_again)
        CU(cuGraphClone(&clone, base));
    CU(cuGraphInstantiateWithFlags(&exec, clone, 0));
    launch_and_wait(exec, stream);
    launch_and_wait(exec, stream);
    printf("%g\n", (double)float_at(x, 0));
}

// way: clone_by_hand update.edit-without-effect
static void clone_by_hand(void)
{
    launch_clone(false, false, false);
}

// way: clone_captured update.edit-without-effect
static void clone_captured(void)
{
    launch_clone(true, false, false);
}

// way: clone_itself silent
static void clone_itself(void)
{
    launch_clone(false, true, false);
    launch_clone(true, true, false);
    launch_clone(false, false, true);
}

/* ---- an event that nothing records ---- */

static void wait_for_event(bool other, bool starts_late)
{
    CUevent done[2] = {new_event(), new_event()};
    CUdeviceptr x = new_floats();
    stream = new_stream();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 2);
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < STEPS; i++) {
        CU(cuGraphLaunch(exec, stream));
        if (starts_late) /* the first round waits for what is not there yet */
            CU(cuEventSynchronize(done[0]));
        CU(cuEventRecord(done[0], stream));
        CU(cuEventSynchronize(done[other])); // <-- never_recorded
    }
    CU(cuStreamSynchronize(stream));
}

// way: never_recorded launch.unrecorded-event
static void never_recorded(void)
{
    wait_for_event(true, false);
}

// way: recorded_later silent
static void recorded_later(void)
{
    wait_for_event(false, false);
    wait_for_event(false, true);
}

/* ---- what ordered two nodes is taken out ---- */

static void cut(bool is_edge, bool mends)
{
    CUdeviceptr x = new_floats(), y = new_floats(), z = new_floats();
    CUgraph graph = NULL;
    CUgraphNode nodes[3];
    CUgraphExec exec = NULL;
    size_t count = 3;
    stream = new_stream();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 6);
    SCALE_ADD(stream, z, x, 1);
    SCALE_ADD(stream, y, x, 1);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphGetNodes(graph, nodes, &count));
    if (is_edge)
        CU(cuGraphRemoveDependencies(graph, &nodes[1], &nodes[2], NULL,
                                     1)); // <-- edge_cut
    else
        CU(cuGraphDestroyNode(nodes[1])); // <-- node_cut
    if (mends)
        CU(cuGraphAddDependencies(graph, &nodes[0], &nodes[2], NULL, 1));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    launch_and_wait(exec, stream);
    printf("%g\n", (double)float_at(y, 0));
}

// way: node_cut launch.unordered-nodes
static void node_cut(void)
{
    cut(false, false);
}

// way: edge_cut launch.unordered-nodes
static void edge_cut(void)
{
    cut(true, false);
}

// way: cut_and_mended silent
static void cut_and_mended(void)
{
    cut(false, true);
    cut(true, true);
}

/* ---- where an argument's variable was, once its function has returned ---- */

static CUgraphExec scaled(CUdeviceptr y, CUdeviceptr x)
{
    float rates[8] = {1};
    unsigned floats = FLOATS;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    LAUNCH(scale_add, FLOATS / 128, stream, &y, &x, &rates[0], &floats);
    return end_capture(stream);
}

/* Has numbers where the other function had its rates. */
static void launch_after(CUgraphExec exec, int i)
{
    float numbers[64];
    for (int k = 0; k < 64; k++)
        numbers[k] = i < 1 ? 1 : (float)(i + k);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    printf("%g\n", (double)numbers[i]);
}

// way: slot_taken_again silent
static void slot_taken_again(void)
{
    CUdeviceptr x = new_floats(), y = new_floats();
    stream = new_stream();
    CUgraphExec exec = scaled(y, x);
    for (int i = 0; i < STEPS; i++)
        launch_after(exec, i);
    CU(cuGraphExecDestroy(exec));
}

/* The function's own, which is called again: from another line, too. */
static void decay_step(CUgraphExec *exec, CUdeviceptr y, CUdeviceptr x, int i)
{
    float rate = i < 1 ? 1 : 1 / (float)i;
    unsigned floats = FLOATS;
    if (!*exec) {
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        LAUNCH(scale_add, FLOATS / 128, stream, &y, &x, &rate, // <-- called_again
               &floats);
        *exec = end_capture(stream);
    }
    CU(cuGraphLaunch(*exec, stream));
    CU(cuStreamSynchronize(stream));
}

// way: called_again replay.frozen-value
static void called_again(void)
{
    CUdeviceptr x = new_floats(), y = new_floats();
    CUgraphExec exec = NULL;
    stream = new_stream();
    decay_step(&exec, y, x, 0);
    for (int i = 1; i < STEPS; i++)
        decay_step(&exec, y, x, i);
    CU(cuGraphExecDestroy(exec));
}

/* The caller's, by way of a function that captures and one that launches. */
static CUgraphExec scaled_by(CUdeviceptr y, CUdeviceptr x, float *rate)
{
    unsigned floats = FLOATS;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    LAUNCH(scale_add, FLOATS / 128, stream, &y, &x, rate, &floats); // <-- of_caller
    return end_capture(stream);
}

// way: of_caller replay.frozen-value
static void of_caller(void)
{
    CUdeviceptr x = new_floats(), y = new_floats();
    float rate = 1;
    stream = new_stream();
    CUgraphExec exec = scaled_by(y, x, &rate);
    for (int i = 0; i < STEPS; i++, rate *= 0.5F)
        launch_after(exec, i);
    CU(cuGraphExecDestroy(exec));
}

/* ---- a pool for each graph, of several kinds, made at one line ---- */

// way: pools_of_kinds memory.pool-per-graph
static void pools_of_kinds(void)
{
    enum { KINDS = 2, GRAPHS = 3 * KINDS, LARGE = 4 << 20 };
    const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUdeviceptr x = new_floats(), y = new_floats();
    CUgraphExec execs[GRAPHS];
    CUgraph graph = NULL;
    stream = new_stream();
    for (int i = 0; i < GRAPHS; i++) {
        CUdeviceptr temporary = 0;
        CUmemoryPool pool = NULL;
        CU(cuMemPoolCreate(&pool, &props));
        CU(cuMemAllocFromPoolAsync(&temporary, LARGE, pool, stream));
        CU(cuStreamSynchronize(stream));
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        COPY(stream, temporary, x);
        for (int k = 0; k <= i % KINDS; k++)
            SCALE_ADD(stream, y, temporary, 2);
        CU(cuStreamEndCapture(stream, &graph));
        CU(cuGraphInstantiateWithFlags(&execs[i], graph, 0)); // <-- pools_of_kinds
        CU(cuGraphDestroy(graph));
    }
    for (int i = 0; i < 2 * GRAPHS; i++)
        CU(cuGraphLaunch(execs[i % GRAPHS], stream));
    CU(cuStreamSynchronize(stream));
    for (int i = 0; i < GRAPHS; i++)
        CU(cuGraphExecDestroy(execs[i]));
}

/* ---- a node that reads what only another after it writes ---- */

typedef enum back { UNTOUCHED, STATE, UPLOADED, NOT_READ } back;

/* Captured: y = h, then h = x. As a state of the step before it is right, if it has a
 * start, or if nobody looks at what comes of the first launch. */
static void read_then_write(back how)
{
    CUdeviceptr h = new_floats(), x = new_floats(), y = new_floats();
    const float start = 3;
    stream = new_stream();
    CUdeviceptr own = 0;
    CU(cuMemAlloc(&own, BYTES));
    if (how != UNTOUCHED && how != NOT_READ)
        own = h; /* filled */
    if (how == UPLOADED)
        CU(cuMemcpyHtoDAsync(own, &start, sizeof(start), stream));
    FILL(stream, x, 2);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    COPY(stream, y, own); // <-- read_before_writer
    COPY(stream, own, x);
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < 3; i++) {
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
        if (how != NOT_READ || i > 0)
            printf("%g\n", (double)float_at(y, 0));
    }
    CU(cuGraphExecDestroy(exec));
}

// way: read_before_writer launch.unordered-nodes
static void read_before_writer(void)
{
    read_then_write(UNTOUCHED);
}

// way: state_of_step silent
static void state_of_step(void)
{
    read_then_write(STATE);
    read_then_write(UPLOADED);
    read_then_write(NOT_READ);
}

/* ---- events of a capture that are asked when it is over ---- */

// way: timed_in_capture capture.event-after-capture
static void timed_in_capture(void)
{
    CUdeviceptr x = new_floats();
    CUevent from = new_event(), to = new_event();
    float ms = 0;
    stream = new_stream();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuEventRecord(from, stream)); // <-- timed_in_capture
    FILL(stream, x, 1);
    CU(cuEventRecord(to, stream));
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < 3; i++) {
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
        (void)cuEventElapsedTime(&ms, from, to);
    }
    CU(cuGraphExecDestroy(exec));
}

#define WAYS(X)                                                                          \
    X(ring_of_results)                                                                   \
    X(ring_is_set)                                                                       \
    X(ring_of_inputs)                                                                    \
    X(own_place_is_filled)                                                               \
    X(clone_by_hand)                                                                     \
    X(clone_captured)                                                                    \
    X(clone_itself)                                                                      \
    X(never_recorded)                                                                    \
    X(recorded_later)                                                                    \
    X(node_cut)                                                                          \
    X(edge_cut)                                                                          \
    X(cut_and_mended)                                                                    \
    X(slot_taken_again)                                                                  \
    X(called_again)                                                                      \
    X(of_caller)                                                                         \
    X(pools_of_kinds)                                                                    \
    X(read_before_writer)                                                                \
    X(state_of_step)                                                                     \
    X(timed_in_capture)

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
    for (size_t i = 0; argc == 2 && i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (strcmp(ways[i].name, argv[1]) != 0)
            continue;
        broken_open();
        ways[i].run();
        fflush(stdout);
        return 0;
    }
    return 2;
}
