// SPDX-License-Identifier: Apache-2.0
/* Rules of what a program does around launches for nothing.
 *
 *   perf.idle-calls           uploads of what is uploaded, setters of what is set
 *   perf.wait-between-graphs  launch A, wait, launch B, wait, ...: one stream orders them
 *   perf.partly-captured      launch A, then the same kernels one by one, launch A, ... */
#include "doctor/rules/perf/rules_perf.h"

#include <inttypes.h>
#include <string.h>

enum { EXECS_MAX = 1024, NODES_MAX = 65536 };

/* ---- perf.idle-calls ---- */

/* What was done to an executable. */
typedef struct idle {
    uint64_t created; /* of the executable */
    uint64_t uploads, launches, sets, same_sets;
    uint64_t updates; /* values that were set before one say nothing after it */
    gphi_call upload, set, made;
    uint32_t thread;
    bool is_shared; /* by threads, whose calls may each be meant for themselves */
    bool is_ready;  /* uploaded or launched, and not edited since */
} idle;

void gphi_rule_idle_init(gphi_rule_run *run)
{
    gphi_idle_state *state = run->state;
    gphi_map_init(&state->values, run->model->heap);
    gphi_vec_init(&state->execs, run->model->heap, sizeof(idle));
}

void gphi_rule_idle_fini(gphi_rule_run *run)
{
    gphi_idle_state *state = run->state;
    gphi_map_fini(&state->values);
    gphi_vec_fini(&state->execs);
}

/* Of a kernel's parameters without the pointers to them; 0: the call sets no kernel's. */
static uint64_t hash_of(const gphi_seen *seen)
{
    const gphi_part *part = gphi_event_part(seen->event, GPHI_PART_PARAMS, 0);
    const CUDA_KERNEL_NODE_PARAMS *given =
        seen->call.call == GPHI_CALL_cuGraphExecKernelNodeSetParams
            ? gphi_bytes_of(seen->event, GPHI_PART_STRUCT, 2, sizeof(*given))
            : NULL;
    if (!given || !part)
        return 0;
    CUDA_KERNEL_NODE_PARAMS params = *given;
    params.kernelParams = params.extra = NULL;
    return gphi_hash_bytes(gphi_hash_bytes(1, &params, sizeof(params)),
                           gphi_part_bytes(part), part->bytes);
}

static void on_set(gphi_rule_run *run, const gphi_seen *seen, idle *one, uint64_t hash)
{
    gphi_idle_state *state = run->state;
    const uint64_t key = gphi_hash_word(
        gphi_hash_word(one->created, gphi_event_word(seen->event, 1)), one->updates);
    const uint64_t *old = gphi_map_get(&state->values, key);
    one->sets++;
    if (old && *old == hash) {
        one->same_sets++;
        one->set = seen->call;
        return;
    }
    one->is_ready = false;
    if ((old || state->values.count < NODES_MAX) &&
        gphi_map_set(&state->values, key, hash) != GPH_OK)
        gphi_short(run);
}

static void on_upload(const gphi_seen *seen, idle *one)
{
    if (one->is_ready) {
        one->uploads++;
        one->upload = seen->call;
    }
    one->is_ready = true;
}

void gphi_rule_idle_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_idle_state *state = run->state;
    const bool is_launch = gphi_is_launch(seen);
    const bool is_upload = seen->call.call == GPHI_CALL_cuGraphUpload;
    const char *name = gphi_call_name(seen->call.call);
    if (!seen->exec || seen->call.result != 0 || seen->capture ||
        seen->call.call == GPHI_CALL_cuGraphExecDestroy ||
        gphi_call_is_instantiation(seen->call.call))
        return;
    const uint64_t created = seen->exec->created.number;
    idle *one = gphi_vec_keyed(&state->execs, &created, sizeof(created), EXECS_MAX);
    if (!one)
        return;
    one->is_shared |= one->made.number != 0 && one->thread != seen->call.thread;
    one->thread = seen->call.thread;
    one->made = seen->exec->created;
    const uint64_t hash = hash_of(seen);
    if (is_launch) {
        one->launches++;
        one->is_ready = true;
    } else if (is_upload)
        on_upload(seen, one);
    else if (hash != 0)
        on_set(run, seen, one, hash);
    else if (!strstr(name, "Get")) {
        one->is_ready = false;
        one->updates++;
    }
}

void gphi_rule_idle_end(gphi_rule_run *run)
{
    enum { UPLOADS_MIN = 16, SETS_MIN = 64 };
    const gphi_idle_state *state = run->state;
    GPHI_EACH (const idle, one, &state->execs) {
        if (one->is_shared)
            continue;
        if (one->uploads >= UPLOADS_MIN && one->uploads * 2 >= one->launches) {
            gphi_draft *draft = gphi_finding_begin(run, &one->upload, one->created);
            gphi_cause(draft,
                       "%" PRIu64 " uploads, for %" PRIu64
                       " launches, were of an executable that was on the device already "
                       "and that nothing had changed",
                       one->uploads, one->launches);
            gphi_evidence_call(draft, &one->made, "it was instantiated by");
        }
        if (one->same_sets >= SETS_MIN && one->same_sets * 4 >= one->sets * 3) {
            gphi_draft *draft = gphi_finding_begin(run, &one->set, one->created);
            gphi_cause(draft,
                       "%" PRIu64 " of %" PRIu64 " setters, for %" PRIu64
                       " launches, gave a kernel node the parameters that it had",
                       one->same_sets, one->sets, one->launches);
            gphi_evidence_call(draft, &one->made, "the graph was instantiated by");
        }
    }
}

/* ---- perf.wait-between-graphs ---- */

/* Whether what the graph computes can come to the host without a copy by a call. */
static bool is_seen_by_host(const gphi_exec_history *exec)
{
    const gph_graph *graph = gphi_snapshot_graph(exec->source);
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node_kind kind = gph_graph_node(graph, i)->kind;
        if (kind != GPH_NODE_KERNEL && kind != GPH_NODE_MEMSET && kind != GPH_NODE_EMPTY)
            return true;
    }
    GPHI_EACH (const gphi_touch, touch, &exec->touches)
        if (!touch->memory || touch->memory->kind == GPHI_MEM_PINNED ||
            touch->memory->kind == GPHI_MEM_REGISTERED ||
            touch->memory->kind == GPHI_MEM_MANAGED)
            return true;
    return !graph;
}

/* Between the wait and the next launch nothing else may stand: a read, an edit, a free and
 * a measured time are all good reasons to wait. */
void gphi_rule_between_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_between *state = run->state;
    const gphi_exec_history *exec = run->history->launched;
    if (exec) {
        const bool is_other = state->exec != 0 && state->exec != exec->created &&
                              state->thread == seen->call.thread &&
                              state->stream == seen->stream;
        if (is_other && state->is_waited && !state->is_spoilt) {
            state->count++;
            state->wait_ns += state->last.duration_ns;
            state->wait = state->last;
            state->launch = seen->call;
        }
        *state =
            (gphi_between){.exec = exec->created,
                           .thread = seen->call.thread,
                           .stream = seen->stream,
                           .count = state->count,
                           .wait_ns = state->wait_ns,
                           .wait = state->wait,
                           .launch = state->launch,
                           .is_spoilt = exec->launches == 1 || is_seen_by_host(exec)};
        return;
    }
    if (gphi_call_is_wait(seen->call.call) && !seen->work) {
        state->is_waited = true;
        state->last = seen->call;
    } else
        state->is_spoilt = true;
}

void gphi_rule_between_end(gphi_rule_run *run)
{
    enum { WAITS_MIN = 64 };
    const gphi_between *state = run->state;
    if (state->count < WAITS_MIN)
        return;
    gphi_draft *draft = gphi_finding_begin(run, &state->wait, 0);
    gphi_cause(draft,
               "the host waited %" PRIu64
               " times between the launches of two graphs in one stream, and did nothing "
               "there but launch the next: the stream orders them without it",
               state->count);
    gphi_evidence(draft, "%.1f us a wait; meanwhile the device has nothing to do next",
                  (double)state->wait_ns * 1e-3 / (double)state->count);
    gphi_evidence_call(draft, &state->launch, "the launch after the last of them is");
}

/* ---- perf.partly-captured ---- */

static void on_eager(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_partly *state = run->state;
    const gphi_part *part = gphi_event_part(seen->event, GPHI_PART_PARAMS, 0);
    state->hash =
        gphi_hash_word(state->hash, gphi_launched_kernel(run->model, seen->event));
    if (part)
        state->hash = gphi_hash_bytes(state->hash, gphi_part_bytes(part), part->bytes);
    state->is_spoilt |= state->is_waited || !part; /* a decision of the host's, perhaps */
    state->count++;
    state->last = seen->call;
}

void gphi_rule_partly_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_partly *state = run->state;
    const gphi_exec_history *exec = run->history->launched;
    gphi_call_ranges ranges;
    if (seen->call.result != 0 || seen->capture)
        return;
    if (!exec) {
        if (gphi_call_is_kernel(seen->call.call))
            on_eager(run, seen);
        else if (gphi_call_is_wait(seen->call.call) ||
                 (gphi_call_ranges_of(seen, &ranges) && ranges.to_host))
            state->is_waited = true;
        return;
    }
    const bool is_again = state->exec == exec->created && state->hash == state->before &&
                          !state->is_spoilt && state->count > 0;
    state->rounds = is_again ? state->rounds + 1 : 0;
    if (state->rounds > state->best.rounds)
        state->best = (gphi_partly_best){.rounds = state->rounds,
                                         .count = state->count,
                                         .kernels = exec->kernels,
                                         .at = state->last,
                                         .launch = seen->call};
    state->before = state->hash;
    state->exec = exec->created;
    state->hash = state->count = 0;
    state->is_spoilt = state->is_waited = false;
}

/* Some kernels beside a graph are what cannot be captured, or what does not pay. */
void gphi_rule_partly_end(gphi_rule_run *run)
{
    enum { ROUNDS_MIN = 16, KERNELS_MIN = 16, TIMES = 4 };
    const gphi_partly_best *best = &((const gphi_partly *)run->state)->best;
    if (best->rounds < ROUNDS_MIN || best->count < KERNELS_MIN ||
        best->count < (uint64_t)TIMES * best->kernels)
        return;
    gphi_draft *draft = gphi_finding_begin(run, &best->at, 0);
    gphi_cause(draft,
               "after each launch of a graph of %s the same %" PRIu64
               " kernels were launched one by one, with the same arguments, %" PRIu64
               " times in a row: most of the step is not in the graph, and could be",
               gphi_say_count(best->kernels, "kernel"), best->count, best->rounds + 1);
    gphi_evidence_call(draft, &best->launch, "the graph is launched by");
}
