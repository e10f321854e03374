// SPDX-License-Identifier: Apache-2.0
/* Control flow that is captured: what runs at each replay, beside what C does with the
 * same conditions; nesting, regions, pools, refusals.
 *
 * Work is a log on the device: mark(n) appends n, step() counts a word down, so that the
 * log of a replay is the program's own trace. */
#include "flow_run.h"

/* ---- branches ---- */

static void an_if_runs_by_a_word(void)
{
    gph_capture *capture = open_capture(NULL);
    gph_condition condition = word_at(word(0));
    mark(1);
    CHECK_OK(gph_capture_if(capture, &condition, 1, &error), error);
    mark(2);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    mark(3);
    struct made made = close_capture(capture);
    for (unsigned value = 0; value < 3; value++) {
        put(0, value);
        if (value == 0)
            LOGS(&made, 1, 3);
        else
            LOGS(&made, 1, 2, 3);
    }
    drop(&made);
}

static void an_else_runs_for_zero(void)
{
    gph_capture *capture = open_capture(NULL);
    gph_condition condition = compare_at(word(0), GPH_VALUE_I32, GPH_LESS);
    condition.constant.i = -5;
    CHECK_OK(gph_capture_if(capture, &condition, 2, &error), error);
    mark(1);
    CHECK_OK(gph_capture_else(capture, &error), error);
    mark(2);
    mark(3);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    mark(4);
    struct made made = close_capture(capture);
    put(0, (unsigned)-6);
    LOGS(&made, 1, 4);
    put(0, (unsigned)-5);
    LOGS(&made, 2, 3, 4);
    put(0, 7);
    LOGS(&made, 2, 3, 4);
    drop(&made);
}

static void a_choice_runs_one_case_or_none(void)
{
    gph_capture *capture = open_capture(NULL);
    gph_condition condition = word_at(word(0));
    CHECK_OK(gph_capture_switch(capture, &condition, 5, &error), error);
    mark(10);
    put(0, 3); /* which decides no more */
    CHECK_OK(gph_capture_case(capture, 1, &error), error);
    mark(11);
    CHECK_OK(gph_capture_case(capture, 3, &error), error);
    mark(13);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    mark(99);
    struct made made = close_capture(capture);
    for (unsigned value = 0; value < 7; value++) {
        put(0, value);
        if (value == 0 || value == 1 || value == 3)
            LOGS(&made, 10 + value, 99);
        else
            LOGS(&made, 99);
    }
    drop(&made);
}

/* ---- branches in line ---- */

static CUdeviceptr flag(int branch)
{
    return word(4) + 4 * (CUdeviceptr)branch;
}

static void flags_stand_for_branches(void)
{
    for (int has_compare = 0; has_compare < 2; has_compare++) {
        gph_capture *capture = open_capture(NULL);
        gph_condition condition = word_at(word(0));
        if (has_compare)
            condition = compare_at(word(0), GPH_VALUE_I32, GPH_GREATER_EQUAL);
        condition.constant.i = 2;
        condition.flags = flag(0);
        mark(1);
        CHECK_OK(gph_capture_if(capture, &condition, 2, &error), error);
        mark_if(2, flag(0));
        mark_if(3, flag(0));
        CHECK_OK(gph_capture_else(capture, &error), error);
        mark_if(4, flag(1));
        CHECK_OK(gph_capture_flow_end(capture, &error), error);
        mark(5);
        struct made made = close_capture(capture);
        gph_flow flow = GPH_SIZED(gph_flow);
        CHECK_OK(gph_recording_flow(made.recording, 0, &flow, &error), error);
        CHECK(flow.way == GPH_FLOW_FLAGS && flow.body_count == 2 && flow.largest == 2 &&
              !flow.reason && !flow.bodies[0]);
        for (unsigned value = 0; value < 4; value++) {
            put(0, value);
            if (has_compare ? value >= 2 : value != 0)
                LOGS(&made, 1, 2, 3, 5);
            else
                LOGS(&made, 1, 4, 5);
        }
        drop(&made);
    }
}

/* In a loop's body, and after others; the recording is what runs, twice. */
static void flags_stand_in_bodies(void)
{
    gph_capture *capture = open_capture(NULL);
    gph_condition rounds = word_at(word(0)), odd = word_at(word(1));
    odd.flags = flag(0);
    CHECK_OK(gph_capture_while(capture, &rounds, &error), error);
    CHECK_OK(gph_capture_if(capture, &odd, 1, &error), error);
    mark_if(2, flag(0));
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    mark(3);
    step(0);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    struct made made = close_capture(capture);
    CHECK(gph_recording_flow_count(made.recording) == 2);
    put(0, 2);
    put(1, 1);
    LOGS(&made, 2, 3, 2, 3);
    put(0, 2);
    put(1, 0);
    LOGS(&made, 3, 3);
    drop(&made);
}

static void branches_in_line_hold_kernels(void)
{
    gph_condition condition = word_at(word(0)), inner = word_at(word(1));
    gph_capture *capture = open_capture(NULL);
    condition.flags = flag(0);
    CHECK_OK(gph_capture_if(capture, &condition, 1, &error), error);
    CHECK(gph_capture_if(capture, &inner, 1, &error) == GPH_E_STATE &&
          says("a branch with flags is open"));
    CHECK(gph_capture_else(capture, &error) == GPH_E_STATE);
    CHECK(gph_capture_finish(capture, &(gph_recording *){NULL}, &error) == GPH_E_STATE &&
          says("the IF is open"));
    mark_if(1, flag(0));
    CU(MemsetD32Async, word(2), 1, 1, stream);
    CHECK(gph_capture_flow_end(capture, &error) == GPH_E_UNSUPPORTED);
    CHECK(says("body 0 of the IF: ") && says("node 2 (memset") && says("takes no flag"));
    CHECK(error.has_node && error.node == 2);
    CHECK_OK(gph_capture_abort(capture, &error), error);
    check_idle();

    capture = open_capture(NULL);
    CHECK(gph_capture_while(capture, &condition, &error) == GPH_E_INVALID &&
          says("only an IF"));
    condition.flags += 4;
    CHECK(gph_capture_if(capture, &condition, 1, &error) == GPH_E_INVALID &&
          says("condition.flags"));
    condition.flags -= 4;
    CHECK_OK(gph_capture_if(capture, &condition, 2, &error), error);
    mark_if(1, flag(0));
    CHECK_OK(gph_capture_abort(capture, &error), error);
    check_idle();
}

/* ---- loops ---- */

static void a_loop_asks_before_each_round(void)
{
    gph_capture *capture = open_capture(NULL);
    gph_condition condition = compare_at(word(0), GPH_VALUE_U32, GPH_GREATER);
    condition.right = word(1);
    CHECK_OK(gph_capture_while(capture, &condition, &error), error);
    mark(1);
    step(0);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    mark(2);
    struct made made = close_capture(capture);
    put(1, 2);
    put(0, 5);
    LOGS(&made, 1, 1, 1, 2);
    put(0, 2);
    LOGS(&made, 2);
    put(0, 3);
    LOGS(&made, 1, 2);
    drop(&made);
}

/* while (w0) { mark 1; if (w1) { mark 2; step w1 } else { switch (w0) ... } step w0 } */
static void bodies_nest(void)
{
    gph_capture *capture = open_capture(NULL);
    gph_condition rounds = word_at(word(0)), inner = word_at(word(1));
    CHECK_OK(gph_capture_while(capture, &rounds, &error), error);
    mark(1);
    CHECK_OK(gph_capture_if(capture, &inner, 2, &error), error);
    mark(2);
    step(1);
    CHECK_OK(gph_capture_else(capture, &error), error);
    CHECK_OK(gph_capture_switch(capture, &rounds, 3, &error), error);
    mark(30);
    CHECK_OK(gph_capture_case(capture, 1, &error), error);
    mark(31);
    CHECK_OK(gph_capture_case(capture, 2, &error), error);
    mark(32);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    step(0);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    struct made made = close_capture(capture);
    for (int replay = 0; replay < 3; replay++) {
        put(0, 4);
        put(1, 1);
        LOGS(&made, 1, 2, 1, 1, 32, 1, 31);
    }
    drop(&made);
}

static gph_status set_by_own(void *user, CUstream where, uint64_t handle, gph_error *why)
{
    CUdeviceptr at = word(0);
    void *params[] = {&handle, &at};
    ++*(int *)user;
    return gph_cuda_check(
        cu->LaunchKernel(own_setter, 1, 1, 1, 1, 1, 1, 0, where, params, NULL),
        "cuLaunchKernel", why);
}

static void a_kernel_of_the_callers_decides(void)
{
    gph_capture *capture = open_capture(NULL);
    int calls = 0;
    gph_condition condition = GPH_CONDITION_INIT;
    condition.kind = GPH_CONDITION_KERNEL;
    condition.set = set_by_own;
    condition.user = &calls;
    if (!has_nodes()) {
        CHECK(gph_capture_while(capture, &condition, &error) == GPH_E_UNSUPPORTED &&
              says("has no conditional nodes") && says("give a word"));
        CHECK_OK(gph_capture_abort(capture, &error), error);
        return;
    }
    CHECK_OK(gph_capture_while(capture, &condition, &error), error);
    CHECK(calls == 1);
    mark(1);
    step(0);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    CHECK(calls == 2);
    CHECK_OK(gph_capture_if(capture, &condition, 2, &error), error);
    mark(2);
    CHECK_OK(gph_capture_else(capture, &error), error);
    mark(3);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    struct made made = close_capture(capture);
    put(0, 2);
    LOGS(&made, 1, 1, 3);
    drop(&made);
}

/* ---- streams ---- */

static void forks_end_with_their_body(void)
{
    gph_capture *capture = open_capture(NULL);
    gph_condition condition = word_at(word(0));
    CHECK_OK(gph_capture_fork(capture, side, &error), error);
    mark_in(side, 1); /* never joined: AUTO does it before the IF */
    CHECK_OK(gph_capture_if(capture, &condition, 1, &error), error);
    CHECK_OK(gph_capture_fork(capture, side, &error), error);
    mark_in(side, 2);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    mark(3);
    struct made made = close_capture(capture);
    put(0, 1);
    LOGS(&made, 1, 2, 3);
    drop(&made);
}

static void a_forgotten_fork_is_named(void)
{
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    options.join = GPH_JOIN_NAME;
    gph_capture *capture = open_capture(&options);
    gph_condition condition = word_at(word(0));
    CHECK_OK(gph_region_push(capture, "outer", &error), error);
    CHECK_OK(gph_capture_if(capture, &condition, 1, &error), error);
    CHECK_OK(gph_region_push(capture, "inner", &error), error);
    CHECK_OK(gph_capture_fork(capture, side, &error), error);
    mark_in(side, 2);
    CHECK(gph_capture_flow_end(capture, &error) == (gph_status)CAPTURE_UNJOINED);
    CHECK(says("body 0 of the IF of region outer") && says("outer/inner") &&
          says(has_nodes() ? "kernel mark" : "kernel")); /* names came with 12.3, too */
    CHECK(gph_capture_finish(capture, &(gph_recording *){NULL}, &error) == GPH_E_STATE);
    CHECK_OK(gph_capture_abort(capture, &error), error);
    check_idle();
}

static void the_first_cause_is_named(void)
{
    gph_capture *capture = open_capture(NULL);
    gph_condition condition = word_at(word(0));
    CHECK_OK(gph_capture_while(capture, &condition, &error), error);
    mark(1);
    CHECK(cu->StreamSynchronize(stream) != GPH_OK);
    CHECK(gph_capture_flow_end(capture, &error) != GPH_OK);
    CHECK(says("body 0 of the loop"));
    if (names_refusals())
        CHECK(says("cuStreamSynchronize") && says("flow_test.c"));
    CHECK_OK(gph_capture_abort(capture, &error), error);
    check_idle();
}

/* ---- refusals ---- */

static void call_host(void *user)
{
    (void)user;
}

/* An event node: the flag says that it is one outside the capture. */
static void record_external(CUevent event)
{
    gph_cuda_fn found = NULL;
    CHECK_OK(gph_cuda_find(runtime, "cuEventRecordWithFlags", &found, &error), error);
    gph_status (*record)(CUevent, CUstream, unsigned) =
        (gph_status(*)(CUevent, CUstream, unsigned))found;
    CHECK(record(event, stream, 1) == GPH_OK);
}

static void what_a_body_cannot_hold_is_refused(void)
{
    static char pageable[8];
    if (!has_nodes())
        return; /* graphs that the host chooses hold whatever a graph does */
    for (int kind = 0; kind < 4; kind++) {
        gph_capture *capture = open_capture(NULL);
        gph_condition condition = word_at(word(0));
        CUevent event = NULL;
        CUdeviceptr allocated = 0;
        CHECK_OK(gph_capture_if(capture, &condition, 1, &error), error);
        mark(1);
        CHECK_OK(gph_region_push(capture, "bad", &error), error);
        if (kind == 0)
            CU(LaunchHostFunc, stream, call_host, NULL);
        else if (kind == 1)
            CU(MemcpyHtoDAsync, word(0), pageable, 4, stream);
        else if (kind == 2)
            CU(MemAllocAsync, &allocated, 4096, stream);
        else if (CU(EventCreate, &event, 0))
            record_external(event);
        CHECK_OK(gph_region_pop(capture, &error), error);
        CHECK(gph_capture_flow_end(capture, &error) == GPH_E_UNSUPPORTED);
        CHECK(says("body 0 of the IF") && says("node 1 (") && says("region bad") &&
              says("R83"));
        CHECK(error.has_node && error.node == 1);
        CHECK_OK(gph_capture_abort(capture, &error), error);
        if (event)
            CU(EventDestroy, event);
        check_idle();
    }
}

#define REFUSED(code, text, call) CHECK((call) == (code) && says(text))

static void wrong_conditions_are_refused(void)
{
    gph_capture *capture = open_capture(NULL);
    gph_condition condition = word_at(0);
    REFUSED(GPH_E_INVALID, "left is 0", gph_capture_if(capture, &condition, 1, &error));
    condition = word_at(word(0) + 2);
    REFUSED(GPH_E_INVALID, "not a multiple of 4",
            gph_capture_while(capture, &condition, &error));
    condition = compare_at(word(0), 6, GPH_LESS);
    REFUSED(GPH_E_INVALID, "type 6", gph_capture_if(capture, &condition, 1, &error));
    condition = compare_at(word(0), GPH_VALUE_U32, 5);
    REFUSED(GPH_E_INVALID, "relation 5", gph_capture_if(capture, &condition, 1, &error));
    condition = compare_at(word(0), GPH_VALUE_F64, GPH_LESS);
    condition.right = word(0) + 4;
    REFUSED(GPH_E_INVALID, "right", gph_capture_if(capture, &condition, 1, &error));
    condition.right = 0;
    REFUSED(GPH_E_INVALID, "takes a word",
            gph_capture_switch(capture, &condition, 2, &error));
    condition = word_at(word(0));
    REFUSED(GPH_E_INVALID, "not 3", gph_capture_if(capture, &condition, 3, &error));
    REFUSED(GPH_E_INVALID, "not 0", gph_capture_switch(capture, &condition, 0, &error));
    REFUSED(GPH_E_STATE, "no IF", gph_capture_flow_end(capture, &error));
    REFUSED(GPH_E_STATE, "no IF", gph_capture_else(capture, &error));
    condition.kind = 9;
    REFUSED(GPH_E_INVALID, "kind 9", gph_capture_if(capture, &condition, 1, &error));
    mark(1); /* nothing of it has changed the capture */
    struct made made = close_capture(capture);
    LOGS(&made, 1);
    CHECK(gph_recording_flow_count(made.recording) == 0);
    drop(&made);
}

static gph_status do_nothing(void *user, const gph_break *call, gph_error *why)
{
    (void)user;
    (void)call;
    (void)why;
    return GPH_OK;
}

static void what_is_open_must_be_closed(void)
{
    gph_recording *recording = NULL;
    CUgraph graph = NULL;
    gph_capture *capture = open_capture(NULL);
    gph_condition condition = word_at(word(0));
    CHECK_OK(gph_capture_if(capture, &condition, 1, &error), error);
    REFUSED(GPH_E_STATE, "was not given 2", gph_capture_else(capture, &error));
    REFUSED(GPH_E_STATE, "has no cases", gph_capture_case(capture, 1, &error));
    REFUSED(GPH_E_STATE, "the IF is open",
            gph_capture_finish(capture, &recording, &error));
    REFUSED(GPH_E_STATE, "the IF is open", gph_capture_end(capture, &graph, &error));
    REFUSED(GPH_E_STATE, "the IF is open",
            gph_capture_break(capture, do_nothing, NULL, &error));
    mark(1);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    REFUSED(GPH_E_STATE, "branches or loops", gph_capture_end(capture, &graph, &error));
    CHECK_OK(gph_capture_break(capture, do_nothing, NULL, &error), error);
    CHECK_OK(gph_capture_switch(capture, &condition, 3, &error), error);
    CHECK_OK(gph_capture_case(capture, 1, &error), error);
    REFUSED(GPH_E_STATE, "case 1: case 1 is open", gph_capture_case(capture, 1, &error));
    REFUSED(GPH_E_STATE, "there are 3", gph_capture_case(capture, 3, &error));
    mark(2);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    struct made made = close_capture(capture);
    put(0, 1);
    LOGS(&made, 1, 2);
    drop(&made);
}

static void an_abort_gives_all_back(void)
{
    for (int depth = 0; depth < 3; depth++) {
        gph_capture *capture = open_capture(NULL);
        gph_condition condition = word_at(word(0));
        for (int i = 0; i <= depth; i++)
            CHECK_OK(gph_capture_if(capture, &condition, 2, &error), error);
        mark(1);
        CHECK_OK(gph_capture_else(capture, &error), error);
        CHECK_OK(gph_capture_abort(capture, &error), error);
        check_idle();
    }
}

/* ---- what it says ---- */

static void recordings_list_them(void)
{
    gph_capture *capture = open_capture(NULL);
    gph_condition condition = word_at(word(0));
    CHECK_OK(gph_region_push(capture, "layer", &error), error);
    CHECK_OK(gph_capture_if(capture, &condition, 2, &error), error);
    mark(1);
    CHECK_OK(gph_capture_while(capture, &condition, &error), error);
    for (unsigned i = 0; i < 5; i++)
        mark(i);
    step(0);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    CHECK_OK(gph_region_pop(capture, &error), error);
    struct made made = close_capture(capture);
    CHECK(gph_recording_flow_count(made.recording) == 2);
    gph_flow flow = GPH_SIZED(gph_flow);
    CHECK_OK(gph_recording_flow(made.recording, 0, &flow, &error), error);
    CHECK(flow.kind == GPH_FLOW_IF && flow.body_count == 2 && flow.depth == 0 &&
          strcmp(flow.region, "layer") == 0);
    CHECK(flow.reason && strstr(flow.reason, has_forms() ? "some 10 small" : "12."));
    if (has_nodes()) {
        size_t nodes = 0;
        CU(GraphGetNodes, flow.bodies[0], NULL, &nodes);
        CHECK(nodes == 3u + !has_forms() && flow.largest == nodes);
    } else { /* the loop is in it, as nodes of the host's graphs */
        CHECK(flow.way == GPH_FLOW_HOST && !flow.bodies[0] && flow.largest == 7);
        CHECK(strstr(flow.reason, "no conditional nodes: the host waits"));
        CHECK(gph_recording_segment_count(made.recording) == 5);
    }
    CHECK_OK(gph_recording_flow(made.recording, 1, &flow, &error), error);
    CHECK(flow.kind == GPH_FLOW_WHILE && flow.depth == 1);
    if (has_nodes())
        CHECK(!flow.reason && flow.way == GPH_FLOW_NODE && flow.largest == 7);
    else
        CHECK(flow.reason && flow.way == GPH_FLOW_HOST && flow.largest == 6);
    CHECK(gph_recording_flow(made.recording, 2, &flow, &error) == GPH_E_INVALID &&
          says("has 2"));
    drop(&made);
}

/* ---- memory ---- */

static gph_arena *arena;

static gph_pool *new_pool(void)
{
    gph_pool *pool = NULL;
    CHECK_OK(gph_arena_create(runtime, NULL, &arena, &error), error);
    CHECK_OK(gph_pool_create(arena, NULL, &pool, &error), error);
    return pool;
}

static CUdeviceptr take(gph_pool *pool)
{
    CUdeviceptr at = 0;
    CHECK_OK(gph_pool_alloc(pool, 4096, stream, &at, &error), error);
    return at;
}

/* Branches exclude each other, so what one frees the other has. A loop's body runs again:
 * what it frees of the outside stays until the loop's end, what it made itself does not. */
static void bodies_share_what_they_may(void)
{
    gph_pool *pool = new_pool();
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    options.pool = pool;
    gph_capture *capture = open_capture(&options);
    gph_condition condition = word_at(word(0));
    CHECK_OK(gph_capture_if(capture, &condition, 2, &error), error);
    const CUdeviceptr first = take(pool);
    CHECK_OK(gph_pool_free(pool, first, stream, &error), error);
    CHECK_OK(gph_capture_else(capture, &error), error);
    const CUdeviceptr second = take(pool);
    CHECK(second == first);
    CHECK_OK(gph_pool_free(pool, second, stream, &error), error);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);

    const CUdeviceptr outside = take(pool);
    CHECK(outside == first);
    CHECK_OK(gph_capture_while(capture, &condition, &error), error);
    const CUdeviceptr own = take(pool);
    CHECK_OK(gph_pool_free(pool, own, stream, &error), error);
    CHECK(take(pool) == own);
    CHECK_OK(gph_pool_free(pool, own, stream, &error), error);
    CHECK_OK(gph_pool_free(pool, outside, stream, &error), error);
    CHECK(take(pool) == own); /* not `outside` */
    CHECK(take(pool) != outside);
    step(0);
    CHECK_OK(gph_pool_free(pool, own, stream, &error), error);
    CHECK_OK(gph_capture_flow_end(capture, &error), error);
    CHECK_OK(gph_capture_abort(capture, &error), error);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
    check_idle();
}

int main(void)
{
    if (!set_up())
        return test_done();
    RUN(an_if_runs_by_a_word);
    RUN(an_else_runs_for_zero);
    RUN(a_choice_runs_one_case_or_none);
    RUN(flags_stand_for_branches);
    RUN(flags_stand_in_bodies);
    RUN(branches_in_line_hold_kernels);
    RUN(a_loop_asks_before_each_round);
    RUN(bodies_nest);
    RUN(a_kernel_of_the_callers_decides);
    RUN(forks_end_with_their_body);
    RUN(a_forgotten_fork_is_named);
    RUN(the_first_cause_is_named);
    RUN(what_a_body_cannot_hold_is_refused);
    RUN(wrong_conditions_are_refused);
    RUN(what_is_open_must_be_closed);
    RUN(an_abort_gives_all_back);
    RUN(recordings_list_them);
    RUN(bodies_share_what_they_may);
    return test_done();
}
