// SPDX-License-Identifier: Apache-2.0
/* Rule perf.host-function: a host function in a graph that takes long at each launch.
 *
 *   kernels after it in the graph   they wait for it
 *   it does not compute, but waits  perhaps for a lock that the waiting thread has: then
 *                                   each waits for the other
 *
 * Softcuda says how long each took; NVIDIA's driver does not. */
#include "base/clock.h"
#include "doctor/rules/perf/rules_perf.h"

#include <inttypes.h>

enum { HOSTS_MAX = 256, TIMES_MIN = 3 };
enum { LONG_NS = 1000000, WAIT_NS = 50000000 };

void gphi_rule_host_function_event(gphi_rule_run *run, const gphi_event *event)
{
    if (event->kind != GPHI_EVENT_NOTE || event->id != GPHI_NOTE_HOST)
        return;
    const uint64_t key[] = {gphi_event_word(event, 0), gphi_event_word(event, 1)};
    gphi_host_time *one = gphi_vec_keyed(run->state, key, sizeof(key), HOSTS_MAX);
    if (!one)
        return;
    const uint64_t took =
        gphi_span_ns(gphi_event_word(event, 2), gphi_event_word(event, 3));
    one->times++;
    one->ns += took;
    one->cpu_ns += gphi_event_word(event, 4);
    if (took > one->longest_ns)
        one->longest_ns = took;
}

/* The node of a graph that calls it; GPH_NODE_NONE: none. */
static uint32_t node_of(const gphi_exec_history *exec, const gphi_host_time *one)
{
    const gph_graph *graph = gphi_snapshot_graph(exec->source);
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        if (node->kind == GPH_NODE_HOST && node->u.host.function == one->function &&
            node->u.host.user == one->user)
            return i;
    }
    return GPH_NODE_NONE;
}

/* Kernels that come after a node. */
static uint32_t kernels_after(const gphi_model *model, const gphi_exec_history *exec,
                              uint32_t node)
{
    const gph_graph *graph = gphi_snapshot_graph(exec->source);
    uint32_t count = 0;
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++)
        count += i != node && gph_graph_node(graph, i)->kind == GPH_NODE_KERNEL &&
                 gphi_node_leads_to(model, graph, node, i);
    return count;
}

/* Whether it hardly computes in its time. */
static bool is_idle(const gphi_host_time *one)
{
    return one->cpu_ns < one->ns / 10;
}

static void report(gphi_rule_run *run, const gphi_host_time *one,
                   const gphi_exec_history *exec, uint32_t node, uint32_t after)
{
    const gphi_call *made = gphi_snapshot_made(exec->source, node);
    gphi_draft *draft =
        gphi_finding_begin(run, made->number != 0 ? made : &exec->exec->created, node);
    gphi_cause(draft,
               "the host function of %s of %s takes %.2f ms each time (%.2f ms at most, "
               "%s): %s",
               gphi_say_node(exec->source, node), gphi_say_exec(run->model, exec->exec),
               (double)one->ns * 1e-6 / (double)one->times,
               (double)one->longest_ns * 1e-6, gphi_say_count(one->times, "time"),
               after > 0 ? gphi_say("it holds up %s after it in the graph",
                                    gphi_say_count(after, "kernel"))
                         : "whoever waits for the graph waits for it");
    if (is_idle(one))
        gphi_evidence(
            draft,
            "it took %.2f ms of a processor in all: it does not compute, it waits. "
            "If it waits for a lock that the thread has which waits for the "
            "graph, both wait for each other",
            (double)one->cpu_ns * 1e-6);
    gphi_evidence_call(draft, &exec->last_launch, "last launched by");
}

void gphi_rule_host_function_end(gphi_rule_run *run)
{
    const gphi_history *history = run->history;
    GPHI_EACH (const gphi_host_time, one, (const gphi_vec *)run->state) {
        if (one->times < TIMES_MIN || one->ns < LONG_NS * one->times)
            continue;
        for (size_t i = 0; i < history->execs.count; i++) {
            const gphi_exec_history *exec = gphi_history_exec_at(history, i);
            const uint32_t node =
                exec->launches >= TIMES_MIN ? node_of(exec, one) : GPH_NODE_NONE;
            if (node == GPH_NODE_NONE)
                continue;
            const uint32_t after = kernels_after(run->model, exec, node);
            const bool waits = is_idle(one) && one->ns >= WAIT_NS * one->times;
            if (after > 0 || waits)
                report(run, one, exec, node, after);
            break;
        }
    }
}
