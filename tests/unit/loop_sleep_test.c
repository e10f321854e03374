// SPDX-License-Identifier: Apache-2.0
/* How a launch of a loop is waited for: by naps, by one sleep where its length is known, else
 * by the driver's event. What is asked of the driver is counted; nothing is timed.
 *
 *   libgph ── shim (counts) ── the driver */
#define _GNU_SOURCE
#include "loop/loop.h"
#include "loop_world.h"
#include "shim.h"

#include <pthread.h>
#include <time.h>

static gph_runtime *shimmed;
static atomic_int event_waits;

/* Counted where it succeeds. */
static const struct shim_rule rules[] = {
    SHIM_GIVE(cuEventSynchronize, event_waits, 1),
    SHIM_END,
};

/* A loop that believes that its launches take so long. */
static gph_loop *expecting(CUgraph body, uint64_t ns)
{
    gph_loop_options options = loop_options(GPH_LOOP_WHILE);
    gph_loop *loop = NULL;
    options.ceiling = UINT64_MAX;
    FINE(gph_loop_create(shimmed, body, &options, &loop, &world.error));
    OK(world.cu->cuGraphDestroy(body));
    set_words(0, 0);
    run(loop, GPH_OK); /* the first is always the event's */
    loop->doze_ns = 1;
    loop->host->ns = 2; /* too long for naps */
    loop->lengths = (gphi_loop_lengths){.last_ns = ns, .alike = 9, .wanted = 3};
    event_waits = 0;
    return loop;
}

static void alike_lengths_are_believed(void)
{
    gphi_loop_lengths lengths = {0};
    for (int i = 0; i < 4; i++) {
        CHECK(gphi_lengths_expect(&lengths) == 0);
        gphi_lengths_note(&lengths, 1000000 + (uint64_t)i * 10000);
    }
    CHECK(gphi_lengths_expect(&lengths) == 1030000);
    gphi_lengths_note(&lengths, 500000); /* not slept through: it is only unlike */
    CHECK(gphi_lengths_expect(&lengths) == 0 && lengths.wanted == 3);
}

static void a_mistake_makes_belief_dearer(void)
{
    gphi_loop_lengths lengths = {.last_ns = 1000, .alike = 3, .wanted = 3};
    uint32_t wanted = 3;
    for (int i = 0; i < 10; i++) {
        CHECK(gphi_lengths_expect(&lengths) == 1000);
        lengths.was_asleep = true;
        gphi_lengths_note(&lengths, 900);
        wanted = wanted < 64 ? 2 * wanted : wanted;
        CHECK(lengths.wanted == wanted && gphi_lengths_expect(&lengths) == 0);
        for (uint32_t n = 0; n < wanted; n++) {
            gphi_lengths_note(&lengths, 1000);
            CHECK(gphi_lengths_expect(&lengths) == 0);
        }
        gphi_lengths_note(&lengths, 1000);
    }
    CHECK(wanted == 96); /* and not more */
    lengths.was_asleep = true;
    gphi_lengths_note(&lengths, 990); /* as expected */
    CHECK(lengths.wanted == 96 && !lengths.was_asleep);
}

static void one_sleep_replaces_the_event(void)
{
    gph_loop *loop = expecting(down_body(), 60000000);
    set_words(5, 0);
    const gph_loop_result result = run(loop, GPH_OK);
    CHECK(result.steps == 5 && result.end == GPH_LOOP_DONE && event_waits == 0);
    CHECK(loop->lengths.wanted == 6); /* it was far shorter, which counts */
    CHECK(gphi_lengths_expect(&loop->lengths) == 0);
    loop->host->ns = 2;
    set_words(3, 0);
    CHECK(run(loop, GPH_OK).steps == 3 && event_waits == 1);
    gph_loop_destroy(loop);
}

static void a_longer_launch_is_waited_for_by_the_event(void)
{
    unsigned us = 3000;
    CUgraph body = down_body();
    void *arguments[] = {&us};
    loop_node(body, NULL, "nap", arguments);
    gph_loop *loop = expecting(body, 1000000);
    set_words(3, 0);
    CHECK(run(loop, GPH_OK).steps == 3 && event_waits == 1);
    gph_loop_destroy(loop);
}

static void several_launches_have_the_event(void)
{
    gph_loop *loop = expecting(down_body(), UINT64_C(60000000000));
    set_words(5, 0);
    FINE(gph_loop_launch(loop, world.stream, &world.error));
    OK(world.cu->cuStreamSynchronize(world.stream));
    FINE(gph_loop_wait(loop, world.stream, NULL, &world.error)); /* it has ended */
    CHECK(event_waits == 0);
    loop->lengths =
        (gphi_loop_lengths){.last_ns = UINT64_C(60000000000), .alike = 9, .wanted = 3};
    loop->host->ns = 2;
    unsigned zero = 0;
    OK(world.cu->cuMemcpyHtoD(loops.word, &zero, 4));
    atomic_fetch_add(&loop->launched, 1);
    FINE(gph_loop_launch(loop, world.stream,
                         &world.error)); /* one seems to be under way */
    atomic_fetch_sub(&loop->launched, 1);
    FINE(gph_loop_wait(loop, world.stream, NULL, &world.error));
    CHECK(loop->lengths.alike == 9);
    gph_loop_destroy(loop);
}

static void *abort_soon(void *user)
{
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    gph_loop_abort(user);
    return NULL;
}

/* Asleep for a minute, were it not for the abort: before the wait, and while it lasts. */
static void an_abort_wakes_who_sleeps(void)
{
    for (int is_before = 0; is_before < 2; is_before++) {
        gph_loop *loop = expecting(tick_body(), UINT64_C(60000000000));
        pthread_t other;
        set_words(1, 0);
        FINE(gph_loop_launch(loop, world.stream, &world.error));
        if (is_before)
            gph_loop_abort(loop);
        else
            pthread_create(&other, NULL, abort_soon, loop);
        CHECK(gph_loop_wait(loop, world.stream, NULL, &world.error) == GPH_E_STATE);
        CHECK(says("was aborted") && event_waits <= 1);
        if (!is_before)
            pthread_join(other, NULL);
        gph_loop_destroy(loop);
    }
}

static void other_limits_are_other_lengths(void)
{
    gph_loop *loop = expecting(down_body(), 60000000);
    FINE(gph_loop_limits_set(loop, UINT64_MAX, 0, &world.error)); /* the same */
    CHECK(gphi_lengths_expect(&loop->lengths) == 60000000);
    FINE(gph_loop_limits_set(loop, 100, 0, &world.error));
    CHECK(gphi_lengths_expect(&loop->lengths) == 0);
    gph_loop_destroy(loop);
}

int main(void)
{
    const int skipped = world_open();
    if (skipped)
        return skipped;
    loops_open();
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    gph_driver_info_get(world.runtime, &info);
    if (!CHECK(shim_open(info.driver, rules)) ||
        !CHECK_OK(gphi_runtime_create(NULL, &shim_source, &shimmed, &world.error),
                  world.error))
        return 1;
    RUN(alike_lengths_are_believed);
    RUN(a_mistake_makes_belief_dearer);
    RUN(one_sleep_replaces_the_event);
    RUN(a_longer_launch_is_waited_for_by_the_event);
    RUN(several_launches_have_the_event);
    RUN(an_abort_wakes_who_sleeps);
    RUN(other_limits_are_other_lengths);
    gph_close(shimmed);
    shim_close();
    return test_done();
}
