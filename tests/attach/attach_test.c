// SPDX-License-Identifier: Apache-2.0
/* The attached library in program.c: what its ring says afterwards. */
#define _GNU_SOURCE
#include "attached.h"

/* ---- ends ---- */

static void check_end(const char *what, int expected, int how)
{
    CHECK(exit_of(what) == expected);
    const gphi_event *process = of_kind(GPHI_EVENT_PROCESS, 0);
    CHECK(process != NULL && records[0] == process);
    CHECK(process != NULL && gphi_event_word(process, 0) >= 12000 &&
          strstr(gphi_event_text(process, 0), what) != NULL &&
          strstr(gphi_event_text(process, 1), "libcuda.so.1") != NULL);
    CHECK(call_of(GPHI_CALL_cuMemAlloc, 0) != NULL);
    const gphi_event *end = of_kind(GPHI_EVENT_EXIT, 0);
    CHECK((end != NULL) == (how >= 0));
    if (end != NULL)
        CHECK(end->id == (uint64_t)how &&
              gphi_event_word(end, 0) ==
                  (uint64_t)(how == 1 && expected == 5 ? 0 : expected));
}

static void the_ring_survives_every_end(void)
{
    check_end("exit", 3, 0);
    check_end("_exit", 4, 1);
    check_end("quick", 5, 1);
    check_end("kill", -SIGKILL, -1);
    check_end("crash", -SIGSEGV, -1);
}

/* The nth call that the process ended in. */
static const gphi_event *unreturned(int nth)
{
    for (int i = 0; i < record_count; i++)
        if (records[i]->kind == GPHI_EVENT_CALL &&
            (records[i]->u.call.flags & GPHI_CALL_UNRETURNED) != 0 && nth-- == 0)
            return records[i];
    return NULL;
}

/* One call has not returned, and it is the last record. */
static void check_inside(const char *what, int expected, gphi_call_id call)
{
    const int end = exit_of(what);
    const gphi_event *in = unreturned(0);
    if (!CHECK(end == expected) || !CHECK(in != NULL)) {
        printf("%s: ended with %d\n", what, end);
        return;
    }
    CHECK(in == records[record_count - 1] && unreturned(1) == NULL);
    CHECK(in->u.call.call == call && in->u.call.result == CUDA_ERROR_UNKNOWN);
    CHECK(in->thread == of_kind(GPHI_EVENT_PROCESS, 0)->thread && in->stack != 0);
    bool has_stack = false;
    for (int i = 0; i < record_count; i++)
        has_stack |= records[i]->kind == GPHI_EVENT_STACK && records[i]->id == in->stack;
    CHECK(has_stack);
}

static void the_call_that_the_process_ended_in_is_known(void)
{
    check_inside("host-segv", -SIGSEGV, GPHI_CALL_cuStreamSynchronize);
    const gphi_event *stream = call_of(GPHI_CALL_cuStreamCreate, 0);
    CHECK(gphi_event_word(unreturned(0), 0) == gphi_event_word(stream, 0));
    check_inside("host-kill", -SIGKILL, GPHI_CALL_cuStreamSynchronize);
    check_inside("host-abort", -SIGABRT, GPHI_CALL_cuStreamSynchronize);
    check_inside("host-exit", 6, GPHI_CALL_cuStreamSynchronize);
    CHECK(of_kind(GPHI_EVENT_EXIT, 0) != NULL &&
          of_kind(GPHI_EVENT_EXIT, 0)->thread != unreturned(0)->thread);
    check_inside("launch-segv", -SIGSEGV, GPHI_CALL_cuLaunchKernel);
    const gphi_event *function = call_of(GPHI_CALL_cuModuleGetFunction, 0);
    CHECK(gphi_event_word(unreturned(0), 0) == gphi_event_word(function, 0) &&
          gphi_event_word(unreturned(0), 1) == 1 && unreturned(0)->word_count == 11);
    check_inside("getter-segv", -SIGSEGV, GPHI_CALL_cuMemGetInfo);
    CHECK(gphi_event_word(unreturned(0), 0) == 0); /* nothing was filled */
}

static void calls_that_have_returned_are_not_told_twice(void)
{
    CHECK(exit_of("kill") == -SIGKILL && unreturned(0) == NULL);
    CHECK(exit_of("exit") == 3 && unreturned(0) == NULL);
    CHECK(exit_of("threads") == 0 && unreturned(0) == NULL);
}

static void every_thread_that_waits_is_known(void)
{
    for (int kill = 0; kill < 2; kill++) {
        CHECK(exit_of(kill ? "waits-kill" : "waits-exit") == (kill ? -SIGKILL : 7));
        CHECK(unreturned(3) != NULL && unreturned(4) == NULL);
        for (int i = 0; i < 4 && unreturned(i) != NULL; i++)
            CHECK(unreturned(i)->u.call.call == GPHI_CALL_cuStreamSynchronize &&
                  (i == 0 || unreturned(i)->thread != unreturned(i - 1)->thread));
    }
}

static void a_call_that_was_left_by_a_jump_is_over(void)
{
    CHECK(exit_of("jump") == -SIGKILL);
    CHECK(unreturned(0) != NULL && unreturned(1) == NULL &&
          unreturned(0)->thread != of_kind(GPHI_EVENT_PROCESS, 0)->thread);
    const gphi_event *later = call_of(GPHI_CALL_cuCtxSetCurrent, 1);
    CHECK(later != NULL && (later->u.call.flags & GPHI_CALL_NESTED) == 0);
}

static void a_program_without_cuda_leaves_nothing(void)
{
    CHECK(exit_of("nothing") == 0 && ring_count == 0);
}

/* ---- ways in ---- */

static void calls_are_seen_however_they_are_found(void)
{
    for (int deep = 0; deep < (IS_SANITIZED ? 1 : 2); deep++) {
        CHECK(exit_of(deep ? "deepbind" : "dlsym") == 0);
        CHECK(call_of(GPHI_CALL_cuInit, 0) != NULL);
        const gphi_event *allocate = call_of(GPHI_CALL_cuMemAlloc, 0);
        CHECK(allocate != NULL && gphi_event_word(allocate, 0) != 0 &&
              gphi_event_word(allocate, 1) == 4096 && allocate->stack != 0);
        const gphi_event *copy = call_of(GPHI_CALL_cuMemcpyAsync, 0);
        CHECK(copy != NULL && (copy->u.call.flags & GPHI_CALL_PER_THREAD) != 0);
        CHECK(count_of(GPHI_EVENT_DEVICE) >= 1 && count_of(GPHI_EVENT_MODULE) > 2);
    }
}

static void all_calls_can_be_seen(void)
{
    CHECK(exit_of("lookups") == 0);
}

static void other_look_ups_mean_what_they_meant(void)
{
    CHECK(exit_of("next") == 0);
    CHECK(call_of(GPHI_CALL_cuInit, 0) != NULL);
}

static void what_is_not_there_is_not_found(void)
{
    CHECK(exit_of("absent") == 0);
}

/* ---- what is recorded ---- */

static void check_launch(void)
{
    const gphi_event *function = of_kind(GPHI_EVENT_FUNCTION, 0);
    CHECK(function != NULL && strcmp(gphi_event_text(function, 0), "store") == 0);
    CHECK(function != NULL && function->word_count == 6 &&
          gphi_event_word(function, 4) == 16 && gphi_event_word(function, 5) == 8);
    const gphi_event *launch = call_of(GPHI_CALL_cuLaunchKernel, 0);
    if (!CHECK(launch != NULL))
        return;
    const gphi_part *params = gphi_event_part(launch, GPHI_PART_PARAMS, 0);
    uint64_t arguments[3] = {0};
    if (CHECK(params != NULL && params->bytes == 24))
        memcpy(arguments, gphi_part_bytes(params), 24);
    const uint64_t memory = gphi_event_word(call_of(GPHI_CALL_cuMemAlloc, 0), 0);
    CHECK(arguments[0] == memory && (uint32_t)arguments[1] == 42 &&
          arguments[2] == memory + 256);
    CHECK(launch->u.call.status == 1 && launch->id != 0 && launch->u.call.open == 1);
    CHECK(launch->u.call.capture ==
          call_of(GPHI_CALL_cuStreamBeginCapture, 0)->u.call.capture);
}

static void check_snapshots(void)
{
    const gphi_event *captured = of_kind(GPHI_EVENT_GRAPH, 0);
    const gphi_event *whole = of_kind(GPHI_EVENT_GRAPH, 1);
    const gphi_event *child = of_kind(GPHI_EVENT_GRAPH, 2);
    if (!CHECK(captured != NULL && whole != NULL && child != NULL))
        return;
    CHECK(gphi_event_word(captured, 1) == 3 && gphi_event_word(captured, 2) == 2 &&
          gphi_event_word(captured, 3) == GPHI_SNAPSHOT_CAPTURED &&
          gphi_event_word(captured, 7) != 0);
    CHECK(gphi_event_word(whole, 1) == 4 &&
          gphi_event_word(whole, 3) == GPHI_SNAPSHOT_INSTANTIATED &&
          gphi_event_word(whole, 4) ==
              gphi_event_word(call_of(GPHI_CALL_cuGraphInstantiateWithFlags, 0), 0));
    CHECK(gphi_event_word(child, 1) == 2 &&
          gphi_event_word(child, 3) == GPHI_SNAPSHOT_CHILD &&
          gphi_event_word(child, 5) == gphi_event_word(whole, 0) &&
          gphi_event_word(child, 6) != 0);
    const gphi_event *node = of_kind(GPHI_EVENT_NODE, 0); /* the kernel */
    CHECK(gphi_event_word(node, GPHI_NODE_TYPE) == 0 &&
          node->id == call_of(GPHI_CALL_cuLaunchKernel, 0)->id &&
          gphi_event_word(node, GPHI_NODE_FUNCTION) ==
              of_kind(GPHI_EVENT_FUNCTION, 0)->id &&
          gphi_event_part(node, GPHI_PART_PARAMS, 0)->bytes == 24);
    const gphi_event *copy = of_kind(GPHI_EVENT_NODE, 1);
    CHECK(gphi_event_part(copy, GPHI_PART_STRUCT, 0)->bytes == sizeof(CUDA_MEMCPY3D));
    const gphi_event *edges = of_kind(GPHI_EVENT_EDGES, 0);
    CHECK(edges->id == gphi_event_word(captured, 0) && edges->word_count == 4 &&
          gphi_event_word(edges, 0) == 1 &&
          gphi_event_word(edges, 2) == (UINT64_C(1) << 32 | 2));
    CHECK(count_of(GPHI_EVENT_NODE) == 3 + 4 + 2 && count_of(GPHI_EVENT_POINTER) >= 3);
    const gphi_event *pointer = of_kind(GPHI_EVENT_POINTER, 0);
    CHECK(gphi_event_word(pointer, 0) != 0 && gphi_event_word(pointer, 1) >= 4096);
}

static void a_capture_is_recorded_whole(void)
{
    CHECK(exit_of("capture") == 0);
    check_launch();
    check_snapshots();
    const gphi_event *copy = call_of(GPHI_CALL_cuMemcpyHtoDAsync, 0);
    CHECK(copy != NULL && gphi_event_arg(copy, GPHI_PART_HASH, 1) != NULL);
    const gphi_event *end = call_of(GPHI_CALL_cuStreamEndCapture, 0);
    CHECK(end != NULL && end->u.call.capture != 0 && end->u.call.status == 0 &&
          gphi_event_word(end, 1) == of_kind(GPHI_EVENT_GRAPH, 0)->id);
    const gphi_event *begin = call_of(GPHI_CALL_cuStreamBeginCapture, 0);
    CHECK(begin != NULL && begin->word_count == 3 && gphi_event_word(begin, 1) == 1);
    const gphi_event *launch = call_of(GPHI_CALL_cuGraphLaunch, 0);
    CHECK(launch != NULL && launch->u.call.open == 0 && launch->u.call.status == 0xFF);
}

/* The nth snapshot: how many nodes it has, and which it repeats. */
static void check_snapshot(int nth, uint64_t nodes, uint64_t same_as)
{
    const gphi_event *graph = of_kind(GPHI_EVENT_GRAPH, nth);
    if (!CHECK(graph != NULL))
        return;
    CHECK(gphi_event_word(graph, 1) == nodes && gphi_event_word(graph, 8) == same_as);
    uint64_t written = 0;
    for (int i = 0; i < record_count; i++)
        written += records[i]->kind == GPHI_EVENT_NODE &&
                   gphi_event_word(records[i], 0) == gphi_event_word(graph, 0);
    CHECK(written == nodes);
}

static void a_graph_that_has_not_changed_is_not_written_again(void)
{
    CHECK(exit_of("again") == 0);
    const gphi_event *captured = of_kind(GPHI_EVENT_GRAPH, 0);
    if (!CHECK(captured != NULL))
        return;
    const uint64_t first = gphi_event_word(captured, 0);
    check_snapshot(0, 2, 0);
    check_snapshot(1, 0, first); /* its executable */
    check_snapshot(2, 0, first); /* an update */
    check_snapshot(3, 2, 0);     /* some graph was made */
    check_snapshot(4, 3, 0);     /* a node was added */
    CHECK(of_kind(GPHI_EVENT_GRAPH, 5) == NULL);
}

static void failures_come_with_the_drivers_words(void)
{
    CHECK(exit_of("fail") == 0);
    const gphi_event *failed = call_of(GPHI_CALL_cuMemAlloc, 1);
    CHECK(failed != NULL && failed->u.call.result == 900 && failed->u.call.open == 1 &&
          failed->stack != 0 && gphi_event_word(failed, 0) == 0);
    CHECK(count_of(GPHI_EVENT_LOG) >= 2);
    const gphi_event *log = of_kind(GPHI_EVENT_LOG, 0);
    CHECK(log != NULL && log->stack != 0 && gphi_event_text(log, 0)[0] != '\0');
    const gphi_event *later = call_of(GPHI_CALL_cuMemAlloc, 2);
    CHECK(later != NULL && later->u.call.result == 0 && later->u.call.open == 0);
}

static void tier_0_has_the_drivers_words_alone(void)
{
    const int status = run_with("fail", "GPH_DOCTOR_TIER", "0");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(count_of(GPHI_EVENT_LOG) >= 2 && count_of(GPHI_EVENT_CALL) == 0);
    CHECK(count_of(GPHI_EVENT_PROCESS) == 1);
}

static void the_drivers_own_door_is_enough_for_tier_0(void)
{
    const int status = run_with("fail", "no preload", "");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(count_of(GPHI_EVENT_LOG) >= 2 && count_of(GPHI_EVENT_PROCESS) == 1);
}

static void another_injection_library_is_called(void)
{
    char path[100];
    snprintf(path, sizeof(path), "%s/called", folder);
    setenv("CHAINED_FILE", path, 1);
    forget();
    const int status = run_with("chained", "GPH_DOCTOR_CHAIN", CHAINED_PATH);
    unsetenv("CHAINED_FILE");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(was_called);
}

static void calls_of_host_functions_are_marked(void)
{
    CHECK(exit_of("host") == 0);
    const gphi_event *inside = call_of(GPHI_CALL_cuMemFree, 0);
    CHECK(inside != NULL &&
          (IS_SANITIZED || (inside->u.call.flags & GPHI_CALL_HOST_NODE) != 0));
    const gphi_event *outside = call_of(GPHI_CALL_cuStreamSynchronize, 0);
    CHECK(outside != NULL && (outside->u.call.flags & GPHI_CALL_HOST_NODE) == 0);
}

/* ---- CUPTI, a fake one ---- */

static void nodes_have_their_lines_by_cupti(void)
{
    setenv("GPH_DOCTOR_CUPTI_LIB", FAKE_CUPTI_PATH, 1);
    int status = run_with("cupti", "GPH_DOCTOR_CUPTI", "nodes");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    const gphi_event *origin = of_kind(GPHI_EVENT_ORIGIN, 0);
    const gphi_event *add = call_of(GPHI_CALL_cuGraphAddEmptyNode, 0);
    CHECK(count_of(GPHI_EVENT_ORIGIN) == 1 && origin != NULL && add != NULL &&
          origin->id == gphi_event_word(add, 0) && origin->stack != 0 &&
          gphi_event_word(origin, 0) == gphi_event_word(add, 1) &&
          gphi_event_word(origin, 4) == origin->id >> 4);
    CHECK(count_of(GPHI_EVENT_GPU) == 0);

    status = run_with("cupti", "GPH_DOCTOR_CUPTI", "nodes,kernels");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(count_of(GPHI_EVENT_ORIGIN) == 2); /* held on, since times are asked for */
    CHECK(count_of(GPHI_EVENT_GPU) == 4);    /* a flush at the wait, one at the end */
    const gphi_event *kernel = of_kind(GPHI_EVENT_GPU, 0);
    const gphi_event *wait = call_of(GPHI_CALL_cuStreamSynchronize, 0);
    CHECK(kernel != NULL && kernel->id == 900 &&
          gphi_event_word(kernel, 0) == GPHI_GPU_KERNEL &&
          strcmp(gphi_event_text(kernel, 0), "a_kernel") == 0 &&
          gphi_event_word(kernel, 3) == 7 && gphi_event_word(kernel, 5) == 77 &&
          gphi_event_word(kernel, 2) - gphi_event_word(kernel, 1) == 3000);
    const uint64_t there = gphi_event_word(kernel, 2); /* by the host's clock */
    CHECK(wait != NULL && there + 1000000000 > wait->time_ns &&
          there < wait->time_ns + 1000000000);
    unsetenv("GPH_DOCTOR_CUPTI_LIB");
}

static void another_tool_that_holds_cupti_is_told(void)
{
    setenv("GPH_DOCTOR_CUPTI_LIB", FAKE_CUPTI_PATH, 1);
    setenv("FAKE_CUPTI_HELD", "1", 1);
    const int status = run_with("cupti", "GPH_DOCTOR_CUPTI", "nodes,kernels");
    unsetenv("FAKE_CUPTI_HELD");
    unsetenv("GPH_DOCTOR_CUPTI_LIB");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(count_of(GPHI_EVENT_LOG) == 1 &&
          strstr(gphi_event_text(of_kind(GPHI_EVENT_LOG, 0), 0), "another tool") != NULL);
    CHECK(count_of(GPHI_EVENT_GPU) == 0 && count_of(GPHI_EVENT_ORIGIN) == 0);
    CHECK(call_of(GPHI_CALL_cuGraphLaunch, 0) != NULL);
}

/* ---- processes and threads ---- */

static void children_have_rings_of_their_own(void)
{
    CHECK(exit_of("fork") == 0 && ring_count == 1); /* the child called nothing */
    CHECK(count_of(GPHI_EVENT_EXIT) == 1 && count_of(GPHI_EVENT_PROCESS) == 1);
    CHECK(call_of(GPHI_CALL_cuLaunchKernel, 0) != NULL); /* after both children */
    CHECK(exit_of("forkfirst") == 0 && ring_count == 1); /* only the child called */
    CHECK(exit_of("exec") == 3 && ring_count == 2);
    CHECK(count_of(GPHI_EVENT_PROCESS) == 2 && count_of(GPHI_EVENT_EXIT) == 1);
}

static void threads_are_told_apart(void)
{
    CHECK(exit_of("threads") == 0);
    CHECK(count_of(GPHI_EVENT_THREAD) == 5);
    int named = 0;
    for (int i = 0; i < 5; i++)
        named += strcmp(gphi_event_text(of_kind(GPHI_EVENT_THREAD, i), 0), "worker") == 0;
    CHECK(named == 4);
    CHECK(count_of(GPHI_EVENT_GRAPH) == 160);
    for (int i = 0; i < record_count; i++) /* a graph's nodes follow it in its thread */
        if (records[i]->kind == GPHI_EVENT_CALL)
            CHECK(records[i]->u.call.result == 0 && records[i]->stack != 0);
    CHECK(call_of(GPHI_CALL_cuGraphDestroy, 79) != NULL &&
          call_of(GPHI_CALL_cuGraphDestroy, 80) == NULL);
}

int main(void)
{
    if (!attached_begin("attach_test"))
        return 77;
    RUN(the_ring_survives_every_end);
    RUN(the_call_that_the_process_ended_in_is_known);
    RUN(calls_that_have_returned_are_not_told_twice);
    RUN(every_thread_that_waits_is_known);
    RUN(a_call_that_was_left_by_a_jump_is_over);
    RUN(a_program_without_cuda_leaves_nothing);
    RUN(calls_are_seen_however_they_are_found);
    RUN(all_calls_can_be_seen);
    RUN(other_look_ups_mean_what_they_meant);
    RUN(what_is_not_there_is_not_found);
    RUN(a_capture_is_recorded_whole);
    RUN(a_graph_that_has_not_changed_is_not_written_again);
    RUN(failures_come_with_the_drivers_words);
    RUN(tier_0_has_the_drivers_words_alone);
    RUN(the_drivers_own_door_is_enough_for_tier_0);
    RUN(another_injection_library_is_called);
    RUN(calls_of_host_functions_are_marked);
    RUN(nodes_have_their_lines_by_cupti);
    RUN(another_tool_that_holds_cupti_is_told);
    RUN(children_have_rings_of_their_own);
    RUN(threads_are_told_apart);
    attached_end();
    return test_done();
}
