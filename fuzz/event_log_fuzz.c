// SPDX-License-Identifier: Apache-2.0
/* The reader of saved event logs: bytes that begin with a 'g' are a file, others are
 * records, for which a head is made that agrees with them. What is accepted is walked to
 * its end, saved, and read again. */
#define _GNU_SOURCE
#include "event/event_log.h"
#include "event/log_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int is_right)
{
    if (!is_right)
        abort();
}

static uint64_t count_records(const uint8_t *data, size_t size)
{
    uint64_t count = 0;
    for (size_t at = 0; at + 64 <= size; count++) {
        gphi_event event;
        memcpy(&event, data + at, sizeof(event));
        at += event.units > 0 ? (size_t)event.units * 64 : 64;
    }
    return count;
}

static void write_input(const char *path, const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    must(file != NULL);
    if (size == 0 || data[0] != 'g') {
        const gphi_log_head head = {.magic = GPHI_LOG_MAGIC,
                                    .version = GPHI_LOG_VERSION,
                                    .record_count = count_records(data, size),
                                    .record_bytes = size};
        fwrite(&head, 1, sizeof(head), file);
    }
    fwrite(data, 1, size, file);
    fclose(file);
}

/* All that a reader may touch. */
static uint64_t touch(const gphi_event *event)
{
    uint64_t sum = strlen(gphi_call_name(event->u.call.call));
    for (uint32_t i = 0; i < event->word_count; i++)
        sum += gphi_event_word(event, i);
    for (uint32_t i = 0; i < event->part_count; i++)
        sum += strlen(gphi_event_text(event, i));
    for (uint32_t i = 0; i < 6; i++) {
        const gphi_part *part = gphi_event_arg(event, GPHI_PART_STRUCT, i);
        const unsigned char *bytes = part != NULL ? gphi_part_bytes(part) : NULL;
        for (uint32_t b = 0; part != NULL && b < part->bytes; b++)
            sum += bytes[b];
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64], copy[64];
    snprintf(path, sizeof(path), "/tmp/event_log_fuzz.%d", (int)getpid());
    snprintf(copy, sizeof(copy), "/tmp/event_log_fuzz.%d.copy", (int)getpid());
    write_input(path, data, size);
    gphi_event_log *log = NULL;
    gph_error error = {0};
    if (gphi_event_log_read(path, NULL, &log, &error) != GPH_OK) {
        must(error.code == GPH_E_FORMAT && error.message[0] != '\0');
        unlink(path);
        return 0;
    }
    gphi_event_save *save = NULL;
    must(gphi_event_save_begin(copy, NULL, &save, &error) == GPH_OK);
    uint64_t sum = 0, again = 0;
    size_t at = 0;
    for (const gphi_event *event; (event = gphi_event_log_next(log, &at)) != NULL;) {
        sum += touch(event);
        must(gphi_event_save_add(save, event, &error) == GPH_OK);
    }
    must(gphi_event_save_end(save, true, &error) == GPH_OK);
    gphi_event_log_close(log);
    must(gphi_event_log_read(copy, NULL, &log, &error) == GPH_OK);
    at = 0;
    for (const gphi_event *event; (event = gphi_event_log_next(log, &at)) != NULL;)
        again += touch(event);
    must(sum == again);
    gphi_event_log_close(log);
    unlink(path);
    unlink(copy);
    return 0;
}
