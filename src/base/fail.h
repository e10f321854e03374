// SPDX-License-Identifier: Apache-2.0
/* How a failure is made, passed on and described. */
#ifndef GPHI_BASE_FAIL_H
#define GPHI_BASE_FAIL_H
#include <gph/base.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Hears of each failure that gphi_fail() is asked to describe, with its message; with GPH_OK,
 * that the last one of this thread was dropped. */
typedef void gphi_fail_heard(gph_status code, const char *message);

/* Who hears (event/failures.c), as an address: 0 is nobody, the usual case. Relaxed: it leads
 * to code alone, which was there before. */
extern _Atomic(uintptr_t) gphi_fail_ear;

/* Fills *error if there is one, and returns `code`, so that a failing function ends with
 * `return gphi_fail(error, GPH_E_INVALID, "...")`. Only the code that decides on the
 * failure calls it; callers pass the status up as it is. */
gph_status gphi_fail(gph_error *error, gph_status code, const char *format, ...)
    GPH_PRINTF(3, 4);

/* "gph_x: Y is NULL", the first of what a caller of gph_x has to give that is not given. A
 * macro, so that each of the pointers has its own name: gphi_need(error, runtime, out). */
#define gphi_need(error, ...)                                                            \
    gphi_need_all((error), __func__, #__VA_ARGS__, (const bool[]){__VA_ARGS__},          \
                  sizeof((const bool[]){__VA_ARGS__}) / sizeof(bool))

/* The same for one, where its name or that of the public function is not as it is here. */
gph_status gphi_need_named(gph_error *error, const char *function, bool is_given,
                           const char *name);

/* What gphi_need() says of the one at `index` of `names`. */
gph_status gphi_need_missing(gph_error *error, const char *function, const char *names,
                             size_t index);

static inline gph_status gphi_need_all(gph_error *error, const char *function,
                                       const char *names, const bool *given, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!given[i])
            return gphi_need_missing(error, function, names, i);
    return GPH_OK;
}

/* GPH_E_NO_MEMORY, with what it was for, where it was not made. A macro, so that the
 * compiler sees that what was made is there. */
#define gphi_made(error, is_made, ...)                                                   \
    ((is_made) ? GPH_OK : gphi_fail((error), GPH_E_NO_MEMORY, __VA_ARGS__))

/* Adds a guess at the remedy to a failure that gphi_fail() has described. */
void gphi_hint(gph_error *error, const char *format, ...) GPH_PRINTF(2, 3);

/* Puts words before the message of a failure: whose it is, and when it came. */
void gphi_fail_in(gph_error *error, const char *format, ...) GPH_PRINTF(2, 3);

/* Calls who hears. */
void gphi_fail_hear(gph_status code, const char *message);

/* Drops a status whose failure changes nothing for the caller; `why` says so to the
 * reader. */
static inline void gphi_ignore(gph_status status, const char *why)
{
    if (status < GPH_OK)
        gphi_fail_hear(GPH_OK, why);
}

#define GPHI_TRY(expr)                                                                   \
    do {                                                                                 \
        const gph_status gphi_try_ = (expr);                                             \
        if (gphi_try_ != GPH_OK)                                                         \
            return gphi_try_;                                                            \
    } while (0)

/* Goes on with `expr` where nothing has failed so far, in functions that clean up at their
 * end: a gph_status or a CUresult. */
#define GPHI_THEN(status, expr)                                                          \
    do {                                                                                 \
        if ((status) == 0)                                                               \
            (status) = (expr);                                                           \
    } while (0)

/* Reads the options struct `src`, written by a caller built against any version of the
 * header, into the current version `dst`; `name` is its type's, for messages. */
gph_status gphi_options_read(void *dst, size_t dst_size, const char *name,
                             const void *src, gph_error *error);

/* The same for element `index` of an array of the caller's, whose elements are `stride`
 * bytes apart; 0: as in the first version of the header, which is this one so far. */
gph_status gphi_element_read(void *dst, size_t dst_size, const void *array,
                             uint32_t stride, uint32_t index, gph_error *error);

/* Fills in the caller's sized struct `out`, of any version of the header, from the current
 * version `full`. Members that the caller's is too short for are left out, those that this
 * build does not know are zero. Nothing happens where its size was never set. */
void gphi_struct_write(void *out, const void *full, size_t full_size);

/* The name and meaning of a status of our own or of GPH_OK; NULL for a CUresult. */
const char *gphi_status_name(gph_status status);
const char *gphi_status_text(gph_status status);
#endif
