// SPDX-License-Identifier: Apache-2.0
/* GPH_LOG, clock, version. */
#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "test.h"

static char last_line[256];

static void keep(void *user, gph_log_level level, const char *area, const char *message)
{
    (void)user;
    snprintf(last_line, sizeof(last_line), "%d %s %s", (int)level, area, message);
}

static void the_variable_names_areas_and_levels(void)
{
    CHECK(gphi_log_level_of("", "cuda") == GPH_LOG_WARN);
    CHECK(gphi_log_level_of("cuda:info,exec:debug", "cuda") == GPH_LOG_INFO);
    CHECK(gphi_log_level_of("cuda:info,exec:debug", "exec") == GPH_LOG_DEBUG);
    CHECK(gphi_log_level_of("cuda:info,all:off", "cuda") == GPH_LOG_INFO);
    CHECK(gphi_log_level_of("all:off,cuda:info", "cuda") == GPH_LOG_INFO);
    CHECK(gphi_log_level_of("all:off,cuda:info", "file") == GPH_LOG_OFF);
}

static void what_it_does_not_understand_is_passed_over(void)
{
    const char *const specs[] = {
        "cuda", ",,,", ":", "cuda:", "cuda:loud", ":info", "cud:off"};
    for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++)
        CHECK(gphi_log_level_of(specs[i], "cuda") == GPH_LOG_WARN);
}

static void a_line_goes_to_the_sink_if_its_level_is_on(void)
{
    setenv("GPH_LOG", "cuda:info", 1);
    gph_log_set(keep, NULL);
    gphi_log("cuda", GPH_LOG_DEBUG, "no");
    CHECK(last_line[0] == '\0');
    gphi_log("cuda", GPH_LOG_INFO, "driver %d", 12040);
    CHECK(strcmp(last_line, "3 cuda driver 12040") == 0);
    gphi_log("exec", GPH_LOG_INFO, "no");
    CHECK(strcmp(last_line, "3 cuda driver 12040") == 0);
    gph_log_set(NULL, NULL);
}

static void the_clock_never_goes_back(void)
{
    const uint64_t first = gphi_clock_ns();
    CHECK(gphi_clock_ns() >= first);
    CHECK(gphi_thread_id() != 0);
}

static void the_version_is_that_of_the_headers(void)
{
    char text[32];
    snprintf(text, sizeof(text), "%d.%d.%d", GPH_VERSION_MAJOR, GPH_VERSION_MINOR,
             GPH_VERSION_PATCH);
    CHECK(strcmp(gph_version_text(), text) == 0);
    CHECK(gph_version() == GPH_VERSION_MINOR * 100u + GPH_VERSION_PATCH);
}

int main(void)
{
    RUN(the_variable_names_areas_and_levels);
    RUN(what_it_does_not_understand_is_passed_over);
    RUN(a_line_goes_to_the_sink_if_its_level_is_on);
    RUN(the_clock_never_goes_back);
    RUN(the_version_is_that_of_the_headers);
    return test_done();
}
