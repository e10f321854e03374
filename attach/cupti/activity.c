// SPDX-License-Identifier: Apache-2.0
/* Records are copied out: a buffer that CUPTI cut, or one of a version that we do not know,
 * is read no further than it goes. No call, so that a fuzzer can feed it. */
#include "attach/cupti/activity.h"

#include <stddef.h>
#include <string.h>

/* Heads of activity records, as far as they are read. */
typedef struct kernel_activity {
    uint32_t kind, config[3];
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3], shared[2];
    uint32_t local[2], correlation;
    int64_t grid_id;
    const char *name;
    void *reserved;
    uint64_t queued, submitted;
    uint8_t launch[4];
    uint32_t shared_executed;
    uint64_t node;
    uint32_t limit, graph;
} kernel_activity;
_Static_assert(offsetof(kernel_activity, stream) == 48, "CUpti_ActivityKernel7 to 11");
_Static_assert(offsetof(kernel_activity, correlation) == 92, "the same");
_Static_assert(offsetof(kernel_activity, name) == 104, "the same");
_Static_assert(offsetof(kernel_activity, node) == 144, "the same");
_Static_assert(offsetof(kernel_activity, graph) == 156, "the same");

typedef struct copy_activity { /* of copies and fills */
    uint32_t kind, how;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint64_t more[2], node;
    uint32_t graph;
} copy_activity;
_Static_assert(offsetof(copy_activity, stream) == 40, "CUpti_ActivityMemcpy4 to 7");
_Static_assert(offsetof(copy_activity, node) == 64, "CUpti_ActivityMemset3 to 5");
_Static_assert(offsetof(copy_activity, graph) == 72, "the same");

/* Up to what is read: the compiler's end of it has padding, a fill's record has not. */
enum { COPY_BYTES = offsetof(copy_activity, graph) + sizeof(uint32_t) };

typedef struct graph_activity {
    uint32_t kind, correlation;
    uint64_t start, end;
    uint32_t device, graph, context, stream;
} graph_activity;
_Static_assert(offsetof(graph_activity, graph) == 28, "CUpti_ActivityGraphTrace, 2");

static bool take(const uint8_t *record, const uint8_t *end, void *to, size_t bytes)
{
    if (!record || record > end || (size_t)(end - record) < bytes)
        return false;
    memcpy(to, record, bytes);
    return true;
}

/* CUPTI gives 0 where it does not know. */
static bool keep(const attach_activity *read, attach_activity *out)
{
    if (read->start == 0 || read->end < read->start)
        return false;
    *out = *read;
    return true;
}

static bool read_kernel(const uint8_t *record, const uint8_t *end, attach_activity *out)
{
    kernel_activity a;
    return take(record, end, &a, sizeof(a)) &&
           keep(&(attach_activity){GPHI_GPU_KERNEL, a.start, a.end, a.node, a.stream,
                                   a.graph, a.correlation, a.name},
                out);
}

static bool read_copy(const uint8_t *record, const uint8_t *end, gphi_gpu_what what,
                      attach_activity *out)
{
    copy_activity a;
    return take(record, end, &a, COPY_BYTES) &&
           keep(&(attach_activity){what, a.start, a.end, a.node, a.stream, a.graph,
                                   a.correlation, NULL},
                out);
}

static bool read_graph(const uint8_t *record, const uint8_t *end, attach_activity *out)
{
    graph_activity a;
    return take(record, end, &a, sizeof(a)) &&
           keep(&(attach_activity){GPHI_GPU_GRAPH, a.start, a.end, 0, a.stream, a.graph,
                                   a.correlation, NULL},
                out);
}

bool attach_activity_read(const uint8_t *record, const uint8_t *end, attach_activity *out)
{
    uint32_t kind;
    if (!take(record, end, &kind, sizeof(kind)))
        return false;
    switch (kind) {
    case ATTACH_ACTIVITY_KERNEL: return read_kernel(record, end, out);
    case ATTACH_ACTIVITY_COPY: return read_copy(record, end, GPHI_GPU_MEMCPY, out);
    case ATTACH_ACTIVITY_FILL: return read_copy(record, end, GPHI_GPU_MEMSET, out);
    case ATTACH_ACTIVITY_GRAPH: return read_graph(record, end, out);
    default: return false;
    }
}
