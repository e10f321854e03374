// SPDX-License-Identifier: Apache-2.0
/* Collectives: which way one goes, and how it is put into a stream. */
#include "base/fail.h"
#include "base/path.h"
#include "callable/signature.h"
#include "cuda/status.h"
#include "ranks/comm.h"

#include <stdio.h>
#include <string.h>

/* ---- how kernels ended ---- */

/* A kernel lost its patience. */
void gphi_comm_settle(void *user)
{
    gph_comm *comm = user;
    uint32_t rank = 0, number = 0;
    char text[160], time[32];
    gph_error cause;
    if (!gphi_peers_missed(&comm->peers, &rank, &number) ||
        atomic_exchange(&comm->has_told, true))
        return;
    gphi_comm_number_text(comm, number, text, sizeof(text));
    gphi_fail(&cause, GPH_E_STATE,
              "communicator %s: rank %u did not come to the %s within %s", comm->name,
              rank, text, gphi_ranks_time(comm->ranks->patience_ns, time));
    gphi_ranks_give_up(comm->ranks, rank, &cause);
}

/* ---- by NCCL ---- */

/* An address as NCCL takes it. */
static void *address(CUdeviceptr at)
{
    return (void *)(uintptr_t)at;
}

static gph_status put_nccl(gph_comm *comm, const gphi_comm_record *record, CUdeviceptr in,
                           CUdeviceptr out, CUstream stream, gph_error *error)
{
    const gphi_nccl *nccl = &comm->nccl;
    const int dtype = gphi_nccl_dtype(record->dtype);
    const size_t count = (size_t)record->count;
    gphi_nccl_comm handle = atomic_load(&comm->handle);
    const char *call = NULL;
    char text[160];
    int result = 0;
    if (!handle)
        return gph_ranks_check(comm->ranks, error);
    switch (record->kind) {
    case GPHI_COMM_REDUCE:
        call = "ncclAllReduce";
        result =
            nccl->ncclAllReduce(address(in), address(out), count, dtype,
                                gphi_nccl_reduction(record->reduction), handle, stream);
        break;
    case GPHI_COMM_GATHER:
        call = "ncclAllGather";
        result =
            nccl->ncclAllGather(address(in), address(out), count, dtype, handle, stream);
        break;
    default:
        call = "ncclBroadcast";
        result = nccl->ncclBroadcast(address(in), address(out), count, dtype,
                                     (int)record->root, handle, stream);
        break;
    }
    atomic_store_explicit(&comm->ranks->has_no_limit, true, memory_order_relaxed);
    gphi_ranks_seen(comm->ranks);
    if (result == GPHI_NCCL_SUCCESS)
        return GPH_OK;
    GPHI_TRY(gph_ranks_check(comm->ranks, error)); /* which was why it was aborted */
    gphi_comm_record_text(record, text, sizeof(text));
    return gphi_nccl_fail(error, nccl, handle, result, call, "%s", text);
}

/* ---- by the own kernel ---- */

/* The kernel of a record; false: there is none. Gathers and broadcasts move bytes. */
static bool own_kind(const gphi_comm_record *record, gphi_peers_kind *out)
{
    *out = record->kind == GPHI_COMM_GATHER ? GPHI_PEERS_GATHER : GPHI_PEERS_BROADCAST;
    if (record->kind != GPHI_COMM_REDUCE)
        return true;
    switch (record->dtype) {
    case GPH_DTYPE_F32: *out = GPHI_PEERS_F32; return true;
    case GPH_DTYPE_F16: *out = GPHI_PEERS_F16; return true;
    case GPH_DTYPE_BF16: *out = GPHI_PEERS_BF16; return true;
    case GPH_DTYPE_I32: *out = GPHI_PEERS_I32; return true;
    default: return false;
    }
}

static gph_status put_own(gph_comm *comm, const gphi_comm_record *record, CUdeviceptr in,
                          CUdeviceptr out, uint32_t number, CUstream stream,
                          gph_error *error)
{
    const uint32_t element = gphi_dtype_bytes(record->dtype);
    gphi_peers_work work = {.in = in,
                            .out = out,
                            .bytes = record->count * element,
                            .element_bytes = element,
                            .reduction = record->reduction,
                            .root = record->root,
                            .place = number};
    char text[160];
    (void)own_kind(record, &work.kind);
    const CUresult result = gphi_peers_launch(&comm->peers, &work, stream);
    if (result == CUDA_SUCCESS)
        return GPH_OK;
    gphi_comm_record_text(record, text, sizeof(text));
    return gphi_cuda_fail(error, (gph_status)result, "cuLaunchKernel", "%s", text);
}

gph_status gphi_comm_put(gph_comm *comm, gph_comm_way way, const gphi_comm_record *record,
                         CUdeviceptr in, CUdeviceptr out, uint32_t number,
                         CUstream stream, gph_error *error)
{
    return way == GPH_COMM_OWN ? put_own(comm, record, in, out, number, stream, error)
                               : put_nccl(comm, record, in, out, stream, error);
}

/* ---- which way ---- */

/* By what is alike on all ranks, or one would wait for another's other way. */
static gph_status choose(const gph_comm *comm, const gphi_comm_record *record,
                         gph_comm_way *out, gph_error *error)
{
    char text[160];
    gphi_peers_kind kind;
    const uint64_t element = gphi_dtype_bytes(record->dtype);
    const uint64_t parts = record->kind == GPHI_COMM_GATHER ? comm->ranks->who.count : 1;
    const uint64_t most = comm->own_up_to / (element * parts);
    const bool own = comm->has_own && own_kind(record, &kind) && record->count <= most;
    *out = own ? GPH_COMM_OWN : GPH_COMM_NCCL;
    if (own || (comm->has_nccl && gphi_nccl_dtype(record->dtype) >= 0))
        return GPH_OK;
    gphi_comm_record_text(record, text, sizeof(text));
    return gphi_fail(
        error, GPH_E_UNSUPPORTED,
        "communicator %s: %s: libgph's kernel takes f32, f16, bf16 and i32 to "
        "%llu bytes%s%s",
        comm->name, text, (unsigned long long)comm->own_up_to,
        comm->has_nccl ? "" : ", and NCCL is not there: ",
        comm->has_nccl ? "" : comm->missing);
}

/* Fills in the record of a call, and looks at what every rank can see of it. */
static gph_status describe(const char *place, const gph_comm *comm,
                           gphi_comm_record *record, gph_error *error)
{
    const uint32_t element = gphi_dtype_bytes(record->dtype);
    if (element == 0)
        return gphi_fail(error, GPH_E_INVALID, "dtype %u is not a gph_dtype",
                         record->dtype);
    if (record->count > UINT64_C(1) << 48)
        return gphi_fail(error, GPH_E_INVALID, "count %llu is more than 2^48",
                         (unsigned long long)record->count);
    if (record->kind == GPHI_COMM_REDUCE &&
        (record->reduction < GPH_COMM_SUM || record->reduction > GPH_COMM_MIN))
        return gphi_fail(error, GPH_E_INVALID, "reduction %u is not a gph_comm_reduction",
                         record->reduction);
    if (record->root >= comm->ranks->who.count)
        return gphi_fail(error, GPH_E_INVALID, "root %u of %u ranks", record->root,
                         comm->ranks->who.count);
    if (place)
        snprintf(record->place, sizeof(record->place), "%s", gphi_path_name(place));
    return GPH_OK;
}

/* Kernels load whole elements. */
static gph_status check_address(const char *name, CUdeviceptr at, uint32_t dtype,
                                gph_error *error)
{
    const uint32_t bytes = gphi_dtype_bytes(dtype);
    if (at != 0 && at % (bytes < 8 ? bytes : 8) == 0)
        return GPH_OK;
    return gphi_fail(error, GPH_E_INVALID, "%s 0x%llx is not the address of a %s", name,
                     (unsigned long long)at, gphi_dtype_name(dtype));
}

/* Collectives of the communicator go through one stream, or streams that wait for each
 * other: the memory of the own kernel is ordered by that. */
static gph_status run(const char *place, gph_comm *comm, gphi_comm_record *record,
                      CUdeviceptr in, CUdeviceptr out, CUstream stream, gph_error *error)
{
    gphi_comm_graph *graph = NULL;
    uint32_t number = 0;
    gph_comm_way way;
    GPHI_TRY(gphi_need(error, comm));
    GPHI_TRY(describe(place, comm, record, error));
    if (record->count == 0)
        return GPH_OK;
    GPHI_TRY(check_address("in", in, record->dtype, error));
    GPHI_TRY(check_address("out", out, record->dtype, error));
    gphi_comm_settle(comm);
    GPHI_TRY(gph_ranks_check(comm->ranks, error));
    GPHI_TRY(choose(comm, record, &way, error));
    GPHI_TRY(gphi_comm_expect(comm, record, stream, &graph, &number, error));
    GPHI_TRY(gphi_comm_put(comm, way, record, in, out, number, stream, error));
    gphi_comm_note(comm, graph, number);
    return GPH_OK;
}

gph_status gph_comm_all_reduce_at(const char *place, gph_comm *comm, CUdeviceptr in,
                                  CUdeviceptr out, uint64_t count, gph_dtype dtype,
                                  gph_comm_reduction reduction, CUstream stream,
                                  gph_error *error)
{
    gphi_comm_record record = {.count = count,
                               .kind = GPHI_COMM_REDUCE,
                               .dtype = (uint32_t)dtype,
                               .reduction = (uint32_t)reduction};
    return run(place, comm, &record, in, out, stream, error);
}

gph_status gph_comm_all_gather_at(const char *place, gph_comm *comm, CUdeviceptr in,
                                  CUdeviceptr out, uint64_t count, gph_dtype dtype,
                                  CUstream stream, gph_error *error)
{
    gphi_comm_record record = {
        .count = count, .kind = GPHI_COMM_GATHER, .dtype = (uint32_t)dtype};
    return run(place, comm, &record, in, out, stream, error);
}

gph_status gph_comm_broadcast_at(const char *place, gph_comm *comm, CUdeviceptr data,
                                 uint64_t count, gph_dtype dtype, uint32_t root,
                                 CUstream stream, gph_error *error)
{
    gphi_comm_record record = {.count = count,
                               .kind = GPHI_COMM_BROADCAST,
                               .dtype = (uint32_t)dtype,
                               .root = root};
    return run(place, comm, &record, data, data, stream, error);
}
