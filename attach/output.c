// SPDX-License-Identifier: Apache-2.0
/* Standard error, which says what no call to the driver shows: an exception that nobody
 * caught, a framework's refusal. What is written goes on as it is, first, and is noted
 * then. Python and Rust use write(), C++ fputs() and fwrite(), C
 * fprintf(). */
#include "attach/output.h"
#include "attach/driver/find.h"
#include "attach/record/sentence.h"

#include <gph/base.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int __vfprintf_chk(FILE *restrict stream, int flag, const char *restrict format,
                   va_list values);
int __fprintf_chk(FILE *restrict stream, int flag, const char *restrict format, ...);

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
REAL(vfprintf)
REAL(__vfprintf_chk)

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

/* What was printed is put into words once more: nobody else has the text. */
static GPH_PRINTF(2, 0) void hear_printed(int done, const char *format, va_list values)
{
    enum { CUT = 1024 };
    char text[CUT];
    const int length = done > 0 ? vsnprintf(text, sizeof(text), format, values) : 0;
    if (length > 0)
        attach_heard(text, length < CUT ? (size_t)length : CUT - 1, true);
}

/* The compiler's fortified programs call the second of each pair. */
#define PRINTED(stream, print)                                                           \
    do {                                                                                 \
        va_list again;                                                                   \
        va_copy(again, values);                                                          \
        done = print;                                                                    \
        if ((stream) == stderr)                                                          \
            hear_printed(done, format, again);                                           \
        va_end(again);                                                                   \
    } while (0)

ATTACH_API int vfprintf(FILE *restrict stream, const char *restrict format,
                        va_list values)
{
    int done;
    PRINTED(stream, real_vfprintf()(stream, format, values));
    return done;
}

ATTACH_API int __vfprintf_chk(FILE *restrict stream, int flag,
                              const char *restrict format, va_list values)
{
    int done;
    PRINTED(stream, real___vfprintf_chk()(stream, flag, format, values));
    return done;
}

ATTACH_API int fprintf(FILE *restrict stream, const char *restrict format, ...)
{
    int done;
    va_list values;
    va_start(values, format);
    PRINTED(stream, real_vfprintf()(stream, format, values));
    va_end(values);
    return done;
}

ATTACH_API int __fprintf_chk(FILE *restrict stream, int flag, const char *restrict format,
                             ...)
{
    int done;
    va_list values;
    va_start(values, format);
    PRINTED(stream, real___vfprintf_chk()(stream, flag, format, values));
    va_end(values);
    return done;
}

void attach_output_prepare(void)
{
    real_write(); /* may be called by signal handlers, which may not look it up */
    real_fputs();
    real_fwrite();
    real_vfprintf();
    real___vfprintf_chk();
}
