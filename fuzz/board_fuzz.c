// SPDX-License-Identifier: Apache-2.0
/* Boards of sentinels: whatever a file says, it is read and written as text, or refused.
 * Bytes are as they are in a file, so that nothing lies beyond them. */
#define _GNU_SOURCE
#include <gph/sentinel.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All that is lent is read. */
static size_t look_at(const gph_progress *progress)
{
    size_t sum = 0;
    for (uint32_t i = 0; i < gph_progress_exec_count(progress); i++) {
        const gph_progress_exec *exec = gph_progress_exec_at(progress, i);
        uint32_t counted = 0;
        for (uint32_t k = 0; k < 4; k++)
            counted += exec->counts[k];
        if (counted != exec->node_count)
            abort();
        for (uint32_t k = 0; k < exec->node_count; k++)
            for (uint32_t j = 0; j < exec->nodes[k].waits_for_count; j++)
                sum += exec->nodes[k].waits_for[j];
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    gph_progress *progress = NULL;
    gph_buffer nowhere = {0};
    gph_error error = {0};
    const int fd = memfd_create("board", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (gph_progress_load(path, NULL, &progress, &error) == GPH_OK) {
        volatile size_t seen = look_at(progress);
        (void)seen;
        if (gph_progress_write(progress, gph_write_buffer, &nowhere, &error) != GPH_OK)
            abort();
        gph_progress_destroy(progress);
    } else if (error.message[0] == '\0') {
        abort();
    }
    close(fd);
    return 0;
}
