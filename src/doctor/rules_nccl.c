// SPDX-License-Identifier: Apache-2.0
/* Rules nccl.*: NCCL is known by the file its calls come from, by the names of its
 * kernels and of its threads. */
#include "doctor/rules.h"
#include "doctor/rules_memory.h"

#include <inttypes.h>
#include <string.h>

enum { FRAMES_LOOKED_AT = 12 };

/* Where NCCL's code lies, and which call stacks end in it. */
typedef struct nccl {
    gphi_vec modules; /* of nccl_range */
    gphi_map stacks;  /* number -> 1 */
    bool is_ready;
    gphi_call last;    /* of NCCL's, that waits for work */
    gphi_call last_of; /* any call of that thread */
} nccl;

typedef struct nccl_range {
    uint64_t start, end;
} nccl_range;

static void prepare(gphi_rule_run *run)
{
    nccl *state = run->state;
    if (state->is_ready)
        return;
    gphi_vec_init(&state->modules, run->model->heap, sizeof(nccl_range));
    gphi_map_init(&state->stacks, run->model->heap);
    state->is_ready = true;
}

static bool is_nccl_file(const char *path)
{
    const char *name = strrchr(path, '/');
    name = name != NULL ? name + 1 : path;
    return strncmp(name, "libnccl", 7) == 0 && strncmp(name, "libnccl-net", 11) != 0;
}

static bool is_in(const nccl *state, uint64_t address)
{
    for (size_t i = 0; i < state->modules.count; i++) {
        const nccl_range *range = gphi_vec_at(&state->modules, i);
        if (address >= range->start && address < range->end)
            return true;
    }
    return false;
}

static void nccl_event(gphi_rule_run *run, const gphi_event *event)
{
    nccl *state = run->state;
    prepare(run);
    if (event->kind == GPHI_EVENT_MODULE && is_nccl_file(gphi_event_text(event, 0))) {
        nccl_range *range = gphi_vec_add(&state->modules, 1);
        if (range != NULL)
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

static bool is_of_nccl(const nccl *state, const gphi_call *call)
{
    return call->stack != 0 && gphi_map_get(&state->stacks, call->stack) != NULL;
}

/* An executable that runs NCCL's kernels; NULL: none is alive. */
static const gphi_exec_book *alive_graph(const gphi_book *book)
{
    for (size_t i = 0; i < book->execs.count; i++) {
        const gphi_exec_book *exec = *(gphi_exec_book **)gphi_vec_at(&book->execs, i);
        if (exec->nccl_kernels > 0 && gphi_exec_is_alive(exec))
            return exec;
    }
    return NULL;
}

/* ---- nccl.destroy-before-graph ---- */

/* What NCCL calls while it takes a communicator apart, and at no other time after its
 * graphs were captured. */
static bool is_teardown(uint32_t call)
{
    switch (call) {
    case GPHI_CALL_cuMemFree:
    case GPHI_CALL_cuMemFreeHost:
    case GPHI_CALL_cuMemUnmap:
    case GPHI_CALL_cuMemRelease:
    case GPHI_CALL_cuMemHostUnregister:
    case GPHI_CALL_cuIpcCloseMemHandle:
    case GPHI_CALL_cuStreamDestroy: return true;
    default: return false;
    }
}

static void tell_destroy(gphi_rule_run *run, const gphi_call *at,
                         const gphi_exec_book *graph, bool hangs)
{
    gphi_draft *draft = gphi_find(run, at, 0);
    if (hangs)
        gphi_cause(
            draft,
            "the last thing NCCL did was to wait in %s; the process was ended from "
            "outside while a graph with %u of its kernels was alive: ncclCommDestroy "
            "waits until there is none",
            gphi_say_call(at), graph->nccl_kernels);
    else
        gphi_cause(draft,
                   "NCCL takes a communicator apart (%s) while a graph with %u of its "
                   "kernels is alive",
                   gphi_say_call(at), graph->nccl_kernels);
    gphi_evidence_call(draft, &graph->exec->created, "the graph was instantiated by");
    if (graph->launches > 0)
        gphi_evidence_call(draft, &graph->last_launch, "and launched last by");
}

static void destroy_call(gphi_rule_run *run, const gphi_seen *seen)
{
    nccl *state = run->state;
    const gphi_book *book = gphi_book_of(run, seen);
    prepare(run);
    if (book == NULL || state->modules.count == 0)
        return;
    if (seen->call.thread == state->last.thread)
        state->last_of = seen->call;
    if (!is_of_nccl(state, &seen->call))
        return;
    if (gphi_is_wait(seen->call.call)) {
        state->last = seen->call;
        state->last_of = seen->call;
    }
    const gphi_exec_book *graph =
        is_teardown(seen->call.call) && seen->capture == NULL && seen->call.result == 0
            ? alive_graph(book)
            : NULL;
    if (graph != NULL)
        tell_destroy(run, &seen->call, graph, false);
}

static void destroy_end(gphi_rule_run *run, bool is_killed)
{
    nccl *state = run->state;
    const gphi_book *book = gphi_book_of(run, NULL);
    const gphi_exec_book *graph =
        book != NULL && is_killed && state->last.number != 0 ? alive_graph(book) : NULL;
    if (graph != NULL && state->last_of.number == state->last.number &&
        state->last.number > graph->last_launch.number)
        tell_destroy(run, &state->last, graph, true);
}

static void nccl_fini(gphi_rule_run *run)
{
    nccl *state = run->state;
    if (!state->is_ready)
        return;
    gphi_vec_fini(&state->modules);
    gphi_map_fini(&state->stacks);
}

/* ---- nccl.watchdog-query ---- */

bool gphi_is_nccl_thread(const gphi_model *model, uint32_t id)
{
    static const char *const words[] = {"nccl", "watchdg", "watchdog", NULL};
    const gphi_thread *thread = gphi_model_thread(model, id);
    return thread != NULL && gphi_name_has(thread->name, words);
}

/* The capture that the call disturbed; NULL: none of another thread is known. */
static const gphi_capture *disturbed(const gphi_model *model, const gphi_call *call)
{
    for (size_t i = model->captures.count; i-- > 0;) {
        const gphi_capture *capture = *(gphi_capture **)gphi_vec_at(&model->captures, i);
        if (capture->thread != call->thread &&
            (capture->is_open || capture->end.number > call->number))
            return capture;
    }
    return NULL;
}

static void watchdog_call(gphi_rule_run *run, const gphi_seen *seen)
{
    nccl *state = run->state;
    (void)gphi_book_of(run, seen);
    prepare(run);
    const bool is_query = seen->call.call == GPHI_CALL_cuEventQuery ||
                          seen->call.call == GPHI_CALL_cuStreamQuery ||
                          gphi_is_wait(seen->call.call);
    if (!is_query || seen->call.result < CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED ||
        seen->call.result > CUDA_ERROR_CAPTURED_EVENT || gphi_is_told(run, &seen->call) ||
        (!gphi_is_nccl_thread(run->model, seen->call.thread) &&
         !is_of_nccl(state, &seen->call)) ||
        gphi_is_told(run, &seen->call))
        return;
    const gphi_capture *capture = disturbed(run->model, &seen->call);
    gphi_draft *draft = capture != NULL ? gphi_find(run, &seen->call, 0) : NULL;
    gphi_cause(
        draft,
        "thread %u of NCCL's process group called %s while another thread captured "
        "in global mode: the call failed with %d, and it ended that capture",
        seen->call.thread, gphi_call_name(seen->call.call), (int)seen->call.result);
    if (draft != NULL)
        gphi_evidence_call(draft, &capture->begin, "the capture was begun by");
}

/* ---- the table; the last entry is no rule ---- */

const gphi_rule gphi_rules_nccl[] = {
    {.id = "nccl.destroy-before-graph",
     .severity = GPH_SEVERITY_ERROR,
     .state_bytes = sizeof(nccl),
     .call = destroy_call,
     .event = nccl_event,
     .end = destroy_end,
     .fini = nccl_fini},
    {.id = "nccl.watchdog-query",
     .severity = GPH_SEVERITY_ERROR,
     .state_bytes = sizeof(nccl),
     .call = watchdog_call,
     .event = nccl_event,
     .fini = nccl_fini},
    {.id = NULL},
};
const size_t gphi_rules_nccl_count =
    sizeof(gphi_rules_nccl) / sizeof(gphi_rules_nccl[0]) - 1;
