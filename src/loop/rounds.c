// SPDX-License-Identifier: Apache-2.0
/* The graphs of a loop. A step is the body as a child graph, cloned by the driver, so the
 * body stays the caller's. */
#include "base/fail.h"
#include "cuda/status.h"
#include "loop/loop.h"
#include "replay/capture.h"
#include "replay/query.h"

/* A graph that grows at its end. */
struct build {
    const gph_loop *loop;
    CUgraph body, graph;
    CUgraphNode last; /* NULL: it is empty */
    gph_error *error;
};

static gph_status check(const struct build *b, CUresult result, const char *call)
{
    return gphi_loop_check(b->loop, result, call, b->error);
}

/* Children are clones: the caller's graph may change or go. */
static gph_status add_child(struct build *b, CUgraph child)
{
    CUgraphNode node = NULL;
    GPHI_TRY(check(b,
                   b->loop->runtime->cu.cuGraphAddChildGraphNode(
                       &node, b->graph, &b->last, b->last != NULL, child),
                   "cuGraphAddChildGraphNode"));
    b->last = node;
    return GPH_OK;
}

static gph_status add_kernel(struct build *b, CUfunction function, void **arguments)
{
    CUgraphNode node = NULL;
    const CUDA_KERNEL_NODE_PARAMS params = {.func = function,
                                            .gridDimX = 1,
                                            .gridDimY = 1,
                                            .gridDimZ = 1,
                                            .blockDimX = 1,
                                            .blockDimY = 1,
                                            .blockDimZ = 1,
                                            .kernelParams = arguments};
    GPHI_TRY(check(b,
                   b->loop->runtime->cu.cuGraphAddKernelNode(&node, b->graph, &b->last,
                                                             b->last != NULL, &params),
                   "cuGraphAddKernelNode"));
    b->last = node;
    return GPH_OK;
}

/* A round: steps, each but the last followed by a count, and the kernel that decides. */
static gph_status add_round(struct build *b, uint32_t steps, CUfunction decides,
                            void **arguments)
{
    const gph_loop *loop = b->loop;
    loop_plan plan = loop->plan;
    void *counts[] = {&plan};
    for (uint32_t i = 0; i < steps; i++) {
        GPHI_TRY(add_child(b, b->body));
        if (i + 1 < steps && !plan.counter)
            GPHI_TRY(add_kernel(b, loop->any->functions[GPHI_LOOP_STEP], counts));
    }
    return add_kernel(b, decides, arguments);
}

static gph_status add_before(struct build *b)
{
    return b->loop->before ? add_child(b, b->loop->before) : GPH_OK;
}

/* ---- executables ---- */

/* The graph is destroyed, whatever becomes of it. */
static gph_status instantiate(struct build *b, gph_status status, uint32_t flags,
                              gph_exec **out)
{
    const gph_exec_options options = {.size = sizeof(options),
                                      .flags = flags,
                                      .upload_stream = b->loop->options.stream};
    GPHI_THEN(status,
              gph_exec_create(b->loop->runtime, b->graph, &options, out, b->error));
    if (b->graph)
        gphi_ignore((gph_status)b->loop->runtime->cu.cuGraphDestroy(b->graph),
                    "the executable has all it needs");
    return status;
}

static gph_status begin(struct build *b, const gph_loop *loop, CUgraph body,
                        gph_error *error)
{
    *b = (struct build){.loop = loop, .body = body, .error = error};
    return check(b, loop->runtime->cu.cuGraphCreate(&b->graph, 0), "cuGraphCreate");
}

/* A round as a graph of its own. */
static gph_status make_round(gph_loop *loop, CUgraph body, uint32_t steps, gph_exec *one,
                             gph_exec **out, gph_error *error)
{
    struct build b;
    loop_plan plan = loop->plan;
    CUgraphExec single = gph_exec_handle(one);
    void *arguments[] = {&plan, &single};
    const bool is_tail = loop->way == GPH_LOOP_TAIL;
    GPHI_TRY(begin(&b, loop, body, error));
    const gph_status status =
        add_round(&b, steps,
                  is_tail ? loop->own->functions[GPHI_LOOP_TAIL_ROUND]
                          : loop->any->functions[GPHI_LOOP_HOST_ROUND],
                  arguments);
    return instantiate(&b, status,
                       is_tail ? CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH : 0, out);
}

/* What the host launches: it begins a launch and starts the first round, or says which. */
static gph_status make_start(gph_loop *loop, const gphi_loop_execs *rounds,
                             gph_exec **out, gph_error *error)
{
    struct build b;
    loop_plan plan = loop->plan;
    CUgraphExec many = gph_exec_handle(rounds->many), one = gph_exec_handle(rounds->one);
    void *arguments[] = {&plan, &many, &one};
    const bool is_tail = loop->way == GPH_LOOP_TAIL;
    GPHI_TRY(begin(&b, loop, NULL, error));
    gph_status status = add_before(&b);
    GPHI_THEN(status, add_kernel(&b,
                                 is_tail ? loop->own->functions[GPHI_LOOP_TAIL_BEGIN]
                                         : loop->any->functions[GPHI_LOOP_HOST_BEGIN],
                                 arguments));
    return instantiate(&b, status, 0, out);
}

/* Single steps first: the round of several starts them by their handle. */
static gph_status build_rounds(gph_loop *loop, CUgraph body, gphi_loop_execs *out,
                               gph_error *error)
{
    GPHI_TRY(make_round(loop, body, 1, NULL, &out->one, error));
    if (loop->plan.many > 1)
        GPHI_TRY(make_round(loop, body, loop->plan.many, out->one, &out->many, error));
    return make_start(loop, out, &out->start, error);
}

/* ---- WHILE ---- */

static gph_status create_handle(struct build *b, CUgraphConditionalHandle *out)
{
    /* The value of each launch begins as 0: the single steps of a loop that has none. */
    return check(b,
                 b->loop->runtime->cu.cuGraphConditionalHandleCreate(
                     out, b->graph, b->loop->context, 0, CU_GRAPH_COND_ASSIGN_DEFAULT),
                 "cuGraphConditionalHandleCreate");
}

/* The node comes after what is there; its round is the body that the driver owns. */
static gph_status add_while(struct build *b, uint32_t steps,
                            CUgraphConditionalHandle handle, void **arguments)
{
    CUgraphNode node = NULL;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional = (CUDA_CONDITIONAL_NODE_PARAMS){.handle = handle,
                                                        .type = CU_GRAPH_COND_TYPE_WHILE,
                                                        .size = 1,
                                                        .ctx = b->loop->context};
    GPHI_TRY(check(b,
                   b->loop->runtime->cu.cuGraphAddNode(&node, b->graph, &b->last, NULL,
                                                       b->last != NULL, &params),
                   "cuGraphAddNode"));
    struct build inner = *b;
    inner.graph = params.conditional.phGraph_out[0];
    inner.last = NULL;
    b->last = node;
    return add_round(&inner, steps, b->loop->own->functions[GPHI_LOOP_WHILE_ROUND],
                     arguments);
}

/* The nodes of a loop after the kernel that begins it. */
static gph_status add_rounds(struct build *b, CUgraphConditionalHandle many,
                             CUgraphConditionalHandle one)
{
    loop_plan plan = b->loop->plan;
    void *arguments[] = {&plan, &many, &one};
    if (plan.many > 1)
        GPHI_TRY(add_while(b, plan.many, many, arguments));
    return add_while(b, 1, one, arguments);
}

static gph_status add_whiles(struct build *b)
{
    const gph_loop *loop = b->loop;
    loop_plan plan = loop->plan;
    CUgraphConditionalHandle many = 0, one = 0;
    void *arguments[] = {&plan, &many, &one};
    if (plan.many > 1)
        GPHI_TRY(create_handle(b, &many));
    GPHI_TRY(create_handle(b, &one));
    GPHI_TRY(add_before(b));
    GPHI_TRY(add_kernel(b, loop->own->functions[GPHI_LOOP_WHILE_BEGIN], arguments));
    return add_rounds(b, many, one);
}

static gph_status build_while(gph_loop *loop, CUgraph body, gphi_loop_execs *out,
                              gph_error *error)
{
    struct build b;
    GPHI_TRY(begin(&b, loop, body, error));
    return instantiate(&b, add_whiles(&b), 0, &out->start);
}

/* ---- what a body may hold ---- */

/* The rules that refuse it: R83 and R70; R86 and R43 for copies of the body. */
static const char *refusal(gph_loop_way way, CUgraphNodeType type)
{
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_GRAPH: return NULL;
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return way == GPH_LOOP_TAIL ? "an empty node, which a device launch does not take"
                                    : NULL;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return "a conditional node, and a graph with one cannot be copied";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return "an allocation or a free, which would be done once a round";
    default:
        return way == GPH_LOOP_HOST
                   ? NULL
                   : "of a kind that the device cannot start, only the way of the host";
    }
}

static gph_status check_nodes(const gph_loop *loop, CUgraph graph, uint32_t depth,
                              gph_error *error);

static gph_status check_node(const gph_loop *loop, CUgraphNode node, size_t index,
                             uint32_t depth, gph_error *error)
{
    const gphi_cuda_table *cu = &loop->runtime->cu;
    CUgraphNodeType type;
    CUgraph child = NULL;
    GPHI_TRY(gphi_loop_check(loop, cu->cuGraphNodeGetType(node, &type),
                             "cuGraphNodeGetType", error));
    const char *why = refusal(loop->way, type);
    if (why) {
        char what[160];
        gphi_node_describe(loop->runtime, node, index, NULL, what, sizeof(what));
        gphi_fail(error, GPH_E_UNSUPPORTED, "loop %s by way of %s: %s of its body is %s",
                  loop->name, gph_loop_way_name(loop->way), what, why);
        if (error) {
            error->has_node = 1;
            error->node = (int64_t)index;
        }
        return GPH_E_UNSUPPORTED;
    }
    if (type != CU_GRAPH_NODE_TYPE_GRAPH)
        return GPH_OK;
    GPHI_TRY(gphi_loop_check(loop, cu->cuGraphChildGraphNodeGetGraph(node, &child),
                             "cuGraphChildGraphNodeGetGraph", error));
    return check_nodes(loop, child, depth + 1, error);
}

static gph_status check_nodes(const gph_loop *loop, CUgraph graph, uint32_t depth,
                              gph_error *error)
{
    gphi_vec nodes;
    if (depth > GPH_GRAPH_DEPTH_MAX)
        return gphi_fail(error, GPH_E_INVALID, "loop %s: child graphs deeper than %d",
                         loop->name, GPH_GRAPH_DEPTH_MAX);
    gphi_vec_init(&nodes, loop->runtime->heap, sizeof(CUgraphNode));
    gph_status status = gphi_nodes_read(loop->runtime, graph, &nodes, error);
    for (size_t i = 0; i < nodes.count && status == GPH_OK; i++)
        status =
            check_node(loop, *(CUgraphNode *)gphi_vec_at(&nodes, i), i, depth, error);
    gphi_vec_fini(&nodes);
    return status;
}

/* ---- in a capture ---- */

static gph_status read_capture(const gph_loop *loop, CUstream stream,
                               gphi_capture_info *info, gph_error *error)
{
    GPHI_TRY(gphi_loop_check(loop,
                             gphi_capture_info_read(&loop->runtime->cu, stream, info),
                             "cuStreamGetCaptureInfo", error));
    return info->graph
               ? GPH_OK
               : gphi_fail(error, GPH_E_STATE,
                           "loop %s: stream %p is not captured, or its capture has "
                           "failed",
                           loop->name, (void *)stream);
}

/* The kernel that begins it is captured, and joins what the stream had; the nodes follow it,
 * and the stream goes on after them. */
static gph_status capture_rounds(struct build *b, CUstream stream)
{
    const gph_loop *loop = b->loop;
    const gphi_cuda_table *cu = &loop->runtime->cu;
    loop_plan plan = loop->plan;
    CUgraphConditionalHandle many = 0, one = 0;
    void *arguments[] = {&plan, &many, &one};
    gphi_capture_info info = {0};
    if (plan.many > 1)
        GPHI_TRY(create_handle(b, &many));
    GPHI_TRY(create_handle(b, &one));
    GPHI_TRY(check(b,
                   cu->cuLaunchKernel(loop->own->functions[GPHI_LOOP_WHILE_BEGIN], 1, 1,
                                      1, 1, 1, 1, 0, stream, arguments, NULL),
                   "cuLaunchKernel"));
    GPHI_TRY(read_capture(loop, stream, &info, b->error));
    b->last = info.dependencies[0];
    GPHI_TRY(add_rounds(b, many, one));
    return check(b,
                 cu->cuStreamUpdateCaptureDependencies(
                     stream, &b->last, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES),
                 "cuStreamUpdateCaptureDependencies");
}

gph_status gph_loop_capture(gph_loop *loop, CUgraph body, CUstream stream,
                            gph_error *error)
{
    gphi_capture_info info = {0};
    GPHI_TRY(gphi_need(error, loop, body));
    if (loop->way != GPH_LOOP_WHILE || loop->before || loop->options.sentinel)
        return gphi_fail(error, GPH_E_UNSUPPORTED,
                         "loop %s: %s cannot be in a graph of others", loop->name,
                         loop->way != GPH_LOOP_WHILE ? "rounds by another way than WHILE"
                         : loop->before              ? "options.before"
                                                     : "options.sentinel");
    GPHI_TRY(check_nodes(loop, body, 0, error));
    GPHI_TRY(read_capture(loop, stream, &info, error));
    struct build b = {.loop = loop, .body = body, .graph = info.graph, .error = error};
    return capture_rounds(&b, stream);
}

/* ---- all of them ---- */

void gphi_loop_execs_destroy(gphi_loop_execs *execs)
{
    gph_exec_destroy(execs->start);
    gph_exec_destroy(execs->many);
    gph_exec_destroy(execs->one);
    *execs = (gphi_loop_execs){0};
}

/* The body has its sentinels while it is copied into the rounds. */
static gph_status build_marked(gph_loop *loop, CUgraph body, gphi_loop_execs *execs,
                               gph_error *error)
{
    gphi_marks *marks = NULL;
    if (loop->options.sentinel)
        GPHI_TRY(gphi_loop_mark(loop, body, &marks, error));
    gph_status status = loop->way == GPH_LOOP_WHILE
                            ? build_while(loop, body, execs, error)
                            : build_rounds(loop, body, execs, error);
    if (!marks)
        return status;
    const CUresult left = marks->ops->leave(marks, NULL, 0);
    if (status == GPH_OK && left != CUDA_SUCCESS)
        status = gphi_cuda_fail(error, (gph_status)left, "cuGraphDestroyNode",
                                "taking sentinels out of graph %p", (void *)body);
    if (status != GPH_OK) {
        marks->ops->destroy(marks);
        return status;
    }
    gph_exec *start = execs->start;
    start->sentinel = loop->options.sentinel;
    start->marks = marks;
    start->launches = marks->launches;
    marks->ops->keep(marks, start->handle);
    return GPH_OK;
}

gph_status gphi_loop_build(gph_loop *loop, CUgraph body, gphi_loop_execs *out,
                           gph_error *error)
{
    gphi_loop_execs execs = {0};
    GPHI_TRY(check_nodes(loop, body, 0, error));
    const gph_status status = build_marked(loop, body, &execs, error);
    if (status != GPH_OK)
        gphi_loop_execs_destroy(&execs);
    else
        *out = execs;
    return status;
}
