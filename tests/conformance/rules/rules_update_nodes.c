// SPDX-License-Identifier: Apache-2.0
/* R69-R69k: what single nodes may become, by an update and by their setters. */
#include "graph_text.h"

/* ---- one node of each kind, changed in both ways ---- */

typedef union node_params {
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUDA_MEMCPY3D copy;
    CUDA_MEMSET_NODE_PARAMS fill;
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch;
} node_params;

static CUresult add(CUgraphNodeType type, CUgraph graph, const node_params *params,
                    CUgraphNode *out)
{
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return cu.cuGraphAddKernelNode(out, graph, NULL, 0, &params->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return cu.cuGraphAddMemcpyNode(out, graph, NULL, 0, &params->copy, text_context);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return cu.cuGraphAddMemsetNode(out, graph, NULL, 0, &params->fill, text_context);
    default: return cu.cuGraphAddBatchMemOpNode(out, graph, NULL, 0, &params->batch);
    }
}

static CUresult set(CUgraphNodeType type, CUgraphExec exec, CUgraphNode node,
                    const node_params *params)
{
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return cu.cuGraphExecKernelNodeSetParams(exec, node, &params->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return cu.cuGraphExecMemcpyNodeSetParams(exec, node, &params->copy, text_context);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return cu.cuGraphExecMemsetNodeSetParams(exec, node, &params->fill, text_context);
    default: return cu.cuGraphExecBatchMemOpNodeSetParams(exec, node, &params->batch);
    }
}

/* A node with `from` gets `to`: by its setter, and by an update with a graph that has
 * `to`, which says `result`. */
static void change(CUgraphNodeType type, const node_params *from, const node_params *to,
                   CUgraphExecUpdateResult result, const char *what)
{
    CUgraph graph, other;
    CUgraphNode node = NULL, second = NULL;
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo info = {0};
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphCreate(&other, 0));
    OK(add(type, graph, from, &node));
    OK(add(type, other, to, &second));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    const bool fits = result == CU_GRAPH_EXEC_UPDATE_SUCCESS;
    const CUresult by_set = set(type, exec, node, to);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    const CUresult by_update = cu.cuGraphExecUpdate(exec, other, &info);
    bool right = CHECK(by_set == (fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE));
    right &=
        CHECK(by_update == (fits ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE));
    right &= CHECK(info.result == result && info.errorFromNode == NULL);
    right &= CHECK(info.errorNode == (fits ? NULL : second));
    if (!right)
        fprintf(stderr, "  %s: set %d, update %d with result %d\n", what, (int)by_set,
                (int)by_update, (int)info.result);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphDestroy(other));
}

#define SAME CU_GRAPH_EXEC_UPDATE_SUCCESS
#define PARAMETERS CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED

/* ---- kernels ---- */

static unsigned one = 1;

static node_params kernel(CUfunction function)
{
    node_params params = {.kernel = store_params(&text_memory[0], &one)};
    params.kernel.func = function;
    return params;
}

static void a_kernel_may_become_another(void)
{
    const node_params from = kernel(text_store);
    node_params to = kernel(text_other);
    change(CU_GRAPH_NODE_TYPE_KERNEL, &from, &to, SAME, "another function");
    change(CU_GRAPH_NODE_TYPE_KERNEL, &to, &from, SAME, "and back");
    to = from;
    to.kernel.gridDimX = 1000;
    to.kernel.blockDimX = 256;
    to.kernel.sharedMemBytes = 40000;
    change(CU_GRAPH_NODE_TYPE_KERNEL, &from, &to, SAME, "dimensions");
}

/* The context that is named is not that of ordinary host memory. */
static void host_memory_has_no_context(void)
{
    static char bytes[64];
    CUcontext other;
    CUgraph graph;
    CUgraphNode node;
    CUDA_MEMCPY3D from_host = copy_params(text_memory[0], 0, 64, 1);
    from_host.srcMemoryType = CU_MEMORYTYPE_HOST;
    from_host.srcHost = bytes;
    OK(cu.cuCtxCreate(&other, NULL, 0, 0));
    OK(cu.cuCtxSetCurrent(text_context));
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddMemcpyNode(&node, graph, NULL, 0, &from_host, text_context));
    CUgraphExec exec;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphExecMemcpyNodeSetParams(exec, node, &from_host, other));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuCtxDestroy(other));
}

static void a_kernel_stays_in_its_context(void)
{
    CUcontext other;
    CUmodule module;
    CUfunction function;
    OK(cu.cuCtxCreate(&other, NULL, 0, 0));
    OK(cu.cuModuleLoadData(&module, kernels_ptx));
    OK(cu.cuModuleGetFunction(&function, module, "store"));
    OK(cu.cuCtxSetCurrent(text_context));
    const node_params from = kernel(text_store), to = kernel(function);
    const CUgraphExecUpdateResult result =
        CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
    change(CU_GRAPH_NODE_TYPE_KERNEL, &from, &to, result, "another context");
    change(CU_GRAPH_NODE_TYPE_KERNEL, &to, &from, result, "and back");
    OK(cu.cuCtxDestroy(other));
}

static void wrong_launches_are_refused(void)
{
    const text_graph graph = text_build("k1");
    CUgraphExec exec;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph.graph, 0));
    node_params params = kernel(text_store);
    params.kernel.blockDimX = 2048;
    REFUSED(INVALID_VALUE, set(CU_GRAPH_NODE_TYPE_KERNEL, exec, graph.nodes[0], &params));
    params = kernel(text_store);
    params.kernel.kernelParams = NULL;
    REFUSED(INVALID_VALUE, set(CU_GRAPH_NODE_TYPE_KERNEL, exec, graph.nodes[0], &params));
    REFUSED(INVALID_VALUE, cu.cuGraphExecKernelNodeSetParams(exec, graph.nodes[0], NULL));
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph.graph));
}

/* Two graphs of a kernel with one attribute each; NULL: left alone. */
static CUgraphExecUpdateResult with_attribute(unsigned long long flags,
                                              CUkernelNodeAttrID id,
                                              const CUkernelNodeAttrValue *from,
                                              const CUkernelNodeAttrValue *to)
{
    const text_graph graph = text_build("k1"), other = text_build("k1");
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo info = {0};
    if (from)
        OK(cu.cuGraphKernelNodeSetAttribute(graph.nodes[0], id, from));
    if (to)
        OK(cu.cuGraphKernelNodeSetAttribute(other.nodes[0], id, to));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph.graph, flags));
    const CUresult code = cu.cuGraphExecUpdate(exec, other.graph, &info);
    CHECK_IS(code,
             info.result == SAME ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    CHECK(info.errorNode == (info.result == SAME ? NULL : other.nodes[0]));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph.graph));
    OK(cu.cuGraphDestroy(other.graph));
    return info.result;
}

#define CHANGED CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED

static void a_kernel_stays_cooperative_or_not(void)
{
    const CUkernelNodeAttrValue no = {.cooperative = 0}, yes = {.cooperative = 1};
    const CUkernelNodeAttrID id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    CHECK(with_attribute(0, id, &no, &yes) == CHANGED);
    CHECK(with_attribute(0, id, &yes, NULL) == CHANGED);
    CHECK(with_attribute(0, id, &yes, &yes) == SAME);
    CHECK(with_attribute(0, id, NULL, &no) == SAME);
}

static void a_priority_that_is_used_stays(void)
{
    int least = 0, greatest = 0;
    OK(cu.cuCtxGetStreamPriorityRange(&least, &greatest));
    const CUkernelNodeAttrValue zero = {.priority = 0}, high = {.priority = greatest},
                                beyond = {.priority = greatest - 5};
    const CUkernelNodeAttrID id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
    const unsigned long long used = CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    CHECK(with_attribute(0, id, &zero, &high) == SAME);
    CHECK(with_attribute(used, id, &zero, &high) == CHANGED);
    CHECK(with_attribute(used, id, NULL, &high) == CHANGED);
    CHECK(with_attribute(used, id, NULL, &zero) == SAME);
    CHECK(with_attribute(used, id, &high, &beyond) == CHANGED); /* as asked for */
}

/* ---- copies ---- */

static node_params copy(CUdeviceptr dst, CUdeviceptr src, size_t width, size_t height)
{
    return (node_params){.copy = copy_params(dst, src, width, height)};
}

static void a_copy_of_one_row_may_change(void)
{
    const CUdeviceptr *m = text_memory;
    const node_params from = copy(m[0], m[1], 64, 1);
    node_params to = copy(m[1], m[0], 4096, 1);
    change(CU_GRAPH_NODE_TYPE_MEMCPY, &from, &to, SAME, "size and addresses");
    to = from;
    to.copy.srcY = 1;
    to.copy.srcPitch = 64;
    change(CU_GRAPH_NODE_TYPE_MEMCPY, &from, &to, SAME, "an offset");
}

static void a_copy_of_rows_stays_as_it_is(void)
{
    const CUdeviceptr *m = text_memory;
    const node_params from = copy(m[0], m[1], 16, 4), flat = copy(m[0], m[1], 64, 1);
    node_params to = copy(m[0] + 4096, m[1], 16, 4);
    change(CU_GRAPH_NODE_TYPE_MEMCPY, &from, &from, SAME, "as it is");
    change(CU_GRAPH_NODE_TYPE_MEMCPY, &from, &to, PARAMETERS, "another address");
    to = copy(m[0], m[1], 16, 8);
    change(CU_GRAPH_NODE_TYPE_MEMCPY, &from, &to, PARAMETERS, "more rows");
    change(CU_GRAPH_NODE_TYPE_MEMCPY, &from, &flat, PARAMETERS, "to one row");
    change(CU_GRAPH_NODE_TYPE_MEMCPY, &flat, &from, PARAMETERS, "from one row");
    to = from;
    to.copy.Depth = 2;
    to.copy.srcHeight = to.copy.dstHeight = 4;
    node_params moved = to;
    moved.copy.dstDevice += 4096;
    change(CU_GRAPH_NODE_TYPE_MEMCPY, &to, &moved, PARAMETERS, "planes");
}

static char host_memory[4096];

static void declared_memory_types_stay(void)
{
    const CUdeviceptr *m = text_memory;
    const node_params device = copy(m[0], m[1], 64, 1);
    node_params host = device, unified = device;
    host.copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    host.copy.srcHost = host_memory;
    unified.copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    unified.copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    change(CU_GRAPH_NODE_TYPE_MEMCPY, &device, &host, PARAMETERS, "device to host");
    change(CU_GRAPH_NODE_TYPE_MEMCPY, &host, &device, PARAMETERS, "host to device");
    change(CU_GRAPH_NODE_TYPE_MEMCPY, &device, &unified, PARAMETERS, "to unified");
    change(CU_GRAPH_NODE_TYPE_MEMCPY, &unified, &device, PARAMETERS, "from unified");
    node_params elsewhere = host;
    elsewhere.copy.srcHost = host_memory + 1024;
    change(CU_GRAPH_NODE_TYPE_MEMCPY, &host, &elsewhere, SAME, "other host memory");
}

/* ---- what memory an operand refers to ---- */

enum { DEVICE, FOREIGN, MANAGED, PINNED, PAGEABLE, POOL, OWN_POOL, MAPPED, BACKINGS };

static struct {
    CUdeviceptr at[BACKINGS];
    CUcontext other;
    CUmemoryPool pool;
    CUmemGenericAllocationHandle physical;
    CUstream stream;
} backing;

enum { BACKING_BYTES = 2 << 20 };

static void make_backings(void)
{
    void *host;
    const CUmemPoolProps props = {
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    const CUmemAllocationProp physical = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    const CUmemAccessDesc access = {
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
        .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr *at = backing.at;
    OK(cu.cuStreamCreate(&backing.stream, CU_STREAM_NON_BLOCKING));
    OK(cu.cuCtxCreate(&backing.other, NULL, 0, 0));
    OK(cu.cuMemAlloc(&at[FOREIGN], 4096));
    OK(cu.cuCtxSetCurrent(text_context));
    at[DEVICE] = text_memory[1];
    OK(cu.cuMemAllocManaged(&at[MANAGED], 4096, CU_MEM_ATTACH_GLOBAL));
    OK(cu.cuMemHostAlloc(&host, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    at[PINNED] = (CUdeviceptr)(uintptr_t)host;
    at[PAGEABLE] = (CUdeviceptr)(uintptr_t)host_memory;
    OK(cu.cuMemAllocAsync(&at[POOL], 4096, backing.stream));
    OK(cu.cuMemPoolCreate(&backing.pool, &props));
    OK(cu.cuMemAllocFromPoolAsync(&at[OWN_POOL], 4096, backing.pool, backing.stream));
    OK(cu.cuMemAddressReserve(&at[MAPPED], BACKING_BYTES, 0, 0, 0));
    OK(cu.cuMemCreate(&backing.physical, BACKING_BYTES, &physical, 0));
    OK(cu.cuMemMap(at[MAPPED], BACKING_BYTES, 0, backing.physical, 0));
    OK(cu.cuMemSetAccess(at[MAPPED], BACKING_BYTES, &access, 1));
    OK(cu.cuStreamSynchronize(backing.stream));
}

static void free_backings(void)
{
    CUdeviceptr *at = backing.at;
    OK(cu.cuCtxDestroy(backing.other));
    OK(cu.cuMemFree(at[MANAGED]));
    OK(cu.cuMemFreeHost((void *)(uintptr_t)at[PINNED]));
    OK(cu.cuMemFree(at[POOL]));
    OK(cu.cuMemFree(at[OWN_POOL]));
    OK(cu.cuMemPoolDestroy(backing.pool));
    OK(cu.cuMemUnmap(at[MAPPED], BACKING_BYTES));
    OK(cu.cuMemRelease(backing.physical));
    OK(cu.cuMemAddressFree(at[MAPPED], BACKING_BYTES));
    OK(cu.cuStreamDestroy(backing.stream));
}

static node_params unified(CUdeviceptr dst, CUdeviceptr src)
{
    node_params params = copy(dst, src, 64, 1);
    params.copy.srcMemoryType = params.copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    return params;
}

static void operands_stay_with_contexts_or_without(void)
{
    make_backings();
    for (int from = 0; from < BACKINGS; from++)
        for (int to = 0; to < BACKINGS; to++) {
            if (from == FOREIGN || to == FOREIGN)
                continue;
            const bool fits = (from >= POOL) == (to >= POOL);
            char what[64];
            snprintf(what, sizeof(what), "source of kind %d to %d", from, to);
            const CUdeviceptr fixed = text_memory[0];
            node_params a = unified(fixed, backing.at[from]),
                        b = unified(fixed, backing.at[to]);
            change(CU_GRAPH_NODE_TYPE_MEMCPY, &a, &b, fits ? SAME : PARAMETERS, what);
            snprintf(what, sizeof(what), "destination of kind %d to %d", from, to);
            a = unified(backing.at[from], fixed);
            b = unified(backing.at[to], fixed);
            change(CU_GRAPH_NODE_TYPE_MEMCPY, &a, &b, fits ? SAME : PARAMETERS, what);
        }
    free_backings();
}

/* Only what is read, and what a fill writes, is bound to its context. */
static void operands_stay_in_their_context(void)
{
    make_backings();
    const CUdeviceptr *at = backing.at, fixed = text_memory[0];
    node_params a = unified(fixed, at[DEVICE]), b = unified(fixed, at[FOREIGN]);
    change(CU_GRAPH_NODE_TYPE_MEMCPY, &a, &b, PARAMETERS, "a source elsewhere");
    a = unified(at[DEVICE], fixed);
    b = unified(at[FOREIGN], fixed);
    change(CU_GRAPH_NODE_TYPE_MEMCPY, &a, &b, SAME, "a destination elsewhere");
    /* Ordinary host memory goes with the copy's context; written, it does not matter. */
    a = unified(fixed, at[FOREIGN]);
    b = unified(fixed, at[PAGEABLE]);
    change(CU_GRAPH_NODE_TYPE_MEMCPY, &a, &b, PARAMETERS, "a source here, of the host");
    change(CU_GRAPH_NODE_TYPE_MEMCPY, &b, &a, PARAMETERS, "of the host, elsewhere");
    a = unified(at[FOREIGN], fixed);
    b = unified(at[PAGEABLE], fixed);
    change(CU_GRAPH_NODE_TYPE_MEMCPY, &a, &b, SAME, "a destination of the host");
    change(CU_GRAPH_NODE_TYPE_MEMCPY, &b, &a, SAME, "from the host, elsewhere");
    for (int to = 0; to < BACKINGS; to++) {
        if (to == PAGEABLE)
            continue;
        a.fill = fill_params(at[DEVICE], 1, 64, 1);
        b.fill = fill_params(at[to], 1, 64, 1);
        change(CU_GRAPH_NODE_TYPE_MEMSET, &a, &b, to == FOREIGN ? PARAMETERS : SAME,
               "a fill elsewhere");
    }
    free_backings();
}

/* ---- fills ---- */

static node_params fill(unsigned element, size_t width, size_t height)
{
    node_params params = {.fill = fill_params(text_memory[0], 1, width, height)};
    params.fill.elementSize = element;
    return params;
}

static void a_fill_of_one_row_may_change(void)
{
    const node_params from = fill(1, 64, 1);
    node_params to = fill(4, 1000, 1);
    to.fill.dst = text_memory[1];
    to.fill.value = 7;
    change(CU_GRAPH_NODE_TYPE_MEMSET, &from, &to, SAME, "all but rows");
    change(CU_GRAPH_NODE_TYPE_MEMSET, &to, &from, SAME, "and back");
}

static void a_fill_keeps_its_shape(void)
{
    const node_params from = fill(1, 64, 4), flat = fill(1, 64, 1);
    node_params to = from;
    to.fill.value = 9;
    to.fill.dst = text_memory[1];
    change(CU_GRAPH_NODE_TYPE_MEMSET, &from, &to, SAME, "value and address");
    to = fill(1, 32, 4);
    change(CU_GRAPH_NODE_TYPE_MEMSET, &from, &to, PARAMETERS, "width");
    to = fill(4, 16, 4);
    change(CU_GRAPH_NODE_TYPE_MEMSET, &from, &to, PARAMETERS, "element");
    to = from;
    to.fill.pitch = 512;
    change(CU_GRAPH_NODE_TYPE_MEMSET, &from, &to, PARAMETERS, "pitch");
    to = fill(1, 64, 8);
    change(CU_GRAPH_NODE_TYPE_MEMSET, &from, &to, PARAMETERS, "rows");
    change(CU_GRAPH_NODE_TYPE_MEMSET, &from, &flat, PARAMETERS, "to one row");
    change(CU_GRAPH_NODE_TYPE_MEMSET, &flat, &from, PARAMETERS, "from one row");
}

static void nothing_is_not_copied(void)
{
    const text_graph graph = text_build("c1");
    CUgraphExec exec;
    CUgraphNode node;
    const node_params empty = copy(text_memory[0], text_memory[1], 0, 1);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph.graph, 0));
    REFUSED(INVALID_VALUE, add(CU_GRAPH_NODE_TYPE_MEMCPY, graph.graph, &empty, &node));
    REFUSED(INVALID_VALUE, set(CU_GRAPH_NODE_TYPE_MEMCPY, exec, graph.nodes[0], &empty));
    REFUSED(INVALID_VALUE, cu.cuGraphMemcpyNodeSetParams(graph.nodes[0], &empty.copy));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph.graph));
}

static void nothing_is_not_filled(void)
{
    const text_graph graph = text_build("m1");
    CUgraphExec exec;
    CUgraphNode node;
    const node_params empty = fill(1, 0, 1);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph.graph, 0));
    REFUSED(INVALID_VALUE, add(CU_GRAPH_NODE_TYPE_MEMSET, graph.graph, &empty, &node));
    REFUSED(INVALID_VALUE, set(CU_GRAPH_NODE_TYPE_MEMSET, exec, graph.nodes[0], &empty));
    REFUSED(INVALID_VALUE, cu.cuGraphMemsetNodeSetParams(graph.nodes[0], &empty.fill));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph.graph));
}

/* ---- batches ---- */

static CUstreamBatchMemOpParams write_op(CUdeviceptr at, uint32_t value, bool wide)
{
    return (CUstreamBatchMemOpParams){
        .writeValue = {.operation = wide ? CU_STREAM_MEM_OP_WRITE_VALUE_64
                                         : CU_STREAM_MEM_OP_WRITE_VALUE_32,
                       .address = at,
                       .value = value}};
}

static void a_batch_keeps_its_operations(void)
{
    CUstreamBatchMemOpParams ops[2] = {write_op(text_memory[0], 1, false),
                                       write_op(text_memory[0] + 8, 2, false)};
    CUstreamBatchMemOpParams others[2] = {write_op(text_memory[0] + 16, 3, false),
                                          write_op(text_memory[0] + 24, 4, false)};
    const node_params from = {
        .batch = {.ctx = text_context, .count = 2, .paramArray = ops}};
    node_params to = from;
    to.batch.paramArray = others;
    change(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, &from, &to, SAME, "values and addresses");
    to.batch.count = 1;
    change(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, &from, &to, PARAMETERS, "their number");
    to.batch.count = 2;
    others[1] = write_op(text_memory[0] + 24, 4, true);
    change(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, &from, &to, PARAMETERS, "their kinds");
}

static void run(void)
{
    if (!rule_listing)
        text_start();
    RULE_TEST(R69, a_kernel_may_become_another);
    RULE_TEST(R69, a_kernel_stays_in_its_context);
    RULE_TEST(R69, wrong_launches_are_refused);
    RULE_TEST(R69a, a_kernel_stays_cooperative_or_not);
    RULE_TEST(R69a, a_priority_that_is_used_stays);
    RULE_TEST(R69c, declared_memory_types_stay);
    RULE_TEST(R69d, a_copy_of_one_row_may_change);
    RULE_TEST(R69d, a_copy_of_rows_stays_as_it_is);
    RULE_TEST(R69e, a_batch_keeps_its_operations);
    RULE_TEST(M_U06_fill_shape, a_fill_of_one_row_may_change);
    RULE_TEST(M_U06_fill_shape, a_fill_keeps_its_shape);
    RULE_TEST(M_U07_backing, operands_stay_with_contexts_or_without);
    RULE_TEST(M_U07_context, operands_stay_in_their_context);
    RULE_TEST(M_U07_context, host_memory_has_no_context);
    RULE_TEST(M_zero_size, nothing_is_not_filled);
    RULE_TEST(M_zero_size, nothing_is_not_copied);
}

int main(int argc, char **argv)
{
    return rule_main(argc, argv, run);
}
