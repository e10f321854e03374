// SPDX-License-Identifier: Apache-2.0
/* Rules launch.*: launches that fail, wait, overlap, or run into what is gone. Here: what
 * a failing launch reports by itself, in the order of the table, where each rule leaves
 * alone what one before it has reported:
 *
 *   CUDA_ERROR_INVALID_VALUE   memory not freed > dead executable > a node refused
 *   CUDA_ERROR_INVALID_HANDLE  dead executable
 *   CUDA_ERROR_OUT_OF_MEMORY   out of memory
 *
 * and, after them, results that nobody looked at and first launches that were slow. */
#include "doctor/rules/launch/rules_launch.h"
#include "doctor/findings/said.h"
#include "doctor/rules/rules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { AUTO_FREE = 1 };

/* ---- what several rules want ---- */

static bool is_dead(const gphi_seen *seen)
{
    return !seen->exec || !seen->exec->is_alive;
}

/* The driver knows it dead where another thread's call to destroy it is still on its way
 * to us. */
static bool is_called_dead(const char *said)
{
    return gphi_said_has(said, "is not an executable graph") ||
           gphi_said_has(said, "is no executable graph") || /* older logs */
           gphi_said_has(said, "not a valid executable graph");
}

static void tell_made(gphi_draft *draft, const gphi_exec_state *exec)
{
    gphi_evidence_call(draft, &exec->created, "the executable was made by");
}

/* The last address in a sentence, or 0. */
static uint64_t address_in(const char *said)
{
    uint64_t out = 0;
    for (const char *at = said; (at = strstr(at, "0x")); at += 2)
        out = strtoull(at, NULL, 16);
    return out;
}

static const char *said_of(const gphi_rule_run *run, const gphi_seen *seen)
{
    return gphi_said_of(run->said, &seen->call);
}

/* ---- launch.unfreed-allocation ---- */

/* An allocation that the graph makes, does not free, and that lives. */
static uint32_t live_allocation(const gphi_rule_run *run, const gphi_snapshot *snapshot)
{
    const gph_graph *graph = gphi_snapshot_graph(snapshot);
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        if (node->kind != GPH_NODE_MEM_ALLOC ||
            gphi_snapshot_find(snapshot, GPH_NODE_MEM_FREE, node->u.memory.address) !=
                GPH_NODE_NONE)
            continue;
        const gphi_allocation *memory =
            gphi_model_memory(run->model, node->u.memory.address, false);
        if (memory && memory->freed.number == 0 && !memory->is_pending)
            return i;
    }
    return GPH_NODE_NONE;
}

/* Refused for an allocation of a node, which nothing may free until the end. */
struct unfreed {
    gphi_draft *draft;
    gphi_call made, launch;
    uint64_t address;
};

static void keep_unfreed(gphi_rule_run *run, gphi_draft *draft, const gphi_seen *seen,
                         uint32_t node)
{
    const gphi_snapshot *snapshot = seen->exec->source;
    enum { UNFREED_MAX = 64 };
    gphi_vec *items = run->state;
    struct unfreed *one = items->count < UNFREED_MAX ? gphi_vec_add(items, 1) : NULL;
    if (one)
        *one = (struct unfreed){
            .draft = draft,
            .made = *gphi_snapshot_made(snapshot, node),
            .launch = seen->call,
            .address = gph_graph_node(snapshot->data, node)->u.memory.address};
}

/* Where nobody ever frees it, that is the mistake, and not the second launch. */
static void unfreed_end(gphi_rule_run *run)
{
    const gphi_vec *items = run->state;
    GPHI_EACH (const struct unfreed, one, items) {
        const gphi_allocation *memory =
            gphi_model_memory(run->model, one->address, false);
        if (!memory || memory->freed.number != 0 || one->made.stack == 0)
            continue;
        gphi_evidence_call(one->draft, &one->launch, "the launch was refused by");
        gphi_evidence(one->draft, "nothing freed it until the end of the program");
        gphi_finding_move(one->draft, &one->made);
    }
}

/* By the driver's sentence where it gives one, which names the address; else by what the
 * model knows to be alive. With auto-free on launch it cannot be. */
static void unfreed_call(gphi_rule_run *run, const gphi_seen *seen)
{
    if (!gphi_call_is_start(seen->call.call) ||
        seen->call.result != CUDA_ERROR_INVALID_VALUE || is_dead(seen) ||
        (seen->exec->flags & AUTO_FREE) != 0)
        return;
    const char *said = said_of(run, seen);
    const gphi_snapshot *snapshot = seen->exec->source;
    uint32_t node = GPH_NODE_NONE;
    if (gphi_said_has(said, "unfreed allocation") ||
        gphi_said_has(said, "that an earlier launch made is not freed"))
        node = gphi_snapshot_find(snapshot, GPH_NODE_MEM_ALLOC, address_in(said));
    else if (said[0] != '\0')
        return;
    if (node == GPH_NODE_NONE)
        node = live_allocation(run, snapshot);
    if (node == GPH_NODE_NONE && said[0] == '\0')
        return;
    gphi_draft *draft = gphi_finding_begin(run, &seen->call, 0);
    if (!draft)
        return;
    if (node != GPH_NODE_NONE) {
        const gph_memory_params *memory = &gph_graph_node(snapshot->data, node)->u.memory;
        gphi_cause(draft, "%s that an earlier launch allocated is not freed",
                   gphi_say_memory(run->model, memory->address));
        gphi_evidence_node(draft, snapshot, node, "the allocation");
        keep_unfreed(run, draft, seen, node);
    } else {
        gphi_cause(draft, "memory that an earlier launch allocated is not freed");
    }
    gphi_evidence_call(draft, gphi_last_launch(seen->exec),
                       "launch %" PRIu64 ", that allocated it, by",
                       seen->exec->launch_count);
    tell_made(draft, seen->exec);
    gphi_evidence_said(draft, said);
}

/* ---- launch.dead-executable ---- */

/* By its handle in the first argument. */
static bool takes_executable(const gphi_seen *seen)
{
    return gphi_call_is_start(seen->call.call) ||
           seen->call.call == GPHI_CALL_cuGraphExecUpdate;
}

static void dead_call(gphi_rule_run *run, const gphi_seen *seen)
{
    const uint64_t handle = gphi_event_word(seen->event, 0);
    if (!takes_executable(seen) || gphi_is_told(run, &seen->call) ||
        (!is_dead(seen) && !is_called_dead(said_of(run, seen))) ||
        (seen->call.result != CUDA_ERROR_INVALID_VALUE &&
         seen->call.result != CUDA_ERROR_INVALID_HANDLE))
        return;
    gphi_draft *draft = gphi_finding_begin(run, &seen->call, 0);
    if (seen->exec)
        gphi_cause(draft, "%s was destroyed before%s",
                   gphi_say_exec(run->model, seen->exec),
                   is_dead(seen) ? "" : ", by another thread");
    else if (handle == 0)
        gphi_cause(draft, "the executable is NULL: it was never instantiated");
    else
        gphi_cause(draft, "0x%" PRIx64 " is not an executable that was ever instantiated",
                   handle);
    if (draft && seen->exec) {
        gphi_evidence_call(draft, &seen->exec->destroyed, "destroyed by");
        tell_made(draft, seen->exec);
    }
    gphi_evidence_said(draft, said_of(run, seen));
}

/* ---- launch.host-function-calls-cuda ---- */

static void host_call(gphi_rule_run *run, const gphi_seen *seen)
{
    if ((seen->call.flags & GPHI_CALL_HOST_NODE) == 0 ||
        seen->call.result != CUDA_ERROR_NOT_PERMITTED)
        return;
    gphi_draft *draft = gphi_finding_begin(run, &seen->call, 0);
    gphi_cause(draft, "a host function of a stream or graph called %s",
               gphi_call_name(seen->call.call));
    gphi_evidence_said(draft, said_of(run, seen));
}

/* ---- launch.out-of-memory ---- */

/* The executable's own memory is small: where the graph allocates, that is what is
 * large. */
static void memory_call(gphi_rule_run *run, const gphi_seen *seen)
{
    const bool makes = gphi_call_is_instantiation(seen->call.call);
    const gphi_snapshot *snapshot = seen->snapshot;
    if (seen->call.result != CUDA_ERROR_OUT_OF_MEMORY ||
        (!gphi_call_is_start(seen->call.call) && !makes))
        return;
    if (gphi_call_is_start(seen->call.call) && seen->exec)
        snapshot = seen->exec->source;
    const gph_graph *graph = gphi_snapshot_graph(snapshot);
    uint32_t largest = GPH_NODE_NONE, count = 0;
    uint64_t all = 0, most = 0;
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        if (node->kind != GPH_NODE_MEM_ALLOC)
            continue;
        count++;
        all += node->u.memory.bytes;
        if (node->u.memory.bytes > most) {
            most = node->u.memory.bytes;
            largest = i;
        }
    }
    gphi_draft *draft = gphi_finding_begin(run, &seen->call, 0);
    if (count > 0)
        gphi_cause(draft,
                   "no memory is left for the graph's %" PRIu32
                   " allocations of together %" PRIu64 " MiB, the largest of %" PRIu64
                   " MiB",
                   count, all >> 20, most >> 20);
    else
        gphi_cause(draft, "no memory is left for the executable itself");
    if (draft && largest != GPH_NODE_NONE)
        gphi_evidence_node(draft, snapshot, largest, "the largest");
    if (draft && seen->exec)
        tell_made(draft, seen->exec);
    gphi_evidence_said(draft, said_of(run, seen));
}

/* ---- launch.invalid-argument ---- */

/* Of kernels nobody knows which arguments they use: only copies and fills are refused. */
static bool uses_gone(const gphi_rule_run *run, const gph_node *node)
{
    return node->kind != GPH_NODE_KERNEL &&
           gphi_launch_gone_operand(run->model, node) != 0;
}

/* Frees what no launch has allocated, or what was freed since. */
static bool frees_nothing(const gphi_rule_run *run, const gphi_snapshot *snapshot,
                          const gph_node *node)
{
    if (node->kind != GPH_NODE_MEM_FREE ||
        gphi_snapshot_find(snapshot, GPH_NODE_MEM_ALLOC, node->u.memory.address) !=
            GPH_NODE_NONE)
        return false;
    const gphi_allocation *memory =
        gphi_model_memory(run->model, node->u.memory.address, false);
    return !memory || memory->is_pending || memory->freed.number != 0;
}

/* What is left of CUDA_ERROR_INVALID_VALUE: the driver looks at frees, copies and
 * fills. */
static void invalid_call(gphi_rule_run *run, const gphi_seen *seen)
{
    if (!gphi_call_is_start(seen->call.call) ||
        seen->call.result != CUDA_ERROR_INVALID_VALUE || is_dead(seen) ||
        gphi_is_told(run, &seen->call))
        return;
    const char *said = said_of(run, seen);
    const gphi_snapshot *snapshot = seen->exec->source;
    const gph_graph *graph = gphi_snapshot_graph(snapshot);
    const uint64_t address = address_in(said);
    uint32_t found = address != 0
                         ? gphi_snapshot_find(snapshot, GPH_NODE_MEM_FREE, address)
                         : GPH_NODE_NONE;
    for (uint32_t i = 0; found == GPH_NODE_NONE && i < gph_graph_node_count(graph); i++)
        if (frees_nothing(run, snapshot, gph_graph_node(graph, i)) ||
            uses_gone(run, gph_graph_node(graph, i)))
            found = i;
    gphi_draft *draft = gphi_finding_begin(run, &seen->call, 0);
    if (!draft)
        return;
    if (found == GPH_NODE_NONE) {
        gphi_cause(draft, "a node of %s was refused%s",
                   gphi_say_exec(run->model, seen->exec), gphi_say_said(said));
    } else {
        const gph_node *node = gph_graph_node(graph, found);
        if (node->kind == GPH_NODE_MEM_FREE)
            gphi_cause(
                draft,
                "%s frees %s, which no launch has allocated or another one has freed",
                gphi_say_node(snapshot, found),
                gphi_say_memory(run->model, node->u.memory.address));
        else
            gphi_cause(draft, "%s uses memory that was freed",
                       gphi_say_node(snapshot, found));
        gphi_evidence_node(draft, snapshot, found, "refused");
    }
    tell_made(draft, seen->exec);
    gphi_evidence_said(draft, said);
}

/* ---- launch.result-ignored ---- */

enum { IGNORED_MAX = 8 };

struct lost {
    gphi_call call;
    gphi_exec_state *exec;
};

struct ignored {
    struct lost lost[IGNORED_MAX];
    uint32_t count;
};

/* Codes that others report: captures, errors of the device, memory. A context that is
 * gone is the caller's own. */
static bool is_anyones(int32_t result)
{
    return (result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
            result < CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) ||
           (result >= CUDA_ERROR_ILLEGAL_ADDRESS &&
            result <= CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE &&
            result != CUDA_ERROR_CONTEXT_IS_DESTROYED) ||
           result == CUDA_ERROR_OUT_OF_MEMORY || result == CUDA_ERROR_DEINITIALIZED ||
           result == CUDA_ERROR_NOT_READY;
}

static bool reads_results(const gphi_seen *seen)
{
    switch (seen->call.call) {
    case GPHI_CALL_cuMemcpyDtoH:
    case GPHI_CALL_cuMemcpyDtoHAsync:
    case GPHI_CALL_cuMemcpy:
    case GPHI_CALL_cuMemcpyAsync:
    case GPHI_CALL_cuGraphLaunch: return seen->call.result == 0;
    default: return false;
    }
}

static void ignored_call(gphi_rule_run *run, const gphi_seen *seen)
{
    struct ignored *ignored = run->state;
    if (seen->call.call == GPHI_CALL_cuGraphLaunch && seen->call.result != 0) {
        if (!is_anyones(seen->call.result) && seen->exec && seen->exec->is_alive &&
            ignored->count < IGNORED_MAX)
            ignored->lost[ignored->count++] = (struct lost){seen->call, seen->exec};
        return;
    }
    if (ignored->count == 0 || !reads_results(seen))
        return;
    if (seen->call.call == GPHI_CALL_cuGraphLaunch) { /* tried again: it was looked at */
        uint32_t kept = 0;
        for (uint32_t i = 0; i < ignored->count; i++)
            if (ignored->lost[i].exec != seen->exec)
                ignored->lost[kept++] = ignored->lost[i];
        ignored->count = kept;
    }
    for (uint32_t i = 0; i < ignored->count; i++) {
        const gphi_call *call = &ignored->lost[i].call;
        if (gphi_is_told(run, call))
            continue;
        gphi_draft *draft = gphi_finding_begin(run, call, 0);
        gphi_cause(draft, "%s failed with %s, nothing ran, and the program went on",
                   gphi_say_call(call), gphi_say_result(call->result));
        gphi_evidence_call(draft, &seen->call, "it went on with");
    }
    ignored->count = 0;
}

/* ---- launch.missing-upload ---- */

enum {
    LAUNCHES_BEFORE = 8,
    NODES_WORTH = 100,      /* smaller graphs pay nothing that a start does not */
    BYTES_WORTH = 16 << 20, /* of memory to map */
    SLOW_NS = 50000,
    SLOW_TIMES = 8,
    ALREADY_TOLD = 1024 /* executables looked at, at most, at the end */
};

static int compare_times(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool is_large(const gphi_snapshot *snapshot)
{
    return gphi_snapshot_allocated(snapshot) >= BYTES_WORTH ||
           gph_graph_node_count_deep(gphi_snapshot_graph(snapshot)) >= NODES_WORTH;
}

/* Median of the later launches: the first of all also loads kernels, so that it has to be
 * far from them, and long by itself. */
static void upload_look(gphi_rule_run *run, const gphi_exec_state *exec)
{
    uint32_t times[32], count = 0;
    if (!is_large(exec->source) || exec->is_uploaded ||
        exec->launch_count < LAUNCHES_BEFORE || exec->created.number == 0 ||
        exec->launches.count < LAUNCHES_BEFORE)
        return;
    const gphi_launch *first = gphi_vec_at(&exec->launches, 0);
    for (size_t i = 1; i < exec->launches.count && count < 32; i++)
        times[count++] =
            ((gphi_launch *)gphi_vec_at(&exec->launches, i))->call.duration_ns;
    qsort(times, count, sizeof(times[0]), compare_times);
    const uint32_t median = times[count / 2];
    if (first->call.duration_ns < SLOW_NS ||
        first->call.duration_ns < (uint64_t)median * SLOW_TIMES)
        return;
    gphi_draft *draft = gphi_finding_begin(run, &first->call, 0);
    gphi_cause(draft,
               "the first launch of %s took %.0f us, the later ones %.1f us: it was not "
               "uploaded before",
               gphi_say_exec(run->model, exec), first->call.duration_ns / 1e3,
               median / 1e3);
    if (draft)
        tell_made(draft, exec);
}

static void upload_end(gphi_rule_run *run)
{
    for (size_t i = 0; i < run->model->execs.count && i < ALREADY_TOLD; i++)
        upload_look(run, gphi_vec_pointer(&run->model->execs, i));
}

/* ---- the table ---- */

/* In this order: what is reported by one is not reported again by those below. */
const gphi_rule gphi_rules_launch[] = {
    GPHI_RULE("launch.unfreed-allocation", ERROR, .list_bytes = sizeof(struct unfreed),
              .call = unfreed_call, .end = unfreed_end),
    GPHI_RULE("launch.dead-executable", ERROR, .call = dead_call),
    GPHI_RULE("launch.host-function-calls-cuda", ERROR, .call = host_call),
    GPHI_RULE("launch.out-of-memory", ERROR, .call = memory_call),
    GPHI_RULE("launch.invalid-argument", ERROR, .call = invalid_call),
    GPHI_RULE_NAME("launch.assert", ERROR),
    GPHI_RULE("launch.fault", ERROR, .state_bytes = sizeof(gphi_launch_faults),
              .call = gphi_launch_fault, .event = gphi_launch_fault_event),
    GPHI_RULE("launch.dead-operand", ERROR, .list_bytes = sizeof(gphi_launch_gone),
              .call = gphi_launch_operand, .unreturned = gphi_launch_operand_unreturned),
    GPHI_RULE("launch.concurrent-use", ERROR, .state_bytes = sizeof(gphi_launch_uses),
              .call = gphi_launch_used),
    GPHI_RULE("launch.same-executable-serialised", WARNING,
              .state_bytes = sizeof(gphi_launch_waits), .call = gphi_launch_serialised),
    GPHI_RULE("launch.aliased-overlap", WARNING,
              .state_bytes = sizeof(gphi_launch_overlaps), .call = gphi_launch_overlap),
    GPHI_RULE("launch.unordered-nodes", WARNING, .state_bytes = sizeof(gphi_launch_edges),
              .init = gphi_launch_nodes_init, .call = gphi_launch_nodes,
              .fini = gphi_launch_nodes_fini),
    GPHI_RULE("launch.unrecorded-event", WARNING,
              .list_bytes = sizeof(gphi_launch_awaited), .call = gphi_launch_event,
              .end = gphi_launch_event_end),
    GPHI_RULE("launch.event-before-launch", WARNING,
              .list_bytes = sizeof(gphi_launch_late), .call = gphi_launch_late_call,
              .end = gphi_launch_late_end),
    GPHI_RULE("launch.result-ignored", WARNING, .state_bytes = sizeof(struct ignored),
              .call = ignored_call),
    GPHI_RULE("launch.missing-upload", INFO, .end = upload_end),
    GPHI_RULE("launch.hang", ERROR, .state_bytes = sizeof(gphi_launch_hang),
              .unreturned = gphi_launch_hang_unreturned, .end = gphi_launch_hang_end),
    GPHI_RULE("launch.crash", ERROR, .state_bytes = sizeof(gphi_launch_crash),
              .unreturned = gphi_launch_unreturned, .event = gphi_launch_crash_event,
              .end = gphi_launch_crash_end),
    GPHI_RULE("launch.crash-elsewhere", INFO, .is_aside = true,
              .state_bytes = sizeof(gphi_launch_elsewhere),
              .call = gphi_launch_elsewhere_call,
              .unreturned = gphi_launch_elsewhere_unreturned,
              .event = gphi_launch_elsewhere_event, .end = gphi_launch_elsewhere_end),
    {.id = NULL},
};
