// SPDX-License-Identifier: Apache-2.0
/* The advice on call sequences made up here: what repeats, what is in the way, what a
 * graph would take. Times are nanoseconds of a machine whose figures are in advice_story.h. */
#define _GNU_SOURCE /* open_memstream */
#include "advice_story.h"

static void launch_bound_chain_pays(void)
{
    story *s = begin(&c_heap);
    chain(s, 40, 40 * STREAM_NODE, 120);
    const gph_prediction *prediction = finish(s);
    CHECK(prediction != NULL && gph_advice_count(s->advice) == 1);
    CHECK(prediction->verdict == GPH_VERDICT_PAYS);
    CHECK(prediction->launches == 40 && prediction->kernels == 40 &&
          prediction->graphs == 1);
    CHECK(prediction->repetitions == 120 && prediction->changed == 0 &&
          prediction->windows == 30);
    CHECK(is_near(prediction->busy_us, 40, 0.01));
    /* launch 2, forty nodes of 0.5, waking 2 */
    CHECK(is_near(prediction->graph_us, 24, 0.05));
    CHECK(is_near(prediction->eager_us, 40 * 3.05 + 4.1, 0.05));
    CHECK(is_near(prediction->once_us, 40 * 7, 0.01));
    CHECK(is_near(prediction->break_even, 280.0 / 102, 0.1));
    CHECK(prediction->place.line == 7 && strcmp(prediction->place.function, "step") == 0);
    end(s);
}

static void busy_gpu_does_not_pay(void)
{
    story *s = begin(&c_heap);
    chain(s, 20, 2000000, 50);
    const gph_prediction *prediction = finish(s);
    CHECK(prediction->verdict == GPH_VERDICT_DOES_NOT_PAY);
    CHECK(strstr(prediction->why, "the GPU is already busy") != NULL);
    CHECK(is_near(prediction->graph_us, 2000, 0.02));
    end(s);
}

/* As from autograd's thread to the optimizer: a framework's time, which a replay does not take. */
static void what_a_thread_takes_to_go_on_does_not_stay(void)
{
    story *s = begin(&c_heap);
    for (int i = 0; i < 120; i++) {
        const uint64_t from = s->now;
        for (int k = 0; k < 40; k++) {
            if (k == 20) {
                s->thread ^= 1;
                s->now += 1200000;
            }
            kernel(s, 100 + (uint64_t)(k % 3));
        }
        s->thread ^= 1;
        wait_for(s, 3000);
        if (i % 4 == 2)
            window(s, from, 40, 40 * STREAM_NODE);
    }
    const gph_prediction *prediction = finish(s);
    CHECK(prediction->verdict == GPH_VERDICT_PAYS && prediction->launches == 40);
    CHECK(prediction->graph_us < 100 && prediction->eager_us > 1200);
    end(s);
}

/* Whatever was measured of them: two times are not a spread. */
static void what_the_doctor_mostly_takes_itself_is_unknown(void)
{
    story *s = begin(&c_heap);
    s->own_ns = 9000;
    chain(s, 40, 40 * STREAM_NODE, 120);
    CHECK(finish(s)->verdict == GPH_VERDICT_UNKNOWN);
    CHECK(strstr(gph_advice_prediction(s->advice, 0)->why, "gph doctor itself takes"));
    end(s);
}

/* The time now is said with how much less it may be, where the doctor costs much. */
static void what_the_doctor_may_cost_more_is_said(void)
{
    for (int is_dear = 0; is_dear < 2; is_dear++) {
        story *s = begin(&c_heap);
        s->own_ns = is_dear ? 2500 : 0;
        chain(s, 40, 40 * STREAM_NODE, 120);
        CHECK(finish(s) != NULL);
        char *text = text_of(s, 0);
        CHECK(text && strstr(text, "   now ") != NULL);
        CHECK(text && (strstr(text, "   or less ") != NULL) == is_dear);
        free(text);
        end(s);
    }
}

static void fewer_than_three_repetitions_are_unknown(void)
{
    for (int is_measured = 0; is_measured < 2; is_measured++) {
        story *s = begin(&c_heap);
        const uint64_t from = s->now;
        chain(s, 40, 40 * STREAM_NODE, 2);
        if (is_measured)
            window(s, from, 40, 900000);
        const gph_prediction *prediction = finish(s);
        CHECK(prediction && prediction->repetitions == 2 && prediction->graph_us < 0);
        CHECK(prediction->verdict == GPH_VERDICT_UNKNOWN && prediction->break_even < 0 &&
              strstr(prediction->why, "2 repetitions"));
        char *text = text_of(s, 0);
        CHECK(text && !strstr(text, "times as fast") && !strstr(text, "paid for after"));
        free(text);
        end(s);
    }
}

static void without_windows_it_is_unknown(void)
{
    story *s = begin(&c_heap);
    for (int i = 0; i < 100; i++) {
        for (int k = 0; k < 40; k++)
            kernel(s, 100);
        wait_for(s, 4000);
    }
    CHECK(finish(s)->verdict == GPH_VERDICT_UNKNOWN);
    end(s);
}

/* Layers inside a step, steps inside a batch: the step is found, whatever repeats
 * in it. */
static void outer_loop_wins(void)
{
    story *s = begin(&c_heap);
    for (int i = 0; i < 30; i++) {
        for (int layer = 0; layer < 24; layer++)
            for (uint64_t k = 0; k < 10; k++)
                kernel(s, 100 + k);
        kernel(s, 200);
        wait_for(s, 4000);
    }
    const gph_prediction *prediction = finish(s);
    CHECK(gph_advice_count(s->advice) == 1);
    CHECK(prediction->launches == 241 && prediction->repetitions == 30);
    end(s);
}

static void steps_between_waits_are_one_graph_each(void)
{
    story *s = begin(&c_heap);
    for (int i = 0; i < 20; i++) {
        for (int step = 0; step < 10; step++)
            for (uint64_t k = 0; k < 12; k++)
                kernel(s, 100 + k);
        wait_for(s, 4000);
    }
    const gph_prediction *prediction = finish(s);
    CHECK(prediction->launches == 12 && prediction->repetitions == 200 &&
          prediction->graphs == 1);
    end(s);
}

static void waits_cut(void)
{
    story *s = begin(&c_heap);
    for (int i = 0; i < 30; i++) {
        for (uint64_t k = 0; k < 10; k++)
            kernel(s, 100 + k);
        wait_for(s, 4000);
        for (uint64_t k = 0; k < 5; k++)
            kernel(s, 200 + k);
        wait_for(s, 4000);
        s->now += 200000; /* the program's own work */
    }
    const gph_prediction *prediction = finish(s);
    CHECK(prediction->graphs == 2 && prediction->launches == 15 &&
          prediction->repetitions == 30);
    char *text = text_of(s, 0);
    CHECK(text != NULL && strstr(text, "cuts it into two graphs") != NULL);
    free(text);
    end(s);
}

static void what_is_in_the_way_is_said(void)
{
    story *s = begin(&c_heap);
    for (int i = 0; i < 8; i++) /* set-up is not reproached */
        call_of(s, GPHI_CALL_cuMemHostAlloc, NULL, 9000);
    for (int i = 0; i < 40; i++) {
        const uint64_t from = s->now;
        for (uint64_t k = 0; k < 10; k++)
            kernel(s, 100 + k);
        call_of(s, GPHI_CALL_cuMemAlloc, NULL, 2000);
        call_with(s, GPHI_CALL_cuMemsetD32Async, &streams[2], LAUNCH,
                  (const uint64_t[4]){(uint64_t)i, 0, 64, 0});
        call_of(s, GPHI_CALL_cuMemcpyDtoDAsync, &streams[1], LAUNCH);
        kernel(s, 300);
        if (i % 4 == 2)
            window(s, from, 13, 13000);
        wait_for(s, 4000);
    }
    const gph_prediction *prediction = finish(s);
    CHECK(prediction->verdict == GPH_VERDICT_CANNOT_CAPTURE);
    CHECK(strstr(prediction->why, "cuMemAlloc") != NULL);
    CHECK(prediction->changed == 1); /* where it fills */
    char *json = json_of(s, GPH_ADVICE_BOTH);
    CHECK(json != NULL);
    CHECK(strstr(json, "\"kind\":\"breaks\",\"call\":\"cuMemAlloc\"") != NULL);
    CHECK(strstr(json, "\"kind\":\"breaks\",\"call\":\"cuMemsetD32Async\"") != NULL);
    CHECK(strstr(json, "\"kind\":\"escapes\",\"call\":\"cuMemcpyDtoDAsync\"") != NULL);
    CHECK(strstr(json, "cuMemHostAlloc") == NULL);
    free(json);
    end(s);
}

/* A program whose times differ by far: `of` picks how much longer a repetition takes, and
 * its graph, in percent. */
static void shaky(story *s, int times, int (*of)(int repetition))
{
    for (int i = 0; i < times; i++) {
        const uint64_t from = s->now;
        for (uint64_t k = 0; k < 40; k++)
            call_with(s, GPHI_CALL_cuLaunchKernel, &streams[0],
                      (uint64_t)(LAUNCH * (100 + of(i)) / 100),
                      (const uint64_t[4]){100 + k % 3, 1, 1, 1});
        wait_for(s, 3000);
        if (i % 8 == 2) {
            const uint64_t gpu_ns = 60000 * (uint64_t)(100 + of(i / 8)) / 100;
            gpu(s,
                (const uint64_t[]){GPHI_GPU_WINDOW, from, from + gpu_ns, 16, from, s->now,
                                   40, 50, 1, 0, 1},
                11);
        }
    }
}

static int steady(int repetition)
{
    return repetition % 3;
}

static int in_bursts(int repetition)
{
    return repetition / 2 % 2 * 400;
}

/* The same program twice: quiet it has an answer, disturbed it says how far it is off. */
static void noise_is_measured_and_said(void)
{
    story *s = begin(&c_heap);
    shaky(s, 80, steady);
    const gph_prediction *found = finish(s);
    CHECK(found->verdict == GPH_VERDICT_PAYS && found->saves_low > 0.3);
    CHECK(found->saves_high - found->saves_low < 0.15);
    end(s);
    s = begin(&c_heap);
    shaky(s, 80, in_bursts);
    found = finish(s);
    CHECK(found->verdict == GPH_VERDICT_UNKNOWN);
    CHECK(found->saves_low < 0.05 && found->saves_high > 0.3);
    CHECK(strstr(found->why, "us in different stretches") != NULL);
    CHECK(strstr(found->why, "other programs interrupted 10 of the 10") != NULL);
    end(s);
}

/* A chain of 40 whose first `changing` kernels get another grid or, by a fill, another
 * address: of `kinds` that take turns. */
static void varied(story *s, int changing, uint64_t kinds, bool is_size)
{
    for (int i = 0; i < 120; i++) {
        const uint64_t from = s->now, kind = (uint64_t)i % kinds;
        for (int k = 0; k < 40; k++) {
            const uint64_t here = k < changing ? kind : 0;
            call_with(
                s, GPHI_CALL_cuMemsetD32Async, &streams[0], LAUNCH,
                (const uint64_t[4]){is_size ? 0 : here, 0, is_size ? 64 + here : 64});
        }
        kernel(s, 100);
        wait_for(s, 4000);
        if (i % 4 == 2)
            window(s, from, 41, 41 * STREAM_NODE);
    }
}

/* 24 repetitions; from the `first` on one in `every` is larger. */
static const gph_prediction *with_large(story *s, int first, int every)
{
    for (int i = 0; i < 24; i++) {
        const uint64_t from = s->now, more = i >= first && (i - first) % every == 0;
        for (uint64_t k = 0; k < 40; k++)
            call_with(s, GPHI_CALL_cuMemsetD32Async, &streams[0], LAUNCH,
                      (const uint64_t[4]){more * 8, 0, k == 3 ? 64 + more : 64});
        kernel(s, 100);
        wait_for(s, 4000);
        if (i % 4 == 2)
            window(s, from, 41, 41 * STREAM_NODE);
    }
    return finish(s);
}

static void few_of_another_size_stay_outside(void)
{
    const struct {
        int first, every;
        const char *why;
    } all[] = {{0, 99, "not of the 1 of 24"},
               {5, 10, "not of the 2 of 24"},
               {1, 4, "2 kinds"},
               {13, 1, "2 kinds"}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        story *s = begin(&c_heap);
        const gph_prediction *found = with_large(s, all[i].first, all[i].every);
        CHECK(found->verdict == (i < 2 ? GPH_VERDICT_PAYS : GPH_VERDICT_NEEDS_BUCKETS));
        CHECK(strstr(found->why, all[i].why) && (i >= 2 || found->changed == 0));
        end(s);
    }
}

static void sizes_that_differ_need_buckets(void)
{
    story *s = begin(&c_heap);
    varied(s, 3, 2, true);
    const gph_prediction *found = finish(s);
    char *text = text_of(s, 0);
    CHECK(found->verdict == GPH_VERDICT_NEEDS_BUCKETS);
    CHECK(strstr(found->why, "2 kinds") != NULL && strstr(text, "pays") == NULL);
    free(text);
    end(s);
}

static void updates_are_counted(void)
{
    double graph_us[3];
    for (int i = 0; i < 3; i++) {
        story *s = begin(&c_heap);
        varied(s, i == 0 ? 0 : 10, i == 1 ? 1000 : 2, false);
        const gph_prediction *found = finish(s);
        CHECK(found->updates == (i == 1 ? 10 : 0));
        CHECK(found->changed == (i == 0 ? 0 : 10));
        CHECK(is_near(found->update_us + 1, i == 1 ? 11 : 1, 0.01));
        CHECK(found->verdict == GPH_VERDICT_PAYS);
        /* two buffers that take turns: a graph for each */
        CHECK((strstr(found->why, "2 graphs that take turns") != NULL) == (i == 2));
        CHECK(is_near(found->once_us, 41 * 7 * (i == 2 ? 2 : 1), 0.01));
        graph_us[i] = found->graph_us;
        end(s);
    }
    CHECK(is_near(graph_us[1] - graph_us[0], 10, 0.01) && graph_us[2] == graph_us[0]);
}

/* Tokens of a problem, whose number differs, after what reads the question; a few steps
 * are queued ahead, so that the host waits after some, and not at the same place. */
static void tokens(story *s, int count, int ahead)
{
    for (uint64_t k = 0; k < 14; k++)
        kernel(s, 200 + k);
    wait_for(s, 4000);
    for (int t = 0; t < count; t++) {
        for (uint64_t k = 0; k < 30; k++) /* layers of six, and a head */
            kernel(s, k < 24 ? 100 + k % 6 : 140 + k);
        if (t >= ahead)
            wait_for(s, 4000);
    }
    if (ahead > 0)
        wait_for(s, 4000);
}

static void token_is_found_and_not_the_problem(void)
{
    for (int ahead = 0; ahead < 3; ahead++)
        for (int differ = 0; differ < 2; differ++) {
            story *s = begin(&c_heap);
            uint64_t all = 0;
            for (int i = 0; i < 20; i++) {
                const int count = 6 + (differ ? i * 7 % 5 : 0);
                tokens(s, count, ahead);
                all += (uint64_t)count;
            }
            const gph_prediction *found = finish(s);
            CHECK(found && found->launches == 30 && found->graphs == 1);
            CHECK(found->repetitions == all);
            char *text = text_of(s, 0);
            CHECK(differ || strstr(text, "inside a loop"));
            free(text);
            end(s);
        }
}

/* A loop of one call: the program's own time between two of them stays, as graph or not. */
static void host_time_between_single_calls_stays(void)
{
    story *s = begin(&c_heap);
    for (int i = 0; i < 60; i++) {
        const uint64_t from = s->now;
        kernel(s, 100);
        s->now += 20000;
        if (i % 16 == 2)
            window(s, from, 1, STREAM_NODE);
    }
    wait_for(s, 4000);
    const gph_prediction *found = finish(s);
    CHECK(found && found->repetitions == 60 && found->graph_us > 20);
    end(s);
}

/* The result is fetched after the last wait: that repetition counts as well. */
static void last_repetition_counts(void)
{
    for (int times = 3; times < 6; times++) {
        story *s = begin(&c_heap);
        for (int i = 0; i < times; i++) {
            for (uint64_t k = 0; k < 10; k++)
                kernel(s, 100 + k);
            wait_for(s, 4000);
        }
        call_of(s, GPHI_CALL_cuMemcpyDtoH, NULL, 5000);
        CHECK(finish(s)->repetitions == (uint64_t)times);
        end(s);
    }
}

/* Two steps of a kind and one of another are the step: the two are not most of it. */
static void part_of_a_step_does_not_replace_it(void)
{
    story *s = begin(&c_heap);
    for (int i = 0; i < 30; i++)
        for (int part = 0; part < 3; part++) {
            for (uint64_t k = 0; k < 10; k++)
                kernel(s, (part < 2 ? 100 : 200) + k);
            wait_for(s, 4000);
        }
    const gph_prediction *found = finish(s);
    CHECK(found->launches == 30 && found->graphs == 3 && found->repetitions >= 29);
    end(s);
}

/* Each call of a repetition is in one list. */
static void a_copy_is_frozen_or_fine_not_both(void)
{
    story *s = begin(&c_heap);
    for (int i = 0; i < 10; i++) {
        call_with(s, GPHI_CALL_cuMemcpyHtoDAsync, &streams[0], LAUNCH,
                  (const uint64_t[4]){4096, 8192, 64, 0});
        kernel(s, 100);
        call_of(s, GPHI_CALL_cuLaunchHostFunc, &streams[0], LAUNCH);
        wait_for(s, 4000);
    }
    (void)finish(s);
    const gphi_repeat *repeat = gphi_advice_repeat(s->advice, 0);
    uint64_t calls = 0;
    for (size_t i = 0; i < repeat->obstacles.count; i++) {
        const gphi_obstacle *o = gphi_vec_at(&repeat->obstacles, i);
        const uint32_t call = gphi_advice_site(s->advice, o->site)->call;
        calls += o->count;
        CHECK(call == GPHI_CALL_cuMemcpyHtoDAsync || call == GPHI_CALL_cuLaunchHostFunc
                  ? o->kind == GPHI_FREEZES
                  : o->kind != GPHI_FREEZES);
    }
    CHECK(calls == 4);
    end(s);
}

static void forks_do_not_escape(void)
{
    story *s = begin(&c_heap);
    for (int i = 0; i < 40; i++) {
        call_of(s, GPHI_CALL_cuEventRecord, &streams[0], 500);
        call_of(s, GPHI_CALL_cuStreamWaitEvent, &streams[1], 500);
        call_of(s, GPHI_CALL_cuMemcpyDtoDAsync, &streams[1], LAUNCH);
        kernel(s, 100);
        call_of(s, GPHI_CALL_cuEventRecord, &streams[1], 500);
        call_of(s, GPHI_CALL_cuStreamWaitEvent, &streams[0], 500);
        wait_for(s, 4000);
    }
    CHECK(finish(s)->graphs == 1);
    char *json = json_of(s, GPH_ADVICE_CAPTURABLE);
    CHECK(json != NULL && strstr(json, "escapes") == NULL &&
          strstr(json, "breaks") == NULL);
    free(json);
    end(s);
}

/* What a capture records does not run, and what fails does nothing. */
static void nothing_repeats(void)
{
    story *s = begin(&c_heap);
    for (uint64_t k = 0; k < 30; k++)
        kernel(s, 100 + k);
    CHECK(finish(s) == NULL && gph_advice_count(s->advice) == 0);
    char *text = text_of(s, 1);
    CHECK(text != NULL && strstr(text, "nothing is repeated") != NULL);
    free(text);
    end(s);
}

static void wrong_use_is_refused(void)
{
    gph_error error = {0};
    gph_advice *advice = NULL;
    story *s = begin(&c_heap);
    CHECK(gph_advice_create(NULL, NULL, &advice, &error) == GPH_E_INVALID);
    CHECK(advice == NULL && error.message[0] != 0);
    CHECK(gph_advice_text_write(s->advice, GPH_ADVICE_BOTH, 0, gph_write_file, stdout,
                                &error) == GPH_E_STATE); /* not finished */
    CHECK(gph_advice_json_write(NULL, GPH_ADVICE_BOTH, gph_write_file, stdout, &error) ==
          GPH_E_INVALID);
    CHECK(gph_advice_finish(NULL, &error) == GPH_E_INVALID);
    CHECK(gph_advice_count(NULL) == 0);
    (void)finish(s);
    CHECK(gph_advice_finish(s->advice, &error) == GPH_E_STATE);
    CHECK(gph_advice_prediction(s->advice, 9) == NULL);
    gph_advice_destroy(NULL);
    end(s);
}

static void survives_every_failed_allocation(void)
{
    for (long nth = 0;; nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {.realloc = fault_realloc, .user = &heap};
        story *s = begin(&allocator);
        gph_status status = GPH_E_NO_MEMORY;
        if (s != NULL) {
            chain(s, 5, 5000, 6);
            for (int i = 0; i < 6; i++) {
                call_of(s, GPHI_CALL_cuMemAlloc, NULL, 2000);
                s->thread ^= 1; /* hands over */
                kernel(s, 300);
                wait_for(s, 1000);
            }
            (void)finish(s);
            status = s->status;
            end(s);
        }
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (status == GPH_OK)
            return;
    }
}

int main(void)
{
    RUN(launch_bound_chain_pays);
    RUN(busy_gpu_does_not_pay);
    RUN(what_a_thread_takes_to_go_on_does_not_stay);
    RUN(what_the_doctor_mostly_takes_itself_is_unknown);
    RUN(what_the_doctor_may_cost_more_is_said);
    RUN(fewer_than_three_repetitions_are_unknown);
    RUN(noise_is_measured_and_said);
    RUN(sizes_that_differ_need_buckets);
    RUN(few_of_another_size_stay_outside);
    RUN(updates_are_counted);
    RUN(token_is_found_and_not_the_problem);
    RUN(host_time_between_single_calls_stays);
    RUN(last_repetition_counts);
    RUN(part_of_a_step_does_not_replace_it);
    RUN(a_copy_is_frozen_or_fine_not_both);
    RUN(without_windows_it_is_unknown);
    RUN(outer_loop_wins);
    RUN(steps_between_waits_are_one_graph_each);
    RUN(waits_cut);
    RUN(what_is_in_the_way_is_said);
    RUN(forks_do_not_escape);
    RUN(nothing_repeats);
    RUN(wrong_use_is_refused);
    RUN(survives_every_failed_allocation);
    return test_done();
}
