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

int gphi_name_distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    int rows[3][GPHI_NAME_MAX_BYTES + 1];
    if (a_bytes > GPHI_NAME_MAX_BYTES || b_bytes > GPHI_NAME_MAX_BYTES)
        return GPHI_NAME_FAR;
    for (size_t j = 0; j <= b_bytes; j++)
        rows[0][j] = (int)j;
    for (size_t i = 1; i <= a_bytes; i++) {
        int *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = (int)i;
        for (size_t j = 1; j <= b_bytes; j++) {
            const char x = gphi_lower(a[i - 1]), y = gphi_lower(b[j - 1]);
            row[j] = least(least(last[j], row[j - 1]) + 1, last[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == gphi_lower(b[j - 2]) && gphi_lower(a[i - 2]) == y)
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return rows[a_bytes % 3][b_bytes];
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

/* Without what names of versions end in: _v2, _ptsz. */
static size_t without_version(const char *word, size_t bytes)
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
    bytes = without_version(word, bytes);
    for (size_t i = 0; i < gphi_names_count; i++)
        if (strlen(gphi_names[i]) == bytes && memcmp(gphi_names[i], word, bytes) == 0)
            return gphi_names[i];
    return NULL;
}

/* Whether the name is none; the nearest one that begins alike. */
static bool is_missing(const char *word, size_t bytes, const char **nearest)
{
    const char *shape = shape_of(word, bytes);
    int best = GPHI_NAME_FAR;
    *nearest = NULL;
    if (shape == NULL || bytes > GPHI_NAME_MAX_BYTES)
        return false;
    bytes = without_version(word, bytes);
    for (size_t i = 0; i < gphi_names_count; i++) {
        const char *name = gphi_names[i];
        if (!begins_as(name, strlen(name), shape))
            continue;
        int far = gphi_name_distance(word, bytes, name, strlen(name));
        if (far == 0)
            return false;
        if (begins(name, strlen(name), word, bytes))
            far = 1; /* its end was left out */
        else if (begins(word, bytes, name, strlen(name)))
            far = far < 2 ? far : 2; /* or something was put behind it */
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
    if (text == NULL)
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
