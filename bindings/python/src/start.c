// SPDX-License-Identifier: Apache-2.0
/* The `gph` that pip puts beside `python`: runs the command of the package graphophone.
 *
 *   PREFIX/bin/gph                                          this file
 *   PREFIX/lib/pythonX.Y/site-packages/
 *       graphophone-VERSION.dist-info                       says that it is our version
 *       graphophone/bin/gph  ../lib/libgph.so.0             the command, and what it loads
 *
 * It cannot be the command itself: how its libraries lie from here depends on the Python. As
 * a program it starts in a millisecond, not in Python's twenty, and the environment may be
 * moved: nothing in it names a folder. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_NOT_EXECUTABLE = 126 };

/* The program in `packages`, where our version of the package is installed. */
static bool find_in(char *out, size_t bytes, const char *packages)
{
    char mark[PATH_MAX + 64];
    snprintf(mark, sizeof(mark), "%s/graphophone-" GPH_PACKAGE_VERSION ".dist-info",
             packages);
    const int length = snprintf(out, bytes, "%s/graphophone/bin/gph", packages);
    return length < (int)bytes && access(mark, F_OK) == 0 && access(out, X_OK) == 0;
}

/* lib/pythonX.Y/site-packages of every Python of a prefix; dist-packages in Debian's. */
static bool find_below(char *out, size_t bytes, const char *library)
{
    bool is_found = false;
    DIR *folder = opendir(library);
    if (!folder)
        return false;
    for (struct dirent *entry = readdir(folder); entry && !is_found;
         entry = readdir(folder)) {
        char packages[PATH_MAX];
        if (strncmp(entry->d_name, "python", 6) != 0)
            continue;
        for (int i = 0; i < 2 && !is_found; i++)
            is_found =
                snprintf(packages, sizeof(packages), "%s/%s/%s", library, entry->d_name,
                         i == 0 ? "site-packages" : "dist-packages") <
                    (int)sizeof(packages) &&
                find_in(out, bytes, packages);
    }
    closedir(folder);
    return is_found;
}

/* Where pip puts packages, seen from the folder of its programs; `pip --target` and
 * `--home` put them into the last two. */
static bool find_command(char *out, size_t bytes, const char *bin)
{
    static const char *const libraries[] = {"lib", "lib64", "local/lib"};
    static const char *const packages[] = {"..", "../lib/python"};
    char path[PATH_MAX + 32];
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        snprintf(path, sizeof(path), "%s/../%s", bin, libraries[i]);
        if (find_below(out, bytes, path))
            return true;
    }
    for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", bin, packages[i]);
        if (find_in(out, bytes, path))
            return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    (void)argc;
    char bin[PATH_MAX] = "", command[PATH_MAX];
    /* the file itself, where a link of pipx or of a user led here */
    if (readlink("/proc/self/exe", bin, sizeof(bin) - 1) < 0 || !strrchr(bin, '/')) {
        fprintf(stderr, "gph: /proc/self/exe: %s\n", strerror(errno));
        return EXIT_NOT_EXECUTABLE;
    }
    *strrchr(bin, '/') = '\0';
    if (!find_command(command, sizeof(command), bin)) {
        fprintf(
            stderr,
            "gph: the package graphophone " GPH_PACKAGE_VERSION
            " is not in a site-packages that belongs to %s: install it again with the "
            "pip of that Python\n",
            bin);
        return EXIT_NOT_EXECUTABLE;
    }
    execv(command, argv);
    fprintf(stderr, "gph: %s: %s\n", command, strerror(errno));
    return EXIT_NOT_EXECUTABLE;
}
