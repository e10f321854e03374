// SPDX-License-Identifier: Apache-2.0
/* gph explain: an answer for an error text. As grep(1): 0 found, 1 not found, 2
 * trouble.
 *
 * What is asked is one text: the words of the command line joined by spaces, or a log from
 * standard input, in which the library finds the line that counts. An answer goes to
 * standard output, that there is none to standard error. */
#define _POSIX_C_SOURCE 200809L
#include "commands.h"
#include "explain_out.h"
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    EXIT_FOUND = 0,
    EXIT_NOT_FOUND = 1,
    EXIT_TROUBLE = 2,
    READ_MOST = 1 << 28 /* a log beyond it is cut there */
};

static int trouble(const char *what, const char *word)
{
    fprintf(stderr, "gph explain: %s", what);
    put_text(stderr, word);
    fputs("\ntry: gph help explain\n", stderr);
    return EXIT_TROUBLE;
}

/* The words as one text, or standard input; NULL after a message. */
static char *read_all(const command_line *line, bool is_stdin, size_t *bytes)
{
    char *text = NULL;
    if (is_stdin) {
        text = read_stream(stdin, READ_MOST, bytes);
    } else {
        FILE *words = open_memstream(&text, bytes);
        for (int i = 0; words && i < line->operand_count; i++)
            fprintf(words, "%s%s", i > 0 ? " " : "", line->operands[i]);
        if (words && fclose(words) != 0) {
            free(text);
            text = NULL;
        }
    }
    if (!text)
        fprintf(stderr, "gph explain: %s%s\n", is_stdin ? "standard input: " : "",
                strerror(errno));
    return text;
}

/* A question that has a Chinese character (U+4E00 to U+9FFF in UTF-8) is asked in Chinese,
 * whatever the locale says: that of most servers is English. */
static bool is_asked_in_chinese(const command_line *line)
{
    for (int i = 0; i < line->operand_count; i++)
        for (const unsigned char *at = (const unsigned char *)line->operands[i]; *at;
             at++)
            if (*at >= 0xe4 && *at <= 0xe9 && (at[1] & 0xc0) == 0x80 &&
                (*at > 0xe4 || at[1] >= 0xb8))
                return true;
    return false;
}

static bool read_language(const command_line *line, gph_explain_language *out)
{
    const char *word = line->values[EXPLAIN_LANG];
    word = word ? word : is_asked_in_chinese(line) ? "zh" : locale_language();
    if (strcmp(word, "en") == 0)
        *out = GPH_EXPLAIN_ENGLISH;
    else if (strcmp(word, "zh") == 0)
        *out = GPH_EXPLAIN_CHINESE;
    else
        return false;
    return true;
}

/* Names that do not exist are looked for only where nothing better was found: a log has
 * many words that no header has. */
static int answer_text(const command_line *line, const char *text, size_t bytes,
                       gph_explain_language language)
{
    explain_answer answer = {.text = text, .bytes = bytes, .language = language};
    answer.count = gph_explain_find(text, bytes, answer.matches, EXPLAIN_MATCHES);
    if (answer.count == 0 || answer.matches[0].reason == GPH_EXPLAIN_BY_WORDS)
        answer.missing_bytes =
            gph_explain_missing(text, bytes, &answer.missing, &answer.nearest);
    if (answer.count == 0)
        answer.near_count = gph_explain_near(text, bytes, answer.near, EXPLAIN_NEAR);
    const bool is_answer =
        answer.count > 0 || answer.missing_bytes > 0 || explain_knows(&answer);
    if (line->values[EXPLAIN_JSON])
        explain_put_json(&answer, stdout);
    else
        explain_put_text(&answer, is_answer ? stdout : stderr);
    return is_answer ? EXIT_FOUND : EXIT_NOT_FOUND;
}

/* All entries, in the order of the knowledge base. */
static int list_all(const command_line *line, gph_explain_language language)
{
    if (line->operand_count > 0)
        return trouble("--list and --markdown take no word: ", line->operands[0]);
    if (line->values[EXPLAIN_MARKDOWN] &&
        (line->values[EXPLAIN_JSON] || line->values[EXPLAIN_LIST]))
        return trouble("--markdown cannot be combined with --json or --list", "");
    if (line->values[EXPLAIN_MARKDOWN])
        explain_list_markdown(language, stdout);
    else if (line->values[EXPLAIN_JSON])
        explain_list_json(language, stdout);
    else
        explain_list_text(language, stdout);
    return EXIT_FOUND;
}

int cmd_explain(const command_line *line)
{
    gph_explain_language language;
    size_t bytes = 0;
    if (!read_language(line, &language))
        return trouble("--lang is en or zh, not ", line->values[EXPLAIN_LANG]);
    if (line->values[EXPLAIN_LIST] || line->values[EXPLAIN_MARKDOWN])
        return list_all(line, language);
    const bool is_stdin =
        line->operand_count == 0 ||
        (line->operand_count == 1 && strcmp(line->operands[0], "-") == 0);
    if (line->operand_count == 0 && isatty(STDIN_FILENO))
        return trouble("nothing to explain: give a code, a name, a text, or a log on "
                       "standard input",
                       "");
    char *text = read_all(line, is_stdin, &bytes);
    if (!text)
        return EXIT_TROUBLE;
    const int code = answer_text(line, text, bytes, language);
    free(text);
    return output_end() ? code : EXIT_TROUBLE;
}
