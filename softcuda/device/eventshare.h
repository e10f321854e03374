// SPDX-License-Identifier: Apache-2.0
/* Events of several processes: two counters in memory that all of them have mapped.
 *
 *   recorded   how often the event was recorded, by anybody
 *   done       the latest record whose work is over
 *
 * The last record is over once done has reached recorded. */
#ifndef SOFT_DEVICE_EVENTSHARE_H
#define SOFT_DEVICE_EVENTSHARE_H
#include "softcuda/device/stream.h"
#include "softcuda/memory/share.h"

/* Gives a new event its counters; on failure it is as it was. */
CUresult soft_event_share(soft_event *event);
/* The event is gone: nobody of this process uses the counters any more. */
void soft_event_unshare(soft_event *event);
/* INVALID_HANDLE for an event that was not made for it. */
CUresult soft_event_export(soft_event *event, soft_share_handle *out);
/* The counters of another process' event, for soft_event_create(). */
CUresult soft_event_open(const soft_context *context, const soft_share_handle *handle,
                         struct soft_event_share **out);

/* A record begins: its number; its work is over. */
uint64_t soft_event_shared_begin(soft_event *event);
void soft_event_shared_end(soft_event *event, uint64_t number);
/* Whether the last record of all processes is over. */
bool soft_event_shared_done(soft_event *event);
/* The last record so far as a point of this process. */
soft_point soft_event_shared_point(soft_event *event);
/* A graph with a record node is launched; its node runs. */
void soft_event_shared_launch(soft_event *event);
void soft_event_shared_stamp(soft_event *event);
#endif
