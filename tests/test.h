// SPDX-License-Identifier: Apache-2.0
/* The whole test harness. A test file lists its tests in main() and is one process.
 * CHECK() counts a failure and goes on, from any thread; SKIP() leaves the test. With ONE
 * in the environment only the test of that name runs. */
#ifndef TEST_H
#define TEST_H
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_int test_failures; /* of the running test */
static int test_passed, test_failed, test_skipped;
static const char *test_skip_reason;

#define CHECK(cond)                                                                      \
    ((cond) ? 1                                                                          \
            : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond),                \
               atomic_fetch_add(&test_failures, 1), 0))
#define CHECK_OK(expr, error)                                                            \
    ((expr) == 0 ? 1                                                                     \
                 : (fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #expr,        \
                            (error).message),                                            \
                    atomic_fetch_add(&test_failures, 1), 0))
#define SKIP(reason)                                                                     \
    do {                                                                                 \
        test_skip_reason = (reason);                                                     \
        return;                                                                          \
    } while (0)
#define RUN(test) test_run(#test, test)

static void test_run(const char *name, void (*test)(void))
{
    const char *only = getenv("ONE"), *last = strrchr(name, ' '); /* after its rule */
    if (only && strcmp(only, last ? last + 1 : name) != 0)
        return;
    atomic_store(&test_failures, 0);
    test_skip_reason = NULL;
    test();
    const int failures = atomic_load(&test_failures);
    if (failures)
        test_failed++;
    else if (test_skip_reason)
        test_skipped++;
    else
        test_passed++;
    printf("%s %s%s%s\n", failures ? "not ok" : "ok", name,
           test_skip_reason ? " # SKIP " : "", test_skip_reason ? test_skip_reason : "");
    fflush(stdout); /* a test that hangs is the one after the last that is printed */
}

static int test_done(void)
{
    printf("%d passed, %d failed, %d skipped\n", test_passed, test_failed, test_skipped);
    if (test_failed)
        return 1;
    return test_passed ? 0 : 77; /* 77: ctest's SKIP_RETURN_CODE */
}
#endif
