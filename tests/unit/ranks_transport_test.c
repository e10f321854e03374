// SPDX-License-Identifier: Apache-2.0
/* Groups whose bytes use a transport of the program's own: here memory of one process, a
 * thread each rank. */
#define _GNU_SOURCE
#include "fault.h"
#include "test.h"
#include <gph/gph.h>

#include <pthread.h>
#include <sched.h>
#include <time.h>

enum { COUNT = 4 };

/* One gather at a time: whoever begins puts his bytes in; it is over when all have, and the
 * next one begins when all have taken it. */
typedef struct exchange {
    pthread_mutex_t mutex;
    unsigned count, came, taken, round;
    size_t bytes;
    unsigned char data[COUNT][4096];
} exchange;

typedef struct station {
    exchange *at;
    unsigned rank, round; /* that it waits for */
    size_t bytes;
    const void *mine;
    void *all;
    int is_in, fails_at, gathers, is_deaf;
    atomic_int closed;
} station;

static void put_in_locked(station *self)
{
    exchange *at = self->at;
    if (self->is_in || at->round != self->round || at->came == at->count)
        return;
    memcpy(at->data[self->rank], self->mine, self->bytes);
    at->bytes = self->bytes;
    at->came++;
    self->is_in = 1;
}

static gph_status station_begin(void *user, const void *mine, size_t bytes, void *all,
                                gph_error *error)
{
    station *self = user;
    if (++self->gathers == self->fails_at) {
        if (error)
            snprintf(error->message, sizeof(error->message), "the line is cut");
        return GPH_E_IO;
    }
    self->mine = mine, self->bytes = bytes, self->all = all, self->is_in = 0;
    pthread_mutex_lock(&self->at->mutex);
    put_in_locked(self);
    pthread_mutex_unlock(&self->at->mutex);
    return GPH_OK;
}

static gph_status station_test(void *user, uint32_t *done, gph_error *error)
{
    station *self = user;
    exchange *at = self->at;
    (void)error;
    *done = 0;
    if (self->is_deaf)
        return GPH_OK;
    pthread_mutex_lock(&at->mutex);
    put_in_locked(self);
    if (self->is_in && at->came == at->count) {
        CHECK(at->bytes == self->bytes);
        for (unsigned rank = 0; rank < at->count; rank++)
            memcpy((char *)self->all + rank * self->bytes, at->data[rank], self->bytes);
        *done = 1;
        self->round++;
        if (++at->taken == at->count)
            at->came = at->taken = 0, at->round++;
    }
    pthread_mutex_unlock(&at->mutex);
    return GPH_OK;
}

static void station_close(void *user)
{
    atomic_fetch_add(&((station *)user)->closed, 1);
}

/* ---- ranks ---- */

typedef struct member {
    station station;
    gph_status (*run)(gph_ranks *ranks, gph_error *error);
    uint64_t patience_ns;
    gph_status opened, status;
    gph_error error;
    pthread_t thread;
} member;

static void *be_rank(void *user)
{
    member *self = user;
    gph_ranks_transport transport = {station_begin, station_test, station_close,
                                     &self->station};
    gph_ranks_options options = GPH_RANKS_OPTIONS_INIT;
    gph_ranks *ranks = NULL;
    options.count = self->station.at->count;
    options.rank = self->station.rank;
    options.transport = &transport;
    options.patience_ns = self->patience_ns;
    self->opened = gph_ranks_open(&options, &ranks, &self->error);
    if (ranks) {
        CHECK(gph_ranks_local(ranks) == options.rank); /* all on one host */
        self->status = self->run(ranks, &self->error);
    }
    gph_ranks_close(ranks);
    return NULL;
}

static exchange all_at;
static member members[COUNT];

static void prepare(gph_status (*run)(gph_ranks *, gph_error *), unsigned count)
{
    memset(&all_at, 0, sizeof(all_at));
    memset(members, 0, sizeof(members));
    pthread_mutex_init(&all_at.mutex, NULL);
    all_at.count = count;
    for (unsigned rank = 0; rank < count; rank++) {
        members[rank].station.at = &all_at;
        members[rank].station.rank = rank;
        members[rank].run = run;
    }
}

static void run_all(void)
{
    for (unsigned rank = 0; rank < all_at.count; rank++)
        pthread_create(&members[rank].thread, NULL, be_rank, &members[rank]);
    for (unsigned rank = 0; rank < all_at.count; rank++) {
        pthread_join(members[rank].thread, NULL);
        CHECK(atomic_load(&members[rank].station.closed) == 1);
    }
    pthread_mutex_destroy(&all_at.mutex);
}

static void each_says(gph_status status, const char *text)
{
    for (unsigned rank = 0; rank < all_at.count; rank++) {
        CHECK(members[rank].status == status);
        if (!CHECK(strcmp(members[rank].error.message, text) == 0))
            fprintf(stderr, "rank %u: %s\n", rank, members[rank].error.message);
    }
}

/* ---- what they do ---- */

static gph_status agree_in_every_way(gph_ranks *ranks, gph_error *error)
{
    unsigned char mine[5000], *all = malloc(COUNT * sizeof(mine));
    const uint32_t rank = gph_ranks_rank(ranks);
    int64_t most = 0, least = 0;
    size_t wrong = 0;
    gph_ranks_peer peer = GPH_SIZED(gph_ranks_peer);
    CHECK_OK(gph_ranks_agree(ranks, "ladder", "1, 2, 4", error), *error);
    for (int64_t i = 0; i < 200; i++) {
        CHECK_OK(gph_ranks_most(ranks, "bucket", rank + i, &most, error), *error);
        CHECK_OK(gph_ranks_least(ranks, "bucket", rank + i, &least, error), *error);
        CHECK(most == COUNT - 1 + i && least == i);
    }
    for (size_t i = 0; i < sizeof(mine); i++)
        mine[i] = (unsigned char)(i * 7 + rank);
    CHECK_OK(gph_ranks_gather(ranks, "long", mine, sizeof(mine), all, error), *error);
    for (size_t i = 0; i < COUNT * sizeof(mine); i++)
        wrong += all[i] != (unsigned char)(i % sizeof(mine) * 7 + i / sizeof(mine));
    CHECK(wrong == 0);
    free(all);
    CHECK(gph_ranks_agree(ranks, "ladder", rank == 2 ? "1" : "2", error) ==
          GPH_E_INVALID);
    CHECK(strcmp(error->message, "'ladder' is '1' on rank 2 and '2' on rank 0") == 0);
    const gph_error cause = {.code = GPH_E_IO, .message = "no disk"};
    CHECK(gph_ranks_all(ranks, "save", rank == 1 ? cause.code : GPH_OK, &cause, error) ==
          GPH_E_IO);
    CHECK(strcmp(error->message, "rank 1: no disk") == 0);
    CHECK_OK(gph_ranks_peer_get(ranks, 3, &peer, error), *error);
    CHECK(strcmp(peer.at, "save") == 0 && peer.alive == 1 && peer.host[0] != '\0');
    *error = (gph_error){0};
    return gph_ranks_check(ranks, error);
}

static void ranks_agree_over_a_transport(void)
{
    prepare(agree_in_every_way, COUNT);
    run_all();
    each_says(GPH_OK, "");
}

static gph_status out_of_step(gph_ranks *ranks, gph_error *error)
{
    int64_t out;
    gph_error later;
    const gph_status status =
        gph_ranks_rank(ranks) == 1
            ? gph_ranks_most_at("a/serve.c:88", ranks, "bucket", 7, &out, error)
            : gph_ranks_agree_at("a/serve.c:61", ranks, "ladder", "1", error);
    CHECK(gph_ranks_most(ranks, "later", 7, &out, &later) == status);
    CHECK(strcmp(later.message, error->message) == 0);
    return status;
}

static void ranks_out_of_step_are_named_over_a_transport(void)
{
    prepare(out_of_step, 3);
    run_all();
    each_says(GPH_E_STATE,
              "rank 1 is at 'bucket' (serve.c:88), rank 0 at 'ladder' (serve.c:61)");
}

/* The same words, another call. */
static gph_status other_call(gph_ranks *ranks, gph_error *error)
{
    int64_t out;
    return gph_ranks_rank(ranks) == 1
               ? gph_ranks_most_at("serve.c:8", ranks, "bucket", 7, &out, error)
               : gph_ranks_least_at("serve.c:6", ranks, "bucket", 7, &out, error);
}

static void another_call_of_the_same_name_is_out_of_step(void)
{
    prepare(other_call, 2);
    run_all();
    each_says(GPH_E_STATE,
              "rank 1 is at gph_ranks_most at 'bucket' (serve.c:8), rank 0 at "
              "gph_ranks_least at 'bucket' (serve.c:6)");
}

/* Other sizes: no rank is out of step, and the group goes on. */
static gph_status other_bytes(gph_ranks *ranks, gph_error *error)
{
    char mine[256] = {0}, all[COUNT * 256];
    gph_error later;
    int64_t out;
    const size_t bytes = gph_ranks_rank(ranks) == 1 ? 16 : 256;
    const gph_status status =
        gph_ranks_gather_at("serve.c:8", ranks, "sizes", mine, bytes, all, error);
    CHECK_OK(gph_ranks_most(ranks, "later", 7, &out, &later), later);
    return status;
}

static void other_sizes_are_refused(void)
{
    prepare(other_bytes, 2);
    run_all();
    each_says(GPH_E_INVALID, "rank 1 gives 16 bytes at 'sizes' (serve.c:8), rank 0 256 "
                             "at 'sizes' (serve.c:8)");
}

static gph_status one_reports(gph_ranks *ranks, gph_error *error)
{
    const gph_error cause = {.code = GPH_E_IO, .message = "no disk"};
    int64_t out;
    gph_status status = GPH_OK;
    if (gph_ranks_rank(ranks) == 2) {
        gph_ranks_fail(ranks, &cause);
        return gph_ranks_check(ranks, error); /* and closes the group */
    }
    while (status == GPH_OK)
        status = gph_ranks_most(ranks, "bucket", 7, &out, error);
    return status;
}

static void a_reported_failure_reaches_the_others(void)
{
    prepare(one_reports, COUNT);
    run_all();
    each_says(GPH_E_IO, "rank 2: no disk");
}

static void other_terms_are_refused(void)
{
    prepare(one_reports, 2);
    members[1].patience_ns = UINT64_C(7000000000);
    run_all();
    CHECK(members[0].opened == GPH_E_INVALID && members[1].opened == GPH_E_INVALID);
    CHECK(strstr(members[0].error.message, "patience 7 s") != NULL);
    CHECK(strcmp(members[0].error.message, members[1].error.message) == 0);
}

static gph_status many(gph_ranks *ranks, gph_error *error)
{
    gph_status status = GPH_OK;
    int64_t out;
    for (int i = 0; i < 1000 && status == GPH_OK; i++)
        status = gph_ranks_most_at("serve.c:88", ranks, "bucket", i, &out, error);
    return status;
}

static void a_transport_that_fails_is_a_cause(void)
{
    prepare(many, 2);
    members[1].station.fails_at = 20;
    for (unsigned rank = 0; rank < 2; rank++)
        members[rank].patience_ns = UINT64_C(300000000);
    run_all();
    CHECK(members[1].status == GPH_E_IO);
    CHECK(strcmp(members[1].error.message,
                 "rank 1 is at 'bucket': the transport: the line is cut") == 0);
    CHECK(members[0].status == GPH_E_STATE);
    CHECK(
        strcmp(
            members[0].error.message,
            "rank 0 is at 'bucket' (serve.c:88), and the transport's gather did not end "
            "within 300 ms: a rank did not come, and which one it does not say") == 0);
}

static gph_status now_deaf(gph_ranks *ranks, gph_error *error)
{
    struct timespec from, to;
    members[0].station.is_deaf = 1;
    clock_gettime(CLOCK_MONOTONIC, &from);
    const gph_status status = many(ranks, error);
    clock_gettime(CLOCK_MONOTONIC, &to);
    CHECK(to.tv_sec - from.tv_sec < 5);
    return status;
}

static void a_gather_that_never_ends_ends_by_patience(void)
{
    prepare(now_deaf, 1);
    members[0].patience_ns = UINT64_C(200000000);
    run_all();
    CHECK(members[0].status == GPH_E_STATE);
    CHECK(strstr(members[0].error.message, "did not end within 200 ms") != NULL);
}

static void a_transport_is_closed_by_what_refuses_it(void)
{
    station alone = {0};
    gph_ranks_transport transport = {NULL, station_test, station_close, &alone};
    gph_ranks_options options = GPH_RANKS_OPTIONS_INIT;
    gph_ranks *ranks = NULL;
    gph_error error;
    options.transport = &transport, options.count = 1;
    CHECK(gph_ranks_open(&options, &ranks, &error) == GPH_E_INVALID);
    CHECK(strcmp(error.message, "options.transport has no begin") == 0);
    CHECK(!ranks && alone.closed == 1);
}

static void survives_every_failed_allocation(void)
{
    for (long nth = 0;; nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {fault_realloc, &heap};
        prepare(many, 1);
        gph_ranks_transport transport = {station_begin, station_test, station_close,
                                         &members[0].station};
        gph_ranks_options options = GPH_RANKS_OPTIONS_INIT;
        gph_ranks *ranks = NULL;
        options.count = 1, options.allocator = &allocator, options.transport = &transport;
        const gph_status status = gph_ranks_open(&options, &ranks, NULL);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        CHECK((ranks != NULL) == (status == GPH_OK));
        gph_ranks_close(ranks);
        CHECK(atomic_load(&heap.live_bytes) == 0 && members[0].station.closed == 1);
        if (status == GPH_OK)
            return;
    }
}

int main(void)
{
    RUN(ranks_agree_over_a_transport);
    RUN(ranks_out_of_step_are_named_over_a_transport);
    RUN(another_call_of_the_same_name_is_out_of_step);
    RUN(other_sizes_are_refused);
    RUN(a_reported_failure_reaches_the_others);
    RUN(other_terms_are_refused);
    RUN(a_transport_that_fails_is_a_cause);
    RUN(a_gather_that_never_ends_ends_by_patience);
    RUN(a_transport_is_closed_by_what_refuses_it);
    RUN(survives_every_failed_allocation);
    return test_done();
}
