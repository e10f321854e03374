// SPDX-License-Identifier: Apache-2.0
/* The attached library in edges.c: programs in odd circumstances go on as without it, and
 * what is reported of them is right. */
#define _GNU_SOURCE
#include "attached.h"

#include <fcntl.h>
#include <pthread.h>

static int calls_in_all(void)
{
    int count = 0;
    for (int i = 0; i < record_count; i++)
        count += records[i]->kind == GPHI_EVENT_CALL;
    return count;
}

/* Without a reader nothing comes free: the rest is counted. */
static void a_million_calls_in_a_small_ring_are_told_as_lost(void)
{
    setenv("GPH_DOCTOR_RING", "1024", 1);
    may_lose = 1;
    CHECK(exit_of("many") == 0);
    CHECK(lost > 900000 && record_count > 100);
    /* what was recorded, and what was lost, is all (beside a few of stacks and the end)
     */
    const uint64_t sum = lost + (uint64_t)calls_in_all();
    CHECK(sum > 1000000 && sum < 1000100);
    setenv("GPH_DOCTOR_RING", "64", 1);
    CHECK(exit_of("many") == 0 && lost > 1000000);
    may_lose = 0;
    unsetenv("GPH_DOCTOR_RING");
}

static void threads_may_come_and_go(void)
{
    setenv("GPH_DOCTOR_RING", "1048576", 1);
    CHECK(exit_of("threads") == 0 && count_of(GPHI_EVENT_THREAD) > 10 * 64);
    CHECK(exit_of("late") == 0 && count_of(GPHI_EVENT_THREAD) > 700);
    CHECK(exit_of("cancel") == 0);
    unsetenv("GPH_DOCTOR_RING");
}

static void stacks_may_be_deep_or_the_programs_own(void)
{
    CHECK(exit_of("deep") == 0 && call_of(GPHI_CALL_cuEventRecord, 99) != NULL &&
          call_of(GPHI_CALL_cuEventRecord, 99)->stack != 0);
    CHECK(exit_of("stacks") == 0 && call_of(GPHI_CALL_cuEventRecord, 499) != NULL);
}

static void signals_may_come_at_any_time(void)
{
    setenv("GPH_DOCTOR_RING", "4194304", 1);
    CHECK(exit_of("signals") == 0);
    unsetenv("GPH_DOCTOR_RING");
    for (int i = 0; i < record_count; i++)
        if (records[i]->kind == GPHI_EVENT_CALL)
            CHECK((records[i]->u.call.flags & GPHI_CALL_NESTED) == 0);
}

static void the_driver_may_be_closed(void)
{
    CHECK(exit_of("dlclose") == 0 && call_of(GPHI_CALL_cuInit, 4) != NULL);
}

static void files_may_be_closed(void)
{
    CHECK(exit_of("close") == 0 && call_of(GPHI_CALL_cuMemsetD8Async, 99) != NULL);
}

/* The two that are started with our environment have rings; so has the program. */
static void children_may_be_made_in_any_way(void)
{
    CHECK(exit_of("children") == 0 && ring_count == 3);
    CHECK(count_of(GPHI_EVENT_EXIT) == 3);
    may_lose = 1; /* as fast as four threads can */
    CHECK(exit_of("fork") == 0 && ring_count == 1);
    may_lose = 0;
}

/* Where no ring can be made the program runs all the same. */
static void without_a_folder_nothing_is_recorded(void)
{
    int status = run_with("plain", "GPH_DOCTOR_DIR", "/nowhere/at/all");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0 && ring_count == 0);
    status = run_with("plain", "GPH_DOCTOR_DIR", "");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0 && ring_count == 0);
    status = run_with("plain", "GPH_DOCTOR_RING", "77"); /* no power of two */
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0 && ring_count == 0);
    status = run_with("plain", "GPH_DOCTOR_RING", "many");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0 && ring_count == 0);
}

int main(void)
{
    if (!attached_begin("attach_edges_test"))
        return 77;
    RUN(a_million_calls_in_a_small_ring_are_told_as_lost);
    RUN(threads_may_come_and_go);
    RUN(stacks_may_be_deep_or_the_programs_own);
    RUN(signals_may_come_at_any_time);
    RUN(the_driver_may_be_closed);
    RUN(files_may_be_closed);
    RUN(children_may_be_made_in_any_way);
    RUN(without_a_folder_nothing_is_recorded);
    attached_end();
    return test_done();
}
