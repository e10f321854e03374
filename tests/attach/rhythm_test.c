// SPDX-License-Identifier: Apache-2.0
/* What the doctor adds to a repetition: a mean over its calls, by quarters of the repetitions. */
#include "attach/timing/rhythm.h"
#include "test.h"

enum { CALLS = 16, CHEAP = 1000, COSTLY = 39000 };

static gphi_rhythm rhythm;

/* Half of a step is cheap to record, the other half, of another thread, is not. */
static void step(uint64_t costly_ns, int disturbed_at)
{
    for (int i = 0; i < CALLS; i++) {
        const gphi_timing_call call = {.call = GPHI_CALL_cuLaunchKernel,
                                       .class = GPHI_WORK,
                                       .key = 100U + (uint32_t)i};
        gphi_rhythm_beat(&rhythm, &call);
        gphi_rhythm_cost(&rhythm, i < CALLS / 2 ? CHEAP : costly_ns, i == disturbed_at);
    }
}

static void steps(int count, uint64_t costly_ns, int disturbed_at)
{
    for (int i = 0; i < count; i++)
        step(costly_ns, disturbed_at);
}

static void a_repetition_costs_what_all_of_its_calls_cost(void)
{
    rhythm = (gphi_rhythm){0};
    steps(20, COSTLY, -1);
    const uint64_t usual = gphi_rhythm_own_cost(&rhythm, 2);
    CHECK(usual > 19000 && usual < 21000);
    CHECK(gphi_rhythm_own_cost(&rhythm, 1) == usual);
    CHECK(gphi_rhythm_own_cost(&rhythm, 3) == usual);
}

static void a_repetition_with_a_window_does_not_count(void)
{
    rhythm = (gphi_rhythm){0};
    steps(20, COSTLY, -1);
    const uint64_t usual = gphi_rhythm_own_cost(&rhythm, 2);
    steps(100, 100 * (uint64_t)COSTLY, 3);
    CHECK(gphi_rhythm_own_cost(&rhythm, 3) == usual);
}

static void quarters_say_by_how_much_repetitions_differ(void)
{
    rhythm = (gphi_rhythm){0};
    for (int i = 0; i < 40; i++)
        steps(1, i % 2 ? COSTLY : 3 * (uint64_t)COSTLY, -1);
    CHECK(gphi_rhythm_own_cost(&rhythm, 1) < 21000);
    CHECK(gphi_rhythm_own_cost(&rhythm, 3) > 55000);
}

static void before_a_repetition_is_whole_there_is_its_part(void)
{
    rhythm = (gphi_rhythm){0};
    CHECK(gphi_rhythm_own_cost(&rhythm, 2) == 0);
    steps(2, COSTLY, 0);
    const gphi_timing_call call = {
        .call = GPHI_CALL_cuLaunchKernel, .class = GPHI_WORK, .key = 100};
    gphi_rhythm_beat(&rhythm, &call);
    gphi_rhythm_cost(&rhythm, CHEAP, false);
    CHECK(gphi_rhythm_own_cost(&rhythm, 2) == CHEAP);
}

static void another_rhythm_starts_from_nothing(void)
{
    rhythm = (gphi_rhythm){0};
    steps(20, COSTLY, -1);
    const gphi_timing_call other = {
        .call = GPHI_CALL_cuLaunchKernel, .class = GPHI_WORK, .key = 7};
    for (int i = 0; i < 40; i++) {
        gphi_rhythm_beat(&rhythm, &other);
        gphi_rhythm_cost(&rhythm, CHEAP, false);
    }
    const uint64_t usual = gphi_rhythm_own_cost(&rhythm, 2);
    CHECK(usual > 950 && usual < 1050);
}

int main(void)
{
    RUN(a_repetition_costs_what_all_of_its_calls_cost);
    RUN(a_repetition_with_a_window_does_not_count);
    RUN(quarters_say_by_how_much_repetitions_differ);
    RUN(before_a_repetition_is_whole_there_is_its_part);
    RUN(another_rhythm_starts_from_nothing);
    return test_done();
}
