// SPDX-License-Identifier: Apache-2.0
/* Rules that softcuda cannot show, on logs made by hand: NCCL's teardown and watchdog,
 * and an algorithm that was measured after it was captured. */
#include "forge.h"
#include "test.h"

#include <gph/doctor.h>
#include <unistd.h>

static char path[64];

enum {
    STREAM = 0x5000,
    GRAPH = 0x6000,
    EXEC = 0x7000,
    KERNEL = 0x8000,
    OTHER = 0x9000,
    BUFFER = 0x200000,
    NCCL = 0x1000000
};

static const uint64_t pointers[] = {BUFFER, BUFFER + 4096};

/* How often a rule is reported for the log; UINT32_MAX: it cannot be read. */
static uint32_t reported(const char *id)
{
    gph_error error = {0};
    gph_doctor *doctor = NULL;
    uint32_t count = 0;
    CHECK_OK(gph_doctor_create(NULL, &doctor, &error), error);
    if (gph_doctor_read(doctor, path, &error) != GPH_OK ||
        gph_doctor_finish(doctor, &error) != GPH_OK) {
        fprintf(stderr, "%s\n", error.message);
        count = UINT32_MAX;
    }
    for (uint32_t i = 0; count != UINT32_MAX && i < gph_doctor_finding_count(doctor); i++)
        count += strcmp(gph_doctor_finding(doctor, i)->id, id) == 0;
    gph_doctor_destroy(doctor);
    return count;
}

static void make_memory(forge *f)
{
    const uint64_t made[] = {STREAM, 1}, memory[] = {BUFFER, 65536};
    forge_call(f, GPHI_CALL_cuStreamCreate, 0, made, 2);
    forge_call(f, GPHI_CALL_cuMemAlloc, 0, memory, 2);
}

/* ---- nccl.destroy-before-graph ---- */

/* A graph with a collective; then NCCL frees memory while the graph is alive, as it does
 * when another communicator is set up or goes. */
static void what_nccl_frees_is_not_reported(void)
{
    forge f;
    const uint64_t freed[] = {BUFFER + 8192}, stream[] = {STREAM};
    forge_begin(&f, path);
    forge_module(&f, NCCL, "/usr/lib/libnccl.so.2.26.2");
    forge_function(&f, KERNEL, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 2);
    make_memory(&f);
    forge_graph(&f, STREAM, GRAPH, EXEC, KERNEL, pointers, 2);
    forge_exec_call(&f, GPHI_CALL_cuGraphLaunch, EXEC, STREAM);
    forge_stack(&f, 7, NCCL + 0x1234);
    forge_call(&f, GPHI_CALL_cuMemFreeHost, 0, freed, 1);
    forge_call(&f, GPHI_CALL_cuStreamSynchronize, 0, stream, 1);
    CHECK(forge_end(&f, -1) == 0);
    CHECK(reported("nccl.destroy-before-graph") == 0);
}

/* NCCL's last call waits, and nothing comes after it; `how` as forge_end(). */
static void forge_hang(int how, int goes_on)
{
    forge f;
    const uint64_t stream[] = {STREAM};
    forge_begin(&f, path);
    forge_module(&f, NCCL, "/venv/nvidia/nccl/lib/libnccl.so.2");
    forge_function(&f, KERNEL, "ncclDevKernel_AllGather_RING_LL", 2);
    make_memory(&f);
    forge_graph(&f, STREAM, GRAPH, EXEC, KERNEL, pointers, 2);
    forge_exec_call(&f, GPHI_CALL_cuGraphLaunch, EXEC, STREAM);
    forge_stack(&f, 9, NCCL + 64);
    forge_call(&f, GPHI_CALL_cuStreamSynchronize, 0, stream, 1);
    if (goes_on) {
        forge_stack(&f, 10, 0x10010);
        forge_exec_call(&f, GPHI_CALL_cuGraphExecDestroy, EXEC, 0);
    }
    CHECK(forge_end(&f, how) == 0);
}

static void a_hang_in_teardown_is_reported_when_the_process_was_ended(void)
{
    forge_hang(-1, 0);
    CHECK(reported("nccl.destroy-before-graph") == 1);
    forge_hang(2, 0);
    CHECK(reported("nccl.destroy-before-graph") == 1);
    forge_hang(0, 0); /* it went on and ended by itself */
    CHECK(reported("nccl.destroy-before-graph") == 0);
    forge_hang(2, 1);
    CHECK(reported("nccl.destroy-before-graph") == 0);
}

/* ---- nccl.watchdog-query ---- */

static void forge_query(const char *name, int result, int is_open)
{
    forge f;
    const uint64_t begin[] = {STREAM, 0, 0}, event[] = {0xE000}, end[] = {STREAM, 0};
    forge_begin(&f, path);
    make_memory(&f);
    f.thread = FORGE_THREAD + 1;
    forge_thread_name(&f, name);
    forge_call(&f, GPHI_CALL_cuEventCreate, 0, event, 1);
    f.thread = FORGE_THREAD;
    if (is_open) {
        f.capture = GRAPH + 16;
        forge_call(&f, GPHI_CALL_cuStreamBeginCapture, 0, begin, 3);
        f.capture = 0;
    }
    f.thread = FORGE_THREAD + 1;
    forge_call(&f, GPHI_CALL_cuEventQuery, result, event, 1);
    f.thread = FORGE_THREAD;
    if (is_open)
        forge_call(&f, GPHI_CALL_cuStreamEndCapture, result != 0 ? 901 : 0, end, 2);
    CHECK(forge_end(&f, 0) == 0);
}

static void a_watchdog_that_asks_during_a_capture_is_reported(void)
{
    forge_query("pt_nccl_watchdg", 900, 1);
    CHECK(reported("nccl.watchdog-query") == 1);
    forge_query("NCCL watchdog", 900, 1);
    CHECK(reported("nccl.watchdog-query") == 1);
}

static void a_watchdog_that_may_ask_is_not(void)
{
    forge_query("pt_nccl_watchdg", 600, 1); /* not ready: it exchanged its mode */
    CHECK(reported("nccl.watchdog-query") == 0);
    forge_query("pt_nccl_watchdg", 0, 0);
    CHECK(reported("nccl.watchdog-query") == 0);
    forge_query("loader", 900, 1); /* somebody else: capture.unsafe-call-other-thread */
    CHECK(reported("nccl.watchdog-query") == 0);
}

/* ---- cache.frozen-choice ---- */

/* One run of a kernel, timed. */
static void forge_timed(forge *f, uint64_t function)
{
    const uint64_t start[] = {0xE000, STREAM}, end[] = {0xE010, STREAM};
    const uint64_t both[] = {0, 0xE000, 0xE010};
    forge_call(f, GPHI_CALL_cuEventRecord, 0, start, 2);
    forge_launch(f, function, STREAM, 0, pointers, 2);
    forge_call(f, GPHI_CALL_cuEventRecord, 0, end, 2);
    forge_call(f, GPHI_CALL_cuEventSynchronize, 0, end, 1);
    forge_call(f, GPHI_CALL_cuEventElapsedTime, 0, both, 3);
}

/* `is_late`: the measurement comes after the capture. `winner`: used eagerly then.
 * `captured`: the handle of the kernel in the graph. */
static void forge_choice(int is_late, uint64_t winner, uint64_t captured)
{
    forge f;
    forge_begin(&f, path);
    forge_function(&f, KERNEL, "sm90_xmma_fprop_implicit_gemm_f16_128x64_nhwc", 2);
    forge_function(&f, KERNEL + 8, "sm90_xmma_fprop_implicit_gemm_f16_128x64_nhwc", 2);
    forge_function(&f, OTHER, "cudnn::winograd_nonfused::fprop4x4", 2);
    make_memory(&f);
    const uint64_t other[] = {0xE020, STREAM};
    forge_call(&f, GPHI_CALL_cuEventRecord, 0, other, 2); /* of a wait between streams */
    for (int way = 0; way < 2; way++) {
        if (way == is_late) {
            forge_timed(&f, KERNEL);
            forge_timed(&f, OTHER);
        } else {
            forge_graph(&f, STREAM, GRAPH, EXEC, captured, pointers, 2);
        }
    }
    for (int i = 0; i < 5; i++) {
        forge_launch(&f, winner, STREAM, 0, pointers, 2);
        forge_exec_call(&f, GPHI_CALL_cuGraphLaunch, EXEC, STREAM);
    }
    CHECK(forge_end(&f, 0) == 0);
}

static void a_choice_that_lost_later_is_reported(void)
{
    forge_choice(1, OTHER, KERNEL);
    CHECK(reported("cache.frozen-choice") == 1);
    forge_choice(1, OTHER, KERNEL + 8); /* by another handle, as the driver names it */
    CHECK(reported("cache.frozen-choice") == 1);
}

static void a_choice_that_was_measured_before_is_not(void)
{
    forge_choice(0, OTHER, KERNEL); /* tuned, then captured: what the program wanted */
    CHECK(reported("cache.frozen-choice") == 0);
    forge_choice(1, KERNEL, KERNEL + 8); /* measured later, and it won */
    CHECK(reported("cache.frozen-choice") == 0);
}

/* ---- places ---- */

/* CPython calls C from other addresses once it has specialized a line. */
static void forge_line(forge *f, uint32_t id, uint64_t address, const char *line)
{
    const char *const texts[] = {line};
    gphi_event head = {.kind = GPHI_EVENT_PYTHON, .id = id};
    forge_put(f, &head, NULL, 0, texts, 1);
    forge_stack(f, id, address);
}

static void a_line_of_python_is_one_place(void)
{
    enum { PYTHON = 0x2000000 };
    forge f;
    const uint64_t freed[] = {BUFFER};
    forge_begin(&f, path);
    forge_module(&f, PYTHON, "/usr/bin/python3.13");
    forge_function(&f, KERNEL, "step", 2);
    make_memory(&f);
    forge_graph(&f, STREAM, GRAPH, EXEC, KERNEL, pointers, 2);
    forge_call(&f, GPHI_CALL_cuMemFree, 0, freed, 1);
    forge_line(&f, 7, PYTHON + 64, "train.py:41 step\ntrain.py:55 main\n");
    forge_exec_call(&f, GPHI_CALL_cuGraphLaunch, EXEC, STREAM);
    forge_line(&f, 8, PYTHON + 128, "train.py:41 step\ntrain.py:55 main\n");
    forge_exec_call(&f, GPHI_CALL_cuGraphLaunch, EXEC, STREAM);
    forge_exec_call(&f, GPHI_CALL_cuGraphLaunch, EXEC, STREAM);
    CHECK(forge_end(&f, 0) == 0);
    CHECK(reported("memory.freed-input") == 1);

    forge_begin(&f, path);
    forge_module(&f, PYTHON, "/usr/bin/python3.13");
    forge_function(&f, KERNEL, "step", 2);
    make_memory(&f);
    forge_graph(&f, STREAM, GRAPH, EXEC, KERNEL, pointers, 2);
    forge_call(&f, GPHI_CALL_cuMemFree, 0, freed, 1);
    forge_line(&f, 7, PYTHON + 64, "train.py:41 step\ntrain.py:55 main\n");
    forge_exec_call(&f, GPHI_CALL_cuGraphLaunch, EXEC, STREAM);
    forge_line(&f, 8, PYTHON + 64, "train.py:41 step\ntrain.py:56 main\n");
    forge_exec_call(&f, GPHI_CALL_cuGraphLaunch, EXEC, STREAM);
    CHECK(forge_end(&f, 0) == 0);
    CHECK(reported("memory.freed-input") == 2);
}

/* Of 600 buffers at the address of one that the graph was given, none is the graph's; some
 * of them share a bit with it where a hash of 8 bits stands for an allocation. */
static void what_comes_to_a_freed_address_is_not_the_graphs(void)
{
    forge f;
    const uint64_t side[] = {OTHER, 1}, memory[] = {BUFFER, 65536}, freed[] = {BUFFER};
    forge_begin(&f, path);
    forge_function(&f, KERNEL, "fill", 1);
    forge_call(&f, GPHI_CALL_cuStreamCreate, 0, side, 2);
    make_memory(&f);
    forge_graph(&f, STREAM, GRAPH, EXEC, KERNEL, pointers, 1);
    forge_call(&f, GPHI_CALL_cuMemFree, 0, freed, 1);
    for (int i = 0; i < 600; i++) {
        forge_exec_call(&f, GPHI_CALL_cuGraphLaunch, EXEC, STREAM);
        forge_call(&f, GPHI_CALL_cuMemAlloc, 0, memory, 2);
        forge_launch(&f, KERNEL, OTHER, 0, pointers, 1);
        forge_call(&f, GPHI_CALL_cuMemFree, 0, freed, 1);
    }
    CHECK(forge_end(&f, 0) == 0);
    CHECK(reported("memory.freed-input") == 1);
    CHECK(reported("memory.read-before-done") == 0);
}

int main(void)
{
    snprintf(path, sizeof(path), "/tmp/gph_rules_log_%ld", (long)getpid());
    RUN(what_nccl_frees_is_not_reported);
    RUN(a_hang_in_teardown_is_reported_when_the_process_was_ended);
    RUN(a_watchdog_that_asks_during_a_capture_is_reported);
    RUN(a_watchdog_that_may_ask_is_not);
    RUN(a_choice_that_lost_later_is_reported);
    RUN(a_choice_that_was_measured_before_is_not);
    RUN(a_line_of_python_is_one_place);
    RUN(what_comes_to_a_freed_address_is_not_the_graphs);
    (void)unlink(path);
    return test_done();
}
