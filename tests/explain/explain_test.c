// SPDX-License-Identifier: Apache-2.0
/* The knowledge base as data: each entry is whole, in both languages, and found by its
 * slug. */
#include "test.h"

#include <gph/explain.h>
#include <stdbool.h>

static bool is_text(const char *text)
{
    return text != NULL && text[0] != '\0' && text[0] != ' ' &&
           text[strlen(text) - 1] != ' ';
}

static size_t length(const char *const *list)
{
    size_t count = 0;
    while (list[count] != NULL) {
        CHECK(is_text(list[count]));
        count++;
    }
    return count;
}

static void every_entry_is_whole(void)
{
    CHECK(gph_explain_count() >= 70);
    for (size_t i = 0; i < gph_explain_count(); i++) {
        const gph_explain_entry *entry = gph_explain_at(i);
        CHECK(gph_explain_get(entry->slug) == entry); /* so no slug stands twice */
        CHECK(entry->rank >= 0 && entry->rank <= 9);
        CHECK(is_text(entry->shown_by));
        const gph_explain_text *english = &entry->text[GPH_EXPLAIN_ENGLISH];
        for (int at = 0; at < GPH_EXPLAIN_LANGUAGES; at++) {
            const gph_explain_text *text = &entry->text[at];
            CHECK(is_text(text->title) && is_text(text->cause));
            CHECK(length(text->fix) > 0 && is_text(text->fix_text));
            CHECK(length(text->fix) == length(english->fix));
            CHECK(length(text->in_vain) == length(english->in_vain));
            CHECK(length(text->versions) == length(english->versions));
            CHECK((length(text->in_vain) > 0) == is_text(text->in_vain_text));
        }
        CHECK(english->title[strlen(english->title) - 1] != '.');
    }
}

static void what_is_not_there_is_null(void)
{
    CHECK(gph_explain_at(gph_explain_count()) == NULL);
    CHECK(gph_explain_get("capture.no-such-rule") == NULL);
    CHECK(gph_explain_get("") == NULL);
    CHECK(gph_explain_get(NULL) == NULL);
}

int main(void)
{
    RUN(every_entry_is_whole);
    RUN(what_is_not_there_is_null);
    return test_done();
}
