// SPDX-License-Identifier: Apache-2.0
/* More ways to break rules that have a file in tests/doctor/rules, and what looks alike and
 * is right: `doctor_ways WAY`. ways.py reads the list: a line `// way: NAME RULE` is
 * before each, with `silent` for one that is right, and the line to blame ends with the
 * mark <-- NAME. Words after the rule are options of the doctor. */
#include "rules/device.h"

#include <stdbool.h>
#include <sys/wait.h>

enum { BYTES = FLOATS * sizeof(float) };

static CUgraphExec capture_fill(CUstream stream, CUdeviceptr out)
{
    CUgraph graph = fill_graph(stream, out);
    CUgraphExec exec = NULL;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphDestroy(graph));
    return exec;
}

/* ---- a kernel that has one address writes there ---- */

/* An eager kernel had the address, too. */
static void read_on_io(bool is_ordered, bool is_kernel)
{
    CUstream stream = new_stream(), io = new_stream();
    CUevent done = new_event();
    CUdeviceptr out = new_floats(), there = new_floats();
    float *host = NULL;
    CU(cuMemHostAlloc((void **)&host, BYTES, 0));
    FILL(stream, out, 1);
    CUgraphExec exec = capture_fill(stream, out);
    CU(cuStreamSynchronize(stream));
    CU(cuGraphLaunch(exec, stream));
    if (is_ordered)
        fork_to(stream, io, done);
    if (is_kernel)
        COPY(io, there, out); // <-- kernel_reads_early
    else
        CU(cuMemcpyDtoHAsync(host, out, BYTES, io)); // <-- copy_reads_early
    CU(cuStreamSynchronize(io));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

// way: copy_reads_early memory.read-before-done
static void copy_reads_early(void)
{
    read_on_io(false, false);
}

// way: kernel_reads_early memory.read-before-done
static void kernel_reads_early(void)
{
    read_on_io(false, true);
}

// way: reads_in_order silent
static void reads_in_order(void)
{
    read_on_io(true, false);
    read_on_io(true, true);
}

/* Two addresses: which one is written is not known, and the input is not. */
// way: reads_the_input silent
static void reads_the_input(void)
{
    CUstream stream = new_stream(), io = new_stream();
    CUdeviceptr in = new_floats(), out = new_floats();
    float *host = NULL;
    CU(cuMemHostAlloc((void **)&host, BYTES, 0));
    FILL(stream, in, 1);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    COPY(stream, out, in);
    CUgraphExec exec = end_capture(stream);
    CU(cuStreamSynchronize(stream));
    CU(cuGraphLaunch(exec, stream));
    CU(cuMemcpyDtoHAsync(host, in, BYTES, io));
    CU(cuStreamSynchronize(io));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

/* ---- two graphs, one scratch, two streams ---- */

static CUgraphExec through_scratch(CUstream stream, CUdeviceptr scratch, CUdeviceptr out)
{
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, scratch, 2);
    COPY(stream, out, scratch);
    return end_capture(stream);
}

static CUgraphExec from_scratch(CUstream stream, CUdeviceptr scratch, CUdeviceptr out)
{
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    COPY(stream, out, scratch);
    return end_capture(stream);
}

static void end_both(CUstream one, CUstream other, CUgraphExec a, CUgraphExec b)
{
    CU(cuStreamSynchronize(one));
    CU(cuStreamSynchronize(other));
    CU(cuGraphExecDestroy(a));
    if (b)
        CU(cuGraphExecDestroy(b));
}

// way: both_write launch.aliased-overlap
static void both_write(void)
{
    CUstream one = new_stream(), other = new_stream();
    CUdeviceptr scratch = new_floats();
    CUgraphExec a = through_scratch(one, scratch, new_floats());
    CUgraphExec b = through_scratch(other, scratch, new_floats());
    CU(cuGraphLaunch(a, one));
    CU(cuGraphLaunch(b, other)); // <-- both_write
    end_both(one, other, a, b);
}

// way: one_writes launch.aliased-overlap
static void one_writes(void)
{
    CUstream one = new_stream(), other = new_stream();
    CUdeviceptr scratch = new_floats();
    FILL(one, scratch, 1);
    CU(cuStreamSynchronize(one));
    CUgraphExec a = from_scratch(one, scratch, new_floats());
    CUgraphExec b = through_scratch(other, scratch, new_floats());
    CU(cuGraphLaunch(a, one));
    CU(cuGraphLaunch(b, other)); // <-- one_writes
    end_both(one, other, a, b);
}

/* Ordered by an event; and two that only read what was filled before. */
// way: shares_scratch silent
static void shares_scratch(void)
{
    CUstream one = new_stream(), other = new_stream();
    CUdeviceptr scratch = new_floats();
    CUgraphExec a = through_scratch(one, scratch, new_floats());
    CUgraphExec b = through_scratch(other, scratch, new_floats());
    CU(cuGraphLaunch(a, one));
    fork_to(one, other, new_event());
    CU(cuGraphLaunch(b, other));
    end_both(one, other, a, b);
    FILL(one, scratch, 1);
    CU(cuStreamSynchronize(one));
    a = from_scratch(one, scratch, new_floats());
    b = from_scratch(other, scratch, new_floats());
    CU(cuGraphLaunch(a, one));
    CU(cuGraphLaunch(b, other));
    end_both(one, other, a, b);
}

/* ---- freed in a stream that does not wait ---- */

static void free_beside(CUstream cleanup, bool is_ordered, bool is_last)
{
    CUstream stream = new_stream();
    CUdeviceptr memory = 0, out = new_floats();
    CU(cuMemAllocAsync(&memory, BYTES, cleanup));
    CU(cuStreamSynchronize(cleanup));
    CUgraphExec exec = through_scratch(stream, memory, out);
    for (int i = 0; i < 3; i++)
        CU(cuGraphLaunch(exec, stream));
    if (is_ordered)
        fork_to(stream, cleanup, new_event());
    if (is_last)
        CU(cuMemFreeAsync(memory, cleanup)); // <-- freed_beside_last
    else
        CU(cuMemFreeAsync(memory, cleanup)); // <-- freed_beside
    if (!is_last) {
        CUdeviceptr next = 0;
        CU(cuMemAllocAsync(&next, BYTES, cleanup));
        FILL(cleanup, next, 7);
        CU(cuMemFreeAsync(next, cleanup));
    }
    CU(cuStreamSynchronize(stream));
    CU(cuStreamSynchronize(cleanup));
    CU(cuGraphExecDestroy(exec));
}

// way: freed_beside memory.freed-input
static void freed_beside(void)
{
    free_beside(new_stream(), false, false);
}

// way: freed_beside_last memory.freed-input
static void freed_beside_last(void)
{
    free_beside(new_stream(), false, true);
}

// way: freed_in_order silent
static void freed_in_order(void)
{
    free_beside(new_stream(), true, false);
    free_beside(new_stream(), true, true);
}

/* ---- a kernel is given a graph that only the host may launch ---- */

static void fire_host_only(bool is_captured)
{
    CUstream stream = new_stream();
    CUdeviceptr answer = new_floats();
    CUgraph graph = fill_graph(stream, new_floats()), outer = NULL;
    CUgraphExec inner = NULL;
    unsigned long long where = FORGET;
    if (is_captured)
        CU(cuGraphInstantiateWithFlags(&inner, graph, 0)); // <-- host_only_captured
    else
        CU(cuGraphInstantiateWithFlags(&inner, graph, 0)); // <-- host_only_added
    if (is_captured) {
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        ONE("fire", stream, &inner, &where, &answer);
        CU(cuStreamEndCapture(stream, &outer));
    } else {
        CUgraphNode node = NULL;
        CU(cuGraphCreate(&outer, 0));
        const CUDA_KERNEL_NODE_PARAMS fires =
            one_thread("fire", (void *[]){&inner, &where, &answer});
        CU(cuGraphAddKernelNode(&node, outer, NULL, 0, &fires));
    }
    replay_once(outer, stream);
}

// way: host_only_captured device.not-uploaded
static void host_only_captured(void)
{
    fire_host_only(true);
}

// way: host_only_added device.not-uploaded
static void host_only_added(void)
{
    fire_host_only(false);
}

/* ---- a handle that nobody sets before its node asks ---- */

static void loop_of(unsigned initial, unsigned flags, CUgraphConditionalNodeType type)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_floats();
    CUgraph graph = NULL;
    CUgraphNode node = NULL, step = NULL;
    CUgraphConditionalHandle handle = 0;
    CU(cuMemsetD32(word, 3, 1));
    CU(cuGraphCreate(&graph, 0));
    if (type == CU_GRAPH_COND_TYPE_IF)
        CU(cuGraphConditionalHandleCreate(&handle, graph, context,
                                          initial, // <-- if_unset
                                          flags));
    else
        CU(cuGraphConditionalHandleCreate(&handle, graph, context,
                                          initial, // <-- while_unset
                                          flags));
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = 1;
    params.conditional.ctx = context;
    CU(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    const CUDA_KERNEL_NODE_PARAMS down = one_thread("down", (void *[]){&handle, &word});
    CU(cuGraphAddKernelNode(&step, params.conditional.phGraph_out[0], NULL, 0, &down));
    replay_once(graph, stream);
}

// way: while_unset device.handle-never-set
static void while_unset(void)
{
    loop_of(1, 0, CU_GRAPH_COND_TYPE_WHILE);
}

// way: if_unset device.handle-never-set
static void if_unset(void)
{
    loop_of(0, 0, CU_GRAPH_COND_TYPE_IF);
}

// way: default_set silent
static void default_set(void)
{
    loop_of(1, CU_GRAPH_COND_ASSIGN_DEFAULT, CU_GRAPH_COND_TYPE_WHILE);
    loop_of(1, CU_GRAPH_COND_ASSIGN_DEFAULT, CU_GRAPH_COND_TYPE_IF);
}

/* ---- the step in which the graph is captured does not run ---- */

static void decode(bool launches_first, bool is_sent)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_floats();
    CUgraphExec exec = NULL;
    unsigned start = 0, token = 0;
    if (is_sent)
        CU(cuMemcpyHtoD(word, &start, sizeof(start)));
    for (int step = 0; step < 4; step++) {
        const bool is_new = !exec;
        if (is_new) {
            CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
            ONE("add", stream, &word);
            exec = end_capture(stream);
        }
        if ((!is_new || launches_first) && is_sent)
            CU(cuGraphLaunch(exec, stream)); // <-- first_step_after_copy
        else if (!is_new || launches_first)
            CU(cuGraphLaunch(exec, stream)); // <-- first_step
        CU(cuStreamSynchronize(stream));
        CU(cuMemcpyDtoH(&token, word, sizeof(token)));
    }
    EXPECT(token == (launches_first ? 4 : 3));
    CU(cuGraphExecDestroy(exec));
}

// way: first_step replay.read-before-launch
static void first_step(void)
{
    decode(false, false);
}

// way: first_step_after_copy replay.read-before-launch
static void first_step_after_copy(void)
{
    decode(false, true);
}

// way: every_step silent
static void every_step(void)
{
    decode(true, false);
    decode(true, true);
}

/* ---- an update that is refused in each step ---- */

static CUgraph variant(CUstream stream, int step, bool has_fill)
{
    static CUdeviceptr a, b;
    CUgraph graph = NULL;
    if (a == 0) {
        a = new_floats();
        b = new_floats();
    }
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, a, 1);
    if (step % 2 && has_fill)
        CU(cuMemsetD32Async(b, 0, FLOATS, stream));
    else if (step % 2)
        COPY(stream, b, a);
    SCALE_ADD(stream, b, a, 2);
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
}

static void update_or_make(bool has_fill)
{
    enum { STEPS = 24 };
    CUstream stream = new_stream();
    CUgraphExec exec = NULL;
    for (int step = 0; step < STEPS; step++) {
        CUgraph graph = variant(stream, step, has_fill);
        CUgraphExecUpdateResultInfo info;
        if (!exec || cuGraphExecUpdate(exec, graph, &info) != CUDA_SUCCESS) {
            if (exec)
                CU(cuGraphExecDestroy(exec));
            if (has_fill)
                CU(cuGraphInstantiateWithFlags(&exec, graph, 0)); // <-- refused_fill
            else
                CU(cuGraphInstantiateWithFlags(&exec, graph, 0)); // <-- refused_kernel
        }
        CU(cuGraphDestroy(graph));
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
}

// way: refused_kernel perf.instantiate-per-launch
static void refused_kernel(void)
{
    update_or_make(false);
}

// way: refused_fill perf.instantiate-per-launch
static void refused_fill(void)
{
    update_or_make(true);
}

/* Refused now and then, where a kernel comes in for good; and one for each variant. */
// way: refused_once silent
static void refused_once(void)
{
    enum { STEPS = 24 };
    CUstream stream = new_stream();
    CUgraphExec exec = NULL, each[2] = {NULL, NULL};
    for (int step = 0; step < STEPS; step++) {
        CUgraph graph = variant(stream, step >= STEPS / 2, false);
        CUgraphExecUpdateResultInfo info;
        if (!exec)
            CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
        else if (cuGraphExecUpdate(exec, graph, &info) != CUDA_SUCCESS) {
            CU(cuGraphExecDestroy(exec));
            CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
        }
        CU(cuGraphDestroy(graph));
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
    for (int step = 0; step < STEPS; step++) {
        if (!each[step % 2]) {
            CUgraph graph = variant(stream, step, true);
            CU(cuGraphInstantiateWithFlags(&each[step % 2], graph, 0));
            CU(cuGraphDestroy(graph));
        }
        CU(cuGraphLaunch(each[step % 2], stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(each[0]));
    CU(cuGraphExecDestroy(each[1]));
}

/* ---- a page that was freed is named in a table on the device ---- */

static const char gather_ptx[] = BROKEN_HEAD
    ".visible .entry gather(.param .u64 out, .param .u64 table, .param .u32 n)\n"
    "{\n" BROKEN_INDEX "  ld.param.u64 %d1, [out]; ld.param.u64 %d2, [table];\n"
    "  mul.wide.u32 %d3, %r1, 8; add.s64 %d2, %d2, %d3; ld.global.u64 %d4, [%d2];\n"
    "  ld.global.f32 %f1, [%d4]; add.s64 %d1, %d1, %d7; st.global.f32 [%d1], %f1;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry rnd_uniform(.param .u64 out, .param .u32 seed, .param .u32 n)\n"
    "{\n" BROKEN_INDEX "  ld.param.u64 %d1, [out]; ld.param.u32 %r6, [seed];\n"
    "  mad.lo.u32 %r7, %r1, 1664525, %r6; cvt.rn.f32.u32 %f1, %r7;\n"
    "  add.s64 %d1, %d1, %d7; st.global.f32 [%d1], %f1;\n"
    "  ret;\n"
    "}\n";

static CUfunction own_kernel(const char *name)
{
    static CUmodule loaded;
    CUfunction out = NULL;
    if (!loaded)
        CU(cuModuleLoadData(&loaded, gather_ptx));
    CU(cuModuleGetFunction(&out, loaded, name));
    return out;
}

enum { PAGES = 4 };

static void gather_pages(int gone, bool is_sent_again)
{
    CUstream stream = new_stream();
    CUfunction gather = own_kernel("gather");
    CUdeviceptr pages[PAGES], table = new_floats(), out = new_floats();
    for (int i = 0; i < PAGES; i++)
        pages[i] = new_floats();
    CU(cuMemcpyHtoD(table, pages, sizeof(pages)));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    LAUNCH(gather, 1, stream, &out, &table, &(unsigned){PAGES});
    CUgraphExec exec = end_capture(stream);
    const CUdeviceptr old = pages[gone];
    pages[gone] = new_floats();
    if (gone == 0)
        CU(cuMemFree(old)); // <-- first_page_freed
    else
        CU(cuMemFree(old)); // <-- last_page_freed
    if (is_sent_again)
        CU(cuMemcpyHtoD(table, pages, sizeof(pages)));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
}

// way: first_page_freed launch.fault --check
static void first_page_freed(void)
{
    gather_pages(0, false);
}

// way: last_page_freed launch.fault --check
static void last_page_freed(void)
{
    gather_pages(PAGES - 1, false);
}

// way: table_sent_again silent --check
static void table_sent_again(void)
{
    gather_pages(0, true);
    gather_pages(PAGES - 1, true);
}

/* ---- random numbers by a kernel of another name ---- */

static void draw(bool is_read, bool is_set)
{
    static float y[FLOATS];
    CUstream stream = new_stream();
    CUfunction rnd = own_kernel("rnd_uniform");
    CUdeviceptr noise = new_floats(), x = new_floats();
    unsigned seed = 1, n = FLOATS;
    CUDA_KERNEL_NODE_PARAMS params = floats_kernel(rnd, (void *[]){&noise, &seed, &n});
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    size_t count = 1;
    CUgraphExec exec = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    if (is_read)
        LAUNCH(rnd, 8, stream, &noise, &seed, &n); // <-- rnd_read
    else
        LAUNCH(rnd, 8, stream, &noise, &seed, &n); // <-- rnd_added
    if (!is_read)
        SCALE_ADD(stream, x, noise, 1);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    if (is_set)
        CU(cuGraphGetNodes(graph, &node, &count));
    for (int i = 0; i < 5; i++) {
        seed++;
        if (is_set)
            CU(cuGraphExecKernelNodeSetParams(exec, node, &params));
        CU(cuGraphLaunch(exec, stream));
        CU(cuMemcpyDtoHAsync(y, is_read ? noise : x, BYTES, stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

// way: rnd_read rng.frozen
static void rnd_read(void)
{
    draw(true, false);
}

// way: rnd_added rng.frozen
static void rnd_added(void)
{
    draw(false, false);
}

// way: rnd_set silent
static void rnd_set(void)
{
    draw(true, true);
}

/* ---- a child of fork() goes on with its parent's driver ---- */

typedef enum child_does { CHILD_FILLS, CHILD_LAUNCHES, CHILD_COUNTS } child_does;

static int in_child(child_does what, CUstream stream, CUdeviceptr memory)
{
    float value = 1;
    unsigned n = FLOATS;
    if (what == CHILD_FILLS)
        return cuMemsetD32Async(memory, 0, FLOATS, stream) != CUDA_SUCCESS;
    if (what == CHILD_LAUNCHES)
        return cuLaunchKernel(fill, 8, 1, 1, 128, 1, 1, 0, stream,
                              (void *[]){&memory, &value, &n}, NULL) != CUDA_SUCCESS;
    return 0;
}

static int wait_for(pid_t child)
{
    int status = 0;
    EXPECT(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

// way: child_fills error.refused-call
static void child_fills(void)
{
    CUdeviceptr memory = new_floats();
    pid_t child = fork(); // <-- child_fills
    if (child == 0)
        _exit(in_child(CHILD_FILLS, NULL, memory));
    EXPECT(wait_for(child) != 0);
}

// way: child_launches error.refused-call
static void child_launches(void)
{
    CUstream stream = new_stream();
    CUdeviceptr memory = new_floats();
    FILL(stream, memory, 1);
    CU(cuStreamSynchronize(stream));
    pid_t child = fork(); // <-- child_launches
    if (child == 0)
        _exit(in_child(CHILD_LAUNCHES, stream, memory));
    EXPECT(wait_for(child) != 0);
}

// way: child_counts silent
static void child_counts(void)
{
    CUstream stream = new_stream();
    CUdeviceptr memory = new_floats();
    pid_t child = fork();
    if (child == 0)
        _exit(in_child(CHILD_COUNTS, stream, memory));
    EXPECT(wait_for(child) == 0);
    FILL(stream, memory, 1);
    CU(cuStreamSynchronize(stream));
}

/* ---- a graph beside a kernel of another stream that reads what it writes ---- */

static void read_beside(bool waits)
{
    CUstream one = new_stream(), other = new_stream();
    CUdeviceptr in = new_floats(), mid = new_floats(), out = new_floats();
    FILL(one, mid, 0);
    CU(cuStreamSynchronize(one));
    CU(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SCALE_ADD(one, mid, in, 2);
    CUgraphExec exec = end_capture(one);
    CU(cuGraphLaunch(exec, one));
    if (waits)
        CU(cuStreamSynchronize(one));
    SCALE_ADD(other, out, mid, 3); // <-- beside
    end_both(one, other, exec, NULL);
}

// way: beside check.race --check
static void beside(void)
{
    read_beside(false);
}
// way: beside_waited silent --check
static void beside_waited(void)
{
    read_beside(true);
}

#define WAYS(X)                                                                          \
    X(beside)                                                                            \
    X(beside_waited)                                                                     \
    X(copy_reads_early)                                                                  \
    X(kernel_reads_early)                                                                \
    X(reads_in_order)                                                                    \
    X(reads_the_input)                                                                   \
    X(both_write)                                                                        \
    X(one_writes)                                                                        \
    X(shares_scratch)                                                                    \
    X(freed_beside)                                                                      \
    X(freed_beside_last)                                                                 \
    X(freed_in_order)                                                                    \
    X(host_only_captured)                                                                \
    X(host_only_added)                                                                   \
    X(while_unset)                                                                       \
    X(if_unset)                                                                          \
    X(default_set)                                                                       \
    X(first_step)                                                                        \
    X(first_step_after_copy)                                                             \
    X(every_step)                                                                        \
    X(refused_kernel)                                                                    \
    X(refused_fill)                                                                      \
    X(refused_once)                                                                      \
    X(first_page_freed)                                                                  \
    X(last_page_freed)                                                                   \
    X(table_sent_again)                                                                  \
    X(rnd_read)                                                                          \
    X(rnd_added)                                                                         \
    X(rnd_set)                                                                           \
    X(child_fills)                                                                       \
    X(child_launches)                                                                    \
    X(child_counts)

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
