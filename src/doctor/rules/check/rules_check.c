// SPDX-License-Identifier: Apache-2.0
/* Rules check.*: what softcuda says of a graph where SOFTCUDA_CHECK has it watch every
 * access, led back to the lines that made the nodes. The driver's own thread says it, with
 * numbers of nodes that are softcuda's, so that kernel, address and the lack of a path say
 * which nodes they are.
 *
 *   race: kernel a (node 3) writes ... and memset (node 5) writes at 0x...   check.race
 *   outside its life: kernel a (node 3) writes ... at 0x...               check.memory */
#include "base/heap.h"
#include "doctor/history/history.h"
#include "doctor/language/language.h"
#include "doctor/rules/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_CUT = 60 }; /* of a kernel, in softcuda's sentences */

/* The kernel of an access; "": a copy, a fill. */
typedef struct side {
    char kernel[NAME_CUT + 1];
} side;

/* What a sentence is about: nodes `first` and `second` of an executable. */
typedef struct pair {
    const gphi_exec_history *exec; /* NULL: none fits */
    uint32_t first, second;
    uint32_t equals; /* others that fit as well */
} pair;

/* Reads "kernel NAME (node 3) ..." or "memset (node 3) ...". */
static void read_side(const char *text, side *out)
{
    const char *name = strncmp(text, "kernel ", 7) == 0 ? text + 7 : "";
    snprintf(out->kernel, sizeof(out->kernel), "%.*s", (int)strcspn(name, " "), name);
}

/* The first one: what follows says where it lies. */
static uint64_t address_of(const char *text)
{
    const char *at = strstr(text, " at 0x");
    return at ? strtoull(at + 4, NULL, 16) : 0;
}

static bool is_of(const gphi_rule_run *run, const gphi_touch *touch, const side *of,
                  uint64_t address)
{
    if ((touch->function != 0) != (of->kernel[0] != '\0') ||
        !gphi_touch_meets(run->history, touch, address, 1))
        return false;
    return touch->function == 0 ||
           (touch->name && strncmp(touch->name, of->kernel, strlen(of->kernel)) == 0);
}

static void take_pair(pair *out, const gphi_exec_history *exec, uint32_t first,
                      uint32_t second)
{
    if (!out->exec)
        *out = (pair){.exec = exec, .first = first, .second = second};
    else if (out->first != first || out->second != second)
        out->equals++;
}

/* Nodes of a child graph count as the child, within which two may race. */
static void look_for_second(const gphi_rule_run *run, const gphi_exec_history *exec,
                            const gphi_touch *first, const side *of, uint64_t address,
                            pair *out)
{
    const gph_graph *graph = gphi_snapshot_graph(exec->source);
    for (size_t i = 0; i < exec->touches.count; i++) {
        const gphi_touch *second = gphi_vec_at(&exec->touches, i);
        if (second == first || !is_of(run, second, of, address))
            continue;
        const gph_node *node = gph_graph_node(graph, first->node);
        const bool is_one = first->node == second->node;
        if (is_one
                ? node && node->kind == GPH_NODE_CHILD
                : !gphi_node_leads_to(run->model, graph, first->node, second->node) &&
                      !gphi_node_leads_to(run->model, graph, second->node, first->node))
            take_pair(out, exec, first->node, second->node);
    }
}

/* The newest executable that has what the sentence says; `handle`: of those that have it, 0:
 * of all. `second`: NULL, or the other side of a race within it. */
static pair find(const gphi_rule_run *run, uint64_t handle, const side *first,
                 const side *second, uint64_t address)
{
    pair out = {.exec = NULL};
    for (size_t e = run->history->execs.count; e > 0 && !out.exec; e--) {
        const gphi_exec_history *exec = gphi_history_exec_at(run->history, e - 1);
        if (!gphi_snapshot_graph(exec->source) ||
            (handle != 0 && (!exec->exec || exec->exec->handle != handle)))
            continue;
        for (size_t i = 0; i < exec->touches.count; i++) {
            const gphi_touch *touch = gphi_vec_at(&exec->touches, i);
            if (!is_of(run, touch, first, address))
                continue;
            if (second)
                look_for_second(run, exec, touch, second, address, &out);
            else
                take_pair(&out, exec, touch->node, touch->node);
        }
    }
    return out;
}

/* Where no executable fits, the place is that of the sentence. */
static gphi_call place_of(const gphi_rule_run *run, const gphi_event *event,
                          const pair *found)
{
    const uint32_t last = found->first > found->second ? found->first : found->second;
    if (found->exec && gphi_snapshot_made(found->exec->source, last)->number != 0)
        return *gphi_snapshot_made(found->exec->source, last);
    return (gphi_call){.number = run->model->call_count + 1,
                       .time_ns = event->time_ns,
                       .call = GPHI_CALL_COUNT,
                       .thread = event->thread,
                       .stack = event->stack};
}

static void tell_nodes(gphi_draft *draft, const pair *found)
{
    const gphi_snapshot *snapshot = found->exec->source;
    gphi_evidence_node(draft, snapshot, found->first, "the node");
    if (found->second != found->first)
        gphi_evidence_node(draft, snapshot, found->second, "the other node");
    if (found->equals > 0)
        gphi_evidence(draft, "as likely: %u other nodes of the same graph",
                      (unsigned)found->equals);
    gphi_evidence_call(draft, &found->exec->exec->created, "the executable was made by");
}

/* ---- two launches ----
 *
 * The driver may say it before the record of the later call is here: it is put together at
 * the end. The place is the later call, which nothing orders after the other. */

enum { LATE_MAX = 256, TEXT_MAX = 640 };

typedef struct late {
    char text[TEXT_MAX];
    gphi_event event; /* its head alone */
    uint64_t time_ns;
} late;

/* The handle that follows `what` in a side of a sentence; 0: it has none. */
static uint64_t handle_of(const char *text, const char *what)
{
    const char *named = strstr(text, what), *end = strchr(text, ')');
    return named && end && named < end ? strtoull(named + strlen(what), NULL, 16) : 0;
}

static void say_side(const side *of, char *out, size_t bytes)
{
    if (of->kernel[0] != '\0')
        gphi_language_into(out, bytes, "kernel %s", of->kernel);
    else
        gphi_language_into(out, bytes, "a copy or fill");
}

/* Whether a piece of work is what a side names. */
static bool is_work_of(const gphi_rule_run *run, const gphi_work *work, const side *of,
                       uint64_t exec, uint64_t stream, uint64_t address)
{
    if (work->is_captured)
        return false;
    if (exec != 0)
        return work->exec && work->exec->handle == exec;
    if (work->exec || !work->stream || work->stream->handle != stream)
        return false;
    if (of->kernel[0] == '\0')
        return gphi_ranges_meet(work->write, work->write_bytes, address, 1) ||
               gphi_ranges_meet(work->read, work->read_bytes, address, 1);
    return work->function != 0 && strncmp(gphi_function_name(run->model, work->function),
                                          of->kernel, strlen(of->kernel)) == 0;
}

/* The last work of a side before the sentence; NULL: it is not known. */
static const gphi_work *work_of(const gphi_rule_run *run, const char *text,
                                const side *of, uint64_t address, uint64_t time_ns)
{
    const uint64_t exec = handle_of(text, " of executable ");
    const uint64_t stream = handle_of(text, "(stream ");
    const gphi_work *found = NULL, *work;
    uint64_t after = 0;
    while ((exec != 0 || stream != 0) &&
           (work = gphi_model_work_next(run->model, after))) {
        after = work->number;
        if (work->call.time_ns <= time_ns &&
            is_work_of(run, work, of, exec, stream, address))
            found = work;
    }
    return found;
}

static void tell_launches(gphi_rule_run *run, const late *of)
{
    const char *part[2] = {of->text + strlen("race: "), strstr(of->text, " and ")};
    if (!part[1])
        return;
    part[1] += strlen(" and ");
    side sides[2];
    char names[2][NAME_CUT + 16];
    const gphi_work *works[2];
    const uint64_t address = address_of(part[1]);
    pair found = {.exec = NULL};
    for (int i = 0; i < 2; i++) {
        read_side(part[i], &sides[i]);
        say_side(&sides[i], names[i], sizeof(names[i]));
        works[i] = work_of(run, part[i], &sides[i], address, of->time_ns);
        const uint64_t handle = handle_of(part[i], " of executable ");
        if (!found.exec && handle != 0)
            found = find(run, handle, &sides[i], NULL, address);
    }
    const bool are_known = works[0] && works[1] && works[0] != works[1];
    const int last = are_known && works[1]->number > works[0]->number;
    const gphi_call at =
        are_known ? works[last]->call : place_of(run, &of->event, &found);
    gphi_draft *draft = gphi_finding_begin(run, &at, 0);
    if (!draft)
        return;
    gphi_cause(draft,
               "%s and %s, of two launches, touch %s, and nothing orders them: no "
               "stream, event or wait",
               names[0], names[1], gphi_say_memory(run->model, address));
    if (are_known)
        gphi_evidence_call(draft, &works[!last]->call, "the other one was launched by");
    if (found.exec)
        tell_nodes(draft, &found);
    gphi_evidence_said(draft, of->text);
}

static void note_late(gphi_rule_run *run, const gphi_event *event, const char *text)
{
    gphi_vec *lates = run->state;
    late *one = lates->count < LATE_MAX ? gphi_vec_add(lates, 1) : NULL;
    if (!one)
        return;
    snprintf(one->text, sizeof(one->text), "%s", text);
    one->event = *event;
    one->time_ns = event->time_ns;
}

static void on_end(gphi_rule_run *run)
{
    const gphi_vec *lates = run->state;
    GPHI_EACH (const late, one, lates)
        tell_launches(run, one);
}

/* ---- one launch ---- */

static void tell_race(gphi_rule_run *run, const gphi_event *event, const char *text)
{
    const char *second = strstr(text, " and ");
    if (!second)
        return;
    side sides[2];
    read_side(text + strlen("race: "), &sides[0]);
    read_side(second + strlen(" and "), &sides[1]);
    const uint64_t address = address_of(second);
    const pair found = find(run, 0, &sides[0], &sides[1], address);
    const gphi_call at = place_of(run, event, &found);
    gphi_draft *draft = gphi_finding_begin(run, &at, 0);
    if (!draft)
        return;
    if (found.exec) {
        gphi_cause(draft, "%s and %s of %s touch %s, and no path orders them",
                   gphi_say_node(found.exec->source, found.first),
                   gphi_say_node(found.exec->source, found.second),
                   gphi_say_exec(run->model, found.exec->exec),
                   gphi_say_memory(run->model, address));
        tell_nodes(draft, &found);
    } else
        gphi_cause(draft, "two nodes of a graph touch %s, and no path orders them",
                   gphi_say_memory(run->model, address));
    gphi_evidence_said(draft, text);
}

static void tell_life(gphi_rule_run *run, const gphi_event *event, const char *text)
{
    side of;
    read_side(text + strlen("outside of its life: "), &of);
    const uint64_t address = address_of(text);
    const pair found = find(run, 0, &of, NULL, address);
    const gphi_call at = place_of(run, event, &found);
    gphi_draft *draft = gphi_finding_begin(run, &at, 0);
    if (!draft)
        return;
    if (found.exec) {
        gphi_cause(draft, "%s of %s uses memory of a graph that need not be there then",
                   gphi_say_node(found.exec->source, found.first),
                   gphi_say_exec(run->model, found.exec->exec));
        tell_nodes(draft, &found);
    } else
        gphi_cause(draft, "a node uses memory of a graph that need not be there then");
    gphi_evidence_said(draft, text);
}

static void on_race(gphi_rule_run *run, const gphi_event *event)
{
    const char *text = event->kind == GPHI_EVENT_LOG ? gphi_event_text(event, 0) : "";
    if (strncmp(text, "race: ", 6) != 0)
        return;
    if (strstr(text, "nothing orders these two launches"))
        note_late(run, event, text);
    else
        tell_race(run, event, text);
}

static void on_life(gphi_rule_run *run, const gphi_event *event)
{
    const char *text = event->kind == GPHI_EVENT_LOG ? gphi_event_text(event, 0) : "";
    if (strncmp(text, "outside of its life: ", 21) == 0)
        tell_life(run, event, text);
}

const gphi_rule gphi_rules_check[] = {
    GPHI_RULE("check.race", ERROR, .list_bytes = sizeof(late), .event = on_race,
              .end = on_end),
    GPHI_RULE("check.memory", ERROR, .event = on_life),
    {.id = NULL},
};
