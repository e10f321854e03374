// SPDX-License-Identifier: Apache-2.0
/* Programs and libraries as the doctor reads them for functions and lines: whatever the
 * bytes are, addresses of theirs have words or none. The reader maps a file. */
#define _GNU_SOURCE
#include "base/heap.h"
#include "symbol/dwarf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every text that is lent is read. */
static size_t look_at(gphi_dwarf *dwarf, uint64_t at)
{
    gphi_dwarf_place places[4];
    size_t sum = 0;
    const uint32_t count = gphi_dwarf_frames(dwarf, at, places, 4);
    for (uint32_t i = 0; i < count; i++) {
        char *name = NULL;
        if (places[i].function)
            name = gphi_demangle(places[i].function);
        sum += places[i].file ? strlen(places[i].file) : 0;
        sum += name ? strlen(name) : 0;
        free(name);
    }
    return sum;
}

static void demangle(const uint8_t *data, size_t size)
{
    char name[256];
    const size_t bytes = size < sizeof(name) ? size : sizeof(name) - 1;
    memcpy(name, data, bytes);
    name[bytes] = '\0';
    free(gphi_demangle(name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    static char path[64];
    bool is_same;
    demangle(data, size);
    if (fd < 0) {
        fd = memfd_create("symbol-fuzz", MFD_CLOEXEC);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    }
    if (size < 64 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        return 0;
    gphi_dwarf *dwarf = gphi_dwarf_open(gphi_heap(NULL), path, "", &is_same);
    if (!dwarf)
        return 0;
    uint64_t own;
    memcpy(&own, data + size - sizeof(own), sizeof(own));
    volatile size_t sum = look_at(dwarf, own) + look_at(dwarf, UINT64_MAX);
    for (uint64_t at = 0; at < 0x1400; at += 0x2b)
        sum += look_at(dwarf, at);
    (void)sum;
    gphi_dwarf_close(dwarf);
    return 0;
}
