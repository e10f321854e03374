// SPDX-License-Identifier: Apache-2.0
/* Capture, executables and description over a driver that can fail at any call. */
#include "fake_driver.h"
#include "fault.h"
#include "test.h"
#include <gph/replay.h>

#include <pthread.h>

static gph_runtime *open_fake(void)
{
    fake_reset();
    gph_runtime *runtime = NULL;
    gph_error error = {0};
    CHECK_OK(gphi_runtime_create(NULL, &fake_source, &runtime, &error), error);
    return runtime;
}

static void a_stream_is_captured_and_replayed(void)
{
    gph_runtime *runtime = open_fake();
    gph_error error = {0};
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    gph_exec *exec = NULL;
    CHECK_OK(gph_capture_begin(runtime, FAKE_STREAM, NULL, &capture, &error), error);
    CHECK_OK(gph_capture_end(capture, &graph, &error), error);
    CHECK(graph == FAKE_GRAPH);
    CHECK_OK(gph_exec_create(runtime, graph, NULL, &exec, &error), error);
    CHECK(fake.uploads == 1); /* before the first launch */
    CHECK(gph_exec_handle(exec) == FAKE_EXEC);
    for (int i = 0; i < 3; i++)
        CHECK_OK(gph_exec_launch(exec, FAKE_STREAM, &error), error);
    CHECK(fake.launches == 3);
    CHECK_OK(gph_exec_upload(exec, FAKE_STREAM, &error), error);
    CHECK(fake.uploads == 2);
    gph_exec_destroy(exec);
    gph_exec_destroy(NULL);
    CHECK(gph_cuda(runtime)->GraphDestroy(graph) == GPH_OK);
    CHECK(fake.live_execs == 0 && fake.live_graphs == 0);
    gph_close(runtime);
}

static void wrong_arguments_are_refused(void)
{
    gph_runtime *runtime = open_fake();
    gph_error error = {0};
    gph_capture *capture = NULL;
    gph_exec *exec = NULL;
    gph_capture_options mode = GPH_CAPTURE_OPTIONS_INIT;
    mode.mode = 4;
    CHECK(gph_capture_begin(runtime, NULL, NULL, &capture, &error) == GPH_E_INVALID);
    CHECK(gph_capture_begin(runtime, CU_STREAM_LEGACY, NULL, &capture, &error) ==
          GPH_E_INVALID);
    CHECK(gph_capture_begin(runtime, FAKE_STREAM, &mode, &capture, &error) ==
          GPH_E_INVALID);
    CHECK(strcmp(error.message, "options.mode 4 is not a gph_capture_mode") == 0);
    CHECK(gph_capture_begin(NULL, FAKE_STREAM, NULL, &capture, &error) == GPH_E_INVALID);
    CHECK(gph_capture_begin(runtime, (CUstream)(void *)&mode, NULL, &capture, &error) ==
          CUDA_ERROR_INVALID_HANDLE);
    CHECK(capture == NULL);

    gph_exec_options flags = GPH_EXEC_OPTIONS_INIT;
    flags.flags = 32;
    CHECK(gph_exec_create(runtime, FAKE_GRAPH, &flags, &exec, &error) == GPH_E_INVALID);
    CHECK(gph_exec_create(runtime, NULL, NULL, &exec, &error) == GPH_E_INVALID);
    CHECK(gph_exec_launch(NULL, FAKE_STREAM, &error) == GPH_E_INVALID);
    CHECK(gph_exec_upload(NULL, FAKE_STREAM, &error) == GPH_E_INVALID);
    CHECK(exec == NULL);
    gph_close(runtime);
}

static void a_captured_stream_is_not_captured_twice(void)
{
    gph_runtime *runtime = open_fake();
    gph_error error = {0};
    gph_capture *first = NULL, *second = NULL;
    CHECK_OK(gph_capture_begin(runtime, FAKE_STREAM, NULL, &first, &error), error);
    CHECK(gph_capture_begin(runtime, FAKE_STREAM, NULL, &second, &error) == GPH_E_STATE);
    CHECK(second == NULL && fake.capture == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CHECK(gph_capture_abort(first, &error) == GPH_OK);
    CHECK(gph_capture_abort(NULL, &error) == GPH_OK);
    CHECK(fake.capture == CU_STREAM_CAPTURE_STATUS_NONE && fake.live_graphs == 0);
    gph_close(runtime);
}

static void a_failed_capture_names_the_first_refusal(void)
{
    gph_runtime *runtime = open_fake();
    gph_error error = {0};
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    CHECK_OK(gph_capture_begin(runtime, FAKE_STREAM, NULL, &capture, &error), error);
    (void)fake_fail("cuMemAlloc", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    (void)fake_fail("cuCtxSynchronize", CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    fake.end_with = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    CHECK(gph_capture_end(capture, &graph, &error) ==
          CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK(graph == NULL && fake.capture == CU_STREAM_CAPTURE_STATUS_NONE);
    CHECK(strstr(error.message, "on its own thread") != NULL);
    CHECK(strstr(error.message, ": cuMemAlloc: cuMemAlloc makes no sense") != NULL);
    CHECK(strcmp(error.call, "cuStreamEndCapture") == 0 && error.hint[0] != '\0');

    fake.is_terse = 1; /* NVIDIA's log has no sentence for many a call */
    CHECK_OK(gph_capture_begin(runtime, FAKE_STREAM, NULL, &capture, &error), error);
    (void)fake_fail("cuStreamQuery", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    (void)fake_fail("cuMemAlloc", CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK(gph_capture_end(capture, &graph, &error) ==
          CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    const char *cause = strrchr(error.message, ':');
    CHECK(cause != NULL && strcmp(cause, ": cuStreamQuery") == 0);

    /* NVIDIA's names of symbols become those that programs call. */
    static const char *const symbols[] = {"cuMemAlloc_v2", "cuMemAlloc_v2_ptds",
                                          "cuMemAlloc_ptsz", "cuMemAlloc"};
    for (int i = 0; i < 4; i++) {
        CHECK_OK(gph_capture_begin(runtime, FAKE_STREAM, NULL, &capture, &error), error);
        (void)fake_fail(symbols[i], CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        CHECK(gph_capture_end(capture, &graph, &error) ==
              CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        CHECK(strcmp(gph_cause_last()->call, "cuMemAlloc") == 0);
    }

    fake.end_with = CUDA_SUCCESS; /* the next capture starts clean */
    CHECK_OK(gph_capture_begin(runtime, FAKE_STREAM, NULL, &capture, &error), error);
    CHECK_OK(gph_capture_end(capture, &graph, &error), error);
    gph_close(runtime);
}

/* Ends a capture that is invalid; what gph_cause_last() says of it then. */
static const gph_cause *fail_capture(gph_capture *capture)
{
    gph_error error = {0};
    CUgraph graph = NULL;
    fake.end_with = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    CHECK(gph_capture_end(capture, &graph, &error) ==
          CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    fake.end_with = CUDA_SUCCESS;
    return gph_cause_last();
}

static void *refuse_often(void *user)
{
    (void)user;
    for (int i = 0; i < 20; i++)
        (void)fake_fail("cuMemAlloc", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return NULL;
}

static void refuse_elsewhere(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, refuse_often, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void the_cause_is_told_from_its_consequences(void)
{
    gph_runtime *runtime = open_fake();
    gph_error error = {0};
    gph_capture *capture = NULL;
    /* Calls that fail for reasons of their own, and busy other threads, come last. */
    CHECK_OK(gph_capture_begin(runtime, FAKE_STREAM, NULL, &capture, &error), error);
    refuse_elsewhere();
    for (int i = 0; i < 10; i++)
        (void)fake_fail("cuPointerGetAttribute", CUDA_ERROR_INVALID_VALUE);
    (void)fake_fail("cuCtxSynchronize", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    (void)fake_fail("cuStreamQuery", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    (void)fake_fail("cuLaunchKernel", CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    const gph_cause *cause = fail_capture(capture);
    CHECK(strcmp(cause->call, "cuCtxSynchronize") == 0 && cause->is_own);
    CHECK(cause->code == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CHECK(strcmp(cause->text, "cuCtxSynchronize makes no sense") == 0);

    /* A bad launch invalidates a capture, too, with a code of no capture rule. */
    CHECK_OK(gph_capture_begin(runtime, FAKE_STREAM, NULL, &capture, &error), error);
    (void)fake_fail("cuLaunchKernel", CUDA_ERROR_INVALID_VALUE);
    (void)fake_fail("cuMemsetD8Async", CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK(strcmp(fail_capture(capture)->call, "cuLaunchKernel") == 0);

    /* What this thread saw is only a consequence of what another did. */
    CHECK_OK(gph_capture_begin(runtime, FAKE_STREAM, NULL, &capture, &error), error);
    refuse_elsewhere();
    (void)fake_fail("cuMemsetD8Async", CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    cause = fail_capture(capture);
    CHECK(strcmp(cause->call, "cuMemAlloc") == 0 && !cause->is_own);

    /* In global mode threads are equal, and time decides. */
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    options.mode = GPH_CAPTURE_GLOBAL;
    CHECK_OK(gph_capture_begin(runtime, FAKE_STREAM, &options, &capture, &error), error);
    refuse_elsewhere();
    (void)fake_fail("cuCtxSynchronize", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CHECK(strcmp(fail_capture(capture)->call, "cuMemAlloc") == 0);
    gph_close(runtime);
}

static void an_old_driver_says_that_it_cannot_name_it(void)
{
    gph_runtime *runtime = open_fake();
    gph_close(runtime);
    fake.version = 12040;
    gph_error error = {0};
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    CHECK_OK(gphi_runtime_create(NULL, &fake_source, &runtime, &error), error);
    CHECK_OK(gph_capture_begin(runtime, FAKE_STREAM, NULL, &capture, &error), error);
    fake.end_with = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    CHECK(gph_capture_end(capture, &graph, &error) == CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    CHECK(strstr(error.message, "refusal") == NULL);
    CHECK(strstr(error.hint, "CUDA 12.9 would name it") != NULL);
    gph_close(runtime);
}

struct other_thread {
    gph_capture *capture;
    gph_status end, abort;
};

static void *end_elsewhere(void *user)
{
    struct other_thread *other = user;
    CUgraph graph = NULL;
    gph_error error = {0};
    (void)fake_fail("cuMemAlloc", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    other->abort = gph_capture_abort(NULL, &error);
    other->end = gph_capture_end(other->capture, &graph, &error);
    return NULL;
}

static gph_status end_in_thread(gph_capture *capture)
{
    struct other_thread other = {.capture = capture};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, end_elsewhere, &other) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    return other.end;
}

static void another_thread_ends_only_a_relaxed_capture(void)
{
    gph_runtime *runtime = open_fake();
    gph_error error = {0};
    gph_capture *capture = NULL;
    CHECK_OK(gph_capture_begin(runtime, FAKE_STREAM, NULL, &capture, &error), error);
    CHECK(end_in_thread(capture) == GPH_E_STATE);
    CHECK(fake.capture == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CUgraph graph = NULL; /* the refusal on the other thread is named as such */
    fake.end_with = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    fake.log = NULL;
    CHECK(gph_capture_end(capture, &graph, &error) ==
          CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK(strstr(error.message, ", on thread ") != NULL);

    fake.end_with = CUDA_SUCCESS;
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    options.mode = GPH_CAPTURE_RELAXED;
    CHECK_OK(gph_capture_begin(runtime, FAKE_STREAM, &options, &capture, &error), error);
    CHECK(end_in_thread(capture) == GPH_OK);
    gph_close(runtime);
}

static void a_refused_instantiation_names_the_node(void)
{
    gph_runtime *runtime = open_fake();
    gph_error error = {0};
    gph_exec *exec = NULL;
    fake.error_node = FAKE_NODE(3);
    CHECK(gph_exec_create(runtime, FAKE_GRAPH, NULL, &exec, &error) ==
          CUDA_ERROR_INVALID_VALUE);
    CHECK(error.has_node && error.node == 3);
    CHECK(strstr(error.message, "node 3 (host) of graph") != NULL);
    CHECK(strstr(error.message, "structure is invalid") != NULL);
    CHECK(exec == NULL);
    gph_close(runtime);
}

static void a_graph_of_the_driver_becomes_data(void)
{
    gph_runtime *runtime = open_fake();
    gph_error error = {0};
    gph_graph *graph = NULL;
    CHECK_OK(gph_graph_describe(runtime, FAKE_GRAPH, &graph, &error), error);
    if (graph == NULL)
        return;
    CHECK(gph_graph_node_count(graph) == FAKE_NODES);
    for (uint32_t i = 0; i < 8; i++)
        CHECK(gph_graph_node(graph, i)->kind == (gph_node_kind)i);

    const gph_kernel_params *first = &gph_graph_node(graph, 0)->u.kernel;
    CHECK(strcmp(first->function, "saxpy") == 0 && first->grid[0] == 4);
    CHECK(first->block[0] == 128 && first->shared_bytes == 64 && first->arg_count == 2);
    const uint64_t value = 0x1122334455667788;
    const float scale = 2.5f;
    CHECK(memcmp(first->buffer, &value, 8) == 0);
    CHECK(first->buffer_bytes == 12 && memcmp(first->buffer + 8, &scale, 4) == 0);
    const gph_kernel_params *last = &gph_graph_node(graph, 8)->u.kernel;
    CHECK(strcmp(last->function, "scale") == 0 && last->buffer[0] == 9);

    const gph_memcpy_params *copy = &gph_graph_node(graph, 1)->u.memcpy;
    CHECK(copy->src.memory == GPH_MEMORY_HOST && copy->dst.address == 0x7000);
    CHECK(copy->src.address == (uintptr_t)&fake && copy->width_bytes == 256);
    CHECK(gph_graph_node(graph, 2)->u.memset.value == 7);
    CHECK(gph_graph_node(graph, 3)->u.host.user == (uintptr_t)&fake);
    CHECK(gph_graph_node_count(gph_graph_node(graph, 4)->u.child) == 0);
    CHECK(gph_graph_node(graph, 6)->u.event.event == (uintptr_t)&fake);

    CHECK(gph_graph_edge_count(graph) == FAKE_NODES);
    const gph_edge *edge = gph_graph_edge(graph, FAKE_NODES - 1);
    CHECK(edge->from == 0 && edge->to == 8 && edge->from_port == 1 && edge->type == 1);
    CHECK_OK(gph_graph_check(graph, &error), error);
    gph_graph_destroy(graph);
    gph_close(runtime);
}

static void a_graph_that_changes_or_never_ends_is_refused(void)
{
    gph_runtime *runtime = open_fake();
    gph_error error = {0};
    gph_graph *graph = NULL;
    fake.changes = 1;
    CHECK(gph_graph_describe(runtime, FAKE_GRAPH, &graph, &error) == GPH_E_STATE);
    fake.changes = 0;
    fake.deep = 1;
    CHECK(gph_graph_describe(runtime, FAKE_GRAPH, &graph, &error) == GPH_E_INVALID);
    CHECK(strstr(error.message, "deeper than 16") != NULL);
    CHECK(gph_graph_describe(runtime, NULL, &graph, &error) == GPH_E_INVALID);
    CHECK(graph == NULL);
    gph_close(runtime);
}

/* Capture, instantiate, describe, launch; everything given back whatever fails. */
static gph_status do_it_all(gph_runtime *runtime)
{
    gph_capture *capture = NULL;
    gph_graph *data = NULL;
    gph_exec *exec = NULL;
    CUgraph graph = NULL;
    gph_error error = {0};
    gph_status status = gph_capture_begin(runtime, FAKE_STREAM, NULL, &capture, &error);
    if (status == GPH_OK)
        status = gph_capture_end(capture, &graph, &error);
    if (status == GPH_OK)
        status = gph_graph_describe(runtime, graph, &data, &error);
    if (status == GPH_OK)
        status = gph_exec_create(runtime, graph, NULL, &exec, &error);
    if (status == GPH_OK)
        status = gph_exec_launch(exec, FAKE_STREAM, &error);
    CHECK(error.code == status);
    CHECK((status == GPH_OK) == (error.message[0] == '\0'));
    gph_exec_destroy(exec);
    gph_graph_destroy(data);
    if (graph != NULL)
        CHECK(gph_cuda(runtime)->GraphDestroy(graph) == GPH_OK);
    return status;
}

static void survives_every_failed_driver_call(void)
{
    gph_runtime *runtime = open_fake();
    for (long nth = 0;; nth++) {
        fake.fail_at = nth;
        const gph_status status = do_it_all(runtime);
        CHECK(status == GPH_OK || status == CUDA_ERROR_UNKNOWN);
        CHECK(fake.live_graphs == 0 && fake.live_execs == 0);
        CHECK(fake.capture == CU_STREAM_CAPTURE_STATUS_NONE);
        if (status == GPH_OK && fake.fail_at >= 0)
            break;
        CHECK(nth < 1000);
    }
    fake.fail_at = -1;
    gph_close(runtime);
}

static void survives_every_failed_allocation(void)
{
    fake_reset();
    for (long nth = 1;; nth++) { /* 0 is the runtime's own */
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {fault_realloc, &heap};
        gph_runtime *runtime = NULL;
        CHECK(gphi_runtime_create(&allocator, &fake_source, &runtime, NULL) == GPH_OK);
        const gph_status status = do_it_all(runtime);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        CHECK(fake.live_graphs == 0 && fake.live_execs == 0);
        CHECK(fake.capture == CU_STREAM_CAPTURE_STATUS_NONE);
        gph_close(runtime);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (status == GPH_OK)
            return;
    }
}

int main(void)
{
    RUN(a_stream_is_captured_and_replayed);
    RUN(wrong_arguments_are_refused);
    RUN(a_captured_stream_is_not_captured_twice);
    RUN(a_failed_capture_names_the_first_refusal);
    RUN(the_cause_is_told_from_its_consequences);
    RUN(an_old_driver_says_that_it_cannot_name_it);
    RUN(another_thread_ends_only_a_relaxed_capture);
    RUN(a_refused_instantiation_names_the_node);
    RUN(a_graph_of_the_driver_becomes_data);
    RUN(a_graph_that_changes_or_never_ends_is_refused);
    RUN(survives_every_failed_driver_call);
    RUN(survives_every_failed_allocation);
    return test_done();
}
