// SPDX-License-Identifier: Apache-2.0
/* Further ways to break rules, as those of ways.c, which says how they are marked. */
#include "rules/device.h"

#include <stdbool.h>

enum { BYTES = FLOATS * sizeof(float) };

/* ---- handles come again ---- */

/* Graphs are recorded, instantiated or added to another one, and destroyed; those that come
 * next, and the bodies of their nodes, may get the same handles, and are others. */
// way: handle_again silent
static void handle_again(void)
{
    enum { GRAPHS = 32 };
    CUstream stream = new_stream();
    CUdeviceptr out = new_floats(), word = new_words(1);
    CUgraphExec execs[GRAPHS];
    CUgraph old[GRAPHS];
    int again = 0;
    for (int i = 0; i < GRAPHS; i++) {
        old[i] = fill_graph(stream, out);
        CUgraph outer = i % 2 ? new_graph() : old[i];
        CUgraphNode node = NULL;
        if (i % 2)
            CU(cuGraphAddChildGraphNode(&node, outer, NULL, 0, old[i]));
        CU(cuGraphInstantiateWithFlags(&execs[i], outer, 0));
        CU(cuGraphDestroy(old[i]));
    }
    for (int i = 0; i < GRAPHS; i++) {
        CUgraph graph = new_graph(), body;
        CUgraphConditionalHandle handle = 0;
        CU(cuGraphConditionalHandleCreate(&handle, graph, context, 1,
                                          CU_GRAPH_COND_ASSIGN_DEFAULT));
        body = add_condition(graph, NULL, handle, CU_GRAPH_COND_TYPE_IF);
        add_one(body, NULL, "add", (void *[]){&word});
        add_one(graph, NULL, "add", (void *[]){&word});
        for (int k = 0; k < GRAPHS; k++)
            again += graph == old[k] || body == old[k];
        if (i % 2)
            CU(cuGraphDestroy(graph));
    }
    for (int i = 0; i < GRAPHS; i++)
        launch_and_wait(execs[i], stream);
    printf("%d handles came again\n", again);
}

/* ---- a graph of one kernel, and a wait ---- */

static void step_by_step(int kernels, int steps, bool is_by_hand)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0);
    CUgraph graph = new_graph();
    CUgraphNode last = NULL;
    CUgraphExec exec = NULL;
    if (is_by_hand) {
        for (int i = 0; i < kernels; i++)
            last = add_one(graph, last, "add", (void *[]){&word});
        CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    } else {
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        for (int i = 0; i < kernels; i++)
            ONE("add", stream, &word);
        exec = end_capture(stream);
    }
    for (int i = 0; i < steps; i++) {
        if (is_by_hand)
            CU(cuGraphLaunch(exec, stream)); // <-- alone_by_hand
        else
            CU(cuGraphLaunch(exec, stream)); // <-- alone_captured
        CU(cuStreamSynchronize(stream));
    }
    EXPECT(word_at(word) == (unsigned)(kernels * steps));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

// way: alone_captured perf.tiny-graphs
static void alone_captured(void)
{
    step_by_step(1, 200, false);
}

// way: alone_by_hand perf.tiny-graphs
static void alone_by_hand(void)
{
    step_by_step(1, 200, true);
}

/* Several kernels a launch; and one a launch, a few times. */
// way: several_at_once silent
static void several_at_once(void)
{
    step_by_step(4, 200, false);
    step_by_step(1, 40, false);
}

/* ---- a kernel after the graph has the size that the graph has ---- */

enum { SHORT = 64, LONG = 256 };

/* `is_anew`: a graph for each size, as it should be. */
static void consume(bool reads, bool is_anew, bool has_others)
{
    const unsigned sizes[] = {SHORT, SHORT, LONG};
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), y = new_floats();
    CUgraphExec exec = NULL;
    for (int i = 0; i < 3; i++) {
        unsigned n = sizes[i];
        if (!exec || (is_anew && n != sizes[i - 1])) {
            CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
            LAUNCH(fill, FLOATS / 128, stream, &x, &(float){1}, &n);
            exec = end_capture(stream);
        }
        CU(cuMemsetD32Async(x, 0, FLOATS, stream));
        if (has_others) /* the rest comes from elsewhere */
            CU(cuMemcpyDtoDAsync(x + SHORT * 4, y, LONG * 4, stream));
        if (reads)
            CU(cuGraphLaunch(exec, stream)); // <-- more_is_read
        else
            CU(cuGraphLaunch(exec, stream)); // <-- more_is_added
        if (reads)
            LAUNCH(copy, FLOATS / 128, stream, &y, &x, &n);
        else
            LAUNCH(scale_add, FLOATS / 128, stream, &y, &x, &(float){2}, &n);
        CU(cuStreamSynchronize(stream));
    }
}

// way: more_is_read replay.frozen-size
static void more_is_read(void)
{
    consume(true, false, false);
}

// way: more_is_added replay.frozen-size
static void more_is_added(void)
{
    consume(false, false, false);
}

// way: graph_of_each_size silent
static void graph_of_each_size(void)
{
    consume(true, true, false);
    consume(false, true, false);
    consume(true, false, true);
}

/* ---- a lock around each call, and not around setter and launch ---- */

typedef struct shared_exec {
    CUgraphExec exec;
    CUgraphNode node;
    CUdeviceptr out;
    CUstream stream;
} shared_exec;

static shared_exec make_shared(void)
{
    shared_exec out = {.out = new_floats(), .stream = new_stream()};
    size_t one = 1;
    CUgraph graph = fill_graph(out.stream, out.out);
    CU(cuGraphGetNodes(graph, &out.node, &one));
    CU(cuGraphInstantiateWithFlags(&out.exec, graph, 0));
    return out;
}

static void set_value(shared_exec *of, float value)
{
    unsigned n = FLOATS;
    const CUDA_KERNEL_NODE_PARAMS params =
        floats_kernel(fill, (void *[]){&of->out, &value, &n});
    CU(cuGraphExecKernelNodeSetParams(of->exec, of->node, &params));
}

static void set_other(void *user)
{
    set_value(user, 2);
}

static void set_and_launch(void *user)
{
    shared_exec *of = user;
    set_value(of, 2);
    launch_and_wait(of->exec, of->stream);
}

/* A thread with its own set and launch, which let the main thread in between. */
static pthread_barrier_t turns;

static void in_two_steps(void *user)
{
    shared_exec *of = user;
    pthread_barrier_wait(&turns);
    set_value(of, 2);
    pthread_barrier_wait(&turns);
    pthread_barrier_wait(&turns);
    launch_and_wait(of->exec, of->stream);
}

static void interleave(bool is_thread_first)
{
    shared_exec of = make_shared();
    broken_work work = {in_two_steps, &of};
    pthread_t thread;
    EXPECT(pthread_barrier_init(&turns, NULL, 2) == 0);
    EXPECT(pthread_create(&thread, NULL, broken_thread, &work) == 0);
    if (is_thread_first)
        set_value(&of, 3);
    else
        set_value(&of, 1);
    pthread_barrier_wait(&turns);
    pthread_barrier_wait(&turns);
    if (is_thread_first)
        CU(cuGraphLaunch(of.exec, of.stream)); // <-- turn_taken
    else
        CU(cuGraphLaunch(of.exec, of.stream)); // <-- turn_taken_again
    CU(cuStreamSynchronize(of.stream));
    pthread_barrier_wait(&turns);
    pthread_join(thread, NULL);
}

// way: turn_taken launch.concurrent-use
static void turn_taken(void)
{
    interleave(true);
}

// way: turn_taken_again launch.concurrent-use
static void turn_taken_again(void)
{
    interleave(false);
}

/* Each sets and launches; one sets what another launches. */
// way: turns_kept silent
static void turns_kept(void)
{
    shared_exec of = make_shared();
    for (int i = 0; i < 3; i++) {
        set_value(&of, 1);
        launch_and_wait(of.exec, of.stream);
        in_thread(set_and_launch, &of);
    }
    set_value(&of, 1);
    in_thread(set_other, &of);
    launch_and_wait(of.exec, of.stream);
}

/* ---- user objects that nobody releases ---- */

static void dropped(void *user)
{
    (void)user;
}

static void with_keeper(CUstream stream, CUdeviceptr out, bool is_moved, bool is_released)
{
    CUgraph graph = fill_graph(stream, out);
    CUuserObject keeper;
    if (is_released)
        CU(cuUserObjectCreate(&keeper, &out, dropped, 1,
                              CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    else if (is_moved)
        CU(cuUserObjectCreate(&keeper, &out, dropped, 2, // <-- one_reference_left
                              CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    else
        CU(cuUserObjectCreate(&keeper, &out, dropped, 1, // <-- keeper_kept
                              CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    CU(cuGraphRetainUserObject(graph, keeper, 1,
                               is_moved ? CU_GRAPH_USER_OBJECT_MOVE : 0));
    if (is_released && !is_moved)
        CU(cuUserObjectRelease(keeper, 1));
    replay_once(graph, stream);
}

static void many_keepers(bool is_moved, bool is_released)
{
    CUstream stream = new_stream();
    CUdeviceptr out = new_floats();
    for (int i = 0; i < 24; i++)
        with_keeper(stream, out, is_moved, is_released);
}

// way: keeper_kept memory.growth
static void keeper_kept(void)
{
    many_keepers(false, false);
}

// way: one_reference_left memory.growth
static void one_reference_left(void)
{
    many_keepers(true, false);
}

/* ---- captured again, with nothing that is new ---- */

static void update_each_step(bool changes, bool is_by_hand)
{
    CUstream stream = new_stream();
    CUdeviceptr out = new_floats();
    CUgraphExec exec = NULL;
    for (int i = 0; i < 24; i++) {
        CUgraph graph = NULL;
        CUgraphNode node = NULL;
        float value = changes ? (float)i : 1;
        unsigned n = FLOATS;
        const CUDA_KERNEL_NODE_PARAMS params =
            floats_kernel(fill, (void *[]){&out, &value, &n});
        if (is_by_hand) {
            graph = new_graph();
            CU(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
        } else {
            CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
            FILL(stream, out, value);
            CU(cuStreamEndCapture(stream, &graph));
        }
        CUgraphExecUpdateResultInfo info;
        if (!exec)
            CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
        else if (is_by_hand)
            CU(cuGraphExecUpdate(exec, graph, &info)); // <-- built_again
        else
            CU(cuGraphExecUpdate(exec, graph, &info)); // <-- captured_again
        CU(cuGraphDestroy(graph));
        launch_and_wait(exec, stream);
    }
    CU(cuGraphExecDestroy(exec));
}

// way: captured_again perf.update-for-slot
static void captured_again(void)
{
    update_each_step(false, false);
}

// way: built_again perf.update-for-slot
static void built_again(void)
{
    update_each_step(false, true);
}

// way: captured_anew silent
static void captured_anew(void)
{
    update_each_step(true, false);
    update_each_step(true, true);
}

/* ---- recorded into a graph beside what needs it ---- */

static void prologue(bool is_first, bool is_joined)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), y = new_floats();
    CUgraph graph = new_graph(), same = NULL;
    CUgraphNode node = NULL;
    size_t one = 1;
    CU(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0,
                                   CU_STREAM_CAPTURE_MODE_GLOBAL));
    if (is_first)
        FILL(stream, x, 2);
    else
        SCALE_ADD(stream, y, x, 2);
    CU(cuStreamEndCapture(stream, &same));
    CU(cuGraphGetNodes(graph, &node, &one));
    CU(cuStreamBeginCaptureToGraph(stream, graph, &node, NULL, is_joined ? 1 : 0,
                                   CU_STREAM_CAPTURE_MODE_GLOBAL));
    if (is_first)
        SCALE_ADD(stream, y, x, 2); // <-- reader_apart
    else
        FILL(stream, x, 2); // <-- writer_apart
    CU(cuStreamEndCapture(stream, &same));
    replay_once(graph, stream);
}

// way: reader_apart launch.unordered-nodes
static void reader_apart(void)
{
    prologue(true, false);
}

// way: writer_apart launch.unordered-nodes
static void writer_apart(void)
{
    prologue(false, false);
}

// way: prologue_joined silent
static void prologue_joined(void)
{
    prologue(true, true);
    prologue(false, true);
}

/* ---- a number is set, and the grid is not ---- */

static void resize(bool is_captured, bool sets_grid)
{
    static float results[FLOATS];
    CUstream stream = new_stream();
    CUdeviceptr out = new_floats(), in = new_floats();
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    size_t one = 1;
    float value = 2;
    unsigned n = 128;
    CUDA_KERNEL_NODE_PARAMS params = floats_kernel(
        is_captured ? fill : copy,
        is_captured ? (void *[]){&out, &value, &n} : (void *[]){&out, &in, &n});
    params.gridDimX = 1;
    if (is_captured) {
        CU(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0,
                                       CU_STREAM_CAPTURE_MODE_GLOBAL));
        LAUNCH(fill, 1, stream, &out, &value, &n);
        CU(cuStreamEndCapture(stream, &graph));
        CU(cuGraphGetNodes(graph, &node, &one));
    } else
        CU(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (n = 128; n <= 512; n += 384) {
        params.gridDimX = sets_grid ? n / 128 : 1;
        if (is_captured)
            CU(cuGraphExecKernelNodeSetParams(exec, node, &params)); // <-- grid_captured
        else
            CU(cuGraphExecKernelNodeSetParams(exec, node, &params)); // <-- grid_by_hand
        CU(cuGraphLaunch(exec, stream));
        CU(cuMemcpyDtoHAsync(results, out, n * sizeof(float), stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

// way: grid_captured replay.frozen-size
static void grid_captured(void)
{
    resize(true, false);
}

// way: grid_by_hand replay.frozen-size
static void grid_by_hand(void)
{
    resize(false, false);
}

// way: grid_set silent
static void grid_set(void)
{
    resize(true, true);
    resize(false, true);
}

/* ---- the kernel in a loop's body sets another handle ---- */

/* main() has softcuda end it. */
static void loop_inside(bool is_captured, bool has_own)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(3);
    CUgraph graph = new_graph();
    CUgraphConditionalHandle wrong = 0, more = 0;
    CUgraphNode first = NULL;
    CU(cuGraphConditionalHandleCreate(&wrong, graph, context, 1,
                                      CU_GRAPH_COND_ASSIGN_DEFAULT));
    CU(cuGraphConditionalHandleCreate(&more, graph, context, 1,
                                      CU_GRAPH_COND_ASSIGN_DEFAULT));
    CUgraph branch = add_condition(graph, NULL, wrong, CU_GRAPH_COND_TYPE_IF);
    CUgraph body = add_condition(branch, NULL, more, CU_GRAPH_COND_TYPE_WHILE);
    CUgraphConditionalHandle *given = has_own ? &more : &wrong;
    const CUDA_KERNEL_NODE_PARAMS down = one_thread("down", (void *[]){given, &word});
    if (is_captured) {
        CU(cuStreamBeginCaptureToGraph(stream, body, NULL, NULL, 0,
                                       CU_STREAM_CAPTURE_MODE_GLOBAL));
        ONE("down", stream, given, &word); // <-- wrong_handle_captured
        CU(cuStreamEndCapture(stream, &body));
    } else
        CU(cuGraphAddKernelNode(&first, body, NULL, 0, &down)); // <-- wrong_handle
    replay_once(graph, stream);
}

// way: wrong_handle device.endless-loop --check
static void wrong_handle(void)
{
    loop_inside(false, false);
}

// way: wrong_handle_captured device.endless-loop --check
static void wrong_handle_captured(void)
{
    loop_inside(true, false);
}

// way: own_handle silent
static void own_handle(void)
{
    loop_inside(false, true);
    loop_inside(true, true);
}

/* ---- an allocation node whose memory nobody frees ---- */

static void launch_twice(bool is_by_hand, bool is_freed)
{
    CUstream stream = new_stream();
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CUdeviceptr memory = 0;
    CUDA_MEM_ALLOC_NODE_PARAMS wanted = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = BYTES};
    if (is_by_hand) {
        CU(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &wanted)); // <-- unfreed_by_hand
        memory = wanted.dptr;
    } else {
        CU(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0,
                                       CU_STREAM_CAPTURE_MODE_GLOBAL));
        CU(cuMemAllocAsync(&memory, BYTES, stream)); // <-- unfreed_captured
        FILL(stream, memory, 1);
        CU(cuStreamEndCapture(stream, &graph));
    }
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 2; i++) {
        CU(cuGraphLaunch(exec, stream));
        if (is_freed)
            CU(cuMemFreeAsync(memory, stream));
        CU(cuStreamSynchronize(stream));
    }
}

// way: unfreed_by_hand launch.unfreed-allocation
static void unfreed_by_hand(void)
{
    launch_twice(true, false);
}

// way: unfreed_captured launch.unfreed-allocation
static void unfreed_captured(void)
{
    launch_twice(false, false);
}

// way: freed_each_time silent
static void freed_each_time(void)
{
    launch_twice(true, true);
    launch_twice(false, true);
}

#define WAYS(X)                                                                          \
    X(handle_again)                                                                      \
    X(alone_captured)                                                                    \
    X(alone_by_hand)                                                                     \
    X(several_at_once)                                                                   \
    X(more_is_read)                                                                      \
    X(more_is_added)                                                                     \
    X(graph_of_each_size)                                                                \
    X(turn_taken)                                                                        \
    X(turn_taken_again)                                                                  \
    X(turns_kept)                                                                        \
    X(keeper_kept)                                                                       \
    X(one_reference_left)                                                                \
    X(captured_again)                                                                    \
    X(built_again)                                                                       \
    X(captured_anew)                                                                     \
    X(reader_apart)                                                                      \
    X(writer_apart)                                                                      \
    X(prologue_joined)                                                                   \
    X(grid_captured)                                                                     \
    X(grid_by_hand)                                                                      \
    X(grid_set)                                                                          \
    X(wrong_handle)                                                                      \
    X(wrong_handle_captured)                                                             \
    X(own_handle)                                                                        \
    X(unfreed_by_hand)                                                                   \
    X(unfreed_captured)                                                                  \
    X(freed_each_time)

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
    for (size_t i = 0; argc == 2 && i < sizeof(ways) / sizeof(ways[0]); i++)
        if (strcmp(argv[1], ways[i].name) == 0) {
            if (strncmp(argv[1], "wrong_handle", 12) == 0)
                setenv("SOFTCUDA_KERNEL_TIMEOUT_MS", "300", 0);
            broken_open();
            ways[i].run();
            fflush(stdout);
            return broken_failures > 0;
        }
    fprintf(stderr, "usage: %s WAY\n", argv[0]);
    return 2;
}
