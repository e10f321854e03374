// SPDX-License-Identifier: Apache-2.0
/* Loops, each way of them: exact counts, ceilings, budgets, aborts, what is said of them,
 * slots, other bodies. `loop_test fault` ends its context; `loop_test endless` never ends
 * by itself. */
#define _GNU_SOURCE
#include "loop/loop.h"
#include "loop_world.h"
#include <gph/sentinel.h>
#include <gph/slot.h>

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *program;

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static gph_loop_progress progress_of(const gph_loop *loop)
{
    gph_loop_progress progress = GPH_SIZED(gph_loop_progress);
    gph_loop_progress_get(loop, &progress);
    return progress;
}

/* ---- counts ---- */

static void check_counts(gph_loop *loop, uint32_t count, uint32_t unroll)
{
    set_words(count, 0);
    const gph_loop_result result = run(loop, GPH_OK);
    CHECK(result.end == GPH_LOOP_DONE && result.condition == 0);
    if (!CHECK(result.steps == count && result.rounds == (count + unroll - 1) / unroll))
        fprintf(stderr, "  %u by %u: %llu steps, %llu rounds\n", count, unroll,
                (unsigned long long)result.steps, (unsigned long long)result.rounds);
    CHECK(result.changed == (count > 0));
    CHECK(word_at(loops.word) == 0 && word_at(loops.done) == count);
    const gph_loop_progress progress = progress_of(loop);
    CHECK(!progress.running && progress.ended == result.launch &&
          progress.steps == count && progress.launched == progress.ended);
}

static void counts_are_exact(void)
{
    static const uint32_t unrolls[] = {1, 3, 8}, counts[] = {0, 1, 5, 8, 40};
    for (int way = 0; way < LOOP_WAYS; way++)
        for (int u = 0; u < 3; u++)
            for (int is_counted = 0; is_counted < 2; is_counted++) {
                gph_loop_options options = loop_options(loop_ways[way]);
                options.unroll = unrolls[u];
                options.counter = is_counted ? loops.done : 0;
                gph_loop *loop = loop_of(down_body(), &options);
                for (int i = 0; i < 5; i++)
                    check_counts(loop, counts[i], unrolls[u]);
                gph_loop_destroy(loop);
            }
}

/* ---- what ends it ---- */

static void a_ceiling_is_exact_and_named(void)
{
    for (int way = 0; way < LOOP_WAYS; way++)
        for (uint32_t unroll = 1; unroll <= 4; unroll += 3) {
            gph_loop_options options = loop_options(loop_ways[way]);
            options.unroll = unroll;
            options.ceiling = 7;
            gph_loop *loop = loop_of(tick_body(), &options);
            set_words(9, 0);
            gph_loop_result result = run(loop, GPH_E_STATE);
            CHECK(result.end == GPH_LOOP_CEILING && result.steps == 7 && !result.changed);
            CHECK(result.rounds == (unroll == 1 ? 7 : 4)); /* 4, and 3 of one step */
            CHECK(word_at(loops.done) == 7);
            CHECK(says("loop adder ended at its ceiling after 7 steps") &&
                  says("was 9 all the time and never changed"));
            FINE(gph_loop_limits_set(loop, 2, 0, &world.error));
            result = run(loop, GPH_E_STATE);
            CHECK(result.steps == 2 && word_at(loops.done) == 9 && result.launch == 2);
            CHECK(gph_loop_limits_set(loop, 0, 0, &world.error) == GPH_E_INVALID);
            gph_loop_destroy(loop);
        }
}

static void a_condition_that_changed_is_told_apart(void)
{
    gph_loop_options options = loop_options(GPH_LOOP_WHILE);
    options.ceiling = 7;
    gph_loop *loop = loop_of(down_body(), &options);
    set_words(9, 0);
    const gph_loop_result result = run(loop, GPH_E_STATE);
    CHECK(result.end == GPH_LOOP_CEILING && result.changed && result.condition == 2);
    CHECK(says("is 2 and not 0"));
    gph_loop_destroy(loop);
}

/* A counter that the body does not count must not make a loop endless. */
static void a_counter_that_stands_still_has_a_ceiling(void)
{
    gph_loop_options options = loop_options(GPH_LOOP_WHILE);
    options.counter = loops.done + 4;
    options.ceiling = 6;
    gph_loop *loop = loop_of(tick_body(), &options);
    set_words(9, 0);
    const gph_loop_result result = run(loop, GPH_E_STATE);
    CHECK(result.end == GPH_LOOP_CEILING && result.rounds == 6 && result.steps == 0);
    gph_loop_destroy(loop);
}

static CUgraph napping_body(uint32_t us)
{
    CUgraph graph = tick_body();
    void *arguments[] = {&us};
    loop_node(graph, NULL, "nap", arguments);
    return graph;
}

static void a_budget_ends_it(void)
{
    for (int way = 0; way < LOOP_WAYS; way++) {
        gph_loop_options options = loop_options(loop_ways[way]);
        options.budget_ns = 20000000;
        options.ceiling = 1u << 30;
        gph_loop *loop = loop_of(napping_body(100), &options);
        set_words(3, 0);
        const gph_loop_result result = run(loop, GPH_E_STATE);
        CHECK(result.end == GPH_LOOP_BUDGET && result.ns >= 20000000);
        CHECK(result.steps > 0 && result.steps == word_at(loops.done));
        CHECK(says("as its budget is 20.000 ms") && says("never changed"));
        gph_loop_destroy(loop);
    }
}

/* ---- aborts ---- */

static void *abort_soon(void *user)
{
    gph_loop *loop = user;
    while (progress_of(loop).steps < 3)
        nap();
    gph_loop_abort(loop);
    return NULL;
}

static void an_abort_ends_it_in_the_middle(void)
{
    for (int way = 0; way < LOOP_WAYS; way++) {
        pthread_t thread;
        gph_loop_options options = loop_options(loop_ways[way]);
        options.ceiling = 1u << 30;
        gph_loop *loop = loop_of(napping_body(100), &options);
        set_words(1, 0);
        pthread_create(&thread, NULL, abort_soon, loop);
        gph_loop_result result = run(loop, GPH_E_STATE);
        pthread_join(thread, NULL);
        CHECK(result.end == GPH_LOOP_ABORTED && result.steps >= 3);
        CHECK(result.steps == word_at(loops.done) && says("loop adder was aborted"));
        FINE(gph_loop_limits_set(loop, 5, 0, &world.error));
        result = run(loop, GPH_E_STATE); /* a later launch is not ended */
        CHECK(result.end == GPH_LOOP_CEILING && result.steps == 5);
        gph_loop_destroy(loop);
    }
}

static void an_abort_ends_what_is_queued(void)
{
    gph_loop_options options = loop_options(GPH_LOOP_WHILE);
    gph_loop_result result = GPH_SIZED(gph_loop_result);
    options.ceiling = 1u << 30;
    gph_loop *loop = loop_of(napping_body(100), &options);
    set_words(1, 0);
    for (int i = 0; i < 3; i++)
        FINE(gph_loop_launch(loop, world.stream, &world.error));
    while (progress_of(loop).steps < 2)
        nap();
    CHECK(progress_of(loop).running && progress_of(loop).launched == 3);
    gph_loop_abort(loop);
    CHECK(gph_loop_wait(loop, world.stream, &result, &world.error) == GPH_E_STATE);
    CHECK(result.launch == 3 && result.end == GPH_LOOP_ABORTED && result.steps == 0);
    gph_loop_destroy(loop);
}

static void launches_queue_up(void)
{
    for (int way = 0; way < LOOP_WAYS; way++) {
        gph_loop_options options = loop_options(loop_ways[way]);
        gph_loop_result result = GPH_SIZED(gph_loop_result);
        options.ceiling = 11;
        options.unroll = 4;
        gph_loop *loop = loop_of(tick_body(), &options);
        CHECK(gph_loop_wait(loop, world.stream, &result, &world.error) == GPH_E_STATE &&
              result.end == GPH_LOOP_RUNNING && says("no launch of it has ended"));
        set_words(1, 0);
        for (int i = 0; i < 20; i++)
            FINE(gph_loop_launch(loop, world.stream, &world.error));
        CHECK(gph_loop_wait(loop, world.stream, &result, &world.error) == GPH_E_STATE);
        CHECK(result.launch == 20 && result.steps == 11 && word_at(loops.done) == 220);
        gph_loop_destroy(loop);
    }
}

/* ---- ways ---- */

static void the_faster_way_of_the_device_is_measured_and_said(void)
{
    gph_loop_options options = loop_options(GPH_LOOP_DEVICE);
    gph_loop_ways ways = GPH_SIZED(gph_loop_ways);
    gph_loop *loop = loop_of(down_body(), &options);
    gph_loop_ways_get(loop, &ways);
    printf("  %s\n", ways.text);
    const double by_while = ways.round_ns[GPH_LOOP_WHILE];
    const double by_tail = ways.round_ns[GPH_LOOP_TAIL];
    CHECK(by_while > 0 && by_tail > 0 && ways.round_ns[GPH_LOOP_HOST] == 0);
    CHECK(ways.way == (by_tail < by_while ? GPH_LOOP_TAIL : GPH_LOOP_WHILE));
    CHECK(strstr(ways.text, " was taken: a round of kernels of a microsecond takes "));
    CHECK(gph_loop_exec(loop) != NULL);
    check_counts(loop, 9, 1);
    gph_loop_destroy(loop);
}

/* The first launches take turns; each is a whole one. */
static void the_fastest_way_is_found_by_launches(void)
{
    for (uint32_t unroll = 1; unroll <= 3; unroll += 2) {
        gph_loop_options options = loop_options(GPH_LOOP_FASTEST);
        gph_loop_ways ways = GPH_SIZED(gph_loop_ways);
        options.unroll = unroll;
        gph_loop *loop = loop_of(down_body(), &options);
        gph_loop_ways_get(loop, &ways);
        CHECK(ways.way != GPH_LOOP_HOST &&
              strstr(ways.text, " is on trial beside host: "));
        CHECK(ways.round_ns[GPH_LOOP_HOST] > 0);
        for (uint32_t i = 0; i < 16; i++)
            check_counts(loop, i % 7, unroll);
        gph_loop_ways_get(loop, &ways);
        printf("  %s\n", ways.text);
        CHECK(strstr(ways.text, " rounds, as the first were, takes "));
        CHECK((gph_loop_exec(loop) == NULL) == (ways.way == GPH_LOOP_HOST));
        CUgraph other = tick_body();
        FINE(gph_loop_update(loop, other, &world.error));
        OK(world.cu->cuGraphDestroy(other));
        set_words(1, 0);
        FINE(gph_loop_limits_set(loop, 4, 0, &world.error));
        CHECK(run(loop, GPH_E_STATE).steps == 4 && word_at(loops.done) == 4);
        gph_loop_destroy(loop);
    }
}

/* Who waits takes naps where launches are short, on any driver but softcuda: here, too. */
static void a_short_launch_is_napped_through(void)
{
    const gph_loop_options options = loop_options(GPH_LOOP_WHILE);
    gph_loop *loop = loop_of(down_body(), &options);
    loop->doze_ns = 1000000000;
    for (uint32_t i = 0; i < 50; i++)
        check_counts(loop, i % 7, 1);
    /* One that is still running when the naps are over is slept through. */
    loop->doze_ns = 1;
    check_counts(loop, 900, 1);
    check_counts(loop, 3, 1);
    gph_loop_destroy(loop);
}

/* Launches that queue up are the device's; so is what an executable was asked of. */
static void a_trial_goes_without_what_it_cannot_see(void)
{
    gph_loop_options options = loop_options(GPH_LOOP_FASTEST);
    gph_loop_result result = GPH_SIZED(gph_loop_result);
    options.ceiling = 5;
    gph_loop *loop = loop_of(tick_body(), &options);
    set_words(1, 0);
    for (int i = 0; i < 20; i++)
        FINE(gph_loop_launch(loop, world.stream, &world.error));
    CHECK(gph_loop_wait(loop, world.stream, &result, &world.error) == GPH_E_STATE);
    CHECK(result.launch == 20 && result.steps == 5 && word_at(loops.done) == 100);
    CHECK(gph_loop_exec(loop) != NULL);
    for (int i = 0; i < 20; i++)
        run(loop, GPH_E_STATE);
    CHECK(gph_loop_exec(loop) != NULL && word_at(loops.done) == 200);
    gph_loop_destroy(loop);
}

static void CUDA_CB do_nothing(void *user)
{
    (void)user;
}

/* A host node: the host alone can start such a round, and for `fastest` it does. */
static void what_a_way_refuses_is_left_out(void)
{
    gph_loop_ways ways = GPH_SIZED(gph_loop_ways);
    CUgraph body = down_body();
    CUgraphNode node = NULL;
    const CUDA_HOST_NODE_PARAMS params = {.fn = do_nothing};
    gph_loop *loop = NULL;
    OK(world.cu->cuGraphAddHostNode(&node, body, NULL, 0, &params));
    for (int way = 0; way < 2; way++) {
        const gph_loop_options options = loop_options(loop_ways[way]);
        world.error = (gph_error){0};
        CHECK(gph_loop_create(world.runtime, body, &options, &loop, &world.error) ==
              GPH_E_UNSUPPORTED);
        CHECK(says("node 2 (host") && world.error.has_node && world.error.node == 2);
    }
    gph_loop_options options = loop_options(GPH_LOOP_DEVICE);
    CHECK(gph_loop_create(world.runtime, body, &options, &loop, &world.error) ==
          GPH_E_UNSUPPORTED);
    CHECK(loop == NULL);
    options.way = GPH_LOOP_FASTEST;
    loop = loop_of(body, &options);
    gph_loop_ways_get(loop, &ways);
    CHECK(ways.way == GPH_LOOP_HOST &&
          strstr(ways.text, "while is not possible") != NULL);
    check_counts(loop, 4, 1);
    gph_loop_destroy(loop);
}

static void wrong_use_is_refused(void)
{
    gph_loop *loop = NULL;
    gph_error error = {0};
    CUgraph body = tick_body();
    gph_loop_options good = loop_options(GPH_LOOP_WHILE), bad;
#define REFUSES(change, words)                                                           \
    do {                                                                                 \
        bad = good;                                                                      \
        bad.change;                                                                      \
        CHECK(gph_loop_create(world.runtime, body, &bad, &loop, &error) ==               \
                  GPH_E_INVALID &&                                                       \
              strstr(error.message, words) != NULL && loop == NULL);                     \
    } while (0)
    REFUSES(condition = 0, "options.condition 0x0");
    REFUSES(condition = loops.word + 2, "words of 4 bytes");
    REFUSES(counter = 3, "options.counter 0x3");
    REFUSES(ceiling = 0, "options.ceiling is 0");
    REFUSES(way = 9, "options.way 9");
    REFUSES(unroll = 5000, "options.unroll 5000");
    REFUSES(flags = 1, "options.flags 0x1");
#undef REFUSES
    CHECK(gph_loop_create(world.runtime, NULL, &good, &loop, &error) == GPH_E_INVALID);
    CHECK(gph_loop_launch(NULL, world.stream, &error) == GPH_E_INVALID);
    CHECK(gph_loop_wait(NULL, world.stream, NULL, &error) == GPH_E_INVALID);
    OK(world.cu->cuGraphDestroy(body));
    gph_loop_abort(NULL);
    gph_loop_destroy(NULL);
    CHECK(gph_loop_exec(NULL) == NULL && progress_of(NULL).begun == 0);
}

/* ---- as other executables ---- */

/* Adds to what a slot is bound to, in each of five rounds. */
static void slots_feed_a_loop(void)
{
    for (int way = 0; way < 2; way++) {
        const gph_slot slot = {.name = "sum", .kind = GPH_SLOT_INDIRECT};
        gph_slots *slots = NULL;
        CUgraph before = NULL;
        uint32_t value = 3;
        FINE(gph_slots_create(world.runtime, &slot, 1, NULL, &slots, &world.error));
        OK(world.cu->cuStreamBeginCapture(world.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        FINE(gph_slots_feed(slots, world.stream, &world.error));
        OK(world.cu->cuStreamEndCapture(world.stream, &before));
        CUdeviceptr where = gph_slots_address(slots, 0), sum = world.at[AT_DEVICE] + 256;
        CUgraph body = down_body();
        void *arguments[] = {&where, &value};
        loop_node(body, NULL, "into", arguments);
        gph_loop_options options = loop_options(loop_ways[way]);
        options.before = before;
        gph_loop *loop = loop_of(body, &options);
        OK(world.cu->cuGraphDestroy(before));
        OK(world.cu->cuMemsetD32(sum, 0, 4));
        for (uint32_t i = 0; i < 4; i++) {
            gph_exec *exec = gph_loop_exec(loop);
            set_words(5, 0);
            FINE(gph_slots_bind(slots, 0, sum + 4 * i, &world.error));
            FINE(gph_slots_launch(slots, &exec, 1, world.stream, &world.error));
            FINE(gph_loop_wait(loop, world.stream, NULL, &world.error));
        }
        for (uint32_t i = 0; i < 4; i++)
            CHECK(word_at(sum + 4 * i) == 15);
        gph_loop_destroy(loop);
        gph_slots_destroy(slots);
    }
}

static void a_body_may_become_another(void)
{
    for (int way = 0; way < LOOP_WAYS; way++) {
        gph_loop_options options = loop_options(loop_ways[way]);
        options.unroll = 2;
        options.ceiling = 5;
        gph_loop *loop = loop_of(down_body(), &options);
        const gph_exec *exec = gph_loop_exec(loop);
        check_counts(loop, 4, 2);
        CUgraph other = tick_body();
        FINE(gph_loop_update(loop, other, &world.error));
        OK(world.cu->cuGraphDestroy(other));
        CHECK(gph_loop_exec(loop) == exec);
        set_words(4, 0);
        const gph_loop_result result = run(loop, GPH_E_STATE);
        CHECK(result.steps == 5 && word_at(loops.done) == 5 && !result.changed);
        gph_loop_destroy(loop);
    }
}

static void a_recording_is_a_body(void)
{
    gph_capture *capture = NULL;
    CUgraph body = NULL;
    CUfunction down = NULL;
    void *arguments[] = {&loops.word, &loops.done};
    OK(world.cu->cuModuleGetFunction(&down, loops.module, "down"));
    FINE(gph_capture_begin(world.runtime, world.stream, NULL, &capture, &world.error));
    OK(world.cu->cuLaunchKernel(down, 1, 1, 1, 1, 1, 1, 0, world.stream, arguments,
                                NULL));
    FINE(gph_capture_end(capture, &body, &world.error));
    gph_loop_options options = loop_options(GPH_LOOP_WHILE);
    gph_loop *loop = loop_of(body, &options);
    check_counts(loop, 12, 1);
    gph_loop_destroy(loop);
}

/* ---- in other graphs ---- */

/* tick; loop until the word is 0; tick: as one graph, replayed. */
static CUgraphExec capture_loop(gph_loop *loop, CUgraph body, CUdeviceptr ticks)
{
    const gphi_cuda_table *cu = world.cu;
    CUfunction tick = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    void *arguments[] = {&ticks};
    OK(cu->cuModuleGetFunction(&tick, loops.module, "tick"));
    OK(cu->cuStreamBeginCapture(world.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(cu->cuLaunchKernel(tick, 1, 1, 1, 1, 1, 1, 0, world.stream, arguments, NULL));
    FINE(gph_loop_capture(loop, body, world.stream, &world.error));
    OK(cu->cuLaunchKernel(tick, 1, 1, 1, 1, 1, 1, 0, world.stream, arguments, NULL));
    OK(cu->cuStreamEndCapture(world.stream, &graph));
    OK(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu->cuGraphDestroy(graph));
    return exec;
}

static void a_capture_holds_a_loop(void)
{
    for (uint32_t unroll = 1; unroll <= 3; unroll += 2) {
        const CUdeviceptr ticks = world.at[AT_DEVICE] + 1024;
        gph_loop_options options = loop_options(GPH_LOOP_WHILE);
        gph_loop_result result = GPH_SIZED(gph_loop_result);
        options.ceiling = 9;
        options.unroll = unroll;
        CUgraph body = down_body();
        gph_loop *loop = NULL;
        FINE(gph_loop_create(world.runtime, body, &options, &loop, &world.error));
        CUgraphExec exec = capture_loop(loop, body, ticks);
        OK(world.cu->cuGraphDestroy(body));
        OK(world.cu->cuMemsetD32(ticks, 0, 1));
        for (uint32_t count = 0; count < 12; count += 5) {
            set_words(count, 0);
            OK(world.cu->cuGraphLaunch(exec, world.stream));
            const gph_status status =
                gph_loop_wait(loop, world.stream, &result, &world.error);
            CHECK(status == (count > 9 ? GPH_E_STATE : GPH_OK));
            CHECK(result.steps == (count > 9 ? 9 : count));
            CHECK(word_at(loops.done) == result.steps);
        }
        CHECK(word_at(ticks) == 6);
        OK(world.cu->cuGraphExecDestroy(exec));
        gph_loop_destroy(loop);
    }
}

static void what_no_capture_holds_is_refused(void)
{
    gph_loop_options options = loop_options(GPH_LOOP_TAIL);
    CUgraph body = tick_body(), graph = NULL;
    gph_loop *loop = NULL;
    FINE(gph_loop_create(world.runtime, body, &options, &loop, &world.error));
    OK(world.cu->cuStreamBeginCapture(world.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(gph_loop_capture(loop, body, world.stream, &world.error) == GPH_E_UNSUPPORTED &&
          says("another way than WHILE"));
    OK(world.cu->cuStreamEndCapture(world.stream, &graph));
    OK(world.cu->cuGraphDestroy(graph));
    gph_loop_destroy(loop);
    options.way = GPH_LOOP_WHILE;
    FINE(gph_loop_create(world.runtime, body, &options, &loop, &world.error));
    CHECK(gph_loop_capture(loop, body, world.stream, &world.error) == GPH_E_STATE &&
          says("is not captured"));
    CHECK(gph_loop_capture(NULL, body, world.stream, &world.error) == GPH_E_INVALID);
    OK(world.cu->cuGraphDestroy(body));
    gph_loop_destroy(loop);
}

/* ---- other processes ---- */

static pid_t start(const char *what)
{
    const pid_t child = fork();
    if (child == 0) {
        execl(program, program, what, (char *)NULL);
        _exit(99);
    }
    return child;
}

/* A program that is killed in the middle of a loop leaves nothing that others wait for. */
static void a_killed_loop_is_gone(void)
{
    int status = 0;
    const pid_t child = start("endless");
    for (int i = 0; i < 500; i++)
        nap();
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    gph_loop_options options = loop_options(GPH_LOOP_WHILE);
    gph_loop *loop = loop_of(down_body(), &options);
    check_counts(loop, 5, 1);
    gph_loop_destroy(loop);
}

static void an_error_names_loop_round_and_node(void)
{
    int status = 0;
    for (int way = 0; way < LOOP_WAYS; way++)
        for (int has_sentinel = 0; has_sentinel < 2; has_sentinel++) {
            const char what[] = {'f', (char)('0' + way), (char)('0' + has_sentinel), 0};
            const pid_t child = start(what);
            CHECK(waitpid(child, &status, 0) == child);
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        }
}

_Noreturn static void run_endless(void)
{
    gph_loop_options options = loop_options(GPH_LOOP_WHILE);
    options.ceiling = UINT64_MAX;
    gph_loop *loop = loop_of(tick_body(), &options);
    set_words(1, 0);
    FINE(gph_loop_launch(loop, world.stream, &world.error));
    for (;;)
        pause();
}

/* The fourth step, in which the word is 6, writes where nothing is. */
_Noreturn static void run_fault(gph_loop_way way, bool has_sentinel)
{
    gph_sentinel_options every = GPH_SENTINEL_OPTIONS_INIT;
    gph_loop_options options = loop_options(way);
    gph_loop_result result = GPH_SIZED(gph_loop_result);
    uint32_t at = 6;
    CUgraph body = loop_graph();
    void *down[] = {&loops.word, &loops.done}, *stray[] = {&loops.word, &at};
    CUgraphNode node = loop_node(body, NULL, "down", down);
    node = loop_node(body, &node, "stray", stray);
    loop_node(body, &node, "tick", &down[1]);
    every.every = 1;
    if (has_sentinel)
        FINE(gph_sentinel_create(world.runtime, &every, &options.sentinel, &world.error));
    gph_loop *loop = loop_of(body, &options);
    set_words(10, 0);
    gph_status status = gph_loop_launch(loop, world.stream, &world.error);
    if (status == GPH_OK)
        status = gph_loop_wait(loop, world.stream, &result, &world.error);
    printf("  %s\n", world.error.message);
    CHECK(status == CUDA_ERROR_ILLEGAL_ADDRESS);
    if (has_sentinel) {
        CHECK(says("loop adder, round 4, node 1 (kernel stray)"));
        CHECK(world.error.has_node && world.error.node == 1);
    } else {
        CHECK(says("loop adder, round 4 or later: "));
        CHECK(strstr(world.error.hint, "options.sentinel") != NULL);
    }
    const gph_loop_progress progress = progress_of(loop);
    CHECK(progress.running && progress.rounds == 3 && progress.steps == 3);
    fflush(stdout);
    _exit(atomic_load(&test_failures) > 0);
}

int main(int count, char **words)
{
    const int skipped = world_open();
    program = words[0];
    if (skipped)
        return skipped;
    loops_open();
    if (count > 1 && strcmp(words[1], "endless") == 0)
        run_endless();
    if (count > 1)
        run_fault(loop_ways[words[1][1] - '0'], words[1][2] == '1');
    RUN(counts_are_exact);
    RUN(a_ceiling_is_exact_and_named);
    RUN(a_condition_that_changed_is_told_apart);
    RUN(a_counter_that_stands_still_has_a_ceiling);
    RUN(a_budget_ends_it);
    RUN(an_abort_ends_it_in_the_middle);
    RUN(an_abort_ends_what_is_queued);
    RUN(launches_queue_up);
    RUN(the_faster_way_of_the_device_is_measured_and_said);
    RUN(the_fastest_way_is_found_by_launches);
    RUN(a_short_launch_is_napped_through);
    RUN(a_trial_goes_without_what_it_cannot_see);
    RUN(what_a_way_refuses_is_left_out);
    RUN(wrong_use_is_refused);
    RUN(slots_feed_a_loop);
    RUN(a_body_may_become_another);
    RUN(a_recording_is_a_body);
    RUN(a_capture_holds_a_loop);
    RUN(what_no_capture_holds_is_refused);
    RUN(a_killed_loop_is_gone);
    RUN(an_error_names_loop_round_and_node);
    return test_done();
}
