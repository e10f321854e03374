// SPDX-License-Identifier: Apache-2.0
/* Rule perf.hardly-replayed: graphs of many kinds, each recorded while the program is at
 * work and launched once or twice. Many of one kind are what rules of classes report
 * (cache_class.c). Recording at the start, for what this run does not come to, is not
 * meant, nor is the last graph, which may only begin; but a program that records as long as
 * it runs has no start. */
#include "doctor/findings/finding.h"
#include "doctor/rules/perf/rules_perf.h"

#include <inttypes.h>
#include <string.h>

enum { LAUNCHES_MAX = 2, GRAPHS_MIN = 8, ENDLESS_MIN = 20 };

typedef struct rare {
    uint64_t graphs, launches, nodes, bytes, captured_bytes;
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

/* To capture a step takes the host about as long as to launch it, unless a framework does much
 * else meanwhile: what it does for a kernel is about twice what the driver does. */
static double once_ns(const gphi_history *history, const gphi_exec_history *exec)
{
    const double launches = (double)exec->kernels * kernel_ns(history);
    const double captured = (double)exec->capture_ns;
    if (captured <= 0)
        return launches;
    return captured < 3 * launches ? captured : 3 * launches;
}

/* What was allocated while it was captured: a pool that frameworks give to graphs. */
static uint64_t allocated_for(const gphi_model *model, const gphi_exec_history *exec)
{
    const gphi_capture *capture = exec->source ? exec->source->capture : NULL;
    uint64_t bytes = 0;
    for (size_t i = 0; capture && i < model->allocations.count; i++) {
        const gphi_allocation *one = gphi_vec_pointer(&model->allocations, i);
        const uint64_t at = one->allocated.number;
        if (at > capture->begin.number && at < capture->end.number && !one->in)
            bytes += one->bytes;
    }
    return bytes;
}

static void add(rare *to, const gphi_history *history, const gphi_exec_history *exec)
{
    to->graphs++;
    to->launches += exec->launches;
    to->nodes += exec->nodes;
    to->bytes += gphi_snapshot_allocated(exec->source);
    to->captured_bytes += allocated_for(history->model, exec);
    to->capture_ns += (double)exec->capture_ns;
    to->instantiate_ns += (double)exec->instantiate_ns;
    to->launch_ns += (double)exec->launch_ns;
    to->eager_ns += (double)exec->launches * once_ns(history, exec);
    to->last = exec;
}

/* Graphs were launched since the one before was made, and (`is_endless`: or not) results
 * were read, or copied out, or inputs copied in. */
static bool is_at_work(const gphi_history *history, size_t index, bool is_endless)
{
    if (index == 0)
        return false;
    const gphi_moment *one = &gphi_history_exec_at(history, index)->made;
    const gphi_moment *before = &gphi_history_exec_at(history, index - 1)->made;
    return one->launches > before->launches &&
           (is_endless || one->reads > before->reads || one->moves > before->moves);
}

/* Of one kind so many are left here: more are what rules of classes report, where that is
 * a habit. */
static bool is_of_few(const gphi_history *history, const gphi_exec_history *exec,
                      const uint64_t *alike, bool is_endless)
{
    enum { KEPT_MAX = 15, ENDED_MAX = 7 };
    const uint64_t end = history->recent[0] ? history->recent[0]->last_launch.number : 0;
    if (exec->destroyed.number != 0 && exec->destroyed.number < end)
        return alike && *alike <= ENDED_MAX;
    return is_endless || (alike && *alike <= KEPT_MAX);
}

static rare sum_of(const gphi_rule_run *run, const gphi_map *classes, bool is_endless)
{
    const gphi_history *history = run->history;
    rare out = {.graphs = 0};
    for (size_t i = 0; i + 1 < history->execs.count; i++) {
        const gphi_exec_history *exec = gphi_history_exec_at(history, i);
        if (exec->launches > 0 && exec->launches <= LAUNCHES_MAX && exec->nodes > 0 &&
            exec->updated == 0 &&
            is_of_few(history, exec, gphi_map_get(classes, exec->class_hash),
                      is_endless) &&
            is_at_work(history, i, is_endless))
            add(&out, history, exec);
    }
    return out;
}

/* Recorded until the end: after the last one little was launched. */
static bool goes_on(const gphi_history *history, const rare *of)
{
    return of->graphs >= ENDLESS_MIN &&
           history->now.launches - of->last->made.launches < of->graphs;
}

/* By a rule of classes, whose end comes first. */
static bool is_told(const gphi_rule_run *run)
{
    static const char *const rules[] = {"cache.shape-explosion",
                                        "memory.executable-growth",
                                        "perf.instantiate-per-launch"};
    for (size_t i = 0; i < run->findings->drafts.count; i++) {
        const gphi_draft *draft = gphi_vec_pointer(&run->findings->drafts, i);
        for (size_t k = 0; k < sizeof(rules) / sizeof(rules[0]); k++)
            if (!draft->is_withdrawn && strcmp(draft->rule->id, rules[k]) == 0)
                return true;
    }
    return false;
}

void gphi_rule_hardly_replayed(gphi_rule_run *run)
{
    gphi_map classes;
    const gphi_history *history = run->history;
    gphi_map_init(&classes, run->model->heap);
    for (size_t i = 0; i < history->execs.count; i++)
        (void)gphi_map_count(&classes, gphi_history_exec_at(history, i)->class_hash);
    rare of = sum_of(run, &classes, false);
    if (of.graphs < GRAPHS_MIN) {
        of = sum_of(run, &classes, true);
        if (!goes_on(history, &of) || is_told(run))
            of.graphs = 0;
    }
    gphi_map_fini(&classes);
    const double cost = of.capture_ns + of.instantiate_ns + of.launch_ns;
    if (of.graphs < GRAPHS_MIN || of.graphs * 2 < history->execs.count ||
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
    if (of.captured_bytes > 0)
        gphi_evidence(draft, "%s were allocated while they were captured",
                      gphi_say_bytes(of.captured_bytes));
    gphi_evidence_call(draft, &of.last->first_launch, "the last of them is launched by");
}
