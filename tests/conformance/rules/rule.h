// SPDX-License-Identifier: Apache-2.0
/* Tests of rules: RULE_TEST(R45, test) in main() runs a test for a rule of
 * softcuda/rules/, and the log line says so:
 *
 *     ok R45 freeing_twice_is_refused
 *
 * docs/conformance.md is made of such lines alone. With RULE_ONLY=R45 in the environment
 * only the tests of that rule run, with ONE=freeing_twice_is_refused that test alone; with
 * --rules a program lists its rules, with --tests each test after its rule. */
#ifndef CONFORMANCE_RULE_H
#define CONFORMANCE_RULE_H
#include "../driver.h"
#include "softcuda/rules/rules.h"

static bool rule_listing, rule_listing_tests;

#define RULE_TEST(id, test)                                                              \
    do {                                                                                 \
        const enum soft_rule_id rule_ = SOFT_RULE_##id;                                  \
        (void)rule_;                                                                     \
        rule_run(#id, #id " " #test, test);                                              \
    } while (0)

static inline bool rule_wanted(const char *id)
{
    const char *only = getenv("RULE_ONLY");
    return only == NULL || strcmp(only, id) == 0;
}

static inline void rule_run(const char *id, const char *name, void (*test)(void))
{
    if (rule_listing)
        puts(rule_listing_tests ? name : id);
    else if (rule_wanted(id) && test_wanted(strchr(name, ' ') + 1))
        test_run(name, test);
}

/* A whole program: `run` names its tests; device 0's primary context is current. */
static inline int rule_main(int argc, char **argv, void (*run)(void))
{
    rule_listing_tests = argc == 2 && strcmp(argv[1], "--tests") == 0;
    rule_listing = rule_listing_tests || (argc == 2 && strcmp(argv[1], "--rules") == 0);
    if (rule_listing) {
        run();
        return 0;
    }
    setvbuf(stdout, NULL, _IOLBF, 0); /* a crash keeps what was said */
    DEVICE_OR_SKIP();
    int version = 0;
    char name[128] = "";
    OK(cu.cuDriverGetVersion(&version));
    OK(cu.cuDeviceGetName(name, sizeof(name), 0));
    printf("# driver %d.%d on %s\n", version / 1000, version % 1000 / 10, name);
    use_primary();
    run();
    return test_done();
}
#endif
