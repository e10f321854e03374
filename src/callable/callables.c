// SPDX-License-Identifier: Apache-2.0
/* Lists of callables: forwards and backwards, recorded in the order of their calls. */
#include "base/fail.h"
#include "base/heap.h"
#include "callable/callable.h"

#include <string.h>

/* So that indices times counts stay small. */
enum { PAIRS_MAX = 4096 };

/* A list that is being made. */
struct making {
    gph_runtime *runtime;
    const char *forward, *backward; /* arrays of the caller's version of the struct */
    gph_callable **made;            /* by index: forwards, backwards */
    uint32_t count, total;
    bool *launched; /* for warm-ups of those that come later */
};

/* Forwards in order, then backwards from the last to the first. */
static uint32_t index_at(const struct making *m, uint32_t step)
{
    return step < m->count ? step : m->total - 1 - (step - m->count);
}

static gph_status read_options(const struct making *m, uint32_t index,
                               gph_callable_options *out, gph_error *error)
{
    const bool is_backward = index >= m->count;
    const char *array = is_backward ? m->backward : m->forward;
    const size_t stride = ((const gph_callable_options *)(const void *)array)->size;
    const char *at = array + stride * (is_backward ? index - m->count : index);
    return gphi_callable_options_read(out, (const void *)at, true, error);
}

/* What a managed input is: the output it comes from. */
static gph_status resolve(const struct making *m, uint32_t index,
                          const gph_callable_options *options, gph_tensor *inputs,
                          gph_error *error)
{
    for (uint32_t i = 0; i < options->sample.input_count; i++) {
        inputs[i] = options->sample.inputs[i];
        if (!options->sources || !options->modes ||
            options->modes[i] != GPH_INPUT_MANAGED)
            continue;
        const gph_source *source = &options->sources[i];
        const gph_callable *from =
            source->callable < m->total ? m->made[source->callable] : NULL;
        if (!from)
            return gphi_fail(error, GPH_E_INVALID,
                             "callable %u: input %u comes from callable %u, which is not "
                             "recorded before it",
                             index, i, source->callable);
        if (source->output >= from->record->output_count)
            return gphi_fail(error, GPH_E_INVALID,
                             "callable %u: input %u is output %u of callable %u, which "
                             "has %u",
                             index, i, source->output, source->callable,
                             from->record->output_count);
        inputs[i] = from->record->outputs[source->output];
    }
    return GPH_OK;
}

/* A warm-up reads activations: whoever makes them runs once, for the sample. */
static gph_status launch_earlier(struct making *m, uint32_t step, gph_error *error)
{
    for (uint32_t earlier = 0; earlier < step; earlier++) {
        const uint32_t index = index_at(m, earlier);
        gph_callable_options opt;
        GPHI_TRY(read_options(m, index, &opt, error));
        if (m->launched[index])
            continue;
        m->launched[index] = true;
        const gph_rng_state state = gph_rng_state_get(opt.rng);
        const gph_status status = gphi_record_launch(
            m->made[index]->record, NULL, opt.sample.inputs, opt.stream, error);
        gph_rng_state_set(opt.rng, state);
        GPHI_TRY(status);
    }
    return GPH_OK;
}

static gph_status make_one(struct making *m, uint32_t step, gph_error *error)
{
    const uint32_t index = index_at(m, step);
    gph_callable_options opt;
    GPHI_TRY(read_options(m, index, &opt, error));
    const uint32_t count = opt.sample.input_count;
    if (count > 0 && !opt.sample.inputs)
        return gphi_fail(error, GPH_E_INVALID, "callable %u: sample.inputs is NULL",
                         index);
    if (opt.warmup_count > 0 && opt.sources)
        GPHI_TRY(launch_earlier(m, step, error));
    if (count == 0)
        return gphi_callable_make(m->runtime, &opt, &m->made[index], error);
    gph_tensor *inputs = gphi_heap_array(m->runtime->heap, count, sizeof(*inputs));
    GPHI_TRY(gphi_made(error, inputs, "callable %u: %u inputs", index, count));
    gph_status status = resolve(m, index, &opt, inputs, error);
    opt.sample.inputs = inputs;
    GPHI_THEN(status, gphi_callable_make(m->runtime, &opt, &m->made[index], error));
    gphi_heap_free(m->runtime->heap, inputs, count * sizeof(*inputs));
    return status;
}

/* Whether a replay of `writer` changes what `reader` left, as the pool proves it. The
 * pool also refuses what invalidates inputs of the writer: that is another question. */
static bool overwrites(const gphi_record *reader, const gphi_record *writer)
{
    gph_pool_conflict conflict = GPH_SIZED(gph_pool_conflict);
    return reader->pool == writer->pool && reader != writer &&
           gph_pool_may_replay(reader->pool, reader->id, writer->id, GPH_REPLAY_AFTER,
                               &conflict, NULL) == GPH_E_STATE &&
           conflict.second.kind != GPH_RANGE_INPUT;
}

static gph_status join_group(const struct making *m, gph_error *error)
{
    gphi_group *group = NULL;
    GPHI_TRY(gphi_group_create(m->runtime->heap, m->total, &group, error));
    for (uint32_t reader = 0; reader < m->total; reader++) {
        for (uint32_t writer = 0; writer < m->total; writer++)
            group->overwrites[(size_t)reader * m->total + writer] =
                overwrites(m->made[reader]->record, m->made[writer]->record);
        m->made[reader]->group = group;
        m->made[reader]->member = reader;
        atomic_fetch_add_explicit(&group->users, 1, memory_order_relaxed);
    }
    gphi_group_release(group);
    return GPH_OK;
}

static gph_status make_all(struct making *m, gph_error *error)
{
    for (uint32_t step = 0; step < m->total; step++)
        GPHI_TRY(make_one(m, step, error));
    return join_group(m, error);
}

gph_status gph_callables_create(gph_runtime *runtime, const gph_callable_options *forward,
                                const gph_callable_options *backward, uint32_t count,
                                gph_callable **out, gph_error *error)
{
    GPHI_TRY(gphi_need(error, runtime, forward, out));
    if (count == 0 || count > PAIRS_MAX)
        return gphi_fail(error, GPH_E_INVALID, "a list of %u callables: 1 to %d", count,
                         PAIRS_MAX);
    struct making m = {.runtime = runtime,
                       .forward = (const char *)forward,
                       .backward = (const char *)backward,
                       .count = count,
                       .total = backward ? 2 * count : count};
    gph_callable_options first; /* sizes are right, and so are strides */
    GPHI_TRY(gphi_callable_options_read(&first, forward, true, error));
    if (backward)
        GPHI_TRY(gphi_callable_options_read(&first, backward, true, error));
    m.made = gphi_heap_array(runtime->heap, m.total, sizeof(gph_callable *));
    m.launched = gphi_heap_array(runtime->heap, m.total, sizeof(*m.launched));
    gph_status status = GPH_E_NO_MEMORY;
    if (!m.made || !m.launched)
        gphi_fail(error, status, "a list of %u callables", count);
    else
        status = make_all(&m, error);
    if (status == GPH_OK)
        memcpy(out, m.made, m.total * sizeof(gph_callable *));
    for (uint32_t i = m.total; status != GPH_OK && m.made && i-- > 0;)
        gph_callable_destroy(m.made[i]);
    gphi_heap_free(runtime->heap, m.made, m.total * sizeof(gph_callable *));
    gphi_heap_free(runtime->heap, m.launched, m.total * sizeof(*m.launched));
    return status;
}
