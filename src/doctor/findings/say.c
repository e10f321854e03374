// SPDX-License-Identifier: Apache-2.0
/* Words for messages, each in one of a thread's rooms: a sentence is put together of a
 * few of them and copied at once, so that nobody has to free any. */
#include "doctor/findings/finding.h"
#include "doctor/language/language.h"

#include <stdarg.h>
#include <stdio.h>

/* More rooms than any one sentence takes words. */
enum { ROOMS = 48, ROOM_BYTES = 512 };

static char *next_room(void)
{
    static _Thread_local char rooms[ROOMS][ROOM_BYTES];
    static _Thread_local unsigned next;
    return rooms[next++ % ROOMS];
}

const char *gphi_say(const char *format, ...)
{
    char *out = next_room();
    va_list values;
    va_start(values, format);
    gphi_language_intov(out, ROOM_BYTES, format, values);
    va_end(values);
    return out;
}

void gphi_say_into(char *out, size_t bytes, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    gphi_language_intov(out, bytes, format, values);
    va_end(values);
}

const char *gphi_say_place(const gphi_model *model, const gphi_call *call)
{
    uint32_t count = 0;
    char *out = next_room();
    const gph_place *frames = gphi_stacks_frames(model->stacks, call->stack, &count);
    out[0] = '\0';
    if (count > 0)
        gphi_place_text(&frames[gphi_stacks_own(
                            gphi_stacks_for(model->stacks, call->stack), frames, count)],
                        out, ROOM_BYTES);
    return out;
}

const char *gphi_say_call(const gphi_call *call)
{
    return call->number == 0 ? "a call that was not seen" : gphi_call_name(call->call);
}

const char *gphi_say_thread(const gphi_model *model, uint32_t thread)
{
    const gphi_thread *known = gphi_model_thread(model, thread);
    if (!known || known->name[0] == '\0')
        return gphi_say("thread %u", (unsigned)thread);
    return gphi_say("thread %u \"%.15s\"", (unsigned)thread, known->name);
}

const char *gphi_say_result(int32_t result)
{
    return gphi_say("%d %s", (int)result, gph_status_name(result));
}

const char *gphi_say_sort(const gph_node *node)
{
    if (node->kind == GPH_NODE_KERNEL && node->u.kernel.function)
        return gphi_say("kernel %.200s", node->u.kernel.function);
    return gphi_language_of(gph_node_kind_name(node->kind));
}

const char *gphi_say_node(const gphi_snapshot *snapshot, uint32_t index)
{
    const gph_node *node = gph_graph_node(gphi_snapshot_graph(snapshot), index);
    const char *region = gphi_snapshot_region(snapshot, index);
    if (!node)
        return gphi_say("node %u", (unsigned)index);
    if (region)
        return gphi_say("node %u (%s, region \"%.60s\")", (unsigned)index,
                        gphi_say_sort(node), region);
    return gphi_say("node %u (%s)", (unsigned)index, gphi_say_sort(node));
}

const char *gphi_say_said(const char *said)
{
    return said[0] ? gphi_say(": %.400s", said) : "";
}

const char *gphi_say_count(uint64_t count, const char *what)
{
    return gphi_say("%llu %s%s", (unsigned long long)count, what, count == 1 ? "" : "s");
}

const char *gphi_say_bytes(uint64_t bytes)
{
    if (bytes >= UINT64_C(10) << 30)
        return gphi_say("%.1f GiB", (double)bytes / (1 << 30));
    if (bytes >= 1U << 20)
        return gphi_say("%.4g MiB", (double)bytes / (1 << 20));
    if (bytes >= 10U << 10)
        return gphi_say("%.4g KiB", (double)bytes / (1 << 10));
    return gphi_say("%llu bytes", (unsigned long long)bytes);
}
