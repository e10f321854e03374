// SPDX-License-Identifier: Apache-2.0
/* The count of open captures and the list of what waits for its end. */
#include "cuda/defer.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/thread.h"
#include "cuda/runtime.h"

static gphi_mutex defer_mutex = GPHI_MUTEX_INIT;
static pthread_cond_t defer_idle = PTHREAD_COND_INITIALIZER; /* running == 0 */
static unsigned open_count;                                  /* captures */
static unsigned running;      /* threads at work on items; 0 while a capture is open */
static gphi_deferred *oldest; /* waits for open_count == 0 */
static gphi_deferred **newest = &oldest;

/* How deep this thread is in items: what it does there waits for nobody. */
static _Thread_local unsigned depth;

static void run_all(gphi_deferred *item)
{
    depth++;
    while (item) {
        gphi_deferred *next = item->next; /* `run` may free the item */
        item->run(item->user);
        item = next;
    }
    depth--;

    gphi_mutex_lock(&defer_mutex);
    if (--running == 0)
        pthread_cond_broadcast(&defer_idle);
    gphi_mutex_unlock(&defer_mutex);
}

void gphi_defer(gphi_deferred *item, gph_defer_fn *run, void *user)
{
    *item = (gphi_deferred){.run = run, .user = user};
    gphi_mutex_lock(&defer_mutex);
    const bool is_now = open_count == 0;
    if (is_now) {
        running++;
    } else {
        *newest = item;
        newest = &item->next;
    }
    gphi_mutex_unlock(&defer_mutex);
    if (is_now)
        run_all(item);
}

void gphi_capture_open(void)
{
    gphi_mutex_lock(&defer_mutex);
    while (running > 0 && depth == 0)
        pthread_cond_wait(&defer_idle, &defer_mutex.native);
    open_count++;
    gphi_mutex_unlock(&defer_mutex);
}

void gphi_capture_close(void)
{
    gphi_deferred *items = NULL;
    gphi_mutex_lock(&defer_mutex);
    if (--open_count == 0 && oldest) {
        items = oldest;
        oldest = NULL;
        newest = &oldest;
        running++;
    }
    gphi_mutex_unlock(&defer_mutex);
    if (items)
        run_all(items);
}

unsigned gphi_capture_open_count(void)
{
    gphi_mutex_lock(&defer_mutex);
    const unsigned count = open_count;
    gphi_mutex_unlock(&defer_mutex);
    return count;
}

/* ---- for programs ---- */

struct call {
    gphi_deferred item;
    gph_allocator heap;
    gph_defer_fn *run;
    void *user;
};

static void run_call(void *user)
{
    struct call *call = user;
    const struct call copy = *call;
    gphi_heap_free(call->heap, call, sizeof(*call));
    copy.run(copy.user);
}

gph_status gph_defer(gph_runtime *runtime, gph_defer_fn *run, void *user,
                     gph_error *error)
{
    GPHI_TRY(gphi_need(error, runtime, run));
    struct call *call = gphi_heap_alloc(runtime->heap, sizeof(*call));
    GPHI_TRY(gphi_made(error, call, "deferring a call"));
    call->heap = runtime->heap;
    call->run = run;
    call->user = user;
    gphi_defer(&call->item, run_call, call);
    return GPH_OK;
}
