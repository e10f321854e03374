// SPDX-License-Identifier: Apache-2.0
/* The JSON reader of examples/decode. */
#include "examples/decode/json.h"
#include "fault.h"
#include "test.h"

static gph_status read_text(const char *text, json *doc, gph_error *error)
{
    fault_heap heap = {.fail_at = -1};
    static fault_heap kept;
    kept = heap;
    const gph_allocator allocator = {fault_realloc, &kept};
    return json_read(&allocator, text, strlen(text), doc, error);
}

static void reads_every_kind_of_value(void)
{
    json doc;
    gph_error error = {0};
    const char *text =
        " {\"a\": [1, -2.5e1, \"x\\n\\u00e9\\ud83d\\ude00\"], \"b\": "
        "{\"c\": null, \"d\": true}, \"e\": false, \"f\": {}, \"g\": []}\n";
    if (!CHECK_OK(read_text(text, &doc, &error), error))
        return;
    const json_node *root = &doc.node[0];
    CHECK(root->kind == JSON_OBJECT && root->count == 5);
    const json_node *a = json_member(&doc, root, "a");
    CHECK(a != NULL && a->kind == JSON_ARRAY && a->count == 3);
    uint64_t one = 0;
    double real = 0;
    CHECK(json_u64(&doc.node[a->first], &one) && one == 1);
    const json_node *second = &doc.node[doc.node[a->first].next];
    CHECK(!json_u64(second, &one) && json_double(second, &real) && real == -25.0);
    CHECK(strcmp(doc.node[second->next].text, "x\n\xc3\xa9\xf0\x9f\x98\x80") == 0);
    const json_node *b = json_member(&doc, root, "b");
    CHECK(json_member(&doc, b, "c")->kind == JSON_NULL);
    CHECK(json_member(&doc, b, "d")->kind == JSON_TRUE);
    CHECK(json_member(&doc, root, "e")->kind == JSON_FALSE);
    CHECK(json_member(&doc, root, "f")->count == 0);
    CHECK(json_member(&doc, root, "g")->count == 0);
    CHECK(json_member(&doc, root, "h") == NULL);
    json_fini(&doc);
}

static void reads_a_number_at_the_very_start(void)
{
    json doc;
    gph_error error = {0};
    uint64_t value = 0;
    if (!CHECK_OK(read_text("9223372036854775807", &doc, &error), error))
        return;
    CHECK(json_u64(&doc.node[0], &value) && value == INT64_MAX);
    json_fini(&doc);
    if (CHECK_OK(read_text("9223372036854775808", &doc, &error), error)) {
        CHECK(!json_u64(&doc.node[0], &value));
        json_fini(&doc);
    }
}

static void refuses_what_is_no_json(void)
{
    static const char *const bad[] = {
        "",           " ",           "{",           "}",
        "[1,]",       "[1 2]",       "{\"a\"}",     "{\"a\":}",
        "{\"a\":1,}", "{a:1}",       "[01]",        "[1.]",
        "[-]",        "[1e]",        "[+1]",        "\"x",
        "\"\\x\"",    "\"\\u12\"",   "tru",         "nul",
        "[1] 2",      "\"\\u0000\"", "\"\\ud800\"", "\"\\udc00x\"",
        "\"\n\"",     "[1]]",        "[.5]",        "NaN",
        "'a'",        "\"\\",        "[\"\\u",      "{\"a\":1]",
        "[1}",        "{\"a\" 1}",   "{1:2}",       "\"\\ud800\\u0041\"",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        json doc;
        gph_error error = {0};
        if (!CHECK(read_text(bad[i], &doc, &error) == GPH_E_FORMAT)) {
            fprintf(stderr, "  accepted: %s\n", bad[i]);
            json_fini(&doc);
        }
        CHECK(strstr(error.message, "line 1") != NULL || strstr(error.message, "line 2"));
    }
}

static void says_line_and_column(void)
{
    json doc;
    gph_error error = {0};
    CHECK(read_text("{\n  \"a\\n\\n\": 1,\n  \"b\": x\n}", &doc, &error) == GPH_E_FORMAT);
    CHECK(strcmp(error.message, "JSON line 3 column 8: no JSON value starts like this") ==
          0);
}

static void nests_to_a_limit(void)
{
    char text[2 * JSON_DEPTH_MAX + 3];
    for (int depth = JSON_DEPTH_MAX; depth <= JSON_DEPTH_MAX + 1; depth++) {
        json doc;
        gph_error error = {0};
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        text[2 * depth] = 0;
        const gph_status status = read_text(text, &doc, &error);
        CHECK(status == (depth <= JSON_DEPTH_MAX ? GPH_OK : GPH_E_FORMAT));
        if (status == GPH_OK)
            json_fini(&doc);
    }
}

static void survives_every_failed_allocation(void)
{
    char text[1024] = "[0";
    for (int i = 0; i < 200; i++)
        strcat(text, ",0");
    strcat(text, "]");
    for (long nth = 0;; nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {fault_realloc, &heap};
        json doc;
        gph_error error = {0};
        const gph_status status = json_read(&allocator, text, strlen(text), &doc, &error);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        if (status == GPH_OK)
            json_fini(&doc);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (status == GPH_OK) {
            CHECK(nth > 2);
            return;
        }
    }
}

int main(void)
{
    RUN(reads_every_kind_of_value);
    RUN(reads_a_number_at_the_very_start);
    RUN(refuses_what_is_no_json);
    RUN(says_line_and_column);
    RUN(nests_to_a_limit);
    RUN(survives_every_failed_allocation);
    return test_done();
}
