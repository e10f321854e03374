// SPDX-License-Identifier: Apache-2.0
/* Graphs as they were at some moment, executables, captures. */
#include "base/fail.h"
#include "cuda/abi.h"
#include "doctor/findings/stacks.h"
#include "doctor/language/language.h"
#include "report/report.h"

#include <stdio.h>
#include <string.h>

/* A program may capture a graph a step: more than these are counted, not drawn. */
enum { GRAPHS_MAX = 512, NODES_MAX = 100000, GRAPH_NODES_MAX = 20000, COMPARED_MAX = 64 };

/* Where the capture began that a graph comes of, found by its id or by the graph it
 * returned. */
static uint32_t stack_of_capture(const gph_report *report, uint64_t graph, uint64_t id)
{
    const size_t count = report->captures.count;
    for (size_t i = count; i-- > 0 && i + 1024 > count;) {
        const report_capture *capture = gphi_vec_at(&report->captures, i);
        if ((id != 0 && capture->id == id) ||
            (!capture->is_open && capture->graph == graph))
            return capture->stack;
    }
    return 0;
}

/* A snapshot is announced, then come its nodes in order of their index, then the edges.
 * */
gph_status gphi_report_graph(gph_report *report, const gphi_event *event)
{
    if (report->graphs.count >= GRAPHS_MAX)
        return GPH_OK;
    report_graph *graph = gphi_vec_add(&report->graphs, 1);
    if (!graph)
        return GPH_E_NO_MEMORY;
    *graph = (report_graph){.number = gphi_event_word(event, 0),
                            .handle = event->id,
                            .node_count = (uint32_t)gphi_event_word(event, 1),
                            .why = (uint32_t)gphi_event_word(event, 3)};
    gphi_vec_init(&graph->nodes, report->heap, sizeof(report_node));
    gphi_vec_init(&graph->edges, report->heap, sizeof(report_edge));
    graph->stack = stack_of_capture(report, event->id, gphi_event_word(event, 7));
    if (graph->why != GPHI_SNAPSHOT_CHILD)
        GPHI_TRY(gphi_map_set(&report->newest, event->thread, report->graphs.count));
    return gphi_map_set(&report->graph_map, gphi_report_key(report, graph->number),
                        report->graphs.count);
}

static report_graph *graph_of(const gph_report *report, uint64_t number)
{
    const uint64_t *at =
        gphi_map_get(&report->graph_map, gphi_report_key(report, number));
    return !at ? NULL : gphi_vec_at(&report->graphs, *at - 1);
}

/* What the driver's parameter struct says, or NULL where it is too short. */
static const void *params_of(const gphi_event *event, size_t bytes)
{
    const gphi_part *part = gphi_event_part(event, GPHI_PART_STRUCT, 0);
    return part && part->bytes >= bytes ? part + 1 : NULL;
}

/* Bytes that a node moves, fills or allocates; 0: it does none of it. */
static uint64_t bytes_of(const gphi_event *event, uint32_t kind)
{
    if (kind == GPH_NODE_MEMCPY) {
        const CUDA_MEMCPY3D *copy = params_of(event, sizeof(*copy));
        return !copy ? 0 : copy->WidthInBytes * copy->Height * copy->Depth;
    }
    if (kind == GPH_NODE_MEMSET) {
        const CUDA_MEMSET_NODE_PARAMS *fill = params_of(event, sizeof(*fill));
        return !fill ? 0 : fill->width * fill->elementSize * fill->height;
    }
    if (kind == GPH_NODE_MEM_ALLOC) {
        const CUDA_MEM_ALLOC_NODE_PARAMS *alloc = params_of(event, sizeof(*alloc));
        return !alloc ? 0 : alloc->bytesize;
    }
    return 0;
}

/* What the page says of a node besides its kind: "24x2 of 128" is grid and threads of a
 * block. */
static void describe(gph_report *report, report_node *node, const gphi_event *event,
                     report_graph *graph)
{
    const uint64_t *words = gphi_event_words(event) + GPHI_NODE_FUNCTION;
    if (node->kind == GPH_NODE_KERNEL && event->word_count >= GPHI_NODE_FUNCTION + 7) {
        const uint32_t function = gphi_report_function(report, words[0]);
        node->function = function + 1;
        const uint32_t grid[] = {(uint32_t)words[1], (uint32_t)words[2],
                                 (uint32_t)words[3]};
        const uint32_t block[] = {(uint32_t)words[4], (uint32_t)words[5],
                                  (uint32_t)words[6]};
        int at = snprintf(node->detail, sizeof(node->detail), "%u", grid[0]);
        for (int i = 1; i < 3 && grid[1] * grid[2] > 1 && at < 20; i++)
            if (i == 1 || grid[2] > 1)
                at += snprintf(node->detail + at, sizeof(node->detail) - (size_t)at,
                               "x%u", grid[i]);
        snprintf(node->detail + at, sizeof(node->detail) - (size_t)at, " of %u",
                 block[0] * block[1] * block[2]);
        return;
    }
    const uint64_t bytes = bytes_of(event, node->kind);
    if (bytes > 0)
        gphi_report_say_bytes(node->detail, sizeof(node->detail), bytes);
    if (node->kind == GPH_NODE_MEM_ALLOC)
        graph->bytes += bytes;
}

/* Limits keep a run of many graphs drawable: what is beyond them is counted only. */
gph_status gphi_report_node(gph_report *report, const gphi_event *event)
{
    report_graph *graph = graph_of(report, gphi_event_word(event, GPHI_NODE_SNAPSHOT));
    if (!graph || report->kept_nodes >= NODES_MAX ||
        graph->nodes.count >= GRAPH_NODES_MAX ||
        gphi_event_word(event, GPHI_NODE_INDEX) != graph->nodes.count)
        return GPH_OK; /* the first ones are kept; edges to others are left out */
    report_node *node = gphi_vec_add(&graph->nodes, 1);
    if (!node)
        return GPH_E_NO_MEMORY;
    report->kept_nodes++;
    node->handle = event->id;
    node->kind = (uint32_t)gphi_event_word(event, GPHI_NODE_TYPE);
    const uint64_t key = gphi_report_key(report, event->id);
    const uint64_t *made = gphi_map_get(&report->nodes, key);
    const uint64_t *stack = gphi_map_get(&report->node_stacks, key);
    node->made = !made ? 0 : *made;
    node->stack = !stack ? 0 : (uint32_t)*stack;
    describe(report, node, event, graph);
    return GPH_OK;
}

/* Edges to nodes beyond the limit have nothing to be drawn to. */
gph_status gphi_report_edges(gph_report *report, const gphi_event *event)
{
    report_graph *graph = graph_of(report, event->id);
    if (!graph)
        return GPH_OK;
    const uint64_t *words = gphi_event_words(event);
    for (uint32_t i = 0; i + 1 < event->word_count; i += 2) {
        const uint32_t from = (uint32_t)(words[i] >> 32), to = (uint32_t)words[i];
        if (from >= graph->nodes.count || to >= graph->nodes.count || from == to)
            continue;
        CUgraphEdgeData data;
        memcpy(&data, &words[i + 1], sizeof(data));
        const report_edge edge = {from, to, data.type != 0};
        GPHI_TRY(gphi_vec_push(&graph->edges, &edge));
    }
    return GPH_OK;
}

/* ---- captures ---- */

static gph_status begin_capture(gph_report *report, const gphi_event *event,
                                const report_call *call)
{
    if (event->u.call.result != 0 || call->stream == 0)
        return GPH_OK;
    const report_capture capture = {.id = event->u.call.capture,
                                    .begin_ns = event->time_ns,
                                    .thread = call->thread,
                                    .stream = call->stream - 1U,
                                    .stack = event->stack,
                                    .is_open = true};
    GPHI_TRY(gphi_vec_push(&report->captures, &capture));
    return gphi_map_set(&report->capture_map, gphi_report_key(report, capture.id),
                        report->captures.count);
}

/* The newest that is open on the stream: an invalidated one is ended by the same call. */
static void end_capture(gph_report *report, const gphi_event *event,
                        const report_call *call)
{
    for (size_t i = report->captures.count; i-- > 0;) {
        report_capture *capture = gphi_vec_at(&report->captures, i);
        if (!capture->is_open || capture->stream + 1 != call->stream)
            continue;
        capture->is_open = false;
        capture->end_ns = event->time_ns + event->u.call.duration_ns;
        capture->is_bad = event->u.call.result != 0;
        capture->graph = gphi_event_word(event, 1);
        return;
    }
}

/* Remembers who made a node, for the snapshots that come. */
static gph_status note_node(gph_report *report, const gphi_event *event,
                            const report_call *call)
{
    uint64_t node = event->id;
    if (node == 0 && strncmp(gphi_call_name(call->call), "cuGraphAdd", 10) == 0)
        node = gphi_event_word(event, 0);
    if (node == 0 || event->u.call.result != 0)
        return GPH_OK;
    const uint64_t key = gphi_report_key(report, node);
    GPHI_TRY(gphi_map_set(&report->nodes, key, call->number));
    GPHI_TRY(gphi_map_set(&report->node_stacks, key, event->stack));
    const uint64_t *at = gphi_map_get(&report->capture_map,
                                      gphi_report_key(report, event->u.call.capture));
    if (event->u.call.capture != 0 && at)
        ((report_capture *)gphi_vec_at(&report->captures, *at - 1))->node_count++;
    return GPH_OK;
}

/* ---- executables ---- */

static uint32_t graph_shown(const gph_report *report, const gphi_event *event,
                            const gphi_seen *seen)
{
    if (seen && seen->exec && seen->exec->source) {
        const uint64_t *at = gphi_map_get(
            &report->graph_map, gphi_report_key(report, seen->exec->source->number));
        if (at)
            return (uint32_t)*at;
    }
    const uint64_t *newest = gphi_map_get(&report->newest, event->thread);
    return !newest ? 0 : (uint32_t)*newest;
}

/* A handle may be given again after its executable was destroyed: the map has the
 * newest. */
static gph_status make_exec(gph_report *report, const gphi_event *event,
                            const gphi_seen *seen, report_call *call)
{
    const uint64_t handle =
        seen && seen->exec ? seen->exec->handle : gphi_event_word(event, 0);
    if (event->u.call.result != 0 || handle == 0)
        return GPH_OK;
    const report_exec exec = {.handle = handle,
                              .from_ns = event->time_ns,
                              .graph = graph_shown(report, event, seen)};
    GPHI_TRY(gphi_vec_push(&report->execs, &exec));
    call->object = (uint32_t)report->execs.count;
    return gphi_map_set(&report->exec_map, gphi_report_key(report, handle),
                        report->execs.count);
}

/* Setters of node parameters count as updates, though the graph that is drawn stays. */
static void use_exec(gph_report *report, const gphi_event *event, const gphi_seen *seen,
                     report_call *call)
{
    const uint64_t *at = gphi_map_get(&report->exec_map,
                                      gphi_report_key(report, gphi_event_word(event, 0)));
    if (!at)
        return;
    call->object = (uint32_t)*at;
    report_exec *exec = gphi_vec_at(&report->execs, *at - 1);
    if (event->u.call.result != 0)
        return;
    switch (event->u.call.call) {
    case GPHI_CALL_cuGraphLaunch:
        exec->launches += !call->is_captured;
        exec->launch_ns += event->u.call.duration_ns;
        break;
    case GPHI_CALL_cuGraphExecUpdate:
        exec->updates++;
        exec->graph = graph_shown(report, event, seen);
        break;
    case GPHI_CALL_cuGraphExecDestroy:
        exec->to_ns = event->time_ns;
        gphi_map_remove(&report->exec_map, gphi_report_key(report, exec->handle));
        break;
    default:
        exec->updates += strstr(gphi_call_name(call->call), "SetParams") != NULL;
        break;
    }
}

/* By names, since there are some forty calls on executables. */
gph_status gphi_report_graph_call(gph_report *report, const gphi_event *event,
                                  const gphi_seen *seen, report_call *call)
{
    GPHI_TRY(note_node(report, event, call));
    switch (event->u.call.call) {
    case GPHI_CALL_cuStreamBeginCapture:
    case GPHI_CALL_cuStreamBeginCaptureToGraph: return begin_capture(report, event, call);
    case GPHI_CALL_cuStreamEndCapture: end_capture(report, event, call); return GPH_OK;
    default: break;
    }
    const char *name = gphi_call_name(call->call);
    if (strncmp(name, "cuGraphInstantiate", 18) == 0)
        return make_exec(report, event, seen, call);
    if (call->call == GPHI_CALL_cuGraphLaunch || call->call == GPHI_CALL_cuGraphUpload ||
        strncmp(name, "cuGraphExec", 11) == 0)
        use_exec(report, event, seen, call);
    return GPH_OK;
}

const gph_place *gphi_report_own_frame(const gph_report *report, uint32_t stack)
{
    uint32_t count = 0;
    const gph_place *frames = gphi_doctor_frames(report->doctor, stack, &count);
    for (uint32_t i = count > 0 ? gphi_stacks_own(NULL, frames, count) : 0; i < count;
         i++) {
        const char *module = !frames[i].module ? NULL : strrchr(frames[i].module, '/');
        if (frames[i].function && (!module || strncmp(module, "/libgph", 7) != 0))
            return &frames[i];
    }
    return NULL;
}

/* The stack of who captured it, or else put its first node in, from the program's own
 * function on. */
static const gph_place *makers_of(const gph_report *report, const report_graph *graph,
                                  uint32_t *count)
{
    uint32_t stack = graph->stack;
    if (stack == 0 && graph->nodes.count > 0)
        stack = ((const report_node *)gphi_vec_at(&graph->nodes, 0))->stack;
    const gph_place *frames = gphi_doctor_frames(report->doctor, stack, count);
    const gph_place *own = gphi_report_own_frame(report, stack);
    *count = own ? *count - (uint32_t)(own - frames) : 0;
    return own;
}

static bool is_named(const gph_place *frame, const char *function)
{
    return frame->function && function && strcmp(frame->function, function) == 0;
}

/* Whether another graph comes through this function from another caller: a helper, whose
 * name would be that of many graphs. */
static bool is_helper(const gph_report *report, const gph_place *frames)
{
    for (size_t i = 0; i < report->graphs.count && i < COMPARED_MAX; i++) {
        uint32_t count = 0;
        const gph_place *others =
            makers_of(report, gphi_vec_at(&report->graphs, i), &count);
        for (uint32_t k = 0; k + 1 < count; k++)
            if (is_named(&others[k], frames[0].function) &&
                !is_named(&others[k + 1], frames[1].function))
                return true;
    }
    return false;
}

/* NULL: not known. */
static const char *maker_of(const gph_report *report, const report_graph *graph)
{
    uint32_t count = 0;
    const gph_place *frames = makers_of(report, graph, &count);
    while (count > 2 && is_helper(report, frames)) {
        frames++;
        count--;
    }
    return count == 0 ? NULL : frames->function;
}

/* How many executables before that of a graph are of graphs of the same maker. */
static uint32_t twins_before(const gph_report *report, uint32_t graph, const char *maker)
{
    uint32_t same = 0;
    for (size_t i = 0; i < report->execs.count && i < 64; i++) {
        const uint32_t other =
            ((const report_exec *)gphi_vec_at(&report->execs, i))->graph;
        if (other == graph + 1)
            return same;
        const char *name =
            other == 0 ? NULL : maker_of(report, gphi_vec_at(&report->graphs, other - 1));
        same += name && strcmp(name, maker) == 0;
    }
    return 0;
}

void gphi_report_graph_name(const gph_report *report, uint32_t graph, char *out,
                            size_t bytes)
{
    const char *maker = maker_of(report, gphi_vec_at(&report->graphs, graph));
    const uint32_t same = !maker ? 0 : twins_before(report, graph, maker);
    if (!maker)
        gphi_language_into(out, bytes, "graph %u", graph + 1);
    else if (same == 0)
        snprintf(out, bytes, "%.80s", maker);
    else
        snprintf(out, bytes, "%.80s %u", maker, same + 1);
}
