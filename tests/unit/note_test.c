// SPDX-License-Identifier: Apache-2.0
/* Notes reach gph_attach_note() where the process has one. This program has: it exports
 * it, as libgph-attach.so does. */
#include "event/note.h"
#include "test.h"

#include <gph/base.h>
#include <string.h>

static uint32_t seen_kind, seen_count, seen_calls;
static uint64_t seen_words[8];
static char seen_text[32];

GPH_API gph_attach_note_fn gph_attach_note;
void gph_attach_note(uint32_t kind, const uint64_t *words, uint32_t word_count,
                     const char *text)
{
    seen_calls++;
    seen_kind = kind;
    seen_count = word_count;
    memcpy(seen_words, words, word_count * sizeof(*words));
    snprintf(seen_text, sizeof(seen_text), "%s", text);
}

static void a_note_reaches_what_is_attached(void)
{
    const uint64_t words[] = {7, 8, 9};
    CHECK(gphi_note_is_on());
    gphi_note(GPHI_NOTE_POOL, "weights", words, 3);
    CHECK(seen_calls == 1u);
    CHECK(seen_kind == (uint32_t)GPHI_NOTE_POOL);
    CHECK(seen_count == 3u);
    CHECK(seen_words[0] == 7 && seen_words[2] == 9);
    CHECK(strcmp(seen_text, "weights") == 0);
    gphi_note(GPHI_NOTE_CACHE_EVICT, NULL, words, 2);
    CHECK(seen_calls == 2u);
    CHECK(strcmp(seen_text, "") == 0);
    CHECK(gphi_note_is_on());
}

static void nothing_is_looked_up_twice(void)
{
    const uint64_t words[] = {1};
    atomic_store(&gphi_note_sink, 1); /* as if none had been there */
    CHECK(!gphi_note_is_on());
    gphi_note(GPHI_NOTE_POOL, "weights", words, 1);
    CHECK(seen_calls == 2u);
}

int main(void)
{
    RUN(a_note_reaches_what_is_attached);
    RUN(nothing_is_looked_up_twice);
    return test_done();
}
