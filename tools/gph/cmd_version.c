// SPDX-License-Identifier: Apache-2.0
/* gph version: two numbers, for the command may run with another libgph than its own. */
#include "commands.h"

int cmd_version(const command_line *line)
{
    (void)line;
    printf("gph %d.%d.%d, libgph %s\n", GPH_VERSION_MAJOR, GPH_VERSION_MINOR,
           GPH_VERSION_PATCH, gph_version_text());
    return EXIT_OK;
}
