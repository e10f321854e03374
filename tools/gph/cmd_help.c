// SPDX-License-Identifier: Apache-2.0
/* gph help: the list of commands, one command, or the commands' part of the man page. The
 * table comes with the command line, so that this file stands below main.c. */
#include "commands.h"

int cmd_help(const command_line *line)
{
    const bool is_page = line->values[HELP_SCDOC];
    if (line->operand_count > (is_page ? 0 : 1)) {
        fprintf(stderr, "gph help: %s\n",
                is_page ? "--scdoc is of all commands" : "one command at a time");
        return EXIT_USAGE;
    }
    if (is_page) {
        option_scdoc(line->commands, stdout);
        return EXIT_OK;
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
    printf("\ngph COMMAND --help explains a command.\n");
    return EXIT_OK;
}
