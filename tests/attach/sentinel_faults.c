// SPDX-License-Identifier: Apache-2.0
/* A program whose graphs get sentinels while each allocation and each call of the driver
 * that these take fails in turn (faulty.c), a process each: its codes and results are those
 * that it has without, nothing leaks and no lock is kept. attached.sh runs it with the
 * library and without, where nothing fails. */
#include "rules/broken.h"

#include "faulty.h"

#include <glob.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { FAULTS_MAX = 4000, NODES = 5, SECONDS = 60, WRONG = 1, NOT_REACHED = 3 };

static struct shared {
    long live, added; /* of the run without a fault */
} * shared;

static CUstream stream, side;
static CUdeviceptr x, y;
static CUgraph first, second, shorter, fills, other_fills, one;

/* fill ──> fill y ──> scale_add ──> copy, and back to x where it is whole */
static CUgraph capture(float value, int is_whole)
{
    CUevent event = new_event();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, value);
    fork_to(stream, side, event);
    FILL(side, y, 2);
    FILL(stream, x, value);
    join_from(stream, side, event);
    SCALE_ADD(stream, x, y, 2);
    if (is_whole)
        COPY(stream, y, x);
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
}

/* Without a kernel: sentinels have the context that was current. */
static CUgraph make_fills(unsigned value)
{
    const CUDA_MEMSET_NODE_PARAMS setting = {
        .dst = x, .value = value, .elementSize = 4, .width = 8, .height = 1};
    CUgraph graph = NULL;
    CUgraphNode node = NULL, before = NULL;
    CU(cuGraphCreate(&graph, 0));
    for (int i = 0; i < 3; i++) {
        CU(cuGraphAddMemsetNode(&node, graph, &before, i > 0, &setting, context));
        before = node;
    }
    return graph;
}

static size_t count_of(CUgraph graph)
{
    size_t count = 0;
    CU(cuGraphGetNodes(graph, NULL, &count));
    return count;
}

static void use_kernels(void)
{
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
    EXPECT(cuGraphInstantiateWithFlags(&exec, first, 0) == CUDA_SUCCESS);
    EXPECT(cuGraphExecUpdate(exec, second, &info) == CUDA_SUCCESS);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    const float once = float_at(y, 5);
    EXPECT(once != 0);
    EXPECT(cuGraphExecUpdate(exec, shorter, &info) ==
           CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    EXPECT(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    EXPECT(cuGraphExecUpdate(exec, first, &info) == CUDA_SUCCESS);
    EXPECT(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(y, 5) != once);
    EXPECT(count_of(first) == NODES && count_of(second) == NODES &&
           count_of(shorter) == NODES - 1);
    CU(cuGraphExecDestroy(exec));
}

static void use_fills(void)
{
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
    unsigned found = 0;
    EXPECT(cuGraphInstantiateWithFlags(&exec, fills, 0) == CUDA_SUCCESS);
    CU(cuCtxSetCurrent(NULL));
    EXPECT(cuGraphExecUpdate(exec, other_fills, &info) == CUDA_SUCCESS);
    CU(cuCtxSetCurrent(context));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuMemcpyDtoH_v2(&found, x, sizeof(found)));
    EXPECT(found == 7);
    EXPECT(count_of(fills) == 3 && count_of(other_fills) == 3);
    CU(cuGraphExecDestroy(exec));
}

/* A graph that is captured into gives no node back. */
static void use_open(void)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    EXPECT(cuGraphInstantiateWithFlags(&exec, one, 0) == CUDA_SUCCESS);
    CU(cuGraphCreate(&graph, 0));
    CU(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0,
                                   CU_STREAM_CAPTURE_MODE_RELAXED));
    FILL(stream, x, 9);
    EXPECT(cuGraphExecUpdate(exec, graph, &info) == CUDA_SUCCESS);
    EXPECT(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    FILL(stream, x, 10);
    EXPECT(cuGraphExecUpdate(exec, graph, &info) == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    EXPECT(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    CU(cuStreamEndCapture(stream, &graph));
    EXPECT(count_of(graph) == 2);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(x, 5) == 9);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

static void use_all(void *user)
{
    (void)user;
    CU(cuCtxSetCurrent(context));
    use_kernels();
    use_fills();
    use_open();
}

/* Files of a process with the library: its ring or boards. */
static size_t files_of(long process, const char *end, int are_removed)
{
    char pattern[4096];
    glob_t found;
    const char *folder = getenv("GPH_DOCTOR_DIR");
    snprintf(pattern, sizeof(pattern), "%s/%ld.%s", folder != NULL ? folder : "none",
             process, end);
    if (glob(pattern, 0, NULL, &found) != 0)
        return 0;
    const size_t count = found.gl_pathc;
    for (size_t i = 0; i < count && are_removed; i++)
        unlink(found.gl_pathv[i]);
    globfree(&found);
    return count;
}

/* What lives but for boards, a block each: they stay, and when the driver does not say that
 * one is still there, there is another. */
static long live(void)
{
    return faulty_live() - (long)files_of(getpid(), "*.board", 0);
}

/* One process: the nth fails, and then nothing, on another thread. */
static int run(long nth)
{
    alarm(SECONDS);
    broken_open();
    stream = new_stream();
    side = new_stream();
    x = new_floats();
    y = new_floats();
    first = capture(1, 1);
    second = capture(2, 1);
    shorter = capture(3, 0);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    FILL(stream, x, 8);
    CU(cuStreamEndCapture(stream, &one));
    fills = make_fills(6);
    other_fills = make_fills(7);
    faulty_fail(nth);
    use_all(NULL);
    const long left = faulty_fail(-1);
    if (nth < 0) {
        shared->live = live();
        shared->added = faulty_added();
    }
    EXPECT(live() <= shared->live);
    in_thread(use_all, NULL);
    EXPECT(live() <= shared->live);
    if (broken_failures > 0)
        return WRONG;
    return left >= 0 ? NOT_REACHED : 0;
}

/* Its exit status; the ring of the one without a fault stays. */
static int run_apart(long nth)
{
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        broken_failures = 0;
        const int code = run(nth);
        fflush(stdout);
        _exit(code); /* what the program itself leaves is not looked at */
    }
    EXPECT(waitpid(child, &status, 0) == child);
    if (nth >= 0)
        (void)files_of(child, "*", 1);
    if (WIFEXITED(status) &&
        (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == NOT_REACHED))
        return WEXITSTATUS(status);
    printf("fault %ld: status 0x%x\n", nth, (unsigned)status);
    broken_failures++;
    return WRONG;
}

int main(int argc, char **argv)
{
    const char *wanted = getenv("GPH_DOCTOR_SENTINELS");
    const int is_attached =
        getenv("GPH_DOCTOR_DIR") != NULL && wanted != NULL && wanted[0] != '\0';
    void *room = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(room != MAP_FAILED);
    shared = (struct shared *)room;
    if (argc == 2) /* one of them, to look at it */
        return run_apart(-1) != 0 || run_apart(atol(argv[1])) == WRONG;
    EXPECT(run_apart(-1) == 0);
    EXPECT(!is_attached || shared->added > 20);
    long faults = 0;
    while (faults < FAULTS_MAX && broken_failures < 20 &&
           run_apart(faults) != NOT_REACHED)
        faults++;
    fprintf(stderr, "%ld faults\n", faults);
    EXPECT(is_attached ? faults > 100 && faults < FAULTS_MAX : faults == 0);
    return broken_failures > 0;
}
