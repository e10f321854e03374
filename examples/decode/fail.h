// SPDX-License-Identifier: Apache-2.0
/* How the example reports an error: as libgph does, a status and a gph_error with the
 * values. TRY is the only macro that returns. */
#ifndef DECODE_FAIL_H
#define DECODE_FAIL_H

#include <gph/base.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TRY(expr)                                                                        \
    do {                                                                                 \
        gph_status try_status_ = (expr);                                                 \
        if (try_status_ != GPH_OK)                                                       \
            return try_status_;                                                          \
    } while (0)

/* Fills `error`, if there is one, and returns `code`. What came from a file may hold
 * anything: bytes that would steer a terminal become '?'. */
GPH_PRINTF(3, 4)
static inline gph_status fail(gph_error *error, gph_status code, const char *format, ...)
{
    if (error == NULL)
        return code;
    memset(error, 0, sizeof(*error));
    error->code = code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof(error->message), format, arguments);
    va_end(arguments);
    for (char *c = error->message; *c != 0; c++)
        if ((unsigned char)*c < 32 || *c == 127)
            *c = '?';
    return code;
}

/* gph_allocator in three calls. */
static inline void *heap_alloc(const gph_allocator *heap, size_t bytes)
{
    return heap->realloc(heap->user, NULL, 0, bytes ? bytes : 1);
}
static inline void *heap_grow(const gph_allocator *heap, void *ptr, size_t old,
                              size_t bytes)
{
    return heap->realloc(heap->user, ptr, old, bytes);
}
static inline void heap_free(const gph_allocator *heap, void *ptr, size_t bytes)
{
    if (ptr != NULL)
        heap->realloc(heap->user, ptr, bytes ? bytes : 1, 0);
}

#endif
