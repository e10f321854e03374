// SPDX-License-Identifier: Apache-2.0
/* Launches that are a submission and no more: of executables without events, memory nodes,
 * changes by kernels and watchers, into streams that wait for nobody just now. Most launches
 * of most programs, and all that a step of a few microseconds can afford.
 *
 *   the usual way    a reference of the call, one of the launch, one of the version
 *   plain            the executable's mutex, and two numbers of the version
 *
 * A plain launch holds no reference: who ends the executable sees by the numbers that one is
 * under way, and has the last of them release it. */
#include "softcuda/device/device.h"
#include "softcuda/device/racing.h"
#include "softcuda/device/summary.h"
#include "softcuda/graph/exec.h"
#include "softcuda/rules/rules.h"

bool soft_exec_is_plain(const soft_exec *exec)
{
    return !exec->side && !exec->updatables && !exec->late && !exec->watch &&
           !exec->decisions && exec->event_count == 0 && !soft_racing() &&
           !soft_check_memory_wanted() && !soft_summary_wanted() &&
           !soft_launch_blocking();
}

bool soft_plain_is_launched(const soft_exec *exec)
{
    for (uint32_t i = 0; i < exec->version_count; i++)
        if (atomic_load_explicit(&exec->versions[i]->ended, memory_order_acquire) !=
            exec->versions[i]->begun)
            return true;
    return false;
}

static void run_release(void *exec, soft_worker *worker)
{
    (void)worker;
    soft_exec_release(exec);
}

void soft_plain_release_after(soft_exec *exec, soft_point last)
{
    const soft_work release = {
        .kind = SOFT_WORK_CALL, .run = run_release, .argument = exec};
    soft_engine *engine = exec->device->engine;
    soft_queue *queue;
    gph_status status = soft_queue_create(engine, 0, &queue, NULL);
    if (status == GPH_OK) {
        status = soft_queue_submit(queue, &release, &last, 1, NULL);
        soft_queue_release(queue);
    }
    if (status != GPH_OK) {
        soft_point_wait(engine, last);
        soft_exec_release(exec);
    }
}

void soft_exec_plain_done(void *argument, soft_worker *worker)
{
    (void)worker;
    soft_version *version = argument;
    /* One launch ends after the other (R33). Release: pairs with the acquire of an edit that
     * finds the version idle. */
    atomic_store_explicit(&version->ended,
                          atomic_load_explicit(&version->ended, memory_order_relaxed) + 1,
                          memory_order_release);
}

static inline bool launch_locked(soft_exec *exec, soft_stream *stream)
{
    if (!exec->plain || exec->trail || exec->memory || !soft_rule(R33) ||
        !soft_rule(R40) || !soft_rule(R41))
        return false;
    soft_version *version = exec->current;
    if (version->memory || version->objects)
        return false;
    version->begun++;
    const uint64_t sequence =
        soft_stream_launch_plain(stream, &version->plain, exec->last);
    if (sequence == 0) {
        version->begun--;
        return false;
    }
    /* Word by word: a point that is copied as a whole right after waits for its halves. */
    exec->last.queue = version->last.queue = stream->queue;
    exec->last.sequence = version->last.sequence = sequence;
    return true;
}

/* With its mutex and without a reference. Whoever ends the executable between the two looks
 * leaves the mutex (exec.c), and takes `plain` back under it. */
bool soft_exec_launch_plain(CUgraphExec handle, soft_stream *stream)
{
    soft_exec *exec = (soft_exec *)handle;
    if (!soft_handle_is_near(handle, SOFT_KIND_GRAPH_EXEC) ||
        !soft_light_try(&exec->mutex))
        return false;
    const bool launched = launch_locked(exec, stream);
    soft_light_unlock(&exec->mutex);
    return launched;
}
