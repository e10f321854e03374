// SPDX-License-Identifier: Apache-2.0
/* Callables: a signature in front of a record, and what happens to its outputs.
 *
 *   call ── fits? ── copies of inputs ── generator ── launch ── outputs by their policy
 *             │                                                   LENT    as recorded
 *             └ no: the sentence is put together in a             COPIED  to the caller's
 *               function of its own, so that the path of          INTO    recorded so
 *               a call stays small in the instruction cache
 *
 * An epoch is the number of a call: outputs that are lent are whole until the next one.
 * In a list (callables.c) other members may overwrite them as well: see group.c. */
#include "callable/callable.h"
#include "base/fail.h"
#include "base/heap.h"

#include <stdio.h>

static const uint32_t FLAGS_KNOWN =
    GPH_CALLABLE_KEEP_GRAPH | GPH_CALLABLE_ANY_ORDER | GPH_CALLABLE_SHARE_INPUTS;

static gph_status check_outputs(const gph_callable_options *options, gph_error *error)
{
    for (uint32_t i = 0; options->outputs && i < options->output_count; i++) {
        const gph_output *output = &options->outputs[i];
        if (output->policy > GPH_OUTPUT_INTO)
            return gphi_fail(error, GPH_E_INVALID,
                             "output %u: %u is not a gph_output_policy", i,
                             output->policy);
        if (output->policy == GPH_OUTPUT_INTO && output->into.data == 0)
            return gphi_fail(error, GPH_E_INVALID, "output %u: its buffer has no data",
                             i);
    }
    return GPH_OK;
}

gph_status gphi_callable_options_read(gph_callable_options *out,
                                      const gph_callable_options *options, bool is_listed,
                                      gph_error *error)
{
    GPHI_TRY(gphi_need(error, options));
    GPHI_TRY(
        gphi_options_read(out, sizeof(*out), "gph_callable_options", options, error));
    static const char create[] = "gph_callable_create";
    GPHI_TRY(gphi_need_named(error, create, out->function != NULL, "options.function"));
    GPHI_TRY(gphi_need_named(error, create, out->pool != NULL, "options.pool"));
    if ((out->flags & ~FLAGS_KNOWN) != 0)
        return gphi_fail(error, GPH_E_INVALID, "options.flags 0x%x: only 0x%x are known",
                         out->flags, FLAGS_KNOWN);
    if (out->sources && !is_listed)
        return gphi_fail(error, GPH_E_INVALID,
                         "options.sources is for gph_callables_create()");
    if (out->clear_count > 0 && !out->clear)
        return gphi_fail(error, GPH_E_INVALID, "options.clear is NULL, clear_count is %u",
                         out->clear_count);
    return check_outputs(out, error);
}

static gphi_record_spec spec_of(const gph_callable_options *options,
                                const gph_tensor *into)
{
    uint32_t flags = 0;
    if ((options->flags & GPH_CALLABLE_KEEP_GRAPH) != 0)
        flags |= GPHI_RECORD_KEEP_GRAPH;
    if ((options->flags & GPH_CALLABLE_SHARE_INPUTS) != 0)
        flags |= GPHI_RECORD_SHARE_INPUTS;
    if ((options->flags & GPH_CALLABLE_ANY_ORDER) == 0)
        flags |= GPHI_RECORD_ORDERED;
    return (gphi_record_spec){.function = options->function,
                              .user = options->user,
                              .arguments = options->sample,
                              .modes = options->modes,
                              .into = into,
                              .clear = options->clear,
                              .name = options->name,
                              .pool = options->pool,
                              .stream = options->stream,
                              .rng = options->rng,
                              .output_count = options->output_count,
                              .clear_count = options->clear_count,
                              .warmup_count = options->warmup_count,
                              .flags = flags};
}

/* Where outputs are wanted, for a spec; NULL if none is. */
static gph_status list_into(gph_allocator heap, const gph_callable_options *options,
                            gph_tensor **out, gph_error *error)
{
    *out = NULL;
    if (!options->outputs || options->output_count == 0)
        return GPH_OK;
    gph_tensor *into = gphi_heap_array(heap, options->output_count, sizeof(*into));
    GPHI_TRY(gphi_made(error, into, "%u outputs", options->output_count));
    for (uint32_t i = 0; i < options->output_count; i++)
        if (options->outputs[i].policy == GPH_OUTPUT_INTO)
            into[i] = options->outputs[i].into;
    *out = into;
    return GPH_OK;
}

static void free_into(gph_allocator heap, const gph_callable_options *options,
                      gph_tensor *into)
{
    gphi_heap_free(heap, into, options->output_count * sizeof(*into));
}

static gph_status allocate(gph_callable *callable, gph_allocator heap,
                           const gph_callable_options *options, gph_error *error)
{
    const uint32_t count = options->output_count;
    if (count == 0)
        return GPH_OK;
    callable->policies = gphi_heap_array(heap, count, sizeof(*callable->policies));
    callable->copy_to = gphi_heap_array(heap, count, sizeof(*callable->copy_to));
    callable->copy_from = gphi_heap_array(heap, count, sizeof(*callable->copy_from));
    callable->copy_bytes = gphi_heap_array(heap, count, sizeof(*callable->copy_bytes));
    GPHI_TRY(gphi_made(error,
                       callable->policies && callable->copy_to && callable->copy_from &&
                           callable->copy_bytes,
                       "%u outputs", count));
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t policy = options->outputs ? options->outputs[i].policy : 0;
        callable->policies[i] = (uint8_t)(policy != 0 ? policy : GPH_OUTPUT_LENT);
        callable->copied_count += policy == GPH_OUTPUT_COPIED;
    }
    return GPH_OK;
}

static void destroy(gph_callable *callable, gph_allocator heap, uint32_t count)
{
    gphi_record_destroy(callable->record);
    gphi_copier_release(callable->copier);
    gphi_group_release(callable->group);
    gphi_heap_free(heap, callable->policies, count * sizeof(*callable->policies));
    gphi_heap_free(heap, callable->copy_to, count * sizeof(*callable->copy_to));
    gphi_heap_free(heap, callable->copy_from, count * sizeof(*callable->copy_from));
    gphi_heap_free(heap, callable->copy_bytes, count * sizeof(*callable->copy_bytes));
    gphi_heap_free(heap, callable, sizeof(*callable));
}

gph_status gphi_callable_make(gph_runtime *runtime, const gph_callable_options *options,
                              gph_callable **out, gph_error *error)
{
    const gph_allocator heap = runtime->heap;
    gph_tensor *into = NULL;
    gph_callable *callable = gphi_heap_alloc(heap, sizeof(*callable));
    GPHI_TRY(gphi_made(error, callable, "making a callable"));
    gph_status status = allocate(callable, heap, options, error);
    GPHI_THEN(status, list_into(heap, options, &into, error));
    if (status == GPH_OK) {
        const gphi_record_spec spec = spec_of(options, into);
        status = gphi_record_create(runtime, &spec, &callable->record, error);
    }
    free_into(heap, options, into);
    if (status == GPH_OK && callable->copied_count > 1)
        status = gphi_copier_retain(runtime, &callable->copier, error);
    if (status != GPH_OK) {
        destroy(callable, heap, options->output_count);
        return status;
    }
    *out = callable;
    return GPH_OK;
}

gph_status gph_callable_create(gph_runtime *runtime, const gph_callable_options *options,
                               gph_callable **out, gph_error *error)
{
    gph_callable_options opt;
    GPHI_TRY(gphi_need(error, runtime, out));
    GPHI_TRY(gphi_callable_options_read(&opt, options, false, error));
    return gphi_callable_make(runtime, &opt, out, error);
}

void gph_callable_destroy(gph_callable *callable)
{
    if (callable)
        destroy(callable, callable->record->runtime->heap,
                callable->record->output_count);
}

/* The device is asked for here only: a launch on another one is refused by the driver. */
static uint32_t list_device(const gph_callable *callable, gph_mismatch *out)
{
    const gphi_record *record = callable->record;
    CUdevice device = 0;
    if (record->runtime->cu.cuCtxGetDevice(&device) != CUDA_SUCCESS ||
        device == record->signature.device)
        return 0;
    *out = (gph_mismatch){
        .kind = GPH_MISMATCH_DEVICE, .got = device, .recorded = record->signature.device};
    snprintf(out->text, sizeof(out->text), "device is %d, recorded %d", device,
             record->signature.device);
    return 1;
}

gph_status gph_callable_check(const gph_callable *callable,
                              const gph_arguments *arguments, gph_mismatch *all,
                              uint32_t capacity, uint32_t *count, gph_error *error)
{
    GPHI_TRY(gphi_need(error, callable));
    GPHI_TRY(gphi_need_named(error, __func__, capacity == 0 || all, "all"));
    if (arguments)
        GPHI_TRY(gphi_arguments_given(arguments, __func__, error));
    const gphi_signature *signature = &callable->record->signature;
    gph_mismatch first = {0}, device;
    uint32_t found = gphi_signature_list(signature, arguments, all, capacity);
    if (found > 0)
        gphi_signature_list(signature, arguments, &first, 1);
    if (list_device(callable, &device) > 0) {
        if (found < capacity)
            all[found] = device;
        if (found == 0)
            first = device;
        found++;
    }
    if (count)
        *count = found;
    if (found > 0)
        return gphi_fail(error, GPH_E_INVALID, "%s", first.text);
    return GPH_OK;
}

/* Apart from the call, so that the success path stays small. */
__attribute__((noinline, cold)) static gph_status
fail_fit(const gph_callable *callable, const gph_arguments *arguments, gph_error *error)
{
    gph_mismatch first = {0};
    const uint32_t count =
        gphi_signature_list(&callable->record->signature, arguments, &first, 1);
    gphi_fail(error, GPH_E_INVALID, "%s%s", first.text,
              count > 1 ? ", and more differs" : "");
    gphi_function_blame(callable->record->name, "replay", error);
    return GPH_E_INVALID;
}

static gph_status copy_outputs(gph_callable *callable, gph_tensor *outputs,
                               CUstream stream, gph_error *error)
{
    const gphi_record *record = callable->record;
    size_t count = 0;
    for (uint32_t i = 0; i < record->output_count; i++) {
        const uint64_t bytes = gph_tensor_bytes(&record->outputs[i]);
        if (callable->policies[i] != GPH_OUTPUT_COPIED || outputs[i].data == 0 ||
            bytes == 0)
            continue;
        callable->copy_to[count] = outputs[i].data;
        callable->copy_from[count] = record->outputs[i].data;
        callable->copy_bytes[count] = bytes;
        count++;
    }
    const gphi_copies copies = {.to = callable->copy_to,
                                .from = callable->copy_from,
                                .bytes = callable->copy_bytes,
                                .count = count};
    return gphi_copy(record->runtime, callable->copier, &copies, stream, error);
}

static gph_status give_outputs(gph_callable *callable, gph_tensor *outputs,
                               CUstream stream, gph_error *error)
{
    const gphi_record *record = callable->record;
    if (callable->copied_count > 0)
        GPHI_TRY(copy_outputs(callable, outputs, stream, error));
    for (uint32_t i = 0; i < record->output_count; i++) {
        const CUdeviceptr given = outputs[i].data;
        outputs[i] = record->outputs[i];
        if (callable->policies[i] == GPH_OUTPUT_COPIED)
            outputs[i].data = given;
    }
    return GPH_OK;
}

gph_status gph_callable_call(gph_callable *callable, const gph_arguments *arguments,
                             CUstream stream, gph_tensor *outputs, gph_error *error)
{
    GPHI_TRY(gphi_need(error, callable));
    gphi_record *record = callable->record;
    if (!gphi_signature_fits(&record->signature, arguments))
        return fail_fit(callable, arguments, error);
    GPHI_TRY(gphi_record_launch(record, NULL, arguments ? arguments->inputs : NULL,
                                stream, error));
    callable->epoch++;
    gphi_group *group = callable->group;
    if (group) {
        const uint64_t now =
            atomic_fetch_add_explicit(&group->clock, 1, memory_order_relaxed) + 1;
        atomic_store_explicit(&group->called[callable->member], now,
                              memory_order_relaxed);
    }
    return outputs ? give_outputs(callable, outputs, stream, error) : GPH_OK;
}

uint64_t gph_callable_epoch(const gph_callable *callable)
{
    return callable ? callable->epoch : 0;
}

gph_status gph_callable_epoch_check(const gph_callable *callable, uint64_t epoch,
                                    gph_error *error)
{
    GPHI_TRY(gphi_need(error, callable));
    if (epoch == 0 || epoch > callable->epoch)
        return gphi_fail(error, GPH_E_INVALID,
                         "there was no call %llu, the last was %llu",
                         (unsigned long long)epoch, (unsigned long long)callable->epoch);
    if (epoch < callable->epoch)
        return gphi_fail(error, GPH_E_STATE,
                         "outputs of call %llu were overwritten by call %llu",
                         (unsigned long long)epoch, (unsigned long long)(epoch + 1));
    return callable->group
               ? gphi_group_check(callable->group, callable->member, epoch, error)
               : GPH_OK;
}

gph_tensor gph_callable_input(const gph_callable *callable, uint32_t index)
{
    if (!callable || index >= callable->record->signature.input_count)
        return (gph_tensor){0};
    return callable->record->signature.inputs[index];
}

gph_tensor gph_callable_output(const gph_callable *callable, uint32_t index)
{
    if (!callable || index >= callable->record->output_count)
        return (gph_tensor){0};
    return callable->record->outputs[index];
}

gph_exec *gph_callable_exec(const gph_callable *callable)
{
    if (!callable)
        return NULL;
    const gphi_record *record = callable->record;
    return record->replay ? gph_replay_exec(record->replay, 0) : record->exec;
}

CUgraph gph_callable_graph(const gph_callable *callable)
{
    return callable && (callable->record->flags & GPHI_RECORD_KEEP_GRAPH) != 0
               ? callable->record->graph
               : NULL;
}

gph_recording_id gph_callable_recording(const gph_callable *callable)
{
    return callable ? callable->record->id : 0;
}

gph_status gph_function_call(gph_runtime *runtime, const gph_callable_options *options,
                             const gph_arguments *arguments, CUstream stream,
                             gph_tensor *outputs, gph_error *error)
{
    gph_callable_options opt;
    GPHI_TRY(gphi_need(error, runtime));
    GPHI_TRY(gphi_callable_options_read(&opt, options, true, error));
    if (opt.output_count > 0 && !outputs)
        return gphi_fail(error, GPH_E_INVALID, "outputs is NULL, the function has %u",
                         opt.output_count);
    if (arguments)
        opt.sample = *arguments;
    gph_tensor *into = NULL;
    GPHI_TRY(list_into(runtime->heap, &opt, &into, error));
    const gphi_record_spec spec = spec_of(&opt, into);
    const gph_status status =
        gphi_function_run(runtime, &spec, GPH_PHASE_EAGER, stream, outputs, error);
    free_into(runtime->heap, &opt, into);
    return status;
}
