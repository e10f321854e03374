// SPDX-License-Identifier: Apache-2.0
/* Requests: sending, and waiting for them. */
#define _GNU_SOURCE
#include "base/clock.h"
#include "base/fail.h"
#include "cuda/status.h"
#include "dispatch/dispatch.h"

#include <sched.h>
#include <string.h>
#include <time.h>

enum { SPINS = 256, ASK_EVERY = 64, NAP_NS = 20000 };

/* Acquire: the device writes codes before `done`. */
#define READ(word) __atomic_load_n(&(word), __ATOMIC_ACQUIRE)

/* Most requests end within the spins. */
static void pause_a_while(uint32_t *round)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    if ((*round)++ < SPINS)
        sched_yield();
    else
        nanosleep(&nap, NULL);
}

/* ---- errors ---- */

static gph_status fail_fault(const gph_dispatch *dispatch, CUresult result,
                             gph_error *error)
{
    const uint64_t oldest = READ(dispatch->host->done) + 1;
    const dispatch_request *request =
        &dispatch->queue[(oldest - 1) & dispatch->plan.mask];
    gphi_cuda_fail(error, (gph_status)result, "cuStreamQuery", "serving requests");
    if (oldest <= READ(dispatch->host->sent))
        gphi_fail_in(error, "dispatch %s, request %llu of kind %u: ", dispatch->name,
                     (unsigned long long)oldest, request->kind);
    else
        gphi_fail_in(error, "dispatch %s: ", dispatch->name);
    return (gph_status)result;
}

/* Whether the device still serves; other threads' captures are not disturbed. */
static gph_status ask_device(const gph_dispatch *dispatch, gph_error *error)
{
    const gphi_cuda_table *cu = &dispatch->runtime->cu;
    const CUstreamCaptureMode mode = gphi_relax(cu);
    const CUresult result = cu->cuStreamQuery(dispatch->stream);
    gphi_unrelax(cu, mode);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY)
        return fail_fault(dispatch, result, error);
    const uint64_t broken = READ(dispatch->host->broken);
    if (broken != 0)
        return gphi_fail(error, GPH_E_STATE,
                         "dispatch %s: the device refused to launch the next round: %llu",
                         dispatch->name, (unsigned long long)broken);
    return GPH_OK;
}

/* Without a resident graph nobody would serve it. */
static gph_status check_started(const gph_dispatch *dispatch, gph_error *error)
{
    return dispatch->start ? GPH_OK
                           : gphi_fail(error, GPH_E_STATE, "dispatch %s was not started",
                                       dispatch->name);
}

/* ---- sending ---- */

static gph_status check_request(const gph_dispatch *dispatch, uint32_t kind,
                                const void *arguments, size_t bytes, gph_error *error)
{
    if (bytes > GPH_DISPATCH_BYTES || (bytes > 0 && !arguments))
        return gphi_fail(
            error, GPH_E_INVALID,
            "dispatch %s: %zu bytes of arguments at %p, up to %d are possible",
            dispatch->name, bytes, arguments, GPH_DISPATCH_BYTES);
    for (uint32_t i = 0; i < dispatch->count; i++)
        if (dispatch->kinds[i] == kind)
            return check_started(dispatch, error);
    return gphi_fail(error, GPH_E_INVALID, "dispatch %s has no graph of kind %u",
                     dispatch->name, kind);
}

/* A place is free again when its request has ended, since the device reads it until then
 * and its code is for whoever waits. */
static bool is_full(const gph_dispatch *dispatch)
{
    return dispatch->sent - READ(dispatch->host->done) >= dispatch->options.capacity;
}

/* Each start ends in a sleep, or more: so as many of these say that none is left. */
static gph_status wake_locked(gph_dispatch *dispatch, gph_error *error)
    GPHI_REQUIRES(&dispatch->mutex);

static gph_status wake_locked(gph_dispatch *dispatch, gph_error *error)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* `sent` before `sleeps` */
    if (dispatch->starts > READ(dispatch->host->sleeps) ||
        READ(dispatch->host->done) == dispatch->sent)
        return GPH_OK;
    GPHI_TRY(gph_exec_launch(dispatch->start, dispatch->stream, error));
    dispatch->starts++;
    return GPH_OK;
}

static gph_status wait_for_room_locked(gph_dispatch *dispatch, gph_error *error)
    GPHI_REQUIRES(&dispatch->mutex);

static gph_status wait_for_room_locked(gph_dispatch *dispatch, gph_error *error)
{
    const uint64_t from = gphi_clock_ns();
    uint32_t round = 0;
    dispatch->full += is_full(dispatch);
    while (is_full(dispatch)) {
        if (gphi_clock_ns() - from >= dispatch->options.wait_ns)
            return gphi_fail(error, GPH_E_STATE,
                             "dispatch %s: all %u places of the queue are taken",
                             dispatch->name, dispatch->options.capacity);
        if (round % ASK_EVERY == ASK_EVERY - 1)
            GPHI_TRY(ask_device(dispatch, error));
        GPHI_TRY(wake_locked(dispatch, error));
        pause_a_while(&round);
    }
    return GPH_OK;
}

static gph_status send_locked(gph_dispatch *dispatch, uint32_t kind,
                              const void *arguments, size_t bytes, gph_error *error)
    GPHI_REQUIRES(&dispatch->mutex);

static gph_status send_locked(gph_dispatch *dispatch, uint32_t kind,
                              const void *arguments, size_t bytes, gph_error *error)
{
    GPHI_TRY(wait_for_room_locked(dispatch, error));
    dispatch_request *request = &dispatch->queue[dispatch->sent & dispatch->plan.mask];
    memset(request, 0, sizeof(*request));
    request->kind = kind;
    if (bytes > 0)
        memcpy(request->words, arguments, bytes);
    /* Release: the request is there before it counts. */
    __atomic_store_n(&dispatch->host->sent, ++dispatch->sent, __ATOMIC_RELEASE);
    return wake_locked(dispatch, error);
}

gph_status gph_dispatch_send(gph_dispatch *dispatch, uint32_t kind, const void *arguments,
                             size_t bytes, uint64_t *number, gph_error *error)
{
    GPHI_TRY(gphi_need(error, dispatch));
    GPHI_TRY(check_request(dispatch, kind, arguments, bytes, error));
    gphi_mutex_lock(&dispatch->mutex);
    const gph_status status = send_locked(dispatch, kind, arguments, bytes, error);
    const uint64_t sent = dispatch->sent;
    gphi_mutex_unlock(&dispatch->mutex);
    if (status == GPH_OK && number)
        *number = sent;
    return status;
}

/* ---- waiting ---- */

uint64_t gph_dispatch_done(const gph_dispatch *dispatch)
{
    return dispatch ? READ(dispatch->host->done) : 0;
}

/* Codes are in the queue until their places are taken again, which senders do under the
 * mutex: so what is read is of request `i`, whoever sends meanwhile. */
static gph_status check_codes_locked(const gph_dispatch *dispatch, uint64_t from,
                                     uint64_t to, gph_error *error)
    GPHI_REQUIRES(&dispatch->mutex);

static gph_status check_codes_locked(const gph_dispatch *dispatch, uint64_t from,
                                     uint64_t to, gph_error *error)
{
    const uint32_t capacity = dispatch->options.capacity;
    const uint64_t kept = dispatch->sent > capacity ? dispatch->sent - capacity + 1 : 1;
    for (uint64_t i = from < kept ? kept : from; i <= to; i++) {
        const dispatch_request *request = &dispatch->queue[(i - 1) & dispatch->plan.mask];
        const uint32_t code = READ(request->code);
        if (code != 0)
            return gphi_fail(error, GPH_E_STATE,
                             "dispatch %s: the device refused to launch request %llu of "
                             "kind %u: %u",
                             dispatch->name, (unsigned long long)i, request->kind, code);
    }
    return GPH_OK;
}

/* A request whose sender could not start the resident graph is not lost. */
static gph_status look_after(gph_dispatch *dispatch, gph_error *error)
{
    GPHI_TRY(ask_device(dispatch, error));
    gphi_mutex_lock(&dispatch->mutex);
    const gph_status status = wake_locked(dispatch, error);
    gphi_mutex_unlock(&dispatch->mutex);
    return status;
}

gph_status gph_dispatch_wait(gph_dispatch *dispatch, uint64_t number, gph_error *error)
{
    GPHI_TRY(gphi_need(error, dispatch));
    GPHI_TRY(check_started(dispatch, error));
    const uint64_t sent = READ(dispatch->host->sent);
    const uint64_t last = number == 0 ? sent : number;
    if (last > sent)
        return gphi_fail(error, GPH_E_INVALID,
                         "dispatch %s: request %llu, %llu were sent", dispatch->name,
                         (unsigned long long)number, (unsigned long long)sent);
    uint32_t round = 0;
    while (READ(dispatch->host->done) < last) {
        if (round % ASK_EVERY == ASK_EVERY - 1)
            GPHI_TRY(look_after(dispatch, error));
        pause_a_while(&round);
    }
    gphi_mutex_lock(&dispatch->mutex);
    const gph_status status = check_codes_locked(dispatch, number, last, error);
    gphi_mutex_unlock(&dispatch->mutex);
    return status;
}

gph_status gph_dispatch_stop(gph_dispatch *dispatch, gph_error *error)
{
    const gph_status waited = gph_dispatch_wait(dispatch, 0, error);
    if (waited != GPH_OK && waited != GPH_E_STATE)
        return waited;
    const gphi_cuda_table *cu = &dispatch->runtime->cu;
    __atomic_store_n(&dispatch->host->stop, 1, __ATOMIC_RELEASE);
    const CUstreamCaptureMode mode = gphi_relax(cu);
    const CUresult result = cu->cuStreamSynchronize(dispatch->stream);
    gphi_unrelax(cu, mode);
    __atomic_store_n(&dispatch->host->stop, 0, __ATOMIC_RELEASE);
    return result != CUDA_SUCCESS ? fail_fault(dispatch, result, error) : waited;
}

void gph_dispatch_stats_get(const gph_dispatch *dispatch, gph_dispatch_stats *out)
{
    gph_dispatch_stats stats = {0};
    if (dispatch) {
        gph_dispatch *changed = (gph_dispatch *)(uintptr_t)dispatch; /* for the lock */
        gphi_mutex_lock(&changed->mutex);
        stats.sent = dispatch->sent;
        stats.starts = dispatch->starts;
        stats.full = dispatch->full;
        gphi_mutex_unlock(&changed->mutex);
        stats.graphs = dispatch->count;
        stats.done = READ(dispatch->host->done);
        stats.rounds = READ(dispatch->host->rounds);
    }
    gphi_struct_write(out, &stats, sizeof(stats));
}
