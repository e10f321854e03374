// SPDX-License-Identifier: Apache-2.0
/* What a run of gph doctor has not seen, and why.
 *
 * The program's process is known by its number; of others only those are known that the
 * attached library was in at some time. One that has gone while its link says "here" was
 * killed, or has replaced itself by a program that the library did not get into. Of the
 * program itself the kernel knows which: how it ended, and its last name. */
#define _GNU_SOURCE
#include "doctor_seen.h"
#include "columns.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_BYTES = 512 };

/* ---- begin ---- */

/* The program under an inner doctor is that one's, not the outer one's. */
static void warn_outer(void)
{
    const char *outer = getenv("GPH_DOCTOR_DIR");
    char path[PATH_MAX];
    if (!outer || snprintf(path, sizeof(path), "%s/seen/%ld.doctor", outer,
                           (long)getpid()) >= (int)sizeof(path))
        return;
    if (symlink("gph doctor", path) != 0)
        errno = 0; /* that one has ended */
}

bool doctor_seen_begin(const char *folder)
{
    char path[PATH_MAX];
    warn_outer();
    if (snprintf(path, sizeof(path), "%s/seen", folder) >= (int)sizeof(path)) {
        errno = ENAMETOOLONG;
        return false;
    }
    return mkdir(path, 0700) == 0;
}

/* ---- read ---- */

static void add(doctor_seen *seen, seen_kind kind, long number, const char *name)
{
    seen->of_kind[kind]++;
    if (seen->unseen_count++ >= SEEN_SHOWN)
        return;
    seen_process *of = &seen->unseen[seen->unseen_count - 1];
    *of = (seen_process){.number = number, .kind = kind};
    if (kind == SEEN_REFUSED)
        of->code = (int)strtol(name, NULL, 10);
    else
        snprintf(of->name, sizeof(of->name), "%s", name);
}

/* Zombies do not: their parent may never ask for them. */
static bool is_running(long number)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof(path), "/proc/%ld/stat", number);
    FILE *file = fopen(path, "r");
    const size_t bytes = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
    if (file)
        fclose(file);
    text[bytes] = '\0';
    const char *end = strrchr(text, ')'); /* of its name */
    return end && end[1] == ' ' && !strchr("ZX", end[2]);
}

bool doctor_seen_runs(const char *folder, long root)
{
    char path[PATH_MAX];
    const struct dirent *entry;
    bool runs = false;
    snprintf(path, sizeof(path), "%s/seen", folder);
    DIR *list = opendir(path);
    while (!runs && list && (entry = readdir(list))) {
        char *kind = NULL;
        const long number = strtol(entry->d_name, &kind, 10);
        runs = (number > 0 && *kind == '-') || /* a child on its way */
               (number > 0 && number != root &&
                (strcmp(kind, ".here") == 0 || strcmp(kind, ".fork") == 0) &&
                is_running(number));
    }
    if (list)
        closedir(list);
    return runs;
}

/* A link that says "here". */
static void read_here(doctor_seen *seen, long number, const char *name,
                      const char *last_name)
{
    seen->idle++;
    if (number != seen->root) {
        add(seen, is_running(number) ? SEEN_RUNNING : SEEN_REPLACED, number, name);
        return;
    }
    /* Some end without the C library: they still have their name. */
    seen->is_root_in = seen->was_killed || strcmp(name, last_name) == 0;
    seen->is_root_replaced = !seen->is_root_in;
}

static void read_ring(doctor_seen *seen, const char *text)
{
    char *end = NULL;
    const unsigned long long bytes = strtoull(text, &end, 10),
                             wanted = strtoull(end, NULL, 10);
    seen->used++;
    if (bytes >= wanted)
        return;
    if (seen->small_count++ > 0 && bytes >= seen->small_bytes)
        return;
    seen->small_bytes = bytes;
    seen->small_wanted = wanted;
}

static void read_link(doctor_seen *seen, int folder, const char *file,
                      const char *last_name)
{
    char *kind = NULL, name[SEEN_NAME_BYTES];
    const long number = strtol(file, &kind, 10);
    const ssize_t bytes = readlinkat(folder, file, name, sizeof(name) - 1);
    if (number <= 0 || bytes <= 0)
        return;
    name[bytes] = '\0';
    if (strcmp(kind, ".ring") == 0)
        read_ring(seen, name);
    else if (strcmp(kind, ".refused") == 0)
        add(seen, SEEN_REFUSED, number, name);
    else if (strcmp(kind, ".doctor") == 0)
        add(seen, SEEN_DOCTOR, number, name);
    else if (strcmp(kind, ".deaf") == 0)
        add(seen, SEEN_DEAF, number, name);
    else if (strcmp(kind, ".here") == 0)
        read_here(seen, number, name, last_name);
    else if (strcmp(kind, ".fork") == 0 && is_running(number))
        add(seen, SEEN_RUNNING, number, name);
    else if (strcmp(kind, ".left") == 0) {
        seen->idle++;
        seen->is_root_in |= number == seen->root;
    }
}

void doctor_seen_read(doctor_seen *seen, const char *folder, const char *last_name)
{
    char path[PATH_MAX];
    const struct dirent *entry;
    snprintf(seen->folder, sizeof(seen->folder), "%s", folder);
    snprintf(path, sizeof(path), "%s/seen", folder);
    DIR *list = opendir(path);
    while (list && (entry = readdir(list)))
        read_link(seen, dirfd(list), entry->d_name, last_name);
    if (list)
        closedir(list);
    seen->is_known = true;
    /* Each process of a ring has a link of its presence, too, but those of fork(). */
    const unsigned busy = seen->used + seen->of_kind[SEEN_REFUSED];
    seen->idle = seen->idle > busy ? seen->idle - busy : 0;
}

/* A launcher that the library cannot get into is not one of the user's concern where its
 * program was seen. */
bool doctor_seen_is_blind(const doctor_seen *seen, unsigned long long events)
{
    if (!seen->is_known)
        return false;
    return !seen->was_read || seen->is_root_replaced || seen->of_kind[SEEN_REFUSED] > 0 ||
           seen->of_kind[SEEN_DOCTOR] > 0 || seen->of_kind[SEEN_DEAF] > 0 ||
           (events == 0 && (!seen->is_root_in || seen->unseen_count > 0));
}

/* ---- write ---- */

/* The line of one process, or of the program itself with NULL. */
static void describe(const doctor_seen *seen, const seen_process *of, char *out)
{
    const char *in = seen->language;
    gph_buffer line = {.text = out, .bytes = LINE_BYTES};
    static const char cannot[] = "the attached library did not get into it (static, "
                                 "setuid, of another user or architecture, or "
                                 "LD_PRELOAD was cleared)";
    if (!of)
        doctor_say(in, gph_write_buffer, &line, "process %ld, %.200s: %s%s", seen->root,
                   seen->program,
                   seen->is_root_replaced ? "it became another program, and " : "",
                   cannot);
    else if (of->kind == SEEN_REFUSED)
        doctor_say(in, gph_write_buffer, &line,
                   "process %ld used the driver: no room for its ring of events in "
                   "%.255s: %.99s",
                   of->number, seen->folder, strerror(of->code));
    else if (of->kind == SEEN_DOCTOR)
        doctor_say(in, gph_write_buffer, &line,
                   "the program of process %ld, which itself is a gph doctor",
                   of->number);
    else if (of->kind == SEEN_DEAF)
        doctor_say(in, gph_write_buffer, &line,
                   "the calls of process %ld, %.31s, for which LD_PRELOAD was cleared: "
                   "only the driver's log was read",
                   of->number, of->name);
    else if (of->kind == SEEN_RUNNING)
        doctor_say(
            in, gph_write_buffer, &line,
            "what process %ld, %.31s, did later: it outlived the program, and was read "
            "for the time of --grace",
            of->number, of->name);
    else
        doctor_say(in, gph_write_buffer, &line,
                   "process %ld: after %.31s it was killed, or became a program that the "
                   "attached library did not get into",
                   of->number, of->name);
}

void doctor_seen_write(const doctor_seen *seen, FILE *to)
{
    char line[LINE_BYTES];
    const bool is_root_out = seen->is_known && !seen->is_root_in;
    if (is_root_out) {
        describe(seen, NULL, line);
        doctor_say(seen->language, gph_write_file, to, "not seen: %.511s\n", line);
    }
    for (unsigned i = 0; i < seen->unseen_count && i < SEEN_SHOWN; i++) {
        describe(seen, &seen->unseen[i], line);
        doctor_say(seen->language, gph_write_file, to, "not seen: %.511s\n", line);
    }
    if (seen->unseen_count > SEEN_SHOWN)
        doctor_say(seen->language, gph_write_file, to, "not seen: %u more processes\n",
                   seen->unseen_count - SEEN_SHOWN);
    if (seen->small_count > 0)
        doctor_say(seen->language, gph_write_file, to,
                   "seen: through a ring of %llu KiB, not %llu, in %.255s, which has no "
                   "room for "
                   "more: fast events may be lost\n",
                   seen->small_bytes / 1024, seen->small_wanted / 1024, seen->folder);
    if (is_root_out || seen->unseen_count > 0)
        doctor_say(seen->language, gph_write_file, to,
                   "seen: %u process%s that used the driver, %u that did not\n",
                   seen->used, seen->used == 1 ? "" : "es", seen->idle);
}

/* Our own words and names of processes: what JSON escapes, or may not be UTF-8, becomes
 * a question mark. */
static void put_text(const char *text, bool *is_first, FILE *to)
{
    fputs(*is_first ? "\"" : ",\"", to);
    for (size_t bytes; *text != '\0'; text += bytes) {
        bytes = columns_character(text, strlen(text));
        const bool is_bad = bytes == 0 || *text == '"' || *text == '\\' ||
                            columns_control(text, bytes) > 0;
        bytes += bytes == 0;
        fprintf(to, "%.*s", (int)bytes, is_bad ? "?" : text);
    }
    fputc('"', to);
    *is_first = false;
}

void doctor_seen_json(const doctor_seen *seen, FILE *to)
{
    char line[LINE_BYTES];
    bool is_first = true;
    fputc('[', to);
    if (seen->is_known && !seen->is_root_in) {
        describe(seen, NULL, line);
        put_text(line, &is_first, to);
    }
    for (unsigned i = 0; i < seen->unseen_count && i < SEEN_SHOWN; i++) {
        describe(seen, &seen->unseen[i], line);
        put_text(line, &is_first, to);
    }
    fputc(']', to);
}
