// SPDX-License-Identifier: Apache-2.0
/* How far the replays of a process are, read of its boards (PID.N.board, beside the ring)
 * when one hangs, when the context is dead, and when the process was killed: as STANDING
 * records, so that rules, listeners and the saved log have them. */
#define _GNU_SOURCE
#include "base/fail.h"
#include "base/heap.h"
#include "doctor/examination.h"
#include <gph/sentinel.h>

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEAD = 2, A_WORD = 32, NODES_MAX = 1 << 20 };

/* ---- records ---- */

static gph_status feed_exec(gph_doctor *doctor, gphi_process *process,
                            const gph_progress_exec *exec, gph_error *error)
{
    const uint32_t words = HEAD + (exec->node_count + A_WORD - 1) / A_WORD;
    const uint32_t units = 1 + (words + 7) / 8;
    gphi_vec room;
    if (exec->state == GPH_LAUNCH_NONE || exec->node_count > NODES_MAX)
        return GPH_OK;
    gphi_vec_init(&room, doctor->heap, sizeof(gphi_event));
    gphi_event *event = gphi_vec_add(&room, units);
    GPHI_TRY(gphi_made(error, event, "reading a board"));
    memset(event, 0, units * sizeof(*event));
    *event = (gphi_event){.kind = GPHI_EVENT_STANDING,
                          .units = (uint16_t)units,
                          .thread = (uint32_t)process->number,
                          .time_ns = process->model->last_ns,
                          .id = exec->handle,
                          .word_count = (uint16_t)words};
    uint64_t *to = (uint64_t *)(void *)(event + 1);
    to[0] = exec->state;
    to[1] = exec->node_count;
    for (uint32_t i = 0; i < exec->node_count; i++) {
        const gph_progress_node *node = &exec->nodes[i];
        to[HEAD + node->index / A_WORD] |= (uint64_t)node->state
                                           << 2 * (node->index % A_WORD);
    }
    const gph_status status = gphi_process_feed(doctor, process, event, error);
    gphi_vec_fini(&room);
    return status;
}

/* One that cannot be read says nothing. */
static gph_status feed_board(gph_doctor *doctor, gphi_process *process, const char *path,
                             gph_error *error)
{
    gph_progress *progress = NULL;
    gph_status status = gph_progress_load(path, &doctor->heap, &progress, error);
    if (status != GPH_OK)
        return status == GPH_E_NO_MEMORY ? status : GPH_OK;
    for (uint32_t i = 0; i < gph_progress_exec_count(progress) && status == GPH_OK; i++)
        status = feed_exec(doctor, process, gph_progress_exec_at(progress, i), error);
    gph_progress_destroy(progress);
    return status;
}

/* ---- files ---- */

/* The next of a process's boards after `*number`, or false. */
static bool next_board(const gphi_process *process, unsigned *number, char *path)
{
    const char *slash = process->ring_path ? strrchr(process->ring_path, '/') : NULL;
    (*number)++;
    return slash &&
           snprintf(path, PATH_MAX, "%.*s/%llu.%u.board",
                    (int)(slash - process->ring_path), process->ring_path,
                    (unsigned long long)gphi_event_ring_process(process->ring),
                    *number) < PATH_MAX &&
           access(path, R_OK) == 0;
}

gph_status gphi_standing_feed(gph_doctor *doctor, gphi_process *process, gph_error *error)
{
    char path[PATH_MAX];
    unsigned number = 0;
    while (next_board(process, &number, path))
        GPHI_TRY(feed_board(doctor, process, path, error));
    return GPH_OK;
}

void gphi_standing_remove(const gphi_process *process)
{
    char path[PATH_MAX];
    unsigned number = 0;
    while (next_board(process, &number, path))
        unlink(path);
}
