// SPDX-License-Identifier: Apache-2.0
/* A program under the attached library: LD_PRELOAD and CUDA_INJECTION64_PATH name it, and
 * what it writes into a temporary folder is read while the program runs: rings of
 * events are small, and a program may run for days. */
#define _GNU_SOURCE
#include "doctor.h"
#include "launch.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char who[] = "doctor";

/* The attached library: gph/libgph-attach.so beside libgph. */
static bool find_library(char *out, size_t bytes)
{
    Dl_info info;
    char libgph[PATH_MAX];
    if (dladdr((void *)(uintptr_t)gph_version, &info) == 0 ||
        realpath(info.dli_fname, libgph) == NULL) {
        fprintf(stderr, "gph doctor: cannot tell where libgph is\n");
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
    if (old != NULL && old[0] != '\0' && !launch_variable(who, "GPH_DOCTOR_CHAIN", old))
        return false;
    return launch_variable(who, "CUDA_INJECTION64_PATH", library);
}

/* What only CUPTI tells. */
static bool ask_cupti(const doctor_run *run)
{
    if (!run->has_nodes && !run->has_kernels)
        return true;
    return launch_variable(who, "GPH_DOCTOR_CUPTI",
                           !run->has_kernels ? "nodes"
                           : !run->has_nodes ? "kernels"
                                             : "nodes,kernels");
}

static bool prepare(const doctor_run *run, const char *folder)
{
    gph_driver driver; /* AUTO is known now, and in the environment */
    char library[PATH_MAX];
    return launch_prepare(who, run->driver, &driver) &&
           find_library(library, sizeof(library)) &&
           /* what the user preloads comes first */
           launch_list(who, "LD_PRELOAD", library, false) && inject(library) &&
           launch_variable(who, "GPH_DOCTOR_DIR", folder) &&
           launch_variable(who, "GPH_DOCTOR_TIER", run->is_logs_only ? "0" : "1") &&
           ask_cupti(run) &&
           (!run->is_advised || launch_variable(who, "GPH_DOCTOR_ADVISE", "1"));
}

/* ---- the folder ---- */

static bool make_folder(char *out, size_t bytes)
{
    launch_temporary(out, bytes, "gph-doctor");
    if (mkdtemp(out) != NULL)
        return true;
    fprintf(stderr, "gph doctor: %s: %s\n", out, strerror(errno));
    return false;
}

/* Flat: the attached library makes no folders in it. */
static void remove_folder(const char *folder)
{
    DIR *list = opendir(folder);
    const struct dirent *entry;
    while (list != NULL && (entry = readdir(list)) != NULL)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(list), entry->d_name, 0);
    if (list != NULL)
        closedir(list);
    rmdir(folder);
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

/* Sleeps only when nothing came: a program that makes events fast must not lose them. A
 * doctor that cannot read on leaves the program alone, to its end. */
static int watch(doctor_run *run, pid_t child, const char *folder)
{
    const struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};
    int code = EXIT_FAILED, signal_number = 0;
    run->was_read = true;
    while (!launch_is_over(child, &code, &signal_number)) {
        const uint64_t before = gph_doctor_event_count(run->doctor, NULL);
        if (run->was_read)
            run->was_read = poll_folder(run, folder, 0);
        if (gph_doctor_event_count(run->doctor, NULL) == before)
            nanosleep(&pause, NULL);
    }
    if (run->was_read)
        run->was_read = poll_folder(run, folder, 1);
    if (run->was_read)
        run->was_read = tell_end(run, child, code, signal_number);
    return code;
}

int doctor_run_program(doctor_run *run)
{
    char folder[PATH_MAX];
    int code = EXIT_FAILED;
    if (!make_folder(folder, sizeof(folder)))
        return EXIT_FAILED;
    if (prepare(run, folder)) {
        fflush(NULL);
        const pid_t child = launch_start(who, run->words);
        if (child > 0) {
            code = watch(run, child, folder);
            run->has_started = code != EXIT_NOT_FOUND && code != EXIT_NOT_EXECUTABLE;
        }
    }
    remove_folder(folder);
    return code;
}
