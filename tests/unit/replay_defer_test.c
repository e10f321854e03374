// SPDX-License-Identifier: Apache-2.0
/* What is destroyed while a stream is captured waits until none is. */
#include "fake_driver.h"
#include "fault.h"
#include "test.h"
#include <gph/replay.h>

#include <pthread.h>

static gph_runtime *open_fake(const gph_allocator *allocator)
{
    gph_runtime *runtime = NULL;
    gph_error error = {0};
    CHECK_OK(gphi_runtime_create(allocator, &fake_source, &runtime, &error), error);
    return runtime;
}

static int order[8], order_count;

static void note(void *user)
{
    order[order_count++] = *(int *)user;
}

static gph_runtime *nested_runtime;

static void note_and_defer(void *user)
{
    static int more = 9;
    note(user);
    CHECK(gph_defer(nested_runtime, note, &more, NULL) == GPH_OK);
}

static void without_a_capture_it_is_done_at_once(void)
{
    fake_reset();
    gph_runtime *runtime = open_fake(NULL);
    int one = 1;
    order_count = 0;
    CHECK(gph_defer(runtime, note, &one, NULL) == GPH_OK);
    CHECK(order_count == 1);
    CHECK(gph_defer(runtime, NULL, &one, NULL) == GPH_E_INVALID);
    CHECK(gph_defer(NULL, note, &one, NULL) == GPH_E_INVALID);
    gph_close(runtime);
}

static void what_is_destroyed_meanwhile_goes_when_the_capture_ends(void)
{
    fake_reset();
    gph_runtime *runtime = open_fake(NULL);
    gph_error error = {0};
    gph_capture *capture = NULL;
    gph_exec *exec = NULL;
    CUgraph graph = NULL;
    int one = 1, two = 2;
    order_count = 0;
    nested_runtime = runtime;
    CHECK_OK(gph_exec_create(runtime, FAKE_GRAPH, NULL, &exec, &error), error);
    CHECK_OK(gph_capture_begin(runtime, FAKE_STREAM, NULL, &capture, &error), error);
    CHECK(gphi_capture_open_count() == 1);
    gph_exec_destroy(exec);
    CHECK_OK(gph_defer(runtime, note_and_defer, &one, &error), error);
    CHECK_OK(gph_defer(runtime, note, &two, &error), error);
    CHECK(fake.live_execs == 1 && order_count == 0);
    CHECK_OK(gph_capture_end(capture, &graph, &error), error);
    CHECK(fake.live_execs == 0);
    /* In order of arrival; what a function defers is done at once. */
    CHECK(order_count == 3 && order[0] == 1 && order[1] == 9 && order[2] == 2);
    CHECK(gphi_capture_open_count() == 0);

    /* Failures and aborts end captures, too. */
    CHECK_OK(gph_exec_create(runtime, FAKE_GRAPH, NULL, &exec, &error), error);
    CHECK_OK(gph_capture_begin(runtime, FAKE_STREAM, NULL, &capture, &error), error);
    gph_exec_destroy(exec);
    fake.end_with = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    CHECK(gph_capture_end(capture, &graph, &error) != GPH_OK && fake.live_execs == 0);
    fake.end_with = CUDA_SUCCESS;
    CHECK_OK(gph_exec_create(runtime, FAKE_GRAPH, NULL, &exec, &error), error);
    CHECK_OK(gph_capture_begin(runtime, FAKE_STREAM, NULL, &capture, &error), error);
    gph_exec_destroy(exec);
    CHECK(gph_capture_abort(capture, &error) == GPH_OK && fake.live_execs == 0);
    fake.fail_at = 1; /* cuStreamBeginCapture */
    CHECK(gph_capture_begin(runtime, FAKE_STREAM, NULL, &capture, &error) != GPH_OK);
    CHECK(gphi_capture_open_count() == 0);
    gph_close(runtime);
}

static void a_runtime_closed_meanwhile_outlives_what_waits(void)
{
    fake_reset();
    fault_heap heap = {.fail_at = -1};
    const gph_allocator allocator = {fault_realloc, &heap};
    gph_runtime *runtime = open_fake(NULL), *other = open_fake(&allocator);
    gph_error error = {0};
    gph_capture *capture = NULL;
    gph_exec *exec = NULL;
    CHECK_OK(gph_exec_create(other, FAKE_GRAPH, NULL, &exec, &error), error);
    CHECK_OK(gph_capture_begin(runtime, FAKE_STREAM, NULL, &capture, &error), error);
    gph_exec_destroy(exec);
    gph_close(other);
    CHECK(fake.live_execs == 1 && atomic_load(&heap.live_bytes) > 0);
    CHECK_OK(gph_capture_abort(capture, &error), error);
    CHECK(fake.live_execs == 0 && atomic_load(&heap.live_bytes) == 0);
    gph_close(runtime);
}

static void a_call_that_finds_no_memory_is_not_made(void)
{
    fake_reset();
    fault_heap heap = {.fail_at = -1};
    const gph_allocator allocator = {fault_realloc, &heap};
    gph_runtime *runtime = open_fake(&allocator);
    int one = 1;
    order_count = 0;
    atomic_store(&heap.fail_at, 0);
    CHECK(gph_defer(runtime, note, &one, NULL) == GPH_E_NO_MEMORY && order_count == 0);
    gph_close(runtime);
    CHECK(atomic_load(&heap.live_bytes) == 0);
}

/* Captures of some threads and destructions of others: never both at a time. */
static atomic_int captures, overlaps, done_calls;

static void count_call(void *user)
{
    (void)user;
    if (atomic_load(&captures) != 0)
        atomic_fetch_add(&overlaps, 1);
    atomic_fetch_add(&done_calls, 1);
}

enum { ROUNDS = 300, THREADS = 3 };

static void *capture_often(void *user)
{
    (void)user;
    for (int i = 0; i < ROUNDS; i++) {
        gphi_capture_open();
        atomic_fetch_add(&captures, 1);
        atomic_fetch_sub(&captures, 1);
        gphi_capture_close();
    }
    return NULL;
}

static void *destroy_often(void *user)
{
    for (int i = 0; i < ROUNDS; i++)
        CHECK(gph_defer(user, count_call, NULL, NULL) == GPH_OK);
    return NULL;
}

static void threads_destroy_while_others_capture(void)
{
    fake_reset();
    gph_runtime *runtime = open_fake(NULL);
    pthread_t threads[2 * THREADS];
    for (int i = 0; i < 2 * THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, i % 2 ? capture_often : destroy_often,
                             runtime) == 0);
    for (int i = 0; i < 2 * THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(atomic_load(&overlaps) == 0);
    CHECK(atomic_load(&done_calls) == THREADS * ROUNDS);
    gph_close(runtime);
}

int main(void)
{
    RUN(without_a_capture_it_is_done_at_once);
    RUN(what_is_destroyed_meanwhile_goes_when_the_capture_ends);
    RUN(a_runtime_closed_meanwhile_outlives_what_waits);
    RUN(a_call_that_finds_no_memory_is_not_made);
    RUN(threads_destroy_while_others_capture);
    return test_done();
}
