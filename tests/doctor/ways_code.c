// SPDX-License-Identifier: Apache-2.0
/* What only the code of a kernel shows, which of its addresses it writes: as ways.c. */
#include "rules/device.h"

#include <stdbool.h>

enum { BYTES = FLOATS * sizeof(float), STEPS = 4 };

static CUstream stream, side;
static CUdeviceptr x, y, z;

static void open_two(void)
{
    stream = new_stream();
    side = new_stream();
    x = new_floats();
    y = new_floats();
    z = new_floats();
}

static CUgraphExec scaled(CUdeviceptr out, CUdeviceptr in)
{
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SCALE_ADD(stream, out, in, 1);
    return end_capture(stream);
}

/* ---- an event that is waited for too early; what it is for is a kernel ---- */

static void wait_early(bool is_read, bool records_first, bool by_copy)
{
    CUevent ready = new_event();
    float host[FLOATS] = {0};
    open_two();
    CUgraphExec exec = scaled(y, is_read ? x : y);
    if (records_first) {
        COPY(side, x, z);
        CU(cuEventRecord(ready, side));
    }
    if (by_copy)
        CU(cuStreamWaitEvent(stream, ready, 0)); // <-- copy_too_early
    else
        CU(cuStreamWaitEvent(stream, ready, 0)); // <-- graph_too_early
    if (by_copy)
        CU(cuMemcpyDtoHAsync(host, x, BYTES, stream));
    else
        CU(cuGraphLaunch(exec, stream));
    if (!records_first) {
        COPY(side, x, z);
        CU(cuEventRecord(ready, side));
    }
    CU(cuCtxSynchronize());
    printf("%g\n", (double)host[0]);
}

// way: graph_too_early launch.unrecorded-event
static void graph_too_early(void)
{
    wait_early(true, false, false);
}

// way: copy_too_early launch.unrecorded-event
static void copy_too_early(void)
{
    wait_early(true, false, true);
}

// way: event_in_time silent
static void event_in_time(void)
{
    wait_early(true, true, false);
    wait_early(true, true, true);
    wait_early(false, false, false); /* the graph does not use what the kernel writes */
}

/* ---- two branches of a graph ---- */

static void branches(bool reads_other, bool reads_both)
{
    CUevent fork = new_event(), join = new_event();
    open_two();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 2);
    fork_to(stream, side, fork);
    SCALE_ADD(stream, y, x, 1);
    if (reads_other)
        SCALE_ADD(side, z, y, 1); // <-- branch_reads
    else if (reads_both)
        SCALE_ADD(side, z, x, 1);
    else
        COPY(side, y, z); // <-- both_branches
    join_from(stream, side, join);
    CUgraphExec exec = end_capture(stream);
    launch_and_wait(exec, stream);
    printf("%g\n", (double)float_at(z, 0));
}

// way: branch_reads launch.unordered-nodes
static void branch_reads(void)
{
    branches(true, false);
}

// way: both_branches launch.unordered-nodes
static void both_branches(void)
{
    branches(false, false);
}

// way: branches_read_one silent
static void branches_read_one(void)
{
    branches(false, true);
}

/* ---- two graphs in flight ---- */

static void two_graphs(CUdeviceptr *first, CUdeviceptr *second, bool waits)
{
    CUevent done = new_event();
    open_two();
    CUgraphExec a = scaled(first[0], first[1]);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    COPY(stream, second[0], second[1]);
    CUgraphExec b = end_capture(stream);
    for (int i = 0; i < STEPS; i++) {
        CU(cuGraphLaunch(a, stream));
        if (waits) {
            CU(cuEventRecord(done, stream));
            CU(cuStreamWaitEvent(side, done, 0));
        }
        if (second == first)
            CU(cuGraphLaunch(b, side)); // <-- graph_writes
        else
            CU(cuGraphLaunch(b, side)); // <-- graph_reads
        CU(cuCtxSynchronize());
    }
    printf("%g\n", (double)float_at(x, 0));
}

static void with_graphs(int how, bool waits)
{
    CUdeviceptr reads[2], writes[2], shares[2];
    open_two(); /* opened again: addresses differ, so they are set up here */
    CUdeviceptr a = x, b = y, c = z;
    writes[0] = a, writes[1] = b;
    reads[0] = c, reads[1] = a;
    shares[0] = c, shares[1] = b;
    two_graphs(writes, how == 0 ? reads : how == 1 ? writes : shares, waits);
}

// way: graph_reads launch.aliased-overlap
static void graph_reads(void)
{
    with_graphs(0, false);
}

// way: graph_writes launch.aliased-overlap
static void graph_writes(void)
{
    with_graphs(1, false);
}

// way: graphs_apart silent
static void graphs_apart(void)
{
    with_graphs(0, true);
    with_graphs(1, true);
    with_graphs(2, false); /* both only read what they share */
}

/* ---- a kernel outside beside the next launch ---- */

static void beside_launch(bool reads, bool waits)
{
    CUevent launched = new_event(), done = new_event();
    open_two();
    CUgraphExec exec = scaled(y, x);
    for (int i = 0; i < STEPS; i++) {
        CU(cuMemcpyHtoDAsync(x, (float[FLOATS]){(float)i}, BYTES, stream));
        if (reads)
            CU(cuGraphLaunch(exec, stream)); // <-- kernel_still_reads
        else
            CU(cuGraphLaunch(exec, stream));
        CU(cuEventRecord(launched, stream));
        if (reads) {
            CU(cuStreamWaitEvent(side, launched, 0));
            COPY(side, z, y);
        } else {
            COPY(side, x, z); // <-- kernel_refills
        }
        CU(cuEventRecord(done, side));
        if (waits)
            CU(cuStreamWaitEvent(stream, done, 0));
    }
    CU(cuCtxSynchronize());
    printf("%g\n", (double)float_at(z, 0));
}

// way: kernel_still_reads memory.output-overwritten
static void kernel_still_reads(void)
{
    beside_launch(true, false);
}

// way: kernel_refills memory.input-race
static void kernel_refills(void)
{
    beside_launch(false, false);
}

// way: kernel_is_awaited silent
static void kernel_is_awaited(void)
{
    beside_launch(true, true);
}

/* ---- an event that is recorded before the launch that it is to stand for ---- */

static void record_then_launch(bool by_kernel, bool records_after)
{
    CUevent ready = new_event();
    float host[FLOATS] = {0};
    open_two();
    CUgraphExec exec = scaled(y, x);
    for (int i = 0; i < STEPS; i++) {
        FILL(stream, x, (float)i);
        if (!records_after && by_kernel)
            CU(cuEventRecord(ready, stream)); // <-- recorded_for_kernel
        else if (!records_after)
            CU(cuEventRecord(ready, stream)); // <-- recorded_for_copy
        CU(cuGraphLaunch(exec, stream));
        if (records_after)
            CU(cuEventRecord(ready, stream));
        CU(cuStreamWaitEvent(side, ready, 0));
        if (by_kernel)
            SCALE_ADD(side, z, y, 1);
        else
            CU(cuMemcpyDtoHAsync(host, y, BYTES, side));
        CU(cuCtxSynchronize());
    }
    printf("%g\n", (double)host[0]);
}

// way: recorded_for_kernel memory.read-before-done
static void recorded_for_kernel(void)
{
    record_then_launch(true, false);
}

// way: recorded_for_copy memory.read-before-done
static void recorded_for_copy(void)
{
    record_then_launch(false, false);
}

// way: recorded_after silent
static void recorded_after(void)
{
    record_then_launch(true, true);
    record_then_launch(false, true);
}

/* ---- one node is set for all layers ---- */

static void set_layers(bool by_index, bool each, CUdeviceptr out)
{
    enum { LAYERS = 3 };
    CUgraph graph = NULL;
    CUgraphNode nodes[LAYERS];
    CUgraphExec exec = NULL;
    size_t count = LAYERS;
    float k = 1;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < LAYERS; i++)
        SCALE_ADD(stream, out, x, 1);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphGetNodes(graph, nodes, &count));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CUDA_KERNEL_NODE_PARAMS params =
        floats_kernel(scale_add, (void *[]){&out, &x, &k, &(unsigned){FLOATS}});
    for (int step = 0; step < STEPS; step++) {
        k = (float)step;
        for (int i = 0; i < LAYERS && by_index; i++)
            CU(cuGraphExecKernelNodeSetParams(exec, nodes[each ? i : LAYERS - 1],
                                              &params)); // <-- last_layer_set
        for (int i = 0; i < LAYERS && !by_index; i++)
            CU(cuGraphExecKernelNodeSetParams(exec, *nodes,
                                              &params)); // <-- first_layer_set
        launch_and_wait(exec, stream);
    }
    printf("%g\n", (double)float_at(out, 0));
}

// way: first_layer_set update.edit-without-effect
static void first_layer_set(void)
{
    open_two();
    set_layers(false, false, y);
}

// way: last_layer_set update.edit-without-effect
static void last_layer_set(void)
{
    open_two();
    set_layers(true, false, z);
}

// way: each_layer_set silent
static void each_layer_set(void)
{
    open_two();
    set_layers(true, true, y);
}

/* ---- kernels from a fat binary, as nvcc makes them ---- */

enum { PACKED_LZ4 = 0x2000, PACKED_ZSTD = 0x8000 };
static unsigned char fatbin[4 * sizeof(broken_ptx)];

static void put(size_t at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        fatbin[at + i] = (unsigned char)(value >> 8 * i);
}

/* One block of literals, or one raw block: what a compressor makes of what it cannot
 * shorten. How many bytes it has. */
static size_t pack(size_t at, const char *text, size_t bytes, int how)
{
    size_t used = 0, left = bytes - 15;
    if (how == PACKED_ZSTD) {
        put(at, 0xfd2fb528U, 4);
        put(at + 4, 0xa0, 1); /* one segment; its size has four bytes */
        put(at + 5, bytes, 4);
        put(at + 9, 1 | bytes << 3, 3);
        used = 12;
    } else {
        put(at, 0xf0, 1);
        for (used = 1; left >= 255; left -= 255)
            put(at + used++, 255, 1);
        put(at + used++, left, 1);
    }
    memcpy(fatbin + at + used, text, bytes);
    return used + bytes;
}

/* Kernels with names of their own: what is known of those of PTX is not of these. */
static void load_packed(int how, unsigned architecture)
{
    enum { HEADER = 16, ENTRY = 64 };
    static char text[sizeof(broken_ptx)];
    const char *const names[] = {" scale_add(", " copy("};
    memcpy(text, broken_ptx, sizeof(text));
    for (int i = 0; i < 2; i++)
        strstr(text, names[i])[1] = 'p'; /* pcale_add, popy */
    const size_t bytes = pack(HEADER + ENTRY, text, sizeof(text), how);
    put(0, 0xba55ed50U, 4);
    put(4, 1, 2);
    put(6, HEADER, 2);
    put(8, ENTRY + bytes, 8);
    put(HEADER, 1, 2);
    put(HEADER + 4, ENTRY, 4);
    put(HEADER + 8, bytes, 8);
    put(HEADER + 16, bytes, 4);
    put(HEADER + 28, architecture, 4);
    put(HEADER + 40, (uint64_t)how, 8);
    put(HEADER + 56, sizeof(text), 8);
    CUmodule packed = NULL;
    CU(cuModuleLoadData(&packed, fatbin));
    CU(cuModuleGetFunction(&scale_add, packed, "pcale_add"));
    CU(cuModuleGetFunction(&copy, packed, "popy"));
}

static void packed_branches(int how, unsigned architecture, bool reads_other)
{
    CUevent fork = new_event(), join = new_event();
    load_packed(how, architecture);
    open_two();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 2);
    fork_to(stream, side, fork);
    SCALE_ADD(stream, y, x, 1);
    if (how == PACKED_LZ4)
        SCALE_ADD(side, z, reads_other ? y : x, 1); // <-- packed_by_lz4
    else
        SCALE_ADD(side, z, reads_other ? y : x, 1); // <-- packed_by_zstd
    join_from(stream, side, join);
    CUgraphExec exec = end_capture(stream);
    launch_and_wait(exec, stream);
    printf("%g\n", (double)float_at(z, 0));
}

// way: packed_by_lz4 launch.unordered-nodes
static void packed_by_lz4(void)
{
    packed_branches(PACKED_LZ4, 70, true);
}

// way: packed_by_zstd launch.unordered-nodes
static void packed_by_zstd(void)
{
    packed_branches(PACKED_ZSTD, 70, true);
}

// way: packed_apart silent
static void packed_apart(void)
{
    packed_branches(PACKED_LZ4, 70, false);
}

#define WAYS(X)                                                                          \
    X(graph_too_early)                                                                   \
    X(copy_too_early)                                                                    \
    X(event_in_time)                                                                     \
    X(branch_reads)                                                                      \
    X(both_branches)                                                                     \
    X(branches_read_one)                                                                 \
    X(graph_reads)                                                                       \
    X(graph_writes)                                                                      \
    X(graphs_apart)                                                                      \
    X(kernel_still_reads)                                                                \
    X(kernel_refills)                                                                    \
    X(kernel_is_awaited)                                                                 \
    X(recorded_for_kernel)                                                               \
    X(recorded_for_copy)                                                                 \
    X(recorded_after)                                                                    \
    X(first_layer_set)                                                                   \
    X(last_layer_set)                                                                    \
    X(each_layer_set)                                                                    \
    X(packed_by_lz4)                                                                     \
    X(packed_by_zstd)                                                                    \
    X(packed_apart)

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
