// SPDX-License-Identifier: Apache-2.0
/* A command as a table: its parser, its --help and its man page come from it.
 */
#ifndef OPTION_H
#define OPTION_H
#include <stdbool.h>
#include <stdio.h>

typedef struct option_spec {
    const char *name;     /* without the dashes */
    const char *argument; /* what it takes, NULL: nothing */
    const char *help;     /* one sentence without its full stop */
    const char *standard; /* the default as a word; NULL: none */
} option_spec;

enum { OPTION_MAX = 20 };

/* What the parser found, index for index with the command's table. */
typedef struct command_line {
    const char
        *values[OPTION_MAX]; /* "" for an option without argument; NULL: not given */
    int operand_count;
    char **operands;
    const struct command *commands; /* all there are: what gph help lists */
} command_line;

typedef struct command {
    const char *name;
    const char *operands;            /* as the synopsis shows them, "" if it takes none */
    const char *summary;             /* one phrase, for the list of commands */
    const char *text;                /* a paragraph, for help and man page */
    option_spec options[OPTION_MAX]; /* ends with a NULL name */
    bool stops_early; /* the first operand ends the options: the rest is another
                         program's */
    const char *(*locale)(void); /* the language where --lang is not given; NULL: "en" */
    int (*run)(const command_line *line);
} command;

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* A list of commands ends with a NULL name. NULL after a message, which names what was
 * perhaps meant. */
const command *command_find(const command *commands, const char *name);

/* Whether the words ask for the command's help. */
bool option_is_help(const command *of, int argc, char **argv);

/* Fills `line` but its `commands`; the operands are `argv`'s own, moved to its end. False after a message.
 */
bool option_parse(const command *of, int argc, char **argv, command_line *line);

/* A whole number from `least` to `most`; text NULL leaves *out. False after a message that
 * names the option. */
bool option_number(const char *option, const char *text, long least, long most,
                   long *out);

/* The value of an option wherever it is before `--`, the last one counts; NULL: it is
 * not given. */
const char *option_early(const command *of, const char *name, int argc, char **argv);

/* In a language, "en" (NULL) or "zh", as far as the doctor knows the command's words. */
void option_help(const command *of, const char *language, FILE *to);

/* In scdoc's language: the list of commands in the page of gph, and the page of one
 * command up to what is written by hand (man/gph-NAME.1.scd). */
void option_scdoc_list(const command *commands, FILE *to);
void option_scdoc(const command *of, FILE *to);
#endif
