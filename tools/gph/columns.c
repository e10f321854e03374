// SPDX-License-Identifier: Apache-2.0
/* Text in the columns of a terminal. */
#define _GNU_SOURCE
#include "columns.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Longer lines are hard to read; narrower terminals than the least one are as good as none. */
enum { COLUMNS = 79, LEAST = 40, MOST = 100 };

/* Columns of a line on the terminal that a file writes to; INT_MAX: it is not one. */
static int terminal_columns(FILE *file)
{
    struct winsize size;
    const int fd = fileno(file);
    if (fd < 0 || !isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col < LEAST)
        return INT_MAX;
    return size.ws_col > MOST ? MOST : size.ws_col - 1;
}

size_t columns_character(const char *text, size_t bytes)
{
    const unsigned char first = (unsigned char)text[0];
    const size_t length = first < 0x80                    ? 1
                          : first >= 0xc2 && first < 0xe0 ? 2
                          : first >= 0xe0 && first < 0xf0 ? 3
                          : first >= 0xf0 && first < 0xf5 ? 4
                                                          : 0;
    if (length > bytes)
        return 0;
    for (size_t i = 1; i < length; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return 0;
    const unsigned char second = length > 1 ? (unsigned char)text[1] : 0;
    /* RFC 3629, table 3-7 of the Unicode standard */
    const bool is_bad = (first == 0xe0 && second < 0xa0) || /* longer than needed */
                        (first == 0xed && second > 0x9f) || /* half of a pair */
                        (first == 0xf0 && second < 0x90) ||
                        (first == 0xf4 && second > 0x8f);
    return is_bad ? 0 : length;
}

size_t columns_control(const char *text, size_t bytes)
{
    const unsigned char *at = (const unsigned char *)text;
    if (bytes == 0)
        return 0;
    if (at[0] < ' ' || at[0] == 0x7f)
        return 1;
    if (bytes > 1 && at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0)
        return 2;
    return bytes > 2 && at[0] == 0xe2 &&
                   ((at[1] == 0x80 && at[2] >= 0xa8 && at[2] <= 0xae) ||
                    (at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9))
               ? 3
               : 0;
}

/* Three-byte characters from U+2E80 on: Chinese and its punctuation. */
static int width_of(const char *character, size_t bytes)
{
    return bytes >= 3 && (unsigned char)character[0] >= 0xe3 ? 2 : 1;
}

/* Bytes of what sets a color, ESC [ ... m, which takes no column; 0: none is at `text`. */
static size_t color_bytes(const char *text)
{
    if (text[0] != '\x1b' || text[1] != '[')
        return 0;
    const size_t end = 2 + strspn(text + 2, "0123456789;");
    return text[end] == 'm' ? end + 1 : 0;
}

/* Whether a text begins with one of the marks that no line ends with, or none begins with. */
static bool is_mark(const char *text, const char *const *marks)
{
    for (; *marks; marks++)
        if (strncmp(text, *marks, strlen(*marks)) == 0)
            return true;
    return false;
}

/* Bytes that stay on one line, and their columns: a word, or a Chinese character with the
 * punctuation around it. */
static size_t next_piece(const char *text, int *columns)
{
    static const char *const ends[] = {"，", "。", "：", "；", "）",
                                       "、", "！", "？", NULL};
    static const char *const begins[] = {"（", "《", NULL};
    size_t at = 0;
    bool is_open = false;
    *columns = 0;
    while (text[at] != '\0' && text[at] != ' ') {
        const size_t color = color_bytes(text + at);
        if (color > 0) {
            at += color;
            continue;
        }
        const size_t bytes = columns_character(text + at, strlen(text + at));
        const size_t step = bytes > 0 ? bytes : 1;
        const int width = width_of(text + at, step);
        if (at > 0 && width == 2 && !is_open && !is_mark(text + at, ends))
            break;
        is_open = is_mark(text + at, begins);
        at += step;
        *columns += width;
        if (width == 2 && !is_open && text[at] != '\0' && (unsigned char)text[at] < 0x80)
            break;
    }
    return at;
}

static void wrap(const char *text, int indent, int used, int limit, FILE *to)
{
    int column = used;
    bool is_space = false, is_first = true;
    while (*text != '\0') {
        if (*text == ' ') {
            is_space = true;
            text++;
            continue;
        }
        int columns;
        const size_t bytes = next_piece(text, &columns);
        if (!is_first && column + columns + is_space > limit) {
            fprintf(to, "\n%*s", indent, "");
            column = indent;
            is_space = false;
        }
        column += columns + (is_space && !is_first);
        fprintf(to, "%s%.*s", is_space && !is_first ? " " : "", (int)bytes, text);
        is_space = false;
        is_first = false;
        text += bytes;
    }
    fputc('\n', to);
}

void columns_wrap(const char *text, int indent, int used, FILE *to)
{
    const int terminal = terminal_columns(to);
    wrap(text, indent, used, terminal < COLUMNS ? terminal : COLUMNS, to);
}

/* What fits keeps its spaces: it may be a table. */
void columns_fold(const char *text, int indent, int used, FILE *to)
{
    const int limit = terminal_columns(to);
    if (limit == INT_MAX || columns_of(text) <= limit - used)
        fprintf(to, "%s\n", text);
    else
        wrap(text, indent, used, limit, to);
}

FILE *fold_begin(folded *of, FILE *to)
{
    *of = (folded){.to = to};
    if (terminal_columns(to) != INT_MAX)
        of->memory = open_memstream(&of->text, &of->bytes);
    return of->memory ? of->memory : to;
}

void fold_end(folded *of)
{
    if (!of->memory)
        return;
    fclose(of->memory);
    for (char *line = of->text, *end; line && *line != '\0'; line = end + 1) {
        end = line + strcspn(line, "\n");
        const bool is_last = *end == '\0';
        *end = '\0';
        const int indent = (int)strspn(line, " ");
        fprintf(of->to, "%*s", indent, "");
        columns_fold(line + indent, indent + 2, indent, of->to);
        if (is_last)
            break;
    }
    free(of->text);
}

int columns_of(const char *text)
{
    int columns = 0;
    for (size_t left = strlen(text); left > 0;) {
        const size_t color = color_bytes(text);
        size_t bytes = color > 0 ? color : columns_character(text, left);
        bytes = bytes > 0 ? bytes : 1;
        columns += color > 0 ? 0 : width_of(text, bytes);
        text += bytes;
        left -= bytes;
    }
    return columns;
}
