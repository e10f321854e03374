// SPDX-License-Identifier: Apache-2.0
/* Groups of ranks, each a process. */
#define _GNU_SOURCE
#include "ranks_child.h"
#include "test.h"
#include <gph/gph.h>

#include <dirent.h>

/* ---- roles ---- */

static gph_error error;

static int say(gph_status status)
{
    printf("%d %s", (int)status, status == GPH_OK ? "" : error.message);
    return status == GPH_OK ? 0 : 1;
}

static gph_ranks *open_group(void)
{
    gph_ranks_options options = GPH_RANKS_OPTIONS_INIT;
    gph_ranks *ranks = NULL;
    options.patience_ns = UINT64_C(5000000000);
    options.notice_ns = UINT64_C(100000000);
    if (gph_ranks_open(&options, &ranks, &error) != GPH_OK) {
        say(error.code);
        exit(2);
    }
    return ranks;
}

/* All five, with long data too. Returns what was wrong first. */
static int role_agree(void)
{
    static unsigned char mine[10000], all[64 * 10000];
    gph_ranks *ranks = open_group();
    const uint32_t rank = gph_ranks_rank(ranks), count = gph_ranks_count(ranks);
    int64_t most = -1, least = -1;
    uint32_t numbers[64];
    gph_status status = gph_ranks_agree(ranks, "ladder", "1, 2, 4", &error);
    for (uint32_t i = 0; i < 300 && status == GPH_OK; i++) {
        const uint32_t number = rank * 1000 + i;
        status =
            gph_ranks_gather(ranks, "numbers", &number, sizeof(number), numbers, &error);
        for (uint32_t r = 0; r < count && status == GPH_OK; r++)
            if (numbers[r] != r * 1000 + i)
                return 10;
    }
    for (size_t i = 0; i < sizeof(mine); i++)
        mine[i] = (unsigned char)(i * 7 + rank);
    if (status == GPH_OK)
        status = gph_ranks_gather(ranks, "long", mine, sizeof(mine), all, &error);
    for (size_t i = 0; i < count * sizeof(mine) && status == GPH_OK; i++)
        if (all[i] != (unsigned char)(i % sizeof(mine) * 7 + i / sizeof(mine)))
            return 11;
    if (status == GPH_OK)
        status = gph_ranks_most(ranks, "bucket", 10 - (int64_t)rank, &most, &error);
    if (status == GPH_OK)
        status = gph_ranks_least(ranks, "bucket", 10 - (int64_t)rank, &least, &error);
    if (status == GPH_OK && (most != 10 || least != 11 - (int64_t)count))
        return 12;
    if (status == GPH_OK)
        status = gph_ranks_all(ranks, "capture", GPH_OK, NULL, &error);
    if (status == GPH_OK)
        status = gph_ranks_check(ranks, &error);
    gph_ranks_close(ranks);
    return say(status);
}

/* One differs; the group goes on. */
static int role_disagree(void)
{
    gph_ranks *ranks = open_group();
    const char *text = gph_ranks_rank(ranks) == 1 ? "1, 2, 8" : "1, 2, 4";
    int64_t most = 0;
    const gph_status status = gph_ranks_agree(ranks, "ladder", text, &error);
    gph_error later;
    if (gph_ranks_most(ranks, "bucket", 7, &most, &later) != GPH_OK || most != 7)
        return 10;
    gph_ranks_close(ranks);
    say(status);
    return 0;
}

static int role_out_of_step(void)
{
    gph_ranks *ranks = open_group();
    int64_t most = 0;
    const gph_status status =
        gph_ranks_rank(ranks) == 1
            ? gph_ranks_most_at("a/serve.c:88", ranks, "bucket", 7, &most, &error)
            : gph_ranks_agree_at("a/serve.c:61", ranks, "ladder", "1", &error);
    gph_error later;
    if (gph_ranks_check(ranks, &later) != status ||
        strcmp(later.message, error.message) != 0)
        return 10;
    gph_ranks_close(ranks);
    say(status);
    return 0;
}

/* One's step fails; all have it, and go on. */
static int role_one_fails(void)
{
    gph_ranks *ranks = open_group();
    gph_error cause = {.code = GPH_E_NO_MEMORY, .message = "no room for 7 bytes"};
    const gph_status mine = gph_ranks_rank(ranks) == 1 ? cause.code : GPH_OK;
    const gph_status status =
        gph_ranks_all(ranks, "record", mine, mine ? &cause : NULL, &error);
    gph_error later;
    if (gph_ranks_all(ranks, "again", GPH_OK, NULL, &later) != GPH_OK)
        return 10;
    gph_ranks_close(ranks);
    say(status);
    return 0;
}

/* Gathers until something is wrong. */
static int role_endless(void)
{
    gph_ranks *ranks = open_group();
    const uint64_t mine = 3;
    uint64_t all[64];
    gph_status status = GPH_OK;
    for (int i = 0; status == GPH_OK; i++) {
        if (i == 100)
            (void)!write(STDOUT_FILENO, "+", 1);
        status = gph_ranks_gather_at("serve.c:88", ranks, "bucket", &mine, sizeof(mine),
                                     all, &error);
    }
    gph_ranks_close(ranks);
    say(status);
    return 0;
}

/* ---- tests ---- */

/* What jobs of this user left in shared memory. */
static int leftovers(void)
{
    char prefix[64];
    int count = 0;
    snprintf(prefix, sizeof(prefix), "gph-ranks-%u-", (unsigned)geteuid());
    DIR *folder = opendir("/dev/shm");
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
        count += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    if (folder)
        closedir(folder);
    return count;
}

static void check_all(ranks_child *children, unsigned count, const char *text)
{
    for (unsigned rank = 0; rank < count; rank++) {
        CHECK(ranks_exited(&children[rank]) == 0);
        if (!CHECK(strcmp(children[rank].text, text) == 0))
            fprintf(stderr, "rank %u: %s\n", rank, children[rank].text);
    }
}

static void ranks_agree_in_every_way(void)
{
    static ranks_child children[RANKS_CHILDREN];
    const unsigned counts[] = {1, 2, 5};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        ranks_run("agree", children, counts[i]);
        check_all(children, counts[i], "0 ");
    }
}

static void a_disagreement_names_both_texts(void)
{
    ranks_child children[3];
    ranks_run("disagree", children, 3);
    check_all(children, 3, "-1 'ladder' is '1, 2, 8' on rank 1 and '1, 2, 4' on rank 0");
}

static void ranks_out_of_step_are_named_with_their_places(void)
{
    ranks_child children[2];
    ranks_run("out_of_step", children, 2);
    check_all(children, 2,
              "-5 rank 1 is at 'bucket' (serve.c:88), rank 0 at 'ladder' (serve.c:61)");
}

static void what_fails_on_one_rank_is_said_on_all(void)
{
    ranks_child children[3];
    ranks_run("one_fails", children, 3);
    check_all(children, 3, "-2 out of memory: rank 1: no room for 7 bytes");
}

/* Kills one rank somewhere: the others have an error, all the same one, within a second. */
static void kill_one(unsigned count, unsigned victim, long after_ms)
{
    ranks_child children[8];
    struct timespec from, to;
    char begin[64];
    ranks_job();
    for (unsigned rank = 0; rank < count; rank++)
        children[rank] = ranks_start("endless", rank, count);
    for (unsigned rank = 0; rank < count; rank++) /* until it has gathered */
        CHECK(read(children[rank].out, begin, 1) == 1 && begin[0] == '+');
    ranks_nap_ms(after_ms);
    kill(children[victim].process, SIGKILL);
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (unsigned rank = 0; rank < count; rank++)
        ranks_end(&children[rank]);
    clock_gettime(CLOCK_MONOTONIC, &to);
    CHECK(to.tv_sec * 1000 + to.tv_nsec / 1000000 - from.tv_sec * 1000 -
              from.tv_nsec / 1000000 <
          1000);
    snprintf(begin, sizeof(begin),
             "-5 rank %u (process %ld), last at 'bucket' (serve.c:88)", victim,
             (long)children[victim].process);
    const char *text = children[victim == 0].text;
    for (unsigned rank = 0; rank < count; rank++) {
        if (rank == victim)
            continue;
        CHECK(ranks_exited(&children[rank]) == 0);
        if (!CHECK(strncmp(children[rank].text, begin, strlen(begin)) == 0) ||
            !CHECK(strcmp(children[rank].text, text) == 0))
            fprintf(stderr, "rank %u: %s\n", rank, children[rank].text);
    }
}

static void a_rank_that_is_killed_ends_the_others_in_time(void)
{
    const char *wish = getenv("RANKS_KILLS");
    const int kills = wish ? atoi(wish) : 20;
    srand(7);
    for (int i = 0; i < kills; i++) {
        const unsigned count = 2 + (unsigned)rand() % 3;
        kill_one(count, (unsigned)rand() % count, rand() % 30);
    }
    CHECK(leftovers() == 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } roles[] = {{"agree", role_agree},
                 {"disagree", role_disagree},
                 {"out_of_step", role_out_of_step},
                 {"one_fails", role_one_fails},
                 {"endless", role_endless}};
    for (size_t i = 0; argc > 1 && i < sizeof(roles) / sizeof(roles[0]); i++)
        if (strcmp(argv[1], roles[i].name) == 0)
            return roles[i].run();
    RUN(ranks_agree_in_every_way);
    RUN(a_disagreement_names_both_texts);
    RUN(ranks_out_of_step_are_named_with_their_places);
    RUN(what_fails_on_one_rank_is_said_on_all);
    RUN(a_rank_that_is_killed_ends_the_others_in_time);
    return test_done();
}
