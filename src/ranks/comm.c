// SPDX-License-Identifier: Apache-2.0
/* Communicators: how all ranks make one, or none does, and when one goes. */
#define _GNU_SOURCE
#include "ranks/comm.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "cuda/status.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { OWN_BYTES = 256 << 10, OWN_BYTES_MAX = 64 << 20 };

/* NCCL's first communicator of a process looks at the whole machine. */
#define JOIN_NS UINT64_C(120000000000)
/* Its graphs have gone, so that an abort ends soon. */
#define ABORT_NS UINT64_C(2000000000)
/* How long a group that closes waits for destructors that the driver runs later. */
enum { CLOSING_MS = 1000 };

/* Makes the communicator's context current for calls on another's thread. */
static bool enter(gph_comm *comm)
{
    return comm->runtime->cu.cuCtxPushCurrent(comm->context) == CUDA_SUCCESS;
}

static void leave(gph_comm *comm, bool has_entered)
{
    CUcontext ours;
    if (has_entered)
        gphi_ignore((gph_status)comm->runtime->cu.cuCtxPopCurrent(&ours),
                    "it was pushed");
}

/* ---- the end ---- */

/* Nothing is captured, no graph lives, no work is under way. */
static void destroy_now(void *user)
{
    gph_comm *comm = user;
    gphi_nccl_comm handle = atomic_exchange(&comm->handle, NULL);
    gphi_nccl_abort_end(comm->aborting, ABORT_NS);
    const bool has_entered = enter(comm);
    const CUstreamCaptureMode mode = gphi_relax(&comm->runtime->cu);
    if (handle && comm->nccl.ncclCommDestroy(handle) != GPHI_NCCL_SUCCESS)
        gphi_log("ranks", GPH_LOG_ERROR, "communicator %s: ncclCommDestroy failed",
                 comm->name);
    gphi_peers_fini(&comm->peers);
    gphi_unrelax(&comm->runtime->cu, mode);
    leave(comm, has_entered);
    gphi_comm_records_fini(comm);
    gphi_heap_text_free(comm->heap, comm->name);
    gphi_heap_text_free(comm->heap, comm->nccl_path);
    gphi_heap_free(comm->heap, comm, sizeof(*comm));
}

/* Whoever calls it has given it up, or never got it. */
static void end(gph_comm *comm)
{
    if (comm->is_watched)
        gphi_ranks_watch_remove(comm->ranks, &comm->watch);
    comm->is_watched = false;
    gphi_defer(&comm->ending, destroy_now, comm);
}

void gph_comm_destroy(gph_comm *comm)
{
    if (!comm || !comm->ranks) /* or abandoned by a group that has gone */
        return;
    gphi_ranks_watch_remove(comm->ranks, &comm->watch);
    comm->is_watched = false;
    comm->is_given_up = true;
    if (gphi_comm_sweep(comm) == 0) {
        end(comm);
        return;
    }
    comm->is_watched = true; /* and on_idle() ends it */
    gphi_ranks_watch_add(comm->ranks, &comm->watch);
}

/* ---- what the group calls ---- */

/* The group has failed: what waits on the device ends. */
static void on_failed(void *user)
{
    gph_comm *comm = user;
    gphi_peers_stop(&comm->peers);
    gphi_nccl_comm handle = atomic_exchange(&comm->handle, NULL);
    if (!handle)
        return;
    comm->aborting = gphi_nccl_abort(&comm->nccl, comm->runtime, comm->context, handle);
}

/* NCCL's own threads may have seen an error of the network, say. */
static void tell_nccl(gph_comm *comm)
{
    gphi_nccl_comm handle = atomic_load(&comm->handle);
    int result = 0;
    gph_error cause;
    if (!handle ||
        comm->nccl.ncclCommGetAsyncError(handle, &result) != GPHI_NCCL_SUCCESS ||
        result == GPHI_NCCL_SUCCESS || result == GPHI_NCCL_IN_PROGRESS ||
        atomic_exchange(&comm->has_told, true))
        return;
    gphi_ignore(gphi_nccl_fail(&cause, &comm->nccl, handle, result,
                               "ncclCommGetAsyncError", "communicator %s", comm->name),
                "the group gets it");
    gphi_ranks_give_up(comm->ranks, comm->ranks->who.rank, &cause);
}

static void on_idle(void *user)
{
    gph_comm *comm = user;
    gphi_comm_settle(comm);
    tell_nccl(comm);
    if (comm->is_given_up && gphi_comm_sweep(comm) == 0)
        end(comm);
}

/* The group goes. Graphs that are replayed later must not wait for ranks any more; they use
 * this communicator's memory, so it stays. */
static void on_closing(void *user)
{
    gph_comm *comm = user;
    const struct timespec nap = {0, 1000000};
    const bool is_given_up = comm->is_given_up;
    uint64_t live = gphi_comm_sweep(comm);
    for (int i = 0; i < CLOSING_MS && live != 0 && is_given_up; i++) {
        nanosleep(&nap, NULL);
        live = gphi_comm_sweep(comm);
    }
    if (is_given_up && live == 0) {
        end(comm);
        return;
    }
    gphi_log("ranks", GPH_LOG_ERROR,
             "communicator %s stays in memory: its group was closed %s%llu of its graphs "
             "live",
             comm->name, is_given_up ? "while " : "before gph_comm_destroy(), and ",
             (unsigned long long)live);
    gphi_peers_stop(&comm->peers);
    gphi_ranks_watch_remove(comm->ranks, &comm->watch);
    comm->is_watched = false;
    comm->ranks = NULL;
}

/* ---- making: each step on all ranks ---- */

static gph_status read_options(const gph_comm_options *options, gph_comm_options *out,
                               gph_error *error)
{
    GPHI_TRY(gphi_options_read(out, sizeof(*out), "gph_comm_options", options, error));
    if (out->way > GPH_COMM_OWN)
        return gphi_fail(error, GPH_E_INVALID, "options.way %u is not a gph_comm_way",
                         out->way);
    if (out->own_bytes > OWN_BYTES_MAX)
        return gphi_fail(error, GPH_E_INVALID, "options.own_bytes %llu is more than %d",
                         (unsigned long long)out->own_bytes, OWN_BYTES_MAX);
    out->own_bytes = out->own_bytes == 0 ? OWN_BYTES : out->own_bytes;
    return GPH_OK;
}

/* This rank's part, with nothing that other ranks have to do with yet. */
static gph_status make(gph_ranks *ranks, gph_runtime *runtime,
                       const gph_comm_options *options, gph_comm **out, gph_error *error)
{
    gph_comm_options opt;
    GPHI_TRY(read_options(options, &opt, error));
    gph_comm *comm = gphi_heap_alloc(runtime->heap, sizeof(*comm));
    GPHI_TRY(gphi_made(error, comm, "making a communicator"));
    comm->ranks = ranks;
    comm->runtime = runtime;
    comm->heap = runtime->heap;
    comm->options = opt;
    gphi_comm_records_init(comm);
    comm->name = gphi_heap_text(comm->heap, opt.name ? opt.name : "comm");
    comm->nccl_path = gphi_heap_text(comm->heap, opt.nccl_path);
    gph_status status =
        gphi_made(error, comm->name && (comm->nccl_path || !opt.nccl_path),
                  "making a communicator");
    GPHI_THEN(status, gphi_cuda_check(error, runtime->cu.cuCtxGetCurrent(&comm->context),
                                      "cuCtxGetCurrent", "making a communicator"));
    if (status == GPH_OK && !comm->context)
        status = gphi_cuda_fail(error, CUDA_ERROR_INVALID_CONTEXT, "cuCtxGetCurrent",
                                "making a communicator");
    if (status == GPH_OK && gphi_capture_open_count() != 0)
        status = gphi_fail(error, GPH_E_STATE,
                           "a communicator is made while %u captures are open",
                           gphi_capture_open_count());
    if (status != GPH_OK) {
        end(comm);
        return status;
    }
    *out = comm;
    return GPH_OK;
}

/* A way that this rank has not, or cannot have: its reason is kept; what else fails is an
 * error. */
static gph_status excuse(gph_comm *comm, gph_status status, const gph_error *why,
                         gph_error *error)
{
    if (status == GPH_OK)
        return GPH_OK;
    if (comm->options.way == GPH_COMM_BEST && status != GPH_E_NO_MEMORY &&
        status != (gph_status)CUDA_ERROR_OUT_OF_MEMORY) {
        if (comm->missing[0] == '\0')
            snprintf(comm->missing, sizeof(comm->missing), "%.190s", why->message);
        return GPH_OK;
    }
    if (error)
        *error = *why;
    return status;
}

/* What all ranks must have asked for alike. */
static gph_status agree(gph_comm *comm, gph_error *error)
{
    char text[GPH_RANKS_TEXT_MAX];
    snprintf(text, sizeof(text), "%.200s, way %u, own_bytes %llu", comm->name,
             comm->options.way, (unsigned long long)comm->options.own_bytes);
    return gph_ranks_agree_at(NULL, comm->ranks, "communicator", text, error);
}

/* This rank's memory, and how the others reach it. */
static gph_status prepare_own(gph_comm *comm, gphi_peers_card *card, gph_error *error)
{
    gph_error why = {0};
    const gphi_ranks_identity *who = &comm->ranks->who;
    gph_status status = GPH_OK;
    memset(card, 0, sizeof(*card));
    if (comm->options.way != GPH_COMM_NCCL)
        status = gphi_peers_init(&comm->peers, comm->runtime, who->rank, who->count,
                                 comm->options.own_bytes, comm->ranks->patience_ns, &why);
    if (status != GPH_OK)
        gphi_peers_fini(&comm->peers);
    GPHI_TRY(excuse(comm, status, &why, error));
    comm->peers.runtime = comm->runtime; /* for the card, in each case */
    return gphi_peers_show(&comm->peers, card, error);
}

/* Only where all ranks have their memory: whoever opens none waits for none. */
static gph_status connect_own(gph_comm *comm, const gphi_peers_card *cards,
                              gph_error *error)
{
    gph_error why = {0};
    bool can = true;
    for (uint32_t i = 0; i < comm->ranks->who.count; i++)
        can &= cards[i].can != 0;
    if (!can)
        return GPH_OK;
    const gph_status status = gphi_peers_connect(&comm->peers, cards, &why);
    comm->has_own = status == GPH_OK;
    return excuse(comm, status, &why, error);
}

/* With what this rank can do, what all of them can. */
static gph_status least(gph_comm *comm, const char *what, bool *has, gph_error *error)
{
    int64_t all = 0;
    GPHI_TRY(gph_ranks_least_at(NULL, comm->ranks, what, *has, &all, error));
    *has = all != 0;
    return GPH_OK;
}

/* Local steps are between agreements, so that all ranks go on, or none does. */
static gph_status make_own(gph_comm *comm, gphi_peers_card *cards, gph_error *error)
{
    gphi_peers_card card;
    gph_error mine = {0};
    gph_status status = prepare_own(comm, &card, &mine);
    GPHI_TRY(gph_ranks_all_at(NULL, comm->ranks, "comm memory", status, &mine, error));
    GPHI_TRY(gph_ranks_gather_at(NULL, comm->ranks, "comm cards", &card, sizeof(card),
                                 cards, error));
    status = connect_own(comm, cards, &mine);
    GPHI_TRY(gph_ranks_all_at(NULL, comm->ranks, "comm peers", status, &mine, error));
    return least(comm, "comm own", &comm->has_own, error);
}

static gph_status still_well(void *user, gph_error *error)
{
    return gph_ranks_check(user, error);
}

/* Two ranks of one GPU are not for NCCL. */
static gph_status check_cards(const gph_comm *comm, const gphi_peers_card *cards,
                              gph_error *error)
{
    const uint32_t count = comm->ranks->who.count;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = i + 1; k < count; k++)
            if (memcmp(&cards[i].device, &cards[k].device, sizeof(cards[i].device)) == 0)
                return gphi_fail(error, GPH_E_INVALID,
                                 "ranks %u and %u are on one GPU, which NCCL refuses", i,
                                 k);
    return GPH_OK;
}

static gph_status open_nccl(gph_comm *comm, const gphi_peers_card *cards,
                            gph_error *error)
{
    gph_error why = {0};
    gph_status status = GPH_OK;
    if (comm->options.way == GPH_COMM_OWN)
        return GPH_OK;
    /* It would open NVIDIA's driver beside this one; a library that was named may do. */
    if (comm->runtime->source.kind == GPH_DRIVER_SOFT && !comm->nccl_path)
        status = gphi_fail(&why, GPH_E_UNSUPPORTED, "NCCL does not run on softcuda");
    GPHI_THEN(status, gphi_nccl_open(comm->nccl_path, &comm->nccl, &why));
    GPHI_THEN(status, check_cards(comm, cards, &why));
    comm->has_nccl = status == GPH_OK;
    return excuse(comm, status, &why, error);
}

/* Rank 0's id goes to all of them. */
static gph_status join_nccl(gph_comm *comm, gph_error *error)
{
    const gphi_ranks_identity *who = &comm->ranks->who;
    gphi_nccl_id id = {{0}}, *ids = NULL;
    gphi_nccl_comm handle = NULL;
    gph_error mine = {0};
    gph_status status = GPH_OK;
    if (who->rank == 0) {
        const int result = comm->nccl.ncclGetUniqueId(&id);
        if (result != GPHI_NCCL_SUCCESS)
            status = gphi_nccl_fail(&mine, &comm->nccl, NULL, result, "ncclGetUniqueId",
                                    "communicator %s", comm->name);
    }
    ids = gphi_heap_array(comm->heap, who->count, sizeof(*ids));
    if (!ids)
        GPHI_THEN(status, gphi_fail(&mine, GPH_E_NO_MEMORY, "joining NCCL"));
    status = gph_ranks_all_at(NULL, comm->ranks, "comm id", status, &mine, error);
    GPHI_THEN(status, gph_ranks_gather_at(NULL, comm->ranks, "comm ids", &id, sizeof(id),
                                          ids, error));
    if (status == GPH_OK) {
        status =
            gphi_nccl_join(&comm->nccl, comm->runtime, &ids[0], who->rank, who->count,
                           still_well, comm->ranks, JOIN_NS, &handle, &mine);
        if (status == GPH_OK)
            atomic_store(&comm->handle, handle);
        else /* the others wait in it, and come to no agreement */
            gph_ranks_fail(comm->ranks, &mine);
        status = gph_ranks_all_at(NULL, comm->ranks, "comm join", status, &mine, error);
    }
    if (ids)
        gphi_heap_free(comm->heap, ids, who->count * sizeof(*ids));
    return status;
}

static gph_status make_nccl(gph_comm *comm, const gphi_peers_card *cards,
                            gph_error *error)
{
    gph_error mine = {0};
    const gph_status status = open_nccl(comm, cards, &mine);
    GPHI_TRY(gph_ranks_all_at(NULL, comm->ranks, "comm nccl", status, &mine, error));
    GPHI_TRY(least(comm, "comm has nccl", &comm->has_nccl, error));
    return comm->has_nccl ? join_nccl(comm, error) : GPH_OK;
}

static gph_status fill(gph_comm *comm, gph_error *error)
{
    const uint32_t count = comm->ranks->who.count;
    gph_error mine = {0};
    gphi_peers_card *cards = gphi_heap_array(comm->heap, count, sizeof(*cards));
    gph_status status = gphi_made(&mine, cards, "making a communicator");
    status = gph_ranks_all_at(NULL, comm->ranks, "comm begin", status, &mine, error);
    GPHI_THEN(status, agree(comm, error));
    GPHI_THEN(status, make_own(comm, cards, error));
    GPHI_THEN(status, make_nccl(comm, cards, error));
    if (cards)
        gphi_heap_free(comm->heap, cards, count * sizeof(*cards));
    GPHI_TRY(status);
    if (!comm->has_own && !comm->has_nccl)
        return gphi_fail(error, GPH_E_UNSUPPORTED, "communicator %s: no way: %s",
                         comm->name, comm->missing);
    comm->own_up_to = comm->has_own ? comm->options.own_bytes : 0;
    comm->watch = (gphi_ranks_watch){.failed = on_failed,
                                     .idle = on_idle,
                                     .settle = gphi_comm_settle,
                                     .closing = on_closing,
                                     .user = comm};
    comm->is_watched = true;
    gphi_ranks_watch_add(comm->ranks, &comm->watch);
    return comm->has_own && comm->has_nccl ? gphi_comm_measure(comm, error) : GPH_OK;
}

gph_status gph_comm_create(gph_ranks *ranks, gph_runtime *runtime,
                           const gph_comm_options *options, gph_comm **out,
                           gph_error *error)
{
    gph_comm *comm = NULL;
    gph_error mine = {0};
    GPHI_TRY(gphi_need(error, ranks, runtime, out));
    gph_status status = make(ranks, runtime, options, &comm, &mine);
    status = gph_ranks_all_at(NULL, ranks, "comm create", status, &mine, error);
    if (!comm)
        return status;
    if (status == GPH_OK) {
        const CUstreamCaptureMode mode = gphi_relax(&runtime->cu);
        status = fill(comm, error);
        gphi_unrelax(&runtime->cu, mode);
    }
    if (status != GPH_OK) {
        if (comm->is_watched)
            gphi_ranks_watch_remove(ranks, &comm->watch);
        comm->is_watched = false;
        on_failed(comm); /* aborts what others may not have joined */
        end(comm);
        return status;
    }
    *out = comm;
    return GPH_OK;
}

/* ---- asked ---- */

void *gph_comm_nccl(const gph_comm *comm)
{
    return comm ? atomic_load(&((gph_comm *)(uintptr_t)comm)->handle) : NULL;
}

static void describe(const gph_comm *comm, gph_comm_info *info)
{
    char nccl[96] = "", own[96] = "";
    if (comm->has_nccl)
        snprintf(nccl, sizeof(nccl), "NCCL %d", comm->nccl.version);
    if (comm->has_own)
        snprintf(own, sizeof(own), "libgph's kernel up to %llu bytes",
                 (unsigned long long)comm->own_up_to);
    snprintf(info->text, sizeof(info->text), "%s%s%s%s%s", own,
             comm->has_own && comm->has_nccl ? ", above it " : "", nccl,
             comm->missing[0] ? "; not there: " : "", comm->missing);
}

void gph_comm_info_get(const gph_comm *comm, gph_comm_info *out)
{
    gph_comm_info full = {.size = sizeof(full)};
    if (comm) {
        gph_comm *own = (gph_comm *)(uintptr_t)comm; /* its lock */
        full.graphs = gphi_comm_sweep(own);
        gphi_mutex_lock(&own->mutex);
        full.calls = comm->calls;
        full.captured = comm->captured;
        gphi_mutex_unlock(&own->mutex);
        full.has_nccl = comm->has_nccl;
        full.has_own = comm->has_own;
        full.nccl_version = (uint32_t)comm->nccl.version;
        full.own_up_to = comm->own_up_to;
        memcpy(full.own_us, comm->own_us, sizeof(full.own_us));
        memcpy(full.nccl_us, comm->nccl_us, sizeof(full.nccl_us));
        describe(comm, &full);
    }
    if (out)
        gphi_struct_write(out, &full, sizeof(full));
}
