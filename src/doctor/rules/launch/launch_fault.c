// SPDX-License-Identifier: Apache-2.0
/* Errors of the device. They come with a later call, which has nothing to do with them:
 * what was launched and not waited for is to blame. softcuda's log names kernel, node and
 * address. A GPU names nothing, so operands that are gone are named first, and else the
 * candidates. */
#include "doctor/findings/finding.h"
#include "doctor/rules/launch/rules_launch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES_MAX = 4 };

void gphi_launch_fault_event(gphi_rule_run *run, const gphi_event *event)
{
    gphi_launch_faults *faults = run->state;
    if (event->kind != GPHI_EVENT_LOG || faults->is_over)
        return;
    const char *text = gphi_event_text(event, 0);
    if (strncmp(text, "kernel ", 7) == 0 || strncmp(text, "memcpy", 6) == 0 ||
        strncmp(text, "memset", 6) == 0)
        snprintf(faults->said, sizeof(faults->said), "%.*s", (int)strcspn(text, "\n"),
                 text);
}

/* ---- which node ---- */

/* Whether the driver's sentence can be of this node: the kernel's name, the copy's or
 * fill's word. */
static bool is_named(const char *said, const gph_node *node)
{
    if (node->kind == GPH_NODE_MEMCPY)
        return strncmp(said, "memcpy", 6) == 0;
    if (node->kind == GPH_NODE_MEMSET)
        return strncmp(said, "memset", 6) == 0;
    if (node->kind != GPH_NODE_KERNEL || strncmp(said, "kernel ", 7) != 0 ||
        !node->u.kernel.function)
        return false;
    const size_t length = strlen(node->u.kernel.function);
    return strncmp(said + 7, node->u.kernel.function, length) == 0 &&
           (said[7 + length] == ' ' || said[7 + length] == ',');
}

/* An argument that points at no memory that is known. */
static bool has_wild(const gphi_model *model, const gph_node *node)
{
    for (uint32_t i = 0; node->kind == GPH_NODE_KERNEL && i < node->u.kernel.arg_count;
         i++) {
        const uint64_t value = gphi_launch_operand_at(node, i);
        if (value >= 0x100 && !gphi_model_memory(model, value, false))
            return true;
    }
    return false;
}

struct suspect {
    const gphi_launch_use *use;
    uint32_t node; /* of the top graph */
    const gph_node *inner;
    uint32_t score, equals;
};

/* Whether the block that the sentence names is one of the node's. */
static bool has_block(const char *said, const gph_node *node)
{
    unsigned block[3];
    const char *at = strstr(said, "block [");
    if (!at || sscanf(at, "block [%u,%u,%u]", &block[0], &block[1], &block[2]) != 3)
        return true;
    const uint32_t *grid = node->u.kernel.grid;
    return block[0] < grid[0] && block[1] < grid[1] && block[2] < grid[2];
}

/* 4: the driver names it; 3: it was running; 2: an operand is gone; 1: a pointer leads
 * nowhere known. A sentence that names another node rules this one out, and so does that
 * it had ended, or not begun. */
static uint32_t score_of(const gphi_rule_run *run, const char *said, const gph_node *node,
                         gph_node_state state)
{
    if (state == GPH_NODE_DONE || state == GPH_NODE_WAITING)
        return 0;
    const bool named = said[0] != '\0' && is_named(said, node) &&
                       (node->kind != GPH_NODE_KERNEL || has_block(said, node));
    if (said[0] != '\0' && !named)
        return 0;
    return (named ? 4U : 0U) + (state == GPH_NODE_RUNNING ? 3U : 0U) +
           (gphi_launch_gone_operand(run->model, node) != 0 ? 2U : 0U) +
           (has_wild(run->model, node) ? 1U : 0U);
}

/* Child graphs nest no deeper than GPH_GRAPH_DEPTH_MAX. */
static void look_at_graph(const gphi_rule_run *run, const char *said,
                          const gph_graph *graph, struct suspect *best,
                          const struct suspect *from)
{
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        struct suspect now = *from;
        if (!from->inner)
            now.node = i;
        now.inner = node;
        if (node->kind == GPH_NODE_CHILD && node->u.child) {
            look_at_graph(run, said, node->u.child, best, &now);
            continue;
        }
        now.score =
            score_of(run, said, node, gphi_launch_node_state(from->use->exec, now.node));
        if (now.score > best->score) {
            *best = now;
            best->equals = 0;
        } else if (now.score == best->score && now.score > 0) {
            best->equals++;
        }
    }
}

/* ---- telling ---- */

static bool is_candidate(const gphi_rule_run *run, const gphi_launch_use *use)
{
    return use->exec->created.number == use->made &&
           !gphi_model_ordered(run->model, use->work, GPHI_WORK_NOW);
}

/* A finding that has reported already what the replay stumbled over. */
static gphi_draft *root_of(const gphi_rule_run *run, const char *said)
{
    const char *const roots[] = {
        "memory.stale-address", "memory.freed-input", "launch.dead-operand",
        "capture.host-pointer",
        strstr(said, "was not instantiated") ? "device.not-uploaded" : ""};
    for (size_t i = 0; i < run->findings->drafts.count; i++) {
        gphi_draft *draft = gphi_vec_pointer(&run->findings->drafts, i);
        for (size_t r = 0; r < sizeof(roots) / sizeof(roots[0]); r++)
            if (!draft->is_withdrawn && !draft->is_mild &&
                strcmp(draft->rule->id, roots[r]) == 0)
                return draft;
    }
    return NULL;
}

static void tell_suspect(gphi_rule_run *run, gphi_draft *draft, const char *said,
                         const struct suspect *suspect)
{
    const gphi_snapshot *snapshot = suspect->use->exec->source;
    const uint64_t gone = gphi_launch_gone_operand(run->model, suspect->inner);
    const gphi_allocation *memory =
        gone != 0 ? gphi_model_memory(run->model, gone, true) : NULL;
    gphi_cause(draft, "%s%s of %s%s", said[0] == '\0' && gone == 0 ? "perhaps " : "",
               gphi_say_node(snapshot, suspect->node),
               gphi_say_exec(run->model, suspect->use->exec), gphi_say_said(said));
    gphi_evidence_node(draft, snapshot, suspect->node, "the node");
    if (gone != 0)
        gphi_evidence(draft, "its operand, %s, was freed",
                      gphi_say_memory(run->model, gone));
    if (memory)
        gphi_evidence_call(draft, &memory->freed, "freed by");
    if (suspect->equals > 0)
        gphi_evidence(draft, "as likely: %u other nodes of what was in flight",
                      (unsigned)suspect->equals);
    gphi_evidence_call(draft, &suspect->use->call, "launched by");
}

/* softcuda's check knows an address that was freed, also one that the kernel has out of
 * memory, as of a table of pages: what was freed before the first launch was never to be
 * launched with, and the free is to blame. NULL: it is not known. */
static const gphi_allocation *freed_of(const gphi_rule_run *run, const char *said)
{
    static const char words[] = "illegal address 0x";
    const char *at = strstr(said, words);
    return at && strstr(at, "that was freed")
               ? gphi_model_memory(run->model, strtoull(at + strlen(words), NULL, 16),
                                   true)
               : NULL;
}

static const gphi_call *place_of(const gphi_rule_run *run, const struct suspect *suspect,
                                 const gphi_allocation *freed, const gphi_seen *seen)
{
    const gphi_exec_history *exec =
        suspect->use ? gphi_history_exec(run->history, suspect->use->exec) : NULL;
    return freed && exec && freed->freed.stack != 0 &&
                   freed->freed.number < exec->first_launch.number
               ? &freed->freed
               : &seen->call;
}

/* An eager kernel's fault is not one of these rules': the driver's sentence has no node. */
static void tell_fault(gphi_rule_run *run, gphi_launch_faults *faults,
                       const gphi_seen *seen)
{
    const gphi_launch_use *use;
    struct suspect best = {.use = NULL};
    uint32_t count = 0;
    const bool is_eager = faults->said[0] != '\0' && !strstr(faults->said, "(node ");
    for (uint32_t i = 0; !is_eager && (use = gphi_launch_at(&faults->uses, i)); i++) {
        if (!is_candidate(run, use))
            continue;
        count++;
        const struct suspect from = {.use = use};
        if (use->exec->source && use->exec->source->data)
            look_at_graph(run, faults->said, use->exec->source->data, &best, &from);
    }
    gphi_rule_run as = *run;
    if (count == 0)
        return;
    faults->draft = root_of(run, faults->said);
    if (faults->draft) {
        gphi_harden(faults->draft);
        gphi_consequence(faults->draft, &seen->call);
        return;
    }
    if (seen->call.result == CUDA_ERROR_ASSERT)
        as.rule = run->rule - 1; /* launch.assert, which is before it in the table */
    const gphi_allocation *freed = freed_of(run, faults->said);
    faults->draft = gphi_finding_begin(&as, place_of(run, &best, freed, seen), 0);
    if (!faults->draft)
        return;
    if (best.use)
        tell_suspect(run, faults->draft, faults->said, &best);
    else
        gphi_cause(faults->draft, "error %d of a replay; in flight were %u launches%s",
                   seen->call.result, (unsigned)count, gphi_say_said(faults->said));
    if (freed) {
        gphi_evidence_call(faults->draft, &freed->freed, "%s was freed by",
                           gphi_say_allocation(run->model, freed));
        gphi_evidence_call(faults->draft, &seen->call, "the fault was reported in");
    }
    if (best.use)
        (void)gphi_launch_put_standing(faults->draft, best.use->exec);
    uint32_t reported = 0;
    for (uint32_t i = 0;
         (use = gphi_launch_at(&faults->uses, i)) && reported < CANDIDATES_MAX; i++)
        if (is_candidate(run, use) && use != best.use) {
            reported++;
            gphi_evidence_call(faults->draft, &use->call,
                               "in flight as well: %s, launched by",
                               gphi_say_exec(run->model, use->exec));
            if (!best.use)
                (void)gphi_launch_put_standing(faults->draft, use->exec);
        }
}

/* ---- the rule ---- */

/* A new context begins with no error. */
static bool ends_context(uint32_t call)
{
    return call == GPHI_CALL_cuCtxDestroy || call == GPHI_CALL_cuDevicePrimaryCtxReset ||
           call == GPHI_CALL_cuDevicePrimaryCtxRelease;
}

void gphi_launch_fault(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_launch_faults *faults = run->state;
    if (gphi_is_launch(seen) && seen->work) {
        gphi_launch_keep(&faults->uses, seen);
    } else if (ends_context(seen->call.call) && seen->call.result == 0) {
        memset(faults, 0, sizeof(*faults));
    } else if (gphi_is_sticky(seen->call.result)) {
        if (faults->is_over)
            gphi_consequence(faults->draft, &seen->call);
        else if (!gphi_is_told(run, &seen->call)) /* the end of an endless loop is */
            tell_fault(run, faults, seen);
        faults->is_over = true;
    }
}
