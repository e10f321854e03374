// SPDX-License-Identifier: Apache-2.0
/* Rules nccl.*: NCCL is known by the file its calls come from, by the names of its
 * kernels and of its threads. */
#include "doctor/rules/nccl/rules_nccl.h"
#include "base/path.h"
#include "doctor/rules/memory/rules_memory.h"
#include "doctor/rules/rules.h"

#include <inttypes.h>
#include <string.h>

enum { FRAMES_LOOKED_AT = 12 };

/* Where NCCL's code lies, and which call stacks end in it. */
typedef struct nccl {
    gphi_vec modules; /* of nccl_range */
    gphi_map stacks;  /* number -> 1 */
    gphi_map threads; /* number -> index + 1 in `waits` */
    gphi_vec waits;   /* of nccl_wait */
} nccl;

/* The last stretch of a thread's calls, if all of it is NCCL's. */
typedef struct nccl_wait {
    gphi_call first, wait; /* wait.number 0: it has not waited for work */
    bool is_busy;          /* it gave out work, or made or freed something */
} nccl_wait;

typedef struct nccl_range {
    uint64_t start, end;
} nccl_range;

static void nccl_init(gphi_rule_run *run)
{
    nccl *state = run->state;
    gphi_vec_init(&state->modules, run->model->heap, sizeof(nccl_range));
    gphi_map_init(&state->stacks, run->model->heap);
    gphi_map_init(&state->threads, run->model->heap);
    gphi_vec_init(&state->waits, run->model->heap, sizeof(nccl_wait));
}

static bool is_nccl_file(const char *path)
{
    const char *name = gphi_path_name(path);
    return strncmp(name, "libnccl", 7) == 0 && strncmp(name, "libnccl-net", 11) != 0;
}

static bool is_in(const nccl *state, uint64_t address)
{
    GPHI_EACH (const nccl_range, range, &state->modules)
        if (address >= range->start && address < range->end)
            return true;
    return false;
}

static void nccl_event(gphi_rule_run *run, const gphi_event *event)
{
    nccl *state = run->state;
    if (event->kind == GPHI_EVENT_MODULE && is_nccl_file(gphi_event_text(event, 0))) {
        nccl_range *range = gphi_vec_add(&state->modules, 1);
        if (range)
            *range = (nccl_range){gphi_event_word(event, 0), gphi_event_word(event, 1)};
    }
    if (event->kind != GPHI_EVENT_STACK || state->modules.count == 0)
        return;
    for (uint32_t i = 0; i < event->word_count && i < FRAMES_LOOKED_AT; i++)
        if (is_in(state, gphi_event_word(event, i))) {
            (void)gphi_map_set(&state->stacks, event->id, 1);
            return;
        }
}

static void destroy_event(gphi_rule_run *run, const gphi_event *event)
{
    if (event->kind == GPHI_EVENT_COLLECTIVE)
        gphi_nccl_destroy(run);
    nccl_event(run, event);
}

static bool is_of_nccl(const nccl *state, const gphi_call *call)
{
    return call->stack != 0 && gphi_map_get(&state->stacks, call->stack);
}

/* An executable that runs NCCL's kernels; NULL: none is alive. */
static const gphi_exec_history *alive_graph(const gphi_history *history)
{
    for (size_t i = 0; i < history->execs.count; i++) {
        const gphi_exec_history *exec = gphi_history_exec_at(history, i);
        if (exec->nccl_kernels > 0 && gphi_exec_is_alive(exec))
            return exec;
    }
    return NULL;
}

/* ---- nccl.destroy-before-graph ----
 * NCCL keeps a reference of each captured graph to its communicator. ncclCommDestroy
 * waits for the streams, then for the references to go, without any call of CUDA. What is
 * left of it: the last calls of a thread are NCCL's, they waited for streams and did
 * nothing else, and the process was ended from outside while such a graph was alive. (The
 * set-up of a communicator waits as well, but makes and frees things between; and what
 * NCCL frees may be of another communicator than the graph's: neither is reported.) */

/* What changes nothing, besides waiting. */
static bool is_idle_call(uint32_t call)
{
    switch (call) {
    case GPHI_CALL_cuCtxGetDevice:
    case GPHI_CALL_cuCtxGetCurrent:
    case GPHI_CALL_cuCtxSetCurrent:
    case GPHI_CALL_cuStreamWaitEvent:
    case GPHI_CALL_cuStreamQuery:
    case GPHI_CALL_cuEventQuery:
    case GPHI_CALL_cuThreadExchangeStreamCaptureMode: return true;
    default: return gphi_call_is_wait(call);
    }
}

static nccl_wait *wait_of(nccl *state, uint32_t thread)
{
    const uint64_t *known = gphi_map_get(&state->threads, thread);
    if (known)
        return gphi_vec_at(&state->waits, (size_t)*known - 1);
    nccl_wait *wait = gphi_vec_add(&state->waits, 1);
    if (!wait)
        return NULL;
    *wait = (nccl_wait){.is_busy = false};
    return gphi_map_set(&state->threads, thread, state->waits.count) == GPH_OK ? wait
                                                                               : NULL;
}

static void destroy_call(gphi_rule_run *run, const gphi_seen *seen)
{
    nccl *state = run->state;
    gphi_nccl_replayed(run, seen);
    if (state->modules.count == 0)
        return;
    nccl_wait *wait = wait_of(state, seen->call.thread);
    if (!wait)
        return;
    if (!is_of_nccl(state, &seen->call)) {
        *wait = (nccl_wait){.is_busy = false};
        return;
    }
    if (wait->first.number == 0)
        wait->first = seen->call;
    wait->is_busy |= !is_idle_call(seen->call.call) || seen->capture;
    if (gphi_call_is_wait(seen->call.call) && seen->call.result == 0)
        wait->wait = seen->call;
}

static void tell_destroy(gphi_rule_run *run, const nccl_wait *wait,
                         const gphi_exec_history *graph)
{
    gphi_draft *draft = gphi_finding_begin(run, &wait->wait, 0);
    gphi_cause(draft,
               "the last thing this thread did was to wait in NCCL, which no longer "
               "submitted work; the process was ended from outside while a graph with %u "
               "of its kernels was alive: ncclCommDestroy waits until there is none",
               graph->nccl_kernels);
    gphi_evidence_call(draft, &wait->wait, "NCCL waited last in");
    gphi_evidence_call(draft, &graph->exec->created, "the graph was instantiated by");
    if (graph->launches > 0)
        gphi_evidence_call(draft, &graph->last_launch, "and launched last by");
}

static void destroy_end(gphi_rule_run *run)
{
    nccl *state = run->state;
    if (run->collectives->comms.count > 0)
        return; /* the call itself was seen: nccl_comm.c */
    const gphi_exec_history *graph =
        run->model->is_killed ? alive_graph(run->history) : NULL;
    for (size_t i = 0; graph && i < state->waits.count; i++) {
        const nccl_wait *wait = gphi_vec_at(&state->waits, i);
        if (wait->wait.number != 0 && !wait->is_busy &&
            wait->first.number > graph->created &&
            wait->first.number > graph->last_launch.number)
            tell_destroy(run, wait, graph);
    }
}

static void nccl_fini(gphi_rule_run *run)
{
    nccl *state = run->state;
    gphi_vec_fini(&state->modules);
    gphi_map_fini(&state->stacks);
    gphi_map_fini(&state->threads);
    gphi_vec_fini(&state->waits);
}

/* ---- nccl.watchdog-query ---- */

bool gphi_is_nccl_thread(const gphi_model *model, uint32_t id)
{
    static const char *const words[] = {"nccl", NULL};
    const gphi_thread *thread = gphi_model_thread(model, id);
    return thread && gphi_name_has(thread->name, words);
}

/* The capture that the call disturbed; NULL: none of another thread is known. */
static const gphi_capture *disturbed(const gphi_model *model, const gphi_call *call)
{
    for (size_t i = model->captures.count; i-- > 0;) {
        const gphi_capture *capture = gphi_vec_pointer(&model->captures, i);
        if (capture->thread != call->thread &&
            (capture->is_open || capture->end.number > call->number))
            return capture;
    }
    return NULL;
}

static void watchdog_call(gphi_rule_run *run, const gphi_seen *seen)
{
    nccl *state = run->state;
    const bool is_query = seen->call.call == GPHI_CALL_cuEventQuery ||
                          seen->call.call == GPHI_CALL_cuStreamQuery ||
                          gphi_call_is_wait(seen->call.call);
    if (!is_query || seen->call.result < CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED ||
        seen->call.result > CUDA_ERROR_CAPTURED_EVENT || gphi_is_told(run, &seen->call) ||
        (!gphi_is_nccl_thread(run->model, seen->call.thread) &&
         !is_of_nccl(state, &seen->call)) ||
        gphi_is_told(run, &seen->call))
        return;
    const gphi_capture *capture = disturbed(run->model, &seen->call);
    gphi_draft *draft = capture ? gphi_finding_begin(run, &seen->call, 0) : NULL;
    gphi_cause(
        draft,
        "thread %u of NCCL's process group called %s while another thread captured "
        "in global mode: the call failed with %d, and it ended that capture",
        seen->call.thread, gphi_call_name(seen->call.call), (int)seen->call.result);
    if (draft)
        gphi_evidence_call(draft, &capture->begin, "the capture was begun by");
}

/* ---- the table ---- */

const gphi_rule gphi_rules_nccl[] = {
    GPHI_RULE("nccl.destroy-before-graph", ERROR, .state_bytes = sizeof(nccl),
              .init = nccl_init, .call = destroy_call, .event = destroy_event,
              .end = destroy_end, .fini = nccl_fini),
    GPHI_RULE("nccl.used-after-destroy", ERROR, .event = gphi_nccl_used),
    GPHI_RULE("nccl.lazy-connect", ERROR, .event = gphi_nccl_connect),
    GPHI_RULE("nccl.unordered-graphs", WARNING, .call = gphi_nccl_launched),
    GPHI_RULE_NAME("nccl.rank-divergence", ERROR),
    GPHI_RULE_NAME("nccl.rank-missing", ERROR),
    GPHI_RULE("nccl.watchdog-query", ERROR, .state_bytes = sizeof(nccl),
              .init = nccl_init, .call = watchdog_call, .event = nccl_event,
              .fini = nccl_fini),
    {.id = NULL},
};
