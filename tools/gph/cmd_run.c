// SPDX-License-Identifier: Apache-2.0
/* gph run: a program whose libcuda.so.1 is the chosen driver.
 *
 * Without --summary the program takes this process's place. */
#define _GNU_SOURCE
#include "commands.h"
#include "launch.h"
#include "summary.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void report(const char *path)
{
    char json[4096] = "";
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        const size_t bytes = fread(json, 1, sizeof(json) - 1, file);
        json[bytes] = '\0';
        fclose(file);
    }
    summary found;
    if (json[0] == '\0')
        fprintf(stderr, "gph run: no summary: the program did not use the driver, or did "
                        "not end by itself\n");
    else if (!summary_parse(json, &found))
        fprintf(stderr, "gph run: the driver's summary lacks a counter\n");
    else
        summary_print(&found, "softcuda", stderr);
}

static int run_with_summary(char **words)
{
    const char *folder = getenv("TMPDIR");
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/gph-summary-XXXXXX",
             folder != NULL && folder[0] != '\0' ? folder : "/tmp");
    const int fd = mkstemp(path);
    if (fd < 0) {
        fprintf(stderr, "gph run: %s: %s\n", path, strerror(errno));
        return EXIT_FAILED;
    }
    close(fd);
    int code = EXIT_FAILED;
    if (launch_variable("run", "SOFTCUDA_SUMMARY", path)) {
        const pid_t child = launch_start("run", words);
        unsetenv("SOFTCUDA_SUMMARY"); /* the summary is the program's, not our own */
        if (child > 0)
            code = launch_wait(child);
        if (child > 0 && code != EXIT_NOT_FOUND && code != EXIT_NOT_EXECUTABLE)
            report(path);
    }
    unlink(path);
    return code;
}

int cmd_run(const command_line *line)
{
    if (line->operand_count == 0) {
        fprintf(stderr, "gph run: which program?\ntry: gph run --help\n");
        return EXIT_USAGE;
    }
    gph_driver driver;
    if (!launch_prepare("run", line->values[RUN_DRIVER], &driver))
        return EXIT_FAILED;
    fflush(NULL);
    if (line->values[RUN_SUMMARY] != NULL && driver == GPH_DRIVER_SOFT)
        return run_with_summary(line->operands);
    if (line->values[RUN_SUMMARY] != NULL)
        fprintf(stderr, "gph run: a summary needs softcuda; this is NVIDIA's driver\n");
    return launch_exec("run", line->operands);
}
