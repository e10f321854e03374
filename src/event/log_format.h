// SPDX-License-Identifier: Apache-2.0
/* A saved log:
 *
 *   gphi_log_head | names of calls, "cuGetErrorString\n...", padded to 64 | records
 *
 * Records have the numbers that calls had where they were written; the names say which
 * those are, so that a log outlives changes of the call list. Little-endian. */
#ifndef GPHI_EVENT_LOG_FORMAT_H
#define GPHI_EVENT_LOG_FORMAT_H
#include "event/event.h"

#define GPHI_LOG_MAGIC UINT64_C(0x0a1a0a0d65687067) /* "gphe\r\n\x1a\n" */
enum { GPHI_LOG_VERSION = 1, GPHI_LOG_NAMES_MAX = 1 << 20 };

typedef struct gphi_log_head {
    uint64_t magic;
    uint32_t version;
    uint32_t names_bytes; /* a multiple of 64 */
    uint64_t record_count;
    uint64_t record_bytes;
    uint64_t reserved[4];
} gphi_log_head;
_Static_assert(sizeof(gphi_log_head) == 64, "records stay aligned");
#endif
