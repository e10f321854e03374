// SPDX-License-Identifier: Apache-2.0
/* Graphs that hang, fault and are killed half way, for standing.py.
 *
 *   source ──> gated (waits) ──> joined ──> last       `side` is captured before `gated`, as
 *      └─────> side ───────────────┘                   softcuda may have one worker alone */
#include "rules/broken.h"

#include <signal.h>

static const char gate_ptx[] = BROKEN_HEAD
    ".visible .entry gate(.param .u64 flag)\n"
    "{\n"
    "  .reg .pred %p; .reg .b32 %r; .reg .b64 %d;\n"
    "  ld.param.u64 %d, [flag];\n"
    "again: ld.volatile.global.u32 %r, [%d]; setp.eq.u32 %p, %r, 0; @%p bra again;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry stray(.param .u64 flag)\n"
    "{\n"
    "  .reg .b32 %r; .reg .b64 %d;\n"
    "  ld.param.u64 %d, [flag]; ld.volatile.global.u32 %r, [%d];\n"
    "  mov.u64 %d, 64; st.global.u32 [%d], %r;\n"
    "  ret;\n"
    "}\n";

static CUfunction gate, stray;
static CUstream stream, side;
static CUdeviceptr x, y;
static volatile unsigned *flag;

static void open_all(void)
{
    CUmodule own = NULL;
    void *pinned = NULL;
    broken_open();
    CU(cuModuleLoadData(&own, gate_ptx));
    CU(cuModuleGetFunction(&gate, own, "gate"));
    CU(cuModuleGetFunction(&stray, own, "stray"));
    CU(cuMemHostAlloc(&pinned, sizeof(*flag), CU_MEMHOSTALLOC_DEVICEMAP));
    flag = (volatile unsigned *)pinned;
    *flag = 0;
    stream = new_stream();
    side = new_stream();
    x = new_floats();
    y = new_floats();
}

static CUgraph capture(CUfunction inner)
{
    CUevent event = new_event();
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)flag;
    void *arguments[] = {&at};
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 1); // source
    fork_to(stream, side, event);
    FILL(side, y, 2);                                                        // side
    CU(cuLaunchKernel(inner, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL)); // gated
    join_from(stream, side, event);
    SCALE_ADD(stream, x, y, 2); // joined
    COPY(stream, y, x);         // last
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
}

static CUgraphExec make(CUgraph graph)
{
    CUgraphExec exec = NULL;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

static void launch_and_wait(CUgraphExec exec)
{
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream)); // waits
}

static void hang(void)
{
    launch_and_wait(make(capture(gate)));
}

/* After replays that ended, an update, a setter and another executable in its place. */
static void hang_late(void)
{
    CUgraph graph = capture(gate), other = capture(gate);
    CUgraphExecUpdateResultInfo info;
    *flag = 1;
    for (int i = 0; i < 20; i++) {
        CUgraphExec passing = make(graph);
        launch_and_wait(passing);
        CU(cuGraphExecDestroy(passing));
    }
    CUgraphExec exec = make(graph);
    launch_and_wait(exec);
    CU(cuGraphExecUpdate(exec, other, &info));
    launch_and_wait(exec);
    EXPECT(float_at(y, 5) == 5);
    *flag = 0;
    launch_and_wait(exec);
}

/* The gate opens once the doctor has seen it hang. */
static void *open_later(void *user)
{
    sleep(4);
    *flag = 1;
    return user;
}

static void slow(void)
{
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, open_later, NULL) == 0);
    hang();
    pthread_join(thread, NULL);
    EXPECT(float_at(y, 5) == 5);
    printf("went on\n");
}

static void fault(void)
{
    launch_and_wait(make(capture(stray)));
}

static void *kill_later(void *user)
{
    sleep(1);
    raise(SIGKILL);
    return user;
}

static void killed(void)
{
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, kill_later, NULL) == 0);
    hang();
}

/* Nothing is there to see, nor any difference. */
static void ends(void)
{
    CUgraph graph = capture(gate), other = NULL;
    CUgraphNode nodes[8], after[8];
    size_t count = 8, edges = 0;
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
    *flag = 1;
    CU(cuGraphGetNodes(graph, nodes, &count));
    CUgraphExec exec = make(graph);
    EXPECT(count == 5);
    CU(cuGraphGetNodes(graph, after, &count));
    CU(cuGraphGetEdges(graph, NULL, NULL, NULL, &edges));
    EXPECT(count == 5 && edges == 5 && memcmp(nodes, after, 5 * sizeof(*nodes)) == 0);
    CU(cuGraphClone(&other, graph));
    CU(cuGraphDestroyNode(nodes[4]));
    EXPECT(cuGraphExecUpdate(exec, graph, &info) == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    EXPECT(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    CU(cuGraphExecUpdate(exec, other, &info));
    launch_and_wait(exec);
    EXPECT(float_at(y, 5) == 5);
    CU(cuGraphExecDestroy(exec));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"hang", hang},   {"late", hang_late}, {"slow", slow},
                {"fault", fault}, {"killed", killed},  {"ends", ends}};
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways) && argc == 2; i++)
        if (strcmp(argv[1], ways[i].name) == 0) {
            open_all();
            ways[i].run();
            return broken_failures > 0;
        }
    return 2;
}
