// SPDX-License-Identifier: Apache-2.0
/* A program that wants its own waits for other ranks to end: gph_ranks_options.stop. */
#define _GNU_SOURCE
#include "ranks_child.h"
#include "test.h"
#include <gph/gph.h>

static gph_error error;

/* What waits before is not to be stopped, however long it takes. */
static int may_stop = 1;

/* So many times no, then yes. */
static uint32_t stop(void *user)
{
    unsigned *asked = user;
    return may_stop && ++*asked > 3;
}

static int role_stop(void)
{
    static unsigned asked;
    gph_ranks_options options = GPH_RANKS_OPTIONS_INIT;
    gph_ranks *ranks = NULL;
    int64_t most = 0;
    may_stop = 0;
    options.stop = stop;
    options.stop_user = &asked;
    if (gph_ranks_open(&options, &ranks, &error) != GPH_OK ||
        gph_ranks_most_at("serve.c:7", ranks, "first", 3, &most, &error) != GPH_OK)
        return 2;
    gph_status status = GPH_OK;
    may_stop = 1;
    if (gph_ranks_rank(ranks) == 1)
        status = gph_ranks_most_at("serve.c:8", ranks, "second", 3, &most, &error);
    for (int i = 0; i < 2000 && status == GPH_OK; i++) {
        status = gph_ranks_check(ranks, &error);
        ranks_nap_ms(1);
    }
    printf("%d %s", (int)status, status == GPH_OK ? "" : error.message);
    gph_ranks_close(ranks);
    return most == 3 ? 0 : 3;
}

static void an_agreement_is_stopped_and_all_ranks_know(void)
{
    ranks_child children[2] = {0};
    char text[128];
    ranks_run("stop", children, 2);
    snprintf(text, sizeof(text),
             "%d rank 1 was stopped by its program at 'second' (serve.c:8)", GPH_E_STATE);
    for (int i = 0; i < 2; i++) {
        CHECK(ranks_exited(&children[i]) == 0);
        if (!CHECK(strcmp(children[i].text, text) == 0))
            fprintf(stderr, "rank %d: %s\n", i, children[i].text);
    }
}

static void the_meeting_is_stopped(void)
{
    unsigned asked = 0;
    gph_ranks_options options = GPH_RANKS_OPTIONS_INIT;
    gph_ranks *ranks = NULL;
    char name[64];
    snprintf(name, sizeof(name), "stop %ld", (long)getpid());
    options.name = name;
    options.count = 2;
    options.rank = 0;
    options.stop = stop;
    options.stop_user = &asked;
    CHECK(gph_ranks_open(&options, &ranks, &error) == GPH_E_STATE);
    CHECK(ranks == NULL);
    CHECK(strstr(error.message, "rank 0 was stopped by its program") != NULL);
    CHECK(strstr(error.message, "these had not come: 1") != NULL);
    CHECK(asked == 4);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "stop") == 0)
        return role_stop();
    RUN(an_agreement_is_stopped_and_all_ranks_know);
    RUN(the_meeting_is_stopped);
    return test_done();
}
