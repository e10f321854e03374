// SPDX-License-Identifier: Apache-2.0
/* Messages, drivers, streams and rows: below all commands.
 *
 * Failures go to standard error as `gph: what happened`, in libgph's own words, and what to
 * try on a line of its own. */
#define _GNU_SOURCE
#include "output.h"
#include "columns.h"
#include "option.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* More than any file that the commands read. */
static const size_t COPY_BYTES_MAX = (size_t)1 << 30;

/* Where a copy in memory has its name. */
#define COPY_FOLDER "/proc/self/fd/"

static int put_hint(const gph_error *error)
{
    if (error->hint[0] != '\0') {
        fputs("hint: ", stderr);
        columns_fold(error->hint, 2, 6, stderr);
    }
    return EXIT_FAILED;
}

void put_text(FILE *to, const char *text)
{
    for (size_t bytes, left = strlen(text); left > 0; text += bytes, left -= bytes) {
        const size_t control = columns_control(text, left);
        bytes = control > 0 ? control : 1;
        if (control == 0)
            fputc(*text, to);
        else if (control == 3)
            fputs("\\u2028", to); /* or one of its kind */
        else
            fprintf(to, "\\x%02x", (unsigned char)text[control - 1]);
    }
}

static int put_message(const char *name, const gph_error *error)
{
    fputs("gph: ", stderr);
    if (name) {
        put_text(stderr, name);
        fputs(": ", stderr);
    }
    put_text(stderr, error->message);
    fputc('\n', stderr);
    return put_hint(error);
}

int fail(const gph_error *error)
{
    return put_message(NULL, error);
}

/* Whether it is said already, as "NAME: ..." or "cannot open NAME": of a path libgph says at
 * most 300 bytes. */
static bool names_file(const char *message, const char *name)
{
    char shown[301];
    const int bytes = snprintf(shown, sizeof(shown), "%s", name);
    for (char *at = shown; *at != '\0';) { /* as libgph's messages have it */
        const size_t control = columns_control(at, strlen(at));
        memset(at, '?', control);
        at += control > 0 ? control : 1;
    }
    const char *what =
        strncmp(message, "cannot ", 7) == 0 ? strchr(message + 7, ' ') : NULL;
    what = what ? what + 1 : message;
    return strncmp(what, shown, bytes < 300 ? (size_t)bytes : 300) == 0;
}

int fail_file(const char *path, const gph_error *error)
{
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    const char *copy = strstr(error->message, COPY_FOLDER);
    if (copy) { /* what was copied has a name that the user never saw */
        const char *rest = copy + strlen(COPY_FOLDER);
        rest += strspn(rest, "0123456789");
        gph_error shown = *error;
        snprintf(shown.message, sizeof(shown.message), "%.*s%s%s",
                 (int)(copy - error->message), error->message, name, rest);
        return put_message(NULL, &shown);
    }
    return put_message(names_file(error->message, name) ? NULL : name, error);
}

const char *driver_name(gph_driver driver)
{
    switch (driver) {
    case GPH_DRIVER_AUTO: return "auto";
    case GPH_DRIVER_CUDA: return "cuda";
    case GPH_DRIVER_SOFT: return "soft";
    case GPH_DRIVER_DEFAULT: break;
    }
    return "default";
}

static bool find_driver(const char *word, gph_driver *out)
{
    for (gph_driver at = GPH_DRIVER_AUTO; at <= GPH_DRIVER_SOFT; at++)
        if (strcmp(word, driver_name(at)) == 0) {
            *out = at;
            return true;
        }
    return false;
}

bool driver_parse(const char *word, gph_driver *out)
{
    const char *variable = getenv("GPH_DRIVER");
    const bool is_set = variable && variable[0] != '\0';
    /* gph_open() alone would take NVIDIA's: a command also serves who has no GPU. */
    *out = GPH_DRIVER_AUTO;
    if (find_driver(word ? word : is_set ? variable : "auto", out)) {
        if (!word && is_set)
            *out = GPH_DRIVER_DEFAULT; /* what gph_open() says of its origin stays true */
        return true;
    }
    char text[192];
    if (word)
        snprintf(text, sizeof(text), "gph: --driver %.64s is not one of auto, cuda, soft",
                 word);
    else
        snprintf(text, sizeof(text),
                 "gph: GPH_DRIVER is \"%.64s\": one of auto, cuda, soft is needed",
                 variable);
    put_text(stderr, text);
    fputc('\n', stderr);
    return false;
}

gph_runtime *driver_open(gph_driver driver)
{
    gph_options options = GPH_OPTIONS_INIT;
    options.driver = driver;
    gph_runtime *runtime = NULL;
    gph_error error = {0};
    if (gph_open(&options, &runtime, &error) == GPH_OK)
        return runtime;
    fail(&error);
    return NULL;
}

/* Twice the room each time: pipes do not say how much there is. */
char *read_stream(FILE *from, size_t most, size_t *bytes)
{
    char *text = NULL;
    size_t room = 0;
    *bytes = 0;
    do {
        room = room > 0 ? room * 2 : 65536;
        room = room < most ? room : most;
        char *more = realloc(text, room);
        if (!more)
            goto failed;
        text = more;
        *bytes += fread(text + *bytes, 1, room - *bytes, from);
    } while (*bytes == room && room < most);
    if (!ferror(from))
        return text;
failed:
    free(text);
    return NULL;
}

char *read_file(const char *path, size_t most, size_t *bytes)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    struct stat info;
    const bool is_large = file && fstat(fileno(file), &info) == 0 &&
                          S_ISREG(info.st_mode) && (uint64_t)info.st_size >= most;
    *bytes = is_large ? most : 0;
    errno = is_large ? EFBIG : errno;
    char *text = file && !is_large ? read_stream(file, most, bytes) : NULL;
    if (!text || *bytes == most) {
        const int code = text ? EFBIG : errno;
        fputs("gph: cannot read ", stderr);
        put_text(stderr, path);
        fprintf(stderr, ": %s\n", strerror(code));
        free(text);
        text = NULL;
    }
    if (file && file != stdin)
        fclose(file);
    return text;
}

static int copy_into_memory(const char *path)
{
    size_t bytes = 0;
    char *text = read_file(path, COPY_BYTES_MAX, &bytes);
    if (!text)
        return -1;
    int fd = memfd_create("gph-input", MFD_CLOEXEC);
    for (size_t at = 0; fd >= 0 && at < bytes;) {
        const ssize_t done = write(fd, text + at, bytes - at);
        if (done < 0) {
            close(fd);
            fd = -1;
        } else {
            at += (size_t)done;
        }
    }
    if (fd < 0)
        fprintf(stderr, "gph: cannot keep %s: %s\n", path, strerror(errno));
    free(text);
    return fd;
}

bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    if (!a || !b || strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
        return false;
    const bool is_first = stat(a, &first) == 0, is_second = stat(b, &second) == 0;
    if (!is_first || !is_second)
        return !is_first && !is_second && strcmp(a, b) == 0;
    return S_ISREG(first.st_mode) && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* What cannot be opened is left to its reader, who says so in its own words. */
bool input_open(const char *path, input *out)
{
    struct stat info;
    *out = (input){.path = path, .copy = -1};
    if (strcmp(path, "-") != 0 && (stat(path, &info) != 0 || !S_ISFIFO(info.st_mode)))
        return true;
    out->copy = copy_into_memory(path);
    snprintf(out->name, sizeof(out->name), COPY_FOLDER "%d", out->copy);
    out->path = out->name;
    return out->copy >= 0;
}

void input_close(input *in)
{
    if (in->copy >= 0)
        close(in->copy);
}

/* Opened the wrong way round, so that to use it fails as if it were closed; and closed it
 * is for programs that are started. */
void output_begin(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF &&
            open("/dev/null", O_CLOEXEC | (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY)) !=
                fd)
            _exit(EXIT_FAILED); /* and nobody to say it to */
    /* What the commands print fits into it, so that the write that fails is the last one,
     * whose reason is known. */
    static char buffer[1 << 16];
    if (!isatty(STDOUT_FILENO))
        setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
}

/* A write that failed before leaves only the stream's mark. */
bool output_end(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    fprintf(stderr, "gph: cannot write standard output: %s\n",
            strerror(errno != 0 ? errno : EIO));
    clearerr(stdout);
    return false;
}

bool has_terminal(void)
{
    const char *name = getenv("TERM");
    return isatty(STDERR_FILENO) && name && name[0] != '\0' && strcmp(name, "dumb") != 0;
}

void put_row(FILE *to, const char *left, const char *format, ...)
{
    char *right = NULL;
    va_list args;
    va_start(args, format);
    const int bytes = vasprintf(&right, format, args);
    va_end(args);
    fprintf(to, "%-28s ", left);
    columns_fold(bytes >= 0 ? right : "", 31, 29, to);
    if (bytes >= 0)
        free(right);
}

const char *bytes_text(double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    static char text[400]; /* any double in whole */
    double value = bytes;
    size_t unit = 0;
    for (; value >= 1024 && unit < 6; unit++)
        value /= 1024;
    snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return text;
}

/* A file is made beside its name and then renamed, so its folder counts; a device is opened. */
bool output_can_be(const char *path)
{
    struct stat there;
    char folder[PATH_MAX] = ".";
    const bool is_there = stat(path, &there) == 0;
    const char *asked = is_there && !S_ISREG(there.st_mode) ? path : folder;
    const char *slash = strrchr(path, '/');
    if (slash)
        snprintf(folder, sizeof(folder), "%.*s", slash == path ? 1 : (int)(slash - path),
                 path);
    if (!(is_there && S_ISDIR(there.st_mode)) && access(asked, W_OK) == 0)
        return true;
    fprintf(stderr, "gph: cannot write %s: %s\n", path,
            strerror(is_there && S_ISDIR(there.st_mode) ? EISDIR : errno));
    return false;
}

/* As every program finds its language. */
const char *locale_language(void)
{
    static const char *const names[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);
        if (value && value[0] != '\0')
            return strncmp(value, "zh", 2) == 0 ? "zh" : "en";
    }
    return "en";
}
