// SPDX-License-Identifier: Apache-2.0
/* Files that are there whole or as they were; what is not a plain file stays what it is. */
#define _GNU_SOURCE
#include "base/limit.h"
#include "base/save.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/gph-save-XXXXXX";
static gph_error error;

static const char *in_folder(const char *name)
{
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

static gph_status fill_text(void *text, gphi_save *save)
{
    return gphi_save_write(save, text, strlen(text));
}

static gph_status save_text(const char *path, const char *text)
{
    return gphi_save_file(path, fill_text, (void *)(uintptr_t)text, &error);
}

static void check_text(const char *path, const char *text)
{
    char found[64] = {0};
    const int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && read(fd, found, sizeof(found) - 1) == (ssize_t)strlen(text));
    CHECK(strcmp(found, text) == 0);
    close(fd);
}

static void a_link_stays_a_link(void)
{
    struct stat about;
    const char *file = in_folder("file"), *link = in_folder("link");
    CHECK_OK(save_text(file, "old"), error);
    CHECK(chmod(file, 0640) == 0 && symlink("file", link) == 0);
    CHECK_OK(save_text(link, "new"), error);
    CHECK(lstat(link, &about) == 0 && S_ISLNK(about.st_mode));
    check_text(file, "new");
    CHECK(stat(file, &about) == 0 && (about.st_mode & 07777) == 0640);
}

static void *read_fifo(void *path)
{
    check_text(path, "through");
    return NULL;
}

static void a_fifo_and_a_device_are_written_through(void)
{
    struct stat about;
    pthread_t reader;
    const char *fifo = in_folder("fifo");
    CHECK(mkfifo(fifo, 0600) == 0);
    CHECK(pthread_create(&reader, NULL, read_fifo, (void *)(uintptr_t)fifo) == 0);
    CHECK_OK(save_text(fifo, "through"), error);
    pthread_join(reader, NULL);
    CHECK(stat(fifo, &about) == 0 && S_ISFIFO(about.st_mode));
    CHECK_OK(save_text("/dev/null", "nothing"), error);
    CHECK(stat("/dev/null", &about) == 0 && S_ISCHR(about.st_mode));
    CHECK(save_text("/dev/full", "x") == GPH_E_IO && strstr(error.message, "/dev/full"));
}

static void a_private_file_is_the_owners_alone(void)
{
    struct stat about;
    gphi_save save;
    const char *path = in_folder("private");
    CHECK_OK(save_text(path, "old"), error);
    CHECK_OK(gphi_save_begin(&save, path, GPHI_SAVE_PRIVATE, &error), error);
    CHECK_OK(gphi_save_write(&save, "secret", 6), error);
    CHECK_OK(gphi_save_end(&save, true), error);
    CHECK(stat(path, &about) == 0 && (about.st_mode & 07777) == 0600);
    check_text(path, "secret");
}

static void what_is_not_kept_changes_nothing(void)
{
    gphi_save save;
    const char *path = in_folder("kept");
    CHECK_OK(save_text(path, "old"), error);
    CHECK_OK(gphi_save_begin(&save, path, GPHI_SAVE_SHARED, &error), error);
    CHECK_OK(gphi_save_write(&save, "new", 3), error);
    CHECK(access(save.fresh, F_OK) == 0);
    CHECK_OK(gphi_save_end(&save, false), error);
    CHECK(access(save.fresh, F_OK) != 0);
    check_text(path, "old");
    CHECK(save_text(in_folder("no/such/folder"), "x") == GPH_E_IO);
    CHECK(save_text(NULL, "x") == GPH_E_INVALID);
}

static volatile sig_atomic_t signals;

static void count(int number)
{
    (void)number;
    signals++;
}

static void a_limit_on_files_is_an_error_not_a_signal(void)
{
    static char large[8192];
    const struct rlimit small = {4096, RLIM_INFINITY},
                        none = {RLIM_INFINITY, RLIM_INFINITY};
    struct rlimit before;
    struct sigaction own = {.sa_handler = count};
    const char *path = in_folder("limited");
    CHECK_OK(save_text(path, "old"), error);
    CHECK(sigaction(SIGXFSZ, &own, NULL) == 0);
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0 && setrlimit(RLIMIT_FSIZE, &small) == 0);
    memset(large, 'x', sizeof(large) - 1);
    CHECK(save_text(path, large) == GPH_E_IO && strstr(error.message, "limited"));
    CHECK(!gphi_limit_allows(8192) && gphi_limit_allows(4096));
    const int fd = open(in_folder("room"), O_RDWR | O_CREAT, 0600);
    CHECK(gphi_limit_allocate(fd, 8192) == EFBIG);
    errno = 0;
    CHECK(!gphi_limit_write_at(fd, large, 4096, 4096) && errno == EFBIG);
    CHECK(signals == 0);
    CHECK(setrlimit(RLIMIT_FSIZE, before.rlim_max == RLIM_INFINITY ? &none : &before) ==
          0);
    CHECK(gphi_limit_write_at(fd, large, 4096, 4096));
    close(fd);
    check_text(path, "old");
}

int main(void)
{
    if (mkdtemp(folder) == NULL)
        return 77;
    RUN(a_link_stays_a_link);
    RUN(a_fifo_and_a_device_are_written_through);
    RUN(a_private_file_is_the_owners_alone);
    RUN(what_is_not_kept_changes_nothing);
    RUN(a_limit_on_files_is_an_error_not_a_signal);
    char command[64];
    snprintf(command, sizeof(command), "rm -r %s", folder);
    CHECK(system(command) == 0);
    return test_done();
}
