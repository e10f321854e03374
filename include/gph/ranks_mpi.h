/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  A transport of gph_ranks_open() over an MPI communicator, for ranks on several hosts.
 *  Compiled into the program, with its <mpi.h>; libgph itself does not use MPI.
 *
 *      gph_ranks_transport mpi;
 *      gph_ranks_options options = GPH_RANKS_OPTIONS_INIT;
 *      gph_ranks_mpi(MPI_COMM_WORLD, &mpi, &error);
 *      MPI_Comm_size(MPI_COMM_WORLD, &count);
 *      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
 *      options.count = count, options.rank = rank, options.transport = &mpi;
 *      gph_ranks_open(&options, &ranks, &error);
 *
 *  Tier: experimental. */
#ifndef GPH_RANKS_MPI_H
#define GPH_RANKS_MPI_H

#include <gph/ranks.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @cond internal */
/* What MPI reads and writes is its own: a gather that never ends may do so until
 * MPI_Finalize(), when the group's memory is gone. */
typedef struct gphi_mpi {
    MPI_Comm comm;
    MPI_Request request;
    void *all; /* the group's */
    char *memory;
    size_t bytes, room; /* of one rank's, of `memory` */
    int count;
} gphi_mpi;

static inline gph_status gphi_mpi_fail(int code, const char *call, gph_error *error)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    if (!error)
        return GPH_E_IO;
    MPI_Error_string(code, text, &length);
    memset(error, 0, sizeof(*error));
    error->code = GPH_E_IO;
    snprintf(error->message, sizeof(error->message), "%s: %.400s", call, text);
    return GPH_E_IO;
}

static inline gph_status gphi_mpi_no_memory(size_t bytes, gph_error *error)
{
    if (!error)
        return GPH_E_NO_MEMORY;
    memset(error, 0, sizeof(*error));
    error->code = GPH_E_NO_MEMORY;
    snprintf(error->message, sizeof(error->message), "out of memory: %zu bytes for MPI",
             bytes);
    return GPH_E_NO_MEMORY;
}

static inline gph_status gphi_mpi_begin(void *user, const void *mine, size_t bytes,
                                        void *all, gph_error *error)
{
    gphi_mpi *mpi = (gphi_mpi *)user;
    const size_t need = bytes * ((size_t)mpi->count + 1);
    if (need > mpi->room) {
        char *memory = (char *)realloc(mpi->memory, need);
        if (!memory)
            return gphi_mpi_no_memory(need, error);
        mpi->memory = memory;
        mpi->room = need;
    }
    memcpy(mpi->memory, mine, bytes);
    mpi->all = all;
    mpi->bytes = bytes;
    const int code =
        MPI_Iallgather(mpi->memory, (int)bytes, MPI_BYTE, mpi->memory + bytes, (int)bytes,
                       MPI_BYTE, mpi->comm, &mpi->request);
    return code == MPI_SUCCESS ? GPH_OK : gphi_mpi_fail(code, "MPI_Iallgather", error);
}

static inline gph_status gphi_mpi_test(void *user, uint32_t *done, gph_error *error)
{
    gphi_mpi *mpi = (gphi_mpi *)user;
    int flag = 0;
    const int code = MPI_Test(&mpi->request, &flag, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS)
        return gphi_mpi_fail(code, "MPI_Test", error);
    if (flag)
        memcpy(mpi->all, mpi->memory + mpi->bytes, mpi->bytes * (size_t)mpi->count);
    *done = flag != 0;
    return GPH_OK;
}

/* What a gather that has not ended may still use is left to the process's end. */
static inline void gphi_mpi_close(void *user)
{
    gphi_mpi *mpi = (gphi_mpi *)user;
    int is_over = 0;
    if (mpi->request != MPI_REQUEST_NULL)
        return;
    MPI_Finalized(&is_over);
    if (!is_over)
        MPI_Comm_free(&mpi->comm);
    free(mpi->memory);
    free(mpi);
}

/** @endcond */

/** Makes a transport of an MPI communicator. All its ranks call it. The communicator is
 *  duplicated, so that the group's messages do not mix with the program's own.
 *
 *  comm  borrowed for the call.
 *  out   the caller's; what it refers to is freed by gph_ranks_close(), or by
 *        gph_ranks_open() if that fails. Must be closed before MPI_Finalize().
 *  error may be NULL.
 *
 *  Fails with GPH_E_NO_MEMORY and GPH_E_IO (with MPI's message). Thread: one from which
 *  MPI may be called. */
static inline GPH_CHECKED gph_status gph_ranks_mpi(MPI_Comm comm,
                                                   gph_ranks_transport *out,
                                                   gph_error *error)
{
    gphi_mpi *mpi = (gphi_mpi *)calloc(1, sizeof(*mpi));
    if (!mpi)
        return gphi_mpi_no_memory(sizeof(*mpi), error);
    int code = MPI_Comm_dup(comm, &mpi->comm);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_set_errhandler(mpi->comm, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_size(mpi->comm, &mpi->count);
    if (code != MPI_SUCCESS) {
        free(mpi);
        return gphi_mpi_fail(code, "gph_ranks_mpi", error);
    }
    mpi->request = MPI_REQUEST_NULL;
    out->begin = gphi_mpi_begin;
    out->test = gphi_mpi_test;
    out->close = gphi_mpi_close;
    out->user = mpi;
    return GPH_OK;
}

#ifdef __cplusplus
}
#endif
#endif
