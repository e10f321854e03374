// SPDX-License-Identifier: Apache-2.0
/* Writes a log. How many records it holds is in its head, which is written last. */
#include "base/fail.h"
#include "base/heap.h"
#include "base/limit.h"
#include "base/save.h"
#include "event/event_log.h"
#include "event/log_format.h"

#include <string.h>

enum { BUFFER_BYTES = 1 << 16 };

struct gphi_event_save {
    gph_allocator heap;
    gph_status status; /* of the first write that failed: what follows is not written */
    gph_error why;
    gphi_log_head head;
    size_t used; /* of `buffer` */
    char *path;
    gphi_save file;
    unsigned char buffer[BUFFER_BYTES];
};

static gph_status flush(gphi_event_save *save, gph_error *error)
{
    save->file.error = error;
    const gph_status status = gphi_save_write(&save->file, save->buffer, save->used);
    save->used = 0;
    return status;
}

static gph_status put(gphi_event_save *save, const void *data, size_t bytes,
                      gph_error *error)
{
    for (const unsigned char *at = data; bytes > 0;) {
        const size_t room = BUFFER_BYTES - save->used;
        const size_t now = bytes < room ? bytes : room;
        memcpy(save->buffer + save->used, at, now);
        save->used += now;
        at += now;
        bytes -= now;
        if (save->used == BUFFER_BYTES)
            GPHI_TRY(flush(save, error));
    }
    return GPH_OK;
}

static gph_status put_names(gphi_event_save *save, gph_error *error)
{
    size_t bytes = 0;
    for (uint32_t call = 0; call < GPHI_CALL_COUNT; call++)
        bytes += strlen(gphi_call_name(call)) + 1;
    save->head.names_bytes = (uint32_t)(bytes / 64 * 64 + 64); /* a final 0 at least */
    GPHI_TRY(put(save, &save->head, sizeof(save->head), error));
    for (uint32_t call = 0; call < GPHI_CALL_COUNT; call++) {
        GPHI_TRY(put(save, gphi_call_name(call), strlen(gphi_call_name(call)), error));
        GPHI_TRY(put(save, "\n", 1, error));
    }
    const char zeros[64] = {0};
    return put(save, zeros, save->head.names_bytes - bytes, error);
}

static void destroy(gphi_event_save *save)
{
    gphi_heap_text_free(save->heap, save->path);
    gphi_heap_free(save->heap, save, sizeof(*save));
}

gph_status gphi_event_save_begin(const char *path, const gph_allocator *allocator,
                                 gphi_event_save **out, gph_error *error)
{
    const gph_allocator heap = gphi_heap(allocator);
    gphi_event_save *save = gphi_heap_alloc(heap, sizeof(*save));
    GPHI_TRY(gphi_made(error, save, "saving events"));
    save->heap = heap;
    save->head.magic = GPHI_LOG_MAGIC;
    save->head.version = GPHI_LOG_VERSION;
    save->path = gphi_heap_text(heap, path);
    gph_status status =
        save->path ? gphi_save_begin(&save->file, save->path, GPHI_SAVE_PRIVATE, error)
                   : gphi_fail(error, GPH_E_NO_MEMORY, "saving events");
    if (status != GPH_OK) {
        destroy(save);
        return status;
    }
    status = put_names(save, error);
    if (status != GPH_OK) {
        gphi_ignore(gphi_event_save_end(save, false, NULL),
                    "the first failure is reported");
        return status;
    }
    *out = save;
    return GPH_OK;
}

/* The first failure, with its words: file and errno. */
static gph_status say_first(const gphi_event_save *save, gph_error *error)
{
    if (save->status != GPH_OK && error)
        *error = save->why;
    return save->status;
}

gph_status gphi_event_save_add(gphi_event_save *save, const gphi_event *event,
                               gph_error *error)
{
    gphi_event head = *event;
    head.mark = 0;
    const size_t bytes = (size_t)event->units * sizeof(*event);
    if (save->status == GPH_OK)
        save->status = put(save, &head, sizeof(head), &save->why);
    if (save->status == GPH_OK)
        save->status = put(save, event + 1, bytes - sizeof(head), &save->why);
    save->head.record_count++;
    save->head.record_bytes += bytes;
    return say_first(save, error);
}

/* What is buffered, and the head with what is known only now. */
static gph_status finish(gphi_event_save *save, gph_error *error)
{
    GPHI_TRY(say_first(save, error));
    GPHI_TRY(flush(save, error));
    if (!gphi_limit_write_at(save->file.fd, &save->head, sizeof(save->head), 0))
        return gphi_save_fail(error, "write", save->path);
    return GPH_OK;
}

gph_status gphi_event_save_end(gphi_event_save *save, bool keep, gph_error *error)
{
    const gph_status status = keep ? finish(save, error) : GPH_OK;
    save->file.error = error;
    const gph_status ended = gphi_save_end(&save->file, keep && status == GPH_OK);
    destroy(save);
    return status != GPH_OK ? status : ended;
}
