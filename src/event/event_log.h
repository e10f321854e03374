// SPDX-License-Identifier: Apache-2.0
/* Records in a file: what gph doctor --save-events writes and --events reads. Hostile
 * until read: every record is checked. */
#ifndef GPHI_EVENT_LOG_H
#define GPHI_EVENT_LOG_H
#include "event/event.h"
#include <gph/base.h>
#include <stdbool.h>

typedef struct gphi_event_log gphi_event_log;

/* Reads a whole log. GPH_E_FORMAT names the offset. */
gph_status gphi_event_log_read(const char *path, const gph_allocator *allocator,
                               gphi_event_log **out, gph_error *error);
void gphi_event_log_close(gphi_event_log *log);

/* The records in order; NULL after the last. `*at` begins with 0. */
const gphi_event *gphi_event_log_next(const gphi_event_log *log, size_t *at);

/* Writes records one by one; the file is there whole after gphi_event_save_end(). */
typedef struct gphi_event_save gphi_event_save;
gph_status gphi_event_save_begin(const char *path, const gph_allocator *allocator,
                                 gphi_event_save **out, gph_error *error);
gph_status gphi_event_save_add(gphi_event_save *save, const gphi_event *event,
                               gph_error *error);
/* With `keep` false nothing is left of it. */
gph_status gphi_event_save_end(gphi_event_save *save, bool keep, gph_error *error);
#endif
