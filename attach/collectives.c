// SPDX-License-Identifier: Apache-2.0
/* What ranks call together: NCCL's functions and those of libgph's communicators, which are
 * exported here, go on to the library that the caller means, and are noted.
 *
 *   program, or a library ─> here ─> libnccl.so.2, libgph
 *
 * The record is written before the call: a rank that waits for another never returns from
 * it. A call that a noted one makes is its own business, as what libgph asks of NCCL. A
 * program without these libraries never comes here. NCCL that is linked in statically is
 * not seen. */
#define _GNU_SOURCE
#include "attach/beside.h"
#include "attach/driver/find.h"
#include "attach/peek/kind.h"
#include "attach/peek/stack.h"
#include "attach/process.h"
#include "attach/ring/draft.h"
#include "attach/ring/state.h"
#include "attach/ring/thread.h"
#include "base/hash.h"
#include "event/collective_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What NCCL and libgph return where there is no such function. */
enum { NCCL_INTERNAL = 3, NCCL_IN_PROGRESS = 7, GPH_UNSUPPORTED = -3 };

typedef struct nccl_id {
    char bytes[128];
} nccl_id;

/* A call, and what is known of its communicator. */
typedef struct noted {
    gphi_collective_id id;
    uint64_t stream, count, dtype, op, rank, ranks, same;
    const void *comm;
    void *const *made; /* where a communicator that it makes is put; or NULL */
    const char *name;  /* or NULL */
    const void *from, *above;
    bool is_seen;
} noted;

static void *_Atomic picked[GPHI_COLLECTIVE_COUNT];
static __thread uint32_t depth __attribute__((tls_model("initial-exec")));

/* ---- the library's functions ---- */

static const char *file_of(gphi_collective_id id)
{
    return gphi_collective_is_gph(id) ? "libgph." : "libnccl.";
}

static attach_function *real_of(const noted *call)
{
    static attach_place places[ATTACH_PLACES];
    const attach_beside_what what = {
        .name = gphi_collective_name(call->id),
        .file = file_of(call->id),
        .salt = call->id + 1,
        .picked = atomic_load_explicit(&picked[call->id], memory_order_relaxed)};
    return attach_beside(places, call->from, &what);
}

/* ---- records ---- */

/* As for a driver call: the first one makes the ring. */
static bool is_on(void)
{
    const uint32_t is = atomic_load_explicit(&attach_is, memory_order_acquire);
    if (is != ATTACH_NEW || attach_me.busy != 0)
        return is == ATTACH_ON && attach_me.busy == 0;
    attach_me.busy++;
    const bool is_started = attach_start();
    attach_me.busy--;
    return is_started;
}

static void put(const noted *call, gphi_collective_phase phase, int result)
{
    const uint64_t words[GPHI_COLLECTIVE_WORDS] = {
        [GPHI_COLLECTIVE_ID] = call->id,
        [GPHI_COLLECTIVE_PHASE] = phase,
        [GPHI_COLLECTIVE_RESULT] = (uint64_t)(int64_t)result,
        [GPHI_COLLECTIVE_STREAM] = call->stream,
        [GPHI_COLLECTIVE_ELEMENTS] = call->count,
        [GPHI_COLLECTIVE_DTYPE] = call->dtype,
        [GPHI_COLLECTIVE_OP] = call->op,
        [GPHI_COLLECTIVE_RANK] = call->rank,
        [GPHI_COLLECTIVE_RANKS] = call->ranks,
        [GPHI_COLLECTIVE_SAME] = call->same};
    const void *comm =
        call->made && phase == GPHI_COLLECTIVE_RETURNED ? *call->made : call->comm;
    attach_me.busy++;
    attach_know_thread();
    const uint32_t stack =
        phase == GPHI_COLLECTIVE_CALLED ? attach_stack_python(call->above) : 0;
    attach_tell(GPHI_EVENT_COLLECTIVE, (uint64_t)(uintptr_t)comm, stack, words,
                GPHI_COLLECTIVE_WORDS, call->name ? call->name : "");
    attach_me.busy--;
}

static attach_function *enter(noted *call)
{
    const int saved = errno;
    attach_function *real = real_of(call);
    call->is_seen = real && depth == 0 && is_on();
    if (call->is_seen)
        put(call, GPHI_COLLECTIVE_CALLED, 0);
    depth++;
    errno = saved;
    return real;
}

static int leave(const noted *call, int result)
{
    const int saved = errno;
    const gphi_collective_sort sort = gphi_collective_sort_of(call->id);
    const bool has_failed = result != 0 && result != NCCL_IN_PROGRESS;
    depth--;
    if (call->is_seen && is_on() &&
        (has_failed || sort == GPHI_COLLECTIVE_MAKE || sort == GPHI_COLLECTIVE_FINALIZE ||
         sort == GPHI_COLLECTIVE_END))
        put(call, GPHI_COLLECTIVE_RETURNED, result);
    errno = saved;
    return result;
}

/* ---- the functions ---- */

/* clang-format off */
#define WRAP(function, missing, parameters, arguments, ...) \
    ATTACH_API int function parameters; \
    int function parameters \
    { \
        typedef int real_function parameters; \
        noted call_ = {.id = GPHI_COLLECTIVE_##function, \
                       .from = __builtin_return_address(0), \
                       .above = __builtin_dwarf_cfa(), __VA_ARGS__}; \
        real_function *real_ = (real_function *)enter(&call_); \
        return leave(&call_, real_ ? real_ arguments : (missing)); \
    }
#define NCCL(function, parameters, arguments, ...) \
    WRAP(function, NCCL_INTERNAL, parameters, arguments, __VA_ARGS__)
/* clang-format on */

static uint64_t bits(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

static uint64_t same_of(const void *ids, size_t bytes)
{
    return gphi_hash_bytes(GPHI_HASH_START, ids, bytes) | 1;
}

NCCL(ncclAllReduce,
     (const void *send, void *recv, size_t count, int dtype, int op, void *comm,
      void *stream),
     (send, recv, count, dtype, op, comm, stream), .comm = comm, .stream = bits(stream),
     .count = count, .dtype = (uint64_t)dtype, .op = (uint64_t)op)
NCCL(ncclAllGather,
     (const void *send, void *recv, size_t count, int dtype, void *comm, void *stream),
     (send, recv, count, dtype, comm, stream), .comm = comm, .stream = bits(stream),
     .count = count, .dtype = (uint64_t)dtype)
NCCL(ncclReduceScatter,
     (const void *send, void *recv, size_t count, int dtype, int op, void *comm,
      void *stream),
     (send, recv, count, dtype, op, comm, stream), .comm = comm, .stream = bits(stream),
     .count = count, .dtype = (uint64_t)dtype, .op = (uint64_t)op)
NCCL(ncclBroadcast,
     (const void *send, void *recv, size_t count, int dtype, int root, void *comm,
      void *stream),
     (send, recv, count, dtype, root, comm, stream), .comm = comm, .stream = bits(stream),
     .count = count, .dtype = (uint64_t)dtype, .op = (uint64_t)root)
NCCL(ncclReduce,
     (const void *send, void *recv, size_t count, int dtype, int op, int root, void *comm,
      void *stream),
     (send, recv, count, dtype, op, root, comm, stream), .comm = comm,
     .stream = bits(stream), .count = count, .dtype = (uint64_t)dtype,
     .op = (uint64_t)root)
NCCL(ncclAllToAll,
     (const void *send, void *recv, size_t count, int dtype, void *comm, void *stream),
     (send, recv, count, dtype, comm, stream), .comm = comm, .stream = bits(stream),
     .count = count, .dtype = (uint64_t)dtype)
NCCL(ncclSend,
     (const void *send, size_t count, int dtype, int peer, void *comm, void *stream),
     (send, count, dtype, peer, comm, stream), .comm = comm, .stream = bits(stream),
     .count = count, .dtype = (uint64_t)dtype, .op = (uint64_t)peer)
NCCL(ncclRecv, (void *recv, size_t count, int dtype, int peer, void *comm, void *stream),
     (recv, count, dtype, peer, comm, stream), .comm = comm, .stream = bits(stream),
     .count = count, .dtype = (uint64_t)dtype, .op = (uint64_t)peer)
NCCL(ncclCommInitRank, (void **comm, int ranks, nccl_id id, int rank),
     (comm, ranks, id, rank), .made = comm, .rank = (uint64_t)rank,
     .ranks = (uint64_t)ranks, .same = same_of(&id, sizeof(id)))
NCCL(ncclCommInitRankConfig, (void **comm, int ranks, nccl_id id, int rank, void *config),
     (comm, ranks, id, rank, config), .made = comm, .rank = (uint64_t)rank,
     .ranks = (uint64_t)ranks, .same = same_of(&id, sizeof(id)))
NCCL(ncclCommInitRankScalable,
     (void **comm, int ranks, int rank, int count, nccl_id *ids, void *config),
     (comm, ranks, rank, count, ids, config), .made = comm, .rank = (uint64_t)rank,
     .ranks = (uint64_t)ranks,
     .same = ids && count > 0 ? same_of(ids, sizeof(*ids) * (size_t)count) : 0)
NCCL(ncclCommFinalize, (void *comm), (comm), .comm = comm)
NCCL(ncclCommDestroy, (void *comm), (comm), .comm = comm)
NCCL(ncclCommAbort, (void *comm), (comm), .comm = comm)
NCCL(ncclGroupStart, (void), (), .comm = NULL)
NCCL(ncclGroupEnd, (void), (), .comm = NULL)

/* Which ranks the parts of a communicator have is NCCL's to know, and not asked. */
NCCL(ncclCommSplit, (void *comm, int color, int key, void **part, void *config),
     (comm, color, key, part, config), .comm = comm, .made = part,
     .op = (uint64_t)(int64_t)color)

/* All in this process: each rank's is noted when all are made. */
ATTACH_API int ncclCommInitAll(void **comms, int count, const int *devices);

int ncclCommInitAll(void **comms, int count, const int *devices)
{
    typedef int real_function(void **, int, const int *);
    static _Atomic uint64_t groups;
    noted call = {.id = GPHI_COLLECTIVE_ncclCommInitAll,
                  .from = __builtin_return_address(0),
                  .above = __builtin_dwarf_cfa(),
                  .ranks = (uint64_t)count};
    real_function *real = (real_function *)enter(&call);
    const int result = real ? real(comms, count, devices) : NCCL_INTERNAL;
    const uint64_t own[] = {(uint64_t)attach_process(), atomic_fetch_add(&groups, 1)};
    depth--;
    call.same = same_of(own, sizeof(own));
    for (int i = 0; result == 0 && call.is_seen && comms && i < count; i++) {
        call.rank = (uint64_t)i;
        call.made = &comms[i];
        put(&call, GPHI_COLLECTIVE_RETURNED, result);
    }
    return result;
}

/* ---- libgph's ---- */

/* What <gph/ranks_comm.h> declares, in the types of the binary interface: pointers, and
 * device addresses of 64 bits. */
typedef struct comm_options {
    uint32_t size, way;
    uint64_t own_bytes;
    const char *nccl_path, *name;
} comm_options;

typedef uint32_t rank_function(const void *ranks);

static uint64_t ask_ranks(const void *ranks, const char *name, const void *from)
{
    static attach_place places[ATTACH_PLACES];
    const attach_beside_what what = {
        .name = name, .file = "libgph.", .salt = gphi_hash_text(GPHI_HASH_START, name)};
    rank_function *ask = (rank_function *)attach_beside(places, from, &what);
    return ask ? ask(ranks) : 0;
}

ATTACH_API int gph_comm_create(void *ranks, void *runtime, const comm_options *options,
                               void **out, void *error);

int gph_comm_create(void *ranks, void *runtime, const comm_options *options, void **out,
                    void *error)
{
    typedef int real_function(void *, void *, const comm_options *, void **, void *);
    static _Atomic uint64_t made;
    const bool has_name = options && options->size >= sizeof(*options) && options->name;
    const uint64_t own[] = {/* alike on all ranks of a job */
                            atomic_fetch_add(&made, 1),
                            gphi_hash_text(GPHI_HASH_START, getenv("GPH_RANKS_ID"))};
    noted call = {.id = GPHI_COLLECTIVE_gph_comm_create,
                  .from = __builtin_return_address(0),
                  .above = __builtin_dwarf_cfa(),
                  .same = same_of(own, sizeof(own)),
                  .name = has_name ? options->name : "comm",
                  .made = out};
    call.rank = ask_ranks(ranks, "gph_ranks_rank", call.from);
    call.ranks = ask_ranks(ranks, "gph_ranks_count", call.from);
    real_function *real = (real_function *)enter(&call);
    return leave(&call,
                 real ? real(ranks, runtime, options, out, error) : GPH_UNSUPPORTED);
}

ATTACH_API void gph_comm_destroy(void *comm);

void gph_comm_destroy(void *comm)
{
    typedef void real_function(void *);
    noted call = {.id = GPHI_COLLECTIVE_gph_comm_destroy,
                  .from = __builtin_return_address(0),
                  .above = __builtin_dwarf_cfa(),
                  .comm = comm};
    real_function *real = (real_function *)enter(&call);
    if (real)
        real(comm);
    (void)leave(&call, 0);
}

/* clang-format off */
#define GPH(function, parameters, arguments, ...) \
    WRAP(function, GPH_UNSUPPORTED, parameters, arguments, __VA_ARGS__)
/* clang-format on */

GPH(gph_comm_all_reduce_at,
    (const char *place, void *comm, uint64_t in, uint64_t out, uint64_t count, int dtype,
     int reduction, void *stream, void *error),
    (place, comm, in, out, count, dtype, reduction, stream, error), .comm = comm,
    .stream = bits(stream), .count = count, .dtype = (uint64_t)dtype,
    .op = (uint64_t)reduction)
GPH(gph_comm_all_gather_at,
    (const char *place, void *comm, uint64_t in, uint64_t out, uint64_t count, int dtype,
     void *stream, void *error),
    (place, comm, in, out, count, dtype, stream, error), .comm = comm,
    .stream = bits(stream), .count = count, .dtype = (uint64_t)dtype)
GPH(gph_comm_broadcast_at,
    (const char *place, void *comm, uint64_t data, uint64_t count, int dtype,
     uint32_t root, void *stream, void *error),
    (place, comm, data, count, dtype, root, stream, error), .comm = comm,
    .stream = bits(stream), .count = count, .dtype = (uint64_t)dtype, .op = root)

/* ---- dlsym ---- */

static void *const ours[GPHI_COLLECTIVE_COUNT] = {
#define X(name, sort) (void *)(uintptr_t)name,
    GPHI_COLLECTIVES(X)
#undef X
};

/* The number of a name, or GPHI_COLLECTIVE_COUNT. */
static uint32_t id_of(const char *name)
{
    uint32_t id = GPHI_COLLECTIVE_COUNT;
    if (strncmp(name, "nccl", 4) == 0 || strncmp(name, "gph_comm_", 9) == 0)
        for (id = 0; id < GPHI_COLLECTIVE_COUNT; id++)
            if (strcmp(name, gphi_collective_name(id)) == 0)
                break;
    return id;
}

/* Of two NCCLs in one process only the first is seen by this way. */
static void *pick(const char *name, void *entry)
{
    const uint32_t id = id_of(name);
    void *there = NULL;
    if (id == GPHI_COLLECTIVE_COUNT)
        return NULL;
    const bool is_first =
        !entry || atomic_compare_exchange_strong(&picked[id], &there, entry);
    return is_first || there == entry ? ours[id] : NULL;
}

static bool is_there(const char *name)
{
    return attach_beside_is_there(file_of(id_of(name)), name);
}

/* dlsym() gives ours from now on. */
__attribute__((constructor)) static void prepare(void)
{
    static const attach_others others = {pick, is_there};
    attach_other = &others;
}
