// SPDX-License-Identifier: Apache-2.0
/* Replays and calls. */
#include "base/fail.h"
#include "cache/cache.h"
#include "cache/pad.h"
#include "cuda/status.h"
#include "event/note.h"

#include <string.h>

__attribute__((noinline, cold)) static gph_status fail_key(const gph_cache *cache,
                                                           uint32_t key, gph_error *error)
{
    if (!cache || key >= cache->layout.key_count)
        return gphi_fail(error, GPH_E_INVALID, "key %u: there is none", key);
    return gphi_fail(error, GPH_E_STATE, "%s: key %u: %s", cache->name, key,
                     gph_cache_reason_text(gphi_layout_state(&cache->layout, key)));
}

static gph_status launch_shared(gph_cache *cache, uint32_t key, CUstream stream,
                                gph_error *error)
{
    gphi_mutex_lock(&cache->mutex); /* until the launch: another key may want it */
    const gph_status status = cache->buckets[key].entry
                                  ? gphi_cache_launch(cache, key, stream, error)
                                  : fail_key(cache, key, error);
    gphi_mutex_unlock(&cache->mutex);
    return status;
}

/* With a generator. Its numbers are taken and the launch made in one go. No node of an
 * own executable is edited either: the record's graph has to stay what the class'
 * executable was updated with. */
__attribute__((noinline)) static gph_status
launch_drawing(gph_cache *cache, uint32_t key, CUstream stream, gph_error *error)
{
    gph_status status = GPH_OK;
    gphi_mutex_lock(&cache->mutex);
    const gphi_bucket *bucket = &cache->buckets[key];
    gph_exec *exec = atomic_load_explicit(&bucket->own, memory_order_relaxed);
    if (!bucket->entry)
        status = fail_key(cache, key, error);
    else if (!exec)
        status = gphi_cache_hold(cache, key, stream, &exec, error);
    GPHI_THEN(status,
              gphi_record_launch(bucket->entry->record, exec, NULL, stream, error));
    gphi_mutex_unlock(&cache->mutex);
    return status;
}

/* The launch alone. */
static inline gph_status launch(gph_cache *cache, uint32_t key, CUstream stream,
                                gph_error *error)
{
    gphi_bucket *bucket = &cache->buckets[key];
    gph_status status = GPH_OK;
    if (cache->options.rng)
        return launch_drawing(cache, key, stream, error);
    /* first a reader, then the look: gphi_cache_reap() looks the other way round */
    atomic_fetch_add_explicit(&bucket->readers, 1, memory_order_seq_cst);
    gph_exec *own = atomic_load_explicit(&bucket->own, memory_order_seq_cst);
    if (own)
        status = gph_exec_launch(own, stream, error);
    atomic_fetch_sub_explicit(&bucket->readers, 1, memory_order_release);
    if (!own)
        status = launch_shared(cache, key, stream, error);
    return status;
}

static inline void note_use(gph_cache *cache, gphi_bucket *bucket)
{
    const uint32_t now = atomic_load_explicit(&cache->tick, memory_order_relaxed);
    if (atomic_load_explicit(&bucket->used, memory_order_relaxed) != now)
        atomic_store_explicit(&bucket->used, now, memory_order_relaxed);
}

gph_status gph_cache_replay(gph_cache *cache, uint32_t key, CUstream stream,
                            gph_error *error)
{
    if (!cache || key >= cache->layout.key_count)
        return fail_key(cache, key, error);
    const gph_status status = launch(cache, key, stream, error);
    if (status == GPH_OK) {
        gphi_bucket *bucket = &cache->buckets[key];
        atomic_fetch_add_explicit(&bucket->exact, 1, memory_order_relaxed);
        note_use(cache, bucket);
    }
    return status;
}

gph_status gph_cache_output(const gph_cache *cache, uint32_t key, uint32_t index,
                            gph_tensor *out, gph_error *error)
{
    if (!cache || !out || key >= cache->layout.key_count ||
        index >= cache->layout.output_count)
        return gphi_fail(error, GPH_E_INVALID, "output %u of key %u: there is none",
                         index, key);
    gph_cache *self = (gph_cache *)cache; /* for the lock */
    gph_status status = GPH_OK;
    gphi_mutex_lock(&self->mutex);
    const gphi_entry *entry = cache->buckets[key].entry;
    if (!entry)
        status = fail_key(cache, key, error);
    else
        *out = entry->outputs[index];
    gphi_mutex_unlock(&self->mutex);
    return status;
}

/* ---- inputs ---- */

static gph_status check_input(const gph_cache *cache, uint32_t index,
                              const gph_tensor *want, const gph_tensor *got,
                              gph_error *error)
{
    if (got->dtype != want->dtype || got->rank != want->rank)
        return gphi_fail(error, GPH_E_INVALID,
                         "%s: input %u is %s of rank %u, the options say %s of rank %u",
                         cache->name, index, gphi_dtype_name(got->dtype), got->rank,
                         gphi_dtype_name(want->dtype), want->rank);
    for (uint32_t d = 0; d < want->rank; d++)
        if (got->shape[d] != want->shape[d])
            return gphi_fail(error, GPH_E_INVALID,
                             "%s: input %u: shape[%u] is %lld, the sizes make it %lld",
                             cache->name, index, d, (long long)got->shape[d],
                             (long long)want->shape[d]);
    for (uint32_t d = 0; d < want->rank; d++)
        if (got->stride[d] != want->stride[d] && want->shape[d] > 1)
            return gphi_fail(error, GPH_E_INVALID,
                             "%s: input %u: stride[%u] is %lld, dense is %lld",
                             cache->name, index, d, (long long)got->stride[d],
                             (long long)want->stride[d]);
    return GPH_OK;
}

/* Whether the caller has put an input in its place already. */
static bool is_in_place(const gph_cache *cache, const gph_cache_call_args *args,
                        uint32_t index)
{
    return !args->inputs || args->inputs[index].data == 0 ||
           args->inputs[index].data == cache->buffers[index];
}

static gph_status check_inputs(const gph_cache *cache, const gph_cache_call_args *args,
                               gph_error *error)
{
    for (uint32_t i = 0; i < cache->layout.input_count; i++) {
        gph_tensor want;
        if (is_in_place(cache, args, i))
            continue;
        GPHI_TRY(
            gphi_layout_tensor(&cache->layout.tensors[i], args->sizes, 0, &want, error));
        GPHI_TRY(check_input(cache, i, &want, &args->inputs[i], error));
    }
    return GPH_OK;
}

/* Copies what is one piece in both places in one batch, the rest row by row. */
static gph_status copy_inputs(gph_cache *cache, const gph_cache_call_args *args,
                              uint32_t key, gph_error *error)
{
    const gphi_layout *layout = &cache->layout;
    int64_t values[GPH_CACHE_AXES_MAX];
    size_t count = 0;
    gphi_layout_values(layout, key, values);
    for (uint32_t i = 0; i < layout->input_count; i++) {
        const gph_tensor *from = args->inputs ? &args->inputs[i] : NULL;
        gph_tensor to;
        bool is_piece = true;
        uint64_t bytes = gphi_dtype_bytes(layout->tensors[i].dtype);
        if (is_in_place(cache, args, i))
            continue;
        GPHI_TRY(gphi_layout_tensor(&layout->tensors[i], values, cache->buffers[i], &to,
                                    error));
        for (uint32_t d = 0; d < to.rank; d++) {
            bytes *= (uint64_t)from->shape[d];
            is_piece = is_piece && (d == 0 || from->shape[d] == to.shape[d]);
        }
        if (bytes == 0)
            continue;
        if (!is_piece) {
            GPHI_TRY(gphi_pad_copy(cache->runtime, &to, from, from->shape, args->stream,
                                   error));
            continue;
        }
        cache->to[count] = to.data;
        cache->from[count] = from->data;
        cache->bytes[count++] = bytes;
    }
    const gphi_copies copies = {.to = cache->to,
                                .from = cache->from,
                                .bytes = cache->bytes,
                                .count = count,
                                .to_is_own = true};
    return gphi_copy(cache->runtime, cache->copier, &copies, args->stream, error);
}

/* ---- outputs ---- */

/* Results of the real sizes: views, or copies where the caller wants them. */
static gph_status give_outputs(const gph_cache *cache, gph_cache_call_args *args,
                               const gph_tensor *outputs, gph_error *error)
{
    const gphi_layout *layout = &cache->layout;
    for (uint32_t i = 0; args->outputs && i < layout->output_count; i++) {
        gph_tensor *out = &args->outputs[i];
        gph_tensor dense;
        GPHI_TRY(gphi_layout_tensor(&layout->tensors[layout->input_count + i],
                                    args->sizes, out->data, &dense, error));
        if (out->data != 0) {
            GPHI_TRY(gphi_pad_copy(cache->runtime, &dense, &outputs[i], dense.shape,
                                   args->stream, error));
            *out = dense;
            continue;
        }
        *out = outputs[i];
        memcpy(out->shape, dense.shape, sizeof(out->shape));
    }
    return GPH_OK;
}

/* ---- calls ---- */

static gph_status replay_call(gph_cache *cache, gph_cache_call_args *args,
                              gph_error *error)
{
    const uint32_t key = args->match.key;
    gphi_bucket *bucket = &cache->buckets[key];
    gph_tensor *outputs = cache->tensors + cache->layout.input_count + 1;
    GPHI_TRY(copy_inputs(cache, args, key, error));
    if (args->match.verdict == GPH_CACHE_PADDED)
        GPHI_TRY(gphi_cache_fill(cache, key, args->sizes, args->stream, error));
    GPHI_TRY(gphi_cache_sizes_write(cache, args->sizes, args->stream, error));
    GPHI_TRY(launch(cache, key, args->stream, error));
    note_use(cache, bucket);
    for (uint32_t i = 0; args->outputs && i < cache->layout.output_count; i++)
        GPHI_TRY(gph_cache_output(cache, key, i, &outputs[i], error));
    return give_outputs(cache, args, outputs, error);
}

/* Inputs where they are: the caller's, or the buffers laid out for the key wanted. */
static gph_status eager_inputs(gph_cache *cache, const gph_cache_call_args *args,
                               gph_error *error)
{
    const gphi_layout *layout = &cache->layout;
    const uint32_t key = args->match.wanted;
    int64_t values[GPH_CACHE_AXES_MAX];
    if (key != GPH_CACHE_NONE)
        gphi_layout_values(layout, key, values);
    GPHI_TRY(gphi_cache_inputs(cache, args->sizes, cache->tensors, error));
    for (uint32_t i = 0; i < layout->input_count; i++) {
        gph_tensor place;
        if (!is_in_place(cache, args, i)) {
            cache->tensors[i].data = args->inputs[i].data;
            continue;
        }
        if (key == GPH_CACHE_NONE)
            return gphi_fail(error, GPH_E_INVALID,
                             "%s: input %u is to lie in its buffer, but no key holds the "
                             "sizes",
                             cache->name, i);
        GPHI_TRY(gphi_layout_tensor(&layout->tensors[i], values, cache->buffers[i],
                                    &place, error));
        memcpy(cache->tensors[i].stride, place.stride, sizeof(place.stride));
    }
    return GPH_OK;
}

static gph_status eager_call(gph_cache *cache, gph_cache_call_args *args,
                             gph_error *error)
{
    const gphi_layout *layout = &cache->layout;
    gph_tensor *outputs = cache->tensors + layout->input_count + 1;
    for (uint32_t a = 0; a < layout->axis_count; a++)
        if (args->sizes[a] < 0 || args->sizes[a] > GPH_CACHE_SIZE_MAX)
            return gphi_fail(error, GPH_E_INVALID, "%s: %s is %lld", cache->name,
                             layout->axes[a].name, (long long)args->sizes[a]);
    GPHI_TRY(eager_inputs(cache, args, error));
    GPHI_TRY(gphi_cache_sizes_write(cache, args->sizes, args->stream, error));
    gphi_run run = {.cache = cache, .outputs = outputs, .allocations = &cache->lent};
    const gphi_record_spec spec = {.function = gphi_cache_function,
                                   .user = &run,
                                   .name = cache->name,
                                   .arguments = {.inputs = cache->tensors,
                                                 .input_count = layout->input_count + 1,
                                                 .key = args->sizes,
                                                 .key_count = layout->axis_count},
                                   .pool = cache->pool,
                                   .stream = args->stream,
                                   .rng = cache->options.rng};
    cache->lent_stream = args->stream;
    GPHI_TRY(gphi_function_run(cache->runtime, &spec, GPH_PHASE_EAGER, args->stream, NULL,
                               error));
    return give_outputs(cache, args, outputs, error);
}

/* The ranks' word beats this one's. */
static gph_status agree(const gph_cache *cache, gph_cache_call_args *args,
                        gph_error *error)
{
    gph_cache_match *match = &args->match;
    const uint32_t local = match->key;
    uint32_t joint = GPH_CACHE_NONE;
    GPHI_TRY(cache->options.agree(cache->options.user, local, &joint, error));
    if (joint == local)
        return GPH_OK;
    if (joint == GPH_CACHE_NONE) {
        *match = (gph_cache_match){.verdict = GPH_CACHE_EAGER,
                                   .reason = GPH_CACHE_DISAGREED,
                                   .key = GPH_CACHE_NONE,
                                   .wanted = match->wanted};
        return GPH_OK;
    }
    if (joint >= cache->layout.key_count ||
        !gphi_layout_holds(&cache->layout, joint, args->sizes) ||
        gphi_layout_state(&cache->layout, joint) != GPH_CACHE_FITS)
        return gphi_fail(error, GPH_E_STATE,
                         "%s: the ranks chose key %u, which this one cannot replay",
                         cache->name, joint);
    match->key = joint;
    match->verdict = GPH_CACHE_PADDED;
    match->reason = GPH_CACHE_FITS;
    return GPH_OK;
}

/* Nonzero: this miss is to be captured now. Inputs that lie in the buffers would be lost
 * to the warm-up, and ranks would not do it together. */
static bool is_due(gph_cache *cache, const gph_cache_call_args *args)
{
    if (cache->options.lazy != GPH_CACHE_LAZY_CALL || cache->options.agree ||
        args->match.verdict != GPH_CACHE_MISS || args->match.reason == GPH_CACHE_FAILED)
        return false;
    for (uint32_t i = 0; i < cache->layout.input_count; i++)
        if (is_in_place(cache, args, i))
            return false;
    CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_NONE;
    if (cache->runtime->cu.cuStreamIsCapturing(args->stream, &capturing) !=
            CUDA_SUCCESS ||
        capturing != CU_STREAM_CAPTURE_STATUS_NONE)
        return false;
    gphi_mutex_lock(&cache->mutex);
    const bool due =
        cache->buckets[args->match.wanted].asked + 1 >= cache->options.lazy_misses;
    gphi_mutex_unlock(&cache->mutex);
    return due;
}

static gph_status decide(gph_cache *cache, gph_cache_call_args *args, gph_error *error)
{
    gph_cache_match *match = &args->match;
    CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUresult result =
        cache->runtime->cu.cuStreamIsCapturing(args->stream, &capturing);
    if (result != CUDA_SUCCESS)
        return gphi_cuda_fail(error, (gph_status)result, "cuStreamIsCapturing",
                              "stream %p", (void *)args->stream);
    if (capturing != CU_STREAM_CAPTURE_STATUS_NONE) {
        match->verdict = GPH_CACHE_EAGER;
        match->reason = GPH_CACHE_IN_CAPTURE;
        match->key = GPH_CACHE_NONE;
        return GPH_OK;
    }
    return cache->options.agree ? agree(cache, args, error) : GPH_OK;
}

/* Reports a call that worked to the attached library, if one is loaded. */
static void tell_call(const gph_cache *cache, const gph_cache_call_args *args)
{
    const gph_cache_match *match = &args->match;
    const bool is_replayed = match->key != GPH_CACHE_NONE;
    const uint64_t how = match->verdict == GPH_CACHE_EXACT    ? 0
                         : match->verdict == GPH_CACHE_PADDED ? 1
                         : match->verdict == GPH_CACHE_EAGER  ? 2
                                                              : 3;
    const uint64_t words[] = {(uint64_t)(uintptr_t)cache,
                              (uint64_t)gphi_layout_units(&cache->layout, args->sizes),
                              is_replayed ? match->key : match->wanted, how,
                              is_replayed ? (uint64_t)cache->layout.volume[match->key]
                                          : 0};
    gphi_note(GPHI_NOTE_CACHE_HIT, cache->name, words, 5);
}

/* Figures of a call that worked. */
static void count_call(gph_cache *cache, const gph_cache_call_args *args)
{
    const gph_cache_match *match = &args->match;
    if (gphi_note_is_on())
        tell_call(cache, args);
    if (match->wanted != GPH_CACHE_NONE && match->wanted != match->key &&
        gphi_layout_state(&cache->layout, match->wanted) != GPH_CACHE_FITS) {
        gphi_bucket *missed = &cache->buckets[match->wanted];
        atomic_fetch_add_explicit(&missed->misses, 1, memory_order_relaxed);
        gphi_mutex_lock(&cache->mutex);
        missed->asked++;
        gphi_mutex_unlock(&cache->mutex);
    }
    atomic_fetch_add_explicit(&cache->tick, 1, memory_order_relaxed);
    if (match->key == GPH_CACHE_NONE) {
        atomic_fetch_add_explicit(match->verdict == GPH_CACHE_MISS ? &cache->missed
                                                                   : &cache->eager,
                                  1, memory_order_relaxed);
        atomic_fetch_add_explicit(&cache->reasons[match->reason], 1,
                                  memory_order_relaxed);
        return;
    }
    gphi_bucket *bucket = &cache->buckets[match->key];
    const double real = gphi_layout_units(&cache->layout, args->sizes);
    const double all = cache->layout.volume[match->key];
    atomic_fetch_add_explicit(match->verdict == GPH_CACHE_EXACT ? &bucket->exact
                                                                : &bucket->padded,
                              1, memory_order_relaxed);
    atomic_fetch_add_explicit(&bucket->waste, (uint64_t)(all - real),
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&cache->real_units, (uint64_t)real, memory_order_relaxed);
    atomic_fetch_add_explicit(&cache->padded_units, (uint64_t)all, memory_order_relaxed);
}

static gph_status call(gph_cache *cache, gph_cache_call_args *args, gph_error *error)
{
    gph_cache_match *match = &args->match;
    gphi_cache_unlend(cache);
    GPHI_TRY(decide(cache, args, error));
    GPHI_TRY(check_inputs(cache, args, error));
    if (match->key != GPH_CACHE_NONE)
        return replay_call(cache, args, error);
    return eager_call(cache, args, error);
}

/* Captures what is missed. Failing, or finding another thread at it, leaves the call as
 * it was: eager. */
static void capture_now(gph_cache *cache, uint32_t key, CUstream stream)
    GPHI_REQUIRES(&cache->call)
{
    gph_error why = {0};
    if (gphi_cache_busy(cache, &why) != GPH_OK)
        return;
    gphi_ignore(gphi_cache_capture_lazy(cache, key, stream, &why),
                "noted in the key, and in the log");
    gphi_cache_idle(cache);
}

gph_status gph_cache_call(gph_cache *cache, gph_cache_call_args *args, gph_error *error)
{
    GPHI_TRY(gphi_need(error, cache, args));
    if (args->size != sizeof(*args))
        return gphi_fail(error, GPH_E_INVALID, "args->size is %zu, not %zu",
                         (size_t)args->size, sizeof(*args));
    GPHI_TRY(gphi_need_named(error, __func__, args->sizes != NULL, "args->sizes"));
    gphi_mutex_lock(&cache->call);
    gphi_layout_find(&cache->layout, args->sizes, &args->match);
    if (is_due(cache, args) && check_inputs(cache, args, NULL) == GPH_OK) {
        capture_now(cache, args->match.wanted, args->stream);
        gphi_layout_find(&cache->layout, args->sizes, &args->match);
    }
    const gph_status status = call(cache, args, error);
    if (status == GPH_OK)
        count_call(cache, args);
    else
        cache->sizes_known = false;
    gphi_mutex_unlock(&cache->call);
    return status;
}
