// SPDX-License-Identifier: Apache-2.0
/* Recording: warm-ups, capture, executable. Whatever fails, everything is given back.
 *
 *   warm-ups     the function, eagerly, outputs dropped; workspaces reach their size
 *   bind         the pool records from here on
 *   capture      generator step, cleared tensors, input buffers, function, outputs placed
 *   settle       outputs that stay are kept; shared buffers and temporaries are freed, in
 *                the capture, so that other recordings of the pool may lie over them
 *   executable   made and uploaded, unless the owner shares one (GPHI_RECORD_NO_EXEC)
 *
 * The template graph is dropped then, but where somebody edits it (a generator) or wants
 * it (GPHI_RECORD_KEEP_GRAPH). */
#include "base/clock.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "callable/output.h"
#include "callable/record.h"
#include "cuda/status.h"
#include "replay/capture.h"

#include <string.h>

/* A recording that is going on. */
struct session {
    gphi_record *record;
    const gphi_record_spec *spec;
    gph_capture *capture;
    bool is_bound; /* gph_pool_record_begin() */
    gph_call call;
    CUdeviceptr *made; /* as the function returned its outputs; then copied inputs */
    uint32_t made_count;
};

static gph_status fail_memory(const gphi_record_spec *spec, gph_error *error)
{
    return gphi_fail(error, GPH_E_NO_MEMORY, "recording %s",
                     spec->name ? spec->name : "a function");
}

const char *gphi_phase_name(uint32_t phase)
{
    switch ((gph_phase)phase) {
    case GPH_PHASE_EAGER: return "eager call";
    case GPH_PHASE_WARMUP: return "warm-up";
    case GPH_PHASE_CAPTURE: return "recording";
    }
    return "no phase";
}

void gphi_function_blame(const char *name, const char *phase, gph_error *error)
{
    gphi_fail_in(error, "%.100s%s%s: ", name ? name : "", name ? ", " : "", phase);
}

static void blame(const gphi_record_spec *spec, gph_phase phase, gph_error *error)
{
    gphi_function_blame(spec->name,
                        phase == GPH_PHASE_EAGER && spec->phase ? spec->phase
                                                                : gphi_phase_name(phase),
                        error);
}

static gph_status check_tensors(const gphi_record_spec *spec, gph_error *error)
{
    for (uint32_t i = 0; i < spec->clear_count; i++) {
        GPHI_TRY(gphi_tensor_check(&spec->clear[i], "clear", i, error));
        if (!gphi_tensor_is_dense(&spec->clear[i]))
            return gphi_fail(error, GPH_E_INVALID,
                             "clear %u: its strides leave gaps, which would be cleared, "
                             "too",
                             i);
    }
    for (uint32_t i = 0; spec->into && i < spec->output_count; i++)
        if (spec->into[i].data != 0)
            GPHI_TRY(gphi_tensor_check(&spec->into[i], "output", i, error));
    return GPH_OK;
}

static gph_status check_spec(const gphi_record_spec *spec, gph_phase phase,
                             gph_error *error)
{
    GPHI_TRY(gphi_need_named(error, "a record", spec->function != NULL, "function"));
    GPHI_TRY(gphi_need_named(error, "a record", spec->pool != NULL, "pool"));
    const gph_status status = check_tensors(spec, error);
    if (status != GPH_OK)
        blame(spec, phase, error);
    return status;
}

static gph_status clear_tensors(const gph_runtime *runtime, const gphi_record_spec *spec,
                                CUstream stream, gph_error *error)
{
    const gphi_cuda_table *cu = &runtime->cu;
    for (uint32_t i = 0; i < spec->clear_count; i++) {
        const uint64_t bytes = gph_tensor_bytes(&spec->clear[i]);
        const CUdeviceptr data = spec->clear[i].data;
        if (bytes == 0)
            continue;
        const bool is_words = data % 4 == 0 && bytes % 4 == 0;
        const CUresult result = is_words
                                    ? cu->cuMemsetD32Async(data, 0, bytes / 4, stream)
                                    : cu->cuMemsetD8Async(data, 0, bytes, stream);
        GPHI_TRY(gphi_cuda_check(error, result,
                                 is_words ? "cuMemsetD32Async" : "cuMemsetD8Async",
                                 "clearing tensor %u", i));
    }
    return GPH_OK;
}

/* The function, with an error in any case. Its inputs are the call's; outputs are fresh.
 */
static gph_status call_function(const gphi_record_spec *spec, gph_call *call,
                                gph_error *error)
{
    gph_error own = {0};
    for (uint32_t i = 0; i < spec->output_count; i++)
        call->outputs[i] =
            spec->into && spec->into[i].data != 0 ? spec->into[i] : (gph_tensor){0};
    const gph_status status = spec->function(spec->user, call, &own);
    if (status != GPH_OK && own.code != status)
        gphi_fail(&own, status, "the function returned %s in phase %u",
                  gph_status_name(status), call->phase);
    if (status != GPH_OK && error)
        *error = own;
    return status;
}

static gph_call make_call(gph_runtime *runtime, const gphi_record_spec *spec,
                          gph_phase phase, CUstream stream, gph_tensor *outputs)
{
    return (gph_call){.size = sizeof(gph_call),
                      .phase = (uint32_t)phase,
                      .runtime = runtime,
                      .stream = stream,
                      .pool = spec->pool,
                      .inputs = spec->arguments.inputs,
                      .outputs = outputs,
                      .input_count = spec->arguments.input_count,
                      .output_count = spec->output_count,
                      .key = spec->arguments.key,
                      .key_count = spec->arguments.key_count};
}

/* Where an output is wanted, and is not yet: queues the copy. */
static gph_status place_output(const gph_call *call, const gphi_record_spec *spec,
                               uint32_t index, gph_error *error)
{
    gph_tensor *output = &call->outputs[index];
    GPHI_TRY(gphi_tensor_check(output, "output", index, error));
    const gph_tensor *into = spec->into ? &spec->into[index] : NULL;
    const uint64_t bytes = gph_tensor_bytes(output);
    if (output->data == 0 && bytes > 0)
        return gphi_fail(error, GPH_E_INVALID, "output %u: the function gave it no data",
                         index);
    if (!into || into->data == 0 || into->data == output->data)
        return GPH_OK;
    if (!gphi_tensor_same_layout(into, output))
        return gphi_fail(error, GPH_E_INVALID,
                         "output %u: the function's tensor differs from the caller's "
                         "buffer in type, shape or strides",
                         index);
    if (bytes > 0) {
        GPHI_TRY(
            gphi_cuda_check(error,
                            call->runtime->cu.cuMemcpyDtoDAsync(into->data, output->data,
                                                                bytes, call->stream),
                            "cuMemcpyDtoDAsync", "output %u into its buffer", index));
    }
    output->data = into->data;
    return GPH_OK;
}

/* Calls the function and puts its outputs where they are wanted. `made`: where the
 * function had them, for whoever frees what is not needed. */
static gph_status run_function(const gphi_record_spec *spec, gph_call *call,
                               CUdeviceptr *made, gph_error *error)
{
    GPHI_TRY(call_function(spec, call, error));
    gph_status status = GPH_OK;
    for (uint32_t i = 0; i < spec->output_count; i++)
        made[i] = call->outputs[i].data;
    for (uint32_t i = 0; status == GPH_OK && i < spec->output_count; i++)
        status = place_output(call, spec, i, error);
    if (status != GPH_OK)
        blame(spec, (gph_phase)call->phase, error);
    return status;
}

/* Words for an eager call, in the pool and in stream order. */
static gph_status begin_words(const gphi_record_spec *spec, gph_call *call,
                              gph_error *error)
{
    if (!spec->rng)
        return GPH_OK;
    GPHI_TRY(gph_pool_alloc(spec->pool, 16, call->stream, &call->rng, error));
    const gph_status status = gphi_rng_write(
        spec->rng, call->rng, gph_rng_state_get(spec->rng), call->stream, error);
    if (status != GPH_OK)
        gphi_ignore(gph_pool_free(spec->pool, call->rng, call->stream, NULL),
                    "the first failure counts");
    return status;
}

/* gphi_function_run(), between begin_words() and the end of `before`. What cannot be
 * given back fails the call, too. */
static gph_status run_and_settle(const gphi_record_spec *spec, gph_call *call,
                                 const gphi_held *before, CUdeviceptr *made,
                                 gph_error *error)
{
    const uint32_t count = spec->output_count;
    gph_status status = clear_tensors(call->runtime, spec, call->stream, error);
    GPHI_THEN(status, run_function(spec, call, made, error));
    if (call->rng != 0) {
        const gph_status freed = gph_pool_free(spec->pool, call->rng, call->stream,
                                               status == GPH_OK ? error : NULL);
        status = status == GPH_OK ? freed : status;
    }
    if (call->phase == GPH_PHASE_EAGER && status == GPH_OK)
        status =
            gphi_held_free_new(before, made, call->outputs, count, call->stream, error);
    if (call->phase == GPH_PHASE_EAGER && status == GPH_OK) {
        gph_rng_take(spec->rng, call->rng_count);
        return GPH_OK;
    }
    const gph_status freed = gphi_held_free_new(before, made, NULL, count, call->stream,
                                                status == GPH_OK ? error : NULL);
    return status == GPH_OK ? freed : status;
}

/* gphi_function_run(), with room for `made`. */
static gph_status run_eagerly(const gphi_record_spec *spec, gph_call *call,
                              CUdeviceptr *made, gph_error *error)
{
    gphi_held before;
    GPHI_TRY(gphi_held_read(&before, call->runtime->heap, spec->pool, error));
    gph_status status = begin_words(spec, call, error);
    GPHI_THEN(status, run_and_settle(spec, call, &before, made, error));
    gphi_held_fini(&before);
    return status;
}

gph_status gphi_function_run(gph_runtime *runtime, const gphi_record_spec *spec,
                             gph_phase phase, CUstream stream, gph_tensor *outputs,
                             gph_error *error)
{
    GPHI_TRY(check_spec(spec, phase, error));
    gph_call call = make_call(runtime, spec, phase, stream, outputs);
    const uint32_t count = spec->output_count;
    CUdeviceptr *made = NULL;
    if (count > 0) {
        made = gphi_heap_array(runtime->heap, count, sizeof(*made));
        if (!made)
            return fail_memory(spec, error);
    }
    const gph_status status = run_eagerly(spec, &call, made, error);
    gphi_heap_free(runtime->heap, made, count * sizeof(*made));
    return status;
}

static gph_status warm_up(struct session *s, gph_error *error)
{
    const gphi_record_spec *spec = s->spec;
    gphi_record *record = s->record;
    const uint64_t start = gphi_clock_ns();
    for (uint32_t i = 0; i < spec->arguments.input_count && spec->warmup_count > 0; i++)
        if (spec->arguments.inputs[i].data == 0 && record->input_bytes[i] > 0) {
            gphi_fail(error, GPH_E_INVALID, "input %u: it has no data to warm up with",
                      i);
            blame(spec, GPH_PHASE_WARMUP, error);
            return GPH_E_INVALID;
        }
    for (uint32_t i = 0; i < spec->warmup_count; i++)
        GPHI_TRY(gphi_function_run(record->runtime, spec, GPH_PHASE_WARMUP, spec->stream,
                                   record->outputs, error));
    /* A fault of the warm-up is reported here, and not as the capture's. */
    GPHI_TRY(gphi_cuda_check(error, record->runtime->cu.cuStreamSynchronize(spec->stream),
                             "cuStreamSynchronize", "after %u warm-ups",
                             spec->warmup_count));
    record->warmup_ns = gphi_clock_ns() - start;
    return GPH_OK;
}

/* Buffers of copied inputs, the recording's own; and what it reads of others. */
static gph_status place_inputs(const struct session *s, gph_error *error)
{
    gphi_record *record = s->record;
    const gphi_signature *signature = &record->signature;
    for (uint32_t i = 0; i < signature->input_count; i++) {
        gph_tensor *input = &signature->inputs[i];
        const uint64_t bytes = record->input_bytes[i];
        if (bytes == 0)
            continue;
        if (signature->modes[i] == GPH_INPUT_COPY)
            GPHI_TRY(gph_pool_alloc(record->pool, bytes, s->spec->stream, &input->data,
                                    error));
        else if (signature->modes[i] == GPH_INPUT_MANAGED)
            GPHI_TRY(gph_pool_record_input(record->pool, record->id, input->data, bytes,
                                           error));
    }
    return GPH_OK;
}

/* What stays allocated: allocations of the recording that outputs lie in, and buffers
 * that are not shared. */
static gph_status list_kept(const struct session *s, const gphi_held *own,
                            gph_error *error)
{
    gphi_record *record = s->record;
    const gphi_signature *signature = &record->signature;
    const uint32_t most = record->output_count + signature->input_count;
    if (most == 0)
        return GPH_OK;
    record->kept = gphi_heap_array(record->runtime->heap, most, sizeof(*record->kept));
    if (!record->kept)
        return fail_memory(s->spec, error);
    record->kept_room = most;
    for (uint32_t i = 0; i < record->output_count; i++)
        GPHI_TRY(gphi_held_keep(own, &record->outputs[i], i, record, error));
    for (uint32_t i = 0; i < signature->input_count; i++)
        if (signature->modes[i] == GPH_INPUT_COPY && record->input_bytes[i] > 0 &&
            (record->flags & GPHI_RECORD_SHARE_INPUTS) == 0)
            GPHI_TRY(gphi_held_keep(own, &signature->inputs[i], i, record, error));
    return GPH_OK;
}

/* Keeps what stays and frees, for other graphs, outputs that were copied elsewhere and
 * buffers that are shared. */
static gph_status settle_blocks(const struct session *s, gph_error *error)
{
    gphi_record *record = s->record;
    gphi_held own;
    GPHI_TRY(gphi_held_read_recording(&own, record->runtime->heap, record->pool,
                                      record->id, error));
    gph_status status = list_kept(s, &own, error);
    GPHI_THEN(status, gphi_held_drop(&own, s->made, s->made_count, record,
                                     s->spec->stream, error));
    gphi_held_fini(&own);
    return status;
}

/* Between begin and end of the capture. */
static gph_status record_work(struct session *s, gph_error *error)
{
    gphi_record *record = s->record;
    const gphi_signature *signature = &record->signature;
    if (record->rng.rng)
        GPHI_TRY(gphi_rng_slot_capture(&record->rng, s->spec->stream, error));
    GPHI_TRY(clear_tensors(record->runtime, s->spec, s->spec->stream, error));
    GPHI_TRY(place_inputs(s, error));
    s->call = make_call(record->runtime, s->spec, GPH_PHASE_CAPTURE, s->spec->stream,
                        record->outputs);
    s->call.inputs = signature->inputs;
    s->call.key = signature->key;
    s->call.capture = s->capture;
    s->call.rng = record->rng.words;
    GPHI_TRY(run_function(s->spec, &s->call, s->made, error));
    for (uint32_t i = 0; i < signature->input_count; i++)
        if (signature->modes[i] == GPH_INPUT_COPY)
            s->made[record->output_count + i] = signature->inputs[i].data;
    const gph_status status = settle_blocks(s, error);
    if (status != GPH_OK)
        blame(s->spec, GPH_PHASE_CAPTURE, error);
    return status;
}

/* Most often the function's work went into another stream. */
static void warn_of_nothing(const gphi_record *record)
{
    size_t count = 1;
    if (gph_recording_segment_count(record->recording) <= 1 &&
        record->runtime->cu.cuGraphGetNodes(record->graph, NULL, &count) ==
            CUDA_SUCCESS &&
        count == 0)
        gphi_log("callable", GPH_LOG_WARN,
                 "%s recorded no work: did it use another stream than call->stream?",
                 record->name ? record->name : "a function");
}

/* A plain graph if it is one, else the recording with its breaks and what it holds. */
static gph_status end_capture(struct session *s, gph_error *error)
{
    gphi_record *record = s->record;
    gph_error own = {0};
    gph_status status = gph_capture_end(s->capture, &record->graph, &own);
    if (status == GPH_E_STATE) {
        status = gph_capture_finish(s->capture, &record->recording, &own);
        record->graph = gph_recording_graph(record->recording, 0);
    }
    if (status != GPH_E_STATE) /* taken; else a break failed */
        s->capture = NULL;
    if (status != GPH_OK && error)
        *error = own;
    GPHI_TRY(status);
    if (gph_recording_segment_count(record->recording) > 1 &&
        (record->flags & GPHI_RECORD_NO_EXEC) != 0)
        return gphi_fail(error, GPH_E_UNSUPPORTED,
                         "the function has %u breaks: its graphs share no executable",
                         gph_recording_segment_count(record->recording) - 1);
    return GPH_OK;
}

static gph_status capture(struct session *s, gph_error *error)
{
    gphi_record *record = s->record;
    const uint64_t start = gphi_clock_ns();
    GPHI_TRY(gph_pool_record_begin(record->pool, s->spec->stream, record->name,
                                   &record->id, error));
    s->is_bound = true;
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    options.join = GPH_JOIN_AUTO;
    /* The place is of the function's regions: this line says nothing to the program. */
    GPHI_TRY(gph_capture_begin_at(NULL, record->runtime, s->spec->stream, &options,
                                  &s->capture, error));
    s->capture->pool = record->pool; /* bound above, not by the capture */
    GPHI_TRY(record_work(s, error));
    GPHI_TRY(end_capture(s, error));
    GPHI_TRY(gph_pool_record_end(record->pool, record->id, record->kept,
                                 record->kept_count, NULL, error));
    s->is_bound = false;
    if (record->rng.rng)
        GPHI_TRY(gphi_rng_slot_settle(&record->rng, s->call.rng_count, error));
    warn_of_nothing(record);
    record->capture_ns = gphi_clock_ns() - start;
    return GPH_OK;
}

/* The graph is as it was afterwards, if it stays. */
static gph_status make_exec(gphi_record *record, const gph_exec_options *options,
                            gph_error *error)
{
    GPHI_TRY(gphi_record_pull_enter(record, error));
    const gph_status status =
        gph_exec_create(record->runtime, record->graph, options, &record->exec, error);
    const gph_status left =
        gphi_record_pull_leave(record, status == GPH_OK ? error : NULL);
    return status == GPH_OK ? left : status;
}

gph_status gphi_record_instantiate(gphi_record *record, const gph_exec_options *options,
                                   gph_error *error)
{
    if (record->exec || record->replay)
        return GPH_OK;
    const uint64_t start = gphi_clock_ns();
    if (gph_recording_segment_count(record->recording) > 1)
        GPHI_TRY(gph_replay_create(record->recording, options, &record->replay, error));
    else
        GPHI_TRY(make_exec(record, options, error));
    record->instantiate_ns = gphi_clock_ns() - start;
    return GPH_OK;
}

/* With a recording the graph is its own. */
static void destroy_graph(gphi_record *record)
{
    if (!record->recording && record->graph)
        gphi_ignore((gph_status)record->runtime->cu.cuGraphDestroy(record->graph),
                    "it stays until the context goes");
    record->graph = NULL;
}

/* The template goes, unless somebody needs it: an edit of the generator's node does. */
static void drop_graph(gphi_record *record)
{
    if (!gphi_record_keeps_graph(record))
        destroy_graph(record);
}

static gph_status allocate(gphi_record *record, const gphi_record_spec *spec,
                           gph_error *error)
{
    const gph_allocator heap = record->runtime->heap;
    const uint32_t inputs = spec->arguments.input_count;
    if (inputs > 0) {
        record->input_bytes = gphi_heap_array(heap, inputs, sizeof(uint64_t));
        record->copy_to = gphi_heap_array(heap, inputs, sizeof(CUdeviceptr));
        record->copy_from = gphi_heap_array(heap, inputs, sizeof(CUdeviceptr));
        record->copy_bytes = gphi_heap_array(heap, inputs, sizeof(size_t));
        if (!record->input_bytes || !record->copy_to || !record->copy_from ||
            !record->copy_bytes)
            return fail_memory(spec, error);
        for (uint32_t i = 0; i < inputs; i++)
            record->input_bytes[i] = gph_tensor_bytes(&record->signature.inputs[i]);
    }
    if (spec->output_count > 0) {
        record->output_count = spec->output_count;
        record->outputs =
            gphi_heap_array(heap, spec->output_count, sizeof(*record->outputs));
        if (!record->outputs)
            return fail_memory(spec, error);
    }
    if (spec->name) {
        record->name = gphi_heap_text(heap, spec->name);
        if (!record->name)
            return fail_memory(spec, error);
    }
    return GPH_OK;
}

/* Loaded here, so that no call has to. */
static gph_status find_copier(gphi_record *record, gph_error *error)
{
    uint32_t copied = 0;
    for (uint32_t i = 0; i < record->signature.input_count; i++)
        copied += record->signature.modes[i] == GPH_INPUT_COPY;
    return copied < 2 ? GPH_OK
                      : gphi_copier_retain(record->runtime, &record->copier, error);
}

static gph_status sign(gphi_record *record, const gphi_record_spec *spec,
                       gph_error *error)
{
    const gph_status status = gphi_signature_init(
        &record->signature, record->runtime->heap, &spec->arguments, spec->modes, error);
    if (status != GPH_OK)
        blame(spec, GPH_PHASE_CAPTURE, error);
    return status;
}

/* `record` is destroyed by the caller if it fails. */
static gph_status build(gphi_record *record, const gphi_record_spec *spec,
                        gph_error *error)
{
    struct session s = {.record = record, .spec = spec};
    GPHI_TRY(sign(record, spec, error));
    GPHI_TRY(gphi_cuda_check(
        error, record->runtime->cu.cuCtxGetDevice(&record->signature.device),
        "cuCtxGetDevice", "recording a function"));
    GPHI_TRY(allocate(record, spec, error));
    GPHI_TRY(find_copier(record, error));
    if (spec->rng)
        GPHI_TRY(gphi_rng_slot_init(&record->rng, spec->rng, error));
    GPHI_TRY(warm_up(&s, error));

    s.made_count = record->output_count + record->signature.input_count;
    if (s.made_count > 0) {
        s.made = gphi_heap_array(record->runtime->heap, s.made_count, sizeof(*s.made));
        if (!s.made)
            return fail_memory(spec, error);
    }
    const gph_status status = capture(&s, error);
    gphi_heap_free(record->runtime->heap, s.made, s.made_count * sizeof(*s.made));
    if (s.capture)
        gphi_capture_abandon(s.capture, error);
    if (s.is_bound) {
        gph_pool_record_abort(record->pool, record->id);
        record->id = 0;
    }
    GPHI_TRY(status);
    if ((record->flags & GPHI_RECORD_NO_EXEC) == 0) {
        gph_exec_options options = GPH_EXEC_OPTIONS_INIT;
        options.upload_stream = spec->stream;
        GPHI_TRY(gphi_record_instantiate(record, &options, error));
    }
    drop_graph(record);
    return GPH_OK;
}

gph_status gphi_record_create(gph_runtime *runtime, const gphi_record_spec *spec,
                              gphi_record **out, gph_error *error)
{
    GPHI_TRY(check_spec(spec, GPH_PHASE_CAPTURE, error));
    gphi_record *record = gphi_heap_alloc(runtime->heap, sizeof(*record));
    if (!record)
        return fail_memory(spec, error);
    record->runtime = runtime;
    record->pool = gph_pool_retain(spec->pool);
    record->flags = spec->flags;
    record->signature.heap = runtime->heap;
    const gph_status status = build(record, spec, error);
    if (status != GPH_OK) {
        gphi_record_destroy(record);
        return status;
    }
    gphi_log("callable", GPH_LOG_DEBUG, "%s: recording %u, %u inputs, %u outputs",
             record->name ? record->name : "a function", record->id,
             record->signature.input_count, record->output_count);
    *out = record;
    return GPH_OK;
}

static gph_status adopt(gphi_record *record, const gphi_record_spec *spec,
                        gph_error *error)
{
    GPHI_TRY(gphi_signature_init(&record->signature, record->runtime->heap,
                                 &spec->arguments, spec->modes, error));
    GPHI_TRY(gphi_cuda_check(
        error, record->runtime->cu.cuCtxGetDevice(&record->signature.device),
        "cuCtxGetDevice", "adopting a recording"));
    return allocate(record, spec, error);
}

gph_status gphi_record_adopt(gph_runtime *runtime, const gphi_record_spec *spec,
                             const gph_tensor *outputs, CUgraph graph,
                             gph_recording_id id, gphi_record **out, gph_error *error)
{
    gphi_record *record = gphi_heap_alloc(runtime->heap, sizeof(*record));
    if (!record)
        return fail_memory(spec, error);
    record->runtime = runtime;
    record->pool = gph_pool_retain(spec->pool);
    record->flags = spec->flags | GPHI_RECORD_KEEP_GRAPH;
    record->signature.heap = runtime->heap;
    const gph_status status = adopt(record, spec, error);
    if (status != GPH_OK) {
        gphi_record_destroy(record);
        return status;
    }
    if (record->output_count > 0)
        memcpy(record->outputs, outputs, record->output_count * sizeof(*outputs));
    record->graph = graph;
    record->flows = gphi_conditional_retain(graph);
    record->id = id;
    *out = record;
    return GPH_OK;
}

void gphi_record_destroy(gphi_record *record)
{
    if (!record)
        return;
    const gph_allocator heap = record->runtime->heap;
    const uint32_t inputs = record->signature.input_count;
    gph_exec_destroy(record->exec);
    gph_replay_destroy(record->replay);
    destroy_graph(record);
    gph_recording_destroy(record->recording);
    gphi_conditional_release(record->flows);
    if (record->id != 0)
        gph_pool_record_forget(record->pool, record->id);
    gphi_rng_slot_fini(&record->rng);
    gphi_copier_release(record->copier);
    gph_slots_destroy(record->pulls);
    gphi_heap_free(heap, record->pull_of, inputs * sizeof(*record->pull_of));
    gphi_heap_free(heap, record->kept, record->kept_room * sizeof(*record->kept));
    gphi_heap_free(heap, record->outputs,
                   record->output_count * sizeof(*record->outputs));
    gphi_heap_free(heap, record->input_bytes, inputs * sizeof(*record->input_bytes));
    gphi_heap_free(heap, record->copy_to, inputs * sizeof(*record->copy_to));
    gphi_heap_free(heap, record->copy_from, inputs * sizeof(*record->copy_from));
    gphi_heap_free(heap, record->copy_bytes, inputs * sizeof(*record->copy_bytes));
    gphi_heap_text_free(heap, record->name);
    gphi_signature_fini(&record->signature);
    gph_pool_release(record->pool);
    gphi_heap_free(heap, record, sizeof(*record));
}

gph_exec *gphi_record_take_exec(gphi_record *record)
{
    gph_exec *exec = record->exec;
    record->exec = NULL;
    return exec;
}

void gphi_record_give_exec(gphi_record *record, gph_exec *exec)
{
    record->exec = exec;
}
