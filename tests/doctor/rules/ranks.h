// SPDX-License-Identifier: Apache-2.0
/* Programs of several ranks: the program starts itself once for each, as a launcher does,
 * with GPH_RANK and GPH_RANKS, and waits. Where one fails the others are ended, as they are
 * when nothing has come of them for some seconds. */
#ifndef BROKEN_RANKS_H
#define BROKEN_RANKS_H
#include "broken.h"
#include "nccl/nccl.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

enum { RANKS_MAX = 8, RANKS_PATIENCE_MS = 4000 };

extern char **environ;

static CUstream rank_stream;
static CUdeviceptr rank_data;
static int rank_patience_ms = RANKS_PATIENCE_MS;

#define NCCL(call) broken_nccl((call), #call, __LINE__)

BROKEN_UNUSED static int broken_nccl(ncclResult_t result, const char *call, int line)
{
    if (result != ncclSuccess) {
        printf("line %d: %.*s: %d\n", line, (int)strcspn(call, "("), call, (int)result);
        fflush(stdout);
    }
    return result == ncclSuccess;
}

/* `count` floats of the rank, summed over all. */
#define ALL_REDUCE(comm, count)                                                          \
    NCCL(ncclAllReduce((void *)(uintptr_t)rank_data, (void *)(uintptr_t)rank_data,       \
                       (count), ncclFloat32, ncclSum, (comm), rank_stream))

/* The rank's number; -1 in the program that starts them. */
BROKEN_UNUSED static int rank_of(void)
{
    const char *rank = getenv("GPH_RANK");
    return rank ? atoi(rank) : -1;
}

static ncclComm_t join(int ranks, int rank)
{
    ncclComm_t comm = NULL;
    ncclUniqueId id = {{0}};
    const char *job = getenv("TEST_JOB");
    snprintf(id.bytes, sizeof(id.bytes), "gph-nccl-job-%s", job ? job : "none");
    EXPECT(NCCL(ncclCommInitRank(&comm, ranks, id, rank)));
    return comm;
}

/* A communicator of one rank, in this process. */
BROKEN_UNUSED static ncclComm_t alone(void)
{
    ncclComm_t comm = NULL;
    ncclUniqueId id;
    EXPECT(NCCL(ncclGetUniqueId(&id)));
    EXPECT(NCCL(ncclCommInitRank(&comm, 1, id, 0)));
    rank_stream = new_stream();
    rank_data = new_floats();
    return comm;
}

static pid_t start_rank(const char *way, int ranks, int rank)
{
    char text[16], count[16], job[32], program[4096] = "";
    pid_t child = -1;
    snprintf(text, sizeof(text), "%d", rank);
    snprintf(count, sizeof(count), "%d", ranks);
    snprintf(job, sizeof(job), "%ld", (long)getpid());
    setenv("GPH_RANK", text, 1);
    setenv("GPH_RANKS", count, 1);
    setenv("TEST_JOB", job, 1);
    EXPECT(readlink("/proc/self/exe", program, sizeof(program) - 1) > 0);
    char *words[] = {program, (char *)(uintptr_t)way, NULL};
    EXPECT(posix_spawn(&child, program, NULL, NULL, words, environ) == 0);
    unsetenv("GPH_RANK");
    return child;
}

static void end_all(const pid_t *children, int count)
{
    for (int i = 0; i < count; i++)
        if (children[i] > 0)
            kill(children[i], SIGKILL);
}

/* Waits for all; they are ended once one has failed for `rank_patience_ms`, or none has come
 * to its end for twice as long. */
static void wait_for_ranks(pid_t *children, int count)
{
    int left = count, status = 0;
    long quiet_ms = 0;
    while (left > 0) {
        const pid_t ended = waitpid(-1, &status, WNOHANG);
        for (int i = 0; i < count && ended > 0; i++)
            if (children[i] == ended) {
                children[i] = 0;
                left--;
                broken_failures += status != 0;
            }
        usleep(5000);
        quiet_ms += 5;
        if (quiet_ms > rank_patience_ms) {
            end_all(children, count);
            rank_patience_ms *= 2;
        }
    }
}

/* Runs `rank(number, communicator)` in `ranks` processes, with a stream and 1024 floats. */
BROKEN_UNUSED static void as_ranks(const char *way, int ranks,
                                   void (*rank)(int number, ncclComm_t comm))
{
    pid_t children[RANKS_MAX] = {0};
    if (rank_of() < 0) {
        for (int i = 0; i < ranks; i++)
            children[i] = start_rank(way, ranks, i);
        wait_for_ranks(children, ranks);
        return;
    }
    rank_stream = new_stream();
    rank_data = new_floats();
    rank(rank_of(), join(ranks, rank_of()));
}
#endif
