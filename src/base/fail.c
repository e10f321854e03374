// SPDX-License-Identifier: Apache-2.0
/* Failures, and the sized structs that public calls read and fill in. */
#include "base/fail.h"
#include "base/plain.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(gph_error) == 1024, "the layout of gph_error is frozen");

/* No options struct will ever be larger, so a wild size is caught before it is read. */
#define OPTIONS_SIZE_MAX 4096u

const char *gphi_status_name(gph_status status)
{
    switch (status) {
    case GPH_OK: return "GPH_OK";
#define X(name, value, text)                                                             \
    case name: return #name;
        GPH_STATUS_MAP(X)
#undef X
    }
    return status > 0 ? NULL : "GPH_E_?";
}

const char *gphi_status_text(gph_status status)
{
    switch (status) {
#define X(name, value, text)                                                             \
    case name: return text;
        GPH_STATUS_MAP(X)
#undef X
    }
    return status > 0 ? NULL : "";
}

_Atomic(uintptr_t) gphi_fail_ear;

void gphi_fail_hear(gph_status code, const char *message)
{
    const uintptr_t ear = atomic_load_explicit(&gphi_fail_ear, memory_order_relaxed);
    gphi_fail_heard *heard = NULL;
    memcpy(&heard, &ear, sizeof(heard)); /* ISO C has no cast from object to function */
    if (heard)
        heard(code, message);
}

gph_status gphi_fail(gph_error *error, gph_status code, const char *format, ...)
{
    gph_error own;
    const bool is_heard = atomic_load_explicit(&gphi_fail_ear, memory_order_relaxed) != 0;
    if (!error && !is_heard)
        return code;

    if (!error)
        error = &own;
    *error = (gph_error){.code = code}; /* nothing of an earlier failure stays */
    /* Callers say what they were at. */
    const char *what = code == GPH_E_NO_MEMORY ? "out of memory: " : "";
    const size_t used = strlen(what);
    memcpy(error->message, what, used);
    va_list args;
    va_start(args, format);
    vsnprintf(error->message + used, sizeof(error->message) - used, format, args);
    va_end(args);
    gphi_make_plain(error->message, strlen(error->message)); /* names of regions, files */
    if (is_heard)
        gphi_fail_hear(code, error->message);
    return code;
}

void gphi_hint(gph_error *error, const char *format, ...)
{
    if (!error)
        return;

    va_list args;
    va_start(args, format);
    vsnprintf(error->hint, sizeof(error->hint), format, args);
    va_end(args);
    gphi_make_plain(error->hint, strlen(error->hint));
}

void gphi_fail_in(gph_error *error, const char *format, ...)
{
    if (!error)
        return;

    char message[sizeof(error->message)];
    memcpy(message, error->message, sizeof(message));
    va_list args;
    va_start(args, format);
    vsnprintf(error->message, sizeof(error->message), format, args);
    va_end(args);
    gphi_make_plain(error->message, strlen(error->message));
    const size_t length = strlen(error->message);
    snprintf(error->message + length, sizeof(error->message) - length, "%s", message);
}

/* A newer caller may pass fields that this build does not know, if they are zero; else the
 * first of them that is not, from 1. */
static size_t read_known(void *dst, size_t dst_size, const void *src, size_t src_size)
{
    for (size_t i = dst_size; i < src_size; i++)
        if (((const unsigned char *)src)[i] != 0)
            return i + 1;
    memset(dst, 0, dst_size);
    memcpy(dst, src, src_size < dst_size ? src_size : dst_size);
    return 0;
}

gph_status gphi_options_read(void *dst, size_t dst_size, const char *name,
                             const void *src, gph_error *error)
{
    uint32_t src_size;
    memset(dst, 0, dst_size);
    if (!src)
        return GPH_OK;

    memcpy(&src_size, src, sizeof(src_size));
    if (src_size < sizeof(src_size) || src_size > OPTIONS_SIZE_MAX)
        return gphi_fail(error, GPH_E_INVALID, "%s.size is %u: begin with GPH_SIZED(%s)",
                         name, (unsigned)src_size, name);
    const size_t unknown = read_known(dst, dst_size, src, src_size);
    if (unknown == 0)
        return GPH_OK;
    return gphi_fail(error, GPH_E_UNSUPPORTED,
                     "byte %zu of %s is set, but this build knows only %zu bytes",
                     unknown - 1, name, dst_size);
}

gph_status gphi_element_read(void *dst, size_t dst_size, const void *array,
                             uint32_t stride, uint32_t index, gph_error *error)
{
    const size_t apart = stride != 0 ? stride : dst_size;
    const char *element = (const char *)array + apart * index;
    const size_t unknown = read_known(dst, dst_size, element, apart);
    if (unknown == 0)
        return GPH_OK;
    return gphi_fail(error, GPH_E_UNSUPPORTED,
                     "byte %zu of element %u is set, but this build knows only %zu bytes "
                     "of each",
                     unknown - 1, (unsigned)index, dst_size);
}

void gphi_struct_write(void *out, const void *full, size_t full_size)
{
    uint32_t size;
    memcpy(&size, out, sizeof(size));
    assert(size >= sizeof(size) && size <= OPTIONS_SIZE_MAX);
    if (size < sizeof(size) || size > OPTIONS_SIZE_MAX)
        return;

    const size_t known = size < full_size ? size : full_size;
    memcpy((char *)out + sizeof(size), (const char *)full + sizeof(size),
           known - sizeof(size));
    memset((char *)out + known, 0, size - known);
}

gph_status gphi_need_named(gph_error *error, const char *function, bool is_given,
                           const char *name)
{
    return is_given ? GPH_OK
                    : gphi_fail(error, GPH_E_INVALID, "%s: %s is NULL", function, name);
}

gph_status gphi_need_missing(gph_error *error, const char *function, const char *names,
                             size_t index)
{
    for (; index > 0; index--)
        names += strcspn(names, ",") + strlen(", ");
    return gphi_fail(error, GPH_E_INVALID, "%s: %.*s is NULL", function,
                     (int)strcspn(names, ","), names);
}
