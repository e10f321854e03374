// SPDX-License-Identifier: Apache-2.0
/* Rules update.*: an executable is refused its new contents.
 *
 * A refusal is nothing bad by itself: to try an update and to instantiate where it is
 * refused is how it is meant. So a refusal waits for what the program does next:
 *
 *   instantiates, updates another executable,     -> nothing is reported
 *   sets nodes, runs eagerly
 *   launches the executable, which holds what      -> update.ignored
 *   it held before
 *   none of these until the end                    -> update.CLASS
 *
 * One rule of the table does the watching for all. */
#include "base/heap.h"
#include "doctor/findings/said.h"
#include "doctor/model/call_kinds.h"
#include "doctor/rules/rules.h"
#include "doctor/rules/update/update_edit.h"
#include "doctor/rules/update/update_left.h"
#include "doctor/rules/update/update_why.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { REFUSALS_MAX = 128, FUNCTIONS_MAX = 16 };

/* Places in the table. */
enum { RULE_IGNORED, RULE_LEAKS, RULE_CLASSES };

struct refusal {
    gphi_exec_state *exec; /* NULL: destroyed since */
    uint64_t graph;        /* the new one; 0 of a setter */
    uint64_t node;         /* of a setter */
    gphi_call call;
    uint32_t result; /* CUgraphExecUpdateResult */
    gphi_verdict verdict;
    char said[GPHI_SAID_BYTES];
    uint64_t work;                     /* number of the last work before it */
    uint64_t functions[FUNCTIONS_MAX]; /* kernels of the new graph */
    uint32_t function_count, kernel_count;
};

/* An allocation that an update has orphaned, until somebody frees it after all. */
struct orphan {
    uint64_t address;
    gphi_draft *draft;
};

struct watch {
    gphi_operands operands;
    gphi_vec refusals; /* of struct refusal * */
    gphi_vec orphans;  /* of struct orphan */
};

static void update_init(gphi_rule_run *run)
{
    struct watch *watch = run->state;
    gphi_operands_init(&watch->operands, run->model->heap);
    gphi_vec_init(&watch->refusals, run->model->heap, sizeof(struct refusal *));
    gphi_vec_init(&watch->orphans, run->model->heap, sizeof(struct orphan));
}

static struct refusal *refusal_at(const struct watch *watch, size_t index)
{
    return gphi_vec_pointer(&watch->refusals, index);
}

static void drop(gphi_rule_run *run, struct watch *watch, size_t index)
{
    gphi_heap_free(run->model->heap, refusal_at(watch, index), sizeof(struct refusal));
    gphi_vec_remove(&watch->refusals, index);
}

/* ---- telling ---- */

static gphi_rule_run as_rule(const gphi_rule_run *run, uint32_t index)
{
    gphi_rule_run as = *run;
    as.rule = &gphi_rules_update[index];
    return as;
}

static const char *class_id(const struct refusal *refusal)
{
    return gphi_rules_update[RULE_CLASSES + refusal->verdict.why - 1].id;
}

static void tell_nodes(gphi_draft *draft, const struct refusal *refusal)
{
    const gphi_verdict *verdict = &refusal->verdict;
    for (uint32_t i = 0; i < verdict->node_count; i++)
        if (verdict->nodes[i].made.number != 0)
            gphi_evidence_call(draft, &verdict->nodes[i].made, "%s, made by",
                               verdict->nodes[i].text);
        else
            gphi_evidence(draft, "%s", verdict->nodes[i].text);
    if (verdict->rule)
        gphi_evidence(draft, "rule of the driver: %s", verdict->rule);
    gphi_evidence_said(draft, refusal->said);
}

/* Whose nodes it would have taken. */
static void advise_nodes(gphi_rule_run *run, gphi_draft *draft,
                         const struct refusal *refusal)
{
    const gphi_exec_state *exec = refusal->exec;
    if (refusal->verdict.why == GPHI_WHY_NODE_HANDLE && exec && exec->source)
        gphi_fix(draft, "Here: the executable takes the nodes of %s.",
                 gphi_say_graph(run->model, exec->source->graph));
}

static void tell_class(gphi_rule_run *run, const struct refusal *refusal)
{
    gphi_rule_run as = as_rule(run, RULE_CLASSES + refusal->verdict.why - 1);
    gphi_draft *draft = gphi_finding_begin(&as, &refusal->call, refusal->verdict.why);
    gphi_cause(draft, "%s was refused with %d: %s; the program did nothing in its place",
               gphi_call_name(refusal->call.call), refusal->call.result,
               refusal->verdict.cause);
    if (!draft)
        return;
    tell_nodes(draft, refusal);
    advise_nodes(run, draft, refusal);
}

static void tell_ignored(gphi_rule_run *run, const struct refusal *refusal,
                         const gphi_call *launch)
{
    const bool is_handle = refusal->verdict.why == GPHI_WHY_NODE_HANDLE;
    gphi_rule_run as =
        as_rule(run, is_handle ? RULE_CLASSES + GPHI_WHY_NODE_HANDLE - 1 : RULE_IGNORED);
    gphi_draft *draft = gphi_finding_begin(&as, &refusal->call, refusal->verdict.why);
    gphi_cause(
        draft,
        "%s was refused with %d, and the executable was launched all the same, with what "
        "it held before: %s",
        gphi_call_name(refusal->call.call), refusal->call.result, refusal->verdict.cause);
    if (!draft)
        return;
    gphi_evidence_call(draft, launch, "launched with its old parameters");
    tell_nodes(draft, refusal);
    advise_nodes(run, draft, refusal);
    if (!is_handle)
        gphi_evidence(draft, "why it was refused: gph explain %s", class_id(refusal));
}

/* ---- refusals ---- */

static bool is_setter(uint32_t call)
{
    switch (call) {
    case GPHI_CALL_cuGraphExecKernelNodeSetParams:
    case GPHI_CALL_cuGraphExecMemcpyNodeSetParams:
    case GPHI_CALL_cuGraphExecMemsetNodeSetParams:
    case GPHI_CALL_cuGraphExecHostNodeSetParams:
    case GPHI_CALL_cuGraphExecChildGraphNodeSetParams:
    case GPHI_CALL_cuGraphExecEventRecordNodeSetEvent:
    case GPHI_CALL_cuGraphExecEventWaitNodeSetEvent:
    case GPHI_CALL_cuGraphExecExternalSemaphoresSignalNodeSetParams:
    case GPHI_CALL_cuGraphExecExternalSemaphoresWaitNodeSetParams:
    case GPHI_CALL_cuGraphExecBatchMemOpNodeSetParams:
    case GPHI_CALL_cuGraphExecNodeSetParams:
    case GPHI_CALL_cuGraphNodeSetEnabled: return true;
    default: return false;
    }
}

/* Codes of a refusal; others are of a dead context, a dead executable, a capture. */
static bool is_refused(int32_t result)
{
    return result == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE ||
           result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_NOT_SUPPORTED;
}

static void read_functions(const gphi_snapshot *snapshot, struct refusal *out)
{
    const gph_graph *graph = snapshot ? snapshot->data : NULL;
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        if (node->kind != GPH_NODE_KERNEL)
            continue;
        uint32_t at = 0;
        while (at < out->function_count && out->functions[at] != node->u.kernel.handle)
            at++;
        if (at == FUNCTIONS_MAX)
            continue;
        out->functions[at] = node->u.kernel.handle;
        out->function_count += at == out->function_count;
        out->kernel_count++;
    }
}

/* Why, is found out now: later the executable and the graph may hold other things. */
static void note_refusal(gphi_rule_run *run, struct watch *watch, const gphi_seen *seen)
{
    const CUgraphExecUpdateResultInfo *info = NULL;
    const gphi_part *part = gphi_event_part(seen->event, GPHI_PART_STRUCT, 0);
    const bool whole = seen->call.call == GPHI_CALL_cuGraphExecUpdate;
    if (whole && part && part->bytes >= sizeof(*info))
        info = (const CUgraphExecUpdateResultInfo *)(part + 1);
    if (watch->refusals.count >= REFUSALS_MAX)
        drop(run, watch, 0);
    struct refusal *refusal = gphi_heap_alloc(run->model->heap, sizeof(*refusal));
    if (!refusal || gphi_vec_push(&watch->refusals, &refusal) != GPH_OK) {
        gphi_heap_free(run->model->heap, refusal, sizeof(*refusal));
        return; /* reported less of, no more */
    }
    refusal->exec = seen->exec;
    refusal->graph = whole ? gphi_event_word(seen->event, 1) : 0;
    refusal->node = whole ? 0 : gphi_event_word(seen->event, 1);
    refusal->call = seen->call;
    refusal->result = info ? (uint32_t)info->result : 0;
    refusal->work = run->model->work_count;
    snprintf(refusal->said, sizeof(refusal->said), "%s",
             gphi_said_of(run->said, &seen->call));
    const gphi_ask ask = {.model = run->model,
                          .operands = &watch->operands,
                          .held = seen->exec->source,
                          .wanted = whole ? seen->snapshot : NULL,
                          .flags = seen->exec->flags,
                          .event = seen->event,
                          .result = refusal->result,
                          .error_node = info ? (uint64_t)(uintptr_t)info->errorNode : 0,
                          .said = refusal->said};
    if (whole) {
        read_functions(seen->snapshot, refusal);
        gphi_why_update(&ask, &refusal->verdict);
    } else {
        gphi_why_setter(&ask, &refusal->verdict);
    }
}

/* ---- what the program does about it ---- */

/* The kernels of the new graph were launched one by one since. */
static bool ran_eagerly(const gphi_rule_run *run, const struct refusal *refusal)
{
    uint32_t count = 0;
    uint64_t after = refusal->work;
    const gphi_work *work;
    if (refusal->kernel_count == 0)
        return false;
    while ((work = gphi_model_work_next(run->model, after))) {
        after = work->number;
        for (uint32_t i = 0; i < refusal->function_count && !work->is_captured; i++)
            if (work->function != 0 && work->function == refusal->functions[i]) {
                count++;
                break;
            }
    }
    return count >= refusal->kernel_count;
}

static void on_launch(gphi_rule_run *run, struct watch *watch, const gphi_seen *seen)
{
    for (size_t i = watch->refusals.count; i-- > 0;) {
        const struct refusal *refusal = refusal_at(watch, i);
        if (refusal->exec != seen->exec || !seen->exec)
            continue;
        if (!ran_eagerly(run, refusal))
            tell_ignored(run, refusal, &seen->call);
        drop(run, watch, i);
    }
}

/* An executable with what was refused is there, by another way. */
static void on_instantiated(gphi_rule_run *run, struct watch *watch,
                            const gphi_seen *seen)
{
    const uint64_t graph = gphi_event_word(seen->event, 1);
    for (size_t i = watch->refusals.count; i-- > 0;) {
        const struct refusal *refusal = refusal_at(watch, i);
        if (refusal->graph == graph || refusal->call.thread == seen->call.thread)
            drop(run, watch, i);
    }
}

/* Whole updates settle what was refused of the executable or of the graph; a setter
 * settles its node, and a whole update that was refused (the program goes node by
 * node). */
static void on_updated(gphi_rule_run *run, struct watch *watch, const gphi_seen *seen)
{
    const bool whole = seen->call.call == GPHI_CALL_cuGraphExecUpdate;
    const uint64_t given = gphi_event_word(seen->event, 1);
    for (size_t i = watch->refusals.count; i-- > 0;) {
        const struct refusal *refusal = refusal_at(watch, i);
        const bool same = refusal->exec == seen->exec && seen->exec;
        if (whole ? same || refusal->graph == given
                  : same && (refusal->graph != 0 || refusal->node == given ||
                             refusal->verdict.why == GPHI_WHY_NODE_HANDLE))
            drop(run, watch, i);
    }
}

static void on_destroyed(struct watch *watch, const gphi_seen *seen)
{
    for (size_t i = 0; i < watch->refusals.count; i++)
        if (refusal_at(watch, i)->exec == seen->exec)
            refusal_at(watch, i)->exec = NULL;
}

/* ---- allocations that an update leaves behind ---- */

/* Memory of the graph that the executable held before, which its last launch left alive
 * and whose node is gone with the update. */
static void look_for_orphans(gphi_rule_run *run, struct watch *watch,
                             const gphi_seen *seen)
{
    gphi_rule_run as = as_rule(run, RULE_LEAKS);
    if (!seen->exec || !seen->snapshot || !seen->snapshot->has_memory)
        return;
    for (size_t i = 0; i < run->model->allocations.count; i++) {
        const gphi_allocation *memory = gphi_vec_pointer(&run->model->allocations, i);
        if (memory->kind != GPHI_MEM_GRAPH || memory->exec != seen->exec ||
            memory->is_pending || memory->freed.number != 0 ||
            gphi_snapshot_find(seen->snapshot, GPH_NODE_MEM_ALLOC, memory->address) !=
                GPH_NODE_NONE)
            continue;
        gphi_draft *draft = gphi_finding_begin(&as, &seen->call, 0);
        gphi_cause(draft,
                   "the update replaced a graph whose allocation was alive, %s: nothing "
                   "can free it any more, and its pointer is invalid",
                   gphi_say_allocation(run->model, memory));
        if (!draft)
            continue;
        gphi_evidence_call(draft, &memory->allocated, "allocated by");
        gphi_evidence_call(draft, gphi_last_launch(seen->exec), "last launched by");
        const struct orphan orphan = {memory->address, draft};
        if (gphi_vec_push(&watch->orphans, &orphan) != GPH_OK)
            gphi_short(run);
    }
}

/* The address was kept, and freed by a call: nothing is lost. */
static void on_freed(struct watch *watch, uint64_t address)
{
    struct orphan *orphans = watch->orphans.items;
    for (size_t i = 0; i < watch->orphans.count; i++) {
        if (orphans[i].address != address)
            continue;
        gphi_withdraw(orphans[i].draft);
        orphans[i] = orphans[--watch->orphans.count];
        return;
    }
}

/* ---- the rule ---- */

static void update_call(gphi_rule_run *run, const gphi_seen *seen)
{
    struct watch *watch = run->state;
    const uint32_t call = seen->call.call;
    const bool good = seen->call.result == 0;
    if (call == GPHI_CALL_cuGraphLaunch) {
        if (good)
            on_launch(run, watch, seen);
    } else if (gphi_call_is_instantiation(call)) {
        if (good)
            on_instantiated(run, watch, seen);
    } else if (call == GPHI_CALL_cuGraphExecUpdate || is_setter(call)) {
        if (good)
            on_updated(run, watch, seen);
        else if (is_refused(seen->call.result) && seen->exec && seen->exec->is_alive)
            note_refusal(run, watch, seen);
        if (good && call == GPHI_CALL_cuGraphExecUpdate)
            look_for_orphans(run, watch, seen);
    } else if (call == GPHI_CALL_cuGraphExecDestroy) {
        if (good)
            on_destroyed(watch, seen);
    } else if (gphi_call_is_free(call) && good) {
        on_freed(watch, gphi_event_word(seen->event, 0));
    }
}

static void update_event(gphi_rule_run *run, const gphi_event *event)
{
    struct watch *watch = run->state;
    gphi_operands_note(&watch->operands, event);
}

static void update_end(gphi_rule_run *run)
{
    struct watch *watch = run->state;
    for (size_t i = 0; i < watch->refusals.count; i++)
        if (!ran_eagerly(run, refusal_at(watch, i)))
            tell_class(run, refusal_at(watch, i));
    while (watch->refusals.count > 0)
        drop(run, watch, watch->refusals.count - 1);
}

static void update_fini(gphi_rule_run *run)
{
    struct watch *watch = run->state;
    while (watch->refusals.count > 0)
        drop(run, watch, watch->refusals.count - 1);
    gphi_vec_fini(&watch->refusals);
    gphi_vec_fini(&watch->orphans);
    gphi_operands_fini(&watch->operands);
}

/* The first watches for those in the order of gphi_why. */
const gphi_rule gphi_rules_update[] = {
    GPHI_RULE("update.ignored", ERROR, .state_bytes = sizeof(struct watch),
              .init = update_init, .call = update_call, .event = update_event,
              .end = update_end, .fini = update_fini),
    GPHI_RULE_NAME("update.leaks-allocation", ERROR),
    GPHI_RULE_NAME("update.node-count", WARNING),
    GPHI_RULE_NAME("update.edges", WARNING),
    GPHI_RULE_NAME("update.node-type", WARNING),
    GPHI_RULE_NAME("update.attributes", WARNING),
    GPHI_RULE_NAME("update.memcpy-kind", WARNING),
    GPHI_RULE_NAME("update.memset-size", WARNING),
    GPHI_RULE_NAME("update.operand-backing", WARNING),
    GPHI_RULE_NAME("update.node-handle", ERROR),
    GPHI_RULE_NAME("update.unsupported", WARNING),
    GPHI_RULE("update.edit-without-effect", WARNING,
              .state_bytes = sizeof(gphi_edit_state), .init = gphi_edit_init,
              .call = gphi_edit_call, .event = gphi_edit_event, .end = gphi_edit_end,
              .fini = gphi_edit_fini),
    GPHI_RULE("update.left-disabled", WARNING, .list_bytes = sizeof(gphi_left),
              .call = gphi_left_call, .end = gphi_left_end),
    GPHI_RULE("update.read-not-set", WARNING, .list_bytes = sizeof(gphi_unset),
              .call = gphi_unset_call, .end = gphi_unset_end),
    {.id = NULL},
};
