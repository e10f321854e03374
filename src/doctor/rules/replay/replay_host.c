// SPDX-License-Identifier: Apache-2.0
/* Rule replay.frozen-value, of host memory: in each step before the capture the host computed what
 * it then copied to the device; the graph copies from a buffer that the host does not fill any
 * more.
 *
 *   fill, copy    fill, copy    fill, copy    capture(fill, copy)    launch    launch
 *
 * The copies belong together by the line that makes them and their size. */
#include "doctor/findings/stacks.h"
#include "doctor/rules/replay/rules_replay.h"

#include <inttypes.h>
#include <string.h>

enum { HOSTS_MAX = 256, LAUNCHES_SEEN = 3, COPIES_MIN = 3 };

void gphi_host_event(gphi_rule_run *run, const gphi_event *event,
                     const gphi_exec_state *exec)
{
    gphi_replay_state *state = run->state;
    gphi_host_bytes now;
    for (uint32_t nth = 0; gphi_event_host(event, nth, &now); nth++) {
        const uint64_t key[] = {exec->created.number, now.address};
        gphi_host_source *one =
            (now.flags & GPHI_HOST_HASHED) != 0
                ? gphi_vec_keyed(&state->hosts, key, sizeof(key), HOSTS_MAX)
                : NULL;
        if (!one)
            continue;
        one->changes += one->seen > 0 && one->hash != now.hash;
        one->hash = one->seen > 0 ? one->hash : now.hash;
        one->seen++;
    }
}

bool gphi_is_same_line(const gphi_model *model, const gphi_call *a, const gphi_call *b)
{
    uint32_t count[2];
    const gph_place *first = gphi_stacks_frames(model->stacks, a->stack, &count[0]);
    const gph_place *second = gphi_stacks_frames(model->stacks, b->stack, &count[1]);
    if (!first || !second || count[0] == 0 || count[1] == 0)
        return false;
    first += gphi_stacks_own(model->stacks, first, count[0]);
    second += gphi_stacks_own(model->stacks, second, count[1]);
    return first->file && second->file && first->line == second->line &&
           strcmp(first->file, second->file) == 0;
}

/* The last copies of so many bytes before the capture, at the line of the captured one, the last
 * first: each with other contents than the one before. */
static bool has_changed(const gphi_look *at, const gphi_call *made, uint64_t bytes,
                        uint64_t before, gphi_stray *to)
{
    const gphi_eager_log *log = &at->state->log;
    uint64_t contents[GPHI_ROUNDS_MAX];
    uint32_t count = 0;
    for (uint64_t i = log->count; i-- > 0 && count < GPHI_ROUNDS_MAX;) {
        const gphi_eager *item = gphi_eager_at(log, i);
        if (!item)
            break;
        if (item->call.number > before || !item->is_from_host || item->bytes != bytes ||
            item->contents == 0 || !gphi_is_same_line(at->run->model, &item->call, made))
            continue;
        if (count > 0 && contents[count - 1] == item->contents)
            return false;
        if (count < 2)
            *(count == 0 ? &to->eager : &to->before) = item->call;
        contents[count++] = item->contents;
    }
    return count >= COPIES_MIN;
}

void gphi_host_look(gphi_look *at, uint64_t before)
{
    const gphi_snapshot *source = at->exec->source;
    const gph_graph *graph = gphi_snapshot_graph(source);
    for (uint32_t i = 0; graph && i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        gphi_stray found = {.kind = GPHI_FROZEN_VALUE};
        if (node->kind != GPH_NODE_MEMCPY)
            continue;
        const gphi_range range = gphi_copy_range(&node->u.memcpy, &node->u.memcpy.src);
        if (!has_changed(at, gphi_snapshot_made(source, i), range.bytes, before, &found))
            continue;
        gphi_stray *new = gphi_stray_add(at, GPHI_FROZEN_VALUE);
        if (!new)
            return;
        new->node = i;
        new->is_host = new->needs_reads = true;
        new->address = range.start;
        new->length = range.bytes;
        new->eager = found.eager;
        new->before = found.before;
    }
}

bool gphi_host_is_kept(const gphi_rule_run *run, const gphi_stray *of)
{
    const gphi_replay_state *state = run->state;
    GPHI_EACH (const gphi_host_source, one, &state->hosts)
        if (one->created == of->exec->created && one->address == of->address)
            return one->seen >= LAUNCHES_SEEN && one->changes == 0;
    return false;
}

void gphi_host_report(const gphi_rule_run *run, const gphi_stray *of, gphi_draft *draft)
{
    const gphi_exec_history *exec = of->exec;
    gphi_cause(draft,
               "%s copies %s from host memory at 0x%" PRIx64 ", which the host has not "
               "written since the capture; in each step before it that line copied other "
               "contents, and the graph has the same ones in all its %" PRIu64
               " launches",
               gphi_say_node(exec->source, of->node), gphi_say_bytes(of->length),
               of->address, exec->launches);
    (void)run;
    gphi_evidence_call(draft, &of->before, "a step copied by");
    gphi_evidence_call(draft, &of->eager, "the last one before the capture by");
    gphi_evidence_call(draft, &exec->first_launch, "first launched by");
    gphi_fix(
        draft,
        "Here: keep one pinned buffer, and write the new contents into it before each "
        "launch.");
}
