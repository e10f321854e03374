// SPDX-License-Identifier: Apache-2.0
/* Managed memory. It is ordinary memory here, so advice and prefetching change nothing;
 * what was said is kept, for those who ask:
 *
 *   spans   [ a ][ b ]   [ c ]      sorted, apart; nothing was said of what is between
 *
 * A span is of one allocation, by its number: what is left of freed ones goes with the
 * next change.
 *
 * Managed memory is host memory with a name that kernels may use, too: it moves nowhere,
 * so advice and prefetches are noted by ranges of pages and read back, nothing else. */
#include <string.h>

#include "softcuda/api/exports.h"
#include "softcuda/device/alloc.h"
#include "softcuda/device/device.h"
#include "softcuda/device/task.h"
#include "softcuda/memory/memory.h"

#define PAGE 4096u
#define HOST_BIT (1u << 31)

/* type 0: none */
struct hints {
    bool read_mostly;
    uint32_t accessed_by; /* a bit a device, and HOST_BIT */
    CUmemLocation preferred, prefetched;
};

struct span {
    uint64_t first, end, buffer_id;
    struct hints hints;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct span *spans;
static size_t span_count;

static CUresult find_managed(CUdeviceptr address, size_t bytes, soft_allocation *out)
{
    soft_device *device = soft_device_holding(address);
    if (!device || !soft_memory_find(device->memory, address, out) || !out->is_managed)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "0x%llx is not managed memory",
                         (unsigned long long)address);
    if (bytes == 0 || bytes > out->base + out->bytes - address)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%zu bytes at 0x%llx of the %llu at 0x%llx", bytes,
                         (unsigned long long)address, (unsigned long long)out->bytes,
                         (unsigned long long)out->base);
    return CUDA_SUCCESS;
}

/* Checked alone: managed memory here is coherent for all who touch it, at any time. */
static CUresult attach(const char *call, CUstream stream, bool per_thread,
                       CUdeviceptr address, size_t bytes, unsigned flags)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(call, &context));
    soft_queue *queue;
    bool capturing; /* refused by the look-up, as one that cannot be captured */
    SOFT_TRY(soft_stream_queue(context, stream, per_thread, &queue, &capturing));
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST &&
        flags != CU_MEM_ATTACH_SINGLE)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "0x%x is not a CU_MEM_ATTACH flag",
                         flags);
    if (flags == CU_MEM_ATTACH_SINGLE && (!stream || stream == CU_STREAM_LEGACY))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "memory cannot be attached to the legacy default stream alone");
    soft_allocation found;
    return find_managed(address, bytes ? bytes : 1, &found);
}

SOFT_TWINS(cuStreamAttachMemAsync, _ptsz,
           (CUstream stream, CUdeviceptr address, size_t bytes, unsigned int flags),
           attach(__func__, stream, per_thread, address, bytes, flags))

/* ---- what was said ----------------------------------------------------------------- */

/* The pages of a range, as far as they are of its allocation. */
static struct span pages_of(CUdeviceptr address, size_t bytes,
                            const soft_allocation *found)
{
    struct span out = {.first = address / PAGE * PAGE,
                       .end = (address + bytes + PAGE - 1) / PAGE * PAGE,
                       .buffer_id = found->buffer_id};
    if (out.first < found->base)
        out.first = found->base;
    if (out.end > found->base + found->bytes)
        out.end = found->base + found->bytes;
    return out;
}

static bool is_alive(const struct span *span)
{
    soft_allocation found;
    const soft_device *device = soft_device_holding(span->first);
    return device && soft_memory_find(device->memory, span->first, &found) &&
           found.buffer_id == span->buffer_id;
}

struct list {
    struct span *spans;
    size_t count;
};

static void append(struct list *list, struct span span, uint64_t first, uint64_t end)
{
    if (first >= end)
        return;
    span.first = first;
    span.end = end;
    list->spans[list->count++] = span;
}

struct saying {
    CUmem_advise advice;
    CUmemLocation location;
};
typedef void change_fn(struct hints *hints, const struct saying *saying);

/* Changes what is said of `range`, in a new list. */
static void change_into(struct list *list, struct span range, change_fn *change,
                        const struct saying *saying)
{
    uint64_t at = range.first; /* said up to here */
    for (size_t i = 0; i < span_count; i++) {
        const struct span old = spans[i];
        if (!is_alive(&old))
            continue;
        const uint64_t first = old.first > range.first ? old.first : range.first;
        const uint64_t end = old.end < range.end ? old.end : range.end;
        const bool is_after = old.first >= range.end;
        if (first < end || is_after) { /* what nothing was said of before it */
            struct span fresh = range;
            change(&fresh.hints, saying);
            append(list, fresh, at, is_after ? range.end : first);
            at = is_after ? range.end : end;
        }
        append(list, old, old.first, old.end < range.first ? old.end : range.first);
        struct span both = old;
        change(&both.hints, saying);
        append(list, both, first, end);
        append(list, old, old.first > range.end ? old.first : range.end, old.end);
    }
    change(&range.hints, saying);
    append(list, range, at, range.end);
}

static CUresult say(CUdeviceptr address, size_t bytes, change_fn *change,
                    const struct saying *saying)
{
    soft_allocation found;
    SOFT_TRY(find_managed(address, bytes, &found));
    pthread_mutex_lock(&mutex);
    struct list list = {.spans = soft_new((3 * span_count + 2) * sizeof(*spans))};
    if (list.spans) {
        change_into(&list, pages_of(address, bytes, &found), change, saying);
        soft_delete(spans);
        spans = list.spans;
        span_count = list.count;
    }
    pthread_mutex_unlock(&mutex);
    SOFT_TRY(soft_made(list.spans, "no memory for advice on %zu bytes", bytes));
    return CUDA_SUCCESS;
}

static uint32_t bit_of(const CUmemLocation *location)
{
    return location->type == CU_MEM_LOCATION_TYPE_DEVICE ? 1u << location->id : HOST_BIT;
}

static void advise(struct hints *hints, const struct saying *saying)
{
    switch (saying->advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY: hints->read_mostly = true; break;
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY: hints->read_mostly = false; break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: hints->preferred = saying->location; break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        hints->preferred = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_INVALID};
        break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
        hints->accessed_by |= bit_of(&saying->location);
        break;
    default: hints->accessed_by &= ~bit_of(&saying->location);
    }
}

static void note_prefetch(struct hints *hints, const struct saying *saying)
{
    hints->prefetched = saying->location;
}

static CUresult check_location(const CUmemLocation *location)
{
    if (location->type == CU_MEM_LOCATION_TYPE_HOST ||
        location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
        location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
        return CUDA_SUCCESS;
    if (location->type == CU_MEM_LOCATION_TYPE_DEVICE)
        return soft_device_at(location->id)
                   ? CUDA_SUCCESS
                   : soft_fail(CUDA_ERROR_INVALID_DEVICE, "there is no device %d",
                               location->id);
    return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a type of location",
                     (int)location->type);
}

CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                        CUmemLocation location)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY ||
        advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a kind of advice",
                         (int)advice);
    if (advice != CU_MEM_ADVISE_SET_READ_MOSTLY &&
        advice != CU_MEM_ADVISE_UNSET_READ_MOSTLY &&
        advice != CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION)
        SOFT_TRY(check_location(&location));
    const struct saying saying = {advice, location};
    return say(address, bytes, advise, &saying);
}

struct prefetch {
    CUdeviceptr address;
    size_t bytes;
    const CUmemLocation *location;
    unsigned flags;
};

/* There is one memory, so nothing moves; where it was to be is what the queries give
 * back. */
static CUresult prefetch(const char *call, CUstream stream, bool per_thread,
                         const struct prefetch *in)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(call, &context));
    if (in->flags != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "flags are 0x%x, not 0", in->flags);
    soft_allocation found;
    SOFT_TRY(find_managed(in->address, in->bytes, &found));
    SOFT_TRY(check_location(in->location));
    soft_queue *queue;
    bool capturing; /* refused by the look-up, as one that cannot be captured */
    SOFT_TRY(soft_stream_queue(context, stream, per_thread, &queue, &capturing));
    const struct saying saying = {.location = *in->location};
    return say(in->address, in->bytes, note_prefetch, &saying);
}

SOFT_TWINS(cuMemPrefetchAsync_v2, _ptsz,
           (CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned int flags,
            CUstream stream),
           prefetch(__func__, stream, per_thread,
                    &(struct prefetch){address, bytes, &location, flags}))

/* ---- many at once ------------------------------------------------------------------ */

/* Location l is of the ranges from firsts[l] on, to those of the next one. */
struct batch {
    const CUdeviceptr *addresses;
    const size_t *sizes;
    size_t count;
    const CUmemLocation *locations;
    const size_t *firsts;
    size_t location_count; /* without any: the ranges are discarded, and stay */
    unsigned long long flags;
};

static CUresult check_locations(const struct batch *in)
{
    if (!in->locations || !in->firsts || in->location_count == 0 ||
        in->location_count > in->count)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%zu locations at %p for %zu ranges",
                         in->location_count, (const void *)in->locations, in->count);
    for (size_t l = 0; l < in->location_count; l++) {
        const bool in_order =
            l == 0 ? in->firsts[l] == 0 : in->firsts[l] > in->firsts[l - 1];
        if (!in_order || in->firsts[l] >= in->count)
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "location %zu begins with range %zu of %zu: the first one "
                             "with 0, each later one after the one before",
                             l, in->firsts[l], in->count);
        SOFT_TRY(check_location(&in->locations[l]));
    }
    return CUDA_SUCCESS;
}

static CUresult check_batch(const struct batch *in, bool prefetches)
{
    if (in->count == 0 || !in->addresses || !in->sizes || in->flags != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%zu ranges at %p with flags 0x%llx",
                         in->count, (const void *)in->addresses, in->flags);
    if (prefetches)
        SOFT_TRY(check_locations(in));
    for (size_t i = 0; i < in->count; i++) {
        soft_allocation found;
        SOFT_TRY(find_managed(in->addresses[i], in->sizes[i], &found));
    }
    return CUDA_SUCCESS;
}

/* All is checked before the first range is changed. What is discarded may be read as
 * anything, so also as what it was. */
static CUresult run_batch(const char *call, CUstream stream, bool per_thread,
                          const struct batch *in, bool prefetches)
{
    soft_context *context;
    soft_queue *queue;
    bool capturing; /* refused by the look-up */
    SOFT_TRY(soft_enter_context(call, &context));
    SOFT_TRY(check_batch(in, prefetches));
    SOFT_TRY(soft_stream_queue(context, stream, per_thread, &queue, &capturing));
    for (size_t i = 0, l = 0; i < in->count && prefetches; i++) {
        l += l + 1 < in->location_count && in->firsts[l + 1] == i;
        const struct saying saying = {.location = in->locations[l]};
        SOFT_TRY(say(in->addresses[i], in->sizes[i], note_prefetch, &saying));
    }
    return CUDA_SUCCESS;
}

#define BATCH_ARGS                                                                       \
    CUdeviceptr *addresses, size_t *sizes, size_t count, CUmemLocation *locations,       \
        size_t *firsts, size_t location_count, unsigned long long flags, CUstream stream
#define BATCH                                                                            \
    &(struct batch)                                                                      \
    {                                                                                    \
        addresses, sizes, count, locations, firsts, location_count, flags                \
    }

SOFT_TWINS(cuMemPrefetchBatchAsync, _ptsz, (BATCH_ARGS),
           run_batch(__func__, stream, per_thread, BATCH, true))

SOFT_TWINS(cuMemDiscardAndPrefetchBatchAsync, _ptsz, (BATCH_ARGS),
           run_batch(__func__, stream, per_thread, BATCH, true))

SOFT_TWINS(cuMemDiscardBatchAsync, _ptsz,
           (CUdeviceptr * addresses, size_t *sizes, size_t count,
            unsigned long long flags, CUstream stream),
           run_batch(__func__, stream, per_thread,
                     &(struct batch){.addresses = addresses,
                                     .sizes = sizes,
                                     .count = count,
                                     .flags = flags},
                     false))

/* ---- questions --------------------------------------------------------------------- */

static bool is_same(const CUmemLocation *a, const CUmemLocation *b)
{
    return a->type == b->type && (a->type == CU_MEM_LOCATION_TYPE_HOST || a->id == b->id);
}

/* What is said of all of two parts. */
static void meet(struct hints *all, const struct hints *part)
{
    all->read_mostly = all->read_mostly && part->read_mostly;
    all->accessed_by &= part->accessed_by;
    if (!is_same(&all->preferred, &part->preferred))
        all->preferred = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_INVALID};
    if (!is_same(&all->prefetched, &part->prefetched))
        all->prefetched = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_INVALID};
}

static struct hints told_of(struct span range)
{
    static const struct hints nothing;
    struct hints all = nothing;
    uint64_t at = range.first;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < span_count && at < range.end; i++) {
        const struct span *span = &spans[i];
        if (span->end <= at || span->buffer_id != range.buffer_id)
            continue;
        if (span->first >= range.end)
            break;
        if (at == range.first && span->first <= at)
            all = span->hints;
        else
            meet(&all, &span->hints);
        if (span->first > at)
            meet(&all, &nothing);
        at = span->end;
    }
    pthread_mutex_unlock(&mutex);
    if (at < range.end)
        meet(&all, &nothing);
    return all;
}

static int device_of(const CUmemLocation *location)
{
    switch (location->type) {
    case CU_MEM_LOCATION_TYPE_INVALID: return CU_DEVICE_INVALID;
    case CU_MEM_LOCATION_TYPE_DEVICE: return location->id;
    default: return CU_DEVICE_CPU;
    }
}

static int id_of(const CUmemLocation *location)
{
    return location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA ? location->id
                                                            : device_of(location);
}

/* As many as there is room for, the rest CU_DEVICE_INVALID. */
static void list_devices(uint32_t bits, int *out, size_t count)
{
    size_t used = 0;
    for (int i = 0; i < 31; i++)
        if ((bits >> i & 1) && used < count)
            out[used++] = i;
    if ((bits & HOST_BIT) && used < count)
        out[used++] = CU_DEVICE_CPU;
    while (used < count)
        out[used++] = CU_DEVICE_INVALID;
}

static void answer(const struct hints *hints, CUmem_range_attribute attribute, int *out,
                   size_t bytes)
{
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: *out = hints->read_mostly; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
        *out = device_of(&hints->preferred);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
        list_devices(hints->accessed_by, out, bytes / sizeof(*out));
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
        *out = device_of(&hints->prefetched);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
        *out = (int)hints->preferred.type;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
        *out = id_of(&hints->preferred);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        *out = (int)hints->prefetched.type;
        break;
    default: *out = id_of(&hints->prefetched);
    }
}

static CUresult check_question(const void *data, size_t bytes,
                               CUmem_range_attribute attribute)
{
    SOFT_TRY(soft_need(data, "data"));
    if (attribute < CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY ||
        attribute > CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not an attribute of a range",
                         (int)attribute);
    const bool fits = attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY
                          ? bytes > 0 && bytes % sizeof(int) == 0
                          : bytes == sizeof(int);
    if (!fits)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "attribute %d is not answered in %zu bytes", (int)attribute,
                         bytes);
    return CUDA_SUCCESS;
}

struct questions {
    void **data;
    const size_t *bytes;
    const CUmem_range_attribute *attributes;
    size_t count;
};

static CUresult ask(const struct questions *ask, CUdeviceptr address, size_t bytes)
{
    soft_allocation found;
    for (size_t i = 0; i < ask->count; i++)
        SOFT_TRY(check_question(ask->data[i], ask->bytes[i], ask->attributes[i]));
    SOFT_TRY(find_managed(address, bytes, &found));
    const struct hints hints = told_of(pages_of(address, bytes, &found));
    for (size_t i = 0; i < ask->count; i++)
        answer(&hints, ask->attributes[i], ask->data[i], ask->bytes[i]);
    return CUDA_SUCCESS;
}

CUresult cuMemRangeGetAttribute(void *data, size_t bytes, CUmem_range_attribute attribute,
                                CUdeviceptr address, size_t range_bytes)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    const struct questions one = {&data, &bytes, &attribute, 1};
    return ask(&one, address, range_bytes);
}

CUresult cuMemRangeGetAttributes(void **data, size_t *bytes,
                                 CUmem_range_attribute *attributes, size_t count,
                                 CUdeviceptr address, size_t range_bytes)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    if (!data || !bytes || !attributes || count == 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, !data    ? "data is NULL"
                                                   : !bytes ? "dataSizes is NULL"
                                                   : !attributes
                                                       ? "attributes is NULL"
                                                       : "no attributes are asked for");
    const struct questions all = {data, bytes, attributes, count};
    return ask(&all, address, range_bytes);
}
