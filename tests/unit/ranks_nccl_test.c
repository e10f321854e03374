// SPDX-License-Identifier: Apache-2.0
/* Communicators by NCCL, on softcuda, with a substitute for its library: joining, the border,
 * graphs that keep one, and each way in which it ends. The substitute waits for the other
 * ranks as NCCL does, and moves no data. */
#define _GNU_SOURCE
#include "ranks_child.h"
#include "ranks_nccl.h"
#include "test.h"
#include <gph/callable.h>
#include <gph/ranks_comm.h>

#include <dlfcn.h>
#include <stdbool.h>

enum { NO_DEVICE = 77, OWN_BYTES = 4096 };

static struct {
    gph_ranks *ranks;
    gph_runtime *runtime;
    const gph_cuda_calls *cu;
    gph_comm *comm;
    CUstream stream;
    CUdeviceptr data;
    gph_error error;
    unsigned rank;
} me;

#define OK(call) CHECK((call) == 0)
#define FINE(expr) CHECK_OK(expr, me.error)

/* ---- a rank: one softcuda device each --------------------------------------------------- */

static int rank_open(void)
{
    gph_options options = GPH_OPTIONS_INIT;
    CUcontext context = NULL;
    gph_ranks_options group = GPH_RANKS_OPTIONS_INIT;
    const char *patience = getenv("RANKS_PATIENCE_MS");
    options.driver = GPH_DRIVER_SOFT;
    group.patience_ns = patience ? strtoull(patience, NULL, 10) * 1000000 : 0;
    if (gph_open(&options, &me.runtime, &me.error) != GPH_OK)
        return NO_DEVICE;
    FINE(gph_ranks_open(&group, &me.ranks, &me.error));
    me.cu = gph_cuda(me.runtime);
    me.rank = gph_ranks_rank(me.ranks);
    OK(me.cu->DevicePrimaryCtxRetain(&context, (CUdevice)me.rank));
    OK(me.cu->CtxSetCurrent(context));
    OK(me.cu->StreamCreate(&me.stream, 1));
    OK(me.cu->MemAlloc(&me.data, 2 * OWN_BYTES));
    OK(me.cu->CtxSynchronize());
    return atomic_load(&test_failures) != 0;
}

static gph_status make(gph_comm_way way)
{
    gph_comm_options options = GPH_COMM_OPTIONS_INIT;
    options.way = way;
    options.own_bytes = OWN_BYTES;
    options.nccl_path = RANKS_NCCL;
    return gph_comm_create(me.ranks, me.runtime, &options, &me.comm, &me.error);
}

static int rank_close(void)
{
    gph_comm_destroy(me.comm);
    gph_ranks_close(me.ranks);
    OK(me.cu->StreamDestroy(me.stream));
    OK(me.cu->MemFree(me.data));
    gph_close(me.runtime);
    return atomic_load(&test_failures) != 0;
}

static const ranks_nccl_ends *ends(void)
{
    void *library = dlopen(RANKS_NCCL, RTLD_NOW | RTLD_NOLOAD);
    return library ? dlsym(library, "ranks_nccl_ended") : NULL;
}

static gph_status sum(uint64_t count, gph_dtype dtype)
{
    return gph_comm_all_reduce(me.comm, me.data, me.data, count, dtype, GPH_COMM_SUM,
                               me.stream, &me.error);
}

/* ---- roles ---- */

/* The largest measured size up to which the own kernel never lost; above it NCCL. */
static void role_border(void)
{
    static const uint64_t sizes[] = {1 << 10, 4 << 10};
    gph_comm_info info = GPH_SIZED(gph_comm_info);
    uint64_t border = 0;
    bool wins = true;
    char text[64];
    if (!FINE(make(GPH_COMM_BEST)))
        return;
    gph_comm_info_get(me.comm, &info);
    CHECK(info.has_nccl == 1 && info.has_own == 1);
    CHECK(info.nccl_version == RANKS_NCCL_VERSION && gph_comm_nccl(me.comm));
    for (int i = 0; i < 2; i++) {
        CHECK(info.own_us[i] > 0 && info.nccl_us[i] > 0);
        wins = wins && info.own_us[i] <= info.nccl_us[i] * 0.95; /* a tie is none */
        border = wins ? sizes[i] : border;
    }
    CHECK(info.own_us[2] == 0 && info.own_up_to == border);
    snprintf(text, sizeof(text), "%llu, %a", (unsigned long long)info.own_up_to,
             info.own_us[1]);
    FINE(gph_ranks_agree(me.ranks, "border", text, &me.error));
    FINE(sum(8, GPH_DTYPE_F32));
    FINE(sum(8, GPH_DTYPE_F64)); /* which NCCL alone has */
    FINE(gph_ranks_wait(me.ranks, me.runtime, me.stream, &me.error));
    CHECK(ends()->destroyed == 0);
}

/* An executable outlives gph_comm_destroy(): ncclCommDestroy() would wait for it. */
static void role_kept(void)
{
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    if (!FINE(make(GPH_COMM_NCCL)))
        return;
    FINE(gph_capture_begin(me.runtime, me.stream, NULL, &capture, &me.error));
    FINE(sum(8, GPH_DTYPE_F32));
    FINE(gph_capture_end(capture, &graph, &me.error));
    OK(me.cu->GraphInstantiateWithFlags(&exec, graph, 0));
    OK(me.cu->GraphDestroy(graph));
    gph_comm_destroy(me.comm);
    me.comm = NULL;
    OK(me.cu->GraphLaunch(exec, me.stream));
    FINE(gph_ranks_wait(me.ranks, me.runtime, me.stream, &me.error));
    CHECK(ends()->destroyed == 0);
    OK(me.cu->GraphExecDestroy(exec));
    for (int i = 0; i < 5000 && ends()->destroyed == 0; i++)
        ranks_nap_ms(1);
    CHECK(ends()->destroyed == 1 && ends()->aborted == 0);
}

/* The group fails while NCCL waits on the device. */
static void role_aborted(void)
{
    gph_error cause = {.code = GPH_E_STATE, .message = "no more tokens"};
    if (!FINE(make(GPH_COMM_NCCL)))
        return;
    if (me.rank == 1) {
        ranks_nap_ms(20);
        gph_ranks_fail(me.ranks, &cause);
    } else {
        FINE(sum(8, GPH_DTYPE_F32));
        CHECK(gph_ranks_wait(me.ranks, me.runtime, me.stream, &me.error) == GPH_E_STATE);
        CHECK(strstr(me.error.message, "rank 1: no more tokens"));
    }
    OK(me.cu->StreamSynchronize(me.stream));
    for (int i = 0; i < 5000 && ends()->aborted == 0; i++)
        ranks_nap_ms(1);
    CHECK(ends()->aborted == 1 && !gph_comm_nccl(me.comm));
    CHECK(sum(8, GPH_DTYPE_F32) == GPH_E_STATE);
}

/* The same in a replay: ncclCommAbort() waits for the graph, which who waits here has. */
static void role_aborted_graph(void)
{
    gph_error cause = {.code = GPH_E_STATE, .message = "no more tokens"};
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    if (!FINE(make(GPH_COMM_NCCL)))
        return;
    FINE(gph_capture_begin(me.runtime, me.stream, NULL, &capture, &me.error));
    FINE(sum(8, GPH_DTYPE_F32));
    FINE(gph_capture_end(capture, &graph, &me.error));
    FINE(gph_comm_graph_agree(me.comm, graph, &me.error));
    OK(me.cu->GraphInstantiateWithFlags(&exec, graph, 0));
    if (me.rank == 1) {
        ranks_nap_ms(20);
        gph_ranks_fail(me.ranks, &cause);
    } else {
        OK(me.cu->GraphLaunch(exec, me.stream));
        CHECK(gph_ranks_wait(me.ranks, me.runtime, me.stream, &me.error) == GPH_E_STATE);
        CHECK(strstr(me.error.message, "rank 1: no more tokens") && !me.error.hint[0]);
    }
    OK(me.cu->StreamSynchronize(me.stream));
    OK(me.cu->GraphExecDestroy(exec));
    OK(me.cu->GraphDestroy(graph));
    for (int i = 0; i < 5000 && ends()->aborted == 0; i++)
        ranks_nap_ms(1);
    CHECK(ends()->aborted == 1);
}

/* Rank 1 lives and does something else, though rank 0 has launched a sum. */
static void role_late(void)
{
    if (!FINE(make(GPH_COMM_NCCL)))
        return;
    if (me.rank == 1) {
        for (int i = 0; i < 5000 && gph_ranks_check(me.ranks, NULL) == GPH_OK; i++)
            ranks_nap_ms(1);
        CHECK(gph_ranks_check(me.ranks, &me.error) == GPH_E_STATE);
    } else {
        FINE(sum(8, GPH_DTYPE_F32));
        CHECK(gph_ranks_wait(me.ranks, me.runtime, me.stream, &me.error) == GPH_E_STATE);
    }
    if (!CHECK(strstr(me.error.message, "rank 0 waits for a stream, and rank 1") &&
               strstr(me.error.message, "did not come within")))
        fprintf(stderr, "  %s\n", me.error.message);
    OK(me.cu->StreamSynchronize(me.stream));
}

static void nap(void *user)
{
    (void)user;
    ranks_nap_ms(1500);
}

/* Both wait for longer than the patience, for work that takes so long. */
static void role_long(void)
{
    if (!FINE(make(GPH_COMM_NCCL)))
        return;
    OK(me.cu->LaunchHostFunc(me.stream, nap, NULL));
    FINE(sum(8, GPH_DTYPE_F32));
    FINE(gph_ranks_wait(me.ranks, me.runtime, me.stream, &me.error));
    FINE(gph_ranks_agree(me.ranks, "end", "well", &me.error));
}

static void role_refuse(void)
{
    CHECK(make(GPH_COMM_NCCL) == GPH_E_INVALID);
    if (!CHECK(!me.comm && strstr(me.error.message, "rank 1") &&
               strstr(me.error.message, "ncclCommInitRank returned 5") &&
               strstr(me.error.message, "the substitute fails as asked")))
        fprintf(stderr, "  %s\n", me.error.message);
}

static void role_die(void)
{
    CHECK(make(GPH_COMM_NCCL) == GPH_E_STATE);
    CHECK(!me.comm && strstr(me.error.message, "has ended"));
}

static const struct role {
    const char *name;
    void (*run)(void);
} roles[] = {{"border", role_border},   {"kept", role_kept},
             {"aborted", role_aborted}, {"aborted_graph", role_aborted_graph},
             {"late", role_late},       {"long", role_long},
             {"refuse", role_refuse},   {"die", role_die}};

static int run_role(const char *name)
{
    alarm(60);
    for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++) {
        if (strcmp(name, roles[i].name) != 0)
            continue;
        const int opened = rank_open();
        if (opened != 0)
            return opened;
        roles[i].run();
        return rank_close();
    }
    return 2;
}

/* ---- tests ------------------------------------------------------------------------------ */

/* Both ranks of a job; `dies`: what rank 1 ends with. */
static void both(const char *role, int dies)
{
    ranks_child children[2] = {{0}};
    ranks_run(role, children, 2);
    if (ranks_exited(&children[0]) == NO_DEVICE)
        SKIP("no softcuda");
    CHECK(ranks_exited(&children[0]) == 0);
    CHECK(ranks_exited(&children[1]) == dies);
}

static void the_border_is_where_nccl_wins(void)
{
    both("border", 0);
}

static void graphs_keep_what_nccl_would_wait_for(void)
{
    both("kept", 0);
}

static void a_group_that_fails_aborts_nccl(void)
{
    both("aborted", 0);
}

static void an_abort_waits_for_nobody_who_has_graphs(void)
{
    both("aborted_graph", 0);
}

static void a_rank_that_does_not_launch_is_late(void)
{
    setenv("RANKS_PATIENCE_MS", "700", 1);
    both("late", 0);
}

static void work_may_take_longer_than_the_patience(void)
{
    both("long", 0);
    unsetenv("RANKS_PATIENCE_MS");
}

static void what_nccl_refuses_on_one_rank_is_said_on_all(void)
{
    setenv("RANKS_NCCL_INIT", "refuse", 1);
    both("refuse", 0);
}

static void a_rank_that_ends_while_nccl_starts_is_an_error(void)
{
    setenv("RANKS_NCCL_INIT", "die", 1);
    both("die", -SIGKILL);
}

int main(int argc, char **argv)
{
    if (argc == 2)
        return run_role(argv[1]);
    setenv("SOFTCUDA_DEVICES", "2", 1);
    RUN(the_border_is_where_nccl_wins);
    RUN(graphs_keep_what_nccl_would_wait_for);
    RUN(a_group_that_fails_aborts_nccl);
    RUN(an_abort_waits_for_nobody_who_has_graphs);
    RUN(a_rank_that_does_not_launch_is_late);
    RUN(work_may_take_longer_than_the_patience);
    RUN(what_nccl_refuses_on_one_rank_is_said_on_all);
    RUN(a_rank_that_ends_while_nccl_starts_is_an_error);
    return test_done();
}
