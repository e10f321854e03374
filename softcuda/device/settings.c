// SPDX-License-Identifier: Apache-2.0
/* What the environment asks for. */
#include "softcuda/device/settings.h"

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "softcuda/device/limits.h"

#define MEMORY_LIMIT ((size_t)16 << 30)
#define MEMORY_LEAST ((size_t)64 << 20)
#define CHUNK ((size_t)2 << 20)
#define WORKERS_MOST 64

static CUresult refuse(const char *name, const char *value, const char *wanted)
{
    return soft_fail(CUDA_ERROR_INVALID_VALUE, "%s is '%s': %s", name, value, wanted);
}

/* A number, or the fallback where there is none. */
static CUresult read_number(const char *name, long fallback, long least, long most,
                            long *out)
{
    const char *text = getenv(name);
    *out = fallback;
    if (!text || text[0] == '\0')
        return CUDA_SUCCESS;
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (errno != 0 || *end != '\0' || value < least || value > most)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%s is '%s': a whole number from %ld to %ld is needed", name,
                         text, least, most);
    *out = value;
    return CUDA_SUCCESS;
}

/* "4096", "512M", "2G", "1.5GiB". */
static CUresult read_bytes(const char *name, size_t fallback, size_t *out)
{
    const char *text = getenv(name);
    *out = fallback;
    if (!text || text[0] == '\0')
        return CUDA_SUCCESS;
    char *end;
    const double number = strtod(text, &end);
    double unit = 1;
    switch (*end) {
    case 'k':
    case 'K': unit = 1024.0; break;
    case 'm':
    case 'M': unit = 1024.0 * 1024; break;
    case 'g':
    case 'G': unit = 1024.0 * 1024 * 1024; break;
    default: break;
    }
    if (unit > 1)
        end += 1 + (end[1] == 'i') + (end[1] == 'i' ? end[2] == 'B' : end[1] == 'B');
    const double bytes = number * unit;
    if (end == text || *end != '\0' || !(bytes >= (double)MEMORY_LEAST) || bytes > 1e15)
        return refuse(name, text, "at least 64M is needed, as bytes or with K, M or G");
    *out = (size_t)bytes / CHUNK * CHUNK;
    return CUDA_SUCCESS;
}

static int is_triton(struct dl_phdr_info *info, size_t bytes, void *user)
{
    (void)bytes;
    (void)user;
    return info->dlpi_name && strstr(info->dlpi_name, "/libtriton.so") != NULL;
}

/* Triton writes other code for 9.0 (wgmma, TMA), which softcuda does not have. */
static int capability_wanted(void)
{
    if (!dl_iterate_phdr(is_triton, NULL))
        return 90;
    fputs("softcuda: Triton is loaded, so the device has compute capability 8.0 (another "
          "one: SOFTCUDA_COMPUTE_CAPABILITY)\n",
          stderr);
    return 80;
}

static CUresult read_capability(int *out)
{
    const char *text = getenv("SOFTCUDA_COMPUTE_CAPABILITY");
    if (!text || text[0] == '\0') {
        *out = capability_wanted();
        return CUDA_SUCCESS;
    }
    int major, minor, length = 0;
    if (sscanf(text, "%2d.%1d%n", &major, &minor, &length) != 2 || text[length] != '\0' ||
        major < 5 || major > 12)
        return refuse("SOFTCUDA_COMPUTE_CAPABILITY", text,
                      "wanted major.minor from 5.0 to 12.9");
    *out = major * 10 + minor;
    return CUDA_SUCCESS;
}

/* A newer driver is the same one, for clients that compile by a newer toolkit and give PTX
 * to a driver of that age alone. */
#define NEWEST_VERSION 13090

/* False: it is not understood. */
static bool parse_version(const char *text, int *out)
{
    int major, minor, length = 0;
    *out = SOFT_DRIVER_VERSION;
    if (!text || text[0] == '\0')
        return true;
    if (sscanf(text, "%2d.%1d%n", &major, &minor, &length) != 2 || text[length] != '\0')
        return false;
    const int version = major * 1000 + minor * 10;
    if (version < 12000 || version > NEWEST_VERSION)
        return false;
    *out = version;
    return true;
}

int soft_driver_version(void)
{
    static atomic_int known; /* relaxed: whoever reads 0 parses the same text */
    int version = atomic_load_explicit(&known, memory_order_relaxed);
    if (version == 0) {
        parse_version(getenv("SOFTCUDA_DRIVER_VERSION"), &version);
        atomic_store_explicit(&known, version, memory_order_relaxed);
    }
    return version;
}

static CUresult check_version(void)
{
    int unused;
    const char *text = getenv("SOFTCUDA_DRIVER_VERSION");
    return parse_version(text, &unused) ? CUDA_SUCCESS
                                        : refuse("SOFTCUDA_DRIVER_VERSION", text,
                                                 "wanted a version from 12.0 to 13.9");
}

CUuuid soft_device_uuid(int physical)
{
    CUuuid uuid = {{0x73, 0x6f, 0x66, 0x74, 0x63, 0x75, 0x64, 0x61}}; /* "softcuda" */
    uuid.bytes[15] = (char)physical;
    return uuid;
}

/* The device that an entry of CUDA_VISIBLE_DEVICES means, or -1. */
static int device_of(const char *entry, size_t length, int total)
{
    char text[64], name[64];
    if (length == 0 || length >= sizeof(text))
        return -1;
    memcpy(text, entry, length);
    text[length] = '\0';
    char *end;
    const long number = strtol(text, &end, 10);
    if (*end == '\0')
        return number >= 0 && number < total ? (int)number : -1;
    for (int i = 0; length > 4 && i < total; i++) {
        const CUuuid uuid = soft_device_uuid(i);
        char *at = name + snprintf(name, sizeof(name), "GPU-");
        for (int b = 0; b < 16; b++)
            at += snprintf(at, 4, "%s%02x",
                           b == 4 || b == 6 || b == 8 || b == 10 ? "-" : "",
                           (unsigned char)uuid.bytes[b]);
        if (strncasecmp(name, text, length) == 0)
            return i;
    }
    return -1;
}

/* As CUDA does: the first entry that is not a device, or one again, ends the list. */
static void read_visible(soft_settings *out, int total)
{
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    out->device_count = 0;
    if (!list) {
        for (int i = 0; i < total; i++)
            out->physical[out->device_count++] = i;
        return;
    }
    while (*list != '\0') {
        const size_t length = strcspn(list, ",");
        const int device = device_of(list, length, total);
        if (device < 0)
            return;
        for (int i = 0; i < out->device_count; i++)
            if (out->physical[i] == device) {
                out->device_count = 0; /* a device named twice: none is visible */
                return;
            }
        out->physical[out->device_count++] = device;
        list += length + (list[length] == ',');
    }
}

CUresult soft_settings_read(soft_settings *out)
{
    long total, blocking, workers, seed, multiprocessors;
    SOFT_TRY(read_number("SOFTCUDA_DEVICES", 1, 0, SOFT_DEVICE_MAX, &total));
    SOFT_TRY(read_number("CUDA_LAUNCH_BLOCKING", 0, 0, 0x7fffffff, &blocking));
    SOFT_TRY(read_number("SOFTCUDA_WORKERS", 0, 1, WORKERS_MOST, &workers));
    SOFT_TRY(read_number("SOFTCUDA_SCHEDULE_SEED", 0, 0, UINT32_MAX, &seed));
    SOFT_TRY(read_number("SOFTCUDA_MULTIPROCESSORS", SOFT_MULTIPROCESSORS, 1,
                         SOFT_MULTIPROCESSORS_MOST, &multiprocessors));
    /* Contexts read these two: here a word that is none is refused. */
    static const char *const limits[] = {"SOFTCUDA_KERNEL_TIMEOUT_MS",
                                         "SOFTCUDA_GRAPH_TIMEOUT_MS"};
    for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
        long ms;
        SOFT_TRY(read_number(limits[i], 0, 0, LONG_MAX / 1000000, &ms));
    }
    const size_t ram = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    const size_t half = ram / 2 < MEMORY_LIMIT ? ram / 2 / CHUNK * CHUNK : MEMORY_LIMIT;
    SOFT_TRY(read_bytes("SOFTCUDA_MEMORY", half, &out->memory_bytes));
    SOFT_TRY(read_capability(&out->compute_capability));
    SOFT_TRY(check_version());
    char word[64];
    if (!soft_check_mode_parse(getenv("SOFTCUDA_CHECK"), &out->check, word, sizeof(word)))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "SOFTCUDA_CHECK has the word '%s': memory, race, all, fatal and "
                         "none are known",
                         word);
    read_visible(out, (int)total);
    out->multiprocessors = (uint32_t)multiprocessors;
    out->launch_blocking = blocking != 0;
    out->workers = (uint32_t)workers;
    out->schedule_seed = (uint32_t)seed;
    return CUDA_SUCCESS;
}
