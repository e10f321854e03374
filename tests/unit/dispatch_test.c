// SPDX-License-Identifier: Apache-2.0
/* Dispatch: requests served in both orders, back-pressure, sleep and waking, stops, many
 * threads, errors. `dispatch_test fault` ends its context. */
#define _GNU_SOURCE
#include "dispatch_world.h"

#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ADD = 7, NOTE = 3, NAP = 11, STRAY = 99 };

static const char *program;

static void nap_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000},
              NULL);
}

static void add_graph(gph_dispatch *dispatch, uint32_t kind, const char *name)
{
    CUgraph graph = graph_for(dispatch, name);
    FINE(gph_dispatch_add(dispatch, kind, graph, &world.error));
    OK(world.cu->cuGraphDestroy(graph));
}

/* With a graph each, `adders` of the first. */
static gph_dispatch *make(const gph_dispatch_options *options, int adders)
{
    gph_dispatch *dispatch = NULL;
    FINE(gph_dispatch_create(world.runtime, options, &dispatch, &world.error));
    for (int i = 0; i < adders; i++)
        add_graph(dispatch, ADD, "add");
    add_graph(dispatch, NOTE, "note");
    add_graph(dispatch, NAP, "nap");
    FINE(gph_dispatch_start(dispatch, &world.error));
    OK(world.cu->cuMemsetD32(world.at[AT_DEVICE], 0, WORLD_BYTES / 4));
    OK(world.cu->cuCtxSynchronize());
    return dispatch;
}

static gph_dispatch_options options_of(gph_dispatch_order order)
{
    gph_dispatch_options options = GPH_DISPATCH_OPTIONS_INIT;
    options.order = (uint32_t)order;
    options.wait_ns = 20000000000;
    options.name = "server";
    return options;
}

static gph_dispatch_stats stats_of(const gph_dispatch *dispatch)
{
    gph_dispatch_stats stats = GPH_SIZED(gph_dispatch_stats);
    gph_dispatch_stats_get(dispatch, &stats);
    return stats;
}

static gph_status send(gph_dispatch *dispatch, uint32_t kind, uint64_t a, uint64_t b,
                       uint64_t *number)
{
    const uint64_t words[] = {a, b};
    return gph_dispatch_send(dispatch, kind, words, sizeof(words), number, &world.error);
}

/* ---- serving ---- */

static void requests_are_served(void)
{
    enum { COUNT = 1000 };
    for (int order = 0; order < 2; order++) {
        const gph_dispatch_options options = options_of((gph_dispatch_order)order);
        gph_dispatch *dispatch = make(&options, 3);
        const CUdeviceptr sum = world.at[AT_DEVICE], log = sum + 4096;
        uint64_t number = 0;
        uint32_t wanted = 0;
        for (uint32_t i = 0; i < COUNT; i++) {
            const bool is_note = i % 4 == 3;
            FINE(send(dispatch, is_note ? NOTE : ADD, is_note ? log : sum, i, &number));
            CHECK(number == i + 1);
            wanted += is_note ? 0 : i;
        }
        FINE(gph_dispatch_wait(dispatch, number, &world.error));
        CHECK(gph_dispatch_done(dispatch) == COUNT);
        CHECK(word_at(sum) == wanted && word_at(log) == COUNT / 4);
        for (uint32_t i = 0; i < COUNT / 4; i++) /* one graph: in order, whichever */
            CHECK(word_at(log + 4 + 4 * i) == 4 * i + 3);
        const gph_dispatch_stats stats = stats_of(dispatch);
        CHECK(stats.sent == COUNT && stats.done == COUNT && stats.graphs == 5);
        CHECK(stats.rounds <= COUNT && stats.starts >= 1);
        printf("  %llu rounds, %llu starts\n", (unsigned long long)stats.rounds,
               (unsigned long long)stats.starts);
        gph_dispatch_destroy(dispatch);
    }
}

/* Of three graphs of a kind; tails run one by one, so the log is in order. */
static void tails_keep_the_order(void)
{
    enum { COUNT = 120 };
    const gph_dispatch_options options = options_of(GPH_DISPATCH_IN_ORDER);
    gph_dispatch *dispatch = NULL;
    FINE(gph_dispatch_create(world.runtime, &options, &dispatch, &world.error));
    for (int i = 0; i < 3; i++)
        add_graph(dispatch, NOTE, "note");
    FINE(gph_dispatch_start(dispatch, &world.error));
    OK(world.cu->cuMemsetD32(world.at[AT_DEVICE], 0, WORLD_BYTES / 4));
    OK(world.cu->cuCtxSynchronize());
    for (uint32_t i = 0; i < COUNT; i++)
        FINE(send(dispatch, NOTE, world.at[AT_DEVICE], i, NULL));
    FINE(gph_dispatch_wait(dispatch, 0, &world.error));
    for (uint32_t i = 0; i < COUNT; i++)
        CHECK(word_at(world.at[AT_DEVICE] + 4 + 4 * i) == i);
    gph_dispatch_destroy(dispatch);
}

static void a_full_queue_holds_back(void)
{
    gph_dispatch_options options = options_of(GPH_DISPATCH_SIDE_BY_SIDE);
    options.capacity = 4;
    options.wait_ns = 0;
    gph_dispatch *dispatch = make(&options, 1);
    gph_status status = GPH_OK;
    uint64_t number = 0, accepted = 0;
    while (status == GPH_OK && accepted < 50) {
        status = send(dispatch, NAP, 5000, 0, &number);
        accepted += status == GPH_OK;
    }
    CHECK(status == GPH_E_STATE && accepted >= 4 && number == accepted);
    CHECK(strstr(world.error.message, "all 4 places of the queue are taken") != NULL);
    CHECK(stats_of(dispatch).full == 1 && stats_of(dispatch).sent == accepted);
    FINE(gph_dispatch_wait(dispatch, number, &world.error));
    gph_dispatch_destroy(dispatch);

    options.wait_ns = 20000000000;
    dispatch = make(&options, 1);
    for (uint32_t i = 0; i < 100; i++)
        FINE(send(dispatch, ADD, world.at[AT_DEVICE], 1, NULL));
    FINE(gph_dispatch_wait(dispatch, 0, &world.error));
    CHECK(word_at(world.at[AT_DEVICE]) == 100);
    gph_dispatch_destroy(dispatch);
}

/* ---- sleep ---- */

static void it_sleeps_and_is_woken(void)
{
    gph_dispatch_options options = options_of(GPH_DISPATCH_SIDE_BY_SIDE);
    options.idle_us = 2000;
    gph_dispatch *dispatch = make(&options, 1);
    for (uint64_t i = 1; i <= 3; i++) {
        FINE(send(dispatch, ADD, world.at[AT_DEVICE], 1, NULL));
        FINE(gph_dispatch_wait(dispatch, 0, &world.error));
        CHECK(stats_of(dispatch).starts == i);
        OK(world.cu->cuCtxSynchronize()); /* it ends by itself */
        nap_ms(5);
    }
    CHECK(word_at(world.at[AT_DEVICE]) == 3);
    gph_dispatch_destroy(dispatch);
}

static void a_stop_ends_it_at_once(void)
{
    gph_dispatch_options options = options_of(GPH_DISPATCH_SIDE_BY_SIDE);
    options.idle_us = 600000000; /* ten minutes */
    gph_dispatch *dispatch = make(&options, 2);
    for (int turn = 1; turn <= 3; turn++) {
        for (int i = 0; i < 50; i++)
            FINE(send(dispatch, ADD, world.at[AT_DEVICE], 1, NULL));
        FINE(gph_dispatch_stop(dispatch, &world.error));
        CHECK(stats_of(dispatch).done == (uint64_t)turn * 50);
        CHECK(stats_of(dispatch).starts == (uint64_t)turn);
        OK(world.cu->cuCtxSynchronize());
    }
    CHECK(word_at(world.at[AT_DEVICE]) == 150);
    FINE(send(dispatch, ADD, world.at[AT_DEVICE], 1, NULL));
    gph_dispatch_destroy(dispatch); /* serves what was sent */
    CHECK(word_at(world.at[AT_DEVICE]) == 151);
}

/* Requests that come about when it falls asleep: none is forgotten. */
static void none_is_forgotten_at_the_edge_of_sleep(void)
{
    gph_dispatch_options options = options_of(GPH_DISPATCH_SIDE_BY_SIDE);
    options.idle_us = 50;
    gph_dispatch *dispatch = make(&options, 1);
    for (uint32_t i = 0; i < 400; i++) {
        FINE(send(dispatch, ADD, world.at[AT_DEVICE], 1, NULL));
        FINE(gph_dispatch_wait(dispatch, 0, &world.error));
        for (volatile uint32_t k = 0; k < i * 9973 % 400009; k++)
            ;
    }
    CHECK(word_at(world.at[AT_DEVICE]) == 400);
    printf("  %llu starts of 400 requests\n",
           (unsigned long long)stats_of(dispatch).starts);
    gph_dispatch_destroy(dispatch);
}

/* ---- threads ---- */

static void *send_many(void *user)
{
    gph_error error = {0};
    const uint64_t words[] = {world.at[AT_DEVICE], 1};
    OK(world.cu->cuCtxSetCurrent(world.context));
    for (int i = 0; i < 250; i++) {
        uint64_t number = 0;
        CHECK_OK(gph_dispatch_send(user, ADD, words, sizeof(words), &number, &error),
                 error);
        if (i % 16 == 0)
            CHECK_OK(gph_dispatch_wait(user, number, &error), error);
    }
    return NULL;
}

static void any_thread_sends(void)
{
    pthread_t threads[4];
    gph_dispatch_options options = options_of(GPH_DISPATCH_SIDE_BY_SIDE);
    options.capacity = 16;
    options.idle_us = 200;
    gph_dispatch *dispatch = make(&options, 2);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, send_many, dispatch);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    FINE(gph_dispatch_wait(dispatch, 0, &world.error));
    CHECK(word_at(world.at[AT_DEVICE]) == 1000);
    gph_dispatch_destroy(dispatch);
}

/* ---- what is refused ---- */

static bool says(const char *part)
{
    return strstr(world.error.message, part) != NULL;
}

static void CUDA_CB do_nothing(void *user)
{
    (void)user;
}

static void wrong_use_is_refused(void)
{
    gph_dispatch_options options = options_of(GPH_DISPATCH_IN_ORDER);
    gph_dispatch *dispatch = NULL;
    const uint64_t words[8] = {0};
    options.capacity = 3;
    CHECK(gph_dispatch_create(world.runtime, &options, &dispatch, &world.error) ==
              GPH_E_INVALID &&
          says("options.capacity 3"));
    options.capacity = 4;
    options.order = 2;
    CHECK(gph_dispatch_create(world.runtime, &options, &dispatch, &world.error) ==
              GPH_E_INVALID &&
          says("options.order 2") && dispatch == NULL);
    FINE(gph_dispatch_create(world.runtime, NULL, &dispatch, &world.error));
    CHECK(gph_dispatch_start(dispatch, &world.error) == GPH_E_STATE &&
          says("has no graph"));
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    const CUDA_HOST_NODE_PARAMS params = {.fn = do_nothing};
    OK(world.cu->cuGraphCreate(&graph, 0));
    OK(world.cu->cuGraphAddHostNode(&node, graph, NULL, 0, &params));
    CHECK(gph_dispatch_add(dispatch, 1, graph, &world.error) != GPH_OK);
    CHECK(world.error.has_node && stats_of(dispatch).graphs == 0);
    OK(world.cu->cuGraphDestroy(graph));
    add_graph(dispatch, ADD, "add");
    CHECK(gph_dispatch_send(dispatch, ADD, words, 8, NULL, &world.error) == GPH_E_STATE &&
          says("was not started"));
    FINE(gph_dispatch_start(dispatch, &world.error));
    CHECK(gph_dispatch_start(dispatch, &world.error) == GPH_E_STATE);
    CHECK(gph_dispatch_send(dispatch, 5, words, 8, NULL, &world.error) == GPH_E_INVALID &&
          says("no graph of kind 5"));
    CHECK(gph_dispatch_send(dispatch, ADD, words, 49, NULL, &world.error) ==
              GPH_E_INVALID &&
          says("49 bytes"));
    CHECK(gph_dispatch_send(dispatch, ADD, NULL, 8, NULL, &world.error) == GPH_E_INVALID);
    CHECK(gph_dispatch_wait(dispatch, 1, &world.error) == GPH_E_INVALID &&
          says("request 1, 0 were sent"));
    graph = graph_for(dispatch, "add");
    CHECK(gph_dispatch_add(dispatch, 1, graph, &world.error) == GPH_E_STATE);
    OK(world.cu->cuGraphDestroy(graph));
    CHECK(stats_of(dispatch).sent == 0 && stats_of(dispatch).starts == 0);
    gph_dispatch_destroy(dispatch);
    gph_dispatch_destroy(NULL);
    CHECK(gph_dispatch_block(NULL) == 0 && gph_dispatch_done(NULL) == 0);
}

/* ---- errors ---- */

static void an_error_names_the_request(void)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        execl(program, program, "fault", (char *)NULL);
        _exit(99);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

_Noreturn static void run_fault(void)
{
    const gph_dispatch_options options = options_of(GPH_DISPATCH_IN_ORDER);
    gph_dispatch *dispatch = NULL;
    FINE(gph_dispatch_create(world.runtime, &options, &dispatch, &world.error));
    add_graph(dispatch, ADD, "add");
    add_graph(dispatch, STRAY, "stray");
    FINE(gph_dispatch_start(dispatch, &world.error));
    for (int i = 0; i < 3; i++) {
        FINE(send(dispatch, ADD, world.at[AT_DEVICE], 1, NULL));
        FINE(gph_dispatch_wait(dispatch, 0, &world.error));
    }
    FINE(send(dispatch, STRAY, 0, 0, NULL));
    CHECK(gph_dispatch_wait(dispatch, 0, &world.error) == CUDA_ERROR_ILLEGAL_ADDRESS);
    printf("  %s\n", world.error.message);
    CHECK(says("dispatch server, request 4 of kind 99: "));
    gph_dispatch_destroy(dispatch);
    fflush(stdout);
    _exit(atomic_load(&test_failures) > 0);
}

int main(int count, char **words)
{
    const int skipped = world_open();
    program = words[0];
    if (skipped)
        return skipped;
    dispatch_open();
    if (count > 1)
        run_fault();
    RUN(requests_are_served);
    RUN(tails_keep_the_order);
    RUN(a_full_queue_holds_back);
    RUN(it_sleeps_and_is_woken);
    RUN(a_stop_ends_it_at_once);
    RUN(none_is_forgotten_at_the_edge_of_sleep);
    RUN(any_thread_sends);
    RUN(wrong_use_is_refused);
    RUN(an_error_names_the_request);
    return test_done();
}
