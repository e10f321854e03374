// SPDX-License-Identifier: Apache-2.0
/* The search for an entry in any bytes, as gph explain takes them from a pipe: what it
 * answers lies inside the text, is in order, and names each entry once. */
#include <gph/explain.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int is_right)
{
    if (!is_right)
        abort();
}

static void check_match(const gph_explain_match *match, const char *text, size_t size)
{
    size_t lines = 1;
    must(match->line_begin <= size && match->line_bytes <= size - match->line_begin);
    must(match->line_begin == 0 || text[match->line_begin - 1] == '\n' ||
         match->line == 1 || strchr(" \t\r\v\f", text[match->line_begin - 1]) != NULL);
    for (size_t i = 0; i < match->line_begin; i++)
        lines += text[i] == '\n';
    must(match->line == lines);
    must(memchr(text + match->line_begin, '\n', match->line_bytes) == NULL);
    must((match->key == NULL) == (match->reason == GPH_EXPLAIN_BY_WORDS));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MATCHES = 6, NEAR = 4 };
    gph_explain_match matches[MATCHES];
    const char *near[NEAR];
    const char *text = (const char *)data;
    const size_t count = gph_explain_find(text, size, matches, MATCHES);
    must(count <= MATCHES);
    for (size_t i = 0; i < count; i++) {
        check_match(&matches[i], text, size);
        must(i == 0 || matches[i].score <= matches[i - 1].score);
        for (size_t other = 0; other < i; other++)
            must(matches[other].entry != matches[i].entry);
    }
    const size_t names = gph_explain_near(text, size, near, NEAR);
    must(names <= NEAR);
    for (size_t i = 0; i < names; i++)
        must(near[i] != NULL && near[i][0] != '\0');
    return 0;
}
