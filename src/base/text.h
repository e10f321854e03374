// SPDX-License-Identifier: Apache-2.0
/* Text that is put together piece by piece, to one of three places:
 *
 *   grows    a block on a heap, as long as need be; {0} is an empty one on C's heap
 *   fixed    a caller's buffer; what does not fit is left out
 *   streams  a caller's function, through a caller's buffer
 *
 * The first failure sticks, and later pieces are dropped, so that a writer asks once, at
 * its end. A text is one thread's. */
#ifndef GPHI_BASE_TEXT_H
#define GPHI_BASE_TEXT_H
#include <gph/base.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

typedef struct gphi_text {
    char *bytes; /* NULL: nothing yet; else with a zero at `length`, unless it streams */
    size_t length;       /* bytes that are in `bytes` now */
    size_t room;         /* of `bytes` */
    gph_status status;   /* the first failure */
    uint32_t is_fixed;   /* `bytes` is the caller's, and stays as long as it is */
    gph_allocator heap;  /* where it grows */
    gph_write_fn *write; /* not NULL: it streams */
    void *user;
} gphi_text;

/* An empty one that grows on `heap`; allocates nothing. */
void gphi_text_init(gphi_text *text, gph_allocator heap);

/* An empty one in a buffer of at least one byte, borrowed until the last piece. */
void gphi_text_fix(gphi_text *text, char *buffer, size_t bytes);

/* One that goes to `write`, `bytes` at a time, until gphi_text_end(). */
void gphi_text_stream(gphi_text *text, char *buffer, size_t bytes, gph_write_fn *write,
                      void *user);

/* Frees what grew. The text is empty then, and may grow again. */
void gphi_text_fini(gphi_text *text);

void gphi_text_put(gphi_text *text, const char *piece);
void gphi_text_put_bytes(gphi_text *text, const char *piece, size_t bytes);
void gphi_text_add(gphi_text *text, const char *format, ...) GPH_PRINTF(2, 3);
void gphi_text_addv(gphi_text *text, const char *format, va_list values);

/* Passes on what is left of a stream. The first failure: GPH_E_NO_MEMORY, or what `write`
 * returned; `error` is filled unless `write` has filled it. */
gph_status gphi_text_end(gphi_text *text, gph_error *error);

/* What grew on C's heap, with a zero at its end, to be freed with free(), or NULL: no
 * memory. The text is empty then. */
char *gphi_text_take(gphi_text *text);

/* Whether a text, or (_in) the first bytes of one, begins with another; NULL does not. */
static inline bool gphi_text_begins(const char *text, const char *with)
{
    return text && strncmp(text, with, strlen(with)) == 0;
}

static inline bool gphi_text_begins_in(const char *text, size_t bytes, const char *with)
{
    const size_t length = strlen(with);
    return bytes >= length && memcmp(text, with, length) == 0;
}

/* Bytes of the UTF-8 character at `at`, which ends in a zero byte; 0: it is not one
 * (RFC 3629: neither overlong forms nor surrogates). */
size_t gphi_utf8_bytes(const char *at);
#endif
