// SPDX-License-Identifier: Apache-2.0
/* Completion for bash and zsh, written from the table of the commands, so that it knows what
 * the parser knows.
 *
 * What an argument is, is read off its name: words joined by | are the words themselves, a
 * name in capitals with FILE or OUT in it is a file, anything else is the user's. */
#include "completion.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* What follows the options of a command. */
typedef enum operand_sort {
    OPERAND_NONE,
    OPERAND_PROGRAM, /* another program and its own words */
    OPERAND_FILE,
    OPERAND_WORD,    /* the synopsis is the word */
    OPERAND_COMMAND, /* a command of ours */
    OPERAND_ENTRY    /* what gph explain --list lists */
} operand_sort;

static operand_sort operand_sort_of(const command *of)
{
    if (of->operands[0] == '\0')
        return OPERAND_NONE;
    if (of->stops_early)
        return OPERAND_PROGRAM;
    if (strcmp(of->operands, "[COMMAND]") == 0)
        return OPERAND_COMMAND;
    if (strcmp(of->operands, "[WORD...]") == 0)
        return OPERAND_ENTRY;
    return islower((unsigned char)of->operands[0]) ? OPERAND_WORD : OPERAND_FILE;
}

static bool is_words(const char *argument)
{
    return strchr(argument, '|') != NULL;
}

static bool is_file(const char *argument)
{
    return strstr(argument, "FILE") || strstr(argument, "OUT");
}

/* "auto|cuda|soft" as "auto cuda soft". */
static void put_words(const char *argument, FILE *to)
{
    for (; *argument != '\0'; argument++)
        fputc(*argument == '|' ? ' ' : *argument, to);
}

static void put_commands(const command *commands, FILE *to)
{
    for (const command *at = commands; at->name; at++)
        fprintf(to, "%s%s", at == commands ? "" : " ", at->name);
}

/* ---- bash ---- */

static void put_bash_operands(const command *of, const command *commands, FILE *to)
{
    switch (operand_sort_of(of)) {
    case OPERAND_NONE: break;
    case OPERAND_PROGRAM: fputs("        program=1\n", to); break;
    case OPERAND_FILE: fputs("        files=1\n", to); break;
    case OPERAND_WORD: fprintf(to, "        operands='%s'\n", of->operands); break;
    case OPERAND_COMMAND:
        fputs("        operands='", to);
        put_commands(commands, to);
        fputs("'\n", to);
        break;
    case OPERAND_ENTRY:
        fputs("        operands=$(\"${COMP_WORDS[0]}\" explain --list 2>/dev/null |\n"
              "            sed -n 's/^\\([^ ]*\\): .*/\\1/p')\n",
              to);
        break;
    }
}

static void put_bash_command(const command *of, const command *commands, FILE *to)
{
    fprintf(to, "    %s)\n        options='", of->name);
    for (const option_spec *at = of->options; at->name; at++)
        fprintf(to, "--%s ", at->name);
    fputs("--help'\n        valued=' ", to);
    for (const option_spec *at = of->options; at->name; at++)
        if (at->argument)
            fprintf(to, "--%s ", at->name);
    fputs("'\n", to);
    put_bash_operands(of, commands, to);
    fputs("        case $last in\n", to);
    for (const option_spec *at = of->options; at->name; at++) {
        if (!at->argument)
            continue;
        fprintf(to, "        --%s) is_value=1", at->name);
        if (is_words(at->argument)) {
            fputs(" words='", to);
            put_words(at->argument, to);
            fputc('\'', to);
        } else if (is_file(at->argument)) {
            fputs(" files=1", to);
        }
        fputs(" ;;\n", to);
    }
    fputs("        esac\n        ;;\n", to);
}

/* bash takes = for a word of its own, which is neither an option nor its value. Another
 * program's words are that program's completion's, where bash-completion is there. */
static const char BASH_END[] =
    "    esac\n"
    "    if ((program)); then\n"
    "        for ((i = 2; i < COMP_CWORD; i++)); do\n"
    "            word=${COMP_WORDS[i]}\n"
    "            if [ \"$word\" = -- ]; then\n"
    "                i=$((i + 1))\n"
    "            elif [[ $word == -* || $word == '=' ]]; then\n"
    "                continue\n"
    "            else\n"
    "                before=${COMP_WORDS[i - 1]}\n"
    "                [ \"$before\" = = ] && continue\n"
    "                [[ $valued == *\" $before \"* ]] && continue\n"
    "            fi\n"
    "            if declare -F _command_offset >/dev/null; then\n"
    "                _command_offset \"$i\"\n"
    "            elif ((i == COMP_CWORD)); then\n"
    "                mapfile -t COMPREPLY < <(compgen -c -- \"$now\")\n"
    "            else\n"
    "                mapfile -t COMPREPLY < <(compgen -f -- \"$now\")\n"
    "            fi\n"
    "            return\n"
    "        done\n"
    "    fi\n"
    "    if ((is_value)); then\n"
    "        if ((files)) && [ -z \"$words\" ]; then\n"
    "            mapfile -t COMPREPLY < <(compgen -f -- \"$now\")\n"
    "        else\n"
    "            mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$now\")\n"
    "        fi\n"
    "        return\n"
    "    fi\n"
    "    if [[ $now == -* ]]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$now\")\n"
    "    elif ((program)); then\n"
    "        mapfile -t COMPREPLY < <(compgen -c -- \"$now\")\n"
    "    elif ((files)); then\n"
    "        mapfile -t COMPREPLY < <(compgen -f -- \"$now\")\n"
    "    else\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$operands\" -- \"$now\")\n"
    "    fi\n"
    "}\n"
    "complete -o filenames -o bashdefault -F _gph gph\n";

void completion_bash(const command *commands, FILE *to)
{
    fputs("# gph's completion for bash, which gph help --completion bash writes.\n"
          "_gph() {\n"
          "    local now=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    local options='' valued='' words='' operands='' word before\n"
          "    local files=0 program=0 is_value=0 i\n"
          "    COMPREPLY=()\n"
          "    [ \"$last\" = = ] && last=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    [ \"$now\" = = ] && now=\n"
          "    if ((COMP_CWORD == 1)); then\n"
          "        mapfile -t COMPREPLY < <(compgen -W '",
          to);
    put_commands(commands, to);
    fputs(" --help --version' -- \"$now\")\n"
          "        return\n"
          "    fi\n"
          "    case ${COMP_WORDS[1]} in\n",
          to);
    for (const command *at = commands; at->name; at++)
        put_bash_command(at, commands, to);
    fputs(BASH_END, to);
}

/* ---- zsh ---- */

/* Inside '...' and of the brackets of _arguments. */
static void put_zsh_text(const char *text, FILE *to)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs("'\\''", to);
            continue;
        }
        if (strchr("[]:\\", *text))
            fputc('\\', to);
        fputc(*text, to);
    }
}

static void put_zsh_option(const option_spec *of, FILE *to)
{
    fprintf(to, " \\\n            '--%s%s[", of->name, of->argument ? "=" : "");
    put_zsh_text(of->help, to);
    fputc(']', to);
    if (of->argument) {
        fputc(':', to);
        put_zsh_text(of->argument, to);
        fputc(':', to);
        if (is_words(of->argument)) {
            fputc('(', to);
            put_words(of->argument, to);
            fputc(')', to);
        } else if (is_file(of->argument)) {
            fputs("_files", to);
        }
    }
    fputc('\'', to);
}

static void put_zsh_operands(const command *of, const command *commands, FILE *to)
{
    static const char next[] = " \\\n            ";
    switch (operand_sort_of(of)) {
    case OPERAND_NONE: break;
    case OPERAND_PROGRAM:
        fprintf(to, "%s'(-)1:program:_command_names -e'%s'*::arguments:_normal'", next,
                next);
        break;
    case OPERAND_FILE: fprintf(to, "%s'*:file:_files'", next); break;
    case OPERAND_WORD: fprintf(to, "%s'1:what:(%s)'", next, of->operands); break;
    case OPERAND_COMMAND:
        fprintf(to, "%s'1:command:(", next);
        put_commands(commands, to);
        fputs(")'", to);
        break;
    case OPERAND_ENTRY: fprintf(to, "%s'*:entry:_gph_entries'", next); break;
    }
}

void completion_zsh(const command *commands, FILE *to)
{
    fputs("#compdef gph\n"
          "# gph's completion for zsh, which gph help --completion zsh writes.\n"
          "_gph_entries() {\n"
          "    local -a entries\n"
          "    entries=(${(f)\"$(gph explain --list 2>/dev/null)\"})\n"
          "    _describe entry entries\n"
          "}\n"
          "_gph() {\n"
          "    local context state line\n"
          "    local -a commands\n"
          "    commands=(\n",
          to);
    for (const command *at = commands; at->name; at++) {
        fprintf(to, "        '%s:", at->name);
        put_zsh_text(at->summary, to);
        fputs("'\n", to);
    }
    fputs("    )\n"
          "    _arguments -C '(- *)--help[list the commands]' \\\n"
          "        '(- *)--version[show the version]' \\\n"
          "        '1:command:->command' '*::words:->words' && return\n"
          "    if [[ $state == command ]]; then\n"
          "        _describe command commands\n"
          "        return\n"
          "    fi\n"
          "    case $line[1] in\n",
          to);
    for (const command *of = commands; of->name; of++) {
        fprintf(to, "    %s)\n        _arguments -S", of->name);
        for (const option_spec *at = of->options; at->name; at++)
            put_zsh_option(at, to);
        fputs(" \\\n            '(- *)--help[explain this command]'", to);
        put_zsh_operands(of, commands, to);
        fputs("\n        ;;\n", to);
    }
    fputs("    esac\n}\n_gph \"$@\"\n", to);
}
