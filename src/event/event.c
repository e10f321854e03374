// SPDX-License-Identifier: Apache-2.0
/* Names of calls, and the check that a record is what it says. */
#include "event/event.h"
#include "base/hash.h"
#include "event/collective_calls.h"

#include <string.h>

static const char *const call_names[GPHI_CALL_COUNT] = {
#define X(name, version, arguments) #name,
    GPHI_CUDA_CALLS(X)
#undef X
};

static const char *const call_arguments[GPHI_CALL_COUNT] = {
#define X(name, version, arguments) #arguments,
    GPHI_CUDA_CALLS(X)
#undef X
};

enum { RECORD_VERSION = 4 };

const char *gphi_call_name(uint32_t call)
{
    if (call >= GPHI_COLLECTIVE_CALL)
        return gphi_collective_name(call - GPHI_COLLECTIVE_CALL);
    return call < GPHI_CALL_COUNT ? call_names[call] : "?";
}

const char *gphi_call_arguments(uint32_t call)
{
    return call < GPHI_CALL_COUNT ? call_arguments[call] : "()";
}

/* The name is the last word of "(type name, type name)"; it stays in the text, since no
 * list of names alone is kept. */
const char *gphi_call_argument(uint32_t call, uint32_t index, int *length)
{
    const char *at = gphi_call_arguments(call) + 1;
    for (; index > 0 && *at != '\0'; index--)
        at += strcspn(at, ",") + (strchr(at, ',') != NULL);
    const char *end = at + strcspn(at, ",)"), *name = end;
    while (name > at && name[-1] != ' ')
        name--;
    *length = name > at ? (int)(end - name) : 1;
    return name > at ? name : "?";
}

uint32_t gphi_call_find(const char *name)
{
    uint32_t call = 0;
    while (call < GPHI_CALL_COUNT && strcmp(call_names[call], name) != 0)
        call++;
    return call;
}

/* A log's numbers of calls mean what they meant when it was written: another list of calls
 * is another version, which files hold. */
uint64_t gphi_event_version(void)
{
    uint64_t hash = GPHI_HASH_FNV_START ^ RECORD_VERSION;
    for (uint32_t call = 0; call < GPHI_CALL_COUNT; call++)
        hash = gphi_hash_fnv(hash, call_names[call], strlen(call_names[call]) + 1);
    return hash;
}

/* The bytes that the parts take, or SIZE_MAX if they do not fit into `room`. */
static size_t check_parts(const gphi_event *event, size_t room)
{
    const char *at = (const char *)gphi_event_parts(event);
    size_t used = 0;
    for (uint32_t i = 0; i < event->part_count; i++) {
        gphi_part part;
        if (room - used < sizeof(part))
            return SIZE_MAX;
        memcpy(&part, at + used, sizeof(part));
        used += sizeof(part);
        const size_t bytes = ((size_t)part.bytes + 7) & ~(size_t)7;
        if (part.kind < GPHI_PART_TEXT || part.kind > GPHI_PART_SAMPLE ||
            bytes > room - used)
            return SIZE_MAX;
        if (part.kind == GPHI_PART_TEXT &&
            (part.bytes == 0 || at[used + part.bytes - 1] != '\0'))
            return SIZE_MAX;
        if ((part.kind == GPHI_PART_HASH || part.kind == GPHI_PART_SAMPLE) &&
            part.bytes != 8)
            return SIZE_MAX;
        used += bytes;
    }
    return used;
}

int gphi_event_is_whole(const gphi_event *event, size_t bytes_there)
{
    if (bytes_there < sizeof(*event) || event->units == 0)
        return 0;
    const size_t bytes = (size_t)event->units * sizeof(*event);
    if (bytes > bytes_there || event->kind < GPHI_EVENT_CALL ||
        event->kind > GPHI_EVENT_NUMBER)
        return 0;
    const size_t words = (size_t)event->word_count * 8;
    if (words > bytes - sizeof(*event))
        return 0;
    return check_parts(event, bytes - sizeof(*event) - words) != SIZE_MAX;
}

const gphi_part *gphi_event_part(const gphi_event *event, gphi_part_kind kind,
                                 uint32_t nth)
{
    const gphi_part *part = gphi_event_parts(event);
    for (uint32_t i = 0; i < event->part_count; i++, part = gphi_part_next(part))
        if (part->kind == kind && nth-- == 0)
            return part;
    return NULL;
}

bool gphi_event_host(const gphi_event *event, uint32_t nth, gphi_host_bytes *out)
{
    const gphi_part *part = gphi_event_part(event, GPHI_PART_HOST, nth);
    if (!part || part->bytes < sizeof(*out))
        return false;
    memcpy(out, part + 1, sizeof(*out));
    return true;
}

const gphi_part *gphi_event_arg(const gphi_event *event, gphi_part_kind kind,
                                uint32_t arg)
{
    const gphi_part *part = gphi_event_parts(event);
    for (uint32_t i = 0; i < event->part_count; i++, part = gphi_part_next(part))
        if (part->kind == kind && part->arg == arg)
            return part;
    return NULL;
}

const char *gphi_event_text(const gphi_event *event, uint32_t nth)
{
    const gphi_part *part = gphi_event_part(event, GPHI_PART_TEXT, nth);
    return part ? gphi_part_bytes(part) : "";
}

uint64_t gphi_host_hash(uint64_t hash, const void *bytes, size_t count)
{
    /* The value is in records, which a later version may read: it stays as it is. */
    const unsigned char *at = bytes;
    for (; count >= 8; at += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, at, sizeof(word));
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    for (; count > 0; at++, count--)
        hash = (hash ^ *at) * UINT64_C(0x100000001b3);
    return hash;
}
