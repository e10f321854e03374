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
        return gphi_fail(error, GPH_E_FORMAT, "%.300s is no ring file, or not yet", path);
    if (head->version != gphi_event_version())
        return gphi_fail(error, GPH_E_FORMAT,
                         "%.300s was written by another version of the attached library",
                         path);
    const uint32_t units = head->units;
    if (units == 0 || (units & (units - 1)) != 0 ||
        bytes < GPHI_RING_PAGE + (size_t)units * GPHI_RING_UNIT)
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
        info.st_size < GPHI_RING_PAGE) {
        close(fd);
        return gphi_fail(error, GPH_E_FORMAT, "%.300s is no ring file, or not yet", path);
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
    if (reader == NULL) {
        status = gphi_fail(error, GPH_E_NO_MEMORY, "reading a ring");
        goto unmap;
    }
    gphi_event_ring_head *head = base;
    *reader =
        (gphi_event_ring_reader){.heap = heap,
                                 .head = head,
                                 .units = (gphi_event *)((char *)base + GPHI_RING_PAGE),
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
    if (reader == NULL)
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

/* A checked copy, or NULL. */
static const gphi_event *copy_of(gphi_event_ring_reader *reader, const gphi_event *event,
                                 uint64_t units)
{
    const size_t bytes = units * sizeof(*event);
    if (bytes > reader->copy_bytes) {
        gphi_event *more = gphi_heap_alloc(reader->heap, bytes);
        if (more == NULL)
            return NULL;
        gphi_heap_free(reader->heap, reader->copy, reader->copy_bytes);
        reader->copy = more;
        reader->copy_bytes = bytes;
    }
    memcpy(reader->copy, event, bytes);
    reader->copy->mark = 0;
    const bool is_whole =
        reader->copy->units == units && gphi_event_is_whole(reader->copy, bytes);
    return is_whole ? reader->copy : NULL;
}

const gphi_event *gphi_event_ring_next(gphi_event_ring_reader *reader, bool is_over)
{
    for (;;) {
        const uint64_t head = __atomic_load_n(&reader->head->head, __ATOMIC_RELAXED);
        if (head == reader->tail || head - reader->tail > reader->mask + 1)
            return NULL; /* nothing more, or no head that a writer can have made */
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
        if (copy != NULL)
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
