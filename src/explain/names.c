// SPDX-License-Identifier: Apache-2.0
/* Names that do not exist: what looks like a name of CUDA's graphs, captures or errors,
 * or of torch.cuda, and is none. */
#include "explain/names.h"
#include "explain/scan.h"

#include <string.h>

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* One cell of the table: the edits that make `i` bytes of a into `j` of b. */
static int edits(const char *a, size_t i, const char *b, size_t j, int *const rows[3])
{
    int *row = rows[0];
    const char x = gphi_lower(a[i - 1]), y = gphi_lower(b[j - 1]);
    int best = least(least(rows[1][j], row[j - 1]) + 1, rows[1][j - 1] + (x != y));
    if (i > 1 && j > 1 && x == gphi_lower(b[j - 2]) && gphi_lower(a[i - 2]) == y)
        best = least(best, rows[2][j - 2] + 1);
    return best;
}

/* Only cells within `most` of the diagonal can be that small; a row without any ends it.
 */
int gphi_name_distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes,
                       int most)
{
    int cells[3][GPHI_NAME_MAX_BYTES + 2];
    const size_t wide = (size_t)most;
    if (a_bytes > GPHI_NAME_MAX_BYTES || b_bytes > GPHI_NAME_MAX_BYTES ||
        a_bytes > b_bytes + wide || b_bytes > a_bytes + wide)
        return GPHI_NAME_FAR;
    for (size_t j = 0; j <= b_bytes; j++)
        cells[0][j] = (int)j;
    for (size_t i = 1; i <= a_bytes; i++) {
        int *const rows[3] = {cells[i % 3], cells[(i + 2) % 3], cells[(i + 1) % 3]};
        const size_t from = i > wide ? i - wide : 1;
        const size_t to = i + wide < b_bytes ? i + wide : b_bytes;
        rows[0][from - 1] = from == 1 ? (int)i : GPHI_NAME_FAR;
        int best = rows[0][from - 1];
        for (size_t j = from; j <= to; j++) {
            rows[0][j] = edits(a, i, b, j, rows);
            best = least(best, rows[0][j]);
        }
        rows[0][to + 1] = GPHI_NAME_FAR;
        if (best > most)
            return GPHI_NAME_FAR;
    }
    const int far = cells[a_bytes % 3][b_bytes];
    return far <= most ? far : GPHI_NAME_FAR;
}

static bool begins(const char *word, size_t bytes, const char *with, size_t length)
{
    return bytes > length && memcmp(word, with, length) == 0;
}

static bool begins_as(const char *word, size_t bytes, const char *prefix)
{
    return begins(word, bytes, prefix, strlen(prefix));
}

static bool has(const char *word, size_t bytes, const char *part)
{
    const size_t length = strlen(part);
    for (size_t at = 0; at + length <= bytes; at++)
        if (memcmp(word + at, part, length) == 0)
            return true;
    return false;
}

/* "cudaGraphUpload", but not "cudaGraphs"; the beginning that such names share, NULL:
 * none. */
static const char *shape_of(const char *word, size_t bytes)
{
    static const char *const camels[] = {"cudaError", "cudaGraph", "cuGraph"};
    static const char *const capitals[] = {"CUDA_ERROR_", "CU_GRAPH_", "CUDA_GRAPH_"};
    static const char *const streams[] = {"cudaStream", "cuStream", "CU_STREAM_"};
    for (size_t i = 0; i < 3; i++) {
        const size_t length = strlen(camels[i]);
        if (begins_as(word, bytes, camels[i]) && word[length] >= 'A' &&
            word[length] <= 'Z')
            return camels[i];
        if (begins_as(word, bytes, capitals[i]))
            return capitals[i];
        if (begins_as(word, bytes, streams[i]) &&
            (has(word, bytes, "Capture") || has(word, bytes, "CAPTURE")))
            return streams[i];
    }
    if (begins_as(word, bytes, "torch.cuda.") &&
        !begins_as(word, bytes, "torch.cuda.graphs.") && has(word, bytes, "raph"))
        return "torch.cuda.";
    return NULL;
}

bool gphi_name_has_shape(const char *word, size_t bytes)
{
    return shape_of(word, bytes) != NULL;
}

size_t gphi_name_plain(const char *word, size_t bytes)
{
    static const char *const ends[] = {"_ptsz", "_ptds"};
    for (size_t i = 0; i < 2; i++)
        if (bytes > 5 && memcmp(word + bytes - 5, ends[i], 5) == 0)
            bytes -= 5;
    size_t digits = bytes;
    while (digits > 0 && gphi_is_digit(word[digits - 1]))
        digits--;
    if (digits < bytes && digits > 2 && memcmp(word + digits - 2, "_v", 2) == 0)
        bytes = digits - 2;
    return bytes;
}

const char *gphi_name_known(const char *word, size_t bytes)
{
    const gphi_index *index = gphi_explain_index();
    bytes = gphi_name_plain(word, bytes);
    for (uint32_t slot = gphi_hash_name(word, bytes) % GPHI_SLOTS;
         index->name_slots[slot] != 0; slot = (slot + 1) % GPHI_SLOTS) {
        const gphi_spelled *name = &index->spelled[index->name_slots[slot]];
        if (name->bytes == bytes && memcmp(name->name, word, bytes) == 0)
            return name->name;
    }
    return NULL;
}

/* Whether the name is none; the nearest one that begins alike. */
static bool is_missing(const char *word, size_t bytes, const char **nearest)
{
    const char *shape = shape_of(word, bytes);
    int best = GPHI_NAME_FAR;
    *nearest = NULL;
    if (!shape || bytes > GPHI_NAME_MAX_BYTES)
        return false;
    bytes = gphi_name_plain(word, bytes);
    if (gphi_name_known(word, bytes))
        return false;
    for (size_t i = 0; i < gphi_names_count; i++) {
        const char *name = gphi_names[i];
        if (!begins_as(name, strlen(name), shape))
            continue;
        int far =
            gphi_name_distance(word, bytes, name, strlen(name), (int)(bytes / 3 + 1));
        if (far == 0)
            return false;
        if (begins(name, strlen(name), word, bytes))
            far = 1; /* its end was left out */
        else if (begins(word, bytes, name, strlen(name)))
            far = far < 2 ? far : 2; /* or something was put after it */
        if (far < best && (size_t)far * 3 < bytes) {
            best = far;
            *nearest = name;
        }
    }
    return true;
}

size_t gph_explain_missing(const char *text, size_t bytes, size_t *begin,
                           const char **nearest)
{
    enum { TEXT_MAX = 4096 };
    if (!text)
        return 0;
    bytes = bytes < TEXT_MAX ? bytes : TEXT_MAX;
    for (size_t at = 0; at < bytes;) {
        size_t end = at;
        while (end < bytes && (gphi_is_word(text[end]) || text[end] == '.'))
            end++;
        size_t to = end;
        while (to > at && text[to - 1] == '.')
            to--;
        const char *near;
        if (to > at && is_missing(text + at, to - at, &near)) {
            *begin = at;
            *nearest = near;
            return to - at;
        }
        at = end > at ? end : at + 1;
    }
    return 0;
}
