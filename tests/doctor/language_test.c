// SPDX-License-Identifier: Apache-2.0
/* Sentences in Chinese: their table can be searched, their values arrive whatever their
 * sort and order, and texts of the program stay as they are. */
#include "doctor/language/language.h"
#include "doctor/rules/replay/rules_replay.h"
#include "test.h"

#include <gph/doctor.h>
#include <gph/explain.h>

static char out[512];

static const char *GPH_PRINTF(1, 2) say(const char *format, ...)
{
    gphi_text text;
    va_list values;
    gphi_text_fix(&text, out, sizeof(out));
    va_start(values, format);
    gphi_text_sayv(&text, format, values);
    va_end(values);
    return out;
}

static void test_rows_are_sorted(void)
{
    size_t count = 0;
    const gphi_translation *rows = gphi_translations(&count);
    CHECK(count > 100);
    gphi_language_use(GPH_EXPLAIN_CHINESE);
    for (size_t i = 0; i < count; i++) {
        CHECK(i == 0 || strcmp(rows[i - 1].english, rows[i].english) < 0);
        CHECK(strcmp(gphi_language_of(rows[i].english), rows[i].chinese) == 0);
    }
    gphi_language_use(GPH_EXPLAIN_ENGLISH);
    CHECK(strcmp(gphi_language_of(rows[0].english), rows[0].english) == 0);
}

/* A sentence that no row has is written as printf() does, in either language. */
static void test_values_of_all_sorts(void)
{
    char want[512];
    for (uint32_t language = 0; language < GPH_EXPLAIN_LANGUAGES; language++) {
        gphi_language_use(language);
#define SAME(...)                                                                        \
    (snprintf(want, sizeof(want), __VA_ARGS__), CHECK(!strcmp(say(__VA_ARGS__), want)))
        SAME("%d|%5i|%-5d|%+d|%ld|%lld|%hhd", -1, 2, 3, 4, -5L, -6LL, 7);
        SAME("%u|%x|%#llx|%lx|%zu|%hu|%03u|%X", 4000000000U, 0xfffffff0U, 1ULL << 60,
             0xffffffffffffffffUL, (size_t)9, 65535, 7U, 0xabU);
        SAME("%.1f|%8.3f|%.4g|%e|%.0f", 1.25, -2.5, 1e9, 0.5, 99.5);
        SAME("%s|%.3s|%10s|%-10s|%c|%%|100 %%", "foreign text", "kernels", "right",
             "left", 'c');
        SAME("%p|%*d|%.*s", (void *)want, 7, 5, 2, "abc"); /* not read: as English */
        SAME("%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4,
             5, 6, 7, 8);
        SAME("no value at all");
    }
}

static void test_order_and_values_left_out(void)
{
    gphi_language_use(GPH_EXPLAIN_CHINESE);
    /* "%3$s的%2$s流的%1$s模式捕获", and values that are keys themselves */
    CHECK(strcmp(say("the %s capture of a %s stream by %s", "global", "blocking", "T"),
                 "T的阻塞流的全局模式捕获") == 0);
    CHECK(strcmp(say("%llu %s%s", 3ULL, "node", "s"), "3 个节点") == 0);
    gphi_language_use(GPH_EXPLAIN_ENGLISH);
    CHECK(strcmp(say("%llu %s%s", 3ULL, "node", "s"), "3 nodes") == 0);
}

/* Chinese counts with a word between number and thing, another one for each sort. */
static void test_counts_have_measure_words(void)
{
    gphi_language_use(GPH_EXPLAIN_CHINESE);
    CHECK(strcmp(say("%llu graphs", 24ULL), "24 张图") == 0);
    CHECK(strcmp(say("%llu streams", 2ULL), "2 个流") == 0);
    CHECK(strcmp(say("%llu device allocations", 3ULL), "3 项设备内存分配") == 0);
    gphi_language_use(GPH_EXPLAIN_ENGLISH);
}

static void test_texts_of_the_program_stay(void)
{
    gphi_language_use(GPH_EXPLAIN_CHINESE);
    CHECK(strcmp(say("[%s] [%.99s]", "global", "global"), "[全局] [global]") == 0);
    CHECK(strcmp(say("[%-8s] [%8s]", "global", "global"), "[全局    ] [    全局]") == 0);
    gphi_language_use(GPH_EXPLAIN_ENGLISH);
}

static gph_status take(void *user, const void *bytes, size_t count)
{
    gphi_text_put_bytes(user, bytes, count);
    return GPH_OK;
}

static void test_sentences_of_others(void)
{
    static const char *const names[] = {"zh", "en", NULL};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        gphi_text text;
        gphi_text_fix(&text, out, sizeof(out));
        CHECK(gph_doctor_say(names[i], take, &text, "thread %u", 7U) == GPH_OK);
        CHECK(strcmp(out, i == 0 ? "线程 7" : "thread 7") == 0);
    }
}

/* An argument of 4 bytes has no type: what would be a tiny float is a whole number. */
static void test_whole_numbers_are_no_floats(void)
{
    gphi_language_use(GPH_EXPLAIN_ENGLISH);
    CHECK(strcmp(gphi_say_number(16777216, 4), "16777216") == 0);
    CHECK(strcmp(gphi_say_number(500000000, 4), "500000000") == 0);
    CHECK(strcmp(gphi_say_number(0, 4), "0") == 0);
    CHECK(strcmp(gphi_say_number(UINT32_MAX, 4), "4294967295") == 0);
    CHECK(strcmp(gphi_say_number(0x3f800000, 4), "1") == 0);
    CHECK(strcmp(gphi_say_number(0xbe800000, 4), "-0.25") == 0);
    CHECK(strcmp(gphi_say_number(16777216, 8), "16777216") == 0);
}

int main(void)
{
    RUN(test_rows_are_sorted);
    RUN(test_values_of_all_sorts);
    RUN(test_order_and_values_left_out);
    RUN(test_counts_have_measure_words);
    RUN(test_texts_of_the_program_stay);
    RUN(test_sentences_of_others);
    RUN(test_whole_numbers_are_no_floats);
    return test_done();
}
