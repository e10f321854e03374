// SPDX-License-Identifier: Apache-2.0
/* Rule replay.frozen-size. What the host sends before a launch has another size than what it
 * sent before the first one, and the graph has that first size:
 *
 *   copies    a node takes `first` bytes from where more were sent
 *   more      a kernel has a number n, n * 1, 2, 4 or 8 = `first`; results grew alike
 *   less      the same, results are as large as before, and nobody wrote the rest
 *
 * Where anything else is written into what the graph uses, the true size may be told that
 * way, and nothing is reported. */
#include "doctor/rules/replay/rules_replay.h"

#include <inttypes.h>
#include <string.h>

enum { SIZES_MAX = 256, WORKS_MAX = 64, BYTES_MIN = 8, LAUNCHES_MIN = 2 };

/* ---- what was sent since the launch before ---- */

/* The one upload into what the executable uses; false: none, several, or other work that
 * writes there. */
static bool upload_of(const gphi_rule_run *run, gphi_work *out, const gphi_touch **touch)
{
    const gphi_history *history = run->history;
    const gphi_exec_history *exec = history->launched;
    const bool is_first = exec->launches == 1;
    const uint64_t back = exec->last_work > WORKS_MAX ? exec->last_work - WORKS_MAX : 0;
    uint64_t at = is_first ? back : history->before_work;
    const gphi_work *work;
    uint32_t uploads = 0;
    for (int i = 0; i < WORKS_MAX && (work = gphi_model_work_next(run->model, at)) &&
                    work->number < exec->last_work;
         i++, at = work->number) {
        if (work->is_captured)
            continue;
        if (work->function != 0 && !is_first)
            return false;
        const gphi_touch *met =
            work->write_bytes != 0
                ? gphi_history_touches(history, exec, work->write, work->write_bytes)
                : NULL;
        if (!met)
            continue;
        const bool is_upload = work->host != 0 && work->read_bytes == 0;
        if (!is_upload && !is_first)
            return false;
        if (!is_upload || met->address != work->write)
            continue;
        uploads += uploads == 0 || out->write != work->write;
        *out = *work;
        *touch = met;
    }
    return uploads == 1;
}

/* ---- the kernel's number ---- */

typedef struct number_search {
    const gph_kernel_params *params;
    uint64_t bytes, found;
} number_search;

static void look_at_number(void *user, const gphi_word *at)
{
    number_search *search = user;
    const uint64_t value = gphi_word_in(search->params->buffer, at);
    for (uint64_t size = 1; size <= 8; size *= 2)
        if (value >= BYTES_MIN && value * size == search->bytes)
            search->found = value;
}

static uint64_t number_of(const gphi_exec_history *exec, uint32_t index, uint64_t bytes)
{
    const gph_graph *graph = gphi_snapshot_graph(exec->source);
    const gph_node *node = graph ? gph_graph_node(graph, index) : NULL;
    if (!node || node->kind != GPH_NODE_KERNEL || !node->u.kernel.buffer)
        return 0;
    number_search search = {.params = &node->u.kernel, .bytes = bytes};
    gphi_each_word(search.params, look_at_number, &search);
    return search.found;
}

/* ---- calls ---- */

static void note_first(gphi_rule_run *run, const gphi_work *upload,
                       const gphi_touch *touch)
{
    const gphi_exec_history *exec = run->history->launched;
    gphi_vec *items = run->state;
    const bool is_copy = touch->function == 0;
    const uint64_t number =
        is_copy ? 0 : number_of(exec, touch->node, upload->write_bytes);
    if (items->count >= SIZES_MAX || upload->write_bytes < BYTES_MIN / 2 ||
        (is_copy ? !touch->reads || touch->bytes != upload->write_bytes : number == 0))
        return;
    const gphi_size_item new = {.created = exec->created,
                                .exec = exec,
                                .updated = exec->updated,
                                .address = upload->write,
                                .first = upload->write_bytes,
                                .sent = upload->write_bytes,
                                .number = number,
                                .node = touch->node,
                                .is_copy = is_copy,
                                .first_upload = upload->call};
    if (gphi_vec_push(items, &new) != GPH_OK)
        gphi_short(run);
}

static gphi_size_item *item_of(const gphi_rule_run *run, const gphi_exec_history *exec)
{
    gphi_vec *items = run->state;
    GPHI_EACH (gphi_size_item, one, items)
        if (one->created == exec->created)
            return one;
    return NULL;
}

static void on_launch(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_exec_history *exec = run->history->launched;
    gphi_work upload = {.number = 0};
    const gphi_touch *touch = NULL;
    gphi_size_item *one = exec->launches == 1 ? NULL : item_of(run, exec);
    if (exec->launches > 1 && !one)
        return;
    const bool is_one = upload_of(run, &upload, &touch);
    if (exec->launches == 1) {
        if (is_one)
            note_first(run, &upload, touch);
        return;
    }
    one->sent = is_one && upload.write == one->address && one->updated == exec->updated
                    ? upload.write_bytes
                    : 0;
    if (one->sent == 0 || one->sent == one->first)
        return;
    one->more += one->sent > one->first;
    one->less += one->sent < one->first;
    if (one->more + one->less == 1 || one->sent > one->first) {
        one->other = one->sent;
        one->upload = upload.call;
        one->launch = seen->call;
    }
}

static void on_read(gphi_rule_run *run, uint64_t address, uint64_t bytes)
{
    const gphi_exec_history *exec = run->history->recent[0];
    gphi_size_item *one = exec ? item_of(run, exec) : NULL;
    if (!one || one->sent == 0 ||
        !gphi_history_touches(run->history, exec, address, bytes))
        return;
    if (exec->launches == 1 && one->read_bytes == 0) {
        one->read = address;
        one->read_bytes = bytes;
    } else if (address == one->read && one->sent > one->first)
        one->is_grown |= bytes > one->read_bytes;
    else if (address == one->read && one->sent < one->first && bytes == one->read_bytes)
        one->as_many++;
    else if (one->sent < one->first)
        one->is_shrunk_read = true;
}

void gphi_rule_size(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_call_ranges ranges;
    if (run->history->launched)
        on_launch(run, seen);
    else if (seen->work && !seen->work->is_captured && seen->call.result == 0 &&
             gphi_call_ranges_of(seen, &ranges) && ranges.to_host)
        on_read(run, ranges.read, ranges.read_bytes);
}

/* ---- the end ---- */

static void report(gphi_rule_run *run, const gphi_size_item *one)
{
    const gphi_call *made = gphi_snapshot_made(one->exec->source, one->node);
    const bool is_less = one->other < one->first;
    const char *sent = gphi_say_bytes(one->other);
    gphi_draft *draft = gphi_finding_begin(
        run, is_less || made->number == 0 ? &one->launch : made, one->address);
    if (one->is_copy)
        gphi_cause(
            draft,
            "%s takes the %s that were sent before the first launch; later %s were "
            "sent to the same place, and the graph still takes as many as then",
            gphi_say_node(one->exec->source, one->node), gphi_say_bytes(one->first),
            sent);
    else if (is_less)
        gphi_cause(draft,
                   "%s has the number %" PRIu64
                   " of the %s that were sent before the first launch; here %s were "
                   "sent, and the rest is what an earlier launch was given",
                   gphi_say_node(one->exec->source, one->node), one->number,
                   gphi_say_bytes(one->first), sent);
    else
        gphi_cause(draft,
                   "%s has the number %" PRIu64
                   " of the %s that were sent before the first launch; later %s were "
                   "sent, and more was read back, but the graph works on as much as then",
                   gphi_say_node(one->exec->source, one->node), one->number,
                   gphi_say_bytes(one->first), sent);
    gphi_evidence_call(draft, made, "the node was made by");
    gphi_evidence_call(draft, &one->first_upload,
                       "before the first launch it was sent by");
    gphi_evidence_call(draft, &one->upload, "later by");
    gphi_evidence_call(draft, &one->launch, "launched then by");
}

void gphi_rule_size_end(gphi_rule_run *run)
{
    const gphi_vec *items = run->state;
    GPHI_EACH (const gphi_size_item, one, items) {
        const bool is_more = one->more > 0 && (one->is_copy || one->is_grown);
        const bool is_less = one->more == 0 && one->less >= LAUNCHES_MIN &&
                             one->as_many >= LAUNCHES_MIN && !one->is_copy &&
                             !one->is_shrunk_read;
        if (is_more || is_less)
            report(run, one);
    }
}
