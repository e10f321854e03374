// SPDX-License-Identifier: Apache-2.0
/* The log. The variable is read once; lines longer than a kilobyte are cut. */
#include "base/log.h"
#include "base/plain.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t log_once = PTHREAD_ONCE_INIT;
static const char *log_spec; /* a copy of GPH_LOG that lives as long as the process */
static gph_log_fn *log_sink;
static void *log_user;

static const char *const level_names[] = {"off", "error", "warn", "info", "debug"};

static void read_spec(void)
{
    static char copy[512];
    const char *spec = getenv("GPH_LOG");
    snprintf(copy, sizeof(copy), "%s", spec ? spec : "");
    log_spec = copy;
}

void gph_log_set(gph_log_fn *sink, void *user)
{
    log_sink = sink;
    log_user = user;
}

gph_log_level gphi_log_level_of(const char *spec, const char *area)
{
    int level = GPH_LOG_WARN;
    int is_named = 0;
    for (const char *at = spec; *at != '\0';) {
        const size_t bytes = strcspn(at, ",");
        const char *colon = memchr(at, ':', bytes);
        const size_t name = colon ? (size_t)(colon - at) : 0;
        const size_t rest = colon ? bytes - name - 1 : 0;
        const int here = strlen(area) == name && memcmp(at, area, name) == 0;
        const int all = name == 3 && memcmp(at, "all", 3) == 0 && !is_named;
        for (int i = GPH_LOG_OFF; (here || all) && i <= GPH_LOG_DEBUG; i++)
            if (strlen(level_names[i]) == rest &&
                memcmp(level_names[i], colon + 1, rest) == 0) {
                level = i;
                is_named |= here;
            }
        at += bytes + (at[bytes] == ',');
    }
    return (gph_log_level)level;
}

bool gphi_log_on(const char *area, gph_log_level level)
{
    pthread_once(&log_once, read_spec);
    return level != GPH_LOG_OFF && level <= gphi_log_level_of(log_spec, area);
}

void gphi_log(const char *area, gph_log_level level, const char *format, ...)
{
    if (!gphi_log_on(area, level))
        return;

    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    gphi_make_plain(line, strlen(line)); /* a record is a line */
    if (log_sink)
        log_sink(log_user, level, area, line);
    else
        fprintf(stderr, "gph %s %s: %s\n", area, level_names[level], line);
}
