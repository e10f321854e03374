// SPDX-License-Identifier: Apache-2.0
/* Rule replay.turning-pointer, of copies: in the steps before the capture a copy went to, or
 * came from, another buffer of pinned memory each time, and the graph has one of these.
 *
 *   copy(ring[0], x)  copy(ring[1], x)    capture: copy(ring[2], x)    replay, replay ..
 *
 * Of a copy from the host it matters only if the host puts nothing new where the graph
 * reads. */
#include "doctor/rules/replay/rules_replay.h"

#include <inttypes.h>
#include <string.h>

enum { BACK_MAX = 512 };

/* The host's side of a copy, and the device's. */
typedef struct sides {
    uint64_t host, device, bytes;
    bool is_to_host;
} sides;

static bool is_pinned(const gphi_model *model, uint64_t address)
{
    const gphi_allocation *memory = gphi_model_memory(model, address, false);
    return memory &&
           (memory->kind == GPHI_MEM_PINNED || memory->kind == GPHI_MEM_REGISTERED);
}

static bool sides_of(const gphi_model *model, const gph_node *node, sides *out)
{
    if (node->kind != GPH_NODE_MEMCPY || node->u.memcpy.height > 1 ||
        node->u.memcpy.depth > 1)
        return false;
    const gph_memcpy_params *copy = &node->u.memcpy;
    const uint64_t to = gphi_copy_range(copy, &copy->dst).start;
    const uint64_t from = gphi_copy_range(copy, &copy->src).start;
    const bool is_to_host = is_pinned(model, to);
    *out = (sides){.host = is_to_host ? to : from,
                   .device = is_to_host ? from : to,
                   .bytes = copy->width_bytes,
                   .is_to_host = is_to_host};
    return is_to_host != is_pinned(model, from);
}

static bool is_same(const gphi_eager *item, const sides *of)
{
    return item->host != 0 && item->kernel == 0 && item->bytes == of->bytes &&
           item->is_to_host == of->is_to_host && item->address == of->device;
}

/* The same copy in the steps before, newest first; their number. */
static uint32_t copies_before(const gphi_look *at, const sides *of, uint64_t before,
                              const gphi_eager *found[GPHI_ROUNDS_MAX])
{
    const gphi_eager_log *log = &at->state->log;
    uint32_t count = 0;
    for (uint64_t i = log->count, n = 0; i-- > 0 && n < BACK_MAX; n++) {
        const gphi_eager *item = gphi_eager_at(log, i);
        if (!item || count == GPHI_ROUNDS_MAX)
            break;
        if (item->call.number >= before || !is_same(item, of))
            continue;
        if (count > 0 && item->steps == found[count - 1]->steps)
            break; /* of one step */
        found[count++] = item;
    }
    return count;
}

/* Memory that comes and goes has the addresses that the allocator likes. */
static bool were_there(const gphi_model *model, const gphi_eager *const *found,
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const gphi_allocation *memory = gphi_model_memory(model, found[i]->host, false);
        if (!memory || !is_pinned(model, found[i]->host) ||
            memory->allocated.number > found[count - 1]->call.number)
            return false;
    }
    return true;
}

static void look_at_copy(const gphi_look *at, uint32_t index, const sides *of,
                         uint64_t before)
{
    const gphi_eager *found[GPHI_ROUNDS_MAX];
    uint64_t values[GPHI_ROUNDS_MAX + 1];
    const uint32_t count = copies_before(at, of, before, found);
    for (uint32_t i = 0; i < count; i++)
        values[count - 1 - i] = found[i]->host;
    values[count] = of->host;
    if (count < 2 || !gphi_is_changing(values, count + 1) ||
        values[count - 1] == of->host || !were_there(at->run->model, found, count))
        return;
    gphi_stray *new = gphi_stray_add(at, GPHI_TURNING_POINTER);
    if (!new)
        return;
    new->node = index;
    new->bytes = 8;
    new->count = count + 1;
    memcpy(new->values, values, (count + 1) * sizeof(*values));
    new->eager = found[0]->call;
    new->before = found[1]->call;
    new->address = of->host;
    new->is_copy = true;
}

void gphi_turn_look(const gphi_look *at, uint64_t before)
{
    const gph_graph *graph = gphi_snapshot_graph(at->exec->source);
    sides of;
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++)
        if (sides_of(at->run->model, gph_graph_node(graph, i), &of))
            look_at_copy(at, i, &of, before);
}

/* Before a launch: what the graph reads from the host is what it was, or not. */
void gphi_turn_event(gphi_rule_run *run, const gphi_event *event,
                     const gphi_exec_state *exec)
{
    const gphi_replay_state *state = run->state;
    gphi_host_bytes now;
    for (uint32_t nth = 0; gphi_event_host(event, nth, &now); nth++) {
        GPHI_EACH (gphi_stray, one, &state->suspects) {
            if (!one->is_copy || one->exec->exec != exec || one->address != now.address ||
                !(now.flags & GPHI_HOST_HASHED))
                continue;
            one->is_refilled |= one->length != 0 && one->length != now.hash;
            one->length = now.hash;
        }
    }
}

/* Another graph of the sort has another buffer there. */
static bool has_sibling(const gphi_history *history, const gphi_stray *of)
{
    for (size_t i = 0; i < history->execs.count; i++) {
        const gphi_exec_history *other = gphi_history_exec_at(history, i);
        if (other != of->exec && other->class_hash == of->exec->class_hash &&
            other->values_hash != of->exec->values_hash && other->launches > 0)
            return true;
    }
    return false;
}

bool gphi_turn_is_wrong(const gphi_history *history, const gphi_stray *of)
{
    return !of->is_refilled && !has_sibling(history, of);
}

void gphi_turn_report(const gphi_rule_run *run, const gphi_stray *of, gphi_draft *draft)
{
    const gphi_exec_history *exec = of->exec;
    gphi_cause(draft,
               "%s has %s in all the %" PRIu64 " launches of its graph; in the steps "
               "before the capture the same copy had another buffer each time, the last "
               "time %s",
               gphi_say_node(exec->source, of->node),
               gphi_say_memory(run->model, of->values[of->count - 1]), exec->launches,
               gphi_say_memory(run->model, of->values[of->count - 2]));
    gphi_evidence_call(draft, &of->before, "in a step it was done by");
    gphi_evidence_call(draft, &of->eager, "in the last one before the capture by");
    gphi_evidence_call(draft, &exec->first_launch, "first launched by");
}
