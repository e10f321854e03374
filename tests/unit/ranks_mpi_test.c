// SPDX-License-Identifier: Apache-2.0
/* A group over MPI, started by mpirun. With an argument rank 1 stops coming. */
#define _GNU_SOURCE
#include "test.h"
#include <gph/ranks_mpi.h>

#include <unistd.h>

static gph_ranks *ranks;
static int rank, count;

static void open_group(void)
{
    gph_ranks_transport transport;
    gph_ranks_options options = GPH_RANKS_OPTIONS_INIT;
    gph_error error;
    CHECK_OK(gph_ranks_mpi(MPI_COMM_WORLD, &transport, &error), error);
    options.count = (uint32_t)count, options.rank = (uint32_t)rank;
    options.transport = &transport;
    options.patience_ns = UINT64_C(20000000000);
    CHECK_OK(gph_ranks_open(&options, &ranks, &error), error);
}

static void ranks_agree_over_mpi(void)
{
    gph_error error;
    int64_t most = 0;
    static unsigned char mine[20000], all[8 * 20000];
    size_t wrong = 0;
    CHECK(gph_ranks_local(ranks) == (uint32_t)rank); /* one host */
    for (int i = 0; i < 300; i++) {
        CHECK_OK(gph_ranks_most(ranks, "bucket", rank + i, &most, &error), error);
        CHECK(most == count - 1 + i);
    }
    for (size_t i = 0; i < sizeof(mine); i++)
        mine[i] = (unsigned char)(i * 7 + (size_t)rank);
    CHECK_OK(gph_ranks_gather(ranks, "long", mine, sizeof(mine), all, &error), error);
    for (size_t i = 0; i < (size_t)count * sizeof(mine); i++)
        wrong += all[i] != (unsigned char)(i % sizeof(mine) * 7 + i / sizeof(mine));
    CHECK(wrong == 0);
    CHECK(gph_ranks_agree(ranks, "ladder", rank == 1 ? "1" : "2", &error) ==
          GPH_E_INVALID);
    CHECK(strcmp(error.message, "'ladder' is '1' on rank 1 and '2' on rank 0") == 0);
}

static void a_failure_reaches_the_others_over_mpi(void)
{
    gph_error error;
    const gph_error cause = {.code = GPH_E_IO, .message = "no disk"};
    int64_t most;
    gph_status status = GPH_OK;
    if (rank == 1)
        gph_ranks_fail(ranks, &cause);
    while (status == GPH_OK)
        status = gph_ranks_most(ranks, "bucket", 1, &most, &error);
    CHECK(status == GPH_E_IO && strcmp(error.message, "rank 1: no disk") == 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    RUN(open_group);
    RUN(ranks_agree_over_mpi);
    RUN(a_failure_reaches_the_others_over_mpi);
    gph_ranks_close(ranks);
    MPI_Finalize();
    return test_done();
}
