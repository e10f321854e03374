// SPDX-License-Identifier: Apache-2.0
/* Conditional nodes, in the order in which the CUDA Programming Guide introduces them: the
 * handle and its default, IF, IF with a second body, WHILE, SWITCH, bodies that are captured,
 * nodes in bodies. */
#include "guide.h"

static int has_forms; /* a driver with IF of two bodies, and SWITCH: CUDA 12.8 */

static CUgraphConditionalHandle handle_of(CUgraph graph, unsigned value, unsigned flags)
{
    CUgraphConditionalHandle handle = 0;
    CU(cuGraphConditionalHandleCreate(&handle, graph, driver_context, value, flags));
    return handle;
}

/* Its bodies are the driver's, empty at first. */
static CUgraphNode conditional(CUgraph graph, CUgraphNode after,
                               CUgraphConditionalHandle handle,
                               CUgraphConditionalNodeType type, unsigned size,
                               CUgraph *bodies)
{
    CUgraphNode node = NULL;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional = (CUDA_CONDITIONAL_NODE_PARAMS){
        .handle = handle, .type = type, .size = size, .ctx = driver_context};
    CU(cuGraphAddNode(&node, graph, &after, NULL, after != NULL, &params));
    for (unsigned i = 0; i < size; i++)
        bodies[i] = params.conditional.phGraph_out[i];
    return node;
}

/* The graph goes; the executable stays until the end of the program. */
static CUgraphExec made(CUgraph graph)
{
    CUgraphExec exec = NULL;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
    CU(cuGraphInstantiateWithParams(&exec, graph, &params));
    CU(cuGraphDestroy(graph));
    return exec;
}

static CUgraphNode set_word(CUgraph graph, CUgraphConditionalHandle handle)
{
    void *arguments[] = {&handle, &word};
    return add(graph, NULL, "set_word", arguments);
}

static void by_a_kernel(void)
{
    CUgraph graph = new_graph(), body;
    const CUgraphConditionalHandle handle = handle_of(graph, 0, 0);
    CUgraphNode at = set_word(graph, handle);
    at = add_say(graph, at, 1);
    at = conditional(graph, at, handle, CU_GRAPH_COND_TYPE_IF, 1, &body);
    add_say(graph, at, 3);
    add_say(body, NULL, 2);
    CUgraphExec exec = made(graph);
    printf("IF, set by a kernel before it\n");
    show_word(exec, 0);
    show_word(exec, 1);
    show_word(exec, -7);
    show_word(exec, 0);
}

/* The default is assigned when a launch begins, whatever the launch before has set. */
static void by_default(void)
{
    CUgraph graph = new_graph(), body;
    CUgraphConditionalHandle handle = handle_of(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    unsigned zero = 0;
    void *arguments[] = {&handle, &zero};
    const CUgraphNode node =
        conditional(graph, NULL, handle, CU_GRAPH_COND_TYPE_IF, 1, &body);
    add_say(graph, node, 2);
    add(body, add_say(body, NULL, 1), "set_value", arguments);
    CUgraphExec exec = made(graph);
    printf("IF, by the handle's default, which its body sets to 0\n");
    show(exec, "first launch");
    show(exec, "second");
}

static void two_bodies(void)
{
    printf("IF with a second body\n");
    if (!has_forms) {
        printf("  this driver has none\n");
        return;
    }
    CUgraph graph = new_graph(), bodies[2];
    const CUgraphConditionalHandle handle = handle_of(graph, 0, 0);
    const CUgraphNode node = conditional(graph, set_word(graph, handle), handle,
                                         CU_GRAPH_COND_TYPE_IF, 2, bodies);
    add_say(graph, node, 9);
    add_say(bodies[0], NULL, 1);
    add_say(bodies[1], NULL, 0);
    CUgraphExec exec = made(graph);
    show_word(exec, 5);
    show_word(exec, 0);
}

/* Halves while above 3: the body says whether it runs again. */
static void rounds(void)
{
    for (int first_is_certain = 0; first_is_certain < 2; first_is_certain++) {
        CUgraph graph = new_graph(), body;
        CUgraphConditionalHandle handle =
            handle_of(graph, 1, first_is_certain ? CU_GRAPH_COND_ASSIGN_DEFAULT : 0);
        int limit = 3;
        void *list_word[] = {&list, &word}, *set[] = {&handle, &word, &limit},
             *only[] = {&word};
        CUgraphNode at = first_is_certain ? NULL : add(graph, NULL, "set_above", set);
        at = conditional(graph, at, handle, CU_GRAPH_COND_TYPE_WHILE, 1, &body);
        add_say(graph, at, 0);
        at = add(body, NULL, "say_word", list_word);
        at = add(body, at, "halve", only);
        add(body, at, "set_above", set);
        CUgraphExec exec = made(graph);
        printf(first_is_certain ? "WHILE, whose default is 1: a first round in any case\n"
                                : "WHILE, which is asked before the first round\n");
        show_word(exec, 100);
        show_word(exec, 4);
        show_word(exec, 2);
    }
}

static void cases(void)
{
    printf("SWITCH of three\n");
    if (!has_forms) {
        printf("  this driver has none\n");
        return;
    }
    CUgraph graph = new_graph(), bodies[3];
    const CUgraphConditionalHandle handle = handle_of(graph, 0, 0);
    const CUgraphNode node = conditional(graph, set_word(graph, handle), handle,
                                         CU_GRAPH_COND_TYPE_SWITCH, 3, bodies);
    add_say(graph, node, 99);
    for (int i = 0; i < 3; i++)
        add_say(bodies[i], NULL, 10 + i);
    CUgraphExec exec = made(graph);
    for (int i = 0; i < 5; i++)
        show_word(exec, i);
}

static void launch_captured(const char *name, void **arguments)
{
    CU(cuLaunchKernel(kernel(name), 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
}

/* Everything by capture: the node is added to the graph that is being captured, what is
 * captured next waits for it, and its body is captured in another stream meanwhile. */
static void captured(void)
{
    CUgraph graph = NULL, body = NULL, same = NULL;
    CUstream inner = NULL;
    CUstreamCaptureStatus status;
    cuuint64_t id;
    const CUgraphNode *last = NULL;
    const CUgraphEdgeData *edges = NULL;
    size_t count = 0;
    int limit = 5, number = 7;
    CU(cuStreamCreate(&inner, CU_STREAM_NON_BLOCKING));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CU(cuStreamGetCaptureInfo(stream, &status, &id, &graph, &last, &edges, &count));
    CUgraphConditionalHandle handle = handle_of(graph, 0, 0);
    void *set[] = {&handle, &word, &limit}, *list_word[] = {&list, &word},
         *only[] = {&word}, *say[] = {&list, &number};
    launch_captured("set_above", set);
    CU(cuStreamGetCaptureInfo(stream, &status, &id, &graph, &last, &edges, &count));
    CUgraphNode node =
        conditional(graph, last[0], handle, CU_GRAPH_COND_TYPE_WHILE, 1, &body);
    CU(cuStreamUpdateCaptureDependencies(stream, &node, NULL, 1,
                                         CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    launch_captured("say", say);

    CUstream outer = stream;
    stream = inner;
    CU(cuStreamBeginCaptureToGraph(stream, body, NULL, NULL, 0,
                                   CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch_captured("say_word", list_word);
    launch_captured("halve", only);
    launch_captured("set_above", set);
    CU(cuStreamEndCapture(stream, &same));
    stream = outer;
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuStreamDestroy(inner));
    CUgraphExec exec = made(graph);
    printf("WHILE in a capture, whose body is captured, too: %s\n",
           same == body ? "into the node's own graph" : "into another graph");
    show_word(exec, 50);
    show_word(exec, 5);
}

/* Collatz's sequence: in a loop, one of two bodies; without IF of two, two nodes. */
static void nested(void)
{
    CUgraph graph = new_graph(), loop, odd, even;
    CUgraphConditionalHandle goes_on = handle_of(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT),
                             is_odd = handle_of(graph, 0, 0),
                             is_even = handle_of(graph, 0, 0);
    int one = 1;
    unsigned zero = 0, yes = 1;
    void *list_word[] = {&list, &word}, *only[] = {&word}, *set[] = {&is_odd, &word},
         *set_yes[] = {&is_even, &yes}, *set_no[] = {&is_even, &zero},
         *above[] = {&goes_on, &word, &one};
    CUgraphNode at =
        conditional(graph, NULL, goes_on, CU_GRAPH_COND_TYPE_WHILE, 1, &loop);
    add_say(graph, at, -1);
    at = add(loop, NULL, "say_word", list_word);
    at = add(loop, at, "set_odd", set);
    at = add(loop, at, "set_value", set_yes);
    at = conditional(loop, at, is_odd, CU_GRAPH_COND_TYPE_IF, 1, &odd);
    at = conditional(loop, at, is_even, CU_GRAPH_COND_TYPE_IF, 1, &even);
    add(loop, at, "set_above", above);
    add(odd, add(odd, NULL, "triple", only), "set_value", set_no);
    add(even, NULL, "halve", only);
    CUgraphExec exec = made(graph);
    printf("IF in the body of a WHILE\n");
    show_word(exec, 6);
    show_word(exec, 7);
    show_word(exec, 2);
}

int main(void)
{
    int version = 0;
    guide_open();
    CU(cuDriverGetVersion(&version));
    has_forms = version >= 12080;
    by_a_kernel();
    by_default();
    two_bodies();
    rounds();
    cases();
    captured();
    nested();
    return 0;
}
