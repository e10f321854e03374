// SPDX-License-Identifier: Apache-2.0
/* Parser, help and man page from one table: what one of them knows, all say.
 *
 * Long options only, `--word value` or `--word=value`, given once or more, the last one
 * counts. `--` ends them; so does the first operand of a command that runs a program. */
#include "option.h"
#include "columns.h"
#include "output.h"

#include <errno.h>
#include <gph/gph_doctor.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 32, NEAR_MOST = 2, HELP_BYTES = 512 };

/* A word that is not a name, and the name it was perhaps meant to be. */
typedef struct slip {
    const char *word;
    size_t bytes;
    const char *name; /* NULL: none is near */
    int distance;
} slip;

/* Letters to insert, drop or replace (Levenshtein), a row at a time. */
static int distance_of(const slip *of, const char *name)
{
    int row[NAME_BYTES + 1];
    const size_t bytes = strlen(name);
    if (bytes > NAME_BYTES || of->bytes > bytes + NEAR_MOST)
        return NEAR_MOST + 1;
    for (size_t i = 0; i <= bytes; i++)
        row[i] = (int)i;
    for (size_t at = 0; at < of->bytes; at++) {
        int diagonal = row[0];
        row[0]++;
        for (size_t i = 0; i < bytes; i++) {
            const int replaced = diagonal + (of->word[at] != name[i]);
            const int one = (row[i] < row[i + 1] ? row[i] : row[i + 1]) + 1;
            diagonal = row[i + 1];
            row[i + 1] = replaced < one ? replaced : one;
        }
    }
    return row[bytes];
}

/* A name that shares no letter is not near: -x does not mean --ir. */
static void try_name(slip *of, const char *name)
{
    const int distance = distance_of(of, name);
    if (distance <= NEAR_MOST && distance < (int)strlen(name) &&
        (!of->name || distance < of->distance)) {
        of->name = name;
        of->distance = distance;
    }
}

/* `sort` is "option --", say, and `before` what is before a name that exists. */
static void say_unknown(const slip *of, const char *sort, const char *before)
{
    enum { SHOWN = 100 };
    char word[SHOWN + 1] = "";
    memcpy(word, of->word, of->bytes < SHOWN ? of->bytes : SHOWN);
    fprintf(stderr, "gph: unknown %s", sort);
    put_text(stderr, word);
    fputs(of->bytes == 0 ? "''" : of->bytes > SHOWN ? "..." : "", stderr);
    if (of->name)
        fprintf(stderr, "; did you mean %s%s?", before, of->name);
    fputc('\n', stderr);
}

const command *command_find(const command *commands, const char *name)
{
    slip of = {.word = name, .bytes = strlen(name)};
    for (const command *at = commands; at->name; at++) {
        if (strcmp(at->name, name) == 0)
            return at;
        try_name(&of, at->name);
    }
    if (name[0] == '-') {
        of.name = NULL;
        try_name(&of, "--help");
        try_name(&of, "--version");
    }
    say_unknown(&of, name[0] == '-' ? "option " : "command ", "");
    fprintf(stderr, "try: gph help\n");
    return NULL;
}

/* The option's index, or -1; `*value` is what follows a "=" in the word. */
static int find_option(const command *of, const char *word, const char **value)
{
    const char *equals = strchr(word, '=');
    const size_t bytes = equals ? (size_t)(equals - word) : strlen(word);
    *value = equals ? equals + 1 : NULL;
    for (int i = 0; of->options[i].name; i++)
        if (strlen(of->options[i].name) == bytes &&
            memcmp(of->options[i].name, word, bytes) == 0)
            return i;
    return -1;
}

/* What is wrong, the word at fault, and where help is. */
static bool fail_usage(const command *of, const char *what, const char *word)
{
    fprintf(stderr, "gph %s: %s", of->name, what);
    put_text(stderr, word);
    fprintf(stderr, "\ntry: gph %s --help\n", of->name);
    return false;
}

static bool fail_option(const command *of, const char *word)
{
    const char *name = word + strspn(word, "-");
    slip wrong = {.word = name, .bytes = strcspn(name, "=")};
    for (const option_spec *at = of->options; at->name; at++)
        try_name(&wrong, at->name);
    say_unknown(&wrong, name == word + 1 ? "option -" : "option --", "--");
    fprintf(stderr, "try: gph %s --help\n", of->name);
    return false;
}

/* Takes one "--word" at argv[*at], and its argument. */
static bool parse_option(const command *of, int argc, char **argv, int *at,
                         command_line *line)
{
    const char *value;
    const int found = find_option(of, argv[*at] + 2, &value);
    if (found < 0)
        return fail_option(of, argv[*at]);
    if (!of->options[found].argument) {
        line->values[found] = "";
        return !value || fail_usage(of, "this option takes nothing: ", argv[*at]);
    }
    const char *word = argv[*at];
    /* "--report -- PROGRAM" lacks a file: none is made that has the name "--". */
    if (!value && *at + 1 < argc && strcmp(argv[*at + 1], "--") != 0)
        value = argv[++*at];
    line->values[found] = value;
    return (value && value[0] != '\0') ||
           fail_usage(of, "a value is missing after ", word);
}

/* `--help` counts wherever it is, after other mistakes too, unless it is another
 * program's or is after `--`. */
bool option_is_help(const command *of, int argc, char **argv)
{
    const char *value;
    bool is_value = false;
    for (int at = 0; at < argc && strcmp(argv[at], "--") != 0; at++) {
        const char *word = argv[at];
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
            return true;
        const bool is_option = word[0] == '-' && word[1] == '-';
        if (!is_value && of->stops_early && word[0] != '-')
            return false;
        const int found = is_option && !is_value ? find_option(of, word + 2, &value) : -1;
        is_value = found >= 0 && of->options[found].argument && !value;
    }
    return false;
}

/* Asked where help is, so before the words are known to be right. */
const char *option_early(const command *of, const char *name, int argc, char **argv)
{
    const char *value = NULL, *found = NULL;
    for (int at = 0; at < argc && strcmp(argv[at], "--") != 0; at++) {
        const int index =
            strncmp(argv[at], "--", 2) == 0 ? find_option(of, argv[at] + 2, &value) : -1;
        if (index < 0 || !of->options[index].argument)
            continue;
        if (!value && at + 1 < argc)
            value = argv[++at];
        if (strcmp(of->options[index].name, name) == 0)
            found = value;
    }
    return found;
}

/* Operands are moved down in argv itself: there is never more of them than words. */
bool option_parse(const command *of, int argc, char **argv, command_line *line)
{
    *line = (command_line){.operands = argv};
    int at = 0;
    for (; at < argc; at++) {
        if (strcmp(argv[at], "--") == 0) {
            at++;
            break;
        }
        const bool is_option = argv[at][0] == '-' && argv[at][1] != '\0';
        if (!is_option && of->stops_early)
            break;
        if (!is_option)
            line->operands[line->operand_count++] = argv[at];
        else if (argv[at][1] != '-')
            return fail_option(of, argv[at]);
        else if (!parse_option(of, argc, argv, &at, line))
            return false;
    }
    for (; at < argc; at++)
        line->operands[line->operand_count++] = argv[at];
    line->operands[line->operand_count] = NULL;
    if (of->operands[0] == '\0' && line->operand_count > 0)
        return fail_usage(of, "it takes no operand: ", line->operands[0]);
    return true;
}

bool option_number(const char *option, const char *text, long least, long most, long *out)
{
    char *end;
    if (!text)
        return true;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (errno == 0 && end != text && *end == '\0' && value >= least && value <= most) {
        *out = value;
        return true;
    }
    fprintf(stderr, "gph: --%s %s is not a whole number from %ld to %ld\n", option, text,
            least, most);
    return false;
}

/* A sentence of the table in a language: in the caller's memory, cut where that ends. */
static const char *say_in(const char *language, char *out, size_t bytes,
                          const char *english)
{
    gph_buffer text = {out, bytes, 0};
    const gph_status status =
        gph_doctor_say(language, gph_write_buffer, &text, "%s", english);
    return status == GPH_OK ? out : english;
}

/* The table is our own: all of its commands fit the room. */
static void put_synopsis(const command *of, const char *language, FILE *to)
{
    char text[512], word[32];
    int used = snprintf(text, sizeof(text), "%s", of->name);
    for (const option_spec *at = of->options; at->name; at++)
        used +=
            snprintf(text + used, sizeof(text) - (size_t)used, " [--%s%s%s]", at->name,
                     at->argument ? " " : "", at->argument ? at->argument : "");
    snprintf(text + used, sizeof(text) - (size_t)used, " %s", of->operands);
    fprintf(to, "%s", say_in(language, word, sizeof(word), "usage: gph "));
    const int indent = columns_of(word);
    columns_wrap(text, indent, indent, to);
    fputc('\n', to);
}

static void put_option(const option_spec *of, const char *language, FILE *to)
{
    char left[64], help[HELP_BYTES], standard[128], right[HELP_BYTES + 160];
    gph_buffer line = {right, sizeof(right), 0};
    snprintf(left, sizeof(left), "--%s%s%s", of->name, of->argument ? " " : "",
             of->argument ? of->argument : "");
    say_in(language, help, sizeof(help), of->help);
    say_in(language, standard, sizeof(standard), of->standard ? of->standard : "");
    const gph_status status = gph_doctor_say(
        language, gph_write_buffer, &line,
        of->standard ? "%.511s (default: %.127s)" : "%.511s", help, standard);
    fprintf(to, "  %-24s  ", left);
    columns_wrap(status == GPH_OK ? right : help, 28, 28, to);
}

void option_help(const command *of, const char *language, FILE *to)
{
    char text[HELP_BYTES * 4];
    put_synopsis(of, language, to);
    columns_wrap(say_in(language, text, sizeof(text), of->text), 0, 0, to);
    for (const option_spec *at = of->options; at->name; at++) {
        if (at == of->options)
            fputc('\n', to);
        put_option(at, language, to);
    }
}

/* scdoc takes _ and * for markup. */
static void put_scdoc_text(const char *text, FILE *to)
{
    for (; *text != '\0'; text++) {
        if (strchr("_*\\#", *text))
            fputc('\\', to);
        fputc(*text, to);
    }
}

void option_scdoc_list(const command *commands, FILE *to)
{
    for (const command *of = commands; of->name; of++) {
        fprintf(to, "*gph-%s*(1)\n\t", of->name);
        put_scdoc_text(of->summary, to);
        fprintf(to, ".\n\n");
    }
}

void option_scdoc(const command *of, FILE *to)
{
    fprintf(to, "gph-%s(1)\n\n# NAME\n\ngph-%s - ", of->name, of->name);
    put_scdoc_text(of->summary, to);
    fprintf(to, "\n\n# SYNOPSIS\n\n*gph %s*%s ", of->name,
            of->options[0].name ? " [--_OPTION_...]" : "");
    put_scdoc_text(of->operands, to);
    fprintf(to, "\n\n# DESCRIPTION\n\n");
    put_scdoc_text(of->text, to);
    if (of->options[0].name)
        fprintf(to, "\n\n# OPTIONS");
    fprintf(to, "\n\n");
    for (const option_spec *at = of->options; at->name; at++) {
        fprintf(to, "*--%s*", at->name);
        if (at->argument)
            fprintf(to, " _%s_", at->argument);
        fprintf(to, "\n\t");
        put_scdoc_text(at->help, to);
        fprintf(to, at->standard ? ". Default: %s.\n\n" : ".\n\n", at->standard);
    }
}
