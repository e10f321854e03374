// SPDX-License-Identifier: Apache-2.0
/* gph help: the list of commands, one command, or what is made of all of them for
 * man and for shells. The table comes with the command line, so that this file is below main.c. */
#include "commands.h"
#include "completion.h"
#include "output.h"

#include <string.h>

/* What is written for another program. The completion is of all commands at once. */
static int write_for(const command_line *line)
{
    const char *shell = line->values[HELP_COMPLETION];
    const bool is_page = line->values[HELP_SCDOC];
    if (line->operand_count > is_page || (is_page && shell)) {
        fprintf(stderr, "gph help: %s\n",
                is_page && shell ? "--scdoc and --completion cannot be combined"
                : is_page        ? "one command at a time"
                                 : "--completion takes no command");
        return EXIT_USAGE;
    }
    if (is_page && line->operand_count == 1) {
        const command *of = command_find(line->commands, line->operands[0]);
        if (!of)
            return EXIT_USAGE;
        option_scdoc(of, stdout);
    } else if (is_page) {
        option_scdoc_list(line->commands, stdout);
    } else if (strcmp(shell, "bash") == 0) {
        completion_bash(line->commands, stdout);
    } else if (strcmp(shell, "zsh") == 0) {
        completion_zsh(line->commands, stdout);
    } else {
        fprintf(stderr, "gph help: --completion knows bash and zsh, not ");
        put_text(stderr, shell);
        fputc('\n', stderr);
        return EXIT_USAGE;
    }
    return EXIT_OK;
}

int cmd_help(const command_line *line)
{
    if (line->values[HELP_SCDOC] || line->values[HELP_COMPLETION])
        return write_for(line);
    if (line->operand_count > 1) {
        fprintf(stderr, "gph help: one command at a time\n");
        return EXIT_USAGE;
    }
    if (line->operand_count == 1) {
        const command *of = command_find(line->commands, line->operands[0]);
        if (!of)
            return EXIT_USAGE;
        option_help(of, of->locale ? of->locale() : NULL, stdout);
        return EXIT_OK;
    }
    printf("gph: CUDA graphs, captured once and replayed\n\n"
           "usage: gph COMMAND [--OPTION...] [OPERAND...]\n\n");
    for (const command *at = line->commands; at->name; at++)
        printf("  %-9s %s\n", at->name, at->summary);
    printf("\ngph COMMAND --help explains a command; man gph-COMMAND adds examples.\n");
    return EXIT_OK;
}
