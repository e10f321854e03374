// SPDX-License-Identifier: Apache-2.0
/* Edits of nodes that the caller names: all of them, or none.
 *
 * The contents are a copy of the executable's own, in which edits are made before the
 * driver's setter is called with them. What a node held before is kept in a row of
 * records, so that a setter that fails can be followed by those of the nodes before it,
 * with what they had:
 *
 *   undo   [node 3: parameters, argument bytes][node 7: ...] */
#include "base/fail.h"
#include "base/log.h"
#include "cuda/status.h"
#include "event/note.h"
#include "graph/kept.h"
#include "update/track.h"

#include <string.h>

/* One node before its edits. After it: if all edits are of arguments, what these held, in
 * their order; else the node's parameters and all of its arguments. */
struct record {
    const gph_edit *edits; /* `count` of them, of this node */
    uint32_t count;
    uint32_t flat; /* contents' number */
    uint32_t base; /* base's */
    uint32_t next; /* bytes from this record to the next one */
    bool is_whole; /* the node's parameters follow */
    bool is_set;   /* the driver took the new ones */
    bool is_switched;
    uint8_t was_off;
};

struct job {
    gph_exec *exec;
    gphi_track *track;
    gph_error *error;
};

/* ---- what may be edited ---- */

static gph_status fail_edit(const struct job *job, const gph_edit *edit, const char *why)
{
    return gphi_fail(
        job->error, GPH_E_INVALID, "edit %u of node %u (%s): %s", edit->what, edit->node,
        gph_node_kind_name(job->track->base->places[edit->node].node->kind), why);
}

static gph_status check_arg(const struct job *job, const gph_edit *edit,
                            const gph_kernel_params *kernel)
{
    if (edit->index >= kernel->arg_count)
        return gphi_fail(job->error, GPH_E_INVALID,
                         "node %u: there is no argument %u, it has %u", edit->node,
                         edit->index, kernel->arg_count);
    if (!edit->data || edit->bytes != kernel->args[edit->index].bytes)
        return gphi_fail(job->error, GPH_E_INVALID,
                         "node %u: argument %u has %u bytes, not %u", edit->node,
                         edit->index, kernel->args[edit->index].bytes, edit->bytes);
    return GPH_OK;
}

/* Of a node that there is. */
static gph_status check_edit(const struct job *job, const gph_edit *edit,
                             const gph_node *node)
{
    const bool fills = node->kind == GPH_NODE_MEMSET,
               copies = node->kind == GPH_NODE_MEMCPY;
    bool fits = false;
    switch (edit->what) {
    case GPH_EDIT_ARG: break; /* of no kernel */
    case GPH_EDIT_GRID:
    case GPH_EDIT_BLOCK:
    case GPH_EDIT_SHARED: fits = node->kind == GPH_NODE_KERNEL; break;
    case GPH_EDIT_DST: fits = fills || copies; break;
    case GPH_EDIT_SRC: fits = copies; break;
    case GPH_EDIT_WIDTH: fits = fills || (copies && gphi_is_flat(&node->u.memcpy)); break;
    case GPH_EDIT_VALUE: fits = fills && edit->value <= UINT32_MAX; break;
    case GPH_EDIT_EVENT:
        fits = node->kind == GPH_NODE_EVENT_RECORD || node->kind == GPH_NODE_EVENT_WAIT;
        break;
    case GPH_EDIT_FUNCTION:
    case GPH_EDIT_USER: fits = node->kind == GPH_NODE_HOST; break;
    case GPH_EDIT_ENABLED:
        fits = (fills || copies || node->kind == GPH_NODE_KERNEL) && edit->value <= 1;
        break;
    default: return fail_edit(job, edit, "is not a gph_edit_what");
    }
    return fits ? GPH_OK : fail_edit(job, edit, "such a node, or value, takes none");
}

/* Most arguments are words: a copy of known size is an instruction. */
static inline void copy_argument(void *to, const void *from, size_t bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, bytes);
}

/* Where it lies: the copy's own bytes, which graphs lend as constant. */
static inline void *argument(const gph_node *node, const gph_edit *edit)
{
    const gph_kernel_params *kernel = &node->u.kernel;
    const unsigned char *at = kernel->buffer + kernel->args[edit->index].offset;
    void *out;
    memcpy(&out, &at, sizeof(out));
    return out;
}

static void apply(const gph_edit *edit, gph_node *node)
{
    gph_kernel_params *kernel = &node->u.kernel;
    switch (edit->what) {
    case GPH_EDIT_ARG:
        copy_argument(argument(node, edit), edit->data, edit->bytes);
        break;
    case GPH_EDIT_GRID: memcpy(kernel->grid, edit->size, sizeof(kernel->grid)); break;
    case GPH_EDIT_BLOCK: memcpy(kernel->block, edit->size, sizeof(kernel->block)); break;
    case GPH_EDIT_SHARED: kernel->shared_bytes = (uint32_t)edit->value; break;
    case GPH_EDIT_DST:
        if (node->kind == GPH_NODE_MEMSET)
            node->u.memset.address = edit->value;
        else
            node->u.memcpy.dst.address = edit->value;
        break;
    case GPH_EDIT_SRC: node->u.memcpy.src.address = edit->value; break;
    case GPH_EDIT_WIDTH:
        if (node->kind == GPH_NODE_MEMSET)
            node->u.memset.width = edit->value;
        else
            node->u.memcpy.width_bytes = edit->value;
        break;
    case GPH_EDIT_VALUE: node->u.memset.value = (uint32_t)edit->value; break;
    case GPH_EDIT_EVENT: node->u.event.event = edit->value; break;
    case GPH_EDIT_FUNCTION: node->u.host.function = edit->value; break;
    case GPH_EDIT_USER: node->u.host.user = edit->value; break;
    default: break;
    }
}

/* ---- records ---- */

static bool edits_arguments_alone(const gph_edit *edits, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (edits[i].what != GPH_EDIT_ARG)
            return false;
    return true;
}

/* How many edits from here on are of one node. */
static size_t group_of(const gph_edit *edits, size_t count)
{
    size_t same = 1;
    while (same < count && edits[same].node == edits[0].node)
        same++;
    return same;
}

static const gph_node *node_of(const gphi_track *track, uint32_t base)
{
    return track->contents->places[gphi_from_base(track, base)].node;
}

/* The most that the record of a node with this edit takes for it: groups take less. */
static size_t room_for(const gph_edit *edit, const gph_node *node)
{
    size_t bytes = edit->bytes;
    if (edit->what != GPH_EDIT_ARG) {
        bytes = sizeof(*node);
        bytes += node->kind == GPH_NODE_KERNEL ? node->u.kernel.buffer_bytes : 0;
    }
    return (sizeof(struct record) + bytes + 15) / 16 * 16;
}

/* All edits, before the first one is made, and what room their records take. */
static gph_status check(const struct job *job, const gph_edit *edits, size_t count,
                        size_t *room)
{
    const gphi_track *track = job->track;
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        const gph_edit *edit = &edits[i];
        if (edit->node >= track->base->count)
            return gphi_fail(job->error, GPH_E_INVALID, "there is no node %u of %u",
                             edit->node, track->base->count);
        /* Kinds, and the layout of arguments unless a function changed, are base's. */
        const gph_node *node = node_of(track, edit->node);
        GPHI_TRY(edit->what == GPH_EDIT_ARG && node->kind == GPH_NODE_KERNEL
                     ? check_arg(job, edit, &node->u.kernel)
                     : check_edit(job, edit, node));
        bytes += room_for(edit, node);
    }
    *room = bytes;
    return GPH_OK;
}

/* So that keeping what a node held cannot fail. */
static gph_status reserve_records(const struct job *job, size_t bytes, size_t count)
{
    job->track->undo.count = 0;
    if (bytes > job->track->undo.capacity &&
        gphi_vec_reserve(&job->track->undo, bytes) != GPH_OK)
        return gphi_fail(job->error, GPH_E_NO_MEMORY, "editing %zu nodes", count);
    return GPH_OK;
}

static struct record *keep(const struct job *job, const gph_edit *edits, size_t count)
{
    gphi_track *track = job->track;
    struct record *record = (void *)((char *)track->undo.items + track->undo.count);
    *record = (struct record){.edits = edits,
                              .count = (uint32_t)count,
                              .flat = gphi_from_base(track, edits->node),
                              .base = edits->node,
                              .is_whole = !edits_arguments_alone(edits, count),
                              .was_off = track->off[edits->node]};
    const gph_node *node = track->contents->places[record->flat].node;
    unsigned char *to = (unsigned char *)(record + 1);
    if (record->is_whole) {
        memcpy(to, node, sizeof(*node));
        to += sizeof(*node);
        if (node->kind == GPH_NODE_KERNEL && node->u.kernel.buffer_bytes > 0) {
            memcpy(to, node->u.kernel.buffer, node->u.kernel.buffer_bytes);
            to += node->u.kernel.buffer_bytes;
        }
    } else {
        for (size_t i = 0; i < count; to += edits[i++].bytes)
            copy_argument(to, argument(node, &edits[i]), edits[i].bytes);
    }
    record->next = (uint32_t)(((size_t)(to - (unsigned char *)record) + 15) / 16 * 16);
    track->undo.count += record->next;
    return record;
}

/* The bytes are the copy's own, which graphs lend as constant. */
static void write_bytes(const unsigned char *at, const void *from, size_t bytes)
{
    void *to;
    memcpy(&to, &at, sizeof(to));
    memcpy(to, from, bytes);
}

static void put_back(const struct job *job, const struct record *record)
{
    gph_node *node = gphi_snapshot_node(job->track->contents, record->flat);
    const unsigned char *from = (const unsigned char *)(record + 1);
    if (record->is_whole) {
        memcpy(node, from, sizeof(*node));
        if (node->kind == GPH_NODE_KERNEL && node->u.kernel.buffer_bytes > 0)
            write_bytes(node->u.kernel.buffer, from + sizeof(*node),
                        node->u.kernel.buffer_bytes);
        return;
    }
    /* All were kept before the first was written. */
    for (uint32_t i = 0; i < record->count; from += record->edits[i++].bytes)
        memcpy(argument(node, &record->edits[i]), from, record->edits[i].bytes);
}

/* The driver takes back what it took. */
static void undo(const struct job *job)
{
    gphi_track *track = job->track;
    const char *call;
    for (size_t at = 0; at < track->undo.count;) {
        const struct record *record = (void *)((char *)track->undo.items + at);
        const CUgraphNode handle = track->base->places[record->base].handle;
        CUresult result = CUDA_SUCCESS;
        at += record->next;
        put_back(job, record);
        if (record->is_set)
            result = gphi_node_set(track, job->exec->handle, handle,
                                   &track->contents->places[record->flat], &call);
        if (record->is_switched && result == CUDA_SUCCESS)
            result = track->runtime->cu.cuGraphNodeSetEnabled(job->exec->handle, handle,
                                                              !record->was_off);
        track->off[record->base] = record->was_off;
        if (result == CUDA_SUCCESS)
            continue;
        track->is_stale = true;
        gphi_log("update", GPH_LOG_ERROR,
                 "executable %p: node %u keeps a part of edits that failed: %s",
                 (void *)job->exec->handle, record->base,
                 gph_status_name((gph_status)result));
    }
}

/* ---- edits ---- */

static gph_status fail_set(const struct job *job, uint32_t node, CUresult result,
                           const char *call)
{
    return gphi_cuda_fail(job->error, (gph_status)result, call,
                          "editing node %u of executable %p", node,
                          (void *)job->exec->handle);
}

static gph_status set_enabled(const struct job *job, struct record *record, bool on)
{
    gphi_track *track = job->track;
    if (track->off[record->base] == !on)
        return GPH_OK;
    const CUresult result = track->runtime->cu.cuGraphNodeSetEnabled(
        job->exec->handle, track->base->places[record->base].handle, on);
    if (result != CUDA_SUCCESS)
        return fail_set(job, record->base, result, "cuGraphNodeSetEnabled");
    record->is_switched = true;
    track->off[record->base] = !on;
    return GPH_OK;
}

/* What most edits are: one argument of a kernel. The same as edit_node(), less what such
 * an edit does not need. */
static gph_status edit_argument(const struct job *job, const gph_edit *edit)
{
    gphi_track *track = job->track;
    struct record *record = (void *)((char *)track->undo.items + track->undo.count);
    const uint32_t base = edit->node, flat = gphi_from_base(track, base);
    const gphi_place *place = &track->contents->places[flat];
    void *to = argument(place->node, edit);
    const char *call;
    record->edits = edit;
    record->count = 1;
    record->flat = flat;
    record->base = base;
    record->next = (uint32_t)((sizeof(*record) + edit->bytes + 15) / 16 * 16);
    record->is_whole = record->is_set = record->is_switched = false;
    record->was_off = track->off[base];
    track->undo.count += record->next;
    copy_argument(record + 1, to, edit->bytes);
    copy_argument(to, edit->data, edit->bytes);
    const CUresult result = gphi_node_set(track, job->exec->handle,
                                          track->base->places[base].handle, place, &call);
    if (result != CUDA_SUCCESS)
        return fail_set(job, base, result, call);
    record->is_set = true;
    track->stats.node_set_count++;
    return GPH_OK;
}

/* Of edits of one argument the last one counts. */
static void note_repeated(const struct job *job, uint32_t base, const gph_edit *edits,
                          size_t count)
{
    uint64_t times = 1;
    for (size_t i = 1; i < count; i++)
        times += edits[i].what == GPH_EDIT_ARG && edits[0].what == GPH_EDIT_ARG &&
                 edits[i].index == edits[0].index;
    const uint64_t words[] = {(uint64_t)(uintptr_t)job->exec->handle,
                              (uint64_t)(uintptr_t)job->track->base->places[base].handle,
                              times};
    if (times > 1)
        gphi_note(GPHI_NOTE_EDITED, NULL, words, 3);
}

/* The edits of one node, `count` of them. */
static gph_status edit_node(const struct job *job, const gph_edit *edits, size_t count)
{
    gphi_track *track = job->track;
    struct record *record = keep(job, edits, count);
    gph_node *node = gphi_snapshot_node(track->contents, record->flat);
    note_repeated(job, record->base, edits, count);
    bool changes = false;
    for (size_t i = 0; i < count; i++) {
        apply(&edits[i], node);
        changes |= edits[i].what != GPH_EDIT_ENABLED;
    }
    if (changes) {
        const char *call;
        const CUresult result = gphi_node_set(
            track, job->exec->handle, track->base->places[record->base].handle,
            &track->contents->places[record->flat], &call);
        if (result != CUDA_SUCCESS)
            return fail_set(job, record->base, result, call);
        record->is_set = true;
        track->stats.node_set_count++;
    }
    for (size_t i = 0; i < count; i++)
        if (edits[i].what == GPH_EDIT_ENABLED)
            GPHI_TRY(set_enabled(job, record, edits[i].value != 0));
    return GPH_OK;
}

/* The contents become the executable's own. */
static gph_status own(const struct job *job)
{
    gphi_track *track = job->track;
    gph_snapshot *copy = NULL;
    if (track->is_own)
        return GPH_OK;
    GPHI_TRY(gphi_snapshot_copy(track->contents, &copy, job->error));
    gph_snapshot_release(track->contents);
    track->contents = copy;
    track->is_own = true;
    return GPH_OK;
}

gph_status gph_exec_edit(gph_exec *exec, const gph_edit *edits, size_t count,
                         gph_error *error)
{
    struct job job = {.exec = exec, .error = error};
    size_t room = 0;
    GPHI_TRY(gphi_need_named(error, __func__, edits || count == 0, "edits"));
    GPHI_TRY(gphi_track_check(exec, &job.track, error));
    if (job.track->is_stale)
        return gphi_fail(error, GPH_E_STATE,
                         "what the nodes of executable %p hold is not known since it was "
                         "updated as a whole without a snapshot",
                         (void *)exec->handle);
    GPHI_TRY(check(&job, edits, count, &room));
    GPHI_TRY(own(&job));
    GPHI_TRY(reserve_records(&job, room, count));
    for (size_t i = 0, same; i < count; i += same) {
        same = group_of(&edits[i], count - i);
        const gph_status status = same == 1 && edits[i].what == GPH_EDIT_ARG
                                      ? edit_argument(&job, &edits[i])
                                      : edit_node(&job, &edits[i], same);
        if (status == GPH_OK)
            continue;
        undo(&job);
        return status;
    }
    job.track->stats.edit_count++;
    return GPH_OK;
}
