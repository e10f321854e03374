// SPDX-License-Identifier: Apache-2.0
/* Communicators of processes: the test's own program once more for each rank, on the driver
 * that GPH_DRIVER names, softcuda if it is not set. On a machine with one GPU the ranks share
 * it, which the own kernels may.
 *
 *   ranks_comm_test                 all tests, with few sizes and replays
 *   ranks_comm_test --all           with all of them
 *   ranks_comm_test --kill N        N times a rank is killed in the middle of replays */
#define _GNU_SOURCE
#include "ranks/comm.h"
#include "ranks_child.h"
#include "test.h"
#include <gph/callable.h>
#include <gph/ranks_comm.h>

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { BYTES_MAX = 64 << 10 };

static unsigned kills = 3;

/* Ranks get it from the process that starts them. */
static bool has_all(void)
{
    return getenv("RANKS_TEST_ALL") != NULL;
}

/* ---- a rank ---------------------------------------------------------------------------- */

static struct {
    gph_ranks *ranks;
    gph_runtime *runtime;
    const gph_cuda_calls *cu;
    gph_comm *comm;
    CUstream stream;
    CUdeviceptr in, out;
    gph_error error;
    unsigned rank, count;
} me;

#define OK(call) CHECK((call) == 0)
#define FINE(expr) CHECK_OK(expr, me.error)

enum { NO_DEVICE = 77 };

/* 0, or what the process ends with. */
static int rank_open(uint64_t patience_ns, uint64_t notice_ns)
{
    gph_options options = GPH_OPTIONS_INIT;
    gph_ranks_options group = GPH_RANKS_OPTIONS_INIT;
    gph_comm_options comm = GPH_COMM_OPTIONS_INIT;
    CUcontext context = NULL;
    int devices = 0;
    const char *wanted = getenv("GPH_DRIVER");
    options.driver =
        wanted && strcmp(wanted, "cuda") == 0 ? GPH_DRIVER_CUDA : GPH_DRIVER_SOFT;
    group.patience_ns = patience_ns;
    group.notice_ns = notice_ns;
    if (gph_open(&options, &me.runtime, &me.error) != GPH_OK)
        return NO_DEVICE;
    me.cu = gph_cuda(me.runtime);
    if (me.cu->DeviceGetCount(&devices) != 0 || devices == 0)
        return NO_DEVICE;
    if (!FINE(gph_ranks_open(&group, &me.ranks, &me.error)))
        return 1;
    me.rank = gph_ranks_rank(me.ranks);
    me.count = gph_ranks_count(me.ranks);
    OK(me.cu->DevicePrimaryCtxRetain(&context, (CUdevice)me.rank % devices));
    OK(me.cu->CtxSetCurrent(context));
    OK(me.cu->StreamCreate(&me.stream, 1));
    OK(me.cu->MemAlloc(&me.in, 2 * BYTES_MAX));
    OK(me.cu->MemAlloc(&me.out, 2 * BYTES_MAX));
    comm.way = GPH_COMM_OWN;
    comm.own_bytes = BYTES_MAX;
    FINE(gph_comm_create(me.ranks, me.runtime, &comm, &me.comm, &me.error));
    return atomic_load(&test_failures) != 0;
}

static int rank_close(void)
{
    gph_comm_destroy(me.comm);
    gph_ranks_close(me.ranks);
    OK(me.cu->MemFree(me.in));
    OK(me.cu->MemFree(me.out));
    OK(me.cu->StreamDestroy(me.stream));
    gph_close(me.runtime);
    return atomic_load(&test_failures) != 0;
}

/* ---- numbers ---- */

static const struct type {
    gph_dtype dtype;
    unsigned bytes;
} types[] = {
    {GPH_DTYPE_F32, 4}, {GPH_DTYPE_F16, 2}, {GPH_DTYPE_BF16, 2}, {GPH_DTYPE_I32, 4}};

/* Small whole numbers, which all types have without rounding. */
static int value_at(unsigned rank, unsigned index)
{
    return (int)((index * 7 + rank * 13) % 29) - 14 + (int)rank;
}

static uint16_t half_of(int value)
{
    if (value == 0)
        return 0;
    const unsigned sign = value < 0 ? 0x8000u : 0;
    unsigned m = (unsigned)abs(value);
    unsigned exponent = 15 + 10;
    while (m < 1024) {
        m <<= 1;
        exponent--;
    }
    return (uint16_t)(sign | exponent << 10 | (m & 1023));
}

static void put(unsigned char *at, const struct type *type, int value)
{
    const float single = (float)value;
    uint32_t bits;
    uint16_t half;
    memcpy(&bits, &single, sizeof(bits));
    switch (type->dtype) {
    case GPH_DTYPE_F32: memcpy(at, &bits, 4); break;
    case GPH_DTYPE_I32: memcpy(at, &value, 4); break;
    case GPH_DTYPE_BF16:
        half = (uint16_t)(bits >> 16);
        memcpy(at, &half, 2);
        break;
    default:
        half = half_of(value);
        memcpy(at, &half, 2);
        break;
    }
}

static int wanted_at(unsigned index, gph_comm_reduction reduction)
{
    int out = value_at(0, index);
    for (unsigned rank = 1; rank < me.count; rank++) {
        const int value = value_at(rank, index);
        out = reduction == GPH_COMM_SUM                      ? out + value
              : (reduction == GPH_COMM_MAX) == (value > out) ? value
                                                             : out;
    }
    return out;
}

static unsigned char from[2 * BYTES_MAX], to[2 * BYTES_MAX], want[2 * BYTES_MAX];

static void wait_stream(void)
{
    FINE(gph_ranks_wait(me.ranks, me.runtime, me.stream, &me.error));
}

/* Into the stream: a copy of the legacy stream may arrive after work of this one began,
 * since it returns when it has read the host's memory. */
static void upload(CUdeviceptr to_there, const void *bytes, size_t count)
{
    OK(me.cu->MemcpyHtoDAsync(to_there, bytes, count, me.stream));
}

/* Captures what `work` puts into the stream, and replays it. */
static void captured(void (*work)(void *), void *user, int replays)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    gph_capture *capture = NULL;
    FINE(gph_capture_begin(me.runtime, me.stream, NULL, &capture, &me.error));
    work(user);
    FINE(gph_capture_end(capture, &graph, &me.error));
    OK(me.cu->GraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < replays; i++)
        OK(me.cu->GraphLaunch(exec, me.stream));
    wait_stream();
    OK(me.cu->GraphExecDestroy(exec));
    OK(me.cu->GraphDestroy(graph));
}

struct sum {
    const struct type *type;
    gph_comm_reduction reduction;
    unsigned count, shift; /* elements that it lies from the beginning */
    bool in_place;
};

static void put_sum(void *user)
{
    const struct sum *sum = user;
    const CUdeviceptr in = me.in + sum->shift * sum->type->bytes;
    const CUdeviceptr out = sum->in_place ? in : me.out + sum->shift * sum->type->bytes;
    FINE(gph_comm_all_reduce(me.comm, in, out, sum->count, sum->type->dtype,
                             sum->reduction, me.stream, &me.error));
}

static void check_sum(const struct sum *sum, bool is_captured)
{
    const unsigned at = sum->shift * sum->type->bytes,
                   bytes = sum->count * sum->type->bytes;
    const CUdeviceptr out = sum->in_place ? me.in : me.out;
    memset(to, 0xee, at + bytes + 8);
    for (unsigned i = 0; i < sum->count; i++) {
        put(from + at + i * sum->type->bytes, sum->type, value_at(me.rank, i));
        put(want + i * sum->type->bytes, sum->type, wanted_at(i, sum->reduction));
    }
    upload(me.out, to, at + bytes + 8);
    upload(me.in, from, at + bytes);
    if (is_captured) {
        captured(put_sum, (void *)(uintptr_t)sum, 1);
    } else {
        put_sum((void *)(uintptr_t)sum);
        wait_stream();
    }
    OK(me.cu->MemcpyDtoH(to, out, at + bytes + 8));
    if (!CHECK(memcmp(to + at, want, bytes) == 0))
        fprintf(stderr, "  dtype %d, reduction %d, %u elements from %u\n",
                (int)sum->type->dtype, (int)sum->reduction, sum->count, sum->shift);
    if (!sum->in_place) /* nothing after its end is touched */
        CHECK(to[at + bytes] == 0xee && to[at + bytes + 7] == 0xee);
}

/* ---- roles: what a rank does ---- */

static void role_sums(void)
{
    static const unsigned counts[] = {1, 2, 3, 5, 63, 511, 1024, 2047, 8191, 16384};
    const unsigned sizes = has_all() ? sizeof(counts) / sizeof(*counts) : 7;
    unsigned turn = 0;
    for (unsigned t = 0; t < 4; t++)
        for (int reduction = GPH_COMM_SUM; reduction <= GPH_COMM_MIN; reduction++)
            for (unsigned c = 0; c < sizes; c++, turn++) {
                struct sum sum = {&types[t], (gph_comm_reduction)reduction, counts[c],
                                  turn % 3, turn % 2};
                check_sum(&sum, turn % 5 == 0);
            }
    struct sum whole = {&types[1], GPH_COMM_SUM, BYTES_MAX / 2, 0, true};
    check_sum(&whole, true);
}

static void put_gather(void *user)
{
    const unsigned bytes = *(unsigned *)user;
    FINE(gph_comm_all_gather(me.comm, me.in, me.out + 1, bytes, GPH_DTYPE_U8, me.stream,
                             &me.error));
}

static void put_broadcast(void *user)
{
    const unsigned *what = user; /* elements, root */
    FINE(gph_comm_broadcast(me.comm, me.in + 2, what[0], GPH_DTYPE_F16, what[1],
                            me.stream, &me.error));
}

static void role_others(void)
{
    static const unsigned sizes[] = {1, 7, 8, 1000, 4096, 13001};
    for (unsigned s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
        const unsigned bytes = sizes[s];
        for (unsigned i = 0; i < bytes; i++)
            from[i] = (unsigned char)value_at(me.rank, i);
        upload(me.in, from, bytes);
        captured(put_gather, (void *)(uintptr_t)&sizes[s], 2);
        OK(me.cu->MemcpyDtoH(to, me.out + 1, (size_t)bytes * me.count));
        for (unsigned i = 0; i < bytes * me.count; i++)
            if (!CHECK(to[i] == (unsigned char)value_at(i / bytes, i % bytes)))
                break;
        for (unsigned root = 0; root < me.count; root++) {
            unsigned what[] = {bytes, root};
            for (unsigned i = 0; i < 2 * bytes; i++)
                from[i] = (unsigned char)value_at(me.rank, i);
            upload(me.in + 2, from, 2 * bytes);
            captured(put_broadcast, what, 2);
            OK(me.cu->MemcpyDtoH(to, me.in + 2, 2 * bytes));
            for (unsigned i = 0; i < 2 * bytes; i++)
                if (!CHECK(to[i] == (unsigned char)value_at(root, i)))
                    break;
        }
    }
}

/* Replays, of which one rank's come late: x = x + x' some times over, from 1. */
static void role_replays(void)
{
    enum { COUNT = 600 };
    const unsigned replays = has_all() ? 496 : 104, late = me.count - 1;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    gph_capture *capture = NULL;
    int32_t words[COUNT], now[COUNT];
    FINE(gph_capture_begin(me.runtime, me.stream, NULL, &capture, &me.error));
    for (int i = 0; i < 3; i++)
        FINE(gph_comm_all_reduce(me.comm, me.in, me.in, COUNT, GPH_DTYPE_I32,
                                 i == 2 ? GPH_COMM_MAX : GPH_COMM_SUM, me.stream,
                                 &me.error));
    FINE(gph_capture_end(capture, &graph, &me.error));
    FINE(gph_comm_graph_agree(me.comm, graph, &me.error));
    OK(me.cu->GraphInstantiateWithFlags(&exec, graph, 0));
    uint32_t factor = 1;
    for (unsigned i = 0; i < COUNT; i++)
        words[i] = (int32_t)i;
    upload(me.in, words, sizeof(words));
    for (unsigned i = 0; i < replays; i++) {
        if (me.rank == late && i % 97 == 5)
            ranks_nap_ms((long)(i % 4));
        OK(me.cu->GraphLaunch(exec, me.stream));
        factor *= me.count * me.count;
        if (i % 8 == 7) { /* before the numbers become too large for MAX */
            wait_stream();
            OK(me.cu->MemcpyDtoH(now, me.in, sizeof(now)));
            for (unsigned k = 0; k < COUNT; k++)
                if (!CHECK(now[k] == (int32_t)(k * factor)))
                    return;
            upload(me.in, words, sizeof(words));
            factor = 1;
        }
    }
    wait_stream();
    OK(me.cu->GraphExecDestroy(exec));
    OK(me.cu->GraphDestroy(graph));
}

/* Epochs at which lines are wiped, and at which flags begin again. The first round leaves all
 * lines of a block with flags that the second one comes to, and other bits; its sums grow, so
 * that each waits for lines which nobody has written since. */
static void role_epochs(void)
{
    enum { SUMS = 16, BLOCK = 512 };
    static const uint32_t epochs[] = {(1u << 24) - 5, (1u << 24) - 3, UINT32_MAX - 4};
    static const uint32_t last[] = {(1u << 24) + 11, (1u << 24) + 13,
                                    13}; /* no 0, no 1 */
    for (unsigned e = 0; e < 3; e++) {
        const CUdeviceptr at = me.comm->peers.memory + offsetof(ranks_head, epochs);
        uint32_t words[RANKS_BLOCKS];
        int64_t least = 0;
        for (unsigned i = 0; i < RANKS_BLOCKS; i++)
            words[i] = epochs[e];
        OK(me.cu->MemcpyHtoD(at, words, sizeof(words)));
        OK(me.cu->CtxSynchronize());
        FINE(gph_ranks_least(me.ranks, "epochs", 0, &least, &me.error));
        for (unsigned i = 1; i <= SUMS; i++) {
            const struct sum sum = {&types[e % 2 * 3], GPH_COMM_SUM,
                                    e == 0 ? BLOCK : 30 * i, 0, i % 2};
            check_sum(&sum, i % 3 == 0);
        }
        OK(me.cu->MemcpyDtoH(words, at, sizeof(words)));
        CHECK(words[0] == last[e]);
    }
}

/* ---- failures ---- */

/* The last rank ends by itself in the middle of replays; the others get its name. */
static void role_killed(void)
{
    bool is_seen = false;
    for (unsigned i = 0; i < 100000 && !is_seen; i++) {
        if (me.rank + 1 == me.count && i == 5)
            raise(SIGKILL);
        gph_status status = gph_comm_all_reduce(me.comm, me.in, me.in, 100, GPH_DTYPE_F32,
                                                GPH_COMM_SUM, me.stream, &me.error);
        if (status == GPH_OK)
            status = gph_ranks_wait(me.ranks, me.runtime, me.stream, &me.error);
        if (status == GPH_OK)
            continue;
        char name[32];
        snprintf(name, sizeof(name), "rank %u", me.count - 1);
        CHECK(status == GPH_E_STATE);
        if (!CHECK(strstr(me.error.message, name) && strstr(me.error.message, "ended")))
            fprintf(stderr, "  %s\n", me.error.message);
        OK(me.cu->StreamSynchronize(me.stream));
        is_seen = true;
    }
    CHECK(is_seen);
}

/* A rank lives, but does not come to a collective. */
static void role_absent(void)
{
    if (me.rank + 1 == me.count) {
        for (int i = 0; i < 3000 && gph_ranks_check(me.ranks, NULL) == GPH_OK; i++)
            ranks_nap_ms(1);
        return;
    }
    /* Three calls are queued: those after the first end at once. */
    gph_status status = GPH_OK;
    for (int i = 0; i < 3; i++)
        FINE(gph_comm_all_reduce(me.comm, me.in, me.in, 100, GPH_DTYPE_F32, GPH_COMM_SUM,
                                 me.stream, &me.error));
    status = gph_ranks_wait(me.ranks, me.runtime, me.stream, &me.error);
    CHECK(status == GPH_E_STATE);
    char name[64];
    snprintf(name, sizeof(name), "rank %u did not come to the all-reduce of 100 f32",
             me.count - 1);
    if (!CHECK(strstr(me.error.message, name) &&
               strstr(me.error.message, "ranks_comm_test.c:") &&
               strstr(me.error.message, "300 ms")))
        fprintf(stderr, "  %s\n", me.error.message);
    OK(me.cu->StreamSynchronize(me.stream));
    CHECK(gph_comm_all_reduce(me.comm, me.in, me.in, 100, GPH_DTYPE_F32, GPH_COMM_SUM,
                              me.stream, &me.error) == GPH_E_STATE);
}

/* Whoever waits for the stream by itself asks afterwards: the kernel has given up, and
 * nobody else has looked since. */
static void role_asked(void)
{
    if (me.rank + 1 == me.count) {
        for (int i = 0; i < 3000 && gph_ranks_check(me.ranks, NULL) == GPH_OK; i++)
            ranks_nap_ms(1);
        return;
    }
    FINE(gph_comm_all_reduce(me.comm, me.in, me.in, 100, GPH_DTYPE_F32, GPH_COMM_SUM,
                             me.stream, &me.error));
    OK(me.cu->StreamSynchronize(me.stream));
    CHECK(gph_ranks_check(me.ranks, &me.error) == GPH_E_STATE);
    CHECK(strstr(me.error.message, "did not come to the all-reduce of 100 f32"));
}

static void nap(void *user)
{
    (void)user;
    ranks_nap_ms(30);
}

/* An empty graph, with the handle of one that was destroyed where the allocator gives that:
 * softcuda's is calloc()'s, which takes what was freed last from glibc 2.41 on. */
static CUgraph graph_again(CUgraph old)
{
    enum { TRIES = 256 };
    CUgraph made[TRIES] = {NULL};
    unsigned count = 0;
    while (count < TRIES && (count == 0 || made[count - 1] != old))
        OK(me.cu->GraphCreate(&made[count++], 0));
    for (unsigned i = 0; i + 1 < count; i++)
        OK(me.cu->GraphDestroy(made[i]));
    return made[count - 1];
}

/* Ranks that record something else. */
static void role_differs(void)
{
    CUgraph graph = NULL;
    gph_capture *capture = NULL;
    FINE(gph_capture_begin(me.runtime, me.stream, NULL, &capture, &me.error));
    FINE(gph_comm_all_reduce(me.comm, me.in, me.in, 100, GPH_DTYPE_F32, GPH_COMM_SUM,
                             me.stream, &me.error));
    FINE(gph_comm_all_reduce(me.comm, me.in, me.in, me.rank == 0 ? 8 : 9, GPH_DTYPE_F32,
                             GPH_COMM_SUM, me.stream, &me.error));
    FINE(gph_capture_end(capture, &graph, &me.error));
    CHECK(gph_comm_graph_agree(me.comm, graph, &me.error) == GPH_E_INVALID);
    if (!CHECK(strstr(me.error.message,
                      "collective 1 of the graph is all-reduce of 8 f32 (sum) at "
                      "ranks_comm_test.c:") &&
               strstr(me.error.message, "on rank 0 and all-reduce of 9 f32")))
        fprintf(stderr, "  %s\n", me.error.message);
    CHECK(gph_ranks_check(me.ranks, &me.error) == GPH_OK);
    /* And one that has none at all, with this one's handle, while its destructor waits. */
    OK(me.cu->LaunchHostFunc(me.stream, nap, NULL));
    OK(me.cu->GraphDestroy(graph));
    if (me.rank == 0) {
        FINE(gph_capture_begin(me.runtime, me.stream, NULL, &capture, &me.error));
        FINE(gph_comm_all_reduce(me.comm, me.in, me.in, 7, GPH_DTYPE_F32, GPH_COMM_SUM,
                                 me.stream, &me.error));
        FINE(gph_capture_end(capture, &graph, &me.error));
    } else {
        graph = graph_again(graph);
    }
    CHECK(gph_comm_graph_agree(me.comm, graph, &me.error) == GPH_E_INVALID);
    CHECK(strstr(me.error.message, "and none on rank 1"));
    OK(me.cu->GraphDestroy(graph));
}

/* The communicator is given up while an executable of it lives, which still runs. */
static void role_outlived(void)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    gph_capture *capture = NULL;
    gph_comm_info info = GPH_SIZED(gph_comm_info);
    float one = 1;
    upload(me.in, &one, sizeof(one));
    FINE(gph_capture_begin(me.runtime, me.stream, NULL, &capture, &me.error));
    FINE(gph_comm_all_reduce(me.comm, me.in, me.in, 1, GPH_DTYPE_F32, GPH_COMM_SUM,
                             me.stream, &me.error));
    FINE(gph_capture_end(capture, &graph, &me.error));
    OK(me.cu->GraphInstantiateWithFlags(&exec, graph, 0));
    OK(me.cu->GraphDestroy(graph));
    gph_comm_info_get(me.comm, &info);
    CHECK(info.graphs == 1 && info.captured == 1 && info.calls == 1 &&
          info.has_own == 1 && info.own_up_to == BYTES_MAX);
    gph_comm_destroy(me.comm);
    me.comm = NULL;
    OK(me.cu->GraphLaunch(exec, me.stream));
    wait_stream();
    OK(me.cu->MemcpyDtoH(&one, me.in, sizeof(one)));
    CHECK(one == (float)me.count);
    OK(me.cu->GraphExecDestroy(exec));
}

static void role_refusals(void)
{
    gph_comm *other = NULL;
    gph_comm_options options = GPH_COMM_OPTIONS_INIT;
    options.way = GPH_COMM_NCCL;
    options.nccl_path = "/nowhere/libnccl.so.2";
    CHECK(gph_comm_create(me.ranks, me.runtime, &options, &other, &me.error) ==
          GPH_E_UNSUPPORTED);
    CHECK(!other && strstr(me.error.message, "no NCCL: /nowhere/libnccl.so.2"));
    options = (gph_comm_options)GPH_COMM_OPTIONS_INIT;
    options.way = GPH_COMM_OWN;
    options.name = me.rank == 0 ? "one" : "another";
    CHECK(gph_comm_create(me.ranks, me.runtime, &options, &other, &me.error) ==
          GPH_E_INVALID);
    CHECK(!other && strstr(me.error.message, "another"));
    CHECK(gph_comm_all_reduce(me.comm, me.in, me.in, BYTES_MAX, GPH_DTYPE_F32,
                              GPH_COMM_SUM, me.stream, &me.error) == GPH_E_UNSUPPORTED);
    CHECK(gph_comm_all_reduce(me.comm, me.in, me.in, 8, GPH_DTYPE_F64, GPH_COMM_SUM,
                              me.stream, &me.error) == GPH_E_UNSUPPORTED);
    CHECK(gph_comm_all_reduce(me.comm, me.in + 1, me.in, 8, GPH_DTYPE_F32, GPH_COMM_SUM,
                              me.stream, &me.error) == GPH_E_INVALID);
    CHECK(gph_comm_broadcast(me.comm, me.in, 8, GPH_DTYPE_F32, me.count, me.stream,
                             &me.error) == GPH_E_INVALID);
    CHECK(gph_comm_keep(me.comm, me.stream, &me.error) == GPH_E_STATE);
    CHECK(gph_ranks_check(me.ranks, &me.error) == GPH_OK);
}

static const struct role {
    const char *name;
    void (*run)(void);
    uint64_t patience_ms, notice_ms; /* 0: the default */
} roles[] = {
    {"sums", role_sums, 0, 0},         {"others", role_others, 0, 0},
    {"replays", role_replays, 0, 0},   {"epochs", role_epochs, 0, 0},
    {"killed", role_killed, 0, 0},     {"absent", role_absent, 300, 0},
    {"asked", role_asked, 300, 20000}, {"differs", role_differs, 0, 0},
    {"outlived", role_outlived, 0, 0}, {"refusals", role_refusals, 0, 0},
};

static int run_role(const char *name)
{
    alarm(100);
    for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++) {
        if (strcmp(name, roles[i].name) != 0)
            continue;
        const int opened =
            rank_open(roles[i].patience_ms * 1000000, roles[i].notice_ms * 1000000);
        if (opened != 0)
            return opened;
        roles[i].run();
        return rank_close();
    }
    return 2;
}

/* ---- tests ----------------------------------------------------------------------------- */

/* False: no driver is there. `dies`: the rank whose end by a signal is right; or none. */
static bool all_pass(const char *role, unsigned count, int dies)
{
    ranks_child children[4] = {{0}};
    bool is_there = true;
    ranks_run(role, children, count);
    for (unsigned rank = 0; rank < count; rank++) {
        const int code = ranks_exited(&children[rank]);
        if (code == NO_DEVICE)
            is_there = false;
        else if (!CHECK(code == ((int)rank == dies ? -SIGKILL : 0)))
            fprintf(stderr, "  rank %u of %u (%s) ended with %d\n%s", rank, count, role,
                    code, children[rank].text);
    }
    return is_there;
}

#define ALL_PASS(role, count)                                                            \
    do {                                                                                 \
        if (!all_pass(role, count, -1))                                                  \
            SKIP("no driver with a device");                                             \
    } while (0)

static void a_rank_alone_has_its_own_sums(void)
{
    ALL_PASS("sums", 1);
}

static void two_ranks_add_every_type_and_size(void)
{
    ALL_PASS("sums", 2);
}

static void three_ranks_add_every_type_and_size(void)
{
    ALL_PASS("sums", 3);
}

static void ranks_gather_and_broadcast(void)
{
    ALL_PASS("others", 2);
    ALL_PASS("others", 3);
}

static void replays_are_right_while_a_rank_is_late(void)
{
    ALL_PASS("replays", 2);
    ALL_PASS("replays", 3);
}

static void epochs_come_round(void)
{
    ALL_PASS("epochs", 2);
    ALL_PASS("epochs", 3);
}

static void a_killed_rank_is_an_error_of_the_others(void)
{
    for (unsigned i = 0; i < kills; i++)
        if (!all_pass("killed", 2, 1))
            SKIP("no driver with a device");
}

static void a_rank_that_does_not_come_is_named_with_the_call(void)
{
    ALL_PASS("absent", 2);
    ALL_PASS("absent", 3);
}

static void who_waits_by_itself_is_told_when_it_asks(void)
{
    ALL_PASS("asked", 2);
}

static void graphs_that_differ_are_found(void)
{
    ALL_PASS("differs", 2);
}

static void graphs_keep_their_communicator(void)
{
    ALL_PASS("outlived", 2);
}

static void what_cannot_be_is_refused_on_all_ranks(void)
{
    ALL_PASS("refusals", 2);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--kill") == 0) {
        kills = (unsigned)atoi(argv[2]);
        RUN(a_killed_rank_is_an_error_of_the_others);
        return test_done();
    }
    if (argc == 2 && strcmp(argv[1], "--all") == 0) {
        setenv("RANKS_TEST_ALL", "1", 1);
        kills = 10;
    } else if (argc == 2) {
        return run_role(argv[1]);
    }
    RUN(a_rank_alone_has_its_own_sums);
    RUN(two_ranks_add_every_type_and_size);
    RUN(three_ranks_add_every_type_and_size);
    RUN(ranks_gather_and_broadcast);
    RUN(replays_are_right_while_a_rank_is_late);
    RUN(epochs_come_round);
    RUN(a_killed_rank_is_an_error_of_the_others);
    RUN(a_rank_that_does_not_come_is_named_with_the_call);
    RUN(who_waits_by_itself_is_told_when_it_asks);
    RUN(graphs_that_differ_are_found);
    RUN(graphs_keep_their_communicator);
    RUN(what_cannot_be_is_refused_on_all_ranks);
    return test_done();
}
