// SPDX-License-Identifier: Apache-2.0
/* Graphs that kernels launch, in the order in which the CUDA Programming Guide introduces
 * them: graphs for the device, fire and forget, tails and their order, a graph that launches
 * itself, siblings, a scheduler of work. */
#include "guide.h"

#include <string.h>

/* The named streams of a launch by a kernel. */
static const uint64_t TAIL = 0x0100000000000000, FORGET = 0x0200000000000000,
                      SIBLING = 0x0300000000000000;

static CUdeviceptr refused; /* how many launches were */

/* For the device, and there at once; or for the host. The graph goes. */
static CUgraphExec made(CUgraph graph, int for_device)
{
    CUgraphExec exec = NULL;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
    params.flags = for_device ? CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH : 0;
    CU(cuGraphInstantiateWithParams(&exec, graph, &params));
    CU(cuGraphDestroy(graph));
    if (for_device)
        CU(cuGraphUpload(exec, stream));
    return exec;
}

static CUgraphExec saying(int number)
{
    CUgraph graph = new_graph();
    add_say(graph, NULL, number);
    return made(graph, 1);
}

static CUgraphNode add_launch(CUgraph graph, CUgraphNode after, CUgraphExec exec,
                              uint64_t how)
{
    void *arguments[] = {&refused, &exec, &how};
    return add(graph, after, "launch", arguments);
}

/* What a launch waits for is all that it started: three graphs run, in any order. */
static void forget(void)
{
    CUgraph graph = new_graph();
    CUgraphExec one = saying(1), two = saying(1), three = saying(1);
    uint64_t how = FORGET;
    void *arguments[] = {&refused, &one, &two, &three, &how};
    add(graph, NULL, "launch_three", arguments);
    CUgraphExec exec = made(graph, 0);
    printf("fire and forget: three graphs from one kernel\n");
    show(exec, "first launch");
    show(exec, "second");
}

/* A graph that is fired and forgot launches another: the launch waits for both. */
static void forget_deeper(void)
{
    CUgraph graph = new_graph(), middle = new_graph();
    add_launch(middle, add_say(middle, NULL, 2), saying(3), FORGET);
    add_launch(graph, add_say(graph, NULL, 1), made(middle, 1), FORGET);
    CUgraphExec exec = made(graph, 0);
    printf("fire and forget, by what was fired and forgot\n");
    show(exec, "a launch");
}

/* A tail begins when its launcher has ended, with all that it fired and forgot. */
static void tail(void)
{
    CUgraph graph = new_graph();
    CUgraphNode at = add_launch(graph, add_say(graph, NULL, 1), saying(9), TAIL);
    at = add_launch(graph, at, saying(2), FORGET);
    CUgraphExec exec = made(graph, 0);
    printf("a tail comes after what was fired and forgot\n");
    show(exec, "a launch");
}

/* Tails in the order of their launches; those of a tail come before the older ones. */
static void tails(void)
{
    CUgraph graph = new_graph(), first = new_graph();
    uint64_t how = TAIL;
    CUgraphNode at = add_say(first, NULL, 2);
    at = add_launch(first, at, saying(3), TAIL);
    add_launch(first, at, saying(4), TAIL);
    CUgraphExec one = made(first, 1), two = saying(5), three = saying(6);
    void *arguments[] = {&refused, &one, &two, &three, &how};
    add(graph, add_say(graph, NULL, 1), "launch_three", arguments);
    CUgraphExec exec = made(graph, 0);
    printf("three tails; the first has two of its own\n");
    show(exec, "a launch");
}

static void self(void)
{
    CUgraph graph = new_graph();
    uint64_t how = TAIL;
    void *list_word[] = {&list, &word}, *arguments[] = {&refused, &word, &how};
    add(graph, add(graph, NULL, "say_word", list_word), "again", arguments);
    CUgraphExec exec = made(graph, 1);
    printf("a graph that launches itself\n");
    show_word(exec, 5);
    show_word(exec, 1);
}

/* A sibling is not its launcher's: tails do not wait for it, the launch does. */
static void sibling(void)
{
    CUgraph graph = new_graph(), inner = new_graph();
    add_launch(inner, add_say(inner, NULL, 2), saying(4), SIBLING);
    add_launch(graph, add_say(graph, NULL, 1), made(inner, 1), FORGET);
    CUgraphExec exec = made(graph, 0);
    printf("a sibling of a graph that was fired and forgot\n");
    show(exec, "a launch");
}

struct queue {
    int count, next, jobs[14];
    uint64_t graphs[4];
};

static void scheduler(void)
{
    struct queue queue = {.count = 7, .jobs = {0, 2, 1, 1, 3, 0, 2}};
    CUgraph graph = new_graph();
    CUdeviceptr at = word + 64;
    uint64_t forgets = FORGET, tails_too = TAIL;
    void *arguments[] = {&refused, &at, &forgets, &tails_too};
    for (int i = 0; i < 4; i++)
        queue.graphs[i] = (uint64_t)(uintptr_t)saying(100 * (i + 1));
    add(graph, NULL, "schedule", arguments);
    CUgraphExec exec = made(graph, 1);
    printf("a scheduler: the graph of the next job, then itself again\n");
    CU(cuMemcpyHtoD(at, &queue, sizeof(queue)));
    CU(cuStreamSynchronize(NULL));
    show(exec, "seven jobs");
    show(exec, "none left");
}

int main(void)
{
    int count = -1;
    guide_open();
    CU(cuMemAlloc(&refused, 4));
    CU(cuMemsetD32(refused, 0, 1));
    forget();
    forget_deeper();
    tail();
    tails();
    self();
    sibling();
    scheduler();
    CU(cuMemcpyDtoH(&count, refused, 4));
    printf("%d launches were refused\n", count);
    return 0;
}
