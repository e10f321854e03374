// SPDX-License-Identifier: Apache-2.0
/* Answers: the entries that were found in order, and names like the one that was not. */
#include "explain/meant.h"
#include "explain/names.h"
#include "explain/scan.h"

#include <stdlib.h>
#include <string.h>

/* The text without white space around it; `*from` is what was cut in front. */
static size_t trim(const char *text, size_t bytes, size_t *from)
{
    *from = 0;
    while (*from < bytes && gphi_is_space(text[*from]))
        (*from)++;
    while (bytes > *from && gphi_is_space(text[bytes - 1]))
        bytes--;
    return bytes - *from;
}

/* What words may say beside the keys that were found. Names of what exists leave it to
 * them; beside a code that many causes have, in a text of one line, only a question that
 * is nearly known counts; what names its cause is the answer. */
static gphi_words words_beside(const gphi_hits *hits, const char *text, size_t bytes)
{
    enum { ONE_LINE = 200, MANY_CAUSES = 4, ALL_OF_IT = 1000 };
    gphi_words words = GPHI_WORDS_ALL;
    for (size_t i = 0; i < hits->count; i++) {
        const gph_explain_match *hit = &hits->best[hits->found[i]];
        if (hit->entry->rank > MANY_CAUSES)
            return GPHI_WORDS_NONE;
        if (hit->reason == GPH_EXPLAIN_BY_NAME && hit->entry->rank == 0)
            continue;
        if (hit->score >= ALL_OF_IT || bytes > ONE_LINE || memchr(text, '\n', bytes))
            return GPHI_WORDS_NONE;
        words = GPHI_WORDS_NEAR;
    }
    return words;
}

/* Names, codes and messages say more than a question that is known. */
static bool is_by_words(const gphi_hits *hits)
{
    for (size_t i = 0; i < hits->count; i++)
        if (hits->best[hits->found[i]].reason != GPH_EXPLAIN_BY_WORDS)
            return false;
    return true;
}

/* Keys, words and questions of a text without white space around it. */
static void look(const char *text, size_t bytes, gphi_hits *hits)
{
    gphi_scan(text, bytes, hits);
    gphi_scan_words(text, bytes, words_beside(hits, text, bytes), hits);
    if (is_by_words(hits))
        gphi_meant_question(text, bytes, hits);
}

/* A log holds any word there is, so words count less the more else was found. */
size_t gph_explain_find(const char *text, size_t bytes, gph_explain_match *out,
                        size_t capacity)
{
    gphi_hits hits = {.count = 0};
    char meant[GPHI_MEANT_MAX];
    size_t from, lines = 0, count = 0;
    if (!text)
        return 0;
    bytes = trim(text, bytes, &from);
    const size_t meant_bytes = gphi_meant_names(text + from, bytes, meant);
    look(meant_bytes > 0 ? meant : text + from, meant_bytes > 0 ? meant_bytes : bytes,
         &hits);
    for (size_t i = 0; i < from; i++)
        lines += text[i] == '\n';
    while (count < capacity && gphi_hits_take(&hits, &out[count])) {
        out[count].line += lines;
        out[count].line_begin += from;
        if (meant_bytes > 0) { /* places are of the text as it was meant: one line */
            out[count].line_begin = from;
            out[count].line_bytes = bytes;
        }
        count++;
    }
    return count;
}

/* "Did you mean": the number of edits from one name to the other. */
enum {
    NAME_MIN_BYTES = 4,
    NEAR_MAX = 16,  /* names kept while searching */
    WORDS_MAX = 24, /* of a text that are looked at */
    TEXT_MAX = 4096 /* bytes of a text that are looked at */
};

typedef struct near_name {
    const char *name;
    int distance;
} near_name;

typedef struct nearest {
    near_name list[NEAR_MAX];
    size_t count;
} nearest;

/* A part of a name is near it, too: "unjoined-fork" of "capture.unjoined-fork". */
static bool is_part(const char *part, size_t bytes, const gphi_spelled *name)
{
    for (size_t at = 0; at + bytes <= name->bytes; at++)
        if (gphi_is_same(name->name + at, part, bytes))
            return true;
    return false;
}

/* Sorted by distance as they come; a name that is known exactly (-1) comes first. */
static void keep(nearest *near, const char *name, int is_far)
{
    size_t at = near->count;
    for (size_t i = 0; i < near->count; i++)
        if (strcmp(near->list[i].name, name) == 0)
            return;
    while (at > 0 && near->list[at - 1].distance > is_far)
        at--;
    if (at == NEAR_MAX)
        return;
    const size_t kept = near->count < NEAR_MAX ? near->count : NEAR_MAX - 1;
    memmove(&near->list[at + 1], &near->list[at], (kept - at) * sizeof(near->list[0]));
    near->list[at] = (near_name){.name = name, .distance = is_far};
    near->count = kept + 1;
}

/* Letters of one that the other lacks: each edit mends at most one of them. What one has
 * more than the other in all is the difference of their bytes. */
static int lacking(const gphi_spelled *a, const gphi_spelled *b, size_t differ)
{
    int sum = 0;
    for (size_t i = 0; i < GPHI_LETTERS; i++)
        sum += abs(a->letters[i] - b->letters[i]);
    return (sum + (int)differ) / 2;
}

/* One edit in short names, a fifth of the bytes in long ones: more would find
 * everything. Most names are sorted out by length, letters and pairs of them alone: an
 * edit changes three pairs at most. */
static void try_near(nearest *near, const gphi_spelled *word, const gphi_spelled *name)
{
    const int most = word->bytes < 8 ? 1 : (int)(word->bytes / 5);
    const int strange = __builtin_popcountll(word->pairs & ~name->pairs);
    if (strange > 3 * most) /* most names end here */
        return;
    const bool may_be_part = strange == 0 && word->bytes >= 6;
    const size_t differ =
        word->bytes > name->bytes ? word->bytes - name->bytes : name->bytes - word->bytes;
    int far = GPHI_NAME_FAR;
    if (differ <= (size_t)most && lacking(word, name, differ) <= most)
        far = gphi_name_distance(word->name, word->bytes, name->name, name->bytes, most);
    if (far > most && may_be_part && is_part(word->name, word->bytes, name))
        far = most;
    if (far <= most)
        keep(near, name->name, far);
}

/* "cudaErrorX", "CUDA_ERROR_X", "capture.x", "cuda/904": not a word of a sentence. */
static bool is_name(const char *word, size_t bytes)
{
    for (size_t i = 1; i < bytes; i++)
        if (!gphi_is_word(word[i]) || word[i] == '_' || gphi_is_digit(word[i]) ||
            (word[i] >= 'A' && word[i] <= 'Z'))
            return true;
    return false;
}

/* Names of entries first, then all that the headers of CUDA and PyTorch know. */
static void try_word(nearest *near, const char *text, size_t bytes)
{
    const gphi_index *index = gphi_explain_index();
    const char *known = gphi_name_known(text, bytes);
    gphi_spelled word;
    gphi_spell(text, bytes, &word);
    if (known)
        keep(near, known, -1);
    for (size_t i = 1; i <= index->spelled_count; i++)
        try_near(near, &word, &index->spelled[i]);
}

/* Works on words of a long text too, but only on those that look like names. */
size_t gph_explain_near(const char *text, size_t bytes, const char **out, size_t capacity)
{
    nearest near = {.count = 0};
    size_t words = 0;
    if (bytes > TEXT_MAX)
        bytes = TEXT_MAX;
    for (size_t at = 0; at < bytes && words < WORDS_MAX;) {
        size_t end = at;
        while (end < bytes && (gphi_is_word(text[end]) || text[end] == '.' ||
                               text[end] == '/' || text[end] == '-'))
            end++;
        size_t to = end;
        while (to > at && !gphi_is_word(text[to - 1]))
            to--;
        if (to - at >= NAME_MIN_BYTES && to - at <= GPHI_NAME_MAX_BYTES &&
            (to - at == bytes || is_name(text + at, to - at))) {
            try_word(&near, text + at, to - at);
            words++;
        }
        at = end > at ? end : at + 1;
    }
    size_t count = 0;
    for (; count < near.count && count < capacity; count++)
        out[count] = near.list[count].name;
    return count;
}
