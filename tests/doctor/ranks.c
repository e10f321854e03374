// SPDX-License-Identifier: Apache-2.0
/* A rank of a job, started by ranks.py with a launcher's variables: `doctor_ranks WAY`. The
 * ways name what a rank does; NCCL (our substitute) is opened by name, as frameworks do. */
#include "rules/broken.h"

#include "nccl/nccl.h"

#include <dlfcn.h>
#include <errno.h>

static __typeof__(ncclCommInitRank) *make;
static __typeof__(ncclAllReduce) *all_reduce;
static __typeof__(ncclBroadcast) *broadcast;
static __typeof__(ncclCommDestroy) *destroy;
static __typeof__(ncclGroupStart) *group_start;
static __typeof__(ncclGroupEnd) *group_end;

static CUstream stream;
static CUdeviceptr data;
static int rank, ranks;

/* The function of that name, of the library that the test names. */
static void *look_up(const char *name)
{
    void *library = dlopen(getenv("TEST_NCCL"), RTLD_NOW | RTLD_LOCAL);
    void *found = library ? dlsym(library, name) : NULL;
    if (!found) {
        fprintf(stderr, "%s: %s\n", name, dlerror());
        exit(1);
    }
    return found;
}

#define LOOK_UP(pointer, name)                                                           \
    do {                                                                                 \
        void *found_ = look_up(name);                                                    \
        memcpy(&(pointer), &found_, sizeof(found_));                                     \
    } while (0)

static void open_nccl(void)
{
    LOOK_UP(make, "ncclCommInitRank");
    LOOK_UP(all_reduce, "ncclAllReduce");
    LOOK_UP(broadcast, "ncclBroadcast");
    LOOK_UP(destroy, "ncclCommDestroy");
    LOOK_UP(group_start, "ncclGroupStart");
    LOOK_UP(group_end, "ncclGroupEnd");
}

static ncclComm_t join(const char *name)
{
    ncclComm_t comm = NULL;
    ncclUniqueId id = {{0}};
    snprintf(id.bytes, sizeof(id.bytes), "%s-%s", getenv("TEST_JOB"), name);
    EXPECT(make(&comm, ranks, id, rank) == ncclSuccess);
    return comm;
}

static void sum(ncclComm_t comm, size_t count)
{
    void *at = (void *)(uintptr_t)data;
    EXPECT(all_reduce(at, at, count, ncclFloat32, ncclSum, comm, stream) == ncclSuccess);
}

/* What a healthy job does: eager sums, a graph with two, groups, two communicators. */
static void healthy(void)
{
    ncclComm_t comm = join("a"), other = join("b");
    sum(comm, 64);
    EXPECT(group_start() == ncclSuccess);
    sum(comm, 128);
    sum(other, 16);
    EXPECT(group_end() == ncclSuccess);
    EXPECT(broadcast(NULL, NULL, 8, ncclInt32, 0, other, stream) == ncclSuccess);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    sum(comm, 64);
    sum(comm, 32);
    CUgraphExec exec = end_capture(stream);
    for (int step = 0; step < 20; step++)
        CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    EXPECT(destroy(other) == ncclSuccess);
    EXPECT(destroy(comm) == ncclSuccess);
}

/* Rank 1 does something else than to join. */
static void absent(void)
{
    if (rank == 0) {
        join("a");
        return;
    }
    FILL(stream, data, 1);
    CU(cuStreamSynchronize(stream));
    usleep(2500000);
}

/* Stopped from outside while rank 0 runs ahead of the other: no fault. */
static void stopped(void)
{
    ncclComm_t comm = join("a");
    for (int step = 0; step < 1000000; step++) {
        sum(comm, 64);
        if (rank == 1)
            usleep(20000);
    }
}

/* Another type on one rank, and the ranks do not notice. */
static void other_type(void)
{
    ncclComm_t comm = join("a");
    void *at = (void *)(uintptr_t)data;
    sum(comm, 64);
    EXPECT(all_reduce(at, at, 64, rank == 2 ? ncclFloat16 : ncclFloat32, ncclSum, comm,
                      stream) == ncclSuccess);
    CU(cuStreamSynchronize(stream));
    EXPECT(destroy(comm) == ncclSuccess);
}

/* As a launcher says, whichever it is. */
static int number(const char *const *names)
{
    for (; *names; names++)
        if (getenv(*names))
            return atoi(getenv(*names));
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"healthy", healthy},
                {"absent", absent},
                {"stopped", stopped},
                {"other_type", other_type}};
    rank = number((const char *const[]){"GPH_RANK", "RANK", "OMPI_COMM_WORLD_RANK",
                                        "PMI_RANK", "SLURM_PROCID", NULL});
    ranks =
        number((const char *const[]){"GPH_RANKS", "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE",
                                     "PMI_SIZE", "SLURM_NTASKS", NULL});
    broken_open();
    open_nccl();
    stream = new_stream();
    data = new_floats();
    for (size_t i = 0; argc == 2 && i < sizeof(ways) / sizeof(ways[0]); i++)
        if (strcmp(ways[i].name, argv[1]) == 0) {
            ways[i].run();
            return broken_failures > 0;
        }
    fprintf(stderr, "usage: %s healthy|absent|stopped|other_type\n", argv[0]);
    return 2;
}
