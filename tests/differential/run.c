// SPDX-License-Identifier: Apache-2.0
/* The runner's frame: opens a driver, prepares a program's objects, ends it. */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "run_kernels.h"

#ifndef SOFTCUDA_PATH
#define SOFTCUDA_PATH "none/libcuda.so.1"
#endif

struct run run;
atomic_int run_destroyed[OBJECTS];

static CUdeviceptr fixed[BUFFER_FIXED]; /* live as long as the process */
static unsigned char results[BUFFER_FIXED][BUFFER_BYTES];
static bool alive;

bool run_is_alive(void)
{
    return alive;
}

static bool make_buffers(void)
{
    CUresult code = CUDA_SUCCESS;
    CUmemoryPool pool;
    for (int i = BUFFER_DEVICE; i < BUFFER_POOL && code == CUDA_SUCCESS; i++)
        code = cu.cuMemAlloc(&fixed[i], BUFFER_BYTES);
    if (code == CUDA_SUCCESS)
        code = cu.cuDeviceGetDefaultMemPool(&pool, 0);
    for (int i = BUFFER_POOL; i < BUFFER_PINNED && code == CUDA_SUCCESS; i++)
        code = cu.cuMemAllocFromPoolAsync(&fixed[i], BUFFER_BYTES, pool, NULL);
    for (int i = BUFFER_PINNED; i < BUFFER_PAGEABLE && code == CUDA_SUCCESS; i++) {
        void *at;
        code = cu.cuMemHostAlloc(&at, BUFFER_BYTES, 0);
        fixed[i] = (CUdeviceptr)at;
    }
    void *pageable = aligned_alloc(4096, 4096);
    fixed[BUFFER_PAGEABLE] = (CUdeviceptr)pageable;
    if (code == CUDA_SUCCESS)
        code = cu.cuCtxSynchronize();
    return code == CUDA_SUCCESS && pageable != NULL;
}

bool run_open(const char **why)
{
    CUmodule module;
    if (!driver_load(SOFTCUDA_PATH, why))
        return false;
    *why = "no device";
    if (driver_start() != CUDA_SUCCESS)
        return false;
    run.context = driver_context;
    *why = "the kernels do not load";
    if (cu.cuModuleLoadData(&module, run_ptx) != CUDA_SUCCESS)
        return false;
    for (int i = 0; i < KERNELS; i++)
        if (cu.cuModuleGetFunction(&run.kernels[i], module, run_kernel_names[i]) !=
            CUDA_SUCCESS)
            return false;
    *why = "no memory for buffers";
    alive = make_buffers();
    return alive;
}

/* ---- slots ---- */

int run_slot_of_node(CUgraphNode node)
{
    if (node == NULL)
        return NONE;
    for (int i = 0; i < NODES; i++)
        if (run.nodes[i] == node)
            return i;
    return MISSING;
}

void run_put_node(int slot, CUgraphNode node, CUgraph graph)
{
    run.nodes[slot] = node;
    run.node_in[slot] = graph;
}

void run_forget_graph(CUgraph graph)
{
    for (int i = 0; i < NODES; i++)
        if (run.nodes[i] && run.node_in[i] == graph) {
            run.nodes[i] = NULL;
            run.node_in[i] = NULL;
        }
    for (int i = 0; i < GRAPHS; i++) {
        if (run.graphs[i] == graph)
            run.graphs[i] = NULL;
        const CUgraph inner = run.graphs[i];
        if (inner == NULL || run.graph_in[i] != graph)
            continue;
        run.graphs[i] = NULL;
        run_forget_graph(inner);
    }
}

void run_forget_node(CUgraphNode node)
{
    const int slot = run_slot_of_node(node);
    if (slot >= 0)
        run.nodes[slot] = NULL;
    for (int i = 0; i < GRAPHS; i++)
        if (run.graphs[i] && run.graph_of[i] == node)
            run_forget_graph(run.graphs[i]);
}

CUdeviceptr run_address(int32_t address)
{
    const int buffer = BUFFER_OF(address);
    if (buffer >= BUFFERS)
        return 0x1000;
    return run.buffers[buffer] + (unsigned)OFFSET_OF(address);
}

int32_t run_where(CUdeviceptr at)
{
    for (int i = 0; i < BUFFER_FIXED; i++)
        if (run.buffers[i] && at >= run.buffers[i] && at < run.buffers[i] + BUFFER_BYTES)
            return ADDRESS(i, (int)(at - run.buffers[i]));
    for (int i = BUFFER_ALLOC; i < BUFFERS; i++)
        if (run.buffers[i] && at >= run.buffers[i] && at < run.buffers[i] + BUFFER_BYTES)
            return ADDRESS(BUFFER_ALLOC, 0); /* two of them may share an address */
    return MISSING;
}

/* ---- begin, end ---- */

static CUresult write_buffers(void)
{
    uint32_t words[BUFFER_BYTES / 4];
    for (int b = 0; b < BUFFER_FIXED; b++) {
        for (int i = 0; i < BUFFER_BYTES / 4; i++)
            words[i] = initial_word(b, i);
        if (b >= BUFFER_PINNED) {
            memcpy((void *)fixed[b], words, sizeof(words));
            continue;
        }
        const CUresult code = cu.cuMemcpyHtoD(fixed[b], words, sizeof(words));
        if (code != CUDA_SUCCESS)
            return code;
    }
    return CUDA_SUCCESS;
}

bool run_begin(void)
{
    const struct run old = run;
    memset(&run, 0, sizeof(run));
    run.context = old.context;
    memcpy(run.kernels, old.kernels, sizeof(run.kernels));
    memcpy(run.buffers, fixed, sizeof(fixed));
    CUresult code = write_buffers();
    for (int i = 1; i < STREAMS && code == CUDA_SUCCESS; i++)
        code = cu.cuStreamCreate(&run.streams[i], i < 3 ? 0 : CU_STREAM_NON_BLOCKING);
    for (int i = 0; i < EVENTS && code == CUDA_SUCCESS; i++)
        code = cu.cuEventCreate(&run.events[i], CU_EVENT_DISABLE_TIMING);
    for (int i = 0; i < OBJECTS; i++)
        atomic_store(&run_destroyed[i], 0);
    if (code == CUDA_SUCCESS)
        code = cu.cuCtxSynchronize();
    if (code == CUDA_SUCCESS)
        code = cu.cuDeviceGraphMemTrim(0);
    cuuint64_t zero = 0, left = 0;
    if (code == CUDA_SUCCESS &&
        cu.cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,
                                        &left) == CUDA_SUCCESS &&
        left != 0)
        return false; /* a program before left memory: this one needs a process of its own
                       */
    (void)cu.cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero);
    (void)cu.cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &zero);
    alive = code == CUDA_SUCCESS || code == CUDA_ERROR_NOT_SUPPORTED;
    if (!alive)
        fprintf(stderr, "a program cannot begin: %d\n", (int)code);
    return alive;
}

static bool is_slot_graph(CUgraph graph)
{
    for (int i = 0; i < GRAPHS; i++)
        if (run.graphs[i] == graph)
            return true;
    return false;
}

static bool is_inner_graph(CUgraph graph)
{
    for (int i = 0; i < GRAPHS; i++)
        if (run.graphs[i] == graph && run.graph_of[i] != NULL)
            return true;
    return false;
}

/* Twice: the end of another stream than the origin only invalidates the capture. */
static void end_captures(void)
{
    for (int i = 0; i < 2 * STREAMS; i++) {
        const CUstream stream = run.streams[i % STREAMS];
        CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
        CUgraph graph = NULL;
        if (stream == NULL || cu.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS ||
            status == CU_STREAM_CAPTURE_STATUS_NONE)
            continue;
        const CUresult code = cu.cuStreamEndCapture(stream, &graph);
        if (code == CUDA_SUCCESS && graph && !is_slot_graph(graph)) {
            run_forget_graph(graph);
            (void)cu.cuGraphDestroy(graph);
        } else if (code != CUDA_SUCCESS && run.capturing[i % STREAMS] &&
                   !is_inner_graph(run.capturing[i % STREAMS])) {
            run_forget_graph(run.capturing[i % STREAMS]);
        }
    }
}

/* Destructors run on a thread of the driver's own. */
static void wait_for_destructors(const int32_t expected[OBJECTS])
{
    for (int turn = 0; turn < 200; turn++) {
        bool all = true;
        for (int i = 0; i < OBJECTS; i++)
            all = all && atomic_load(&run_destroyed[i]) >= expected[i];
        if (all)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static void read_results(struct finish *out)
{
    for (int b = 0; b < BUFFER_FIXED; b++) {
        if (b >= BUFFER_PINNED)
            memcpy(results[b], (const void *)fixed[b], BUFFER_BYTES);
        else if (cu.cuMemcpyDtoH(results[b], fixed[b], BUFFER_BYTES) != CUDA_SUCCESS)
            memset(results[b], 0xee, BUFFER_BYTES);
        out->hash[b] = memory_hash(results[b], BUFFER_BYTES);
    }
}

static void destroy_all(void)
{
    for (int i = 0; i < EXECS; i++)
        if (run.execs[i])
            (void)cu.cuGraphExecDestroy(run.execs[i]);
    for (int i = 0; i < GRAPHS; i++)
        if (run.graphs[i] && run.graph_of[i] == NULL) {
            const CUgraph graph = run.graphs[i];
            run_forget_graph(graph);
            (void)cu.cuGraphDestroy(graph);
        }
    for (int i = 0; i < OBJECTS; i++)
        if (run.object_mine[i] > 0)
            (void)cu.cuUserObjectRelease(run.objects[i], (unsigned)run.object_mine[i]);
    for (int i = BUFFER_ALLOC; i < BUFFERS; i++)
        if (run.buffers[i])
            (void)cu.cuMemFree(run.buffers[i]);
    int32_t created[OBJECTS];
    for (int i = 0; i < OBJECTS; i++)
        created[i] = run.objects[i] != NULL;
    wait_for_destructors(created); /* the next program counts from zero */
    for (int i = 0; i < EVENTS; i++)
        (void)cu.cuEventDestroy(run.events[i]);
    for (int i = 1; i < STREAMS; i++)
        (void)cu.cuStreamDestroy(run.streams[i]);
}

void run_finish(const int32_t expected_destroyed[OBJECTS], struct finish *out)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    *out = (struct finish){0};
    end_captures();
    (void)cu.cuThreadExchangeStreamCaptureMode(&mode);
    out->code = (int32_t)cu.cuCtxSynchronize();
    alive = out->code == CUDA_SUCCESS;
    read_results(out);
    wait_for_destructors(expected_destroyed);
    for (int i = 0; i < OBJECTS; i++)
        out->destroyed[i] = atomic_load(&run_destroyed[i]);
    if (alive)
        destroy_all();
}

const unsigned char *run_memory(int buffer)
{
    return results[buffer];
}

void run_step(const struct step *step, struct answer *out)
{
    *out = (struct answer){0};
    if (op_is_graph(step->op))
        run_graph_step(step, out);
    else if (op_is_query(step->op))
        run_query_step(step, out);
    else if (op_is_exec(step->op))
        run_exec_step(step, out);
    else if (op_is_object(step->op))
        run_object_step(step, out);
    else if (op_is_memory(step->op))
        run_memory_step(step, out);
    else
        run_stream_step(step, out);
}
