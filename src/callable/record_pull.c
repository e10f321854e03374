// SPDX-License-Identifier: Apache-2.0
/* Inputs that a recording's own graph copies (PULL slots of src/slot), so that a call needs
 * one launch and no copy of its own. The template has the kernel only while it is made
 * executable: updates, signatures and files see the graph as it was captured.
 *
 * Copied by calls all the same: inputs that are larger than the border of replay/copy.c,
 * those of a function with breaks (several graphs), and, at each call, what does not lie
 * in memory of the device. */
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "callable/record.h"
#include "cuda/status.h"
#include "replay/query.h"

/* A replay waits for a row as it would for a place in the driver's queue. */
static const uint64_t WAIT_NS = UINT64_C(1) << 62;
enum { DEPTH = 256, DEPTH_OF_MANY = 64, MANY = 32 };

bool gphi_record_keeps_graph(const gphi_record *record)
{
    return record->recording || record->rng.count != 0 ||
           (record->flags & (GPHI_RECORD_KEEP_GRAPH | GPHI_RECORD_NO_EXEC)) != 0;
}

static gph_status look_at(const gph_runtime *runtime, CUgraphNode node, bool *is_plain,
                          gph_error *error)
{
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    GPHI_TRY(gphi_cuda_check(error, runtime->cu.cuGraphNodeGetType(node, &type),
                             "cuGraphNodeGetType", "inputs of a recording"));
    *is_plain =
        type != CU_GRAPH_NODE_TYPE_MEM_ALLOC && type != CU_GRAPH_NODE_TYPE_MEM_FREE;
    return GPH_OK;
}

/* The driver takes no node out of a graph with memory nodes. */
static gph_status may_leave(const gphi_record *record, bool *may, gph_error *error)
{
    const gph_runtime *runtime = record->runtime;
    gphi_vec nodes;
    gphi_vec_init(&nodes, runtime->heap, sizeof(CUgraphNode));
    gph_status status = gphi_nodes_read(runtime, record->graph, &nodes, error);
    *may = true;
    for (size_t i = 0; i < nodes.count && status == GPH_OK && *may; i++)
        status = look_at(runtime, ((const CUgraphNode *)nodes.items)[i], may, error);
    gphi_vec_fini(&nodes);
    return status;
}

static gph_status may_enter(const gphi_record *record, bool *may, gph_error *error)
{
    *may = (record->flags & GPHI_RECORD_PULL) != 0 &&
           gph_recording_segment_count(record->recording) <= 1;
    return *may && gphi_record_keeps_graph(record) ? may_leave(record, may, error)
                                                   : GPH_OK;
}

/* The slots, and which input has which. */
static uint32_t list_slots(const gphi_record *record, gph_slot *slots)
{
    const gphi_signature *signature = &record->signature;
    uint32_t count = 0;
    for (uint32_t i = 0; i < signature->input_count; i++) {
        const uint64_t bytes = record->input_bytes[i];
        record->pull_of[i] = GPHI_RECORD_NO_PULL;
        if (signature->modes[i] != GPH_INPUT_COPY || bytes == 0 ||
            count == GPHI_SLOTS_MAX || !gphi_copy_is_for_graph(record->runtime, bytes))
            continue;
        record->pull_of[i] = count;
        slots[count++] = (gph_slot){
            .kind = GPH_SLOT_PULL, .bytes = bytes, .address = signature->inputs[i].data};
    }
    return count;
}

static gph_status make_table(gphi_record *record, const gph_slot *slots, uint32_t count,
                             gph_error *error)
{
    gph_slots_options options = GPH_SLOTS_OPTIONS_INIT;
    options.depth = count > MANY ? DEPTH_OF_MANY : DEPTH;
    options.wait_ns = WAIT_NS;
    options.flags = GPH_SLOTS_ONE_EXEC;
    GPHI_TRY(
        gph_slots_create(record->runtime, slots, count, &options, &record->pulls, error));
    return gph_slots_enter(record->pulls, record->graph, error);
}

/* Calls do it then. A graph that has a part of it is not to be launched. */
static gph_status do_without(gphi_record *record, const gph_error *why, gph_error *error)
{
    if (why->code == GPH_E_NO_MEMORY ||
        (record->pulls && record->pulls->node_count > 0)) {
        if (error)
            *error = *why;
        return why->code;
    }
    gphi_log("callable", GPH_LOG_WARN, "inputs are copied by calls: %s", why->message);
    gph_slots_destroy(record->pulls);
    record->pulls = NULL;
    return GPH_OK;
}

gph_status gphi_record_pull_enter(gphi_record *record, gph_error *error)
{
    const gph_allocator heap = record->runtime->heap;
    const uint32_t inputs = record->signature.input_count;
    gph_error own = {0};
    bool may = false;
    if (inputs == 0 || record->pull_of)
        return GPH_OK;
    GPHI_TRY(may_enter(record, &may, error));
    if (!may)
        return GPH_OK;
    record->pull_of = gphi_heap_array(heap, inputs, sizeof(*record->pull_of));
    gph_slot *slots = gphi_heap_array(heap, inputs, sizeof(*slots));
    gph_status status = GPH_OK;
    if (!record->pull_of || !slots)
        status = gphi_fail(error, GPH_E_NO_MEMORY, "%u inputs of a recording", inputs);
    else {
        const uint32_t count = list_slots(record, slots);
        if (count > 0 && make_table(record, slots, count, &own) != GPH_OK)
            status = do_without(record, &own, error);
    }
    if (slots)
        gphi_heap_free(heap, slots, inputs * sizeof(*slots));
    return status;
}

gph_status gphi_record_pull_leave(gphi_record *record, gph_error *error)
{
    return record->pulls && gphi_record_keeps_graph(record)
               ? gph_slots_leave(record->pulls, error)
               : GPH_OK;
}
