// SPDX-License-Identifier: Apache-2.0
/* R88-R93 and what was measured beside them: where captures begin and end, how streams
 * join, and what cannot be asked or waited for meanwhile. */
#include "capture_bench.h"

/* ---- R88: begin ---- */

static void captures_begin_on_streams_that_can(void)
{
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, begin(CU_STREAM_LEGACY, GLOBAL));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, begin(NULL, RELAXED));
    REFUSED(INVALID_VALUE, begin(s.a, (CUstreamCaptureMode)3));
    REFUSED(INVALID_VALUE, begin(s.a, (CUstreamCaptureMode)-1));
    CHECK(status(s.a) == CU_STREAM_CAPTURE_STATUS_NONE);
    OK(begin(CU_STREAM_PER_THREAD, GLOBAL));
    end_with(CU_STREAM_PER_THREAD, 0);
}

static void a_stream_captures_once(void)
{
    OK(begin(s.a, GLOBAL));
    REFUSED(ILLEGAL_STATE, begin(s.a, GLOBAL));
    REFUSED(INVALID_VALUE, begin(s.a, (CUstreamCaptureMode)9));
    CHECK(status(s.a) == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    fork_b();
    REFUSED(ILLEGAL_STATE, begin(s.b, GLOBAL)); /* it joined */
    end_with(s.a, 0);
    OK(begin(s.a, GLOBAL));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, allocate());
    REFUSED(ILLEGAL_STATE, begin(s.a, GLOBAL)); /* invalid, but not over */
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(begin(s.a, GLOBAL));
    end_with(s.a, 0);
}

static void a_graph_is_captured_into_once(void)
{
    CUgraph graph;
    CUgraphNode root;
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddEmptyNode(&root, graph, NULL, 0));
    OK(cu.cuStreamBeginCaptureToGraph(s.a, graph, &root, NULL, 1, RELAXED));
    REFUSED(ILLEGAL_STATE,
            cu.cuStreamBeginCaptureToGraph(s.b, graph, NULL, NULL, 0, RELAXED));
    CHECK(status(s.b) == CU_STREAM_CAPTURE_STATUS_NONE);
    OK(put(s.a, 0, 8));
    CHECK(end(s.a) == graph);
    CHECK(nodes_of(graph) == 2 && edges_of(graph) == 1);
    run_graph(graph);
    CHECK(word(0) == 8);
    REFUSED(INVALID_VALUE, cu.cuStreamBeginCaptureToGraph(s.a, graph, NULL, NULL, 0,
                                                          (CUstreamCaptureMode)3));
    REFUSED(
        STREAM_CAPTURE_UNSUPPORTED,
        cu.cuStreamBeginCaptureToGraph(CU_STREAM_LEGACY, graph, NULL, NULL, 0, GLOBAL));
    OK(cu.cuGraphDestroy(graph));
}

/* ---- R89: end ---- */

static void captures_end_where_they_began(void)
{
    CUgraph graph;
    REFUSED(ILLEGAL_STATE, cu.cuStreamEndCapture(s.a, &graph));
    REFUSED(ILLEGAL_STATE, cu.cuStreamEndCapture(CU_STREAM_LEGACY, &graph));
    REFUSED(ILLEGAL_STATE, cu.cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph));
    OK(begin(s.a, GLOBAL));
    fork_b();
    REFUSED(STREAM_CAPTURE_UNMATCHED, cu.cuStreamEndCapture(s.b, &graph));
    CHECK(status(s.a) == CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    CHECK(status(s.b) == CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    REFUSED(STREAM_CAPTURE_INVALIDATED, put(s.b, 0, 1));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK(status(s.b) == CU_STREAM_CAPTURE_STATUS_NONE);
}

static void only_relaxed_captures_end_in_another_thread(void)
{
    static const CUstreamCaptureMode strict[] = {GLOBAL, THREAD_LOCAL};
    for (int i = 0; i < 2; i++) {
        OK(begin(s.a, strict[i]));
        OK(put(s.a, 0, 1));
        CHECK(elsewhere(end_a) == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
        CHECK(status(s.a) == CU_STREAM_CAPTURE_STATUS_NONE); /* it was the end */
        end_fails(s.a, CUDA_ERROR_ILLEGAL_STATE);
    }
    OK(begin(s.a, RELAXED));
    OK(put(s.a, 0, 1));
    CHECK(elsewhere(end_a) == CUDA_SUCCESS);
}

/* Which of several reasons an end gives: invalid, unjoined, another thread. */
static void an_end_has_one_reason(void)
{
    OK(begin(s.a, GLOBAL));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, allocate());
    CHECK(elsewhere(end_a) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(begin(s.a, GLOBAL));
    OK(put(s.a, 0, 1));
    fork_b();
    OK(put(s.b, 1, 1));
    CHECK(elsewhere(end_a) == CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    CHECK(status(s.b) == CU_STREAM_CAPTURE_STATUS_NONE);
    OK(begin(s.a, GLOBAL));
    OK(put(s.a, 0, 1));
    OK(cu.cuStreamEndCapture(s.a, NULL)); /* the graph is dropped */
    CHECK(elsewhere(end_a) == CUDA_ERROR_ILLEGAL_STATE);
    OK(begin(s.a, GLOBAL));
    CHECK(elsewhere(end_a) == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
}

/* Also the caller's own: it is destroyed. */
static void a_failed_capture_takes_its_graph(void)
{
    CUgraph graph;
    size_t count = 0;
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuStreamBeginCaptureToGraph(s.a, graph, NULL, NULL, 0, GLOBAL));
    OK(put(s.a, 0, 1));
    fork_b();
    OK(put(s.b, 1, 1));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    REFUSED(INVALID_VALUE, cu.cuGraphGetNodes(graph, NULL, &count));
}

static void a_destroyed_origin_ends_its_capture(void)
{
    OK(begin(s.a, GLOBAL));
    OK(put(s.a, 0, 1));
    fork_b();
    OK(cu.cuStreamDestroy(s.a));
    CHECK(status(s.b) == CU_STREAM_CAPTURE_STATUS_NONE);
    OK(allocate());
    OK(cu.cuCtxSynchronize());
    OK(cu.cuStreamCreate(&s.a, CU_STREAM_NON_BLOCKING));
    OK(begin(s.a, GLOBAL));
    OK(put(s.a, 0, 1));
    end_with(s.a, 1);
}

/* ---- R90: unjoined work ---- */

static void work_that_forked_has_to_be_joined(void)
{
    OK(begin(s.a, GLOBAL));
    OK(put(s.a, 0, 1));
    fork_b();
    OK(put(s.b, 1, 1));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    OK(put(s.b, 1, 2)); /* b is free again */
    OK(cu.cuStreamSynchronize(s.b));
    CHECK(word(1) == 2);

    OK(begin(s.a, GLOBAL)); /* recording alone joins nothing */
    OK(put(s.a, 0, 1));
    fork_b();
    OK(put(s.b, 1, 1));
    OK(cu.cuEventRecord(s.join, s.b));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);

    OK(begin(s.a, GLOBAL)); /* nor does an event before the last work */
    OK(put(s.a, 0, 1));
    fork_b();
    OK(put(s.b, 1, 1));
    join_b();
    OK(put(s.b, 2, 1));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
}

static void a_fork_without_work_needs_no_join(void)
{
    OK(begin(s.a, GLOBAL));
    OK(put(s.a, 0, 1));
    fork_b();
    OK(put(s.a, 0, 2));
    end_with(s.a, 2);
    CHECK(status(s.b) == CU_STREAM_CAPTURE_STATUS_NONE);
}

static void joins_may_go_through_other_streams(void)
{
    OK(begin(s.a, GLOBAL));
    OK(put(s.a, 0, 1));
    fork_b();
    OK(put(s.b, 1, 2));
    OK(cu.cuEventRecord(s.other, s.b));
    OK(cu.cuStreamWaitEvent(s.c, s.other, 0));
    OK(put(s.c, 2, 3));
    OK(cu.cuEventRecord(s.join, s.c));
    OK(cu.cuStreamWaitEvent(s.a, s.join, 0));
    CUgraph graph = end(s.a);
    CHECK(nodes_of(graph) == 3 && edges_of(graph) == 2);
    run_graph(graph);
    CHECK(word(0) == 1 && word(1) == 2 && word(2) == 3);
    OK(cu.cuGraphDestroy(graph));
}

/* What dependency edits cut off, or nodes added by hand, need no join. */
static void edits_are_no_forks(void)
{
    CUgraphNode extra, first;
    OK(begin(s.a, GLOBAL));
    OK(put(s.a, 0, 1));
    fork_b();
    OK(put(s.b, 1, 1));
    OK(cu.cuStreamUpdateCaptureDependencies(s.b, NULL, NULL, 0,
                                            CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    end_with(s.a, 2);

    OK(begin(s.a, GLOBAL));
    OK(put(s.a, 0, 1));
    first = frontier(s.a);
    OK(cu.cuGraphAddEmptyNode(&extra, captured_graph(s.a), &first, 1));
    end_with(s.a, 2);

    OK(begin(s.a, GLOBAL)); /* and an edit can join */
    OK(put(s.a, 0, 1));
    fork_b();
    OK(put(s.b, 1, 1));
    first = frontier(s.b);
    OK(cu.cuStreamUpdateCaptureDependencies(s.a, &first, NULL, 1,
                                            CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    end_with(s.a, 2);
}

/* Not even when what it is after is cut off from the origin. */
static void a_fork_without_work_may_be_cut_off(void)
{
    OK(begin(s.a, GLOBAL));
    OK(put(s.a, 0, 1));
    fork_b();
    OK(cu.cuStreamUpdateCaptureDependencies(s.a, NULL, NULL, 0,
                                            CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    end_with(s.a, 1);

    OK(begin(s.a, GLOBAL)); /* with work it needs one */
    OK(put(s.a, 0, 1));
    fork_b();
    OK(put(s.b, 1, 1));
    OK(cu.cuStreamUpdateCaptureDependencies(s.a, NULL, NULL, 0,
                                            CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
}

static void destroyed_streams_leave_their_work(void)
{
    OK(begin(s.a, GLOBAL));
    OK(put(s.a, 0, 1));
    fork_b();
    OK(put(s.b, 1, 1));
    OK(cu.cuStreamDestroy(s.b));
    CHECK(status(s.a) == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(put(s.a, 0, 2));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);

    OK(cu.cuStreamCreate(&s.b, CU_STREAM_NON_BLOCKING));
    OK(begin(s.a, GLOBAL));
    OK(put(s.a, 0, 1));
    fork_b();
    OK(put(s.b, 1, 1));
    join_b();
    OK(cu.cuStreamDestroy(s.b)); /* its work is joined */
    end_with(s.a, 2);
    OK(cu.cuStreamCreate(&s.b, CU_STREAM_NON_BLOCKING));
}

/* ---- R91: events ---- */

static void waiting_for_a_captured_event_joins(void)
{
    OK(begin(s.a, GLOBAL));
    OK(put(s.a, 0, 1));
    CHECK(status(s.b) == CU_STREAM_CAPTURE_STATUS_NONE);
    fork_b();
    CHECK(status(s.b) == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(put(s.b, 1, 2));
    OK(put(s.a, 2, 3));
    join_b();
    OK(put(s.a, 3, 4));
    CUgraph graph = end(s.a);
    CHECK(nodes_of(graph) == 4 && edges_of(graph) == 4);
    CHECK(word(1) == 0);
    run_graph(graph);
    for (unsigned i = 0; i < 4; i++)
        CHECK(word(i) == i + 1);
    OK(cu.cuGraphDestroy(graph));
}

static void foreign_events_isolate(void)
{
    OK(begin(s.a, GLOBAL));
    OK(cu.cuStreamWaitEvent(s.a, s.other, 0)); /* never recorded: nothing to wait for */
    end_with(s.a, 0);
    OK(cu.cuEventRecord(s.other, s.c));
    OK(cu.cuCtxSynchronize()); /* reached long ago, and foreign all the same */
    OK(begin(s.a, GLOBAL));
    REFUSED(STREAM_CAPTURE_ISOLATION, cu.cuStreamWaitEvent(s.a, s.other, 0));
    REFUSED(STREAM_CAPTURE_INVALIDATED, cu.cuStreamWaitEvent(s.a, s.other, 0));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cu.cuEventRecord(s.fork, s.a));
    OK(begin(s.a, GLOBAL)); /* its own earlier work is foreign, too */
    REFUSED(STREAM_CAPTURE_ISOLATION, cu.cuStreamWaitEvent(s.a, s.fork, 0));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(begin(s.a, GLOBAL));
    OK(put(s.a, 0, 1));
    fork_b();
    REFUSED(STREAM_CAPTURE_ISOLATION, cu.cuStreamWaitEvent(s.b, s.other, 0));
    CHECK(status(s.a) == CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void captures_do_not_merge(void)
{
    for (int with_work = 0; with_work < 2; with_work++) {
        OK(begin(s.a, GLOBAL));
        OK(begin(s.b, GLOBAL));
        if (with_work)
            OK(put(s.a, 0, 1));
        OK(cu.cuEventRecord(s.other, s.a));
        REFUSED(STREAM_CAPTURE_MERGE, cu.cuStreamWaitEvent(s.b, s.other, 0));
        CHECK(status(s.a) == CU_STREAM_CAPTURE_STATUS_INVALIDATED);
        CHECK(status(s.b) == CU_STREAM_CAPTURE_STATUS_INVALIDATED);
        end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        end_fails(s.b, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }
}

/* ---- R92: external events ---- */

static void external_flags_make_nodes(void)
{
    REFUSED(ILLEGAL_STATE,
            cu.cuEventRecordWithFlags(s.join, s.a, CU_EVENT_RECORD_EXTERNAL));
    REFUSED(ILLEGAL_STATE, cu.cuStreamWaitEvent(s.a, s.fork, CU_EVENT_WAIT_EXTERNAL));
    OK(cu.cuEventRecord(s.other, s.c));
    OK(begin(s.a, GLOBAL));
    REFUSED(INVALID_VALUE, cu.cuEventRecordWithFlags(s.join, s.a, 2));
    REFUSED(INVALID_VALUE, cu.cuStreamWaitEvent(s.a, s.join, 2));
    CHECK(status(s.a) == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cu.cuStreamWaitEvent(s.a, s.other, CU_EVENT_WAIT_EXTERNAL));
    OK(put(s.a, 0, 4));
    OK(cu.cuEventRecordWithFlags(s.join, s.a, CU_EVENT_RECORD_EXTERNAL));
    CUgraph graph = end(s.a);
    CHECK(nodes_of(graph) == 3 && edges_of(graph) == 2);
    CUgraphExec exec;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, s.a));
    OK(cu.cuEventSynchronize(s.join)); /* recorded by the launch */
    CHECK(word(0) == 4);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

/* An external record does not make the event one of the capture. */
static void external_records_do_not_capture_the_event(void)
{
    OK(begin(s.a, RELAXED));
    OK(cu.cuEventRecordWithFlags(s.other, s.a, CU_EVENT_RECORD_EXTERNAL));
    OK(cu.cuEventQuery(s.other));
    OK(cu.cuEventRecord(s.fork, s.a));
    OK(cu.cuEventRecordWithFlags(s.fork, s.a, CU_EVENT_RECORD_EXTERNAL));
    REFUSED(CAPTURED_EVENT, cu.cuEventQuery(s.fork));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

/* ---- R93: what is captured cannot be asked ---- */

static void capturing_streams_are_not_waited_for(void)
{
    OK(begin(s.a, RELAXED));
    fork_b();
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuStreamSynchronize(s.b));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuStreamSynchronize(s.a));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuStreamQuery(s.a));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(begin(s.a, RELAXED));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuStreamQuery(s.a));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static CUresult wait_for_context(void)
{
    return cu.cuCtxSynchronize();
}

static void capturing_contexts_are_not_waited_for(void)
{
    OK(begin(s.a, RELAXED));
    OK(begin(s.b, RELAXED));
    CHECK(elsewhere(wait_for_context) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED); /* both are in it */
    end_fails(s.b, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void other_contexts_are_not_concerned(void)
{
    CUcontext second;
    CUdeviceptr at;
    OK(begin(s.blocking, RELAXED));
    OK(cu.cuCtxCreate(&second, NULL, 0, 0));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuMemAlloc(&at, 64));
    OK(cu.cuMemsetD32Async(at, 0, 1, CU_STREAM_LEGACY));
    OK(cu.cuMemFree(at));
    OK(cu.cuCtxDestroy(second));
    OK(cu.cuCtxSetCurrent(s.context));
    end_with(s.blocking, 0);
}

static void captured_events_are_not_asked(void)
{
    float ms;
    OK(begin(s.a, RELAXED));
    OK(cu.cuEventRecord(s.timing, s.a));
    REFUSED(CAPTURED_EVENT, cu.cuEventElapsedTime(&ms, s.timing, s.timing));
    CHECK(status(s.a) == CU_STREAM_CAPTURE_STATUS_ACTIVE); /* did no harm */
    REFUSED(CAPTURED_EVENT, cu.cuEventQuery(s.timing));
    CHECK(status(s.a) == CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    REFUSED(INVALID_VALUE, cu.cuEventQuery(s.timing)); /* of an invalid capture */
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(begin(s.a, RELAXED));
    OK(cu.cuEventRecord(s.timing, s.a));
    REFUSED(CAPTURED_EVENT, cu.cuEventSynchronize(s.timing));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void events_of_captures_that_are_over(void)
{
    float ms;
    OK(begin(s.a, GLOBAL));
    OK(put(s.a, 0, 1));
    OK(cu.cuEventRecord(s.timing, s.a));
    end_with(s.a, 1);
    REFUSED(INVALID_VALUE, cu.cuEventQuery(s.timing));
    REFUSED(INVALID_VALUE, cu.cuEventSynchronize(s.timing));
    REFUSED(INVALID_VALUE, cu.cuEventElapsedTime(&ms, s.timing, s.timing));
    REFUSED(INVALID_VALUE, cu.cuStreamWaitEvent(s.b, s.timing, 0));
    OK(begin(s.b, GLOBAL));
    REFUSED(INVALID_VALUE, cu.cuStreamWaitEvent(s.b, s.timing, 0));
    end_fails(s.b, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cu.cuEventRecord(s.timing, s.a)); /* heals it */
    OK(cu.cuEventSynchronize(s.timing));
}

static void run(void)
{
    CAPTURE_TEST(R88, captures_begin_on_streams_that_can);
    CAPTURE_TEST(R88, a_stream_captures_once);
    CAPTURE_TEST(R88, a_graph_is_captured_into_once);
    CAPTURE_TEST(R89, captures_end_where_they_began);
    CAPTURE_TEST(R89, only_relaxed_captures_end_in_another_thread);
    CAPTURE_TEST(R89, an_end_has_one_reason);
    CAPTURE_TEST(M_R89_graph, a_failed_capture_takes_its_graph);
    CAPTURE_TEST(M_R89_origin, a_destroyed_origin_ends_its_capture);
    CAPTURE_TEST(R90, work_that_forked_has_to_be_joined);
    CAPTURE_TEST(R90, a_fork_without_work_needs_no_join);
    CAPTURE_TEST(R90, joins_may_go_through_other_streams);
    CAPTURE_TEST(R90, edits_are_no_forks);
    CAPTURE_TEST(R90, destroyed_streams_leave_their_work);
    CAPTURE_TEST(M_fork_alone, a_fork_without_work_may_be_cut_off);
    CAPTURE_TEST(R91, waiting_for_a_captured_event_joins);
    CAPTURE_TEST(R91, foreign_events_isolate);
    CAPTURE_TEST(R91, captures_do_not_merge);
    CAPTURE_TEST(R92, external_flags_make_nodes);
    CAPTURE_TEST(R92, external_records_do_not_capture_the_event);
    CAPTURE_TEST(R93, capturing_streams_are_not_waited_for);
    CAPTURE_TEST(R93, capturing_contexts_are_not_waited_for);
    CAPTURE_TEST(R93, other_contexts_are_not_concerned);
    CAPTURE_TEST(R93, captured_events_are_not_asked);
    CAPTURE_TEST(M_C09_over, events_of_captures_that_are_over);
}

int main(int argc, char **argv)
{
    return rule_main(argc, argv, run);
}
