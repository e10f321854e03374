// SPDX-License-Identifier: Apache-2.0
/* Axes, keys and shapes, read from the options and checked.
 *
 * The caller's axes and tensors may be of an older or newer header than ours: each
 * element is read by the stride that the options say, and checked once, so that nothing
 * later fails on a shape. Element counts stay below 2^48, which no device holds, so
 * products of sizes, element bytes and counts stay within 64 bits.
 *
 * `home` and `serve` are filled from the largest key down: what serves a key is itself,
 * or the least of what serves the next keys along its padded axes, which are larger and
 * known by then. `serve` is read by replays without a lock: it is stored with release
 * after the graph is in its place. */
#include "cache/layout.h"
#include "base/fail.h"
#include "base/heap.h"

#include <string.h>

gph_status gphi_layout_tensor(const gph_cache_tensor *rule, const int64_t *sizes,
                              CUdeviceptr data, gph_tensor *out, gph_error *error)
{
    static const int64_t limit = (int64_t)1 << 48; /* of elements: no device has more */
    gph_tensor tensor = {.data = data, .dtype = rule->dtype, .rank = rule->rank};
    int64_t count = 1;
    for (uint32_t d = rule->rank; d-- > 0;) {
        int64_t size = rule->shape[d];
        if (rule->axis[d] != 0 &&
            __builtin_mul_overflow(size, sizes[rule->axis[d] - 1], &size))
            size = limit + 1;
        if (rule->axis[d] != 0 && size <= limit)
            size += rule->extra[d];
        tensor.shape[d] = size;
        tensor.stride[d] = count;
        if (size > limit || __builtin_mul_overflow(count, size, &count) || count > limit)
            return gphi_fail(error, GPH_E_INVALID,
                             "a tensor of %s has more than 2^48 elements",
                             gphi_dtype_name(rule->dtype));
    }
    *out = tensor;
    return GPH_OK;
}

static gph_status check_tensor(const gphi_layout *layout, uint32_t index,
                               gph_error *error)
{
    const gph_cache_tensor *rule = &layout->tensors[index];
    const bool is_input = index < layout->input_count;
    const char *kind = is_input ? "input" : "output";
    const uint32_t number = is_input ? index : index - layout->input_count;
    const uint32_t bytes = gphi_dtype_bytes(rule->dtype);
    if (bytes == 0)
        return gphi_fail(error, GPH_E_INVALID, "%s %u: %u is not a gph_dtype", kind,
                         number, rule->dtype);
    if (rule->rank > GPH_TENSOR_RANK_MAX)
        return gphi_fail(error, GPH_E_INVALID, "%s %u: rank %u is beyond %d", kind,
                         number, rule->rank, GPH_TENSOR_RANK_MAX);
    if (rule->fill > GPH_FILL_LAST)
        return gphi_fail(error, GPH_E_INVALID, "%s %u: %u is not a gph_fill_rule", kind,
                         number, rule->fill);
    if (rule->fill == GPH_FILL_VALUE && rule->value != 0 && bytes > 8)
        return gphi_fail(error, GPH_E_INVALID,
                         "%s %u: elements of %u bytes cannot be filled with a value",
                         kind, number, bytes);
    for (uint32_t d = 0; d < rule->rank; d++) {
        if (rule->axis[d] > layout->axis_count)
            return gphi_fail(error, GPH_E_INVALID,
                             "%s %u: dimension %u is on axis %u of %u", kind, number, d,
                             rule->axis[d] - 1u, layout->axis_count);
        if (rule->shape[d] < 1 || rule->extra[d] < 0 ||
            (rule->extra[d] != 0 && rule->axis[d] == 0))
            return gphi_fail(error, GPH_E_INVALID,
                             "%s %u: dimension %u has shape %lld and extra %d", kind,
                             number, d, (long long)rule->shape[d], rule->extra[d]);
    }
    int64_t largest[GPH_CACHE_AXES_MAX] = {0};
    gphi_layout_values(layout, layout->key_count - 1, largest);
    gph_tensor tensor;
    return gphi_layout_tensor(rule, largest, 0, &tensor, error);
}

static gph_status read_tensors(gphi_layout *out, const gph_cache_options *options,
                               gph_error *error)
{
    if ((!options->inputs && options->input_count != 0) ||
        (!options->outputs && options->output_count != 0) ||
        options->input_count > 65536 || options->output_count > 65536)
        return gphi_fail(error, GPH_E_INVALID, "%u inputs and %u outputs",
                         options->input_count, options->output_count);
    out->input_count = options->input_count;
    out->output_count = options->output_count;
    const uint32_t count = out->input_count + out->output_count;
    if (count == 0)
        return GPH_OK;
    out->tensors = gphi_heap_array(out->heap, count, sizeof(*out->tensors));
    GPHI_TRY(gphi_made(error, out->tensors, "%u tensors of a cache", count));
    out->tensor_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const bool is_input = i < out->input_count;
        GPHI_TRY(gphi_element_read(&out->tensors[i], sizeof(*out->tensors),
                                   is_input ? options->inputs : options->outputs,
                                   options->tensor_bytes,
                                   is_input ? i : i - out->input_count, error));
        GPHI_TRY(check_tensor(out, i, error));
    }
    return GPH_OK;
}

/* The last axis has stride 1: keys next to each other differ in it. */
static gph_status read_axes(gphi_layout *out, const gph_cache_options *options,
                            gph_error *error)
{
    if (!options->axes || options->axis_count < 1 ||
        options->axis_count > GPH_CACHE_AXES_MAX)
        return gphi_fail(error, GPH_E_INVALID, "%u axes: it takes 1 to %d",
                         !options->axes ? 0 : options->axis_count, GPH_CACHE_AXES_MAX);
    uint64_t keys = 1;
    for (uint32_t a = 0; a < options->axis_count; a++) {
        gph_cache_axis axis;
        GPHI_TRY(gphi_element_read(&axis, sizeof(axis), options->axes,
                                   options->axis_bytes, a, error));
        out->axis_count = a + 1;
        GPHI_TRY(gphi_axis_init(&out->axes[a], &axis, out->heap, error));
        keys *= out->axes[a].count;
        if (keys > GPH_CACHE_KEYS_MAX)
            return gphi_fail(error, GPH_E_INVALID, "more than %d keys with axis %s",
                             GPH_CACHE_KEYS_MAX, out->axes[a].name);
        for (uint32_t b = 0; b < a; b++)
            if (strcmp(out->axes[a].name, out->axes[b].name) == 0)
                return gphi_fail(error, GPH_E_INVALID, "two axes are named %s",
                                 out->axes[a].name);
    }
    uint32_t stride = 1;
    for (uint32_t a = options->axis_count; a-- > 0;) {
        out->axes[a].stride = stride;
        stride *= out->axes[a].count;
    }
    out->key_count = (uint32_t)keys;
    return GPH_OK;
}

/* The least of what serves the key's successors; `self` if it serves itself. */
static uint32_t least(const gphi_layout *layout, uint32_t key, bool is_own,
                      const uint32_t *plain, const _Atomic uint32_t *shared)
{
    if (is_own)
        return key;
    uint32_t best = GPH_CACHE_NONE;
    for (uint32_t a = 0; a < layout->axis_count; a++) {
        const struct gphi_axis *axis = &layout->axes[a];
        if (axis->is_discrete || key / axis->stride % axis->count == axis->count - 1)
            continue;
        const uint32_t next = key + axis->stride;
        const uint32_t other =
            plain ? plain[next]
                  : atomic_load_explicit(&shared[next], memory_order_relaxed);
        if (other != GPH_CACHE_NONE &&
            (best == GPH_CACHE_NONE || layout->volume[other] < layout->volume[best]))
            best = other;
    }
    return best;
}

/* From the largest key down, as `home` needs it; `wanted` is called in that order,
 * too. */
static gph_status make_keys(gphi_layout *out, const gph_cache_options *options,
                            gph_error *error)
{
    const uint32_t count = out->key_count;
    out->volume = gphi_heap_array(out->heap, count, sizeof(*out->volume));
    out->home = gphi_heap_array(out->heap, count, sizeof(*out->home));
    out->serve = gphi_heap_array(out->heap, count, sizeof(*out->serve));
    out->state = gphi_heap_array(out->heap, count, sizeof(*out->state));
    GPHI_TRY(gphi_made(error, out->volume && out->home && out->serve && out->state,
                       "%u keys of a cache", count));
    bool any = false;
    for (uint32_t k = count; k-- > 0;) {
        int64_t values[GPH_CACHE_AXES_MAX];
        gphi_layout_values(out, k, values);
        out->volume[k] = gphi_layout_units(out, values);
        const bool wanted =
            !options->wanted || options->wanted(options->user, values) != 0;
        any |= wanted;
        atomic_init(&out->serve[k], GPH_CACHE_NONE);
        atomic_init(&out->state[k],
                    (uint8_t)(wanted ? GPH_CACHE_NOT_CAPTURED : GPH_CACHE_NOT_WANTED));
        out->home[k] = least(out, k, wanted, out->home, NULL);
    }
    if (!any)
        return gphi_fail(error, GPH_E_INVALID, "none of %u keys is wanted", count);
    return GPH_OK;
}

gph_status gphi_layout_init(gphi_layout *out, const gph_cache_options *options,
                            gph_allocator heap, gph_error *error)
{
    *out = (gphi_layout){.heap = heap};
    if (!(options->overshoot_max == 0 || options->overshoot_max >= 1))
        return gphi_fail(error, GPH_E_INVALID, "overshoot_max %g is below 1",
                         options->overshoot_max);
    out->overshoot_max = options->overshoot_max;
    gph_status status = read_axes(out, options, error);
    GPHI_THEN(status, read_tensors(out, options, error));
    GPHI_THEN(status, make_keys(out, options, error));
    if (status != GPH_OK)
        gphi_layout_fini(out);
    return status;
}

void gphi_layout_fini(gphi_layout *layout)
{
    const size_t count = layout->key_count;
    for (uint32_t a = 0; a < layout->axis_count; a++)
        gphi_axis_fini(&layout->axes[a], layout->heap);
    gphi_heap_free(layout->heap, layout->tensors,
                   layout->tensor_count * sizeof(*layout->tensors));
    gphi_heap_free(layout->heap, layout->volume, count * sizeof(*layout->volume));
    gphi_heap_free(layout->heap, layout->home, count * sizeof(*layout->home));
    gphi_heap_free(layout->heap, (void *)layout->serve, count * sizeof(*layout->serve));
    gphi_heap_free(layout->heap, (void *)layout->state, count * sizeof(*layout->state));
    memset(layout, 0, sizeof(*layout));
}

void gphi_layout_values(const gphi_layout *layout, uint32_t key, int64_t *out)
{
    for (uint32_t a = 0; a < layout->axis_count; a++) {
        const struct gphi_axis *axis = &layout->axes[a];
        out[a] = axis->values[key / axis->stride % axis->count];
    }
}

double gphi_layout_units(const gphi_layout *layout, const int64_t *sizes)
{
    double units = 1;
    for (uint32_t a = 0; a < layout->axis_count; a++)
        if (!layout->axes[a].is_discrete)
            units *= (double)sizes[a];
    return units;
}

bool gphi_layout_holds(const gphi_layout *layout, uint32_t key, const int64_t *sizes)
{
    for (uint32_t a = 0; a < layout->axis_count; a++) {
        const struct gphi_axis *axis = &layout->axes[a];
        const int64_t value = axis->values[key / axis->stride % axis->count];
        if (axis->is_discrete ? sizes[a] != value : sizes[a] < 1 || sizes[a] > value)
            return false;
    }
    return true;
}

void gphi_layout_mark(gphi_layout *layout, uint32_t key, gph_cache_reason state)
{
    atomic_store_explicit(&layout->state[key], (uint8_t)state, memory_order_relaxed);
}

gph_cache_reason gphi_layout_state(const gphi_layout *layout, uint32_t key)
{
    return (gph_cache_reason)atomic_load_explicit(&layout->state[key],
                                                  memory_order_relaxed);
}

void gphi_layout_serve(gphi_layout *layout)
{
    for (uint32_t k = layout->key_count; k-- > 0;) {
        const bool own = gphi_layout_state(layout, k) == GPH_CACHE_FITS;
        const uint32_t by = least(layout, k, own, NULL, layout->serve);
        /* with the acquire in find(): whoever sees the key sees its graph */
        atomic_store_explicit(&layout->serve[k], by, memory_order_release);
    }
}

void gphi_layout_say(const gphi_layout *layout, const int64_t *values, gphi_text *text)
{
    for (uint32_t a = 0; a < layout->axis_count; a++)
        gphi_text_add(text, "%s%s %lld", a == 0 ? "" : ", ", layout->axes[a].name,
                      (long long)values[a]);
}

void gphi_layout_name(const gphi_layout *layout, const int64_t *values, char *name,
                      size_t bytes)
{
    gphi_text text;
    gphi_text_fix(&text, name, bytes);
    gphi_layout_say(layout, values, &text);
}
