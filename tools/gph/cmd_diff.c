// SPDX-License-Identifier: Apache-2.0
/* gph diff: what differs between two graph files. As diff(1): 0 the same, 1 different, 2
 * trouble; so EXIT_FAILED, which is 1, is never returned here. */
#include "commands.h"
#include "output.h"
#include "seems.h"

#include <string.h>

enum { EXIT_DIFFERENT = 1, EXIT_TROUBLE = 2 };

/* Handles are numbers of one process: two files rarely agree on them. */
static bool is_wanted(const command_line *line, const gph_change *change)
{
    if (change->kind != GPH_CHANGE_FIELD || line->values[DIFF_HANDLES])
        return true;
    return strcmp(change->field, "handle") != 0 && strcmp(change->field, "context") != 0;
}

/* --quiet ends at the first change: the status is known. */
static int put_changes(const command_line *line, const gph_diff *diff)
{
    int code = EXIT_OK;
    for (size_t i = 0; i < gph_diff_count(diff); i++) {
        const gph_change *change = gph_diff_at(diff, i);
        if (!is_wanted(line, change))
            continue;
        code = EXIT_DIFFERENT;
        if (line->values[DIFF_QUIET])
            break;
        if (gph_change_write(change, gph_write_file, stdout, NULL) != GPH_OK)
            break;
        putchar('\n');
    }
    return output_end() ? code : EXIT_TROUBLE;
}

static int load(const char *path, gph_graph **out)
{
    input in;
    gph_error error = {0};
    if (!input_open(path, &in))
        return EXIT_TROUBLE;
    const gph_status status = gph_json_load(in.path, NULL, out, &error);
    if (status != GPH_OK)
        (void)fail_contents(in.path, path, FILE_GRAPHS, &error);
    input_close(&in);
    return status == GPH_OK ? EXIT_OK : EXIT_TROUBLE;
}

static int compare(const command_line *line)
{
    gph_graph *graphs[2] = {NULL, NULL};
    gph_diff *diff = NULL;
    gph_error error = {0};
    int code = EXIT_OK;
    for (int i = 0; i < 2 && code == EXIT_OK; i++)
        code = load(line->operands[i], &graphs[i]);
    if (code == EXIT_OK &&
        gph_graph_diff(graphs[0], graphs[1], &diff, &error) != GPH_OK) {
        (void)fail(&error);
        code = EXIT_TROUBLE;
    }
    if (code == EXIT_OK)
        code = put_changes(line, diff);
    gph_diff_destroy(diff);
    gph_graph_destroy(graphs[1]);
    gph_graph_destroy(graphs[0]);
    return code;
}

int cmd_diff(const command_line *line)
{
    if (line->operand_count != 2) {
        fprintf(stderr, "gph diff: needs two files, got %d\ntry: gph help diff\n",
                line->operand_count);
        return EXIT_TROUBLE;
    }
    return compare(line);
}
