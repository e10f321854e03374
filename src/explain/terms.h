// SPDX-License-Identifier: Apache-2.0
/* Terms of a text: words of English cut to their stem, pairs of neighboring Chinese
 * characters, which stand for words there. A name is one term and its parts as well:
 * make_graphed_callables, CUDAGraph. Entries and questions are read alike. */
#ifndef GPHI_EXPLAIN_TERMS_H
#define GPHI_EXPLAIN_TERMS_H
#include "explain/alike.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GPHI_LIKE_MAX = GPHI_ALIKE_MAX + 1 };

typedef enum gphi_term_kind {
    GPHI_TERM_WORD,    /* alone */
    GPHI_TERM_WHOLE,   /* a name of several parts, which follow */
    GPHI_TERM_PART,    /* one of them */
    GPHI_TERM_CHINESE, /* two characters */
} gphi_term_kind;

typedef struct gphi_term {
    uint64_t hash;
    uint64_t like[GPHI_LIKE_MAX]; /* what it is like: its groups, how it begins */
    size_t like_count;
    size_t at, bytes; /* of the text */
    gphi_term_kind kind;
    bool is_stop;   /* says nothing: "the", 怎么 */
    bool is_border; /* of Chinese: the first character says nothing by itself: 的, 图 */
} gphi_term;

/* Where a text is read. Set `text` and `bytes`, all else zero. */
typedef struct gphi_term_reader {
    const char *text;
    size_t bytes, at;
    size_t part_end; /* parts of a name are left until there */
} gphi_term_reader;

/* The next term; false at the end. */
bool gphi_term_next(gphi_term_reader *reader, gphi_term *out);
#endif
