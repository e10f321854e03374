// SPDX-License-Identifier: Apache-2.0
/* What libgph warns of, through Python's `warnings`. libgph logs on any thread, with locks of
 * its own, where no Python may run: lines are kept in a ring here, and handed on when the next
 * call that is not a hit returns. Other levels of GPH_LOG go to standard error as ever. */
#include "gphpy.h"

#include <stdatomic.h>
#include <stdio.h>

enum { LINES = 32, BYTES = 640 };

static PyObject *warning_type; /* graphophone.Warning */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char lines[LINES][BYTES];
static unsigned first, lost;
static _Atomic(unsigned) count; /* set under the mutex, read without it by gphpy_warn() */

static void take_line(void *user, gph_log_level level, const char *area,
                      const char *message)
{
    (void)user;
    static const char *const names[] = {"off", "error", "warn", "info", "debug"};
    if (level != GPH_LOG_WARN && level != GPH_LOG_ERROR) {
        fprintf(stderr, "gph %s %s: %s\n", area, names[level], message);
        return;
    }
    pthread_mutex_lock(&mutex);
    const unsigned now = atomic_load_explicit(&count, memory_order_relaxed);
    if (now < LINES) {
        snprintf(lines[(first + now) % LINES], BYTES, "%s: %s", area, message);
        atomic_store_explicit(&count, now + 1, memory_order_relaxed);
    } else {
        lost++;
    }
    pthread_mutex_unlock(&mutex);
}

static bool next_line(char line[BYTES])
{
    pthread_mutex_lock(&mutex);
    const unsigned now = atomic_load_explicit(&count, memory_order_relaxed);
    if (now > 0) {
        memcpy(line, lines[first], BYTES);
        first = (first + 1) % LINES;
        atomic_store_explicit(&count, now - 1, memory_order_relaxed);
    } else if (lost > 0) {
        snprintf(line, BYTES, "%u more warnings were lost", lost);
        lost = 0;
        pthread_mutex_unlock(&mutex);
        return true;
    }
    pthread_mutex_unlock(&mutex);
    return now > 0;
}

int gphpy_warn(void)
{
    if (atomic_load_explicit(&count, memory_order_relaxed) == 0 || PyErr_Occurred())
        return 0;
    char line[BYTES];
    while (next_line(line))
        if (PyErr_WarnEx(warning_type, line, 1) < 0)
            return -1;
    return 0;
}

int gphpy_warnings_ready(PyObject *module)
{
    warning_type = PyErr_NewExceptionWithDoc(
        "graphophone.Warning",
        "What works, but not as was asked: a line of libgph's log.", PyExc_UserWarning,
        NULL);
    if (!warning_type || PyModule_AddObjectRef(module, "Warning", warning_type) < 0)
        return -1;
    gph_log_set(take_line, NULL);
    return 0;
}
