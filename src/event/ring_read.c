// SPDX-License-Identifier: Apache-2.0
/* The reading end. The other side is a program that may be broken: nothing in the file is
 * believed. A record is copied before it is checked. */
#define _GNU_SOURCE
#include "base/fail.h"
#include "base/heap.h"
#include "event/ring.h"
#include "event/ring_format.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct gphi_event_ring_reader {
    gph_allocator heap;
    gphi_event_ring_head *head;
    const gphi_event *units;
    uint64_t mask;
    uint64_t secret;
    size_t bytes;
    uint32_t process;
    uint64_t tail;
    uint64_t last_ns; /* the latest time of a record */
    uint32_t slot;    /* the next of those that calls may be left in */
    bool has_stack;   /* of that slot, reported */
    gphi_event *copy;
    size_t copy_bytes;
};

static gph_status fail_io(gph_error *error, const char *verb, const char *path)
{
    return gphi_fail(error, GPH_E_IO, "cannot %s %.300s: %s", verb, path,
                     strerror(errno));
}

static gph_status check_head(const gphi_event_ring_head *head, size_t bytes,
                             const char *path, gph_error *error)
{
    if (__atomic_load_n(&head->magic, __ATOMIC_ACQUIRE) != GPHI_RING_MAGIC)
        return gphi_fail(error, GPH_E_FORMAT, "%.300s is not a ring file, or not yet",
                         path);
    if (head->version != gphi_event_version())
        return gphi_fail(error, GPH_E_FORMAT,
                         "%.300s was written by another version of the attached library",
                         path);
    const uint32_t units = head->units;
    if (units == 0 || (units & (units - 1)) != 0 ||
        bytes < GPHI_RING_UNITS_AT + (size_t)units * GPHI_RING_UNIT)
        return gphi_fail(error, GPH_E_FORMAT, "%.300s has %zu bytes for %u units", path,
                         bytes, units);
    return GPH_OK;
}

static gph_status map_file(const char *path, void **base, size_t *bytes, gph_error *error)
{
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return fail_io(error, "open", path);
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ||
        info.st_size < GPHI_RING_UNITS_AT) {
        close(fd);
        return gphi_fail(error, GPH_E_FORMAT, "%.300s is not a ring file, or not yet",
                         path);
    }
    *bytes = (size_t)info.st_size;
    *base = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    const int code = errno;
    close(fd);
    errno = code;
    return *base != MAP_FAILED ? GPH_OK : fail_io(error, "map", path);
}

gph_status gphi_event_ring_open(const char *path, const gph_allocator *allocator,
                                gphi_event_ring_reader **out, gph_error *error)
{
    const gph_allocator heap = gphi_heap(allocator);
    void *base = NULL;
    size_t bytes = 0;
    GPHI_TRY(map_file(path, &base, &bytes, error));
    gph_status status = check_head(base, bytes, path, error);
    if (status != GPH_OK)
        goto unmap;
    gphi_event_ring_reader *reader = gphi_heap_alloc(heap, sizeof(*reader));
    if (!reader) {
        status = gphi_fail(error, GPH_E_NO_MEMORY, "reading a ring");
        goto unmap;
    }
    gphi_event_ring_head *head = base;
    *reader = (gphi_event_ring_reader){
        .heap = heap,
        .head = head,
        .units = (gphi_event *)((char *)base + GPHI_RING_UNITS_AT),
        .mask = head->units - 1,
        .secret = head->secret,
        .bytes = bytes,
        .process = head->process,
        .tail = __atomic_load_n(&head->tail, __ATOMIC_RELAXED)};
    *out = reader;
    return GPH_OK;

unmap:
    munmap(base, bytes);
    return status;
}

void gphi_event_ring_close(gphi_event_ring_reader *reader)
{
    if (!reader)
        return;
    const gph_allocator heap = reader->heap;
    munmap(reader->head, reader->bytes);
    gphi_heap_free(heap, reader->copy, reader->copy_bytes);
    gphi_heap_free(heap, reader, sizeof(*reader));
}

/* The units of the record at the tail, 0 if there is no mark, or none that can be right.
 * Read once: the writer's memory may change at any time. */
static uint64_t units_at_tail(const gphi_event_ring_reader *reader, uint64_t head)
{
    const uint64_t index = reader->tail & reader->mask;
    const gphi_event *event = &reader->units[index];
    const uint64_t mark = __atomic_load_n(&event->mark, __ATOMIC_ACQUIRE); /* put_at() */
    if (mark != gphi_event_ring_mark(reader->secret, reader->tail))
        return 0;
    const uint64_t units = event->units;
    return units <= head - reader->tail && units <= reader->mask + 1 - index ? units : 0;
}

static void give_back(gphi_event_ring_reader *reader, uint64_t units)
{
    reader->tail += units;
    /* release: what was read of these units was read before (take()'s acquire) */
    __atomic_store_n(&reader->head->tail, reader->tail, __ATOMIC_RELEASE);
}

static bool make_copy(gphi_event_ring_reader *reader, size_t bytes)
{
    if (bytes <= reader->copy_bytes)
        return true;
    gphi_event *more = gphi_heap_alloc(reader->heap, bytes);
    if (!more)
        return false;
    gphi_heap_free(reader->heap, reader->copy, reader->copy_bytes);
    reader->copy = more;
    reader->copy_bytes = bytes;
    return true;
}

/* A checked copy, or NULL. */
static const gphi_event *copy_of(gphi_event_ring_reader *reader, const gphi_event *event,
                                 uint64_t units)
{
    const size_t bytes = units * sizeof(*event);
    if (!make_copy(reader, bytes))
        return NULL;
    memcpy(reader->copy, event, bytes);
    reader->copy->mark = 0;
    const bool is_whole =
        reader->copy->units == units && gphi_event_is_whole(reader->copy, bytes);
    return is_whole ? reader->copy : NULL;
}

/* ---- calls that have not returned ---- */

enum { FROM_STACKS = 1 << 16 }; /* numbers after those of attach/peek/stack.c */

bool gphi_event_ring_stuck(const gphi_event_ring_reader *reader, uint64_t before,
                           gphi_event_slot *out)
{
    const gphi_event_slot *slots = (void *)((char *)reader->head + GPHI_RING_PAGE);
    bool is_stuck = false;
    for (uint32_t i = 0; i < GPHI_RING_SLOTS; i++) {
        /* acquire: what was filled in before it; gphi_event_slot_enter() */
        const uint32_t call = __atomic_load_n(&slots[i].call, __ATOMIC_ACQUIRE);
        const gphi_event_slot slot = slots[i];
        if (slot.thread == 0 || call == 0 || call > GPHI_CALL_COUNT ||
            slot.call != call || slot.time_ns == 0 || slot.time_ns > before ||
            (is_stuck && out->time_ns <= slot.time_ns))
            continue;
        *out = slot;
        is_stuck = true;
    }
    return is_stuck;
}

/* What a slot says of a call that has returned may be of two calls: a time of the one and a
 * name of the other, which of a thread that goes on asking is the same. */
bool gphi_event_ring_polls(const gphi_event_ring_reader *reader, uint64_t since,
                           gphi_event_slot *out)
{
    const gphi_event_slot *slots = (void *)((char *)reader->head + GPHI_RING_PAGE);
    for (uint32_t i = 0; i < GPHI_RING_SLOTS; i++) {
        const uint32_t last = __atomic_load_n(&slots[i].last, __ATOMIC_RELAXED);
        *out = slots[i];
        if (out->thread != 0 && out->time_ns >= since &&
            (last == 1 + GPHI_CALL_cuStreamQuery || last == 1 + GPHI_CALL_cuEventQuery))
            return true;
    }
    return false;
}

/* After the last record. A thread ends in one call at most. */
static const gphi_event *next_unreturned(gphi_event_ring_reader *reader)
{
    enum { UNITS = 1 + (GPHI_SLOT_WORDS * 8 + GPHI_RING_UNIT - 1) / GPHI_RING_UNIT };
    const gphi_event_slot *slots = (void *)((char *)reader->head + GPHI_RING_PAGE);
    for (; reader->slot < GPHI_RING_SLOTS; reader->slot++, reader->has_stack = false) {
        const gphi_event_slot slot = slots[reader->slot];
        if (slot.thread == 0 || slot.call == 0 || slot.call > GPHI_CALL_COUNT ||
            slot.word_count > GPHI_SLOT_WORDS)
            continue;
        if (!make_copy(reader, UNITS * sizeof(gphi_event)))
            return NULL;
        const uint64_t begun = slot.time_ns != 0 ? slot.time_ns : reader->last_ns;
        const uint64_t lasted = reader->last_ns > begun ? reader->last_ns - begun : 0;
        const bool is_stack = slot.stack == 0 && slot.from != 0 && !reader->has_stack;
        gphi_event *event = reader->copy;
        memset(event, 0, UNITS * sizeof(*event));
        event->units = UNITS;
        event->thread = slot.thread;
        event->time_ns = begun;
        if (is_stack) {
            event->kind = GPHI_EVENT_STACK;
            event->id = FROM_STACKS + 1 + reader->slot;
            event->word_count = 1;
            memcpy(event + 1, &slot.from, sizeof(slot.from));
            reader->has_stack = true;
            return event;
        }
        event->kind = GPHI_EVENT_CALL;
        event->stack = reader->has_stack ? FROM_STACKS + 1 + reader->slot : slot.stack;
        event->word_count = slot.word_count;
        event->u.call.call = (uint16_t)(slot.call - 1);
        event->u.call.flags = slot.flags | GPHI_CALL_UNRETURNED;
        event->u.call.status = 0xFF;
        event->u.call.result = CUDA_ERROR_UNKNOWN;
        event->u.call.duration_ns = lasted < UINT32_MAX ? (uint32_t)lasted : UINT32_MAX;
        event->u.call.open = slot.open;
        event->u.call.capture = slot.capture;
        memcpy(event + 1, slot.words, slot.word_count * sizeof(slot.words[0]));
        reader->slot++;
        reader->has_stack = false;
        return event;
    }
    return NULL;
}

const gphi_event *gphi_event_ring_next(gphi_event_ring_reader *reader, bool is_over)
{
    for (;;) {
        const uint64_t head = __atomic_load_n(&reader->head->head, __ATOMIC_RELAXED);
        if (head == reader->tail || head - reader->tail > reader->mask + 1)
            /* nothing more, or no head that a writer can have made */
            return is_over ? next_unreturned(reader) : NULL;
        const uint64_t units = units_at_tail(reader, head);
        if (units == 0 && !is_over)
            return NULL;
        if (units == 0) {
            give_back(reader, 1); /* left unfinished: look for the next mark */
            continue;
        }
        const gphi_event *event = &reader->units[reader->tail & reader->mask];
        const gphi_event *copy =
            event->kind != GPHI_RING_SKIP ? copy_of(reader, event, units) : NULL;
        give_back(reader, units);
        if (copy && copy->time_ns > reader->last_ns)
            reader->last_ns = copy->time_ns;
        if (copy)
            return copy;
    }
}

uint64_t gphi_event_ring_lost(const gphi_event_ring_reader *reader)
{
    return __atomic_load_n(&reader->head->lost, __ATOMIC_RELAXED);
}

uint32_t gphi_event_ring_process(const gphi_event_ring_reader *reader)
{
    return reader->process;
}
