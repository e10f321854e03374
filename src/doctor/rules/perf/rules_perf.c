// SPDX-License-Identifier: Apache-2.0
/* Rules perf.*: what graphs would gain, and what they lose. GPU times are not known
 * without a profiler: what is concluded from how long the host waited says so. */
#include "doctor/rules/perf/rules_perf.h"
#include "base/clock.h"
#include "doctor/findings/finding.h"
#include "doctor/rules/rules.h"

#include <inttypes.h>
#include <string.h>

/* ---- perf.launch-bound ---- */

/* Kernels launched one by one, and where from. */
typedef struct eager {
    gphi_map stacks; /* number -> launches */
    uint64_t launches, wait_ns_first, wait_ns_last, first_ns;
    gphi_call last;
    bool is_advised; /* windows are measured for the advice, which answers this */
} eager;

static void launch_bound_call(gphi_rule_run *run, const gphi_seen *seen)
{
    eager *state = run->state;
    const gphi_history *history = run->history;
    if (!gphi_call_is_kernel(seen->call.call) || seen->call.result != 0 || seen->capture)
        return;
    const uint64_t key = seen->call.stack != 0
                             ? seen->call.stack
                             : gphi_launched_kernel(run->model, seen->event);
    if (state->stacks.count < 65536)
        (void)gphi_map_count(&state->stacks, key);
    if (state->launches++ == 0) {
        state->first_ns = seen->call.time_ns;
        state->wait_ns_first = history->now.wait_ns;
    }
    state->wait_ns_last = history->now.wait_ns;
    state->last = seen->call;
}

static void launch_bound_event(gphi_rule_run *run, const gphi_event *event)
{
    eager *state = run->state;
    const uint64_t what = gphi_event_word(event, 0);
    state->is_advised =
        state->is_advised || (event->kind == GPHI_EVENT_GPU &&
                              (what == GPHI_GPU_WINDOW || what == GPHI_GPU_ANCHORS));
}

/* Few places launch most kernels, and the host seldom waits: then it is what is slow. */
static void launch_bound_end(gphi_rule_run *run)
{
    enum { LAUNCHES_MIN = 200, REPEATS_MIN = 8, GAP_MAX_NS = 200000 };
    const eager *state = run->state;
    const gphi_history *history = run->history;
    if (state->is_advised || state->launches < LAUNCHES_MIN ||
        state->stacks.count * REPEATS_MIN > state->launches)
        return;
    uint64_t in_graphs = 0;
    for (size_t i = 0; i < history->execs.count; i++) {
        const gphi_exec_history *exec = gphi_history_exec_at(history, i);
        in_graphs += exec->launches * exec->kernels;
    }
    /* with the wait after the last launch */
    const uint64_t span = gphi_span_ns(state->first_ns, state->last.time_ns) +
                          gphi_span_ns(state->wait_ns_last, history->now.wait_ns);
    const uint64_t waited = gphi_span_ns(state->wait_ns_first, history->now.wait_ns);
    if (in_graphs > state->launches || span == 0 || waited * 10 > span * 3 ||
        gphi_span_ns(waited, span) / state->launches > GAP_MAX_NS)
        return;
    gphi_draft *draft = gphi_finding_begin(run, &state->last, 0);
    gphi_cause(draft,
               "%" PRIu64
               " kernels were launched one by one from %s; the host waited for the "
               "device for only %.0f %% of the time, so the device waits for the host",
               state->launches, gphi_say_count(state->stacks.count, "place"),
               100.0 * (double)waited / (double)span);
    gphi_evidence(draft,
                  "%.1f us from launch to launch, waiting left out (%.1f us in the "
                  "driver's call); in a graph a node takes about 1 us",
                  (double)(span - waited) * 1e-3 / (double)state->launches,
                  (double)history->now.kernel_ns * 1e-3 / (double)history->now.kernels);
    gphi_evidence(draft, "concluded from how long the host waited, not from GPU times");
}

/* ---- perf.giant-kernel ---- */

typedef struct giant {
    uint64_t steps;    /* waits with work before them */
    uint64_t launches; /* in these */
    uint64_t wait_ns, first_ns, last_ns;
    uint32_t since; /* launches since the last wait */
    gphi_call launch, longest;
    uint64_t longest_ns;
    uint64_t gpu_ns, gpu_count; /* of GPU records */
} giant;

/* A step is what lies between two waits of the host. */
static void giant_call(gphi_rule_run *run, const gphi_seen *seen)
{
    giant *state = run->state;
    if (seen->capture || seen->call.result != 0)
        return;
    if (gphi_call_is_kernel(seen->call.call) || gphi_is_launch(seen)) {
        state->since++;
        state->launch = seen->call;
        return;
    }
    if (!gphi_call_is_wait(seen->call.call) || state->since == 0)
        return;
    state->last_ns = seen->call.time_ns + seen->call.duration_ns;
    if (state->first_ns == 0) { /* kernels are loaded in the first step */
        state->first_ns = state->last_ns;
        state->since = 0;
        return;
    }
    state->steps++;
    state->launches += state->since;
    state->since = 0;
    state->wait_ns += seen->call.duration_ns;
    if (seen->call.duration_ns > state->longest_ns) {
        state->longest_ns = seen->call.duration_ns;
        state->longest = state->launch;
    }
}

static void giant_event(gphi_rule_run *run, const gphi_event *event)
{
    giant *state = run->state;
    if (event->kind != GPHI_EVENT_GPU || gphi_event_word(event, 0) != GPHI_GPU_KERNEL)
        return;
    state->gpu_ns += gphi_span_ns(gphi_event_word(event, 1), gphi_event_word(event, 2));
    state->gpu_count++;
}

static void giant_end(gphi_rule_run *run)
{
    enum { STEPS_MIN = 4, NS_MIN = 1000000 };
    const giant *state = run->state;
    const uint64_t span = gphi_span_ns(state->first_ns, state->last_ns);
    const bool has_gpu = state->gpu_count > 0;
    const uint64_t each_ns = has_gpu               ? state->gpu_ns / state->gpu_count
                             : state->launches > 0 ? state->wait_ns / state->launches
                                                   : 0;
    if (state->steps < STEPS_MIN || each_ns < NS_MIN || span == 0 ||
        state->wait_ns * 3 < span * 2)
        return;
    gphi_draft *draft = gphi_finding_begin(run, &state->longest, 0);
    gphi_cause(draft,
               "a launch takes %.2f ms of the device on average, and the host waits for "
               "%.0f %% of the time: launching faster, by a graph, gains nothing",
               (double)each_ns * 1e-6,
               100.0 * (double)(state->wait_ns < span ? state->wait_ns : span) /
                   (double)span);
    gphi_evidence(draft, "%" PRIu64 " launches, waited for %" PRIu64 " times",
                  state->launches, state->steps);
    gphi_evidence(draft, has_gpu ? "from GPU times of the kernels"
                                 : "concluded from how long the host waited");
}

/* Whether memory.growth, whose end comes first, has found something: a program that leaks
 * at every step has that to mend, and what a step could save is info beside it. */
static bool is_leaking(const gphi_rule_run *run)
{
    for (size_t i = 0; i < run->findings->drafts.count; i++) {
        const gphi_draft *draft = gphi_vec_pointer(&run->findings->drafts, i);
        if (!draft->is_withdrawn && !draft->is_mild &&
            strcmp(draft->rule->id, "memory.growth") == 0)
            return true;
    }
    return false;
}

/* ---- perf.tiny-graphs ---- */

typedef struct tiny {
    uint64_t run, total, nodes, runs;
    uint64_t first_ns, last_ns; /* of all of them, to the wait after the last */
    gphi_call last;
    /* Steps, from wait to wait, with one launch of a graph of one kernel and no other. */
    uint64_t steps, steps_ns, began_ns;
    uint64_t launched, kernels; /* since the last wait; kernels launched until then */
    gphi_call only;
    bool launches_inside; /* kernels may launch graphs, which they can from graphs only */
} tiny;

enum { TINY_NODES = 2, TINY_RUN = 3, TINY_FIRST = 8 };

static void end_run(tiny *state)
{
    if (state->run >= TINY_RUN) {
        state->total += state->run;
        state->runs++;
    }
    state->run = 0;
}

/* What follows is another step: a new input, work of another stream that is waited for. */
static bool begins_step(const gphi_seen *seen)
{
    gphi_call_ranges ranges;
    return seen->call.call == GPHI_CALL_cuStreamWaitEvent ||
           (seen->work && gphi_call_ranges_of(seen, &ranges) && ranges.from_host);
}

static bool is_one_kernel(const gphi_exec_history *exec)
{
    return exec->nodes == 1 && exec->kernels == 1 && !exec->has_bodies;
}

static void count_alone(tiny *state, const gphi_history *history, const gphi_seen *seen)
{
    const gphi_exec_history *exec = history->launched;
    if (exec && exec->launches > TINY_FIRST) {
        state->began_ns = seen->call.time_ns;
        state->only = seen->call;
        state->launched += is_one_kernel(exec) ? 1 : 2;
    } else if (gphi_call_is_wait(seen->call.call) && !seen->capture) {
        const bool is_alone =
            state->launched == 1 && state->kernels == history->now.kernels;
        state->steps += is_alone;
        state->steps_ns +=
            is_alone ? seen->call.time_ns + seen->call.duration_ns - state->began_ns : 0;
        state->launched = 0;
        state->kernels = history->now.kernels;
    }
}

/* A run ends where the host waits, or a larger graph is launched. */
static void tiny_call(gphi_rule_run *run, const gphi_seen *seen)
{
    tiny *state = run->state;
    const gphi_history *history = run->history;
    const gphi_exec_history *exec = history->launched;
    state->launches_inside |=
        seen->exec &&
        (seen->exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0;
    count_alone(state, history, seen);
    if (exec && exec->launches <= TINY_FIRST) /* made for a step: another rule's */
        return;
    if (exec && exec->nodes > 0 && exec->nodes <= TINY_NODES) {
        if (state->first_ns == 0)
            state->first_ns = seen->call.time_ns;
        state->run++;
        state->nodes += exec->nodes;
        state->last = seen->call;
    } else if (exec || gphi_call_is_wait(seen->call.call) || begins_step(seen)) {
        end_run(state);
        if (state->first_ns != 0)
            state->last_ns = seen->call.time_ns + seen->call.duration_ns;
    }
}

/* What a launch takes, with all that is waited for: then the graph is small in nodes
 * alone. */
static bool takes_long(uint64_t span_ns, uint64_t launches)
{
    enum { LONG_NS = 200000 };
    return launches == 0 || span_ns / launches >= LONG_NS;
}

static void tell_alone(gphi_rule_run *run, const tiny *state)
{
    gphi_draft *draft = gphi_finding_begin(run, &state->only, 1);
    gphi_cause(
        draft,
        "%" PRIu64
        " launches of a graph of one kernel were waited for one by one: each costs "
        "nearly what a launch of that kernel would, and the wait more",
        state->steps);
    gphi_evidence_call(draft, &state->only, "the last of them is");
    if (is_leaking(run))
        gphi_soften(draft);
}

static void tiny_end(gphi_rule_run *run)
{
    enum { TOTAL_MIN = 60, STEPS_MIN = 100 };
    tiny *state = run->state;
    end_run(state);
    if (state->total < TOTAL_MIN ||
        takes_long(gphi_span_ns(state->first_ns, state->last_ns), state->total)) {
        if (state->steps >= STEPS_MIN && !state->launches_inside &&
            !takes_long(state->steps_ns, state->steps))
            tell_alone(run, state);
        return;
    }
    gphi_draft *draft = gphi_finding_begin(run, &state->last, 0);
    gphi_cause(draft,
               "%" PRIu64
               " launches of graphs of one or two nodes came in %s without anything "
               "between that waits: each costs nearly what the launches of its kernels "
               "would",
               state->total, gphi_say_count(state->runs, "run"));
    gphi_evidence_call(draft, &state->last, "the last of them is");
}

/* ---- perf.update-for-slot ---- */

typedef struct updates {
    gphi_map counts; /* gphi_exec_history -> whole updates that changed arguments only */
    gphi_map idle;   /* gphi_exec_history -> those of them that changed nothing */
    gphi_map
        needed; /* call stack -> updates by it that were refused or changed something */
} updates;

/* Same shape, other values: that is what setters and slots are for. */
static void update_call(gphi_rule_run *run, const gphi_seen *seen)
{
    updates *state = run->state;
    const gphi_history *history = run->history;
    if (seen->call.call != GPHI_CALL_cuGraphExecUpdate || !seen->exec)
        return;
    if (seen->call.result != 0) {
        (void)gphi_map_count(&state->needed, seen->call.stack);
        return;
    }
    const gphi_exec_history *exec = gphi_history_exec(history, seen->exec);
    if (!exec)
        return;
    const bool is_idle = exec->old_values == exec->values_hash;
    if (!is_idle)
        (void)gphi_map_count(&state->needed, seen->call.stack);
    if (exec->old_shape != exec->shape_hash || exec->kernels == 0)
        return;
    (void)gphi_map_count(&state->counts, (uintptr_t)exec);
    if (is_idle)
        (void)gphi_map_count(&state->idle, (uintptr_t)exec);
}

/* A warning where no update from there ever did anything: else the program needs to ask,
 * and what it could save is info. */
static bool is_needed(const gphi_rule_run *run, const gphi_exec_history *exec)
{
    const updates *state = run->state;
    return gphi_map_get(&state->needed, exec->exec->updated.stack) || is_leaking(run);
}

static void update_end(gphi_rule_run *run)
{
    enum { UPDATES_MIN = 16 };
    const updates *state = run->state;
    const gphi_history *history = run->history;
    for (size_t i = 0; i < history->execs.count; i++) {
        const gphi_exec_history *exec = gphi_history_exec_at(history, i);
        const uint64_t *count = gphi_map_get(&state->counts, (uintptr_t)exec);
        if (!count || *count < UPDATES_MIN || *count * 2 < exec->launches ||
            exec->exec->created.number != exec->created)
            continue;
        const uint64_t *idle = gphi_map_get(&state->idle, (uintptr_t)exec);
        const bool is_idle = idle && *idle * 2 > *count;
        gphi_draft *draft = gphi_finding_begin(run, &exec->exec->updated, 0);
        gphi_cause(draft,
                   "%" PRIu64 " whole updates of a graph of %s, for %" PRIu64
                   " launches, changed %s",
                   *count, gphi_say_count(exec->nodes, "node"), exec->launches,
                   is_idle ? "nothing" : "arguments of kernels and nothing else");
        if (is_idle) {
            gphi_evidence(draft,
                          "%" PRIu64 " of them were by a graph that is the same, values "
                          "and addresses as well",
                          *idle);
            gphi_fix(draft, "Here: leave these updates out.");
        }
        if (!idle || *idle < *count || is_needed(run, exec))
            gphi_soften(draft);
        gphi_evidence_call(draft, &exec->exec->created, "the graph was instantiated by");
    }
}

/* ---- perf.static-copies ---- */

/* Copies on the device into and out of what a graph uses, between its launches. */
typedef struct copies {
    const gphi_exec_history *exec;
    uint64_t count, bytes, launches;
    gphi_call last;
} copies;

/* Looked at when a graph is launched: what was copied since its last launch. */
static void copies_call(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_history *history = run->history;
    const gphi_exec_history *exec = history->launched;
    (void)seen;
    if (!exec || history->before_work == 0)
        return;
    copies *one = NULL;
    const gphi_work *work = gphi_model_work_next(run->model, history->before_work);
    for (int i = 0; i < 256 && work && work->number < exec->last_work;
         i++, work = gphi_model_work_next(run->model, work->number)) {
        if (work->is_captured || work->read_bytes == 0 || work->write_bytes == 0)
            continue;
        const bool is_in =
            gphi_history_touches(history, exec, work->write, work->write_bytes);
        const bool is_out =
            gphi_history_touches(history, exec, work->read, work->read_bytes);
        const gphi_allocation *memory =
            gphi_model_memory(run->model, is_in ? work->write : work->read, false);
        if (is_in == is_out || (memory && memory->kind == GPHI_MEM_GRAPH))
            continue; /* memory of the graph's own lives no longer than until it is freed
                       */
        one = one ? one : gphi_vec_keyed(run->state, &exec, sizeof(exec), 1024);
        if (!one)
            return;
        one->count++;
        one->bytes += work->write_bytes;
        one->last = work->call;
    }
    if (one)
        one->launches++;
}

/* Measured on an H100 (docs/measurements.md): a kernel costs 3.3 us launched one by one
 * and 0.95 us as a node; a copy on the device about 2 us, and 2.6 TB/s of reading and
 * writing. */
static void copies_end(gphi_rule_run *run)
{
    enum { LAUNCHES_MIN = 16 };
    const gphi_vec *items = run->state;
    GPHI_EACH (const copies, one, items) {
        if (one->launches < LAUNCHES_MIN)
            continue;
        const double launches = (double)one->launches;
        const double cost =
            ((double)one->count * 2.0 + 2.0 * (double)one->bytes / 2.6e6) / launches;
        const double saved = 2.3 * (double)one->exec->kernels;
        if (cost < saved || one->exec->exec->created.number != one->exec->created)
            continue;
        gphi_draft *draft = gphi_finding_begin(run, &one->last, one->exec->created);
        gphi_cause(
            draft,
            "%.1f copies of %s a launch go into or out of the fixed buffers of a "
            "graph of %u kernels: about %.1f us, where the graph saves about %.1f us",
            (double)one->count / launches,
            gphi_say_bytes((uint64_t)((double)one->bytes / launches)), one->exec->kernels,
            cost, saved);
        gphi_evidence(draft,
                      "%" PRIu64 " launches; times are estimates from figures of an "
                      "H100, not measured here",
                      one->launches);
        gphi_evidence_call(draft, &one->exec->last_launch, "the graph is launched by");
    }
}

/* ---- perf.remap-each-launch ---- */

typedef struct remap {
    uint32_t trims; /* with a launch after them that had to map again */
    bool is_trimmed;
    gphi_call trim;
    uint64_t slow_ns, slow, other_ns, other; /* launches after a trim, and others */
} remap;

/* The first launch of an executable maps its memory anyhow: it is on neither side. */
static void remap_call(gphi_rule_run *run, const gphi_seen *seen)
{
    enum { TRIMS_MIN = 4 };
    remap *state = run->state;
    const gphi_history *history = run->history;
    if (seen->call.result != 0)
        return;
    const gphi_exec_history *exec = history->launched;
    if (seen->call.call == GPHI_CALL_cuDeviceGraphMemTrim) {
        state->is_trimmed = true;
        state->trim = seen->call;
        return;
    }
    if (!exec || exec->allocations.count == 0)
        return;
    if (!state->is_trimmed || exec->launches < 2) {
        state->other += exec->launches > 1;
        state->other_ns += exec->launches > 1 ? seen->call.duration_ns : 0;
        return;
    }
    state->is_trimmed = false;
    state->slow++;
    state->slow_ns += seen->call.duration_ns;
    if (++state->trims < TRIMS_MIN)
        return;
    gphi_draft *draft = gphi_finding_begin(run, &state->trim, 0);
    gphi_cause(draft,
               "graph memory was trimmed between launches %u times: the launch after it "
               "maps the graph's memory again",
               state->trims);
    gphi_evidence(draft, "such a launch took %.1f us of the host",
                  (double)state->slow_ns * 1e-3 / (double)state->slow);
    if (state->other > 0)
        gphi_evidence(draft, "others took %.1f us",
                      (double)state->other_ns * 1e-3 / (double)state->other);
    gphi_evidence_call(draft, &seen->call, "the launch is");
}

/* ---- the table ---- */

const gphi_rule gphi_rules_perf[] = {
    GPHI_RULE("perf.launch-bound", INFO, .state_bytes = sizeof(eager), .map_count = 1,
              .call = launch_bound_call, .event = launch_bound_event,
              .end = launch_bound_end),
    GPHI_RULE("perf.giant-kernel", INFO, .state_bytes = sizeof(giant), .call = giant_call,
              .event = giant_event, .end = giant_end),
    GPHI_RULE("perf.tiny-graphs", WARNING, .state_bytes = sizeof(tiny), .call = tiny_call,
              .end = tiny_end),
    GPHI_RULE("perf.instantiate-per-launch", WARNING,
              .end = gphi_rule_instantiate_per_launch),
    GPHI_RULE("perf.update-for-slot", WARNING, .state_bytes = sizeof(updates),
              .map_count = 3, .call = update_call, .end = update_end),
    GPHI_RULE("perf.small-kernels-same-buffers", INFO, .end = gphi_rule_same_buffers),
    GPHI_RULE("perf.static-copies", WARNING, .list_bytes = sizeof(copies),
              .call = copies_call, .end = copies_end),
    GPHI_RULE("perf.too-many-branches", INFO, .end = gphi_rule_too_many_branches),
    GPHI_RULE("perf.serialised", INFO, .end = gphi_rule_serialised),
    GPHI_RULE("perf.remap-each-launch", WARNING, .state_bytes = sizeof(remap),
              .call = remap_call),
    GPHI_RULE("perf.hardly-replayed", WARNING, .end = gphi_rule_hardly_replayed),
    GPHI_RULE("perf.host-loop", INFO, .state_bytes = sizeof(gphi_host_loop),
              .call = gphi_rule_host_loop_call, .end = gphi_rule_host_loop_end),
    GPHI_RULE("perf.idle-calls", WARNING, .state_bytes = sizeof(gphi_idle_state),
              .init = gphi_rule_idle_init, .call = gphi_rule_idle_call,
              .end = gphi_rule_idle_end, .fini = gphi_rule_idle_fini),
    GPHI_RULE("perf.wait-between-graphs", WARNING, .state_bytes = sizeof(gphi_between),
              .call = gphi_rule_between_call, .end = gphi_rule_between_end),
    GPHI_RULE("perf.partly-captured", WARNING, .state_bytes = sizeof(gphi_partly),
              .call = gphi_rule_partly_call, .end = gphi_rule_partly_end),
    GPHI_RULE("perf.pool-gives-back", WARNING, .state_bytes = sizeof(gphi_pool_rounds),
              .call = gphi_rule_pool_rounds_call, .end = gphi_rule_pool_rounds_end),
    GPHI_RULE("perf.host-function", WARNING, .list_bytes = sizeof(gphi_host_time),
              .event = gphi_rule_host_function_event, .end = gphi_rule_host_function_end),
    {.id = NULL},
};
