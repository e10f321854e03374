// SPDX-License-Identifier: Apache-2.0
/* The doctor on hostile logs: bytes that begin with a 'g' are a file; others are records,
 * before which a head is put that agrees with them. Whatever they say is examined to the
 * end, with all rules, as text and as JSON. */
#define _GNU_SOURCE
#include "event/log_format.h"

#include <gph/doctor.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The names of all calls, padded; the caller's. */
static char *make_names(size_t *bytes)
{
    char *names = calloc(GPHI_CALL_COUNT, 64);
    size_t used = 0;
    if (names == NULL)
        abort();
    for (uint32_t i = 0; i < GPHI_CALL_COUNT; i++)
        used += (size_t)sprintf(names + used, "%s\n", gphi_call_name(i));
    *bytes = (used + 63) & ~(size_t)63;
    return names;
}

static uint64_t count_records(const uint8_t *data, size_t size)
{
    uint64_t count = 0;
    for (size_t at = 0; at + sizeof(gphi_event) <= size; count++) {
        gphi_event event;
        memcpy(&event, data + at, sizeof(event));
        at += (event.units > 0 ? (size_t)event.units : 1) * sizeof(event);
    }
    return count;
}

static void write_all(int fd, const void *data, size_t bytes)
{
    if (bytes > 0 && write(fd, data, bytes) != (ssize_t)bytes)
        abort();
}

static void must(gph_status status)
{
    if (status != GPH_OK)
        abort();
}

static void examine(const char *path)
{
    gph_buffer nowhere = {0};
    gph_doctor *doctor = NULL;
    gph_error error = {0};
    if (gph_doctor_create(NULL, &doctor, NULL) != GPH_OK)
        abort();
    if (gph_doctor_read(doctor, path, &error) != GPH_OK && error.message[0] == '\0')
        abort();
    if (gph_doctor_finish(doctor, &error) == GPH_OK) {
        for (uint32_t i = 0; i < gph_doctor_finding_count(doctor); i++)
            must(gph_finding_text_write(gph_doctor_finding(doctor, i), 1,
                                        gph_write_buffer, &nowhere, NULL));
        must(gph_doctor_json_write(doctor, NULL, gph_write_buffer, &nowhere, NULL));
    }
    gph_doctor_destroy(doctor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    const int fd = memfd_create("doctor_log", 0);
    if (fd < 0)
        abort();
    if (size == 0 || data[0] != 'g') {
        size_t bytes;
        char *names = make_names(&bytes);
        const size_t whole = size / sizeof(gphi_event) * sizeof(gphi_event);
        const gphi_log_head head = {.magic = GPHI_LOG_MAGIC,
                                    .version = GPHI_LOG_VERSION,
                                    .names_bytes = (uint32_t)bytes,
                                    .record_count = count_records(data, whole),
                                    .record_bytes = whole};
        write_all(fd, &head, sizeof(head));
        write_all(fd, names, bytes);
        free(names);
        size = whole;
    }
    write_all(fd, data, size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    examine(path);
    close(fd);
    return 0;
}
