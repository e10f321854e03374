// SPDX-License-Identifier: Apache-2.0
/* Groups of ranks, each a process. */
#define _GNU_SOURCE
#include "ranks_child.h"

/* ---- roles ---- */

/* All five, with long data too. Returns what was wrong first. */
static int role_agree(void)
{
    static unsigned char mine[10000], all[64 * 10000];
    gph_ranks *ranks = ranks_open();
    const uint32_t rank = gph_ranks_rank(ranks), count = gph_ranks_count(ranks);
    int64_t most = -1, least = -1;
    uint32_t numbers[64];
    gph_status status = gph_ranks_agree(ranks, "ladder", "1, 2, 4", &ranks_error);
    for (uint32_t i = 0; i < 300 && status == GPH_OK; i++) {
        const uint32_t number = rank * 1000 + i;
        status = gph_ranks_gather(ranks, "numbers", &number, sizeof(number), numbers,
                                  &ranks_error);
        for (uint32_t r = 0; r < count && status == GPH_OK; r++)
            if (numbers[r] != r * 1000 + i)
                return 10;
    }
    for (size_t i = 0; i < sizeof(mine); i++)
        mine[i] = (unsigned char)(i * 7 + rank);
    if (status == GPH_OK)
        status = gph_ranks_gather(ranks, "long", mine, sizeof(mine), all, &ranks_error);
    for (size_t i = 0; i < count * sizeof(mine) && status == GPH_OK; i++)
        if (all[i] != (unsigned char)(i % sizeof(mine) * 7 + i / sizeof(mine)))
            return 11;
    if (status == GPH_OK)
        status = gph_ranks_most(ranks, "bucket", 10 - (int64_t)rank, &most, &ranks_error);
    if (status == GPH_OK)
        status =
            gph_ranks_least(ranks, "bucket", 10 - (int64_t)rank, &least, &ranks_error);
    if (status == GPH_OK && (most != 10 || least != 11 - (int64_t)count))
        return 12;
    if (status == GPH_OK)
        status = gph_ranks_all(ranks, "capture", GPH_OK, NULL, &ranks_error);
    if (status == GPH_OK)
        status = gph_ranks_check(ranks, &ranks_error);
    gph_ranks_close(ranks);
    return ranks_say(status);
}

/* One differs; the group goes on. */
static int role_disagree(void)
{
    gph_ranks *ranks = ranks_open();
    const char *text = gph_ranks_rank(ranks) == 1 ? "1, 2, 8" : "1, 2, 4";
    int64_t most = 0;
    const gph_status status = gph_ranks_agree(ranks, "ladder", text, &ranks_error);
    gph_error later;
    if (gph_ranks_most(ranks, "bucket", 7, &most, &later) != GPH_OK || most != 7)
        return 10;
    gph_ranks_close(ranks);
    ranks_say(status);
    return 0;
}

static int role_out_of_step(void)
{
    gph_ranks *ranks = ranks_open();
    int64_t most = 0;
    const gph_status status =
        gph_ranks_rank(ranks) == 1
            ? gph_ranks_most_at("a/serve.c:88", ranks, "bucket", 7, &most, &ranks_error)
            : gph_ranks_agree_at("a/serve.c:61", ranks, "ladder", "1", &ranks_error);
    gph_error later;
    if (gph_ranks_check(ranks, &later) != status ||
        strcmp(later.message, ranks_error.message) != 0)
        return 10;
    gph_ranks_close(ranks);
    ranks_say(status);
    return 0;
}

/* One's step fails; all have it, and go on. */
static int role_one_fails(void)
{
    gph_ranks *ranks = ranks_open();
    gph_error cause = {.code = GPH_E_NO_MEMORY, .message = "no room for 7 bytes"};
    const gph_status mine = gph_ranks_rank(ranks) == 1 ? cause.code : GPH_OK;
    const gph_status status =
        gph_ranks_all(ranks, "record", mine, mine ? &cause : NULL, &ranks_error);
    gph_error later;
    if (gph_ranks_all(ranks, "again", GPH_OK, NULL, &later) != GPH_OK)
        return 10;
    gph_ranks_close(ranks);
    ranks_say(status);
    return 0;
}

/* Gathers until something is wrong. */
static int role_endless(void)
{
    gph_ranks *ranks = ranks_open();
    const uint64_t mine = 3;
    uint64_t all[64];
    gph_status status = GPH_OK;
    for (int i = 0; status == GPH_OK; i++) {
        if (i == 100)
            (void)!write(STDOUT_FILENO, "+", 1);
        status = gph_ranks_gather_at("serve.c:88", ranks, "bucket", &mine, sizeof(mine),
                                     all, &ranks_error);
    }
    gph_ranks_close(ranks);
    ranks_say(status);
    return 0;
}

/* ---- tests ---- */

static void ranks_agree_in_every_way(void)
{
    static ranks_child children[RANKS_CHILDREN];
    const unsigned counts[] = {1, 2, 5, 64};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        ranks_run("agree", children, counts[i]);
        ranks_check(children, counts[i], "0 ");
    }
}

static void a_disagreement_names_both_texts(void)
{
    ranks_child children[3];
    ranks_run("disagree", children, 3);
    ranks_check(children, 3,
                "-1 'ladder' is '1, 2, 8' on rank 1 and '1, 2, 4' on rank 0");
}

static void ranks_out_of_step_are_named_with_their_places(void)
{
    ranks_child children[2];
    ranks_run("out_of_step", children, 2);
    ranks_check(children, 2,
                "-5 rank 1 is at 'bucket' (serve.c:88), rank 0 at 'ladder' (serve.c:61)");
}

static void what_fails_on_one_rank_is_said_on_all(void)
{
    ranks_child children[3];
    ranks_run("one_fails", children, 3);
    ranks_check(children, 3, "-2 out of memory: rank 1: no room for 7 bytes");
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
    CHECK(!ranks_has_file());
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
}

int main(int argc, char **argv)
{
    static const ranks_role roles[] = {{"agree", role_agree},
                                       {"disagree", role_disagree},
                                       {"out_of_step", role_out_of_step},
                                       {"one_fails", role_one_fails},
                                       {"endless", role_endless}};
    if (argc > 1)
        return RANKS_ROLE(roles, argv[1]);
    RUN(ranks_agree_in_every_way);
    RUN(a_disagreement_names_both_texts);
    RUN(ranks_out_of_step_are_named_with_their_places);
    RUN(what_fails_on_one_rank_is_said_on_all);
    RUN(a_rank_that_is_killed_ends_the_others_in_time);
    return test_done();
}
