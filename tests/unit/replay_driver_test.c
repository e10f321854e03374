// SPDX-License-Identifier: Apache-2.0
/* libgph from end to end, on a real driver: softcuda, or NVIDIA's where there is a GPU.
 * Public headers only, and the shared library. */
#define _GNU_SOURCE
#include "runtime.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

/* y[i] = y[i] * a + x[i] */
static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry axpy(.param .u64 py, .param .u64 px, .param .f32 pa, .param .u32 "
    "pn)\n"
    "{\n"
    ".reg .pred %p<2>;\n.reg .f32 %f<4>;\n.reg .b32 %r<6>;\n.reg .b64 %d<6>;\n"
    "ld.param.u64 %d1, [py];\n"
    "ld.param.u64 %d2, [px];\n"
    "ld.param.f32 %f1, [pa];\n"
    "ld.param.u32 %r1, [pn];\n"
    "mov.u32 %r2, %ctaid.x;\n"
    "mov.u32 %r3, %ntid.x;\n"
    "mov.u32 %r4, %tid.x;\n"
    "mad.lo.u32 %r5, %r2, %r3, %r4;\n"
    "setp.ge.u32 %p1, %r5, %r1;\n"
    "@%p1 bra DONE;\n"
    "mul.wide.u32 %d3, %r5, 4;\n"
    "add.u64 %d4, %d1, %d3;\n"
    "add.u64 %d5, %d2, %d3;\n"
    "ld.global.f32 %f2, [%d4];\n"
    "ld.global.f32 %f3, [%d5];\n"
    "fma.rn.f32 %f2, %f2, %f1, %f3;\n"
    "st.global.f32 [%d4], %f2;\n"
    "DONE:\n"
    "ret;\n"
    "}\n";

enum { COUNT = 1000, BYTES = COUNT * 4 };

static CUfunction axpy;
static CUstream stream, side;
static CUevent forked, joined;
static CUdeviceptr x, y;

static gph_status launch_axpy(CUstream where, CUdeviceptr to, float factor)
{
    unsigned int count = COUNT;
    void *params[] = {&to, &x, &factor, &count};
    return gph_cuda_check(cu->LaunchKernel(axpy, (COUNT + 127) / 128, 1, 1, 128, 1, 1, 0,
                                           where, params, NULL),
                          "cuLaunchKernel", &error);
}

/* A memset, two kernels in a chain. */
static gph_status do_work(CUstream where)
{
    gph_status status = cu->MemsetD32Async(y, 0, COUNT, where);
    if (status == GPH_OK)
        status = launch_axpy(where, y, 2.0f);
    if (status == GPH_OK)
        status = launch_axpy(where, y, 3.0f);
    return status;
}

/* What y[i] is after do_work(), where x[i] = i. */
static float expected(int i)
{
    return (float)i * 3.0f + (float)i;
}

static void check_y(void)
{
    static float host[COUNT];
    memset(host, 0, sizeof(host));
    CU(MemcpyDtoHAsync, host, y, BYTES, stream);
    CU(StreamSynchronize, stream);
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += host[i] != expected(i);
    CHECK(wrong == 0);
}

static CUgraph capture_work(void)
{
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    if (!CHECK_OK(gph_capture_begin(runtime, stream, NULL, &capture, &error), error))
        return NULL;
    CHECK_OK(do_work(stream), error);
    CHECK_OK(gph_capture_end(capture, &graph, &error), error);
    return graph;
}

/* Whatever went wrong before, the streams run and capture again. */
static void check_streams_are_usable(void)
{
    int status = -1;
    CU(StreamIsCapturing, stream, &status);
    CHECK(status == 0);
    CU(StreamIsCapturing, side, &status);
    CHECK(status == 0);
    CHECK_OK(do_work(stream), error);
    check_y();
    CUgraph graph = capture_work();
    if (graph != NULL)
        CU(GraphDestroy, graph);
}

static void a_replay_gives_what_eager_launches_give(void)
{
    CHECK_OK(do_work(stream), error);
    check_y();
    CUgraph graph = capture_work();
    gph_exec *exec = NULL;
    CHECK_OK(gph_exec_create(runtime, graph, NULL, &exec, &error), error);
    CU(GraphDestroy, graph); /* the executable lives on */
    for (int i = 0; exec != NULL && i < 100; i++) {
        CU(MemsetD8Async, y, 0xff, BYTES, stream);
        CHECK_OK(gph_exec_launch(exec, stream, &error), error);
        if (i % 10 == 0)
            check_y();
    }
    CHECK_OK(gph_exec_upload(exec, stream, &error), error);
    CHECK_OK(gph_exec_launch(exec, stream, &error), error);
    gph_exec_destroy(exec); /* in flight: it finishes */
    check_y();
}

static void nothing_runs_while_a_stream_is_captured(void)
{
    CU(MemsetD8Async, y, 0, BYTES, stream);
    CUgraph graph = capture_work();
    float host[COUNT];
    CU(MemcpyDtoHAsync, host, y, BYTES, stream);
    CU(StreamSynchronize, stream);
    CHECK(host[7] == 0);
    CU(GraphDestroy, graph);
}

static void a_fork_is_joined(void)
{
    CUdeviceptr z = 0;
    CU(MemAlloc, &z, BYTES);
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    gph_exec *exec = NULL;
    CHECK_OK(gph_capture_begin(runtime, stream, NULL, &capture, &error), error);
    CU(EventRecord, forked, stream);
    CU(StreamWaitEvent, side, forked, 0);
    CU(MemsetD32Async, z, 0, COUNT, side);
    CHECK_OK(launch_axpy(side, z, 1.0f), error); /* z = x */
    CHECK_OK(do_work(stream), error);
    CU(EventRecord, joined, side);
    CU(StreamWaitEvent, stream, joined, 0);
    CU(MemcpyDtoDAsync, y, z, 16, stream); /* after both */
    CHECK_OK(gph_capture_end(capture, &graph, &error), error);
    CHECK_OK(gph_exec_create(runtime, graph, NULL, &exec, &error), error);

    gph_graph *data = NULL;
    CHECK_OK(gph_graph_describe(runtime, graph, &data, &error), error);
    CHECK(gph_graph_node_count(data) == 6 && gph_graph_edge_count(data) == 5);
    gph_graph_destroy(data);
    CHECK_OK(gph_exec_launch(exec, stream, &error), error);
    float host[COUNT] = {0};
    CU(MemcpyDtoHAsync, host, y, BYTES, stream);
    CU(StreamSynchronize, stream);
    CHECK(host[3] == 3.0f && host[4] == expected(4) && host[999] == expected(999));
    gph_exec_destroy(exec);
    CU(GraphDestroy, graph);
    CU(MemFree, z);
}

struct text {
    char bytes[65536];
    size_t count;
};

static gph_status keep(void *user, const void *data, size_t bytes)
{
    struct text *text = user;
    if (text->count + bytes >= sizeof(text->bytes))
        return GPH_E_NO_MEMORY;
    memcpy(text->bytes + text->count, data, bytes);
    text->count += bytes;
    text->bytes[text->count] = '\0';
    return GPH_OK;
}

/* The node of this kind that comes `nth`, or NULL. */
static const gph_node *find(const gph_graph *graph, gph_node_kind kind, int nth)
{
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++)
        if (gph_graph_node(graph, i)->kind == kind && nth-- == 0)
            return gph_graph_node(graph, i);
    return NULL;
}

static void a_captured_graph_is_described(void)
{
    CUgraph graph = capture_work();
    gph_graph *data = NULL;
    CHECK_OK(gph_graph_describe(runtime, graph, &data, &error), error);
    CHECK(gph_graph_node_count(data) == 3 && gph_graph_edge_count(data) == 2);
    const gph_node *fill = find(data, GPH_NODE_MEMSET, 0);
    CHECK(fill != NULL && fill->u.memset.address == y);
    CHECK(fill != NULL &&
          fill->u.memset.width * fill->u.memset.element_bytes * fill->u.memset.height ==
              BYTES);
    const gph_node *kernel = find(data, GPH_NODE_KERNEL, 0);
    if (CHECK(kernel != NULL)) {
        const gph_kernel_params *params = &kernel->u.kernel;
        CHECK(params->function != NULL && strcmp(params->function, "axpy") == 0);
        CHECK(params->grid[0] == 8 && params->block[0] == 128);
        CHECK(params->arg_count == 4);
        float factor = 0;
        unsigned int count = 0;
        if (params->arg_count == 4) {
            memcpy(&factor, params->buffer + params->args[2].offset, sizeof(factor));
            memcpy(&count, params->buffer + params->args[3].offset, sizeof(count));
        }
        CHECK((factor == 2.0f || factor == 3.0f) && count == COUNT);
    }
    static struct text json;
    json.count = 0;
    gph_graph *again = NULL;
    CHECK_OK(gph_json_write(data, NULL, keep, &json, &error), error);
    const gph_status status = gph_json_read(json.bytes, json.count, NULL, &again, &error);
    CHECK(status == GPH_OK || status == GPH_E_UNSUPPORTED); /* built without jansson */
    CHECK(status != GPH_OK || gph_graph_node_count(again) == 3);
    gph_graph_destroy(again);
    gph_graph_destroy(data);
    CU(GraphDestroy, graph);
}

static void a_forbidden_call_is_named_and_the_stream_comes_back(void)
{
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    CHECK_OK(gph_capture_begin(runtime, stream, NULL, &capture, &error), error);
    CHECK_OK(do_work(stream), error);
    CHECK(cu->StreamSynchronize(stream) == CAPTURE_UNSUPPORTED);
    const gph_status status = gph_capture_end(capture, &graph, &error);
    CHECK(status == CAPTURE_INVALIDATED && graph == NULL);
    CHECK(strcmp(error.call, "cuStreamEndCapture") == 0);
    CHECK(error.hint[0] != '\0');
    if (names_refusals() && !CHECK(strstr(error.message, "cuStreamSynchronize") != NULL))
        fprintf(stderr, "  %s\n", error.message);
    check_streams_are_usable();
}

static void an_unjoined_fork_fails_and_both_streams_come_back(void)
{
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    CHECK_OK(gph_capture_begin(runtime, stream, NULL, &capture, &error), error);
    CU(EventRecord, forked, stream);
    CU(StreamWaitEvent, side, forked, 0);
    CHECK_OK(launch_axpy(side, y, 1.0f), error);
    CHECK(gph_capture_end(capture, &graph, &error) == CAPTURE_UNJOINED);
    CHECK(graph == NULL && strstr(error.hint, "never came back") != NULL);
    check_streams_are_usable();
}

static void an_aborted_capture_gives_the_stream_back(void)
{
    gph_capture *capture = NULL;
    CHECK_OK(gph_capture_begin(runtime, stream, NULL, &capture, &error), error);
    CHECK_OK(do_work(stream), error);
    CHECK_OK(gph_capture_abort(capture, &error), error);
    CHECK_OK(gph_capture_begin(runtime, stream, NULL, &capture, &error), error);
    CHECK(cu->StreamSynchronize(stream) == CAPTURE_UNSUPPORTED); /* invalid already */
    CHECK_OK(gph_capture_abort(capture, &error), error);
    check_streams_are_usable();
}

static void a_stream_captured_already_is_refused(void)
{
    gph_capture *first = NULL, *second = NULL;
    CHECK_OK(gph_capture_begin(runtime, stream, NULL, &first, &error), error);
    CHECK(gph_capture_begin(runtime, stream, NULL, &second, &error) == GPH_E_STATE);
    CHECK_OK(gph_capture_abort(first, &error), error);
    CHECK(second == NULL);
    check_streams_are_usable();
}

static void a_graph_of_nothing_runs(void)
{
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    gph_exec *exec = NULL;
    CHECK_OK(gph_capture_begin(runtime, stream, NULL, &capture, &error), error);
    CHECK_OK(gph_capture_end(capture, &graph, &error), error);
    CHECK_OK(gph_exec_create(runtime, graph, NULL, &exec, &error), error);
    CHECK_OK(gph_exec_launch(exec, stream, &error), error);
    CU(StreamSynchronize, stream);
    gph_exec_destroy(exec);
    CU(GraphDestroy, graph);
}

struct worker {
    CUcontext context;
    int failures;
};

/* A capture of its own beside others', which allocate meanwhile. */
static void *capture_alone(void *user)
{
    struct worker *worker = user;
    gph_error mine = {0};
    CUstream own = NULL;
    int bad = cu->CtxSetCurrent(worker->context) != 0 || cu->StreamCreate(&own, 1) != 0;
    for (int i = 0; i < 20 && !bad; i++) {
        gph_capture *capture = NULL;
        gph_exec *exec = NULL;
        CUgraph graph = NULL;
        CUdeviceptr buffer = 0;
        bad |= cu->MemAlloc(&buffer, BYTES) != 0;
        bad |= gph_capture_begin(runtime, own, NULL, &capture, &mine) != 0;
        bad |= cu->MemsetD32Async(buffer, 1, COUNT, own) != 0;
        bad |= gph_capture_end(capture, &graph, &mine) != 0;
        bad |= gph_exec_create(runtime, graph, NULL, &exec, &mine) != 0;
        bad |= gph_exec_launch(exec, own, &mine) != 0;
        bad |= cu->StreamSynchronize(own) != 0;
        gph_exec_destroy(exec);
        bad |= graph == NULL || cu->GraphDestroy(graph) != 0;
        bad |= cu->MemFree(buffer) != 0;
        if (bad)
            fprintf(stderr, "  %s\n", mine.message);
    }
    worker->failures = bad;
    if (own != NULL)
        (void)cu->StreamDestroy(own);
    return NULL;
}

static void threads_capture_beside_each_other(void)
{
    struct worker workers[4] = {{0}};
    pthread_t threads[4];
    CUcontext context = NULL;
    CU(CtxGetCurrent, &context);
    for (int i = 0; i < 4; i++) {
        workers[i].context = context;
        CHECK(pthread_create(&threads[i], NULL, capture_alone, &workers[i]) == 0);
    }
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(workers[i].failures == 0);
    }
}

/* Capture, instantiate, launch; gives everything back whatever fails. */
static gph_status do_it_all(void)
{
    gph_capture *capture = NULL;
    gph_graph *data = NULL;
    gph_exec *exec = NULL;
    CUgraph graph = NULL;
    gph_status status = gph_capture_begin(runtime, stream, NULL, &capture, &error);
    if (status != GPH_OK)
        return status;
    status = do_work(stream);
    if (status == GPH_OK)
        status = gph_capture_end(capture, &graph, &error);
    else
        CHECK(gph_capture_abort(capture, NULL) == GPH_OK);
    if (status == GPH_OK)
        status = gph_graph_describe(runtime, graph, &data, &error);
    if (status == GPH_OK)
        status = gph_exec_create(runtime, graph, NULL, &exec, &error);
    if (status == GPH_OK)
        status = gph_exec_launch(exec, stream, &error);
    gph_graph_destroy(data);
    if (status == GPH_OK)
        check_y();
    gph_exec_destroy(exec);
    if (graph != NULL)
        CU(GraphDestroy, graph);
    return status;
}

enum { NOT_INITIALIZED = 3 };

/* What a fork's child gets: refusals, no hang. */
static int use_in_child(gph_exec *exec)
{
    gph_capture *capture = NULL;
    gph_runtime *second = NULL;
    gph_options options = GPH_OPTIONS_INIT;
    options.driver = GPH_DRIVER_SOFT;
    const bool is_refused =
        gph_exec_launch(exec, stream, &error) == NOT_INITIALIZED &&
        gph_capture_begin(runtime, stream, NULL, &capture, &error) == NOT_INITIALIZED &&
        gph_open(&options, &second, &error) == NOT_INITIALIZED;
    return is_refused && capture == NULL && second == NULL ? 0 : 1;
}

static void the_child_of_a_fork_is_refused(void)
{
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    gph_driver_info_get(runtime, &info);
    if (info.driver != GPH_DRIVER_SOFT)
        SKIP("this driver's rules about fork are its own");
    CUgraph graph = capture_work();
    gph_exec *exec = NULL;
    CHECK_OK(gph_exec_create(runtime, graph, NULL, &exec, &error), error);
    CU(GraphDestroy, graph);
    const pid_t child = fork();
    if (child == 0)
        _exit(use_in_child(exec));
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    CHECK_OK(gph_exec_launch(exec, stream, &error), error);
    check_y();
    gph_exec_destroy(exec);
}

typedef void fail_allocation_fn(long nth);

static void the_driver_may_run_out_of_memory_anywhere(void)
{
    gph_cuda_fn found = NULL;
    if (gph_cuda_find(runtime, "gph_softcuda_fail_allocation", &found, NULL) != GPH_OK)
        SKIP("this driver's memory cannot be made to fail");
    fail_allocation_fn *fail_allocation = (fail_allocation_fn *)found;
    int failures = 0;
    for (long nth = 0; nth < 500; nth++) {
        fail_allocation(nth);
        const gph_status status = do_it_all();
        fail_allocation(-1);
        CHECK(status == GPH_OK || status == 2 || status == CAPTURE_INVALIDATED);
        int capturing = -1;
        CU(StreamIsCapturing, stream, &capturing);
        CHECK(capturing == 0);
        failures += status != GPH_OK;
    }
    CHECK(failures > 0);
    check_streams_are_usable();
}

static bool set_up(void)
{
    runtime_open(GPH_DRIVER_AUTO, NULL);
    static float host[COUNT];
    for (int i = 0; i < COUNT; i++)
        host[i] = (float)i;
    CUcontext context = NULL;
    CUmodule module = NULL;
    return CU(DevicePrimaryCtxRetain, &context, 0) && CU(CtxSetCurrent, context) &&
           CU(ModuleLoadData, &module, ptx) &&
           CU(ModuleGetFunction, &axpy, module, "axpy") && CU(StreamCreate, &stream, 1) &&
           CU(StreamCreate, &side, 1) && CU(EventCreate, &forked, 2) &&
           CU(EventCreate, &joined, 2) && CU(MemAlloc, &x, BYTES) &&
           CU(MemAlloc, &y, BYTES) && CU(MemcpyHtoD, x, host, BYTES) &&
           CHECK_OK(do_work(stream), error); /* the first launch loads the kernel */
}

int main(void)
{
    if (!set_up())
        return 1;
    RUN(a_replay_gives_what_eager_launches_give);
    RUN(nothing_runs_while_a_stream_is_captured);
    RUN(a_fork_is_joined);
    RUN(a_captured_graph_is_described);
    RUN(a_forbidden_call_is_named_and_the_stream_comes_back);
    RUN(an_unjoined_fork_fails_and_both_streams_come_back);
    RUN(an_aborted_capture_gives_the_stream_back);
    RUN(a_stream_captured_already_is_refused);
    RUN(a_graph_of_nothing_runs);
    RUN(threads_capture_beside_each_other);
    RUN(the_child_of_a_fork_is_refused);
    RUN(the_driver_may_run_out_of_memory_anywhere);
    (void)cu->DevicePrimaryCtxRelease(0);
    gph_close(runtime);
    return test_done();
}
