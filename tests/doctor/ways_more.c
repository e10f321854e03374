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

#define WAYS(X)                                                                          \
    X(handle_again)                                                                      \
    X(alone_captured)                                                                    \
    X(alone_by_hand)                                                                     \
    X(several_at_once)

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
            broken_open();
            ways[i].run();
            fflush(stdout);
            return broken_failures > 0;
        }
    fprintf(stderr, "usage: %s WAY\n", argv[0]);
    return 2;
}
