// SPDX-License-Identifier: Apache-2.0
/* Pasted logs, tracebacks and questions as people have them: each leads to the entry, and
 * the line, that corpus/expected says. */
#include "corpus.h"
#include "test.h"

#include <gph/explain.h>

/* Finds the entry of that name in corpus/texts.txt; corpus_close() in any case. */
static bool find_text(const char *name, corpus *out)
{
    if (!CHECK(corpus_open(out, EXPLAIN_CORPUS "/texts.txt")))
        return false;
    while (corpus_next(out))
        if (strcmp(out->name, name) == 0)
            return true;
    fprintf(stderr, "corpus/texts.txt has no %s\n", name);
    return CHECK(false);
}

static void one(const char *name, const char *slug, size_t line)
{
    corpus text;
    gph_explain_match matches[4];
    const size_t count =
        find_text(name, &text)
            ? gph_explain_find((const char *)text.data, text.bytes, matches, 4)
            : 0;
    const char *found = count > 0 ? matches[0].entry->slug : "nothing";
    const size_t found_line = count > 0 ? matches[0].line : 0;
    if (!CHECK(strcmp(found, slug) == 0 && found_line == line))
        fprintf(stderr, "%s leads to %s, line %zu; expected %s, line %zu\n", name, found,
                found_line, slug, line);
    corpus_close(&text);
}

static size_t count_texts(void)
{
    size_t count = 0;
    corpus texts;
    if (corpus_open(&texts, EXPLAIN_CORPUS "/texts.txt"))
        while (corpus_next(&texts))
            count++;
    corpus_close(&texts);
    return count;
}

static void every_text_leads_where_it_should(void)
{
    char name[128], slug[128];
    size_t line, count = 0;
    FILE *list = fopen(EXPLAIN_CORPUS "/expected", "r");
    if (!CHECK(list != NULL))
        return;
    while (fscanf(list, "%127s %127s %zu", name, slug, &line) == 3) {
        one(name, slug, line);
        count++;
    }
    fclose(list);
    CHECK(count >= 40 && count == count_texts());
}

/* Whether one of the entries, with | between them, is `slug`. */
static bool is_one_of(const char *right, const char *slug)
{
    const size_t bytes = strlen(slug);
    for (const char *at = right; (at = strstr(at, slug)) != NULL; at += bytes)
        if ((at == right || at[-1] == '|') && (at[bytes] == '\0' || at[bytes] == '|'))
            return true;
    return false;
}

/* A line each: the entries that would be right, with | between them, and a question as
 * people type it. Gives how many there are; `*right` is how many led to one of them. */
static size_t count_right(const char *path, size_t *right)
{
    char line[512];
    size_t count = 0;
    FILE *list = fopen(path, "r");
    *right = 0;
    if (!CHECK(list != NULL))
        return 0;
    while (fgets(line, sizeof(line), list)) {
        char *question = strchr(line, ' ');
        gph_explain_match match;
        if (line[0] == '#')
            continue;
        if (!CHECK(question != NULL))
            break;
        *question++ = '\0';
        question[strcspn(question, "\n")] = '\0';
        const size_t found = gph_explain_find(question, strlen(question), &match, 1);
        const char *slug = found > 0 ? match.entry->slug : "nothing";
        const bool is_right = is_one_of(line, slug);
        if (!is_right)
            fprintf(stderr, "%s leads to %s, not to %s\n", question, slug, line);
        *right += is_right;
        count++;
    }
    fclose(list);
    fprintf(stderr, "%zu of %zu right\n", *right, count);
    return count;
}

static void every_question_leads_where_it_should(void)
{
    size_t right;
    const size_t count = count_right(EXPLAIN_CORPUS "/questions", &right);
    CHECK(count >= 40 && right == count);
}

static void most_lead_where_they_should(const char *path, size_t percent)
{
    size_t right;
    const size_t count = count_right(path, &right);
    CHECK(count >= 30 && right * 100 >= count * percent);
}

/* Written without a look at the entries; these were looked at while the search was made. At
 * first sight 110 of 130, 54 and 57 of 100 (asked beside the words of the entries on
 * purpose) and 39 of 60 were right. */
static void questions_that_were_seen_lead_where_they_should(void)
{
    most_lead_where_they_should(EXPLAIN_CORPUS "/asked", 95);
}

/* Written with those, and looked at only after 91 of them were right. */
static void questions_that_were_not_seen_lead_where_they_should(void)
{
    most_lead_where_they_should(EXPLAIN_CORPUS "/unseen", 95);
}

/* Titles of issues of a dozen projects and sentences of those who wrote them: noisier than
 * questions that are asked on purpose. All were looked at since; at first sight 28 of 40
 * and 35 of 51 were right. */
static void titles_of_issues_lead_where_they_should(void)
{
    most_lead_where_they_should(EXPLAIN_CORPUS "/titles", 85);
}

/* Of the same kind, asked once when the search was done: 23 of 37; looked at since. */
static void titles_that_came_later_lead_where_they_should(void)
{
    most_lead_where_they_should(EXPLAIN_CORPUS "/fresh", 80);
}

/* 205 more, English and Chinese, labeled before they were asked; one half was looked at
 * while questions were added (74 of 103 at first sight, 95 after; one went to an entry of a rule
 * that came later), the other only then (78 of 102 before, 81 after; 95 since it was
 * looked at). The floors are what is reached. */
static void halves_of_a_set_lead_where_they_should(void)
{
    most_lead_where_they_should(EXPLAIN_CORPUS "/issues", 91);
    most_lead_where_they_should(EXPLAIN_CORPUS "/issues_unseen", 92);
}

/* 100 titles and sentences of public issues, none of them near to one above, labeled before
 * they were asked and not looked at since: 72 were right at first sight, 71 after 240
 * questions were added for what the other sets had missed. */
static void public_titles_lead_where_they_should(void)
{
    most_lead_where_they_should(EXPLAIN_CORPUS "/public", 70);
}

/* 160 as people type them, a third of them Chinese or mixed, labeled before they were asked.
 * Of the first 100, 85 were right at first sight; all but one, which asks for what no entry
 * has, are here, with what other trades say in the same words. 60 came later and were not
 * looked at: 49 were right then, 49 after questions were added for what the first had
 * missed. */
static void typed_questions_lead_where_they_should(void)
{
    most_lead_where_they_should(EXPLAIN_CORPUS "/typed", 95);
    most_lead_where_they_should(EXPLAIN_CORPUS "/typed_unseen", 81);
}

/* "graph is slow", 图卡住; and as short ones of other trades, which lead nowhere. */
static void a_few_words_on_graphs_are_enough(void)
{
    most_lead_where_they_should(EXPLAIN_CORPUS "/terse", 94);
}

/* What programs made PyTorch, the runtime and NCCL say on an H100
 * (tests/gpu/explain_torch.py): a line `SLUG: ok: TEXT` each, with " | " between the
 * lines of the text. */
static void what_a_gpu_said_leads_where_it_should(void)
{
    static char line[1 << 14];
    size_t count = 0;
    FILE *list = fopen(EXPLAIN_CORPUS "/../h100.log", "r");
    if (!CHECK(list != NULL))
        return;
    while (fgets(line, sizeof(line), list) != NULL) {
        char *text = strstr(line, ": ok: ");
        if (line[0] == '#' || text == NULL)
            continue;
        *text = '\0';
        text += strlen(": ok: ");
        for (char *bar = text; (bar = strstr(bar, " | ")) != NULL;)
            bar[1] = '\n';
        gph_explain_match match;
        const size_t found = gph_explain_find(text, strlen(text), &match, 1);
        const char *slug = found > 0 ? match.entry->slug : "nothing";
        if (!CHECK(strcmp(slug, line) == 0))
            fprintf(stderr, "what was said of %s leads to %s\n", line, slug);
        count++;
    }
    fclose(list);
    CHECK(count >= 30);
}

int main(void)
{
    RUN(every_text_leads_where_it_should);
    RUN(what_a_gpu_said_leads_where_it_should);
    RUN(every_question_leads_where_it_should);
    RUN(questions_that_were_seen_lead_where_they_should);
    RUN(questions_that_were_not_seen_lead_where_they_should);
    RUN(titles_of_issues_lead_where_they_should);
    RUN(titles_that_came_later_lead_where_they_should);
    RUN(halves_of_a_set_lead_where_they_should);
    RUN(public_titles_lead_where_they_should);
    RUN(typed_questions_lead_where_they_should);
    RUN(a_few_words_on_graphs_are_enough);
    return test_done();
}
