// SPDX-License-Identifier: Apache-2.0
/* Reads files that scripts/corpus.py packed: entries, each a line `=== NAME` and its
 * bytes as text. \\ is a backslash, \0 a zero byte, \xNN any byte; a backslash before the
 * end of a line takes that end away. */
#ifndef CORPUS_H
#define CORPUS_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct corpus {
    char *text; /* the file, ends with a zero; entries are decoded where they are */
    char *at;   /* what is not read yet */
    char *name; /* of the entry that was read last */
    uint8_t *data;
    size_t bytes;
} corpus;

/* False after a message. corpus_close() in both cases. */
static bool corpus_open(corpus *of, const char *path)
{
    FILE *file = fopen(path, "rb");
    long bytes = -1;
    *of = (corpus){.text = NULL};
    if (file != NULL && fseek(file, 0, SEEK_END) == 0)
        bytes = ftell(file);
    if (bytes >= 0)
        of->text = malloc((size_t)bytes + 1);
    if (of->text != NULL) {
        rewind(file);
        of->text[fread(of->text, 1, (size_t)bytes, file)] = '\0';
    } else {
        perror(path);
    }
    if (file != NULL)
        fclose(file);
    of->at = of->text;
    return of->text != NULL;
}

static void corpus_close(corpus *of)
{
    free(of->text);
    of->text = NULL;
}

/* One escaped byte after a backslash, or -1 for an end of a line that is taken away. */
static int corpus_escape(char **at)
{
    const char what = *(*at)++;
    char digits[3] = "";
    if (what == '\n')
        return -1;
    if (what != 'x')
        return what == '0' ? 0 : what;
    memcpy(digits, *at, 2);
    *at += 2;
    return (int)strtol(digits, NULL, 16);
}

/* Reads the next entry; false at the end. What it gives is valid until corpus_close(). */
static bool corpus_next(corpus *of)
{
    char *at = of->at;
    if (at == NULL || strncmp(at, "=== ", 4) != 0)
        return false;
    of->name = at + 4;
    at += strcspn(at, "\n");
    *at++ = '\0';
    uint8_t *to = of->data = (uint8_t *)at;
    while (*at != '\0' && strncmp(at, "=== ", 4) != 0)
        for (bool is_end = false; !is_end && *at != '\0';) {
            const char next = *at++;
            const int byte = next == '\\' ? corpus_escape(&at) : (unsigned char)next;
            is_end = next == '\n' || byte < 0;
            if (byte >= 0)
                *to++ = (uint8_t)byte;
        }
    of->bytes = (size_t)(to - of->data);
    of->at = at;
    return true;
}
#endif
