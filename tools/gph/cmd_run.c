// SPDX-License-Identifier: Apache-2.0
/* gph run: a program whose libcuda.so.1 is the chosen driver.
 *
 * softcuda's folder goes first on LD_LIBRARY_PATH, and the GPH_ variables tell a program
 * of libgph the same. Without --summary the program takes this process's place. */
#define _GNU_SOURCE
#include "commands.h"
#include "output.h"
#include "summary.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127, EXIT_SIGNAL = 128 };

static bool set_variable(const char *name, const char *value)
{
    if (setenv(name, value, 1) == 0)
        return true;
    fprintf(stderr, "gph run: cannot set %s: %s\n", name, strerror(errno));
    return false;
}

/* Puts the folder of `path` before all others. */
static bool lead_linker_to(const char *path)
{
    char folder[PATH_MAX], list[3 * PATH_MAX];
    if (realpath(path, folder) == NULL) {
        fprintf(stderr, "gph run: %s: %s\n", path, strerror(errno));
        return false;
    }
    const char *old = getenv("LD_LIBRARY_PATH");
    const bool has_old = old != NULL && old[0] != '\0';
    const int bytes = snprintf(list, sizeof(list), "%s%s%s", dirname(folder),
                               has_old ? ":" : "", has_old ? old : "");
    if (bytes >= (int)sizeof(list)) {
        fprintf(stderr, "gph run: LD_LIBRARY_PATH would be longer than %zu bytes\n",
                sizeof(list));
        return false;
    }
    return set_variable("LD_LIBRARY_PATH", list);
}

/* Chooses, and prepares the environment for it. */
static bool prepare(const char *word, gph_driver *chosen)
{
    gph_driver driver;
    if (!driver_parse(word, &driver))
        return false;
    gph_runtime *runtime = driver_open(driver);
    if (runtime == NULL)
        return false;
    gph_driver_info info;
    gph_driver_describe(runtime, &info);
    *chosen = info.driver;
    const bool is_ready =
        set_variable("GPH_DRIVER", driver_name(info.driver)) &&
        (info.driver != GPH_DRIVER_SOFT ||
         (lead_linker_to(info.path) && set_variable("GPH_SOFTCUDA_PATH", info.path)));
    gph_close(runtime);
    return is_ready;
}

static int exec_program(char **words)
{
    execvp(words[0], words);
    const int code = errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
    fprintf(stderr, "gph run: %s: %s\n", words[0], strerror(errno));
    return code;
}

static volatile sig_atomic_t child_pid;

static void pass_on(int signal_number)
{
    if (child_pid > 0)
        kill((pid_t)child_pid, signal_number);
}

/* What is ignored (nohup) stays ignored, here and in the program. */
static void pass_on_unless_ignored(int signal_number)
{
    const struct sigaction pass = {.sa_handler = pass_on};
    struct sigaction old;
    if (sigaction(signal_number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(signal_number, &pass, NULL);
}

/* Waits as a shell does: Ctrl-C is for the program, whose end we still want to report. */
static int wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run_and_wait(char **words)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction old_int, old_quit;
    sigset_t passed, old_mask;
    sigaction(SIGINT, &ignore, &old_int);
    sigaction(SIGQUIT, &ignore, &old_quit);
    sigemptyset(&passed);
    sigaddset(&passed, SIGTERM);
    sigaddset(&passed, SIGHUP);
    sigprocmask(SIG_BLOCK, &passed,
                &old_mask); /* until there is somebody to pass it to */
    pass_on_unless_ignored(SIGTERM);
    pass_on_unless_ignored(SIGHUP);

    const pid_t child = fork();
    if (child == 0) {
        sigaction(SIGINT, &old_int, NULL);
        sigaction(SIGQUIT, &old_quit, NULL);
        sigprocmask(SIG_SETMASK, &old_mask, NULL);
        _exit(exec_program(words));
    }
    unsetenv("SOFTCUDA_SUMMARY"); /* the summary is the program's, not our own */
    child_pid = (sig_atomic_t)child;
    sigprocmask(SIG_SETMASK, &old_mask, NULL);
    if (child < 0) {
        fprintf(stderr, "gph run: fork: %s\n", strerror(errno));
        return EXIT_FAILED;
    }
    return wait_for(child);
}

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
    if (set_variable("SOFTCUDA_SUMMARY", path)) {
        code = run_and_wait(words);
        if (code != EXIT_NOT_FOUND && code != EXIT_NOT_EXECUTABLE)
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
    if (!prepare(line->values[RUN_DRIVER], &driver))
        return EXIT_FAILED;
    fflush(NULL);
    if (line->values[RUN_SUMMARY] != NULL && driver == GPH_DRIVER_SOFT)
        return run_with_summary(line->operands);
    if (line->values[RUN_SUMMARY] != NULL)
        fprintf(stderr, "gph run: a summary needs softcuda; this is NVIDIA's driver\n");
    return exec_program(line->operands);
}
