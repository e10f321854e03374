// SPDX-License-Identifier: Apache-2.0
/* How ranks come, are late, stop, and leave. */
#define _GNU_SOURCE
#include "fault.h"
#include "ranks_child.h"

/* ---- roles ---- */

static gph_status gather_once(gph_ranks *ranks, const char *what)
{
    const uint32_t mine = gph_ranks_rank(ranks);
    uint32_t all[64];
    return gph_ranks_gather_at("serve.c:88", ranks, what, &mine, sizeof(mine), all,
                               &ranks_error);
}

/* Rank 1 is as late as RANKS_LATE says, in ms. */
static int role_late(void)
{
    gph_ranks *ranks = ranks_open();
    gph_status status = gather_once(ranks, "first");
    if (gph_ranks_rank(ranks) == 1)
        ranks_nap_ms(atoi(getenv("RANKS_LATE")));
    if (status == GPH_OK)
        status = gather_once(ranks, "second");
    gph_ranks_close(ranks);
    ranks_say(status);
    return 0;
}

static int role_endless(void)
{
    gph_ranks *ranks = ranks_open();
    gph_status status = GPH_OK;
    for (int i = 0; status == GPH_OK; i++) {
        if (i == 100)
            (void)!write(STDOUT_FILENO, "+", 1);
        status = gather_once(ranks, "bucket");
    }
    gph_ranks_close(ranks);
    ranks_say(status);
    return 0;
}

/* Comes, agrees once, and leaves. */
static int role_once(void)
{
    gph_ranks *ranks = ranks_open();
    const gph_status status = gather_once(ranks, "first");
    gph_ranks_close(ranks);
    ranks_say(status);
    return 0;
}

/* Rank 1 leaves; rank 0 needs it. */
static int role_left(void)
{
    gph_ranks *ranks = ranks_open();
    gph_status status = gather_once(ranks, "first");
    if (gph_ranks_rank(ranks) == 0 && status == GPH_OK) {
        ranks_nap_ms(400); /* some beats of the watcher */
        if (gph_ranks_check(ranks, &ranks_error) != GPH_OK)
            return 10; /* nobody needs it yet */
        status = gather_once(ranks, "second");
    }
    gph_ranks_close(ranks);
    ranks_say(status);
    return 0;
}

/* A second group of the job, under the same name and another. */
static int role_twice(void)
{
    gph_ranks *ranks = ranks_open(), *second = NULL, *third = NULL;
    gph_ranks_options options = GPH_RANKS_OPTIONS_INIT;
    const gph_status status = gph_ranks_open(NULL, &second, &ranks_error);
    gph_error error;
    options.name = "another name";
    if (second || gph_ranks_open(&options, &third, &error) != GPH_OK ||
        gph_ranks_rank(third) != gph_ranks_rank(ranks) ||
        gather_once(ranks, "first") != GPH_OK)
        return 10;
    gph_ranks_close(ranks);
    if (gph_ranks_check(third, &error) != GPH_OK)
        return 11;
    gph_ranks_close(third);
    ranks_say(status);
    return 0;
}

/* A child has no group, and does not keep its parent alive for others. */
static int role_fork(void)
{
    gph_ranks *ranks = ranks_open();
    gph_ranks_peer peer = GPH_SIZED(gph_ranks_peer);
    gph_error error;
    const pid_t child = gph_ranks_rank(ranks) == 0 ? fork() : -1;
    if (child == 0) {
        const int is_right = gather_once(ranks, "child") == GPH_E_STATE &&
                             strstr(ranks_error.message, "forked child") != NULL &&
                             gph_ranks_check(ranks, &error) == GPH_E_STATE;
        gph_ranks_fail(ranks, &error); /* nothing */
        gph_ranks_close(ranks);
        _exit(is_right ? 0 : 1);
    }
    int wait = 0;
    if (child > 0 && (waitpid(child, &wait, 0) != child || wait != 0))
        return 10;
    if (gather_once(ranks, "first") != GPH_OK ||
        gph_ranks_peer_get(ranks, gph_ranks_rank(ranks), &peer, &error) != GPH_OK ||
        peer.alive != 1 || peer.steps != 1 || strcmp(peer.at, "first") != 0 ||
        strcmp(peer.place, "serve.c:88") != 0)
        return 11;
    if (gph_ranks_rank(ranks) == 0) {
        if (fork() ==
            0) { /* holds all that a child has, for longer than the others wait */
            close(STDOUT_FILENO);
            ranks_nap_ms(1500);
            _exit(0);
        }
        kill(getpid(), SIGKILL);
    }
    const gph_status status = gather_once(ranks, "second");
    gph_ranks_close(ranks);
    ranks_say(status);
    return 0;
}

/* ---- tests ---- */

static void job_with(const char *patience_ms)
{
    ranks_job();
    setenv("RANKS_PATIENCE", patience_ms, 1);
}

static void a_late_rank_is_waited_for_and_not_for_ever(void)
{
    ranks_child children[3];
    char text[256];
    setenv("RANKS_PATIENCE", "20000", 1);
    setenv("RANKS_LATE", "200", 1);
    ranks_run("late", children, 3);
    ranks_check(children, 3, "0 ");

    setenv("RANKS_PATIENCE", "500", 1);
    setenv("RANKS_LATE", "1500", 1);
    ranks_run("late", children, 2);
    snprintf(text, sizeof(text),
             "-5 rank 0 is at 'second' (serve.c:88), and rank 1 (process %ld), last at "
             "'first' "
             "(serve.c:88), did not come within 500 ms",
             (long)children[1].process);
    ranks_check(children, 2, text);
}

static void a_stopped_rank_is_late(void)
{
    ranks_child children[3];
    char plus[1], text[64];
    job_with("500");
    for (unsigned rank = 0; rank < 3; rank++)
        children[rank] = ranks_start("endless", rank, 3);
    for (unsigned rank = 0; rank < 3; rank++)
        CHECK(read(children[rank].out, plus, 1) == 1);
    kill(children[1].process, SIGSTOP);
    ranks_end(&children[0]);
    ranks_end(&children[2]);
    kill(children[1].process, SIGCONT);
    ranks_end(&children[1]);
    snprintf(text, sizeof(text), "did not come within 500 ms");
    CHECK(strstr(children[0].text, text) != NULL);
    CHECK(strstr(children[0].text, "rank 1 (process") != NULL);
    ranks_check(children, 3, children[0].text);
}

static void ranks_that_do_not_come_are_named(void)
{
    ranks_child children[4];
    char text[256];
    job_with("400");
    children[0] = ranks_start("once", 0, 4);
    children[2] = ranks_start("once", 2, 4);
    ranks_end(&children[0]);
    ranks_end(&children[2]);
    snprintf(text, sizeof(text),
             "-5 of the 4 ranks of '%s' these did not come within 400 ms: 1, 3",
             getenv("GPH_RANKS_ID"));
    children[1] = children[2];
    ranks_check(children, 2, text);
    CHECK(!ranks_has_file());
}

/* Until the job's file is there, and its first rank in it. */
static void ranks_await_file(void)
{
    for (int i = 0; i < 1000 && !ranks_has_file(); i++)
        ranks_nap_ms(10);
    CHECK(ranks_has_file());
    ranks_nap_ms(50);
}

static void what_a_dead_job_left_is_replaced(void)
{
    ranks_child children[2];
    job_with("20000");
    children[0] = ranks_start("once", 0, 2);
    ranks_await_file();
    kill(children[0].process, SIGKILL);
    ranks_end(&children[0]);
    CHECK(ranks_has_file());
    for (unsigned rank = 0; rank < 2; rank++)
        children[rank] = ranks_start("once", rank, 2);
    for (unsigned rank = 0; rank < 2; rank++)
        ranks_end(&children[rank]);
    ranks_check(children, 2, "0 ");
    CHECK(!ranks_has_file());
}

static void a_rank_that_dies_before_all_came_is_named(void)
{
    ranks_child children[3];
    char text[256];
    job_with("20000");
    children[0] = ranks_start("once", 0, 3);
    ranks_await_file();
    children[1] = ranks_start("once", 1, 3);
    ranks_nap_ms(200);
    kill(children[0].process, SIGKILL);
    ranks_end(&children[0]);
    ranks_end(&children[1]);
    snprintf(text, sizeof(text),
             "-5 rank 0 (process %ld), before its first agreement, has ended",
             (long)children[0].process);
    ranks_check(&children[1], 1, text);
    children[2] = ranks_start("once", 0, 1); /* a group of one has no file */
    ranks_end(&children[2]);
    ranks_check(&children[2], 1, "0 ");
}

static void one_number_for_two_ranks_is_refused(void)
{
    ranks_child children[2], second;
    char text[256];
    job_with("20000");
    children[0] = ranks_start("once", 0, 2);
    ranks_await_file();
    second = ranks_start("once", 0, 2);
    ranks_end(&second);
    snprintf(text, sizeof(text),
             "-5 process %ld is rank 0 of '%s' already, and process %ld came",
             (long)children[0].process, getenv("GPH_RANKS_ID"), (long)second.process);
    ranks_check(&second, 1, text);
    children[1] = ranks_start("once", 1, 2);
    ranks_end(&children[0]);
    ranks_end(&children[1]);
    ranks_check(children, 2, "0 ");
}

static void another_count_or_patience_is_refused_on_both(void)
{
    ranks_child children[2];
    job_with("20000");
    children[0] = ranks_start("once", 0, 2);
    ranks_await_file();
    children[1] = ranks_start("once", 1, 3);
    ranks_end(&children[0]);
    ranks_end(&children[1]);
    ranks_check(children, 2, "-1 rank 1 came for 3 ranks, others for 2");

    job_with("20000");
    children[0] = ranks_start("once", 0, 2);
    ranks_await_file();
    setenv("RANKS_PATIENCE", "10000", 1);
    children[1] = ranks_start("once", 1, 2);
    ranks_end(&children[0]);
    ranks_end(&children[1]);
    ranks_check(children, 2, "-1 rank 1 has a patience of 10 s, others 20 s");
    CHECK(!ranks_has_file());
}

static void a_rank_that_left_is_an_error_when_it_is_needed(void)
{
    ranks_child children[2];
    char text[256];
    setenv("RANKS_PATIENCE", "20000", 1);
    ranks_run("left", children, 2);
    snprintf(text, sizeof(text),
             "-5 rank 0 is at 'second' (serve.c:88), but rank 1 (process %ld), last at "
             "'first' "
             "(serve.c:88), has left the group",
             (long)children[1].process);
    ranks_check(children, 1, text);
    ranks_check(&children[1], 1, "0 ");
}

static void a_second_group_needs_another_name(void)
{
    ranks_child children[2];
    char text[256];
    setenv("RANKS_PATIENCE", "20000", 1);
    ranks_run("twice", children, 2);
    for (unsigned rank = 0; rank < 2; rank++) {
        snprintf(text, sizeof(text),
                 "-5 this process is rank %u of '%s' already; another group needs "
                 "another name",
                 rank, getenv("GPH_RANKS_ID"));
        ranks_check(&children[rank], 1, text);
    }
}

static void a_forked_child_has_no_group(void)
{
    ranks_child children[2];
    char text[256];
    setenv("RANKS_PATIENCE", "20000", 1);
    ranks_run("fork", children, 2);
    CHECK(ranks_exited(&children[0]) == -SIGKILL);
    snprintf(text, sizeof(text),
             "-5 rank 0 (process %ld), last at 'first' (serve.c:88), has ended",
             (long)children[0].process);
    ranks_check(&children[1], 1, text);
}

/* ---- in this process ---- */

static const char *const variables[] = {"GPH_RANK",
                                        "GPH_RANKS",
                                        "GPH_RANKS_ID",
                                        "RANK",
                                        "WORLD_SIZE",
                                        "LOCAL_RANK",
                                        "LOCAL_WORLD_SIZE",
                                        "OMPI_COMM_WORLD_RANK",
                                        "OMPI_COMM_WORLD_SIZE",
                                        "PMI_RANK",
                                        "PMI_SIZE",
                                        "SLURM_PROCID",
                                        "SLURM_NTASKS",
                                        "SLURM_STEP_NUM_TASKS",
                                        "SLURM_STEP_NUM_NODES"};

/* Opens with these variables alone, "NAME=value" each. */
static gph_status open_with(const char *const *set, size_t count, gph_error *error)
{
    gph_ranks *ranks = NULL;
    char name[64];
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        unsetenv(variables[i]);
    for (size_t i = 0; i < count; i++) {
        const char *value = strchr(set[i], '=') + 1;
        snprintf(name, sizeof(name), "%.*s", (int)(value - 1 - set[i]), set[i]);
        setenv(name, value, 1);
    }
    *error = (gph_error){0};
    const gph_status status = gph_ranks_open(NULL, &ranks, error);
    CHECK((ranks != NULL) == (status == GPH_OK));
    CHECK(!ranks || gph_ranks_count(ranks) == 1);
    gph_ranks_close(ranks);
    return status;
}

#define OPEN_SAYS(status, text, ...)                                                     \
    do {                                                                                 \
        gph_error error;                                                                 \
        const char *const set[] = {__VA_ARGS__};                                         \
        CHECK(open_with(set, sizeof(set) / sizeof(set[0]), &error) == (status));         \
        if (!CHECK(strcmp(error.message, text) == 0))                                    \
            fprintf(stderr, "%s\n", error.message);                                      \
    } while (0)

static void what_a_launcher_set_wrong_is_named(void)
{
    OPEN_SAYS(GPH_OK, "", "UNUSED_ONE=1");
    OPEN_SAYS(GPH_E_INVALID, "the variable GPH_RANKS is 'two', not a number to 1024",
              "GPH_RANK=0", "GPH_RANKS=two");
    OPEN_SAYS(GPH_E_INVALID, "the variable GPH_RANKS is '-2', not a number to 1024",
              "GPH_RANK=0", "GPH_RANKS=-2");
    OPEN_SAYS(GPH_E_INVALID,
              "the variable GPH_RANKS is '99999999999999999999999', not a number to 1024",
              "GPH_RANK=0", "GPH_RANKS=99999999999999999999999");
    OPEN_SAYS(GPH_E_INVALID, "the variable GPH_RANKS is not set", "GPH_RANK=0");
    OPEN_SAYS(GPH_E_INVALID, "the variable RANK is not set", "WORLD_SIZE=2");
    OPEN_SAYS(GPH_E_INVALID, "rank 2 of 2", "RANK=2", "WORLD_SIZE=2");
    OPEN_SAYS(GPH_E_INVALID, "rank 0 of 0", "RANK=0", "WORLD_SIZE=0");
    OPEN_SAYS(GPH_E_INVALID, "the variable LOCAL_RANK is '0x1', not a number to 1024",
              "RANK=0", "WORLD_SIZE=1", "LOCAL_RANK=0x1");
    OPEN_SAYS(GPH_E_UNSUPPORTED, "8 of the 16 ranks are on this host (LOCAL_WORLD_SIZE)",
              "RANK=3", "WORLD_SIZE=16", "LOCAL_WORLD_SIZE=8");
    OPEN_SAYS(GPH_E_UNSUPPORTED, "the 4 ranks are on 2 hosts (SLURM_STEP_NUM_NODES)",
              "SLURM_PROCID=3", "SLURM_STEP_NUM_TASKS=4", "SLURM_STEP_NUM_NODES=2");
    /* A batch script is not a rank. */
    OPEN_SAYS(GPH_OK, "", "SLURM_PROCID=0", "SLURM_NTASKS=4");
    OPEN_SAYS(GPH_OK, "", "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=1", "RANK=");
}

static void a_launchers_ranks_meet(void)
{
    static const struct {
        const char *rank, *count;
    } launchers[] = {{"RANK", "WORLD_SIZE"},
                     {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                     {"PMI_RANK", "PMI_SIZE"},
                     {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
    setenv("RANKS_PATIENCE", "20000", 1);
    for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
        ranks_child children[2];
        for (size_t v = 0; v < sizeof(variables) / sizeof(variables[0]); v++)
            unsetenv(variables[v]);
        ranks_job();
        ranks_set(launchers[i].count, 2);
        for (unsigned rank = 0; rank < 2; rank++) {
            ranks_set(launchers[i].rank, rank);
            children[rank] = ranks_start_as("once");
        }
        ranks_end(&children[0]);
        ranks_end(&children[1]);
        ranks_check(children, 2, "0 ");
    }
    for (size_t v = 0; v < sizeof(variables) / sizeof(variables[0]); v++)
        unsetenv(variables[v]);
}

static void options_are_checked(void)
{
    gph_ranks_options options = GPH_RANKS_OPTIONS_INIT;
    gph_ranks *ranks = NULL;
    gph_ranks_peer peer = GPH_SIZED(gph_ranks_peer);
    gph_error error;
    char what[100];
    int64_t number;
    options.rank = 2, options.count = 2;
    CHECK(gph_ranks_open(&options, &ranks, &error) == GPH_E_INVALID);
    options.rank = 0, options.count = GPH_RANKS_MAX + 1;
    CHECK(gph_ranks_open(&options, &ranks, &error) == GPH_E_INVALID);
    options.count = 1, options.notice_ns = 1000;
    CHECK(gph_ranks_open(&options, &ranks, &error) == GPH_E_INVALID);
    options.notice_ns = 0, options.flags = 4;
    CHECK(gph_ranks_open(&options, &ranks, &error) == GPH_E_INVALID && !ranks);
    options.flags = 0;
    CHECK_OK(gph_ranks_open(&options, &ranks, &error), error);
    memset(what, 'w', sizeof(what));
    what[64] = '\0';
    CHECK(gph_ranks_most(ranks, what, 1, &number, &error) == GPH_E_INVALID);
    what[63] = '\0';
    CHECK_OK(gph_ranks_most(ranks, what, 5, &number, &error), error);
    CHECK(number == 5);
    CHECK(gph_ranks_peer_get(ranks, 1, &peer, &error) == GPH_E_INVALID);
    CHECK_OK(gph_ranks_peer_get(ranks, 0, &peer, &error), error);
    CHECK(peer.process == getpid() && peer.steps == 1 && strcmp(peer.at, what) == 0);
    CHECK(gph_ranks_local(ranks) == 0 && gph_ranks_rank(NULL) == 0);
    gph_ranks_close(ranks);
    gph_ranks_close(NULL);
}

static void survives_every_failed_allocation(void)
{
    for (long nth = 0;; nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {fault_realloc, &heap};
        gph_ranks_options options = GPH_RANKS_OPTIONS_INIT;
        gph_ranks *ranks = NULL;
        options.count = 1, options.allocator = &allocator;
        const gph_status status = gph_ranks_open(&options, &ranks, NULL);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        CHECK((ranks != NULL) == (status == GPH_OK));
        if (ranks)
            CHECK(gph_ranks_agree(ranks, "text", "same", NULL) == GPH_OK);
        gph_ranks_close(ranks);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (status == GPH_OK)
            return;
    }
}

int main(int argc, char **argv)
{
    static const ranks_role roles[] = {{"late", role_late},   {"endless", role_endless},
                                       {"once", role_once},   {"left", role_left},
                                       {"twice", role_twice}, {"fork", role_fork}};
    if (argc > 1)
        return RANKS_ROLE(roles, argv[1]);
    RUN(a_late_rank_is_waited_for_and_not_for_ever);
    RUN(a_stopped_rank_is_late);
    RUN(ranks_that_do_not_come_are_named);
    RUN(what_a_dead_job_left_is_replaced);
    RUN(a_rank_that_dies_before_all_came_is_named);
    RUN(one_number_for_two_ranks_is_refused);
    RUN(another_count_or_patience_is_refused_on_both);
    RUN(a_rank_that_left_is_an_error_when_it_is_needed);
    RUN(a_second_group_needs_another_name);
    RUN(a_forked_child_has_no_group);
    RUN(what_a_launcher_set_wrong_is_named);
    RUN(a_launchers_ranks_meet);
    RUN(options_are_checked);
    RUN(survives_every_failed_allocation);
    return test_done();
}
