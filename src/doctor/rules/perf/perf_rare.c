// SPDX-License-Identifier: Apache-2.0
/* Rule perf.hardly-replayed: graphs of many kinds, each recorded while the program is at
 * work and launched once or twice. Many of one kind are what rules of classes report
 * (cache_class.c). Recording at the start, for what this run does not come to, is not
 * meant, nor is the last graph, which may only begin. */
#include "doctor/rules/perf/rules_perf.h"

#include <inttypes.h>

enum { LAUNCHES_MAX = 2, GRAPHS_MIN = 8, ALIKE_MAX = 3 };

typedef struct rare {
    uint64_t graphs, launches, nodes, bytes;
    double capture_ns, instantiate_ns, launch_ns;
    double eager_ns; /* what its launches would have taken one by one */
    const gphi_exec_history *last;
} rare;

/* A kernel launched by itself, in this run; else as an H100 takes (docs/measurements.md). */
static double kernel_ns(const gphi_history *history)
{
    enum { KERNELS_MIN = 16, H100_NS = 3300 };
    return history->now.kernels >= KERNELS_MIN
               ? (double)history->now.kernel_ns / (double)history->now.kernels
               : (double)H100_NS;
}

/* To capture a step takes the host about as long as to launch it. */
static void add(rare *to, const gphi_history *history, const gphi_exec_history *exec)
{
    const double once = exec->capture_ns > 0 ? (double)exec->capture_ns
                                             : (double)exec->kernels * kernel_ns(history);
    to->graphs++;
    to->launches += exec->launches;
    to->nodes += exec->nodes;
    to->bytes += gphi_snapshot_allocated(exec->source);
    to->capture_ns += (double)exec->capture_ns;
    to->instantiate_ns += (double)exec->instantiate_ns;
    to->launch_ns += (double)exec->launch_ns;
    to->eager_ns += (double)exec->launches * once;
    to->last = exec;
}

/* Results were read, or graphs launched, since the one before was made. */
static bool is_at_work(const gphi_history *history, size_t index)
{
    if (index == 0)
        return false;
    const gphi_exec_history *one = gphi_history_exec_at(history, index);
    const gphi_exec_history *before = gphi_history_exec_at(history, index - 1);
    return one->made.launches > before->made.launches &&
           one->made.reads > before->made.reads;
}

static rare sum_of(const gphi_rule_run *run, gphi_map *classes)
{
    const gphi_history *history = run->history;
    rare out = {.graphs = 0};
    for (size_t i = 0; i < history->execs.count; i++)
        (void)gphi_map_count(classes, gphi_history_exec_at(history, i)->class_hash);
    for (size_t i = 0; i + 1 < history->execs.count; i++) {
        const gphi_exec_history *exec = gphi_history_exec_at(history, i);
        const uint64_t *alike = gphi_map_get(classes, exec->class_hash);
        if (exec->launches > 0 && exec->launches <= LAUNCHES_MAX && exec->nodes > 0 &&
            exec->updated == 0 && alike && *alike <= ALIKE_MAX && is_at_work(history, i))
            add(&out, history, exec);
    }
    return out;
}

void gphi_rule_hardly_replayed(gphi_rule_run *run)
{
    gphi_map classes;
    gphi_map_init(&classes, run->model->heap);
    const rare of = sum_of(run, &classes);
    gphi_map_fini(&classes);
    const double cost = of.capture_ns + of.instantiate_ns + of.launch_ns;
    if (of.graphs < GRAPHS_MIN || of.graphs * 2 < run->history->execs.count ||
        cost < of.eager_ns)
        return;
    gphi_draft *draft = gphi_finding_begin(run, &of.last->exec->created, 0);
    gphi_cause(draft,
               "%" PRIu64 " graphs of %" PRIu64 " nodes were recorded while the program "
               "was at work and launched %" PRIu64 " times: that took the host %.2f ms, "
               "where the same launched one by one takes about %.2f ms",
               of.graphs, of.nodes, of.launches, cost * 1e-6, of.eager_ns * 1e-6);
    gphi_evidence(draft,
                  "%.2f ms in captures, %.2f ms in instantiations, %.2f ms in launches",
                  of.capture_ns * 1e-6, of.instantiate_ns * 1e-6, of.launch_ns * 1e-6);
    if (of.bytes > 0)
        gphi_evidence(draft, "their nodes allocate %s", gphi_say_bytes(of.bytes));
    gphi_evidence_call(draft, &of.last->first_launch, "the last of them is launched by");
}
