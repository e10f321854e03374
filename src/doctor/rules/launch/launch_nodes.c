// SPDX-License-Identifier: Apache-2.0
/* Rule launch.unordered-nodes: two nodes of one graph have an address in common, one of them
 * writes there, and no path leads from one to the other. What writes is known of copies and
 * fills; of a kernel by its code, or it is concluded where it is given no other address.
 *
 * Or a path leads the wrong way:
 *
 *     reader ──> writer      nobody else writes there in the graph, or had before its first
 *                            launch, and the host got what came of that launch
 *
 * What was only filled may be a state that the reader has from the step before: then the edge
 * has to have been added, against the order in which the nodes were made.
 *
 * Two launches of one kernel are left alone, if each has that address only: they may count
 * atomically, or each do a part of it. SOFTCUDA_CHECK=race sees every access. */
#include "doctor/history/collectives.h"
#include "doctor/history/history.h"
#include "doctor/rules/launch/rules_launch.h"

enum { TOUCHES_MAX = 2048, PAIRS_MAX = 64, CUTS_MAX = 1024, GRAPHS_MAX = 64 };

/* A kernel that is given one address only. */
static bool is_alone(const gphi_exec_history *exec, const gphi_touch *of)
{
    GPHI_EACH (const gphi_touch, other, &exec->touches)
        if (other->node == of->node && other->address != of->address)
            return false;
    return of->function != 0;
}

static bool is_meeting(const gphi_touch *a, const gphi_touch *b)
{
    return gphi_ranges_meet(a->address, a->bytes != 0 ? a->bytes : 1, b->address,
                            b->bytes != 0 ? b->bytes : 1);
}

/* The living graph whose newest snapshot has the node, or NULL. */
static const gphi_graph_state *graph_with(const gphi_model *model, uint64_t node)
{
    for (size_t i = model->graphs.count, n = 0; i-- > 0 && n < GRAPHS_MAX;) {
        const gphi_graph_state *graph = gphi_vec_pointer(&model->graphs, i);
        n += graph->is_alive;
        if (graph->is_alive && gphi_snapshot_index(graph->last, node) != GPH_NODE_NONE)
            return graph;
    }
    return NULL;
}

void gphi_launch_nodes_init(gphi_rule_run *run)
{
    gphi_launch_edges *state = run->state;
    gphi_vec_init(&state->cuts, run->model->heap, sizeof(gphi_launch_cut));
}

void gphi_launch_nodes_fini(gphi_rule_run *run)
{
    gphi_launch_edges *state = run->state;
    gphi_vec_fini(&state->cuts);
}

static void keep_cut(gphi_rule_run *run, const gphi_launch_cut *new)
{
    gphi_launch_edges *state = run->state;
    if (state->cuts.count < CUTS_MAX && gphi_vec_push(&state->cuts, new) != GPH_OK)
        gphi_short(run);
}

static void note_edges(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_graph_state *graph =
        gphi_model_graph(run->model, gphi_event_word(seen->event, 0));
    const uint64_t count = gphi_event_word(seen->event, seen->event->word_count - 1);
    const size_t bytes = count < CUTS_MAX ? (size_t)count * sizeof(uint64_t) : 0;
    const uint64_t *from = gphi_bytes_of(seen->event, GPHI_PART_ARRAY, 1, bytes);
    const uint64_t *to = gphi_bytes_of(seen->event, GPHI_PART_ARRAY, 2, bytes);
    for (size_t i = 0; graph && from && to && i < bytes / sizeof(uint64_t); i++)
        keep_cut(run, &(gphi_launch_cut){.graph = graph->handle,
                                         .made = graph->created.number,
                                         .from = from[i],
                                         .to = to[i],
                                         .call = seen->call});
}

/* Before the model forgets the node: the newest snapshot is older than the call. */
static void note_cut(gphi_rule_run *run, const gphi_seen *seen)
{
    const uint64_t first = gphi_event_word(seen->event, 0);
    const bool is_node = seen->call.call == GPHI_CALL_cuGraphDestroyNode;
    const gphi_graph_state *graph =
        is_node ? graph_with(run->model, first) : gphi_model_graph(run->model, first);
    const gphi_launch_cut new = {.graph = graph ? graph->handle : 0,
                                 .made = graph ? graph->created.number : 0,
                                 .call = seen->call};
    if (graph)
        keep_cut(run, &new);
}

/* The last cut of the executable's graph after both nodes had been made, or NULL. */
static const gphi_launch_cut *cut_of(const gphi_vec *cuts, const gphi_exec_history *exec,
                                     uint64_t after)
{
    const gphi_launch_cut *found = NULL;
    GPHI_EACH (const gphi_launch_cut, cut, cuts)
        if (cut->to == 0 && cut->graph == exec->exec->graph &&
            cut->made == exec->exec->graph_made && cut->call.number > after &&
            cut->call.number < exec->exec->created.number)
            found = cut;
    return found;
}

static void report_nodes(gphi_rule_run *run, const gphi_exec_history *exec,
                         const gphi_touch *writer, const gphi_touch *other)
{
    /* the one that came last is where the edge is missing */
    const gphi_call *made = gphi_snapshot_made(exec->source, other->node);
    const gphi_call *first = gphi_snapshot_made(exec->source, writer->node);
    if (first->number > made->number)
        made = first;
    const gphi_launch_edges *state = run->state;
    const gphi_launch_cut *cut = cut_of(&state->cuts, exec, made->number);
    gphi_draft *draft = gphi_finding_begin(run,
                                           cut                 ? &cut->call
                                           : made->number != 0 ? made
                                                               : &exec->exec->created,
                                           exec->created);
    gphi_cause(draft,
               "%s writes %s, an address that %s has as well, and no path leads from one "
               "to the other: they run in any order, or at the same time",
               gphi_say_node(exec->source, writer->node),
               gphi_say_memory(run->model, writer->address), gphi_say_touch(exec, other));
    gphi_evidence_call(draft, first, "the one that writes was made by");
    gphi_evidence_call(draft, gphi_snapshot_made(exec->source, other->node),
                       "the other one by");
    if (!writer->writes)
        gphi_evidence(draft, "that the kernel writes there is concluded: its code stores "
                             "there, or it is given no other address");
    if (cut)
        gphi_evidence_call(draft, &cut->call,
                           "what may have ordered them was taken out of the graph by");
    gphi_evidence_call(draft, &exec->first_launch, "first launched by");
}

/* Its capture came into a graph that had its recording: that is reported. */
static bool is_appended(const gphi_rule_run *run, const gphi_exec_history *exec,
                        const gphi_touch *touch)
{
    const gphi_call *made = gphi_snapshot_made(exec->source, touch->node);
    const gphi_capture *capture =
        made->capture != 0 ? gphi_model_capture(run->model, made->capture) : NULL;
    return capture && gphi_is_told(run, &capture->begin);
}

static bool is_race(const gphi_rule_run *run, const gphi_exec_history *exec,
                    const gphi_touch *writer, const gphi_touch *other)
{
    const gph_graph *graph = gphi_snapshot_graph(exec->source);
    const bool are_alike =
        (writer->function != 0 && writer->function == other->function &&
         (is_alone(exec, other) || writer->arg == other->arg)) ||
        (writer->is_atomic && other->is_atomic);
    return !are_alike && !is_appended(run, exec, writer) &&
           !is_appended(run, exec, other) &&
           !gphi_touch_is_off(run->history, exec, other) &&
           !gphi_node_leads_to(run->model, graph, writer->node, other->node) &&
           !gphi_node_leads_to(run->model, graph, other->node, writer->node);
}

/* ---- the wrong way round ---- */

static bool is_device(const gphi_allocation *memory)
{
    return memory && (memory->kind == GPHI_MEM_DEVICE || memory->kind == GPHI_MEM_ASYNC);
}

/* Nothing that was seen has written there, or may have; fills: if `is_filled_too`. */
static bool is_untouched(const gphi_rule_run *run, const gphi_exec_history *exec,
                         const gphi_allocation *memory, bool is_filled_too)
{
    const gphi_history *history = run->history;
    const gphi_memory_history *outside = gphi_history_memory(history, memory);
    if (run->model->lost || run->collectives->comms.count > 0 ||
        (outside && (outside->overflows || outside->pointers.count > 0)))
        return false;
    for (size_t i = 0; outside && i < outside->written.count; i++) {
        const gphi_range_history *range = gphi_vec_at(&outside->written, i);
        if (!is_filled_too || !range->is_fill)
            return false;
    }
    for (size_t i = 0; i < history->execs.count; i++) {
        const gphi_exec_history *other = gphi_history_exec_at(history, i);
        if (other != exec &&
            (other->nccl_kernels > 0 || other->has_bodies ||
             gphi_history_touches(history, other, memory->address, memory->bytes)))
            return false;
    }
    return true;
}

/* Whether it may write to the memory. */
static bool may_write(const gphi_touch *touch)
{
    return touch->bytes != 0 ? touch->writes : !touch->is_kept;
}

/* The only node of the graph that writes to the memory of `reader`, and the whole of it
 * without having read it; NULL: there are others, or none. */
static const gphi_touch *only_writer(const gphi_exec_history *exec,
                                     const gphi_touch *reader)
{
    const gphi_touch *only = NULL;
    GPHI_EACH (const gphi_touch, touch, &exec->touches) {
        if (touch->memory != reader->memory || !may_write(touch))
            continue;
        if (only || !is_meeting(touch, reader) || touch->node == reader->node ||
            (touch->bytes == 0 && (!touch->is_written || touch->is_loaded)))
            return NULL;
        only = touch;
    }
    return only;
}

/* The call that has added the edge from the one to the other, or NULL. */
static const gphi_call *edge_call(const gphi_rule_run *run, const gphi_exec_history *exec,
                                  const gphi_touch *from, const gphi_touch *to)
{
    const gphi_launch_edges *state = run->state;
    const uint64_t *handles = exec->source->handles;
    GPHI_EACH (const gphi_launch_cut, edge, &state->cuts)
        if (edge->to != 0 && handles && edge->graph == exec->exec->graph &&
            edge->made == exec->exec->graph_made && edge->from == handles[from->node] &&
            edge->to == handles[to->node])
            return &edge->call;
    return NULL;
}

static bool is_against_order(const gphi_rule_run *run, const gphi_exec_history *exec,
                             const gphi_touch *reader, const gphi_touch *writer)
{
    const gphi_call *wrote = gphi_snapshot_made(exec->source, writer->node);
    return wrote->number != 0 && edge_call(run, exec, reader, writer) &&
           wrote->number < gphi_snapshot_made(exec->source, reader->node)->number;
}

/* What is captured follows only what was captured before: no path needs to be looked for. */
static bool is_captured_after(const gphi_exec_history *exec, const gphi_touch *reader,
                              const gphi_touch *writer)
{
    const gphi_call *read = gphi_snapshot_made(exec->source, reader->node);
    return read->capture != 0 &&
           read->number > gphi_snapshot_made(exec->source, writer->node)->number;
}

static void look_for_turned(gphi_rule_run *run, const gphi_exec_history *exec)
{
    gphi_launch_edges *state = run->state;
    const gph_graph *graph = gphi_snapshot_graph(exec->source);
    GPHI_EACH (const gphi_touch, reader, &exec->touches) {
        const bool is_read = reader->bytes == 0 && reader->is_kept && reader->is_loaded;
        const gphi_touch *writer =
            is_read && is_device(reader->memory) ? only_writer(exec, reader) : NULL;
        if (!writer || is_captured_after(exec, reader, writer) ||
            state->turned_count >= GPHI_LAUNCH_TURNED ||
            gphi_touch_is_off(run->history, exec, reader) ||
            gphi_touch_is_off(run->history, exec, writer) ||
            !gphi_node_leads_to(run->model, graph, reader->node, writer->node) ||
            !is_untouched(run, exec, reader->memory,
                          is_against_order(run, exec, reader, writer)))
            continue;
        const gphi_touch *first = gphi_vec_at(&exec->touches, 0);
        state->turned[state->turned_count++] =
            (gphi_launch_turned){.exec = exec,
                                 .created = exec->created,
                                 .reader = (uint32_t)(reader - first),
                                 .writer = (uint32_t)(writer - first)};
        return;
    }
}

/* Where the edge comes from; of a capture it is the order of the program. */
static const gphi_call *place_of(const gphi_rule_run *run, const gphi_exec_history *exec,
                                 const gphi_touch *reader, const gphi_touch *writer)
{
    const gphi_call *edge = edge_call(run, exec, reader, writer);
    const gphi_call *read = gphi_snapshot_made(exec->source, reader->node);
    const gphi_call *wrote = gphi_snapshot_made(exec->source, writer->node);
    if (edge)
        return edge;
    return read->capture != 0 || read->number > wrote->number ? read : wrote;
}

static void report_turned(gphi_rule_run *run, const gphi_launch_turned *of,
                          const gphi_call *copy)
{
    const gphi_exec_history *exec = of->exec;
    const gphi_touch *reader = gphi_vec_at(&exec->touches, of->reader);
    const gphi_touch *writer = gphi_vec_at(&exec->touches, of->writer);
    const gphi_call *at = place_of(run, exec, reader, writer);
    gphi_draft *draft = gphi_finding_begin(
        run, at->number != 0 ? at : &exec->exec->created, exec->created);
    gphi_cause(
        draft,
        "%s reads %s, which %s writes, but the edges of the graph have the reader "
        "run first; nothing but fills writes there else, so that each launch reads what "
        "the launch before it wrote, and the first one nothing",
        gphi_say_touch(exec, reader), gphi_say_memory(run->model, reader->address),
        gphi_say_node(exec->source, writer->node));
    gphi_evidence_call(draft, gphi_snapshot_made(exec->source, writer->node),
                       "the one that writes was made by");
    gphi_evidence_call(draft, gphi_snapshot_made(exec->source, reader->node),
                       "the one that reads by");
    gphi_evidence_call(draft, &exec->first_launch, "first launched by");
    gphi_evidence_call(draft, copy, "the host got what came of that launch by");
    gphi_fix(draft, "Here: turn the edge round (the arguments of "
                    "cuGraphAddDependencies are from, to), or capture the writer first.");
}

/* What came of the first launch is used, before the second. */
static void settle_turned(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_launch_edges *state = run->state;
    gphi_call_ranges ranges;
    const bool is_read = !seen->capture && seen->call.result == 0 &&
                         gphi_call_ranges_of(seen, &ranges) && ranges.to_host;
    for (uint32_t i = state->turned_count; i-- > 0;) {
        const gphi_launch_turned *of = &state->turned[i];
        const bool is_over = of->exec->created != of->created || of->exec->launches != 1;
        const bool is_used =
            !is_over && is_read &&
            gphi_history_writes(run->history, of->exec, ranges.read, ranges.read_bytes);
        if (is_used)
            report_turned(run, of, &seen->call);
        if (is_used || is_over)
            state->turned[i] = state->turned[--state->turned_count];
    }
}

/* Once an executable, before what it computes is used. */
void gphi_launch_nodes(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_exec_history *exec = run->history->launched;
    uint32_t pairs = 0;
    if ((seen->call.call == GPHI_CALL_cuGraphDestroyNode ||
         seen->call.call == GPHI_CALL_cuGraphRemoveDependencies) &&
        seen->call.result == 0)
        note_cut(run, seen);
    if (seen->call.call == GPHI_CALL_cuGraphAddDependencies && seen->call.result == 0)
        note_edges(run, seen);
    settle_turned(run, seen);
    if (!exec || exec->launches != 1 || exec->touches.count > TOUCHES_MAX ||
        !gphi_snapshot_graph(exec->source))
        return;
    GPHI_EACH (const gphi_touch, writer, &exec->touches) {
        if ((!gphi_touch_is_writer(writer) &&
             (!is_alone(exec, writer) || writer->is_kept)) ||
            gphi_touch_is_off(run->history, exec, writer))
            continue;
        GPHI_EACH (const gphi_touch, other, &exec->touches) {
            if (other->node == writer->node || !is_meeting(writer, other) ||
                pairs++ >= PAIRS_MAX || !is_race(run, exec, writer, other))
                continue;
            report_nodes(run, exec, writer, other);
            return;
        }
    }
    if (!exec->has_bodies && exec->nccl_kernels == 0)
        look_for_turned(run, exec);
}
