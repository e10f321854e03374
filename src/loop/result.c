// SPDX-License-Identifier: Apache-2.0
/* What a loop did, read from the words that its kernels write. */
#include "base/fail.h"
#include "cuda/status.h"
#include "loop/loop.h"

#include <stdio.h>

_Static_assert((int)LOOP_DONE == (int)GPH_LOOP_DONE &&
                   (int)LOOP_CEILING == (int)GPH_LOOP_CEILING &&
                   (int)LOOP_BUDGET == (int)GPH_LOOP_BUDGET &&
                   (int)LOOP_ABORTED == (int)GPH_LOOP_ABORTED &&
                   (int)LOOP_REFUSED == (int)GPH_LOOP_REFUSED,
               "the kernels' words for an end");

/* Acquire: `ended` is written after the words that it is about. */
#define READ(word) __atomic_load_n(&(word), __ATOMIC_ACQUIRE)

void gph_loop_progress_get(const gph_loop *loop, gph_loop_progress *out)
{
    gph_loop_progress now = {0};
    if (loop) {
        const loop_host *host = loop->host;
        now.ended = READ(host->ended);
        now.begun = READ(host->begun);
        now.running = now.begun > now.ended;
        now.launched = atomic_load_explicit(&loop->launched, memory_order_relaxed);
        now.steps = READ(host->steps);
        now.rounds = READ(host->rounds);
        now.ns = READ(host->ns);
    }
    gphi_struct_write(out, &now, sizeof(now));
}

/* ---- an error on the device ---- */

/* The first node of the body that its sentinels show running, as text; empty: unknown. */
static void find_node(const gph_loop *loop, char *out, size_t bytes, gph_error *error)
{
    gph_progress *progress = NULL;
    if (gph_progress_create(loop->options.sentinel, loop->execs.start, &progress, NULL) !=
        GPH_OK)
        return;
    const gph_progress_exec *exec = gph_progress_exec_at(progress, 0);
    for (uint32_t i = 0; exec && i < exec->node_count; i++) {
        const gph_progress_node *node = &exec->nodes[i];
        if (node->state != GPH_NODE_RUNNING)
            continue;
        snprintf(out, bytes, ", node %u (%s %.80s)", node->index,
                 gph_node_kind_name((gph_node_kind)node->kind), node->kernel);
        if (error) {
            error->has_node = 1;
            error->node = node->index;
        }
        break;
    }
    gph_progress_destroy(progress);
}

gph_status gphi_loop_fail_fault(gph_loop *loop, CUresult result, const char *call,
                                gph_error *error)
{
    char node[128] = "";
    gph_loop_progress now = GPH_SIZED(gph_loop_progress);
    gph_loop_progress_get(loop, &now);
    gphi_cuda_fail(error, (gph_status)result, call, "waiting for it");
    if (!now.running)
        gphi_fail_in(error, "loop %s, no launch of it running: ", loop->name);
    else if (!loop->options.sentinel)
        gphi_fail_in(error, "loop %s, round %llu or later: ", loop->name,
                     (unsigned long long)now.rounds + 1);
    else {
        find_node(loop, node, sizeof(node), error);
        gphi_fail_in(error, "loop %s, round %llu%s: ", loop->name,
                     (unsigned long long)now.rounds + 1, node);
    }
    if (now.running && !loop->options.sentinel)
        gphi_hint(error, "with options.sentinel the round and the node are known");
    return (gph_status)result;
}

/* ---- the end of a launch ---- */

/* Whoever asks why a loop ended at its ceiling gets the condition as well: where it was
 * never changed, the body does not write it, or writes another word. */
static gph_status fail_ceiling(const gph_loop *loop, const gph_loop_result *result,
                               gph_error *error)
{
    const unsigned long long steps = result->steps;
    const unsigned long long at = loop->options.condition
                                      ? loop->options.condition
                                      : (unsigned long long)(uintptr_t)loop->plan.left;
    const char *what =
        loop->options.condition ? "the word at" : "a comparison of the value at";
    if (!result->changed)
        return gphi_fail(
            error, GPH_E_STATE,
            "loop %s ended at its ceiling after %llu steps: its condition, %s "
            "0x%llx, was %u all the time and never changed",
            loop->name, steps, what, at, result->condition);
    return gphi_fail(error, GPH_E_STATE,
                     "loop %s ended at its ceiling after %llu steps: its condition, %s "
                     "0x%llx, is %u and not 0",
                     loop->name, steps, what, at, result->condition);
}

static gph_status fail_end(const gph_loop *loop, const gph_loop_result *result,
                           gph_error *error)
{
    const loop_host *host = loop->host;
    const unsigned long long steps = result->steps;
    switch (result->end) {
    case GPH_LOOP_DONE: return GPH_OK;
    case GPH_LOOP_CEILING: return fail_ceiling(loop, result, error);
    case GPH_LOOP_BUDGET:
        return gphi_fail(error, GPH_E_STATE,
                         "loop %s ended after %llu steps and %.3f ms, as its budget is "
                         "%.3f ms; its condition is %u%s",
                         loop->name, steps, (double)result->ns * 1e-6,
                         (double)READ(host->budget) * 1e-6, result->condition,
                         result->changed ? "" : " and never changed");
    case GPH_LOOP_ABORTED:
        return gphi_fail(error, GPH_E_STATE, "loop %s was aborted after %llu steps",
                         loop->name, steps);
    case GPH_LOOP_REFUSED:
        return gphi_fail(error, GPH_E_STATE,
                         "loop %s: after %llu steps the device refused to launch the "
                         "next round with %llu",
                         loop->name, steps, (unsigned long long)READ(host->code));
    default:
        return gphi_fail(error, GPH_E_STATE, "loop %s: no launch of it has ended",
                         loop->name);
    }
}

gph_status gph_loop_wait(gph_loop *loop, CUstream stream, gph_loop_result *out,
                         gph_error *error)
{
    GPHI_TRY(gphi_need(error, loop));
    const CUresult waited = gphi_loop_sleep(loop, stream);
    const loop_host *host = loop->host;
    gph_loop_result result = {.launch = READ(host->ended),
                              .steps = READ(host->steps),
                              .rounds = READ(host->rounds),
                              .ns = READ(host->ns)};
    /* Where the stream could not be waited for, the last one may not have begun. */
    if (waited == CUDA_SUCCESS && result.launch > 0 &&
        result.launch == READ(host->begun)) {
        result.end = READ(host->end);
        result.condition = READ(host->value);
        result.changed = READ(host->changed);
    }
    if (out)
        gphi_struct_write(out, &result, sizeof(result));
    if (waited != CUDA_SUCCESS)
        return gphi_loop_fail_fault(loop, waited, "cuEventSynchronize", error);
    gphi_trial_note(loop);
    return fail_end(loop, &result, error);
}
