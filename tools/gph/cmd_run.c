// SPDX-License-Identifier: Apache-2.0
/* gph run: a program whose libcuda.so.1 is the chosen driver.
 *
 * Without --summary the program takes this process's place: signals, terminal and status
 * are its own. With it, this process waits as a shell does, and reads what softcuda has
 * counted. */
#define _GNU_SOURCE
#include "commands.h"
#include "launch.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The counters that softcuda writes at the end of a process: the file that the variable
 * SOFTCUDA_SUMMARY names, one flat JSON object of numbers. */
enum { KERNELS, GRAPHS, NODES, LAUNCHES, HOST_NS, PEAK_BYTES, COUNTERS };

static const char *const counter_names[COUNTERS] = {
    "\"kernels_launched\"", "\"graphs\"",         "\"graph_nodes\"",
    "\"graph_launches\"",   "\"launch_host_ns\"", "\"peak_device_bytes\""};

/* "name": 12 */
static bool find_counter(const char *json, const char *quoted, unsigned long long *out)
{
    const char *at = strstr(json, quoted);
    return at && sscanf(at + strlen(quoted), " : %llu", out) == 1;
}

static void print_summary(const unsigned long long *of)
{
    const unsigned long long launches = of[KERNELS] + of[LAUNCHES];
    put_row(stderr, "driver", "softcuda");
    put_row(stderr, "kernels launched one by one", "%llu", of[KERNELS]);
    put_row(stderr, "graphs", "%llu", of[GRAPHS]);
    put_row(stderr, "nodes in them", "%llu", of[NODES]);
    put_row(stderr, "graph launches", "%llu", of[LAUNCHES]);
    put_row(stderr, "host time in launches", "%.3f ms, %.2f us each",
            (double)of[HOST_NS] / 1e6,
            launches > 0 ? (double)of[HOST_NS] / 1e3 / (double)launches : 0.0);
    put_row(stderr, "peak device memory", "%s", bytes_text((double)of[PEAK_BYTES]));
}

/* No file, or an empty one: what ends by _exit() or a signal writes no counters. */
static void report(const char *path)
{
    char json[4096] = "";
    unsigned long long found[COUNTERS];
    int count = 0;
    FILE *file = fopen(path, "r");
    if (file) {
        json[fread(json, 1, sizeof(json) - 1, file)] = '\0';
        fclose(file);
    }
    while (count < COUNTERS && find_counter(json, counter_names[count], &found[count]))
        count++;
    if (json[0] == '\0')
        fprintf(stderr, "gph run: no summary: the program did not use the driver, or did "
                        "not end by itself\n");
    else if (count < COUNTERS)
        fprintf(stderr, "gph run: the driver's summary lacks a counter\n");
    else
        print_summary(found);
}

static int run_with_summary(char **words)
{
    char path[PATH_MAX];
    launch_temporary(path, sizeof(path), "gph-summary");
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
        unsetenv("SOFTCUDA_VERDICT");
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
    if (!driver_parse(line->values[RUN_DRIVER], &driver))
        return EXIT_USAGE;
    if (!launch_prepare("run", driver, &driver))
        return EXIT_FAILED;
    if (driver == GPH_DRIVER_SOFT &&
        !launch_variable("run", "SOFTCUDA_VERDICT", "gph run"))
        return EXIT_FAILED;
    fflush(NULL);
    if (line->values[RUN_SUMMARY] && driver == GPH_DRIVER_SOFT)
        return run_with_summary(line->operands);
    if (line->values[RUN_SUMMARY])
        fprintf(stderr, "gph run: a summary needs softcuda; this is NVIDIA's driver\n");
    const int code = launch_exec("run", line->operands);
    unsetenv("SOFTCUDA_VERDICT");
    return code;
}
