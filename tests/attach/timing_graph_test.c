// SPDX-License-Identifier: Apache-2.0
/* Work of a program as nodes of a graph, with what a driver may refuse: nothing is lost,
 * and nothing runs twice. */
#include "attach/timing/graph.h"
#include "step_ptx.h"
#include "test.h"

#include <dlfcn.h>
#include <string.h>

enum { WORDS = 64, BYTES = WORDS * 4 };

static gphi_timing_calls cu;
static gphi_timing_graph graph;
static gphi_timing_gate gate;
static CUcontext context;
static CUstream stream, side;
static CUevent begin, end, fork_event, join_event;
static CUfunction step;
static CUdeviceptr buffer;
static CUresult (*read_back)(void *, CUdeviceptr, size_t);

#define OK(expr) CHECK((expr) == CUDA_SUCCESS)

static bool start(void)
{
    void *const driver = dlopen(SOFTCUDA_PATH, RTLD_NOW);
    CUresult (*init)(unsigned);
    CUresult (*retain)(CUcontext *, CUdevice);
    CUresult (*set)(CUcontext);
    CUmodule module;
    void *word = NULL;
    if (driver == NULL)
        return false;
#define FIND(to, symbol)                                                                 \
    do {                                                                                 \
        void *const found = dlsym(driver, symbol);                                       \
        memcpy(&(to), &found, sizeof(found));                                            \
        CHECK(found != NULL);                                                            \
    } while (0)
#define X(name, symbol) FIND(cu.name, #symbol);
    GPHI_TIMING_CALLS(X)
#undef X
    FIND(init, "cuInit");
    FIND(retain, "cuDevicePrimaryCtxRetain");
    FIND(set, "cuCtxSetCurrent");
    FIND(read_back, "cuMemcpyDtoH_v2");
    OK(init(0));
    OK(retain(&context, 0));
    OK(set(context));
    OK(cu.module_load(&module, step_ptx));
    OK(cu.function(&step, module, "step"));
    OK(cu.stream_create(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu.stream_create(&side, CU_STREAM_NON_BLOCKING));
    OK(cu.event_create(&begin, CU_EVENT_DEFAULT));
    OK(cu.event_create(&end, CU_EVENT_DEFAULT));
    OK(cu.event_create(&fork_event, CU_EVENT_DISABLE_TIMING));
    OK(cu.event_create(&join_event, CU_EVENT_DISABLE_TIMING));
    OK(cu.alloc(&buffer, 4 * BYTES));
    OK(cu.host_alloc(&word, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    OK(cu.device_pointer(&gate.at, word, 0));
    gate.word = word;
    graph.cu = &cu;
    return true;
}

static gphi_timing_taken launch(CUstream on, int at, uint32_t a, uint32_t b)
{
    CUdeviceptr p = buffer + (CUdeviceptr)at * BYTES;
    void *arguments[] = {&p, &a, &b};
    const uint64_t words[] = {
        (uintptr_t)step, 1, 1, 1, WORDS, 1, 1, 0, (uintptr_t)on, (uintptr_t)arguments, 0};
    return gphi_timing_graph_take(&graph, GPHI_CALL_cuLaunchKernel, words, on);
}

static gphi_timing_taken launch_ex(uint32_t a, const CUlaunchAttribute *attributes,
                                   unsigned count)
{
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = WORDS,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .hStream = stream,
                             .numAttrs = count};
    CUlaunchAttribute copy[4];
    uint32_t b = 1;
    memcpy(copy, attributes, count * sizeof(*copy));
    config.attrs = copy;
    void *arguments[] = {&buffer, &a, &b};
    const uint64_t words[] = {(uintptr_t)&config, (uintptr_t)step, (uintptr_t)arguments,
                              0};
    return gphi_timing_graph_take(&graph, GPHI_CALL_cuLaunchKernelEx, words, stream);
}

static gphi_timing_taken fill(uint32_t call, int at, uint32_t value, uint64_t count)
{
    const uint64_t words[] = {buffer + (uint64_t)at * BYTES, value, count,
                              (uintptr_t)stream};
    return gphi_timing_graph_take(&graph, call, words, stream);
}

static gphi_timing_taken copy(int to, int from)
{
    const uint64_t words[] = {buffer + (uint64_t)to * BYTES,
                              buffer + (uint64_t)from * BYTES, BYTES, (uintptr_t)stream};
    return gphi_timing_graph_take(&graph, GPHI_CALL_cuMemcpyDtoDAsync, words, stream);
}

static gphi_timing_taken record(CUevent event, CUstream on)
{
    const uint64_t words[] = {(uintptr_t)event, (uintptr_t)on};
    return gphi_timing_graph_take(&graph, GPHI_CALL_cuEventRecord, words, on);
}

static gphi_timing_taken wait_for(CUstream on, CUevent event)
{
    const uint64_t words[] = {(uintptr_t)on, (uintptr_t)event, 0};
    return gphi_timing_graph_take(&graph, GPHI_CALL_cuStreamWaitEvent, words, on);
}

static bool begin_window(uint32_t slot)
{
    gate.next++;
    return gphi_timing_graph_open(&graph, context, stream, slot);
}

static gphi_timing_ran run(void)
{
    const gphi_timing_ran ran = gphi_timing_graph_run(&graph, &gate, begin, end);
    OK(cu.stream_wait(stream));
    OK(cu.stream_wait(side));
    return ran;
}

static uint32_t word(int at, int index)
{
    uint32_t words[WORDS];
    OK(read_back(words, buffer + (CUdeviceptr)at * BYTES, BYTES));
    return words[index];
}

/* Everything that a node can stand for, in two streams. */
static void take_all(void)
{
    const CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                           .value.cooperative = 1};
    CHECK(fill(GPHI_CALL_cuMemsetD32Async, 0, 2, WORDS) == GPHI_TAKEN);
    CHECK(launch(stream, 0, 3, 1) == GPHI_TAKEN);       /* 7 */
    CHECK(launch_ex(2, &cooperative, 1) == GPHI_TAKEN); /* 15 */
    CHECK(record(fork_event, stream) == GPHI_TAKEN);
    CHECK(wait_for(side, fork_event) == GPHI_TAKEN);
    CHECK(copy(1, 0) == GPHI_TAKEN);
    CHECK(launch(side, 0, 1, 0) == GPHI_TAKEN);
    CHECK(record(join_event, side) == GPHI_TAKEN);
    CHECK(wait_for(stream, join_event) == GPHI_TAKEN);
    CHECK(launch(stream, 0, 2, 5) == GPHI_TAKEN); /* 35 */
    CHECK(fill(GPHI_CALL_cuMemsetD8Async, 2, 0xAB, BYTES / 2) == GPHI_TAKEN);
    CHECK(fill(GPHI_CALL_cuMemsetD16Async, 3, 0xABCD, BYTES / 2) == GPHI_TAKEN);
}

static void check_all(void)
{
    CHECK(word(0, 7) == 35);
    CHECK(word(1, 7) == 15);
    CHECK(word(2, 7) == 0xABABABAB);
    CHECK(word(3, 7) == 0xABCDABCD);
    OK(cu.event_query(join_event));
    OK(cu.event_query(fork_event));
}

static void a_window_runs_as_one_graph(void)
{
    float ms = -1;
    for (int i = 0; i < 3; i++) {
        CHECK(begin_window(1));
        take_all();
        const gphi_timing_ran ran = run();
        CHECK(ran.is_timed);
        CHECK((ran.instantiate_ns > 0) == (i == 0)); /* then it is updated */
        OK(cu.event_elapsed(&ms, begin, end));
        CHECK(ms >= 0);
        check_all();
    }
    CHECK(begin_window(1)); /* something else than before */
    CHECK(fill(GPHI_CALL_cuMemsetD32Async, 0, 9, WORDS) == GPHI_TAKEN);
    CHECK(run().instantiate_ns > 0);
    CHECK(word(0, 0) == 9);
}

/* ---- drivers that refuse ---- */

static CUresult no_instantiate(CUgraphExec *exec, CUgraph from, unsigned long long flags)
{
    (void)exec;
    (void)from;
    (void)flags;
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult no_launch(CUgraphExec exec, CUstream on)
{
    (void)exec;
    (void)on;
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult no_wait_value(CUstream on, CUdeviceptr at, cuuint32_t value,
                              unsigned flags)
{
    (void)on;
    (void)at;
    (void)value;
    (void)flags;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static void what_no_graph_holds_is_launched_one_by_one(void)
{
    const gphi_timing_calls all = cu;
    cu.instantiate = no_instantiate;
    CHECK(begin_window(2));
    take_all();
    CHECK(!run().is_timed);
    check_all();
    cu = all;
    cu.graph_launch = no_launch;
    CHECK(begin_window(3));
    take_all();
    CHECK(!run().is_timed);
    check_all();
    cu = all;
    cu.wait_value = no_wait_value; /* runs, but its time says nothing */
    CHECK(begin_window(4));
    take_all();
    CHECK(!run().is_timed);
    check_all();
    cu = all;
}

static CUresult no_attribute(CUgraphNode node, CUkernelNodeAttrID id,
                             const CUkernelNodeAttrValue *value)
{
    (void)node;
    (void)id;
    (void)value;
    return CUDA_ERROR_INVALID_VALUE;
}

static void what_is_refused_changes_nothing(void)
{
    const gphi_timing_calls all = cu;
    CUlaunchAttribute attributes[2] = {{.id = CU_LAUNCH_ATTRIBUTE_PRIORITY},
                                       {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT}};
    CHECK(begin_window(5));
    CHECK(fill(GPHI_CALL_cuMemsetD32Async, 0, 1, WORDS) == GPHI_TAKEN);
    CHECK(launch_ex(100, attributes, 2) == GPHI_REFUSED);
    cu.node_attribute = no_attribute;
    CHECK(launch_ex(100, attributes, 1) == GPHI_REFUSED);
    cu = all;
    CHECK(fill(GPHI_CALL_cuMemsetD32Async, 0, 77, 0) == GPHI_REFUSED);
    CHECK(graph.node_count == 1 && graph.attribute_count == 0);
    uint32_t pageable[WORDS] = {0};
    const uint64_t words[] = {buffer, (uintptr_t)pageable, BYTES, (uintptr_t)stream};
    CHECK(gphi_timing_graph_take(&graph, GPHI_CALL_cuMemcpyHtoDAsync, words, stream) ==
          GPHI_REFUSED);
    CHECK(gphi_timing_graph_take(&graph, GPHI_CALL_cuGraphLaunch, words, stream) ==
          GPHI_REFUSED);
    CHECK(launch(CU_STREAM_LEGACY, 0, 9, 9) == GPHI_REFUSED);
    CHECK(launch(stream, 0, 5, 2) == GPHI_TAKEN);
    CHECK(run().is_timed);
    CHECK(word(0, 3) == 7);
}

static void streams_that_are_busy_or_not_in_it_stay_out(void)
{
    CHECK(begin_window(6));
    CHECK(record(fork_event, side) == GPHI_PASSED);
    CHECK(wait_for(side, fork_event) == GPHI_PASSED);
    gate.next++;
    OK(cu.wait_value(side, gate.at, gate.next, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(launch(side, 0, 1, 1) == GPHI_REFUSED);
    CHECK(record(fork_event, stream) == GPHI_TAKEN);
    CHECK(wait_for(side, fork_event) == GPHI_REFUSED);
    atomic_store(gate.word, gate.next);
    OK(cu.stream_wait(side));
    CHECK(wait_for(side, fork_event) == GPHI_TAKEN);
    CHECK(!run().is_timed); /* no node */
    OK(cu.event_query(fork_event));
}

static void there_is_an_end_to_everything(void)
{
    CUevent events[GPHI_TIMING_EVENTS + 1];
    CHECK(begin_window(7));
    CHECK(fill(GPHI_CALL_cuMemsetD32Async, 0, 0, WORDS) == GPHI_TAKEN);
    for (int i = 0; i <= GPHI_TIMING_EVENTS; i++) {
        OK(cu.event_create(&events[i], CU_EVENT_DISABLE_TIMING));
        CHECK(record(events[i], stream) ==
              (i < GPHI_TIMING_EVENTS ? GPHI_TAKEN : GPHI_REFUSED));
    }
    CHECK(record(events[0], stream) == GPHI_TAKEN); /* again */
    uint32_t taken = 0;
    while (launch(stream, 0, 1, 1) == GPHI_TAKEN)
        taken++;
    CHECK(taken == GPHI_TIMING_NODES - 1);
    CHECK(run().is_timed);
    CHECK(word(0, 63) == taken);
    const CUlaunchAttribute priority = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY};
    CHECK(begin_window(8));
    taken = 0;
    while (launch_ex(1, &priority, 1) == GPHI_TAKEN)
        taken++;
    CHECK(taken == GPHI_TIMING_ATTRIBUTES);
    CHECK(run().is_timed);
    for (int i = 0; i <= GPHI_TIMING_EVENTS; i++)
        OK(cu.event_destroy(events[i]));
}

int main(void)
{
    if (!start())
        return 77;
    RUN(a_window_runs_as_one_graph);
    RUN(what_no_graph_holds_is_launched_one_by_one);
    RUN(what_is_refused_changes_nothing);
    RUN(streams_that_are_busy_or_not_in_it_stay_out);
    RUN(there_is_an_end_to_everything);
    gphi_timing_graph_drop(&graph);
    return test_done();
}
