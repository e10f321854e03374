// SPDX-License-Identifier: Apache-2.0
/* Programs of others: their environment, their start and their end.
 *
 * softcuda's folder goes first on LD_LIBRARY_PATH, and the GPH_ variables have the same
 * effect in a program that uses libgph. */
#define _GNU_SOURCE
#include "launch.h"
#include "output.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

bool launch_variable(const char *who, const char *name, const char *value)
{
    if (setenv(name, value, 1) == 0)
        return true;
    fprintf(stderr, "gph %s: cannot set %s: %s\n", who, name, strerror(errno));
    return false;
}

bool launch_list(const char *who, const char *name, const char *value, bool is_first)
{
    const char *old = getenv(name);
    char *list = NULL;
    if (!old || old[0] == '\0')
        return launch_variable(who, name, value);
    if (asprintf(&list, "%s:%s", is_first ? value : old, is_first ? old : value) < 0)
        return false;
    const bool is_set = launch_variable(who, name, list);
    free(list);
    return is_set;
}

void launch_temporary(char *out, size_t bytes, const char *name)
{
    const char *folder = getenv("TMPDIR");
    const bool is_set = folder && folder[0] != '\0';
    snprintf(out, bytes, "%s/%s-XXXXXX", is_set ? folder : "/tmp", name);
}

/* LD_LIBRARY_PATH and LD_PRELOAD have no way to name a folder with these in its path: a link names it,
 * which stays for programs to come and is nobody else's. */
static bool name_folder(const char *who, char *folder, size_t bytes)
{
    char link[PATH_MAX], there[PATH_MAX] = "";
    const char *temporary = getenv("TMPDIR");
    struct stat info;
    unsigned hash = 2166136261; /* FNV-1a */
    if (!strpbrk(folder, ":;$ "))
        return true;
    if (!temporary || temporary[0] != '/' || strpbrk(temporary, ":;$ "))
        temporary = "/tmp";
    for (const char *at = folder; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619;
    if (snprintf(link, sizeof(link), "%s/gph-soft-%u-%08x", temporary,
                 (unsigned)geteuid(), hash) >= (int)sizeof(link))
        errno = ENAMETOOLONG;
    else if (symlink(folder, link) == 0 ||
             (errno == EEXIST && lstat(link, &info) == 0 && info.st_uid == geteuid() &&
              readlink(link, there, sizeof(there) - 1) > 0 &&
              strcmp(there, folder) == 0)) {
        snprintf(folder, bytes, "%s", link);
        return true;
    }
    fprintf(stderr,
            "gph %s: %s: LD_LIBRARY_PATH and LD_PRELOAD would split it, and no link %s "
            "can be "
            "made: %s\n",
            who, folder, link, strerror(errno));
    return false;
}

/* The CUDA runtimes beside softcuda are loaded before the program, whichever its own is: by
 * its soname it is there already for one that wants a shared one, and each replaces those of
 * its version inside programs. LD_PRELOAD has no way to name a path with a space. */
static bool lead_runtime(const char *who, const char *folder)
{
    static const char *const names[] = {"libcudart.so.13", "libcudart.so.12"};
    char path[PATH_MAX + 32];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        if (access(path, R_OK) == 0 && !launch_list(who, "LD_PRELOAD", path, false))
            return false;
    }
    return true;
}

/* Programs that compile to machine code by a child process get PTX instead: by the variable
 * of Triton, whose ptxas is inside its package, or by PATH. What the user has set stays. */
static bool lead_compilers(const char *who, const char *folder)
{
    char place[PATH_MAX + 32], ptxas[PATH_MAX + 64];
    snprintf(place, sizeof(place), "%s/stand-ins", folder);
    snprintf(ptxas, sizeof(ptxas), "%s/ptxas", place);
    if (access(ptxas, X_OK) != 0)
        return true;
    return (getenv("TRITON_PTXAS_PATH") ||
            launch_variable(who, "TRITON_PTXAS_PATH", ptxas)) &&
           launch_list(who, "PATH", place, true);
}

/* Puts the folder of softcuda, at `path`, before all others. */
static bool lead_linker_to(const char *who, const char *path)
{
    char folder[PATH_MAX];
    if (!realpath(path, folder)) {
        fprintf(stderr, "gph %s: %s: %s\n", who, path, strerror(errno));
        return false;
    }
    *strrchr(folder, '/') = '\0';
    return name_folder(who, folder, sizeof(folder)) &&
           launch_list(who, "LD_LIBRARY_PATH", folder, true) &&
           lead_runtime(who, folder) && lead_compilers(who, folder);
}

/* The driver is opened once here, so that a program is never started without one; what it
 * is goes to the program as variables. */
bool launch_prepare(const char *who, gph_driver wanted, gph_driver *chosen)
{
    gph_runtime *runtime = driver_open(wanted);
    if (!runtime)
        return false;
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    gph_driver_info_get(runtime, &info);
    *chosen = info.driver;
    const bool is_ready = launch_variable(who, "GPH_DRIVER", driver_name(info.driver)) &&
                          (info.driver != GPH_DRIVER_SOFT ||
                           (lead_linker_to(who, info.path) &&
                            launch_variable(who, "GPH_SOFTCUDA_PATH", info.path)));
    gph_close(runtime);
    return is_ready;
}

/* Why a program cannot be started. "No such file" is also what the kernel says of a script
 * whose interpreter, or a program whose loader, is missing. */
static const char *why_not_started(const char *name, int code)
{
    if (code != ENOENT || access(name, F_OK) != 0)
        return strerror(code);
    return strchr(name, '/') ? "its interpreter or loader is missing"
                             : "it is not in PATH; write ./ before a file of this folder";
}

/* Statuses as a shell gives them: scripts know those. */
int launch_exec(const char *who, char **words)
{
    execvp(words[0], words);
    const int error = errno;
    fprintf(stderr, "gph %s: ", who);
    put_text(stderr, words[0][0] != '\0' ? words[0] : "the empty name");
    fprintf(stderr, ": %s\n", why_not_started(words[0], error));
    return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static volatile sig_atomic_t child_pid; /* of the one program that this process runs */

/* A terminal's own ones it has sent to the program, too; what a process sends, to us
 * alone. */
static void pass_on(int signal_number, siginfo_t *info, void *context)
{
    const bool is_terminals = signal_number == SIGINT || signal_number == SIGQUIT;
    (void)context;
    if (child_pid > 0 && (!is_terminals || info->si_code <= 0))
        kill((pid_t)child_pid, signal_number);
}

static const int passed[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
enum { PASSED = sizeof(passed) / sizeof(*passed) };

/* How the process was before it had a program. */
typedef struct before {
    struct sigaction actions[PASSED], pipe;
    sigset_t mask;
} before;

/* What is ignored (nohup) stays ignored, here and in the program. Nobody may read what is
 * said at the end: that is a failure to write, and no reason to leave files there. */
static void take_signals(before *out)
{
    const struct sigaction pass = {.sa_sigaction = pass_on,
                                   .sa_flags = SA_SIGINFO | SA_RESTART};
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigset_t all;
    sigemptyset(&all);
    for (int i = 0; i < PASSED; i++)
        sigaddset(&all, passed[i]);
    /* Until there is somebody to pass it to. */
    sigprocmask(SIG_BLOCK, &all, &out->mask);
    for (int i = 0; i < PASSED; i++)
        if (sigaction(passed[i], NULL, &out->actions[i]) == 0 &&
            out->actions[i].sa_handler != SIG_IGN)
            sigaction(passed[i], &pass, NULL);
    sigaction(SIGPIPE, &ignore, &out->pipe);
}

/* In the program. */
static void give_signals_back(const before *was)
{
    for (int i = 0; i < PASSED; i++)
        sigaction(passed[i], &was->actions[i], NULL);
    sigaction(SIGPIPE, &was->pipe, NULL);
    sigprocmask(SIG_SETMASK, &was->mask, NULL);
}

pid_t launch_start(const char *who, char **words)
{
    before was;
    take_signals(&was);
    const pid_t child = fork();
    if (child == 0) {
        give_signals_back(&was);
        _exit(launch_exec(who, words));
    }
    child_pid = (sig_atomic_t)child;
    sigprocmask(SIG_SETMASK, &was.mask, NULL);
    if (child < 0)
        fprintf(stderr, "gph %s: fork: %s\n", who, strerror(errno));
    return child;
}

static int code_of(int status)
{
    return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

int launch_wait(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return code_of(status);
}

bool launch_is_over(pid_t child, int *code, int *signal_number)
{
    int status = 0;
    if (waitpid(child, &status, WNOHANG) != child)
        return false;
    *code = code_of(status);
    *signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return true;
}
