// SPDX-License-Identifier: Apache-2.0
/* What records name by handle or number, each kept once, in the order it was first
 * seen. */
#include "report/report.h"

#include <stdio.h>

void *gphi_report_item(gphi_vec *vec, gphi_map *map, uint64_t key, uint32_t *index)
{
    const uint64_t *known = gphi_map_get(map, key);
    const uint64_t at = known ? *known - 1 : vec->count;
    if (index)
        *index = (uint32_t)at;
    if (known)
        return gphi_vec_at(vec, at);
    if (gphi_vec_reserve(vec, 1) != GPH_OK || gphi_map_set(map, key, at + 1) != GPH_OK)
        return NULL;
    return gphi_vec_add(vec, 1);
}

uint32_t gphi_report_thread(gph_report *report, uint32_t id)
{
    uint32_t index = 0;
    report_thread *thread =
        gphi_report_item(&report->threads, &report->thread_map, id, &index);
    if (!thread)
        return UINT32_MAX;
    thread->id = id;
    thread->process = (uint32_t)report->process;
    thread->rank = report->rank;
    return index;
}

/* The legacy stream has several handles (0, 1), and a per-thread stream one handle for
 * all threads: a key of its own each. */
uint32_t gphi_report_stream(gph_report *report, const gphi_stream *stream,
                            uint64_t handle)
{
    const uint32_t thread = stream ? stream->thread : 0;
    if (stream)
        handle = stream->handle;
    const bool is_legacy = stream ? stream->is_legacy : handle <= 1;
    const uint64_t key =
        gphi_report_key(report, (is_legacy ? 0 : handle) ^ (uint64_t)thread << 40);
    const size_t before = report->streams.count;
    uint32_t index = 0;
    report_stream *item =
        gphi_report_item(&report->streams, &report->stream_map, key, &index);
    if (!item)
        return UINT32_MAX;
    if (index == before)
        *item = (report_stream){.handle = handle,
                                .is_legacy = is_legacy,
                                .is_per_thread = stream && stream->is_per_thread,
                                .is_blocking = !stream || stream->is_blocking,
                                .thread = thread,
                                .stack = stream ? stream->created.stack : 0,
                                .process = (uint32_t)report->process};
    return index;
}

/* A function has no name before its record came; the page then says "kernel". */
uint32_t gphi_report_function(gph_report *report, uint64_t handle)
{
    uint32_t index = 0;
    const void *name = gphi_report_item(&report->functions, &report->function_map,
                                        gphi_report_key(report, handle), &index);
    return !name ? UINT32_MAX : index;
}

void gphi_report_say_bytes(char *out, size_t room, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024 && unit < 4) {
        value /= 1024;
        unit++;
    }
    snprintf(out, room, unit == 0 ? "%.0f %s" : "%.2f %s", value, units[unit]);
}
