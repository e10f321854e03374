// SPDX-License-Identifier: Apache-2.0
/* Rules of instantiations, updates and launches on logs made by hand: what softcuda does
 * not have (conditional nodes), sentences and results of NVIDIA's driver, drivers that
 * say nothing; and each allocation of the doctor that fails. */
#include "fault.h"
#include "forge.h"
#include "test.h"

#include <gph/doctor.h>
#include <unistd.h>

static char path[64];

enum {
    STREAM = 0x5000,
    SIDE = 0x5100,
    GRAPH = 0x6000,
    NEWER = 0x6800,
    EXEC = 0x7000,
    KERNEL = 0x8000,
    CONTEXT = 0x9000,
    BUFFER = 0x200000,
    BYTES = 65536
};

static const uint64_t pointers[] = {BUFFER, BUFFER + 4096};

/* Reads the log; the ids of errors and warnings, each with a space after it. */
static gph_status read_log(const gph_allocator *allocator, char *ids, size_t room)
{
    gph_doctor_options options = GPH_DOCTOR_OPTIONS_INIT;
    gph_doctor *doctor = NULL;
    gph_error error = {0};
    options.allocator = allocator;
    ids[0] = '\0';
    gph_status status = gph_doctor_create(&options, &doctor, &error);
    if (status == GPH_OK)
        status = gph_doctor_read(doctor, path, &error);
    if (status == GPH_OK)
        status = gph_doctor_finish(doctor, &error);
    for (uint32_t i = 0; status == GPH_OK && i < gph_doctor_finding_count(doctor); i++) {
        const gph_finding *finding = gph_doctor_finding(doctor, i);
        const size_t used = strlen(ids);
        if (finding->severity != GPH_SEVERITY_INFO)
            snprintf(ids + used, room - used, "%s ", finding->id);
    }
    gph_doctor_destroy(doctor);
    return status;
}

static int finds(const char *wanted)
{
    char ids[1024];
    CHECK(read_log(NULL, ids, sizeof(ids)) == GPH_OK);
    if (strcmp(ids, wanted) != 0)
        fprintf(stderr, "reported: %s\n", ids);
    return strcmp(ids, wanted) == 0;
}

static void begin(forge *f)
{
    const uint64_t made[] = {STREAM, 1}, other[] = {SIDE, 1}, memory[] = {BUFFER, BYTES};
    forge_begin(f, path);
    forge_function(f, KERNEL, "axpy", 2);
    forge_call(f, GPHI_CALL_cuStreamCreate, 0, made, 2);
    forge_call(f, GPHI_CALL_cuStreamCreate, 0, other, 2);
    forge_call(f, GPHI_CALL_cuMemAlloc, 0, memory, 2);
}

/* What launch.crash says in the log that was read last; how many of it there are. */
static int crash_says(char *text, size_t room, const char *evidence)
{
    gph_doctor *doctor = NULL;
    int count = 0;
    text[0] = '\0';
    CHECK(gph_doctor_create(NULL, &doctor, NULL) == GPH_OK &&
          gph_doctor_read(doctor, path, NULL) == GPH_OK &&
          gph_doctor_finish(doctor, NULL) == GPH_OK);
    for (uint32_t i = 0; i < gph_doctor_finding_count(doctor); i++) {
        const gph_finding *finding = gph_doctor_finding(doctor, i);
        if (strcmp(finding->id, "launch.crash") != 0)
            continue;
        count++;
        snprintf(text, room, "%s", finding->cause);
        for (uint32_t k = 0; evidence != NULL && k < finding->evidence_count; k++)
            if (strstr(finding->evidence[k], evidence) != NULL)
                count = -1;
    }
    gph_doctor_destroy(doctor);
    return count;
}

static int cause(char *text, size_t room)
{
    return crash_says(text, room, NULL);
}

static int evidence_has(const char *words)
{
    char text[256];
    return crash_says(text, sizeof(text), words) == -1;
}

/* The driver's sentence on the call that comes next. */
static void say(forge *f, const char *sentence)
{
    forge_text(f, GPHI_EVENT_LOG, 0, NULL, 0, sentence);
    f->time_ns -= 1200;
}

/* A record with a struct, of argument `arg` if it is a call's. */
static void put_with(forge *f, gphi_event head, const uint64_t *words, uint32_t count,
                     gphi_part part, const void *bytes)
{
    _Alignas(64) char record[1024] = {0};
    head.units =
        (uint16_t)((sizeof(head) + count * 8 + sizeof(part) + part.bytes + 63) / 64);
    head.thread = f->thread;
    head.time_ns = f->time_ns += 1000;
    head.word_count = (uint16_t)count;
    head.part_count = 1;
    char *at = record + sizeof(head);
    memcpy(record, &head, sizeof(head));
    memcpy(at, words, count * 8);
    memcpy(at + count * 8, &part, sizeof(part));
    memcpy(at + count * 8 + sizeof(part), bytes, part.bytes);
    f->failed |= gphi_event_save_add(f->save, (const gphi_event *)record, &f->error) != 0;
}

/* A call that passes a struct by argument `arg`. */
static void call_with(forge *f, gphi_call_id call, int result, const uint64_t *words,
                      uint32_t count, uint16_t arg, const void *bytes, uint32_t size)
{
    const gphi_event head = {.kind = GPHI_EVENT_CALL,
                             .stack = f->stack,
                             .u.call = {.call = (uint16_t)call,
                                        .status = 0xFF,
                                        .result = result,
                                        .duration_ns = 500}};
    put_with(f, head, words, count, (gphi_part){GPHI_PART_STRUCT, arg, size}, bytes);
}

/* A snapshot of one node without parameters. */
static void one_node(forge *f, uint64_t graph, gphi_snapshot_why why, uint64_t exec,
                     CUgraphNodeType type)
{
    const uint64_t number = ++f->snapshots;
    const uint64_t words[] = {number, 1, 0, why, exec, 0, 0, 0};
    const uint64_t of[] = {number, 0, type, 0};
    gphi_event head = {.kind = GPHI_EVENT_GRAPH, .id = graph};
    gphi_event node = {.kind = GPHI_EVENT_NODE, .id = graph + 8};
    forge_put(f, &head, words, 8, NULL, 0);
    forge_put(f, &node, of, 4, NULL, 0);
}

/* A snapshot of one node that records an event. */
static void event_node(forge *f, uint64_t graph, uint64_t exec, uint64_t event)
{
    const uint64_t number = ++f->snapshots;
    const uint64_t words[] = {number, 1, 0, GPHI_SNAPSHOT_INSTANTIATED, exec, 0, 0, 0};
    const gphi_part part = {GPHI_PART_STRUCT, 0, 8};
    uint64_t of[] = {number, 0, CU_GRAPH_NODE_TYPE_EVENT_RECORD, 0, 0, event};
    gphi_event head = {.kind = GPHI_EVENT_GRAPH, .id = graph};
    _Alignas(64) char record[128] = {0};
    const gphi_event node = {.kind = GPHI_EVENT_NODE,
                             .units = 2,
                             .thread = f->thread,
                             .time_ns = f->time_ns,
                             .id = graph + 8,
                             .word_count = 4,
                             .part_count = 1};
    forge_put(f, &head, words, 8, NULL, 0);
    memcpy(&of[4], &part, sizeof(part));
    memcpy(record, &node, sizeof(node));
    memcpy(record + sizeof(node), of, sizeof(of));
    f->failed |= gphi_event_save_add(f->save, (const gphi_event *)record, &f->error) != 0;
}

static void instantiate_with(forge *f, int result, CUgraphInstantiateResult why,
                             uint64_t flags)
{
    const uint64_t words[] = {0, GRAPH, 0x1000};
    const CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = flags, .result_out = why};
    call_with(f, GPHI_CALL_cuGraphInstantiateWithParams, result, words, 3, 2, &params,
              sizeof(params));
}

static void create(forge *f, uint64_t graph)
{
    const uint64_t words[] = {graph, 0};
    forge_call(f, GPHI_CALL_cuGraphCreate, 0, words, 2);
}

/* ---- instantiate.* ---- */

static void an_unused_conditional_handle_is_reported(void)
{
    forge f;
    begin(&f);
    create(&f, GRAPH);
    one_node(&f, GRAPH, GPHI_SNAPSHOT_INSTANTIATED, 0, CU_GRAPH_NODE_TYPE_EMPTY);
    instantiate_with(&f, 1, CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED, 0);
    CHECK(forge_end(&f, 0) == 0);
    CHECK(finds("instantiate.conditional "));
}

static void a_second_executable_of_a_conditional_graph_is_reported(void)
{
    forge f;
    const uint64_t made[] = {EXEC, GRAPH, 0}, failed[] = {0, GRAPH, 0};
    const uint64_t destroyed[] = {EXEC};
    begin(&f);
    create(&f, GRAPH);
    one_node(&f, GRAPH, GPHI_SNAPSHOT_INSTANTIATED, EXEC, CU_GRAPH_NODE_TYPE_CONDITIONAL);
    forge_call(&f, GPHI_CALL_cuGraphInstantiateWithFlags, 0, made, 3);
    one_node(&f, GRAPH, GPHI_SNAPSHOT_INSTANTIATED, 0, CU_GRAPH_NODE_TYPE_CONDITIONAL);
    forge_call(&f, GPHI_CALL_cuGraphInstantiateWithFlags, 801, failed, 3);
    forge_call(&f, GPHI_CALL_cuGraphExecDestroy, 0, destroyed, 1);
    CHECK(forge_end(&f, 0) == 0);
    CHECK(finds("instantiate.conditional "));
}

static void a_clone_of_a_conditional_graph_is_reported(void)
{
    forge f;
    const uint64_t words[] = {0, GRAPH};
    begin(&f);
    create(&f, GRAPH);
    say(&f, "Cloning is not supported for graphs containing or contained within a "
            "conditional node");
    forge_call(&f, GPHI_CALL_cuGraphClone, 801, words, 2);
    CHECK(forge_end(&f, 0) == 0);
    CHECK(finds("instantiate.conditional "));
}

/* A failing instantiation of which the driver says a sentence. */
static int sentence_tells(const char *sentence, uint64_t flags, const char *wanted)
{
    forge f;
    const uint64_t words[] = {0, GRAPH, flags};
    begin(&f);
    create(&f, GRAPH);
    one_node(&f, GRAPH, GPHI_SNAPSHOT_INSTANTIATED, 0, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT);
    if (sentence[0] != '\0')
        say(&f, sentence);
    forge_call(&f, GPHI_CALL_cuGraphInstantiateWithFlags, 1, words, 3);
    CHECK(forge_end(&f, 0) == 0);
    return finds(wanted);
}

/* GRAPH: a fill that a stream of CONTEXT captured, and one added in `context`. */
static void two_fills(forge *f, uint64_t context)
{
    const uint64_t current[] = {CONTEXT}, stream[] = {STREAM, 1}, number = ++f->snapshots;
    const uint64_t start[] = {STREAM, 0}, end[] = {STREAM, GRAPH};
    const uint64_t fill_words[] = {BUFFER, 1, 1024, STREAM};
    const uint64_t add[] = {NEWER + 8, GRAPH, 0, 0, 0, context};
    const uint64_t words[] = {number, 2, 0, GPHI_SNAPSHOT_INSTANTIATED, 0, 0, 0, 0};
    const CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = BUFFER, .elementSize = 4, .width = 1024, .height = 1};
    gphi_event captured = {.kind = GPHI_EVENT_CALL,
                           .id = NEWER,
                           .u.call = {.call = GPHI_CALL_cuMemsetD32Async,
                                      .status = 1,
                                      .open = 1,
                                      .capture = NEWER + 16}};
    gphi_event graph = {.kind = GPHI_EVENT_GRAPH, .id = GRAPH};
    forge_call(f, GPHI_CALL_cuCtxSetCurrent, 0, current, 1);
    forge_call(f, GPHI_CALL_cuStreamCreate, 0, stream, 2);
    f->capture = NEWER + 16;
    forge_call(f, GPHI_CALL_cuStreamBeginCapture, 0, start, 2);
    forge_put(f, &captured, fill_words, 4, NULL, 0);
    f->capture = 0;
    forge_call(f, GPHI_CALL_cuStreamEndCapture, 0, end, 2);
    call_with(f, GPHI_CALL_cuGraphAddMemsetNode, 0, add, 6, 4, &fill, sizeof(fill));
    forge_put(f, &graph, words, 8, NULL, 0);
    for (uint64_t i = 0; i < 2; i++) {
        const uint64_t of[] = {number, i, CU_GRAPH_NODE_TYPE_MEMSET, 0};
        const gphi_event node = {.kind = GPHI_EVENT_NODE, .id = NEWER + 8 * i};
        put_with(f, node, of, 4, (gphi_part){GPHI_PART_STRUCT, 0, sizeof(fill)}, &fill);
    }
}

static void nodes_of_two_contexts_are_seen_where_nothing_is_said(void)
{
    const struct {
        uint64_t context, flags;
        const char *reported;
    } cases[] = {{CONTEXT + 8, 4, "instantiate.multiple-contexts "},
                 {CONTEXT, 4, "error.refused-call "},
                 {CONTEXT + 8, 0, "error.refused-call "}};
    for (size_t i = 0; i < 3; i++) {
        const uint64_t words[] = {0, GRAPH, cases[i].flags};
        forge f;
        begin(&f);
        two_fills(&f, cases[i].context);
        forge_call(&f, GPHI_CALL_cuGraphInstantiateWithFlags, 1, words, 3);
        CHECK(forge_end(&f, 0) == 0);
        CHECK(finds(cases[i].reported));
    }
}

/* A program that has no driver from the start did nothing of what it was to do; one that only
 * asks whether there is a device gets an answer. */
static void a_driver_that_did_not_begin_is_reported(void)
{
    const struct {
        int32_t result;
        const char *reported;
    } cases[] = {{2, "error.refused-call "}, {999, "error.refused-call "}, {100, ""}};
    for (size_t i = 0; i < 3; i++) {
        const uint64_t none[] = {0}, current[] = {CONTEXT};
        forge f;
        begin(&f);
        forge_call(&f, GPHI_CALL_cuInit, cases[i].result, none, 1);
        forge_call(&f, GPHI_CALL_cuCtxSetCurrent, 3, current, 1);
        CHECK(forge_end(&f, 0) == 0);
        CHECK(finds(cases[i].reported));
    }
}

static void sentences_of_the_driver_are_understood(void)
{
    CHECK(sentence_tells("Graph cycle detected", 0, "instantiate.cycle "));
    CHECK(sentence_tells("The graph contains unused conditional handles", 0,
                         "instantiate.conditional "));
    CHECK(sentence_tells("Invalid instantiation flags: 0x3e7", 0x3e7,
                         "instantiate.flags "));
    CHECK(sentence_tells("Device-launched graphs and conditional nodes do not support "
                         "HOST nodes",
                         4, "instantiate.node-not-allowed "));
    /* a driver that says nothing: the node speaks for itself */
    CHECK(sentence_tells("", 4, "instantiate.node-not-allowed "));
    /* nothing is known but that it was refused */
    CHECK(sentence_tells("", 0, "error.refused-call "));
}

/* ---- update.* ---- */

/* `newer` of another kind of node is given to an executable, with or without a result;
 * then the executable is launched, or instantiated again, or neither. */
enum next { LAUNCHES, MAKES_ANOTHER, ENDS };

static void refuse(int has_result, CUgraphNodeType type, CUgraphExecUpdateResult result,
                   enum next next)
{
    forge f;
    const uint64_t update[] = {EXEC, NEWER, 0x1000}, made[] = {EXEC + 64, NEWER, 0};
    const CUgraphExecUpdateResultInfo info = {
        .result = result, .errorNode = (CUgraphNode)(uintptr_t)(NEWER + 8)};
    begin(&f);
    forge_graph(&f, STREAM, GRAPH, EXEC, KERNEL, pointers, 2);
    create(&f, NEWER);
    one_node(&f, NEWER, GPHI_SNAPSHOT_UPDATE, EXEC, type);
    if (has_result)
        call_with(&f, GPHI_CALL_cuGraphExecUpdate, 910, update, 3, 2, &info,
                  sizeof(info));
    else
        forge_call(&f, GPHI_CALL_cuGraphExecUpdate, 910, update, 3);
    if (next == MAKES_ANOTHER)
        forge_call(&f, GPHI_CALL_cuGraphInstantiateWithFlags, 0, made, 3);
    if (next != ENDS)
        forge_exec_call(&f, GPHI_CALL_cuGraphLaunch, EXEC, STREAM);
    forge_exec_call(&f, GPHI_CALL_cuGraphExecDestroy, EXEC, 0);
    CHECK(forge_end(&f, 0) == 0);
}

static void a_refused_update_is_reported_by_what_comes_next(void)
{
    for (int has_result = 0; has_result < 2; has_result++) {
        refuse(has_result, CU_GRAPH_NODE_TYPE_EMPTY,
               CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, LAUNCHES);
        CHECK(finds("update.ignored "));
        refuse(has_result, CU_GRAPH_NODE_TYPE_EMPTY,
               CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, MAKES_ANOTHER);
        CHECK(finds(""));
        refuse(has_result, CU_GRAPH_NODE_TYPE_EMPTY,
               CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, ENDS);
        CHECK(finds("update.node-type "));
    }
}

/* What our own look would call another node type: the driver is right. */
static void the_result_of_the_driver_counts(void)
{
    refuse(1, CU_GRAPH_NODE_TYPE_EMPTY, CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED, ENDS);
    CHECK(finds("update.unsupported "));
    refuse(1, CU_GRAPH_NODE_TYPE_EMPTY, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED,
           ENDS);
    CHECK(finds("update.attributes "));
}

static void a_setter_with_a_foreign_node_is_reported(void)
{
    forge f;
    const uint64_t set[] = {EXEC, 0x4444, 0x1000};
    begin(&f);
    forge_graph(&f, STREAM, GRAPH, EXEC, KERNEL, pointers, 2);
    say(&f, "The node handle is not associated to the executable graph via the most "
            "recent cuGraphExecUpdate or cuGraphInstantiate");
    forge_call(&f, GPHI_CALL_cuGraphExecKernelNodeSetParams, 1, set, 3);
    forge_exec_call(&f, GPHI_CALL_cuGraphExecDestroy, EXEC, 0);
    CHECK(forge_end(&f, 0) == 0);
    CHECK(finds("update.node-handle "));
}

/* ---- launch.* ---- */

/* Error 700 at a wait, with `launches` not waited for; the buffer is there or freed. */
static void fault(int result, int launches, int waits, const char *sentence)
{
    forge f;
    const uint64_t stream[] = {STREAM};
    begin(&f);
    forge_graph(&f, STREAM, GRAPH, EXEC, KERNEL, pointers, 2);
    for (int i = 0; i < launches; i++)
        forge_exec_call(&f, GPHI_CALL_cuGraphLaunch, EXEC, STREAM);
    if (waits)
        forge_call(&f, GPHI_CALL_cuStreamSynchronize, 0, stream, 1);
    if (sentence != NULL)
        forge_text(&f, GPHI_EVENT_LOG, 0, NULL, 0, sentence);
    forge_call(&f, GPHI_CALL_cuStreamSynchronize, result, stream, 1);
    forge_call(&f, GPHI_CALL_cuStreamSynchronize, result, stream, 1);
    CHECK(forge_end(&f, 0) == 0);
}

static void an_error_of_the_device_is_a_replays_if_one_was_in_flight(void)
{
    fault(700, 2, 0, NULL);
    CHECK(finds("launch.fault "));
    fault(710, 1, 0, NULL);
    CHECK(finds("launch.assert "));
    fault(700, 1, 0, "kernel axpy (node 3), block [0,0,0]: illegal address 0x10");
    CHECK(finds("launch.fault "));
    fault(700, 0, 0, NULL); /* eager work */
    CHECK(finds(""));
    fault(700, 2, 1, NULL); /* the replays have ended well */
    CHECK(finds(""));
    fault(700, 1, 0, "kernel other, block [0,0,0]: illegal address 0x10");
    CHECK(finds(""));
    fault(704, 1, 0, NULL); /* peer access is enabled already: no error of the device */
    CHECK(finds(""));
    fault(600, 1, 0, NULL);
    CHECK(finds(""));
}

static void a_lost_launch_is_reported_if_the_program_goes_on(void)
{
    for (int reads = 0; reads < 2; reads++) {
        forge f;
        const uint64_t launch[] = {EXEC, STREAM}, copy[] = {0x1000, BUFFER, 64};
        begin(&f);
        forge_graph(&f, STREAM, GRAPH, EXEC, KERNEL, pointers, 2);
        forge_call(&f, GPHI_CALL_cuGraphLaunch, 201, launch, 2);
        if (reads)
            forge_call(&f, GPHI_CALL_cuMemcpyDtoH, 0, copy, 3);
        forge_exec_call(&f, GPHI_CALL_cuGraphExecDestroy, EXEC, 0);
        CHECK(forge_end(&f, 0) == 0);
        CHECK(finds(reads ? "launch.result-ignored " : "error.refused-call "));
    }
}

/* ---- calls in which the process ended ---- */

static void never_returned(forge *f, gphi_call_id call, const uint64_t *words,
                           uint32_t count, uint32_t thread)
{
    gphi_event head = {.kind = GPHI_EVENT_CALL,
                       .stack = f->stack,
                       .u.call = {.call = (uint16_t)call,
                                  .flags = GPHI_CALL_UNRETURNED,
                                  .status = 0xFF,
                                  .result = CUDA_ERROR_UNKNOWN}};
    f->thread = thread;
    forge_put(f, &head, words, count, NULL, 0);
    f->thread = FORGE_THREAD;
}

/* `how` as forge_end() has it; of a signal its number. */
static int crash_ends(forge *f, int how, int number)
{
    const uint64_t words[] = {(uint64_t)number};
    gphi_event head = {.kind = GPHI_EVENT_EXIT, .id = (uint64_t)how};
    if (how >= 0)
        forge_put(f, &head, words, 1, NULL, 0);
    return forge_end(f, -1);
}

/* A launch in which the process ended, while another thread waited. */
static void end_inside(int how, int number, int is_alone)
{
    forge f;
    const uint64_t launch[] = {EXEC, STREAM}, wait[] = {SIDE};
    begin(&f);
    forge_graph(&f, STREAM, GRAPH, EXEC, KERNEL, pointers, 2);
    if (!is_alone)
        never_returned(&f, GPHI_CALL_cuStreamSynchronize, wait, 1, FORGE_THREAD + 1);
    never_returned(&f, GPHI_CALL_cuGraphLaunch, launch, 2, FORGE_THREAD);
    CHECK(crash_ends(&f, how, number) == 0);
}

static void a_crash_inside_of_a_call_is_reported(void)
{
    char text[256];
    for (int alone = 0; alone < 2; alone++) {
        end_inside(2, 11, alone);
        CHECK(finds("launch.crash ") && cause(text, sizeof(text)) == 1);
        CHECK(strstr(text, "SIGSEGV") != NULL && strstr(text, "cuGraphLaunch") != NULL);
        end_inside(2, 6, alone);
        CHECK(finds("launch.crash "));
        end_inside(2, 9, alone); /* killed: info */
        CHECK(finds("") && cause(text, sizeof(text)) == 1);
        end_inside(-1, 0, alone); /* nobody knows how */
        CHECK(finds("") && cause(text, sizeof(text)) == 1);
        end_inside(0, 0, alone); /* exit() in another thread */
        CHECK(finds("") && cause(text, sizeof(text)) == 0);
        end_inside(1, 3, alone);
        CHECK(finds("") && cause(text, sizeof(text)) == 0);
    }
}

static void who_waits_does_not_crash(void)
{
    forge f;
    char text[256];
    const uint64_t wait[] = {SIDE};
    begin(&f);
    never_returned(&f, GPHI_CALL_cuStreamSynchronize, wait, 1, FORGE_THREAD);
    CHECK(crash_ends(&f, 2, 11) == 0);
    CHECK(finds("") && cause(text, sizeof(text)) == 1);
}

static void a_crash_by_what_was_destroyed_names_it(void)
{
    forge f;
    const uint64_t made[] = {0x9000, 0}, destroyed[] = {0x9000}, stream[] = {STREAM};
    const uint64_t record[] = {0x9000, STREAM}, exec[] = {EXEC}, both[] = {EXEC, STREAM};
    begin(&f);
    forge_call(&f, GPHI_CALL_cuEventCreate, 0, made, 2);
    forge_call(&f, GPHI_CALL_cuEventDestroy, 0, destroyed, 1);
    never_returned(&f, GPHI_CALL_cuEventRecord, record, 2, FORGE_THREAD);
    CHECK(crash_ends(&f, 2, 11) == 0);
    CHECK(finds("launch.crash ") && evidence_has("event 0x9000, an argument"));
    begin(&f);
    forge_call(&f, GPHI_CALL_cuStreamDestroy, 0, stream, 1);
    never_returned(&f, GPHI_CALL_cuStreamSynchronize, stream, 1, FORGE_THREAD);
    CHECK(crash_ends(&f, 2, 11) == 0);
    CHECK(finds("launch.crash ") && evidence_has("stream 0x5000, an argument"));
    begin(&f);
    forge_graph(&f, STREAM, GRAPH, EXEC, KERNEL, pointers, 2);
    forge_call(&f, GPHI_CALL_cuGraphExecDestroy, 0, exec, 1);
    never_returned(&f, GPHI_CALL_cuGraphLaunch, both, 2, FORGE_THREAD);
    CHECK(crash_ends(&f, 2, 11) == 0);
    CHECK(finds("launch.crash ") && evidence_has("executable 0x7000, an argument"));
}

/* The event of a graph's node is destroyed; the next launch does not return, or returns,
 * or never comes. */
static void operand_goes(int number, gphi_call_id last)
{
    forge f;
    const uint64_t event[] = {0x9000, 0}, gone[] = {0x9000}, made[] = {EXEC, GRAPH, 0};
    const uint64_t launch[] = {EXEC, STREAM};
    begin(&f);
    forge_call(&f, GPHI_CALL_cuEventCreate, 0, event, 2);
    create(&f, GRAPH);
    event_node(&f, GRAPH, EXEC, 0x9000);
    forge_call(&f, GPHI_CALL_cuGraphInstantiateWithFlags, 0, made, 3);
    forge_exec_call(&f, GPHI_CALL_cuGraphLaunch, EXEC, STREAM);
    forge_call(&f, GPHI_CALL_cuEventDestroy, 0, gone, 1);
    if (last == GPHI_CALL_cuGraphLaunch)
        never_returned(&f, last, launch, 2, FORGE_THREAD);
    else if (last == GPHI_CALL_cuStreamSynchronize)
        never_returned(&f, last, &launch[1], 1, FORGE_THREAD);
    CHECK(crash_ends(&f, 2, number) == 0);
}

static void a_launch_that_its_operand_killed_is_reported_as_that(void)
{
    operand_goes(11, GPHI_CALL_cuGraphLaunch);
    CHECK(finds("launch.dead-operand "));
    operand_goes(11, GPHI_CALL_cuStreamSynchronize); /* it was not launched again */
    CHECK(finds(""));
    operand_goes(9, GPHI_CALL_COUNT);
    CHECK(finds(""));
}

/* ---- calls at the same time ---- */

/* Records in two threads whose times meet, or follow each other. */
static void use_at_once(uint32_t gap_ns)
{
    forge f;
    begin(&f);
    forge_graph(&f, STREAM, GRAPH, EXEC, KERNEL, pointers, 2);
    forge_exec_call(&f, GPHI_CALL_cuGraphLaunch, EXEC, STREAM);
    f.thread++;
    f.time_ns += gap_ns;
    f.time_ns -= 1000;
    const uint64_t update[] = {EXEC, GRAPH, 0};
    forge_call(&f, GPHI_CALL_cuGraphExecUpdate, 0, update, 3);
    f.thread--;
    forge_exec_call(&f, GPHI_CALL_cuGraphExecDestroy, EXEC, 0);
    CHECK(forge_end(&f, 0) == 0);
}

static void uses_that_meet_are_reported(void)
{
    use_at_once(200);
    CHECK(finds("launch.concurrent-use "));
    use_at_once(500); /* as one ends the other begins */
    CHECK(finds(""));
}

/* ---- without memory ---- */

/* A graph that was made into two executables, the second time without its nodes: they are
 * those of snapshot 1, or of one that nobody has seen. */
static void repeat_snapshot(uint64_t same_as)
{
    forge f;
    const uint64_t event[] = {0x9000, 0}, gone[] = {0x9000}, launch[] = {EXEC, STREAM};
    const uint64_t other[] = {EXEC + 64, GRAPH, 0}, made[] = {EXEC, GRAPH, 0};
    begin(&f);
    forge_call(&f, GPHI_CALL_cuEventCreate, 0, event, 2);
    create(&f, GRAPH);
    event_node(&f, GRAPH, EXEC + 64, 0x9000);
    forge_call(&f, GPHI_CALL_cuGraphInstantiateWithFlags, 0, other, 3);
    const uint64_t words[] = {
        ++f.snapshots, 0, 0, GPHI_SNAPSHOT_INSTANTIATED, EXEC, 0, 0, 0, same_as};
    gphi_event head = {.kind = GPHI_EVENT_GRAPH, .id = GRAPH};
    forge_put(&f, &head, words, 9, NULL, 0);
    forge_call(&f, GPHI_CALL_cuGraphInstantiateWithFlags, 0, made, 3);
    forge_call(&f, GPHI_CALL_cuEventDestroy, 0, gone, 1);
    never_returned(&f, GPHI_CALL_cuGraphLaunch, launch, 2, FORGE_THREAD);
    CHECK(crash_ends(&f, 2, 11) == 0);
}

static void a_snapshot_that_repeats_another_is_as_whole(void)
{
    repeat_snapshot(1);
    CHECK(finds("launch.dead-operand "));
    repeat_snapshot(77); /* nothing is known of its nodes */
    CHECK(finds("launch.crash "));
    repeat_snapshot(2); /* of itself */
    CHECK(finds("launch.crash "));
}

static void sweep_allocations(const char *wanted)
{
    char ids[1024];
    gph_status status = GPH_E_NO_MEMORY;
    for (long n = 0; status != GPH_OK && n < 10000; n++) {
        fault_heap heap = {.fail_at = n};
        const gph_allocator allocator = {.realloc = fault_realloc, .user = &heap};
        status = read_log(&allocator, ids, sizeof(ids));
        if (status == GPH_OK && atomic_load(&heap.fail_at) < 0)
            status = GPH_E_NO_MEMORY; /* it did without */
        CHECK(atomic_load(&heap.live_bytes) == 0);
    }
    CHECK(status == GPH_OK && strcmp(ids, wanted) == 0);
}

static void every_allocation_of_an_examination_may_fail(void)
{
    refuse(1, CU_GRAPH_NODE_TYPE_EMPTY, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED,
           LAUNCHES);
    sweep_allocations("update.ignored ");
    repeat_snapshot(1);
    sweep_allocations("launch.dead-operand ");
}

int main(void)
{
    snprintf(path, sizeof(path), "/tmp/gph_launch_log_%ld", (long)getpid());
    RUN(an_unused_conditional_handle_is_reported);
    RUN(a_second_executable_of_a_conditional_graph_is_reported);
    RUN(a_clone_of_a_conditional_graph_is_reported);
    RUN(nodes_of_two_contexts_are_seen_where_nothing_is_said);
    RUN(a_driver_that_did_not_begin_is_reported);
    RUN(sentences_of_the_driver_are_understood);
    RUN(a_refused_update_is_reported_by_what_comes_next);
    RUN(the_result_of_the_driver_counts);
    RUN(a_setter_with_a_foreign_node_is_reported);
    RUN(an_error_of_the_device_is_a_replays_if_one_was_in_flight);
    RUN(a_lost_launch_is_reported_if_the_program_goes_on);
    RUN(a_crash_inside_of_a_call_is_reported);
    RUN(who_waits_does_not_crash);
    RUN(a_crash_by_what_was_destroyed_names_it);
    RUN(a_launch_that_its_operand_killed_is_reported_as_that);
    RUN(uses_that_meet_are_reported);
    RUN(a_snapshot_that_repeats_another_is_as_whole);
    RUN(every_allocation_of_an_examination_may_fail);
    (void)unlink(path);
    return test_done();
}
