// SPDX-License-Identifier: Apache-2.0
/* Tests of recipes that another process loads: the same program, started once more as
 *
 *   PROGRAM FILE BASE     loads FILE, with memory at BASE (0: as recorded) */
#ifndef RECIPE_CHILD_H
#define RECIPE_CHILD_H
#include "recipe_work.h"

#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/recipe-test-XXXXXX";
static char file[64]; /* in it */
static gph_module *module;

/* The other process' status, or its signal below 0. */
static inline int run_other(CUdeviceptr base)
{
    char address[32];
    snprintf(address, sizeof(address), "%llx", (unsigned long long)base);
    const pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "recipe_test", file, address, (char *)NULL);
        _exit(99);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* What main() does: `load` in the other process, whose status it gives; `tests` in the
 * first, with a folder for the file. */
static inline int recipe_main(int argc, char **argv, const gph_allocator *allocator,
                              int (*load)(const char *path, CUdeviceptr base),
                              void (*tests)(void))
{
    if (!work_begin(allocator))
        return 77;
    CHECK_OK(gph_module_load(runtime, work_ptx, strlen(work_ptx), &module, &error),
             error);
    CHECK_OK(gph_module_function(module, "axpy", &axpy, &error), error);
    int code = 0;
    if (argc == 3) {
        code = load(argv[1], strtoull(argv[2], NULL, 16));
    } else if (mkdtemp(folder) != NULL) {
        snprintf(file, sizeof(file), "%s/recipe.gphr", folder);
        tests();
        unlink(file);
        rmdir(folder);
        code = test_done();
    }
    gph_module_unload(module);
    work_end();
    return code;
}
#endif
