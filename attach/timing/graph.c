// SPDX-License-Identifier: Apache-2.0
/* A window's calls as nodes.
 *
 *   stream -> tails: the nodes that the stream's next one comes after
 *   event  -> the tails of its stream when it was recorded; a wait joins them
 *
 * What a graph would do otherwise than the calls is refused, and the window ends before
 * it: other streams with work under way, the legacy stream, memory that is not pinned. */
#include "attach/timing/graph.h"
#include "base/clock.h"
#include <string.h>

/* ---- streams and what comes after what ---- */

static int find_stream(const gphi_timing_graph *g, CUstream stream)
{
    for (uint32_t i = 0; i < g->stream_count; i++)
        if (g->stream[i] == stream)
            return (int)i;
    return -1;
}

/* A further stream must have nothing under way, since the graph does not wait for it, and
 * none may be the legacy stream, which waits for others of its own accord. < 0: it cannot
 * be one of the graph's. */
static int add_stream(gphi_timing_graph *g, CUstream stream)
{
    const int known = find_stream(g, stream);
    if (known >= 0)
        return known;
    if (g->stream_count == GPHI_TIMING_STREAMS || stream == CU_STREAM_LEGACY ||
        g->stream[0] == CU_STREAM_LEGACY || g->cu->stream_query(stream) != CUDA_SUCCESS)
        return -1;
    g->stream[g->stream_count] = stream;
    g->tails[g->stream_count].count = 0;
    return (int)g->stream_count++;
}

/* All or nothing: a refused wait leaves the tails as they are. */
static bool join(gphi_timing_tails *to, const gphi_timing_tails *from)
{
    gphi_timing_tails all = *to;
    for (uint32_t i = 0; i < from->count; i++) {
        uint32_t at = 0;
        while (at < all.count && all.node[at] != from->node[i])
            at++;
        if (at == GPHI_TIMING_TAILS)
            return false;
        all.node[at] = from->node[i];
        all.count += at == all.count;
    }
    *to = all;
    return true;
}

static int find_event(const gphi_timing_graph *g, CUevent event)
{
    for (uint32_t i = 0; i < g->event_count; i++)
        if (g->event[i].event == event)
            return (int)i;
    return -1;
}

static void forget_event(gphi_timing_graph *g, CUevent event)
{
    const int at = find_event(g, event);
    if (at < 0)
        return;
    g->event_count--;
    memmove(&g->event[at], &g->event[at + 1],
            (g->event_count - (uint32_t)at) * sizeof(g->event[0]));
}

static gphi_timing_taken record_event(gphi_timing_graph *g, CUevent event,
                                      CUstream stream)
{
    const int at = find_stream(g, stream);
    if (at >= 0 && find_event(g, event) < 0 && g->event_count == GPHI_TIMING_EVENTS)
        return GPHI_REFUSED;
    forget_event(g, event); /* the last record counts */
    if (at < 0)
        return GPHI_PASSED;
    g->event[g->event_count].event = event;
    g->event[g->event_count].stream = stream;
    g->event[g->event_count].after = g->tails[at];
    g->event_count++;
    return GPHI_TAKEN;
}

static gphi_timing_taken wait_event(gphi_timing_graph *g, CUstream stream, CUevent event,
                                    uint64_t flags)
{
    const int recorded = find_event(g, event);
    if (flags != 0)
        return GPHI_REFUSED;
    if (recorded < 0) { /* before the window: the whole graph waits for it */
        if (find_stream(g, stream) < 0)
            return GPHI_PASSED;
        return g->cu->stream_wait_event(g->stream[0], event, 0) == CUDA_SUCCESS
                   ? GPHI_TAKEN
                   : GPHI_REFUSED;
    }
    const int at = add_stream(g, stream);
    return at >= 0 && join(&g->tails[at], &g->event[recorded].after) ? GPHI_TAKEN
                                                                     : GPHI_REFUSED;
}

/* ---- nodes ---- */

/* A launch's attribute, on a node. Waiting for all of the kernel before it is what a node
 * does anyway. */
static bool put_attribute(gphi_timing_graph *g, gphi_timing_node *node,
                          const CUlaunchAttribute *attribute)
{
    switch ((int)attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: return true;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: break;
    default: return false;
    }
    if (g->attribute_count == GPHI_TIMING_ATTRIBUTES ||
        g->cu->node_attribute(node->node, attribute->id, &attribute->value) !=
            CUDA_SUCCESS)
        return false;
    if (node->attribute_count++ == 0)
        node->attribute = (uint16_t)g->attribute_count;
    g->attribute[g->attribute_count++] = *attribute;
    return true;
}

static CUresult add_kernel(gphi_timing_graph *g, const CUDA_KERNEL_NODE_PARAMS *kernel,
                           const CUlaunchAttribute *attributes, uint32_t count,
                           int stream)
{
    const gphi_timing_tails *tails = &g->tails[stream];
    const uint32_t attribute_count = g->attribute_count;
    gphi_timing_node *node = &g->node[g->node_count];
    CUDA_KERNEL_NODE_PARAMS params = *kernel;
    *node = (gphi_timing_node){.kind = CU_GRAPH_NODE_TYPE_KERNEL};
    CUresult result =
        g->cu->add_kernel(&node->node, g->graph, tails->node, tails->count, &params);
    if (result != CUDA_SUCCESS) { /* a launch takes a CUkernel for a function, too */
        params.kern = (CUkernel)params.func;
        params.func = NULL;
        result =
            g->cu->add_kernel(&node->node, g->graph, tails->node, tails->count, &params);
    }
    for (uint32_t i = 0; result == CUDA_SUCCESS && i < count; i++)
        if (!put_attribute(g, node, &attributes[i])) {
            (void)g->cu->node_destroy(node->node);
            g->attribute_count = attribute_count;
            result = CUDA_ERROR_NOT_SUPPORTED;
        }
    return result;
}

static CUresult add_launch(gphi_timing_graph *g, uint32_t call, const uint64_t *w,
                           int stream)
{
    static const CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                                  .value.cooperative = 1};
    // NOLINTBEGIN(performance-no-int-to-ptr): they are words of the call
    if (call == GPHI_CALL_cuLaunchKernelEx) {
        const CUlaunchConfig *config = (const CUlaunchConfig *)(uintptr_t)w[0];
        const CUDA_KERNEL_NODE_PARAMS kernel = {.func = (CUfunction)(uintptr_t)w[1],
                                                .gridDimX = config->gridDimX,
                                                .gridDimY = config->gridDimY,
                                                .gridDimZ = config->gridDimZ,
                                                .blockDimX = config->blockDimX,
                                                .blockDimY = config->blockDimY,
                                                .blockDimZ = config->blockDimZ,
                                                .sharedMemBytes = config->sharedMemBytes,
                                                .kernelParams = (void **)(uintptr_t)w[2],
                                                .extra = (void **)(uintptr_t)w[3]};
        return add_kernel(g, &kernel, config->attrs, config->numAttrs, stream);
    }
    const bool is_cooperative = call == GPHI_CALL_cuLaunchCooperativeKernel;
    const CUDA_KERNEL_NODE_PARAMS kernel = {
        .func = (CUfunction)(uintptr_t)w[0],
        .gridDimX = (unsigned)w[1],
        .gridDimY = (unsigned)w[2],
        .gridDimZ = (unsigned)w[3],
        .blockDimX = (unsigned)w[4],
        .blockDimY = (unsigned)w[5],
        .blockDimZ = (unsigned)w[6],
        .sharedMemBytes = (unsigned)w[7],
        .kernelParams = (void **)(uintptr_t)w[9],
        .extra = is_cooperative ? NULL : (void **)(uintptr_t)w[10]};
    return add_kernel(g, &kernel, &cooperative, is_cooperative, stream);
    // NOLINTEND(performance-no-int-to-ptr)
}

static CUresult add_fill(gphi_timing_graph *g, const uint64_t *w, unsigned element,
                         int stream)
{
    gphi_timing_node *node = &g->node[g->node_count];
    const CUDA_MEMSET_NODE_PARAMS fill = {.dst = w[0],
                                          .value = (unsigned)w[1],
                                          .elementSize = element,
                                          .width = w[2],
                                          .height = 1};
    *node = (gphi_timing_node){.kind = CU_GRAPH_NODE_TYPE_MEMSET};
    return w[2] == 0 ? CUDA_ERROR_INVALID_VALUE
                     : g->cu->add_fill(&node->node, g->graph, g->tails[stream].node,
                                       g->tails[stream].count, &fill, g->context);
}

static bool kind_of(const gphi_timing_graph *g, uint64_t address, CUmemorytype *kind)
{
    unsigned found = 0;
    if (g->cu->attribute(&found, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) !=
        CUDA_SUCCESS)
        return false;
    *kind = (CUmemorytype)found;
    return true;
}

/* Of host memory that is not pinned it would read what is there later: refused. */
static CUresult add_copy(gphi_timing_graph *g, const uint64_t *w, int stream)
{
    gphi_timing_node *node = &g->node[g->node_count];
    CUDA_MEMCPY3D copy = {.srcDevice = w[1],
                          .srcHost = (const void *)(uintptr_t)w[1], // NOLINT
                          .dstDevice = w[0],
                          .dstHost = (void *)(uintptr_t)w[0], // NOLINT
                          .WidthInBytes = w[2],
                          .Height = 1,
                          .Depth = 1};
    *node = (gphi_timing_node){.kind = CU_GRAPH_NODE_TYPE_MEMCPY};
    if (w[2] == 0 || !kind_of(g, w[0], &copy.dstMemoryType) ||
        !kind_of(g, w[1], &copy.srcMemoryType))
        return CUDA_ERROR_INVALID_VALUE;
    return g->cu->add_copy(&node->node, g->graph, g->tails[stream].node,
                           g->tails[stream].count, &copy, g->context);
}

static CUresult add_node(gphi_timing_graph *g, uint32_t call, const uint64_t *words,
                         int stream)
{
    switch (call) {
    case GPHI_CALL_cuLaunchKernel:
    case GPHI_CALL_cuLaunchKernelEx:
    case GPHI_CALL_cuLaunchCooperativeKernel: return add_launch(g, call, words, stream);
    case GPHI_CALL_cuMemsetD8Async: return add_fill(g, words, 1, stream);
    case GPHI_CALL_cuMemsetD16Async: return add_fill(g, words, 2, stream);
    case GPHI_CALL_cuMemsetD32Async: return add_fill(g, words, 4, stream);
    case GPHI_CALL_cuMemcpyAsync:
    case GPHI_CALL_cuMemcpyHtoDAsync:
    case GPHI_CALL_cuMemcpyDtoHAsync:
    case GPHI_CALL_cuMemcpyDtoDAsync: return add_copy(g, words, stream);
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
}

bool gphi_timing_graph_open(gphi_timing_graph *g, CUcontext context, CUstream stream,
                            uint32_t slot)
{
    g->context = context;
    g->slot = slot % GPHI_TIMING_EXECS;
    g->stream_count = 1;
    g->stream[0] = stream;
    g->tails[0].count = 0;
    g->event_count = g->node_count = g->attribute_count = 0;
    return g->cu->graph_create(&g->graph, 0) == CUDA_SUCCESS;
}

gphi_timing_taken gphi_timing_graph_take(gphi_timing_graph *g, uint32_t call,
                                         const uint64_t *words, CUstream stream)
{
    // NOLINTBEGIN(performance-no-int-to-ptr)
    if (call == GPHI_CALL_cuEventRecord)
        return record_event(g, (CUevent)(uintptr_t)words[0], stream);
    if (call == GPHI_CALL_cuStreamWaitEvent)
        return wait_event(g, stream, (CUevent)(uintptr_t)words[1], words[2]);
    // NOLINTEND(performance-no-int-to-ptr)
    const int at = g->node_count < GPHI_TIMING_NODES ? add_stream(g, stream) : -1;
    if (at < 0 || add_node(g, call, words, at) != CUDA_SUCCESS)
        return GPHI_REFUSED;
    g->tails[at].node[0] = g->node[g->node_count++].node;
    g->tails[at].count = 1;
    return GPHI_TAKEN;
}

/* ---- running it ---- */

/* A node as the call that it was. What it ran after was launched before it. */
static void launch_alone(gphi_timing_graph *g, const gphi_timing_node *node)
{
    const gphi_timing_calls *cu = g->cu;
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUDA_MEMSET_NODE_PARAMS fill;
    CUDA_MEMCPY3D copy;
    if (node->kind == CU_GRAPH_NODE_TYPE_KERNEL &&
        cu->kernel_params(node->node, &kernel) == CUDA_SUCCESS) {
        const CUlaunchConfig config = {.gridDimX = kernel.gridDimX,
                                       .gridDimY = kernel.gridDimY,
                                       .gridDimZ = kernel.gridDimZ,
                                       .blockDimX = kernel.blockDimX,
                                       .blockDimY = kernel.blockDimY,
                                       .blockDimZ = kernel.blockDimZ,
                                       .sharedMemBytes = kernel.sharedMemBytes,
                                       .hStream = g->stream[0],
                                       .attrs = &g->attribute[node->attribute],
                                       .numAttrs = node->attribute_count};
        (void)cu->launch_ex(&config, kernel.func ? kernel.func : (CUfunction)kernel.kern,
                            kernel.kernelParams, kernel.extra);
    } else if (node->kind == CU_GRAPH_NODE_TYPE_MEMSET &&
               cu->fill_params(node->node, &fill) == CUDA_SUCCESS) {
        if (fill.elementSize == 1)
            (void)cu->fill(fill.dst, (unsigned char)fill.value, fill.width, g->stream[0]);
        else if (fill.elementSize == 2)
            (void)cu->fill_16(fill.dst, (unsigned short)fill.value, fill.width,
                              g->stream[0]);
        else
            (void)cu->fill_32(fill.dst, fill.value, fill.width, g->stream[0]);
    } else if (node->kind == CU_GRAPH_NODE_TYPE_MEMCPY &&
               cu->copy_params(node->node, &copy) == CUDA_SUCCESS) {
        (void)cu->copy_3d(&copy, g->stream[0]);
    }
}

/* The executable of this slot, of what the graph is now; NULL: there is none. */
static CUgraphExec make_exec(gphi_timing_graph *g, uint64_t *instantiate_ns)
{
    CUgraphExec *exec = &g->exec[g->slot];
    CUgraphExecUpdateResultInfo info;
    if (g->node_count == 0)
        return NULL;
    if (*exec && g->cu->exec_update(*exec, g->graph, &info) == CUDA_SUCCESS)
        return *exec;
    if (*exec)
        (void)g->cu->exec_destroy(*exec);
    const uint64_t from = gphi_clock_ns();
    if (g->cu->instantiate(exec, g->graph, 0) != CUDA_SUCCESS)
        *exec = NULL;
    *instantiate_ns = gphi_clock_ns() - from;
    return *exec;
}

static bool launch_held(gphi_timing_graph *g, gphi_timing_gate *gate, CUevent begin,
                        CUevent end, gphi_timing_ran *ran)
{
    const gphi_timing_calls *cu = g->cu;
    CUgraphExec exec = make_exec(g, &ran->instantiate_ns);
    if (!exec)
        return false;
    bool good = cu->upload(exec, g->stream[0]) == CUDA_SUCCESS;
    good &= cu->wait_value(g->stream[0], gate->at, gate->next,
                           CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS;
    good &= cu->event_record(begin, g->stream[0]) == CUDA_SUCCESS;
    const bool launched = cu->graph_launch(exec, g->stream[0]) == CUDA_SUCCESS;
    good &= cu->event_record(end, g->stream[0]) == CUDA_SUCCESS;
    atomic_store(gate->word, gate->next);
    ran->is_timed = good && launched;
    return launched;
}

gphi_timing_ran gphi_timing_graph_run(gphi_timing_graph *g, gphi_timing_gate *gate,
                                      CUevent begin, CUevent end)
{
    const gphi_timing_calls *cu = g->cu;
    gphi_timing_ran ran = {0};
    if (!launch_held(g, gate, begin, end, &ran)) {
        for (uint32_t i = 0; i < g->node_count; i++)
            launch_alone(g, &g->node[i]);
        (void)cu->event_record(end, g->stream[0]);
    }
    for (uint32_t i = 1; i < g->stream_count; i++)
        (void)cu->stream_wait_event(g->stream[i], end, 0);
    for (uint32_t i = 0; i < g->event_count; i++)
        (void)cu->event_record(g->event[i].event, g->event[i].stream);
    (void)cu->graph_destroy(g->graph);
    g->graph = NULL;
    return ran;
}

void gphi_timing_graph_drop(gphi_timing_graph *g)
{
    for (int i = 0; i < GPHI_TIMING_EXECS; i++)
        if (g->exec[i])
            (void)g->cu->exec_destroy(g->exec[i]);
    memset(g->exec, 0, sizeof(g->exec));
}
