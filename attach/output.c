// SPDX-License-Identifier: Apache-2.0
/* Standard error, which says what no call to the driver shows: an exception that nobody
 * caught, a framework's refusal. What is written goes on as it is, first, and is noted
 * then. Python and Rust use write(), C++ fputs() and fwrite(). */
#include "attach/output.h"
#include "attach/driver/find.h"
#include "attach/record/sentence.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The C library's function, looked up once. */
#define REAL(name)                                                                       \
    static void *_Atomic kept_##name;                                                    \
    static __typeof__(&name) real_##name(void)                                           \
    {                                                                                    \
        void *found = atomic_load_explicit(&kept_##name, memory_order_relaxed);          \
        if (!found) {                                                                    \
            found = attach_next(#name);                                                  \
            atomic_store_explicit(&kept_##name, found, memory_order_relaxed);            \
        }                                                                                \
        return (__typeof__(&name))(uintptr_t)found;                                      \
    }
REAL(write)
REAL(fputs)
REAL(fwrite)

ATTACH_API ssize_t write(int file, const void *bytes, size_t count)
{
    const ssize_t done = real_write()(file, bytes, count);
    if (file == STDERR_FILENO && done > 0)
        attach_heard(bytes, (size_t)done, false);
    return done;
}

ATTACH_API int fputs(const char *restrict text, FILE *restrict stream)
{
    const int done = real_fputs()(text, stream);
    if (stream == stderr && done >= 0)
        attach_heard(text, strlen(text), true);
    return done;
}

ATTACH_API size_t fwrite(const void *restrict bytes, size_t size, size_t count,
                         FILE *restrict stream)
{
    const size_t done = real_fwrite()(bytes, size, count, stream);
    if (stream == stderr && done > 0)
        attach_heard(bytes, size * done, true);
    return done;
}

void attach_output_prepare(void)
{
    real_write(); /* may be called by signal handlers, which may not look it up */
    real_fputs();
    real_fwrite();
}
