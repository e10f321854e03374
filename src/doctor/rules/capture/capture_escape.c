// SPDX-License-Identifier: Apache-2.0
/* Rules capture.escape, empty-graph and wrong-device: work that its thread runs at once
 * while it captures something else, and that most likely was meant for the graph. */
#include "doctor/rules/capture/rules_capture.h"

enum { KEEP_ESCAPED = 64, TOUCHED = 8, MAX_TOLD = 5 };

static bool is_kernel(const gphi_seen *seen)
{
    return seen->work && seen->work->function != 0;
}

static void keep_touched(gphi_rule_run *run, gphi_watch *watch, const gphi_seen *seen)
{
    gphi_capture_state *state = run->state;
    uint64_t touched[32];
    bool unknown = false;
    const uint32_t count = gphi_call_touches(run->model, seen, touched, 32, &unknown);
    for (uint32_t i = 0; i < count; i++)
        if (gphi_map_set(&watch->touched, touched[i], 1) != GPH_OK)
            state->is_short = true;
}

static void keep_escaped(gphi_rule_run *run, gphi_watch *watch, const gphi_seen *seen)
{
    gphi_capture_state *state = run->state;
    gphi_escaped *escaped =
        watch->escaped.count < KEEP_ESCAPED ? gphi_vec_add(&watch->escaped, 1) : NULL;
    if (!escaped)
        return;
    escaped->call = seen->call;
    escaped->stream = seen->stream;
    escaped->context = seen->stream && seen->stream->context
                           ? seen->stream->context
                           : gphi_capture_context(state, seen->call.thread);
    if (seen->stream && (seen->stream->is_legacy || seen->stream->is_per_thread))
        escaped->context = gphi_capture_context(state, seen->call.thread);
    escaped->nodes_before = watch->nodes;
    escaped->is_kernel = is_kernel(seen);
    escaped->touched_count = gphi_call_touches(run->model, seen, escaped->touched,
                                               TOUCHED, &escaped->is_unknown);
}

/* Work that held: captured, or run at once by a thread that captures. */
void gphi_escape_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_capture_state *state = run->state;
    if (state->open == 0 || !seen->work || (seen->call.flags & GPHI_CALL_HOST_NODE) != 0)
        return;
    if (seen->work->is_captured) {
        gphi_watch *watch = gphi_watch_of(state, seen->capture);
        if (watch)
            keep_touched(run, watch, seen);
        return;
    }
    for (size_t i = 0; i < state->watches.count; i++) {
        gphi_watch *watch = gphi_watch_at(state, i);
        if (!watch->is_over && watch->capture->thread == seen->call.thread &&
            watch->capture->invalidated.number == 0)
            keep_escaped(run, watch, seen);
    }
}

/* ---- at the end of the capture ---- */

/* Memory of both that is older than the capture: what is made meanwhile may be filled
 * meanwhile, once. */
static uint64_t shared(const gphi_model *model, const gphi_watch *watch,
                       const gphi_escaped *escaped)
{
    for (uint32_t i = 0; i < escaped->touched_count; i++) {
        const gphi_allocation *memory =
            gphi_model_memory(model, escaped->touched[i], false);
        const bool is_new = memory && memory->allocated.number > watch->begun;
        if (!is_new && gphi_map_get(&watch->touched, escaped->touched[i]))
            return escaped->touched[i];
    }
    return 0;
}

/* Whether it was likely meant for the graph: it uses memory that the graph uses too, or
 * it is a kernel on a default stream in the midst of captured work. */
static bool is_suspect(const gphi_model *model, const gphi_watch *watch,
                       const gphi_escaped *escaped)
{
    if (shared(model, watch, escaped))
        return true;
    const bool is_default =
        escaped->stream && (escaped->stream->is_legacy || escaped->stream->is_per_thread);
    return escaped->is_kernel && is_default && escaped->nodes_before > 0 &&
           escaped->nodes_before < watch->nodes;
}

static bool is_foreign(const gphi_watch *watch, const gphi_escaped *escaped)
{
    return watch->context && escaped->context && escaped->context != watch->context;
}

/* The same call at the same place, reported before. */
static bool is_repeated(const gphi_escaped *all, size_t index, const gphi_escaped *first)
{
    const gphi_escaped *one = &all[index];
    bool found = false;
    for (size_t i = 0; i <= index && !found; i++) {
        const gphi_escaped *before = i == index ? first : &all[i];
        found = one->call.stack != 0 && before->call.stack == one->call.stack &&
                before->call.call == one->call.call && before->stream == one->stream;
    }
    return found;
}

static void tell_each(gphi_rule_run *run, gphi_draft *draft, const gphi_watch *watch,
                      const gphi_escaped *first)
{
    const gphi_escaped *all = watch->escaped.items;
    uint32_t reported = 0;
    for (size_t i = 0; i < watch->escaped.count && reported < MAX_TOLD; i++) {
        if (&all[i] == first ||
            (watch->nodes && !is_suspect(run->model, watch, &all[i])) ||
            is_repeated(all, i, first))
            continue;
        gphi_evidence_call(draft, &all[i].call, "so did this, on %s",
                           gphi_say_stream(run->model, all[i].stream));
        reported++;
    }
}

/* What gphi_capture_state.reported says of a capture. */
enum { TOLD = 1, OTHERS_WORKED = 2 };

static void remember(gphi_capture_state *state, uint64_t begun, uint64_t what)
{
    if (gphi_map_set(&state->reported, begun, what) != GPH_OK)
        state->is_short = true;
}

static void tell_empty(gphi_rule_run *run, gphi_watch *watch, const gphi_seen *seen)
{
    remember(run->state, watch->begun, TOLD);
    const gphi_escaped *first = watch->escaped.items;
    const bool foreign = is_foreign(watch, first);
    gphi_draft *draft =
        foreign ? gphi_capture_find(run, GPHI_RULE_WRONG_DEVICE, &first->call, 0)
                : gphi_capture_find(run, GPHI_RULE_EMPTY_GRAPH, &seen->call, 0);
    gphi_cause(
        draft,
        "Nothing was recorded on %s, while %s ran %s of work on %s%s: the graph is "
        "empty.",
        gphi_say_stream(run->model, watch->capture->origin),
        gphi_say_thread(run->model, watch->capture->thread),
        gphi_say_count(watch->escaped.count, "piece"),
        gphi_say_stream(run->model, first->stream),
        foreign ? ", of another context" : "");
    if (!foreign)
        gphi_evidence_call(draft, &first->call, "this ran immediately instead");
    tell_each(run, draft, watch, first);
    gphi_evidence_call(draft, &watch->capture->begin, "the capture began");
    gphi_fix(draft, "Here: launch that work on %s%s.",
             gphi_say_stream(run->model, watch->capture->origin),
             foreign ? ", with its context current" : "");
}

static void tell_escape(gphi_rule_run *run, gphi_watch *watch,
                        const gphi_escaped *escaped)
{
    const bool foreign = is_foreign(watch, escaped);
    const uint64_t memory = shared(run->model, watch, escaped);
    gphi_draft *draft = gphi_capture_find(
        run, foreign ? GPHI_RULE_WRONG_DEVICE : GPHI_RULE_ESCAPE, &escaped->call, 0);
    const char *also = memory ? gphi_say("; it uses %s, as the graph does",
                                         gphi_say_memory(run->model, memory))
                              : "";
    gphi_cause(draft,
               "%s on %s%s ran immediately while %s captured %s, %s%s. Replays of the "
               "graph will not do it.",
               gphi_say_call(&escaped->call),
               gphi_say_stream(run->model, escaped->stream),
               foreign ? ", of another context," : "",
               gphi_say_thread(run->model, watch->capture->thread),
               gphi_say_stream(run->model, watch->capture->origin),
               escaped->nodes_before == 0              ? "before the first captured work"
               : escaped->nodes_before == watch->nodes ? "after the last captured work"
                                                       : "between captured work",
               also);
    tell_each(run, draft, watch, escaped);
    gphi_tell_capture(run->model, draft, watch->capture);
    if (escaped->stream && escaped->stream->is_legacy) {
        gphi_fix(draft,
                 "Here: make the call on %s, by the form of it that takes a stream; the "
                 "legacy stream cannot join the capture. What the host is to read comes "
                 "after each replay. If it is to run only once, move it in front of the "
                 "capture.",
                 gphi_say_stream(run->model, watch->capture->origin));
        return;
    }
    gphi_fix(draft,
             "Here: give the call %s, or let %s join the capture and join it back. If it "
             "is to run only once, move it in front of the capture.",
             gphi_say_stream(run->model, watch->capture->origin),
             gphi_say_stream(run->model, escaped->stream));
}

void gphi_escape_end(gphi_rule_run *run, gphi_watch *watch, const gphi_seen *seen)
{
    const gphi_escaped *all = watch->escaped.items;
    if (watch->incident || watch->early.count || watch->dropped)
        return;
    if (watch->nodes == 0 && watch->escaped.count) {
        tell_empty(run, watch, seen);
        return;
    }
    if (watch->nodes == 0 && run->model->work_count > watch->work_before)
        remember(run->state, watch->begun, OTHERS_WORKED);
    for (size_t i = 0; i < watch->escaped.count; i++)
        if (is_suspect(run->model, watch, &all[i])) {
            tell_escape(run, watch, &all[i]);
            return;
        }
}

/* ---- graphs that were made ---- */

/* A graph without a node is reported when it is launched: a program may well capture
 * nothing and throw it away. */
void gphi_escape_made(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_capture_state *state = run->state;
    const gphi_exec_state *exec = seen->exec;
    const gphi_snapshot *source = exec ? exec->source : NULL;
    const gphi_capture *capture = source ? source->capture : NULL;
    if (!capture)
        return;
    gphi_watch *watch = gphi_watch_of(state, capture);
    if (watch && watch->dropped && !watch->is_handled)
        watch->dropped->is_misused = true;
    const uint64_t *reported = gphi_map_get(&state->reported, capture->begin.number);
    if (seen->call.call != GPHI_CALL_cuGraphLaunch || source->node_count != 0 ||
        !reported || *reported != OTHERS_WORKED)
        return;
    remember(state, capture->begin.number, TOLD);
    gphi_draft *draft = gphi_capture_find(run, GPHI_RULE_EMPTY_GRAPH, &capture->end, 0);
    gphi_cause(
        draft,
        "The graph that this capture of %s gave has no node; it is launched all the "
        "same, and does nothing.",
        gphi_say_stream(run->model, capture->origin));
    gphi_evidence_call(draft, &capture->begin, "the capture began");
    gphi_evidence_call(draft, &seen->call, "the empty graph was launched");
}
