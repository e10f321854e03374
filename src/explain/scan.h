// SPDX-License-Identifier: Apache-2.0
/* Finding keys in a text of any length and any bytes: names, slugs and codes as whole
 * words, pieces of messages anywhere. One pass, no allocation. */
#ifndef GPHI_EXPLAIN_SCAN_H
#define GPHI_EXPLAIN_SCAN_H
#include "explain/index.h"

/* What a term counts where it is, in tenths. */
enum {
    GPHI_OFTEN_FIX = 3,
    GPHI_OFTEN_CAUSE = 6,
    GPHI_OFTEN_ASKED = 10,
    GPHI_OFTEN_TITLE = 20
};

/* The best that was found for each entry, by its index; no entry: nothing was found. */
typedef struct gphi_hits {
    gph_explain_match best[GPHI_ENTRIES_MAX];
    uint16_t found[GPHI_ENTRIES_MAX]; /* which these are */
    size_t count;
} gphi_hits;

/* Keeps it if it is better than what the entry has. */
void gphi_hits_add(gphi_hits *hits, size_t index, const gph_explain_match *match);

/* Takes the best of what is left out of it; false: nothing is. */
bool gphi_hits_take(gphi_hits *hits, gph_explain_match *out);

/* The keys that are in the text. */
void gphi_scan(const char *text, size_t bytes, gphi_hits *hits);

/* Which entries words may add. */
typedef enum gphi_words {
    GPHI_WORDS_NONE,
    GPHI_WORDS_NEAR, /* those with a line that is nearly the question */
    GPHI_WORDS_ALL
} gphi_words;

/* Entries in which the words of the text occur, where it is short enough to be a question
 * and enough of its words are known. */
void gphi_scan_words(const char *text, size_t bytes, gphi_words which, gphi_hits *hits);

static inline bool gphi_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline char gphi_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* Whether both have the same bytes; case does not count. */
static inline bool gphi_is_same(const char *a, const char *b, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (gphi_lower(a[i]) != gphi_lower(b[i]))
            return false;
    return true;
}

/* Of ASCII; bytes of other characters are not of these. */
static inline bool gphi_is_word(char c)
{
    const char low = gphi_lower(c);
    return (low >= 'a' && low <= 'z') || gphi_is_digit(c) || c == '_';
}

static inline bool gphi_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}
#endif
