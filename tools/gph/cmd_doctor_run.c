// SPDX-License-Identifier: Apache-2.0
/* A program under the attached library: LD_PRELOAD and CUDA_INJECTION64_PATH name it, and
 * what it writes into a temporary folder is read while the program runs: rings of
 * events are small, and a program may run for days. */
#define _GNU_SOURCE
#include "doctor.h"
#include "doctor_folder.h"
#include "launch.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char who[] = "doctor";

/* The attached library: gph/libgph-attach.so beside libgph. */
static bool find_library(char *out, size_t bytes)
{
    Dl_info info;
    char libgph[PATH_MAX];
    if (dladdr((void *)(uintptr_t)gph_version, &info) == 0 ||
        !realpath(info.dli_fname, libgph)) {
        fprintf(stderr, "gph doctor: cannot find out where libgph is\n");
        return false;
    }
    char *slash = strrchr(libgph, '/');
    *slash = '\0';
    if (snprintf(out, bytes, "%s/gph/libgph-attach.so", libgph) >= (int)bytes ||
        access(out, R_OK) != 0) {
        fprintf(stderr, "gph doctor: %s: %s\n", out, strerror(errno));
        return false;
    }
    return true;
}

/* The driver loads one injected library; ours loads the one that was set. */
static bool inject(const char *library)
{
    const char *old = getenv("CUDA_INJECTION64_PATH");
    if (old && old[0] != '\0' && !launch_variable(who, "GPH_DOCTOR_CHAIN", old))
        return false;
    return launch_variable(who, "CUDA_INJECTION64_PATH", library);
}

/* What only CUPTI reports. */
static bool ask_cupti(const doctor_run *run)
{
    if (!run->has_nodes && !run->has_kernels)
        return true;
    return launch_variable(who, "GPH_DOCTOR_CUPTI",
                           !run->has_kernels ? "nodes"
                           : !run->has_nodes ? "kernels"
                                             : "nodes,kernels");
}

/* How far replays are, where it is wanted. */
static bool ask_standing(const doctor_run *run)
{
    if (!run->has_sentinels && run->watch_seconds == 0)
        return true;
    return launch_variable(who, "GPH_DOCTOR_SENTINELS",
                           run->has_sentinels ? "nodes" : "driver");
}

/* Softcuda's check mode; what the user has set stays. A GPU's driver has none: there the
 * attached library watches what it can, the host's use of pinned memory. */
static bool ask_check(const doctor_run *run, gph_driver driver)
{
    const char *set = getenv("SOFTCUDA_CHECK");
    if (!run->is_checked)
        return true;
    if (driver == GPH_DRIVER_SOFT)
        return (set && set[0] != '\0') || launch_variable(who, "SOFTCUDA_CHECK", "all");
    doctor_say(run->seen->language, gph_write_file, stderr,
               "gph doctor: on NVIDIA's driver --check watches the host's use of pinned "
               "memory alone; what kernels and copies touch it watches with --driver "
               "soft\n");
    return launch_variable(who, "GPH_DOCTOR_PINNED", "1");
}

/* The name of the library in the program's environment: a link in the folder where its
 * own would be split. */
static bool name_library(char *library, size_t bytes, const char *folder)
{
    char link[PATH_MAX];
    if (!doctor_folder_is_split(library))
        return true;
    if (snprintf(link, sizeof(link), "%s/libgph-attach.so", folder) < (int)bytes &&
        symlink(library, link) == 0) {
        strcpy(library, link);
        return true;
    }
    fprintf(stderr, "gph doctor: %s: %s\n", link, strerror(errno));
    return false;
}

static bool prepare(const doctor_run *run, char *library, size_t bytes,
                    const char *folder)
{
    gph_driver driver; /* AUTO is known now, and in the environment */
    return launch_prepare(who, run->driver, &driver) && ask_check(run, driver) &&
           name_library(library, bytes, folder) &&
           /* what the user preloads comes first */
           launch_list(who, "LD_PRELOAD", library, false) && inject(library) &&
           launch_variable(who, "GPH_DOCTOR_DIR", folder) &&
           launch_variable(who, "GPH_DOCTOR_TIER", run->is_logs_only ? "0" : "1") &&
           ask_cupti(run) && ask_standing(run) &&
           (!run->is_advised || launch_variable(who, "GPH_DOCTOR_ADVISE", "1"));
}

/* ---- the program ---- */

/* False after a message: what has been read so far is all there will be. */
static bool poll_folder(const doctor_run *run, const char *folder, int is_over)
{
    gph_error error = {0};
    if (gph_doctor_poll(run->doctor, folder, is_over, &error) == GPH_OK)
        return true;
    fprintf(stderr, "gph doctor: %s\n", error.message);
    return false;
}

/* A shell or a launcher ends as its own program was ended by a signal, with 128 more. */
static bool tell_end(const doctor_run *run, pid_t child, int code, int signal_number)
{
    const bool is_signal = signal_number > 0;
    gph_error error = {0};
    if (!is_signal && (code <= EXIT_SIGNAL || code > EXIT_SIGNAL + SIGSYS))
        return true;
    const gph_status status =
        gph_doctor_killed(run->doctor, is_signal ? (uint64_t)child : 0,
                          is_signal ? signal_number : code - EXIT_SIGNAL, &error);
    if (status != GPH_OK)
        fprintf(stderr, "gph doctor: %s\n", error.message);
    return status == GPH_OK;
}

/* The name that a process has at its end, which is still there before its status is
 * taken. */
static bool has_ended(pid_t child, char *name, size_t bytes)
{
    siginfo_t info = {.si_pid = 0};
    char path[64];
    if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid != child)
        return false;
    snprintf(path, sizeof(path), "/proc/%ld/comm", (long)child);
    FILE *file = fopen(path, "r");
    if (!file || !fgets(name, (int)bytes, file))
        name[0] = '\0';
    if (file)
        fclose(file);
    name[strcspn(name, "\n")] = '\0';
    return true;
}

/* Whether the number is that of a process that the library is in, here: in a container it
 * may be another's. */
static bool is_attached(uint64_t number, const char *folder)
{
    char path[64], line[PATH_MAX + 128];
    bool is_there = false;
    snprintf(path, sizeof(path), "/proc/%llu/maps", (unsigned long long)number);
    FILE *file = fopen(path, "r");
    while (file && !is_there && fgets(line, sizeof(line), file))
        is_there = strstr(line, folder);
    if (file)
        fclose(file);
    return is_there;
}

/* What it hangs in is read and reported now, and nothing any more. */
static void leave_hung(const doctor_run *run, const char *folder, uint64_t number)
{
    gph_error error = {0};
    doctor_say(run->seen->language, gph_write_file, stderr,
               "gph doctor: process %llu hangs%s\n", (unsigned long long)number,
               ", and is left as it is");
    if (gph_doctor_left(run->doctor, number, &error) != GPH_OK)
        fprintf(stderr, "gph doctor: %s\n", error.message);
    (void)poll_folder(run, folder, 1);
    run->on_hang(run->user);
    fflush(stderr);
    run->seen->was_read = false;
}

/* Ends a process that hangs: nothing else would come of it, and what its threads are in
 * is read when it is gone. */
static void end_hung(const doctor_run *run, const char *folder)
{
    uint64_t number = 0;
    gph_error error = {0};
    if (run->watch_seconds == 0)
        return;
    if (gph_doctor_hung(run->doctor, (double)run->watch_seconds, &number, &error) !=
        GPH_OK)
        fprintf(stderr, "gph doctor: %s\n", error.message);
    if (number == 0)
        return;
    if (run->is_left) {
        leave_hung(run, folder, number);
        return;
    }
    const bool is_ours = is_attached(number, folder);
    doctor_say(run->seen->language, gph_write_file, stderr,
               "gph doctor: process %llu hangs%s\n", (unsigned long long)number,
               is_ours ? ", and is ended"
                       : "; it has another number here: end it yourself");
    if (is_ours)
        kill((pid_t)number, SIGKILL);
}

/* Sleeps only when nothing came: a program that makes events fast must not lose them. A
 * doctor that cannot read on leaves the program alone, to its end. */
static void read_on(const doctor_run *run, const char *folder)
{
    const struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};
    const uint64_t before = gph_doctor_event_count(run->doctor, NULL);
    if (run->seen->was_read)
        run->seen->was_read = poll_folder(run, folder, 0);
    if (gph_doctor_event_count(run->doctor, NULL) != before)
        return;
    if (run->seen->was_read)
        end_hung(run, folder);
    nanosleep(&pause, NULL);
}

static long seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long)now.tv_sec;
}

/* Reads what outlives the program, to its end or for the time of grace. Between two
 * programs of a shell nobody is there for a moment: it counts when it lasts. */
static void wait_for_others(const doctor_run *run, pid_t child, const char *folder)
{
    enum { QUIET_ROUNDS = 4 };
    const long end = seconds_now() + run->grace_seconds;
    int quiet = 0;
    if (!doctor_seen_runs(folder, child))
        return;
    while (quiet < QUIET_ROUNDS && seconds_now() < end) {
        read_on(run, folder);
        quiet = doctor_seen_runs(folder, child) ? 0 : quiet + 1;
    }
}

static int watch(const doctor_run *run, pid_t child, const char *folder)
{
    int code = EXIT_FAILED, signal_number = 0;
    char name[SEEN_NAME_BYTES] = "";
    doctor_seen *seen = run->seen;
    seen->was_read = true;
    while (!has_ended(child, name, sizeof(name)))
        read_on(run, folder);
    launch_is_over(child, &code, &signal_number);
    wait_for_others(run, child, folder);
    if (seen->was_read)
        seen->was_read = poll_folder(run, folder, 1);
    if (seen->was_read)
        seen->was_read = tell_end(run, child, code, signal_number);
    seen->root = child;
    seen->was_killed = signal_number > 0;
    seen->program = run->words[0];
    doctor_seen_read(seen, folder, name);
    return code;
}

int doctor_run_program(doctor_run *run)
{
    char folder[PATH_MAX], library[PATH_MAX];
    int code = EXIT_UNSEEN;
    if (!find_library(library, sizeof(library)) ||
        !doctor_folder_make(folder, sizeof(folder), library))
        return EXIT_UNSEEN;
    if (prepare(run, library, sizeof(library), folder)) {
        fflush(NULL);
        const pid_t child = launch_start(who, run->words);
        if (child > 0) {
            code = watch(run, child, folder);
            run->has_started = code != EXIT_NOT_FOUND && code != EXIT_NOT_EXECUTABLE;
        }
    }
    doctor_folder_remove(folder);
    return code;
}
