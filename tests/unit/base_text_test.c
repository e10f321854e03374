// SPDX-License-Identifier: Apache-2.0
/* Texts, JSON texts and hashes of the base. */
#include "base/hash.h"
#include "base/json.h"
#include "base/plain.h"
#include "base/vec.h"
#include "fault.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

/* Collects what is streamed; fails from the `fail_at`-th call on. */
typedef struct sink {
    char bytes[4096];
    size_t length;
    int calls, fail_at;
} sink;

static gph_status collect(void *user, const void *data, size_t bytes)
{
    sink *to = user;
    if (++to->calls == to->fail_at)
        return GPH_E_IO;
    CHECK(to->length + bytes < sizeof(to->bytes));
    memcpy(to->bytes + to->length, data, bytes);
    to->length += bytes;
    return GPH_OK;
}

static void add_pieces(gphi_text *text)
{
    gphi_text_put(text, "one ");
    gphi_text_add(text, "%d %s ", 2, "three");
    for (int i = 0; i < 100; i++)
        gphi_text_add(text, "%d,", i);
    gphi_text_add(text, "%-60s|", "wider than the stream's buffer");
    gphi_text_put_bytes(text, "end", 3);
}

static void a_text_is_the_same_whether_it_grows_or_streams(void)
{
    gphi_text grown = {0};
    add_pieces(&grown);
    CHECK(gphi_text_end(&grown, NULL) == GPH_OK);
    CHECK(strlen(grown.bytes) == grown.length);
    for (size_t room = 1; room < 70; room++) {
        char buffer[70];
        sink to = {.length = 0};
        gphi_text text;
        gphi_text_stream(&text, buffer, room, collect, &to);
        add_pieces(&text);
        CHECK(gphi_text_end(&text, NULL) == GPH_OK);
        CHECK(to.length == grown.length && memcmp(to.bytes, grown.bytes, to.length) == 0);
    }
    for (size_t room = 1; room < 400; room++) {
        char buffer[400];
        gphi_text text;
        gphi_text_fix(&text, buffer, room);
        add_pieces(&text);
        const size_t most = room - 1 < grown.length ? room - 1 : grown.length;
        CHECK(text.length == most && strncmp(buffer, grown.bytes, most) == 0);
        CHECK(buffer[most] == '\0');
    }
    gphi_text_fini(&grown);
}

/* What printf writes, for each kind of value that is written without it. */
static void values_are_written_as_by_printf(void)
{
    static const long long numbers[] = {
        0, 1, -1, 9, 10, -10, INT32_MAX, INT32_MIN, UINT32_MAX, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        char want[256];
        gphi_text text = {0};
        const long long n = numbers[i];
        static const char format[] = "%% %d|%u|%lld|%llu|%c|%s|%s%%";
        snprintf(want, sizeof(want), format, (int)n, (unsigned)n, n,
                 (unsigned long long)n, 'x', "", "text");
        gphi_text_add(&text, format, (int)n, (unsigned)n, n, (unsigned long long)n, 'x',
                      "", "text");
        CHECK(gphi_text_end(&text, NULL) == GPH_OK && strcmp(text.bytes, want) == 0);
        gphi_text_fini(&text);
        snprintf(want, sizeof(want), "%u %05u %lld", (unsigned)n, (unsigned)n, n);
        gphi_text_add(&text, "%u %05u %lld", (unsigned)n, (unsigned)n, n);
        CHECK(strcmp(text.bytes, want) == 0);
        gphi_text_fini(&text);
    }
}

static void the_first_failure_sticks(void)
{
    char buffer[16];
    gph_error error = {0};
    sink to = {.fail_at = 3};
    gphi_text text;
    gphi_text_stream(&text, buffer, sizeof(buffer), collect, &to);
    add_pieces(&text);
    CHECK(gphi_text_end(&text, &error) == GPH_E_IO && to.calls == 3);
    CHECK(error.code == GPH_E_IO && strstr(error.message, "-6") != NULL);
}

static void survives_every_failed_allocation(void)
{
    for (long nth = 0;; nth++) {
        fault_heap heap = {.fail_at = nth};
        gphi_text text;
        gphi_text_init(&text, (gph_allocator){fault_realloc, &heap});
        add_pieces(&text);
        const gph_status status = gphi_text_end(&text, NULL);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        gphi_text_fini(&text);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (status == GPH_OK)
            return;
    }
}

static void what_is_taken_is_a_text(void)
{
    gphi_text text = {0};
    char *empty = gphi_text_take(&text);
    CHECK(empty != NULL && empty[0] == '\0');
    free(empty);
    gphi_text_put(&text, "again");
    char *again = gphi_text_take(&text);
    CHECK(again != NULL && strcmp(again, "again") == 0);
    free(again);
}

static void json_is_utf8_whatever_the_bytes(void)
{
    static const struct {
        const char *value, *json;
    } all[] = {
        {"b\xff.c", "\"b\xef\xbf\xbd.c\""},
        {"\"\\\n\x7f", "\"\\\"\\\\\\u000a\\u007f\""},
        {"\xc3\xa4 \xe4\xbd\xa0 \xf0\x9f\x98\x80",
         "\"\xc3\xa4 \xe4\xbd\xa0 \xf0\x9f\x98\x80\""},
        {"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                 /* overlong */
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* a surrogate */
        {"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"cut \xe4\xbd", "\"cut \xef\xbf\xbd\xef\xbf\xbd\""},
        {NULL, "null"},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        gphi_text text = {0};
        gphi_json_text(&text, all[i].value);
        CHECK(strcmp(text.bytes, all[i].json) == 0);
        gphi_text_fini(&text);
    }
    static const char *const words[] = {"a", "b\"c"};
    gphi_text text = {0};
    gphi_json_member(&text, "name", "x");
    gphi_json_number(&text, "n", UINT64_MAX);
    gphi_json_list(&text, "words", words, 2);
    CHECK(strcmp(text.bytes, ",\"name\":\"x\",\"n\":18446744073709551615,"
                             "\"words\":[\"a\",\"b\\\"c\"]") == 0);
    gphi_text_fini(&text);
}

static void hashes_depend_on_every_byte(void)
{
    unsigned char bytes[64] = {0};
    const uint64_t zero = gphi_hash_bytes(GPHI_HASH_START, bytes, sizeof(bytes));
    for (size_t bit = 0; bit < 8 * sizeof(bytes); bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        CHECK(gphi_hash_bytes(GPHI_HASH_START, bytes, sizeof(bytes)) != zero);
        bytes[bit / 8] = 0;
    }
    for (size_t count = 0; count < sizeof(bytes); count++)
        CHECK(gphi_hash_bytes(GPHI_HASH_START, bytes, count) != zero);
    CHECK(gphi_hash_text(GPHI_HASH_START, NULL) == gphi_hash_text(GPHI_HASH_START, ""));
    /* the published value of FNV-1a of "foobar" */
    CHECK(gphi_hash_fnv(GPHI_HASH_FNV_START, "foobar", 6) ==
          UINT64_C(0x85944171f73967e8));
}

static void an_array_by_hand_grows_as_it_is_asked(void)
{
    fault_heap counted = {.fail_at = -1};
    const gph_allocator seam = {fault_realloc, &counted};
    uint32_t capacity = 0;
    uint64_t *items = NULL;
    for (uint32_t count = 1; count < 100; count++) {
        uint64_t *grown = gphi_array_room(seam, items, &capacity, count, sizeof(*items));
        CHECK(grown != NULL && capacity >= count);
        items = grown;
        items[count - 1] = count;
    }
    CHECK(items[0] == 1 && items[98] == 99);
    CHECK(gphi_array_room(seam, items, &capacity, SIZE_MAX / 4, sizeof(*items)) == NULL);
    seam.realloc(seam.user, items, capacity * sizeof(*items), 0);
    gphi_vec vec;
    gphi_vec_init(&vec, seam, 8);
    CHECK(gphi_vec_add(&vec, 0) != NULL && vec.count == 0);
    gphi_vec_fini(&vec);
    CHECK(atomic_load(&counted.live_bytes) == 0);
}

/* Written whole, and byte by byte: a piece may end within a sequence. */
static void plain_is(const char *text, bool has_colours, const char *wanted)
{
    const size_t steps[] = {1, strlen(text)};
    for (int i = 0; i < 2; i++) {
        const size_t step = steps[i];
        sink to = {.length = 0};
        gphi_plain plain = {.write = collect, .user = &to, .has_colours = has_colours};
        for (size_t at = 0; at < strlen(text); at += step)
            CHECK(gphi_plain_write(&plain, text + at, step) == GPH_OK);
        CHECK(to.length == strlen(wanted) && memcmp(to.bytes, wanted, to.length) == 0);
    }
}

static void a_terminal_is_not_steered(void)
{
    plain_is("kernel a, 3 x\n\tb\n", false, "kernel a, 3 x\n\tb\n");
    plain_is("a\033[2Jb\007\r\177\n", false, "a?[2Jb???\n");
    plain_is("a\302\233b\302\265c\302\n", true, "a?b\302\265c\302\n");
    plain_is("\033[1;31merror\033[0m a\033[8mb\n", true,
             "\033[1;31merror\033[0m a?[8mb\n");
    plain_is("\033[1;31mx\033[0m\n", false, "?[1;31mx?[0m\n");
    plain_is("\033\033[1m\033]0;title\007\n", true, "?\033[1m?]0;title?\n");
    plain_is("\346\226\207\345\255\227\n", true, "\346\226\207\345\255\227\n");
    sink to = {.fail_at = 1};
    gphi_plain plain = {.write = collect, .user = &to};
    CHECK(gphi_plain_write(&plain, "a\n", 2) == GPH_E_IO);
}

int main(void)
{
    RUN(a_text_is_the_same_whether_it_grows_or_streams);
    RUN(values_are_written_as_by_printf);
    RUN(the_first_failure_sticks);
    RUN(survives_every_failed_allocation);
    RUN(what_is_taken_is_a_text);
    RUN(a_terminal_is_not_steered);
    RUN(json_is_utf8_whatever_the_bytes);
    RUN(hashes_depend_on_every_byte);
    RUN(an_array_by_hand_grows_as_it_is_asked);
    return test_done();
}
