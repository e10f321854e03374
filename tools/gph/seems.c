// SPDX-License-Identifier: Apache-2.0
/* What a file seems to be that a command could not read, by its first bytes. */
#include "seems.h"
#include "output.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { HEAD_BYTES = 4096, CUBIN_MACHINE = 190 };

typedef enum file_kind {
    KIND_JSON,
    KIND_RECIPE,
    KIND_EVENTS,
    KIND_CUBIN,
    KIND_PROGRAM,
    KIND_FATBIN,
    KIND_PTX,
    KIND_PACKED,
    KIND_PICTURE,
    KIND_PAGE,
    KIND_SCRIPT,
    KIND_DOT,
    KIND_TABLE,
    KIND_TEXT,
    KIND_BYTES
} file_kind;

/* What to do with it instead; after "gph ". */
static const struct {
    const char *name, *instead;
} kinds[] = {
    [KIND_JSON] = {"JSON", "inspect FILE describes a graph in JSON"},
    [KIND_RECIPE] = {"a recipe", "inspect FILE describes it"},
    [KIND_EVENTS] = {"an event log", "doctor --events FILE examines it"},
    [KIND_CUBIN] = {"machine code for a GPU (a cubin)", NULL},
    [KIND_PROGRAM] = {"a program or a library (ELF)",
                      "doctor -- ./PROGRAM examines a run"},
    [KIND_FATBIN] = {"a fat binary", "inspect --ptx FILE examines its PTX"},
    [KIND_PTX] = {"PTX", "inspect --ptx FILE examines it"},
    [KIND_PACKED] = {"a packed file (gzip, zstd, zip or an archive)", NULL},
    [KIND_PICTURE] = {"a picture or a PDF", NULL},
    [KIND_PAGE] = {"an HTML page", NULL},
    [KIND_SCRIPT] = {"a script", "doctor -- ./PROGRAM examines a run"},
    [KIND_DOT] = {"a drawing for Graphviz", NULL},
    [KIND_TABLE] = {"a table (CSV)", "plan FILE reads tables of buffers"},
    [KIND_TEXT] = {"text", "explain <FILE looks for known errors in a log"},
    [KIND_BYTES] = {"binary data of no known kind", NULL},
};

static const struct {
    const char *is_not, *takes;
} uses[] = {
    [FILE_GRAPH] = {"a graph or a recipe",
                    "gph inspect takes graphs in JSON (gph-graph(5)), "
                    "recipes (gph-recipe(5)), and PTX with --ptx"},
    [FILE_GRAPHS] = {"a graph", "gph diff takes graphs in JSON (gph-graph(5))"},
    [FILE_TABLE] = {"a table of buffers",
                    "gph plan takes CSV with the columns id, lower, "
                    "upper and size"},
    [FILE_SIZES] = {"a histogram",
                    "gph plan --ladder takes CSV with the columns size and "
                    "count"},
    [FILE_EVENTS] = {"an event log",
                     "gph doctor --events takes what --save-events wrote"},
};

static const struct {
    file_kind kind;
    unsigned char bytes, magic[9];
} magics[] = {
    {KIND_RECIPE, 4, "gphr"},
    {KIND_EVENTS, 4, "gphe"},
    {KIND_PROGRAM, 4,
     "\x7f"
     "ELF"},
    {KIND_FATBIN, 4, "\x50\xed\x55\xba"},
    {KIND_PACKED, 2, "\x1f\x8b"},
    {KIND_PACKED, 4, "\x28\xb5\x2f\xfd"},
    {KIND_PACKED, 4, "PK\x03\x04"},
    {KIND_PACKED, 8, "!<arch>\n"},
    {KIND_PICTURE, 4, "\x89PNG"},
    {KIND_PICTURE, 3, "\xff\xd8\xff"},
    {KIND_PICTURE, 4, "%PDF"},
    {KIND_PAGE, 9, "<!doctype"},
    {KIND_PAGE, 5, "<html"},
    {KIND_SCRIPT, 2, "#!"},
    {KIND_DOT, 7, "digraph"},
    {KIND_JSON, 1, "{"},
    {KIND_JSON, 1, "["},
};

static bool begins(const char *text, size_t bytes, size_t magic)
{
    if (bytes < magics[magic].bytes)
        return false;
    for (size_t i = 0; i < magics[magic].bytes; i++) /* HTML is written in both cases */
        if (tolower((unsigned char)text[i]) != tolower(magics[magic].magic[i]))
            return false;
    return true;
}

static size_t commas_of_line(const char *text)
{
    size_t count = 0;
    for (; *text != '\0' && *text != '\n'; text++)
        count += *text == ',';
    return count;
}

/* Of a file that has no magic: text has no control characters but white space. */
static file_kind kind_of_text(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (text[i] == '\0' ||
            ((unsigned char)text[i] < ' ' && !strchr("\t\n\v\f\r\x1b", text[i])))
            return KIND_BYTES;
    const char *version = strstr(text, ".version");
    if (version && (version == text || version[-1] == '\n') && strstr(text, ".target"))
        return KIND_PTX;
    const size_t first = commas_of_line(text);
    const char *next = text + strcspn(text, "\n");
    next += *next == '\n';
    return first > 0 && (*next == '\0' || commas_of_line(next) == first) ? KIND_TABLE
                                                                         : KIND_TEXT;
}

static file_kind kind_of(const char *head, size_t bytes)
{
    const size_t skipped = strspn(head, "\xef\xbb\xbf \t\r\n"); /* a byte order mark */
    for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
        if (begins(head, bytes, i) || begins(head + skipped, bytes - skipped, i))
            return magics[i].kind == KIND_PROGRAM && bytes > 18 &&
                           (unsigned char)head[18] == CUBIN_MACHINE
                       ? KIND_CUBIN
                       : magics[i].kind;
    return kind_of_text(head, bytes);
}

/* Whether the error speaks of what is wrong in a file of the right kind. */
static bool is_right(file_kind kind, file_use use)
{
    switch (use) {
    case FILE_GRAPH: return kind == KIND_JSON || kind == KIND_RECIPE;
    case FILE_GRAPHS: return kind == KIND_JSON;
    case FILE_TABLE:
    case FILE_SIZES: return kind == KIND_TABLE;
    case FILE_EVENTS: return kind == KIND_EVENTS;
    }
    return true;
}

int fail_read(const char *text, size_t bytes, const char *named, file_use use,
              const gph_error *error)
{
    char head[HEAD_BYTES + 1];
    gph_error shown = {.code = error->code};
    bytes = bytes < HEAD_BYTES ? bytes : HEAD_BYTES;
    memcpy(head, text, bytes);
    head[bytes] = '\0';
    const file_kind kind = bytes > 0 ? kind_of(head, bytes) : KIND_BYTES;
    if (bytes == 0 || is_right(kind, use)) /* that it is empty, the error says */
        return fail_file(named, error);
    const char *instead = kinds[kind].instead;
    snprintf(shown.message, sizeof(shown.message), "this is not %s; it seems to be %s",
             uses[use].is_not, kinds[kind].name);
    snprintf(shown.hint, sizeof(shown.hint), "%s%s%s", uses[use].takes,
             instead ? "; gph " : "", instead ? instead : "");
    return fail_file(named, &shown);
}

int fail_contents(const char *path, const char *named, file_use use,
                  const gph_error *error)
{
    char head[HEAD_BYTES];
    FILE *file = fopen(path, "rb");
    const size_t bytes = file ? fread(head, 1, sizeof(head), file) : 0;
    if (file)
        fclose(file);
    return fail_read(head, bytes, named, use, error);
}
