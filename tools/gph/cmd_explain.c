// SPDX-License-Identifier: Apache-2.0
/* gph explain: an answer for an error text. As grep(1): 0 found, 1 not found, 2 trouble.
 */
#include "commands.h"
#include "explain_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    EXIT_FOUND = 0,
    EXIT_NOT_FOUND = 1,
    EXIT_TROUBLE = 2,
    READ_FIRST = 1 << 16,
    READ_MOST = 1 << 28 /* a log beyond it is cut there */
};

typedef struct input {
    char *text;
    size_t bytes;
} input;

static int trouble(const char *what, const char *word)
{
    fprintf(stderr, "gph explain: %s%s\ntry: gph help explain\n", what, word);
    return EXIT_TROUBLE;
}

static bool read_all(FILE *from, input *out)
{
    size_t room = READ_FIRST;
    char *text = malloc(room);
    size_t bytes = 0;
    while (text != NULL) {
        const size_t got = fread(text + bytes, 1, room - bytes, from);
        bytes += got;
        if (bytes < room || room >= READ_MOST)
            break;
        char *more = realloc(text, room * 2);
        if (more == NULL)
            free(text);
        text = more;
        room *= 2;
    }
    if (text == NULL || ferror(from)) {
        fprintf(stderr, "gph explain: standard input: %s\n", strerror(errno));
        free(text);
        return false;
    }
    *out = (input){.text = text, .bytes = bytes};
    return true;
}

static bool join_words(const command_line *line, input *out)
{
    size_t bytes = 0;
    for (int i = 0; i < line->operand_count; i++)
        bytes += strlen(line->operands[i]) + 1;
    char *text = malloc(bytes + 1);
    if (text == NULL) {
        fprintf(stderr, "gph explain: %s\n", strerror(errno));
        return false;
    }
    size_t at = 0;
    for (int i = 0; i < line->operand_count; i++) {
        const size_t word = strlen(line->operands[i]);
        if (i > 0)
            text[at++] = ' ';
        memcpy(text + at, line->operands[i], word);
        at += word;
    }
    *out = (input){.text = text, .bytes = at};
    return true;
}

/* As every program finds its language. */
static gph_explain_language language_of_locale(void)
{
    static const char *const names[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && value[0] != '\0')
            return strncmp(value, "zh", 2) == 0 ? GPH_EXPLAIN_CHINESE
                                                : GPH_EXPLAIN_ENGLISH;
    }
    return GPH_EXPLAIN_ENGLISH;
}

static bool read_language(const char *word, gph_explain_language *out)
{
    if (word == NULL)
        *out = language_of_locale();
    else if (strcmp(word, "en") == 0)
        *out = GPH_EXPLAIN_ENGLISH;
    else if (strcmp(word, "zh") == 0)
        *out = GPH_EXPLAIN_CHINESE;
    else
        return false;
    return true;
}

static int answer_text(const command_line *line, const input *asked,
                       gph_explain_language language)
{
    explain_answer answer = {
        .text = asked->text, .bytes = asked->bytes, .language = language};
    answer.count =
        gph_explain_find(asked->text, asked->bytes, answer.matches, EXPLAIN_MATCHES);
    if (answer.count == 0 || answer.matches[0].reason == GPH_EXPLAIN_BY_WORDS)
        answer.missing_bytes = gph_explain_missing(asked->text, asked->bytes,
                                                   &answer.missing, &answer.nearest);
    if (answer.count == 0)
        answer.near_count =
            gph_explain_near(asked->text, asked->bytes, answer.near, EXPLAIN_NEAR);
    const bool is_answer =
        answer.count > 0 || answer.missing_bytes > 0 || explain_knows(&answer);
    if (line->values[EXPLAIN_JSON] != NULL)
        explain_put_json(&answer, stdout);
    else
        explain_put_text(&answer, is_answer ? stdout : stderr);
    return is_answer ? EXIT_FOUND : EXIT_NOT_FOUND;
}

static int list_all(const command_line *line, gph_explain_language language)
{
    if (line->operand_count > 0)
        return trouble("a list of all takes no word: ", line->operands[0]);
    if (line->values[EXPLAIN_MARKDOWN] != NULL)
        explain_list_markdown(language, stdout);
    else if (line->values[EXPLAIN_JSON] != NULL)
        explain_list_json(language, stdout);
    else
        explain_list_text(language, stdout);
    return EXIT_FOUND;
}

int cmd_explain(const command_line *line)
{
    gph_explain_language language;
    input asked;
    if (!read_language(line->values[EXPLAIN_LANG], &language))
        return trouble("--lang is en or zh, not ", line->values[EXPLAIN_LANG]);
    if (line->values[EXPLAIN_LIST] != NULL || line->values[EXPLAIN_MARKDOWN] != NULL)
        return list_all(line, language);
    const bool is_stdin =
        line->operand_count == 0 ||
        (line->operand_count == 1 && strcmp(line->operands[0], "-") == 0);
    if (line->operand_count == 0 && isatty(STDIN_FILENO))
        return trouble("nothing to explain: give a code, a name, a text, or a log on "
                       "standard input",
                       "");
    if (!(is_stdin ? read_all(stdin, &asked) : join_words(line, &asked)))
        return EXIT_TROUBLE;
    int code = answer_text(line, &asked, language);
    free(asked.text);
    if (fflush(stdout) != 0) {
        perror("gph explain: standard output");
        code = EXIT_TROUBLE;
    }
    return code;
}
