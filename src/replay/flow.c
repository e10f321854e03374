// SPDX-License-Identifier: Apache-2.0
/* Captured control flow: the stream leaves the graph that it was captured into, a
 * conditional node is added after what it had, and the stream is captured into the node's
 * body; at the end it goes on in the graph after the node.
 *
 *   capture:   a   if ( c   while ( e )   d )   b
 *   captured   root   body 0    body 0.0  body 0   root
 *
 * So each body is a capture of the driver's own, in the caller's stream. To a pool they
 * are segments, one after the other, which lets branches share what they free. */
#include "replay/flow.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "cuda/status.h"
#include "memory/rounds.h"

#include <stdio.h>
#include <string.h>

/* Drivers with IF of two bodies and SWITCH: CUDA 12.8. */
enum { VERSION_FORMS = 12080, CASES_MAX = 1024 };

/* ---- words ---- */

static const char *const kind_names[] = {"the IF", "the loop", "the choice"};

static void say_flow(const gph_capture *capture, const gphi_flow *flow, char *out,
                     size_t bytes)
{
    const char *region = gphi_flow_region(capture->recording, flow);
    snprintf(out, bytes, "%s%s%.80s", kind_names[flow->kind], region ? " of region " : "",
             region ? region : "");
}

void gphi_flow_place(const gph_capture *capture, gph_error *error)
{
    if (capture->flows.count == 0)
        return;
    const gphi_flow_open *open = gphi_vec_at(&capture->flows, capture->flows.count - 1);
    const gphi_flow *flow = gphi_flow_at(capture->recording, open->flow);
    char name[120];
    say_flow(capture, flow, name, sizeof(name));
    gphi_fail_in(error, "body %u of %s: ", (unsigned)open->at, name);
}

gph_status gphi_flow_check_closed(const gph_capture *capture, const char *what,
                                  gph_error *error)
{
    if (capture->flows.count == 0)
        return GPH_OK;
    const gphi_flow_open *open = gphi_vec_at(&capture->flows, capture->flows.count - 1);
    char name[120];
    say_flow(capture, gphi_flow_at(capture->recording, open->flow), name, sizeof(name));
    gphi_fail(error, GPH_E_STATE, "%s of stream %p: %s is open", what,
              (void *)capture->stream, name);
    gphi_hint(error, "close it with gph_capture_flow_end()");
    return GPH_E_STATE;
}

static gph_status set_reason(const gph_capture *capture, gphi_flow *flow,
                             const char *text, gph_error *error)
{
    char name[120];
    say_flow(capture, flow, name, sizeof(name));
    gphi_log("capture", GPH_LOG_INFO, "stream %p: %s: %s", (void *)capture->stream, name,
             text);
    flow->reason = gphi_heap_text(capture->runtime->heap, text);
    return gphi_made(error, flow->reason, "the reason of a branch");
}

/* ---- leaving a graph, and going on in one ---- */

/* All that can fail from here on leaves the stream out of capture. */
static gph_status broken(gph_capture *capture, gph_status status, gph_error *error)
{
    gphi_flow_place(capture, error);
    capture->state = GPHI_CAPTURE_BROKEN;
    return status;
}

/* As broken(), of a capture of the driver's that is still going on. */
static gph_status drop(gph_capture *capture, gph_status status, gph_error *error)
{
    gphi_cause_add(capture, error);
    gphi_segment_drop(capture);
    return broken(capture, status, error);
}

static gphi_flow_open *innermost(const gph_capture *capture)
{
    return gphi_vec_at(&capture->flows, capture->flows.count - 1);
}

/* What was around a body is what is captured again. */
static void leave(gph_capture *capture, const gphi_flow_open *open)
{
    gphi_vec_fini(&capture->current.regions);
    gphi_vec_fini(&capture->nodes);
    capture->current = open->outer;
    capture->nodes = open->outer_nodes;
}

void gphi_flow_unwind(gph_capture *capture)
{
    const bool was_open = capture->flows.count > 0;
    while (capture->flows.count > 0) {
        const gphi_flow_open *open = innermost(capture);
        if (!open->is_inline && !open->is_host)
            leave(capture, open);
        capture->flows.count--;
    }
    if (was_open && capture->pool)
        gphi_pool_loop(capture->pool, 0);
}

static gph_status enter_graph(gph_capture *capture, CUgraph graph, CUgraphNode after,
                              gph_error *error)
{
    const CUresult result = gphi_segment_begin(capture, graph, after);
    if (result == CUDA_SUCCESS)
        return GPH_OK;
    return broken(
        capture, gphi_capture_fail(capture, result, "cuStreamBeginCaptureToGraph", error),
        error);
}

/* A branch in line: the capture goes on. */
static gph_status close_inline(gph_capture *capture, gphi_flow_open *open,
                               gph_error *error)
{
    size_t count = 0;
    gphi_flow *flow = gphi_flow_at(capture->recording, open->flow);
    const gph_status status = gphi_flagged_check(capture, open->first, &count, error);
    if (status != GPH_OK)
        return drop(capture, status, error);
    flow->bodies[open->at].count = (uint32_t)(count - open->first);
    open->first = count;
    return GPH_OK;
}

/* Ends the capture into a body; its regions are kept beside it. */
static gph_status close_body(gph_capture *capture, gph_error *error)
{
    gphi_flow_open *open = innermost(capture);
    if (open->is_inline)
        return close_inline(capture, open, error);
    if (open->is_host) {
        const gph_status closed = gphi_host_close(capture, open, error);
        return closed == GPH_OK ? GPH_OK : broken(capture, closed, error);
    }
    gphi_flow *flow = gphi_flow_at(capture->recording, open->flow);
    gphi_flow_body *body = &flow->bodies[open->at];
    if (flow->kind == GPH_FLOW_WHILE) {
        const gph_status status =
            gphi_condition_set(capture, &open->condition, flow, error);
        if (status != GPH_OK)
            return drop(capture, status, error);
    }
    gph_status status = gphi_segment_end(capture, error);
    if (status != GPH_OK)
        return broken(capture, status, error);
    gphi_vec_fini(&body->regions);
    body->regions = capture->current.regions;
    gphi_vec_init(&capture->current.regions, capture->runtime->heap, sizeof(uint32_t));
    capture->nodes.count = 0;
    status = gphi_body_check(capture, body, error);
    return status == GPH_OK ? GPH_OK : broken(capture, status, error);
}

static gph_status open_body(gph_capture *capture, uint32_t index, gph_error *error)
{
    gphi_flow_open *open = gphi_vec_at(&capture->flows, capture->flows.count - 1);
    const gphi_flow *flow = gphi_flow_at(capture->recording, open->flow);
    open->at = index;
    if (open->is_host)
        gphi_host_open_body(capture, open);
    if (open->is_inline || open->is_host)
        return GPH_OK;
    GPHI_TRY(enter_graph(capture, flow->bodies[index].graph, NULL, error));
    if (flow->kind != GPH_FLOW_IF || flow->way != GPH_FLOW_NODES || index > 0)
        return GPH_OK;
    const gph_status status =
        gphi_condition_put(capture, flow->bodies[1].handle, 0, error);
    return status == GPH_OK ? GPH_OK : drop(capture, status, error);
}

/* ---- nodes ---- */

static gph_status add_node(gph_capture *capture, gphi_flow *flow, uint32_t first,
                           const gphi_capture_info *after, gph_error *error)
{
    const bool has_all = flow->way == GPH_FLOW_NODE;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = flow->bodies[first].handle;
    params.conditional.type =
        has_all ? (CUgraphConditionalNodeType)flow->kind : CU_GRAPH_COND_TYPE_IF;
    params.conditional.size = has_all ? flow->count : 1;
    params.conditional.ctx = capture->recording->setters->context;
    CUgraphNode node = NULL;
    const CUresult result = capture->runtime->cu.cuGraphAddNode(
        &node, after->graph, after->dependencies, after->edges, after->count, &params);
    if (result != CUDA_SUCCESS)
        return gphi_cuda_fail(error, (gph_status)result, "cuGraphAddNode",
                              "adding a conditional node of %u bodies to graph %p",
                              params.conditional.size, (void *)after->graph);
    for (uint32_t i = 0; i < params.conditional.size; i++) {
        flow->bodies[first + i].node = node;
        flow->bodies[first + i].graph = params.conditional.phGraph_out[i];
        flow->graphs[first + i] = params.conditional.phGraph_out[i];
    }
    return GPH_OK;
}

/* Nodes where one lacks the form wait for each other: only one of their bodies runs, and
 * what comes after waits for the last. */
static gph_status add_nodes(gph_capture *capture, gphi_flow *flow,
                            const gphi_capture_info *info, gph_error *error)
{
    GPHI_TRY(add_node(capture, flow, 0, info, error));
    for (uint32_t i = 1; i < flow->count && flow->way == GPH_FLOW_NODES; i++) {
        const gphi_capture_info after = {
            .graph = info->graph, .dependencies = &flow->bodies[i - 1].node, .count = 1};
        GPHI_TRY(add_node(capture, flow, i, &after, error));
    }
    return GPH_OK;
}

static gph_status make_handles(gph_capture *capture, const gphi_flow *flow, CUgraph graph,
                               gph_error *error)
{
    const CUcontext context = capture->recording->setters->context;
    const uint32_t count = flow->way == GPH_FLOW_NODES ? flow->count : 1;
    for (uint32_t i = 0; i < count; i++) {
        CUgraphConditionalHandle handle = 0;
        GPHI_TRY(
            gphi_cuda_check(error,
                            capture->runtime->cu.cuGraphConditionalHandleCreate(
                                &handle, graph, context, 0, CU_GRAPH_COND_ASSIGN_DEFAULT),
                            "cuGraphConditionalHandleCreate", "graph %p", (void *)graph));
        flow->bodies[i].handle = handle;
    }
    return GPH_OK;
}

/* What the driver says of the captured stream, kept beyond the end of the capture. */
static gph_status read_ends(const gph_capture *capture, gphi_capture_info *out,
                            gphi_vec *nodes, gphi_vec *edges, gph_error *error)
{
    GPHI_TRY(gphi_cuda_check(
        error, gphi_capture_info_read(&capture->runtime->cu, capture->stream, out),
        "cuStreamGetCaptureInfo", "stream %p", (void *)capture->stream));
    if (out->count == 0)
        return GPH_OK;
    CUgraphNode *to = gphi_vec_add(nodes, out->count);
    CUgraphEdgeData *data = gphi_vec_add(edges, out->count);
    GPHI_TRY(gphi_made(error, to && data, "%zu ends of a stream", out->count));
    memcpy(to, out->dependencies, out->count * sizeof(*to));
    if (out->edges)
        memcpy(data, out->edges, out->count * sizeof(*data));
    out->dependencies = to;
    out->edges = data;
    return GPH_OK;
}

/* ---- beginning ---- */

/* Leaves the graph with the kernels that decide, and adds the nodes after them. */
static gph_status leave_graph(gph_capture *capture, gphi_flow_open *open, gphi_vec *nodes,
                              gphi_vec *edges, gph_error *error)
{
    gphi_flow *flow = gphi_flow_at(capture->recording, open->flow);
    gphi_capture_info info = {0};
    gph_status status = gphi_region_sync(capture, error);
    GPHI_THEN(status, gphi_join_streams(capture, error));
    GPHI_THEN(status,
              gphi_cuda_check(
                  error,
                  gphi_capture_info_read(&capture->runtime->cu, capture->stream, &info),
                  "cuStreamGetCaptureInfo", "stream %p", (void *)capture->stream));
    if (info.graph) { /* else it is invalid, and its end says why */
        GPHI_THEN(status, make_handles(capture, flow, info.graph, error));
        GPHI_THEN(status, gphi_condition_set(capture, &open->condition, flow, error));
    }
    GPHI_THEN(status, read_ends(capture, &info, nodes, edges, error));
    if (status != GPH_OK)
        return drop(capture, status, error);
    status = gphi_segment_end(capture, error);
    if (status == GPH_OK) {
        info.graph = capture->current.graph;
        status = add_nodes(capture, flow, &info, error);
    }
    return status == GPH_OK ? GPH_OK : broken(capture, status, error);
}

/* What is around it waits; nothing of it can fail. */
static void push(gph_capture *capture, const gphi_flow_open *open)
{
    gphi_flow_open *place = gphi_vec_add(&capture->flows, 1); /* room was made */
    *place = *open;
    place->outer = capture->current;
    place->outer_nodes = capture->nodes;
    capture->current = (gphi_segment){.graph = NULL};
    gphi_vec_init(&capture->current.regions, capture->runtime->heap, sizeof(uint32_t));
    gphi_vec_init(&capture->nodes, capture->runtime->heap, sizeof(CUgraphNode));
}

/* One kernel sets the flags; the branches follow it where it is. */
static gph_status begin_inline(gph_capture *capture, gphi_flow_open *open,
                               gph_error *error)
{
    gph_status status = gphi_condition_flag(capture, &open->condition, error);
    GPHI_THEN(status, gphi_flagged_check(capture, SIZE_MAX, &open->first, error));
    if (status != GPH_OK)
        return drop(capture, status, error);
    *(gphi_flow_open *)gphi_vec_add(&capture->flows, 1) = *open; /* room was made */
    return GPH_OK;
}

/* The graph ends; the branches are graphs of their own. */
static gph_status begin_host(gph_capture *capture, gphi_flow_open *open, gph_error *error)
{
    gphi_flow_at(capture->recording, open->flow)->condition = open->condition;
    open->is_host = true;
    GPHI_TRY(gphi_host_begin(capture, open, error));
    *(gphi_flow_open *)gphi_vec_add(&capture->flows, 1) = *open; /* room was made */
    return open_body(capture, 0, error);
}

static gph_status begin_flow(gph_capture *capture, gphi_flow_open *open, gph_error *error)
{
    gphi_vec nodes, edges;
    gphi_vec_init(&nodes, capture->runtime->heap, sizeof(CUgraphNode));
    gphi_vec_init(&edges, capture->runtime->heap, sizeof(CUgraphEdgeData));
    const gph_status status = leave_graph(capture, open, &nodes, &edges, error);
    gphi_vec_fini(&edges);
    gphi_vec_fini(&nodes);
    GPHI_TRY(status);
    push(capture, open);
    return open_body(capture, 0, error);
}

/* Which way this driver takes it. */
static gph_status choose_way(const gph_capture *capture, gphi_flow *flow,
                             const gph_condition *condition, gph_error *error)
{
    const gph_driver_info *info = &capture->runtime->info;
    const int major = info->version / 1000, minor = info->version % 1000 / 10;
    char reason[200];
    if (condition->flags != 0) {
        flow->way = GPH_FLOW_FLAGS;
        return GPH_OK;
    }
    if (!gphi_cuda_has(&capture->runtime->cu, cuGraphConditionalHandleCreate)) {
        flow->way = GPH_FLOW_HOST;
        GPHI_TRY(gphi_host_check(capture, condition, error));
        snprintf(
            reason, sizeof(reason),
            "the driver (CUDA %d.%d, before 12.3) has no conditional nodes: the host "
            "waits for the value and chooses the next graph",
            major, minor);
        return set_reason(capture, flow, reason, error);
    }
    flow->way = GPH_FLOW_NODE;
    if (info->version >= VERSION_FORMS ||
        (flow->kind != GPH_FLOW_SWITCH && flow->count == 1))
        return GPH_OK;
    flow->way = GPH_FLOW_NODES;
    if (flow->kind == GPH_FLOW_SWITCH && condition->kind == GPH_CONDITION_KERNEL)
        return gphi_fail(error, GPH_E_UNSUPPORTED,
                         "the driver (CUDA %d.%d, before 12.8) has no SWITCH nodes, and "
                         "the value that a kernel sets cannot be read: give a word",
                         major, minor);
    snprintf(reason, sizeof(reason),
             "the driver (CUDA %d.%d, before 12.8) has no %s: %u IF nodes replace it",
             major, minor, flow->kind == GPH_FLOW_IF ? "ELSE" : "SWITCH nodes",
             (unsigned)flow->count);
    return set_reason(capture, flow, reason, error);
}

/* The recording has it from here on; what is not captured is taken out again. */
static gph_status prepare(gph_capture *capture, gph_flow_kind kind, uint32_t count,
                          gphi_flow_open *open, gph_error *error)
{
    gph_recording *recording = capture->recording;
    const gph_allocator heap = capture->runtime->heap;
    const gphi_vec *regions = &capture->region_stack;
    gphi_flow flow = {.kind = kind,
                      .depth = (uint32_t)capture->flows.count,
                      .segment = (uint32_t)recording->segments.count};
    if (regions->count > 0)
        flow.region = *(uint32_t *)gphi_vec_at(regions, regions->count - 1);
    GPHI_TRY(gphi_made(error,
                       gphi_vec_reserve(&recording->flows, 1) == GPH_OK &&
                           gphi_vec_reserve(&capture->flows, 1) == GPH_OK &&
                           gphi_flow_init(&flow, heap, count) == GPH_OK,
                       "capturing %s with %u bodies", kind_names[kind], (unsigned)count));
    gph_status status = choose_way(capture, &flow, &open->condition, error);
    if (status == GPH_OK && flow.way != GPH_FLOW_HOST && !recording->setters)
        status = gphi_kernels_retain(capture->runtime, &gphi_setter_text,
                                     &recording->setters, error);
    if (status != GPH_OK) {
        gphi_flow_fini(&flow, heap);
        return status;
    }
    open->flow = (uint32_t)recording->flows.count;
    *(gphi_flow *)gphi_vec_add(&recording->flows, 1) = flow;
    return GPH_OK;
}

static gph_status begin(gph_capture *capture, const gph_condition *condition,
                        gph_flow_kind kind, uint32_t count, gph_error *error)
{
    gphi_flow_open open = {.at = 0};
    GPHI_TRY(gphi_capture_check(capture, error));
    GPHI_TRY(gphi_condition_read(condition, kind, &open.condition, error));
    if (capture->flows.count > 0 && innermost(capture)->is_inline)
        return gphi_fail(
            error, GPH_E_STATE,
            "stream %p: a branch with flags is open, which can hold only kernels",
            (void *)capture->stream);
    open.is_inline = open.condition.flags != 0;
    GPHI_TRY(prepare(capture, kind, count, &open, error));
    if (gphi_flow_at(capture->recording, open.flow)->way == GPH_FLOW_HOST)
        return begin_host(capture, &open, error);
    return open.is_inline ? begin_inline(capture, &open, error)
                          : begin_flow(capture, &open, error);
}

gph_status gph_capture_if(gph_capture *capture, const gph_condition *condition,
                          uint32_t branches, gph_error *error)
{
    if (branches != 1 && branches != 2)
        return gphi_fail(error, GPH_E_INVALID, "an IF has 1 branch or 2, not %u",
                         (unsigned)branches);
    return begin(capture, condition, GPH_FLOW_IF, branches, error);
}

gph_status gph_capture_while(gph_capture *capture, const gph_condition *condition,
                             gph_error *error)
{
    GPHI_TRY(begin(capture, condition, GPH_FLOW_WHILE, 1, error));
    gphi_flow_open *open = gphi_vec_at(&capture->flows, capture->flows.count - 1);
    if (capture->pool)
        open->outer_loop = gphi_pool_loop(capture->pool, GPHI_LOOP_HERE);
    return GPH_OK;
}

gph_status gph_capture_switch(gph_capture *capture, const gph_condition *condition,
                              uint32_t count, gph_error *error)
{
    if (count == 0 || count > CASES_MAX)
        return gphi_fail(error, GPH_E_INVALID, "a choice has 1 to %d cases, not %u",
                         CASES_MAX, (unsigned)count);
    return begin(capture, condition, GPH_FLOW_SWITCH, count, error);
}

/* ---- the next body, and the end ---- */

static gph_status find_open(const gph_capture *capture, gphi_flow_open **out,
                            gph_error *error)
{
    GPHI_TRY(gphi_capture_check(capture, error));
    if (capture->flows.count == 0)
        return gphi_fail(error, GPH_E_STATE,
                         "nothing of stream %p is open: no IF, loop "
                         "or choice",
                         (void *)capture->stream);
    *out = gphi_vec_at(&capture->flows, capture->flows.count - 1);
    return GPH_OK;
}

static gph_status next(gph_capture *capture, uint32_t index, gph_error *error)
{
    GPHI_TRY(close_body(capture, error));
    return open_body(capture, index, error);
}

gph_status gph_capture_else(gph_capture *capture, gph_error *error)
{
    gphi_flow_open *open = NULL;
    GPHI_TRY(find_open(capture, &open, error));
    const gphi_flow *flow = gphi_flow_at(capture->recording, open->flow);
    if (flow->kind != GPH_FLOW_IF || open->at != 0 || flow->count != 2)
        return gphi_fail(error, GPH_E_STATE, "%s that is open in stream %p has %s",
                         kind_names[flow->kind], (void *)capture->stream,
                         flow->kind != GPH_FLOW_IF ? "no else"
                         : flow->count == 2        ? "its else already"
                                                   : "1 branch: gph_capture_if() was not "
                                                     "given 2");
    return next(capture, 1, error);
}

gph_status gph_capture_case(gph_capture *capture, uint32_t index, gph_error *error)
{
    gphi_flow_open *open = NULL;
    GPHI_TRY(find_open(capture, &open, error));
    const gphi_flow *flow = gphi_flow_at(capture->recording, open->flow);
    if (flow->kind != GPH_FLOW_SWITCH)
        return gphi_fail(error, GPH_E_STATE, "%s that is open in stream %p has no cases",
                         kind_names[flow->kind], (void *)capture->stream);
    if (index <= open->at || index >= flow->count)
        return gphi_fail(error, GPH_E_STATE,
                         "case %u: case %u is open, and there are %u from 0",
                         (unsigned)index, (unsigned)open->at, (unsigned)flow->count);
    return next(capture, index, error);
}

/* A branch of a GPU costs what some ten small kernels do, a round of a loop what four do:
 * docs/measurements.md. */
static gph_status advise(const gph_capture *capture, gphi_flow *flow, gph_error *error)
{
    char text[200];
    const uint32_t largest = gphi_flow_largest(flow);
    const uint32_t worth = flow->kind == GPH_FLOW_WHILE ? 4 : 10;
    if (flow->reason || largest >= worth || flow->way == GPH_FLOW_FLAGS)
        return GPH_OK;
    snprintf(text, sizeof(text),
             flow->kind == GPH_FLOW_WHILE
                 ? "a round costs a GPU what %u small kernels cost, and the body has %u "
                   "nodes: several steps in a body cost less"
                 : "a branch costs a GPU what some %u small kernels cost, and no body "
                   "has more than %u nodes: kernels that take a flag (condition.flags) "
                   "cost less",
             (unsigned)worth, (unsigned)largest);
    return set_reason(capture, flow, text, error);
}

gph_status gph_capture_flow_end(gph_capture *capture, gph_error *error)
{
    gphi_flow_open *open = NULL;
    GPHI_TRY(find_open(capture, &open, error));
    gphi_flow *flow = gphi_flow_at(capture->recording, open->flow);
    GPHI_TRY(close_body(capture, error));
    const gph_status status = advise(capture, flow, error);
    if (status != GPH_OK)
        return broken(capture, status, error);

    if (open->is_inline) {
        capture->flows.count--;
        return GPH_OK;
    }
    const CUgraphNode last = flow->bodies[flow->count - 1].node;
    if (open->is_host)
        gphi_host_end(capture, open);
    else
        leave(capture, open);
    capture->flows.count--;
    if (flow->kind == GPH_FLOW_WHILE && capture->pool)
        gphi_pool_loop(capture->pool, open->outer_loop);
    if (open->is_host)
        return gphi_region_sync(capture, error);
    GPHI_TRY(enter_graph(capture, capture->current.graph, last, error));
    return gphi_region_sync(capture, error);
}
