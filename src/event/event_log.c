// SPDX-License-Identifier: Apache-2.0
/* Reads a saved log. All of it is checked before anything of it is given out. */
#define _GNU_SOURCE
#include "event/event_log.h"

#include "base/fail.h"
#include "base/heap.h"
#include "base/save.h"
#include "event/log_format.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct gphi_event_log {
    gph_allocator heap;
    size_t bytes; /* of this allocation */
    size_t record_bytes;
    size_t records; /* where they begin in `file` */
    _Alignas(16) unsigned char file[];
};

static gph_status read_all(int fd, const char *path, unsigned char *at, size_t bytes,
                           gph_error *error)
{
    while (bytes > 0) {
        const ssize_t got = read(fd, at, bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return gphi_save_fail(error, "read", path);
        if (got == 0)
            return gphi_fail(error, GPH_E_FORMAT, "%.300s got shorter meanwhile", path);
        at += got;
        bytes -= (size_t)got;
    }
    return GPH_OK;
}

/* Reads the names: map[number there] = number here. */
static gph_status read_names(char *names, size_t bytes, uint16_t *map, uint32_t *count,
                             gph_error *error)
{
    *count = 0;
    if (bytes > 0 && names[bytes - 1] != '\0')
        return gphi_fail(error, GPH_E_FORMAT, "offset 64: the names of calls do not end");
    for (char *name = names; bytes > 0 && *name != '\0';) {
        char *end = strchr(name, '\n');
        if (!end || *count == UINT16_MAX)
            return gphi_fail(error, GPH_E_FORMAT, "offset %zu: no name of a call is here",
                             (size_t)(name - names) + sizeof(gphi_log_head));
        *end = '\0';
        map[(*count)++] = (uint16_t)gphi_call_find(name);
        name = end + 1;
    }
    return GPH_OK;
}

static gph_status check_records(gphi_event_log *log, const uint16_t *map, uint32_t calls,
                                uint64_t count, gph_error *error)
{
    uint64_t seen = 0;
    for (size_t at = 0; at < log->record_bytes; seen++) {
        gphi_event *event = (gphi_event *)(log->file + log->records + at);
        if (!gphi_event_is_whole(event, log->record_bytes - at))
            return gphi_fail(error, GPH_E_FORMAT, "offset %zu: no whole record is here",
                             log->records + at);
        event->mark = 0;
        if (event->kind == GPHI_EVENT_CALL)
            event->u.call.call =
                event->u.call.call < calls ? map[event->u.call.call] : GPHI_CALL_COUNT;
        at += (size_t)event->units * sizeof(*event);
    }
    if (seen != count)
        return gphi_fail(error, GPH_E_FORMAT,
                         "offset 16: %llu records are announced, %llu are there",
                         (unsigned long long)count, (unsigned long long)seen);
    return GPH_OK;
}

static gph_status check(gphi_event_log *log, size_t bytes, gph_error *error)
{
    gphi_log_head head;
    if (bytes < sizeof(head))
        return gphi_fail(error, GPH_E_FORMAT,
                         "this is not an event log: %zu bytes, its head has %zu", bytes,
                         sizeof(head));
    memcpy(&head, log->file, sizeof(head));
    if (head.magic != GPHI_LOG_MAGIC)
        return gphi_fail(error, GPH_E_FORMAT, "this is not an event log");
    if (head.version != GPHI_LOG_VERSION)
        return gphi_fail(error, GPH_E_FORMAT, "offset 8: version %u of 1", head.version);
    const size_t room = bytes - sizeof(head);
    if (head.names_bytes > GPHI_LOG_NAMES_MAX || head.names_bytes % 64 != 0 ||
        head.names_bytes > room || head.record_bytes != room - head.names_bytes)
        return gphi_fail(error, GPH_E_FORMAT,
                         "offset 12: %u bytes of names and %llu of records do not make "
                         "the file's %zu",
                         head.names_bytes, (unsigned long long)head.record_bytes, bytes);
    log->records = sizeof(head) + head.names_bytes;
    log->record_bytes = (size_t)head.record_bytes;

    uint32_t calls;
    const size_t map_bytes = UINT16_MAX * sizeof(uint16_t);
    uint16_t *map = gphi_heap_alloc(log->heap, map_bytes);
    GPHI_TRY(gphi_made(error, map, "reading an event log"));
    gph_status status = read_names((char *)log->file + sizeof(head), head.names_bytes,
                                   map, &calls, error);
    GPHI_THEN(status, check_records(log, map, calls, head.record_count, error));
    gphi_heap_free(log->heap, map, map_bytes);
    return status;
}

static gph_status read_log(int fd, const char *path, gph_allocator heap,
                           gphi_event_log **out, gph_error *error)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return gphi_save_fail(error, "read", path);
    if (!S_ISREG(info.st_mode))
        return gphi_fail(error, GPH_E_FORMAT, "%.300s is not a plain file", path);
    const size_t bytes = (size_t)info.st_size;
    uint64_t magic = 0; /* first: any file may be given, also one of many GiB */
    if (bytes >= sizeof(gphi_log_head) &&
        pread(fd, &magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
        magic != GPHI_LOG_MAGIC)
        return gphi_fail(error, GPH_E_FORMAT, "%.300s: this is not an event log", path);
    gphi_event_log *log = gphi_heap_alloc(heap, sizeof(*log) + bytes);
    GPHI_TRY(gphi_made(error, log, "%zu bytes of an event log", bytes));
    log->heap = heap;
    log->bytes = sizeof(*log) + bytes;
    gph_status status = read_all(fd, path, log->file, bytes, error);
    if (status == GPH_OK && (status = check(log, bytes, error)) != GPH_OK)
        gphi_fail_in(error, "%.300s: ", path);
    if (status != GPH_OK)
        gphi_event_log_close(log);
    else
        *out = log;
    return status;
}

gph_status gphi_event_log_read(const char *path, const gph_allocator *allocator,
                               gphi_event_log **out, gph_error *error)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return gphi_save_fail(error, "open", path);
    const gph_status status = read_log(fd, path, gphi_heap(allocator), out, error);
    close(fd);
    return status;
}

void gphi_event_log_close(gphi_event_log *log)
{
    if (log)
        gphi_heap_free(log->heap, log, log->bytes);
}

const gphi_event *gphi_event_log_next(const gphi_event_log *log, size_t *at)
{
    if (*at >= log->record_bytes)
        return NULL;
    const gphi_event *event = (const gphi_event *)(log->file + log->records + *at);
    *at += (size_t)event->units * sizeof(*event);
    return event;
}
