// SPDX-License-Identifier: Apache-2.0
/* A short question as it was meant: one that asked.txt has, word for word, though all of
 * its words may be common ones ("what is a CUDA graph"); and names of CUDA with a letter
 * wrong, or in small letters (cudastreamsyncronize). */
#include "explain/meant.h"
#include "explain/names.h"

#include <string.h>

enum { SAME_SCORE = 9000 /* more than words count */, NAME_LEAST = 14 };

/* ---- the same question ---- */

/* What ends a question, or is between Chinese and other words, or not. */
static bool is_silent(char c)
{
    return gphi_is_space(c) || c == '?' || c == '!' || c == '.' || c == ',';
}

static bool is_question(const char *line, size_t bytes, const char *text, size_t count)
{
    size_t i = 0, k = 0;
    for (;; i++, k++) {
        while (i < bytes && is_silent(line[i]))
            i++;
        while (k < count && is_silent(text[k]))
            k++;
        if (i == bytes || k == count)
            return i == bytes && k == count;
        if (gphi_lower(line[i]) != gphi_lower(text[k]))
            return false;
    }
}

static bool has_question(const char *lines, const char *text, size_t bytes)
{
    for (const char *at = lines; *at != '\0';) {
        const size_t length = strcspn(at, "\n");
        if (is_question(at, length, text, bytes))
            return true;
        at += at[length] == '\n' ? length + 1 : length;
    }
    return false;
}

void gphi_meant_question(const char *text, size_t bytes, gphi_hits *hits)
{
    const char *slug = NULL;
    if (bytes == 0 || bytes > GPHI_MEANT_MAX)
        return;
    for (size_t i = 0; gphi_asked_list[i].slug && !slug; i++)
        if (has_question(gphi_asked_list[i].lines, text, bytes))
            slug = gphi_asked_list[i].slug;
    for (size_t i = 0; slug && i < gphi_knowledge_count; i++)
        if (strcmp(gphi_knowledge[i].slug, slug) == 0)
            gphi_hits_add(hits, i,
                          &(gph_explain_match){.entry = &gphi_knowledge[i],
                                               .reason = GPH_EXPLAIN_BY_WORDS,
                                               .score = SAME_SCORE,
                                               .line = 1,
                                               .line_bytes = bytes});
}

/* ---- names ---- */

/* The name that a word may mean, so far. Short words are words: "cudagraphs". */
typedef struct likeness {
    const char *word, *found; /* found: NULL where several are as near */
    size_t bytes;
    int most, best;
} likeness;

static void try_name(likeness *like, const char *name)
{
    const size_t length = strlen(name), most = (size_t)like->most;
    if (length < NAME_LEAST || length + most < like->bytes ||
        length > like->bytes + most || !gphi_is_same(name, "cu", 2) ||
        strchr(name, ' ') || (like->found && strcmp(like->found, name) == 0))
        return;
    const int far = gphi_name_distance(like->word, like->bytes, name, length, like->most);
    if (far > like->most || far > like->best)
        return;
    like->found = far < like->best ? name : NULL;
    like->best = far;
}

/* NULL where it is a name, or like none. Names that look like those of graphs and are none
 * are reported as such. */
static const char *name_of(const char *word, size_t bytes)
{
    likeness like = {.word = word, .bytes = bytes, .most = (int)(bytes / 10)};
    like.best = like.most + 1;
    if (bytes < NAME_LEAST || bytes > GPHI_NAME_MAX_BYTES ||
        !gphi_is_same(word, "cu", 2) || gphi_name_known(word, bytes) ||
        gphi_name_has_shape(word, bytes))
        return NULL;
    for (size_t i = 0; i < gphi_names_count; i++)
        try_name(&like, gphi_names[i]);
    for (size_t i = 0; i < gphi_knowledge_count; i++)
        for (size_t k = 0; k < 2; k++) {
            const char *const *at = k ? gphi_knowledge[i].words : gphi_knowledge[i].names;
            for (; at && *at; at++)
                try_name(&like, *at);
        }
    return like.found;
}

size_t gphi_meant_names(const char *text, size_t bytes, char out[GPHI_MEANT_MAX])
{
    size_t to = 0;
    bool is_mended = false;
    if (bytes > GPHI_MEANT_MAX / 2 || memchr(text, '\n', bytes))
        return 0;
    for (size_t at = 0; at < bytes;) {
        size_t end = at;
        while (end < bytes && gphi_is_word(text[end]))
            end++;
        const char *name = name_of(text + at, end - at);
        const size_t length = name ? strlen(name) : end > at ? end - at : 1;
        if (to + length > GPHI_MEANT_MAX)
            return 0;
        memcpy(out + to, name ? name : text + at, length);
        is_mended =
            is_mended ||
            (name && (length != end - at || memcmp(name, text + at, length) != 0));
        to += length;
        at = end > at ? end : at + 1;
    }
    return is_mended ? to : 0;
}
