// SPDX-License-Identifier: Apache-2.0
/* CUPTI's activity records, read from bytes. CUPTI says where a record begins, never how
 * long it is: that is its kind's; later versions only add to the end. */
#ifndef ATTACH_CUPTI_ACTIVITY_H
#define ATTACH_CUPTI_ACTIVITY_H
#include "event/event.h"
#include <stdbool.h>

/* Numbers of cupti_activity.h. */
enum {
    ATTACH_ACTIVITY_COPY = 1,
    ATTACH_ACTIVITY_FILL = 2,
    ATTACH_ACTIVITY_KERNEL = 10,
    ATTACH_ACTIVITY_GRAPH = 51
};

typedef struct attach_activity {
    gphi_gpu_what what;
    uint64_t start, end; /* ns of CUPTI's clock; end is not before start */
    uint64_t node;
    uint32_t stream, graph, correlation;
    const char *name; /* of a kernel, CUPTI's memory: not looked at. Else NULL */
} attach_activity;

/* Takes what the record at `record` says, which lies in a buffer that ends at `end`; any
 * alignment. False, and `out` is as it was: a kind that was not asked for, a record that
 * the buffer cuts, one without times or whose end is before its start. Thread: any. */
bool attach_activity_read(const uint8_t *record, const uint8_t *end,
                          attach_activity *out);
#endif
