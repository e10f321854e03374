// SPDX-License-Identifier: Apache-2.0
/* Tensors, and how those of a call differ from those recorded.
 *
 * Twice the same question: gphi_signature_fits() answers yes or no on the way of every
 * call, without a branch for each field; gphi_signature_list() is asked after a no, and
 * says all that differs. Both take strides of axes with one element for equal, since
 * they lead nowhere, and a tensor of zeros for "what lies in the recorded place is
 * right". */
#include "callable/signature.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* No tensor spans more, so that sums of spans do not overflow. */
#define SPAN_MAX ((uint64_t)1 << 62)

uint32_t gphi_dtype_bytes(uint32_t dtype)
{
    switch (dtype) {
#define X(name, value, bytes, text)                                                      \
    case name: return bytes;
        GPH_DTYPE_MAP(X)
#undef X
    default: return 0;
    }
}

const char *gphi_dtype_name(uint32_t dtype)
{
    switch (dtype) {
#define X(name, value, bytes, text)                                                      \
    case name: return text;
        GPH_DTYPE_MAP(X)
#undef X
    default: return "no type";
    }
}

gph_tensor gph_tensor_dense(CUdeviceptr data, gph_dtype dtype, uint32_t rank,
                            const int64_t *shape)
{
    gph_tensor tensor = {.dtype = (uint32_t)dtype};
    if (rank > GPH_TENSOR_RANK_MAX || (rank > 0 && !shape))
        return tensor;
    tensor.data = data;
    tensor.rank = rank;
    int64_t stride = 1;
    for (uint32_t i = rank; i-- > 0;) {
        tensor.shape[i] = shape[i];
        tensor.stride[i] = stride;
        if (shape[i] > 0 && __builtin_mul_overflow(stride, shape[i], &stride))
            stride = INT64_MAX; /* gph_tensor_bytes() then says 0 */
    }
    return tensor;
}

/* False: a negative shape or stride, or beyond SPAN_MAX. */
static bool span_of(const gph_tensor *tensor, uint64_t *out)
{
    const uint64_t bytes = gphi_dtype_bytes(tensor->dtype);
    uint64_t last = 0; /* index of the last element */
    bool is_empty = false;
    if (bytes == 0 || tensor->rank > GPH_TENSOR_RANK_MAX)
        return false;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        uint64_t step = 0;
        if (tensor->shape[i] < 0 || tensor->stride[i] < 0)
            return false;
        if (tensor->shape[i] == 0) {
            is_empty = true;
            continue;
        }
        if (__builtin_mul_overflow((uint64_t)tensor->shape[i] - 1,
                                   (uint64_t)tensor->stride[i], &step) ||
            __builtin_add_overflow(last, step, &last) || last >= SPAN_MAX)
            return false;
    }
    if (last + 1 > SPAN_MAX / bytes)
        return false;
    *out = is_empty ? 0 : (last + 1) * bytes;
    return true;
}

uint64_t gph_tensor_bytes(const gph_tensor *tensor)
{
    uint64_t bytes = 0;
    return tensor && span_of(tensor, &bytes) ? bytes : 0;
}

bool gphi_tensor_is_dense(const gph_tensor *tensor)
{
    int64_t stride = 1;
    for (uint32_t i = tensor->rank; i-- > 0;) {
        if (tensor->shape[i] == 1)
            continue;
        if (tensor->stride[i] != stride)
            return false;
        if (__builtin_mul_overflow(stride, tensor->shape[i], &stride))
            return false;
    }
    return true;
}

static gph_status fail_span(const gph_tensor *tensor, const char *what, uint32_t index,
                            gph_error *error)
{
    char shape[8 + 21 * GPH_TENSOR_RANK_MAX];
    gphi_text text;
    gphi_text_fix(&text, shape, sizeof(shape));
    for (uint32_t i = 0; i < tensor->rank; i++)
        gphi_text_add(&text, "%s%lld", i > 0 ? ", " : "", (long long)tensor->shape[i]);
    return gphi_fail(error, GPH_E_INVALID, "%s %u: %s[%s] spans more than 2^62 bytes",
                     what, index, gphi_dtype_name(tensor->dtype), shape);
}

gph_status gphi_tensor_check(const gph_tensor *tensor, const char *what, uint32_t index,
                             gph_error *error)
{
    if (gphi_dtype_bytes(tensor->dtype) == 0)
        return gphi_fail(error, GPH_E_INVALID, "%s %u: %u is not a gph_dtype", what,
                         index, tensor->dtype);
    if (tensor->rank > GPH_TENSOR_RANK_MAX)
        return gphi_fail(error, GPH_E_INVALID, "%s %u: rank %u, at most %d", what, index,
                         tensor->rank, GPH_TENSOR_RANK_MAX);
    for (uint32_t i = 0; i < tensor->rank; i++)
        if (tensor->shape[i] < 0 || tensor->stride[i] < 0)
            return gphi_fail(error, GPH_E_INVALID,
                             "%s %u: shape[%u] is %lld and stride[%u] is %lld, neither "
                             "may be negative",
                             what, index, i, (long long)tensor->shape[i], i,
                             (long long)tensor->stride[i]);
    uint64_t bytes = 0;
    return span_of(tensor, &bytes) ? GPH_OK : fail_span(tensor, what, index, error);
}

/* The fields after `data`, without what lies beyond the rank. */
static gph_tensor trimmed(const gph_tensor *tensor)
{
    gph_tensor out = {.data = tensor->data, .dtype = tensor->dtype, .rank = tensor->rank};
    memcpy(out.shape, tensor->shape, tensor->rank * sizeof(*out.shape));
    memcpy(out.stride, tensor->stride, tensor->rank * sizeof(*out.stride));
    return out;
}

gph_status gphi_arguments_given(const gph_arguments *arguments, const char *function,
                                gph_error *error)
{
    GPHI_TRY(gphi_need_named(error, function,
                             arguments->input_count == 0 || arguments->inputs,
                             "arguments->inputs"));
    return gphi_need_named(error, function, arguments->key_count == 0 || arguments->key,
                           "arguments->key");
}

static gph_status check_arguments(const gph_arguments *arguments, const uint8_t *modes,
                                  gph_error *error)
{
    GPHI_TRY(gphi_arguments_given(arguments, "gph_callable_create", error));
    for (uint32_t i = 0; i < arguments->input_count; i++) {
        const gph_tensor *input = &arguments->inputs[i];
        const uint8_t mode = modes ? modes[i] : GPH_INPUT_COPY;
        GPHI_TRY(gphi_tensor_check(input, "input", i, error));
        if (mode < GPH_INPUT_COPY || mode > GPH_INPUT_MANAGED)
            return gphi_fail(error, GPH_E_INVALID, "input %u: %u is not a gph_input_mode",
                             i, mode);
        if (mode != GPH_INPUT_COPY && input->data == 0 && gph_tensor_bytes(input) > 0)
            return gphi_fail(error, GPH_E_INVALID, "input %u: a %s input has no data", i,
                             mode == GPH_INPUT_STATIC ? "static" : "managed");
    }
    return GPH_OK;
}

gph_status gphi_signature_init(gphi_signature *signature, gph_allocator heap,
                               const gph_arguments *arguments, const uint8_t *modes,
                               gph_error *error)
{
    GPHI_TRY(check_arguments(arguments, modes, error));
    gphi_signature s = {.heap = heap,
                        .input_count = arguments->input_count,
                        .key_count = arguments->key_count};
    if (s.input_count > 0) {
        s.inputs = gphi_heap_array(heap, s.input_count, sizeof(*s.inputs));
        s.modes = gphi_heap_array(heap, s.input_count, sizeof(*s.modes));
    }
    if (s.key_count > 0)
        s.key = gphi_heap_array(heap, s.key_count, sizeof(*s.key));
    if ((s.input_count > 0 && (!s.inputs || !s.modes)) || (s.key_count > 0 && !s.key)) {
        gphi_signature_fini(&s);
        return gphi_fail(error, GPH_E_NO_MEMORY, "a signature of %u inputs",
                         s.input_count);
    }
    for (uint32_t i = 0; i < s.input_count; i++) {
        s.inputs[i] = trimmed(&arguments->inputs[i]);
        s.modes[i] = modes ? modes[i] : GPH_INPUT_COPY;
    }
    if (s.key_count > 0)
        memcpy(s.key, arguments->key, s.key_count * sizeof(*s.key));
    *signature = s;
    return GPH_OK;
}

void gphi_signature_fini(gphi_signature *s)
{
    gphi_heap_free(s->heap, s->inputs, s->input_count * sizeof(*s->inputs));
    gphi_heap_free(s->heap, s->modes, s->input_count * sizeof(*s->modes));
    gphi_heap_free(s->heap, s->key, s->key_count * sizeof(*s->key));
    *s = (gphi_signature){.heap = s->heap};
}

/* "What lies in the recorded place is right." */
static inline bool is_as_recorded(const gph_tensor *tensor)
{
    return tensor->data == 0 && tensor->dtype == 0 && tensor->rank == 0;
}

/* The stride of an axis of one element, or of a tensor of none, leads nowhere. */
static bool stride_matters(const gph_tensor *tensor, uint32_t axis)
{
    return tensor->shape[axis] > 1;
}

bool gphi_tensor_same_layout(const gph_tensor *got, const gph_tensor *recorded)
{
    if (got->dtype != recorded->dtype || got->rank != recorded->rank)
        return false;
    for (uint32_t i = 0; i < recorded->rank; i++)
        if (got->shape[i] != recorded->shape[i] ||
            (got->stride[i] != recorded->stride[i] && stride_matters(recorded, i)))
            return false;
    return true;
}

/* Most calls come with tensors that are equal in all fields, strides of axes of one
 * element too: no branch but one a field. */
static inline bool same_layout(const gph_tensor *got, const gph_tensor *recorded)
{
    int64_t differs =
        (int64_t)(got->dtype ^ recorded->dtype) | (int64_t)(got->rank ^ recorded->rank);
    for (uint32_t i = 0; i < recorded->rank; i++)
        differs |=
            (got->shape[i] ^ recorded->shape[i]) | (got->stride[i] ^ recorded->stride[i]);
    return differs == 0 || gphi_tensor_same_layout(got, recorded);
}

bool gphi_signature_fits(const gphi_signature *s, const gph_arguments *arguments)
{
    if (!arguments)
        return true;
    if (arguments->input_count != s->input_count || arguments->key_count != s->key_count)
        return false;
    for (uint32_t i = 0; i < s->key_count; i++)
        if (arguments->key[i] != s->key[i])
            return false;
    for (uint32_t i = 0; i < s->input_count; i++) {
        const gph_tensor *got = &arguments->inputs[i], *recorded = &s->inputs[i];
        if (is_as_recorded(got))
            continue;
        if (!same_layout(got, recorded))
            return false;
        if (got->data == recorded->data)
            continue;
        if ((s->modes[i] != GPH_INPUT_COPY || got->data == 0) &&
            gph_tensor_bytes(recorded) > 0)
            return false;
    }
    return true;
}

struct list {
    gph_mismatch *all;
    uint32_t capacity, count;
};

static void add(struct list *list, gph_mismatch mismatch, const char *format, ...)
    GPH_PRINTF(3, 4);

static void add(struct list *list, gph_mismatch mismatch, const char *format, ...)
{
    if (list->count < list->capacity) {
        va_list args;
        va_start(args, format);
        vsnprintf(mismatch.text, sizeof(mismatch.text), format, args);
        va_end(args);
        list->all[list->count] = mismatch;
    }
    list->count++;
}

static void list_axes(struct list *list, uint32_t index, const gph_tensor *got,
                      const gph_tensor *recorded)
{
    for (uint32_t i = 0; i < recorded->rank; i++)
        if (got->shape[i] != recorded->shape[i])
            add(list,
                (gph_mismatch){.kind = GPH_MISMATCH_SHAPE,
                               .index = index,
                               .axis = i,
                               .got = got->shape[i],
                               .recorded = recorded->shape[i]},
                "input %u: shape[%u] is %lld, recorded %lld", index, i,
                (long long)got->shape[i], (long long)recorded->shape[i]);
    for (uint32_t i = 0; i < recorded->rank; i++)
        if (got->stride[i] != recorded->stride[i] && stride_matters(recorded, i))
            add(list,
                (gph_mismatch){.kind = GPH_MISMATCH_STRIDE,
                               .index = index,
                               .axis = i,
                               .got = got->stride[i],
                               .recorded = recorded->stride[i]},
                "input %u: stride[%u] is %lld, recorded %lld", index, i,
                (long long)got->stride[i], (long long)recorded->stride[i]);
}

static void list_data(struct list *list, uint32_t index, uint8_t mode,
                      const gph_tensor *got, const gph_tensor *recorded)
{
    gph_mismatch m = {
        .index = index, .got = (int64_t)got->data, .recorded = (int64_t)recorded->data};
    if (got->data == recorded->data || gph_tensor_bytes(recorded) == 0)
        return;
    if (got->data == 0) {
        m.kind = GPH_MISMATCH_DATA;
        add(list, m, "input %u: it has no data", index);
    } else if (mode != GPH_INPUT_COPY) {
        m.kind = GPH_MISMATCH_ADDRESS;
        add(list, m, "input %u: a %s input is at 0x%llx, recorded 0x%llx", index,
            mode == GPH_INPUT_STATIC ? "static" : "managed", got->data, recorded->data);
    }
}

static void list_input(struct list *list, uint32_t index, uint8_t mode,
                       const gph_tensor *got, const gph_tensor *recorded)
{
    if (is_as_recorded(got))
        return;
    gph_mismatch m = {.index = index, .got = got->dtype, .recorded = recorded->dtype};
    if (got->dtype != recorded->dtype) {
        m.kind = GPH_MISMATCH_DTYPE;
        add(list, m, "input %u: dtype is %s, recorded %s", index,
            gphi_dtype_name(got->dtype), gphi_dtype_name(recorded->dtype));
    }
    if (got->rank != recorded->rank) {
        m.kind = GPH_MISMATCH_RANK;
        m.got = got->rank;
        m.recorded = recorded->rank;
        add(list, m, "input %u: rank is %u, recorded %u", index, got->rank,
            recorded->rank);
    } else {
        list_axes(list, index, got, recorded);
    }
    list_data(list, index, mode, got, recorded);
}

uint32_t gphi_signature_list(const gphi_signature *s, const gph_arguments *arguments,
                             gph_mismatch *all, uint32_t capacity)
{
    struct list list = {.all = all, .capacity = capacity};
    if (!arguments)
        return 0;
    gph_mismatch m = {.kind = GPH_MISMATCH_INPUT_COUNT,
                      .got = arguments->input_count,
                      .recorded = s->input_count};
    if (arguments->input_count != s->input_count)
        add(&list, m, "%u inputs, recorded %u", arguments->input_count, s->input_count);
    m = (gph_mismatch){.kind = GPH_MISMATCH_KEY_COUNT,
                       .got = arguments->key_count,
                       .recorded = s->key_count};
    if (arguments->key_count != s->key_count)
        add(&list, m, "the key has %u words, recorded %u", arguments->key_count,
            s->key_count);
    for (uint32_t i = 0; i < s->key_count && i < arguments->key_count; i++) {
        m = (gph_mismatch){.kind = GPH_MISMATCH_KEY,
                           .index = i,
                           .got = arguments->key[i],
                           .recorded = s->key[i]};
        if (m.got != m.recorded)
            add(&list, m, "key[%u] is %lld, recorded %lld", i, (long long)m.got,
                (long long)m.recorded);
    }
    for (uint32_t i = 0; i < s->input_count && i < arguments->input_count; i++)
        list_input(&list, i, s->modes[i], &arguments->inputs[i], &s->inputs[i]);
    return list.count;
}
