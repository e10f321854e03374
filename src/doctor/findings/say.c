// SPDX-License-Identifier: Apache-2.0
/* Words for messages. */
#include "doctor/findings/finding.h"

#include <stdio.h>
#include <string.h>

char *gphi_say_room(size_t *bytes)
{
    enum { ROOMS = 8, ROOM = 512 };
    static _Thread_local char rooms[ROOMS][ROOM];
    static _Thread_local unsigned next;
    *bytes = ROOM;
    return rooms[next++ % ROOMS];
}

const char *gphi_say_place(const gphi_model *model, const gphi_call *call)
{
    size_t bytes;
    uint32_t count = 0;
    char *out = gphi_say_room(&bytes);
    const gph_place *frames = gphi_stacks_frames(model->stacks, call->stack, &count);
    out[0] = '\0';
    if (count > 0)
        gphi_place_text(&frames[0], out, bytes);
    return out;
}

const char *gphi_say_stream(const gphi_model *model, const gphi_stream *stream)
{
    size_t bytes;
    if (stream == NULL)
        return "no stream";
    if (stream->is_legacy)
        return "the legacy stream (0)";
    const char *place =
        stream->created.number != 0 ? gphi_say_place(model, &stream->created) : "";
    char *out = gphi_say_room(&bytes);
    if (stream->is_per_thread)
        snprintf(out, bytes, "the per-thread stream of thread %u",
                 (unsigned)stream->thread);
    else if (place[0] != '\0')
        snprintf(out, bytes, "stream 0x%llx (%s in %s)",
                 (unsigned long long)stream->handle, gphi_call_name(stream->created.call),
                 place);
    else
        snprintf(out, bytes, "stream 0x%llx", (unsigned long long)stream->handle);
    return out;
}

const char *gphi_say_call(const gphi_call *call)
{
    return call->number == 0 ? "a call that was not seen" : gphi_call_name(call->call);
}

const char *gphi_say_result(int32_t result)
{
    size_t bytes;
    char *out = gphi_say_room(&bytes);
    snprintf(out, bytes, "%d %s", (int)result, gph_status_name(result));
    return out;
}

const char *gphi_say_node(const gphi_snapshot *snapshot, uint32_t index)
{
    size_t bytes;
    char *out = gphi_say_room(&bytes);
    const gph_node *node = snapshot != NULL && snapshot->data != NULL
                               ? gph_graph_node(snapshot->data, index)
                               : NULL;
    if (node == NULL)
        snprintf(out, bytes, "node %u", (unsigned)index);
    else if (node->kind == GPH_NODE_KERNEL && node->u.kernel.function != NULL)
        snprintf(out, bytes, "node %u (kernel %.200s)", (unsigned)index,
                 node->u.kernel.function);
    else
        snprintf(out, bytes, "node %u (%s)", (unsigned)index,
                 gph_node_kind_name(node->kind));
    return out;
}

const char *gphi_say_count(uint64_t count, const char *what)
{
    size_t bytes;
    char *out = gphi_say_room(&bytes);
    snprintf(out, bytes, "%llu %s%s", (unsigned long long)count, what,
             count == 1 ? "" : "s");
    return out;
}
